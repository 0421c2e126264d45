/* delassus converge: how far a scene's answers depend on its step and its tolerance. */
#include "cli/commands.h"
#include "cli/converge/converge.h"
#include "cli/support/interrupt.h"
#include "cli/support/output_file.h"
#include "cli/support/report.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct converge_values {
    const char *output, *seed_key;
    double step, until, tolerance, margin;
    int levels, seeds, threads;
    bool json, quiet;
    text_list settings;
} converge_values;

#define AT(member) offsetof(converge_values, member)

static const option options[] = {
    OPTION("output", 'o', OPTION_TEXT, "DIR", AT(output),
           "write tables (CSV, JSON) and figures (SVG, PNG) there"),
    OPTION("step", 0, OPTION_REAL(1e-300, DBL_MAX), "H", AT(step),
           "the longest step, s, instead of the scene's"),
    OPTION("levels", 'n', OPTION_INT(3, CONVERGE_MOST_LEVELS), "N", AT(levels),
           "step lengths: h, h/2, … h/2^(N−1)"),
    OPTION("until", 0, OPTION_REAL(0, DBL_MAX), "T", AT(until), "simulate up to this time, s"),
    OPTION("tol", 't', OPTION_REAL(1e-300, DBL_MAX), "R", AT(tolerance),
           "residual that every step is to reach"),
    OPTION("seeds", 0, OPTION_INT(0, CONVERGE_MOST_SEEDS), "N", AT(seeds),
           "of a chaotic scene: runs at every step, whose means are compared; 0: none"),
    OPTION("seed-key", 0, OPTION_TEXT, "KEY", AT(seed_key),
           "the scene's value that seeds set (variables.seed); default: they disturb velocities"),
    OPTION("margin", 0, OPTION_REAL(1e-6, 1), "SHARE", AT(margin),
           "of the range of a quantity, within which means count as the same"),
    OPTION("set", 0, OPTION_LIST, "KEY=VALUE", AT(settings), "change a value of the scene"),
    OPTION("threads", 0, OPTION_INT(1, 1024), "N", AT(threads), "threads of each run"),
    OPTION("quiet", 'q', OPTION_FLAG, NULL, AT(quiet), "no progress"),
    OPTION("json", 0, OPTION_FLAG, NULL, AT(json), "print one JSON object instead of the tables"),
};

enum { OWN_SETTINGS = 4 };

static void gather_settings(const converge_values *v, convergence *c, char own[OWN_SETTINGS][64]) {
    c->settings = report_allocate((size_t)v->settings.count + OWN_SETTINGS, sizeof *c->settings);
    for (int i = 0; i < v->settings.count; i++) c->settings[c->setting_count++] = v->settings.items[i];
    const struct {
        const char *key;
        double value;
    } given[OWN_SETTINGS] = {{"time.step", v->step},
                             {"time.until", v->until},
                             {"solver.tolerance", v->tolerance},
                             {"run.threads", v->threads}};
    for (int i = 0; i < OWN_SETTINGS; i++) {
        if (!(given[i].value > 0)) continue;
        snprintf(own[i], sizeof own[i], "%s=%.17g", given[i].key, given[i].value);
        c->settings[c->setting_count++] = own[i];
    }
}

static int answer(const convergence *c, const converge_values *v) {
    if (v->json)
        converge_to_json(c, stdout);
    else
        converge_print(c);
    if (v->output && !(converge_write(c, v->output) && converge_draw(c, v->output))) return EXIT_BAD_INPUT;
    if (v->output && !v->json) printf("tables and figures are in %s\n", v->output);
    return converge_settled(c) ? EXIT_DONE : EXIT_NOT_CONVERGED;
}

static int converge(convergence *c, const converge_values *v) {
    if (v->seeds == 1)
        return report_error("converge: --seeds 1, expected 0 or at least 2: one run has no spread");
    if (v->output && !(output_folder_is_apart(v->output, c->path) && output_folder_make(v->output)))
        return EXIT_BAD_INPUT;
    interrupt_watch();
    bool good = converge_open(c) && converge_run(c);
    if (good && (c->chaotic || isnan(c->growth)) && c->seeds > 0) good = converge_run_seeds(c);
    if (good) return answer(c, v);
    return interrupt_seen() ? EXIT_NOT_CONVERGED : EXIT_BAD_INPUT;
}

static int run(const text_list *operands, const void *values) {
    const converge_values *v = values;
    char own[OWN_SETTINGS][64];
    convergence c = {.path = operands->items[0],
                     .levels = v->levels,
                     .seeds = v->seeds,
                     .margin = v->margin,
                     .seed_key = v->seed_key,
                     .quiet = v->quiet || v->json};
    gather_settings(v, &c, own);
    int code = converge(&c, v);
    converge_free(&c);
    free(c.settings);
    return code;
}

static const converge_values defaults = {.levels = 3, .margin = 0.05};

const command command_converge = {
    .name = "converge",
    .summary = "a scene at h, h/2, h/4: observed orders, errors of all that is recorded",
    .operands = "SCENE",
    .details =
        "Runs the scene at each step length, once with a hundredth of the tolerance and three times with\n"
        "velocities disturbed by what the tolerance lets through, and compares places, velocities,\n"
        "energies, joints and sums at the same times. Each quantity gets its observed order, the error that\n"
        "is left at the finest step (Richardson), and a verdict: converges, irregular (no steady order),\n"
        "exact, tolerance (it matters as much as the step), unsettled (no order yet), or chaotic:\n"
        "disturbances grow, and only means can be compared. Of a chaotic scene --seeds N compares means\n"
        "over N runs at every step, with intervals.\n\n"
        "  delassus converge pendulum.yaml\n"
        "  delassus converge heap.yaml --seeds 5 --seed-key variables.seed -o study\n\n"
        "DIR gets convergence.csv, convergence.json, changes.csv (over time), and figures of orders and "
        "changes;\n"
        "with seeds means.csv and its figure. docs/convergence.md has the formulas.\n"
        "Exit status: 0 settled, 1 something is unsettled, undecided or differs, or it was interrupted, 2 "
        "bad\n"
        "input.",
    .least_operands = 1,
    .most_operands = 1,
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .defaults = &defaults,
    .values_size = sizeof(converge_values),
    .run = run,
};
