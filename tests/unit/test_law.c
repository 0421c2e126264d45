/* Each local law on its own, through the public interface. */
#include "solve/law/law.h"
#include "support/block.h"
#include "support/test.h"

#include <delassus/delassus.h>
#include <stdio.h>

/* A law with at most one option set, by the text that a user would type. */
typedef struct variant {
    const char *law, *key, *value;
} variant;

static const variant all_variants[] = {
    {"sbp", NULL, NULL},
    {"sal", NULL, NULL},
    {"ebp", NULL, NULL},
    {"ebp", "local_iterations", "1"},
    {"ebp", "safeguard", "no"},
    {"eal", NULL, NULL},
    {"eal", "eal_radius", "r"},
    {"epdas", NULL, NULL},
    {"epdas", "safeguard", "no"},
    {"epdas", "pdas_compare", "old"},
    {"epdas", "pdas_iterations", "20"},
    {"ipdas", NULL, NULL},
    {"ipdas", "pdas_slip", "newton"},
    {"ipdas", "pdas_iterations", "20"},
    {"exact", NULL, NULL},
};
enum { VARIANTS = sizeof all_variants / sizeof all_variants[0] };

static dls_law_options options_of(const variant *v) {
    int count;
    const dls_field *fields = dls_law_fields(&count);
    dls_law_options options = dls_default_law_options();
    if (v->key) assert_int_equal(dls_field_set(fields, count, &options, v->key, v->value, NULL), DLS_OK);
    return options;
}

typedef void block_maker(dls_random *g, int d, double *W);

/* ---- fixed points ------------------------------------------------------------------------------------ */

typedef struct contact {
    int d;
    double W[16], mu, b[4], r[4];
    dls_contact_state state;
} contact;

static void random_tangent(dls_random *g, int d, double *e) {
    for (int i = 1; i < d; i++) e[i] = dls_random_normal(g);
    double length = small_norm(d - 1, e + 1);
    for (int i = 1; i < d; i++) e[i] /= length;
}

/* A contact made from its solution: choose r and u that obey the law, then b = u − W r. */
static contact solved_contact(dls_random *g, int d, block_maker *make, dls_contact_state state) {
    static const double friction[] = {0, 0.3, 1, 2.5};
    contact c = {.d = d, .state = state};
    double e[4], u[4] = {0}, resistance;
    do {
        make(g, d, c.W);
        c.mu = friction[dls_random_below(g, 4)];
        random_tangent(g, d, e);
        resistance = c.W[0];
        for (int j = 1; j < d; j++) resistance += c.mu * e[j] * c.W[d * j];
    } while (resistance < 0.1 * c.W[0] || (state == DLS_STICK && c.mu == 0));
    double scale = 1 / c.W[0], grip = state == DLS_SLIP ? 1 : dls_random_between(g, 0, 0.9);
    double speed = dls_random_between(g, 0.1, 2);
    if (state == DLS_OPEN) {
        u[0] = speed;
        for (int i = 1; i < d; i++) u[i] = dls_random_normal(g);
    } else {
        c.r[0] = scale * dls_random_between(g, 0.1, 2);
        for (int i = 1; i < d; i++) {
            c.r[i] = grip * c.mu * c.r[0] * e[i];
            u[i] = state == DLS_SLIP ? -speed * e[i] : 0;
        }
    }
    memcpy(c.b, u, sizeof u);
    small_multiply_subtract(d, c.W, c.r, c.b);
    return c;
}

/* exact chooses among several solutions, so where blocks couple it need not keep ours. */
static void check_stays(const variant *v, const contact *c, bool unique) {
    dls_law_options options = options_of(v);
    double r[4], u[4];
    dls_contact_state state;
    memcpy(r, c->r, sizeof r);
    assert_int_equal(
        dls_law_apply(dls_law_find(v->law), &options, c->d, c->W, c->mu, c->b, r, u, &state, NULL), DLS_OK);
    assert_true(block_residual(c->d, c->W, c->mu, c->b, r) < 1e-12);
    if (!unique && !strcmp(v->law, "exact")) return;
    double moved[4], size = small_norm(c->d, c->r) + small_norm(c->d, c->b) / c->W[0];
    for (int i = 0; i < c->d; i++) moved[i] = r[i] - c->r[i];
    if (!(small_norm(c->d, moved) <= 1e-12 * size))
        fail_msg("%s %s, d = %d, state %d, mu %g: moved by %g", v->law, v->value ? v->value : "", c->d,
                 (int)c->state, c->mu, small_norm(c->d, moved) / size);
    if (c->mu > 0 || c->state == DLS_OPEN) assert_int_equal(state, c->state);
}

static void solutions_are_fixed_points(void **unused) {
    (void)unused;
    dls_random g = {11};
    for (int trial = 0; trial < 900; trial++) {
        int d = 2 + trial % 3;
        dls_contact_state state = (dls_contact_state)(trial / 3 % 3);
        bool sphere = trial / 9 % 2;
        contact c = solved_contact(&g, d, sphere ? block_sphere : block_bodies, state);
        for (int k = 0; k < VARIANTS; k++) check_stays(&all_variants[k], &c, sphere);
    }
}

/* ---- convergence ------------------------------------------------------------------------------------- */

/* Contacts out of count that are not solved to 1e-10 after so many visits, from zero and from anywhere. */
static int unsolved_after(const variant *v, block_maker *make, int d, int count, int visits) {
    static const double friction[] = {0, 0.2, 0.5, 0.8, 1.1, 2};
    const dls_law *law = dls_law_find(v->law);
    dls_law_options options = options_of(v);
    dls_random g = {77};
    int unsolved = 0;
    for (int k = 0; k < count; k++) {
        double W[16], b[4], r[4] = {0}, mu = friction[dls_random_below(&g, 6)];
        make(&g, d, W);
        for (int i = 0; i < d; i++) {
            b[i] = dls_random_normal(&g);
            if (k % 2) r[i] = dls_random_normal(&g) / W[0];
        }
        int visit = 0;
        while (visit < visits && (visit == 0 || block_residual(d, W, mu, b, r) > 1e-10)) {
            assert_int_equal(dls_law_apply(law, &options, d, W, mu, b, r, NULL, NULL, NULL), DLS_OK);
            visit++;
        }
        unsolved += block_residual(d, W, mu, b, r) > 1e-10;
    }
    return unsolved;
}

static void check_solves(const variant *v, block_maker *make, int visits, int allowed_of_1000) {
    for (int d = 2; d <= 4; d++) {
        int unsolved = unsolved_after(v, make, d, 1000, visits);
        if (unsolved > allowed_of_1000)
            fail_msg("%s %s, d = %d: %d of 1000 contacts unsolved after %d visits", v->law,
                     v->value ? v->value : "", d, unsolved, visits);
    }
}

static void one_visit_solves_spheres(void **unused) {
    (void)unused;
    static const variant immediate[] = {
        {"ebp", NULL, NULL},   {"eal", NULL, NULL},   {"eal", "eal_radius", "r"},
        {"ipdas", NULL, NULL}, {"exact", NULL, NULL}, {"ipdas", "pdas_slip", "newton"},
    };
    for (size_t k = 0; k < sizeof immediate / sizeof immediate[0]; k++)
        check_solves(&immediate[k], block_sphere, 1, 0);
}

/* epdas takes Newton's way to a stick that is near, so it needs a few visits. */
static void few_visits_solve_spheres(void **unused) {
    (void)unused;
    check_solves(&(variant){"epdas", NULL, NULL}, block_sphere, 8, 0);
    check_solves(&(variant){"epdas", "pdas_compare", "old"}, block_sphere, 9, 0);
    check_solves(&(variant){"ipdas", "pdas_compare", "old"}, block_sphere, 3, 0);
    check_solves(&(variant){"sbp", NULL, NULL}, block_sphere, 400, 0);
    check_solves(&(variant){"sal", NULL, NULL}, block_sphere, 400, 0);
}

static void one_visit_solves_rigid_bodies(void **unused) {
    (void)unused;
    static const variant complete[] = {
        {"ebp", NULL, NULL},
        {"eal", NULL, NULL},
        {"eal", "eal_radius", "r"},
        {"epdas", "pdas_iterations", "20"},
        {"ipdas", "pdas_iterations", "20"},
        {"exact", NULL, NULL},
    };
    for (size_t k = 0; k < sizeof complete / sizeof complete[0]; k++)
        check_solves(&complete[k], block_bodies, 1, 0);
}

/* Laws that step once per visit may cycle on a strongly coupled block; few do. */
static void repeated_steps_solve_rigid_bodies(void **unused) {
    (void)unused;
    check_solves(&(variant){"sbp", NULL, NULL}, block_bodies, 3000, 1);
    check_solves(&(variant){"sal", NULL, NULL}, block_bodies, 3000, 0);
    check_solves(&(variant){"ebp", "local_iterations", "1"}, block_bodies, 300, 20);
    check_solves(&(variant){"epdas", NULL, NULL}, block_bodies, 300, 8);
    check_solves(&(variant){"ipdas", NULL, NULL}, block_bodies, 300, 8);
    check_solves(&(variant){"ipdas", "pdas_slip", "newton"}, block_bodies, 300, 8);
}

/* The safeguard earns its place: without it Newton cycles on some of the same contacts. */
static void safeguard_is_needed(void **unused) {
    (void)unused;
    assert_true(unsolved_after(&(variant){"ebp", "safeguard", "no"}, block_sphere, 3, 2000, 1) > 0);
    assert_true(unsolved_after(&(variant){"eal", "safeguard", "no"}, block_bodies, 3, 2000, 1) > 0);
}

/* So does each of its starts, and the damping: without any one of them more contacts are left than allowed.
 */
static void every_restart_is_needed(void **unused) {
    (void)unused;
    static const struct {
        variant variant;
        int d, allowed; /* of 200000 */
    } rows[] = {
        {{"ebp", NULL, NULL}, 4, 100}, {{"eal", NULL, NULL}, 3, 250}, {{"eal", "eal_radius", "r"}, 3, 370}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        int left = unsolved_after(&rows[k].variant, block_uneven, rows[k].d, 200000, 1);
        if (left > rows[k].allowed)
            fail_msg("row %zu: %s leaves %d contacts, at most %d allowed", k, rows[k].variant.law, left,
                     rows[k].allowed);
    }
}

/* ---- closed forms -------------------------------------------------------------------------------------- */

static void without_friction_only_the_normal_acts(void **unused) {
    (void)unused;
    dls_random g = {3};
    for (int trial = 0; trial < 200; trial++) {
        int d = 2 + trial % 3;
        double W[16], b[4] = {-1};
        block_bodies(&g, d, W);
        for (int i = 1; i < d; i++) b[i] = dls_random_normal(&g);
        for (int k = 0; k < VARIANTS; k++) {
            const variant *v = &all_variants[k];
            if (!strcmp(v->law, "sbp") || !strcmp(v->law, "sal")) continue;
            dls_law_options options = options_of(v);
            double r[4] = {0};
            for (int visit = 0; visit < 3; visit++)
                assert_int_equal(
                    dls_law_apply(dls_law_find(v->law), &options, d, W, 0, b, r, NULL, NULL, NULL), DLS_OK);
            assert_true(fabs(r[0] * W[0] - 1) < 1e-12 && small_norm(d - 1, r + 1) * W[0] < 1e-12);
        }
    }
}

/* μ = 2.5 holds a block pushed at 65°; μ = 0.5 lets it go. */
static void steep_cones_stick(void **unused) {
    (void)unused;
    const double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, b[3] = {-1, 2, 0};
    for (int k = 0; k < dls_law_count(); k++) {
        const dls_law *law = dls_law_at(k);
        double r[3] = {0}, u[3];
        dls_contact_state state;
        for (int visit = 0; visit < 200; visit++)
            assert_int_equal(dls_law_apply(law, NULL, 3, W, 2.5, b, r, u, &state, NULL), DLS_OK);
        assert_int_equal(state, DLS_STICK);
        assert_true(fabs(r[0] - 1) < 1e-12 && fabs(r[1] + 2) < 1e-12 && fabs(r[2]) < 1e-12);
        for (int visit = 0; visit < 200; visit++)
            assert_int_equal(dls_law_apply(law, NULL, 3, W, 0.5, b, r, u, &state, NULL), DLS_OK);
        assert_int_equal(state, DLS_SLIP);
        assert_true(fabs(r[0] - 1) < 1e-12 && fabs(r[1] + 0.5) < 1e-12 && fabs(u[1] - 1.5) < 1e-12);
    }
}

/* Largest violation of u_n⁺ = 0, u_t⁺ = u_t (1 − p_n⁺/p_n) by the step from p to next. */
static double epdas_stick_error(const contact *c, const double *p, const double *next) {
    double u[4], u_next[4], error;
    block_velocity(c->d, c->W, c->b, p, u);
    block_velocity(c->d, c->W, c->b, next, u_next);
    error = fabs(u_next[0]);
    for (int i = 1; i < c->d; i++) error = fmax(error, fabs(u_next[i] - u[i] * (1 - next[0] / p[0])));
    return error;
}

/* Sticks of epdas and ipdas from the solution with its normal impulse multiplied: those that differ. Newton's
 * steps, each checked, where p_n is near its end; none where it is more than twice off. */
static int newton_sticks(double factor) {
    dls_random g = {21};
    int differ = 0;
    for (int trial = 0; trial < 300; trial++) {
        int d = 2 + trial % 3;
        contact c = solved_contact(&g, d, block_bodies, DLS_STICK);
        double start[4], p[2][4], gap = 0;
        dls_contact_state state[2];
        memcpy(start, c.r, sizeof start);
        start[0] *= factor;
        for (int k = 0; k < 2; k++) {
            memcpy(p[k], start, sizeof start);
            assert_int_equal(dls_law_apply(dls_law_find(k ? "epdas" : "ipdas"), NULL, d, c.W, c.mu, c.b, p[k],
                                           NULL, &state[k], NULL),
                             DLS_OK);
        }
        assert_int_equal(state[0], state[1]);
        double size = small_norm(d, start) + small_norm(d, c.r), w = small_max_eigenvalue(d, c.W, d);
        for (int i = 0; i < d; i++) gap = fmax(gap, fabs(p[0][i] - p[1][i]));
        if (state[0] != DLS_STICK || gap < 1e-12 * size) continue;
        assert_true(epdas_stick_error(&c, start, p[1]) < 1e-12 * w * size);
        differ++;
    }
    return differ;
}

static void epdas_sticks_by_newton_only_when_near(void **unused) {
    (void)unused;
    assert_true(newton_sticks(1.1) > 100);
    assert_true(newton_sticks(0.6) > 100);
    assert_int_equal(newton_sticks(2.1), 0);
    assert_int_equal(newton_sticks(0.4), 0);
}

/* Fixed parameters are masses: the step of sal from zero is −ρb, whatever the block. */
static void fixed_and_scaled_parameters(void **unused) {
    (void)unused;
    const double W[4] = {2, 0, 0, 8}, b[2] = {-1, 0};
    dls_law_options options = dls_default_law_options();
    double r[2] = {0};
    assert_int_equal(dls_law_apply(dls_law_find("sal"), &options, 2, W, 0.5, b, r, NULL, NULL, NULL), DLS_OK);
    assert_true(fabs(r[0] - 1.0 / 8) < 1e-15);
    r[0] = 0;
    options.rho_scale = 2;
    assert_int_equal(dls_law_apply(dls_law_find("sal"), &options, 2, W, 0.5, b, r, NULL, NULL, NULL), DLS_OK);
    assert_true(fabs(r[0] - 2.0 / 8) < 1e-15);
    r[0] = 0;
    options.rho = 0.3;
    assert_int_equal(dls_law_apply(dls_law_find("sal"), &options, 2, W, 0.5, b, r, NULL, NULL, NULL), DLS_OK);
    assert_true(fabs(r[0] - 0.3) < 1e-15);
}

/* Not positive definite, and no branch holds: ebp and eal say so and step like sbp and sal. */
static void unsolvable_contacts_still_step(void **unused) {
    (void)unused;
    static const char *const pairs[][2] = {{"ebp", "sbp"}, {"eal", "sal"}, {"ipdas", "sal"}};
    const double W[4] = {1, 3, 3, 1}, b[2] = {-1, 0}, start[2] = {0.3, 0.1};
    dls_law_options options = dls_default_law_options();
    options.pdas_iterations = 20;
    for (int k = 0; k < 3; k++) {
        double r[2] = {start[0], start[1]}, standard[2] = {start[0], start[1]};
        dls_contact_state state;
        dls_law_apply(dls_law_find(pairs[k][0]), &options, 2, W, 0.5, b, r, NULL, &state, NULL);
        dls_law_apply(dls_law_find(pairs[k][1]), &options, 2, W, 0.5, b, standard, NULL, NULL, NULL);
        assert_int_equal(state, DLS_UNSOLVED);
        assert_true(standard[0] > 0 && fabs(r[0] - standard[0]) < 1e-15 && fabs(r[1] - standard[1]) < 1e-15);
    }
}

static void eigenvalues_match_rotations(void **unused) {
    (void)unused;
    dls_random g = {8};
    const double scaled_unit[9] = {3, 0, 0, 0, 3, 0, 0, 0, 3};
    assert_true(dls_law_max_eigenvalue(3, scaled_unit, 3) == 3);
    for (int trial = 0; trial < 3000; trial++) {
        int lead = 2 + trial % 3, d = lead - trial / 3 % 2;
        double A[16];
        for (int i = 0; i < lead * lead; i++) A[i] = dls_random_normal(&g);
        double expected = small_max_eigenvalue(d, A, lead);
        assert_true(fabs(dls_law_max_eigenvalue(d, A, lead) - expected) < 1e-13 * lead);
    }
}

/* A body that cannot turn about one axis gives a singular block; no law may crash or leave the cone. */
static void singular_blocks_do_no_harm(void **unused) {
    (void)unused;
    const double W[9] = {1, 1, 0, 1, 1, 0, 0, 0, 1}, b[3] = {-1, 0.3, 0.2};
    for (int k = 0; k < dls_law_count(); k++) {
        double r[3] = {0};
        for (int visit = 0; visit < 50; visit++)
            assert_int_equal(dls_law_apply(dls_law_at(k), NULL, 3, W, 0.4, b, r, NULL, NULL, NULL), DLS_OK);
        assert_true(isfinite(r[0]) && r[0] >= 0 && hypot(r[1], r[2]) <= 0.4 * r[0] + 1e-12);
    }
}

/* ---- the table ------------------------------------------------------------------------------------------
 */

static void table_is_complete(void **unused) {
    (void)unused;
    static const char *const names[] = {"sbp", "sal", "ebp", "eal", "epdas", "ipdas", "exact"};
    assert_int_equal(dls_law_count(), 7);
    for (int k = 0; k < 7; k++) {
        const dls_law *law = dls_law_at(k);
        assert_string_equal(law->name, names[k]);
        assert_ptr_equal(dls_law_find(names[k]), law);
        assert_true(strlen(law->summary) > 10);
    }
    assert_null(dls_law_at(-1));
    assert_null(dls_law_at(7));
    assert_null(dls_law_find("newton"));
    assert_null(dls_law_find(NULL));
}

/* What a user's law saw of its own data. */
static int prepared_blocks;

static int frictionless_data_size(int d) { return 60 * d; } /* more than the usual scratch */

static void frictionless_prepare(const dls_law_options *options, int d, const double *W, double mu,
                                 double *data) {
    (void)options, (void)mu;
    data[60 * d - 1] = 1 / W[0];
    prepared_blocks++;
}

static dls_contact_state frictionless_solve(const dls_law_options *options, int d, const double *W, double mu,
                                            const double *data, const double *b, double *r) {
    (void)options, (void)W, (void)mu;
    for (int i = 1; i < d; i++) r[i] = 0;
    r[0] = fmax(0, -b[0] * data[60 * d - 1]);
    return r[0] > 0 ? DLS_SLIP : DLS_OPEN;
}

static dls_contact_state lazy_solve(const dls_law_options *options, int d, const double *W, double mu,
                                    const double *data, const double *b, double *r) {
    (void)options, (void)d, (void)W, (void)mu, (void)data, (void)b, (void)r;
    return DLS_UNSOLVED;
}

static void a_law_of_ones_own(void **unused) {
    (void)unused;
    const double W[4] = {2, 1, 1, 3}, b[2] = {-1, 4};
    dls_law mine = {.name = "frictionless",
                    .data_size = frictionless_data_size,
                    .prepare = frictionless_prepare,
                    .solve = frictionless_solve};
    assert_int_equal(dls_law_register(&mine, NULL), DLS_OK);
    mine.solve = NULL; /* the row was copied */
    assert_int_equal(dls_law_count(), 8);
    const dls_law *law = dls_law_find("frictionless");
    double r[2] = {7, 7}, u[2];
    dls_contact_state state;
    assert_int_equal(dls_law_apply(law, NULL, 2, W, 0.5, b, r, u, &state, NULL), DLS_OK);
    assert_int_equal(prepared_blocks, 1);
    assert_int_equal(state, DLS_SLIP);
    assert_true(r[0] == 0.5 && r[1] == 0 && u[0] == 0 && u[1] == 4.5);
}

static void assert_refused(const dls_law *law, const char *text) {
    dls_error error;
    assert_int_equal(dls_law_register(law, &error), DLS_ERROR_ARGUMENT);
    if (!strstr(error.message, text)) fail_msg("'%s' does not say '%s'", error.message, text);
}

static void bad_rows_are_refused(void **unused) {
    (void)unused;
    assert_refused(NULL, "solve");
    assert_refused(&(dls_law){.name = "x"}, "solve");
    assert_refused(&(dls_law){.solve = lazy_solve}, "name");
    assert_refused(&(dls_law){.name = "", .solve = lazy_solve}, "name");
    assert_refused(&(dls_law){.name = "Two words", .solve = lazy_solve}, "name");
    assert_refused(&(dls_law){.name = "nlgs:ebp", .solve = lazy_solve}, "name");
    assert_refused(&(dls_law){.name = "a-name-that-has-one-letter-too-many", .solve = lazy_solve}, "name");
    assert_refused(&(dls_law){.name = "ebp", .solve = lazy_solve}, "taken");
    assert_refused(&(dls_law){.name = "half", .solve = lazy_solve, .data_size = frictionless_data_size},
                   "together");
}

/* Comes last: it leaves no room. */
static void the_table_fills(void **unused) {
    (void)unused;
    static char names[16][24];
    const double W[4] = {1, 0, 0, 1}, b[2] = {-1, 0};
    int room = 7 + 16 - dls_law_count();
    for (int k = 0; k < room; k++) {
        snprintf(names[k], sizeof names[k], "lazy-%d", k);
        assert_int_equal(dls_law_register(&(dls_law){.name = names[k], .solve = lazy_solve}, NULL), DLS_OK);
    }
    assert_refused(&(dls_law){.name = "one-more", .solve = lazy_solve}, "full");
    double r[2] = {0};
    dls_contact_state state = DLS_OPEN;
    assert_int_equal(dls_law_apply(dls_law_find("lazy-0"), NULL, 2, W, 1, b, r, NULL, &state, NULL), DLS_OK);
    assert_int_equal(state, DLS_UNSOLVED);
}

/* ---- bad input -------------------------------------------------------------------------------------------
 */

static void assert_bad(dls_status expected, const char *text, const dls_law *law,
                       const dls_law_options *options, int d, const double *W, double mu, const double *b) {
    dls_error error;
    double r[4] = {0};
    dls_contact_state state = DLS_OPEN;
    assert_int_equal(dls_law_apply(law, options, d, W, mu, b, r, NULL, &state, &error), expected);
    assert_int_equal(error.status, expected);
    if (!strstr(error.message, text)) fail_msg("'%s' does not say '%s'", error.message, text);
}

static void bad_contacts_are_refused(void **unused) {
    (void)unused;
    const dls_law *law = dls_law_find("ebp");
    const double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, b[3] = {-1, 0, 0};
    const double nan_W[9] = {1, 0, 0, 0, (double)NAN, 0, 0, 0, 1}, inf_b[3] = {-1, (double)INFINITY, 0};
    const double flat_W[9] = {1, 0, 0, 0, 0, 0, 0, 0, 1};
    assert_bad(DLS_ERROR_ARGUMENT, "dls_law_find", NULL, NULL, 3, W, 0.5, b);
    assert_bad(DLS_ERROR_ARGUMENT, "5 rows, expected 2, 3 or 4", law, NULL, 5, W, 0.5, b);
    assert_bad(DLS_ERROR_ARGUMENT, "1 rows", law, NULL, 1, W, 0.5, b);
    assert_bad(DLS_ERROR_ARGUMENT, "W is NULL", law, NULL, 3, NULL, 0.5, b);
    assert_bad(DLS_ERROR_ARGUMENT, "b is NULL", law, NULL, 3, W, 0.5, NULL);
    assert_bad(DLS_ERROR_INPUT, "mu is -0.1", law, NULL, 3, W, -0.1, b);
    assert_bad(DLS_ERROR_INPUT, "mu is nan", law, NULL, 3, W, (double)NAN, b);
    assert_bad(DLS_ERROR_INPUT, "mu is inf", law, NULL, 3, W, (double)INFINITY, b);
    assert_bad(DLS_ERROR_INPUT, "W[4] is nan", law, NULL, 3, nan_W, 0.5, b);
    assert_bad(DLS_ERROR_INPUT, "b[1] is inf", law, NULL, 3, W, 0.5, inf_b);
    assert_bad(DLS_ERROR_INPUT, "W[1][1] is 0", law, NULL, 3, flat_W, 0.5, b);
    dls_error error;
    assert_int_equal(dls_law_apply(law, NULL, 3, W, 0.5, b, NULL, NULL, NULL, &error), DLS_ERROR_ARGUMENT);
}

static void bad_options_are_refused(void **unused) {
    (void)unused;
    const dls_law *law = dls_law_find("ebp");
    const double W[4] = {1, 0, 0, 1}, b[2] = {-1, 0};
    dls_law_options options = dls_default_law_options();
    options.rho = -1;
    assert_bad(DLS_ERROR_ARGUMENT, "rho", law, &options, 2, W, 0.5, b);
    options = dls_default_law_options();
    options.local_tolerance = (double)NAN;
    assert_bad(DLS_ERROR_ARGUMENT, "local_tolerance", law, &options, 2, W, 0.5, b);
    options = dls_default_law_options();
    options.local_iterations = 0;
    assert_bad(DLS_ERROR_ARGUMENT, "local_iterations", law, &options, 2, W, 0.5, b);
    options = dls_default_law_options();
    options.eal_radius = (dls_eal_radius)2;
    assert_bad(DLS_ERROR_ARGUMENT, "eal_radius", law, &options, 2, W, 0.5, b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_is_complete),
        cmocka_unit_test(solutions_are_fixed_points),
        cmocka_unit_test(one_visit_solves_spheres),
        cmocka_unit_test(few_visits_solve_spheres),
        cmocka_unit_test(one_visit_solves_rigid_bodies),
        cmocka_unit_test(repeated_steps_solve_rigid_bodies),
        cmocka_unit_test(safeguard_is_needed),
        cmocka_unit_test(every_restart_is_needed),
        cmocka_unit_test(without_friction_only_the_normal_acts),
        cmocka_unit_test(steep_cones_stick),
        cmocka_unit_test(epdas_sticks_by_newton_only_when_near),
        cmocka_unit_test(fixed_and_scaled_parameters),
        cmocka_unit_test(eigenvalues_match_rotations),
        cmocka_unit_test(singular_blocks_do_no_harm),
        cmocka_unit_test(unsolvable_contacts_still_step),
        cmocka_unit_test(bad_contacts_are_refused),
        cmocka_unit_test(bad_options_are_refused),
        cmocka_unit_test(bad_rows_are_refused),
        cmocka_unit_test(a_law_of_ones_own),
        cmocka_unit_test(the_table_fills),
    };
    return cmocka_run_group_tests_name("local laws", tests, NULL, NULL);
}
