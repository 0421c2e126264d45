/* Joints become interval rows of u = W r + b. With u⁻, u⁺ the speed of a row before and after the step, g its
 * gap where rows stand, at q + joints_at · h v, and q its coordinate there:
 *
 *     held              u⁺ = −g/h            (conserving: u⁺ = −u⁻)
 *     drive             u⁺ = (position(t + (1 + joints_at) h) − q)/h,   u⁺ = velocity(t + h)
 *     limit             r ≥ 0 ⟂ u⁺ + g/h ≥ 0, or u⁺ + e u⁻ where it bounces
 *     friction          |r| ≤ R h,  u⁺ = 0 between
 *     motor             r = F h
 *     spring, servo     r = −h d (u⁻ − ẏ + c_D (u⁺ − u⁻)) − h k (q_f − y + c_K h (u⁺ − u⁻)) + h F
 *
 * with q_f = q + (c_D − joints_at) h u⁻ and y the rest or target at t + c_D h: with κ = c_D h d + c_K h² k it
 * is a row with compliance 1/κ. Bounds are h times the largest force. */
#include "assemble/joints.h"

#include "assemble/solids.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/small.h"
#include "base/vector.h"
#include "problem/operator/bodies.h"

#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct ask_work {
    dls_assembly *assembly;
    const dls_world *world;
    const dls_assemble_options *options;
    dls_joint *joint;
    int at;
    bool failed;     /* a function gave no finite number */
    int bad_freedom; /* of this freedom */
    double bad_t;
} ask_work;

/* ---- rows ---- */

/* Whether any impulse along the row moves anything. */
static bool can_move(const dls_assembly *a, const dls_joint_pose *pose, const dls_joint_row *row) {
    double sum = 0, size = 0;
    for (int side = 0; side < 2; side++) {
        if (pose->row[side] < 0) continue;
        const dls_row_mass *mass = &a->mass[pose->row[side]];
        double turn[3];
        for (int k = 0; k < 3; k++) sum += mass->root[k] * mass->root[k] * row->v[side][k] * row->v[side][k];
        mat_apply_transposed(turn, mass->S, row->w[side]);
        sum += vec_dot(turn, turn);
        size += vec_dot(mass->root, mass->root) * vec_dot(row->v[side], row->v[side]) +
                small_dot(9, mass->S, mass->S) * vec_dot(row->w[side], row->w[side]);
    }
    return sum > 1e-20 * size;
}

static dls_joint_ask *add(ask_work *work, int freedom, dls_joint_role role, const dls_joint_row *row) {
    dls_joint_asks *asks = work->assembly->joints;
    dls_joint_pose *pose = &asks->pose[work->at];
    if (!can_move(work->assembly, pose, row)) return NULL;
    dls_joint_ask *ask = &asks->ask[asks->count++];
    *ask = (dls_joint_ask){.joint = asks->joint[work->at],
                           .at = work->at,
                           .freedom = (uint8_t)freedom,
                           .role = (uint8_t)role,
                           .row = *row,
                           .coordinate = row->value,
                           .low = -HUGE_VAL,
                           .high = HUGE_VAL};
    ask->before = dls_joint_row_speed(work->world, pose, row, work->world->states);
    return ask;
}

/* ---- what rows ask ---- */

static double value_at(ask_work *work, const dls_function *function, double t, int freedom) {
    double value = dls_function_value(function, t);
    if (!isfinite(value) && !work->failed) work->failed = true, work->bad_freedom = freedom, work->bad_t = t;
    return isfinite(value) ? value : 0;
}

static void ask_held(ask_work *work, int freedom, const dls_joint_row *row) {
    const dls_assemble_options *o = work->options;
    dls_joint_ask *ask = add(work, freedom, DLS_ROLE_HELD, row);
    if (!ask) return;
    if (dls_joint_slips(work->joint, freedom))
        ask->coordinate = o->joints_at * (work->joint->slip[freedom] + o->h * ask->before);
    ask->closes = !work->joint->def.conserving;
    ask->added = ask->closes ? ask->coordinate / o->h : ask->before;
}

static void ask_drive(ask_work *work, int freedom, const dls_freedom_def *f, const dls_joint_row *row) {
    const dls_assemble_options *o = work->options;
    dls_joint_ask *ask = add(work, freedom, DLS_ROLE_DRIVE, row);
    if (!ask) return;
    if (f->position)
        ask->added =
            (row->value - value_at(work, f->position, o->t + (1 + o->joints_at) * o->h, freedom)) / o->h;
    else
        ask->added = -value_at(work, f->velocity, o->t + o->h, freedom);
    if (f->max_force > 0) ask->high = o->h * f->max_force, ask->low = -ask->high;
}

/* k (q − y) + d (u − ẏ) with impulse `other` beside it. */
static void ask_soft(ask_work *work, dls_joint_ask *ask, double k, double d, double rest, double rest_rate,
                     double other) {
    const dls_assemble_options *o = work->options;
    double h = o->h, kappa = o->damping * h * d + o->stiffness * h * h * k;
    double place = ask->coordinate + (o->damping - o->joints_at) * h * ask->before;
    double impulse = h * d * ((1 - o->damping) * ask->before - rest_rate) +
                     h * k * (place - rest - o->stiffness * h * ask->before) - other;
    ask->compliance = 1 / kappa;
    ask->added = impulse / kappa;
}

static void ask_motor(ask_work *work, int freedom, const dls_freedom_def *f, const dls_joint_row *row) {
    const dls_assemble_options *o = work->options;
    double when = o->t + o->damping * o->h, force = f->force ? value_at(work, f->force, when, freedom) : 0;
    bool servo = f->p > 0 || f->d > 0;
    dls_joint_ask *ask = add(work, freedom, servo ? DLS_ROLE_SERVO : DLS_ROLE_MOTOR, row);
    if (!ask) return;
    double target = 0, rate = 0;
    if (f->target) {
        double y[3];
        dls_function_derivatives(f->target, when, y);
        target = value_at(work, f->target, when, freedom);
        rate = isfinite(y[1]) ? y[1] : 0;
    }
    force -= f->i * work->joint->integral[freedom];
    double most = f->max_force > 0 ? f->max_force : HUGE_VAL;
    if (servo) {
        ask_soft(work, ask, f->p, f->d, target, rate, o->h * force);
        ask->high = o->h * most, ask->low = -ask->high;
    } else
        ask->low = ask->high = o->h * fmax(-most, fmin(most, force));
}

static void ask_spring(ask_work *work, int freedom, const dls_freedom_def *f, const dls_joint_row *row) {
    dls_joint_ask *ask = add(work, freedom, DLS_ROLE_SPRING, row);
    if (!ask) return;
    ask_soft(work, ask, f->stiffness, f->damping, f->rest, 0, 0);
    if (f->one_sided > 0) ask->high = 0;
    if (f->one_sided < 0) ask->low = 0;
}

/* Against a drive that nothing stops friction only adds to its load: it is told, not asked. */
static void ask_friction(ask_work *work, int freedom, const dls_freedom_def *f, const dls_joint_row *row) {
    const dls_assemble_options *o = work->options;
    dls_joint_ask *ask = add(work, freedom, DLS_ROLE_FRICTION, row);
    if (!ask) return;
    double lever = freedom < 3 ? 1 : f->friction_radius;
    double most = o->h * (f->friction + f->friction_mu * lever * work->joint->load);
    ask->high = most, ask->low = -most;
    if ((f->position || f->velocity) && !(f->max_force > 0)) {
        double u = f->position ? (value_at(work, f->position, o->t + o->h, freedom) -
                                  value_at(work, f->position, o->t, freedom)) /
                                     o->h
                               : value_at(work, f->velocity, o->t + o->h, freedom);
        ask->low = ask->high = u > 0 ? -most : u < 0 ? most : 0;
    }
}

/* The contacts' verdict on bouncing: what meets its limit fast enough within the step. */
static void ask_limit(ask_work *work, int freedom, dls_joint_role role, double limit, double restitution,
                      const dls_joint_row *row) {
    const dls_assemble_options *o = work->options;
    dls_joint_row toward = *row;
    double sign = role == DLS_ROLE_HIGH ? -1 : 1;
    for (int side = 0; side < 2; side++) {
        vec_scale(toward.v[side], sign, row->v[side]);
        vec_scale(toward.w[side], sign, row->w[side]);
    }
    dls_joint_ask *ask = add(work, freedom, role, &toward);
    if (!ask) return;
    ask->coordinate = sign * (row->value - limit);
    ask->low = 0;
    bool bounces = -restitution * ask->before > o->rest_speed && ask->coordinate + o->h * ask->before <= 0;
    ask->closes = !bounces;
    ask->added = bounces ? restitution * ask->before : ask->coordinate / o->h;
}

/* ---- one joint ---- */

static bool has_limits(const dls_freedom_def *f) { return f->low != 0 || f->high != 0; }

static void ask_free(ask_work *work, int freedom, const dls_joint_row *row) {
    const dls_freedom_def *f = &work->joint->def.freedom[freedom];
    if (f->position || f->velocity) ask_drive(work, freedom, f, row);
    if (f->force || f->p > 0 || f->d > 0 || f->i > 0) ask_motor(work, freedom, f, row);
    if (f->stiffness > 0 || f->damping > 0) ask_spring(work, freedom, f, row);
    if (f->friction > 0 || f->friction_mu > 0) ask_friction(work, freedom, f, row);
    if (!has_limits(f)) return;
    if (isfinite(f->low)) ask_limit(work, freedom, DLS_ROLE_LOW, f->low, f->restitution, row);
    if (isfinite(f->high)) ask_limit(work, freedom, DLS_ROLE_HIGH, f->high, f->restitution, row);
}

static void ask_joint(ask_work *work) {
    const dls_joint *joint = work->joint;
    const dls_joint_pose *pose = &work->assembly->joints->pose[work->at];
    int d = work->world->def.dimension;
    uint8_t free = dls_joint_table[joint->def.kind].free[d == 2];
    dls_joint_row row;
    for (int k = 0; k < DLS_FREEDOMS; k++)
        if (!joint->def.rope && dls_joint_held_row(joint, pose, d, k, &row)) ask_held(work, k, &row);
    if (joint->def.rope) {
        dls_joint_free_row(joint, pose, d, 0, &row);
        ask_limit(work, 0, DLS_ROLE_HIGH, joint->def.length, joint->def.freedom[0].restitution, &row);
    }
    for (int k = 0; k < DLS_FREEDOMS; k++) {
        if (!(free >> k & 1)) continue;
        dls_joint_free_row(joint, pose, d, k, &row);
        ask_free(work, k, &row);
    }
    if (!(joint->def.cone > 0)) return;
    dls_joint_cone_row(pose, &row);
    ask_limit(work, 3, DLS_ROLE_HIGH, joint->def.cone, 0, &row);
}

/* Held rows of a joint are one block, each other row one of its own. */
static void cut_blocks(dls_joint_asks *asks) {
    for (int i = 0; i < asks->count; i++) {
        const dls_joint_ask *ask = &asks->ask[i], *last = ask - 1;
        bool joins =
            i > 0 && ask->role == DLS_ROLE_HELD && last->role == DLS_ROLE_HELD && last->at == ask->at;
        if (joins)
            asks->block_size[asks->block_count - 1]++;
        else
            asks->block_size[asks->block_count++] = 1;
    }
}

static int acting(const dls_world *world, int *ids) {
    int count = 0;
    for (int id = 0; id < world->joint_count; id++) {
        if (!dls_joint_acts(world, &world->joints[id])) continue;
        if (ids) ids[count] = id;
        count++;
    }
    return count;
}

static bool take_asks(dls_assembly *a, const dls_world *world) {
    dls_joint_asks *asks = a->joints = DLS_TAKE_ZERO(a->space, dls_joint_asks, 1);
    if (!asks) return false;
    int count = acting(world, NULL);
    int64_t most = 0;
    asks->joint = DLS_TAKE(a->space, int, count);
    asks->first = DLS_TAKE_ZERO(a->space, int, count + 1);
    asks->pose = DLS_TAKE(a->space, dls_joint_pose, count);
    if (!asks->joint || !asks->first || !asks->pose) return false;
    asks->joint_count = acting(world, asks->joint);
    for (int k = 0; k < count; k++) {
        const dls_joint_def *def = &world->joints[asks->joint[k]].def;
        int held = __builtin_popcount(dls_joint_table[def->kind].held[world->def.dimension == 2]);
        most += held + 1; /* a rope, a cone */
        for (int i = 0; i < DLS_FREEDOMS; i++) {
            const dls_freedom_def *f = &def->freedom[i];
            most += 1 + (f->stiffness > 0 || f->damping > 0) + (f->friction > 0 || f->friction_mu > 0) +
                    2 * has_limits(f);
        }
    }
    asks->ask = DLS_TAKE(a->space, dls_joint_ask, most);
    asks->block_size = DLS_TAKE(a->space, uint8_t, most);
    return asks->ask && asks->block_size;
}

dls_status dls_find_joint_asks(dls_assembly *a, const dls_world *world, const dls_assemble_options *o,
                               dls_error *error) {
    char label[128];
    if (world->joint_count == 0) return DLS_OK;
    if (!take_asks(a, world)) return dls_fail_memory(error);
    dls_joint_asks *asks = a->joints;
    for (int at = 0; at < asks->joint_count; at++) {
        ask_work work = {a, world, o, &world->joints[asks->joint[at]], at, false, 0, 0};
        dls_joint_stand(world, work.joint, o->joint_states, o->joint_spots, &asks->pose[at]);
        ask_joint(&work);
        asks->first[at + 1] = asks->count;
        if (work.failed)
            return dls_fail(error, DLS_ERROR_NUMERIC,
                            "%s: a function of freedom %d gives no finite number at t = %.12g",
                            dls_joint_label(world, asks->joint[at], label, sizeof label),
                            work.bad_freedom + 1, work.bad_t);
    }
    cut_blocks(asks);
    return DLS_OK;
}

/* ---- filling ---- */

/* J L of one side. */
static void fill_side(const dls_assembly *a, const dls_joint_row *row, int side, const dls_row_mass *mass,
                      int width, double *G) {
    if (a->dimension == 2) {
        G[0] = mass->root[0] * row->v[side][0];
        G[1] = mass->root[1] * row->v[side][1];
        G[2] = mass->S[8] * row->w[side][2];
        return;
    }
    for (int k = 0; k < 3; k++) G[k] = mass->root[k] * row->v[side][k];
    mat_apply_transposed(G + width / 2, mass->S, row->w[side]);
}

static double free_speed(const dls_assembly *a, const dls_joint_pose *pose, const dls_joint_row *row,
                         double *speed) {
    double sum = 0;
    *speed = 0;
    for (int side = 0; side < 2; side++) {
        if (pose->row[side] < 0) continue;
        const dls_spot *spot = pose->spot[side];
        dls_twist own, *free = &a->free[pose->row[side]];
        if (spot) dls_spot_twist(spot, dls_solid_free(a, spot), own.v, own.w), free = &own;
        double along = vec_dot(row->v[side], free->v), turn = vec_dot(row->w[side], free->w);
        sum += along + turn;
        *speed += vec_norm(free->v) * vec_norm(row->v[side]) + vec_norm(free->w) * vec_norm(row->w[side]);
    }
    return sum;
}

static double inverse_mass_of(const dls_assembly *a, const dls_joint_pose *pose) {
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        if (pose->row[side] < 0) continue;
        const dls_row_mass *mass = &a->mass[pose->row[side]];
        double most = fmax(fmax(mass->root[0], mass->root[1]), mass->root[2]);
        if (most == 0) /* only its turns are free */
            most = fmax(fmax(mass->S[0], mass->S[4]), mass->S[8]);
        sum += most * most;
    }
    return sum;
}

static double fill_block(dls_assembly *a, const dls_world *world, const dls_assemble_options *o, int c,
                         int first) {
    dls_problem *p = a->rows;
    dls_body_rows *B = dls_rows_of(p);
    const dls_joint_asks *asks = a->joints;
    const dls_joint_pose *pose = &asks->pose[asks->ask[first].at];
    int d = dls_size(p, c), *body = B->body + 2 * (int64_t)c;
    double sum = 0, fastest = 0;
    for (int side = 0; side < 2; side++) {
        int row = pose->row[side];
        body[side] = row >= 0 && dls_row_can_move(&a->mass[row]) ? row : -1;
    }
    memset(dls_side_of(p, c, 0), 0, sizeof(double) * (size_t)dls_side_numbers(p, c));
    for (int side = 0; side < 2; side++) {
        int row = pose->row[side], width = dls_width_of(B, body[side]);
        bool moves = body[side] >= 0;
        for (int k = 0; moves && k < d; k++)
            if (pose->spot[side])
                dls_solid_row(a, pose->spot[side], asks->ask[first + k].row.v[side],
                              asks->ask[first + k].row.w[side], dls_side_of(p, c, side) + k * width);
            else
                fill_side(a, &asks->ask[first + k].row, side, &a->mass[row], width,
                          dls_side_of(p, c, side) + k * width);
    }
    for (int k = 0; k < d; k++) {
        const dls_joint_ask *ask = &asks->ask[first + k];
        const dls_joint *joint = &world->joints[ask->joint];
        int row = p->row[c] + k;
        double speed;
        p->b[row] = free_speed(a, pose, &ask->row, &speed) + ask->added;
        p->low[row] = ask->low;
        p->high[row] = ask->high;
        B->compliance[row] = ask->compliance;
        a->r[row] =
            o->warm_start ? fmax(ask->low, fmin(ask->high, joint->impulse[ask->freedom][ask->role])) : 0;
        a->to_mean[row] = 0;
        fastest = fmax(fastest, speed);
        sum += p->b[row];
    }
    p->inverse_mass[c] = inverse_mass_of(a, pose);
    p->speed[c] = fastest;
    return sum;
}

int dls_joint_blocks(const dls_assembly *a) { return a->joints ? a->joints->block_count : 0; }

void dls_joint_bodies(const dls_assembly *a, int *body) {
    for (int k = 0, first = 0; k < dls_joint_blocks(a); first += a->joints->block_size[k++])
        for (int side = 0; side < 2; side++)
            body[2 * k + side] = a->joints->pose[a->joints->ask[first].at].row[side];
}

double dls_fill_joints(dls_assembly *a, const dls_world *world, const dls_assemble_options *o) {
    double sum = 0;
    if (!a->joints) return 0;
    a->joints->first_row = a->rows->row[a->block_count];
    for (int k = 0, first = 0; k < a->joints->block_count; first += a->joints->block_size[k++])
        sum += fill_block(a, world, o, a->block_count + k, first);
    return sum;
}

/* ---- friction of a joint's own load ---- */

double dls_joint_load(const dls_assembly *a, int at, double h) {
    const dls_joint_asks *asks = a->joints;
    double sum[3] = {0, 0, 0};
    for (int i = asks->first[at]; i < asks->first[at + 1]; i++)
        if (asks->ask[i].role == DLS_ROLE_HELD && asks->ask[i].freedom < 3)
            vec_along(sum, sum, a->r[asks->first_row + i], asks->ask[i].row.v[1]);
    return vec_norm(sum) / h;
}

double dls_renew_friction(dls_assembly *a, const dls_world *world, double h) {
    dls_joint_asks *asks = a->joints;
    double most_change = 0;
    for (int i = 0; asks && i < asks->count; i++) {
        dls_joint_ask *ask = &asks->ask[i];
        const dls_freedom_def *f = &world->joints[ask->joint].def.freedom[ask->freedom];
        int row = asks->first_row + i;
        if (ask->role != DLS_ROLE_FRICTION || !(f->friction_mu > 0)) continue;
        double lever = ask->freedom < 3 ? 1 : f->friction_radius;
        double most = h * (f->friction + f->friction_mu * lever * dls_joint_load(a, ask->at, h));
        double larger = fmax(most, fmax(fabs(ask->high), fabs(ask->low)));
        double change = larger > 0 ? fabs(most - fmax(fabs(ask->high), fabs(ask->low))) / larger : 0;
        most_change = fmax(most_change, change);
        bool told = ask->low == ask->high && ask->low != 0;
        double low = told ? copysign(most, ask->low) : -most, high = told ? low : most;
        ask->low = low, ask->high = high;
        a->rows->low[row] = low / a->rows->unit[row];
        a->rows->high[row] = high / a->rows->unit[row];
    }
    return most_change;
}
