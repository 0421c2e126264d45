#include "cli/figure/figure.h"

#include "cli/figure/file.h"
#include "cli/figure/page.h"

#include <stdio.h>
#include <stdlib.h>

static void describe_line(FILE *to, const char *kind, const char *text) {
    if (text && *text) fprintf(to, "\n%s: %s", kind, text);
}

/* The words of the figure, in memory of its own; NULL when there is none. */
static char *describe(const figure *f) {
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    if (!to) return NULL;
    describe_line(to, "x", f->x.label);
    describe_line(to, "y", f->y.label);
    for (size_t k = 0; k < f->series_count; k++) describe_line(to, "series", f->series[k].name);
    for (size_t k = 0; k < f->mark_count; k++) describe_line(to, "mark", f->marks[k].label);
    fclose(to);
    return text;
}

static bool lay_out(figure_page *page, const figure *f, char *message, size_t message_size) {
    cairo_surface_t *scratch = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
    cairo_t *cr = figure_context_open(scratch);
    const bool enough = figure_page_layout(page, f, cr);
    const cairo_status_t status = enough ? cairo_status(cr) : CAIRO_STATUS_NO_MEMORY;
    cairo_destroy(cr);
    cairo_surface_destroy(scratch);
    return figure_drawing_succeeded(status, message, message_size);
}

static void draw(const void *page, cairo_t *cr) { figure_page_draw(page, cr); }

bool figure_page_write(figure_page *page, const char *path_without_extension, char *message,
                       size_t message_size) {
    const double points_per_inch = 72;
    const figure *f = page->figure;
    const double width = f->width_inches != 0 ? f->width_inches : FIGURE_COLUMN_WIDTH;
    const double height = f->height_inches != 0 ? f->height_inches : FIGURE_DEFAULT_HEIGHT;
    page->width = points_per_inch * width;
    page->height = points_per_inch * height;
    char *words = describe(f);
    const figure_drawing drawing = {width, height, f->title, words ? words : "", draw, page};
    const bool ok = figure_size_is_printable(&drawing, message, message_size) &&
                    lay_out(page, f, message, message_size) &&
                    figure_file_write(&drawing, path_without_extension, message, message_size);
    figure_page_release(page);
    free(words);
    return ok;
}

bool figure_write(const figure *f, const char *path_without_extension, char *message, size_t message_size) {
    figure_page page = {.figure = f};
    return figure_page_write(&page, path_without_extension, message, message_size);
}
