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

/* N_c = (r_c − proj_K(r_c − ρ_c (u_c + μ|u_t| n)))/ρ_c */
static inline void tally_contact(const dls_problem *p, int c, int d, const double *r, const double *u,
                                 const double *b, tally *t) {
    double N[DLS_MAX_BLOCK], w = p->scale[c], r2 = small_dot(d, r, r);
    cone_natural_map(d, p->mu[c], w, r, u, N);
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

/* N_i = w_i u_i with w_i² = w̄/W_ii: rows in rad/s and in m/s weigh alike, and a light body counts beside a
 * heavy one. */
static void tally_rows(const dls_problem *p, int c, const double *r, const double *u, const double *b,
                       tally *t) {
    int d = dls_size(p, c);
    const double *W = dls_diagonal(p, c);
    double error2 = 0, b2 = 0;
    for (int i = 0; i < d; i++) {
        assert(W[i + d * i] > 0 && p->inverse_mass[c] > 0);
        double W_ii = W[i + d * i], w2 = p->inverse_mass[c] / W_ii, load = W_ii * r[i];
        judged x = judge_one(p, c, w2 * u[i] * u[i], w2 * b[i] * b[i], w2 * load * load);
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

static tally tally_all(const dls_problem *p, const double *r, const double *u, int threads) {
    tally part[DLS_MOST_PARTS], sum = {0};
    int parts = dls_parallel_parts(p->block_count, threads, tally_part, &(tally_work){p, r, u, part});
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

/* Open: r − ρ (u + μ|u_t| n) lies in the polar cone, so that its projection is 0. */
static bool is_open(int d, double mu, double w, const double *r, const double *u) {
    double z[DLS_MAX_BLOCK];
    for (int i = 0; i < d; i++) z[i] = w * r[i] - u[i];
    return mu * small_norm(d - 1, z + 1) <= mu * small_norm(d - 1, u + 1) - z[0];
}

int dls_drop_open(const dls_problem *p, const double *r, const double *u, double *clean) {
    int dropped = 0;
    if (clean) memcpy(clean, r, sizeof(double) * (size_t)p->row_count);
    for (int c = 0; c < p->block_count; c++) {
        int row = p->row[c], d = dls_size(p, c);
        if (p->kind[c] != DLS_CONTACT || small_dot(d, r + row, r + row) == 0 ||
            !is_open(d, p->mu[c], p->scale[c], r + row, u + row))
            continue;
        if (clean) memset(clean + row, 0, sizeof(double) * (size_t)d);
        dropped++;
    }
    return dropped;
}

/* What the papers' measures add up, over contacts and bilateral blocks alike. */
typedef struct sums {
    double map1, b2, r2, u2; /* squares: the map with ρ = 1, and the vectors */
    double motion, cone, law, penetration;
    double energy, energy_b, gradient;
} sums;

/* ⟨W_cc⁻¹ x, x⟩; a singular block is replaced by its mean diagonal. */
static double inverse_energy(const dls_problem *p, int c, const double *x) {
    int d = dls_size(p, c);
    double A[SMALL_MAX * SMALL_MAX], y[SMALL_MAX];
    dls_problem_diagonal_block(p, c, A);
    memcpy(y, x, sizeof(double) * (size_t)d);
    if (!small_solve(d, A, y)) return small_dot(d, x, x) / p->scale[c];
    return small_dot(d, x, y);
}

/* Paper 000: C_c/ρ with its ρ = 1/avg W_ii, which keeps g free of units. */
static void add_energy(const dls_problem *p, int c, const double *r, const double *u, sums *s) {
    int d = dls_size(p, c);
    double C[DLS_MAX_BLOCK];
    if (p->kind[c] == DLS_BILATERAL)
        memcpy(C, u, sizeof(double) * (size_t)d);
    else
        cone_natural_map(d, p->mu[c], p->mean_scale, r, u, C);
    s->energy += fabs(inverse_energy(p, c, C));
    s->energy_b += fabs(inverse_energy(p, c, p->b + p->row[c]));
}

/* Paper 001 (39) with g_d = 1/λmax(W_cc): a velocity, squared and summed. */
static void add_gradient(const dls_problem *p, int c, const double *r, const double *u, sums *s) {
    int d = dls_size(p, c);
    double N[DLS_MAX_BLOCK], room[DLS_MAX_CONTACT_BLOCK * DLS_MAX_CONTACT_BLOCK];
    double largest = small_max_eigenvalue(d, dls_diagonal_in(p, c, room), d);
    cone_natural_map(d, p->mu[c], largest, r, u, N);
    s->gradient += small_dot(d, N, N);
}

static void add_contact(const dls_problem *p, int c, const double *r, const double *u, dls_measures *m,
                        sums *s) {
    int d = dls_size(p, c);
    double N[DLS_MAX_BLOCK], z[DLS_MAX_BLOCK], mu = p->mu[c];
    double slip = small_norm(d - 1, u + 1), friction = small_norm(d - 1, r + 1);
    double work = small_dot(d, r, u) + mu * slip * r[0];
    cone_natural_map(d, mu, 1, r, u, N);
    s->map1 += small_dot(d, N, N);
    memcpy(z, r, sizeof(double) * (size_t)d);
    cone_project(d, mu, z);
    for (int i = 0; i < d; i++) z[i] -= r[i];
    s->cone += small_norm(d, z);
    s->law += fabs(work);
    s->penetration += larger(0, -u[0]);
    m->complementarity = larger(m->complementarity, fabs(work));
    m->penetration = larger(m->penetration, -u[0]);
    m->cone_violation = larger(m->cone_violation, larger(friction - mu * r[0], -r[0]));
    m->friction_power = larger(m->friction_power, small_dot(d - 1, r + 1, u + 1));
    add_gradient(p, c, r, u, s);
}

static void add_block(const dls_problem *p, int c, const double *r, const double *u, const double *Wr_b,
                      dls_measures *m, sums *s) {
    int d = dls_size(p, c), row = p->row[c];
    double motion[DLS_MAX_BLOCK];
    for (int i = 0; i < d; i++) motion[i] = u[row + i] - Wr_b[row + i];
    s->motion += small_norm(d, motion);
    s->b2 += small_dot(d, p->b + row, p->b + row);
    s->r2 += small_dot(d, r + row, r + row);
    s->u2 += small_dot(d, u + row, u + row);
    add_energy(p, c, r + row, u + row, s);
    if (p->kind[c] == DLS_CONTACT) {
        add_contact(p, c, r + row, u + row, m, s);
    } else {
        s->map1 += small_dot(d, u + row, u + row);
        s->gradient += small_dot(d, u + row, u + row);
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

dls_status dls_problem_measure(const dls_problem *p, const double *r, const double *u, dls_measures *measures,
                               dls_error *error) {
    dls_error_clear(error);
    if (!p || !measures || (p->row_count && !r))
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "problem, r and a place for the measures are needed, got NULL");
    double *Wr_b = DLS_NEW(double, p->row_count), *state = DLS_NEW(double, p->op->state_size(p));
    dls_status status = Wr_b && state ? DLS_OK : dls_fail_memory(error);
    if (!status) {
        dls_velocity(p, r, Wr_b, state, 1);
        dls_measure_all(p, r, u ? u : Wr_b, Wr_b, 1, measures);
    }
    dls_free(Wr_b);
    dls_free(state);
    return status;
}
