/* Bodies are looked at when their number changes, contacts when a step has something to tell. */
#include "cli/run/watch.h"

#include "cli/support/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Of its own radius a body is born into another, of the smallest radius a penetration is deep. */
static const double BORN_SHARE = 0.01, DEEP_SHARE = 0.1;
static const double FED_SHARE = 3e-3; /* of the largest kinetic energy, */
static const double ROUNDING = 1e-12; /* and of what is at rest: of the largest potential energy */

void watched_name(const dls_world *world, dls_body_id id, char *text) {
    const char *name = dls_body_name(world, id);
    if (*name)
        snprintf(text, WATCHED_NAME, "'%.60s'", name);
    else
        snprintf(text, WATCHED_NAME, "body %d", id);
}

static watched_overlap overlap_of(const dls_world *world, const dls_contact_record *record, double t) {
    watched_overlap overlap = {.t = t, .depth = -record->gap};
    watched_name(world, record->body_a, overlap.a);
    watched_name(world, record->body_b, overlap.b);
    return overlap;
}

/* Of bodies that were not there before. */
static void look_at_sizes(run_watch *x, const dls_world *world) {
    for (; x->known < dls_world_body_count(world); x->known++) {
        double radius = dls_body_radius(world, x->known);
        bool moves = dls_body_motion(world, x->known) == DLS_DYNAMIC;
        if (dls_body_presence(world, x->known) == DLS_GONE) continue;
        if (!moves) {
            x->given = report_grow(x->given, (size_t)x->given_count, sizeof *x->given);
            x->given[x->given_count++] = x->known;
            continue;
        }
        if (radius > 0) x->smallest = fmin(x->smallest, radius);
    }
}

/* ---- bodies whose motions are given ---- */

/* The depth of a pair of which one at least is driven, 0 where it is slight. */
static double given_depth(const dls_world *world, dls_body_id a, dls_body_id b) {
    if (dls_body_motion(world, a) != DLS_DRIVEN && dls_body_motion(world, b) != DLS_DRIVEN) return 0;
    double depth = dls_bodies_depth(world, a, b);
    return depth > BORN_SHARE * fmin(dls_body_radius(world, a), dls_body_radius(world, b)) ? depth : 0;
}

static bool lay_inside(const run_watch *x, dls_body_id a, dls_body_id b) {
    for (int k = 0; k < x->inside_count; k++)
        if (x->inside[k][0] == a && x->inside[k][1] == b) return true;
    return false;
}

static void note_inside(run_watch *x, const dls_world *world) {
    for (int i = 0; i < x->given_count; i++)
        for (int k = i + 1; k < x->given_count; k++) {
            if (!(given_depth(world, x->given[i], x->given[k]) > 0)) continue;
            x->inside = report_grow(x->inside, (size_t)x->inside_count, sizeof *x->inside);
            x->inside[x->inside_count][0] = x->given[i];
            x->inside[x->inside_count++][1] = x->given[k];
        }
}

/* What is built into each other from the start is meant so. */
static void look_at_given(run_watch *x, double t, const dls_world *world) {
    for (int i = 0; i < x->given_count; i++)
        for (int k = i + 1; k < x->given_count; k++) {
            double depth = given_depth(world, x->given[i], x->given[k]);
            if (!(depth > 0) || lay_inside(x, x->given[i], x->given[k])) continue;
            x->through = (watched_overlap){.t = t, .depth = depth};
            watched_name(world, x->given[i], x->through.a);
            watched_name(world, x->given[k], x->through.b);
            return;
        }
}

/* ---- the run ---- */

void run_watch_begin(run_watch *x, const dls_simulation *simulation) {
    const dls_world *world = dls_simulation_world(simulation);
    int count = dls_world_body_count(world);
    *x = (run_watch){.smallest = INFINITY, .waiting = report_allocate((size_t)count + 1, sizeof *x->waiting)};
    for (int id = 0; id < count; id++)
        if (dls_body_presence(world, id) == DLS_WAITING) x->waiting[x->waiting_count++] = id;
    look_at_sizes(x, world);
    note_inside(x, world);
    dls_energy energy = dls_simulation_energy(simulation);
    x->friction = energy.friction + energy.turning;
    x->impact = energy.impact;
}

/* The deepest contact, of one body or of all (id −1); false where there is none. */
static bool find_deepest(const dls_simulation *simulation, dls_body_id id, dls_contact_record *deepest) {
    bool found = false;
    for (int c = 0; c < dls_simulation_contact_count(simulation); c++) {
        dls_contact_record record;
        dls_simulation_contact(simulation, c, &record);
        if (id >= 0 && record.body_a != id && record.body_b != id) continue;
        if (found && record.gap >= deepest->gap) continue;
        *deepest = record;
        found = true;
    }
    return found;
}

/* Those that wait no more are dropped. The contact of a newborn names it first. */
static void look_at_births(run_watch *x, double t, const dls_simulation *simulation) {
    const dls_world *world = dls_simulation_world(simulation);
    int waiting = 0;
    for (int k = 0; k < x->waiting_count; k++) {
        dls_body_id id = x->waiting[k];
        dls_contact_record record;
        if (dls_body_presence(world, id) == DLS_WAITING) x->waiting[waiting++] = id;
        if (dls_body_presence(world, id) != DLS_PRESENT || !find_deepest(simulation, id, &record)) continue;
        if (!(-record.gap > BORN_SHARE * dls_body_radius(world, id))) continue;
        if (record.body_b == id) record.body_b = record.body_a, record.body_a = id;
        if (x->born_count++ < MOST_BORN_INTO) x->born[x->born_count - 1] = overlap_of(world, &record, t);
    }
    x->waiting_count = waiting;
}

/* What friction takes, −½ r (u⁺ + u⁻), with what blows take, for in a blow friction alone has either sign.
 * Normals may give: what lay in each other is pushed out. The law takes at the slip of the contact's mean
 * place; steps in which contacts turn far give. */
static void look_at_friction(run_watch *x, const dls_energy *energy) {
    double friction = energy->friction + energy->turning;
    x->kinetic = fmax(x->kinetic, energy->kinetic);
    x->potential = fmax(x->potential, fabs(energy->potential));
    x->taken += friction - x->friction + fmax(energy->impact - x->impact, 0);
    x->friction = friction;
    x->impact = energy->impact;
    x->lost = fmax(x->lost, x->taken);
    x->fed = fmax(x->fed, x->lost - x->taken);
}

static void look_at_impacts(run_watch *x, const dls_simulation *simulation) {
    int left;
    int64_t impacts = dls_simulation_impacts(simulation, &left);
    x->impacts += impacts;
    x->left += left > 0;
    if (impacts > x->most) x->most = impacts;
}

void run_watch_step(run_watch *x, const dls_step_report *step, const dls_simulation *simulation) {
    dls_contact_record record;
    look_at_sizes(x, dls_simulation_world(simulation));
    if (x->waiting_count && step->bodies != x->bodies) look_at_births(x, step->t, simulation);
    x->bodies = step->bodies;
    look_at_impacts(x, simulation);
    look_at_friction(x, &step->energy);
    if (!(x->through.depth > 0)) look_at_given(x, step->t, dls_simulation_world(simulation));
    if (x->deep || !(step->penetration > DEEP_SHARE * x->smallest)) return;
    x->deep = find_deepest(simulation, -1, &record);
    if (x->deep) x->first = overlap_of(dls_simulation_world(simulation), &record, step->t);
}

void run_watch_tell(const run_watch *x, double penetration) {
    for (int k = 0; k < x->born_count && k < MOST_BORN_INTO; k++)
        report_warning("run: %s was born into %s at t = %.6g s, %.3g m deep", x->born[k].a, x->born[k].b,
                       x->born[k].t, x->born[k].depth);
    if (x->born_count > MOST_BORN_INTO)
        report_warning("run: %d bodies in all were born into others", x->born_count);
    if (x->deep)
        report_warning("run: bodies lay up to %.3g m in each other, the smallest that moves has a radius of "
                       "%.3g m; first %s and %s at t = %.6g s; shorten the step, or see 'delassus check'",
                       penetration, x->smallest, x->first.a, x->first.b, x->first.t);
    if (x->through.depth > 0)
        report_warning(
            "run: %s and %s go through each other, first at t = %.6g s: nothing keeps bodies apart "
            "whose motions are given",
            x->through.a, x->through.b, x->through.t);
    if (x->left)
        report_warning("run: in %d step%s more impacts followed each other than are struck in one; the rest "
                       "did not bounce",
                       x->left, plural(x->left));
    if (x->fed > fmax(FED_SHARE * x->kinetic, ROUNDING * x->potential))
        report_warning(
            "run: friction gave %.3g J where it should take, the largest kinetic energy is %.3g J; "
            "contacts turn too far in a step: shorten it",
            x->fed, x->kinetic);
}

void run_watch_release(run_watch *x) {
    free(x->waiting);
    free(x->given);
    free(x->inside);
    x->given = NULL, x->inside = NULL;
    x->waiting = NULL;
    x->waiting_count = 0;
}
