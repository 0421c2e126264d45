/* How deep bodies lie in each other, by the functions of their shapes' pairs alone. */
#include "collide/depth.h"

#include "base/memory.h"
#include "base/vector.h"
#include "world/joint/joint.h"

#include <math.h>

static const double ROUNDING = 1e-6; /* of the smaller shape */

double dls_placed_depth(const dls_placed *a, const dls_placed *b, dls_manifold *manifold) {
    bool swapped;
    const dls_pair_kind *row = dls_pair_find(a->shape->kind, b->shape->kind, &swapped);
    dls_pair_memory memory = {.used = 0};
    double size = fmin(a->shape->bound, b->shape->bound), depth = 0;
    bool meet = a->shape->group & b->shape->collides && b->shape->group & a->shape->collides;
    if (!row || !meet) return 0;
    manifold->count = 0;
    row->collide(swapped ? b : a, swapped ? a : b, 0, &memory, NULL, 0, manifold);
    if (manifold->out_of_memory) return NAN;
    for (int k = 0; k < manifold->count; k++) depth = fmax(depth, -manifold->point[k].gap);
    return depth > ROUNDING * (isfinite(size) ? size : 0) ? depth : 0;
}

static void place(const dls_world *world, int shape, dls_placed *placed) {
    const dls_shape *s = &world->shapes[shape];
    const dls_body_state *state = &world->states[s->body];
    double R[9];
    quat_matrix(state->q, R);
    placed->shape = s;
    mat_apply(placed->x, R, s->x);
    vec_add(placed->x, placed->x, state->x);
    mat_multiply(placed->R, R, s->R);
}

/* The row of a rigid body that is there, −1 for all others. */
static int rigid_row(const dls_world *world, dls_body_id id) {
    if (id < 0 || id >= dls_world_body_count(world) || dls_body_presence(world, id) != DLS_PRESENT) return -1;
    int row = world->entries[id].row;
    return row >= 0 && !world->bodies[row].is_solid ? row : -1;
}

double dls_bodies_depth(const dls_world *world, dls_body_id a, dls_body_id b) {
    int row_a = world ? rigid_row(world, a) : -1, row_b = world ? rigid_row(world, b) : -1;
    if (row_a < 0 || row_b < 0 || row_a == row_b) return 0;
    const dls_body *of_a = &world->bodies[row_a], *of_b = &world->bodies[row_b];
    double apart = vec_distance(world->states[row_a].x, world->states[row_b].x), most = 0;
    if (apart > of_a->radius + of_b->radius || dls_joints_part(world, row_a, row_b)) return 0;
    dls_manifold manifold = {.point = NULL};
    for (int i = of_a->shape_first; i < of_a->shape_first + of_a->shape_count; i++)
        for (int k = of_b->shape_first; k < of_b->shape_first + of_b->shape_count; k++) {
            dls_placed first, second;
            place(world, i, &first);
            place(world, k, &second);
            double depth = dls_placed_depth(&first, &second, &manifold);
            most = isnan(depth) ? depth : isnan(most) ? most : fmax(most, depth);
        }
    dls_free(manifold.point);
    return most;
}
