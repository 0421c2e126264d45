/* Rows of joints in a piece: with q the coordinate of a freedom and f what drives it,
 *
 *     held           g = gap                 drive by position   g = q − f(t)
 *     held, slips    γ = u                   drive by velocity   γ = u − f(t)
 *     limit          g_N = ±(q − limit)      friction            γ_F = u,   |λ_F| ≤ R
 *
 * A drive with a largest force is a law of friction, γ_F = u − ḟ + (q − f)/τ. Springs, motors and servos are
 * forces. */
#include "base/vector.h"
#include "integrate/alpha/piece.h"

#include <math.h>
#include <string.h>

/* In how many steps a drive that was held back makes up for it. */
static const double RETURN_STEPS = 4;

/* ---- rows ---- */

static bool is_cone(const dls_joint *joint, const dls_piece_row *row) {
    return joint->def.cone > 0 && row->role == DLS_ROLE_HIGH && row->freedom == 3;
}

static void make_row(const dls_piece *p, const dls_piece_row *row, const dls_joint_pose *pose,
                     dls_joint_row *out) {
    const dls_joint *joint = &p->s->world->joints[row->joint];
    if (row->role == DLS_ROLE_HELD)
        dls_joint_held_row(joint, pose, p->dimension, row->freedom, out);
    else if (is_cone(joint, row))
        dls_joint_cone_row(pose, out);
    else
        dls_joint_free_row(joint, pose, p->dimension, row->freedom, out);
}

static void pose_of(const dls_piece *p, int joint, dls_joint_pose *pose) {
    dls_joint_stand(&p->at.shadow, &p->s->world->joints[joint], p->at.states, p->at.shadow.spots, pose);
}

static void row_of(const dls_piece *p, const dls_piece_row *row, dls_joint_pose *pose, dls_joint_row *out) {
    if (p->at.knows_joints) {
        *pose = p->at.pose[row->pose], *out = p->at.row[row - p->joint_row];
        return;
    }
    pose_of(p, row->joint, pose);
    make_row(p, row, pose, out);
}

void dls_piece_know_joints(dls_piece *p) {
    for (int i = 0; i < p->joint_count; i++) pose_of(p, p->joint[i], &p->at.pose[i]);
    for (int i = 0; i < p->row_count; i++)
        if (p->joint_row[i].joint >= 0)
            make_row(p, &p->joint_row[i], &p->at.pose[p->joint_row[i].pose], &p->at.row[i]);
    p->at.knows_joints = true;
}

static const dls_freedom_def *freedom_of(const dls_piece *p, const dls_piece_row *row) {
    return &p->s->world->joints[row->joint].def.freedom[row->freedom];
}

double dls_piece_row_value(const dls_piece *p, const dls_piece_row *row, double t) {
    dls_joint_pose pose;
    dls_joint_row of;
    if (row->joint < 0) return 0;
    row_of(p, row, &pose, &of);
    if (row->role == DLS_ROLE_LOW || row->role == DLS_ROLE_HIGH) return row->sign * (of.value - row->limit);
    const dls_function *position = row->role == DLS_ROLE_DRIVE ? freedom_of(p, row)->position : NULL;
    return position ? of.value - dls_function_value(position, t) : of.value;
}

/* What a drive asks of the speed. */
static double driven_speed(const dls_piece *p, const dls_piece_row *row, double coordinate, double t) {
    const dls_freedom_def *f = freedom_of(p, row);
    double y[3];
    if (f->velocity) return dls_function_value(f->velocity, t);
    dls_function_derivatives(f->position, t, y);
    if (row->family != DLS_ROWS_F) return y[1];
    return y[1] - (coordinate - y[0]) / (RETURN_STEPS * p->s->options.step);
}

double dls_piece_row_rate(const dls_piece *p, const dls_piece_row *row, double t) {
    dls_joint_pose pose;
    dls_joint_row of;
    if (row->joint < 0) {
        const dls_body_state *state = &p->at.states[p->body[row->body].row];
        return row->freedom < 3 ? state->v[row->freedom] : state->w[row->freedom - 3];
    }
    row_of(p, row, &pose, &of);
    double speed = dls_joint_row_speed(&p->at.shadow, &pose, &of, p->at.states);
    if (row->role == DLS_ROLE_DRIVE) speed -= driven_speed(p, row, of.value, t);
    return row->sign * speed;
}

double dls_joint_speed_at(const dls_world *began, dls_simulation *s, const dls_joint_ask *ask) {
    dls_piece p = {
        .s = s, .dimension = began->def.dimension, .at = {.shadow = *began, .states = began->states}};
    dls_piece_row row = {.joint = ask->joint, .freedom = ask->freedom, .role = ask->role};
    dls_joint_pose pose;
    dls_joint_row of;
    row_of(&p, &row, &pose, &of);
    return (ask->role == DLS_ROLE_HIGH ? -1 : 1) * dls_joint_row_speed(began, &pose, &of, began->states);
}

static void locked_direction(const dls_piece *p, const dls_piece_row *row, double *W) {
    double *to = dls_piece_entries(p, W, row->of, row->body), axis[3] = {0, 0, 0};
    if (p->dimension == 2) {
        to[row->freedom == 5 ? 2 : row->freedom] = 1;
        return;
    }
    axis[row->freedom % 3] = 1;
    if (row->freedom < 3)
        vec_copy(to, axis);
    else
        mat_apply_transposed(to + 3, p->at.R[p->body[row->body].row], axis);
}

void dls_piece_row_direction(const dls_piece *p, const dls_piece_row *row, double *W) {
    dls_joint_pose pose;
    dls_joint_row of;
    if (row->joint < 0) {
        locked_direction(p, row, W);
        return;
    }
    row_of(p, row, &pose, &of);
    for (int side = 0; side < 2; side++) {
        int body = pose.row[side] < 0 ? -1 : p->local[pose.row[side]];
        double turn[3];
        if (body < 0) continue;
        double *to = dls_piece_entries(p, W, row->of, body);
        if (pose.spot[side]) {
            dls_piece_spot_direction(pose.spot[side], row->sign, of.v[side], of.w[side], to);
            continue;
        }
        for (int k = 0; k < p->dimension; k++) to[k] += row->sign * of.v[side][k];
        if (p->dimension == 2) {
            to[2] += row->sign * of.w[side][2];
            continue;
        }
        mat_apply_transposed(turn, p->at.R[pose.row[side]], of.w[side]);
        for (int k = 0; k < 3; k++) to[3 + k] += row->sign * turn[k];
    }
}

/* ---- forces ---- */

static double servo_force(const dls_joint *joint, int freedom, double q, double u, double t) {
    const dls_freedom_def *f = &joint->def.freedom[freedom];
    double y[3] = {0, 0, 0}, force = f->force ? dls_function_value(f->force, t) : 0;
    if (f->target) dls_function_derivatives(f->target, t, y);
    force += f->p * (y[0] - q) + f->d * (y[1] - u) - f->i * joint->integral[freedom];
    return f->max_force > 0 ? fmax(-f->max_force, fmin(f->max_force, force)) : force;
}

static double spring_force(const dls_freedom_def *f, double q, double u) {
    double force = -f->stiffness * (q - f->rest) - f->damping * u;
    if (f->one_sided > 0) return fmin(force, 0);
    return f->one_sided < 0 ? fmax(force, 0) : force;
}

double dls_piece_force_at(const dls_piece *p, const dls_piece_row *row, double q, double u, double t) {
    const dls_joint *joint = &p->s->world->joints[row->joint];
    if (row->role == DLS_ROLE_SPRING) return spring_force(&joint->def.freedom[row->freedom], q, u);
    return servo_force(joint, row->freedom, q, u, t);
}

double dls_piece_row_force(const dls_piece *p, const dls_piece_row *row, double t) {
    dls_joint_pose pose;
    dls_joint_row of;
    row_of(p, row, &pose, &of);
    double speed = dls_joint_row_speed(&p->at.shadow, &pose, &of, p->at.states);
    return dls_piece_force_at(p, row, of.value, speed, t);
}

/* ---- which there are ---- */

static dls_piece_row *add(dls_piece *p, int joint, int freedom, dls_joint_role role, int family) {
    dls_piece_row *row = &p->joint_row[p->row_count++];
    const dls_joint *of = &p->s->world->joints[joint];
    int side[2];
    for (int i = 0; i < 2; i++) {
        int id = of->def.body[i], at = id < 0 ? -1 : p->s->world->entries[id].row;
        side[i] = at < 0 ? -1 : p->local[at];
    }
    *row = (dls_piece_row){.joint = joint,
                           .of = {side[0] < 0 ? side[1] : side[0], side[0] < 0 ? -1 : side[1]},
                           .pose = p->joint_count - 1,
                           .freedom = freedom,
                           .role = role,
                           .family = family,
                           .index = family < 0 ? -1 : p->family_count[family]++,
                           .law = -1,
                           .sign = 1};
    return row;
}

/* A law without a contact: |λ_F| ≤ limit. */
static void add_law(dls_piece *p, int joint, int freedom, dls_joint_role role, double limit) {
    dls_piece_row *row = add(p, joint, freedom, role, DLS_ROWS_F);
    row->law = p->law_count;
    p->laws[p->law_count++] = (dls_model_friction){.contact = -1, .size = 1, .mu = 1, .limit = limit};
}

static void add_limit(dls_piece *p, int joint, int freedom, dls_joint_role role, double limit,
                      double restitution) {
    dls_piece_row *row = add(p, joint, freedom, role, DLS_ROWS_N);
    row->limit = limit;
    row->sign = role == DLS_ROLE_HIGH ? -1 : 1;
    p->contacts[row->index] = (dls_model_contact){.e_n = restitution};
}

static void add_free(dls_piece *p, int joint, int k) {
    const dls_joint *of = &p->s->world->joints[joint];
    const dls_freedom_def *f = &of->def.freedom[k];
    if (f->position || f->velocity) {
        if (f->max_force > 0)
            add_law(p, joint, k, DLS_ROLE_DRIVE, f->max_force);
        else
            add(p, joint, k, DLS_ROLE_DRIVE, f->position ? DLS_ROWS_G : DLS_ROWS_GAMMA);
    }
    if (f->force || f->p > 0 || f->d > 0 || f->i > 0)
        add(p, joint, k, f->p > 0 || f->d > 0 ? DLS_ROLE_SERVO : DLS_ROLE_MOTOR, -1);
    if (f->stiffness > 0 || f->damping > 0) add(p, joint, k, DLS_ROLE_SPRING, -1);
    if (f->friction > 0 || f->friction_mu > 0) {
        double lever = k < 3 ? 1 : f->friction_radius;
        add_law(p, joint, k, DLS_ROLE_FRICTION, f->friction + f->friction_mu * lever * of->load);
    }
    if (f->low == 0 && f->high == 0) return;
    if (isfinite(f->low)) add_limit(p, joint, k, DLS_ROLE_LOW, f->low, f->restitution);
    if (isfinite(f->high)) add_limit(p, joint, k, DLS_ROLE_HIGH, f->high, f->restitution);
}

void dls_piece_add_joint(dls_piece *p, int joint) {
    const dls_joint *of = &p->s->world->joints[joint];
    const dls_joint_traits *kind = &dls_joint_table[of->def.kind];
    p->joint[p->joint_count++] = joint;
    bool planar = p->dimension == 2;
    for (int k = 0; k < DLS_FREEDOMS && !of->def.rope; k++)
        if (kind->held[planar] >> k & 1)
            add(p, joint, k, DLS_ROLE_HELD, dls_joint_slips(of, k) ? DLS_ROWS_GAMMA : DLS_ROWS_G);
    if (of->def.rope) add_limit(p, joint, 0, DLS_ROLE_HIGH, of->def.length, of->def.freedom[0].restitution);
    for (int k = 0; k < DLS_FREEDOMS; k++)
        if (kind->free[planar] >> k & 1) add_free(p, joint, k);
    if (of->def.cone > 0) add_limit(p, joint, 3, DLS_ROLE_HIGH, of->def.cone, 0);
}

double dls_piece_joint_load(const dls_piece *p, const dls_alpha *alpha, int joint) {
    double sum = 0;
    for (int i = 0; i < p->row_count; i++) {
        const dls_piece_row *row = &p->joint_row[i];
        if (row->joint != joint || row->role != DLS_ROLE_HELD || row->freedom >= 3 || row->family < 0)
            continue;
        double force = alpha->state.x[alpha->at.force[row->family] + row->index];
        sum += force * force;
    }
    return sqrt(sum);
}
