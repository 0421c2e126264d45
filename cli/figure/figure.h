/* Line charts fit for print: one description, written as vector SVG and as PNG with the same layout.
 *
 * Labels, names and the title are UTF-8; ^{...} and _{...} in them raise and lower, as in "m s^{-1}".
 * A point that cannot be placed (NaN, infinite, not positive on a logarithmic axis) leaves a gap. */
#ifndef CLI_FIGURE_FIGURE_H
#define CLI_FIGURE_FIGURE_H

#include <stdbool.h>
#include <stddef.h>

/* Inches: one column of a two-column page, and the full page. A size of zero means column width, default
 * height. */
#define FIGURE_COLUMN_WIDTH   3.4
#define FIGURE_PAGE_WIDTH     7.0
#define FIGURE_DEFAULT_HEIGHT 2.6

typedef enum figure_scale { FIGURE_LINEAR, FIGURE_LOG } figure_scale;

/* low >= high: automatic range; a single side that is NaN is automatic on that side. */
typedef struct figure_axis {
    const char *label;
    figure_scale scale;
    double low, high;
} figure_axis;

typedef enum figure_style {
    FIGURE_LINE,
    FIGURE_STEPS, /* each value holds until the next x (ascending), the last one to the right edge */
    FIGURE_POINTS,
    FIGURE_PLAIN,   /* a line without markers */
    FIGURE_CONTOUR, /* thin, without markers, coloured by height: look 1 is lowest, 100 highest */
    FIGURE_RINGS,   /* points as wide circles, in which others can be seen */
    FIGURE_CELLS,   /* one unit of both axes about each point, coloured by height as contours are, the name
                       within;   no entry in the legend */
    FIGURE_BARS /* from zero, or from the lower edge of a logarithmic axis; several series stand side by side
                 */
} figure_style;

/* Looks in black, for lines that are no data but frame it. */
enum { FIGURE_LOOK_BLACK = 21, FIGURE_LOOK_BLACK_DASHED = 14, FIGURE_LOOK_BLACK_DOTTED = 28 };

/* Colour, dashes and marker follow the position in the list, or `look` (1, 2, ...) when it is not zero,
 * so that one method can keep its look from figure to figure. A series without a name has no legend entry. */
typedef struct figure_series {
    const char *name;
    const double *x, *y;
    size_t count;
    figure_style style;
    unsigned look;
} figure_series;

/* A reference line across the plot at y = value (horizontal) or x = value; the label may be null. */
typedef struct figure_mark {
    const char *label;
    bool horizontal;
    double value;
} figure_mark;

typedef struct figure {
    const char *title;
    figure_axis x, y;
    const figure_series *series;
    size_t series_count;
    const figure_mark *marks;
    size_t mark_count;
    double width_inches, height_inches;
} figure;

/* Writes PATH.svg and PATH.png, each aside and then renamed. On failure fills the message, returns false and
 * leaves neither behind. */
bool figure_write(const figure *f, const char *path_without_extension, char *message, size_t message_size);

#endif
