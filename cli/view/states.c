/* States as small integers. Of each body and frame
 *
 *     x  multiples of the quantum, of which half is the largest error     q  multiples of 1/512
 *     |v| and |w|  their square roots over that of the block's largest, in 1/1023
 *
 * and one that says whether the body is there. */
#include "cli/support/report.h"
#include "cli/view/table.h"
#include "cli/view/view.h"

#include <math.h>
#include <stdlib.h>

enum { TURNS = 512, CHANNELS = 10, TURN = 3, SPEED = 7, SPIN = 8, THERE = 9 };

typedef struct states {
    view_run *run;
    view_block *block;
    view_table table;
    float *speed, *spin;
} states;

static double length_of(const double *v) { return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* q and −q are the same rotation: the one nearer to that of the frame before. */
static void take_rotation(view_table *t, size_t at, size_t before, const double *q) {
    double along = 0;
    for (int k = 0; k < 4; k++) along += q[k] * t->channel[TURN + k][before];
    for (int k = 0; k < 4; k++)
        t->channel[TURN + k][at] = (int32_t)lrint((along < 0 ? -TURNS : TURNS) * q[k]);
}

static void take_moving(states *s, view_box *moving, int body, const dls_body_state *state) {
    double speed = length_of(state->v);
    s->block->top_energy = fmax(s->block->top_energy, 0.5 * s->run->bodies[body].mass * speed * speed);
    view_box_enclose(s->run, moving, body, state);
}

static void take_body(states *s, int frame, int body, const dls_body_state *state, bool is_there) {
    view_table *t = &s->table;
    size_t bodies = (size_t)t->items, at = (size_t)frame * bodies + (size_t)body;
    size_t before = frame ? at - bodies : at;
    t->channel[THERE][at] = is_there;
    if (!is_there) { /* as it was: no difference */
        for (int c = 0; c < SPEED; c++) t->channel[c][at] = t->channel[c][before];
        return;
    }
    for (int k = 0; k < 3; k++)
        t->channel[k][at] = view_place_of(state->x[k], s->run->quantum, &s->run->beyond);
    take_rotation(t, at, before, state->q);
    s->speed[at] = (float)length_of(state->v);
    s->spin[at] = (float)length_of(state->w);
}

static bool read_frames(states *s) {
    size_t items = (size_t)s->table.items;
    dls_body_state *state = report_allocate(items + 1, sizeof *state);
    bool *present = report_allocate(items + 1, sizeof *present), good = true;
    dls_error error;
    for (int f = 0; f < s->table.frames && good; f++) {
        int shown = view_result_frame(s->run, s->block->first + f);
        good = !dls_results_frame_states(s->run->results, shown, state, present, &error);
        if (!good) report_error("view: %s", error.message);
        good = good && view_stands_take(s->run, shown, state, present);
        view_box *moving = &s->run->frame[shown].moving;
        *moving = view_box_none();
        for (int k = 0; k < s->table.items && good; k++) {
            take_body(s, f, k, &state[k], present[k]);
            if (k < s->run->body_count && present[k] && s->run->bodies[k].moves)
                take_moving(s, moving, k, &state[k]);
        }
    }
    free(state);
    free(present);
    return good;
}

bool view_states_pack(view_run *run, view_block *block) {
    int items = run->body_count + run->stand_count;
    states s = {run, block, view_table_begin(block->count, items, CHANNELS), NULL, NULL};
    size_t count = (size_t)block->count * (size_t)items + 1;
    s.speed = report_allocate(count, sizeof *s.speed);
    s.spin = report_allocate(count, sizeof *s.spin);
    bool good = read_frames(&s);
    block->top_speed = view_table_take_roots(&s.table, SPEED, s.speed);
    block->top_spin = view_table_take_roots(&s.table, SPIN, s.spin);
    block->planes = view_table_end(&s.table, &block->states);
    free(s.speed);
    free(s.spin);
    return good;
}
