/* Paper 001, sections 3.2 (filling) and 3.3 (compaction): how the force on a container settles, and how well
 * complementarity (8) holds, relaxed and anti-relaxed. */
#include "experiments/melanz/filling.h"

#include <math.h>
#include <stdio.h>

static const double last_seconds = 0.5; /* over which the force is weighed */
static const double several_orders = 1e2;

enum { MOST_SIZES = CONTAINER_SIZES, MOST_SEEDS = EXPERIMENT_MOST_SEEDS };

/* Runs of one size that differ by their seed. */
typedef struct sample {
    filling_runs runs[MOST_SEEDS];
    int count;
    char name[48];
} sample;

/* ---- what a history says ------------------------------------------------------------------------------- */

typedef double (*history_value)(const filling_runs *runs, const case_history *h);

static double weighed(const filling_runs *runs, const case_history *h) {
    const double end = filling_end(h);
    return case_mean(h, FILLING_FORCE, end - last_seconds, end) / runs->weight;
}
static double settled(const filling_runs *runs, const case_history *h) {
    return fmin(filling_settled(h, runs->weight), filling_end(h));
}

static double largest_error(const filling_runs *runs, const case_history *h) {
    (void)runs;
    return case_largest(h, FILLING_COMPLEMENTARITY, 0, filling_end(h));
}
static double mean_error(const filling_runs *runs, const case_history *h) {
    (void)runs;
    return case_mean(h, FILLING_COMPLEMENTARITY, 0, filling_end(h));
}
static double certified(const filling_runs *runs, const case_history *h) {
    (void)runs;
    return case_mean(h, CASE_CERTIFIED, 0, filling_end(h));
}

static double mean_over_seeds(const sample *s, filling_method method, history_value value) {
    double sum = 0;
    for (int i = 0; i < s->count; i++) sum += value(&s->runs[i], &s->runs[i].history[method]);
    return sum / s->count;
}

/* log₁₀ of relaxed over another: what is compared spans orders of magnitude from seed to seed. */
static dls_interval ratio_over_seeds(const sample *s, filling_method method, history_value value) {
    double ratio[MOST_SEEDS];
    for (int i = 0; i < s->count; i++) {
        const filling_runs *runs = &s->runs[i];
        ratio[i] = log10(value(runs, &runs->history[FILLING_RELAXED]) / value(runs, &runs->history[method]));
    }
    return dls_interval_of(s->count, ratio);
}

static bool finished(const sample *s, filling_method method) {
    for (int i = 0; i < s->count; i++)
        if (!s->runs[i].history[method].finished) return false;
    return s->count > 0;
}

static bool comparable(const sample *s) {
    return finished(s, FILLING_RELAXED) && finished(s, FILLING_ANTI_RELAXED);
}

/* ---- claims -------------------------------------------------------------------------------------------- */

static claim_source source_of(filling_method method) {
    return method == FILLING_DEFAULT ? CLAIM_DERIVED : CLAIM_PRINTED;
}

/* One run decides nothing that chance has a part in. */
static void claim_ratio(claim_list *c, const sample *s, filling_method method, history_value value,
                        double bound, const char *what) {
    const dls_interval ours = ratio_over_seeds(s, method, value);
    c->method = method == FILLING_DEFAULT ? METHOD_OURS : METHOD_PAPERS;
    claim_seeds(c, source_of(method), "1", CLAIM_AT_LEAST, log10(bound), 0, &ours,
                "%s, log₁₀ of relaxed over %s: %s", s->name, filling_names[method], what);
    c->method = METHOD_PAPERS;
}

/* What the paper says of relaxed and anti-relaxed; the default solver must stand where the latter does. */
static void claim_size(claim_list *c, const sample *s) {
    for (filling_method m = 0; m < FILLING_METHODS; m++) {
        c->method = m == FILLING_DEFAULT ? METHOD_OURS : METHOD_PAPERS;
        if (finished(s, m))
            claim_equal(c, source_of(m), "1", 1, mean_over_seeds(s, m, weighed), 0.01,
                        "%s, %s: force in the last %g s, weights", s->name, filling_names[m], last_seconds);
    }
    if (finished(s, FILLING_DEFAULT))
        claim_equal(c, CLAIM_DERIVED, "1", 1, mean_over_seeds(s, FILLING_DEFAULT, certified), 0,
                    "%s, default: share of steps that reach the tolerance", s->name);
    c->method = METHOD_PAPERS;
    for (filling_method m = FILLING_ANTI_RELAXED; m < FILLING_METHODS; m++) {
        if (!comparable(s) || !finished(s, m)) continue;
        claim_ratio(c, s, m, settled, 1, "time until the force has settled");
        claim_ratio(c, s, m, largest_error, several_orders, "largest error of (8)");
        claim_ratio(c, s, m, mean_error, several_orders, "mean error of (8)");
    }
}

/* ---- the experiments ----------------------------------------------------------------------------------- */

static bool draw(experiment_run *run, const container_text *text, const filling_runs *runs) {
    char name[EXPERIMENT_NAME];
    snprintf(name, sizeof name, "%s-%d", text->name, filling_count(runs->size));
    return !*run->folder || filling_draw(run, runs, name);
}

static bool run_sample(experiment_run *run, const container_text *text, filling_size size, bool paper_size,
                       sample *s) {
    const int own = run->size == SIZE_REDUCED ? text->seeds : text->full_seeds;
    const int seeds = run->seeds ? run->seeds : own;
    snprintf(s->name, sizeof s->name, "%d spheres%s", filling_count(size), paper_size ? "" : " (reduced)");
    for (int i = 0; i < seeds; i++) {
        s->runs[i] = filling_begin(text->scene, size, text->slab, i + 1);
        s->runs[i].until = run->size == SIZE_REDUCED ? text->until : 0;
        s->runs[i].shot_interval = text->shot_interval;
        snprintf(s->runs[i].picture, sizeof s->runs[i].picture, "figure_%02d_%d_spheres", text->figure,
                 filling_count(size));
        s->count = i + 1;
        for (filling_method m = 0; m < FILLING_METHODS; m++)
            if (!filling_run(run, &s->runs[i], m)) return false;
    }
    claim_size(&run->claims, s);
    return draw(run, text, &s->runs[0]);
}

static bool write_table(experiment_run *run, const sample *samples, int count) {
    filling_runs all[MOST_SIZES * MOST_SEEDS];
    int runs = 0;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < samples[i].count; k++) all[runs++] = samples[i].runs[k];
    return !*run->folder || filling_table(run, all, runs);
}

/* The paper's sizes; where at none of them both of its methods came to the end, smaller ones until they do.
 */
bool container_run(experiment_run *run, const container_text *text) {
    sample samples[MOST_SIZES] = {{.count = 0}};
    const bool reduced = run->size == SIZE_REDUCED;
    const int paper_count = reduced ? 0 : text->paper_count;
    const int most = reduced ? 1 : paper_count + text->smaller_count;
    bool good = true, compared = false;
    int count = 0;
    for (; count < most && good && !(count >= paper_count && compared); count++) {
        const bool paper_size = count < paper_count;
        const filling_size size = reduced      ? text->reduced
                                  : paper_size ? text->paper[count]
                                               : text->smaller[count - paper_count];
        good = run_sample(run, text, size, paper_size, &samples[count]);
        compared = compared || comparable(&samples[count]);
    }
    good = good && write_table(run, samples, count);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < samples[i].count; k++) filling_free(&samples[i].runs[k]);
    return good;
}

static const filling_size smaller[] = {{10, 5, 10}, {5, 5, 8}, {5, 4, 5}};

static bool run_filling(experiment_run *run) {
    static const filling_size paper[] = {{10, 10, 10}};
    static const container_text text = {"001-3.2", "filling", false, paper, smaller, 1,   3,
                                        {5, 2, 5}, 5,         5,     0,     7,       1.25};
    return container_run(run, &text);
}

/* A thousand in the text, four thousand in the caption of Fig. 9. */
static bool run_compaction(experiment_run *run) {
    static const filling_size paper[] = {{10, 10, 10}, {10, 10, 40}};
    static const container_text text = {
        "001-3.3", "compaction", true, paper, smaller, 2, 3, {3, 3, 3}, 5, 1, 0, 9, 1};
    return container_run(run, &text);
}

const experiment experiment_filling = {
    .name = "001-3.2",
    .title = "a thousand spheres fall into a container: force on it, error of complementarity",
    .has_reduced = true,
    .has_full = true,
    .run = run_filling,
};

const experiment experiment_compaction = {
    .name = "001-3.3",
    .title = "a slab compacts spheres in a container: force on it, error of complementarity",
    .has_reduced = true,
    .has_full = true,
    .run = run_compaction,
};
