/* Paper 004, 10.3 and 10.4: a ball in a cylinder and the rod of Painlevé. Figures 4 and 5. */
#include "experiments/capobianco/capobianco.h"

#include <math.h>
#include <stdlib.h>

static double place_x(const alpha_row *r) { return r->q[0]; }
static double place_y(const alpha_row *r) { return r->q[1]; }
static double turning(const alpha_row *r) { return r->u[2]; }

/* ---- 10.3 ---- */

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

static bool draw_path(experiment_run *run, const alpha_history *h) {
    enum { ARC = 181 };
    double *x = alpha_curve(h, place_x), *y = alpha_curve(h, place_y), wall_x[ARC], wall_y[ARC];
    for (int i = 0; i < ARC; i++)
        wall_x[i] = -0.9 * cos(M_PI * i / (ARC - 1)), wall_y[i] = 1 - 0.9 * sin(M_PI * i / (ARC - 1));
    const figure_series series[] = {{"generalized-α", x, y, (size_t)h->steps + 1, FIGURE_PLAIN, 1},
                                    {"no gap", wall_x, wall_y, ARC, FIGURE_PLAIN, FIGURE_LOOK_BLACK_DASHED}};
    figure f = {.x = {"x in m", FIGURE_LINEAR, -1, 1},
                .y = {"y in m", FIGURE_LINEAR, 0, 1.1},
                .series = series,
                .series_count = 2};
    bool good = run_figure(run, &f, "figure_04");
    free(x), free(y);
    return good;
}

static bool run_cylinder(experiment_run *run) {
    benchmark b;
    alpha_history h;
    benchmark_cylinder(&b);
    if (!alpha_run(&b, "cylinder", &h)) return false;
    alpha_counts counts = alpha_count(&h, 1);
    claim_cylinder(&run->claims, &h);
    claim_bound(&run->claims, CLAIM_DERIVED, "m", CLAIM_AT_LEAST, -1e-9, counts.least_gap,
                "least gap of all steps");
    alpha_claim_kept(&run->claims, "cylinder", &b, &counts);
    alpha_claim_counts(&run->claims, "cylinder", &counts, 74, 0.37);
    bool good = !*run->folder || (alpha_table(run, &b, &h, "cylinder") && draw_path(run, &h));
    alpha_history_free(&h);
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
    double growth = -INFINITY, turning_last = h->rows[h->steps].u[2], spread = 0;
    for (int i = 1; i <= h->steps; i++) {
        const alpha_row *r = &h->rows[i], *before = r - 1;
        bool unique = r->report.solutions == 1;
        if (!unique && i < flagged) flagged = i;
        if (unique && r->t < critical_time) silent++;
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

static bool run_rod(experiment_run *run) {
    benchmark b;
    alpha_history h;
    benchmark_painleve(&b);
    if (!alpha_run(&b, "rod", &h)) return false;
    alpha_counts counts = alpha_count(&h, 1);
    claim_before(&run->claims, &h);
    claim_after(&run->claims, &h);
    alpha_claim_kept(&run->claims, "rod", &b, &counts);
    alpha_claim_counts(&run->claims, "rod", &counts, 2, 0.07);
    bool good = !*run->folder || (alpha_table(run, &b, &h, "rod") && draw_turning(run, &h));
    alpha_history_free(&h);
    return good;
}

const experiment experiment_painleve_rod = {
    .name = "004-10.4",
    .title = "the rod of Painlevé slides through its paradox (Figure 5)",
    .has_full = true,
    .run = run_rod,
};
