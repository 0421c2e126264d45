#include "cli/figure/page.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double value_limit = 1e300; /* beyond it, differences and powers of ten would overflow */

double figure_scale_value(figure_scale scale, double value) {
    if (!isfinite(value) || (scale == FIGURE_LOG && value <= 0)) return nan("");
    if (scale == FIGURE_LINEAR) return fmin(fmax(value, -value_limit), value_limit);
    return log10(fmin(fmax(value, 1 / value_limit), value_limit));
}

double figure_ruler_place(const figure_ruler *ruler, double value) {
    const double far_away =
        1e4; /* axis lengths: nothing so far off is seen, and Cairo's coordinates are finite */
    const double share = (figure_scale_value(ruler->scale, value) - ruler->low) / (ruler->high - ruler->low);
    if (isnan(share)) return nan("");
    return ruler->origin + ruler->length * fmin(fmax(share, -far_away), far_away);
}

double figure_ruler_position(const figure_ruler *ruler, double at) {
    return ruler->origin + ruler->length * (at - ruler->low) / (ruler->high - ruler->low);
}

/* ---- range ---- */

typedef struct span {
    double low, high;
    bool fixed_low, fixed_high;
} span;

static void span_include(span *s, double at) {
    if (isnan(at)) return;
    s->low = fmin(s->low, at);
    s->high = fmax(s->high, at);
}

/* What the caller has fixed of an axis, in scale units; the free sides are left empty. */
static span span_requested(const figure_axis *axis) {
    const bool automatic = axis->low >= axis->high;
    const double low = figure_scale_value(axis->scale, axis->low);
    const double high = figure_scale_value(axis->scale, axis->high);
    span s = {.low = DBL_MAX, .high = -DBL_MAX};
    s.fixed_low = !automatic && !isnan(low);
    s.fixed_high = !automatic && !isnan(high);
    if (s.fixed_low) s.low = low;
    if (s.fixed_high) s.high = high;
    return s;
}

static bool span_admits(const span *s, double at) {
    return !isnan(at) && !(s->fixed_low && at < s->low) && !(s->fixed_high && at > s->high);
}

double figure_bar_gap(const figure *f) {
    double gap = DBL_MAX;
    for (size_t k = 0; k < f->series_count; k++) {
        const figure_series *series = &f->series[k];
        for (size_t i = 1; series->style == FIGURE_BARS && i < series->count; i++) {
            const double step = fabs(figure_scale_value(f->x.scale, series->x[i]) -
                                     figure_scale_value(f->x.scale, series->x[i - 1]));
            if (step > 0 && step < gap) gap = step;
        }
    }
    return gap < DBL_MAX ? gap : 0;
}

static bool has_style(const figure *f, figure_style style) {
    for (size_t k = 0; k < f->series_count; k++)
        if (f->series[k].style == style && f->series[k].count) return true;
    return false;
}

/* Whether markers stand on the outermost points, too. */
static bool has_markers(const figure *f) {
    for (size_t k = 0; k < f->series_count; k++) {
        const figure_series *series = &f->series[k];
        if (!series->count) continue;
        if (figure_series_is_points(series) || (series->style == FIGURE_LINE && series->count <= FIGURE_FEW))
            return true;
    }
    return false;
}

/* Extent of everything shown along one axis; of points outside a range fixed on the other axis, nothing. */
static span span_of_data(const figure *f, bool horizontal) {
    const figure_axis *axis = horizontal ? &f->x : &f->y, *other = horizontal ? &f->y : &f->x;
    const span visible = span_requested(other);
    span s = {.low = DBL_MAX, .high = -DBL_MAX};
    for (size_t k = 0; k < f->series_count; k++) {
        const figure_series *series = &f->series[k];
        const double *along = horizontal ? series->x : series->y,
                     *across = horizontal ? series->y : series->x;
        for (size_t i = 0; i < series->count; i++)
            if (span_admits(&visible, figure_scale_value(other->scale, across[i])))
                span_include(&s, figure_scale_value(axis->scale, along[i]));
    }
    for (size_t k = 0; k < f->mark_count; k++) {
        if (f->marks[k].horizontal == horizontal) continue;
        const double at = figure_scale_value(axis->scale, f->marks[k].value);
        const double clear = axis->scale == FIGURE_LOG ? 0.3 : 0; /* of an edge on a whole decade */
        span_include(&s, at - clear);
        span_include(&s, at + clear);
    }
    if (has_style(f, FIGURE_BARS) && !horizontal && axis->scale == FIGURE_LINEAR) span_include(&s, 0);
    return s;
}

/* A range too narrow to graduate is widened, on its free sides if it has any; whether it was. */
static bool span_open(span *s, figure_scale scale) {
    const double size = fmax(fabs(s->low), fabs(s->high));
    const double narrow = scale == FIGURE_LOG ? 1e-6 : fmax(1e-12 * size, 1e-290);
    if (s->high - s->low > narrow) return false;
    const bool whole = size < 1e-290 || size == floor(size); /* a count, or zero, gets its neighbours */
    const double spread = scale == FIGURE_LOG ? 0.5 : fmax(0.1 * size, whole ? 1 : 0);
    const double low = s->low, high = s->high;
    if (!s->fixed_low || s->fixed_high) s->low = high - spread;
    if (!s->fixed_high || s->fixed_low) s->high = low + spread;
    return true;
}

/* Room beyond the data on the free sides. Zero is an edge, except for data that are nearer to it than clear.
 */
static void span_pad(span *s, double pad, double clear, bool may_cross_zero) {
    const bool from_zero = s->low >= clear && !may_cross_zero, to_zero = s->high <= -clear && !may_cross_zero;
    const double low = from_zero ? fmax(s->low - pad, 0) : s->low - pad;
    const double high = to_zero ? fmin(s->high + pad, 0) : s->high + pad;
    if (!s->fixed_low) s->low = low;
    if (!s->fixed_high) s->high = high;
}

/* To whole decades, and beyond them where data are nearer to the edge than clear. */
static void span_to_decades(span *s, double clear) {
    const double slack = 1e-6, low = s->low, high = s->high;
    if (!s->fixed_low) s->low = floor(s->low + slack);
    if (!s->fixed_high) s->high = ceil(s->high - slack);
    if (!s->fixed_low) s->low = fmin(s->low, low - clear);
    if (!s->fixed_high) s->high = fmax(s->high, high + clear);
}

void figure_ruler_set_range(figure_ruler *ruler, const figure *f, bool horizontal) {
    const figure_axis *axis = horizontal ? &f->x : &f->y;
    span s = span_requested(axis);
    span data = span_of_data(f, horizontal);
    if (data.low > data.high) data = (span){.low = 0, .high = 1};
    if (!s.fixed_low) s.low = data.low;
    if (!s.fixed_high) s.high = data.high;
    const bool opened = span_open(&s, axis->scale);

    const double size = s.high - s.low, decades_from = 1.5;
    const double bars = horizontal ? 0.5 * figure_bar_gap(f) : 0;
    const bool markers = !opened && has_markers(f) && !has_style(f, FIGURE_BARS);
    const double share = !horizontal ? 0.05 : markers ? 0.03 : 0, clear = markers ? 0.015 * size : 0;
    if (!horizontal && axis->scale == FIGURE_LOG && size > decades_from)
        span_to_decades(&s, clear);
    else
        span_pad(&s, fmax(bars, share * size), clear, bars > 0 || axis->scale == FIGURE_LOG);
    /* an axis that begins next to zero begins at zero: times after the first step, say */
    if (horizontal && axis->scale == FIGURE_LINEAR && !s.fixed_low && s.low > 0 && s.low < 0.05 * size)
        s.low = 0;
    ruler->scale = axis->scale;
    ruler->horizontal = horizontal;
    ruler->low = s.low;
    ruler->high = s.high;
}

/* ---- ticks ---- */

static double value_of(const figure_ruler *ruler, double at) {
    return ruler->scale == FIGURE_LOG ? pow(10, at) : at;
}

static bool in_range(const figure_ruler *ruler, double at) {
    const double slack = 1e-9 * (ruler->high - ruler->low);
    return at >= ruler->low - slack && at <= ruler->high + slack;
}

static figure_tick *add_major(figure_ruler *ruler, double at) {
    if (ruler->major_count == FIGURE_MAJOR_MAX || !in_range(ruler, at)) return NULL;
    figure_tick *tick = &ruler->major[ruler->major_count++];
    tick->at = at;
    tick->text[0] = 0;
    return tick;
}

static void add_minor(figure_ruler *ruler, double at) {
    if (ruler->minor_count < FIGURE_MINOR_MAX && in_range(ruler, at)) ruler->minor[ruler->minor_count++] = at;
}

static bool labels_fit(const figure_ruler *ruler, cairo_t *cr) {
    const double across = 1.8 * FIGURE_TICK_SIZE, between = 0.9 * FIGURE_TICK_SIZE;
    double previous_width = 0;
    for (size_t k = 0; k < ruler->major_count; k++) {
        const figure_tick *tick = &ruler->major[k];
        const double width = ruler->horizontal ? figure_text_width(cr, tick->text, FIGURE_TICK_SIZE) : 0;
        const double need = ruler->horizontal ? 0.5 * (previous_width + width) + between : across;
        if (k > 0 &&
            fabs(figure_ruler_position(ruler, tick->at) - figure_ruler_position(ruler, tick[-1].at)) < need)
            return false;
        previous_width = width;
    }
    return true;
}

/* Fixed notation with a true minus sign. */
static void format_fixed(char *text, size_t size, double value, int decimals) {
    char digits[FIGURE_TICK_TEXT - 4];
    snprintf(digits, sizeof digits, "%.*f", decimals, fabs(value));
    const bool zero = strspn(digits, "0.") == strlen(digits);
    snprintf(text, size, "%s%s", value < 0 && !zero ? "\u2212" : "", digits);
}

/* Steps of 1, 2 and 5 times a power of ten. */
typedef struct nice_step {
    int mantissa, exponent;
} nice_step;

static double step_size(nice_step s) {
    return s.exponent < 0 ? s.mantissa / pow(10, -s.exponent) : s.mantissa * pow(10, s.exponent);
}

static nice_step nice_step_from(double least) {
    nice_step s = {1, (int)floor(log10(least))};
    const double slack = 1 - 1e-9;
    if (step_size(s) < least * slack) s.mantissa = 2;
    if (step_size(s) < least * slack) s.mantissa = 5;
    if (step_size(s) < least * slack) s = (nice_step){1, s.exponent + 1};
    return s;
}

static nice_step nice_step_after(nice_step s) {
    if (s.mantissa == 5) return (nice_step){1, s.exponent + 1};
    return (nice_step){s.mantissa == 1 ? 2 : 5, s.exponent};
}

/* How the ticks of an evenly divided axis are written: value = text x 10^exponent + offset. */
typedef struct notation {
    double offset;
    int exponent, decimals;
} notation;

/* The value of the interval with the fewest digits, sought from a power of ten downwards. */
static double roundest_within(double low, double high, double power) {
    double value;
    do {
        const double unit = pow(10, fabs(power)), middle = 0.5 * low + 0.5 * high;
        value = power < 0 ? round(middle * unit) / unit : round(middle / unit) * unit;
        power -= 1;
    } while (value < low || value > high);
    return value;
}

static notation choose_notation(double low, double high, nice_step step) {
    const int digits_max = 6, large = 5, small = -2;
    notation n = {0};
    double size = fmax(fabs(low), fabs(high));
    if (floor(log10(size)) - step.exponent >= digits_max) { /* all ticks share their leading digits */
        n.offset = roundest_within(low, high, floor(log10(size)));
        size = fmax(fabs(low - n.offset), fabs(high - n.offset));
    }
    const int magnitude = (int)floor(log10(size) + 1e-9);
    if (magnitude >= large || magnitude < small) n.exponent = magnitude;
    n.decimals = n.exponent > step.exponent ? n.exponent - step.exponent : 0;
    return n;
}

/* All digits that a double is sure of, after a sign; the power of ten, if any, raised. */
static void format_offset(char *text, size_t size, double offset) {
    char digits[32];
    snprintf(digits, sizeof digits, "%.15g", fabs(offset));
    const char *sign = offset < 0 ? "\u2212" : "+";
    char *power = strchr(digits, 'e');
    if (!power) {
        snprintf(text, size, "%s %s", sign, digits);
        return;
    }
    const int exponent = atoi(power + 1);
    *power = 0;
    snprintf(text, size, "%s %s\u00d710^{%s%d}", sign, digits, exponent < 0 ? "\u2212" : "", abs(exponent));
}

static void format_factor(char *text, size_t size, notation n) {
    char scale[FIGURE_TICK_TEXT] = "", offset[FIGURE_TICK_TEXT] = "";
    if (n.exponent)
        snprintf(scale, sizeof scale, "\u00d710^{%s%d}", n.exponent < 0 ? "\u2212" : "", abs(n.exponent));
    if (n.offset != 0) format_offset(offset, sizeof offset, n.offset);
    snprintf(text, size, "%s%s%s", scale, *scale && *offset ? " " : "", offset);
}

static void fill_even_ticks(figure_ruler *ruler, nice_step step) {
    const double size = step_size(step), low = value_of(ruler, ruler->low),
                 high = value_of(ruler, ruler->high);
    const notation n = choose_notation(low, high, step);
    const double unit = pow(10, n.exponent);
    const double first = ceil(low / size - 1e-9), last = floor(high / size + 1e-9);
    ruler->major_count = 0;
    for (double k = first; k <= last && ruler->major_count < FIGURE_MAJOR_MAX; k += 1) {
        const double value = step.exponent < 0 ? k * step.mantissa / pow(10, -step.exponent) : k * size;
        figure_tick *tick = add_major(ruler, figure_scale_value(ruler->scale, value));
        if (tick) format_fixed(tick->text, sizeof tick->text, (value - n.offset) / unit, n.decimals);
    }
    format_factor(ruler->factor, sizeof ruler->factor, n);
}

static void graduate_evenly(figure_ruler *ruler, cairo_t *cr) {
    const double closest = ruler->horizontal ? 28 : 18;
    const double range = value_of(ruler, ruler->high) - value_of(ruler, ruler->low);
    nice_step step = nice_step_from(range * fmin(closest / fabs(ruler->length), 1));
    for (int attempt = 0; attempt < 9; attempt++, step = nice_step_after(step)) {
        fill_even_ticks(ruler, step);
        if (labels_fit(ruler, cr)) return;
    }
}

static void format_power(figure_tick *tick, int mantissa, int exponent, bool plain) {
    const char *sign = exponent < 0 ? "\u2212" : "";
    if (plain)
        format_fixed(tick->text, sizeof tick->text, mantissa * pow(10, exponent),
                     exponent < 0 ? -exponent : 0);
    else if (mantissa == 1)
        snprintf(tick->text, sizeof tick->text, "10^{%s%d}", sign, abs(exponent));
    else
        snprintf(tick->text, sizeof tick->text, "%d\u00d710^{%s%d}", mantissa, sign, abs(exponent));
}

/* Ticks on every stride-th decade and, with a stride of one, on the given multiples within. */
static void fill_decades(figure_ruler *ruler, int stride, const int *multiples, size_t count) {
    const int first = (int)floor(ruler->low), last = (int)ceil(ruler->high);
    const bool plain = ruler->low >= -2.001 && ruler->high <= 4.001;
    ruler->major_count = 0;
    ruler->factor[0] = 0;
    for (int decade = first; decade <= last; decade++) {
        if (decade % stride) continue;
        for (size_t k = 0; k < count; k++) {
            figure_tick *tick = add_major(ruler, decade + log10(multiples[k]));
            if (tick) format_power(tick, multiples[k], decade, plain);
        }
    }
}

static void fill_minor_decades(figure_ruler *ruler, int stride) {
    const double decade_length = fabs(ruler->length) / (ruler->high - ruler->low);
    const double closest_multiples = 10, closest_decades = 2;
    const int first = (int)floor(ruler->low), last = (int)ceil(ruler->high);
    for (int decade = first; decade <= last; decade++) {
        if (stride > 1 && decade_length >= closest_decades) add_minor(ruler, decade);
        for (int k = 2; k < 10 && stride == 1 && decade_length >= closest_multiples; k++)
            add_minor(ruler, decade + log10(k));
    }
}

static void graduate_by_decades(figure_ruler *ruler, cairo_t *cr) {
    static const int thirds[] = {1, 2, 5}, strides[] = {1, 2, 3, 4, 5, 10, 20, 25, 50, 100, 200, 300};
    const double short_range = 2.05;
    if (ruler->high - ruler->low < short_range) {
        fill_decades(ruler, 1, thirds, 3);
        if (labels_fit(ruler, cr)) {
            fill_minor_decades(ruler, 1);
            return;
        }
    }
    for (size_t k = 0; k < sizeof strides / sizeof *strides; k++) {
        fill_decades(ruler, strides[k], thirds, 1);
        if (!labels_fit(ruler, cr)) continue;
        fill_minor_decades(ruler, strides[k]);
        return;
    }
}

void figure_ruler_graduate(figure_ruler *ruler, cairo_t *cr, double origin, double length) {
    const double less_than_a_decade = 0.7;
    ruler->origin = origin;
    ruler->length = length;
    ruler->major_count = ruler->minor_count = 0;
    ruler->factor[0] = 0;
    if (ruler->scale == FIGURE_LINEAR || ruler->high - ruler->low < less_than_a_decade)
        graduate_evenly(ruler, cr);
    else
        graduate_by_decades(ruler, cr);
}
