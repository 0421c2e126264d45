/* An analysis as a table, as JSON and as CSV files. */
#include "cli/support/report.h"
#include "cli/analyze/analyze.h"
#include "cli/support/csv.h"
#include "cli/support/json.h"
#include "cli/support/output_file.h"
#include "cli/support/table.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- for a person ---- */

static void print_head(const analyze_report *r) {
    const dls_analysis_options *o = &r->options;
    int frames = o->last_frame - o->first_frame + 1;
    printf("%s", colour_begin(COLOUR_STRONG));
    print_plain(r->path);
    printf("%s", colour_end(COLOUR_STRONG));
    if (*dls_results_title(r->results)) {
        printf(": ");
        print_plain(dls_results_title(r->results));
    }
    printf("\n%d frame%s of %d, t = %g … %g s%s\n\n", frames, plural(frames),
           dls_results_frame_count(r->results), dls_results_frame_time(r->results, o->first_frame),
           dls_results_frame_time(r->results, o->last_frame),
           dls_results_finished(r->results, NULL) ? "" : "; the run is not finished");
}

static void print_facts(table *t, const analyzed *item) {
    for (int k = 0; k < dls_analysis_fact_count(item->analysis); k++) {
        dls_analysis_fact fact = dls_analysis_fact_at(item->analysis, k);
        table_cell(t, COLOUR_STRONG, "%s", k == 0 ? item->measure->name : "");
        table_cell(t, COLOUR_NONE, "%s", fact.name);
        if (isnan(fact.value))
            table_cell(t, COLOUR_FAINT, "–");
        else
            table_cell(t, COLOUR_NONE, "%.6g", fact.value);
        if (isnan(fact.spread))
            table_cell(t, COLOUR_NONE, "%s", "");
        else
            table_cell(t, COLOUR_NONE, "± %.2g", fact.spread);
        table_cell(t, COLOUR_NONE, "%s", strcmp(fact.unit, "1") ? fact.unit : "");
    }
}

void analyze_print(const analyze_report *r) {
    print_head(r);
    table *t = table_create(5);
    table_align_left(t, 1);
    table_align_left(t, 4);
    const char *const head[] = {"measure", "quantity", "value", "spread", "unit"};
    for (int k = 0; k < 5; k++) table_cell(t, COLOUR_STRONG, "%s", head[k]);
    for (int k = 0; k < r->count; k++)
        if (r->items[k].analysis) print_facts(t, &r->items[k]);
    table_print(t);
    for (int k = 0; k < r->count; k++)
        if (!r->items[k].analysis) printf("\n%s left out: %s\n", r->items[k].measure->name, r->items[k].why);
}

/* ---- for a program ---- */

static void facts_to_json(json *j, const dls_analysis *analysis) {
    json_key(j, "facts");
    json_array_begin(j);
    for (int k = 0; k < dls_analysis_fact_count(analysis); k++) {
        dls_analysis_fact fact = dls_analysis_fact_at(analysis, k);
        json_object_begin(j);
        json_member_text(j, "name", fact.name);
        json_member_real(j, "value", fact.value);
        json_member_real(j, "spread", fact.spread);
        json_member_text(j, "unit", fact.unit);
        json_member_text(j, "meaning", fact.meaning);
        json_object_end(j);
    }
    json_array_end(j);
}

static void texts_to_json(json *j, const char *key, int count, const char *const *texts) {
    json_key(j, key);
    json_array_begin(j);
    for (int k = 0; k < count; k++) json_text(j, texts[k]);
    json_array_end(j);
}

static void table_to_json(json *j, const dls_analysis_table *t) {
    json_object_begin(j);
    json_member_text(j, "name", t->name);
    texts_to_json(j, "columns", t->column_count, t->columns);
    texts_to_json(j, "units", t->column_count, t->units);
    json_key(j, "rows");
    json_array_begin(j);
    for (int64_t i = 0; i < t->row_count; i++) {
        json_array_begin(j);
        for (int k = 0; k < t->column_count; k++) json_real(j, t->values[i * t->column_count + k]);
        json_array_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

static void item_to_json(json *j, const analyzed *item) {
    json_object_begin(j);
    json_member_text(j, "name", item->measure->name);
    json_member_text(j, "summary", item->measure->summary);
    json_member_text(j, "missing", item->analysis ? NULL : item->why);
    if (item->analysis) {
        facts_to_json(j, item->analysis);
        json_key(j, "tables");
        json_array_begin(j);
        for (int k = 0; k < dls_analysis_table_count(item->analysis); k++) {
            dls_analysis_table t = dls_analysis_table_at(item->analysis, k);
            table_to_json(j, &t);
        }
        json_array_end(j);
    }
    json_object_end(j);
}

void analyze_print_json(const analyze_report *r) {
    json j = json_begin(stdout, false);
    json_object_begin(&j);
    json_member_text(&j, "file", r->path);
    json_member_text(&j, "title", dls_results_title(r->results));
    json_member_integer(&j, "dimension", dls_results_dimension(r->results));
    json_member_bool(&j, "finished", dls_results_finished(r->results, NULL));
    json_member_integer(&j, "first_frame", r->options.first_frame);
    json_member_integer(&j, "last_frame", r->options.last_frame);
    json_member_real(&j, "first_time", dls_results_frame_time(r->results, r->options.first_frame));
    json_member_real(&j, "last_time", dls_results_frame_time(r->results, r->options.last_frame));
    json_key(&j, "measures");
    json_array_begin(&j);
    for (int k = 0; k < r->count; k++) item_to_json(&j, &r->items[k]);
    json_array_end(&j);
    json_object_end(&j);
    json_end(&j);
}

/* ---- files ---- */

static bool open_csv(output_file *out, const char *folder, const char *name, char *path, size_t size) {
    int length = snprintf(path, size, "%s/%s.csv", folder, name);
    if (length > 0 && (size_t)length < size) return output_file_open(out, path);
    report_error("analyze: the name of the folder is too long");
    return false;
}

static bool write_facts(const analyze_report *r, const char *folder) {
    output_file out;
    char path[PATH_MAX];
    if (!open_csv(&out, folder, "facts", path, sizeof path)) return false;
    fprintf(out.stream, "measure,quantity,value,spread,unit,meaning\n");
    for (int i = 0; i < r->count; i++) {
        const dls_analysis *analysis = r->items[i].analysis;
        for (int k = 0; analysis && k < dls_analysis_fact_count(analysis); k++) {
            dls_analysis_fact fact = dls_analysis_fact_at(analysis, k);
            fprintf(out.stream, "%s,", r->items[i].measure->name);
            dls_put_csv(out.stream, fact.name);
            csv_real(out.stream, fact.value);
            csv_real(out.stream, fact.spread);
            fprintf(out.stream, ",%s,", fact.unit);
            dls_put_csv(out.stream, fact.meaning);
            fputc('\n', out.stream);
        }
    }
    return output_file_commit(&out);
}

static bool write_table(const dls_analysis_table *t, const char *folder) {
    output_file out;
    char path[PATH_MAX];
    if (!open_csv(&out, folder, t->name, path, sizeof path)) return false;
    for (int k = 0; k < t->column_count; k++) {
        fprintf(out.stream, "%s%s", k ? "," : "", t->columns[k]);
        if (strcmp(t->units[k], "1")) fprintf(out.stream, " [%s]", t->units[k]);
    }
    fputc('\n', out.stream);
    for (int64_t i = 0; i < t->row_count; i++) {
        const double *row = t->values + i * t->column_count;
        if (isfinite(row[0])) fprintf(out.stream, "%.17g", row[0]);
        for (int k = 1; k < t->column_count; k++) csv_real(out.stream, row[k]);
        fputc('\n', out.stream);
    }
    return output_file_commit(&out);
}

bool analyze_write(const analyze_report *r, const char *folder) {
    bool good = write_facts(r, folder);
    for (int i = 0; i < r->count && good; i++)
        for (int k = 0; r->items[i].analysis && k < dls_analysis_table_count(r->items[i].analysis) && good;
             k++) {
            dls_analysis_table t = dls_analysis_table_at(r->items[i].analysis, k);
            good = write_table(&t, folder);
        }
    return good;
}
