#include "cli/figure/file.h"

#include "cli/figure/page.h"

#include <delassus/base.h>

#include <cairo-svg.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double points_per_inch = 72, dots_per_inch = 300, metres_per_inch = 0.0254;
static const double least_inches = 1, most_inches = 20;

/* ---- what Cairo draws is finished in memory before it goes to the file ---- */

typedef struct drawn {
    FILE *stream;
    char *bytes; /* with a zero behind them once the stream is closed */
    size_t size;
} drawn;

static drawn *drawn_open(drawn *d) {
    *d = (drawn){0};
    d->stream = open_memstream(&d->bytes, &d->size);
    return d;
}

static cairo_status_t put_from_cairo(void *closure, const unsigned char *bytes, unsigned int size) {
    const drawn *d = closure;
    return d->stream && fwrite(bytes, 1, size, d->stream) == size ? CAIRO_STATUS_SUCCESS
                                                                  : CAIRO_STATUS_NO_MEMORY;
}

static cairo_status_t drawn_close(drawn *d, cairo_status_t status) {
    if (d->stream && !fclose(d->stream)) return status;
    return status == CAIRO_STATUS_SUCCESS ? CAIRO_STATUS_NO_MEMORY : status;
}

/* ---- SVG ---- */

/* Cairo draws text as outlines: the words are repeated where searches and screen readers find them. */
static void put_description(FILE *out, const figure_drawing *drawing) {
    if (drawing->title && *drawing->title) {
        fputs("\n<title>", out);
        dls_put_xml(out, drawing->title);
        fputs("</title>", out);
    }
    fputs("\n<desc>", out);
    dls_put_xml(out, drawing->description);
    fputs("\n</desc>", out);
}

/* Copies Cairo's SVG with the description after the opening tag, and without the name of the surface, which
 * counts the surfaces made so far and would make equal figures differ. */
static void finish_svg(FILE *out, const drawn *d, const figure_drawing *drawing) {
    static const char name[] = " id=\"surface";
    const char *text = d->bytes;
    const char *tag = strstr(text, "<svg"), *body = tag ? strchr(tag, '>') + 1 : text;
    fwrite(text, 1, (size_t)(body - text), out);
    put_description(out, drawing);
    const char *surface = strstr(body, name), *close = surface ? strchr(surface + sizeof name, '"') : NULL;
    if (close) {
        fwrite(body, 1, (size_t)(surface - body), out);
        body = close + 1;
    }
    fputs(body, out);
}

/* ---- PNG ---- */

static void put_big_endian(unsigned char *bytes, uint32_t value) {
    for (int k = 0; k < 4; k++) bytes[k] = (unsigned char)(value >> (24 - 8 * k));
}

/* The check sum of PNG chunks: CRC-32 with the reflected polynomial EDB88320. */
static uint32_t chunk_check(const unsigned char *bytes, size_t size) {
    uint32_t crc = 0xFFFFFFFFu;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ ((crc & 1) ? 0xEDB88320u : 0);
    }
    return ~crc;
}

/* Copies Cairo's PNG with the resolution after the header, so that the image has its size in print. */
static void finish_png(FILE *out, const drawn *d) {
    const size_t header = 33; /* signature and IHDR */
    const uint32_t dots_per_metre = (uint32_t)lround(dots_per_inch / metres_per_inch);
    unsigned char chunk[21] = {0, 0, 0, 9, 'p', 'H', 'Y', 's'};
    put_big_endian(chunk + 8, dots_per_metre);
    put_big_endian(chunk + 12, dots_per_metre);
    chunk[16] = 1; /* the unit is the metre */
    put_big_endian(chunk + 17, chunk_check(chunk + 4, 13));
    fwrite(d->bytes, 1, header, out);
    fwrite(chunk, 1, sizeof chunk, out);
    fwrite(d->bytes + header, 1, d->size - header, out);
}

/* ---- drawing ---- */

/* Text the same on paper and on pixels: no hinting, neither of outlines nor of widths. */
cairo_t *figure_context_open(cairo_surface_t *surface) {
    cairo_t *cr = cairo_create(surface);
    cairo_font_options_t *options = cairo_font_options_create();
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    cairo_set_font_options(cr, options);
    cairo_font_options_destroy(options);
    return cr;
}

bool figure_drawing_succeeded(cairo_status_t status, char *message, size_t message_size) {
    if (status == CAIRO_STATUS_SUCCESS) return true;
    snprintf(message, message_size, "cannot draw the figure: %s", cairo_status_to_string(status));
    return false;
}

static bool draw_svg(const figure_drawing *drawing, FILE *out, char *message, size_t message_size) {
    drawn svg;
    cairo_surface_t *surface = cairo_svg_surface_create_for_stream(put_from_cairo, drawn_open(&svg),
                                                                   points_per_inch * drawing->width_inches,
                                                                   points_per_inch * drawing->height_inches);
    cairo_svg_surface_set_document_unit(surface, CAIRO_SVG_UNIT_PT);
    cairo_t *cr = figure_context_open(surface);
    drawing->draw(drawing->self, cr);
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    status = drawn_close(&svg, status);
    if (status == CAIRO_STATUS_SUCCESS) finish_svg(out, &svg, drawing);
    free(svg.bytes);
    return figure_drawing_succeeded(status, message, message_size);
}

static bool draw_png(const figure_drawing *drawing, FILE *out, char *message, size_t message_size) {
    const double scale = dots_per_inch / points_per_inch;
    drawn png;
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)lround(dots_per_inch * drawing->width_inches),
                                   (int)lround(dots_per_inch * drawing->height_inches));
    cairo_t *cr = figure_context_open(surface);
    cairo_scale(cr, scale, scale);
    drawing->draw(drawing->self, cr);
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    drawn_open(&png);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_write_to_png_stream(surface, put_from_cairo, &png);
    cairo_surface_destroy(surface);
    status = drawn_close(&png, status);
    if (status == CAIRO_STATUS_SUCCESS) finish_png(out, &png);
    free(png.bytes);
    return figure_drawing_succeeded(status, message, message_size);
}

/* ---- files ---- */

typedef struct output {
    char path[PATH_MAX];
    dls_aside *aside;
} output;

static bool tell(const dls_error *error, char *message, size_t message_size) {
    snprintf(message, message_size, "%s", error->message);
    return false;
}

static bool open_output(output *out, const char *path, const char *extension, char *message,
                        size_t message_size) {
    dls_error error;
    const int length = snprintf(out->path, sizeof out->path, "%s.%s", path, extension);
    if (length < 0 || (size_t)length >= sizeof out->path) {
        snprintf(message, message_size, "cannot write the figure: its path is longer than %d bytes",
                 PATH_MAX);
        return false;
    }
    return !dls_aside_open(out->path, &out->aside, &error) || tell(&error, message, message_size);
}

static bool put_in_place(output *out, char *message, size_t message_size) {
    dls_error error;
    dls_aside *aside = out->aside;
    out->aside = NULL;
    return !dls_aside_commit(aside, false, &error) || tell(&error, message, message_size);
}

/* Both files or neither. */
static bool put_both_in_place(output *svg, output *png, char *message, size_t message_size) {
    if (!put_in_place(svg, message, message_size)) return false;
    if (put_in_place(png, message, message_size)) return true;
    unlink(svg->path);
    return false;
}

bool figure_size_is_printable(const figure_drawing *drawing, char *message, size_t message_size) {
    const double width = drawing->width_inches, height = drawing->height_inches;
    if (width >= least_inches && width <= most_inches && height >= least_inches && height <= most_inches)
        return true;
    snprintf(message, message_size, "cannot draw a figure of %g by %g inches: expected sides from %g to %g",
             width, height, least_inches, most_inches);
    return false;
}

bool figure_file_write(const figure_drawing *drawing, const char *path_without_extension, char *message,
                       size_t message_size) {
    output svg = {0}, png = {0};
    const bool ok = figure_size_is_printable(drawing, message, message_size) &&
                    open_output(&svg, path_without_extension, "svg", message, message_size) &&
                    open_output(&png, path_without_extension, "png", message, message_size) &&
                    draw_svg(drawing, dls_aside_stream(svg.aside), message, message_size) &&
                    draw_png(drawing, dls_aside_stream(png.aside), message, message_size) &&
                    put_both_in_place(&svg, &png, message, message_size);
    dls_aside_abandon(svg.aside);
    dls_aside_abandon(png.aside);
    return ok;
}
