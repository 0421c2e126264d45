/* The progress of a run and its summary. */
#include "cli/run/report.h"

#include "cli/support/interrupt.h"
#include "cli/support/json.h"
#include "cli/support/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Between two lines: on a terminal, and otherwise at first and later. */
static const double LIVE_SECONDS = 0.1, FIRST_SECONDS = 1, PLAIN_SECONDS = 10;

enum { BAR = 24 };

run_report run_report_begin(const dls_scene *scene, const char *output, bool quiet) {
    const dls_stop_options *stop = dls_scene_solver_options(scene);
    return (run_report){.output = output,
                        .title = dls_scene_title(scene),
                        .until = dls_scene_run_options(scene)->until,
                        .tolerance = stop->tolerance,
                        .step = dls_scene_simulation_options(scene)->step,
                        .solver = dls_scene_solver(scene)->name,
                        .scheme = dls_scene_simulation_options(scene)->scheme,
                        .quiet = quiet,
                        .line = progress_begin(stop->tolerance),
                        .began = dls_clock_wall()};
}

static void show(const run_report *x) {
    const dls_step_report *step = &x->last;
    double seconds = dls_clock_wall() - x->began,
           done = (step->t - x->first_time) / (x->until - x->first_time);
    double rate = (double)(step->step - x->first_step) / seconds;
    char bar[3 * BAR + 1], left[32];
    int used = 0;
    for (int i = 0; i < BAR; i++)
        used += snprintf(bar + used, sizeof bar - (size_t)used, "%s", i < done * BAR ? "█" : "·");
    format_seconds(done > 0 ? seconds * (1 - done) / done : 0, left, sizeof left);
    if (x->line.live)
        progress_text(&x->line, "%s t = %.4g of %.4g s  %.0f steps/s  %d contact%s  residual %.1e  %s left",
                      bar, step->t, x->until, rate, step->contacts, plural(step->contacts), step->residual,
                      left);
    else
        fprintf(stderr, "t = %.4g of %.4g s, %.0f steps/s, %d contact%s, residual %.1e, %s left\n", step->t,
                x->until, rate, step->contacts, plural(step->contacts), step->residual, left);
}

static void take_gates(run_report *x, const dls_simulation *simulation) {
    for (int i = 0; i < x->gate_count; i++) x->gates[i] = dls_simulation_gate(simulation, i);
}

void run_report_start(const dls_simulation *simulation, bool resumed, void *report) {
    run_report *x = report;
    x->resumed = resumed;
    x->began = dls_clock_wall();
    x->pause = x->line.live ? LIVE_SECONDS : FIRST_SECONDS;
    x->next_seconds = x->began + x->pause;
    x->first_step = x->last.step = dls_simulation_steps(simulation);
    x->first_time = x->last.t = dls_simulation_time(simulation);
    x->last.energy = dls_simulation_energy(simulation);
    run_watch_begin(&x->watch, simulation);
    x->gate_count = dls_simulation_gate_count(simulation);
    x->gates = report_allocate((size_t)x->gate_count + 1, sizeof *x->gates);
    take_gates(x, simulation);
    if (resumed && x->first_time > x->until + x->step / 2)
        report_warning("run: it is already at t = %.6g s, nothing to do until %.6g s", x->first_time,
                       x->until);
    else if (resumed && !x->quiet)
        fprintf(stderr, "goes on at t = %.6g s after step %lld\n", x->first_time, (long long)x->first_step);
}

/* Whose contacts press on each other whatever their impulses are, as solve would say of the step's problem;
 * of steps of few contacts, for the proof takes some thousand sweeps. */
static void find_pressed(const dls_simulation *simulation, char *text, size_t size) {
    enum { MOST_CONTACTS = 300 };
    const dls_problem *problem = dls_simulation_problem(simulation);
    int count = dls_simulation_contact_count(simulation), used = 0, last[2] = {-1, -1};
    dls_contradiction found;
    dls_error error;
    text[0] = '\0';
    if (!problem || !count || count > MOST_CONTACTS) return;
    if (dls_find_contradiction(problem, NULL, &found, &error) || !found.found) return;
    for (int k = 0; k < found.block_count && k < DLS_CONTRADICTION_BLOCKS; k++) {
        dls_contact_record record;
        char a[WATCHED_NAME], b[WATCHED_NAME];
        if (found.blocks[k] >= count) continue;
        dls_simulation_contact(simulation, found.blocks[k], &record);
        if (record.body_a == last[0] && record.body_b == last[1]) continue;
        last[0] = record.body_a, last[1] = record.body_b;
        watched_name(dls_simulation_world(simulation), record.body_a, a);
        watched_name(dls_simulation_world(simulation), record.body_b, b);
        int length = snprintf(text + used, size - (size_t)used, "%s%s with %s", used ? ", " : "", a, b);
        if (length < 0 || (size_t)(used + length) >= size) break;
        used += length;
    }
}

static void note_uncertified(run_report *x, const dls_step_report *step, const dls_simulation *simulation) {
    char *text = x->contradiction[x->uncertified_count];
    const char *name = dls_joint_name(dls_simulation_world(simulation), step->contradiction);
    size_t size = sizeof x->contradiction[0];
    text[0] = '\0';
    if (step->contradiction >= 0 && name[0])
        snprintf(text, size, "joint '%.60s'", name);
    else if (step->contradiction >= 0)
        snprintf(text, size, "joint %d", step->contradiction);
    find_pressed(simulation, x->pressed[x->uncertified_count], sizeof x->pressed[0]);
    x->uncertified[x->uncertified_count++] = *step;
}

bool run_report_step(const dls_step_report *step, const dls_simulation *simulation, void *report) {
    run_report *x = report;
    run_watch_step(&x->watch, step, simulation);
    take_gates(x, simulation);
    x->last = *step;
    if (step->joints_broken && x->broken == 0) x->broke_from = step->t;
    x->broken += step->joints_broken;
    if (!step->certified && x->uncertified_count < MOST_UNCERTIFIED) note_uncertified(x, step, simulation);
    double seconds = dls_clock_wall();
    if (!x->quiet && seconds >= x->next_seconds) {
        if (!x->line.live) x->pause = fmin(2 * x->pause, PLAIN_SECONDS);
        x->next_seconds = seconds + x->pause;
        show(x);
    }
    return !interrupt_seen();
}

void run_report_end(run_report *x) {
    if (!x->quiet) progress_end(&x->line);
    run_watch_release(&x->watch);
}

/* A run that came to its end is less than a step from the time that was asked for. */
void run_report_warn(const run_report *x, const dls_run_summary *sum) {
    double missed = fabs(x->last.t - x->until);
    if (missed > 1e-3 * x->until && missed < 0.6 * x->step && x->step <= x->until)
        report_warning("run: it ended at t = %.9g s: %.9g s is no multiple of the step of %g s", x->last.t,
                       x->until, x->step);
    run_watch_tell(&x->watch, sum->penetration);
}

static const char *end_name(dls_run_end end) {
    static const char *const names[] = {"finished", "interrupted", "stopped at an uncertified step"};
    return names[end];
}

/* A run that had nothing left to do ends where its results do. */
static void take_last_step(run_report *x) {
    dls_results *results;
    dls_error error;
    if (x->last.step > x->first_step || x->last.step == 0) return;
    if (dls_results_open(x->output, &results, &error)) return;
    int64_t count = dls_results_step_count(results);
    dls_step_report last;
    if (count > 0 && !dls_results_steps(results, count - 1, 1, &last, &error) && last.step == x->last.step)
        x->last = last;
    dls_results_destroy(results);
}

/* Why steps were not certified, and how many for each reason. */
static void print_reasons(const dls_run_summary *sum) {
    static const char *const about[DLS_REASONS] = {
        [DLS_REASON_CONTRADICTION] = "contacts or joints contradict each other: there is no solution",
        [DLS_REASON_DRIFT] = "impulses drift on through sliding contacts",
        [DLS_REASON_WORK] = "the bound on work or iterations came first",
        [DLS_REASON_STALLED] = "the solver made no further progress",
        [DLS_REASON_DIVERGED] = "numbers went beyond all bounds",
        [DLS_REASON_STOPPED] = "stopped by time, or by another measure"};
    for (int k = DLS_REASON_NONE + 1; k < DLS_REASONS; k++)
        if (sum->uncertified[k])
            printf("                   %s: %lld step%s (%s)\n", dls_reason_name((dls_reason)k),
                   (long long)sum->uncertified[k], plural(sum->uncertified[k]), about[k]);
}

static void print_certified(const run_report *x, const dls_run_summary *sum) {
    if (!sum->steps) {
        printf("  certified        no step was taken\n");
        return;
    }
    printf("  certified        %lld of %lld step%s (%.5g %%) at a residual of %g\n",
           (long long)sum->certified, (long long)sum->steps, plural(sum->steps),
           100.0 * (double)sum->certified / (double)sum->steps, x->tolerance);
    for (int i = 0; i < x->uncertified_count; i++)
        printf("                   not step %lld, t = %.6g s: residual %.2e, held %.2g, error %.2e "
               "m/s; %s%s%s%s%s%s\n",
               (long long)x->uncertified[i].step, x->uncertified[i].t, x->uncertified[i].residual,
               x->uncertified[i].held, x->uncertified[i].max_error, dls_reason_name(x->uncertified[i].reason),
               x->contradiction[i][0] ? "; " : "", x->contradiction[i],
               x->contradiction[i][0] ? " contradicts others" : "",
               x->pressed[i][0] ? "; no impulses can do: contacts of " : "", x->pressed[i]);
    if (sum->steps - sum->certified > x->uncertified_count)
        printf("                   %s: see the history of steps in the results\n",
               x->uncertified_count ? "and others" : "those before it was resumed");
    print_reasons(sum);
}

/* Bodies that came in and left, and by which gates. */
static void print_traffic(const run_report *x, const dls_traffic *t) {
    if (t->bodies_in + t->bodies_out > 0 || x->gate_count)
        printf("  in and out       %lld bod%s in (%.4g kg, %.4g J), %lld out (%.4g kg, %.4g J)\n",
               (long long)t->bodies_in, t->bodies_in == 1 ? "y" : "ies", t->mass_in, t->energy_in,
               (long long)t->bodies_out, t->mass_out, t->energy_out);
    for (int i = 0; i < x->gate_count; i++) {
        const dls_gate *gate = &x->gates[i];
        printf("                   ");
        print_plain(gate->name);
        printf(": %lld %s (%.4g kg)", (long long)gate->bodies, gate->is_inlet ? "in" : "out", gate->mass);
        if (gate->backlog)
            printf(", %lld wait for room (%.4g kg)", (long long)gate->backlog, gate->backlog_mass);
        printf("\n");
    }
}

static void print_time(const run_report *x, const dls_run_summary *sum) {
    int64_t steps = x->last.step - x->first_step;
    char time[32], each[32];
    if (steps <= 0 || !(sum->seconds > 0)) return;
    double percent = 100 / sum->seconds;
    format_seconds(sum->seconds, time, sizeof time);
    format_seconds(sum->seconds / (double)steps, each, sizeof each);
    printf("  time             %s%s, %s per step: %.0f %% collision, %.0f %% assembly, %.0f %% %s\n", time,
           x->resumed ? " since it was resumed" : "", each, percent * sum->seconds_collide,
           percent * sum->seconds_assemble, percent * sum->seconds_solve,
           strcmp(x->scheme, "generalized-alpha") ? x->solver : x->scheme);
}

/* A scene's joints may all be gone by its end. */
static bool has_joints(const run_report *x) {
    const dls_energy *e = &x->last.energy;
    return x->last.joints > 0 || e->spring != 0 || e->motors != 0 || e->joints != 0;
}

void run_report_print(run_report *x, const dls_run_summary *sum) {
    take_last_step(x);
    const dls_energy *e = &x->last.energy;
    bool whole = sum->certified == sum->steps && x->end == DLS_RUN_FINISHED;
    report_colour verdict = whole ? COLOUR_GOOD : COLOUR_BAD;
    printf("%s%s%s", colour_begin(verdict), end_name(x->end), colour_end(verdict));
    if (*x->title) {
        printf(": ");
        print_plain(x->title);
    }
    printf("\n\n  simulated        %.6g s in %lld step%s of %g s\n", x->last.t, (long long)sum->steps,
           plural(sum->steps), x->step);
    printf("  bodies           %d, %d contact%s at the end, %d of them loaded\n", x->last.bodies,
           x->last.contacts, plural(x->last.contacts), x->last.active);
    if (has_joints(x))
        printf("  joints           %d act%s at the end, %d of %d row%s at a bound, gap %.2e\n",
               x->last.joints, x->last.joints == 1 ? "s" : "", x->last.joint_rows_at_bound,
               x->last.joint_rows, plural(x->last.joint_rows), x->last.joint_gap);
    if (x->broken)
        printf("                   %d joint%s broke, the first at t = %.6g s\n", x->broken, plural(x->broken),
               x->broke_from);
    if (x->watch.impacts)
        printf("  impacts          %lld in their order, %lld in a step at most\n",
               (long long)x->watch.impacts, (long long)x->watch.most);
    print_traffic(x, &sum->traffic);
    print_certified(x, sum);
    printf("  worst            residual %.2e, held %.2g, error of one contact %.2e m/s, penetration %.2e m\n",
           sum->worst_residual, sum->worst_held, sum->worst_error, sum->penetration);
    printf(
        "  energy           kinetic %.4g J, potential %.4g J, lost to friction %.4g J, to impact %.4g J,\n",
        e->kinetic, e->potential, e->friction, e->impact);
    printf("                   ");
    if (e->turning != 0) printf("to turning %.4g J, ", e->turning);
    if (has_joints(x))
        printf("in joints %.4g J, stored in springs %.4g J, put in by motors %.4g J,\n                   ",
               e->joints, e->spring, e->motors);
    if (e->strain != 0 || e->damping != 0)
        printf("stored in solids %.4g J, damped in them %.4g J, made there by the scheme %.1e J,\n"
               "                   ",
               e->strain, e->damping, e->numerical);
    printf("put in %.4g J, unaccounted %.1e J\n", e->work, e->unaccounted);
    print_time(x, sum);
    printf("  state            %016llx\n  results          %s\n", (unsigned long long)x->hash, x->output);
    if (x->end != DLS_RUN_FINISHED)
        printf("\n'delassus run … --resume' goes on from %s.checkpoint\n", x->output);
}

static void json_uncertified(json *j, const run_report *x) {
    json_key(j, "uncertified");
    json_array_begin(j);
    for (int i = 0; i < x->uncertified_count; i++) {
        json_object_begin(j);
        json_member_integer(j, "step", x->uncertified[i].step);
        json_member_real(j, "t", x->uncertified[i].t);
        json_member_real(j, "residual", x->uncertified[i].residual);
        json_member_real(j, "max_error", x->uncertified[i].max_error);
        json_member_real(j, "held", x->uncertified[i].held);
        json_member_text(j, "reason", dls_reason_name(x->uncertified[i].reason));
        if (x->contradiction[i][0]) json_member_text(j, "contradicts", x->contradiction[i]);
        if (x->pressed[i][0]) json_member_text(j, "contradicting_contacts", x->pressed[i]);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_reasons(json *j, const dls_run_summary *sum) {
    json_key(j, "reasons");
    json_object_begin(j);
    for (int k = DLS_REASON_NONE + 1; k < DLS_REASONS; k++)
        json_member_integer(j, dls_reason_name((dls_reason)k), sum->uncertified[k]);
    json_object_end(j);
}

static void json_traffic(json *j, const run_report *x, const dls_traffic *t) {
    json_member_integer(j, "bodies_in", t->bodies_in);
    json_member_integer(j, "bodies_out", t->bodies_out);
    json_member_real(j, "mass_in", t->mass_in);
    json_member_real(j, "mass_out", t->mass_out);
    json_member_real(j, "energy_in", t->energy_in);
    json_member_real(j, "energy_out", t->energy_out);
    json_key(j, "gates");
    json_array_begin(j);
    for (int i = 0; i < x->gate_count; i++) {
        json_object_begin(j);
        json_member_text(j, "name", x->gates[i].name);
        json_member_text(j, "kind", x->gates[i].is_inlet ? "inlet" : "removal");
        json_member_integer(j, "bodies", x->gates[i].bodies);
        json_member_real(j, "mass", x->gates[i].mass);
        json_member_integer(j, "backlog", x->gates[i].backlog);
        json_member_real(j, "backlog_mass", x->gates[i].backlog_mass);
        json_object_end(j);
    }
    json_array_end(j);
}

void run_report_json(run_report *x, const dls_run_summary *sum) {
    take_last_step(x);
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
    json_uncertified(&j, x);
    json_reasons(&j, sum);
    json_member_integer(&j, "resumed_after", x->first_step);
    json_member_real(&j, "tolerance", x->tolerance);
    json_member_real(&j, "worst_residual", sum->worst_residual);
    json_member_real(&j, "worst_error", sum->worst_error);
    json_member_real(&j, "worst_held", sum->worst_held);
    json_member_real(&j, "penetration", sum->penetration);
    json_member_integer(&j, "bodies", x->last.bodies);
    json_traffic(&j, x, &sum->traffic);
    json_member_integer(&j, "contacts", x->last.contacts);
    json_member_integer(&j, "active", x->last.active);
    json_member_integer(&j, "iterations", sum->iterations);
    json_member_integer(&j, "impacts", x->watch.impacts);
    json_member_integer(&j, "most_impacts", x->watch.most);
    json_member_real(&j, "kinetic", e->kinetic);
    json_member_real(&j, "potential", e->potential);
    json_member_real(&j, "friction", e->friction);
    json_member_real(&j, "impact", e->impact);
    json_member_real(&j, "turning", e->turning);
    json_member_real(&j, "work", e->work);
    json_member_real(&j, "spring", e->spring);
    json_member_real(&j, "motors", e->motors);
    json_member_real(&j, "strain", e->strain);
    json_member_real(&j, "damping", e->damping);
    json_member_real(&j, "numerical", e->numerical);
    json_member_real(&j, "joint_loss", e->joints);
    json_member_integer(&j, "joints", x->last.joints);
    json_member_real(&j, "joint_gap", x->last.joint_gap);
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

void run_report_release(run_report *x) { free(x->gates); }
