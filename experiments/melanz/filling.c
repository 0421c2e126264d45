/* Paper 001, sections 3.2 to 3.4: cases, what is measured in them, and their figures. */
#include "experiments/melanz/filling.h"

#include "cli/support/csv.h"
#include "cli/support/report.h"

#include <delassus/delassus.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double g = 9.81, sphere_mass = 1, slab_mass = 40; /* of the slab: for each sphere of the floor */

const char *const filling_names[FILLING_METHODS] = {"relaxed", "anti-relaxed", "default"};

int filling_count(filling_size size) { return size.nx * size.ny * size.layers; }

/* ---- what a step shows --------------------------------------------------------------------------------- */

static const char *const columns[FILLING_COLUMNS] = {"container_force", "complementarity", "speed"};

static void measure(const dls_simulation *simulation, const dls_step_report *report, double *values,
                    void *user) {
    (void)user;
    const dls_world *world = dls_simulation_world(simulation);
    const dls_body_id container = dls_world_find_body(world, "container");
    double down = 0, worst = 0, fastest = 0;
    for (int i = 0; i < dls_simulation_contact_count(simulation); i++) {
        dls_contact_record c;
        dls_simulation_contact(simulation, i, &c);
        worst = fmax(worst, fabs(c.impulse[0] * c.velocity[0]));
        if (c.body_a != container && c.body_b != container) continue;
        const double side = c.body_a == container ? 1 : -1; /* −r acts on A */
        for (int k = 0; k < 3; k++) down += side * c.impulse[k] * c.frame[3 * k + 2];
    }
    for (int id = 0; id < dls_world_body_count(world); id++) {
        dls_body_state s;
        if (dls_body_motion(world, id) != DLS_DYNAMIC || dls_body_state_get(world, id, &s, NULL)) continue;
        fastest = fmax(fastest, sqrt(s.v[0] * s.v[0] + s.v[1] * s.v[1] + s.v[2] * s.v[2]));
    }
    values[FILLING_FORCE - CASE_COLUMNS] = down * (double)report->step / report->t; /* over h */
    values[FILLING_COMPLEMENTARITY - CASE_COLUMNS] = worst;
    values[FILLING_SPEED - CASE_COLUMNS] = fastest;
}

/* ---- cases --------------------------------------------------------------------------------------------- */

enum {
    SETTING_LENGTH = 48,
    SIZE_SETTINGS = 8,
    METHOD_SETTINGS = 5,
    SETTINGS = SIZE_SETTINGS + METHOD_SETTINGS
};

/* The paper's algorithm: from γ = 0, without scaling, restarts by the gradient alone. It names N_max and
 * gives no value. Both stop by ‖f‖ of (39) against ‖b‖, each of its own problem: the residual of the relaxed
 * one is relative to ‖b‖, and so is residual_full. */
static const char *const method_settings[FILLING_METHODS][METHOD_SETTINGS] = {
    {"solver.name=apgd", "solver.scaled=no", "solver.restart_growth=0", "integrator.warm_start=no",
     "solver.relaxed=yes"},
    {"solver.name=apgd", "solver.scaled=no", "solver.restart_growth=0", "integrator.warm_start=no",
     "solver.measure=residual_full"},
    {NULL}};

filling_runs filling_begin(const char *scene, filling_size size, bool slab, int seed) {
    const double mass = sphere_mass * filling_count(size) + (slab ? slab_mass * size.nx * size.ny : 0);
    return (filling_runs){.scene = scene, .size = size, .seed = seed, .slab = slab, .weight = g * mass};
}

/* How long the paper's methods iterate. Its τ = 1e-5 is for ‖f‖ itself. In these scenes ‖b‖ is mostly gap/h
 * of contacts that are open, 10 to 100 m/s with h = 0.01 s and ten times that with 0.001 s. Its N_max has no
 * value: ours lets compaction, which has eight times the steps, have less. The default solver is asked for
 * what the scene says. */
typedef struct effort {
    const char *tolerance, *most;
} effort;

static effort effort_of(const filling_runs *runs) {
    return runs->slab ? (effort){"1e-7", "1000"} : (effort){"1e-6", "5000"};
}

static int write_size(const filling_runs *runs, filling_method method,
                      char text[SIZE_SETTINGS][SETTING_LENGTH]) {
    int count = 0;
    const effort most = effort_of(runs);
    if (method != FILLING_DEFAULT) {
        snprintf(text[count++], SETTING_LENGTH, "solver.tolerance=%s", most.tolerance);
        snprintf(text[count++], SETTING_LENGTH, "solver.max_iterations=%s", most.most);
    }
    snprintf(text[count++], SETTING_LENGTH, "variables.nx=%d", runs->size.nx);
    snprintf(text[count++], SETTING_LENGTH, "variables.ny=%d", runs->size.ny);
    snprintf(text[count++], SETTING_LENGTH, "variables.layers=%d", runs->size.layers);
    snprintf(text[count++], SETTING_LENGTH, "variables.seed=%d", runs->seed);
    if (runs->slab)
        snprintf(text[count++], SETTING_LENGTH, "variables.slab=%g",
                 slab_mass * runs->size.nx * runs->size.ny);
    if (runs->until > 0) snprintf(text[count++], SETTING_LENGTH, "time.until=%g", runs->until);
    return count;
}

double filling_limit(const experiment_run *run, filling_method method) {
    return run->size == SIZE_FULL && method != FILLING_DEFAULT ? 20 * 60 : 0;
}

/* Figs. 7 and 9 show a run over time, by which method is not said; the default solver's comes to its end. */
static case_shots shots_of(const filling_runs *runs, filling_method method) {
    const bool drawn = *runs->picture && runs->seed == 1 && method == FILLING_DEFAULT;
    return (case_shots){drawn ? runs->picture : NULL, "front", runs->shot_interval};
}

bool filling_run(experiment_run *run, filling_runs *runs, filling_method method) {
    char name[EXPERIMENT_NAME], text[SIZE_SETTINGS][SETTING_LENGTH];
    const char *settings[SETTINGS];
    int count = write_size(runs, method, text);
    for (int i = 0; i < count; i++) settings[i] = text[i];
    for (int i = 0; i < METHOD_SETTINGS && method_settings[method][i]; i++)
        settings[count++] = method_settings[method][i];
    const char *name_of_method = filling_names[method];
    if (runs->seed == 1)
        snprintf(name, sizeof name, "%s-%d", name_of_method, filling_count(runs->size));
    else
        snprintf(name, sizeof name, "%s-%d-seed-%d", name_of_method, filling_count(runs->size), runs->seed);
    const case_def def = {.name = name,
                          .scene = runs->scene,
                          .setting_count = count,
                          .settings = settings,
                          .most_seconds = filling_limit(run, method),
                          .column_count = FILLING_COLUMNS,
                          .columns = columns,
                          .measure = measure,
                          .shots = shots_of(runs, method)};
    return case_run(run, &def, &runs->history[method]);
}

void filling_free(filling_runs *runs) {
    for (int m = 0; m < FILLING_METHODS; m++) case_history_free(&runs->history[m]);
}

/* ---- what a history says ------------------------------------------------------------------------------- */

static const double band = 0.05;  /* of the weight */
static const double window = 0.1; /* s */

double filling_end(const case_history *h) { return h->steps ? case_value(h, h->steps - 1, CASE_T) : 0; }

/* The force of an impact is its impulse over h: only a mean over time does not depend on h. */
static double mean_force(const case_history *h, int last) {
    const double from = case_value(h, last, CASE_T) - window * (1 - 1e-9);
    double sum = 0;
    int k = last;
    for (; k >= 0 && case_value(h, k, CASE_T) > from; k--) sum += case_value(h, k, FILLING_FORCE);
    return sum / (last - k);
}

double filling_settled(const case_history *h, double weight) {
    int last = h->steps - 1;
    while (last >= 0 && fabs(mean_force(h, last) - weight) <= band * weight) last--;
    return last == h->steps - 1 ? (double)INFINITY : last < 0 ? 0 : case_value(h, last, CASE_T);
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double filling_noise(const case_history *h, double weight, double span) {
    double *off = report_allocate((size_t)h->steps + 1, sizeof *off);
    int count = 0;
    for (int k = h->steps - 1; k >= 0 && case_value(h, k, CASE_T) > filling_end(h) - span; k--)
        off[count++] = fabs(case_value(h, k, FILLING_FORCE) / weight - 1);
    qsort(off, (size_t)count, sizeof *off, ascending);
    const double median = count ? off[count / 2] : (double)NAN;
    free(off);
    return median;
}

/* ---- the table ----------------------------------------------------------------------------------------- */

static void write_row(FILE *file, const filling_runs *runs, filling_method method) {
    const case_history *h = &runs->history[method];
    const double end = filling_end(h);
    fprintf(file, "%d,%d,%s,%s", filling_count(runs->size), runs->seed, filling_names[method],
            h->finished ? "yes" : "no");
    csv_real(file, end);
    csv_real(file, case_sum(h, CASE_SECONDS, 0, end));
    csv_real(file, case_mean(h, CASE_ACTIVE, 0, end));
    csv_real(file, case_mean(h, CASE_ITERATIONS, 0, end));
    csv_real(file, case_mean(h, CASE_CERTIFIED, 0, end));
    csv_real(file, case_largest(h, CASE_RESIDUAL, 0, end));
    csv_real(file, case_largest(h, FILLING_COMPLEMENTARITY, 0, end));
    csv_real(file, case_mean(h, FILLING_COMPLEMENTARITY, 0, end));
    csv_real(file, case_largest(h, CASE_PENETRATION, 0, end));
    csv_real(file, filling_settled(h, runs->weight));
    csv_real(file, filling_noise(h, runs->weight, 1));
    csv_real(file, case_value(h, h->steps - 1, FILLING_SPEED));
    fputc('\n', file);
}

bool filling_table(experiment_run *run, const filling_runs *runs, int count) {
    output_file out;
    if (!run_table_open(run, "cases", &out)) return false;
    fputs("spheres,seed,method,finished,end_s,seconds,contacts,iterations,certified,worst_residual,"
          "largest_complementarity_J,mean_complementarity_J,penetration_m,settled_s,noise,last_speed_m_s\n",
          out.stream);
    for (int i = 0; i < count; i++)
        for (filling_method m = 0; m < FILLING_METHODS; m++)
            if (runs[i].history[m].steps) write_row(out.stream, &runs[i], m);
    return output_file_commit(&out);
}

/* ---- figures ------------------------------------------------------------------------------------------- */

static const double most_weights = 3;
enum { MOST_POINTS = 500 }; /* of a line; a point stands for several steps where there are more */

typedef struct history_figure {
    const char *suffix, *title, *label;
    int column;
    figure_scale scale;
    bool weighed; /* divided by the weight, and cut where impacts go far beyond it */
    bool largest; /* of several steps the largest, else their mean */
} history_figure;

static const history_figure drawings[] = {
    {"force", "Force on the container", "force over weight", FILLING_FORCE, FIGURE_LINEAR, true, false},
    {"complementarity", "Error of complementarity (8)", "|γ_{n}(Φ/h + u_{n})|, J", FILLING_COMPLEMENTARITY,
     FIGURE_LOG, false, true},
    {"iterations", "Iterations of each step", "iterations", CASE_ITERATIONS, FIGURE_LOG, false, false},
    {"speed", "The fastest body", "speed, m/s", FILLING_SPEED, FIGURE_LOG, false, false},
};

static int steps_per_point(const filling_runs *runs) {
    int most = 1;
    for (int m = 0; m < FILLING_METHODS; m++)
        if (runs->history[m].steps > most) most = runs->history[m].steps;
    return (most + MOST_POINTS - 1) / MOST_POINTS;
}

/* What `steps` steps from `first` on show. */
static double point_value(const case_history *h, const history_figure *d, int first, int steps) {
    double sum = 0, largest = -(double)INFINITY;
    for (int k = first; k < first + steps; k++) {
        sum += case_value(h, k, d->column);
        largest = fmax(largest, case_value(h, k, d->column));
    }
    return d->largest ? largest : sum / steps;
}

/* t and values of every history, in one block that the caller frees. */
static double *gather(const filling_runs *runs, const history_figure *d,
                      figure_series series[FILLING_METHODS]) {
    const int each = steps_per_point(runs);
    double *block = report_allocate(2 * FILLING_METHODS * MOST_POINTS, sizeof *block);
    for (int m = 0; m < FILLING_METHODS; m++) {
        const case_history *h = &runs->history[m];
        double *x = block + 2 * m * MOST_POINTS, *y = x + MOST_POINTS;
        const int points = h->steps / each;
        for (int i = 0; i < points; i++) {
            x[i] = case_value(h, (i + 1) * each - 1, CASE_T);
            y[i] = point_value(h, d, i * each, each) / (d->weighed ? runs->weight : 1);
        }
        series[m] = (figure_series){filling_names[m], x, y, (size_t)points, FIGURE_PLAIN, (unsigned)m + 1};
    }
    return block;
}

bool filling_draw(experiment_run *run, const filling_runs *runs, const char *name) {
    const int each = steps_per_point(runs);
    bool good = true;
    for (size_t i = 0; i < sizeof drawings / sizeof *drawings && good; i++) {
        const history_figure *d = &drawings[i];
        char file[EXPERIMENT_NAME], title[128], label[128];
        figure_series series[FILLING_METHODS];
        double *block = gather(runs, d, series);
        const figure_mark weight = {NULL, true, 1};
        snprintf(file, sizeof file, "%s-%s", name, d->suffix);
        snprintf(title, sizeof title, "%s, %d spheres", d->title, filling_count(runs->size));
        snprintf(label, sizeof label, "%s", d->label);
        if (each > 1)
            snprintf(label, sizeof label, "%s (%s of %d steps)", d->label, d->largest ? "largest" : "mean",
                     each);
        const figure f = {.title = title,
                          .x = {"time, s", FIGURE_LINEAR, 0, filling_end(&runs->history[FILLING_DEFAULT])},
                          .y = {label, d->scale, 0, d->weighed ? most_weights : 0},
                          .series = series,
                          .series_count = FILLING_METHODS,
                          .marks = &weight,
                          .mark_count = d->weighed ? 1 : 0};
        good = run_figure(run, &f, file);
        free(block);
    }
    return good;
}
