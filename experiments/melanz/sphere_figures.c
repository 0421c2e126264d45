/* Figures of paper 001, section 3.1: velocities (2), and the first step in the plane of impulses as contours
 * over the constraints (3–6), as surfaces (12–15), and near the solutions with contours inside the cone only
 * (16–19). */
#include "cli/figure/surface.h"
#include "cli/support/report.h"
#include "experiments/melanz/sphere.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- histories ----------------------------------------------------------------------------------------- */

enum { TIMES = SPHERE_STEPS + 1 };

static bool draw_velocities(experiment_run *run, const sphere_history *h, const char *title,
                            const char *name) {
    static const char *const names[] = {"v_{x}, m/s", "v_{y}, m/s", "ω, rad/s"};
    double t[TIMES], ours[3][TIMES], exact[3][TIMES];
    for (int l = 0; l < TIMES; l++) {
        double v[3];
        t[l] = l * sphere_h;
        sphere_closed_form(t[l], v);
        for (int k = 0; k < 3; k++) {
            ours[k][l] = h->step[l].v[k];
            exact[k][l] = v[k];
        }
    }
    figure_series series[6];
    for (unsigned k = 0; k < 3; k++) {
        series[k] =
            (figure_series){k ? NULL : "closed form", t, exact[k], TIMES, FIGURE_PLAIN, FIGURE_LOOK_BLACK};
        series[3 + k] = (figure_series){names[k], t, ours[k], TIMES, FIGURE_POINTS, k + 1};
    }
    figure_mark transition = {"transition", false, 2 * sphere_v0 / (7 * sphere_mu * sphere_g)};
    figure f = {.title = title,
                .x = {"time, s", FIGURE_LINEAR, 0, SPHERE_STEPS * sphere_h},
                .y = {"velocity", FIGURE_LINEAR, -1.8, 2.9},
                .series = series,
                .series_count = 6,
                .marks = &transition,
                .mark_count = 1};
    return run_figure(run, &f, name);
}

static bool draw_gap(experiment_run *run, const sphere_results *results) {
    double t[TIMES], relaxed[TIMES], anti[TIMES];
    for (int l = 0; l < TIMES; l++) {
        t[l] = l * sphere_h;
        relaxed[l] = 1e3 * (results->relaxed.step[l].q[1] - 1);
        anti[l] = 1e3 * (results->anti_relaxed.step[l].q[1] - 1);
    }
    figure_series series[] = {{"relaxed", t, relaxed, TIMES, FIGURE_LINE, 1},
                              {"anti-relaxed", t, anti, TIMES, FIGURE_LINE, 2}};
    figure f = {.title = "A sliding sphere leaves the plane when the law is relaxed",
                .x = {"time, s", FIGURE_LINEAR, 0, SPHERE_STEPS * sphere_h},
                .y = {"gap, mm", FIGURE_LINEAR, 0, 0},
                .series = series,
                .series_count = 2};
    return run_figure(run, &f, "gap");
}

/* ---- the plane of impulses ----------------------------------------------------------------------------- */

typedef enum objective_kind {
    OBJECTIVE_FRICTION, /* (9) with the velocity that the impulse itself makes: γ_t u_t(γ) */
    OBJECTIVE_CONE      /* (14), with a lift (15) */
} objective_kind;

typedef struct picture {
    const char *what;
    objective_kind kind;
    bool relaxed; /* complementarity (10) instead of (8) */
    double lift;
    const sphere_contact *contact;
    const double *optimum;
} picture;

static double objective(double normal, double tangent, const void *user) {
    const picture *p = user;
    const double gamma[] = {normal, tangent};
    if (p->kind == OBJECTIVE_CONE) return sphere_objective(p->contact, p->lift, gamma);
    return tangent * (p->contact->r[1] + p->contact->N[3] * tangent);
}

typedef struct region {
    double low[2], high[2];
    double spacing; /* of contours, J */
    bool in_cone;   /* contours end at the cone */
} region;

static const region whole = {{-0.4, -1.0}, {0.8, 0.4}, 0.1, false};
static const region surfaced = {{-0.4, -0.65}, {0.8, 0.4}, 0.1, false}; /* seen over its lowest edge */
static const region near = {{-0.03, -0.13}, {0.6, 0.13}, 0.02, true};

enum { CURVE = 601, LEVELS = 64, LINES = 8 };

typedef struct curve {
    double x[CURVE], y[CURVE];
} curve;

/* All that one drawing holds; the series point into the curves. */
typedef struct sheet {
    curve contour[LEVELS], line[LINES];
    figure_series series[LEVELS + LINES];
    size_t count;
    int lines;
} sheet;

static curve *add_line(sheet *s, const char *name, size_t count, figure_style style, unsigned look) {
    curve *c = &s->line[s->lines++];
    s->series[s->count++] = (figure_series){name, c->x, c->y, count, style, look};
    return c;
}

/* ---- contours in closed form ---- */

/* γ_t u_t = level at two γ_t, or nowhere. */
static void trace_friction_level(const picture *p, const region *g, double level, curve *c) {
    const double half = 0.5 * p->contact->r[1] / p->contact->N[3],
                 root = sqrt(half * half + level / p->contact->N[3]);
    enum { SIDE = CURVE / 2 };
    for (int i = 0; i < CURVE; i++) {
        int side = i / SIDE;
        double share = (double)(i % SIDE) / (SIDE - 1);
        c->x[i] = side < 2 ? g->low[0] + share * (g->high[0] - g->low[0]) : nan("");
        c->y[i] = side == 0 ? root - half : -root - half;
        if (i % SIDE == 0) c->x[i] = nan(""); /* the two lines are not joined */
    }
}

/* Minimum without the cone: N γ + r + a = 0. */
static void bottom_of(const picture *p, double bottom[2]) {
    bottom[0] = -(p->contact->r[0] + p->lift) / p->contact->N[0];
    bottom[1] = -p->contact->r[1] / p->contact->N[3];
}

/* An ellipse around the bottom, as N is diagonal; of its upper half, the part across the cone. */
static void trace_cone_level(const picture *p, const region *g, double level, curve *c) {
    double bottom[2];
    bottom_of(p, bottom);
    const double rise = 2 * (level - sphere_objective(p->contact, p->lift, bottom));
    const double half_width = sqrt(rise / p->contact->N[0]), half_height = sqrt(rise / p->contact->N[3]);
    for (int i = 0; i < CURVE; i++) {
        const double share = (double)i / (CURVE - 1);
        const double along = (share * g->high[0] - bottom[0]) / half_width;
        const double angle = g->in_cone ? acos(along) : 2 * M_PI * share;
        c->x[i] = bottom[0] + half_width * cos(angle);
        c->y[i] = bottom[1] + half_height * sin(angle);
    }
}

static void keep_in_cone(curve *c) {
    for (int i = 0; i < CURVE; i++)
        if (!(fabs(c->y[i]) <= sphere_mu * c->x[i])) c->y[i] = nan("");
}

static void objective_range(const picture *p, const region *g, double *low, double *high) {
    enum { GRID = 100 };
    *low = HUGE_VAL;
    *high = -HUGE_VAL;
    for (int i = 0; i <= GRID; i++)
        for (int k = 0; k <= GRID; k++) {
            double x = g->low[0] + (g->high[0] - g->low[0]) * i / GRID;
            double y = g->low[1] + (g->high[1] - g->low[1]) * k / GRID;
            if (g->in_cone && fabs(y) > sphere_mu * x) continue;
            *low = fmin(*low, objective(x, y, p));
            *high = fmax(*high, objective(x, y, p));
        }
}

static void add_contours(sheet *s, const picture *p, const region *g, const char *name) {
    double low, high;
    objective_range(p, g, &low, &high);
    int first = (int)ceil(low / g->spacing), last = (int)floor(high / g->spacing);
    for (int k = first; k <= last && k - first < LEVELS; k++) {
        curve *c = &s->contour[k - first];
        if (p->kind == OBJECTIVE_FRICTION)
            trace_friction_level(p, g, k * g->spacing, c);
        else
            trace_cone_level(p, g, k * g->spacing, c);
        if (g->in_cone) keep_in_cone(c);
        const unsigned height = 1 + (unsigned)(99 * (k - first) / (last > first ? last - first : 1));
        const char *legend = k == (first + last) / 2 ? name : NULL;
        s->series[s->count++] = (figure_series){legend, c->x, c->y, CURVE, FIGURE_CONTOUR, height};
    }
}

/* ---- constraints and solutions ---- */

/* A straight line, in many points where it is laid on a surface. */
static void trace_straight(curve *c, double x0, double y0, double x1, double y1) {
    for (int i = 0; i < CURVE; i++) {
        const double share = (double)i / (CURVE - 1);
        c->x[i] = x0 + share * (x1 - x0);
        c->y[i] = y0 + share * (y1 - y0);
    }
}

/* Where the normal velocity with the gap is zero, or μ|u_t| when relaxed. */
static void trace_complementarity(const picture *p, const region *g, curve *c) {
    for (int i = 0; i < CURVE; i++) {
        c->y[i] = g->low[1] + (g->high[1] - g->low[1]) * i / (CURVE - 1);
        const double slip = p->contact->r[1] + p->contact->N[3] * c->y[i];
        c->x[i] = (-p->contact->r[0] + (p->relaxed ? sphere_mu * fabs(slip) : 0)) / p->contact->N[0];
    }
}

static void add_constraints(sheet *s, const picture *p, const region *g) {
    const double reach = g->high[0], side = sphere_mu * reach;
    trace_straight(add_line(s, "friction cone", CURVE, FIGURE_PLAIN, FIGURE_LOOK_BLACK), 0, 0, reach, side);
    trace_straight(add_line(s, NULL, CURVE, FIGURE_PLAIN, FIGURE_LOOK_BLACK), 0, 0, reach, -side);
    trace_straight(add_line(s, "γ_{n} = 0", CURVE, FIGURE_PLAIN, FIGURE_LOOK_BLACK_DASHED), 0, g->low[1], 0,
                   g->high[1]);
    if (p->kind == OBJECTIVE_FRICTION)
        trace_complementarity(p, g,
                              add_line(s, p->relaxed ? "u_{n} = μ|u_{t}|" : "u_{n} = 0", CURVE, FIGURE_PLAIN,
                                       FIGURE_LOOK_BLACK_DOTTED));
}

static void add_point(sheet *s, const char *name, const double *gamma, figure_style style, unsigned look) {
    curve *c = add_line(s, name, 1, style, look);
    c->x[0] = gamma[0];
    c->y[0] = gamma[1];
}

static void add_solutions(sheet *s, const picture *p, const region *g) {
    static const double analytical[] = {0.0981, -0.01962};
    const unsigned filled_diamond = 9, square = 7;
    double bottom[2];
    bottom_of(p, bottom);
    if (p->kind == OBJECTIVE_CONE && !g->in_cone)
        add_point(s, "minimum without the cone", bottom, FIGURE_POINTS, square);
    add_point(s, "optimum", p->optimum, FIGURE_POINTS, filled_diamond);
    add_point(s, "analytical solution", analytical, FIGURE_RINGS, FIGURE_LOOK_BLACK);
}

/* ---- drawings ---- */

static bool draw_contours(experiment_run *run, sheet *s, const picture *p, const region *g, const char *title,
                          const char *name) {
    char spacing[64];
    snprintf(spacing, sizeof spacing, "objective, every %g J", g->spacing);
    s->count = 0;
    s->lines = 0;
    add_contours(s, p, g, spacing);
    add_constraints(s, p, g);
    add_solutions(s, p, g);
    figure f = {.title = title,
                .x = {"γ_{n}, N s", FIGURE_LINEAR, g->low[0], g->high[0]},
                .y = {"γ_{t}, N s", FIGURE_LINEAR, g->low[1], g->high[1]},
                .series = s->series,
                .series_count = s->count,
                .height_inches = 3.2};
    return run_figure(run, &f, name);
}

static bool draw_surface(experiment_run *run, sheet *s, const picture *p, const char *title,
                         const char *name) {
    s->count = 0;
    s->lines = 0;
    add_constraints(s, p, &surfaced);
    add_solutions(s, p, &surfaced);
    figure_surface f = {.title = title,
                        .x = {"γ_{n}, N s", FIGURE_LINEAR, surfaced.low[0], surfaced.high[0]},
                        .y = {"γ_{t}, N s", FIGURE_LINEAR, surfaced.low[1], surfaced.high[1]},
                        .z = {"objective, J", FIGURE_LINEAR, 0, 0},
                        .height = objective,
                        .user = p,
                        .series = s->series,
                        .series_count = s->count,
                        .height_inches = 3.2};
    char path[PATH_MAX], message[512];
    run_path(run, name, path);
    if (!figure_surface_write(&f, path, message, sizeof message)) {
        report_error("%s: %s", path, message);
        return false;
    }
    run_figure_add(run, name);
    return true;
}

static bool draw_picture(experiment_run *run, sheet *s, const picture *p, int index) {
    const int numbers[] = {3 + index, 12 + index, 16 + index};
    char titles[3][96], names[3][32];
    for (int i = 0; i < 3; i++) {
        snprintf(titles[i], sizeof titles[i], "Fig. %d: %s", numbers[i], p->what);
        snprintf(names[i], sizeof names[i], "figure_%02d", numbers[i]);
    }
    return draw_contours(run, s, p, &whole, titles[0], names[0]) &&
           draw_surface(run, s, p, titles[1], names[1]) &&
           draw_contours(run, s, p, &near, titles[2], names[2]);
}

bool sphere_draw(experiment_run *run, const sphere_results *results) {
    const sphere_step *relaxed = &results->relaxed.step[1], *anti = &results->anti_relaxed.step[1];
    const sphere_contact *c = &results->relaxed.first;
    const picture pictures[] = {
        {"the DVI (6)–(9), first step", OBJECTIVE_FRICTION, false, 0, c, anti->gamma},
        {"the relaxed DVI (10), first step", OBJECTIVE_FRICTION, true, 0, c, relaxed->gamma},
        {"the relaxed CCQO (14), first step", OBJECTIVE_CONE, true, 0, c, relaxed->gamma},
        {"the anti-relaxed CCQO (15), first step", OBJECTIVE_CONE, false, sphere_mu * fabs(anti->u[1]), c,
         anti->gamma},
    };
    sheet *s = report_allocate(1, sizeof *s);
    bool good = draw_velocities(run, &results->relaxed, "Fig. 2, left: relaxed", "figure_02_relaxed") &&
                draw_velocities(run, &results->anti_relaxed, "Fig. 2, right: anti-relaxed",
                                "figure_02_anti_relaxed") &&
                draw_gap(run, results);
    for (int i = 0; i < 4 && good; i++) good = draw_picture(run, s, &pictures[i], i);
    free(s);
    return good;
}
