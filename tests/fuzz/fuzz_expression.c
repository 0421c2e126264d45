/* Bytes to the reader of expressions, which must refuse them in one line with a column or make a function.
 * A function has the same bits as its twin in parentheses, and with derivatives as without. */
#include "world/function/expression.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const names[] = {"R", "omega", "t_0"};
static const double values[] = {0.25, 3, -1e300};

static void require(bool holds, const char *what, const dls_error *error) {
    if (holds) return;
    fprintf(stderr, "%s: %s\n", what, error->message);
    abort();
}

static void check_message(dls_status status, const dls_error *error) {
    const char *message = error->message;
    require(error->status == status && status == DLS_ERROR_INPUT, "another status", error);
    for (const char *c = message; *c; c++) require((unsigned char)*c >= ' ', "not one line", error);
    require(strstr(message, " at column ") || strstr(message, " characters, expected at most "), "no place",
            error);
}

static bool is_same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

/* Parentheses take a level and two characters more. */
static void check_twin(const char *text, size_t size, double t, double value) {
    char *twin = malloc(size + 3);
    dls_function *f = NULL;
    dls_error error = {0};
    snprintf(twin, size + 3, "(%s)", text);
    dls_status status = dls_function_expression(twin, 3, names, values, &f, &error);
    bool at_limit = status && (strstr(error.message, "levels") || strstr(error.message, "characters"));
    require(!status || at_limit, "refused in parentheses", &error);
    require(status || is_same(dls_function_value(f, t), value), "another value in parentheses", &error);
    dls_function_destroy(f);
    free(twin);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const double times[] = {0, 0.7, -2, 1e300, NAN};
    dls_function *f = NULL;
    dls_error error = {0};
    char *text = malloc(size + 1);
    if (size) memcpy(text, data, size);
    text[size] = '\0';
    dls_status status = dls_function_expression(text, 3, names, values, &f, &error);
    if (status) {
        check_message(status, &error);
        require(!f, "a function that was refused", &error);
    }
    for (size_t k = 0; f && k < sizeof times / sizeof *times; k++) {
        double value = dls_function_value(f, times[k]), derivatives[3];
        dls_function_derivatives(f, times[k], derivatives);
        require(is_same(derivatives[0], value), "another value with derivatives", &error);
        require(!isnan(value) || (isnan(derivatives[1]) && isnan(derivatives[2])), "NaN with a slope",
                &error);
        check_twin(text, size, times[k], value);
    }
    dls_function_destroy(f);
    free(text);
    return 0;
}
