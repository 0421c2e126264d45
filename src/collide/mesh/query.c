/* Triangles near a box, closest points, features and their normal cones. */
#include "collide/mesh/query.h"

#include "base/vector.h"

#include <assert.h>

/* ---- closest point ---- */

/* The closest point of the segment a b; 0: it is a, 1: b, 2: between. */
static int segment_closest(const double *a, const double *b, const double *p, double *q) {
    double ab[3], ap[3];
    vec_sub(ab, b, a);
    vec_sub(ap, p, a);
    double along = vec_dot(ab, ap), length2 = vec_dot(ab, ab);
    if (!(along > 0)) {
        vec_copy(q, a);
        return 0;
    }
    if (along >= length2) {
        vec_copy(q, b);
        return 1;
    }
    vec_along(q, a, along / length2, ab);
    return 2;
}

/* Inside the three planes that stand on the edges the foot on the plane is the answer, else it lies on the
 * border. */
int dls_triangle_closest(const double *a, const double *b, const double *c, const double *p, double *q) {
    const double *corner[3] = {a, b, c};
    double ab[3], ac[3], n[3];
    vec_sub(ab, b, a);
    vec_sub(ac, c, a);
    vec_cross(n, ab, ac);
    double n2 = vec_dot(n, n);
    bool inside = n2 > 0;
    for (int k = 0; k < 3 && inside; k++) {
        double edge[3], to[3], side[3];
        vec_sub(edge, corner[(k + 1) % 3], corner[k]);
        vec_sub(to, p, corner[k]);
        vec_cross(side, n, edge);
        inside = vec_dot(side, to) > 0;
    }
    if (inside) {
        double to[3];
        vec_sub(to, p, a);
        vec_along(q, p, -vec_dot(to, n) / n2, n);
        return DLS_TRIANGLE_FACE;
    }
    int feature = 0;
    double best = INFINITY;
    for (int k = 0; k < 3; k++) {
        double foot[3];
        int where = segment_closest(corner[k], corner[(k + 1) % 3], p, foot);
        double distance = vec_distance(foot, p);
        if (!(distance < best)) continue;
        best = distance;
        vec_copy(q, foot);
        feature = where == 2 ? DLS_TRIANGLE_EDGE + k : (k + where) % 3;
    }
    return feature;
}

/* ---- walk ---- */

void dls_mesh_walk_begin(dls_mesh_walk *walk, const dls_mesh *mesh, const double *low, const double *high) {
    walk->mesh = mesh;
    vec_copy(walk->low, low);
    vec_copy(walk->high, high);
    walk->next = walk->end = 0;
    walk->depth = mesh->tree->node_count > 0;
    walk->stack[0] = 0;
}

static bool node_meets(const dls_mesh_walk *walk, const dls_tree_node *node) {
    for (int i = 0; i < 3; i++)
        if (node->low[i] > walk->high[i] || node->high[i] < walk->low[i]) return false;
    return true;
}

static bool element_meets(const dls_mesh_walk *walk, int element) {
    const double *a = dls_mesh_corner(walk->mesh, element, 0), *b = dls_mesh_corner(walk->mesh, element, 1),
                 *c = dls_mesh_corner(walk->mesh, element, 2);
    for (int i = 0; i < 3; i++) {
        if (a[i] > walk->high[i] && b[i] > walk->high[i] && c[i] > walk->high[i]) return false;
        if (a[i] < walk->low[i] && b[i] < walk->low[i] && c[i] < walk->low[i]) return false;
    }
    return true;
}

int dls_mesh_walk_next(dls_mesh_walk *walk) {
    const dls_tree *tree = walk->mesh->tree;
    for (;;) {
        while (walk->next < walk->end) {
            int element = tree->element[walk->next++];
            if (element_meets(walk, element)) return element;
        }
        if (walk->depth == 0) return -1;
        const dls_tree_node *node = &tree->node[walk->stack[--walk->depth]];
        if (!node_meets(walk, node)) continue;
        if (node->left < 0) {
            walk->next = -1 - node->left;
            walk->end = walk->next + node->right;
            continue;
        }
        assert(walk->depth + 2 <= DLS_MESH_WALK_DEPTH);
        walk->stack[walk->depth++] = node->right;
        walk->stack[walk->depth++] = node->left;
    }
}

/* ---- features ---- */

static int corner_of(const dls_mesh *mesh, int element, int vertex) {
    const int *corner = mesh->element + 3 * element;
    return corner[0] == vertex ? 0 : corner[1] == vertex ? 1 : 2;
}

/* Which edge of element is the one between the two vertices. */
static int edge_of(const dls_mesh *mesh, int element, int from, int to) {
    const int *corner = mesh->element + 3 * element;
    for (int k = 0; k < 2; k++) {
        int i = corner[k], j = corner[k + 1];
        if ((i == from && j == to) || (i == to && j == from)) return k;
    }
    return 2;
}

int dls_mesh_feature(const dls_mesh *mesh, int element, int feature) {
    int owner = element, local = feature;
    if (feature < DLS_TRIANGLE_EDGE) {
        int vertex = mesh->element[3 * element + feature];
        owner = mesh->vertex_element[mesh->vertex_start[vertex]];
        local = corner_of(mesh, owner, vertex);
    } else if (feature < DLS_TRIANGLE_FACE) {
        int k = feature - DLS_TRIANGLE_EDGE, other = mesh->neighbour[3 * element + k];
        if (other >= 0 && other < element) {
            owner = other;
            local = DLS_TRIANGLE_EDGE + edge_of(mesh, other, mesh->element[3 * element + k],
                                                mesh->element[3 * element + (k + 1) % 3]);
        }
    }
    return DLS_TRIANGLE_FEATURES * owner + local;
}

void dls_mesh_feature_closest(const dls_mesh *mesh, int mesh_feature, const double *p, double *q) {
    int element = mesh_feature / DLS_TRIANGLE_FEATURES, feature = mesh_feature % DLS_TRIANGLE_FEATURES;
    if (feature < DLS_TRIANGLE_EDGE)
        vec_copy(q, dls_mesh_corner(mesh, element, feature));
    else if (feature < DLS_TRIANGLE_FACE)
        segment_closest(dls_mesh_corner(mesh, element, feature - DLS_TRIANGLE_EDGE),
                        dls_mesh_corner(mesh, element, (feature - DLS_TRIANGLE_EDGE + 1) % 3), p, q);
    else
        dls_triangle_closest(dls_mesh_corner(mesh, element, 0), dls_mesh_corner(mesh, element, 1),
                             dls_mesh_corner(mesh, element, 2), p, q);
}

/* ---- normal cones ---- */

static const double angle_tolerance = 1e-9;
static const double deep_fold = 0.3; /* sine: a shallower valley is not run into from beside */

/* d · t ≤ tolerance |d| |t|, without roots where the sign decides. */
static bool points_away(const double *d, const double *t) {
    double along = vec_dot(d, t);
    return along <= 0 || along * along <= angle_tolerance * angle_tolerance * vec_dot(d, d) * vec_dot(t, t);
}

/* The tangent into a triangle, across its edge k. */
static void inward(const dls_mesh *mesh, int element, int k, double *t) {
    double edge[3];
    vec_sub(edge, dls_mesh_corner(mesh, element, (k + 1) % 3), dls_mesh_corner(mesh, element, k));
    vec_cross(t, mesh->normal + 3 * element, edge);
}

static bool edge_is_minimum(const dls_mesh *mesh, int element, int k, const double *d) {
    double t[3];
    inward(mesh, element, k, t);
    if (!points_away(d, t)) return false;
    int other = mesh->neighbour[3 * element + k];
    if (other < 0) return true;
    inward(mesh, other,
           edge_of(mesh, other, mesh->element[3 * element + k], mesh->element[3 * element + (k + 1) % 3]), t);
    return points_away(d, t);
}

static bool has_foot(const dls_mesh *mesh, int element, const double *p) {
    for (int k = 0; k < 3; k++) {
        double t[3], d[3];
        vec_sub(d, p, dls_mesh_corner(mesh, element, k));
        inward(mesh, element, k, t);
        if (vec_dot(d, t) < 0) return false;
    }
    return true;
}

/* p misses the triangle over edge k: does it stand in, or below, a valley there? d: to p from the edge. */
static bool is_in_valley(const dls_mesh *mesh, int element, int k, const double *p, const double *d) {
    const int *corner = mesh->element + 3 * element;
    const double *n = mesh->normal + 3 * element;
    int other = mesh->neighbour[3 * element + k];
    if (other < 0) return false;
    double t[3];
    inward(mesh, other, edge_of(mesh, other, corner[k], corner[(k + 1) % 3]), t);
    if (vec_dot(d, t) < 0) return vec_dot(d, n) < 0 && vec_dot(d, mesh->normal + 3 * other) < 0;
    return vec_dot(t, n) > deep_fold * vec_norm(t) && has_foot(mesh, other, p);
}

bool dls_mesh_holds(const dls_mesh *mesh, int element, const double *p) {
    for (int k = 0; k < 3; k++) {
        double t[3], d[3];
        vec_sub(d, p, dls_mesh_corner(mesh, element, k));
        inward(mesh, element, k, t);
        if (vec_dot(d, t) < 0 && !is_in_valley(mesh, element, k, p, d)) return false;
    }
    return true;
}

/* A corner of a triangle is the cone of its two edges, so that these decide. */
static bool vertex_is_minimum(const dls_mesh *mesh, int vertex, const double *d) {
    for (int i = mesh->vertex_start[vertex]; i < mesh->vertex_start[vertex + 1]; i++) {
        int element = mesh->vertex_element[i], k = corner_of(mesh, element, vertex);
        for (int side = 1; side < 3; side++) {
            double t[3];
            vec_sub(t, dls_mesh_corner(mesh, element, (k + side) % 3), mesh->vertex + 3 * vertex);
            if (!points_away(d, t)) return false;
        }
    }
    return true;
}

bool dls_mesh_is_minimum(const dls_mesh *mesh, int element, int feature, const double *d) {
    if (feature >= DLS_TRIANGLE_FACE) {
        const double *n = mesh->normal + 3 * element;
        double across[3];
        vec_along(across, d, -vec_dot(d, n), n);
        return vec_dot(across, across) <= angle_tolerance * angle_tolerance * vec_dot(d, d);
    }
    if (feature >= DLS_TRIANGLE_EDGE) return edge_is_minimum(mesh, element, feature - DLS_TRIANGLE_EDGE, d);
    return vertex_is_minimum(mesh, mesh->element[3 * element + feature], d);
}

/* ---- what stands out ---- */

static const double sharp_angle = 1e-6;

bool dls_mesh_edge_is_sharp(const dls_mesh *mesh, int element, int k) {
    int other = mesh->neighbour[3 * element + k];
    if (other < 0) return true;
    double t[3];
    inward(mesh, other,
           edge_of(mesh, other, mesh->element[3 * element + k], mesh->element[3 * element + (k + 1) % 3]), t);
    return vec_dot(mesh->normal + 3 * element, t) < -sharp_angle * vec_norm(t);
}

bool dls_mesh_vertex_is_sharp(const dls_mesh *mesh, int vertex) {
    for (int i = mesh->vertex_start[vertex]; i < mesh->vertex_start[vertex + 1]; i++) {
        int element = mesh->vertex_element[i], k = corner_of(mesh, element, vertex);
        if (dls_mesh_edge_is_sharp(mesh, element, k) || dls_mesh_edge_is_sharp(mesh, element, (k + 2) % 3))
            return true;
    }
    return false;
}

/* ---- sides ---- */

static bool edge_is_outside(const dls_mesh *mesh, int element, int k, const double *d) {
    int other = mesh->neighbour[3 * element + k];
    if (other < 0) return true;
    double n[3];
    vec_add(n, mesh->normal + 3 * element, mesh->normal + 3 * other);
    return vec_dot(n, d) >= 0;
}

/* The mean of the normals weighed by their angles at the vertex tells the sides of a closed surface apart
 * (Bærentzen and Aanæs 2005). */
static bool vertex_is_outside(const dls_mesh *mesh, int vertex, const double *d) {
    double n[3] = {0, 0, 0};
    for (int i = mesh->vertex_start[vertex]; i < mesh->vertex_start[vertex + 1]; i++) {
        int element = mesh->vertex_element[i], k = corner_of(mesh, element, vertex);
        double u[3], v[3], w[3];
        vec_sub(u, dls_mesh_corner(mesh, element, (k + 1) % 3), mesh->vertex + 3 * vertex);
        vec_sub(v, dls_mesh_corner(mesh, element, (k + 2) % 3), mesh->vertex + 3 * vertex);
        vec_cross(w, u, v);
        vec_along(n, n, atan2(vec_norm(w), vec_dot(u, v)), mesh->normal + 3 * element);
        if (mesh->neighbour[3 * element + k] < 0 || mesh->neighbour[3 * element + (k + 2) % 3] < 0)
            return true;
    }
    return vec_dot(n, d) >= 0;
}

bool dls_mesh_is_outside(const dls_mesh *mesh, int element, int feature, const double *d) {
    if (feature >= DLS_TRIANGLE_FACE) return vec_dot(mesh->normal + 3 * element, d) >= 0;
    if (feature >= DLS_TRIANGLE_EDGE) return edge_is_outside(mesh, element, feature - DLS_TRIANGLE_EDGE, d);
    return vertex_is_outside(mesh, mesh->element[3 * element + feature], d);
}
