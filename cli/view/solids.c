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

static void take_solids(view_run *run, const view_solids *s) {
    for (int first = 0, end; first < s->node_count; first = end) {
        for (end = first + 1; end < s->node_count && s->node[end].body == s->node[first].body; end++)
            continue;
        int id = s->node[first].body;
        view_body *body = &run->bodies[id];
        if (body->solid != VIEW_RIGID) continue;
        body->solid = is_skin(run, id, end - first) ? VIEW_SKIN : VIEW_LINE;
        body->point_count = end - first;
        if (body->solid == VIEW_LINE) measure_line(run, body, s->node + first, end - first, s->state[id].x);
    }
    for (int k = 0; k < s->gradient_count; k++) {
        view_body *body = &run->bodies[s->gradient[k].body];
        body->solid = VIEW_AFFINE;
        body->point_count = COLUMNS;
        body->is_ball = false; /* where such bodies touch, their places do not tell */
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
    }
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
