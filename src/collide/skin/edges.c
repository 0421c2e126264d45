/* Sharp edges that cross: along their common normal, where it suits the faces of both. */
#include "base/vector.h"
#include "collide/mesh/query.h"
#include "collide/skin/skin.h"

#include <math.h>

static const double parallel = 1e-2; /* sine: vertices on faces hold what is nearer to parallel */
static const double slack = 0.05;
static const double sharpness = 0.05; /* rad: vertices on faces hold what is blunter */
static const double sunk = 0.05; /* of the shorter: edges that have passed each other so far do not meet */
static const double end = 1e-6;  /* of its length: what crosses so near to an end is the vertex's */

/* An edge in b's frame: p + s u, 0 ≤ s ≤ 1. Of a hull k is its number. */
typedef struct skin_line {
    const dls_mesh *mesh;
    const dls_hull *hull;
    int element, k;
    double p[3], u[3];
} skin_line;

static int across(const dls_mesh *mesh, int element, int k) {
    return mesh->neighbour[3 * (size_t)element + (size_t)k];
}

/* Each edge once, of the triangle with the lesser number. */
static bool is_edge(const dls_mesh *mesh, int element, int k) {
    int other = across(mesh, element, k);
    if (other < 0) return true;
    return element < other && dls_mesh_edge_is_sharp(mesh, element, k) &&
           vec_dot(mesh->normal + 3 * (size_t)element, mesh->normal + 3 * (size_t)other) < cos(sharpness);
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

/* Where two lines are nearest; false where that is at an end of one, or they are parallel. */
static bool crossing(const skin_line *a, const skin_line *b, double *p, double *q, double *n) {
    double d[3], uu = vec_dot(a->u, a->u), vv = vec_dot(b->u, b->u), uv = vec_dot(a->u, b->u);
    vec_cross(n, a->u, b->u);
    double det = vec_dot(n, n);
    if (!(det > parallel * parallel * uu * vv)) return false;
    vec_sub(d, b->p, a->p);
    double s = (vec_dot(d, a->u) * vv - vec_dot(d, b->u) * uv) / det,
           t = (vec_dot(d, a->u) * uv - vec_dot(d, b->u) * uu) / det;
    if (!(s > end && s < 1 - end && t > end && t < 1 - end)) return false;
    vec_along(p, a->p, s, a->u);
    vec_along(q, b->p, t, b->u);
    vec_scale(n, 1 / sqrt(det), n);
    return true;
}

/* out leads from b to a: faces of a rise along it, faces of b fall. */
static bool suits(const skin_pair *pair, const skin_line *a, const skin_line *b, const double *out) {
    double world[3], local[3], back[3];
    vec_scale(back, -1, out);
    if (!is_above(b, back, slack)) return false;
    mat_apply(world, pair->b->R, out);
    mat_apply_transposed(local, pair->a->R, world);
    return is_above(a, local, slack);
}

static void try_edges(const skin_pair *pair, const skin_line *a, const skin_line *b) {
    double p[3], q[3], n[3], d[3];
    if (!crossing(a, b, p, q, n)) return;
    double least = -sunk * fmin(vec_norm(a->u), vec_norm(b->u));
    for (int turn = 0; turn < 2; turn++, vec_scale(n, -1, n)) {
        vec_sub(d, p, q);
        double gap = vec_dot(d, n);
        if (gap > pair->margin || gap < least || !suits(pair, a, b, n)) continue;
        dls_skin_add(pair, p, q, n, gap,
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
    dls_mesh_walk_begin(&walk, b.mesh, low, high);
    while ((b.element = dls_mesh_walk_next(&walk)) >= 0)
        for (b.k = 0; b.k < 3; b.k++) {
            if (!is_edge(b.mesh, b.element, b.k)) continue;
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
    skin_line a = {.mesh = pair->a->shape->mesh, .hull = pair->a->shape->hull};
    if (a.hull) {
        for (a.k = 0; a.k < a.hull->edge_count; a.k++) {
            const int *v = a.hull->edge_vertex[a.k];
            if (set_line(pair, a.hull->vertex + 3 * (size_t)v[0], a.hull->vertex + 3 * (size_t)v[1], &a))
                edge_contacts(pair, &a);
        }
        return;
    }
    for (a.element = 0; a.element < a.mesh->element_count; a.element++)
        for (a.k = 0; a.k < 3; a.k++)
            if (is_edge(a.mesh, a.element, a.k) &&
                set_line(pair, dls_mesh_corner(a.mesh, a.element, a.k),
                         dls_mesh_corner(a.mesh, a.element, (a.k + 1) % 3), &a))
                edge_contacts(pair, &a);
}
