#include "cli/figure/surface.h"

#include "cli/figure/page.h"

#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 36 };

/* The eye looks down on the box from the corner where x is high and y is low. */
static const double azimuth = 0.50, elevation = 0.68, flatness = 0.8;
static const double margin_left = 0.13, margin_right = 0.05, margin_bottom = 0.07, margin_top = 0.02;

typedef struct place {
    double x, y; /* shares of the page's plot, from the lower left */
} place;

typedef struct scene {
    const figure_surface *surface;
    double z_low, z_high;
} scene;

/* ---- projection ---- */

/* From shares of the three axes; parallel, so that equal lengths stay equal. */
static place project_shares(double a, double b, double c) {
    const double along = cos(azimuth), across = sin(azimuth), half = 0.5 * (along + across);
    const double rise = cos(elevation) * flatness, tilt = sin(elevation);
    const double x = (a - 0.5) * along + (b - 0.5) * across, away = (b - 0.5) * along - (a - 0.5) * across;
    const double y = tilt * away + rise * (c - 0.5), top = tilt * half + 0.5 * rise;
    return (place){margin_left + (1 - margin_left - margin_right) * (0.5 + 0.5 * x / half),
                   margin_bottom + (1 - margin_bottom - margin_top) * (0.5 + 0.5 * y / top)};
}

static double share_of(double low, double high, double value) {
    return fmin(fmax((value - low) / (high - low), 0), 1);
}

static double height_share(const scene *s, double x, double y) {
    return share_of(s->z_low, s->z_high, s->surface->height(x, y, s->surface->user));
}

static place project(const scene *s, double x, double y) {
    const figure_axis *ax = &s->surface->x, *ay = &s->surface->y;
    return project_shares((x - ax->low) / (ax->high - ax->low), (y - ay->low) / (ay->high - ay->low),
                          height_share(s, x, y));
}

static void line_to(const figure_page *page, cairo_t *cr, place p) {
    cairo_line_to(cr, figure_ruler_place(&page->x, p.x), figure_ruler_place(&page->y, p.y));
}

/* ---- the box ---- */

static void stroke(cairo_t *cr, double grey, double width) {
    cairo_set_source_rgb(cr, grey, grey, grey);
    cairo_set_line_width(cr, width);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    cairo_set_dash(cr, NULL, 0, 0);
    cairo_stroke(cr);
}

static void add_path(const figure_page *page, cairo_t *cr, const double (*corners)[3], int count) {
    cairo_new_sub_path(cr);
    for (int k = 0; k < count; k++)
        line_to(page, cr, project_shares(corners[k][0], corners[k][1], corners[k][2]));
}

/* An edge of the box that carries ticks: from where, which way, and which way is out. */
typedef struct edge {
    double from[3], along[3], out[3];
    double text_align; /* 0: the texts begin at the ticks, 1: they end there */
    bool below;        /* texts hang below the ticks instead of standing beside them */
} edge;

static const edge edges[] = {
    {{0, 0, 0}, {1, 0, 0}, {0, -1, 0}, 0.75, true},
    {{1, 0, 0}, {0, 1, 0}, {1, 0, 0}, 0.1, true},
    {{0, 0, 0}, {0, 0, 1}, {-1, 0, 0}, 1, false},
};

static place edge_place(const edge *e, double share, double outward) {
    return project_shares(e->from[0] + share * e->along[0] + outward * e->out[0],
                          e->from[1] + share * e->along[1] + outward * e->out[1],
                          e->from[2] + share * e->along[2] + outward * e->out[2]);
}

/* The grid of one axis on the floor and on the walls behind. */
static void add_grid_line(const figure_page *page, cairo_t *cr, int axis, double share) {
    const double lines[3][3][3] = {{{share, 0, 0}, {share, 1, 0}, {share, 1, 1}},
                                   {{1, share, 0}, {0, share, 0}, {0, share, 1}},
                                   {{0, 0, share}, {0, 1, share}, {1, 1, share}}};
    add_path(page, cr, lines[axis], 3);
}

static void draw_axis(const figure_page *page, cairo_t *cr, int axis, const figure_axis *a, double low,
                      double high) {
    const edge *e = &edges[axis];
    const place from = edge_place(e, 0, 0), to = edge_place(e, 1, 0);
    const double width = page->plot.width, height = page->plot.height;
    const double length = hypot((to.x - from.x) * width, (to.y - from.y) * height);
    const double tick = 0.025, text = 0.05, label = axis == 2 ? 0.20 : 0.21;
    figure_ruler ruler = {.scale = FIGURE_LINEAR, .horizontal = axis < 2, .low = low, .high = high};
    figure_ruler_graduate(&ruler, cr, 0, axis < 2 ? length : -length);
    for (size_t k = 0; k < ruler.major_count; k++)
        add_grid_line(page, cr, axis, (ruler.major[k].at - low) / (high - low));
    stroke(cr, 0.85, 0.4);
    cairo_set_source_rgb(cr, 0, 0, 0);
    for (size_t k = 0; k < ruler.major_count; k++) {
        const place p = edge_place(e, (ruler.major[k].at - low) / (high - low), text);
        figure_text_draw(cr, ruler.major[k].text, FIGURE_TICK_SIZE, figure_ruler_place(&page->x, p.x),
                         figure_ruler_place(&page->y, p.y) + (e->below ? 0.7 : 0.36) * FIGURE_TICK_SIZE,
                         e->text_align, page->width);
    }
    for (size_t k = 0; k < ruler.major_count; k++) {
        const double share = (ruler.major[k].at - low) / (high - low);
        cairo_new_sub_path(cr);
        line_to(page, cr, edge_place(e, share, 0));
        line_to(page, cr, edge_place(e, share, tick));
    }
    stroke(cr, 0.15, 0.5);
    if (!a->label) return;
    const place p = edge_place(e, 0.5, label);
    cairo_set_source_rgb(cr, 0, 0, 0);
    cairo_save(cr);
    cairo_translate(cr, figure_ruler_place(&page->x, p.x), figure_ruler_place(&page->y, p.y));
    cairo_rotate(cr, atan2((from.y - to.y) * height, (to.x - from.x) * width));
    figure_text_draw(cr, a->label, FIGURE_LABEL_SIZE, 0, e->below ? 0.7 * FIGURE_LABEL_SIZE : 0, 0.5,
                     2 * length);
    cairo_restore(cr);
}

static void draw_box(const figure_page *page, const scene *s, cairo_t *cr) {
    static const double back[][3] = {{0, 0, 0}, {0, 0, 1}, {0, 1, 1}, {1, 1, 1}, {1, 1, 0},
                                     {0, 1, 0}, {0, 0, 0}, {1, 0, 0}, {1, 1, 0}};
    static const double corner[][3] = {{0, 1, 0}, {0, 1, 1}};
    draw_axis(page, cr, 0, &s->surface->x, s->surface->x.low, s->surface->x.high);
    draw_axis(page, cr, 1, &s->surface->y, s->surface->y.low, s->surface->y.high);
    draw_axis(page, cr, 2, &s->surface->z, s->z_low, s->z_high);
    add_path(page, cr, back, 9);
    add_path(page, cr, corner, 2);
    stroke(cr, 0.35, 0.5);
}

/* ---- the surface: cells from the far corner to the near one ---- */

static void draw_cell(const figure_page *page, const scene *s, cairo_t *cr, int i, int k) {
    const figure_axis *ax = &s->surface->x, *ay = &s->surface->y;
    const double dx = (ax->high - ax->low) / CELLS, dy = (ay->high - ay->low) / CELLS;
    const double x = ax->low + i * dx, y = ay->low + k * dy;
    const double opacity = 0.93; /* the box shines through a little */
    const double darkest = 0.3;  /* black lines are seen on it */
    line_to(page, cr, project(s, x, y));
    line_to(page, cr, project(s, x + dx, y));
    line_to(page, cr, project(s, x + dx, y + dy));
    line_to(page, cr, project(s, x, y + dy));
    cairo_close_path(cr);
    figure_shade_set(cr, darkest + (1 - darkest) * height_share(s, x + 0.5 * dx, y + 0.5 * dy), opacity);
    cairo_fill_preserve(cr);
    stroke(cr, 0.45, 0.15);
}

static void draw_scene(const figure_page *page, cairo_t *cr) {
    const scene *s = page->scene;
    draw_box(page, s, cr);
    for (int k = CELLS - 1; k >= 0; k--)
        for (int i = 0; i < CELLS; i++) draw_cell(page, s, cr, i, k);
}

/* ---- the page ---- */

static void measure_heights(scene *s) {
    const figure_surface *f = s->surface;
    s->z_low = f->z.low;
    s->z_high = f->z.high;
    if (s->z_low < s->z_high) return;
    s->z_low = HUGE_VAL;
    s->z_high = -HUGE_VAL;
    for (int i = 0; i <= CELLS; i++)
        for (int k = 0; k <= CELLS; k++) {
            const double z = f->height(f->x.low + i * (f->x.high - f->x.low) / CELLS,
                                       f->y.low + k * (f->y.high - f->y.low) / CELLS, f->user);
            s->z_low = fmin(s->z_low, z);
            s->z_high = fmax(s->z_high, z);
        }
}

/* Series in shares of the plot; what lies outside the box leaves a gap. */
static void lay_on_surface(const scene *s, const figure_series *from, figure_series *to, double *x,
                           double *y) {
    const figure_axis *ax = &s->surface->x, *ay = &s->surface->y;
    *to = *from;
    for (size_t i = 0; i < from->count; i++) {
        const bool inside = from->x[i] >= ax->low && from->x[i] <= ax->high && from->y[i] >= ay->low &&
                            from->y[i] <= ay->high;
        const place p = inside ? project(s, from->x[i], from->y[i]) : (place){nan(""), nan("")};
        x[i] = p.x;
        y[i] = p.y;
    }
    to->x = x;
    to->y = y;
}

bool figure_surface_write(const figure_surface *f, const char *path_without_extension, char *message,
                          size_t message_size) {
    scene s = {.surface = f};
    size_t points = 1;
    for (size_t k = 0; k < f->series_count; k++) points += f->series[k].count;
    figure_series *laid = calloc(f->series_count + 1, sizeof *laid);
    double *numbers = calloc(2 * points, sizeof *numbers), *x = numbers;
    bool ok = laid && numbers;
    if (!ok) snprintf(message, message_size, "cannot draw the figure: out of memory");
    if (ok) measure_heights(&s);
    for (size_t k = 0; k < f->series_count && ok; k++) {
        lay_on_surface(&s, &f->series[k], &laid[k], x, x + points);
        x += f->series[k].count;
    }
    const figure flat = {.title = f->title,
                         .x = {NULL, FIGURE_LINEAR, 0, 1},
                         .y = {NULL, FIGURE_LINEAR, 0, 1},
                         .series = laid,
                         .series_count = f->series_count,
                         .width_inches = f->width_inches,
                         .height_inches = f->height_inches};
    figure_page page = {.figure = &flat, .backdrop = draw_scene, .scene = &s};
    ok = ok && figure_page_write(&page, path_without_extension, message, message_size);
    free(laid);
    free(numbers);
    return ok;
}
