#include "solve/global/cones.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

/* In sizes of b: what is bounded farther away is not bounded. */
static const double FAR = 1e30;

/* The impulse nearest to 0 that is a size away from both bounds, or else their middle. */
static double start_between(double low, double high, double size) {
    if (high - low < 2 * size) return low + (high - low) / 2;
    return fmin(fmax(0, low + size), high - size);
}

/* ---- which pairs there are ---- */

/* 1/μ of the part with the largest; 1 without friction, when the cone is a ray. */
static double normal_weight(const dls_problem *p, int c) {
    dls_cone cone = dls_cone_of(p, c);
    double mu = 0;
    for (int k = 0; k < cone.count; k++) mu = fmax(mu, cone.mu[k]);
    return mu > 0 ? 1 / mu : 1;
}

static void add_pair(dls_cones *s, dls_pair pair) {
    pair.at = s->entries;
    s->entries += pair.size;
    s->pairs[s->count++] = pair;
}

/* Parts without friction have no cone: their impulses stay zero. */
static void add_contact(dls_cones *s, int c) {
    dls_cone cone = dls_cone_of(s->problem, c);
    int row = s->problem->row[c];
    double weight = s->weight[row];
    int first = s->count;
    for (int k = 0, tail = row + 1; k < cone.count; tail += cone.size[k++]) {
        bool rubs = cone.mu[k] > 0;
        for (int i = tail; i < tail + cone.size[k]; i++) s->weight[i] = rubs;
        if (!rubs) continue;
        double scale = 1 / cone.mu[k];
        add_pair(
            s,
            (dls_pair){
                .row = row, .tail = tail, .size = 1 + cone.size[k], .scale = scale, .share = weight / scale});
    }
    s->shared = s->shared || s->count > first + 1;
    if (s->count == first)
        add_pair(s, (dls_pair){.row = row, .tail = row, .size = 1, .scale = 1, .share = 1});
}

static void add_interval(dls_cones *s, int c) {
    const dls_problem *p = s->problem;
    for (int i = p->row[c]; p->low && i < p->row[c + 1]; i++) {
        double low = p->low[i], high = p->high[i], r = start_between(low, high, s->size);
        s->weight[i] = low < r && r < high; /* else there is one impulse only */
        if (s->weight[i] == 0) continue;
        dls_pair pair = {.row = i, .tail = i, .size = 1};
        if (low > -FAR * s->size) pair.scale = pair.share = 1, pair.offset = -low, add_pair(s, pair);
        if (high < FAR * s->size) pair.scale = pair.share = -1, pair.offset = high, add_pair(s, pair);
    }
}

/* Mean size of b, its normal rows as their equations have them. */
static double find_size(const dls_problem *p, const double *weight) {
    double sum = 0;
    for (int c = 0; c < p->block_count; c++) {
        double scale = weight[p->row[c]];
        for (int i = p->row[c]; i < p->row[c + 1]; i++)
            sum += p->b[i] * p->b[i] * (i == p->row[c] ? scale * scale : 1);
    }
    double size = sqrt(sum / (p->block_count ? p->block_count : 1));
    return size > 0 ? size : 1;
}

bool dls_cones_prepare(dls_cones *s, const dls_problem *p, dls_workspace *w) {
    *s = (dls_cones){.problem = p};
    int64_t pairs = 0, entries = 0; /* at most: a part has one row or more, a row two bounds */
    for (int c = 0; c < p->block_count; c++) {
        int d = dls_size(p, c), parts = p->kind[c] == DLS_CONTACT ? dls_cone_of(p, c).count : 0;
        pairs += p->kind[c] != DLS_CONTACT ? 2 * d : parts ? parts : 1;
        entries += p->kind[c] != DLS_CONTACT ? 2 * d : d - 1 + (parts ? parts : 1);
    }
    s->weight = DLS_TAKE(w, double, p->row_count);
    s->first = DLS_TAKE(w, int, p->block_count + 1);
    s->pairs = DLS_TAKE(w, dls_pair, pairs);
    if (!s->weight || !s->first || !s->pairs) return false;
    double **vectors[] = {&s->x, &s->z, &s->dx, &s->dz, &s->target};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        if (!(*vectors[i] = DLS_TAKE_ZERO(w, double, entries))) return false;
    for (int c = 0; c < p->block_count; c++) {
        for (int i = p->row[c]; i < p->row[c + 1]; i++) s->weight[i] = 1;
        if (p->kind[c] == DLS_CONTACT) s->weight[p->row[c]] = normal_weight(p, c);
    }
    s->size = find_size(p, s->weight);
    for (int c = 0; c < p->block_count; c++) {
        s->first[c] = s->count;
        if (p->kind[c] == DLS_CONTACT)
            add_contact(s, c);
        else
            add_interval(s, c);
    }
    s->first[p->block_count] = s->count;
    assert(s->count <= pairs && s->entries <= entries);
    return true;
}

/* ---- the pairs ---- */

static void set_impulse(const dls_cones *s, const dls_pair *pair, double *r) {
    const double *x = s->x + pair->at;
    r[pair->row] = x[0] * pair->scale;
    for (int i = 1; i < pair->size; i++) r[pair->tail + i - 1] = x[i];
}

void dls_cones_start(dls_cones *s, double *r) {
    const dls_problem *p = s->problem;
    s->coupling = 1;
    memset(s->x, 0, sizeof(double) * (size_t)s->entries);
    memset(s->z, 0, sizeof(double) * (size_t)s->entries);
    for (int i = 0; i < p->row_count; i++) r[i] = p->low ? start_between(p->low[i], p->high[i], s->size) : 0;
    for (int c = 0; c < p->block_count; c++)
        for (int k = s->first[c]; k < s->first[c + 1]; k++) {
            const dls_pair *pair = &s->pairs[k];
            bool contact = p->kind[c] == DLS_CONTACT;
            double share = contact ? pair->share : (r[pair->row] / pair->scale + pair->offset) / s->size;
            s->x[pair->at] = s->size * share;
            s->z[pair->at] = s->size / share;
            if (contact) set_impulse(s, pair, r);
        }
}

/* A += Eᵀ Θ E and B += γ μ_k n (z̄/|z̄|)ᵀ of one pair in the block that begins at the row first. */
static bool linearize_pair(dls_cones *s, dls_pair *pair, int d, int first, double *A, double *B) {
    const double *x = s->x + pair->at, *z = s->z + pair->at;
    int m = pair->size, n = pair->row - first, tail = pair->tail - first - 1;
    double slip = small_norm(m - 1, z + 1);
    if (!lorentz_scaling_make(m, x, z, &pair->scaling)) return false;
    for (int j = 0; j < m; j++) {
        double unit[4] = {0}, once[4], twice[4];
        int column = j == 0 ? n : tail + j;
        unit[j] = 1;
        lorentz_scale(m, &pair->scaling, unit, once);
        lorentz_scale(m, &pair->scaling, once, twice);
        if (j == 0)
            for (int i = 0; i < m; i++) twice[i] /= pair->scale;
        A[n + d * column] += pair->share * twice[0];
        for (int i = 1; i < m; i++) A[tail + i + d * column] += twice[i];
        if (j > 0 && slip > 0) B[n + d * column] = s->coupling * pair->share * z[j] / slip;
    }
    return true;
}

bool dls_cones_linearize(dls_cones *s, double *A, double *B) {
    const dls_problem *p = s->problem;
    for (int c = 0; c < p->block_count; c++) {
        int d = dls_size(p, c), row = p->row[c];
        for (int k = 0; k < d * d; k++) A[k] = B[k] = 0;
        for (int i = 0; i < d; i++) {
            A[i + d * i] = s->weight[row + i] == 0;
            B[i + d * i] = s->weight[row + i];
        }
        for (int k = s->first[c]; k < s->first[c + 1]; k++)
            if (!linearize_pair(s, &s->pairs[k], d, row, A, B)) return false;
        A += d * d;
        B += d * d;
    }
    return true;
}

double dls_cones_motion_error(const dls_cones *s, const double *u, double *y) {
    const dls_problem *p = s->problem;
    double sum = 0;
    memset(y, 0, sizeof(double) * (size_t)p->row_count);
    for (int k = 0; k < s->count; k++) {
        const dls_pair *pair = &s->pairs[k];
        const double *z = s->z + pair->at;
        y[pair->row] += pair->share * (z[0] - small_norm(pair->size - 1, z + 1));
        for (int i = 1; i < pair->size; i++) y[pair->tail + i - 1] = z[i];
    }
    for (int i = 0; i < p->row_count; i++) y[i] -= s->weight[i] * u[i];
    for (int c = 0; c < p->block_count; c++) sum += small_dot(dls_size(p, c), y + p->row[c], y + p->row[c]);
    return sqrt(sum);
}

void dls_cones_aim(dls_cones *s, double sigma, bool corrector) {
    for (int k = 0; k < s->count; k++) {
        const lorentz_scaling *t = &s->pairs[k].scaling;
        int m = s->pairs[k].size, at = s->pairs[k].at;
        double d[4], y[4], a[4], b[4];
        lorentz_product(m, t->lambda, t->lambda, d);
        for (int i = 0; i < m; i++) d[i] = (i == 0 ? sigma : 0) - d[i];
        if (corrector) {
            lorentz_scale(m, t, s->dx + at, a);
            lorentz_unscale(m, t, s->dz + at, b);
            lorentz_product(m, a, b, y);
            for (int i = 0; i < m; i++) d[i] -= y[i];
        }
        lorentz_divide(m, t->lambda, t->determinant, d, y);
        lorentz_scale(m, t, y, s->target + at);
    }
}

void dls_cones_right_side(const dls_cones *s, const double *u, double *right) {
    dls_cones_motion_error(s, u, right);
    for (int k = 0; k < s->count; k++) { /* δz̄ = δu − y: what |z̄| changes by with u is in B */
        const dls_pair *pair = &s->pairs[k];
        const double *z = s->z + pair->at, *y = right + pair->tail - 1;
        double slip = small_norm(pair->size - 1, z + 1), sum = right[pair->row];
        for (int i = 1; i < pair->size && slip > 0; i++)
            sum += s->coupling * pair->share * z[i] / slip * y[i];
        right[pair->row] = sum;
    }
    for (int k = 0; k < s->count; k++) {
        const dls_pair *pair = &s->pairs[k];
        const double *target = s->target + pair->at;
        right[pair->row] += pair->share * target[0];
        for (int i = 1; i < pair->size; i++) right[pair->tail + i - 1] += target[i];
    }
}

void dls_cones_direct(dls_cones *s, const double *dr) {
    for (int k = 0; k < s->count; k++) {
        const dls_pair *pair = &s->pairs[k];
        double once[4], twice[4], *dx = s->dx + pair->at;
        dx[0] = dr[pair->row] / pair->scale;
        for (int i = 1; i < pair->size; i++) dx[i] = dr[pair->tail + i - 1];
        lorentz_scale(pair->size, &pair->scaling, dx, once);
        lorentz_scale(pair->size, &pair->scaling, once, twice);
        for (int i = 0; i < pair->size; i++) s->dz[pair->at + i] = s->target[pair->at + i] - twice[i];
    }
}

double dls_cones_step_length(const dls_cones *s, double t) {
    for (int k = 0; k < s->count; k++) {
        int m = s->pairs[k].size, at = s->pairs[k].at;
        t = lorentz_step(m, s->x + at, s->dx + at, t);
        t = lorentz_step(m, s->z + at, s->dz + at, t);
    }
    return t;
}

double dls_cones_gap(const dls_cones *s, double t) {
    double sum = 0;
    for (int i = 0; i < s->entries && !isnan(sum); i++)
        sum += (s->x[i] + t * s->dx[i]) * (s->z[i] + t * s->dz[i]);
    return s->count ? sum / s->count : 0;
}

/* Where r is a multiple of x it follows from it; beside a bound that is far away x₀ has lost its digits. */
void dls_cones_advance(dls_cones *s, double t, const double *dr, double *r) {
    for (int i = 0; i < s->problem->row_count; i++) r[i] += t * dr[i];
    for (int i = 0; i < s->entries; i++) {
        s->x[i] += t * s->dx[i];
        s->z[i] += t * s->dz[i];
    }
    for (int k = 0; k < s->count; k++)
        if (s->pairs[k].offset == 0) set_impulse(s, &s->pairs[k], r);
}
