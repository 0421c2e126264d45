/* The progress of a run and its summary. */
#include "run_report.h"

#include "interrupt.h"
#include "json.h"
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

static const double LIVE_SECONDS = 0.1, PLAIN_SECONDS = 10; /* between two lines */

enum { BAR = 24 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

run_report run_report_begin(const dls_scene *scene, const char *output, bool quiet) {
    const dls_stop_options *stop = dls_scene_solver_options(scene);
    return (run_report){.output = output,
                        .title = dls_scene_title(scene),
                        .until = dls_scene_run_options(scene)->until,
                        .tolerance = stop->tolerance,
                        .step = dls_scene_simulation_options(scene)->step,
                        .solver = dls_scene_solver(scene)->name,
                        .quiet = quiet,
                        .line = progress_begin(stop->tolerance),
                        .began = now()};
}

static void show(const run_report *x) {
    const dls_step_report *step = &x->last;
    double seconds = now() - x->began, done = (step->t - x->first_time) / (x->until - x->first_time);
    double rate = (double)(step->step - x->first_step) / seconds;
    char bar[3 * BAR + 1], left[32];
    int used = 0;
    for (int i = 0; i < BAR; i++)
        used += snprintf(bar + used, sizeof bar - (size_t)used, "%s", i < done * BAR ? "█" : "·");
    format_seconds(done > 0 ? seconds * (1 - done) / done : 0, left, sizeof left);
    if (x->line.live)
        progress_text(&x->line, "%s t = %.4g of %.4g s  %.0f steps/s  %d contacts  residual %.1e  %s left",
                      bar, step->t, x->until, rate, step->contacts, step->residual, left);
    else
        fprintf(stderr, "t = %.4g of %.4g s, %.0f steps/s, %d contacts, residual %.1e, %s left\n", step->t,
                x->until, rate, step->contacts, step->residual, left);
}

bool run_report_step(const dls_step_report *step, const dls_simulation *simulation, void *report) {
    run_report *x = report;
    (void)simulation;
    if (!x->seen) {
        x->seen = true;
        x->first_step = step->step - 1;
        x->first_time = step->t - x->step;
        x->next_seconds = now() + (x->line.live ? LIVE_SECONDS : PLAIN_SECONDS);
    }
    x->last = *step;
    x->most_active = fmax(x->most_active, step->active);
    x->unaccounted = fmax(x->unaccounted, fabs(step->energy.unaccounted));
    if (!x->quiet && now() >= x->next_seconds) {
        x->next_seconds = now() + (x->line.live ? LIVE_SECONDS : PLAIN_SECONDS);
        show(x);
    }
    return !interrupt_seen();
}

void run_report_end(const run_report *x) {
    if (!x->quiet) progress_end(&x->line);
}

static const char *end_name(dls_run_end end) {
    static const char *const names[] = {"finished", "interrupted", "stopped at an uncertified step"};
    return names[end];
}

void run_report_print(const run_report *x, const dls_run_summary *sum) {
    const dls_energy *e = &x->last.energy;
    bool whole = sum->certified == sum->steps && x->end == DLS_RUN_FINISHED;
    report_colour verdict = whole ? COLOUR_GOOD : COLOUR_BAD;
    double total = sum->seconds > 0 ? sum->seconds : 1;
    char time[32], each[32];
    format_seconds(sum->seconds, time, sizeof time);
    format_seconds(sum->steps ? sum->seconds / (double)sum->steps : 0, each, sizeof each);
    printf("%s%s%s", colour_begin(verdict), end_name(x->end), colour_end(verdict));
    if (*x->title) {
        printf(": ");
        print_plain(x->title);
    }
    printf("\n\n  simulated        %.6g s in %lld steps of %g s\n", x->last.t, (long long)sum->steps,
           x->step);
    printf("  bodies           %d, %d contacts at the end, %d of them loaded\n", x->last.bodies,
           x->last.contacts, x->last.active);
    printf("  certified        %lld of %lld steps (%.5g %%) at a residual of %g\n", (long long)sum->certified,
           (long long)sum->steps, sum->steps ? 100.0 * (double)sum->certified / (double)sum->steps : 100.0,
           x->tolerance);
    printf("  worst            residual %.2e, error of one contact %.2e m/s, penetration %.2e m\n",
           sum->worst_residual, sum->worst_error, sum->penetration);
    printf("  energy           kinetic %.4g J, potential %.4g J, lost to friction %.4g J, to impact %.4g J,\n"
           "                   put in %.4g J, unaccounted %.1e J\n",
           e->kinetic, e->potential, e->friction, e->impact, e->work, e->unaccounted);
    printf("  time             %s, %s per step: %.0f %% collision, %.0f %% assembly, %.0f %% %s\n", time,
           each, 100 * sum->seconds_collide / total, 100 * sum->seconds_assemble / total,
           100 * sum->seconds_solve / total, x->solver);
    printf("  state            %016llx\n  results          %s\n", (unsigned long long)x->hash, x->output);
    if (x->end == DLS_RUN_INTERRUPTED)
        printf("\n'delassus run … --resume' goes on from %s.checkpoint\n", x->output);
}

void run_report_json(const run_report *x, const dls_run_summary *sum) {
    const dls_energy *e = &x->last.energy;
    char hash[20];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)x->hash);
    json j = json_begin(stdout, true);
    json_object_begin(&j);
    json_member_text(&j, "results", x->output);
    json_member_text(&j, "title", x->title);
    json_member_text(&j, "end", end_name(x->end));
    json_member_real(&j, "t", x->last.t);
    json_member_real(&j, "step", x->step);
    json_member_integer(&j, "steps", sum->steps);
    json_member_integer(&j, "certified", sum->certified);
    json_member_real(&j, "tolerance", x->tolerance);
    json_member_real(&j, "worst_residual", sum->worst_residual);
    json_member_real(&j, "worst_error", sum->worst_error);
    json_member_real(&j, "penetration", sum->penetration);
    json_member_integer(&j, "bodies", x->last.bodies);
    json_member_integer(&j, "contacts", x->last.contacts);
    json_member_integer(&j, "active", x->last.active);
    json_member_integer(&j, "iterations", sum->iterations);
    json_member_real(&j, "kinetic", e->kinetic);
    json_member_real(&j, "potential", e->potential);
    json_member_real(&j, "friction", e->friction);
    json_member_real(&j, "impact", e->impact);
    json_member_real(&j, "work", e->work);
    json_member_real(&j, "unaccounted", e->unaccounted);
    json_member_real(&j, "seconds", sum->seconds);
    json_member_real(&j, "seconds_collide", sum->seconds_collide);
    json_member_real(&j, "seconds_assemble", sum->seconds_assemble);
    json_member_real(&j, "seconds_solve", sum->seconds_solve);
    json_member_text(&j, "solver", x->solver);
    json_member_text(&j, "state", hash);
    json_member_text(&j, "version", dls_version());
    json_object_end(&j);
    json_end(&j);
}
