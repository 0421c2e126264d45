/* Ellipsoid against round shapes, half-spaces and the inside of a box; rows of the whole family. */
#include "collide/ellipsoid/ellipsoid.h"
#include "base/vector.h"

bool dls_ellipsoid_recalls(const dls_pair_memory *memory) {
    return memory->used && fabs(vec_dot(memory->n, memory->n) - 1) < 1e-9;
}

bool dls_ellipsoid_is_far(const dls_ellipsoid *e, const double *x, double bound, double margin) {
    double d[3], reach = sqrt(e->greatest) + bound + margin;
    vec_sub(d, x, e->c);
    return reach < 0 || vec_dot(d, d) > reach * reach;
}

void dls_ellipsoid_touch(const dls_ellipsoid *e, const double *n, double gap, uint64_t feature,
                         dls_manifold *manifold) {
    double point_a[3], point_b[3];
    dls_ellipsoid_support(e, n, point_a);
    vec_along(point_b, point_a, gap, n);
    dls_manifold_add(manifold, point_a, point_b, n, gap, feature);
}

void dls_ellipsoid_touch_plane(const dls_ellipsoid *e, const double *x, const double *m, double margin,
                               uint64_t feature, dls_manifold *manifold) {
    double d[3], n[3], point_a[3], point_b[3];
    vec_sub(d, e->c, x);
    vec_scale(n, -1, m);
    double gap = vec_dot(m, d) - dls_ellipsoid_support(e, n, point_a);
    if (!(gap <= margin)) return;
    vec_along(point_b, point_a, gap, n);
    dls_manifold_add(manifold, point_a, point_b, n, gap, feature);
}

/* The last direction n often shows that they are apart; the other, about x, reaches so far along −n. */
static bool separated(const dls_ellipsoid *e, const double *n, const double *x, double reach, double margin) {
    double support[3], d[3];
    dls_ellipsoid_support(e, n, support);
    vec_sub(d, x, support);
    return vec_dot(n, d) - reach > margin;
}

/* gap = φ(centre) − r */
static void ellipsoid_sphere(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                             const dls_contact_point *last, int last_count, dls_manifold *manifold) {
    (void)last, (void)last_count;
    dls_ellipsoid e;
    double radius = b->shape->radius;
    dls_ellipsoid_place(a, &e);
    if (dls_ellipsoid_is_far(&e, b->x, radius, margin)) return;
    bool warm = dls_ellipsoid_recalls(memory);
    if (warm && separated(&e, memory->n, b->x, radius, margin)) return;
    double gap = dls_ellipsoid_to_point(&e, b->x, warm, memory->n) - radius;
    memory->used = 1;
    if (gap <= margin) dls_ellipsoid_touch(&e, memory->n, gap, 0, manifold);
}

/* A capsule is a segment with a radius: gap = least φ on the segment − r. */
static void ellipsoid_capsule(const dls_placed *a, const dls_placed *b, double margin,
                              dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                              dls_manifold *manifold) {
    (void)last, (void)last_count;
    dls_ellipsoid e;
    double radius = b->shape->radius, length = b->shape->length, start[3], s, gap;
    const double *axis = b->R + 6;
    dls_ellipsoid_place(a, &e);
    if (dls_ellipsoid_is_far(&e, b->x, 0.5 * length + radius, margin)) return;
    double reach = radius + 0.5 * length * fabs(vec_dot(memory->n, axis));
    if (dls_ellipsoid_recalls(memory) && separated(&e, memory->n, b->x, reach, margin)) return;
    vec_along(start, b->x, -0.5 * length, axis);
    gap = dls_ellipsoid_to_segment(&e, start, axis, length, memory->n, &s) - radius;
    memory->used = 1;
    if (gap <= margin) dls_ellipsoid_touch(&e, memory->n, gap, 0, manifold);
}

static void ellipsoid_ellipsoid(const dls_placed *a, const dls_placed *b, double margin,
                                dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                                dls_manifold *manifold) {
    (void)last, (void)last_count;
    dls_ellipsoid e1, e2;
    dls_ellipsoid_place(a, &e1);
    dls_ellipsoid_place(b, &e2);
    if (dls_ellipsoid_is_far(&e1, b->x, sqrt(e2.greatest), margin)) return;
    double gap;
    bool warm = dls_ellipsoid_recalls(memory);
    bool near = dls_ellipsoid_to_ellipsoid(&e1, &e2, margin, warm, memory->n, &gap);
    memory->used = 1;
    if (near) dls_ellipsoid_touch(&e1, memory->n, gap, 0, manifold);
}

static void ellipsoid_half_space(const dls_placed *a, const dls_placed *b, double margin,
                                 dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                                 dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    dls_ellipsoid e;
    dls_ellipsoid_place(a, &e);
    dls_ellipsoid_touch_plane(&e, b->x, b->R + 6, margin, 0, manifold);
}

/* Six half-spaces: features 2k and 2k + 1 are the walls at the low and the high end of axis k. */
static void ellipsoid_box_inside(const dls_placed *a, const dls_placed *b, double margin,
                                 dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                                 dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    dls_ellipsoid e;
    dls_ellipsoid_place(a, &e);
    for (int k = 0; k < 6; k++) {
        double m[3], x[3], side = k % 2 ? -1 : 1;
        vec_scale(m, side, b->R + 3 * (k / 2));
        vec_along(x, b->x, -b->shape->size[k / 2], m);
        dls_ellipsoid_touch_plane(&e, x, m, margin, (uint64_t)k, manifold);
    }
}

static const dls_pair_kind rows[] = {
    {DLS_ELLIPSOID, DLS_SPHERE, ellipsoid_sphere, true, true,
     "nearest point of the ellipsoid to the centre, Newton on its secular equation"},
    {DLS_ELLIPSOID, DLS_CAPSULE, ellipsoid_capsule, true, true,
     "nearest point of the axis: secular equation across it, or at an end"},
    {DLS_ELLIPSOID, DLS_ELLIPSOID, ellipsoid_ellipsoid, true, true,
     "common normal by Newton on the sphere, started where blown-up ellipsoids touch"},
    {DLS_ELLIPSOID, DLS_BOX, dls_ellipsoid_hull, true, true,
     "nearest face, edge or corner by descent of the signed distance over the surface"},
    {DLS_ELLIPSOID, DLS_POLYHEDRON, dls_ellipsoid_hull, true, true,
     "nearest face, edge or corner by descent of the signed distance over the surface"},
    {DLS_ELLIPSOID, DLS_CYLINDER, dls_ellipsoid_cylinder, true, true,
     "nearest of wall, cap and rim: secular equation, support point, Newton on the rim's angle"},
    {DLS_ELLIPSOID, DLS_HALF_SPACE, ellipsoid_half_space, true, false, "support point"},
    {DLS_ELLIPSOID, DLS_BOX_INSIDE, ellipsoid_box_inside, true, false, "support point at each wall"},
    {DLS_ELLIPSOID, DLS_CYLINDER_INSIDE, dls_ellipsoid_cylinder_inside, true, true,
     "each farthest point of the cross-section by its secular equation, support point at each cap"},
    {DLS_ELLIPSOID, DLS_MESH, dls_ellipsoid_mesh, true, false,
     "nearest points of triangles that are nearest among their neighbours"},
};

const dls_pair_family dls_pairs_ellipsoid = {rows, sizeof rows / sizeof *rows};
