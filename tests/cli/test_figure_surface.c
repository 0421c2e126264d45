/* Surfaces and the styles that frame data: lines without markers, contours, rings. */
#include "cli/figure/surface.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Fontconfig keeps its caches to the end, behind pointers that the leak checker cannot follow. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libfontconfig\n"; }

/* ---- files ---- */

typedef struct content {
    char *bytes;
    size_t size;
} content;

/* The whole file, with a zero after it; the file is removed. */
static content take(const char *path) {
    struct stat status;
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &status), 0);
    content c = {malloc((size_t)status.st_size + 1), (size_t)status.st_size};
    assert_non_null(c.bytes);
    assert_int_equal(fread(c.bytes, 1, c.size, file), c.size);
    c.bytes[c.size] = 0;
    fclose(file);
    assert_int_equal(unlink(path), 0);
    return c;
}

static bool same(content a, content b) { return a.size == b.size && !memcmp(a.bytes, b.bytes, a.size); }

static content draw_chart(const figure *f) {
    char message[256] = "";
    if (!figure_write(f, "chart", message, sizeof message)) fail_msg("%s", message);
    content svg = take("chart.svg");
    free(svg.bytes);
    return take("chart.png");
}

static content draw_surface(const figure_surface *f) {
    char message[256] = "";
    if (!figure_surface_write(f, "surface", message, sizeof message)) fail_msg("%s", message);
    content svg = take("surface.svg"), png = take("surface.png");
    if (f->title) assert_non_null(strstr(svg.bytes, f->title));
    for (size_t k = 0; k < f->series_count; k++)
        if (f->series[k].name) assert_non_null(strstr(svg.bytes, f->series[k].name));
    assert_memory_equal(png.bytes, "\x89PNG\r\n", 6);
    free(svg.bytes);
    return png;
}

/* ---- surfaces ---- */

static double bowl(double x, double y, const void *user) { return *(const double *)user * (x * x + y * y); }

static const double once = 1;
static const double line_x[] = {-1, 0, 1, 3}, line_y[] = {-1, 0, 1, 3}; /* the last point lies outside */

static figure_surface bowl_figure(const figure_series *series, size_t count) {
    return (figure_surface){.title = "a bowl",
                            .x = {"x", FIGURE_LINEAR, -1, 1},
                            .y = {"y", FIGURE_LINEAR, -1, 1},
                            .z = {"z", FIGURE_LINEAR, 0, 0},
                            .height = bowl,
                            .user = &once,
                            .series = series,
                            .series_count = count};
}

static void a_surface_is_drawn_the_same_each_time(void **state) {
    (void)state;
    const figure_surface f = bowl_figure(NULL, 0);
    content first = draw_surface(&f), second = draw_surface(&f);
    assert_true(same(first, second));
    free(first.bytes);
    free(second.bytes);
}

/* The scale of z follows the heights, unless it is fixed. */
static void heights_fill_the_box_unless_fixed(void **state) {
    (void)state;
    figure_surface f = bowl_figure(NULL, 0);
    content automatic = draw_surface(&f);
    f.z.high = 2;
    content fitting = draw_surface(&f);
    f.z.high = 20;
    content low = draw_surface(&f);
    assert_true(same(automatic, fitting));
    assert_false(same(automatic, low));
    free(automatic.bytes);
    free(fitting.bytes);
    free(low.bytes);
}

static void series_lie_on_the_surface(void **state) {
    (void)state;
    const figure_series series[] = {{"a path", line_x, line_y, 4, FIGURE_PLAIN, FIGURE_LOOK_BLACK},
                                    {"a place", line_x, line_y, 1, FIGURE_RINGS, 2}};
    const figure_surface bare = bowl_figure(NULL, 0), full = bowl_figure(series, 2);
    content without = draw_surface(&bare), with = draw_surface(&full);
    assert_false(same(without, with));
    free(without.bytes);
    free(with.bytes);
}

static void a_surface_that_cannot_be_written_leaves_nothing(void **state) {
    (void)state;
    char message[256] = "";
    figure_surface f = bowl_figure(NULL, 0);
    assert_false(figure_surface_write(&f, "missing/surface", message, sizeof message));
    assert_non_null(strstr(message, "missing/surface"));
    f.width_inches = 100;
    assert_false(figure_surface_write(&f, "surface", message, sizeof message));
    assert_non_null(strstr(message, "100"));
    assert_int_not_equal(access("surface.svg", F_OK), 0);
}

/* ---- styles ---- */

static content draw_style(figure_style style, unsigned look) {
    const figure_series series = {"line", line_x, line_y, 4, style, look};
    const figure f = {.series = &series, .series_count = 1};
    return draw_chart(&f);
}

static void styles_and_looks_differ(void **state) {
    (void)state;
    const content drawn[] = {draw_style(FIGURE_LINE, 1),
                             draw_style(FIGURE_PLAIN, 1),
                             draw_style(FIGURE_CONTOUR, 1),
                             draw_style(FIGURE_CONTOUR, 100),
                             draw_style(FIGURE_POINTS, 1),
                             draw_style(FIGURE_RINGS, 1),
                             draw_style(FIGURE_PLAIN, FIGURE_LOOK_BLACK),
                             draw_style(FIGURE_PLAIN, FIGURE_LOOK_BLACK_DASHED),
                             draw_style(FIGURE_PLAIN, FIGURE_LOOK_BLACK_DOTTED)};
    enum { DRAWN = sizeof drawn / sizeof *drawn };
    for (int i = 0; i < DRAWN; i++)
        for (int k = 0; k < i; k++) assert_false(same(drawn[i], drawn[k]));
    for (int i = 0; i < DRAWN; i++) free(drawn[i].bytes);
}

/* Thinned like any line, so that the file stays small. */
static void long_contours_make_a_small_file(void **state) {
    (void)state;
    enum { POINTS = 100000 };
    double *x = malloc(sizeof(double) * POINTS), *y = malloc(sizeof(double) * POINTS);
    assert_true(x && y);
    for (int i = 0; i < POINTS; i++) {
        x[i] = cos(2 * M_PI * i / (POINTS - 1));
        y[i] = sin(2 * M_PI * i / (POINTS - 1));
    }
    const figure_series dense = {"circle", x, y, POINTS, FIGURE_CONTOUR, 50};
    const figure f = {.series = &dense, .series_count = 1};
    char message[256] = "";
    assert_true(figure_write(&f, "circle", message, sizeof message));
    content svg = take("circle.svg"), png = take("circle.png");
    assert_true(svg.size < 200000);
    free(svg.bytes);
    free(png.bytes);
    free(x);
    free(y);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_surface_is_drawn_the_same_each_time),
        cmocka_unit_test(heights_fill_the_box_unless_fixed),
        cmocka_unit_test(series_lie_on_the_surface),
        cmocka_unit_test(a_surface_that_cannot_be_written_leaves_nothing),
        cmocka_unit_test(styles_and_looks_differ),
        cmocka_unit_test(long_contours_make_a_small_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
