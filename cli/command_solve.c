/* delassus solve: one problem, one solver, a certificate. */
#include "cli/commands.h"
#include "cli/solve/law_object.h"
#include "cli/solve/measure_list.h"
#include "cli/solve/solver_choice.h"
#include "cli/solve/trace.h"
#include "cli/support/interrupt.h"
#include "cli/support/json.h"
#include "cli/support/output_file.h"
#include "cli/support/problem_file.h"
#include "cli/support/progress.h"
#include "cli/support/report.h"
#include "cli/support/results_file.h"

#include <delassus/delassus.h>

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct solve_values {
    const char *solver, *law, *tolerance, *max_iterations, *time_limit, *threads;
    bool warm_start, json, as_stored;
    int repeat;
    text_list settings, law_objects;
    const char *output, *trace;
} solve_values;

#define AT(member) offsetof(solve_values, member)

static const option options[] = {
    OPTION("solver", 's', OPTION_TEXT, "NAME[:LAW][+KEY=VALUE…]", AT(solver),
           "default auto, or nlgs where a law is given; see 'delassus solvers'"),
    OPTION("law", 'l', OPTION_TEXT, "NAME", AT(law), "local law of a solver that sweeps over contacts"),
    OPTION("law-from", 0, OPTION_LIST, "FILE.so", AT(law_objects),
           "laws of your own, for --law and --solver; see examples/my_law.c"),
    OPTION("tol", 't', OPTION_TEXT, "X", AT(tolerance), "stop when the residual is at most X"),
    OPTION("max-iter", 'n', OPTION_TEXT, "N", AT(max_iterations), "stop after N iterations"),
    OPTION("time-limit", 0, OPTION_TEXT, "S", AT(time_limit), "stop after S seconds"),
    OPTION("threads", 0, OPTION_TEXT, "N", AT(threads), "the result has the same bits for any N"),
    OPTION("set", 0, OPTION_LIST, "KEY=VALUE", AT(settings), "any option of the solver; may be repeated"),
    OPTION("warm-start", 'w', OPTION_FLAG, NULL, AT(warm_start),
           "start from the file's solution, or else its first guess"),
    OPTION("repeat", 0, OPTION_INT(1, INT_MAX), "N", AT(repeat), "solve N times, report the least time"),
    OPTION("output", 'o', OPTION_TEXT, "OUT", AT(output), "write the problem with its solution as FCLib"),
    OPTION("trace", 0, OPTION_TEXT, "CSV", AT(trace),
           "write the residual of every iteration (measuring it costs time)"),
    OPTION("as-stored", 0, OPTION_FLAG, NULL, AT(as_stored),
           "one triangle of a global problem's M is all of M, not half of a symmetric one"),
    OPTION("json", 0, OPTION_FLAG, NULL, AT(json), "print one JSON object instead of the summary"),
};

/* All that lives during one run of the command. */
typedef struct session {
    const char *path;
    const solve_values *values;
    solver_choice choice;
    problem_source source;
    const dls_problem *problem;
    double *r, *u;
    dls_solve_info info;
    dls_contradiction contradiction;
    int repeats; /* finished */
    progress progress;
    output_file trace_file;
    trace trace;
    bool recording;
} session;

/* ---- preparation -------------------------------------------------------------------------------------- */

static bool choose_solver(solver_choice *choice, const solve_values *v) {
    const struct {
        const char *key, *value;
    } settings[] = {{"law", v->law},
                    {"tolerance", v->tolerance},
                    {"max_iterations", v->max_iterations},
                    {"time_limit", v->time_limit},
                    {"threads", v->threads}};
    const char *solver = v->solver ? v->solver : v->law ? "nlgs" : "auto"; /* a law asks for sweeps */
    if (!solver_choice_parse(choice, solver)) return false;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (settings[i].value && !solver_choice_set(choice, settings[i].key, settings[i].value)) return false;
    for (int i = 0; i < v->settings.count; i++)
        if (!solver_choice_assign(choice, v->settings.items[i])) return false;
    if (v->trace) choice->options.stop.check_interval = 1;
    return true;
}

/* The problem itself may be replaced: with its solution it is what it was. */
static bool check_outputs(const char *path, const solve_values *v) {
    if (v->output && v->trace && !strcmp(v->output, v->trace)) {
        report_error("%s: asked for as solution and as trace, expected two names", v->output);
        return false;
    }
    if (v->trace && (!output_is_apart(v->trace, path) || !results_file_is_spared(v->trace))) return false;
    return !v->output || (output_path_check(v->output) && results_file_is_spared(v->output));
}

/* The impulses to start from: zero, or the file's. NULL after one line on stderr. */
static double *make_start(const session *s) {
    size_t rows = (size_t)dls_problem_row_count(s->problem);
    double *start = report_allocate(rows, sizeof *start);
    if (!s->values->warm_start) return start;
    const dls_fclib *file = s->source.fclib;
    const double *stored = file ? dls_fclib_solution(file) : NULL;
    if (!stored && file && dls_fclib_guess_count(file) > 0) stored = dls_fclib_guess(file, 0);
    if (stored) {
        memcpy(start, stored, rows * sizeof *start);
        return start;
    }
    report_error("%s: holds no solution and no guess, expected one for --warm-start", s->path);
    free(start);
    return NULL;
}

/* ---- the solve ---------------------------------------------------------------------------------------- */

static bool watch(const dls_iterate *iterate, void *user) {
    session *s = user;
    if (s->recording) trace_add(&s->trace, iterate);
    progress_show(&s->progress, iterate);
    return !interrupt_seen();
}

/* Solves `repeat` times from the same start; the least times stand for all. */
static bool solve_repeatedly(session *s, const double *start) {
    size_t bytes = (size_t)dls_problem_row_count(s->problem) * sizeof(double);
    double seconds = HUGE_VAL, cpu_seconds = HUGE_VAL;
    dls_workspace *workspace = dls_workspace_create();
    dls_error error = {0};
    dls_status status = DLS_OK;
    for (; s->repeats < s->values->repeat && !status; s->repeats++) {
        memcpy(s->r, start, bytes);
        s->recording = s->values->trace && s->repeats == 0;
        s->progress = progress_begin(s->choice.options.stop.tolerance);
        status = dls_solve(s->problem, s->choice.solver, s->choice.options.bytes, s->r, s->u, workspace,
                           &s->info, &error);
        progress_end(&s->progress);
        seconds = fmin(seconds, s->info.seconds);
        cpu_seconds = fmin(cpu_seconds, s->info.cpu_seconds);
        if (!status && s->info.outcome == DLS_CANCELLED) break;
    }
    dls_workspace_destroy(workspace);
    if (status) report_error("%s: %s", s->path, error.message);
    s->info.seconds = seconds;
    s->info.cpu_seconds = cpu_seconds;
    return !status;
}

static bool seek_contradiction(session *s) {
    dls_error error;
    if (s->info.outcome != DLS_STALLED) return true; /* who sets a limit has not asked for more */
    if (dls_find_contradiction(s->problem, NULL, &s->contradiction, &error) == DLS_OK) return true;
    report_error("%s: %s", s->path, error.message);
    return false;
}

/* ---- the report --------------------------------------------------------------------------------------- */

static void stages_to_json(json *j, const dls_solve_info *info) {
    json_key(j, "stages");
    json_array_begin(j);
    for (int i = 0; i < info->stage_count; i++) {
        json_object_begin(j);
        json_member_text(j, "name", info->stages[i].name);
        json_member_integer(j, "iterations", info->stages[i].iterations);
        json_member_real(j, "seconds", info->stages[i].seconds);
        json_member_real(j, "residual", info->stages[i].residual);
        json_object_end(j);
    }
    json_array_end(j);
}

static void contradiction_to_json(json *j, const dls_contradiction *found) {
    if (!found->found) return;
    json_key(j, "contradiction");
    json_object_begin(j);
    json_member_real(j, "closing", found->closing);
    json_member_real(j, "impulse", found->impulse);
    json_member_integer(j, "block_count", found->block_count);
    json_key(j, "blocks");
    json_array_begin(j);
    for (int i = 0; i < found->block_count && i < DLS_CONTRADICTION_BLOCKS; i++)
        json_integer(j, found->blocks[i]);
    json_array_end(j);
    json_object_end(j);
}

static void settings_to_json(json *j, const solver_choice *choice) {
    json_key(j, "settings");
    json_object_begin(j);
    for (int i = 0; i < choice->solver->field_count; i++) {
        char text[64];
        dls_field_print(&choice->solver->fields[i], choice->options.bytes, text, sizeof text);
        json_member_text(j, choice->solver->fields[i].key, text);
    }
    json_object_end(j);
}

static void print_json(const session *s) {
    const dls_solve_info *info = &s->info;
    json j = json_begin(stdout, true);
    json_object_begin(&j);
    json_member_text(&j, "file", s->path);
    json_member_text(&j, "solver", info->solver);
    json_member_text(&j, "law", info->law);
    json_member_bool(&j, "converged", info->outcome == DLS_CONVERGED);
    json_member_text(&j, "outcome", dls_outcome_name(info->outcome));
    json_member_integer(&j, "iterations", info->iterations);
    json_member_real(&j, "seconds", info->seconds);
    json_member_real(&j, "cpu_seconds", info->cpu_seconds);
    json_member_integer(&j, "contacts", dls_problem_contact_count(s->problem));
    json_key(&j, "measures");
    measures_to_json(&j, &info->measures);
    json_member_integer(&j, "blocks", dls_problem_block_count(s->problem));
    json_member_integer(&j, "rows", dls_problem_row_count(s->problem));
    json_member_real(&j, "tolerance", s->choice.options.stop.tolerance);
    json_member_real(&j, "stop_value", info->stop_value);
    json_member_integer(&j, "threads", s->choice.options.stop.threads);
    json_member_integer(&j, "repeats", s->repeats);
    json_member_bool(&j, "warm_start", s->values->warm_start);
    json_member_bool(&j, "mirrored", s->source.is_mirrored);
    json_member_integer(&j, "products", info->products);
    json_member_integer(&j, "colours", info->colours);
    json_member_integer(&j, "serial_blocks", info->serial_blocks);
    json_member_integer(&j, "restarts", info->restarts);
    json_member_integer(&j, "unsolved", info->unsolved);
    json_member_integer(&j, "fallbacks", info->fallbacks);
    json_member_bool(&j, "relaxed", info->relaxed);
    contradiction_to_json(&j, &s->contradiction);
    stages_to_json(&j, info);
    settings_to_json(&j, &s->choice);
    json_member_text(&j, "version", dls_version());
    json_object_end(&j);
    json_end(&j);
}

static void print_measure(const measure_row *row, const dls_measures *measures, report_colour colour) {
    printf("  %s%-16s %10.3e %-4s%s  %s\n", colour_begin(colour), row->key, measure_value(row, measures),
           row->unit, colour_end(colour), row->meaning);
}

static void print_effort(const session *s) {
    const dls_solve_info *info = &s->info;
    char wall[32], cpu[32];
    format_seconds(info->seconds, wall, sizeof wall);
    format_seconds(info->cpu_seconds, cpu, sizeof cpu);
    printf("  iterations       %d", info->iterations);
    if (info->restarts) printf(", %d restart%s", info->restarts, plural(info->restarts));
    if (info->colours) printf(", %d colour%s", info->colours, plural(info->colours));
    if (info->fallbacks) printf(", the last ones Gauss–Seidel sweeps");
    if (info->unsolved) printf(", %d contact%s unsolved by the law", info->unsolved, plural(info->unsolved));
    printf("\n  time             %s, %s of processor", wall, cpu);
    if (s->repeats > 1) printf(", the least of %d", s->repeats);
    putchar('\n');
    for (int i = 0; i < info->stage_count; i++) {
        format_seconds(info->stages[i].seconds, wall, sizeof wall);
        printf("  stage %-10s %d iteration%s, %s, residual %.3e\n", info->stages[i].name,
               info->stages[i].iterations, plural(info->stages[i].iterations), wall,
               info->stages[i].residual);
    }
}

/* Why no solver can do better. */
static void print_contradiction(const dls_contradiction *found) {
    if (!found->found) return;
    printf("  no solution: block%s", plural(found->block_count));
    for (int i = 0; i < found->block_count && i < DLS_CONTRADICTION_BLOCKS; i++)
        printf("%s %d", i ? "," : "", found->blocks[i]);
    if (found->block_count > DLS_CONTRADICTION_BLOCKS)
        printf(" and %d more", found->block_count - DLS_CONTRADICTION_BLOCKS);
    printf(" contradict each other: whatever the impulses, one of them\n"
           "  closes or is off by at least %.4g m/s\n\n",
           found->closing);
}

/* The measure that was compared with the tolerance. */
static const char *stop_name(const solver_choice *choice) {
    dls_stop_measure measure = choice->options.stop.measure;
    return measure == DLS_STOP_RESIDUAL ? "residual" : "stop measure";
}

static void print_summary(const session *s) {
    const dls_solve_info *info = &s->info;
    bool converged = info->outcome == DLS_CONVERGED;
    report_colour verdict = converged ? COLOUR_GOOD : COLOUR_BAD;
    print_plain(s->path);
    int contacts = dls_problem_contact_count(s->problem), rows = dls_problem_row_count(s->problem);
    printf(": %d contact%s, %d row%s\n", contacts, plural(contacts), rows, plural(rows));
    if (s->source.is_mirrored)
        printf("one triangle of M is stored, mirrored; --as-stored takes it literally\n");
    printf("%s%s%s: %s%s%s, asked for a %s of %g\n\n", colour_begin(verdict), dls_outcome_name(info->outcome),
           colour_end(verdict), info->solver, *info->law ? ":" : "", info->law, stop_name(&s->choice),
           s->choice.options.stop.tolerance);
    if (info->relaxed)
        printf("  relaxed: the convex cone problem, solved to %.3e of its own residual; as a contact "
               "problem:\n\n",
               info->stop_value);
    print_contradiction(&s->contradiction);
    for (int i = 0; i < measure_row_count; i++)
        print_measure(&measure_rows[i], &info->measures, i < 2 ? COLOUR_STRONG : COLOUR_NONE);
    putchar('\n');
    print_effort(s);
}

/* ---- the command -------------------------------------------------------------------------------------- */

static bool write_outputs(session *s) {
    bool good = true;
    dls_error error;
    if (s->trace_file.stream) {
        trace_write(&s->trace, s->trace_file.stream);
        good = output_file_commit(&s->trace_file);
    }
    const char *output = s->values->output;
    if (output && problem_source_write_solved(&s->source, output, s->r, s->u, &error)) {
        bool named = !strncmp(error.message, output, strlen(output));
        report_error("%s%s%s", named ? "" : output, named ? "" : ": ", error.message);
        good = false;
    }
    return good;
}

static int solve_and_report(session *s) {
    size_t rows = (size_t)dls_problem_row_count(s->problem);
    double *start = make_start(s);
    if (!start) return EXIT_BAD_INPUT;
    s->r = report_allocate(rows, sizeof *s->r);
    s->u = report_allocate(rows, sizeof *s->u);
    bool solved = solve_repeatedly(s, start);
    free(start);
    if (!solved || !seek_contradiction(s)) return EXIT_BAD_INPUT;
    if (s->values->json)
        print_json(s);
    else
        print_summary(s);
    fflush(stdout);
    if (!write_outputs(s)) return EXIT_BAD_INPUT;
    return s->info.outcome == DLS_CONVERGED ? EXIT_DONE : EXIT_NOT_CONVERGED;
}

static int run(const text_list *operands, const void *values) {
    session s = {.path = operands->items[0], .values = values};
    char message[1024];
    if (!law_objects_load(&s.values->law_objects)) return EXIT_BAD_INPUT;
    if (!choose_solver(&s.choice, values) || !check_outputs(s.path, values)) return EXIT_BAD_INPUT;
    s.choice.options.stop.callback = watch;
    s.choice.options.stop.user = &s;
    if (!problem_source_open(s.path, s.values->as_stored, &s.source, message, sizeof message))
        return report_error("%s", message);
    s.problem = s.source.problem;
    interrupt_watch();
    int code = EXIT_BAD_INPUT;
    if (!s.values->trace || output_file_open(&s.trace_file, s.values->trace)) code = solve_and_report(&s);
    output_file_discard(&s.trace_file);
    trace_release(&s.trace);
    free(s.r);
    free(s.u);
    problem_source_close(&s.source);
    return code;
}

static const solve_values defaults = {.repeat = 1};

const command command_solve = {
    .name = "solve",
    .summary = "solve a contact problem and certify the result",
    .operands = "FILE",
    .details =
        "FILE is a contact problem in FCLib's HDF5 layout, local or global, or PREFIX_W.mtx with its "
        "neighbours\n"
        "as 'export --matrix-market' writes them. The certificate names the residual (without units) and the "
        "largest error of one contact in m/s, then all other measures.\n\n"
        "  delassus solve a.hdf5\n"
        "  delassus solve a.hdf5 --solver nlgs:ebp --tol 1e-6 -o solved.hdf5\n"
        "  delassus solve a.hdf5 --set acceleration=plain --set order=natural --trace plain.csv\n\n"
        "Exit status: 0 converged, 1 not converged (the best iterate is reported and written), 2 bad input.",
    .least_operands = 1,
    .most_operands = 1,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .defaults = &defaults,
    .values_size = sizeof(solve_values),
    .run = run,
};
