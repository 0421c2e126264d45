/* The step of generalized-α: contacts near where bodies will be, then piece by piece
 *
 *     R(x) = 0 at the end of the step,   g, ġ, g̈ = 0 of what is closed or joined
 *
 * as src/system solves it, and what the step did in the words of all schemes. */
#include "assemble/turning.h"
#include "base/error.h"
#include "base/vector.h"
#include "integrate/alpha/finish.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRICTION_ROUNDS = 20 }; /* solves of a piece while friction of joints follows their loads */

/* Where no tolerance is told, R is solved to this share of that of the certificate. */
static const double NEARER = 0.01;

/* ---- bodies come and go ---- */

/* Rows ascend by uid, and so does what is kept of them. Returns false when memory is out. */
static bool match_bodies(dls_alpha_world *w, const dls_world *world) {
    int rows = world->body_count, from = 0;
    bool same = w->bodies.count == rows;
    for (int row = 0; same && row < rows; row++) same = w->bodies.item[row].uid == world->bodies[row].uid;
    if (same) return true;
    dls_alpha_body *next = DLS_NEW_ZERO(dls_alpha_body, rows);
    if (!next) return false;
    for (int row = 0; row < rows; row++) {
        int uid = world->bodies[row].uid;
        while (from < w->bodies.count && w->bodies.item[from].uid < uid) from++;
        if (from < w->bodies.count && w->bodies.item[from].uid == uid)
            next[row] = w->bodies.item[from];
        else
            next[row].uid = uid;
    }
    dls_free(w->bodies.item);
    w->bodies = (dls_alpha_bodies){next, rows, rows};
    return true;
}

/* ---- a piece and its alpha ---- */

static dls_alpha_options options_of(const dls_simulation *s) {
    dls_alpha_options o = s->options.alpha;
    o.dt = s->options.step;
    o.v_ref = dls_reference_velocity(s->world, &s->options, s->t);
    if (o.tolerance > 0) return o;
    o.scaled = o.v_ref > 0;
    o.certificate = ((const dls_stop_options *)s->solver_options)->tolerance;
    o.tolerance = o.tolerance_fixed = NEARER * o.certificate;
    return o;
}

/* Where a, ā, U and Q of a body are kept. */
typedef struct kept_motion {
    double *a, *a_bar, *U, *Q;
} kept_motion;

static kept_motion motion_of(const dls_piece *p, int i) {
    dls_alpha_body *body = &p->w->bodies.item[p->body[i].row];
    if (p->body[i].solid < 0) return (kept_motion){body->a, body->a_bar, body->U, body->Q};
    int64_t all = p->s->world->freedom_count;
    double *at = p->w->solids.item + p->s->world->solids[p->body[i].solid].at;
    return (kept_motion){at, at + all, at + 2 * all, at + 3 * all};
}

static void load_bodies(const dls_piece *p, dls_alpha *alpha, bool *fresh) {
    *fresh = false;
    for (int i = 0; i < p->body_count; i++) {
        kept_motion kept = motion_of(p, i);
        int at = p->body[i].at_u;
        size_t bytes = sizeof(double) * (size_t)p->body[i].m;
        *fresh |= !p->w->bodies.item[p->body[i].row].known;
        memcpy(alpha->state.a + at, kept.a, bytes), memcpy(alpha->state.a_bar + at, kept.a_bar, bytes);
        memcpy(alpha->state.x + alpha->at.a + at, kept.a, bytes);
        memcpy(alpha->state.x + alpha->at.U + at, kept.U, bytes);
        memcpy(alpha->state.x + alpha->at.Q + at, kept.Q, bytes);
    }
}

static void load_contacts(const dls_piece *p, dls_alpha *alpha) {
    dls_alpha_state *state = &alpha->state;
    const dls_layout *at = &alpha->at;
    const dls_contact *contacts = dls_collider_contacts(p->s->collider);
    int law = 0;
    for (int i = 0; i < p->contact_count; i++, law += p->contact[i - 1].law_count) {
        const dls_piece_contact *c = &p->contact[i];
        const dls_alpha_contact *past = dls_alpha_find_contact(p->w, &contacts[c->contact]);
        if (!past) continue;
        state->x[at->kappa[DLS_ROWS_N] + i] = past->kappa;
        state->x[at->impact[DLS_ROWS_N] + i] = past->impact;
        state->x[at->force[DLS_ROWS_N] + i] = state->force[DLS_ROWS_N][i] = past->force;
        state->bar[DLS_ROWS_N][i] = past->bar;
        state->closed[i] = past->closed != 0;
        for (int k = 0; k < c->row_count; k++) {
            int row = c->first_row + k;
            state->x[at->impact[DLS_ROWS_F] + row] = past->impact_f[k];
            state->x[at->force[DLS_ROWS_F] + row] = state->force[DLS_ROWS_F][row] = past->force_f[k];
            state->bar[DLS_ROWS_F][row] = past->bar_f[k];
        }
        for (int k = 0; k < c->law_count; k++) state->sticking[law + k] = past->sticking >> k & 1;
    }
}

static void load_joints(const dls_piece *p, dls_alpha *alpha) {
    dls_alpha_state *state = &alpha->state;
    for (int i = 0; i < p->row_count; i++) {
        const dls_piece_row *row = &p->joint_row[i];
        int f = row->family;
        if (f < 0 || row->joint < 0) continue;
        const dls_alpha_joint *past = dls_alpha_find_joint(p->w, row->joint, row->freedom, row->role);
        if (!past) continue;
        if (alpha->at.kappa[f] >= 0) state->x[alpha->at.kappa[f] + row->index] = past->kappa;
        state->x[alpha->at.impact[f] + row->index] = past->impact;
        state->x[alpha->at.force[f] + row->index] = past->force;
        if (f < DLS_ROWS_N) continue;
        state->force[f][row->index] = past->force, state->bar[f][row->index] = past->bar;
        if (f == DLS_ROWS_N) state->closed[row->index] = past->closed != 0;
        if (row->law >= 0) state->sticking[row->law] = past->sticking != 0;
    }
}

/* a = M⁻¹ h of bodies that have none yet. */
static void fill_fresh(dls_piece *p, dls_alpha *alpha) {
    const dls_model *system = &alpha->system;
    double *h = p->column;
    memset(h, 0, sizeof *h * (size_t)system->velocities);
    system->force(alpha->state.t, alpha->state.q, alpha->state.u, h, p);
    dls_piece_divide_by_mass(p, h);
    for (int i = 0; i < p->body_count; i++) {
        if (p->w->bodies.item[p->body[i].row].known) continue;
        for (int k = p->body[i].at_u; k < p->body[i].at_u + p->body[i].m; k++)
            alpha->state.a[k] = alpha->state.a_bar[k] = alpha->state.x[alpha->at.a + k] = h[k];
    }
}

static dls_status load(dls_piece *p, dls_error *error) {
    dls_alpha *alpha = p->w->alpha;
    dls_model model = dls_piece_model(p);
    dls_parts parts = dls_piece_parts(p);
    dls_alpha_options options = options_of(p->s);
    bool fresh;
    dls_status status = dls_alpha_fit(alpha, &model, &parts, &options, error);
    if (status) return status;
    alpha->state.t = p->s->t, alpha->state.step = p->s->step, alpha->state.dt = p->w->dt;
    dls_piece_load(p, p->s->kept, alpha->state.q, alpha->state.u);
    load_bodies(p, alpha, &fresh);
    for (int k = 0; k < p->size_u; k++) alpha->state.a_bar[k] -= p->left[k];
    load_contacts(p, alpha);
    load_joints(p, alpha);
    if (fresh) fill_fresh(p, alpha);
    return DLS_OK;
}

/* ---- and back ---- */

static void save_bodies(dls_piece *p) {
    const dls_alpha *alpha = p->w->alpha;
    for (int i = 0; i < p->body_count; i++) {
        kept_motion kept = motion_of(p, i);
        int at = p->body[i].at_u;
        size_t bytes = sizeof(double) * (size_t)p->body[i].m;
        p->w->bodies.item[p->body[i].row].known = 1;
        memcpy(kept.a, alpha->state.a + at, bytes), memcpy(kept.a_bar, alpha->state.a_bar + at, bytes);
        memcpy(kept.U, alpha->state.x + alpha->at.U + at, bytes);
        memcpy(kept.Q, alpha->state.x + alpha->at.Q + at, bytes);
    }
}

/* Where the collider's contacts of all pieces are kept in its order. */
static void save_contacts(const dls_piece *p) {
    const dls_alpha *alpha = p->w->alpha;
    const dls_alpha_state *state = &alpha->state;
    int law = 0;
    for (int i = 0; i < p->contact_count; i++, law += p->contact[i - 1].law_count) {
        const dls_piece_contact *c = &p->contact[i];
        dls_contact *contact = &dls_collider_contacts(p->s->collider)[c->contact];
        dls_alpha_contact *kept = &p->w->next_contacts.item[c->contact];
        memset(kept, 0, sizeof *kept);
        kept->key = dls_contact_key(contact);
        kept->feature = contact->at.feature;
        contact->at = c->at;
        vec_copy(kept->n, c->at.normal);
        vec_copy(kept->t, c->axis[0]);
        kept->closed = state->closed[i];
        kept->kappa = state->x[alpha->at.kappa[DLS_ROWS_N] + i];
        kept->impact = state->x[alpha->at.impact[DLS_ROWS_N] + i];
        kept->force = state->force[DLS_ROWS_N][i], kept->bar = state->bar[DLS_ROWS_N][i];
        for (int k = 0; k < c->row_count; k++) {
            int row = c->first_row + k;
            kept->impact_f[k] = state->x[alpha->at.impact[DLS_ROWS_F] + row];
            kept->force_f[k] = state->force[DLS_ROWS_F][row], kept->bar_f[k] = state->bar[DLS_ROWS_F][row];
        }
        for (int k = 0; k < c->law_count; k++) kept->sticking |= (uint8_t)(state->sticking[law + k] << k);
        dls_alpha_keep_push(c, kept);
    }
}

static void save_joints(const dls_piece *p) {
    const dls_alpha *alpha = p->w->alpha;
    const dls_alpha_state *state = &alpha->state;
    for (int i = 0; i < p->row_count; i++) {
        const dls_piece_row *row = &p->joint_row[i];
        int f = row->family;
        if (f < 0 || row->joint < 0) continue;
        dls_alpha_joint *kept = &p->w->next_joints.item[p->w->next_joints.count++];
        *kept = (dls_alpha_joint){.joint = row->joint,
                                  .freedom = (uint8_t)row->freedom,
                                  .role = (uint8_t)row->role,
                                  .kappa =
                                      alpha->at.kappa[f] >= 0 ? state->x[alpha->at.kappa[f] + row->index] : 0,
                                  .impact = state->x[alpha->at.impact[f] + row->index],
                                  .force = state->x[alpha->at.force[f] + row->index]};
        if (f >= DLS_ROWS_N) kept->bar = state->bar[f][row->index];
        if (f == DLS_ROWS_N) kept->closed = state->closed[row->index];
        if (row->law >= 0) kept->sticking = state->sticking[row->law];
    }
}

/* ---- one piece ---- */

/* Friction of joints follows from the loads of this step; returns the largest change in units of the larger.
 */
static double renew_friction(dls_piece *p) {
    double most = 0;
    for (int i = 0; i < p->row_count; i++) {
        const dls_piece_row *row = &p->joint_row[i];
        if (row->role != DLS_ROLE_FRICTION) continue;
        dls_joint *joint = &p->s->world->joints[row->joint];
        const dls_freedom_def *f = &joint->def.freedom[row->freedom];
        if (!(f->friction_mu > 0)) continue;
        double lever = row->freedom < 3 ? 1 : f->friction_radius;
        double limit =
            f->friction + f->friction_mu * lever * dls_piece_joint_load(p, p->w->alpha, row->joint);
        double before = p->laws[row->law].limit;
        most = fmax(most, fabs(limit - before) / fmax(limit, before));
        p->laws[row->law].limit = limit;
    }
    return most;
}

static void tell(const dls_alpha_report *from, dls_step_report *report) {
    report->iterations += from->newton_updates + from->fixed_iterations;
    report->retried += from->retries > 0;
    report->halvings += from->halvings;
    if (from->solutions != 1 && from->solutions >= 0) report->ambiguous++;
}

static dls_status step_piece(dls_piece *p, dls_tally *tally, dls_step_report *report, dls_error *error) {
    dls_alpha_report own = {0};
    double tolerance = ((const dls_stop_options *)p->s->solver_options)->tolerance;
    dls_status status = DLS_OK;
    for (int round = 0; round < FRICTION_ROUNDS; round++) {
        status = load(p, error);
        if (!status) status = dls_alpha_step(p->w->alpha, &own, error);
        if (status || !(renew_friction(p) > tolerance)) break;
    }
    if (status) return status;
    tell(&own, report);
    dls_tally_add(tally, &p->w->alpha->tally);
    return DLS_OK;
}

/* ---- the step ---- */

/* A world whose bodies and solids a piece may put anywhere: where the step begins. */
static bool make_stand(dls_simulation *s, dls_stand *at) {
    dls_workspace *space = ((dls_alpha_world *)s->memory)->space;
    int64_t all = s->world->freedom_count, spots = s->world->spot_count, rows = s->world->body_count;
    at->states = DLS_TAKE(space, dls_body_state, rows);
    at->R = dls_workspace_take(space, (size_t)rows, sizeof *at->R);
    at->acceleration = DLS_TAKE_ZERO(space, dls_twist, rows);
    at->shadow = *s->world;
    at->shadow.states = at->states;
    at->shadow.q = DLS_TAKE(space, double, all), at->shadow.u = DLS_TAKE(space, double, all);
    at->shadow.spots = DLS_TAKE(space, dls_spot, spots);
    if (!at->states || !at->R || !at->acceleration || !at->shadow.q || !at->shadow.u || !at->shadow.spots)
        return false;
    if (all) memcpy(at->shadow.q, s->world->q, sizeof(double) * (size_t)all);
    if (all) memcpy(at->shadow.u, s->world->u, sizeof(double) * (size_t)all);
    if (spots) memcpy(at->shadow.spots, s->world->spots, sizeof(dls_spot) * (size_t)spots);
    for (int row = 0; row < rows; row++) {
        at->states[row] = s->kept[row];
        quat_matrix(at->states[row].q, at->R[row]);
    }
    if (s->world->solid_count) dls_solids_stand(&at->shadow);
    return true;
}

/* Room for what is kept of solids. */
static bool match_solids(dls_alpha_world *w, int64_t all) {
    if (w->solids.count == 4 * all) return true;
    if (!DLS_RESERVE(w->solids.item, 0, w->solids.capacity, 4 * all)) return false;
    w->solids.count = (int)(4 * all);
    memset(w->solids.item, 0, sizeof(double) * (size_t)(4 * all));
    return true;
}

/* All rows where the step begins. */
static bool begin(dls_simulation *s, dls_piece *p) {
    dls_alpha_world *w = s->memory;
    int rows = s->world->body_count;
    dls_workspace_release(w->space, (dls_workspace_mark){0, 0});
    p->local = DLS_TAKE(w->space, int, rows);
    if (!p->local || !match_bodies(w, s->world) || !match_solids(w, s->world->freedom_count)) return false;
    for (int row = 0; row < rows; row++) p->local[row] = -1;
    return make_stand(s, &p->at) && make_stand(s, &p->aside);
}

static bool reserve(dls_simulation *s) {
    dls_alpha_world *w = s->memory;
    int64_t contacts = dls_collider_count(s->collider);
    int64_t rows = (int64_t)DLS_PIECE_JOINT_ROWS * s->world->joint_count;
    w->next_contacts.count = (int)contacts, w->next_joints.count = 0;
    if (!DLS_RESERVE(w->next_contacts.item, 0, w->next_contacts.capacity, contacts) ||
        !DLS_RESERVE(w->next_joints.item, 0, w->next_joints.capacity, rows))
        return false;
    if (contacts) memset(w->next_contacts.item, 0, sizeof *w->next_contacts.item * (size_t)contacts);
    return true;
}

static int by_row(const void *a, const void *b) {
    const dls_alpha_joint *p = a, *q = b;
    if (p->joint != q->joint) return p->joint < q->joint ? -1 : 1;
    if (p->freedom != q->freedom) return p->freedom < q->freedom ? -1 : 1;
    return (p->role > q->role) - (p->role < q->role);
}

/* What this step leaves takes the place of what the last one did; contacts of no piece are not kept. */
static void turn_over(dls_alpha_world *w) {
    dls_alpha_contacts contacts = w->contacts;
    dls_alpha_joints joints = w->joints;
    int kept = 0;
    for (int i = 0; i < w->next_contacts.count; i++) {
        const dls_alpha_contact *c = &w->next_contacts.item[i];
        if (c->n[0] == 0 && c->n[1] == 0 && c->n[2] == 0) continue;
        w->next_contacts.item[kept++] = *c;
    }
    w->next_contacts.count = kept;
    if (w->next_joints.count)
        qsort(w->next_joints.item, (size_t)w->next_joints.count, sizeof *w->next_joints.item, by_row);
    w->contacts = w->next_contacts, w->next_contacts = contacts;
    w->joints = w->next_joints, w->next_joints = joints;
}

/* q and u of the world's solids are those of the shadow, and what a step begins from. */
static void take_solids(dls_simulation *s, const dls_piece *p) {
    size_t bytes = sizeof(double) * (size_t)s->world->freedom_count;
    if (!bytes) return;
    memcpy(s->world->q, p->at.shadow.q, bytes);
    memcpy(s->world->u, p->at.shadow.u, bytes);
    dls_solids_stand(s->world);
    dls_solids_memory_write(s->world, s->kept_solids);
}

/* The initial step: closes what is nearly closed, impacts of closed contacts that approach, a and λ. */
static dls_status start(dls_simulation *s, dls_error *error) {
    dls_piece p = {.s = s};
    dls_pieces pieces;
    dls_alpha_world *w = s->memory;
    if (!begin(s, &p)) return dls_fail_memory(error);
    dls_status status = dls_simulation_find_contacts(s, false, error);
    if (!status) status = dls_pieces_find(s, &pieces, error);
    if (!status && !reserve(s)) status = dls_fail_memory(error);
    for (int i = 0; !status && i < pieces.count; i++) {
        dls_workspace_mark mark = dls_workspace_get_mark(w->space);
        status = dls_piece_make(s, &pieces, i, &p, error);
        if (!status) status = load(&p, error);
        if (!status) status = dls_alpha_begin(p.w->alpha, error);
        if (status) break;
        dls_piece_store(&p, s->t, p.w->alpha->state.q, p.w->alpha->state.u, s->world->states);
        for (int k = 0; k < p.body_count; k++) s->kept[p.body[k].row] = s->world->states[p.body[k].row];
        take_solids(s, &p);
        save_bodies(&p);
        save_contacts(&p);
        save_joints(&p);
        dls_workspace_release(w->space, mark);
    }
    if (!status) turn_over(w);
    return status;
}

/* Contacts where bodies will be about the end of the step. */
static dls_status find_contacts(dls_simulation *s, dls_error *error) {
    dls_fly(s->world, s->options.step, s->options.threads);
    dls_status status = dls_simulation_find_contacts(s, false, error);
    for (int row = 0; row < s->world->body_count; row++) {
        dls_body_state *state = &s->world->states[row];
        vec_copy(state->x, s->kept[row].x);
        memcpy(state->q, s->kept[row].q, sizeof state->q);
        if (s->world->bodies[row].motion == DLS_DYNAMIC) vec_copy(state->w, s->kept[row].w);
    }
    if (s->world->solid_count) dls_solids_memory_use(s->world, s->kept_solids);
    return status;
}

/* The certificate of all pieces. */
static void judge(const dls_simulation *s, const dls_tally *tally, dls_step_report *report) {
    const dls_stop_options *stop = (const dls_stop_options *)s->solver_options;
    report->residual = dls_tally_residual(tally);
    report->max_error = sqrt(tally->worst);
    report->held = dls_reference_velocity(s->world, &s->options, s->t) > 0 ? sqrt(tally->held) : (double)NAN;
    report->certified = report->residual <= stop->tolerance && !(report->held > DLS_HELD_LIMIT);
    report->reason = report->certified ? DLS_REASON_NONE : DLS_REASON_STALLED;
}

static dls_status step_pieces(dls_simulation *s, dls_alpha_finish *finish, dls_step_report *report,
                              dls_error *error) {
    dls_piece p = {.s = s};
    dls_pieces pieces;
    dls_tally tally = {0};
    dls_alpha_world *w = s->memory;
    if (!begin(s, &p) || !reserve(s)) return dls_fail_memory(error);
    dls_status status = dls_alpha_find_left(s) ? dls_pieces_find(s, &pieces, error) : dls_fail_memory(error);
    if (!status && !dls_alpha_finish_begin(s, finish, w->space)) status = dls_fail_memory(error);
    for (int i = 0; !status && i < pieces.count; i++) {
        dls_workspace_mark mark = dls_workspace_get_mark(w->space);
        status = dls_piece_make(s, &pieces, i, &p, error);
        if (!status) status = step_piece(&p, &tally, report, error);
        if (status) break;
        dls_alpha_finish_piece(&p, finish);
        save_bodies(&p);
        save_contacts(&p);
        save_joints(&p);
        dls_workspace_release(w->space, mark);
    }
    judge(s, &tally, report);
    if (!status) turn_over(w);
    return status;
}

/* What the first step began from, before the initial step: it is put back where that fails. */
typedef struct beginning {
    dls_body_state *states;
    char *solids;
} beginning;

static bool keep_first(const dls_simulation *s, beginning *first) {
    first->states = dls_alloc_copy(s->kept, (size_t)s->world->body_count, sizeof *s->kept);
    first->solids = dls_alloc_copy(s->kept_solids, dls_solids_memory_size(s->world), 1);
    return first->states && first->solids;
}

static void drop_first(dls_simulation *s, beginning *first, bool failed) {
    size_t states = sizeof *s->kept * (size_t)s->world->body_count, solids = dls_solids_memory_size(s->world);
    if (failed && first->states && first->solids) {
        if (states) memcpy(s->kept, first->states, states);
        if (solids) memcpy(s->kept_solids, first->solids, solids);
    }
    dls_free(first->states);
    dls_free(first->solids);
}

dls_status dls_alpha_world_advance(dls_simulation *s, const dls_step_plan *plan, dls_step_report *report,
                                   dls_error *error) {
    dls_alpha_world *w = s->memory;
    dls_alpha_finish finish;
    double began = dls_clock_wall();
    dls_status status = DLS_OK;
    report->outcome = DLS_CONVERGED;
    beginning first = {NULL, NULL};
    if (w->dt == 0) status = keep_first(s, &first) ? start(s, error) : dls_fail_memory(error);
    if (!status) status = find_contacts(s, error);
    double found = dls_clock_wall();
    if (!status) status = step_pieces(s, &finish, report, error);
    drop_first(s, &first, status != DLS_OK);
    if (status) return status;
    w->dt = s->options.step;
    double solved = dls_clock_wall();
    status = dls_alpha_finish_step(s, plan, &finish, report, error);
    report->sweeps = NAN; /* its Newton is not that of contacts */
    report->seconds_collide = found - began;
    report->seconds_solve = solved - found;
    report->seconds_assemble = dls_clock_wall() - solved;
    return status;
}

/* R′ by bodies against R′ by differences of all, at a B that is not that of q. */
static dls_status check_slopes(dls_piece *p, const double *q, const double *u, double tolerance,
                               dls_error *error) {
    dls_alpha_options options = options_of(p->s);
    dls_model model = dls_piece_model(p);
    dls_parts parts = dls_piece_parts(p);
    dls_alpha *whole = NULL;
    dls_status status = dls_alpha_allocate(&model, &options, &whole, error);
    if (!status) status = dls_alpha_fit(p->w->alpha, &model, &parts, &options, error);
    bool good = !status && dls_alpha_probe(whole, p->s->t, q, u);
    p->packed = true;
    if (good) good = dls_alpha_probe(p->w->alpha, p->s->t, q, u);
    double apart = good ? dls_alpha_apart(whole, p->w->alpha) : 0;
    if (!status && !good) status = dls_alpha_refuse_numbers(p->w->alpha, p->s->t, error);
    if (!status && !(apart <= (tolerance > 0 ? tolerance : 1e-5)))
        status = dls_fail(error, DLS_ERROR_INPUT,
                          "generalized-alpha: slopes by bodies are off by %.3g of the largest, expected %.3g",
                          apart, tolerance > 0 ? tolerance : 1e-5);
    dls_alpha_destroy(whole);
    return status;
}

dls_status dls_alpha_world_check(dls_simulation *s, double tolerance, dls_error *error) {
    dls_piece p = {.s = s};
    dls_pieces pieces;
    dls_alpha_world *w = s->memory;
    for (int row = 0; row < s->world->body_count; row++) s->kept[row] = s->world->states[row];
    if (!begin(s, &p)) return dls_fail_memory(error);
    dls_status status = dls_simulation_find_contacts(s, false, error);
    if (!status) status = dls_pieces_find(s, &pieces, error);
    for (int i = 0; !status && i < pieces.count; i++) {
        status = dls_piece_make(s, &pieces, i, &p, error);
        double *q = status ? NULL : DLS_TAKE(w->space, double, p.size_q + p.size_u);
        if (!status && !q) status = dls_fail_memory(error);
        if (status) break;
        p.packed = false;
        dls_model model = dls_piece_model(&p);
        dls_piece_load(&p, s->kept, q, q + p.size_q);
        status = dls_model_check(&model, s->t, q, q + p.size_q, tolerance, error);
        if (!status) status = check_slopes(&p, q, q + p.size_q, tolerance, error);
    }
    return status;
}
