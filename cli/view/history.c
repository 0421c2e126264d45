/* A line per step as columns of floats; of runs with many steps a row stands for several: energies as the
 * last of them left them, of all else the worst. */
#include "cli/support/report.h"
#include "cli/view/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 4096, AT_ONCE = 4096, FIRST_LARGEST = 5 };

/* Columns: time; kinetic, potential, dissipated, unaccounted; contacts, residual, held, penetration,
 * iterations, uncertified, joint gap. */
static void row_of(const dls_step_report *r, double *row) {
    const dls_energy *e = &r->energy;
    const double values[VIEW_HISTORY_COLUMNS] = {r->t,
                                                 e->kinetic,
                                                 e->potential + e->spring + e->strain,
                                                 e->friction + e->impact + e->turning + e->joints +
                                                     e->damping,
                                                 e->unaccounted,
                                                 r->contacts,
                                                 r->residual,
                                                 r->held,
                                                 r->penetration,
                                                 r->iterations,
                                                 !r->certified,
                                                 r->joint_gap};
    memcpy(row, values, sizeof values);
}

static void join_rows(double *row, const double *next) {
    for (int c = 0; c < VIEW_HISTORY_COLUMNS; c++)
        row[c] = c < FIRST_LARGEST ? next[c] : c == 10 ? row[c] + next[c] : fmax(row[c], next[c]);
}

static void take_frame(view_frame *frame, const dls_step_report *r, double before) {
    frame->length = r->t - before;
    frame->is_certified = r->certified;
    frame->residual = r->residual;
    frame->held = r->held;
    frame->penetration = r->penetration;
    frame->iterations = r->iterations;
    frame->contacts = r->contacts;
}

typedef struct history {
    view_run *run;
    double (*rows)[VIEW_HISTORY_COLUMNS];
    double before; /* time at the end of the step before */
    int frame;     /* the next whose step is looked for */
} history;

static void take_step(history *h, int64_t index, const dls_step_report *report) {
    view_run *run = h->run;
    double row[VIEW_HISTORY_COLUMNS];
    row_of(report, row);
    if (index % run->history_steps == 0)
        memcpy(h->rows[index / run->history_steps], row, sizeof row);
    else
        join_rows(h->rows[index / run->history_steps], row);
    run->uncertified += !report->certified;
    while (h->frame < run->result_frames && run->frame[h->frame].step < report->step) h->frame++;
    if (h->frame < run->result_frames && run->frame[h->frame].step == report->step)
        take_frame(&run->frame[h->frame], report, h->before);
    h->before = report->t;
}

bool view_history_read(view_run *run) {
    run->steps = dls_results_step_count(run->results);
    run->history_steps = (run->steps + MOST_ROWS - 1) / MOST_ROWS;
    if (run->history_steps < 1) run->history_steps = 1;
    run->history_rows = (int)((run->steps + run->history_steps - 1) / run->history_steps);
    dls_step_report *reports = report_allocate(AT_ONCE, sizeof *reports);
    history h = {.run = run, .rows = report_allocate((size_t)run->history_rows + 1, sizeof *h.rows)};
    dls_error error;
    bool good = true;
    h.before = run->frame[0].step == 0 ? run->frame[0].time : 0;
    for (int64_t first = 0; first < run->steps && good; first += AT_ONCE) {
        int64_t count = run->steps - first < AT_ONCE ? run->steps - first : AT_ONCE;
        good = !dls_results_steps(run->results, first, count, reports, &error);
        for (int64_t k = 0; k < count && good; k++) take_step(&h, first + k, &reports[k]);
    }
    if (!good) report_error("view: %s", error.message);
    for (int c = 0; c < VIEW_HISTORY_COLUMNS; c++)
        for (int k = 0; k < run->history_rows; k++) bytes_put_float(&run->history, h.rows[k][c]);
    bytes_deflate(&run->history);
    free(reports);
    free(h.rows);
    return good;
}
