/* Paper 003, section 4.4: the descent parameter ρ = α ρ̄ (Table IV). The third example is run with EBP and
 * five values of α; then the contact problem of the 500th step is swept by every method as the paper prints
 * it, with Newton's method bare: no safeguard, 100 steps at most. */
#include "cli/support/csv.h"
#include "cli/support/report.h"
#include "experiments/dumont/dumont.h"

#include <math.h>
#include <stdlib.h>

enum { ALPHAS = 5, SWEPT = 7, STEPS = 500, MOST_SWEEPS = 5000 };
enum { ALPHA_5, ALPHA_2, ALPHA_1, ALPHA_HALF, ALPHA_FIFTH, ALPHA_CHOSEN }; /* chosen: of SBP and SAL, 0.6 */

/* Those of Table IV, and two more for the sweeps over one step. */
static const double alphas[SWEPT] = {5, 2, 1, 0.5, 0.2, 0.6, 0.3};
static const char *const alpha_names[ALPHAS] = {"5", "2", "1", "1/2", "1/5"};
static const double tolerance = 1e-8, t_end = 0.025;

/* A row of Table IV. */
static const struct printed {
    double sweeps, penetration, seconds;
} paper[ALPHAS] = {{652, 0.110e-6, 65.08},
                   {414, 0.177e-6, 55.86},
                   {750, 0.149e-6, 53.95},
                   {812, 0.634e-6, 78.43},
                   {667, 0.219e-5, 176.14}};

/* EBP and EAL twice, to the letter of the paper and as they are derived. */
enum { SBP, SAL, EBP_PRINTED, EBP, EAL_PRINTED, EAL, METHODS };

static const dumont_method methods[METHODS] = {
    [SBP] = {"SBP", "sbp", false, 0.6, false, false},
    [SAL] = {"SAL", "sal", false, 0.6, false, false},
    [EBP_PRINTED] = {"EBP as printed", "ebp", true, 1, true, true},
    [EBP] = {"EBP, derived", "ebp", true, 1, true, false},
    [EAL_PRINTED] = {"EAL as printed", "eal", true, 1, true, true},
    [EAL] = {"EAL, μτ_{n}", "eal", true, 1, true, false},
};
static const char *const method_keys[METHODS] = {"SBP", "SAL",         "EBP_printed",
                                                 "EBP", "EAL_printed", "EAL_tau"};

/* EBP with the safeguard that our laws have, beside the paper's. */
static const dumont_method safe_ebp = {"EBP, safeguarded", "ebp", true, 1, false, false};

typedef struct study {
    dumont_result runs[ALPHAS], safe[ALPHAS];
    dumont_curve curves[METHODS][SWEPT];
} study;

/* ---- claims -------------------------------------------------------------------------------------------- */

static double share_reached(const case_history *h) {
    int reached = 0;
    for (int l = 0; l < h->steps; l++) reached += case_value(h, l, DUMONT_EPS) <= tolerance;
    return (double)reached / STEPS;
}

static double seconds(const study *s, int alpha) {
    return case_sum(&s->runs[alpha].history, DUMONT_CPU, 0, t_end);
}

static double all_sweeps(const study *s, int alpha) {
    return case_sum(&s->runs[alpha].history, CASE_ITERATIONS, 0, t_end);
}

static void claim_table(claim_list *c, const study *s) {
    for (int a = 0; a < ALPHAS; a++)
        claim_equal(c, CLAIM_PRINTED, "1", 1, share_reached(&s->runs[a].history), 0,
                    "EBP, α = %s: share of steps that converge", alpha_names[a]);
    claim_bound(c, CLAIM_PRINTED, "1", CLAIM_AT_MOST, paper[ALPHA_2].seconds / paper[ALPHA_1].seconds,
                all_sweeps(s, ALPHA_2) / all_sweeps(s, ALPHA_1),
                "EBP, α = 2 over α = 1: very similar (paper: time, ours: sweeps)");
    claim_bound(c, CLAIM_PRINTED, "1", CLAIM_AT_MOST, paper[ALPHA_5].seconds / paper[ALPHA_1].seconds,
                all_sweeps(s, ALPHA_5) / all_sweeps(s, ALPHA_1),
                "EBP, α = 5 over α = 1: not badly damaged (the same)");
    /* where the balls lie is not printed: by size, within half a decade */
    for (int a = 0; a < ALPHAS; a++) {
        claim_decades(c, CLAIM_PRINTED, "1", paper[a].sweeps,
                      dumont_last(&s->runs[a].history, CASE_ITERATIONS), 0.5,
                      "Table IV, α = %s: sweeps in the last step", alpha_names[a]);
        claim_decades(c, CLAIM_PRINTED, "m/s", paper[a].penetration,
                      dumont_last(&s->runs[a].history, DUMONT_PENETRATION), 0.5,
                      "Table IV, α = %s: largest penetration in the last step", alpha_names[a]);
    }
    c->method = METHOD_OURS;
    for (int a = 0; a < ALPHAS; a++)
        claim_equal(c, CLAIM_DERIVED, "1", 1, share_reached(&s->safe[a].history), 0,
                    "EBP with our safeguard, α = %s: share of steps that converge", alpha_names[a]);
    c->method = METHOD_PAPERS;
    contender contenders[] = {
        {"1 and 2", 0.5 * (paper[ALPHA_1].seconds + paper[ALPHA_2].seconds),
         0.5 * (all_sweeps(s, ALPHA_1) + all_sweeps(s, ALPHA_2))},
        {"5", paper[ALPHA_5].seconds, all_sweeps(s, ALPHA_5)},
        {"1/2", paper[ALPHA_HALF].seconds, all_sweeps(s, ALPHA_HALF)},
        {"1/5", paper[ALPHA_FIFTH].seconds, all_sweeps(s, ALPHA_FIFTH)},
    };
    claim_order(c, "Table IV, EBP, cost by α", "1", "seconds there, sweeps of all steps here", contenders, 4);
}

static void claim_one_step(claim_list *c, const study *s) {
    for (int a = 0; a < ALPHAS; a++)
        claim_equal(c, CLAIM_PRINTED, "1", 1, s->curves[EBP_PRINTED][a].converged, 0,
                    "one step, EBP as printed, α = %s: converges", alpha_names[a]);
    for (int m = SBP; m <= SAL; m++) {
        claim_equal(c, CLAIM_PRINTED, "1", 1, s->curves[m][ALPHA_CHOSEN].converged, 0,
                    "one step, %s, α = 0.6: converges", methods[m].name);
        claim_equal(c, CLAIM_PRINTED, "1", 0, s->curves[m][ALPHA_5].converged, 0,
                    "one step, %s, α = 5: converges", methods[m].name);
    }
    for (int a = ALPHA_5; a <= ALPHA_1; a++)
        claim_bound(c, CLAIM_PRINTED, "1", CLAIM_AT_LEAST, 0,
                    s->curves[EAL_PRINTED][a].unsolved - s->curves[EBP_PRINTED][a].unsolved,
                    "one step, α = %s: visits where Newton fails, EAL less EBP", alpha_names[a]);
}

/* ---- tables and figures -------------------------------------------------------------------------------- */

static bool write_table(experiment_run *run, const study *s) {
    output_file out;
    if (!run_table_open(run, "table", &out)) return false;
    fputs(
        "alpha,paper_sweeps,sweeps,paper_penetration,penetration_m_s,paper_cpu_s,cpu_s,sweeps_of_all_steps\n",
        out.stream);
    for (int a = 0; a < ALPHAS; a++) {
        const case_history *h = &s->runs[a].history;
        fprintf(out.stream, "%g", alphas[a]);
        csv_real(out.stream, paper[a].sweeps);
        csv_real(out.stream, dumont_last(h, CASE_ITERATIONS));
        csv_real(out.stream, paper[a].penetration);
        csv_real(out.stream, dumont_last(h, DUMONT_PENETRATION));
        csv_real(out.stream, paper[a].seconds);
        csv_real(out.stream, seconds(s, a));
        csv_real(out.stream, all_sweeps(s, a));
        fputc('\n', out.stream);
    }
    return output_file_commit(&out);
}

static bool write_sweeps(experiment_run *run, const study *s) {
    output_file out;
    if (!run_table_open(run, "one_step", &out)) return false;
    fputs("method,alpha,sweeps,converged,eps_glob,newton_steps_per_visit,unsolved_visits\n", out.stream);
    for (int m = 0; m < METHODS; m++)
        for (int a = 0; a < SWEPT; a++) {
            const dumont_curve *curve = &s->curves[m][a];
            fprintf(out.stream, "%s,%g,%d,%d", method_keys[m], alphas[a], curve->sweeps, curve->converged);
            csv_real(out.stream, curve->parts[curve->sweeps - 1][DUMONT_TOTAL]);
            csv_real(out.stream, curve->newton_steps);
            csv_real(out.stream, curve->unsolved);
            fputc('\n', out.stream);
        }
    return output_file_commit(&out);
}

/* Over α in ascending order; what did not converge has no point. */
static bool draw(experiment_run *run, const study *s, bool newton) {
    static const int ascending[SWEPT] = {4, 6, 3, 5, 2, 1, 0};
    double x[SWEPT], y[METHODS][SWEPT];
    figure_series series[METHODS];
    int shown = 0;
    for (int a = 0; a < SWEPT; a++) x[a] = alphas[ascending[a]];
    for (int m = newton ? EBP_PRINTED : SBP; m < METHODS; m++) {
        for (int a = 0; a < SWEPT; a++) {
            const dumont_curve *curve = &s->curves[m][ascending[a]];
            y[m][a] = newton ? curve->unsolved : curve->converged ? curve->sweeps : nan("");
        }
        series[shown++] = (figure_series){methods[m].name, x, y[m], SWEPT, FIGURE_LINE, (unsigned)m + 1};
    }
    figure f = {.title =
                    newton ? "Visits where 100 Newton steps do not suffice" : "Sweeps to ε_{glob} = 10^{−8}",
                .x = {"α = ρ/ρ̄", FIGURE_LOG, 0.15, 7},
                .y = {"sweeps", FIGURE_LOG, 900, 5000},
                .series = series,
                .series_count = (size_t)shown};
    if (newton) f.y = (figure_axis){"share of visits", FIGURE_LINEAR, 0, 0.4};
    return run_figure(run, &f, newton ? "newton" : "sweeps");
}

/* ---- the experiment ------------------------------------------------------------------------------------ */

static bool simulate(experiment_run *run, int alpha, bool safe, dumont_result *result) {
    char name[EXPERIMENT_NAME];
    static const char *const until[] = {"time.until=0.025"};
    static const char *const names[ALPHAS] = {"alpha-5", "alpha-2", "alpha-1", "alpha-0.5", "alpha-0.2"};
    dumont_setup setup = {.scene = "003-4.3",
                          .method = safe ? &safe_ebp : &dumont_methods[DUMONT_EBP],
                          .rho_scale = 3 * alphas[alpha],
                          .tolerance = tolerance,
                          .max_sweeps = MOST_SWEEPS,
                          .check_interval = 1,
                          .kept_step = alpha == ALPHA_1 && !safe ? STEPS : 0,
                          .extra_count = 1,
                          .extra = until};
    snprintf(name, sizeof name, "%s%s", names[alpha], safe ? "-safeguarded" : "");
    return dumont_simulate(run, &setup, name, result);
}

static bool sweep_all(study *s) {
    const dls_problem *problem = s->runs[ALPHA_1].kept;
    bool good = true;
    for (int m = 0; good && m < METHODS; m++)
        for (int a = 0; good && a < SWEPT; a++)
            good = dumont_sweeps(problem, &methods[m], alphas[a], tolerance, MOST_SWEEPS, &s->curves[m][a]);
    return good;
}

static bool run_rho(experiment_run *run) {
    study *s = report_allocate(1, sizeof *s);
    bool good = true;
    for (int a = 0; good && a < ALPHAS; a++)
        good = simulate(run, a, false, &s->runs[a]) && simulate(run, a, true, &s->safe[a]);
    good = good && sweep_all(s);
    if (good) {
        claim_table(&run->claims, s);
        claim_one_step(&run->claims, s);
    }
    if (good && *run->folder)
        good = write_table(run, s) && write_sweeps(run, s) && draw(run, s, false) && draw(run, s, true);
    for (int a = 0; a < ALPHAS; a++) {
        dumont_result_free(&s->runs[a]);
        dumont_result_free(&s->safe[a]);
    }
    for (int m = 0; m < METHODS; m++)
        for (int a = 0; a < SWEPT; a++) dumont_curve_free(&s->curves[m][a]);
    free(s);
    return good;
}

const experiment experiment_descent_parameter = {
    .name = "003-4.4",
    .title = "EBP with five descent parameters (Table IV), and where other methods fail",
    .has_full = true,
    .run = run_rho,
};
