/* A scene: the whole file, from its text to a world and options. */
#include "scene/gates.h"
#include "scene/read.h"

#include "base/error.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/vector.h"
#include "integrate/simulation.h"
#include "solve/solve.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct dls_scene {
    dls_arena arena;
    const char *text, *title;
    int setting_count;
    const char **settings;
    int file_count;
    dls_file *files;
    dls_world *world;
    dls_scene_options options;
    dls_gates_def gates;
    const dls_doubt *doubts; /* noted while it was read */
    bool is_assembled;
    dls_assembled assembled;
};

/* ---- tables ---- */

typedef struct scene_text {
    double version, dimension;
    const char *title;
    const dls_node *functions, *joints, *springs;
    bool assemble;
    const dls_node *gravity, *periodic, *variables, *materials, *pairs, *groups, *bodies, *inlets, *removals;
    const dls_node *time, *integrator, *output, *run, *solver;
} scene_text;

static void scene_defaults(void *target) {
    scene_text *text = target;
    text->title = "";
    text->dimension = dls_default_world_def().dimension;
}

#define AT(member) offsetof(scene_text, member)

static const dls_key scene_keys[] = {
    {DLS_KEY("delassus", DLS_KEY_COUNT, AT(version), "", "version of the format", "1"), NULL, true, 0},
    {DLS_KEY("title", DLS_KEY_TEXT, AT(title), "", "one line about the scene", NULL), "none", false, 0},
    {DLS_KEY("dimension", DLS_KEY_COUNT, AT(dimension), "", "2: the plane x, y; 3: space", "2 or 3"), NULL,
     false, 0},
    {DLS_KEY("gravity", DLS_KEY_NODE, AT(gravity), "m/s²", "acceleration of all bodies", "vector"),
     "9.81 downwards: -y in the plane, -z in space", false, 0},
    {DLS_KEY("periodic", DLS_KEY_NODE, AT(periodic), "",
             "a box that bodies leave on one side and enter on the other", "map"),
     "none", false, 0},
    {DLS_KEY("variables", DLS_KEY_NODE, AT(variables), "",
             "names for numbers; each may use those above it, and every number of the scene may use all",
             "map of numbers"),
     "none", false, 0},
    {DLS_KEY("functions", DLS_KEY_NODE, AT(functions), "",
             "names for functions of time; a function that is asked for may be one of them",
             "map of functions"),
     "none", false, 0},
    {DLS_KEY("materials", DLS_KEY_NODE, AT(materials), "", "materials by name", "map of materials"),
     "`default` alone", false, 0},
    {DLS_KEY("pairs", DLS_KEY_NODE, AT(pairs), "", "what holds where two materials meet", "list of pairs"),
     "mixed", false, 0},
    {DLS_KEY("groups", DLS_KEY_NODE, AT(groups), "", "names of collision groups, at most 31",
             "list of names"),
     "none", false, 0},
    {DLS_KEY("bodies", DLS_KEY_NODE, AT(bodies), "", "bodies and generators of bodies", "list"), "none",
     false, 0},
    {DLS_KEY("joints", DLS_KEY_NODE, AT(joints), "", "what holds and drives bodies against each other",
             "list of joints"),
     "none", false, 0},
    {DLS_KEY("springs", DLS_KEY_NODE, AT(springs), "", "springs and dampers between two points",
             "list of springs"),
     "none", false, 0},
    {DLS_KEY("assemble", DLS_KEY_FLAG, AT(assemble), "",
             "moves bodies at the start, as little as it takes by their masses, until all joints hold", NULL),
     NULL, false, 0},
    {DLS_KEY("inlets", DLS_KEY_NODE, AT(inlets), "", "by which bodies come in at a rate", "list of inlets"),
     "none", false, 0},
    {DLS_KEY("removals", DLS_KEY_NODE, AT(removals), "", "regions that take bodies out", "list of removals"),
     "none", false, 0},
    {DLS_KEY("time", DLS_KEY_NODE, AT(time), "", "steps and the end", "map"), "see there", false, 0},
    {DLS_KEY("integrator", DLS_KEY_NODE, AT(integrator), "", "the scheme of the steps", "map"), "see there",
     false, 0},
    {DLS_KEY("solver", DLS_KEY_NODE, AT(solver), "", "the solver of each step's contact problem", "map"),
     "see there", false, 0},
    {DLS_KEY("output", DLS_KEY_NODE, AT(output), "", "what is recorded", "map"), "see there", false, 0},
    {DLS_KEY("run", DLS_KEY_NODE, AT(run), "", "threads, checkpoints, when to stop", "map"), "see there",
     false, 0},
};

const dls_group dls_group_scene = {"scene",
                                   "a scene",
                                   "The keys at the top of the file.",
                                   DLS_GROUP_KEYS(scene_keys),
                                   sizeof(scene_text),
                                   scene_defaults};

typedef struct periodic_text {
    double low[3];
    double size[3];
} periodic_text;

static const dls_key periodic_keys[] = {
    {DLS_KEY("low", DLS_KEY_VECTOR, offsetof(periodic_text, low), "m", "corner with the smallest coordinates",
             NULL),
     NULL, false, 0},
    {DLS_KEY("size", DLS_KEY_VECTOR, offsetof(periodic_text, size), "m",
             "lengths; 0 where the direction is not periodic", NULL),
     NULL, true, 0},
};

const dls_group dls_group_periodic = {
    "periodic", "a periodic box", "", DLS_GROUP_KEYS(periodic_keys), sizeof(periodic_text), NULL};

static void material_defaults(void *target) { *(dls_material_def *)target = dls_default_material_def(); }

static const dls_key material_keys[] = {
    {DLS_KEY("density", DLS_KEY_POSITIVE, offsetof(dls_material_def, density), "kg/m³", "kg/m² in the plane",
             NULL),
     NULL, false, 0},
    {DLS_KEY("mu", DLS_KEY_NOT_NEGATIVE, offsetof(dls_material_def, mu), "",
             "friction coefficient of Coulomb's law", NULL),
     NULL, false, 0},
    {DLS_KEY("e_n", DLS_KEY_SHARE, offsetof(dls_material_def, e_n), "",
             "restitution along the normal (Newton)", NULL),
     NULL, false, 0},
    {DLS_KEY("e_t", DLS_KEY_SHARE, offsetof(dls_material_def, e_t), "", "restitution along the tangent",
             NULL),
     NULL, false, 0},
    {DLS_KEY("cohesion", DLS_KEY_NOT_NEGATIVE, offsetof(dls_material_def, cohesion), "N",
             "attraction of a closed contact", NULL),
     NULL, false, 0},
    {DLS_KEY("rolling", DLS_KEY_NOT_NEGATIVE, offsetof(dls_material_def, turning.rolling), "m",
             "rolling friction: torques up to this times the normal force resist rolling", NULL),
     NULL, false, 0},
    {DLS_KEY("rolling_ratio", DLS_KEY_NOT_NEGATIVE, offsetof(dls_material_def, turning.rolling_ratio), "",
             "the same over the smaller radius of the two shapes (half of the least thickness); both add up",
             NULL),
     NULL, false, 0},
    {DLS_KEY("spinning", DLS_KEY_NOT_NEGATIVE, offsetof(dls_material_def, turning.spinning), "m",
             "friction against turning about the normal, likewise", NULL),
     NULL, false, 0},
    {DLS_KEY("spinning_ratio", DLS_KEY_NOT_NEGATIVE, offsetof(dls_material_def, turning.spinning_ratio), "",
             "the same over the smaller radius", NULL),
     NULL, false, 0},
    {DLS_KEY("drilling", DLS_KEY_NOT_NEGATIVE, offsetof(dls_material_def, turning.drilling), "m",
             "radius of Coulomb–Contensou friction: sliding and spinning share one μ F_n; not with spinning",
             NULL),
     NULL, false, 0},
    {DLS_KEY("young", DLS_KEY_POSITIVE, offsetof(dls_material_def, young), "Pa",
             "Young's modulus, of bodies with `solid`", NULL),
     "none", false, 0},
    {DLS_KEY("poisson", DLS_KEY_REAL, offsetof(dls_material_def, poisson), "",
             "Poisson's ratio, above -1 and below 0.5", NULL),
     NULL, false, 0},
    {DLS_KEY("law", DLS_KEY_CHOICE, offsetof(dls_material_def, law), "",
             "kirchhoff: Hooke's law of Green's strain; linear: of small strains and turns; neo-hookean: "
             "resists to be turned inside out",
             "kirchhoff|linear|neo-hookean"),
     NULL, false, 0},
    {DLS_KEY("damping", DLS_KEY_NOT_NEGATIVE, offsetof(dls_material_def, damping), "s",
             "stress of solids follows strain + damping · its rate", NULL),
     NULL, false, 0},
};

const dls_group dls_group_material = {
    "materials",
    "a material",
    "Below `materials`, each name has such a map. `default` is the material of shapes that name none; a map "
    "under that name changes it.",
    DLS_GROUP_KEYS(material_keys),
    sizeof(dls_material_def),
    material_defaults};

typedef struct pair_text {
    const dls_node *materials;
    dls_pair_def def;
} pair_text;

static void pair_defaults(void *target) {
    pair_text *text = target;
    text->def = (dls_pair_def){NAN, NAN, NAN, NAN, {NAN, NAN, NAN, NAN, NAN}}; /* mixed where not given */
}

static const dls_key pair_keys[] = {
    {DLS_KEY("materials", DLS_KEY_NODE, offsetof(pair_text, materials), "", "the two, or one twice",
             "[name, name]"),
     NULL, true, 0},
    {DLS_KEY("mu", DLS_KEY_NOT_NEGATIVE, offsetof(pair_text, def.mu), "", "friction coefficient", NULL),
     "the smaller one", false, 0},
    {DLS_KEY("e_n", DLS_KEY_SHARE, offsetof(pair_text, def.e_n), "", "restitution along the normal", NULL),
     "the larger one", false, 0},
    {DLS_KEY("e_t", DLS_KEY_SHARE, offsetof(pair_text, def.e_t), "", "restitution along the tangent", NULL),
     "the larger one", false, 0},
    {DLS_KEY("cohesion", DLS_KEY_NOT_NEGATIVE, offsetof(pair_text, def.cohesion), "N", "attraction", NULL),
     "the smaller one", false, 0},
    {DLS_KEY("rolling", DLS_KEY_NOT_NEGATIVE, offsetof(pair_text, def.turning.rolling), "m",
             "rolling friction", NULL),
     "the smaller one", false, 0},
    {DLS_KEY("rolling_ratio", DLS_KEY_NOT_NEGATIVE, offsetof(pair_text, def.turning.rolling_ratio), "",
             "the same over the smaller radius", NULL),
     "the smaller one", false, 0},
    {DLS_KEY("spinning", DLS_KEY_NOT_NEGATIVE, offsetof(pair_text, def.turning.spinning), "m",
             "spinning friction", NULL),
     "the smaller one", false, 0},
    {DLS_KEY("spinning_ratio", DLS_KEY_NOT_NEGATIVE, offsetof(pair_text, def.turning.spinning_ratio), "",
             "the same over the smaller radius", NULL),
     "the smaller one", false, 0},
    {DLS_KEY("drilling", DLS_KEY_NOT_NEGATIVE, offsetof(pair_text, def.turning.drilling), "m",
             "radius of Coulomb–Contensou friction", NULL),
     "the smaller one", false, 0},
};

const dls_group dls_group_pair = {"pairs",
                                  "a pair of materials",
                                  "Each entry of the list says what holds where two materials meet. Pairs "
                                  "that are not stated mix what their "
                                  "materials say; `delassus check` names those that meet.",
                                  DLS_GROUP_KEYS(pair_keys),
                                  sizeof(pair_text),
                                  pair_defaults};

/* ---- parts ---- */

static bool is_identifier(const char *text) {
    if (!isalpha((unsigned char)*text) && *text != '_') return false;
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && *text != '_') return false;
    return true;
}

static dls_status add_variable(dls_reader *reader, const dls_node *node, const char *name, double value) {
    if (reader->name_count == DLS_SCENE_NAMES)
        return dls_node_fail(node, reader->error, "too many variables, expected at most %d",
                             DLS_SCENE_NAMES - 1);
    reader->names[reader->name_count] = name;
    reader->values[reader->name_count++] = value;
    return DLS_OK;
}

static dls_status read_variables(dls_reader *reader, const dls_node *map) {
    dls_status status = add_variable(reader, map, "deg", 3.14159265358979323846 / 180);
    if (!map || status) return status;
    if (map->kind != DLS_NODE_MAP)
        return dls_node_fail(map, reader->error, "variables is %s, expected a map of numbers",
                             dls_node_noun(map));
    for (const dls_node *child = map->first; child && !status; child = child->next) {
        double value;
        bool taken = !strcmp(child->key, "t") || !strcmp(child->key, "deg") || !strcmp(child->key, "pi") ||
                     !strcmp(child->key, "e");
        if (!is_identifier(child->key) || strlen(child->key) > 40 || taken)
            return dls_node_fail(child, reader->error, "variable '%.60s', expected a name%s", child->key,
                                 taken ? " other than t, e, pi and deg"
                                       : " of at most 40 letters, digits and _");
        status = dls_read_number(reader, child, child->key, "a number", &value);
        if (!status) status = add_variable(reader, child, child->key, value);
    }
    return status;
}

dls_status dls_read_functions(dls_reader *reader, const dls_node *map) {
    if (!map) return DLS_OK;
    if (map->kind != DLS_NODE_MAP)
        return dls_node_fail(map, reader->error, "functions is %s, expected a map of functions",
                             dls_node_noun(map));
    for (const dls_node *child = map->first; child; child = child->next) {
        dls_function *function;
        dls_named_function *named = dls_arena_take(reader->arena, 1, sizeof *named);
        if (!named) return dls_fail_memory(reader->error);
        bool taken = !strcmp(child->key, "t") || !strcmp(child->key, "pi") || !strcmp(child->key, "e");
        for (int k = 0; k < reader->name_count; k++) taken = taken || !strcmp(reader->names[k], child->key);
        if (!is_identifier(child->key) || taken)
            return dls_node_fail(child, reader->error, "function '%.60s', expected a name %s", child->key,
                                 taken ? "that is not taken" : "of letters, digits and _");
        dls_status status = dls_read_function(reader, child, child->key, &function);
        if (status) return status;
        dls_function_destroy(function);
        *named = (dls_named_function){child, reader->functions};
        reader->functions = named;
    }
    return DLS_OK;
}

static dls_status create_world(dls_reader *reader, const scene_text *text) {
    dls_world_def def = dls_default_world_def();
    if (text->dimension != def.dimension) {
        double down = def.gravity[2] + def.gravity[1];
        vec_set(def.gravity, 0, text->dimension == 2 ? down : 0, text->dimension == 2 ? 0 : down);
    }
    def.dimension = reader->dimension;
    dls_status status =
        text->gravity ? dls_read_vector(reader, text->gravity, "gravity", def.gravity) : DLS_OK;
    if (!status && text->gravity) status = dls_doubt_gravity(reader, text->gravity, def.gravity);
    if (status) return status;
    if (text->periodic) {
        periodic_text box;
        status = dls_read_group(reader, text->periodic, &dls_group_periodic, 0, NULL, &box);
        if (status) return status;
        for (int k = 0; k < 3; k++)
            if (box.size[k] < 0)
                return dls_node_fail(text->periodic, reader->error, "size has %g, expected 0 or more",
                                     box.size[k]);
        vec_copy(def.period_low, box.low);
        vec_copy(def.period_size, box.size);
    }
    vec_copy(reader->period_low, def.period_low);
    vec_copy(reader->period_size, def.period_size);
    return dls_world_create(&def, &reader->world, reader->error);
}

static dls_status read_materials(dls_reader *reader, const dls_node *map) {
    if (!map) return DLS_OK;
    if (map->kind != DLS_NODE_MAP)
        return dls_node_fail(map, reader->error, "materials is %s, expected a map of materials",
                             dls_node_noun(map));
    for (const dls_node *child = map->first; child; child = child->next) {
        dls_material_def def;
        char noun[80];
        snprintf(noun, sizeof noun, "material '%.40s'", child->key);
        dls_status status = dls_read_group(reader, child, &dls_group_material, 0, noun, &def);
        if (!status) status = dls_doubt_density(reader, child, def.density);
        if (!status) status = dls_doubt_friction(reader, child, def.mu);
        if (status) return status;
        def.name = child->key;
        if (!*child->key)
            return dls_node_fail(child, reader->error, "a material without a name, expected one");
        if (!strcmp(child->key, "default")) /* the world has it already, as the first one */
            status = dls_world_set_material(reader->world, 0, &def, reader->error);
        else
            status = dls_world_add_material(reader->world, &def, NULL, reader->error);
        if (status) return dls_read_blame(child, reader->error);
    }
    return DLS_OK;
}

/* What a pair states takes the place of what was mixed. */
static void state(double stated, double *mixed) {
    if (!isnan(stated)) *mixed = stated;
}

static dls_status read_pair(dls_reader *reader, const dls_node *map) {
    pair_text text;
    dls_material_id id[2] = {0};
    dls_status status = dls_read_group(reader, map, &dls_group_pair, 0, NULL, &text);
    if (!status) status = dls_doubt_friction(reader, map, text.def.mu);
    if (status) return status;
    if (text.materials->kind != DLS_NODE_LIST || text.materials->count != 2)
        return dls_node_fail(text.materials, reader->error, "materials is %s of %d, expected two names",
                             dls_node_noun(text.materials), text.materials->count);
    status = dls_read_material(reader, text.materials->first, &id[0]);
    if (!status) status = dls_read_material(reader, text.materials->last, &id[1]);
    dls_pair_def def;
    bool stated = false;
    if (!status) status = dls_world_pair(reader->world, id[0], id[1], &def, &stated, reader->error);
    if (status) return status;
    if (stated)
        return dls_node_fail(map, reader->error,
                             "'%.60s' and '%.60s' for the second time, expected each pair once",
                             text.materials->first->text, text.materials->last->text);
    state(text.def.mu, &def.mu);
    state(text.def.e_n, &def.e_n);
    state(text.def.e_t, &def.e_t);
    state(text.def.cohesion, &def.cohesion);
    state(text.def.turning.rolling, &def.turning.rolling);
    state(text.def.turning.rolling_ratio, &def.turning.rolling_ratio);
    state(text.def.turning.spinning, &def.turning.spinning);
    state(text.def.turning.spinning_ratio, &def.turning.spinning_ratio);
    state(text.def.turning.drilling, &def.turning.drilling);
    status = dls_world_set_pair(reader->world, id[0], id[1], &def, reader->error);
    return status ? dls_read_blame(map, reader->error) : DLS_OK;
}

static dls_status read_pairs(dls_reader *reader, const dls_node *list) {
    if (!list) return DLS_OK;
    if (list->kind != DLS_NODE_LIST)
        return dls_node_fail(list, reader->error, "pairs is %s, expected a list of pairs",
                             dls_node_noun(list));
    dls_status status = DLS_OK;
    for (const dls_node *child = list->first; child && !status; child = child->next)
        status = read_pair(reader, child);
    return status;
}

static dls_status read_groups(dls_reader *reader, const dls_node *list) {
    if (!list) return DLS_OK;
    if (list->kind != DLS_NODE_LIST || list->count > DLS_SCENE_GROUPS)
        return dls_node_fail(list, reader->error, "groups is %s of %d, expected a list of at most %d names",
                             dls_node_noun(list), list->count, DLS_SCENE_GROUPS);
    for (const dls_node *child = list->first; child; child = child->next) {
        if (child->kind != DLS_NODE_SCALAR)
            return dls_node_fail(child, reader->error, "a group is %s, expected a name",
                                 dls_node_noun(child));
        for (int i = 0; i < reader->group_count; i++)
            if (!strcmp(reader->groups[i], child->text))
                return dls_node_fail(child, reader->error, "group '%.60s' twice, expected each once",
                                     child->text);
        reader->groups[reader->group_count++] = child->text;
    }
    return DLS_OK;
}

static dls_status read_options(dls_reader *reader, const scene_text *text, dls_scene_options *options) {
    const dls_node *groups[] = {text->time, text->integrator, text->output, text->run};
    dls_status status = DLS_OK;
    for (int i = 0; i < 4 && !status; i++)
        if (groups[i]) status = dls_read_option_group(reader, groups[i], options);
    if (!status && text->solver) status = dls_read_solver(reader, text->solver, options);
    return status;
}

/* Numbers at the top may use variables, so these come first. */
static dls_status read_tree(dls_scene *scene, dls_reader *reader, const dls_node *root) {
    scene_text text;
    const dls_node *variables = dls_node_find(root, "variables");
    dls_status status = read_variables(reader, variables);
    if (!status) status = dls_read_group(reader, root, &dls_group_scene, 0, NULL, &text);
    if (status) return status;
    scene->title = text.title;
    if (text.version != 1)
        return dls_node_fail(dls_node_find(root, "delassus"), reader->error,
                             "format version %g, expected 1: this program is %s", text.version,
                             dls_version());
    if (text.dimension != 2 && text.dimension != 3)
        return dls_node_fail(dls_node_find(root, "dimension"), reader->error,
                             "dimension is %g, expected 2 or 3", text.dimension);
    reader->dimension = (int)text.dimension;
    status = create_world(reader, &text);
    scene->world = reader->world;
    if (!status) status = read_materials(reader, text.materials);
    if (!status) status = read_pairs(reader, text.pairs);
    if (!status) status = read_groups(reader, text.groups);
    if (!status) status = read_options(reader, &text, &scene->options);
    reader->step = scene->options.simulation.step;
    if (!status) status = dls_doubt_scheme(reader, text.integrator, &scene->options.simulation);
    if (!status) status = dls_read_functions(reader, text.functions);
    if (!status && text.bodies) status = dls_read_bodies(reader, text.bodies);
    if (!status) status = dls_read_joints(reader, text.joints, text.springs);
    if (!status)
        status = dls_start_joints(reader, dls_node_find(root, "assemble"), text.assemble, &scene->assembled);
    scene->is_assembled = text.assemble;
    if (!status) status = dls_read_inlets(reader, text.inlets, scene->options.run.until, &scene->gates);
    if (!status) status = dls_read_removals(reader, text.removals, &scene->gates);
    if (!status) status = dls_doubt_scales(reader, &scene->gates);
    return status;
}

/* ---- reading ---- */

/* The text, and behind it, as comments, what was changed. */
static dls_status keep_text(dls_scene *scene, const char *text, size_t size, int setting_count,
                            const char *const *settings, dls_error *error) {
    size_t room = size + 2, used = size;
    for (int i = 0; i < setting_count; i++) room += strlen(settings[i]) + 16;
    char *copy = dls_arena_take(&scene->arena, room, 1);
    scene->settings = dls_arena_take(&scene->arena, (size_t)setting_count, sizeof *scene->settings);
    if (!copy || !scene->settings) return dls_fail_memory(error);
    if (size) memcpy(copy, text, size);
    for (int i = 0; i < setting_count; i++) {
        scene->settings[i] = dls_arena_text(&scene->arena, settings[i], strlen(settings[i]));
        if (!scene->settings[i]) return dls_fail_memory(error);
        bool fresh = used > 0 && copy[used - 1] != '\n';
        used += (size_t)snprintf(copy + used, room - used, "%s# --set %s\n", fresh ? "\n" : "", settings[i]);
    }
    scene->setting_count = setting_count;
    scene->text = copy;
    return DLS_OK;
}

/* Where files come from: a folder, and those that are in memory. */
typedef struct file_source {
    const char *folder;
    int given_count;
    const dls_file *given;
} file_source;

static dls_status read_all(dls_scene *scene, const char *text, size_t size, const char *name,
                           const file_source *files, int setting_count, const char *const *settings,
                           dls_error *error) {
    dls_status status = keep_text(scene, text, size, setting_count, settings, error);
    if (status) return status;
    const char *kept = dls_arena_text(&scene->arena, name, strlen(name));
    dls_source *source = dls_arena_take(&scene->arena, 1, sizeof *source);
    dls_reader *reader = DLS_NEW_ZERO(dls_reader, 1);
    dls_node *root;
    if (!kept || !source || !reader) {
        dls_free(reader);
        return dls_fail_memory(error);
    }
    *source = (dls_source){kept, false};
    reader->error = error;
    reader->arena = &scene->arena;
    reader->folder = files->folder ? files->folder : "";
    reader->given_count = files->given_count;
    reader->given = files->given;
    reader->dimension = 3;
    status = dls_node_parse(&scene->arena, source, text, size, &root, error);
    if (!status && root->kind != DLS_NODE_MAP)
        status =
            dls_node_fail(root, error, "the scene is %s, expected keys like 'bodies:'", dls_node_noun(root));
    for (int i = 0; i < setting_count && !status; i++)
        status = dls_setting_apply(&scene->arena, root, settings[i], error);
    if (!status) status = read_tree(scene, reader, root);
    scene->file_count = reader->file_count;
    scene->files = reader->files;
    scene->doubts = reader->doubts;
    dls_free(reader->framed);
    dls_free(reader->joint_nodes);
    dls_free(reader);
    return status;
}

static dls_status make_scene(const char *text, size_t size, const char *name, const file_source *files,
                             int setting_count, const char *const *settings, dls_scene **scene,
                             dls_error *error) {
    dls_error own;
    if (!error) error = &own;
    dls_error_clear(error);
    if (!scene) return dls_fail(error, DLS_ERROR_ARGUMENT, "nowhere to put the scene: NULL");
    *scene = NULL;
    if (!text || !name || setting_count < 0 || (setting_count && !settings))
        return dls_fail(error, DLS_ERROR_ARGUMENT, "a scene's text and name are needed, got NULL");
    dls_scene *made = DLS_NEW_ZERO(dls_scene, 1);
    if (!made) return dls_fail_memory(error);
    made->title = "";
    dls_scene_options_default(&made->options);
    dls_status status = read_all(made, text, size, name, files, setting_count, settings, error);
    if (status)
        dls_scene_destroy(made);
    else
        *scene = made;
    return status;
}

dls_status dls_scene_read_text(const char *text, size_t size, const char *name, const char *folder,
                               int setting_count, const char *const *settings, dls_scene **scene,
                               dls_error *error) {
    return make_scene(text, size, name, &(file_source){folder, 0, NULL}, setting_count, settings, scene,
                      error);
}

dls_status dls_scene_read_stored(const char *text, size_t size, const char *name, int file_count,
                                 const dls_file *files, int setting_count, const char *const *settings,
                                 dls_scene **scene, dls_error *error) {
    return make_scene(text, size, name, &(file_source){".", files ? file_count : 0, files}, setting_count,
                      settings, scene, error);
}

/* What is no text is said to be what it is, not malformed YAML. */
static dls_status check_text(const char *path, const char *text, size_t size, dls_error *error) {
    static const char hdf5[] = "\x89HDF\r\n\x1a\n";
    if (size >= sizeof hdf5 - 1 && !memcmp(text, hdf5, sizeof hdf5 - 1))
        return dls_fail(
            error, DLS_ERROR_FILE,
            "%.300s: an HDF5 file, the results of a run or a contact problem, expected a scene: a "
            "text file",
            path);
    if (memchr(text, 0, size < 4096 ? size : 4096))
        return dls_fail(error, DLS_ERROR_FILE, "%.300s: a binary file, expected a scene: a text file", path);
    return DLS_OK;
}

/* A file that is not there may be with the ending that scenes have. */
static dls_status open_scene(const char *path, dls_input *input, dls_error *error) {
    char named[4096];
    struct stat facts;
    dls_status status = dls_input_open(path, DLS_INPUT_FILE_OR_PIPE, "a scene: a text file", input, error);
    snprintf(named, sizeof named, "%s.yaml", path);
    if (!status || !stat(path, &facts) || errno != ENOENT || stat(named, &facts)) return status;
    return dls_fail(error, DLS_ERROR_FILE, "%s: cannot be read: %s, did you mean '%.100s'?",
                    dls_file_name_of(path).text, strerror(ENOENT), named);
}

static dls_status load(const char *path, char **text, size_t *size, dls_error *error) {
    dls_input input;
    *text = NULL;
    *size = 0;
    dls_status status = open_scene(path, &input, error);
    int64_t room = 0, wanted = 1 << 16;
    for (; !status; wanted *= 2) { /* pipes have no size to ask for */
        if (!dls_grow(text, (int64_t)*size, &room, wanted, 1)) {
            status = dls_fail_memory(error);
            break;
        }
        int64_t got = dls_input_read(&input, *text + *size, (size_t)room - *size);
        if (got > 0) *size += (size_t)got;
        if (got < 0)
            status = dls_input_fail(path, errno, error);
        else if (*size > DLS_SCENE_BYTES)
            status = dls_fail(error, DLS_ERROR_FILE, "%.300s: larger than %d MB, expected a smaller scene",
                              path, DLS_SCENE_BYTES >> 20);
        if (*size < (size_t)room) break;
    }
    dls_input_close(&input);
    return status ? status : check_text(path, *text, *size, error);
}

dls_status dls_scene_read(const char *path, int setting_count, const char *const *settings, dls_scene **scene,
                          dls_error *error) {
    dls_error own;
    if (!error) error = &own;
    dls_error_clear(error);
    if (!path || !scene) return dls_fail(error, DLS_ERROR_ARGUMENT, "a path is needed, got NULL");
    *scene = NULL;
    char *text;
    size_t size;
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + (slash == path) : 1;
    char *folder = dls_alloc_zero(length + 1, 1);
    if (!folder) return dls_fail_memory(error);
    memcpy(folder, slash ? path : ".", length);
    dls_status status = load(path, &text, &size, error);
    if (!status)
        status = dls_scene_read_text(text, size, path, folder, setting_count, settings, scene, error);
    dls_free(text);
    dls_free(folder);
    return status;
}

void dls_scene_destroy(dls_scene *scene) {
    if (!scene) return;
    dls_solver_drop(scene->options.solver);
    dls_world_destroy(scene->world);
    dls_arena_release(&scene->arena);
    dls_free(scene);
}

/* ---- what it says ---- */

const char *dls_scene_text(const dls_scene *scene) { return scene->text; }
int dls_scene_setting_count(const dls_scene *scene) { return scene->setting_count; }
const char *dls_scene_setting(const dls_scene *scene, int index) {
    return index >= 0 && index < scene->setting_count ? scene->settings[index] : NULL;
}
int dls_scene_file_count(const dls_scene *scene) { return scene->file_count; }
const dls_file *dls_scene_files(const dls_scene *scene) { return scene->files; }
const char *dls_scene_title(const dls_scene *scene) { return scene->title; }
dls_world *dls_scene_world(dls_scene *scene) { return scene->world; }
const dls_run_options *dls_scene_run_options(const dls_scene *scene) { return &scene->options.run; }
const dls_solver *dls_scene_solver(const dls_scene *scene) { return scene->options.solver; }
const void *dls_scene_solver_options(const dls_scene *scene) { return scene->options.solver_options.bytes; }

dls_status dls_scene_simulation_create(dls_scene *scene, dls_simulation **simulation, dls_error *error) {
    dls_error_clear(error);
    if (!scene || !simulation)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "a scene and a place for its simulation are needed");
    dls_status status = dls_simulation_create(scene->world, &scene->options.simulation, simulation, error);
    if (!status)
        status = dls_simulation_set_solver(*simulation, scene->options.solver,
                                           scene->options.solver_options.bytes, error);
    if (!status && scene->gates.inlet_count + scene->gates.removal_count > 0)
        status = dls_simulation_set_gates(*simulation, &scene->gates, error);
    if (!status) return DLS_OK;
    dls_simulation_destroy(*simulation);
    *simulation = NULL;
    return status;
}

const dls_gates_def *dls_scene_gates(const dls_scene *scene) { return &scene->gates; }
int dls_scene_inlet_count(const dls_scene *scene) { return scene->gates.inlet_count; }
int dls_scene_removal_count(const dls_scene *scene) { return scene->gates.removal_count; }

bool dls_scene_assembled(const dls_scene *scene, dls_assembled *report) {
    *report = scene->assembled;
    return scene->is_assembled;
}

const char *dls_scene_doubt(const dls_scene *scene, int index) {
    const dls_doubt *doubt = index < 0 ? NULL : scene->doubts;
    while (doubt && index-- > 0) doubt = doubt->next;
    return doubt ? doubt->line : NULL;
}

const dls_simulation_options *dls_scene_simulation_options(const dls_scene *scene) {
    return &scene->options.simulation;
}
