/* Contacts become blocks of u = W r + b:
 *
 *     row k of contact c:  u_k = d_k · (v_B + ω_B × r_B − v_A − ω_A × r_A),   d = n, t₁, t₂
 *     u_t += t · (s_B − s_A) with the velocities s of belts against their shapes
 *     b = u_free + (e_n u_n⁻, e_t u_t⁻) where it bounces, b_n += gap/h where it is open
 *     b += h/2 ζ where it does not bounce (bends.c) */
#include "assemble/assemble.h"
#include "assemble/bends.h"
#include "assemble/joints.h"
#include "assemble/solids.h"
#include "assemble/turning.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/small.h"
#include "base/vector.h"
#include "problem/operator/bodies.h"

#include <assert.h>
#include <math.h>
#include <string.h>

void dls_contact_frame(const double *normal, double *frame) {
    vec_copy(frame, normal);
    vec_tangents(normal, frame + 3, frame + 6);
    assert(mat_is_rotation(frame));
}

/* ---- places ---- */

/* What carries a side: its body, or a spot of it. */
static inline const dls_body_state *carrier(const dls_world *world, const dls_block_place *p, int side) {
    return p->spot[side] ? &p->spot[side]->state : &world->states[side ? p->row_b : p->row_a];
}

static inline void set_arms(const dls_world *world, dls_block_place *place) {
    vec_sub(place->arm[0], place->point, world->states[place->row_a].x);
    vec_sub(place->arm[1], place->point, world->states[place->row_b].x);
    vec_sub(place->arm[1], place->arm[1], place->shift);
}

/* Apart from the others, which have none and must not pay for it. */
static __attribute__((noinline)) void set_belt(const dls_world *world, const dls_contact *c,
                                               dls_block_place *place) {
    vec_set(place->belt, 0, 0, 0);
    for (int side = 0; side < 2; side++) {
        const dls_shape *shape = &world->shapes[side ? c->b : c->a];
        double R[9], velocity[3];
        if (!shape->belt) continue;
        quat_matrix(carrier(world, place, side)->q, R);
        mat_apply(velocity, shape->R, shape->belt);
        mat_apply(velocity, R, velocity);
        vec_along(place->belt, place->belt, (side ? 1 : -1) * dls_world_belt(world, shape).factor, velocity);
    }
}

void dls_contact_belt(const dls_world *world, const dls_contact *c, double *belt) {
    dls_block_place place = {.row_a = c->body_a, .row_b = c->body_b};
    if (world->has_belts) set_belt(world, c, &place);
    vec_copy(belt, place.belt);
}

/* Spots that contacts make where they touch a solid; for as long as their place is needed. */
typedef struct made_spots {
    dls_spot side[2];
} made_spots;

/* The spot of one side: its shape's own on a line, else made where the contact is; NULL where it is rigid. */
static const dls_spot *find_spot(const dls_world *world, const dls_contact *c, int side,
                                 const dls_block_place *place, dls_spot *made) {
    int row = side ? c->body_b : c->body_a, i = side ? c->b : c->a;
    if (!world->bodies[row].is_solid) return NULL;
    const dls_solid *solid = dls_solid_of_row(world, row);
    if (solid->kind->line) return dls_spot_of_shape(world, row, i);
    bool swapped;
    dls_pair_find(world->shapes[c->a].kind, world->shapes[c->b].kind, &swapped);
    dls_solid_touch touch = {.shape = i - world->bodies[row].shape_first,
                             .feature = c->at.feature,
                             .side = swapped ? 1 - side : side};
    vec_along(touch.p, place->point, side ? -1 : 0, place->shift);
    made->solid = (int)(solid - world->solids);
    solid->kind->touch(solid->data, world->q + solid->at, &touch, made);
    dls_spot_stand(world, made);
    return made;
}

/* Apart from the others as well. */
static __attribute__((noinline)) void set_spots(const dls_world *world, const dls_contact *c,
                                                dls_block_place *place, made_spots *made) {
    for (int side = 0; side < 2; side++) {
        place->spot[side] = find_spot(world, c, side, place, &made->side[side]);
        if (!place->spot[side]) continue;
        place->spotted = true;
        vec_sub(place->arm[side], place->point, place->spot[side]->state.x);
        if (side) vec_sub(place->arm[1], place->arm[1], place->shift);
    }
}

void dls_contact_acts_at(const dls_assembly *a, const dls_contact *c, double *point) {
    double share = 0.5; /* of B's point */
    if (a->at_surface) {
        bool moves_a = dls_row_can_move(&a->mass[c->body_a]), moves_b = dls_row_can_move(&a->mass[c->body_b]);
        if (moves_a != moves_b) share = moves_b ? 1 : 0;
    }
    for (int k = 0; k < 3; k++) point[k] = (1 - share) * c->at.point_a[k] + share * c->at.point_b[k];
}

/* The place may point into made. */
static inline void place_of(const dls_assembly *a, const dls_world *world, const dls_contact *c,
                            dls_block_place *place, made_spots *made) {
    assert(c->body_a >= 0 && c->body_a <= c->body_b && c->body_b < world->body_count);
    place->row_a = c->body_a;
    place->row_b = c->body_b;
    dls_contact_acts_at(a, c, place->point);
    for (int k = 0; k < 3; k++) place->shift[k] = c->image[k] * world->def.period_size[k];
    dls_contact_frame(c->at.normal, place->frame);
    set_arms(world, place);
    place->spotted = false;
    place->spot[0] = place->spot[1] = NULL;
    if (world->solid_count) set_spots(world, c, place, made);
    place->belted = world->has_belts;
    if (place->belted) set_belt(world, c, place);
}

/* (R(h ω) − 1) arm / h = ω × arm sin θ/θ + h ω × (ω × arm) (1 − cos θ)/θ²,  θ = h|ω|. */
static void chord(const double *w, const double *arm, double h, double *velocity) {
    double along[3], inward[3], angle = h * vec_norm(w), half = 0.5 * angle;
    double sine = angle > 0 ? sin(angle) / angle : 1, bend = half > 0 ? sin(half) / half : 1;
    vec_cross(along, w, arm);
    vec_cross(inward, w, along);
    for (int k = 0; k < 3; k++) velocity[k] = sine * along[k] + 0.5 * h * bend * bend * inward[k];
}

/* Velocity of a driven point under a body that rides on it: the rider's mass centre goes straight within a
 * step, so the driven body carries it along the chord of its circle; around that centre both turn. What may
 * roll is carried by the point itself. */
static void carrying_velocity(const dls_row_mass *rider, const double *w, const double *arm,
                              const double *rider_arm, double h, double *velocity) {
    double centre[3], around[3];
    if (rider->rolls || !dls_row_can_move(rider)) {
        chord(w, arm, h, velocity);
        return;
    }
    vec_sub(centre, arm, rider_arm);
    vec_cross(around, w, rider_arm);
    chord(w, centre, h, velocity);
    vec_add(velocity, velocity, around);
}

/* Of the point of one side; h = 0: as a rigid body has it at the instant. */
static inline void point_velocity(const dls_assembly *a, const dls_block_place *p, int side, const double *v,
                                  const double *w, double h, double *velocity) {
    if (h > 0 && a->mass[side ? p->row_b : p->row_a].driven)
        carrying_velocity(&a->mass[side ? p->row_a : p->row_b], w, p->arm[side], p->arm[1 - side], h,
                          velocity);
    else
        vec_cross(velocity, w, p->arm[side]);
    vec_add(velocity, velocity, v);
}

/* u_k of the contact's frame, from velocities v, w of its rows. */
static inline void relative_velocity(const dls_assembly *a, const dls_block_place *p, const double *v_a,
                                     const double *w_a, const double *v_b, const double *w_b, double h,
                                     double *u) {
    double of_a[3], relative[3];
    point_velocity(a, p, 1, v_b, w_b, h, relative);
    point_velocity(a, p, 0, v_a, w_a, h, of_a);
    vec_sub(relative, relative, of_a);
    for (int k = 0; k < a->dimension; k++) u[k] = vec_dot(p->frame + 3 * k, relative);
    for (int k = 1; k < a->dimension && p->belted; k++) u[k] += vec_dot(p->frame + 3 * k, p->belt);
}

/* The same where a side is a solid: its spot's velocities, before or free. */
static __attribute__((noinline)) void velocity_of_spots(const dls_assembly *a, const dls_world *world,
                                                        const dls_block_place *p, bool free, double h,
                                                        double *u) {
    const dls_body_state *of_a = carrier(world, p, 0), *of_b = carrier(world, p, 1);
    dls_twist with[2] = {dls_free_of(a, p->row_a, p->spot[0]), dls_free_of(a, p->row_b, p->spot[1])};
    if (free)
        relative_velocity(a, p, with[0].v, with[0].w, with[1].v, with[1].w, h, u);
    else
        relative_velocity(a, p, of_a->v, of_a->w, of_b->v, of_b->w, h, u);
}

/* Before forces and impulses act: rows still have these velocities. */
static inline void velocity_before(const dls_assembly *a, const dls_world *world, const dls_block_place *p,
                                   double h, double *u) {
    const dls_body_state *of_a = &world->states[p->row_a], *of_b = &world->states[p->row_b];
    if (p->spotted) {
        velocity_of_spots(a, world, p, false, h, u);
        return;
    }
    relative_velocity(a, p, of_a->v, of_a->w, of_b->v, of_b->w, h, u);
}

static inline void velocity_free(const dls_assembly *a, const dls_world *world, const dls_block_place *p,
                                 double h, double *u) {
    const dls_twist *of_a = &a->free[p->row_a], *of_b = &a->free[p->row_b];
    if (p->spotted) {
        velocity_of_spots(a, world, p, true, h, u);
        return;
    }
    relative_velocity(a, p, of_a->v, of_a->w, of_b->v, of_b->w, h, u);
}

/* Of one side where they meet, at most, without impulses: what the rounding of u is relative to. */
static inline double speed_of(const dls_assembly *a, const dls_block_place *p, int side) {
    const dls_twist *of = &a->free[side ? p->row_b : p->row_a];
    return vec_norm(of->v) + vec_norm(of->w) * vec_norm(p->arm[side]);
}

/* Work is done at the velocities of the instant: what chords add to u⁻ and u⁺ is taken from their sum. */
static void forget_chords(const dls_assembly *a, const dls_world *world, const dls_block_place *p,
                          const double *before, const double *free, double *to_mean) {
    double plain_before[3] = {0}, plain_free[3] = {0};
    if (!a->mass[p->row_a].driven && !a->mass[p->row_b].driven) return;
    velocity_before(a, world, p, 0, plain_before);
    velocity_free(a, world, p, 0, plain_free);
    for (int k = 0; k < a->dimension; k++)
        to_mean[k] += plain_before[k] - before[k] + plain_free[k] - free[k];
}

/* Rows of G for one side: ± dᵀ(translation, rotation) L, row after row of `width` numbers; what stands
 * between the two parts of a row is left alone. */
static void fill_side(const dls_assembly *a, const dls_block_place *p, int side, int d, int width,
                      double *G) {
    const dls_row_mass *mass = &a->mass[side ? p->row_b : p->row_a];
    double turn[3], sign = side ? 1 : -1;
    for (int k = 0; k < d; k++) {
        const double *direction = p->frame + 3 * k;
        double *row = G + width * k, *rotation = row + width / 2;
        vec_cross(turn, p->arm[side], direction);
        if (a->dimension == 2) {
            row[0] = sign * mass->root[0] * direction[0];
            row[1] = sign * mass->root[1] * direction[1];
            row[2] = sign * mass->S[8] * turn[2];
            continue;
        }
        for (int i = 0; i < 3; i++) row[i] = sign * mass->root[i] * direction[i];
        mat_apply_transposed(rotation, mass->S, turn);
        if (!side) vec_scale(rotation, -1, rotation);
    }
}

/* The same of a solid. */
static __attribute__((noinline)) void fill_spot(const dls_assembly *a, const dls_block_place *p, int side,
                                                int width, double *G) {
    for (int k = 0; k < a->dimension; k++) {
        double *row = G + width * k, turn[3];
        vec_cross(turn, p->arm[side], p->frame + 3 * k);
        dls_solid_row(a, p->spot[side], p->frame + 3 * k, turn, row);
        for (int i = 0; i < width && !side; i++) row[i] = -row[i];
    }
}

/* The arm of a ball's contact lies along the normal, to rounding. */
static inline void fill_ball(const dls_assembly *a, const dls_block_place *p, dls_body_rows *rows, int c) {
    dls_round_row *row = &rows->round[c];
    double along[2] = {0, 0}, beta[2] = {0, 0};
    for (int side = 0; side < 2; side++) {
        int of = side ? p->row_b : p->row_a;
        bool moves = a->mass[of].is_ball;
        rows->body[2 * (int64_t)c + side] = moves ? of : -1;
        if (!moves) continue;
        along[side] = a->mass[of].root[0];
        beta[side] = a->mass[of].S[0] * vec_dot(p->arm[side], p->frame);
    }
    assert(along[0] > 0 || along[1] > 0); /* one that nothing moves is inert and no block */
    vec_copy(row->n, p->frame);
    vec_copy(row->t1, p->frame + 3);
    vec_copy(row->t2, p->frame + 6);
    row->a_a = along[0], row->a_b = along[1];
    row->beta_a = beta[0], row->beta_b = beta[1];
    if (!rows->roll) return;
    rows->roll[c].gamma_a = along[0] > 0 ? a->mass[p->row_a].S[0] : 0;
    rows->roll[c].gamma_b = along[1] > 0 ? a->mass[p->row_b].S[0] : 0;
}

static void fill_rows(const dls_assembly *a, const dls_block_place *p, const dls_turning *turning,
                      dls_problem *problem, int c) {
    const dls_body_rows *rows = dls_rows_of(problem);
    int d = dls_size(problem, c), *body = rows->body + 2 * (int64_t)c;
    for (int side = 0; side < 2; side++) {
        int row = side ? p->row_b : p->row_a;
        body[side] = dls_row_can_move(&a->mass[row]) ? row : -1;
    }
    double *G = dls_side_of(problem, c, 0), *other = dls_side_of(problem, c, 1);
    memset(G, 0, sizeof(double) * (size_t)dls_side_numbers(problem, c));
    for (int side = 0; side < 2; side++) {
        if (body[side] < 0) continue;
        int width = dls_width_of(rows, body[side]);
        double *of_side = side ? other : G;
        if (p->spot[side])
            fill_spot(a, p, side, width, of_side);
        else
            fill_side(a, p, side, a->dimension, width, of_side);
        if (turning) dls_turning_fill(a, p, side, turning, width, of_side + a->dimension * width);
    }
    if (p->row_a == p->row_b && body[0] >= 0) { /* a body that meets its own image */
        for (int k = 0, n = d * dls_width_of(rows, body[0]); k < n; k++) G[k] += other[k], other[k] = 0;
        body[1] = -1;
    }
}

static inline void fill_block(const dls_assembly *a, const dls_block_place *p, const dls_turning *turning,
                              dls_problem *problem, int c) {
    if (dls_is_ball(dls_rows_of(problem), c))
        fill_ball(a, p, dls_rows_of(problem), c);
    else
        fill_rows(a, p, turning, problem, c);
}

/* ---- which contacts enter ---- */

bool dls_contact_strikes(const dls_assembly *a, const dls_world *world, const dls_contact *c) {
    const dls_body *of_a = &world->bodies[c->body_a], *of_b = &world->bodies[c->body_b];
    return world->pairs[c->pair].e_n > 0 && of_a != of_b && !of_a->is_solid && !of_b->is_solid &&
           !a->mass[c->body_a].joined && !a->mass[c->body_b].joined;
}

typedef struct contact_work {
    dls_assembly *assembly;
    const dls_world *world;
    const dls_contact *contacts;
    const dls_assemble_options *options;
    uint8_t *verdict; /* per contact */
    uint8_t *ball;    /* per block: whether only balls move in it */
    uint8_t *parts;   /* per block; NULL where nothing resists turning */
    int *body;        /* two per block, of joints too; NULL where nothing deforms */
} contact_work;

typedef enum verdict { STAYS_OUT, ENTERS, BOUNCES, INERT } verdict;

/* No impulse along the normal moves anything: what it touches is held, or is one body and its own image in
 * line with it. Such a contact has no normal force that could be found, so none of friction. */
static bool is_inert(const dls_assembly *a, const dls_block_place *p) {
    double G[2][6], sum = 0, size = 0;
    if (p->spot[0] || p->spot[1]) return false;
    for (int side = 0; side < 2; side++) {
        const dls_row_mass *mass = &a->mass[side ? p->row_b : p->row_a];
        fill_side(a, p, side, 1, a->dimension == 2 ? 3 : 6, G[side]);
        size += vec_dot(mass->root, mass->root) +
                small_dot(9, mass->S, mass->S) * vec_dot(p->arm[side], p->arm[side]);
    }
    for (int k = 0; k < (a->dimension == 2 ? 3 : 6); k++)
        sum += p->row_a == p->row_b ? (G[0][k] + G[1][k]) * (G[0][k] + G[1][k])
                                    : G[0][k] * G[0][k] + G[1][k] * G[1][k];
    return !(sum > 1e-20 * size);
}

/* Whether a body that nothing holds is touched, and not by itself: the contact is not inert then. */
static bool meets_free_body(const dls_world *world, const dls_contact *c) {
    const dls_body *a = &world->bodies[c->body_a], *b = &world->bodies[c->body_b];
    int freedoms = world->def.dimension == 2 ? 0x23 : 0x3F;
    bool is_free = (a->motion == DLS_DYNAMIC && !(a->locked & freedoms)) ||
                   (b->motion == DLS_DYNAMIC && !(b->locked & freedoms));
    return is_free && a != b;
}

/* What will be struck in the next step keeps its speed until then. */
static bool strikes_later(const contact_work *work, const dls_contact *c, const dls_block_place *place) {
    const dls_assemble_options *o = work->options;
    double u[3];
    velocity_free(work->assembly, work->world, place, o->h, u);
    return c->at.gap + (1 - o->contacts_at) * o->h * u[0] > 0 &&
           -work->world->pairs[c->pair].e_n * u[0] > o->rest_speed;
}

/* How fast it is hit: what goes on along bent surfaces approaches by h |ζ_n| where it is found, and stays. */
static double hit_speed(const contact_work *work, const dls_contact *c, const dls_block_place *place,
                        double approach) {
    const dls_assemble_options *o = work->options;
    double zeta[3];
    if (!o->bends || !(approach > o->rest_speed) ||
        !dls_contact_bend(work->assembly, work->world, c, place, o->h, o->least_bend, zeta))
        return approach;
    return approach - o->h * fmax(-zeta[0], 0);
}

static verdict judge(const contact_work *work, const dls_contact *c) {
    const dls_assemble_options *o = work->options;
    dls_block_place place;
    made_spots made;
    bool is_placed = false;
    if (!meets_free_body(work->world, c)) {
        place_of(work->assembly, work->world, c, &place, &made);
        is_placed = true;
        if (is_inert(work->assembly, &place)) return INERT;
    }
    assert(c->pair >= 0 && c->pair < work->world->material_count * work->world->material_count);
    const dls_pair_def *pair = &work->world->pairs[c->pair];
    bool closed = c->at.gap <= 0;
    if (o->closed_only && !closed) return STAYS_OUT;
    if (pair->e_n == 0 && (pair->e_t == 0 || !closed)) return ENTERS;
    double u[3];
    if (!is_placed) place_of(work->assembly, work->world, c, &place, &made);
    if (o->in_order && dls_contact_strikes(work->assembly, work->world, c))
        return strikes_later(work, c, &place) ? STAYS_OUT : ENTERS;
    velocity_before(work->assembly, work->world, &place, o->h, u);
    double hit = o->formal ? (double)INFINITY : hit_speed(work, c, &place, -u[0]);
    if (closed) return hit > o->rest_speed ? BOUNCES : ENTERS;
    if (o->whole_gap || pair->e_n * hit <= o->rest_speed) return ENTERS;
    /* what will bounce keeps its speed until the step in which it would close */
    return c->at.gap + o->h * u[0] <= 0 ? BOUNCES : ENTERS;
}

static void judge_range(void *self, int first, int end) {
    const contact_work *work = self;
    for (int c = first; c < end; c++) work->verdict[c] = (uint8_t)judge(work, &work->contacts[c]);
}

/* ---- filling ---- */

/* What stands in b beside the free velocity. */
static void added_velocity(const dls_assemble_options *o, const dls_pair_def *pair, double gap, bool bounces,
                           const double *before, int d, double *added) {
    for (int k = 0; k < d; k++) added[k] = bounces ? (k ? pair->e_t : pair->e_n) * before[k] : 0;
    if (bounces) return;
    if (gap > 0 || o->whole_gap)
        added[0] += gap / o->h;
    else
        added[0] += fmax(o->share * gap / o->h, -o->most_speed);
}

/* What the row's speed becomes on the average of the step, less what it is where the contact was found. */
static void add_bend(const contact_work *work, const dls_contact *c, const dls_block_place *place,
                     double *added) {
    const dls_assemble_options *o = work->options;
    double zeta[3];
    if (!o->bends || !dls_contact_bend(work->assembly, work->world, c, place, o->h, o->least_bend, zeta))
        return;
    for (int k = 0; k < work->assembly->dimension; k++) added[k] += 0.5 * o->h * zeta[k];
}

/* Block i with its rows that resist turning, in the units of its user: no gap, no restitution. Returns the
 * sum of their b. Apart from the others, which have none and must not pay for it. */
static __attribute__((noinline)) double fill_turning(const contact_work *work, int i,
                                                     const dls_block_place *place) {
    dls_assembly *a = work->assembly;
    const dls_contact *c = &work->contacts[a->contact_of[i]];
    int row = a->rows->row[i] + a->dimension;
    double *b = a->rows->b + row, before[DLS_TURNING_ROWS], sum = 0;
    dls_turning turning;
    a->drilling[i] = work->world->pairs[c->pair].turning.drilling;
    dls_turning_axes(a->dimension, work->parts[i], place->frame, a->drilling[i], &turning);
    fill_block(a, place, &turning, a->rows, i);
    dls_turning_velocity(&turning, dls_free_of(a, c->body_a, place->spot[0]).w,
                         dls_free_of(a, c->body_b, place->spot[1]).w, b);
    dls_turning_velocity(&turning, carrier(work->world, place, 0)->w, carrier(work->world, place, 1)->w,
                         before);
    dls_turning_rows(&turning, c->moment, a->r + row);
    for (int k = 0; k < turning.count; k++) {
        a->to_mean[row + k] = before[k];
        if (!work->options->warm_start) a->r[row + k] = 0;
        sum += b[k];
    }
    dls_turning_parts(work->world, c, &a->rows->mu_rolling[i], &a->rows->mu_spinning[i]);
    return sum;
}

static double fill_range(void *self, int first, int end) {
    const contact_work *work = self;
    const dls_assemble_options *o = work->options;
    dls_assembly *a = work->assembly;
    int d = a->dimension;
    double sum = 0;
    for (int i = first; i < end; i++) {
        const dls_contact *c = &work->contacts[a->contact_of[i]];
        const dls_pair_def *pair = &work->world->pairs[c->pair];
        int64_t row = work->parts ? a->rows->row[i] : (int64_t)d * i;
        double *b = a->rows->b + row, *r = a->r + row, *to_mean = a->to_mean + row;
        double before[3] = {0, 0, 0}, free[3] = {0, 0, 0}, added[3] = {0, 0, 0};
        dls_block_place place;
        made_spots made;
        place_of(work->assembly, work->world, c, &place, &made);
        if (work->parts)
            sum += fill_turning(work, i, &place);
        else
            fill_block(a, &place, NULL, a->rows, i);
        assert(pair->mu >= 0);
        a->rows->mu[i] = pair->mu;
        velocity_before(a, work->world, &place, o->h, before);
        velocity_free(a, work->world, &place, o->h, free);
        bool bounces = work->verdict[a->contact_of[i]] == BOUNCES;
        added_velocity(o, pair, c->at.gap, bounces, before, d, added);
        if (!bounces) add_bend(work, c, &place, added);
        for (int k = 0; k < d; k++) {
            b[k] = free[k] + added[k];
            to_mean[k] = before[k] - added[k];
            r[k] = o->warm_start ? vec_dot(place.frame + 3 * k, c->impulse) : 0;
            sum += b[k];
        }
        a->rows->speed[i] = speed_of(a, &place, 0) + speed_of(a, &place, 1);
        for (int k = 1; k < d && a->belt; k++)
            a->belt[2 * (int64_t)i + k - 1] = vec_dot(place.frame + 3 * k, place.belt);
        forget_chords(a, work->world, &place, before, free, to_mean);
    }
    return sum;
}

/* Of the smaller body's radius: contacts nearer than that attract each other, for errors of a solution and of
 * places open one that holds now and then. */
static const double touching = 1e-6;

static bool attracts(const dls_world *world, const dls_contact *c) {
    double radius = fmin(world->bodies[c->body_a].radius, world->bodies[c->body_b].radius);
    return c->at.gap <= touching * radius || c->closed || vec_dot(c->impulse, c->at.normal) > 0;
}

/* Attraction acts on the free velocities: −c h n on B of every contact that touches, or was closed or loaded
 * in the step before: one that rolls opens within a step. */
static bool add_cohesion(contact_work *work) {
    dls_assembly *a = work->assembly;
    const dls_world *world = work->world;
    double strongest = 0;
    for (int k = 0; k < world->material_count * world->material_count; k++)
        strongest = fmax(strongest, world->pairs[k].cohesion);
    if (strongest == 0) return true;
    a->cohesion = DLS_TAKE_ZERO(a->space, double, a->block_count);
    if (!a->cohesion) return false;
    for (int i = 0; i < a->block_count; i++) {
        const dls_contact *c = &work->contacts[a->contact_of[i]];
        if (!attracts(world, c)) continue;
        double impulse[3], turn[3];
        dls_block_place place;
        made_spots made;
        place_of(a, world, c, &place, &made);
        a->cohesion[i] = world->pairs[c->pair].cohesion * work->options->h;
        for (int side = 0; side < 2; side++) {
            int row = side ? c->body_b : c->body_a;
            const dls_row_mass *mass = &a->mass[row];
            vec_scale(impulse, side ? -a->cohesion[i] : a->cohesion[i], c->at.normal);
            vec_cross(turn, place.arm[side], impulse);
            if (place.spot[side]) {
                dls_solid_push(a, place.spot[side], impulse, turn);
                continue;
            }
            mat_apply_transposed(turn, mass->S, turn);
            mat_apply(turn, mass->S, turn);
            vec_add(a->free[row].w, a->free[row].w, turn);
            for (int k = 0; k < 3; k++) a->free[row].v[k] += mass->root[k] * mass->root[k] * impulse[k];
        }
    }
    return true;
}

static bool take_blocks(dls_assembly *a, const uint8_t *verdicts, int count) {
    a->contact_of = DLS_TAKE(a->space, int, count);
    if (!a->contact_of) return false;
    for (int c = 0; c < count; c++) {
        a->inert += verdicts[c] == INERT;
        if (verdicts[c] == ENTERS || verdicts[c] == BOUNCES) a->contact_of[a->block_count++] = c;
    }
    return true;
}

/* The parts of each block where a pair resists turning. */
static bool find_parts(contact_work *work) {
    dls_assembly *a = work->assembly;
    double rolling, spinning;
    if (!dls_world_turns(work->world)) return true;
    work->parts = DLS_TAKE(a->space, uint8_t, a->block_count);
    a->drilling = DLS_TAKE(a->space, double, a->block_count);
    if (!work->parts || !a->drilling) return false;
    for (int i = 0; i < a->block_count; i++)
        work->parts[i] =
            dls_turning_parts(work->world, &work->contacts[a->contact_of[i]], &rolling, &spinning);
    return true;
}

static bool take_vectors(dls_assembly *a, const dls_world *world) {
    if (world->has_belts && !(a->belt = DLS_TAKE_ZERO(a->space, double, 2 * (int64_t)a->block_count)))
        return false;
    a->r = DLS_TAKE(a->space, double, a->rows->row_count);
    a->u = DLS_TAKE_ZERO(a->space, double, a->rows->row_count);
    a->to_mean = DLS_TAKE(a->space, double, a->rows->row_count);
    return a->r && a->u && a->to_mean;
}

/* Whether all that can move in a contact are balls, and two of them where both do; what nothing moves is no
 * block. */
static bool is_of_balls(const dls_assembly *a, const dls_contact *c) {
    const dls_row_mass *of_a = &a->mass[c->body_a], *of_b = &a->mass[c->body_b];
    if (c->body_a == c->body_b) return false;
    return of_a->is_ball ? of_b->is_ball || !dls_row_can_move(of_b)
                         : of_b->is_ball && !dls_row_can_move(of_a);
}

static void find_balls_range(void *self, int first, int end) {
    const contact_work *work = self;
    const dls_assembly *a = work->assembly;
    for (int i = first; i < end; i++) work->ball[i] = is_of_balls(a, &work->contacts[a->contact_of[i]]);
}

/* Marks the contacts of balls; in the plane there are none. */
static bool find_balls(contact_work *work) {
    dls_assembly *a = work->assembly;
    int row = 0;
    while (row < a->row_count && !a->mass[row].is_ball) row++;
    if (a->dimension == 2 || row == a->row_count) return true;
    work->ball = DLS_TAKE(a->space, uint8_t, a->block_count);
    if (!work->ball) return false;
    dls_parallel_for(a->block_count, work->options->threads, find_balls_range, work);
    return true;
}

/* The rows of all blocks, where widths of some depend on them. */
static bool find_bodies(contact_work *work) {
    dls_assembly *a = work->assembly;
    if (!a->solids) return true;
    work->body = DLS_TAKE(a->space, int, 2 * ((int64_t)a->block_count + dls_joint_blocks(a)));
    if (!work->body) return false;
    for (int64_t i = 0; i < a->block_count; i++) {
        const dls_contact *c = &work->contacts[a->contact_of[i]];
        work->body[2 * i] = c->body_a, work->body[2 * i + 1] = c->body_b;
    }
    dls_joint_bodies(a, work->body + 2 * (int64_t)a->block_count);
    return true;
}

dls_status dls_assemble_contacts(dls_assembly *a, const dls_world *world, const dls_contact *contacts,
                                 int count, const dls_assemble_options *o, dls_error *error) {
    assert(a->row_count == world->body_count && a->block_count == 0); /* masses are those of these rows */
    a->at_surface = o->bends;
    contact_work work = {.assembly = a, .world = world, .contacts = contacts, .options = o};
    work.verdict = DLS_TAKE(a->space, uint8_t, count);
    if (!work.verdict) return dls_fail_memory(error);
    dls_parallel_for(count, o->threads, judge_range, &work);
    if (!take_blocks(a, work.verdict, count) || !add_cohesion(&work) || !find_balls(&work) ||
        !find_parts(&work) || !find_bodies(&work))
        return dls_fail_memory(error);
    dls_contacts_def def = {.count = a->block_count,
                            .d = a->dimension,
                            .body_count = world->body_count,
                            .width = a->solids ? a->solids->width : NULL,
                            .body = work.body,
                            .reference_velocity = o->reference_velocity,
                            .ball = work.ball,
                            .parts = work.parts,
                            .interval_count = dls_joint_blocks(a),
                            .interval_size = a->joints ? a->joints->block_size : NULL};
    dls_status status = dls_problem_begin_contacts(a->space, &def, &a->rows, error);
    if (status) return status;
    if (!take_vectors(a, world)) return dls_fail_memory(error);
    double sum = dls_parallel_sum(a->block_count, o->threads, fill_range, &work);
    sum += dls_fill_joints(a, world, o);
    if (!isfinite(sum))
        return dls_fail(error, DLS_ERROR_NUMERIC, "velocities at contacts or joints are not finite at t = %g",
                        o->t);
    status = dls_problem_end_contacts(a->rows, o->threads, error);
    a->problem = a->rows;
    if (!status && o->stored && a->rows->block_count)
        status = dls_problem_assemble_in(a->rows, a->space, &a->problem, error);
    return status;
}

/* ---- impulses to velocities ---- */

typedef struct apply_work {
    const dls_assembly *assembly;
    dls_world *world;
    const double *y; /* Gᵀ r */
} apply_work;

static void apply_range(void *self, int first, int end) {
    const apply_work *work = self;
    const dls_assembly *a = work->assembly;
    int stride = dls_rows_of(a->rows)->stride, rotation = stride / 2;
    for (int row = first; row < end; row++) {
        dls_motion motion = work->world->bodies[row].motion;
        if (motion == DLS_STATIC || (motion == DLS_DRIVEN && !dls_row_can_move(&a->mass[row]))) continue;
        if (work->world->bodies[row].is_solid) continue;
        const double *y = work->y + (int64_t)row * stride;
        dls_body_state *state = &work->world->states[row];
        double turn[3] = {0, 0, 0};
        for (int k = 0; k < a->dimension; k++) state->v[k] = a->free[row].v[k] + a->mass[row].root[k] * y[k];
        if (a->dimension == 2)
            turn[2] = a->mass[row].S[8] * y[2];
        else
            mat_apply(turn, a->mass[row].S, y + rotation);
        vec_add(state->w, a->free[row].w, turn);
    }
}

dls_status dls_assemble_apply(const dls_assembly *a, dls_world *world, double h, int threads,
                              dls_error *error) {
    assert(a->row_count == world->body_count);
    double *y = DLS_TAKE(a->space, double, a->rows->op->state_size(a->rows));
    if (!y) return dls_fail_memory(error);
    dls_enter_units(a->rows, a->r);
    a->rows->op->start(a->rows, a->r, y, threads);
    dls_leave_units(a->rows, a->r, NULL);
    dls_parallel_for(world->body_count, threads, apply_range, &(apply_work){a, world, y});
    dls_solids_apply(a, world, h, y);
    return DLS_OK;
}

/* ---- a problem of given blocks ---- */

static void fill_given(const dls_assembly *a, const dls_world *world, const dls_given_block *block,
                       dls_problem *p, int c) {
    dls_block_place place = block->place; /* rigid bodies alone are recorded */
    dls_turning turning;
    place.spotted = false;
    place.spot[0] = place.spot[1] = NULL;
    assert(place.row_a >= 0 && place.row_a < a->row_count && place.row_b >= 0 && place.row_b < a->row_count);
    set_arms(world, &place);
    dls_turning_axes(a->dimension, block->parts, place.frame, block->drilling, &turning);
    fill_block(a, &place, p->parts ? &turning : NULL, p, c);
    p->mu[c] = block->mu;
    if (p->parts) p->mu_rolling[c] = block->mu_rolling, p->mu_spinning[c] = block->mu_spinning;
    memcpy(p->b + p->row[c], block->b, sizeof(double) * (size_t)dls_size(p, c));
}

dls_status dls_assemble_given(const dls_assembly *a, const dls_world *world, int count,
                              const dls_given_block *blocks, double reference_velocity, dls_problem **problem,
                              dls_error *error) {
    dls_problem *p;
    uint8_t *parts = DLS_TAKE(a->space, uint8_t, count);
    bool turns = false;
    *problem = NULL;
    if (!parts) return dls_fail_memory(error);
    for (int c = 0; c < count; c++) {
        parts[c] = blocks[c].parts;
        turns = turns || parts[c] != DLS_PARTS(a->dimension - 1, 0, 0);
    }
    dls_contacts_def def = {.count = count,
                            .d = a->dimension,
                            .body_count = world->body_count,
                            .reference_velocity = reference_velocity,
                            .parts = turns ? parts : NULL};
    dls_status status = dls_problem_begin_contacts(a->space, &def, &p, error);
    if (status) return status;
    for (int c = 0; c < count; c++) fill_given(a, world, &blocks[c], p, c);
    status = dls_problem_end_contacts(p, 1, error);
    return status ? status : dls_problem_assemble(p, problem, error);
}
