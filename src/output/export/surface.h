/* Surfaces of shapes as points, polygons and lines, for those who draw them. */
#ifndef OUTPUT_EXPORT_SURFACE_H
#define OUTPUT_EXPORT_SURFACE_H

#include <delassus/world.h>

/* Points of three numbers; cells as counts of corners and the corners one after the other. */
typedef struct dls_surface {
    int point_count;
    int64_t point_room; /* of coordinates */
    double *points;
    int cell_count;
    int64_t cell_room;
    int *cell_size; /* 2 or more corners of a line where negative, of a polygon where positive */
    int corner_count;
    int64_t corner_room;
    int *corners;
    bool is_out_of_memory;
} dls_surface;

void dls_surface_clear(dls_surface *surface); /* keeps the memory */
void dls_surface_free(dls_surface *surface);

/* Adds the shape in its own frame. sides: of a full circle. Endless shapes are drawn as far as reach about
 * the point `middle` of the shape's frame. */
void dls_surface_add(dls_surface *surface, const dls_shape_def *shape, int sides, double reach,
                     const double *middle);

#endif
