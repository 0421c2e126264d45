/* When a solve ends and what it returns: stop measures, limits, callbacks, stalls, divergence, memory. */
#include "support/allocator.h"
#include "support/sample.h"
#include "support/test.h"

#include <delassus/delassus.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *doubles(int count) { return calloc((size_t)count + 1, sizeof(double)); }

static dls_problem *small_packing(void) { return generated(DLS_GENERATE_PACKING, 100, 0.3, false); }

static dls_solve_info solve(const dls_problem *p, const dls_nlgs_options *options, double *r) {
    dls_solve_info info;
    dls_error error;
    if (dls_solve_nlgs(p, options, r, NULL, NULL, &info, &error)) fail_msg("%s", error.message);
    return info;
}

static double residual_of(const dls_problem *p, const double *r) {
    dls_measures m;
    assert_int_equal(dls_problem_measure(p, r, NULL, &m, NULL), DLS_OK);
    return m.residual;
}

/* ---- measures ---- */

/* The member of the certificate that each stop measure names, in the order of the enum. */
static double measure_at(const dls_measures *m, dls_stop_measure which) {
    const double values[] = {m->residual,      m->max_error,     m->residual_active, m->residual_full,
                             m->natural_map,   m->fclib_merit,   m->siconos_error,   m->eps_glob,
                             m->merit_g,       m->apgd_residual, m->complementarity, m->penetration,
                             m->cone_violation};
    return values[which];
}

static void stop_on_each_measure(void **state) {
    (void)state;
    dls_problem *p = small_packing();
    int n = dls_problem_row_count(p);
    for (int measure = DLS_STOP_RESIDUAL; measure <= DLS_STOP_CONE_VIOLATION; measure++)
        for (int interval = 0; interval <= 7; interval += 7) {
            double *r = doubles(n), tolerance = measure == DLS_STOP_MERIT_G ? 1e-10 : 1e-6;
            dls_nlgs_options options = dls_default_nlgs_options();
            for (int i = 0; i < n; i += 3) r[i] = 1e-3; /* zero would be perfect by some measures */
            options.stop.measure = (dls_stop_measure)measure;
            options.stop.tolerance = tolerance;
            options.stop.check_interval = interval;
            dls_solve_info info = solve(p, &options, r);
            if (info.outcome != DLS_CONVERGED || info.stop_value > tolerance ||
                info.stop_value != measure_at(&info.measures, (dls_stop_measure)measure))
                fail_msg("measure %d: %s at %g, certified %g", measure, dls_outcome_name(info.outcome),
                         info.stop_value, measure_at(&info.measures, (dls_stop_measure)measure));
            if (interval) assert_int_equal(info.iterations % interval, 0);
            free(r);
        }
    dls_problem_destroy(p);
}

static void stop_on_increments(void **state) {
    (void)state;
    dls_problem *p = small_packing();
    double *r = doubles(dls_problem_row_count(p)), *before = doubles(dls_problem_row_count(p));
    dls_nlgs_options options = dls_default_nlgs_options();
    options.stop.measure = DLS_STOP_INCREMENT;
    options.stop.tolerance = 1e-9;
    options.acceleration = DLS_PLAIN;
    dls_solve_info info = solve(p, &options, r);
    assert_int_equal(info.outcome, DLS_CONVERGED);
    assert_true(info.stop_value <= 1e-9 && info.measures.residual < 1e-3);
    memcpy(before, r, sizeof(double) * (size_t)dls_problem_row_count(p));
    options.stop.max_iterations = 1; /* the next sweep moves less than that, as max|Δr_n| + max|Δr_t| says */
    info = solve(p, &options, r);
    double normal = 0, tangent = 0;
    for (int i = 0; i < dls_problem_row_count(p); i += 3) {
        normal = fmax(normal, fabs(r[i] - before[i]));
        tangent = fmax(tangent, hypot(r[i + 1] - before[i + 1], r[i + 2] - before[i + 2]));
    }
    assert_int_equal(info.iterations, 1);
    assert_true(fabs(info.stop_value - normal - tangent) < 1e-18 + 1e-10 * info.stop_value);
    free(r), free(before);
    dls_problem_destroy(p);
}

/* ---- limits ---- */

static void iteration_limit(void **state) {
    (void)state;
    dls_problem *p = small_packing();
    double *r = doubles(dls_problem_row_count(p)), start = residual_of(p, r);
    for (int measure = DLS_STOP_RESIDUAL; measure <= DLS_STOP_INCREMENT; measure += DLS_STOP_INCREMENT)
        for (int limit = 0; limit < 4; limit++) {
            dls_nlgs_options options = dls_default_nlgs_options();
            options.stop.max_iterations = limit;
            options.stop.measure = (dls_stop_measure)measure;
            memset(r, 0, sizeof(double) * (size_t)dls_problem_row_count(p));
            dls_solve_info info = solve(p, &options, r);
            assert_int_equal(info.outcome, DLS_ITERATION_LIMIT);
            assert_int_equal(info.iterations, limit);
            assert_true(limit ? info.measures.residual < start : info.measures.residual == start);
        }
    free(r);
    dls_problem_destroy(p);
}

/* Out of time after the first sweep, which is judged and returned though no measure was due. */
static void time_limit(void **state) {
    (void)state;
    dls_problem *p = small_packing();
    double *r = doubles(dls_problem_row_count(p)), start = residual_of(p, r);
    dls_nlgs_options options = dls_default_nlgs_options();
    options.stop.time_limit = 1e-9;
    options.stop.check_interval = 1000;
    dls_solve_info info = solve(p, &options, r);
    assert_int_equal(info.outcome, DLS_TIME_LIMIT);
    assert_int_equal(info.iterations, 1);
    assert_true(info.measures.residual < start && info.stop_value == info.measures.residual);
    options.stop.time_limit = 1e6;
    options.stop.check_interval = 0;
    assert_int_equal(solve(p, &options, r).outcome, DLS_CONVERGED);
    free(r);
    dls_problem_destroy(p);
}

/* ---- true measures, each of which costs a product with W ---- */

enum { TOWER = 20 };

/* Bodies one on the other, all falling at `fall` before impulses act: the lowest contact closes, the others
 * lie still. One more contact, of a body elsewhere, opens. */
static dls_problem *tower(double fall, double opening) {
    enum { N = TOWER + 1 };
    double W[N * N] = {0}, b[N] = {-fall}, mu[N] = {0};
    dls_problem_def def = dls_default_problem_def();
    for (int i = 0; i < N; i++) W[i + N * i] = i == 0 || i == TOWER ? 1 : 2;
    for (int i = 1; i < TOWER; i++) W[i - 1 + N * i] = W[i + N * (i - 1)] = -1;
    b[TOWER] = opening;
    def.block_count = N, def.dimension = 1, def.mu = mu, def.b = b, def.reference_velocity = fall;
    return dense_problem(&def, N, W);
}

typedef struct record {
    int sweeps, measures;
    uint64_t measured; /* a bit for each of the first sweeps */
} record;

static bool note_measure(const dls_iterate *iterate, void *user) {
    record *seen = user;
    seen->sweeps = iterate->iteration;
    seen->measures += iterate->exact;
    if (iterate->exact && iterate->iteration < 64) seen->measured |= UINT64_C(1) << iterate->iteration;
    return true;
}

static record measures_of(dls_problem *p, int interval) {
    record seen = {0};
    double *r = doubles(dls_problem_row_count(p));
    dls_nlgs_options options = dls_default_nlgs_options();
    options.stop.tolerance = 1e-2;
    options.stop.check_interval = interval;
    options.stop.callback = note_measure;
    options.stop.user = &seen;
    assert_int_equal(solve(p, &options, r).outcome, DLS_CONVERGED);
    free(r);
    dls_problem_destroy(p);
    return seen;
}

/* From a cold start the judge's ‖s‖ is not known before the first of them: a guess of it says when that is
 * due, whatever the units, however fast bodies elsewhere part, and where most contacts carry what others
 * close with. */
static void the_first_measure_is_taken_in_time(void **state) {
    (void)state;
    const double fall = 0x1p-10;
    record every = measures_of(tower(fall, fall), 1), now = measures_of(tower(fall, fall), 0);
    assert_true(every.measures == every.sweeps && every.sweeps > 5);
    assert_in_range(now.sweeps, every.sweeps, every.sweeps + 2);
    assert_in_range(now.measures, 1, 2);
    for (int k = -20; k <= 40; k += 20) { /* powers of two: the same bits */
        record other = measures_of(tower(ldexp(fall, k), ldexp(fall, k)), 0);
        assert_true(other.measured == now.measured && other.sweeps == now.sweeps);
    }
    record parting = measures_of(tower(fall, 1e6), 0);
    assert_true(parting.measured == now.measured && parting.sweeps == now.sweeps);
}

/* ---- callback ---- */

typedef struct witness {
    const dls_problem *problem;
    int seen, cancel_at;
    double last_seconds;
} witness;

static bool watch(const dls_iterate *iterate, void *user) {
    witness *w = user;
    w->seen++;
    assert_int_equal(iterate->iteration, w->seen);
    assert_true(iterate->seconds >= w->last_seconds && isfinite(iterate->residual) && iterate->residual >= 0);
    w->last_seconds = iterate->seconds;
    if (iterate->exact) assert_true(iterate->residual == residual_of(w->problem, iterate->r));
    for (int i = 0; i < dls_problem_row_count(w->problem); i++) assert_true(isfinite(iterate->r[i]));
    return w->seen != w->cancel_at;
}

static void callback_sees_every_iterate(void **state) {
    (void)state;
    dls_problem *p = small_packing();
    int n = dls_problem_row_count(p);
    for (int acceleration = DLS_ANDERSON; acceleration <= DLS_PLAIN; acceleration++) {
        double *r = doubles(n), *again = doubles(n);
        witness w = {p, 0, 0, 0};
        dls_nlgs_options options = dls_default_nlgs_options();
        options.acceleration = (dls_acceleration)acceleration;
        options.stop.tolerance = 1e-5;
        dls_solve_info alone = solve(p, &options, again);
        options.stop.callback = watch;
        options.stop.user = &w;
        options.stop.tolerance = 1e-5;
        dls_solve_info info = solve(p, &options, r);
        assert_int_equal(w.seen, info.iterations);
        assert_int_equal(info.iterations, alone.iterations); /* looking changes nothing */
        assert_memory_equal(r, again, sizeof(double) * (size_t)n);
        free(r), free(again);
    }
    dls_problem_destroy(p);
}

static void callback_cancels(void **state) {
    (void)state;
    dls_problem *p = small_packing();
    double *r = doubles(dls_problem_row_count(p)), start = residual_of(p, r);
    witness w = {p, 0, 7, 0};
    dls_nlgs_options options = dls_default_nlgs_options();
    options.stop.tolerance = 1e-12;
    options.stop.check_interval = 1000; /* no measure is due */
    options.stop.callback = watch;
    options.stop.user = &w;
    dls_solve_info info = solve(p, &options, r);
    assert_int_equal(info.outcome, DLS_CANCELLED);
    assert_int_equal(info.iterations, 7);
    assert_true(info.measures.residual < start);
    free(r);
    dls_problem_destroy(p);
}

/* ---- no solution ---- */

/* A body between two walls that close in on it: u₁ + u₂ = −2 whatever r is. */
static dls_problem *squeezed_body(double mu) {
    const double W[16] = {1, 0, -1, 0, 0, 3, 0, 0, -1, 0, 1, 0, 0, 0, 0, 3}, b[4] = {-1, 0.5, -1, 0.5};
    const double mus[2] = {mu, mu};
    dls_problem_def def = {.block_count = 2, .dimension = 2, .mu = mus, .b = b};
    return dense_problem(&def, 4, W);
}

/* The same with two bilateral rows that contradict each other. */
static dls_problem *contradictory_rows(void) {
    const double W[4] = {1, 1, 1, 1}, b[2] = {1, -1}, mu[2] = {0, 0};
    const int size[2] = {1, 1};
    const uint8_t kind[2] = {DLS_INTERVAL, DLS_INTERVAL};
    dls_problem_def def = {.block_count = 2, .block_size = size, .block_kind = kind, .mu = mu, .b = b};
    return dense_problem(&def, 2, W);
}

static void stall_returns_the_best_iterate(void **state) {
    (void)state;
    dls_problem *problems[3] = {squeezed_body(0), squeezed_body(0.5), contradictory_rows()};
    for (int k = 0; k < 3; k++) {
        for (int acceleration = DLS_ACCELERATION_AUTO; acceleration <= DLS_PLAIN; acceleration++)
            for (int adapt = 0; adapt < 2; adapt++) {
                double r[4] = {0}, start = residual_of(problems[k], r);
                dls_nlgs_options options = dls_default_nlgs_options();
                options.acceleration = (dls_acceleration)acceleration;
                options.adapt = adapt;
                options.stall_sweeps = 100;
                dls_solve_info info = solve(problems[k], &options, r);
                assert_int_equal(info.outcome, DLS_STALLED);
                assert_true(info.iterations < 2000);
                assert_true(info.measures.residual <= start && info.stop_value == info.measures.residual);
                options.stall_sweeps = 0; /* never give up */
                options.stop.max_iterations = 3000;
                info = solve(problems[k], &options, r);
                assert_int_equal(info.outcome, DLS_ITERATION_LIMIT);
                assert_true(info.measures.residual <= start);
            }
        dls_problem_destroy(problems[k]);
    }
}

/* ---- laws of a user ---- */

static int visits, fails_at;
static double failure;

/* exact, until the visit when it goes wrong. */
static dls_contact_state faulty_solve(const dls_law_options *options, int d, const double *W, double mu,
                                      const double *data, const double *b, double *r) {
    (void)data;
    dls_contact_state reached = DLS_UNSOLVED; /* as after a failure: there b is not finite */
    dls_law_apply(dls_law_find("exact"), options, d, W, mu, b, r, NULL, &reached, NULL);
    if (++visits == fails_at) r[d - 1] = failure;
    return reached;
}

static dls_contact_state hopeless_solve(const dls_law_options *options, int d, const double *W, double mu,
                                        const double *data, const double *b, double *r) {
    (void)options, (void)d, (void)W, (void)mu, (void)data, (void)b, (void)r;
    return DLS_UNSOLVED;
}

static int data_size(int d) { return d + 1; }

static void data_prepare(const dls_law_options *options, int d, const double *W, double mu, double *data) {
    (void)options;
    for (int i = 0; i < d; i++) data[i] = W[i + d * i];
    data[d] = mu;
}

/* One step of projected Jacobi in the contact with what prepare() left; checks that it is this contact's. */
static dls_contact_state prepared_solve(const dls_law_options *options, int d, const double *W, double mu,
                                        const double *data, const double *b, double *r) {
    (void)options;
    double u[4], slip = 0, trace = 0;
    for (int i = 0; i < d; i++) {
        assert_true(data[i] == W[i + d * i]);
        trace += data[i];
        u[i] = b[i];
        for (int j = 0; j < d; j++) u[i] += W[i + d * j] * r[j];
        slip += i ? u[i] * u[i] : 0;
    }
    assert_true(data[d] == mu);
    u[0] += mu * sqrt(slip);
    for (int i = 0; i < d; i++) r[i] -= u[i] / trace;
    dls_cone_project(d, mu, r);
    return r[0] > 0 ? DLS_STICK : DLS_OPEN;
}

static const dls_law user_laws[] = {
    {.name = "faulty", .summary = "exact, but not always", .solve = faulty_solve},
    {.name = "hopeless", .solve = hopeless_solve},
    {.name = "prepared",
     .summary = "projected",
     .data_size = data_size,
     .prepare = data_prepare,
     .solve = prepared_solve}};

static int register_laws(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++)
        if (dls_law_register(&user_laws[i], NULL)) return -1;
    return 0;
}

static void a_law_of_the_user(void **state) {
    (void)state;
    for (int form = 0; form < 2; form++) {
        dls_problem *p = generated(form ? DLS_GENERATE_STACK : DLS_GENERATE_DISCS, 50, 0.4, form);
        int n = dls_problem_row_count(p);
        double *r = doubles(n), *expected = doubles(n);
        dls_nlgs_options options = dls_default_nlgs_options();
        dls_solve_info usual = solve(p, &options, expected);
        visits = fails_at = 0;
        strcpy(options.law, "faulty"); /* it never fails here, so it must do what exact does */
        dls_solve_info info = solve(p, &options, r);
        assert_int_equal(info.outcome, DLS_CONVERGED);
        assert_string_equal(info.law, "faulty");
        assert_int_equal(visits, info.iterations * dls_problem_block_count(p));
        assert_int_equal(info.iterations, usual.iterations);
        assert_memory_equal(r, expected, sizeof(double) * (size_t)n);
        memset(r, 0, sizeof(double) * (size_t)n);
        strcpy(options.law, "prepared");
        options.stop.tolerance = 1e-6;
        info = solve(p, &options, r);
        assert_int_equal(info.outcome, DLS_CONVERGED);
        free(r), free(expected);
        dls_problem_destroy(p);
    }
}

static void a_law_that_solves_nothing(void **state) {
    (void)state;
    dls_problem *p = small_packing();
    double *r = doubles(dls_problem_row_count(p)), start = residual_of(p, r);
    dls_nlgs_options options = dls_default_nlgs_options();
    strcpy(options.law, "hopeless");
    options.stop.max_iterations = 5000;
    dls_solve_info info = solve(p, &options, r);
    assert_int_equal(info.outcome, DLS_STALLED);
    assert_int_equal(info.unsolved, dls_problem_contact_count(p));
    assert_true(info.measures.residual == start);
    free(r);
    dls_problem_destroy(p);
}

/* A law that returns NaN or infinity ends the solve; what comes back is finite and no worse than the start.
 */
static void divergence_returns_the_best_iterate(void **state) {
    (void)state;
    const double failures[] = {(double)NAN, (double)INFINITY, -(double)INFINITY, 1e200};
    const int when[] = {1, 3, 250, 1000};
    for (int form = 0; form < 2; form++) {
        dls_problem *p = generated(DLS_GENERATE_PACKING, 100, 0.3, form);
        int n = dls_problem_row_count(p);
        for (int k = 0; k < 64; k++) {
            double *r = doubles(n), start = residual_of(p, r);
            dls_nlgs_options options = dls_default_nlgs_options();
            strcpy(options.law, "faulty");
            options.stop.tolerance = 0;
            options.acceleration = (dls_acceleration)(k / 16);
            if (k % 2) options.stop.measure = DLS_STOP_INCREMENT;
            visits = 0;
            fails_at = when[k / 4 % 4];
            failure = failures[k % 4];
            dls_solve_info info = solve(p, &options, r);
            assert_int_equal(info.outcome, DLS_DIVERGED);
            for (int i = 0; i < n; i++) assert_true(isfinite(r[i]));
            assert_true(info.measures.residual <= start);
            free(r);
        }
        dls_problem_destroy(p);
    }
}

/* Room for the options of any solver. */
typedef union any_options {
    dls_stop_options stop;
    char bytes[DLS_MAX_OPTIONS_SIZE];
} any_options;

/* A start so large that W r overflows is judged as bad, not as good, by every solver. */
static void a_start_beyond_all_measure(void **state) {
    (void)state;
    dls_problem *p = generated(DLS_GENERATE_PACKING, 20, 0.3, false);
    int n = dls_problem_row_count(p);
    double *r = doubles(n);
    for (int k = 0; k < dls_solver_count(); k++) {
        any_options options;
        dls_solve_info info;
        dls_solver_at(k)->defaults(&options);
        for (int i = 0; i < n; i++) r[i] = i % 2 ? 1.5e308 : -1.5e308;
        assert_int_equal(dls_solve(p, dls_solver_at(k), &options, r, NULL, NULL, &info, NULL), DLS_OK);
        /* the interior point starts cold, so it may solve the problem all the same */
        assert_true(info.outcome != DLS_CONVERGED || info.measures.residual <= options.stop.tolerance);
        for (int i = 0; i < n; i++) assert_true(isfinite(r[i]));
    }
    free(r);
    dls_problem_destroy(p);
}

/* ---- solvers of a user ---- */

typedef struct constant_options {
    dls_stop_options stop;
    double value;
} constant_options;

static void constant_defaults(void *options) {
    *(constant_options *)options = (constant_options){.value = 1};
    ((constant_options *)options)->stop.threads = 1;
}

/* Claims to have converged whatever it returns. */
static dls_status constant_solve(const dls_problem *p, const void *options, double *r, double *u,
                                 dls_workspace *workspace, dls_solve_info *info, dls_error *error) {
    (void)u, (void)workspace, (void)error;
    for (int i = 0; i < dls_problem_row_count(p); i++) r[i] = ((const constant_options *)options)->value;
    info->outcome = DLS_CONVERGED;
    info->iterations = 3;
    return DLS_OK;
}

static void a_solver_of_the_user(void **state) {
    (void)state;
    static const dls_field fields[] = {{"value", DLS_FIELD_REAL, offsetof(constant_options, value), 0, 10,
                                        NULL, "N s", "of every impulse", NULL}};
    dls_solver solver = {.name = "constant",
                         .summary = "no solver",
                         .options_size = sizeof(constant_options),
                         .defaults = constant_defaults,
                         .fields = fields,
                         .field_count = 1,
                         .solve = constant_solve};
    dls_error error;
    int count = dls_solver_count();
    assert_int_equal(dls_solver_register(&solver, &error), DLS_OK);
    assert_int_equal(dls_solver_count(), count + 1);
    const dls_solver *row = dls_solver_find("constant");
    assert_ptr_equal(row, dls_solver_at(count));
    assert_ptr_not_equal(row, &solver);
    dls_problem *p = small_packing();
    int n = dls_problem_row_count(p);
    double *r = doubles(n), *u = doubles(n);
    constant_options options;
    dls_solve_info info;
    row->defaults(&options);
    assert_int_equal(dls_field_set(row->fields, row->field_count, &options, "value", "2", NULL), DLS_OK);
    assert_int_equal(dls_solve(p, row, &options, r, u, NULL, &info, &error), DLS_OK);
    assert_string_equal(info.solver, "constant");
    assert_string_equal(info.law, "");
    assert_true(r[n - 1] == 2 && info.iterations == 3 && info.seconds >= 0 && info.cpu_seconds >= 0);
    assert_true(info.measures.residual == residual_of(p, r) &&
                info.measures.residual > 1); /* the judge knows */
    options.value = 11;
    assert_int_equal(dls_solve(p, row, &options, r, u, NULL, &info, &error), DLS_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "value is 11, expected 0 to 10"));
    free(r), free(u);
    dls_problem_destroy(p);
}

static void registration_is_checked(void **state) {
    (void)state;
    dls_solver good = {.name = "another",
                       .summary = "",
                       .options_size = sizeof(constant_options),
                       .defaults = constant_defaults,
                       .fields = NULL,
                       .field_count = 0,
                       .solve = constant_solve};
    dls_error error;
    dls_solver bad = good;
    assert_int_equal(dls_solver_register(NULL, &error), DLS_ERROR_ARGUMENT);
    bad.name = "nlgs";
    assert_int_equal(dls_solver_register(&bad, &error), DLS_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "'nlgs' exists already"));
    bad = good, bad.name = "";
    assert_int_equal(dls_solver_register(&bad, &error), DLS_ERROR_ARGUMENT);
    bad = good, bad.solve = NULL;
    assert_int_equal(dls_solver_register(&bad, &error), DLS_ERROR_ARGUMENT);
    bad = good, bad.defaults = NULL;
    assert_int_equal(dls_solver_register(&bad, &error), DLS_ERROR_ARGUMENT);
    bad = good, bad.options_size = sizeof(dls_stop_options) - 1;
    assert_int_equal(dls_solver_register(&bad, &error), DLS_ERROR_ARGUMENT);
    bad = good, bad.options_size = DLS_MAX_OPTIONS_SIZE + 1;
    assert_int_equal(dls_solver_register(&bad, &error), DLS_ERROR_ARGUMENT);
    assert_null(dls_solver_find("another"));
    assert_null(dls_solver_find(NULL));
    assert_null(dls_solver_at(-1));
    assert_null(dls_solver_at(dls_solver_count()));
}

/* Every row of the table has defaults inside its own ranges, and tells of all its options. */
static void table_of_solvers(void **state) {
    (void)state;
    dls_problem *p = generated(DLS_GENERATE_PACKING, 20, 0.3, false);
    double *r = doubles(dls_problem_row_count(p));
    for (int i = 0; i < dls_solver_count(); i++) {
        const dls_solver *solver = dls_solver_at(i);
        any_options options;
        assert_true(solver->options_size <= sizeof options && strlen(solver->summary) > 0);
        solver->defaults(&options);
        for (int k = 0; k < solver->field_count; k++) {
            const dls_field *field = &solver->fields[k];
            char text[64];
            assert_true(field->offset < solver->options_size && field->help && field->unit);
            dls_field_print(field, &options, text, sizeof text);
            assert_int_equal(
                dls_field_set(solver->fields, solver->field_count, &options, field->key, text, NULL), DLS_OK);
        }
        dls_solve_info info;
        assert_int_equal(dls_solve(p, solver, &options, r, NULL, NULL, &info, NULL), DLS_OK);
    }
    free(r);
    dls_problem_destroy(p);
}

/* ---- bad calls ---- */

#define SPOIL(name, statement)                                                                               \
    static void name(dls_nlgs_options *o) { statement; }

SPOIL(threads_0, o->stop.threads = 0)
SPOIL(threads_many, o->stop.threads = 100000)
SPOIL(iterations_negative, o->stop.max_iterations = -1)
SPOIL(tolerance_negative, o->stop.tolerance = -1e-9)
SPOIL(tolerance_nan, o->stop.tolerance = (double)NAN)
SPOIL(time_negative, o->stop.time_limit = -1)
SPOIL(time_nan, o->stop.time_limit = (double)NAN)
SPOIL(interval_negative, o->stop.check_interval = -1)
SPOIL(measure_unknown, o->stop.measure = (dls_stop_measure)99)
SPOIL(order_unknown, o->order = (dls_order)7)
SPOIL(acceleration_unknown, o->acceleration = (dls_acceleration)9)
SPOIL(window_0, o->window = 0)
SPOIL(window_17, o->window = 17)
SPOIL(reset_0, o->window_reset = 0)
SPOIL(stall_negative, o->stall_sweeps = -1)
SPOIL(relaxation_0, o->relaxation = 0)
SPOIL(relaxation_2, o->relaxation = 2)
SPOIL(relaxation_nan, o->relaxation = (double)NAN)
SPOIL(rho_negative, o->local.rho = -1)
SPOIL(scale_0, o->local.rho_scale = 0)
SPOIL(newton_0, o->local.local_iterations = 0)
SPOIL(law_unknown, strcpy(o->law, "friction"))
SPOIL(law_empty, *o->law = 0)
SPOIL(law_endless, memset(o->law, 'a', sizeof o->law))

static void bad_options(void **state) {
    (void)state;
    static const struct {
        void (*spoil)(dls_nlgs_options *);
        const char *said;
    } cases[] = {
        {threads_0, "threads is 0, expected 1"},
        {threads_many, "threads is 100000"},
        {iterations_negative, "max_iterations"},
        {tolerance_negative, "tolerance is -1e-09"},
        {tolerance_nan, "tolerance is nan"},
        {time_negative, "time_limit"},
        {time_nan, "time_limit is nan"},
        {interval_negative, "check_interval"},
        {measure_unknown, "measure is 99"},
        {order_unknown, "order is 7"},
        {acceleration_unknown, "acceleration"},
        {window_0, "window is 0, expected 1 to 16"},
        {window_17, "window is 17"},
        {reset_0, "window_reset"},
        {stall_negative, "stall_sweeps"},
        {relaxation_0, "relaxation is 0"},
        {relaxation_2, "relaxation is 2"},
        {relaxation_nan, "relaxation is nan"},
        {rho_negative, "rho is -1"},
        {scale_0, "rho_scale is 0"},
        {newton_0, "local_iterations is 0"},
        {law_unknown, "law: 'friction' is not one of sbp|"},
        {law_empty, "law: '' is not one of sbp|"},
        {law_endless, "law has no end"},
    };
    dls_problem *p = small_packing();
    double *r = doubles(dls_problem_row_count(p));
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dls_nlgs_options options = dls_default_nlgs_options();
        dls_solve_info info;
        dls_error error = {DLS_OK, ""};
        cases[k].spoil(&options);
        dls_status status = dls_solve_nlgs(p, &options, r, NULL, NULL, &info, &error);
        if (status != DLS_ERROR_ARGUMENT || !strstr(error.message, cases[k].said))
            fail_msg("expected '%s', got status %d and '%s'", cases[k].said, (int)status, error.message);
        for (int i = 0; i < dls_problem_row_count(p); i++) assert_true(r[i] == 0);
    }
    free(r);
    dls_problem_destroy(p);
}

static void bad_calls(void **state) {
    (void)state;
    dls_problem *p = generated(DLS_GENERATE_PACKING, 20, 0.3, false);
    double *r = doubles(dls_problem_row_count(p));
    dls_nlgs_options options = dls_default_nlgs_options();
    const dls_solver *nlgs = dls_solver_find("nlgs");
    dls_solve_info info;
    dls_error error;
    assert_int_equal(dls_solve_nlgs(NULL, &options, r, NULL, NULL, &info, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_solve_nlgs(p, NULL, r, NULL, NULL, &info, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_solve_nlgs(p, &options, NULL, NULL, NULL, &info, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_solve_nlgs(p, &options, r, NULL, NULL, NULL, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_solve(p, NULL, &options, r, NULL, NULL, &info, &error), DLS_ERROR_ARGUMENT);
    r[4] = (double)NAN;
    assert_int_equal(dls_solve(p, nlgs, &options, r, NULL, NULL, &info, &error), DLS_ERROR_INPUT);
    assert_non_null(strstr(error.message, "r[4] is nan"));
    r[4] = (double)INFINITY;
    assert_int_equal(dls_solve(p, nlgs, &options, r, NULL, NULL, &info, NULL), DLS_ERROR_INPUT);
    for (int outcome = DLS_CONVERGED; outcome <= DLS_CANCELLED; outcome++)
        assert_string_not_equal(dls_outcome_name((dls_outcome)outcome), "unknown");
    assert_string_equal(dls_outcome_name((dls_outcome)77), "unknown");
    free(r);
    dls_problem_destroy(p);
}

static void zero_contacts(void **state) {
    (void)state;
    dls_problem_def def = dls_default_problem_def();
    dls_bodies none = {.body_dof = 6};
    dls_csr W = {0};
    dls_problem *problems[2];
    assert_int_equal(dls_problem_create(&def, &W, &problems[0], NULL), DLS_OK);
    assert_int_equal(dls_problem_create_bodies(&def, &none, &problems[1], NULL), DLS_OK);
    for (int form = 0; form < 2; form++) {
        for (int order = 0; order < 4; order++)
            for (int acceleration = 0; acceleration < 4; acceleration++)
                for (int measure = 0; measure <= DLS_STOP_INCREMENT; measure++) {
                    dls_nlgs_options options = dls_default_nlgs_options();
                    options.order = (dls_order)order;
                    options.acceleration = (dls_acceleration)acceleration;
                    options.stop.measure = (dls_stop_measure)measure;
                    options.stop.threads = 1 + acceleration;
                    dls_solve_info info = solve(problems[form], &options, NULL);
                    assert_int_equal(info.outcome, DLS_CONVERGED);
                    assert_true(info.iterations <= 1 && info.measures.residual == 0);
                }
        dls_problem_destroy(problems[form]);
    }
}

/* ---- memory ---- */

static void a_workspace_saves_allocations(void **state) {
    (void)state;
    for (int form = 0; form < 2; form++)
        for (int k = 0; k < 16; k++) {
            dls_problem *p = generated(DLS_GENERATE_PACKING, 400, 0.3, form);
            int n = dls_problem_row_count(p);
            double *r = doubles(n), *again = doubles(n), *u = doubles(n);
            dls_nlgs_options options = dls_default_nlgs_options();
            options.order = (dls_order)(k % 4);
            options.acceleration = (dls_acceleration)(k / 4);
            options.stop.max_iterations = 10;
            dls_solve_info info;
            dls_solve_nlgs(p, &options, again, u, NULL, &info, NULL);
            counting_begin(0);
            dls_workspace *w = dls_workspace_create();
            int first = 0;
            for (int round = 0; round < 4; round++) {
                memset(r, 0, sizeof(double) * (size_t)n);
                assert_int_equal(dls_solve_nlgs(p, &options, r, round % 2 ? u : NULL, w, &info, NULL),
                                 DLS_OK);
                assert_memory_equal(r, again, sizeof(double) * (size_t)n);
                if (round == 0) first = counting_allocations();
                assert_int_equal(counting_allocations(), first);
            }
            dls_workspace_destroy(w);
            assert_int_equal(counting_end(), 0);
            free(r), free(again), free(u);
            dls_problem_destroy(p);
        }
}

/* A larger problem after a smaller one, and the smaller one again. */
static void a_workspace_serves_any_problem(void **state) {
    (void)state;
    dls_workspace *w = dls_workspace_create();
    const int sizes[] = {20, 2000, 20, 500, 2000};
    for (int k = 0; k < 5; k++) {
        dls_problem *p = generated(DLS_GENERATE_DISCS, sizes[k], 0.3, k % 2);
        int n = dls_problem_row_count(p);
        double *r = doubles(n), *alone = doubles(n);
        dls_nlgs_options options = dls_default_nlgs_options();
        options.stop.max_iterations = 20;
        dls_solve_info info;
        assert_int_equal(dls_solve_nlgs(p, &options, r, NULL, w, &info, NULL), DLS_OK);
        assert_int_equal(dls_solve_nlgs(p, &options, alone, NULL, NULL, &info, NULL), DLS_OK);
        assert_memory_equal(r, alone, sizeof(double) * (size_t)n);
        free(r), free(alone);
        dls_problem_destroy(p);
    }
    dls_workspace_destroy(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stop_on_each_measure),
        cmocka_unit_test(stop_on_increments),
        cmocka_unit_test(iteration_limit),
        cmocka_unit_test(time_limit),
        cmocka_unit_test(the_first_measure_is_taken_in_time),
        cmocka_unit_test(callback_sees_every_iterate),
        cmocka_unit_test(callback_cancels),
        cmocka_unit_test(stall_returns_the_best_iterate),
        cmocka_unit_test(a_law_of_the_user),
        cmocka_unit_test(a_law_that_solves_nothing),
        cmocka_unit_test(divergence_returns_the_best_iterate),
        cmocka_unit_test(a_start_beyond_all_measure),
        cmocka_unit_test(table_of_solvers),
        cmocka_unit_test(a_solver_of_the_user),
        cmocka_unit_test(registration_is_checked),
        cmocka_unit_test(bad_options),
        cmocka_unit_test(bad_calls),
        cmocka_unit_test(zero_contacts),
        cmocka_unit_test(a_workspace_saves_allocations),
        cmocka_unit_test(a_workspace_serves_any_problem),
    };
    return cmocka_run_group_tests_name("nlgs stop", tests, register_laws, NULL);
}
