/* Blocks with parts of friction and with bounds: projections, derivatives and local laws against references
 * that share no code with them, then every solver on mixed problems. */
#include "problem/cone.h"
#include "problem/problem.h"
#include "solve/law/law.h"
#include "support/dense.h"
#include "support/sample.h"
#include "support/scale.h"
#include "support/test.h"
#include "support/variant.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double *doubles(int count) { return calloc((size_t)count + 1, sizeof(double)); }

static const uint8_t LAYOUTS[] = {DLS_PARTS(0, 0, 0), DLS_PARTS(1, 0, 0), DLS_PARTS(2, 0, 0),
                                  DLS_PARTS(3, 0, 0), DLS_PARTS(1, 1, 0), DLS_PARTS(2, 2, 0),
                                  DLS_PARTS(2, 2, 1), DLS_PARTS(3, 2, 0), DLS_PARTS(2, 0, 1),
                                  DLS_PARTS(0, 2, 1), DLS_PARTS(0, 0, 1), DLS_PARTS(1, 1, 1)};
enum { LAYOUT_COUNT = sizeof LAYOUTS };

static dls_cone random_cone(dls_random *g, uint8_t parts) {
    dls_cone cone = {.d = 1};
    for (int k = 0; k < 3; k++) {
        int size = parts >> 2 * k & 3;
        if (!size) continue;
        cone.size[cone.count] = size;
        cone.mu[cone.count++] = dls_random_below(g, 8) ? dls_random_between(g, 0.05, 1.5) : 0;
        cone.d += size;
    }
    return cone;
}

static double part_norm(const dls_cone *cone, int k, const double *x) {
    int at = 1;
    for (int i = 0; i < k; i++) at += cone->size[i];
    double sum = 0;
    for (int i = at; i < at + cone->size[k]; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

/* ---- the projection, by bisection on its normal number ---- */

/* ½|p − z|² over p with p_n = n is least where each part is cut to μ_k n: its derivative in n. */
static double slope_at(const dls_cone *cone, const double *z, double n) {
    double slope = n - z[0];
    for (int k = 0; k < cone->count; k++)
        slope -= cone->mu[k] * fmax(0, part_norm(cone, k, z) - cone->mu[k] * n);
    return slope;
}

static void plain_project(const dls_cone *cone, const double *z, double *p) {
    double low = 0, high = fabs(z[0]) + 1;
    for (int k = 0; k < cone->count; k++) high += (1 + cone->mu[k]) * part_norm(cone, k, z);
    for (int i = 0; i < 200; i++) {
        double middle = 0.5 * (low + high);
        *(slope_at(cone, z, middle) > 0 ? &high : &low) = middle;
    }
    if (slope_at(cone, z, 0) >= 0) low = 0;
    p[0] = low;
    for (int k = 0, at = 1; k < cone->count; at += cone->size[k++]) {
        double length = part_norm(cone, k, z), most = cone->mu[k] * low;
        for (int i = at; i < at + cone->size[k]; i++) p[i] = length > most ? z[i] * most / length : z[i];
    }
}

static void projections(void **state) {
    (void)state;
    dls_random g = {1};
    for (int round = 0; round < scaled(20000, 1000); round++) {
        dls_cone cone = random_cone(&g, LAYOUTS[round % LAYOUT_COUNT]);
        double z[6], p[6], r[6], u[6], N[6], w = dls_random_between(&g, 0.1, 10);
        for (int i = 0; i < cone.d; i++) {
            z[i] = dls_random_normal(&g), r[i] = dls_random_normal(&g);
            u[i] = w * (r[i] - z[i]); /* so that r − u/w = z */
        }
        plain_project(&cone, z, p);
        double lift = 0;
        for (int k = 0; k < cone.count; k++) lift += cone.mu[k] * part_norm(&cone, k, u);
        u[0] -= lift;
        parts_natural_map(&cone, w, r, u, N);
        for (int i = 0; i < cone.d; i++) assert_true(fabs(N[i] - w * (r[i] - p[i])) < 1e-12 * (1 + w));
        dls_cone_project_parts(&cone, z);
        for (int i = 0; i < cone.d; i++) assert_true(fabs(z[i] - p[i]) < 1e-13);
        if (cone.count != 1) continue;
        for (int i = 0; i < cone.d; i++) p[i] = z[i] = dls_random_normal(&g);
        dls_cone_project(cone.d, cone.mu[0], p);
        dls_cone_project_parts(&cone, z);
        for (int i = 0; i < cone.d; i++) assert_true(fabs(z[i] - p[i]) < 1e-14);
    }
}

static void nan_stays(void **state) {
    (void)state;
    dls_random g = {2};
    for (int round = 0; round < 200; round++) {
        dls_cone cone = random_cone(&g, LAYOUTS[round % LAYOUT_COUNT]);
        double r[6] = {1, 0.1, 0.1, 0.1, 0.1, 0.1}, u[6] = {0}, N[6], sum = 0;
        (round % 2 ? r : u)[dls_random_below(&g, (uint64_t)cone.d)] = (double)NAN;
        parts_natural_map(&cone, 1, r, u, N);
        for (int i = 0; i < cone.d; i++) sum += N[i];
        assert_true(isnan(sum));
    }
}

/* ---- derivatives against differences ---- */

typedef dls_contact_state (*linearize_function)(const dls_cone *, double, const double *, const double *,
                                                double *, double *, double *);

static void check_derivatives(linearize_function f, const dls_cone *cone, const double *r, const double *v) {
    double Z[6], A[36], B[36], high[6], low[6], unused[36], x[6], h = 1e-6;
    int d = cone->d;
    f(cone, 0.7, r, v, Z, A, B);
    for (int side = 0; side < 2; side++)
        for (int j = 0; j < d; j++) {
            memcpy(x, side ? v : r, sizeof(double) * (size_t)d);
            x[j] += h;
            f(cone, 0.7, side ? r : x, side ? x : v, high, unused, unused);
            x[j] -= 2 * h;
            f(cone, 0.7, side ? r : x, side ? x : v, low, unused, unused);
            for (int i = 0; i < d; i++) {
                double slope = (high[i] - low[i]) / (2 * h), told = (side ? B : A)[i + d * j];
                if (!(fabs(slope - told) < 1e-4))
                    fail_msg("slope %d %d %d: %g, differences %g", side, i, j, told, slope);
            }
        }
}

static void derivatives(void **state) {
    (void)state;
    dls_random g = {3};
    for (int round = 0; round < scaled(3000, 300); round++) {
        dls_cone cone = random_cone(&g, LAYOUTS[1 + round % (LAYOUT_COUNT - 1)]);
        double r[6], v[6];
        for (int k = 0; k < cone.count; k++) cone.mu[k] += 0.05; /* without friction Z has a kink at 0 */
        for (int i = 0; i < cone.d; i++) r[i] = dls_random_normal(&g), v[i] = 2 * dls_random_normal(&g);
        r[0] += 1;
        bool near_kink = false; /* differences must not step over a border of the sets */
        double tau[6] = {0}, cylinder[6] = {0};
        double lift = 0;
        for (int k = 0; k < cone.count; k++) lift += cone.mu[k] * part_norm(&cone, k, v);
        for (int i = 0; i < cone.d; i++) {
            cylinder[i] = r[i] - 0.7 * v[i];
            tau[i] = cylinder[i] - (i ? 0 : 0.7 * lift);
        }
        parts_place place;
        parts_find(&cone, tau, &place);
        near_kink = fabs(cylinder[0]) < 1e-3 || place.n < 1e-3;
        for (int k = 0; k < cone.count; k++)
            near_kink = near_kink || fabs(part_norm(&cone, k, cylinder) - cone.mu[k] * cylinder[0]) < 1e-3 ||
                        fabs(place.length[k] - cone.mu[k] * place.n) < 1e-3 || place.length[k] < 1e-2 ||
                        part_norm(&cone, k, v) < 1e-2;
        if (near_kink) continue;
        check_derivatives(dls_eal_linearize_cone, &cone, r, v);
        check_derivatives(dls_ebp_linearize_cone, &cone, r, v);
    }
}

/* ---- the local law ---- */

/* W = G Gᵀ of a body with mass 1 and the inertia of a ball of radius R, pushed on its surface, by a random
 * second one. */
static void random_block(dls_random *g, int d, double *W) {
    double G[6 * 12];
    for (int k = 0; k < 6 * 12; k++) G[k] = dls_random_normal(g);
    for (int i = 0; i < d; i++) G[i * 12 + i] += 2;
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            W[i + d * j] = 0;
            for (int k = 0; k < 12; k++) W[i + d * j] += G[i * 12 + k] * G[j * 12 + k] / 8;
        }
}

/* How far (r, u) is from the law, by its words: r in K, u_n ≥ 0, and each part against its own velocity. */
static double law_error(const dls_cone *cone, const double *r, const double *u) {
    double error = fmax(fmax(0, -r[0]), fmax(0, -u[0]));
    error = fmax(error, fmin(r[0], fabs(u[0])));
    for (int k = 0, at = 1; k < cone->count; at += cone->size[k++]) {
        double friction = part_norm(cone, k, r), speed = part_norm(cone, k, u), most = cone->mu[k] * r[0];
        error = fmax(error, friction - most);
        if (r[0] > 1e-9) error = fmax(error, fmin(speed, most - friction)); /* slips only where all is used */
        for (int i = at; i < at + cone->size[k]; i++)
            if (speed > 1e-6 && r[0] > 1e-9) error = fmax(error, fabs(r[i] + most * u[i] / speed));
    }
    return error;
}

static void local_laws(void **state) {
    (void)state;
    dls_random g = {4};
    const char *names[] = {"exact", "eal", "ebp"};
    for (int which = 0; which < 3; which++) {
        int unsolved = 0, rounds = scaled(3000, 300);
        for (int round = 0; round < rounds; round++) {
            dls_cone cone = random_cone(&g, LAYOUTS[4 + round % (LAYOUT_COUNT - 4)]);
            double W[36], b[6], r[6] = {0}, u[6];
            random_block(&g, cone.d, W);
            for (int i = 0; i < cone.d; i++) b[i] = dls_random_normal(&g);
            if (round % 4) b[0] = -fabs(b[0]);
            dls_contact_state reached;
            assert_int_equal(
                dls_law_apply_cone(dls_law_find(names[which]), NULL, &cone, W, b, r, u, &reached, NULL),
                DLS_OK);
            if (reached == DLS_UNSOLVED)
                unsolved++;
            else if (!(law_error(&cone, r, u) < 1e-8))
                fail_msg("%s, round %d: law broken by %g", names[which], round, law_error(&cone, r, u));
        }
        if (!(unsolved <= rounds / (which ? 100 : 1000)))
            fail_msg("%s: %d of %d unsolved", names[which], unsolved, rounds);
    }
}

/* One contact by parts is the one that Coulomb's closed form solves. */
static void one_part_agrees_with_the_closed_form(void **state) {
    (void)state;
    dls_random g = {5};
    for (int round = 0; round < scaled(2000, 200); round++) {
        dls_cone cone = random_cone(&g, LAYOUTS[1 + round % 3]);
        double W[36], b[6], r[6] = {0}, s[6] = {0}, u[6], v[6];
        random_block(&g, cone.d, W);
        for (int i = 0; i < cone.d; i++) b[i] = dls_random_normal(&g);
        const dls_law *law = dls_law_find("exact");
        assert_int_equal(dls_law_apply(law, NULL, cone.d, W, cone.mu[0], b, r, u, NULL, NULL), DLS_OK);
        assert_int_equal(dls_law_apply_cone(law, NULL, &cone, W, b, s, v, NULL, NULL), DLS_OK);
        for (int i = 0; i < cone.d; i++) assert_true(fabs(u[i] - v[i]) < 1e-9);
    }
}

static void laws_of_one_part_refuse(void **state) {
    (void)state;
    dls_cone cone = {3, 2, {1, 1}, {0.3, 0.1}};
    double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, b[3] = {-1, 0, 0}, r[3] = {0};
    dls_error error;
    assert_int_equal(dls_law_apply_cone(dls_law_find("ipdas"), NULL, &cone, W, b, r, NULL, NULL, &error),
                     DLS_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "law 'ipdas' knows contacts with one tangential part"));
}

/* ---- whole problems ---- */

/* Contacts of all layouts and intervals of all kinds, side by side, on a chain of bodies. */
typedef struct mixed {
    dls_problem_def def;
    dls_bodies bodies;
    int size[32], body[64];
    uint8_t kind[32], parts[32];
    double mu[32], mu_r[32], mu_s[32], b[192], low[192], high[192], mass[32 * 36], H[2 * 192 * 6], speed[32];
    int rows;
} mixed;

enum { CONTACTS_ONLY, INTERVALS_ONLY, ALL_KINDS };

static void fill_interval(dls_random *g, mixed *m, int c, int kind) {
    m->kind[c] = DLS_INTERVAL;
    m->size[c] = 1 + c % 6;
    for (int i = m->rows; i < m->rows + m->size[c]; i++) {
        double bound = dls_random_between(g, 0.05, 0.5);
        m->low[i] = kind == 0 ? -HUGE_VAL : kind == 1 ? 0 : -bound;
        m->high[i] = kind == 2 ? bound : HUGE_VAL;
    }
}

static mixed *mixed_create(dls_random *g, int blocks, int what) {
    mixed *m = calloc(1, sizeof *m);
    double *H = m->H;
    for (int c = 0; c < blocks; c++) {
        bool interval = what == INTERVALS_ONLY || (what == ALL_KINDS && c % 3 == 2);
        m->parts[c] = LAYOUTS[(size_t)dls_random_below(g, LAYOUT_COUNT)];
        m->size[c] = 1 + (m->parts[c] & 3) + (m->parts[c] >> 2 & 3) + (m->parts[c] >> 4 & 3);
        if (interval) fill_interval(g, m, c, (int)dls_random_below(g, 3));
        m->mu[c] = dls_random_between(g, 0.1, 0.8);
        m->mu_r[c] = dls_random_between(g, 0.02, 0.3);
        m->mu_s[c] = dls_random_between(g, 0.02, 0.3);
        m->body[2 * c] = c % 8 - 1;
        m->body[2 * c + 1] = c % 8;
        for (int side = 0; side < 2; side++, H += m->size[c] * 6)
            for (int j = 0; j < 6; j++)
                for (int i = 0; i < m->size[c]; i++)
                    H[i + m->size[c] * j] = (side ? 1 : -1) * ((i == j) + 0.25 * dls_random_normal(g));
        for (int i = 0; i < m->size[c]; i++) m->b[m->rows + i] = 0.5 * dls_random_normal(g);
        if (!interval) m->b[m->rows] = -dls_random_unit(g);
        m->rows += m->size[c];
    }
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < 6; i++) m->mass[36 * k + 7 * i] = dls_random_between(g, 0.5, 2);
    m->def = (dls_problem_def){.block_count = blocks,
                               .block_size = m->size,
                               .block_kind = m->kind,
                               .block_parts = m->parts,
                               .mu = m->mu,
                               .mu_rolling = m->mu_r,
                               .mu_spinning = m->mu_s,
                               .low = m->low,
                               .high = m->high,
                               .b = m->b};
    m->bodies = (dls_bodies){8, 6, m->mass, m->body, m->H};
    return m;
}

static dls_problem *mixed_problem(const mixed *m) {
    dls_problem *p;
    dls_error error;
    if (dls_problem_create_bodies(&m->def, &m->bodies, &p, &error)) fail_msg("%s", error.message);
    return p;
}

/* The law of every block by its words, in the user's numbers; the largest violation. */
static double words_error(const mixed *m, const double *r, const double *u) {
    double worst = 0;
    for (int c = 0, row = 0; c < m->def.block_count; row += m->size[c++]) {
        if (m->kind[c] == DLS_CONTACT) {
            dls_cone cone = {.d = m->size[c]};
            const double mu[] = {m->mu[c], m->mu_r[c], m->mu_s[c]};
            for (int k = 0; k < 3; k++)
                if (m->parts[c] >> 2 * k & 3) {
                    cone.size[cone.count] = m->parts[c] >> 2 * k & 3;
                    cone.mu[cone.count++] = mu[k];
                }
            worst = fmax(worst, law_error(&cone, r + row, u + row));
            continue;
        }
        for (int i = row; i < row + m->size[c]; i++) {
            worst = fmax(worst, fmax(m->low[i] - r[i], r[i] - m->high[i]));
            worst = fmax(worst, fmin(fmax(0, u[i]), r[i] - m->low[i])); /* u > 0 only at low */
            worst = fmax(worst, fmin(fmax(0, -u[i]), m->high[i] - r[i]));
        }
    }
    return worst;
}

static void check_variant(const mixed *m, const dls_problem *p, const char *text, double tolerance) {
    double *r = doubles(m->rows), *u = doubles(m->rows);
    variant v = variant_from(text);
    v.options.stop.tolerance = tolerance;
    dls_solve_info info = variant_solve(&v, p, r, u);
    if (info.outcome != DLS_CONVERGED || !(words_error(m, r, u) < 1e3 * tolerance))
        fail_msg("%s: %s at %g, words broken by %g", text, dls_outcome_name(info.outcome), info.stop_value,
                 words_error(m, r, u));
    free(r), free(u);
}

static void every_solver(void **state) {
    (void)state;
    dls_random g = {6};
    const char *variants[] = {"auto",
                              "nlgs",
                              "nlgs+law=eal",
                              "nlgs+law=ebp",
                              "nlgs+law=sbp",
                              "nlgs+law=sal",
                              "nlgs+acceleration=anderson",
                              "apgd",
                              "pqn",
                              "newton",
                              "newton+form=natural_map",
                              "ipm"};
    for (int round = 0; round < scaled(60, 6); round++) {
        mixed *m = mixed_create(&g, 1 + round % 16, round % 3);
        dls_problem *p = mixed_problem(m), *stored;
        assert_int_equal(dls_problem_assemble(p, &stored, NULL), DLS_OK);
        for (size_t k = 0; k < sizeof variants / sizeof *variants; k++)
            check_variant(m, k % 2 ? p : stored, variants[k], 1e-9);
        check_variant(m, p, "ipm+polish=0", 1e-7); /* the square root of rounding, or better */
        dls_problem_destroy(p);
        dls_problem_destroy(stored);
        free(m);
    }
}

static void laws_of_one_part_refuse_problems(void **state) {
    (void)state;
    dls_random g = {7};
    mixed *m = mixed_create(&g, 8, ALL_KINDS);
    dls_problem *p = mixed_problem(m);
    double *r = doubles(m->rows);
    dls_solve_info info;
    dls_error error;
    variant v = variant_from("nlgs+law=epdas");
    assert_int_equal(dls_solve(p, v.solver, &v.options, r, NULL, NULL, &info, &error), DLS_ERROR_ARGUMENT);
    assert_non_null(strstr(error.message, "law 'epdas' knows contacts with one tangential part of friction"));
    free(r), free(m);
    dls_problem_destroy(p);
}

/* ---- units: the same problem in mm, g and ms ---- */

static mixed *in_other_units(const mixed *m, double L, double M, double T, double *f, double *g) {
    mixed *o = malloc(sizeof *o);
    memcpy(o, m, sizeof *o);
    double *H = o->H;
    for (int c = 0, row = 0; c < m->def.block_count; row += m->size[c++]) {
        int turns = m->kind[c] == DLS_INTERVAL ? 3 : 1 + (m->parts[c] & 3);
        o->mu_r[c] *= L, o->mu_s[c] *= L;
        for (int i = 0; i < m->size[c]; i++) {
            bool rotation = i >= turns;
            f[row + i] = rotation ? 1 / T : L / T;
            g[row + i] = rotation ? M * L * L / T : M * L / T;
            o->b[row + i] *= f[row + i];
            o->low[row + i] *= g[row + i], o->high[row + i] *= g[row + i];
        }
        for (int side = 0; side < 2; side++, H += m->size[c] * 6)
            for (int k = 0; k < 6 * m->size[c]; k++)
                H[k] *= f[row + k % m->size[c]] * T / (k / m->size[c] < 3 ? L : 1);
    }
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < 6; i++) o->mass[36 * k + 7 * i] /= i < 3 ? M : M * L * L;
    o->def.block_size = o->size, o->def.block_kind = o->kind, o->def.block_parts = o->parts;
    o->def.mu = o->mu, o->def.mu_rolling = o->mu_r, o->def.mu_spinning = o->mu_s;
    o->def.low = o->low, o->def.high = o->high, o->def.b = o->b;
    o->bodies = (dls_bodies){8, 6, o->mass, o->body, o->H};
    return o;
}

/* The same iterates to rounding: after as many iterations impulses differ by their units alone. */
static void iterates_do_not_depend_on_units(void **state) {
    (void)state;
    dls_random g = {8};
    const char *variants[] = {"nlgs+max_iterations=7",
                              "nlgs+acceleration=anderson+max_iterations=12",
                              "nlgs+acceleration=momentum+max_iterations=9",
                              "apgd+max_iterations=9",
                              "pqn+max_iterations=3",
                              "newton+max_iterations=4",
                              "ipm+max_iterations=5",
                              "auto+max_iterations=20"};
    for (int round = 0; round < scaled(12, 3); round++) {
        mixed *m = mixed_create(&g, 12, round % 3);
        double *f = doubles(m->rows), *h = doubles(m->rows), *r = doubles(m->rows), *s = doubles(m->rows);
        mixed *o = in_other_units(m, 1e3, 1e3, 1e3, f, h);
        dls_problem *p = mixed_problem(m), *q = mixed_problem(o);
        for (size_t k = 0; k < sizeof variants / sizeof *variants; k++) {
            variant v = variant_from(variants[k]);
            memset(r, 0, sizeof(double) * (size_t)m->rows);
            memset(s, 0, sizeof(double) * (size_t)m->rows);
            v.options.stop.tolerance = 1e-13;
            dls_solve_info here = variant_solve(&v, p, r, NULL), there = variant_solve(&v, q, s, NULL);
            if (!(fabs(here.measures.residual - there.measures.residual) <=
                  1e-6 * here.measures.residual + 1e-12))
                fail_msg("%s, round %d: residual %g and %g", variants[k], round, here.measures.residual,
                         there.measures.residual);
            double worst = 0, size = 0;
            for (int i = 0; i < m->rows; i++) {
                worst = fmax(worst, fabs(s[i] / h[i] - r[i]));
                size = fmax(size, fabs(r[i]));
            }
            if (!(worst <= 1e-7 * size))
                fail_msg("%s, round %d: impulses differ by %g of %g", variants[k], round, worst, size);
        }
        dls_problem_destroy(p), dls_problem_destroy(q);
        free(f), free(h), free(r), free(s), free(m), free(o);
    }
}

/* What users gave comes back, in their units. */
static void users_see_their_own(void **state) {
    (void)state;
    dls_random g = {9};
    mixed *m = mixed_create(&g, 14, ALL_KINDS);
    dls_problem *p = mixed_problem(m);
    assert_true(dls_problem_has_parts(p) && dls_problem_has_bounds(p));
    assert_memory_equal(dls_problem_b(p), m->b, sizeof(double) * (size_t)m->rows);
    for (int c = 0, row = 0; c < 14; row += m->size[c++]) {
        bool contact = m->kind[c] == DLS_CONTACT;
        assert_int_equal(dls_problem_block_parts(p, c), contact ? m->parts[c] : 0);
        if (contact && m->parts[c] >> 2 & 3)
            assert_true(fabs(dls_problem_mu_rolling(p, c) / m->mu_r[c] - 1) < 1e-15);
        if (contact && m->parts[c] >> 4)
            assert_true(fabs(dls_problem_mu_spinning(p, c) / m->mu_s[c] - 1) < 1e-15);
        for (int i = row; i < row + m->size[c] && !contact; i++) {
            double low = dls_problem_low(p, i), high = dls_problem_high(p, i);
            assert_true(low == m->low[i] || fabs(low / m->low[i] - 1) < 1e-15);
            assert_true(high == m->high[i] || fabs(high / m->high[i] - 1) < 1e-15);
        }
    }
    free(m);
    dls_problem_destroy(p);
}

/* Two motors of one axle: together they are as strong as both, and hold what they can. */
static void bounds_hold_what_they_can(void **state) {
    (void)state;
    const double W[4] = {1, 1, 1, 1}, low[2] = {-1, -2}, high[2] = {1, 2}, mu[2] = {0, 0};
    const int size[2] = {1, 1};
    const uint8_t kind[2] = {DLS_INTERVAL, DLS_INTERVAL};
    for (int k = 0; k < 3; k++) {
        double b[2] = {-1.5 * (k + 1), -1.5 * (k + 1)}, r[2] = {0, 0}, u[2];
        dls_problem_def def = {.block_count = 2,
                               .block_size = size,
                               .block_kind = kind,
                               .mu = mu,
                               .low = low,
                               .high = high,
                               .b = b};
        dls_problem *p = dense_problem(&def, 2, W);
        for (int i = 0; i < 2; i++) {
            variant_reach(i ? "ipm" : "auto", p, 1e-10, r, u);
            assert_true(fabs(r[0] + r[1] - fmin(3, 1.5 * (k + 1))) < 1e-9);
            assert_true(fabs(u[0] - fmin(0, 3 - 1.5 * (k + 1))) < 1e-9);
        }
        dls_problem_destroy(p);
    }
}

/* One block of rows with bounds is solved by its first visit: the second changes nothing. */
static void one_visit_solves_an_interval(void **state) {
    (void)state;
    dls_random g = {10};
    for (int round = 0; round < 200; round++) {
        mixed *m = mixed_create(&g, 1, INTERVALS_ONLY);
        m->size[0] = 1 + round % 6;
        m->rows = m->size[0];
        double W[36], *r = doubles(6), *u = doubles(6);
        random_block(&g, m->rows, W);
        for (int i = 0; i < m->rows; i++) {
            m->low[i] = -dls_random_unit(&g), m->high[i] = i % 3 ? dls_random_unit(&g) : HUGE_VAL;
            m->b[i] = 3 * dls_random_normal(&g);
        }
        dls_problem *p = dense_problem(&m->def, m->rows, W);
        variant v = variant_from("nlgs+acceleration=plain+max_iterations=1");
        v.options.stop.tolerance = 1e-12;
        variant_solve(&v, p, r, u);
        if (!(words_error(m, r, u) < 1e-10)) fail_msg("round %d: %g", round, words_error(m, r, u));
        dls_problem_destroy(p);
        free(r), free(u), free(m);
    }
}

/* Two limits that face each other contradict each other, seen from either side. One that is bounded on both
 * sides gives way, be it at the end of what sweeps would walk in a year. */
static void contradictions_know_bounds(void **state) {
    (void)state;
    const double bounds[] = {HUGE_VAL, 2, 1e15}, mu[2] = {0, 0};
    const int size[2] = {1, 1};
    const uint8_t kind[2] = {DLS_INTERVAL, DLS_INTERVAL};
    for (int k = 0; k < 6; k++) {
        double bound = bounds[k % 3], sign = k < 3 ? 1 : -1; /* of the second row */
        const double W[4] = {1, -sign, -sign, 1}, b[2] = {-1, -sign}, low[2] = {0, sign > 0 ? 0 : -bound},
                     high[2] = {HUGE_VAL, sign > 0 ? bound : 0};
        dls_problem_def def = {.block_count = 2,
                               .block_size = size,
                               .block_kind = kind,
                               .mu = mu,
                               .low = low,
                               .high = high,
                               .b = b};
        dls_problem *p = dense_problem(&def, 2, W);
        dls_contradiction found;
        assert_int_equal(dls_find_contradiction(p, NULL, &found, NULL), DLS_OK);
        assert_int_equal(found.found, bound == HUGE_VAL);
        dls_problem_destroy(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projections),
        cmocka_unit_test(nan_stays),
        cmocka_unit_test(derivatives),
        cmocka_unit_test(local_laws),
        cmocka_unit_test(one_part_agrees_with_the_closed_form),
        cmocka_unit_test(laws_of_one_part_refuse),
        cmocka_unit_test(every_solver),
        cmocka_unit_test(laws_of_one_part_refuse_problems),
        cmocka_unit_test(iterates_do_not_depend_on_units),
        cmocka_unit_test(users_see_their_own),
        cmocka_unit_test(bounds_hold_what_they_can),
        cmocka_unit_test(one_visit_solves_an_interval),
        cmocka_unit_test(contradictions_know_bounds),
    };
    return cmocka_run_group_tests_name("parts", tests, NULL, NULL);
}
