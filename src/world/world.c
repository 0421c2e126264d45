/* The world itself, its names, and the room in its arrays. */
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "world/joint/joint.h"
#include "world/parts.h"
#include "world/solid/solid.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <string.h>

char *dls_text_copy(const char *text) { return dls_alloc_copy(text, strlen(text) + 1, 1); }

dls_world_def dls_default_world_def(void) {
    return (dls_world_def){.dimension = 3, .gravity = {0, 0, -9.81}};
}

static dls_status check_def(const dls_world_def *def, dls_error *error) {
    if (def->dimension != 2 && def->dimension != 3)
        return dls_fail(error, DLS_ERROR_INPUT, "dimension is %d, expected 2 or 3", def->dimension);
    if (!dls_vec_is_finite(def->gravity, 3))
        return dls_fail(error, DLS_ERROR_INPUT, "gravity is (%g, %g, %g), expected finite numbers",
                        def->gravity[0], def->gravity[1], def->gravity[2]);
    if (def->dimension == 2 && def->gravity[2] != 0)
        return dls_fail(error, DLS_ERROR_INPUT, "gravity along z is %g, expected 0 in the plane",
                        def->gravity[2]);
    for (int k = 0; k < 3; k++) {
        if (!isfinite(def->period_low[k]) || !isfinite(def->period_size[k]) || def->period_size[k] < 0)
            return dls_fail(
                error, DLS_ERROR_INPUT,
                "period along %c starts at %g with size %g, expected finite numbers and a size that "
                "is not negative",
                "xyz"[k], def -> period_low[k], def -> period_size[k]);
        if (def->dimension == 2 && k == 2 && def->period_size[k] != 0)
            return dls_fail(error, DLS_ERROR_INPUT, "a period along z, expected none in the plane");
    }
    return DLS_OK;
}

dls_status dls_world_create(const dls_world_def *def, dls_world **world, dls_error *error) {
    dls_error_clear(error);
    if (!def || !world) return dls_fail(error, DLS_ERROR_ARGUMENT, "a definition and a place are needed");
    *world = NULL;
    dls_status status = check_def(def, error);
    if (status) return status;
    dls_world *w = DLS_NEW_ZERO(dls_world, 1);
    if (!w) return dls_fail_memory(error);
    w->def = *def;
    w->next_change = INFINITY;
    w->settled = -INFINITY;
    w->first_fed = INT_MAX;
    dls_material_def material = dls_default_material_def();
    material.name = "default";
    status = dls_world_add_material(w, &material, NULL, error);
    if (status)
        dls_world_destroy(w);
    else
        *world = w;
    return status;
}

static void release_kept(dls_body_kept *kept) {
    if (!kept) return;
    for (int k = 0; k < kept->body.shape_count; k++) dls_shape_release(&kept->shapes[k]);
    dls_free(kept);
}

void dls_world_destroy(dls_world *w) {
    if (!w) return;
    for (int k = 0; k < w->shape_count + w->staged_shapes; k++) dls_shape_release(&w->shapes[k]);
    dls_solids_release(w);
    for (int id = 0; id < w->entry_count; id++) {
        dls_free(w->entries[id].name);
        dls_told_destroy(w->entries[id].told);
        release_kept(w->entries[id].kept);
    }
    for (int k = 0; k < w->material_count; k++) dls_free(w->materials[k].name);
    for (int id = 0; id < w->joint_count; id++) dls_joint_release(&w->joints[id]);
    void *blocks[] = {w->entries,     w->bodies,   w->states,    w->shapes,          w->materials, w->pairs,
                      w->pair_stated, w->told_ids, w->names.ids, w->joint_names.ids, w->joints,    w};
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; k++) dls_free(blocks[k]);
}

int dls_world_dimension(const dls_world *world) { return world ? world->def.dimension : 0; }

void dls_world_gravity(const dls_world *world, double *gravity) { vec_copy(gravity, world->def.gravity); }

void dls_world_period(const dls_world *world, double *low, double *size) {
    vec_copy(low, world->def.period_low);
    vec_copy(size, world->def.period_size);
}

/* ---- room ---- */

/* A quarter more than there was: a world is filled once and stays. */
static int64_t grown(int64_t capacity, int64_t needed) {
    int64_t next = capacity < 16 ? 16 : capacity + capacity / 4;
    return next > needed ? next : needed;
}

#define GROW(array, count, capacity, needed)                                                                 \
    ((needed) <= (capacity) ||                                                                               \
     dls_grow(&(array), count, &(capacity), grown(capacity, needed), sizeof *(array)))

dls_status dls_world_reserve(dls_world *w, int bodies, int shapes, dls_error *error) {
    int64_t states = w->body_capacity;
    int used = w->body_count + w->staged_count, used_shapes = w->shape_count + w->staged_shapes;
    bool done = GROW(w->states, used, states, bodies) && GROW(w->bodies, used, w->body_capacity, bodies) &&
                GROW(w->shapes, used_shapes, w->shape_capacity, shapes);
    return done ? DLS_OK : dls_fail_memory(error);
}

dls_status dls_world_reserve_entries(dls_world *w, dls_error *error) {
    bool done = GROW(w->entries, w->entry_count, w->entry_capacity, w->entry_count + 1) &&
                GROW(w->told_ids, w->told_count, w->told_capacity, w->told_count + 1);
    return done ? DLS_OK : dls_fail_memory(error);
}

/* ---- names of bodies and of joints, at most half full ---- */

static const char *name_of(const dls_world *w, const dls_names *names, int id) {
    return names == &w->joint_names ? w->joints[id].name : w->entries[id].name;
}

/* The place of a name, or the free one where it belongs; the capacity is a power of two. */
static int name_place(const dls_world *w, const dls_names *names, const char *name) {
    assert(names->capacity > 0 && !(names->capacity & (names->capacity - 1)));
    assert(2 * names->count <= names->capacity); /* or the walk would not end */
    int mask = names->capacity - 1, place = (int)(dls_hash_text(name) & (uint64_t)mask);
    while (names->ids[place] >= 0 && strcmp(name_of(w, names, names->ids[place]), name))
        place = (place + 1) & mask;
    return place;
}

int dls_world_find_name(const dls_world *w, const dls_names *names, const char *name) {
    if (!name || !name[0] || names->capacity == 0) return -1;
    return names->ids[name_place(w, names, name)];
}

dls_body_id dls_world_find_body(const dls_world *w, const char *name) {
    return w ? dls_world_find_name(w, &w->names, name) : -1;
}

dls_status dls_world_reserve_names(dls_world *w, dls_names *names, dls_error *error) {
    dls_names old = *names;
    if (2 * (old.count + 1) <= old.capacity) return DLS_OK;
    int capacity = old.capacity ? 2 * old.capacity : 64, *ids = DLS_NEW(int, capacity);
    if (!ids) return dls_fail_memory(error);
    for (int k = 0; k < capacity; k++) ids[k] = -1;
    names->ids = ids;
    names->capacity = capacity;
    for (int k = 0; k < old.capacity; k++)
        if (old.ids[k] >= 0) ids[name_place(w, names, name_of(w, names, old.ids[k]))] = old.ids[k];
    dls_free(old.ids);
    return DLS_OK;
}

void dls_world_add_name(dls_world *w, dls_names *names, int id) {
    names->ids[name_place(w, names, name_of(w, names, id))] = id;
    names->count++;
}
