/* Spheres and capsules on boxes and convex polyhedra, in the frame of the hull. */
#include "collide/round/round.h"

/* Axes within this sine of a face or an edge lie along it: contacts at both ends of what they share. */
static const double along_sine = 0.3, along_cosine = 0.955;
static const double short_overlap = 1e-3;   /* of the radius; half of it when there were two contacts */
static const double rim_slack = 1e-3;       /* of that length: an axis along a rim lies on the face */
static const double deeper_between = 1e-10; /* of radius and size: a contact between the ends is then added */
static const double prefer_face = 1e-6; /* of the size: an axis inside leaves by a face while it is as good */
static const double touching = 1e-7;    /* of the size: nearer than that the difference has lost digits */

enum { BETWEEN, LOW_END, HIGH_END }; /* features along the capsule */

static double height_over(const dls_hull *h, int face, const double *p) {
    return vec_dot(h->face_normal + 3 * face, p) - h->face_offset[face];
}

/* Outward direction across edge k of a face, in its plane, and the edge's first vertex. */
static const double *side_of(const dls_hull *h, int face, int k, double *across) {
    int start = h->face_start[face], count = h->face_start[face + 1] - start;
    const double *v = h->vertex + 3 * h->face_vertex[start + k];
    const double *w = h->vertex + 3 * h->face_vertex[start + (k + 1 < count ? k + 1 : 0)];
    double edge[3];
    vec_sub(edge, w, v);
    vec_cross(across, edge, h->face_normal + 3 * face);
    return v;
}

static bool is_over(const dls_hull *h, int face, const double *p) {
    for (int k = 0; k < h->face_start[face + 1] - h->face_start[face]; k++) {
        double across[3], d[3];
        vec_sub(d, p, side_of(h, face, k, across));
        if (vec_dot(d, across) > 0) return false;
    }
    return true;
}

/* ---- a ball ---- */

/* A point p, its nearest point on the hull, the direction from there, the signed distance. */
typedef struct foot {
    double p[3], at[3], out[3], height;
} foot;

static void foot_on_face(const dls_hull *h, int face, double height, foot *f) {
    vec_copy(f->out, h->face_normal + 3 * face);
    vec_along(f->at, f->p, -height, f->out);
    f->height = height;
}

/* Nearest point of the edges that a visible face has. */
static void foot_on_edges(const dls_hull *h, foot *f) {
    double least = INFINITY;
    for (int k = 0; k < h->edge_count; k++) {
        if (height_over(h, h->edge_face[k][0], f->p) <= 0 && height_over(h, h->edge_face[k][1], f->p) <= 0)
            continue;
        const double *v = h->vertex + 3 * h->edge_vertex[k][0];
        double e[3], d[3];
        vec_sub(e, h->vertex + 3 * h->edge_vertex[k][1], v);
        vec_sub(d, f->p, v);
        double t = fmin(fmax(vec_dot(d, e) / vec_dot(e, e), 0), 1);
        vec_along(d, d, -t, e);
        double square = vec_dot(d, d);
        if (square >= least) continue;
        least = square;
        vec_along(f->at, v, t, e);
        vec_copy(f->out, d);
    }
    f->height = sqrt(least);
    vec_scale(f->out, 1 / fmax(f->height, 1e-145), f->out);
}

/* Foot of f->p; false where it is farther than reach. */
static bool find_foot(const dls_hull *h, double reach, foot *f) {
    double best = -INFINITY;
    int widest = 0;
    for (int k = 0; k < h->face_count; k++) {
        double height = height_over(h, k, f->p);
        if (height > reach) return false;
        if (height > best) best = height, widest = k;
    }
    foot_on_face(h, widest, best, f);
    if (best <= 0 || is_over(h, widest, f->at)) return true;
    for (int k = 0; k < h->face_count; k++) {
        double height = height_over(h, k, f->p);
        if (height <= 0 || k == widest) continue;
        foot_on_face(h, k, height, f);
        if (is_over(h, k, f->at)) return true;
    }
    foot_on_edges(h, f);
    if (f->height < 1e-145) foot_on_face(h, widest, best, f);
    return f->height <= reach;
}

/* Hands out a contact of a ball of the given radius. */
static void add_foot(const foot *f, double radius, const dls_placed *hull, double margin, uint64_t feature,
                     dls_manifold *manifold) {
    double n[3], point_a[3], point_b[3];
    if (f->height - radius > margin) return;
    mat_apply(n, hull->R, f->out);
    vec_scale(n, -1, n);
    mat_apply(point_b, hull->R, f->at);
    vec_add(point_b, point_b, hull->x);
    vec_along(point_a, f->p, -radius, f->out);
    mat_apply(point_a, hull->R, point_a);
    vec_add(point_a, point_a, hull->x);
    dls_manifold_add(manifold, point_a, point_b, n, f->height - radius, feature);
}

static void to_local(const dls_placed *f, const double *p, double *r) {
    vec_sub(r, p, f->x);
    mat_apply_transposed(r, f->R, r);
}

static bool is_far(const dls_placed *a, const dls_placed *b, double margin) {
    double d[3], reach = a->shape->bound + b->shape->bound + margin;
    vec_sub(d, a->x, b->x);
    return vec_dot(d, d) > reach * reach;
}

void dls_collide_sphere_hull(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                             const dls_contact_point *last, int last_count, dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    if (is_far(a, b, margin)) return;
    foot f;
    to_local(b, a->x, f.p);
    if (find_foot(b->shape->hull, a->shape->radius + margin, &f))
        add_foot(&f, a->shape->radius, b, margin, 0, manifold);
}

/* ---- a capsule: its axis p + s d, s in [0, 1] ---- */

typedef struct axis {
    double p[3], d[3], length;
} axis;

/* Nearest points of axis and hull and what they lie on; edge −1: inside of the face. */
typedef struct meeting {
    foot foot;
    double s;
    int face, edge, vertex;
    bool apart; /* the axis does not enter the hull */
} meeting;

/* The face over which the whole axis stands highest; false where that is farther than reach. */
static bool widest_face(const dls_hull *h, const axis *x, double reach, int *widest, double *height) {
    *height = -INFINITY;
    for (int k = 0; k < h->face_count; k++) {
        double here = height_over(h, k, x->p) + fmin(0, vec_dot(h->face_normal + 3 * k, x->d));
        if (here > reach) return false;
        if (here > *height) *height = here, *widest = k;
    }
    return true;
}

static bool enters(const dls_hull *h, const axis *x) {
    double in = 0, out = 1;
    for (int k = 0; k < h->face_count; k++) {
        double height = height_over(h, k, x->p), rise = vec_dot(h->face_normal + 3 * k, x->d);
        if (rise < 0)
            in = fmax(in, -height / rise);
        else if (rise > 0)
            out = fmin(out, -height / rise);
        else if (height > 0)
            return false;
        if (in > out) return false;
    }
    return true;
}

/* An end of the axis over a face. */
static bool meet_face(const dls_hull *h, const axis *x, int face, double s, meeting *m) {
    foot f;
    vec_along(f.p, x->p, s, x->d);
    double height = height_over(h, face, f.p);
    if (height <= 0 || height >= m->foot.height) return false;
    foot_on_face(h, face, height, &f);
    if (!is_over(h, face, f.at)) return false;
    *m = (meeting){.foot = f, .s = s, .face = face, .edge = -1, .vertex = -1, .apart = true};
    return true;
}

static void meet_edge(const dls_hull *h, const axis *x, int edge, meeting *m) {
    const double *v = h->vertex + 3 * h->edge_vertex[edge][0];
    double e[3], p[3], q[3], d[3], s, t;
    vec_sub(e, h->vertex + 3 * h->edge_vertex[edge][1], v);
    dls_segments_nearest(x->p, x->d, v, e, &s, &t);
    vec_along(p, x->p, s, x->d);
    vec_along(q, v, t, e);
    vec_sub(d, p, q);
    double square = vec_dot(d, d);
    if (square >= m->foot.height * m->foot.height) return;
    *m = (meeting){.s = s, .face = -1, .edge = edge, .vertex = -1, .apart = true};
    if (t <= 0 || t >= 1) m->vertex = h->edge_vertex[edge][t > 0];
    m->foot.height = sqrt(square);
    vec_copy(m->foot.p, p);
    vec_copy(m->foot.at, q);
    vec_scale(m->foot.out, 1 / fmax(m->foot.height, 1e-145), d);
}

static bool is_visible(const dls_hull *h, const axis *x, int face) {
    return height_over(h, face, x->p) + fmax(0, vec_dot(h->face_normal + 3 * face, x->d)) > 0;
}

/* Axis outside: the least distance of an end from a face or of the axis from an edge. */
static void meet_apart(const dls_hull *h, const axis *x, int widest, meeting *m) {
    double rise = vec_dot(h->face_normal + 3 * widest, x->d);
    *m = (meeting){.foot.height = INFINITY};
    if (meet_face(h, x, widest, rise < 0 ? 1 : 0, m)) return; /* nothing can be nearer than its plane */
    for (int k = 0; k < h->face_count; k++)
        for (int s = 0; s < 2; s++) meet_face(h, x, k, s, m);
    for (int k = 0; k < h->edge_count; k++)
        if (is_visible(h, x, h->edge_face[k][0]) || is_visible(h, x, h->edge_face[k][1]))
            meet_edge(h, x, k, m);
}

/* Axis inside: the least translation is across a face, or across both the axis and an edge whose faces look
 * to opposite sides of it. */
static void meet_inside(const dls_hull *h, const axis *x, int widest, double height, meeting *m) {
    const double *normal = h->face_normal + 3 * widest;
    *m = (meeting){.s = vec_dot(normal, x->d) < 0 ? 1 : 0, .face = widest, .edge = -1, .vertex = -1};
    vec_along(m->foot.p, x->p, m->s, x->d);
    foot_on_face(h, widest, height, &m->foot);
    for (int k = 0; k < h->edge_count; k++) {
        const double *one = h->face_normal + 3 * h->edge_face[k][0];
        const double *two = h->face_normal + 3 * h->edge_face[k][1],
                     *v = h->vertex + 3 * h->edge_vertex[k][0];
        if (vec_dot(one, x->d) * vec_dot(two, x->d) >= 0) continue;
        double e[3], u[3], from[3], s, t;
        vec_sub(e, h->vertex + 3 * h->edge_vertex[k][1], v);
        vec_cross(u, e, x->d);
        double length = vec_norm(u);
        if (length <= 1e-12 * vec_norm(e) * x->length) continue;
        vec_scale(u, (vec_dot(u, one) + vec_dot(u, two) < 0 ? -1 : 1) / length, u);
        vec_sub(from, x->p, v);
        double here = vec_dot(from, u);
        if (here <= m->foot.height + prefer_face * h->size) continue;
        dls_segments_nearest(x->p, x->d, v, e, &s, &t);
        m->s = s, m->edge = k, m->face = -1;
        m->foot.height = here;
        vec_copy(m->foot.out, u);
        vec_along(m->foot.p, x->p, s, x->d);
        vec_along(m->foot.at, m->foot.p, -here, u);
    }
}

/* The face that the meeting leans on: the one it is in, or the most upright around its edge or vertex. */
static int face_below(const dls_hull *h, const meeting *m) {
    if (m->face >= 0) return m->face;
    int count = 2, best = -1;
    const int *faces = h->edge_face[m->edge];
    if (m->vertex >= 0) {
        faces = h->vertex_face + h->vertex_start[m->vertex];
        count = h->vertex_start[m->vertex + 1] - h->vertex_start[m->vertex];
    }
    double upright = along_cosine;
    for (int k = 0; k < count; k++) {
        double cosine = vec_dot(h->face_normal + 3 * faces[k], m->foot.out);
        if (cosine > upright) upright = cosine, best = faces[k];
    }
    return best;
}

/* Cuts [low, high] to the part of the axis with u · (x − v) ≤ bound. */
static void cut(const axis *x, const double *v, const double *u, double bound, double *low, double *high) {
    double from[3];
    vec_sub(from, x->p, v);
    double start = vec_dot(from, u) - bound, rise = vec_dot(x->d, u);
    if (rise > 0)
        *high = fmin(*high, -start / rise);
    else if (rise < 0)
        *low = fmax(*low, -start / rise);
    else if (start > 0)
        *high = -1;
}

/* The parts of the axis that lie along a face, which is wider by slack, and along an edge. */
static void part_along_face(const dls_hull *h, const axis *x, int face, double slack, double *part) {
    part[0] = 0, part[1] = 1;
    for (int k = 0; k < h->face_start[face + 1] - h->face_start[face]; k++) {
        double across[3];
        const double *v = side_of(h, face, k, across);
        cut(x, v, across, slack * vec_norm(across), &part[0], &part[1]);
    }
}

static void part_along_edge(const dls_hull *h, const axis *x, int edge, double *part) {
    const double *v = h->vertex + 3 * h->edge_vertex[edge][0];
    double e[3], back[3], across[3];
    part[0] = 0, part[1] = 1;
    vec_sub(e, h->vertex + 3 * h->edge_vertex[edge][1], v);
    vec_cross(across, e, x->d);
    if (vec_norm(across) > along_sine * vec_norm(e) * x->length) {
        part[1] = 0;
        return;
    }
    vec_scale(back, -1, e);
    cut(x, v, e, vec_dot(e, e), &part[0], &part[1]);
    cut(x, v, back, 0, &part[0], &part[1]);
}

/* The longer of the two; false where the axis leans or what they share is too short to rock on. */
static bool find_part(const dls_hull *h, const axis *x, const meeting *m, double shortest, double *part) {
    part[0] = part[1] = 0;
    if (!m->apart && m->face < 0) return false;
    int face = face_below(h, m);
    if (face >= 0 && fabs(vec_dot(h->face_normal + 3 * face, x->d)) < along_sine * x->length)
        part_along_face(h, x, face, rim_slack * shortest, part);
    for (int k = 0; m->edge >= 0 && k < h->edge_count; k++) { /* at a vertex any of its edges may be meant */
        double other[2];
        const int *ends = h->edge_vertex[k];
        if (k != m->edge && (m->vertex < 0 || (ends[0] != m->vertex && ends[1] != m->vertex))) continue;
        part_along_edge(h, x, k, other);
        if (other[1] - other[0] > part[1] - part[0]) part[0] = other[0], part[1] = other[1];
    }
    return (part[1] - part[0]) * x->length > shortest;
}

/* An end as deep as the meeting takes its normal: n depends on where they meet much more than the gap does.
 */
static void lean_on(const meeting *m, foot *f) {
    double d[3];
    vec_sub(d, f->p, f->at);
    vec_copy(f->out, m->foot.out);
    f->height = vec_dot(d, f->out);
}

static void add_meeting(const meeting *m, double radius, const dls_placed *hull, double margin, bool two,
                        dls_manifold *manifold) {
    int feature = two || (m->s > 0 && m->s < 1) ? BETWEEN : m->s > 0 ? HIGH_END : LOW_END;
    add_foot(&m->foot, radius, hull, margin, (uint64_t)feature, manifold);
}

void dls_collide_capsule_hull(const dls_placed *a, const dls_placed *b, double margin,
                              dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                              dls_manifold *manifold) {
    if (is_far(a, b, margin)) return;
    if (!(a->shape->length > 0)) {
        dls_collide_sphere_hull(a, b, margin, memory, last, last_count, manifold);
        return;
    }
    const dls_hull *h = b->shape->hull;
    double radius = a->shape->radius, reach = radius + margin, height, part[2];
    axis x = {.length = a->shape->length};
    to_local(b, a->x, x.p);
    vec_scale(x.d, x.length, a->R + 6);
    mat_apply_transposed(x.d, b->R, x.d);
    vec_along(x.p, x.p, -0.5, x.d);
    int widest = 0;
    meeting m;
    if (!widest_face(h, &x, reach, &widest, &height)) return;
    bool inside = height <= touching * h->size && enters(h, &x);
    if (!inside) meet_apart(h, &x, widest, &m);
    if (inside || m.foot.height <= touching * h->size) meet_inside(h, &x, widest, height, &m);
    if (m.foot.height > reach) return;

    double shortest = short_overlap * radius * (memory->used ? 0.5 : 1), shallow = INFINITY;
    double level = deeper_between * (radius + h->size);
    bool two = find_part(h, &x, &m, shortest, part);
    memory->used = two;
    for (int k = 0; two && k < 2; k++) {
        foot f;
        vec_along(f.p, x.p, part[k], x.d);
        if (!m.apart)
            foot_on_face(h, m.face, height_over(h, m.face, f.p), &f);
        else if (!find_foot(h, reach, &f))
            continue;
        shallow = fmin(shallow, f.height);
        if (f.height - m.foot.height <= level) lean_on(&m, &f);
        add_foot(&f, radius, b, margin, k ? HIGH_END : LOW_END, manifold);
    }
    if (!two || (m.apart && shallow - m.foot.height > level))
        add_meeting(&m, radius, b, margin, two, manifold);
}
