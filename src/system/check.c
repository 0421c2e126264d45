/* What can be a system, and whether what it says of slopes agrees with differences. */
#include "system/alpha.h"

#include "base/error.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- sizes and callbacks ---- */

static dls_status validate_rows(const dls_model *s, dls_error *error) {
    DLS_EACH_FAMILY(f) {
        const dls_model_rows *rows = &s->rows[f];
        bool has_position = f == DLS_ROWS_G || f == DLS_ROWS_N;
        if (rows->count < 0 || rows->count > 100000)
            return dls_fail(error, DLS_ERROR_INPUT, "system: %d rows of %s, expected 0 to 100000",
                            rows->count, dls_row_family_name(f));
        if (rows->count && !rows->rate)
            return dls_fail(error, DLS_ERROR_INPUT, "system: %s has no rate", dls_row_family_name(f));
        if (rows->count && has_position && !rows->value)
            return dls_fail(error, DLS_ERROR_INPUT, "system: %s has no value", dls_row_family_name(f));
    }
    return DLS_OK;
}

static bool in_range(double x) { return x >= 0 && isfinite(x); }

static dls_status validate_laws(const dls_model *s, dls_error *error) {
    int contacts = s->rows[DLS_ROWS_N].count, rows = 0;
    if ((contacts && !s->contacts) || s->law_count < 0 || (s->law_count && !s->laws))
        return dls_fail(error, DLS_ERROR_INPUT, "system: contacts or laws, expected an array of each");
    for (int k = 0; k < contacts; k++)
        if (!in_range(s->contacts[k].e_n) || !in_range(s->contacts[k].r))
            return dls_fail(error, DLS_ERROR_INPUT, "system: contact %d: e_n %g, r %g, expected 0 or more", k,
                            s->contacts[k].e_n, s->contacts[k].r);
    for (int l = 0; l < s->law_count; l++) {
        const dls_model_friction *law = &s->laws[l];
        if (law->contact < -1 || law->contact >= contacts || law->size < 1 || law->size > DLS_LAW_SIZE)
            return dls_fail(error, DLS_ERROR_INPUT,
                            "system: law %d: contact %d, size %d, expected a contact or -1, 1 to %d", l,
                            law->contact, law->size, DLS_LAW_SIZE);
        if (!in_range(law->mu) || !in_range(law->e_t) || !in_range(law->r) || !in_range(law->limit))
            return dls_fail(error, DLS_ERROR_INPUT,
                            "system: law %d: mu %g, e_t %g, r %g, limit %g, expected 0 or more", l, law->mu,
                            law->e_t, law->r, law->limit);
        if (law->reservoir && (!law->reservoir->project || !law->reservoir->support))
            return dls_fail(error, DLS_ERROR_INPUT, "system: law %d: a reservoir needs project and support",
                            l);
        rows += law->size;
    }
    if (rows != s->rows[DLS_ROWS_F].count)
        return dls_fail(error, DLS_ERROR_INPUT, "system: laws have %d rows, expected the %d of gamma_F", rows,
                        s->rows[DLS_ROWS_F].count);
    return DLS_OK;
}

dls_status dls_model_validate(const dls_model *s, dls_error *error) {
    if (s->velocities < 1 || s->coordinates < s->velocities || s->coordinates > 100000)
        return dls_fail(error, DLS_ERROR_INPUT,
                        "system: %d velocities, %d coordinates, expected 1 or more and not fewer",
                        s->velocities, s->coordinates);
    if (!s->motion && s->coordinates != s->velocities)
        return dls_fail(error, DLS_ERROR_INPUT, "system: %d coordinates, %d velocities: expected motion",
                        s->coordinates, s->velocities);
    if (!s->mass || !s->force) return dls_fail(error, DLS_ERROR_INPUT, "system: expected mass and force");
    dls_status status = validate_rows(s, error);
    return status ? status : validate_laws(s, error);
}

/* ---- slopes ---- */

/* What may be left out, with its name; offsets in the system, and in the rows of a family. */
typedef struct optional_part {
    const char *name;
    size_t offset;
} optional_part;

static const optional_part whole_parts[] = {
    {"mass_slope", offsetof(dls_model, mass_slope)},
    {"force_slope", offsetof(dls_model, force_slope)},
    {"motion_matrix", offsetof(dls_model, motion_matrix)},
    {"motion_bend", offsetof(dls_model, motion_bend)},
};
static const optional_part row_parts[] = {
    {"direction", offsetof(dls_model_rows, direction)},
    {"bend", offsetof(dls_model_rows, bend)},
    {"value_slope", offsetof(dls_model_rows, value_slope)},
    {"rate_slope", offsetof(dls_model_rows, rate_slope)},
    {"direction_slope", offsetof(dls_model_rows, direction_slope)},
    {"bend_slope", offsetof(dls_model_rows, bend_slope)},
};
enum {
    WHOLE_PARTS = sizeof whole_parts / sizeof *whole_parts,
    ROW_PARTS = sizeof row_parts / sizeof *row_parts
};

static const size_t pointer_size = sizeof(void (*)(void));

static bool is_given(const void *at) {
    void (*pointer)(void);
    memcpy(&pointer, at, pointer_size);
    return pointer != NULL;
}

static void forget(void *at) { memset(at, 0, pointer_size); }

/* All that callbacks and slopes say at one point. */
static bool gather(dls_alpha *alpha, const double *x) {
    dls_alpha_stage *stage = &alpha->stage;
    return dls_motion_at(alpha, stage->t1, stage->q, stage->u, stage->q_base, stage->B, alpha->motion_bend) &&
           dls_terms_at(alpha, &stage->terms, stage->t1, stage->q, stage->u, DLS_WANT_ALL) &&
           dls_slopes_at(alpha, x);
}

typedef struct comparison {
    int64_t place;
    double told, found;
} comparison;

static bool differ(const double *told, const double *found, int64_t count, double tolerance,
                   comparison *worst) {
    double largest = 1, off = 0;
    for (int64_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs(found[i]));
        if (!(fabs(told[i] - found[i]) <= off))
            off = fabs(told[i] - found[i]), *worst = (comparison){i, told[i], found[i]};
    }
    return !(off <= tolerance * largest);
}

static bool terms_differ(const dls_alpha *a, const dls_alpha *b, double tolerance, comparison *worst) {
    int64_t n = a->at.n, m = a->at.m;
    if (differ(a->stage.B, b->stage.B, n * m, tolerance, worst) ||
        differ(a->motion_bend, b->motion_bend, n, tolerance, worst))
        return true;
    DLS_EACH_FAMILY(f) {
        const dls_row_terms *p = &a->stage.terms.rows[f], *q = &b->stage.terms.rows[f];
        int64_t count = a->at.count[f];
        if (differ(p->W, q->W, m * count, tolerance, worst) ||
            differ(p->zeta, q->zeta, count, tolerance, worst))
            return true;
    }
    return false;
}

static bool slopes_differ(const dls_alpha *a, const dls_alpha *b, double tolerance, comparison *worst) {
    int64_t n = a->at.n, m = a->at.m;
    if (differ(a->told.force_u, b->told.force_u, m * m, tolerance, worst)) return true;
    for (int k = 0; k < 3; k++)
        if (differ(a->told.dynamic_q[k], b->told.dynamic_q[k], m * n, tolerance, worst)) return true;
    DLS_EACH_FAMILY(f) {
        const dls_told_row_slopes *s = &a->told.rows[f], *t = &b->told.rows[f];
        int64_t count = a->at.count[f];
        if (differ(s->value_q, t->value_q, count * n, tolerance, worst) ||
            differ(s->rate_q, t->rate_q, count * n, tolerance, worst) ||
            differ(s->bend_q, t->bend_q, count * n, tolerance, worst) ||
            differ(s->bend_u, t->bend_u, count * m, tolerance, worst))
            return true;
    }
    return false;
}

/* Compares what `told` gathered with the same without one part. */
static dls_status compare_part(dls_alpha *told, dls_alpha *other, const double *x, const char *name,
                               int family, double tolerance, dls_error *error) {
    comparison worst = {0, 0, 0};
    bool (*differs)(const dls_alpha *, const dls_alpha *, double, comparison *) =
        strstr(name, "slope") ? slopes_differ : terms_differ;
    if (!gather(other, x)) return dls_alpha_refuse_numbers(other, other->stage.t1, error);
    if (!differs(told, other, tolerance, &worst)) return DLS_OK;
    return dls_fail(error, DLS_ERROR_INPUT,
                    "system: %s%s%s says %.9g at entry %lld, expected %.9g by differences", name,
                    family < 0 ? "" : " of ", family < 0 ? "" : dls_row_family_name(family), worst.told,
                    (long long)worst.place, worst.found);
}

static dls_status compare_all(const dls_model *system, dls_alpha *told, dls_alpha *other, const double *x,
                              double tolerance, dls_error *error) {
    dls_status status = DLS_OK;
    for (int i = 0; !status && i < WHOLE_PARTS; i++) {
        char *at = (char *)&other->system + whole_parts[i].offset;
        if (!is_given(at)) continue;
        forget(at);
        status = compare_part(told, other, x, whole_parts[i].name, -1, tolerance, error);
        memcpy(at, (const char *)system + whole_parts[i].offset, pointer_size);
    }
    DLS_EACH_FAMILY(f) for (int i = 0; !status && i < ROW_PARTS && system->rows[f].count; i++) {
        char *at = (char *)&other->system.rows[f] + row_parts[i].offset;
        if (!is_given(at)) continue;
        forget(at);
        status = compare_part(told, other, x, row_parts[i].name, f, tolerance, error);
        memcpy(at, (const char *)&system->rows[f] + row_parts[i].offset, pointer_size);
    }
    return status;
}

static void set_point(dls_alpha *alpha, double t, const double *q, const double *u) {
    alpha->stage.t1 = t, alpha->stage.dt = 1;
    memcpy(alpha->stage.q, q, sizeof *q * (size_t)alpha->at.n);
    memcpy(alpha->stage.u, u, sizeof *u * (size_t)alpha->at.m);
    memcpy(alpha->state.u, u, sizeof *u * (size_t)alpha->at.m);
}

/* ---- R′ by bodies ---- */

/* With the B of another place, as that of the beginning of a step is. */
bool dls_alpha_probe(dls_alpha *alpha, double t, const double *q, const double *u) {
    dls_alpha_stage *stage = &alpha->stage;
    int contacts = alpha->at.count[DLS_ROWS_N], laws = alpha->system.law_count;
    bool *all[] = {alpha->sets.place, alpha->sets.A, alpha->sets.B, alpha->sets.C},
         *sticking[] = {alpha->sets.D, alpha->sets.E};
    set_point(alpha, t, q, u);
    stage->c_u = 0.5, stage->c_q = 0.25;
    for (int i = 0; i < 4; i++) memset(all[i], true, sizeof(bool) * (size_t)contacts);
    for (int i = 0; i < 2; i++) memset(sticking[i], true, sizeof(bool) * (size_t)laws);
    for (int i = 0; i < alpha->at.total; i++) alpha->x[i] = 1 + 0.5 * sin(1 + 2.3 * i);
    for (int k = 0; k < contacts; k++) alpha->r_n[k] = 1;
    for (int l = 0; l < laws; l++) alpha->r_t[l] = 1;
    for (int i = 0; i < alpha->at.n; i++) alpha->probe_q[i] = q[i] + 0.1 * sin(1 + 1.7 * i);
    if (!dls_motion_at(alpha, t, alpha->probe_q, u, stage->q_base, stage->B, alpha->motion_bend) ||
        !dls_terms_at(alpha, &stage->terms, t, stage->q, stage->u, DLS_WANT_ALL) ||
        !dls_slopes_at(alpha, alpha->x))
        return false;
    for (int l = 0; l < laws; l++) {
        alpha->impact_law[l] = dls_impact_law(alpha, alpha->x, l);
        alpha->force_law[l] = dls_force_law(alpha, alpha->x, l);
    }
    return true;
}

double dls_alpha_apart(dls_alpha *a, dls_alpha *b) {
    int total = a->at.total;
    double off = 0, largest = 0;
    for (int j = 0; j < total; j++) {
        a->change[j] = 1;
        dls_jacobian_product(a, a->x, a->change, a->R);
        dls_jacobian_product(b, a->x, a->change, b->R);
        a->change[j] = 0;
        for (int i = 0; i < total; i++) {
            largest = fmax(largest, fabs(a->R[i]));
            if (!(fabs(a->R[i] - b->R[i]) <= off)) off = fabs(a->R[i] - b->R[i]);
        }
    }
    return largest > 0 ? off / largest : off;
}

dls_status dls_model_check(const dls_model *system, double t, const double *q, const double *u,
                           double tolerance, dls_error *error) {
    dls_alpha_options options = dls_alpha_default_options();
    dls_alpha *told = NULL, *other = NULL;
    dls_error_clear(error);
    if (!system || !q || !u)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "dls_model_check: expected a system, q and u");
    dls_status status = dls_model_validate(system, error);
    if (!status) status = dls_alpha_allocate(system, &options, &told, error);
    if (!status) status = dls_alpha_allocate(system, &options, &other, error);
    if (!status) {
        set_point(told, t, q, u), set_point(other, t, q, u);
        for (int i = 0; i < told->at.total; i++) told->x[i] = 1 + 0.5 * sin(1 + 2.3 * i); /* none special */
        if (!gather(told, told->x)) status = dls_alpha_refuse_numbers(told, t, error);
    }
    if (!status) status = compare_all(system, told, other, told->x, tolerance > 0 ? tolerance : 1e-5, error);
    dls_alpha_destroy(told), dls_alpha_destroy(other);
    return status;
}
