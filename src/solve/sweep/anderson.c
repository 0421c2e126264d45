/* With f = g(r) − r and differences ΔF, ΔG over a window:  min_γ |f − ΔF γ|,  r⁺ = proj_K(g − ΔG γ). */
#include "solve/sweep/anderson.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "base/small.h"

#include <assert.h>
#include <math.h>

enum { CHUNK = 2048, PART = DLS_MAX_WINDOW + 1 }; /* PART: room for an odd last column */

typedef struct enter_work {
    dls_anderson *anderson;
    const double *g, *r;
    int columns;
} enter_work;

typedef struct combine_work {
    const dls_anderson *anderson;
    const double *g, *gamma;
    double *r;
} combine_work;

bool dls_anderson_prepare(dls_anderson *a, const dls_problem *p, int window, int threads, dls_workspace *w) {
    assert(window >= 1 && window <= DLS_MAX_WINDOW);
    size_t n = (size_t)p->row_count, chunks = n / CHUNK + 1;
    *a = (dls_anderson){.problem = p, .threads = threads, .window = window};
    a->weight = DLS_TAKE(w, double, n);
    a->dF = DLS_TAKE(w, double, n *(size_t)window);
    a->dG = DLS_TAKE(w, double, n *(size_t)window);
    a->last_f = DLS_TAKE(w, double, n);
    a->last_g = DLS_TAKE(w, double, n);
    a->parts = DLS_TAKE(w, double, chunks * 2 * PART);
    if (!a->weight || !a->dF || !a->dG || !a->last_f || !a->last_g || !a->parts) return false;
    for (int c = 0; c < p->block_count; c++)
        for (int i = p->row[c]; i < p->row[c + 1]; i++) a->weight[i] = sqrt(p->scale[c]);
    return true;
}

void dls_anderson_clear(dls_anderson *a) {
    a->used = a->next = 0;
    a->has_last = false;
}

/* The new f and its differences. */
static void enter_difference(dls_anderson *a, int first, int end, const double *g, const double *r) {
    size_t n = (size_t)a->problem->row_count;
    double *dF = a->dF + n * (size_t)a->next, *dG = a->dG + n * (size_t)a->next;
    for (int i = first; i < end; i++) {
        double f = a->weight[i] * (g[i] - r[i]);
        dF[i] = f - a->last_f[i];
        dG[i] = g[i] - a->last_g[i];
        a->last_f[i] = f;
        a->last_g[i] = g[i];
    }
}

/* Products of two columns x, y with f and with the newest column: four sums side by side hide the latency. */
static void multiply_pair(const double *x, const double *y, const double *f, const double *newest, int first,
                          int end, double *with_f, double *with_new) {
    double xf = 0, yf = 0, xn = 0, yn = 0;
#pragma omp simd reduction(+ : xf, yf, xn, yn)
    for (int i = first; i < end; i++) {
        xf += x[i] * f[i];
        yf += y[i] * f[i];
        xn += x[i] * newest[i];
        yn += y[i] * newest[i];
    }
    with_f[0] = xf;
    with_f[1] = yf;
    with_new[0] = xn;
    with_new[1] = yn;
}

/* One chunk: the newest pair, and the products of the window's columns with it. An odd last column stands
 * twice. */
static void enter_range(void *self, int first, int end) {
    const enter_work *w = self;
    dls_anderson *a = w->anderson;
    size_t n = (size_t)a->problem->row_count;
    const double *newest = a->dF + n * (size_t)a->next;
    for (int k = first; k < end; k++) {
        int low = k * CHUNK, high = low + CHUNK < (int)n ? low + CHUNK : (int)n;
        double *part = a->parts + (size_t)k * 2 * PART;
        enter_difference(a, low, high, w->g, w->r);
        for (int j = 0; j < w->columns; j += 2) {
            const double *x = a->dF + n * (size_t)j, *y = j + 1 < w->columns ? x + n : x;
            multiply_pair(x, y, a->last_f, newest, low, high, part + j, part + PART + j);
        }
    }
}

/* Enters the newest pair and leaves ΔFᵀ f in rhs; chunks are added in order. */
static void enter(dls_anderson *a, const double *g, const double *r, double *rhs) {
    int chunks = (a->problem->row_count + CHUNK - 1) / CHUNK;
    int columns = a->used < a->window ? a->used + 1 : a->window;
    dls_parallel_each(chunks, a->threads, enter_range, &(enter_work){a, g, r, columns});
    a->used = columns;
    for (int j = 0; j < columns; j++) {
        double f = 0, same = 0;
        for (int k = 0; k < chunks; k++) {
            f += a->parts[(size_t)k * 2 * PART + (size_t)j];
            same += a->parts[(size_t)k * 2 * PART + PART + (size_t)j];
        }
        rhs[j] = f;
        a->gram[j][a->next] = a->gram[a->next][j] = same;
    }
    assert(a->next < a->window && a->used <= a->window);
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

/* r = proj_K(g − ΔG γ), two columns in a pass. */
static void combine_range(void *self, int first, int end) {
    const combine_work *w = self;
    const dls_anderson *a = w->anderson;
    const dls_problem *p = a->problem;
    size_t n = (size_t)p->row_count;
    double *r = w->r;
    for (int k = first; k < end; k++) {
        int begin = k * CHUNK, past = begin + CHUNK < p->block_count ? begin + CHUNK : p->block_count;
        int low = p->row[begin], high = p->row[past];
        for (int j = 0; j < a->used; j += 2) {
            const double *x = a->dG + n * (size_t)j, *y = j + 1 < a->used ? x + n : x, *from = j ? r : w->g;
            double alpha = w->gamma[j], beta = j + 1 < a->used ? w->gamma[j + 1] : 0;
#pragma omp simd
            for (int i = low; i < high; i++) r[i] = from[i] - alpha * x[i] - beta * y[i];
        }
        for (int c = begin; c < past; c++) dls_block_project(p, c, r + p->row[c]);
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
    int chunks = (a->problem->block_count + CHUNK - 1) / CHUNK;
    dls_parallel_each(chunks, a->threads, combine_range, &(combine_work){a, g, gamma, r});
    return true;
}
