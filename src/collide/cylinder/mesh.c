/* A cylinder on a mesh, triangle by triangle. A triangle pushes only along directions of the mesh's own
 * normal cone there: its normal, directions between the normals at a convex edge, those around a convex
 * vertex. So inner edges of a flat or hollow surface never push sideways. */
#include "collide/cylinder/cylinder.h"
#include "collide/mesh/query.h"

#include <string.h>

typedef struct triangle {
    const dls_mesh *mesh;
    int element;
    double corner[9], normal[3];
    double margin;
} triangle;

static double triangle_f(const dls_cylinder *A, const triangle *t, const double *n) {
    double least = fmin(fmin(vec_dot(n, t->corner), vec_dot(n, t->corner + 3)), vec_dot(n, t->corner + 6));
    return least - cylinder_reach(A, n);
}

static bool is_sharp(const triangle *t, int feature) {
    return feature < DLS_TRIANGLE_EDGE
               ? dls_mesh_vertex_is_sharp(t->mesh, t->mesh->element[3 * t->element + feature])
               : dls_mesh_edge_is_sharp(t->mesh, t->element, feature - DLS_TRIANGLE_EDGE);
}

/* Whether the mesh may push along −n from a feature of the triangle. */
static bool is_allowed(const triangle *t, int feature, const double *n) {
    double d[3];
    if (!is_sharp(t, feature)) return false; /* only along its faces' normals, which are tried as such */
    vec_scale(d, -1, n);
    return dls_mesh_is_minimum(t->mesh, t->element, feature, d) &&
           dls_mesh_is_outside(t->mesh, t->element, feature, d);
}

/* Keeps n where it is better and allowed; false where it separates beyond the margin, allowed or not. */
static bool try(const dls_cylinder *A, const triangle *t, const double *n, int feature,
                dls_cylinder_support kind, int index, dls_direction *best) {
    double f = triangle_f(A, t, n);
    if (f > t->margin) return false;
    if (!(f > best->f + 1e-12 * (A->r + A->h)) || (feature >= 0 && !is_allowed(t, feature, n))) return true;
    best->f = f;
    vec_copy(best->n, n);
    best->kind = kind;
    best->index = index;
    return true;
}

/* What of the triangle lies lowest along n: a vertex, an edge or all of it. */
static int lowest_feature(const triangle *t, const double *n) {
    double height[3], least = HUGE_VAL, size = 0;
    for (int k = 0; k < 3; k++) {
        height[k] = vec_dot(n, t->corner + 3 * k);
        least = fmin(least, height[k]);
        size = fmax(size, vec_distance(t->corner + 3 * k, t->corner + 3 * ((k + 1) % 3)));
    }
    int mask = 0;
    for (int k = 0; k < 3; k++) mask |= (height[k] <= least + 1e-9 * size) << k;
    static const int feature[8] = {0, 0, 1, 3, 2, 5, 4, 6};
    return feature[mask];
}

static bool try_edges(const dls_cylinder *A, const triangle *t, dls_direction *best) {
    for (int k = 0; k < 3; k++) {
        const double *p = t->corner + 3 * k;
        double q[3], e[3], n[4][3];
        bool rim[4];
        if (!is_sharp(t, DLS_TRIANGLE_EDGE + k)) continue;
        vec_sub(q, p, A->c);
        vec_sub(e, t->corner + 3 * ((k + 1) % 3), p);
        double length = vec_norm(e);
        if (!(length > 0)) continue;
        vec_scale(e, 1 / length, e);
        int count = dls_cylinder_line_directions(A, q, e, n, rim);
        for (int i = 0; i < count; i++) {
            double before = best->f;
            if (!try(A, t, n[i], DLS_TRIANGLE_EDGE + k, rim[i] ? SUPPORT_EDGE_RIM : SUPPORT_EDGE_SIDE, k,
                     best))
                return false;
            if (!(best->f > before)) continue;
            vec_copy(best->point, p);
            vec_copy(best->along, e);
            best->length = length;
        }
        int other = t->mesh->neighbour[3 * t->element + k];
        if (other < 0) continue;
        vec_scale(n[0], -1, t->mesh->normal + 3 * other); /* where the cone of a convex edge ends */
        if (!try(A, t, n[0], DLS_TRIANGLE_EDGE + k, SUPPORT_FACE, other, best)) return false;
    }
    return true;
}

/* Overlapping: directions of the triangles and edges around a corner may be better, for what pushes across
 * the corner need not be of this triangle. Such a direction brings no contact of its own, the others have it.
 */
static bool try_around(const dls_cylinder *A, const triangle *t, int corner, dls_direction *best) {
    const dls_mesh *mesh = t->mesh;
    int vertex = mesh->element[3 * t->element + corner];
    if (!dls_mesh_vertex_is_sharp(mesh, vertex)) return true;
    double q[3], n[4][3], e[3];
    bool rim[4];
    vec_sub(q, t->corner + 3 * corner, A->c);
    for (int i = mesh->vertex_start[vertex]; i < mesh->vertex_start[vertex + 1]; i++) {
        int other = mesh->vertex_element[i];
        if (other == t->element) continue;
        vec_scale(n[0], -1, mesh->normal + 3 * other);
        if (!try(A, t, n[0], corner, SUPPORT_FACE, other, best)) return false;
        for (int k = 0; k < 3; k++) {
            bool touches =
                mesh->element[3 * other + k] == vertex || mesh->element[3 * other + (k + 1) % 3] == vertex;
            if (!touches || !dls_mesh_edge_is_sharp(mesh, other, k)) continue;
            vec_sub(e, dls_mesh_corner(mesh, other, (k + 1) % 3), dls_mesh_corner(mesh, other, k));
            vec_scale(e, 1 / vec_norm(e), e);
            int count = dls_cylinder_line_directions(A, q, e, n, rim);
            for (int j = 0; j < count; j++)
                if (!try(A, t, n[j], corner, SUPPORT_FACE, other, best)) return false;
        }
    }
    return true;
}

/* Best allowed direction; false where the triangle is beyond the margin or has none. */
static bool triangle_direction(const dls_cylinder *A, const triangle *t, dls_direction *best) {
    double n[3], to[3];
    best->f = -HUGE_VAL;
    best->kind = SUPPORT_NONE;
    vec_scale(n, -1, t->normal);
    vec_sub(to, A->c, t->corner);
    bool front = vec_dot(to, t->normal) > 0;
    if (triangle_f(A, t, t->normal) > t->margin) return false; /* wholly behind it */
    if (front && !try(A, t, n, -1, SUPPORT_FACE, t->element, best)) return false;
    for (int cap = 0; cap < 2; cap++) {
        vec_scale(n, cap ? 1 : -1, A->a);
        int feature = lowest_feature(t, n);
        if (feature == DLS_TRIANGLE_FACE && !front) continue;
        if (!try(A, t, n, feature == DLS_TRIANGLE_FACE ? -1 : feature, SUPPORT_CAP, feature, best))
            return false;
    }
    if (!try_edges(A, t, best)) return false;
    for (int k = 0; k < 3; k++) {
        double q[3], m[2][3];
        vec_sub(q, t->corner + 3 * k, A->c);
        int count = dls_cylinder_point_directions(A, q, m);
        for (int i = 0; i < count; i++) {
            double before = best->f;
            if (!try(A, t, m[i], k, SUPPORT_VERTEX, k, best)) return false;
            if (best->f > before) vec_copy(best->point, t->corner + 3 * k);
        }
    }
    for (int k = 0; k < 3 && best->f < 0; k++)
        if (!try_around(A, t, k, best)) return false;
    return best->kind != SUPPORT_NONE;
}

/* ---- regions ---- */

static void polygon_region(dls_contact_region *region, const dls_cylinder *A, const triangle *t,
                           const double *n, int32_t *angle) {
    static const int corner[3] = {0, 1, 2};
    int vertex_id[3], edge_id[3];
    for (int k = 0; k < 3; k++) {
        int vertex = t->mesh->element[3 * t->element + k];
        vertex_id[k] = dls_mesh_vertex_is_sharp(t->mesh, vertex) ? vertex : -1;
        edge_id[k] = dls_mesh_edge_is_sharp(t->mesh, t->element, k)
                         ? dls_mesh_feature(t->mesh, t->element, DLS_TRIANGLE_EDGE + k)
                         : -1;
    }
    dls_polygon polygon = {.count = 3,
                           .index = t->element,
                           .vertex = t->corner,
                           .corner = corner,
                           .vertex_id = vertex_id,
                           .edge_id = edge_id,
                           .offset = vec_dot(t->normal, t->corner),
                           .slack = 1e-6 * (A->r + A->h),
                           .rim_points = 6};
    vec_copy(polygon.normal, t->normal);
    if (cylinder_cap_faces(A, n))
        dls_contact_region_cap_polygon(region, A, vec_dot(n, A->a) > 0, &polygon, n, angle);
    if (cylinder_side_faces(A, n)) dls_contact_region_side_polygon(region, A, &polygon, n);
}

/* The lowest edge of the triangle along n where it is level enough. */
static void edge_region(dls_contact_region *region, const dls_cylinder *A, const triangle *t,
                        const double *n) {
    double least = HUGE_VAL, e[3];
    int edge = 0;
    for (int k = 0; k < 3; k++) {
        double high = fmax(vec_dot(n, t->corner + 3 * k), vec_dot(n, t->corner + 3 * ((k + 1) % 3)));
        if (high < least) least = high, edge = k;
    }
    dls_thick_segment line = {.radius = 0,
                              .id = dls_mesh_feature(t->mesh, t->element, DLS_TRIANGLE_EDGE + edge)};
    for (int i = 0; i < 2; i++) {
        vec_copy(line.p[i], t->corner + 3 * ((edge + i) % 3));
        line.end[i] = t->mesh->element[3 * t->element + (edge + i) % 3];
    }
    vec_sub(e, line.p[1], line.p[0]);
    if (fabs(vec_dot(e, n)) > CYLINDER_PARALLEL * vec_norm(e)) return;
    if (cylinder_cap_faces(A, n)) dls_contact_region_cap_line(region, A, vec_dot(n, A->a) > 0, &line, n);
    if (cylinder_side_faces(A, n)) dls_contact_region_side_line(region, A, &line, n);
}

/* ---- nearest points ---- */

static bool in_triangle(const triangle *t, const double *point, double slack) {
    for (int k = 0; k < 3; k++) {
        double e[3], out[3], to[3];
        vec_sub(e, t->corner + 3 * ((k + 1) % 3), t->corner + 3 * k);
        vec_cross(out, e, t->normal);
        vec_sub(to, point, t->corner + 3 * k);
        if (vec_dot(out, to) > slack * vec_norm(e)) return false;
    }
    return true;
}

/* Where the axis passes nearest to the edge, as a length along it. */
static double edge_place(const dls_cylinder *A, const dls_direction *best) {
    double w[3], b = vec_dot(best->along, A->a), D = 1 - b * b;
    vec_sub(w, best->point, A->c);
    return D > 1e-18 ? (b * vec_dot(w, A->a) - vec_dot(w, best->along)) / D : best->length / 2;
}

/* The nearest points, unless they lie beyond the feature that they should lie on: another triangle has them.
 */
static void add_nearest(dls_contact_region *region, const dls_cylinder *A, const triangle *t,
                        const dls_direction *best) {
    double a[3], b[3], to[3], slack = 1e-6 * (A->r + A->h);
    int cap = vec_dot(best->n, A->a) > 0;
    int feature = DLS_TRIANGLE_FACE;
    dls_cylinder_reach_point(A, best->n, a);
    vec_along(b, a, best->f, best->n);
    if (best->kind == SUPPORT_FACE) {
        if (best->index != t->element || !in_triangle(t, b, slack)) return;
        dls_contact_region_add(region, a, b, best->n, best->f,
                               cylinder_feature(FEATURE_RIM, cap, 0, t->element));
        return;
    }
    if (best->kind == SUPPORT_EDGE_SIDE || best->kind == SUPPORT_EDGE_RIM) {
        vec_sub(to, b, best->point);
        double place = best->kind == SUPPORT_EDGE_SIDE ? edge_place(A, best) : vec_dot(to, best->along);
        if (place < -slack || place > best->length + slack) return;
        vec_along(b, best->point, place, best->along);
        vec_sub(to, b, A->c);
        if (best->kind == SUPPORT_EDGE_SIDE && fabs(vec_dot(to, A->a)) > A->h + slack) return;
        feature = DLS_TRIANGLE_EDGE + best->index;
    } else if (best->kind == SUPPORT_VERTEX) {
        vec_copy(b, best->point);
        feature = best->index;
    } else { /* a vertex on a cap; edges and faces on it are regions */
        if (best->index >= DLS_TRIANGLE_EDGE) return;
        vec_copy(b, t->corner + 3 * best->index);
        vec_sub(to, b, A->c);
        vec_along(to, to, -vec_dot(to, A->a), A->a);
        if (vec_norm(to) > A->r + slack) return;
        feature = best->index;
    }
    vec_along(a, b, -best->f, best->n);
    dls_contact_region_add(region, a, b, best->n, best->f,
                           cylinder_feature(best->kind == SUPPORT_EDGE_SIDE ? FEATURE_SIDE : FEATURE_VERTEX,
                                            cap, 0, dls_mesh_feature(t->mesh, t->element, feature)));
}

/* The lowest points of both rims where the triangle holds them: a turn within the step may drop either, and
 * beside a valley both faces hold what would slip through the edge between. */
static void add_rims(dls_contact_region *region, const dls_cylinder *A, const triangle *t, double best) {
    double along = vec_dot(A->a, t->normal), down[3], to[3], n[3];
    vec_sub(to, A->c, t->corner);
    if (fabs(along) > 0.999 || !(vec_dot(to, t->normal) > 0)) return; /* flat caps are regions */
    vec_scale(n, -1, t->normal);
    vec_along(down, n, along, A->a);
    vec_scale(down, A->r / vec_norm(down), down);
    for (int cap = 0; cap < 2; cap++) {
        double a[3], b[3];
        vec_along(a, A->c, cap ? A->h : -A->h, A->a);
        vec_add(a, a, down);
        vec_sub(to, a, t->corner);
        double gap = vec_dot(to, t->normal);
        if (gap < best - 1e-3 * (A->r + A->h) || !dls_mesh_holds(t->mesh, t->element, a)) continue;
        vec_along(b, a, gap, n);
        dls_contact_region_add(region, a, b, n, gap, cylinder_feature(FEATURE_RIM, cap, 15, t->element));
    }
}

void dls_cylinder_mesh(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                       const dls_contact_point *last, int last_count, dls_manifold *manifold) {
    (void)last, (void)last_count;
    const dls_mesh *mesh = b->shape->mesh;
    dls_cylinder A;
    dls_cylinder_place(a, b->x, b->R, &A);
    double low[3], high[3];
    for (int i = 0; i < 3; i++) {
        double reach = A.h * fabs(A.a[i]) + A.r * hypot(A.x[i], A.y[i]) + margin;
        low[i] = A.c[i] - reach, high[i] = A.c[i] + reach;
    }
    dls_contact_region region = {.manifold = manifold,
                                 .x = b->x,
                                 .R = b->R,
                                 .margin = margin,
                                 .merge = 1e-5 * (A.r + A.h),
                                 .first = manifold->count};
    dls_mesh_walk walk;
    dls_mesh_walk_begin(&walk, mesh, low, high);
    for (int element; (element = dls_mesh_walk_next(&walk)) >= 0;) {
        triangle t = {.mesh = mesh, .element = element, .margin = margin};
        for (int k = 0; k < 3; k++) vec_copy(t.corner + 3 * k, dls_mesh_corner(mesh, element, k));
        vec_copy(t.normal, mesh->normal + 3 * element);
        dls_direction best;
        if (!triangle_direction(&A, &t, &best)) continue;
        region.least = HUGE_VAL;
        region.level = false;
        if (-vec_dot(best.n, t.normal) > sqrt(1 - CYLINDER_PARALLEL * CYLINDER_PARALLEL))
            polygon_region(&region, &A, &t, best.n, &memory->feature[0]);
        else
            edge_region(&region, &A, &t, best.n);
        if (!region_attains(&region, &A, best.f)) add_nearest(&region, &A, &t, &best);
        add_rims(&region, &A, &t, best.f);
    }
    memory->used = 1;
}
