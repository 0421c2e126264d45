/* How global solvers end and what they return: certificates, limits, stages, starts, threads, memory. */
#include "support/allocator.h"
#include "support/multibody.h"
#include "support/sample.h"
#include "support/scale.h"
#include "support/test.h"
#include "support/variant.h"

#include <delassus/delassus.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const variants[] = {"auto", "newton", "newton+form=natural_map", "ipm",
                                       "apgd", "pqn",    "pqn+globalization=paper"};

enum { VARIANTS = sizeof variants / sizeof *variants };

static double *doubles(int count) { return calloc((size_t)count + 1, sizeof(double)); }

static double residual_of(const dls_problem *p, const double *r) {
    dls_measures m;
    assert_int_equal(dls_problem_measure(p, r, NULL, &m, NULL), DLS_OK);
    return m.residual;
}

/* ---- problems without a solution ---- */

/* A body between two walls that close in on it: u₁ + u₂ = −2 whatever r is. */
static dls_problem *squeezed_body(double mu) {
    const double W[16] = {1, 0, -1, 0, 0, 3, 0, 0, -1, 0, 1, 0, 0, 0, 0, 3}, b[4] = {-1, 0.5, -1, 0.5};
    const double mus[2] = {mu, mu};
    dls_problem_def def = {.block_count = 2, .dimension = 2, .mu = mus, .b = b};
    return dense_problem(&def, 4, W);
}

/* The same row held at two velocities. */
static dls_problem *contradictory_rows(void) {
    const double W[4] = {1, 1, 1, 1}, b[2] = {1, -1}, mu[2] = {0, 0};
    const int size[2] = {1, 1};
    const uint8_t kind[2] = {DLS_INTERVAL, DLS_INTERVAL};
    dls_problem_def def = {.block_count = 2, .block_size = size, .block_kind = kind, .mu = mu, .b = b};
    return dense_problem(&def, 2, W);
}

/* A bilateral row that moves a body into a contact. */
static dls_problem *driven_into_contact(void) {
    const double W[16] = {1, 0, 0, 1, 0, 3, 0, 0, 0, 0, 3, 0, 1, 0, 0, 1}, b[4] = {-1, 0, 0, 1},
                 mu[2] = {0.5, 0};
    const int size[2] = {3, 1};
    const uint8_t kind[2] = {DLS_CONTACT, DLS_INTERVAL};
    dls_problem_def def = {.block_count = 2, .block_size = size, .block_kind = kind, .mu = mu, .b = b};
    return dense_problem(&def, 4, W);
}

/* The outcome is a stall; what comes back is finite, certified, and no worse than the start, whatever that
 * was. */
static void contradictions_are_certified(void **state) {
    (void)state;
    dls_problem *problems[] = {squeezed_body(0), squeezed_body(0.5), contradictory_rows(),
                               driven_into_contact()};
    for (int which = 0; which < 4; which++) {
        const dls_problem *p = problems[which];
        int n = dls_problem_row_count(p);
        for (int k = 0; k < VARIANTS; k++)
            for (int start = 0; start < 2; start++) {
                double *r = doubles(n);
                for (int i = 0; start && i < n; i++) r[i] = 1 + i % 2;
                double before = residual_of(p, r);
                variant v = variant_from(variants[k]);
                dls_solve_info info = variant_solve(&v, p, r, NULL);
                if (info.outcome != DLS_STALLED || !(info.measures.residual <= before) ||
                    info.stop_value != info.measures.residual || info.measures.residual < 0.1)
                    fail_msg("problem %d, %s: %s at %g, certified %g, began at %g", which, variants[k],
                             dls_outcome_name(info.outcome), info.stop_value, info.measures.residual, before);
                for (int i = 0; i < n; i++) assert_true(isfinite(r[i]));
                free(r);
            }
        dls_problem_destroy(problems[which]);
    }
}

/* In all of these u₁ + u₂ = −2 or u₁ − u₂ = ±2 whatever r is: one of the two is off by 1. */
static void contradictions_are_proven(void **state) {
    (void)state;
    dls_problem *problems[] = {squeezed_body(0), squeezed_body(0.5), contradictory_rows(),
                               driven_into_contact()};
    for (int which = 0; which < 4; which++) {
        dls_contradiction found;
        assert_int_equal(dls_find_contradiction(problems[which], NULL, &found, NULL), DLS_OK);
        assert_true(found.found && found.block_count == 2);
        assert_true(found.blocks[0] == 0 && found.blocks[1] == 1);
        assert_true(fabs(found.closing - 1) < 1e-9 && found.impulse > 1e6);
        dls_problem_destroy(problems[which]);
    }
}

/* Also where sweeps would take thousands: no proof of what is not true. */
static void solvable_problems_are_not_contradicted(void **state) {
    (void)state;
    const dls_generator kinds[] = {DLS_GENERATE_PACKING, DLS_GENERATE_STACK, DLS_GENERATE_DISCS};
    for (int k = 0; k < 3; k++)
        for (int form = 0; form < 2; form++) {
            dls_contradiction found;
            dls_problem *p = generated(kinds[k], 300, 0.5, form);
            assert_int_equal(dls_find_contradiction(p, NULL, &found, NULL), DLS_OK);
            assert_false(found.found);
            dls_problem_destroy(p);
        }
    dls_contradiction found;
    dls_error error;
    assert_int_equal(dls_find_contradiction(NULL, NULL, &found, &error), DLS_ERROR_ARGUMENT);
}

/* ---- starts ---- */

static void warm_starts_return_at_once(void **state) {
    (void)state;
    dls_problem *p = generated(DLS_GENERATE_PACKING, 60, 0.4, false);
    int n = dls_problem_row_count(p);
    double *solution = doubles(n), *r = doubles(n);
    variant_reach("auto", p, 1e-9, solution, NULL);
    for (int k = 0; k < VARIANTS; k++) {
        variant v = variant_from(variants[k]);
        memcpy(r, solution, sizeof(double) * (size_t)n);
        dls_solve_info info = variant_solve(&v, p, r, NULL);
        assert_int_equal(info.outcome, DLS_CONVERGED);
        assert_int_equal(info.iterations, 0);
        assert_int_equal(info.stage_count, 0);
        assert_memory_equal(r, solution, sizeof(double) * (size_t)n);
    }
    free(solution), free(r);
    dls_problem_destroy(p);
}

/* From anywhere, also outside the cones. */
static void wild_starts(void **state) {
    (void)state;
    dls_random g = {101};
    dls_problem *p = generated(DLS_GENERATE_STACK, 40, 0.5, false);
    int n = dls_problem_row_count(p);
    double *r = doubles(n);
    for (int k = 0; k < VARIANTS; k++)
        for (int exponent = -3; exponent <= 3; exponent += 3) {
            variant v = variant_from(variants[k]);
            v.options.stop.tolerance = 1e-6;
            for (int i = 0; i < n; i++) r[i] = pow(10, exponent) * dls_random_normal(&g);
            double before = residual_of(p, r);
            dls_solve_info info = variant_solve(&v, p, r, NULL);
            if (info.outcome || !(info.measures.residual <= before))
                fail_msg("%s from 1e%d: %s at %g", variants[k], exponent, dls_outcome_name(info.outcome),
                         info.measures.residual);
        }
    free(r);
    dls_problem_destroy(p);
}

static void no_contacts(void **state) {
    (void)state;
    const int64_t start[1] = {0};
    dls_csr W = {0, 0, start, NULL, NULL};
    dls_problem_def def = {.block_count = 0, .dimension = 3};
    dls_problem *p;
    dls_error error;
    if (dls_problem_create(&def, &W, &p, &error)) fail_msg("%s", error.message);
    for (int k = 0; k < VARIANTS; k++) {
        variant v = variant_from(variants[k]);
        double r[1] = {7};
        dls_solve_info info = variant_solve(&v, p, r, NULL);
        assert_int_equal(info.outcome, DLS_CONVERGED);
        assert_int_equal(info.iterations, 0);
        assert_true(info.measures.residual == 0 && r[0] == 7);
    }
    dls_problem_destroy(p);
}

/* b = 0: nothing moves, and an impulse that is there for no reason goes away. */
static void no_velocity(void **state) {
    (void)state;
    double W[36] = {0};
    const double b[6] = {0}, mu[2] = {0.5, 0.5};
    for (int i = 0; i < 6; i++) W[i + 6 * i] = 2;
    dls_problem_def def = {.block_count = 2, .dimension = 3, .mu = mu, .b = b, .reference_velocity = 1};
    dls_problem *p = dense_problem(&def, 6, W);
    for (int k = 0; k < VARIANTS; k++)
        for (int warm = 0; warm < 2; warm++) {
            double r[6] = {0};
            r[0] = warm;
            variant v = variant_from(variants[k]);
            dls_solve_info info = variant_solve(&v, p, r, NULL);
            if (info.outcome) fail_msg("%s: %s", variants[k], dls_outcome_name(info.outcome));
        }
    dls_problem_destroy(p);
}

/* ---- limits ---- */

static void iteration_limits(void **state) {
    (void)state;
    dls_random g = {1710}; /* a heap that takes all stages of auto */
    multibody_shape shape = multibody_draw(&g);
    dls_problem *p = multibody_problem(&g, &shape);
    int n = dls_problem_row_count(p);
    double *r = doubles(n), start = residual_of(p, r);
    const int limits[] = {0, 1, 2, 5, 63, 64, 65, 70, 90, 150, 400, 950};
    for (int k = 0; k < VARIANTS; k++)
        for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
            variant v = variant_from(variants[k]);
            v.options.stop.max_iterations = limits[i];
            v.options.stop.tolerance = 1e-13;
            memset(r, 0, sizeof(double) * (size_t)n);
            dls_solve_info info = variant_solve(&v, p, r, NULL);
            if (info.iterations > limits[i] || !(info.measures.residual <= start))
                fail_msg("%s: %d iterations of %d, residual %g from %g", variants[k], info.iterations,
                         limits[i], info.measures.residual, start);
            if (info.iterations == limits[i] && limits[i] <= 5)
                assert_int_equal(info.outcome, DLS_ITERATION_LIMIT);
        }
    free(r);
    dls_problem_destroy(p);
}

static void time_limits(void **state) {
    (void)state;
    dls_problem *p = generated(DLS_GENERATE_PACKING, 60, 0.4, false);
    int n = dls_problem_row_count(p);
    double *r = doubles(n), start = residual_of(p, r);
    for (int k = 0; k < VARIANTS; k++) {
        variant v = variant_from(variants[k]);
        v.options.stop.time_limit = 1e-9;
        memset(r, 0, sizeof(double) * (size_t)n);
        dls_solve_info info = variant_solve(&v, p, r, NULL);
        assert_int_equal(info.outcome, DLS_TIME_LIMIT);
        assert_true(info.iterations >= 1 && info.iterations < 20 && info.measures.residual <= start);
    }
    free(r);
    dls_problem_destroy(p);
}

typedef struct witness {
    const dls_problem *problem;
    int seen, last, cancel_at;
    double least;
} witness;

static bool watch(const dls_iterate *iterate, void *user) {
    witness *w = user;
    assert_true(iterate->iteration >= w->last && isfinite(iterate->residual));
    if (iterate->exact) {
        assert_true(iterate->residual == residual_of(w->problem, iterate->r));
        w->least = fmin(w->least, iterate->residual);
    }
    w->last = iterate->iteration;
    return ++w->seen != w->cancel_at;
}

/* Numbers of iterations grow over all stages, and the best of what was seen comes back. */
static void callbacks_see_and_cancel(void **state) {
    (void)state;
    dls_random g = {1710};
    multibody_shape shape = multibody_draw(&g);
    dls_problem *p = multibody_problem(&g, &shape);
    int n = dls_problem_row_count(p);
    double *r = doubles(n);
    for (int k = 0; k < VARIANTS; k++)
        for (int cancel = 0; cancel <= 3; cancel += 3) {
            witness w = {.problem = p, .cancel_at = cancel, .least = INFINITY};
            variant v = variant_from(variants[k]);
            memset(r, 0, sizeof(double) * (size_t)n);
            w.least = residual_of(p, r);
            v.options.stop.callback = watch;
            v.options.stop.user = &w;
            dls_solve_info info = variant_solve(&v, p, r, NULL);
            assert_true(w.last <= info.iterations);
            if (cancel) {
                assert_int_equal(info.outcome, DLS_CANCELLED);
                assert_int_equal(w.seen, cancel);
            }
            if (!(info.measures.residual <= w.least))
                fail_msg("%s: returned %g, had seen %g", variants[k], info.measures.residual, w.least);
        }
    free(r);
    dls_problem_destroy(p);
}

/* ---- stop measures ---- */

/* The member of the certificate that each stop measure names, in the order of the enum. */
static double measure_at(const dls_measures *m, int which) {
    const double values[] = {m->residual,      m->max_error,     m->residual_active, m->residual_full,
                             m->natural_map,   m->fclib_merit,   m->siconos_error,   m->eps_glob,
                             m->merit_g,       m->apgd_residual, m->complementarity, m->penetration,
                             m->cone_violation};
    return values[which];
}

static void stop_on_each_measure(void **state) {
    (void)state;
    dls_problem *p = generated(DLS_GENERATE_STACK, 40, 0.5, false);
    int n = dls_problem_row_count(p);
    for (int k = 0; k < VARIANTS; k++)
        for (int measure = DLS_STOP_RESIDUAL; measure <= DLS_STOP_CONE_VIOLATION; measure++) {
            double *r = doubles(n), tolerance = measure == DLS_STOP_MERIT_G ? 1e-12 : 1e-7;
            for (int i = 0; i < n; i += 3) r[i] = -1e-3; /* zero would be perfect by some measures */
            variant v = variant_from(variants[k]);
            v.options.stop.measure = (dls_stop_measure)measure;
            v.options.stop.tolerance = tolerance;
            dls_solve_info info = variant_solve(&v, p, r, NULL);
            if (info.outcome != DLS_CONVERGED || info.stop_value > tolerance ||
                info.stop_value != measure_at(&info.measures, measure))
                fail_msg("%s, measure %d: %s at %g, certified %g", variants[k], measure,
                         dls_outcome_name(info.outcome), info.stop_value,
                         measure_at(&info.measures, measure));
            free(r);
        }
    dls_problem_destroy(p);
}

/* An increment says nothing of a Newton step that failed: only sweeps may stop on it. */
static void increments_are_refused(void **state) {
    (void)state;
    dls_problem *p = generated(DLS_GENERATE_STACK, 20, 0.5, false);
    double *r = doubles(dls_problem_row_count(p));
    for (int k = 0; k < VARIANTS; k++) {
        variant v = variant_from(variants[k]);
        dls_solve_info info;
        dls_error error;
        v.options.stop.measure = DLS_STOP_INCREMENT;
        assert_int_equal(dls_solve(p, v.solver, &v.options, r, NULL, NULL, &info, &error),
                         DLS_ERROR_ARGUMENT);
        assert_non_null(strstr(error.message, v.solver->name));
    }
    free(r);
    dls_problem_destroy(p);
}

/* ---- stages and fallbacks ---- */

static void auto_reports_its_stages(void **state) {
    (void)state;
    static const struct {
        int seed;
        const char *text;
        const char *must_run;
    } cases[] = {{1710, "auto", "newton"},
                 {1476, "auto", "ipm"},
                 {7, "auto", "nlgs"},
                 {1476, "auto+max_factor_flops=0", "apgd"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dls_random g = {(uint64_t)cases[k].seed};
        multibody_shape shape = multibody_draw(&g);
        dls_problem *p = multibody_problem(&g, &shape);
        double *r = doubles(dls_problem_row_count(p)), seconds = 0, last = INFINITY;
        variant v = variant_from(cases[k].text);
        dls_solve_info info = variant_solve(&v, p, r, NULL);
        int iterations = 0;
        bool ran = false;
        assert_true(info.stage_count >= 1 && info.stage_count <= DLS_MAX_STAGES);
        for (int i = 0; i < info.stage_count; i++) {
            const dls_stage *s = &info.stages[i];
            assert_non_null(dls_solver_find(s->name));
            assert_true(s->iterations > 0 && s->seconds >= 0 && s->residual <= last);
            ran = ran || !strcmp(s->name, cases[k].must_run);
            if (strstr(cases[k].text, "flops=0"))
                assert_true(strcmp(s->name, "newton") && strcmp(s->name, "ipm"));
            iterations += s->iterations;
            seconds += s->seconds;
            last = s->residual;
        }
        assert_true(ran);
        assert_int_equal(iterations, info.iterations);
        assert_true(seconds <= info.seconds && last == info.stop_value);
        free(r);
        dls_problem_destroy(p);
    }
}

/* Heaps that sweeps do not solve, from starts near a solution: the interior point, which aims no nearer, is
 * put off, and Newton ends most of them. */
/* A step that is hard is left at the bound: by sweeps, by quasi-Newton and by factorisations, of which the
 * last may end beyond it, as gradients may with the products that they begin with. Nothing binds a problem
 * alone. */
static void auto_keeps_to_its_bound_on_work(void **state) {
    (void)state;
    const struct {
        int contacts; /* 0: two that contradict each other */
        double bound, beyond;
    } cases[] = {{60, 50, 5}, {0, 2000, 30}, {600, 100, 5}};
    for (int k = 0; k < 3; k++) {
        char text[100];
        dls_problem *p = cases[k].contacts ? generated(DLS_GENERATE_PACKING, cases[k].contacts, 0.7, true)
                                           : squeezed_body(0.5);
        double *r = doubles(dls_problem_row_count(p));
        snprintf(text, sizeof text, "auto+tolerance=1e-15+purpose=step+step_work=%g+step_flops=0",
                 cases[k].bound);
        variant v = variant_from(text);
        dls_solve_info info = variant_solve(&v, p, r, NULL);
        if (info.outcome != DLS_ITERATION_LIMIT || info.work < 0.9 * cases[k].bound ||
            info.work > cases[k].bound + cases[k].beyond)
            fail_msg("bound %g: %s after %g", cases[k].bound, dls_outcome_name(info.outcome), info.work);
        memset(r, 0, sizeof(double) * (size_t)dls_problem_row_count(p));
        v = variant_from("auto+step_work=1+step_flops=0");
        info = variant_solve(&v, p, r, NULL);
        assert_true((info.outcome == DLS_CONVERGED) == (cases[k].contacts > 0) && info.work > 1);
        free(r);
        dls_problem_destroy(p);
    }
}

static void newton_goes_on_where_sweeps_came_near(void **state) {
    (void)state;
    static const int seeds[] = {1476, 4104, 8028, 4465, 7497, 3324, 335,
                                9019, 1710, 4228, 1826, 5301, 4509, 475};
    enum { HEAPS = sizeof seeds / sizeof *seeds };
    int alone = 0;
    for (int k = 0; k < HEAPS; k++) {
        dls_random g = {(uint64_t)seeds[k]};
        multibody_shape shape = multibody_draw(&g);
        dls_problem *p = multibody_problem(&g, &shape);
        int n = dls_problem_row_count(p);
        double *r = doubles(n);
        variant_reach("auto", p, 1e-11, r, NULL);
        for (int i = 0; i < n; i++) r[i] *= 1 + 1e-10 * dls_random_normal(&g);
        variant v = variant_from("auto");
        v.options.stop.tolerance = 1e-11;
        dls_solve_info info = variant_solve(&v, p, r, NULL);
        bool newton = false, ipm = false;
        for (int i = 0; i < info.stage_count; i++) {
            newton = newton || !strcmp(info.stages[i].name, "newton");
            ipm = ipm || !strcmp(info.stages[i].name, "ipm");
        }
        assert_int_equal(info.outcome, DLS_CONVERGED);
        alone += newton && !ipm;
        free(r);
        dls_problem_destroy(p);
    }
    if (alone < 4) fail_msg("Newton alone ended %d of %d", alone, (int)HEAPS);
}

/* PQN that fails leaves the rest to sweeps and says so; it keeps its bound on products otherwise. */
static void pqn_falls_back(void **state) {
    (void)state;
    dls_problem *p = generated(DLS_GENERATE_PACKING, 60, 0.4, false);
    int n = dls_problem_row_count(p);
    double *r = doubles(n);
    for (int bound = 1; bound <= 60; bound++) {
        variant v = variant_from("pqn+fallback=false");
        ((dls_pqn_options *)&v.options)->max_products = bound;
        memset(r, 0, sizeof(double) * (size_t)n);
        dls_solve_info info = variant_solve(&v, p, r, NULL);
        assert_int_equal(info.outcome, DLS_ITERATION_LIMIT);
        assert_int_equal(info.fallbacks, 0);
        assert_true(info.products == bound);
    }
    variant v = variant_from("pqn+max_products=20");
    memset(r, 0, sizeof(double) * (size_t)n);
    dls_solve_info info = variant_solve(&v, p, r, NULL);
    assert_int_equal(info.outcome, DLS_CONVERGED);
    assert_int_equal(info.fallbacks, 1);
    assert_true(info.products > 20);
    free(r);
    dls_problem_destroy(p);
}

/* Packings whose merit has minima that are no solutions: line search alone ends there, at residuals of 1.2e-3
 * and 4.4e-4. */
static void pqn_leaves_minima_of_its_merit(void **state) {
    (void)state;
    for (int size = 2000; size <= 3000; size += 1000) {
        dls_generate_def def = {DLS_GENERATE_PACKING, size, 0.3, 3, true, 0, 0};
        dls_problem *p;
        assert_int_equal(dls_problem_generate(&def, &p, NULL), DLS_OK);
        double *r = doubles(dls_problem_row_count(p));
        variant v = variant_from("pqn+fallback=false+tolerance=1e-4");
        dls_solve_info info = variant_solve(&v, p, r, NULL);
        assert_int_equal(info.outcome, DLS_CONVERGED);
        assert_int_equal(info.fallbacks, 0);
        free(r);
        dls_problem_destroy(p);
    }
}

/* ---- threads ---- */

static void check_bits(const dls_problem *p, const char *text, int max_iterations) {
    int n = dls_problem_row_count(p), iterations = 0;
    double *r = doubles(n);
    uint64_t first = 0;
    for (int threads = 1; threads <= 4; threads *= 2) {
        variant v = variant_from(text);
        v.options.stop.threads = threads;
        v.options.stop.max_iterations = max_iterations;
        memset(r, 0, sizeof(double) * (size_t)n);
        dls_solve_info info = variant_solve(&v, p, r, NULL);
        if (threads == 1) first = bits_hash(r, n), iterations = info.iterations;
        if (bits_hash(r, n) != first || info.iterations != iterations)
            fail_msg("%s: other bits with %d threads", text, threads);
    }
    free(r);
}

/* Sums run over chunks of 512 blocks: problems must have several. */
static void same_bits_for_any_threads(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int iterations;
    } runs[] = {{"auto", 100},
                {"auto+max_factor_flops=0", 300},
                {"newton", 4},
                {"newton+form=natural_map", 4},
                {"ipm", 4},
                {"apgd", 60},
                {"apgd+relaxed=true", 60},
                {"pqn+fallback=false", 12},
                {"pqn+globalization=paper+fallback=false", 12}};
    for (int matrix_free = 0; matrix_free < 2; matrix_free++) {
        dls_problem *large = generated(DLS_GENERATE_DISCS, 1600, 0.4, matrix_free);
        assert_true(dls_problem_block_count(large) > 1024);
        for (size_t k = 0; k < sizeof runs / sizeof *runs; k++)
            check_bits(large, runs[k].text, runs[k].iterations);
        dls_problem_destroy(large);
    }
    dls_problem *packing =
        generated(DLS_GENERATE_PACKING, 1600, 0.4, true); /* kernels of contacts in space */
    check_bits(packing, "apgd", 30);
    check_bits(packing, "pqn+fallback=false", 6);
    dls_problem_destroy(packing);
    dls_random g = {1710};
    multibody_shape shape = multibody_draw(&g);
    dls_problem *heap = multibody_problem(&g, &shape);
    check_bits(heap, "auto", 5000); /* through all stages */
    dls_problem_destroy(heap);
}

/* ---- memory ---- */

static int allocations(const dls_problem *p, const char *text, int iterations) {
    double *r = doubles(dls_problem_row_count(p));
    variant v = variant_from(text);
    dls_solve_info info;
    v.options.stop.tolerance = 0;
    v.options.stop.max_iterations = iterations;
    counting_begin(0);
    assert_int_equal(dls_solve(p, v.solver, &v.options, r, NULL, NULL, &info, NULL), DLS_OK);
    int count = counting_allocations();
    assert_int_equal(counting_end(), 0);
    free(r);
    return count;
}

/* Iterations take no memory: five and fifty of them ask as often. */
static void no_allocation_inside_the_iteration(void **state) {
    (void)state;
    static const char *const solvers[] = {"auto",
                                          "newton",
                                          "newton+form=natural_map",
                                          "ipm",
                                          "ipm+polish=0",
                                          "apgd",
                                          "apgd+relaxed=true",
                                          "pqn+fallback=false",
                                          "pqn+globalization=paper+fallback=false"};
    for (int matrix_free = 0; matrix_free < 2; matrix_free++)
        for (int size = 30; size <= 300; size += 270) {
            dls_problem *p = generated(DLS_GENERATE_DISCS, size, 0.4, matrix_free);
            for (size_t k = 0; k < sizeof solvers / sizeof *solvers; k++) {
                int few = allocations(p, solvers[k], 5), many = allocations(p, solvers[k], 50);
                if (few != many) fail_msg("%s: %d allocations, then %d", solvers[k], few, many);
            }
            dls_problem_destroy(p);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contradictions_are_certified),
        cmocka_unit_test(contradictions_are_proven),
        cmocka_unit_test(solvable_problems_are_not_contradicted),
        cmocka_unit_test(warm_starts_return_at_once),
        cmocka_unit_test(wild_starts),
        cmocka_unit_test(no_contacts),
        cmocka_unit_test(no_velocity),
        cmocka_unit_test(iteration_limits),
        cmocka_unit_test(time_limits),
        cmocka_unit_test(callbacks_see_and_cancel),
        cmocka_unit_test(stop_on_each_measure),
        cmocka_unit_test(increments_are_refused),
        cmocka_unit_test(auto_reports_its_stages),
        cmocka_unit_test(auto_keeps_to_its_bound_on_work),
        cmocka_unit_test(newton_goes_on_where_sweeps_came_near),
        cmocka_unit_test(pqn_falls_back),
        cmocka_unit_test(pqn_leaves_minima_of_its_merit),
        cmocka_unit_test(same_bits_for_any_threads),
        cmocka_unit_test(no_allocation_inside_the_iteration),
    };
    return cmocka_run_group_tests_name("global stop", tests, NULL, NULL);
}
