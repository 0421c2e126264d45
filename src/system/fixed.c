/* The step by fixed points: z = p(F(z), z), where y = F(z) solves the smooth rows with the contacts' forces
 * held. */
#include "system/alpha.h"

#include "solve/semismooth.h"

#include <math.h>
#include <string.h>

/* λ_N, κ̂ and P_N are −prox(r · kinematics − force); κ_N and Λ_N follow with the new λ_N. */
static void project_normal(const dls_alpha *alpha, const double *x, double *next) {
    const dls_alpha_stage *stage = &alpha->stage;
    const dls_layout *at = &alpha->at;
    const int f = DLS_ROWS_N;
    for (int k = 0; k < at->count[f]; k++) {
        double r = alpha->r_n[k], force = 0, percussion = 0;
        double kappa = fmax(0, stage->kappa_hat[k] - r * stage->terms.rows[f].value[k]);
        if (alpha->sets.A[k]) percussion = fmax(0, stage->percussion[f][k] - r * stage->xi[f][k]);
        if (alpha->sets.B[k]) force = fmax(0, x[at->force[f] + k] - r * stage->acceleration[f][k]);
        next[at->force[f] + k] = force;
        next[at->impact[f] + k] = percussion - stage->c_u * force - stage->percussion_base[f][k];
        next[at->kappa[f] + k] = kappa - stage->c_q * force - stage->kappa_base[k];
    }
}

/* −proj(r y − z) onto the reservoir of N. */
static void project_law(const dls_alpha *alpha, int l, const double *y, const double *z, double N,
                        double *out) {
    double argument[DLS_LAW_SIZE] = {0}, p[DLS_LAW_SIZE];
    int d = alpha->laws[l].size;
    for (int i = 0; i < d; i++) argument[i] = alpha->r_t[l] * y[i] - z[i];
    dls_friction_project(&alpha->laws[l], argument, N, p, alpha->system.user);
    for (int i = 0; i < d; i++) out[i] = -p[i];
}

/* −N s(y) */
static void slide_law(const dls_alpha *alpha, int l, const double *y, double N, double *out) {
    double zero[DLS_LAW_SIZE] = {0};
    dls_law_value value =
        dls_friction_value(&alpha->laws[l], DLS_MODE_SLIP, 1, y, zero, N, alpha->system.user);
    for (int i = 0; i < alpha->laws[l].size; i++) out[i] = -value.f[i];
}

static void project_friction(const dls_alpha *alpha, const double *x, double *next, int l) {
    const dls_alpha_stage *stage = &alpha->stage;
    const dls_layout *at = &alpha->at;
    int row = alpha->law_row[l], contact = alpha->laws[l].contact;
    bool closed = contact < 0 || alpha->sets.A[contact];
    double *force = next + at->force[DLS_ROWS_F] + row, *impact = next + at->impact[DLS_ROWS_F] + row;
    double N = dls_normal_force(alpha, l, next + at->force[DLS_ROWS_N], 1);
    double impact_N = contact < 0 ? 0 : next[at->impact[DLS_ROWS_N] + contact];
    double P = contact < 0 ? alpha->laws[l].limit * stage->dt
                           : impact_N + stage->c_u * N + stage->percussion_base[DLS_ROWS_N][contact];
    const double *xi = stage->xi[DLS_ROWS_F] + row;
    memset(force, 0, sizeof *force * (size_t)alpha->laws[l].size);
    memset(impact, 0, sizeof *impact * (size_t)alpha->laws[l].size);
    if (closed && alpha->sets.D[l])
        project_law(alpha, l, stage->acceleration[DLS_ROWS_F] + row, x + at->force[DLS_ROWS_F] + row, N,
                    force);
    else if (closed)
        slide_law(alpha, l, stage->terms.rows[DLS_ROWS_F].rate + row, N, force);
    if (closed && !alpha->sets.D[l] && stage->split[l]) {
        slide_law(alpha, l, xi, impact_N, impact);
        return;
    }
    if (closed) project_law(alpha, l, xi, stage->percussion[DLS_ROWS_F] + row, P, impact);
    for (int i = 0; i < alpha->laws[l].size; i++)
        impact[i] -= stage->c_u * force[i] + stage->percussion_base[DLS_ROWS_F][row + i];
}

/* ‖z − p(y, z)‖∞; next has p behind the smooth unknowns. */
static double project_all(const dls_alpha *alpha, const double *x, double *next) {
    double largest = 0;
    project_normal(alpha, x, next);
    for (int l = 0; l < alpha->system.law_count; l++) project_friction(alpha, x, next, l);
    for (int i = alpha->at.smooth; i < alpha->at.total; i++)
        if (!(alpha->weight[i] * fabs(next[i] - x[i]) <= largest))
            largest = alpha->weight[i] * fabs(next[i] - x[i]);
    return largest;
}

/* A share of each change, halved where changes do not become smaller (directions of slow slip overshoot), and
 * doubled again where they do. */
enum { PLAIN = 500 }; /* iterations that are always whole */

typedef struct relaxation {
    double share, before;
    int since;
} relaxation;

static void relax(relaxation *r, double change) {
    enum { WATCHED = 50 };
    if (++r->since < WATCHED) return;
    if (change > 0.98 * r->before && r->share > 1.0 / 64)
        r->share /= 2;
    else if (change < 0.9 * r->before && r->share < 1)
        r->share *= 2;
    r->since = 0, r->before = change;
}

bool dls_fixed_point(dls_alpha *alpha, double *x, int most, dls_alpha_report *report) {
    int updates, tried = 0;
    double *next = alpha->x_probe, change = INFINITY;
    relaxation r = {1, INFINITY, -PLAIN};
    alpha->has_factor = false;
    alpha->stage.frozen = true;
    while (true) {
        int end = dls_alpha_newton(alpha, x, alpha->options.tolerance, alpha->options.max_newton, &updates,
                                   &report->norm);
        report->newton_updates += updates;
        if (end != DLS_NEWTON_SOLVED) break;
        change = project_all(alpha, x, next);
        if (!isfinite(change) || change <= alpha->options.tolerance_fixed) break;
        if (tried++ == most) break;
        report->fixed_iterations++;
        relax(&r, change);
        for (int i = alpha->at.smooth; i < alpha->at.total; i++) x[i] += r.share * (next[i] - x[i]);
    }
    alpha->stage.frozen = false;
    if (isfinite(change)) report->norm = fmax(report->norm, change);
    return report->by_fixed_point = change <= alpha->options.tolerance_fixed;
}
