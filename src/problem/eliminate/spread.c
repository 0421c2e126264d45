/* Impulses of rows that depend on others. With G_D = C G_K, K the rows that R has and D those that were left
 * out, all (r_K − Cᵀ y, y) move bodies alike. That of least norm, which elastic bodies come to as they
 * stiffen, has
 *
 *     (1 + C Cᵀ) y = C r_K,    Cᵀ y = S_K⁻¹ G_K G_Dᵀ y,    C z = G_D G_Kᵀ S_K⁻¹ z. */
#include "problem/eliminate/elimination.h"

#include "base/error.h"
#include "base/small.h"

#include <math.h>
#include <string.h>

static const double ENOUGH = 1e-12; /* of the first residual */

enum { MOST_STEPS = 60 };

typedef struct spreading {
    const dls_elimination *e;
    size_t states;          /* numbers of a state */
    double *state;          /* of the bodies */
    double *z, *w;          /* by places */
    double *y, *g, *p, *Ap; /* by places, zero but at those left out */
} spreading;

/* u = G_J G_Jᵀ x, by places. */
static void multiply(const spreading *s, const double *x, double *u) {
    memset(s->state, 0, sizeof(double) * s->states);
    dls_held_add(s->e, x, s->state);
    for (int j = 0; j < s->e->place_count; j++) u[j] = 0;
    dls_held_gather(s->e, s->state, u);
}

static void keep_dropped(const dls_elimination *e, double *x) {
    for (int j = 0; j < e->place_count; j++) x[j] = e->R.dropped[j] ? x[j] : 0;
}

/* z = Cᵀ y */
static void spread_back(const spreading *s, const double *y, double *z) {
    multiply(s, y, z);
    dls_cholesky_solve(&s->e->R, z);
}

/* y = C z; z is lost. */
static void gather_from(const spreading *s, double *z, double *y) {
    dls_cholesky_solve(&s->e->R, z);
    multiply(s, z, y);
    keep_dropped(s->e, y);
}

/* Conjugate gradients from y = 0; g is C r_K. */
static void solve(const spreading *s) {
    int n = s->e->place_count;
    double square = small_dot(n, s->g, s->g), first = square;
    memcpy(s->p, s->g, sizeof(double) * (size_t)n);
    for (int k = 0; k < MOST_STEPS && square > ENOUGH * ENOUGH * first; k++) {
        spread_back(s, s->p, s->z);
        gather_from(s, s->z, s->Ap);
        for (int j = 0; j < n; j++) s->Ap[j] += s->p[j];
        double step = square / small_dot(n, s->p, s->Ap), before = square;
        for (int j = 0; j < n; j++) s->y[j] += step * s->p[j], s->g[j] -= step * s->Ap[j];
        square = small_dot(n, s->g, s->g);
        for (int j = 0; j < n; j++) s->p[j] = s->g[j] + square / before * s->p[j];
    }
}

static bool take_all(spreading *s) {
    dls_workspace *w = s->e->space;
    double **vectors[] = {&s->z, &s->w, &s->y, &s->g, &s->p, &s->Ap};
    s->state = DLS_TAKE(w, double, s->states);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!(*vectors[i] = DLS_TAKE_ZERO(w, double, s->e->place_count))) return false;
    return s->state != NULL;
}

dls_status dls_elimination_spread(dls_elimination *e, double *r, dls_error *error) {
    const dls_problem *p = e->p;
    dls_workspace_mark mark = dls_workspace_get_mark(e->space);
    spreading s = {.e = e, .states = p->op->state_size(p)};
    bool taken = take_all(&s);
    if (taken) {
        for (int j = 0; j < e->place_count; j++) s.w[j] = e->R.dropped[j] ? 0 : r[e->row[j]];
        gather_from(&s, s.w, s.g);
        solve(&s);
        spread_back(&s, s.y, s.z);
        for (int j = 0; j < e->place_count; j++) r[e->row[j]] += e->R.dropped[j] ? s.y[j] : -s.z[j];
    }
    dls_workspace_release(e->space, mark);
    return taken ? DLS_OK : dls_fail_memory(error);
}
