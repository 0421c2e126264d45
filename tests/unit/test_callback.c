/* Functions of time of users: when they are asked and by whom, what they do when they fail, and what resumes
 * with them. */
#include "support/stage.h"
#include "support/test.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* a sin(ω t), with a record of how it was asked. */
typedef struct swing {
    double a, omega;
    int calls, calls_elsewhere, released;
    double last_t;
    int fail_at;  /* the call that fails, from 1; 0: none */
    bool say_nan; /* by a value instead of a word */
    pthread_t home;
    const dls_world *world; /* read by the callback where it is given */
    double seen_x;          /* of body 0 */
} swing;

static bool swing_value(double t, double *y, void *user) {
    swing *s = user;
    s->calls++;
    s->calls_elsewhere += !pthread_equal(s->home, pthread_self());
    s->last_t = t;
    dls_body_state state;
    if (s->world && !dls_body_state_get(s->world, 0, &state, NULL)) s->seen_x = state.x[0];
    *y = s->calls == s->fail_at && s->say_nan ? (double)NAN : s->a * sin(s->omega * t);
    return s->calls != s->fail_at || s->say_nan;
}

static bool swing_rate(double t, double *y, void *user) {
    const swing *s = user;
    *y = s->a * s->omega * cos(s->omega * t);
    return true;
}

static void swing_release(void *user) { ((swing *)user)->released++; }

static swing make_swing(double a, double omega) {
    return (swing){.a = a, .omega = omega, .home = pthread_self()};
}

static dls_function *of_swing(swing *s) {
    dls_callback_def def = {.value = swing_value, .rate = swing_rate, .user = s, .release = swing_release};
    dls_function *f = NULL;
    assert_int_equal(dls_function_callback(&def, &f, NULL), DLS_OK);
    return f;
}

static dls_function *of_text(const char *text) {
    dls_function *f = NULL;
    assert_int_equal(dls_function_expression(text, 0, NULL, NULL, &f, NULL), DLS_OK);
    return f;
}

static void assert_says(const dls_error *error, const char *text) {
    if (!strstr(error->message, text)) fail_msg("'%s' does not say '%s'", error->message, text);
}

/* ---- the function alone ---- */

static void values_and_derivatives(void **state) {
    (void)state;
    swing s = make_swing(2, 3);
    dls_function *f = of_swing(&s);
    double y[3];
    assert_true(dls_function_value(f, 0.5) == 2 * sin(1.5) && s.calls == 1);
    assert_true(dls_function_value(f, 0.5) == 2 * sin(1.5) && s.calls == 2); /* nothing is remembered */
    dls_function_derivatives(f, 0.5, y);
    assert_true(y[0] == 2 * sin(1.5) && y[1] == 6 * cos(1.5) && isnan(y[2]));
    s.fail_at = s.calls + 1;
    assert_true(isnan(dls_function_value(f, 0)));
    s.fail_at = s.calls + 1;
    dls_function_derivatives(f, 0, y);
    assert_true(isnan(y[0]) && isnan(y[1]) && isnan(y[2]));
    assert_int_equal(s.released, 0);
    dls_function_destroy(f);
    assert_int_equal(s.released, 1);
}

static void bad_definitions_are_refused(void **state) {
    (void)state;
    swing s = make_swing(1, 1);
    dls_callback_def none = {.rate = swing_rate, .user = &s, .release = swing_release};
    dls_callback_def good = {.value = swing_value};
    dls_function *f = NULL;
    dls_error error;
    assert_int_equal(dls_function_callback(&none, &f, &error), DLS_ERROR_ARGUMENT);
    assert_says(&error, "callback for the value");
    assert_int_equal(dls_function_callback(NULL, &f, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_function_callback(&good, NULL, &error), DLS_ERROR_ARGUMENT);
    assert_true(f == NULL && s.released == 0); /* what fails leaves user to the caller */
}

/* ---- in a world ---- */

enum { PLATE = 1, BALLS = 200 };

/* A floor, a plate that swings up and down by its position, and balls that a force shakes. */
static stage shaken(dls_function *position, dls_function *velocity, dls_function *force, int threads,
                    const char *scheme) {
    stage s = stage_open(3, 9.81, 0.5, 0, 0);
    dls_shape_def box = dls_default_shape_def(DLS_BOX), ball = stage_ball(3, 0.05);
    box.size[0] = box.size[1] = 0.3, box.size[2] = 0.1;
    stage_add_floor(&s, 0);
    dls_body_def plate = dls_default_body_def();
    plate.name = "plate", plate.motion = DLS_DRIVEN, plate.shapes = &box, plate.shape_count = 1;
    plate.pose.x[2] = 0.3, plate.drive[2].position = position, plate.drive[0].velocity = velocity;
    assert_int_equal(stage_add(&s, &plate), PLATE);
    for (int k = 0; k < BALLS; k++) {
        dls_body_def def = dls_default_body_def();
        def.shapes = &ball, def.shape_count = 1;
        def.pose.x[0] = 0.11 * (k % 20), def.pose.x[1] = 1 + 0.11 * (k / 20), def.pose.x[2] = 0.05;
        if (k == 0) def.pose.x[0] = def.pose.x[1] = 0, def.pose.x[2] = 0.401;
        if (k == BALLS - 1) def.force[0] = force;
        stage_add(&s, &def);
    }
    dls_simulation_options o = dls_default_simulation_options();
    o.threads = threads, strcpy(o.scheme, scheme);
    stage_start(&s, &o, 1e-6);
    return s;
}

/* A callback and an expression that say the same give the same bits, by every scheme and number of threads.
 */
static void callbacks_do_what_expressions_do(void **state) {
    (void)state;
    for (int k = 0; k < 6; k++) {
        const char *scheme = dls_scheme_at(k % 3, NULL);
        swing place = make_swing(1, 1), speed = make_swing(1, 1), push = make_swing(1, 1);
        stage a =
            shaken(of_text("1*sin(1*t)"), of_text("1*sin(1*t)"), of_text("1*sin(1*t)"), 1 + k / 3, scheme);
        stage b = shaken(of_swing(&place), of_swing(&speed), of_swing(&push), 1 + k / 3, scheme);
        stage_run(&a, 50), stage_run(&b, 50);
        assert_int_equal(dls_simulation_hash(a.simulation), dls_simulation_hash(b.simulation));
        assert_true(a.last.energy.work == b.last.energy.work && a.last.energy.work != 0);
        assert_true(place.calls_elsewhere + speed.calls_elsewhere + push.calls_elsewhere == 0);
        assert_true(place.calls == 50 && speed.calls == 50 && push.calls >= 50);
        assert_true(place.last_t == dls_simulation_time(b.simulation));
        assert_true(push.calls <= 50 * (k % 3 ? 4 : 2));
        stage_close(&a), stage_close(&b);
        assert_true(place.released == 1 && speed.released == 1 && push.released == 1);
    }
}

static void a_callback_reads_the_world(void **state) {
    (void)state;
    swing push = make_swing(0, 1);
    stage s = stage_open(3, 0, 0, 0, 0);
    dls_shape_def ball = stage_ball(3, 0.1);
    dls_body_def def = dls_default_body_def();
    def.shapes = &ball, def.shape_count = 1, def.v[0] = 1, def.force[1] = of_swing(&push);
    stage_add(&s, &def);
    stage_start(&s, NULL, 0);
    push.world = s.world;
    stage_run(&s, 3);
    assert_true(fabs(push.seen_x - 2e-3) < 1e-15); /* as the second step left it */
    stage_close(&s);
}

static void step_fails(stage *s, const char *text) {
    dls_error error;
    uint64_t hash = dls_simulation_hash(s->simulation);
    int64_t steps = dls_simulation_steps(s->simulation);
    double work = dls_simulation_energy(s->simulation).work;
    assert_int_equal(dls_simulation_step(s->simulation, NULL, &error), DLS_ERROR_NUMERIC);
    assert_says(&error, text);
    assert_int_equal(dls_simulation_hash(s->simulation), hash);
    assert_int_equal(dls_simulation_steps(s->simulation), steps);
    assert_true(dls_simulation_energy(s->simulation).work == work);
}

/* At step 8 one of three fails; then it answers, and the run goes on as if nothing had been. */
static void a_callback_that_fails_spoils_nothing(void **state) {
    (void)state;
    static const char *const words[3][2] = {
        {"'plate': callback of the position of the translation along z failed at t = 0.008",
         "'plate': callback gives nan as position of the translation along z at t = 0.008"},
        {"'plate': callback of the velocity of the translation along x failed at t = 0.0075",
         "'plate': callback gives nan as velocity of the translation along x at t = 0.0075"},
        {"body 201: callback of the force of the translation along x failed at t = 0.0075",
         "body 201: callback gives nan as force of the translation along x at t = 0.0075"}};
    for (int k = 0; k < 6; k++) {
        swing plain[3], failing[3];
        for (int i = 0; i < 3; i++) plain[i] = failing[i] = make_swing(1, 1);
        stage a = shaken(of_swing(&plain[0]), of_swing(&plain[1]), of_swing(&plain[2]), 1, "moreau-jean");
        stage b =
            shaken(of_swing(&failing[0]), of_swing(&failing[1]), of_swing(&failing[2]), 1, "moreau-jean");
        stage_run(&a, 7), stage_run(&b, 7);
        failing[k % 3].fail_at = failing[k % 3].calls + 1;
        failing[k % 3].say_nan = k >= 3;
        step_fails(&b, words[k % 3][k / 3]);
        stage_run(&a, 5), stage_run(&b, 5);
        assert_int_equal(dls_simulation_hash(a.simulation), dls_simulation_hash(b.simulation));
        stage_close(&a), stage_close(&b);
    }
}

/* A step that fails at its end, where drives have moved, leaves them where they were. */
static void a_step_that_fails_late_takes_drives_back(void **state) {
    (void)state;
    stage s = stage_open(3, 0, 0, 0, 0);
    dls_shape_def ball = stage_ball(3, 0.1);
    dls_body_def turning = dls_default_body_def();
    turning.motion = DLS_DRIVEN, turning.shapes = &ball, turning.shape_count = 1;
    turning.drive[5].position = of_text("3*t");
    stage_add(&s, &turning);
    stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){5, 0, 0}, NULL, NULL);
    dls_simulation_options o = dls_default_simulation_options();
    o.step = 10;
    stage_start(&s, &o, 0);
    dls_body_state still = stage_state(&s, 1), lost = still;
    lost.v[0] = 9e59;
    assert_int_equal(dls_body_state_set(s.world, 1, &lost, NULL), DLS_OK);
    step_fails(&s, "body 1 is nowhere");
    assert_int_equal(dls_body_state_set(s.world, 1, &still, NULL), DLS_OK);
    stage_run(&s, 1);
    assert_true(fabs(stage_state(&s, 0).w[2] - 3) < 1e-12);
    stage_close(&s);
}

/* ---- resuming ---- */

static void *state_of(const stage *s, size_t *size) {
    *size = dls_simulation_state_size(s->simulation);
    void *bytes = malloc(*size);
    assert_non_null(bytes);
    dls_simulation_state_write(s->simulation, bytes);
    return bytes;
}

static void a_run_goes_on_with_the_same_callbacks(void **state) {
    (void)state;
    swing first[3], second[3];
    for (int i = 0; i < 3; i++) first[i] = second[i] = make_swing(1, 1);
    stage a = shaken(of_swing(&first[0]), of_swing(&first[1]), of_swing(&first[2]), 1, "moreau-jean");
    stage b = shaken(of_swing(&second[0]), of_swing(&second[1]), of_swing(&second[2]), 1, "moreau-jean");
    size_t size;
    dls_error error;
    stage_run(&a, 10);
    void *bytes = state_of(&a, &size);
    if (dls_simulation_state_read(b.simulation, bytes, size, &error)) fail_msg("%s", error.message);
    stage_run(&a, 10), stage_run(&b, 10);
    assert_int_equal(dls_simulation_hash(a.simulation), dls_simulation_hash(b.simulation));
    free(bytes);
    stage_close(&a), stage_close(&b);
}

static void assert_not_resumed(const stage *from, dls_function *position, dls_function *velocity,
                               dls_function *force, const char *text) {
    size_t size;
    dls_error error;
    void *bytes = state_of(from, &size);
    stage to = shaken(position, velocity, force, 1, "moreau-jean");
    uint64_t hash = dls_simulation_hash(to.simulation);
    assert_int_equal(dls_simulation_state_read(to.simulation, bytes, size, &error), DLS_ERROR_INPUT);
    assert_says(&error, text);
    assert_int_equal(dls_simulation_hash(to.simulation), hash);
    free(bytes);
    stage_close(&to);
}

static void a_missing_callback_is_named(void **state) {
    (void)state;
    swing s = make_swing(1, 1);
    stage from = shaken(of_swing(&s), of_swing(&s), of_swing(&s), 1, "moreau-jean");
    stage without = shaken(of_text("0"), of_text("0"), of_text("0"), 1, "moreau-jean");
    stage_run(&from, 2), stage_run(&without, 2);
    assert_not_resumed(&from, of_text("0"), of_swing(&s), of_swing(&s),
                       "'plate': the position of the translation along z is no callback here and was one");
    assert_not_resumed(&from, of_swing(&s), NULL, of_swing(&s),
                       "'plate': the velocity of the translation along x is no callback here and was one");
    assert_not_resumed(&from, of_swing(&s), of_swing(&s), of_text("0"),
                       "body 201: the force of the translation along x is no callback here and was one");
    assert_not_resumed(&from, of_swing(&s), of_swing(&s), NULL,
                       "(2 with forces or drives), this one has 202 (1)");
    assert_not_resumed(&without, of_text("0"), of_text("0"), of_swing(&s),
                       "body 201: the force of the translation along x is a callback here and was none");
    stage_close(&from), stage_close(&without);
}

/* Bytes behind the rows that name no place, or are no whole number of them. */
static void damaged_lists_of_callbacks_are_refused(void **state) {
    (void)state;
    swing s = make_swing(1, 1);
    stage from = shaken(of_swing(&s), of_swing(&s), of_swing(&s), 1, "moreau-jean");
    size_t size;
    dls_error error;
    char *bytes = state_of(&from, &size), *found = NULL; /* before the first step there are no contacts */
    const int32_t list[2] = {PLATE, 7};                  /* the velocity along x, the first of the list */
    for (size_t k = 0; k + sizeof list <= size; k++)
        if (!memcmp(bytes + k, list, sizeof list)) found = bytes + k;
    assert_non_null(found);
    const int32_t bad[4][2] = {{PLATE, 99}, {-1, 7}, {INT32_MAX, 7}, {PLATE, -5}};
    for (int k = 0; k < 4; k++) {
        memcpy(found, bad[k], sizeof list);
        assert_int_equal(dls_simulation_state_read(from.simulation, bytes, size, &error), DLS_ERROR_INPUT);
    }
    memcpy(found, list, sizeof list);
    assert_int_equal(dls_simulation_state_read(from.simulation, bytes, size, &error), DLS_OK);
    free(bytes);
    stage_close(&from);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_and_derivatives),
        cmocka_unit_test(bad_definitions_are_refused),
        cmocka_unit_test(callbacks_do_what_expressions_do),
        cmocka_unit_test(a_callback_reads_the_world),
        cmocka_unit_test(a_callback_that_fails_spoils_nothing),
        cmocka_unit_test(a_step_that_fails_late_takes_drives_back),
        cmocka_unit_test(a_run_goes_on_with_the_same_callbacks),
        cmocka_unit_test(a_missing_callback_is_named),
        cmocka_unit_test(damaged_lists_of_callbacks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
