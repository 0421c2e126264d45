#include "problem/operator/visits.h"

#include "base/small.h"

/* ---- bilateral blocks: u_c = 0, so r_c = −W_cc⁻¹ v ---- */

static const double REDUNDANT = 1e12;

/* data: W_cc⁻¹, or NaN first where W_cc is singular to rounding: W_ii (W⁻¹)_ii = 1/(1 − R²) of row i over the
 * others, whatever their units. */
void dls_prepare_bilateral(int d, const double *W, double *data) {
    bool singular = !small_invert(d, W, data);
    for (int i = 0; i < d && !singular; i++) singular = !(fabs(W[i + d * i] * data[i + d * i]) < REDUNDANT);
    if (singular) data[0] = NAN;
}

void dls_solve_bilateral(int d, const double *W, const double *data, const double *v, double *r) {
    if (isnan(data[0])) { /* redundant rows: relax them one by one, which never divides by zero */
        for (int i = 0; i < d; i++) {
            double u = v[i];
            for (int j = 0; j < d; j++) u += W[i + d * j] * r[j];
            r[i] -= u / W[i + d * i];
        }
        return;
    }
    for (int i = 0; i < d; i++) r[i] = 0;
    small_multiply_subtract(d, data, v, r);
}

/* ---- any block of any operator ---- */

static inline void visit_any(dls_visits *s, int run, int c, double *r, dls_sweep_change *change) {
    const dls_problem *p = s->problem;
    double v[DLS_MAX_BLOCK], x[DLS_MAX_BLOCK];
    p->op->local(p, c, r, s->state, v);
    if (dls_visit_local(s, run, c, dls_size(p, c), v, r, x, change)) p->op->changed(p, c, x, s->state);
}

dls_sweep_change dls_visit_run_any(dls_visits *s, int run, int first, int end, double *r, bool backward) {
    return dls_visit_each(s, run, first, end, r, backward, visit_any);
}

dls_sweep_change dls_visit_any(dls_visits *s, int first, int end, double *r, bool backward) {
    return dls_visit_runs(s, first, end, r, backward, dls_visit_run_any);
}

/* ---- segments ---- */

void dls_sweep_add(dls_sweep_change *sum, const dls_sweep_change *part) {
    sum->velocity2 += part->velocity2;
    sum->normal = fmax(sum->normal, part->normal);
    sum->tangent = fmax(sum->tangent, part->tangent);
    sum->unsolved += part->unsolved;
}

static int run_of(const dls_problem *p, int c) {
    int low = 0, high = p->run_count - 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (p->runs[middle].end <= c)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static inline bool is_in(const dls_visits *s, const dls_run *run, int place) {
    int c = s->order ? s->order[place] : place;
    return c >= run->first && c < run->end;
}

dls_sweep_change dls_visit_runs(dls_visits *s, int first, int end, double *r, bool backward,
                                dls_run_kernel kernel) {
    const dls_problem *p = s->problem;
    dls_sweep_change sum = {0, 0, 0, 0};
    if (first == end) return sum;
    if (p->run_count == 1) return kernel(s, 0, first, end, r, backward);
    while (first < end) {
        int from = backward ? end - 1 : first, to = from + 1;
        int k = run_of(p, s->order ? s->order[from] : from);
        while (backward && from > first && is_in(s, &p->runs[k], from - 1)) from--;
        while (!backward && to < end && is_in(s, &p->runs[k], to)) to++;
        dls_sweep_change part = kernel(s, k, from, to, r, backward);
        dls_sweep_add(&sum, &part);
        if (backward)
            end = from;
        else
            first = to;
    }
    return sum;
}
