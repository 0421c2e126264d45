/* What bindings stand on: states and contacts of all bodies in one call, into arrays of the caller. */
#include "support/stage.h"
#include "support/test.h"

#include <math.h>
#include <string.h>

enum { BALLS = 12 };

static void assert_says(const dls_error *error, dls_status status, const char *text) {
    assert_int_equal(error->status, status);
    if (!strstr(error->message, text)) fail_msg("'%s' does not say '%s'", error->message, text);
}

/* A floor, a pile of balls, one that is to come and one that has left, after some steps. */
static stage pile(void) {
    stage s = stage_open(3, 9.81, 0.5, 0, 0);
    dls_shape_def ball = stage_ball(3, 0.1);
    stage_add_floor(&s, 0);
    for (int k = 0; k < BALLS; k++)
        stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){0.21 * (k % 3), 0.01 * k, 0.1 + 0.2 * (k / 3)},
                        NULL, NULL);
    dls_body_def late = dls_default_body_def();
    late.shapes = &ball, late.shape_count = 1, late.birth = 1e3, late.pose.x[0] = 7;
    stage_add(&s, &late);
    dls_simulation_options o = dls_default_simulation_options();
    stage_start(&s, &o, 1e-6);
    stage_run(&s, 5);
    assert_int_equal(dls_world_remove_body(s.world, 3, NULL), DLS_OK);
    stage_run(&s, 1);
    return s;
}

/* ---- ids ---- */

static void bodies_are_listed_by_presence(void **state) {
    (void)state;
    stage s = pile();
    dls_body_id ids[BALLS + 2];
    dls_error error;
    int count;
    assert_int_equal(dls_world_presence_count(s.world, DLS_PRESENT), BALLS);
    assert_int_equal(dls_world_presence_ids(s.world, DLS_PRESENT, BALLS, ids, &count, &error), DLS_OK);
    assert_int_equal(count, BALLS);
    for (int k = 0; k < count; k++) assert_int_equal(ids[k], k < 3 ? k : k + 1);
    assert_int_equal(dls_world_presence_ids(s.world, DLS_GONE, 1, ids, &count, &error), DLS_OK);
    assert_true(count == 1 && ids[0] == 3);
    assert_int_equal(dls_world_presence_ids(s.world, DLS_WAITING, 5, ids, &count, &error), DLS_OK);
    assert_true(count == 1 && ids[0] == BALLS + 1);
    stage_close(&s);
}

static void lists_of_ids_are_checked(void **state) {
    (void)state;
    stage s = pile();
    dls_body_id ids[BALLS] = {-7};
    dls_error error;
    int count = -1;
    assert_int_not_equal(dls_world_presence_ids(s.world, DLS_PRESENT, BALLS - 1, ids, &count, &error),
                         DLS_OK);
    assert_says(&error, DLS_ERROR_ARGUMENT, "room for 11 ids, expected 12");
    assert_true(count == BALLS && ids[0] == -7);
    assert_int_not_equal(dls_world_presence_ids(s.world, DLS_PRESENT, 0, NULL, &count, NULL), DLS_OK);
    assert_int_equal(count, BALLS);
    assert_int_equal(dls_world_presence_ids(NULL, DLS_PRESENT, BALLS, ids, &count, &error),
                     DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_world_presence_ids(s.world, DLS_PRESENT, BALLS, NULL, &count, &error),
                     DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_world_presence_ids(s.world, DLS_PRESENT, BALLS, ids, NULL, &error),
                     DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_world_presence_ids(s.world, DLS_PRESENT, -1, ids, &count, &error),
                     DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_world_presence_ids(s.world, (dls_presence)9, 0, NULL, &count, &error), DLS_OK);
    assert_int_equal(count, 0);
    assert_int_equal(dls_world_presence_count(NULL, DLS_PRESENT), 0);
    stage_close(&s);
}

/* ---- states ---- */

static void states_come_as_one_by_one(void **state) {
    (void)state;
    stage s = pile();
    const dls_body_id some[] = {5, BALLS + 1, 0, 3, 5};
    dls_body_state all[BALLS + 2], few[5];
    dls_error error;
    assert_int_equal(dls_body_states_get(s.world, BALLS + 2, NULL, all, &error), DLS_OK);
    for (int id = 0; id < BALLS + 2; id++) {
        dls_body_state one = stage_state(&s, id);
        assert_memory_equal(&all[id], &one, sizeof one);
    }
    assert_true(all[BALLS + 1].x[0] == 7);
    assert_int_equal(dls_body_states_get(s.world, 5, some, few, &error), DLS_OK);
    for (int k = 0; k < 5; k++) assert_memory_equal(&few[k], &all[some[k]], sizeof *few);
    assert_int_equal(dls_body_states_get(s.world, 0, some, NULL, &error), DLS_OK);
    const double *row = (const double *)&all[5]; /* the columns that the header states */
    assert_true(row[2] == all[5].x[2] && row[3] == all[5].q[0] && row[9] == all[5].v[2] &&
                row[12] == all[5].w[2]);
    stage_close(&s);
}

static void states_are_set_as_one_by_one(void **state) {
    (void)state;
    stage a = pile(), b = pile();
    const dls_body_id ids[] = {2, 4, 4};
    dls_body_state states[3];
    dls_error error;
    for (int k = 0; k < 3; k++)
        states[k] = (dls_body_state){.x = {0.1, k, 1 + 0.3 * k}, .q = {1, 0.1, 0, k}, .v = {k, 0, -1}};
    assert_int_equal(dls_body_states_set(a.world, 3, ids, states, &error), DLS_OK);
    for (int k = 0; k < 3; k++)
        assert_int_equal(dls_body_state_set(b.world, ids[k], &states[k], &error), DLS_OK);
    assert_true(stage_state(&a, 4).x[1] == 2 && stage_state(&a, 2).x[2] == 1);
    stage_run(&a, 5), stage_run(&b, 5);
    assert_int_equal(dls_simulation_hash(a.simulation), dls_simulation_hash(b.simulation));
    stage_close(&a), stage_close(&b);
}

/* What is read of all bodies and set again changes nothing. */
static void states_go_round(void **state) {
    (void)state;
    stage a = pile(), b = pile();
    dls_body_state all[BALLS + 2];
    dls_error error;
    assert_int_equal(dls_body_states_get(a.world, BALLS + 2, NULL, all, &error), DLS_OK);
    for (int id = 1; id < BALLS + 2; id++) all[id].x[1] += 0.25; /* and back */
    assert_int_equal(dls_body_states_set(a.world, BALLS + 2, NULL, all, &error), DLS_OK);
    for (int id = 1; id < BALLS + 2; id++) all[id].x[1] = stage_state(&b, id).x[1];
    assert_int_equal(dls_body_states_set(a.world, BALLS + 2, NULL, all, &error), DLS_OK);
    stage_run(&a, 3), stage_run(&b, 3);
    assert_int_equal(dls_simulation_hash(a.simulation), dls_simulation_hash(b.simulation));
    stage_close(&a), stage_close(&b);
}

static void assert_set_refused(stage *s, int count, const dls_body_id *ids, const dls_body_state *states,
                               const char *text) {
    dls_error error;
    uint64_t before = dls_simulation_hash(s->simulation);
    assert_int_not_equal(dls_body_states_set(s->world, count, ids, states, &error), DLS_OK);
    assert_says(&error, error.status, text);
    assert_int_equal(dls_simulation_hash(s->simulation), before);
}

static void bad_states_set_nothing(void **state) {
    (void)state;
    stage s = pile();
    dls_body_state all[BALLS + 2], bad[BALLS + 2];
    assert_int_equal(dls_body_states_get(s.world, BALLS + 2, NULL, all, NULL), DLS_OK);
    for (int id = 1; id < BALLS + 2; id++) all[id].x[0] += 1; /* every call would move something */
    memcpy(bad, all, sizeof bad);
    bad[BALLS].v[1] = NAN;
    assert_set_refused(&s, BALLS + 2, NULL, bad, "body 12: velocity is not finite");
    memcpy(bad, all, sizeof bad);
    memset(bad[BALLS].q, 0, sizeof bad[BALLS].q);
    assert_set_refused(&s, BALLS + 2, NULL, bad, "body 12: ");
    memcpy(bad, all, sizeof bad);
    bad[0].v[2] = 1;
    assert_set_refused(&s, BALLS + 2, NULL, bad, "body 0: velocity along z is 1");
    assert_set_refused(&s, BALLS + 1, NULL, all, "an array of 13 states for all bodies, expected 14");
    assert_set_refused(&s, 2, (dls_body_id[]){1, 14}, all, "id 1 of 2: there is no body 14 among 14");
    assert_set_refused(&s, 2, (dls_body_id[]){1, -1}, all, "no body -1");
    assert_set_refused(&s, 2, (dls_body_id[]){1, 2}, NULL, "needed");
    assert_set_refused(&s, -1, (dls_body_id[]){1, 2}, all, "needed");
    assert_int_equal(dls_body_states_set(NULL, 0, NULL, all, NULL), DLS_ERROR_ARGUMENT);
    stage_close(&s);
}

static void bad_calls_read_nothing(void **state) {
    (void)state;
    stage s = pile();
    dls_body_state few[2] = {{.x = {42}}};
    dls_error error;
    assert_int_not_equal(dls_body_states_get(s.world, 2, (dls_body_id[]){1, 99}, few, &error), DLS_OK);
    assert_says(&error, DLS_ERROR_ARGUMENT, "id 1 of 2: there is no body 99 among 14");
    assert_int_not_equal(dls_body_states_get(s.world, 2, NULL, few, &error), DLS_OK);
    assert_says(&error, DLS_ERROR_ARGUMENT, "expected 14");
    assert_int_equal(dls_body_states_get(s.world, 2, (dls_body_id[]){1, 2}, NULL, &error),
                     DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_body_states_get(NULL, 2, (dls_body_id[]){1, 2}, few, NULL), DLS_ERROR_ARGUMENT);
    assert_true(few[0].x[0] == 42);
    stage_close(&s);
}

/* ---- contacts ---- */

static void contacts_come_as_one_by_one(void **state) {
    (void)state;
    stage s = pile();
    dls_contact_record all[200], one;
    dls_error error;
    int count, expected = dls_simulation_contact_count(s.simulation);
    double weight = 0;
    assert_true(expected > BALLS / 2 && expected < 200);
    assert_int_equal(dls_simulation_contacts(s.simulation, 200, all, &count, &error), DLS_OK);
    assert_int_equal(count, expected);
    for (int k = 0; k < count; k++) {
        dls_simulation_contact(s.simulation, k, &one);
        assert_memory_equal(&all[k], &one, sizeof one);
        weight += all[k].impulse[0];
    }
    assert_true(weight > 0);
    const char *bytes = (const char *)&all[count - 1]; /* the layout that the header states */
    const dls_contact_record *last = &all[count - 1];
    double gap;
    int32_t body;
    memcpy(&gap, bytes + 32 + 12 * sizeof gap, sizeof gap);
    memcpy(&body, bytes + 4, sizeof body);
    assert_true(gap == last->gap && body == last->body_b && bytes[22] == 0 && bytes[23] == 0);
    stage_close(&s);
}

static void calls_for_contacts_are_checked(void **state) {
    (void)state;
    stage s = pile();
    dls_contact_record few[2] = {{.gap = 42}};
    dls_error error;
    int count = -1, expected = dls_simulation_contact_count(s.simulation);
    assert_int_not_equal(dls_simulation_contacts(s.simulation, 2, few, &count, &error), DLS_OK);
    assert_says(&error, DLS_ERROR_ARGUMENT, "room for 2 contacts, expected ");
    assert_true(count == expected && few[0].gap == 42);
    assert_int_equal(dls_simulation_contacts(s.simulation, 2, NULL, &count, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_simulation_contacts(s.simulation, -2, few, &count, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_simulation_contacts(s.simulation, 2, few, NULL, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_simulation_contacts(NULL, 2, few, &count, &error), DLS_ERROR_ARGUMENT);
    for (int k = 0; k < 2; k++) {
        dls_simulation_contact(s.simulation, k ? expected : -1, &few[0]);
        assert_true(few[0].body_a == -1 && few[0].body_b == -1 && few[0].gap == 0);
    }
    dls_body_state lost = {.x = {0, 0, 1}, .q = {1}, .v = {9e59, 0, 0}};
    assert_int_equal(dls_simulation_set_step(s.simulation, 1e3, &error), DLS_OK);
    assert_int_equal(dls_body_state_set(s.world, 5, &lost, &error), DLS_OK);
    assert_int_equal(dls_simulation_step(s.simulation, NULL, &error), DLS_ERROR_NUMERIC);
    assert_int_equal(dls_simulation_contacts(s.simulation, 0, NULL, &count, &error), DLS_OK);
    assert_int_equal(count, 0); /* after a step that failed there are none */
    stage_close(&s);
}

/* Arrays are the caller's: bodies that come and go leave what was read as it is. */
static void what_was_read_stays(void **state) {
    (void)state;
    stage s = pile();
    dls_body_state before[BALLS + 2], copy[BALLS + 2];
    dls_shape_def ball = stage_ball(3, 0.1);
    assert_int_equal(dls_body_states_get(s.world, BALLS + 2, NULL, before, NULL), DLS_OK);
    memcpy(copy, before, sizeof copy);
    int count, expected = dls_simulation_contact_count(s.simulation);
    for (int k = 0; k < 100; k++)
        stage_add_shape(&s, DLS_DYNAMIC, &ball, (double[3]){5 + k, 0, 1}, NULL, NULL);
    dls_contact_record all[200];
    assert_int_equal(dls_simulation_contacts(s.simulation, 200, all, &count, NULL), DLS_OK);
    assert_int_equal(count, expected);
    stage_run(&s, 1);
    assert_memory_equal(before, copy, sizeof copy);
    stage_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bodies_are_listed_by_presence),
        cmocka_unit_test(lists_of_ids_are_checked),
        cmocka_unit_test(states_come_as_one_by_one),
        cmocka_unit_test(states_are_set_as_one_by_one),
        cmocka_unit_test(states_go_round),
        cmocka_unit_test(bad_states_set_nothing),
        cmocka_unit_test(bad_calls_read_nothing),
        cmocka_unit_test(contacts_come_as_one_by_one),
        cmocka_unit_test(calls_for_contacts_are_checked),
        cmocka_unit_test(what_was_read_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
