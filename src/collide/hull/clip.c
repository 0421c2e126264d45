/* Face against face: the incident face, cut by the sides of the reference face, seen along the reference
 * normal. Each corner of the common area is found from the two features that make it, so that it keeps its
 * name from step to step, and nothing is dropped. */
#include "base/vector.h"
#include "collide/hull/pair.h"

#include <assert.h>
#include <math.h>

enum { STORED = 32 }; /* corners and sides of larger faces are computed again where they are needed */

static const double slack = 1e-6; /* of size: sides stand that far out, so that edge on edge is inside */
static const double cosine_slack = 2e-3; /* by which a remembered incident face may be worse */

typedef struct side_plane {
    double m[3], offset; /* m · x = offset, m outward in the plane of the face */
} side_plane;

typedef struct incident_vertex {
    double p[3]; /* in the reference hull's frame */
    double room; /* slack that it was granted */
    bool inside;
} incident_vertex;

/* One clipping: everything in the frame of the reference hull. */
typedef struct clipping {
    const dls_hull_pair *pair;
    const dls_clip *clip;
    const dls_hull *hull, *other;
    const double *n;
    double offset, epsilon, least;
    int sides, corners; /* of the reference and of the incident face */
    side_plane side[STORED];
    incident_vertex vertex[STORED];
} clipping;

bool dls_contact_was(const dls_contact_point *last, int last_count, uint64_t feature) {
    for (int k = 0; k < last_count; k++)
        if (last[k].feature == feature) return true;
    return false;
}

static bool was(const clipping *c, int kind, int i, int j) {
    return dls_contact_was(c->clip->last, c->clip->last_count, dls_clip_id(c->clip->id, kind, i, j));
}

/* ---- corners and sides ---- */

static const double *reference_corner(const clipping *c, int k) {
    int first = c->hull->face_start[c->clip->face];
    return c->hull->vertex + 3 * c->hull->face_vertex[first + (k < c->sides ? k : 0)];
}

static void make_side(const clipping *c, int k, side_plane *side) {
    double e[3];
    const double *start = reference_corner(c, k);
    vec_sub(e, reference_corner(c, k + 1), start);
    vec_cross(side->m, e, c->n);
    vec_scale(side->m, 1 / vec_norm(side->m), side->m);
    side->offset = vec_dot(side->m, start);
}

static const side_plane *get_side(const clipping *c, int k, side_plane *scratch) {
    if (k < STORED) return &c->side[k];
    make_side(c, k, scratch);
    return scratch;
}

static void place_vertex(const clipping *c, int k, double *p) {
    int first = c->other->face_start[c->clip->incident];
    const double *v = c->other->vertex + 3 * c->other->face_vertex[first + k];
    if (c->clip->reference == 0) {
        mat_apply(p, c->pair->R, v);
        vec_add(p, p, c->pair->x);
    } else {
        vec_sub(p, v, c->pair->x);
        mat_apply_transposed(p, c->pair->R, p);
    }
}

static void make_vertex(const clipping *c, int k, incident_vertex *v) {
    place_vertex(c, k, v->p);
    double out = -INFINITY;
    for (int s = 0; s < c->sides; s++) {
        side_plane scratch;
        const side_plane *side = get_side(c, s, &scratch);
        double beyond = vec_dot(side->m, v->p) - side->offset;
        out = beyond > out ? beyond : out;
    }
    v->inside = out <= c->epsilon;
    v->room = c->epsilon;
    if (!v->inside && out <= 2 * c->epsilon && was(c, DLS_CLIP_VERTEX, k, 0)) {
        v->inside = true;
        v->room = 2 * c->epsilon;
    }
}

static const incident_vertex *get_vertex(const clipping *c, int k, incident_vertex *scratch) {
    if (k >= c->corners) k = 0;
    if (k < STORED) return &c->vertex[k];
    make_vertex(c, k, scratch);
    return scratch;
}

/* ---- output ---- */

static void emit(clipping *c, const double *p, int kind, int i, int j) {
    int r = c->clip->reference;
    double gap = vec_dot(c->n, p) - c->offset, foot[3];
    dls_clip_point point = {.gap = gap, .kind = kind, .i = i, .j = j};
    vec_along(foot, p, -gap, c->n);
    mat_apply(point.on_incident, c->pair->frame_R[r], p);
    vec_add(point.on_incident, point.on_incident, c->pair->frame_x[r]);
    mat_apply(point.on_reference, c->pair->frame_R[r], foot);
    vec_add(point.on_reference, point.on_reference, c->pair->frame_x[r]);
    point.id = dls_clip_id(c->clip->id, kind, i, j);
    c->least = gap < c->least ? gap : c->least;
    c->clip->emit(c->clip->user, &point);
}

/* ---- edges of the incident face over sides of the reference face ---- */

/* Where an edge comes in and goes out: parameter, side and speed across it. */
typedef struct span {
    double from, to, from_speed, to_speed;
    int from_side, to_side;
} span;

static bool cut(const clipping *c, const incident_vertex *u, const incident_vertex *v, span *cut) {
    double room = u->inside ? u->room : v->inside ? v->room : c->epsilon;
    *cut = (span){.from = 0, .to = 1, .from_side = -1, .to_side = -1};
    for (int s = 0; s < c->sides; s++) {
        side_plane scratch;
        const side_plane *side = get_side(c, s, &scratch);
        double du = vec_dot(side->m, u->p) - side->offset - room,
               dv = vec_dot(side->m, v->p) - side->offset - room;
        if (du > 0 && dv > 0 && !u->inside && !v->inside) return false;
        if (du > 0 && !u->inside) {
            double t = dv < du ? fmin(1, du / (du - dv)) : 1;
            if (cut->from_side < 0 || t > cut->from)
                cut->from = t, cut->from_side = s, cut->from_speed = du - dv;
        }
        if (dv > 0 && !v->inside) {
            double t = du < dv ? fmax(0, du / (du - dv)) : 0;
            if (cut->to_side < 0 || t < cut->to) cut->to = t, cut->to_side = s, cut->to_speed = dv - du;
        }
    }
    return true;
}

/* Where an edge leaves over a corner, the side that it had in the step before counts. */
static void keep_side(const clipping *c, int edge, const incident_vertex *u, const incident_vertex *v,
                      bool out, span *cut) {
    int *chosen = out ? &cut->to_side : &cut->from_side;
    double *t = out ? &cut->to : &cut->from, speed = out ? cut->to_speed : cut->from_speed;
    if (*chosen < 0 || c->clip->last_count == 0 || was(c, DLS_CLIP_EDGE, edge, *chosen)) return;
    double room = u->inside ? u->room : v->inside ? v->room : c->epsilon;
    for (int s = 0; s < c->sides; s++) {
        side_plane scratch;
        const side_plane *side = get_side(c, s, &scratch);
        double du = vec_dot(side->m, u->p) - side->offset - room,
               dv = vec_dot(side->m, v->p) - side->offset - room, at = du / (du - dv);
        if (s == *chosen || (out ? dv <= 0 || du > 0 : du <= 0 || dv > 0)) continue;
        if (fabs(at - *t) * speed > 2 * c->epsilon || !was(c, DLS_CLIP_EDGE, edge, s)) continue;
        *chosen = s;
        *t = at;
        return;
    }
}

/* Passing a corner by within the slack counts as cutting it: both ends at the better of the two places. */
static bool close_pass(const clipping *c, int edge, span *cut) {
    if (cut->from_side < 0 || cut->to_side < 0) return true;
    double miss = (cut->from - cut->to) * fmin(cut->from_speed, cut->to_speed);
    if (miss > 4 * c->epsilon) return false;
    if (miss > 2 * c->epsilon && !was(c, DLS_CLIP_EDGE, edge, cut->from_side)) return false;
    if (cut->from_speed < cut->to_speed)
        cut->from = cut->to;
    else
        cut->to = cut->from;
    return true;
}

/* Where the edge from u to v crosses the side itself, not where that stands for its slack: points lie on both
 * bodies. */
static void crossing_point(const clipping *c, const incident_vertex *u, const incident_vertex *v, int side,
                           double *p) {
    side_plane scratch;
    const side_plane *plane = get_side(c, side, &scratch);
    double e[3], du = vec_dot(plane->m, u->p) - plane->offset, dv = vec_dot(plane->m, v->p) - plane->offset;
    vec_sub(e, v->p, u->p);
    vec_along(p, u->p, fmin(1, fmax(0, du / (du - dv))), e);
}

static void clip_edge(clipping *c, int k) {
    incident_vertex first, second;
    const incident_vertex *u = get_vertex(c, k, &first), *v = get_vertex(c, k + 1, &second);
    if (u->inside) emit(c, u->p, DLS_CLIP_VERTEX, k, 0);
    if (u->inside && v->inside) return;
    span inner;
    if (!cut(c, u, v, &inner)) return;
    keep_side(c, k, u, v, false, &inner);
    keep_side(c, k, u, v, true, &inner);
    if (inner.from > inner.to && !close_pass(c, k, &inner)) return;
    double p[3];
    if (inner.from_side >= 0) {
        crossing_point(c, u, v, inner.from_side, p);
        emit(c, p, DLS_CLIP_EDGE, k, inner.from_side);
    }
    if (inner.to_side >= 0) {
        crossing_point(c, u, v, inner.to_side, p);
        emit(c, p, DLS_CLIP_EDGE, k, inner.to_side);
    }
}

/* ---- corners of the reference face over the incident face ---- */

/* How far x, seen along the reference normal, lies outside of the incident face; stops beyond 0. */
static double outside_incident(const clipping *c, const double *x) {
    double out = -INFINITY;
    for (int k = 0; k < c->corners && out <= 0; k++) {
        incident_vertex first, second;
        const double *u = get_vertex(c, k, &first)->p, *v = get_vertex(c, k + 1, &second)->p;
        double e[3], m[3], d[3];
        vec_sub(e, v, u);
        vec_cross(m, c->n, e);
        double length = vec_norm(m);
        if (!(length > 1e-9 * vec_norm(e))) continue; /* seen from its end */
        vec_sub(d, x, u);
        out = fmax(out, vec_dot(m, d) / length);
    }
    return out;
}

/* normal and offset: the incident plane in the reference hull's frame. */
static void clip_corner(clipping *c, int k, const double *normal, double offset) {
    side_plane first, second;
    const side_plane *before = get_side(c, k > 0 ? k - 1 : c->sides - 1, &first),
                     *after = get_side(c, k, &second);
    double x[3], bisector[3];
    vec_add(bisector, before->m, after->m);
    vec_along(x, reference_corner(c, k), c->epsilon / fmax(1 + vec_dot(before->m, after->m), 0.5), bisector);
    double out = outside_incident(c, x);
    if (out > 0) return;
    if (out > -c->epsilon && !was(c, DLS_CLIP_CORNER, k, 0)) return;
    vec_copy(x, reference_corner(c, k));
    vec_along(x, x, (offset - vec_dot(normal, x)) / vec_dot(normal, c->n), c->n);
    emit(c, x, DLS_CLIP_CORNER, k, 0);
}

static void clip_corners(clipping *c) {
    double normal[3];
    const double *local = c->other->face_normal + 3 * c->clip->incident;
    if (c->clip->reference == 0)
        mat_apply(normal, c->pair->R, local);
    else
        mat_apply_transposed(normal, c->pair->R, local);
    if (vec_dot(normal, c->n) > -1e-3) return; /* an incident face seen from its side has edges only */
    double p[3];
    place_vertex(c, 0, p);
    double offset = vec_dot(normal, p);
    for (int k = 0; k < c->sides; k++) clip_corner(c, k, normal, offset);
}

double dls_hull_clip(const dls_hull_pair *pair, const dls_clip *clip) {
    clipping c;
    c.pair = pair;
    c.clip = clip;
    c.hull = pair->hull[clip->reference];
    c.other = pair->hull[1 - clip->reference];
    assert(clip->face >= 0 && clip->face < c.hull->face_count); /* memory was checked before it came here */
    assert(clip->incident >= 0 && clip->incident < c.other->face_count);
    c.n = c.hull->face_normal + 3 * clip->face;
    c.offset = c.hull->face_offset[clip->face];
    c.epsilon = slack * pair->size;
    c.least = INFINITY;
    c.sides = c.hull->face_start[clip->face + 1] - c.hull->face_start[clip->face];
    c.corners = c.other->face_start[clip->incident + 1] - c.other->face_start[clip->incident];
    assert(c.sides >= 3 && c.corners >= 3 && vec_is_unit(c.n));
    for (int k = 0; k < c.sides && k < STORED; k++) make_side(&c, k, &c.side[k]);
    bool all = true;
    for (int k = 0; k < c.corners && k < STORED; k++) {
        make_vertex(&c, k, &c.vertex[k]);
        all = all && c.vertex[k].inside;
    }
    for (int k = 0; k < c.corners; k++) clip_edge(&c, k);
    if (!all || c.corners > STORED) clip_corners(&c);
    return c.least;
}

int dls_hull_incident(const dls_hull_pair *pair, int reference, int face, int cached) {
    const dls_hull *other = pair->hull[1 - reference];
    const double *n = pair->hull[reference]->face_normal + 3 * face;
    double local[3], down[3];
    if (reference == 0)
        mat_apply_transposed(local, pair->R, n);
    else
        mat_apply(local, pair->R, n);
    int best = 0, count = other->face_count;
    const int *faces = NULL;
    if (!pair->half[1 - reference]) { /* of a box the best face always has the deepest vertex */
        vec_scale(down, -1, local);
        int v = dls_hull_support(other, down);
        faces = other->vertex_face + other->vertex_start[v];
        count = other->vertex_start[v + 1] - other->vertex_start[v];
    }
    double least = INFINITY;
    for (int k = 0; k < count; k++) {
        int f = faces ? faces[k] : k;
        double cosine = vec_dot(local, other->face_normal + 3 * f);
        if (cosine < least) {
            least = cosine;
            best = f;
        }
    }
    if (cached >= 0 && cached < other->face_count &&
        vec_dot(local, other->face_normal + 3 * cached) <= least + cosine_slack)
        return cached;
    return best;
}
