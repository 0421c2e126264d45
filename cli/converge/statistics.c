/* Where single runs cannot be compared: means over seeds at every step length. */
#include "cli/converge/converge.h"
#include "cli/support/report.h"

#include <math.h>
#include <stdlib.h>

static bool is_compared(const quantity *q) {
    return (q->form == FORM_SCALAR || q->form == FORM_COUNT) && !q->numerical;
}

/* The means of the second half of a run, a number per quantity and seed. */
static bool run_level(convergence *c, int level, double *late, double *ranges) {
    for (int s = 0; s < c->seeds; s++) {
        series one;
        series_def def = {.level = level, .seed = s + 1, .seed_key = c->seed_key};
        if (!c->seed_key) def.disturbed = c->reference_velocity;
        bool good = series_run(c, &def, &one);
        for (int i = 0; i < c->quantities.count && good; i++) {
            const quantity *q = &c->quantities.items[i];
            if (!is_compared(q)) continue;
            late[i * c->seeds + s] = series_late_mean(q, &one);
            ranges[i] += series_range(q, &one) / c->seeds;
        }
        series_free(&one);
        if (!good) return false;
    }
    return true;
}

static void fill_means(const convergence *c, int level, const double *late, const double *ranges,
                       convergence_means *all) {
    for (int i = 0; i < c->quantities.count; i++) {
        if (!is_compared(&c->quantities.items[i])) continue;
        all[i].of = &c->quantities.items[i];
        all[i].at[level] = dls_interval_of(c->seeds, late + (ptrdiff_t)i * c->seeds);
        all[i].range = fmax(all[i].range, ranges[i]);
    }
}

/* Those that never change are left out; the rest is compared with the finest step. */
static void compare_means(convergence *c, const convergence_means *all) {
    const int finest = c->levels - 1;
    for (int i = 0; i < c->quantities.count; i++) {
        if (!all[i].of || all[i].range == 0) continue;
        convergence_means *m = &c->means[c->mean_count++];
        *m = all[i];
        for (int k = 0; k < finest; k++) {
            m->apart[k] = dls_interval_difference(&m->at[k], &m->at[finest]);
            m->decision[k] = dls_interval_decide(&m->apart[k], 0, c->margin * m->range);
        }
    }
}

bool converge_run_seeds(convergence *c) {
    size_t count = (size_t)c->quantities.count;
    convergence_means *all = report_allocate(count, sizeof *all);
    double *late = report_allocate(count * (size_t)c->seeds, sizeof *late);
    bool good = true;
    c->runs = c->levels * c->seeds, c->runs_done = 0, c->work_done = 0;
    c->work = c->seeds * (double)((1 << c->levels) - 1) * c->samples * c->stride;
    for (int k = 0; k < c->levels && good; k++) {
        double *ranges = report_allocate(count, sizeof *ranges);
        good = run_level(c, k, late, ranges);
        if (good) fill_means(c, k, late, ranges, all);
        free(ranges);
    }
    if (good) {
        c->means = report_allocate(count, sizeof *c->means);
        compare_means(c, all);
    }
    free(all);
    free(late);
    return good;
}
