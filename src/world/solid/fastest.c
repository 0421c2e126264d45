/* The fastest mode at rest, K x = ω² M x, by Lanczos with M = L Lᵀ:
 *
 *     β₊ y₊ = L⁻¹ K L⁻ᵀ y − α y − β y₋,   ω² the largest eigenvalue of the tridiagonal of α and β
 *
 * which is found from below; steps go on until it grows no more. */
#include "base/memory.h"
#include "base/random.h"
#include "world/solid/solid.h"

#include <math.h>
#include <string.h>

enum { MOST = 400 };
static const double still = 1e-7; /* of ω² in a step: six such end the search */

typedef struct lanczos {
    const dls_solid *solid;
    const dls_pattern *pattern;
    int n, count;
    double *K, *L, *y, *last, *next, *room;
    double alpha[MOST], beta[MOST + 1]; /* beta[k] couples k − 1 and k */
} lanczos;

/* Eigenvalues of the tridiagonal beyond x, by signs of its pivots. */
static int beyond(const lanczos *z, double x) {
    int above = 0;
    double pivot = 1;
    for (int k = 0; k < z->count; k++) {
        pivot = z->alpha[k] - x - (k ? z->beta[k] * z->beta[k] / pivot : 0);
        if (pivot == 0) pivot = -1e-300;
        above += pivot > 0;
    }
    return above;
}

static double largest(const lanczos *z) {
    double low = 0, high = 0;
    for (int k = 0; k < z->count; k++)
        high = fmax(high, z->alpha[k] + z->beta[k] + (k + 1 < z->count ? z->beta[k + 1] : 0));
    for (int k = 0; k < 60; k++) {
        double middle = 0.5 * (low + high);
        *(beyond(z, middle) ? &low : &high) = middle;
    }
    return high;
}

static double norm_of(int n, const double *x) {
    double sum = 0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

/* next = L⁻¹ P K Pᵀ L⁻ᵀ y */
static void apply(lanczos *z) {
    memcpy(z->next, z->y, sizeof(double) * (size_t)z->n);
    dls_pattern_back(z->pattern, z->L, z->next);
    dls_pattern_leave(z->pattern, z->next, z->room);
    double *product = z->next + z->n;
    memset(product, 0, sizeof(double) * (size_t)z->n);
    dls_pattern_multiply(z->pattern, z->K, z->room, product);
    dls_pattern_enter(z->pattern, product, z->next);
    dls_pattern_forward(z->pattern, z->L, z->next);
}

/* One more row of the tridiagonal; false where there is none. */
static bool advance(lanczos *z) {
    int k = z->count;
    double dot = 0;
    apply(z);
    for (int i = 0; i < z->n; i++) dot += z->y[i] * z->next[i];
    for (int i = 0; i < z->n; i++) z->next[i] -= dot * z->y[i] + z->beta[k] * z->last[i];
    z->alpha[k] = dot, z->beta[k + 1] = norm_of(z->n, z->next), z->count++;
    memcpy(z->last, z->y, sizeof(double) * (size_t)z->n);
    for (int i = 0; i < z->n; i++) z->y[i] = z->next[i] / z->beta[k + 1];
    return z->count < MOST && z->beta[k + 1] > 1e-12 * largest(z);
}

static double search(lanczos *z) {
    dls_random random = {1};
    double before = 0, now;
    for (int i = 0; i < z->n; i++) z->y[i] = dls_random_between(&random, -1, 1);
    double length = norm_of(z->n, z->y);
    for (int i = 0; i < z->n; i++) z->y[i] /= length;
    bool more = true;
    for (int quiet = 0; more && quiet < 6; before = now) {
        more = advance(z);
        now = largest(z);
        quiet = now - before > still * now ? 0 : quiet + 1;
    }
    return before;
}

double dls_solid_fastest(const dls_solid *solid) {
    static const dls_body_state rest = {.q = {1, 0, 0, 0}};
    const dls_solid_kind *kind = solid->kind;
    const dls_pattern *p = kind->pattern(solid->data);
    int64_t n = solid->n, numbers = dls_pattern_numbers(p), room = dls_pattern_room(p);
    lanczos z = {.solid = solid, .pattern = p, .n = solid->n};
    double *q = DLS_NEW_ZERO(double, 7 * n + room), *M = DLS_NEW_ZERO(double, 2 * numbers);
    z.L = DLS_NEW(double, dls_pattern_factor_numbers(p));
    double found = NAN;
    if (q && M && z.L) {
        z.y = q + 2 * n, z.last = q + 3 * n, z.room = q + 4 * n, z.next = q + 5 * n, z.K = M + numbers;
        kind->begin(solid->data, &rest, q, q + n);
        kind->matrix(solid->data, DLS_SOLID_MASS, q, 1, M);
        kind->matrix(solid->data, DLS_SOLID_STIFFNESS, q, 1, z.K);
        if (dls_pattern_factor(p, M, z.L, q + 7 * n)) found = search(&z);
    }
    dls_free(q);
    dls_free(M);
    dls_free(z.L);
    return found;
}
