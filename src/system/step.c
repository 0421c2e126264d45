/* One step: Newton from where the last one ended, Newton without impacts, the fixed point, half the step. */
#include "system/alpha.h"

#include "base/error.h"
#include "solve/semismooth.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- Newton ---- */

static uint64_t hash_flags(uint64_t hash, const bool *flags, int count) {
    for (int i = 0; i < count; i++) hash = (hash ^ (flags[i] ? 2u : 1u)) * UINT64_C(1099511628211);
    return hash;
}

static uint64_t pieces_of(const dls_alpha *alpha) {
    int contacts = alpha->at.count[DLS_ROWS_N], laws = alpha->system.law_count;
    uint64_t hash = UINT64_C(14695981039346656037);
    hash = hash_flags(hash, alpha->sets.place, contacts);
    hash = hash_flags(hash, alpha->sets.A, contacts), hash = hash_flags(hash, alpha->sets.B, contacts);
    hash = hash_flags(hash, alpha->sets.C, contacts), hash = hash_flags(hash, alpha->sets.D, laws);
    return hash_flags(hash_flags(hash, alpha->sets.E, laws), alpha->stage.split, laws);
}

/* Counts for each contact how often a set of it changed. */
static void count_flips(dls_alpha *alpha) {
    dls_sets *now = &alpha->sets, *then = &alpha->sets_before;
    for (int k = 0; k < alpha->at.count[DLS_ROWS_N]; k++) {
        alpha->flips[k] += now->A[k] != then->A[k] || now->B[k] != then->B[k] || now->C[k] != then->C[k];
        then->A[k] = now->A[k], then->B[k] = now->B[k], then->C[k] = now->C[k];
    }
    for (int l = 0; l < alpha->system.law_count; l++) {
        if (alpha->laws[l].contact >= 0)
            alpha->flips[alpha->laws[l].contact] += now->D[l] != then->D[l] || now->E[l] != then->E[l];
        then->D[l] = now->D[l], then->E[l] = now->E[l];
    }
}

static bool residual(void *user, const double *x, double *R, uint64_t *pieces) {
    dls_alpha *alpha = user;
    if (!dls_residual_at(alpha, x, R)) return false;
    *pieces = alpha->stage.frozen ? 0 : pieces_of(alpha);
    if (!alpha->stage.frozen) count_flips(alpha);
    return true;
}

static bool solve(void *user, const double *x, const double *R, double *step) {
    dls_alpha *alpha = user;
    if (!dls_jacobian_at(alpha, x) || !dls_jacobian_factor(alpha)) return false;
    dls_jacobian_solve(alpha, x, R, step);
    return true;
}

/* While forces of contacts are held, the smooth rows hardly bend: one factor serves many updates. */
static bool solve_again(void *user, const double *x, const double *R, double *step) {
    dls_alpha *alpha = user;
    if (!alpha->has_factor) return solve(user, x, R, step);
    dls_jacobian_solve(alpha, x, R, step);
    return true;
}

int dls_alpha_newton(dls_alpha *alpha, double *x, double tolerance, int most_updates, int *updates,
                     double *norm) {
    bool frozen = alpha->stage.frozen;
    dls_piecewise problem = {alpha->at.total, alpha, residual, frozen ? solve_again : solve, alpha->weight};
    enum { CHORDS = 6 };
    int most = frozen && alpha->has_factor && most_updates > CHORDS ? CHORDS : most_updates, more = 0;
    dls_newton_end end =
        dls_newton_piecewise(&problem, x, alpha->R, alpha->step, tolerance, most, updates, norm);
    if (end != DLS_NEWTON_EXHAUSTED || most == most_updates) return end;
    problem.solve = solve;
    end = dls_newton_piecewise(&problem, x, alpha->R, alpha->step, tolerance, most_updates, &more, norm);
    *updates += more;
    return end;
}

/* ---- attempts ---- */

static void begin_attempt(dls_alpha *alpha, bool without_impacts) {
    const dls_layout *at = &alpha->at;
    memcpy(alpha->x, alpha->state.x, sizeof *alpha->x * (size_t)at->total);
    memset(alpha->stage.near, 0, sizeof *alpha->stage.near * (size_t)at->count[DLS_ROWS_N]);
    if (!without_impacts) return;
    memset(alpha->x + at->U, 0, sizeof *alpha->x * (size_t)(2 * at->m));
    DLS_EACH_FAMILY(f) {
        memset(alpha->x + at->impact[f], 0, sizeof *alpha->x * (size_t)at->count[f]);
        if (at->kappa[f] >= 0) memset(alpha->x + at->kappa[f], 0, sizeof *alpha->x * (size_t)at->count[f]);
    }
}

/* Contacts whose sets changed in at least a quarter of the updates. */
static void name_cycling(const dls_alpha *alpha, int updates, dls_alpha_report *report) {
    report->cycling_count = 0;
    for (int k = 0; k < alpha->at.count[DLS_ROWS_N]; k++)
        if (alpha->flips[k] > 2 && 4 * alpha->flips[k] >= updates && report->cycling_count < DLS_ALPHA_NAMED)
            report->cycling[report->cycling_count++] = k;
}

/* factor: of r, for a cycle between sets ends most often with an r that trusts forces more than rates. most:
 * updates, 0 for those of the options. */
typedef struct newton_attempt {
    double factor;
    bool without_impacts, yielding, sweeps;
    int most;
} newton_attempt;

static bool by_newton(dls_alpha *alpha, const newton_attempt *a, dls_alpha_report *report) {
    const dls_alpha_options *o = &alpha->options;
    int updates, most = a->most && a->most < o->max_newton ? a->most : o->max_newton;
    begin_attempt(alpha, a->without_impacts);
    if (a->sweeps && !dls_alpha_sweep(alpha, alpha->x, report)) return false;
    memset(alpha->flips, 0, sizeof *alpha->flips * (size_t)alpha->at.count[DLS_ROWS_N]);
    int end = dls_alpha_newton(alpha, alpha->x, o->tolerance, most, &updates, &report->norm);
    report->newton_updates += updates;
    if (end == DLS_NEWTON_CYCLING || end == DLS_NEWTON_EXHAUSTED) name_cycling(alpha, updates, report);
    return end == DLS_NEWTON_SOLVED;
}

/* Powers of two, so that nothing is rounded on the way back. */
static void scale_prox(dls_alpha *alpha, double factor) {
    for (int k = 0; k < alpha->at.count[DLS_ROWS_N]; k++) alpha->r_n[k] *= factor;
    for (int l = 0; l < alpha->system.law_count; l++) alpha->r_t[l] *= factor;
}

/* Systems of bodies: attempts before the whole of R′ is factored, and iterations of fixed points before the
 * step is cut in half, which serves them better. */
enum { BY_LEVELS = 2, MANY_FIXED = 1000 };

/* Where many contacts strike at once sets cycle as a rule, and sweeps find those that do not. */
static const newton_attempt few_contacts[] = {
    {1, false, false, false, 0},    {1, true, false, false, 0},        {1, false, true, false, 0},
    {1, true, true, false, 0},      {1, true, false, true, 0},         {1, true, true, true, 0},
    {0.125, true, false, false, 0}, {0.015625, true, false, false, 0}, {0.125, false, true, false, 0}};
static const newton_attempt many_contacts[] = {{1, false, false, false, 12},
                                               {1, true, false, true, 0},
                                               {1, true, true, true, 0},
                                               {1, true, false, false, 0}};

static bool attempt(dls_alpha *alpha, dls_alpha_report *report) {
    bool newton = alpha->options.solver == DLS_ALPHA_NEWTON,
         many = alpha->at.count[DLS_ROWS_N] > DLS_FEW_CONTACTS;
    const newton_attempt *attempts = many ? many_contacts : few_contacts;
    size_t count =
        many ? sizeof many_contacts / sizeof *many_contacts : sizeof few_contacts / sizeof *few_contacts;
    bool small = dls_jacobian_is_small(alpha);
    bool told = alpha->parts.slopes && alpha->options.jacobian == DLS_JACOBIAN_CHAIN;
    for (size_t i = 0; newton && i < count; i++) {
        const newton_attempt *a = &attempts[i];
        scale_prox(alpha, a->factor);
        alpha->stage.yielding = a->yielding;
        alpha->stage.whole = a->sweeps && alpha->options.slip != DLS_SLIP_END;
        alpha->by_levels = told && (i < BY_LEVELS || !small);
        bool solved = by_newton(alpha, a, report);
        alpha->stage.yielding = false;
        scale_prox(alpha, 1 / a->factor);
        if (solved) return true;
        report->retries++;
    }
    alpha->by_levels = told;
    begin_attempt(alpha, newton);
    int most = alpha->options.max_fixed, few = newton && alpha->parts.count > 1 ? MANY_FIXED : most;
    return dls_fixed_point(alpha, alpha->x, few < most ? few : most, report);
}

/* ---- contacts that carry nothing ---- */

/* P = λ = 0 of a contact and its laws, and κ̂ = 0 where it is open. */
static void release(dls_alpha *alpha, int k, double *x) {
    const dls_layout *at = &alpha->at;
    const dls_alpha_stage *stage = &alpha->stage;
    double *force = x + at->force[DLS_ROWS_N] + k;
    x[at->kappa[DLS_ROWS_N] + k] =
        alpha->sets.place[k] ? x[at->kappa[DLS_ROWS_N] + k] + stage->c_q * *force : -stage->kappa_base[k];
    x[at->impact[DLS_ROWS_N] + k] = -stage->percussion_base[DLS_ROWS_N][k], *force = 0;
    for (int l = alpha->contact_law[k]; l >= 0; l = alpha->next_law[l])
        for (int i = alpha->law_row[l]; i < alpha->law_row[l + 1]; i++) {
            x[at->impact[DLS_ROWS_F] + i] = -stage->percussion_base[DLS_ROWS_F][i];
            x[at->force[DLS_ROWS_F] + i] = 0;
        }
}

/* False where there is nothing to release. */
static bool release_all(dls_alpha *alpha) {
    size_t size = sizeof *alpha->x * (size_t)alpha->at.total;
    memcpy(alpha->x_kept, alpha->x, size);
    for (int k = 0; k < alpha->at.count[DLS_ROWS_N]; k++)
        if (!alpha->sets.B[k]) release(alpha, k, alpha->x);
    return memcmp(alpha->x, alpha->x_kept, size) != 0;
}

static bool is_solved(dls_alpha *alpha) {
    alpha->stage.keep_sets = true;
    bool solved = dls_residual_at(alpha, alpha->x, alpha->R) &&
                  dls_alpha_norm(alpha, alpha->R) <= alpha->options.tolerance;
    alpha->stage.keep_sets = false;
    return solved;
}

/* Newton leaves percussions below its tolerance on contacts that are open or opening: they go, if need be
 * with an update. */
static void release_open(dls_alpha *alpha, dls_alpha_report *report) {
    const dls_alpha_options *o = &alpha->options;
    for (int pass = 0; pass < 2; pass++) {
        int updates = 0;
        if (!release_all(alpha) || is_solved(alpha)) return;
        bool better = pass == 0 && dls_alpha_newton(alpha, alpha->x, o->tolerance, 1, &updates,
                                                    &report->norm) == DLS_NEWTON_SOLVED;
        report->newton_updates += updates;
        if (better) continue;
        memcpy(alpha->x, alpha->x_kept, sizeof *alpha->x * (size_t)alpha->at.total);
        dls_residual_at(alpha, alpha->x, alpha->R);
        return;
    }
}

/* R counts in units of its own, the certificate by what is given: where that asks for more, updates go on. */
static void certify(dls_alpha *alpha, dls_alpha_report *report) {
    enum { MORE = 3 };
    const dls_tally earlier = alpha->tally;
    const size_t size = sizeof *alpha->x * (size_t)alpha->at.total;
    dls_alpha_certify(alpha, alpha->x, report);
    if (alpha->options.certificate == 0 || report->by_fixed_point) return;
    for (int k = 0; k < MORE && report->residual > alpha->options.certificate; k++) {
        const dls_alpha_report last = *report;
        const dls_tally judged = alpha->tally;
        int updates = 0;
        memcpy(alpha->x_kept, alpha->x, size);
        dls_alpha_newton(alpha, alpha->x, 0, 1, &updates, &report->norm);
        alpha->tally = earlier;
        dls_alpha_certify(alpha, alpha->x, report);
        bool nearer = report->residual < last.residual;
        if (!nearer) {
            memcpy(alpha->x, alpha->x_kept, size);
            dls_residual_at(alpha, alpha->x, alpha->R);
            alpha->tally = judged, *report = last;
        }
        report->newton_updates += updates;
        if (!nearer) return;
    }
}

/* ---- the state ---- */

void dls_alpha_state_copy(dls_alpha_state *to, const dls_alpha_state *from) {
    assert(to->number_count == from->number_count && to->flag_count == from->flag_count);
    to->t = from->t, to->step = from->step, to->dt = from->dt;
    memcpy(to->numbers, from->numbers, sizeof *to->numbers * (size_t)from->number_count);
    memcpy(to->flags, from->flags, sizeof *to->flags * (size_t)from->flag_count);
}

/* v̄₁ = (α_f v₀ + (1−α_f) v₁ − α_m v̄₀)/(1−α_m); v itself after the initial step. */
static void renew(const dls_alpha *alpha, int count, const double *next, double *value, double *bar) {
    for (int i = 0; i < count; i++) {
        double mean = alpha->alpha_f * value[i] + (1 - alpha->alpha_f) * next[i] - alpha->alpha_m * bar[i];
        bar[i] = alpha->stage.dt > 0 ? mean / (1 - alpha->alpha_m) : next[i];
        value[i] = next[i];
    }
}

static void commit(dls_alpha *alpha) {
    const dls_layout *at = &alpha->at;
    dls_alpha_state *s = &alpha->state;
    const dls_alpha_stage *stage = &alpha->stage;
    s->t = stage->t1;
    memcpy(s->q, stage->q, sizeof *s->q * (size_t)at->n);
    memcpy(s->u, stage->u, sizeof *s->u * (size_t)at->m);
    memcpy(s->x, alpha->x, sizeof *s->x * (size_t)at->total);
    renew(alpha, at->m, alpha->x + at->a, s->a, s->a_bar);
    for (int f = DLS_ROWS_N; f <= DLS_ROWS_F; f++) {
        renew(alpha, at->count[f], alpha->x + at->force[f], s->force[f], s->bar[f]);
        for (int i = 0; i < at->count[f]; i++) s->percussion[f][i] += stage->percussion[f][i];
    }
    memcpy(s->closed, alpha->sets.A, sizeof *s->closed * (size_t)at->count[DLS_ROWS_N]);
    memcpy(s->sticking, alpha->sets.D, sizeof *s->sticking * (size_t)alpha->system.law_count);
    if (alpha->system.settle) alpha->system.settle(s->t, s->q, alpha->system.user);
}

/* Bars stand at t + (α_m − α_f) dt: they follow into a smaller step. Into a larger one they stay, for what
 * was cut had a jump, and beyond it nothing is known. */
static void move_bars(dls_alpha *alpha, double dt) {
    dls_alpha_state *s = &alpha->state;
    double ratio = s->dt > 0 ? dt / s->dt : 1;
    s->dt = dt;
    if (ratio >= 1) return;
    for (int i = 0; i < alpha->at.m; i++) s->a_bar[i] = s->a[i] + ratio * (s->a_bar[i] - s->a[i]);
    for (int f = DLS_ROWS_N; f <= DLS_ROWS_F; f++)
        for (int i = 0; i < alpha->at.count[f]; i++)
            s->bar[f][i] = s->force[f][i] + ratio * (s->bar[f][i] - s->force[f][i]);
}

static const char *contact_name(const dls_alpha *alpha, int contact, char *text, size_t size) {
    if (alpha->system.contact_name)
        alpha->system.contact_name(contact, text, size, alpha->system.user);
    else
        snprintf(text, size, "%d", contact);
    return text;
}

static dls_status fail(const dls_alpha *alpha, const dls_alpha_report *report, dls_error *error) {
    char names[256] = "", one[160];
    if (alpha->culprit) {
        snprintf(names, sizeof names, "; no numbers from ");
        dls_culprit_text(alpha, names + strlen(names), sizeof names - strlen(names));
    }
    for (int i = 0; !alpha->culprit && i < report->cycling_count; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s",
                 i ? ", " : "; sets change for ever at contacts ",
                 contact_name(alpha, report->cycling[i], one, sizeof one));
    return dls_fail(
        error, DLS_ERROR_NUMERIC,
        "generalized-alpha: no solution of the step at t = %g with dt = %g (residual %.3g, expected %.3g)%s",
        alpha->state.t, alpha->stage.dt, report->norm, alpha->options.tolerance, names);
}

dls_status dls_alpha_advance(dls_alpha *alpha, double dt, double closing, dls_alpha_report *report,
                             dls_error *error) {
    alpha->culprit = NULL;
    alpha->condition = 0;
    if (dt > 0) move_bars(alpha, dt);
    if (!dls_stage_begin(alpha, dt, closing)) return dls_alpha_refuse_numbers(alpha, alpha->state.t, error);
    bool solved = attempt(alpha, report);
    report->condition = fmax(report->condition, alpha->condition);
    if (!solved) return fail(alpha, report, error);
    alpha->culprit = NULL;
    if (alpha->options.open == DLS_OPEN_PERCUSSION && !report->by_fixed_point) release_open(alpha, report);
    certify(alpha, report);
    commit(alpha);
    return DLS_OK;
}

/* ---- steps of users ---- */

/* A step that fails is rejected and taken in halves, and so on; substeps begin where the last one ended. */
static dls_status advance_or_halve(dls_alpha *alpha, double dt, int depth, dls_alpha_report *report,
                                   dls_error *error) {
    dls_status status = dls_alpha_advance(alpha, dt, 0, report, error);
    if (status != DLS_ERROR_NUMERIC || depth == alpha->options.max_halvings) return status;
    report->halvings++;
    status = advance_or_halve(alpha, dt / 2, depth + 1, report, error);
    return status ? status : advance_or_halve(alpha, dt / 2, depth + 1, report, error);
}

static bool has_impact(const dls_alpha *alpha) {
    const dls_layout *at = &alpha->at;
    double largest = 0, size = 0;
    for (int f = DLS_ROWS_N; f <= DLS_ROWS_F; f++)
        for (int i = 0; i < at->count[f]; i++) {
            largest = fmax(largest, fabs(alpha->x[at->impact[f] + i]));
            size = fmax(size, fabs(alpha->x[at->force[f] + i]));
        }
    return largest > 0.1 * alpha->options.dt * size;
}

/* ā₀ = a₀ + dt(α_m − α_f)ȧ₀ with ȧ₀ of a trial step, and λ̄₀ likewise; as it was where that has an impact. */
static dls_status shift_start(dls_alpha *alpha, dls_alpha_report *report, dls_error *error) {
    double shift = alpha->alpha_m - alpha->alpha_f;
    dls_status status = dls_alpha_advance(alpha, alpha->options.dt, 0, report, error);
    bool useful = !status && !has_impact(alpha);
    dls_alpha_state_copy(&alpha->state, &alpha->kept);
    if (!useful) return status == DLS_ERROR_NUMERIC ? DLS_OK : status;
    for (int i = 0; i < alpha->at.m; i++)
        alpha->state.a_bar[i] = alpha->state.a[i] + shift * (alpha->x[alpha->at.a + i] - alpha->state.a[i]);
    for (int f = DLS_ROWS_N; f <= DLS_ROWS_F; f++)
        for (int i = 0; i < alpha->at.count[f]; i++) {
            double now = alpha->state.force[f][i];
            alpha->state.bar[f][i] = now + shift * (alpha->x[alpha->at.force[f] + i] - now);
        }
    return DLS_OK;
}

static void clear_percussions(dls_alpha *alpha) {
    for (int f = DLS_ROWS_N; f <= DLS_ROWS_F; f++)
        memset(alpha->state.percussion[f], 0, sizeof(double) * (size_t)alpha->at.count[f]);
}

dls_status dls_alpha_step(dls_alpha *alpha, dls_alpha_report *report, dls_error *error) {
    dls_alpha_report own = {.solutions = -1};
    dls_error_clear(error);
    if (!alpha) return dls_fail(error, DLS_ERROR_ARGUMENT, "dls_alpha_step: no alpha given");
    dls_alpha_state_copy(&alpha->kept, &alpha->state);
    dls_status status = DLS_OK;
    if (alpha->state.step == 0 && alpha->options.start == DLS_START_SHIFTED)
        status = shift_start(alpha, &own, error);
    own = (dls_alpha_report){.solutions = -1};
    alpha->tally = (dls_tally){0};
    clear_percussions(alpha);
    if (!status) status = advance_or_halve(alpha, alpha->options.dt, 0, &own, error);
    if (status) {
        dls_alpha_state_copy(&alpha->state, &alpha->kept);
        return status;
    }
    alpha->state.step = alpha->kept.step + 1;
    if (own.halvings) alpha->state.t = alpha->kept.t + alpha->options.dt;
    own.t = alpha->state.t, own.step = alpha->state.step;
    if (report) *report = own;
    return DLS_OK;
}
