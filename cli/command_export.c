/* delassus export: a problem for other programs. */
#include "commands.h"
#include "problem_file.h"
#include "report.h"

#include <stdio.h>

typedef struct export_values {
    const char *matrix_market;
} export_values;

static const option options[] = {
    {"matrix-market", 'm', OPTION_TEXT, "PREFIX", offsetof(export_values, matrix_market), 0, 0,
     "write PREFIX_W.mtx, PREFIX_q.mtx and PREFIX_mu.mtx"},
};

static int run(const text_list *operands, const void *values) {
    const export_values *v = values;
    if (!v->matrix_market) return report_error("export: no format given, expected --matrix-market PREFIX");
    dls_fclib *file = problem_file_read(operands->items[0]);
    if (!file) return EXIT_BAD_INPUT;
    dls_error error;
    dls_status status = dls_matrix_market_write(v->matrix_market, dls_fclib_problem(file), &error);
    dls_fclib_destroy(file);
    if (status) return report_error("%s", error.message);
    printf("%s_W.mtx, %s_q.mtx and %s_mu.mtx written\n", v->matrix_market, v->matrix_market,
           v->matrix_market);
    return EXIT_DONE;
}

static const export_values defaults = {NULL};

const command command_export = {
    .name = "export",
    .summary = "write a problem's W, q and μ for other programs",
    .operands = "FILE",
    .details = "  delassus export a.hdf5 --matrix-market a",
    .least_operands = 1,
    .most_operands = 1,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .defaults = &defaults,
    .values_size = sizeof(export_values),
    .run = run,
};
