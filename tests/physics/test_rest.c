/* Bodies at rest stay where they are: every moving shape on every shape that can carry it, for ten seconds.
 */
#include "support/near.h"
#include "support/scale.h"
#include "support/stage.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double G = 9.81, STEP = 2e-3;

/* ---- what rests, with its lowest point at height 0 ---- */

typedef struct mover {
    const char *name;
    int shape_count;
    dls_shape_def shape[2];
    double height, q[4]; /* of the body's frame */
    bool flat;           /* rests on a round top too */
} mover;

static const double frustum[] = {-.2, -.2, 0,  .2, -.2, 0,  -.2, .2, 0,  .2, .2, 0,
                                 -.1, -.1, .2, .1, -.1, .2, -.1, .1, .2, .1, .1, .2};

static dls_shape_def sized(dls_shape_kind kind, double a, double b, double c) {
    dls_shape_def shape = dls_default_shape_def(kind);
    shape.size[0] = a, shape.size[1] = b, shape.size[2] = c;
    return shape;
}

static dls_shape_def rounded(dls_shape_kind kind, double radius, double length) {
    dls_shape_def shape = dls_default_shape_def(kind);
    shape.radius = radius, shape.length = length;
    return shape;
}

static mover rests(const char *name, dls_shape_def shape, double height, bool flat) {
    return (mover){
        .name = name, .shape_count = 1, .shape = {shape}, .height = height, .q = {1}, .flat = flat};
}

static mover turned(mover m, int axis, double angle) {
    m.q[0] = cos(angle / 2);
    m.q[1 + axis] = sin(angle / 2);
    return m;
}

static int make_movers(mover *m) {
    int n = 0;
    dls_shape_def foot = sized(DLS_BOX, 0.3, 0.3, 0.1), head = sized(DLS_BOX, 0.1, 0.1, 0.2), hull;
    head.pose.x[0] = 0.05, head.pose.x[2] = 0.15;
    hull = dls_default_shape_def(DLS_POLYHEDRON);
    hull.points = frustum, hull.point_count = 8;
    m[n++] = rests("box", sized(DLS_BOX, 0.3, 0.2, 0.1), 0.05, true);
    m[n++] = turned(rests("box askew", sized(DLS_BOX, 0.3, 0.2, 0.1), 0.05, true), 2, 0.6);
    m[n++] = turned(rests("box on its end", sized(DLS_BOX, 0.3, 0.2, 0.1), 0.15, false), 1, acos(-1) / 2);
    m[n++] = rests("cylinder", rounded(DLS_CYLINDER, 0.15, 0.1), 0.05, true);
    m[n++] = turned(rests("cylinder lying", rounded(DLS_CYLINDER, 0.1, 0.3), 0.1, false), 1, acos(-1) / 2);
    m[n++] = turned(rests("capsule lying", rounded(DLS_CAPSULE, 0.1, 0.3), 0.1, false), 1, acos(-1) / 2);
    m[n++] = rests("frustum", hull, 0, true);
    m[n++] = rests("ellipsoid", sized(DLS_ELLIPSOID, 0.2, 0.15, 0.1), 0.1, false);
    m[n++] = rests("sphere", rounded(DLS_SPHERE, 0.1, 0), 0.1, false);
    m[n] = rests("compound", foot, 0.05, true);
    m[n].shape[1] = head, m[n++].shape_count = 2;
    m[n] = rests("dumbbell", rounded(DLS_SPHERE, 0.1, 0), 0.1, false);
    m[n].shape[0].pose.x[0] = -0.15, m[n].shape[1] = m[n].shape[0], m[n].shape[1].pose.x[0] = 0.15;
    m[n++].shape_count = 2;
    return n;
}

/* ---- what carries, with its top at height 0 ---- */

typedef struct support {
    const char *name;
    dls_motion motion;
    dls_shape_def shape;
    double height, q[4];
    bool round;
} support;

static support carries(const char *name, dls_shape_def shape, double height, bool round) {
    return (support){name, DLS_STATIC, shape, height, {1}, round};
}

enum { CELLS = 7 };
static double mesh_points[3 * (CELLS + 1) * (CELLS + 1)];
static int mesh_triangles[6 * CELLS * CELLS];

static dls_shape_def flat_mesh(void) {
    dls_shape_def mesh = dls_default_shape_def(DLS_MESH);
    for (int i = 0; i <= CELLS; i++)
        for (int j = 0; j <= CELLS; j++) {
            double *p = mesh_points + 3 * (i * (CELLS + 1) + j);
            p[0] = (i - CELLS / 2.0) * 0.13, p[1] = (j - CELLS / 2.0) * 0.11, p[2] = 0;
        }
    for (int i = 0; i < CELLS; i++)
        for (int j = 0; j < CELLS; j++) {
            int p = i * (CELLS + 1) + j, *t = mesh_triangles + 6 * (i * CELLS + j);
            t[0] = p, t[1] = p + CELLS + 1, t[2] = p + CELLS + 2;
            t[3] = p, t[4] = p + CELLS + 2, t[5] = p + 1;
        }
    mesh.points = mesh_points, mesh.point_count = (CELLS + 1) * (CELLS + 1);
    mesh.triangles = mesh_triangles, mesh.triangle_count = 2 * CELLS * CELLS;
    return mesh;
}

static int make_supports(support *s) {
    static const double slab[] = {-.5, -.4, -.2, .5, -.4, -.2, -.5, .4, -.2, .5, .4, -.2,
                                  -.5, -.4, 0,   .5, -.4, 0,   -.5, .4, 0,   .5, .4, 0};
    dls_shape_def hull = dls_default_shape_def(DLS_POLYHEDRON);
    hull.points = slab, hull.point_count = 8;
    int n = 0;
    s[n++] = carries("half-space", dls_default_shape_def(DLS_HALF_SPACE), 0, false);
    s[n++] = carries("box", sized(DLS_BOX, 1, 1, 0.2), -0.1, false);
    s[n++] = carries("box-inside", sized(DLS_BOX_INSIDE, 1, 1, 2), 1, false);
    s[n++] = carries("mesh", flat_mesh(), 0, false);
    s[n++] = carries("polyhedron", hull, 0, false);
    s[n++] = carries("cylinder", rounded(DLS_CYLINDER, 0.4, 0.5), -0.25, false);
    s[n++] = carries("cylinder-inside", rounded(DLS_CYLINDER_INSIDE, 0.4, 2), 1, false);
    s[n] = carries("driven box", sized(DLS_BOX, 1, 1, 0.2), -0.1, false);
    s[n++].motion = DLS_DRIVEN;
    s[n] = carries("box that rests itself", sized(DLS_BOX, 0.5, 0.5, 0.2), -0.1, false);
    s[n++].motion = DLS_DYNAMIC;
    s[n++] = carries("sphere", rounded(DLS_SPHERE, 1, 0), -1, true);
    s[n++] = carries("ellipsoid", sized(DLS_ELLIPSOID, 1, 0.8, 0.5), -0.5, true);
    s[n] = carries("capsule", rounded(DLS_CAPSULE, 0.5, 1), -0.5, true);
    s[n].q[0] = s[n].q[2] = sqrt(0.5), n++;
    s[n] = carries("cylinder lying", rounded(DLS_CYLINDER, 0.5, 1), -0.5, true);
    s[n].q[0] = s[n].q[2] = sqrt(0.5), n++;
    return n;
}

/* ---- ten seconds ---- */

typedef struct worst {
    double drift, turn, kinetic, unaccounted, penetration;
    int uncertified;
} worst;

static void watch(stage *s, dls_body_id id, int steps, worst *w) {
    dls_body_state start = stage_state(s, id);
    *w = (worst){.drift = 0};
    for (int k = 0; k < steps; k++) {
        stage_run(s, 1);
        dls_body_state now = stage_state(s, id);
        double drift = 0, turn = 0;
        for (int i = 0; i < 3; i++) drift += (now.x[i] - start.x[i]) * (now.x[i] - start.x[i]);
        for (int i = 0; i < 4; i++) turn += (now.q[i] - start.q[i]) * (now.q[i] - start.q[i]);
        w->drift = fmax(w->drift, sqrt(drift));
        w->turn = fmax(w->turn, 2 * sqrt(turn));
        w->kinetic = fmax(w->kinetic, s->last.energy.kinetic);
        w->unaccounted = fmax(w->unaccounted, fabs(s->last.energy.unaccounted));
        w->penetration = fmax(w->penetration, s->last.penetration);
    }
    w->uncertified = s->uncertified;
}

static void tell(const char *what, const char *on, const worst *w) {
    if (getenv("DLS_TELL"))
        printf("# %-18s %-22s drift %8.1e turn %8.1e kinetic %8.1e unaccounted %8.1e penetration %8.1e "
               "uncertified "
               "%d\n",
               what, on, w->drift, w->turn, w->kinetic, w->unaccounted, w->penetration, w->uncertified);
}

static void rest_on(const mover *m, const support *on, const char *scheme, int steps, worst *w) {
    stage s = stage_open(3, G, 0.5, 0, 0);
    dls_body_def def = dls_default_body_def();
    def.motion = on->motion;
    def.shape_count = 1;
    def.shapes = &on->shape;
    def.pose.x[2] = on->height;
    memcpy(def.pose.q, on->q, sizeof on->q);
    stage_add(&s, &def);
    if (on->motion == DLS_DYNAMIC) {
        dls_shape_def floor = dls_default_shape_def(DLS_HALF_SPACE);
        stage_add_shape(&s, DLS_STATIC, &floor, (double[3]){0, 0, 2 * on->height}, NULL, NULL);
    }
    def = dls_default_body_def();
    def.shape_count = m->shape_count;
    def.shapes = m->shape;
    def.pose.x[0] = 0.013, def.pose.x[1] = -0.007, def.pose.x[2] = m->height;
    memcpy(def.pose.q, m->q, sizeof m->q);
    dls_body_id id = stage_add(&s, &def);
    if (on->round) { /* its mass centre above the top */
        dls_error error;
        dls_body_state state = stage_state(&s, id);
        state.x[0] = state.x[1] = 0;
        assert_int_equal(dls_body_state_set(s.world, id, &state, &error), DLS_OK);
    }
    dls_simulation_options o = dls_default_simulation_options();
    o.step = STEP, strcpy(o.scheme, scheme);
    stage_start(&s, &o, 1e-10);
    watch(&s, id, steps, w);
    tell(m->name, on->name, w);
    stage_close(&s);
}

/* Reached: drift 2e-13 m, turn 2e-13, kinetic 1e-22 J, unaccounted 3e-10 J of 4e3 J, penetration 6e-15 m. */
static bool at_rest(const worst *w) {
    return w->drift < 1e-12 && w->turn < 1e-12 && w->kinetic < 1e-20 && w->unaccounted < 1e-9 &&
           w->penetration < 1e-13 && w->uncertified == 0;
}

static int judge(const char *what, const char *on, const worst *w) {
    if (at_rest(w)) return 0;
    print_message("%s on %s: drift %g m, turn %g, kinetic %g J, unaccounted %g J, penetration %g m, %d "
                  "uncertified\n",
                  what, on, w->drift, w->turn, w->kinetic, w->unaccounted, w->penetration, w->uncertified);
    return 1;
}

/* The first mover, a box, for ten seconds; the others for some steps. */
static void rest_all(const char *scheme, int box_steps, int steps) {
    mover movers[16];
    support supports[16];
    int mover_count = make_movers(movers), support_count = make_supports(supports), failures = 0;
    for (int i = 0; i < support_count; i++)
        for (int k = 0; k < mover_count; k++) {
            worst w;
            if (supports[i].round && !movers[k].flat) continue;
            rest_on(&movers[k], &supports[i], scheme, k ? steps : box_steps, &w);
            failures += judge(movers[k].name, supports[i].name, &w);
        }
    assert_int_equal(failures, 0);
}

static void test_half_step(void **state) {
    (void)state;
    rest_all("moreau-jean", scaled(5000, 50), scaled(300, 50));
}

static void test_theta(void **state) {
    (void)state;
    rest_all("theta", scaled(100, 50), scaled(50, 25));
}

static void test_dvi(void **state) {
    (void)state;
    rest_all("dvi", scaled(100, 50), scaled(50, 25));
}

/* ---- dropped, at the default tolerance ---- */

/* A box that fell askew comes to rest and does not creep any more, at the tolerance that a user has. */
static void drop_on(const support *on, worst *w) {
    stage s = stage_open(3, G, 0.5, 0, 0);
    dls_body_def def = dls_default_body_def();
    def.motion = on->motion;
    def.shape_count = 1;
    def.shapes = &on->shape;
    def.pose.x[2] = on->height;
    memcpy(def.pose.q, on->q, sizeof on->q);
    stage_add(&s, &def);
    dls_shape_def box = sized(DLS_BOX, 0.3, 0.2, 0.1);
    def = dls_default_body_def();
    def.shape_count = 1;
    def.shapes = &box;
    def.pose.x[2] = 0.12;
    def.pose.q[0] = 0.98, def.pose.q[1] = 0.15, def.pose.q[2] = -0.1, def.pose.q[3] = 0.08;
    dls_body_id id = stage_add(&s, &def);
    dls_simulation_options o = dls_default_simulation_options();
    o.step = STEP;
    stage_start(&s, &o, 0);
    stage_run(&s, 1000);
    watch(&s, id, 4000, w);
    w->penetration = dls_simulation_summary(s.simulation).penetration;
    tell("box that fell", on->name, w);
    stage_close(&s);
}

static void test_dropped(void **state) {
    (void)state;
    support supports[16];
    int count = make_supports(supports), failures = 0;
    for (int i = 0; i < count; i++) {
        worst w;
        if (supports[i].round || supports[i].motion == DLS_DYNAMIC) continue;
        drop_on(&supports[i], &w);
        failures +=
            !(w.drift < 1e-9 && w.turn < 1e-9 && w.kinetic < 1e-12 && w.penetration < 1e-4) || w.uncertified;
    }
    assert_int_equal(failures, 0);
}

/* ---- in the plane ---- */

static int make_planar_movers(mover *m) {
    static const double trapezium[] = {-.2, 0, 0, .2, 0, 0, -.1, .2, 0, .1, .2, 0};
    dls_shape_def polygon = dls_default_shape_def(DLS_POLYGON), left = rounded(DLS_DISC, 0.1, 0), right;
    polygon.points = trapezium, polygon.point_count = 4;
    right = left;
    left.pose.x[0] = -0.15, right.pose.x[0] = 0.15;
    int n = 0;
    m[n++] = rests("polygon", polygon, 0, true);
    m[n++] = rests("disc", rounded(DLS_DISC, 0.1, 0), 0.1, false);
    m[n] = rests("two discs", left, 0.1, false);
    m[n].shape[1] = right, m[n++].shape_count = 2;
    return n;
}

static int make_planar_supports(support *s) {
    static const double ground[] = {-1, 0, 0, -0.05, 0, 0, 0.07, 0, 0, 1, 0, 0},
                        slab[] = {-1, -0.2, 0, 1, -0.2, 0, 1, 0, 0, -1, 0, 0};
    dls_shape_def chain = dls_default_shape_def(DLS_CHAIN), polygon = dls_default_shape_def(DLS_POLYGON);
    chain.points = ground, chain.point_count = 4;
    polygon.points = slab, polygon.point_count = 4;
    int n = 0;
    s[n++] = carries("half-plane", dls_default_shape_def(DLS_HALF_PLANE), 0, false);
    s[n++] = carries("chain", chain, 0, false);
    s[n++] = carries("polygon", polygon, 0, false);
    s[n] = carries("polygon that rests itself", polygon, 0, false);
    s[n++].motion = DLS_DYNAMIC;
    s[n++] = carries("disc", rounded(DLS_DISC, 1, 0), -1, true);
    return n;
}

static void rest_in_plane(const mover *m, const support *on, int steps, worst *w) {
    stage s = stage_open(2, G, 0.5, 0, 0);
    double place[3] = {0, on->height, 0};
    stage_add_shape(&s, on->motion, &on->shape, place, NULL, NULL);
    dls_shape_def floor = dls_default_shape_def(DLS_HALF_PLANE);
    if (on->motion == DLS_DYNAMIC)
        stage_add_shape(&s, DLS_STATIC, &floor, (double[3]){0, -0.2, 0}, NULL, NULL);
    dls_body_def def = dls_default_body_def();
    def.shape_count = m->shape_count;
    def.shapes = m->shape;
    def.pose.x[0] = on->round ? 0 : 0.013, def.pose.x[1] = m->height;
    dls_body_id id = stage_add(&s, &def);
    dls_simulation_options o = dls_default_simulation_options();
    o.step = STEP;
    stage_start(&s, &o, 1e-10);
    watch(&s, id, steps, w);
    tell(m->name, on->name, w);
    stage_close(&s);
}

static void test_plane(void **state) {
    (void)state;
    mover movers[16];
    support supports[16];
    int mover_count = make_planar_movers(movers), support_count = make_planar_supports(supports),
        failures = 0;
    for (int i = 0; i < support_count; i++)
        for (int k = 0; k < mover_count; k++) {
            worst w;
            if (supports[i].round && !movers[k].flat) continue;
            rest_in_plane(&movers[k], &supports[i], k ? 1000 : 5000, &w);
            failures += judge(movers[k].name, supports[i].name, &w);
        }
    assert_int_equal(failures, 0);
}

/* ---- warm starts ---- */

/* A solver that keeps what it is given to start from. */
static struct {
    double start[600];
    int rows;
} witness;

static dls_status witness_solve(const dls_problem *p, const void *options, double *r, double *u,
                                dls_workspace *w, dls_solve_info *info, dls_error *error) {
    (void)options;
    dls_nlgs_options sweeps = dls_default_nlgs_options();
    sweeps.stop.tolerance = 1e-10;
    witness.rows = dls_problem_row_count(p);
    assert_true(witness.rows <= 600);
    memcpy(witness.start, r, sizeof(double) * (size_t)witness.rows);
    return dls_solver_find("nlgs")->solve(p, &sweeps, r, u, w, info, error);
}

static void witness_defaults(void *options) {
    *(dls_stop_options *)options = (dls_stop_options){.tolerance = 1e-10, .threads = 1};
}

/* Impulses of rest are forces times h: a column at rest goes on with a quarter of them after a quarter of the
 * step, whether it went on at once or from bytes that were kept. */
static void test_warm_start_follows_the_step(void **state) {
    (void)state;
    static const dls_solver solver = {.name = "witness",
                                      .summary = "",
                                      .options_size = sizeof(dls_stop_options),
                                      .defaults = witness_defaults,
                                      .fields = NULL,
                                      .field_count = 0,
                                      .solve = witness_solve};
    for (int restored = 0; restored < 2; restored++) {
        stage s = stage_open(3, 9.81, 0.5, 0, 0);
        dls_shape_def box = dls_default_shape_def(DLS_BOX);
        double last[600];
        dls_stop_options options;
        dls_error error;
        for (int k = 0; k < 3; k++) box.size[k] = 0.1;
        stage_add_floor(&s, 0);
        for (int k = 0; k < 5; k++)
            stage_add_shape(&s, DLS_DYNAMIC, &box, (double[3]){0, 0, 0.05 + 0.1 * k}, NULL, NULL);
        dls_simulation_options o = dls_default_simulation_options();
        o.step = 4e-3;
        stage_start(&s, &o, 0);
        witness_defaults(&options);
        assert_int_equal(dls_simulation_set_solver(s.simulation, &solver, &options, &error), DLS_OK);
        stage_run(&s, 10);
        int rows = witness.rows;
        memcpy(last, dls_simulation_impulses(s.simulation), sizeof(double) * (size_t)rows);
        if (restored) {
            size_t size = dls_simulation_state_size(s.simulation);
            void *bytes = malloc(size);
            dls_simulation_state_write(s.simulation, bytes);
            assert_int_equal(dls_simulation_state_read(s.simulation, bytes, size, &error), DLS_OK);
            free(bytes);
        }
        assert_int_equal(dls_simulation_set_step(s.simulation, 1e-3, &error), DLS_OK);
        stage_run(&s, 1);
        assert_int_equal(witness.rows, rows);
        double loaded = 0;
        for (int i = 0; i < rows; i++) {
            assert_near(witness.start[i], last[i] / 4, 1e-9);
            loaded += fabs(last[i]);
        }
        assert_true(loaded > 0.5);
        stage_close(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_half_step), cmocka_unit_test(test_theta),
        cmocka_unit_test(test_dvi),       cmocka_unit_test(test_dropped),
        cmocka_unit_test(test_plane),     cmocka_unit_test(test_warm_start_follows_the_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
