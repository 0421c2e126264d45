/* Round walls. Within a step a body goes straight and the wall does not: of a point of the body at the
 * distance ρ from the axis of a drum or a hollow cylinder
 *
 *     d²ρ/dt² = |v_t|²/ρ + ρ̂·(ω × (ω × arm)),
 *
 * and u_n has to make up for h/2 of it. The point is the vertex that touches, or the centre of a disc or
 * sphere, whose circle is smaller by its radius. Without it what slides along a wall would sink in by
 * h|v_t|²/(2ρ) and lose as much of its energy. */
#include "assemble/walls.h"

#include "base/vector.h"
#include "world/shape/kinds.h"

#include <assert.h>
#include <math.h>

static void axis_of(const dls_world *world, const dls_shape *shape, int row, double *axis) {
    double R[9];
    vec_set(axis, 0, 0, 1);
    if (world->def.dimension == 2) return;
    quat_matrix(world->states[row].q, R);
    mat_apply(axis, shape->R, axis);
    mat_apply(axis, R, axis);
}

/* A wall that turns about its own axis stays where it is; one that turns about another is left alone. */
static bool keeps_its_place(const dls_shape *shape, const dls_body_state *state, const double *axis) {
    double across[3], turn = vec_dot(state->w, state->w);
    vec_cross(across, state->w, axis);
    return turn == 0 || (vec_dot(across, across) <= 1e-18 * turn && vec_dot(shape->x, shape->x) == 0);
}

static bool moves(const dls_row_mass *mass) { return mass->is_ball || dls_row_can_move(mass); }

bool dls_wall_bend(const dls_assembly *a, const dls_world *world, const dls_contact *c,
                   const dls_block_place *p, double *bend) {
    int side = moves(&a->mass[p->row_a]); /* of the wall */
    if (moves(&a->mass[p->row_b]) == side) return false;
    int row = side ? p->row_b : p->row_a, other = side ? p->row_a : p->row_b;
    if (p->spot[1 - side]) return false; /* how a solid's place goes on is not known */
    const dls_shape *wall = &world->shapes[side ? c->b : c->a], *rider = &world->shapes[side ? c->a : c->b];
    const dls_body_state *of_wall = &world->states[row], *of_rider = &world->states[other];
    double axis[3], v[3], turn[3], rho = wall->radius;
    if (!(dls_shape_table[wall->kind].walls & DLS_WALL_ROUND)) return false;
    if (a->mass[other].rolls)
        rho -= rider->radius;
    else if (!dls_shape_table[rider->kind].corners)
        return false;
    axis_of(world, wall, row, axis);
    if (!keeps_its_place(wall, of_wall, axis) || fabs(vec_dot(axis, p->frame)) > 0.5 ||
        !(rho > 1e-3 * wall->radius))
        return false;
    assert(vec_is_unit(axis));
    vec_cross(turn, of_rider->w, p->arm[1 - side]);
    vec_sub(v, of_rider->v, of_wall->v);
    *bend = 0;
    if (!a->mass[other].rolls) {
        double inward[3];
        vec_add(v, v, turn);
        vec_cross(inward, of_rider->w, turn);
        *bend = (side ? 1 : -1) * vec_dot(p->frame, inward);
    }
    vec_along(v, v, -vec_dot(v, axis), axis);
    vec_along(v, v, -vec_dot(v, p->frame), p->frame);
    *bend += vec_dot(v, v) / rho;
    return true;
}
