/* Cells are kept until all widths are known. */
#include "cli/support/table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_BYTES = 128, GAP = 2 };

typedef struct cell {
    char text[CELL_BYTES];
    report_colour colour;
} cell;

struct table {
    int columns;
    unsigned left; /* bit k: column k is aligned to the left */
    size_t count;
    cell *cells;
};

table *table_create(int column_count) {
    table *t = report_allocate(1, sizeof *t);
    t->columns = column_count;
    t->left = 1;
    return t;
}

void table_align_left(table *t, int column) { t->left |= 1u << column; }

void table_cell(table *t, report_colour colour, const char *format, ...) {
    t->cells = report_grow(t->cells, t->count, sizeof *t->cells);
    cell *c = &t->cells[t->count++];
    c->colour = colour;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(c->text, sizeof c->text, format, arguments);
    va_end(arguments);
}

static void print_row(const table *t, const cell *row, const int *widths) {
    for (int i = 0; i < t->columns; i++) {
        int blanks = widths[i] - text_width(row[i].text);
        bool left = t->left >> i & 1;
        printf("%*s", (i > 0 ? GAP : 0) + (left ? 0 : blanks), "");
        printf("%s", colour_begin(row[i].colour));
        print_plain(row[i].text);
        printf("%s", colour_end(row[i].colour));
        if (left && i + 1 < t->columns) printf("%*s", blanks, "");
    }
    putchar('\n');
}

static void print_rule(const table *t, const int *widths) {
    for (int i = 0; i < t->columns; i++) {
        if (i > 0) printf("%*s", GAP, "");
        for (int k = 0; k < widths[i]; k++) fputs("─", stdout);
    }
    putchar('\n');
}

void table_print(table *t) {
    size_t columns = (size_t)t->columns;
    int *widths = report_allocate(columns, sizeof *widths);
    for (size_t i = 0; i < t->count; i++) {
        int width = text_width(t->cells[i].text);
        if (width > widths[i % columns]) widths[i % columns] = width;
    }
    for (size_t i = 0; i + columns <= t->count; i += columns) {
        print_row(t, t->cells + i, widths);
        if (i == 0) print_rule(t, widths);
    }
    free(widths);
    free(t->cells);
    free(t);
}
