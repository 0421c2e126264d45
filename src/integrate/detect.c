/* Contacts where the rows stand: how far away they are looked for, and where the rows stood. */
#include "base/memory.h"
#include "base/vector.h"
#include "integrate/simulation.h"

#include <math.h>
#include <string.h>

/* Of the detection margin, in radii of the smallest moving body. */
static const double LEAST_MARGIN = 0.05, MOST_MARGIN = 1;

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

dls_status dls_simulation_find_contacts(dls_simulation *s, dls_error *error) {
    dls_workspace *space = s->assembly.space;
    dls_collide_options options = {detection_margin(s), s->options.step, s->options.threads, space};
    s->assembly = (dls_assembly){.space = space};
    dls_workspace_release(space, (dls_workspace_mark){0, 0});
    s->found_count = s->world->body_count;
    for (int row = 0; row < s->found_count; row++) {
        memcpy(s->found[row].x, s->world->states[row].x, sizeof s->found[row].x);
        memcpy(s->found[row].q, s->world->states[row].q, sizeof s->found[row].q);
    }
    return dls_collider_update(s->collider, s->world, &options, error);
}
