/* Projected quasi-Newton: its parameters, and how δ follows success and failure. */
#include "base/memory.h"
#include "solve/global/pqn.h"
#include "support/multibody.h"
#include "support/sample.h"
#include "support/test.h"
#include "support/variant.h"

#include <delassus/delassus.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct stepper {
    dls_pqn_options options;
    dls_workspace *workspace;
    dls_monitor monitor;
    dls_pqn pqn;
} stepper;

static void stepper_begin(stepper *x, const dls_problem *p, const char *text) {
    variant v = variant_from(text);
    memcpy(&x->options, &v.options, sizeof x->options);
    x->workspace = dls_workspace_create();
    assert_true(dls_monitor_prepare(&x->monitor, p, &x->options.stop, x->workspace));
    assert_true(dls_pqn_prepare(&x->pqn, p, &x->options, &x->monitor, x->workspace));
}

static void near(double value, double expected) {
    if (!(fabs(value - expected) <= 1e-14 * fabs(expected)))
        fail_msg("%.17g, expected %.17g", value, expected);
}

/* Two contacts with W_ii = 1, 2, 4, 5 and ‖b‖ = 5. */
static dls_problem *uneven_pair(void) {
    const double W[16] = {2, 0, 0.5, 0, 0, 1, 0, 0, 0.5, 0, 5, 0, 0, 0, 0, 4}, b[4] = {-3, 0, -4, 0};
    const double mu[2] = {0.5, 0.2};
    dls_problem_def def = {.block_count = 2, .dimension = 2, .mu = mu, .b = b};
    return dense_problem(&def, 4, W);
}

/* ρ = 1/mean W_ii; δ as it is, or times ρ and the least, mean or largest W_ii; ω in parts of ‖b‖/√contacts.
 */
static void parameters_follow_the_problem(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double rho, delta, omega;
    } rows[] = {{"pqn+delta=0.1", 1.0 / 3, 0.1, 1e-11 * 5 / M_SQRT2},
                {"pqn+delta=0.1+omega=1e-3+shift=min", 1.0 / 3, 0.1 / 3, 1e-3 * 5 / M_SQRT2},
                {"pqn+delta=0.1+omega=0+shift=average", 1.0 / 3, 0.1, 0},
                {"pqn+delta=0.1+omega=0+shift=max", 1.0 / 3, 0.5 / 3, 0},
                {"pqn+delta=0.1+omega=0+shift=max+rho=2", 2, 1, 0}};
    dls_problem *p = uneven_pair();
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        stepper x;
        stepper_begin(&x, p, rows[k].text);
        near(x.pqn.rho, rows[k].rho);
        near(x.pqn.delta, rows[k].delta);
        near(x.pqn.first_delta, rows[k].delta);
        near(x.pqn.omega, rows[k].omega);
        dls_workspace_destroy(x.workspace);
    }
    dls_problem_destroy(p);
}

/* One step of 000 from r = 0 where all sticks and GMRES solves to the end: (ρW + δ) Δ = ρb, r = −Δ. */
static void delta_stands_in_the_system(void **state) {
    (void)state;
    const double W[4] = {2, 0, 0, 1}, b[2] = {-3, 0}, mu = 2;
    dls_problem_def def = {.block_count = 1, .dimension = 2, .mu = &mu, .b = b};
    dls_problem *p = dense_problem(&def, 2, W);
    double r[2] = {0};
    variant v = variant_from("pqn+globalization=paper+fallback=false+gmres_tolerance=1e-14+delta=0.5+rho=2");
    v.options.stop.max_iterations = 1;
    dls_solve_info info = variant_solve(&v, p, r, NULL);
    assert_int_equal(info.iterations, 1);
    if (!(fabs(r[0] - 6 / 4.5) < 1e-9)) fail_msg("r_n = %.15g, expected %.15g", r[0], 6 / 4.5);
    dls_problem_destroy(p);
}

/* With the line search δ halves after full steps, doubles after short ones and grows by 8 where none is
 * found; as the paper has it, δ stays. */
static void delta_follows_success(void **state) {
    (void)state;
    dls_random g = {20};
    int full = 0, shorter = 0, refused = 0;
    for (int round = 0; round < 40; round++) {
        multibody_shape shape = multibody_draw(&g);
        dls_problem *p = multibody_problem(&g, &shape);
        double *r = calloc((size_t)dls_problem_row_count(p), sizeof(double)), before;
        for (int paper = 0; paper < 2; paper++) {
            stepper x;
            stepper_begin(&x, p, paper ? "pqn+globalization=paper" : "pqn");
            dls_pqn_start(&x.pqn, r);
            for (int step = 1; step <= 40; step++) {
                const double *at = x.pqn.r;
                before = x.pqn.delta;
                if (dls_pqn_advance(&x.pqn, step, 1000) != DLS_ITERATION_LIMIT) break;
                bool moved = x.pqn.r != at;
                double factor = paper ? 1 : !moved ? 8 : x.pqn.length == 1 ? 0.5 : 2;
                near(x.pqn.delta, fmin(1e3, fmax(1e-12, factor * before)));
                refused += !paper && !moved;
                full += !paper && moved && x.pqn.length == 1;
                shorter += !paper && moved && x.pqn.length < 1;
            }
            dls_workspace_destroy(x.workspace);
        }
        free(r);
        dls_problem_destroy(p);
    }
    if (full < 100 || shorter < 20 || refused < 3)
        fail_msg("%d full steps, %d shorter ones, %d refused", full, shorter, refused);
}

/* It pays: the smaller δ is, the more it is Newton. These end after 35, 36 and 21 steps; where δ stays after
 * full steps, after 257, 89 and 249. */
static void smaller_delta_is_faster(void **state) {
    (void)state;
    static const struct {
        dls_generator kind;
        int size, most;
    } rows[] = {{DLS_GENERATE_PACKING, 80, 70}, {DLS_GENERATE_STACK, 160, 60}, {DLS_GENERATE_DISCS, 40, 60}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        dls_problem *p = generated(rows[k].kind, rows[k].size, 0.9, false);
        double *r = calloc((size_t)dls_problem_row_count(p), sizeof(double));
        dls_solve_info info = variant_reach("pqn+fallback=false", p, 1e-8, r, NULL);
        if (info.iterations > rows[k].most) fail_msg("row %zu: %d steps", k, info.iterations);
        free(r);
        dls_problem_destroy(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_follow_the_problem),
        cmocka_unit_test(delta_stands_in_the_system),
        cmocka_unit_test(delta_follows_success),
        cmocka_unit_test(smaller_delta_is_faster),
    };
    return cmocka_run_group_tests_name("pqn", tests, NULL, NULL);
}
