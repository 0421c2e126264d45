/* Orders of visits: colours that nobody shares, the same bits on any number of threads, hubs, seeds. */
#include "problem/matrix.h"
#include "problem/operator/bodies.h"
#include "support/sample.h"
#include "support/scale.h"
#include "support/scene.h"
#include "support/test.h"

#include <delassus/delassus.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *doubles(int count) { return calloc((size_t)count + 1, sizeof(double)); }

static dls_nlgs_options coloured_options(double tolerance) {
    dls_nlgs_options options = dls_default_nlgs_options();
    options.order = DLS_ORDER_COLOURED;
    options.stop.tolerance = tolerance;
    options.stop.max_iterations = 30000;
    return options;
}

/* From zero; the hash is of the bits of r and u. */
static uint64_t solve(const dls_problem *p, const dls_nlgs_options *options, double *r, double *u,
                      dls_solve_info *info) {
    int n = dls_problem_row_count(p);
    dls_error error;
    memset(r, 0, sizeof(double) * (size_t)n);
    if (dls_solve_nlgs(p, options, r, u, NULL, info, &error)) fail_msg("%s", error.message);
    return bits_hash(r, n) ^ (bits_hash(u, n) << 1);
}

/* ---- colours ---- */

static bool share_a_body(const dls_problem *p, int c, int j) {
    const int *body = dls_rows_of(p)->body;
    for (int s = 0; s < 2; s++)
        for (int t = 0; t < 2; t++)
            if (body[2 * c + s] >= 0 && body[2 * c + s] == body[2 * j + t]) return true;
    return false;
}

/* No two blocks of one colour may be coupled, in either direction. Returns blocks without colour. */
static int check_colours(const dls_problem *p) {
    int n = p->block_count, without = 0;
    uint8_t *colour = malloc((size_t)n + 1);
    uint64_t *scratch = malloc(sizeof(uint64_t) * (size_t)(p->body_count + 1));
    p->op->colour(p, 1, colour, scratch);
    for (int c = 0; c < n; c++) {
        assert_true(colour[c] < DLS_MAX_COLOURS || colour[c] == DLS_NO_COLOUR);
        without += colour[c] == DLS_NO_COLOUR;
        if (colour[c] == DLS_NO_COLOUR) continue;
        if (dls_problem_is_stored(p))
            for (int64_t k = dls_problem_matrix(p)->start[c]; k < dls_problem_matrix(p)->start[c + 1]; k++)
                assert_true(colour[dls_problem_matrix(p)->column[k]] != colour[c]);
        else
            for (int j = 0; j < c; j++) assert_true(colour[j] != colour[c] || !share_a_body(p, c, j));
    }
    free(colour);
    free(scratch);
    return without;
}

static void colours_keep_coupled_blocks_apart(void **state) {
    (void)state;
    const dls_generator kinds[] = {DLS_GENERATE_PACKING, DLS_GENERATE_STACK, DLS_GENERATE_DISCS};
    for (int k = 0; k < 3; k++)
        for (int form = 0; form < 2; form++) {
            dls_problem *p = generated(kinds[k], scaled(2000, 300), 0.3, form);
            assert_int_equal(check_colours(p), 0);
            dls_problem_destroy(p);
        }
    dls_random g = {41};
    for (int round = 0; round < 10; round++) { /* all on three bodies: most blocks get no colour */
        sample_shape shape = {.blocks = 150, .bodies = 3, .dof = 3, .bilateral_every = 5, .coupling = 1};
        sample s = sample_create(&g, &shape);
        dls_problem *stored = sample_stored(&s), *implicit = sample_matrix_free(&s);
        check_colours(stored);
        assert_true(check_colours(implicit) > 0);
        dls_problem_destroy(stored);
        dls_problem_destroy(implicit);
        sample_free(&s);
    }
}

/* ---- threads ---- */

static void check_threads(const dls_problem *p, dls_nlgs_options options, bool must_be_parallel) {
    int n = dls_problem_row_count(p);
    double *r = doubles(n), *u = doubles(n);
    dls_solve_info one, many;
    options.stop.threads = 1;
    uint64_t hash = solve(p, &options, r, u, &one);
    if (must_be_parallel) assert_true(one.colours > 1 && one.serial_blocks < dls_problem_block_count(p) / 10);
    for (int threads = 2; threads <= 8; threads *= 2) {
        options.stop.threads = threads;
        assert_true(solve(p, &options, r, u, &many) == hash);
        assert_memory_equal(&many.measures, &one.measures, sizeof one.measures);
        assert_true(many.iterations == one.iterations && many.outcome == one.outcome);
        assert_true(many.stop_value == one.stop_value && many.restarts == one.restarts);
        assert_true(many.colours == one.colours && many.serial_blocks == one.serial_blocks);
    }
    free(r), free(u);
}

static void same_bits_on_any_number_of_threads(void **state) {
    (void)state;
    const dls_acceleration accelerations[] = {DLS_ANDERSON, DLS_MOMENTUM, DLS_PLAIN};
    for (int form = 0; form < 2; form++) {
        dls_problem *p = generated(DLS_GENERATE_PACKING, scaled(6000, 2500), 0.3, form);
        for (int k = 0; k < 3; k++) {
            dls_nlgs_options options = coloured_options(1e-12);
            options.acceleration = accelerations[k];
            options.stop.max_iterations = 40;
            check_threads(p, options, true);
            options.alternate = true;
            options.relaxation = 0.8;
            strcpy(options.law, "sbp");
            options.stop.max_iterations = 6;
            options.stop.measure = DLS_STOP_EPS_GLOB;
            check_threads(p, options, true);
        }
        dls_problem_destroy(p);
    }
}

static void same_bits_in_the_plane_and_with_mixed_blocks(void **state) {
    (void)state;
    dls_random g = {42};
    dls_problem *discs = generated(DLS_GENERATE_DISCS, scaled(6000, 2500), 0.3, false);
    dls_nlgs_options options = coloured_options(1e-12);
    options.stop.max_iterations = 30;
    check_threads(discs, options, true);
    dls_problem_destroy(discs);
    sample_shape shape = {.blocks = 600,
                          .bodies = 600,
                          .dof = 6,
                          .bilateral_every = 4,
                          .mu_low = 0.1,
                          .mu_high = 0.8,
                          .coupling = 0.3};
    sample s = sample_create(&g, &shape);
    for (int form = 0; form < 2; form++) {
        dls_problem *p = form ? sample_matrix_free(&s) : sample_stored(&s);
        check_threads(p, coloured_options(1e-8), true);
        dls_problem_destroy(p);
    }
    sample_free(&s);
}

/* The default order is chosen by size alone, and natural order ignores threads. */
static void other_orders_ignore_threads(void **state) {
    (void)state;
    const dls_order orders[] = {DLS_ORDER_AUTO, DLS_ORDER_NATURAL, DLS_ORDER_RANDOM};
    dls_problem *p = generated(DLS_GENERATE_PACKING, scaled(6000, 2500), 0.3, true);
    for (int k = 0; k < 3; k++) {
        dls_nlgs_options options = coloured_options(1e-12);
        options.order = orders[k];
        options.stop.max_iterations = 15;
        check_threads(p, options, false);
    }
    dls_problem_destroy(p);
}

/* ---- coloured sweeps solve what natural ones solve ---- */

static void assert_same_velocity(const dls_problem *p, double tolerance) {
    int n = dls_problem_row_count(p);
    double *r = doubles(n), *u = doubles(n), *v = doubles(n), size = 0;
    dls_solve_info info;
    dls_nlgs_options options = coloured_options(tolerance);
    options.stop.threads = 2;
    solve(p, &options, r, u, &info);
    assert_int_equal(info.outcome, DLS_CONVERGED);
    assert_true(info.measures.residual <= tolerance && info.colours > 0);
    options.order = DLS_ORDER_NATURAL;
    solve(p, &options, r, v, &info);
    assert_int_equal(info.outcome, DLS_CONVERGED);
    for (int i = 0; i < n; i++) size = fmax(size, fabs(dls_problem_b(p)[i]));
    for (int i = 0; i < n; i++) assert_true(fabs(u[i] - v[i]) < 1e3 * tolerance * size);
    free(r), free(u), free(v);
}

static void coloured_sweeps_find_the_solution(void **state) {
    (void)state;
    dls_random g = {43};
    sample_shape shape = {
        .blocks = 500, .bodies = 500, .dof = 6, .dimension = 3, .mu_high = 0.5, .coupling = 0.3};
    sample s = sample_create(&g, &shape);
    for (int form = 0; form < 2; form++) {
        dls_problem *p = form ? sample_matrix_free(&s) : sample_stored(&s);
        assert_same_velocity(p, 1e-8);
        dls_problem_destroy(p);
    }
    sample_free(&s);
}

/* Spheres on a floor in rows of WIDE that touch their neighbours, all under one slab: the slab's contacts are
 * coupled each with each. */
enum { WIDE = 20, DEEP = 25, SPHERES = WIDE * DEEP };

/* The contact of sphere k with the slab; each sphere adds it first, then the floor's and its neighbours'. */
static int slab_contact(int k) {
    int with_left = k - (k + WIDE - 1) / WIDE, with_front = k > WIDE ? k - WIDE : 0; /* of those before */
    return 2 * k + with_left + with_front;
}

static dls_problem *slab_on_spheres(bool matrix_free) {
    const double radius = 0.05, zero[3] = {0, 0, 2 * radius + 0.02}, fall[3] = {1e-3, 5e-4, -9.81e-3};
    const double up[3] = {0, 0, 1}, along[3] = {1, 0, 0}, across[3] = {0, 1, 0};
    scene *s = scene_create(SPHERES + 1, 4 * SPHERES);
    int slab = scene_body(s, zero, 200, 100, fall);
    for (int k = 0; k < SPHERES; k++) {
        double x = 2 * radius * (k % WIDE - 0.5 * WIDE), y = 2 * radius * (k / WIDE - 0.5 * DEEP);
        double centre[3] = {x, y, radius}, top[3] = {x, y, 2 * radius}, foot[3] = {x, y, 0};
        double left[3] = {x - radius, y, radius}, front[3] = {x, y - radius, radius};
        int self = scene_body(s, centre, 1, 0.4 * radius * radius, fall);
        scene_contact(s, self, slab, top, up, 0.3);
        scene_contact(s, -1, self, foot, up, 0.3);
        if (k % WIDE) scene_contact(s, self - 1, self, left, along, 0.3);
        if (k >= WIDE) scene_contact(s, self - WIDE, self, front, across, 0.3);
    }
    dls_problem *p = scene_problem(s, matrix_free);
    scene_free(s);
    return p;
}

static void a_hub_leaves_the_rest_parallel(void **state) {
    (void)state;
    for (int form = 0; form < 2; form++) {
        dls_problem *p = slab_on_spheres(form);
        int n = dls_problem_row_count(p), blocks = dls_problem_block_count(p);
        double *r = doubles(n), *u = doubles(n), push[3] = {0, 0, 0};
        dls_solve_info info;
        dls_nlgs_options options = coloured_options(1e-5);
        check_colours(p);
        options.stop.threads = 2;
        solve(p, &options, r, u, &info);
        assert_true(info.colours >= 1 && info.colours <= 64);
        assert_true(info.serial_blocks >= SPHERES - 64 && info.serial_blocks < blocks / 2);
        assert_int_equal(info.outcome, DLS_CONVERGED);
        for (int k = 0; k < SPHERES; k++) {
            const double *own = r + 3 * slab_contact(k);
            for (int i = 0; i < 3; i++) push[i] += own[i];
        }
        /* the slab neither sinks nor flies, and slides on with what friction leaves of its speed */
        assert_true(fabs(push[0] / (200 * 9.81e-3) - 1) < 1e-2);
        options.stop.max_iterations = 20;
        options.stop.tolerance = 1e-14;
        check_threads(p, options, false);
        free(r), free(u);
        dls_problem_destroy(p);
    }
}

/* ---- W that couples one way only ---- */

/* Block c feels block j, and j does not feel c. */
static dls_problem *one_way_problem(dls_random *g, int blocks) {
    int rows = 3 * blocks, entries = 0;
    int64_t *start = calloc((size_t)rows + 1, sizeof(int64_t));
    int *column = malloc(sizeof(int) * (size_t)rows * 24);
    double *value = malloc(sizeof(double) * (size_t)rows * 24), *b = doubles(rows), *mu = doubles(blocks);
    for (int c = 0; c < blocks; c++) {
        int felt[3];
        for (int k = 0; k < 3; k++) felt[k] = (int)dls_random_below(g, (uint64_t)blocks);
        mu[c] = 0.4;
        for (int i = 0; i < 3; i++) {
            b[3 * c + i] = i ? dls_random_normal(g) : -1;
            column[entries] = 3 * c + i;
            value[entries++] = 2;
            for (int k = 0; k < 3; k++)
                for (int j = 0; felt[k] != c && j < 3; j++) {
                    column[entries] = 3 * felt[k] + j;
                    value[entries++] = 0.1 * dls_random_normal(g);
                }
            start[3 * c + i + 1] = entries;
        }
    }
    dls_problem_def def = {.block_count = blocks, .dimension = 3, .mu = mu, .b = b};
    dls_csr W = {rows, rows, start, column, value};
    dls_problem *p;
    assert_int_equal(dls_problem_create(&def, &W, &p, NULL), DLS_OK);
    free(start), free(column), free(value), free(b), free(mu);
    return p;
}

static void one_way_coupling(void **state) {
    (void)state;
    dls_random g = {44};
    for (int round = 0; round < 3; round++) {
        dls_problem *p = one_way_problem(&g, 1500);
        int without = check_colours(p);
        assert_true(without < 1500 / 3); /* colouring still pays */
        assert_same_velocity(p, 1e-10);
        check_threads(p, coloured_options(1e-10), false);
        dls_problem_destroy(p);
    }
}

/* ---- random order ---- */

static void random_order_follows_its_seed(void **state) {
    (void)state;
    dls_problem *p = generated(DLS_GENERATE_STACK, 50, 0.5, false);
    int n = dls_problem_row_count(p);
    double *r = doubles(n), *u = doubles(n);
    dls_solve_info info;
    dls_nlgs_options options = coloured_options(1e-12);
    options.order = DLS_ORDER_RANDOM;
    options.acceleration = DLS_PLAIN;
    options.stop.max_iterations = 10;
    uint64_t hash[4];
    for (int seed = 0; seed < 4; seed++) {
        options.seed = seed;
        hash[seed] = solve(p, &options, r, u, &info);
        assert_true(solve(p, &options, r, u, &info) == hash[seed]);
        for (int k = 0; k < seed; k++) assert_true(hash[k] != hash[seed]);
    }
    options.seed = 2147483647;
    solve(p, &options, r, u, &info);
    free(r), free(u);
    dls_problem_destroy(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colours_keep_coupled_blocks_apart),
        cmocka_unit_test(same_bits_on_any_number_of_threads),
        cmocka_unit_test(same_bits_in_the_plane_and_with_mixed_blocks),
        cmocka_unit_test(other_orders_ignore_threads),
        cmocka_unit_test(coloured_sweeps_find_the_solution),
        cmocka_unit_test(a_hub_leaves_the_rest_parallel),
        cmocka_unit_test(one_way_coupling),
        cmocka_unit_test(random_order_follows_its_seed),
    };
    return cmocka_run_group_tests_name("nlgs order", tests, NULL, NULL);
}
