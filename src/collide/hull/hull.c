/* Boxes and convex polyhedra: with each other, on half-spaces, inside of cylinders and boxes.
 *
 * Two polyhedra are apart along the best of all axes: normals of faces, and of edges that can meet. The least
 * distance is on that axis where the features that make it face each other, and else between closest points.
 * Near ties are decided by a fixed order and by memory, so that a resting pair keeps its contacts. */
#include "base/vector.h"
#include "collide/collide.h"
#include "collide/hull/pair.h"

#include <math.h>

static const double tie = 5e-8;      /* of size: axes that close count as equally good */
static const double attained = 1e-7; /* of size: a face whose least gap is that near to the best gap has it */
static const double reach = 1e-6;    /* of size: by which edges may miss each other and still touch */
static const double along_side = 1e-2; /* sin² of two edges below which they run side by side */

/* One call of the pair function. */
typedef struct touch {
    dls_hull_pair pair;
    double margin, best; /* best: the widest gap over all axes, a lower bound of the distance */
    dls_hull_axis axis[3];
    dls_pair_memory *memory;
    const dls_contact_point *last;
    int last_count;
    dls_manifold *manifold;
    const dls_clip *clip; /* at hand */
    double normal[3];     /* of its reference face, from A to B, world */
    int edge[2];          /* of A and B, on which they touch; −1: none */
} touch;

static uint64_t make_id(int kind, int first, int second) {
    return (uint64_t)kind << 62 | (uint64_t)(first & 0x3FFFF) << 44 |
           (uint64_t)(second & 0x3FFFF) << DLS_CLIP_ID_BITS;
}

static void remember(touch *t, int kind, int first, int second, const double *normal) {
    dls_pair_memory *m = t->memory;
    m->used = 1;
    m->feature[0] = kind;
    m->feature[1] = first;
    m->feature[2] = second;
    vec_copy(m->n, normal);
}

static bool remembers(const touch *t, int kind) { return t->memory->used && t->memory->feature[0] == kind; }

/* ---- corners of the common area of two faces ---- */

static int edge_of(const dls_hull *hull, int face, int k) {
    return hull->face_edge[hull->face_start[face] + k];
}

/* The edges of A and B that cross in a corner of the common area. */
static void crossing_edges(const touch *t, const dls_clip_point *p, int *edge) {
    int side = t->clip->reference;
    edge[side] = edge_of(t->pair.hull[side], t->clip->face, p->j);
    edge[1 - side] = edge_of(t->pair.hull[1 - side], t->clip->incident, p->i);
}

/* An edge that leaves a face over its side and sinks behind it touches that side as edge on edge: its own
 * normal tells how the gap changes when the bodies slide, the face's does not. False where the face's does:
 * the edge rises or runs along the side. */
static bool add_crossing(touch *t, const dls_clip_point *p) {
    double on_a[3], on_b[3], n[3];
    int edge[2];
    dls_hull_axis axis;
    crossing_edges(t, p, edge);
    dls_hull_edge_axis(&t->pair, edge[0], edge[1], &axis);
    if (!(axis.sine2 > along_side) || axis.gap < t->best - tie * t->pair.size || axis.gap > t->margin ||
        !dls_hull_edge_points(&t->pair, edge[0], edge[1], reach * t->pair.size, on_a, on_b))
        return false;
    dls_hull_pair_contact(&t->pair, on_a, on_b, axis.n, n);
    dls_manifold_add(t->manifold, on_a, on_b, n, axis.gap, p->id);
    return true;
}

static void add_clipped(void *user, const dls_clip_point *p) {
    touch *t = user;
    bool flip = t->clip->reference == 1;
    if (p->gap > t->margin || (p->kind == DLS_CLIP_EDGE && add_crossing(t, p))) return;
    dls_manifold_add(t->manifold, flip ? p->on_incident : p->on_reference,
                     flip ? p->on_reference : p->on_incident, t->normal, p->gap, p->id);
}

/* Hands the corners of a pair of faces to emit; the least gap among them. n: from A to B, in A's frame. */
static double clip_faces(touch *t, int side, int face, int incident, const double *n,
                         void (*emit)(void *user, const dls_clip_point *point)) {
    dls_clip clip = {.reference = side,
                     .face = face,
                     .incident = incident,
                     .id = make_id(side, face, incident),
                     .last = t->last,
                     .last_count = t->last_count,
                     .emit = emit,
                     .user = t};
    int start = t->manifold->count;
    t->clip = &clip;
    dls_hull_pair_direction(&t->pair, n, t->normal);
    double least = dls_hull_clip(&t->pair, &clip);
    if (emit == add_clipped && least <= t->best + 2 * attained * t->pair.size)
        dls_hull_settle_border(&t->pair, &clip, start, t->manifold);
    return least;
}

/* ---- a face of one against the other ---- */

/* Whether the face holds the least distance: then its contacts stay in the manifold, else none does. The
 * remembered incident face goes first. */
static bool try_face(touch *t, int side, int face, const double *n, double slack) {
    int start = t->manifold->count, cached = -1;
    if (remembers(t, side) && t->memory->feature[1] == face) cached = t->memory->feature[2];
    int incident = dls_hull_incident(&t->pair, side, face, cached);
    for (int attempt = 0; attempt < 2; attempt++) {
        if (clip_faces(t, side, face, incident, n, add_clipped) <= t->best + slack * t->pair.size) {
            remember(t, side, face, incident, t->normal);
            return true;
        }
        t->manifold->count = start;
        int fresh = dls_hull_incident(&t->pair, side, face, -1);
        if (fresh == incident) break;
        incident = fresh;
    }
    return false;
}

static bool try_best_face(touch *t, int side) {
    return t->axis[side].gap >= t->best - tie * t->pair.size &&
           try_face(t, side, t->axis[side].first, t->axis[side].n, attained);
}

/* The face of the step before, while it is nearly as good. */
static bool try_old_face(touch *t) {
    int side = t->memory->feature[0], face = t->memory->feature[1];
    if (!t->memory->used || side < 0 || side > DLS_TOUCH_FACE_B || face < 0 ||
        face >= t->pair.hull[side]->face_count)
        return false;
    double n[3];
    return dls_hull_face_gap(&t->pair, side, face, n) >= t->best - 2 * tie * t->pair.size &&
           try_face(t, side, face, n, 2 * attained);
}

/* ---- what may touch before the next step ----
 * Where edges or corners are nearest, a face just behind them is not held by that contact alone: a turn
 * within the step would drop a vertex through it. */

/* Nothing that lies deeper than what touches: of that the best axis knows the shorter way out. */
static void add_vertex(void *user, const dls_clip_point *p) {
    const touch *t = user;
    if (p->kind == DLS_CLIP_VERTEX && p->gap >= t->best) add_clipped(user, p);
}

static void add_over(void *user, const dls_clip_point *p) {
    const touch *t = user;
    int edge[2];
    if (p->gap < t->best) return;
    if (p->kind == DLS_CLIP_EDGE) {
        crossing_edges(t, p, edge);
        if (edge[0] == t->edge[0] && edge[1] == t->edge[1]) return;
    }
    add_clipped(user, p);
}

/* The best face with the vertices and edges over it, then its vertices over the face that it meets. */
static void add_behind(touch *t, int edge_a, int edge_b) {
    int side = t->axis[1].gap > t->axis[0].gap, face = t->axis[side].first;
    int incident = dls_hull_incident(&t->pair, side, face, -1);
    double n[3];
    t->edge[0] = edge_a, t->edge[1] = edge_b;
    clip_faces(t, side, face, incident, t->axis[side].n, add_over);
    dls_hull_face_gap(&t->pair, 1 - side, incident, n);
    clip_faces(t, 1 - side, incident, face, n, add_vertex);
}

/* ---- edge on edge ---- */

static bool try_edges(touch *t, const dls_hull_axis *axis, double slack) {
    double on_a[3], on_b[3], n[3];
    if (axis->gap < t->best - slack * t->pair.size) return false;
    if (!dls_hull_edge_points(&t->pair, axis->first, axis->second, reach * t->pair.size, on_a, on_b))
        return false;
    dls_hull_pair_contact(&t->pair, on_a, on_b, axis->n, n);
    if (axis->gap <= t->margin)
        dls_manifold_add(t->manifold, on_a, on_b, n, axis->gap,
                         make_id(DLS_TOUCH_EDGES, axis->first, axis->second));
    remember(t, DLS_TOUCH_EDGES, axis->first, axis->second, n);
    add_behind(t, axis->first, axis->second);
    return true;
}

static bool try_old_edges(touch *t) {
    int first = t->memory->feature[1], second = t->memory->feature[2];
    if (!remembers(t, DLS_TOUCH_EDGES) || first < 0 || first >= t->pair.hull[0]->edge_count || second < 0 ||
        second >= t->pair.hull[1]->edge_count)
        return false;
    dls_hull_axis axis;
    dls_hull_edge_axis(&t->pair, first, second, &axis);
    return try_edges(t, &axis, 2 * tie);
}

/* ---- what is left ---- */

static void add_closest(touch *t, const double *start) {
    dls_hull_closest c;
    double n[3];
    dls_hull_find_closest(&t->pair, start, &c);
    dls_hull_pair_direction(&t->pair, c.n, n);
    int kind = c.distance > t->margin ? DLS_TOUCH_NONE : DLS_TOUCH_CLOSEST;
    remember(t, kind, 0, 0, n);
    if (kind == DLS_TOUCH_NONE) return;
    uint64_t id = (uint64_t)DLS_TOUCH_CLOSEST << 62 | (uint64_t)(c.vertex_a[0] & 0x3FFF) << 46 |
                  (uint64_t)(c.vertex_a[1] & 0x3FFF) << 32 | (uint64_t)(c.vertex_b[0] & 0x3FFF) << 18 |
                  (uint64_t)(c.vertex_b[1] & 0x3FFF) << 4;
    for (int k = 0; k < c.count; k++) {
        double a[3], b[3];
        dls_hull_pair_point(&t->pair, c.on_a[k], a);
        dls_hull_pair_point(&t->pair, c.on_b[k], b);
        dls_manifold_add(t->manifold, a, b, n, c.distance, id | (uint64_t)k);
    }
    add_behind(t, -1, -1);
}

/* Overlap that rounding hides from all features: the deepest vertex of B along the best axis. */
static void add_deepest(touch *t, const dls_hull_axis *axis) {
    double down[3], b[3], a[3], n[3];
    mat_apply_transposed(down, t->pair.R, axis->n);
    vec_scale(down, -1, down);
    int v = dls_hull_support(t->pair.hull[1], down);
    mat_apply(b, t->pair.R, t->pair.hull[1]->vertex + 3 * v);
    vec_add(b, b, t->pair.x);
    vec_along(a, b, -axis->gap, axis->n);
    dls_hull_pair_contact(&t->pair, a, b, axis->n, n);
    dls_manifold_add(t->manifold, a, b, n, axis->gap,
                     dls_clip_id(make_id(DLS_TOUCH_CLOSEST, v, 0), DLS_CLIP_LONE, 0, 0));
    remember(t, DLS_TOUCH_CLOSEST, 0, 0, n);
}

static void add_contacts(touch *t) {
    if (try_old_face(t)) return;
    if (try_best_face(t, 0) || try_best_face(t, 1)) return;
    if (try_old_edges(t) || try_edges(t, &t->axis[2], tie)) return;
    const dls_hull_axis *best = &t->axis[0];
    for (int k = 1; k < 3; k++)
        if (t->axis[k].gap > best->gap) best = &t->axis[k];
    if (t->best > 0)
        add_closest(t, best->n);
    else
        add_deepest(t, best);
}

/* True when an axis shows more than the margin; it is kept for the next step, which asks it first. */
static bool apart(touch *t) {
    double n[3];
    if (remembers(t, DLS_TOUCH_NONE)) {
        mat_apply_transposed(n, t->pair.frame_R[0], t->memory->n);
        if (dls_hull_pair_gap(&t->pair, n) > t->margin) return true;
    }
    t->best = -INFINITY;
    for (int k = 0; k < 3; k++) {
        if (k < 2)
            dls_hull_best_face(&t->pair, k, t->margin, &t->axis[k]);
        else
            dls_hull_best_edges(&t->pair, t->margin, &t->axis[k]);
        t->best = fmax(t->best, t->axis[k].gap);
        if (t->best > t->margin) {
            dls_hull_pair_direction(&t->pair, t->axis[k].n, n);
            remember(t, DLS_TOUCH_NONE, 0, 0, n);
            return true;
        }
    }
    return false;
}

static void collide_hulls(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                          const dls_contact_point *last, int last_count, dls_manifold *manifold) {
    double far = a->shape->bound + b->shape->bound + margin;
    if (vec_distance(a->x, b->x) > far) return;
    touch t = {
        .margin = margin, .memory = memory, .last = last, .last_count = last_count, .manifold = manifold};
    dls_hull_pair_begin(&t.pair, a, a->shape->hull, b, b->shape->hull);
    if (!apart(&t)) add_contacts(&t);
}

/* ---- obstacles that only vertices can touch ---- */

static void vertex_place(const dls_placed *a, int v, double *p) {
    mat_apply(p, a->R, a->shape->hull->vertex + 3 * v);
    vec_add(p, p, a->x);
}

/* Contact of point p with a wall gap ahead in direction n. */
static void add_wall(const double *p, const double *n, double gap, uint64_t feature, dls_manifold *manifold) {
    double wall[3];
    vec_along(wall, p, gap, n);
    dls_manifold_add(manifold, p, wall, n, gap, feature);
}

/* gap = z · (p − x) */
static void collide_half_space(const dls_placed *a, const dls_placed *b, double margin,
                               dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                               dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    const double *up = b->R + 6;
    double down[3], d[3];
    vec_sub(d, a->x, b->x);
    if (vec_dot(up, d) > a->shape->bound + margin) return;
    vec_scale(down, -1, up);
    for (int v = 0; v < a->shape->hull->vertex_count; v++) {
        double p[3];
        vertex_place(a, v, p);
        vec_sub(d, p, b->x);
        double gap = vec_dot(up, d);
        if (gap <= margin) add_wall(p, down, gap, (uint64_t)v, manifold);
    }
}

/* gap = half − |q_i| towards each of the six walls */
static void collide_box_inside(const dls_placed *a, const dls_placed *b, double margin,
                               dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                               dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    const double *half = b->shape->size;
    double p[3], d[3], q[3], far = a->shape->bound + margin;
    vec_sub(d, a->x, b->x);
    mat_apply_transposed(q, b->R, d);
    if (fabs(q[0]) + far < half[0] && fabs(q[1]) + far < half[1] && fabs(q[2]) + far < half[2]) return;
    for (int v = 0; v < a->shape->hull->vertex_count; v++) {
        vertex_place(a, v, p);
        vec_sub(d, p, b->x);
        mat_apply_transposed(q, b->R, d);
        for (int wall = 0; wall < 6; wall++) {
            int i = wall / 2;
            double sign = wall % 2 ? -1 : 1, gap = half[i] - sign * q[i], n[3];
            if (gap > margin) continue;
            vec_scale(n, sign, b->R + 3 * i);
            add_wall(p, n, gap, 6 * (uint64_t)v + (uint64_t)wall, manifold);
        }
    }
}

/* gap = R − ρ to the wall, l/2 ∓ z to the ends. Of a convex body in a convex hollow a vertex comes first. */
static void collide_cylinder_inside(const dls_placed *a, const dls_placed *b, double margin,
                                    dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                                    dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    const dls_shape *tube = b->shape;
    double p[3], d[3], q[3], far = a->shape->bound + margin;
    vec_sub(d, a->x, b->x);
    mat_apply_transposed(q, b->R, d);
    if (hypot(q[0], q[1]) + far < tube->radius &&
        (!(tube->length > 0) || fabs(q[2]) + far < tube->length / 2))
        return;
    for (int v = 0; v < a->shape->hull->vertex_count; v++) {
        vertex_place(a, v, p);
        vec_sub(d, p, b->x);
        mat_apply_transposed(q, b->R, d);
        double rho = hypot(q[0], q[1]), gap = tube->radius - rho;
        if (gap <= margin) {
            double n[3] = {1, 0, 0};
            if (rho > 0) vec_set(n, q[0] / rho, q[1] / rho, 0);
            mat_apply(n, b->R, n);
            add_wall(p, n, gap, 3 * (uint64_t)v, manifold);
        }
        for (int end = 0; end < 2 && tube->length > 0; end++) {
            double sign = end ? -1 : 1, n[3];
            gap = tube->length / 2 - sign * q[2];
            if (gap > margin) continue;
            vec_scale(n, sign, b->R + 6);
            add_wall(p, n, gap, 3 * (uint64_t)v + 1 + (uint64_t)end, manifold);
        }
    }
}

#define HULL_METHOD                                                                                          \
    "separating axes with arcs of normals; whole clipped faces; edge on edge or closest points, and the "    \
    "face behind them"
#define WALL_METHOD "every vertex against every wall"

/* Two hulls are not exact: near ties the face that is kept has its own normal, and its gap may be 1e-7 of the
 * size wide of the distance. */
static const dls_pair_kind rows[] = {
    {DLS_BOX, DLS_BOX, collide_hulls, false, true, HULL_METHOD},
    {DLS_BOX, DLS_POLYHEDRON, collide_hulls, false, true, HULL_METHOD},
    {DLS_POLYHEDRON, DLS_POLYHEDRON, collide_hulls, false, true, HULL_METHOD},
    {DLS_BOX, DLS_HALF_SPACE, collide_half_space, true, false, "every vertex against the plane"},
    {DLS_POLYHEDRON, DLS_HALF_SPACE, collide_half_space, true, false, "every vertex against the plane"},
    {DLS_BOX, DLS_CYLINDER_INSIDE, collide_cylinder_inside, true, false, WALL_METHOD},
    {DLS_POLYHEDRON, DLS_CYLINDER_INSIDE, collide_cylinder_inside, true, false, WALL_METHOD},
    {DLS_BOX, DLS_BOX_INSIDE, collide_box_inside, true, false, WALL_METHOD},
    {DLS_POLYHEDRON, DLS_BOX_INSIDE, collide_box_inside, true, false, WALL_METHOD},
};

const dls_pair_family dls_pairs_hull = {rows, sizeof rows / sizeof *rows};
