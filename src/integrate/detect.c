/* Contacts where the rows stand: how far away they are looked for, and where the rows stood. */
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "integrate/scheme.h"

#include <math.h>
#include <string.h>

/* Of the detection margin, in radii of the smallest moving body. */
static const double LEAST_MARGIN = 0.05, MOST_MARGIN = 1;

enum { MOST_LOOKS = 8 }; /* beyond the first in a step */

static double largest_speed(const dls_simulation *s) {
    double most = 0;
    for (int row = 0; row < s->world->body_count; row++)
        if (s->world->bodies[row].motion == DLS_DYNAMIC) most = fmax(most, vec_norm(s->world->states[row].v));
    return most;
}

/* A body that is hit within the step goes on with a speed that its places before do not show: contacts are
 * looked for as far away as the fastest body gets, or one that was hit as hard as in the step before. */
static double detection_margin(const dls_simulation *s) {
    double least = LEAST_MARGIN * s->smallest, most = MOST_MARGIN * s->smallest;
    if (s->options.margin > 0) return s->options.margin;
    return fmin(fmax(s->options.step * fmax(s->jump, largest_speed(s)), least), most);
}

bool dls_simulation_follows(const dls_simulation *s) {
    return s->scheme->follow && s->options.entering != DLS_ENTER_CLOSED && !s->world->solid_count;
}

dls_status dls_simulation_find_contacts(dls_simulation *s, bool again, dls_error *error) {
    dls_workspace *space = s->assembly.space;
    s->margin = detection_margin(s);
    dls_collide_options options = {.margin = s->margin,
                                   .h = s->options.step,
                                   .threads = s->options.threads,
                                   .scratch = space,
                                   .follow = dls_simulation_follows(s),
                                   .extra = again ? s->extra : NULL,
                                   .tried = again ? s->tried : NULL};
    s->assembly = (dls_assembly){.space = space};
    dls_workspace_release(space, (dls_workspace_mark){0, 0});
    s->found_count = s->world->body_count;
    for (int row = 0; row < s->found_count; row++) {
        memcpy(s->found[row].x, s->world->states[row].x, sizeof s->found[row].x);
        memcpy(s->found[row].q, s->world->states[row].q, sizeof s->found[row].q);
    }
    return dls_collider_update(s->collider, s->world, &options, error);
}

/* ---- what impulses throw farther than was looked ---- */

/* h(|v⁺ − v| + |ω⁺ − ω| R) */
static double thrown(const dls_simulation *s, const dls_twist *before, int row) {
    const dls_body *body = &s->world->bodies[row];
    const dls_body_state *state = &s->world->states[row];
    if (body->motion != DLS_DYNAMIC || !body->shape_count) return 0;
    return s->options.step *
           (vec_distance(state->v, before->v) + vec_distance(state->w, before->w) * body->radius);
}

/* Rows that were thrown beyond the margin. */
static int find_thrown(const dls_simulation *s, const dls_twist *before, int *rows) {
    int count = 0;
    for (int row = 0; row < s->world->body_count; row++)
        if (thrown(s, &before[row], row) > s->margin) rows[count++] = row;
    return count;
}

static dls_status note_tried(dls_simulation *s, const dls_twist *before, bool first, dls_error *error) {
    int rows = s->world->body_count;
    if (!DLS_RESERVE(s->tried, 0, s->tried_capacity, rows) ||
        !DLS_RESERVE(s->extra, s->extra_capacity, s->extra_capacity, rows))
        return dls_fail_memory(error);
    for (int row = 0; row < rows; row++) {
        double far = thrown(s, &before[row], row);
        s->extra[row] = first || far > s->extra[row] ? far : s->extra[row];
        s->tried[row] = s->world->states[row];
    }
    for (int row = 0; row < rows; row++) {
        vec_copy(s->world->states[row].v, before[row].v);
        vec_copy(s->world->states[row].w, before[row].w);
    }
    return DLS_OK;
}

dls_status dls_simulation_look_again(dls_simulation *s, const dls_twist *before, int look, bool *again,
                                     dls_error *error) {
    *again = false;
    if (!dls_simulation_follows(s) || look >= MOST_LOOKS) return DLS_OK;
    int *rows = DLS_TAKE(s->assembly.space, int, s->world->body_count);
    if (!rows) return dls_fail_memory(error);
    int count = find_thrown(s, before, rows);
    dls_status status = count ? dls_simulation_check_states(s, error) : DLS_OK;
    if (status) return status;
    *again = dls_collider_misses(s->collider, s->world, s->options.step, rows, count, s->assembly.space);
    return *again ? note_tried(s, before, look == 0, error) : DLS_OK;
}

/* ---- the first flight ---- */

/* Where contacts are found in a body's first step none was looked for before. Slower ones meet there what
 * they would meet anyway. */
static const double FAST = 0.25; /* of its radius, in its first flight */

void dls_simulation_fly_on(dls_simulation *s, double dt) {
    int row = s->world->body_count - 1;
    for (; dls_simulation_follows(s) && row >= 0 && s->world->bodies[row].uid >= s->flown_uid; row--) {
        const dls_body *body = &s->world->bodies[row];
        dls_body_state *state = &s->world->states[row];
        if (body->motion != DLS_DYNAMIC || !(dt * vec_norm(state->v) > FAST * body->radius)) continue;
        double until = dls_collider_first_meeting(s->collider, s->world, dt, row);
        if (until < dt) vec_along(state->x, state->x, until - dt, state->v);
    }
    dls_fly(s->world, dt, s->options.threads);
}
