/* Edges that cross, along their common normal, where it suits the faces of both: two sharp ones, and a sharp
 * one on any of a skin. Between vertices that are held a skin sags under what presses it with an edge. */
#include "base/vector.h"
#include "collide/mesh/query.h"
#include "collide/skin/skin.h"

#include <math.h>

static const double parallel = 1e-2; /* sine: vertices on faces hold what is nearer to parallel */
static const double slack = 0.05;
static const double hollow =
    0.3; /* sine: so far faces of an edge that is not sharp may rise to one that presses it */
static const double sharpness = 0.05; /* rad: vertices on faces hold what is blunter */
static const double sunk = 0.25;    /* of the shorter: edges that have passed each other so far do not meet */
static const double end = 1e-6;     /* of its length: what crosses so near to an end is the vertex's */
static const double aligned = 2e-3; /* of the shorter: so near to any end its vertex is on a face there */
static const double in_face = 0.99; /* cosine */
static const double held =
    0.1; /* of the shorter: so near to an end that is over the other body its vertex holds */

/* An edge in b's frame: p + s u, 0 ≤ s ≤ 1. Of a hull k is its number. */
typedef struct skin_line {
    const dls_mesh *mesh;
    const dls_hull *hull;
    int element, k;
    double p[3], u[3];
    bool sharp;
} skin_line;

static int across(const dls_mesh *mesh, int element, int k) {
    return mesh->neighbour[3 * (size_t)element + (size_t)k];
}

/* Each edge once, of the triangle with the lesser number. */
static bool is_first(const dls_mesh *mesh, int element, int k) {
    int other = across(mesh, element, k);
    return other < 0 || element < other;
}

static bool is_sharp(const dls_mesh *mesh, int element, int k) {
    int other = across(mesh, element, k);
    return other < 0 ||
           (dls_mesh_edge_is_sharp(mesh, element, k) &&
            vec_dot(mesh->normal + 3 * (size_t)element, mesh->normal + 3 * (size_t)other) < cos(sharpness));
}

static bool face_falls(const dls_mesh *mesh, int element, const double *edge, const double *from,
                       const double *d, double most) {
    double in[3], third[3] = {0, 0, 0};
    vec_cross(in, mesh->normal + 3 * (size_t)element, edge);
    for (int k = 0; k < 3; k++) vec_along(third, third, 1.0 / 3, dls_mesh_corner(mesh, element, k));
    vec_sub(third, third, from);
    if (vec_dot(third, in) < 0) vec_scale(in, -1, in);
    return vec_dot(in, d) < -most * vec_norm(in);
}

bool dls_skin_hull_above(const dls_hull *hull, const double *from, const double *d, double most) {
    for (int v = 0; v < hull->vertex_count; v++) {
        double t[3];
        vec_sub(t, hull->vertex + 3 * (size_t)v, from);
        if (vec_dot(t, d) < -most * vec_norm(t)) return false;
    }
    return true;
}

/* Whether d leads into the body from the edge, not along its faces: against their normals. */
static bool is_inward(const double *n, const double *m, const double *d) {
    double sum[3];
    vec_add(sum, n, m);
    return vec_dot(sum, d) < -0.1 * vec_norm(sum);
}

/* Whether the faces of an edge may be pushed along d, in its own frame. */
static bool is_above(const skin_line *line, const double *d, double most) {
    const dls_mesh *mesh = line->mesh;
    int element = line->element, k = line->k;
    double edge[3];
    if (line->hull)
        return dls_skin_hull_above(line->hull, line->hull->vertex + 3 * (size_t)line->hull->edge_vertex[k][0],
                                   d, most);
    const double *from = dls_mesh_corner(mesh, element, k);
    int other = across(mesh, element, k);
    if (!is_inward(mesh->normal + 3 * (size_t)element,
                   mesh->normal + 3 * (size_t)(other < 0 ? element : other), d))
        return false;
    vec_sub(edge, dls_mesh_corner(mesh, element, (k + 1) % 3), from);
    if (face_falls(mesh, element, edge, from, d, most)) return false;
    return other < 0 || !face_falls(mesh, other, edge, from, d, most);
}

/* Where two edges are nearest: p = a.p + s u, q = b.p + t v, and the normal of both. */
typedef struct skin_crossing {
    double s, t, p[3], q[3], n[3];
} skin_crossing;

/* False where that is at an end of one, or they are parallel. */
static bool cross(const skin_line *a, const skin_line *b, skin_crossing *at) {
    double d[3], uu = vec_dot(a->u, a->u), vv = vec_dot(b->u, b->u), uv = vec_dot(a->u, b->u);
    vec_cross(at->n, a->u, b->u);
    double det = vec_dot(at->n, at->n);
    if (!(det > parallel * parallel * uu * vv)) return false;
    vec_sub(d, b->p, a->p);
    double s = (vec_dot(d, a->u) * vv - vec_dot(d, b->u) * uv) / det,
           t = (vec_dot(d, a->u) * uv - vec_dot(d, b->u) * uu) / det;
    if (!(s > end && s < 1 - end && t > end && t < 1 - end)) return false;
    at->s = s, at->t = t;
    vec_along(at->p, a->p, s, a->u);
    vec_along(at->q, b->p, t, b->u);
    vec_scale(at->n, 1 / sqrt(det), at->n);
    return true;
}

/* out leads from b to a: faces of a rise along it, faces of b fall. */
static bool suits(const skin_pair *pair, const skin_line *a, const skin_line *b, const double *out) {
    double world[3], local[3], back[3];
    vec_scale(back, -1, out);
    if (!is_above(b, back, b->sharp ? slack : hollow)) return false;
    mat_apply(world, pair->b->R, out);
    mat_apply_transposed(local, pair->a->R, world);
    return is_above(a, local, a->sharp ? slack : hollow);
}

/* Across a sharp edge into its body, in the face that has the unit n as its normal, outward or inward; 0
 * where none has: what crosses the edge there stands off both. */
static void inward(const skin_line *line, const double *n, double *in) {
    const double *m[2];
    const int *face = line->hull ? line->hull->edge_face[line->k] : NULL;
    int other = face ? 0 : across(line->mesh, line->element, line->k);
    m[0] =
        face ? line->hull->face_normal + 3 * (size_t)face[0] : line->mesh->normal + 3 * (size_t)line->element;
    m[1] = face         ? line->hull->face_normal + 3 * (size_t)face[1]
           : other >= 0 ? line->mesh->normal + 3 * (size_t)other
                        : m[0];
    bool second = fabs(vec_dot(m[1], n)) > fabs(vec_dot(m[0], n));
    double along = vec_dot(m[second], n);
    vec_set(in, 0, 0, 0);
    if (fabs(along) < in_face) return;
    vec_scale(in, -1, m[!second]);
    vec_along(in, in, -vec_dot(in, n), n);
}

/* Whether a vertex at an end of one of them is held and so near that it holds this place, too: any of the
 * sharp edge, of the other one what lies behind the sharp one. in: into the sharp one's body, of the other's
 * frame. */
static bool is_held(const skin_line *sharp, double s, const skin_line *other, double t, const double *in) {
    double u = vec_norm(sharp->u), v = vec_norm(other->u), least = held * fmin(u, v),
           along = vec_dot(other->u, in);
    if (s * u < least || (1 - s) * u < least || fmin(t, 1 - t) * v < aligned * fmin(u, v)) return true;
    if (fabs(along) <= 0.1 * v * vec_norm(in)) return false;
    return (along > 0 ? 1 - t : t) * v < least;
}

/* A sharp edge on one that is none. */
static bool adds_nothing(const skin_pair *pair, const skin_line *a, const skin_line *b,
                         const skin_crossing *at, const double *out) {
    double in[3], local[3];
    if (a->sharp && b->sharp) return false;
    if (b->sharp) {
        inward(b, out, in);
        return is_held(b, at->t, a, at->s, in);
    }
    mat_apply(local, pair->b->R, out);
    mat_apply_transposed(local, pair->a->R, local);
    inward(a, local, in);
    dls_skin_turn(pair, in, local);
    return is_held(a, at->s, b, at->t, local);
}

static void try_edges(const skin_pair *pair, const skin_line *a, const skin_line *b) {
    skin_crossing at;
    double d[3];
    if (!cross(a, b, &at)) return;
    double least = -fmin(sunk * fmin(vec_norm(a->u), vec_norm(b->u)), pair->depth);
    vec_sub(d, at.p, at.q);
    for (int turn = 0; turn < 2; turn++, vec_scale(at.n, -1, at.n)) {
        double gap = vec_dot(d, at.n);
        if (gap > pair->margin || gap < least || !suits(pair, a, b, at.n)) continue;
        if (!adds_nothing(pair, a, b, &at, at.n))
            dls_skin_add(pair, at.p, at.q, at.n, gap,
                         dls_skin_feature(DLS_SKIN_EDGES, 3 * a->element + a->k, 3 * b->element + b->k));
        return;
    }
}

static void edge_contacts(const skin_pair *pair, const skin_line *a) {
    double low[3], high[3], reach = fmax(pair->margin, pair->depth);
    dls_mesh_walk walk;
    for (int i = 0; i < 3; i++) {
        low[i] = fmin(a->p[i], a->p[i] + a->u[i]) - reach;
        high[i] = fmax(a->p[i], a->p[i] + a->u[i]) + reach;
    }
    skin_line b = {.mesh = pair->b->shape->mesh};
    bool is_skin = pair->b->shape->kind == DLS_SKIN;
    dls_mesh_walk_begin(&walk, b.mesh, low, high);
    while ((b.element = dls_mesh_walk_next(&walk)) >= 0)
        for (b.k = 0; b.k < 3; b.k++) {
            if (!is_first(b.mesh, b.element, b.k)) continue;
            b.sharp = is_sharp(b.mesh, b.element, b.k);
            if (!b.sharp && !(is_skin && a->sharp)) continue;
            vec_copy(b.p, dls_mesh_corner(b.mesh, b.element, b.k));
            vec_sub(b.u, dls_mesh_corner(b.mesh, b.element, (b.k + 1) % 3), b.p);
            try_edges(pair, a, &b);
        }
}

/* Whether a's edge from there to there comes near to b's box. */
static bool set_line(const skin_pair *pair, const double *from, const double *to, skin_line *a) {
    const dls_tree_node *root = &pair->b->shape->mesh->tree->node[0];
    double last[3];
    bool near = true;
    dls_skin_see(pair, from, a->p);
    dls_skin_see(pair, to, last);
    vec_sub(a->u, last, a->p);
    for (int i = 0; i < 3 && near; i++)
        near = fmax(a->p[i], last[i]) >= root->low[i] - pair->margin &&
               fmin(a->p[i], last[i]) <= root->high[i] + pair->margin;
    return near;
}

void dls_skin_edges(const skin_pair *pair) {
    skin_line a = {.mesh = pair->a->shape->mesh, .hull = pair->a->shape->hull, .sharp = true};
    if (a.hull) {
        for (a.k = 0; a.k < a.hull->edge_count; a.k++) {
            const int *v = a.hull->edge_vertex[a.k];
            if (set_line(pair, a.hull->vertex + 3 * (size_t)v[0], a.hull->vertex + 3 * (size_t)v[1], &a))
                edge_contacts(pair, &a);
        }
        return;
    }
    for (a.element = 0; a.element < a.mesh->element_count; a.element++)
        for (a.k = 0; a.k < 3; a.k++) {
            if (!is_first(a.mesh, a.element, a.k)) continue;
            a.sharp = is_sharp(a.mesh, a.element, a.k);
            if ((a.sharp || pair->a->shape->kind == DLS_SKIN) &&
                set_line(pair, dls_mesh_corner(a.mesh, a.element, a.k),
                         dls_mesh_corner(a.mesh, a.element, (a.k + 1) % 3), &a))
                edge_contacts(pair, &a);
        }
}
