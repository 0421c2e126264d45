/* delassus check: reads a scene, says what it holds, warns of what is likely a mistake. */
#include "cli/commands.h"
#include "cli/shape_reference.h"
#include "cli/support/json.h"
#include "cli/support/report.h"

#include <delassus/scene.h>
#include <delassus/solid.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct check_values {
    text_list set;
    bool json, strict, reference, shapes;
} check_values;

#define AT(member) offsetof(check_values, member)

static const option options[] = {
    OPTION("set", 's', OPTION_LIST, "PATH=VALUE", AT(set),
           "change a value of the scene: time.step=1e-4, bodies.drum.motion=static"),
    OPTION("strict", 0, OPTION_FLAG, NULL, AT(strict), "exit with 1 where there is a warning"),
    OPTION("json", 0, OPTION_FLAG, NULL, AT(json), "print one JSON object"),
    OPTION("format-reference", 0, OPTION_FLAG, NULL, AT(reference),
           "print the reference page docs/scene-format.md"),
    OPTION("shape-reference", 0, OPTION_FLAG, NULL, AT(shapes),
           "print the reference page docs/shapes.md: how each pair of shapes is collided"),
};

/* ---- what a scene holds -------------------------------------------------------------------------------- */

typedef struct findings {
    const char *path;
    dls_scene *scene;
    int motions[DLS_MOTIONS], waiting, shapes; /* bodies by motion, those born later, shapes of all */
    double mass;                               /* of dynamic bodies */
    int warning_count;
    char **warnings;
} findings;

static void keep_warning(const char *line, void *user) {
    findings *f = user;
    f->warnings = report_grow(f->warnings, (size_t)f->warning_count, sizeof *f->warnings);
    char *copy = report_allocate(strlen(line) + 1, 1);
    memcpy(copy, line, strlen(line) + 1);
    f->warnings[f->warning_count++] = copy;
}

static void count_bodies(findings *f) {
    const dls_world *world = dls_scene_world(f->scene);
    for (int id = 0; id < dls_world_body_count(world); id++) {
        dls_motion motion = dls_body_motion(world, id);
        dls_body_mass mass;
        f->motions[motion]++;
        f->waiting += dls_body_presence(world, id) == DLS_WAITING;
        f->shapes += dls_body_shape_count(world, id);
        if (motion == DLS_DYNAMIC && !dls_body_mass_get(world, id, &mass, NULL)) f->mass += mass.mass;
    }
}

static double step_count(const findings *f) {
    double h = dls_scene_simulation_options(f->scene)->step;
    return ceil(dls_scene_run_options(f->scene)->until / h - 1e-9);
}

static double tolerance(const findings *f) {
    return ((const dls_stop_options *)dls_scene_solver_options(f->scene))->tolerance;
}

/* What explicit forces of solids stand; INFINITY where there are none. */
static double stable_step(const findings *f) {
    bool is_explicit = dls_scene_simulation_options(f->scene)->stiffness == DLS_STIFFNESS_EXPLICIT;
    return is_explicit ? dls_solids_stable_step(dls_scene_world(f->scene)) : (double)INFINITY;
}

static void print_findings(const findings *f) {
    const dls_world *world = dls_scene_world(f->scene);
    const dls_simulation_options *simulation = dls_scene_simulation_options(f->scene);
    const dls_run_options *run = dls_scene_run_options(f->scene);
    int inlets = dls_scene_inlet_count(f->scene), removals = dls_scene_removal_count(f->scene);
    dls_assembled assembled;
    printf("%s", colour_begin(COLOUR_STRONG));
    print_plain(f->path);
    printf("%s\n", colour_end(COLOUR_STRONG));
    if (*dls_scene_title(f->scene)) {
        printf("  title       ");
        print_plain(dls_scene_title(f->scene));
        putchar('\n');
    }
    printf("  dimension   %d\n", dls_world_dimension(world));
    printf("  bodies      %d dynamic (%.4g kg), %d static, %d driven", f->motions[DLS_DYNAMIC], f->mass,
           f->motions[DLS_STATIC], f->motions[DLS_DRIVEN]);
    if (f->waiting) printf("; %d of them %s born later", f->waiting, f->waiting == 1 ? "is" : "are");
    putchar('\n');
    if (inlets + removals)
        printf("  gates       %d inlet%s, %d removal%s\n", inlets, plural(inlets), removals,
               plural(removals));
    if (dls_world_joint_count(world)) printf("  joints      %d\n", dls_world_joint_count(world));
    if (dls_scene_assembled(f->scene, &assembled))
        printf("  assembled   %d bod%s moved, by %.3g m and %.3g rad at most; velocities by %.3g m/s\n",
               assembled.bodies, assembled.bodies == 1 ? "y" : "ies", assembled.moved, assembled.turned,
               assembled.sped);
    printf("  shapes      %d\n", f->shapes);
    printf("  materials   %d\n", dls_world_material_count(world));
    printf("  time        %.0f step%s of %g s until %g s\n", step_count(f), step_count(f) == 1 ? "" : "s",
           simulation->step, run->until);
    if (isfinite(stable_step(f)))
        printf("  solids      explicit forces, stable up to steps of %.4g s\n", stable_step(f));
    printf("  solver      %s, tolerance %g\n", dls_scene_solver(f->scene)->name, tolerance(f));
    for (int i = 0; i < f->warning_count; i++) {
        printf("%swarning%s: ", colour_begin(COLOUR_BAD), colour_end(COLOUR_BAD));
        print_plain(f->warnings[i]);
        putchar('\n');
    }
    if (!f->warning_count) printf("%sno warnings%s\n", colour_begin(COLOUR_GOOD), colour_end(COLOUR_GOOD));
}

static void print_json(const findings *f) {
    const dls_world *world = dls_scene_world(f->scene);
    dls_assembled assembled;
    json j = json_begin(stdout, false);
    json_object_begin(&j);
    json_member_text(&j, "file", f->path);
    json_member_text(&j, "title", dls_scene_title(f->scene));
    json_member_integer(&j, "dimension", dls_world_dimension(world));
    for (int k = 0; k < DLS_MOTIONS; k++)
        json_member_integer(&j, dls_motion_name((dls_motion)k), f->motions[k]);
    json_member_integer(&j, "waiting", f->waiting);
    json_member_integer(&j, "shapes", f->shapes);
    json_member_integer(&j, "joints", dls_world_joint_count(world));
    if (dls_scene_assembled(f->scene, &assembled)) {
        json_key(&j, "assembled");
        json_object_begin(&j);
        json_member_integer(&j, "bodies", assembled.bodies);
        json_member_real(&j, "moved", assembled.moved);
        json_member_real(&j, "turned", assembled.turned);
        json_member_real(&j, "sped", assembled.sped);
        json_object_end(&j);
    }
    json_member_integer(&j, "inlets", dls_scene_inlet_count(f->scene));
    json_member_integer(&j, "removals", dls_scene_removal_count(f->scene));
    json_member_integer(&j, "materials", dls_world_material_count(world));
    json_member_real(&j, "mass", f->mass);
    json_member_real(&j, "step", dls_scene_simulation_options(f->scene)->step);
    if (isfinite(stable_step(f))) json_member_real(&j, "stable_step", stable_step(f));
    json_member_real(&j, "until", dls_scene_run_options(f->scene)->until);
    json_member_text(&j, "solver", dls_scene_solver(f->scene)->name);
    json_member_real(&j, "tolerance", tolerance(f));
    json_key(&j, "warnings");
    json_array_begin(&j);
    for (int i = 0; i < f->warning_count; i++) json_text(&j, f->warnings[i]);
    json_array_end(&j);
    json_object_end(&j);
    json_end(&j);
}

static int check_scene(const char *path, const check_values *v) {
    findings f = {.path = path};
    dls_error error;
    if (dls_scene_read(path, v->set.count, v->set.items, &f.scene, &error))
        return report_error("%s", error.message);
    int code = EXIT_DONE;
    if (dls_scene_check(f.scene, keep_warning, &f, NULL, &error)) {
        code = report_error("%s: %s", path, error.message);
    } else {
        count_bodies(&f);
        if (v->json)
            print_json(&f);
        else
            print_findings(&f);
        if (v->strict && f.warning_count) code = EXIT_NOT_CONVERGED;
    }
    for (int i = 0; i < f.warning_count; i++) free(f.warnings[i]);
    free(f.warnings);
    dls_scene_destroy(f.scene);
    return code;
}

/* ---- the reference page -------------------------------------------------------------------------------- */

/* Text of a table cell: a bar would end it. */
static void print_cell(const char *text) {
    putchar(' ');
    for (; *text; text++) {
        if (*text == '|') putchar('\\');
        putchar(*text);
    }
    printf(" |");
}

/* A table of every key that not all kinds of shapes have, with what is needed in bold. */
static void print_kinds(void) {
    printf("\n| kind | dimension | obstacle | keys of its own |\n|---|---|---|---|\n");
    for (int k = 0; k < DLS_SHAPE_KINDS; k++) {
        dls_shape_kind kind = (dls_shape_kind)k;
        printf("| `%s` | %d | %s |", dls_shape_kind_name(kind), dls_shape_kind_is_planar(kind) ? 2 : 3,
               dls_shape_kind_is_obstacle(kind) ? "yes" : "");
        for (int i = 0; i < dls_scene_key_count(); i++) {
            dls_scene_key key = dls_scene_key_at(i);
            if (strcmp(key.group, "bodies.shape")) continue;
            bool special = false;
            for (int other = 0; other < DLS_SHAPE_KINDS; other++)
                special = special || !dls_scene_shape_has((dls_shape_kind)other, key.key);
            if (special && dls_scene_shape_has(kind, key.key)) printf(" `%s`", key.key);
        }
        printf(" |\n");
    }
    printf("| `point` | 2, 3 |  |  |\n");
    printf("\nObstacles have no mass: they belong to static and driven bodies. Half-planes and half-spaces "
           "are solid\n"
           "below y = 0 and z = 0 in their own frame, drums and insides are solid outside, a chain is solid "
           "on the\n"
           "right when walking along it, and bodies stay on the side of a mesh that its counter-clockwise "
           "normals\n"
           "point to. Meshes come from OBJ or STL files (text or binary). A point collides as a disc or "
           "sphere of "
           "radius 0\ndoes and has no mass: its body says `mass` and `inertia`, or is a solid.\n");
}

/* What kinds of joints leave free, by the numbers of freedoms. */
static void print_joints(void) {
    printf("\n| kind | free | what it does |\n|---|---|---|\n");
    for (int k = 0; k < DLS_JOINT_KINDS; k++) {
        dls_joint_kind kind = (dls_joint_kind)k;
        printf("| `%s` |", dls_joint_kind_name(kind));
        for (int freedom = 0; freedom < DLS_FREEDOMS; freedom++)
            if (dls_joint_kind_free(kind, 3) >> freedom & 1) printf(" %d", freedom + 1);
        printf(" |");
        print_cell(dls_joint_kind_summary(kind));
        printf("\n");
    }
}

static void print_group(int group) {
    const char *name = dls_scene_group_name(group), *about = dls_scene_group_about(group);
    printf("\n## `%s`\n\n", name);
    if (*about) printf("%s\n\n", about);
    printf("| key | what | unit | preset | meaning |\n|---|---|---|---|---|\n");
    for (int i = 0; i < dls_scene_key_count(); i++) {
        dls_scene_key key = dls_scene_key_at(i);
        if (strcmp(key.group, name)) continue;
        printf("| `%s` |", key.key);
        print_cell(key.type);
        print_cell(key.unit);
        print_cell(key.preset);
        print_cell(key.help);
        printf("\n");
    }
    if (!strcmp(name, "bodies.shape")) print_kinds();
    if (!strcmp(name, "joints")) print_joints();
}

static void print_expressions(void) {
    printf(
        "\n## expressions\n\n"
        "An expression may use numbers (`2`, `.5`, `1e-3`), the scene's variables, `pi`, `e`, `deg` "
        "(pi/180), in functions\n"
        "of time `t`, and what follows, from weak to strong. What is not 0 is true; comparisons are 1 or "
        "0.\n\n"
        "| operators | |\n|---|---|\n"
        "| `c ? a : b` | a where c is true, else b; from the right |\n"
        "| `\\|\\|` | or |\n"
        "| `&&` | and |\n"
        "| `<` `<=` `>` `>=` `==` `!=` | comparisons, all of one rank, from the left |\n"
        "| `+` `-` | from the left |\n"
        "| `*` `/` | from the left |\n"
        "| `-a` `+a` | one sign: `-2^2` is -4, `2*-3` is -6, `--2` is refused |\n"
        "| `^` | power, from the right: `2^3^2` is 2^9, `2^-1` is 0.5 |\n\n"
        "| functions | |\n|---|---|\n"
        "| sin cos tan asin acos atan | in rad |\n"
        "| atan2(y, x) | the angle of the point (x, y) |\n"
        "| sinh cosh tanh asinh acosh atanh | |\n"
        "| exp, ln, log, log2, log10 | log is ln |\n"
        "| sqrt, abs, sign, rint | sign is -1, 0 or 1; rint is the next whole number, halves go up |\n"
        "| min, max, sum, avg | of one or more arguments |\n\n"
        "At most 4096 characters and 64 levels of parentheses, calls, choices and exponents. What cannot be "
        "read is\n"
        "refused with the column where, counted from 1, and what was expected there.\n");
}

static int print_reference(void) {
    printf("# Scene format\n\n"
           "Written by `delassus check --format-reference` from the tables that read scenes. `delassus new` "
           "writes\n"
           "commented scenes to start from, `delassus check SCENE` reads one, says what it holds and warns "
           "of likely\n"
           "mistakes.\n\n"
           "A scene is one YAML file (so JSON works, too); units are SI. Anchors, aliases, merges and tags "
           "of YAML\n"
           "are refused: `variables` and generators do what they are used for. Unknown keys are refused.\n\n"
           "- A **number** is a number or an expression: `2*pi*rpm/60`, `sqrt(2)*R`, see "
           "[expressions](#expressions). Put it\n"
           "  in quotes where it holds `: ` or ` #`, begins with `*`, or has a comma inside `{ }` or `[ ]`.\n"
           "- A **vector** is `[x, y]` in the plane and `[x, y, z]` in space.\n"
           "- A **function** of time is a number, an expression in `t`, or a table, see `function`.\n"
           "- `--set PATH=VALUE` on the command line changes a value: the path is made of keys with dots "
           "between;\n"
           "  entries of lists go by their name or by their number from 0: "
           "`bodies.drum.drive.rz.velocity=3`.\n");
    print_expressions();
    for (int group = 0; group < dls_scene_group_count(); group++) print_group(group);
    return EXIT_DONE;
}

static int run(const text_list *operands, const void *values) {
    const check_values *v = values;
    if (v->reference) return print_reference();
    if (v->shapes) {
        print_shape_reference();
        return EXIT_DONE;
    }
    if (!operands->count) return report_error("check: no scene given, expected SCENE...");
    int code = EXIT_DONE;
    for (int i = 0; i < operands->count; i++) {
        int one = check_scene(operands->items[i], v);
        if (one > code) code = one;
    }
    return code;
}

static const check_values defaults = {.json = false};

const command command_check = {
    .name = "check",
    .summary = "read a scene, say what it holds, warn of likely mistakes",
    .operands = "SCENE...",
    .details =
        "Warns of values that look like other units than SI (degrees, g/cm³), bodies that overlap at the\n"
        "start, walls thinner than a step's way, materials that meet without a stated pair, and steps too\n"
        "long for the sizes. docs/scene-format.md tells all keys.\n\n"
        "  delassus check drum.yaml --set variables.rpm=30",
    .least_operands = 0,
    .most_operands = INT16_MAX,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .defaults = &defaults,
    .values_size = sizeof(check_values),
    .run = run,
};
