/* Groups whose keys are those of field tables: time, integrator, output, run and solver. */
#include "scene/read.h"

#include "base/error.h"
#include "base/field.h"
#include "solve/solve.h"

#include <stdio.h>
#include <string.h>

/* ---- what a run does ---- */

dls_run_options dls_default_run_options(void) {
    return (dls_run_options){.until = 1,
                             .output_interval = 0.01,
                             .output_contacts = true,
                             .checkpoint_interval = 60,
                             .strict = false};
}

#define AT(member) offsetof(dls_run_options, member)

static const dls_field run_fields[] = {
    {"until", DLS_FIELD_REAL, AT(until), 0, 1e12, NULL, "s", "time at which the run ends", NULL},
    {"output_interval", DLS_FIELD_REAL, AT(output_interval), 0, 1e12, NULL, "s",
     "time between recorded states; 0: every step", NULL},
    {"output_contacts", DLS_FIELD_BOOL, AT(output_contacts), 0, 1, NULL, "1",
     "record contacts and their forces with the states", NULL},
    {"checkpoint_interval", DLS_FIELD_REAL, AT(checkpoint_interval), 0, 1e12, NULL, "s",
     "wall time between checkpoints; 0: only at the end and when interrupted", NULL},
    {"strict", DLS_FIELD_BOOL, AT(strict), 0, 1, NULL, "1", "stop at the first step that is not certified",
     NULL},
};

const dls_field *dls_run_fields(int *count) {
    *count = sizeof run_fields / sizeof *run_fields;
    return run_fields;
}

/* ---- where fields stand in a scene ---- */

typedef enum field_table { SIMULATION = 0, RUN } field_table;

/* Fields with a group or a name of their own; those that are not listed go to `integrator` and `run`. */
static const struct {
    field_table table;
    const char *field, *group, *key;
} places[] = {
    {SIMULATION, "step", "time", "step"},           {RUN, "until", "time", "until"},
    {SIMULATION, "threads", "run", "threads"},      {RUN, "output_interval", "output", "interval"},
    {RUN, "output_contacts", "output", "contacts"},
};

static const struct {
    const char *group, *about;
} option_groups[] = {
    {"time", "How long the steps are and when the run ends."},
    {"integrator", "The scheme of the steps and how contacts enter it."},
    {"output", "What is recorded in the results file."},
    {"run", "What a run does beside stepping."},
    {"solver", "`name` is a row of [options.md](options.md); all options of that solver are keys here."},
};

enum {
    PLACE_COUNT = sizeof places / sizeof *places,
    GROUP_COUNT = sizeof option_groups / sizeof *option_groups
};

int dls_option_group_count(void) { return GROUP_COUNT; }

const char *dls_option_group_at(int index, const char **about) {
    *about = option_groups[index].about;
    return option_groups[index].group;
}

bool dls_option_group_is(const char *key) {
    for (int i = 0; i < GROUP_COUNT; i++)
        if (!strcmp(option_groups[i].group, key)) return true;
    return false;
}

static const dls_field *table_fields(field_table table, int *count) {
    return table == SIMULATION ? dls_simulation_fields(count) : dls_run_fields(count);
}

static void place_of(field_table table, const dls_field *field, const char **group, const char **key) {
    *group = table == SIMULATION ? "integrator" : "run";
    *key = field->key;
    for (int i = 0; i < PLACE_COUNT; i++)
        if (places[i].table == table && !strcmp(places[i].field, field->key)) {
            *group = places[i].group;
            *key = places[i].key;
        }
}

/* The k-th field of a group. */
static const dls_field *field_at(const char *group, int index, field_table *table, const char **key) {
    for (int t = SIMULATION; t <= RUN; t++) {
        int count;
        const dls_field *fields = table_fields((field_table)t, &count);
        for (int i = 0; i < count; i++) {
            const char *at;
            place_of((field_table)t, &fields[i], &at, key);
            if (strcmp(at, group) || index-- > 0) continue;
            *table = (field_table)t;
            return &fields[i];
        }
    }
    return NULL;
}

/* ---- reading ---- */

void dls_scene_options_default(dls_scene_options *options) {
    memset(options, 0, sizeof *options);
    options->simulation = dls_default_simulation_options();
    options->run = dls_default_run_options();
    options->solver = dls_solver_find("auto");
    dls_simulation_solver_defaults(options->solver, options->solver_options.bytes);
}

/* Numbers may be expressions here too; texts go to the field as they are. */
static dls_status set_field(dls_reader *reader, const dls_node *node, const dls_field *field, void *options) {
    char number[40], expected[200];
    const char *text = node->text;
    dls_error inner = {0};
    dls_field_expected(field, expected, sizeof expected);
    if (dls_field_is_number(field)) {
        double value;
        dls_status status = dls_read_number(reader, node, node->key, expected, &value);
        if (status) return status;
        snprintf(number, sizeof number, "%.17g", value);
        text = number;
    } else if (node->kind != DLS_NODE_SCALAR) {
        return dls_node_fail(node, reader->error, "%s is %s, expected %s", node->key, dls_node_noun(node),
                             expected);
    }
    if (!dls_field_set(field, 1, options, field->key, text, &inner)) return DLS_OK;
    const char *said = inner.message; /* it begins with the field's own key */
    size_t length = strlen(field->key);
    if (!strncmp(said, field->key, length) && said[length] == ':') said += length + 1;
    return dls_node_fail(node, reader->error, "%s:%.300s", node->key, said);
}

/* known: what was expected, said where no key is near. */
static dls_status refuse_key(dls_reader *reader, const dls_node *child, const dls_nearest *nearest,
                             const char *noun, const char *known) {
    char hint[100];
    dls_nearest_hint(nearest, hint, sizeof hint);
    return dls_node_fail(child, reader->error, "unknown key '%.60s' in %s%s%s", child->key, noun,
                         *hint ? hint : ", ", *hint ? "" : known);
}

static dls_status expect_map(dls_reader *reader, const dls_node *map) {
    if (map->kind == DLS_NODE_MAP) return DLS_OK;
    bool quoted = map->kind == DLS_NODE_SCALAR && *map->text;
    return dls_node_fail(map, reader->error, "%s is %s%.60s%s, expected a map of keys", map->key,
                         quoted ? "'" : "", quoted ? map->text : dls_node_noun(map), quoted ? "'" : "");
}

dls_status dls_read_option_group(dls_reader *reader, const dls_node *map, dls_scene_options *options) {
    dls_status status = expect_map(reader, map);
    for (const dls_node *child = status ? NULL : map->first; child && !status; child = child->next) {
        dls_nearest nearest = dls_nearest_begin(child->key);
        field_table table = RUN;
        const char *key;
        const dls_field *field;
        dls_word_list known = {0};
        for (int k = 0; (field = field_at(map->key, k, &table, &key)); k++) {
            if (!strcmp(key, child->key)) break;
            dls_nearest_offer(&nearest, key);
            dls_list_word(&known, key);
        }
        char expected[sizeof known.text + 20];
        snprintf(expected, sizeof expected, "expected one of %s", known.text);
        if (!field) return refuse_key(reader, child, &nearest, map->key, expected);
        void *target = table == SIMULATION ? (void *)&options->simulation : (void *)&options->run;
        status = set_field(reader, child, field, target);
    }
    return status;
}

static dls_status read_solver_name(dls_reader *reader, const dls_node *node, dls_scene_options *options) {
    dls_nearest nearest = dls_nearest_begin("");
    char hint[100];
    if (!node) return DLS_OK;
    if (node->kind != DLS_NODE_SCALAR)
        return dls_node_fail(node, reader->error, "name is %s, expected that of a solver",
                             dls_node_noun(node));
    const dls_solver *solver = dls_solver_find(node->text);
    nearest.wanted = node->text;
    for (int i = 0; i < dls_solver_count(); i++) dls_nearest_offer(&nearest, dls_solver_at(i)->name);
    if (!solver)
        return dls_node_fail(node, reader->error, "no solver '%.60s'%s", node->text,
                             dls_nearest_hint(&nearest, hint, sizeof hint));
    dls_solver_hold(solver);
    dls_solver_drop(options->solver);
    options->solver = solver;
    dls_simulation_solver_defaults(solver, options->solver_options.bytes);
    return DLS_OK;
}

dls_status dls_read_solver(dls_reader *reader, const dls_node *map, dls_scene_options *options) {
    dls_status status = expect_map(reader, map);
    if (!status) status = read_solver_name(reader, dls_node_find(map, "name"), options);
    const dls_solver *solver = options->solver;
    for (const dls_node *child = status ? NULL : map->first; child && !status; child = child->next) {
        if (!strcmp(child->key, "name")) continue;
        dls_nearest nearest = dls_nearest_begin(child->key);
        const dls_field *field = NULL;
        for (int k = 0; k < solver->field_count; k++) {
            if (!strcmp(solver->fields[k].key, child->key)) field = &solver->fields[k];
            dls_nearest_offer(&nearest, solver->fields[k].key);
        }
        char noun[64], known[96];
        snprintf(noun, sizeof noun, "solver '%.40s'", solver->name);
        snprintf(known, sizeof known, "'delassus solvers %.40s' lists all", solver->name);
        if (!field) return refuse_key(reader, child, &nearest, noun, known);
        status = set_field(reader, child, field, options->solver_options.bytes);
    }
    return status;
}

/* ---- the reference ---- */

/* What a field means, and each row that it may name: "…: one (about it), two (about it)". */
static const char *field_help(const dls_field *field, char *text, size_t size) {
    if (!field->row_at) return field->help;
    size_t used = (size_t)snprintf(text, size, "%s", field->help);
    const char *name, *about = "";
    for (int i = 0; used < size && (name = field->row_at(i, &about)); i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s (%s)", i ? ", " : ": ", name, about);
    return text;
}

static void describe_field(const dls_field *field, const void *options, dls_scene_key *key, char *preset,
                           size_t preset_size) {
    static _Thread_local char type[200], help[500];
    dls_field_print(field, options, preset, preset_size);
    key->type = dls_field_allowed(field, type, sizeof type);
    key->unit = strcmp(field->unit, "1") ? field->unit : "";
    key->preset = preset;
    key->help = field_help(field, help, sizeof help);
}

bool dls_option_key_at(const char *group, int index, dls_scene_key *key, char *preset, size_t preset_size) {
    dls_scene_options options;
    field_table table = RUN;
    dls_scene_options_default(&options);
    key->group = group;
    if (!strcmp(group, "solver")) {
        if (index == 0) {
            *key = (dls_scene_key){group,
                                   "name",
                                   "name of a solver",
                                   "",
                                   options.solver->name,
                                   "the solver of every step's contact problem"};
            return true;
        }
        /* only what all solvers have; their own options are in options.md */
        const dls_field *field = NULL;
        for (int k = 0; k < options.solver->field_count; k++)
            if (!strcmp(options.solver->fields[k].key, "tolerance")) field = &options.solver->fields[k];
        if (index > 1 || !field) return false;
        key->key = field->key;
        describe_field(field, options.solver_options.bytes, key, preset, preset_size);
        return true;
    }
    const dls_field *field = field_at(group, index, &table, &key->key);
    if (!field) return false;
    const void *values = table == SIMULATION ? (const void *)&options.simulation : (const void *)&options.run;
    describe_field(field, values, key, preset, preset_size);
    return true;
}
