/* The certificate: how far (r, u) is from a solution, by the judge and by every measure of the papers. */
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/small.h"
#include "problem/cone.h"
#include "problem/problem.h"

#include <assert.h>
#include <math.h>

/* Rounding of u, relative to the velocities that it is the difference of. */
static const double ROUNDING = 1e-14;

/* Squares of the natural map N and of the scale s, over contacts and over rows; and of b. */
typedef struct tally {
    double contacts, contact_scale; /* rounding taken off N */
    double rows, row_scale;
    double worst, held; /* max |N_c|², max |N_c|²/max(s_c, v_ref)² */
    double map, active, all;
    int active_blocks;
} tally;

/* The larger of the two, NaN where one is: fmax would hide it. */
static inline double larger(double a, double b) { return a >= b || isnan(a) ? a : b; }

/* What is judged: an error, what rounding leaves of it, and s = min(max(|b|, v_ref), |r|/ρ). */
typedef struct judged {
    double error2, counted2, scale2, b2;
} judged;

static inline judged judge_one(const dls_problem *p, int c, double error2, double b2, double load2) {
    double v2 = p->reference_velocity * p->reference_velocity, speed = p->speed ? p->speed[c] : 0;
    double counted = sqrt(error2) - ROUNDING * (sqrt(b2) + speed), most = b2 > v2 ? b2 : v2;
    counted = counted < 0 ? 0 : counted; /* NaN stays */
    return (judged){error2, counted * counted, load2 < most ? load2 : most, b2};
}

static inline void add_held(const dls_problem *p, const judged *x, tally *t) {
    double v2 = p->reference_velocity * p->reference_velocity;
    if (x->counted2 == 0) return;
    t->held = larger(x->counted2 / (x->scale2 > v2 ? x->scale2 : v2), t->held);
}

/* N of contact c with 1/ρ = w. */
static inline void natural_map(const dls_problem *p, int c, int d, double w, const double *r, const double *u,
                               double *N) {
    if (!p->parts) {
        cone_natural_map(d, p->mu[c], w, r, u, N);
    } else {
        dls_cone cone = dls_cone_of(p, c);
        parts_natural_map(&cone, w, r, u, N);
    }
}

/* N_c = (r_c − proj_K(r_c − ρ_c (u_c + Σ μ_k|u_k| n)))/ρ_c */
static inline void tally_contact(const dls_problem *p, int c, int d, const double *r, const double *u,
                                 const double *b, tally *t) {
    double N[DLS_MAX_BLOCK], w = p->scale[c], r2 = small_dot(d, r, r);
    natural_map(p, c, d, w, r, u, N);
    judged x = judge_one(p, c, small_dot(d, N, N), small_dot(d, b, b), w * w * r2);
    t->contacts += x.counted2;
    t->contact_scale += x.scale2;
    add_held(p, &x, t);
    t->worst = larger(x.error2, t->worst);
    t->map += x.error2;
    t->all += x.b2;
    if (r2 == 0) return;
    t->active += x.b2;
    t->active_blocks++;
}

/* W_ii (r_i − clamp(r_i − u_i/W_ii, low, high)): u_i between the bounds. */
static inline double row_error(const dls_problem *p, int row, double W_ii, double r, double u) {
    if (!p->low) return u;
    double z = r - u / W_ii;
    return z < p->low[row] ? W_ii * (r - p->low[row]) : z > p->high[row] ? W_ii * (r - p->high[row]) : u;
}

/* What is given of a row: b, or what an impulse that is told, as a motor's, does. */
static inline double row_given(const dls_problem *p, int row, double W_ii, double b) {
    bool told = p->low && p->low[row] == p->high[row];
    return told ? fmax(fabs(b), W_ii * fabs(p->low[row])) : b;
}

/* N_i = w_i row_error with w_i² = w̄/W_ii: rows in rad/s and in m/s weigh alike, and a light body counts
 * beside a heavy one. */
static void tally_rows(const dls_problem *p, int c, const double *r, const double *u, const double *b,
                       tally *t) {
    int d = dls_size(p, c);
    const double *W = dls_diagonal(p, c);
    double error2 = 0, b2 = 0;
    for (int i = 0; i < d; i++) {
        assert(W[i + d * i] > 0 && p->inverse_mass[c] > 0);
        double W_ii = W[i + d * i], w2 = p->inverse_mass[c] / W_ii, load = W_ii * r[i];
        double N = row_error(p, p->row[c] + i, W_ii, r[i], u[i]);
        double given = row_given(p, p->row[c] + i, W_ii, b[i]);
        judged x = judge_one(p, c, w2 * N * N, w2 * given * given, w2 * load * load);
        t->rows += x.counted2;
        t->row_scale += x.scale2;
        add_held(p, &x, t);
        error2 += x.error2;
        b2 += x.b2;
    }
    t->worst = larger(error2, t->worst);
    t->map += error2;
    t->all += b2;
    t->active += b2;
    t->active_blocks++;
}

static inline void tally_block(const dls_problem *p, int c, int d, const double *r, const double *u,
                               tally *t) {
    int row = p->row[c];
    if (p->kind[c] == DLS_CONTACT)
        tally_contact(p, c, d, r + row, u + row, p->b + row, t);
    else
        tally_rows(p, c, r + row, u + row, p->b + row, t);
}

typedef struct tally_work {
    const dls_problem *p;
    const double *r, *u;
    tally *part;
} tally_work;

static void tally_part(void *self, int part, int first, int end) {
    const tally_work *work = self;
    const dls_problem *p = work->p;
    const double *r = work->r, *u = work->u;
    tally t = {0};
    if (p->uniform == 3)
        for (int c = first; c < end; c++) tally_block(p, c, 3, r, u, &t);
    else if (p->uniform == 2)
        for (int c = first; c < end; c++) tally_block(p, c, 2, r, u, &t);
    else
        for (int c = first; c < end; c++) tally_block(p, c, dls_size(p, c), r, u, &t);
    work->part[part] = t;
}

static void add_tally(tally *sum, const tally *part) {
    sum->contacts += part->contacts;
    sum->contact_scale += part->contact_scale;
    sum->rows += part->rows;
    sum->row_scale += part->row_scale;
    sum->worst = larger(part->worst, sum->worst);
    sum->held = larger(part->held, sum->held);
    sum->map += part->map;
    sum->active += part->active;
    sum->all += part->all;
    sum->active_blocks += part->active_blocks;
}

/* A rank tallies parts that follow each other, and hears the rest: the sum over parts is the same for all. */
static void tally_shared(tally_work *work, int parts, int threads) {
    const dls_problem *p = work->p;
    const dls_ranks *ranks = p->ranks;
    int64_t start[DLS_MOST_RANKS + 1];
    for (int k = 0; k <= ranks->count; k++)
        start[k] = (int64_t)sizeof(tally) * dls_first_of_rank(ranks, parts, k);
    dls_parallel_some_parts(p->block_count, dls_first_of_rank(ranks, parts, ranks->index),
                            dls_first_of_rank(ranks, parts, ranks->index + 1), threads, tally_part, work);
    ranks->gather(ranks->self, work->part, start);
}

static tally tally_all(const dls_problem *p, const double *r, const double *u, int threads) {
    tally part[DLS_MOST_PARTS], sum = {0};
    tally_work work = {p, r, u, part};
    int parts = dls_part_count(p->block_count);
    if (dls_is_shared(p))
        tally_shared(&work, parts, threads);
    else
        dls_parallel_some_parts(p->block_count, 0, parts, threads, tally_part, &work);
    for (int k = 0; k < parts; k++) add_tally(&sum, &part[k]);
    return sum;
}

static double ratio(double value, double scale) { return value == 0 ? 0 : value / scale; }

/* ‖N‖/‖s‖ of squares. What overflows is no number; INFINITY says that nothing is held that should be. */
static double relative(double map, double scale) {
    return isfinite(map) ? ratio(sqrt(map), sqrt(scale)) : (double)NAN;
}

/* ‖N‖ over b of blocks with r ≠ 0, at least v_ref each; over all of b where there is none. */
static double relative_to_active(const dls_problem *p, const tally *t) {
    double floor = p->reference_velocity * sqrt((double)t->active_blocks);
    double scale = fmax(sqrt(t->active), floor);
    return ratio(sqrt(t->map), scale > 0 ? scale : sqrt(t->all));
}

dls_verdict dls_judge(const dls_problem *p, const double *r, const double *u, int threads) {
    tally t = tally_all(p, r, u, threads);
    return (dls_verdict){.residual =
                             larger(relative(t.contacts, t.contact_scale), relative(t.rows, t.row_scale)),
                         .max_error = sqrt(t.worst),
                         .held = p->reference_velocity > 0 ? sqrt(t.held) : (double)NAN,
                         .scale = sqrt(t.contact_scale + t.row_scale),
                         .residual_active = relative_to_active(p, &t),
                         .residual_full = ratio(sqrt(t.map), sqrt(t.all))};
}

double dls_block_error(const dls_problem *p, int c, const double *r, const double *u) {
    tally t = {0};
    tally_block(p, c, dls_size(p, c), r, u, &t);
    return sqrt(t.map);
}

static bool is_open(const dls_problem *p, int c, int d, const double *r, const double *u) {
    dls_cone cone = dls_cone_of(p, c);
    if (p->parts) return parts_is_open(&cone, p->scale[c], r, u);
    return cone_is_open(d, p->mu[c], p->scale[c], r, u);
}

int dls_drop_open(const dls_problem *p, const double *r, const double *u, double *clean) {
    int dropped = 0;
    if (clean) memcpy(clean, r, sizeof(double) * (size_t)p->row_count);
    for (int c = 0; c < p->block_count; c++) {
        int row = p->row[c], d = dls_size(p, c);
        if (p->kind[c] != DLS_CONTACT || small_dot(d, r + row, r + row) == 0) continue;
        if (!is_open(p, c, d, r + row, u + row)) continue;
        if (clean) memset(clean + row, 0, sizeof(double) * (size_t)d);
        dropped++;
    }
    return dropped;
}

/* What the papers' measures add up, over contacts and intervals alike. */
typedef struct sums {
    double map1, b2, r2, u2; /* squares: the map with ρ = 1, and the vectors */
    double motion, cone, law, penetration;
    double energy, energy_b, gradient;
} sums;

/* ⟨W_cc⁻¹ x, x⟩; a singular block is replaced by its mean diagonal. */
static double inverse_energy(const dls_problem *p, int c, const double *x) {
    int d = dls_size(p, c);
    double A[DLS_MAX_BLOCK * DLS_MAX_BLOCK], y[DLS_MAX_BLOCK], room[DLS_MAX_BLOCK * DLS_MAX_BLOCK];
    memcpy(A, dls_diagonal_in(p, c, room), sizeof(double) * (size_t)(d * d));
    memcpy(y, x, sizeof(double) * (size_t)d);
    if (!small_solve(d, A, y)) return small_dot(d, x, x) / p->scale[c];
    return small_dot(d, x, y);
}

/* The natural map of each row of interval c, without weights. */
static void interval_map(const dls_problem *p, int c, const double *r, const double *u, double *N) {
    const double *W = dls_diagonal(p, c);
    for (int i = 0, d = dls_size(p, c); i < d; i++)
        N[i] = row_error(p, p->row[c] + i, W[i + d * i], r[i], u[i]);
}

/* Paper 000: C_c/ρ with its ρ = 1/avg W_ii, which keeps g free of units. */
static void add_energy(const dls_problem *p, int c, const double *r, const double *u, sums *s) {
    int d = dls_size(p, c);
    double C[DLS_MAX_BLOCK];
    if (p->kind[c] == DLS_INTERVAL)
        interval_map(p, c, r, u, C);
    else
        natural_map(p, c, d, p->mean_scale, r, u, C);
    s->energy += fabs(inverse_energy(p, c, C));
    s->energy_b += fabs(inverse_energy(p, c, p->b + p->row[c]));
}

/* Paper 001 (39) with g_d = 1/λmax(W_cc): a velocity, squared and summed. */
static void add_gradient(const dls_problem *p, int c, const double *r, const double *u, sums *s) {
    int d = dls_size(p, c);
    double N[DLS_MAX_BLOCK], room[DLS_MAX_BLOCK * DLS_MAX_BLOCK];
    double largest = small_max_eigenvalue(d, dls_diagonal_in(p, c, room), d);
    natural_map(p, c, d, largest, r, u, N);
    s->gradient += small_dot(d, N, N);
}

/* One block as its user has it: published measures are in those units. */
typedef struct given_block {
    int d;
    dls_cone cone;
    double r[DLS_MAX_BLOCK], u[DLS_MAX_BLOCK], b[DLS_MAX_BLOCK], Wr_b[DLS_MAX_BLOCK];
} given_block;

static void leave_units(const dls_problem *p, int c, const double *r, const double *u, const double *Wr_b,
                        given_block *x) {
    *x = (given_block){.d = dls_size(p, c)};
    if (p->kind[c] == DLS_CONTACT) x->cone = dls_cone_of(p, c);
    for (int i = 0; i < x->d; i++) {
        int row = p->row[c] + i;
        double unit = p->unit ? p->unit[row] : 1;
        x->r[i] = r[row] * unit;
        x->u[i] = u[row] / unit;
        x->b[i] = p->unit ? p->given_b[row] : p->b[row];
        x->Wr_b[i] = Wr_b[row] / unit;
    }
    for (int k = 0, at = p->row[c] + 1; p->unit && k < x->cone.count; at += x->cone.size[k++])
        x->cone.mu[k] *= p->unit[at];
}

static void add_contact(const given_block *x, dls_measures *m, sums *s) {
    int d = x->d;
    const double *r = x->r, *u = x->u;
    const dls_cone *cone = &x->cone;
    double N[DLS_MAX_BLOCK] = {0}, z[DLS_MAX_BLOCK], work = small_dot(d, r, u) + parts_lift(cone, u) * r[0];
    parts_natural_map(cone, 1, r, u, N);
    s->map1 += small_dot(d, N, N);
    memcpy(z, r, sizeof z);
    parts_project(cone, z);
    for (int i = 0; i < d; i++) z[i] -= r[i];
    s->cone += small_norm(d, z);
    s->law += fabs(work);
    s->penetration += larger(0, -u[0]);
    m->complementarity = larger(m->complementarity, fabs(work));
    m->penetration = larger(m->penetration, -u[0]);
    m->cone_violation = larger(m->cone_violation, -r[0]);
    for (int k = 0, at = 1; k < cone->count; at += cone->size[k++])
        m->cone_violation = larger(m->cone_violation, small_norm(cone->size[k], r + at) - cone->mu[k] * r[0]);
    m->friction_power = larger(m->friction_power, small_dot(d - 1, r + 1, u + 1));
}

/* r − clamp(r − u, low, high) */
static void add_interval(const dls_problem *p, int c, const given_block *x, sums *s) {
    for (int i = 0; i < x->d; i++) {
        double z = x->r[i] - x->u[i], low = dls_problem_low(p, p->row[c] + i);
        double high = dls_problem_high(p, p->row[c] + i);
        double N = z < low ? x->r[i] - low : z > high ? x->r[i] - high : x->u[i];
        s->map1 += N * N;
    }
}

static void add_block(const dls_problem *p, int c, const double *r, const double *u, const double *Wr_b,
                      dls_measures *m, sums *s) {
    int row = p->row[c];
    double motion[DLS_MAX_BLOCK], N[DLS_MAX_BLOCK];
    given_block x;
    leave_units(p, c, r, u, Wr_b, &x);
    for (int i = 0; i < x.d; i++) motion[i] = x.u[i] - x.Wr_b[i];
    s->motion += small_norm(x.d, motion);
    s->b2 += small_dot(x.d, x.b, x.b);
    s->r2 += small_dot(x.d, x.r, x.r);
    s->u2 += small_dot(x.d, x.u, x.u);
    add_energy(p, c, r + row, u + row, s);
    if (p->kind[c] == DLS_CONTACT) {
        add_contact(&x, m, s);
        add_gradient(p, c, r + row, u + row, s);
    } else {
        add_interval(p, c, &x, s);
        interval_map(p, c, r + row, u + row, N);
        s->gradient += small_dot(x.d, N, N);
    }
}

void dls_measure_all(const dls_problem *p, const double *r, const double *u, const double *Wr_b, int threads,
                     dls_measures *m) {
    dls_verdict v = dls_judge(p, r, u, threads);
    sums s = {0};
    *m = (dls_measures){.residual = v.residual,
                        .max_error = v.max_error,
                        .held = v.held,
                        .residual_active = v.residual_active,
                        .residual_full = v.residual_full};
    m->friction_power = p->contact_count ? -INFINITY : 0;
    for (int c = 0; c < p->block_count; c++) add_block(p, c, r, u, Wr_b, m, &s);
    double map1 = sqrt(s.map1), b = sqrt(s.b2), n = p->block_count ? p->block_count : 1;
    m->natural_map = ratio(map1, b);
    m->fclib_merit = map1 / (1 + sqrt(b));
    m->siconos_error = ratio(map1, fmax(b, fmax(sqrt(s.r2), sqrt(s.u2))));
    m->eps_motion = s.motion / n;
    m->eps_cone = s.cone / n;
    m->eps_law = s.law / n;
    m->eps_penetration = s.penetration / n;
    m->eps_glob = m->eps_motion + m->eps_cone + m->eps_law + m->eps_penetration;
    m->merit_g = ratio(s.energy, s.energy_b);
    m->apgd_residual = sqrt(s.gradient);
}

static dls_status measure_in(const dls_problem *p, const double *r, const double *u, dls_workspace *w,
                             dls_measures *measures, dls_error *error) {
    double *Wr_b = DLS_TAKE(w, double, p->row_count), *state = DLS_TAKE(w, double, p->op->state_size(p));
    double *inside = DLS_TAKE(w, double, p->row_count), *velocity = DLS_TAKE(w, double, p->row_count);
    if (!Wr_b || !state || !inside || !velocity) return dls_fail_memory(error);
    for (int i = 0; i < p->row_count; i++) {
        inside[i] = p->unit ? r[i] / p->unit[i] : r[i];
        velocity[i] = !u ? 0 : p->unit ? u[i] * p->unit[i] : u[i];
    }
    dls_velocity(p, inside, Wr_b, state, 1);
    dls_measure_all(p, inside, u ? velocity : Wr_b, Wr_b, 1, measures);
    return DLS_OK;
}

dls_status dls_problem_measure(const dls_problem *p, const double *r, const double *u, dls_measures *measures,
                               dls_error *error) {
    dls_error_clear(error);
    if (!p || !measures || (p->row_count && !r))
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "problem, r and a place for the measures are needed, got NULL");
    dls_workspace *w = dls_workspace_create();
    dls_status status = w ? measure_in(p, r, u, w, measures, error) : dls_fail_memory(error);
    dls_workspace_destroy(w);
    return status;
}
