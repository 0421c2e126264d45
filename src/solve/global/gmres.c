#include "solve/global/gmres.h"

#include "base/memory.h"
#include "base/parallel.h"
#include "base/simd.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double ROUNDING = 1e-14, LEAST_PIVOT = 1e-10; /* relative sizes below which a number is none */

enum { STRIP = 512 }; /* rows that stay in cache while many vectors pass */

bool dls_gmres_prepare(dls_gmres *g, int n, int restart, int threads, dls_workspace *w) {
    size_t size = (size_t)n, m = (size_t)restart;
    *g = (dls_gmres){.n = n, .restart = restart, .threads = threads};
    g->basis = DLS_TAKE(w, double, size *(m + 1));
    g->hessenberg = DLS_TAKE(w, double, (m + 1) * m);
    g->cosine = DLS_TAKE(w, double, m);
    g->sine = DLS_TAKE(w, double, m);
    g->right = DLS_TAKE(w, double, m + 1);
    g->z = DLS_TAKE(w, double, size);
    g->w = DLS_TAKE(w, double, size);
    return g->basis && g->hessenberg && g->cosine && g->sine && g->right && g->z && g->w;
}

/* ---- passes over vectors, on all threads; rows of a chunk stay in cache from one line to the next ---- */

typedef struct pass {
    const dls_gmres *gmres;
    const double *x, *then;
    double *y, *z, factor;
    int count;
} pass;

/* Eight sums side by side, added in order: two vectors of four that do not wait for each other. */
static double dot(const double *x, const double *y, int first, int end) {
    dls_v4 low = {0}, high = {0};
    int i = first;
    for (; i + 8 <= end; i += 8) {
        low += DLS_V4_LOAD(x + i) * DLS_V4_LOAD(y + i);
        high += DLS_V4_LOAD(x + i + 4) * DLS_V4_LOAD(y + i + 4);
    }
    for (; i < end; i++) low[0] += x[i] * y[i];
    return low[0] + low[1] + low[2] + low[3] + high[0] + high[1] + high[2] + high[3];
}

/* y·then */
static double dot_range(void *self, int first, int end) {
    const pass *p = self;
    return dot(p->then, p->y, first, end);
}

/* y ← y + factor x */
static void add_range(void *self, int first, int end) {
    const pass *p = self;
    const double *restrict x = p->x;
    double *restrict y = p->y, factor = p->factor;
    for (int i = first; i < end; i++) y[i] += factor * x[i];
}

/* y ← y + factor x; y·then */
static double add_dot_range(void *self, int first, int end) {
    add_range(self, first, end);
    return dot_range(self, first, end);
}

/* y ← x/factor, or 0 where factor is */
static void divide_range(void *self, int first, int end) {
    const pass *p = self;
    const double *restrict x = p->x;
    double *restrict y = p->y, factor = p->factor;
    for (int i = first; i < end; i++) y[i] = factor != 0 ? x[i] / factor : 0;
}

/* y ← 0, z ← x; x·x */
static double begin_range(void *self, int first, int end) {
    const pass *p = self;
    memset(p->y + first, 0, sizeof(double) * (size_t)(end - first));
    memcpy(p->z + first, p->x + first, sizeof(double) * (size_t)(end - first));
    return dot(p->x, p->x, first, end);
}

/* y ← x − y; y·y */
static double residual_range(void *self, int first, int end) {
    const pass *p = self;
    const double *restrict x = p->x;
    double *restrict y = p->y;
    for (int i = first; i < end; i++) y[i] = x[i] - y[i];
    return dot(y, y, first, end);
}

static double sum(const dls_gmres *g, dls_range_value share, pass p) {
    return dls_parallel_sum(g->n, g->threads, share, &p);
}

static void over_rows(const dls_gmres *g, dls_range_work work, pass p) {
    dls_parallel_for(g->n, g->threads, work, &p);
}

static double *vector(const dls_gmres *g, int k) {
    assert(k >= 0 && k <= g->restart);
    return g->basis + (size_t)k * (size_t)g->n;
}
static double *entry(const dls_gmres *g, int i, int j) {
    assert(i >= 0 && i <= g->restart && j >= 0 && j < g->restart);
    return &g->hessenberg[i + j * (g->restart + 1)];
}

/* y = the combination of count basis vectors with the factors in right; y stays in cache while they pass. */
static void combine_range(void *self, int first, int end) {
    const pass *p = self;
    const dls_gmres *g = p->gmres;
    for (int at = first; at < end; at += STRIP) {
        int stop = end - at < STRIP ? end : at + STRIP;
        double *restrict y = p->y;
        memset(y + at, 0, sizeof(double) * (size_t)(stop - at));
        for (int k = 0; k < p->count; k++) {
            const double *restrict x = vector(g, k);
            double factor = g->right[k];
            for (int i = at; i < stop; i++) y[i] += factor * x[i];
        }
    }
}

/* Makes basis vector k + 1 orthogonal to the others (modified Gram–Schmidt) and fills column k. Where nothing
 * but rounding is left of it the Krylov space is exhausted: a zero below the diagonal ends the iteration. */
static void orthogonalize(dls_gmres *g, int k) {
    double h = sum(g, dot_range, (pass){.then = vector(g, 0), .y = g->w}), size2 = h * h;
    *entry(g, 0, k) = h;
    for (int i = 1; i <= k; i++) {
        h = sum(g, add_dot_range,
                (pass){.x = vector(g, i - 1), .factor = -h, .y = g->w, .then = vector(g, i)});
        *entry(g, i, k) = h;
        size2 += h * h;
    }
    double norm =
        sqrt(sum(g, add_dot_range, (pass){.x = vector(g, k), .factor = -h, .y = g->w, .then = g->w}));
    bool fresh = norm > ROUNDING * sqrt(size2);
    *entry(g, k + 1, k) = fresh ? norm : 0;
    over_rows(g, divide_range, (pass){.x = g->w, .factor = fresh ? norm : 0, .y = vector(g, k + 1)});
}

/* Turns column k into upper triangular form; returns the norm of the residual that is left. */
static double rotate(dls_gmres *g, int k) {
    for (int i = 0; i < k; i++) {
        double a = *entry(g, i, k), b = *entry(g, i + 1, k);
        *entry(g, i, k) = g->cosine[i] * a + g->sine[i] * b;
        *entry(g, i + 1, k) = -g->sine[i] * a + g->cosine[i] * b;
    }
    double a = *entry(g, k, k), b = *entry(g, k + 1, k), norm = hypot(a, b);
    g->cosine[k] = norm > 0 ? a / norm : 1;
    g->sine[k] = norm > 0 ? b / norm : 0;
    *entry(g, k, k) = norm;
    g->right[k + 1] = -g->sine[k] * g->right[k];
    g->right[k] *= g->cosine[k];
    return fabs(g->right[k + 1]);
}

/* x += P⁻¹ V y with the triangular solution y of the first k columns. A singular A leaves the last ones
 * without a pivot: the step before them was as good. */
static void update(dls_gmres *g, int k, dls_gmres_operator precondition, void *self, double *x) {
    double largest = 0;
    for (int i = 0; i < k; i++) largest = fmax(largest, fabs(*entry(g, i, i)));
    while (k > 0 && !(fabs(*entry(g, k - 1, k - 1)) > LEAST_PIVOT * largest)) k--;
    for (int i = k - 1; i >= 0; i--) {
        for (int j = i + 1; j < k; j++) g->right[i] -= *entry(g, i, j) * g->right[j];
        g->right[i] = *entry(g, i, i) != 0 ? g->right[i] / *entry(g, i, i) : 0;
    }
    over_rows(g, combine_range, (pass){.gmres = g, .count = k, .y = g->w});
    precondition(self, g->w, g->z);
    over_rows(g, add_range, (pass){.x = g->z, .factor = 1, .y = x});
}

int dls_gmres_solve(dls_gmres *g, dls_gmres_operator apply, dls_gmres_operator precondition, void *self,
                    const double *y, double tolerance, int max_products, double *x) {
    int products = 0;
    double first = sqrt(sum(g, begin_range, (pass){.x = y, .y = x, .z = g->w})), norm = first;
    while (norm > tolerance * first && norm > 0 && products < max_products) {
        over_rows(g, divide_range, (pass){.x = g->w, .factor = norm, .y = vector(g, 0)});
        g->right[0] = norm;
        int k = 0;
        while (k < g->restart && products < max_products && norm > tolerance * first) {
            precondition(self, vector(g, k), g->z);
            apply(self, g->z, g->w);
            products++;
            orthogonalize(g, k);
            norm = rotate(g, k++);
        }
        update(g, k, precondition, self, x);
        if (norm <= tolerance * first || products >= max_products) break;
        apply(self, x, g->w); /* the true residual starts the next cycle */
        products++;
        norm = sqrt(sum(g, residual_range, (pass){.x = y, .y = g->w}));
    }
    return products;
}
