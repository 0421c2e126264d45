/* Inlets, by which bodies come in while a run goes on, and removals, by which they leave. */
#include "scene/gates.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/vector.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* More in one step than this is a mistake in a unit, and would take all memory. */
static const double MOST_PER_STEP = 1e5;

/* ---- inlets ---- */

typedef struct inlet_text {
    const char *name;
    const dls_node *region, *body, *mixture, *size;
    double number_rate, mass_rate, from, until, number_limit, mass_limit, velocity[3], speed, seed;
    int orientation;
} inlet_text;

static void inlet_defaults(void *target) {
    inlet_text *text = target;
    text->until = text->number_limit = text->mass_limit = INFINITY;
    text->seed = 1;
}

#define AT(member) offsetof(inlet_text, member)

static const dls_key inlet_keys[] = {
    {DLS_KEY("name", DLS_KEY_TEXT, AT(name), "", "for messages and records", NULL), "inlet and its number",
     false, 0},
    {DLS_KEY("region", DLS_KEY_NODE, AT(region), "", "where bodies come in, free of static bodies", "region"),
     NULL, true, 0},
    {DLS_KEY("body", DLS_KEY_NODE, AT(body), "", "the prototype", "body"), "none", false, 0},
    {DLS_KEY("mixture", DLS_KEY_NODE, AT(mixture), "", "instead: several, with shares that hold all along",
             "list of parts"),
     "none", false, 0},
    {DLS_KEY("number_rate", DLS_KEY_POSITIVE, AT(number_rate), "1/s", "bodies per second", NULL), "none",
     false, 0},
    {DLS_KEY("mass_rate", DLS_KEY_POSITIVE, AT(mass_rate), "kg/s", "instead: mass per second", NULL), "none",
     false, 0},
    {DLS_KEY("from", DLS_KEY_NOT_NEGATIVE, AT(from), "s", "when the first body is due", NULL), NULL, false,
     0},
    {DLS_KEY("until", DLS_KEY_REAL, AT(until), "s", "none is due from then on", NULL), "never", false, 0},
    {DLS_KEY("number_limit", DLS_KEY_WHOLE, AT(number_limit), "", "bodies in all", NULL), "none", false, 0},
    {DLS_KEY("mass_limit", DLS_KEY_NOT_NEGATIVE, AT(mass_limit), "kg", "none is due once so much was", NULL),
     "none", false, 0},
    {DLS_KEY("size", DLS_KEY_NODE, AT(size), "",
             "multiplies all lengths of the prototype: a number or a distribution", "size"),
     "1", false, 0},
    {DLS_KEY("orientation", DLS_KEY_CHOICE, AT(orientation), "",
             "as the prototype stands, or any, each as likely", "same|random"),
     NULL, false, 0},
    {DLS_KEY("velocity", DLS_KEY_VECTOR, AT(velocity), "m/s", "is added to the prototype's", NULL), NULL,
     false, 0},
    {DLS_KEY("speed", DLS_KEY_NOT_NEGATIVE, AT(speed), "m/s",
             "a random velocity, of this size at most along each axis, is added to that", NULL),
     NULL, false, 0},
    {DLS_KEY("seed", DLS_KEY_WHOLE, AT(seed), "",
             "another seed, other places, sizes and velocities; the same seed, the same bits", NULL),
     NULL, false, 0},
};

#undef AT

const dls_group dls_group_inlet = {
    "inlets",
    "an inlet",
    "Each entry of the list feeds bodies at a rate, checked at the beginning of every step: the k-th one is "
    "due at from + k/number_rate, or once mass_rate · (t − from) has reached the mass of those before it. It "
    "comes in at a random place of the region where the ball that holds it touches nothing. Where there is "
    "no "
    "room it waits, and those behind it; the backlog is recorded with every step, and made up for as soon as "
    "there is room, after `until` too.",
    DLS_GROUP_KEYS(inlet_keys),
    sizeof(inlet_text),
    inlet_defaults};

/* The next body: part, size, orientation and velocity follow from its number alone. */
static dls_status make_body(void *self, dls_world *world, dls_body_id *id, dls_error *error) {
    dls_feed *feed = self;
    int k = dls_mixture_next(&feed->mixture, feed->made);
    const dls_part *part = &feed->mixture.parts[k];
    uint64_t hash = dls_hash_word(dls_hash_word(DLS_HASH_BEGIN, ~feed->seed), (uint64_t)feed->count);
    dls_random random = {hash};
    double q[4], inertia[9], size = dls_size_draw(&part->size, &random);
    char name[128];
    if (feed->turned) dls_rotation_draw(&random, feed->dimension, q);
    dls_body_def def = dls_prototype_define(&part->prototype, feed->dimension, feed->middle,
                                            feed->turned ? q : NULL, size, inertia);
    vec_add(def.v, def.v, feed->velocity);
    for (int i = 0; i < feed->dimension && feed->speed > 0; i++)
        def.v[i] += dls_random_between(&random, -feed->speed, feed->speed);
    def.birth = DLS_BIRTH_BY_PLACE;
    def.death = INFINITY;
    int64_t number = part->prototype.family->next_number;
    dls_family_name(world, part->prototype.family, name, sizeof name);
    def.name = name;
    dls_status status = dls_world_add_body(world, &def, id, error);
    if (status) {
        part->prototype.family->next_number = number;
        return status;
    }
    feed->made[k]++;
    feed->count++;
    return DLS_OK;
}

static dls_masks masks_of(const dls_mixture *mixture) {
    dls_masks masks = {0, 0};
    for (int k = 0; k < mixture->count; k++)
        for (int s = 0; s < mixture->parts[k].prototype.def.shape_count; s++) {
            masks.group |= mixture->parts[k].prototype.shapes[s].group;
            masks.collides |= mixture->parts[k].prototype.shapes[s].collides;
        }
    return masks;
}

/* Rates that no machine could feed, and bodies that no region could take. */
static dls_status check_feed(dls_reader *reader, const dls_node *map, const inlet_text *text,
                             const dls_inlet *inlet, double until) {
    const dls_feed *feed = inlet->self;
    const dls_region *region = &inlet->region;
    double lightest = INFINITY, room = INFINITY, radius = 0;
    for (int k = 0; k < feed->mixture.count; k++) {
        const dls_part *part = &feed->mixture.parts[k];
        radius = fmax(radius, part->prototype.reach * part->size.high);
        lightest = fmin(lightest, part->prototype.mass * pow(part->size.low, reader->dimension));
    }
    double rate = inlet->by_mass ? inlet->rate / lightest : inlet->rate;
    if (rate * reader->step > MOST_PER_STEP)
        return dls_node_fail(
            map, reader->error, "%s is %g %s, up to %.3g bodies in a step of %g s, expected at most %g",
            inlet->by_mass ? "mass_rate" : "number_rate", inlet->rate, inlet->by_mass ? "kg/s" : "1/s",
            rate * reader->step, reader->step, MOST_PER_STEP);
    for (int k = 0; k < reader->dimension; k++)
        if (!region->periodic[k]) room = fmin(room, region->high[k] - region->low[k]);
    if (2 * radius > room * (1 + 1e-12))
        return dls_node_fail(
            text->region, reader->error,
            "a body of radius %g m about its mass centre in a region %g m wide, expected a wider one", radius,
            room);
    double span = fmax(0, fmin(inlet->until, until) - inlet->from),
           count = fmin(inlet->most_bodies, 1 + rate * span);
    dls_status status = DLS_OK;
    for (int k = 0; k < feed->mixture.count && !status; k++)
        status = dls_reader_reserve(reader, map, ceil(count * feed->mixture.parts[k].weight),
                                    &feed->mixture.parts[k].prototype);
    return status;
}

static dls_status read_feed(dls_reader *reader, const dls_node *map, const inlet_text *text, dls_feed *feed) {
    dls_size_law size;
    dls_status status = dls_mixture_read(reader, map, "inlet", DLS_USE_FED, &feed->mixture);
    if (!status) status = dls_read_size(reader, text->size, &size);
    if (!status) status = dls_mixture_set_sizes(reader, &feed->mixture, &size);
    if (status) return status;
    feed->made = dls_arena_take(reader->arena, (size_t)feed->mixture.count, sizeof *feed->made);
    if (!feed->made) return dls_fail_memory(reader->error);
    feed->dimension = reader->dimension;
    feed->seed = (uint64_t)fmin(text->seed, 0x1p53);
    feed->turned = text->orientation == 1;
    feed->speed = text->speed;
    vec_copy(feed->velocity, text->velocity);
    return DLS_OK;
}

/* A name of its own, or `noun` and its number. */
static dls_status name_gate(dls_reader *reader, const dls_node *map, const char *given, const char *noun,
                            int number, const char **name) {
    char own[40];
    snprintf(own, sizeof own, "%s %d", noun, number);
    *name = given && *given ? given : dls_arena_text(reader->arena, own, strlen(own));
    if (!*name) return dls_fail_memory(reader->error);
    if (strlen(*name) > 60)
        return dls_node_fail(map, reader->error, "a name of %zu letters, expected at most 60", strlen(*name));
    return DLS_OK;
}

static dls_status read_inlet(dls_reader *reader, const dls_node *map, double until, dls_gates_def *gates) {
    inlet_text text;
    dls_inlet *inlet = &gates->inlets[gates->inlet_count];
    dls_feed *feed = dls_arena_take(reader->arena, 1, sizeof *feed);
    if (!feed) return dls_fail_memory(reader->error);
    dls_status status = dls_read_group(reader, map, &dls_group_inlet, 0, NULL, &text);
    if (status) return status;
    bool by_mass = text.mass_rate > 0;
    if (by_mass == (text.number_rate > 0))
        return dls_node_fail(map, reader->error, "%s number_rate %s mass_rate, expected one of them",
                             by_mass ? "both" : "neither", by_mass ? "and" : "nor");
    if (!(text.from < text.until))
        return dls_node_fail(map, reader->error, "from is %g and until %g, expected from before until",
                             text.from, text.until);
    *inlet = (dls_inlet){.by_mass = by_mass,
                         .rate = by_mass ? text.mass_rate : text.number_rate,
                         .from = text.from,
                         .until = text.until,
                         .most_bodies = text.number_limit,
                         .most_mass = text.mass_limit,
                         .make = make_body,
                         .self = feed};
    status = name_gate(reader, map, text.name, "inlet", gates->inlet_count + 1, &inlet->name);
    if (!status) status = dls_read_region(reader, text.region, true, &inlet->region);
    if (!status) status = read_feed(reader, map, &text, feed);
    if (!status) status = check_feed(reader, map, &text, inlet, until);
    if (status) return status;
    for (int k = 0; k < reader->dimension; k++)
        feed->middle[k] = (inlet->region.low[k] + inlet->region.high[k]) / 2;
    /* inlets of one seed draw other numbers */
    inlet->seed = dls_hash_word(dls_hash_word(DLS_HASH_BEGIN, feed->seed), (uint64_t)gates->inlet_count);
    feed->seed = inlet->seed;
    status = dls_region_check_free(reader->world, &inlet->region, fmax(inlet->from, 0),
                                   masks_of(&feed->mixture), reader->error);
    if (status) return dls_read_blame(text.region, reader->error);
    gates->inlet_count++;
    return DLS_OK;
}

/* ---- removals ---- */

typedef struct removal_text {
    const char *name;
    const dls_node *inside, *outside, *bodies;
} removal_text;

static const dls_key removal_keys[] = {
    {DLS_KEY("name", DLS_KEY_TEXT, offsetof(removal_text, name), "", "for messages and records", NULL),
     "removal and its number", false, 0},
    {DLS_KEY("inside", DLS_KEY_NODE, offsetof(removal_text, inside), "", "removes bodies in this region",
             "region"),
     "none", false, 0},
    {DLS_KEY("outside", DLS_KEY_NODE, offsetof(removal_text, outside), "",
             "instead: those out of this region", "region"),
     "none", false, 0},
    {DLS_KEY("bodies", DLS_KEY_NODE, offsetof(removal_text, bodies), "",
             "only these: names of bodies, or of prototypes without the number", "list of names"),
     "all that are dynamic", false, 0},
};

const dls_group dls_group_removal = {
    "removals",
    "a removal",
    "Each entry of the list takes dynamic bodies out of the scene whose mass centre lies in a region, or out "
    "of it, at the beginning of a step. In a periodic box the image within the box is asked.",
    DLS_GROUP_KEYS(removal_keys),
    sizeof(removal_text),
    NULL};

static bool is_known(const dls_reader *reader, const char *name) {
    for (const dls_family *f = reader->families; f; f = f->next)
        if (!strcmp(f->name, name)) return true;
    return dls_world_find_body(reader->world, name) >= 0;
}

static dls_status read_names(dls_reader *reader, const dls_node *list, dls_removal *removal) {
    if (!list) return DLS_OK;
    if (list->kind != DLS_NODE_LIST || !list->count)
        return dls_node_fail(list, reader->error, "bodies is %s, expected a list of names",
                             list->kind == DLS_NODE_LIST ? "empty" : dls_node_noun(list));
    const char **names = dls_arena_take(reader->arena, (size_t)list->count, sizeof *names);
    if (!names) return dls_fail_memory(reader->error);
    removal->names = names;
    for (const dls_node *child = list->first; child; child = child->next) {
        if (child->kind != DLS_NODE_SCALAR)
            return dls_node_fail(child, reader->error, "a body is %s, expected its name",
                                 dls_node_noun(child));
        if (!is_known(reader, child->text))
            return dls_node_fail(child, reader->error,
                                 "no body and no prototype '%.60s', expected a name of the scene",
                                 child->text);
        names[removal->name_count++] = child->text;
    }
    return DLS_OK;
}

static dls_status read_removal(dls_reader *reader, const dls_node *map, dls_gates_def *gates) {
    removal_text text;
    dls_removal *removal = &gates->removals[gates->removal_count];
    dls_status status = dls_read_group(reader, map, &dls_group_removal, 0, NULL, &text);
    if (status) return status;
    if (!text.inside == !text.outside)
        return dls_node_fail(map, reader->error, "%s inside %s outside, expected one of them",
                             text.inside ? "both" : "neither", text.inside ? "and" : "nor");
    *removal = (dls_removal){.outside = text.outside != NULL};
    status = name_gate(reader, map, text.name, "removal", gates->removal_count + 1, &removal->name);
    const dls_node *region = text.inside ? text.inside : text.outside;
    if (!status) status = dls_read_region(reader, region, false, &removal->region);
    if (!status) status = read_names(reader, text.bodies, removal);
    gates->removal_count += !status;
    return status;
}

/* ---- lists ---- */

static dls_status check_list(dls_reader *reader, const dls_node *list, const char *noun) {
    if (list->kind == DLS_NODE_LIST) return DLS_OK;
    return dls_node_fail(list, reader->error, "%s is %s, expected a list, each entry with a dash", noun,
                         dls_node_noun(list));
}

dls_status dls_read_inlets(dls_reader *reader, const dls_node *list, double until, dls_gates_def *gates) {
    if (!list) return DLS_OK;
    dls_status status = check_list(reader, list, "inlets");
    if (status) return status;
    gates->inlets = dls_arena_take(reader->arena, (size_t)list->count, sizeof *gates->inlets);
    if (!gates->inlets) return dls_fail_memory(reader->error);
    for (const dls_node *child = list->first; child && !status; child = child->next) {
        status = read_inlet(reader, child, until, gates);
        for (int k = 0; k < gates->inlet_count - 1 && !status; k++)
            if (!strcmp(gates->inlets[k].name, gates->inlets[gates->inlet_count - 1].name))
                return dls_node_fail(child, reader->error, "an inlet '%.60s' for the second time",
                                     gates->inlets[k].name);
    }
    return status;
}

dls_status dls_read_removals(dls_reader *reader, const dls_node *list, dls_gates_def *gates) {
    if (!list) return DLS_OK;
    dls_status status = check_list(reader, list, "removals");
    if (status) return status;
    gates->removals = dls_arena_take(reader->arena, (size_t)list->count, sizeof *gates->removals);
    if (!gates->removals) return dls_fail_memory(reader->error);
    for (const dls_node *child = list->first; child && !status; child = child->next) {
        status = read_removal(reader, child, gates);
        for (int k = 0; k < gates->removal_count - 1 && !status; k++)
            if (!strcmp(gates->removals[k].name, gates->removals[gates->removal_count - 1].name))
                return dls_node_fail(child, reader->error, "a removal '%.60s' for the second time",
                                     gates->removals[k].name);
    }
    return status;
}
