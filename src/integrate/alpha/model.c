/* A piece as a system by callbacks. Coordinates and velocities are those of its bodies, one after the other.
 */
#include "base/vector.h"
#include "integrate/alpha/piece.h"
#include "world/parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- M and h ---- */

static void solid_mass(const dls_piece *p, const dls_piece_body *body, int size, double *M) {
    const dls_solid *solid = &p->shadow.solids[body->solid];
    dls_solid_full_matrix(solid, DLS_SOLID_MASS, p->shadow.q + solid->at, p->matrix + body->n * body->n,
                          p->matrix);
    for (int j = 0; j < body->n; j++)
        for (int k = 0; k < body->n; k++) M[k + (int64_t)size * j] = p->matrix[k + body->n * j];
}

/* M g + force(q) − D(q) u */
static void solid_force(const dls_piece *p, const dls_piece_body *body, const double *u, double *h) {
    const dls_solid *solid = &p->shadow.solids[body->solid];
    const double *q = p->shadow.q + solid->at;
    solid->kind->load(solid->data, p->s->world->def.gravity, h);
    solid->kind->force(solid->data, q, h);
    if (!dls_solid_damps(solid)) return;
    dls_solid_full_matrix(solid, DLS_SOLID_DAMPING, q, p->matrix + body->n * body->n, p->matrix);
    for (int j = 0; j < body->n; j++)
        for (int k = 0; k < body->n; k++) h[k] -= p->matrix[k + body->n * j] * u[j];
}

static void mass(double t, const double *q, double *M, void *user) {
    const dls_piece *p = user;
    int size = p->size_u;
    (void)t, (void)q;
    for (int i = 0; i < p->body_count; i++) {
        const dls_piece_body *body = &p->body[i];
        double of = p->s->world->bodies[body->row].mass;
        double *at = M + (int64_t)(size + 1) * body->at_u;
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
    mat_apply_transposed(h + 3, p->R[body->row], torque);
    mat_apply(L, body->inertia, u + 3);
    vec_cross(turn, L, u + 3);
    vec_add(h + 3, h + 3, turn);
}

static void force(double t, const double *q, const double *u, double *h, void *user) {
    dls_piece *p = user;
    dls_piece_move(p, t, q, u);
    double *W = p->column;
    size_t bytes = sizeof *W * (size_t)(p->size_u);
    for (int i = 0; i < p->body_count; i++) body_force(p, i, t, u + p->body[i].at_u, h + p->body[i].at_u);
    for (int i = 0; i < p->row_count; i++) {
        const dls_piece_row *row = &p->joint_row[i];
        if (row->role != DLS_ROLE_SPRING && row->role != DLS_ROLE_SERVO && row->role != DLS_ROLE_MOTOR)
            continue;
        double along = dls_piece_row_force(p, row, t);
        memset(W, 0, bytes);
        dls_piece_row_direction(p, row, W);
        for (int k = 0; k < p->size_u; k++) h[k] += along * W[k];
    }
    for (int i = 0; i < p->contact_count; i++) {
        if (p->contact[i].cohesion == 0) continue;
        memset(W, 0, bytes);
        dls_piece_contact_direction(p, &p->contact[i], -1, W);
        for (int k = 0; k < p->size_u; k++) h[k] -= p->contact[i].cohesion * W[k];
    }
}

/* ---- q̇ = B u ---- */

/* ṗ = ½ p ∘ (0, Ω) */
static void motion(double t, const double *q, const double *u, double *rate, void *user) {
    const dls_piece *p = user;
    (void)t;
    for (int i = 0; i < p->body_count; i++) {
        const double *at = q + 7 * i, *v = u + 6 * i;
        double spin[4] = {0, v[3] / 2, v[4] / 2, v[5] / 2};
        vec_copy(rate + 7 * i, v);
        quat_multiply(rate + 7 * i + 3, at + 3, spin);
    }
}

static void motion_matrix(double t, const double *q, double *B, void *user) {
    const dls_piece *p = user;
    int64_t n = 7 * (int64_t)p->body_count;
    (void)t;
    for (int i = 0; i < p->body_count; i++)
        for (int k = 0; k < 6; k++) {
            double *column = B + n * (6 * i + k) + 7 * i, spin[4] = {0, 0, 0, 0};
            if (k < 3) {
                column[k] = 1;
                continue;
            }
            spin[k - 2] = 0.5;
            quat_multiply(column + 3, q + 7 * i + 3, spin);
        }
}

/* p̈ = −¼|Ω|² p where Ω stays */
static void motion_bend(double t, const double *q, const double *u, double *zeta, void *user) {
    const dls_piece *p = user;
    (void)t;
    for (int i = 0; i < p->body_count; i++) {
        double square = vec_dot(u + 6 * i + 3, u + 6 * i + 3);
        for (int k = 3; k < 7; k++) zeta[7 * i + k] = -0.25 * square * q[7 * i + k];
    }
}

static void settle(double t, double *q, void *user) {
    const dls_piece *p = user;
    (void)t;
    for (int i = 0; i < p->body_count; i++) quat_normalize(q + 7 * i + 3);
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

static void joint_directions(dls_piece *p, int family, double t, const double *q, double *W) {
    dls_piece_stand(p, t, q);
    for (int i = 0; i < p->row_count; i++)
        if (p->joint_row[i].family == family)
            dls_piece_row_direction(p, &p->joint_row[i], W + (int64_t)p->size_u * p->joint_row[i].index);
}

/* ζ = d(rate)/dt along q̇ with u held: five points, of which the two nearest weigh 8. */
static void joint_bends(dls_piece *p, int family, double t, const double *q, const double *u, double *zeta) {
    static const double place[4] = {-2, -1, 1, 2}, weight[4] = {1, -8, 8, -1};
    int size = p->size_q;
    double speed = 1, *rate = p->probe, *shifted = p->probe + size;
    bool any = false;
    for (int i = 0; i < p->row_count; i++) any |= p->joint_row[i].family == family;
    if (!any) return;
    if (p->dimension == 2)
        memcpy(rate, u, sizeof *rate * (size_t)size);
    else
        motion(t, q, u, rate, p);
    for (int i = 0; i < size; i++) speed = fmax(speed, fabs(rate[i]));
    double epsilon = 1e-3 / speed;
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < size; i++) shifted[i] = q[i] + place[k] * epsilon * rate[i];
        p->lonely = true;
        dls_piece_move(p, t + place[k] * epsilon, shifted, u);
        p->lonely = false;
        for (int i = 0; i < p->row_count; i++)
            if (p->joint_row[i].family == family)
                zeta[p->joint_row[i].index] +=
                    weight[k] / (12 * epsilon) *
                    dls_piece_row_rate(p, &p->joint_row[i], t + place[k] * epsilon);
    }
    p->stands = false;
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
    joint_bends(user, DLS_ROWS_G, t, q, u, zeta);
}
static void gamma_rate(double t, const double *q, const double *u, double *rate, void *user) {
    joint_rates(user, DLS_ROWS_GAMMA, t, q, u, rate);
}
static void gamma_direction(double t, const double *q, double *W, void *user) {
    joint_directions(user, DLS_ROWS_GAMMA, t, q, W);
}
static void gamma_bend(double t, const double *q, const double *u, double *zeta, void *user) {
    joint_bends(user, DLS_ROWS_GAMMA, t, q, u, zeta);
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
        dls_piece_contact_direction(p, &p->contact[i], -1, W + (int64_t)p->size_u * i);
}

/* ζ of normal rows or of those of friction. */
static void contact_bends(dls_piece *p, double t, const double *q, const double *u, bool normal,
                          double *out) {
    double zeta[1 + DLS_ALPHA_ROWS];
    dls_piece_move(p, t, q, u);
    for (int i = 0; i < p->contact_count; i++) {
        const dls_piece_contact *c = &p->contact[i];
        if (!normal && c->row_count == 0) continue;
        dls_piece_contact_bend(p, c, zeta);
        if (normal)
            out[i] = zeta[0];
        else
            memcpy(out + c->first_row, zeta + 1, sizeof *zeta * (size_t)c->row_count);
    }
}

static void gap_bend(double t, const double *q, const double *u, double *zeta, void *user) {
    dls_piece *p = user;
    joint_bends(p, DLS_ROWS_N, t, q, u, zeta);
    contact_bends(p, t, q, u, true, zeta);
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
                                        W + (int64_t)p->size_u * (p->contact[i].first_row + k));
}

static void slip_bend(double t, const double *q, const double *u, double *zeta, void *user) {
    dls_piece *p = user;
    joint_bends(p, DLS_ROWS_F, t, q, u, zeta);
    contact_bends(p, t, q, u, false, zeta);
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
