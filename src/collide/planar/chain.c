/* Discs and polygons on chains of segments. Joints that do not stick out are not felt: a contact is a local
 * minimum of the distance over all segments that meet there. */
#include "collide/planar/planar.h"

/* Relative to the size of what moves. */
static const double slack_new = 1e-9;  /* a vertex counts where it is nearest up to this */
static const double slack_kept = 2e-6; /* what was there before stays a little longer */
static const double same_place = 4e-6; /* contacts nearer to each other are one */
static const double same_cosine = 1 - 1e-3;
static const double flat_sine = 1e-6;   /* joints that turn less do not stick out */
static const double corner_sine = 0.1;  /* how far a side may lean against the corner that supports it */
static const double behind_ties = 2e-6; /* several segments may be equally near */

enum { STACK = 64 };

/* ---- segments whose boxes meet a square ---- */

typedef struct walk {
    const dls_tree *tree;
    double low[2], high[2];
    int stack[STACK], depth, next, end;
} walk;

static walk walk_begin(const dls_mesh *mesh, const double *p, double reach) {
    return (walk){.tree = mesh->tree,
                  .low = {p[0] - reach, p[1] - reach},
                  .high = {p[0] + reach, p[1] + reach},
                  .depth = mesh->element_count > 0};
}

/* The next segment, or −1. */
static int walk_next(walk *w) {
    for (;;) {
        if (w->next < w->end) return w->tree->element[w->next++];
        if (w->depth == 0) return -1;
        const dls_tree_node *node = &w->tree->node[w->stack[--w->depth]];
        if (node->low[0] > w->high[0] || node->high[0] < w->low[0] || node->low[1] > w->high[1] ||
            node->high[1] < w->low[1])
            continue;
        if (node->left < 0) {
            w->next = -1 - node->left;
            w->end = w->next + node->right;
        } else if (w->depth + 2 <= STACK) {
            w->stack[w->depth++] = node->right;
            w->stack[w->depth++] = node->left;
        }
    }
}

/* ---- one ball against the chain, in its frame ---- */

typedef struct segment {
    double v[2], t[2], length; /* first point, direction */
    const double *m;           /* normal, out of the solid */
} segment;

static segment segment_of(const dls_mesh *mesh, int e) {
    const double *v = mesh->vertex + 3 * mesh->element[2 * e],
                 *w = mesh->vertex + 3 * mesh->element[2 * e + 1];
    segment s = {.v = {v[0], v[1]}, .m = mesh->normal + 3 * e};
    s.t[0] = s.m[1], s.t[1] = -s.m[0]; /* the solid is on the right */
    s.length = s.t[0] * (w[0] - v[0]) + s.t[1] * (w[1] - v[1]);
    return s;
}

/* A ball that touches; polygons use balls without radius at their vertices. */
typedef struct ball {
    double p[2], radius;
    double size;  /* what slacks are relative to */
    double depth; /* how far behind the chain its centre may have come */
    double margin;
    uint64_t family; /* bits of its features */
    const dls_contact_point *last;
    int last_count;
    double nearest; /* distance to the chain */
} ball;

/* A contact in the chain's frame: out points out of the solid, foot lies on the chain. */
typedef struct touch {
    double foot[2], out[2], gap;
    uint64_t feature;
} touch;

static bool may_be_behind(const ball *b, double distance) {
    return distance <= b->depth && distance <= b->nearest + behind_ties * b->size;
}

/* outside (may be NULL): the nearest point lies within a segment that p is in front of. */
static double nearest_distance(const dls_mesh *mesh, const double *p, double reach, bool *outside) {
    walk w = walk_begin(mesh, p, reach);
    double least = INFINITY;
    bool in_front = false;
    for (int e; (e = walk_next(&w)) >= 0;) {
        segment s = segment_of(mesh, e);
        double d[2] = {p[0] - s.v[0], p[1] - s.v[1]}, at = dls_plane_dot(d, s.t);
        double height = dls_plane_dot(d, s.m), beyond = fmax(fmax(-at, at - s.length), 0);
        double square = height * height + beyond * beyond;
        if (square < least) least = square, in_front = beyond <= 0 && height > 0;
    }
    if (outside) *outside = in_front;
    return sqrt(least);
}

/* Whether two segments that meet at a vertex make a hollow, seen from where it is not solid. */
static bool is_hollow(const dls_mesh *mesh, int v, int e, const double *m) {
    segment s = segment_of(mesh, e);
    return (mesh->element[2 * e] == v ? 1 : -1) * dls_plane_dot(s.t, m) > flat_sine;
}

/* In a hollow both segments hold what has gone beyond their common end, through the other one. */
static bool goes_on(const dls_mesh *mesh, int e, int end, const ball *b) {
    int other = mesh->neighbour[2 * e + end], v = mesh->element[2 * e + end];
    if (other < 0 || !is_hollow(mesh, v, other, mesh->normal + 3 * e)) return false;
    segment s = segment_of(mesh, other);
    double d[2] = {b->p[0] - s.v[0], b->p[1] - s.v[1]}, at = dls_plane_dot(d, s.t);
    double height = dls_plane_dot(d, s.m), beyond = end ? -at : at - s.length; /* the other's end here */
    if (beyond > 0) return may_be_behind(b, sqrt(height * height + beyond * beyond));
    return beyond > -s.length && height < 0 && may_be_behind(b, -height);
}

static bool touch_segment(const dls_mesh *mesh, int e, const ball *b, touch *result) {
    segment s = segment_of(mesh, e);
    double d[2] = {b->p[0] - s.v[0], b->p[1] - s.v[1]}, height = dls_plane_dot(d, s.m);
    if (height - b->radius > b->margin) return false;
    double at = dls_plane_dot(d, s.t);
    result->feature = b->family | (uint64_t)e << 1;
    bool kept = dls_was_there(b->last, b->last_count, result->feature);
    double slack = kept ? slack_kept * b->size : 0;
    if (at < -slack && !goes_on(mesh, e, 0, b)) return false;
    if (at > s.length + slack && !goes_on(mesh, e, 1, b)) return false;
    if (height < 0 && !may_be_behind(b, -height)) return false;
    for (int i = 0; i < 2; i++) {
        result->out[i] = s.m[i];
        result->foot[i] = s.v[i] + at * s.t[i];
    }
    result->gap = height - b->radius;
    return true;
}

/* Sum of the normals around a vertex; false where the ball is nearer to a point beside it, and in hollows. */
static bool nearest_at_vertex(const dls_mesh *mesh, int v, const double *d, double slack, double *normals) {
    normals[0] = normals[1] = 0;
    for (int k = mesh->vertex_start[v]; k < mesh->vertex_start[v + 1]; k++) {
        int e = mesh->vertex_element[k];
        segment s = segment_of(mesh, e);
        double along = dls_plane_dot(d, s.t);
        if ((mesh->element[2 * e] == v ? along : -along) > slack) return false;
        int other = mesh->vertex_element[mesh->vertex_start[v]];
        if (e != other && is_hollow(mesh, v, e, mesh->normal + 3 * other)) return false;
        normals[0] += s.m[0], normals[1] += s.m[1];
    }
    return true;
}

static bool touch_vertex(const dls_mesh *mesh, int v, const ball *b, touch *result) {
    double d[2] = {b->p[0] - mesh->vertex[3 * v], b->p[1] - mesh->vertex[3 * v + 1]}, normals[2];
    double distance = sqrt(dls_plane_dot(d, d));
    if (distance - b->radius > b->margin && distance > b->depth) return false;
    result->feature = b->family | (uint64_t)v << 1 | 1;
    bool kept = dls_was_there(b->last, b->last_count, result->feature);
    if (!nearest_at_vertex(mesh, v, d, kept ? slack_kept * b->size : slack_new * distance, normals))
        return false;
    bool open_end = mesh->vertex_start[v + 1] - mesh->vertex_start[v] == 1;
    double side = !open_end && dls_plane_dot(d, normals) < 0 ? -1 : 1;
    if (side < 0 ? !may_be_behind(b, distance) : distance - b->radius > b->margin) return false;
    const double *out = d;
    double length = side * distance;
    if (distance <= 1e-9 * b->size) { /* nearer than that the direction has no digits */
        out = normals;
        length = sqrt(dls_plane_dot(normals, normals));
    }
    for (int i = 0; i < 2; i++) {
        result->foot[i] = mesh->vertex[3 * v + i];
        result->out[i] = out[i] / length;
    }
    result->gap = dls_plane_dot(result->out, d) - b->radius;
    return length != 0;
}

/* ---- handing out ---- */

/* Adds a contact unless one is there already at the same place; of two the one that is not new stays. */
static void add_once(const dls_contact_point *c, double size, const dls_contact_point *last, int last_count,
                     int first, dls_manifold *manifold) {
    for (int k = first; k < manifold->count; k++) {
        dls_contact_point *other = &manifold->point[k];
        if (vec_distance(other->point_b, c->point_b) > same_place * size ||
            vec_dot(other->normal, c->normal) < same_cosine)
            continue;
        if (dls_was_there(last, last_count, c->feature) && !dls_was_there(last, last_count, other->feature))
            *other = *c;
        return;
    }
    dls_manifold_add(manifold, c->point_a, c->point_b, c->normal, c->gap, c->feature);
}

static void add_touch(const dls_placed *chain, const ball *b, const touch *t, int first,
                      dls_manifold *manifold) {
    dls_contact_point c = {.gap = t->gap, .feature = t->feature};
    double n[2] = {-t->out[0], -t->out[1]};
    double near[2] = {b->p[0] + b->radius * n[0], b->p[1] + b->radius * n[1]};
    dls_plane_turn(chain, n, c.normal);
    dls_plane_to_world(chain, near, c.point_a);
    dls_plane_to_world(chain, t->foot, c.point_b);
    add_once(&c, b->size, b->last, b->last_count, first, manifold);
}

/* Each vertex is looked at with the first of its segments. */
static bool owns_vertex(const dls_mesh *mesh, int e, int end) {
    return mesh->vertex_element[mesh->vertex_start[mesh->element[2 * e + end]]] == e;
}

void dls_collide_disc_chain(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                            const dls_contact_point *last, int last_count, dls_manifold *manifold) {
    (void)memory;
    const dls_mesh *mesh = b->shape->mesh;
    double radius = a->shape->radius, reach = radius + margin;
    ball disc = {.radius = radius,
                 .size = radius,
                 .depth = radius,
                 .margin = margin,
                 .last = last,
                 .last_count = last_count};
    dls_plane_to_local(b, a->x, disc.p);
    disc.nearest = nearest_distance(mesh, disc.p, reach, NULL);
    if (disc.nearest > reach) return;
    int first = manifold->count;
    walk w = walk_begin(mesh, disc.p, reach);
    touch t;
    for (int e; (e = walk_next(&w)) >= 0;) {
        if (touch_segment(mesh, e, &disc, &t)) add_touch(b, &disc, &t, first, manifold);
        for (int end = 0; end < 2; end++)
            if (owns_vertex(mesh, e, end) && touch_vertex(mesh, mesh->element[2 * e + end], &disc, &t))
                add_touch(b, &disc, &t, first, manifold);
    }
}

/* ---- polygons: their vertices against segments, corners of the chain against their sides ---- */

static const uint64_t vertex_family = (uint64_t)1 << 62, corner_family = (uint64_t)2 << 62;

/* Whether the direction −out leaves the polygon at its vertex i, its sides leaning at most by the given sine.
 */
static bool leaves_at(const dls_placed *polygon, const dls_placed *chain, int i, const double *out,
                      double sine) {
    const dls_hull *h = polygon->shape->hull;
    int count = h->vertex_count, beside[2] = {i ? i - 1 : count - 1, i + 1 < count ? i + 1 : 0};
    const double *v = h->vertex + 3 * i;
    double world[3], u[2];
    dls_plane_turn(chain, out, world);
    dls_plane_turn_back(polygon, world, u);
    for (int k = 0; k < 2; k++) {
        const double *w = h->vertex + 3 * beside[k];
        double e[2] = {w[0] - v[0], w[1] - v[1]};
        if (dls_plane_dot(u, e) < -sine * sqrt(dls_plane_dot(e, e))) return false;
    }
    return true;
}

/* Contacts of vertex i. Where all: also those that have gone behind a segment against which it does not
 * point. Returns whether there are such. */
static bool add_vertex(const dls_placed *a, int i, const dls_placed *b, double margin, bool all,
                       const dls_contact_point *last, int last_count, int first, dls_manifold *manifold) {
    const dls_mesh *mesh = b->shape->mesh;
    const dls_hull *h = a->shape->hull;
    double reach = fmax(margin, h->size), world[3];
    ball point = {.size = h->size,
                  .depth = h->size,
                  .margin = margin,
                  .family = vertex_family | (uint64_t)i << 32,
                  .last = last,
                  .last_count = last_count};
    dls_plane_to_world(a, h->vertex + 3 * i, world);
    dls_plane_to_local(b, world, point.p);
    bool left = false, outside;
    point.nearest = nearest_distance(mesh, point.p, reach, &outside);
    if (point.nearest > (outside ? margin : reach)) return false;
    /* what is held in a hollow lies near its bottom */
    walk w = walk_begin(mesh, point.p, fmin(reach, 2 * (margin + point.nearest)));
    touch t;
    for (int e; (e = walk_next(&w)) >= 0;) {
        if (touch_segment(mesh, e, &point, &t)) {
            if ((all && t.gap < 0) || leaves_at(a, b, i, t.out, corner_sine))
                add_touch(b, &point, &t, first, manifold);
            else
                left = left || t.gap < 0;
        }
        for (int end = 0; end < 2; end++)
            if (owns_vertex(mesh, e, end) && touch_vertex(mesh, mesh->element[2 * e + end], &point, &t) &&
                (t.gap < 0 || leaves_at(a, b, i, t.out, flat_sine)))
                add_touch(b, &point, &t, first, manifold);
    }
    return left;
}

/* Directions from a vertex along its segments; false where it does not stick out of the solid. */
static bool corner_at(const dls_mesh *mesh, int v, double directions[2][2], int *count) {
    int start = mesh->vertex_start[v];
    *count = mesh->vertex_start[v + 1] - start;
    if (*count > 2) *count = 2;
    const double *m = NULL;
    for (int k = 0; k < *count; k++) {
        int e = mesh->vertex_element[start + k];
        segment s = segment_of(mesh, e);
        double sign = mesh->element[2 * e] == v ? 1 : -1;
        directions[k][0] = sign * s.t[0], directions[k][1] = sign * s.t[1];
        m = s.m;
    }
    return *count == 1 || dls_plane_dot(directions[0], m) < -flat_sine;
}

/* The side of the polygon that a corner at q stands against: outside the one it is nearest to, inside the
 * least deep of those it can support; −1 for none. */
static int supported_side(const dls_hull *h, const double *q, double directions[2][2], int count,
                          double margin, double *height) {
    double widest = -INFINITY, best = -INFINITY;
    int side = -1, nearest = 0;
    for (int k = 0; k < h->vertex_count; k++) {
        const double *u = h->face_normal + 3 * k;
        double here = dls_plane_dot(u, q) - h->face_offset[k];
        if (here > margin) return -1;
        if (here > widest) widest = here, nearest = k;
        bool supports = true;
        for (int i = 0; i < count; i++)
            supports = supports && dls_plane_dot(directions[i], u) >= -corner_sine;
        if (supports && here > best) best = here, side = k;
    }
    *height = best;
    return widest > slack_kept * h->size && side != nearest ? -1 : side;
}

static void add_corner(const dls_placed *a, const dls_placed *b, int v, double margin,
                       const dls_contact_point *last, int last_count, int first, dls_manifold *manifold) {
    const dls_mesh *mesh = b->shape->mesh;
    const dls_hull *h = a->shape->hull;
    double directions[2][2], world[3], q[2], height;
    int count;
    if (!corner_at(mesh, v, directions, &count)) return;
    dls_plane_to_world(b, mesh->vertex + 3 * v, world);
    dls_plane_to_local(a, world, q);
    for (int i = 0; i < count; i++) {
        double turned[3];
        dls_plane_turn(b, directions[i], turned);
        dls_plane_turn_back(a, turned, directions[i]);
    }
    int side = supported_side(h, q, directions, count, margin, &height);
    if (side < 0) return;
    const double *begin = h->vertex + 3 * side, *u = h->face_normal + 3 * side;
    const double *end = h->vertex + 3 * (side + 1 < h->vertex_count ? side + 1 : 0);
    double t[2] = {-u[1], u[0]}, at = dls_plane_dot(t, q);
    uint64_t feature = corner_family | (uint64_t)v << 32 | (uint64_t)side;
    double slack = dls_was_there(last, last_count, feature) ? slack_kept * h->size : 0;
    if (at < dls_plane_dot(t, begin) - slack || at > dls_plane_dot(t, end) + slack) return;
    dls_contact_point c = {.gap = height, .feature = feature};
    dls_plane_turn(a, u, c.normal);
    vec_copy(c.point_b, world);
    vec_along(c.point_a, world, -height, c.normal);
    add_once(&c, h->size, last, last_count, first, manifold);
}

void dls_collide_polygon_chain(const dls_placed *a, const dls_placed *b, double margin,
                               dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                               dls_manifold *manifold) {
    (void)memory;
    const dls_mesh *mesh = b->shape->mesh;
    const dls_hull *h = a->shape->hull;
    double centre[2], reach = a->shape->bound + margin;
    dls_plane_to_local(b, a->x, centre);
    if (nearest_distance(mesh, centre, reach, NULL) > reach) return;
    int first = manifold->count;
    bool left = false;
    for (int i = 0; i < h->vertex_count; i++)
        left |= add_vertex(a, i, b, margin, false, last, last_count, first, manifold);
    walk w = walk_begin(mesh, centre, reach);
    for (int e; (e = walk_next(&w)) >= 0;)
        for (int end = 0; end < 2; end++)
            if (owns_vertex(mesh, e, end))
                add_corner(a, b, mesh->element[2 * e + end], margin, last, last_count, first, manifold);
    for (int k = first; k < manifold->count; k++) left = left && manifold->point[k].gap >= 0;
    for (int i = 0; left && i < h->vertex_count; i++) /* they overlap, and nothing else says so */
        add_vertex(a, i, b, margin, true, last, last_count, first, manifold);
}
