/* A scheme is a row: one that is not of the library runs scenes as they are, with every solver, and the
 * numbers of the rows are those of their equations. */
#include "base/error.h"
#include "base/memory.h"
#include "integrate/scheme.h"
#include "support/near.h"
#include "support/test.h"

#include <delassus/run.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#define OK(call)                                                                                             \
    do {                                                                                                     \
        dls_error error_ = {0};                                                                              \
        dls_error *error = &error_;                                                                          \
        if (call) fail_msg("%s", error_.message);                                                            \
    } while (0)

/* ---- the row: contacts are found, and forces taken, at a share of the step that differs from step to step
 * and fills [0, 1) evenly: share ← share + golden ratio, mod 1. The share is what it keeps. ---- */

static const double GOLDEN = 0.6180339887498949;

static dls_step_plan plan_sampled(const dls_simulation *s) {
    double share = *(const double *)s->memory;
    return (dls_step_plan){.contacts_at = share, .force_count = 1, .forces = {{.at = share, .weight = 1}}};
}

/* The share moves on whether the step succeeds or not: what fails is put back by the step around it. */
static dls_status advance_sampled(dls_simulation *s, const dls_step_plan *plan, dls_step_report *report,
                                  dls_error *error) {
    double *share = s->memory;
    dls_status status = dls_impulse_advance(s, plan, report, error);
    *share = fmod(*share + GOLDEN, 1);
    return status;
}

static dls_status begin_sampled(dls_simulation *s, dls_error *error) {
    s->memory = DLS_NEW_ZERO(double, 1);
    return s->memory ? DLS_OK : dls_fail_memory(error);
}

static void end_sampled(dls_simulation *s) { dls_free(s->memory); }

static size_t size_sampled(const dls_simulation *s) { return sizeof(*(const double *)s->memory); }

static void write_sampled(const dls_simulation *s, void *bytes) { memcpy(bytes, s->memory, sizeof(double)); }

static dls_status read_sampled(dls_simulation *s, const dls_world *next, const void *bytes, size_t size,
                               dls_error *error) {
    double share = -1;
    (void)next;
    if (size == sizeof share) memcpy(&share, bytes, size);
    if (!(share >= 0 && share < 1))
        return dls_fail(error, DLS_ERROR_INPUT, "the share of a step is %g, expected 0 to 1", share);
    *(double *)s->memory = share;
    return DLS_OK;
}

static const dls_scheme sampled = {.name = "sampled",
                                   .summary = "all at a place that differs from step to step",
                                   .plan = plan_sampled,
                                   .move = dls_move_rest,
                                   .advance = advance_sampled,
                                   .begin = begin_sampled,
                                   .end = end_sampled,
                                   .state_size = size_sampled,
                                   .state_write = write_sampled,
                                   .state_read = read_sampled};

/* ---- it stands beside the others ---- */

static int put_in(void **state) {
    (void)state;
    return dls_scheme_register(&sampled, NULL);
}

static int take_out(void **state) {
    (void)state;
    dls_scheme_unregister(&sampled);
    return 0;
}

static void expect(dls_status status, const dls_error *error, const char *words) {
    assert_int_not_equal(status, DLS_OK);
    if (!strstr(error->message, words)) fail_msg("'%s' is not in: %s", words, error->message);
}

static const char *template_text(const char *name) {
    for (int k = 0; k < dls_scene_template_count(); k++)
        if (!strcmp(dls_scene_template_name(k), name)) return dls_scene_template_text(k);
    return NULL;
}

static dls_scene *read_template(const char *name, int count, const char *const *settings) {
    const char *text = template_text(name);
    dls_scene *scene = NULL;
    OK(dls_scene_read_text(text, strlen(text), name, ".", count, settings, &scene, error));
    return scene;
}

static void test_names(void **state) {
    (void)state;
    static const char *const built_in[] = {"moreau-jean", "theta", "dvi", "generalized-alpha"};
    static const char *const settings[] = {"integrator.scheme=sampled"};
    const char *text = template_text("incline"), *summary = NULL;
    dls_scene *scene = NULL;
    dls_error error = {0};
    for (int k = 0; k < 4; k++) assert_string_equal(dls_scheme_at(k, NULL), built_in[k]);
    assert_string_equal(dls_scheme_at(4, &summary), "sampled");
    assert_string_equal(summary, sampled.summary);
    assert_null(dls_scheme_at(5, NULL));
    assert_null(dls_scheme_at(-1, NULL));
    expect(dls_scheme_register(&sampled, &error), &error, "'sampled': the name is taken");
    dls_scheme half = sampled;
    half.name = "half", half.state_read = NULL;
    expect(dls_scheme_register(&half, &error), &error, "all or none of the functions of what it keeps");
    dls_scheme_unregister(&sampled);
    dls_status status = dls_scene_read_text(text, strlen(text), "incline", ".", 1, settings, &scene, &error);
    expect(status, &error, "'sampled' is not one of moreau-jean|theta|dvi");
    assert_int_equal(dls_scheme_register(&sampled, &error), DLS_OK);
}

/* ---- it runs scenes as they are ---- */

/* The box of the template slides with a = g (sin α − μ cos α), whichever solver has the steps. */
static void test_incline(void **state) {
    (void)state;
    static const char *const solvers[] = {"solver.name=auto", "solver.name=nlgs", "solver.name=newton"};
    for (int k = 0; k < 3; k++) {
        const char *settings[] = {"integrator.scheme=sampled", solvers[k]};
        dls_scene *scene = read_template("incline", 2, settings);
        dls_simulation *simulation = NULL;
        dls_body_state before, after;
        OK(dls_scene_simulation_create(scene, &simulation, error));
        assert_string_equal(simulation->scheme->name, "sampled");
        OK(dls_body_state_get(dls_simulation_world(simulation), 1, &before, error));
        for (int step = 0; step < 500; step++) {
            dls_step_report report;
            OK(dls_simulation_step(simulation, &report, error));
            assert_true(report.certified);
        }
        OK(dls_body_state_get(dls_simulation_world(simulation), 1, &after, error));
        double alpha = 25 * M_PI / 180, a = 9.81 * (sin(alpha) - 0.4 * cos(alpha)), way = 0;
        for (int i = 0; i < 3; i++) way += pow(after.x[i] - before.x[i], 2);
        assert_near(sqrt(way), 0.5 * a * 0.25, 2e-3 * a);
        dls_simulation_destroy(simulation);
        dls_scene_destroy(scene);
    }
}

static bool stop_at_step(const dls_step_report *report, const dls_simulation *simulation, void *user) {
    (void)simulation;
    return report->step != *(const int64_t *)user;
}

static uint64_t run_template(const char *name, const char *scheme, const char *results, bool resume,
                             int64_t last) {
    const char *settings[] = {scheme, "time.until=0.2"};
    dls_scene *scene = read_template(name, 2, settings);
    dls_run_def def = {.results = results, .resume = resume, .callback = stop_at_step, .user = &last};
    dls_run_summary summary;
    dls_run_end end;
    uint64_t hash = 0;
    OK(dls_run_scene(scene, &def, &end, &summary, &hash, error));
    assert_int_equal(summary.steps, summary.certified);
    assert_true(summary.contacts > 0);
    dls_scene_destroy(scene);
    return hash;
}

/* Results, checkpoint and resuming as of any other: stopped in the middle, it goes on with the same bits. */
static void test_resumes(void **state) {
    (void)state;
    static const char *const names[] = {"incline", "newton-cradle", "billiard"};
    static const char mine[] = "integrator.scheme=sampled", theirs[] = "integrator.scheme=moreau-jean";
    for (int k = 0; k < 3; k++) {
        uint64_t whole = run_template(names[k], mine, "whole.h5", false, -1);
        run_template(names[k], mine, "half.h5", false, 77);
        assert_true(run_template(names[k], mine, "half.h5", true, -1) == whole);
        assert_true(run_template(names[k], theirs, "other.h5", false, -1) != whole);
    }
}

/* A state is of one scheme, with the bytes that it keeps. */
static void test_states_of_schemes(void **state) {
    (void)state;
    const char *settings[] = {"integrator.scheme=sampled"};
    dls_scene *mine = read_template("incline", 1, settings), *theirs = read_template("incline", 0, NULL);
    dls_simulation *a = NULL, *b = NULL;
    OK(dls_scene_simulation_create(mine, &a, error));
    OK(dls_scene_simulation_create(theirs, &b, error));
    OK(dls_simulation_step(a, NULL, error));
    char bytes[8192], again[8192];
    size_t size = dls_simulation_state_size(a), other = dls_simulation_state_size(b);
    dls_error error = {0};
    assert_true(size < sizeof bytes && other < sizeof bytes);
    dls_simulation_state_write(b, bytes);
    expect(dls_simulation_state_read(a, bytes, other, &error), &error,
           "a state of the scheme 'moreau-jean', this simulation has 'sampled'");
    dls_simulation_state_write(a, bytes);
    expect(dls_simulation_state_read(b, bytes, size, &error), &error,
           "a state of the scheme 'sampled', this simulation has 'moreau-jean'");
    memcpy(again, bytes, size);
    memcpy(again + size - sizeof(double), &(double){2}, sizeof(double)); /* it is the last section */
    expect(dls_simulation_state_read(a, again, size, &error), &error, "the share of a step is 2");
    dls_simulation_state_write(a, again);
    assert_memory_equal(again, bytes, size);
    dls_simulation_destroy(a);
    dls_simulation_destroy(b);
    dls_scene_destroy(mine);
    dls_scene_destroy(theirs);
}

/* ---- a step that fails ---- */

/* A force that is no number from t = 5 ms on: the share is what it was before the step that met it. */
static void test_failed_step(void **state) {
    (void)state;
    static const char text[] = "delassus: 1\nbodies: [{shape: {kind: sphere, radius: 1}, "
                               "force: [1/(t < 0.005), 0, 0]}]\nintegrator: {scheme: sampled}\n";
    dls_scene *scene = NULL;
    dls_simulation *simulation = NULL;
    dls_status status = DLS_OK;
    OK(dls_scene_read_text(text, strlen(text), "force", ".", 0, NULL, &scene, error));
    OK(dls_scene_simulation_create(scene, &simulation, error));
    double share = -1;
    uint64_t hash = 0;
    for (int k = 0; k < 100 && !status; k++) {
        share = *(double *)simulation->memory;
        hash = dls_simulation_hash(simulation);
        status = dls_simulation_step(simulation, NULL, NULL);
    }
    assert_int_equal(status, DLS_ERROR_NUMERIC);
    assert_int_equal(dls_simulation_steps(simulation), 5);
    assert_true(share > 0 && *(double *)simulation->memory == share);
    assert_true(dls_simulation_hash(simulation) == hash);
    dls_simulation_destroy(simulation);
    dls_scene_destroy(scene);
}

/* ---- the numbers of rows ---- */

/* θ of q⁺ = q + h (θ v⁺ + (1 − θ) v), by which a row moves: seen of a body that is hit from outside between
 * finding contacts and moving, so that v and v⁺ differ. */
static double share_of_end(const dls_scheme *row, double theta) {
    dls_world_def def = dls_default_world_def();
    dls_body_def body = dls_default_body_def();
    dls_shape_def ball = dls_default_shape_def(DLS_SPHERE);
    dls_simulation_options o = dls_default_simulation_options();
    dls_world *world = NULL;
    dls_simulation *s = NULL;
    dls_body_id id;
    ball.radius = 0.1, body.shapes = &ball, body.shape_count = 1;
    strcpy(o.scheme, row->name), o.theta = theta, o.step = 1;
    OK(dls_world_create(&def, &world, error));
    OK(dls_world_add_body(world, &body, &id, error));
    OK(dls_simulation_create(world, &o, &s, error));
    dls_step_plan plan = row->plan(s);
    s->kept[0] = s->world->states[0]; /* at the origin, at rest */
    s->world->states[0].v[0] = 1;
    row->move(s, &plan);
    double share = s->world->states[0].x[0];
    dls_simulation_destroy(s);
    dls_world_destroy(world);
    return share;
}

static dls_step_plan plan_of(const dls_scheme *row, double theta) {
    dls_simulation s = {.options = dls_default_simulation_options()};
    s.options.theta = theta;
    return row->plan(&s);
}

/* A joint row asks u⁺ = −g(q_m)/h with q_m = q + joints_at · h v, and bodies move by θ: a violation is gone
 * after two steps, (g, hu) ← ((1 − θ) g + …) has no eigenvalue but 0. */
static void test_joint_rows_take_back_violations(void **state) {
    (void)state;
    const double thetas[] = {0.5, 0.75, 1};
    for (int k = 0; k < 9; k++) {
        const dls_scheme *row = dls_scheme_find(dls_scheme_at(k / 3, NULL));
        dls_step_plan plan = plan_of(row, thetas[k % 3]);
        double share = share_of_end(row, thetas[k % 3]), gap = 1, speed = -0.3; /* h = 1 */
        for (int step = 0; step < 2; step++) {
            double next = -(gap + plan.joints_at * speed);
            gap += share * next + (1 - share) * speed;
            speed = next;
        }
        assert_near(gap, 0, 1e-15);
        assert_near(speed, 0, 1e-15);
    }
}

/* (m + c_D h d + c_K h² k)(v⁺ − v) = −h (k (q + c_D h v) + d v): an oscillator never gains energy, however
 * stiff, and keeps it where θ = ½ and nothing damps. */
static void test_stiff_solids_are_stable(void **state) {
    (void)state;
    const double thetas[] = {0.5, 0.75, 1}, stiff[] = {1e-2, 1, 1e4}, damped[] = {0, 0.1, 10};
    for (int k = 0; k < 9; k++)
        for (int i = 0; i < 9; i++) {
            const dls_scheme *row = dls_scheme_find(dls_scheme_at(k / 3, NULL));
            dls_step_plan plan = plan_of(row, thetas[k % 3]);
            double share = share_of_end(row, thetas[k % 3]), K = stiff[i / 3], D = damped[i % 3] * sqrt(K);
            double q = 1, v = 0, first = 0.5 * K, last = first; /* h = m = 1 */
            for (int step = 0; step < 200; step++) {
                double force = -K * (q + plan.damping * v) - D * v;
                double next = v + force / (1 + plan.damping * D + plan.stiffness * K);
                q += share * next + (1 - share) * v;
                v = next;
                last = 0.5 * (K * q * q + v * v);
                assert_true(last <= first * (1 + 1e-12));
            }
            if (share == 0.5 && D == 0) assert_near(last, first, 1e-10 * first);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_names, put_in, take_out),
        cmocka_unit_test_setup_teardown(test_incline, put_in, take_out),
        cmocka_unit_test_setup_teardown(test_resumes, put_in, take_out),
        cmocka_unit_test_setup_teardown(test_states_of_schemes, put_in, take_out),
        cmocka_unit_test_setup_teardown(test_failed_step, put_in, take_out),
        cmocka_unit_test(test_joint_rows_take_back_violations),
        cmocka_unit_test(test_stiff_solids_are_stable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
