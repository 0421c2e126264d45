/* The global solvers on the shared problems: which pairs must converge, and that those that do not say so. */
#include "support/fclib_files.h"
#include "support/permute.h"
#include "support/scale.h"
#include "support/test.h"
#include "support/variant.h"

#include <delassus/delassus.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const solvers[] = {"auto", "newton", "newton+form=natural_map", "ipm", "apgd", "pqn"};
static const double tolerances[] = {1e-4, 1e-6, 1e-8};

enum {
    SOLVERS = sizeof solvers / sizeof *solvers,
    SMALL = 60,   /* contacts of problems that are solved under a sanitizer too */
    MIDDLE = 310, /* and of those that are tried in other orders */
    ORDERS = 3
};

/* Pairs that stall above the tolerance today; all others converge, and auto and ipm everywhere. */
static const struct {
    const char *problem, *solver;
    double tolerance; /* the first that is not reached */
} hard[] = {
    {"spheres-in-a-box", "newton", 1e-6},
    {"spheres-in-a-box", "newton+form=natural_map", 1e-6},
    {"spheres-in-a-box", "apgd", 1e-8},
    {"spheres-in-a-box", "pqn", 1e-6},
    {"Capsules-i122", "newton+form=natural_map", 1e-8},
    {"Capsules-i122", "apgd", 1e-8},
    {"Capsules-i122", "pqn", 1e-8},
    {"fc2d_granularflowonwall_02020", "apgd", 1e-8},
    {"fc2d_granularflowonwall_02020", "pqn", 1e-8},
};

static bool is_hard(const char *problem, const char *solver, double tolerance) {
    for (size_t k = 0; k < sizeof hard / sizeof *hard; k++)
        if (!strncmp(problem, hard[k].problem, strlen(hard[k].problem)) && !strcmp(solver, hard[k].solver))
            return tolerance <= hard[k].tolerance;
    return false;
}

/* ---- files ---- */

static int is_problem(const struct dirent *file) { return strstr(file->d_name, ".hdf5") != NULL; }

typedef int (*file_check)(const char *name, const dls_problem *p);

/* Runs a check on every file of a shared folder and adds up its complaints; −1 where there is no such folder.
 */
static int for_each_file(const char *folder_name, file_check check) {
    const char *shared = shared_folder();
    char folder[1100], path[1400];
    struct dirent **files;
    snprintf(folder, sizeof folder, "%s/data/%s", shared ? shared : "", folder_name);
    int count = shared ? scandir(folder, &files, is_problem, alphasort) : -1, complaints = 0;
    if (count <= 0) return -1;
    for (int i = 0; i < count; i++) {
        dls_fclib *file;
        dls_error error;
        snprintf(path, sizeof path, "%s/%s", folder, files[i]->d_name);
        if (dls_fclib_read(path, &file, &error)) fail_msg("%s", error.message);
        const dls_problem *p = dls_fclib_problem(file);
        if (test_scale() == 1 || dls_problem_block_count(p) <= SMALL)
            complaints += check(files[i]->d_name, p);
        dls_fclib_destroy(file);
        free(files[i]);
    }
    free(files);
    return complaints;
}

static void check_folder(const char *folder, file_check check) {
    int complaints = for_each_file(folder, check);
    if (complaints < 0) {
        print_message("no shared problems here\n");
        skip();
    }
    assert_int_equal(complaints, 0);
}

/* ---- checks ---- */

/* 1 where the pair should converge and does not, or where it says what is not so. */
static int check_pair(const char *name, const dls_problem *p, const char *solver, double tolerance) {
    double *r = calloc((size_t)dls_problem_row_count(p) + 1, sizeof(double));
    variant v = variant_from(solver);
    v.options.stop.tolerance = tolerance;
    v.options.stop.time_limit = 60;
    dls_solve_info info = variant_solve(&v, p, r, NULL);
    bool converged = info.outcome == DLS_CONVERGED, within = info.measures.residual <= tolerance;
    int complaints = converged != within || (!converged && !is_hard(name, solver, tolerance));
    if (complaints)
        print_message("%s, %s to %g: %s at %g after %d iterations\n", name, solver, tolerance,
                      dls_outcome_name(info.outcome), info.measures.residual, info.iterations);
    free(r);
    return complaints;
}

static int check_solvers(const char *name, const dls_problem *p) {
    int complaints = 0;
    for (int solver = 0; solver < SOLVERS; solver++)
        for (int k = 0; k < 3; k++) complaints += check_pair(name, p, solvers[solver], tolerances[k]);
    return complaints;
}

static int check_rolling(const char *name, const dls_problem *p) {
    static const char *const takers[] = {"auto",   "nlgs", "nlgs+law=eal", "nlgs+law=ebp",
                                         "newton", "ipm",  "apgd",         "pqn"};
    int complaints = !dls_problem_has_parts(p);
    for (size_t k = 0; k < sizeof takers / sizeof *takers; k++)
        complaints += check_pair(name, p, takers[k], 1e-8);
    return complaints;
}

static int check_auto(const char *name, const dls_problem *p) {
    int complaints = 0;
    for (int k = 0; k < 3; k++) complaints += check_pair(name, p, "auto", tolerances[k]);
    return complaints;
}

/* Luck with the order of contacts is no merit. */
static int check_orders(const char *name, const dls_problem *p) {
    dls_random g = {111};
    int complaints = 0;
    for (int order = 0; order < ORDERS && dls_problem_block_count(p) <= MIDDLE; order++) {
        int *place = random_places(&g, dls_problem_block_count(p));
        dls_problem *other = permuted_problem(p, place);
        complaints += check_auto(name, other);
        dls_problem_destroy(other);
        free(place);
    }
    return complaints;
}

static void all_solvers(void **state) {
    (void)state;
    check_folder("fclib", check_solvers);
}

static void auto_in_other_orders(void **state) {
    (void)state;
    check_folder("fclib", check_orders);
}

static void auto_on_original_files(void **state) {
    (void)state;
    check_folder("fclib-original", check_auto);
}

static void all_solvers_on_rolling_friction(void **state) {
    (void)state;
    check_folder("rolling", check_rolling);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_solvers),
        cmocka_unit_test(auto_in_other_orders),
        cmocka_unit_test(auto_on_original_files),
        cmocka_unit_test(all_solvers_on_rolling_friction),
    };
    return cmocka_run_group_tests_name("shared", tests, NULL, NULL);
}
