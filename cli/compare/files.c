/* All results as CSV and JSON. */
#include "cli/compare/compare.h"
#include "cli/solve/measure_list.h"
#include "cli/support/csv.h"
#include "cli/support/machine.h"
#include "cli/support/output_file.h"
#include "cli/support/report.h"

#include <limits.h>
#include <math.h>

/* ---- CSV ---------------------------------------------------------------------------------------------- */

static void write_result_row(FILE *file, const comparison *c, int t, int p, int s) {
    const compare_result *result = comparison_result(c, t, p, s);
    bool done = result->end == WORKER_DONE && !*result->message;
    dls_put_csv(file, c->problems[p].path);
    fprintf(file, ",%d,%d,", c->problems[p].probe.contacts, c->problems[p].probe.rows);
    dls_put_csv(file, c->solvers[s].label);
    fprintf(file, ",%s,%d,%s", c->tolerances[t].text, result->solved, compare_outcome(result));
    fprintf(file, ",%d,%d", result->iterations, result->repeats);
    csv_real(file, done ? result->seconds : nan(""));
    csv_real(file, done ? result->cpu_seconds : nan(""));
    csv_real(file, compare_ratio(c, t, p, s));
    for (int i = 0; i < measure_row_count; i++)
        csv_real(file, done ? measure_value(&measure_rows[i], &result->measures) : nan(""));
    fputc('\n', file);
}

static void write_results(const comparison *c, FILE *file) {
    fputs("file,contacts,rows,solver,tolerance,solved,outcome,iterations,repeats,seconds,cpu_seconds,ratio",
          file);
    for (int i = 0; i < measure_row_count; i++) fprintf(file, ",%s", measure_rows[i].key);
    fputc('\n', file);
    for (int t = 0; t < c->tolerance_count; t++)
        for (int p = 0; p < c->problem_count; p++)
            for (int s = 0; s < c->solver_count; s++) write_result_row(file, c, t, p, s);
}

static void write_curves(const comparison *c, FILE *file) {
    fputs("file,solver,iteration,seconds,residual,processor_seconds\n", file);
    for (int p = 0; p < c->problem_count; p++)
        for (int s = 0; s < c->solver_count; s++) {
            const compare_curve *curve = comparison_curve(c, p, s);
            for (int i = 0; i < curve->count; i++) {
                dls_put_csv(file, c->problems[p].path);
                fputc(',', file);
                dls_put_csv(file, c->solvers[s].label);
                fprintf(file, ",%d", curve->points[i].iteration);
                csv_real(file, curve->points[i].seconds);
                csv_real(file, curve->points[i].residual);
                csv_real(file, compare_curve_time(c, p, s, i));
                fputc('\n', file);
            }
        }
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static void problems_to_json(json *j, const comparison *c) {
    json_key(j, "problems");
    json_array_begin(j);
    for (int p = 0; p < c->problem_count; p++) {
        json_object_begin(j);
        json_member_text(j, "file", c->problems[p].path);
        json_member_text(j, "name", c->problems[p].name);
        json_member_integer(j, "contacts", c->problems[p].probe.contacts);
        json_member_integer(j, "blocks", c->problems[p].probe.blocks);
        json_member_integer(j, "rows", c->problems[p].probe.rows);
        json_object_end(j);
    }
    json_array_end(j);
}

static void result_to_json(json *j, const comparison *c, int t, int p, int s) {
    const compare_result *result = comparison_result(c, t, p, s);
    json_object_begin(j);
    json_member_text(j, "file", c->problems[p].path);
    json_member_text(j, "solver", c->solvers[s].label);
    json_member_real(j, "tolerance", c->tolerances[t].value);
    json_member_bool(j, "solved", result->solved);
    json_member_text(j, "outcome", compare_outcome(result));
    if (*result->message) json_member_text(j, "message", result->message);
    if (result->signal) json_member_integer(j, "signal", result->signal);
    if (result->end == WORKER_DONE && !*result->message) {
        json_member_integer(j, "iterations", result->iterations);
        json_member_integer(j, "repeats", result->repeats);
        json_member_real(j, "seconds", result->seconds);
        json_member_real(j, "cpu_seconds", result->cpu_seconds);
        json_member_real(j, "ratio", compare_ratio(c, t, p, s));
        json_key(j, "measures");
        measures_to_json(j, &result->measures);
    }
    json_object_end(j);
}

static void results_to_json(json *j, const comparison *c) {
    json_key(j, "results");
    json_array_begin(j);
    for (int t = 0; t < c->tolerance_count; t++)
        for (int p = 0; p < c->problem_count; p++)
            for (int s = 0; s < c->solver_count; s++) result_to_json(j, c, t, p, s);
    json_array_end(j);
}

static void scores_to_json(json *j, const comparison *c) {
    json_key(j, "scores");
    json_array_begin(j);
    for (int t = 0; t < c->tolerance_count; t++)
        for (int s = 0; s < c->solver_count; s++) {
            compare_score score = compare_solver_score(c, t, s);
            json_object_begin(j);
            json_member_text(j, "solver", c->solvers[s].label);
            json_member_real(j, "tolerance", c->tolerances[t].value);
            json_member_integer(j, "solved", score.solved);
            json_member_integer(j, "fastest", score.fastest);
            json_member_real(j, "mean_ratio", score.mean_ratio);
            json_object_end(j);
        }
    json_array_end(j);
}

void comparison_to_json(const comparison *c, FILE *file) {
    json j = json_begin(file, true);
    json_object_begin(&j);
    json_member_text(&j, "version", dls_version());
    json_key(&j, "machine");
    machine_to_json(&j);
    json_member_bool(&j, "complete", c->complete);
    json_member_real(&j, "time_limit", c->time_limit);
    json_member_integer(&j, "threads", c->threads);
    json_member_integer(&j, "jobs", c->jobs);
    json_member_real(&j, "time_floor", COMPARE_TIME_FLOOR);
    problems_to_json(&j, c);
    scores_to_json(&j, c);
    results_to_json(&j, c);
    json_object_end(&j);
    json_end(&j);
}

/* ---- the files ----------------------------------------------------------------------------------------- */

static bool write_one(const comparison *c, const char *folder, const char *name,
                      void (*write)(const comparison *c, FILE *file)) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    output_file out;
    if (!output_file_open(&out, path)) return false;
    write(c, out.stream);
    return output_file_commit(&out);
}

bool comparison_write(const comparison *c, const char *folder) {
    return write_one(c, folder, "comparison.csv", write_results) &&
           write_one(c, folder, "comparison.json", comparison_to_json) &&
           (!c->curves || write_one(c, folder, "curves.csv", write_curves));
}
