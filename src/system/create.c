/* Making and ending a generalized-α integration; the initial step. */
#include "system/alpha.h"

#include "base/error.h"
#include "base/field.h"
#include "base/lu.h"
#include "system/levels.h"

#include <math.h>
#include <string.h>

/* ---- constants ---- */

/* Chung–Hulbert by ρ_∞; HHT: α_m = 0, α_f = (1−ρ)/(1+ρ); Newmark: α_m = α_f = 0. */
static void set_coefficients(dls_alpha *alpha) {
    double rho = alpha->options.rho;
    alpha->alpha_m = alpha->alpha_f = 0;
    if (alpha->options.scheme == DLS_CHUNG_HULBERT)
        alpha->alpha_m = (2 * rho - 1) / (rho + 1), alpha->alpha_f = rho / (rho + 1);
    else if (alpha->options.scheme == DLS_HHT)
        alpha->alpha_f = (1 - rho) / (1 + rho);
    alpha->gamma = 0.5 + alpha->alpha_f - alpha->alpha_m;
    alpha->beta = 0.25 * (0.5 + alpha->gamma) * (0.5 + alpha->gamma);
}

static void set_layout(dls_alpha *alpha) {
    const dls_model *s = &alpha->system;
    dls_layout *at = &alpha->at;
    at->n = s->coordinates, at->m = s->velocities;
    at->a = 0, at->U = at->m, at->Q = 2 * at->m;
    int place = 3 * at->m;
    DLS_EACH_FAMILY(f) {
        int count = at->count[f] = s->rows[f].count;
        bool has_position = f == DLS_ROWS_G || f == DLS_ROWS_N;
        if (f == DLS_ROWS_N) at->smooth = place;
        at->kappa[f] = has_position ? place : -1;
        place += has_position ? count : 0;
        at->impact[f] = place, place += count;
        at->force[f] = place, place += count;
    }
    at->total = place;
}

/* ---- memory ---- */

static void *take(dls_alpha *alpha, int64_t count, size_t size) {
    void *block = dls_workspace_take_zero(alpha->memory, (size_t)count, size);
    if (!block) alpha->out_of_memory = true;
    return block;
}

static double *numbers(dls_alpha *alpha, int64_t count) { return take(alpha, count, sizeof(double)); }
double *dls_alpha_numbers(dls_alpha *alpha, int64_t count) { return numbers(alpha, count); }
int *dls_alpha_integers(dls_alpha *alpha, int64_t count) { return take(alpha, count, sizeof(int)); }
static bool *flags(dls_alpha *alpha, int64_t count) { return take(alpha, count, sizeof(bool)); }
static int *integers(dls_alpha *alpha, int64_t count) { return take(alpha, count, sizeof(int)); }

static double *cut(double **rest, int count) {
    double *part = *rest;
    *rest += count;
    return part;
}

static void take_state(dls_alpha *alpha, dls_alpha_state *s) {
    const dls_layout *at = &alpha->at;
    int contacts = at->count[DLS_ROWS_N], laws = alpha->system.law_count;
    s->number_count = at->n + 3 * at->m + at->total + 3 * (contacts + at->count[DLS_ROWS_F]);
    s->flag_count = contacts + laws;
    s->numbers = numbers(alpha, s->number_count);
    s->flags = flags(alpha, s->flag_count);
    if (alpha->out_of_memory) return;
    double *rest = s->numbers;
    s->q = cut(&rest, at->n), s->u = cut(&rest, at->m), s->a = cut(&rest, at->m);
    s->a_bar = cut(&rest, at->m), s->x = cut(&rest, at->total);
    for (int f = DLS_ROWS_N; f <= DLS_ROWS_F; f++) {
        s->force[f] = cut(&rest, at->count[f]), s->bar[f] = cut(&rest, at->count[f]);
        s->percussion[f] = cut(&rest, at->count[f]);
    }
    s->closed = s->flags, s->sticking = s->flags + contacts;
}

static void take_terms(dls_alpha *alpha, dls_terms *terms) {
    terms->M = numbers(alpha, alpha->M_at[alpha->parts.count]), terms->h = numbers(alpha, alpha->at.m);
    DLS_EACH_FAMILY(f) {
        int count = alpha->at.count[f];
        terms->rows[f] = (dls_row_terms){numbers(alpha, count), numbers(alpha, count), numbers(alpha, count),
                                         numbers(alpha, dls_parts_width(alpha, f))};
    }
}

static void take_told(dls_alpha *alpha) {
    int64_t n = alpha->at.n, m = alpha->at.m;
    for (int k = 0; k < 3; k++) alpha->told.dynamic_q[k] = numbers(alpha, m * n);
    alpha->told.force_u = numbers(alpha, m * m);
    DLS_EACH_FAMILY(f) {
        int64_t count = alpha->at.count[f];
        alpha->told.rows[f] = (dls_told_row_slopes){numbers(alpha, count * n), numbers(alpha, count * n),
                                                    numbers(alpha, count * n), numbers(alpha, count * n),
                                                    numbers(alpha, count * m)};
    }
}

/* ∂W/∂q of rows, and matrices of ties. */
static void take_turns(dls_alpha *alpha) {
    dls_slopes *s = &alpha->slopes;
    s->tie_at = (int64_t *)numbers(alpha, alpha->parts.tie_count + 1);
    DLS_EACH_FAMILY(f) s->rows[f].turn_at = (int64_t *)numbers(alpha, alpha->at.count[f] + 1);
    if (alpha->out_of_memory) return;
    for (int i = 0; i < alpha->parts.tie_count; i++) {
        int64_t width = dls_tie_width(alpha, i);
        s->tie_at[i + 1] = s->tie_at[i] + width * width;
    }
    s->tie_q = numbers(alpha, s->tie_at[alpha->parts.tie_count]);
    s->tie_u = numbers(alpha, s->tie_at[alpha->parts.tie_count]);
    s->T = numbers(alpha, alpha->M_at[alpha->parts.count]);
    DLS_EACH_FAMILY(f) {
        int64_t *at = s->rows[f].turn_at;
        for (int i = 0; i < alpha->at.count[f]; i++)
            at[i + 1] = at[i] + (int64_t)alpha->place[f][i].width * alpha->place[f][i].width;
        s->rows[f].turn = numbers(alpha, at[alpha->at.count[f]]);
    }
}

static void take_slopes(dls_alpha *alpha) {
    int64_t blocks = alpha->M_at[alpha->parts.count];
    for (int k = 0; k < 3; k++) alpha->slopes.dynamic[k] = numbers(alpha, blocks);
    alpha->slopes.force_u = numbers(alpha, blocks);
    DLS_EACH_FAMILY(f) {
        int64_t width = dls_parts_width(alpha, f);
        alpha->slopes.rows[f] = (dls_row_slopes){.value = numbers(alpha, width),
                                                 .rate = numbers(alpha, width),
                                                 .before = numbers(alpha, width),
                                                 .bend = numbers(alpha, width),
                                                 .bend_u = numbers(alpha, width)};
    }
    if (alpha->parts.slopes)
        take_turns(alpha);
    else
        take_told(alpha);
}

static void take_stage(dls_alpha *alpha) {
    dls_alpha_stage *stage = &alpha->stage;
    int64_t n = alpha->at.n, m = alpha->at.m;
    stage->B = numbers(alpha, alpha->B_at[alpha->parts.count]), stage->q_base = numbers(alpha, n),
    stage->u_base = numbers(alpha, m);
    stage->q = numbers(alpha, n), stage->u = numbers(alpha, m);
    stage->kappa_base = numbers(alpha, alpha->at.count[DLS_ROWS_N]);
    stage->kappa_hat = numbers(alpha, alpha->at.count[DLS_ROWS_N]);
    stage->split = flags(alpha, alpha->system.law_count);
    stage->near = flags(alpha, alpha->at.count[DLS_ROWS_N]);
    stage->swept = flags(alpha, alpha->at.count[DLS_ROWS_N]);
    take_terms(alpha, &stage->terms);
    DLS_EACH_FAMILY(f) {
        int count = alpha->at.count[f];
        stage->percussion_base[f] = numbers(alpha, count), stage->percussion[f] = numbers(alpha, count);
        stage->before[f] = numbers(alpha, count), stage->acceleration[f] = numbers(alpha, count);
        stage->xi[f] = numbers(alpha, count);
    }
}

static void take_sets(dls_alpha *alpha, dls_sets *sets) {
    int contacts = alpha->at.count[DLS_ROWS_N], laws = alpha->system.law_count;
    sets->place = flags(alpha, contacts);
    sets->A = flags(alpha, contacts), sets->B = flags(alpha, contacts), sets->C = flags(alpha, contacts);
    sets->D = flags(alpha, laws), sets->E = flags(alpha, laws);
}

/* Room to factor a block of any group: all of them may be tied. */
static int64_t largest_group(const dls_alpha *alpha) {
    if (alpha->parts.tie_count > 0) return alpha->at.m;
    int64_t largest = 0;
    for (int b = 0; b < alpha->parts.count; b++) {
        int m = alpha->parts.u[b + 1] - alpha->parts.u[b];
        if (m > largest) largest = m;
    }
    return largest;
}

static void take_linear(dls_alpha *alpha) {
    int64_t total = alpha->at.total, m = alpha->at.m, widest = largest_group(alpha);
    alpha->lu_room = numbers(alpha, dls_lu_room((int)widest)), alpha->group_x = numbers(alpha, widest);
    alpha->R = numbers(alpha, total), alpha->R_probe = numbers(alpha, total),
    alpha->x = numbers(alpha, total);
    alpha->x_kept = numbers(alpha, total);
    alpha->x_probe = numbers(alpha, total), alpha->step = numbers(alpha, total);
    alpha->left = numbers(alpha, total), alpha->change = numbers(alpha, total);
    alpha->move_q = numbers(alpha, m), alpha->move_u = numbers(alpha, m);
    DLS_EACH_FAMILY(f) {
        int count = alpha->at.count[f];
        alpha->d_value[f] = numbers(alpha, count), alpha->d_rate[f] = numbers(alpha, count);
        alpha->d_xi[f] = numbers(alpha, count), alpha->d_acceleration[f] = numbers(alpha, count);
    }
}

static void take_contacts(dls_alpha *alpha) {
    int64_t contacts = alpha->at.count[DLS_ROWS_N], rows = contacts + alpha->at.count[DLS_ROWS_F];
    int laws = alpha->system.law_count;
    alpha->r_n = numbers(alpha, contacts), alpha->r_t = numbers(alpha, laws);
    alpha->impact_law = take(alpha, laws, sizeof *alpha->impact_law);
    alpha->force_law = take(alpha, laws, sizeof *alpha->force_law);
    alpha->slip_before = numbers(alpha, alpha->at.count[DLS_ROWS_F]);
    alpha->flips = integers(alpha, contacts);
    alpha->weight = numbers(alpha, alpha->at.total);
    dls_contacts_fit(alpha);
    alpha->free = numbers(alpha, rows), alpha->sweep_x = numbers(alpha, 3 * rows);
}

static void take_probes(dls_alpha *alpha) {
    int64_t widest = alpha->at.n > alpha->at.m ? alpha->at.n : alpha->at.m, most = widest;
    DLS_EACH_FAMILY(f) if (alpha->at.count[f] > most) most = alpha->at.count[f];
    take_terms(alpha, &alpha->probe);
    alpha->motion_bend = numbers(alpha, alpha->at.n);
    alpha->probe_q = numbers(alpha, most), alpha->probe_u = numbers(alpha, most);
    alpha->probe_rate = numbers(alpha, most), alpha->probe_low = numbers(alpha, most);
    alpha->probe_high = numbers(alpha, most);
    if (!alpha->parts.slopes) alpha->probe_matrix = numbers(alpha, most * widest);
}

static void take_laws(dls_alpha *alpha, const dls_model *system) {
    int contacts = system->rows[DLS_ROWS_N].count;
    alpha->contacts = take(alpha, contacts, sizeof *alpha->contacts);
    alpha->laws = take(alpha, system->law_count, sizeof *alpha->laws);
    alpha->law_row = integers(alpha, system->law_count + 1);
    alpha->law_of = integers(alpha, system->rows[DLS_ROWS_F].count);
    alpha->contact_law = integers(alpha, contacts), alpha->next_law = integers(alpha, system->law_count);
    if (alpha->out_of_memory) return;
    if (contacts) memcpy(alpha->contacts, system->contacts, sizeof *alpha->contacts * (size_t)contacts);
    for (int l = 0; l < system->law_count; l++) {
        alpha->laws[l] = system->laws[l];
        alpha->law_row[l + 1] = alpha->law_row[l] + system->laws[l].size;
        for (int i = alpha->law_row[l]; i < alpha->law_row[l + 1]; i++) alpha->law_of[i] = l;
    }
    for (int k = 0; k < contacts; k++) alpha->contact_law[k] = -1;
    for (int l = system->law_count - 1; l >= 0; l--) {
        int contact = system->laws[l].contact;
        if (contact >= 0) alpha->next_law[l] = alpha->contact_law[contact], alpha->contact_law[contact] = l;
    }
    alpha->system.contacts = alpha->contacts, alpha->system.laws = alpha->laws;
}

dls_alpha *dls_alpha_empty(void) {
    dls_alpha *alpha = DLS_NEW_ZERO(dls_alpha, 1);
    if (!alpha) return NULL;
    alpha->memory = dls_workspace_create();
    alpha->levels = dls_levels_create();
    if (alpha->memory && alpha->levels) return alpha;
    dls_alpha_destroy(alpha);
    return NULL;
}

dls_status dls_alpha_fit(dls_alpha *alpha, const dls_model *system, const dls_parts *parts,
                         const dls_alpha_options *options, dls_error *error) {
    dls_workspace *memory = alpha->memory;
    dls_workspace_release(memory, (dls_workspace_mark){0, 0});
    *alpha = (dls_alpha){.memory = memory, .levels = alpha->levels, .system = *system, .options = *options};
    set_coefficients(alpha);
    set_layout(alpha);
    dls_parts_fit(alpha, parts);
    if (alpha->out_of_memory) return dls_fail_memory(error);
    dls_levels_fit(alpha);
    take_laws(alpha, system);
    take_state(alpha, &alpha->state), take_state(alpha, &alpha->kept);
    take_stage(alpha), take_slopes(alpha), take_probes(alpha), take_linear(alpha), take_contacts(alpha);
    take_sets(alpha, &alpha->sets), take_sets(alpha, &alpha->sets_before);
    return alpha->out_of_memory ? dls_fail_memory(error) : DLS_OK;
}

dls_status dls_alpha_allocate(const dls_model *system, const dls_alpha_options *options, dls_alpha **out,
                              dls_error *error) {
    *out = dls_alpha_empty();
    if (!*out) return dls_fail_memory(error);
    dls_status status = dls_alpha_fit(*out, system, NULL, options, error);
    if (status) {
        dls_alpha_destroy(*out);
        *out = NULL;
    }
    return status;
}

void dls_alpha_destroy(dls_alpha *alpha) {
    if (!alpha) return;
    dls_workspace_destroy(alpha->memory);
    dls_levels_destroy(alpha->levels);
    dls_free(alpha);
}

/* ---- the initial step ---- */

dls_status dls_alpha_refuse_numbers(const dls_alpha *alpha, double t, dls_error *error) {
    char who[64];
    return dls_fail(error, DLS_ERROR_INPUT,
                    "system: %s at t = %g, expected finite numbers and a regular mass",
                    dls_culprit_text(alpha, who, sizeof who), t);
}

static dls_status check_options(const dls_alpha_options *options, dls_error *error) {
    int count;
    const dls_field *fields = dls_alpha_fields(&count);
    dls_status status = dls_field_check(fields, count, options, error);
    if (!status && options->scheme == DLS_HHT && options->rho < 0.5)
        status =
            dls_fail(error, DLS_ERROR_ARGUMENT, "rho: %g, expected 0.5 to 1 with scheme hht", options->rho);
    return status;
}

static dls_status check_point(const dls_model *system, double t, const double *q, const double *u,
                              dls_error *error) {
    bool good = isfinite(t) && q && u;
    for (int i = 0; good && i < system->coordinates; i++) good = isfinite(q[i]);
    for (int i = 0; good && i < system->velocities; i++) good = isfinite(u[i]);
    return good ? DLS_OK
                : dls_fail(error, DLS_ERROR_INPUT, "system: t, q or u at the start, expected finite numbers");
}

static void forget_impacts(dls_alpha *alpha) {
    const dls_layout *at = &alpha->at;
    memset(alpha->state.x + at->U, 0, sizeof(double) * (size_t)(2 * at->m));
    DLS_EACH_FAMILY(f) {
        memset(alpha->state.x + at->impact[f], 0, sizeof(double) * (size_t)at->count[f]);
        if (at->kappa[f] >= 0)
            memset(alpha->state.x + at->kappa[f], 0, sizeof(double) * (size_t)at->count[f]);
    }
}

/* Beyond small corrections a start is none. */
static dls_status check_start(dls_alpha *alpha, dls_error *error) {
    static const double most = 1e-3;
    const dls_alpha_state *s = &alpha->state;
    double size = 1, speed = 1;
    for (int i = 0; i < alpha->at.n; i++) size = fmax(size, fabs(s->q[i]));
    for (int i = 0; i < alpha->at.m; i++) speed = fmax(speed, fabs(s->u[i]));
    if (!dls_terms_at(alpha, &alpha->stage.terms, s->t, s->q, s->u, DLS_WANT_ALL))
        return dls_alpha_refuse_numbers(alpha, s->t, error);
    for (int f = DLS_ROWS_G; f <= DLS_ROWS_GAMMA; f++)
        for (int k = 0; k < alpha->at.count[f]; k++) {
            const dls_row_terms *rows = &alpha->stage.terms.rows[f];
            bool has_value = alpha->at.kappa[f] >= 0, off = has_value && fabs(rows->value[k]) > most * size;
            if (!off && !(fabs(rows->rate[k]) > most * speed)) continue;
            return dls_fail(error, DLS_ERROR_INPUT,
                            "system: %s of row %d of %s is %.6g at the start, expected 0 to %.3g",
                            off ? "value" : "rate", k, dls_row_family_name(f),
                            off ? rows->value[k] : rows->rate[k], most * (off ? size : speed));
        }
    return DLS_OK;
}

/* A step of no time: Q closes g = 0, U is the impact of closed contacts that approach. Another one finds a
 * and λ of the velocities after it. */
dls_status dls_alpha_begin(dls_alpha *alpha, dls_error *error) {
    for (int i = 0; i < 2; i++) {
        alpha->tally = (dls_tally){0};
        dls_status status = dls_alpha_advance(alpha, 0, alpha->options.tolerance, &alpha->first, error);
        if (status) return status;
        forget_impacts(alpha);
    }
    alpha->first.t = alpha->state.t;
    return DLS_OK;
}

dls_status dls_alpha_create(const dls_model *system, const dls_alpha_options *options, double t,
                            const double *q, const double *u, dls_alpha **out, dls_error *error) {
    dls_error_clear(error);
    if (!out || !system || !options)
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "dls_alpha_create: expected a system, options and a place");
    *out = NULL;
    dls_status status = dls_model_validate(system, error);
    if (!status) status = check_options(options, error);
    if (!status) status = check_point(system, t, q, u, error);
    dls_alpha *alpha = NULL;
    if (!status) status = dls_alpha_allocate(system, options, &alpha, error);
    if (status) return status;
    alpha->state.t = t;
    memcpy(alpha->state.q, q, sizeof *q * (size_t)system->coordinates);
    memcpy(alpha->state.u, u, sizeof *u * (size_t)system->velocities);
    status = check_start(alpha, error);
    if (!status) status = dls_alpha_begin(alpha, error);
    if (status) {
        dls_alpha_destroy(alpha);
        return status;
    }
    *out = alpha;
    return DLS_OK;
}

/* ---- asking ---- */

void dls_alpha_first_report(const dls_alpha *alpha, dls_alpha_report *report) { *report = alpha->first; }

dls_alpha_view dls_alpha_get(const dls_alpha *alpha) {
    const dls_alpha_state *s = &alpha->state;
    dls_alpha_view view = {.t = s->t,
                           .q = s->q,
                           .u = s->u,
                           .a = s->a,
                           .gap = alpha->stage.terms.rows[DLS_ROWS_N].value,
                           .slip = alpha->stage.terms.rows[DLS_ROWS_F].rate,
                           .closed = s->closed,
                           .sticking = s->sticking};
    DLS_EACH_FAMILY(f) {
        view.kappa[f] = alpha->at.kappa[f] >= 0 ? s->x + alpha->at.kappa[f] : NULL;
        view.impact[f] = s->x + alpha->at.impact[f], view.force[f] = s->x + alpha->at.force[f];
        view.percussion[f] = s->percussion[f];
    }
    return view;
}
