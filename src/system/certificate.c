/* The certificate of a step: natural maps of g/dt, ġ and g̈·dt, in m/s, and violations at three levels. */
#include "system/alpha.h"

#include "base/small.h"

#include <math.h>

typedef struct tally {
    double sum, largest;
    int count;
    double rounding[3]; /* m/s, that is taken off: of g/dt, ġ and g̈ dt */
} tally;

enum { POSITION, VELOCITY, ACCELERATION };

/* rows: that the error is the norm of. */
static void add(tally *t, int level, int rows, double error) {
    error = fabs(error) - sqrt(rows) * t->rounding[level];
    if (error < 0) error = 0;
    t->sum += error * error, t->count++;
    if (!(error <= t->largest)) t->largest = error;
}

/* min(y, w z): zero where 0 ≤ y ⟂ z ≥ 0. */
static void add_normal(tally *t, int level, bool active, double unit, double y, double wz) {
    add(t, level, 1, unit * (active ? fmin(y, wz) : wz));
}

static void certify_normal(const dls_alpha *alpha, const double *x, double dt, tally *t) {
    const dls_alpha_stage *stage = &alpha->stage;
    const int f = DLS_ROWS_N;
    for (int k = 0; k < alpha->at.count[f]; k++) {
        double w = alpha->delassus.diagonal[k], unit = dls_row_unit(alpha, f, k);
        add_normal(t, POSITION, true, unit, stage->terms.rows[f].value[k] / dt, w * stage->kappa_hat[k] / dt);
        add_normal(t, VELOCITY, alpha->sets.A[k], unit, stage->xi[f][k], w * stage->percussion[f][k]);
        add_normal(t, ACCELERATION, alpha->sets.B[k], unit, dt * stage->acceleration[f][k],
                   dt * w * x[alpha->at.force[f] + k]);
    }
}

/* w |z + proj(y/w − z)| */
static double slip_error(const dls_alpha *alpha, int l, double w, const double *y, const double *z,
                         double N) {
    const dls_model_friction *law = &alpha->laws[l];
    dls_law_value value = dls_friction_value(law, DLS_MODE_PROX, 1 / w, y, z, N, alpha->system.user);
    return w * small_norm(law->size, value.f);
}

static void certify_slip(const dls_alpha *alpha, const double *x, double dt, tally *t) {
    const dls_alpha_stage *stage = &alpha->stage;
    int normals = alpha->at.count[DLS_ROWS_N];
    for (int l = 0; l < alpha->system.law_count; l++) {
        const dls_model_friction *law = &alpha->laws[l];
        int row = alpha->law_row[l];
        double w = 0, unit = dls_row_unit(alpha, DLS_ROWS_F, row);
        for (int i = 0; i < law->size; i++) w = fmax(w, alpha->delassus.diagonal[normals + row + i]);
        if (!(w > 0)) continue;
        dls_law_value impact = dls_impact_law(alpha, x, l), force = dls_force_law(alpha, x, l);
        double plain = unit * w * small_norm(law->size, impact.f);
        double forces = unit * dt * w * small_norm(law->size, force.f);
        bool closed = law->contact < 0 || alpha->sets.A[law->contact];
        double P = dls_normal_force(alpha, l, stage->percussion[DLS_ROWS_N], stage->dt);
        double N = dls_normal_force(alpha, l, x + alpha->at.force[DLS_ROWS_N], 1);
        bool split = stage->split[l] && !alpha->sets.D[l];
        add(t, VELOCITY, law->size,
            closed && !split
                ? slip_error(alpha, l, w, stage->xi[DLS_ROWS_F] + row, stage->percussion[DLS_ROWS_F] + row, P)
                : plain);
        add(t, ACCELERATION, law->size,
            alpha->sets.D[l] ? unit * dt *
                                   slip_error(alpha, l, w, stage->acceleration[DLS_ROWS_F] + row,
                                              x + alpha->at.force[DLS_ROWS_F] + row, N)
                             : forces);
    }
}

static void certify_bilateral(const dls_alpha *alpha, double dt, tally *t) {
    const dls_alpha_stage *stage = &alpha->stage;
    for (int f = DLS_ROWS_G; f <= DLS_ROWS_GAMMA; f++)
        for (int k = 0; k < alpha->at.count[f]; k++) {
            double unit = dls_row_unit(alpha, f, k);
            if (alpha->at.kappa[f] >= 0) add(t, POSITION, 1, unit * stage->terms.rows[f].value[k] / dt);
            add(t, VELOCITY, 1, unit * stage->terms.rows[f].rate[k]);
            add(t, ACCELERATION, 1, unit * dt * stage->acceleration[f][k]);
        }
}

static void violations(const dls_alpha *alpha, dls_alpha_report *report) {
    const dls_alpha_stage *stage = &alpha->stage;
    report->position = report->velocity = report->acceleration = 0;
    for (int f = DLS_ROWS_G; f <= DLS_ROWS_GAMMA; f++)
        for (int k = 0; k < alpha->at.count[f]; k++) {
            report->position = fmax(report->position, fabs(stage->terms.rows[f].value[k]));
            report->velocity = fmax(report->velocity, fabs(stage->terms.rows[f].rate[k]));
            report->acceleration = fmax(report->acceleration, fabs(stage->acceleration[f][k]));
        }
    for (int k = 0; k < alpha->at.count[DLS_ROWS_N]; k++) {
        report->position = fmax(report->position, -stage->terms.rows[DLS_ROWS_N].value[k]);
        if (alpha->sets.A[k]) report->velocity = fmax(report->velocity, -stage->xi[DLS_ROWS_N][k]);
        if (alpha->sets.B[k])
            report->acceleration = fmax(report->acceleration, -stage->acceleration[DLS_ROWS_N][k]);
    }
}

/* Relative to what gaps would do in a step without contacts: v_ref, or the rates of closed ones. */
static double reference(const dls_alpha *alpha, double dt) {
    double sum = 0;
    int count = 0;
    for (int k = 0; k < alpha->at.count[DLS_ROWS_N]; k++)
        if (alpha->sets.A[k]) {
            double rate = alpha->stage.before[DLS_ROWS_N][k] + dt * alpha->free[k];
            sum += rate * rate, count++;
        }
    double scale = fmax(alpha->stage.v_ref, count ? sqrt(sum / count) : 0);
    return scale > 0 ? scale : 1;
}

void dls_alpha_certify(dls_alpha *alpha, const double *x, dls_alpha_report *report) {
    double dt = alpha->stage.dt > 0 ? alpha->stage.dt : alpha->options.dt;
    const double *rounding = alpha->stage.rounding;
    tally t = {0, 0, 0, {rounding[0] / dt, rounding[1], dt * rounding[2]}};
    violations(alpha, report);
    report->residual = report->max_error = NAN;
    report->solutions = -1;
    if (!dls_contact_system(alpha)) return;
    certify_normal(alpha, x, dt, &t);
    certify_slip(alpha, x, dt, &t);
    certify_bilateral(alpha, dt, &t);
    report->max_error = t.largest;
    report->residual = t.count ? sqrt(t.sum / t.count) / reference(alpha, dt) : 0;
    report->solutions = dls_alpha_solutions(alpha);
}
