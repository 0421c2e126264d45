#include "cli/figure/page.h"

#include <delassus/base.h>

#include <string.h>

/* A stretch of text at one level: -1 lowered, 0 on the line, 1 raised. */
typedef struct text_run {
    char bytes[128];
    int level;
} text_run;

/* Takes the next run from *text, with '?' for what is not UTF-8; false at the end. `level` carries over. */
static bool next_run(const char **text, int *level, text_run *run) {
    size_t used = 0;
    const char *p = *text;
    while (*p && used + 4 < sizeof run->bytes) {
        const bool opens = (p[0] == '^' || p[0] == '_') && p[1] == '{' && *level == 0;
        const bool closes = p[0] == '}' && *level != 0;
        if (opens || closes) {
            if (used) break;
            *level = closes ? 0 : p[0] == '^' ? 1 : -1;
            p += opens ? 2 : 1;
            continue;
        }
        const size_t length = dls_utf8_length(p);
        const bool drawable = length > 0 && (unsigned char)*p >= 0x20;
        if (drawable)
            memcpy(run->bytes + used, p, length);
        else
            run->bytes[used] = '?';
        used += drawable ? length : 1;
        p += length ? length : 1;
    }
    run->bytes[used] = 0;
    run->level = *level;
    *text = p;
    return used > 0;
}

/* Runs through the text from (x, y), showing it if asked; returns its width. */
static double run_through(cairo_t *cr, const char *text, double size, double x, double y, bool show) {
    const double script_size = 0.72, script_rise = 0.38, script_drop = 0.16;
    text_run run;
    int level = 0;
    double pen = x;
    cairo_select_font_face(cr, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
    while (next_run(&text, &level, &run)) {
        cairo_text_extents_t extents;
        cairo_set_font_size(cr, run.level ? script_size * size : size);
        cairo_text_extents(cr, run.bytes, &extents);
        if (show) {
            const double shift = run.level > 0 ? -script_rise : run.level < 0 ? script_drop : 0;
            cairo_move_to(cr, pen, y + shift * size);
            cairo_show_text(cr, run.bytes);
        }
        pen += extents.x_advance;
    }
    return pen - x;
}

double figure_text_width(cairo_t *cr, const char *text, double size) {
    return text ? run_through(cr, text, size, 0, 0, false) : 0;
}

void figure_text_draw(cairo_t *cr, const char *text, double size, double x, double y, double align,
                      double room) {
    if (!text) return;
    double width = figure_text_width(cr, text, size);
    if (width > room) {
        size *= room / width;
        width = room;
    }
    run_through(cr, text, size, x - align * width, y, true);
}
