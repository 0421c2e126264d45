/* The certificate of a step, by the two numbers of problem/measure.c. Of each contact with its laws, of each
 * row that is held and of each law without contact, over all levels and in m/s,
 *
 *     N² = Σ |natural map of g/dt, ġ or g̈ dt|²,    s = min(max(|b|, v_ref), w|P|)
 *
 * with b its rates at the end of the step without forces and w P what its percussion does to them:
 * residual = ‖N‖/‖s‖, the larger of that over contacts and of that over rows; held = max N/max(s, v_ref). And
 * violations at three levels. */
#include "system/alpha.h"

#include "base/small.h"
#include "system/levels.h"

#include <math.h>

enum { POSITION, VELOCITY, ACCELERATION };

typedef struct judge {
    dls_alpha *alpha;
    const double *x;
    double dt, rounding[3]; /* rounding: m/s, taken off errors of g/dt, ġ and g̈ dt */
    double initial;         /* the time that forces act over where a step has none */
    dls_tally tally;
} judge;

/* Squares of N, b and w P of one contact or row. */
typedef struct judged {
    double error, given, load;
} judged;

/* An error of one row, or the length of one of so many, each of which is rounded; NaN stays. */
static void miss(const judge *t, judged *one, int level, int rows, double error) {
    double counted = fabs(error) - sqrt(rows) * t->rounding[level];
    if (!(counted <= 0)) one->error += counted * counted;
}

static void tell(judged *one, double b, double load) { one->given += b * b, one->load += load * load; }

static double larger(double a, double b) { return a >= b || isnan(a) ? a : b; }

static void close_one(judge *t, const judged *one, double *map, double *scale) {
    double v = t->alpha->stage.v_ref, most = fmax(one->given, v * v), s = fmin(one->load, most);
    *map += one->error, *scale += s;
    t->tally.worst = larger(one->error, t->tally.worst);
    if (one->error != 0) t->tally.held = larger(one->error / fmax(s, v * v), t->tally.held);
}

/* min(y, w z): zero where 0 ≤ y ⟂ z ≥ 0; z alone where the contact is open at the level before. */
static double normal_error(bool active, double y, double wz) { return active && y < wz ? y : wz; }

static void judge_normal(const judge *t, int k, judged *one) {
    const dls_alpha *alpha = t->alpha;
    const dls_alpha_stage *stage = &alpha->stage;
    const int f = DLS_ROWS_N;
    double unit = dls_row_unit(alpha, f, k), w = unit * alpha->delassus.diagonal[k], dt = t->dt;
    double force = t->x[alpha->at.force[f] + k], before = stage->before[f][k];
    miss(t, one, POSITION, 1,
         normal_error(true, unit * stage->terms.rows[f].value[k] / dt, w * stage->kappa_hat[k] / dt));
    miss(t, one, VELOCITY, 1,
         normal_error(alpha->sets.A[k], unit * stage->xi[f][k], w * stage->percussion[f][k]));
    miss(t, one, ACCELERATION, 1,
         normal_error(alpha->sets.B[k], unit * dt * stage->acceleration[f][k], dt * w * force));
    tell(one, unit * ((1 + alpha->contacts[k].e_n) * before + dt * alpha->free[k]),
         w * (stage->percussion[f][k] + t->initial * force));
}

/* w |z + proj(y/w − z)| */
static double slip_error(const dls_alpha *alpha, int l, double w, const double *y, const double *z,
                         double N) {
    const dls_model_friction *law = &alpha->laws[l];
    dls_law_value value = dls_friction_value(law, DLS_MODE_PROX, 1 / w, y, z, N, alpha->system.user);
    return w * small_norm(law->size, value.f);
}

static double law_mobility(const dls_alpha *alpha, int l) {
    int first = alpha->at.count[DLS_ROWS_N] + alpha->law_row[l];
    double w = 0;
    for (int i = 0; i < alpha->laws[l].size; i++) w = fmax(w, alpha->delassus.diagonal[first + i]);
    return w;
}

/* By the law as it is solved where its percussion is split, or another level has told the slip. */
static void judge_law(const judge *t, int l, judged *one) {
    const dls_alpha *alpha = t->alpha;
    const dls_alpha_stage *stage = &alpha->stage;
    const dls_model_friction *law = &alpha->laws[l];
    const int f = DLS_ROWS_F, row = alpha->law_row[l];
    const double *xi = stage->xi[f] + row, *P = stage->percussion[f] + row, *g = stage->acceleration[f] + row,
                 *force = t->x + alpha->at.force[f] + row;
    double w = law_mobility(alpha, l), unit = dls_row_unit(alpha, f, row), dt = t->dt;
    bool closed = law->contact < 0 || alpha->sets.A[law->contact];
    bool whole = closed && (alpha->sets.D[l] || !stage->split[l]);
    if (!(w > 0)) return;
    dls_law_value impact = dls_impact_law(alpha, t->x, l), slip = dls_force_law(alpha, t->x, l);
    double N = dls_normal_force(alpha, l, stage->percussion[DLS_ROWS_N], stage->dt);
    miss(t, one, VELOCITY, law->size,
         unit * (whole ? slip_error(alpha, l, w, xi, P, N) : w * small_norm(law->size, impact.f)));
    N = dls_normal_force(alpha, l, t->x + alpha->at.force[DLS_ROWS_N], 1);
    miss(t, one, ACCELERATION, law->size,
         unit * dt *
             (alpha->sets.D[l] ? slip_error(alpha, l, w, g, force, N) : w * small_norm(law->size, slip.f)));
    for (int i = 0; i < law->size; i++)
        tell(one,
             unit * ((1 + law->e_t) * stage->before[f][row + i] +
                     dt * alpha->free[alpha->at.count[DLS_ROWS_N] + row + i]),
             unit * w * (P[i] + t->initial * force[i]));
}

static void judge_contacts(judge *t) {
    const dls_alpha *alpha = t->alpha;
    dls_tally *sum = &t->tally;
    for (int k = 0; k < alpha->at.count[DLS_ROWS_N]; k++) {
        judged one = {0, 0, 0};
        judge_normal(t, k, &one);
        for (int l = alpha->contact_law[k]; l >= 0; l = alpha->next_law[l]) judge_law(t, l, &one);
        close_one(t, &one, &sum->contacts, &sum->contact_scale);
    }
    for (int l = 0; l < alpha->system.law_count; l++) {
        judged one = {0, 0, 0};
        if (alpha->laws[l].contact >= 0) continue;
        judge_law(t, l, &one);
        close_one(t, &one, &sum->rows, &sum->row_scale);
    }
}

/* A row of g or γ, by masses alone. */
static void judge_held(judge *t, int f, int k) {
    dls_alpha *alpha = t->alpha;
    const dls_alpha_stage *stage = &alpha->stage;
    const dls_row_place *row = &alpha->place[f][k];
    const double *W = stage->terms.rows[f].W + row->W, *h = stage->terms.h;
    double unit = dls_row_unit(alpha, f, k), *a = alpha->move_u, free = stage->terms.rows[f].zeta[k];
    judged one = {0, 0, 0};
    dls_level_divide(alpha, row, W, a);
    for (int side = 0; side < 2; side++)
        for (int i = row->u[side]; i < row->u[side] + row->m[side]; i++) free += a[i] * h[i];
    if (alpha->at.kappa[f] >= 0) miss(t, &one, POSITION, 1, unit * stage->terms.rows[f].value[k] / t->dt);
    miss(t, &one, VELOCITY, 1, unit * stage->terms.rows[f].rate[k]);
    miss(t, &one, ACCELERATION, 1, unit * t->dt * stage->acceleration[f][k]);
    tell(&one, unit * (stage->before[f][k] + t->dt * free),
         unit * dls_row_dot(row, W, a) *
             (t->x[alpha->at.impact[f] + k] + t->dt * t->x[alpha->at.force[f] + k]));
    close_one(t, &one, &t->tally.rows, &t->tally.row_scale);
}

static void violations(const dls_alpha *alpha, dls_alpha_report *report) {
    const dls_alpha_stage *stage = &alpha->stage;
    report->position = report->velocity = report->acceleration = 0;
    for (int f = DLS_ROWS_G; f <= DLS_ROWS_GAMMA; f++)
        for (int k = 0; k < alpha->at.count[f]; k++) {
            report->position = fmax(report->position, fabs(stage->terms.rows[f].value[k]));
            report->velocity = fmax(report->velocity, fabs(stage->terms.rows[f].rate[k]));
            report->acceleration = fmax(report->acceleration, fabs(stage->acceleration[f][k]));
        }
    for (int k = 0; k < alpha->at.count[DLS_ROWS_N]; k++) {
        report->position = fmax(report->position, -stage->terms.rows[DLS_ROWS_N].value[k]);
        if (alpha->sets.A[k]) report->velocity = fmax(report->velocity, -stage->xi[DLS_ROWS_N][k]);
        if (alpha->sets.B[k])
            report->acceleration = fmax(report->acceleration, -stage->acceleration[DLS_ROWS_N][k]);
    }
}

/* ‖N‖/‖s‖ of squares, as problem/measure.c has it. */
static double ratio(double map, double scale) { return map == 0 ? 0 : sqrt(map) / sqrt(scale); }

void dls_tally_add(dls_tally *sum, const dls_tally *part) {
    sum->contacts += part->contacts, sum->contact_scale += part->contact_scale;
    sum->rows += part->rows, sum->row_scale += part->row_scale;
    sum->worst = larger(part->worst, sum->worst), sum->held = larger(part->held, sum->held);
}

double dls_tally_residual(const dls_tally *t) {
    return larger(ratio(t->contacts, t->contact_scale), ratio(t->rows, t->row_scale));
}

static void say(const dls_tally *t, double v_ref, dls_alpha_report *report) {
    report->residual = dls_tally_residual(t);
    report->max_error = sqrt(t->worst);
    report->held = v_ref > 0 ? sqrt(t->held) : (double)NAN;
}

void dls_alpha_certify(dls_alpha *alpha, const double *x, dls_alpha_report *report) {
    bool initial = !(alpha->stage.dt > 0);
    double dt = initial ? alpha->options.dt : alpha->stage.dt;
    const double *rounding = alpha->stage.rounding;
    static const dls_tally no_tally;
    judge t = {alpha, x, dt, {rounding[0] / dt, rounding[1], dt * rounding[2]}, initial ? dt : 0, no_tally};
    violations(alpha, report);
    report->solutions = -1;
    if (dls_contact_system(alpha)) {
        judge_contacts(&t);
        for (int f = DLS_ROWS_G; f <= DLS_ROWS_GAMMA; f++)
            for (int k = 0; k < alpha->at.count[f]; k++) judge_held(&t, f, k);
        report->solutions = dls_alpha_solutions(alpha);
    } else
        t.tally.contacts = t.tally.worst = t.tally.held = NAN;
    dls_tally_add(&alpha->tally, &t.tally);
    say(&alpha->tally, alpha->stage.v_ref, report);
}
