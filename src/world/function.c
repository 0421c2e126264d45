/* Functions of time: constants, tables, and expressions through muParser's C interface.
 *
 * muParser keeps a stack and its variable per handle: a handle serves one thread at a time, several handles
 * any number of threads. Its C interface turns exceptions into an error state, which is read after every
 * call. */
#include "base/error.h"
#include "base/memory.h"

#include <ctype.h>
#include <delassus/world.h>
#include <math.h>
#include <muParserDLL.h>
#include <string.h>

typedef enum function_kind { CONSTANT, TABLE, EXPRESSION } function_kind;

struct dls_function {
    function_kind kind;
    double value; /* of a constant */
    int count;    /* of a table */
    double *t, *values;
    muParserHandle_t parser;
    double *time; /* the parser's variable: points at the member below, so that a const function has it too */
    double time_place;
};

static dls_status create(function_kind kind, dls_function **function, dls_error *error) {
    dls_function *f = DLS_NEW_ZERO(dls_function, 1);
    if (!f) return dls_fail_memory(error);
    f->kind = kind;
    f->time = &f->time_place;
    *function = f;
    return DLS_OK;
}

void dls_function_destroy(dls_function *f) {
    if (!f) return;
    dls_free(f->t);
    dls_free(f->values);
    if (f->parser) mupRelease(f->parser);
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

static double table_value(const dls_function *f, double t) {
    if (isnan(t)) return t;
    if (t <= f->t[0]) return f->values[0];
    if (t >= f->t[f->count - 1]) return f->values[f->count - 1];
    int low = 0, high = f->count - 1; /* t[low] < t < t[high] but for equality at low */
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (f->t[middle] <= t)
            low = middle;
        else
            high = middle;
    }
    double s = (t - f->t[low]) / (f->t[high] - f->t[low]);
    return (1 - s) * f->values[low] + s * f->values[high];
}

/* ---- expressions ---- */

/* Status of the parser's last call as one line. */
static dls_status parser_status(muParserHandle_t parser, const char *text, dls_error *error) {
    if (!mupError(parser)) return DLS_OK;
    const char *message = mupGetErrorMsg(parser);
    int position = mupGetErrorPos(parser), length = (int)strlen(message);
    while (length > 0 && (message[length - 1] == '.' || isspace((unsigned char)message[length - 1])))
        length--;
    mupErrorReset(parser);
    if (position < 0 || strstr(message, "position"))
        return dls_fail(error, DLS_ERROR_INPUT, "expression '%.100s': %.*s", text, length, message);
    return dls_fail(error, DLS_ERROR_INPUT, "expression '%.100s': %.*s at position %d", text, length, message,
                    position);
}

static bool is_name(const char *name) {
    if (!name || !(isalpha((unsigned char)name[0]) || name[0] == '_')) return false;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_') return false;
    return true;
}

static dls_status define_constants(muParserHandle_t parser, int count, const char *const *names,
                                   const double *values, dls_error *error) {
    mupDefineConst(parser, "pi", acos(-1));
    mupDefineConst(parser, "e", exp(1));
    for (int k = 0; k < count; k++) {
        if (!is_name(names[k]))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "'%.100s' cannot name a constant, expected letters, digits and _",
                            names[k] ? names[k] : "");
        if (!strcmp(names[k], "t"))
            return dls_fail(error, DLS_ERROR_INPUT, "a constant cannot have the name t, which is the time");
        if (!isfinite(values[k]))
            return dls_fail(error, DLS_ERROR_INPUT, "constant '%.100s' is %g, expected a finite number",
                            names[k], values[k]);
        mupDefineConst(parser, names[k], values[k]);
        dls_status status = parser_status(parser, names[k], error);
        if (status) return status;
    }
    return DLS_OK;
}

/* muParser knows assignment; an expression that sets t is a typing error for ==. */
static dls_status check_text(const char *text, dls_error *error) {
    bool blank = true;
    for (const char *c = text; *c; c++) {
        bool part = c > text && strchr("=<>!", c[-1]);
        if (*c == '=' && !part && c[1] != '=')
            return dls_fail(error, DLS_ERROR_INPUT,
                            "expression '%.100s': assignment at position %d, expected == to compare", text,
                            (int)(c - text));
        if (*c == '"')
            return dls_fail(error, DLS_ERROR_INPUT, "expression '%.100s': unexpected quote at position %d",
                            text, (int)(c - text));
        blank = blank && isspace((unsigned char)*c);
    }
    return blank ? dls_fail(error, DLS_ERROR_INPUT, "expression is empty, expected a formula in t") : DLS_OK;
}

static dls_status parse(dls_function *f, const char *text, int constant_count, const char *const *names,
                        const double *values, dls_error *error) {
    f->parser = mupCreate(muBASETYPE_FLOAT);
    if (!f->parser) return dls_fail_memory(error);
    mupSetDecSep(f->parser, '.');
    mupSetArgSep(f->parser, ',');
    dls_status status = define_constants(f->parser, constant_count, names, values, error);
    if (status) return status;
    mupDefineVar(f->parser, "t", f->time);
    mupSetExpr(f->parser, text);
    status = parser_status(f->parser, text, error);
    if (status) return status;
    int results = 0;
    mupEvalMulti(f->parser, &results);
    status = parser_status(f->parser, text, error);
    if (!status && results != 1)
        return dls_fail(error, DLS_ERROR_INPUT, "expression '%.100s' has %d values, expected one", text,
                        results);
    return status;
}

dls_status dls_function_expression(const char *text, int constant_count, const char *const *names,
                                   const double *values, dls_function **function, dls_error *error) {
    dls_error_clear(error);
    if (!function || !text || constant_count < 0 || (constant_count > 0 && (!names || !values)))
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "an expression needs a text, its constants and a place for the function");
    *function = NULL;
    dls_status status = check_text(text, error);
    if (!status) status = create(EXPRESSION, function, error);
    if (status) return status;
    status = parse(*function, text, constant_count, names, values, error);
    if (!status) return DLS_OK;
    dls_function_destroy(*function);
    *function = NULL;
    return status;
}

static double expression_value(const dls_function *f, double t) {
    *f->time = t;
    double value = mupEval(f->parser);
    if (!mupError(f->parser)) return value;
    mupErrorReset(f->parser);
    return NAN;
}

double dls_function_value(const dls_function *f, double t) {
    if (!f) return NAN;
    return f->kind == CONSTANT ? f->value : f->kind == TABLE ? table_value(f, t) : expression_value(f, t);
}
