/* What ebp and eal do where Newton's full steps cycle or diverge: the same iteration from other points and
 * with other ρ, neither of which changes the solution, then damped. */
#include "solve/law/law_newton.h"

/* Steps halved until |Z| falls by a tenth of what a full step promises; else the projected step. */
static bool newton_iterate_damped(newton_law law, int d, const newton_contact *c, double tolerance,
                                  int iterations, double *r, newton_point *at) {
    for (int k = 0; k < iterations; k++) {
        if (newton_is_solved(d, c, tolerance, r, at)) return true;
        double step[DLS_MAX_BLOCK] = {0}, trial[DLS_MAX_BLOCK] = {0}, size = small_norm(d, at->Z);
        newton_point next;
        bool found = newton_step(law, d, c, r, at, step), accepted = false;
        for (double t = 1; found && !accepted && t > 0.01; t *= 0.5) {
            for (int i = 0; i < d; i++) trial[i] = r[i] + t * step[i];
            newton_evaluate(law, d, c, trial, &next);
            accepted = small_norm(d, next.Z) <= (1 - 0.1 * t) * size;
        }
        if (!accepted) {
            for (int i = 0; i < d; i++) trial[i] = r[i] - at->Z[i];
            newton_evaluate(law, d, c, trial, &next);
        }
        memcpy(r, trial, sizeof(double) * (size_t)d);
        *at = next;
    }
    return newton_is_solved(d, c, tolerance, r, at);
}

/* r ← the impulse of a stick, or of a slip against the velocity that frictionless contact leaves. */
static void newton_restart_point(int d, const newton_contact *c, bool stick, double *r) {
    for (int i = 0; i < d; i++) r[i] = 0;
    if (stick) {
        small_multiply_subtract(d, c->data + 1, c->b, r);
        return;
    }
    double u[DLS_MAX_BLOCK], impulse = c->W[0] > 0 ? fmax(0, -c->b[0] / c->W[0]) : 0;
    for (int i = 0; i < d; i++) u[i] = c->b[i] + impulse * c->W[i];
    const dls_cone whole = {.d = d, .count = 1, .size = {d - 1}, .mu = {c->mu}},
                   *cone = c->cone ? c->cone : &whole;
    r[0] = impulse;
    for (int k = 0, at = 1; k < cone->count; at += cone->size[k++]) {
        double speed = small_norm(cone->size[k], u + at);
        for (int i = at; i < at + cone->size[k]; i++)
            r[i] = speed > 0 ? -cone->mu[k] * impulse * u[i] / speed : 0;
    }
}

/* Attempts in the order that left the fewest of a million random blocks unsolved; at last the projected step
 * from the start. */
dls_contact_state dls_newton_restart(const newton_law *law, int d, const newton_contact *contact,
                                     double tolerance, double *r) {
    static const struct {
        bool stick;
        double rho_factor;
    } attempt[] = {{true, 10}, {true, 100}, {false, 3}, {false, 0.3}};
    enum { ATTEMPTS = sizeof attempt / sizeof attempt[0], FULL_STEPS = 10, DAMPED_STEPS = 20 };
    newton_point at;
    double start[DLS_MAX_BLOCK];
    memcpy(start, r, sizeof(double) * (size_t)d);
    for (int k = 0; k < ATTEMPTS; k++) {
        newton_contact c = *contact;
        c.rho *= attempt[k].rho_factor;
        newton_restart_point(d, &c, attempt[k].stick, r);
        newton_evaluate(*law, d, &c, r, &at);
        if (newton_iterate(*law, d, &c, tolerance, FULL_STEPS, r, &at) ||
            newton_iterate_damped(*law, d, &c, tolerance, DAMPED_STEPS, r, &at))
            return at.state;
    }
    newton_evaluate(*law, d, contact, start, &at);
    for (int i = 0; i < d; i++) r[i] = start[i] - at.Z[i];
    return DLS_UNSOLVED;
}
