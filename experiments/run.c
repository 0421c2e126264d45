/* One run and what is stored of it. result.json comes last: where it is, the run was finished. */
#include "cli/support/csv.h"
#include "cli/support/machine.h"
#include "cli/support/report.h"
#include "experiments/reproduce.h"

#include <delassus/delassus.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char result_name[] = "result.json";

/* ---- files --------------------------------------------------------------------------------------------- */

void experiment_folder(const experiment *e, experiment_size size, const char *output,
                       char folder[EXPERIMENT_FOLDER]) {
    const char *ending = size == SIZE_REDUCED ? "-reduced" : "";
    snprintf(folder, EXPERIMENT_FOLDER, "%s/%s%s", output, e->name, ending);
}

bool experiment_output_make(const char *output) {
    const size_t longest = EXPERIMENT_FOLDER - EXPERIMENT_NAME;
    if (strlen(output) <= longest) return output_folder_make(output);
    report_error("reproduce: the name of the output folder has %zu bytes, expected at most %zu",
                 strlen(output), longest);
    return false;
}

void run_path(const experiment_run *run, const char *name, char path[PATH_MAX]) {
    snprintf(path, PATH_MAX, "%s/%.*s", run->folder, EXPERIMENT_NAME, name);
}

void run_file_add(experiment_run *run, const char *name) {
    run->files = report_grow(run->files, (size_t)run->file_count, sizeof *run->files);
    snprintf(run->files[run->file_count++], sizeof *run->files, "%s", name);
}

bool run_table_open(experiment_run *run, const char *name, output_file *out) {
    char path[PATH_MAX], file[EXPERIMENT_NAME];
    snprintf(file, sizeof file, "%s.csv", name);
    run_path(run, file, path);
    if (!output_file_open(out, path)) return false;
    run_file_add(run, file);
    return true;
}

void run_figure_add(experiment_run *run, const char *name) {
    static const char *const endings[] = {"svg", "png"};
    char file[EXPERIMENT_NAME];
    for (int i = 0; i < 2; i++) {
        snprintf(file, sizeof file, "%s.%s", name, endings[i]);
        run_file_add(run, file);
    }
}

bool run_figure(experiment_run *run, const figure *f, const char *name) {
    char path[PATH_MAX], message[512];
    run_path(run, name, path);
    if (!figure_write(f, path, message, sizeof message)) {
        report_error("%s: %s", path, message);
        return false;
    }
    run_figure_add(run, name);
    return true;
}

/* ---- the record ---------------------------------------------------------------------------------------- */

/* Top-level members of a result as the JSON writer lays them out, one per line. */
static void recall_line(const char *line, experiment_record *record, bool *whole) {
    static const char *const keys[VERDICT_COUNT] = {"passed", "failed", "undecided", "not_comparable"};
    char key[32], value[32];
    if (!strcmp(line, "}\n")) *whole = true;
    if (strncmp(line, "  \"", 3) != 0) return;
    if (sscanf(line, "  \"%31[^\"]\": \"%31[^\"]\"", key, value) == 2 && !strcmp(key, "version"))
        snprintf(record->version, sizeof record->version, "%s", value);
    if (sscanf(line, "  \"%31[^\"]\": \"%31[^\"]\"", key, value) == 2 && !strcmp(key, "source"))
        snprintf(record->source, sizeof record->source, "%s", value);
    int number;
    if (sscanf(line, "  \"%31[^\"]\": %6d", key, &number) != 2) return;
    for (int i = 0; i < VERDICT_COUNT; i++)
        if (!strcmp(key, keys[i]) && number >= 0) record->counts.of[i] = number;
}

experiment_record experiment_recall(const experiment *e, experiment_size size, const char *output) {
    experiment_record record = {.done = false};
    char folder[EXPERIMENT_FOLDER], path[PATH_MAX], line[512];
    experiment_folder(e, size, output, folder);
    snprintf(path, sizeof path, "%s/%s", folder, result_name);
    FILE *file;
    if (dls_file_open(path, "the result of an experiment", &file, NULL)) return record;
    bool whole = false;
    struct stat written;
    if (fstat(fileno(file), &written) == 0)
        record.modified = (double)written.st_mtim.tv_sec + 1e-9 * (double)written.st_mtim.tv_nsec;
    while (fgets(line, sizeof line, file)) recall_line(line, &record, &whole);
    fclose(file);
    record.done = whole && *record.version;
    return record;
}

static bool forget(const experiment_run *run) {
    char path[PATH_MAX];
    run_path(run, result_name, path);
    if (unlink(path) == 0 || errno == ENOENT) return true;
    report_error("%s: cannot remove: %s", path, strerror(errno));
    return false;
}

static void write_claims(const claim_list *list, FILE *file) {
    fputs("claim,unit,relation,source,method,paper,ours,tolerance,seeds,half_95,verdict,reason\n", file);
    for (int i = 0; i < list->count; i++) {
        const claim *c = &list->items[i];
        dls_put_csv(file, c->text);
        fputc(',', file);
        dls_put_csv(file, c->unit);
        fprintf(file, ",%s,%s,%s", claim_relation_name(c->relation), claim_source_name(c->source),
                c->method == METHOD_OURS ? "ours" : "paper's");
        if (c->relation == CLAIM_ORDER) {
            fputc(',', file);
            dls_put_csv(file, c->paper_order);
            fputc(',', file);
            dls_put_csv(file, c->our_order);
        } else {
            csv_real(file, c->paper);
            csv_real(file, c->ours);
        }
        if (c->relation == CLAIM_EQUAL || c->relation == CLAIM_DECADES)
            csv_real(file, c->tolerance);
        else
            fputc(',', file);
        fprintf(file, ",%d", c->seeds);
        csv_real(file, c->seeds > 0 ? c->half : (double)NAN);
        fprintf(file, ",%s,", verdict_name(claim_judge(c)));
        if (c->reason) dls_put_csv(file, c->reason);
        fputc('\n', file);
    }
}

static bool store_claims(experiment_run *run) {
    output_file out;
    if (!run_table_open(run, "claims", &out)) return false;
    write_claims(&run->claims, out.stream);
    return output_file_commit(&out);
}

static bool store_result(const experiment_run *run) {
    char path[PATH_MAX];
    output_file out;
    run_path(run, result_name, path);
    if (!output_file_open(&out, path)) return false;
    json j = json_begin(out.stream, true);
    json_object_begin(&j);
    char date[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
    json_member_text(&j, "version", dls_version());
    json_member_text(&j, "commit", origin_commit);
    json_member_text(&j, "source", origin_digest);
    json_member_text(&j, "date", date);
    json_member_integer(&j, "seeds", run->seeds);
    experiment_to_json(&j, run);
    json_key(&j, "machine");
    machine_to_json(&j);
    json_object_end(&j);
    json_end(&j);
    return output_file_commit(&out);
}

/* ---- running ------------------------------------------------------------------------------------------- */

bool experiment_perform(experiment_run *run, const experiment *e, experiment_size size, int seeds,
                        const char *output) {
    *run = (experiment_run){.experiment = e, .size = size, .seeds = seeds};
    if (output) {
        experiment_folder(e, size, output, run->folder);
        if (!output_folder_make(run->folder) || !forget(run)) return false;
    }
    double start = dls_clock_wall();
    if (!e->run(run)) return false;
    run->seconds = dls_clock_wall() - start;
    return !output || (store_claims(run) && store_result(run));
}

void experiment_run_free(experiment_run *run) {
    claim_list_free(&run->claims);
    free(run->files);
    run->files = NULL;
}
