/* What there is to say about a run, from its results alone. */
#include "cli/figure/figure.h"
#include "cli/picture/shot.h"
#include "cli/report/report_page.h"
#include "cli/support/report.h"
#include "cli/support/results_file.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- facts ---- */

static void put_fact(FILE *stream, const char *name, const char *value) {
    fputs("<tr><th>", stream);
    dls_put_xml(stream, name);
    fputs("</th><td>", stream);
    dls_put_xml(stream, value);
    fputs("</td></tr>\n", stream);
}

static void put_number(FILE *stream, const char *name, double value, const char *unit) {
    char text[64];
    snprintf(text, sizeof text, "%.5g%s%s", value, *unit ? " " : "", unit);
    put_fact(stream, name, isnan(value) ? "unknown" : text);
}

/* The steps' own sums, so that a run that goes on or was killed has them too. */
static void put_facts(FILE *stream, dls_results *results, const dls_step_report *steps, int64_t count) {
    double residual = 0, error = 0, held = NAN, penetration = 0, seconds = 0;
    int64_t certified = 0;
    char text[64];
    for (int64_t k = 0; k < count; k++) {
        residual = fmax(residual, steps[k].residual);
        error = fmax(error, steps[k].max_error);
        held = fmax(held, steps[k].held);
        penetration = fmax(penetration, steps[k].penetration);
        seconds += steps[k].seconds;
        certified += steps[k].certified;
    }
    fputs("<table>\n", stream);
    put_fact(stream, "solver", dls_results_solver(results));
    put_number(stream, "tolerance", dls_results_tolerance(results), "");
    put_number(stream, "bodies", dls_results_body_count(results), "");
    put_number(stream, "joints", dls_results_joint_count(results), "");
    put_number(stream, "frames", dls_results_frame_count(results), "");
    snprintf(text, sizeof text, "%lld of %lld", (long long)certified, (long long)count);
    put_fact(stream, "certified steps", text);
    put_number(stream, "worst residual", residual, "");
    put_number(stream, "worst error of a contact", error, "m/s");
    put_number(stream, "worst held", held, "");
    put_number(stream, "deepest penetration", penetration, "m");
    if (count) {
        const dls_energy *e = &steps[count - 1].energy;
        put_number(stream, "time", steps[count - 1].t, "s");
        put_number(stream, "kinetic energy at its end", e->kinetic, "J");
        put_number(stream, "dissipated", e->friction + e->impact + e->turning + e->joints + e->damping, "J");
        put_number(stream, "work of drives and motors", e->work + e->motors, "J");
        put_number(stream, "unaccounted", e->unaccounted, "J");
    }
    put_number(stream, "computed in", seconds, "s");
    put_fact(stream, "came to its end", dls_results_finished(results, NULL) ? "yes" : "no");
    fputs("</table>\n", stream);
}

/* ---- figures ---- */

enum { COLUMNS = 7 }; /* time, kinetic, potential, dissipated, residual, contacts, penetration */

static void take_columns(const dls_step_report *steps, int64_t count, double *column[COLUMNS]) {
    for (int64_t k = 0; k < count; k++) {
        const dls_energy *e = &steps[k].energy;
        const double row[COLUMNS] = {steps[k].t,
                                     e->kinetic,
                                     e->potential + e->spring + e->strain,
                                     e->friction + e->impact + e->turning + e->joints + e->damping,
                                     steps[k].residual,
                                     steps[k].contacts,
                                     steps[k].penetration};
        for (int c = 0; c < COLUMNS; c++) column[c][k] = row[c];
    }
}

enum { STEM_SIZE = 520 };

/* A figure made aside in the folder, taken into the page, and removed. */
static bool add_made(FILE *stream, const char *stem, const char *name) {
    char path[STEM_SIZE + 8];
    snprintf(path, sizeof path, "%s.svg", stem);
    bool good = report_add_figure(stream, path, name);
    unlink(path);
    snprintf(path, sizeof path, "%s.png", stem);
    unlink(path);
    return good;
}

static bool add_curves(FILE *stream, const char *stem, const char *title, const char *label,
                       figure_scale scale, const figure_series *series, size_t count) {
    char message[512];
    figure f = {.x = {.label = "time, s"},
                .y = {.label = label, .scale = scale},
                .series = series,
                .series_count = count,
                .width_inches = FIGURE_PAGE_WIDTH};
    if (figure_write(&f, stem, message, sizeof message)) return add_made(stream, stem, title);
    report_error("report: %s", message);
    return false;
}

static bool add_plots(FILE *stream, const char *stem, const dls_step_report *steps, int64_t count) {
    double *column[COLUMNS];
    for (int c = 0; c < COLUMNS; c++) column[c] = report_allocate((size_t)count + 1, sizeof(double));
    take_columns(steps, count, column);
    figure_series s[COLUMNS];
    static const char *const names[COLUMNS] = {"", "kinetic", "potential", "dissipated", NULL, NULL, NULL};
    for (int c = 0; c < COLUMNS; c++)
        s[c] = (figure_series){
            .name = names[c], .x = column[0], .y = column[c], .count = (size_t)count, .style = FIGURE_PLAIN};
    bool good = add_curves(stream, stem, "Energies", "energy, J", FIGURE_LINEAR, &s[1], 3) &&
                add_curves(stream, stem, "Residual of each step", "residual", FIGURE_LOG, &s[4], 1) &&
                add_curves(stream, stem, "Contacts of each step", "contacts", FIGURE_LINEAR, &s[5], 1) &&
                add_curves(stream, stem, "Deepest penetration of each step", "penetration, m", FIGURE_LINEAR,
                           &s[6], 1);
    for (int c = 0; c < COLUMNS; c++) free(column[c]);
    return good;
}

static bool add_last_frame(FILE *stream, const char *stem, dls_results *results) {
    int last = dls_results_frame_count(results) - 1;
    picture_shot shot;
    char message[512], name[64];
    if (last < 0) return true;
    bool good = picture_shot_read(&shot, results, last, "iso", dls_results_has_contacts(results), 5);
    if (good && !picture_write(&shot.picture, stem, message, sizeof message)) {
        report_error("report: %s", message);
        good = false;
    }
    snprintf(name, sizeof name, "The last frame, t = %g s", shot.picture.time);
    picture_shot_free(&shot);
    return good && add_made(stream, stem, name);
}

bool report_add_run(FILE *stream, const char *path) {
    dls_results *results = results_file_open(path);
    if (!results) return false;
    int64_t count = dls_results_step_count(results);
    dls_step_report *steps = report_allocate((size_t)count + 1, sizeof *steps);
    const char *root = getenv("TMPDIR");
    char folder[STEM_SIZE - 8], stem[STEM_SIZE];
    snprintf(folder, sizeof folder, "%s/delassus-report-XXXXXX", root && *root ? root : "/tmp");
    dls_error error;
    bool good = !dls_results_steps(results, 0, count, steps, &error);
    if (!good) report_error("report: %s", error.message);
    if (good && !mkdtemp(folder)) {
        report_error("report: cannot make the folder %s; TMPDIR says where such folders go", folder);
        good = false;
    } else if (good) {
        snprintf(stem, sizeof stem, "%s/figure", folder);
        report_heading(stream, 2, *dls_results_title(results) ? dls_results_title(results) : path);
        put_facts(stream, results, steps, count);
        good = add_last_frame(stream, stem, results) && (!count || add_plots(stream, stem, steps, count));
        rmdir(folder);
    }
    free(steps);
    dls_results_destroy(results);
    return good;
}
