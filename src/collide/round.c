/* Spheres and capsules with what is round, flat or hollow. */
#include "collide/round.h"

static void sphere_sphere(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                          const dls_contact_point *last, int last_count, dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    static const double up[3] = {0, 0, 1};
    dls_balls_add(a->x, a->shape->radius, b->x, b->shape->radius, up, margin, 0, manifold);
}

static void sphere_half_space(const dls_placed *a, const dls_placed *b, double margin,
                              dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                              dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    double d[3];
    vec_sub(d, a->x, b->x);
    dls_ball_wall_add(a->x, a->shape->radius, b->R + 6, vec_dot(b->R + 6, d), margin, 0, manifold);
}

/* Six half-spaces: the wall at size_i on either side of each axis. */
static void sphere_box_inside(const dls_placed *a, const dls_placed *b, double margin,
                              dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                              dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    double d[3], u[3];
    vec_sub(d, a->x, b->x);
    for (int i = 0; i < 3; i++) {
        const double *axis = b->R + 3 * i;
        double place = vec_dot(axis, d), half = b->shape->size[i];
        vec_scale(u, -1, axis);
        dls_ball_wall_add(a->x, a->shape->radius, u, half - place, margin, (uint64_t)(2 * i), manifold);
        dls_ball_wall_add(a->x, a->shape->radius, axis, half + place, margin, (uint64_t)(2 * i + 1),
                          manifold);
    }
}

static const dls_pair_row rows[] = {
    {DLS_SPHERE, DLS_SPHERE, sphere_sphere, true, false, "distance of the centres"},
    {DLS_SPHERE, DLS_HALF_SPACE, sphere_half_space, true, false, "height of the centre"},
    {DLS_SPHERE, DLS_BOX_INSIDE, sphere_box_inside, true, false, "height of the centre above each wall"},
};

const dls_pair_family dls_pairs_round = {rows, sizeof rows / sizeof *rows};
