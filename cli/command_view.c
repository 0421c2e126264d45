/* delassus view: a run as a page. */
#include "cli/commands.h"
#include "cli/support/output_file.h"
#include "cli/support/report.h"
#include "cli/support/results_file.h"
#include "cli/view/view.h"

#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

typedef struct view_values {
    const char *output;
    bool open;
    double limit;
} view_values;

#define AT(member) offsetof(view_values, member)

static const option options[] = {
    OPTION("output", 'o', OPTION_TEXT, "FILE", AT(output), "the page; default: the name of the run, .html"),
    OPTION("open", 0, OPTION_FLAG, NULL, AT(open), "and show it in the browser"),
    OPTION("limit", 0, OPTION_REAL(0.01, 1024), "MB", AT(limit),
           "largest page: force chains are thinned above it, then frames"),
};

static void show(const char *path) {
    extern char **environ;
    char *const words[] = {"xdg-open", (char *)(uintptr_t)path, NULL};
    pid_t child;
    int status = 1;
    if (posix_spawnp(&child, words[0], NULL, NULL, words, environ) || waitpid(child, &status, 0) < 0 ||
        status)
        report_warning("view: xdg-open did not open %s: open it in a browser", path);
}

static void tell(const view_run *run, const char *path) {
    struct stat facts;
    char size[32] = "";
    if (!stat(path, &facts)) format_bytes((double)facts.st_size, size, sizeof size);
    printf("%s: %d frame%s of %d bod%s, %s\n", path, run->frames, plural(run->frames), run->body_count,
           run->body_count == 1 ? "y" : "ies", size);
    if (run->frames < run->result_frames)
        printf("  every %dth of %d frames, to keep the page small (--limit)\n", run->stride,
               run->result_frames);
    int64_t contacts = 0, left_out = 0;
    for (int k = 0; k < run->block_count; k++) {
        contacts += run->block[k].contacts;
        left_out += run->block[k].left_out;
    }
    if (left_out)
        printf("  without the weakest %.0f %% of the contacts\n",
               100.0 * (double)left_out / (double)contacts);
}

static int write_page(dls_results *results, const view_values *v, const char *path) {
    view_run page;
    output_file out;
    bool good = view_run_begin(&page, results) && view_run_pack(&page, (size_t)(1e6 * v->limit)) &&
                output_file_open(&out, path);
    if (good) {
        view_page_write(&page, out.stream);
        good = output_file_commit(&out);
    }
    if (good) tell(&page, path);
    view_run_end(&page);
    if (good && v->open) show(path);
    return good ? EXIT_DONE : EXIT_BAD_INPUT;
}

static int run(const text_list *operands, const void *values) {
    const view_values *v = values;
    char named[4096];
    const char *path = v->output ? v->output : named;
    dls_results *results;
    if (!v->output && !output_path_named_after(operands->items[0], ".html", named, sizeof named))
        return EXIT_BAD_INPUT;
    if (!output_path_check(path) || !output_is_apart(path, operands->items[0]) ||
        !results_file_is_spared(path))
        return EXIT_BAD_INPUT;
    if (!(results = results_file_open(operands->items[0]))) return EXIT_BAD_INPUT;
    int code = EXIT_BAD_INPUT;
    if (dls_results_frame_count(results) == 0)
        report_error("view: %s holds no frame yet, expected one at least", operands->items[0]);
    else if (dls_results_body_count(results) == 0)
        report_error("view: %s holds no body, expected one at least", operands->items[0]);
    else
        code = write_page(results, v, path);
    dls_results_destroy(results);
    return code;
}

static const view_values defaults = {.limit = 64};

const command command_view = {
    .name = "view",
    .summary = "make a page that shows a run in any browser",
    .operands = "RESULTS",
    .details =
        "One HTML file that needs no network and no other file: bodies, force chains and joints to look at\n"
        "from all sides, plots over time, and which steps were certified.\n\n"
        "  delassus view drum.h5\n"
        "  delassus view drum.h5 -o page.html --open",
    .least_operands = 1,
    .most_operands = 1,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .defaults = &defaults,
    .values_size = sizeof(view_values),
    .run = run,
};
