/* Every law on every problem, against recorded outcomes (product.txt beside this file).
 *
 * A pair that converged must still converge, in at most twice the recorded sweeps. To record anew, run this
 * program with DLS_PRODUCT_RECORD=new; with DLS_PRODUCT_RECORD=worse it keeps the worse of the old and the
 * present outcome, so that one table serves several compilers. Read the difference before committing it. */
#include "support/fclib_files.h"
#include "support/sample.h"
#include "support/scale.h"
#include "support/test.h"

#include <delassus/delassus.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE DLS_SOURCE_DIR "/tests/solve/product.txt"

enum {
    SWEEPS = 20000,
    WORK = 40000000, /* blocks of W visited: large problems get fewer sweeps */
    ENTRIES = 1000,
    SLACK = 20 /* sweeps that a count may grow by whatever it was */
};

static const double tolerances[] = {1e-4, 1e-6};

typedef struct entry {
    char problem[64], law[32];
    double tolerance;
    char outcome[32];
    int sweeps;
} entry;

static entry recorded[ENTRIES], found[ENTRIES];
static int recorded_count, found_count;

/* ---- the table ---- */

static int read_table(void **state) {
    (void)state;
    char line[256];
    FILE *file = fopen(TABLE, "r");
    while (file && fgets(line, sizeof line, file) && recorded_count < ENTRIES) {
        entry *e = &recorded[recorded_count];
        recorded_count += sscanf(line, "%63s %31s %lf %31s %d", e->problem, e->law, &e->tolerance, e->outcome,
                                 &e->sweeps) == 5;
    }
    if (file) fclose(file);
    return 0;
}

static const entry *find_recorded(const entry *like) {
    for (int i = 0; i < recorded_count; i++)
        if (!strcmp(recorded[i].problem, like->problem) && !strcmp(recorded[i].law, like->law) &&
            recorded[i].tolerance == like->tolerance)
            return &recorded[i];
    return NULL;
}

static bool converged(const entry *e) { return !strcmp(e->outcome, "converged"); }

static int write_table(void **state) {
    (void)state;
    const char *how = getenv("DLS_PRODUCT_RECORD");
    if (!how) return 0;
    FILE *file = fopen(TABLE, "w");
    if (!file) return -1;
    fprintf(file, "# problem law tolerance outcome sweeps; see test_product.c\n");
    for (int i = 0; i < found_count; i++) {
        const entry *now = &found[i], *old = strcmp(how, "worse") ? NULL : find_recorded(now);
        if (old && converged(now) && (!converged(old) || old->sweeps > now->sweeps)) now = old;
        fprintf(file, "%s %s %g %s %d\n", now->problem, now->law, now->tolerance, now->outcome, now->sweeps);
    }
    return fclose(file);
}

/* ---- one pair ---- */

static entry solve_pair(const char *name, const dls_problem *p, const char *law, double tolerance) {
    entry e = {.tolerance = tolerance};
    dls_nlgs_options options = dls_default_nlgs_options();
    dls_solve_info info;
    dls_error error;
    double *r = calloc((size_t)dls_problem_row_count(p) + 1, sizeof(double));
    int64_t blocks = dls_problem_stored_blocks(p) + 20 * dls_problem_block_count(p), limit = WORK / blocks;
    snprintf(options.law, sizeof options.law, "%s", law);
    options.stop.tolerance = tolerance;
    options.stop.max_iterations = limit < SWEEPS ? (int)limit : SWEEPS;
    if (dls_solve_nlgs(p, &options, r, NULL, NULL, &info, &error)) fail_msg("%s: %s", name, error.message);
    free(r);
    assert_true((info.outcome == DLS_CONVERGED) == (info.measures.residual <= tolerance));
    snprintf(e.problem, sizeof e.problem, "%s", name);
    snprintf(e.law, sizeof e.law, "%s", law);
    snprintf(e.outcome, sizeof e.outcome, "%s", dls_outcome_name(info.outcome));
    for (char *at = e.outcome; *at; at++) *at = *at == ' ' ? '-' : *at;
    e.sweeps = info.iterations;
    return e;
}

/* Counts the pairs that have become worse, and names them. */
static int check_problem(const char *name, const dls_problem *p) {
    int worse = 0;
    for (int law = 0; law < dls_law_count(); law++)
        for (int k = 0; k < 2; k++) {
            assert_true(found_count < ENTRIES);
            entry *now = &found[found_count++];
            *now = solve_pair(name, p, dls_law_at(law)->name, tolerances[k]);
            if (getenv("DLS_PRODUCT_RECORD")) continue;
            const entry *old = find_recorded(now);
            bool bad = !old || (converged(old) && (!converged(now) || now->sweeps > 2 * old->sweeps + SLACK));
            if (!bad) continue;
            worse++;
            print_message("%s, %s to %g: %s after %d sweeps, recorded %s after %d\n", name, now->law,
                          now->tolerance, now->outcome, now->sweeps, old ? old->outcome : "nothing",
                          old ? old->sweeps : 0);
        }
    return worse;
}

/* ---- problems ---- */

static void generated_problems(void **state) {
    (void)state;
    static const struct {
        const char *name;
        dls_generator kind;
        int size;
        double mu;
    } cases[] = {{"generated:packing", DLS_GENERATE_PACKING, 100, 0.3},
                 {"generated:packing-rough", DLS_GENERATE_PACKING, 100, 0.9},
                 {"generated:packing-smooth", DLS_GENERATE_PACKING, 100, 0},
                 {"generated:stack", DLS_GENERATE_STACK, 150, 0.5},
                 {"generated:discs", DLS_GENERATE_DISCS, 150, 0.3}};
    int worse = 0;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dls_problem *p = generated(cases[k].kind, cases[k].size, cases[k].mu, false);
        worse += check_problem(cases[k].name, p);
        dls_problem_destroy(p);
    }
    assert_int_equal(worse, 0);
}

static int is_problem(const struct dirent *file) { return strstr(file->d_name, ".hdf5") != NULL; }

static int check_file(const char *folder, const char *name) {
    char path[2048], title[64];
    dls_fclib *file;
    dls_error error;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (dls_fclib_read(path, &file, &error)) fail_msg("%s", error.message);
    const dls_problem *p = dls_fclib_problem(file);
    snprintf(title, sizeof title, "%.*s", (int)strcspn(name, "."), name);
    /* under a sanitizer only the small ones */
    int worse = test_scale() < 1 && dls_problem_block_count(p) > 60 ? 0 : check_problem(title, p);
    dls_fclib_destroy(file);
    return worse;
}

static void shared_problems(void **state) {
    (void)state;
    char folder[1100];
    const char *shared = shared_folder();
    struct dirent **files;
    int worse = 0, count = -1;
    if (shared) {
        snprintf(folder, sizeof folder, "%s/data/fclib", shared);
        count = scandir(folder, &files, is_problem, alphasort);
    }
    if (count < 0) {
        print_message("no shared problems here\n");
        skip();
    }
    for (int i = 0; i < count; i++) {
        worse += check_file(folder, files[i]->d_name);
        free(files[i]);
    }
    free(files);
    assert_int_equal(worse, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated_problems),
        cmocka_unit_test(shared_problems),
    };
    return cmocka_run_group_tests_name("product", tests, read_table, write_table);
}
