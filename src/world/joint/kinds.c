/* What each kind of joint holds and leaves. */
#include "world/joint/joint.h"

enum { T1 = 1, T2 = 2, T3 = 4, R1 = 8, R2 = 16, R3 = 32, T = T1 | T2 | T3, R = R1 | R2 | R3 };

const dls_joint_traits dls_joint_table[DLS_JOINT_KINDS] = {
    [DLS_JOINT_FIXED] = {"fixed", "two bodies are one", true, {T | R, T1 | T2 | R3}, {0, 0}, 0, false},
    [DLS_JOINT_SPHERICAL] = {"spherical", "one point in common; space only", false, {T, 0}, {R, 0}, 0, false},
    [DLS_JOINT_REVOLUTE] = {"revolute",
                            "turns about axis 1; in the plane about z",
                            true,
                            {T | R2 | R3, T2 | T3},
                            {R1, R1},
                            0,
                            true},
    [DLS_JOINT_PRISMATIC] =
        {"prismatic", "slides along axis 1", true, {T2 | T3 | R, T2 | R3}, {T1, T1}, 0, false},
    [DLS_JOINT_CYLINDRICAL] = {"cylindrical",
                               "slides along axis 1 and turns about it; space only",
                               false,
                               {T2 | T3 | R2 | R3, 0},
                               {T1 | R1, 0},
                               0,
                               false},
    [DLS_JOINT_PLANAR] = {"planar",
                          "slides in the plane across axis 1 and turns about it; space only",
                          false,
                          {T1 | R2 | R3, 0},
                          {T2 | T3 | R1, 0},
                          0,
                          false},
    [DLS_JOINT_UNIVERSAL] =
        {"universal",
         "turns about axis 1 of A and axis 2 of B, which stay at a right angle; space only",
         false,
         {T | R3, 0},
         {R1 | R2, 0},
         0,
         false},
    [DLS_JOINT_POINT_ON_LINE] = {"point-on-line",
                                 "a point of B stays on axis 1 of A",
                                 true,
                                 {T2 | T3, T2},
                                 {T1 | R, T1 | R3},
                                 0,
                                 false},
    [DLS_JOINT_POINT_ON_PLANE] = {"point-on-plane",
                                  "a point of B stays in the plane across axis 1 of A; space only",
                                  false,
                                  {T1, 0},
                                  {T2 | T3 | R, 0},
                                  0,
                                  false},
    [DLS_JOINT_DISTANCE] = {"distance",
                            "two points stay as far apart as they are, or no farther: a rope",
                            true,
                            {T1, T1},
                            {0, 0},
                            0,
                            false},
    [DLS_JOINT_SPRING] =
        {"spring", "a spring, damper or motor between two points", true, {0, 0}, {T1, T1}, 0, false},
    [DLS_JOINT_BUSHING] =
        {"bushing", "springs and dampers in all freedoms", true, {0, 0}, {T | R, T1 | T2 | R3}, 0, false},
    [DLS_JOINT_GEAR] =
        {"gear", "turns of A and B about their axes 1 in a ratio", true, {R1, R1}, {0, 0}, R1, true},
    [DLS_JOINT_RACK] = {"rack",
                        "the turn of A about its axis 1 moves B along its axis 1",
                        true,
                        {T1, T1},
                        {0, 0},
                        T1,
                        false},
    [DLS_JOINT_ROLLING] = {"rolling",
                           "a wheel B rolls on the plane of A without sliding",
                           true,
                           {T, T1 | T2},
                           {0, 0},
                           T2 | T3,
                           false},
    [DLS_JOINT_ROLLING_BALL] = {"rolling-ball",
                                "a ball B rolls on the plane of A without sliding; space only",
                                false,
                                {T, 0},
                                {0, 0},
                                T2 | T3,
                                false},
};

static bool is_kind(dls_joint_kind kind) { return kind >= 0 && kind < DLS_JOINT_KINDS; }

const char *dls_joint_kind_name(dls_joint_kind kind) {
    return is_kind(kind) ? dls_joint_table[kind].name : "";
}

const char *dls_joint_kind_summary(dls_joint_kind kind) {
    return is_kind(kind) ? dls_joint_table[kind].summary : "";
}

uint8_t dls_joint_kind_free(dls_joint_kind kind, int dimension) {
    return is_kind(kind) ? dls_joint_table[kind].free[dimension == 2] : 0;
}

bool dls_joint_counts_turns(dls_joint_kind kind, int dimension, int freedom) {
    if (freedom < 3) return false;
    return dimension == 2 || kind == DLS_JOINT_REVOLUTE || kind == DLS_JOINT_CYLINDRICAL ||
           kind == DLS_JOINT_PLANAR || kind == DLS_JOINT_UNIVERSAL;
}
