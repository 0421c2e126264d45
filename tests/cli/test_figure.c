/* Figures as files: what is written, what is drawn, and what is left when writing fails. */
#include "cli/figure/figure.h"
#include "cli/figure/page.h"
#include "support/test.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Fontconfig keeps its caches to the end, behind pointers that the leak checker cannot follow. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfontconfig\n"; }

/* ---- a folder per test, which must be empty in the end ---- */

static int enter_folder(void **state) {
    char *folder = strdup("figure-XXXXXX");
    if (!folder || !mkdtemp(folder) || chdir(folder) != 0) return -1;
    *state = folder;
    return 0;
}

static int leave_folder(void **state) {
    const int left = chdir("..") == 0 ? rmdir(*state) : -1;
    free(*state);
    return left;
}

static size_t count_files(void) {
    size_t files = 0;
    DIR *folder = opendir(".");
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder));) files += entry->d_name[0] != '.';
    closedir(folder);
    return files;
}

typedef struct content {
    unsigned char *bytes;
    size_t size;
} content;

/* The whole file, with a zero after it. */
static content read_and_remove(const char *path) {
    struct stat status;
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &status), 0);
    content c = {.size = (size_t)status.st_size};
    c.bytes = malloc(c.size + 1);
    assert_non_null(c.bytes);
    assert_int_equal(fread(c.bytes, 1, c.size, file), c.size);
    c.bytes[c.size] = 0;
    fclose(file);
    assert_int_equal(unlink(path), 0);
    return c;
}

static void write_figure(const figure *f, content *svg, content *png) {
    char message[256] = "";
    if (!figure_write(f, "f", message, sizeof message)) fail_msg("%s", message);
    assert_int_equal(count_files(), 2);
    *svg = read_and_remove("f.svg");
    *png = read_and_remove("f.png");
}

static void assert_holds(content c, const char *text) {
    if (!strstr((const char *)c.bytes, text)) fail_msg("'%s' is missing", text);
}

static unsigned big_endian(const unsigned char *bytes) {
    return (unsigned)bytes[0] << 24 | (unsigned)bytes[1] << 16 | (unsigned)bytes[2] << 8 | bytes[3];
}

/* ---- what is drawn: the pixels in the blue of the first series ---- */

typedef struct picture {
    int width, height;
    bool *blue;
    int left, right, top, bottom; /* of all that is blue */
} picture;

static bool is_blue(uint32_t pixel) {
    const int red = pixel >> 16 & 255, green = pixel >> 8 & 255, blue = pixel & 255;
    return abs(red - 0) < 40 && abs(green - 114) < 40 && abs(blue - 178) < 40;
}

static void scan(picture *p, cairo_surface_t *surface) {
    const unsigned char *data = cairo_image_surface_get_data(surface);
    const int stride = cairo_image_surface_get_stride(surface);
    for (int y = 0; y < p->height; y++) {
        for (int x = 0; x < p->width; x++) {
            uint32_t pixel;
            memcpy(&pixel, data + (ptrdiff_t)y * stride + 4 * (ptrdiff_t)x, sizeof pixel);
            if (!is_blue(pixel)) continue;
            p->blue[y * p->width + x] = true;
            p->left = x < p->left ? x : p->left;
            p->right = x > p->right ? x : p->right;
            p->top = y < p->top ? y : p->top;
            p->bottom = y > p->bottom ? y : p->bottom;
        }
    }
}

static picture draw(const figure *f) {
    char message[256] = "";
    if (!figure_write(f, "f", message, sizeof message)) fail_msg("%s", message);
    cairo_surface_t *surface = cairo_image_surface_create_from_png("f.png");
    assert_int_equal(cairo_surface_status(surface), CAIRO_STATUS_SUCCESS);
    unlink("f.png");
    unlink("f.svg");
    picture p = {.width = cairo_image_surface_get_width(surface),
                 .height = cairo_image_surface_get_height(surface)};
    p.blue = calloc((size_t)(p.width * p.height), sizeof *p.blue);
    assert_non_null(p.blue);
    p.left = p.width;
    p.top = p.height;
    p.right = p.bottom = -1;
    scan(&p, surface);
    cairo_surface_destroy(surface);
    return p;
}

/* How many columns of the picture hold something blue. */
static int blue_columns(const picture *p) {
    int columns = 0;
    for (int x = 0; x < p->width; x++) {
        bool any = false;
        for (int y = 0; y < p->height; y++) any = any || p->blue[y * p->width + x];
        columns += any;
    }
    return columns;
}

/* ---- files ---- */

static const double ramp[] = {0, 1, 2, 3}, decay[] = {1, 1e-3, 1e-6, 1e-9};

static void both_files_have_their_form_and_size(void **state) {
    static const unsigned char signature[] = {137, 'P', 'N', 'G', 13, 10, 26, 10};
    const figure_series series = {"NSGS", ramp, decay, 4, FIGURE_LINE, 0};
    figure f = {.x = {.label = "Iteration"}, .y = {.label = "Residual", .scale = FIGURE_LOG}};
    f.series = &series;
    f.series_count = 1;
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        content svg, png;
        f.width_inches = wide ? FIGURE_PAGE_WIDTH : 0;
        write_figure(&f, &svg, &png);
        assert_memory_equal(png.bytes, signature, sizeof signature);
        assert_int_equal(big_endian(png.bytes + 16), wide ? 2100 : 1020);
        assert_int_equal(big_endian(png.bytes + 20), 780);
        assert_memory_equal(png.bytes + 37, "pHYs", 4);
        assert_int_equal(big_endian(png.bytes + 41), 11811); /* dots per metre, 300 per inch */
        assert_memory_equal(svg.bytes, "<?xml", 5);
        assert_holds(svg, wide ? "width=\"504pt\"" : "width=\"244.8pt\"");
        assert_holds(svg, "</svg>");
        free(svg.bytes);
        free(png.bytes);
    }
}

static void words_are_found_in_the_svg(void **state) {
    const figure_series series[] = {{"a<b & \xff", ramp, decay, 4, FIGURE_LINE, 0},
                                    {"second", ramp, ramp, 4, FIGURE_STEPS, 0}};
    const figure_mark mark = {"tolerance", true, 1e-4};
    const figure f = {.title = "A title",
                      .x = {.label = "Time (s)"},
                      .y = {.label = "Residual"},
                      .series = series,
                      .series_count = 2,
                      .marks = &mark,
                      .mark_count = 1};
    content svg, png;
    (void)state;
    write_figure(&f, &svg, &png);
    assert_holds(svg, "<title>A title</title>");
    assert_holds(svg, "x: Time (s)");
    assert_holds(svg, "y: Residual");
    assert_holds(svg, "series: a&lt;b &amp; ?");
    assert_holds(svg, "series: second");
    assert_holds(svg, "mark: tolerance");
    free(svg.bytes);
    free(png.bytes);
}

static void equal_figures_make_equal_files(void **state) {
    const figure_series series = {"NSGS", ramp, decay, 4, FIGURE_LINE, 0};
    const figure f = {.x = {.label = "Iteration"}, .series = &series, .series_count = 1};
    content svg[2], png[2];
    (void)state;
    for (int k = 0; k < 2; k++) write_figure(&f, &svg[k], &png[k]);
    assert_int_equal(svg[0].size, svg[1].size);
    assert_memory_equal(svg[0].bytes, svg[1].bytes, svg[0].size);
    assert_int_equal(png[0].size, png[1].size);
    assert_memory_equal(png[0].bytes, png[1].bytes, png[0].size);
    for (int k = 0; k < 2; k++) {
        free(svg[k].bytes);
        free(png[k].bytes);
    }
}

/* ---- failures ---- */

static void assert_fails(const figure *f, const char *path, const char *reason, size_t files_left) {
    char message[256] = "";
    assert_false(figure_write(f, path, message, sizeof message));
    if (!strstr(message, reason)) fail_msg("'%s' does not say '%s'", message, reason);
    assert_int_equal(count_files(), files_left);
}

static void failures_are_told_and_leave_nothing(void **state) {
    const figure f = {.title = "empty"};
    (void)state;
    assert_fails(&f, "missing/f", "missing/f.svg: cannot be written: No such file", 0);
    assert_int_equal(mkdir("f.png", 0777), 0); /* the second file cannot take its place */
    assert_fails(&f, "f", "f.png: cannot be written: Is a directory", 1);
    assert_int_equal(rmdir("f.png"), 0);
    assert_int_equal(mkdir("f.svg", 0777), 0);
    assert_fails(&f, "f", "f.svg: cannot be written: Is a directory", 1);
    assert_int_equal(rmdir("f.svg"), 0);

    char deep[8192];
    memset(deep, 'd', sizeof deep - 1);
    deep[sizeof deep - 1] = 0;
    assert_fails(&f, deep, "path is longer", 0);
}

static void a_full_disk_leaves_nothing(void **state) {
    const figure f = {.title = "empty"};
    char message[256] = "";
    struct rlimit unlimited, limited;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
    limited = unlimited;
    limited.rlim_cur = 1000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limited), 0);
    const bool written = figure_write(&f, "f", message, sizeof message);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &unlimited), 0);
    signal(SIGXFSZ, handler);
    assert_false(written);
    assert_non_null(strstr(message, "f.svg: cannot be written: File too large"));
    assert_int_equal(count_files(), 0);
}

static void unprintable_sizes_are_refused(void **state) {
    const double sizes[] = {0.5, -3, 21, (double)INFINITY, (double)NAN};
    (void)state;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        const figure wide = {.width_inches = sizes[k]}, high = {.height_inches = sizes[k]};
        assert_fails(&wide, "f", "expected sides from 1 to 20", 0);
        assert_fails(&high, "f", "expected sides from 1 to 20", 0);
    }
}

/* ---- data of all kinds ---- */

static void any_data_can_be_drawn(void **state) {
    const double nothing = (double)NAN, infinite = (double)INFINITY;
    const double values[][4] = {{0, 0, 0, 0},
                                {nothing, nothing, nothing, nothing},
                                {infinite, -infinite, 0, 1},
                                {-1, -2, 0, nothing},
                                {1, 1 + 1e-15, 1, 1},
                                {1e308, -1e308, 1e-320, 5e-324},
                                {1e15, 1e15 + 1, 1e15 + 2, 1e15 + 3}};
    (void)state;
    for (size_t row = 0; row < sizeof values / sizeof *values; row++)
        for (unsigned kind = 0; kind < 32; kind++) {
            const size_t count = kind & 16 ? 4 : 1;
            const figure_series series[] = {
                {"name", values[row], values[row], count, (figure_style)(kind & 3), 0},
                {"empty", NULL, NULL, 0, (figure_style)(kind & 3), 0}};
            const figure_mark mark = {"mark", true, values[row][0]};
            figure f = {.series = series, .series_count = 2, .marks = &mark, .mark_count = 1};
            f.x.scale = kind & 4 ? FIGURE_LOG : FIGURE_LINEAR;
            f.y.scale = kind & 8 ? FIGURE_LOG : FIGURE_LINEAR;
            f.width_inches = f.height_inches = 1;
            free(draw(&f).blue);
        }
}

static void a_gap_is_left_blank(void **state) {
    const double x[] = {0, 1, 1.5, 3, 4}, y[] = {1, 1, (double)NAN, 1, 1}, whole[] = {1, 1, 1, 1, 1};
    figure_series series = {NULL, x, whole, 5, FIGURE_LINE, 0};
    const figure f = {.series = &series, .series_count = 1};
    (void)state;
    picture joined = draw(&f);
    series.y = y;
    picture parted = draw(&f);
    const int span = joined.right - joined.left, marker = 3 * 300 / 72;
    assert_int_equal(blue_columns(&joined), span + 1);
    assert_true(abs(blue_columns(&parted) - span / 2) < 3 * marker); /* x from 1 to 3 of 4 is missing */
    free(joined.blue);
    free(parted.blue);
}

static void steps_hold_to_the_right_edge(void **state) {
    const double x[] = {1, 2}, y[] = {0.2, 0.6};
    figure_series series = {NULL, x, y, 2, FIGURE_STEPS, 0};
    const figure f = {
        .x = {.low = 1, .high = 4}, .y = {.low = 0, .high = 1}, .series = &series, .series_count = 1};
    (void)state;
    picture steps = draw(&f);
    series.style = FIGURE_LINE;
    picture line = draw(&f);
    assert_true(steps.right - steps.left > 2 * (line.right - line.left));
    free(steps.blue);
    free(line.blue);
}

static void curves_stay_within_the_plot(void **state) {
    const double near[] = {0, 1}, far[] = {-1e9, 1e9};
    figure_series series = {NULL, near, near, 2, FIGURE_LINE, 0};
    const figure f = {
        .x = {.low = 0, .high = 1}, .y = {.low = 0, .high = 1}, .series = &series, .series_count = 1};
    const int marker = 3 * 300 / 72;
    (void)state;
    picture inside = draw(&f);
    series.x = series.y = far;
    picture beyond = draw(&f);
    assert_true(abs(inside.left - beyond.left) < marker && abs(inside.right - beyond.right) < marker);
    assert_true(abs(inside.top - beyond.top) < marker && abs(inside.bottom - beyond.bottom) < marker);
    free(inside.blue);
    free(beyond.blue);
}

/* Every pixel of a curve without a legend is there with it too. */
static void a_legend_hides_nothing(void **state) {
    enum { POINTS = 100 };
    double x[POINTS], y[POINTS];
    figure_series series = {NULL, x, y, POINTS, FIGURE_LINE, 0};
    const figure f = {.series = &series, .series_count = 1};
    (void)state;
    for (int shape = 0; shape < 4; shape++) {
        for (int i = 0; i < POINTS; i++) {
            const double t = x[i] = i / (POINTS - 1.0);
            y[i] = shape == 0 ? t : shape == 1 ? 1 - t : shape == 2 ? 4 * t * (1 - t) : t < 0.5 ? 0 : 1;
        }
        series.name = NULL;
        picture bare = draw(&f);
        series.name = "semi-smooth Newton";
        picture named = draw(&f);
        for (int i = 0; i < bare.width * bare.height; i++) assert_true(named.blue[i] || !bare.blue[i]);
        free(bare.blue);
        free(named.blue);
    }
}

/* The lowest row that is blue for the most part. */
static int lowest_full_row(const picture *p) {
    for (int y = p->height - 1; y >= 0; y--) {
        int blue = 0;
        for (int x = 0; x < p->width; x++) blue += p->blue[y * p->width + x];
        if (2 * blue > p->width) return y;
    }
    return -1;
}

/* Bars that fill the plot leave no room in it: the plot makes room below. */
static void a_full_plot_has_its_legend_outside(void **state) {
    const double x[] = {0, 1}, y[] = {1, 1};
    figure_series series = {NULL, x, y, 2, FIGURE_BARS, 0};
    const figure f = {.y = {.low = 0, .high = 1}, .series = &series, .series_count = 1};
    const int text_height = 7 * 300 / 72;
    (void)state;
    picture bare = draw(&f);
    series.name = "NSGS";
    picture named = draw(&f);
    assert_true(lowest_full_row(&named) < lowest_full_row(&bare) - text_height);
    free(bare.blue);
    free(named.blue);
}

/* ---- very many points ---- */

enum { MANY = 1000000 };

static double *allocate_many(void) {
    double *values = malloc(MANY * sizeof *values);
    assert_non_null(values);
    return values;
}

static void many_points_make_a_small_file(void **state) {
    static const struct {
        figure_style style;
        double turns; /* of a spiral; 0: noise over time */
        size_t most;
    } cases[] = {{FIGURE_LINE, 0, 200000},  {FIGURE_STEPS, 0, 300000},  {FIGURE_BARS, 0, 500000},
                 {FIGURE_LINE, 50, 200000}, {FIGURE_LINE, 2e5, 300000}, {FIGURE_POINTS, 2e5, 1500000}};
    double *x = allocate_many(), *y = allocate_many();
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        for (int i = 0; i < MANY; i++) {
            const double t = i / (double)MANY, angle = 2 * M_PI * cases[k].turns * t;
            x[i] = cases[k].turns > 0 ? t * cos(angle) : t;
            y[i] = cases[k].turns > 0 ? t * sin(angle) : sin(1e6 * t * t) * t;
        }
        const figure_series series = {"many", x, y, MANY, cases[k].style, 0};
        const figure f = {.series = &series, .series_count = 1};
        content svg, png;
        write_figure(&f, &svg, &png);
        if (svg.size > cases[k].most)
            fail_msg("case %zu: %zu bytes, at most %zu wanted", k, svg.size, cases[k].most);
        free(svg.bytes);
        free(png.bytes);
    }
    free(x);
    free(y);
}

/* One value among a million, far from the others, is still seen. */
static void a_lone_peak_is_kept(void **state) {
    double *x = allocate_many(), *y = allocate_many();
    const figure_style styles[] = {FIGURE_LINE, FIGURE_STEPS, FIGURE_POINTS, FIGURE_BARS};
    (void)state;
    for (int i = 0; i < MANY; i++) x[i] = i;
    for (size_t k = 0; k < sizeof styles / sizeof *styles; k++) {
        const figure_series series = {NULL, x, y, MANY, styles[k], 0};
        const figure f = {.y = {.low = -1, .high = 4}, .series = &series, .series_count = 1};
        memset(y, 0, MANY * sizeof *y);
        picture flat = draw(&f);
        y[543210] = 3;
        picture peaked = draw(&f);
        assert_true(flat.top - peaked.top > peaked.height / 3);
        free(flat.blue);
        free(peaked.blue);
    }
    free(x);
    free(y);
}

/* ---- ticks ---- */

/* Moves *text past a word, if it is there. */
static bool take(const char **text, const char *word) {
    const bool there = strncmp(*text, word, strlen(word)) == 0;
    *text += there ? strlen(word) : 0;
    return there;
}

/* A number as the figure writes it, with U+2212 for minus; moves *text past it. */
static double read_number(const char **text) {
    const bool negative = take(text, "\u2212");
    char *end;
    const double value = strtod(*text, &end);
    assert_true(end != *text);
    *text = end;
    return negative ? -value : value;
}

/* "x10^{n}", or nothing for 1. */
static double read_power(const char **text) {
    if (!take(text, "\u00d710^{")) return 1;
    const double power = read_number(text);
    assert_true(take(text, "}"));
    return pow(10, power);
}

/* Factor and offset as the axis tells them: a power, a sign and an offset, both or neither. */
static void read_factor(const char *text, double *factor, double *offset) {
    *factor = read_power(&text);
    *offset = 0;
    take(&text, " ");
    if (*text) {
        const bool negative = take(&text, "\u2212 ");
        assert_true(negative || take(&text, "+ "));
        *offset = read_number(&text);
        *offset *= read_power(&text) * (negative ? -1 : 1);
    }
    assert_int_equal(*text, 0);
}

static void check_ticks(const figure_ruler *ruler) {
    const double range = ruler->high - ruler->low;
    double factor, offset;
    assert_in_range(ruler->major_count, 2, 12);
    read_factor(ruler->factor, &factor, &offset);
    for (size_t k = 0; k < ruler->major_count; k++) {
        const figure_tick *tick = &ruler->major[k];
        const char *text = tick->text;
        const double told = read_number(&text) * factor + offset;
        assert_true(tick->at >= ruler->low - 1e-6 * range && tick->at <= ruler->high + 1e-6 * range);
        if (k > 0) assert_true(tick->at > tick[-1].at);
        if (fabs(told - tick->at) > 1e-3 * range)
            fail_msg("%s %s for %.17g", tick->text, ruler->factor, tick->at);
    }
}

static double random_number(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

/* Whatever the range, the ticks lie within and their texts, with factor and offset, tell their values. */
static void tick_texts_tell_the_values(void **state) {
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
    cairo_t *cr = cairo_create(surface);
    figure_ruler ruler;
    uint64_t seed = 1;
    (void)state;
    for (int k = 0; k < 2000; k++) {
        const double size = pow(10, 40 * random_number(&seed) - 20),
                     middle = size * (2 * random_number(&seed) - 1);
        const double range = size * pow(10, -11 * random_number(&seed));
        const figure f = {.x = {.low = middle - range, .high = middle + range}};
        figure_ruler_set_range(&ruler, &f, true);
        figure_ruler_graduate(&ruler, cr, 0, 200);
        check_ticks(&ruler);
    }
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
}

static void logarithmic_ticks_are_powers(void **state) {
    static const char *expected[] = {"10^{\u221212}", "10^{\u221210}", "10^{\u22128}", "10^{\u22126}",
                                     "10^{\u22124}",  "10^{\u22122}",  "10^{0}",       "10^{2}"};
    const figure f = {.y = {.scale = FIGURE_LOG, .low = 1e-12, .high = 1e2}};
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_A8, 1, 1);
    cairo_t *cr = cairo_create(surface);
    figure_ruler ruler;
    (void)state;
    figure_ruler_set_range(&ruler, &f, false);
    figure_ruler_graduate(&ruler, cr, 150, -150);
    assert_int_equal(ruler.major_count, 8);
    for (size_t k = 0; k < 8; k++) assert_string_equal(ruler.major[k].text, expected[k]);
    assert_int_equal(ruler.minor_count, 15);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
}

/* Whole decades, and another where a reference line would lie on the edge; one count gets its neighbours. */
static void automatic_ranges_leave_room(void **state) {
    const double count = 1, values[] = {2e-16, 5e-9};
    const figure_series series[] = {{NULL, &count, &values[0], 1, FIGURE_LINE, 0},
                                    {NULL, &count, &values[1], 1, FIGURE_LINE, 0}};
    const figure_mark mark = {"tolerance", true, 1e-4};
    figure f = {.y.scale = FIGURE_LOG, .series = series, .series_count = 2, .marks = &mark};
    figure_ruler ruler;
    (void)state;
    figure_ruler_set_range(&ruler, &f, true);
    assert_true(ruler.low == 0 && ruler.high == 2);
    figure_ruler_set_range(&ruler, &f, false);
    assert_true(ruler.low == -16 && ruler.high == -8);
    f.mark_count = 1;
    figure_ruler_set_range(&ruler, &f, false);
    assert_true(ruler.low == -16 && ruler.high == -3);
    f.y.low = 1e-12;
    f.y.high = (double)NAN;
    figure_ruler_set_range(&ruler, &f, false);
    assert_true(ruler.low == -12 && ruler.high == -3);
}

/* A marker is drawn whole: no point that has one lies on the frame. Lines may reach it. */
static void markers_keep_off_the_frame(void **state) {
    static const double x[] = {0, 5, 10}, y[] = {0, 3, 4}, powers[] = {1e-4, 1e-2, 1};
    double many[100], zero[100] = {0};
    for (int k = 0; k < 100; k++) many[k] = k;
    figure_ruler ruler;
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        figure_series series = {NULL, x, y, 3, kind ? FIGURE_POINTS : FIGURE_LINE, 0};
        figure f = {.series = &series, .series_count = 1};
        figure_ruler_set_range(&ruler, &f, true);
        assert_true(ruler.low < -0.1 && ruler.high > 10.1);
        figure_ruler_set_range(&ruler, &f, false);
        assert_true(ruler.low < -0.04 && ruler.high > 4.04);
        series.y = powers;
        f.y.scale = FIGURE_LOG;
        figure_ruler_set_range(&ruler, &f, false);
        assert_true(ruler.low < -4.04 && ruler.low > -4.5 && ruler.high > 0.04 && ruler.high < 0.5);
    }
    figure_series line = {NULL, many, zero, 100, FIGURE_LINE, 0};
    const figure f = {.series = &line, .series_count = 1};
    figure_ruler_set_range(&ruler, &f, true);
    assert_true(ruler.low == 0 && ruler.high == 99);
    line.x = many + 1, line.count = 99;
    figure_ruler_set_range(&ruler, &f, true);
    assert_true(ruler.low == 0 && ruler.high == 99); /* 1 is next to zero, 20 is not */
    line.x = many + 20, line.count = 80;
    figure_ruler_set_range(&ruler, &f, true);
    assert_true(ruler.low == 20 && ruler.high == 99);
}

#define IN_A_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

/* A cell is one unit of both axes, less a seam: that in the middle against those in two corners, which reach
 * from border to border. */
static void cells_fill_units_of_both_axes(void **state) {
    static const double middle = 2, corner[2] = {1, 3};
    const figure_series one = {"", &middle, &middle, 1, FIGURE_CELLS, 50},
                        two[] = {{"", &corner[0], &corner[0], 1, FIGURE_CELLS, 50},
                                 {"", &corner[1], &corner[1], 1, FIGURE_CELLS, 50}};
    figure f = {.x = {"x", FIGURE_LINEAR, 0.5, 3.5}, .y = {"y", FIGURE_LINEAR, 0.5, 3.5}};
    (void)state;
    f.series = &one, f.series_count = 1;
    picture small = draw(&f);
    f.series = two, f.series_count = 2;
    picture large = draw(&f);
    double width = small.right - small.left, height = small.bottom - small.top;
    assert_true(width > 20 && height > 20);
    assert_true(fabs((large.right - large.left) / width - 2.94 / 0.94) < 0.05);
    assert_true(fabs((large.bottom - large.top) / height - 2.94 / 0.94) < 0.05);
    assert_true(abs(small.left + small.right - large.left - large.right) < 4);
    free(small.blue);
    free(large.blue);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        IN_A_FOLDER(both_files_have_their_form_and_size),
        IN_A_FOLDER(words_are_found_in_the_svg),
        IN_A_FOLDER(equal_figures_make_equal_files),
        IN_A_FOLDER(failures_are_told_and_leave_nothing),
        IN_A_FOLDER(a_full_disk_leaves_nothing),
        IN_A_FOLDER(unprintable_sizes_are_refused),
        IN_A_FOLDER(any_data_can_be_drawn),
        IN_A_FOLDER(a_gap_is_left_blank),
        IN_A_FOLDER(steps_hold_to_the_right_edge),
        IN_A_FOLDER(curves_stay_within_the_plot),
        IN_A_FOLDER(a_legend_hides_nothing),
        IN_A_FOLDER(a_full_plot_has_its_legend_outside),
        IN_A_FOLDER(many_points_make_a_small_file),
        IN_A_FOLDER(a_lone_peak_is_kept),
        IN_A_FOLDER(cells_fill_units_of_both_axes),
        cmocka_unit_test(tick_texts_tell_the_values),
        cmocka_unit_test(logarithmic_ticks_are_powers),
        cmocka_unit_test(automatic_ranges_leave_room),
        cmocka_unit_test(markers_keep_off_the_frame),
    };
    return cmocka_run_group_tests_name("figures", tests, NULL, NULL);
}
