#include "support/small_run.h"

#include "support/test.h"

#include <math.h>
#include <string.h>

static dls_body_id add(dls_world *world, const char *name, dls_motion motion, const dls_shape_def *shapes,
                       int count, double x, double y, double z, double birth, double death) {
    dls_body_def def = dls_default_body_def();
    dls_error error = {0};
    dls_body_id id = -1;
    def.name = name;
    def.motion = motion;
    def.shapes = shapes;
    def.shape_count = count;
    def.pose.x[0] = x, def.pose.x[1] = y, def.pose.x[2] = z;
    def.birth = birth;
    def.death = death;
    if (dls_world_add_body(world, &def, &id, &error)) fail_msg("%s", error.message);
    return id;
}

static dls_shape_def shape(dls_shape_kind kind, double radius, double length, double a, double b, double c) {
    dls_shape_def def = dls_default_shape_def(kind);
    def.radius = radius;
    def.length = length;
    def.size[0] = a, def.size[1] = b, def.size[2] = c;
    return def;
}

static const double corners[] = {0, 0, 0.1, 0.1, 0, -0.05, -0.1, 0.1, -0.05, -0.1, -0.1, -0.05, 0, 0, -0.12};
static const double floor_points[] = {-3, -3, -1, 3, -3, -1, 3, 3, -1, -3, 3, -1};
static const int floor_triangles[] = {0, 1, 2, 0, 2, 3};
static const double triangle[] = {-0.1, -0.1, 0, 0.1, -0.1, 0, 0, 0.1, 0};
static const double slope[] = {4, 1, 0, 0, -1, 0, -4, 1, 0};

static void fill_space(small_run *run) {
    dls_shape_def ground = shape(DLS_HALF_SPACE, 0, 0, 0, 0, 0), ball = shape(DLS_SPHERE, 0.1, 0, 0, 0, 0),
                  box = shape(DLS_BOX, 0, 0, 0.2, 0.3, 0.1), capsule = shape(DLS_CAPSULE, 0.05, 0.2, 0, 0, 0),
                  egg = shape(DLS_ELLIPSOID, 0, 0, 0.1, 0.08, 0.06),
                  can = shape(DLS_CYLINDER, 0.1, 0.2, 0, 0, 0), stone = shape(DLS_POLYHEDRON, 0, 0, 0, 0, 0),
                  tub = shape(DLS_CYLINDER_INSIDE, 3, 6, 0, 0, 0),
                  room = shape(DLS_BOX_INSIDE, 0, 0, 8, 8, 8), mesh = shape(DLS_MESH, 0, 0, 0, 0, 0);
    dls_shape_def pair[2] = {ball, ball};
    const double forever = INFINITY;
    stone.points = corners, stone.point_count = 5;
    mesh.points = floor_points, mesh.point_count = 4;
    mesh.triangles = floor_triangles, mesh.triangle_count = 2;
    pair[1].pose.x[0] = 0.15;
    add(run->world, "ground", DLS_STATIC, &ground, 1, 0, 0, 0, -forever, forever);
    add(run->world, "tub", DLS_STATIC, &tub, 1, 0, 0, 0, -forever, forever);
    add(run->world, "room", DLS_STATIC, &room, 1, 0, 0, 3, -forever, forever);
    add(run->world, "floor", DLS_STATIC, &mesh, 1, 0, 0, 0, -forever, forever);
    add(run->world, "box", DLS_DYNAMIC, &box, 1, 1, 0, 0.05, -forever, forever);
    add(run->world, NULL, DLS_DYNAMIC, &capsule, 1, 0, 1, 0.06, -forever, forever);
    add(run->world, "Ei, \"groß\"", DLS_DYNAMIC, &egg, 1, -1, 0, 0.06, -forever, forever);
    add(run->world, "can", DLS_DYNAMIC, &can, 1, 0, -1, 0.1, -forever, forever);
    add(run->world, "stone", DLS_DYNAMIC, &stone, 1, 1, 1, 0.15, -forever, forever);
    add(run->world, "pair", DLS_DYNAMIC, pair, 2, -1, 1, 0.1, -forever, forever);
    run->removed = add(run->world, "leaves", DLS_DYNAMIC, &ball, 1, -1, -1, 0.1, -forever, forever);
    add(run->world, "born", DLS_DYNAMIC, &ball, 1, 0, 0, 0.11, 0.05, forever);
    add(run->world, "dies", DLS_DYNAMIC, &ball, 1, 0.5, 0.5, 0.1, -forever, 0.08);
}

static void fill_plane(small_run *run) {
    dls_shape_def ground = shape(DLS_HALF_PLANE, 0, 0, 0, 0, 0), disc = shape(DLS_DISC, 0.1, 0, 0, 0, 0),
                  drum = shape(DLS_DRUM, 5, 0, 0, 0, 0), chain = shape(DLS_CHAIN, 0, 0, 0, 0, 0),
                  wedge = shape(DLS_POLYGON, 0, 0, 0, 0, 0);
    const double forever = INFINITY;
    chain.points = slope, chain.point_count = 3;
    wedge.points = triangle, wedge.point_count = 3;
    add(run->world, "ground", DLS_STATIC, &ground, 1, 0, 0, 0, -forever, forever);
    add(run->world, "drum", DLS_STATIC, &drum, 1, 0, 0, 0, -forever, forever);
    add(run->world, "slope", DLS_STATIC, &chain, 1, 0, -1, 0, -forever, forever);
    add(run->world, "disc", DLS_DYNAMIC, &disc, 1, 0, 0.1, 0, -forever, forever);
    add(run->world, "wedge", DLS_DYNAMIC, &wedge, 1, 1, 0.1, 0, -forever, forever);
    run->removed = add(run->world, "leaves", DLS_DYNAMIC, &disc, 1, -1, 0.1, 0, -forever, forever);
    add(run->world, "born", DLS_DYNAMIC, &disc, 1, 0, 0.31, 0, 0.05, forever);
    add(run->world, "dies", DLS_DYNAMIC, &disc, 1, -2, 0.1, 0, -forever, 0.08);
}

small_run small_run_create(int dimension) {
    small_run run = {0};
    dls_error error = {0};
    dls_world_def def = dls_default_world_def();
    dls_material_def stone = dls_default_material_def();
    dls_material_id id;
    def.dimension = dimension;
    def.gravity[0] = def.gravity[1] = def.gravity[2] = 0;
    def.gravity[dimension - 1] = -9.81;
    if (dls_world_create(&def, &run.world, &error)) fail_msg("%s", error.message);
    stone.name = "stone";
    stone.mu = 0.7;
    if (dls_world_add_material(run.world, &stone, &id, &error)) fail_msg("%s", error.message);
    if (dimension == 2)
        fill_plane(&run);
    else
        fill_space(&run);
    dls_simulation_options options = dls_default_simulation_options();
    options.step = 0.01;
    if (dls_simulation_create(run.world, &options, &run.simulation, &error)) fail_msg("%s", error.message);
    return run;
}

void small_run_destroy(small_run *run) {
    dls_simulation_destroy(run->simulation);
    dls_world_destroy(run->world);
    *run = (small_run){0};
}

dls_step_report small_run_step(small_run *run) {
    dls_step_report report;
    dls_error error = {0};
    memset(&report, 0, sizeof report);
    if (dls_simulation_step(run->simulation, &report, &error)) fail_msg("%s", error.message);
    if (report.step == 6 && dls_world_remove_body(run->world, run->removed, &error))
        fail_msg("%s", error.message);
    return report;
}

void small_run_add_late(small_run *run) {
    bool is_planar = dls_world_dimension(run->world) == 2;
    dls_shape_def ball = shape(is_planar ? DLS_DISC : DLS_SPHERE, 0.1, 0, 0, 0, 0);
    dls_material_def late = dls_default_material_def();
    dls_error error = {0};
    late.name = "late";
    if (dls_world_add_material(run->world, &late, &ball.material, &error)) fail_msg("%s", error.message);
    add(run->world, "late", DLS_DYNAMIC, &ball, 1, 2, is_planar ? 0.1 : 0, is_planar ? 0 : 0.1, -INFINITY,
        INFINITY);
}

dls_results_def small_run_def(void) {
    static const char *const settings[] = {"time.step=0.01", "variables.size=1"};
    return (dls_results_def){.title = "a small run",
                             .scene_text = "title: a small run\n# ends here\n",
                             .setting_count = 2,
                             .settings = settings,
                             .solver = "auto",
                             .solver_options = "tolerance=1e-6\n",
                             .tolerance = 1e-6,
                             .contacts = true};
}
