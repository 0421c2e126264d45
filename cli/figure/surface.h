/* A function of two variables as a surface in space, with lines and points laid on it: SVG and PNG. */
#ifndef CLI_FIGURE_SURFACE_H
#define CLI_FIGURE_SURFACE_H

#include "cli/figure/figure.h"

typedef struct figure_surface {
    const char *title;
    figure_axis x, y, z; /* linear; x and y with a range, z automatic where it has none */
    double (*height)(double x, double y, const void *user);
    const void *user;
    const figure_series *series; /* their z is the height */
    size_t series_count;
    double width_inches, height_inches;
} figure_surface;

/* As figure_write. */
bool figure_surface_write(const figure_surface *f, const char *path_without_extension, char *message,
                          size_t message_size);

#endif
