/* Paper 004, 10.3 and 10.4: a ball in a cylinder and the rod of Painlevé. Figures 4 and 5. */
#include "cli/support/report.h"
#include "experiments/capobianco/capobianco.h"
#include "experiments/case.h"

#include <delassus/delassus.h>

#include <math.h>
#include <stdlib.h>

static double place_x(const alpha_row *r) { return r->q[0]; }
static double place_y(const alpha_row *r) { return r->q[1]; }
static double turning(const alpha_row *r) { return r->u[2]; }

/* ---- 10.3 ---- */

enum { MOREAU_X, MOREAU_Y, MOREAU_GAP, MOREAU_ENERGY, MOREAU_COLUMNS };

/* Where the simulator has the ball at the ends of steps; penetrations of the report are at their middles. */
static void measure_moreau(const dls_simulation *simulation, const dls_step_report *report, double *values,
                           void *user) {
    const dls_world *world = dls_simulation_world(simulation);
    dls_body_state s;
    (void)report, (void)user;
    if (dls_body_state_get(world, dls_world_find_body(world, "ball"), &s, NULL)) return;
    const double q[3] = {s.x[0], s.x[1], 0}, u[3] = {s.v[0], s.v[1], s.w[2]};
    values[MOREAU_X] = q[0], values[MOREAU_Y] = q[1];
    values[MOREAU_GAP] = 0.9 - hypot(q[0], 1 - q[1]);
    values[MOREAU_ENERGY] = ball_energy(q, u);
}

/* Closed contacts without stabilisation, dt = 1e-2, as a scene. */
static bool run_scene(experiment_run *run, case_history *h) {
    static const char *const columns[MOREAU_COLUMNS] = {"x", "y", "gap", "energy"};
    static const char *const settings[] = {"integrator.scheme=moreau-jean", "integrator.entering=closed",
                                           "integrator.kinematics=first-order", "integrator.stabilisation=0",
                                           "solver.tolerance=1e-10"};
    const case_def def = {.name = "moreau",
                          .scene = "004-10.3",
                          .setting_count = sizeof settings / sizeof *settings,
                          .settings = settings,
                          .column_count = MOREAU_COLUMNS,
                          .columns = columns,
                          .measure = measure_moreau};
    return case_run(run, &def, h);
}

/* Moreau's scheme with (150) and (151), the paper's other curve: q_m = q + dt/2 u, and where g_N(q_m) ≤ 0
 *
 *     M(u⁺ − u) = dt h + W_N P_N + W_F P_F,    0 ≤ γ_N⁺ ⟂ P_N ≥ 0,    γ_F⁺ ∈ N_{[−μP_N, μP_N]}(−P_F)
 *
 * W_N and W_F are at a right angle in M⁻¹, so that P_N follows first; q⁺ = q_m + dt/2 u⁺. */
static void moreau_step(const benchmark *b, double dt, double lever, double *q, double *u) {
    const dls_model *m = &b->model;
    double M[9] = {0}, h[3] = {0}, gap;
    for (int i = 0; i < 3; i++) q[i] += dt / 2 * u[i];
    m->mass(0, q, M, m->user), m->force(0, q, u, h, m->user);
    for (int i = 0; i < 3; i++) u[i] += dt * h[i] / M[4 * i];
    m->rows[DLS_ROWS_N].value(0, q, &gap, m->user);
    double rate, slip, arm = 0.1 + lever * gap;
    m->rows[DLS_ROWS_N].rate(0, q, u, &rate, m->user), m->rows[DLS_ROWS_F].rate(0, q, u, &slip, m->user);
    if (gap <= 0 && rate < 0) {
        double distance = 0.9 - gap, n[2] = {-q[0] / distance, (1 - q[1]) / distance}, P = -M[0] * rate;
        slip += (arm - 0.1) * u[2];
        double F = -slip / (1 / M[0] + arm * arm / M[8]), most = b->laws[0].mu * P;
        F = fmax(-most, fmin(most, F));
        u[0] += (n[0] * P + n[1] * F) / M[0], u[1] += (n[1] * P - n[0] * F) / M[0], u[2] += arm * F / M[8];
    }
    for (int i = 0; i < 3; i++) q[i] += dt / 2 * u[i];
}

typedef struct moreau_path {
    double *x, *y, least_gap, energy_2;
} moreau_path;

static moreau_path run_moreau(const benchmark *b, double lever) {
    double q[3] = {b->q[0], b->q[1], b->q[2]}, u[3] = {b->u[0], b->u[1], b->u[2]}, dt = b->options.dt;
    int steps = (int)lround(b->end / dt);
    moreau_path p = {.x = report_allocate((size_t)steps, sizeof *p.x),
                     .y = report_allocate((size_t)steps, sizeof *p.y)};
    for (int i = 0; i < steps; i++) {
        moreau_step(b, dt, lever, q, u);
        p.x[i] = q[0], p.y[i] = q[1];
        p.least_gap = fmin(p.least_gap, 0.9 - hypot(q[0], 1 - q[1]));
        if (i + 1 == (int)lround(2 / dt)) p.energy_2 = ball_energy(q, u);
    }
    return p;
}

static void moreau_path_free(moreau_path *p) { free(p->x), free(p->y); }

static double scene_least_gap(const case_history *h) {
    double least = 0;
    for (int i = 0; i < h->steps; i++) least = fmin(least, case_value(h, i, CASE_COLUMNS + MOREAU_GAP));
    return least;
}

/* The simulator's contact stands amid the overlap, half of which its lever lacks: so has it here. */
static void claim_moreau(claim_list *c, const benchmark *b, const case_history *scene,
                         const alpha_counts *ours) {
    moreau_path p = run_moreau(b, 0), amid = run_moreau(b, 0.5);
    claim_equal(c, CLAIM_DERIVED, "m", -9.64e-2, p.least_gap, 5e-5, "Moreau's scheme: least gap");
    claim_bound(c, CLAIM_PRINTED, "1", CLAIM_AT_LEAST, 1e6, p.least_gap / fmin(ours->least_gap, -1e-15),
                "contact penetration is a big issue: Moreau's over ours");
    claim_bound(c, CLAIM_DERIVED, "J", CLAIM_AT_LEAST, 0.5, fabs(p.energy_2 - 4.3451774),
                "Moreau's scheme: error of the energy at t = 2 (ours ≤ 0.004)");
    claim_equal(c, CLAIM_DERIVED, "m", amid.least_gap, scene_least_gap(scene), 1e-9,
                "as a scene, contact amid the overlap: least gap");
    claim_equal(c, CLAIM_DERIVED, "J", amid.energy_2, case_value(scene, 199, CASE_COLUMNS + MOREAU_ENERGY),
                1e-8, "as a scene, contact amid the overlap: energy at t = 2");
    moreau_path_free(&p), moreau_path_free(&amid);
}

static void claim_cylinder(claim_list *c, const alpha_history *h) {
    const alpha_row *first = alpha_at(h, 1), *second = alpha_at(h, 2), *last = alpha_at(h, 10);
    claim_equal(c, CLAIM_DERIVED, "m", 0.8215903, first->q[0], 2e-3, "x(1)");
    claim_equal(c, CLAIM_DERIVED, "m", 0.6325909, first->q[1], 2e-3, "y(1)");
    claim_equal(c, CLAIM_DERIVED, "J", 7.7152139, ball_energy(first->q, first->u), 4e-3, "energy at t = 1");
    claim_equal(c, CLAIM_DERIVED, "J", 4.3451774, ball_energy(second->q, second->u), 4e-3, "energy at t = 2");
    claim_equal(c, CLAIM_DERIVED, "m", 0.3271858, last->q[0], 2e-3, "x(10)");
    claim_equal(c, CLAIM_DERIVED, "m", 0.1615792, last->q[1], 2e-3, "y(10)");
    claim_equal(c, CLAIM_DERIVED, "J", 1.5988373, ball_energy(last->q, last->u), 4e-3, "energy at t = 10");
}

static double *scene_curve(const case_history *h, int column) {
    double *curve = report_allocate((size_t)h->steps, sizeof *curve);
    for (int i = 0; i < h->steps; i++) curve[i] = case_value(h, i, CASE_COLUMNS + column);
    return curve;
}

static bool draw_path(experiment_run *run, const benchmark *b, const alpha_history *h,
                      const case_history *scene) {
    enum { ARC = 181 };
    double *x = alpha_curve(h, place_x), *y = alpha_curve(h, place_y), wall_x[ARC], wall_y[ARC];
    double *scene_x = scene_curve(scene, MOREAU_X), *scene_y = scene_curve(scene, MOREAU_Y);
    moreau_path p = run_moreau(b, 0);
    for (int i = 0; i < ARC; i++)
        wall_x[i] = -0.9 * cos(M_PI * i / (ARC - 1)), wall_y[i] = 1 - 0.9 * sin(M_PI * i / (ARC - 1));
    size_t count = (size_t)h->steps;
    const figure_series series[] = {
        {"Moreau", p.x, p.y, count, FIGURE_PLAIN, 1},
        {"Moreau, as a scene", scene_x, scene_y, (size_t)scene->steps, FIGURE_PLAIN, 2},
        {"generalized-α", x, y, count + 1, FIGURE_PLAIN, FIGURE_LOOK_BLACK},
        {"no gap", wall_x, wall_y, ARC, FIGURE_PLAIN, FIGURE_LOOK_BLACK_DASHED}};
    figure f = {.x = {"x in m", FIGURE_LINEAR, -1, 1},
                .y = {"y in m", FIGURE_LINEAR, 0, 1.1},
                .series = series,
                .series_count = 4};
    bool good = run_figure(run, &f, "figure_04");
    free(x), free(y), free(scene_x), free(scene_y);
    moreau_path_free(&p);
    return good;
}

static void rough_cylinder(benchmark *b) {
    benchmark_cylinder(b);
    b->laws[0].mu = 0.35;
}

#define CYLINDER "004-10.3", "ball"

static const alpha_twin cylinder_twins[] = {
    {"cylinder", CYLINDER, benchmark_cylinder, -1, 1, 10, 1e-10, {NULL}},
    {"mu-0.35", CYLINDER, rough_cylinder, -1, 1, 10, 1e-10, {"materials.default.mu=0.35"}},
    {"rho-0", CYLINDER, benchmark_cylinder, 0, 1, 10, 1e-10, {NULL}},
    {"rho-0.3", CYLINDER, benchmark_cylinder, 0.3, 1, 10, 1e-10, {NULL}},
    {"rho-0.9", CYLINDER, benchmark_cylinder, 0.9, 1, 10, 1e-10, {NULL}},
    {"rho-1", CYLINDER, benchmark_cylinder, 1, 1, 10, 1e-10, {NULL}},
    {"half-step", CYLINDER, benchmark_cylinder, -1, 0.5, 10, 1e-10, {NULL}},
    {"double-step", CYLINDER, benchmark_cylinder, -1, 2, 10, 1e-10, {NULL}}};

static bool run_cylinder(experiment_run *run) {
    benchmark b;
    alpha_history h;
    case_history scene;
    benchmark_cylinder(&b);
    if (!run_scene(run, &scene)) return false;
    if (!alpha_run(&b, "cylinder", &h)) {
        case_history_free(&scene);
        return false;
    }
    alpha_counts counts = alpha_count(&h, 1);
    claim_cylinder(&run->claims, &h);
    claim_bound(&run->claims, CLAIM_DERIVED, "m", CLAIM_AT_LEAST, -1e-9, counts.least_gap,
                "least gap of all steps");
    alpha_claim_kept(&run->claims, "cylinder", &b, &counts);
    claim_moreau(&run->claims, &b, &scene, &counts);
    alpha_claim_counts(&run->claims, "cylinder", &counts, true, 74, 0.37);
    bool good = alpha_claim_twins(run, cylinder_twins, sizeof cylinder_twins / sizeof *cylinder_twins);
    good =
        good && (!*run->folder || (alpha_table(run, &b, &h, "cylinder") && draw_path(run, &b, &h, &scene)));
    alpha_history_free(&h), case_history_free(&scene);
    return good;
}

const experiment experiment_ball_in_cylinder = {
    .name = "004-10.3",
    .title = "a ball slides and rolls in a cylinder without penetration (Figure 4)",
    .has_full = true,
    .run = run_cylinder,
};

/* ---- 10.4 ---- */

static const double critical_time = 0.814549659;

static void claim_before(claim_list *c, const alpha_history *h) {
    const alpha_row *start = &h->rows[0], *middle = alpha_at(h, 0.4), *late = alpha_at(h, 0.8);
    claim_equal(c, CLAIM_DERIVED, "N", 10.031716656, start->force_n[0], 1e-8, "λ_N(0)");
    claim_equal(c, CLAIM_DERIVED, "N", -16.719527760, start->force_t[0], 1e-8, "λ_F(0)");
    claim_equal(c, CLAIM_DERIVED, "rad", 0.547225098, middle->q[2], 1.2e-5, "φ(0.4)");
    claim_equal(c, CLAIM_DERIVED, "rad/s", 0.05234271, middle->u[2], 3.6e-4, "u_φ(0.4)");
    claim_equal(c, CLAIM_DERIVED, "rad", 0.742564981, late->q[2], 1.3e-5, "φ(0.8)");
    claim_equal(c, CLAIM_DERIVED, "rad/s", 2.44951002, late->u[2], 3.6e-4, "u_φ(0.8)");
    claim_equal(c, CLAIM_DERIVED, "N", 43.2175378, late->force_n[0], 0.02, "λ_N(0.8)");
}

/* Beyond φ = π/4 several motions are admissible: what all of them have in common is judged. */
static void claim_after(claim_list *c, const alpha_history *h) {
    int flagged = h->steps + 1, silent = 0;
    double growth = -INFINITY, most = 0, turning_last = h->rows[h->steps].u[2], spread = 0;
    for (int i = 1; i <= h->steps; i++) {
        const alpha_row *r = &h->rows[i], *before = r - 1;
        bool unique = r->report.solutions == 1;
        if (!unique && i < flagged) flagged = i;
        if (unique && r->t < critical_time) silent++;
        most = fmax(most, r->force_n[0]);
        growth = fmax(growth, rod_energy(r->q, r->u) - rod_energy(before->q, before->u));
        if (r->t > 0.892) spread = fmax(spread, fabs(r->u[2] - turning_last));
    }
    double dt = h->rows[1].t - h->rows[0].t;
    claim_equal(c, CLAIM_DERIVED, "s", critical_time, flagged <= h->steps ? h->rows[flagged].t : nan(""),
                2 * dt, "first step without a unique acceleration, φ = π/4 at");
    claim_equal(c, CLAIM_DERIVED, "1", (int)(critical_time / dt), silent, 0,
                "steps before it that are not flagged");
    claim_bound(c, CLAIM_DERIVED, "m", CLAIM_AT_LEAST, 0.01, h->rows[h->steps].gap[0],
                "the rod has detached: gap(0.9)");
    claim_bound(c, CLAIM_DERIVED, "rad/s", CLAIM_AT_LEAST, 3.76, turning_last,
                "u_φ after detaching, at least");
    claim_bound(c, CLAIM_DERIVED, "rad/s", CLAIM_AT_MOST, 9.3, turning_last, "u_φ after detaching, at most");
    claim_bound(c, CLAIM_DERIVED, "rad/s", CLAIM_AT_MOST, 1e-6, spread,
                "u_φ is constant 40 steps after detaching, to");
    claim_bound(c, CLAIM_PRINTED, "1", CLAIM_AT_LEAST, 10, most / h->rows[0].force_n[0],
                "contact forces blow up: largest λ_N over λ_N(0)");
    claim_bound(c, CLAIM_DERIVED, "J", CLAIM_AT_MOST, 1e-3, growth, "largest growth of energy in a step");
}

static bool draw_turning(experiment_run *run, const alpha_history *h) {
    double *t = alpha_curve(h, alpha_time), *w = alpha_curve(h, turning);
    const figure_series series[] = {{NULL, t, w, (size_t)h->steps + 1, FIGURE_PLAIN, 1}};
    const figure_mark marks[] = {{"φ = π/4", false, critical_time}};
    figure f = {.x = {"t in s", FIGURE_LINEAR, 0, 0},
                .y = {"u_{φ} in rad/s", FIGURE_LINEAR, 0, 0},
                .series = series,
                .series_count = 1,
                .marks = marks,
                .mark_count = 1};
    bool good = run_figure(run, &f, "figure_05");
    free(t), free(w);
    return good;
}

#define ROD "004-10.4", "rod", benchmark_painleve

/* Up to where accelerations stop being unique. */
static const alpha_twin rod_twins[] = {
    {"rod", ROD, -1, 1, 0.8, 1e-8, {NULL}},         {"rho-0", ROD, 0, 1, 0.8, 1e-8, {NULL}},
    {"rho-0.5", ROD, 0.5, 1, 0.8, 1e-8, {NULL}},    {"rho-1", ROD, 1, 1, 0.8, 1e-8, {NULL}},
    {"half-step", ROD, -1, 0.5, 0.8, 1e-8, {NULL}}, {"double-step", ROD, -1, 2, 0.8, 1e-8, {NULL}}};

static bool run_rod(experiment_run *run) {
    benchmark b;
    alpha_history h;
    benchmark_painleve(&b);
    if (!alpha_run(&b, "rod", &h)) return false;
    alpha_counts counts = alpha_count(&h, 1);
    claim_before(&run->claims, &h);
    claim_after(&run->claims, &h);
    alpha_claim_kept(&run->claims, "rod", &b, &counts);
    alpha_claim_counts(&run->claims, "rod", &counts, true, 2, 0.07);
    bool good = alpha_claim_twins(run, rod_twins, sizeof rod_twins / sizeof *rod_twins);
    good = good && (!*run->folder || (alpha_table(run, &b, &h, "rod") && draw_turning(run, &h)));
    alpha_history_free(&h);
    return good;
}

const experiment experiment_painleve_rod = {
    .name = "004-10.4",
    .title = "the rod of Painlevé slides through its paradox (Figure 5)",
    .has_full = true,
    .run = run_rod,
};
