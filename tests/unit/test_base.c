/* Errors, memory, option tables, files, text, loops on threads, small dense algebra, SIMD kernels. */
#include "base/dense.h"
#include "base/error.h"
#include "base/field.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/random.h"
#include "base/simd.h"
#include "base/small.h"
#include "base/text.h"
#include "support/allocator.h"
#include "support/scale.h"
#include "support/test.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- errors ---- */

static void failures_carry_a_line(void **state) {
    (void)state;
    dls_error error;
    assert_int_equal(dls_fail(&error, DLS_ERROR_INPUT, "row %d is %g", 3, 0.5), DLS_ERROR_INPUT);
    assert_int_equal(error.status, DLS_ERROR_INPUT);
    assert_string_equal(error.message, "row 3 is 0.5");
    assert_int_equal(dls_fail(NULL, DLS_ERROR_FILE, "nobody listens"), DLS_ERROR_FILE);
    assert_int_equal(dls_fail_memory(&error), DLS_ERROR_MEMORY);
    assert_string_equal(error.message, "out of memory");
    dls_fail(&error, DLS_ERROR_FILE, "%s: no such s\xc3\xa4ule", "a\nname\r\033[2J\t\x7f"); /* of a file */
    assert_string_equal(error.message, "a?name??[2J??: no such s\xc3\xa4ule");
    dls_error_clear(&error);
    assert_int_equal(error.status, DLS_OK);
    assert_string_equal(error.message, "");
    dls_error_clear(NULL);
    assert_string_equal(dls_version(), DLS_VERSION);
}

static void long_messages_are_cut(void **state) {
    (void)state;
    dls_error error;
    char text[2000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    dls_fail(&error, DLS_ERROR_FILE, "%s", text);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
}

/* ---- allocation ---- */

static bool is_aligned(const void *block) { return (uintptr_t)block % 64 == 0; }

static void blocks_come_from_the_hook(void **state) {
    (void)state;
    counting_begin(0);
    const int source[3] = {7, 8, 9};
    char *blocks[40];
    for (size_t i = 0; i < 40; i++) {
        blocks[i] = dls_alloc(i, 1);
        assert_non_null(blocks[i]);
        assert_true(is_aligned(blocks[i]));
        memset(blocks[i], (int)i, i);
    }
    int *zero = DLS_NEW_ZERO(int, 100), *copy = dls_alloc_copy(source, 3, sizeof(int));
    for (int i = 0; i < 100; i++) assert_int_equal(zero[i], 0);
    assert_memory_equal(copy, source, sizeof source);
    assert_true(is_aligned(zero) && is_aligned(copy));
    assert_int_equal(counting_live(), 42);
    for (size_t i = 0; i < 40; i++) {
        for (size_t k = 0; k < i; k++) assert_int_equal(blocks[i][k], i);
        dls_free(blocks[i]);
    }
    dls_free(zero);
    dls_free(copy);
    dls_free(NULL);
    assert_int_equal(counting_allocations(), 42);
    assert_int_equal(counting_end(), 0);
}

static void impossible_sizes_give_null(void **state) {
    (void)state;
    counting_begin(0);
    assert_null(dls_alloc(SIZE_MAX, 1));
    assert_null(dls_alloc(SIZE_MAX / 4, 8));
    assert_null(dls_alloc(SIZE_MAX / 8 + 2, 8)); /* the product wraps to a small number */
    assert_null(dls_alloc_zero(SIZE_MAX, SIZE_MAX));
    assert_null(DLS_NEW(double, -1));
    assert_int_equal(counting_allocations(), 0);
    assert_int_equal(counting_end(), 0);
    counting_begin(1);
    assert_null(dls_alloc(1, 1));
    assert_null(dls_alloc_zero(1, 1));
    assert_null(dls_alloc_copy("a", 1, 1));
    assert_int_equal(counting_end(), 0);
}

/* ---- workspace ---- */

enum { TAKES = 60 };

static size_t take_size(int i) { return (size_t)(i * i * 37 % 5000 + (i % 7 == 0 ? 90000 : 0)); }

/* Takes blocks of many sizes, fills each, and checks at the end that none overlaps another. */
static void fill_workspace(dls_workspace *w) {
    unsigned char *taken[TAKES];
    for (int i = 0; i < TAKES; i++) {
        taken[i] = dls_workspace_take(w, take_size(i), 1);
        assert_non_null(taken[i]);
        assert_true(is_aligned(taken[i]));
        memset(taken[i], i, take_size(i));
    }
    for (int i = 0; i < TAKES; i++)
        for (size_t k = 0; k < take_size(i); k++) assert_int_equal(taken[i][k], i);
}

static void workspace_is_reused_without_allocation(void **state) {
    (void)state;
    counting_begin(0);
    dls_workspace *w = dls_workspace_create();
    dls_workspace_mark begin = dls_workspace_get_mark(w);
    fill_workspace(w);
    dls_workspace_release(w, begin);
    int first = counting_allocations();
    assert_true(first > 3); /* it had to grow */
    for (int round = 0; round < 5; round++) {
        fill_workspace(w);
        dls_workspace_release(w, begin);
        assert_int_equal(counting_allocations(), first);
    }
    size_t taken = 0;
    for (int i = 0; i < TAKES; i++) taken += take_size(i) + 64;
    assert_true(dls_workspace_bytes(w) < taken + taken / 4); /* and holds little more than it was asked for */
    dls_workspace_destroy(w);
    assert_int_equal(counting_end(), 0);
}

static void workspace_marks_nest(void **state) {
    (void)state;
    dls_workspace *w = dls_workspace_create();
    int *kept = DLS_TAKE_ZERO(w, int, 10);
    dls_workspace_mark mark = dls_workspace_get_mark(w);
    double *inner = DLS_TAKE(w, double, 100);
    dls_workspace_mark inside = dls_workspace_get_mark(w);
    for (int i = 0; i < 8; i++) memset(DLS_TAKE(w, char, 200000), 0xAB, 200000); /* many chunks more */
    dls_workspace_release(w, inside);
    dls_workspace_release(w, mark);
    assert_ptr_equal(DLS_TAKE(w, double, 100), inner);
    for (int i = 0; i < 10; i++) assert_int_equal(kept[i], 0);
    const char *empty = dls_workspace_take(w, 0, 8), *other = dls_workspace_take(w, 0, 8);
    assert_true(empty && other && empty != other);
    dls_workspace_destroy(w);
    dls_workspace_destroy(NULL);
}

static void workspace_out_of_memory(void **state) {
    (void)state;
    assert_null(dls_workspace_take(NULL, 1, 1));
    counting_begin(1);
    assert_null(dls_workspace_create());
    assert_int_equal(counting_end(), 0);
    counting_begin(3); /* the workspace and its first chunk, no more */
    dls_workspace *w = dls_workspace_create();
    assert_non_null(w);
    assert_null(dls_workspace_take(w, SIZE_MAX, 8));
    assert_null(dls_workspace_take(w, SIZE_MAX - 3, 1));
    char *held = dls_workspace_take(w, 100, 1);
    assert_non_null(held);
    memset(held, 5, 100);
    assert_null(dls_workspace_take(w, 1 << 20, 1));
    assert_null(dls_workspace_take_zero(w, 1 << 20, 1));
    assert_non_null(dls_workspace_take(w, 100, 1)); /* what fits is still given */
    for (int i = 0; i < 100; i++) assert_int_equal(held[i], 5);
    dls_workspace_release(w, (dls_workspace_mark){0, 0});
    dls_workspace_destroy(w);
    assert_int_equal(counting_end(), 0);
}

/* ---- option tables ---- */

typedef struct settings {
    int count;
    double size;
    bool loud;
    int colour;
    char name[DLS_NAME_SIZE];
    double bodies, place[3];
    const char *title;
} settings;

static const dls_field table[] = {
    {"count", DLS_FIELD_INT, offsetof(settings, count), -5, 2147483647, NULL, "1", "a count", NULL},
    {"size", DLS_FIELD_REAL, offsetof(settings, size), -1e300, 1e300, NULL, "m", "a size", NULL},
    {"loud", DLS_FIELD_BOOL, offsetof(settings, loud), 0, 1, NULL, "1", "a switch", NULL},
    {"colour", DLS_FIELD_CHOICE, offsetof(settings, colour), 0, 2, "red|green|blue", "1", "a choice", NULL},
    {"name", DLS_FIELD_NAME, offsetof(settings, name), 0, 0, NULL, "1", "a name", NULL},
    {"bodies", DLS_FIELD_WHOLE, offsetof(settings, bodies), 1, INFINITY, NULL, "1", "may be too many", NULL},
    {"title", DLS_FIELD_TEXT, offsetof(settings, title), 0, 0, NULL, "1", "a text", NULL},
    {"place", DLS_FIELD_VECTOR, offsetof(settings, place), 0, 0, NULL, "m", "a place", NULL},
    {"list", DLS_FIELD_OWN, 0, 0, 0, "list of names", "1", "what only its reader knows", NULL},
};
enum { TABLE = sizeof table / sizeof *table, SETTABLE = TABLE - 2 };

static dls_status set(settings *s, const char *key, const char *value, dls_error *error) {
    return dls_field_set(table, TABLE, s, key, value, error);
}

static void options_from_text(void **state) {
    (void)state;
    settings s = {0};
    assert_int_equal(set(&s, "count", "42", NULL), DLS_OK);
    assert_int_equal(s.count, 42);
    assert_int_equal(set(&s, "count", "1e3", NULL), DLS_OK);
    assert_int_equal(s.count, 1000);
    assert_int_equal(set(&s, "count", "2147483647", NULL), DLS_OK);
    assert_int_equal(s.count, 2147483647);
    assert_int_equal(set(&s, "size", "-1.5e-3", NULL), DLS_OK);
    assert_true(s.size == -1.5e-3);
    const char *const truths[] = {"yes", "true"}, *const lies[] = {"no", "false"};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(set(&s, "loud", truths[i], NULL), DLS_OK);
        assert_true(s.loud);
        assert_int_equal(set(&s, "loud", lies[i], NULL), DLS_OK);
        assert_false(s.loud);
    }
    assert_int_equal(set(&s, "colour", "blue", NULL), DLS_OK);
    assert_int_equal(s.colour, 2);
    assert_int_equal(set(&s, "colour", "red", NULL), DLS_OK);
    assert_int_equal(s.colour, 0);
    char name[] = "anything";
    assert_int_equal(set(&s, "name", name, NULL), DLS_OK);
    memset(name, 'x', sizeof name); /* it was copied */
    assert_string_equal(s.name, "anything");
    assert_int_equal(set(&s, "name", s.name, NULL), DLS_OK);
    assert_string_equal(s.name, "anything");
    assert_int_equal(set(&s, "bodies", "1e12", NULL), DLS_OK);
    assert_true(s.bodies == 1e12);
    assert_int_equal(set(&s, "title", name, NULL), DLS_OK);
    assert_ptr_equal(s.title, name);
}

/* One table says what may be given, in messages and on the reference pages. */
static void described_options(void **state) {
    (void)state;
    static const struct {
        dls_field field;
        const char *expected, *allowed;
    } cases[] = {
        {{.type = DLS_FIELD_REAL, .low = -INFINITY, .high = INFINITY}, "a number", "number"},
        {{.type = DLS_FIELD_REAL, .low = DBL_TRUE_MIN, .high = INFINITY}, "a number above 0", "number > 0"},
        {{.type = DLS_FIELD_REAL, .low = 0, .high = INFINITY}, "a number from 0 up", "number ≥ 0"},
        {{.type = DLS_FIELD_REAL, .low = 1e-300, .high = 1e300}, "a number above 0", "number > 0"},
        {{.type = DLS_FIELD_REAL, .low = 0, .high = 1}, "a number from 0 to 1", "number, 0 to 1"},
        {{.type = DLS_FIELD_INT, .low = 1, .high = INT_MAX}, "a whole number from 1 up", "whole number ≥ 1"},
        {{.type = DLS_FIELD_WHOLE, .low = 0, .high = 9},
         "a whole number from 0 to 9",
         "whole number, 0 to 9"},
        {{.type = DLS_FIELD_WHOLE, .low = 1, .choices = "2 or 3"}, "2 or 3", "2 or 3"},
        {{.type = DLS_FIELD_BOOL}, "yes or no", "yes or no"},
        {{.type = DLS_FIELD_CHOICE, .choices = "red|green"}, "red|green", "red|green"},
        {{.type = DLS_FIELD_NAME}, "a name", "name"},
        {{.type = DLS_FIELD_TEXT}, "a text", "text"},
        {{.type = DLS_FIELD_VECTOR}, "[x, y, z]", "vector"},
        {{.type = DLS_FIELD_OWN, .choices = "list of names"}, "list of names", "list of names"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64];
        assert_string_equal(dls_field_expected(&cases[i].field, text, sizeof text), cases[i].expected);
        assert_string_equal(dls_field_allowed(&cases[i].field, text, sizeof text), cases[i].allowed);
    }
}

/* A refused value changes nothing and says what would do. */
static void refused_options(void **state) {
    (void)state;
    static const struct {
        const char *key, *value, *said;
    } cases[] = {
        {"count", "1.5", "whole number"},
        {"count", "-6", "from -5 up"},
        {"count", "2147483648", "from -5 to 2147483647"},
        {"count", "", "whole number"},
        {"count", "7x", "'7x'"},
        {"size", "nan", "'nan'"},
        {"size", "inf", "'inf'"},
        {"size", "1e301", "1e+300"},
        {"size", "1e999", "1e+300"},
        {"size", "1e-999", "a number"},
        {"size", "two", "'two'"},
        {"loud", "maybe", "no|yes"},
        {"colour", "gree", "red|green"},
        {"colour", "greenish", "red|green"},
        {"colour", "", "red|green"},
        {"colour", "red|green", "one of"},
        {"name", "one-letter-more-than-there-is-ro", "at most 31"},
        {"bodies", "0", "a whole number from 1 up"},
        {"bodies", "1.5", "a whole number from 1 up"},
        {"place", "0", "its own reader"},
        {"list", "a", "its own reader"},
        {"colr", "red", "did you mean 'colour'"},
        {"SIZE", "1", "no option 'SIZE'"},
        {"siz", "1", "did you mean 'size'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        settings s = {.count = 1, .size = 2, .loud = true, .colour = 1, .name = "n"}, before = s;
        dls_error error;
        assert_int_equal(set(&s, cases[i].key, cases[i].value, &error), DLS_ERROR_ARGUMENT);
        assert_int_equal(error.status, DLS_ERROR_ARGUMENT);
        if (!strstr(error.message, cases[i].said)) fail_msg("%s: %s", cases[i].said, error.message);
        assert_true(s.count == before.count && s.size == before.size && s.colour == before.colour && s.loud);
        assert_int_equal(set(&s, "count", "1", &error), DLS_OK);
        assert_int_equal(error.status, DLS_OK); /* nothing of the last failure is left */
    }
    dls_error error;
    settings s = {0};
    assert_int_equal(dls_field_set(table, 0, &s, "count", "1", &error), DLS_ERROR_ARGUMENT);
    assert_string_equal(error.message, "no option 'count'");
    assert_int_equal(set(&s, NULL, "1", &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(set(&s, "count", NULL, &error), DLS_ERROR_ARGUMENT);
}

static void check_round_trip(double value) {
    settings from = {.size = value}, to = {0};
    char text[64];
    dls_field_print(&table[1], &from, text, sizeof text);
    if (set(&to, "size", text, NULL) || memcmp(&to.size, &from.size, sizeof(double)))
        fail_msg("%a became %s and then %a", value, text, to.size);
}

static void reals_keep_their_bits(void **state) {
    (void)state;
    dls_random g = {3};
    const double special[] = {
        0,         -0.0,   1,      0.1, 1.0 / 3, 1e-8, 1e300, -1e300, 5e-324, 1e-310, 2.2250738585072014e-308,
        0.1 + 0.2, 123456, 1234567};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) check_round_trip(special[i]);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = dls_random_bits(&g);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (fabs(value) <= 1e300) check_round_trip(value);
        check_round_trip(dls_random_between(&g, -10, 10));
    }
}

static void every_option_prints_as_it_reads(void **state) {
    (void)state;
    static const char *const texts[SETTABLE][2] = {{"-5", "2147483647"}, {"0.001", "1e+20"}, {"no", "yes"},
                                                   {"red", "blue"},      {"ebp", ""},        {"1", "1e+12"},
                                                   {"a b", ""}};
    for (int i = 0; i < SETTABLE; i++)
        for (int k = 0; k < 2; k++) {
            settings s = {0};
            char text[64];
            assert_int_equal(set(&s, table[i].key, texts[i][k], NULL), DLS_OK);
            dls_field_print(&table[i], &s, text, sizeof text);
            assert_string_equal(text, texts[i][k]);
        }
    settings s = {.colour = 1, .size = (double)NAN};
    char text[64], small[4];
    dls_field_print(&table[3], &s, text, sizeof text);
    assert_string_equal(text, "green");
    dls_field_print(&table[3], &s, small, sizeof small);
    assert_string_equal(small, "gre");
    dls_field_print(&table[1], &s, text, sizeof text);
    assert_string_equal(text, "nan");
    dls_field_print(&table[4], &s, text, sizeof text); /* no name at all */
    assert_string_equal(text, "");
    s.place[0] = 0.5, s.place[2] = -1;
    dls_field_print(&table[SETTABLE], &s, text, sizeof text);
    assert_string_equal(text, "[0.5, 0, -1]");
    dls_field_print(&table[SETTABLE + 1], &s, text, sizeof text);
    assert_string_equal(text, "");
}

static void distances_between_words(void **state) {
    (void)state;
    assert_int_equal(dls_text_distance("", ""), 0);
    assert_int_equal(dls_text_distance("abc", "abc"), 0);
    assert_int_equal(dls_text_distance("abc", ""), 3);
    assert_int_equal(dls_text_distance("", "abc"), 3);
    assert_int_equal(dls_text_distance("kitten", "sitting"), 3);
    assert_int_equal(dls_text_distance("flaw", "lawn"), 2);
    assert_int_equal(dls_text_distance("raduis", "radius"), 1); /* neighbours that changed places */
    assert_int_equal(dls_text_distance("Density", "density"), 0);
    char longest[500];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_true(dls_text_distance(longest, "b") >= 499); /* and no array overflows */
    assert_true(dls_text_distance("b", longest) >= 63);
}

/* Names that are near, and names that are not: a wild guess helps nobody. */
static void near_names_are_suggested(void **state) {
    (void)state;
    static const char *const known[] = {"mu", "density", "radius", "tolerance", "step", "x", "disc"};
    static const struct {
        const char *wanted, *best;
    } cases[] = {
        {"my", "mu"},         {"MU", "mu"},          {"densty", "density"},
        {"raduis", "radius"}, {"rdaiuss", "radius"}, {"tol", "tolerance"},
        {"stpe", "step"},     {"disk", "disc"},      {"tolrence", "tolerance"},
        {"friction", NULL},   {"y", NULL},           {"", NULL},
        {"t", NULL},          {"size", NULL},        {"mass", NULL},
        {"stop-at", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[64], said[64] = "";
        dls_nearest nearest = dls_nearest_begin(cases[i].wanted);
        for (size_t k = 0; k < sizeof known / sizeof *known; k++) dls_nearest_offer(&nearest, known[k]);
        if (cases[i].best) snprintf(said, sizeof said, ", did you mean '%s'?", cases[i].best);
        assert_string_equal(dls_nearest_hint(&nearest, text, sizeof text), said);
    }
}

/* ---- random numbers ---- */

static void random_numbers_are_the_published_ones(void **state) {
    (void)state;
    dls_random g = {0};
    assert_true(dls_random_bits(&g) == 0xE220A8397B1DCDAFu); /* splitmix64 from 0 */
    assert_true(dls_random_bits(&g) == 0x6E789E6AA1B965F4u);
    double mean = 0, square = 0;
    int count[7] = {0};
    enum { DRAWS = 70000 };
    for (int i = 0; i < DRAWS; i++) {
        double x = dls_random_unit(&g), y = dls_random_between(&g, -2, 3), z = dls_random_normal(&g);
        assert_true(x >= 0 && x < 1 && y >= -2 && y < 3);
        mean += z / DRAWS;
        square += z * z / DRAWS;
        count[dls_random_below(&g, 7)]++;
    }
    assert_true(fabs(mean) < 0.02 && fabs(square - 1) < 0.03);
    for (int i = 0; i < 7; i++) assert_true(abs(count[i] - DRAWS / 7) < 500);
}

/* ---- small dense algebra ---- */

static void fill(dls_random *g, double *x, int count) {
    for (int i = 0; i < count; i++) x[i] = dls_random_between(g, -1, 1);
}

static void small_products(void **state) {
    (void)state;
    dls_random g = {5};
    for (int round = 0; round < 500; round++) {
        int d = 1 + round % SMALL_MAX;
        double A[SMALL_MAX * SMALL_MAX], x[SMALL_MAX], y[SMALL_MAX], z[SMALL_MAX], trace = 0, dot = 0;
        fill(&g, A, d * d);
        fill(&g, x, d);
        fill(&g, y, d);
        memcpy(z, y, sizeof z);
        small_multiply_add(d, A, x, z);
        for (int i = 0; i < d; i++) {
            double sum = y[i];
            for (int j = 0; j < d; j++) sum += A[i + d * j] * x[j];
            assert_true(fabs(z[i] - sum) < 1e-14);
            trace += A[i + d * i];
            dot += x[i] * y[i];
        }
        small_multiply_subtract(d, A, x, z);
        for (int i = 0; i < d; i++) assert_true(fabs(z[i] - y[i]) < 1e-14);
        assert_true(fabs(small_trace(d, A) - trace) < 1e-14);
        assert_true(fabs(small_dot(d, x, y) - dot) < 1e-14);
        assert_true(fabs(small_norm(d, x) - sqrt(small_dot(d, x, x))) < 1e-14);
    }
}

static void small_systems(void **state) {
    (void)state;
    dls_random g = {6};
    for (int round = 0; round < 2000; round++) {
        int d = 1 + round % SMALL_MAX;
        double A[SMALL_MAX * SMALL_MAX], LU[SMALL_MAX * SMALL_MAX], inverse[SMALL_MAX * SMALL_MAX];
        double x[SMALL_MAX], y[SMALL_MAX] = {0};
        fill(&g, A, d * d);
        if (d > 1 && round % 3 == 0) A[0] = 0; /* needs a pivot */
        fill(&g, x, d);
        small_multiply_add(d, A, x, y);
        memcpy(LU, A, sizeof LU);
        if (!small_invert(d, A, inverse)) continue;
        double size = 0; /* of the inverse: how much rounding may grow */
        for (int i = 0; i < d * d; i++) size = fmax(size, fabs(inverse[i]));
        assert_true(small_solve(d, LU, y));
        for (int i = 0; i < d; i++) assert_true(fabs(x[i] - y[i]) < 1e-13 * (1 + size));
        for (int i = 0; i < d; i++)
            for (int j = 0; j < d; j++) {
                double sum = 0;
                for (int k = 0; k < d; k++) sum += A[i + d * k] * inverse[k + d * j];
                assert_true(fabs(sum - (i == j)) < 1e-13 * (1 + size));
            }
    }
}

static void singular_systems_are_refused(void **state) {
    (void)state;
    double zero[9] = {0}, twice[4] = {1, 2, 2, 4}, nothing[4] = {(double)NAN, 1, 1, 1}, x[3] = {1, 1, 1};
    double inverse[9];
    assert_false(small_solve(3, zero, x));
    assert_false(small_invert(2, twice, inverse));
    assert_false(small_solve(2, twice, x));
    assert_false(small_solve(2, nothing, x));
}

/* Q diag(λ) Qᵀ from random reflections has the eigenvalues that we chose, at any scale. */
static void largest_eigenvalues(void **state) {
    (void)state;
    dls_random g = {7};
    for (int round = 0; round < 1000; round++) {
        int d = 1 + round % SMALL_MAX, lead = d + round % 3;
        double A[SMALL_MAX * (SMALL_MAX + 3)] = {0}, largest = -INFINITY;
        double scale = pow(10, dls_random_between(&g, -60, 60));
        for (int i = 0; i < d; i++) {
            A[i + lead * i] = scale * dls_random_between(&g, round % 2 ? -3 : 0, 1);
            largest = fmax(largest, A[i + lead * i]);
        }
        for (int reflection = 0; reflection < 3; reflection++) {
            double v[SMALL_MAX], size;
            fill(&g, v, d);
            size = small_dot(d, v, v);
            for (int side = 0; side < 2; side++)
                for (int i = 0; i < d; i++) {
                    double sum = 0;
                    for (int k = 0; k < d; k++) sum += v[k] * A[side ? i + lead * k : k + lead * i];
                    for (int k = 0; k < d; k++)
                        A[side ? i + lead * k : k + lead * i] -= 2 * sum / size * v[k];
                }
        }
        if (d > 1) A[1] += 0.25 * scale, A[lead] -= 0.25 * scale; /* the unsymmetric part does not count */
        assert_true(fabs(small_max_eigenvalue(d, A, lead) - largest) < 1e-13 * scale * d);
    }
}

static void singular_values_of_known_matrices(void **state) {
    (void)state;
    double values[3], symmetric[4] = {2, 1, 1, 2}, indefinite[4] = {0, 3, 3, 0}, shear[4] = {1, 0, 1, 1};
    double diagonal[9] = {0, 0, 0, 0, -5, 0, 0, 0, 2}, zero[4] = {0};
    double halves[9] = {2, 0, 0, 0, 1,
                        0, 0, 0, 4}; /* halving meets one of them while another is still to come */
    assert_int_equal(dls_dense_singular_values(0, NULL, NULL, NULL), DLS_OK);
    assert_int_equal(dls_dense_singular_values(2, symmetric, values, NULL), DLS_OK);
    assert_true(fabs(values[0] - 3) < 1e-14 && fabs(values[1] - 1) < 1e-14);
    assert_int_equal(dls_dense_singular_values(2, indefinite, values, NULL), DLS_OK);
    assert_true(fabs(values[0] - 3) < 1e-14 && fabs(values[1] - 3) < 1e-14);
    assert_int_equal(dls_dense_singular_values(2, shear, values, NULL), DLS_OK);
    double golden = 0.5 * (1 + sqrt(5));
    assert_true(fabs(values[0] - golden) < 1e-14 && fabs(values[1] - 1 / golden) < 1e-14);
    assert_int_equal(dls_dense_singular_values(3, diagonal, values, NULL), DLS_OK);
    assert_true(fabs(values[0] - 5) < 1e-14 && fabs(values[1] - 2) < 1e-14 && values[2] == 0);
    assert_int_equal(dls_dense_singular_values(3, halves, values, NULL), DLS_OK);
    assert_true(fabs(values[0] - 4) < 1e-14 && fabs(values[1] - 2) < 1e-14 && fabs(values[2] - 1) < 1e-14);
    assert_int_equal(dls_dense_singular_values(2, zero, values, NULL), DLS_OK);
    assert_true(values[0] == 0 && values[1] == 0);
}

/* Reflections from both sides turn a diagonal into a full matrix and leave its values: at any scale, and
 * where most of them are zero. */
static void singular_values_of_turned_diagonals(void **state) {
    (void)state;
    enum { MOST = 70 };
    dls_random g = {17};
    static double A[MOST * MOST];
    for (int round = 0; round < 200; round++) {
        int n = 1 + round % MOST, rank = round % 3 ? n : (n + 1) / 2;
        double wanted[MOST] = {0}, values[MOST], scale = pow(10, dls_random_between(&g, -250, 250));
        memset(A, 0, sizeof A);
        for (int i = 0; i < rank; i++) {
            wanted[i] = scale * (rank - i) / rank;
            A[i + n * i] = (i % 2 ? -1 : 1) * wanted[i];
        }
        for (int side = 0; side < 2; side++) {
            double v[MOST], size;
            fill(&g, v, n);
            size = small_dot(n, v, v);
            for (int i = 0; i < n; i++) {
                double sum = 0;
                for (int k = 0; k < n; k++) sum += v[k] * A[side ? i + n * k : k + n * i];
                for (int k = 0; k < n; k++) A[side ? i + n * k : k + n * i] -= 2 * sum / size * v[k];
            }
        }
        assert_int_equal(dls_dense_singular_values(n, A, values, NULL), DLS_OK);
        for (int i = 0; i < n; i++) assert_true(fabs(values[i] - wanted[i]) < 1e-15 * (n + 10) * scale);
    }
}

/* ---- row kernels ---- */

static void row_kernels_agree_with_their_twin(void **state) {
    (void)state;
    dls_random g = {8};
    enum { BLOCKS = 40, COLUMNS = 50 };
    for (int round = 0; round < 400; round++) {
        int d = 2 + round % 2, count = round / 2 % BLOCKS, column[BLOCKS];
        double *A = malloc(sizeof(double) * (size_t)(count * d * d + DLS_SIMD_PAD)), x[3 * COLUMNS];
        double y[3], twin[3];
        fill(&g, A, count * d * d);
        for (int i = 0; i < DLS_SIMD_PAD; i++) A[count * d * d + i] = (double)NAN; /* must not matter */
        fill(&g, x, 3 * COLUMNS);
        fill(&g, y, 3);
        memcpy(twin, y, sizeof y);
        for (int k = 0; k < count; k++) column[k] = (int)dls_random_below(&g, COLUMNS);
        dls_block_row(d, count, A, column, x, twin);
        if (d == 3)
            dls_block3_row(count, A, column, x, y);
        else
            dls_block2_row(count, A, column, x, y);
        for (int i = 0; i < d; i++) assert_true(fabs(y[i] - twin[i]) < 1e-13);
        free(A);
    }
}

/* The twin itself against single entries. */
static void twin_kernel_is_right(void **state) {
    (void)state;
    double A[2 * 16], x[4 * 3], y[4] = {1, 2, 3, 4};
    const int column[2] = {2, 0};
    for (int i = 0; i < 32; i++) A[i] = i + 1;
    for (int i = 0; i < 12; i++) x[i] = i;
    dls_block_row(4, 2, A, column, x, y);
    for (int i = 0; i < 4; i++) {
        double expected = i + 1;
        for (int j = 0; j < 4; j++) expected += (i + 4 * j + 1) * (8 + j) + (16 + i + 4 * j + 1) * j;
        assert_true(y[i] == expected);
    }
}

/* ---- files and text ---- */

static void write_text(const char *path, const char *text) {
    dls_aside *aside;
    dls_error error;
    if (dls_aside_open(path, &aside, &error)) fail_msg("%s", error.message);
    fputs(text, dls_aside_stream(aside));
    assert_int_equal(dls_aside_commit(aside, true, &error), DLS_OK);
}

static void assert_content(const char *path, const char *text) {
    char found[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    found[fread(found, 1, sizeof found - 1, file)] = '\0';
    fclose(file);
    assert_string_equal(found, text);
}

static void files_appear_whole_or_not_at_all(void **state) {
    (void)state;
    dls_aside *aside;
    dls_error error;
    write_text("plain.txt", "first");
    assert_content("plain.txt", "first");
    assert_int_equal(symlink("plain.txt", "link.txt"), 0);
    write_text("link.txt", "second");
    assert_content("plain.txt", "second"); /* a link stays a link */
    assert_int_equal(dls_aside_open("plain.txt", &aside, &error), DLS_OK);
    fputs("third", dls_aside_stream(aside));
    fflush(dls_aside_stream(aside));
    assert_content("plain.txt", "second");
    dls_aside_abandon(aside);
    assert_content("plain.txt", "second");
    assert_int_equal(dls_aside_open("/dev/full", &aside, &error), DLS_OK);
    for (int k = 0; k < 100000; k++)
        fputc('x', dls_aside_stream(aside)); /* fails on the way, not at the end */
    assert_int_equal(dls_aside_commit(aside, true, &error), DLS_ERROR_FILE);
    assert_string_equal(error.message, "/dev/full: cannot be written: No space left on device");
    assert_int_equal(dls_folder_make("a/b//c/", &error), DLS_OK);
    assert_int_equal(dls_folder_make("a/b/c", &error), DLS_OK);
    write_text("a/b/c/deep.txt", "deep");
    assert_int_equal(dls_folder_make("plain.txt", &error), DLS_ERROR_FILE);
    assert_string_equal(error.message, "plain.txt: cannot be written: Not a directory");
    assert_int_equal(dls_folder_make("", &error), DLS_ERROR_FILE);
    assert_string_equal(error.message, "'': the name is empty, expected a folder");
}

typedef void (*put_function)(FILE *stream, const char *text);

static void assert_put(put_function put, const char *text, const char *expected) {
    char *found;
    size_t size;
    FILE *stream = open_memstream(&found, &size);
    assert_non_null(stream);
    put(stream, text);
    fclose(stream);
    assert_string_equal(found, expected);
    free(found);
}

static void fields_are_escaped(void **state) {
    (void)state;
    assert_put(dls_put_csv, "plain 1", "plain 1");
    assert_put(dls_put_csv, "a,b", "\"a,b\"");
    assert_put(dls_put_csv, "say \"no\"", "\"say \"\"no\"\"\"");
    assert_put(dls_put_csv, "=1+1", "\"=1+1\"");
    assert_put(dls_put_csv, "two\nlines", "\"two\nlines\"");
    assert_put(dls_put_xml, "a<b & \"c\">d", "a&lt;b &amp; &quot;c&quot;&gt;d");
    assert_put(dls_put_xml, "µ\t\x01\xff\xed\xa0\x80.", "µ\t?????.");
    assert_int_equal(dls_utf8_length(""), 0);
    assert_int_equal(dls_utf8_length("\xc0\x80"), 0); /* overlong */
    assert_int_equal(dls_utf8_length("€"), 3);
    assert_int_equal(dls_utf8_length("\xf4\x90\x80\x80"), 0); /* beyond the last */
    assert_true(dls_hash_text("ab") != dls_hash_text("ba"));
    assert_true(dls_hash_text("drum") == UINT64_C(0x9eb08f77017c6d12));
}

/* ---- loops on threads ---- */

static void halve_range(void *self, int first, int end) {
    double *x = self;
    for (int i = first; i < end; i++) x[i] /= 2;
}

static double sum_range(void *self, int first, int end) {
    double sum = 0, *x = self;
    for (int i = first; i < end; i++) sum += x[i];
    return sum;
}

static double max_range(void *self, int first, int end) {
    double max = 0, *x = self;
    for (int i = first; i < end; i++) max = fmax(max, x[i]);
    return max;
}

static void loops_give_the_same_bits_on_any_threads(void **state) {
    (void)state;
    enum { MOST = 300000 }; /* more than the parts hold at their least size */
    static double x[MOST];
    static const int COUNTS[] = {0, 1, 511, 512, 513, 5000, MOST};
    for (int k = 0; k < (int)(sizeof COUNTS / sizeof COUNTS[0]); k++) {
        int n = COUNTS[k];
        dls_random random = {7};
        double plain = 0, largest = 0, sum = 0;
        for (int i = 0; i < n; i++) {
            x[i] = dls_random_unit(&random);
            plain += x[i];
            largest = fmax(largest, x[i]);
        }
        for (int threads = 1; threads <= 5; threads++) {
            double again = dls_parallel_sum(n, threads, sum_range, x);
            if (threads == 1) sum = again;
            assert_true(again == sum);
            assert_true(fabs(again - plain) <= 1e-12 * plain);
            assert_true(dls_parallel_max(n, threads, max_range, x) == largest);
            dls_parallel_for(n, threads, halve_range, x);
            dls_parallel_each(n < 600 ? n : 600, threads, halve_range, x);
            for (int i = 0; i < n; i++)
                x[i] *= i < 600 ? 4 : 2; /* exact, so that all are back unless missed */
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_carry_a_line),
        cmocka_unit_test(long_messages_are_cut),
        cmocka_unit_test(blocks_come_from_the_hook),
        cmocka_unit_test(impossible_sizes_give_null),
        cmocka_unit_test(workspace_is_reused_without_allocation),
        cmocka_unit_test(workspace_marks_nest),
        cmocka_unit_test(workspace_out_of_memory),
        cmocka_unit_test(options_from_text),
        cmocka_unit_test(described_options),
        cmocka_unit_test(refused_options),
        cmocka_unit_test(reals_keep_their_bits),
        cmocka_unit_test(every_option_prints_as_it_reads),
        cmocka_unit_test(distances_between_words),
        cmocka_unit_test(near_names_are_suggested),
        cmocka_unit_test(random_numbers_are_the_published_ones),
        cmocka_unit_test(small_products),
        cmocka_unit_test(small_systems),
        cmocka_unit_test(singular_systems_are_refused),
        cmocka_unit_test(largest_eigenvalues),
        cmocka_unit_test(singular_values_of_known_matrices),
        cmocka_unit_test(singular_values_of_turned_diagonals),
        cmocka_unit_test(row_kernels_agree_with_their_twin),
        cmocka_unit_test(twin_kernel_is_right),
        cmocka_unit_test(files_appear_whole_or_not_at_all),
        cmocka_unit_test(fields_are_escaped),
        cmocka_unit_test(loops_give_the_same_bits_on_any_threads),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
