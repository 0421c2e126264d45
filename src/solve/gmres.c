#include "solve/gmres.h"

#include "base/memory.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

static const double ROUNDING = 1e-14, LEAST_PIVOT = 1e-10; /* relative sizes below which a number is none */

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

typedef struct pair {
    const double *x;
    double *y;
    double factor;
} pair;

static double dot_range(void *self, int first, int end) {
    const pair *p = self;
    double part = 0;
#pragma omp simd reduction(+ : part)
    for (int i = first; i < end; i++) part += p->x[i] * p->y[i];
    return part;
}

static double add_range(void *self, int first, int end) {
    const pair *p = self;
    const double *restrict x = p->x;
    double *restrict y = p->y, factor = p->factor;
    for (int i = first; i < end; i++) y[i] += factor * x[i];
    return 0;
}

static double dot(const dls_gmres *g, const double *x, double *y) {
    return dls_parallel_sum(g->n, g->threads, dot_range, &(pair){x, y, 0});
}

/* y += factor x */
static void add(const dls_gmres *g, double factor, const double *x, double *y) {
    dls_parallel_sum(g->n, g->threads, add_range, &(pair){x, y, factor});
}

static double *vector(const dls_gmres *g, int k) { return g->basis + (size_t)k * (size_t)g->n; }
static double *entry(const dls_gmres *g, int i, int j) { return &g->hessenberg[i + j * (g->restart + 1)]; }

/* Makes basis vector k + 1 orthogonal to the others (modified Gram–Schmidt) and fills column k. Where nothing
 * but rounding is left of it the Krylov space is exhausted: a zero below the diagonal ends the iteration. */
static void orthogonalize(dls_gmres *g, int k) {
    double size2 = 0;
    for (int i = 0; i <= k; i++) {
        double h = *entry(g, i, k) = dot(g, vector(g, i), g->w);
        add(g, -h, vector(g, i), g->w);
        size2 += h * h;
    }
    double norm = sqrt(dot(g, g->w, g->w));
    bool fresh = norm > ROUNDING * sqrt(size2);
    *entry(g, k + 1, k) = fresh ? norm : 0;
    for (int i = 0; i < g->n; i++) vector(g, k + 1)[i] = fresh ? g->w[i] / norm : 0;
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
    memset(g->w, 0, sizeof(double) * (size_t)g->n);
    for (int i = 0; i < k; i++) add(g, g->right[i], vector(g, i), g->w);
    precondition(self, g->w, g->z);
    add(g, 1, g->z, x);
}

int dls_gmres_solve(dls_gmres *g, dls_gmres_operator apply, dls_gmres_operator precondition, void *self,
                    const double *y, double tolerance, int max_products, double *x) {
    int products = 0;
    memset(x, 0, sizeof(double) * (size_t)g->n);
    memcpy(g->w, y, sizeof(double) * (size_t)g->n);
    double first = sqrt(dot(g, g->w, g->w)), norm = first;
    while (norm > tolerance * first && norm > 0 && products < max_products) {
        for (int i = 0; i < g->n; i++) vector(g, 0)[i] = g->w[i] / norm;
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
        for (int i = 0; i < g->n; i++) g->w[i] = y[i] - g->w[i];
        norm = sqrt(dot(g, g->w, g->w));
    }
    return products;
}
