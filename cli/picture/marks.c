#include "cli/picture/marks.h"

#include <math.h>

typedef enum joint_sign { SIGN_NONE, SIGN_DOT, SIGN_RING, SIGN_BLOCK, SIGN_FRAME } joint_sign;
typedef enum joint_line { LINE_NONE, LINE_ROD, LINE_DASHES, LINE_COIL, LINE_CYLINDER } joint_line;

/* What a kind looks like: signs at the origins of A's and B's frames, a line between them, and short lines
 * along axes of A (bit k: axis k + 1) that B slides along or turns about. */
typedef struct joint_look {
    joint_sign sign[2];
    joint_line line;
    unsigned axes;
} joint_look;

static const joint_look looks[DLS_JOINT_KINDS] = {
    [DLS_JOINT_FIXED] = {{SIGN_NONE, SIGN_BLOCK}, LINE_NONE, 0},
    [DLS_JOINT_SPHERICAL] = {{SIGN_NONE, SIGN_DOT}, LINE_NONE, 0},
    [DLS_JOINT_REVOLUTE] = {{SIGN_NONE, SIGN_RING}, LINE_NONE, 1},
    [DLS_JOINT_PRISMATIC] = {{SIGN_NONE, SIGN_FRAME}, LINE_ROD, 1},
    [DLS_JOINT_CYLINDRICAL] = {{SIGN_NONE, SIGN_RING}, LINE_ROD, 1},
    [DLS_JOINT_PLANAR] = {{SIGN_NONE, SIGN_FRAME}, LINE_NONE, 2 | 4},
    [DLS_JOINT_UNIVERSAL] = {{SIGN_NONE, SIGN_RING}, LINE_NONE, 1 | 2},
    [DLS_JOINT_POINT_ON_LINE] = {{SIGN_NONE, SIGN_DOT}, LINE_ROD, 1},
    [DLS_JOINT_POINT_ON_PLANE] = {{SIGN_NONE, SIGN_DOT}, LINE_NONE, 2 | 4},
    [DLS_JOINT_DISTANCE] = {{SIGN_DOT, SIGN_DOT}, LINE_ROD, 0},
    [DLS_JOINT_SPRING] = {{SIGN_DOT, SIGN_DOT}, LINE_COIL, 0},
    [DLS_JOINT_BUSHING] = {{SIGN_DOT, SIGN_FRAME}, LINE_COIL, 0},
    [DLS_JOINT_GEAR] = {{SIGN_RING, SIGN_RING}, LINE_DASHES, 0},
    [DLS_JOINT_RACK] = {{SIGN_RING, SIGN_FRAME}, LINE_DASHES, 0},
    [DLS_JOINT_ROLLING] = {{SIGN_NONE, SIGN_RING}, LINE_NONE, 0},
    [DLS_JOINT_ROLLING_BALL] = {{SIGN_NONE, SIGN_DOT}, LINE_NONE, 0},
};

static void set_ink(cairo_t *cr) { cairo_set_source_rgb(cr, 0.1, 0.1, 0.1); }

/* Frames lie along the axis that is slid along. */
static void draw_sign(joint_sign sign, double x, double y, const double *axis, double size, cairo_t *cr) {
    double half = sign == SIGN_DOT ? 0.7 * size : size, wide = sign == SIGN_FRAME ? 1.9 * size : size;
    if (sign == SIGN_NONE) return;
    cairo_save(cr);
    cairo_translate(cr, x, y);
    if (sign == SIGN_FRAME) cairo_rotate(cr, atan2(-axis[1], axis[0]));
    if (sign == SIGN_DOT || sign == SIGN_RING)
        cairo_arc(cr, 0, 0, half, 0, 6.283185307179586);
    else
        cairo_rectangle(cr, -wide, -half, 2 * wide, 2 * half);
    cairo_restore(cr);
    if (sign == SIGN_RING || sign == SIGN_FRAME)
        cairo_set_source_rgb(cr, 1, 1, 1);
    else
        set_ink(cr);
    cairo_fill_preserve(cr);
    set_ink(cr);
    cairo_stroke(cr);
}

/* A zigzag with straight ends; a line where there is no room for it. */
static void trace_coil(const double *from, const double *to, double size, cairo_t *cr) {
    enum { TEETH = 8 };
    double dx = to[0] - from[0], dy = to[1] - from[1], length = hypot(dx, dy), wide = 1.3 * size;
    cairo_move_to(cr, from[0], from[1]);
    for (int k = 0; k < TEETH && length > 6 * size; k++) {
        double along = 0.2 + 0.6 * (k + 0.5) / TEETH, side = (k % 2 ? wide : -wide) / length;
        if (k == 0) cairo_line_to(cr, from[0] + 0.2 * dx, from[1] + 0.2 * dy);
        cairo_line_to(cr, from[0] + along * dx - side * dy, from[1] + along * dy + side * dx);
        if (k == TEETH - 1) cairo_line_to(cr, from[0] + 0.8 * dx, from[1] + 0.8 * dy);
    }
    cairo_line_to(cr, to[0], to[1]);
}

/* A barrel, and the rod that comes out of it. */
static void trace_cylinder(const double *from, const double *to, double size, cairo_t *cr) {
    static const double BARREL = 0.55;
    cairo_save(cr);
    cairo_set_line_width(cr, 1.2 * size);
    cairo_move_to(cr, from[0], from[1]);
    cairo_line_to(cr, from[0] + BARREL * (to[0] - from[0]), from[1] + BARREL * (to[1] - from[1]));
    cairo_stroke(cr);
    cairo_restore(cr);
    cairo_move_to(cr, from[0], from[1]);
    cairo_line_to(cr, to[0], to[1]);
}

static void draw_line(joint_line line, bool rope, const double *from, const double *to, double size,
                      cairo_t *cr) {
    const double dashes[2] = {2.4, 1.6};
    if (line == LINE_NONE) return;
    if (line == LINE_DASHES || rope) cairo_set_dash(cr, dashes, 2, 0);
    if (line == LINE_COIL)
        trace_coil(from, to, size, cr);
    else if (line == LINE_CYLINDER)
        trace_cylinder(from, to, size, cr);
    else {
        cairo_move_to(cr, from[0], from[1]);
        cairo_line_to(cr, to[0], to[1]);
    }
    cairo_stroke(cr);
    cairo_set_dash(cr, NULL, 0, 0);
}

void picture_mark_draw(const picture_joint *joint, const picture_map *map, cairo_t *cr) {
    const joint_look *look = &looks[joint->kind];
    double at[2][2], reach = 4 * map->mark;
    for (int side = 0; side < 2; side++) {
        at[side][0] = picture_map_x(map, joint->place[side][0]);
        at[side][1] = picture_map_y(map, joint->place[side][1]);
    }
    cairo_set_line_width(cr, 0.3 * map->mark);
    set_ink(cr);
    bool driven = look->line == LINE_COIL && !joint->sprung; /* by a motor, a servo or a drive */
    draw_line(driven ? LINE_CYLINDER : look->line, joint->rope, at[0], at[1], map->mark, cr);
    for (int k = 0; k < 3; k++) {
        double x = reach * joint->axis[k][0], y = -reach * joint->axis[k][1];
        if (!(look->axes >> k & 1)) continue;
        cairo_move_to(cr, at[1][0] - x, at[1][1] - y);
        cairo_line_to(cr, at[1][0] + x, at[1][1] + y);
        cairo_stroke(cr);
    }
    for (int side = 0; side < 2; side++)
        draw_sign(look->sign[side], at[side][0], at[side][1], joint->axis[0], map->mark, cr);
}
