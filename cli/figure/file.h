/* A drawing as PATH.svg and PATH.png, each aside and then renamed: both or neither. */
#ifndef CLI_FIGURE_FILE_H
#define CLI_FIGURE_FILE_H

#include <cairo.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct figure_drawing {
    double width_inches, height_inches;
    const char *title;       /* or NULL */
    const char *description; /* the words of the drawing, for searches and screen readers */
    /* Called twice, with lengths in points. A layout that needs to measure text is made in a context from
     * figure_context_open. */
    void (*draw)(const void *self, cairo_t *cr);
    const void *self;
} figure_drawing;

/* False, and the message filled, for sides beyond what a page can be. */
bool figure_size_is_printable(const figure_drawing *drawing, char *message, size_t message_size);

bool figure_file_write(const figure_drawing *drawing, const char *path_without_extension, char *message,
                       size_t message_size);

/* A context in which text has the widths that it will have in both files. */
cairo_t *figure_context_open(cairo_surface_t *surface);

/* False, and the message filled, unless the status is success. */
bool figure_drawing_succeeded(cairo_status_t status, char *message, size_t message_size);

#endif
