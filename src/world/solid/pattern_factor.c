/* P A Pᵀ = L Lᵀ, column of blocks after column:
 *
 *     L_ij L_jjᵀ = A_ij − Σ_{k<j} L_ik L_jkᵀ,   i ≥ j
 *
 * Blocks of 2 and 3 freedoms have loops of constant length. */
#include "world/solid/pattern.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* X −= B Cᵀ */
static inline void subtract_product(int size, const double *B, const double *C, double *X) {
    for (int r = 0; r < size; r++)
        for (int c = 0; c < size; c++) {
            double sum = 0;
            for (int s = 0; s < size; s++) sum += B[r * size + s] * C[c * size + s];
            X[r * size + c] -= sum;
        }
}

/* X = L Lᵀ in its place; whole: what the diagonal was before anything was subtracted. */
static inline bool factor_block(int size, const double *whole, double *X) {
    for (int i = 0; i < size; i++)
        for (int j = 0; j <= i; j++) {
            double sum = X[i * size + j];
            for (int s = 0; s < j; s++) sum -= X[i * size + s] * X[j * size + s];
            if (i > j) {
                X[i * size + j] = sum / X[j * size + j];
                continue;
            }
            if (!(sum > 1e-15 * whole[i * size + i]) || !isfinite(sum)) return false;
            X[i * size + i] = sqrt(sum);
        }
    for (int i = 0; i < size; i++)
        for (int j = i + 1; j < size; j++) X[i * size + j] = 0;
    return true;
}

/* X ← X L⁻ᵀ */
static inline void divide_rows(int size, const double *L, double *X) {
    for (int r = 0; r < size; r++)
        for (int c = 0; c < size; c++) {
            double sum = X[r * size + c];
            for (int s = 0; s < c; s++) sum -= X[r * size + s] * L[c * size + s];
            X[r * size + c] = sum / L[c * size + c];
        }
}

/* Blocks of A where L has them. */
static void put_blocks(const dls_pattern *p, const double *A, double *L) {
    int size = p->size;
    size_t block = (size_t)(size * size);
    memset(L, 0, sizeof *L * (size_t)dls_pattern_factor_numbers(p));
    for (int64_t e = 0; e < p->start[p->nodes]; e++, A += block) {
        if (p->into[e] >= 0) {
            memcpy(L + (int64_t)block * p->into[e], A, sizeof *A * block);
            continue;
        }
        double *to = L + (int64_t)block * ~p->into[e];
        for (int r = 0; r < size; r++)
            for (int c = 0; c < size; c++) to[c * size + r] = A[r * size + c];
    }
}

static inline bool factor_columns(const dls_pattern *p, int size, double *L, double *room) {
    int block = size * size;
    for (int j = 0; j < p->nodes; j++) {
        for (int64_t e = p->below[j]; e < p->below[j + 1]; e++)
            for (int s = 0; s < block; s++) room[(int64_t)block * p->row[e] + s] = L[block * e + s];
        for (int64_t k = p->left[j]; k < p->left[j + 1]; k++) {
            const double *L_jk = L + block * p->entry[k];
            for (int64_t e = p->entry[k]; e < p->below[p->of[k] + 1]; e++)
                subtract_product(size, L + block * e, L_jk, room + (int64_t)block * p->row[e]);
        }
        double *L_jj = L + block * p->below[j], *X = room + (int64_t)block * j;
        if (!factor_block(size, L_jj, X)) return false;
        for (int s = 0; s < block; s++) L_jj[s] = X[s];
        for (int64_t e = p->below[j] + 1; e < p->below[j + 1]; e++) {
            X = room + (int64_t)block * p->row[e];
            divide_rows(size, L_jj, X);
            for (int s = 0; s < block; s++) L[block * e + s] = X[s];
        }
    }
    return true;
}

bool dls_pattern_factor(const dls_pattern *p, const double *A, double *L, double *room) {
    put_blocks(p, A, L);
    return p->size == 3   ? factor_columns(p, 3, L, room)
           : p->size == 2 ? factor_columns(p, 2, L, room)
                          : factor_columns(p, p->size, L, room);
}

/* ---- solves ---- */

void dls_pattern_enter(const dls_pattern *p, const double *x, double *y) {
    for (int i = 0; i < p->nodes; i++)
        for (int d = 0; d < p->size; d++) y[(int64_t)p->size * p->place[i] + d] = x[(int64_t)p->size * i + d];
}

void dls_pattern_leave(const dls_pattern *p, const double *y, double *x) {
    for (int i = 0; i < p->nodes; i++)
        for (int d = 0; d < p->size; d++) x[(int64_t)p->size * i + d] = y[(int64_t)p->size * p->place[i] + d];
}

/* Column j of y ← L⁻¹ y. */
static inline void forward_column(const dls_pattern *p, int size, const double *L, int j, double *y) {
    const double *B = L + (int64_t)size * size * p->below[j];
    double *of = y + (int64_t)size * j;
    for (int r = 0; r < size; r++) {
        double sum = of[r];
        for (int c = 0; c < r; c++) sum -= B[r * size + c] * of[c];
        of[r] = sum / B[r * size + r];
    }
    for (int64_t e = p->below[j] + 1; e < p->below[j + 1]; e++) {
        double *to = y + (int64_t)size * p->row[e];
        B = L + (int64_t)size * size * e;
        for (int r = 0; r < size; r++) {
            double sum = 0;
            for (int c = 0; c < size; c++) sum += B[r * size + c] * of[c];
            to[r] -= sum;
        }
    }
}

/* Column j of y ← L⁻ᵀ y. */
static inline void back_column(const dls_pattern *p, int size, const double *L, int j, double *y) {
    double *of = y + (int64_t)size * j;
    for (int64_t e = p->below[j] + 1; e < p->below[j + 1]; e++) {
        const double *B = L + (int64_t)size * size * e, *from = y + (int64_t)size * p->row[e];
        for (int r = 0; r < size; r++)
            for (int c = 0; c < size; c++) of[c] -= B[r * size + c] * from[r];
    }
    const double *B = L + (int64_t)size * size * p->below[j];
    for (int c = size - 1; c >= 0; c--) {
        for (int r = c + 1; r < size; r++) of[c] -= B[r * size + c] * of[r];
        of[c] /= B[c * size + c];
    }
}

void dls_pattern_forward(const dls_pattern *p, const double *L, double *y) {
    for (int j = 0; j < p->nodes; j++) switch (p->size) {
        case 2:
            forward_column(p, 2, L, j, y);
            break;
        case 3:
            forward_column(p, 3, L, j, y);
            break;
        default:
            forward_column(p, p->size, L, j, y);
        }
}

void dls_pattern_back(const dls_pattern *p, const double *L, double *y) {
    for (int j = p->nodes - 1; j >= 0; j--) switch (p->size) {
        case 2:
            back_column(p, 2, L, j, y);
            break;
        case 3:
            back_column(p, 3, L, j, y);
            break;
        default:
            back_column(p, p->size, L, j, y);
        }
}

void dls_pattern_upper(const dls_pattern *p, const double *L, double *y) {
    int size = p->size;
    for (int j = 0; j < p->nodes; j++) {
        const double *B = L + (int64_t)size * size * p->below[j];
        double *of = y + (int64_t)size * j;
        for (int c = 0; c < size; c++) {
            of[c] *= B[c * size + c];
            for (int r = c + 1; r < size; r++) of[c] += B[r * size + c] * of[r];
        }
        for (int64_t e = p->below[j] + 1; e < p->below[j + 1]; e++) {
            const double *from = y + (int64_t)size * p->row[e];
            B = L + (int64_t)size * size * e;
            for (int r = 0; r < size; r++)
                for (int c = 0; c < size; c++) of[c] += B[r * size + c] * from[r];
        }
    }
}

/* The ways run together: the least of the places that they have come to is next, and goes on once. */
void dls_pattern_forward_from(const dls_pattern *p, const double *L, int *places, int count, double *y) {
    while (count > 0) {
        int j = places[0], kept = 0;
        for (int k = 1; k < count; k++)
            if (places[k] < j) j = places[k];
        switch (p->size) {
        case 2:
            forward_column(p, 2, L, j, y);
            break;
        case 3:
            forward_column(p, 3, L, j, y);
            break;
        default:
            forward_column(p, p->size, L, j, y);
        }
        int next = p->parent[j];
        for (int k = 0; k < count; k++)
            if (places[k] != j && places[k] != next) places[kept++] = places[k];
        if (next >= 0) places[kept++] = next;
        count = kept;
    }
}
