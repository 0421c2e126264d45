#include "support/measured.h"
#include "support/small_run.h"

#include <string.h>

dls_world *measured_world(int dimension) {
    dls_world *world;
    dls_world_def def = dls_default_world_def();
    def.dimension = dimension;
    memset(def.gravity, 0, sizeof def.gravity);
    def.gravity[dimension - 1] = -MEASURED_GRAVITY;
    OK(dls_world_create(&def, &world, error));
    return world;
}

dls_body_id measured_round(dls_world *world, double radius, double x, double y, double z) {
    dls_shape_def shape = dls_default_shape_def(dls_world_dimension(world) == 2 ? DLS_DISC : DLS_SPHERE);
    dls_body_def def = dls_default_body_def();
    dls_body_id id;
    shape.radius = radius;
    def.shapes = &shape, def.shape_count = 1;
    def.pose.x[0] = x, def.pose.x[1] = y, def.pose.x[2] = z;
    OK(dls_world_add_body(world, &def, &id, error));
    return id;
}

dls_body_id measured_ground(dls_world *world, const char *name) {
    dls_shape_def shape =
        dls_default_shape_def(dls_world_dimension(world) == 2 ? DLS_HALF_PLANE : DLS_HALF_SPACE);
    dls_body_def def = dls_default_body_def();
    dls_body_id id;
    def.name = name, def.motion = DLS_STATIC;
    def.shapes = &shape, def.shape_count = 1;
    OK(dls_world_add_body(world, &def, &id, error));
    return id;
}

dls_results *measured_run(dls_world *world, const char *path, int steps, bool contacts) {
    dls_simulation *simulation;
    dls_results_writer *writer;
    dls_results *results;
    dls_simulation_options options = dls_default_simulation_options();
    dls_results_def def = small_run_def();
    options.step = 1e-3;
    def.contacts = contacts;
    OK(dls_simulation_create(world, &options, &simulation, error));
    OK(dls_results_create(path, world, &def, &writer, error));
    OK(dls_results_add_frame(writer, simulation, error));
    for (int k = 0; k < steps; k++) {
        dls_step_report report;
        memset(&report, 0, sizeof report);
        OK(dls_simulation_step(simulation, &report, error));
        OK(dls_results_add_step(writer, &report, error));
        OK(dls_results_add_frame(writer, simulation, error));
    }
    dls_run_summary summary = dls_simulation_summary(simulation);
    OK(dls_results_close(writer, &summary, error));
    dls_simulation_destroy(simulation);
    dls_world_destroy(world);
    OK(dls_results_open(path, &results, error));
    return results;
}

double measured_fact(const dls_analysis *analysis, const char *name, double *spread) {
    for (int k = 0; k < dls_analysis_fact_count(analysis); k++) {
        dls_analysis_fact f = dls_analysis_fact_at(analysis, k);
        if (strcmp(f.name, name)) continue;
        if (spread) *spread = f.spread;
        return f.value;
    }
    fail_msg("no fact '%s'", name);
    return 0;
}

double measured_last(const dls_analysis *analysis, const char *column) {
    dls_analysis_table t = dls_analysis_table_at(analysis, 0);
    assert_true(t.row_count > 0);
    for (int k = 0; k < t.column_count; k++)
        if (!strcmp(t.columns[k], column)) return t.values[(t.row_count - 1) * t.column_count + k];
    fail_msg("no column '%s'", column);
    return 0;
}

dls_analysis *measured_analysis(dls_results *results, const char *name, const dls_analysis_options *options) {
    dls_analysis *analysis;
    OK(dls_analysis_create(results, name, options, &analysis, error));
    return analysis;
}
