/* Spheres and capsules with what is round, flat or hollow. */
#include "collide/round/round.h"

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
void dls_ball_box_inside_add(const double *p, double radius, const dls_placed *box, double margin,
                             uint64_t feature, dls_manifold *manifold) {
    double d[3], u[3];
    vec_sub(d, p, box->x);
    for (int i = 0; i < 3; i++) {
        const double *axis = box->R + 3 * i;
        double place = vec_dot(axis, d), half = box->shape->size[i];
        vec_scale(u, -1, axis);
        dls_ball_wall_add(p, radius, u, half - place, margin, feature + (uint64_t)(2 * i), manifold);
        dls_ball_wall_add(p, radius, axis, half + place, margin, feature + (uint64_t)(2 * i + 1), manifold);
    }
}

static void sphere_box_inside(const dls_placed *a, const dls_placed *b, double margin,
                              dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                              dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    dls_ball_box_inside_add(a->x, a->shape->radius, b, margin, 0, manifold);
}

/* gap = R − r − ρ at the wall, l/2 − r − |z| at the two ends where there are any. */
void dls_ball_cylinder_inside_add(const double *p, double radius, const dls_placed *cylinder, double margin,
                                  uint64_t feature, dls_manifold *manifold) {
    const double *axis = cylinder->R + 6;
    double d[3], across[3], u[3], wall = cylinder->shape->radius, half = cylinder->shape->length / 2;
    vec_sub(d, p, cylinder->x);
    double z = vec_dot(axis, d);
    vec_along(across, d, -z, axis);
    double square = vec_dot(across, across), free = wall - radius - margin;
    if (free <= 0 || square >= free * free) {
        double rho = sqrt(square);
        if (square > 1e-290)
            vec_scale(u, -1 / rho, across);
        else
            vec_copy(u, cylinder->R);
        dls_ball_wall_add(p, radius, u, wall - rho, margin, feature, manifold);
    }
    if (half > 0) {
        vec_scale(u, -1, axis);
        dls_ball_wall_add(p, radius, u, half - z, margin, feature + 1, manifold);
        dls_ball_wall_add(p, radius, axis, half + z, margin, feature + 2, manifold);
    }
}

static void sphere_cylinder_inside(const dls_placed *a, const dls_placed *b, double margin,
                                   dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                                   dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    dls_ball_cylinder_inside_add(a->x, a->shape->radius, b, margin, 0, manifold);
}

/* The nearest point of the box is the centre clamped to it; from inside, out through the nearest face. */
static void sphere_box(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                       const dls_contact_point *last, int last_count, dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    double radius = a->shape->radius, p[3], foot[3], n[3] = {0}, depth = INFINITY, square = 0;
    const double *half = b->shape->size;
    int face = 0;
    vec_sub(p, a->x, b->x);
    mat_apply_transposed(p, b->R, p);
    for (int i = 0; i < 3; i++) {
        foot[i] = fmin(fmax(p[i], -half[i]), half[i]);
        square += (p[i] - foot[i]) * (p[i] - foot[i]);
        if (half[i] - fabs(p[i]) < depth) depth = half[i] - fabs(p[i]), face = i;
    }
    if (square > (radius + margin) * (radius + margin)) return;
    double height = sqrt(square);
    if (square > 1e-290) {
        for (int i = 0; i < 3; i++) n[i] = (foot[i] - p[i]) / height;
    } else {
        n[face] = p[face] < 0 ? 1 : -1;
        foot[face] = -n[face] * half[face];
        height = -depth;
    }
    double point_a[3], point_b[3];
    mat_apply(n, b->R, n);
    mat_apply(point_b, b->R, foot);
    vec_add(point_b, point_b, b->x);
    vec_along(point_a, a->x, radius, n);
    dls_manifold_add(manifold, point_a, point_b, n, height - radius, 0);
}

static const dls_pair_kind rows[] = {
    {DLS_SPHERE, DLS_SPHERE, sphere_sphere, true, false, "distance of the centres"},
    {DLS_SPHERE, DLS_HALF_SPACE, sphere_half_space, true, false, "height of the centre"},
    {DLS_SPHERE, DLS_BOX_INSIDE, sphere_box_inside, true, false, "height of the centre above each wall"},
    {DLS_SPHERE, DLS_CYLINDER_INSIDE, sphere_cylinder_inside, true, false,
     "R - r - distance from the axis; ends"},
    {DLS_SPHERE, DLS_BOX, sphere_box, true, false, "centre clamped to the box"},
    {DLS_SPHERE, DLS_POLYHEDRON, dls_collide_sphere_hull, true, false, "nearest face, edge or vertex"},
    {DLS_SPHERE, DLS_CAPSULE, dls_collide_sphere_capsule, true, false, "centre clamped to the axis"},
    {DLS_CAPSULE, DLS_CAPSULE, dls_collide_capsule_capsule, true, true,
     "nearest points of the axes; both ends of the overlap where they are nearly parallel"},
    {DLS_CAPSULE, DLS_HALF_SPACE, dls_collide_capsule_half_space, true, false, "height of both ends"},
    {DLS_CAPSULE, DLS_BOX_INSIDE, dls_collide_capsule_box_inside, true, false, "both ends above each wall"},
    {DLS_CAPSULE, DLS_CYLINDER_INSIDE, dls_collide_capsule_cylinder_inside, true, false,
     "both ends above wall and ends"},
    {DLS_CAPSULE, DLS_BOX, dls_collide_capsule_hull, true, true,
     "nearest points of axis and hull; both ends of the overlap where it lies along a face or an edge"},
    {DLS_CAPSULE, DLS_POLYHEDRON, dls_collide_capsule_hull, true, true,
     "nearest points of axis and hull; both ends of the overlap where it lies along a face or an edge"},
};

const dls_pair_family dls_pairs_round = {rows, sizeof rows / sizeof *rows};
