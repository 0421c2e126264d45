/* Paper 001, section 3.1: a sphere slides on a plane until it rolls, by the relaxed and by the anti-relaxed
 * method.
 *
 *     M (v⁺ − v) = h f + D γ,   q⁺ = q + h v⁺,   contact problem u = N γ + r with N = Dᵀ M⁻¹ D,
 *     r = (Φ/h, 0) + Dᵀ M⁻¹ (M v + h f),   Φ = q_y − 1                                        (6)–(13),
 * (41)–(45) */
#include "experiments/melanz/sphere.h"

#include "cli/support/csv.h"
#include "cli/support/report.h"

#include <delassus/delassus.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DOF = 3, ROWS = 2, NORMAL = 0, TANGENT = 1 };

static const double mass[DOF] = {1, 1, 0.4};                                    /* (41), the diagonal */
static const double force[DOF] = {0, -sphere_g, 0};                             /* (43) */
static const double start_q[DOF] = {0, 1, 0}, start_v[DOF] = {sphere_v0, 0, 0}; /* (44), (45) */

/* ---- the scheme ---------------------------------------------------------------------------------------- */

static double gap(const sphere_step *s) { return s->q[1] - 1; }

/* (42), columns for normal and tangent. The paper's point of contact is on the sphere, at all heights; the
 * simulator's is in the middle of the gap, which is the same where there is none. */
typedef struct generators {
    double D[ROWS][DOF];
} generators;

static generators generate(const sphere_step *s, sphere_point point) {
    const double lever = point == SPHERE_SURFACE ? 1 : 1 + 0.5 * gap(s);
    return (generators){{{0, 1, 0}, {1, 0, lever}}};
}

static sphere_contact assemble(const sphere_step *s, const generators *g) {
    sphere_contact c = {.r = {gap(s) / sphere_h, 0}};
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < DOF; k++) {
            c.r[i] += g->D[i][k] * (s->v[k] + sphere_h * force[k] / mass[k]);
            for (int j = 0; j < ROWS; j++) c.N[i + ROWS * j] += g->D[i][k] * g->D[j][k] / mass[k];
        }
    return c;
}

static dls_status create_problem(const sphere_contact *c, dls_problem **problem, dls_error *error) {
    static const int64_t start[] = {0, ROWS, 2 * ROWS};
    static const int column[] = {0, 1, 0, 1};
    const double by_rows[] = {c->N[0], c->N[2], c->N[1], c->N[3]};
    dls_csr W = {ROWS, ROWS, start, column, by_rows};
    dls_problem_def def = dls_default_problem_def();
    def.block_count = 1;
    def.dimension = ROWS;
    def.mu = &sphere_mu;
    def.b = c->r;
    return dls_problem_create(&def, &W, problem, error);
}

/* Cold start, down to rounding; the solver keeps its best iterate. */
static bool solve(const sphere_contact *c, bool relaxed, sphere_step *next) {
    dls_apgd_options options = dls_default_apgd_options();
    options.relaxed = relaxed;
    options.stop.tolerance = 1e-16;
    options.stop.max_iterations = 500;
    dls_problem *problem = NULL;
    dls_solve_info info;
    dls_error error;
    dls_status status = create_problem(c, &problem, &error);
    if (!status)
        status =
            dls_solve(problem, dls_solver_find("apgd"), &options, next->gamma, next->u, NULL, &info, &error);
    dls_problem_destroy(problem);
    if (status) report_error("%s", error.message);
    next->residual = info.stop_value;
    next->iterations = info.iterations;
    return !status;
}

static bool advance(const sphere_step *from, bool relaxed, sphere_point point, sphere_step *to) {
    const generators g = generate(from, point);
    sphere_contact c = assemble(from, &g);
    *to = (sphere_step){.iterations = 0};
    if (!solve(&c, relaxed, to)) return false;
    for (int k = 0; k < DOF; k++) {
        double impulse = g.D[NORMAL][k] * to->gamma[NORMAL] + g.D[TANGENT][k] * to->gamma[TANGENT];
        to->v[k] = from->v[k] + (sphere_h * force[k] + impulse) / mass[k];
        to->q[k] = from->q[k] + sphere_h * to->v[k];
    }
    return true;
}

bool sphere_write_out(sphere_history *history, bool relaxed, sphere_point point) {
    sphere_step *s = history->step;
    memcpy(s[0].q, start_q, sizeof start_q);
    memcpy(s[0].v, start_v, sizeof start_v);
    const generators g = generate(&s[0], point);
    history->first = assemble(&s[0], &g);
    for (int l = 0; l < SPHERE_STEPS; l++)
        if (!advance(&s[l], relaxed, point, &s[l + 1])) return false;
    return true;
}

void sphere_closed_form(double time, double v[3]) {
    double transition = 2 * sphere_v0 / (7 * sphere_mu * sphere_g), sliding = fmin(time, transition);
    v[0] = sphere_v0 - sphere_mu * sphere_g * sliding;
    v[1] = 0;
    v[2] = -sphere_mu * sphere_g * sliding / mass[2];
}

double sphere_objective(const sphere_contact *c, double lift, const double *gamma) {
    double value = (c->r[0] + lift) * gamma[0] + c->r[1] * gamma[1];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) value += 0.5 * gamma[i] * c->N[i + ROWS * j] * gamma[j];
    return value;
}

/* ---- what the histories say ---------------------------------------------------------------------------- */

static double distance(const double *a, const double *b) { return hypot(a[0] - b[0], a[1] - b[1]); }

/* Largest |v − closed form| over the run. */
static double deviation(const sphere_history *h) {
    double worst = 0, v[3];
    for (int l = 1; l <= SPHERE_STEPS; l++) {
        sphere_closed_form(l * sphere_h, v);
        for (int k = 0; k < DOF; k++) worst = fmax(worst, fabs(h->step[l].v[k] - v[k]));
    }
    return worst;
}

/* (8): the product of impulse and normal velocity with the gap. */
static double complementarity(const sphere_history *h) {
    double worst = 0;
    for (int l = 1; l <= SPHERE_STEPS; l++) worst = fmax(worst, fabs(h->step[l].gamma[0] * h->step[l].u[0]));
    return worst;
}

static double worst_residual(const sphere_history *h) {
    double worst = 0;
    for (int l = 1; l <= SPHERE_STEPS; l++) worst = fmax(worst, h->step[l].residual);
    return worst;
}

int sphere_highest_step(const sphere_history *h) {
    int best = 0;
    for (int l = 1; l <= SPHERE_STEPS; l++)
        if (gap(&h->step[l]) > gap(&h->step[best])) best = l;
    return best;
}

/* First step from `from` on whose impulse is zero, or is not. */
static int find_impulse(const sphere_history *h, int from, bool zero) {
    int l = from;
    while (l <= SPHERE_STEPS && (h->step[l].gamma[0] == 0) != zero) l++;
    return l;
}

int sphere_rolling_step(const sphere_history *h) {
    int l = 1;
    while (l <= SPHERE_STEPS && fabs(h->step[l].u[TANGENT]) > 1e-9) l++;
    return l;
}

static double friction_spent(const sphere_history *h) {
    double sum = 0;
    for (int l = 1; l <= SPHERE_STEPS; l++) sum += h->step[l].gamma[TANGENT];
    return sum;
}

/* The least objective over a grid of the cone, relative to that at gamma. */
static double objective_margin(const sphere_contact *c, double lift, const double *gamma) {
    enum { GRID = 1000 };
    double least = HUGE_VAL;
    for (int i = 0; i <= GRID; i++)
        for (int j = -GRID; j <= GRID; j++) {
            double normal = (double)i / GRID, point[] = {normal, sphere_mu * normal * j / GRID};
            least = fmin(least, sphere_objective(c, lift, point));
        }
    return least - sphere_objective(c, lift, gamma);
}

/* ---- claims -------------------------------------------------------------------------------------------- */

static const double digits = 1e-12; /* numbers that are known to twelve decimals */

static void claim_problem(claim_list *c, const sphere_contact *p) {
    claim_equal(c, CLAIM_PRINTED, "1/kg", 1, p->N[0], 1e-15, "(46) N, normal");
    claim_equal(c, CLAIM_PRINTED, "1/kg", 0, p->N[1], 1e-15, "(46) N, normal–tangential");
    claim_equal(c, CLAIM_PRINTED, "1/kg", 3.5, p->N[3], 1e-15, "(46) N, tangential");
    claim_equal(c, CLAIM_PRINTED, "m/s", -0.0981, p->r[0], 1e-15, "(47) r, normal");
    claim_equal(c, CLAIM_PRINTED, "m/s", 2, p->r[1], 1e-15, "(47) r, tangential");
}

static void claim_anti_relaxed(claim_list *c, const sphere_history *h) {
    const sphere_step *first = &h->step[1], *last = &h->step[SPHERE_STEPS];
    int rolling = sphere_rolling_step(h);
    claim_equal(c, CLAIM_PRINTED, "N s", 0.0981, first->gamma[0], digits, "anti-relaxed, first step: γ_n");
    claim_equal(c, CLAIM_PRINTED, "N s", -0.01962, first->gamma[1], digits, "anti-relaxed, first step: γ_t");
    claim_equal(c, CLAIM_PRINTED, "m/s", 0, deviation(h), digits,
                "Fig. 2: anti-relaxed velocities against the closed form");
    claim_equal(c, CLAIM_PRINTED, "J", 0, complementarity(h), digits,
                "anti-relaxed complementarity (8), all steps");
    double transition = -friction_spent(h) / (sphere_mu * sphere_g);
    claim_equal(c, CLAIM_PRINTED, "s", 0.291, transition, 5e-4, "transition time, friction spent over μ m g");
    claim_equal(c, CLAIM_DERIVED, "s", 0.291247997670, transition, digits, "the same, 2 v₀/(7 μ g)");
    claim_equal(c, CLAIM_PRINTED, "m/s", 1.429, last->v[0], 5e-4, "rolling velocity");
    claim_equal(c, CLAIM_DERIVED, "m/s", 10.0 / 7, last->v[0], digits, "the same, 5 v₀/7");
    claim_equal(c, CLAIM_DERIVED, "rad/s", -10.0 / 7, last->v[2], digits, "rolling ω");
    claim_equal(c, CLAIM_DERIVED, "1", 30, rolling, 0, "first step that ends rolling");
    claim_equal(c, CLAIM_DERIVED, "N s", -0.0024485714,
                rolling <= SPHERE_STEPS ? h->step[rolling].gamma[1] : nan(""), 1e-10, "γ_t in that step");
}

static void claim_relaxed(claim_list *c, const sphere_history *h) {
    const sphere_step *first = &h->step[1];
    int highest = sphere_highest_step(h), free_from = find_impulse(h, 1, true);
    claim_equal(c, CLAIM_DERIVED, "N s", 0.436929824561, first->gamma[0], digits, "relaxed, first step: γ_n");
    claim_equal(c, CLAIM_DERIVED, "N s", -0.087385964912, first->gamma[1], digits,
                "relaxed, first step: γ_t");
    claim_equal(c, CLAIM_DERIVED, "m/s", 0.338829824561, first->v[1], digits, "relaxed: launched with v_y");
    claim_equal(c, CLAIM_DERIVED, "m/s", sphere_mu * first->u[1], first->v[1], digits,
                "relaxed: v_y is μ u_t");
    claim_equal(c, CLAIM_DERIVED, "m/s", 1.694149122807, first->u[1], digits, "relaxed, first step: u_t");
    claim_equal(c, CLAIM_DERIVED, "m/s", 1.912614035088, first->v[0], digits, "relaxed, first step: v_x");
    claim_equal(c, CLAIM_DERIVED, "rad/s", -0.218464912281, first->v[2], digits, "relaxed, first step: ω");
    claim_equal(c, CLAIM_DERIVED, "J", 0.148044856, first->gamma[0] * first->u[0], 1e-9,
                "relaxed, first step: γ_n u_n");
    claim_equal(c, CLAIM_DERIVED, "m", 0.0076671930, gap(&h->step[highest]), 1e-10, "relaxed: largest gap");
    claim_equal(c, CLAIM_DERIVED, "1", 4, highest, 0, "relaxed: step of the largest gap");
    claim_equal(c, CLAIM_DERIVED, "1", 2, free_from, 0, "relaxed: first step without impulse");
    claim_equal(c, CLAIM_DERIVED, "1", 6, find_impulse(h, free_from, false) - 1, 0,
                "relaxed: last of these steps");
}

/* The solution of (10) on the cone's boundary: Φ/h + u_n = μ u_t, γ_t = −μ γ_n. */
static void relaxed_law(const sphere_contact *p, double gamma[2]) {
    gamma[0] = (sphere_mu * p->r[1] - p->r[0]) / (p->N[0] + sphere_mu * sphere_mu * p->N[3]);
    gamma[1] = -sphere_mu * gamma[0];
}

static void claim_pictures(claim_list *c, const sphere_results *results) {
    const sphere_contact *p = &results->relaxed.first;
    const double *relaxed = results->relaxed.step[1].gamma, *anti = results->anti_relaxed.step[1].gamma;
    const double analytical[] = {0.0981, -0.01962}, lift = sphere_mu * results->anti_relaxed.step[1].u[1];
    double by_law[2];
    dls_exact_solution all[DLS_EXACT_MAX_SOLUTIONS];
    int chosen = 0, found = dls_exact_enumerate(ROWS, p->N, sphere_mu, p->r, all, &chosen, NULL);
    relaxed_law(p, by_law);
    claim_equal(c, CLAIM_DERIVED, "1", 1, found, 0, "Fig. 3: the DVI has one solution");
    claim_equal(c, CLAIM_PRINTED, "N s", 0, found ? distance(all[chosen].r, analytical) : nan(""), digits,
                "Fig. 3: it is the analytical one, distance");
    claim_bound(c, CLAIM_PRINTED, "1", CLAIM_AT_LEAST, 1,
                hypot(by_law[0], by_law[1]) / hypot(anti[0], anti[1]),
                "Fig. 4: (10) makes the impulse larger, times");
    claim_equal(c, CLAIM_PRINTED, "N s", 0, distance(relaxed, by_law), digits,
                "Fig. 5: the optimum of (14) is that of Fig. 4, distance");
    claim_bound(c, CLAIM_PRINTED, "J", CLAIM_AT_LEAST, 0, objective_margin(p, 0, relaxed),
                "Fig. 5: no point of the cone lies lower, margin");
    claim_equal(c, CLAIM_PRINTED, "N s", 0, distance(anti, analytical), digits,
                "Fig. 6: the optimum of (15) is analytical, distance");
    claim_bound(c, CLAIM_PRINTED, "J", CLAIM_AT_LEAST, 0, objective_margin(p, lift, anti),
                "Fig. 6: no point of the cone lies lower, margin");
}

/* ---- the table ----------------------------------------------------------------------------------------- */

static void write_history(FILE *file, const sphere_history *h, const char *method) {
    for (int l = 1; l <= SPHERE_STEPS; l++) {
        const sphere_step *s = &h->step[l];
        fprintf(file, "%s,%d", method, l);
        csv_real(file, l * sphere_h);
        for (int k = 0; k < DOF; k++) csv_real(file, s->q[k]);
        for (int k = 0; k < DOF; k++) csv_real(file, s->v[k]);
        for (int i = 0; i < ROWS; i++) csv_real(file, s->gamma[i]);
        for (int i = 0; i < ROWS; i++) csv_real(file, s->u[i]);
        csv_real(file, gap(s));
        csv_real(file, s->residual);
        fprintf(file, ",%d\n", s->iterations);
    }
}

static bool write_table(experiment_run *run, const sphere_results *results) {
    output_file out;
    if (!run_table_open(run, "history", &out)) return false;
    fputs("method,step,time_s,x_m,y_m,angle_rad,v_x_m_s,v_y_m_s,omega_rad_s,gamma_n_Ns,gamma_t_Ns,u_n_m_s,u_"
          "t_m_s,"
          "gap_m,residual,iterations\n",
          out.stream);
    write_history(out.stream, &results->relaxed, "relaxed");
    write_history(out.stream, &results->anti_relaxed, "anti-relaxed");
    return output_file_commit(&out);
}

/* ---- the experiment ------------------------------------------------------------------------------------ */

static bool run_sphere(experiment_run *run) {
    sphere_results *results = report_allocate(1, sizeof *results);
    bool good = sphere_write_out(&results->relaxed, true, SPHERE_SURFACE) &&
                sphere_write_out(&results->anti_relaxed, false, SPHERE_SURFACE);
    if (good) {
        claim_problem(&run->claims, &results->relaxed.first);
        claim_anti_relaxed(&run->claims, &results->anti_relaxed);
        claim_relaxed(&run->claims, &results->relaxed);
        claim_pictures(&run->claims, results);
        good = sphere_simulate(run);
    }
    if (good) {
        double worst = fmax(worst_residual(&results->relaxed), worst_residual(&results->anti_relaxed));
        claim_equal(&run->claims, CLAIM_DERIVED, "1", 0, worst, 1e-14,
                    "residual of every step, of the problem that either method solves");
    }
    if (good && *run->folder) good = write_table(run, results) && sphere_draw(run, results);
    free(results);
    return good;
}

const experiment experiment_sphere_on_plane = {
    .name = "001-3.1",
    .title = "a sphere slides on a plane until it rolls, relaxed and anti-relaxed",
    .has_full = true,
    .run = run_sphere,
};
