/* delassus export: problems and results for other programs. */
#include "cli/commands.h"
#include "cli/support/output_file.h"
#include "cli/support/problem_file.h"
#include "cli/support/report.h"
#include "cli/support/results_file.h"

#include <delassus/fclib.h>
#include <delassus/run.h>

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct export_values {
    const char *matrix_market, *csv, *vtk, *fclib;
    int frame, step;
} export_values;

static const option options[] = {
    OPTION("matrix-market", 'm', OPTION_TEXT, "PREFIX", offsetof(export_values, matrix_market),
           "write PREFIX_W.mtx, PREFIX_q.mtx, PREFIX_mu.mtx and others that a problem needs"),
    OPTION("csv", 0, OPTION_TEXT, "FOLDER", offsetof(export_values, csv),
           "of results: write bodies.csv, contacts.csv and steps.csv"),
    OPTION("vtk", 0, OPTION_TEXT, "FOLDER", offsetof(export_values, vtk),
           "of results: write run.pvd with surfaces and force chains"),
    OPTION("fclib", 0, OPTION_TEXT, "FILE", offsetof(export_values, fclib),
           "of results: write a frame's contact problem and its solution"),
    OPTION("frame", 0, OPTION_INT(0, INT_MAX), "N", offsetof(export_values, frame),
           "which frame of results, from 0 (default: the last)"),
    OPTION("step", 0, OPTION_INT(0, INT_MAX), "N", offsetof(export_values, step),
           "which frame of results, by its step"),
};

/* ---- results ---- */

/* The frame that was asked for; −1 after a line on stderr. */
static int find_frame(const dls_results *results, const char *path, const export_values *v) {
    int count = dls_results_frame_count(results);
    if (count == 0) return report_error("%s: has no frames yet", path), -1;
    if (v->step >= 0) {
        int near = 0;
        for (int k = 0; k < count; k++) {
            if (dls_results_frame_step(results, k) == v->step) return k;
            if (llabs(dls_results_frame_step(results, k) - v->step) <
                llabs(dls_results_frame_step(results, near) - v->step))
                near = k;
        }
        report_error("%s: no frame of step %d, expected one of %d frame%s from step %" PRId64 " to %" PRId64
                     "; the nearest is %" PRId64,
                     path, v->step, count, plural(count), dls_results_frame_step(results, 0),
                     dls_results_frame_step(results, count - 1), dls_results_frame_step(results, near));
        return -1;
    }
    if (v->frame < count) return v->frame >= 0 ? v->frame : count - 1;
    report_error("%s: no frame %d, expected 0 to %d", path, v->frame, count - 1);
    return -1;
}

/* Impulses of the recorded contacts, as the problem's blocks have them. */
static double *frame_impulses(dls_results *results, int frame, const dls_problem *problem, dls_error *error) {
    int count = dls_results_frame_contact_count(results, frame), dimension = dls_results_dimension(results);
    dls_contact_record *contacts = report_allocate((size_t)count + 1, sizeof *contacts);
    double *r = report_allocate((size_t)dls_problem_row_count(problem) + 1, sizeof *r);
    dls_status status = dls_results_frame_contacts(results, frame, contacts, error);
    for (int c = 0, row = 0; c < count && !status; c++)
        row += dls_contact_record_impulses(&contacts[c], dimension, r + row);
    free(contacts);
    if (!status) return r;
    free(r);
    return NULL;
}

static dls_status write_fclib(dls_results *results, int frame, const char *path, const dls_problem *problem,
                              dls_error *error) {
    char title[96];
    double *r = frame_impulses(results, frame, problem, error);
    if (!r) return error->status;
    snprintf(title, sizeof title, "step %" PRId64 ", t = %g s", dls_results_frame_step(results, frame),
             dls_results_frame_time(results, frame));
    dls_fclib_content content = {.problem = problem,
                                 .r = r,
                                 .title = title,
                                 .description = dls_results_title(results),
                                 .math_info = "normal component first; SI units"};
    dls_status status = dls_fclib_write(path, &content, error);
    free(r);
    return status;
}

/* The contact problem of one frame. */
static int export_problem(dls_results *results, const char *path, const export_values *v) {
    int frame = find_frame(results, path, v);
    if (frame < 0) return EXIT_BAD_INPUT;
    if (!dls_results_has_contacts(results))
        return report_error("%s: its contacts were not recorded, expected a run with contacts in its output",
                            path);
    if (dls_results_frame_contact_count(results, frame) == 0)
        return report_error("%s: frame %d (step %" PRId64 ") has no contacts, expected one that has", path,
                            frame, dls_results_frame_step(results, frame));
    dls_error error = {0};
    dls_problem *problem = NULL;
    dls_status status = dls_results_problem(results, frame, &problem, &error);
    if (!status && v->fclib) status = write_fclib(results, frame, v->fclib, problem, &error);
    if (!status && v->fclib)
        printf("%s written: step %" PRId64 ", %d contact%s\n", v->fclib,
               dls_results_frame_step(results, frame), dls_results_frame_contact_count(results, frame),
               plural(dls_results_frame_contact_count(results, frame)));
    if (!status && v->matrix_market) status = problem_write_matrix_market(v->matrix_market, problem, &error);
    dls_problem_destroy(problem);
    return status ? report_error("%s", error.message) : EXIT_DONE;
}

static int export_results(const char *path, const export_values *v) {
    dls_results *results = results_file_open(path);
    dls_error error = {0};
    dls_status status = DLS_OK;
    if (!results) return EXIT_BAD_INPUT;
    int frames = dls_results_frame_count(results);
    if (v->csv) status = dls_results_export_csv(results, v->csv, &error);
    if (v->csv && !status)
        printf("%s: %d frame%s and %" PRId64 " step%s written\n", v->csv, frames, plural(frames),
               dls_results_step_count(results), plural(dls_results_step_count(results)));
    if (v->vtk && !status) {
        status = dls_results_export_vtk(results, v->vtk, &error);
        if (!status) printf("%s/run.pvd: %d frame%s written\n", v->vtk, frames, plural(frames));
    }
    int code = status ? report_error("%s", error.message) : EXIT_DONE;
    if (code == EXIT_DONE && (v->fclib || v->matrix_market)) code = export_problem(results, path, v);
    dls_results_destroy(results);
    return code;
}

/* ---- FCLib files ---- */

static int export_fclib(const char *path, const export_values *v) {
    dls_fclib *file = problem_file_read(path);
    if (!file) return EXIT_BAD_INPUT;
    dls_error error;
    dls_status status = problem_write_matrix_market(v->matrix_market, dls_fclib_problem(file), &error);
    dls_fclib_destroy(file);
    return status ? report_error("%s", error.message) : EXIT_DONE;
}

/* Whatever is written lies apart from what is read. */
static bool check_outputs(const char *path, const export_values *v) {
    const char *ending;
    for (int k = 0; v->matrix_market && (ending = dls_matrix_market_suffix(NULL, k)); k++)
        if (!output_stem_is_apart(v->matrix_market, 1, &ending, path)) return false;
    if (v->csv && !output_folder_is_apart(v->csv, path)) return false;
    if (v->vtk && !output_folder_is_apart(v->vtk, path)) return false;
    return !v->fclib || (output_is_apart(v->fclib, path) && results_file_is_spared(v->fclib));
}

static int run(const text_list *operands, const void *values) {
    const export_values *v = values;
    bool has_frame = v->frame >= 0 || v->step >= 0;
    if (!v->matrix_market && !v->csv && !v->vtk && !v->fclib)
        return report_error("export: no format given, expected --matrix-market PREFIX, --csv FOLDER, "
                            "--vtk FOLDER or --fclib FILE");
    if (v->frame >= 0 && v->step >= 0)
        return report_error("export: --frame and --step are both given, expected one");
    if (has_frame && !v->fclib && !v->matrix_market)
        return report_error("export: --frame and --step go with --fclib or --matrix-market");
    if (!check_outputs(operands->items[0], v)) return EXIT_BAD_INPUT;
    if (v->csv || v->vtk || v->fclib || has_frame) return export_results(operands->items[0], v);
    return export_fclib(operands->items[0], v);
}

static const export_values defaults = {.frame = -1, .step = -1};

const command command_export = {
    .name = "export",
    .summary = "write problems and results for other programs",
    .operands = "FILE",
    .details = "  FILE is an FCLib file, for --matrix-market alone, or the results of a run.\n\n"
               "  delassus export a.hdf5 --matrix-market a\n"
               "  delassus export drum.h5 --vtk drum_vtk --csv drum_csv\n"
               "  delassus export drum.h5 --fclib step100.hdf5 --step 100",
    .least_operands = 1,
    .most_operands = 1,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .defaults = &defaults,
    .values_size = sizeof(export_values),
    .run = run,
};
