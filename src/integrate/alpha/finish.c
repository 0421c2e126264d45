/* The words of all schemes: r is the percussion P of the step, u the velocity ξ that its law was asked of,
 * and bodies have v⁻ in the assembly and v⁺ in the world. */
#include "integrate/alpha/finish.h"

#include "assemble/solids.h"
#include "assemble/turning.h"
#include "base/error.h"
#include "base/small.h"
#include "base/vector.h"

#include <math.h>
#include <string.h>

/* Driven bodies, steadily; pieces that they touch tell better. */
static void move_others(dls_simulation *s, dls_alpha_finish *f) {
    const dls_world *world = s->world;
    for (int row = 0; row < world->body_count; row++) {
        if (world->bodies[row].motion != DLS_DRIVEN) continue;
        double turn[3], q[4];
        vec_along(f->states[row].x, s->kept[row].x, s->options.step, f->states[row].v);
        vec_scale(turn, s->options.step, f->states[row].w);
        quat_exponential(q, turn);
        quat_multiply(f->states[row].q, q, s->kept[row].q);
        quat_normalize(f->states[row].q);
    }
}

static bool keep_beginning(dls_simulation *s, dls_alpha_finish *f, dls_workspace *space) {
    size_t bytes = sizeof(double) * (size_t)s->world->freedom_count;
    f->began = *s->world;
    f->began.states = s->kept;
    f->began.q = DLS_TAKE(space, double, s->world->freedom_count);
    f->began.u = DLS_TAKE(space, double, s->world->freedom_count);
    f->began.spots = DLS_TAKE(space, dls_spot, s->world->spot_count);
    if (!f->began.q || !f->began.u || !f->began.spots) return false;
    if (!bytes) return true;
    memcpy(f->began.q, s->world->q, bytes), memcpy(f->began.u, s->world->u, bytes);
    memcpy(f->q, s->world->q, bytes), memcpy(f->u, s->world->u, bytes);
    memcpy(f->began.spots, s->world->spots, sizeof(dls_spot) * (size_t)s->world->spot_count);
    return true;
}

bool dls_alpha_finish_begin(dls_simulation *s, dls_alpha_finish *f, dls_workspace *space) {
    int contacts = dls_collider_count(s->collider);
    f->states = DLS_TAKE(space, dls_body_state, s->world->body_count);
    f->contact = DLS_TAKE_ZERO(space, dls_alpha_deed, contacts);
    f->row = DLS_TAKE(space, dls_alpha_row_deed, (int64_t)DLS_PIECE_JOINT_ROWS * s->world->joint_count);
    f->row_count = 0;
    f->q = DLS_TAKE(space, double, s->world->freedom_count),
    f->u = DLS_TAKE(space, double, s->world->freedom_count);
    if (!f->states || !f->contact || !f->row || !f->q || !f->u || !keep_beginning(s, f, space)) return false;
    if (s->world->body_count)
        memcpy(f->states, s->world->states, sizeof *f->states * (size_t)s->world->body_count);
    move_others(s, f);
    return true;
}

/* ---- a piece ---- */

/* Impacts act on the mean of the velocities before and after them, forces on that of the step's two ends;
 * along n forces act on what rests. */
static double double_work(const dls_alpha *alpha, int family, int row) {
    const dls_alpha_stage *stage = &alpha->stage;
    double after = stage->terms.rows[family].rate[row],
           impact = alpha->state.x[alpha->at.impact[family] + row];
    double work = impact * (after + stage->before[family][row]);
    if (family == DLS_ROWS_F)
        work += (alpha->state.percussion[family][row] - impact) * (after + alpha->slip_before[row]);
    return work;
}

static void add_contact(const dls_piece *p, int i, dls_alpha_deed *deed) {
    const dls_alpha *alpha = p->w->alpha;
    const dls_piece_contact *c = &p->contact[i];
    deed->r[0] = alpha->state.percussion[DLS_ROWS_N][i];
    deed->u[0] = alpha->stage.xi[DLS_ROWS_N][i];
    deed->work[0] = double_work(alpha, DLS_ROWS_N, i);
    vec_copy(deed->frame, c->at.normal);
    vec_copy(deed->frame + 3, c->axis[0]);
    vec_cross(deed->frame + 6, deed->frame, deed->frame + 3);
    vec_scale(deed->impulse, deed->r[0], c->at.normal);
    for (int k = 0; k < c->row_count; k++) {
        int row = c->first_row + k;
        double r = deed->r[1 + k] = alpha->state.percussion[DLS_ROWS_F][row];
        deed->u[1 + k] = alpha->stage.xi[DLS_ROWS_F][row];
        deed->work[1 + k] = double_work(alpha, DLS_ROWS_F, row);
        double *to = k < c->tangents ? deed->impulse : deed->moment;
        vec_along(to, to, r, c->axis[k]);
    }
}

/* What a row of a joint gave over the step: P of limits and friction; elsewhere Λ, and forces by the mean of
 * the step's two ends. */
static double row_impulse(const dls_piece *p, const dls_alpha_finish *f, const dls_piece_row *row) {
    const dls_alpha *alpha = p->w->alpha;
    double h = p->s->options.step;
    if (row->role == DLS_ROLE_SPRING || row->role == DLS_ROLE_SERVO || row->role == DLS_ROLE_MOTOR) {
        dls_piece before = *p;
        before.at = (dls_stand){.shadow = f->began, .states = f->began.states};
        return h / 2 *
               (dls_piece_row_force(&before, row, p->t0) + dls_piece_row_force(p, row, alpha->state.t));
    }
    if (row->family < 0) return 0;
    if (row->family >= DLS_ROWS_N) return alpha->state.percussion[row->family][row->index];
    double force = alpha->state.x[alpha->at.force[row->family] + row->index];
    const dls_alpha_joint *past = dls_alpha_find_joint(p->w, row->joint, row->freedom, row->role);
    return alpha->state.x[alpha->at.impact[row->family] + row->index] +
           h / 2 * (force + (past ? past->force : force));
}

void dls_alpha_finish_piece(dls_piece *p, dls_alpha_finish *f) {
    const dls_alpha *alpha = p->w->alpha;
    dls_piece_store(p, alpha->state.t, alpha->state.q, alpha->state.u, f->states);
    for (int i = 0; i < p->body_count; i++) {
        if (p->body[i].solid < 0) continue;
        int64_t at = p->at.shadow.solids[p->body[i].solid].at;
        size_t bytes = sizeof(double) * (size_t)p->body[i].n;
        memcpy(f->q + at, p->at.shadow.q + at, bytes), memcpy(f->u + at, p->at.shadow.u + at, bytes);
    }
    for (int i = 0; i < p->driven_count; i++) {
        dls_body_state *to = &f->states[p->driven[i]];
        vec_copy(to->x, p->at.states[p->driven[i]].x);
        memcpy(to->q, p->at.states[p->driven[i]].q, sizeof to->q);
    }
    for (int i = 0; i < p->contact_count; i++) add_contact(p, i, &f->contact[p->contact[i].contact]);
    for (int i = 0; i < p->row_count; i++) {
        const dls_piece_row *row = &p->joint_row[i];
        if (row->joint >= 0)
            f->row[f->row_count++] =
                (dls_alpha_row_deed){row->joint, row->freedom, row->role, row_impulse(p, f, row)};
    }
}

/* ---- the step ---- */

/* What is to stand beside u so that r·(u + mean) is the work, given twice. */
static void set_mean(int count, const double *r, const double *u, double work, double *mean) {
    double square = small_dot(count, r, r);
    for (int k = 0; k < count; k++) mean[k] = (square > 0 ? work * r[k] / square : 0) - u[k];
}

/* Rows of a deed in the frame that records have. */
static void fill_block(dls_simulation *s, const dls_alpha_deed *deed, int block) {
    dls_assembly *a = &s->assembly;
    const dls_contact *c = &dls_collider_contacts(s->collider)[a->contact_of[block]];
    int d = a->dimension, row = a->rows->row[block], size = a->rows->row[block + 1] - row;
    double frame[9], u[3] = {0, 0, 0}, sliding = 0;
    double *r = a->r + row, *velocity = a->u + row, *mean = a->to_mean + row;
    dls_contact_frame(c->at.normal, frame);
    for (int k = 0; k < d; k++) vec_along(u, u, deed->u[k], deed->frame + 3 * k);
    for (int k = 0; k < d; k++) {
        r[k] = vec_dot(frame + 3 * k, deed->impulse);
        velocity[k] = vec_dot(frame + 3 * k, u);
        sliding += k ? deed->work[k] : 0;
    }
    set_mean(1, r, velocity, deed->work[0], mean);
    set_mean(d - 1, r + 1, velocity + 1, sliding, mean + 1);
    for (int k = d; k < size; k++) {
        r[k] = deed->r[k], velocity[k] = deed->u[k];
        set_mean(1, r + k, velocity + k, deed->work[k], mean + k);
    }
}

static double joint_impulse(const dls_alpha_finish *f, const dls_joint_ask *ask) {
    for (int i = 0; i < f->row_count; i++)
        if (f->row[i].joint == ask->joint && f->row[i].freedom == ask->freedom && f->row[i].role == ask->role)
            return f->row[i].r;
    return 0;
}

static dls_assemble_options assemble_options(const dls_simulation *s, const dls_step_plan *plan,
                                             const dls_alpha_finish *f) {
    return (dls_assemble_options){.t = s->t,
                                  .h = s->options.step,
                                  .force_count = plan->force_count,
                                  .forces = {dls_plan_force(s, plan, 0), dls_plan_force(s, plan, 1)},
                                  .reference_velocity = dls_reference_velocity(s->world, &s->options, s->t),
                                  .joints_at = plan->joints_at,
                                  .joint_states = f->states,
                                  .damping = plan->damping,
                                  .stiffness = plan->stiffness,
                                  .threads = s->options.threads};
}

static dls_status assemble(dls_simulation *s, const dls_step_plan *plan, const dls_alpha_finish *f,
                           dls_error *error) {
    dls_assemble_options options = assemble_options(s, plan, f);
    dls_assembly *a = &s->assembly;
    dls_status status = dls_assemble_bodies(a, s->world, &options, error);
    if (!status) status = dls_find_joint_asks(a, s->world, &options, error);
    if (!status)
        status = dls_assemble_contacts(a, s->world, dls_collider_contacts(s->collider),
                                       dls_collider_count(s->collider), &options, error);
    if (status) return status;
    for (int block = 0; block < a->block_count; block++)
        fill_block(s, &f->contact[a->contact_of[block]], block);
    for (int i = 0; a->joints && i < a->joints->count; i++) {
        int row = a->joints->first_row + i;
        a->r[row] = joint_impulse(f, &a->joints->ask[i]);
        a->joints->ask[i].before = dls_joint_speed_at(&f->began, s, &a->joints->ask[i]);
        a->u[row] = a->to_mean[row] = 0;
    }
    return DLS_OK;
}

/* uᵀD u */
static double damping_power(const dls_solid *solid, const double *q, const double *u, double *D) {
    double sum = 0;
    dls_solid_full_matrix(solid, DLS_SOLID_DAMPING, q + solid->at, D + solid->n * solid->n, D);
    for (int j = 0; j < solid->n; j++)
        for (int i = 0; i < solid->n; i++) sum += u[solid->at + i] * D[i + solid->n * j] * u[solid->at + j];
    return sum;
}

/* What damping took from solids, by the two ends of the step. */
static dls_status book_damping(dls_simulation *s, const dls_alpha_finish *f, dls_error *error) {
    const dls_world *world = s->world;
    if (!s->assembly.solids) return DLS_OK;
    s->assembly.solids->damped = 0;
    s->assembly.solids->strained = NAN; /* of forces that the scheme spreads over steps */
    for (int k = 0; k < world->solid_count; k++) {
        const dls_solid *solid = &world->solids[k];
        if (!dls_solid_damps(solid) || world->entries[solid->id].row < 0) continue;
        double *D = DLS_TAKE(s->assembly.space, double, 2 * (int64_t)solid->n * solid->n);
        if (!D) return dls_fail_memory(error);
        s->assembly.solids->damped +=
            s->options.step / 2 *
            (damping_power(solid, f->began.q, f->began.u, D) + damping_power(solid, f->q, f->u, D));
    }
    return DLS_OK;
}

static void remember(dls_simulation *s, const dls_alpha_finish *f, dls_step_report *report) {
    dls_contact *contacts = dls_collider_contacts(s->collider);
    report->contacts = dls_collider_count(s->collider);
    for (int i = 0; i < report->contacts; i++) {
        dls_contact *c = &contacts[i];
        vec_copy(c->impulse, f->contact[i].impulse);
        vec_copy(c->moment, f->contact[i].moment);
        c->closed = c->at.gap <= 0 || f->contact[i].r[0] > 0;
        report->penetration = fmax(report->penetration, -c->at.gap);
        report->active += f->contact[i].r[0] > 0;
    }
}

/* Bodies stand at the end of the step, first with v⁻. */
static void stand_at_end(dls_simulation *s, const dls_alpha_finish *f) {
    size_t bytes = sizeof(double) * (size_t)s->world->freedom_count;
    if (bytes) memcpy(s->world->q, f->q, bytes);
    for (int row = 0; row < s->world->body_count; row++) {
        dls_body_state *state = &s->world->states[row];
        vec_copy(state->x, f->states[row].x);
        memcpy(state->q, f->states[row].q, sizeof state->q);
        memcpy(s->found[row].x, state->x, sizeof state->x);
        memcpy(s->found[row].q, state->q, sizeof state->q);
    }
}

dls_status dls_alpha_finish_step(dls_simulation *s, const dls_step_plan *plan, dls_alpha_finish *f,
                                 dls_step_report *report, dls_error *error) {
    stand_at_end(s, f);
    if (s->world->solid_count) dls_solids_stand(s->world);
    remember(s, f, report);
    dls_status status = assemble(s, plan, f, error);
    if (!status) status = book_damping(s, f, error);
    if (status) return status;
    if (s->world->body_count)
        memcpy(s->world->states, f->states, sizeof *f->states * (size_t)s->world->body_count);
    if (s->world->solid_count) {
        memcpy(s->world->u, f->u, sizeof(double) * (size_t)s->world->freedom_count);
        dls_solids_stand(s->world);
    }
    s->jump = 0;
    for (int row = 0; row < s->world->body_count; row++)
        s->jump = fmax(s->jump, vec_distance(s->world->states[row].v, s->kept[row].v));
    return dls_joints_apply(s, error);
}
