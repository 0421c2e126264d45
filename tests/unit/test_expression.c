/* Expressions: grammar, every function, messages with columns, limits, derivatives, threads. */
#include "base/random.h"
#include "support/allocator.h"
#include "support/scale.h"
#include "support/test.h"
#include "world/function/expression.h"

#include <delassus/scene.h>
#include <delassus/world.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static dls_function *function_of(const char *text) {
    static const char *const names[] = {"R", "omega", "min"};
    static const double values[] = {0.25, 3, 9};
    dls_function *f;
    dls_error error;
    if (dls_function_expression(text, 3, names, values, &f, &error)) fail_msg("%s: %s", text, error.message);
    return f;
}

static double value_at(const char *text, double t) {
    dls_function *f = function_of(text);
    double value = dls_function_value(f, t);
    dls_function_destroy(f);
    return value;
}

/* ---- grammar and values ---- */

/* Exact: every value here is what one rounding of each operation gives. */
static void operators_have_their_ranks(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value; /* at t = 2 */
    } cases[] = {
        {"1 + 2*3 - 4/2", 5},
        {"7 - 2 - 1", 4},
        {"8/2/2", 2},
        {"8/2*4", 16},
        {"2*t^3", 16},
        {"2^3^2", 512},
        {"(2^3)^2", 64},
        {"-2^2", -4},
        {"(-2)^2", 4},
        {"2^-1", 0.5},
        {"2^-2^2", 0.0625},
        {"2^-1*4", 2},
        {"2*-3", -6},
        {"2--3", 5},
        {"2-+3", -1},
        {"+t", 2},
        {"-t*3", -6},
        {"-t + 3", 1},
        {"1 < 2 < 0.5", 0},
        {"1 == 3 > 2", 0},
        {"3 > 2 == 1", 1},
        {"1 + 1 == 2", 1},
        {"1 <= 1 && 2 >= 3", 0},
        {"1 != 1 || 2 < 3", 1},
        {"1 || 0 && 0", 1},
        {"0 && 0 || 1", 1},
        {"0.3 && -0.1", 1},
        {"0 || 0.3", 1},
        {"t > 1 ? 5 : 6", 5},
        {"t > 3 ? 5 : 6 + 1", 7},
        {"0 ? 1 : 0 ? 2 : 3", 3},
        {"1 ? 0 ? 7 : 8 : 9", 8},
        {"1 + 1 ? 2 : 3", 2},
        {"(0 ? 1 : 2) + 1", 3},
        {"0.1 ? 1 : 2", 1},
        {"t == 2 ? 1 : 1/(t - 2)", 1},
        {"sqrt(1 - t) ? 1 : 2", 1},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        if (value_at(cases[k].text, 2) != cases[k].value)
            fail_msg("%s is %.17g, expected %.17g", cases[k].text, value_at(cases[k].text, 2),
                     cases[k].value);
}

static void numbers_and_names_are_read(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"0", 0},
        {"12", 12},
        {"12.", 12},
        {".5", .5},
        {"12.5e3", 12.5e3},
        {"12.5E-3", 12.5e-3},
        {"1e+2", 1e2},
        {"0.1", 0.1},
        {"3.14159265358979323846", 3.14159265358979323846},
        {"1.7976931348623157e308", 1.7976931348623157e308},
        {"4.9406564584124654e-324", 4.9406564584124654e-324},
        {"1e-999", 0},
        {"0e99999999999999999999", 0},
        {"0.000000000000000000000000000000000000001e39", 1},
        {"pi", 3.14159265358979323846},
        {"e", 2.71828182845904523536},
        {"R*4", 1},
        {"omega - R", 2.75},
        {"min - min(3, 2)", 7},
        {" \t\n2 \r\n* 3 ", 6},
        {"abs (-2)", 2},
        {"((((2))))", 2},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        if (value_at(cases[k].text, 0) != cases[k].value)
            fail_msg("%s is %.17g, expected %.17g", cases[k].text, value_at(cases[k].text, 0),
                     cases[k].value);
}

static void constants_win_over_those_that_are_known(void **state) {
    (void)state;
    static const char *const names[] = {"e", "a", "a"};
    static const double values[] = {7, 1, 2};
    dls_function *f;
    assert_int_equal(dls_function_expression("10*e + a", 3, names, values, &f, NULL), DLS_OK);
    assert_true(dls_function_value(f, 0) == 72);
    dls_function_destroy(f);
}

/* ---- functions and their derivatives ---- */

typedef struct known {
    const char *text;
    double t, f[3]; /* value, first and second derivative */
} known;

static void check_known(const known *k) {
    dls_function *f = function_of(k->text);
    double out[3];
    dls_function_derivatives(f, k->t, out);
    assert_true(out[0] == dls_function_value(f, k->t));
    for (int i = 0; i < 3; i++)
        if (!(fabs(out[i] - k->f[i]) <= 4e-15 * (1 + fabs(k->f[i]))))
            fail_msg("derivative %d of %s at %g is %.17g, expected %.17g", i, k->text, k->t, out[i], k->f[i]);
    dls_function_destroy(f);
}

static void functions_and_derivatives_are_those_of_closed_forms(void **state) {
    (void)state;
    double s = sin(0.5), c = cos(0.5), n = tan(0.5), q = 1 - 0.25, h = sinh(0.5), k = cosh(0.5);
    double th = tanh(0.5), p = 1.25, r = sqrt(1.5 * 1.5 - 1), l2 = log(2), l10 = log(10);
    const known cases[] = {
        {"sin(t)", 0.5, {s, c, -s}},
        {"cos(t)", 0.5, {c, -s, -c}},
        {"tan(t)", 0.5, {n, 1 + n * n, 2 * n * (1 + n * n)}},
        {"asin(t)", 0.5, {asin(0.5), 1 / sqrt(q), 0.5 / (q * sqrt(q))}},
        {"acos(t)", 0.5, {acos(0.5), -1 / sqrt(q), -0.5 / (q * sqrt(q))}},
        {"atan(t)", 0.5, {atan(0.5), 1 / p, -1 / (p * p)}},
        {"atan2(t, 2)", 1, {atan2(1, 2), 2. / 5, -4. / 25}},
        {"atan2(2, t)", 1, {atan2(2, 1), -2. / 5, 4. / 25}},
        {"atan2(sin(3*t), cos(3*t))", 0.5, {1.5, 3, 0}},
        {"sinh(t)", 0.5, {h, k, h}},
        {"cosh(t)", 0.5, {k, h, k}},
        {"tanh(t)", 0.5, {th, 1 - th * th, -2 * th * (1 - th * th)}},
        {"asinh(t)", 0.5, {asinh(0.5), 1 / sqrt(p), -0.5 / (p * sqrt(p))}},
        {"acosh(t)", 1.5, {acosh(1.5), 1 / r, -1.5 / (r * r * r)}},
        {"atanh(t)", 0.5, {atanh(0.5), 1 / q, 1 / (q * q)}},
        {"exp(2*t)", 0.5, {exp(1), 2 * exp(1), 4 * exp(1)}},
        {"ln(t)", 0.5, {-l2, 2, -4}},
        {"log(t)", 0.5, {-l2, 2, -4}},
        {"log2(t)", 0.5, {-1, 2 / l2, -4 / l2}},
        {"log10(t)", 0.5, {-l2 / l10, 2 / l10, -4 / l10}},
        {"sqrt(t)", 4, {2, 0.25, -1. / 32}},
        {"abs(t)", -2, {2, -1, 0}},
        {"abs(t^2)", -2, {4, -4, 2}},
        {"sign(t)", -2, {-1, 0, 0}},
        {"sign(t)", 2, {1, 0, 0}},
        {"sign(t)", 0, {0, 0, 0}},
        {"rint(t)", 2.5, {3, 0, 0}},
        {"rint(t)", -2.5, {-2, 0, 0}},
        {"rint(t)", 2.4, {2, 0, 0}},
        {"min(t, t^2, 7)", 3, {3, 1, 0}},
        {"max(1, t^2, t)", 3, {9, 6, 2}},
        {"max(t)", 3, {3, 1, 0}},
        {"sum(t, t^2, t^3)", 2, {14, 17, 14}},
        {"sum(t)", 2, {2, 1, 0}},
        {"avg(t, t^2, t^3)", 2, {14. / 3, 17. / 3, 14. / 3}},
        {"avg(t)", 2, {2, 1, 0}},
        {"-t", 2, {-2, -1, 0}},
        {"t - 3", 2, {-1, 1, 0}},
        {"t*t*t", 2, {8, 12, 12}},
        {"1/t", 2, {0.5, -0.25, 0.25}},
        {"t/(1 + t)", 1, {0.5, 0.25, -0.25}},
        {"t^5", -2, {-32, 80, -160}},
        {"t^-2", 2, {0.25, -0.25, 0.375}},
        {"t^0.5", 4, {2, 0.25, -1. / 32}},
        {"2^t", 3, {8, 8 * l2, 8 * l2 * l2}},
        {"t^t", 1, {1, 1, 2}},
        {"t^2", 0, {0, 0, 2}},
        {"t^1", 0, {0, 1, 0}},
        {"t^0", 0, {1, 0, 0}},
        {"0^t", 1, {0, 0, 0}},
        {"t < 1 ? t : t^2", 0.5, {0.5, 1, 0}},
        {"t < 1 ? t : t^2", 3, {9, 6, 2}},
        {"t + (t > 1) + (t && 1) + (t || 0)", 3, {6, 1, 0}},
        {"3*R", 3, {0.75, 0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_known(&cases[i]);
}

static void kinks_have_the_derivatives_from_the_right(void **state) {
    (void)state;
    static const known cases[] = {
        {"abs(t)", 0, {0, 1, 0}},      {"abs(-3*t)", 0, {0, 3, 0}},       {"abs(-t^2)", 0, {0, 0, 2}},
        {"min(t, 0)", 0, {0, 0, 0}},   {"min(0, t)", 0, {0, 0, 0}},       {"max(t, 0)", 0, {0, 1, 0}},
        {"max(0, t)", 0, {0, 1, 0}},   {"max(t, t - t^2)", 0, {0, 1, 0}}, {"min(t, t - t^2)", 0, {0, 1, -2}},
        {"min(1, t/2)", 2, {1, 0, 0}}, {"t < 1 ? 1 : t", 1, {1, 1, 0}},   {"t <= 1 ? 1 : t", 1, {1, 0, 0}},
        {"rint(t)", 0.5, {1, 0, 0}},   {"(t >= 1)*t", 1, {1, 1, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_known(&cases[i]);
}

/* Slopes of sqrt and the like are infinite at 0, yet what does not move there has the derivative 0. */
static void what_rests_has_no_derivatives(void **state) {
    (void)state;
    static const known cases[] = {
        {"sqrt(max(t - 1, 0))", 0.5, {0, 0, 0}},
        {"sqrt(t < 1 ? 0 : t)", 0.5, {0, 0, 0}},
        {"sqrt(0*t)", 0.5, {0, 0, 0}},
        {"sqrt(0/t)", 0.5, {0, 0, 0}},
        {"asin(sign(t))", 0.5, {1.5707963267948966192, 0, 0}},
        {"max(t - 1, 0)^0.5", 0.5, {0, 0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_known(&cases[i]);
    double out[3];
    dls_function *f = function_of("sqrt(t)");
    dls_function_derivatives(f, 0, out);
    assert_true(out[0] == 0 && isinf(out[1]) && !isfinite(out[2]));
    dls_function_destroy(f);
}

static void what_is_not_there_has_no_derivatives(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double t;
    } cases[] = {{"ln(t)", -1}, {"t", NAN}, {"0/0", 1}, {"2*sqrt(t)", -1}, {"t^0.5", -1}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double out[3];
        dls_function *f = function_of(cases[k].text);
        dls_function_derivatives(f, cases[k].t, out);
        assert_true(isnan(out[0]) && isnan(out[1]) && isnan(out[2]));
        dls_function_destroy(f);
    }
}

/* Differences of fourth order, of values for the first derivative and of first derivatives for the second. */
static void derivatives_are_those_of_differences(void **state) {
    (void)state;
    static const char *const texts[] = {"0.1*sin(2*pi*t)*exp(-t/3)",
                                        "atan2(sin(t), 2 + cos(t)) / (1 + t^2)",
                                        "tanh(t)*ln(2 + t) - sqrt(1 + t)",
                                        "(1 + t)^(sin(t) + 2)",
                                        "log10(2 + t)*asinh(t) + acosh(3 + t)",
                                        "asin(t/4)*acos(t/5) - atanh(t/6)",
                                        "avg(t, cosh(t), 2^t)^3",
                                        "t > 0.7 ? sum(t, log2(2 + t)) : -t/(3 - t)"};
    dls_random g = {5};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        dls_function *f = function_of(texts[k]);
        for (int n = 0; n < scaled(200, 20); n++) {
            double t = dls_random_between(&g, 0.1, 1.5), h = 1e-3, out[3], at[4][3];
            if (fabs(t - 0.7) < 3 * h) continue;
            dls_function_derivatives(f, t, out);
            for (int i = 0; i < 4; i++) dls_function_derivatives(f, t + h * (i < 2 ? i - 2 : i - 1), at[i]);
            for (int i = 0; i < 2; i++) {
                double d = (at[0][i] - 8 * at[1][i] + 8 * at[2][i] - at[3][i]) / (12 * h);
                if (!(fabs(d - out[i + 1]) < 1e-9 * (1 + fabs(d))))
                    fail_msg("derivative %d of %s at %g is %.15g, by differences %.15g", i + 1, texts[k], t,
                             out[i + 1], d);
            }
        }
        dls_function_destroy(f);
    }
}

static void constants_and_tables_have_derivatives(void **state) {
    (void)state;
    static const double t[3] = {0, 1, 3}, y[3] = {2, 4, 0};
    static const struct {
        double t, value, slope;
    } cases[] = {{-1, 2, 0}, {0, 2, 2}, {0.5, 3, 2}, {1, 4, -2}, {2, 2, -2}, {3, 0, 0}, {4, 0, 0}};
    double out[3];
    dls_function *f;
    assert_int_equal(dls_function_table(3, t, y, &f, NULL), DLS_OK);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dls_function_derivatives(f, cases[k].t, out);
        assert_true(out[0] == cases[k].value && out[1] == cases[k].slope && out[2] == 0);
    }
    dls_function_derivatives(f, NAN, out);
    assert_true(isnan(out[0]) && isnan(out[1]) && isnan(out[2]));
    dls_function_destroy(f);
    assert_int_equal(dls_function_table(1, t, y, &f, NULL), DLS_OK);
    dls_function_derivatives(f, 0, out);
    assert_true(out[0] == 2 && out[1] == 0 && out[2] == 0);
    dls_function_destroy(f);
    assert_int_equal(dls_function_constant(3, &f, NULL), DLS_OK);
    dls_function_derivatives(f, 5, out);
    assert_true(out[0] == 3 && out[1] == 0 && out[2] == 0);
    dls_function_destroy(f);
    dls_function_derivatives(NULL, 0, out);
    assert_true(isnan(out[0]) && isnan(out[1]) && isnan(out[2]));
}

/* ---- refusals ---- */

static dls_error refusal_of(const char *text) {
    static const char *const names[] = {"R", "omega"};
    static const double values[] = {0.25, 3};
    dls_function *f = (dls_function *)&f;
    dls_error error;
    assert_int_equal(dls_function_expression(text, 2, names, values, &f, &error), DLS_ERROR_INPUT);
    assert_int_equal(error.status, DLS_ERROR_INPUT);
    assert_null(f);
    return error;
}

static void refuses(const char *text, const char *part) {
    dls_error error = refusal_of(text);
    if (!strstr(error.message, part)) fail_msg("'%s' is not in: %s", part, error.message);
}

static void refusals_name_the_column_and_what_was_expected(void **state) {
    (void)state;
    static const char operand[] = "expected a number, a name or '('",
                      more[] = "expected an operator or the end";
    static const struct {
        const char *text, *found, *expected;
    } cases[] = {
        {"2*", "unexpected end at column 3, ", operand},
        {"2*)", "unexpected ')' at column 3, ", operand},
        {"()", "unexpected ')' at column 2, ", operand},
        {"--2", "unexpected '-' at column 2, ", operand},
        {"2^--2", "unexpected '-' at column 4, ", operand},
        {"2 ** 3", "unexpected '*' at column 4, ", operand},
        {"!t", "unexpected '!' at column 1, ", operand},
        {".", "unexpected '.' at column 1, ", operand},
        {"2 * \xc3\xa9", "unexpected '\xc3\xa9' at column 5, ", operand},
        {"2)", "unexpected ')' at column 2, ", more},
        {"2 3", "unexpected '3' at column 3, ", more},
        {"2 t", "unexpected 't' at column 3, ", more},
        {"2t", "unexpected 't' at column 2, ", more},
        {"2(3)", "unexpected '(' at column 2, ", more},
        {"t(3)", "unexpected '(' at column 2, ", more},
        {"1e", "unexpected 'e' at column 2, ", more},
        {"1.5.2", "unexpected '.' at column 4, ", more},
        {"1 & 2", "unexpected '&' at column 3, ", more},
        {"1 | 2", "unexpected '|' at column 3, ", more},
        {"5%3", "unexpected '%' at column 2, ", more},
        {"1 : 2", "unexpected ':' at column 3, ", more},
        {"1, 2", "unexpected ',' at column 2, ", more},
        {"t = 3", "assignment at column 3, ", "expected == to compare"},
        {"(t = 3)", "assignment at column 4, ", "expected == to compare"},
        {"1 < = 2", "unexpected '=' at column 5, ", operand},
        {"1 ? 2", "unexpected end at column 6, ", "expected an operator or ':' with what is else"},
        {"1 ? 2 3", "unexpected '3' at column 7, ", "expected an operator or ':' with what is else"},
        {"(1 2)", "unexpected '2' at column 4, ", "expected an operator or ')'"},
        {"(1, 2)", "unexpected ',' at column 3, ", "expected an operator or ')'"},
        {"2*(3 + 1", "missing ')' at column 9 for the '(' at column 3", ""},
        {"sin(1", "missing ')' at column 6 for the '(' at column 4", ""},
        {"sin", "unexpected end at column 4, ", "expected '(' after sin"},
        {"sin t", "unexpected 't' at column 5, ", "expected '(' after sin"},
        {"sin()", "unexpected ')' at column 5, ", operand},
        {"sin(1, 2)", "unexpected ',' at column 6, ", "expected ')': sin takes 1 argument"},
        {"atan2(1)", "unexpected ')' at column 8, ", "expected ',': atan2 takes 2 arguments"},
        {"atan2(1, 2, 3)", "unexpected ',' at column 11, ", "expected ')': atan2 takes 2 arguments"},
        {"min()", "unexpected ')' at column 5, ", operand},
        {"min(1,)", "unexpected ')' at column 7, ", operand},
        {"min(1 2)", "unexpected '2' at column 7, ", "expected an operator, ',' or ')'"},
        {"1e999", "number too large at column 1, ", "expected at most 1.8e308"},
        {"1 + x", "no variable 'x' at column 5", ""},
        {"5 cm", "no variable 'cm' at column 3", ""},
        {"5cm", "no variable 'cm' at column 2", ""},
        {"2*omeag*t", "no variable 'omeag' at column 3, did you mean 'omega'?", ""},
        {"2*Pi", "no variable 'Pi' at column 3, did you mean 'pi'?", ""},
        {"sqr(2)", "no function 'sqr' at column 1, did you mean 'sqrt'?", ""},
        {"1 + pow(2, 3)", "no function 'pow' at column 5", ""},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        char message[300];
        snprintf(message, sizeof message, "expression '%s': %s%s", cases[k].text, cases[k].found,
                 cases[k].expected);
        dls_error error = refusal_of(cases[k].text);
        assert_string_equal(error.message, message);
    }
    refuses("2 * \x01", "expression '2 *  ': unexpected byte 0x01 at column 5, ");
}

static char *repeated(const char *front, const char *piece, int count, const char *middle, const char *back) {
    size_t room = strlen(front) + strlen(middle) + (strlen(piece) + strlen(back)) * (size_t)count + 1;
    char *text = malloc(room), *end = stpcpy(text, front);
    for (int k = 0; k < count; k++) end = stpcpy(end, piece);
    end = stpcpy(end, middle);
    for (int k = 0; k < count; k++) end = stpcpy(end, back);
    return text;
}

static void long_words_are_cut_in_messages(void **state) {
    (void)state;
    char *word = repeated("2*", "ab", 1004, "", ""), cut[100] = "";
    for (int k = 0; k < 30; k++) strcat(cut, "ab");
    strcat(cut, "' at column 3");
    refuses(word, cut);
    free(word);
    word = repeated("", "ab", 5000, "", "");
    refuses(word, "10000 characters, expected at most 4096");
    free(word);
}

static void length_is_bounded(void **state) {
    (void)state;
    char *text = repeated("t", "+t", 2047, " ", ""); /* 4096 characters */
    assert_int_equal(strlen(text), 4096);
    assert_true(value_at(text, 1) == 2048);
    free(text);
    text = repeated("t", "+t", 2048, "", "");
    refuses(text, "4097 characters, expected at most 4096");
    free(text);
    text = repeated("sum(t", ",t", 2000, ")", "");
    assert_true(value_at(text, 1) == 2001);
    free(text);
    text = repeated("0.", "0", 4000, "1e4001", "");
    assert_true(value_at(text, 1) == 1);
    free(text);
}

static void depth_is_bounded(void **state) {
    (void)state;
    static const struct {
        const char *open, *close;
        int levels;
    } ways[] = {
        {"(", ")", 1},
        {"-(", ")", 1},
        {"abs(", ")", 1},
        {"t^", "", 1},
        {"t^-", "", 1},
        {"t ? t : ", "", 1},
        {"t ? ", " : t", 1},
        {"max(t, t, ", ")", 1},
        {"t||t&&t<t+t*(", ")", 1},
        {"t||t&&t<t+t*sum(t,", ")", 1}, /* most values wait here */
        {"t||t&&t<t+t*t^(", ")", 2},
    };
    for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
        int count = 64 / ways[k].levels;
        char *text = repeated("", ways[k].open, count, "t", ways[k].close);
        double out[3];
        dls_function *f = function_of(text);
        dls_function_derivatives(f, 1, out);
        assert_true(isfinite(out[0]) && out[0] == dls_function_value(f, 1));
        dls_function_destroy(f);
        free(text);
        text = repeated("", ways[k].open, count + 1, "t", ways[k].close);
        refuses(text, "more than 64 levels at column ");
        free(text);
    }
    char *text = repeated("t", " + (t)", 500, "", ""); /* levels that were closed do not count */
    assert_true(value_at(text, 1) == 501);
    free(text);
    text = repeated("", "(", 4000, "", "");
    refuses(text, "more than 64 levels at column 66");
    free(text);
}

static void memory_may_run_out(void **state) {
    (void)state;
    for (int at = 1; at <= 2; at++) {
        dls_function *f = (dls_function *)&f;
        dls_error error;
        counting_begin(at);
        assert_int_equal(dls_function_expression("1 + t", 0, NULL, NULL, &f, &error), DLS_ERROR_MEMORY);
        assert_int_equal(counting_end(), 0);
        assert_string_equal(error.message, "out of memory");
        assert_null(f);
    }
    dls_function *f;
    counting_begin(0);
    assert_int_equal(dls_function_expression("sin(t)^2 > 0 ? t : min(t, 2)", 0, NULL, NULL, &f, NULL),
                     DLS_OK);
    int taken = counting_allocations();
    double out[3];
    dls_function_derivatives(f, dls_function_value(f, 1), out);
    assert_int_equal(counting_allocations(), taken); /* values need no memory */
    dls_function_destroy(f);
    assert_int_equal(counting_end(), 0);
}

static void programs_are_flat_and_constants_are_folded(void **state) {
    (void)state;
    static const dls_constants none = {0, NULL, NULL};
    static const struct {
        const char *text;
        int count;
    } cases[] = {
        {"t", 1}, {"2*pi*30/60 * t", 3}, {"max(1, 2, sqrt(9))", 1}, {"1 ? 2 : 3", 1}, {"sin(2*t) + 1", 6}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dls_expression e;
        assert_int_equal(dls_expression_compile(cases[k].text, &none, &e, NULL), DLS_OK);
        assert_int_equal(e.count, cases[k].count);
        dls_expression_release(&e);
    }
}

/* ---- threads ---- */

static const char scene_text[] = "delassus: 1\nvariables: {R: 0.5*1.5, w: 2*pi*30/60}\nbodies:\n"
                                 "- name: ball\n  shape: {kind: sphere, radius: R/2.5}\n"
                                 "  force: [0.5*sin(w*t), 0, 'min(t, 1.5)']\n";

typedef struct worker {
    const dls_function *shared;
    int rounds;
    long wrong;
} worker;

/* Assertions of cmocka are for one thread: workers count what is wrong. */
static void *work(void *place) {
    worker *w = place;
    for (int n = 0; n < w->rounds; n++) {
        dls_function *f = NULL;
        dls_error error;
        double out[3];
        w->wrong += dls_function_expression("0.5*t^2 + max(1.5, 0.25)", 0, NULL, NULL, &f, &error) != DLS_OK;
        dls_function_derivatives(f, n, out);
        w->wrong += out[0] != 0.5 * n * n + 1.5 || out[1] != n || out[2] != 1;
        dls_function_destroy(f);
        w->wrong += dls_function_expression("0.5*x", 0, NULL, NULL, &f, &error) != DLS_ERROR_INPUT;
        w->wrong += strcmp(error.message, "expression '0.5*x': no variable 'x' at column 5") != 0;
        w->wrong += dls_function_value(w->shared, n) != 2.5 * n;
        dls_scene *scene = NULL;
        w->wrong += dls_scene_read_text(scene_text, sizeof scene_text - 1, "threads.yaml", "/absent", 0, NULL,
                                        &scene, &error) != DLS_OK;
        dls_scene_destroy(scene);
    }
    return NULL;
}

static void threads_do_not_disturb_each_other(void **state) {
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    worker workers[THREADS];
    dls_function *shared = function_of("t*2.5");
    for (int k = 0; k < THREADS; k++) {
        workers[k] = (worker){shared, scaled(2000, 100), 0};
        assert_int_equal(pthread_create(&threads[k], NULL, work, &workers[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) pthread_join(threads[k], NULL);
    for (int k = 0; k < THREADS; k++) assert_int_equal(workers[k].wrong, 0);
    dls_function_destroy(shared);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_have_their_ranks),
        cmocka_unit_test(numbers_and_names_are_read),
        cmocka_unit_test(constants_win_over_those_that_are_known),
        cmocka_unit_test(functions_and_derivatives_are_those_of_closed_forms),
        cmocka_unit_test(kinks_have_the_derivatives_from_the_right),
        cmocka_unit_test(what_rests_has_no_derivatives),
        cmocka_unit_test(what_is_not_there_has_no_derivatives),
        cmocka_unit_test(derivatives_are_those_of_differences),
        cmocka_unit_test(constants_and_tables_have_derivatives),
        cmocka_unit_test(refusals_name_the_column_and_what_was_expected),
        cmocka_unit_test(long_words_are_cut_in_messages),
        cmocka_unit_test(length_is_bounded),
        cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(programs_are_flat_and_constants_are_folded),
        cmocka_unit_test(threads_do_not_disturb_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
