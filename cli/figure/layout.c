#include "cli/figure/page.h"

#include <stdlib.h>

/* ---- which parts of the page are covered, one pixel per point ---- */

typedef struct coverage {
    cairo_surface_t *surface;
    cairo_t *cr;
} coverage;

static bool coverage_open(coverage *c, const figure_page *page) {
    c->surface = cairo_image_surface_create(CAIRO_FORMAT_A8, (int)ceil(page->width), (int)ceil(page->height));
    c->cr = cairo_create(c->surface);
    if (page->backdrop) page->backdrop(page, c->cr);
    figure_curves_draw(page, c->cr);
    figure_marks_draw(page, c->cr);
    return cairo_status(c->cr) == CAIRO_STATUS_SUCCESS;
}

static void coverage_close(coverage *c) {
    cairo_destroy(c->cr);
    cairo_surface_destroy(c->surface);
}

static void coverage_fill(coverage *c, figure_rect box) {
    cairo_set_source_rgb(c->cr, 0, 0, 0);
    cairo_rectangle(c->cr, box.x, box.y, box.width, box.height);
    cairo_fill(c->cr);
}

static int within(double value, int limit) { return value < 0 ? 0 : value > limit ? limit : (int)value; }

/* Number of covered pixels under a box. */
static int coverage_of(coverage *c, figure_rect box) {
    cairo_surface_flush(c->surface);
    const unsigned char *pixels = cairo_image_surface_get_data(c->surface);
    const int stride = cairo_image_surface_get_stride(c->surface);
    const int width = cairo_image_surface_get_width(c->surface),
              height = cairo_image_surface_get_height(c->surface);
    const int left = within(floor(box.x), width), right = within(ceil(box.x + box.width), width);
    const int top = within(floor(box.y), height), bottom = within(ceil(box.y + box.height), height);
    int covered = 0;
    for (int y = top; y < bottom; y++)
        for (int x = left; x < right; x++) covered += pixels[y * stride + x] > 0;
    return covered;
}

/* ---- labels of the reference lines ---- */

static void place_note(figure_page *page, size_t k, coverage *c, cairo_t *cr) {
    static const double shares[] = {1, 0, 0.5, 0.75, 0.25};
    const figure_mark *mark = &page->figure->marks[k];
    const figure_rect plot = page->plot;
    const double at = figure_ruler_place(mark->horizontal ? &page->y : &page->x, mark->value);
    const double inset = 2, off = 1, across = 1.15 * FIGURE_TICK_SIZE;
    const double room = (mark->horizontal ? plot.width : plot.height) - 2 * inset;
    const double along = fmin(figure_text_width(cr, mark->label, FIGURE_TICK_SIZE) + 1, room);
    int least = -1;
    page->notes[k] = (figure_rect){0};
    if (!mark->label || isnan(at) || room <= 0) return;
    for (int candidate = 0; candidate < 10; candidate++) {
        const double share = shares[candidate / 2] * (room - along) + inset;
        const double beside = (candidate % 2 == 0) == mark->horizontal ? at - off - across : at + off;
        const figure_rect box =
            mark->horizontal ? (figure_rect){plot.x + share, beside, along, across}
                             : (figure_rect){beside, plot.y + plot.height - share - along, across, along};
        const bool inside = figure_rect_holds(plot, box.x, box.y) &&
                            figure_rect_holds(plot, box.x + box.width, box.y + box.height);
        const int covered = inside ? coverage_of(c, box) : -1;
        if (!inside || (least >= 0 && covered >= least)) continue;
        least = covered;
        page->notes[k] = box;
    }
    coverage_fill(c, page->notes[k]);
}

/* ---- legend ---- */

static const double legend_inset = 3.5;

static bool has_entry(const figure_series *series) {
    return series->name && *series->name && series->style != FIGURE_CELLS;
}

double figure_legend_column(const figure_page *page, cairo_t *cr, size_t first) {
    double widest = 0;
    size_t entry = 0;
    for (size_t k = 0; k < page->figure->series_count; k++) {
        if (!has_entry(&page->figure->series[k])) continue;
        if (entry >= first && entry < first + page->legend.rows)
            widest = fmax(widest, figure_text_width(cr, page->figure->series[k].name, FIGURE_LEGEND_SIZE));
        entry++;
    }
    return fmin(FIGURE_SAMPLE_WIDTH + FIGURE_SAMPLE_GAP + widest, page->width - 4 * FIGURE_LEGEND_PAD);
}

static void legend_arrange(figure_page *page, cairo_t *cr, size_t columns, double shrink) {
    figure_legend *legend = &page->legend;
    legend->rows = (legend->entries + columns - 1) / columns;
    legend->shrink = shrink;
    double width = 2 * FIGURE_LEGEND_PAD - FIGURE_COLUMN_GAP;
    for (size_t first = 0; first < legend->entries; first += legend->rows)
        width += figure_legend_column(page, cr, first) + FIGURE_COLUMN_GAP;
    legend->box.width = shrink * width;
    legend->box.height = shrink * ((double)legend->rows * FIGURE_LEGEND_ROW + 2 * FIGURE_LEGEND_PAD);
}

/* In as many columns as fit across the page, set smaller if it would take too much of the height. */
static void legend_put_below(figure_page *page, cairo_t *cr) {
    const double height_share = 0.45, smallest = 0.3;
    const size_t columns_max = 12;
    figure_legend *legend = &page->legend;
    legend->place = FIGURE_LEGEND_BELOW;
    for (double shrink = 1; shrink > smallest; shrink -= 0.05) {
        size_t columns = legend->entries < columns_max ? legend->entries : columns_max;
        legend_arrange(page, cr, columns, shrink);
        while (legend->box.width > page->width && columns > 1) legend_arrange(page, cr, --columns, shrink);
        if (legend->box.height <= height_share * page->height) return;
    }
}

/* Below the plot, or beside it if that leaves about as much room and the plot wide enough. */
static void legend_put_outside(figure_page *page, cairo_t *cr) {
    const double width_share = 0.25, height_share = 0.9, preference = 1.3;
    figure_legend *legend = &page->legend;
    legend_put_below(page, cr);
    const figure_legend below = *legend;
    legend_arrange(page, cr, 1, 1);
    legend->place = FIGURE_LEGEND_RIGHT;
    const bool fits =
        legend->box.width <= width_share * page->width && legend->box.height <= height_share * page->height;
    const double taken = legend->box.width * page->height, taken_below = below.box.height * page->width;
    if (!fits || taken > preference * taken_below) *legend = below;
}

typedef struct legend_choice {
    figure_rect box;
    double cost;
} legend_choice;

static const double cost_of_cover = 1e4; /* per pixel, above any distance on the page */

/* A box is better if it covers less or, covering as little, is nearer to a corner. */
static void legend_try(legend_choice *best, coverage *c, figure_rect plot, figure_rect box) {
    const double right_first = 0.5, top_first = 0.25, margin = 1.5;
    const figure_rect wide = {box.x - margin, box.y - margin, box.width + 2 * margin,
                              box.height + 2 * margin};
    const double to_left = box.x - plot.x + right_first, to_right = plot.x + plot.width - box.x - box.width;
    const double to_top = box.y - plot.y, to_bottom = plot.y + plot.height - box.y - box.height + top_first;
    const double cost =
        cost_of_cover * coverage_of(c, wide) + fmin(to_left, to_right) + fmin(to_top, to_bottom);
    if (cost >= best->cost) return;
    *best = (legend_choice){box, cost};
}

/* Along the four sides of the plot. */
static bool legend_put_inside(figure_page *page, cairo_t *cr, coverage *c, size_t columns) {
    const double step = 2, widest = 0.75, highest = 0.75;
    const figure_rect plot = page->plot;
    figure_legend *legend = &page->legend;
    legend_arrange(page, cr, columns, 1);
    const double width = legend->box.width, height = legend->box.height;
    if (width > widest * plot.width || height > highest * plot.height) return false;
    const double left = plot.x + legend_inset, right = plot.x + plot.width - legend_inset - width;
    const double top = plot.y + legend_inset, bottom = plot.y + plot.height - legend_inset - height;
    legend_choice best = {.cost = HUGE_VAL};
    for (double x = left; x < right + step; x += step) {
        legend_try(&best, c, plot, (figure_rect){fmin(x, right), top, width, height});
        legend_try(&best, c, plot, (figure_rect){fmin(x, right), bottom, width, height});
    }
    for (double y = top; y < bottom + step; y += step) {
        legend_try(&best, c, plot, (figure_rect){left, fmin(y, bottom), width, height});
        legend_try(&best, c, plot, (figure_rect){right, fmin(y, bottom), width, height});
    }
    legend->box = best.box;
    legend->place = FIGURE_LEGEND_INSIDE;
    return best.cost < cost_of_cover;
}

static void legend_settle_outside(figure_page *page) {
    const figure_rect plot = page->plot;
    figure_rect *box = &page->legend.box;
    if (page->legend.place == FIGURE_LEGEND_RIGHT) {
        box->x = page->width - box->width;
        box->y = fmax(fmin(plot.y - FIGURE_LEGEND_PAD, page->height - box->height), 0);
    } else {
        const double centred = plot.x + 0.5 * (plot.width - box->width);
        box->x = fmax(fmin(centred, page->width - box->width), 0);
        box->y = page->height - box->height;
    }
}

/* ---- margins ---- */

static double widest_tick(const figure_ruler *ruler, cairo_t *cr) {
    double widest = 0;
    for (size_t k = 0; k < ruler->major_count; k++)
        widest = fmax(widest, figure_text_width(cr, ruler->major[k].text, FIGURE_TICK_SIZE));
    return widest;
}

/* How far the tick texts of the x axis reach beyond the plot on the right. */
static double overhang(const figure_page *page, cairo_t *cr) {
    double reach = 0;
    for (size_t k = 0; k < page->x.major_count; k++) {
        const figure_tick *tick = &page->x.major[k];
        const double share = (tick->at - page->x.low) / (page->x.high - page->x.low);
        const double half = 0.5 * figure_text_width(cr, tick->text, FIGURE_TICK_SIZE);
        reach = fmax(reach, half - (1 - share) * page->plot.width);
    }
    return reach;
}

static bool has_caption(const figure_axis *axis, const figure_ruler *ruler) {
    return (axis->label && *axis->label) || ruler->factor[0];
}

/* Margins depend on the tick texts and these on the room between the margins: a few rounds settle both. */
static void settle_plot(figure_page *page, cairo_t *cr) {
    const figure *f = page->figure;
    const double edge = 2, least = 20, caption = 1.3 * FIGURE_LABEL_SIZE;
    const double legend_width = page->legend.place == FIGURE_LEGEND_RIGHT ? page->legend.box.width + edge : 0;
    const double legend_height = page->legend.place == FIGURE_LEGEND_BELOW ? page->legend.box.height : 0;
    page->x.major_count = page->y.major_count = 0;
    page->x.factor[0] = page->y.factor[0] = 0;
    for (int round = 0; round < 3; round++) {
        const double left = edge + (has_caption(&f->y, &page->y) ? caption : 0) + widest_tick(&page->y, cr) +
                            FIGURE_TICK_GAP + FIGURE_TICK_LENGTH;
        const double right = fmax(3 * edge, overhang(page, cr) + edge) + legend_width;
        const double top = f->title && *f->title ? caption + 2.5 * edge : 3 * edge;
        const double bottom = edge + (has_caption(&f->x, &page->x) ? caption : 0) + FIGURE_TICK_SIZE +
                              FIGURE_TICK_GAP + FIGURE_TICK_LENGTH + legend_height;
        page->plot = (figure_rect){left, top, fmax(page->width - left - right, least),
                                   fmax(page->height - top - bottom, least)};
        figure_ruler_graduate(&page->x, cr, page->plot.x, page->plot.width);
        figure_ruler_graduate(&page->y, cr, page->plot.y + page->plot.height, -page->plot.height);
        if (page->backdrop) page->x.major_count = page->y.major_count = 0;
    }
}

/* ---- page ---- */

static void build_traces(figure_page *page) {
    for (size_t k = 0; k < page->figure->series_count; k++)
        figure_trace_build(&page->traces[k], page, &page->figure->series[k]);
    figure_curves_measure_bars(page);
}

/* Puts everything in its place for the legend's side; true in *clear if an inside legend covers nothing. */
static bool arrange(figure_page *page, cairo_t *cr, bool inside, bool *clear) {
    coverage c;
    settle_plot(page, cr);
    build_traces(page);
    const bool ok = coverage_open(&c, page);
    for (size_t k = 0; ok && k < page->figure->mark_count; k++) place_note(page, k, &c, cr);
    *clear = true;
    if (ok && inside) *clear = legend_put_inside(page, cr, &c, 1) || legend_put_inside(page, cr, &c, 2);
    coverage_close(&c);
    return ok;
}

bool figure_page_layout(figure_page *page, const figure *f, cairo_t *cr) {
    const size_t inside_max = 6;
    bool clear;
    page->figure = f;
    page->traces = calloc(f->series_count + 1, sizeof *page->traces);
    page->notes = calloc(f->mark_count + 1, sizeof *page->notes);
    if (!page->traces || !page->notes) return false;
    figure_ruler_set_range(&page->x, f, true);
    figure_ruler_set_range(&page->y, f, false);
    page->legend = (figure_legend){.shrink = 1};
    for (size_t k = 0; k < f->series_count; k++) page->legend.entries += has_entry(&f->series[k]);
    const bool inside = page->legend.entries > 0 && page->legend.entries <= inside_max;
    if (page->legend.entries <= inside_max) {
        if (!arrange(page, cr, inside, &clear)) return false;
        if (clear) return true;
    }
    legend_put_outside(page, cr);
    if (!arrange(page, cr, false, &clear)) return false;
    legend_settle_outside(page);
    return true;
}

void figure_page_release(figure_page *page) {
    for (size_t k = 0; page->traces && k < page->figure->series_count; k++) free(page->traces[k].vertex);
    free(page->traces);
    free(page->notes);
    page->traces = NULL;
    page->notes = NULL;
}
