/* The page of a picture: bodies, joints, force chains, a scale of speeds and one of lengths. */
#include "cli/picture/picture.h"

#include "cli/figure/file.h"
#include "cli/figure/page.h"
#include "cli/picture/marks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double MARGIN = 8, HEAD = 16, FOOT = 26, TEXT = 8; /* points */
static const double FULL_WIDTH = 216, LEAST_TEXT = 4.5; /* text and lines are smaller on narrow pages */
static const double POINTS_PER_INCH = 72;
static const double REST = 1e-6; /* m/s: what is slower stands still */

bool picture_view_find(const char *name, picture_view *view) {
    static const struct {
        const char *name;
        picture_view view;
    } views[] = {
        {"front", {{1, 0, 0}, {0, 0, 1}, {0, -1, 0}}},
        {"side", {{0, 1, 0}, {0, 0, 1}, {1, 0, 0}}},
        {"top", {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
        {"iso",
         {{0.8660254037844386, 0.5, 0},
          {-0.25, 0.4330127018922193, 0.8660254037844386},
          {0.4330127018922193, -0.75, 0.5}}},
    };
    for (size_t k = 0; k < sizeof views / sizeof *views; k++)
        if (!strcmp(views[k].name, name)) {
            *view = views[k].view;
            return true;
        }
    return false;
}

typedef struct page {
    const picture *picture;
    picture_items items;
    double width, height; /* points */
    picture_map map;      /* its origin is where the lower left corner is */
    double top_speed, top_force;
    double text, line; /* points: size of letters, width of the strongest force chain */
} page;

static double page_x(const page *g, double x) { return picture_map_x(&g->map, x); }
static double page_y(const page *g, double y) { return picture_map_y(&g->map, y); }

/* ---- colours: dark blue at rest, through green to yellow ---- */

static void colour_of(double t, double *rgb) {
    static const double stops[5][3] = {
        {0.23, 0.29, 0.52}, {0.13, 0.51, 0.55}, {0.29, 0.70, 0.45}, {0.68, 0.82, 0.26}, {0.98, 0.89, 0.20}};
    double at = 4 * fmin(fmax(t, 0), 1);
    int k = at >= 4 ? 3 : (int)at;
    for (int i = 0; i < 3; i++) rgb[i] = stops[k][i] + (at - k) * (stops[k + 1][i] - stops[k][i]);
}

static double speed_of(const picture *p, int body) {
    const double *v = p->states[body].v;
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void item_colour(const page *g, const picture_item *item, double *rgb) {
    if (item->wall) {
        for (int i = 0; i < 3; i++) rgb[i] = 0.72;
        return;
    }
    colour_of(g->top_speed > 0 ? speed_of(g->picture, item->body) / g->top_speed : 0, rgb);
}

/* ---- drawing ---- */

static void draw_disc(const page *g, const picture_item *item, cairo_t *cr) {
    double rgb[3], x = page_x(g, item->x), y = page_y(g, item->y), r = g->map.scale * item->radius;
    item_colour(g, item, rgb);
    cairo_arc(cr, x, y, r, 0, 6.283185307179586);
    if (g->picture->dimension == 3) {
        cairo_pattern_t *light = cairo_pattern_create_radial(x - 0.35 * r, y - 0.4 * r, 0.1 * r, x, y, r);
        cairo_pattern_add_color_stop_rgb(light, 0, 0.4 + 0.6 * rgb[0], 0.4 + 0.6 * rgb[1],
                                         0.4 + 0.6 * rgb[2]);
        cairo_pattern_add_color_stop_rgb(light, 1, 0.65 * rgb[0], 0.65 * rgb[1], 0.65 * rgb[2]);
        cairo_set_source(cr, light);
        cairo_fill(cr);
        cairo_pattern_destroy(light);
        return;
    }
    cairo_set_source_rgb(cr, rgb[0], rgb[1], rgb[2]);
    cairo_fill_preserve(cr);
    cairo_set_source_rgb(cr, 0.5 * rgb[0], 0.5 * rgb[1], 0.5 * rgb[2]);
    cairo_set_line_width(cr, fmin(0.6, 0.1 * r));
    cairo_move_to(cr, x, y);
    cairo_line_to(cr, x + r * item->spoke[0], y - r * item->spoke[1]);
    cairo_stroke(cr);
}

static void draw_face(const page *g, const picture_item *item, cairo_t *cr) {
    double rgb[3];
    item_colour(g, item, rgb);
    for (int k = 0; k < item->count; k++) {
        const double *p = g->items.point + 2 * (item->first + k);
        if (k == 0)
            cairo_move_to(cr, page_x(g, p[0]), page_y(g, p[1]));
        else
            cairo_line_to(cr, page_x(g, p[0]), page_y(g, p[1]));
    }
    cairo_close_path(cr);
    double bright = 0.6 + 0.5 * item->shade;
    cairo_set_source_rgb(cr, fmin(1, bright * rgb[0]), fmin(1, bright * rgb[1]), fmin(1, bright * rgb[2]));
    cairo_fill_preserve(cr);
    cairo_set_source_rgb(cr, 0.45 * rgb[0], 0.45 * rgb[1], 0.45 * rgb[2]);
    cairo_set_line_width(cr, 0.4);
    cairo_stroke(cr);
}

static void draw_lines(const page *g, const picture_item *item, cairo_t *cr) {
    cairo_set_source_rgb(cr, 0.35, 0.35, 0.35);
    cairo_set_line_width(cr, 0.7);
    if (item->kind == ITEM_RING) {
        cairo_arc(cr, page_x(g, item->x), page_y(g, item->y), g->map.scale * item->radius, 0,
                  6.283185307179586);
    } else {
        for (int k = 0; k + 1 < item->count; k += 2) {
            const double *p = g->items.point + 2 * (item->first + k);
            cairo_move_to(cr, page_x(g, p[0]), page_y(g, p[1]));
            cairo_line_to(cr, page_x(g, p[2]), page_y(g, p[3]));
        }
    }
    cairo_stroke(cr);
}

static void draw_bare(const page *g, const picture_item *item, cairo_t *cr) {
    double rgb[3], x = page_x(g, item->x), y = page_y(g, item->y), half = 1.2 * g->map.mark;
    const double *p = g->items.point + 2 * item->first;
    item_colour(g, item, rgb);
    cairo_set_source_rgb(cr, rgb[0], rgb[1], rgb[2]);
    cairo_set_line_width(cr, (item->kind == ITEM_BAR    ? 0.8
                              : item->kind == ITEM_STAY ? 0.3
                                                        : 0.5) *
                                 g->map.mark);
    if (item->kind != ITEM_CROSS) {
        cairo_move_to(cr, page_x(g, p[0]), page_y(g, p[1]));
        for (int k = 1; k < item->count; k++) cairo_line_to(cr, page_x(g, p[2 * k]), page_y(g, p[2 * k + 1]));
    } else {
        for (int side = -1; side <= 1; side += 2) {
            cairo_move_to(cr, x - half, y - side * half);
            cairo_line_to(cr, x + half, y + side * half);
        }
    }
    cairo_stroke(cr);
}

/* A line through every loaded contact between the two mass centres, as wide as its normal impulse. */
static void draw_chains(const page *g, cairo_t *cr) {
    const picture *p = g->picture;
    cairo_set_source_rgba(cr, 0.75, 0.1, 0.1, 0.8);
    cairo_set_line_cap(cr, CAIRO_LINE_CAP_ROUND);
    for (int k = 0; k < p->contact_count; k++) {
        const dls_contact_record *c = &p->contacts[k];
        if (!(c->impulse[0] > 0.02 * g->top_force)) continue;
        cairo_set_line_width(cr, g->line * sqrt(c->impulse[0] / g->top_force));
        for (int side = 0; side < 2; side++) {
            int body = side ? c->body_b : c->body_a;
            double from[2], to[2], depth;
            if (dls_results_body_motion(p->results, body) != DLS_DYNAMIC) continue;
            picture_project(&p->view, p->states[body].x, from, &depth);
            picture_project(&p->view, c->point, to, &depth);
            cairo_move_to(cr, page_x(g, from[0]), page_y(g, from[1]));
            cairo_line_to(cr, page_x(g, to[0]), page_y(g, to[1]));
            cairo_stroke(cr);
        }
    }
}

/* 1, 2 or 5 times a power of ten, not above value. */
static double round_below(double value) {
    double power = pow(10, floor(log10(value))), head = value / power;
    return power * (head >= 5 ? 5 : head >= 2 ? 2 : 1);
}

/* Length of a bar, and where it ends. */
static double draw_length_scale(const page *g, double y, cairo_t *cr) {
    double length = round_below(0.25 * (g->width - 2 * MARGIN) / g->map.scale),
           end = MARGIN + g->map.scale * length;
    char text[64];
    cairo_set_source_rgb(cr, 0, 0, 0);
    cairo_set_line_width(cr, 1.2);
    cairo_move_to(cr, MARGIN, y);
    cairo_line_to(cr, end, y);
    cairo_stroke(cr);
    snprintf(text, sizeof text, "%g m", length);
    figure_text_draw(cr, text, g->text, MARGIN, g->height - MARGIN, 0, g->width / 3);
    return end;
}

/* Colours from 0 to the top speed, both written below them; what they mean stands before them. */
static void draw_speed_scale(const page *g, double y, double from, cairo_t *cr) {
    const double gap = 0.6 * g->text;
    char top[64];
    snprintf(top, sizeof top, "%.2g m s^{-1}", g->top_speed);
    double zero = figure_text_width(cr, "0", g->text), written = figure_text_width(cr, top, g->text);
    double width = fmin(fmax(0.3 * g->width, zero + gap + written), 0.5 * g->width);
    double left = g->width - MARGIN - width;
    for (int k = 0; k < 64; k++) {
        double rgb[3];
        colour_of(k / 63.0, rgb);
        cairo_set_source_rgb(cr, rgb[0], rgb[1], rgb[2]);
        cairo_rectangle(cr, left + width * k / 64, y - 4, width / 64 + 0.3, 5);
        cairo_fill(cr);
    }
    cairo_set_source_rgb(cr, 0, 0, 0);
    figure_text_draw(cr, "0", g->text, left, g->height - MARGIN, 0, width);
    figure_text_draw(cr, top, g->text, g->width - MARGIN, g->height - MARGIN, 1, width - zero - gap);
    figure_text_draw(cr, "speed", g->text, left - gap, y + 1, 1, left - from - 2 * gap);
}

static void draw_scales(const page *g, cairo_t *cr) {
    double y = g->height - MARGIN - TEXT - 4, end = draw_length_scale(g, y, cr);
    if (g->top_speed > 0) draw_speed_scale(g, y, end, cr);
}

static void draw_page(const void *self, cairo_t *cr) {
    const page *g = self;
    char text[256];
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_paint(cr);
    cairo_save(cr);
    cairo_rectangle(cr, 0, HEAD, g->width, g->height - HEAD - FOOT + 2);
    cairo_clip(cr);
    for (int k = 0; k < g->items.count; k++) {
        const picture_item *item = &g->items.item[k];
        if (item->kind == ITEM_CROSS) continue; /* over the joints */
        if (item->kind == ITEM_DISC)
            draw_disc(g, item, cr);
        else if (item->kind == ITEM_FACE)
            draw_face(g, item, cr);
        else if (item->kind == ITEM_BAR || item->kind == ITEM_STAY)
            draw_bare(g, item, cr);
        else
            draw_lines(g, item, cr);
    }
    for (int k = 0; k < g->items.joint_count; k++) picture_mark_draw(&g->items.joint[k], &g->map, cr);
    for (int k = 0; k < g->items.count; k++)
        if (g->items.item[k].kind == ITEM_CROSS) draw_bare(g, &g->items.item[k], cr);
    if (g->top_force > 0) draw_chains(g, cr);
    cairo_restore(cr);
    draw_scales(g, cr);
    snprintf(text, sizeof text, "%s%st = %.4g s", g->picture->title, *g->picture->title ? ", " : "",
             g->picture->time);
    cairo_set_source_rgb(cr, 0, 0, 0);
    figure_text_draw(cr, text, g->text, MARGIN, MARGIN + TEXT / 2, 0, g->width - 2 * MARGIN);
}

/* ---- layout ---- */

picture_frame picture_frame_none(void) {
    return (picture_frame){.low = {INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY}};
}

static void reach(picture_frame *frame, double x, double y, double radius) {
    const double place[2] = {x, y};
    for (int k = 0; k < 2; k++) {
        frame->low[k] = fmin(frame->low[k], place[k] - radius);
        frame->high[k] = fmax(frame->high[k], place[k] + radius);
    }
}

static void enclose_region(picture_frame *frame, const picture *p) {
    for (int corner = 0; corner < 8; corner++) {
        double x[3], at[2], depth;
        for (int k = 0; k < 3; k++) x[k] = p->focus.region[k][corner >> k & 1];
        picture_project(&p->view, x, at, &depth);
        reach(frame, at[0], at[1], 0);
    }
}

static bool is_in_focus(const picture *p, int body) {
    const char *name = dls_results_body_name(p->results, body);
    return !strncmp(name, p->focus.bodies, strlen(p->focus.bodies));
}

/* Bodies of that name, if any are there. */
static bool enclose_bodies(picture_frame *frame, const picture *p, const picture_items *items) {
    bool any = false;
    for (int k = 0; k < items->count; k++) {
        const picture_item *item = &items->item[k];
        if (!is_in_focus(p, item->body)) continue;
        any = true;
        if (!item->count) reach(frame, item->x, item->y, item->radius);
        for (int i = 0; i < item->count; i++) {
            const double *point = items->point + 2 * (item->first + i);
            reach(frame, point[0], point[1], 0);
        }
    }
    return any;
}

static void zoom_in(picture_frame *frame, double zoom) {
    for (int k = 0; k < 2; k++) {
        double middle = (frame->low[k] + frame->high[k]) / 2,
               half = (frame->high[k] - frame->low[k]) / 2 / zoom;
        frame->low[k] = middle - half;
        frame->high[k] = middle + half;
    }
}

static void enclose(picture_frame *frame, const picture *p, const picture_items *items) {
    if (p->focus.has_region)
        enclose_region(frame, p);
    else if (!p->focus.bodies || !enclose_bodies(frame, p, items)) {
        reach(frame, items->low[0], items->low[1], 0);
        reach(frame, items->high[0], items->high[1], 0);
    }
    for (int body = 0; body < p->body_count; body++)
        if (p->present[body] && dls_results_body_motion(p->results, body) == DLS_DYNAMIC)
            frame->top_speed = fmax(frame->top_speed, speed_of(p, body));
    for (int k = 0; k < p->contact_count; k++)
        frame->top_force = fmax(frame->top_force, p->contacts[k].impulse[0]);
}

void picture_frame_enclose(picture_frame *frame, const picture *p) {
    picture_items items;
    picture_items_gather(p, &items);
    enclose(frame, p, &items);
    picture_items_free(&items);
}

static void lay_out(page *g, const picture_frame *frame) {
    const picture *p = g->picture;
    double across = frame->high[0] - frame->low[0], upward = frame->high[1] - frame->low[1],
           most = 1.4 * POINTS_PER_INCH * p->width_inches;
    if (!(across > 0)) across = upward > 0 ? upward : 1;
    if (!(upward > 0)) upward = across;
    g->width = POINTS_PER_INCH * p->width_inches;
    g->text = fmax(LEAST_TEXT, fmin(1, g->width / FULL_WIDTH) * TEXT);
    g->line = 3 * fmin(1, g->width / FULL_WIDTH);
    g->map.mark = 2.2 * fmin(1, g->width / FULL_WIDTH);
    memcpy(g->map.low, frame->low, sizeof g->map.low);
    g->map.scale = fmin((g->width - 2 * MARGIN) / across, (most - HEAD - FOOT) / upward);
    double needed = g->map.scale * upward + HEAD + FOOT + 6;
    g->height = fmax(needed, POINTS_PER_INCH); /* no page is flatter */
    g->map.origin[0] = (g->width - g->map.scale * across) / 2;
    g->map.origin[1] = g->height - FOOT - 3 - (g->height - needed) / 2;
    g->top_speed = frame->top_speed < REST ? 0 : frame->top_speed;
    g->top_force = frame->top_force;
}

bool picture_write(const picture *p, const char *path, char *message, size_t size) {
    page g = {.picture = p};
    picture_frame own = picture_frame_none();
    picture_items_gather(p, &g.items);
    enclose(&own, p, &g.items);
    picture_frame shown = p->frame ? *p->frame : own;
    if (p->focus.zoom > 0) zoom_in(&shown, p->focus.zoom);
    lay_out(&g, &shown);
    figure_drawing drawing = {.width_inches = g.width / POINTS_PER_INCH,
                              .height_inches = g.height / POINTS_PER_INCH,
                              .title = p->title,
                              .description = "bodies coloured by speed",
                              .draw = draw_page,
                              .self = &g};
    bool good = figure_file_write(&drawing, path, message, size);
    picture_items_free(&g.items);
    return good;
}
