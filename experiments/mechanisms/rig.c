/* A mechanism, its simulation, and the small mathematics of what it is compared with. */
#include "experiments/mechanisms/rig.h"

#include "cli/support/interrupt.h"
#include "cli/support/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const rig_scheme rig_schemes[RIG_SCHEMES] = {{"moreau-jean", "Moreau–Jean", 0.5, 1.9},
                                             {"theta", "θ = 1/2", 0.5, 1.9},
                                             {"theta", "θ = 1", 1, 0.9},
                                             {"dvi", "DVI", 1, 0.9}};

/* ---- the world ---- */

rig rig_open(int dimension, const double *gravity) {
    rig r = {.failed = false};
    dls_world_def def = dls_default_world_def();
    def.dimension = dimension;
    memcpy(def.gravity, gravity, sizeof def.gravity);
    r.failed = dls_world_create(&def, &r.world, &r.error) != DLS_OK;
    return r;
}

dls_body_id rig_add(rig *r, const dls_body_def *def) {
    dls_body_id id = -1;
    if (!r->failed) r->failed = dls_world_add_body(r->world, def, &id, &r->error) != DLS_OK;
    return id;
}

dls_body_id rig_add_mass(rig *r, double mass, const double *inertia, const double *x) {
    dls_body_def def = dls_default_body_def();
    const double tensor[9] = {inertia[0], 0, 0, 0, inertia[1], 0, 0, 0, inertia[2]};
    def.mass = mass;
    def.inertia = tensor;
    memcpy(def.pose.x, x, sizeof def.pose.x);
    return rig_add(r, &def);
}

/* Turns x to the direction (c, s, 0) about z, then (·, ·, up) about the new y. */
static void quaternion_along(const double *along, double *q) {
    double flat = hypot(along[0], along[1]), yaw = atan2(along[1], along[0]), pitch = -atan2(along[2], flat);
    double c = cos(yaw / 2), s = sin(yaw / 2), cp = cos(pitch / 2), sp = sin(pitch / 2);
    q[0] = c * cp, q[1] = -s * sp, q[2] = c * sp, q[3] = s * cp;
}

dls_body_id rig_add_rod(rig *r, double mass, const double *p, const double *q) {
    dls_body_def def = dls_default_body_def();
    double along[3], length = 0;
    for (int k = 0; k < 3; k++) {
        along[k] = q[k] - p[k];
        length += along[k] * along[k];
        def.pose.x[k] = 0.5 * (p[k] + q[k]);
    }
    double moment = mass * length / 12, tensor[9] = {moment / 10, 0, 0, 0, moment, 0, 0, 0, moment};
    quaternion_along(along, def.pose.q);
    def.mass = mass;
    def.inertia = tensor;
    return rig_add(r, &def);
}

dls_material_id rig_add_material(rig *r, double mu, double e_n, double e_t) {
    dls_material_def def = dls_default_material_def();
    dls_material_id id = 0;
    def.mu = mu, def.e_n = e_n, def.e_t = e_t;
    if (!r->failed) r->failed = dls_world_add_material(r->world, &def, &id, &r->error) != DLS_OK;
    return id;
}

dls_body_state rig_state(const rig *r, dls_body_id id) {
    dls_body_state state = {.q = {1, 0, 0, 0}};
    if (!r->failed) dls_body_state_get(r->world, id, &state, NULL);
    return state;
}

void rig_set_speed(rig *r, dls_body_id id, const double *v, const double *w) {
    dls_body_state state = rig_state(r, id);
    if (r->failed) return;
    memcpy(state.v, v, sizeof state.v);
    memcpy(state.w, w, sizeof state.w);
    r->failed = dls_body_state_set(r->world, id, &state, &r->error) != DLS_OK;
}

dls_function *rig_constant(rig *r, double value) {
    dls_function *function = NULL;
    if (!r->failed) r->failed = dls_function_constant(value, &function, &r->error) != DLS_OK;
    return function;
}

void rig_place(rig *r, dls_joint_def *def, const double *point, const double *axis, const double *second) {
    if (!r->failed) r->failed = dls_joint_place(r->world, def, point, axis, second, &r->error) != DLS_OK;
}

dls_joint_id rig_add_joint(rig *r, const dls_joint_def *def) {
    dls_joint_id id = -1;
    if (!r->failed) r->failed = dls_world_add_joint(r->world, def, &id, &r->error) != DLS_OK;
    return id;
}

dls_joint_id rig_join(rig *r, dls_joint_def *def, const double *point, const double *axis,
                      const double *second) {
    rig_place(r, def, point, axis, second);
    return rig_add_joint(r, def);
}

dls_joint_id rig_join_plain(rig *r, dls_joint_kind kind, dls_body_id a, dls_body_id b, const double *point,
                            const double *axis) {
    dls_joint_def def = dls_default_joint_def(kind);
    def.body[0] = a, def.body[1] = b;
    return rig_join(r, &def, point, axis, NULL);
}

dls_joint_state rig_joint(const rig *r, dls_joint_id id) {
    dls_joint_state state;
    memset(&state, 0, sizeof state);
    if (!r->failed) dls_joint_state_get(r->world, id, &state, NULL);
    return state;
}

dls_joint_record rig_record(const rig *r, dls_joint_id id) {
    dls_joint_record found;
    int count = 0;
    memset(&found, 0, sizeof found);
    if (r->failed) return found;
    dls_simulation_joints(r->simulation, 0, NULL, &count, NULL);
    dls_joint_record *records = report_allocate((size_t)count + 1, sizeof *records);
    if (!dls_simulation_joints(r->simulation, count, records, &count, NULL))
        for (int k = 0; k < count; k++)
            if (records[k].joint == id) found = records[k];
    free(records);
    return found;
}

double rig_angle(const dls_body_state *state) {
    return remainder(2 * atan2(state->q[3], state->q[0]), 2 * acos(-1));
}

/* ---- the simulation ---- */

void rig_start(rig *r, const rig_scheme *scheme, double h, double tolerance) {
    dls_simulation_options o = dls_default_simulation_options();
    double memory[DLS_MAX_OPTIONS_SIZE / sizeof(double)];
    if (r->failed) return;
    snprintf(o.scheme, sizeof o.scheme, "%s", scheme->name);
    o.theta = scheme->theta;
    o.step = h;
    r->failed = dls_simulation_create(r->world, &o, &r->simulation, &r->error) != DLS_OK;
    if (r->failed || !(tolerance > 0)) return;
    const dls_solver *solver = dls_solver_find("auto");
    dls_simulation_solver_defaults(solver, memory);
    ((dls_stop_options *)memory)->tolerance = tolerance;
    r->failed = dls_simulation_set_solver(r->simulation, solver, memory, &r->error) != DLS_OK;
}

static void keep_books(rig *r) {
    const dls_energy *e = &r->last.energy;
    double turned = e->kinetic + fabs(e->potential) + fabs(e->potential - r->potential) + e->spring +
                    fabs(e->motors) + fabs(e->work) + fabs(e->joints) + e->friction + e->impact;
    r->books = fmax(r->books, fabs(e->unaccounted));
    r->turnover = fmax(r->turnover, turned);
}

bool rig_step(rig *r) {
    if (r->failed || interrupt_seen()) return false;
    r->failed = dls_simulation_step(r->simulation, &r->last, &r->error) != DLS_OK;
    if (r->failed) return false;
    if (r->last.step == 1) r->potential = r->last.energy.potential;
    r->gap = fmax(r->gap, r->last.joint_gap);
    r->uncertified += !r->last.certified;
    r->iterations += r->last.iterations;
    r->seconds += r->last.seconds;
    r->residual = fmax(r->residual, r->last.residual);
    if (r->last.iterations > r->most_iterations) r->most_iterations = r->last.iterations;
    keep_books(r);
    return true;
}

bool rig_run(rig *r, int steps) {
    for (int k = 0; k < steps; k++)
        if (!rig_step(r)) return false;
    return !r->failed;
}

bool rig_close(rig *r) {
    dls_simulation_destroy(r->simulation);
    dls_world_destroy(r->world);
    if (r->failed) report_error("mechanisms: %s", r->error.message);
    return !r->failed && !interrupt_seen();
}

/* ---- claims ---- */

void rig_claim_order(experiment_run *run, const char *what, const rig_scheme *scheme, double coarse,
                     double fine) {
    claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_LEAST, scheme->order, log2(coarse / fine),
                "%s: order, %s (error %.2g at h/2)", what, scheme->label, fine);
}

void rig_claim_books(experiment_run *run, const char *what, const rig *r) {
    claim_bound(&run->claims, CLAIM_DERIVED, "1", CLAIM_AT_MOST, 1e-10, r->books / r->turnover,
                "%s: energy unaccounted over energy turned over", what);
}

/* ---- motions ---- */

void rig_integrate(rig_ode f, const void *user, int count, double *y, double t0, double t1, int steps) {
    double k[4][16], at[16], h = (t1 - t0) / steps;
    for (int s = 0; s < steps; s++) {
        double t = t0 + s * h;
        static const double shares[4] = {0, 0.5, 0.5, 1};
        for (int stage = 0; stage < 4; stage++) {
            for (int i = 0; i < count; i++) at[i] = y[i] + (stage ? h * shares[stage] * k[stage - 1][i] : 0);
            f(at, t + shares[stage] * h, k[stage], user);
        }
        for (int i = 0; i < count; i++) y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
}

void rig_solve(int n, double *A, double *b) {
    for (int j = 0; j < n; j++) {
        int pivot = j;
        for (int i = j + 1; i < n; i++)
            if (fabs(A[i * n + j]) > fabs(A[pivot * n + j])) pivot = i;
        for (int k = 0; k < n; k++) {
            double swap = A[j * n + k];
            A[j * n + k] = A[pivot * n + k], A[pivot * n + k] = swap;
        }
        double swap = b[j];
        b[j] = b[pivot], b[pivot] = swap;
        for (int i = j + 1; i < n; i++) {
            double factor = A[i * n + j] / A[j * n + j];
            for (int k = j; k < n; k++) A[i * n + k] -= factor * A[j * n + k];
            b[i] -= factor * b[j];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) b[i] -= A[i * n + k] * b[k];
        b[i] /= A[i * n + i];
    }
}
