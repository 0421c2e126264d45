/* The certificate: the judge on cases computed by hand, every measure against a plain twin, units, threads.
 */
#include "problem/problem.h"
#include "support/sample.h"
#include "support/scale.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *doubles(int count) { return calloc((size_t)count + 1, sizeof(double)); }

static double norm(int n, const double *x) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

static void assert_near(double x, double y, double relative) {
    if (!(fabs(x - y) <= relative * (fabs(y) + 1e-300))) fail_msg("%.17g against %.17g", x, y);
}

static dls_measures measure(const dls_problem *p, const double *r, const double *u) {
    dls_measures m;
    assert_int_equal(dls_problem_measure(p, r, u, &m, NULL), DLS_OK);
    return m;
}

/* ---- the cone ---- */

/* The nearest point by its three cases, written once more. */
static void plain_projection(int d, double mu, const double *z, double *p) {
    double t = norm(d - 1, z + 1), n = (z[0] + mu * t) / (1 + mu * mu); /* on the boundary ray through z */
    bool inside = z[0] >= 0 && t <= mu * z[0];
    for (int i = 0; i < d; i++) p[i] = inside ? z[i] : n <= 0 ? 0 : i == 0 ? n : mu * n * z[i] / t;
}

static void projection_is_the_nearest_point(void **state) {
    (void)state;
    dls_random g = {21};
    const double mus[] = {0, 1e-8, 0.3, 1, 5, 1e4};
    for (int round = 0; round < scaled(6000, 600); round++) {
        int d = 2 + round % 3;
        double mu = mus[round / 3 % 6], scale = pow(10, dls_random_between(&g, -30, 30)), z[4], p[4],
               again[4];
        for (int i = 0; i < d; i++) z[i] = p[i] = scale * dls_random_normal(&g);
        dls_cone_project(d, mu, p);
        double size = norm(d, z), gap = norm(d - 1, p + 1) - mu * p[0];
        assert_true(p[0] >= 0 && gap <= 4e-16 * size * (1 + mu));
        memcpy(again, p, sizeof again);
        dls_cone_project(d, mu, again);
        for (int i = 0; i < d; i++) assert_true(fabs(again[i] - p[i]) <= 4e-16 * size);
        double distance = 0, inner = 0;
        for (int i = 0; i < d; i++) distance += (z[i] - p[i]) * (z[i] - p[i]), inner += (z[i] - p[i]) * p[i];
        assert_true(fabs(inner) <= 1e-14 * size * size);
        for (int other = 0; other < 20; other++) { /* other points of the cone, many of them close by */
            double q[4], from = 0, near = pow(10, dls_random_between(&g, -8, 1)) * size;
            for (int i = 0; i < d; i++) q[i] = p[i] + near * dls_random_normal(&g);
            double t = norm(d - 1, q + 1);
            q[0] = fmax(fabs(q[0]), 0);
            if (mu == 0)
                for (int i = 1; i < d; i++) q[i] = 0;
            else
                q[0] = fmax(q[0], t / mu);
            for (int i = 0; i < d; i++) from += (z[i] - q[i]) * (z[i] - q[i]);
            assert_true(distance <= from + 1e-14 * size * size);
        }
    }
}

static void projection_at_the_edges(void **state) {
    (void)state;
    double apex[3] = {0, 0, 0}, below[3] = {-2, 0, 0}, side[3] = {0, 0, 3}, inside[3] = {2, 0.5, 0.5};
    dls_cone_project(3, 0.5, apex);
    assert_true(apex[0] == 0 && apex[1] == 0 && apex[2] == 0);
    dls_cone_project(3, 0.5, below);
    assert_true(below[0] == 0 && below[1] == 0 && below[2] == 0);
    dls_cone_project(3, 0.5, side); /* (0, 0, 3) → 3·0.5/1.25 (1, 0, 0.5) */
    assert_near(side[0], 1.2, 1e-15);
    assert_true(side[1] == 0 && fabs(side[2] - 0.6) < 1e-15);
    dls_cone_project(3, 0.5, inside);
    assert_true(inside[0] == 2 && inside[1] == 0.5 && inside[2] == 0.5);
    for (int d = 2; d <= 4; d++) { /* without friction the cone is a ray */
        double up[4] = {1.5, 1e-20, -7, 3}, down[4] = {-1e-300, 1e-20, -7, 3};
        dls_cone_project(d, 0, up);
        dls_cone_project(d, 0, down);
        assert_true(up[0] == 1.5 && down[0] == 0);
        for (int i = 1; i < d; i++) assert_true(up[i] == 0 && down[i] == 0);
    }
}

/* ---- the judge on one contact, by hand ---- */

/* W = diag(1, 2, 3), μ = 1/2, so ρ = 1/2. */
static dls_problem *one_contact(const double *b, double reference) {
    const double W[9] = {1, 0, 0, 0, 2, 0, 0, 0, 3}, mu = 0.5;
    dls_problem_def def = {
        .block_count = 1, .dimension = 3, .mu = &mu, .b = b, .reference_velocity = reference};
    return dense_problem(&def, 3, W);
}

static void judge_by_hand(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double r[3], u[3], b[3], reference, error, residual, held, active;
    } cases[] = {
        {"stick", {1, 0.2, 0.1}, {0, 0, 0}, {-1, -0.4, -0.3}, 0, 0, 0, NAN, 0},
        {"slip", {1, 0.5, 0}, {0, -2, 0}, {-1, -3, 0}, 0, 0, 0, NAN, 0},
        {"open", {0, 0, 0}, {1, 2, 0}, {1, 2, 0}, 0, 0, 0, NAN, 0},
        {"grazing", {0, 0, 0}, {0, 3, 4}, {0, 3, 4}, 0, 0, 0, NAN, 0},
        {"let go", {0, 0, 0}, {-1, 0, 0}, {-1, 0, 0}, 0, 1, INFINITY, NAN, 1},
        {"let go, b larger", {0, 0, 0}, {-1, 0, 0}, {0, 3, 4}, 0, 1, INFINITY, NAN, 0.2},
        {"let go, small", {0, 0, 0}, {-1, 0, 0}, {0, 3, 4}, 10, 1, INFINITY, 0.1, 0.2},
        /* ũ = (1, 2, 0), z = (0.5, −0.5, 0), proj z = (0.6, −0.3, 0), N = (0.8, 1.6, 0), |r|/ρ = √5 */
        {"slip uphill",
         {1, 0.5, 0},
         {0, 2, 0},
         {-4, 3, 0},
         0,
         1.7888543819998317,
         0.8,
         NAN,
         0.35777087639996635},
        {"pulling", {-1, 0, 0}, {0, 0, 0}, {1, 0, 0}, 0, 2, 2, NAN, 2}, /* z = r, proj 0, N = r/ρ */
        {"pulling, b larger", {-1, 0, 0}, {0, 0, 0}, {3, 4, 0}, 0, 2, 1, NAN, 0.4},
        {"outside the cone",
         {1, 1, 0},
         {0, 0, 0},
         {3, 4, 0},
         0,
         0.8944271909999159,
         0.31622776601683794,
         NAN,
         0.17888543819998318},
        /* ũ = (0.5, 0, 1) counts whole where the impulse is large; s = 2|r|, |b| = 5 or v_ref in turn */
        {"small impulse",
         {1, 0, 0},
         {0, 0, 1},
         {0, 3, 4},
         4,
         0.8944271909999159,
         0.4472135954999579,
         0.22360679774997896,
         0.17888543819998318},
        {"large impulse",
         {10, 0, 0},
         {0, 0, 1},
         {0, 3, 4},
         4,
         1.118033988749895,
         0.22360679774997896,
         0.22360679774997896,
         0.22360679774997896},
        {"large impulse, floor",
         {10, 0, 0},
         {0, 0, 1},
         {0, 3, 4},
         10,
         1.118033988749895,
         0.1118033988749895,
         0.1118033988749895,
         0.1118033988749895},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dls_problem *p = one_contact(cases[k].b, cases[k].reference);
        dls_measures m = measure(p, cases[k].r, cases[k].u);
        const double found[] = {m.max_error, m.residual, m.held, m.residual_active};
        const double wanted[] = {cases[k].error, cases[k].residual, cases[k].held, cases[k].active};
        for (int i = 0; i < 4; i++)
            if (!(fabs(found[i] - wanted[i]) < 1e-13 || found[i] == wanted[i] ||
                  (isnan(found[i]) && isnan(wanted[i]))))
                fail_msg("%s: %d is %.17g, not %.17g", cases[k].name, i, found[i], wanted[i]);
        assert_near(m.residual_full * norm(3, cases[k].b), m.max_error, 1e-15);
        dls_problem_destroy(p);
    }
}

/* A sliding contact with (r, u) at rest against the ground: (1, 0, 0) and (0, 0, 1) above, worked out:
 * ũ = (0.5, 0, 1), z = (0.75, 0, −0.5), s = 0.1, N = (0.5 − 0.1, 0, 1 − 0.2) = (0.4, 0, 0.8). */
static void judge_needs_no_velocity(void **state) {
    (void)state;
    const double b[3] = {-1, 0, 1}, r[3] = {1, 0, 0}, u[3] = {0, 0, 1};
    dls_problem *p = one_contact(b, 0);
    dls_measures given = measure(p, r, u), own = measure(p, r, NULL);
    assert_memory_equal(&given, &own, sizeof own);
    assert_near(own.max_error, sqrt(0.8), 1e-15);
    assert_true(own.eps_motion == 0);
    dls_problem_destroy(p);
}

/* Two contacts of which one is open, and a bilateral row of another unit: w̄ = (2 + 2)/2 of contacts that it
 * is not coupled with, 2 of the one that it is, or as told; W_ii = 8. */
static void judge_with_bilateral_rows(void **state) {
    (void)state;
    const int size[3] = {2, 2, 1};
    const uint8_t kind[3] = {DLS_CONTACT, DLS_CONTACT, DLS_INTERVAL};
    const double mu[3] = {0.5, 0.5, 0}, b[5] = {3, 4, 100, 0, 2}, r[5] = {1, 0, 0, 0, 7},
                 told[3] = {0, 0, 0.5};
    const double u[5] = {0, 0, 100, 0, 4};
    for (int k = 0; k < 3; k++) { /* W_00 + W_11 = 4 of the first contact, 12 of the second */
        double W[25] = {1, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 8};
        if (k == 1) W[4] = W[20] = 0.5;
        dls_problem_def def = {.block_count = 3, .block_size = size, .block_kind = kind, .mu = mu, .b = b};
        if (k == 2) def.block_inverse_mass = told;
        dls_problem *p = dense_problem(&def, 5, W);
        dls_measures m = measure(p, r, u);
        double weight = sqrt((k == 0 ? 4 : k == 1 ? 2 : 0.5) / 8), N = 4 * weight, load = 2 * weight;
        assert_near(m.max_error, N, 1e-15);
        assert_near(m.residual, N / load, 1e-13); /* min(|b|, W_ii r) = min(2, 56) */
        assert_near(m.residual_active, N / sqrt(25 + load * load), 1e-15);
        assert_near(m.residual_full, N / sqrt(25 + load * load + 1e4), 1e-15);
        dls_problem_destroy(p);
    }
}

static void nothing_to_judge(void **state) {
    (void)state;
    const double zero[3] = {0, 0, 0}, push[3] = {1, 0, 0};
    dls_problem *p = one_contact(zero, 0);
    dls_measures m = measure(p, zero, NULL);
    assert_true(m.residual == 0 && m.max_error == 0 && m.residual_full == 0 && m.natural_map == 0);
    assert_true(m.merit_g == 0 && m.siconos_error == 0 && m.friction_power == 0);
    m = measure(p, push, NULL); /* an impulse out of nothing is no solution */
    assert_true(m.residual > 0 && m.max_error > 0.1);
    dls_problem_destroy(p);
}

/* No measure calls NaN good. */
static void nothing_good_about_nan(void **state) {
    (void)state;
    const double b[3] = {-1, 0, 1};
    dls_problem *p = one_contact(b, 0);
    for (int i = 0; i < 3; i++)
        for (int in_u = 0; in_u < 2; in_u++) {
            double r[3] = {1, 0, 0}, u[3] = {0, 0, 1};
            (in_u ? u : r)[i] = (double)NAN;
            dls_measures m = measure(p, r, u);
            assert_true(isnan(m.residual) && isnan(m.max_error) && isnan(m.residual_full));
            assert_true(isnan(m.natural_map) && isnan(m.fclib_merit) && isnan(m.siconos_error));
            assert_true(isnan(m.eps_glob) && isnan(m.merit_g) && isnan(m.apgd_residual));
            assert_true(isnan(m.complementarity));
            if (in_u && i == 0) assert_true(isnan(m.penetration));
            if (!in_u) assert_true(isnan(m.cone_violation));
            if (i > 0) assert_true(isnan(m.friction_power));
        }
    dls_problem_destroy(p);
}

/* ---- every measure against a plain twin ---- */

static void plain_map(int d, double mu, double rho, const double *r, const double *u, double *N) {
    double z[6] = {0}, p[6];
    for (int i = 0; i < d; i++) z[i] = r[i] - rho * (u[i] + (i == 0 ? mu * norm(d - 1, u + 1) : 0));
    plain_projection(d, mu, z, p);
    for (int i = 0; i < d; i++) N[i] = (r[i] - p[i]) / rho;
}

/* W⁻¹ x·x by Gauss–Jordan on the block. */
static double plain_energy(int d, int n, const double *W, const double *x) {
    double A[6][7], sum = 0;
    for (int i = 0; i < d; i++)
        for (int j = 0; j <= d; j++) A[i][j] = j < d ? W[i + n * j] : x[i];
    for (int k = 0; k < d; k++)
        for (int i = 0; i < d; i++)
            for (int j = d; i != k && j >= k; j--) A[i][j] -= A[i][k] / A[k][k] * A[k][j];
    for (int i = 0; i < d; i++) sum += x[i] * A[i][d] / A[i][i];
    return sum;
}

/* λmax by the power method; the blocks are symmetric. */
static double plain_largest_eigenvalue(int d, int n, const double *W) {
    double x[6] = {1, 0.7, 0.5, 0.3, 0.2, 0.1}, y[6], size = 0;
    for (int step = 0; step < 20000; step++) {
        for (int i = 0; i < d; i++) {
            y[i] = 0;
            for (int j = 0; j < d; j++) y[i] += W[i + n * j] * x[j];
        }
        size = norm(d, y);
        for (int i = 0; i < d; i++) x[i] = y[i] / size;
    }
    return size;
}

static double plain_scale(const sample *s, int c, int row) {
    double trace = 0;
    for (int i = 0; i < s->size[c]; i++) trace += s->W[(row + i) * (s->rows + 1)];
    return trace / s->size[c];
}

static double plain_mean_scale(const sample *s) {
    double sum[2] = {0, 0};
    int count[2] = {0, 0}, row = 0;
    for (int c = 0; c < s->def.block_count; row += s->size[c++]) {
        sum[s->kind[c]] += plain_scale(s, c, row);
        count[s->kind[c]]++;
    }
    return count[DLS_CONTACT] ? sum[DLS_CONTACT] / count[DLS_CONTACT]
                              : sum[DLS_INTERVAL] / count[DLS_INTERVAL];
}

/* Squares and sums over blocks; the measures follow from them. */
typedef struct plain_sums {
    double judged[2], scale[2]; /* of contacts and of rows */
    double map, active, all, map1, energy, energy_b, gradient;
    int active_blocks;
} plain_sums;

/* An error N beside |b| and |r|/ρ, all as velocities. */
static void add_plain_judged(const sample *s, int c, double N, double b, double load, plain_sums *sum,
                             dls_measures *m) {
    double v = s->def.reference_velocity, speed = s->def.speed ? s->def.speed[c] : 0;
    double left = fmax(0, N - 1e-14 * (b + speed)), scale = fmin(fmax(b, v), load);
    sum->judged[s->kind[c]] += left * left;
    sum->scale[s->kind[c]] += scale * scale;
    if (v > 0) m->held = fmax(m->held, left / fmax(scale, v));
}

/* w̄ of a bilateral block: the mean over the contacts that its rows of W reach, else over all. */
static double plain_inverse_mass(const sample *s, int c, int row, double mean) {
    double sum = 0;
    int count = 0;
    if (s->def.block_inverse_mass) return s->def.block_inverse_mass[c];
    for (int j = 0, at = 0; j < s->def.block_count; at += s->size[j++]) {
        bool coupled = false;
        for (int i = 0; i < s->size[c]; i++)
            for (int k = 0; k < s->size[j]; k++) coupled |= s->W[row + i + s->rows * (at + k)] != 0;
        if (coupled && s->kind[j] == DLS_CONTACT) sum += plain_scale(s, j, at), count++;
    }
    return count ? sum / count : mean;
}

static void add_plain_contact(const sample *s, int c, int row, const double *r, const double *u, double mean,
                              plain_sums *sum, dls_measures *m) {
    int d = s->size[c], n = s->rows;
    const double *W = s->W + row * (n + 1);
    double mu = s->mu[c], N[6], p[6], slip = norm(d - 1, u + 1), power = 0, work = mu * r[0] * slip;
    plain_map(d, mu, 1 / plain_scale(s, c, row), r, u, N);
    sum->map += norm(d, N) * norm(d, N);
    m->max_error = fmax(m->max_error, norm(d, N));
    add_plain_judged(s, c, norm(d, N), norm(d, s->b + row), plain_scale(s, c, row) * norm(d, r), sum, m);
    plain_map(d, mu, 1, r, u, N);
    sum->map1 += norm(d, N) * norm(d, N);
    plain_map(d, mu, 1 / mean, r, u, N);
    sum->energy += plain_energy(d, n, W, N);
    plain_map(d, mu, 1 / plain_largest_eigenvalue(d, n, W), r, u, N);
    sum->gradient += norm(d, N) * norm(d, N);
    plain_projection(d, mu, r, p);
    for (int i = 0; i < d; i++) p[i] -= r[i], work += r[i] * u[i], power += i ? r[i] * u[i] : 0;
    m->eps_cone += norm(d, p);
    m->eps_law += fabs(work);
    m->eps_penetration += fmax(0, -u[0]);
    m->complementarity = fmax(m->complementarity, fabs(work));
    m->penetration = fmax(m->penetration, -u[0]);
    m->cone_violation = fmax(m->cone_violation, fmax(norm(d - 1, r + 1) - mu * r[0], -r[0]));
    m->friction_power = fmax(m->friction_power, power);
}

static void add_plain_bilateral(const sample *s, int c, int row, const double *r, const double *u,
                                double mean, plain_sums *sum, dls_measures *m) {
    double map = 0, mass = plain_inverse_mass(s, c, row, mean);
    for (int i = 0; i < s->size[c]; i++) {
        double W = s->W[(row + i) * (s->rows + 1)], w = sqrt(mass / W);
        map += w * w * u[i] * u[i];
        add_plain_judged(s, c, w * fabs(u[i]), w * fabs(s->b[row + i]), w * W * fabs(r[i]), sum, m);
    }
    sum->map += map;
    m->max_error = fmax(m->max_error, sqrt(map));
    sum->map1 += norm(s->size[c], u) * norm(s->size[c], u);
    sum->gradient += map; /* in m/s, whatever the unit of the row */
    sum->energy += plain_energy(s->size[c], s->rows, s->W + row * (s->rows + 1), u);
}

static double plain_weight(const sample *s, int c, int row, int i, double mean) {
    return s->kind[c] == DLS_INTERVAL ? plain_inverse_mass(s, c, row, mean) / s->W[(row + i) * (s->rows + 1)]
                                      : 1;
}

static dls_measures plain_measures(const sample *s, const double *r, const double *u) {
    int n = s->rows, blocks = s->def.block_count, row = 0, contacts = 0;
    double mean = plain_mean_scale(s), *velocity = doubles(n), b = norm(n, s->b);
    dls_measures m = {.friction_power = -INFINITY, .held = s->def.reference_velocity > 0 ? 0 : NAN};
    plain_sums sum = {0};
    dense_velocity(n, s->W, s->b, r, velocity);
    for (int c = 0; c < blocks; row += s->size[c++]) {
        int d = s->size[c];
        double gap[6], b2 = 0;
        for (int i = 0; i < d; i++) {
            gap[i] = u[row + i] - velocity[row + i];
            b2 += s->b[row + i] * s->b[row + i] * plain_weight(s, c, row, i, mean);
        }
        m.eps_motion += norm(d, gap);
        sum.energy_b += plain_energy(d, n, s->W + row * (n + 1), s->b + row);
        sum.all += b2;
        contacts += s->kind[c] == DLS_CONTACT;
        if (s->kind[c] == DLS_INTERVAL || norm(d, r + row) > 0) sum.active += b2, sum.active_blocks++;
        if (s->kind[c] == DLS_CONTACT)
            add_plain_contact(s, c, row, r + row, u + row, mean, &sum, &m);
        else
            add_plain_bilateral(s, c, row, r + row, u + row, mean, &sum, &m);
    }
    if (!contacts) m.friction_power = 0;
    for (int k = 0; k < 2; k++)
        if (sum.judged[k] > 0) m.residual = fmax(m.residual, sqrt(sum.judged[k] / sum.scale[k]));
    m.residual_active =
        sqrt(sum.map) / fmax(sqrt(sum.active), s->def.reference_velocity * sqrt(sum.active_blocks));
    m.residual_full = sqrt(sum.map / sum.all);
    m.natural_map = sqrt(sum.map1) / b;
    m.fclib_merit = sqrt(sum.map1) / (1 + sqrt(b));
    m.siconos_error = sqrt(sum.map1) / fmax(b, fmax(norm(n, r), norm(n, u)));
    m.eps_motion /= blocks, m.eps_cone /= blocks, m.eps_law /= blocks, m.eps_penetration /= blocks;
    m.eps_glob = m.eps_motion + m.eps_cone + m.eps_law + m.eps_penetration;
    m.merit_g = sum.energy / sum.energy_b;
    m.apgd_residual = sqrt(sum.gradient);
    free(velocity);
    return m;
}

enum { MEASURES = sizeof(dls_measures) / sizeof(double) };

static void assert_same_measures(const dls_measures *m, const dls_measures *twin, double tolerance) {
    const double *x = (const double *)(const void *)m, *y = (const double *)(const void *)twin;
    for (int i = 0; i < MEASURES; i++)
        if (!(fabs(x[i] - y[i]) <= tolerance * (fabs(y[i]) + 1e-3)) && x[i] != y[i] &&
            !(isnan(x[i]) && isnan(y[i])))
            fail_msg("measure %d: %.17g against %.17g", i, x[i], y[i]);
}

/* Any r and u, also such that u ≠ W r + b; some contacts open. */
static void measures_of_any_pair(void **state) {
    (void)state;
    dls_random g = {22};
    for (int round = 0; round < scaled(60, 12); round++) {
        sample_shape shape = {.blocks = 2 + round % 20,
                              .bodies = 8,
                              .dof = 6,
                              .dimension = round % 4 ? 0 : 2 + round / 4 % 3,
                              .bilateral_every = round % 4 ? round % 5 : 0,
                              .mu_high = round % 3 ? 1.5 : 0,
                              .coupling = 0.7};
        sample s = sample_create(&g, &shape);
        double *r = doubles(s.rows), *u = doubles(s.rows), *speed = doubles(shape.blocks),
               *mass = doubles(shape.blocks);
        for (int c = 0; c < shape.blocks; c++) /* so fast that rounding takes half of the errors off */
            speed[c] = 1e14 * dls_random_unit(&g), mass[c] = 0.1 + dls_random_unit(&g);
        s.def.reference_velocity = round % 2 ? dls_random_unit(&g) : 0;
        if (round % 3 == 0) s.def.speed = speed;
        if (round % 5 == 2) s.def.block_inverse_mass = mass;
        dls_problem *p = sample_stored(&s);
        for (int i = 0; i < s.rows; i++) r[i] = dls_random_normal(&g), u[i] = dls_random_normal(&g);
        for (int c = 0; c < s.def.block_count; c += 4) /* open */
            memset(r + p->row[c], 0, sizeof(double) * (size_t)s.size[c]);
        dls_measures twin = plain_measures(&s, r, u), m = measure(p, r, u);
        assert_same_measures(&m, &twin, 1e-11);
        dense_velocity(s.rows, s.W, s.b, r, u);
        twin = plain_measures(&s, r, u), m = measure(p, r, NULL);
        assert_same_measures(&m, &twin, 1e-11);
        dls_problem *bodies = sample_matrix_free(&s);
        m = measure(bodies, r, u);
        assert_same_measures(&m, &twin, 1e-10);
        dls_problem *assembled;
        assert_int_equal(dls_problem_assemble(bodies, &assembled, NULL), DLS_OK);
        m = measure(assembled, r, u);
        assert_same_measures(&m, &twin, 1e-10);
        free(r), free(u), free(speed), free(mass);
        dls_problem_destroy(p);
        dls_problem_destroy(bodies);
        dls_problem_destroy(assembled);
        sample_free(&s);
    }
}

/* Sums over many chunks leave no block out. */
static void judge_of_large_problems(void **state) {
    (void)state;
    dls_random g = {26};
    for (int kind = 0; kind < 2; kind++) {
        dls_problem *p = generated(kind ? DLS_GENERATE_DISCS : DLS_GENERATE_PACKING, 4000, 0.3, false);
        int n = dls_problem_row_count(p), d = kind ? 2 : 3;
        double *r = doubles(n), *u = doubles(n), map = 0, active = 0, worst = 0, scale = 0;
        for (int i = 0; i < n; i++)
            r[i] = i / d % 3 ? dls_random_normal(&g) : 0, u[i] = dls_random_normal(&g);
        for (int row = 0; row < n; row += d) {
            double W[9], N[3], trace = 0;
            dls_problem_diagonal_block(p, row / d, W);
            for (int i = 0; i < d; i++) trace += W[i * (d + 1)];
            plain_map(d, 0.3, d / trace, r + row, u + row, N);
            map += norm(d, N) * norm(d, N);
            worst = fmax(worst, norm(d, N));
            double b = norm(d, dls_problem_b(p) + row);
            if (norm(d, r + row) > 0) active += b * b;
            scale += pow(fmin(fmax(b, dls_problem_reference_velocity(p)), trace / d * norm(d, r + row)), 2);
        }
        dls_measures m = measure(p, r, u);
        assert_near(m.residual, sqrt(map / scale), 1e-12);
        assert_near(m.residual_active, sqrt(map / active), 1e-12);
        assert_near(m.max_error, worst, 1e-12);
        assert_near(m.residual_full, sqrt(map) / norm(n, dls_problem_b(p)), 1e-12);
        free(r), free(u);
        dls_problem_destroy(p);
    }
}

/* ---- at a solution ---- */

/* Each contact is given a pair (r, u) that obeys its law, and b makes it so. */
static void fill_solution(dls_random *g, const sample *s, double *r, double *u) {
    for (int c = 0, row = 0; c < s->def.block_count; row += s->size[c++]) {
        int d = s->size[c], branch = (int)dls_random_below(g, 3);
        double direction[6], size;
        for (int i = 0; i < d; i++) direction[i] = dls_random_normal(g);
        size = norm(d - 1, direction + 1);
        for (int i = 0; i < d; i++) {
            double *ri = r + row + i, *ui = u + row + i;
            *ui = 0;
            *ri = direction[i];
            if (s->kind[c] == DLS_INTERVAL) continue;
            double along = i ? direction[i] / size : 0;
            if (branch == 0) *ri = 0, *ui = i ? direction[i] : dls_random_unit(g);
            if (branch == 1) *ri = i ? 0.9 * s->mu[c] * along : 1;
            if (branch == 2) *ri = i ? s->mu[c] * along : 1, *ui = -0.3 * along;
        }
    }
}

static void measures_vanish_at_solutions(void **state) {
    (void)state;
    dls_random g = {23};
    for (int round = 0; round < scaled(60, 12); round++) {
        sample_shape shape = {.blocks = 15,
                              .bodies = 8,
                              .dof = 6,
                              .bilateral_every = round % 4,
                              .mu_high = 1.5,
                              .coupling = 0.7};
        sample s = sample_create(&g, &shape);
        double *r = doubles(s.rows), *u = doubles(s.rows), *Wr = doubles(s.rows), *none = doubles(s.rows);
        fill_solution(&g, &s, r, u);
        dense_velocity(s.rows, s.W, none, r, Wr);
        for (int i = 0; i < s.rows; i++) s.b[i] = u[i] - Wr[i];
        dls_problem *p = sample_stored(&s);
        dls_measures m = measure(p, r, NULL);
        double *x = (double *)(void *)&m;
        m.friction_power = fmax(0, m.friction_power); /* friction takes energy away */
        for (int i = 0; i < MEASURES; i++)
            if (!(x[i] >= 0 && x[i] < 1e-11) && !isnan(x[i] - m.held))
                fail_msg("measure %d is %g at a solution", i, x[i]);
        free(r), free(u), free(Wr), free(none);
        dls_problem_destroy(p);
        sample_free(&s);
    }
}

/* ---- units ---- */

/* The same problem with other units of length, mass and time: u_i → f_i u_i, r_i → g_i r_i. Rows of bilateral
 * blocks from the fourth on are rotations: rad/s and N m s. */
static sample in_other_units(const sample *s, double L, double M, double T, double *f, double *g_factor) {
    sample other = *s;
    int n = s->rows;
    other.b = doubles(n);
    other.W = doubles(n * n);
    for (int c = 0, row = 0; c < s->def.block_count; row += s->size[c++])
        for (int i = 0; i < s->size[c]; i++) {
            bool rotation = s->kind[c] == DLS_INTERVAL && i >= (s->size[c] > 3 ? 3 : 1);
            f[row + i] = rotation ? 1 / T : L / T;
            g_factor[row + i] = rotation ? M * L * L / T : M * L / T;
        }
    for (int i = 0; i < n; i++) {
        other.b[i] = f[i] * s->b[i];
        for (int j = 0; j < n; j++) other.W[i + n * j] = s->W[i + n * j] * f[i] / g_factor[j];
    }
    other.def.b = other.b;
    other.def.reference_velocity *= L / T;
    return other;
}

static void check_units(dls_random *g, const sample *s, double L, double M, double T) {
    int n = s->rows;
    double *r = doubles(n), *u = doubles(n), *f = doubles(n), *h = doubles(n);
    sample other = in_other_units(s, L, M, T, f, h);
    dls_problem *p = sample_stored(s), *q = sample_stored(&other);
    for (int i = 0; i < n; i++) r[i] = dls_random_normal(g), u[i] = dls_random_normal(g);
    for (int i = p->row[1]; i < p->row[2]; i++) r[i] = 0;
    dls_measures before = measure(p, r, u), before_own = measure(p, r, NULL);
    for (int i = 0; i < n; i++) r[i] *= h[i], u[i] *= f[i];
    dls_measures after = measure(q, r, u), after_own = measure(q, r, NULL);
    assert_near(after.residual, before.residual, 1e-12);
    assert_near(after_own.residual, before_own.residual, 1e-11);
    if (s->def.reference_velocity > 0) assert_near(after.held, before.held, 1e-12);
    assert_near(after.residual_full, before.residual_full, 1e-12);
    assert_near(after.merit_g, before.merit_g, 1e-9);
    if (s->kind[0] == DLS_CONTACT) { /* there is a length to measure velocities by */
        assert_near(after.max_error, before.max_error * L / T, 1e-12);
        assert_near(after.penetration, before.penetration * L / T, 1e-12);
        assert_near(after.complementarity, before.complementarity * M * L * L / T / T, 1e-11);
        assert_near(after.cone_violation, before.cone_violation * M * L / T, 1e-12);
    }
    free(r), free(u), free(f), free(h), free(other.b), free(other.W);
    dls_problem_destroy(p);
    dls_problem_destroy(q);
}

static void residual_has_no_units(void **state) {
    (void)state;
    dls_random g = {24};
    for (int round = 0; round < scaled(80, 16); round++) {
        sample_shape shape = {.blocks = 12,
                              .bodies = 8,
                              .dof = 6,
                              .dimension = round % 2 ? 3 : 0,
                              .bilateral_every = round % 4, /* 1: nothing but bilateral blocks */
                              .mu_high = 1,
                              .coupling = 0.7};
        sample s = sample_create(&g, &shape);
        s.def.reference_velocity = round % 3 ? 0 : 0.5;
        if (round % 4 == 1) s.def.reference_velocity = 0; /* of no meaning without a contact */
        check_units(&g, &s, 1e3, 1, 1);
        check_units(&g, &s, 1, 1e3, 1);
        check_units(&g, &s, 1, 1e6, 1);
        check_units(&g, &s, 1, 1, 1e3);
        check_units(&g, &s, 1e3, 1e3, 1e3); /* mm, g, ms */
        check_units(&g, &s, 39.37, 2.2046, 1.0 / 3600);
        sample_free(&s);
    }
}

/* ---- threads ---- */

static void measures_do_not_depend_on_threads(void **state) {
    (void)state;
    dls_random g = {25};
    for (int kind = 0; kind < 3; kind++) {
        dls_problem *p =
            generated(kind == 2 ? DLS_GENERATE_DISCS : DLS_GENERATE_PACKING, 6000, 0.3, kind == 1);
        int n = dls_problem_row_count(p);
        double *r = doubles(n), *u = doubles(n), *Wr_b = doubles(n);
        for (int i = 0; i < n; i++) r[i] = dls_random_normal(&g), u[i] = dls_random_normal(&g);
        for (int i = 0; i < n; i++) Wr_b[i] = u[i] + dls_random_normal(&g);
        dls_measures one, many;
        dls_measure_all(p, r, u, Wr_b, 1, &one);
        for (int threads = 2; threads <= 8; threads *= 2) {
            dls_measure_all(p, r, u, Wr_b, threads, &many);
            assert_memory_equal(&one, &many, sizeof one);
            dls_verdict v = dls_judge(p, r, u, threads);
            assert_true(v.residual == one.residual && v.max_error == one.max_error);
        }
        free(r), free(u), free(Wr_b);
        dls_problem_destroy(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projection_is_the_nearest_point),
        cmocka_unit_test(projection_at_the_edges),
        cmocka_unit_test(judge_by_hand),
        cmocka_unit_test(judge_needs_no_velocity),
        cmocka_unit_test(judge_with_bilateral_rows),
        cmocka_unit_test(nothing_to_judge),
        cmocka_unit_test(nothing_good_about_nan),
        cmocka_unit_test(measures_of_any_pair),
        cmocka_unit_test(judge_of_large_problems),
        cmocka_unit_test(measures_vanish_at_solutions),
        cmocka_unit_test(residual_has_no_units),
        cmocka_unit_test(measures_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests_name("measure", tests, NULL, NULL);
}
