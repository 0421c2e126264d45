/* Spheres and capsules on a mesh. A closest point counts where it is a local minimum of the distance over the
 * whole surface: then the edges inside a flat floor never push sideways. */
#include "base/vector.h"
#include "collide/mesh/mesh.h"
#include "collide/mesh/query.h"

#include <math.h>

static const double same_place = 1e-7;   /* of the radius: two contacts that near are one */
static const double same_feature = 1e-6; /* of the radius: a feature that near keeps the contact's name */

/* One call: the mesh, its frame, and where contacts go. */
typedef struct round_query {
    const dls_mesh *mesh;
    const dls_placed *frame;
    double radius, margin;
    const dls_contact_point *last;
    int last_count;
    dls_manifold *manifold;
    int start;     /* contacts of others before the own ones */
    uint64_t part; /* which part of the body: the upper bits of the identity */
    int borders;   /* contacts of an axis with edges that it only passes over */
} round_query;

enum { PART_SHIFT = 40 };
static const uint64_t BORDER_PART = 3; /* a capsule has two ends and the axis between */

/* ---- frames ---- */

static void to_mesh(const dls_placed *frame, const double *x, double *p) {
    double d[3];
    vec_sub(d, x, frame->x);
    mat_apply_transposed(p, frame->R, d);
}

static void to_world(const dls_placed *frame, const double *p, double *x) {
    mat_apply(x, frame->R, p);
    vec_add(x, x, frame->x);
}

/* ---- identity ---- */

static bool taken(const round_query *r, uint64_t id) {
    for (int k = r->start; k < r->manifold->count; k++)
        if (r->manifold->point[k].feature == id) return true;
    return false;
}

/* The name of the step before, while the feature that it names still holds q: on the border of two features
 * rounding must not change it. */
static uint64_t stable_id(const round_query *r, int feature, const double *q) {
    uint64_t own = r->part << PART_SHIFT | (uint64_t)feature, kept = own;
    for (int k = 0; k < r->last_count; k++) {
        uint64_t id = r->last[k].feature;
        if (id == own) return own;
        uint64_t number = id & (((uint64_t)1 << PART_SHIFT) - 1);
        if (id >> PART_SHIFT != r->part || kept != own || taken(r, id)) continue;
        if (number >= (uint64_t)DLS_TRIANGLE_FEATURES * (uint64_t)r->mesh->element_count) continue;
        double foot[3];
        dls_mesh_feature_closest(r->mesh, (int)number, q, foot);
        if (vec_distance(foot, q) <= same_feature * r->radius) kept = id;
    }
    return kept;
}

/* A contact of the ball about p with q on the surface; out is the unit direction away from the surface. */
static void add_as(const round_query *r, const double *p, const double *q, const double *out, double gap,
                   uint64_t id) {
    double on_ball[3], a[3], b[3], n[3];
    if (taken(r, id)) return;
    to_world(r->frame, q, b);
    mat_apply(n, r->frame->R, out);
    vec_scale(n, -1, n);
    for (int k = r->start; k < r->manifold->count; k++) {
        const dls_contact_point *c = &r->manifold->point[k];
        if (vec_distance(c->point_b, b) <= same_place * r->radius && vec_dot(c->normal, n) > 1 - 1e-9) return;
    }
    vec_along(on_ball, p, -r->radius, out);
    to_world(r->frame, on_ball, a);
    dls_manifold_add(r->manifold, a, b, n, gap, id);
}

static void add(const round_query *r, const double *p, const double *q, const double *out, double gap,
                int feature) {
    add_as(r, p, q, out, gap, stable_id(r, feature, q));
}

/* ---- a ball ---- */

/* The point of one triangle that is closest to a centre. */
typedef struct nearest {
    int element, feature;
    double q[3], d[3], distance;
} nearest;

static void find_nearest(const dls_mesh *mesh, int element, const double *p, nearest *at) {
    at->element = element;
    at->feature = dls_triangle_closest(dls_mesh_corner(mesh, element, 0), dls_mesh_corner(mesh, element, 1),
                                       dls_mesh_corner(mesh, element, 2), p, at->q);
    vec_sub(at->d, p, at->q);
    at->distance = vec_norm(at->d);
}

/* Unit direction from the surface to its open side at a minimum; the triangle's normal where p lies on it. */
static void direction_out(const dls_mesh *mesh, const nearest *at, double radius, bool outside, double *out) {
    const double *n = mesh->normal + 3 * at->element;
    if (at->feature == DLS_TRIANGLE_FACE || at->distance < 1e-9 * radius)
        vec_copy(out, n);
    else
        vec_scale(out, (outside ? 1 : -1) / at->distance, at->d);
}

static void add_nearest(const round_query *r, const double *p, const nearest *at, bool outside) {
    double out[3], gap = (outside ? at->distance : -at->distance) - r->radius;
    direction_out(r->mesh, at, r->radius, outside, out);
    if (gap <= r->margin) add(r, p, at->q, out, gap, dls_mesh_feature(r->mesh, at->element, at->feature));
}

/* Every minimum on the open side. A centre behind the surface is pushed out over its nearest point while the
 * ball still touches the surface. p: centre in the mesh's frame. */
static void ball_contacts(const round_query *r, const double *p) {
    double low[3], high[3], reach = r->radius + r->margin;
    for (int i = 0; i < 3; i++) low[i] = p[i] - reach, high[i] = p[i] + reach;
    dls_mesh_walk walk;
    nearest best = {.element = -1, .distance = INFINITY};
    dls_mesh_walk_begin(&walk, r->mesh, low, high);
    for (int element; (element = dls_mesh_walk_next(&walk)) >= 0;) {
        nearest at;
        find_nearest(r->mesh, element, p, &at);
        if (at.distance < best.distance) best = at;
        if (at.distance > reach || !dls_mesh_is_outside(r->mesh, element, at.feature, at.d)) continue;
        if (at.feature == DLS_TRIANGLE_FACE || dls_mesh_is_minimum(r->mesh, element, at.feature, at.d))
            add_nearest(r, p, &at, true);
    }
    if (best.element < 0 || best.distance > reach) return;
    bool outside = dls_mesh_is_outside(r->mesh, best.element, best.feature, best.d);
    if (outside || best.distance <= r->radius) add_nearest(r, p, &best, outside);
}

void dls_collide_mesh_sphere(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                             const dls_contact_point *last, int last_count, dls_manifold *manifold) {
    (void)memory;
    round_query r = {b->shape->mesh, b,        a->shape->radius, margin, last,
                     last_count,     manifold, manifold->count,  0,      0};
    double p[3];
    to_mesh(b, a->x, p);
    ball_contacts(&r, p);
}

/* ---- a capsule ---- */

/* Closest points of the axis p0 + s u and a segment q0 + t v, both strictly inside. */
static bool inner_points(const double *p0, const double *u, const double *q0, const double *v, double *p,
                         double *q) {
    double d[3], uu = vec_dot(u, u), vv = vec_dot(v, v), uv = vec_dot(u, v), det = uu * vv - uv * uv;
    vec_sub(d, q0, p0);
    if (!(det > 1e-12 * uu * vv)) return false;
    double du = vec_dot(d, u), dv = vec_dot(d, v), s = (du * vv - dv * uv) / det,
           t = (du * uv - dv * uu) / det;
    if (!(s > 0 && s < 1 && t > 0 && t < 1)) return false;
    vec_along(p, p0, s, u);
    vec_along(q, q0, t, v);
    return true;
}

static bool inner_foot(const double *p0, const double *u, const double *q, double *p) {
    double d[3], uu = vec_dot(u, u);
    vec_sub(d, q, p0);
    double s = vec_dot(d, u) / uu;
    if (!(s > 0 && s < 1)) return false;
    vec_along(p, p0, s, u);
    return true;
}

/* Whether the feature is nearest there, within reach or not. deep: the feature has passed the axis, and what
 * is behind it is pushed out. */
static bool try_feature(const round_query *r, const double *p, const double *q, int element, int feature,
                        bool deep) {
    double d[3], out[3];
    vec_sub(d, p, q);
    double distance = vec_norm(d);
    if (!(distance > 1e-9 * r->radius)) return false;
    vec_scale(out, (deep ? -1 : 1) / distance, d);
    if (!dls_mesh_is_minimum(r->mesh, element, feature, out)) return false;
    if (distance <= (deep ? r->radius : r->radius + r->margin))
        add(r, p, q, out, (deep ? -distance : distance) - r->radius,
            dls_mesh_feature(r->mesh, element, feature));
    return true;
}

/* The axis leaves the triangle over edge q0 + t v and rises on its way: its end is nearer, but a turn within
 * the step may drop it on the edge. */
static void border_contact(round_query *r, const double *p0, const double *u, int element, int k,
                           const double *q0, const double *v) {
    const double *n = r->mesh->normal + 3 * element;
    double across[3], d[3], p[3], q[3];
    int count = r->manifold->count;
    vec_cross(across, v, n);
    vec_sub(d, q0, p0);
    double s = vec_dot(d, across) / vec_dot(u, across);
    if (!(s > 0 && s < 1)) return;
    vec_along(p, p0, s, u);
    vec_sub(d, p, q0);
    double height = vec_dot(n, d), t = vec_dot(d, v) / vec_dot(v, v);
    if (!(t > 0 && t < 1) || !(height > 0) || height > r->radius + r->margin) return;
    vec_along(q, p, -height, n);
    add_as(r, p, q, n, height - r->radius,
           BORDER_PART << PART_SHIFT | (uint64_t)(DLS_TRIANGLE_FEATURES * element + DLS_TRIANGLE_EDGE + k));
    r->borders += r->manifold->count - count;
}

static void axis_on_edge(round_query *r, const double *p0, const double *u, int element, int k, bool deep) {
    const double *q0 = dls_mesh_corner(r->mesh, element, k);
    double v[3], p[3], q[3];
    if (!dls_mesh_edge_is_sharp(r->mesh, element, k)) return;
    vec_sub(v, dls_mesh_corner(r->mesh, element, (k + 1) % 3), q0);
    if (inner_points(p0, u, q0, v, p, q) && try_feature(r, p, q, element, DLS_TRIANGLE_EDGE + k, deep))
        return;
    if (!deep) border_contact(r, p0, u, element, k, q0, v);
}

/* The axis between its ends against what stands out of a triangle; what two triangles share is added once. */
static void axis_contacts(round_query *r, const double *p0, const double *u, int element, bool deep) {
    for (int k = 0; k < 3; k++) {
        const double *q0 = dls_mesh_corner(r->mesh, element, k);
        double p[3];
        axis_on_edge(r, p0, u, element, k, deep);
        if (dls_mesh_feature(r->mesh, element, k) == DLS_TRIANGLE_FEATURES * element + k &&
            inner_foot(p0, u, q0, p) && dls_mesh_vertex_is_sharp(r->mesh, r->mesh->element[3 * element + k]))
            try_feature(r, p, q0, element, k, deep);
    }
}

/* The axis goes through the triangle from its open side: its end is pushed out along the normal. */
static void pierced_contacts(const round_query *r, const double *p0, const double *u, int element) {
    const double *n = r->mesh->normal + 3 * element;
    double d[3], hit[3], q[3], end[3], foot[3];
    vec_sub(d, p0, dls_mesh_corner(r->mesh, element, 0));
    double from = vec_dot(n, d), to = from + vec_dot(n, u);
    if (!((from > 0 && to < 0) || (from < 0 && to > 0))) return;
    vec_along(hit, p0, from / (from - to), u);
    dls_triangle_closest(dls_mesh_corner(r->mesh, element, 0), dls_mesh_corner(r->mesh, element, 1),
                         dls_mesh_corner(r->mesh, element, 2), hit, q);
    if (vec_distance(hit, q) > same_place * r->radius) return;
    double depth = fmin(from, to);
    vec_along(end, p0, from < to ? 0 : 1, u);
    vec_along(foot, end, -depth, n);
    add(r, end, foot, n, depth - r->radius, DLS_TRIANGLE_FEATURES * element + DLS_TRIANGLE_FACE);
}

static void walk_axis(round_query *r, const double *p0, const double *u, bool deep) {
    double low[3], high[3], reach = r->radius + fmax(r->margin, 0);
    for (int i = 0; i < 3; i++) {
        low[i] = fmin(p0[i], p0[i] + u[i]) - reach;
        high[i] = fmax(p0[i], p0[i] + u[i]) + reach;
    }
    dls_mesh_walk walk;
    dls_mesh_walk_begin(&walk, r->mesh, low, high);
    for (int element; (element = dls_mesh_walk_next(&walk)) >= 0;) {
        axis_contacts(r, p0, u, element, deep);
        if (deep) pierced_contacts(r, p0, u, element);
    }
}

void dls_collide_mesh_capsule(const dls_placed *a, const dls_placed *b, double margin,
                              dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                              dls_manifold *manifold) {
    (void)memory;
    round_query r = {b->shape->mesh, b,        a->shape->radius, margin, last,
                     last_count,     manifold, manifold->count,  0,      0};
    double end[2][3], p[2][3], u[3];
    for (int k = 0; k < 2; k++) {
        vec_along(end[k], a->x, (k ? 0.5 : -0.5) * a->shape->length, a->R + 6);
        to_mesh(b, end[k], p[k]);
        r.part = (uint64_t)k;
        ball_contacts(&r, p[k]);
    }
    r.part = 2;
    vec_sub(u, p[1], p[0]);
    if (!(vec_dot(u, u) > 0)) return;
    walk_axis(&r, p[0], u, false);
    if (manifold->count - r.borders == r.start) walk_axis(&r, p[0], u, true);
}
