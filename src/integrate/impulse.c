/* The step of impulse schemes:
 *
 *     q_m = q + contacts_at · h v,   u = W r + b at q_m,   solve, judge,   v⁺ = v_free + M⁻¹ Hᵀ r,   move. */
#include "assemble/spread.h"
#include "assemble/turning.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "base/vector.h"
#include "integrate/impacts.h"
#include "solve/joined/joined.h"
#include "solve/reason.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { THREADED_BLOCKS = 4096 }; /* contacts from which the solver has all threads */
enum { FRICTION_ROUNDS = 20 };   /* solves of a step while friction of joints follows their loads */

/* Structures at rest: few contacts, and nothing faster than a share of v_ref. What still sways, faster than
 * the tolerance lets a contact err, gets a tighter tolerance of the judge, for which so many sweeps are
 * spent: errors as large as the tolerance keep slender ones swaying for ever, at the price of the smaller
 * ones. Papers that stop by a measure of their own are left to it. */
enum { STRUCTURE = 256, STILLING_SWEEPS = 2000 };
static const double AT_REST = 1e-3, STILLING = 1e-2;

/* ---- u = W r + b ---- */

static dls_assemble_options assemble_options(const dls_simulation *s, const dls_step_plan *plan) {
    const dls_simulation_options *o = &s->options;
    double fall = vec_norm(s->world->def.gravity) * o->step;
    double v_ref = dls_reference_velocity(s->world, o, s->t);
    double tolerance = ((const dls_stop_options *)s->solver_options)->tolerance;
    return (dls_assemble_options){
        .t = s->t,
        .h = o->step,
        .force_count = plan->force_count,
        .forces = {dls_plan_force(s, plan, 0), dls_plan_force(s, plan, 1)},
        .closed_only = o->entering == DLS_ENTER_CLOSED,
        .whole_gap = s->scheme->whole_gap,
        .bends = o->kinematics == DLS_KINEMATICS_SECOND && o->entering != DLS_ENTER_CLOSED,
        .least_bend = tolerance * v_ref / o->step,
        .share = o->stabilisation,
        .most_speed = o->stabilisation_speed > 0 ? o->stabilisation_speed : fall,
        .formal = o->restitution == DLS_RESTITUTION_FORMAL,
        .in_order = o->restitution == DLS_RESTITUTION_IN_ORDER && o->entering != DLS_ENTER_CLOSED,
        .rest_speed = o->rest_speed > 0 ? o->rest_speed : fall,
        .reference_velocity = v_ref,
        .contacts_at = plan->contacts_at,
        .joints_at = plan->joints_at,
        .damping = plan->damping,
        .stiffness = plan->stiffness,
        .explicit_solids = o->stiffness == DLS_STIFFNESS_EXPLICIT,
        .factors = s->factors,
        .stored = o->op == DLS_OPERATOR_STORED,
        .warm_start = o->warm_start,
        .threads = o->threads};
}

/* Rows on which a joint acts. */
static void mark_joined(dls_assembly *a) {
    for (int j = 0; a->joints && j < a->joints->joint_count; j++)
        for (int side = 0; side < 2; side++)
            if (a->joints->pose[j].row[side] >= 0) a->mass[a->joints->pose[j].row[side]].joined = true;
}

static dls_status assemble(dls_simulation *s, const dls_step_plan *plan, dls_error *error) {
    dls_assemble_options options = assemble_options(s, plan);
    dls_status status = dls_assemble_bodies(&s->assembly, s->world, &options, error);
    options.joint_states = s->world->states;
    options.joint_spots = s->world->spots;
    if (!status && s->world->joint_count && plan->joints_at != plan->contacts_at)
        status = dls_joints_place(s, plan->joints_at, &options.joint_states, &options.joint_spots, error);
    if (!status) status = dls_find_joint_asks(&s->assembly, s->world, &options, error);
    if (!status) status = dls_tighten(&s->assembly, s->world, &options, error);
    if (!status) mark_joined(&s->assembly);
    if (!status) status = dls_impacts_strike(s, plan, &options, error);
    if (status) return status;
    return dls_assemble_contacts(&s->assembly, s->world, dls_collider_contacts(s->collider),
                                 dls_collider_count(s->collider), &options, error);
}

/* On few contacts threads wait longer for each other than they work; the bits are the same. */
static int solver_threads(const dls_simulation *s) {
    return s->assembly.block_count < THREADED_BLOCKS ? 1 : s->options.threads;
}

/* The joint of a row that contradicts others. */
static dls_joint_id contradiction(const dls_assembly *a, const dls_joined_info *joined) {
    int ask = a->joints && joined->row >= 0 ? joined->row - a->joints->first_row : -1;
    return ask >= 0 && ask < a->joints->count ? a->joints->ask[ask].joint : -1;
}

/* Whether bodies stand, but for a swaying that solutions within the tolerance keep up. */
static bool is_swaying(const dls_simulation *s) {
    double v_ref = dls_problem_reference_velocity(s->assembly.problem), most = 0;
    const dls_stop_options *stop = (const dls_stop_options *)s->solver_options;
    if (stop->measure != DLS_STOP_RESIDUAL || s->assembly.rows->block_count >= STRUCTURE) return false;
    for (int row = 0; row < s->world->body_count; row++) {
        const dls_body *body = &s->world->bodies[row];
        const dls_body_state *state = &s->world->states[row];
        if (body->motion == DLS_DYNAMIC)
            most = fmax(most, vec_norm(state->v) + body->radius * vec_norm(state->w));
    }
    return most > stop->tolerance * v_ref && most < AT_REST * v_ref;
}

static dls_status solve_once(dls_simulation *s, bool swaying, dls_solve_info *info, dls_step_report *report,
                             dls_error *error) {
    dls_assembly *a = &s->assembly;
    bool joints = a->joints && a->joints->count && s->options.joints == DLS_JOINTS_ELIMINATED;
    dls_joined_info joined = {.row = -1};
    alignas(16) unsigned char options[DLS_MAX_OPTIONS_SIZE];
    memcpy(options, s->solver_options, s->solver->options_size);
    if (report->sweeps > 0)
        dls_solver_spend(s->solver, a->rows, report->sweeps * dls_sweep_flops(a->rows), options);
    if (swaying) {
        dls_stop_options *stop = (dls_stop_options *)options;
        stop->tolerance *= STILLING;
        if (stop->max_iterations > STILLING_SWEEPS) stop->max_iterations = STILLING_SWEEPS;
    }
    if (joints && !s->elimination && !(s->elimination = dls_elimination_create()))
        return dls_fail_memory(error);
    dls_status status =
        joints ? dls_solve_joined(a->rows, s->elimination, s->solver, options, a->r, a->u, a->space, info,
                                  &joined, error)
               : dls_solve_step(a->problem, s->solver, options, a->r, a->u, a->space, info, error);
    if (status) return status;
    report->sweeps += info->work;
    if (joints) report->contradiction = contradiction(a, &joined);
    return DLS_OK;
}

/* Friction of a joint that follows from its load: bounds are renewed by the impulses until they stay. */
static dls_status solve_with_friction(dls_simulation *s, dls_solve_info *info, dls_step_report *report,
                                      dls_error *error) {
    dls_assembly *a = &s->assembly;
    double tolerance = ((const dls_stop_options *)s->solver_options)->tolerance;
    bool swaying = is_swaying(s);
    int iterations = 0;
    for (int round = 0; round < FRICTION_ROUNDS; round++) {
        dls_status status = solve_once(s, swaying, info, report, error);
        if (status) return status;
        iterations += info->iterations;
        if (swaying && info->measures.residual <= tolerance) {
            info->outcome = DLS_CONVERGED;
        } else if (swaying) {
            status = solve_once(s, false, info, report, error);
            if (status) return status;
            iterations += info->iterations;
        }
        if (!(dls_renew_friction(a, s->world, s->options.step) > tolerance)) break;
    }
    info->iterations = iterations;
    return DLS_OK;
}

/* Where closing the gaps of joints would drive what they hold, it is done slower, and at last not at all. */
static dls_status solve_and_close(dls_simulation *s, dls_solve_info *info, dls_step_report *report,
                                  dls_error *error) {
    dls_assembly *a = &s->assembly;
    double v_ref = dls_problem_reference_velocity(a->problem), speeds[] = {v_ref, 0};
    dls_status status = solve_with_friction(s, info, report, error);
    int iterations = info->iterations;
    bool slower = true;
    for (int k = 0; k < 2 && slower && !status; k++) {
        status = dls_slow_closing(a, s->world, v_ref, speeds[k], &slower, error);
        if (status || !slower) break;
        memset(a->r, 0, sizeof *a->r * (size_t)a->rows->row_count); /* those of the jam are no start */
        status = solve_with_friction(s, info, report, error);
        iterations += info->iterations;
    }
    info->iterations = iterations;
    return status;
}

static dls_status give_reason(dls_simulation *s, const dls_solve_info *info, dls_step_report *report,
                              dls_error *error) {
    dls_assembly *a = &s->assembly;
    report->reason = DLS_REASON_NONE;
    if (report->certified) return DLS_OK;
    report->reason = DLS_REASON_CONTRADICTION;
    return report->contradiction >= 0
               ? DLS_OK
               : dls_find_reason(a->problem, a->r, a->space, info, &report->reason, error);
}

static dls_status solve(dls_simulation *s, dls_step_report *report, dls_error *error) {
    dls_assembly *a = &s->assembly;
    dls_stop_options *stop = (dls_stop_options *)s->solver_options;
    stop->threads = solver_threads(s);
    report->outcome = DLS_CONVERGED;
    report->certified = true;
    report->held = dls_problem_reference_velocity(a->problem) > 0 ? 0 : (double)NAN;
    if (a->rows->block_count == 0) return DLS_OK;
    dls_status status = a->joints ? DLS_OK : dls_assemble_hold(a, error);
    if (status) return status;
    dls_solve_info info;
    a->rows->ranks = s->ranks; /* while all of them are here */
    status = solve_and_close(s, &info, report, error);
    a->rows->ranks = NULL;
    if (status) return status;
    report->outcome = info.outcome;
    report->residual = info.measures.residual;
    report->max_error = info.measures.max_error;
    report->held = info.measures.held;
    report->iterations = info.iterations;
    report->certified = report->residual <= stop->tolerance && !(report->held > DLS_HELD_LIMIT);
    return give_reason(s, &info, report, error);
}

/* Of all impulses that hold the same, those of least norm. A contact holds where it moves by no more than the
 * solution's errors. */
static dls_status spread(dls_simulation *s, const dls_step_report *report, dls_error *error) {
    dls_assembly *a = &s->assembly;
    double v_ref = dls_problem_reference_velocity(a->problem);
    double tolerance = ((const dls_stop_options *)s->solver_options)->tolerance;
    if (a->rows->block_count == 0 || !report->certified || a->joints) return DLS_OK;
    return dls_assemble_spread(a, 10 * fmax(report->max_error, tolerance * v_ref),
                               report->iterations * a->rows->op->sweep_cost(a->rows), error);
}

/* ---- r ---- */

typedef struct memory_work {
    const dls_simulation *simulation;
    const dls_assembly *assembly;
    dls_contact *contacts;
} memory_work;

/* The first block whose contact is not before c. */
static int first_block(const dls_assembly *a, int c) {
    int low = 0, high = a->block_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (a->contact_of[middle] < c)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the deepest penetration. */
static double remember_range(void *self, int first, int end) {
    const memory_work *work = self;
    const dls_assembly *a = work->assembly;
    int d = a->dimension, block = first_block(a, first);
    double penetration = 0;
    for (int i = first; i < end; i++) {
        dls_contact *c = &work->contacts[i];
        vec_set(c->impulse, 0, 0, 0);
        vec_set(c->moment, 0, 0, 0);
        c->closed = c->at.gap <= 0;
        double gap = dls_impacts_gap(work->simulation, c);
        if (-gap > penetration) penetration = -gap;
        if (block == a->block_count || a->contact_of[block] != i) continue;
        assert(block < a->block_count && (block == 0 || a->contact_of[block - 1] < i));
        const double *r = a->r + a->rows->row[block];
        double frame[9];
        dls_contact_frame(c->at.normal, frame);
        for (int k = 0; k < d; k++) vec_along(c->impulse, c->impulse, r[k], frame + 3 * k);
        if (a->drilling) {
            dls_turning turning;
            dls_turning_axes(d, a->rows->parts[block], frame, a->drilling[block], &turning);
            dls_turning_moment(&turning, r + d, c->moment);
        }
        c->closed = c->closed || r[0] > 0;
        block++;
    }
    return penetration;
}

/* How many blocks carry load. */
static double active_range(void *self, int first, int end) {
    const dls_assembly *a = self;
    int active = 0;
    for (int i = first; i < end; i++) active += a->r[a->rows->row[i]] > 0;
    return active;
}

/* Impulses back to the contacts, in world axes: the warm start of the next step. */
static void remember(dls_simulation *s, dls_step_report *report) {
    dls_assembly *a = &s->assembly;
    memory_work work = {s, a, dls_collider_contacts(s->collider)};
    report->contacts = dls_collider_count(s->collider);
    report->penetration = dls_parallel_max(report->contacts, s->options.threads, remember_range, &work);
    report->active = (int)dls_parallel_sum(a->block_count, s->options.threads, active_range, a);
}

static double largest_jump(const dls_simulation *s) {
    double most = 0;
    for (int row = 0; row < s->world->body_count; row++)
        most = fmax(most, vec_distance(s->world->states[row].v, s->assembly.free[row].v));
    return most;
}

/* ---- the step ---- */

/* Contacts, problem, solution and v⁺. again: bodies meet on their way what was not looked for; they have
 * their velocities back then. */
static dls_status respond(dls_simulation *s, const dls_step_plan *plan, int look, bool *again,
                          dls_step_report *report, dls_error *error) {
    double began = dls_clock_wall();
    int iterations = report->iterations;
    report->iterations = 0;
    dls_status status = dls_simulation_find_contacts(s, look > 0, error);
    double found = dls_clock_wall();
    if (!status) status = assemble(s, plan, error);
    double assembled = dls_clock_wall();
    if (!status) status = solve(s, report, error);
    if (!status) status = spread(s, report, error);
    if (status) return status;
    report->seconds_solve += dls_clock_wall() - assembled;
    report->seconds_assemble += assembled - found;
    report->seconds_collide += found - began;
    report->iterations += iterations;
    status = dls_assemble_apply(&s->assembly, s->world, s->options.step, s->options.threads, error);
    if (status) return status;
    remember(s, report);
    return dls_simulation_look_again(s, s->assembly.before, look, again, error);
}

dls_status dls_impulse_advance(dls_simulation *s, const dls_step_plan *plan, dls_step_report *report,
                               dls_error *error) {
    const dls_simulation_options *o = &s->options;
    bool again = true;
    dls_status status = DLS_OK;
    if (plan->contacts_at > 0) dls_simulation_fly_on(s, plan->contacts_at * o->step);
    for (int look = 0; again && !status; look++) status = respond(s, plan, look, &again, report, error);
    if (!status) status = dls_joints_apply(s, error);
    if (status) return status;
    s->energy.numerical += dls_tight_energy(&s->assembly, s->world);
    s->flown_uid = s->world->next_uid;
    s->jump = fmax(largest_jump(s), s->impacts.jump);
    s->scheme->move(s, plan);
    dls_impacts_move(s);
    return DLS_OK;
}
