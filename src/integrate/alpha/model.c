/* A piece as a system by callbacks. Coordinates and velocities are those of its bodies, one after the other.
 */
#include "base/small.h"
#include "base/vector.h"
#include "integrate/alpha/piece.h"
#include "world/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- M and h ---- */

static void solid_mass(const dls_piece *p, const dls_piece_body *body, int size, double *M) {
    const dls_solid *solid = &p->at.shadow.solids[body->solid];
    dls_solid_full_matrix(solid, DLS_SOLID_MASS, p->at.shadow.q + solid->at, p->matrix + body->n * body->n,
                          p->matrix);
    for (int j = 0; j < body->n; j++)
        for (int k = 0; k < body->n; k++) M[k + (int64_t)size * j] = p->matrix[k + body->n * j];
}

/* M g + force(q) − D(q) u */
static void solid_force(const dls_piece *p, const dls_piece_body *body, const double *u, double *h) {
    const dls_solid *solid = &p->at.shadow.solids[body->solid];
    const double *q = p->at.shadow.q + solid->at;
    solid->kind->load(solid->data, p->s->world->def.gravity, h);
    solid->kind->force(solid->data, q, h);
    if (!dls_solid_damps(solid)) return;
    dls_solid_full_matrix(solid, DLS_SOLID_DAMPING, q, p->matrix + body->n * body->n, p->matrix);
    for (int j = 0; j < body->n; j++)
        for (int k = 0; k < body->n; k++) h[k] -= p->matrix[k + body->n * j] * u[j];
}

static void mass(double t, const double *q, double *M, void *user) {
    const dls_piece *p = user;
    (void)t, (void)q;
    for (int i = 0; i < p->body_count; i++) {
        const dls_piece_body *body = &p->body[i];
        double of = p->s->world->bodies[body->row].mass;
        int size = p->packed ? body->m : p->size_u;
        double *at = p->packed ? M + body->at_M : M + (int64_t)(size + 1) * body->at_u;
        if (body->solid >= 0) {
            solid_mass(p, body, size, at);
            continue;
        }
        for (int k = 0; k < p->dimension; k++) at[(size + 1) * k] = of;
        if (p->dimension == 2) {
            at[(size + 1) * 2] = body->inertia[8];
            continue;
        }
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++) at[3 + k + size * (3 + j)] = body->inertia[k + 3 * j];
    }
}

static void no_mass_slope(double t, const double *q, const double *x, double *S, void *user) {
    (void)t, (void)q, (void)x, (void)S, (void)user;
}

/* Gravity, applied forces and (J Ω) × Ω. */
static void body_force(const dls_piece *p, int i, double t, const double *u, double *h) {
    double force[3], torque[3], L[3], turn[3];
    const dls_piece_body *body = &p->body[i];
    if (body->solid >= 0) {
        solid_force(p, body, u, h);
        return;
    }
    if (dls_world_force(p->s->world, body->row, t, force, torque, NULL)) force[0] = NAN;
    for (int k = 0; k < p->dimension; k++) h[k] = force[k];
    if (p->dimension == 2) {
        h[2] = torque[2];
        return;
    }
    mat_apply_transposed(h + 3, p->at.R[body->row], torque);
    mat_apply(L, body->inertia, u + 3);
    vec_cross(turn, L, u + 3);
    vec_add(h + 3, h + 3, turn);
}

/* h += along · W, of a row of these bodies. */
static void add_along(const dls_piece *p, const int of[2], double along, double *h) {
    for (int side = 0; side < 2 && of[side] >= 0; side++) {
        const dls_piece_body *body = &p->body[of[side]];
        const double *from = dls_piece_entries(p, p->column, of, of[side]);
        for (int k = 0; k < body->m; k++) h[body->at_u + k] += along * from[k];
    }
}

static void clear_column(const dls_piece *p, const int of[2]) {
    for (int side = 0; side < 2 && of[side] >= 0; side++)
        memset(dls_piece_entries(p, p->column, of, of[side]), 0,
               sizeof *p->column * (size_t)p->body[of[side]].m);
}

static void force(double t, const double *q, const double *u, double *h, void *user) {
    dls_piece *p = user;
    dls_piece_move(p, t, q, u);
    for (int i = 0; i < p->body_count; i++) body_force(p, i, t, u + p->body[i].at_u, h + p->body[i].at_u);
    for (int i = 0; i < p->row_count; i++) {
        const dls_piece_row *row = &p->joint_row[i];
        if (row->role != DLS_ROLE_SPRING && row->role != DLS_ROLE_SERVO && row->role != DLS_ROLE_MOTOR)
            continue;
        clear_column(p, row->of);
        dls_piece_row_direction(p, row, p->column);
        add_along(p, row->of, dls_piece_row_force(p, row, t), h);
    }
    for (int i = 0; i < p->contact_count; i++) {
        if (p->contact[i].cohesion == 0) continue;
        clear_column(p, p->contact[i].of);
        dls_piece_contact_direction(p, &p->contact[i], -1, p->column);
        add_along(p, p->contact[i].of, -p->contact[i].cohesion, h);
    }
}

/* ---- q̇ = B u ---- */

/* ṗ = ½ p ∘ (0, Ω); of solids q̇ = u */
static void motion(double t, const double *q, const double *u, double *rate, void *user) {
    const dls_piece *p = user;
    (void)t;
    for (int i = 0; i < p->body_count; i++) {
        const dls_piece_body *body = &p->body[i];
        const double *at = q + body->at_q, *v = u + body->at_u;
        double *to = rate + body->at_q;
        if (body->solid >= 0 || p->dimension == 2) {
            memcpy(to, v, sizeof *v * (size_t)body->n);
            continue;
        }
        double spin[4] = {0, v[3] / 2, v[4] / 2, v[5] / 2};
        vec_copy(to, v);
        quat_multiply(to + 3, at + 3, spin);
    }
}

static void motion_matrix(double t, const double *q, double *B, void *user) {
    const dls_piece *p = user;
    (void)t;
    for (int i = 0; i < p->body_count; i++) {
        const dls_piece_body *body = &p->body[i];
        int64_t n = p->packed ? body->n : p->size_q;
        double *at = p->packed ? B + body->at_B : B + n * body->at_u + body->at_q;
        for (int k = 0; k < body->m; k++) {
            double *column = at + n * k, spin[4] = {0, 0, 0, 0};
            if (k < 3 || body->solid >= 0) {
                column[k] = 1;
                continue;
            }
            spin[k - 2] = 0.5;
            quat_multiply(column + 3, q + body->at_q + 3, spin);
        }
    }
}

/* p̈ = −¼|Ω|² p where Ω stays */
static void motion_bend(double t, const double *q, const double *u, double *zeta, void *user) {
    const dls_piece *p = user;
    (void)t;
    for (int i = 0; i < p->body_count; i++) {
        const dls_piece_body *body = &p->body[i];
        if (body->solid >= 0) continue;
        double square = vec_dot(u + body->at_u + 3, u + body->at_u + 3);
        for (int k = body->at_q + 3; k < body->at_q + 7; k++) zeta[k] = -0.25 * square * q[k];
    }
}

static void settle(double t, double *q, void *user) {
    const dls_piece *p = user;
    (void)t;
    for (int i = 0; i < p->body_count; i++)
        if (p->body[i].solid < 0) quat_normalize(q + p->body[i].at_q + 3);
}

/* ---- rows of joints and locked freedoms ---- */

static void joint_values(dls_piece *p, int family, double t, const double *q, double *g) {
    dls_piece_stand(p, t, q);
    for (int i = 0; i < p->row_count; i++)
        if (p->joint_row[i].family == family)
            g[p->joint_row[i].index] = dls_piece_row_value(p, &p->joint_row[i], t);
}

static void joint_rates(dls_piece *p, int family, double t, const double *q, const double *u, double *rate) {
    dls_piece_move(p, t, q, u);
    for (int i = 0; i < p->row_count; i++)
        if (p->joint_row[i].family == family)
            rate[p->joint_row[i].index] = dls_piece_row_rate(p, &p->joint_row[i], t);
}

/* Where the column of a row begins. */
static double *column_of(const dls_piece *p, double *W, const int *at, int index) {
    return p->packed ? W + at[index] : W + (int64_t)p->size_u * index;
}

static void joint_directions(dls_piece *p, int family, double t, const double *q, double *W) {
    dls_piece_stand(p, t, q);
    for (int i = 0; i < p->row_count; i++)
        if (p->joint_row[i].family == family)
            dls_piece_row_direction(p, &p->joint_row[i],
                                    column_of(p, W, p->W_at[family], p->joint_row[i].index));
}

/* Rates of all rows of joints along q̇ with u held, beside where the piece stands. */
typedef struct course {
    dls_piece *p;
    double t, *q, *rate;
    const double *from, *u;
} course;

static void follow(double s, double *rates, void *user) {
    const course *c = user;
    for (int i = 0; i < c->p->size_q; i++) c->q[i] = c->from[i] + s * c->rate[i];
    dls_piece_move(c->p, c->t + s, c->q, c->u);
    for (int i = 0; i < c->p->row_count; i++)
        rates[i] = dls_piece_row_rate(c->p, &c->p->joint_row[i], c->t + s);
}

static void bend_rows(dls_piece *p) {
    double speed = 1, *rate = p->column;
    course c = {p, p->at.t, p->column + p->size_q, rate, p->at.q, p->at.u};
    dls_stand kept = p->at;
    motion(p->at.t, p->at.q, p->at.u, rate, p);
    for (int i = 0; i < p->size_q; i++) speed = fmax(speed, fabs(rate[i]));
    p->at = p->aside, p->lonely = true;
    small_derivative(p->row_count, 1e-3 / speed, follow, &c, p->probe, p->row_zeta);
    p->aside = p->at, p->at = kept, p->lonely = false;
}

/* ζ of all rows where the piece stands and moves. */
static void know_bends(dls_piece *p, double t, const double *q, const double *u) {
    dls_piece_move(p, t, q, u);
    if (p->bends) return;
    if (p->row_count > 0) bend_rows(p);
    for (int i = 0; i < p->contact_count; i++) dls_piece_contact_bend(p, &p->contact[i], p->contact_zeta[i]);
    p->bends = true;
}

static void joint_bends(dls_piece *p, int family, double *zeta) {
    for (int i = 0; i < p->row_count; i++)
        if (p->joint_row[i].family == family) zeta[p->joint_row[i].index] = p->row_zeta[i];
}

static void g_value(double t, const double *q, double *g, void *user) {
    joint_values(user, DLS_ROWS_G, t, q, g);
}
static void g_rate(double t, const double *q, const double *u, double *rate, void *user) {
    joint_rates(user, DLS_ROWS_G, t, q, u, rate);
}
static void g_direction(double t, const double *q, double *W, void *user) {
    joint_directions(user, DLS_ROWS_G, t, q, W);
}
static void g_bend(double t, const double *q, const double *u, double *zeta, void *user) {
    know_bends(user, t, q, u);
    joint_bends(user, DLS_ROWS_G, zeta);
}
static void gamma_rate(double t, const double *q, const double *u, double *rate, void *user) {
    joint_rates(user, DLS_ROWS_GAMMA, t, q, u, rate);
}
static void gamma_direction(double t, const double *q, double *W, void *user) {
    joint_directions(user, DLS_ROWS_GAMMA, t, q, W);
}
static void gamma_bend(double t, const double *q, const double *u, double *zeta, void *user) {
    know_bends(user, t, q, u);
    joint_bends(user, DLS_ROWS_GAMMA, zeta);
}

/* ---- rows of contacts, before those of joints ---- */

static void gap_value(double t, const double *q, double *g, void *user) {
    dls_piece *p = user;
    joint_values(p, DLS_ROWS_N, t, q, g);
    for (int i = 0; i < p->contact_count; i++) g[i] = p->contact[i].at.gap;
}

static void gap_rate(double t, const double *q, const double *u, double *rate, void *user) {
    dls_piece *p = user;
    joint_rates(p, DLS_ROWS_N, t, q, u, rate);
    for (int i = 0; i < p->contact_count; i++) rate[i] = dls_piece_contact_rate(p, &p->contact[i], -1);
}

static void gap_direction(double t, const double *q, double *W, void *user) {
    dls_piece *p = user;
    joint_directions(p, DLS_ROWS_N, t, q, W);
    for (int i = 0; i < p->contact_count; i++)
        dls_piece_contact_direction(p, &p->contact[i], -1, column_of(p, W, p->W_at[DLS_ROWS_N], i));
}

static void gap_bend(double t, const double *q, const double *u, double *zeta, void *user) {
    dls_piece *p = user;
    know_bends(p, t, q, u);
    joint_bends(p, DLS_ROWS_N, zeta);
    for (int i = 0; i < p->contact_count; i++) zeta[i] = p->contact_zeta[i][0];
}

static void slip_rate(double t, const double *q, const double *u, double *rate, void *user) {
    dls_piece *p = user;
    joint_rates(p, DLS_ROWS_F, t, q, u, rate);
    for (int i = 0; i < p->contact_count; i++)
        for (int k = 0; k < p->contact[i].row_count; k++)
            rate[p->contact[i].first_row + k] = dls_piece_contact_rate(p, &p->contact[i], k);
}

static void slip_direction(double t, const double *q, double *W, void *user) {
    dls_piece *p = user;
    joint_directions(p, DLS_ROWS_F, t, q, W);
    for (int i = 0; i < p->contact_count; i++)
        for (int k = 0; k < p->contact[i].row_count; k++)
            dls_piece_contact_direction(p, &p->contact[i], k,
                                        column_of(p, W, p->W_at[DLS_ROWS_F], p->contact[i].first_row + k));
}

static void slip_bend(double t, const double *q, const double *u, double *zeta, void *user) {
    dls_piece *p = user;
    know_bends(p, t, q, u);
    joint_bends(p, DLS_ROWS_F, zeta);
    for (int i = 0; i < p->contact_count; i++)
        memcpy(zeta + p->contact[i].first_row, p->contact_zeta[i] + 1,
               sizeof *zeta * (size_t)p->contact[i].row_count);
}

/* "ball and floor"; limits of joints by the joint. */
static void contact_name(int contact, char *text, size_t size, void *user) {
    const dls_piece *p = user;
    const dls_world *world = p->s->world;
    char a[64], b[64];
    if (contact < p->contact_count) {
        const dls_piece_contact *c = &p->contact[contact];
        snprintf(text, size, "%s and %s", dls_body_label(world, world->bodies[c->row[0]].id, a, sizeof a),
                 dls_body_label(world, world->bodies[c->row[1]].id, b, sizeof b));
        return;
    }
    snprintf(text, size, "a limit");
    for (int i = 0; i < p->row_count; i++)
        if (p->joint_row[i].family == DLS_ROWS_N && p->joint_row[i].index == contact)
            snprintf(text, size, "a limit of %s", dls_joint_label(world, p->joint_row[i].joint, a, sizeof a));
}

dls_model dls_piece_model(dls_piece *p) {
    bool space = p->dimension == 3;
    dls_model model = {.coordinates = p->size_q,
                       .velocities = p->size_u,
                       .user = p,
                       .mass = mass,
                       .force = force,
                       .mass_slope = no_mass_slope,
                       .motion = space ? motion : NULL,
                       .motion_matrix = space ? motion_matrix : NULL,
                       .motion_bend = space ? motion_bend : NULL,
                       .settle = space ? settle : NULL,
                       .contacts = p->contacts,
                       .law_count = p->law_count,
                       .laws = p->laws,
                       .contact_name = contact_name};
    model.rows[DLS_ROWS_G] =
        (dls_model_rows){.value = g_value, .rate = g_rate, .direction = g_direction, .bend = g_bend};
    model.rows[DLS_ROWS_GAMMA] =
        (dls_model_rows){.rate = gamma_rate, .direction = gamma_direction, .bend = gamma_bend};
    model.rows[DLS_ROWS_N] =
        (dls_model_rows){.value = gap_value, .rate = gap_rate, .direction = gap_direction, .bend = gap_bend};
    model.rows[DLS_ROWS_F] =
        (dls_model_rows){.rate = slip_rate, .direction = slip_direction, .bend = slip_bend};
    DLS_EACH_FAMILY(f) model.rows[f].count = p->family_count[f], model.rows[f].unit = p->unit[f];
    return model;
}

dls_parts dls_piece_parts(dls_piece *p) {
    dls_parts parts = {.count = p->body_count,
                       .q = p->part_q,
                       .u = p->part_u,
                       .tie_count = p->tie_count,
                       .tie = (const int(*)[2])p->tie,
                       .slopes = dls_piece_slopes,
                       .tangent = p->dimension == 3 ? dls_piece_tangent : NULL,
                       .turns = p->dimension == 3 ? p->turns : NULL};
    DLS_EACH_FAMILY(f) parts.row[f] = (const int(*)[2])p->row_bodies[f];
    return parts;
}
