/* How the program speaks: errors as one line, colour where a person reads, quantities with their units. */
#ifndef CLI_SUPPORT_REPORT_H
#define CLI_SUPPORT_REPORT_H

#include <delassus/base.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What every command exits with. */
enum { EXIT_DONE = 0, EXIT_NOT_CONVERGED = 1, EXIT_BAD_INPUT = 2 };

/* Prints `delassus: …` as one line on stderr, control characters made harmless; returns EXIT_BAD_INPUT. */
int report_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "new: no template 'drumm', did you mean 'drum'? ('delassus new' lists all)": what is "new: no template",
 * before stands before the name that is near, lister is the command that lists all; EXIT_BAD_INPUT. */
int report_unknown(const char *what, const dls_nearest *nearest, const char *before, const char *lister);

/* The same as `delassus: warning: …`. */
void report_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Flushes stdout and turns a failed write (a full disk behind a redirection) into an error. */
int report_finish(int exit_code);

/* Zeroed memory; when there is none, says so and exits as for bad input. */
void *report_allocate(size_t count, size_t size);
/* The items of a list that grows one by one, with room for another behind count of them. */
void *report_grow(void *items, size_t count, size_t size);

typedef enum report_colour {
    COLOUR_NONE,
    COLOUR_GOOD,
    COLOUR_BAD,
    COLOUR_STRONG,
    COLOUR_FAINT
} report_colour;

/* The escape codes that begin and end a colour on stdout; "" unless it is a terminal that wants them. */
const char *colour_begin(report_colour colour);
const char *colour_end(report_colour colour);

/* Prints text of unknown origin on stdout as one line: every run of blanks and control characters is one
 * blank.
 */
void print_plain(const char *text);

/* Columns that UTF-8 text takes on a terminal. */
int text_width(const char *text);

/* The letter behind a noun: "" for 1, "s" for any other number. */
const char *plural(int64_t count);

/* 12.3 µs, 4.56 ms, 1.23 s, 5 min 12 s */
void format_seconds(double seconds, char *text, size_t size);
/* 812 bytes, 3.4 kB, 1.2 MB */
void format_bytes(double bytes, char *text, size_t size);

#endif
