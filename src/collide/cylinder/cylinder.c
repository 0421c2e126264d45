/* Cylinders with everything but ellipsoids: sphere, capsule, cylinder, box, polyhedron, half-space, the
 * insides of cylinders and boxes; meshes are in cylinder_mesh.c. */
#include "collide/cylinder/cylinder.h"

#include <string.h>

static const double origin[3] = {0, 0, 0}, identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/* ---- what the pairs share ---- */

static bool is_beyond(const dls_placed *a, const dls_placed *b, double margin) {
    return vec_distance(a->x, b->x) > a->shape->bound + b->shape->bound + margin;
}

static dls_contact_region region_begin(const dls_placed *b, double margin, dls_manifold *manifold) {
    return (dls_contact_region){.manifold = manifold,
                                .x = b->x,
                                .R = b->R,
                                .margin = margin,
                                .least = HUGE_VAL,
                                .first = manifold->count};
}

/* The direction of the last call, which may still separate. */
static bool memory_direction(const dls_pair_memory *memory, double *n) {
    vec_copy(n, memory->n);
    return memory->used != 0;
}

static void memory_keep(dls_pair_memory *memory, const double *n) {
    vec_copy(memory->n, n);
    memory->used = 1;
}

/* The point of the edge that is nearest to the axis. */
static void edge_point(const dls_cylinder *A, const dls_direction *best, double *point) {
    double w[3], b = vec_dot(best->along, A->a), D = 1 - b * b;
    vec_sub(w, best->point, A->c);
    double t = D > 1e-18 ? (b * vec_dot(w, A->a) - vec_dot(w, best->along)) / D : best->length / 2;
    vec_along(point, best->point, fmin(best->length, fmax(0, t)), best->along);
}

/* The nearest points themselves. radius: of B about its features. For a cap best->point is what stands on it.
 */
static void add_nearest(dls_contact_region *region, const dls_cylinder *A, const dls_direction *best,
                        double radius) {
    double a[3], b[3];
    int cap = vec_dot(best->n, A->a) > 0;
    uint64_t feature;
    if (best->kind == SUPPORT_FACE || best->kind == SUPPORT_EDGE_RIM) {
        dls_cylinder_reach_point(A, best->n, a);
        vec_along(b, a, best->f, best->n);
        feature = best->kind == SUPPORT_FACE ? cylinder_feature(FEATURE_RIM, cap, 0, best->index)
                                             : cylinder_feature(FEATURE_EDGE, cap, 0, best->index);
    } else {
        vec_copy(b, best->point);
        feature = cylinder_feature(best->kind == SUPPORT_CAP ? FEATURE_CORNER : FEATURE_VERTEX, cap, 0,
                                   best->index);
        if (best->kind == SUPPORT_EDGE_SIDE) {
            edge_point(A, best, b);
            feature = cylinder_feature(FEATURE_SIDE, 0, 0, best->index);
        }
        vec_along(b, b, -radius, best->n);
        vec_along(a, b, -best->f, best->n);
    }
    dls_contact_region_add(region, a, b, best->n, best->f, feature);
}

/* ---- sphere: box distance in (ρ, |z|) ---- */

static void cylinder_sphere(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                            const dls_contact_point *last, int last_count, dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    if (is_beyond(a, b, margin)) return;
    double d[3], n[3], pa[3], pb[3], radial[3];
    double r = a->shape->radius, h = a->shape->length / 2, radius = b->shape->radius;
    vec_sub(d, b->x, a->x);
    double z = vec_dot(d, a->R + 6), up = z < 0 ? -1 : 1;
    vec_along(radial, d, -z, a->R + 6);
    double rho = vec_norm(radial), out = rho - r, above = fabs(z) - h, distance;
    if (rho > 1e-14 * r)
        vec_scale(radial, 1 / rho, radial);
    else
        vec_copy(radial, a->R);
    if (out > 0 && above > 0) {
        distance = sqrt(out * out + above * above);
        vec_scale(n, out / distance, radial);
        vec_along(n, n, up * above / distance, a->R + 6);
    } else if (above > out) {
        distance = above;
        vec_scale(n, up, a->R + 6);
    } else {
        distance = out;
        vec_copy(n, radial);
    }
    double gap = distance - radius;
    if (!(gap <= margin)) return;
    vec_along(pb, b->x, -radius, n);
    vec_along(pa, pb, -gap, n);
    dls_manifold_add(manifold, pa, pb, n, gap, cylinder_feature(FEATURE_VERTEX, 0, 0, 0));
}

/* ---- capsule ---- */

static void cylinder_capsule(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                             const dls_contact_point *last, int last_count, dls_manifold *manifold) {
    (void)last, (void)last_count, (void)memory;
    if (is_beyond(a, b, margin)) return;
    dls_cylinder A;
    dls_cylinder_place(a, b->x, b->R, &A);
    double h = b->shape->length / 2;
    dls_thick_segment line = {{{0, 0, -h}, {0, 0, h}}, b->shape->radius, true, {0, 1}, 0};
    dls_direction best;
    if (!dls_cylinder_segment_direction(&A, &line, margin, &best)) return;
    dls_contact_region region = region_begin(b, margin, manifold);
    if (fabs(best.n[2]) < CYLINDER_PARALLEL) {
        if (cylinder_cap_faces(&A, best.n))
            dls_contact_region_cap_line(&region, &A, vec_dot(best.n, A.a) > 0, &line, best.n);
        if (cylinder_side_faces(&A, best.n)) dls_contact_region_side_line(&region, &A, &line, best.n);
    }
    if (region_attains(&region, &A, best.f)) return;
    if (best.kind == SUPPORT_CAP) {
        best.index = best.n[2] > 0 ? 0 : 1;
        vec_copy(best.point, line.p[best.index]);
    }
    add_nearest(&region, &A, &best, line.radius);
}

/* ---- box and polyhedron ---- */

static int facing_face(const dls_hull *hull, const double *n) {
    double most = sqrt(1 - CYLINDER_PARALLEL * CYLINDER_PARALLEL);
    int face = -1;
    for (int k = 0; k < hull->face_count; k++) {
        double along = -vec_dot(n, hull->face_normal + 3 * k);
        if (along > most) most = along, face = k;
    }
    return face;
}

/* The edge whose higher end is lowest along n, where it is flat enough; −1 for none. */
static int facing_edge(const dls_hull *hull, const double *n, dls_thick_segment *line) {
    double least = HUGE_VAL;
    int edge = -1;
    for (int k = 0; k < hull->edge_count; k++) {
        double high = fmax(vec_dot(n, hull->vertex + 3 * hull->edge_vertex[k][0]),
                           vec_dot(n, hull->vertex + 3 * hull->edge_vertex[k][1]));
        if (high < least) least = high, edge = k;
    }
    if (edge < 0) return -1;
    double e[3];
    for (int i = 0; i < 2; i++) {
        line->end[i] = hull->edge_vertex[edge][i];
        vec_copy(line->p[i], hull->vertex + 3 * line->end[i]);
    }
    line->radius = 0;
    line->round = false;
    line->id = edge;
    vec_sub(e, line->p[1], line->p[0]);
    return fabs(vec_dot(e, n)) < CYLINDER_PARALLEL * vec_norm(e) ? edge : -1;
}

static void hull_region(dls_contact_region *region, const dls_cylinder *A, const dls_hull *hull,
                        const double *n, int32_t *angle) {
    bool cap = cylinder_cap_faces(A, n), side = cylinder_side_faces(A, n);
    if (!cap && !side) return;
    int face = facing_face(hull, n), end = vec_dot(n, A->a) > 0;
    if (face >= 0) {
        int start = hull->face_start[face];
        dls_polygon polygon = {.count = hull->face_start[face + 1] - start,
                               .index = face,
                               .vertex = hull->vertex,
                               .corner = hull->face_vertex + start,
                               .vertex_id = hull->face_vertex + start,
                               .edge_id = hull->face_edge + start,
                               .offset = hull->face_offset[face],
                               .slack = 1e-6 * hull->size,
                               .rim_points = 3};
        vec_copy(polygon.normal, hull->face_normal + 3 * face);
        if (cap) dls_contact_region_cap_polygon(region, A, end, &polygon, n, angle);
        if (side) dls_contact_region_side_polygon(region, A, &polygon, n);
        return;
    }
    dls_thick_segment line;
    if (facing_edge(hull, n, &line) < 0) return;
    if (cap) dls_contact_region_cap_line(region, A, end, &line, n);
    if (side) dls_contact_region_side_line(region, A, &line, n);
}

static void cylinder_hull(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                          const dls_contact_point *last, int last_count, dls_manifold *manifold) {
    (void)last, (void)last_count;
    if (is_beyond(a, b, margin)) return;
    const dls_hull *hull = b->shape->hull;
    dls_cylinder A;
    dls_cylinder_place(a, b->x, b->R, &A);
    double n[3];
    if (memory_direction(memory, n)) {
        double least = HUGE_VAL;
        for (int v = 0; v < hull->vertex_count; v++) least = fmin(least, vec_dot(n, hull->vertex + 3 * v));
        if (least - cylinder_reach(&A, n) > margin) return;
    }
    dls_direction best;
    bool near = dls_cylinder_hull_direction(&A, hull, margin, &best);
    memory_keep(memory, best.n);
    if (!near) return;
    dls_contact_region region = region_begin(b, margin, manifold);
    hull_region(&region, &A, hull, best.n, &memory->feature[0]);
    if (region_attains(&region, &A, best.f)) return;
    if (best.kind == SUPPORT_CAP) {
        best.index = 0;
        for (int v = 1; v < hull->vertex_count; v++)
            if (vec_dot(best.n, hull->vertex + 3 * v) < vec_dot(best.n, hull->vertex + 3 * best.index))
                best.index = v;
        vec_copy(best.point, hull->vertex + 3 * best.index);
    }
    add_nearest(&region, &A, &best, 0);
}

/* ---- cylinder ---- */

static dls_thick_segment core(const dls_cylinder *C) {
    dls_thick_segment line = {.radius = C->r, .end = {0, 1}, .id = 0};
    vec_along(line.p[0], C->c, -C->h, C->a);
    vec_along(line.p[1], C->c, C->h, C->a);
    return line;
}

static void pair_region(dls_contact_region *region, const dls_cylinder *A, const dls_cylinder *B,
                        const double *n, int32_t *angles) {
    bool cap_a = cylinder_cap_faces(A, n), side_a = cylinder_side_faces(A, n);
    bool cap_b = cylinder_cap_faces(B, n), side_b = cylinder_side_faces(B, n);
    int end_a = vec_dot(n, A->a) > 0, end_b = vec_dot(n, B->a) < 0;
    double back[3];
    vec_scale(back, -1, n);
    if (cap_a && cap_b) dls_contact_region_cap_cap(region, A, end_a, B, end_b, n, angles);
    if (cap_a && side_b) {
        dls_thick_segment line = core(B);
        dls_contact_region_cap_line(region, A, end_a, &line, n);
    }
    if (side_a && cap_b) {
        dls_thick_segment line = core(A);
        region->exchange = true;
        dls_contact_region_cap_line(region, B, end_b, &line, back);
        region->exchange = false;
    }
    if (side_a && side_b) {
        dls_thick_segment line = core(B);
        dls_contact_region_side_line(region, A, &line, n);
    }
}

/* The nearest points: the rim that is a point there gives one, two sides that cross give both. */
static void add_nearest_pair(dls_contact_region *region, const dls_cylinder *A, const dls_cylinder *B,
                             const dls_direction *best) {
    const double *n = best->n;
    double a[3], b[3], back[3];
    double along_a = fabs(vec_dot(n, A->a)), along_b = fabs(vec_dot(n, B->a));
    double sharp_a = fmin(along_a, 1 - along_a), sharp_b = fmin(along_b, 1 - along_b);
    int end_a = vec_dot(n, A->a) > 0, end_b = vec_dot(n, B->a) < 0;
    vec_scale(back, -1, n);
    uint64_t feature = cylinder_feature(FEATURE_EDGE, end_a, end_b, 0);
    if (fmax(along_a, along_b) < 1e-9) { /* two sides */
        dls_direction line = {.length = 2 * B->h};
        vec_along(line.point, B->c, -B->h, B->a);
        vec_copy(line.along, B->a);
        edge_point(A, &line, b);
        vec_along(b, b, -B->r, n);
        vec_along(a, b, -best->f, n);
        feature = cylinder_feature(FEATURE_SIDE, 0, 0, 0);
    } else if (sharp_b >= sharp_a) {
        dls_cylinder_reach_point(B, back, b);
        vec_along(a, b, -best->f, n);
    } else {
        dls_cylinder_reach_point(A, n, a);
        vec_along(b, a, best->f, n);
    }
    dls_contact_region_add(region, a, b, n, best->f, feature);
}

static void cylinder_cylinder(const dls_placed *a, const dls_placed *b, double margin,
                              dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                              dls_manifold *manifold) {
    (void)last, (void)last_count;
    if (is_beyond(a, b, margin)) return;
    dls_cylinder A, B;
    dls_cylinder_place(a, b->x, b->R, &A);
    dls_cylinder_place(b, b->x, b->R, &B);
    double n[3];
    if (memory_direction(memory, n)) {
        double back[3];
        vec_scale(back, -1, n);
        if (-cylinder_reach(&B, back) - cylinder_reach(&A, n) > margin) return;
    }
    dls_direction best;
    bool near = dls_cylinder_pair_direction(&A, &B, margin, &best);
    memory_keep(memory, best.n);
    if (!near) return;
    dls_contact_region region = region_begin(b, margin, manifold);
    pair_region(&region, &A, &B, best.n, memory->feature);
    if (!region_attains(&region, &A, best.f)) add_nearest_pair(&region, &A, &B, &best);
}

/* ---- half-space and containers ---- */

static void cylinder_half_space(const dls_placed *a, const dls_placed *b, double margin,
                                dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                                dls_manifold *manifold) {
    (void)last, (void)last_count;
    dls_cylinder A;
    dls_contact_region region = region_begin(b, margin, manifold);
    region.x = origin, region.R = identity;
    dls_cylinder_place(a, origin, identity, &A);
    dls_contact_region_plane(&region, &A, b->R + 6, vec_dot(b->R + 6, b->x), 0, &memory->feature[0]);
    memory->used = 1;
}

static void cylinder_in_box(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                            const dls_contact_point *last, int last_count, dls_manifold *manifold) {
    (void)last, (void)last_count;
    dls_cylinder A;
    dls_contact_region region = region_begin(b, margin, manifold);
    dls_cylinder_place(a, b->x, b->R, &A);
    for (int wall = 0; wall < 6; wall++) { /* one angle will do: only two opposite walls face the caps */
        double m[3] = {0, 0, 0};
        m[wall / 2] = wall % 2 ? -1 : 1;
        dls_contact_region_plane(&region, &A, m, -b->shape->size[wall / 2], wall, &memory->feature[0]);
    }
    memory->used = 1;
}

static void add_on_wall(dls_contact_region *region, const double *p, double radius, uint64_t feature) {
    double rho = hypot(p[0], p[1]);
    if (!(rho > 0)) return;
    double n[3] = {p[0] / rho, p[1] / rho, 0}, wall[3] = {radius * n[0], radius * n[1], p[2]};
    dls_contact_region_add(region, p, wall, n, radius - rho, feature);
}

/* Directions u on the unit circle that make |q + s∘u| a local maximum, s₁ ≥ s₂: with a = s₁q₁, b = s₂q₂,
 * D = s₁² − s₂² a root ν > 0 of (a/ν)² + (b/(ν+D))² = 1 and one in (−D, 0) where the left side rises;
 * u = (a/ν, b/(ν+D)). Returns how many; 0 where q = 0 and D = 0 and all are equal. */
static int farthest(const double *q, const double *s, double (*u)[2]) {
    double a = s[0] * q[0], b = s[1] * q[1], D = (s[0] - s[1]) * (s[0] + s[1]);
    double tiny = 1e-12 * s[0] * s[0];
    if (fabs(a) <= tiny && fabs(b) <= D + tiny) {
        if (D <= 1e-9 * s[0] * s[0]) return 0;
        double k = fmax(-1, fmin(1, b / D)), rest = sqrt(1 - k * k);
        u[0][0] = rest, u[0][1] = k;
        u[1][0] = -rest, u[1][1] = k;
        return 2;
    }
    double nu = dls_cylinder_outer_root(fabs(a), fabs(b), D);
    u[0][0] = a / nu, u[0][1] = b / (nu + D);
    nu = fabs(a) > tiny ? dls_cylinder_inner_root(fabs(a), fabs(b), D) : 0;
    if (!(nu < 0)) return 1;
    u[1][0] = a / nu, u[1][1] = b / (nu + D);
    return 2;
}

/* A rim in a hollow cylinder about z: its projection along z is an ellipse, whose points farthest from the
 * axis touch. A rim that is nearly level gets two more, for it may fit snugly. */
static void rim_in_wall(dls_contact_region *region, const dls_cylinder *A, int cap, double radius,
                        int32_t *angle) {
    double level = hypot(A->a[0], A->a[1]), centre[3], across[3], along[3], u[2][2];
    vec_along(centre, A->c, cap ? A->h : -A->h, A->a);
    if (level > 1e-9)
        vec_set(across, -A->a[1] / level, A->a[0] / level, 0);
    else
        vec_copy(across, A->x);
    vec_cross(along, A->a, across); /* the other axis of the rim; its part in the plane is the short one */
    double flat = hypot(along[0], along[1]);
    double q[2] = {centre[0] * across[0] + centre[1] * across[1],
                   flat > 0 ? (centre[0] * along[0] + centre[1] * along[1]) / flat : 0};
    double s[2] = {A->r, A->r * flat};
    int count = farthest(q, s, u);
    if (count == 0) {
        double phi = *angle * (3.14159265358979323846 / 1073741824);
        u[0][0] = cos(phi), u[0][1] = sin(phi);
        count = 1;
    }
    double p[3];
    int turns = flat > 0.999 ? 3 : 1;
    for (int k = 0; k < count; k++)
        for (int turn = 0; turn < turns; turn++) {
            double t = 2.0943951023931953 * turn, x = u[k][0] * cos(t) - u[k][1] * sin(t),
                   y = u[k][0] * sin(t) + u[k][1] * cos(t);
            vec_along(p, centre, A->r * x, across);
            vec_along(p, p, A->r * y, along);
            add_on_wall(region, p, radius, cylinder_feature(FEATURE_WALL, cap, 4 * k + turn, 0));
        }
}

static void cylinder_in_cylinder(const dls_placed *a, const dls_placed *b, double margin,
                                 dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                                 dls_manifold *manifold) {
    (void)last, (void)last_count;
    dls_cylinder A;
    dls_contact_region region = region_begin(b, margin, manifold);
    dls_cylinder_place(a, b->x, b->R, &A);
    double radius = b->shape->radius, h = b->shape->length / 2;
    if (radius - hypot(A.c[0], A.c[1]) - a->shape->bound <= margin)
        for (int cap = 0; cap < 2; cap++) rim_in_wall(&region, &A, cap, radius, &memory->feature[1]);
    for (int end = 0; end < 2 && h > 0; end++) {
        double m[3] = {0, 0, end ? -1 : 1};
        dls_contact_region_plane(&region, &A, m, -h, 1 + end, &memory->feature[0]);
    }
    memory->used = 1;
}

static const dls_pair_kind rows[] = {
    {DLS_CYLINDER, DLS_SPHERE, cylinder_sphere, true, false, "distance to a rectangle in (ρ, |z|)"},
    {DLS_CYLINDER, DLS_CAPSULE, cylinder_capsule, true, false,
     "caps, stationary directions across the axis, ends; the common part of parallel lines and caps"},
    {DLS_CYLINDER, DLS_CYLINDER, cylinder_cylinder, true, true,
     "caps, sides with rims and sides, rims by Newton on the sphere; corners of the common region"},
    {DLS_CYLINDER, DLS_BOX, cylinder_hull, true, true,
     "faces, caps, stationary directions across edges, vertices; corners of the common region"},
    {DLS_CYLINDER, DLS_POLYHEDRON, cylinder_hull, true, true,
     "faces, caps, stationary directions across edges, vertices; corners of the common region"},
    {DLS_CYLINDER, DLS_HALF_SPACE, cylinder_half_space, true, true,
     "lowest points of both rims, two more around the lower one"},
    {DLS_CYLINDER, DLS_CYLINDER_INSIDE, cylinder_in_cylinder, true, true,
     "points of each rim's ellipse farthest from the axis; half-spaces at the ends"},
    {DLS_CYLINDER, DLS_BOX_INSIDE, cylinder_in_box, true, true, "six half-spaces"},
    {DLS_CYLINDER, DLS_MESH, dls_cylinder_mesh, false, true,
     "best direction in each triangle's normal cone, corners of the common region, duplicates merged"},
};

const dls_pair_family dls_pairs_cylinder = {rows, sizeof rows / sizeof *rows};
