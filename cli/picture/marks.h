/* Marks of joints: a sign for what each kind holds, as large on every page. */
#ifndef CLI_PICTURE_MARKS_H
#define CLI_PICTURE_MARKS_H

#include "cli/picture/items.h"

#include <cairo.h>

/* How a place on the page plane, in metres, comes to the page. */
typedef struct picture_map {
    double scale, origin[2], low[2];
    double mark; /* points: half of a mark's width */
} picture_map;

static inline double picture_map_x(const picture_map *m, double x) {
    return m->origin[0] + m->scale * (x - m->low[0]);
}
static inline double picture_map_y(const picture_map *m, double y) {
    return m->origin[1] - m->scale * (y - m->low[1]);
}

void picture_mark_draw(const picture_joint *joint, const picture_map *map, cairo_t *cr);

#endif
