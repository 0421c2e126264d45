/* What the files about joints share among themselves. */
#ifndef SCENE_JOINTS_JOINTS_H
#define SCENE_JOINTS_JOINTS_H

#include "scene/read.h"

#include <delassus/joint.h>

/* ---- freedoms ---- */

/* What a scene says about a free freedom: of kinds that have one at the joint itself, else below
 * `freedoms`. */
typedef struct dls_freedom_text {
    const dls_node *drive, *motor, *servo, *spring, *limits, *friction;
    double e_n;
} dls_freedom_text;

#define DLS_FREEDOM_ROW(type, member, key, unit, what, help)                                                 \
    { DLS_KEY(key, DLS_KEY_NODE, offsetof(type, member), unit, help, what), "none", false, 0 }
#define DLS_FREEDOM_KEYS(type, at)                                                                           \
    DLS_FREEDOM_ROW(type, at.drive, "drive", "", "drive",                                                    \
                    "holds the coordinate or its speed to a function"),                                      \
        DLS_FREEDOM_ROW(type, at.motor, "motor", "", "motor", "pushes or turns with a force or torque"),     \
        DLS_FREEDOM_ROW(type, at.servo, "servo", "", "servo", "pushes or turns towards a target"),           \
        DLS_FREEDOM_ROW(type, at.spring, "spring", "", "spring", "spring and damper"),                       \
        DLS_FREEDOM_ROW(type, at.limits, "limits", "m, rad", "[low, high]",                                  \
                        "of the coordinate; `none` leaves a side open"),                                     \
        {DLS_KEY("e_n", DLS_KEY_SHARE, offsetof(type, at.e_n), "", "restitution of the limits", NULL), NULL, \
         false, 0},                                                                                          \
        DLS_FREEDOM_ROW(type, at.friction, "friction", "N, N m", "number or map",                            \
                        "largest force or torque of dry friction, or what it follows from")

/* Into a freedom of the definition, 0 … 5; functions that were read stay there when it fails. */
dls_status dls_read_freedom(dls_reader *reader, const dls_freedom_text *text, dls_joint_def *def,
                            int freedom);
/* The freedom of a word below `freedoms`; −1 after a message. */
int dls_read_freedom_name(dls_reader *reader, const dls_node *node, dls_joint_kind kind);
const char *dls_freedom_word(int freedom); /* "about_2" */
void dls_joint_functions_destroy(dls_joint_def *def);

/* ---- sides ---- */

/* Where one side of a joint is told to stand, in world coordinates; what is not told is NULL. */
typedef struct dls_side {
    dls_body_id body;
    bool has_point, has_axis, has_second;
    double point[3], axis[3], second[3];
    double end; /* place on a solid */
} dls_side;

/* A name, or {body, at, axis, second} or {body, frame} in body coordinates. */
dls_status dls_read_side(dls_reader *reader, const dls_node *node, dls_side *side);
/* A body's id, or DLS_GROUND. */
dls_status dls_read_body_name(dls_reader *reader, const dls_node *node, dls_body_id *id);
/* A direction: refused where it has no length. */
dls_status dls_read_direction(dls_reader *reader, const dls_node *node, double *direction);

/* ---- joints ---- */

/* A joint between two bodies as its map says, but for names and places that come from elsewhere: those of
 * links and neighbours. */
typedef struct dls_joint_given {
    bool is_given;
    dls_body_id body[2];
    double point[2][3]; /* ends of kinds with two */
    double middle[3];   /* place of the others */
    double along[3];    /* axis where none is told */
    char name[128];
} dls_joint_given;

/* The world owns the functions of def from here on. */
dls_status dls_add_read_joint(dls_reader *reader, const dls_node *map, dls_joint_def *def);
dls_status dls_join_supports(dls_reader *reader);
dls_status dls_join_links(dls_reader *reader);
dls_status dls_join_neighbours(dls_reader *reader, const dls_node *joint, const dls_node *map);
dls_status dls_read_joint(dls_reader *reader, const dls_node *map, const dls_joint_given *given);

#endif
