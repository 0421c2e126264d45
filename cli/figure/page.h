/* Inside of the figure module: a figure laid out on its page. Lengths are points (1/72 inch), y grows
 * downwards.
 *
 * figure_text.c    text with raised and lowered parts
 * figure_ruler.c   an axis: its range, its ticks, where a value falls
 * figure_trace.c   a series as few enough page positions
 * figure_curve.c   how series look: lines, markers, bars
 * figure_layout.c  margins, legend and labels where the curves leave room
 * figure_draw.c    the page itself
 * figure_surface.c a surface in space as backdrop
 * figure.c         all together
 * figure_file.c    the files, of any drawing */
#ifndef CLI_FIGURE_PAGE_H
#define CLI_FIGURE_PAGE_H

#include "cli/figure/figure.h"

#include <cairo.h>
#include <math.h>

#define FIGURE_LABEL_SIZE   8.0
#define FIGURE_TICK_SIZE    7.0
#define FIGURE_TICK_LENGTH  3.0
#define FIGURE_TICK_GAP     2.0
#define FIGURE_LEGEND_SIZE  7.0
#define FIGURE_LEGEND_ROW   9.6
#define FIGURE_SAMPLE_WIDTH 19.0
#define FIGURE_SAMPLE_GAP   4.0
#define FIGURE_LEGEND_PAD   3.0
#define FIGURE_COLUMN_GAP   9.0
#define FIGURE_LINE_WIDTH   1.1
#define FIGURE_THIN_WIDTH   0.6
#define FIGURE_FEW          16 /* points of a line that all get a marker */

enum { FIGURE_MAJOR_MAX = 128, FIGURE_MINOR_MAX = 1024, FIGURE_TICK_TEXT = 64 };

typedef struct figure_rect {
    double x, y, width, height;
} figure_rect;

/* ---- text ---- */

/* Returns the width the text takes. */
double figure_text_width(cairo_t *cr, const char *text, double size);

/* Draws with the baseline at (x, y); align 0, 1/2, 1 puts x at the start, middle or end of the text.
 * A text wider than `room` is set smaller to fit. */
void figure_text_draw(cairo_t *cr, const char *text, double size, double x, double y, double align,
                      double room);

/* ---- axes ---- */

typedef struct figure_tick {
    double at; /* in scale units, see figure_ruler */
    char text[FIGURE_TICK_TEXT];
} figure_tick;

/* Scale units are the value itself, or its decimal logarithm on a logarithmic axis. */
typedef struct figure_ruler {
    figure_scale scale;
    bool horizontal;
    double low, high;      /* in scale units */
    double origin, length; /* position of low on the page; signed distance to that of high */
    figure_tick major[FIGURE_MAJOR_MAX];
    size_t major_count;
    double minor[FIGURE_MINOR_MAX];
    size_t minor_count;
    char factor[2 * FIGURE_TICK_TEXT]; /* value = tick text x 10^n + offset, when the texts are so abridged */
} figure_ruler;

/* In scale units; NaN when the value has no place on such an axis. */
double figure_scale_value(figure_scale scale, double value);

/* Smallest distance between neighbouring bars, in scale units of the x axis; 0 when no two differ. */
double figure_bar_gap(const figure *f);

void figure_ruler_set_range(figure_ruler *ruler, const figure *f, bool horizontal);
void figure_ruler_graduate(figure_ruler *ruler, cairo_t *cr, double origin, double length);

/* Page position of a value, NaN when it has none; and of a place in scale units. */
double figure_ruler_place(const figure_ruler *ruler, double value);
double figure_ruler_position(const figure_ruler *ruler, double at);

/* ---- series ---- */

typedef struct figure_vertex {
    double x, y;
    bool start; /* not joined to the vertex before */
} figure_vertex;

typedef struct figure_trace {
    figure_vertex *vertex;
    size_t count;
    bool held;  /* steps: the last value goes on to the right edge */
    bool dense; /* thinned out: the vertices are no longer the data */
} figure_trace;

static inline bool figure_series_is_points(const figure_series *series) {
    return series->style == FIGURE_POINTS || series->style == FIGURE_RINGS;
}

/* ---- page ---- */

typedef enum figure_legend_place {
    FIGURE_LEGEND_NONE,
    FIGURE_LEGEND_INSIDE,
    FIGURE_LEGEND_RIGHT,
    FIGURE_LEGEND_BELOW
} figure_legend_place;

typedef struct figure_legend {
    figure_legend_place place;
    figure_rect box;
    size_t entries, rows; /* the entries fill one column after the other */
    double shrink;
} figure_legend;

typedef struct figure_page figure_page;

struct figure_page {
    const figure *figure;
    double width, height;
    figure_rect plot;
    figure_ruler x, y;
    figure_trace *traces; /* one per series */
    figure_rect *notes;   /* where the labels of the marks stand, one each; width 0: nowhere */
    figure_legend legend;
    double bar_width;
    size_t bar_series;
    /* What stands below the series instead of a frame with ticks, in the same axes; NULL for a chart. */
    void (*backdrop)(const figure_page *page, cairo_t *cr);
    const void *scene; /* of the backdrop */
};

void figure_trace_build(figure_trace *trace, const figure_page *page, const figure_series *series);
/* False when memory is short. */
bool figure_page_layout(figure_page *page, const figure *f, cairo_t *cr);
/* Lays out, draws and writes a page that has its figure and backdrop. */
bool figure_page_write(figure_page *page, const char *path_without_extension, char *message,
                       size_t message_size);
void figure_page_release(figure_page *page);
void figure_page_draw(const figure_page *page, cairo_t *cr);

void figure_curves_measure_bars(figure_page *page);
void figure_curves_draw(const figure_page *page, cairo_t *cr);
void figure_marks_draw(const figure_page *page, cairo_t *cr);

/* Width of the legend's column that begins with the given entry. */
double figure_legend_column(const figure_page *page, cairo_t *cr, size_t first);

/* The sample of a series beside its name in the legend, in a box with its middle at height y. */
void figure_sample_draw(const figure_page *page, size_t series, cairo_t *cr, double x, double y,
                        double width);

/* Sets a colour of the scale for heights, dark at 0 and bright at 1. */
void figure_shade_set(cairo_t *cr, double share, double opacity);

static inline bool figure_rect_holds(figure_rect r, double x, double y) {
    const double slack = 1e-6;
    return x >= r.x - slack && x <= r.x + r.width + slack && y >= r.y - slack && y <= r.y + r.height + slack;
}

#endif
