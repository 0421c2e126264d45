/* What flat and straight features of a cylinder and its partner share: corners of the common region. */
#include "collide/cylinder/cylinder.h"

#include <string.h>

#define PI 3.14159265358979323846

enum { CROSSINGS = 64 };

/* Relative to the radius: a rim is this much wider where things are clipped against it, so that what ends at
 * the rim by design does not flicker. */
static const double widened = 1e-6;

/* Whether the contact is there already, from another face. Of two with one feature the nearer one stays. */
static bool is_merged(const dls_contact_region *region, const double *point_a, const double *point_b,
                      const double *n, double gap, uint64_t feature) {
    for (int k = region->first; k < region->manifold->count; k++) {
        dls_contact_point *c = &region->manifold->point[k];
        if (vec_dot(c->normal, n) > 1 - 1e-6 && vec_distance(c->point_b, point_b) < region->merge)
            return true;
        if (c->feature != feature) continue;
        if (gap < c->gap) {
            vec_copy(c->point_a, point_a);
            vec_copy(c->point_b, point_b);
            vec_copy(c->normal, n);
            c->gap = gap;
        }
        return true;
    }
    return false;
}

void dls_contact_region_add(dls_contact_region *region, const double *point_a, const double *point_b,
                            const double *n, double gap, uint64_t feature) {
    if (!(gap <= region->margin)) return;
    region->least = fmin(region->least, gap);
    if (feature == 0) return;
    double a[3], b[3], normal[3];
    mat_apply(a, region->R, region->exchange ? point_b : point_a);
    mat_apply(b, region->R, region->exchange ? point_a : point_b);
    mat_apply(normal, region->R, n);
    if (region->exchange) vec_scale(normal, -1, normal), feature |= (uint64_t)1 << 55;
    vec_add(a, a, region->x);
    vec_add(b, b, region->x);
    if (region->merge > 0 && is_merged(region, a, b, normal, gap, feature)) return;
    dls_manifold_add(region->manifold, a, b, normal, gap, feature);
}

bool dls_cylinder_lowest(const dls_cylinder *A, const double *m, int32_t *angle, double *u) {
    const double unit = 1073741824 / PI; /* int32 per radian */
    vec_along(u, m, -vec_dot(m, A->a), A->a);
    double rho = vec_norm(u);
    if (rho > 1e-6) {
        vec_scale(u, -1 / rho, u);
        if (rho < 1e-2) *angle = (int32_t)lround(atan2(vec_dot(u, A->y), vec_dot(u, A->x)) * unit);
        return true;
    }
    double phi = *angle / unit;
    vec_scale(u, cos(phi), A->x);
    vec_along(u, u, sin(phi), A->y);
    return false;
}

/* ---- a cap's plane: points in it have two coordinates about its centre ---- */

typedef struct plane {
    const dls_cylinder *A;
    int cap;
    double centre[3], across; /* n · outward normal */
    const double *n;
} plane;

static plane cap_plane(const dls_cylinder *A, int cap, const double *n) {
    plane p = {.A = A, .cap = cap, .n = n};
    double sign = cap ? 1 : -1;
    vec_along(p.centre, A->c, sign * A->h, A->a);
    p.across = sign * vec_dot(n, A->a);
    return p;
}

/* The point, moved along n into the plane. */
static void plane_project(const plane *p, const double *point, double *flat) {
    double to[3];
    vec_sub(to, point, p->centre);
    double height = vec_dot(to, p->A->a) / ((p->cap ? 1 : -1) * p->across);
    vec_along(to, to, -height, p->n);
    flat[0] = vec_dot(to, p->A->x), flat[1] = vec_dot(to, p->A->y);
}

static void plane_point(const plane *p, const double *flat, double *point) {
    vec_along(point, p->centre, flat[0], p->A->x);
    vec_along(point, point, flat[1], p->A->y);
}

/* Where p + t (q − p) meets the widened circle, and the places on the circle itself; false where it misses.
 */
static bool circle_cut(const double *p, const double *q, double radius, double *t, double *place) {
    double d[2] = {q[0] - p[0], q[1] - p[1]}, dd = d[0] * d[0] + d[1] * d[1];
    double pd = p[0] * d[0] + p[1] * d[1], side = p[0] * d[1] - p[1] * d[0], wide = radius * (1 + widened);
    double left = dd * wide * wide - side * side, inner = fmax(0, dd * radius * radius - side * side);
    if (!(left > 0) || !(dd > 0)) return false;
    t[0] = (-pd - sqrt(left)) / dd;
    t[1] = (-pd + sqrt(left)) / dd;
    place[0] = fmin(1, fmax(0, (-pd - sqrt(inner)) / dd));
    place[1] = fmin(1, fmax(0, (-pd + sqrt(inner)) / dd));
    return true;
}

/* ---- cap and polygon ---- */

typedef struct crossing {
    double angle;
    int edge, leaving;
} crossing;

/* Whether a point of the plane lies in the polygon as seen along n. */
static bool in_polygon(const plane *p, const dls_polygon *polygon, const double *flat) {
    double turn = vec_dot(polygon->normal, p->A->a) > 0 ? 1 : -1, first[2], last[2], next[2];
    plane_project(p, polygon->vertex + 3 * polygon->corner[0], first);
    memcpy(last, first, sizeof last);
    for (int k = 0; k < polygon->count; k++) {
        if (k + 1 < polygon->count)
            plane_project(p, polygon->vertex + 3 * polygon->corner[k + 1], next);
        else
            memcpy(next, first, sizeof next);
        double dx = next[0] - last[0], dy = next[1] - last[1];
        double inside = turn * (dx * (flat[1] - last[1]) - dy * (flat[0] - last[0]));
        if (inside < -polygon->slack * sqrt(dx * dx + dy * dy)) return false;
        memcpy(last, next, sizeof last);
    }
    return true;
}

/* A contact of the cap's plane with the polygon's at a point of the former. */
static void add_on_polygon(dls_contact_region *region, const plane *p, const dls_polygon *polygon,
                           const double *flat, uint64_t feature) {
    double a[3], b[3];
    plane_point(p, flat, a);
    double gap = (vec_dot(a, polygon->normal) - polygon->offset) / -vec_dot(p->n, polygon->normal);
    vec_along(b, a, gap, p->n);
    dls_contact_region_add(region, a, b, p->n, gap, feature);
}

/* 0 for what has no name: such points are not wanted. */
static uint64_t named(dls_cylinder_feature kind, int cap, int k, int id) {
    return id < 0 ? 0 : cylinder_feature(kind, cap, k, id);
}

/* Corners of the polygon on the cap and places where its edges leave the cap; returns how many of these. */
static int polygon_corners(dls_contact_region *region, const plane *p, const dls_polygon *polygon,
                           crossing *found) {
    double wide = p->A->r * (1 + widened), last[2], next[2], t[2], place[2];
    int count = 0;
    plane_project(p, polygon->vertex + 3 * polygon->corner[0], last);
    for (int k = 0; k < polygon->count; k++) {
        plane_project(p, polygon->vertex + 3 * polygon->corner[(k + 1) % polygon->count], next);
        if (last[0] * last[0] + last[1] * last[1] <= wide * wide)
            add_on_polygon(region, p, polygon, last, named(FEATURE_CORNER, p->cap, 0, polygon->vertex_id[k]));
        if (circle_cut(last, next, p->A->r, t, place))
            for (int i = 0; i < 2; i++) {
                if (!(t[i] > 0 && t[i] < 1)) continue;
                double dx = next[0] - last[0], dy = next[1] - last[1];
                double at[2] = {last[0] + place[i] * dx, last[1] + place[i] * dy};
                if (count < CROSSINGS)
                    found[count++] =
                        (crossing){atan2(last[1] + t[i] * dy, last[0] + t[i] * dx), polygon->edge_id[k], i};
                add_on_polygon(region, p, polygon, at, named(FEATURE_CROSS, p->cap, i, polygon->edge_id[k]));
            }
        memcpy(last, next, sizeof last);
    }
    return count;
}

/* Points on an arc of the rim from angle `from` over `span`: its middle, and more that neighbours are within
 * 60°. */
static int arc_points(double from, double span, double (*direction)[2]) {
    int count = span < 0.35 ? 0 : span <= 2.1 ? 1 : span <= 4.2 ? 3 : 5;
    for (int k = 0; k < count; k++) {
        double angle = from + span * (k + 1) / (count + 1);
        direction[k][0] = cos(angle), direction[k][1] = sin(angle);
    }
    return count;
}

static void polygon_arcs(dls_contact_region *region, const plane *p, const dls_polygon *polygon,
                         crossing *found, int count) {
    double r = p->A->r;
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && found[j].angle < found[j - 1].angle; j--) {
            crossing t = found[j];
            found[j] = found[j - 1], found[j - 1] = t;
        }
    for (int i = 0; i < count; i++) {
        double from = found[i].angle, to = i + 1 < count ? found[i + 1].angle : found[0].angle + 2 * PI;
        double middle[2] = {r * cos(0.5 * (from + to)), r * sin(0.5 * (from + to))}, direction[5][2];
        if (!in_polygon(p, polygon, middle)) continue;
        int points = arc_points(from, to - from, direction);
        for (int k = 0; k < points; k++) {
            double at[2] = {r * direction[k][0], r * direction[k][1]};
            add_on_polygon(region, p, polygon, at,
                           cylinder_feature(FEATURE_ARC, p->cap, 8 * found[i].leaving + k, found[i].edge));
        }
    }
}

void dls_contact_region_cap_polygon(dls_contact_region *region, const dls_cylinder *A, int cap,
                                    const dls_polygon *polygon, const double *n, int32_t *angle) {
    plane p = cap_plane(A, cap, n);
    crossing found[CROSSINGS];
    double u[3];
    int count = polygon_corners(region, &p, polygon, found);
    bool tilted = dls_cylinder_lowest(A, polygon->normal, angle, u);
    region->level = !tilted;
    bool arcs = count > 1 && polygon->rim_points == 3;
    if (arcs) polygon_arcs(region, &p, polygon, found, count);
    int points = !arcs ? polygon->rim_points : tilted ? 1 : 0;
    double x = A->r * vec_dot(u, A->x), y = A->r * vec_dot(u, A->y);
    for (int k = 0; k < points; k++) {
        double c = cos(2 * PI * k / polygon->rim_points), s = sin(2 * PI * k / polygon->rim_points);
        double at[2] = {c * x - s * y, s * x + c * y};
        if (in_polygon(&p, polygon, at))
            add_on_polygon(region, &p, polygon, at, cylinder_feature(FEATURE_RIM, cap, k, polygon->index));
    }
}

/* ---- side and polygon ---- */

/* The side's line nearest to n, from the end at −h to the one at +h. */
static void side_line(const dls_cylinder *A, const double *n, double (*end)[3]) {
    double p[3];
    vec_along(p, n, -vec_dot(n, A->a), A->a);
    double size = vec_norm(p);
    for (int k = 0; k < 2; k++) {
        vec_along(end[k], A->c, k ? A->h : -A->h, A->a);
        vec_along(end[k], end[k], A->r / size, p);
    }
}

void dls_contact_region_side_polygon(dls_contact_region *region, const dls_cylinder *A,
                                     const dls_polygon *polygon, const double *n) {
    double end[2][3], t[2] = {0, 1}, place[2] = {0, 1}, along[3];
    uint64_t feature[2] = {cylinder_feature(FEATURE_END, 0, 0, polygon->index),
                           cylinder_feature(FEATURE_END, 1, 0, polygon->index)};
    side_line(A, n, end);
    vec_sub(along, end[1], end[0]);
    for (int k = 0; k < polygon->count; k++) {
        const double *p = polygon->vertex + 3 * polygon->corner[k],
                     *q = polygon->vertex + 3 * polygon->corner[(k + 1) % polygon->count];
        double edge[3], out[3], to[3];
        vec_sub(edge, q, p);
        vec_cross(out, n, edge); /* outward, as −n is the polygon's side */
        vec_sub(to, end[0], p);
        double start = vec_dot(out, to) - polygon->slack * vec_norm(edge), rate = vec_dot(out, along);
        if (start > 0 && start + rate > 0) return;
        if (!(start > 0) && !(start + rate > 0)) continue;
        int which = start > 0 ? 0 : 1;
        double cut = -start / rate;
        if (which ? cut >= t[1] : cut <= t[0]) continue;
        t[which] = cut;
        place[which] = fmin(1, fmax(0, -vec_dot(out, to) / rate));
        feature[which] = named(FEATURE_SIDE, 0, 0, polygon->edge_id[k]);
    }
    if (t[0] > t[1]) return;
    for (int k = 0; k < 2; k++) {
        double a[3], b[3];
        vec_along(a, end[0], place[k], along);
        double gap = (vec_dot(a, polygon->normal) - polygon->offset) / -vec_dot(n, polygon->normal);
        vec_along(b, a, gap, n);
        dls_contact_region_add(region, a, b, n, gap, feature[k]);
    }
}

/* ---- lines ---- */

void dls_contact_region_cap_line(dls_contact_region *region, const dls_cylinder *A, int cap,
                                 const dls_thick_segment *line, const double *n) {
    plane p = cap_plane(A, cap, n);
    double e[3], down[3], point[2][3], flat[2][2], t[2], place[2];
    vec_sub(e, line->p[1], line->p[0]);
    double length2 = vec_dot(e, e);
    if (!(length2 > 0)) return;
    vec_along(down, n, line->round ? 0 : -vec_dot(n, e) / length2,
              e); /* the surface is at core − radius · down */
    vec_scale(down, line->radius / vec_norm(down), down);
    for (int k = 0; k < 2; k++) {
        vec_sub(point[k], line->p[k], down);
        plane_project(&p, point[k], flat[k]);
    }
    if (!circle_cut(flat[0], flat[1], A->r, t, place) || t[0] >= 1 || t[1] <= 0) return;
    for (int k = 0; k < 2; k++) {
        bool cut = t[k] > 0 && t[k] < 1;
        double at = cut ? place[k] : k, a[3], b[3], d[3];
        vec_sub(d, point[1], point[0]);
        vec_along(b, point[0], at, d);
        double foot[2] = {flat[0][0] + at * (flat[1][0] - flat[0][0]),
                          flat[0][1] + at * (flat[1][1] - flat[0][1])};
        plane_point(&p, foot, a);
        vec_sub(d, b, a);
        dls_contact_region_add(region, a, b, n, vec_dot(n, d),
                               cut ? cylinder_feature(FEATURE_CROSS, cap, k, line->id)
                                   : cylinder_feature(FEATURE_CORNER, cap, 0, line->end[k]));
    }
}

/* The cross-section at height s over the centre of A: away from the axis of A to the line. */
static void add_across(dls_contact_region *region, const dls_cylinder *A, const dls_thick_segment *line,
                       double s, double t, const double *n, uint64_t feature) {
    double a[3], b[3], d[3], m[3], e[3];
    vec_along(a, A->c, s, A->a);
    vec_sub(e, line->p[1], line->p[0]);
    vec_along(b, line->p[0], t, e);
    vec_sub(d, b, a);
    vec_along(m, d, -vec_dot(d, A->a), A->a);
    double size = vec_norm(m);
    if (size > 0 && vec_dot(m, n) > 0.5 * size)
        vec_scale(m, 1 / size, m);
    else
        vec_copy(m, n);
    vec_along(a, a, A->r, m);
    vec_along(b, b, -line->radius, m);
    vec_sub(d, b, a);
    dls_contact_region_add(region, a, b, m, vec_dot(m, d), feature);
}

void dls_contact_region_side_line(dls_contact_region *region, const dls_cylinder *A,
                                  const dls_thick_segment *line, const double *n) {
    double e[3], across[3], height[2], d[3];
    vec_sub(e, line->p[1], line->p[0]);
    double length = vec_norm(e);
    vec_cross(across, A->a, e);
    if (!(length > 0) || vec_norm(across) > 0.02 * length) return;
    for (int k = 0; k < 2; k++) {
        vec_sub(d, line->p[k], A->c);
        height[k] = vec_dot(d, A->a);
    }
    int low = height[0] < height[1] ? 0 : 1;
    double slack = 1e-6 * (A->r + A->h), rise = height[1] - height[0];
    bool own_low = height[low]<-A->h + slack, own_high = height[1 - low]> A->h - slack;
    double from = own_low ? -A->h : height[low], to = own_high ? A->h : height[1 - low];
    if (!(from <= to)) return;
    uint64_t first = own_low ? cylinder_feature(FEATURE_END, 0, 0, line->id)
                             : cylinder_feature(FEATURE_END, 2, 0, line->end[low]);
    uint64_t second = own_high ? cylinder_feature(FEATURE_END, 1, 0, line->id)
                               : cylinder_feature(FEATURE_END, 2, 0, line->end[1 - low]);
    add_across(region, A, line, from, (from - height[0]) / rise, n, first);
    add_across(region, A, line, to, (to - height[0]) / rise, n, second);
}

/* ---- two caps ---- */

typedef struct cap_pair {
    plane p;
    const dls_cylinder *B;
    double normal[3], middle[3]; /* the other cap: normal towards A, centre */
} cap_pair;

/* Both points are kept on their discs, so that no gap is below the best one however the caps lean. */
static void add_on_cap(dls_contact_region *region, const cap_pair *c, const double *flat, uint64_t feature) {
    double a[3], b[3], d[3];
    plane_point(&c->p, flat, a);
    vec_sub(d, a, c->middle);
    vec_along(b, a, vec_dot(d, c->normal) / -vec_dot(c->p.n, c->normal), c->p.n);
    vec_sub(d, b, c->middle);
    double rho = vec_norm(d);
    if (rho > c->B->r) vec_along(b, c->middle, c->B->r / rho, d);
    double own = hypot(flat[0], flat[1]);
    if (own > c->p.A->r) {
        double inside[2] = {flat[0] * c->p.A->r / own, flat[1] * c->p.A->r / own};
        plane_point(&c->p, inside, a);
    }
    vec_sub(d, b, a);
    dls_contact_region_add(region, a, b, c->p.n, vec_dot(d, c->p.n), feature);
}

static cap_pair pair_of_caps(const dls_cylinder *A, int cap, const dls_cylinder *B, int other,
                             const double *n) {
    cap_pair c = {.p = cap_plane(A, cap, n), .B = B};
    vec_scale(c.normal, other ? 1 : -1, B->a);
    vec_along(c.middle, B->c, B->h, c.normal);
    return c;
}

/* Points of A's rim around its lowest, as far as they lie on the other cap: three, or that one alone. */
static void rim_on_cap(dls_contact_region *region, const dls_cylinder *A, int cap, const dls_cylinder *B,
                       int other, const double *n, const double *u, int points) {
    cap_pair c = pair_of_caps(A, cap, B, other, n);
    double flat[2], x = A->r * vec_dot(u, A->x), y = A->r * vec_dot(u, A->y);
    plane_project(&c.p, c.middle, flat);
    for (int k = 0; k < points; k++) {
        double t = 2 * PI * k / 3, at[2] = {cos(t) * x - sin(t) * y, sin(t) * x + cos(t) * y};
        if (hypot(at[0] - flat[0], at[1] - flat[1]) > B->r * (1 + 4 * widened)) continue;
        add_on_cap(region, &c, at, cylinder_feature(FEATURE_RIM, cap, k, other));
    }
}

/* The lens that two rims enclose: its two corners and points on both arcs. */
static void add_lens(dls_contact_region *region, const cap_pair *c, double r1, double r2, const double *flat,
                     double distance) {
    double towards = atan2(flat[1], flat[0]), direction[5][2];
    double half[2] = {
        acos(fmax(-1, fmin(1, (distance * distance + r1 * r1 - r2 * r2) / (2 * distance * r1)))),
        acos(fmax(-1, fmin(1, (distance * distance + r2 * r2 - r1 * r1) / (2 * distance * r2))))};
    for (int k = 0; k < 2; k++) {
        double angle = towards + (k ? half[0] : -half[0]), at[2] = {r1 * cos(angle), r1 * sin(angle)};
        add_on_cap(region, c, at, cylinder_feature(FEATURE_CROSS, c->p.cap, k, 0));
    }
    for (int side = 0; side < 2; side++) {
        double middle = side ? towards + PI : towards, r = side ? r2 : r1;
        int points = arc_points(middle - half[side], 2 * half[side], direction);
        for (int k = 0; k < points; k++) {
            double at[2] = {r * direction[k][0] + (side ? flat[0] : 0),
                            r * direction[k][1] + (side ? flat[1] : 0)};
            add_on_cap(region, c, at, cylinder_feature(FEATURE_ARC, c->p.cap, 8 * side + k, 0));
        }
    }
}

void dls_contact_region_cap_cap(dls_contact_region *region, const dls_cylinder *A, int cap,
                                const dls_cylinder *B, int other_cap, const double *n, int32_t *angles) {
    cap_pair c = pair_of_caps(A, cap, B, other_cap, n);
    double flat[2], u[3], v[3], towards_b[3], back[3];
    plane_project(&c.p, c.middle, flat);
    vec_scale(towards_b, cap ? 1 : -1, A->a);
    vec_scale(back, -1, n);
    bool tilted = dls_cylinder_lowest(A, c.normal, &angles[0], u);
    dls_cylinder_lowest(B, towards_b, &angles[1], v);
    region->level = !tilted;
    double distance = hypot(flat[0], flat[1]), wide = 1 + widened;
    bool a_inside = distance + A->r <= B->r * wide && A->r <= B->r * (1 + 1e-9),
         b_inside = !a_inside && distance + B->r <= A->r * wide;
    bool lens = !a_inside && !b_inside && distance < (A->r + B->r) * wide;
    if (lens) add_lens(region, &c, A->r, B->r, flat, distance);
    if (a_inside || (lens && tilted)) rim_on_cap(region, A, cap, B, other_cap, n, u, lens ? 1 : 3);
    region->exchange = !region->exchange;
    if (b_inside || (lens && tilted)) rim_on_cap(region, B, other_cap, A, cap, back, v, lens ? 1 : 3);
    region->exchange = !region->exchange;
}

/* ---- plane ---- */

static void add_rim_on_plane(dls_contact_region *region, const dls_cylinder *A, int cap, const double *u,
                             int k, const double *m, double offset, int wall) {
    double a[3], b[3], n[3], v[3], side[3];
    vec_cross(side, A->a, u);
    vec_scale(v, cos(2 * PI * k / 3), u);
    vec_along(v, v, sin(2 * PI * k / 3), side);
    vec_along(a, A->c, cap ? A->h : -A->h, A->a);
    vec_along(a, a, A->r, v);
    double gap = vec_dot(m, a) - offset;
    vec_along(b, a, -gap, m);
    vec_scale(n, -1, m);
    dls_contact_region_add(region, a, b, n, gap, cylinder_feature(FEATURE_RIM, cap, k, wall));
}

void dls_contact_region_plane(dls_contact_region *region, const dls_cylinder *A, const double *m,
                              double offset, int wall, int32_t *angle) {
    double slope = vec_dot(m, A->a), u[3], back[3];
    vec_scale(back, -1, m);
    if (-cylinder_reach(A, back) - offset > region->margin) return;
    dls_cylinder_lowest(A, m, angle, u);
    for (int cap = 0; cap < 2; cap++) {
        double down = cap ? -slope : slope; /* 1: this cap lies flat on the plane */
        if (down < -0.999) continue;
        add_rim_on_plane(region, A, cap, u, 0, m, offset, wall);
        if (down < 0.05) continue;
        add_rim_on_plane(region, A, cap, u, 1, m, offset, wall);
        add_rim_on_plane(region, A, cap, u, 2, m, offset, wall);
    }
}
