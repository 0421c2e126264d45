#include "cli/figure/page.h"

#include <stdio.h>

static void set_hairline(cairo_t *cr, double grey, double width) {
    cairo_set_source_rgb(cr, grey, grey, grey);
    cairo_set_line_width(cr, width);
    cairo_set_line_cap(cr, CAIRO_LINE_CAP_BUTT);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_MITER);
    cairo_set_dash(cr, NULL, 0, 0);
}

static void draw_grid(const figure_page *page, cairo_t *cr) {
    const figure_rect plot = page->plot;
    for (size_t k = 0; k < page->x.major_count; k++) {
        cairo_move_to(cr, figure_ruler_position(&page->x, page->x.major[k].at), plot.y);
        cairo_rel_line_to(cr, 0, plot.height);
    }
    for (size_t k = 0; k < page->y.major_count; k++) {
        cairo_move_to(cr, plot.x, figure_ruler_position(&page->y, page->y.major[k].at));
        cairo_rel_line_to(cr, plot.width, 0);
    }
    set_hairline(cr, 0.88, 0.4);
    cairo_stroke(cr);
}

/* A tick points outwards from the lower or left side of the plot. */
static void add_tick(const figure_page *page, const figure_ruler *ruler, cairo_t *cr, double at,
                     double length) {
    const double position = figure_ruler_position(ruler, at);
    if (ruler->horizontal) {
        cairo_move_to(cr, position, page->plot.y + page->plot.height);
        cairo_rel_line_to(cr, 0, length);
    } else {
        cairo_move_to(cr, page->plot.x, position);
        cairo_rel_line_to(cr, -length, 0);
    }
}

static void draw_frame(const figure_page *page, cairo_t *cr) {
    const figure_ruler *rulers[] = {&page->x, &page->y};
    const double minor_length = 0.55 * FIGURE_TICK_LENGTH;
    set_hairline(cr, 0.15, 0.6);
    cairo_rectangle(cr, page->plot.x, page->plot.y, page->plot.width, page->plot.height);
    for (int r = 0; r < 2; r++)
        for (size_t k = 0; k < rulers[r]->major_count; k++)
            add_tick(page, rulers[r], cr, rulers[r]->major[k].at, FIGURE_TICK_LENGTH);
    cairo_stroke(cr);
    set_hairline(cr, 0.15, 0.4);
    for (int r = 0; r < 2; r++)
        for (size_t k = 0; k < rulers[r]->minor_count; k++)
            add_tick(page, rulers[r], cr, rulers[r]->minor[k], minor_length);
    cairo_stroke(cr);
}

static void draw_tick_texts(const figure_page *page, cairo_t *cr) {
    const double away = FIGURE_TICK_LENGTH + FIGURE_TICK_GAP, half_height = 0.36 * FIGURE_TICK_SIZE;
    const double baseline = page->plot.y + page->plot.height + away + 0.85 * FIGURE_TICK_SIZE;
    cairo_set_source_rgb(cr, 0, 0, 0);
    for (size_t k = 0; k < page->x.major_count; k++) {
        const figure_tick *tick = &page->x.major[k];
        figure_text_draw(cr, tick->text, FIGURE_TICK_SIZE, figure_ruler_position(&page->x, tick->at),
                         baseline, 0.5, page->width);
    }
    for (size_t k = 0; k < page->y.major_count; k++) {
        const figure_tick *tick = &page->y.major[k];
        figure_text_draw(cr, tick->text, FIGURE_TICK_SIZE, page->plot.x - away,
                         figure_ruler_position(&page->y, tick->at) + half_height, 1, page->width);
    }
}

/* Centred text, moved or set smaller as far as it takes to stay between the limits. */
static void draw_centred(cairo_t *cr, const char *text, double centre, double baseline, double from,
                         double to) {
    const double edge = 2, room = to - from - 2 * edge;
    const double half = 0.5 * fmin(figure_text_width(cr, text, FIGURE_LABEL_SIZE), room);
    const double kept = fmin(fmax(centre, from + edge + half), to - edge - half);
    figure_text_draw(cr, text, FIGURE_LABEL_SIZE, kept, baseline, 0.5, room);
}

static void write_caption(char *text, size_t size, const figure_axis *axis, const figure_ruler *ruler) {
    const char *label = axis->label ? axis->label : "";
    if (ruler->factor[0])
        snprintf(text, size, "%s%s[%s]", label, *label ? "  " : "", ruler->factor);
    else
        snprintf(text, size, "%s", label);
}

static void draw_captions(const figure_page *page, cairo_t *cr) {
    const figure_rect plot = page->plot;
    const double edge = 2, ascent = 0.85 * FIGURE_LABEL_SIZE, descent = 0.25 * FIGURE_LABEL_SIZE;
    const bool below = page->legend.place == FIGURE_LEGEND_BELOW,
               beside = page->legend.place == FIGURE_LEGEND_RIGHT;
    const double bottom = page->height - (below ? page->legend.box.height : 0);
    const double right = page->width - (beside ? page->legend.box.width : 0),
                 middle = plot.x + 0.5 * plot.width;
    char text[512];
    cairo_set_source_rgb(cr, 0, 0, 0);
    write_caption(text, sizeof text, &page->figure->y, &page->y);
    const double left =
        *text ? edge + ascent + descent : 0; /* the other texts keep clear of the turned one */
    cairo_save(cr);
    cairo_translate(cr, 0, bottom);
    cairo_rotate(cr, -M_PI_2);
    draw_centred(cr, text, bottom - plot.y - 0.5 * plot.height, edge + ascent, 0, bottom);
    cairo_restore(cr);
    write_caption(text, sizeof text, &page->figure->x, &page->x);
    draw_centred(cr, text, middle, bottom - edge - descent, left, right);
    if (page->figure->title)
        draw_centred(cr, page->figure->title, middle, 1.5 * edge + ascent, left, page->width);
}

static void draw_notes(const figure_page *page, cairo_t *cr) {
    for (size_t k = 0; k < page->figure->mark_count; k++) {
        const figure_mark *mark = &page->figure->marks[k];
        const figure_rect box = page->notes[k];
        const double base = 0.22 * FIGURE_TICK_SIZE;
        if (box.width <= 0) continue;
        cairo_set_source_rgba(cr, 1, 1, 1, 0.8);
        cairo_rectangle(cr, box.x, box.y, box.width, box.height);
        cairo_fill(cr);
        cairo_set_source_rgb(cr, 0.25, 0.25, 0.25);
        cairo_save(cr);
        cairo_translate(cr, mark->horizontal ? box.x : box.x + box.width, box.y + box.height);
        if (!mark->horizontal) cairo_rotate(cr, -M_PI_2);
        figure_text_draw(cr, mark->label, FIGURE_TICK_SIZE, 0, -base, 0, fmax(box.width, box.height));
        cairo_restore(cr);
    }
}

static void draw_legend(const figure_page *page, cairo_t *cr) {
    const figure_legend *legend = &page->legend;
    const double text_at = FIGURE_SAMPLE_WIDTH + FIGURE_SAMPLE_GAP;
    if (legend->place == FIGURE_LEGEND_NONE) return;
    cairo_save(cr);
    cairo_translate(cr, legend->box.x, legend->box.y);
    if (legend->place == FIGURE_LEGEND_INSIDE) {
        cairo_rectangle(cr, 0, 0, legend->box.width, legend->box.height);
        cairo_set_source_rgba(cr, 1, 1, 1, 0.85);
        cairo_fill_preserve(cr);
        set_hairline(cr, 0.8, 0.4);
        cairo_stroke(cr);
    }
    cairo_scale(cr, legend->shrink, legend->shrink);
    double x = FIGURE_LEGEND_PAD, column = figure_legend_column(page, cr, 0);
    size_t entry = 0;
    for (size_t k = 0; k < page->figure->series_count; k++) {
        const char *name = page->figure->series[k].name;
        if (!name || !*name) continue;
        if (entry > 0 && entry % legend->rows == 0) {
            x += column + FIGURE_COLUMN_GAP;
            column = figure_legend_column(page, cr, entry);
        }
        const double y = FIGURE_LEGEND_PAD + ((double)(entry % legend->rows) + 0.5) * FIGURE_LEGEND_ROW;
        figure_sample_draw(page, k, cr, x, y, FIGURE_SAMPLE_WIDTH);
        cairo_set_source_rgb(cr, 0, 0, 0);
        figure_text_draw(cr, name, FIGURE_LEGEND_SIZE, x + text_at, y + 0.36 * FIGURE_LEGEND_SIZE, 0,
                         column - text_at);
        entry++;
    }
    cairo_restore(cr);
}

void figure_page_draw(const figure_page *page, cairo_t *cr) {
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    if (page->backdrop) {
        page->backdrop(page, cr);
    } else {
        draw_grid(page, cr);
        draw_frame(page, cr);
        draw_tick_texts(page, cr);
    }
    figure_marks_draw(page, cr);
    figure_curves_draw(page, cr);
    draw_notes(page, cr);
    draw_legend(page, cr);
    draw_captions(page, cr);
}
