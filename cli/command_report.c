/* delassus report: runs, comparisons and experiments as one page to print. */
#include "cli/commands.h"
#include "cli/report/report_page.h"
#include "cli/support/output_file.h"
#include "cli/support/report.h"
#include "cli/support/results_file.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

typedef struct report_values {
    const char *output, *title;
} report_values;

#define AT(member) offsetof(report_values, member)

static const option options[] = {
    OPTION("output", 'o', OPTION_TEXT, "FILE", AT(output), "the page; default: report.html"),
    OPTION("title", 0, OPTION_TEXT, "TEXT", AT(title), "over the page; default: Report"),
};

static bool add(FILE *stream, const char *path) {
    struct stat facts;
    int found = 0;
    if (stat(path, &facts) || !S_ISDIR(facts.st_mode)) return report_add_run(stream, path);
    if (!report_add_folder(stream, path, path, 0, &found)) return false;
    if (found == 0)
        report_error("report: %s holds no table (.csv), figure (.svg) or run (.h5), expected one at least",
                     path);
    return found > 0;
}

static int run(const text_list *operands, const void *values) {
    const report_values *v = values;
    output_file out;
    bool good = true;
    for (int k = 0; k < operands->count && good; k++) good = output_is_apart(v->output, operands->items[k]);
    if (!good || !output_path_check(v->output) || !results_file_is_spared(v->output) ||
        !output_file_open(&out, v->output))
        return EXIT_BAD_INPUT;
    report_page_begin(out.stream, v->title);
    for (int k = 0; k < operands->count && good; k++) good = add(out.stream, operands->items[k]);
    report_page_end(out.stream);
    if (!good) {
        output_file_discard(&out);
        return EXIT_BAD_INPUT;
    }
    if (!output_file_commit(&out)) return EXIT_BAD_INPUT;
    printf("%s: written\n", v->output);
    return EXIT_DONE;
}

static const report_values defaults = {.output = "report.html", .title = "Report"};

const command command_report = {
    .name = "report",
    .summary = "gather runs, comparisons and experiments in a page to print",
    .operands = "RESULTS|FOLDER...",
    .details = "Of a run its facts, its last frame and curves of its steps; of a folder all tables (CSV), "
               "figures (SVG)\n"
               "and runs that 'compare', 'reproduce', 'analyze' and 'run' left in it and below.\n\n"
               "  delassus report drum.h5 -o drum_report.html\n"
               "  delassus report comparison out -o report.html",
    .least_operands = 1,
    .most_operands = 1000,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .defaults = &defaults,
    .values_size = sizeof(report_values),
    .run = run,
};
