#include "cli/figure/page.h"

/* ---- looks: a colour, a dash pattern and a marker that together survive colour blindness and grey print
 * ---- */

typedef struct colour {
    double red, green, blue;
} colour;

typedef enum marker_shape { DISC, SQUARE, TRIANGLE, DIAMOND, NABLA, SHAPES } marker_shape;

typedef struct look {
    colour colour;
    double width; /* of lines */
    const double *dashes;
    int dash_count;
    marker_shape shape;
    bool hollow;
} look;

/* Okabe and Ito's palette without its yellow, too pale for thin lines on white. */
static const colour palette[] = {
    {0.000, 0.447, 0.698}, /* blue */
    {0.835, 0.369, 0.000}, /* vermilion */
    {0.000, 0.620, 0.451}, /* bluish green */
    {0.800, 0.475, 0.655}, /* reddish purple */
    {0.902, 0.624, 0.000}, /* orange */
    {0.337, 0.706, 0.914}, /* sky blue */
    {0.000, 0.000, 0.000}, /* black */
};

static const double dashed[] = {4.5, 1.7}, dash_dotted[] = {5, 1.5, 1.1, 1.5}, dotted[] = {1.3, 1.3};
static const double marker_radius = 1.75;

/* Even steps of lightness from blue to yellow, as in the map viridis. */
static const colour heights[] = {
    {0.267, 0.005, 0.329}, {0.230, 0.322, 0.546}, {0.128, 0.567, 0.551},
    {0.369, 0.789, 0.383}, {0.993, 0.906, 0.144},
};

static colour shade(double share) {
    const int last = sizeof heights / sizeof *heights - 1;
    const double at = fmin(fmax(share, 0), 1) * last;
    const int k = at < last ? (int)at : last - 1;
    const double t = at - k;
    const colour a = heights[k], b = heights[k + 1];
    return (colour){a.red + t * (b.red - a.red), a.green + t * (b.green - a.green),
                    a.blue + t * (b.blue - a.blue)};
}

void figure_shade_set(cairo_t *cr, double share, double opacity) {
    const colour c = shade(share);
    cairo_set_source_rgba(cr, c.red, c.green, c.blue, opacity);
}

static look look_of(const figure *f, size_t series) {
    static const struct {
        const double *dashes;
        int count;
    } patterns[] = {{NULL, 0}, {dashed, 2}, {dash_dotted, 4}, {dotted, 2}};
    const double legible = 0.85; /* brighter lines vanish on white */
    if (f->series[series].style == FIGURE_CELLS)
        return (look){.colour = shade((double)f->series[series].look / 100)};
    if (f->series[series].style == FIGURE_CONTOUR)
        return (look){.colour = shade(legible * (double)f->series[series].look / 100),
                      .width = FIGURE_THIN_WIDTH};
    const size_t k = f->series[series].look ? f->series[series].look - 1 : series;
    const size_t pattern = k % 4;
    return (look){palette[k % 7],          FIGURE_LINE_WIDTH,          patterns[pattern].dashes,
                  patterns[pattern].count, (marker_shape)(k % SHAPES), k % 2 == 1};
}

static void set_colour(cairo_t *cr, colour c) { cairo_set_source_rgb(cr, c.red, c.green, c.blue); }

static void set_line(cairo_t *cr, const look *l) {
    set_colour(cr, l->colour);
    cairo_set_line_width(cr, l->width);
    cairo_set_line_cap(cr, CAIRO_LINE_CAP_BUTT);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    cairo_set_dash(cr, l->dashes, l->dash_count, 0);
}

/* ---- markers ---- */

static void polygon(cairo_t *cr, double x, double y, double radius, int corners, double turn) {
    for (int k = 0; k < corners; k++) {
        const double angle = 2 * M_PI * (k + turn) / corners;
        cairo_line_to(cr, x + radius * sin(angle), y - radius * cos(angle));
    }
    cairo_close_path(cr);
}

static void draw_marker(cairo_t *cr, const look *l, double x, double y) {
    cairo_new_path(cr);
    switch (l->shape) {
    case SQUARE:
        polygon(cr, x, y, 1.25 * marker_radius, 4, 0.5);
        break;
    case TRIANGLE:
        polygon(cr, x, y, 1.35 * marker_radius, 3, 0);
        break;
    case DIAMOND:
        polygon(cr, x, y, 1.35 * marker_radius, 4, 0);
        break;
    case NABLA:
        polygon(cr, x, y, 1.35 * marker_radius, 3, 0.5);
        break;
    default:
        cairo_arc(cr, x, y, marker_radius, 0, 2 * M_PI);
        break;
    }
    if (l->hollow)
        cairo_set_source_rgb(cr, 1, 1, 1);
    else
        set_colour(cr, l->colour);
    cairo_fill_preserve(cr);
    set_colour(cr, l->colour);
    cairo_set_line_width(cr, 0.7);
    cairo_set_dash(cr, NULL, 0, 0);
    cairo_stroke(cr);
}

static void draw_ring(cairo_t *cr, const look *l, double x, double y) {
    cairo_new_path(cr);
    cairo_arc(cr, x, y, 2.2 * marker_radius, 0, 2 * M_PI);
    set_colour(cr, l->colour);
    cairo_set_line_width(cr, FIGURE_LINE_WIDTH);
    cairo_set_dash(cr, NULL, 0, 0);
    cairo_stroke(cr);
}

/* Share of the way to the next marker at which a series begins, so that markers of equal curves do not
 * coincide. */
static double stagger(size_t series) {
    const double golden = 0.6180339887498949, shares = 0.25 + golden * (double)series;
    return shares - floor(shares);
}

static const double marker_spacing = 46;

static double length_before(const figure_vertex *v) {
    return v->start ? 0 : fmin(hypot(v->x - v[-1].x, v->y - v[-1].y), 1e3 * marker_spacing);
}

/* On a line markers stand on data: on all of few points, else at least a spacing apart along the line. */
static void draw_line_markers(cairo_t *cr, const figure_page *page, size_t series, const look *l) {
    const figure_trace *trace = &page->traces[series];
    const size_t markers_max = 10;
    const bool every = !trace->dense && trace->count <= FIGURE_FEW;
    double length = 0;
    for (size_t k = 0; k < trace->count; k++) length += length_before(&trace->vertex[k]);
    const double spacing = fmax(marker_spacing, length / (double)markers_max);
    double to_go = stagger(series) * spacing;
    for (size_t k = 0; k < trace->count; k++) {
        const figure_vertex *v = &trace->vertex[k];
        to_go -= length_before(v);
        if (!figure_rect_holds(page->plot, v->x, v->y) || (to_go > 0 && !every)) continue;
        draw_marker(cr, l, v->x, v->y);
        to_go = spacing;
    }
}

/* A step curve has a value everywhere, so its markers are evenly spaced in x. */
static void draw_step_markers(cairo_t *cr, const figure_page *page, size_t series, const look *l) {
    const figure_trace *trace = &page->traces[series];
    const double right = page->plot.x + page->plot.width;
    double x = page->plot.x + stagger(series) * marker_spacing;
    for (size_t k = 0; k < trace->count; k++) {
        const figure_vertex *v = &trace->vertex[k];
        const bool last = k + 1 == trace->count;
        const double end = last ? (trace->held ? right : v->x) : v[1].start ? v->x : fmin(v[1].x, right);
        while (x < v->x) x += marker_spacing;
        for (; x < end; x += marker_spacing)
            if (figure_rect_holds(page->plot, x, v->y)) draw_marker(cr, l, x, v->y);
    }
}

/* Points alone between gaps, or all points of a cloud: round caps of lines without length, cheap in a vector
 * file. */
static void draw_dots(cairo_t *cr, const figure_page *page, size_t series, const look *l, double diameter) {
    const figure_trace *trace = &page->traces[series];
    for (size_t k = 0; k < trace->count; k++) {
        const figure_vertex *v = &trace->vertex[k];
        const bool alone = v->start && (k + 1 == trace->count || v[1].start);
        if (!alone || !figure_rect_holds(page->plot, v->x, v->y)) continue;
        cairo_move_to(cr, v->x, v->y);
        cairo_line_to(cr, v->x, v->y);
    }
    set_colour(cr, l->colour);
    cairo_set_dash(cr, NULL, 0, 0);
    cairo_set_line_cap(cr, CAIRO_LINE_CAP_ROUND);
    cairo_set_line_width(cr, diameter);
    cairo_stroke(cr);
}

static void draw_points(cairo_t *cr, const figure_page *page, size_t series, const look *l) {
    const figure_trace *trace = &page->traces[series];
    const bool rings = page->figure->series[series].style == FIGURE_RINGS;
    const size_t markers_max = 2000;
    if (trace->count > markers_max) {
        draw_dots(cr, page, series, l, 1.8);
        return;
    }
    for (size_t k = 0; k < trace->count; k++)
        if (figure_rect_holds(page->plot, trace->vertex[k].x, trace->vertex[k].y))
            (rings ? draw_ring : draw_marker)(cr, l, trace->vertex[k].x, trace->vertex[k].y);
}

/* ---- lines ---- */

/* Narrows [*enter, *leave] to where a + t d lies within [low, high]. */
static void clip_interval(double a, double d, double low, double high, double *enter, double *leave) {
    if (d == 0) {
        if (a < low || a > high) *leave = -1;
        return;
    }
    const double t = (low - a) / d, u = (high - a) / d;
    *enter = fmax(*enter, fmin(t, u));
    *leave = fmin(*leave, fmax(t, u));
}

typedef struct pen {
    cairo_t *cr;
    figure_rect area;
    double x, y; /* end of the path so far, as clipped */
} pen;

/* Adds the part of a segment within the area, so that no coordinate is too large for Cairo. */
static void pen_segment(pen *p, double x, double y, double to_x, double to_y) {
    const double dx = to_x - x, dy = to_y - y;
    double enter = 0, leave = 1;
    clip_interval(x, dx, p->area.x, p->area.x + p->area.width, &enter, &leave);
    clip_interval(y, dy, p->area.y, p->area.y + p->area.height, &enter, &leave);
    if (enter > leave) return;
    const double start_x = enter > 0 ? x + enter * dx : x, start_y = enter > 0 ? y + enter * dy : y;
    if (start_x != p->x || start_y != p->y) cairo_move_to(p->cr, start_x, start_y);
    p->x = leave < 1 ? x + leave * dx : to_x;
    p->y = leave < 1 ? y + leave * dy : to_y;
    cairo_line_to(p->cr, p->x, p->y);
}

static void draw_line(cairo_t *cr, const figure_page *page, size_t series, const look *l) {
    const figure_trace *trace = &page->traces[series];
    const bool steps = page->figure->series[series].style == FIGURE_STEPS;
    const double edge = 2 * FIGURE_LINE_WIDTH;
    const figure_rect plot = page->plot;
    pen p = {
        cr, {plot.x - edge, plot.y - edge, plot.width + 2 * edge, plot.height + 2 * edge}, nan(""), nan("")};
    for (size_t k = 1; k < trace->count; k++) {
        const figure_vertex *v = &trace->vertex[k];
        if (v->start) continue;
        if (steps) pen_segment(&p, v[-1].x, v[-1].y, v->x, v[-1].y);
        pen_segment(&p, steps ? v->x : v[-1].x, v[-1].y, v->x, v->y);
    }
    if (trace->held) {
        const figure_vertex *v = &trace->vertex[trace->count - 1];
        if (v->x < plot.x + plot.width) pen_segment(&p, v->x, v->y, plot.x + plot.width, v->y);
    }
    set_line(cr, l);
    cairo_stroke(cr);
    if (!trace->held || trace->count > 1) draw_dots(cr, page, series, l, 2 * FIGURE_LINE_WIDTH);
}

/* ---- bars ---- */

void figure_curves_measure_bars(figure_page *page) {
    const figure *f = page->figure;
    const double group_share = 0.8, lone_share = 0.3;
    const double gap = figure_bar_gap(f) / (page->x.high - page->x.low) * page->plot.width;
    page->bar_series = 0;
    for (size_t k = 0; k < f->series_count; k++) page->bar_series += f->series[k].style == FIGURE_BARS;
    const double group = gap > 0 ? group_share * gap : lone_share * page->plot.width;
    page->bar_width = page->bar_series ? group / (double)page->bar_series : 0;
}

/* Paints the rectangles of the current path; every second look with a tint, for grey print. */
static void paint_bars(cairo_t *cr, const look *l, double width) {
    const double tint = l->hollow ? 0.35 : 1, outline = 0.6;
    cairo_set_source_rgb(cr, 1 - tint * (1 - l->colour.red), 1 - tint * (1 - l->colour.green),
                         1 - tint * (1 - l->colour.blue));
    if (width < 2 * outline) {
        cairo_fill(cr);
        return;
    }
    cairo_fill_preserve(cr);
    set_colour(cr, l->colour);
    cairo_set_line_width(cr, outline);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_MITER);
    cairo_set_dash(cr, NULL, 0, 0);
    cairo_stroke(cr);
}

static void draw_bars(cairo_t *cr, const figure_page *page, size_t series, const look *l) {
    const figure_trace *trace = &page->traces[series];
    const figure_rect plot = page->plot;
    const double bottom = plot.y + plot.height, zero = figure_ruler_place(&page->y, 0), thinnest = 0.5;
    const double base = isnan(zero) ? bottom : fmin(fmax(zero, plot.y), bottom);
    size_t slot = 0;
    for (size_t k = 0; k < series; k++) slot += page->figure->series[k].style == FIGURE_BARS;
    const double width = fmax(page->bar_width, thinnest);
    const double shift = ((double)slot - 0.5 * (double)page->bar_series) * page->bar_width;
    for (size_t k = 0; k < trace->count; k++) {
        const figure_vertex *v = &trace->vertex[k];
        const double left = v->x + shift;
        if (left + width < plot.x || left > plot.x + plot.width) continue;
        const double tip = fmin(fmax(v->y, plot.y), bottom);
        cairo_rectangle(cr, left, fmin(tip, base), width, fabs(tip - base));
    }
    paint_bars(cr, l, page->bar_width);
}

/* Where bars begin, if that is not the lower edge. */
static void draw_zero_line(cairo_t *cr, const figure_page *page) {
    const double zero = figure_ruler_place(&page->y, 0);
    if (page->bar_series == 0 || !figure_rect_holds(page->plot, page->plot.x, zero)) return;
    cairo_move_to(cr, page->plot.x, zero);
    cairo_rel_line_to(cr, page->plot.width, 0);
    cairo_set_source_rgb(cr, 0.15, 0.15, 0.15);
    cairo_set_line_width(cr, 0.6);
    cairo_set_dash(cr, NULL, 0, 0);
    cairo_stroke(cr);
}

/* ---- cells ---- */

static void draw_cells(cairo_t *cr, const figure_page *page, size_t series, const look *l) {
    const figure_trace *trace = &page->traces[series];
    const double width = page->plot.width / (page->x.high - page->x.low),
                 height = page->plot.height / (page->y.high - page->y.low), share = 0.94;
    const double lightness = 0.3 * l->colour.red + 0.6 * l->colour.green + 0.1 * l->colour.blue;
    const char *name = page->figure->series[series].name;
    for (size_t k = 0; k < trace->count; k++) {
        const figure_vertex *v = &trace->vertex[k];
        cairo_rectangle(cr, v->x - 0.5 * share * width, v->y - 0.5 * share * height, share * width,
                        share * height);
        set_colour(cr, l->colour);
        cairo_fill(cr);
        if (!name) continue;
        set_colour(cr, lightness > 0.5 ? (colour){0, 0, 0} : (colour){1, 1, 1});
        figure_text_draw(cr, name, FIGURE_TICK_SIZE, v->x, v->y + 0.35 * FIGURE_TICK_SIZE, 0.5,
                         share * width);
    }
}

/* ---- all of them ---- */

/* The clip leaves half a line beyond the plot, for curves that run along its edge. */
static void clip_to_plot(cairo_t *cr, figure_rect plot) {
    const double edge = 0.5 * FIGURE_LINE_WIDTH;
    cairo_rectangle(cr, plot.x - edge, plot.y - edge, plot.width + 2 * edge, plot.height + 2 * edge);
    cairo_clip(cr);
}

static void draw_body(cairo_t *cr, const figure_page *page, size_t series, const look *l) {
    cairo_save(cr);
    clip_to_plot(cr, page->plot);
    if (page->figure->series[series].style == FIGURE_BARS)
        draw_bars(cr, page, series, l);
    else if (page->figure->series[series].style == FIGURE_CELLS)
        draw_cells(cr, page, series, l);
    else
        draw_line(cr, page, series, l);
    cairo_restore(cr);
}

void figure_curves_draw(const figure_page *page, cairo_t *cr) {
    const figure *f = page->figure;
    for (size_t k = 0; k < f->series_count; k++) {
        const look l = look_of(f, k);
        if (!figure_series_is_points(&f->series[k])) draw_body(cr, page, k, &l);
    }
    draw_zero_line(cr, page);
    for (size_t k = 0; k < f->series_count; k++) { /* markers above all lines, and whole at the edge */
        const look l = look_of(f, k);
        if (figure_series_is_points(&f->series[k])) draw_points(cr, page, k, &l);
        if (f->series[k].style == FIGURE_LINE) draw_line_markers(cr, page, k, &l);
        if (f->series[k].style == FIGURE_STEPS) draw_step_markers(cr, page, k, &l);
    }
}

void figure_sample_draw(const figure_page *page, size_t series, cairo_t *cr, double x, double y,
                        double width) {
    const look l = look_of(page->figure, series);
    const figure_style style = page->figure->series[series].style;
    if (style == FIGURE_BARS) {
        const double height = 0.6 * FIGURE_LEGEND_SIZE;
        cairo_rectangle(cr, x + 0.2 * width, y - 0.5 * height, 0.6 * width, height);
        paint_bars(cr, &l, width);
        return;
    }
    if (style == FIGURE_RINGS) {
        draw_ring(cr, &l, x + 0.5 * width, y);
        return;
    }
    if (style != FIGURE_POINTS) {
        cairo_move_to(cr, x, y);
        cairo_line_to(cr, x + width, y);
        set_line(cr, &l);
        cairo_stroke(cr);
    }
    if (style != FIGURE_PLAIN && style != FIGURE_CONTOUR) draw_marker(cr, &l, x + 0.5 * width, y);
}

/* ---- reference lines ---- */

void figure_marks_draw(const figure_page *page, cairo_t *cr) {
    static const double dashes[] = {6, 2};
    const figure_rect plot = page->plot;
    cairo_set_source_rgb(cr, 0.35, 0.35, 0.35);
    cairo_set_line_width(cr, 0.7);
    cairo_set_line_cap(cr, CAIRO_LINE_CAP_BUTT);
    cairo_set_dash(cr, dashes, 2, 0);
    for (size_t k = 0; k < page->figure->mark_count; k++) {
        const figure_mark *mark = &page->figure->marks[k];
        const double at = figure_ruler_place(mark->horizontal ? &page->y : &page->x, mark->value);
        const double x = mark->horizontal ? plot.x : at, y = mark->horizontal ? at : plot.y;
        if (!figure_rect_holds(plot, x, y)) continue;
        cairo_move_to(cr, x, y);
        cairo_rel_line_to(cr, mark->horizontal ? plot.width : 0, mark->horizontal ? 0 : plot.height);
    }
    cairo_stroke(cr);
    cairo_set_dash(cr, NULL, 0, 0);
}
