/* What the experiments of paper 002 share. */
#include "experiments/abide/abide.h"

#include "cli/support/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct method_row {
    const char *name, *key;
    const char *law;  /* of nlgs */
    bool has_gamma;   /* else it has ρ */
    int newton_steps; /* per visit; 0: as the law has them */
} method_row;

/* The paper's IBP is the bipotential method with one Newton step per visit (its remark 3). */
static const method_row methods[ABIDE_EVERY] = {
    {"EPDAS", "epdas", "epdas", true, 0}, {"IPDAS", "ipdas", "ipdas", true, 0},
    {"SAL", "sal", "sal", false, 0},      {"IBP", "ibp", "ebp", false, 1},
    {"auto", "auto", NULL, false, 0},     {"auto (closed)", "auto-closed", NULL, false, 0},
};

const char *abide_name(int method) { return methods[method].name; }
const char *abide_key(int method) { return methods[method].key; }

/* ---- settings ------------------------------------------------------------------------------------------ */

void abide_set(abide_settings *s, const char *format, ...) {
    va_list arguments;
    if (s->count == ABIDE_MOST_SETTINGS) exit(report_error("reproduce: too many settings of a case"));
    va_start(arguments, format);
    vsnprintf(s->text[s->count], sizeof s->text[0], format, arguments);
    va_end(arguments);
    for (int i = 0; i <= s->count; i++) s->list[i] = s->text[i];
    s->count++;
}

void abide_choose(abide_settings *s, int method, const abide_parameters *p) {
    static const char *const sweeps[] = {"solver.measure=increment", "solver.acceleration=plain",
                                         "solver.order=natural",     "solver.adapt=no",
                                         "solver.stall_sweeps=0",    "integrator.warm_start=no"};
    const method_row *m = &methods[method];
    if (method != ABIDE_OURS) abide_set(s, "integrator.restitution=formal");
    if (!m->law) return;
    abide_set(s, "solver.name=nlgs");
    abide_set(s, "solver.law=%s", m->law);
    for (size_t i = 0; i < sizeof sweeps / sizeof *sweeps; i++) abide_set(s, "%s", sweeps[i]);
    abide_set(s, "solver.tolerance=%s", p->increment);
    if (m->newton_steps) abide_set(s, "solver.local_iterations=%d", m->newton_steps);
    if (m->has_gamma) {
        abide_set(s, "solver.pdas_compare=old");
        if (p->gamma_n) abide_set(s, "solver.gamma_n=%s", p->gamma_n);
        if (p->gamma_t) abide_set(s, "solver.gamma_t=%s", p->gamma_t);
    } else if (p->rho) {
        abide_set(s, "solver.rho=%s", p->rho);
    } else {
        abide_set(s, "solver.rho_scale=%.17g", p->rho_scale);
    }
}

/* ---- orders -------------------------------------------------------------------------------------------- */

static double mean_of(const double *values, int count) {
    double sum = 0;
    for (int k = 0; k < count; k++) sum += values[k];
    return sum / count;
}

static void claim_three(claim_list *list, const char *text, const char *unit, const char *reason,
                        const double *paper, const abide_costs *ours, int seeds) {
    double pdas[EXPERIMENT_MOST_SEEDS];
    const double *ibp = ours->of[ABIDE_IBP], *sal = ours->of[ABIDE_SAL];
    for (int k = 0; k < seeds; k++) pdas[k] = (ours->of[ABIDE_EPDAS][k] + ours->of[ABIDE_IPDAS][k]) / 2;
    const contender contenders[] = {
        {"PDAS", (paper[ABIDE_EPDAS] + paper[ABIDE_IPDAS]) / 2, mean_of(pdas, seeds)},
        {"IBP", paper[ABIDE_IBP], mean_of(ibp, seeds)},
        {"SAL", paper[ABIDE_SAL], mean_of(sal, seeds)}};
    const double *const each[] = {pdas, ibp, sal};
    claim_order_seeds(list, text, unit, reason, contenders, 3, each, seeds);
}

void abide_claim_times(claim_list *list, const char *text, const double paper[ABIDE_METHODS],
                       const abide_costs *ours, int seeds) {
    claim_three(list, text, "s", "seconds of another machine and program", paper, ours, seeds);
}

void abide_claim_sweeps(claim_list *list, const char *text, const double paper[ABIDE_METHODS],
                        const abide_costs *ours, int seeds) {
    claim_three(list, text, "1", "counts that depend on the implementation and on where bodies start", paper,
                ours, seeds);
}

void abide_claim_growth(claim_list *list, const char *text, const double paper[ABIDE_METHODS],
                        const abide_costs *ours, int seeds) {
    claim_three(list, text, "1", "of seconds of another machine and program", paper, ours, seeds);
}

/* ---- histories ------------------------------------------------------------------------------------------
 */

/* The last row may not be whole. */
double abide_undisturbed(const case_history *h, int own_column) {
    double least = (double)INFINITY;
    for (int row = 0; row < h->steps - 1; row++)
        least = fmin(least, case_value(h, row, CASE_COLUMNS + own_column));
    return least * h->steps;
}

void abide_curve(const case_history *h, int column, bool cumulative, double **x, double **y) {
    double sum = 0;
    *x = report_allocate((size_t)h->steps + 1, sizeof **x);
    *y = report_allocate((size_t)h->steps + 1, sizeof **y);
    for (int k = 0; k < h->steps; k++) {
        double value = case_value(h, k, column);
        sum += value;
        (*x)[k] = case_value(h, k, CASE_T);
        (*y)[k] = cumulative ? sum : value;
    }
}
