/* Vertices of one surface on faces of another. A face of b holds a vertex that stands over or below it if a
 * lies above its plane there, or dips below it but slightly: of bricks that are stacked many faces are as
 * near to a corner, and those beside it are not what it rests on. A vertex that no face holds may stand
 * beside an edge or corner of b: the normal is then the way between them, where it is a local minimum of the
 * distance. */
#include "base/vector.h"
#include "collide/mesh/query.h"
#include "collide/skin/skin.h"

#include <math.h>

static const double face_slack =
    0.3; /* sine: a face of a may dip so much below the plane of b that it rests on */
static const double strict_slack = 0.05;
static const double passed = 0.25;  /* of the shorter edge: a vertex that went so far past it is elsewhere */
static const double slipped = 1e-4; /* of it: what is beside it and has sunk less is held by faces */
static const double smooth = 0.866; /* cosine of 30°: triangles that meet at less are one surface */
static const double beside =
    1e-3; /* of the face's size: a vertex that near to an edge is on the faces there */

/* The point of b that is nearest to a vertex of a, in b's frame. */
typedef struct skin_foot {
    int element, feature;
    double q[3], d[3], distance;
} skin_foot;

static void find_foot(const dls_mesh *mesh, int element, const double *p, skin_foot *foot) {
    foot->element = element;
    foot->feature = dls_triangle_closest(dls_mesh_corner(mesh, element, 0), dls_mesh_corner(mesh, element, 1),
                                         dls_mesh_corner(mesh, element, 2), p, foot->q);
    vec_sub(foot->d, p, foot->q);
    foot->distance = vec_norm(foot->d);
}

/* How a's edges at a vertex, or from it to all of a hull, go along units d of a's frame, of two the better:
 * the least of their sines. */
static double rise(const skin_pair *pair, int vertex, const double *d, const double *e) {
    const dls_mesh *mesh = pair->a->shape->mesh;
    const dls_hull *hull = pair->a->shape->hull;
    double least = 1, t[3];
    for (int v = 0; hull && v < hull->vertex_count; v++) {
        vec_sub(t, hull->vertex + 3 * (size_t)v, hull->vertex + 3 * (size_t)vertex);
        if (v != vertex) least = fmin(least, fmax(vec_dot(t, d), vec_dot(t, e)) / vec_norm(t));
    }
    if (hull) return least;
    for (int i = mesh->vertex_start[vertex]; i < mesh->vertex_start[vertex + 1]; i++)
        for (int k = 0; k < 3; k++) {
            if (mesh->element[3 * (size_t)mesh->vertex_element[i] + (size_t)k] == vertex) continue;
            vec_sub(t, dls_mesh_corner(mesh, mesh->vertex_element[i], k), mesh->vertex + 3 * (size_t)vertex);
            least = fmin(least, fmax(vec_dot(t, d), vec_dot(t, e)) / vec_norm(t));
        }
    return least;
}

/* Whether a may be pushed along d at a vertex: what is around goes up from it or falls by less than slack, a
 * sine. */
static bool is_above(const skin_pair *pair, int vertex, const double *d, double slack) {
    return rise(pair, vertex, d, d) >= -slack;
}

/* d of b's frame in a's. */
static void to_a(const skin_pair *pair, const double *d, double *out) {
    mat_apply(out, pair->b->R, d);
    mat_apply_transposed(out, pair->a->R, out);
}

static int first_of(const dls_mesh *mesh, int vertex) {
    return mesh->vertex_element[mesh->vertex_start[vertex]];
}
static double size_of(const dls_mesh *mesh, int element) {
    return vec_distance(dls_mesh_corner(mesh, element, 0), dls_mesh_corner(mesh, element, 1));
}

/* ---- past an edge ---- */

/* What holds a vertex that has slipped past an edge of b, or lies under it in a hollow: of the planes through
 * the edge between those of its faces the one that a's surface rises from most. */
typedef struct skin_ridge {
    const double *from, *to, *normal[2];
    double gap, q[3], n[3];
    int ordinal;
} skin_ridge;

static double rise_between(const skin_pair *pair, int vertex, const skin_ridge *ridge, double share,
                           double *n) {
    double local[3];
    vec_scale(n, 1 - share, ridge->normal[0]);
    vec_along(n, n, share, ridge->normal[1]);
    double length = vec_norm(n);
    if (!(length > 0)) return -1;
    vec_scale(n, 1 / length, n);
    to_a(pair, n, local);
    return rise(pair, vertex, local, local);
}

/* Whether none of a's edges at the vertex leads into b, below both faces. */
static bool is_around(const skin_pair *pair, int vertex, const skin_ridge *ridge) {
    double d[2][3];
    for (int k = 0; k < 2; k++) to_a(pair, ridge->normal[k], d[k]);
    return rise(pair, vertex, d[0], d[1]) >= -strict_slack;
}

/* By golden sections. */
static void find_normal(const skin_pair *pair, int vertex, skin_ridge *ridge) {
    double low = 0, high = 1;
    for (int k = 0; k < 16; k++) {
        double part = 0.381966 * (high - low);
        if (rise_between(pair, vertex, ridge, low + part, ridge->n) <
            rise_between(pair, vertex, ridge, high - part, ridge->n))
            low += part;
        else
            high -= part;
    }
    rise_between(pair, vertex, ridge, 0.5 * (low + high), ridge->n);
}

/* Keeps the ridge that the vertex has sunk behind least, of those that it is beside. */
static void try_ridge(const skin_pair *pair, int vertex, const double *p, skin_ridge *ridge,
                      skin_ridge *best) {
    double u[3], d[3];
    vec_sub(u, ridge->to, ridge->from);
    vec_sub(d, p, ridge->from);
    double length = vec_norm(u), along = vec_dot(d, u) / (length * length);
    if (!(along > 0 && along < 1)) return;
    vec_along(ridge->q, ridge->from, along, u);
    vec_sub(d, p, ridge->q);
    if (!pair->a->shape->hull)
        length = fmin(length, size_of(pair->a->shape->mesh, first_of(pair->a->shape->mesh, vertex)));
    if (vec_norm(d) > passed * length || !is_around(pair, vertex, ridge)) return;
    find_normal(pair, vertex, ridge);
    ridge->gap = vec_dot(d, ridge->n);
    vec_along(d, d, -ridge->gap, ridge->n);
    double most = vec_norm(d) < beside * length ? pair->margin : -slipped * length;
    if (ridge->gap <= most && ridge->gap > best->gap) *best = *ridge;
}

/* depth: of the vertex in b, 0 outside; beyond that nothing is taken back. */
static void add_ridge(const skin_pair *pair, int vertex, const double *p, const skin_ridge *ridge,
                      double depth) {
    double q[3], gap = fmax(ridge->gap, -depth);
    if (!isfinite(ridge->gap)) return;
    vec_along(q, p, -gap, ridge->n);
    dls_skin_add(pair, p, q, ridge->n, gap, dls_skin_feature(pair->side, vertex, ridge->ordinal));
}

static void behind_ridges(const skin_pair *pair, int vertex, const double *p, const double *low,
                          const double *high, double depth) {
    const dls_mesh *mesh = pair->b->shape->mesh;
    skin_ridge best = {.gap = -INFINITY};
    dls_mesh_walk walk;
    dls_mesh_walk_begin(&walk, mesh, low, high);
    for (int element; (element = dls_mesh_walk_next(&walk)) >= 0;)
        for (int k = 0; k < 3; k++) {
            int other = mesh->neighbour[3 * (size_t)element + (size_t)k];
            if (other < element || !dls_mesh_edge_is_sharp(mesh, element, k)) continue;
            skin_ridge ridge = {
                .from = dls_mesh_corner(mesh, element, k),
                .to = dls_mesh_corner(mesh, element, (k + 1) % 3),
                .normal = {mesh->normal + 3 * (size_t)element, mesh->normal + 3 * (size_t)other}};
            try_ridge(pair, vertex, p, &ridge, &best);
        }
    add_ridge(pair, vertex, p, &best, depth);
}

bool dls_skin_holds_point(const skin_pair *pair, int vertex, const double *out) {
    double local[3];
    mat_apply_transposed(local, pair->a->R, out);
    return is_above(pair, vertex, local, face_slack);
}

void dls_skin_behind_hull(const skin_pair *pair, int vertex, double depth) {
    const dls_hull *hull = pair->b->shape->hull;
    skin_ridge best = {.gap = -INFINITY};
    double p[3];
    dls_skin_see(pair, pair->a->shape->mesh->vertex + 3 * (size_t)vertex, p);
    for (int k = 0; k < hull->edge_count; k++) {
        skin_ridge ridge = {.from = hull->vertex + 3 * (size_t)hull->edge_vertex[k][0],
                            .to = hull->vertex + 3 * (size_t)hull->edge_vertex[k][1],
                            .normal = {hull->face_normal + 3 * (size_t)hull->edge_face[k][0],
                                       hull->face_normal + 3 * (size_t)hull->edge_face[k][1]},
                            .ordinal = 1};
        try_ridge(pair, vertex, p, &ridge, &best);
    }
    add_ridge(pair, vertex, p, &best, depth);
}

/* Beside an edge or corner: along the way there, where nothing of either side is nearer. */
static bool add_beside(const skin_pair *pair, int vertex, const double *p, const skin_foot *foot) {
    double out[3], local[3];
    if (foot->feature >= DLS_TRIANGLE_FACE || foot->distance > pair->margin || !(foot->distance > 0))
        return false;
    vec_scale(out, 1 / foot->distance, foot->d);
    to_a(pair, out, local);
    if (!dls_mesh_is_minimum(pair->b->shape->mesh, foot->element, foot->feature, out) ||
        !is_above(pair, vertex, local, strict_slack))
        return false;
    dls_skin_add(pair, p, foot->q, out, foot->distance, dls_skin_feature(pair->side, vertex, 0));
    return true;
}

/* Whether the foot's face holds the vertex; how high it stands over its plane. */
static bool is_held(const skin_pair *pair, int vertex, const skin_foot *foot, double *height) {
    const dls_mesh *mesh = pair->b->shape->mesh;
    const double *n = mesh->normal + 3 * (size_t)foot->element;
    double aside[3], local[3];
    *height = vec_dot(foot->d, n);
    if (*height > pair->margin || *height < -pair->depth) return false;
    vec_along(aside, foot->d, -*height, n);
    if (vec_norm(aside) > beside * size_of(mesh, foot->element)) return false;
    to_a(pair, n, local);
    return is_above(pair, vertex, local, face_slack);
}

/* Faces that hold a vertex: of one outside all that it stands over, of one inside the nearest and those. */
typedef struct skin_hold {
    int element; /* the nearest; −1: none */
    double height;
} skin_hold;

/* Nearer to its plane than what was found so far: from above while there is such a face and p is outside. */
static bool is_nearer(const skin_hold *best, double height, bool outside) {
    if (best->element < 0) return true;
    return outside ? fabs(height) < fabs(best->height)
                   : height > best->height && (height < 0 || best->height < 0);
}

/* Angle of a triangle at its corner k. */
static double angle_at(const dls_mesh *mesh, int element, int k) {
    double u[3], v[3], side[3];
    vec_sub(u, dls_mesh_corner(mesh, element, (k + 1) % 3), dls_mesh_corner(mesh, element, k));
    vec_sub(v, dls_mesh_corner(mesh, element, (k + 2) % 3), dls_mesh_corner(mesh, element, k));
    vec_cross(side, u, v);
    return atan2(vec_norm(side), vec_dot(u, v));
}

/* The surface's normal at a vertex: of the triangles there, each by its angle; of those alone that go on as a
 * triangle with this normal does, where there is one. Returns its length, 0 or 1. */
static double vertex_normal(const dls_mesh *mesh, int vertex, const double *like, double *n) {
    vec_set(n, 0, 0, 0);
    for (int i = mesh->vertex_start[vertex]; i < mesh->vertex_start[vertex + 1]; i++) {
        int other = mesh->vertex_element[i], at = 0;
        const double *m = mesh->normal + 3 * (size_t)other;
        while (mesh->element[3 * (size_t)other + (size_t)at] != vertex) at++;
        if (!like || vec_dot(like, m) > smooth) vec_along(n, n, angle_at(mesh, other, at), m);
    }
    double length = vec_norm(n);
    if (length > 0) vec_scale(n, 1 / length, n);
    return length > 0;
}

/* The normal of a skin at a point q of a triangle, continuous from triangle to triangle up to sharp edges:
 * else a vertex that slides over a diagonal is pushed first to one side and then to the other, and a face
 * that is cut one way pushes sideways where its mirror image does not. */
static void surface_normal(const dls_mesh *mesh, int element, const double *q, double *n) {
    double area[3][3], sum[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        double u[3], v[3];
        vec_sub(u, dls_mesh_corner(mesh, element, (k + 1) % 3), q);
        vec_sub(v, dls_mesh_corner(mesh, element, (k + 2) % 3), q);
        vec_cross(area[k], u, v);
    }
    const double *own = mesh->normal + 3 * (size_t)element;
    for (int k = 0; k < 3; k++) {
        double weight = vec_dot(area[k], own), at[3];
        int vertex = mesh->element[3 * (size_t)element + (size_t)k];
        if (weight > 0 && vertex_normal(mesh, vertex, own, at) > 0) vec_along(sum, sum, weight, at);
    }
    double length = vec_norm(sum);
    if (length > 0)
        vec_scale(n, 1 / length, sum);
    else
        vec_copy(n, own);
}

/* A tip on a tip: half-way between the normals of both, where neither side is in the way. Any face around
 * would push it aside. */
static bool tip_normal(const skin_pair *pair, int vertex, const double *p, int element, double height,
                       double *n) {
    const dls_mesh *mesh = pair->b->shape->mesh;
    double near = beside * size_of(mesh, element) + 2 * fabs(height), own[3], local[3];
    int k = 0;
    while (k < 3 && vec_distance(p, dls_mesh_corner(mesh, element, k)) > near) k++;
    if (k == 3 || pair->a->shape->hull) return false;
    if (!(vertex_normal(mesh, mesh->element[3 * (size_t)element + (size_t)k], NULL, n) > 0) ||
        !(vertex_normal(pair->a->shape->mesh, vertex, NULL, local) > 0))
        return false;
    dls_skin_turn(pair, local, own);
    vec_sub(n, n, own);
    double length = vec_norm(n);
    if (length < 1) return false; /* they do not face each other */
    vec_scale(n, 1 / length, n);
    to_a(pair, n, local);
    return dls_mesh_is_minimum(mesh, element, DLS_TRIANGLE_VERTEX + k, n) &&
           is_above(pair, vertex, local, strict_slack);
}

/* The contact of b's vertex on a, found before, where this vertex of a lies on it; NULL: there is none. */
static dls_contact_point *find_met(const skin_pair *pair, int element, double height, const double *p) {
    const dls_mesh *mesh = pair->b->shape->mesh;
    double near = beside * size_of(mesh, element) + 2 * fabs(height);
    int k = 0;
    while (k < 3 && vec_distance(p, dls_mesh_corner(mesh, element, k)) > near) k++;
    if (k == 3 || pair->side == 0) return NULL;
    uint64_t feature = dls_skin_feature(0, mesh->element[3 * (size_t)element + (size_t)k], 0);
    for (int i = pair->first; i < pair->manifold->count; i++)
        if (pair->manifold->point[i].feature == feature) return &pair->manifold->point[i];
    return NULL;
}

/* A vertex on a vertex is one contact, along the mean of what both faces say. Two of nearly one place and
 * normal would leave each other's slide no way but an impulse without bound. */
static bool join(const skin_pair *pair, const double *p, const double *n, dls_contact_point *met) {
    double at[3], normal[3], between[3];
    mat_apply(at, pair->b->R, p);
    vec_add(at, at, pair->b->x);
    mat_apply(normal, pair->b->R, n); /* from b, the first, to a */
    if (vec_dot(normal, met->normal) < smooth) return false;
    vec_add(normal, normal, met->normal);
    vec_scale(met->normal, 1 / vec_norm(normal), normal);
    vec_copy(met->point_b, at);
    vec_sub(between, met->point_b, met->point_a);
    met->gap = vec_dot(between, met->normal);
    return true;
}

static void add_face(const skin_pair *pair, const double *p, int element, int vertex, int ordinal) {
    const dls_mesh *mesh = pair->b->shape->mesh;
    skin_foot foot;
    double n[3];
    find_foot(mesh, element, p, &foot);
    const double *flat = mesh->normal + 3 * (size_t)element;
    if (pair->b->shape->kind != DLS_SKIN)
        vec_copy(n, flat); /* a mesh is as flat as it is told */
    else if (!tip_normal(pair, vertex, p, element, vec_dot(foot.d, flat), n))
        surface_normal(mesh, element, foot.q, n);
    dls_contact_point *met = find_met(pair, element, vec_dot(foot.d, flat), p);
    if (met && join(pair, p, n, met)) return;
    dls_skin_add(pair, p, foot.q, n, vec_dot(foot.d, n), dls_skin_feature(pair->side, vertex, ordinal));
}

/* Other faces that the vertex stands over: in a hollow it may touch two. */
static void add_others(const skin_pair *pair, int vertex, const double *p, dls_mesh_walk *walk, int nearest) {
    const dls_mesh *mesh = pair->b->shape->mesh;
    const double *first = mesh->normal + 3 * (size_t)nearest;
    for (int element; (element = dls_mesh_walk_next(walk)) >= 0;) {
        skin_foot foot;
        double height;
        find_foot(mesh, element, p, &foot);
        if (element != nearest && foot.feature == DLS_TRIANGLE_FACE &&
            vec_dot(mesh->normal + 3 * (size_t)element, first) < 0.9 &&
            is_held(pair, vertex, &foot, &height) && height > 0)
            add_face(pair, p, element, vertex, element + 1);
    }
}

static void vertex_contacts(const skin_pair *pair, int vertex, const double *p) {
    const dls_mesh *mesh = pair->b->shape->mesh;
    double low[3], high[3], reach = fmax(pair->margin, pair->depth);
    skin_foot nearest = {.element = -1, .distance = INFINITY}, foot;
    skin_hold hold[2] = {{-1, 0}, {-1, 0}}; /* of one inside, of one outside */
    dls_mesh_walk walk;
    for (int i = 0; i < 3; i++) low[i] = p[i] - reach, high[i] = p[i] + reach;
    dls_mesh_walk_begin(&walk, mesh, low, high);
    for (int element; (element = dls_mesh_walk_next(&walk)) >= 0;) {
        double height;
        find_foot(mesh, element, p, &foot);
        if (foot.distance < nearest.distance) nearest = foot;
        if (!is_held(pair, vertex, &foot, &height)) continue;
        double least = -beside * size_of(mesh, element); /* of one that is outside by rounding */
        for (int outside = 0; outside < 2; outside++)
            if ((!outside || height > least) && is_nearer(&hold[outside], height, outside))
                hold[outside] = (skin_hold){element, height};
    }
    if (nearest.element < 0) return;
    bool outside = dls_mesh_is_outside(mesh, nearest.element, nearest.feature, nearest.d);
    if (hold[outside].element < 0) {
        if (!outside || !add_beside(pair, vertex, p, &nearest))
            behind_ridges(pair, vertex, p, low, high, outside ? 0 : nearest.distance);
        return;
    }
    add_face(pair, p, hold[outside].element, vertex, 0);
    dls_mesh_walk_begin(&walk, mesh, low, high);
    add_others(pair, vertex, p, &walk, hold[outside].element);
}

void dls_skin_vertices(const skin_pair *pair) {
    const dls_mesh *mesh = pair->a->shape->mesh;
    const dls_hull *hull = pair->a->shape->hull;
    const dls_tree_node *root = &pair->b->shape->mesh->tree->node[0];
    const double *vertex = hull ? hull->vertex : mesh->vertex;
    double reach = fmax(pair->margin, 0);
    for (int v = 0, count = hull ? hull->vertex_count : mesh->vertex_count; v < count; v++) {
        double p[3];
        bool near = hull || mesh->vertex_start[v] < mesh->vertex_start[v + 1];
        dls_skin_see(pair, vertex + 3 * (size_t)v, p);
        for (int i = 0; i < 3 && near; i++)
            near = p[i] >= root->low[i] - reach && p[i] <= root->high[i] + reach;
        if (near) vertex_contacts(pair, v, p);
    }
}
