/* The exact one-contact solver: accuracy on random contacts, all solutions against scans that know nothing of
 * its algebra, the choice, certificates, and the edges of the input. */
#include "solve/law/exact.h"
#include "support/block.h"
#include "support/scale.h"
#include "support/test.h"

#include <float.h>

typedef struct contact {
    int d;
    double W[16], mu, b[4];
} contact;

/* ---- random contacts -------------------------------------------------------------------------------- */

static void random_basis(dls_random *g, int d, double *Q) {
    for (int j = 0; j < d; j++) {
        for (int i = 0; i < d; i++) Q[i + d * j] = dls_random_normal(g);
        for (int k = 0; k < j; k++) {
            double along = small_dot(d, Q + d * j, Q + d * k);
            for (int i = 0; i < d; i++) Q[i + d * j] -= along * Q[i + d * k];
        }
        double length = small_norm(d, Q + d * j);
        for (int i = 0; i < d; i++) Q[i + d * j] /= length;
    }
}

/* W = Q diag(λ) Qᵀ, exactly symmetric. */
static void compose(int d, const double *Q, const double *lambda, double *W) {
    for (int i = 0; i < d; i++)
        for (int j = 0; j <= i; j++) {
            double sum = 0;
            for (int k = 0; k < d; k++) sum += Q[i + d * k] * lambda[k] * Q[j + d * k];
            W[i + d * j] = W[j + d * i] = sum;
        }
}

/* Eigenvalues between 1 and the reciprocal of a condition number up to 1e10. */
static void block_conditioned(dls_random *g, int d, double *W) {
    double Q[16], lambda[4], decades = dls_random_between(g, 0, 10);
    random_basis(g, d, Q);
    for (int i = 0; i < d; i++) lambda[i] = pow(10, -decades * dls_random_unit(g));
    compose(d, Q, lambda, W);
}

/* A heavy direction across normal and tangent. */
static void block_coupled(dls_random *g, int d, double *W) {
    double Q[16], lambda[4] = {0}, heavy[4];
    random_basis(g, d, Q);
    for (int i = 0; i < d; i++) lambda[i] = pow(10, -2 * dls_random_unit(g));
    compose(d, Q, lambda, W);
    for (int i = 0; i < d; i++) heavy[i] = 5 * dls_random_normal(g);
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) W[i + d * j] += heavy[i] * heavy[j];
}

static void random_load(dls_random *g, contact *c) {
    double slope = pow(10, dls_random_between(g, -1, 2));
    if (dls_random_unit(g) < 0.1) slope = pow(10, dls_random_between(g, -8, 8));
    c->mu = dls_random_unit(g) < 0.01 ? 0 : pow(10, dls_random_between(g, -2, 1));
    c->b[0] = dls_random_unit(g) < 0.03 ? fabs(dls_random_normal(g)) : -fabs(dls_random_normal(g));
    for (int i = 1; i < c->d; i++) c->b[i] = dls_random_normal(g) * slope * (0.1 + c->mu);
}

/* Positive definite: ill-conditioned, of rigid bodies, sphere-like, strongly coupled, in turn. */
static contact random_contact(dls_random *g, int d, int turn) {
    contact c = {.d = d};
    void (*make[4])(dls_random *, int, double *) = {block_conditioned, block_bodies, block_sphere,
                                                    block_coupled};
    make[turn % 4](g, d, c.W);
    random_load(g, &c);
    return c;
}

/* Anything: unsymmetric, indefinite, b_n of either sign. */
static contact random_wild_contact(dls_random *g, int d) {
    contact c = {.d = d};
    double skew = dls_random_unit(g) < 0.5 ? 0 : 1;
    for (int i = 0; i < d; i++)
        for (int j = 0; j <= i; j++) {
            c.W[i + d * j] = dls_random_normal(g);
            c.W[j + d * i] = skew > 0 ? dls_random_normal(g) : c.W[i + d * j];
        }
    for (int i = 0; i < d; i++) c.W[i + d * i] = fabs(c.W[i + d * i]) * dls_random_between(g, -0.3, 2);
    c.mu = dls_random_between(g, 0.1, 3);
    for (int i = 0; i < d; i++) c.b[i] = dls_random_normal(g);
    return c;
}

/* ---- measures --------------------------------------------------------------------------------------- */

/* The natural map with ρ = d/tr W, relative to |b| + |W||r|. */
static double residual(const contact *c, const double *r) {
    double u[4] = {0}, N[4] = {0};
    block_velocity(c->d, c->W, c->b, r, u);
    double w = fabs(small_trace(c->d, c->W)) / c->d, size = small_norm(c->d * c->d, c->W);
    cone_natural_map(c->d, c->mu, w > 0 ? w : size, r, u, N);
    double scale = small_norm(c->d, c->b) + size * small_norm(c->d, r);
    return scale > 0 ? small_norm(c->d, N) / scale : small_norm(c->d, N);
}

static double distance(int d, const double *x, const double *y) {
    double apart = 0, largest = 0;
    for (int i = 0; i < d; i++) {
        apart = fmax(apart, fabs(x[i] - y[i]));
        largest = fmax(largest, fmax(fabs(x[i]), fabs(y[i])));
    }
    return largest > 0 ? apart / largest : 0;
}

static dls_contact_state solve(const contact *c, double *r) {
    return dls_exact_solve(c->d, c->W, c->mu, c->b, r);
}

static void random_start(dls_random *g, int d, double *r) {
    r[0] = fabs(dls_random_normal(g));
    for (int i = 1; i < d; i++) r[i] = dls_random_normal(g);
}

/* ---- accuracy --------------------------------------------------------------------------------------- */

static void check_accuracy(int d, int count) {
    dls_random g = {.state = (uint64_t)d};
    int states[4] = {0};
    double worst = 0;
    for (int k = 0; k < count; k++) {
        contact c = random_contact(&g, d, k);
        double r[4];
        random_start(&g, d, r);
        states[solve(&c, r)]++;
        worst = fmax(worst, residual(&c, r));
    }
    print_message("d = %d: %d open, %d stick, %d slip, worst residual %.1e\n", d, states[DLS_OPEN],
                  states[DLS_STICK], states[DLS_SLIP], worst);
    assert_int_equal(states[DLS_UNSOLVED], 0);
    assert_true(states[DLS_OPEN] > 0 && states[DLS_STICK] > 0 && states[DLS_SLIP] > 0);
    assert_true(worst < 1e-12);
}

static void a_million_spatial_contacts_are_solved(void **state) {
    (void)state;
    check_accuracy(3, scaled(1000000, 4000));
}

static void planar_contacts_are_solved(void **state) {
    (void)state;
    check_accuracy(2, scaled(100000, 4000));
}

static void drilling_contacts_are_solved(void **state) {
    (void)state;
    check_accuracy(4, scaled(100000, 4000));
}

/* ---- the choice ------------------------------------------------------------------------------------- */

static int enumerate(const contact *c, dls_exact_solution *solutions, int *chosen) {
    return dls_exact_enumerate(c->d, c->W, c->mu, c->b, solutions, chosen, NULL);
}

/* Every solution solves, the chosen one has the largest ratio, the quick solver finds it from any start. */
static int check_choice(dls_random *g, const contact *c) {
    dls_exact_solution solutions[DLS_EXACT_MAX_SOLUTIONS];
    int chosen, count = enumerate(c, solutions, &chosen);
    for (int k = 0; k < count; k++) {
        assert_true(residual(c, solutions[k].r) < 1e-12);
        assert_true(solutions[k].slip_ratio <= solutions[chosen].slip_ratio);
    }
    for (int start = 0; start < 3; start++) {
        double r[4];
        random_start(g, c->d, r);
        dls_contact_state answer = solve(c, r);
        if (count == 0) assert_int_equal(answer, DLS_UNSOLVED);
        if (count > 0) assert_true(distance(c->d, r, solutions[chosen].r) < 1e-6);
        if (c->b[0] >= 0) assert_int_equal(answer, DLS_OPEN);
    }
    return count;
}

static void the_choice_is_the_largest_ratio_from_any_start(void **state) {
    (void)state;
    for (int d = 2; d <= 4; d++) {
        dls_random g = {.state = (uint64_t)(100 + d)};
        int several = 0, count = scaled(d == 4 ? 40000 : 100000, 2000);
        for (int k = 0; k < count; k++) {
            contact c = random_contact(&g, d, k);
            int found = check_choice(&g, &c);
            assert_in_range(found, 1, DLS_EXACT_MAX_SOLUTIONS);
            if (c.b[0] < 0) several += found > 1;
        }
        print_message("d = %d: %d of %d positive definite contacts have several solutions\n", d, several,
                      count);
        if (d == 2) assert_int_equal(several, 0);
        if (d > 2) assert_true(several > 0);
    }
}

static void wild_blocks_agree_with_the_enumeration(void **state) {
    (void)state;
    for (int d = 2; d <= 4; d++) {
        dls_random g = {.state = (uint64_t)(200 + d)};
        for (int k = 0; k < scaled(50000, 2000); k++) {
            contact c = random_wild_contact(&g, d);
            check_choice(&g, &c);
        }
    }
}

/* W_tt and the coupling are mirrored by t₂ → −t₂, and so are the solutions. */
static void mirrored_contacts_have_mirrored_solutions(void **state) {
    (void)state;
    dls_random g = {.state = 7};
    for (int k = 0; k < scaled(5000, 500); k++) {
        contact c = random_contact(&g, 3, k), mirrored = c;
        const double sign[3] = {1, 1, -1};
        for (int i = 0; i < 3; i++) {
            mirrored.b[i] *= sign[i];
            for (int j = 0; j < 3; j++) mirrored.W[i + 3 * j] *= sign[i] * sign[j];
        }
        double r[4] = {0}, s[4] = {0};
        solve(&c, r);
        solve(&mirrored, s);
        s[2] = -s[2];
        assert_true(distance(3, r, s) < 1e-6);
    }
}

static void prepared_blocks_give_the_same_bits(void **state) {
    (void)state;
    dls_random g = {.state = 8};
    for (int k = 0; k < scaled(20000, 500); k++) {
        contact c = random_contact(&g, 3, k);
        double data[DLS_EXACT_DATA3], r[3], s[3];
        random_start(&g, 3, r);
        memcpy(s, r, sizeof r);
        dls_exact_prepare3(c.W, c.mu, data);
        assert_int_equal(dls_exact_solve3(c.W, c.mu, c.b, r),
                         dls_exact_solve3_prepared(c.W, c.mu, data, c.b, s));
        assert_memory_equal(r, s, sizeof r);
        c = random_contact(&g, 2, k);
        dls_exact_prepare2(c.W, c.mu, data);
        assert_int_equal(dls_exact_solve2(c.W, c.mu, c.b, r),
                         dls_exact_solve2_prepared(c.W, c.mu, data, c.b, s));
        assert_memory_equal(r, s, 2 * sizeof *r);
    }
}

/* ---- all solutions, found another way --------------------------------------------------------------- */

enum { MAX_SCANNED = 16 };

typedef struct scan {
    int count;
    bool is_delicate; /* a grazing root: which side of existence it is on is rounding */
    double r[MAX_SCANNED][4];
} scan;

/* Records a slip found at r if friction opposes the velocity. */
static void record(const contact *c, const double *r, scan *s) {
    double u[4], size = small_norm(c->d, c->b) + small_norm(c->d * c->d, c->W) * small_norm(c->d, r);
    block_velocity(c->d, c->W, c->b, r, u);
    double power = small_dot(c->d - 1, u + 1, r + 1), speed = small_norm(c->d - 1, u + 1);
    if (speed < 1e-6 * size || r[0] > 1e4) s->is_delicate = true;
    for (int k = 0; k < s->count; k++) s->is_delicate |= distance(c->d, r, s->r[k]) < 1e-3;
    if (r[0] > 0 && power <= 0 && s->count < MAX_SCANNED) memcpy(s->r[s->count++], r, sizeof s->r[0]);
}

/* d = 3: the velocity beside e when r = r_n (1, μe) keeps u_n = 0, times s so that it has no pole. */
static double sideways(const contact *c, double angle, double *r) {
    double e[2] = {cos(angle), sin(angle)}, direction[3] = {1, c->mu * e[0], c->mu * e[1]}, y[3] = {0};
    small_multiply_add(3, c->W, direction, y);
    double r_n = -c->b[0] / y[0];
    for (int i = 0; i < 3; i++) r[i] = r_n * direction[i];
    return y[0] * (e[0] * (c->b[2] + r_n * y[2]) - e[1] * (c->b[1] + r_n * y[1]));
}

static void scan_angles(const contact *c, scan *s) {
    const int steps = 4096;
    double r[4] = {0}, before = sideways(c, 0, r), last = before, least = HUGE_VAL, largest = 0;
    for (int k = 1; k <= steps; k++) {
        double lo = 2 * M_PI * (k - 1) / steps, hi = 2 * M_PI * k / steps, now = sideways(c, hi, r);
        if ((before > 0) != (now > 0)) {
            for (int i = 0; i < 60; i++) {
                double middle = 0.5 * (lo + hi);
                if ((sideways(c, middle, r) > 0) == (before > 0))
                    lo = middle;
                else
                    hi = middle;
            }
            record(c, r, s);
        } else if (fabs(before) < fabs(last) && fabs(before) < fabs(now)) {
            least = fmin(least, fabs(before));
        }
        largest = fmax(largest, fabs(now));
        last = before;
        before = now;
    }
    s->is_delicate |= least < 1e-5 * largest;
}

/* d = 4: |r_t| ∓ μ r_n relative to |r| when friction is a drag, (W + α diag(0, I)) r = −b. With the sign of
 * the determinant in it, it passes through the poles of r unharmed. */
static double cone_gap(const contact *c, int side, double alpha, double *r) {
    double A[16];
    int pivot[4];
    memcpy(A, c->W, sizeof A);
    for (int i = 0; i < 4; i++) r[i] = -c->b[i];
    for (int i = 1; i < 4; i++) A[i + 4 * i] += alpha;
    if (!small_factor(4, A, pivot)) return 0;
    small_solve_factored(4, A, pivot, r);
    for (int i = 0; i < 4; i++)
        if ((A[i + 4 * i] < 0) != (pivot[i] != i)) side = -side;
    return (small_norm(3, r + 1) - side * c->mu * r[0]) / small_norm(4, r);
}

static void scan_drags(const contact *c, int side, scan *s) {
    const int steps = 4000;
    double r[4], lo = 0, before = cone_gap(c, side, 0, r), last = before;
    for (int k = 1; k <= steps; k++) {
        double hi = pow(10, -6 + 12.0 * k / steps), now = cone_gap(c, side, hi, r), left = lo, right = hi;
        if ((before > 0) != (now > 0)) {
            for (int i = 0; i < 100; i++) {
                double middle = 0.5 * (left + right);
                if ((cone_gap(c, side, middle, r) > 0) == (before > 0))
                    left = middle;
                else
                    right = middle;
            }
            record(c, r, s);
        } else if (fabs(before) < fabs(last) && fabs(before) < fabs(now)) {
            s->is_delicate |= fabs(before) < 1e-4;
        }
        last = before;
        before = now;
        lo = hi;
    }
}

/* Every slip of the scan is among the solutions, and no other slip is. */
static bool check_against_scan(const contact *c) {
    dls_exact_solution solutions[DLS_EXACT_MAX_SOLUTIONS];
    scan s = {0};
    int chosen, count = enumerate(c, solutions, &chosen), slips = 0;
    if (c->d == 3) scan_angles(c, &s);
    for (int side = -1; side <= 1 && c->d == 4; side += 2) scan_drags(c, side, &s);
    for (int k = 0; k < count; k++)
        if (solutions[k].state == DLS_SLIP) {
            slips++;
            s.is_delicate |= small_norm(c->d - 1, solutions[k].u + 1) < 1e-6 || solutions[k].r[0] > 1e4;
        }
    if (s.is_delicate) return false;
    assert_int_equal(slips, s.count);
    for (int i = 0; i < s.count; i++) {
        double nearest = HUGE_VAL;
        for (int k = 0; k < count; k++) nearest = fmin(nearest, distance(c->d, s.r[i], solutions[k].r));
        assert_true(nearest < 1e-6);
    }
    return true;
}

static void all_slips_are_those_of_a_scan(void **state) {
    (void)state;
    for (int d = 3; d <= 4; d++) {
        dls_random g = {.state = (uint64_t)(300 + d)};
        int count = scaled(1000, 40), compared = 0;
        for (int k = 0; k < count; k++) {
            contact c = random_wild_contact(&g, d);
            compared += check_against_scan(&c);
            c = random_contact(&g, d, 3);
            c.mu = dls_random_between(&g, 0.5, 3);
            for (int i = 1; i < d; i++) c.b[i] = 3 * dls_random_normal(&g);
            compared += check_against_scan(&c);
        }
        print_message("d = %d: %d of %d contacts compared with a scan\n", d, compared, 2 * count);
        assert_true(compared > 1.5 * count);
    }
}

/* d = 2: the branches by their definition. */
static void planar_branches_are_complete(void **state) {
    (void)state;
    dls_random g = {.state = 9};
    for (int k = 0; k < scaled(50000, 1000); k++) {
        contact c = random_wild_contact(&g, 2);
        dls_exact_solution solutions[DLS_EXACT_MAX_SOLUTIONS];
        int chosen, count = enumerate(&c, solutions, &chosen), expected = c.b[0] >= 0;
        double A[4], r[2] = {-c.b[0], -c.b[1]}, margin = HUGE_VAL;
        memcpy(A, c.W, sizeof A);
        if (!small_solve(2, A, r)) continue;
        expected += fabs(r[1]) <= c.mu * r[0];
        margin = fmin(margin, fabs(fabs(r[1]) - c.mu * r[0]) / small_norm(2, r));
        for (int e = -1; e <= 1; e += 2) {
            double s = c.W[0] + c.mu * e * c.W[2], r_n = -c.b[0] / s;
            double u_t = c.b[1] + r_n * (c.W[1] + c.mu * e * c.W[3]);
            expected += r_n > 0 && e * u_t <= 0;
            margin = fmin(margin, fmin(fabs(u_t), fabs(s)));
        }
        if (margin > 1e-6) assert_int_equal(count, expected);
    }
}

/* ---- blocks without a solution ---------------------------------------------------------------------- */

static void check_certificate(const contact *c) {
    dls_exact_solution solutions[DLS_EXACT_MAX_SOLUTIONS];
    dls_exact_certificate why;
    int chosen = 0;
    double r[4] = {1, 2, 3, 4}, y[4] = {0};
    assert_int_equal(dls_exact_enumerate(c->d, c->W, c->mu, c->b, solutions, &chosen, &why), 0);
    assert_int_equal(chosen, -1);
    assert_int_equal(solve(c, r), DLS_UNSOLVED);
    assert_true(r[0] == 1 && r[1] == 2 && r[2] == 3 && r[3] == 4);

    assert_true(why.open_margin < 0 && why.stick_margin < 0 && why.slip_margin < 0);
    assert_true(why.open_margin >= -1 && why.stick_margin >= -1 - 1e-12 && why.slip_margin >= -1);
    small_multiply_add(c->d, c->W, why.direction, y);
    double size = small_norm(c->d * c->d, c->W);
    assert_true(fabs(small_norm(c->d, why.direction) - 1) < 1e-12);
    assert_true(small_norm(c->d - 1, why.direction + 1) <= c->mu * why.direction[0] * (1 + 1e-12));
    assert_true(fabs(small_dot(c->d, why.direction, y) - why.curvature) <= 1e-14 * size);
    assert_true(why.curvature <= 1e-12 * size);
}

static void unsolvable_contacts_come_with_a_certificate(void **state) {
    (void)state;
    for (int d = 2; d <= 4; d++) {
        dls_random g = {.state = (uint64_t)(400 + d)};
        int unsolvable = 0, count = scaled(50000, 2000);
        for (int k = 0; k < count; k++) {
            contact c = random_wild_contact(&g, d);
            dls_exact_solution solutions[DLS_EXACT_MAX_SOLUTIONS];
            int chosen;
            if (enumerate(&c, solutions, &chosen) > 0) continue;
            unsolvable++;
            check_certificate(&c);
        }
        print_message("d = %d: %d of %d wild contacts have no solution\n", d, unsolvable, count);
        assert_true(unsolvable > 0);
    }
}

/* Sliding forward jams, backward is against the load, and what would stop it pulls: Painlevé's case. */
static void a_jammed_contact_has_no_solution(void **state) {
    (void)state;
    check_certificate(&(contact){.d = 2, .W = {1, 2, 2, 1}, .mu = 1, .b = {-1, 3}});
    check_certificate(&(contact){.d = 3, .W = {1, 2, 0, 2, 1, 0, 0, 0, 1}, .mu = 1, .b = {-1, 3, 0}});
    check_certificate(&(contact){
        .d = 4, .W = {1, 2, 0, 0, 2, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, .mu = 1, .b = {-1, 3, 0, 0}});
}

static void a_contact_without_mobility_has_no_solution(void **state) {
    (void)state;
    for (int d = 2; d <= 4; d++) check_certificate(&(contact){.d = d, .mu = 0.5, .b = {-1, 1}});
}

/* A definite symmetric part is enough, whatever the skew part; so is one whose null directions K avoids. */
static void copositive_blocks_are_always_solved(void **state) {
    (void)state;
    for (int d = 2; d <= 4; d++) {
        dls_random g = {.state = (uint64_t)(500 + d)};
        for (int k = 0; k < scaled(50000, 1000); k++) {
            contact c = random_contact(&g, d, k);
            for (int i = 0; i < d; i++)
                for (int j = 0; j < i; j++) {
                    double skew = 0.5 * small_trace(d, c.W) * dls_random_normal(&g);
                    c.W[i + d * j] += skew;
                    c.W[j + d * i] -= skew;
                }
            double r[4] = {0};
            assert_int_not_equal(solve(&c, r), DLS_UNSOLVED);
            assert_true(residual(&c, r) < 1e-12);
        }
        contact flat = {.d = d, .W = {1}, .mu = 0.5, .b = {-1, 1}};
        double r[4] = {0};
        assert_int_equal(solve(&flat, r), DLS_SLIP);
        assert_true(residual(&flat, r) < 1e-15);
    }
}

/* ---- edges ------------------------------------------------------------------------------------------ */

static void separating_contacts_open(void **state) {
    (void)state;
    dls_random g = {.state = 10};
    for (int k = 0; k < 1000; k++) {
        int d = 2 + k % 3;
        contact c = random_contact(&g, d, k / 3);
        double r[4] = {1, 1, 1, 1};
        c.b[0] = k % 2 ? 0 : fabs(c.b[0]);
        assert_int_equal(solve(&c, r), DLS_OPEN);
        for (int i = 0; i < d; i++) assert_true(r[i] == 0);
    }
}

static void no_velocity_needs_no_impulse(void **state) {
    (void)state;
    dls_random g = {.state = 11};
    for (int d = 2; d <= 4; d++) {
        contact c = random_contact(&g, d, 1);
        double r[4] = {1, 1, 1, 1};
        memset(c.b, 0, sizeof c.b);
        assert_int_equal(solve(&c, r), DLS_OPEN);
        for (int i = 0; i < d; i++) assert_true(r[i] == 0);
        dls_exact_solution solutions[DLS_EXACT_MAX_SOLUTIONS];
        int chosen;
        assert_int_equal(enumerate(&c, solutions, &chosen), 1);
        assert_int_equal(chosen, 0);
    }
}

static void without_friction_only_the_normal_acts(void **state) {
    (void)state;
    dls_random g = {.state = 12};
    for (int k = 0; k < 3000; k++) {
        int d = 2 + k % 3;
        contact c = random_contact(&g, d, k / 3);
        double r[4] = {0};
        c.mu = 0;
        c.b[0] = -fabs(c.b[0]);
        assert_int_not_equal(solve(&c, r), DLS_UNSOLVED);
        assert_true(fabs(r[0] * c.W[0] + c.b[0]) <= 4 * DBL_EPSILON * fabs(c.b[0]));
        for (int i = 1; i < d; i++) assert_true(r[i] == 0);
    }
}

/* W_nn = 1, W_tt = 2: r_n = 1, and |b_t| = 2μ is the threshold. */
static void spheres_have_a_closed_form(void **state) {
    (void)state;
    for (int d = 2; d <= 4; d++) {
        contact c = {.d = d, .mu = 0.5, .b = {-1, 0.99}};
        double r[4] = {0};
        for (int i = 0; i < d; i++) c.W[i + d * i] = i ? 2 : 1;
        assert_int_equal(solve(&c, r), DLS_STICK);
        assert_true(fabs(r[0] - 1) < 1e-15 && fabs(r[1] + 0.495) < 1e-15);
        c.b[1] = 1.01;
        assert_int_equal(solve(&c, r), DLS_SLIP);
        assert_true(fabs(r[0] - 1) < 1e-15 && fabs(r[1] + 0.5) < 1e-15);
    }
}

/* Where the pencil vanishes every direction is a root; where W is singular stick may still be possible. */
static void degenerate_blocks_are_solved(void **state) {
    (void)state;
    for (int d = 2; d <= 4; d++) {
        dls_exact_solution solutions[DLS_EXACT_MAX_SOLUTIONS];
        int chosen;
        contact sphere = {.d = d, .mu = 0.5, .b = {-1}};
        for (int i = 0; i < d; i++) sphere.W[i + d * i] = i ? 2 : 1;
        assert_int_equal(enumerate(&sphere, solutions, &chosen), 1);
        assert_int_equal(solutions[chosen].state, DLS_STICK);

        contact massless = {.d = d, .W = {1}, .mu = 0.5, .b = {-1}};
        assert_true(enumerate(&massless, solutions, &chosen) > 0);
        assert_int_equal(solutions[chosen].state, DLS_STICK);
        assert_true(solutions[chosen].r[0] == 1 && small_norm(d - 1, solutions[chosen].r + 1) == 0);
        for (int sticky = 0; sticky < 2; sticky++) {
            massless.b[1] = 1;
            massless.mu = sticky ? 0.5 : 0;
            assert_int_equal(enumerate(&massless, solutions, &chosen), 1);
            assert_int_equal(solutions[chosen].state, DLS_SLIP);
            assert_true(solutions[chosen].r[0] == 1 && fabs(solutions[chosen].r[1] + massless.mu) < 1e-15);
        }
    }
}

static void scales_do_not_matter(void **state) {
    (void)state;
    const double scales[5] = {1e-100, 1e-40, 1, 1e40, 1e100};
    dls_random g = {.state = 13};
    for (int k = 0; k < scaled(2000, 100); k++) {
        int d = 2 + k % 3;
        contact c = random_contact(&g, d, k / 3);
        double r[4] = {0};
        dls_contact_state answer = solve(&c, r);
        for (int pair = 0; pair < 25; pair++) {
            contact scaled_contact = c;
            double s[4] = {0}, W_scale = scales[pair / 5], b_scale = scales[pair % 5];
            for (int i = 0; i < d * d; i++) scaled_contact.W[i] *= W_scale;
            for (int i = 0; i < d; i++) scaled_contact.b[i] *= b_scale;
            assert_int_equal(solve(&scaled_contact, s), answer);
            for (int i = 0; i < d; i++) s[i] *= W_scale / b_scale;
            assert_true(distance(d, r, s) < 1e-5);
        }
    }
}

static void extreme_friction_is_solved(void **state) {
    (void)state;
    const double frictions[6] = {1e-300, 1e-20, 1e3, 1e7, 1e12, 1e100};
    dls_random g = {.state = 14};
    for (int k = 0; k < scaled(3000, 300); k++) {
        int d = 2 + k % 3;
        contact c = random_contact(&g, d, 1);
        double r[4] = {0};
        c.mu = frictions[k / 3 % 6];
        assert_int_not_equal(solve(&c, r), DLS_UNSOLVED);
        if (c.mu < 1e10) assert_true(residual(&c, r) < 1e-12 * (1 + c.mu));
    }
}

static void what_is_no_number_is_unsolved(void **state) {
    (void)state;
    const double bad[3] = {nan(""), HUGE_VAL, -HUGE_VAL};
    dls_random g = {.state = 15};
    for (int k = 0; k < 3 * 3 * 2; k++) {
        int d = 2 + k % 3;
        contact good = random_contact(&g, d, k % 2);
        double value = bad[k / 3 % 3], r[4] = {1, 2, 3, 4};
        for (int i = 0; i < d * d + d + 1; i++) {
            contact c = good;
            *(i < d * d ? &c.W[i] : i < d * d + d ? &c.b[i - d * d] : &c.mu) = value;
            assert_int_equal(solve(&c, r), DLS_UNSOLVED);
            assert_true(r[0] == 1 && r[1] == 2 && r[2] == 3 && r[3] == 4);
        }
        good.mu = -1;
        assert_int_equal(solve(&good, r), DLS_UNSOLVED);
    }
    assert_int_equal(dls_exact_solve(5, bad, 1, bad, NULL), DLS_UNSOLVED);
    assert_int_equal(dls_exact_solve(1, bad, 1, bad, NULL), DLS_UNSOLVED);
}

/* Whatever r was, the answer is the same. */
static void a_start_of_any_kind_is_harmless(void **state) {
    (void)state;
    const double starts[6] = {0, nan(""), HUGE_VAL, -1, 1e-320, 1e300};
    dls_random g = {.state = 16};
    for (int k = 0; k < 300; k++) {
        int d = 2 + k % 3;
        contact c = random_contact(&g, d, k / 3);
        double r[4] = {0};
        solve(&c, r);
        for (int start = 0; start < 6; start++) {
            double s[4] = {starts[start], starts[start], starts[start], starts[start]};
            solve(&c, s);
            assert_true(distance(d, r, s) < 1e-6);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_spatial_contacts_are_solved),
        cmocka_unit_test(planar_contacts_are_solved),
        cmocka_unit_test(drilling_contacts_are_solved),
        cmocka_unit_test(the_choice_is_the_largest_ratio_from_any_start),
        cmocka_unit_test(wild_blocks_agree_with_the_enumeration),
        cmocka_unit_test(mirrored_contacts_have_mirrored_solutions),
        cmocka_unit_test(prepared_blocks_give_the_same_bits),
        cmocka_unit_test(all_slips_are_those_of_a_scan),
        cmocka_unit_test(planar_branches_are_complete),
        cmocka_unit_test(unsolvable_contacts_come_with_a_certificate),
        cmocka_unit_test(a_jammed_contact_has_no_solution),
        cmocka_unit_test(a_contact_without_mobility_has_no_solution),
        cmocka_unit_test(copositive_blocks_are_always_solved),
        cmocka_unit_test(separating_contacts_open),
        cmocka_unit_test(no_velocity_needs_no_impulse),
        cmocka_unit_test(without_friction_only_the_normal_acts),
        cmocka_unit_test(spheres_have_a_closed_form),
        cmocka_unit_test(degenerate_blocks_are_solved),
        cmocka_unit_test(scales_do_not_matter),
        cmocka_unit_test(extreme_friction_is_solved),
        cmocka_unit_test(what_is_no_number_is_unsolved),
        cmocka_unit_test(a_start_of_any_kind_is_harmless),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
