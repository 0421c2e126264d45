/* Who is how much slower than the fastest, and how often. */
#include "cli/compare/compare.h"

#include <math.h>

/* Time to the tolerance, not below the floor; ∞ where the judge was not content. */
static double charged_time(const comparison *c, int tolerance, int problem, int solver) {
    const compare_result *result = comparison_result(c, tolerance, problem, solver);
    return result->solved ? fmax(result->cpu_seconds, COMPARE_TIME_FLOOR) : HUGE_VAL;
}

double compare_curve_time(const comparison *c, int problem, int solver, int point) {
    const compare_curve *curve = comparison_curve(c, problem, solver);
    int tightest = 0;
    for (int t = 1; t < c->tolerance_count; t++)
        if (c->tolerances[t].value < c->tolerances[tightest].value) tightest = t;
    const compare_result *timed = comparison_result(c, tightest, problem, solver);
    double time = curve->points[point].cpu_seconds, whole = curve->points[curve->count - 1].cpu_seconds;
    return timed->solved && whole > 0 ? timed->cpu_seconds * time / whole : time;
}

double compare_ratio(const comparison *c, int tolerance, int problem, int solver) {
    double own = charged_time(c, tolerance, problem, solver), best = HUGE_VAL;
    for (int s = 0; s < c->solver_count; s++) best = fmin(best, charged_time(c, tolerance, problem, s));
    return isfinite(own) ? own / best : HUGE_VAL;
}

compare_score compare_solver_score(const comparison *c, int tolerance, int solver) {
    compare_score score = {0, 0, 0};
    for (int p = 0; p < c->problem_count; p++) {
        double ratio = compare_ratio(c, tolerance, p, solver);
        if (!isfinite(ratio)) continue;
        score.solved++;
        score.fastest += ratio == 1;
        score.mean_ratio += log(ratio);
    }
    score.mean_ratio = score.solved ? exp(score.mean_ratio / score.solved) : nan("");
    return score;
}
