/* Checks of what a problem is made from. */
#include "problem/definition.h"

#include "base/error.h"

#include <limits.h>
#include <math.h>

enum { MOST_TANGENTIAL = 3, MOST_ROLLING = 2, MOST_SPINNING = 1 };

/* What the judge is told beside the problem. */
static dls_status check_references(const dls_problem_def *def, dls_error *error) {
    if (!isfinite(def->reference_velocity) || def->reference_velocity < 0)
        return dls_fail(error, DLS_ERROR_INPUT, "reference velocity is %g, expected 0 or more",
                        def->reference_velocity);
    for (int c = 0; c < def->block_count; c++) {
        const double *speed = def->speed, *mass = def->block_inverse_mass;
        if (speed && !(isfinite(speed[c]) && speed[c] >= 0))
            return dls_fail(error, DLS_ERROR_INPUT, "speed of block %d is %g, expected 0 or more", c,
                            speed[c]);
        if (mass && dls_def_kind(def, c) == DLS_INTERVAL && !(isfinite(mass[c]) && mass[c] > 0))
            return dls_fail(error, DLS_ERROR_INPUT, "inverse mass of interval block %d is %g, expected > 0",
                            c, mass[c]);
    }
    return DLS_OK;
}

static dls_status check_coefficient(const char *name, const double *mu, int c, dls_error *error) {
    if (!mu)
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "contact %d has a part of friction that %s is needed for, got NULL", c, name);
    if (!(isfinite(mu[c]) && mu[c] >= 0))
        return dls_fail(error, DLS_ERROR_INPUT, "%s of contact %d is %g, expected 0 or more", name, c, mu[c]);
    return DLS_OK;
}

/* Its parts, their coefficients, and that its rows are as many as theirs. */
static dls_status check_contact(const dls_problem_def *def, int c, dls_error *error) {
    int size = dls_def_size(def, c);
    if (!def->block_parts && (size < 1 || size > 1 + MOST_TANGENTIAL))
        return dls_fail(error, DLS_ERROR_INPUT,
                        "block %d, a contact, has %d rows, expected 1 to %d where its parts are not told", c,
                        size, 1 + MOST_TANGENTIAL);
    uint8_t parts = dls_def_parts(def, c);
    int tangential = parts & 3, rolling = parts >> 2 & 3, spinning = parts >> 4;
    if (tangential > MOST_TANGENTIAL || rolling > MOST_ROLLING || spinning > MOST_SPINNING)
        return dls_fail(
            error, DLS_ERROR_INPUT,
            "contact %d has parts of %d, %d and %d rows, expected at most %d tangential, %d rolling "
            "and %d spinning",
            c, tangential, rolling, spinning, MOST_TANGENTIAL, MOST_ROLLING, MOST_SPINNING);
    if (size != 1 + dls_parts_rows(parts) || size > DLS_MAX_BLOCK)
        return dls_fail(
            error, DLS_ERROR_INPUT,
            "contact %d has %d rows and parts of %d, expected one row more than these, %d at most", c, size,
            dls_parts_rows(parts), DLS_MAX_BLOCK);
    dls_status status = check_coefficient("friction coefficient", def->mu, c, error);
    if (!status && rolling) status = check_coefficient("rolling friction", def->mu_rolling, c, error);
    if (!status && spinning) status = check_coefficient("spinning friction", def->mu_spinning, c, error);
    return status;
}

/* Impulses are found between the bounds: these are in order, and one of them may be missing. */
static dls_status check_interval(const dls_problem_def *def, int c, int64_t row, dls_error *error) {
    int size = dls_def_size(def, c);
    if (size < 1 || size > DLS_MAX_BLOCK)
        return dls_fail(error, DLS_ERROR_INPUT, "block %d has %d rows, expected 1 to %d", c, size,
                        DLS_MAX_BLOCK);
    for (int i = 0; i < size; i++) {
        double low = def->low ? def->low[row + i] : -HUGE_VAL,
               high = def->high ? def->high[row + i] : HUGE_VAL;
        if (!(low <= high) || low == HUGE_VAL || high == -HUGE_VAL)
            return dls_fail(error, DLS_ERROR_INPUT,
                            "row %d of interval block %d has the bounds %g and %g, expected low ≤ high", i, c,
                            low, high);
    }
    return DLS_OK;
}

static dls_status check_blocks(const dls_problem_def *def, int64_t *rows, dls_error *error) {
    for (int c = 0; c < def->block_count; c++) {
        int kind = dls_def_kind(def, c);
        dls_status status = kind == DLS_CONTACT ? check_contact(def, c, error)
                            : kind == DLS_INTERVAL
                                ? check_interval(def, c, *rows, error)
                                : dls_fail(error, DLS_ERROR_INPUT,
                                           "block %d has kind %d, expected contact or interval", c, kind);
        if (status) return status;
        *rows += dls_def_size(def, c);
    }
    return DLS_OK;
}

dls_status dls_def_check(const dls_problem_def *def, int64_t *rows, dls_error *error) {
    *rows = 0;
    if (def->block_count < 0)
        return dls_fail(error, DLS_ERROR_INPUT, "block count is %d, expected 0 or more", def->block_count);
    if (def->block_count > 0 && !def->block_size && !def->block_parts &&
        (def->dimension < 1 || def->dimension > 1 + MOST_TANGENTIAL))
        return dls_fail(error, DLS_ERROR_INPUT, "dimension is %d, expected 1, 2, 3 or 4", def->dimension);
    if (def->block_count > 0 && (!def->mu || !def->b))
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "friction coefficients and velocities are needed, got NULL");
    dls_status status = check_blocks(def, rows, error);
    if (status) return status;
    if (*rows > INT_MAX - DLS_MAX_BLOCK)
        return dls_fail(error, DLS_ERROR_INPUT, "%lld rows, expected fewer than %d", (long long)*rows,
                        INT_MAX);
    for (int64_t i = 0; i < *rows; i++)
        if (!isfinite(def->b[i]))
            return dls_fail(error, DLS_ERROR_INPUT, "b[%lld] is %g, expected a finite number", (long long)i,
                            def->b[i]);
    return check_references(def, error);
}
