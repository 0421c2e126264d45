/* Functions of time at work: what pushes bodies, and what driven bodies do. */
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "world/function/function.h"
#include "world/parts.h"

#include <math.h>
#include <string.h>

static const char *const freedoms[6] = {"translation along x", "translation along y", "translation along z",
                                        "rotation about x",    "rotation about y",    "rotation about z"};

const char *dls_freedom_name(int freedom) { return freedoms[freedom]; }

/* ---- checks ---- */

static int drive_parts(const dls_drive *d) {
    return (d->position != NULL) + (d->velocity != NULL) + (d->force != NULL);
}

static dls_status check_servo(const dls_drive *d, int freedom, dls_error *error) {
    if (!d->force && (d->gain != 0 || d->max_speed != 0))
        return dls_fail(error, DLS_ERROR_INPUT, "%s has a gain or a highest speed without a force",
                        freedoms[freedom]);
    if (!d->force) return DLS_OK;
    if (freedom >= 3)
        return dls_fail(error, DLS_ERROR_INPUT, "%s is a servo, expected one for a translation only",
                        freedoms[freedom]);
    if (!(d->gain > 0) || !isfinite(d->gain))
        return dls_fail(error, DLS_ERROR_INPUT,
                        "gain of the servo is %g m/(s N), expected a finite number above 0", d->gain);
    if (!(d->max_speed > 0) || !isfinite(d->max_speed))
        return dls_fail(error, DLS_ERROR_INPUT,
                        "highest speed of the servo is %g m/s, expected a finite number above 0",
                        d->max_speed);
    return DLS_OK;
}

static dls_status check_rotations(const dls_body_def *def, dls_error *error) {
    int positions = 0, velocities = 0;
    for (int k = 3; k < 6; k++) {
        positions += def->drive[k].position != NULL;
        velocities += def->drive[k].velocity != NULL;
    }
    if (positions + velocities <= 1 || velocities == 3) return DLS_OK;
    return dls_fail(error, DLS_ERROR_INPUT,
                    "%d rotations by position and %d by velocity, expected one axis, or three velocities",
                    positions, velocities);
}

static bool has_belt(const dls_body_def *def) {
    bool any = false;
    for (int k = 0; k < def->shape_count; k++) any |= vec_dot(def->shapes[k].belt, def->shapes[k].belt) > 0;
    return any;
}

dls_status dls_drives_check(const dls_world *world, const dls_body_def *def, dls_error *error) {
    for (int k = 0; k < 6; k++) {
        const dls_drive *d = &def->drive[k];
        const dls_function *push = k < 3 ? def->force[k] : def->torque[k - 3];
        int parts = drive_parts(d);
        if (parts > 1)
            return dls_fail(error, DLS_ERROR_INPUT,
                            "%s has %d of position, velocity and force, expected one of them", freedoms[k],
                            parts);
        if (parts && def->motion != DLS_DRIVEN)
            return dls_fail(error, DLS_ERROR_INPUT, "%s has a drive, expected one in a driven body only",
                            freedoms[k]);
        if (push && def->motion != DLS_DYNAMIC)
            return dls_fail(error, DLS_ERROR_INPUT,
                            "a force or torque on a body that is %s, expected a dynamic one",
                            dls_motion_name(def->motion));
        if ((parts || push) && world->def.dimension == 2 && k >= 2 && k <= 4)
            return dls_fail(error, DLS_ERROR_INPUT, "a force or drive of the %s, expected none in the plane",
                            freedoms[k]);
        dls_status status = check_servo(d, k, error);
        if (status) return status;
    }
    if (def->belts && !has_belt(def))
        return dls_fail(error, DLS_ERROR_INPUT, "belts follow a function, and no shape of the body has one");
    return check_rotations(def, error);
}

/* ---- ownership ---- */

static void destroy_functions(dls_function *const *force, dls_function *const *torque, const dls_drive *drive,
                              dls_function *belts) {
    dls_function_destroy(belts);
    for (int k = 0; k < 3; k++) dls_function_destroy(force[k]), dls_function_destroy(torque[k]);
    for (int k = 0; k < 6; k++) {
        dls_function_destroy(drive[k].position);
        dls_function_destroy(drive[k].velocity);
        dls_function_destroy(drive[k].force);
    }
}

void dls_functions_destroy(const dls_body_def *def) {
    destroy_functions(def->force, def->torque, def->drive, def->belts);
}

dls_status dls_told_create(const dls_body_def *def, dls_body_told **told, dls_error *error) {
    bool any = def->belts != NULL, servo = false;
    for (int k = 0; k < 6; k++) {
        any |= drive_parts(&def->drive[k]) || (k < 3 ? def->force[k] : def->torque[k - 3]);
        servo |= def->drive[k].force != NULL;
    }
    *told = NULL;
    if (!any) return DLS_OK;
    dls_body_told *t = DLS_NEW_ZERO(dls_body_told, 1);
    if (!t) return dls_fail_memory(error);
    memcpy(t->force, def->force, sizeof t->force);
    memcpy(t->torque, def->torque, sizeof t->torque);
    memcpy(t->drive, def->drive, sizeof t->drive);
    t->belts = def->belts;
    t->has_servo = servo;
    t->has_callback = dls_told_has_callback(t);
    t->start.q[0] = 1;
    *told = t;
    return DLS_OK;
}

void dls_told_destroy(dls_body_told *told) {
    if (!told) return;
    destroy_functions(told->force, told->torque, told->drive, told->belts);
    dls_free(told);
}

/* ---- driven bodies ---- */

static int turning_axis(const dls_body_told *told) {
    for (int k = 3; k < 6; k++)
        if (told->drive[k].position) return k;
    return -1;
}

/* q = rotation(angle about axis k of the world) · base */
static void turn(double *q, int axis, double angle, const double *base) {
    double a[3] = {0, 0, 0}, r[4];
    a[axis] = angle;
    quat_exponential(r, a);
    quat_multiply(q, r, base);
}

void dls_told_restart(dls_body_told *told, const dls_body_state *before, const dls_body_state *now) {
    for (int i = 0; i < 3; i++) told->start.x[i] += now->x[i] - before->x[i];
    int k = turning_axis(told);
    if (k >= 0)
        turn(told->start.q, k - 3, -told->moved[k], now->q);
    else
        memcpy(told->start.q, now->q, sizeof now->q);
}

void dls_told_begin(dls_body_told *told, const dls_body_state *state) {
    vec_copy(told->start.x, state->x);
    memcpy(told->start.q, state->q, sizeof state->q);
    memset(told->moved, 0, sizeof told->moved);
    vec_set(told->servo_speed, 0, 0, 0);
    vec_set(told->servo_mobility, 0, 0, 0);
}

static dls_status value_of(const dls_world *world, dls_body_id id, const dls_function *f, const char *what,
                           int freedom, double t, double *value, dls_error *error) {
    *value = dls_function_recall(f, t);
    if (isfinite(*value)) return DLS_OK;
    double found = *value;
    char label[128];
    *value = 0;
    return dls_fail(error, DLS_ERROR_NUMERIC, "%s: %s of the %s is %g at t = %.17g, expected a finite number",
                    dls_body_label(world, id, label, sizeof label), what, freedoms[freedom], found, t);
}

/* A servo: speed = gain (wanted + r/h), with the impulses r of the same step, so that it is stable for any
 * gain. Where that would be too fast without contacts, the gain is smaller. */
static void drive_servo(dls_body_told *told, int k, double wanted, double h) {
    const dls_drive *d = &told->drive[k];
    double speed = d->gain * wanted;
    bool fast = fabs(speed) > d->max_speed;
    told->servo_speed[k] = fast ? copysign(d->max_speed, wanted) : speed;
    told->servo_mobility[k] = (fast ? d->max_speed / fabs(wanted) : d->gain) / h;
}

/* One freedom: speed over the step. That of a servo is known when its contacts are solved. */
static dls_status speed_of(const dls_world *world, dls_body_id id, int k, double end, double h, double x,
                           double *speed, dls_error *error) {
    dls_body_told *told = world->entries[id].told;
    const dls_drive *d = &told->drive[k];
    double value;
    dls_status status = DLS_OK;
    if (d->position) {
        status = value_of(world, id, d->position, "position", k, end, &value, error);
        if (!status) *speed = k < 3 ? (told->start.x[k] + value - x) / h : (value - told->moved[k]) / h;
    } else if (d->velocity) {
        status = value_of(world, id, d->velocity, "velocity", k, end - h / 2, speed, error);
    } else if (d->force) {
        status = value_of(world, id, d->force, "force", k, end - h / 2, &value, error);
        if (!status) drive_servo(told, k, value, h);
    } else {
        *speed = 0;
    }
    return status;
}

static dls_status run_belts(dls_world *w, dls_body_id id, double t, dls_error *error) {
    dls_body_told *told = w->entries[id].told;
    told->belts_now = dls_function_recall(told->belts, t);
    if (isfinite(told->belts_now)) return DLS_OK;
    char label[128];
    return dls_fail(error, DLS_ERROR_NUMERIC, "%s: belts are %g at t = %.17g, expected a finite number",
                    dls_body_label(w, id, label, sizeof label), told->belts_now, t);
}

static const dls_body_told *told_of_belt(const dls_world *w, const dls_shape *shape) {
    const dls_body *body = &w->bodies[shape->body];
    return body->has_belts ? w->entries[body->id].told : NULL;
}

dls_belt_run dls_world_belt(const dls_world *w, const dls_shape *shape) {
    const dls_body_told *told = told_of_belt(w, shape);
    return (dls_belt_run){told ? told->belts_now : 1, 0};
}

dls_belt_run dls_world_belt_at(const dls_world *w, const dls_shape *shape, double t) {
    const dls_body_told *told = told_of_belt(w, shape);
    double f[3];
    if (!told || dls_function_is_callback(told->belts)) return dls_world_belt(w, shape);
    dls_function_derivatives(told->belts, t, f);
    return (dls_belt_run){f[0], f[1]};
}

dls_status dls_world_drive(dls_world *w, double end, double h, dls_error *error) {
    for (int i = 0; i < w->told_count; i++) {
        dls_body_id id = w->told_ids[i];
        int row = w->entries[id].row;
        if (row < 0) continue;
        if (w->entries[id].told->belts) {
            dls_status status = run_belts(w, id, end - h / 2, error);
            if (status) return status;
        }
        if (w->bodies[row].motion != DLS_DRIVEN) continue;
        dls_body_state *state = &w->states[row];
        for (int k = 0; k < 6; k++) {
            double *speed = k < 3 ? &state->v[k] : &state->w[k - 3];
            dls_status status = speed_of(w, id, k, end, h, state->x[k % 3], speed, error);
            if (status) return status;
        }
    }
    return DLS_OK;
}

void dls_world_drive_finish(dls_world *w, double end) {
    for (int i = 0; i < w->told_count; i++) {
        dls_body_entry *entry = &w->entries[w->told_ids[i]];
        if (entry->row < 0 || w->bodies[entry->row].motion != DLS_DRIVEN) continue;
        dls_body_state *state = &w->states[entry->row];
        memcpy(entry->told->moved_before, entry->told->moved, sizeof entry->told->moved);
        for (int k = 0; k < 6; k++) {
            const dls_function *position = entry->told->drive[k].position;
            if (!position) continue;
            entry->told->moved[k] = dls_function_recall(position, end);
            if (k < 3)
                state->x[k] = entry->told->start.x[k] + entry->told->moved[k];
            else
                turn(state->q, k - 3, entry->told->moved[k], entry->told->start.q);
        }
    }
}

void dls_world_drive_undo(dls_world *w) {
    for (int i = 0; i < w->told_count; i++) {
        dls_body_entry *entry = &w->entries[w->told_ids[i]];
        if (entry->row >= 0 && w->bodies[entry->row].motion == DLS_DRIVEN)
            memcpy(entry->told->moved, entry->told->moved_before, sizeof entry->told->moved);
    }
}

bool dls_world_servo(const dls_world *w, int row, double *speed, double *mobility) {
    const dls_body *body = &w->bodies[row];
    const dls_body_told *told = body->motion == DLS_DRIVEN ? w->entries[body->id].told : NULL;
    if (!told || !told->has_servo) return false;
    vec_copy(speed, told->servo_speed);
    vec_copy(mobility, told->servo_mobility);
    return true;
}

/* ---- forces ---- */

dls_status dls_world_force(const dls_world *w, int row, double t, double *force, double *torque,
                           dls_error *error) {
    const dls_body *body = &w->bodies[row];
    vec_scale(force, body->motion == DLS_DYNAMIC ? body->mass : 0, w->def.gravity);
    vec_set(torque, 0, 0, 0);
    if (!body->has_forces) return DLS_OK;
    const dls_body_told *told = w->entries[body->id].told;
    for (int k = 0; k < 6; k++) {
        const dls_function *f = k < 3 ? told->force[k] : told->torque[k - 3];
        double value;
        if (!f) continue;
        dls_status status = value_of(w, body->id, f, k < 3 ? "force" : "torque", k, t, &value, error);
        if (status) return status;
        *(k < 3 ? &force[k] : &torque[k - 3]) += value;
    }
    return DLS_OK;
}

/* |F(t)| of what pushes a body that takes part: applied forces, or what its servos want. */
static double push_of(const dls_body_told *told, bool driven, double t) {
    double force[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        const dls_function *f = driven ? told->drive[k].force : told->force[k];
        if (f) force[k] = dls_function_recall(f, t);
    }
    return vec_norm(force);
}

double dls_world_push(const dls_world *w, double t) {
    double largest = 0, mass = 0;
    int moving = 0;
    for (int i = 0; i < w->told_count; i++) {
        const dls_body_entry *entry = &w->entries[w->told_ids[i]];
        if (entry->row < 0) continue;
        double push = push_of(entry->told, w->bodies[entry->row].motion == DLS_DRIVEN, t);
        if (isfinite(push)) largest = fmax(largest, push); /* what is not is refused where it acts */
    }
    for (int k = 0; k < w->material_count * w->material_count; k++)
        largest = fmax(largest, w->pairs[k].cohesion);
    if (largest == 0) return 0;
    for (int row = 0; row < w->body_count; row++)
        if (w->bodies[row].motion == DLS_DYNAMIC) mass += w->bodies[row].mass, moving++;
    return moving ? largest * moving / mass : 0;
}
