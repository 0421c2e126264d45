/* Boxes and polyhedra on a mesh, triangle by triangle: each is a flat hull of its own, but only directions
 * count that its neighbours allow. Its own normal always does; a face or an edge of the body only within the
 * normal cone of the vertex or edge of the mesh that it would touch. So the inner edges of a surface never
 * catch. */
#include "base/vector.h"
#include "collide/hull/pair.h"
#include "collide/mesh/mesh.h"
#include "collide/mesh/query.h"

#include <math.h>

static const double tie = 1e-3;        /* of size: directions that close count as equally good */
static const double attained = 1e-7;   /* of size: contacts that near to the best gap show the distance */
static const double level = 1e-6;      /* of size: corners of a triangle at one height, places that are one */
static const double along_side = 1e-2; /* sin² of two edges below which they run side by side */

/* One triangle as a hull with a front and a back. */
typedef struct facet {
    dls_hull hull;
    double vertex[9], normal[6], offset[2];
    int face_vertex[6], face_edge[6], face_start[3], vertex_start[4], vertex_face[6];
    int edge_vertex[3][2], edge_face[3][2];
} facet;

/* One call of the pair function. */
typedef struct mesh_touch {
    dls_hull_pair pair;
    facet facet;
    const dls_mesh *mesh;
    double margin;
    const dls_contact_point *last;
    int last_count, start;
    dls_manifold *manifold;
    int element;
    const dls_clip *clip;                /* at hand */
    double normal[3];                    /* of its reference face, from the body to the mesh, world */
    double best;                         /* the widest gap over all directions that are allowed */
    int edge[2];                         /* of the body and the triangle, on which they touch; −1: none */
    double edge_start[9], edge_along[9]; /* of the triangle, in the body's frame */
    bool count_only;                     /* contacts are counted, not added */
    int counted;
} mesh_touch;

static void facet_begin(facet *f) {
    static const int face_vertex[6] = {0, 1, 2, 0, 2, 1}, face_edge[6] = {0, 1, 2, 2, 1, 0};
    f->hull = (dls_hull){.vertex_count = 3, .face_count = 2, .edge_count = 3};
    for (int k = 0; k < 6; k++) {
        f->face_vertex[k] = face_vertex[k];
        f->face_edge[k] = face_edge[k];
        f->vertex_face[k] = k % 2;
    }
    for (int k = 0; k < 3; k++) {
        f->face_start[k] = 3 * k;
        f->edge_vertex[k][0] = k;
        f->edge_vertex[k][1] = (k + 1) % 3;
        f->edge_face[k][0] = 0;
        f->edge_face[k][1] = 1;
    }
    for (int k = 0; k < 4; k++) f->vertex_start[k] = 2 * k;
    f->hull.vertex = f->vertex;
    f->hull.face_normal = f->normal;
    f->hull.face_offset = f->offset;
    f->hull.face_start = f->face_start;
    f->hull.face_vertex = f->face_vertex;
    f->hull.face_edge = f->face_edge;
    f->hull.edge_vertex = f->edge_vertex;
    f->hull.edge_face = f->edge_face;
    f->hull.vertex_start = f->vertex_start;
    f->hull.vertex_face = f->vertex_face;
}

static void facet_set(mesh_touch *t, int element) {
    facet *f = &t->facet;
    double longest = 0;
    for (int k = 0; k < 3; k++) {
        const double *a = dls_mesh_corner(t->mesh, element, k);
        vec_copy(f->vertex + 3 * k, a);
        longest = fmax(longest, vec_distance(a, dls_mesh_corner(t->mesh, element, (k + 1) % 3)));
    }
    vec_copy(f->normal, t->mesh->normal + 3 * element);
    vec_scale(f->normal + 3, -1, f->normal);
    f->offset[0] = vec_dot(f->normal, f->vertex);
    f->offset[1] = -f->offset[0];
    f->hull.size = longest;
    t->pair.size = fmin(t->pair.hull[0]->size, longest);
    t->element = element;
}

/* ---- directions that the neighbours allow ---- */

/* The feature of the triangle that lies lowest along n: the one that a body behind n would touch. */
static int lowest_feature(const mesh_touch *t, const double *n) {
    double height[3], low = INFINITY;
    int count = 0, single = 0, other = 0;
    for (int k = 0; k < 3; k++) {
        height[k] = vec_dot(n, t->facet.vertex + 3 * k);
        low = fmin(low, height[k]);
    }
    for (int k = 0; k < 3; k++) {
        bool in = height[k] <= low + level * t->pair.size;
        count += in;
        if (in)
            single = k;
        else
            other = k;
    }
    if (count == 3) return DLS_TRIANGLE_FACE;
    return count == 2 ? DLS_TRIANGLE_EDGE + (other + 1) % 3 : single;
}

/* n: from the body to the mesh, in the body's frame. */
static bool allowed(const mesh_touch *t, const double *n) {
    double local[3], out[3];
    mat_apply_transposed(local, t->pair.R, n);
    vec_scale(out, -1, local);
    int feature = lowest_feature(t, local);
    if (feature == DLS_TRIANGLE_FACE) return vec_dot(out, t->facet.normal) > 0;
    return dls_mesh_is_minimum(t->mesh, t->element, feature, out);
}

/* Faces of the body: false when one of them, allowed or not, shows more than the margin. */
static bool scan_faces(const mesh_touch *t, dls_hull_axis *axis) {
    axis->gap = -INFINITY;
    for (int f = 0; f < t->pair.hull[0]->face_count; f++) {
        double n[3], gap = dls_hull_face_gap(&t->pair, 0, f, n);
        if (gap > t->margin) return false;
        if (!(gap > axis->gap) || !allowed(t, n)) continue;
        *axis = (dls_hull_axis){.gap = gap, .n = {n[0], n[1], n[2]}, .first = f};
    }
    return true;
}

/* Starts and directions of the triangle's edges in the body's frame. */
static void place_edges(mesh_touch *t) {
    for (int k = 0; k < 3; k++) {
        double *s = t->edge_start + 3 * k, *e = t->edge_along + 3 * k;
        vec_sub(e, t->facet.vertex + 3 * ((k + 1) % 3), t->facet.vertex + 3 * k);
        mat_apply(e, t->pair.R, e);
        mat_apply(s, t->pair.R, t->facet.vertex + 3 * k);
        vec_add(s, s, t->pair.x);
    }
}

/* Edge i of the body on edge k of the triangle; gap = −INFINITY where they cannot touch, or have no wider
 * gap than least. */
static void edge_axis(const mesh_touch *t, int i, int k, double least, dls_hull_axis *axis) {
    const dls_hull *hull = t->pair.hull[0];
    const double *n1 = hull->face_normal + 3 * hull->edge_face[i][0],
                 *n2 = hull->face_normal + 3 * hull->edge_face[i][1];
    const double *from = hull->vertex + 3 * hull->edge_vertex[i][0], *s = t->edge_start + 3 * k,
                 *e = t->edge_along + 3 * k;
    double u[3], n[3], d[3], out[3];
    axis->gap = -INFINITY;
    if (!(vec_dot(n1, e) * vec_dot(n2, e) < 0)) return;
    vec_sub(u, hull->vertex + 3 * hull->edge_vertex[i][1], from);
    vec_cross(n, u, e);
    double n2n = vec_dot(n, n), sine2 = n2n / (vec_dot(u, u) * vec_dot(e, e));
    if (!(sine2 > 1e-12)) return;
    vec_scale(n, (vec_dot(n, n1) + vec_dot(n, n2) > 0 ? 1 : -1) / sqrt(n2n), n);
    vec_sub(d, s, from);
    double gap = vec_dot(n, d);
    if (!(gap > least)) return;
    mat_apply_transposed(out, t->pair.R, n);
    vec_scale(out, -1, out);
    if (!dls_mesh_is_minimum(t->mesh, t->element, DLS_TRIANGLE_EDGE + k, out)) return;
    *axis = (dls_hull_axis){.gap = gap, .n = {n[0], n[1], n[2]}, .first = i, .second = k, .sine2 = sine2};
}

static bool scan_edges(const mesh_touch *t, dls_hull_axis *axis) {
    axis->gap = -INFINITY;
    for (int k = 0; k < 3; k++) {
        if (!dls_mesh_edge_is_sharp(t->mesh, t->element, k)) continue;
        for (int i = 0; i < t->pair.hull[0]->edge_count; i++) {
            dls_hull_axis other;
            edge_axis(t, i, k, axis->gap, &other);
            if (other.gap > axis->gap) *axis = other;
        }
    }
    return !(axis->gap > t->margin);
}

/* ---- contacts ---- */

enum { ELEMENT_SHIFT = 38, ELEMENT_MASK = 0xFFFFFF };

static uint64_t make_id(int kind, int element, int feature) {
    return (uint64_t)kind << 62 | (uint64_t)(element & ELEMENT_MASK) << ELEMENT_SHIFT |
           (uint64_t)(feature & 0xFFF) << DLS_CLIP_ID_BITS;
}

/* Two triangles that share what touches give one contact. */
static void add(mesh_touch *t, const double *a, const double *b, const double *normal, double gap,
                uint64_t id) {
    t->counted++;
    if (t->count_only || gap > t->margin) return;
    for (int k = t->start; k < t->manifold->count; k++) {
        const dls_contact_point *c = &t->manifold->point[k];
        if (vec_distance(c->point_a, a) <= 4 * level * t->pair.size && vec_dot(c->normal, normal) > 1 - 1e-6)
            return;
    }
    dls_manifold_add(t->manifold, a, b, normal, gap, id);
}

/* On flat ground what touches a feature rests on the faces around, which have it already. */
static bool sharp(const mesh_touch *t, int feature) {
    if (feature == DLS_TRIANGLE_FACE) return false;
    if (feature >= DLS_TRIANGLE_EDGE)
        return dls_mesh_edge_is_sharp(t->mesh, t->element, feature - DLS_TRIANGLE_EDGE);
    return dls_mesh_vertex_is_sharp(t->mesh, t->mesh->element[3 * t->element + feature]);
}

/* The triangle is the reference: the body's vertices count, and what stands out of the triangle. */
static bool stands_out(const mesh_touch *t, const dls_clip_point *p) {
    if (p->kind == DLS_CLIP_VERTEX) return true;
    if (p->kind == DLS_CLIP_EDGE) return dls_mesh_edge_is_sharp(t->mesh, t->element, p->j);
    return (dls_mesh_edge_is_sharp(t->mesh, t->element, p->i) ||
            dls_mesh_edge_is_sharp(t->mesh, t->element, (p->i + 2) % 3)) &&
           dls_mesh_is_minimum(t->mesh, t->element, p->i, t->facet.normal);
}

/* The triangle is cut by a face of the body: points on it count where the direction is in their cone, and
 * vertices that stand out wherever they do: it takes but a small turn to lay the face on them. */
static bool in_cone(const mesh_touch *t, const dls_clip_point *p) {
    double out[3];
    mat_apply_transposed(out, t->pair.frame_R[1], t->normal);
    vec_scale(out, -1, out);
    if (p->kind == DLS_CLIP_CORNER) return vec_dot(out, t->facet.normal) > 1 - 1e-9;
    if (p->kind == DLS_CLIP_VERTEX && sharp(t, p->i)) return true;
    int feature = p->kind == DLS_CLIP_EDGE ? DLS_TRIANGLE_EDGE + p->i : p->i;
    return dls_mesh_is_minimum(t->mesh, t->element, feature, out);
}

/* The edges of body and triangle that cross in a corner of the common area. */
static void crossing_edges(const mesh_touch *t, const dls_clip_point *p, int *edge) {
    const dls_hull *hull = t->pair.hull[0];
    bool flip = t->clip->reference == 1;
    int face = flip ? t->clip->incident : t->clip->face;
    edge[0] = hull->face_edge[hull->face_start[face] + (flip ? p->i : p->j)];
    edge[1] = flip ? p->j : p->i;
}

/* An edge that leaves a face over its side and sinks behind it touches that side as edge on edge, with a
 * normal of its own. False where the face's normal serves: the edge rises or runs along the side. */
static bool add_crossing(mesh_touch *t, const dls_clip_point *p) {
    double on_a[3], on_b[3], normal[3];
    int edge[2];
    dls_hull_axis axis;
    crossing_edges(t, p, edge);
    if (!dls_mesh_edge_is_sharp(t->mesh, t->element, edge[1])) return false;
    edge_axis(t, edge[0], edge[1], t->best - tie * t->pair.size, &axis);
    if (!(axis.gap >= t->best - tie * t->pair.size) || !(axis.sine2 > along_side) || axis.gap > t->margin ||
        !dls_hull_edge_points(&t->pair, edge[0], edge[1], level * t->pair.size, on_a, on_b))
        return false;
    dls_hull_pair_contact(&t->pair, on_a, on_b, axis.n, normal);
    add(t, on_a, on_b, normal, axis.gap, p->id);
    return true;
}

static void add_clipped(void *user, const dls_clip_point *p) {
    mesh_touch *t = user;
    bool flip = t->clip->reference == 1;
    if (!(flip ? stands_out(t, p) : in_cone(t, p))) return;
    if (p->kind == DLS_CLIP_EDGE && add_crossing(t, p)) return;
    add(t, flip ? p->on_incident : p->on_reference, flip ? p->on_reference : p->on_incident, t->normal,
        p->gap, p->id);
}

/* The body's face that lay on this triangle in the step before, −1 for none. */
static int old_incident(const mesh_touch *t) {
    uint64_t mask = ~(((uint64_t)1 << ELEMENT_SHIFT) - 1), id = make_id(DLS_TOUCH_FACE_B, t->element, 0);
    for (int k = 0; k < t->last_count; k++)
        if ((t->last[k].feature & mask) == id) return (int)(t->last[k].feature >> DLS_CLIP_ID_BITS & 0xFFF);
    return -1;
}

/* Hands the corners of a face of the body and the triangle to emit, which is the reference where side is 1;
 * the least gap among them. */
static double clip_faces(mesh_touch *t, int side, int face, const double *n,
                         void (*emit)(void *user, const dls_clip_point *point)) {
    dls_clip clip = {.reference = side,
                     .face = side ? 0 : face,
                     .incident = side ? face : 0,
                     .id = make_id(side, t->element, face),
                     .last = t->last,
                     .last_count = t->last_count,
                     .emit = emit,
                     .user = t};
    t->clip = &clip;
    dls_hull_pair_direction(&t->pair, n, t->normal);
    return dls_hull_clip(&t->pair, &clip);
}

static double clip_front(mesh_touch *t, const dls_hull_axis *front) {
    return clip_faces(t, 1, dls_hull_incident(&t->pair, 1, 0, old_incident(t)), front->n, add_clipped);
}

/* ---- what may touch before the next step ----
 * Where edges or corners are nearest, a face just behind them is not held by that contact alone: a turn
 * within the step would drop a vertex through it. */

/* Nothing that lies deeper than what touches: of that the best direction knows the shorter way out. */
static void add_vertex(void *user, const dls_clip_point *p) {
    const mesh_touch *t = user;
    if (p->kind == DLS_CLIP_VERTEX && p->gap >= t->best) add_clipped(user, p);
}

static void add_over(void *user, const dls_clip_point *p) {
    const mesh_touch *t = user;
    int edge[2];
    add_vertex(user, p);
    if (p->kind != DLS_CLIP_EDGE || p->gap < t->best) return;
    crossing_edges(t, p, edge);
    if (edge[0] != t->edge[0] || edge[1] != t->edge[1]) add_clipped(user, p);
}

/* The body's best face with the vertices and edges of the triangle over it, or the triangle with the edges of
 * the body and the face that it meets. The vertices of the body follow for all kinds of touch. */
static void add_behind(mesh_touch *t, const dls_hull_axis *front, const dls_hull_axis *faces) {
    double n[3];
    if (faces->gap >= front->gap) {
        clip_faces(t, 0, faces->first, faces->n, add_over);
        return;
    }
    int face = dls_hull_incident(&t->pair, 1, 0, -1);
    clip_faces(t, 1, face, front->n, add_over);
    dls_hull_face_gap(&t->pair, 0, face, n);
    clip_faces(t, 0, face, n, add_vertex);
}

static double touch_edges(mesh_touch *t, const dls_hull_axis *axis) {
    double on_a[3], on_b[3], normal[3];
    if (!dls_hull_edge_points(&t->pair, axis->first, axis->second, level * t->pair.size, on_a, on_b))
        return INFINITY;
    dls_hull_pair_contact(&t->pair, on_a, on_b, axis->n, normal);
    add(t, on_a, on_b, normal, axis->gap,
        dls_clip_id(make_id(DLS_TOUCH_EDGES, t->element, axis->first), DLS_CLIP_LONE, axis->second,
                    axis->first >> 12));
    t->edge[0] = axis->first, t->edge[1] = axis->second;
    return axis->gap;
}

/* Apart, and no face or edge shows the distance: the closest points, where the neighbours allow them. */
static void add_closest(mesh_touch *t, const double *start, int before) {
    dls_hull_closest c;
    dls_hull_find_closest(&t->pair, start, &c);
    if (c.distance > t->margin) return;
    double local[3], normal[3];
    mat_apply_transposed(local, t->pair.R, c.n);
    if (!sharp(t, lowest_feature(t, local)) || !allowed(t, c.n)) return;
    t->manifold->count = before;
    dls_hull_pair_direction(&t->pair, c.n, normal);
    for (int k = 0; k < c.count; k++) {
        double a[3], b[3];
        dls_hull_pair_point(&t->pair, c.on_a[k], a);
        dls_hull_pair_point(&t->pair, c.on_b[k], b);
        add(t, a, b, normal, c.distance,
            dls_clip_id(make_id(DLS_TOUCH_CLOSEST, t->element, c.vertex_a[0]), k,
                        4 * c.vertex_b[0] + c.vertex_b[1], c.vertex_a[1]));
    }
}

/* All vertices that the triangle holds, not only those of one face: a turn within the step may drop any of
 * them. Beside a valley both faces hold them, so that none slips through the edge between. */
static void add_vertices(mesh_touch *t, const dls_hull_axis *front) {
    const dls_hull *hull = t->pair.hull[0];
    double a[3], b[3], normal[3];
    dls_hull_pair_direction(&t->pair, front->n, normal);
    for (int v = 0; v < hull->vertex_count; v++) {
        double d[3], p[3], foot[3];
        vec_sub(d, hull->vertex + 3 * v, t->pair.x);
        mat_apply_transposed(p, t->pair.R, d);
        double gap = vec_dot(t->facet.normal, p) - t->facet.offset[0];
        if (gap > t->margin || gap < t->best - tie * t->pair.size || !dls_mesh_holds(t->mesh, t->element, p))
            continue;
        vec_along(foot, hull->vertex + 3 * v, gap, front->n);
        dls_hull_pair_point(&t->pair, hull->vertex + 3 * v, a);
        dls_hull_pair_point(&t->pair, foot, b);
        add(t, a, b, normal, gap,
            dls_clip_id(make_id(DLS_TOUCH_CLOSEST, t->element, v), DLS_CLIP_LONE, 0, v >> 12));
    }
}

static void touch_triangle(mesh_touch *t, const dls_hull_axis *front) {
    dls_hull_axis faces, edges;
    place_edges(t);
    if (!scan_faces(t, &faces) || !scan_edges(t, &edges)) return;
    double best = fmax(front->gap, fmax(faces.gap, edges.gap)), size = t->pair.size, least;
    double slack = (old_incident(t) >= 0 ? 2 : 1) * tie * size;
    int before = t->manifold->count;
    bool on_front = front->gap >= best - slack, on_face = faces.gap >= best - tie * size;
    t->best = best;
    t->edge[0] = t->edge[1] = -1;
    if (on_front)
        least = clip_front(t, front);
    else
        least = on_face ? clip_faces(t, 0, faces.first, faces.n, add_clipped) : touch_edges(t, &edges);
    if (best > 0 && least > best + attained * size) add_closest(t, front->n, before);
    if (!on_front && !on_face) add_behind(t, front, &faces);
    add_vertices(t, front);
}

/* ---- overlaps that another one explains ---- */

static int element_of(const dls_contact_point *c) {
    return (int)(c->feature >> ELEMENT_SHIFT & ELEMENT_MASK);
}

/* Least gap among the contacts that share the triangle and the normal of c: the way out along it. */
static double way_out(const mesh_touch *t, const dls_contact_point *c) {
    double least = c->gap;
    for (int k = t->start; k < t->manifold->count; k++) {
        const dls_contact_point *other = &t->manifold->point[k];
        if (vec_dot(other->normal, c->normal) > 1 - 1e-9) least = fmin(least, other->gap);
    }
    return least;
}

/* Whether the way out of another contact, or the room that it has left, is wider and holds for c's triangle
 * as well. */
static bool explained(mesh_touch *t, const dls_contact_point *c) {
    double own = way_out(t, c);
    for (int k = t->start; k < t->manifold->count; k++) {
        const dls_contact_point *other = &t->manifold->point[k];
        if (vec_dot(other->normal, c->normal) > 1 - 1e-6) continue;
        double out = way_out(t, other), n[3];
        if (!(out > own)) continue;
        facet_set(t, element_of(c));
        mat_apply_transposed(n, t->pair.frame_R[0], other->normal);
        double slack = (out > 0 ? attained : tie) * t->pair.hull[0]->size;
        if (dls_hull_pair_gap(&t->pair, n) >= out - slack) return true;
    }
    return false;
}

/* Of a corner deep in the body each triangle asks for its own way out; the shortest that frees all is enough.
 */
static void drop_explained(mesh_touch *t) {
    if (t->mesh->element_count > ELEMENT_MASK) return; /* identities do not tell triangles apart */
    int kept = t->start;
    uint64_t drop[4] = {0};
    int count = t->manifold->count - t->start;
    for (int k = 0; k < count && k < 256; k++) {
        const dls_contact_point *c = &t->manifold->point[t->start + k];
        if (c->gap < 0 && explained(t, c)) drop[k / 64] |= (uint64_t)1 << k % 64;
    }
    for (int k = 0; k < count; k++)
        if (k >= 256 || !(drop[k / 64] >> k % 64 & 1))
            t->manifold->point[kept++] = t->manifold->point[t->start + k];
    t->manifold->count = kept;
}

/* ---- all triangles ---- */

/* Where the body stands to the plane of the triangle: its centre, and its highest point. */
static void heights(const mesh_touch *t, const dls_hull_axis *front, double *centre, double *top) {
    const dls_hull *hull = t->pair.hull[0];
    double up[3];
    vec_scale(up, -1, front->n);
    double plane = vec_dot(up, t->pair.x) + t->facet.offset[0];
    *centre = vec_dot(up, hull->centre) - plane;
    *top = vec_dot(up, hull->vertex + 3 * dls_hull_support(hull, up)) - plane;
}

static void body_box(const mesh_touch *t, double *low, double *high) {
    const dls_hull *hull = t->pair.hull[0];
    vec_set(low, INFINITY, INFINITY, INFINITY);
    vec_set(high, -INFINITY, -INFINITY, -INFINITY);
    for (int v = 0; v < hull->vertex_count; v++) {
        double d[3], p[3];
        vec_sub(d, hull->vertex + 3 * v, t->pair.x);
        mat_apply_transposed(p, t->pair.R, d);
        for (int i = 0; i < 3; i++) {
            low[i] = fmin(low[i], p[i]);
            high[i] = fmax(high[i], p[i]);
        }
    }
    for (int i = 0; i < 3; i++) {
        low[i] -= t->margin;
        high[i] += t->margin;
    }
}

/* Beyond a free border a surface has no back: what is there touches the border from outside. */
static bool is_beyond_border(const mesh_touch *t) {
    double from_mesh[3], centre[3];
    vec_sub(from_mesh, t->pair.hull[0]->centre, t->pair.x);
    mat_apply_transposed(centre, t->pair.R, from_mesh);
    for (int k = 0; k < 3; k++) {
        const double *corner = t->facet.vertex + 3 * k;
        double edge[3], outward[3], d[3];
        if (t->mesh->neighbour[3 * t->element + k] >= 0) continue;
        vec_sub(edge, t->facet.vertex + 3 * ((k + 1) % 3), corner);
        vec_cross(outward, edge, t->facet.normal);
        vec_sub(d, centre, corner);
        if (vec_dot(outward, d) > 0) return true;
    }
    return false;
}

typedef enum pass_kind { FRONT, SEARCH, DEEP } pass_kind;

/* One walk. FRONT: triangles that have the body's centre on their open side or beyond a border. SEARCH: of
 * those that have it behind, the normal with the least way out. DEEP: contacts along that normal. */
static void walk_triangles(mesh_touch *t, const double *low, const double *high, pass_kind pass, double *way,
                           double *gap) {
    dls_mesh_walk walk;
    dls_mesh_walk_begin(&walk, t->mesh, low, high);
    for (int element; (element = dls_mesh_walk_next(&walk)) >= 0;) {
        facet_set(t, element);
        dls_hull_axis front;
        double centre, top;
        front.gap = dls_hull_face_gap(&t->pair, 1, 0, front.n);
        if (front.gap > t->margin) continue;
        heights(t, &front, &centre, &top);
        if (top < 0 || (centre >= 0 || is_beyond_border(t)) != (pass == FRONT)) continue;
        if (pass == FRONT) {
            touch_triangle(t, &front);
            continue;
        }
        if (pass == SEARCH ? front.gap <= *gap : vec_dot(way, t->facet.normal) < 0.99) continue;
        t->counted = 0;
        t->count_only = pass == SEARCH;
        clip_front(t, &front);
        if (t->counted == 0 || pass == DEEP) continue;
        *gap = front.gap;
        vec_copy(way, t->facet.normal);
    }
    t->count_only = false;
}

void dls_collide_mesh_hull(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                           const dls_contact_point *last, int last_count, dls_manifold *manifold) {
    (void)memory;
    mesh_touch t = {.mesh = b->shape->mesh,
                    .margin = margin,
                    .last = last,
                    .last_count = last_count,
                    .start = manifold->count,
                    .manifold = manifold};
    double low[3], high[3], way[3], gap = -INFINITY;
    facet_begin(&t.facet);
    dls_hull_pair_begin(&t.pair, a, a->shape->hull, b, &t.facet.hull);
    body_box(&t, low, high);
    walk_triangles(&t, low, high, FRONT, NULL, NULL);
    drop_explained(&t);
    if (manifold->count > t.start) return;
    t.best = INFINITY; /* the way out is along one normal: edges have none of their own */
    walk_triangles(&t, low, high, SEARCH, way, &gap);
    if (isfinite(gap)) walk_triangles(&t, low, high, DEEP, way, &gap);
}
