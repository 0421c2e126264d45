/* With f = g(r) − r and differences ΔF, ΔG over a window:  min_γ |f − ΔF γ|,  r⁺ = proj_K(g − ΔG γ). */
#include "solve/anderson.h"

#include "base/memory.h"
#include "base/small.h"
#include "problem/cone.h"

#include <math.h>

enum { CHUNK = 2048 };

bool dls_anderson_prepare(dls_anderson *a, const dls_problem *p, int window, int threads, dls_workspace *w) {
    size_t n = (size_t)p->row_count, chunks = n / CHUNK + 1;
    *a = (dls_anderson){.problem = p, .threads = threads, .window = window};
    a->weight = DLS_TAKE(w, double, n);
    a->dF = DLS_TAKE(w, double, n *(size_t)window);
    a->dG = DLS_TAKE(w, double, n *(size_t)window);
    a->last_f = DLS_TAKE(w, double, n);
    a->last_g = DLS_TAKE(w, double, n);
    a->f = DLS_TAKE(w, double, n);
    a->parts = DLS_TAKE(w, double, chunks * 2 * DLS_MAX_WINDOW);
    if (!a->weight || !a->dF || !a->dG || !a->last_f || !a->last_g || !a->f || !a->parts) return false;
    for (int c = 0; c < p->block_count; c++)
        for (int i = p->row[c]; i < p->row[c + 1]; i++) a->weight[i] = sqrt(p->scale[c]);
    return true;
}

void dls_anderson_clear(dls_anderson *a) {
    a->used = a->next = 0;
    a->has_last = false;
}

/* One chunk: the new f and its differences, and the products of the window's columns with f and with the new
 * one. */
static void enter_chunk(dls_anderson *a, int first, int end, const double *g, const double *r, int columns,
                        double *with_f, double *with_new) {
    size_t n = (size_t)a->problem->row_count;
    double *dF = a->dF + n * (size_t)a->next, *dG = a->dG + n * (size_t)a->next;
    for (int i = first; i < end; i++) {
        double f = a->weight[i] * (g[i] - r[i]);
        dF[i] = f - a->last_f[i];
        dG[i] = g[i] - a->last_g[i];
        a->f[i] = a->last_f[i] = f;
        a->last_g[i] = g[i];
    }
    for (int k = 0; k < columns; k++) {
        const double *column = a->dF + n * (size_t)k;
        double f = 0, same = 0;
#pragma omp simd reduction(+ : f, same)
        for (int i = first; i < end; i++) {
            f += column[i] * a->f[i];
            same += column[i] * dF[i];
        }
        with_f[k] = f;
        with_new[k] = same;
    }
}

/* Enters the newest pair and leaves ΔFᵀ f in rhs; chunks are added in order. */
static void enter(dls_anderson *a, const double *g, const double *r, double *rhs) {
    int n = a->problem->row_count, chunks = (n + CHUNK - 1) / CHUNK;
    int columns = a->used < a->window ? a->used + 1 : a->window;
#pragma omp parallel for num_threads(a->threads) schedule(static) if (a->threads > 1 && chunks > 1)
    for (int k = 0; k < chunks; k++) {
        double *part = a->parts + (size_t)k * 2 * DLS_MAX_WINDOW;
        int end = (k + 1) * CHUNK < n ? (k + 1) * CHUNK : n;
        enter_chunk(a, k * CHUNK, end, g, r, columns, part, part + DLS_MAX_WINDOW);
    }
    a->used = columns;
    for (int j = 0; j < columns; j++) {
        double f = 0, same = 0;
        for (int k = 0; k < chunks; k++) {
            f += a->parts[(size_t)k * 2 * DLS_MAX_WINDOW + (size_t)j];
            same += a->parts[(size_t)k * 2 * DLS_MAX_WINDOW + DLS_MAX_WINDOW + (size_t)j];
        }
        rhs[j] = f;
        a->gram[j][a->next] = a->gram[a->next][j] = same;
    }
    a->next = (a->next + 1) % a->window;
}

/* (ΔFᵀΔF + 1e-12 tr I) γ = ΔFᵀ f by Cholesky; false where even that is not definite. */
static bool solve_gram(const dls_anderson *a, double *gamma) {
    int m = a->used;
    double L[DLS_MAX_WINDOW][DLS_MAX_WINDOW], trace = 0;
    for (int i = 0; i < m; i++) trace += a->gram[i][i];
    for (int j = 0; j < m; j++)
        for (int i = j; i < m; i++) {
            double sum = a->gram[i][j] + (i == j ? 1e-12 * trace : 0);
            for (int k = 0; k < j; k++) sum -= L[i][k] * L[j][k];
            if (i == j && !(sum > 0)) return false;
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }
    for (int i = 0; i < m; i++) {
        for (int k = 0; k < i; k++) gamma[i] -= L[i][k] * gamma[k];
        gamma[i] /= L[i][i];
    }
    for (int i = m - 1; i >= 0; i--) {
        for (int k = i + 1; k < m; k++) gamma[i] -= L[k][i] * gamma[k];
        gamma[i] /= L[i][i];
    }
    return true;
}

/* r = proj_K(g − ΔG γ), block by block. */
static void combine(const dls_anderson *a, const double *g, const double *gamma, double *r) {
    const dls_problem *p = a->problem;
    size_t n = (size_t)p->row_count;
#pragma omp parallel for num_threads(a->threads)                                                             \
    schedule(static) if (a->threads > 1 && p->block_count > CHUNK)
    for (int first = 0; first < p->block_count; first += CHUNK) {
        int end = first + CHUNK < p->block_count ? first + CHUNK : p->block_count;
        int low = p->row[first], high = p->row[end];
        for (int i = low; i < high; i++) r[i] = g[i];
        for (int k = 0; k < a->used; k++) {
            const double *column = a->dG + n * (size_t)k;
            for (int i = low; i < high; i++) r[i] -= gamma[k] * column[i];
        }
        for (int c = first; c < end; c++)
            if (p->kind[c] == DLS_CONTACT) cone_project(dls_size(p, c), p->mu[c], r + p->row[c]);
    }
}

static void remember_first(dls_anderson *a, const double *g, double *r) {
    for (int i = 0; i < a->problem->row_count; i++) {
        a->last_f[i] = a->weight[i] * (g[i] - r[i]);
        a->last_g[i] = r[i] = g[i];
    }
    a->has_last = true;
}

bool dls_anderson_step(dls_anderson *a, const double *g, double *r) {
    double gamma[DLS_MAX_WINDOW];
    if (!a->has_last) {
        remember_first(a, g, r);
        return false;
    }
    enter(a, g, r, gamma);
    if (!solve_gram(a, gamma)) {
        dls_anderson_clear(a);
        for (int i = 0; i < a->problem->row_count; i++) r[i] = g[i];
        return false;
    }
    combine(a, g, gamma, r);
    return true;
}
