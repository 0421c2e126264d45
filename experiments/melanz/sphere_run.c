/* Paper 001, section 3.1, through the simulator: the scene 001-3.1, a body on a half-plane, relaxed,
 * anti-relaxed and by the default solver. Step by step it must be the scheme that reproduce_sphere.c writes
 * out, with the contact in the middle of the gap. */
#include "cli/support/report.h"
#include "experiments/case.h"
#include "experiments/melanz/sphere.h"

#include <delassus/delassus.h>

#include <math.h>
#include <stdlib.h>

/* ---- a history from the simulator ---------------------------------------------------------------------- */

enum { X, Y, ANGLE, VX, VY, OMEGA, GAMMA_N, GAMMA_T, U_N, U_T, COLUMNS };

static const char *const columns[COLUMNS] = {"x",     "y",       "angle",   "v_x", "v_y",
                                             "omega", "gamma_n", "gamma_t", "u_n", "u_t"};

/* The contact's tangent turned to +x, as in the paper's D, whichever body comes first. */
static void measure(const dls_simulation *simulation, const dls_step_report *report, double *values,
                    void *user) {
    (void)report;
    (void)user;
    const dls_world *world = dls_simulation_world(simulation);
    const dls_body_id sphere = dls_world_find_body(world, "sphere");
    dls_body_state s;
    if (dls_body_state_get(world, sphere, &s, NULL)) return;
    const double state[] = {s.x[0], s.x[1], 2 * atan2(s.q[3], s.q[0]), s.v[0], s.v[1], s.w[2]};
    for (int k = 0; k < GAMMA_N; k++) values[k] = state[k];
    if (dls_simulation_contact_count(simulation) == 0) return;
    dls_contact_record c;
    dls_simulation_contact(simulation, 0, &c);
    const double turn = (c.body_b == sphere ? 1 : -1) * (c.frame[3] > 0 ? 1 : -1);
    values[GAMMA_N] = c.impulse[0];
    values[GAMMA_T] = turn * c.impulse[1];
    values[U_N] = c.velocity[0];
    values[U_T] = turn * c.velocity[1];
}

/* Solved down to rounding, as the written-out scheme is; the default solver as the scene has it. */
static const char *const relaxed_settings[] = {"solver.name=apgd", "solver.relaxed=yes",
                                               "solver.tolerance=1e-16", "solver.max_iterations=500",
                                               "integrator.warm_start=no"};
static const char *const anti_settings[] = {"solver.name=apgd", "solver.tolerance=1e-16",
                                            "solver.max_iterations=500", "integrator.warm_start=no"};

static bool simulate(experiment_run *run, const char *name, int setting_count, const char *const *settings,
                     sphere_history *history) {
    const case_def def = {.name = name,
                          .scene = "001-3.1",
                          .setting_count = setting_count,
                          .settings = settings,
                          .column_count = COLUMNS,
                          .columns = columns,
                          .measure = measure};
    case_history h;
    if (!case_run(run, &def, &h)) return false;
    const bool whole = h.finished && h.steps == SPHERE_STEPS;
    for (int l = 1; l <= SPHERE_STEPS && whole; l++) {
        sphere_step *s = &history->step[l];
        const double *row = h.values + (size_t)(l - 1) * (size_t)h.columns + CASE_COLUMNS;
        for (int k = 0; k < 3; k++) {
            s->q[k] = row[X + k];
            s->v[k] = row[VX + k];
        }
        for (int k = 0; k < 2; k++) {
            s->gamma[k] = row[GAMMA_N + k];
            s->u[k] = row[U_N + k];
        }
        s->iterations = (int)case_value(&h, l - 1, CASE_ITERATIONS);
    }
    if (!whole) report_error("reproduce: %s ended after %d steps, expected %d", name, h.steps, SPHERE_STEPS);
    case_history_free(&h);
    return whole;
}

/* ---- claims -------------------------------------------------------------------------------------------- */

static const double digits = 1e-12; /* numbers that are known to twelve decimals */

/* Largest difference of a velocity, place or impulse of any step. */
static double distance(const sphere_history *a, const sphere_history *b) {
    double worst = 0;
    for (int l = 1; l <= SPHERE_STEPS; l++) {
        const sphere_step *s = &a->step[l], *t = &b->step[l];
        for (int k = 0; k < 3; k++)
            worst = fmax(worst, fmax(fabs(s->q[k] - t->q[k]), fabs(s->v[k] - t->v[k])));
        for (int k = 0; k < 2; k++) worst = fmax(worst, fabs(s->gamma[k] - t->gamma[k]));
    }
    return worst;
}

static void claim_anti_relaxed(claim_list *c, const sphere_history *h, const sphere_history *written,
                               const char *method) {
    const sphere_step *first = &h->step[1], *last = &h->step[SPHERE_STEPS];
    claim_equal(c, CLAIM_PRINTED, "N s", 0.0981, first->gamma[0], digits, "%s: γ_n, first step", method);
    claim_equal(c, CLAIM_PRINTED, "N s", -0.01962, first->gamma[1], digits, "%s: γ_t, first step", method);
    claim_equal(c, CLAIM_DERIVED, "1", 30, sphere_rolling_step(h), 0, "%s: first step that ends rolling",
                method);
    claim_equal(c, CLAIM_DERIVED, "m/s", 10.0 / 7, last->v[0], digits, "%s: rolling velocity", method);
    claim_equal(c, CLAIM_DERIVED, "rad/s", -10.0 / 7, last->v[2], digits, "%s: rolling ω", method);
    claim_equal(c, CLAIM_DERIVED, "SI", 0, distance(h, written), digits,
                "%s: all steps, from the written-out scheme", method);
}

static void claim_relaxed(claim_list *c, const sphere_history *h, const sphere_history *written) {
    const char *method = "simulator, relaxed";
    const sphere_step *first = &h->step[1];
    const int highest = sphere_highest_step(h);
    claim_equal(c, CLAIM_DERIVED, "N s", 0.436929824561, first->gamma[0], digits, "%s: γ_n, first step",
                method);
    claim_equal(c, CLAIM_DERIVED, "N s", -0.087385964912, first->gamma[1], digits, "%s: γ_t, first step",
                method);
    claim_equal(c, CLAIM_DERIVED, "m/s", 0.338829824561, first->v[1], digits, "%s: launched with v_y",
                method);
    claim_equal(c, CLAIM_DERIVED, "m", 0.0076671930, h->step[highest].q[1] - 1, 1e-10, "%s: largest gap",
                method);
    claim_equal(c, CLAIM_DERIVED, "1", 4, highest, 0, "%s: step of the largest gap", method);
    claim_equal(c, CLAIM_DERIVED, "SI", 0, distance(h, written), digits,
                "%s: all steps, from the written-out scheme", method);
}

bool sphere_simulate(experiment_run *run) {
    enum { RELAXED, ANTI_RELAXED, DEFAULT, WRITTEN_RELAXED, WRITTEN_ANTI_RELAXED, HISTORIES };
    sphere_history *h = report_allocate(HISTORIES, sizeof *h);
    bool good = simulate(run, "relaxed", sizeof relaxed_settings / sizeof *relaxed_settings, relaxed_settings,
                         &h[RELAXED]) &&
                simulate(run, "anti-relaxed", sizeof anti_settings / sizeof *anti_settings, anti_settings,
                         &h[ANTI_RELAXED]) &&
                simulate(run, "default", 0, NULL, &h[DEFAULT]) &&
                sphere_write_out(&h[WRITTEN_RELAXED], true, SPHERE_MIDDLE) &&
                sphere_write_out(&h[WRITTEN_ANTI_RELAXED], false, SPHERE_MIDDLE);
    if (good) {
        claim_anti_relaxed(&run->claims, &h[ANTI_RELAXED], &h[WRITTEN_ANTI_RELAXED],
                           "simulator, anti-relaxed");
        run->claims.method = METHOD_OURS;
        claim_anti_relaxed(&run->claims, &h[DEFAULT], &h[WRITTEN_ANTI_RELAXED], "simulator, default solver");
        run->claims.method = METHOD_PAPERS;
        claim_relaxed(&run->claims, &h[RELAXED], &h[WRITTEN_RELAXED]);
    }
    free(h);
    return good;
}
