/* Bodies of a system: where their blocks and the entries of rows lie. */
#include "system/alpha.h"

/* ---- one body ---- */

/* All that a system without bodies is: one, that every row touches. */
static void make_one(dls_alpha *alpha, dls_parts *parts) {
    int *q = dls_alpha_integers(alpha, 2), *u = dls_alpha_integers(alpha, 2);
    *parts = (dls_parts){.count = 1, .q = q, .u = u};
    if (alpha->out_of_memory) return;
    q[1] = alpha->at.n, u[1] = alpha->at.m;
    DLS_EACH_FAMILY(f) {
        int(*row)[2] = (int(*)[2])dls_alpha_integers(alpha, 2 * (int64_t)alpha->at.count[f]);
        for (int i = 0; row && i < alpha->at.count[f]; i++) row[i][1] = -1;
        parts->row[f] = (const int(*)[2])row;
    }
}

/* ---- places ---- */

static void place_blocks(dls_alpha *alpha) {
    const dls_parts *parts = &alpha->parts;
    for (int b = 0; b < parts->count; b++) {
        int64_t n = parts->q[b + 1] - parts->q[b], m = parts->u[b + 1] - parts->u[b];
        alpha->M_at[b + 1] = alpha->M_at[b] + m * m;
        alpha->B_at[b + 1] = alpha->B_at[b] + n * m;
    }
}

static void place_rows(dls_alpha *alpha, int f) {
    const dls_parts *parts = &alpha->parts;
    int at = 0;
    for (int i = 0; i < alpha->at.count[f]; i++) {
        dls_row_place *row = &alpha->place[f][i];
        *row = (dls_row_place){.W = at};
        for (int side = 0; side < 2; side++) {
            int body = row->body[side] = parts->row[f][i][side];
            if (body < 0) continue;
            row->u[side] = parts->u[body];
            row->m[side] = parts->u[body + 1] - parts->u[body];
        }
        row->width = row->m[0] + row->m[1];
        at += row->width;
    }
}

void dls_parts_fit(dls_alpha *alpha, const dls_parts *parts) {
    if (parts)
        alpha->parts = *parts;
    else
        make_one(alpha, &alpha->parts);
    alpha->M_at = (int64_t *)dls_alpha_numbers(alpha, alpha->parts.count + 1);
    alpha->B_at = (int64_t *)dls_alpha_numbers(alpha, alpha->parts.count + 1);
    DLS_EACH_FAMILY(f)
    alpha->place[f] =
        dls_workspace_take_zero(alpha->memory, (size_t)alpha->at.count[f], sizeof *alpha->place[f]);
    DLS_EACH_FAMILY(f) if (!alpha->place[f]) alpha->out_of_memory = true;
    if (alpha->out_of_memory) return;
    place_blocks(alpha);
    DLS_EACH_FAMILY(f) place_rows(alpha, f);
}

int64_t dls_parts_width(const dls_alpha *alpha, int f) {
    int count = alpha->at.count[f];
    return count ? alpha->place[f][count - 1].W + alpha->place[f][count - 1].width : 0;
}

/* ---- products ---- */

void dls_blocks_add(const dls_alpha *alpha, double s, const double *A, const double *x, double *y) {
    for (int b = 0; b < alpha->parts.count; b++) {
        int u = alpha->parts.u[b], m = alpha->parts.u[b + 1] - u;
        const double *block = A + alpha->M_at[b];
        for (int j = 0; j < m; j++) {
            double factor = s * x[u + j];
            if (factor == 0) continue;
            for (int i = 0; i < m; i++) y[u + i] += factor * block[i + m * j];
        }
    }
}

void dls_motion_add(const dls_alpha *alpha, double s, const double *B, const double *x, double *q) {
    for (int b = 0; b < alpha->parts.count; b++) {
        int u = alpha->parts.u[b], m = alpha->parts.u[b + 1] - u;
        int at = alpha->parts.q[b], n = alpha->parts.q[b + 1] - at;
        const double *block = B + alpha->B_at[b];
        for (int j = 0; j < m; j++)
            for (int i = 0; i < n; i++) q[at + i] += s * x[u + j] * block[i + n * j];
    }
}

static dls_row_place place_of_tie(const dls_alpha *alpha, int tie) {
    dls_row_place place = {.width = 0};
    for (int side = 0; side < 2; side++) {
        int body = alpha->parts.tie[tie][side];
        if (body < 0) continue;
        place.u[side] = alpha->parts.u[body];
        place.m[side] = alpha->parts.u[body + 1] - alpha->parts.u[body];
        place.width += place.m[side];
    }
    return place;
}

int dls_tie_width(const dls_alpha *alpha, int tie) { return place_of_tie(alpha, tie).width; }

void dls_tie_add(const dls_alpha *alpha, int tie, double s, const double *A, const double *x, double *y) {
    dls_row_place place = place_of_tie(alpha, tie);
    for (int side = 0, j = 0; side < 2; side++)
        for (int d = 0; d < place.m[side]; d++, j++)
            dls_row_add(&place, s * x[place.u[side] + d], A + (int64_t)place.width * j, y);
}

double dls_mass_of(const dls_alpha *alpha, int b, int i) {
    int m = alpha->parts.u[b + 1] - alpha->parts.u[b];
    return alpha->stage.terms.M[alpha->M_at[b] + (int64_t)(m + 1) * i];
}
