/* delassus reproduce: experiments of the papers, our numbers beside theirs, a verdict per claim. */
#include "cli/commands.h"
#include "cli/support/interrupt.h"
#include "cli/support/machine.h"
#include "cli/support/report.h"
#include "cli/support/table.h"
#include "experiments/reproduce.h"

#include <delassus/delassus.h>

#include <stdlib.h>
#include <string.h>

typedef struct reproduce_values {
    const char *output, *against;
    bool list, all, full, json, check;
    int seeds, jobs;
} reproduce_values;

#define AT(member) offsetof(reproduce_values, member)

static const option options[] = {
    OPTION("list", 'l', OPTION_FLAG, NULL, AT(list),
           "list the experiments and their last verdicts, of DIR or of any folder here"),
    OPTION("all", 'a', OPTION_FLAG, NULL, AT(all), "run every experiment"),
    OPTION("full", 0, OPTION_FLAG, NULL, AT(full), "at the papers' sizes, skipping what DIR has already"),
    OPTION("check", 0, OPTION_FLAG, NULL, AT(check),
           "minutes: a fixed selection, and whether the stored verdicts hold on this machine"),
    OPTION("against", 0, OPTION_TEXT, "FOLDER", AT(against),
           "of --check: stored results; default docs/evidence/reproduce"),
    OPTION("jobs", 'j', OPTION_INT(1, 1024), "N", AT(jobs), "of --check: processes at once"),
    OPTION("seeds", 0, OPTION_INT(2, EXPERIMENT_MOST_SEEDS), "N", AT(seeds),
           "runs for each figure that chance decides; default: as many as the experiment has"),
    OPTION("output", 'o', OPTION_TEXT, "DIR", AT(output), "write results, tables and figures there"),
    OPTION("json", 0, OPTION_FLAG, NULL, AT(json), "print one JSON object instead of the tables"),
};

/* ---- the list ------------------------------------------------------------------------------------------ */

/* The sizes that an experiment can be run at, smallest first. */
static int sizes_of(const experiment *e, experiment_size sizes[2]) {
    int count = 0;
    if (e->has_reduced) sizes[count++] = SIZE_REDUCED;
    if (e->has_full) sizes[count++] = SIZE_FULL;
    return count;
}

/* "full: 54 pass, 0 fail", and the folder that says so where none was named. */
static bool list_verdicts(const experiment *e, const output_list *outputs, const char *output, char *text,
                          size_t room) {
    experiment_size sizes[2];
    int count = sizes_of(e, sizes);
    bool good = true;
    *text = '\0';
    for (int i = 0; i < count; i++) {
        const char *where;
        experiment_record record = output_list_recall(outputs, e, sizes[i], output, &where);
        if (!record.done) continue;
        char counts[96];
        size_t used = strlen(text);
        verdict_counts_text(record.counts, counts, sizeof counts);
        snprintf(text + used, room - used, "%s%s: %s", used ? "; " : "", experiment_size_name(sizes[i]),
                 counts);
        used = strlen(text);
        if (!outputs->named) snprintf(text + used, room - used, " (%s)", where);
        good = good && verdict_overall(record.counts) == VERDICT_PASS;
    }
    return good;
}

static void list_row(table *t, const experiment *e, const char *verdicts, bool good) {
    experiment_size sizes[2];
    int count = sizes_of(e, sizes);
    bool paper = *experiment_section(e);
    char section[128];
    snprintf(section, sizeof section, "%s%s%s", experiment_paper(e)->authors, paper ? ", " : "",
             experiment_section(e));
    table_cell(t, COLOUR_STRONG, "%s", e->name);
    table_cell(t, COLOUR_NONE, "%s", section);
    table_cell(t, COLOUR_NONE, "%s", e->title);
    table_cell(t, COLOUR_NONE, "%s", count > 1 ? "reduced, full" : experiment_size_name(sizes[0]));
    if (verdicts)
        table_cell(t,
                   !*verdicts ? COLOUR_FAINT
                   : good     ? COLOUR_GOOD
                              : COLOUR_BAD,
                   "%s", *verdicts ? verdicts : "not run");
}

/* The last column is there where a folder was named or results were found. */
static void list_print(const char *output) {
    static const char *const heads[] = {"name", "paper and section", "title", "sizes", "last verdict"};
    enum { ROOM = 1024 };
    output_list outputs = output_list_make(output);
    const int count = experiment_count();
    char(*texts)[ROOM] = report_allocate((size_t)count, sizeof *texts);
    bool *good = report_allocate((size_t)count, sizeof *good), known = outputs.named;
    for (int i = 0; i < count; i++) {
        good[i] = list_verdicts(experiment_at(i), &outputs, output, texts[i], ROOM);
        known = known || *texts[i];
    }
    const int columns = known ? 5 : 4;
    table *t = table_create(columns);
    for (int i = 1; i < columns; i++) table_align_left(t, i);
    for (int i = 0; i < columns; i++) table_cell(t, COLOUR_STRONG, "%s", heads[i]);
    for (int i = 0; i < count; i++) list_row(t, experiment_at(i), known ? texts[i] : NULL, good[i]);
    table_print(t);
    free(texts);
    free(good);
    output_list_free(&outputs);
}

static void list_row_to_json(json *j, const experiment *e, const output_list *outputs, const char *output) {
    experiment_size sizes[2];
    int count = sizes_of(e, sizes);
    json_object_begin(j);
    experiment_head_to_json(j, e);
    json_key(j, "sizes");
    json_array_begin(j);
    for (int i = 0; i < count; i++) json_text(j, experiment_size_name(sizes[i]));
    json_array_end(j);
    json_key(j, "results");
    json_array_begin(j);
    for (int i = 0; i < count; i++) {
        const char *where;
        experiment_record record = output_list_recall(outputs, e, sizes[i], output, &where);
        if (!record.done) continue;
        json_object_begin(j);
        json_member_text(j, "size", experiment_size_name(sizes[i]));
        json_member_text(j, "version", record.version);
        json_member_text(j, "folder", where);
        verdict_to_json(j, record.counts);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

static void list_to_json(const char *output) {
    output_list outputs = output_list_make(output);
    json j = json_begin(stdout, true);
    json_object_begin(&j);
    json_member_text(&j, "version", dls_version());
    json_key(&j, "experiments");
    json_array_begin(&j);
    for (int i = 0; i < experiment_count(); i++) list_row_to_json(&j, experiment_at(i), &outputs, output);
    json_array_end(&j);
    json_object_end(&j);
    json_end(&j);
    output_list_free(&outputs);
}

/* ---- running ------------------------------------------------------------------------------------------- */

typedef struct session {
    const reproduce_values *values;
    json j;
    int performed, failed;
} session;

/* What a finished folder says stands, if it was made by the same sources at this size. */
static bool skip(session *s, const experiment *e, experiment_size size) {
    const reproduce_values *v = s->values;
    if (!v->full || !v->output) return false;
    experiment_record record = experiment_recall(e, size, v->output);
    if (!record.done || strcmp(record.source, origin_digest) != 0) return false;
    char folder[EXPERIMENT_FOLDER], counts[96];
    experiment_folder(e, size, v->output, folder);
    verdict_counts_text(record.counts, counts, sizeof counts);
    s->failed += verdict_overall(record.counts) == VERDICT_FAIL;
    if (!v->json) {
        printf("%s  done before: %s (%s)\n", e->name, counts, folder);
        return true;
    }
    json_object_begin(&s->j);
    experiment_head_to_json(&s->j, e);
    json_member_text(&s->j, "size", experiment_size_name(size));
    verdict_to_json(&s->j, record.counts);
    json_member_bool(&s->j, "skipped", true);
    json_member_text(&s->j, "folder", folder);
    json_object_end(&s->j);
    return true;
}

static void tell(session *s, const experiment_run *run) {
    if (!s->values->json) {
        if (s->performed) printf("\n");
        experiment_print(run);
        fflush(stdout);
        return;
    }
    json_object_begin(&s->j);
    experiment_to_json(&s->j, run);
    json_object_end(&s->j);
}

/* What the paper's size cannot be run of is passed over, aloud; it does not count as done. */
static bool pass_over(session *s, const experiment *e) {
    if (!s->values->full || e->has_full) return false;
    if (!s->values->json) {
        printf("%s  passed over: this version has no run at the paper's size\n", e->name);
        return true;
    }
    json_object_begin(&s->j);
    experiment_head_to_json(&s->j, e);
    json_member_bool(&s->j, "passed_over", true);
    json_object_end(&s->j);
    return true;
}

/* False where the session cannot go on. */
static bool perform(session *s, const experiment *e) {
    experiment_size size = e->has_reduced && !s->values->full ? SIZE_REDUCED : SIZE_FULL;
    if (pass_over(s, e) || skip(s, e, size)) return true;
    experiment_run run;
    bool good = experiment_perform(&run, e, size, s->values->seeds, s->values->output);
    if (good) {
        tell(s, &run);
        s->failed += verdict_overall(claim_count(&run.claims)) == VERDICT_FAIL;
        s->performed++;
    }
    experiment_run_free(&run);
    return good;
}

/* Each experiment once, in the order asked for. */
static int perform_all(session *s, const experiment *const *chosen, int count) {
    bool good = true;
    for (int i = 0; i < count && good && !interrupt_seen(); i++) {
        bool again = false;
        for (int k = 0; k < i; k++) again = again || chosen[k] == chosen[i];
        if (!again) good = perform(s, chosen[i]);
    }
    if (interrupt_seen()) return EXIT_NOT_CONVERGED;
    return !good ? EXIT_BAD_INPUT : s->failed ? EXIT_NOT_CONVERGED : EXIT_DONE;
}

static int run_session(const reproduce_values *v, const experiment *const *chosen, int count) {
    session s = {.values = v, .j = json_begin(stdout, true)};
    if (v->json) {
        json_object_begin(&s.j);
        json_member_text(&s.j, "version", dls_version());
        json_key(&s.j, "machine");
        machine_to_json(&s.j);
        json_key(&s.j, "experiments");
        json_array_begin(&s.j);
    }
    interrupt_watch();
    int code = perform_all(&s, chosen, count);
    if (v->json) {
        json_array_end(&s.j);
        json_member_bool(&s.j, "complete", !interrupt_seen() && code != EXIT_BAD_INPUT);
        json_object_end(&s.j);
        json_end(&s.j);
    }
    return code;
}

/* The experiments of a name: itself, or all of a paper. Returns how many, 0 after a line on stderr. */
static int choose(const char *name, const reproduce_values *v, const experiment **chosen) {
    const experiment *one = experiment_find(name);
    int count = 0;
    if (one && v->full && !one->has_full) {
        report_error("reproduce: %s has no run at the paper's size yet, expected it without --full", name);
        return 0;
    }
    if (one) chosen[count++] = one;
    for (int i = 0; !one && experiment_is_paper(name) && i < experiment_count(); i++)
        if (!strcmp(experiment_paper(experiment_at(i))->name, name)) chosen[count++] = experiment_at(i);
    if (!count) experiment_refuse(name);
    return count;
}

static int run_chosen(const text_list *operands, const reproduce_values *v) {
    int most = experiment_count(), names = v->all ? 1 : operands->count, count = 0, code = EXIT_DONE;
    const experiment **chosen = report_allocate((size_t)most * (size_t)names, sizeof *chosen);
    for (int i = 0; v->all && i < most; i++) chosen[count++] = experiment_at(i);
    for (int i = 0; !v->all && i < names && code == EXIT_DONE; i++) {
        int more = choose(operands->items[i], v, chosen + count);
        if (!more) code = EXIT_BAD_INPUT;
        count += more;
    }
    if (code == EXIT_DONE && v->output && !experiment_output_make(v->output)) code = EXIT_BAD_INPUT;
    if (code == EXIT_DONE) code = run_session(v, chosen, count);
    free(chosen);
    return code;
}

static int run(const text_list *operands, const void *values) {
    const reproduce_values *v = values;
    if (v->list + v->all + v->check + (operands->count > 0) != 1)
        return report_error(
            "reproduce: expected names of experiments, --all, --check or --list, one of the four");
    if (v->check) return experiment_check(v->against, v->jobs);
    if (!v->list) return run_chosen(operands, v);
    if (v->json)
        list_to_json(v->output);
    else
        list_print(v->output);
    return EXIT_DONE;
}

static const reproduce_values defaults = {.against = "docs/evidence/reproduce", .jobs = 2};

const command command_reproduce = {
    .name = "reproduce",
    .summary = "run experiments of the papers, our numbers beside theirs, a verdict per claim",
    .operands = "NAME…",
    .details =
        "An experiment is named by paper and section, all of a paper by the paper alone. Each of its claims\n"
        "shows the paper's value, ours, the tolerance and a verdict: pass, fail, or not comparable "
        "(seconds,\n"
        "and counts that depend on the implementation; their order is judged instead).\n\n"
        "  delassus reproduce --list -o out\n"
        "  delassus reproduce 001-3.1 -o out\n"
        "  delassus reproduce 004 -o out\n"
        "  delassus reproduce --all --full -o out\n"
        "  delassus reproduce --check\n\n"
        "DIR/NAME gets result.json, claims.csv, tables (CSV) and figures (SVG, PNG); a run smaller than the\n"
        "paper's is labelled reduced and goes to DIR/NAME-reduced. --full resumes: what DIR has finished "
        "with\n"
        "the same sources is not run again.\n"
        "Exit status: 0 every claim holds, 1 one fails or the run was interrupted, 2 bad input.",
    .least_operands = 0,
    .most_operands = INT_MAX,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .defaults = &defaults,
    .values_size = sizeof(reproduce_values),
    .run = run,
};
