/* Functions of time: constants, tables, expressions, and what they refuse. */
#include "base/random.h"
#include "support/allocator.h"
#include "support/scale.h"
#include "support/test.h"

#include <delassus/world.h>
#include <math.h>
#include <string.h>

static double expression_at(const char *text, double t) {
    dls_function *f;
    dls_error error;
    if (dls_function_expression(text, 0, NULL, NULL, &f, &error)) fail_msg("%s: %s", text, error.message);
    double value = dls_function_value(f, t);
    dls_function_destroy(f);
    return value;
}

static void constants_are_constant(void **state) {
    (void)state;
    dls_function *f;
    assert_int_equal(dls_function_constant(2.5, &f, NULL), DLS_OK);
    assert_true(dls_function_value(f, -1e300) == 2.5 && dls_function_value(f, 7) == 2.5);
    dls_function_destroy(f);
    dls_function_destroy(NULL);
    assert_true(isnan(dls_function_value(NULL, 0)));
}

static void tables_are_linear_between_and_constant_beyond(void **state) {
    (void)state;
    const double t[4] = {-1, 0, 0.5, 10}, y[4] = {3, 1, -1, 5};
    dls_function *f;
    assert_int_equal(dls_function_table(4, t, y, &f, NULL), DLS_OK);
    for (int k = 0; k < 4; k++) assert_true(dls_function_value(f, t[k]) == y[k]);
    assert_true(dls_function_value(f, -5) == 3 && dls_function_value(f, INFINITY) == 5);
    assert_true(isnan(dls_function_value(f, NAN)));
    dls_random g = {1};
    for (int n = 0; n < scaled(10000, 100); n++) {
        double s = dls_random_between(&g, -1, 10), expected = 0;
        for (int k = 0; k < 3; k++)
            if (s >= t[k] && s <= t[k + 1])
                expected = y[k] + (s - t[k]) / (t[k + 1] - t[k]) * (y[k + 1] - y[k]);
        assert_true(fabs(dls_function_value(f, s) - expected) < 1e-14);
    }
    dls_function_destroy(f);
    assert_int_equal(dls_function_table(1, t, y, &f, NULL), DLS_OK);
    assert_true(dls_function_value(f, 100) == 3);
    dls_function_destroy(f);
}

static void expressions_compute(void **state) {
    (void)state;
    const struct {
        const char *text;
        double t, value;
    } cases[] = {
        {"1 + 2*3", 0, 7},
        {"2^3^2", 0, 512},
        {"-2^2", 0, -4},
        {"t > 1 ? 2 : 3", 0, 3},
        {"t > 1 ? 2 : 3", 2, 2},
        {"t >= 1 && t <= 2 || t == 5", 5, 1},
        {"t != 1", 1, 0},
        {"min(t, 1, 7) + max(2, t)", 3, 4},
        {"sin(t) + cos(t)*tan(t)", 0.5, 0.95885107720840600054},
        {"asin(t) + acos(t)", 0.3, 1.5707963267948966192},
        {"atan2(t, 2) - atan(t/2)", 3, 0},
        {"sinh(t)/cosh(t) - tanh(t)", 1.5, 0},
        {"ln(exp(t)) + log10(100)", 2, 4},
        {"sqrt(abs(t)) * sign(t)", -4, -2},
        {"rint(t)", 2.4, 2},
        {"sin(pi) + ln(e)", 0, 1},
        {"1e-3*t", 2, 2e-3},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double value = expression_at(cases[k].text, cases[k].t);
        if (!(fabs(value - cases[k].value) < 1e-14))
            fail_msg("%s at %g is %.17g, expected %.17g", cases[k].text, cases[k].t, value, cases[k].value);
    }
}

static void named_constants_are_known(void **state) {
    (void)state;
    const char *names[2] = {"rpm", "t_0"};
    const double values[2] = {30, 2};
    dls_function *f;
    assert_int_equal(dls_function_expression("2*pi*rpm/60 * min(t, t_0)", 2, names, values, &f, NULL),
                     DLS_OK);
    assert_true(fabs(dls_function_value(f, 1) - acos(-1)) < 1e-15);
    assert_true(fabs(dls_function_value(f, 9) - 2 * acos(-1)) < 1e-15);
    dls_function_destroy(f);
}

static void several_functions_do_not_mix(void **state) {
    (void)state;
    dls_function *f[8];
    for (int k = 0; k < 8; k++) {
        const char *name = "k";
        double value = k;
        assert_int_equal(dls_function_expression("k + t", 1, &name, &value, &f[k], NULL), DLS_OK);
    }
    for (int k = 0; k < 8; k++) assert_true(dls_function_value(f[k], 10 * k) == 11 * k);
    for (int k = 7; k >= 0; k--) assert_true(dls_function_value(f[k], 1) == k + 1);
    for (int k = 0; k < 8; k++) dls_function_destroy(f[k]);
}

static void values_that_are_not_finite_come_back_as_such(void **state) {
    (void)state;
    assert_true(isinf(expression_at("1/t", 0)));
    assert_true(expression_at("1/t", 2) == 0.5);
    assert_true(isnan(expression_at("sqrt(t)", -1)));
    assert_true(isinf(expression_at("exp(t)", 1e9)));
}

static void bad_expressions_say_why_and_where(void **state) {
    (void)state;
    const char *const cases[][2] = {
        {"1 +", "expression '1 +': unexpected end at column 4, expected a number, a name or '('"},
        {"foo*2", "expression 'foo*2': no variable 'foo' at column 1"},
        {"2*omega*t", "expression '2*omega*t': no variable 'omega' at column 3"},
        {"sin(t", "expression 'sin(t': missing ')' at column 6 for the '(' at column 4"},
        {"3 4", "expression '3 4': unexpected '4' at column 3, expected an operator or the end"},
        {"t = 3", "expression 't = 3': assignment at column 3, expected == to compare"},
        {"1, 2", "expression '1, 2': unexpected ',' at column 2, expected an operator or the end"},
        {"", "expression '': unexpected end at column 1, expected a number, a name or '('"},
        {" \n", "expression '  ': unexpected end at column 3, expected a number, a name or '('"},
        {"\"t\"", "expression '\"t\"': unexpected '\"' at column 1, expected a number, a name or '('"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        dls_function *f = (dls_function *)&f;
        dls_error error;
        assert_int_equal(dls_function_expression(cases[k][0], 0, NULL, NULL, &f, &error), DLS_ERROR_INPUT);
        assert_string_equal(error.message, cases[k][1]);
        assert_null(f);
    }
}

static void bad_calls_are_refused(void **state) {
    (void)state;
    dls_function *f;
    dls_error error;
    assert_int_equal(dls_function_constant(NAN, &f, &error), DLS_ERROR_INPUT);
    assert_string_equal(error.message, "constant function is nan, expected a finite number");
    assert_int_equal(dls_function_constant(1, NULL, &error), DLS_ERROR_ARGUMENT);
    const double t[3] = {0, 1, 1}, y[3] = {0, 0, INFINITY};
    assert_int_equal(dls_function_table(0, t, y, &f, &error), DLS_ERROR_INPUT);
    assert_string_equal(error.message, "table has 0 rows, expected at least 1");
    assert_int_equal(dls_function_table(3, t, t, &f, &error), DLS_ERROR_INPUT);
    assert_string_equal(error.message, "times of a table must ascend: row 2 is at 1, the one before at 1");
    const double later[3] = {0, 1, 2};
    assert_int_equal(dls_function_table(3, later, y, &f, &error), DLS_ERROR_INPUT);
    assert_string_equal(error.message, "row 2 of the table is (2, inf), expected finite numbers");
    assert_int_equal(dls_function_table(2, NULL, y, &f, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_function_expression(NULL, 0, NULL, NULL, &f, &error), DLS_ERROR_ARGUMENT);
    assert_int_equal(dls_function_expression("t", 1, NULL, NULL, &f, &error), DLS_ERROR_ARGUMENT);
    const struct {
        const char *name;
        double value;
        const char *message;
    } cases[] = {
        {"2x", 1, "'2x' cannot name a constant, expected letters, digits and _"},
        {"", 1, "'' cannot name a constant, expected letters, digits and _"},
        {"t", 1, "a constant cannot have the name t, which is the time"},
        {"a", INFINITY, "constant 'a' is inf, expected a finite number"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const char *name = cases[k].name;
        assert_int_equal(dls_function_expression("t", 1, &name, &cases[k].value, &f, &error),
                         DLS_ERROR_INPUT);
        assert_string_equal(error.message, cases[k].message);
    }
}

/* Any text gives a function or a message, and nothing is printed, thrown or lost. */
static void random_texts_do_no_harm(void **state) {
    (void)state;
    static const char *const pieces[] = {"t", "pi",  "1",   "2.5e3", "+", "-", "*", "/",  "^",  "(",
                                         ")", "sin", "min", ",",     "?", ":", "=", "==", "<=", "&&",
                                         "|", "!",   " ",   "x",     "_", ".", "e", "\"", "\\", "\xc3\xa9"};
    dls_random g = {3};
    int good = 0;
    counting_begin(0);
    for (int n = 0; n < scaled(20000, 500); n++) {
        char text[256] = "";
        for (int k = 0, count = (int)dls_random_below(&g, 12); k < count; k++)
            strcat(text, pieces[dls_random_below(&g, sizeof pieces / sizeof *pieces)]);
        dls_function *f;
        dls_error error;
        dls_status status = dls_function_expression(text, 0, NULL, NULL, &f, &error);
        if (status) {
            assert_int_equal(status, DLS_ERROR_INPUT);
            assert_true(error.message[0] && !f);
        } else {
            good++;
            dls_function_value(f, 0.5);
            dls_function_destroy(f);
        }
    }
    assert_true(good > 0);
    assert_int_equal(counting_end(), 0);
}

static void memory_may_run_out(void **state) {
    (void)state;
    const double t[2] = {0, 1};
    for (int at = 1; at <= 3; at++) {
        dls_function *f;
        counting_begin(at);
        assert_int_equal(dls_function_table(2, t, t, &f, NULL), DLS_ERROR_MEMORY);
        assert_int_equal(counting_end(), 0);
    }
    dls_function *f;
    counting_begin(1);
    assert_int_equal(dls_function_expression("t", 0, NULL, NULL, &f, NULL), DLS_ERROR_MEMORY);
    assert_int_equal(dls_function_constant(1, &f, NULL), DLS_ERROR_MEMORY);
    assert_int_equal(counting_end(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_constant),
        cmocka_unit_test(tables_are_linear_between_and_constant_beyond),
        cmocka_unit_test(expressions_compute),
        cmocka_unit_test(named_constants_are_known),
        cmocka_unit_test(several_functions_do_not_mix),
        cmocka_unit_test(values_that_are_not_finite_come_back_as_such),
        cmocka_unit_test(bad_expressions_say_why_and_where),
        cmocka_unit_test(bad_calls_are_refused),
        cmocka_unit_test(random_texts_do_no_harm),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
