#include "cli/figure/file.h"

#include "cli/figure/page.h"

#include <cairo-svg.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double points_per_inch = 72, dots_per_inch = 300, metres_per_inch = 0.0254;
static const double least_inches = 1, most_inches = 20;

/* ---- documents grow in memory, so that a file is touched only when there is something to write ---- */

typedef struct document {
    unsigned char *bytes;
    size_t size, capacity;
    bool failed;
} document;

static void append(document *d, const void *bytes, size_t size) {
    if (d->size + size > d->capacity) {
        const size_t capacity = 2 * (d->size + size);
        unsigned char *grown = realloc(d->bytes, capacity);
        if (!grown) {
            d->failed = true;
            return;
        }
        d->bytes = grown;
        d->capacity = capacity;
    }
    memcpy(d->bytes + d->size, bytes, size);
    d->size += size;
}

static void append_string(document *d, const char *text) { append(d, text, strlen(text)); }

static cairo_status_t append_from_cairo(void *closure, const unsigned char *bytes, unsigned int size) {
    document *d = closure;
    append(d, bytes, size);
    return d->failed ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS;
}

/* ---- SVG ---- */

static void append_escaped(document *d, const char *text) {
    while (*text) {
        const size_t length = figure_text_character(text);
        if (*text == '&')
            append_string(d, "&amp;");
        else if (*text == '<')
            append_string(d, "&lt;");
        else if (*text == '>')
            append_string(d, "&gt;");
        else if (length == 0 || ((unsigned char)*text < 0x20 && *text != '\n'))
            append_string(d, "?");
        else
            append(d, text, length);
        text += length ? length : 1;
    }
}

/* Cairo draws text as outlines: the words are repeated where searches and screen readers find them. */
static void append_description(document *d, const figure_drawing *drawing) {
    if (drawing->title && *drawing->title) {
        append_string(d, "\n<title>");
        append_escaped(d, drawing->title);
        append_string(d, "</title>");
    }
    append_string(d, "\n<desc>");
    append_escaped(d, drawing->description);
    append_string(d, "\n</desc>");
}

/* Copies Cairo's SVG with the description after the opening tag, and without the name of the surface, which
 * counts the surfaces made so far and would make equal figures differ. */
static void finish_svg(document *finished, document *drawn, const figure_drawing *drawing) {
    static const char name[] = " id=\"surface";
    append(drawn, "", 1);
    if (drawn->failed) {
        finished->failed = true;
        return;
    }
    const char *text = (const char *)drawn->bytes;
    const char *tag = strstr(text, "<svg"), *body = tag ? strchr(tag, '>') + 1 : text;
    append(finished, text, (size_t)(body - text));
    append_description(finished, drawing);
    const char *surface = strstr(body, name), *close = surface ? strchr(surface + sizeof name, '"') : NULL;
    if (close) {
        append(finished, body, (size_t)(surface - body));
        body = close + 1;
    }
    append_string(finished, body);
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
static void finish_png(document *finished, const document *drawn) {
    const size_t header = 33; /* signature and IHDR */
    const uint32_t dots_per_metre = (uint32_t)lround(dots_per_inch / metres_per_inch);
    unsigned char chunk[21] = {0, 0, 0, 9, 'p', 'H', 'Y', 's'};
    put_big_endian(chunk + 8, dots_per_metre);
    put_big_endian(chunk + 12, dots_per_metre);
    chunk[16] = 1; /* the unit is the metre */
    put_big_endian(chunk + 17, chunk_check(chunk + 4, 13));
    append(finished, drawn->bytes, header);
    append(finished, chunk, sizeof chunk);
    append(finished, drawn->bytes + header, drawn->size - header);
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

static bool draw_svg(const figure_drawing *drawing, document *svg, char *message, size_t message_size) {
    document drawn = {0};
    cairo_surface_t *surface = cairo_svg_surface_create_for_stream(append_from_cairo, &drawn,
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
    if (status == CAIRO_STATUS_SUCCESS) finish_svg(svg, &drawn, drawing);
    if (svg->failed) status = CAIRO_STATUS_NO_MEMORY;
    free(drawn.bytes);
    return figure_drawing_succeeded(status, message, message_size);
}

static bool draw_png(const figure_drawing *drawing, document *png, char *message, size_t message_size) {
    const double scale = dots_per_inch / points_per_inch;
    document drawn = {0};
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)lround(dots_per_inch * drawing->width_inches),
                                   (int)lround(dots_per_inch * drawing->height_inches));
    cairo_t *cr = figure_context_open(surface);
    cairo_scale(cr, scale, scale);
    drawing->draw(drawing->self, cr);
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_write_to_png_stream(surface, append_from_cairo, &drawn);
    cairo_surface_destroy(surface);
    if (status == CAIRO_STATUS_SUCCESS) finish_png(png, &drawn);
    if (png->failed) status = CAIRO_STATUS_NO_MEMORY;
    free(drawn.bytes);
    return figure_drawing_succeeded(status, message, message_size);
}

/* ---- files ---- */

typedef struct output {
    char path[PATH_MAX], aside[PATH_MAX];
    document document;
} output;

static bool name_output(output *out, const char *path, const char *extension, char *message,
                        size_t message_size) {
    const int length = snprintf(out->path, sizeof out->path, "%s.%s", path, extension);
    const int aside =
        snprintf(out->aside, sizeof out->aside, "%s.%s.%ld.part", path, extension, (long)getpid());
    if (length >= 0 && aside >= 0 && (size_t)aside < sizeof out->aside) return true;
    snprintf(message, message_size, "cannot write the figure: its path is longer than %d bytes", PATH_MAX);
    return false;
}

static bool write_all(int file, const document *d) {
    size_t done = 0;
    while (done < d->size) {
        const ssize_t n = write(file, d->bytes + done, d->size - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

static bool write_aside(const output *out, char *message, size_t message_size) {
    const int file = open(out->aside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool ok = file >= 0 && write_all(file, &out->document);
    int reason = errno;
    if (file >= 0 && close(file) != 0 && ok) {
        ok = false;
        reason = errno;
    }
    if (ok) return true;
    snprintf(message, message_size, "cannot write %s: %s", out->path, strerror(reason));
    if (file >= 0) unlink(out->aside);
    return false;
}

static bool put_in_place(const output *out, char *message, size_t message_size) {
    if (rename(out->aside, out->path) == 0) return true;
    snprintf(message, message_size, "cannot write %s: %s", out->path, strerror(errno));
    unlink(out->aside);
    return false;
}

/* Both files or neither. */
static bool write_files(const output *svg, const output *png, char *message, size_t message_size) {
    if (!write_aside(svg, message, message_size)) return false;
    if (!write_aside(png, message, message_size) || !put_in_place(svg, message, message_size)) {
        unlink(svg->aside);
        unlink(png->aside);
        return false;
    }
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
    const bool ok = name_output(&svg, path_without_extension, "svg", message, message_size) &&
                    name_output(&png, path_without_extension, "png", message, message_size) &&
                    figure_size_is_printable(drawing, message, message_size) &&
                    draw_svg(drawing, &svg.document, message, message_size) &&
                    draw_png(drawing, &png.document, message, message_size) &&
                    write_files(&svg, &png, message, message_size);
    free(svg.document.bytes);
    free(png.document.bytes);
    return ok;
}
