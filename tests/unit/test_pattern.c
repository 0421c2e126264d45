/* Sparse symmetric matrices of solids: factors and solves against dense products, orders against what they
 * are for, and axes that turn. */
#include "base/memory.h"
#include "base/random.h"
#include "base/vector.h"
#include "support/near.h"
#include "support/test.h"
#include "world/solid/pattern.h"

#include <math.h>
#include <string.h>

/* Nodes of a grid of cells, moved about at random and numbered so. */
typedef struct grid {
    int nodes, cells;
    int64_t *start;
    int *node, *number;
    double *places;
} grid;

static grid make_grid(const int *cells, bool shuffled) {
    int side[3] = {cells[0] + 1, cells[1] + 1, cells[2] + 1}, cell = 0;
    grid g = {.nodes = side[0] * side[1] * side[2], .cells = cells[0] * cells[1] * cells[2]};
    dls_random random = {.state = 11};
    g.start = DLS_NEW(int64_t, g.cells + 1);
    g.node = DLS_NEW(int, 8 * g.cells);
    g.number = DLS_NEW(int, g.nodes);
    g.places = DLS_NEW(double, 3 * g.nodes);
    for (int k = 0; k < g.nodes; k++) g.number[k] = k;
    for (int k = g.nodes - 1; k > 0 && shuffled; k--) {
        int other = (int)(dls_random_unit(&random) * (k + 1)), kept = g.number[k];
        g.number[k] = g.number[other], g.number[other] = kept;
    }
    for (int k = 0; k < g.nodes; k++) {
        double *at = g.places + 3 * g.number[k];
        vec_set(at, k % side[0], k / side[0] % side[1], k / (side[0] * side[1]));
    }
    for (int k = 0; k < g.nodes; k++) {
        int x = k % side[0], y = k / side[0] % side[1], z = k / (side[0] * side[1]);
        if (x == cells[0] || y == cells[1] || z == cells[2]) continue;
        g.start[cell] = 8 * (int64_t)cell;
        for (int c = 0; c < 8; c++)
            g.node[8 * cell + c] =
                g.number[k + (c & 1) + side[0] * (c >> 1 & 1) + side[0] * side[1] * (c >> 2)];
        cell++;
    }
    g.start[cell] = 8 * (int64_t)cell;
    return g;
}

static void free_grid(grid *g) {
    dls_free(g->start), dls_free(g->node), dls_free(g->number), dls_free(g->places);
}

static dls_pattern *pattern_of(const grid *g, int size) {
    dls_pattern *p =
        dls_pattern_create(g->nodes, size, &(dls_groups){g->cells, g->start, g->node}, g->places);
    assert_non_null(p);
    return p;
}

/* Any numbers off the diagonal, and enough on it. */
static double *random_matrix(const dls_pattern *p, dls_random *g) {
    int size = p->size;
    double *A = DLS_NEW(double, dls_pattern_numbers(p));
    for (int64_t k = 0; k < dls_pattern_numbers(p); k++) A[k] = dls_random_normal(g);
    for (int i = 0; i < p->nodes; i++) {
        double *D = A + dls_pattern_block(p, i, i);
        for (int r = 0; r < size; r++) {
            D[r * size + r] = 60 + 20 * size;
            for (int c = 0; c < r; c++) D[c * size + r] = D[r * size + c];
        }
    }
    return A;
}

/* A x = b by L, with b from the dense matrix. */
static void check_solve(const dls_pattern *p) {
    dls_random g = {.state = 5};
    int n = dls_pattern_freedoms(p);
    double *A = random_matrix(p, &g), *full = DLS_NEW(double, n *n), *L, *room, *x, *b, *y, *product;
    L = DLS_NEW(double, dls_pattern_factor_numbers(p)), room = DLS_NEW(double, dls_pattern_room(p));
    x = DLS_NEW(double, n), b = DLS_NEW_ZERO(double, n), y = DLS_NEW(double, n);
    product = DLS_NEW_ZERO(double, n);
    dls_pattern_spread(p, A, full);
    for (int i = 0; i < n; i++) x[i] = dls_random_normal(&g);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) b[i] += full[i * n + k] * x[k];
    dls_pattern_multiply(p, A, x, product);
    for (int i = 0; i < n; i++) assert_near(product[i], b[i], 1e-11);
    assert_true(dls_pattern_factor(p, A, L, room));
    dls_pattern_enter(p, b, y);
    dls_pattern_forward(p, L, y);
    dls_pattern_back(p, L, y);
    dls_pattern_leave(p, y, b);
    for (int i = 0; i < n; i++) assert_near(b[i], x[i], 1e-13);
    double square = 0, root = 0;
    for (int i = 0; i < n; i++) square += x[i] * product[i];
    dls_pattern_enter(p, x, y);
    dls_pattern_upper(p, L, y);
    for (int i = 0; i < n; i++) root += y[i] * y[i];
    assert_near(root, square, 1e-13 * square);
    A[dls_pattern_block(p, p->nodes / 2, p->nodes / 2)] = -1;
    assert_false(dls_pattern_factor(p, A, L, room));
    dls_free(A), dls_free(full), dls_free(L), dls_free(room);
    dls_free(x), dls_free(b), dls_free(y), dls_free(product);
}

static void test_solves(void **state) {
    (void)state;
    static const int cells[][3] = {{1, 1, 1}, {3, 2, 4}, {9, 1, 1}, {4, 4, 4}};
    for (int k = 0; k < 4; k++)
        for (int size = 1; size <= 4; size++) {
            grid g = make_grid(cells[k], size > 1);
            dls_pattern *p = pattern_of(&g, size);
            check_solve(p);
            dls_pattern_destroy(p);
            free_grid(&g);
        }
    for (int n = 1; n <= 24; n += 23) {
        dls_pattern *p = dls_pattern_create_full(n);
        assert_int_equal(dls_pattern_numbers(p), n * n);
        check_solve(p);
        dls_pattern_destroy(p);
    }
}

/* Rows that touch few nodes: the same bits along their ways to the root alone. */
static void test_few_places(void **state) {
    (void)state;
    dls_random g = {.state = 9};
    grid box = make_grid((int[]){5, 4, 3}, true);
    dls_pattern *p = pattern_of(&box, 3);
    int n = dls_pattern_freedoms(p);
    double *A = random_matrix(p, &g), *L = DLS_NEW(double, dls_pattern_factor_numbers(p)),
           *room = DLS_NEW(double, dls_pattern_room(p)), *whole = DLS_NEW(double, n),
           *few = DLS_NEW(double, n);
    assert_true(dls_pattern_factor(p, A, L, room));
    for (int round = 0; round < 50; round++) {
        int places[6], count = 1 + round % 6;
        memset(whole, 0, sizeof *whole * (size_t)n);
        for (int k = 0; k < count; k++) {
            places[k] = (int)(dls_random_unit(&g) * p->nodes);
            for (int d = 0; d < 3; d++) whole[3 * places[k] + d] += dls_random_normal(&g);
        }
        memcpy(few, whole, sizeof *few * (size_t)n);
        dls_pattern_forward(p, L, whole);
        dls_pattern_forward_from(p, L, places, count, few);
        for (int i = 0; i < n; i++) assert_true(few[i] == whole[i]);
    }
    dls_free(A), dls_free(L), dls_free(room), dls_free(whole), dls_free(few);
    dls_pattern_destroy(p);
    free_grid(&box);
}

/* Who is coupled: those of one cell, and nobody else. */
static void test_blocks(void **state) {
    (void)state;
    grid g = make_grid((int[]){3, 3, 2}, true);
    dls_pattern *p = pattern_of(&g, 3);
    for (int i = 0; i < g.nodes; i++)
        for (int j = 0; j <= i; j++) {
            double away = 0;
            for (int d = 0; d < 3; d++) away = fmax(away, fabs(g.places[3 * i + d] - g.places[3 * j + d]));
            assert_int_equal(dls_pattern_block(p, i, j) >= 0, away < 1.5);
        }
    dls_pattern_destroy(p);
    free_grid(&g);
}

static int way_to_root(const dls_pattern *p, int place) {
    int count = 0;
    for (; place >= 0; place = p->parent[place]) count++;
    return count;
}

/* What the order is for: few numbers in L, short ways. Planes of a cube of 9³ nodes give 39,020 blocks of L;
 * those of the order of rows have 59,697, whatever the numbering. Ways in a chain grow like its logarithm. */
static void test_order(void **state) {
    (void)state;
    for (int shuffled = 0; shuffled < 2; shuffled++) {
        grid g = make_grid((int[]){8, 8, 8}, shuffled);
        dls_pattern *p = pattern_of(&g, 3);
        print_message("# 9³ nodes: %lld blocks of L, %.3g flops\n", (long long)p->below[p->nodes], p->flops);
        assert_true(p->below[p->nodes] < 42000);
        dls_pattern_destroy(p);
        free_grid(&g);
    }
    grid chain = make_grid((int[]){999, 0, 0}, true);
    int64_t *start = DLS_NEW(int64_t, 1000);
    int *node = DLS_NEW(int, 2 * 999), longest = 0;
    for (int k = 0; k < 999; k++)
        start[k] = 2 * k, node[2 * k] = chain.number[k], node[2 * k + 1] = chain.number[k + 1];
    start[999] = 2 * 999;
    dls_pattern *p = dls_pattern_create(1000, 2, &(dls_groups){999, start, node}, chain.places);
    for (int k = 0; k < 1000; k++) longest = longest < way_to_root(p, k) ? way_to_root(p, k) : longest;
    print_message("# chain of 1000: ways of at most %d\n", longest);
    assert_true(longest <= 20);
    dls_free(start), dls_free(node);
    dls_pattern_destroy(p);
    free_grid(&chain);
}

/* R, and back. */
static void test_turn(void **state) {
    (void)state;
    grid g = make_grid((int[]){2, 1, 1}, false);
    double q[4] = {0.5, -0.1, 0.7, 0.5}, R[9], x[36], kept[36];
    quat_normalize(q);
    quat_matrix(q, R);
    dls_pattern *p = pattern_of(&g, 3);
    for (int i = 0; i < 36; i++) kept[i] = x[i] = i * i % 7;
    dls_pattern_turn(p, R, false, x);
    for (int node = 0; node < 12; node++) {
        double turned[3];
        mat_apply(turned, R, kept + 3 * node);
        for (int d = 0; d < 3; d++) assert_near(x[3 * node + d], turned[d], 1e-14);
    }
    dls_pattern_turn(p, R, true, x);
    for (int i = 0; i < 36; i++) assert_near(x[i], kept[i], 1e-14);
    dls_pattern_destroy(p);
    free_grid(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solves), cmocka_unit_test(test_few_places), cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_order),  cmocka_unit_test(test_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
