/* A scene stepped from C with the solver and the options that it states; without a file, one of our own.
 *
 *     cc run_a_scene.c $(pkg-config --cflags --libs delassus) && ./a.out [SCENE [key=value]…]
 */
#include <delassus/delassus.h>

#include <stdio.h>
#include <string.h>

static const char own[] = "delassus: 1\n"
                          "dimension: 2\n"
                          "bodies:\n"
                          "  - {motion: static, rotation: 15*deg, shape: {kind: half-plane}}\n"
                          "  - {name: disc, position: [0, 0.11], shape: {kind: disc, radius: 0.1}}\n"
                          "time: {step: 1e-3, until: 0.5}\n"
                          "solver: {name: nlgs, law: ebp, tolerance: 1e-9}\n";

static dls_status step_to_its_end(dls_scene *scene, dls_error *error) {
    dls_simulation *simulation = NULL;
    dls_step_report report = {0};
    double until = dls_scene_run_options(scene)->until, h = dls_scene_simulation_options(scene)->step;
    dls_status status = dls_scene_simulation_create(scene, &simulation, error);
    while (!status && dls_simulation_time(simulation) < until - h / 2)
        status = dls_simulation_step(simulation, &report, error);
    if (!status) {
        dls_run_summary sum = dls_simulation_summary(simulation);
        printf("t = %.2f s by %s to %g: %s of %lld steps certified\n", report.t,
               dls_scene_solver(scene)->name,
               ((const dls_stop_options *)dls_scene_solver_options(scene))->tolerance,
               sum.certified == sum.steps ? "all" : "not all", (long long)sum.steps);
    }
    dls_simulation_destroy(simulation);
    return status;
}

int main(int argc, char **argv) {
    dls_error error;
    dls_scene *scene = NULL;
    dls_status status =
        argc > 1 ? dls_scene_read(argv[1], argc - 2, (const char *const *)(argv + 2), &scene, &error)
                 : dls_scene_read_text(own, strlen(own), "own", ".", 0, NULL, &scene, &error);
    if (!status) status = step_to_its_end(scene, &error);
    if (status) fprintf(stderr, "%s\n", error.message);
    dls_scene_destroy(scene);
    return status != DLS_OK;
}
