#include "cli/figure/page.h"
#include "cli/support/report.h"

#include <stdlib.h>

/* Thinning keeps what can be seen.
 * - A line that advances over the page: of the consecutive points that fall into one narrow column the first,
 * the last, the lowest and the highest stay.
 * - A line that turns round and round: a point stays where the line would otherwise leave a narrow sleeve.
 * - A line that does neither, a tangle: pieces of equal numbers of points keep their extremes to all four
 * sides.
 * - A cloud of points: one per small cell stays. */
static const double column_width = 0.24; /* a pixel at 300 dots per inch */
static const double sleeve_radius = 0.06;
static const double cell_width = 1.0;
static const size_t cloud_from = 2000;

static void push(figure_trace *trace, double x, double y, bool start) {
    trace->vertex = report_grow(trace->vertex, trace->count, sizeof *trace->vertex);
    trace->vertex[trace->count++] = (figure_vertex){x, y, start};
}

/* ---- every point ---- */

/* A step curve keeps its value up to an x whose y has no place; an x without a place belongs to no step. */
static void trace_all(figure_trace *trace, const figure_page *page, const figure_series *series) {
    const bool steps = series->style == FIGURE_STEPS;
    bool lifted = true;
    for (size_t i = 0; i < series->count; i++) {
        const double x = figure_ruler_place(&page->x, series->x[i]);
        const double y = figure_ruler_place(&page->y, series->y[i]);
        if (!isnan(x) && !isnan(y)) {
            push(trace, x, y, lifted);
            lifted = false;
        } else if (steps && !isnan(x) && !lifted) {
            push(trace, x, trace->vertex[trace->count - 1].y, false);
            lifted = true;
        } else if (!steps) {
            lifted = true;
        }
    }
    trace->held = steps && !lifted;
}

/* ---- pieces of a line: a column each, or so many points each ---- */

enum { FIRST, LAST, HIGHEST, LOWEST, LEFTMOST, RIGHTMOST, EXTREMES };

typedef struct extreme {
    size_t index;
    double x, y;
} extreme;

/* Consecutive points to be replaced by their extremes. */
typedef struct piece {
    extreme extremes[EXTREMES];
    size_t points, stride;
    double column;
    bool start;
} piece;

static void piece_add(piece *p, extreme e) {
    if (p->points == 0)
        for (int k = 0; k < EXTREMES; k++) p->extremes[k] = e;
    p->points++;
    p->extremes[LAST] = e;
    if (e.y < p->extremes[HIGHEST].y) p->extremes[HIGHEST] = e;
    if (e.y > p->extremes[LOWEST].y) p->extremes[LOWEST] = e;
    if (e.x < p->extremes[LEFTMOST].x) p->extremes[LEFTMOST] = e;
    if (e.x > p->extremes[RIGHTMOST].x) p->extremes[RIGHTMOST] = e;
}

static int compare_extremes(const void *a, const void *b) {
    const size_t i = ((const extreme *)a)->index, j = ((const extreme *)b)->index;
    return (i > j) - (i < j);
}

static void piece_flush(piece *p, figure_trace *trace) {
    const size_t kept = p->stride ? EXTREMES : LEFTMOST;
    bool start = p->start;
    qsort(p->extremes, kept, sizeof *p->extremes, compare_extremes);
    for (size_t k = 0; k < kept && p->points; k++) {
        if (k > 0 && p->extremes[k].index == p->extremes[k - 1].index) continue;
        push(trace, p->extremes[k].x, p->extremes[k].y, start);
        start = false;
    }
    p->points = 0;
}

static double column_of(const figure_page *page, double x) {
    return floor((x - page->plot.x) / column_width);
}

/* A stride of 0 makes a piece of every column. */
static void trace_pieces(figure_trace *trace, const figure_page *page, const figure_series *series,
                         size_t stride) {
    piece p = {.stride = stride, .start = true};
    bool gap = true;
    for (size_t i = 0; i < series->count; i++) {
        const extreme e = {i, figure_ruler_place(&page->x, series->x[i]),
                           figure_ruler_place(&page->y, series->y[i])};
        if (isnan(e.x) || isnan(e.y)) {
            gap = true;
            continue;
        }
        const double column = column_of(page, e.x);
        const bool same = stride ? p.points < stride : column == p.column;
        if (p.points > 0 && !same) piece_flush(&p, trace);
        if (p.points == 0) {
            p.start = gap;
            p.column = column;
        }
        piece_add(&p, e);
        gap = false;
    }
    trace->held = series->style == FIGURE_STEPS && !gap;
    piece_flush(&p, trace);
}

/* ---- the sleeve: directions from an anchor that pass every point since by less than the radius ---- */

typedef struct sleeve {
    double anchor_x, anchor_y;
    double x, y;            /* latest point */
    double reach;           /* farthest from the anchor so far */
    double base, low, high; /* angle of the first direction; the others relative to it */
    bool open, aimed;
} sleeve;

static void sleeve_start(sleeve *s, double x, double y) {
    *s = (sleeve){.anchor_x = x, .anchor_y = y, .x = x, .y = y, .open = true};
}

/* False, and nothing changed, if the point does not lie ahead in the sleeve. */
static bool sleeve_extend(sleeve *s, double x, double y) {
    const double dx = x - s->anchor_x, dy = y - s->anchor_y, distance = hypot(dx, dy);
    if (distance < s->reach - sleeve_radius) return false;
    if (distance > sleeve_radius) {
        const double angle = atan2(dy, dx), spread = asin(sleeve_radius / distance);
        const double turn = s->aimed ? remainder(angle - s->base, 2 * M_PI) : 0;
        if (s->aimed && (turn < s->low || turn > s->high)) return false;
        s->base = s->aimed ? s->base : angle;
        s->low = s->aimed ? fmax(s->low, turn - spread) : -spread;
        s->high = s->aimed ? fmin(s->high, turn + spread) : spread;
        s->aimed = true;
    }
    s->reach = fmax(s->reach, distance);
    s->x = x;
    s->y = y;
    return true;
}

/* Stops, false, when more vertices stay than allowed. */
static bool trace_sleeve(figure_trace *trace, const figure_page *page, const figure_series *series,
                         size_t allowed) {
    sleeve s = {0};
    for (size_t i = 0; i <= series->count && trace->count <= allowed; i++) {
        const bool end = i == series->count;
        const double x = end ? nan("") : figure_ruler_place(&page->x, series->x[i]);
        const double y = end ? nan("") : figure_ruler_place(&page->y, series->y[i]);
        const bool gap = isnan(x) || isnan(y);
        if (s.open && !gap && sleeve_extend(&s, x, y)) continue;
        if (s.open) push(trace, s.x, s.y, false);
        if (!gap && !s.open) push(trace, x, y, true);
        if (gap) {
            s.open = false;
        } else if (s.open) {
            sleeve_start(&s, s.x, s.y);
            sleeve_extend(&s, x, y);
        } else {
            sleeve_start(&s, x, y);
        }
    }
    return trace->count <= allowed;
}

/* ---- lines of very many points ---- */

static size_t count_column_changes(const figure_page *page, const figure_series *series) {
    size_t changes = 0;
    double column = nan("");
    for (size_t i = 0; i < series->count; i++) {
        const double next = column_of(page, figure_ruler_place(&page->x, series->x[i]));
        if (isnan(next) || next == column) continue;
        changes++;
        column = next;
    }
    return changes;
}

static void trace_thinned(figure_trace *trace, const figure_page *page, const figure_series *series,
                          size_t columns) {
    const bool advances = series->style == FIGURE_STEPS || series->style == FIGURE_BARS ||
                          count_column_changes(page, series) <= 2 * columns;
    trace->dense = true;
    if (!advances && trace_sleeve(trace, page, series, 16 * columns)) return;
    trace->count = 0;
    trace_pieces(trace, page, series, advances ? 0 : series->count / columns + 1);
}

/* ---- clouds of very many points ---- */

static void trace_cloud(figure_trace *trace, const figure_page *page, const figure_series *series) {
    const size_t across = (size_t)(page->plot.width / cell_width) + 2;
    const size_t down = (size_t)(page->plot.height / cell_width) + 2;
    bool *taken = report_allocate(across * down, sizeof *taken);
    for (size_t i = 0; i < series->count; i++) {
        const double x = figure_ruler_place(&page->x, series->x[i]);
        const double y = figure_ruler_place(&page->y, series->y[i]);
        if (!figure_rect_holds(page->plot, x, y)) continue;
        const size_t column = (size_t)(fmax(x - page->plot.x, 0) / cell_width);
        const size_t row = (size_t)(fmax(y - page->plot.y, 0) / cell_width);
        bool *cell = &taken[row * across + column];
        if (!*cell) push(trace, x, y, true);
        *cell = true;
    }
    free(taken);
    trace->dense = true;
}

void figure_trace_build(figure_trace *trace, const figure_page *page, const figure_series *series) {
    const size_t columns = (size_t)ceil(page->plot.width / column_width) + 1;
    *trace = (figure_trace){.vertex = trace->vertex};
    const bool points = figure_series_is_points(series);
    if (points && series->count > cloud_from)
        trace_cloud(trace, page, series);
    else if (!points && series->count > 4 * columns)
        trace_thinned(trace, page, series, columns);
    else
        trace_all(trace, page, series);
}
