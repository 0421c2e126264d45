/* Bodies from their definitions. */
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "world/parts.h"
#include "world/shape/kinds.h"
#include "world/solid/solid.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

dls_body_def dls_default_body_def(void) {
    return (dls_body_def){.pose = {.q = {1, 0, 0, 0}}, .birth = -INFINITY, .death = INFINITY};
}

const char *dls_body_label(const dls_world *world, dls_body_id id, char *text, size_t size) {
    const char *name = world->entries[id].name;
    if (name)
        snprintf(text, size, "body '%.100s'", name);
    else
        snprintf(text, size, "body %d", id);
    return text;
}

dls_body_kept *dls_kept_create(const dls_body *body, const dls_body_state *state, const dls_shape *shapes) {
    dls_body_kept *kept = dls_alloc(1, sizeof(dls_body_kept) + (size_t)body->shape_count * sizeof(dls_shape));
    if (!kept) return NULL;
    kept->body = *body;
    kept->state = *state;
    if (body->shape_count) memcpy(kept->shapes, shapes, (size_t)body->shape_count * sizeof *shapes);
    return kept;
}

/* ---- checks ---- */

static dls_status check_velocity(const dls_body_def *def, int dimension, dls_error *error) {
    if (!dls_vec_is_finite(def->v, 3) || !dls_vec_is_finite(def->w, 3))
        return dls_fail(error, DLS_ERROR_INPUT, "velocity is not finite");
    for (int k = 0; k < 6; k++) {
        double speed = k < 3 ? def->v[k] : def->w[k - 3];
        if (speed == 0) continue;
        const char *what = k < 3 ? "velocity along" : "angular velocity about";
        if (def->motion != DLS_DYNAMIC)
            return dls_fail(error, DLS_ERROR_INPUT, "%s %c of a %s body is %g, expected 0%s", what,
                            "xyz"[k % 3], dls_motion_name(def->motion), speed,
                            def -> motion == DLS_STATIC ? "" : " and a drive");
        if (dimension == 2 && k >= 2 && k <= 4)
            return dls_fail(error, DLS_ERROR_INPUT, "%s %c is %g, expected 0 in the plane", what,
                            "xyz"[k % 3], speed);
        if (def->locked[k])
            return dls_fail(error, DLS_ERROR_INPUT, "%s %c is %g, expected 0 where that is locked", what,
                            "xyz"[k % 3], speed);
    }
    return DLS_OK;
}

static dls_status check_def(const dls_world *world, const dls_body_def *def, dls_error *error) {
    if (def->motion != DLS_DYNAMIC && def->motion != DLS_STATIC && def->motion != DLS_DRIVEN)
        return dls_fail(error, DLS_ERROR_ARGUMENT, "there is no motion %d", (int)def->motion);
    if (def->shape_count < 0 || (def->shape_count > 0 && !def->shapes))
        return dls_fail(error, DLS_ERROR_ARGUMENT, "%d shapes without definitions", def->shape_count);
    if (def->shape_count > INT16_MAX)
        return dls_fail(error, DLS_ERROR_INPUT, "%d shapes, expected at most %d", def->shape_count,
                        INT16_MAX);
    if (def->shape_count > INT_MAX / 2 - world->shape_count - world->staged_shapes ||
        world->entry_count >= INT_MAX / 2)
        return dls_fail(error, DLS_ERROR_INPUT, "more than %d bodies or shapes", INT_MAX / 2);
    if (isnan(def->birth) || isnan(def->death) || !(def->birth < def->death))
        return dls_fail(error, DLS_ERROR_INPUT, "birth is %g and death %g, expected birth before death",
                        def->birth, def->death);
    if (def->name && def->name[0] && dls_world_find_body(world, def->name) >= 0)
        return dls_fail(error, DLS_ERROR_INPUT, "there is a body '%.100s' already", def->name);
    dls_status status = dls_pose_check("the body", &def->pose, world->def.dimension, error);
    if (!status) status = check_velocity(def, world->def.dimension, error);
    return status ? status : dls_drives_check(world, def, error);
}

/* ---- making ---- */

static dls_status create_shapes(const dls_world *world, const dls_body_def *def, dls_shape *shapes,
                                dls_error *error) {
    for (int k = 0; k < def->shape_count; k++) {
        const dls_shape_def *shape = &def->shapes[k];
        dls_error inner = {.status = DLS_OK};
        dls_status status = dls_shape_create(shape, world->def.dimension, &shapes[k], &inner);
        if (!status && (shape->material < 0 || shape->material >= world->material_count))
            status = dls_fail(&inner, DLS_ERROR_INPUT, "there is no material %d, expected 0 to %d",
                              shape->material, world->material_count - 1);
        if (!status && !def->solid && dls_shape_table[shape->kind].made)
            status = dls_fail(&inner, DLS_ERROR_INPUT, "a rigid body has it, expected a solid of elements");
        if (!status) continue;
        for (int j = 0; j <= k; j++) dls_shape_release(&shapes[j]);
        if (status == DLS_ERROR_MEMORY) return dls_fail_memory(error);
        return dls_fail(error, status, "shape %d (%s): %.400s", k, dls_shape_kind_name(shape->kind),
                        inner.message);
    }
    return DLS_OK;
}

/* Shapes move from the body's frame to axes through the mass centre. */
static void make_body(const dls_world *world, const dls_body_def *def, const dls_body_mass *mass, bool line,
                      dls_shape *shapes, dls_body *body) {
    static const double own[3] = {0, 0, 0}; /* shapes of lines stay in the frames of their places */
    const double *centre = line ? own : mass->centre;
    memset(body, 0, sizeof *body);
    body->motion = def->motion;
    for (int k = 0; k < 6; k++) body->locked |= (uint8_t)(def->locked[k] << k);
    if (world->def.dimension == 2) body->locked |= 4 | 8 | 16;
    body->shape_count = def->shape_count;
    bool dynamic = def->motion == DLS_DYNAMIC;
    body->mass = mass->mass;
    body->inverse_mass = dynamic ? 1 / mass->mass : 0;
    for (int k = 0; k < 3; k++) body->axes[4 * k] = 1;
    if (dynamic && world->def.dimension == 3) {
        dls_inertia_principal(mass->inertia, body->inertia, body->axes);
    } else {
        for (int k = 0; k < 3; k++) body->inertia[k] = mass->inertia[4 * k];
    }
    for (int k = 0; k < 3 && dynamic; k++)
        body->inertia_root[k] = body->inertia[k] > 0 ? 1 / sqrt(body->inertia[k]) : 0;
    for (int k = 0; k < 3; k++) body->has_forces |= def->force[k] || def->torque[k];
    body->has_belts = def->belts != NULL;
    for (int k = 0; k < def->shape_count; k++) {
        vec_sub(shapes[k].x, shapes[k].x, centre);
        body->radius = fmax(body->radius, vec_norm(shapes[k].x) + shapes[k].bound);
    }
    assert(mat_is_rotation(body->axes) && (!dynamic || (mass->mass > 0 && body->inverse_mass > 0)));
}

static dls_body_state make_state(const dls_body_def *def, const double *centre) {
    dls_body_state state;
    double R[9];
    memcpy(state.q, def->pose.q, sizeof state.q);
    quat_normalize(state.q);
    quat_matrix(state.q, R);
    mat_apply(state.x, R, centre);
    vec_add(state.x, state.x, def->pose.x);
    vec_copy(state.v, def->v);
    vec_copy(state.w, def->w);
    return state;
}

/* Puts what is made behind the rows or, when it is to come later, into a block. */
static dls_status place(dls_world *w, dls_body_entry *entry, dls_body *body, const dls_body_state *state,
                        const dls_shape *shapes, dls_error *error) {
    entry->row = entry->slot = -1;
    if (entry->birth > fmax(w->settled, 0)) {
        entry->kept = dls_kept_create(body, state, shapes);
        if (!entry->kept) return dls_fail_memory(error);
        w->next_change = fmin(w->next_change, entry->birth);
        return DLS_OK;
    }
    body->shape_first = w->shape_count + w->staged_shapes; /* where they were made */
    assert(body->shape_count == 0 || shapes == w->shapes + body->shape_first);
    assert(w->body_count + w->staged_count < w->body_capacity);
    entry->slot = w->body_count + w->staged_count++;
    w->staged_shapes += body->shape_count;
    w->bodies[entry->slot] = *body;
    w->states[entry->slot] = *state;
    w->unsettled = true;
    return DLS_OK;
}

/* shapes are made and stand behind the rows; all room is reserved but for the name and what is told. */
static dls_status add_entry(dls_world *w, const dls_body_def *def, dls_shape *shapes, dls_solid *solid,
                            dls_error *error) {
    dls_body_mass mass;
    dls_status status = DLS_OK;
    if (def->solid)
        solid->kind->mass(solid->data, &mass);
    else
        status = dls_body_weigh(w, def, shapes, &mass, error);
    if (status) return status;
    bool named = def->name && def->name[0];
    dls_body_entry entry = {.birth = def->birth,
                            .death = def->death,
                            .solid = def->solid ? w->solid_count : -1,
                            .first_joint = -1};
    vec_copy(entry.centre, mass.centre);
    dls_body body;
    make_body(w, def, &mass, def->solid && solid->kind->line, shapes, &body);
    body.id = w->entry_count;
    if (def->solid) body.is_solid = true, body.radius += solid->kind->reach(solid->data);
    dls_body_state state = make_state(def, mass.centre);
    status = dls_body_state_check(w, &body, &state, error);
    if (status) return status;
    if (named && !(entry.name = dls_text_copy(def->name))) return dls_fail_memory(error);
    status = dls_told_create(def, &entry.told, error);
    if (!status) {
        status = place(w, &entry, &body, &state, shapes, error);
        if (status) dls_free(entry.told); /* the functions go with the definition */
    }
    if (status) {
        dls_free(entry.name);
        return status;
    }
    assert(w->entry_count < w->entry_capacity && (!entry.told || w->told_count < w->told_capacity));
    if (entry.told) w->told_ids[w->told_count++] = body.id;
    w->entries[w->entry_count++] = entry;
    solid->id = body.id;
    if (def->solid) dls_solid_join(w, solid, def, &state);
    if (named) dls_world_add_name(w, &w->names, body.id);
    return DLS_OK;
}

dls_status dls_world_add_body(dls_world *w, const dls_body_def *def, dls_body_id *id, dls_error *error) {
    dls_error_clear(error);
    if (!w || !def) {
        if (def) dls_functions_destroy(def);
        return dls_fail(error, DLS_ERROR_ARGUMENT, "a world and a body are needed");
    }
    dls_status status = check_def(w, def, error);
    if (!status)
        status = dls_world_reserve(w, w->body_count + w->staged_count + 1,
                                   w->shape_count + w->staged_shapes + def->shape_count, error);
    if (!status) status = dls_world_reserve_entries(w, error);
    if (!status && def->name && def->name[0]) status = dls_world_reserve_names(w, &w->names, error);
    if (!status) {
        /* there may be none yet, when the first body has none */
        dls_shape *shapes = w->shapes ? w->shapes + w->shape_count + w->staged_shapes : NULL;
        dls_solid solid = {.data = NULL};
        status = create_shapes(w, def, shapes, error);
        if (!status) {
            if (def->solid) status = dls_solid_prepare(w, def, shapes, &solid, error);
            if (!status) status = add_entry(w, def, shapes, &solid, error);
            if (status) dls_solid_drop(w, &solid);
            for (int k = 0; k < def->shape_count; k++) w->has_belts = w->has_belts || shapes[k].belt;
            for (int k = 0; status && k < def->shape_count; k++) dls_shape_release(&shapes[k]);
        }
    }
    if (status) {
        dls_functions_destroy(def);
        return status;
    }
    if (id) *id = w->entry_count - 1;
    return DLS_OK;
}
