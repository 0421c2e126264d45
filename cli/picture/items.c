/* Shapes as seen from the eye: discs and spheres are discs, all other solids their outlines; joints, and
 * crosses and bars for bodies without shapes. */
#include "cli/picture/items.h"

#include "cli/support/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double TURN = 6.283185307179586;

enum { RIM = 32, MOST_SAMPLES = 4096 };

void picture_project(const picture_view *view, const double *x, double *page, double *depth) {
    page[0] = page[1] = *depth = 0;
    for (int k = 0; k < 3; k++) {
        page[0] += view->right[k] * x[k];
        page[1] += view->up[k] * x[k];
        *depth += view->toward[k] * x[k];
    }
}

/* r = q · v */
static void rotate(const double *q, const double *v, double *r) {
    double t[3] = {2 * (q[2] * v[2] - q[3] * v[1]), 2 * (q[3] * v[0] - q[1] * v[2]),
                   2 * (q[1] * v[1] - q[2] * v[0])};
    double x = v[0] + q[0] * t[0] + q[2] * t[2] - q[3] * t[1],
           y = v[1] + q[0] * t[1] + q[3] * t[0] - q[1] * t[2],
           z = v[2] + q[0] * t[2] + q[1] * t[1] - q[2] * t[0];
    r[0] = x, r[1] = y, r[2] = z;
}

/* ---- growing lists ---- */

static picture_item *add_item(picture_items *items, item_kind kind, int body) {
    items->item = report_grow(items->item, (size_t)items->count, sizeof *items->item);
    picture_item *item = &items->item[items->count++];
    *item = (picture_item){.kind = kind, .body = body, .first = items->point_count, .shade = 0.6};
    return item;
}

static void add_point(picture_items *items, picture_item *item, const double *page) {
    items->point = report_grow(items->point, (size_t)items->point_count, 2 * sizeof *items->point);
    memcpy(items->point + 2 * items->point_count++, page, 2 * sizeof *page);
    item->count++;
}

static void enclose(picture_items *items, double x, double y, double radius) {
    const double place[2] = {x, y};
    for (int k = 0; k < 2; k++) {
        items->low[k] = fmin(items->low[k], place[k] - radius);
        items->high[k] = fmax(items->high[k], place[k] + radius);
        if (!items->hollow) items->solid_low[k] = fmin(items->solid_low[k], place[k] - radius);
        if (!items->hollow) items->solid_high[k] = fmax(items->solid_high[k], place[k] + radius);
        if (!items->moving) continue;
        items->moving_low[k] = fmin(items->moving_low[k], place[k] - radius);
        items->moving_high[k] = fmax(items->moving_high[k], place[k] + radius);
    }
}

/* ---- one shape ---- */

/* A shape where it stands. */
typedef struct standing {
    const picture *picture;
    picture_items *items;
    const dls_shape_def *shape;
    int body;
    bool wall;
    double x[3], q[4];
    const double *F; /* of a body that deforms: x and q are in its frame, and it stands at */
    const double *centre;
} standing;

typedef struct outline {
    void (*add)(const standing *s);
    bool endless; /* laid down when the bounds of all else are known */
} outline;
static const outline outlines[DLS_SHAPE_KINDS];

static void to_page(const standing *s, const double *local, double *page, double *depth) {
    double x[3], rest[3];
    rotate(s->q, local, x);
    for (int k = 0; k < 3; k++) x[k] += s->x[k];
    for (int k = 0; k < 3; k++) rest[k] = x[k];
    for (int k = 0; k < 3 && s->F; k++)
        x[k] = s->centre[k] + s->F[k] * rest[0] + s->F[3 + k] * rest[1] + s->F[6 + k] * rest[2];
    picture_project(&s->picture->view, x, page, depth);
}

static void add_circle(const standing *s, item_kind kind) {
    picture_item *item = add_item(s->items, kind, s->body);
    double page[2], mark[3];
    picture_project(&s->picture->view, s->x, page, &item->depth);
    item->x = page[0];
    item->y = page[1];
    item->radius = s->shape->radius;
    item->wall = s->wall;
    if (kind == ITEM_DISC && dls_shape_kind_is_planar(s->shape->kind)) {
        rotate(s->q, (const double[3]){1, 0, 0}, mark);
        item->spoke[0] = mark[0];
        item->spoke[1] = mark[1];
    }
    enclose(s->items, item->x, item->y, item->radius);
}

static void add_disc(const standing *s) { add_circle(s, ITEM_DISC); }
static void add_ring(const standing *s) {
    s->items->hollow = true;
    add_circle(s, ITEM_RING);
}

static int by_place(const void *a, const void *b) {
    const double *p = a, *q = b;
    if (p[0] != q[0]) return p[0] < q[0] ? -1 : 1;
    return p[1] < q[1] ? -1 : p[1] > q[1];
}

static double turn_of(const double *a, const double *b, const double *c) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/* The outline of points is their convex hull on the page. */
static void add_outline(const standing *s, double (*point)[2], int count, double depth, double shade) {
    double hull[2 * MOST_SAMPLES + 1][2];
    int used = 0;
    qsort(point, (size_t)count, sizeof *point, by_place);
    for (int pass = 0, floor_of = 1; pass < 2; pass++, floor_of = used)
        for (int k = pass; k < count; k++) {
            const double *p = point[pass ? count - 1 - k : k];
            while (used > floor_of && turn_of(hull[used - 2], hull[used - 1], p) <= 0) used--;
            memcpy(hull[used++], p, sizeof *hull);
        }
    picture_item *item = add_item(s->items, ITEM_FACE, s->body);
    item->depth = depth;
    item->shade = shade;
    item->wall = s->wall;
    for (int k = 0; k + 1 < used; k++) {
        add_point(s->items, item, hull[k]);
        enclose(s->items, hull[k][0], hull[k][1], 0);
    }
}

static void add_solid(const standing *s, double (*local)[3], int count) {
    double page[MOST_SAMPLES][2], depth, mean = 0;
    if (count > MOST_SAMPLES) count = MOST_SAMPLES;
    for (int k = 0; k < count; k++) {
        to_page(s, local[k], page[k], &depth);
        mean += depth / count;
    }
    add_outline(s, page, count, mean, 0.6);
}

static void add_hull(const standing *s) {
    add_solid(s, (double(*)[3])(uintptr_t)s->shape->points, s->shape->point_count);
}

/* The three faces of a box that look at the eye, each as bright as it faces the light. */
static void add_box(const standing *s) {
    const double *size = s->shape->size;
    for (int axis = 0; axis < 3; axis++)
        for (int sign = -1; sign <= 1; sign += 2) {
            double normal[3] = {0, 0, 0}, world[3], toward = 0, page[4][2], depth, mean = 0;
            normal[axis] = sign;
            rotate(s->q, normal, world);
            for (int k = 0; k < 3; k++) toward += world[k] * s->picture->view.toward[k];
            if (toward <= 1e-9) continue;
            for (int c = 0; c < 4; c++) {
                double local[3];
                local[axis] = sign * size[axis] / 2;
                local[(axis + 1) % 3] = (c & 1 ? 1 : -1) * size[(axis + 1) % 3] / 2;
                local[(axis + 2) % 3] = (c & 2 ? 1 : -1) * size[(axis + 2) % 3] / 2;
                to_page(s, local, page[c], &depth);
                mean += depth / 4;
            }
            add_outline(s, page, 4, mean, 0.3 + 0.5 * toward + 0.2 * fmax(0, world[2]));
        }
}

static void add_cylinder(const standing *s) {
    double local[2 * RIM][3];
    const dls_shape_def *d = s->shape;
    for (int k = 0; k < 2 * RIM; k++) {
        double a = TURN * (k / 2) / RIM;
        local[k][0] = d->radius * cos(a);
        local[k][1] = d->radius * sin(a);
        local[k][2] = (k % 2 ? 0.5 : -0.5) * d->length;
    }
    add_solid(s, local, 2 * RIM);
}

/* An ellipsoid of these semi-axes whose halves are length apart. */
static void add_round(const standing *s, const double *axes, double length) {
    double local[(RIM / 2 + 1) * RIM][3];
    int count = 0;
    for (int i = 0; i <= RIM / 2; i++)
        for (int j = 0; j < RIM; j++, count++) {
            double polar = TURN / 2 * i / (RIM / 2), around = TURN * j / RIM;
            double n[3] = {sin(polar) * cos(around), sin(polar) * sin(around), cos(polar)};
            for (int k = 0; k < 3; k++) local[count][k] = axes[k] * n[k];
            local[count][2] += (n[2] >= 0 ? 0.5 : -0.5) * length;
        }
    add_solid(s, local, count);
}

static void add_capsule(const standing *s) {
    double r = s->shape->radius;
    add_round(s, (const double[3]){r, r, r}, s->shape->length);
}
static void add_ellipsoid(const standing *s) { add_round(s, s->shape->size, 0); }

static picture_item *add_lines(const standing *s) {
    picture_item *item = add_item(s->items, ITEM_LINES, s->body);
    item->wall = s->items->hollow = true;
    item->depth = -INFINITY;
    return item;
}

static void add_side(const standing *s, picture_item *item, const double *from, const double *to) {
    const double *const ends[2] = {from, to};
    for (int end = 0; end < 2; end++) {
        double page[2], depth;
        to_page(s, ends[end], page, &depth);
        add_point(s->items, item, page);
        enclose(s->items, page[0], page[1], 0);
    }
}

/* Edges as pairs of points. */
static void add_edges(const standing *s, double (*local)[3], const int (*edge)[2], int count) {
    picture_item *item = add_lines(s);
    for (int k = 0; k < count; k++) add_side(s, item, local[edge[k][0]], local[edge[k][1]]);
}

static void add_hollow_box(const standing *s) {
    static const int edges[12][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3},
                                     {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}};
    double local[8][3];
    for (int c = 0; c < 8; c++)
        for (int k = 0; k < 3; k++) local[c][k] = (c >> k & 1 ? 0.5 : -0.5) * s->shape->size[k];
    add_edges(s, local, edges, 12);
}

static void add_hollow_cylinder(const standing *s) {
    double local[2 * RIM][3], length = s->shape->length > 0 ? s->shape->length : 2 * s->shape->radius;
    int edges[2 * RIM + 4][2], count = 0;
    for (int k = 0; k < 2 * RIM; k++) {
        double a = TURN * (k % RIM) / RIM;
        local[k][0] = s->shape->radius * cos(a);
        local[k][1] = s->shape->radius * sin(a);
        local[k][2] = (k < RIM ? -0.5 : 0.5) * length;
        edges[count][0] = k;
        edges[count++][1] = k / RIM * RIM + (k + 1) % RIM;
    }
    for (int k = 0; k < 4; k++, count++) {
        edges[count][0] = k * RIM / 4;
        edges[count][1] = RIM + k * RIM / 4;
    }
    add_edges(s, local, (const int(*)[2])edges, count);
}

static void add_chain(const standing *s) {
    const dls_shape_def *d = s->shape;
    picture_item *item = add_lines(s);
    for (int k = 0; k < d->point_count - !d->closed; k++)
        add_side(s, item, d->points + 3 * k, d->points + 3 * ((k + 1) % d->point_count));
}

static void add_mesh(const standing *s) {
    const dls_shape_def *d = s->shape;
    picture_item *item = add_lines(s);
    for (int k = 0; k < 3 * d->triangle_count; k++)
        add_side(s, item, d->points + 3 * d->triangles[k],
                 d->points + 3 * d->triangles[k / 3 * 3 + (k + 1) % 3]);
}

/* ---- what has no bounds of its own ---- */

/* The line that bounds a half-plane; the page grows to show it where it is near. */
static void add_line(const standing *s) {
    static const double NEAR = 0.25; /* of what is shown */
    double along[3], middle[3] = {0}, page[2], depth, reach = 0;
    for (int k = 0; k < 2; k++) {
        middle[k] = (s->items->low[k] + s->items->high[k]) / 2;
        reach += s->items->high[k] - s->items->low[k];
    }
    rotate(s->q, (const double[3]){1, 0, 0}, along);
    double offset = (middle[0] - s->x[0]) * along[0] + (middle[1] - s->x[1]) * along[1];
    to_page(s, (const double[3]){offset, 0, 0}, page, &depth);
    bool near = true;
    for (int k = 0; k < 2; k++)
        near =
            near && page[k] > s->items->low[k] - NEAR * reach && page[k] < s->items->high[k] + NEAR * reach;
    if (near) enclose(s->items, page[0], page[1], 0);
    picture_item *item = add_lines(s);
    for (int end = -1; end <= 1; end += 2) {
        to_page(s, (const double[3]){offset + end * 2 * reach, 0, 0}, page, &depth);
        add_point(s->items, item, page);
    }
}

static bool has_bounds(const picture *p, int body) {
    dls_shape_def shape;
    return dls_results_body_shape_count(p->results, body) > 0 &&
           !dls_results_body_shape(p->results, body, 0, &shape, NULL) && !outlines[shape.kind].endless;
}

/* How far the other bodies reach along the axes of a half-space. */
static bool find_footprint(const standing *s, double *low, double *high) {
    const picture *p = s->picture;
    double axis[2][3];
    low[0] = low[1] = INFINITY;
    high[0] = high[1] = -INFINITY;
    for (int k = 0; k < 2; k++) rotate(s->q, (const double[3]){k == 0, k == 1, 0}, axis[k]);
    for (int body = 0; body < p->body_count; body++) {
        if (!p->present[body] || !has_bounds(p, body)) continue;
        for (int k = 0; k < 2; k++) {
            double at = 0;
            for (int i = 0; i < 3; i++) at += axis[k][i] * (p->states[body].x[i] - s->x[i]);
            low[k] = fmin(low[k], at);
            high[k] = fmax(high[k], at);
        }
    }
    return low[0] <= high[0];
}

/* A patch of the plane that bounds a half-space below the bodies, where it faces the eye. */
static void add_ground(const standing *s) {
    double low[2], high[2], normal[3], toward = 0, page[4][2], depth, shown = 0, wide = 0;
    rotate(s->q, (const double[3]){0, 0, 1}, normal);
    for (int k = 0; k < 3; k++) toward += normal[k] * s->picture->view.toward[k];
    if (toward < -1e-9 || !find_footprint(s, low, high)) return;
    for (int k = 0; k < 2; k++) {
        shown = fmax(shown, s->items->high[k] - s->items->low[k]);
        wide = fmax(wide, high[k] - low[k]);
    }
    double border = fmax(shown - wide, 0) / 2 + 0.08 * shown;
    for (int c = 0; c < 4; c++) {
        const double local[3] = {c & 1 ? high[0] + border : low[0] - border,
                                 c & 2 ? high[1] + border : low[1] - border, 0};
        to_page(s, local, page[c], &depth);
    }
    add_outline(s, page, 4, -INFINITY, 1);
}

/* ---- one row for each kind of shape ---- */

static const outline outlines[DLS_SHAPE_KINDS] = {
    [DLS_DISC] = {.add = add_disc},
    [DLS_HALF_PLANE] = {.add = add_line, .endless = true},
    [DLS_CHAIN] = {.add = add_chain},
    [DLS_POLYGON] = {.add = add_hull},
    [DLS_DRUM] = {.add = add_ring},
    [DLS_SPHERE] = {.add = add_disc},
    [DLS_HALF_SPACE] = {.add = add_ground, .endless = true},
    [DLS_BOX] = {.add = add_box},
    [DLS_CAPSULE] = {.add = add_capsule},
    [DLS_ELLIPSOID] = {.add = add_ellipsoid},
    [DLS_POLYHEDRON] = {.add = add_hull},
    [DLS_CYLINDER] = {.add = add_cylinder},
    [DLS_CYLINDER_INSIDE] = {.add = add_hollow_cylinder},
    [DLS_BOX_INSIDE] = {.add = add_hollow_box},
    [DLS_MESH] = {.add = add_mesh},
    [DLS_SKIN] = {.add = add_mesh},
};

/* Shapes of which not every point is drawn where it is: they are, where they deform. */
static void add_deformed(const standing *s) {
    const dls_shape_def *d = s->shape;
    if (dls_shape_kind_is_planar(d->kind) || d->kind == DLS_POLYHEDRON) {
        outlines[d->kind].add(s);
        return;
    }
    if (d->kind != DLS_BOX) {
        double axes[3] = {d->radius, d->radius, d->radius};
        add_round(s, d->kind == DLS_ELLIPSOID ? d->size : axes, 0);
        return;
    }
    double local[8][3];
    for (int c = 0; c < 8; c++)
        for (int k = 0; k < 3; k++) local[c][k] = (c >> k & 1 ? 0.5 : -0.5) * d->size[k];
    add_solid(s, local, 8);
}

/* ---- all shapes ---- */

/* F of a body; NULL where it has none. */
static const double *gradient_of(const picture *p, int body) {
    int low = 0, high = p->gradient_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (p->gradients[middle].body < body)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->gradient_count && p->gradients[low].body == body ? p->gradients[low].F : NULL;
}

static void add_body(const picture *p, int body, bool endless, picture_items *items) {
    const dls_body_state *state = &p->states[body];
    items->moving = dls_results_body_motion(p->results, body) == DLS_DYNAMIC;
    for (int k = 0; k < dls_results_body_shape_count(p->results, body); k++) {
        dls_shape_def shape;
        if (dls_results_body_shape(p->results, body, k, &shape, NULL)) continue;
        items->hollow = false;
        standing s = {.picture = p, .items = items, .shape = &shape, .body = body, .wall = !items->moving};
        const double *a = state->q, *b = shape.pose.q;
        s.F = gradient_of(p, body), s.centre = state->x;
        if (s.F) {
            memcpy(s.x, shape.pose.x, sizeof s.x);
            memcpy(s.q, shape.pose.q, sizeof s.q);
            if (!endless) add_deformed(&s);
            continue;
        }
        rotate(a, shape.pose.x, s.x);
        for (int i = 0; i < 3; i++) s.x[i] += state->x[i];
        s.q[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
        s.q[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
        s.q[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
        s.q[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
        if (outlines[shape.kind].endless == endless) outlines[shape.kind].add(&s);
    }
}

/* ---- joints, and bodies that have nothing but them ---- */

/* Its first node; −1 of a rigid one. Nodes ascend by bodies. */
static int first_node(const picture *p, int body) {
    int low = 0, high = p->node_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (p->nodes[middle].body < body)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->node_count && p->nodes[low].body == body ? low : -1;
}

/* The shape whose points are these nodes, if it is one. */
static bool find_skin(const picture *p, int first, dls_shape_def *skin) {
    int body = p->nodes[first].body, end = first;
    while (end < p->node_count && p->nodes[end].body == body) end++;
    return dls_results_body_shape_count(p->results, body) == 1 &&
           !dls_results_body_shape(p->results, body, 0, skin, NULL) && skin->triangle_count > 0 &&
           skin->point_count == end - first;
}

/* A triangle that looks at the eye, as bright as it faces the light. */
static void add_triangle(const picture *p, int first, const int *corner, picture_items *items) {
    const double *a = p->nodes[first + corner[0]].x, *b = p->nodes[first + corner[1]].x,
                 *c = p->nodes[first + corner[2]].x;
    double normal[3], toward = 0, size = 0, page[2], depth, mean = 0;
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        normal[k] = (b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]);
        size += normal[k] * normal[k];
        toward += normal[k] * p->view.toward[k];
    }
    if (!(toward > 1e-9 * sqrt(size))) return;
    picture_item *item = add_item(items, ITEM_FACE, p->nodes[first].body);
    for (int k = 0; k < 3; k++) {
        picture_project(&p->view, p->nodes[first + corner[k]].x, page, &depth);
        add_point(items, item, page);
        enclose(items, page[0], page[1], 0);
        mean += depth / 3;
    }
    item->depth = mean;
    item->shade = 0.3 + 0.5 * toward / sqrt(size) + 0.2 * fmax(0, normal[2] / sqrt(size));
}

static void add_curve(const picture *p, int first, picture_items *items) {
    double page[2], depth = 0;
    picture_item *item = add_item(items, ITEM_BAR, p->nodes[first].body);
    for (int k = first; k < p->node_count && p->nodes[k].body == p->nodes[first].body; k++) {
        picture_project(&p->view, p->nodes[k].x, page, &depth);
        add_point(items, item, page);
        items->moving = true;
        enclose(items, page[0], page[1], 0);
    }
    item->depth = depth;
}

/* A body that deforms is its skin, or the line through its nodes: where shapes stand on a line, results do
 * not say. */
static void add_nodes(const picture *p, int first, picture_items *items) {
    dls_shape_def skin;
    items->moving = true;
    items->hollow = false;
    if (!find_skin(p, first, &skin)) {
        add_curve(p, first, items);
        return;
    }
    for (int k = 0; k < skin.triangle_count; k++) add_triangle(p, first, skin.triangles + 3 * k, items);
}

static bool is_bare(const picture *p, int body) {
    return dls_results_body_shape_count(p->results, body) == 0;
}

static void add_cross(const picture *p, int body, picture_items *items) {
    double page[2], depth;
    picture_project(&p->view, p->states[body].x, page, &depth);
    items->moving = dls_results_body_motion(p->results, body) == DLS_DYNAMIC;
    picture_item *item = add_item(items, ITEM_CROSS, body);
    item->x = page[0];
    item->y = page[1];
    item->depth = depth;
    item->wall = !items->moving;
    enclose(items, page[0], page[1], 0);
}

static void add_bar(const picture *p, int body, const double *to, picture_items *items) {
    double from[2], depth;
    bool bare = is_bare(p, body);
    picture_project(&p->view, p->states[body].x, from, &depth);
    picture_item *item = add_item(items, bare ? ITEM_BAR : ITEM_STAY, body);
    item->depth = bare ? depth : -(double)INFINITY;
    item->wall = dls_results_body_motion(p->results, body) != DLS_DYNAMIC;
    add_point(items, item, from);
    add_point(items, item, to);
}

/* p = x + q · (frame − mass centre); the ground's frame stands still. */
static void place_frame(const picture *p, const dls_joint_def *def, int side, double *x, double (*axis)[3]) {
    const dls_pose *frame = &def->frame[side];
    int body = def->body[side];
    dls_body_mass mass = {0};
    memcpy(x, frame->x, sizeof frame->x);
    for (int k = 0; k < 3; k++) rotate(frame->q, (const double[3]){k == 0, k == 1, k == 2}, axis[k]);
    if (body < 0 || dls_results_body_mass(p->results, body, &mass, NULL)) return;
    for (int k = 0; k < 3; k++) x[k] -= mass.centre[k];
    rotate(p->states[body].q, x, x);
    for (int k = 0; k < 3; k++) x[k] += p->states[body].x[k];
    for (int k = 0; k < 3; k++) rotate(p->states[body].q, axis[k], axis[k]);
}

static void add_joint(const picture *p, dls_joint_id id, picture_items *items) {
    dls_joint_def def;
    if (dls_results_joint(p->results, id, &def, NULL)) return;
    picture_joint joint = {.kind = def.kind, .rope = def.rope};
    for (int k = 0; k < DLS_FREEDOMS; k++)
        joint.sprung = joint.sprung || def.freedom[k].stiffness > 0 || def.freedom[k].damping > 0;
    for (int side = 1; side >= 0; side--) { /* axes are those of A */
        double x[3], axis[3][3], depth;
        bool solid = def.body[side] >= 0 && first_node(p, def.body[side]) >= 0;
        place_frame(p, &def, solid ? 1 - side : side, x, axis); /* held together */
        picture_project(&p->view, x, joint.place[side], &depth);
        for (int k = 0; k < 3; k++) picture_project(&p->view, axis[k], joint.axis[k], &depth);
        items->moving = true; /* joints are never cut off */
        enclose(items, joint.place[side][0], joint.place[side][1], 0);
        if (def.body[side] >= 0 && first_node(p, def.body[side]) < 0)
            add_bar(p, def.body[side], joint.place[side], items);
    }
    items->joint = report_grow(items->joint, (size_t)items->joint_count, sizeof *items->joint);
    items->joint[items->joint_count++] = joint;
}

/* Obstacles first, so that none hides what moves: the mean depth of a long face says little of what lies on
 * it. */
static int by_depth(const void *a, const void *b) {
    const picture_item *p = a, *q = b;
    if (p->wall != q->wall) return p->wall ? -1 : 1;
    if (p->depth != q->depth) return p->depth < q->depth ? -1 : 1;
    return p->body < q->body ? -1 : p->body > q->body;
}

/* A hollow container far longer than wide that is mostly empty is cut off where nothing moves; solid
 * obstacles are not. */
static void crop(picture_items *items) {
    static const double LONG = 1.6, EMPTY = 0.6, MARGIN = 0.3;
    for (int k = 0; k < 2; k++) {
        double whole = items->high[k] - items->low[k], across = items->high[1 - k] - items->low[1 - k],
               used = items->moving_high[k] - items->moving_low[k];
        if (!(whole > LONG * across) || !(used < EMPTY * whole)) continue;
        double margin = fmax(MARGIN * used, (across - used) / 2);
        items->low[k] = fmax(items->low[k], fmin(items->moving_low[k] - margin, items->solid_low[k]));
        items->high[k] = fmin(items->high[k], fmax(items->moving_high[k] + margin, items->solid_high[k]));
        return;
    }
}

void picture_items_gather(const picture *p, picture_items *items) {
    *items = (picture_items){.low = {INFINITY, INFINITY},
                             .high = {-INFINITY, -INFINITY},
                             .moving_low = {INFINITY, INFINITY},
                             .moving_high = {-INFINITY, -INFINITY},
                             .solid_low = {INFINITY, INFINITY},
                             .solid_high = {-INFINITY, -INFINITY}};
    for (int body = 0; body < p->body_count; body++)
        if (p->present[body] && first_node(p, body) < 0) add_body(p, body, false, items);
    for (int body = 0; body < p->body_count; body++)
        if (p->present[body] && first_node(p, body) >= 0) add_nodes(p, first_node(p, body), items);
    for (int body = 0; body < p->body_count; body++)
        if (p->present[body] && is_bare(p, body) && first_node(p, body) < 0) add_cross(p, body, items);
    for (int k = 0; k < p->joint_count; k++) add_joint(p, p->joints[k], items);
    if (!(items->low[0] <= items->high[0]))
        for (int k = 0; k < 2; k++) items->low[k] = -1, items->high[k] = 1;
    if (items->moving_low[0] <= items->moving_high[0]) crop(items);
    for (int body = 0; body < p->body_count; body++)
        if (p->present[body]) add_body(p, body, true, items);
    if (items->count) qsort(items->item, (size_t)items->count, sizeof *items->item, by_depth);
}

void picture_items_free(picture_items *items) {
    free(items->item);
    free(items->point);
    free(items->joint);
}
