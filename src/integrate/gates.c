#include "integrate/gates.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/vector.h"
#include "world/solid/solid.h"
#include "world/world.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum { TRIES = 100 }; /* places that a body is offered in one step */

/* A body that was made, and how it begins but for its place. */
typedef struct fed_body {
    dls_body_id id;
    double mass;
    dls_body_state start;
} fed_body;

/* What an inlet has done, as a checkpoint has it. */
typedef struct inlet_counts {
    int64_t made;      /* bodies that there are */
    int64_t due, come; /* how many of them were due so far, and how many have come in */
    int64_t tries;     /* places that the next one was offered */
    double due_mass, come_mass;
} inlet_counts;

typedef struct inlet_run {
    inlet_counts counts;
    fed_body *bodies;
    int64_t capacity;
    double largest; /* radius of them */
} inlet_run;

typedef struct removal_counts {
    int64_t bodies;
    double mass;
} removal_counts;

struct dls_gates {
    const dls_gates_def *def;
    int first_id; /* of the bodies that inlets make */
    inlet_run *inlets;
    removal_counts *removed;
    dls_room room;
    int newborn_count; /* of this step */
    int64_t newborn_capacity;
    dls_neighbour *newborns;
};

dls_status dls_gates_create(const dls_gates_def *def, dls_world *world, dls_gates **gates, dls_error *error) {
    dls_gates *g = DLS_NEW_ZERO(dls_gates, 1);
    *gates = NULL;
    if (!g) return dls_fail_memory(error);
    *g = (dls_gates){.def = def,
                     .first_id = world->entry_count,
                     .inlets = DLS_NEW_ZERO(inlet_run, def->inlet_count),
                     .removed = DLS_NEW_ZERO(removal_counts, def->removal_count)};
    if (!g->inlets || !g->removed) {
        dls_gates_destroy(g);
        return dls_fail_memory(error);
    }
    world->first_fed = def->inlet_count ? g->first_id : INT_MAX;
    *gates = g;
    return DLS_OK;
}

void dls_gates_destroy(dls_gates *g) {
    if (!g) return;
    for (int i = 0; g->inlets && i < g->def->inlet_count; i++) dls_free(g->inlets[i].bodies);
    dls_room_release(&g->room);
    void *blocks[] = {g->inlets, g->removed, g->newborns, g};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) dls_free(blocks[k]);
}

/* ---- removals ---- */

/* NAME itself, or NAME-number. */
static bool is_named(const char *body, const char *name) {
    size_t length = strlen(name);
    if (strncmp(body, name, length) != 0) return false;
    body += length;
    if (!*body) return true;
    if (*body++ != '-' || !*body) return false;
    while (isdigit((unsigned char)*body)) body++;
    return !*body;
}

static bool takes(const dls_removal *removal, const dls_world *world, int row) {
    if (dls_region_holds_image(&removal->region, world, world->states[row].x) == removal->outside)
        return false;
    for (int k = 0; k < removal->name_count; k++)
        if (is_named(dls_body_name(world, world->bodies[row].id), removal->names[k])) return true;
    return removal->name_count == 0;
}

static dls_status remove_bodies(dls_gates *g, dls_world *world, double t, dls_error *error) {
    for (int row = 0; row < world->body_count; row++) {
        const dls_body *body = &world->bodies[row];
        if (body->motion != DLS_DYNAMIC || dls_world_row_ends(world, row, t)) continue;
        int k = 0;
        while (k < g->def->removal_count && !takes(&g->def->removals[k], world, row)) k++;
        if (k == g->def->removal_count) continue;
        dls_status status = dls_world_remove_body(world, body->id, error);
        if (status) return status;
        g->removed[k].bodies++;
        g->removed[k].mass += body->mass;
    }
    return DLS_OK;
}

/* ---- what is due ---- */

/* When the body behind those counted is due; INFINITY where the inlet has no more. */
static double due_time(const dls_inlet *inlet, double bodies, double mass) {
    double when = inlet->from + (inlet->by_mass ? mass : bodies) / inlet->rate;
    return when < inlet->until && bodies < inlet->most_bodies && mass < inlet->most_mass ? when
                                                                                         : (double)INFINITY;
}

static dls_status make_body(dls_gates *g, dls_world *world, int index, dls_error *error) {
    const dls_inlet *inlet = &g->def->inlets[index];
    inlet_run *run = &g->inlets[index];
    dls_body_id id;
    if (!DLS_RESERVE(run->bodies, run->counts.made, run->capacity, run->counts.made + 1))
        return dls_fail_memory(error);
    dls_status status = inlet->make(inlet->self, world, &id, error);
    if (status) return status;
    run->largest = fmax(run->largest, dls_world_body(world, id)->radius);
    run->bodies[run->counts.made++] =
        (fed_body){.id = id, .mass = dls_world_body(world, id)->mass, .start = *dls_world_state(world, id)};
    return DLS_OK;
}

/* Those that are made count from the first time on; a state that was read may have put due back. */
static dls_status note_due(dls_gates *g, dls_world *world, double t, dls_error *error) {
    const double now = t + 1e-12 * fabs(t); /* times of bodies and of steps are rounded each in its way */
    for (;;) {
        int next = -1;
        double first = INFINITY;
        for (int i = 0; i < g->def->inlet_count; i++) {
            const inlet_counts *counts = &g->inlets[i].counts;
            double when = due_time(&g->def->inlets[i], (double)counts->due, counts->due_mass);
            if (when <= now && when < first) first = when, next = i;
        }
        if (next < 0) return DLS_OK;
        inlet_run *run = &g->inlets[next];
        dls_status status = run->counts.due < run->counts.made ? DLS_OK : make_body(g, world, next, error);
        if (status) return status;
        run->counts.due_mass += run->bodies[run->counts.due++].mass;
    }
}

dls_status dls_gates_make(dls_gates *g, dls_world *world, int64_t count, dls_error *error) {
    int inlets = g->def->inlet_count;
    double *mass = DLS_NEW_ZERO(double, inlets);
    if (!mass) return dls_fail_memory(error);
    int64_t made = 0;
    dls_status status = DLS_OK;
    for (int i = 0; i < inlets; i++) {
        made += g->inlets[i].counts.made;
        for (int64_t k = 0; k < g->inlets[i].counts.made; k++) mass[i] += g->inlets[i].bodies[k].mass;
    }
    for (; made < count && !status; made++) {
        int next = -1;
        double first = INFINITY;
        for (int i = 0; i < inlets; i++) {
            double when = due_time(&g->def->inlets[i], (double)g->inlets[i].counts.made, mass[i]);
            if (when < first) first = when, next = i;
        }
        if (next < 0) {
            status = dls_fail(error, DLS_ERROR_INPUT,
                              "%" PRId64 " bodies of inlets, expected at most the %" PRId64 " that they make",
                              count, made);
            break;
        }
        status = make_body(g, world, next, error);
        if (!status) mass[next] += g->inlets[next].bodies[g->inlets[next].counts.made - 1].mass;
    }
    dls_free(mass);
    return status;
}

/* ---- places ---- */

/* The n-th place that the inlet's k-th body is offered: the same whoever asks. */
static void draw_place(const dls_inlet *inlet, int64_t k, int64_t n, double radius, double *x) {
    const dls_region *region = &inlet->region;
    uint64_t hash = dls_hash_word(dls_hash_word(DLS_HASH_BEGIN, inlet->seed), (uint64_t)k);
    dls_random random = {dls_hash_word(hash, (uint64_t)n)};
    vec_set(x, 0, 0, 0);
    for (int i = 0; i < region->dimension; i++) {
        double inset = region->periodic[i] ? 0 : radius;
        x[i] = dls_random_between(&random, region->low[i] + inset, region->high[i] - inset);
    }
}

static dls_status find_place(dls_gates *g, const dls_inlet *inlet, inlet_run *run, double radius,
                             dls_masks masks, double *x, bool *found, dls_error *error) {
    *found = false;
    for (int k = 0; k < TRIES && !*found; k++) {
        draw_place(inlet, run->counts.come, run->counts.tries++, radius, x);
        if (!dls_region_holds(&inlet->region, x, radius * (1 - 1e-14))) continue;
        dls_status status = dls_room_is_free(&g->room, x, radius, masks, found, error);
        if (status) return status;
    }
    return DLS_OK;
}

static void let_in(dls_world *world, const fed_body *body, const double *x, double t) {
    dls_body_entry *entry = &world->entries[body->id];
    entry->kept->state = body->start;
    vec_copy(entry->kept->state.x, x);
    if (entry->solid >= 0) dls_solid_begin(world, entry->solid, &entry->kept->state);
    entry->birth = t;
    world->unsettled = true;
}

static dls_status note_newborn(dls_gates *g, const double *x, double radius, dls_masks masks,
                               dls_error *error) {
    if (!DLS_RESERVE(g->newborns, g->newborn_count, g->newborn_capacity, g->newborn_count + 1))
        return dls_fail_memory(error);
    dls_neighbour *n = &g->newborns[g->newborn_count++];
    *n = (dls_neighbour){.radius = radius, .is_ball = true, .masks = masks};
    vec_copy(n->x, x);
    return DLS_OK;
}

/* False of one that was taken out by hand while it waited. */
static bool is_waiting(const dls_world *world, const fed_body *body) {
    const dls_body_entry *entry = &world->entries[body->id];
    return entry->presence == DLS_WAITING && entry->kept && !entry->leaving;
}

static dls_status feed(dls_gates *g, dls_world *world, int index, double t, dls_error *error) {
    const dls_inlet *inlet = &g->def->inlets[index];
    inlet_run *run = &g->inlets[index];
    if (run->counts.come == run->counts.due) return DLS_OK;
    g->room.reach = run->largest;
    dls_status status = dls_room_look(&g->room, world, t, &inlet->region, error);
    for (int k = 0; k < g->newborn_count && !status; k++)
        status = dls_room_add(&g->room, world, &inlet->region, g->newborns[k].x, g->newborns[k].radius,
                              g->newborns[k].masks, error);
    bool found = true;
    while (!status && found && run->counts.come < run->counts.due) {
        const fed_body *body = &run->bodies[run->counts.come];
        const dls_body *shape = dls_world_body(world, body->id);
        dls_masks masks = dls_masks_of(dls_world_shapes(world, body->id), shape->shape_count);
        double x[3], radius = shape->radius;
        if (is_waiting(world, body)) {
            status = find_place(g, inlet, run, radius, masks, x, &found, error);
            if (status || !found) break;
            status = note_newborn(g, x, radius, masks, error);
            if (!status) status = dls_room_add(&g->room, world, &inlet->region, x, radius, masks, error);
            if (status) break;
            let_in(world, body, x, t);
        }
        run->counts.come++;
        run->counts.come_mass += body->mass;
        run->counts.tries = 0;
    }
    return status;
}

dls_status dls_gates_pass(dls_gates *g, dls_world *world, double t, dls_error *error) {
    dls_status status = remove_bodies(g, world, t, error);
    if (!status) status = note_due(g, world, t, error);
    g->newborn_count = 0;
    for (int i = 0; i < g->def->inlet_count && !status; i++) status = feed(g, world, i, t, error);
    return status;
}

void dls_gates_backlog(const dls_gates *g, int64_t *bodies, double *mass) {
    *bodies = 0;
    *mass = 0;
    for (int i = 0; g && i < g->def->inlet_count; i++) {
        const inlet_counts *counts = &g->inlets[i].counts;
        *bodies += counts->due - counts->come;
        if (counts->due > counts->come) *mass += counts->due_mass - counts->come_mass;
    }
}

/* ---- as bytes: numbers of both, then what each has done ---- */

size_t dls_gates_memory_size(const dls_gates *g) {
    size_t size = 2 * sizeof(int64_t);
    if (!g) return size;
    return size + (size_t)g->def->inlet_count * sizeof(inlet_counts) +
           (size_t)g->def->removal_count * sizeof(removal_counts);
}

void dls_gates_memory_write(const dls_gates *g, void *bytes) {
    int64_t head[2] = {g ? g->def->inlet_count : 0, g ? g->def->removal_count : 0};
    char *at = bytes;
    memcpy(at, head, sizeof head);
    at += sizeof head;
    for (int i = 0; i < head[0]; i++, at += sizeof(inlet_counts))
        memcpy(at, &g->inlets[i].counts, sizeof(inlet_counts));
    for (int i = 0; i < head[1]; i++, at += sizeof(removal_counts))
        memcpy(at, &g->removed[i], sizeof(removal_counts));
}

static bool counts_make_sense(const inlet_counts *c) {
    const int64_t most = INT64_C(1) << 53;
    return c->come >= 0 && c->come <= c->due && c->due <= c->made && c->made <= INT_MAX && c->tries >= 0 &&
           c->tries <= most && c->come_mass >= 0 && c->due_mass >= 0 && isfinite(c->come_mass) &&
           isfinite(c->due_mass);
}

static inlet_counts counts_at(const void *bytes, int index) {
    inlet_counts counts;
    memcpy(&counts, (const char *)bytes + 2 * sizeof(int64_t) + (size_t)index * sizeof counts, sizeof counts);
    return counts;
}

static removal_counts removed_at(const void *bytes, int inlets, int index) {
    removal_counts counts;
    const char *first = (const char *)bytes + 2 * sizeof(int64_t) + (size_t)inlets * sizeof(inlet_counts);
    memcpy(&counts, first + (size_t)index * sizeof counts, sizeof counts);
    return counts;
}

static dls_status check_memory(const dls_gates *g, const void *bytes, size_t size, int64_t *made,
                               dls_error *error) {
    int64_t head[2] = {0}, inlets = g ? g->def->inlet_count : 0, removals = g ? g->def->removal_count : 0;
    if (size >= sizeof head) memcpy(head, bytes, sizeof head);
    if (head[0] != inlets || head[1] != removals || size != dls_gates_memory_size(g))
        return dls_fail(error, DLS_ERROR_INPUT,
                        "a state with %" PRId64 " inlets and %" PRId64
                        " removals in %zu bytes, this simulation has %" PRId64 " and %" PRId64,
                        head[0], head[1], size, inlets, removals);
    for (int i = 0; i < inlets; i++) {
        inlet_counts counts = counts_at(bytes, i);
        if (!counts_make_sense(&counts))
            return dls_fail(error, DLS_ERROR_INPUT, "the state of inlet %d is damaged", i);
        *made += counts.made;
    }
    for (int i = 0; i < removals; i++) {
        removal_counts counts = removed_at(bytes, (int)inlets, i);
        if (counts.bodies < 0 || !(counts.mass >= 0 && isfinite(counts.mass)))
            return dls_fail(error, DLS_ERROR_INPUT, "the state of removal %d is damaged", i);
    }
    return DLS_OK;
}

/* The bodies of inlets follow those of the world, without others between. */
static dls_status check_bodies(const dls_gates *g, const dls_world *world, int64_t made, int64_t bodies,
                               dls_error *error) {
    int64_t own = 0;
    for (int i = 0; i < g->def->inlet_count; i++) own += g->inlets[i].counts.made;
    if (bodies == g->first_id + made && world->entry_count == g->first_id + own) return DLS_OK;
    return dls_fail(error, DLS_ERROR_INPUT,
                    "a state with %" PRId64 " bodies, %" PRId64
                    " of them of inlets, and a world with %d, %" PRId64
                    " of them of inlets, expected no others behind the first %d",
                    bodies, made, world->entry_count, own, g->first_id);
}

dls_status dls_gates_memory_open(dls_gates *g, dls_world *world, const void *bytes, size_t size,
                                 int64_t bodies, dls_error *error) {
    int64_t made = 0;
    dls_status status = check_memory(g, bytes, size, &made, error);
    if (status || !g || !g->def->inlet_count) return status;
    status = check_bodies(g, world, made, bodies, error);
    if (!status) status = dls_gates_make(g, world, made, error);
    for (int i = 0; i < g->def->inlet_count && !status; i++) {
        int64_t wanted = counts_at(bytes, i).made;
        if (g->inlets[i].counts.made >= wanted) continue;
        status = dls_fail(error, DLS_ERROR_INPUT,
                          "a state with %" PRId64 " bodies of inlet %d, which makes %" PRId64 " by then",
                          wanted, i, g->inlets[i].counts.made);
    }
    return status;
}

/* Bodies that were made beyond the state stay: they wait as if they were not yet. */
void dls_gates_memory_use(dls_gates *g, dls_world *world, const void *bytes) {
    for (int i = 0; g && i < g->def->inlet_count; i++) {
        inlet_run *run = &g->inlets[i];
        int64_t made = run->counts.made;
        run->counts = counts_at(bytes, i);
        run->counts.made = made;
        for (int64_t k = run->counts.come; k < made; k++)
            world->entries[run->bodies[k].id].birth = DLS_BIRTH_BY_PLACE;
    }
    for (int i = 0; g && i < g->def->removal_count; i++)
        g->removed[i] = removed_at(bytes, g->def->inlet_count, i);
}

/* ---- questions ---- */

int dls_gates_count(const dls_gates *g) { return g ? g->def->inlet_count + g->def->removal_count : 0; }

dls_gate dls_gates_at(const dls_gates *g, int index) {
    int inlets = g ? g->def->inlet_count : 0;
    if (index < 0 || index >= dls_gates_count(g)) return (dls_gate){.name = ""};
    if (index >= inlets)
        return (dls_gate){.name = g->def->removals[index - inlets].name,
                          .bodies = g->removed[index - inlets].bodies,
                          .mass = g->removed[index - inlets].mass};
    const inlet_counts *counts = &g->inlets[index].counts;
    return (dls_gate){.name = g->def->inlets[index].name,
                      .is_inlet = true,
                      .bodies = counts->come,
                      .mass = counts->come_mass,
                      .backlog = counts->due - counts->come,
                      .backlog_mass = counts->due > counts->come ? counts->due_mass - counts->come_mass : 0};
}
