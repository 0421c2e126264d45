/* A simulation: making one, its options, what it can be asked, and its state as bytes. */
#include "integrate/scheme.h"

#include "assemble/solids.h"
#include "base/error.h"
#include "base/field.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/vector.h"
#include "problem/eliminate.h"
#include "solve/fields.h"
#include "solve/solve.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double DEFAULT_TOLERANCE = 1e-6;

/* ---- options ---- */

/* Without a tolerance of its own: that of the certificate decides. */
static dls_alpha_options default_alpha(void) {
    dls_alpha_options options = dls_alpha_default_options();
    options.tolerance = options.tolerance_fixed = 0;
    return options;
}

dls_simulation_options dls_default_simulation_options(void) {
    return (dls_simulation_options){.scheme = "moreau-jean",
                                    .step = 1e-3,
                                    .theta = 0.5,
                                    .stabilisation = 0.1,
                                    .warm_start = true,
                                    .threads = 1,
                                    .alpha = default_alpha()};
}

#define REAL(member, low, high, unit, help) DLS_REAL(dls_simulation_options, , member, low, high, unit, help)
#define ALPHA(key, kind, member, low, high, choices, unit, help)                                             \
    { #key, kind, offsetof(dls_simulation_options, alpha.member), low, high, choices, unit, help, NULL }
#define ALPHA_REAL(key, member, low, high, unit, help)                                                       \
    ALPHA(key, DLS_FIELD_REAL, member, low, high, NULL, unit, help)
#define ALPHA_INT(key, member, low, high, help) ALPHA(key, DLS_FIELD_INT, member, low, high, NULL, "1", help)
#define ALPHA_CHOICE(key, member, count, choices, help)                                                      \
    ALPHA(key, DLS_FIELD_CHOICE, member, 0, (count)-1, choices, "1", help)

static const dls_field fields[] = {
    {"scheme", DLS_FIELD_NAME, offsetof(dls_simulation_options, scheme), 0, 0, NULL, "1",
     "where contacts are found and how bodies move on", dls_scheme_at},
    REAL(step, 1 / DLS_FARTHEST, DLS_FARTHEST, "s", "length of a step, h"),
    REAL(theta, 0.5, 1, "1", "of the theta scheme: 1/2 is second order, 1 is implicit Euler"),
    REAL(margin, 0, 1e300, "m",
         "contacts exist up to this gap, and further where a step may close it; 0: auto"),
    DLS_CHOICE(dls_simulation_options, , kinematics, 2, "second-order|first-order",
               "whether contacts move within a step: b has h/2 of what bends their rows"),
    DLS_CHOICE(dls_simulation_options, , entering, 2, "margin|closed",
               "contacts of a step: all that may close within it, or those with gap ≤ 0"),
    REAL(stabilisation, 0, 1, "1", "share of a penetration that one step takes back"),
    REAL(stabilisation_speed, 0, 1e300, "m/s", "and at most this fast; 0: |g| h"),
    DLS_CHOICE(dls_simulation_options, , restitution, 3, "impacts|formal|in-order",
               "acts on impacts, on every closed contact in every step (formal velocity), or on one impact "
               "after the other"),
    REAL(rest_speed, 0, 1e300, "m/s", "approaches that are slower do not bounce; 0: |g| h"),
    REAL(reference_velocity, 0, 1e300, "m/s",
         "v_ref of the judge; 0: |g| h, without gravity h · largest force / mean mass"),
    {"operator", DLS_FIELD_CHOICE, offsetof(dls_simulation_options, op), 0, 1, "matrix-free|stored", "1",
     "whether W is stored", NULL},
    DLS_CHOICE(dls_simulation_options, , stiffness, 2, "implicit|explicit",
               "forces of solids linearly implicit, or explicit, which needs a step below 2/ω of their "
               "fastest mode"),
    DLS_CHOICE(dls_simulation_options, , joints, 2, "eliminated|blocks",
               "rows of joints are eliminated before contacts are solved, or stand beside them"),
    DLS_BOOL(dls_simulation_options, , warm_start, "start from the impulses of the step before"),
    DLS_INT(dls_simulation_options, , threads, 1, 1024, "results have the same bits for any number"),
    ALPHA_REAL(rho, rho, 0, 1, "1",
               "of generalized-alpha, ρ_∞: 1 keeps the highest frequencies, 0 damps them"),
    ALPHA_CHOICE(coefficients, scheme, 3, "chung-hulbert|hht|newmark", "of generalized-alpha"),
    ALPHA_CHOICE(alpha_solver, solver, 2, "newton|fixed-point", "newton falls back on fixed points"),
    ALPHA_CHOICE(alpha_residual, residual, 2, "sets|prox", "equations of the sets, or of the projections"),
    ALPHA_CHOICE(alpha_open, open, 2, "percussion|multiplier", "what vanishes at open contacts"),
    ALPHA_CHOICE(alpha_start, start, 2, "plain|shifted", "bars of the first step"),
    ALPHA_CHOICE(alpha_slip, slip, 3, "switched|end|split", "percussion of a contact whose slip turns"),
    ALPHA_CHOICE(alpha_jacobian, jacobian, 2, "chain|differences",
                 "slopes by the chain rule, or of the unknowns"),
    ALPHA_REAL(alpha_r, r, 0, 1e300, "kg", "of the prox equations; 0: from masses"),
    ALPHA_REAL(
        alpha_tolerance, tolerance, 0, 1e300, "SI",
        "largest entry of a step's equations; 0: a hundredth of the solver's tolerance, free of units"),
    ALPHA_REAL(alpha_tolerance_fixed, tolerance_fixed, 0, 1e300, "SI",
               "largest change of a fixed point, where alpha_tolerance is given"),
    ALPHA_INT(max_newton, max_newton, 1, 100000, "updates before another way is tried"),
    ALPHA_INT(max_fixed, max_fixed, 1, 100000000, "fixed-point iterations"),
    ALPHA_INT(max_halvings, max_halvings, 0, 30, "how often a step without a solution is cut in half"),
};

enum { FIELD_COUNT = sizeof fields / sizeof *fields };

const dls_field *dls_simulation_fields(int *count) {
    if (count) *count = FIELD_COUNT;
    return fields;
}

/* ---- making one ---- */

void dls_simulation_solver_defaults(const dls_solver *solver, void *options) {
    dls_stop_options *stop = options;
    solver->defaults(options);
    stop->tolerance = DEFAULT_TOLERANCE;
    stop->min_iterations = 1;
}

/* Each rank has a clock of its own. */
static dls_status check_clock(const dls_ranks *ranks, const dls_stop_options *stop, dls_error *error) {
    if (!dls_are_several(ranks) || stop->time_limit == 0) return DLS_OK;
    return dls_fail(
        error, DLS_ERROR_INPUT,
        "solver.time_limit is %g s, expected 0 where ranks share a run: they have clocks of their "
        "own, and would stop apart",
        stop->time_limit);
}

dls_status dls_simulation_set_solver(dls_simulation *s, const dls_solver *solver, const void *options,
                                     dls_error *error) {
    dls_error_clear(error);
    if (!s || !solver)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "a simulation and a solver are needed, got NULL");
    dls_status status = dls_solver_check(solver, error);
    if (status) return status;
    alignas(16) unsigned char copy[DLS_MAX_OPTIONS_SIZE];
    if (options)
        memcpy(copy, options, solver->options_size);
    else
        dls_simulation_solver_defaults(solver, copy);
    status = dls_field_check(solver->fields, solver->field_count, copy, error);
    if (!status) status = check_clock(s->ranks, (const dls_stop_options *)copy, error);
    if (status) return status;
    dls_solver_hold(solver);
    dls_solver_drop(s->solver);
    s->solver = solver;
    memcpy(s->solver_options, copy, solver->options_size);
    dls_stop_options *stop = (dls_stop_options *)s->solver_options;
    stop->threads = s->options.threads;
    if (stop->purpose == DLS_PURPOSE_AUTO) stop->purpose = DLS_PURPOSE_STEP;
    return DLS_OK;
}

dls_status dls_simulation_set_ranks(dls_simulation *s, const dls_ranks *ranks, dls_error *error) {
    dls_error_clear(error);
    if (!s) return dls_fail(error, DLS_ERROR_ARGUMENT, "a simulation is needed, got NULL");
    if (ranks && (ranks->count < 1 || ranks->count > DLS_MOST_RANKS || ranks->index < 0 ||
                  ranks->index >= ranks->count || (ranks->count > 1 && (!ranks->gather || !ranks->swap))))
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "rank %d of %d, expected an index below a count of at most %d, and both functions",
                        ranks->index, ranks->count, (int)DLS_MOST_RANKS);
    dls_status status = check_clock(ranks, (const dls_stop_options *)s->solver_options, error);
    if (!status) s->ranks = ranks;
    return status;
}

static dls_status set_default_solver(dls_simulation *s, dls_error *error) {
    dls_auto_options options;
    const dls_solver *solver = dls_solver_find("auto");
    dls_simulation_solver_defaults(solver, &options);
    return dls_simulation_set_solver(s, solver, &options, error);
}

dls_status dls_simulation_create(dls_world *world, const dls_simulation_options *options,
                                 dls_simulation **simulation, dls_error *error) {
    dls_error_clear(error);
    if (!simulation) return dls_fail(error, DLS_ERROR_ARGUMENT, "nowhere to put the simulation: NULL");
    *simulation = NULL;
    if (!world) return dls_fail(error, DLS_ERROR_ARGUMENT, "a world is needed, got NULL");
    dls_simulation_options defaults = dls_default_simulation_options();
    if (!options) options = &defaults;
    dls_status status = dls_field_check(fields, FIELD_COUNT, options, error);
    if (status) return status;
    dls_simulation *s = DLS_NEW_ZERO(dls_simulation, 1);
    if (!s) return dls_fail_memory(error);
    s->world = world;
    s->options = *options;
    s->scheme = dls_scheme_find(options->scheme);
    s->summary.worst_held = NAN;
    s->collider = dls_collider_create();
    s->assembly.space = dls_workspace_create();
    s->factors = dls_solid_factors_create();
    status = s->collider && s->assembly.space && s->factors ? set_default_solver(s, error)
                                                            : dls_fail_memory(error);
    if (!status) status = dls_simulation_settle(s, error);
    if (!status && s->scheme->begin) status = s->scheme->begin(s, error);
    if (status)
        dls_simulation_destroy(s);
    else
        *simulation = s;
    return status;
}

void dls_simulation_destroy(dls_simulation *s) {
    if (!s) return;
    dls_solver_drop(s->solver);
    if (s->memory) s->scheme->end(s);
    dls_gates_destroy(s->gates);
    dls_collider_destroy(s->collider);
    dls_workspace_destroy(s->assembly.space);
    dls_free(s->kept);
    dls_free(s->tried);
    dls_free(s->extra);
    dls_free(s->kept_memory);
    dls_free(s->kept_joints);
    dls_free(s->kept_solids);
    dls_elimination_destroy(s->elimination);
    dls_solid_factors_destroy(s->factors);
    dls_free(s->joint_records);
    dls_free(s->found);
    dls_free(s);
}

dls_status dls_simulation_set_gates(dls_simulation *s, const dls_gates_def *def, dls_error *error) {
    assert(!s->gates && s->step == 0);
    return dls_gates_create(def, s->world, &s->gates, error);
}

/* Impulses are proportional to h: the warm start follows it. */
dls_status dls_simulation_set_step(dls_simulation *s, double h, dls_error *error) {
    dls_error_clear(error);
    if (!s) return dls_fail(error, DLS_ERROR_ARGUMENT, "a simulation is needed, got NULL");
    if (!dls_step_makes_sense(h))
        return dls_fail(error, DLS_ERROR_INPUT, "the step is %g s, expected a positive number up to %g", h,
                        DLS_FARTHEST);
    dls_collider_scale_impulses(s->collider, h / s->options.step);
    s->options.step = h;
    s->rebased_t = s->t;
    s->rebased_step = s->step;
    return DLS_OK;
}

/* ---- questions ---- */

double dls_reference_velocity(const dls_world *world, const dls_simulation_options *o, double t) {
    double fall = vec_norm(world->def.gravity) * o->step;
    if (o->reference_velocity > 0) return o->reference_velocity;
    return fall > 0 ? fall : o->step * dls_world_push(world, t + o->step / 2);
}

const dls_world *dls_simulation_world(const dls_simulation *s) { return s->world; }
double dls_simulation_time(const dls_simulation *s) { return s->t; }
int64_t dls_simulation_steps(const dls_simulation *s) { return s->step; }
dls_run_summary dls_simulation_summary(const dls_simulation *s) { return s->summary; }
dls_energy dls_simulation_energy(const dls_simulation *s) { return s->energy; }
int dls_simulation_gate_count(const dls_simulation *s) { return s ? dls_gates_count(s->gates) : 0; }
dls_gate dls_simulation_gate(const dls_simulation *s, int index) {
    return dls_gates_at(s ? s->gates : NULL, index);
}
dls_status dls_simulation_joints(const dls_simulation *s, int capacity, dls_joint_record *records, int *count,
                                 dls_error *error) {
    dls_error_clear(error);
    if (!s || !count || capacity < 0 || (capacity > 0 && !records))
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "a simulation, room for joints and a place for their count are needed");
    *count = s->joint_record_count;
    if (*count > capacity)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "room for %d joints, expected %d", capacity, *count);
    if (*count) memcpy(records, s->joint_records, sizeof *records * (size_t)*count);
    return DLS_OK;
}

const dls_problem *dls_simulation_problem(const dls_simulation *s) { return s->assembly.problem; }
const double *dls_simulation_impulses(const dls_simulation *s) { return s->assembly.r; }

size_t dls_simulation_memory(const dls_simulation *s) {
    return sizeof *s + dls_collider_bytes(s->collider) + dls_workspace_bytes(s->assembly.space) +
           dls_solid_factors_bytes(s->factors) +
           (size_t)s->row_capacity * (sizeof *s->kept + sizeof *s->found) + (size_t)s->kept_capacity +
           sizeof *s->tried * (size_t)s->tried_capacity + sizeof *s->extra * (size_t)s->extra_capacity;
}

int64_t dls_simulation_impacts(const dls_simulation *s, int *left) {
    if (left) *left = s ? s->impacts.left : 0;
    return s ? s->impacts.count : 0;
}

uint64_t dls_simulation_hash(const dls_simulation *s) {
    uint64_t hash = DLS_HASH_BEGIN;
    for (int row = 0; row < s->world->body_count; row++) {
        uint64_t word[sizeof(dls_body_state) / sizeof(uint64_t)];
        memcpy(word, &s->world->states[row], sizeof word);
        for (size_t k = 0; k < sizeof word / sizeof *word; k++) hash = dls_hash_word(hash, word[k]);
    }
    for (int64_t i = 0; i < s->world->freedom_count; i++) {
        uint64_t word[2];
        memcpy(&word[0], &s->world->q[i], sizeof *word);
        memcpy(&word[1], &s->world->u[i], sizeof *word);
        hash = dls_hash_word(dls_hash_word(hash, word[0]), word[1]);
    }
    return hash;
}

int dls_simulation_contact_count(const dls_simulation *s) {
    return s && s->assembly.problem ? s->assembly.block_count : 0;
}

/* Callers read arrays of records by these offsets. */
_Static_assert(sizeof(dls_contact_record) == 320 && offsetof(dls_contact_record, image) == 16 &&
                   offsetof(dls_contact_record, feature) == 24 && offsetof(dls_contact_record, point) == 32,
               "the layout that integrate.h states");

void dls_simulation_contact(const dls_simulation *s, int index, dls_contact_record *record) {
    memset(record, 0, sizeof *record);
    record->body_a = record->body_b = -1;
    if (index < 0 || index >= dls_simulation_contact_count(s)) return;
    const dls_assembly *a = &s->assembly;
    const dls_contact *c = &dls_collider_contacts(s->collider)[a->contact_of[index]];
    record->body_a = s->world->bodies[c->body_a].id;
    record->body_b = s->world->bodies[c->body_b].id;
    record->shape_a = c->local_a;
    record->shape_b = c->local_b;
    for (int k = 0; k < 3; k++) record->image[k] = c->image[k];
    record->feature = c->at.feature;
    record->gap = c->at.gap;
    record->mu = a->rows->mu[index];
    dls_contact_acts_at(a, c, record->point);
    dls_contact_frame(c->at.normal, record->frame);
    const double *b = dls_problem_b(a->rows);
    int row = a->rows->row[index], turning = row + a->dimension;
    record->parts = dls_problem_block_parts(a->rows, index);
    record->mu_rolling = dls_problem_mu_rolling(a->rows, index);
    record->mu_spinning = dls_problem_mu_spinning(a->rows, index);
    record->drilling = a->drilling ? a->drilling[index] : 0;
    for (int k = 0; k < a->dimension; k++) {
        record->impulse[k] = a->r[row + k];
        record->velocity[k] = a->u[row + k];
        record->b[k] = b[row + k];
    }
    for (int k = 0; k < a->rows->row[index + 1] - turning; k++) {
        record->torque[k] = a->r[turning + k];
        record->spin[k] = a->u[turning + k];
        record->b_spin[k] = b[turning + k];
    }
}

dls_status dls_simulation_contacts(const dls_simulation *s, int capacity, dls_contact_record *records,
                                   int *count, dls_error *error) {
    dls_error_clear(error);
    if (!s || !count || capacity < 0 || (capacity > 0 && !records))
        return dls_fail(error, DLS_ERROR_ARGUMENT,
                        "a simulation, room for contacts and a place for their count are needed");
    *count = dls_simulation_contact_count(s);
    if (*count > capacity)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "room for %d contacts, expected %d", capacity, *count);
    for (int k = 0; k < *count; k++) dls_simulation_contact(s, k, &records[k]);
    return DLS_OK;
}

dls_status dls_simulation_contact_pose(const dls_simulation *s, dls_body_id id, dls_pose *pose,
                                       dls_error *error) {
    dls_error_clear(error);
    if (!s || !pose || id < 0 || id >= s->world->entry_count)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "no body %d", id);
    int row = s->world->entries[id].row;
    const dls_body_state *state = dls_world_state(s->world, id);
    if (row >= 0 && row < s->found_count) {
        *pose = s->found[row];
        return DLS_OK;
    }
    memcpy(pose->x, state->x, sizeof pose->x);
    memcpy(pose->q, state->q, sizeof pose->q);
    return DLS_OK;
}
