/* Errors, colours, and quantities. */
#include "cli/support/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_line(const char *kind, const char *format, va_list arguments) {
    char line[1024];
    vsnprintf(line, sizeof line, format, arguments);
    for (char *at = line; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f) *at = '?';
    fprintf(stderr, "delassus: %s%s\n", kind, line);
}

int report_error(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_line("", format, arguments);
    va_end(arguments);
    return EXIT_BAD_INPUT;
}

void report_warning(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    print_line("warning: ", format, arguments);
    va_end(arguments);
}

int report_unknown(const char *what, const dls_nearest *nearest, const char *before, const char *lister) {
    bool near = nearest->best != NULL;
    return report_error("%s '%s'%s%s%s%s ('%s' lists all)", what, nearest->wanted,
                        near ? ", did you mean '" : "", near ? before : "", near ? nearest->best : "",
                        near ? "'?" : "", lister);
}

int report_finish(int exit_code) {
    if (fflush(stdout) || ferror(stdout))
        return report_error("standard output: cannot be written, expected room for the report");
    return exit_code;
}

void *report_allocate(size_t count, size_t size) {
    void *block = calloc(count ? count : 1, size ? size : 1);
    if (!block) exit(report_error("out of memory"));
    return block;
}

/* The block doubles at powers of two, so that its size follows from the count. */
void *report_grow(void *items, size_t count, size_t size) {
    if (count & (count - 1)) return items;
    void *block = realloc(items, (count ? 2 * count : 1) * size);
    if (!block) exit(report_error("out of memory"));
    return block;
}

static bool stdout_has_colour(void) {
    const char *refused = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (refused && *refused) return false;
    return terminal && strcmp(terminal, "dumb") != 0 && isatty(STDOUT_FILENO);
}

const char *colour_begin(report_colour colour) {
    static const char *const codes[] = {"", "\033[32m", "\033[31m", "\033[1m", "\033[2m"};
    return stdout_has_colour() ? codes[colour] : "";
}

const char *colour_end(report_colour colour) {
    return colour != COLOUR_NONE && stdout_has_colour() ? "\033[0m" : "";
}

void print_plain(const char *text) {
    bool pending = false, begun = false;
    for (; *text; text++) {
        bool blank = (unsigned char)*text <= 0x20 || *text == 0x7f;
        if (!blank && pending && begun) putchar(' ');
        if (!blank) putchar(*text);
        begun = begun || !blank;
        pending = blank;
    }
}

int text_width(const char *text) {
    int width = 0;
    for (; *text; text++) width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

const char *plural(int64_t count) { return count == 1 ? "" : "s"; }

void format_seconds(double seconds, char *text, size_t size) {
    if (!isfinite(seconds))
        snprintf(text, size, "unknown");
    else if (seconds < 0.9995e-3)
        snprintf(text, size, "%.3g µs", 1e6 * seconds);
    else if (seconds < 0.9995)
        snprintf(text, size, "%.3g ms", 1e3 * seconds);
    else if (seconds < 99.95)
        snprintf(text, size, "%.3g s", seconds);
    else
        snprintf(text, size, "%.0f min %.0f s", floor(seconds / 60), floor(fmod(seconds, 60)));
}

void format_bytes(double bytes, char *text, size_t size) {
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB"};
    int unit = 0;
    while (bytes >= 999.5 && unit < 4) {
        bytes /= 1000;
        unit++;
    }
    snprintf(text, size, "%.3g %s", bytes, units[unit]);
}
