/* A run made ready for its page: which frames, how fine, and block by block what happened. */
#include "cli/support/report.h"
#include "cli/view/view.h"

#include <math.h>
#include <stdlib.h>

/* A block is unpacked at once by who looks at it, and its first frame stands alone: neither large nor short.
 */
enum { BLOCK_STATES = 1 << 20, LEAST_FRAMES = 4, MOST_FRAMES = 64 };
static const double CHAIN_ROOM = 3.75;  /* bytes per body and frame: five letters of base64 */
static const double PLACE_ERROR = 5e-3; /* of the smallest radius */

int view_result_frame(const view_run *run, int frame) {
    int shown = frame * run->stride; /* the last frame is always in it */
    return frame == run->frames - 1 ? run->result_frames - 1 : shown;
}

/* ---- bodies ---- */

static double length_of(const double *v) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

static bool read_body(view_run *run, int id) {
    view_body *body = &run->bodies[id];
    int count = dls_results_body_shape_count(run->results, id);
    dls_body_mass mass;
    dls_error error;
    body->moves = dls_results_body_motion(run->results, id) == DLS_DYNAMIC;
    if (body->moves && !dls_results_body_mass(run->results, id, &mass, NULL)) body->mass = mass.mass;
    for (int k = 0; k < count; k++) {
        dls_shape_def shape;
        double inner;
        if (dls_results_body_shape(run->results, id, k, &shape, &error)) {
            report_error("view: %s", error.message);
            return false;
        }
        double reach = view_shape_reach(&shape, &inner), away = length_of(shape.pose.x);
        body->reach = fmax(body->reach, away + reach);
        body->is_ball = count == 1 && away == 0 && reach == shape.radius && shape.point_count == 0 &&
                        !dls_shape_kind_is_obstacle(shape.kind);
        if (body->moves && inner > 0) run->smallest = fmin(run->smallest, inner);
    }
    return true;
}

/* Without a body that moves and has a size: the largest coordinate of the first frame instead. */
static double some_size(view_run *run) {
    dls_body_state *states = report_allocate((size_t)run->body_count + 1, sizeof *states);
    double size = 0;
    dls_error error;
    if (!dls_results_frame_states(run->results, 0, states, NULL, &error))
        for (int b = 0; b < run->body_count; b++) size = fmax(size, length_of(states[b].x));
    free(states);
    return size > 0 ? size / 100 : 1;
}

bool view_run_begin(view_run *run, dls_results *results) {
    *run = (view_run){.results = results,
                      .body_count = dls_results_body_count(results),
                      .joint_count = dls_results_joint_count(results),
                      .is_planar = dls_results_dimension(results) == 2,
                      .result_frames = dls_results_frame_count(results),
                      .smallest = INFINITY};
    run->bodies = report_allocate((size_t)run->body_count + 1, sizeof *run->bodies);
    run->frame = report_allocate((size_t)run->result_frames + 1, sizeof *run->frame);
    for (int b = 0; b < run->body_count; b++)
        if (!read_body(run, b)) return false;
    if (!view_solids_find(run)) return false;
    if (isinf(run->smallest)) run->smallest = some_size(run);
    run->quantum = 2 * PLACE_ERROR * run->smallest;
    for (int f = 0; f < run->result_frames; f++) {
        run->frame[f].time = dls_results_frame_time(results, f);
        run->frame[f].step = dls_results_frame_step(results, f);
    }
    return view_history_read(run);
}

/* ---- blocks ---- */

static void drop_blocks(view_run *run) {
    for (int k = 0; k < run->block_count; k++) {
        bytes_free(&run->block[k].states);
        bytes_free(&run->block[k].points);
        bytes_free(&run->block[k].chains);
        bytes_free(&run->block[k].joints);
    }
    free(run->block);
    run->block = NULL;
    run->block_count = 0;
    run->beyond = 0;
}

void view_run_end(view_run *run) {
    drop_blocks(run);
    bytes_free(&run->history);
    for (int b = 0; b < run->body_count; b++) free(run->bodies[b].stand);
    free(run->stands);
    free(run->bodies);
    free(run->frame);
}

static int frames_of_block(const view_run *run) {
    int64_t fitting = BLOCK_STATES / (run->body_count + run->stand_count + run->point_count + 1);
    return (int)(fitting < LEAST_FRAMES ? LEAST_FRAMES : fitting > MOST_FRAMES ? MOST_FRAMES : fitting);
}

typedef struct sizes {
    double states, chains; /* letters in all; joints and points of solids are with the states */
} sizes;

/* Stops where the letters are more than limit, and then tells what all would take. */
static bool pack_all(view_run *run, double limit, sizes *s) {
    int most = frames_of_block(run), done = 0;
    *s = (sizes){0, 0};
    drop_blocks(run);
    while (done < run->frames && s->states + s->chains <= limit) {
        run->block = report_grow(run->block, (size_t)run->block_count, sizeof *run->block);
        view_block *block = &run->block[run->block_count++];
        *block = (view_block){.first = done, .count = run->frames - done < most ? run->frames - done : most};
        if (!view_states_pack(run, block) || !view_solids_pack(run, block) || !view_chains_pack(run, block) ||
            !view_joints_pack(run, block))
            return false;
        s->states += (double)(bytes_letters(&block->states) + bytes_letters(&block->points) +
                              bytes_letters(&block->joints));
        s->chains += (double)bytes_letters(&block->chains);
        done += block->count;
    }
    s->states *= (double)run->frames / done;
    s->chains *= (double)run->frames / done;
    return true;
}

/* Chains first, then frames. */
static void thin(view_run *run, double limit, const sizes *s) {
    if (s->states <= 0.9 * limit && s->chains > 0) {
        run->room *= fmin(0.9, 0.95 * (limit - s->states) / s->chains);
        return;
    }
    run->room = CHAIN_ROOM / 8;
    run->stride = (int)ceil(run->stride * fmax(1.25, (s->states + s->chains / 8) / (0.85 * limit)));
}

bool view_run_pack(view_run *run, size_t limit) {
    sizes s;
    run->stride = 1;
    run->room = CHAIN_ROOM;
    for (;;) {
        run->frames = (run->result_frames - 1 + run->stride - 1) / run->stride + 1;
        if (!pack_all(run, (double)limit, &s)) return false;
        if (s.states + s.chains <= (double)limit || run->frames <= 2) return view_box_find(run);
        thin(run, (double)limit, &s);
    }
}
