/* States as small integers. Of each body and frame
 *
 *     x  multiples of the quantum, of which half is the largest error     q  multiples of 1/512
 *     |v| and |w|  their square roots over that of the block's largest, in 1/1023
 *
 * and one that says whether the body is there. A number is kept as its difference from the frame before,
 * zigzag coded, and byte planes of all bodies lie together: deflate finds what is alike in them. */
#include "cli/support/report.h"
#include "cli/view/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TURNS = 512, SPEEDS = 1023, FARTHEST = 1 << 29 };

typedef struct table {
    view_run *run;
    view_block *block;
    int frames, bodies;
    int32_t *channel[VIEW_BODY_CHANNELS]; /* x y z, q, speed, spin, there: by frame, then body */
    float *speed, *spin;
} table;

static int32_t place_of(table *t, double x) {
    double k = rint(x / t->run->quantum);
    if (fabs(k) <= FARTHEST) return (int32_t)k;
    t->run->beyond++;
    return k < 0 ? -FARTHEST : FARTHEST;
}

static double length_of(const double *v) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* q and −q are the same rotation: the one nearer to that of the frame before. */
static void take_rotation(table *t, size_t at, size_t before, const double *q) {
    double along = 0;
    for (int k = 0; k < 4; k++) along += q[k] * t->channel[3 + k][before];
    for (int k = 0; k < 4; k++) t->channel[3 + k][at] = (int32_t)lrint((along < 0 ? -TURNS : TURNS) * q[k]);
}

static void enclose(table *t, int body, const dls_body_state *s) {
    view_run *run = t->run;
    double speed = length_of(s->v);
    for (int k = 0; k < 3; k++) {
        run->low[k] = fmin(run->low[k], s->x[k]);
        run->high[k] = fmax(run->high[k], s->x[k]);
    }
    t->block->top_energy = fmax(t->block->top_energy, 0.5 * run->bodies[body].mass * speed * speed);
}

static void take_body(table *t, int frame, int body, const dls_body_state *s, bool is_there) {
    size_t at = (size_t)frame * (size_t)t->bodies + (size_t)body,
           before = frame ? at - (size_t)t->bodies : at;
    t->channel[9][at] = is_there;
    if (!is_there) { /* as it was: no difference */
        for (int c = 0; c < 7; c++) t->channel[c][at] = t->channel[c][before];
        return;
    }
    for (int k = 0; k < 3; k++) t->channel[k][at] = place_of(t, s->x[k]);
    if (t->run->bodies[body].moves) enclose(t, body, s);
    take_rotation(t, at, before, s->q);
    t->speed[at] = (float)length_of(s->v);
    t->spin[at] = (float)length_of(s->w);
}

/* value = top · (k/1023)² */
static double take_root(const table *t, const float *values, int32_t *channel) {
    size_t count = (size_t)t->frames * (size_t)t->bodies;
    float top = 0;
    for (size_t k = 0; k < count; k++) top = fmaxf(top, values[k]);
    for (size_t k = 0; k < count && top > 0; k++)
        channel[k] = (int32_t)lrint(SPEEDS * sqrt((double)values[k] / (double)top));
    return (double)top;
}

/* Differences in place, from the last frame to the first; returns how many bytes the largest needs. */
static int difference(const table *t, int32_t *channel) {
    uint32_t most = 0;
    for (int f = t->frames - 1; f >= 0; f--)
        for (int b = 0; b < t->bodies; b++) {
            size_t at = (size_t)f * (size_t)t->bodies + (size_t)b;
            int32_t d = channel[at] - (f ? channel[at - (size_t)t->bodies] : 0);
            uint32_t zigzag = (uint32_t)d << 1 ^ (uint32_t)(d < 0 ? -1 : 0);
            memcpy(&channel[at], &zigzag, sizeof zigzag);
            if (zigzag > most) most = zigzag;
        }
    return most < 1u << 16 ? 2 : most < 1u << 24 ? 3 : 4;
}

static void put_planes(const table *t, const int32_t *channel, int planes, view_bytes *bytes) {
    size_t count = (size_t)t->frames * (size_t)t->bodies;
    for (int p = 0; p < planes; p++) {
        uint8_t *place = bytes_extend(bytes, count);
        for (size_t k = 0; k < count; k++) place[k] = (uint8_t)((uint32_t)channel[k] >> 8 * p);
    }
}

static bool read_frames(table *t, int first) {
    dls_body_state *states = report_allocate((size_t)t->bodies + 1, sizeof *states);
    bool *present = report_allocate((size_t)t->bodies + 1, sizeof *present), good = true;
    dls_error error;
    for (int f = 0; f < t->frames && good; f++) {
        good = !dls_results_frame_states(t->run->results, view_result_frame(t->run, first + f), states,
                                         present, &error);
        for (int b = 0; b < t->bodies && good; b++) take_body(t, f, b, &states[b], present[b]);
    }
    if (!good) report_error("view: %s", error.message);
    free(states);
    free(present);
    return good;
}

bool view_states_pack(view_run *run, view_block *block) {
    table t = {.run = run, .block = block, .frames = block->count, .bodies = run->body_count};
    size_t count = (size_t)t.frames * (size_t)t.bodies + 1;
    for (int c = 0; c < VIEW_BODY_CHANNELS; c++) t.channel[c] = report_allocate(count, sizeof *t.channel[c]);
    t.speed = report_allocate(count, sizeof *t.speed);
    t.spin = report_allocate(count, sizeof *t.spin);
    bool good = read_frames(&t, block->first);
    block->top_speed = take_root(&t, t.speed, t.channel[7]);
    block->top_spin = take_root(&t, t.spin, t.channel[8]);
    block->planes = 2;
    for (int c = 0; c < VIEW_BODY_CHANNELS; c++) {
        int planes = difference(&t, t.channel[c]);
        if (planes > block->planes) block->planes = planes;
    }
    for (int c = 0; c < VIEW_BODY_CHANNELS; c++) {
        put_planes(&t, t.channel[c], c < 3 ? block->planes : c < 9 ? 2 : 1, &block->states);
        free(t.channel[c]);
    }
    free(t.speed);
    free(t.spin);
    bytes_deflate(&block->states);
    return good;
}
