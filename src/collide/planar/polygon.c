/* Convex polygons in the plane: clipped sides with identities that do not flicker. */
#include "collide/planar/planar.h"

/* Relative to the smaller of the two sizes. */
static const double prefer = 5e-8;  /* how much worse than the best a preferred side may be */
static const double outward = 1e-6; /* how far beyond the ends of the reference side points count */
static const double keep_cosine = 2e-3;

static int side_after(const dls_hull *h, int k) { return k + 1 < h->vertex_count ? k + 1 : 0; }
static int side_before(const dls_hull *h, int k) { return k > 0 ? k - 1 : h->vertex_count - 1; }
static const double *vertex(const dls_hull *h, int k) { return h->vertex + 3 * k; }
static const double *normal(const dls_hull *h, int k) { return h->face_normal + 3 * k; }

/* ---- a disc: the side with the largest height over it, or one of its two vertices ---- */

void dls_collide_disc_polygon(const dls_placed *a, const dls_placed *b, double margin,
                              dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                              dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    const dls_hull *h = b->shape->hull;
    double radius = a->shape->radius, p[2], best = -INFINITY;
    int side = 0;
    dls_plane_to_local(b, a->x, p);
    for (int k = 0; k < h->vertex_count; k++) {
        double height = dls_plane_dot(normal(h, k), p) - h->face_offset[k];
        if (height > radius + margin) return;
        if (height > best) best = height, side = k;
    }
    const double *v = vertex(h, side), *w = vertex(h, side_after(h, side)), *u = normal(h, side);
    double e[2] = {w[0] - v[0], w[1] - v[1]}, s = e[0] * (p[0] - v[0]) + e[1] * (p[1] - v[1]);
    double out[3] = {u[0], u[1], 0}, foot[3] = {p[0] - best * u[0], p[1] - best * u[1], 0};
    bool before = s<0, after = s> dls_plane_dot(e, e);
    if (best > 0 && (before || after)) {
        const double *corner = before ? v : w;
        double x = p[0] - corner[0], y = p[1] - corner[1];
        best = sqrt(x * x + y * y);
        if (best > radius + margin) return;
        out[0] = x / best, out[1] = y / best;
        foot[0] = corner[0], foot[1] = corner[1];
    }
    double n[3], point_a[3], point_b[3];
    dls_plane_turn(b, out, n);
    n[0] = -n[0], n[1] = -n[1];
    dls_plane_to_world(b, foot, point_b);
    vec_set(point_a, a->x[0] + radius * n[0], a->x[1] + radius * n[1], 0);
    dls_manifold_add(manifold, point_a, point_b, n, best - radius, 0);
}

/* ---- half-plane and drum: a convex shape comes nearest with a vertex ---- */

void dls_collide_polygon_half_plane(const dls_placed *a, const dls_placed *b, double margin,
                                    dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                                    dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    const dls_hull *h = a->shape->hull;
    double n[3] = {-b->R[3], -b->R[4], 0}, inside[2];
    double height = dls_plane_dot(n, b->x) - dls_plane_dot(n, a->x);
    if (height - a->shape->bound > margin) return;
    dls_plane_turn_back(a, n, inside);
    for (int k = 0; k < h->vertex_count; k++) {
        double gap = height - dls_plane_dot(inside, vertex(h, k)), point_a[3], point_b[3];
        if (gap > margin) continue;
        dls_plane_to_world(a, vertex(h, k), point_a);
        vec_along(point_b, point_a, gap, n);
        dls_manifold_add(manifold, point_a, point_b, n, gap, (uint64_t)k);
    }
}

/* gap = R − |v| for each vertex v from the drum's centre */
void dls_collide_polygon_drum(const dls_placed *a, const dls_placed *b, double margin,
                              dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                              dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    const dls_hull *h = a->shape->hull;
    double wall = b->shape->radius, free = wall - margin;
    double dx = a->x[0] - b->x[0], dy = a->x[1] - b->x[1];
    if (sqrt(dx * dx + dy * dy) + a->shape->bound < free) return;
    for (int k = 0; k < h->vertex_count; k++) {
        double p[3], n[3] = {0, -1, 0}, point_b[3];
        dls_plane_to_world(a, vertex(h, k), p);
        double x = p[0] - b->x[0], y = p[1] - b->x[1], square = x * x + y * y;
        if (free > 0 && square < free * free) continue;
        double distance = sqrt(square);
        if (square > 1e-290) n[0] = x / distance, n[1] = y / distance;
        vec_along(point_b, b->x, wall, n);
        point_b[2] = 0;
        dls_manifold_add(manifold, p, point_b, n, wall - distance, (uint64_t)k);
    }
}

/* ---- two polygons ---- */

enum { NO_SIDE, SIDE_OF_A, SIDE_OF_B, CORNERS };

/* How far q stands off a side of p, the vertex of q that comes nearest to it. */
typedef struct side_gap {
    double gap;
    int side, nearest;
} side_gap;

static side_gap gap_at_side(const dls_placed *p, int side, const dls_placed *q) {
    const dls_hull *h = q->shape->hull;
    double u[3], inside[2];
    dls_plane_turn(p, normal(p->shape->hull, side), u);
    dls_plane_turn_back(q, u, inside);
    double move = u[0] * (q->x[0] - p->x[0]) + u[1] * (q->x[1] - p->x[1]), least = INFINITY;
    int nearest = 0;
    for (int k = 0; k < h->vertex_count; k++) {
        double height = dls_plane_dot(inside, vertex(h, k));
        if (height < least) least = height, nearest = k;
    }
    return (side_gap){move + least - p->shape->hull->face_offset[side], side, nearest};
}

/* The side of p with the largest gap; stops at one beyond the margin. */
static side_gap widest_side(const dls_placed *p, const dls_placed *q, double margin) {
    side_gap best = {.gap = -INFINITY};
    for (int k = 0; k < p->shape->hull->vertex_count && best.gap <= margin; k++) {
        side_gap here = gap_at_side(p, k, q);
        if (here.gap > best.gap) best = here;
    }
    return best;
}

/* The side of q at its nearest vertex that faces the reference side most; the last one while it is as good.
 */
static int facing_side(const dls_placed *p, const side_gap *reference, const dls_placed *q, int last) {
    const dls_hull *h = q->shape->hull;
    double u[3], inside[2];
    dls_plane_turn(p, normal(p->shape->hull, reference->side), u);
    dls_plane_turn_back(q, u, inside);
    int before = side_before(h, reference->nearest), after = reference->nearest;
    double cosine_before = dls_plane_dot(inside, normal(h, before));
    double cosine_after = dls_plane_dot(inside, normal(h, after));
    int best = cosine_before < cosine_after ? before : after;
    if (last >= 0 && last < h->vertex_count &&
        dls_plane_dot(inside, normal(h, last)) <= fmin(cosine_before, cosine_after) + keep_cosine)
        return last;
    return best;
}

/* Contacts of one reference side, before they are handed out. */
typedef struct clipped {
    int count;
    double on_side[2][3], on_other[2][3], normal[3], gap[2];
    uint64_t feature[2];
} clipped;

static uint64_t side_feature(int kind, int side, int other, int place) {
    return (uint64_t)kind << 62 | (uint64_t)side << 32 | (uint64_t)other << 2 | (uint64_t)place;
}

/* The part of side `other` of q that lies over a side of p, which is longer by ε at each end. Points that
 * were there have 2ε. place: 0, 1 the ends of the other side; 2, 3 cut at the beginning or end of the
 * reference. */
static void clip_side(const dls_placed *p, int kind, int side, const dls_placed *q, int other, double epsilon,
                      double margin, const dls_contact_point *last, int last_count, clipped *result) {
    const dls_hull *hp = p->shape->hull, *hq = q->shape->hull;
    const double *v = vertex(hp, side), *w = vertex(hp, side_after(hp, side)), *u = normal(hp, side);
    double t[2] = {-u[1], u[0]}, begin = dls_plane_dot(t, v), end = dls_plane_dot(t, w), s[2], height[2];
    for (int i = 0; i < 2; i++) {
        double point[3];
        dls_plane_to_world(q, vertex(hq, i ? side_after(hq, other) : other), point);
        dls_plane_to_local(p, point, point);
        s[i] = dls_plane_dot(t, point);
        height[i] = dls_plane_dot(u, point) - hp->face_offset[side];
    }
    result->count = 0;
    dls_plane_turn(p, u, result->normal);
    for (int i = 0; i < 2; i++) {
        uint64_t feature = side_feature(kind, side, other, i);
        double at = s[i], gap = height[i];
        double slack = dls_was_there(last, last_count, feature) ? 2 * epsilon : epsilon;
        bool below = at<begin - slack, above = at> end + slack;
        if (below || above) {
            double bound = below ? begin - epsilon : end + epsilon, run = s[1 - i] - s[i];
            if (below ? s[1 - i] <= bound : s[1 - i] >= bound) continue;
            gap += (height[1 - i] - height[i]) * (bound - at) / run;
            at = bound;
            feature = side_feature(kind, side, other, below ? 2 : 3);
        }
        if (gap > margin) continue;
        double foot[2] = {u[0] * hp->face_offset[side] + t[0] * at, u[1] * hp->face_offset[side] + t[1] * at};
        int k = result->count++;
        dls_plane_to_world(p, foot, result->on_side[k]);
        vec_along(result->on_other[k], result->on_side[k], gap, result->normal);
        result->gap[k] = gap;
        result->feature[k] = feature;
    }
}

/* ---- sides that share no length ---- */

static const double border = 8e-6;      /* of size: stretches that short are a point */
static const double in_line = 1 - 1e-6; /* cosine of sides that lie in one line */

/* The side of a vertex that is at x, beside the given one, at whose begin or end it is; −1 for none. */
static int side_beside(const dls_placed *p, int side, const double *x, double close) {
    const dls_hull *h = p->shape->hull;
    for (int end = 0; end < 2; end++) {
        double at[3];
        dls_plane_to_world(p, vertex(h, end ? side_after(h, side) : side), at);
        if (hypot(at[0] - x[0], at[1] - x[1]) <= close)
            return end ? side_after(h, side) : side_before(h, side);
    }
    return -1;
}

/* The angle from n to the normal of a side of p, turned round for the other polygon. */
static double angle_to(const double *n, const dls_placed *p, int side, double sign) {
    double u[3];
    dls_plane_turn(p, normal(p->shape->hull, side), u);
    return atan2(sign * (n[0] * u[1] - n[1] * u[0]), sign * (n[0] * u[0] + n[1] * u[1]));
}

/* Sides in one line that meet in a corner hold nothing: bodies slide from one to the next. Corner on corner
 * has the normal amid all that both admit, so that mirror images stay mirror images. */
static void settle_border(const dls_placed *p, int side, const dls_placed *q, int other, double close,
                          clipped *c) {
    if (c->count == 0 || (c->count == 2 && hypot(c->on_side[0][0] - c->on_side[1][0],
                                                 c->on_side[0][1] - c->on_side[1][1]) > close))
        return;
    double *n = c->normal, facing = angle_to(n, q, other, -1);
    int beside_p = side_beside(p, side, c->on_side[0], close),
        beside_q = side_beside(q, other, c->on_other[0], close);
    if (beside_p < 0 || beside_q < 0) return;
    c->count = cos(facing) > in_line ? 0 : 1;
    double own = angle_to(n, p, beside_p, 1), far = angle_to(n, q, beside_q, -1);
    double low = fmax(fmin(0, own), fmin(facing, far)), high = fmin(fmax(0, own), fmax(facing, far));
    double amid = 0.5 * (low + high), x = n[0], y = n[1];
    n[0] = cos(amid) * x - sin(amid) * y;
    n[1] = sin(amid) * x + cos(amid) * y;
    c->gap[0] = n[0] * (c->on_other[0][0] - c->on_side[0][0]) + n[1] * (c->on_other[0][1] - c->on_side[0][1]);
}

static double least_gap(const clipped *c) {
    double least = INFINITY;
    for (int k = 0; k < c->count; k++) least = fmin(least, c->gap[k]);
    return least;
}

static void add_clipped(const clipped *c, bool side_is_of_a, dls_manifold *manifold) {
    double n[3];
    vec_scale(n, side_is_of_a ? 1 : -1, c->normal);
    for (int k = 0; k < c->count; k++)
        dls_manifold_add(manifold, side_is_of_a ? c->on_side[k] : c->on_other[k],
                         side_is_of_a ? c->on_other[k] : c->on_side[k], n, c->gap[k], c->feature[k]);
}

/* Apart, and no vertex lies over a side: two vertices are nearest. */
static void add_corners(const dls_placed *a, const dls_placed *b, const side_gap *best, bool best_is_of_a,
                        double margin, dls_manifold *manifold) {
    const dls_hull *ha = a->shape->hull, *hb = b->shape->hull;
    double least = INFINITY, point_a[3], point_b[3], n[3];
    int va = 0, vb = 0;
    for (int i = 0; i < ha->vertex_count; i++) {
        double p[3];
        dls_plane_to_world(a, vertex(ha, i), p);
        dls_plane_to_local(b, p, p);
        for (int j = 0; j < hb->vertex_count; j++) {
            double x = vertex(hb, j)[0] - p[0], y = vertex(hb, j)[1] - p[1], square = x * x + y * y;
            if (square < least) least = square, va = i, vb = j;
        }
    }
    dls_plane_to_world(a, vertex(ha, va), point_a);
    dls_plane_to_world(b, vertex(hb, vb), point_b);
    vec_sub(n, point_b, point_a);
    double gap = vec_norm(n), size = fmin(ha->size, hb->size);
    if (gap > margin) return;
    if (gap > 1e-9 * size) { /* nearer than that the direction has no digits */
        vec_scale(n, 1 / gap, n);
    } else {
        const dls_placed *p = best_is_of_a ? a : b;
        dls_plane_turn(p, normal(p->shape->hull, best->side), n);
        vec_scale(n, best_is_of_a ? 1 : -1, n);
        gap = n[0] * (point_b[0] - point_a[0]) + n[1] * (point_b[1] - point_a[1]);
    }
    dls_manifold_add(manifold, point_a, point_b, n, gap, side_feature(CORNERS, va, vb, 0));
}

/* The reference: a side of A where it is nearly the best, else one of B; the one before while it is good. */
static int choose_side(const dls_placed *a, const dls_placed *b, const dls_pair_memory *memory, double tau,
                       side_gap *of_a, side_gap *of_b) {
    double best = fmax(of_a->gap, of_b->gap);
    int kind = memory->used ? memory->feature[0] : NO_SIDE;
    const dls_placed *p = kind == SIDE_OF_A ? a : b;
    if ((kind == SIDE_OF_A || kind == SIDE_OF_B) && memory->feature[1] >= 0 &&
        memory->feature[1] < p->shape->hull->vertex_count) {
        side_gap again = gap_at_side(p, memory->feature[1], kind == SIDE_OF_A ? b : a);
        if (again.gap >= best - 2 * tau) {
            *(kind == SIDE_OF_A ? of_a : of_b) = again;
            return kind;
        }
    }
    return of_a->gap >= best - tau ? SIDE_OF_A : SIDE_OF_B;
}

void dls_collide_polygon_polygon(const dls_placed *a, const dls_placed *b, double margin,
                                 dls_pair_memory *memory, const dls_contact_point *last, int last_count,
                                 dls_manifold *manifold) {
    double dx = b->x[0] - a->x[0], dy = b->x[1] - a->x[1];
    double reach = a->shape->bound + b->shape->bound + margin;
    if (dx * dx + dy * dy > reach * reach) return;
    side_gap best_a = widest_side(a, b, margin), best_b = {.gap = -INFINITY};
    if (best_a.gap <= margin) best_b = widest_side(b, a, margin);
    if (best_a.gap > margin || best_b.gap > margin) return;

    double size = fmin(a->shape->hull->size, b->shape->hull->size), tau = prefer * size;
    side_gap of_a = best_a, of_b = best_b;
    int kind = choose_side(a, b, memory, tau, &of_a, &of_b), remembered = -1;
    clipped c = {.count = 0};
    for (int attempt = 0; attempt < 2; attempt++) { /* the preferred side, else the best one */
        bool side_is_of_a = kind == SIDE_OF_A;
        const dls_placed *p = side_is_of_a ? a : b, *q = side_is_of_a ? b : a;
        const side_gap *reference = side_is_of_a ? &of_a : &of_b;
        bool same = attempt == 0 && memory->used && memory->feature[0] == kind &&
                    memory->feature[1] == reference->side;
        remembered = facing_side(p, reference, q, same ? memory->feature[2] : -1);
        clip_side(p, kind, reference->side, q, remembered, outward * size, margin, last, last_count, &c);
        if (least_gap(&c) <= reference->gap + outward * size) break; /* the depth is attained */
        of_a = best_a, of_b = best_b;
        kind = best_a.gap >= best_b.gap ? SIDE_OF_A : SIDE_OF_B;
        c.count = 0;
    }
    if (c.count == 0) {
        bool best_is_of_a = best_a.gap >= best_b.gap;
        add_corners(a, b, best_is_of_a ? &best_a : &best_b, best_is_of_a, margin, manifold);
        return;
    }
    bool of_a_side = kind == SIDE_OF_A;
    settle_border(of_a_side ? a : b, of_a_side ? of_a.side : of_b.side, of_a_side ? b : a, remembered,
                  border * size, &c);
    memory->used = 1;
    memory->feature[0] = kind;
    memory->feature[1] = kind == SIDE_OF_A ? of_a.side : of_b.side;
    memory->feature[2] = remembered;
    add_clipped(&c, kind == SIDE_OF_A, manifold);
}
