/* The rows of skins: their vertices on walls, their faces under what is convex, and skins on surfaces. A skin
 * does not touch itself: pairs are of two bodies. */
#include "collide/skin/skin.h"

#include "base/vector.h"
#include "collide/mesh/query.h"

#include <math.h>
#include <string.h>

/* ---- two surfaces ---- */

void dls_skin_turn(const skin_pair *pair, const double *d, double *out) {
    mat_apply(out, pair->a->R, d);
    mat_apply_transposed(out, pair->b->R, out);
}

void dls_skin_see(const skin_pair *pair, const double *p, double *out) {
    double between[3];
    mat_apply(out, pair->a->R, p);
    vec_sub(between, pair->a->x, pair->b->x);
    vec_add(out, out, between);
    mat_apply_transposed(out, pair->b->R, out);
}

void dls_skin_add(const skin_pair *pair, const double *p, const double *q, const double *out, double gap,
                  uint64_t feature) {
    double on_a[3], on_b[3], n[3];
    mat_apply(on_a, pair->b->R, p);
    mat_apply(on_b, pair->b->R, q);
    mat_apply(n, pair->b->R, out);
    vec_add(on_a, on_a, pair->b->x);
    vec_add(on_b, on_b, pair->b->x);
    if (pair->side) {
        dls_manifold_add(pair->manifold, on_b, on_a, n, gap, feature);
    } else {
        vec_scale(n, -1, n);
        dls_manifold_add(pair->manifold, on_a, on_b, n, gap, feature);
    }
}

/* A quarter of the thinner way through a body: what has sunk deeper is on the other side's. */
static double depth_of(const dls_mesh *a, const dls_mesh *b) {
    double most = 0;
    for (int k = 0; k < 2; k++) {
        const dls_tree_node *root = &(k ? b : a)->tree->node[0];
        double least = INFINITY;
        for (int i = 0; i < 3; i++) least = fmin(least, root->high[i] - root->low[i]);
        most = fmax(most, 0.25 * least);
    }
    return most;
}

static void collide_surfaces(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                             const dls_contact_point *last, int last_count, dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    double depth = depth_of(a->shape->mesh, b->shape->mesh);
    skin_pair there = {a, b, margin, depth, manifold, 0, manifold->count}, back = there;
    back.a = b, back.b = a, back.side = 1;
    dls_skin_vertices(&there);
    dls_skin_vertices(&back);
    dls_skin_edges(&there);
}

/* ---- vertices as points ---- */

/* Every vertex that comes near, by the other shape's own function for balls; that shape is the row's second.
 */
static void collide_points(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                           const dls_contact_point *last, int last_count, dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    bool swapped;
    const dls_pair_kind *row = dls_pair_find(DLS_SPHERE, b->shape->kind, &swapped);
    const dls_mesh *mesh = a->shape->mesh;
    dls_shape point = {.kind = DLS_SPHERE, .body = a->shape->body, .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    dls_placed at = {.shape = &point, .R = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    double low[3], high[3];
    dls_shape_box(b->shape, b->x, b->R, low, high);
    for (int v = 0; v < mesh->vertex_count; v++) {
        dls_pair_memory none = {.used = 0};
        int before = manifold->count;
        bool near = mesh->vertex_start[v] < mesh->vertex_start[v + 1];
        mat_apply(at.x, a->R, mesh->vertex + 3 * (size_t)v);
        vec_add(at.x, at.x, a->x);
        for (int i = 0; i < 3; i++) near = near && at.x[i] >= low[i] - margin && at.x[i] <= high[i] + margin;
        if (near) row->collide(swapped ? b : &at, swapped ? &at : b, margin, &none, NULL, 0, manifold);
        for (int k = before; k < manifold->count; k++) {
            dls_contact_point *c = &manifold->point[k];
            if (swapped) dls_contact_point_flip(c);
            c->feature = dls_skin_feature(DLS_SKIN_WALL, v, (int)(c->feature & 0x3FFFFFFF));
        }
    }
}

/* Vertices that the hull's nearest place would push into it, for the skin around them lies deeper, are behind
 * one of its edges. */
static void turn_points(const skin_pair *pair, int first) {
    dls_manifold *m = pair->manifold;
    int count = m->count, kept = first;
    for (int k = first; k < count; k++) {
        double out[3], gap = m->point[k].gap;
        vec_scale(out, -1, m->point[k].normal);
        int vertex = dls_skin_vertex(m->point[k].feature, 0);
        if (dls_skin_holds_point(pair, vertex, out))
            m->point[kept++] = m->point[k];
        else
            dls_skin_behind_hull(pair, vertex, fmax(-gap, 0));
    }
    memmove(m->point + kept, m->point + count, sizeof *m->point * (size_t)(m->count - count));
    m->count -= count - kept;
}

/* The skin's vertices as points, then vertices and edges of the hull. */
static void collide_hull(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                         const dls_contact_point *last, int last_count, dls_manifold *manifold) {
    const dls_tree_node *root = &a->shape->mesh->tree->node[0];
    double depth = INFINITY;
    for (int i = 0; i < 3; i++) depth = fmin(depth, 0.25 * (root->high[i] - root->low[i]));
    skin_pair back = {b, a, margin, depth, manifold, 1, manifold->count};
    skin_pair there = {a, b, margin, depth, manifold, 0, manifold->count};
    collide_points(a, b, margin, memory, last, last_count, manifold);
    turn_points(&there, there.first);
    dls_skin_vertices(&back);
    dls_skin_edges(&back);
}

/* Leaves out contacts at vertices of a mesh, which are found as points. */
static void drop_vertices(const dls_mesh *mesh, const dls_placed *at, int first, dls_manifold *manifold) {
    const dls_tree_node *root = &mesh->tree->node[0];
    int kept = first;
    double near = 1e-9 * vec_distance(root->low, root->high);
    for (int k = first; k < manifold->count; k++) {
        double p[3], d[3];
        bool is_vertex = false;
        vec_sub(d, manifold->point[k].point_b, at->x);
        mat_apply_transposed(p, at->R, d);
        dls_mesh_walk walk;
        dls_mesh_walk_begin(&walk, mesh, p, p);
        for (int element; !is_vertex && (element = dls_mesh_walk_next(&walk)) >= 0;)
            for (int i = 0; i < 3; i++)
                is_vertex |= vec_distance(p, dls_mesh_corner(mesh, element, i)) < near;
        if (!is_vertex) manifold->point[kept++] = manifold->point[k];
    }
    manifold->count = kept;
}

/* The skin's vertices as points, then what a shape touches of its faces and edges between them, as of a mesh.
 */
static void collide_between(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                            const dls_contact_point *last, int last_count, dls_manifold *manifold) {
    bool swapped;
    int before = manifold->count;
    dls_pair_find(a->shape->kind, DLS_MESH, &swapped)
        ->collide(a, b, margin, memory, last, last_count, manifold);
    drop_vertices(b->shape->mesh, b, before, manifold);
    int own = manifold->count;
    collide_points(b, a, margin, memory, last, last_count, manifold);
    for (int k = own; k < manifold->count; k++) dls_contact_point_flip(&manifold->point[k]);
}

#define HULL_METHOD    "vertices of the skin as points; vertices and edges of the hull on its faces and edges"
#define BETWEEN_METHOD "vertices of the skin as points; as with a mesh between them"
#define WALL_METHOD    "every vertex as a point"
#define SURFACE_METHOD                                                                                       \
    "vertices of each on faces of the other, along a normal that both sides allow; sharp edges on sharp "    \
    "edges"

static const dls_pair_kind rows[] = {
    {DLS_SKIN, DLS_HALF_SPACE, collide_points, true, false, WALL_METHOD},
    {DLS_SKIN, DLS_CYLINDER_INSIDE, collide_points, true, false, WALL_METHOD},
    {DLS_SKIN, DLS_BOX_INSIDE, collide_points, true, false, WALL_METHOD},
    {DLS_SKIN, DLS_MESH, collide_surfaces, false, false, SURFACE_METHOD},
    {DLS_SKIN, DLS_SKIN, collide_surfaces, false, false, SURFACE_METHOD},
    {DLS_SPHERE, DLS_SKIN, collide_between, true, true, BETWEEN_METHOD},
    {DLS_CAPSULE, DLS_SKIN, collide_between, true, true, BETWEEN_METHOD},
    {DLS_SKIN, DLS_BOX, collide_hull, false, false, HULL_METHOD},
    {DLS_SKIN, DLS_POLYHEDRON, collide_hull, false, false, HULL_METHOD},
    {DLS_ELLIPSOID, DLS_SKIN, collide_between, true, false, BETWEEN_METHOD},
    {DLS_CYLINDER, DLS_SKIN, collide_between, false, true, BETWEEN_METHOD},
};

const dls_pair_family dls_pairs_skin = {rows, sizeof rows / sizeof *rows};
