/* R′ s = R: by levels, or of the whole J rows and columns scaled, then a, U and Q eliminated, then what is
 * left by LU. Where more directions stick or are held than there are freedoms, what is left is singular and
 * the shortest s is taken. */
#include "system/alpha.h"

#include "base/lu.h"
#include "system/least.h"
#include "system/levels.h"

#include <math.h>
#include <string.h>

/* Beyond this condition a solution has no digit left. */
static const double singular_condition = 1e14;
/* Pivots below this share of the first are rounding. */
static const double least_pivot = 1e-12;

/* The power of two next to 1/largest: scaling by it rounds nothing. */
static double inverse_power(double largest) {
    int exponent;
    if (!(largest > 0) || !isfinite(largest)) return 1;
    frexp(largest, &exponent);
    return ldexp(1, 1 - exponent);
}

/* A ← diag(row) A diag(column), rows first, so that the largest entry of each is near one. */
static void equilibrate(int n, double *A, double *row, double *column) {
    for (int i = 0; i < n; i++) row[i] = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) row[i] = fmax(row[i], fabs(A[i + (int64_t)n * j]));
    for (int i = 0; i < n; i++) row[i] = inverse_power(row[i]);
    for (int j = 0; j < n; j++) {
        double *at = A + (int64_t)n * j, largest = 0;
        for (int i = 0; i < n; i++) at[i] *= row[i], largest = fmax(largest, fabs(at[i]));
        column[j] = inverse_power(largest);
        for (int i = 0; i < n; i++) at[i] *= column[j];
    }
}

static double norm_1(int n, const double *A) {
    double largest = 0;
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int i = 0; i < n; i++) sum += fabs(A[i + (int64_t)n * j]);
        largest = fmax(largest, sum);
    }
    return largest;
}

/* S = J_zz − J_zy J_yy⁻¹ J_yz, with J_yy⁻¹ J_yz left in place of J_yz. */
static void eliminate(dls_alpha *alpha) {
    int total = alpha->at.total, y = 3 * alpha->at.m, z = total - y;
    for (int j = 0; j < z; j++) {
        double *at = alpha->J + (int64_t)total * (y + j), *out = alpha->reduced + (int64_t)z * j;
        dls_lu_solve(y, alpha->eliminated, alpha->pivot, at);
        for (int i = 0; i < z; i++) out[i] = at[y + i];
        for (int k = 0; k < y; k++)
            for (int i = 0; i < z; i++) out[i] -= alpha->J[y + i + (int64_t)total * k] * at[k];
    }
}

static bool factor_regular(dls_alpha *alpha, int z) {
    double norm = norm_1(z, alpha->reduced);
    memcpy(alpha->least, alpha->reduced, sizeof(double) * (size_t)z * (size_t)z);
    alpha->rank = -1;
    if (dls_lu_factor(z, alpha->reduced, alpha->pivot_reduced, alpha->whole_room)) return false;
    double condition = norm * dls_lu_inverse_norm(z, alpha->reduced, alpha->pivot_reduced, alpha->norm_room);
    if (!alpha->stage.frozen) alpha->condition = condition;
    return condition <= singular_condition;
}

static bool factor_singular(dls_alpha *alpha, int z) {
    alpha->rank = dls_least_factor(z, alpha->least, least_pivot, alpha->least_numbers, alpha->least_integers);
    if (!alpha->stage.frozen) alpha->condition = HUGE_VAL;
    return alpha->rank >= 0;
}

void dls_jacobian_take(dls_alpha *alpha) {
    int64_t total = alpha->at.total, y = 3 * alpha->at.m, z = total - y;
    alpha->J = dls_alpha_numbers(alpha, total * total);
    alpha->scale_row = dls_alpha_numbers(alpha, 2 * total);
    alpha->scale_column = dls_alpha_numbers(alpha, 2 * total);
    alpha->eliminated = dls_alpha_numbers(alpha, y * y), alpha->reduced = dls_alpha_numbers(alpha, z * z);
    alpha->norm_room = dls_alpha_numbers(alpha, 2 * total);
    alpha->pivot = dls_alpha_integers(alpha, y), alpha->pivot_reduced = dls_alpha_integers(alpha, z);
    alpha->least = dls_alpha_numbers(alpha, z * z);
    alpha->least_numbers = dls_alpha_numbers(alpha, dls_least_numbers((int)z));
    alpha->least_integers = dls_alpha_integers(alpha, dls_least_integers((int)z));
    alpha->whole_room = dls_alpha_numbers(alpha, dls_lu_room((int)total));
}

static bool factor_whole(dls_alpha *alpha) {
    int total = alpha->at.total, y = 3 * alpha->at.m, z = total - y;
    double *again = alpha->scale_row + total, *again_column = alpha->scale_column + total;
    alpha->rank = -1;
    equilibrate(total, alpha->J, alpha->scale_row, alpha->scale_column);
    for (int j = 0; j < y; j++)
        memcpy(alpha->eliminated + (int64_t)y * j, alpha->J + (int64_t)total * j, sizeof(double) * (size_t)y);
    if (dls_lu_factor(y, alpha->eliminated, alpha->pivot, alpha->whole_room)) return false;
    eliminate(alpha);
    equilibrate(z, alpha->reduced, again, again_column);
    return z == 0 || factor_regular(alpha, z) || factor_singular(alpha, z);
}

bool dls_jacobian_factor(dls_alpha *alpha) {
    alpha->has_factor = alpha->by_levels ? dls_levels_factor(alpha) : factor_whole(alpha);
    return alpha->has_factor;
}

static void solve_whole(dls_alpha *alpha, const double *R, double *step) {
    int total = alpha->at.total, y = 3 * alpha->at.m, z = total - y;
    const double *again = alpha->scale_row + total, *again_column = alpha->scale_column + total;
    for (int i = 0; i < total; i++) step[i] = alpha->scale_row[i] * R[i];
    dls_lu_solve(y, alpha->eliminated, alpha->pivot, step);
    for (int k = 0; k < y; k++)
        for (int i = 0; i < z; i++) step[y + i] -= alpha->J[y + i + (int64_t)total * k] * step[k];
    for (int i = 0; i < z; i++) step[y + i] *= again[i];
    if (z && alpha->rank >= 0)
        dls_least_solve(z, alpha->rank, alpha->least, alpha->least_numbers, alpha->least_integers, step + y);
    else if (z)
        dls_lu_solve(z, alpha->reduced, alpha->pivot_reduced, step + y);
    for (int i = 0; i < z; i++) step[y + i] *= again_column[i];
    for (int j = 0; j < z; j++)
        for (int i = 0; i < y; i++) step[i] -= alpha->J[i + (int64_t)total * (y + j)] * step[y + j];
    for (int i = 0; i < total; i++) step[i] *= alpha->scale_column[i];
}

/* Stiff bodies that stick couple levels strongly: the whole is factored then, if contacts are few, and serves
 * the rest of the attempt. */
void dls_jacobian_solve(dls_alpha *alpha, const double *x, const double *R, double *step) {
    if (alpha->by_levels) {
        bool few = alpha->at.count[DLS_ROWS_N] <= DLS_FEW_CONTACTS && dls_jacobian_is_small(alpha);
        if (dls_levels_solve(alpha, x, R, step) || !few) return;
        if (!dls_jacobian_gather(alpha, x) || !factor_whole(alpha)) return;
        alpha->by_levels = false;
    }
    solve_whole(alpha, R, step);
}
