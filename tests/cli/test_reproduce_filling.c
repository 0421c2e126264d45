/* Fillings of paper 001: what is read from a history, the force on the container against the motion of the
 * mass centre, and the experiments themselves with a few spheres. */
#include "experiments/melanz/filling.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const double g = 9.81;

/* ---- histories ---- */

enum { STEPS = 100 };

static case_history make_history(const double *force, double step) {
    case_history h = {.finished = true, .steps = STEPS, .columns = CASE_COLUMNS + FILLING_COLUMNS};
    h.values = calloc((size_t)(STEPS * h.columns), sizeof *h.values);
    assert_non_null(h.values);
    for (int k = 0; k < STEPS; k++) {
        h.values[k * h.columns + CASE_T] = step * (k + 1);
        h.values[k * h.columns + FILLING_FORCE] = force[k];
    }
    return h;
}

/* Steps are as long as the window of the mean: it is the force itself. */
static void the_force_has_settled_when_it_no_longer_leaves_the_band(void **state) {
    (void)state;
    double force[STEPS];
    for (int k = 0; k < STEPS; k++) force[k] = k % 2 ? 104 : 96;
    force[10] = 106;
    force[40] = 94;
    case_history h = make_history(force, 0.1);
    assert_true(fabs(filling_settled(&h, 100) - 4.1) < 1e-12);
    h.values[40 * h.columns + FILLING_FORCE] = 95.5;
    assert_true(fabs(filling_settled(&h, 100) - 1.1) < 1e-12);
    h.values[(STEPS - 1) * h.columns + FILLING_FORCE] = 0;
    assert_true(filling_settled(&h, 100) == (double)INFINITY);
    case_history_free(&h);
}

/* One impact of 20 N s is 20 per cent in each mean that it is in, whatever the step. */
static void an_impact_counts_by_its_impulse(void **state) {
    (void)state;
    double force[STEPS];
    for (int k = 0; k < STEPS; k++) force[k] = 1000;
    force[20] += 20 / 0.01;
    case_history h = make_history(force, 0.01);
    assert_true(fabs(filling_settled(&h, 1000) - 0.30) < 1e-12);
    h.values[20 * h.columns + FILLING_FORCE] = 1000 + 4 / 0.01;
    assert_true(filling_settled(&h, 1000) == 0);
    case_history_free(&h);
}

static void noise_is_measured_at_the_end_and_not_by_impacts(void **state) {
    (void)state;
    double force[STEPS];
    for (int k = 0; k < STEPS; k++) force[k] = k < 90 ? 200 : k % 2 ? 103 : 97;
    force[95] = 1e6;
    case_history h = make_history(force, 0.1);
    assert_true(fabs(filling_noise(&h, 100, 0.95) - 0.03) < 1e-12);
    assert_true(fabs(filling_noise(&h, 100, 5) - 1) < 1e-12);
    assert_true(fabs(filling_end(&h) - 10) < 1e-12);
    case_history_free(&h);
}

/* ---- the force ---- */

/* The mass centre moves by h v⁺ in a step and only the container and gravity act on all: with
 * v_k = (E_k − E_{k−1})/(h weight), E potential, it is M (v_k − v_{k−1})/h = force − weight. */
static void check_force(const filling_runs *runs, const case_history *h, double step) {
    double before = NAN, worst = 0;
    for (int k = 1; k < h->steps; k++) {
        double climbed = case_value(h, k, CASE_POTENTIAL) - case_value(h, k - 1, CASE_POTENTIAL);
        double v = climbed / (step * runs->weight);
        double force = runs->weight * (1 + (v - before) / (g * step));
        if (k > 1) worst = fmax(worst, fabs(force - case_value(h, k, FILLING_FORCE)));
        before = v;
    }
    assert_true(h->steps > 10 && worst < 1e-8 * runs->weight);
}

static void the_force_is_what_moves_the_mass_centre(void **state) {
    (void)state;
    experiment_run run = {.experiment = &experiment_filling, .size = SIZE_REDUCED};
    filling_runs filling = filling_begin("001-3.2", (filling_size){2, 1, 3}, false, 2);
    filling.until = 1;
    for (filling_method m = 0; m < FILLING_METHODS; m++) {
        assert_true(filling_run(&run, &filling, m));
        assert_int_equal(filling.history[m].steps, 100);
        check_force(&filling, &filling.history[m], 0.01);
    }
    assert_true(filling.weight == 6 * g);
    filling_free(&filling);
    filling_runs pressed = filling_begin("001-3.3", (filling_size){2, 2, 2}, true, 1);
    pressed.until = 1;
    assert_true(filling_run(&run, &pressed, FILLING_DEFAULT));
    check_force(&pressed, &pressed.history[FILLING_DEFAULT], 0.001);
    assert_true(pressed.weight == (8 + 160) * g);
    const double mean = case_mean(&pressed.history[FILLING_DEFAULT], FILLING_FORCE, 0.9, 1);
    assert_true(fabs(mean - pressed.weight) < 0.1 * pressed.weight);
    filling_free(&pressed);
    experiment_run_free(&run);
}

/* ---- the experiments ---- */

static bool has_file(const experiment_run *run, const char *file) {
    char path[PATH_MAX];
    run_path(run, file, path);
    for (int i = 0; i < run->file_count; i++)
        if (strcmp(run->files[i], file) == 0) return access(path, R_OK) == 0;
    return false;
}

static experiment_run begin(const experiment *e, const char *folder) {
    experiment_run run = {.experiment = e, .size = SIZE_REDUCED};
    snprintf(run.folder, sizeof run.folder, "%s", folder);
    assert_int_equal(mkdir(folder, 0777), 0);
    return run;
}

static const claim *find_claim(const experiment_run *run, const char *words) {
    for (int i = 0; i < run->claims.count; i++)
        if (strstr(run->claims.items[i].text, words)) return &run->claims.items[i];
    fail_msg("no claim '%s'", words);
    return NULL;
}

static void a_small_container(void **state) {
    (void)state;
    const container_text text = {.scene = "001-3.2",
                                 .name = "filling",
                                 .reduced = {2, 1, 4},
                                 .seeds = 4,
                                 .until = 3,
                                 .figure = 7,
                                 .shot_interval = 1};
    experiment_run run = begin(&experiment_filling, "container");
    assert_true(container_run(&run, &text));
    assert_int_equal(run.claims.count, 3 + 1 + 2 * 3);
    for (filling_method m = 0; m < FILLING_METHODS; m++) {
        char words[64];
        snprintf(words, sizeof words, ", %s: force in the last", filling_names[m]);
        assert_int_equal(claim_judge(find_claim(&run, words)), VERDICT_PASS);
    }
    assert_int_equal(claim_judge(find_claim(&run, "over anti-relaxed: largest error")), VERDICT_PASS);
    assert_int_equal(claim_judge(find_claim(&run, "share of steps")), VERDICT_PASS);
    assert_true(has_file(&run, "cases.csv") && has_file(&run, "case-anti-relaxed-8-seed-2.csv"));
    assert_true(has_file(&run, "filling-8-force.svg") && has_file(&run, "filling-8-complementarity.png"));
    assert_true(has_file(&run, "figure_07_8_spheres-1.png") && has_file(&run, "figure_07_8_spheres-3.png"));
    assert_false(has_file(&run, "figure_07_8_spheres-4.png"));
    assert_int_not_equal(access("container/figure_07_8_spheres.h5", F_OK), 0);
    experiment_run_free(&run);
}

/* Seconds of processor time tell a run from another. */
static double run_drawn(const char *folder) {
    experiment_run run = {.experiment = &experiment_filling, .size = SIZE_FULL};
    snprintf(run.folder, sizeof run.folder, "%s", folder);
    filling_runs filling = filling_begin("001-3.2", (filling_size){2, 1, 2}, false, 1);
    filling.until = 0.2, filling.shot_interval = 0.1;
    snprintf(filling.picture, sizeof filling.picture, "drawn");
    assert_true(filling_run(&run, &filling, FILLING_DEFAULT));
    assert_true(has_file(&run, "drawn-1.png") && has_file(&run, "drawn-2.png"));
    const double seconds = case_sum(&filling.history[FILLING_DEFAULT], CASE_SECONDS, 0, 1);
    filling_free(&filling);
    experiment_run_free(&run);
    return seconds;
}

static void a_case_is_remembered_with_its_pictures(void **state) {
    (void)state;
    assert_int_equal(mkdir("pictures", 0777), 0);
    const double first = run_drawn("pictures");
    assert_true(run_drawn("pictures") == first);
    assert_int_equal(unlink("pictures/drawn-1.png"), 0);
    assert_true(run_drawn("pictures") != first);
}

static void a_small_scaling(void **state) {
    (void)state;
    const filling_size sizes[] = {{2, 1, 3}, {2, 1, 5}};
    experiment_run run = begin(&experiment_scaling, "scaling");
    assert_true(scaling_run(&run, sizes, 2));
    assert_int_equal(run.claims.count, 4 + 2 + 2 + 1 + 2);
    assert_int_equal(
        claim_judge(find_claim(&run, "10 spheres: largest error of (8), relaxed over anti-relaxed")),
        VERDICT_PASS);
    assert_true(has_file(&run, "growth.csv") && has_file(&run, "cases.csv"));
    assert_true(has_file(&run, "figure_11a.svg") && has_file(&run, "figure_11b.png"));
    experiment_run_free(&run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_force_has_settled_when_it_no_longer_leaves_the_band),
        cmocka_unit_test(an_impact_counts_by_its_impulse),
        cmocka_unit_test(noise_is_measured_at_the_end_and_not_by_impacts),
        cmocka_unit_test(the_force_is_what_moves_the_mass_centre),
        cmocka_unit_test(a_small_container),
        cmocka_unit_test(a_case_is_remembered_with_its_pictures),
        cmocka_unit_test(a_small_scaling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
