/* What is told: tables for people, JSON. */
#include "cli/support/table.h"
#include "cli/converge/converge.h"
#include "cli/support/json.h"
#include "cli/support/machine.h"
#include "cli/support/report.h"

#include <delassus/delassus.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static report_colour colour_of(converge_verdict v) {
    return v == CONVERGE_UNSETTLED ? COLOUR_BAD : v == CONVERGE_CHAOTIC ? COLOUR_STRONG : COLOUR_GOOD;
}

static void number_cell(table *t, const char *format, double value) {
    if (isnan(value))
        table_cell(t, COLOUR_FAINT, "–");
    else
        table_cell(t, COLOUR_NONE, format, value); /* NOLINT */
}

static void level_name(int level, char text[16]) {
    if (level == 0)
        snprintf(text, 16, "h");
    else
        snprintf(text, 16, "h/%d", 1 << level);
}

static void print_rows(const convergence *c) {
    int changes = c->levels - 1;
    table *t = table_create(7 + changes);
    char a[16], b[16];
    table_align_left(t, 6 + changes);
    table_cell(t, COLOUR_STRONG, "quantity");
    table_cell(t, COLOUR_STRONG, "unit");
    for (int k = 0; k < changes; k++) {
        level_name(k, a), level_name(k + 1, b);
        table_cell(t, COLOUR_STRONG, "%s to %s", a, b);
    }
    table_cell(t, COLOUR_STRONG, "order");
    table_cell(t, COLOUR_STRONG, "tolerance");
    table_cell(t, COLOUR_STRONG, "error");
    table_cell(t, COLOUR_STRONG, "at the end");
    table_cell(t, COLOUR_STRONG, "verdict");
    for (int i = 0; i < c->row_count; i++) {
        const convergence_row *r = &c->rows[i];
        table_cell(t, COLOUR_NONE, "%s", r->of->name);
        table_cell(t, COLOUR_FAINT, "%s", r->of->unit);
        for (int k = 0; k < changes; k++) table_cell(t, COLOUR_NONE, "%.2e", r->change[k]);
        number_cell(t, "%.2f", r->verdict == CONVERGE_EXACT ? (double)NAN : r->order[changes - 2]);
        table_cell(t, COLOUR_FAINT, "%.1e", r->tolerance);
        number_cell(t, "%.1e", r->error);
        if (isnan(r->end_error))
            table_cell(t, COLOUR_NONE, "%.6g", r->end);
        else
            table_cell(t, COLOUR_NONE, "%.6g ± %.1e", r->end, r->end_error);
        table_cell(t, colour_of(r->verdict), "%s", converge_verdict_name(r->verdict));
    }
    table_print(t);
}

static const char *decision_name(dls_decision d) {
    static const char *const names[] = {"same", "differs", "undecided"};
    return names[d];
}

static void print_means(const convergence *c) {
    char name[16];
    table *t = table_create(2 + 2 * c->levels - 1);
    printf(
        "\nmeans of the second half of the run over %d seeds, 95 %%; verdicts: the difference to the finest "
        "step within %g %% of the range\n\n",
        c->seeds, 100 * c->margin);
    table_cell(t, COLOUR_STRONG, "quantity");
    table_cell(t, COLOUR_STRONG, "unit");
    for (int k = 0; k < c->levels; k++) {
        level_name(k, name);
        table_cell(t, COLOUR_STRONG, "%s", name);
        if (k + 1 < c->levels) table_cell(t, COLOUR_STRONG, "verdict");
    }
    for (int i = 0; i < c->mean_count; i++) {
        const convergence_means *m = &c->means[i];
        table_cell(t, COLOUR_NONE, "%s", m->of->name);
        table_cell(t, COLOUR_FAINT, "%s", m->of->unit);
        for (int k = 0; k < c->levels; k++) {
            table_cell(t, COLOUR_NONE, "%.5g ± %.2g", m->at[k].mean, m->at[k].half);
            if (k + 1 < c->levels)
                table_cell(t,
                           m->decision[k] == DLS_WITHIN   ? COLOUR_GOOD
                           : m->decision[k] == DLS_BEYOND ? COLOUR_BAD
                                                          : COLOUR_FAINT,
                           "%s", decision_name(m->decision[k]));
        }
    }
    table_print(t);
}

static void print_verdict(const convergence *c) {
    int count[CONVERGE_VERDICTS] = {0};
    for (int i = 0; i < c->row_count; i++) count[c->rows[i].verdict]++;
    putchar('\n');
    for (int k = 0; k < CONVERGE_VERDICTS; k++)
        printf("%s%d %s", k ? ", " : "", count[k], converge_verdict_name((converge_verdict)k));
    putchar('\n');
    if (isfinite(c->growth) && c->growth > 0)
        printf("disturbances of %.1e m/s grew to at most %.3g times what free flight makes of them\n",
               c->disturbance, c->growth);
    if (isnan(c->growth) && !c->means)
        printf(
            "bodies come and go: whether the scene is chaotic is not measured; --seeds 5 compares means\n");
    if (c->chaotic && !c->means)
        printf("the scene is chaotic: single runs cannot be compared, means of several can: --seeds 5\n");
    if (count[CONVERGE_IRREGULAR])
        printf("irregular: changes shrink by no steady order, as where impacts fall anywhere within a step; "
               "the error\nis what the largest of them promises at first order\n");
    if (count[CONVERGE_UNSETTLED])
        printf("unsettled: no order is seen at these steps; try a shorter --step or more --levels\n");
    if (count[CONVERGE_TOLERANCE])
        printf("tolerance: the solver's tolerance of %g matters as much as the finest step; a tighter one "
               "(--tol) shows more\n",
               c->tolerance);
}

static void warn_uncertified(const convergence *c) {
    for (int k = 0; k < c->levels; k++)
        if (c->level[k].certified < c->level[k].steps)
            report_warning("at h = %g s %" PRId64 " of %" PRId64 " steps missed the tolerance",
                           ldexp(c->step, -k), c->level[k].steps - c->level[k].certified, c->level[k].steps);
}

void converge_print(const convergence *c) {
    printf("%s: h = %g s and %d halvings, compared %d times up to t = %g s; tolerance %g\n", c->path, c->step,
           c->levels - 1, c->samples, c->step * c->stride * c->samples, c->tolerance);
    printf("mean change over the run from one step to the next, its order, what a tolerance of %g changes, "
           "and the\nerror that is left at the finest step (Richardson)\n\n",
           0.01 * c->tolerance);
    print_rows(c);
    if (c->means) print_means(c);
    print_verdict(c);
    fflush(stdout);
    warn_uncertified(c);
}

/* ---- JSON ---- */

static void row_to_json(json *j, const convergence *c, const convergence_row *r) {
    json_object_begin(j);
    json_member_text(j, "quantity", r->of->name);
    json_member_text(j, "unit", r->of->unit);
    json_key(j, "changes");
    json_array_begin(j);
    for (int k = 0; k + 1 < c->levels; k++) json_real(j, r->change[k]);
    json_array_end(j);
    json_key(j, "orders");
    json_array_begin(j);
    for (int k = 0; k + 2 < c->levels; k++) json_real(j, r->order[k]);
    json_array_end(j);
    json_member_real(j, "tolerance", r->tolerance);
    json_member_real(j, "disturbed", r->disturbed);
    json_member_real(j, "error", r->error);
    json_member_real(j, "end", r->end);
    json_member_real(j, "end_error", r->end_error);
    json_member_real(j, "limit", r->limit);
    json_member_text(j, "verdict", converge_verdict_name(r->verdict));
    json_object_end(j);
}

static void means_to_json(json *j, const convergence *c, const convergence_means *m) {
    json_object_begin(j);
    json_member_text(j, "quantity", m->of->name);
    json_member_text(j, "unit", m->of->unit);
    json_member_real(j, "range", m->range);
    json_key(j, "levels");
    json_array_begin(j);
    for (int k = 0; k < c->levels; k++) {
        json_object_begin(j);
        json_member_real(j, "mean", m->at[k].mean);
        json_member_real(j, "half", m->at[k].half);
        if (k + 1 < c->levels) {
            json_member_real(j, "difference", m->apart[k].mean);
            json_member_real(j, "difference_half", m->apart[k].half);
            json_member_text(j, "verdict", decision_name(m->decision[k]));
        }
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

static void runs_to_json(json *j, const convergence *c) {
    json_key(j, "runs");
    json_array_begin(j);
    for (int k = 0; k < c->levels; k++) {
        json_object_begin(j);
        json_member_real(j, "step", ldexp(c->step, -k));
        json_member_integer(j, "steps", c->level[k].steps);
        json_member_integer(j, "certified", c->level[k].certified);
        json_member_real(j, "seconds", c->level[k].seconds);
        json_object_end(j);
    }
    json_array_end(j);
}

void converge_to_json(const convergence *c, FILE *file) {
    json j = json_begin(file, true);
    json_object_begin(&j);
    json_member_text(&j, "version", dls_version());
    json_member_text(&j, "scene", c->path);
    json_member_real(&j, "step", c->step);
    json_member_integer(&j, "levels", c->levels);
    json_member_integer(&j, "samples", c->samples);
    json_member_real(&j, "until", c->step * c->stride * c->samples);
    json_member_real(&j, "tolerance", c->tolerance);
    json_member_real(&j, "disturbance", c->disturbance);
    json_member_real(&j, "growth", c->growth);
    json_member_bool(&j, "chaotic", c->chaotic);
    json_member_bool(&j, "settled", converge_settled(c));
    runs_to_json(&j, c);
    json_key(&j, "quantities");
    json_array_begin(&j);
    for (int i = 0; i < c->row_count; i++) row_to_json(&j, c, &c->rows[i]);
    json_array_end(&j);
    json_member_integer(&j, "seeds", c->means ? c->seeds : 0);
    json_key(&j, "means");
    json_array_begin(&j);
    for (int i = 0; i < c->mean_count; i++) means_to_json(&j, c, &c->means[i]);
    json_array_end(&j);
    json_key(&j, "machine");
    machine_to_json(&j);
    json_object_end(&j);
    json_end(&j);
}
