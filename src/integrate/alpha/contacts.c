/* Contacts of a piece as rows: with n from A to B, arms to the two touching points and V their relative
 * velocity,
 *
 *     ġ = n·V,   γ_k = t_k·(V + belts) or axis_k·(ω_B − ω_A),   g̈ = Wᵀa + ζ
 *
 * where ζ follows from how n and the touching points move (collide/curvature.h). */
#include "base/small.h"
#include "base/vector.h"
#include "integrate/alpha/piece.h"
#include "world/shape/kinds.h"
#include "world/solid/solid.h"

#include <math.h>
#include <string.h>

/* ---- where they stand ---- */

const dls_body_state *dls_piece_side(const dls_piece *p, const dls_piece_contact *c, int side, double *R) {
    const dls_spot *spot = c->spot[side] >= 0 ? &p->at.shadow.spots[c->spot[side]] : NULL;
    if (R && spot) quat_matrix(spot->state.q, R);
    if (R && !spot) memcpy(R, p->at.R[c->row[side]], sizeof *p->at.R);
    return spot ? &spot->state : &p->at.states[c->row[side]];
}

static void place_shape(const dls_piece *p, const dls_piece_contact *c, int side, int shape,
                        dls_placed *placed) {
    double R[9];
    const dls_body_state *state = dls_piece_side(p, c, side, R);
    placed->shape = &p->s->world->shapes[shape];
    mat_apply(placed->x, R, placed->shape->x);
    vec_add(placed->x, placed->x, state->x);
    if (side) vec_add(placed->x, placed->x, c->shift);
    mat_multiply(placed->R, R, placed->shape->R);
}

/* A point of the world that the body of a row carried along since contacts were found. */
static void carry(const dls_piece *p, int row, const double *shift, const double *point, double *out) {
    const dls_pose *found = &p->s->found[row];
    double R[9], own[3];
    quat_matrix(found->q, R);
    vec_sub(own, point, found->x);
    if (shift) vec_sub(own, own, shift);
    mat_apply_transposed(own, R, own);
    mat_apply(out, p->at.R[row], own);
    vec_add(out, out, p->at.states[row].x);
    if (shift) vec_add(out, out, shift);
}

/* A corner of one side over a plane of the other, each carried along by its body. */
static void hold(const dls_piece *p, dls_piece_contact *c) {
    const dls_contact *found = &dls_collider_contacts(p->s->collider)[c->contact];
    double R[9], own[3], d[3], *point[2] = {c->at.point_a, c->at.point_b}, *n = c->at.normal;
    int face = c->face;
    if (c->spot[0] >= 0 || c->spot[1] >= 0) return;
    carry(p, c->row[0], NULL, found->at.point_a, point[0]);
    carry(p, c->row[1], c->shift, found->at.point_b, point[1]);
    quat_matrix(p->s->found[c->row[face]].q, R);
    mat_apply_transposed(own, R, found->at.normal);
    mat_apply(n, p->at.R[c->row[face]], own);
    vec_sub(d, point[1], point[0]);
    c->at.gap = vec_dot(n, d);
    vec_along(point[face], point[!face], face ? c->at.gap : -c->at.gap, n);
}

/* The side whose face, or side of a polygon, points along n where the contact was found; A's where both do or
 * none does, so that the corner is none of an obstacle. */
static int face_side(const dls_piece *p, const dls_contact *contact, const int row[2]) {
    int flat[2];
    for (int side = 0; side < 2; side++) {
        const dls_shape *shape = &p->s->world->shapes[side ? contact->b : contact->a];
        const dls_pose *found = &p->s->found[row[side]];
        dls_curvature surface;
        double R[9], x[3], n[3];
        quat_matrix(found->q, R);
        mat_apply(x, R, shape->x);
        vec_add(x, x, found->x);
        mat_multiply(R, R, shape->R);
        vec_scale(n, side ? -1 : 1, contact->at.normal);
        flat[side] =
            dls_curvature_at(shape, x, R, side ? contact->at.point_b : contact->at.point_a, n, &surface) &&
            surface.P[0] == 0 && (p->dimension == 2 || surface.P[1] == 0);
    }
    bool obstacle = dls_shape_table[p->s->world->shapes[contact->b].kind].obstacle;
    return flat[0] == flat[1] ? obstacle : flat[1];
}

void dls_piece_set_face(const dls_piece *p, dls_piece_contact *c, bool exact) {
    const dls_contact *contact = &dls_collider_contacts(p->s->collider)[c->contact];
    c->carried = !exact && c->spot[0] < 0 && c->spot[1] < 0;
    c->face = face_side(p, contact, c->row);
}

static void find(dls_piece *p, const dls_piece_pair *pair, const dls_manifold *m, dls_piece_contact *c) {
    for (int i = 0; i < m->count; i++) {
        bool only = m->count == 1 && pair->count == 1;
        if (!only && m->point[i].feature != c->at.feature) continue;
        uint64_t feature = c->at.feature;
        c->at = m->point[i];
        c->at.feature = feature;
        if (pair->swapped) dls_contact_point_flip(&c->at);
        return;
    }
    hold(p, c);
}

void dls_piece_frame(const dls_piece *p, dls_piece_contact *c) {
    const double *n = c->at.normal;
    double sum[3], second[3], *t = c->axis[0];
    static const double out_of_plane[3] = {0, 0, 1};
    vec_add(sum, c->base_n, n);
    double share = vec_dot(n, c->base_t) / fmax(1 + vec_dot(n, c->base_n), 1e-12);
    vec_along(t, c->base_t, -share, sum);
    vec_along(t, t, -vec_dot(t, n), n);
    vec_scale(t, 1 / vec_norm(t), t);
    vec_cross(second, n, t);
    int k = 1;
    if (c->tangents > 1) vec_copy(c->axis[k++], second);
    if (c->drills) vec_scale(c->axis[k++], c->axis_scale, n);
    if (c->rolls == 1) vec_copy(c->axis[k++], out_of_plane);
    if (c->rolls == 2) vec_copy(c->axis[k], t), vec_copy(c->axis[k + 1], second), k += 2;
    if (c->spins) vec_copy(c->axis[k++], n);
    vec_sub(c->arm[0], c->at.point_a, dls_piece_side(p, c, 0, NULL)->x);
    vec_sub(c->arm[1], c->at.point_b, dls_piece_side(p, c, 1, NULL)->x);
    vec_sub(c->arm[1], c->arm[1], c->shift);
}

void dls_piece_touch_pair(dls_piece *p, dls_piece_pair *pair) {
    dls_manifold *m = &p->w->manifold;
    dls_piece_contact *first = &p->contact[pair->first];
    const dls_contact *contact = &dls_collider_contacts(p->s->collider)[first->contact];
    dls_pair_memory memory = pair->memory;
    place_shape(p, first, 0, contact->a, &pair->placed[0]);
    place_shape(p, first, 1, contact->b, &pair->placed[1]);
    if (first->carried) {
        for (int i = 0; i < pair->count; i++) hold(p, first + i), dls_piece_frame(p, first + i);
        return;
    }
    m->count = 0;
    pair->kind->collide(&pair->placed[pair->swapped], &pair->placed[!pair->swapped], pair->margin, &memory,
                        pair->last, pair->last ? pair->count : 0, m);
    if (m->count > 1) dls_order_points(m->point, m->count);
    for (int i = 0; i < pair->count; i++) {
        find(p, pair, m, first + i);
        dls_piece_frame(p, first + i);
    }
}

/* Iterates may be anywhere, and where large numbers cancel a quaternion has no length and turns no way. */
static bool is_somewhere(const dls_piece *p) {
    double sum = 0;
    for (int i = 0; i < p->size_q; i++) sum += fabs(p->at.q[i]);
    for (int i = 0; i < p->body_count; i++) sum += fabs(p->at.states[p->body[i].row].q[0]);
    return sum < DLS_FARTHEST;
}

void dls_piece_touch(dls_piece *p) {
    bool somewhere = is_somewhere(p);
    for (int i = 0; i < p->pair_count && somewhere; i++) dls_piece_touch_pair(p, &p->pair[i]);
    for (int i = 0; i < p->contact_count && !somewhere; i++) p->contact[i].at.gap = NAN;
}

/* ---- rows ---- */

static void point_velocity(const dls_piece *p, const dls_piece_contact *c, int side, double *v) {
    const dls_body_state *state = dls_piece_side(p, c, side, NULL);
    vec_cross(v, state->w, c->arm[side]);
    vec_add(v, v, state->v);
}

void dls_piece_belts(const dls_piece *p, const dls_piece_contact *c, double *velocity, double *rate) {
    vec_set(velocity, 0, 0, 0);
    vec_set(rate, 0, 0, 0);
    if (!p->s->world->has_belts) return;
    for (int side = 0; side < 2; side++) {
        const dls_placed *placed = &p->pair[c->pair].placed[side];
        double own[3], turned[3];
        if (!placed->shape->belt) continue;
        mat_apply(own, placed->R, placed->shape->belt);
        vec_cross(turned, dls_piece_side(p, c, side, NULL)->w, own);
        dls_belt_run run = dls_world_belt_at(p->s->world, placed->shape, p->at.t);
        double sign = side ? 1 : -1;
        vec_along(velocity, velocity, sign * run.factor, own);
        vec_along(rate, rate, sign * run.factor, turned);
        vec_along(rate, rate, sign * run.rate, own);
    }
}

double dls_piece_contact_rate(const dls_piece *p, const dls_piece_contact *c, int k) {
    double a[3], b[3], surface[3], unused[3];
    if (k >= c->tangents) {
        vec_sub(a, dls_piece_side(p, c, 1, NULL)->w, dls_piece_side(p, c, 0, NULL)->w);
        return vec_dot(c->axis[k], a);
    }
    point_velocity(p, c, 0, a);
    point_velocity(p, c, 1, b);
    vec_sub(b, b, a);
    if (k < 0) return vec_dot(c->at.normal, b);
    dls_piece_belts(p, c, surface, unused);
    vec_add(b, b, surface);
    return vec_dot(c->axis[k], b);
}

void dls_piece_spot_direction(const dls_spot *spot, double sign, const double *d, const double *turn,
                              double *W) {
    for (int k = 0; k < spot->count; k++)
        W[spot->index[k]] += sign * (vec_dot(spot->J[k], d) + vec_dot(spot->J[k] + 3, turn));
}

double *dls_piece_entries(const dls_piece *p, double *W, const int of[2], int body) {
    if (!p->packed) return W + p->body[body].at_u;
    return body == of[0] ? W : W + p->body[of[0]].m;
}

void dls_piece_contact_direction(const dls_piece *p, const dls_piece_contact *c, int k, double *W) {
    static const double none[3] = {0, 0, 0};
    const double *direction = k < 0 ? c->at.normal : c->axis[k];
    bool turns = k >= c->tangents;
    for (int side = 0; side < 2; side++) {
        double turn[3], sign = side ? 1 : -1;
        if (c->body[side] < 0) continue;
        double *to = dls_piece_entries(p, W, c->of, c->body[side]);
        if (turns)
            vec_copy(turn, direction);
        else
            vec_cross(turn, c->arm[side], direction);
        if (c->spot[side] >= 0) {
            dls_piece_spot_direction(&p->at.shadow.spots[c->spot[side]], sign, turns ? none : direction, turn,
                                     to);
            continue;
        }
        for (int i = 0; i < p->dimension && !turns; i++) to[i] += sign * direction[i];
        if (p->dimension == 3) mat_apply_transposed(turn, p->at.R[c->row[side]], turn);
        for (int i = 0; i < 3 && p->dimension == 3; i++) to[3 + i] += sign * turn[i];
        if (p->dimension == 2) to[2] += sign * turn[2];
    }
}

/* ---- how they bend ---- */

/* A spot that moves along q̇ = u. */
typedef struct spot_course {
    const dls_piece *p;
    const dls_solid *solid;
    dls_spot spot;
} spot_course;

static void follow_spot(double s, double *twist, void *user) {
    spot_course *c = user;
    const double *q = c->p->at.shadow.q + c->solid->at, *u = c->p->at.shadow.u + c->solid->at;
    double *shifted = c->p->matrix, R[9];
    for (int k = 0; k < c->solid->n; k++) shifted[k] = q[k] + s * u[k];
    c->solid->kind->spot(c->solid->data, shifted, &c->spot, R);
    dls_spot_twist(&c->spot, u, twist, twist + 3);
}

/* dJ/dt u of a spot */
static void spot_bend(const dls_piece *p, int index, dls_twist *bend) {
    spot_course c = {p, &p->at.shadow.solids[p->at.shadow.spots[index].solid], p->at.shadow.spots[index]};
    const double *u = p->at.shadow.u + c.solid->at;
    double fastest = 1, room[6], rate[6];
    for (int k = 0; k < c.solid->n; k++) fastest = fmax(fastest, fabs(u[k]));
    small_derivative(6, 1e-3 / fastest, follow_spot, &c, room, rate);
    vec_copy(bend->v, rate);
    vec_copy(bend->w, rate + 3);
}

/* What the point of a side has of acceleration where its body's a is 0. */
static void side_motion(const dls_piece *p, const dls_piece_contact *c, int side, dls_side_motion *out) {
    const dls_body_state *state = dls_piece_side(p, c, side, NULL);
    dls_twist told = p->at.acceleration[c->row[side]];
    double turned[3];
    if (c->spot[side] >= 0) spot_bend(p, c->spot[side], &told);
    point_velocity(p, c, side, out->v);
    vec_copy(out->w, state->w);
    vec_cross(turned, state->w, c->arm[side]);
    vec_cross(out->a, state->w, turned);
    if (c->body[side] >= 0 && c->spot[side] < 0) return;
    vec_cross(turned, told.w, c->arm[side]);
    vec_add(out->a, out->a, turned);
    vec_add(out->a, out->a, told.v);
}

static void make_corner(dls_curvature *surface) {
    for (int k = 0; k < 2; k++) surface->P[k] = 1, surface->Q[k] = 0;
}

static void make_flat(dls_curvature *surface) {
    for (int k = 0; k < 2; k++) surface->P[k] = 0, surface->Q[k] = 1;
}

void dls_piece_curvature(const dls_piece *p, const dls_piece_contact *c, dls_curvature side[2]) {
    const dls_placed *placed = p->pair[c->pair].placed;
    static const dls_side_motion none[2];
    dls_contact_motion unused;
    bool known = true;
    for (int i = 0; i < 2; i++) {
        double n[3];
        vec_scale(n, i ? -1 : 1, c->at.normal);
        known &= dls_curvature_at(placed[i].shape, placed[i].x, placed[i].R,
                                  i ? c->at.point_b : c->at.point_a, n, &side[i]);
    }
    if (!c->carried && known && dls_contact_moves(side, c->at.normal, c->at.gap, none, &unused)) return;
    int corner = c->carried ? !c->face : dls_shape_table[placed[1].shape->kind].obstacle ? 0 : 1;
    for (int i = 0; i < 2; i++) vec_tangents(c->at.normal, side[i].axis[0], side[i].axis[1]);
    make_corner(&side[corner]);
    make_flat(&side[!corner]);
}

void dls_piece_frame_rate(const dls_piece_contact *c, const double *nu, double *first, double *second) {
    const double *n = c->at.normal;
    double sum[3], turned[3], one = fmax(1 + vec_dot(n, c->base_n), 1e-12), along = vec_dot(n, c->base_t);
    vec_add(sum, c->base_n, n);
    double rate = vec_dot(nu, c->base_t) / one - along * vec_dot(nu, c->base_n) / (one * one);
    vec_scale(first, -along / one, nu);
    vec_along(first, first, -rate, sum);
    vec_cross(second, nu, c->axis[0]);
    vec_cross(turned, n, first);
    vec_add(second, second, turned);
}

void dls_piece_contact_bend(const dls_piece *p, const dls_piece_contact *c, double *zeta) {
    dls_side_motion motion[2];
    dls_curvature surfaces[2];
    dls_contact_motion moves;
    double V[3], rate[3], first[3], second[3], over[3], surface[3], surface_rate[3], spin[3], spin_rate[3];
    for (int side = 0; side < 2; side++) side_motion(p, c, side, &motion[side]);
    dls_piece_curvature(p, c, surfaces);
    dls_contact_moves(surfaces, c->at.normal, c->at.gap, motion, &moves);
    vec_sub(V, motion[1].v, motion[0].v);
    vec_sub(rate, motion[1].a, motion[0].a);
    for (int side = 0; side < 2; side++) {
        vec_cross(over, motion[side].w, moves.slide[side]);
        vec_along(rate, rate, side ? 1 : -1, over);
    }
    zeta[0] = moves.bend;
    if (c->row_count == 0) return;
    dls_piece_frame_rate(c, moves.nu, first, second);
    dls_piece_belts(p, c, surface, surface_rate);
    vec_add(V, V, surface);
    vec_add(rate, rate, surface_rate);
    for (int k = 0; k < c->tangents; k++)
        zeta[1 + k] = vec_dot(k ? second : first, V) + vec_dot(c->axis[k], rate);
    vec_sub(spin, motion[1].w, motion[0].w);
    vec_set(spin_rate, 0, 0, 0);
    for (int side = 0; side < 2; side++)
        if (c->body[side] < 0)
            vec_along(spin_rate, spin_rate, side ? 1 : -1, p->at.acceleration[c->row[side]].w);
    int k = c->tangents;
    if (c->drills) zeta[1 + k] = c->axis_scale * vec_dot(moves.nu, spin), k++;
    if (c->rolls == 1) zeta[1 + k] = 0, k++;
    if (c->rolls == 2) zeta[1 + k] = vec_dot(first, spin), zeta[2 + k] = vec_dot(second, spin), k += 2;
    if (c->spins) zeta[1 + k] = vec_dot(moves.nu, spin), k++;
    for (int i = c->tangents; i < k; i++) zeta[1 + i] += vec_dot(c->axis[i], spin_rate);
}
