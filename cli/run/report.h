/* How a run speaks: a bar on a terminal, plain lines otherwise, a summary at the end. */
#ifndef CLI_RUN_REPORT_H
#define CLI_RUN_REPORT_H

#include "cli/run/watch.h"
#include "cli/support/progress.h"

#include <delassus/run.h>

enum { MOST_UNCERTIFIED = 10 };

typedef struct run_report {
    const char *output;
    const char *title;
    double until, tolerance, step;
    const char *solver, *scheme;
    bool quiet;
    progress line;
    double began, next_seconds, pause, first_time; /* wall, wall, wall, simulated */
    int64_t first_step;
    bool resumed;
    dls_step_report last;
    dls_step_report uncertified[MOST_UNCERTIFIED]; /* the first of them */
    char contradiction[MOST_UNCERTIFIED][80];      /* the joint that others do not let hold, "" for none */
    char pressed[MOST_UNCERTIFIED][400]; /* bodies whose contacts contradict each other, "" for none */
    int uncertified_count;
    int broken;        /* joints */
    double broke_from; /* when the first of them did */
    run_watch watch;
    dls_gate *gates; /* as the last step left them */
    int gate_count;
    dls_run_end end;
    uint64_t hash;
} run_report;

run_report run_report_begin(const dls_scene *scene, const char *output, bool quiet);
/* Callbacks for dls_run_scene. */
void run_report_start(const dls_simulation *simulation, bool resumed, void *report);
bool run_report_step(const dls_step_report *step, const dls_simulation *simulation, void *report);
void run_report_end(run_report *report);
/* What the run should be warned of, on stderr. */
void run_report_warn(const run_report *report, const dls_run_summary *summary);
void run_report_print(run_report *report, const dls_run_summary *summary);
void run_report_json(run_report *report, const dls_run_summary *summary);
void run_report_release(run_report *report);

#endif
