/* Attacks on the judge: ways to have a step certified in which something is let go, and what becomes of them.
 * Those that succeeded on an earlier measure (‖N‖ over b of contacts with r ≠ 0) are here as well. */
#include "base/random.h"
#include "problem/problem.h"
#include "support/sample.h"
#include "support/stage.h"
#include "support/test.h"
#include "support/variant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double G = 9.81, H = 1e-3;

static dls_measures measure(const dls_problem *p, const double *r) {
    dls_measures m;
    assert_int_equal(dls_problem_measure(p, r, NULL, &m, NULL), DLS_OK);
    return m;
}

static bool certified(const dls_measures *m, double tolerance) {
    return m->residual <= tolerance && !(m->held > DLS_HELD_LIMIT);
}

static double *copy_of(const double *x, int n) {
    double *y = calloc((size_t)n + 1, sizeof *y);
    if (x) memcpy(y, x, sizeof *y * (size_t)n);
    return y;
}

/* Columns of bodies on a floor, side by side without touching, after a step that solved their contacts to
 * 1e-12. A box has 4 contacts with what it stands on, a ball one. */
static stage columns(int dimension, int wide, int high, bool boxes, dls_operator_choice op, double speed) {
    stage s = stage_open(dimension, G, 0.3, 0, 0);
    dls_shape_def shape = stage_ball(dimension, 0.5);
    if (boxes) {
        shape = dls_default_shape_def(DLS_BOX);
        for (int k = 0; k < 3; k++) shape.size[k] = 1;
    }
    stage_add_floor(&s, 0);
    for (int k = 0; k < wide * wide * high; k++) {
        double at[3] = {2 * (k % wide), 2 * (k / wide % wide), 0.5 + k / (wide * wide)}, v[3] = {speed, 0, 0};
        if (dimension == 2) at[1] = 0.5 + k / wide, at[2] = 0;
        if (dimension == 2 && k >= wide * high) break;
        stage_add_shape(&s, DLS_DYNAMIC, &shape, at, v, NULL);
    }
    dls_simulation_options o = dls_default_simulation_options();
    o.step = H, o.op = op;
    stage_start(&s, &o, 1e-12);
    stage_run(&s, 1);
    return s;
}

/* ---- letting go ---- */

/* Whatever the operator, in the plane and in space, of balls and boxes: no impulse at all is no solution. */
static void nothing_held(void **state) {
    (void)state;
    for (int k = 0; k < 8; k++) {
        int dimension = k % 2 ? 3 : 2;
        bool boxes = k / 2 % 2 && dimension == 3;
        stage s = columns(dimension, 3, 3, boxes, k / 4 ? DLS_OPERATOR_STORED : DLS_OPERATOR_BODIES, 0);
        const dls_problem *p = dls_simulation_problem(s.simulation);
        int n = dls_problem_row_count(p);
        double *r = copy_of(NULL, n);
        dls_measures solved = measure(p, dls_simulation_impulses(s.simulation)), m = measure(p, r);
        assert_true(s.last.certified && certified(&solved, 1e-11));
        assert_true(isinf(m.residual) && !certified(&m, 0.99));
        assert_true(fabs(m.held - 1) < 1e-12 && fabs(m.max_error - G * H) < 1e-12);
        assert_int_equal(dls_problem_is_stored(p), k / 4);
        for (int i = 0; i < n; i++) r[i] = 1e-15 * dls_simulation_impulses(s.simulation)[i];
        m = measure(p, r); /* rounding-size impulses change nothing */
        assert_true(m.residual > 1e13 && m.held > 0.99);
        free(r);
        stage_close(&s);
    }
}

/* A lattice of boxes whose sides are 10 mm apart: some 24,000 open contacts with gap/h = 10 m/s. */
static void open_contacts_pay_for_nothing(void **state) {
    (void)state;
    stage s = stage_open(3, G, 0.3, 0, 0);
    dls_shape_def box = dls_default_shape_def(DLS_BOX);
    for (int k = 0; k < 3; k++) box.size[k] = 1;
    stage_add_floor(&s, 0);
    for (int k = 0; k < 216; k++)
        stage_add_shape(&s, DLS_DYNAMIC, &box, (double[3]){1.01 * (k % 6), 1.01 * (k / 6 % 6), 0.5 + k / 36},
                        NULL, NULL);
    dls_simulation_options o = dls_default_simulation_options();
    o.step = H;
    stage_start(&s, &o, 1e-3);
    stage_run(&s, 8);
    assert_int_equal(s.uncertified, 0);
    assert_int_equal(s.last.active, 4 * 216);
    assert_true(s.last.contacts > 3 * s.last.active && s.last.max_error < 1e-2 * G * H);
    const dls_problem *p = dls_simulation_problem(s.simulation);
    int n = dls_problem_row_count(p);
    double *r = copy_of(NULL, n);
    dls_measures m = measure(p, r);
    assert_true(isinf(m.residual) && m.residual_active < 1e-2); /* which the earlier measure did not mind */
    for (int i = 0; i < n; i += 3) r[i] = 1e-3;                 /* nor did it mind impulses on all of them */
    m = measure(p, r);
    assert_true(m.residual > 0.9);
    free(r);
    stage_close(&s);
}

/* ---- an impact elsewhere ---- */

/* A solver that solves, and then lets go whatever it was told to. */
static struct {
    double least; /* contacts with an impulse below this are let go */
    int let_go;
} lazy;

static dls_status lazy_solve(const dls_problem *p, const void *options, double *r, double *u,
                             dls_workspace *w, dls_solve_info *info, dls_error *error) {
    (void)options;
    dls_nlgs_options sweeps = dls_default_nlgs_options();
    sweeps.stop.tolerance = 1e-12;
    dls_status status = dls_solver_find("nlgs")->solve(p, &sweeps, r, u, w, info, error);
    lazy.let_go = 0;
    for (int c = 0; c < dls_problem_block_count(p); c++) {
        double *rc = r + dls_problem_block_row(p, c);
        if (rc[0] == 0 || rc[0] >= lazy.least) continue;
        memset(rc, 0, sizeof(double) * (size_t)dls_problem_block_size(p, c));
        lazy.let_go++;
    }
    info->outcome = DLS_CONVERGED; /* or so it says */
    return status;
}

static void lazy_defaults(void *options) {
    *(dls_stop_options *)options = (dls_stop_options){.tolerance = 1e-3, .threads = 1};
}

/* Three balls hit the floor at 100 m/s beside 200 that rest on it and are let go: the sums over contacts see
 * the impact alone, held does not. */
static void an_impact_pays_for_nothing(void **state) {
    (void)state;
    static const dls_solver solver = {.name = "lazy",
                                      .summary = "",
                                      .options_size = sizeof(dls_stop_options),
                                      .defaults = lazy_defaults,
                                      .fields = NULL,
                                      .field_count = 0,
                                      .solve = lazy_solve};
    stage s = stage_open(3, G, 0.3, 0, 0);
    dls_shape_def ball = stage_ball(3, 0.05);
    dls_stop_options options;
    lazy_defaults(&options);
    stage_add_floor(&s, 0);
    for (int k = 0; k < 203; k++) {
        double at[3] = {0.2 * (k % 20), 0.2 * (k / 20), 0.05}, v[3] = {0, 0, k < 200 ? 0 : -100};
        stage_add_shape(&s, DLS_DYNAMIC, &ball, at, v, NULL);
    }
    dls_simulation_options o = dls_default_simulation_options();
    o.step = H;
    stage_start(&s, &o, 0);
    assert_int_equal(dls_simulation_set_solver(s.simulation, &solver, &options, NULL), DLS_OK);
    lazy.least = 1;
    stage_run(&s, 1);
    assert_int_equal(lazy.let_go, 200);
    assert_true(s.last.residual < options.tolerance && s.last.outcome == DLS_CONVERGED);
    assert_true(s.last.held > 0.99 && !s.last.certified);
    assert_true(dls_simulation_summary(s.simulation).worst_held == s.last.held);
    lazy.least = 0; /* with them held the same step is certified */
    stage_run(&s, 1);
    assert_true(lazy.let_go == 0 && s.last.certified && s.last.held < 1e-9);
    stage_close(&s);
}

/* What stops by the residual does not stop before everything is held, even where the impact is 1e5 times as
 * fast and the tolerance met at once. */
static void solvers_go_on_until_all_is_held(void **state) {
    (void)state;
    const char *const names[] = {"auto", "nlgs", "apgd", "pqn", "newton", "ipm"};
    for (int k = 0; k < 6; k++) {
        stage s = stage_open(3, G, 0.3, 0, 0);
        dls_shape_def ball = stage_ball(3, 0.5);
        _Alignas(double) char room[DLS_MAX_OPTIONS_SIZE];
        const dls_solver *solver = dls_solver_find(names[k]);
        dls_simulation_solver_defaults(solver, room);
        ((dls_stop_options *)(void *)room)->tolerance = 1e-2;
        stage_add_floor(&s, 0);
        for (int i = 0; i < 8; i++)
            stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){0, 0, 0.5 + i}, NULL, NULL);
        stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){5, 0, 0.5}, (double[3]){0, 0, -1000}, NULL);
        dls_simulation_options o = dls_default_simulation_options();
        o.step = H;
        stage_start(&s, &o, 0);
        assert_int_equal(dls_simulation_set_solver(s.simulation, solver, room, NULL), DLS_OK);
        stage_run(&s, 1);
        if (!s.last.certified || s.last.held > DLS_HELD_LIMIT)
            fail_msg("%s: residual %g, held %g", names[k], s.last.residual, s.last.held);
        stage_close(&s);
    }
}

/* ---- impulses on open contacts ---- */

/* Contacts of which each has a body of its own, so that W is block-diagonal; some of them open. */
static void impulses_on_open_contacts_never_help(void **state) {
    (void)state;
    dls_random g = {31};
    enum { N = 12 };
    for (int round = 0; round < 400; round++) {
        double W[9 * N * N] = {0}, b[3 * N], mu[N], r[3 * N] = {0};
        for (int c = 0; c < N; c++) {
            for (int i = 0; i < 3; i++) {
                b[3 * c + i] = pow(10, dls_random_between(&g, -3, 1)) * dls_random_normal(&g);
                W[(3 * c + i) * (3 * N + 1)] = dls_random_between(&g, 0.5, 4);
            }
            mu[c] = dls_random_between(&g, 0, 1);
            b[3 * c] = c < N / 2 ? -fabs(b[3 * c]) : pow(10, dls_random_between(&g, 0, 4));
            if (c < N / 2) /* held, nearly; the error is what it is */
                r[3 * c] = -b[3 * c] / W[3 * c * (3 * N + 1)] * (1 + 0.3 * dls_random_normal(&g));
        }
        dls_problem_def def = {.block_count = N, .dimension = 3, .mu = mu, .b = b};
        def.reference_velocity = round % 2 ? 0.01 : 0;
        dls_problem *p = dense_problem(&def, 3 * N, W);
        dls_measures before = measure(p, r);
        for (int c = N / 2; c < N && before.residual < 1; c++) {
            double *rc = r + 3 * c, size = pow(10, dls_random_between(&g, -18, 3));
            for (int i = 0; i < 3; i++) rc[i] = size * dls_random_normal(&g);
            dls_measures after = measure(p, r);
            assert_true(after.residual >= before.residual * (1 - 1e-12));
            memset(rc, 0, sizeof(double) * 3);
        }
        dls_problem_destroy(p);
    }
}

/* The same problem with contacts beside that are open and have no impulse: the same two numbers. */
static void open_contacts_do_not_count(void **state) {
    (void)state;
    dls_random g = {32};
    for (int round = 0; round < 100; round++) {
        enum { FEW = 4, MANY = 12 };
        double W[9 * MANY * MANY] = {0}, V[9 * FEW * FEW] = {0}, b[3 * MANY], r[3 * MANY] = {0}, mu[MANY];
        double G_rows[3 * MANY][6];
        for (int i = 0; i < 3 * MANY; i++)
            for (int k = 0; k < 6; k++) G_rows[i][k] = dls_random_normal(&g);
        for (int i = 0; i < 3 * MANY; i++)
            for (int j = 0; j < 3 * MANY; j++)
                for (int k = 0; k < 6; k++) { /* one body for all: coupled as much as can be */
                    W[i + 3 * MANY * j] += G_rows[i][k] * G_rows[j][k];
                    if (i < 3 * FEW && j < 3 * FEW) V[i + 3 * FEW * j] += G_rows[i][k] * G_rows[j][k];
                }
        for (int c = 0; c < MANY; c++) {
            for (int i = 0; i < 3; i++) b[3 * c + i] = dls_random_normal(&g);
            mu[c] = 0.5;
            if (c < FEW)
                r[3 * c] = dls_random_unit(&g);
            else
                b[3 * c] = 1e3; /* open, whatever the others do to it */
        }
        dls_problem_def def = {
            .block_count = MANY, .dimension = 3, .mu = mu, .b = b, .reference_velocity = 0.1};
        dls_problem *all = dense_problem(&def, 3 * MANY, W);
        def.block_count = FEW;
        dls_problem *few = dense_problem(&def, 3 * FEW, V);
        dls_measures one = measure(few, r), other = measure(all, r);
        assert_true(fabs(one.residual - other.residual) <= 1e-12 * one.residual);
        assert_true(fabs(one.held - other.held) <= 1e-12 * one.held);
        dls_problem_destroy(all);
        dls_problem_destroy(few);
    }
}

/* ---- bilateral rows ---- */

/* A heavy box is held by a contact and by a row; a light pendulum, a million times lighter, hangs on a row
 * that is let go. Told the masses or not, no other body pays for it. */
static void a_light_row_let_go(void **state) {
    (void)state;
    const double v = G * H, heavy = 1e-3, light = 1e3, mu[3] = {0.5, 0, 0}, told[3] = {0, heavy, light};
    const int size[3] = {3, 1, 1};
    const uint8_t kind[3] = {DLS_CONTACT, DLS_INTERVAL, DLS_INTERVAL};
    double W[25] = {0}, b[5] = {-v, 0, 0, -v, -v}, r[5] = {0.5 * v / heavy, 0, 0, 0.5 * v / heavy, v / light};
    for (int i = 0; i < 4; i++) W[6 * i] = heavy;
    W[24] = light, W[3] = W[15] = heavy; /* both hold the same box */
    for (int known = 0; known < 2; known++)
        for (int floor = 0; floor < 2; floor++) {
            dls_problem_def def = {
                .block_count = 3, .block_size = size, .block_kind = kind, .mu = mu, .b = b};
            def.reference_velocity = floor ? v : 0;
            if (known) def.block_inverse_mass = told;
            dls_problem *p = dense_problem(&def, 5, W);
            dls_measures m = measure(p, r);
            assert_true(certified(&m, 1e-12));
            r[4] = 0;
            m = measure(p, r);
            assert_true(!certified(&m, 1e-4) && m.residual > (known ? 0.5 : 9e-4));
            if (known && floor) assert_true(m.held > 0.99);
            r[4] = 1e-3 * v / light;
            m = measure(p, r);
            assert_false(certified(&m, 1e-4));
            r[4] = v / light;
            dls_problem_destroy(p);
        }
}

/* Five contacts let go beside 30,000 rows that are satisfied. */
static void rows_pay_for_no_contact(void **state) {
    (void)state;
    enum { ROWS = 30000, CONTACTS = 10, BLOCKS = ROWS + CONTACTS };
    int *size = calloc(BLOCKS, sizeof *size), *column = calloc(ROWS + 3 * CONTACTS, sizeof *column);
    uint8_t *kind = calloc(BLOCKS, 1);
    double *mu = copy_of(NULL, BLOCKS), *b = copy_of(NULL, ROWS + 3 * CONTACTS),
           *r = copy_of(NULL, ROWS + 3 * CONTACTS), *value = copy_of(NULL, ROWS + 3 * CONTACTS);
    int64_t *start = calloc(ROWS + 3 * CONTACTS + 1, sizeof *start);
    for (int c = 0; c < BLOCKS; c++) {
        size[c] = c < CONTACTS ? 3 : 1;
        kind[c] = c < CONTACTS ? DLS_CONTACT : DLS_INTERVAL;
    }
    for (int i = 0; i < ROWS + 3 * CONTACTS; i++) {
        start[i + 1] = i + 1, column[i] = i, value[i] = 1;
        bool normal = i < 3 * CONTACTS && i % 3 == 0;
        b[i] = i >= 3 * CONTACTS || normal ? -1 : 0;
        r[i] = i >= 3 * CONTACTS || (normal && i < 15) ? 1 : 0;
    }
    dls_problem_def def = {.block_count = BLOCKS, .block_size = size, .block_kind = kind, .mu = mu, .b = b};
    dls_csr W = {ROWS + 3 * CONTACTS, ROWS + 3 * CONTACTS, start, column, value};
    dls_problem *p;
    assert_int_equal(dls_problem_create(&def, &W, &p, NULL), DLS_OK);
    dls_measures m = measure(p, r);
    assert_true(fabs(m.residual - 1) < 1e-12 && m.residual_active < 0.02);
    for (int c = 5; c < CONTACTS; c++) r[3 * c] = 1;
    m = measure(p, r);
    assert_true(m.residual == 0);
    r[3 * CONTACTS] = 0; /* nor do contacts and rows pay for a row */
    m = measure(p, r);
    assert_true(m.residual > 1e-3);
    dls_problem_destroy(p);
    free(size), free(column), free(kind), free(mu), free(b), free(r), free(value), free(start);
}

/* ---- what the numbers mean ---- */

/* The residual of a solution whose impulses are wrong by about the share e, each by chance. */
static dls_measures rounded(const stage *s, double e) {
    dls_random g = {33};
    const dls_problem *p = dls_simulation_problem(s->simulation);
    int n = dls_problem_row_count(p);
    double *r = copy_of(dls_simulation_impulses(s->simulation), n);
    for (int i = 0; i < n; i++) r[i] *= 1 + e * dls_random_normal(&g);
    dls_measures m = measure(p, r);
    free(r);
    return m;
}

/* At rest, sliding at 10 m/s and pressed by a plate as heavy as all of them, digits of the impulses are
 * digits of the residual. */
static void digits_are_digits(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        stage s = columns(3, 4, 1, true, DLS_OPERATOR_BODIES, k == 1 ? 10 : 0);
        if (k == 2) {
            dls_body_def plate = dls_default_body_def();
            dls_shape_def shape = dls_default_shape_def(DLS_BOX);
            shape.size[0] = shape.size[1] = 8, shape.size[2] = 0.1;
            plate.shape_count = 1, plate.shapes = &shape;
            plate.mass = 16 * stage_mass(&s, 1).mass;
            plate.pose.x[0] = plate.pose.x[1] = 3, plate.pose.x[2] = 1.05;
            stage_add(&s, &plate);
            stage_run(&s, 1);
            assert_true(s.last.certified);
        }
        for (double e = 1e-8; e < 1e-3; e *= 100) {
            dls_measures m = rounded(&s, e);
            if (!(m.residual > 0.1 * e && m.residual < 10 * e))
                fail_msg("case %d: impulses right to %g, residual %g", k, e, m.residual);
        }
        stage_close(&s);
    }
}

/* Eight times as many bodies with the same error at each contact: the same residual. */
static void size_does_not_matter(void **state) {
    (void)state;
    double residual[2];
    for (int k = 0; k < 2; k++) {
        stage s = columns(3, 4 << k, 4 << k, false, DLS_OPERATOR_BODIES, 0);
        const dls_problem *p = dls_simulation_problem(s.simulation);
        int n = dls_problem_row_count(p);
        const double *r = dls_simulation_impulses(s.simulation);
        double *u = copy_of(NULL, n);
        dls_measures m;
        assert_int_equal(dls_problem_velocity(p, r, u, NULL, NULL), DLS_OK);
        for (int i = 0; i < n; i += 3) u[i] += i / 3 % 2 ? 1e-6 : -1e-6;
        assert_int_equal(dls_problem_measure(p, r, u, &m, NULL), DLS_OK);
        residual[k] = m.residual;
        assert_true(fabs(m.residual - 1e-6 / (G * H)) < 0.01 * m.residual);
        free(u);
        stage_close(&s);
    }
    assert_true(fabs(residual[1] - residual[0]) < 0.01 * residual[0]);
}

/* The same columns in millimetres, grams and milliseconds, and a million times as heavy. */
static void units_do_not_matter(void **state) {
    (void)state;
    dls_measures of[3];
    for (int k = 0; k < 3; k++) {
        double length = k == 1 ? 1e3 : 1, mass = k == 1 ? 1e3 : k == 2 ? 1e6 : 1, time = k == 1 ? 1e3 : 1;
        stage s = stage_open(3, G * length / (time * time), 0.3, 0, 0);
        dls_shape_def ball = stage_ball(3, 0.5 * length);
        stage_add_floor(&s, 0);
        for (int i = 0; i < 6; i++) {
            dls_body_def def = dls_default_body_def();
            def.shape_count = 1, def.shapes = &ball, def.mass = (1 + i) * mass;
            def.pose.x[2] = (0.5 + i) * length, def.v[0] = 0.1 * i * length / time;
            stage_add(&s, &def);
        }
        dls_simulation_options o = dls_default_simulation_options();
        o.step = H * time;
        stage_start(&s, &o, 1e-12);
        stage_run(&s, 1);
        of[k] = rounded(&s, 1e-3);
        stage_close(&s);
    }
    for (int k = 1; k < 3; k++) {
        assert_true(fabs(of[k].residual - of[0].residual) < 1e-6 * of[0].residual);
        assert_true(fabs(of[k].held - of[0].held) < 1e-6 * of[0].held);
    }
}

/* ---- rounding ---- */

/* Boxes that fly together touch without pushing: u is rounding of their speed, and no error. */
static void flying_together(void **state) {
    (void)state;
    for (int gravity = 0; gravity < 2; gravity++) {
        stage s = stage_open(3, gravity ? G : 0, 0.5, 0, 0);
        dls_shape_def box = dls_default_shape_def(DLS_BOX);
        for (int k = 0; k < 3; k++) box.size[k] = 0.3;
        for (int k = 0; k < 5; k++)
            stage_add_shape(&s, DLS_DYNAMIC, &box, (double[3]){0.1, 0.2, 7 + 0.3 * k},
                            (double[3]){31.7, -22.3, 11.1}, NULL);
        dls_simulation_options o = dls_default_simulation_options();
        o.step = H;
        stage_start(&s, &o, 1e-12);
        stage_run(&s, 200);
        assert_true(s.uncertified == 0 && s.last.contacts > 0);
        const dls_problem *p = dls_simulation_problem(s.simulation);
        dls_body_state flying = stage_state(&s, 0);
        double speed =
            sqrt(flying.v[0] * flying.v[0] + flying.v[1] * flying.v[1] + flying.v[2] * flying.v[2]);
        for (int c = 0; c < p->block_count; c++) assert_true(fabs(p->speed[c] - 2 * speed) < 1e-6);
        stage_close(&s);
    }
}

/* Rounding that is taken off hides no more than 1e-14 of the speeds: 1e-12 m/s at 50 m/s and 50 m/s. */
static void rounding_hides_little(void **state) {
    (void)state;
    const double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, mu = 0.5, speed = 100;
    for (int k = 0; k < 2; k++) {
        double b[3] = {k ? -2e-12 : -0.9e-12, 0, 0}, r[3] = {0, 0, 0};
        dls_problem_def def = {.block_count = 1, .dimension = 3, .mu = &mu, .b = b, .speed = &speed};
        def.reference_velocity = G * H;
        dls_problem *p = dense_problem(&def, 3, W);
        dls_measures m = measure(p, r);
        assert_true(k ? isinf(m.residual) : m.residual == 0 && m.held == 0);
        assert_true(m.max_error == -b[0]); /* which hides nothing */
        dls_problem_destroy(p);
    }
}

/* A body squeezed between two walls by as much as one likes has impulses out of all proportion; they pay for
 * nothing, because no contact counts with more than its |b|. */
static void squeezing_pays_for_nothing(void **state) {
    (void)state;
    const double v = G * H, mu[3] = {0, 0, 0}, b[6] = {0, 0, 0, 0, -v, 0};
    double W[36] = {0}, r[6] = {1e6, 0, 1e6, 0, 0, 0};
    for (int i = 0; i < 6; i++) W[7 * i] = 1;
    W[0 + 6 * 2] = W[2 + 6 * 0] = -1; /* two contacts on both sides of one body: W (1, 0, 1, 0) = 0 */
    dls_problem_def def = {.block_count = 3, .dimension = 2, .mu = mu, .b = b, .reference_velocity = v};
    dls_problem *p = dense_problem(&def, 6, W);
    dls_measures m = measure(p, r);
    assert_true(m.residual > 0.5 && m.held > 0.99);
    r[4] = v;
    m = measure(p, r);
    assert_true(certified(&m, 1e-12));
    dls_problem_destroy(p);
}

/* ---- the reference velocity ---- */

/* Without gravity the largest force says how fast things move: of what is applied, of servos, of cohesion. */
static void reference_without_gravity(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        stage s = stage_open(3, 0, 0.3, 0, 0);
        dls_shape_def ball = stage_ball(3, 0.5);
        dls_body_def def = dls_default_body_def();
        dls_error error;
        def.shape_count = 1, def.shapes = &ball, def.mass = 2;
        def.pose.x[2] = 0.5;
        if (k == 1) {
            assert_int_equal(dls_function_constant(-8, &def.force[2], &error), DLS_OK);
            assert_int_equal(dls_function_constant(6, &def.force[0], &error), DLS_OK);
        }
        stage_add(&s, &def);
        def = dls_default_body_def();
        def.shape_count = 1, def.shapes = &ball, def.mass = 6, def.pose.x[0] = 5, def.pose.x[2] = 0.5;
        stage_add(&s, &def);
        stage_add_floor(&s, 0);
        if (k == 2) {
            dls_body_def press = dls_default_body_def();
            press.motion = DLS_DRIVEN, press.shape_count = 1, press.shapes = &ball, press.pose.x[2] = 1.5;
            press.drive[2].gain = 1e-4, press.drive[2].max_speed = 1;
            assert_int_equal(dls_function_constant(-20, &press.drive[2].force, &error), DLS_OK);
            stage_add(&s, &press);
        }
        dls_pair_def sticky = {.mu = 0.3, .cohesion = 12};
        if (k == 3) assert_int_equal(dls_world_set_pair(s.world, 0, 0, &sticky, NULL), DLS_OK);
        dls_simulation_options o = dls_default_simulation_options();
        o.step = H;
        stage_start(&s, &o, 0);
        stage_run(&s, 1);
        const double force[] = {0, 10, 20, 12}, wanted = H * force[k] / 4;
        double found = dls_problem_reference_velocity(dls_simulation_problem(s.simulation));
        if (!(fabs(found - wanted) <= 1e-15)) fail_msg("case %d: %g, not %g", k, found, wanted);
        assert_true(k ? s.last.held >= 0 && s.last.held < 1e-6 : isnan(s.last.held));
        assert_true(s.last.certified);
        stage_close(&s);
    }
}

/* ---- what is handed over ---- */

/* Balls one above the other in a loose heap, a few of which touch: most contacts in reach are open. */
static stage loose_heap(void) {
    stage s = stage_open(3, G, 0.3, 0, 0);
    dls_random g = {5};
    dls_shape_def ball = stage_ball(3, 0.5);
    stage_add_floor(&s, 0);
    for (int k = 0; k < 120; k++) {
        double x[3] = {k % 5, k / 5 % 5, 0.5 + 0.95 * (k / 25)}, v[3];
        for (int i = 0; i < 3; i++) {
            x[i] += i < 2 || x[2] > 1 ? 0.1 * dls_random_between(&g, -1, 1) : 0;
            v[i] = dls_random_between(&g, -1, 1);
        }
        stage_add_shape(&s, DLS_DYNAMIC, &ball, x, v, NULL);
    }
    dls_simulation_options o = dls_default_simulation_options();
    o.step = 0.02, o.margin = 0.3;
    stage_start(&s, &o, 0);
    stage_run(&s, 3);
    return s;
}

/* No solver leaves an impulse on a contact that the natural map calls open. */
static void open_contacts_come_back_free(void **state) {
    (void)state;
    static const char *const solvers[] = {"auto", "nlgs+relaxation=0.7", "newton", "ipm", "apgd", "pqn"};
    stage s = loose_heap();
    const dls_problem *p = dls_simulation_problem(s.simulation);
    int n = dls_problem_row_count(p), blocks = dls_problem_block_count(p), open = 0;
    double *r = copy_of(NULL, n), *u = copy_of(NULL, n);
    for (size_t k = 0; k < sizeof solvers / sizeof *solvers; k++) {
        variant v = variant_from(solvers[k]);
        memset(r, 0, sizeof *r * (size_t)n);
        dls_solve_info info = variant_solve(&v, p, r, u);
        assert_int_equal(info.outcome, DLS_CONVERGED);
        open = 0;
        for (int c = 0; c < blocks; c++) open += r[dls_problem_block_row(p, c)] == 0;
        int dropped = dls_drop_open(p, r, u, NULL);
        if (dropped || 2 * open < blocks)
            fail_msg("%s: %d of %d contacts have none, %d others are open", solvers[k], open, blocks,
                     dropped);
    }
    free(r);
    free(u);
    stage_close(&s);
}

static void propped_defaults(void *options) {
    *(dls_stop_options *)options = (dls_stop_options){.tolerance = 1e-8, .max_iterations = 1, .threads = 1};
}

/* The first contact is held by an impulse on the second alone; the third by its own. */
static dls_status propped_solve(const dls_problem *p, const void *options, double *r, double *u,
                                dls_workspace *w, dls_solve_info *info, dls_error *error) {
    (void)options, (void)u, (void)w, (void)error;
    r[2] = 1 / 0.9;
    if (dls_problem_block_count(p) > 2) r[4] = 1e10;
    info->outcome = DLS_STALLED;
    return DLS_OK;
}

/* An open contact keeps its impulse where another would be let go without it: the residual says so, or held
 * where an impact hides it. */
static void impulses_that_hold_others_stay(void **state) {
    (void)state;
    double W[36] = {0};
    const double b[6] = {-1, 0, 1, 0, -1e10, 0}, mu[3] = {0, 0, 0};
    for (int i = 0; i < 6; i++) W[7 * i] = 1;
    W[2] = W[12] = 0.9;
    const dls_solver propped = {.name = "propped",
                                .options_size = sizeof(dls_stop_options),
                                .defaults = propped_defaults,
                                .solve = propped_solve};
    for (int impact = 0; impact < 2; impact++) {
        int n = impact ? 6 : 4;
        double V[36], r[6] = {0}, u[6];
        for (int j = 0; j < n; j++)
            for (int i = 0; i < n; i++) V[i + n * j] = W[i + 6 * j];
        dls_problem_def def = {
            .block_count = n / 2, .dimension = 2, .mu = mu, .b = b, .reference_velocity = impact ? 0.01 : 0};
        dls_problem *p = dense_problem(&def, n, V);
        variant v = {.text = "propped", .solver = &propped};
        propped_defaults(&v.options);
        variant_solve(&v, p, r, u);
        assert_true(r[0] == 0 && r[2] == 1 / 0.9 && fabs(u[0]) < 1e-15 && u[2] > 2);
        assert_int_equal(dls_drop_open(p, r, u, NULL), 1); /* open it is */
        dls_problem_destroy(p);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_held),
        cmocka_unit_test(open_contacts_pay_for_nothing),
        cmocka_unit_test(an_impact_pays_for_nothing),
        cmocka_unit_test(solvers_go_on_until_all_is_held),
        cmocka_unit_test(impulses_on_open_contacts_never_help),
        cmocka_unit_test(open_contacts_do_not_count),
        cmocka_unit_test(a_light_row_let_go),
        cmocka_unit_test(rows_pay_for_no_contact),
        cmocka_unit_test(digits_are_digits),
        cmocka_unit_test(size_does_not_matter),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(flying_together),
        cmocka_unit_test(rounding_hides_little),
        cmocka_unit_test(squeezing_pays_for_nothing),
        cmocka_unit_test(reference_without_gravity),
        cmocka_unit_test(open_contacts_come_back_free),
        cmocka_unit_test(impulses_that_hold_others_stay),
    };
    return cmocka_run_group_tests_name("judge", tests, NULL, NULL);
}
