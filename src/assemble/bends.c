/* Contacts to second order within a step. From where contacts are found bodies go on with v⁺ for the length
 * h, their centres straight and each turning freely, and surfaces are round: a row of speed u then becomes
 *
 *     u + h/2 ζ  on the average of the way,      ζ = du/dt at a = 0   (collide/curvature.h)
 *
 * and this is what the gap and the slip of the step follow. ζ is taken with v⁻, so that it stands in b.
 * Without it what goes along a hollow wall sinks in by h²|v|²/2ρ a step, and what rolls on a rim gains
 * energy: the slip that it has at the next place is not the one that friction took away. */
#include "assemble/bends.h"

#include "base/vector.h"
#include "collide/curvature.h"
#include "world/shape/kinds.h"
#include "world/solid/solid.h"

#include <math.h>

static const double MOST_TURN = 1;   /* rad of a normal in a step: beyond it no expansion holds, */
static const double MOST_SLIDE = 1;  /* nor where a touching point runs over so many arms of its body */
static const double MOST_RADIUS = 4; /* of a shape that bends on a skin, in radii of the ball that holds it */
static const double QUIET = 1e-3; /* share of least that |V|² over an arm may have where nothing is asked */

/* ---- how a side moves ---- */

/* −J⁻¹(ω × Jω): a body that nothing acts on turns so where its moments differ. */
static void free_turn(const dls_world *world, int row, double *rate) {
    const dls_body *body = &world->bodies[row];
    const double *I = body->inertia;
    double R[9], Q[9], w[3], own[3];
    vec_set(rate, 0, 0, 0);
    if (world->def.dimension == 2 || body->motion != DLS_DYNAMIC || body->locked >> 3 ||
        (I[0] == I[1] && I[1] == I[2]))
        return;
    quat_matrix(world->states[row].q, R);
    mat_multiply(Q, R, body->axes);
    mat_apply_transposed(w, Q, world->states[row].w);
    vec_set(own, (I[1] - I[2]) / I[0] * w[1] * w[2], (I[2] - I[0]) / I[1] * w[2] * w[0],
            (I[0] - I[1]) / I[2] * w[0] * w[1]);
    mat_apply(rate, Q, own);
}

/* The arm whose turn is not in a velocity yet: of a driven body that of its rider, which it carries along
 * the chord of the rider's centre, and none where the rider may roll. */
static void bare_arm(const dls_assembly *a, const dls_block_place *p, int side, double *arm) {
    const dls_row_mass *rider = &a->mass[side ? p->row_a : p->row_b];
    vec_copy(arm, p->arm[side]);
    if (!a->mass[side ? p->row_b : p->row_a].driven) return;
    vec_copy(arm, p->arm[1 - side]);
    if (rider->rolls || !dls_row_can_move(rider)) vec_set(arm, 0, 0, 0);
}

static void side_motion(const dls_assembly *a, const dls_world *world, const dls_block_place *p, int side,
                        dls_side_motion *motion) {
    int row = side ? p->row_b : p->row_a;
    const dls_body_state *state = &world->states[row];
    double turned[3], arm[3], rate[3];
    vec_copy(motion->w, state->w);
    vec_cross(turned, state->w, p->arm[side]);
    vec_add(motion->v, state->v, turned);
    bare_arm(a, p, side, arm);
    vec_cross(turned, state->w, arm);
    vec_cross(motion->a, state->w, turned);
    free_turn(world, row, rate);
    vec_cross(turned, rate, arm);
    vec_add(motion->a, motion->a, turned);
}

/* Slow ones do not bend, whatever their surfaces are: contacts at rest cost nothing. */
static bool is_quiet(const dls_block_place *p, const dls_world *world, double least) {
    const dls_body_state *of_a = &world->states[p->row_a], *of_b = &world->states[p->row_b];
    double V[3], turned[3], arm_a = vec_norm(p->arm[0]), arm_b = vec_norm(p->arm[1]);
    double spin_a = vec_norm(of_a->w), spin_b = vec_norm(of_b->w);
    vec_cross(V, of_b->w, p->arm[1]);
    vec_cross(turned, of_a->w, p->arm[0]);
    vec_sub(V, V, turned);
    for (int k = 0; k < 3; k++) V[k] += of_b->v[k] - of_a->v[k];
    double speed = vec_norm(V) + spin_a * arm_a + spin_b * arm_b, arm = arm_b;
    if (arm_a > 0 && (arm_a < arm_b || !(arm_b > 0))) arm = arm_a;
    return !(speed * speed > QUIET * least * arm);
}

/* ---- surfaces ---- */

static bool surface_of(const dls_world *world, const dls_contact *c, const dls_block_place *p, int side,
                       dls_curvature *surface) {
    const dls_shape *shape = &world->shapes[side ? c->b : c->a];
    const dls_body_state *state = &world->states[side ? p->row_b : p->row_a];
    double R[9], x[3], n[3], own[9];
    if (!dls_shape_table[shape->kind].curvature) return false;
    quat_matrix(state->q, R);
    mat_apply(x, R, shape->x);
    vec_add(x, x, state->x);
    if (side) vec_add(x, x, p->shift);
    mat_multiply(own, R, shape->R);
    vec_scale(n, side ? -1 : 1, p->frame);
    return dls_curvature_at(shape, x, own, side ? c->at.point_b : c->at.point_a, n, surface);
}

/* Where two surfaces lie on each other along a direction, the point stays on one of them: as its corner. */
static void stay(dls_curvature *surface) {
    for (int k = 0; k < 2; k++)
        if (surface->P[k] == 0) surface->P[k] = 1, surface->Q[k] = 0;
}

static bool runs_off(const dls_world *world, const dls_contact *c, const dls_block_place *p, double h,
                     const dls_contact_motion *moves) {
    for (int side = 0; side < 2; side++) {
        bool wall = dls_shape_table[world->shapes[side ? c->b : c->a].kind].obstacle;
        if (!wall && h * vec_norm(moves->slide[side]) > MOST_SLIDE * vec_norm(p->arm[side])) return true;
    }
    return h * vec_norm(moves->nu) > MOST_TURN;
}

static bool moves_so(const dls_curvature side[2], const dls_world *world, const dls_contact *c,
                     const dls_block_place *p, double h, const dls_side_motion motion[2],
                     dls_contact_motion *moves) {
    return (dls_contact_moves_alike(side, p->frame, c->at.gap, motion, moves) ||
            dls_contact_moves(side, p->frame, c->at.gap, motion, moves)) &&
           !runs_off(world, c, p, h, moves);
}

/* How normal and touching points move; false where the surfaces do not tell. */
static bool contact_moves(const dls_world *world, const dls_contact *c, const dls_block_place *p, double h,
                          const dls_side_motion motion[2], dls_contact_motion *moves) {
    dls_curvature side[2];
    if (!surface_of(world, c, p, 0, &side[0]) || !surface_of(world, c, p, 1, &side[1])) return false;
    if (moves_so(side, world, c, p, h, motion, moves)) return true;
    stay(&side[!dls_shape_table[world->shapes[c->b].kind].obstacle]);
    return moves_so(side, world, c, p, h, motion, moves);
}

/* ---- ζ ---- */

/* Friction opposes the slip of the step. Of what slides that is its mean, the one halfway, where contacts are
 * found: no ζ, with which it would oppose the slip of half a step later. What sticks or rolls has none at
 * either end, u_t⁻ − h/2 ζ_t = 0 at the first, and is to have none at the other: all of ζ, up to a slip as
 * large as h/2 ζ, and less from there to twice as much. */
static double sticking(const dls_assembly *a, const dls_block_place *p, double h,
                       const dls_side_motion motion[2], const double *zeta) {
    double V[3], slip = 0, bend = 0;
    vec_sub(V, motion[1].v, motion[0].v);
    if (p->belted) vec_add(V, V, p->belt);
    for (int k = 1; k < a->dimension; k++) {
        double half = 0.5 * h * zeta[k], first = vec_dot(p->frame + 3 * k, V) - half;
        slip += first * first, bend += half * half;
    }
    return bend > 0 ? fmin(1, fmax(0, 2 - sqrt(slip / bend))) : 0;
}

/* ---- skins ---- */

/* A place on a solid goes straight on: its nodes do. */
static void spot_motion(const dls_spot *spot, const double *arm, dls_side_motion *motion) {
    double turned[3];
    vec_copy(motion->w, spot->state.w);
    vec_cross(turned, spot->state.w, arm);
    vec_add(motion->v, spot->state.v, turned);
    vec_set(motion->a, 0, 0, 0);
}

/* A skin is flat within its triangles, its vertices are corners; false on edges between. */
static bool skin_surface(const dls_spot *spot, const double *n, dls_curvature *surface) {
    int borders = 0;
    for (int k = 0; k < 3; k++) borders += spot->at[k] == 0;
    dls_curvature_flat(NULL, NULL, n, surface);
    for (int k = 0; k < 2 && borders == 2; k++) surface->P[k] = 1, surface->Q[k] = 0;
    return borders != 1;
}

/* A rim that stands on a skin is as wide a curve as one likes, and tells nothing of how it goes on. */
static bool is_nearly_flat(const dls_curvature *surface, double most) {
    return (surface->P[0] > 0 && surface->Q[0] > most) || (surface->P[1] > 0 && surface->Q[1] > most);
}

static bool skin_side(const dls_assembly *a, const dls_world *world, const dls_contact *c,
                      const dls_block_place *p, int side, dls_side_motion *motion, dls_curvature *surface) {
    const dls_shape *shape = &world->shapes[side ? c->b : c->a];
    if (p->spot[side]) {
        spot_motion(p->spot[side], p->arm[side], motion);
        return dls_shape_table[shape->kind].made && skin_surface(p->spot[side], p->frame, surface);
    }
    side_motion(a, world, p, side, motion);
    return surface_of(world, c, p, side, surface) && !is_nearly_flat(surface, MOST_RADIUS * shape->bound);
}

/* ζ_n of a contact with a skin; along it strains decide how they go on. A function of its own, so that those
 * without skins keep their instructions. */
static __attribute__((noinline)) bool skin_bends(const dls_assembly *a, const dls_world *world,
                                                 const dls_contact *c, const dls_block_place *p, double h,
                                                 double least, double *zeta) {
    dls_side_motion motion[2];
    dls_curvature side[2];
    dls_contact_motion moves;
    for (int k = 0; k < 2; k++)
        if (!skin_side(a, world, c, p, k, &motion[k], &side[k])) return false;
    for (int pass = 0;; pass++) {
        if ((dls_contact_moves_alike(side, p->frame, c->at.gap, motion, &moves) ||
             dls_contact_moves(side, p->frame, c->at.gap, motion, &moves)) &&
            h * vec_norm(moves.nu) <= MOST_TURN)
            break;
        if (pass) return false;
        stay(&side[!dls_shape_table[world->shapes[c->b].kind].obstacle]);
    }
    vec_set(zeta, fmin(moves.bend, 0), 0, 0);
    if (-moves.rate > h * fabs(moves.bend)) zeta[0] = fmax(zeta[0], -2 * fmax(c->at.gap, 0) / (h * h));
    return fabs(moves.bend) > least;
}

/* Along n only what closes the gap counts: v⁻ may not last, and a gap that opened is closed by the next
 * step's gap/h. What goes on along bent surfaces approaches by h/2 |ζ| where it is found; what approaches
 * faster is hit: it may close, is not pushed apart, and its slip is another one after. */
bool dls_contact_bend(const dls_assembly *a, const dls_world *world, const dls_contact *c,
                      const dls_block_place *p, double h, double least, double *zeta) {
    dls_side_motion motion[2];
    dls_contact_motion moves;
    double rate[3], over[3];
    if (p->spotted) return skin_bends(a, world, c, p, h, least, zeta);
    if (is_quiet(p, world, least)) return false;
    for (int side = 0; side < 2; side++) side_motion(a, world, p, side, &motion[side]);
    if (!contact_moves(world, c, p, h, motion, &moves)) return false;
    vec_sub(rate, motion[1].a, motion[0].a);
    for (int side = 0; side < 2; side++) {
        vec_cross(over, motion[side].w, moves.slide[side]);
        vec_along(rate, rate, side ? 1 : -1, over);
    }
    double most = fabs(moves.bend);
    for (int k = 1; k < a->dimension; k++) {
        zeta[k] = vec_dot(p->frame + 3 * k, rate); /* what ṫ has of n counts for nothing where it goes on */
        most = fmax(most, fabs(zeta[k]));
    }
    bool is_hit = -moves.rate > h * most;
    zeta[0] = fmin(moves.bend, 0);
    if (is_hit) zeta[0] = fmax(zeta[0], -2 * fmax(c->at.gap, 0) / (h * h));
    double share = is_hit ? 0 : sticking(a, p, h, motion, zeta);
    for (int k = 1; k < a->dimension; k++) zeta[k] *= share;
    return most > least;
}
