/* What is to be seen at first: a box about all that moves, frame by frame, without what flies far off, and
 * about the containers that hold it. */
#include "cli/support/report.h"
#include "cli/view/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double FAR =
    4; /* over the size of the middle frame: farther, and the few outermost do not count */
static const double OUTERMOST = 0.1; /* of frames, at either end */
static const double CONTAINER = 2.5; /* over the size of what moves: larger, and it is a floor */

static void enclose(view_box *box, const double *x, const double *reach) {
    for (int k = 0; k < 3; k++) {
        box->low[k] = fmin(box->low[k], x[k] - reach[k]);
        box->high[k] = fmax(box->high[k], x[k] + reach[k]);
    }
}

static double size_of(const view_box *box) {
    double d[3];
    for (int k = 0; k < 3; k++) d[k] = box->high[k] - box->low[k];
    return d[0] >= 0 ? sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) : 0;
}

view_box view_box_none(void) {
    return (view_box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

static double norm(const double *v) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* Sizes of ellipsoids are half axes. */
double view_shape_reach(const dls_shape_def *s, double *inner) {
    double reach = s->radius + s->length / 2;
    double half = norm(s->size) * (s->kind == DLS_ELLIPSOID ? 1 : 0.5);
    *inner = s->radius;
    if (half > 0) *inner = fmin(s->size[0], fmin(s->size[1], s->size[2])) / 2;
    reach = fmax(reach, half);
    for (int k = 0; k < s->point_count; k++) reach = fmax(reach, norm(s->points + 3 * (size_t)k));
    if (s->point_count) *inner = reach;
    return reach;
}

/* v + 2 s (u × v) + 2 u × (u × v) with q = (s, u) */
static void rotate(const double *q, const double *v, double *out) {
    const double *u = q + 1;
    double t[3];
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        t[k] = 2 * (u[i] * v[j] - u[j] * v[i]);
    }
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        out[k] = v[k] + q[0] * t[k] + u[i] * t[j] - u[j] * t[i];
    }
}

/* How far a shape without points reaches along the world's axes, with the columns a of its frame; false of
 * one without end. */
static bool reach_of(const dls_shape_def *s, const double (*a)[3], double *reach) {
    bool is_box = s->kind == DLS_BOX || s->kind == DLS_BOX_INSIDE,
         is_tube = s->kind == DLS_CYLINDER || s->kind == DLS_CYLINDER_INSIDE;
    for (int k = 0; k < 3; k++) {
        double p[3] = {s->size[0] * a[0][k], s->size[1] * a[1][k], s->size[2] * a[2][k]};
        double along = fabs(a[2][k]) * s->length / 2;
        if (is_box)
            reach[k] = (fabs(p[0]) + fabs(p[1]) + fabs(p[2])) / 2;
        else if (s->kind == DLS_ELLIPSOID)
            reach[k] = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
        else if (is_tube)
            reach[k] = along + s->radius * sqrt(fmax(0, 1 - a[2][k] * a[2][k]));
        else
            reach[k] = along + s->radius;
    }
    return s->kind != DLS_HALF_PLANE && s->kind != DLS_HALF_SPACE;
}

static void enclose_shape(view_box *box, const dls_shape_def *s, const dls_body_state *state) {
    static const double none[3] = {0, 0, 0};
    double x[3], a[3][3], p[3], reach[3];
    rotate(state->q, s->pose.x, x);
    for (int k = 0; k < 3; k++) {
        x[k] += state->x[k];
        rotate(s->pose.q, (const double[3]){k == 0, k == 1, k == 2}, p);
        rotate(state->q, p, a[k]);
    }
    if (!s->point_count && reach_of(s, (const double(*)[3])a, reach)) enclose(box, x, reach);
    for (int i = 0; i < s->point_count; i++) {
        const double *local = s->points + 3 * (size_t)i;
        for (int k = 0; k < 3; k++)
            p[k] = x[k] + a[0][k] * local[0] + a[1][k] * local[1] + a[2][k] * local[2];
        enclose(box, p, none);
    }
}

void view_box_enclose(const view_run *run, view_box *box, int id, const dls_body_state *state) {
    const view_body *body = &run->bodies[id];
    int count = dls_results_body_shape_count(run->results, id);
    if (body->is_ball || body->solid || !count) {
        enclose(box, state->x, (double[3]){body->reach, body->reach, run->is_planar ? 0 : body->reach});
        return;
    }
    for (int k = 0; k < count; k++) {
        dls_shape_def shape;
        if (!dls_results_body_shape(run->results, id, k, &shape, NULL)) enclose_shape(box, &shape, state);
    }
}

/* ---- of the whole run ---- */

static int by_size(const void *left, const void *right) {
    double p = *(const double *)left, q = *(const double *)right;
    return p < q ? -1 : p > q;
}

/* Of the frames' numbers the one that a share of them does not exceed. */
static double share_of(double *values, int count, double share) {
    qsort(values, (size_t)count, sizeof *values, by_size);
    return values[(int)lrint(share * (count - 1))];
}

/* Per axis the ends that so many frames leave out at most; none of frames without anything that moves. */
static view_box box_of_frames(const view_run *run, double outermost) {
    double *ends = report_allocate((size_t)run->frames, sizeof *ends);
    view_box all = view_box_none();
    for (int side = 0; side < 6; side++) {
        int count = 0;
        for (int f = 0; f < run->frames; f++) {
            const view_box *box = &run->frame[view_result_frame(run, f)].moving;
            if (box->low[0] <= box->high[0]) ends[count++] = side < 3 ? box->low[side] : box->high[side - 3];
        }
        if (!count) break;
        if (side < 3)
            all.low[side] = share_of(ends, count, outermost);
        else
            all.high[side - 3] = share_of(ends, count, 1 - outermost);
    }
    free(ends);
    return all;
}

static double middle_size(const view_run *run) {
    double *sizes = report_allocate((size_t)run->frames, sizeof *sizes);
    for (int f = 0; f < run->frames; f++) sizes[f] = size_of(&run->frame[view_result_frame(run, f)].moving);
    double middle = share_of(sizes, run->frames, 0.5);
    free(sizes);
    return middle;
}

static void enclose_box(view_box *box, const view_box *other) {
    static const double none[3] = {0, 0, 0};
    enclose(box, other->low, none);
    enclose(box, other->high, none);
}

bool view_box_find(view_run *run) {
    dls_body_state *states = report_allocate((size_t)run->body_count + 1, sizeof *states);
    bool *present = report_allocate((size_t)run->body_count + 1, sizeof *present);
    dls_error error;
    bool good = !dls_results_frame_states(run->results, 0, states, present, &error);
    view_box moving = box_of_frames(run, 0);
    if (size_of(&moving) > FAR * middle_size(run)) moving = box_of_frames(run, OUTERMOST);
    run->seen = moving;
    for (int b = 0; b < run->body_count && good; b++) {
        view_box box = view_box_none();
        if (run->bodies[b].moves || !present[b]) continue;
        view_box_enclose(run, &box, b, &states[b]);
        if (size_of(&box) > 0 && (size_of(&moving) == 0 || size_of(&box) < CONTAINER * size_of(&moving)))
            enclose_box(&run->seen, &box);
    }
    if (!good) report_error("view: %s", error.message);
    for (int k = 0; k < 3; k++)
        if (!(run->seen.low[k] <= run->seen.high[k])) run->seen = (view_box){{-1, -1, -1}, {1, 1, 1}};
    free(states);
    free(present);
    return good;
}
