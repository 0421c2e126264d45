/* delassus generate: contact problems of any size, the same for the same seed. */
#include "cli/commands.h"
#include "cli/support/output_file.h"
#include "cli/support/problem_file.h"
#include "cli/support/report.h"
#include "cli/support/results_file.h"

#include <delassus/fclib.h>

#include <float.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct generate_values {
    int size, seed;
    double mu, mu_rolling, mu_spinning;
    const char *output, *matrix_market;
} generate_values;

#define AT(member) offsetof(generate_values, member)

static const option options[] = {
    OPTION("size", 'n', OPTION_INT(1, 100000000), "N", AT(size), "about this many contacts"),
    OPTION("mu", 0, OPTION_REAL(0, DBL_MAX), "M", AT(mu), "friction coefficient of every contact"),
    OPTION("mu-rolling", 0, OPTION_REAL(0, DBL_MAX), "M", AT(mu_rolling),
           "of kinds with rolling friction, m"),
    OPTION("mu-spinning", 0, OPTION_REAL(0, DBL_MAX), "M", AT(mu_spinning),
           "of kinds with spinning friction, m"),
    OPTION("seed", 0, OPTION_INT(0, INT_MAX), "S", AT(seed), "another seed, another problem"),
    OPTION("output", 'o', OPTION_TEXT, "FILE", AT(output), "where to write it (FCLib, local form)"),
    OPTION("matrix-market", 'm', OPTION_TEXT, "PREFIX", AT(matrix_market), "write it as Matrix Market files"),
};

static int find_kind(const char *name) {
    dls_nearest n = dls_nearest_begin(name);
    for (int i = 0; i < DLS_GENERATORS; i++) {
        if (!strcmp(dls_generator_name((dls_generator)i), name)) return i;
        dls_nearest_offer(&n, dls_generator_name((dls_generator)i));
    }
    report_unknown("generate: no kind", &n, "", "delassus help generate");
    return -1;
}

/* A number in as few digits as give it back. */
typedef struct digits {
    char text[32];
} digits;

static digits digits_of(double value) {
    digits d;
    snprintf(d.text, sizeof d.text, "%g", value);
    if (strtod(d.text, NULL) != value) snprintf(d.text, sizeof d.text, "%.17g", value);
    return d;
}

static int write_problem(const dls_problem *problem, dls_generator kind, const generate_values *v) {
    char description[320], angular[120] = "";
    if (dls_problem_has_parts(problem))
        snprintf(angular, sizeof angular, " --mu-rolling %s --mu-spinning %s", digits_of(v->mu_rolling).text,
                 digits_of(v->mu_spinning).text);
    snprintf(description, sizeof description, "%s: delassus generate %s --size %d --mu %s%s --seed %d",
             dls_generator_help(kind), dls_generator_name(kind), v->size, digits_of(v->mu).text, angular,
             v->seed);
    dls_fclib_content content = {.problem = problem,
                                 .title = dls_generator_name(kind),
                                 .description = description,
                                 .math_info = "normal component first; SI units"};
    dls_error error;
    if (dls_fclib_write(v->output, &content, &error)) return report_error("%s", error.message);
    int contacts = dls_problem_contact_count(problem), rows = dls_problem_row_count(problem);
    printf("%s: %d contact%s, %d row%s\n", v->output, contacts, plural(contacts), rows, plural(rows));
    return EXIT_DONE;
}

static int run(const text_list *operands, const void *values) {
    const generate_values *v = values;
    int kind = find_kind(operands->items[0]), code = EXIT_DONE;
    if (kind < 0) return EXIT_BAD_INPUT;
    if (!v->output && !v->matrix_market)
        return report_error("generate: no output given, expected -o FILE or --matrix-market PREFIX");
    if (v->output && (!output_path_check(v->output) || !results_file_is_spared(v->output)))
        return EXIT_BAD_INPUT;
    dls_generate_def def = dls_default_generate_def();
    def.kind = (dls_generator)kind;
    def.size = v->size;
    def.mu = v->mu;
    def.mu_rolling = v->mu_rolling;
    def.mu_spinning = v->mu_spinning;
    def.seed = (uint64_t)v->seed;
    dls_problem *problem = NULL;
    dls_error error;
    if (dls_problem_generate(&def, &problem, &error)) return report_error("generate: %s", error.message);
    if (v->output) code = write_problem(problem, def.kind, v);
    if (code == EXIT_DONE && v->matrix_market &&
        problem_write_matrix_market(v->matrix_market, problem, &error))
        code = report_error("%s", error.message);
    dls_problem_destroy(problem);
    return code;
}

static const generate_values defaults = {.size = 1000, .seed = 1, .mu = 0.3, .mu_rolling = 1e-3};

const command command_generate = {
    .name = "generate",
    .summary = "make a contact problem: packing, stack, discs, rolling or mixed",
    .operands = "packing|stack|discs|rolling|mixed",
    .details =
        "  packing   spheres under gravity on a floor\n"
        "  stack     boxes with four contacts each: hyperstatic, impulses are not unique\n"
        "  discs     planar discs under gravity\n"
        "  rolling   the packing with rolling friction; with --mu-spinning above 0 with spinning friction\n"
        "            too, for which FCLib has no word: it goes to Matrix Market files\n"
        "  mixed     the packing with contacts of several kinds, joints, stops and motors: likewise\n\n"
        "  delassus generate packing --size 10000 --mu 0.5 -o packing.hdf5",
    .least_operands = 1,
    .most_operands = 1,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .defaults = &defaults,
    .values_size = sizeof(generate_values),
    .run = run,
};
