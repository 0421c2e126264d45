/* The table of schemes: their numbers, and how their bodies move. */
#include "integrate/scheme.h"

#include "base/error.h"
#include "integrate/alpha/finish.h"
#include "world/solid/solid.h"

#include <string.h>

/* ---- rows ---- */

dls_force_time dls_plan_force(const dls_simulation *s, const dls_step_plan *plan, int k) {
    return (dls_force_time){s->t + plan->forces[k].at * s->options.step, plan->forces[k].weight};
}

void dls_move_rest(dls_simulation *s, const dls_step_plan *plan) {
    dls_fly(s->world, (1 - plan->contacts_at) * s->options.step, s->options.threads);
}

static dls_step_plan plan_moreau_jean(const dls_simulation *s) {
    (void)s;
    return (dls_step_plan){.contacts_at = 0.5,
                           .joints_at = 0.5,
                           .force_count = 1,
                           .forces = {{.at = 0.5, .weight = 1}},
                           .damping = 0.5,
                           .stiffness = 0.25};
}

static const dls_scheme row_moreau_jean = {.name = "moreau-jean",
                                           .summary = "all at the half step, q + h/2 v",
                                           .follow = true,
                                           .solids = DLS_MOVES_SOLIDS,
                                           .plan = plan_moreau_jean,
                                           .move = dls_move_rest,
                                           .advance = dls_impulse_advance};

static dls_step_plan plan_theta(const dls_simulation *s) {
    double theta = s->options.theta;
    return (dls_step_plan){.contacts_at = 0.5,
                           .joints_at = 1 - theta,
                           .force_count = 2,
                           .forces = {{.at = 1, .weight = theta}, {.at = 0, .weight = 1 - theta}},
                           .damping = theta,
                           .stiffness = theta * theta};
}

/* q⁺ = q + h (θ v⁺ + (1 − θ) v) */
static void move_theta(dls_simulation *s, const dls_step_plan *plan) {
    (void)plan;
    dls_fly_theta(s->world, s->kept, s->kept_solids, s->options.step, s->options.theta, s->options.threads);
}

static const dls_scheme row_theta = {.name = "theta",
                                     .summary = "shares 1 − θ and θ of the step's two ends",
                                     .follow = true,
                                     .solids = DLS_MOVES_SOLIDS,
                                     .plan = plan_theta,
                                     .move = move_theta,
                                     .advance = dls_impulse_advance};

static dls_step_plan plan_dvi(const dls_simulation *s) {
    (void)s;
    return (dls_step_plan){.contacts_at = 0,
                           .joints_at = 0,
                           .force_count = 1,
                           .forces = {{.at = 0, .weight = 1}},
                           .damping = 1,
                           .stiffness = 1};
}

static const dls_scheme row_dvi = {.name = "dvi",
                                   .summary = "semi-implicit with gap/h, contacts at q",
                                   .whole_gap = true,
                                   .follow = true,
                                   .solids = DLS_MOVES_SOLIDS,
                                   .plan = plan_dvi,
                                   .move = dls_move_rest,
                                   .advance = dls_impulse_advance};

static dls_step_plan plan_alpha(const dls_simulation *s) {
    (void)s;
    return (dls_step_plan){.contacts_at = 1,
                           .joints_at = 1,
                           .force_count = 2,
                           .forces = {{.at = 1, .weight = 1}, {.at = 0, .weight = 0}},
                           .damping = 1,
                           .stiffness = 1};
}

static const dls_scheme row_alpha = {.name = "generalized-alpha",
                                     .summary = "second order, contacts and joints hold at three levels",
                                     .solids = DLS_MOVES_LINES,
                                     .plan = plan_alpha,
                                     .move = dls_move_rest,
                                     .advance = dls_alpha_world_advance,
                                     .check = dls_alpha_world_admits,
                                     .begin = dls_alpha_world_begin,
                                     .end = dls_alpha_world_end,
                                     .state_size = dls_alpha_world_size,
                                     .state_write = dls_alpha_world_write,
                                     .state_read = dls_alpha_world_read};

dls_status dls_scheme_check_solids(const dls_scheme *scheme, const dls_world *world, dls_error *error) {
    for (int k = 0; k < world->solid_count && scheme->solids != DLS_MOVES_SOLIDS; k++) {
        const dls_solid *solid = &world->solids[k];
        if (scheme->solids == DLS_MOVES_LINES && solid->kind->line) continue;
        return dls_fail(error, DLS_ERROR_INPUT, "body %d is a solid (%s) in the scheme '%s', expected one %s",
                        solid->id, solid->kind->name, scheme->name,
                        scheme->solids ? "for such solids: moreau-jean, theta or dvi" : "that moves solids");
    }
    return DLS_OK;
}

/* ---- the table ---- */

static const dls_scheme *const built_in[] = {&row_moreau_jean, &row_theta, &row_dvi, &row_alpha};

enum { BUILT_IN = sizeof built_in / sizeof *built_in, MAX_REGISTERED = 16 };

static const dls_scheme *registered[MAX_REGISTERED];
static int registered_count;

static const dls_scheme *row_at(int index) {
    if (index < 0 || index >= BUILT_IN + registered_count) return NULL;
    return index < BUILT_IN ? built_in[index] : registered[index - BUILT_IN];
}

const char *dls_scheme_at(int index, const char **summary) {
    const dls_scheme *row = row_at(index);
    if (row && summary) *summary = row->summary;
    return row ? row->name : NULL;
}

const dls_scheme *dls_scheme_find(const char *name) {
    for (int i = 0; row_at(i); i++)
        if (!strcmp(row_at(i)->name, name)) return row_at(i);
    return NULL;
}

dls_status dls_scheme_register(const dls_scheme *scheme, dls_error *error) {
    dls_error_clear(error);
    if (!scheme || !scheme->name || !scheme->name[0] || strlen(scheme->name) >= DLS_NAME_SIZE)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "a scheme needs a name of at most %d letters",
                        DLS_NAME_SIZE - 1);
    bool keeps =
        scheme->begin || scheme->end || scheme->state_size || scheme->state_write || scheme->state_read;
    if (!scheme->summary || !scheme->plan || !scheme->move || !scheme->advance ||
        (keeps &&
         !(scheme->begin && scheme->end && scheme->state_size && scheme->state_write && scheme->state_read)))
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "scheme '%s': a summary, plan, move and advance are needed, and all or none of the "
                        "functions of what it keeps",
                        scheme->name);
    if (dls_scheme_find(scheme->name))
        return dls_fail(error, DLS_ERROR_ARGUMENT, "scheme '%s': the name is taken", scheme->name);
    if (registered_count == MAX_REGISTERED)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "scheme '%s': the table is full, %d are registered",
                        scheme->name, MAX_REGISTERED);
    registered[registered_count++] = scheme;
    return DLS_OK;
}

void dls_scheme_unregister(const dls_scheme *scheme) {
    for (int i = 0; i < registered_count; i++)
        if (registered[i] == scheme) registered[i] = registered[--registered_count];
}
