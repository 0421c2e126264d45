/* Bodies that deform, as points that move by themselves: the places that results hold of them, vertices of a
 * skin or along a line, from the body's own place and with von Mises's stress; and of a body that deforms
 * alike everywhere the columns of F, as far as the body reaches and eight times as fine. */
#include "cli/support/report.h"
#include "cli/view/table.h"
#include "cli/view/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 4, STRESS = 3, COLUMNS = 3, FINER = 8 };

/* ---- which bodies, and how many points they have ---- */

static double distance(const double *a, const double *b) {
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

/* The shape whose points are the nodes of a body: only one of triangles can be it. */
static bool is_skin(const view_run *run, int body, int nodes) {
    dls_shape_def skin;
    return dls_results_body_shape_count(run->results, body) == 1 &&
           !dls_results_body_shape(run->results, body, 0, &skin, NULL) && skin.triangle_count > 0 &&
           skin.point_count == nodes;
}

/* A line is as small as half the way between its nodes. */
static void measure_line(view_run *run, view_body *body, const dls_node_record *nodes, int count,
                         const double *middle) {
    body->reach = 0;
    for (int k = 0; k < count; k++) body->reach = fmax(body->reach, distance(nodes[k].x, middle));
    for (int k = 0; k + 1 < count; k++) {
        double half = distance(nodes[k].x, nodes[k + 1].x) / 2;
        if (half > 0) run->smallest = fmin(run->smallest, half);
    }
}

/* Per piece of a line at one of its nodes: the mean of both sides, at its ends that of a parabola. */
static double slope_of(const dls_node_record *nodes, int count, int k, int c) {
    if (count == 2) return nodes[1].x[c] - nodes[0].x[c];
    if (k == 0) return 2 * (nodes[1].x[c] - nodes[0].x[c]) - slope_of(nodes, count, 1, c);
    if (k == count - 1) return 2 * (nodes[k].x[c] - nodes[k - 1].x[c]) - slope_of(nodes, count, k - 1, c);
    return (nodes[k + 1].x[c] - nodes[k - 1].x[c]) / 2;
}

/* A place on a line, in the plane: a cubic through its nodes. Returns the angle of its course. */
static double find_place(const dls_node_record *nodes, int count, double at, double *place) {
    double s = at * (count - 1), along[2];
    int k = (int)fmin(fmax(floor(s), 0), count - 2);
    double t = s - k, u = 1 - t;
    for (int c = 0; c < 2; c++) {
        double p = nodes[k].x[c], q = nodes[k + 1].x[c];
        double left = slope_of(nodes, count, k, c), right = slope_of(nodes, count, k + 1, c);
        place[c] = u * u * (1 + 2 * t) * p + t * t * (1 + 2 * u) * q + t * u * (u * left - t * right);
        along[c] = 6 * t * u * (q - p) + u * (u - 2 * t) * left + t * (t - 2 * u) * right;
    }
    return atan2(along[1], along[0]);
}

static double angle_of(const double *q) { return 2 * atan2(q[3], q[0]); }

/* Results have shapes of a line about its mean place, as that is in the first frame. */
static void stand_shapes(view_run *run, int id, const dls_node_record *nodes, int count,
                         const dls_body_state *mean) {
    int shapes = dls_results_body_shape_count(run->results, id);
    dls_pose *stand = run->bodies[id].stand = report_allocate((size_t)shapes + 1, sizeof *stand);
    for (int k = 0; k < shapes; k++) {
        dls_shape_def shape;
        if (dls_results_body_shape(run->results, id, k, &shape, NULL)) continue;
        double place[2], course = find_place(nodes, count, shape.at, place), turn = angle_of(mean->q);
        double x = mean->x[0] + cos(turn) * shape.pose.x[0] - sin(turn) * shape.pose.x[1] - place[0];
        double y = mean->x[1] + sin(turn) * shape.pose.x[0] + cos(turn) * shape.pose.x[1] - place[1];
        double c = cos(course), s = sin(course), angle = turn + angle_of(shape.pose.q) - course;
        stand[k] =
            (dls_pose){.x = {c * x + s * y, c * y - s * x, 0}, .q = {cos(angle / 2), 0, 0, sin(angle / 2)}};
    }
}

static void take_solids(view_run *run, const view_solids *s) {
    for (int first = 0, end; first < s->node_count; first = end) {
        for (end = first + 1; end < s->node_count && s->node[end].body == s->node[first].body; end++)
            continue;
        int id = s->node[first].body;
        view_body *body = &run->bodies[id];
        if (body->solid != VIEW_RIGID) continue;
        body->solid = is_skin(run, id, end - first) ? VIEW_SKIN : VIEW_LINE;
        body->point_count = end - first;
        if (body->solid != VIEW_LINE) continue;
        measure_line(run, body, s->node + first, end - first, s->state[id].x);
        if (end - first > 1) stand_shapes(run, id, s->node + first, end - first, &s->state[id]);
    }
    for (int k = 0; k < s->gradient_count; k++) {
        view_body *body = &run->bodies[s->gradient[k].body];
        body->solid = VIEW_AFFINE;
        body->point_count = COLUMNS;
        body->is_ball = false; /* where such bodies touch, their places do not tell */
    }
}

static void number_stands(view_run *run, int id) {
    for (int k = 0; k < dls_results_body_shape_count(run->results, id); k++) {
        dls_shape_def shape = {.at = 0};
        run->stands = report_grow(run->stands, (size_t)run->stand_count, sizeof *run->stands);
        dls_results_body_shape(run->results, id, k, &shape, NULL);
        run->stands[run->stand_count++] = (view_stand){id, shape.at};
    }
}

/* ---- what a frame holds of them ---- */

static void free_solids(view_solids *s) {
    free(s->node);
    free(s->gradient);
    free(s->state);
}

static bool read_solids(const view_run *run, int frame, view_solids *s) {
    dls_error error;
    *s = (view_solids){.node_count = dls_results_frame_node_count(run->results, frame),
                       .gradient_count = dls_results_frame_gradient_count(run->results, frame)};
    s->node = report_allocate((size_t)s->node_count + 1, sizeof *s->node);
    s->gradient = report_allocate((size_t)s->gradient_count + 1, sizeof *s->gradient);
    s->state = report_allocate((size_t)run->body_count + 1, sizeof *s->state);
    if (!dls_results_frame_nodes(run->results, frame, s->node, &error) &&
        !dls_results_frame_gradients(run->results, frame, s->gradient, &error) &&
        !dls_results_frame_states(run->results, frame, s->state, NULL, &error))
        return true;
    free_solids(s);
    report_error("view: %s", error.message);
    return false;
}

bool view_solids_find(view_run *run) {
    for (int f = 0; f < run->result_frames; f++) {
        view_solids s;
        if (!dls_results_frame_node_count(run->results, f) &&
            !dls_results_frame_gradient_count(run->results, f))
            continue;
        if (!read_solids(run, f, &s)) return false;
        take_solids(run, &s);
        free_solids(&s);
    }
    for (int b = 0; b < run->body_count; b++) {
        run->bodies[b].first_point = run->point_count;
        run->point_count += run->bodies[b].point_count;
        if (run->bodies[b].stand) number_stands(run, b);
    }
    return true;
}

bool view_stands_take(const view_run *run, int shown, dls_body_state *states, bool *present) {
    view_solids s;
    dls_body_state *state = states + run->body_count;
    if (!run->stand_count) return true;
    if (!read_solids(run, shown, &s)) return false;
    memset(state, 0, (size_t)run->stand_count * sizeof *state);
    for (int k = 0; k < run->stand_count; k++) present[run->body_count + k] = false;
    for (int first = 0, end; first < s.node_count; first = end) {
        int body = s.node[first].body;
        for (end = first + 1; end < s.node_count && s.node[end].body == body; end++) continue;
        for (int k = 0; k < run->stand_count; k++) {
            if (run->stands[k].body != body || end - first < 2) continue;
            double angle = find_place(s.node + first, end - first, run->stands[k].at, state[k].x);
            state[k].q[0] = cos(angle / 2), state[k].q[3] = sin(angle / 2);
            present[run->body_count + k] = present[body];
        }
    }
    free_solids(&s);
    return true;
}

/* ---- a block ---- */

typedef struct points {
    view_run *run;
    view_table table;
    float *stress;
} points;

/* Of the body's own place, as the page has it. */
static int32_t offset_of(const view_run *run, double x, double of) {
    int64_t beyond = 0;
    return view_place_of(x, run->quantum, &beyond) - view_place_of(of, run->quantum, &beyond);
}

static void take_nodes(points *p, size_t start, const view_solids *s) {
    for (int k = 0, seen = 0; k < s->node_count; k++) {
        const dls_node_record *node = &s->node[k];
        const view_body *body = &p->run->bodies[node->body];
        seen = k && node->body == s->node[k - 1].body ? seen + 1 : 0;
        if (seen >= body->point_count || body->solid == VIEW_AFFINE) continue;
        size_t at = start + (size_t)(body->first_point + seen);
        for (int c = 0; c < 3; c++)
            p->table.channel[c][at] = offset_of(p->run, node->x[c], s->state[node->body].x[c]);
        p->stress[at] = (float)fmax(node->von_mises, 0);
    }
}

static void take_gradients(points *p, size_t start, const view_solids *s) {
    for (int k = 0; k < s->gradient_count; k++) {
        const view_body *body = &p->run->bodies[s->gradient[k].body];
        double unit = p->run->quantum / FINER;
        for (int j = 0; j < COLUMNS; j++)
            for (int c = 0; c < 3; c++)
                p->table.channel[c][start + (size_t)(body->first_point + j)] =
                    view_place_of(s->gradient[k].F[3 * j + c] * body->reach, unit, &p->run->beyond);
    }
}

/* Points of bodies that are not there stay where they were. */
static bool take_frame(points *p, int frame, int shown) {
    view_solids s;
    size_t count = (size_t)p->table.items, start = (size_t)frame * count;
    if (!read_solids(p->run, shown, &s)) return false;
    for (int c = 0; c < STRESS && frame; c++)
        memcpy(p->table.channel[c] + start, p->table.channel[c] + start - count,
               count * sizeof *p->table.channel[c]);
    take_nodes(p, start, &s);
    take_gradients(p, start, &s);
    free_solids(&s);
    return true;
}

bool view_solids_pack(view_run *run, view_block *block) {
    if (!run->point_count) return true;
    points p = {run, view_table_begin(block->count, run->point_count, CHANNELS), NULL};
    p.stress = report_allocate((size_t)block->count * (size_t)run->point_count, sizeof *p.stress);
    bool good = true;
    for (int f = 0; f < block->count && good; f++)
        good = take_frame(&p, f, view_result_frame(run, block->first + f));
    block->top_stress = view_table_take_roots(&p.table, STRESS, p.stress);
    block->point_planes = view_table_end(&p.table, &block->points);
    free(p.stress);
    return good;
}
