/* Paper 004, 10.5 and 10.6: the guided hopper and the tippe top. Figures 6 and 7. */
#include "cli/support/report.h"
#include "experiments/capobianco/capobianco.h"
#include "experiments/case.h"

#include <delassus/delassus.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- 10.5 ---- */

static double friction(const alpha_row *r) { return r->percussion_t[0]; }
static double upper(const alpha_row *r) { return 0.2 * r->percussion_n[0]; }
static double lower(const alpha_row *r) { return -0.2 * r->percussion_n[0]; }

/* Percussions of a stance, from its first to its last row with one. */
typedef struct stance {
    double begin, end, sum;
} stance;

/* The foot chatters when it lands and leaves: what is less than 10 ms apart is one stance. */
static stance stance_after(const alpha_history *h, double t) {
    stance s = {nan(""), nan(""), 0};
    for (int i = 1; i <= h->steps; i++) {
        const alpha_row *r = &h->rows[i];
        if (r->t <= t || r->percussion_n[0] <= 1e-12) continue;
        if (isnan(s.begin)) s.begin = r->t;
        if (r->t > s.end + 0.01) break;
        s.end = r->t, s.sum += r->percussion_n[0];
    }
    return s;
}

/* Largest |p_y − ΣP_N + m g t| of all steps. */
static double momentum_off(const benchmark *b, const alpha_history *h) {
    double sum = 0, largest = 0;
    for (int i = 1; i <= h->steps; i++) {
        const alpha_row *r = &h->rows[i];
        sum += r->percussion_n[0];
        double p = hopper_momentum(b, r->t, r->u);
        largest = fmax(largest, fabs(p - sum + hopper_mass_of_all() * 9.81 * r->t));
    }
    return largest;
}

static void claim_hopper(claim_list *c, const benchmark *b, const alpha_history *h) {
    stance first = stance_after(h, 0), second = stance_after(h, first.end + 0.1);
    double cone = -INFINITY, knee = 0;
    for (int i = 1; i <= h->steps; i++) {
        cone = fmax(cone, fabs(h->rows[i].percussion_t[0]) - 0.2 * h->rows[i].percussion_n[0]);
        knee = fmax(knee, h->rows[i].report.position);
    }
    claim_equal(c, CLAIM_DERIVED, "m", 0.11, h->rows[0].gap[0], 1e-12, "gap(0)");
    claim_equal(c, CLAIM_DERIVED, "m/s²", -9.30391792, h->rows[0].a[0], 1e-6, "a_y(0)");
    claim_equal(c, CLAIM_DERIVED, "m", 0.2984644, alpha_at(h, 0.05)->q[0], 2e-7, "y(0.05)");
    claim_equal(c, CLAIM_DERIVED, "m", 0.2635389, alpha_at(h, 0.1)->q[0], 2e-7, "y(0.1)");
    claim_equal(c, CLAIM_DERIVED, "s", 0.1262, first.begin, 2e-4, "touch-down");
    claim_equal(c, CLAIM_DERIVED, "s", 0.182, first.end, 2e-3, "lift-off");
    claim_equal(c, CLAIM_DERIVED, "s", 0.558, second.begin, 2e-3, "second touch-down");
    claim_equal(c, CLAIM_DERIVED, "N s", 16.58, first.sum, 0.02, "ΣP_N of the first stance");
    claim_equal(c, CLAIM_DERIVED, "N s", 23.26, second.sum, 0.03, "ΣP_N of the second stance");
    claim_bound(c, CLAIM_DERIVED, "N s", CLAIM_AT_MOST, 1e-6, momentum_off(b, h),
                "vertical momentum is ΣP_N − m g t at all times, to");
    claim_bound(c, CLAIM_PRINTED, "N s", CLAIM_AT_MOST, 1e-9, cone, "P_F lies between ±μP_N, to");
    claim_bound(c, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 1e-9, knee,
                "largest violation of the knee and of the gap");
}

static bool draw_percussions(experiment_run *run, const alpha_history *h) {
    double *t = alpha_curve(h, alpha_time), *f = alpha_curve(h, friction);
    double *high = alpha_curve(h, upper), *low = alpha_curve(h, lower);
    size_t count = (size_t)h->steps + 1;
    const figure_series series[] = {{"±μP_{N}", t, high, count, FIGURE_PLAIN, 2},
                                    {NULL, t, low, count, FIGURE_PLAIN, 2},
                                    {"P_{F}", t, f, count, FIGURE_PLAIN, FIGURE_LOOK_BLACK}};
    figure drawn = {.x = {"t in s", FIGURE_LINEAR, 0, 2},
                    .y = {"percussion in N s", FIGURE_LINEAR, 0, 0},
                    .series = series,
                    .series_count = 3,
                    .width_inches = FIGURE_PAGE_WIDTH};
    bool good = run_figure(run, &drawn, "figure_06");
    free(t), free(f), free(high), free(low);
    return good;
}

/* The scene has bodies, joints and a drive each where the model has their angles: both approach the same
 * motion, and their difference falls with dt² while the foot is in the air. */
enum { SCENE_Y, SCENE_COLUMNS };

static void measure_trunk(const dls_simulation *simulation, const dls_step_report *report, double *values,
                          void *user) {
    const dls_world *world = dls_simulation_world(simulation);
    dls_body_state s;
    (void)report, (void)user;
    values[SCENE_Y] = nan("");
    if (!dls_body_state_get(world, dls_world_find_body(world, "trunk"), &s, NULL)) values[SCENE_Y] = s.x[1];
}

/* A hopper as a scene and by callbacks: mu or rho < 0 are the paper's. */
typedef struct hop {
    const char *name;
    double dt, end, mu, rho;
} hop;

static void fill_hop(const hop *of, double dt, benchmark *b) {
    benchmark_hopper(b);
    b->end = of->end, b->options.dt = dt;
    if (of->mu >= 0) b->laws[0].mu = of->mu;
    if (of->rho >= 0) b->options.rho = of->rho;
}

/* Largest difference of the trunk's height. */
static bool trunk_apart(experiment_run *run, const hop *of, double *off) {
    static const char *const columns[SCENE_COLUMNS] = {"y"};
    char step[64], until[64], mu[64], rho[64];
    const char *settings[] = {step, until, mu, rho};
    benchmark b;
    alpha_history h;
    case_history scene;
    fill_hop(of, of->dt, &b);
    snprintf(step, sizeof step, "time.step=%.17g", b.options.dt);
    snprintf(until, sizeof until, "time.until=%.17g", b.end);
    snprintf(mu, sizeof mu, "materials.default.mu=%.17g", b.laws[0].mu);
    snprintf(rho, sizeof rho, "integrator.rho=%.17g", b.options.rho);
    const case_def def = {.name = of->name,
                          .scene = "004-10.5",
                          .setting_count = 4,
                          .settings = settings,
                          .column_count = SCENE_COLUMNS,
                          .columns = columns,
                          .measure = measure_trunk};
    if (!case_run(run, &def, &scene)) return false;
    bool good = alpha_run(&b, "hopper", &h);
    *off = 0;
    for (int i = 0; good && i < scene.steps; i++)
        *off = fmax(*off, fabs(case_value(&scene, i, CASE_COLUMNS + SCENE_Y) - h.rows[i + 1].q[0]));
    if (good) alpha_history_free(&h);
    case_history_free(&scene);
    return good;
}

/* Largest difference of the trunk's height by callbacks, of the step and of half the step. */
static bool step_apart(const hop *of, double *off) {
    benchmark b[2];
    alpha_history h[2] = {{0, NULL}, {0, NULL}};
    for (int i = 0; i < 2; i++) fill_hop(of, ldexp(of->dt, -i), &b[i]);
    bool good = alpha_run(&b[0], "hopper", &h[0]) && alpha_run(&b[1], "hopper", &h[1]);
    *off = 0;
    for (int i = 1; good && i <= h[0].steps; i++)
        *off = fmax(*off, fabs(h[0].rows[i].q[0] - h[1].rows[2 * i].q[0]));
    for (int i = 0; i < 2; i++) alpha_history_free(&h[i]);
    return good;
}

/* What differs at a touch-down grows from stance to stance, some thousand times in 2 s: up to the second one
 * both ways are nearer to each other than the step is to half of it. */
static bool claim_stances(experiment_run *run) {
    static const hop hops[] = {{"hops", 1e-4, 0.7, -1, -1},
                               {"hops-mu-0.4", 1e-4, 0.7, 0.4, -1},
                               {"hops-rho-0.5", 1e-4, 0.7, -1, 0.5}};
    for (size_t i = 0; i < sizeof hops / sizeof *hops; i++) {
        double off, own;
        if (!trunk_apart(run, &hops[i], &off) || !step_apart(&hops[i], &own)) return false;
        claim_bound(
            &run->claims, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 0.01, off / own,
            "%s: as a scene, dt = 1e-4, to 0.7 s: y over the callbacks', as a share of what half the step "
            "changes",
            hops[i].name);
    }
    return true;
}

static bool claim_scene(experiment_run *run) {
    enum { HALVINGS = 3 };
    double off[HALVINGS];
    for (int i = 0; i < HALVINGS; i++) {
        char name[32];
        snprintf(name, sizeof name, "scene-%d", i);
        if (!trunk_apart(run, &(hop){name, ldexp(1e-3, -i), 0.12, -1, -1}, &off[i])) return false;
    }
    claim_bound(&run->claims, CLAIM_DERIVED, "m", CLAIM_AT_MOST, 1e-6, off[HALVINGS - 1],
                "as a scene, dt = 2.5e-4: y of the trunk in the air, over the callbacks'");
    claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_LEAST, 1.9, log2(off[1] / off[2]),
                "as a scene: order of the difference to the callbacks");
    return true;
}

static bool run_hopper(experiment_run *run) {
    benchmark b;
    alpha_history h;
    benchmark_hopper(&b);
    if (!alpha_run(&b, "hopper", &h)) return false;
    alpha_counts counts = alpha_count(&h, 1);
    claim_hopper(&run->claims, &b, &h);
    alpha_claim_kept(&run->claims, "hopper", &b, &counts);
    alpha_claim_counts(&run->claims, "hopper", &counts, false, 5, 1.23);
    bool good = claim_scene(run) && claim_stances(run) &&
                (!*run->folder || (alpha_table(run, &b, &h, "hopper") && draw_percussions(run, &h)));
    alpha_history_free(&h);
    return good;
}

const experiment experiment_guided_hopper = {
    .name = "004-10.5",
    .title = "a guided hopper with a beam for a shank (Figure 6)",
    .has_full = true,
    .run = run_hopper,
};

/* ---- 10.6 ---- */

static double angle(const alpha_row *r) { return tippe_top_angle(r->q); }

enum { END, SPLIT, SWITCHED, VARIANTS };

static const char *const variant_names[VARIANTS] = {"end", "split", "switched"};

typedef struct oracle {
    double t, exact, discrete; /* θ of the equations, and of the paper's scheme and step */
} oracle;

static const oracle oracles[] = {{0.1, 0.0251901, NAN},
                                 {0.5, 0.5180101, 0.505048},
                                 {1, 1.5725914, 1.487627},
                                 {2, 3.0002255, 2.937559},
                                 {4, 3.0692445, 3.041215}};

static double first_time(const alpha_history *h, bool (*is_there)(const alpha_row *)) {
    for (int i = 1; i <= h->steps; i++)
        if (is_there(&h->rows[i])) return h->rows[i].t;
    return nan("");
}

static bool is_level(const alpha_row *r) { return angle(r) >= M_PI / 2; }
static bool stick_touches(const alpha_row *r) { return r->percussion_n[1] > 1e-9; }

static void claim_top(claim_list *c, const alpha_history *h) {
    for (size_t i = 0; i < sizeof oracles / sizeof *oracles; i++) {
        if (!isfinite(oracles[i].discrete)) continue;
        claim_equal(c, CLAIM_DERIVED, "rad", oracles[i].discrete, angle(alpha_at(&h[END], oracles[i].t)),
                    2e-4, "θ(%g) of the paper's scheme at its step", oracles[i].t);
    }
    for (size_t i = 0; i < sizeof oracles / sizeof *oracles; i++)
        claim_equal(c, CLAIM_DERIVED, "rad", oracles[i].exact, angle(alpha_at(&h[SWITCHED], oracles[i].t)),
                    2e-2, "θ(%g), percussions split by direction, against the equations", oracles[i].t);
    claim_equal(c, CLAIM_DERIVED, "rad", acos(-10.0 / 13), angle(alpha_at(&h[SWITCHED], 5)), 1e-6,
                "θ(5): both contacts closed");
    claim_equal(c, CLAIM_DERIVED, "s", 0.972947, first_time(&h[SWITCHED], is_level), 3e-3, "θ = π/2 at");
    claim_equal(c, CLAIM_DERIVED, "s", 1.3710433, first_time(&h[SWITCHED], stick_touches), 3e-3,
                "the stick touches at");
}

/* Errors of θ(1) at the paper's step, a half and a quarter of it: the order is that of the last halving. */
static bool claim_order_of(claim_list *c, dls_alpha_slip slip, const char *name, double least, double most) {
    double error[3], exact = oracles[2].exact;
    for (int i = 0; i < 3; i++) {
        benchmark b;
        alpha_history h;
        benchmark_tippe_top(&b);
        b.options.slip = slip, b.end = oracles[2].t, b.options.tolerance = 1e-9;
        b.options.dt = ldexp(b.options.dt, -i);
        if (!alpha_run(&b, name, &h)) return false;
        error[i] = fabs(angle(&h.rows[h.steps]) - exact);
        alpha_history_free(&h);
    }
    double order = log2(error[1] / error[2]);
    claim_bound(c, CLAIM_DERIVED, "1", CLAIM_AT_LEAST, least, order, "order of θ(1), slip: %s, at least",
                name);
    claim_bound(c, CLAIM_DERIVED, "1", CLAIM_AT_MOST, most, order, "order of θ(1), slip: %s, at most", name);
    return true;
}

static bool claim_variants(claim_list *c) {
    return claim_order_of(c, DLS_SLIP_END, "end", 0.8, 1.2) &&
           claim_order_of(c, DLS_SLIP_SPLIT, "split", 1.9, 2.1) &&
           claim_order_of(c, DLS_SLIP_SWITCHED, "switched", 1.9, 2.1);
}

/* ---- 10.6 by Moreau's scheme ---- */

enum { MOREAU_ROW = 10 }; /* steps of a row: rows are those of the other curve */

static void measure_moreau(const dls_simulation *simulation, const dls_step_report *report, double *values,
                           void *user) {
    const dls_world *world = dls_simulation_world(simulation);
    dls_body_state s;
    double q[7] = {0};
    (void)report, (void)user;
    if (dls_body_state_get(world, dls_world_find_body(world, "top"), &s, NULL)) return;
    memcpy(q + 3, s.q, sizeof s.q);
    values[0] = tippe_top_angle(q);
}

static bool run_moreau(experiment_run *run, case_history *h) {
    static const char *const columns[] = {"theta"};
    static const char *const settings[] = {"integrator.scheme=moreau-jean",
                                           "integrator.kinematics=first-order", "time.step=1e-4",
                                           "solver.tolerance=1e-8"};
    const case_def def = {.name = "moreau",
                          .scene = "004-10.6",
                          .setting_count = sizeof settings / sizeof *settings,
                          .settings = settings,
                          .steps_per_row = MOREAU_ROW,
                          .column_count = 1,
                          .columns = columns,
                          .measure = measure_moreau};
    return case_run(run, &def, h);
}

static double moreau_angle(const case_history *h, int step) { return case_value(h, step - 1, CASE_COLUMNS); }

/* Root mean square of the difference of θ. */
static double distance_to(const alpha_history *h, const case_history *moreau) {
    double sum = 0;
    for (int i = 1; i <= h->steps; i++) {
        double off = angle(&h->rows[i]) - moreau_angle(moreau, i);
        sum += off * off;
    }
    return sqrt(sum / h->steps);
}

/* When Moreau's θ passes a value, upwards first and downwards after it. */
static double moreau_passes(const case_history *h, double value, bool upwards, double after) {
    for (int i = 2; i <= h->steps; i++) {
        double t = case_value(h, i - 1, CASE_T), before = moreau_angle(h, i - 1), now = moreau_angle(h, i);
        if (t > after && (upwards ? before < value && now >= value : before > value && now <= value))
            return t;
    }
    return nan("");
}

static double alpha_passes(const alpha_history *h, double value, bool upwards, double after) {
    for (int i = 1; i <= h->steps; i++) {
        double before = angle(&h->rows[i - 1]), now = angle(&h->rows[i]);
        if (h->rows[i].t > after &&
            (upwards ? before < value && now >= value : before > value && now <= value))
            return h->rows[i].t;
    }
    return nan("");
}

/* "In line": whole curves in the mean, and when the top passes an angle on its way over and back, to what a
 * figure of 8 s shows. */
static void claim_moreau(claim_list *c, const alpha_history *h, const case_history *moreau) {
    static const double line = 0.02 * 8;
    for (int v = END; v <= SWITCHED; v += SWITCHED) {
        const char *name = variant_names[v];
        claim_bound(c, CLAIM_PRINTED, "rad", CLAIM_AT_MOST, v == END ? 0.1 : 0.02, distance_to(&h[v], moreau),
                    "in line with Moreau's scheme at 1e-4 s, slip: %s: rms of θ", name);
        claim_equal(c, CLAIM_PRINTED, "s", moreau_passes(moreau, M_PI / 2, true, 0),
                    alpha_passes(&h[v], M_PI / 2, true, 0), line, "the top inverts, slip: %s: θ = π/2 at",
                    name);
        claim_equal(c, CLAIM_PRINTED, "s", moreau_passes(moreau, 2, false, 2),
                    alpha_passes(&h[v], 2, false, 2), line, "and tumbles back, slip: %s: θ = 2 at", name);
    }
    for (size_t i = 0; i < sizeof oracles / sizeof *oracles; i++)
        claim_equal(c, CLAIM_DERIVED, "rad", oracles[i].exact,
                    moreau_angle(moreau, (int)lround(oracles[i].t / 1e-3)), 2e-2, "Moreau's scheme: θ(%g)",
                    oracles[i].t);
}

/* Every fourth row: nutation has 50 of them. */
static bool draw_angles(experiment_run *run, const alpha_history *h, const case_history *moreau) {
    enum { THIN = 4 };
    size_t count = (size_t)(h[END].steps / THIN);
    double *curves[4];
    for (int k = 0; k < 4; k++) curves[k] = report_allocate(count, sizeof *curves[k]);
    for (size_t i = 0; i < count; i++) {
        int step = (int)(i + 1) * THIN;
        curves[0][i] = h[END].rows[step].t;
        curves[1][i] = moreau_angle(moreau, step);
        curves[2][i] = angle(&h[END].rows[step]), curves[3][i] = angle(&h[SWITCHED].rows[step]);
    }
    const figure_series series[] = {
        {"Moreau, dt = 10^{-4}", curves[0], curves[1], count, FIGURE_PLAIN, 1},
        {"as the paper", curves[0], curves[2], count, FIGURE_PLAIN, FIGURE_LOOK_BLACK},
        {"directions split", curves[0], curves[3], count, FIGURE_PLAIN, FIGURE_LOOK_BLACK_DOTTED}};
    figure f = {.x = {"t in s", FIGURE_LINEAR, 0, 8},
                .y = {"θ in rad", FIGURE_LINEAR, 0, M_PI},
                .series = series,
                .series_count = 3};
    bool good = run_figure(run, &f, "figure_07");
    for (int k = 0; k < 4; k++) free(curves[k]);
    return good;
}

/* A step of this one has no solution with the paper's law: its belly is closed to velocities alone. */
static void slow_top(benchmark *b) {
    benchmark_tippe_top(b);
    b->u[5] = 140;
}

static void smooth_top(benchmark *b) {
    benchmark_tippe_top(b);
    b->laws[0].mu = b->laws[1].mu = 0.2;
}

#define TOP "004-10.6", "top"

static const alpha_twin top_twins[] = {
    {"top", TOP, benchmark_tippe_top, -1, 1, 2, 1e-9, {NULL}},
    {"mu-0.2", TOP, smooth_top, -1, 1, 2, 1e-9, {"pairs.0.mu=0.2"}},
    {"spin-140", TOP, slow_top, -1, 1, 2, 1e-9, {"bodies.top.spin=[0,-140*sin(0.1),140*cos(0.1)]"}},
    {"rho-0", TOP, benchmark_tippe_top, 0, 1, 2, 1e-9, {NULL}},
    {"rho-0.9", TOP, benchmark_tippe_top, 0.9, 1, 2, 1e-9, {NULL}},
    {"rho-1", TOP, benchmark_tippe_top, 1, 1, 2, 1e-9, {NULL}},
    {"half-step", TOP, benchmark_tippe_top, -1, 0.5, 2, 1e-9, {NULL}}};

static bool run_top(experiment_run *run) {
    static const dls_alpha_slip slip[VARIANTS] = {DLS_SLIP_END, DLS_SLIP_SPLIT, DLS_SLIP_SWITCHED};
    benchmark b;
    alpha_history h[VARIANTS] = {{0, NULL}};
    case_history moreau;
    bool good = run_moreau(run, &moreau);
    for (int v = 0; good && v < VARIANTS; v++) {
        benchmark_tippe_top(&b);
        b.options.slip = slip[v];
        good = alpha_run(&b, variant_names[v], &h[v]);
    }
    if (good) {
        alpha_counts counts = alpha_count(&h[END], 2);
        claim_top(&run->claims, h);
        claim_moreau(&run->claims, h, &moreau);
        good = claim_variants(&run->claims) &&
               alpha_claim_twins(run, top_twins, sizeof top_twins / sizeof *top_twins);
        alpha_claim_kept(&run->claims, "top", &b, &counts);
        claim_bound(&run->claims, CLAIM_DERIVED, "m", CLAIM_AT_LEAST, -1e-11, counts.least_gap,
                    "least gap of all steps");
        alpha_claim_counts(&run->claims, "top", &counts, true, 3, 0.36);
    }
    if (good && *run->folder)
        good = alpha_table(run, &b, &h[END], "end") && alpha_table(run, &b, &h[SWITCHED], "switched") &&
               draw_angles(run, h, &moreau);
    for (int v = 0; v < VARIANTS; v++) alpha_history_free(&h[v]);
    case_history_free(&moreau);
    return good;
}

const experiment experiment_tippe_top = {
    .name = "004-10.6",
    .title = "the tippe top turns over: Coulomb–Contensou friction, quaternions (Figure 7)",
    .has_full = true,
    .run = run_top,
};
