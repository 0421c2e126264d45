/* Problems with joints: what elimination finds is what the problem has, in few sweeps, at a cost that grows
 * with the number of links. */
#include "support/allocator.h"
#include "support/linkage.h"
#include "support/near.h"
#include "support/sample.h"
#include "support/test.h"

#include "base/memory.h"
#include "solve/joined/joined.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef union any_options {
    dls_stop_options stop;
    dls_nlgs_options nlgs;
    char bytes[DLS_MAX_OPTIONS_SIZE];
} any_options;

typedef struct outcome {
    dls_solve_info info;
    dls_joined_info joined;
    double *r, *u;
} outcome;

static any_options options_of(const char *solver, double tolerance) {
    any_options o;
    dls_solver_find(solver)->defaults(&o);
    o.stop.tolerance = tolerance;
    o.stop.purpose = DLS_PURPOSE_STEP;
    o.stop.max_iterations = 20000;
    return o;
}

/* From r, or from 0 where it is NULL. */
static outcome solve_from(const linkage *l, const char *solver, const any_options *o, const double *r) {
    outcome x = {.r = calloc((size_t)l->p->row_count + 1, sizeof(double)),
                 .u = calloc((size_t)l->p->row_count + 1, sizeof(double))};
    if (r) memcpy(x.r, r, sizeof(double) * (size_t)l->p->row_count);
    dls_elimination *e = dls_elimination_create();
    dls_workspace *w = dls_workspace_create();
    dls_error error;
    dls_status status =
        dls_solve_joined(l->p, e, dls_solver_find(solver), o, x.r, x.u, w, &x.info, &x.joined, &error);
    if (status) fail_msg("%s", error.message);
    dls_workspace_destroy(w);
    dls_elimination_destroy(e);
    return x;
}

static outcome solve_with(const linkage *l, const char *solver, const any_options *o) {
    return solve_from(l, solver, o, NULL);
}

static outcome solve(const linkage *l, const char *solver, double tolerance) {
    any_options o = options_of(solver, tolerance);
    return solve_with(l, solver, &o);
}

static void end(outcome *x) {
    free(x->r);
    free(x->u);
}

/* Largest |u| of rows without bounds, in the units of its user. */
static double worst_held(const dls_problem *p, const double *u) {
    double worst = 0;
    for (int c = 0; c < p->block_count; c++)
        for (int i = p->row[c]; i < p->row[c + 1] && p->kind[c] == DLS_INTERVAL; i++)
            if (!isfinite(p->low[i]) && !isfinite(p->high[i])) worst = fmax(worst, fabs(u[i]));
    return worst;
}

/* ---- the same solutions ---- */

/* u is unique where friction is none and rows are soft or independent. */
static void test_velocities_are_those_of_the_problem_as_blocks(void **state) {
    (void)state;
    for (int seed = 0; seed < 30; seed++) {
        linkage_shape shape = {.seed = (uint64_t)(100 + seed),
                               .bodies = 4 + seed,
                               .contacts = 3 + seed,
                               .trees = 1 + seed % 3,
                               .loops = seed % 4,
                               .redundant = seed % 5 == 4,
                               .planar = seed % 4 == 0,
                               .round = seed % 4 == 1,
                               .smooth = true,
                               .soft = seed % 2,
                               .bounded = seed % 3 > 0};
        linkage l = linkage_random(&shape);
        outcome x = solve(&l, "auto", 1e-11);
        double *r = calloc((size_t)l.p->row_count, sizeof *r), *u = calloc((size_t)l.p->row_count, sizeof *u);
        any_options o = options_of("auto", 1e-11);
        dls_solve_info info;
        dls_error error;
        assert_int_equal(dls_solve(l.p, dls_solver_find("auto"), &o, r, u, NULL, &info, &error), DLS_OK);
        double most = 0;
        for (int i = 0; i < l.p->row_count; i++) most = fmax(most, fabs(u[i] - x.u[i]));
        if (!(x.info.measures.residual <= 1e-11 && info.measures.residual <= 1e-11 && most < 1e-7))
            fail_msg("seed %d: residuals %g and %g as blocks, velocities %g apart", seed,
                     x.info.measures.residual, info.measures.residual, most);
        free(r), free(u);
        end(&x);
        linkage_end(&l);
    }
}

/* Those that close on the way take part after all, or the whole would be solved as blocks. */
static void test_open_contacts_wait_until_they_close(void **state) {
    (void)state;
    for (int seed = 0; seed < 4; seed++) {
        linkage_shape shape = {.seed = (uint64_t)(700 + seed),
                               .bodies = 250,
                               .contacts = 900,
                               .trees = 40,
                               .smooth = true,
                               .soft = true,
                               .bounded = seed % 2};
        linkage l = linkage_random(&shape);
        outcome x = solve(&l, "auto", 1e-9);
        any_options o = options_of("auto", 1e-9);
        o.stop.purpose = DLS_PURPOSE_PROBLEM;
        outcome all = solve_with(&l, "auto", &o);
        double most = 0;
        for (int i = 0; i < l.p->row_count; i++) most = fmax(most, fabs(all.u[i] - x.u[i]));
        if (x.joined.as_blocks || x.joined.waiting < 100 || all.joined.waiting || !(most < 1e-6))
            fail_msg("seed %d: %d of %d wait, %d rounds, as blocks %d, velocities %g apart", seed,
                     x.joined.waiting, l.p->contact_count, x.joined.rounds, x.joined.as_blocks, most);
        assert_true(x.info.measures.residual <= 1e-9);
        end(&x), end(&all);
        linkage_end(&l);
    }
}

/* A contact that carries an impulse opens a little within the tolerance: it does not wait, or one more round
 * would have to take it back. */
static void test_contacts_that_carry_do_not_wait(void **state) {
    (void)state;
    linkage l = linkage_random(&(linkage_shape){
        .seed = 700, .bodies = 250, .contacts = 900, .trees = 40, .smooth = true, .soft = true});
    any_options o = options_of("auto", 1e-6);
    outcome x = solve_with(&l, "auto", &o), again = solve_from(&l, "auto", &o, x.r);
    int opening = 0;
    for (int c = 0; c < l.p->contact_count; c++) {
        int i = l.p->row[c];
        opening += x.r[i] > 0 && x.u[i] > 0;
    }
    assert_true(opening > 20 && x.joined.waiting > 100);
    assert_int_equal(again.joined.rounds, 1);
    assert_int_equal(again.info.iterations, 0);
    end(&x), end(&again);
    linkage_end(&l);
}

/* The proximal parameter is none of joints. */
static void test_newton_solves_long_chains_as_blocks(void **state) {
    (void)state;
    linkage l = linkage_chain(&(chain_shape){.links = 1000, .contacts = 2, .mass_ratio = 1, .pull = 2});
    double *r = calloc((size_t)l.p->row_count, sizeof *r);
    any_options o = options_of("newton", 1e-6);
    dls_solve_info info;
    dls_error error;
    assert_int_equal(dls_solve(l.p, dls_solver_find("newton"), &o, r, NULL, NULL, &info, &error), DLS_OK);
    assert_true(info.measures.residual <= 1e-6 && info.iterations <= 10);
    free(r);
    linkage_end(&l);
}

/* Factorisations keep the held rows: W' of 1000 links would be dense. */
static void test_newton_solves_long_chains_without_their_joints(void **state) {
    (void)state;
    linkage l = linkage_chain(&(chain_shape){.links = 1000, .contacts = 2, .mass_ratio = 1, .pull = 2});
    outcome x = solve(&l, "newton", 1e-6);
    if (x.joined.as_blocks || x.info.iterations > 10 || !(x.info.measures.residual <= 1e-6))
        fail_msg("as blocks %d, %d iterations, residual %g", x.joined.as_blocks, x.info.iterations,
                 x.info.measures.residual);
    end(&x);
    linkage_end(&l);
}

static void test_all_kinds_are_certified_by_all_solvers(void **state) {
    (void)state;
    static const char *const solvers[] = {"auto", "nlgs", "newton", "ipm", "apgd", "pqn"};
    for (int seed = 0; seed < 20; seed++)
        for (int k = 0; k < 6; k++) {
            linkage_shape shape = {.seed = (uint64_t)(200 + seed),
                                   .bodies = 6 + seed,
                                   .contacts = 4 + seed / 2,
                                   .trees = 1 + seed % 4,
                                   .loops = seed % 3,
                                   .redundant = seed % 4 == 3,
                                   .planar = seed % 5 == 0,
                                   .round = seed % 5 == 2,
                                   .turning = seed % 5 > 2,
                                   .soft = seed % 2,
                                   .bounded = seed % 3 > 0,
                                   .wide = seed < 15 ? 0 : 3};
            if (shape.turning && k > 3) continue; /* others do not know parts, or come slowly there */
            linkage l = linkage_random(&shape);
            outcome x = solve(&l, solvers[k], 1e-6);
            if (!(x.info.measures.residual <= 1e-6))
                fail_msg("%s, seed %d: residual %g", solvers[k], seed, x.info.measures.residual);
            assert_int_equal(x.joined.row, -1);
            end(&x);
            linkage_end(&l);
        }
}

/* ---- few sweeps ---- */

static void test_a_pulled_chain_needs_few_sweeps(void **state) {
    (void)state;
    for (int plain = 0; plain < 2; plain++) {
        linkage l = linkage_chain(&(chain_shape){.links = 1000, .contacts = 2, .mass_ratio = 1, .pull = 2});
        any_options o = options_of(plain ? "nlgs" : "auto", 1e-6);
        if (plain) o.nlgs.acceleration = DLS_PLAIN;
        outcome x = solve_with(&l, plain ? "nlgs" : "auto", &o);
        assert_true(x.info.measures.residual <= 1e-6 && x.info.iterations <= 15);
        assert_int_equal(x.joined.eliminated, 2000);
        assert_true(!x.joined.as_blocks && worst_held(l.p, x.u) < 1e-10);
        end(&x);
        linkage_end(&l);
    }
}

static int motors_at_limits(const dls_problem *p, const double *r) {
    int count = 0;
    for (int i = 0; i < p->row_count; i++)
        count += isfinite(p->high[i]) && fabs(r[i]) > 0.999 * p->high[i] * p->unit[i];
    return count;
}

/* Every other motor is too weak to hold the arm up. */
static void test_arms_with_motors_at_their_limits_need_few_sweeps(void **state) {
    (void)state;
    for (int links = 6; links <= 24; links *= 2)
        for (int k = 0; k < 2; k++) {
            chain_shape shape = {
                .links = links, .contacts = 1, .mass_ratio = 1, .motors = true, .limit = k ? 0.27 : 0.81};
            linkage l = linkage_chain(&shape);
            outcome x = solve(&l, "auto", 1e-6);
            assert_int_equal(motors_at_limits(l.p, x.r), links / 2);
            assert_true(x.info.measures.residual <= 1e-6 && x.info.iterations <= 20);
            assert_int_equal(x.joined.stays, 0);
            end(&x);
            linkage_end(&l);
        }
}

/* From nine tenths of the solution, as a step finds them. */
static void test_arms_near_their_solution_need_few_sweeps(void **state) {
    (void)state;
    any_options o = options_of("auto", 1e-6);
    for (int links = 6; links <= 24; links *= 2)
        for (int k = 0; k < 12; k++) {
            static const double limits[] = {0.01, 0.03, 0.09, 0.27};
            static const int every[] = {1, 3, 6};
            linkage l = linkage_chain(&(chain_shape){.links = links,
                                                     .contacts = 1,
                                                     .every = every[k / 4],
                                                     .mass_ratio = 1,
                                                     .motors = true,
                                                     .limit = limits[k % 4]});
            outcome x = solve_with(&l, "auto", &o);
            dls_elimination *e = dls_elimination_create();
            dls_workspace *w = dls_workspace_create();
            dls_error error;
            for (int i = 0; i < l.p->row_count; i++) x.r[i] *= 0.9;
            assert_int_equal(
                dls_solve_joined(l.p, e, &dls_solver_auto, &o, x.r, x.u, w, &x.info, &x.joined, &error),
                DLS_OK);
            if (!(x.info.measures.residual <= 1e-6 && x.info.iterations <= 25))
                fail_msg("%d links, case %d: residual %g after %d sweeps", links, k, x.info.measures.residual,
                         x.info.iterations);
            dls_workspace_destroy(w);
            dls_elimination_destroy(e);
            end(&x);
            linkage_end(&l);
        }
}

/* Contacts that ask for speeds of their own, so that few sets of rows at bounds are right. */
static void test_arms_on_rough_ground_are_solved(void **state) {
    (void)state;
    for (int links = 6; links <= 24; links *= 2)
        for (int k = 0; k < 12; k++) {
            chain_shape shape = {.links = links,
                                 .contacts = 1 + k % 2,
                                 .every = k % 3 ? 3 : 1,
                                 .mass_ratio = 1 + k % 3,
                                 .b_noise = k % 4 ? 1e-3 : 1e-2,
                                 .motors = true,
                                 .limit = 0.05 * (1 << k % 5)};
            linkage l = linkage_chain(&shape);
            outcome x = solve(&l, "auto", 1e-6);
            if (!(x.info.measures.residual <= 1e-6 && !x.joined.as_blocks))
                fail_msg("%d links, case %d: residual %g", links, k, x.info.measures.residual);
            for (int i = 0; i < l.p->row_count; i++) {
                if (!isfinite(l.p->high[i])) continue;
                double high = l.p->high[i] * l.p->unit[i];
                assert_true(fabs(x.r[i]) <= high * (1 + 1e-14));
            }
            end(&x);
            linkage_end(&l);
        }
}

static void test_without_contacts_there_are_no_sweeps(void **state) {
    (void)state;
    linkage l = linkage_chain(&(chain_shape){.links = 50, .mass_ratio = 1, .motors = true, .limit = 0.3});
    outcome x = solve(&l, "auto", 1e-10);
    assert_int_equal(x.info.iterations, 0);
    assert_true(x.info.measures.residual <= 1e-10 && worst_held(l.p, x.u) < 1e-12);
    end(&x);
    linkage_end(&l);
}

/* ---- cost ---- */

/* Numbers of R and of tails per link grow with log n. */
static void test_cost_grows_with_the_number_of_links(void **state) {
    (void)state;
    double before = 0;
    for (int links = 10; links <= 10000; links *= 10) {
        linkage l = linkage_chain(&(chain_shape){.links = links, .contacts = 2, .mass_ratio = 1, .pull = 2});
        uint8_t *role = calloc((size_t)l.p->row_count, 1);
        dls_elimination *e = dls_elimination_create();
        dls_elimination_cost cost;
        dls_error error;
        assert_int_equal(dls_elimination_begin(e, l.p, role, 1, l.space, &cost, &error), DLS_OK);
        double work = cost.factor + cost.tails;
        assert_true(before == 0 || work < before * pow(10, 1.35));
        assert_true(cost.tails / (4.0 * links) <
                    8 * log2(links)); /* per row; a contact is held by one link */
        before = work;
        dls_elimination_destroy(e);
        free(role);
        linkage_end(&l);
    }
}

/* A tangle of loops is one unit that every contact reaches whole: it is left as blocks, and solved. */
static void test_what_would_cost_too_much_is_left_as_blocks(void **state) {
    (void)state;
    linkage l = linkage_random(&(linkage_shape){
        .seed = 5, .bodies = 400, .contacts = 200, .loops = 600, .far = true, .soft = true, .planar = true});
    outcome x = solve(&l, "auto", 1e-4);
    assert_true(x.joined.as_blocks && x.joined.rounds == 0);
    assert_true(x.info.measures.residual <= 1e-4);
    end(&x);
    linkage_end(&l);
}

/* ---- accuracy ---- */

static void test_heavy_loads_hang_on_light_chains(void **state) {
    (void)state;
    static const double ratios[] = {1e-6, 1e-3, 1e3, 1e6};
    for (int k = 0; k < 4; k++) {
        linkage l =
            linkage_chain(&(chain_shape){.links = 30, .contacts = 1, .every = 3, .mass_ratio = ratios[k]});
        outcome x = solve(&l, "auto", 1e-6);
        double worst = worst_held(l.p, x.u);
        if (!(x.info.measures.residual <= 1e-6 && worst < 1e-8))
            fail_msg("ratio %g: residual %g, joints held to %g m/s", ratios[k], x.info.measures.residual,
                     worst);
        end(&x);
        linkage_end(&l);
    }
}

/* What is held twice has one solution as long as both agree. */
static void test_rows_that_contradict_others_are_named(void **state) {
    (void)state;
    for (int contradict = 0; contradict < 2; contradict++) {
        linkage l = linkage_random(&(linkage_shape){.seed = 9, .bodies = 6, .contacts = 3, .redundant = 1});
        dls_problem *p = l.p;
        int first = p->row[p->contact_count], twice = p->row[p->block_count - 1];
        if (contradict) p->b[twice] += 0.01;
        outcome x = solve(&l, "nlgs", 1e-6);
        double most = 0;
        for (int i = 0; i < p->row_count; i++) most = fmax(most, fabs(x.r[i]));
        assert_true(x.joined.dependent > 0);
        assert_true(most < 1e3); /* no impulses against each other without bound */
        if (contradict) {
            assert_true(x.info.measures.residual > 1e-4);
            assert_true((x.joined.row >= twice && x.joined.row < p->row_count) ||
                        (x.joined.row >= first && x.joined.row < p->row[p->contact_count + 1]));
            assert_true(x.joined.violated > 1e-4 && x.joined.violated < 0.1);
        } else {
            assert_int_equal(x.joined.row, -1);
            assert_true(x.info.measures.residual <= 1e-6);
        }
        end(&x);
        linkage_end(&l);
    }
}

/* Impulses of least norm leave no bound, not even by what the tolerance would let pass. */
static void test_shares_of_a_load_stay_within_bounds(void **state) {
    (void)state;
    for (int within = 0; within < 2; within++) {
        linkage l = linkage_random(&(linkage_shape){.seed = 9, .bodies = 6, .contacts = 3, .redundant = 1});
        dls_problem *p = l.p;
        int row = p->row[p->block_count - 1];
        outcome x = solve(&l, "nlgs", 1e-2);
        for (int i = row; i < p->row_count; i++)
            if (fabs(x.r[i]) > fabs(x.r[row])) row = i;
        double share = fabs(x.r[row]) / (p->unit ? p->unit[row] : 1), bound = within ? 1.01 : 0.999;
        assert_true(x.joined.dependent > 0 && share > 1e-3);
        p->low[row] = -bound * share, p->high[row] = bound * share;
        outcome y = solve(&l, "nlgs", 1e-2);
        double r = fabs(y.r[row]) / (p->unit ? p->unit[row] : 1);
        assert_true(y.info.measures.residual <= 1e-2 && r <= p->high[row]);
        if (within) assert_near(r, share, 1e-2 * share);
        end(&x), end(&y);
        linkage_end(&l);
    }
}

/* A rod held at both ends leaves a contact between them nothing. */
static void test_contacts_that_joints_hold_are_left_out(void **state) {
    (void)state;
    linkage l = linkage_chain(
        &(chain_shape){.links = 3, .contacts = 1, .mass_ratio = 1, .motors = true, .limit = INFINITY});
    outcome x = solve(&l, "auto", 1e-8);
    assert_int_equal(x.joined.out, 3);
    assert_int_equal(x.info.iterations, 0);
    for (int i = 0; i < 6; i++) assert_true(x.r[i] == 0 && fabs(x.u[i]) < 1e-12);
    assert_true(x.info.measures.residual <= 1e-8);
    end(&x);
    linkage_end(&l);
}

/* ---- the same bits, no memory ---- */

static void test_threads_do_not_change_a_bit(void **state) {
    (void)state;
    linkage l = linkage_random(&(linkage_shape){.seed = 3,
                                                .bodies = 3000,
                                                .contacts = 5000,
                                                .trees = 800,
                                                .round = true,
                                                .soft = true,
                                                .bounded = true});
    any_options o = options_of("nlgs", 1e-5);
    uint64_t bits[2];
    o.stop.max_iterations = 60;
    for (int k = 0; k < 2; k++) {
        o.stop.threads = 1 + k;
        outcome x = solve_with(&l, "nlgs", &o);
        assert_true(x.joined.rounds > 0);
        bits[k] = bits_hash(x.r, l.p->row_count);
        end(&x);
    }
    assert_true(bits[0] == bits[1]);
    linkage_end(&l);
}

static void test_solves_after_the_first_do_not_allocate(void **state) {
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        counting_begin(0);
        linkage l =
            kind ? linkage_chain(&(chain_shape){.links = 300, .contacts = 2, .mass_ratio = 1, .pull = 2})
                 : linkage_chain(&(chain_shape){
                       .links = 24, .contacts = 1, .mass_ratio = 1, .motors = true, .limit = 0.3});
        double *r = calloc((size_t)l.p->row_count, sizeof *r);
        dls_elimination *e = dls_elimination_create();
        dls_workspace *w = dls_workspace_create();
        any_options o = options_of("nlgs", 1e-6);
        dls_solve_info info;
        dls_joined_info joined;
        dls_error error;
        int before = 0;
        for (int k = 0; k < 4; k++) {
            if (k == 2) before = counting_allocations(); /* chunks of the workspace have merged */
            memset(r, 0, sizeof *r * (size_t)l.p->row_count);
            assert_int_equal(
                dls_solve_joined(l.p, e, &dls_solver_nlgs, &o, r, NULL, w, &info, &joined, &error), DLS_OK);
        }
        assert_int_equal(counting_allocations(), before);
        free(r);
        dls_workspace_destroy(w);
        dls_elimination_destroy(e);
        linkage_end(&l);
        assert_int_equal(counting_end(), 0);
    }
}

/* The n-th allocation fails, for every n. */
static void test_memory_that_is_out_is_an_error(void **state) {
    (void)state;
    linkage l = linkage_chain(
        &(chain_shape){.links = 12, .contacts = 1, .mass_ratio = 1, .motors = true, .limit = 0.3});
    double *r = calloc((size_t)l.p->row_count, sizeof *r);
    bool reached = true;
    for (int n = 1; reached; n++) {
        assert_true(n < 500);
        counting_begin(n);
        dls_elimination *e = dls_elimination_create();
        dls_workspace *w = dls_workspace_create();
        any_options o = options_of("nlgs", 1e-6);
        dls_solve_info info;
        dls_joined_info joined;
        dls_error error;
        memset(r, 0, sizeof *r * (size_t)l.p->row_count);
        dls_status status =
            e && w ? dls_solve_joined(l.p, e, &dls_solver_nlgs, &o, r, NULL, w, &info, &joined, &error)
                   : DLS_ERROR_MEMORY;
        reached = counting_allocations() >= n;
        dls_workspace_destroy(w);
        dls_elimination_destroy(e);
        int leaked = counting_end();
        assert_int_equal(leaked, 0);
        assert_true(status == DLS_OK || (status == DLS_ERROR_MEMORY && reached));
        assert_true(!reached || status || n > 3);
    }
    free(r);
    linkage_end(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_velocities_are_those_of_the_problem_as_blocks),
        cmocka_unit_test(test_open_contacts_wait_until_they_close),
        cmocka_unit_test(test_contacts_that_carry_do_not_wait),
        cmocka_unit_test(test_newton_solves_long_chains_as_blocks),
        cmocka_unit_test(test_newton_solves_long_chains_without_their_joints),
        cmocka_unit_test(test_all_kinds_are_certified_by_all_solvers),
        cmocka_unit_test(test_a_pulled_chain_needs_few_sweeps),
        cmocka_unit_test(test_arms_with_motors_at_their_limits_need_few_sweeps),
        cmocka_unit_test(test_arms_near_their_solution_need_few_sweeps),
        cmocka_unit_test(test_arms_on_rough_ground_are_solved),
        cmocka_unit_test(test_without_contacts_there_are_no_sweeps),
        cmocka_unit_test(test_cost_grows_with_the_number_of_links),
        cmocka_unit_test(test_what_would_cost_too_much_is_left_as_blocks),
        cmocka_unit_test(test_heavy_loads_hang_on_light_chains),
        cmocka_unit_test(test_rows_that_contradict_others_are_named),
        cmocka_unit_test(test_shares_of_a_load_stay_within_bounds),
        cmocka_unit_test(test_contacts_that_joints_hold_are_left_out),
        cmocka_unit_test(test_threads_do_not_change_a_bit),
        cmocka_unit_test(test_solves_after_the_first_do_not_allocate),
        cmocka_unit_test(test_memory_that_is_out_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
