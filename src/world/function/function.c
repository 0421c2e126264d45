/* Functions of time: constants, tables, expressions and callbacks. Values change no state of the first three,
 * so one function serves any number of threads. */
#include "world/function/function.h"
#include "base/error.h"
#include "base/memory.h"
#include "world/function/expression.h"

#include <math.h>
#include <string.h>

typedef enum function_kind { CONSTANT, TABLE, EXPRESSION, CALLBACK } function_kind;

struct dls_function {
    function_kind kind;
    double value; /* of a constant */
    int count;    /* of a table */
    double *t, *values;
    dls_expression expression;
    dls_callback_def callback;
    int asked_count; /* what a callback said of the times of a step */
    double asked_t[DLS_ASKED_TIMES], asked[DLS_ASKED_TIMES];
};

static dls_status create(function_kind kind, dls_function **function, dls_error *error) {
    dls_function *f = DLS_NEW_ZERO(dls_function, 1);
    if (!f) return dls_fail_memory(error);
    f->kind = kind;
    *function = f;
    return DLS_OK;
}

void dls_function_destroy(dls_function *f) {
    if (!f) return;
    dls_free(f->t);
    dls_free(f->values);
    dls_expression_release(&f->expression);
    if (f->callback.release) f->callback.release(f->callback.user);
    dls_free(f);
}

dls_status dls_function_constant(double value, dls_function **function, dls_error *error) {
    dls_error_clear(error);
    if (!function) return dls_fail(error, DLS_ERROR_ARGUMENT, "a place for the function is needed");
    *function = NULL;
    if (!isfinite(value))
        return dls_fail(error, DLS_ERROR_INPUT, "constant function is %g, expected a finite number", value);
    dls_status status = create(CONSTANT, function, error);
    if (!status) (*function)->value = value;
    return status;
}

/* ---- tables ---- */

static dls_status check_table(int count, const double *t, const double *value, dls_error *error) {
    if (count < 1) return dls_fail(error, DLS_ERROR_INPUT, "table has %d rows, expected at least 1", count);
    for (int k = 0; k < count; k++) {
        if (!isfinite(t[k]) || !isfinite(value[k]))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "row %d of the table is (%g, %g), expected finite numbers", k, t[k], value[k]);
        if (k > 0 && !(t[k] > t[k - 1]))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "times of a table must ascend: row %d is at %g, the one before at %g", k, t[k],
                            t[k - 1]);
    }
    return DLS_OK;
}

dls_status dls_function_table(int count, const double *t, const double *value, dls_function **function,
                              dls_error *error) {
    dls_error_clear(error);
    if (!function || (count > 0 && (!t || !value)))
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "a table needs times, values and a place for the function");
    *function = NULL;
    dls_status status = check_table(count, t, value, error);
    if (!status) status = create(TABLE, function, error);
    if (status) return status;
    dls_function *f = *function;
    f->count = count;
    f->t = dls_alloc_copy(t, (size_t)count, sizeof *t);
    f->values = dls_alloc_copy(value, (size_t)count, sizeof *value);
    if (f->t && f->values) return DLS_OK;
    dls_function_destroy(f);
    *function = NULL;
    return dls_fail_memory(error);
}

/* The row that t lies behind, from row 0 up to the last but one; t[0] ≤ t < t[count − 1]. */
static int table_row(const dls_function *f, double t) {
    int low = 0, high = f->count - 1;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (f->t[middle] <= t)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static double table_value(const dls_function *f, double t) {
    if (isnan(t)) return t;
    if (t <= f->t[0]) return f->values[0];
    if (t >= f->t[f->count - 1]) return f->values[f->count - 1];
    int k = table_row(f, t);
    double s = (t - f->t[k]) / (f->t[k + 1] - f->t[k]);
    return (1 - s) * f->values[k] + s * f->values[k + 1];
}

/* Of the line that begins at t or goes on there. */
static double table_slope(const dls_function *f, double t) {
    if (!(t >= f->t[0] && t < f->t[f->count - 1])) return 0;
    int k = table_row(f, t);
    return (f->values[k + 1] - f->values[k]) / (f->t[k + 1] - f->t[k]);
}

/* ---- expressions ---- */

static bool is_name(const char *name) {
    bool good = name && *name && !(*name >= '0' && *name <= '9');
    for (const char *c = name; good && *c; c++)
        good = (*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
    return good;
}

static dls_status check_constants(const dls_constants *constants, dls_error *error) {
    for (int k = 0; k < constants->count; k++) {
        const char *name = constants->names[k];
        if (!is_name(name))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "'%.100s' cannot name a constant, expected letters, digits and _",
                            name ? name : "");
        if (!strcmp(name, "t"))
            return dls_fail(error, DLS_ERROR_INPUT, "a constant cannot have the name t, which is the time");
        if (!isfinite(constants->values[k]))
            return dls_fail(error, DLS_ERROR_INPUT, "constant '%.100s' is %g, expected a finite number", name,
                            constants->values[k]);
    }
    return DLS_OK;
}

dls_status dls_function_compile(const char *text, const dls_constants *constants, dls_function **function,
                                dls_error *error) {
    *function = NULL;
    dls_function *f = NULL;
    dls_status status = create(EXPRESSION, &f, error);
    if (status) return status;
    status = dls_expression_compile(text, constants, &f->expression, error);
    if (status)
        dls_function_destroy(f);
    else
        *function = f;
    return status;
}

/* The beginning of a text on one line, without half a character at its end. */
static void quote(const char *text, char *line, int size) {
    int length = 0;
    for (; text[length] && length < size - 1; length++)
        line[length] = (unsigned char)text[length] < ' ' ? ' ' : text[length];
    while (text[length] && length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) length--;
    line[length] = '\0';
}

dls_status dls_function_expression(const char *text, int constant_count, const char *const *names,
                                   const double *values, dls_function **function, dls_error *error) {
    dls_error_clear(error);
    if (!function || !text || constant_count < 0 || (constant_count > 0 && (!names || !values)))
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "an expression needs a text, its constants and a place for the function");
    *function = NULL;
    dls_constants constants = {constant_count, names, values};
    dls_status status = check_constants(&constants, error);
    if (status) return status;
    dls_error inner;
    char line[100];
    status = dls_function_compile(text, &constants, function, &inner);
    if (!status) return DLS_OK;
    if (status == DLS_ERROR_MEMORY) return dls_fail_memory(error);
    quote(text, line, sizeof line);
    return dls_fail(error, status, "expression '%s': %.380s", line, inner.message);
}

/* ---- callbacks ---- */

dls_status dls_function_callback(const dls_callback_def *def, dls_function **function, dls_error *error) {
    dls_error_clear(error);
    if (!function || !def || !def->value)
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "a callback for the value and a place for the function are needed");
    dls_status status = create(CALLBACK, function, error);
    if (!status) (*function)->callback = *def;
    return status;
}

/* NaN where there is no callback, or none that answers. */
static double call(dls_time_callback callback, double t, void *user) {
    double value = NAN;
    return callback && callback(t, &value, user) ? value : (double)NAN;
}

bool dls_function_is_callback(const dls_function *f) { return f && f->kind == CALLBACK; }

void dls_function_forget(dls_function *f) { f->asked_count = 0; }

static int asked_at(const dls_function *f, double t) {
    for (int k = 0; k < f->asked_count; k++)
        if (f->asked_t[k] == t) return k;
    return -1;
}

bool dls_function_ask(dls_function *f, double t) {
    if (asked_at(f, t) >= 0) return true;
    double value = NAN;
    bool answered = f->callback.value(t, &value, f->callback.user);
    int k = f->asked_count < DLS_ASKED_TIMES ? f->asked_count++ : DLS_ASKED_TIMES - 1;
    f->asked_t[k] = t;
    f->asked[k] = answered ? value : (double)NAN;
    return answered;
}

double dls_function_recall(const dls_function *f, double t) {
    int k = dls_function_is_callback(f) ? asked_at(f, t) : -1;
    return k < 0 ? dls_function_value(f, t) : f->asked[k];
}

/* ---- of any kind ---- */

double dls_function_value(const dls_function *f, double t) {
    if (!f) return NAN;
    if (f->kind == EXPRESSION) return dls_expression_value(&f->expression, t);
    if (f->kind == CALLBACK) return call(f->callback.value, t, f->callback.user);
    return f->kind == CONSTANT ? f->value : table_value(f, t);
}

/* Slopes may be finite where a function is not there: 1/u of ln u. */
void dls_function_derivatives(const dls_function *f, double t, double out[3]) {
    dls_jet y = {0};
    if (f && f->kind == EXPRESSION) {
        y = dls_expression_jet(&f->expression, t);
    } else if (f && f->kind == CALLBACK) {
        const dls_callback_def *def = &f->callback;
        y = (dls_jet){call(def->value, t, def->user), call(def->rate, t, def->user),
                      call(def->acceleration, t, def->user), false};
    } else {
        y.v = dls_function_value(f, t);
        y.d = f && f->kind == TABLE ? table_slope(f, t) : 0;
    }
    out[0] = y.v;
    out[1] = isnan(y.v) ? y.v : y.d;
    out[2] = isnan(y.v) ? y.v : y.dd;
}
