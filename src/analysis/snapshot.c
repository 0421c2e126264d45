/* A recorded frame as analysis sees it: volumes, places, contact forces in world axes. */
#include "analysis/analysis.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "output/results/results.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* ---- of the run ---- */

/* Only where a material sticks is every contact asked for its pair. */
static bool sticks(const dls_results *r) {
    for (int64_t k = 0; k < (int64_t)r->material_count * (r->material_count + 1) / 2; k++)
        if (r->pairs[k].pair.cohesion > 0) return true;
    return false;
}

static dls_status open_shapes(const dls_results *r, dls_snapshot *s, dls_error *error) {
    for (int id = 0; id < s->body_count; id++) {
        s->shape_start[id] = s->shape_count;
        for (int k = 0; k < dls_results_body_shape_count(r, id); k++) {
            dls_shape_def def;
            dls_status status = dls_results_body_shape(r, id, k, &def, error);
            if (status) return status;
            /* containers are named only: their geometry is not needed */
            if (dls_shape_kind_is_obstacle(def.kind)) continue;
            dls_shape *shape = &s->shapes[s->shape_count];
            dls_error inner = {0};
            status = dls_shape_create(&def, s->dimension, shape, &inner);
            if (status == DLS_ERROR_MEMORY) return dls_fail_memory(error);
            if (status)
                return dls_results_fail(r, DLS_TABLE_SHAPES, r->bodies[id].shape_start + k, error, "%s",
                                        inner.message);
            s->shape_count++;
            double volume, centre[3], inertia[9];
            dls_shape_mass(shape, &volume, centre, inertia);
            s->volume[id] += volume;
        }
        double v = s->volume[id];
        s->radius[id] = s->dimension == 2 ? sqrt(v / PI) : cbrt(3 * v / (4 * PI));
    }
    s->shape_start[s->body_count] = s->shape_count;
    return DLS_OK;
}

dls_status dls_snapshot_open(const dls_results *r, dls_snapshot *s, dls_error *error) {
    dls_world_def world = dls_results_world(r);
    int shapes = 0;
    *s = (dls_snapshot){.dimension = world.dimension,
                        .body_count = dls_results_body_count(r),
                        .has_contacts = dls_results_has_contacts(r)};
    int n = s->body_count;
    vec_copy(s->gravity, world.gravity);
    vec_copy(s->period_low, world.period_low);
    vec_copy(s->period_size, world.period_size);
    for (int id = 0; id < n; id++) shapes += dls_results_body_shape_count(r, id);
    s->motion = DLS_NEW_ZERO(dls_motion, n);
    s->mass = DLS_NEW_ZERO(double, n);
    s->volume = DLS_NEW_ZERO(double, n);
    s->radius = DLS_NEW_ZERO(double, n);
    s->shapes = DLS_NEW_ZERO(dls_shape, shapes);
    s->shape_start = DLS_NEW_ZERO(int, n + 1);
    s->states = DLS_NEW_ZERO(dls_body_state, n);
    s->present = DLS_NEW_ZERO(bool, n);
    s->poses = DLS_NEW_ZERO(dls_pose, n);
    s->is_loaded = DLS_NEW_ZERO(bool, n);
    if (!s->motion || !s->mass || !s->volume || !s->radius || !s->shapes || !s->shape_start || !s->states ||
        !s->present || !s->poses || !s->is_loaded)
        return dls_fail_memory(error);
    for (int id = 0; id < n; id++) {
        dls_body_mass mass;
        dls_status status = dls_results_body_mass(r, id, &mass, error);
        if (status) return status;
        s->motion[id] = dls_results_body_motion(r, id);
        s->mass[id] = mass.mass;
    }
    s->sticks = sticks(r);
    return open_shapes(r, s, error);
}

void dls_snapshot_release(dls_snapshot *s) {
    for (int k = 0; k < s->shape_count; k++) dls_shape_release(&s->shapes[k]);
    void *blocks[] = {s->motion, s->mass,    s->volume, s->radius,   s->shapes,   s->shape_start,
                      s->states, s->present, s->poses,  s->contacts, s->is_loaded};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) dls_free(blocks[k]);
    *s = (dls_snapshot){0};
}

/* ---- of the frame ---- */

/* Attraction of two shapes, N; pairs of materials stand row by row of a triangle. */
static double cohesion_of(const dls_results *r, const dls_contact_record *c) {
    int a = r->shapes[r->bodies[c->body_a].shape_start + c->shape_a].material,
        b = r->shapes[r->bodies[c->body_b].shape_start + c->shape_b].material;
    int64_t low = a < b ? a : b, high = a < b ? b : a;
    assert(low >= 0 && high < r->material_count);
    return r->pairs[high * (high + 1) / 2 + low].pair.cohesion;
}

/* f = frame · r/h − attraction · n on B: r is what the contact law gives, attraction acts beside it where
 * the contact is closed or pushes. */
static void make_force(const dls_snapshot *s, const dls_contact_record *c, double cohesion,
                       dls_contact_force *f) {
    assert(s->h > 0 && c->body_a >= 0 && c->body_a < s->body_count && c->body_b >= 0 &&
           c->body_b < s->body_count);
    *f = (dls_contact_force){.a = c->body_a, .b = c->body_b, .gap = c->gap};
    vec_copy(f->point, c->point);
    vec_copy(f->normal, c->frame);
    for (int k = 0; k < 3; k++) {
        f->shift[k] = c->image[k] * s->period_size[k];
        vec_along(f->force, f->force, c->impulse[k] / s->h, c->frame + 3 * k);
    }
    dls_contact_record_torque(c, f->torque);
    vec_scale(f->torque, 1 / s->h, f->torque);
    double attraction = c->gap <= 0 || c->impulse[0] > 0 ? cohesion : 0;
    f->normal_force = c->impulse[0] / s->h - attraction;
    vec_along(f->force, f->force, -attraction, c->frame);
    f->loaded = c->impulse[0] > 0; /* until marked */
}

void dls_snapshot_mark(dls_snapshot *s, double floor) {
    double sum = 0;
    int pushing = 0;
    for (int k = 0; k < s->contact_count; k++)
        if (s->contacts[k].normal_force > 0) sum += s->contacts[k].normal_force, pushing++;
    double least = pushing ? floor * sum / pushing : 0;
    for (int id = 0; id < s->body_count; id++) s->is_loaded[id] = !s->has_contacts && s->present[id];
    for (int k = 0; k < s->contact_count; k++) {
        dls_contact_force *c = &s->contacts[k];
        c->loaded = fabs(c->normal_force) > least;
        if (c->loaded) s->is_loaded[c->a] = s->is_loaded[c->b] = true;
    }
}

static dls_status load_contacts(dls_results *r, int frame, dls_snapshot *s, dls_error *error) {
    int count = dls_results_frame_contact_count(r, frame);
    s->contact_count = 0;
    if (count > s->contact_room) {
        dls_free(s->contacts);
        s->contact_room = count + count / 2;
        s->contacts = DLS_NEW(dls_contact_force, s->contact_room);
        if (!s->contacts) return dls_fail_memory(error);
    }
    dls_contact_record *records = DLS_NEW(dls_contact_record, count);
    if (!records) return dls_fail_memory(error);
    dls_status status = count ? dls_results_frame_contacts(r, frame, records, error) : DLS_OK;
    for (int k = 0; k < count && !status; k++)
        make_force(s, &records[k], s->sticks ? cohesion_of(r, &records[k]) : 0,
                   &s->contacts[s->contact_count++]);
    dls_free(records);
    return status;
}

dls_status dls_snapshot_load(dls_results *r, int frame, double floor, dls_snapshot *s, dls_error *error) {
    s->frame = frame;
    s->time = dls_results_frame_time(r, frame);
    s->contact_count = 0;
    dls_status status = dls_results_frame_states(r, frame, s->states, s->present, error);
    if (!status) status = dls_results_frame_poses(r, frame, s->poses, error);
    if (!status) status = dls_results_step_length(r, frame, &s->h, error);
    if (!status && s->has_contacts && s->h > 0) status = load_contacts(r, frame, s, error);
    if (!status) dls_snapshot_mark(s, floor);
    return status;
}
