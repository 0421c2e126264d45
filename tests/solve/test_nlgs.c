/* Nonlinear Gauss–Seidel: every law, acceleration and order, against the judge and known solutions. */
#include "base/memory.h"
#include "solve/sweep/nlgs.h"
#include "support/sample.h"
#include "support/scale.h"
#include "support/scene.h"
#include "support/test.h"

#include <delassus/delassus.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const accelerations[] = {"auto", "anderson", "momentum", "plain"};
static const char *const orders[] = {"auto", "natural", "random", "coloured"};

static double *doubles(int count) { return calloc((size_t)count + 1, sizeof(double)); }

static dls_nlgs_options options_for(const char *law, double tolerance) {
    dls_nlgs_options options = dls_default_nlgs_options();
    snprintf(options.law, sizeof options.law, "%s", law);
    options.stop.tolerance = tolerance;
    options.stop.max_iterations = 50000;
    return options;
}

/* Solves from zero, and checks the certificate against a judgement of its own. */
static dls_solve_info solve(const dls_problem *p, const dls_nlgs_options *options, double *r, double *u) {
    dls_solve_info info;
    dls_error error;
    dls_measures judged;
    if (dls_solve_nlgs(p, options, r, u, NULL, &info, &error)) fail_msg("%s", error.message);
    assert_int_equal(dls_problem_measure(p, r, NULL, &judged, NULL), DLS_OK);
    assert_memory_equal(&info.measures, &judged, sizeof judged);
    assert_string_equal(info.solver, "nlgs");
    assert_string_equal(info.law, options->law);
    return info;
}

/* ---- every law × acceleration × order ---- */

static void check_product(const dls_problem *p, const char *name) {
    double *r = doubles(dls_problem_row_count(p));
    size_t bytes = sizeof(double) * (size_t)dls_problem_row_count(p);
    for (int law = 0; law < dls_law_count(); law++)
        for (int acceleration = 0; acceleration < 4; acceleration++)
            for (int order = 0; order < 4; order++) {
                dls_nlgs_options options = options_for(dls_law_at(law)->name, 1e-6);
                options.acceleration = (dls_acceleration)acceleration;
                options.order = (dls_order)order;
                memset(r, 0, bytes);
                dls_solve_info info = solve(p, &options, r, NULL);
                if (info.outcome != DLS_CONVERGED || !(info.measures.residual <= 1e-6) ||
                    info.stop_value != info.measures.residual || info.unsolved)
                    fail_msg("%s, %s, %s, %s: %s after %d sweeps, residual %g, %d unsolved", name,
                             options.law, accelerations[acceleration], orders[order],
                             dls_outcome_name(info.outcome), info.iterations, info.measures.residual,
                             info.unsolved);
            }
    free(r);
}

static void generated_problems(void **state) {
    (void)state;
    static const struct {
        const char *name;
        dls_generator kind;
        int size, least;
        double mu;
    } cases[] = {{"packing", DLS_GENERATE_PACKING, 100, 20, 0.3},
                 {"frictionless packing", DLS_GENERATE_PACKING, 20, 20, 0},
                 {"rough packing", DLS_GENERATE_PACKING, 20, 20, 1.2},
                 {"stack", DLS_GENERATE_STACK, 72, 32, 0.5},
                 {"discs", DLS_GENERATE_DISCS, 60, 20, 0.3}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        int size = scaled(cases[k].size, cases[k].least);
        dls_problem *p = generated(cases[k].kind, size, cases[k].mu, k % 2);
        check_product(p, cases[k].name);
        dls_problem_destroy(p);
    }
}

/* Contacts of 2, 3 and 4 rows and bilateral blocks of 1 … 6 rows side by side. */
static void mixed_problems(void **state) {
    (void)state;
    dls_random g = {31};
    for (int dimension = 0; dimension <= 4; dimension += 2) {
        sample_shape shape = {.blocks = 28,
                              .bodies = 28,
                              .dof = 6,
                              .dimension = dimension,
                              .bilateral_every = dimension == 4 ? 0 : 4,
                              .mu_low = 0.1,
                              .mu_high = 0.8,
                              .coupling = 0.3};
        sample s = sample_create(&g, &shape);
        for (int form = 0; form < 2; form++) {
            dls_problem *p = form ? sample_matrix_free(&s) : sample_stored(&s);
            check_product(p, dimension ? "blocks of one size" : "mixed blocks");
            dls_problem_destroy(p);
        }
        sample_free(&s);
    }
}

/* Nothing but bilateral blocks is a linear system: compare with its solution. */
static void bilateral_problems_are_linear(void **state) {
    (void)state;
    dls_random g = {32};
    sample_shape shape = {.blocks = 12, .bodies = 14, .dof = 6, .bilateral_every = 1, .coupling = 0.3};
    sample s = sample_create(&g, &shape);
    dls_problem *p = sample_stored(&s);
    double *r = doubles(s.rows), *u = doubles(s.rows);
    dls_nlgs_options options = options_for("exact", 1e-13);
    dls_solve_info info = solve(p, &options, r, u);
    assert_int_equal(info.outcome, DLS_CONVERGED);
    for (int i = 0; i < s.rows; i++) assert_true(fabs(u[i]) < 1e-12);
    free(r), free(u);
    dls_problem_destroy(p);
    sample_free(&s);
}

/* A bilateral block with the same row twice, up to rounding: impulses are shared, velocities vanish. */
static void redundant_bilateral_rows(void **state) {
    (void)state;
    dls_random g = {33};
    for (int round = 0; round < 20; round++) {
        sample_shape shape = {
            .blocks = 12, .bodies = 14, .dof = 6, .bilateral_every = 2, .mu_high = 0.5, .coupling = 0.4};
        sample s = sample_create(&g, &shape);
        double factor = dls_random_between(&g, 0.1, 3), *H = s.H;
        for (int c = 0, row = 0; c < s.def.block_count; row += s.size[c], H += 12 * s.size[c], c++) {
            int d = s.size[c];
            if (s.kind[c] != DLS_INTERVAL || d < 2) continue;
            for (int k = 0; k < 12; k++) H[d - 1 + d * k] = factor * H[d * k]; /* last row = factor · first */
            s.b[row + d - 1] = factor * s.b[row];
        }
        sample_update(&s);
        for (int form = 0; form < 2; form++) {
            dls_problem *p = form ? sample_matrix_free(&s) : sample_stored(&s);
            double *r = doubles(s.rows);
            dls_nlgs_options options = options_for("exact", 1e-9);
            dls_solve_info info = solve(p, &options, r, NULL);
            if (info.outcome) fail_msg("%s at %g", dls_outcome_name(info.outcome), info.measures.residual);
            free(r);
            dls_problem_destroy(p);
        }
        sample_free(&s);
    }
}

/* ---- known solutions ---- */

static dls_problem *single_contact(int d, const double *diagonal, double mu, const double *b) {
    double W[16] = {0};
    for (int i = 0; i < d; i++) W[i + d * i] = diagonal[i];
    dls_problem_def def = {.block_count = 1, .dimension = d, .mu = &mu, .b = b};
    return dense_problem(&def, d, W);
}

/* A sliding sphere on a plane, first step, as paper 001 has it. */
static void sphere_on_a_plane(void **state) {
    (void)state;
    const double diagonal[2] = {1, 3.5}, b[2] = {-0.0981, 2};
    dls_problem *p = single_contact(2, diagonal, 0.2, b);
    for (int law = 0; law < dls_law_count(); law++) {
        double r[2] = {0, 0}, u[2];
        dls_nlgs_options options = options_for(dls_law_at(law)->name, 1e-13);
        dls_solve_info info = solve(p, &options, r, u);
        assert_int_equal(info.outcome, DLS_CONVERGED);
        assert_true(fabs(r[0] - 0.0981) < 1e-12 && fabs(r[1] + 0.01962) < 1e-12);
        assert_true(fabs(u[0]) < 1e-12 && fabs(u[1] - (2 - 3.5 * 0.01962)) < 1e-12);
    }
    dls_problem_destroy(p);
}

/* One contact in each state, in 2, 3 and 4 rows, from W = diag(2, 3, …). */
static void one_contact_in_each_state(void **state) {
    (void)state;
    for (int d = 2; d <= 4; d++)
        for (int law = 0; law < dls_law_count(); law++) {
            const double diagonal[4] = {2, 3, 3, 3}, open[4] = {1, 5, -3, 2}, stick[4] = {-2, 0.3, 0.3, 0.3};
            const double *velocities[2] = {open, stick};
            dls_nlgs_options options = options_for(dls_law_at(law)->name, 1e-13);
            for (int k = 0; k < 2; k++) {
                dls_problem *p = single_contact(d, diagonal, 0.5, velocities[k]);
                double r[4] = {0};
                assert_int_equal(solve(p, &options, r, NULL).outcome, DLS_CONVERGED);
                for (int i = 0; i < d; i++)
                    assert_true(fabs(r[i] + (k ? stick[i] / diagonal[i] : 0)) < 1e-12);
                dls_problem_destroy(p);
            }
            double slip[4] = {-2, 4, 0, 0}, r[4] = {0}; /* r_n = 1, |r_t| = 0.5 against the velocity */
            if (d > 2) slip[1] = 2.4, slip[2] = 3.2;
            dls_problem *p = single_contact(d, diagonal, 0.5, slip);
            assert_int_equal(solve(p, &options, r, NULL).outcome, DLS_CONVERGED);
            assert_true(fabs(r[0] - 1) < 1e-12);
            for (int i = 1; i < d; i++) assert_true(fabs(r[i] + 0.5 * slip[i] / 4) < 1e-11);
            dls_problem_destroy(p);
        }
}

/* A box on four feet on a slope of angle α: it sticks iff tan α ≤ μ, else a = g (sin α − μ cos α). */
static void box_on_an_incline(void **state) {
    (void)state;
    const double g = 9.81, h = 1e-3, degree = 3.14159265358979323846 / 180, zero[3] = {0, 0, 0};
    static const struct {
        double mu, angle, acceleration;
    } cases[] = {
        {0.3, 20, 0.5897022231}, {0.8, 45, 1.3873435047}, {0.4, 20, 0}, {0.8, 38, 0}, {0, 30, 9.81 / 2}};
    const double up[3] = {0, 0, 1};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double a = cases[k].angle * degree, v[3] = {g * sin(a) * h, 0, -g * cos(a) * h};
        scene *s = scene_create(1, 4);
        scene_body(s, zero, 3, 0.05, v);
        for (int foot = 0; foot < 4; foot++) {
            double point[3] = {foot & 1 ? 0.2 : -0.2, foot & 2 ? 0.1 : -0.1, -0.05};
            scene_contact(s, -1, 0, point, up, cases[k].mu);
        }
        dls_problem *p = scene_problem(s, k % 2);
        for (int law = 0; law < dls_law_count(); law++) {
            double r[12] = {0}, u[12], push = 0;
            dls_nlgs_options options = options_for(dls_law_at(law)->name, 1e-11);
            assert_int_equal(solve(p, &options, r, u).outcome, DLS_CONVERGED);
            for (int foot = 0; foot < 4; foot++) {
                assert_true(fabs(u[3 * foot]) < 1e-12 && fabs(u[3 * foot + 2]) < 1e-12);
                assert_true(fabs(u[3 * foot + 1] - cases[k].acceleration * h) < 1e-11);
                push += r[3 * foot];
            }
            assert_true(fabs(push - 3 * g * cos(a) * h) < 1e-11);
        }
        dls_problem_destroy(p);
        scene_free(s);
    }
}

static void check_laws_agree(const dls_problem *p) {
    int n = dls_problem_row_count(p);
    double *u = doubles(n), *first = doubles(n), size = 0;
    for (int i = 0; i < n; i++) size = fmax(size, fabs(dls_problem_b(p)[i]));
    for (int law = 0; law < dls_law_count(); law++) {
        double *r = doubles(n);
        dls_nlgs_options options = options_for(dls_law_at(law)->name, 1e-9);
        assert_int_equal(solve(p, &options, r, law ? u : first).outcome, DLS_CONVERGED);
        for (int i = 0; law && i < n; i++)
            if (!(fabs(u[i] - first[i]) < 1e-5 * size))
                fail_msg("%s: u[%d] = %g, expected %g", options.law, i, u[i], first[i]);
        free(r);
    }
    free(u), free(first);
}

/* Impulses of a hyperstatic packing are not unique. Velocities are where there is no friction, or little of
 * it and W is regular: all laws find them. */
static void laws_agree_in_velocity(void **state) {
    (void)state;
    const dls_generator kinds[] = {DLS_GENERATE_PACKING, DLS_GENERATE_STACK, DLS_GENERATE_DISCS};
    for (int k = 0; k < 3; k++) {
        dls_problem *p = generated(kinds[k], 50, 0, false);
        check_laws_agree(p);
        dls_problem_destroy(p);
    }
    dls_random g = {35};
    sample_shape shape = {.blocks = 25,
                          .bodies = 25,
                          .dof = 6,
                          .bilateral_every = 5,
                          .mu_low = 0.1,
                          .mu_high = 0.5,
                          .coupling = 0.2};
    for (int k = 0; k < 4; k++) {
        sample s = sample_create(&g, &shape);
        dls_problem *p = sample_stored(&s);
        check_laws_agree(p);
        dls_problem_destroy(p);
        sample_free(&s);
    }
}

/* Both operators see the same impulses sweep by sweep, also where acceleration takes a step back. */
static void operators_agree_sweep_by_sweep(void **state) {
    (void)state;
    const dls_generator kinds[] = {DLS_GENERATE_PACKING, DLS_GENERATE_STACK, DLS_GENERATE_DISCS};
    int restarts = 0;
    for (int k = 0; k < 9; k++)
        for (int acceleration = DLS_ANDERSON; acceleration <= DLS_PLAIN; acceleration++) {
            double *r[2], largest = 0;
            int n = 0;
            for (int form = 0; form < 2; form++) {
                dls_generate_def def = {kinds[k % 3], 100, 0.3, (uint64_t)(k / 3), form, 0, 0};
                dls_problem *p;
                assert_int_equal(dls_problem_generate(&def, &p, NULL), DLS_OK);
                n = dls_problem_row_count(p);
                r[form] = doubles(n);
                dls_nlgs_options options = options_for("exact", 0);
                options.acceleration = (dls_acceleration)acceleration;
                options.stop.max_iterations = 60;
                options.stop.measure = DLS_STOP_INCREMENT;
                dls_solve_info info = solve(p, &options, r[form], NULL);
                if (acceleration == DLS_ANDERSON) restarts += info.restarts;
                dls_problem_destroy(p);
            }
            for (int i = 0; i < n; i++) largest = fmax(largest, fabs(r[0][i]));
            for (int i = 0; i < n; i++) assert_true(fabs(r[0][i] - r[1][i]) < 1e-7 * largest);
            free(r[0]), free(r[1]);
        }
    assert_true(restarts > 0);
}

/* ---- starts, relaxation, direction ---- */

static void warm_start_converges_at_once(void **state) {
    (void)state;
    for (int form = 0; form < 2; form++) {
        dls_problem *p = generated(DLS_GENERATE_PACKING, 100, 0.3, form);
        int n = dls_problem_row_count(p);
        double *r = doubles(n);
        dls_nlgs_options options = options_for("exact", 1e-7);
        dls_solve_info cold = solve(p, &options, r, NULL);
        uint64_t hash = bits_hash(r, n);
        dls_solve_info warm = solve(p, &options, r, NULL);
        assert_int_equal(warm.outcome, DLS_CONVERGED);
        assert_int_equal(warm.iterations, 0);
        assert_true(bits_hash(r, n) == hash);
        for (int i = 0; i < n; i++) r[i] *= 1.001; /* nearby */
        dls_solve_info near = solve(p, &options, r, NULL);
        assert_int_equal(near.outcome, DLS_CONVERGED);
        assert_true(near.iterations < cold.iterations);
        free(r);
        dls_problem_destroy(p);
    }
}

/* Any finite start will do, also outside the cones. */
static void wild_starts(void **state) {
    (void)state;
    dls_random g = {34};
    dls_problem *p = generated(DLS_GENERATE_DISCS, 60, 0.3, false);
    int n = dls_problem_row_count(p);
    double *r = doubles(n);
    for (int round = 0; round < 12; round++) {
        dls_nlgs_options options = options_for("exact", 1e-7);
        options.acceleration = (dls_acceleration)(round % 4);
        for (int i = 0; i < n; i++) r[i] = pow(10, round % 3 - 2) * dls_random_normal(&g);
        assert_int_equal(solve(p, &options, r, NULL).outcome, DLS_CONVERGED);
    }
    free(r);
    dls_problem_destroy(p);
}

static void relaxed_and_alternating_sweeps(void **state) {
    (void)state;
    const double relaxations[] = {0.3, 0.7, 1, 1.2, 1.5};
    for (int form = 0; form < 2; form++) {
        dls_problem *p = generated(DLS_GENERATE_STACK, 50, 0.5, form);
        double *r = doubles(dls_problem_row_count(p));
        for (int k = 0; k < 5; k++)
            for (int alternate = 0; alternate < 2; alternate++)
                for (int acceleration = 1; acceleration < 4; acceleration++) {
                    dls_nlgs_options options = options_for("exact", 1e-8);
                    options.relaxation = relaxations[k];
                    options.alternate = alternate;
                    options.acceleration = (dls_acceleration)acceleration;
                    memset(r, 0, sizeof(double) * (size_t)dls_problem_row_count(p));
                    dls_solve_info info = solve(p, &options, r, NULL);
                    if (info.outcome)
                        fail_msg("ω = %g, %s: %s", relaxations[k], accelerations[acceleration],
                                 dls_outcome_name(info.outcome));
                }
        free(r);
        dls_problem_destroy(p);
    }
}

/* ω scales the step of one plain sweep on one contact. */
static void relaxation_scales_the_step(void **state) {
    (void)state;
    const double diagonal[3] = {2, 2, 2}, b[3] = {-2, 0.4, 0};
    dls_problem *p = single_contact(3, diagonal, 0.5, b);
    for (double omega = 0.25; omega < 2; omega += 0.25) {
        double r[3] = {0};
        dls_nlgs_options options = options_for("exact", 0);
        options.relaxation = omega;
        options.acceleration = DLS_PLAIN;
        options.stop.max_iterations = 1;
        options.stop.measure = DLS_STOP_INCREMENT;
        dls_solve_info info = solve(p, &options, r, NULL);
        assert_true(fabs(r[0] - omega) < 1e-15 && fabs(r[1] + 0.2 * omega) < 1e-15);
        assert_true(fabs(info.stop_value - 1.2 * omega) < 1e-14);
    }
    dls_problem_destroy(p);
}

/* ---- acceleration ---- */

static dls_nlgs_options anderson_options(void) {
    dls_nlgs_options options = options_for("exact", 1e-8);
    options.acceleration = DLS_ANDERSON;
    options.adapt = false;
    options.stall_sweeps = 0;
    options.stop.max_iterations = 1500;
    return options;
}

/* An extrapolation after which sweeps change more than before is taken back: on goes the image before it,
 * plainly, as if sweeps began there. */
static void anderson_takes_back_what_made_worse(void **state) {
    (void)state;
    dls_problem *p = generated(DLS_GENERATE_DISCS, 20, 0.5, false);
    int n = dls_problem_row_count(p), taken_back = 0;
    size_t bytes = sizeof(double) * (size_t)n;
    dls_nlgs_options options = anderson_options();
    dls_workspace *w = dls_workspace_create();
    double *r = doubles(n), *image = doubles(n), *plain = doubles(n);
    dls_monitor monitor;
    dls_nlgs x, y;
    assert_true(dls_monitor_prepare(&monitor, p, &options.stop, w));
    assert_int_equal(dls_nlgs_prepare(&x, p, &options, &monitor, r, w, NULL), DLS_OK);
    for (int sweep = 1; sweep < 60; sweep++) {
        int restarts = x.restarts;
        memcpy(image, x.g, bytes);
        assert_int_equal(dls_nlgs_advance(&x, r, sweep), DLS_ITERATION_LIMIT);
        if (x.restarts == restarts) continue;
        taken_back++;
        assert_memory_equal(r, image, bytes);
        dls_workspace_mark mark = dls_workspace_get_mark(w);
        memcpy(plain, r, bytes);
        assert_int_equal(dls_nlgs_prepare(&y, p, &options, &monitor, plain, w, NULL), DLS_OK);
        dls_nlgs_advance(&y, plain, 1);
        assert_int_equal(dls_nlgs_advance(&x, r, ++sweep), DLS_ITERATION_LIMIT);
        assert_memory_equal(x.g, y.g, bytes);
        dls_workspace_release(w, mark);
    }
    assert_true(taken_back > 3);
    dls_workspace_destroy(w);
    free(r);
    free(image);
    free(plain);
    dls_problem_destroy(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated_problems),
        cmocka_unit_test(mixed_problems),
        cmocka_unit_test(bilateral_problems_are_linear),
        cmocka_unit_test(redundant_bilateral_rows),
        cmocka_unit_test(sphere_on_a_plane),
        cmocka_unit_test(one_contact_in_each_state),
        cmocka_unit_test(box_on_an_incline),
        cmocka_unit_test(laws_agree_in_velocity),
        cmocka_unit_test(operators_agree_sweep_by_sweep),
        cmocka_unit_test(warm_start_converges_at_once),
        cmocka_unit_test(wild_starts),
        cmocka_unit_test(relaxed_and_alternating_sweeps),
        cmocka_unit_test(relaxation_scales_the_step),
        cmocka_unit_test(anderson_takes_back_what_made_worse),
    };
    return cmocka_run_group_tests_name("nlgs", tests, NULL, NULL);
}
