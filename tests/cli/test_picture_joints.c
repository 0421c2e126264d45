/* Where pictures put joints, and bodies without shapes. */
#include "cli/picture/items.h"
#include "support/joined.h"
#include "support/measured.h"
#include "support/near.h"

#include <string.h>

enum { MOST_BODIES = 32, MOST_JOINTS = 32 };

/* Frame 0 of a run from above, with all joints. */
static picture_items gather(dls_results *r) {
    static dls_body_state states[MOST_BODIES];
    static bool present[MOST_BODIES];
    static dls_joint_id joints[MOST_JOINTS];
    picture_items items;
    picture p = {.dimension = dls_results_dimension(r),
                 .body_count = dls_results_body_count(r),
                 .results = r,
                 .states = states,
                 .present = present,
                 .joint_count = dls_results_joint_count(r),
                 .joints = joints,
                 .title = ""};
    assert_in_range(p.body_count, 1, MOST_BODIES);
    assert_in_range(p.joint_count, 1, MOST_JOINTS);
    for (int k = 0; k < p.joint_count; k++) joints[k] = k;
    OK(dls_results_frame_states(r, 0, states, present, error));
    picture_view_find("top", &p.view);
    picture_items_gather(&p, &items);
    return items;
}

static int count_kind(const picture_items *items, item_kind kind) {
    int count = 0;
    for (int k = 0; k < items->count; k++) count += items->item[k].kind == kind;
    return count;
}

/* Pins stand where they were placed, on both bodies; mass centres lie 0.01 m beside the origins of bodies. */
static void test_plane(void **state) {
    (void)state;
    static const double at[4][2] = {{0, 0}, {0.1, 0}, {0.4, 0.2}, {0.4, 0}};
    dls_results *r = measured_run(linkage_world(2), "plane.h5", 1, true);
    picture_items items = gather(r);
    assert_int_equal(items.joint_count, 8);
    for (int k = 0; k < 4; k++)
        for (int side = 0; side < 2; side++)
            for (int i = 0; i < 2; i++) assert_near(items.joint[k].place[side][i], at[k][i], 1e-12);
    const picture_joint *slide = &items.joint[4], *spring = &items.joint[5], *rope = &items.joint[7];
    assert_near(slide->axis[0][0], 1, 1e-12);
    assert_near(spring->place[0][0], 0.5, 1e-12);
    assert_near(spring->place[1][0], 0.8, 1e-12);
    assert_true(rope->rope && !spring->rope);
    assert_true(spring->sprung && !rope->sprung && !items.joint[0].sprung);
    assert_true(items.moving_low[0] <= 0 &&
                items.moving_high[0] >= 0.8); /* or a long page would be cut there */
    assert_near(rope->place[1][1], -0.25, 1e-12);
    /* crank, coupler, rocker, slider and the one that breaks off; their 6, 2 and 1 ends, and that of the ball
     */
    assert_int_equal(count_kind(&items, ITEM_CROSS), 5);
    assert_int_equal(count_kind(&items, ITEM_BAR), 9);
    assert_int_equal(count_kind(&items, ITEM_STAY), 1);
    for (int k = 0; k < items.count; k++)
        if (items.item[k].kind == ITEM_CROSS && items.item[k].body == 0)
            assert_near(items.item[k].x, 0.06, 1e-12);
    assert_true(items.low[0] <= -0.4 && items.high[0] >= 0.8);
    picture_items_free(&items);
    dls_results_destroy(r);
}

static void test_space(void **state) {
    (void)state;
    dls_results *r = measured_run(linkage_world(3), "space.h5", 1, true);
    picture_items items = gather(r);
    assert_int_equal(items.joint_count, DLS_JOINT_KINDS);
    for (int kind = 0; kind < DLS_JOINT_KINDS; kind++) {
        const picture_joint *joint = &items.joint[kind];
        assert_int_equal(joint->kind, kind);
        assert_near(joint->place[1][0], 0.5 * (kind % 8), 1e-12);
        assert_near(joint->place[1][1], 0.8 * (kind / 8), 1e-12);
    }
    picture_items_free(&items);
    dls_results_destroy(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_plane), cmocka_unit_test(test_space)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
