/* The single-contact experiments of papers 003 (4.1) and 002 (6.1): a ball that slides, then rolls, stepped
 * with each law; sweeps per step as in their tables, and the motion as in closed form. */
#include "solve/law/law.h"
#include "support/block.h"
#include "support/test.h"

/* A planar ball on a moving plane; spin is the speed of its surface, k = m r²/I. */
typedef struct ball {
    double mass, k, mu, gravity, dt;
    double restitution; /* in both directions, by the impact law u⁺ + e u⁻ */
    double plane;       /* velocity of the plane */
    double x, v, v_n, spin;
} ball;

/* How a step ends: ε_glob of 003, or the increments of 002. */
typedef enum { EPS_GLOB, INCREMENT } stop_kind;

static double eps_glob(const ball *a, const double *r, const double *u) {
    double inside[2] = {r[0], r[1]};
    cone_project(2, a->mu, inside);
    return hypot(r[0] - inside[0], r[1] - inside[1]) +
           fabs(u[0] * r[0] + u[1] * r[1] + a->mu * r[0] * fabs(u[1])) + fmax(0, -u[0]);
}

/* One time step from a zero impulse; returns the sweeps that it took. */
static int advance(ball *a, const dls_law *law, const dls_law_options *options, stop_kind stop,
                   double tolerance, dls_contact_state *state) {
    const double W[4] = {1 / a->mass, 0, 0, (1 + a->k) / a->mass}, e = a->restitution;
    const double slip = a->v + a->spin - a->plane;
    const double b[2] = {(1 + e) * a->v_n - a->gravity * a->dt, (1 + e) * slip};
    double r[2] = {0, 0}, u[2], measure = HUGE_VAL;
    int sweeps = 0;
    while (measure > tolerance && sweeps < 1000) {
        double last[2] = {r[0], r[1]};
        assert_int_equal(dls_law_apply(law, options, 2, W, a->mu, b, r, u, state, NULL), DLS_OK);
        sweeps++;
        measure = stop == EPS_GLOB ? eps_glob(a, r, u) : fabs(r[0] - last[0]) + fabs(r[1] - last[1]);
    }
    double old = a->v;
    a->v += r[1] / a->mass;
    a->v_n += r[0] / a->mass - a->gravity * a->dt;
    a->spin += a->k * r[1] / a->mass;
    a->x += 0.5 * a->dt * (old + a->v);
    return sweeps;
}

static void assert_near(double value, double expected, double tolerance) {
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.15g is not %.15g (off by %g)", value, expected, value - expected);
}

/* ---- 003 §4.1: a disc on a table, 2000 steps of 1e-4 s, ε_glob = 1e-10 --------------------------------- */

static void check_table(const char *name, double rho_over_mass, int expected_sweeps) {
    ball a = {.mass = 4e-3, .k = 2, .mu = 0.7, .gravity = 9.81, .dt = 1e-4, .v = 1.5};
    dls_law_options options = dls_default_law_options();
    options.rho = rho_over_mass * a.mass;
    dls_contact_state state = DLS_UNSOLVED;
    int sweeps = 0;
    double rolling_from = 0;
    for (int step = 0; step < 2000; step++) {
        sweeps = advance(&a, dls_law_find(name), &options, EPS_GLOB, 1e-10, &state);
        if (state != DLS_STICK) rolling_from = (step + 1) * a.dt;
    }
    assert_int_equal(sweeps, expected_sweeps);
    assert_int_equal(state, DLS_STICK);
    assert_near(rolling_from, 0.072811999418, a.dt);
    assert_near(a.v, 1, 1e-9);
    assert_near(fabs(a.spin) / 5e-3, 200, 1e-6);
    assert_near(a.x, 0.218202999854, 1e-6);
}

static void table_of_003_sbp(void **unused) {
    (void)unused;
    check_table("sbp", 0.6, 18);
}

static void table_of_003_sal(void **unused) {
    (void)unused;
    check_table("sal", 0.6, 18);
}

static void table_of_003_ebp(void **unused) {
    (void)unused;
    check_table("ebp", 1, 1);
}

static void table_of_003_eal(void **unused) {
    (void)unused;
    check_table("eal", 1, 1);
}

static void exact_needs_one_sweep(void **unused) {
    (void)unused;
    check_table("exact", 0, 1);
}

/* ---- 002 §6.1: a steel ball on a conveyor belt, 1e-8 N on increments --------------------------------------
 */

static void check_conveyor(const char *name, const dls_law_options *options, int sliding, int rolling) {
    enum { SLIDING_STEPS = 1000, STEPS = 7551 };
    ball a = {.mass = 6.595836608e-4, .k = 2.5, .mu = 0.22, .gravity = 9.80665, .restitution = 1, .plane = 2};
    a.v = 1;
    a.dt = 0.132430677010 / SLIDING_STEPS;
    dls_contact_state state;
    for (int step = 1; step <= STEPS; step++) {
        int sweeps = advance(&a, dls_law_find(name), options, INCREMENT, 1e-8 * a.dt, &state);
        if (step < SLIDING_STEPS) assert_int_equal(sweeps, sliding);
        if (step == SLIDING_STEPS) assert_near(a.x, 0.151349345154, 1e-9);
        if (step > SLIDING_STEPS + 1) assert_int_equal(sweeps, rolling);
    }
    assert_near(a.v, 9.0 / 7, 1e-9);
    assert_near(fabs(a.spin) / 2.7e-3, 264.5502645503, 1e-6);
    assert_near(a.x + a.v * (1 - STEPS * a.dt), 1.266795617570, 1e-8);
}

/* The paper's parameters belong to the formal velocity (u⁺ + u⁻)/2, ours to u⁺ + u⁻. */
static dls_law_options conveyor_options(void) {
    const double mass = 6.595836608e-4;
    dls_law_options options = dls_default_law_options();
    options.rho = mass / 2;
    options.gamma_n = options.gamma_t = 0.2 * mass / 2;
    return options;
}

static void conveyor_of_002_pdas(void **unused) {
    (void)unused;
    dls_law_options options = conveyor_options();
    options.pdas_compare = DLS_PDAS_COMPARE_OLD;
    check_conveyor("epdas", &options, 2, 3);
    check_conveyor("ipdas", &options, 2, 3);
    options.pdas_slip = DLS_PDAS_SLIP_NEWTON;
    check_conveyor("ipdas", &options, 2, 3);
}

static void conveyor_with_the_new_normal_impulse(void **unused) {
    (void)unused;
    dls_law_options options = conveyor_options();
    check_conveyor("epdas", &options, 2, 2);
    check_conveyor("ipdas", &options, 2, 2);
}

static void conveyor_of_002_sal(void **unused) {
    (void)unused;
    dls_law_options options = conveyor_options();
    check_conveyor("sal", &options, 20, 20);
}

static void conveyor_of_002_ibp(void **unused) {
    (void)unused;
    dls_law_options options = conveyor_options();
    options.local_iterations = 1;
    check_conveyor("ebp", &options, 2, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_of_003_sbp),
        cmocka_unit_test(table_of_003_sal),
        cmocka_unit_test(table_of_003_ebp),
        cmocka_unit_test(table_of_003_eal),
        cmocka_unit_test(exact_needs_one_sweep),
        cmocka_unit_test(conveyor_of_002_pdas),
        cmocka_unit_test(conveyor_with_the_new_normal_impulse),
        cmocka_unit_test(conveyor_of_002_sal),
        cmocka_unit_test(conveyor_of_002_ibp),
    };
    return cmocka_run_group_tests_name("sweep counts of papers 002 and 003", tests, NULL, NULL);
}
