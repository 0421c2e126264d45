/* Slopes of a piece along the motions of its bodies, each of what it touches: with D_j the derivative along
 * direction j of a body (a translation, a turn about a body axis, a coordinate of a solid),
 *
 *     D_j n = ν,   D_j arm = ω × arm + ṡ,   D_j (Rᵀ τ) = Rᵀ (D_j τ − ω × τ)
 *
 * where ν and ṡ follow from two radii per side (collide/curvature.h). Joints, and contacts of solids, by
 * differences of their own rows. */
#include "base/vector.h"
#include "integrate/alpha/piece.h"

#include <math.h>
#include <string.h>

static const double shift = 1e-6;

/* ---- forces of bodies ---- */

/* ∂/∂Ω of (J Ω) × Ω, and Rᵀτ that turns with the body. */
static void rigid_slopes(const dls_piece *p, const dls_piece_body *body, double t, const double *u,
                         dls_part_slopes *out) {
    double force[3], torque[3], own[3], L[3], turn[3];
    if (p->dimension == 2) return;
    dls_world_force(p->s->world, body->row, t, force, torque, NULL);
    mat_apply_transposed(own, p->at.R[body->row], torque);
    mat_apply(L, body->inertia, u + 3);
    for (int k = 0; k < 3; k++) {
        double axis[3] = {k == 0, k == 1, k == 2}, *in_u = out->force_u + body->at_M + 6 * (3 + k) + 3,
               *in_q = out->force_q + body->at_M + 6 * (3 + k) + 3;
        mat_apply(turn, body->inertia, axis);
        vec_cross(in_u, turn, u + 3);
        vec_cross(turn, L, axis);
        vec_add(in_u, in_u, turn);
        vec_cross(in_q, own, axis);
    }
}

/* to −= a matrix of the solid */
static void take_off(const dls_piece *p, const dls_piece_body *body, dls_solid_matrix which, double *to) {
    const dls_solid *solid = &p->at.shadow.solids[body->solid];
    int count = body->n * body->n;
    dls_solid_full_matrix(solid, which, p->at.shadow.q + solid->at, p->matrix + count, p->matrix);
    for (int i = 0; i < count; i++) to[i] -= p->matrix[i];
}

static void solid_slopes(const dls_piece *p, const dls_piece_body *body, dls_part_slopes *out) {
    take_off(p, body, DLS_SOLID_STIFFNESS, out->force_q + body->at_M);
    if (p->at.shadow.solids[body->solid].def.damping > 0)
        take_off(p, body, DLS_SOLID_DAMPING, out->force_u + body->at_M);
}

/* ---- contacts of rigid bodies ---- */

/* ν and ṡ of a contact by how its sides move: linear in V, ω_A and ω_B along two tangents. */
typedef struct response {
    double tangent[2][3];
    dls_contact_motion to[6];
} response;

static void respond(const dls_piece *p, const dls_piece_contact *c, response *r) {
    dls_curvature side[2];
    dls_piece_curvature(p, c, side);
    vec_tangents(c->at.normal, r->tangent[0], r->tangent[1]);
    for (int k = 0; k < 6; k++) {
        dls_side_motion motion[2];
        memset(motion, 0, sizeof motion);
        vec_copy(k < 2 ? motion[1].v : motion[(k - 2) / 2].w, r->tangent[k % 2]);
        dls_contact_moves(side, c->at.normal, c->at.gap, motion, &r->to[k]);
    }
}

/* How all that a contact has changes along one direction of one of its bodies. */
typedef struct change {
    int side;
    double v[3], w[3];              /* translation, or turn, of that side */
    double nu[3], arm[2][3];        /* of n and of the arms */
    double axis[DLS_ALPHA_ROWS][3]; /* of the axes of friction */
    double spin[3], V[3];           /* of ω of that side, and of the relative velocity */
} change;

static void slide_arms(const dls_piece_contact *c, const response *r, change *d) {
    double V[3], turned[3], weight[6] = {0};
    vec_cross(turned, d->w, c->arm[d->side]);
    vec_add(V, d->v, turned);
    vec_set(d->nu, 0, 0, 0);
    vec_set(d->arm[0], 0, 0, 0);
    vec_set(d->arm[1], 0, 0, 0);
    for (int k = 0; k < 2; k++) {
        weight[k] = (d->side ? 1 : -1) * vec_dot(V, r->tangent[k]);
        weight[2 + 2 * d->side + k] = vec_dot(d->w, r->tangent[k]);
    }
    for (int k = 0; k < 6; k++) {
        if (weight[k] == 0) continue;
        vec_along(d->nu, d->nu, weight[k], r->to[k].nu);
        for (int side = 0; side < 2; side++)
            vec_along(d->arm[side], d->arm[side], weight[k], r->to[k].slide[side]);
    }
    vec_add(d->arm[d->side], d->arm[d->side], turned);
}

static void turn_axes(const dls_piece_contact *c, change *d) {
    double first[3], second[3];
    int k = 0;
    dls_piece_frame_rate(c, d->nu, first, second);
    memset(d->axis, 0, sizeof d->axis);
    if (c->tangents > 0) vec_copy(d->axis[k++], first);
    if (c->tangents > 1) vec_copy(d->axis[k++], second);
    if (c->drills) vec_scale(d->axis[k++], c->axis_scale, d->nu);
    if (c->rolls == 1) k++;
    if (c->rolls == 2) vec_copy(d->axis[k], first), vec_copy(d->axis[k + 1], second), k += 2;
    if (c->spins) vec_copy(d->axis[k], d->nu);
}

/* D(ω × arm) of both sides, with Dω = w × ω of the one that turns. */
static void turn_velocity(const dls_piece *p, const dls_piece_contact *c, change *d) {
    double over[3];
    vec_cross(d->spin, d->w, dls_piece_side(p, c, d->side, NULL)->w);
    vec_cross(d->V, d->spin, c->arm[d->side]);
    vec_scale(d->V, d->side ? 1 : -1, d->V);
    for (int side = 0; side < 2; side++) {
        vec_cross(over, dls_piece_side(p, c, side, NULL)->w, d->arm[side]);
        vec_along(d->V, d->V, side ? 1 : -1, over);
    }
}

/* D of row k of friction, or of n where k < 0. */
static void turn_row(const dls_piece *p, const dls_piece_contact *c, int k, const change *d, double *W) {
    const double *axis = k < 0 ? c->at.normal : c->axis[k], *moved = k < 0 ? d->nu : d->axis[k];
    bool turns = k >= c->tangents;
    for (int side = 0; side < 2; side++) {
        double torque[3], own[3], more[3], sign = side ? 1 : -1;
        if (c->body[side] < 0) continue;
        double *to = dls_piece_entries(p, W, c->of, c->body[side]);
        vec_cross(torque, c->arm[side], axis);
        vec_cross(own, c->arm[side], moved);
        vec_cross(more, d->arm[side], axis);
        vec_add(own, own, more);
        if (turns) vec_copy(torque, axis), vec_copy(own, moved);
        for (int i = 0; i < p->dimension && !turns; i++) to[i] = sign * moved[i];
        if (p->dimension == 2) {
            to[2] = sign * own[2];
            continue;
        }
        if (side == d->side) {
            vec_cross(more, d->w, torque);
            vec_sub(own, own, more);
        }
        mat_apply_transposed(own, p->at.R[c->row[side]], own);
        for (int i = 0; i < 3; i++) to[3 + i] = sign * own[i];
    }
}

/* D of a rate: axis·V, or axis·(ω_B − ω_A) */
static double turn_rate(const dls_piece_contact *c, int k, const change *d, const double *V,
                        const double *spin) {
    const double *axis = k < 0 ? c->at.normal : c->axis[k], *moved = k < 0 ? d->nu : d->axis[k];
    if (k < c->tangents) return vec_dot(moved, V) + vec_dot(axis, d->V);
    return vec_dot(moved, spin) + (d->side ? 1 : -1) * vec_dot(axis, d->spin);
}

static void point_velocity(const dls_piece *p, const dls_piece_contact *c, int side, double *v) {
    const dls_body_state *state = dls_piece_side(p, c, side, NULL);
    vec_cross(v, state->w, c->arm[side]);
    vec_add(v, v, state->v);
}

static void set_direction(const dls_piece *p, const dls_piece_contact *c, int side, int j, change *d) {
    const double *R = p->at.R[c->row[side]];
    *d = (change){.side = side};
    if (j < p->dimension)
        d->v[j] = 1;
    else if (p->dimension == 2)
        d->w[2] = 1;
    else
        vec_copy(d->w, R + 3 * (j - 3));
}

static void contact_slopes(const dls_piece *p, int i, dls_part_slopes *out) {
    const dls_piece_contact *c = &p->contact[i];
    response r;
    double V[3], a[3], b[3], spin[3], surface[3], unused[3];
    respond(p, c, &r);
    point_velocity(p, c, 0, a);
    point_velocity(p, c, 1, b);
    vec_sub(V, b, a);
    vec_sub(spin, dls_piece_side(p, c, 1, NULL)->w, dls_piece_side(p, c, 0, NULL)->w);
    dls_piece_belts(p, c, surface, unused);
    for (int side = 0; side < 2; side++) {
        if (c->body[side] < 0) continue;
        int m = p->body[c->body[side]].m, width = p->W_at[DLS_ROWS_N][i + 1] - p->W_at[DLS_ROWS_N][i];
        int first = c->body[side] == c->of[0] ? 0 : p->body[c->of[0]].m;
        for (int j = 0; j < m; j++) {
            change d;
            set_direction(p, c, side, j, &d);
            slide_arms(c, &r, &d);
            turn_axes(c, &d);
            turn_velocity(p, c, &d);
            for (int k = -1; k < c->row_count; k++) {
                int f = k < 0 ? DLS_ROWS_N : DLS_ROWS_F, row = k < 0 ? i : c->first_row + k;
                turn_row(p, c, k, &d, out->turn[f] + out->turn_at[f][row] + (int64_t)width * (first + j));
                out->rate[f][p->W_at[f][row] + first + j] =
                    turn_rate(c, k, &d, V, spin) +
                    (k >= 0 && k < c->tangents ? vec_dot(d.axis[k], surface) : 0);
            }
        }
    }
}

/* ---- by differences ---- */

/* A body moved by epsilon along its direction j; its velocities follow. */
static void nudge(dls_piece *p, int i, int j, double epsilon) {
    const dls_piece_body *body = &p->body[i];
    dls_body_state *state = &p->at.states[body->row];
    if (body->solid >= 0) {
        p->at.shadow.q[p->at.shadow.solids[body->solid].at + j] += epsilon;
        dls_solid_stand(&p->at.shadow, body->solid);
        quat_matrix(state->q, p->at.R[body->row]);
    } else if (j < p->dimension) {
        state->x[j] += epsilon;
    } else {
        double turn[3] = {0, 0, 0}, q[4];
        turn[p->dimension == 2 ? 2 : j - 3] = epsilon;
        quat_exponential(q, turn);
        quat_multiply(state->q, state->q, q);
        quat_matrix(state->q, p->at.R[body->row]);
    }
    dls_piece_set_velocity(p, i, p->at.u + body->at_u);
}

static void put_back(dls_piece *p, int i) {
    dls_piece_set_body(p, i, p->at.q + p->body[i].at_q);
    dls_piece_set_velocity(p, i, p->at.u + p->body[i].at_u);
}

/* Column j of a row: + s W of where it stands now. */
static void add_difference(const dls_piece *p, int width, double s, int j, double *turn) {
    for (int k = 0; k < width; k++) turn[(int64_t)width * j + k] += s * p->column[k];
}

static void add_contact(dls_piece *p, int i, double s, int j, dls_part_slopes *out) {
    const dls_piece_contact *c = &p->contact[i];
    for (int k = -1; k < c->row_count; k++) {
        int f = k < 0 ? DLS_ROWS_N : DLS_ROWS_F, row = k < 0 ? i : c->first_row + k;
        int width = p->W_at[f][row + 1] - p->W_at[f][row];
        memset(p->column, 0, sizeof *p->column * (size_t)width);
        dls_piece_contact_direction(p, c, k, p->column);
        add_difference(p, width, s, j, out->turn[f] + out->turn_at[f][row]);
        out->rate[f][p->W_at[f][row] + j] += s * dls_piece_contact_rate(p, c, k);
    }
}

static void pair_differences(dls_piece *p, dls_piece_pair *pair, dls_part_slopes *out) {
    const dls_piece_contact *c = &p->contact[pair->first];
    for (int at = 0, j = 0; at < 2 && c->of[at] >= 0; at++)
        for (int k = 0; k < p->body[c->of[at]].m; k++, j++)
            for (int side = 0; side < 2; side++) {
                nudge(p, c->of[at], k, side ? shift : -shift);
                dls_piece_touch_pair(p, pair);
                for (int i = pair->first; i < pair->first + pair->count; i++)
                    add_contact(p, i, (side ? 0.5 : -0.5) / shift, j, out);
                put_back(p, c->of[at]);
            }
    dls_piece_touch_pair(p, pair);
}

static void add_row(dls_piece *p, const dls_piece_row *row, double s, int j, double *turn, double *rate,
                    double t) {
    int width = 0;
    for (int side = 0; side < 2 && row->of[side] >= 0; side++) width += p->body[row->of[side]].m;
    memset(p->column, 0, sizeof *p->column * (size_t)width);
    dls_piece_row_direction(p, row, p->column);
    add_difference(p, width, s, j, turn);
    rate[j] += s * dls_piece_row_rate(p, row, t);
}

/* ∂(f W)/∂q = f ∂W/∂q + W (f_q W + f_u ∂u/∂q),   ∂(f W)/∂u = f_u W W */
static void tie_slopes(dls_piece *p, const dls_piece_row *row, double t, const double *rate, int width,
                       double *in_q, double *in_u) {
    double value = dls_piece_row_value(p, row, t), speed = dls_piece_row_rate(p, row, t);
    double dq = shift * fmax(1, fabs(value)), du = shift * fmax(1, fabs(speed));
    double f_q = (dls_piece_force_at(p, row, value + dq, speed, t) -
                  dls_piece_force_at(p, row, value - dq, speed, t)) /
                 (2 * dq);
    double f_u = (dls_piece_force_at(p, row, value, speed + du, t) -
                  dls_piece_force_at(p, row, value, speed - du, t)) /
                 (2 * du);
    double f = dls_piece_force_at(p, row, value, speed, t), *W = p->column;
    memset(W, 0, sizeof *W * (size_t)width);
    dls_piece_row_direction(p, row, W);
    for (int j = 0; j < width; j++)
        for (int k = 0; k < width; k++) {
            double *at = &in_q[(int64_t)width * j + k];
            *at = f * *at + W[k] * (f_q * W[j] + f_u * rate[j]);
            in_u[(int64_t)width * j + k] = f_u * W[k] * W[j];
        }
}

static int tie_of(const dls_piece *p, int row) {
    for (int i = 0; i < p->tie_count; i++)
        if (p->tie_row[i] == row) return i;
    return -1;
}

static int width_of(const dls_piece *p, const int of[2]) {
    int width = 0;
    for (int side = 0; side < 2 && of[side] >= 0; side++) width += p->body[of[side]].m;
    return width;
}

/* All rows of one joint, or one locked row, from row `first` on. */
static void joint_slopes(dls_piece *p, int first, int end, double t, dls_part_slopes *out) {
    const int *of = p->joint_row[first].of;
    int width = width_of(p, of);
    for (int at = 0, j = 0; at < 2 && of[at] >= 0; at++)
        for (int k = 0; k < p->body[of[at]].m; k++, j++)
            for (int side = 0; side < 2; side++) {
                nudge(p, of[at], k, side ? shift : -shift);
                for (int i = first; i < end; i++) {
                    const dls_piece_row *row = &p->joint_row[i];
                    int f = row->family, tie = f < 0 ? tie_of(p, i) : -1;
                    double s = (side ? 0.5 : -0.5) / shift;
                    if (f >= 0)
                        add_row(p, row, s, j, out->turn[f] + out->turn_at[f][row->index],
                                out->rate[f] + p->W_at[f][row->index], t);
                    else if (tie >= 0)
                        add_row(p, row, s, j, out->tie_q + out->tie_at[tie], out->tie_u + out->tie_at[tie],
                                t);
                }
                put_back(p, of[at]);
            }
    for (int i = first; i < end; i++) {
        int tie = tie_of(p, i);
        if (tie < 0) continue;
        double *rate = p->column + width;
        memcpy(rate, out->tie_u + out->tie_at[tie], sizeof *rate * (size_t)width);
        tie_slopes(p, &p->joint_row[i], t, rate, width, out->tie_q + out->tie_at[tie],
                   out->tie_u + out->tie_at[tie]);
    }
}

/* ---- the whole ---- */

void dls_piece_slopes(double t, const double *q, const double *u, dls_part_slopes *out, void *user) {
    dls_piece *p = user;
    dls_piece_move(p, t, q, u);
    for (int i = 0; i < p->body_count; i++) {
        if (p->body[i].solid >= 0)
            solid_slopes(p, &p->body[i], out);
        else
            rigid_slopes(p, &p->body[i], t, u + p->body[i].at_u, out);
    }
    for (int i = 0; i < p->pair_count; i++) {
        dls_piece_pair *pair = &p->pair[i];
        const dls_piece_contact *c = &p->contact[pair->first];
        bool rigid = c->spot[0] < 0 && c->spot[1] < 0;
        for (int k = pair->first; k < pair->first + pair->count && rigid; k++) contact_slopes(p, k, out);
        if (!rigid) pair_differences(p, pair, out);
    }
    p->at.knows_joints = false;
    for (int first = 0, end; first < p->row_count; first = end) {
        const dls_piece_row *row = &p->joint_row[first];
        for (end = first + 1; end < p->row_count && row->joint >= 0; end++)
            if (p->joint_row[end].joint != row->joint) break;
        joint_slopes(p, first, end, t, out);
    }
    p->at.knows_joints = true;
}

/* T = 4/|p|² B(p)ᵀB₀ of turns, 1 of the rest. */
void dls_piece_tangent(const double *q, const double *B, double *T, void *user) {
    const dls_piece *p = user;
    for (int i = 0; i < p->body_count; i++) {
        const dls_piece_body *body = &p->body[i];
        double *to = T + body->at_M;
        for (int k = 0; k < body->m; k++) to[(body->m + 1) * k] = 1;
        if (body->solid >= 0) continue;
        const double *turn = q + body->at_q + 3;
        double square = 0;
        for (int k = 0; k < 4; k++) square += turn[k] * turn[k];
        for (int k = 0; k < 3; k++) {
            double spin[4] = {0, 0, 0, 0}, column[4];
            spin[1 + k] = 0.5;
            quat_multiply(column, turn, spin);
            for (int j = 0; j < 3; j++) {
                const double *began = B + body->at_B + 7 * (3 + j) + 3;
                to[3 + k + 6 * (3 + j)] = 4 / square *
                                          (column[0] * began[0] + column[1] * began[1] +
                                           column[2] * began[2] + column[3] * began[3]);
            }
        }
    }
}
