/* A start for Newton's method where sets cycle: Gauss–Seidel on the contacts at the three levels, with
 * kinematics linear in the forces,
 *
 *     g = D κ̂ + …,   ξ = D P + …,   g̈ = D λ + …,   D = WᵀM⁻¹W with constraints held
 *
 * and in between the smooth rows solved with these forces held. */
#include "system/alpha.h"

#include "solve/semismooth.h"

#include <math.h>
#include <string.h>

/* WHOLE: sweeps that take the whole of each change; after them they take a share. */
enum { ROUNDS = 60, SWEEPS = 4000, WHOLE = 400 };

typedef enum level { POSITION, VELOCITY, ACCELERATION } level;

typedef struct sweep {
    const dls_alpha *alpha;
    level level;
    int normals, rows;
    double share;  /* of what a visit changes */
    double *y, *z; /* kinematics and forces of the rows of contacts, N before F */
} sweep;

static double diagonal(const sweep *s, int i) { return s->alpha->delassus.diagonal[i]; }

static void push(const sweep *s, int i, double change) {
    const dls_row_matrix *D = &s->alpha->delassus;
    if (change == 0) return;
    for (int64_t n = D->start[i]; n < D->start[i + 1]; n++) s->y[D->column[n]] += change * D->value[n];
    s->z[i] += change;
}

/* z ≥ 0 ⟂ y ≥ 0 */
static double visit_normal(const sweep *s, int k) {
    double w = diagonal(s, k), before = s->z[k];
    if (!(w > 0)) return 0;
    push(s, k, s->share * (fmax(0, before - s->y[k] / w) - before));
    return w * fabs(s->z[k] - before);
}

/* −proj(y/w − z) onto the reservoir; along γ where the law slides at the level of accelerations. */
static double visit_law(const sweep *s, int l) {
    const dls_alpha *alpha = s->alpha;
    const dls_model_friction *law = &alpha->laws[l];
    int row = s->normals + alpha->law_row[l], d = law->size;
    double w = 0, change = 0, argument[DLS_LAW_SIZE], p[DLS_LAW_SIZE];
    for (int i = 0; i < d; i++) w = fmax(w, diagonal(s, row + i));
    if (!(w > 0)) return 0;
    double share = s->level == VELOCITY ? alpha->stage.dt : 1;
    double N = dls_normal_force(alpha, l, s->z, share);
    bool slides = s->level == ACCELERATION && !alpha->sets.D[l];
    for (int i = 0; i < d; i++) argument[i] = s->y[row + i] / w - s->z[row + i];
    if (slides) {
        dls_law_value value = dls_friction_value(law, DLS_MODE_SLIP, 1,
                                                 alpha->stage.terms.rows[DLS_ROWS_F].rate + alpha->law_row[l],
                                                 (double[DLS_LAW_SIZE]){0}, N, alpha->system.user);
        memcpy(p, value.f, sizeof p);
    } else
        dls_friction_project(law, argument, N, p, alpha->system.user);
    for (int i = 0; i < d; i++) {
        double more = s->share * (-p[i] - s->z[row + i]);
        change = fmax(change, w * fabs(more));
        push(s, row + i, more);
    }
    return change;
}

static void visit_contact(const sweep *s, int k, double *change) {
    const dls_alpha *alpha = s->alpha;
    *change = fmax(*change, visit_normal(s, k));
    for (int l = alpha->contact_law[k]; l >= 0 && s->level != POSITION; l = alpha->next_law[l])
        *change = fmax(*change, visit_law(s, l));
}

/* Which contacts the level is about: those that are closed at the one before. */
static bool takes_part(const sweep *s, int contact) {
    if (contact < 0) return true;
    if (s->level == POSITION) return true;
    return s->level == VELOCITY ? s->alpha->sets.A[contact] : s->alpha->sets.B[contact];
}

/* What is small against the tolerance of R at a level. */
static double least_change(const dls_alpha *alpha, level at) {
    double v = alpha->stage.v_ref, dt = alpha->options.dt;
    const double unit[] = {v * dt, v, v / dt};
    return 1e-3 * alpha->options.tolerance * (alpha->options.scaled && v > 0 ? unit[at] : 1);
}

static void run_sweeps(sweep *s) {
    const dls_alpha *alpha = s->alpha;
    double first = 0;
    for (int k = 0; k < s->normals; k++)
        if (!takes_part(s, k)) push(s, k, -s->z[k]);
    for (int l = 0; l < alpha->system.law_count; l++)
        for (int i = alpha->law_row[l]; i < alpha->law_row[l + 1]; i++)
            if (s->level == POSITION || !takes_part(s, alpha->laws[l].contact))
                push(s, s->normals + i, -s->z[s->normals + i]);
    for (int round = 0; round < SWEEPS; round++) {
        s->share = round < WHOLE ? 1 : 0.7;
        double change = 0;
        for (int i = 0; i < s->normals; i++) {
            int k = round % 2 ? s->normals - 1 - i : i;
            if (takes_part(s, k)) visit_contact(s, k, &change);
        }
        for (int l = 0; l < alpha->system.law_count && s->level != POSITION; l++)
            if (alpha->laws[l].contact < 0) change = fmax(change, visit_law(s, l));
        if (round == 0) first = change;
        if (!(change > fmax(1e-10 * first, least_change(alpha, s->level)))) return;
    }
}

/* Contacts that carry at a level, or would be entered, are closed at it. */
static void close_contacts(dls_alpha *alpha, const sweep *s) {
    for (int k = 0; k < s->normals; k++) {
        bool closed = takes_part(s, k) && (s->z[k] > 0 || s->y[k] <= 0);
        if (s->level == POSITION)
            alpha->stage.swept[k] = closed, alpha->sets.A[k] = closed || alpha->stage.near[k];
        if (s->level == VELOCITY) alpha->sets.B[k] = closed;
    }
    for (int l = 0; l < alpha->system.law_count && s->level == VELOCITY; l++) {
        const dls_model_friction *law = &alpha->laws[l];
        int row = s->normals + alpha->law_row[l];
        double N = dls_normal_force(alpha, l, s->z, alpha->stage.dt);
        alpha->sets.D[l] = takes_part(s, law->contact) &&
                           dls_friction_sticks(law, alpha->r_t[l], s->y + row, s->z + row, N,
                                               dls_slack_of(alpha, false), alpha->system.user);
    }
}

static void load(sweep *s, const double *normal_y, const double *normal_z, const double *slip_y,
                 const double *slip_z) {
    int slips = s->rows - s->normals;
    memcpy(s->y, normal_y, sizeof *s->y * (size_t)s->normals);
    memcpy(s->z, normal_z, sizeof *s->z * (size_t)s->normals);
    memcpy(s->y + s->normals, slip_y, sizeof *s->y * (size_t)slips);
    memcpy(s->z + s->normals, slip_z, sizeof *s->z * (size_t)slips);
}

/* κ̂, P and λ, and from them κ, Λ and λ of x. */
static void sweep_levels(dls_alpha *alpha, double *x) {
    const dls_layout *at = &alpha->at;
    const dls_alpha_stage *stage = &alpha->stage;
    const int N = DLS_ROWS_N, F = DLS_ROWS_F;
    int normals = at->count[N], slips = at->count[F], rows = normals + slips;
    sweep s = {alpha, POSITION, normals, rows, 1, alpha->sweep_x, alpha->sweep_x + rows};
    double *none = alpha->sweep_x + 2 * rows;
    memset(none, 0, sizeof *none * (size_t)rows);
    load(&s, stage->terms.rows[N].value, stage->kappa_hat, none, none);
    run_sweeps(&s), close_contacts(alpha, &s);
    for (int k = 0; k < normals; k++) x[at->kappa[N] + k] = s.z[k] - stage->kappa_base[k];
    s.level = VELOCITY;
    load(&s, stage->xi[N], stage->percussion[N], stage->xi[F], stage->percussion[F]);
    run_sweeps(&s), close_contacts(alpha, &s);
    for (int k = 0; k < normals; k++) x[at->impact[N] + k] = s.z[k] - stage->percussion_base[N][k];
    for (int k = 0; k < slips; k++) x[at->impact[F] + k] = s.z[normals + k] - stage->percussion_base[F][k];
    s.level = ACCELERATION;
    load(&s, stage->acceleration[N], x + at->force[N], stage->acceleration[F], x + at->force[F]);
    run_sweeps(&s);
    for (int k = 0; k < normals; k++) {
        x[at->force[N] + k] = s.z[k];
        x[at->impact[N] + k] -= stage->c_u * s.z[k];
        x[at->kappa[N] + k] -= stage->c_q * s.z[k];
    }
    for (int k = 0; k < slips; k++) {
        x[at->force[F] + k] = s.z[normals + k];
        x[at->impact[F] + k] -= stage->c_u * s.z[normals + k];
    }
}

/* Whether norms still fall: none of the last few is far below what was reached before them. */
typedef struct course {
    double best;
    int since;
} course;

static bool goes_on(course *c, double norm) {
    enum { PATIENCE = 12 };
    if (norm < 0.5 * c->best)
        c->best = norm, c->since = 0;
    else
        c->since++;
    return c->since < PATIENCE;
}

/* A contact that is open where it is closed, for the friction that this brings lifts it off, and closed where
 * it is open has no solution: it is closed to velocities, with a gap of what its friction does in a step. */
static void draw_near(dls_alpha *alpha) {
    for (int k = 0; k < alpha->at.count[DLS_ROWS_N]; k++)
        if (alpha->sets.place[k] != alpha->stage.swept[k]) alpha->stage.near[k] = true;
}

/* Half the way to the new forces: sets that turn over and back from round to round settle so. */
static void halve_change(const dls_alpha *alpha, double *x) {
    for (int i = alpha->at.smooth; i < alpha->at.total; i++) x[i] = 0.5 * (x[i] + alpha->x_probe[i]);
}

bool dls_alpha_sweep(dls_alpha *alpha, double *x, dls_alpha_report *report) {
    const dls_alpha_options *o = &alpha->options;
    course c = {HUGE_VAL, 0};
    int updates;
    double norm;
    alpha->has_factor = false;
    for (int round = 0; round <= ROUNDS; round++) {
        if (round > 0 && !dls_contact_system(alpha)) return false;
        memcpy(alpha->x_probe, x, sizeof *x * (size_t)alpha->at.total);
        if (round > 0) sweep_levels(alpha, x);
        if (c.since >= 4) halve_change(alpha, x);
        alpha->stage.frozen = true;
        int end = dls_alpha_newton(alpha, x, 0.03 * o->tolerance, o->max_newton, &updates, &report->norm);
        alpha->stage.frozen = false;
        report->newton_updates += updates;
        if (end != DLS_NEWTON_SOLVED || !dls_residual_at(alpha, x, alpha->R)) return false;
        if (round == 0) continue;
        norm = dls_alpha_norm(alpha, alpha->R);
        if (norm <= o->tolerance || !goes_on(&c, norm)) return true;
        if (c.since >= 4) draw_near(alpha);
    }
    return true;
}
