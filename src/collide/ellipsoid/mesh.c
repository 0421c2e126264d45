/* Ellipsoid against triangles, in the frame of the mesh: on every triangle nearby the least signed distance
 * φ, kept where it is a local minimum over the neighbours too, so that inner edges never push sideways. */
#include "base/vector.h"
#include "collide/ellipsoid/ellipsoid.h"
#include "collide/mesh/query.h"

typedef struct triangle_point {
    int feature;  /* of the triangle */
    double y[3];  /* where φ is least */
    double n[3];  /* ∇φ there */
    double least; /* φ there */
    double up;    /* height of the ellipsoid's centre over the triangle's plane */
} triangle_point;

/* Least φ on side k, from its vertex k to the next. */
static void side_point(const dls_ellipsoid *e, const double *v, const double *w, int k, triangle_point *at) {
    double a[3], s = 0;
    vec_sub(a, w, v);
    double length = vec_norm(a);
    if (length > 0) {
        vec_scale(a, 1 / length, a);
        at->least = dls_ellipsoid_to_segment(e, v, a, length, at->n, &s);
        vec_along(at->y, v, s, a);
    } else {
        at->least = dls_ellipsoid_to_point(e, v, false, at->n);
        vec_copy(at->y, v);
    }
    at->feature = s <= 0        ? DLS_TRIANGLE_VERTEX + k
                  : s >= length ? DLS_TRIANGLE_VERTEX + (k + 1) % 3
                                : DLS_TRIANGLE_EDGE + k;
}

/* Whether φ falls from a side of the triangle, where it was least on all sides, into it. */
static bool falls_inside(const double *normal, const double *v, const double *w, const triangle_point *at) {
    double along[3], out[3];
    vec_sub(along, w, v);
    vec_cross(out, along, normal);
    return vec_dot(out, at->n) > 1e-12 * vec_norm(out);
}

/* Least φ on a triangle: at the plane's nearest point, or on a side that this lies beyond (φ is convex).
 * Where the plane cuts deep, its normal is no guide and all sides are asked. False when the plane alone is
 * further than margin. */
static bool nearest_on_triangle(const dls_ellipsoid *e, const dls_mesh *mesh, int element, double margin,
                                triangle_point *at) {
    const double *normal = mesh->normal + 3 * element;
    const double *v[3] = {dls_mesh_corner(mesh, element, 0), dls_mesh_corner(mesh, element, 1),
                          dls_mesh_corner(mesh, element, 2)};
    double d[3];
    vec_sub(d, e->c, v[0]);
    at->up = vec_dot(normal, d);
    vec_scale(at->n, at->up > 0 ? -1 : 1, normal);
    at->least = fabs(at->up) - dls_ellipsoid_support(e, at->n, at->y);
    if (at->least > margin) return false;
    vec_along(at->y, at->y, at->least, at->n);
    at->feature = DLS_TRIANGLE_FACE;
    triangle_point best = {.least = HUGE_VAL};
    double n[3];
    bool shallow = dls_ellipsoid_is_shallow(e, at->least);
    bool beyond = !shallow && dls_ellipsoid_to_point(e, at->y, false, n) > 0;
    int nearest = 0;
    for (int k = 0; k < 3; k++) {
        const double *w = v[(k + 1) % 3];
        double along[3], out[3], x[3];
        vec_sub(along, w, v[k]);
        vec_cross(out, along, normal);
        vec_sub(x, at->y, v[k]);
        if (vec_dot(out, x) >= 0)
            beyond = true;
        else if (shallow)
            continue;
        triangle_point side = {.up = at->up};
        side_point(e, v[k], w, k, &side);
        if (side.least < best.least) best = side, nearest = k;
    }
    bool inside = !shallow && best.feature >= DLS_TRIANGLE_EDGE &&
                  falls_inside(normal, v[nearest], v[(nearest + 1) % 3], &best);
    if (beyond && !inside) *at = best;
    return at->least <= margin;
}

/* The same feature, or the same place with the same normal, as a contact that was added since first. */
static bool is_known(const dls_manifold *manifold, int first, const dls_contact_point *c, double size) {
    for (int k = first; k < manifold->count; k++) {
        const dls_contact_point *other = &manifold->point[k];
        if (other->feature == c->feature) return true;
        if (vec_distance(other->point_b, c->point_b) < 1e-9 * size &&
            vec_distance(other->normal, c->normal) < 1e-7)
            return true;
    }
    return false;
}

static void add_once(const dls_ellipsoid *e, const double *R, const double *n, double gap, int feature,
                     int first, dls_manifold *manifold) {
    dls_contact_point c = {.gap = gap, .feature = (uint64_t)feature};
    mat_apply(c.normal, R, n);
    dls_ellipsoid_support(e, c.normal, c.point_a);
    vec_along(c.point_b, c.point_a, gap, c.normal);
    if (!is_known(manifold, first, &c, sqrt(e->greatest)))
        dls_manifold_add(manifold, c.point_a, c.point_b, c.normal, gap, c.feature);
}

/* An ellipsoid whose centre has passed the surface is led back through the nearest face, but only where no
 * face holds it from the open side: near a convex edge it always reaches through the other face's back. */
void dls_ellipsoid_mesh(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                        const dls_contact_point *last, int last_count, dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    const dls_mesh *mesh = b->shape->mesh;
    dls_ellipsoid e, seen;
    dls_ellipsoid_place(a, &e);
    dls_ellipsoid_view(&e, b->x, b->R, &seen);
    double low[3], high[3], behind = -HUGE_VAL, behind_n[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        double reach = sqrt(seen.A[i]) * (1 + 1e-12) + fmax(margin, 0);
        low[i] = seen.c[i] - reach, high[i] = seen.c[i] + reach;
    }
    int first = manifold->count, behind_element = -1;
    dls_mesh_walk walk;
    dls_mesh_walk_begin(&walk, mesh, low, high);
    for (int element; (element = dls_mesh_walk_next(&walk)) >= 0;) {
        triangle_point at;
        double back[3];
        if (!nearest_on_triangle(&seen, mesh, element, margin, &at)) continue;
        vec_scale(back, -1, at.n);
        if (at.feature == DLS_TRIANGLE_FACE && at.up <= 0) {
            double gap = at.up - (fabs(at.up) - at.least); /* −|up| − h */
            if (at.least > 0 || gap <= behind) continue;
            behind = gap, behind_element = element;
            vec_copy(behind_n, back);
        } else if (dls_mesh_is_minimum(mesh, element, at.feature, back) &&
                   dls_mesh_is_outside(mesh, element, at.feature, back)) {
            add_once(&e, b->R, at.n, at.least, dls_mesh_feature(mesh, element, at.feature), first, manifold);
        }
    }
    if (behind_element >= 0 && manifold->count == first && behind <= margin)
        add_once(&e, b->R, behind_n, behind, dls_mesh_feature(mesh, behind_element, DLS_TRIANGLE_FACE), first,
                 manifold);
}
