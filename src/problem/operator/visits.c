#include "problem/operator/visits.h"

#include "base/small.h"

/* ---- contacts with parts ---- */

dls_contact_state dls_solve_cone(const dls_visits *s, int c, const double *W, const double *data,
                                 const double *v, double *r) {
    dls_cone cone = dls_cone_of(s->problem, c);
    if (cone.count) return s->law->solve_cone(&s->local, &cone, W, data, v, r);
    r[0] = v[0] < 0 ? -v[0] / W[0] : 0;
    return r[0] > 0 ? DLS_STICK : DLS_OPEN;
}

/* ---- intervals: u_i = 0 between the bounds ---- */

static const double REDUNDANT = 1e12;

enum { MOST_SETS = 12, RELAXATIONS = 4 };

/* data: W_cc⁻¹, or NaN first where W_cc is singular to rounding: W_ii (W⁻¹)_ii = 1/(1 − R²) of row i over the
 * others, whatever their units. */
void dls_prepare_interval(int d, const double *W, double *data) {
    bool singular = !small_invert(d, W, data);
    for (int i = 0; i < d && !singular; i++) singular = !(fabs(W[i + d * i] * data[i + d * i]) < REDUNDANT);
    if (singular) data[0] = NAN;
}

/* Rows one by one, which never divides by zero and always comes nearer. */
static void relax_rows(int d, const double *W, const double *low, const double *high, const double *v,
                       double *r) {
    for (int i = 0; i < d; i++) {
        double u = v[i];
        for (int j = 0; j < d; j++) u += W[i + d * j] * r[j];
        r[i] -= u / W[i + d * i];
        if (low) r[i] = r[i] < low[i] ? low[i] : r[i] > high[i] ? high[i] : r[i];
    }
}

/* Which rows stand at a bound by z = r − u/W_ii: −1, 0, 1; whether these are other than before. */
static bool find_sets(int d, const double *W, const double *low, const double *high, const double *v,
                      const double *r, int8_t *set) {
    bool changed = false;
    for (int i = 0; i < d; i++) {
        double u = v[i];
        for (int j = 0; j < d; j++) u += W[i + d * j] * r[j];
        double z = r[i] - u / W[i + d * i];
        int8_t now = z < low[i] ? -1 : z > high[i] ? 1 : 0;
        changed = changed || now != set[i];
        set[i] = now;
    }
    return changed;
}

/* r at the bounds of its set, and W_ff r_f = −v_f − W_fb r_b for the others. */
static bool solve_set(int d, const double *W, const double *low, const double *high, const double *v,
                      const int8_t *set, double *r) {
    double A[DLS_MAX_BLOCK * DLS_MAX_BLOCK], y[DLS_MAX_BLOCK];
    for (int i = 0; i < d; i++) {
        y[i] = set[i] < 0 ? low[i] : set[i] > 0 ? high[i] : -v[i];
        for (int j = 0; j < d; j++) A[i + d * j] = set[i] ? i == j : W[i + d * j];
    }
    if (!small_solve(d, A, y)) return false;
    for (int i = 0; i < d; i++) r[i] = y[i];
    return true;
}

/* Without bounds r = −W⁻¹ v; with them the sets of rows at their bounds are found in turn (primal–dual active
 * sets), and where these cycle the rows are relaxed. */
void dls_solve_interval(int d, const double *W, const double *data, const double *low, const double *high,
                        const double *v, double *r) {
    int8_t set[DLS_MAX_BLOCK];
    double start[DLS_MAX_BLOCK];
    if (isnan(data[0])) {
        relax_rows(d, W, low, high, v, r);
        return;
    }
    if (!low) {
        for (int i = 0; i < d; i++) r[i] = 0;
        small_multiply_subtract(d, data, v, r);
        return;
    }
    for (int i = 0; i < d; i++) start[i] = r[i], set[i] = 2;
    for (int k = 0; k < MOST_SETS; k++) {
        if (!find_sets(d, W, low, high, v, r, set)) return;
        if (!solve_set(d, W, low, high, v, set, r)) break;
    }
    for (int i = 0; i < d; i++) r[i] = start[i];
    for (int k = 0; k < RELAXATIONS; k++) relax_rows(d, W, low, high, v, r);
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
