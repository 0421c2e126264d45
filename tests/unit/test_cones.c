/* The pairs of cones of the interior point: that they are the law, by its words; their directions against
 * differences of the equations that they solve; their start. */
#include "base/memory.h"
#include "base/random.h"
#include "solve/global/cones.h"
#include "support/dense.h"
#include "support/sample.h"
#include "support/scale.h"
#include "support/test.h"

enum { BLOCKS = 8, ROWS = 6 * BLOCKS };

/* Contacts of all layouts, some parts without friction, and rows with no, one and two bounds, or one impulse.
 */
typedef struct bench {
    dls_problem *problem;
    dls_workspace *workspace;
    dls_cones cones;
    double r[ROWS], u[ROWS], W[ROWS * ROWS];
} bench;

static const uint8_t LAYOUTS[] = {DLS_PARTS(0, 0, 0), DLS_PARTS(1, 0, 0), DLS_PARTS(2, 0, 0),
                                  DLS_PARTS(3, 0, 0), DLS_PARTS(1, 1, 0), DLS_PARTS(2, 2, 0),
                                  DLS_PARTS(2, 2, 1), DLS_PARTS(0, 2, 1), DLS_PARTS(0, 0, 1)};

static double random_mu(dls_random *g) {
    return dls_random_below(g, 6) ? dls_random_between(g, 0.05, 1.5) : 0;
}

static void set_bounds(dls_random *g, double *low, double *high) {
    uint64_t kind = dls_random_below(g, 5);
    *low = kind == 0 || kind == 1 ? -HUGE_VAL : dls_random_between(g, -2, 1);
    *high = kind == 0 || kind == 2 ? HUGE_VAL : kind == 4 ? *low : dls_random_between(g, 1, 3);
}

static void bench_create(dls_random *g, bench *x) {
    int size[BLOCKS], rows = 0;
    uint8_t kind[BLOCKS], parts[BLOCKS];
    double mu[3][BLOCKS], b[ROWS], low[ROWS], high[ROWS], G[ROWS * ROWS];
    for (int c = 0; c < BLOCKS; c++) {
        parts[c] = LAYOUTS[dls_random_below(g, sizeof LAYOUTS)];
        kind[c] = c % 3 == 2 ? DLS_INTERVAL : DLS_CONTACT;
        size[c] = kind[c] == DLS_CONTACT ? 1 + (parts[c] & 3) + (parts[c] >> 2 & 3) + (parts[c] >> 4)
                                         : 1 + (int)dls_random_below(g, 6);
        for (int k = 0; k < 3; k++) mu[k][c] = random_mu(g);
        for (int i = 0; i < size[c]; i++, rows++) {
            b[rows] = dls_random_normal(g);
            set_bounds(g, &low[rows], &high[rows]);
        }
    }
    for (int k = 0; k < rows * rows; k++) G[k] = (k % (rows + 1) == 0) + 0.2 * dls_random_normal(g);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < rows; j++) {
            x->W[i + rows * j] = 0;
            for (int k = 0; k < rows; k++) x->W[i + rows * j] += G[i * rows + k] * G[j * rows + k];
        }
    low[size[0] + size[1]] = -1, high[size[0] + size[1]] = 1; /* one at least has bounds */
    dls_problem_def def = {.block_count = BLOCKS,
                           .block_size = size,
                           .block_kind = kind,
                           .block_parts = parts,
                           .mu = mu[0],
                           .mu_rolling = mu[1],
                           .mu_spinning = mu[2],
                           .low = low,
                           .high = high,
                           .b = b};
    x->problem = dense_problem(&def, rows, x->W);
    x->workspace = dls_workspace_create();
    assert_true(dls_cones_prepare(&x->cones, x->problem, x->workspace));
}

static void bench_destroy(bench *x) {
    dls_workspace_destroy(x->workspace);
    dls_problem_destroy(x->problem);
}

/* ---- the law by its words ---- */

/* One cone of block c: rows of r, and x₀ = slope · r + offset. */
typedef struct words {
    int row, tail, size;
    double slope, offset;
} words;

/* The cones of block c as the head of cones.h lists them; returns how many. */
static int words_of(const dls_problem *p, int c, words *list) {
    int count = 0, row = p->row[c];
    if (p->kind[c] == DLS_CONTACT) {
        dls_cone cone = dls_cone_of(p, c);
        for (int k = 0, at = row + 1; k < cone.count; at += cone.size[k++])
            if (cone.mu[k] > 0) list[count++] = (words){row, at, 1 + cone.size[k], cone.mu[k], 0};
        if (count == 0) list[count++] = (words){row, row, 1, 1, 0};
        return count;
    }
    for (int i = row; i < p->row[c + 1]; i++) {
        if (p->low[i] == p->high[i]) continue;
        if (isfinite(p->low[i])) list[count++] = (words){i, i, 1, 1, -p->low[i]};
        if (isfinite(p->high[i])) list[count++] = (words){i, i, 1, -1, p->high[i]};
    }
    return count;
}

/* A random interior point: r that all laws allow, x that belongs to it, and any z. */
static void go_inside(dls_random *g, bench *x) {
    const dls_problem *p = x->problem;
    words list[2 * DLS_MAX_BLOCK];
    int at = 0;
    for (int i = 0; i < p->row_count; i++) x->u[i] = dls_random_normal(g);
    for (int c = 0; c < BLOCKS; c++) {
        int count = words_of(p, c, list);
        for (int i = p->row[c]; i < p->row[c + 1]; i++) {
            double low = p->low[i], high = p->high[i], share = dls_random_between(g, 0.1, 0.9);
            bool above = isfinite(low), below = isfinite(high);
            x->r[i] = above && below ? low + share * (high - low)
                      : above        ? low + share
                      : below        ? high - share
                                     : dls_random_normal(g);
        }
        if (p->kind[c] == DLS_CONTACT) x->r[p->row[c]] = dls_random_between(g, 0.2, 2);
        for (int k = 0; k < count; at += list[k++].size) {
            double *r = x->r + list[k].tail, *z = x->cones.z + at;
            double length = small_norm(list[k].size - 1, r), most = list[k].slope * x->r[list[k].row];
            for (int i = 0; i < list[k].size - 1; i++)
                r[i] *= dls_random_between(g, 0.3, 0.9) * most / length;
            x->cones.x[at] = list[k].slope * x->r[list[k].row] + list[k].offset;
            for (int i = 1; i < list[k].size; i++) x->cones.x[at + i] = r[i - 1], z[i] = dls_random_normal(g);
            z[0] = (1 + dls_random_unit(g)) * small_norm(list[k].size - 1, z + 1) + 0.1;
        }
    }
    assert_int_equal(at, x->cones.entries);
}

/* Equation of motion of block c, normal rows over the largest μ_k; rows whose impulse is given have none. */
static void motion_by_words(const bench *x, int c, int at, double *y) {
    const dls_problem *p = x->problem;
    words list[2 * DLS_MAX_BLOCK];
    int count = words_of(p, c, list), d = dls_size(p, c), row = p->row[c];
    double largest = p->kind[c] == DLS_CONTACT ? 0 : 1;
    for (int k = 0; k < count; k++) largest = fmax(largest, list[k].slope);
    for (int i = 0; i < d; i++) {
        bool has = p->kind[c] == DLS_CONTACT ? i == 0 : p->low[row + i] < p->high[row + i];
        y[i] = has ? -x->u[row + i] : 0;
    }
    for (int k = 0; k < count; at += list[k++].size) {
        const double *z = x->cones.z + at;
        int tail = list[k].tail - row;
        y[list[k].row - row] += list[k].slope * (z[0] - small_norm(list[k].size - 1, z + 1));
        for (int i = 1; i < list[k].size; i++) y[tail + i - 1] = z[i] - x->u[row + tail + i - 1];
    }
    if (p->kind[c] == DLS_CONTACT) y[0] /= largest;
}

static void motion_error_by_words(void **state) {
    (void)state;
    dls_random g = {71};
    for (int round = 0; round < scaled(400, 40); round++) {
        bench x;
        bench_create(&g, &x);
        go_inside(&g, &x);
        double y[ROWS], told[6], sum = 0;
        double norm = dls_cones_motion_error(&x.cones, x.u, y);
        for (int c = 0, at = 0; c < BLOCKS; c++) {
            words list[2 * DLS_MAX_BLOCK];
            motion_by_words(&x, c, at, told);
            for (int i = 0; i < dls_size(x.problem, c); i++) {
                assert_true(fabs(y[x.problem->row[c] + i] - told[i]) < 1e-10);
                sum += told[i] * told[i];
            }
            for (int k = 0, count = words_of(x.problem, c, list); k < count; k++) at += list[k].size;
        }
        assert_true(fabs(norm - sqrt(sum)) < 1e-10 * (1 + norm));
        bench_destroy(&x);
    }
}

/* ---- directions ---- */

/* (A + B W) δr = right, W of the test. */
static void solve_for(bench *x, double *dr) {
    const dls_problem *p = x->problem;
    int n = p->row_count;
    double A[BLOCKS * 36], B[BLOCKS * 36], *J = calloc((size_t)(n * n), sizeof(double));
    assert_true(dls_cones_linearize(&x->cones, A, B));
    dls_cones_right_side(&x->cones, x->u, dr);
    for (int c = 0, at = 0; c < BLOCKS; c++) {
        int d = dls_size(p, c), row = p->row[c];
        for (int i = 0; i < d; i++)
            for (int k = 0; k < d; k++) {
                J[row + i + n * (row + k)] += A[at + i + d * k];
                for (int j = 0; j < n; j++) J[row + i + n * j] += B[at + i + d * k] * x->W[row + k + n * j];
            }
        at += d * d;
    }
    assert_true(dense_solve(n, J, dr));
    free(J);
}

/* y(z + h δz, u + h W δr). */
static void motion_ahead(bench *x, double h, const double *dr, double *y) {
    int n = x->problem->row_count;
    double u[ROWS];
    for (int i = 0; i < n; i++) {
        u[i] = x->u[i];
        for (int j = 0; j < n; j++) u[i] += h * x->W[i + n * j] * dr[j];
    }
    for (int i = 0; i < x->cones.entries; i++) x->cones.z[i] += h * x->cones.dz[i];
    dls_cones_motion_error(&x->cones, u, y);
    for (int i = 0; i < x->cones.entries; i++) x->cones.z[i] -= h * x->cones.dz[i];
}

/* What the direction promises: y falls at the rate that ends it in one step, x goes with r, and λ∘λ to σ e.
 */
static void check_direction(bench *x, double sigma, const double *dr) {
    const dls_problem *p = x->problem;
    double y[ROWS], ahead[ROWS], behind[ROWS], h = 1e-5;
    dls_cones_motion_error(&x->cones, x->u, y);
    double size = 1 + dense_norm(x->cones.entries, x->cones.dz);
    motion_ahead(x, h / size, dr, ahead);
    motion_ahead(x, -h / size, dr, behind);
    for (int i = 0; i < p->row_count; i++) {
        double slope = (ahead[i] - behind[i]) * size / (2 * h);
        if (!(fabs(slope + y[i]) < 1e-6 * size)) fail_msg("row %d: %g, expected %g", i, slope, -y[i]);
    }
    for (int c = 0, at = 0; c < BLOCKS; c++) {
        words list[2 * DLS_MAX_BLOCK];
        for (int k = 0, count = words_of(p, c, list); k < count; at += list[k++].size) {
            const double *dx = x->cones.dx + at;
            assert_true(fabs(dx[0] - list[k].slope * dr[list[k].row]) < 1e-9 * size);
            for (int i = 1; i < list[k].size; i++) assert_true(dx[i] == dr[list[k].tail + i - 1]);
        }
    }
    for (int k = 0; k < x->cones.count; k++) {
        const dls_pair *pair = &x->cones.pairs[k];
        double a[4], b[4], product[4], square[4];
        lorentz_scale(pair->size, &pair->scaling, x->cones.dx + pair->at, a);
        lorentz_unscale(pair->size, &pair->scaling, x->cones.dz + pair->at, b);
        for (int i = 0; i < pair->size; i++) a[i] += b[i];
        lorentz_product(pair->size, pair->scaling.lambda, a, product);
        lorentz_product(pair->size, pair->scaling.lambda, pair->scaling.lambda, square);
        for (int i = 0; i < pair->size; i++)
            assert_true(fabs(product[i] + square[i] - (i ? 0 : sigma)) < 1e-8 * size);
    }
}

static void directions_by_differences(void **state) {
    (void)state;
    dls_random g = {72};
    for (int round = 0; round < scaled(400, 40); round++) {
        bench x;
        double dr[ROWS], A[BLOCKS * 36], B[BLOCKS * 36], sigma = dls_random_unit(&g);
        bench_create(&g, &x);
        go_inside(&g, &x);
        x.cones.coupling = 1;
        assert_true(dls_cones_linearize(&x.cones, A, B));
        dls_cones_aim(&x.cones, sigma, false);
        solve_for(&x, dr);
        dls_cones_direct(&x.cones, dr);
        check_direction(&x, sigma, dr);
        bench_destroy(&x);
    }
}

/* With γ = 0 the matrix is symmetric, |z̄| stays as it is in the linearised equation, and A does not change.
 */
static void directions_without_coupling(void **state) {
    (void)state;
    dls_random g = {73};
    bench x;
    double A[BLOCKS * 36], B[BLOCKS * 36], all[BLOCKS * 36], y[ROWS], right[ROWS];
    bench_create(&g, &x);
    go_inside(&g, &x);
    x.cones.coupling = 1;
    assert_true(dls_cones_linearize(&x.cones, all, B));
    x.cones.coupling = 0;
    assert_true(dls_cones_linearize(&x.cones, A, B));
    dls_cones_motion_error(&x.cones, x.u, y);
    memset(x.cones.target, 0, sizeof(double) * (size_t)x.cones.entries);
    dls_cones_right_side(&x.cones, x.u, right);
    assert_memory_equal(y, right, sizeof(double) * (size_t)x.problem->row_count);
    for (int c = 0, at = 0; c < BLOCKS; c++) {
        int d = dls_size(x.problem, c);
        assert_memory_equal(A + at, all + at, sizeof(double) * (size_t)(d * d));
        for (int k = 0; k < d * d; k++)
            if (k % (d + 1)) assert_true(B[at + k] == 0);
        at += d * d;
    }
    bench_destroy(&x);
}

/* r and x stay together, and the step ends where a pair reaches its boundary. */
static void steps_keep_r_and_x_together(void **state) {
    (void)state;
    dls_random g = {74};
    for (int round = 0; round < scaled(100, 20); round++) {
        bench x;
        double dr[ROWS], A[BLOCKS * 36], B[BLOCKS * 36];
        bench_create(&g, &x);
        go_inside(&g, &x);
        x.cones.coupling = 1;
        assert_true(dls_cones_linearize(&x.cones, A, B));
        dls_cones_aim(&x.cones, 0, false);
        solve_for(&x, dr);
        dls_cones_direct(&x.cones, dr);
        double t = fmin(1, 0.99 * dls_cones_step_length(&x.cones, 2)), gap = dls_cones_gap(&x.cones, t);
        assert_true(t > 0);
        dls_cones_advance(&x.cones, t, dr, x.r);
        assert_true(fabs(dls_cones_gap(&x.cones, 0) - gap) <= 1e-12 * fabs(gap));
        assert_true(dls_cones_linearize(&x.cones, A, B)); /* still inside */
        for (int c = 0, at = 0; c < BLOCKS; c++) {
            words list[2 * DLS_MAX_BLOCK];
            for (int k = 0, count = words_of(x.problem, c, list); k < count; at += list[k++].size) {
                double told = list[k].slope * x.r[list[k].row] + list[k].offset;
                assert_true(fabs(x.cones.x[at] - told) < 1e-9 * (1 + fabs(told)));
                for (int i = 1; i < list[k].size; i++)
                    assert_true(x.cones.x[at + i] == x.r[list[k].tail + i - 1]);
            }
        }
        bench_destroy(&x);
    }
}

/* ---- the start ---- */

static void starts_are_central(void **state) {
    (void)state;
    dls_random g = {75};
    for (int round = 0; round < scaled(200, 20); round++) {
        bench x;
        bench_create(&g, &x);
        dls_cones_start(&x.cones, x.r);
        double size2 = x.cones.size * x.cones.size;
        assert_true(x.cones.coupling == 1);
        for (int k = 0; k < x.cones.count; k++) {
            const dls_pair *pair = &x.cones.pairs[k];
            const double *at = x.cones.x + pair->at, *z = x.cones.z + pair->at;
            assert_true(at[0] > 0 && fabs(at[0] * z[0] - size2) < 1e-12 * size2);
            for (int i = 1; i < pair->size; i++) assert_true(at[i] == 0 && z[i] == 0);
            double told = at[0] - pair->offset;
            assert_true(fabs(x.r[pair->row] - pair->scale * told) < 1e-12 * (1 + fabs(told)));
        }
        for (int i = 0; i < x.problem->row_count; i++)
            assert_true(x.r[i] >= x.problem->low[i] && x.r[i] <= x.problem->high[i]);
        bench_destroy(&x);
    }
}

/* Bounds that nothing lies between, that are as good as none, or that are far apart. */
static void starts_between_odd_bounds(void **state) {
    (void)state;
    const double eps = 2.220446049250313e-16;
    const struct {
        double low, high;
        int pairs;
    } odd[] = {{1, 1, 0},        {1, 1 + eps, 0},  {-1e300, 1e308, 0},
               {-1e20, 1e20, 2}, {-1e-9, 1e-9, 2}, {3, HUGE_VAL, 1}};
    enum { COUNT = sizeof odd / sizeof *odd };
    for (size_t k = 0; k < COUNT; k++) {
        const double W = 1, b = -2, mu = 0;
        const int size = 1;
        const uint8_t kind = DLS_INTERVAL;
        dls_problem_def def = {.block_count = 1,
                               .block_size = &size,
                               .block_kind = &kind,
                               .mu = &mu,
                               .low = &odd[k].low,
                               .high = &odd[k].high,
                               .b = &b};
        dls_problem *p = dense_problem(&def, 1, &W);
        dls_workspace *w = dls_workspace_create();
        dls_cones cones;
        double r, A, B;
        assert_true(dls_cones_prepare(&cones, p, w));
        assert_int_equal(cones.count, odd[k].pairs);
        dls_cones_start(&cones, &r);
        assert_true(r >= p->low[0] && r <= p->high[0]);
        assert_true(dls_cones_linearize(&cones, &A, &B));
        assert_true(k < 2 ? A == 1 && B == 0 : B == 1);
        dls_workspace_destroy(w);
        dls_problem_destroy(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(motion_error_by_words),       cmocka_unit_test(directions_by_differences),
        cmocka_unit_test(directions_without_coupling), cmocka_unit_test(steps_keep_r_and_x_together),
        cmocka_unit_test(starts_are_central),          cmocka_unit_test(starts_between_odd_bounds),
    };
    return cmocka_run_group_tests_name("cones", tests, NULL, NULL);
}
