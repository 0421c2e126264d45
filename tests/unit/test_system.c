/* The linear system (A + B (W + α)) x = y against dense references, dense and sparse. */
#include "problem/matrix.h"
#include "problem/problem.h"
#include "solve/global/matrix.h"
#include "solve/global/system.h"
#include "support/allocator.h"
#include "support/dense.h"
#include "support/multibody.h"
#include "support/sample.h"
#include "support/scale.h"
#include "support/test.h"

#include <SuiteSparse_config.h>
#include <dlfcn.h>
#include <math.h>

/* A random system: its blocks, and the whole matrix the plain way. */
typedef struct system_case {
    sample s;
    dls_problem *problem;
    double *A, *B, *y, *x;
    bool *left_out;
    double alpha;
} system_case;

static double *doubles(int count) { return calloc((size_t)count + 1, sizeof(double)); }

/* W by rows of G: the system is one of bodies then. */
static dls_problem *by_rows(const sample *s) {
    dls_problem *given = sample_matrix_free(s), *copy;
    dls_error error;
    assert_true(dls_problem_has_rows(given));
    assert_int_equal(dls_problem_copy_rows(given, &copy, &error), DLS_OK);
    dls_problem_destroy(given);
    return copy;
}

static system_case case_create(dls_random *g, const sample_shape *shape, bool bodies) {
    system_case x = {.s = sample_create(g, shape)};
    x.problem = bodies ? by_rows(&x.s) : sample_stored(&x.s);
    x.A = doubles(36 * shape->blocks);
    x.B = doubles(36 * shape->blocks);
    x.y = doubles(x.s.rows);
    x.x = doubles(x.s.rows);
    x.left_out = calloc((size_t)shape->blocks + 1, sizeof(bool));
    return x;
}

static void case_free(system_case *x) {
    free(x->A), free(x->B), free(x->y), free(x->x), free(x->left_out);
    dls_problem_destroy(x->problem);
    sample_free(&x->s);
}

/* Blocks near I, so that the matrix is regular; every block is left out with this chance. */
static void case_draw(dls_random *g, system_case *x, double leave_out) {
    const sample *s = &x->s;
    x->alpha = dls_random_below(g, 2) ? dls_random_unit(g) : 0;
    for (int c = 0, at = 0; c < s->def.block_count; at += s->size[c] * s->size[c], c++) {
        for (int k = 0; k < s->size[c] * s->size[c]; k++) {
            x->A[at + k] = (k % (s->size[c] + 1) == 0) + 0.2 * dls_random_normal(g);
            x->B[at + k] = 0.5 * (k % (s->size[c] + 1) == 0) + 0.1 * dls_random_normal(g);
        }
        x->left_out[c] = dls_random_unit(g) < leave_out;
    }
    for (int i = 0; i < s->rows; i++) x->y[i] = dls_random_normal(g);
}

/* W_ij in the units of the rows inside. */
static double matrix_entry(const system_case *x, int i, int j) {
    const double *unit = x->problem->unit;
    return x->s.W[i + x->s.rows * j] * (unit ? unit[i] * unit[j] : 1);
}

/* All rows of A + B (W + α), and of the identity where a block is left out. */
static double *case_matrix(const system_case *x) {
    const sample *s = &x->s;
    int n = s->rows, row = 0, at = 0;
    double *J = doubles(n * n);
    for (int c = 0; c < s->def.block_count; at += s->size[c] * s->size[c], row += s->size[c], c++)
        for (int i = 0, d = s->size[c]; i < d; i++) {
            if (x->left_out[c]) {
                J[row + i + n * (row + i)] = 1;
                continue;
            }
            for (int j = 0; j < d; j++) J[row + i + n * (row + j)] = x->A[at + i + d * j];
            for (int k = 0; k < d; k++)
                for (int j = 0; j < n; j++)
                    J[row + i + n * j] +=
                        x->B[at + i + d * k] * (matrix_entry(x, row + k, j) + (row + k == j ? x->alpha : 0));
        }
    return J;
}

static void check_solution(const system_case *x, dls_system *system, double rounding) {
    int n = x->s.rows;
    double *J = case_matrix(x);
    for (int right = 0; right < 2; right++) { /* a factorisation serves several right-hand sides */
        memcpy(x->x, x->y, sizeof(double) * (size_t)n);
        assert_true(dls_system_solve(system, x->x));
        double error = dense_residual(n, J, x->x, x->y) / dense_norm(n, x->y);
        if (!(error < 1e-10 + rounding * dense_norm(n, x->x) / dense_norm(n, x->y)))
            fail_msg("%d rows: residual %g", n, error);
        for (int i = 0; i < n; i++) x->y[i] = 1 - 2 * x->y[i];
    }
    free(J);
}

static void check_system(dls_random *g, const sample_shape *shape, int rounds, bool bodies) {
    system_case x = case_create(g, shape, bodies);
    dls_system *system;
    dls_error error;
    if (dls_system_create(x.problem, INFINITY, &system, &error)) fail_msg("%s", error.message);
    for (int round = 0; round < rounds; round++) {
        const double shares[] = {0, 0.3, 0.9, 1};
        case_draw(g, &x, shares[round % 4]);
        assert_true(dls_system_factor(system, x.A, x.B, x.alpha, x.left_out));
        assert_int_equal(dls_system_factor_count(system), round + 1);
        check_solution(&x, system, 0);
    }
    dls_system_destroy(system);
    case_free(&x);
}

/* Contacts of 2, 3, 4 rows with bilateral blocks of 1 … 6; few bodies make a dense W, many a sparse one. */
static void random_systems(void **state) {
    (void)state;
    dls_random g = {81};
    const int blocks[] = {1, 2, 7, 30, 60, 110};
    for (int k = 0; k < 6; k++)
        for (int dimension = 0; dimension <= 4; dimension += dimension ? 1 : 2)
            for (int dense = 0; dense < 2; dense++) {
                int count = k > 3 ? scaled(blocks[k], 35) : blocks[k];
                sample_shape shape = {.blocks = count,
                                      .bodies = dense ? 1 + count / 10 : count,
                                      .dof = 6,
                                      .dimension = dimension,
                                      .bilateral_every = k % 2 ? 3 : 0,
                                      .mu_high = 1,
                                      .coupling = 0.4};
                check_system(&g, &shape, 8, false);
                shape.bilateral_every = 0;
                check_system(&g, &shape, 8, true);
                shape.dof = 3 + k; /* of any number */
                check_system(&g, &shape, 4, true);
            }
}

/* A row of bodies is a band: KLU takes it, for far fewer flops than a dense factorisation. */
static void sparse_systems_cost_less(void **state) {
    (void)state;
    dls_random g = {82};
    double cost[2];
    for (int dense = 0; dense < 2; dense++) {
        sample_shape shape = {
            .blocks = 120, .bodies = dense ? 2 : 120, .dof = 6, .dimension = 3, .coupling = 0.4};
        system_case x = case_create(&g, &shape, false);
        dls_system *system;
        assert_int_equal(dls_system_create(x.problem, INFINITY, &system, NULL), DLS_OK);
        cost[dense] = dls_system_cost(system);
        assert_true(dls_system_least_cost(x.problem) < cost[dense]);
        dls_system_destroy(system);
        case_free(&x);
    }
    assert_true(cost[0] < 0.1 * cost[1]);
}

/* Patterns that alternate, among them two of one size: factors of one must not serve another. */
static void check_patterns_change(bool bodies) {
    dls_random g = {83};
    sample_shape shape = {.blocks = 60, .bodies = 60, .dof = 6, .dimension = 3, .coupling = 0.4};
    system_case x = case_create(&g, &shape, bodies);
    dls_system *system;
    assert_int_equal(dls_system_create(x.problem, INFINITY, &system, NULL), DLS_OK);
    for (int round = 0; round < 24; round++) {
        case_draw(&g, &x, 0);
        if (round % 3) x.left_out[(7 * round) % 60] = x.left_out[(7 * round + 13) % 60] = true;
        assert_true(dls_system_factor(system, x.A, x.B, x.alpha, x.left_out));
        check_solution(&x, system, 0);
    }
    dls_system_destroy(system);
    case_free(&x);
}

static void patterns_change(void **state) {
    (void)state;
    check_patterns_change(false);
    check_patterns_change(true);
}

/* Blocks near I, then blocks whose diagonals nearly vanish: pivots of the former must not serve the latter,
 * though the pattern is the same. */
static void check_pivots_that_no_longer_serve(bool bodies) {
    dls_random g = {89};
    sample_shape shape = {.blocks = 60, .bodies = 60, .dof = 6, .dimension = 3, .coupling = 0.4};
    system_case x = case_create(&g, &shape, bodies);
    dls_system *system;
    assert_int_equal(dls_system_create(x.problem, INFINITY, &system, NULL), DLS_OK);
    for (int round = 0; round < 12; round++) {
        case_draw(&g, &x, 0);
        double tiny = pow(10, -2 * round); /* 1 … 1e-22 */
        for (int c = 0; round % 2 && c < shape.blocks; c++)
            for (int i = 0; i < 3; i++)
                for (int j = 0; j < 3; j++) {
                    x.A[9 * c + i + 3 * j] = j == (i + 1) % 3 ? 1 + dls_random_unit(&g) : i == j ? tiny : 0;
                    x.B[9 * c + i + 3 * j] = 0;
                }
        assert_true(dls_system_factor(system, x.A, x.B, x.alpha, x.left_out));
        check_solution(&x, system, 0);
    }
    dls_system_destroy(system);
    case_free(&x);
}

static void pivots_that_no_longer_serve(void **state) {
    (void)state;
    check_pivots_that_no_longer_serve(false);
    check_pivots_that_no_longer_serve(true);
}

/* Zero rows, a zero block, and numbers that are none: refused by the factorisation or by the solve. */
static void singular_systems(void **state) {
    (void)state;
    dls_random g = {84};
    for (int size = 4; size <= 60; size += 56)
        for (int kind = 0; kind < 8; kind++) {
            sample_shape shape = {.blocks = size, .bodies = size, .dof = 6, .dimension = 3, .coupling = 0.4};
            system_case x = case_create(&g, &shape, kind > 3);
            dls_system *system;
            assert_int_equal(dls_system_create(x.problem, INFINITY, &system, NULL), DLS_OK);
            case_draw(&g, &x, 0);
            for (int j = 0; j < 3; j++) {
                if (kind % 4 == 0) x.A[9 + 3 * j] = x.B[9 + 3 * j] = 0; /* one row of block 1 */
                if (kind % 4 == 1) x.A[j] = x.A[3 + j] = x.A[6 + j] = x.B[j] = x.B[3 + j] = x.B[6 + j] = 0;
            }
            if (kind % 4 == 2) x.A[9] = NAN;
            if (kind % 4 == 3) x.B[9] = INFINITY;
            memcpy(x.x, x.y, sizeof(double) * (size_t)x.s.rows);
            bool solved =
                dls_system_factor(system, x.A, x.B, x.alpha, x.left_out) && dls_system_solve(system, x.x);
            if (solved) fail_msg("%d blocks, kind %d: solved", size, kind);
            case_draw(&g, &x, 0.2); /* and nothing of it stays */
            assert_true(dls_system_factor(system, x.A, x.B, x.alpha, x.left_out));
            check_solution(&x, system, 0);
            dls_system_destroy(system);
            case_free(&x);
        }
}

/* With nothing in the system its solution is what was given. */
static void check_empty_systems(bool bodies) {
    dls_random g = {85};
    sample_shape shape = {.blocks = 40, .bodies = 40, .dof = 6, .dimension = 3, .coupling = 0.4};
    system_case x = case_create(&g, &shape, bodies);
    dls_system *system;
    assert_int_equal(dls_system_create(x.problem, INFINITY, &system, NULL), DLS_OK);
    case_draw(&g, &x, 1);
    memcpy(x.x, x.y, sizeof(double) * (size_t)x.s.rows);
    assert_true(dls_system_factor(system, x.A, x.B, 0, x.left_out));
    assert_true(dls_system_solve(system, x.x));
    assert_memory_equal(x.x, x.y, sizeof(double) * (size_t)x.s.rows);
    dls_system_destroy(system);
    case_free(&x);
}

static void empty_systems(void **state) {
    (void)state;
    check_empty_systems(false);
    check_empty_systems(true);
}

/* All contacts stick, with a small α: A = 0, B = 1. W is singular, for there are more impulses than motions,
 * so that digits are lost in D⁻¹ = 1/α; what is left of y is solved for again. */
static void small_alpha(void **state) {
    (void)state;
    dls_random g = {91};
    sample_shape shape = {.blocks = 60, .bodies = 6, .dof = 6, .dimension = 3, .coupling = 0.4};
    system_case x = case_create(&g, &shape, true);
    dls_system *system;
    assert_int_equal(dls_system_create(x.problem, INFINITY, &system, NULL), DLS_OK);
    for (double alpha = 1e-2; alpha > 1e-9; alpha *= 1e-2) {
        case_draw(&g, &x, 0);
        x.alpha = alpha;
        for (int k = 0; k < 9 * shape.blocks; k++) x.A[k] = 0, x.B[k] = k % 9 % 4 == 0;
        assert_true(dls_system_factor(system, x.A, x.B, x.alpha, x.left_out));
        check_solution(&x, system, 1e-14);
    }
    dls_system_destroy(system);
    case_free(&x);
}

/* A band with a large diagonal, then one whose diagonal nearly vanishes: whoever looks at what is left sees
 * that the pivots of the first do not serve the second, and asks for others once. */
static void pivots_anew(void **state) {
    (void)state;
    enum { N = 200 };
    dls_factored f;
    double flops, x[N], left[2];
    assert_int_equal(dls_factored_create(&f, N, 2 * N, NULL), DLS_OK);
    f.refined = true;
    for (int i = 0; i < N; i++) {
        int a = i, b = (i + 1) % N;
        f.start[i + 1] = 2 * (i + 1);
        f.index[2 * i] = a < b ? a : b, f.index[2 * i + 1] = a < b ? b : a;
    }
    f.start[0] = 0;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < N; i++)
            for (int k = 2 * i; k < 2 * i + 2; k++) f.value[k] = (f.index[k] == i) == !round ? 1 : 0.5;
        assert_true(dls_factored_factor(&f, &flops));
        assert_true(f.fresh == !round);
        for (int anew = 0; anew <= round; anew++) {
            for (int i = 0; i < N; i++) x[i] = 1 + i % 3;
            assert_true(dls_factored_solve(&f, x));
            left[anew] = 0;
            for (int i = 0; i < N; i++) {
                double sum = -1 - i % 3;
                for (int k = f.start[i]; k < f.start[i + 1]; k++) sum += f.value[k] * x[f.index[k]];
                left[anew] = fmax(left[anew], fabs(sum));
            }
            assert_true(dls_factored_renew(&f) == (round && !anew));
        }
    }
    if (!(left[1] < 1e-10)) fail_msg("left %g, with pivots anew %g", left[0], left[1]);
    if (left[0] < 1e3 * left[1]) fail_msg("nothing was left before either: %g", left[0]);
    dls_factored_free(&f);
}

/* ---- cost and memory ---- */

static size_t largest_block;

static void *watch_allocate(size_t bytes, void *user) {
    (void)user;
    largest_block = bytes > largest_block ? bytes : largest_block;
    return malloc(bytes);
}

static void watch_release(void *block, void *user) {
    (void)user;
    free(block);
}

/* A system that would cost too much says what it costs, and takes no n² of memory. */
static void dear_systems_take_no_memory(void **state) {
    (void)state;
    dls_random g = {87};
    multibody_shape shape = {.bodies = 60, .contacts = 200, .mu_high = 1, .lever = 1}; /* full of fill */
    dls_problem *p = multibody_problem(&g, &shape);
    size_t matrix = sizeof(double) * (size_t)dls_problem_row_count(p) * (size_t)dls_problem_row_count(p);
    double cost = 0;
    for (int dear = 0; dear < 2; dear++) {
        dls_system *system;
        largest_block = 0;
        dls_allocator_set(&(dls_allocator){watch_allocate, watch_release, NULL});
        double limit = dear ? cost / 2 : (double)INFINITY;
        assert_int_equal(dls_system_create(p, limit, &system, NULL), DLS_OK);
        if (dear) assert_true(dls_system_cost(system) == cost);
        cost = dls_system_cost(system);
        dls_system_destroy(system);
        dls_allocator_set(NULL);
        assert_true(dear ? largest_block < matrix / 2 : largest_block >= matrix);
    }
    dls_problem_destroy(p);
}

/* The bound without analysis, told by the problem as it was given: contacts of packings outnumber bodies, so
 * that these are what is factored, for less. */
static void least_cost_needs_no_matrix(void **state) {
    (void)state;
    for (int kind = DLS_GENERATE_PACKING; kind <= DLS_GENERATE_DISCS; kind++) {
        dls_problem *stored = generated((dls_generator)kind, 200, 0.5, false);
        dls_problem *implicit = generated((dls_generator)kind, 200, 0.5, true), *rows;
        dls_system *of_rows, *of_bodies;
        double bound = dls_system_least_cost(implicit);
        assert_true(dls_system_is_of_bodies(implicit) && !dls_system_is_of_bodies(stored));
        assert_int_equal(dls_problem_copy_rows(implicit, &rows, NULL), DLS_OK);
        assert_int_equal(dls_system_create(stored, INFINITY, &of_rows, NULL), DLS_OK);
        assert_int_equal(dls_system_create(rows, INFINITY, &of_bodies, NULL), DLS_OK);
        assert_true(bound == dls_system_least_cost(rows) && bound <= dls_system_cost(of_bodies));
        assert_true(dls_system_least_cost(stored) <= dls_system_cost(of_rows));
        assert_true(dls_system_cost(of_bodies) < dls_system_cost(of_rows));
        dls_system_destroy(of_rows);
        dls_system_destroy(of_bodies);
        dls_problem_destroy(stored);
        dls_problem_destroy(implicit);
        dls_problem_destroy(rows);
    }
}

/* Factorisations and solves take nothing from the allocator. */
static void no_allocation_after_creation(void **state) {
    (void)state;
    dls_random g = {86};
    for (int k = 0; k < 4; k++) {
        int size = k % 2 ? 60 : 10;
        sample_shape shape = {.blocks = size, .bodies = size, .dof = 6, .dimension = 3, .coupling = 0.4};
        system_case x = case_create(&g, &shape, k > 1);
        dls_system *system;
        counting_begin(0);
        assert_int_equal(dls_system_create(x.problem, INFINITY, &system, NULL), DLS_OK);
        int before = counting_allocations();
        for (int round = 0; round < 5; round++) {
            case_draw(&g, &x, 0.1 * round);
            assert_true(dls_system_factor(system, x.A, x.B, x.alpha, x.left_out));
            memcpy(x.x, x.y, sizeof(double) * (size_t)x.s.rows);
            assert_true(dls_system_solve(system, x.x));
        }
        assert_int_equal(counting_allocations(), before);
        dls_system_destroy(system);
        assert_int_equal(counting_end(), 0);
        case_free(&x);
    }
}

/* KLU has an allocator of its own, which counts here. */
static int asked_by_klu;

static void *count_malloc(size_t bytes) {
    asked_by_klu++;
    return malloc(bytes);
}

static void *count_calloc(size_t count, size_t bytes) {
    asked_by_klu++;
    return calloc(count, bytes);
}

static void *count_realloc(void *block, size_t bytes) {
    asked_by_klu++;
    return realloc(block, bytes);
}

/* NULL where this version keeps its functions to itself. */
static struct SuiteSparse_config_struct *klu_functions(void) {
#if SUITESPARSE_MAIN_VERSION < 6
    return dlsym(dlopen(NULL, RTLD_LAZY), "SuiteSparse_config");
#else
    return NULL;
#endif
}

/* While the pattern stays and the pivots serve, neither does KLU take memory. */
static void no_allocation_while_pivots_serve(void **state) {
    (void)state;
    struct SuiteSparse_config_struct *functions = klu_functions();
    if (!functions) {
        print_message("this KLU's allocator cannot be watched\n");
        skip();
    }
    struct SuiteSparse_config_struct before = *functions;
    dls_random g = {90};
    sample_shape shape = {.blocks = 60, .bodies = 60, .dof = 6, .dimension = 3, .coupling = 0.4};
    system_case x = case_create(&g, &shape, false);
    dls_system *system;
    functions->malloc_func = count_malloc;
    functions->calloc_func = count_calloc;
    functions->realloc_func = count_realloc;
    assert_int_equal(dls_system_create(x.problem, INFINITY, &system, NULL), DLS_OK);
    for (int round = 0; round < 6; round++) {
        case_draw(&g, &x, 0);
        asked_by_klu = 0;
        assert_true(dls_system_factor(system, x.A, x.B, x.alpha, x.left_out));
        assert_true(round ? asked_by_klu == 0 : asked_by_klu > 0);
        check_solution(&x, system, 0);
    }
    dls_system_destroy(system);
    case_free(&x);
    *functions = before;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_systems),
        cmocka_unit_test(sparse_systems_cost_less),
        cmocka_unit_test(patterns_change),
        cmocka_unit_test(pivots_that_no_longer_serve),
        cmocka_unit_test(singular_systems),
        cmocka_unit_test(empty_systems),
        cmocka_unit_test(small_alpha),
        cmocka_unit_test(pivots_anew),
        cmocka_unit_test(dear_systems_take_no_memory),
        cmocka_unit_test(least_cost_needs_no_matrix),
        cmocka_unit_test(no_allocation_after_creation),
        cmocka_unit_test(no_allocation_while_pivots_serve),
    };
    return cmocka_run_group_tests_name("system", tests, NULL, NULL);
}
