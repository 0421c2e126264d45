/* Materials, and the table of what a contact between two of them obeys. */
#include "base/error.h"
#include "base/memory.h"
#include "world/parts.h"
#include "world/solid/elastic.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { MAX_MATERIALS = 1024 };

dls_material_def dls_default_material_def(void) { return (dls_material_def){.density = 1000, .mu = 0.5}; }

static dls_status check_number(const char *what, double value, double high, dls_error *error) {
    if (value >= 0 && value <= high && isfinite(value)) return DLS_OK;
    if (isfinite(high))
        return dls_fail(error, DLS_ERROR_INPUT, "%s is %g, expected 0 to %g", what, value, high);
    return dls_fail(error, DLS_ERROR_INPUT, "%s is %g, expected a finite number that is not negative", what,
                    value);
}

static dls_status check_turning(const dls_turning_def *def, int dimension, dls_error *error) {
    dls_status status = check_number("rolling", def->rolling, INFINITY, error);
    if (!status) status = check_number("rolling_ratio", def->rolling_ratio, INFINITY, error);
    if (!status) status = check_number("spinning", def->spinning, INFINITY, error);
    if (!status) status = check_number("spinning_ratio", def->spinning_ratio, INFINITY, error);
    if (!status) status = check_number("drilling", def->drilling, INFINITY, error);
    if (status) return status;
    bool spins = def->spinning > 0 || def->spinning_ratio > 0;
    if (spins && def->drilling > 0)
        return dls_fail(error, DLS_ERROR_INPUT,
                        "drilling and spinning both, expected one: they resist the same rotation");
    if (dimension == 2 && (spins || def->drilling > 0))
        return dls_fail(
            error, DLS_ERROR_INPUT,
            "spinning or drilling in the plane, expected rolling alone: nothing turns about a normal");
    return DLS_OK;
}

static dls_status check_pair(const dls_pair_def *def, int dimension, dls_error *error) {
    dls_status status = check_number("mu", def->mu, INFINITY, error);
    if (!status) status = check_number("e_n", def->e_n, 1, error);
    if (!status) status = check_number("e_t", def->e_t, 1, error);
    if (!status) status = check_number("cohesion", def->cohesion, INFINITY, error);
    return status ? status : check_turning(&def->turning, dimension, error);
}

static dls_pair_def own_pair(const dls_material_def *m) {
    return (dls_pair_def){
        .mu = m->mu, .e_n = m->e_n, .e_t = m->e_t, .cohesion = m->cohesion, .turning = m->turning};
}

static dls_turning_def mix_turning(const dls_turning_def *a, const dls_turning_def *b) {
    return (dls_turning_def){.rolling = fmin(a->rolling, b->rolling),
                             .spinning = fmin(a->spinning, b->spinning),
                             .rolling_ratio = fmin(a->rolling_ratio, b->rolling_ratio),
                             .spinning_ratio = fmin(a->spinning_ratio, b->spinning_ratio),
                             .drilling = fmin(a->drilling, b->drilling)};
}

static dls_pair_def mix(const dls_material_def *a, const dls_material_def *b) {
    return (dls_pair_def){.mu = fmin(a->mu, b->mu),
                          .e_n = fmax(a->e_n, b->e_n),
                          .e_t = fmax(a->e_t, b->e_t),
                          .cohesion = fmin(a->cohesion, b->cohesion),
                          .turning = mix_turning(&a->turning, &b->turning)};
}

static dls_status check_material(const dls_world *world, const dls_material_def *def, dls_material_id own,
                                 dls_error *error) {
    dls_pair_def pair = own_pair(def);
    if (!(def->density > 0) || !isfinite(def->density))
        return dls_fail(error, DLS_ERROR_INPUT, "density is %g, expected a finite number above 0",
                        def->density);
    for (int k = 0; def->name && def->name[0] && k < world->material_count; k++)
        if (k != own && !strcmp(world->materials[k].name, def->name))
            return dls_fail(error, DLS_ERROR_INPUT, "there is a material '%.100s' already", def->name);
    dls_status status = dls_elastic_check(def, error);
    return status ? status : check_pair(&pair, world->def.dimension, error);
}

/* Mixes what is not stated in row and column a. */
static void mix_row(dls_world *world, dls_material_id a) {
    int n = world->material_count;
    for (int b = 0; b < n; b++) {
        if (world->pair_stated[a + n * b]) continue;
        assert(a < n);
        world->pairs[a + n * b] = mix(&world->materials[a].def, &world->materials[b].def);
        world->pairs[b + n * a] = world->pairs[a + n * b];
    }
}

/* The three arrays with one more material, whose row is not filled. */
static dls_status grow(dls_world *world, dls_error *error) {
    int n = world->material_count, m = n + 1;
    dls_material *materials = DLS_NEW_ZERO(dls_material, m);
    dls_pair_def *pairs = DLS_NEW_ZERO(dls_pair_def, m * m);
    uint8_t *stated = DLS_NEW_ZERO(uint8_t, m * m);
    if (!materials || !pairs || !stated) {
        dls_free(materials), dls_free(pairs), dls_free(stated);
        return dls_fail_memory(error);
    }
    for (int a = 0; a < n; a++) {
        materials[a] = world->materials[a];
        for (int b = 0; b < n; b++) {
            pairs[a + m * b] = world->pairs[a + n * b];
            stated[a + m * b] = world->pair_stated[a + n * b];
        }
    }
    dls_free(world->materials), dls_free(world->pairs), dls_free(world->pair_stated);
    world->materials = materials, world->pairs = pairs, world->pair_stated = stated;
    world->material_count = m;
    return DLS_OK;
}

/* A material without a name has an empty one. */
static void put_material(dls_world *world, dls_material_id id, const dls_material_def *def, char *name) {
    dls_material *m = &world->materials[id];
    m->name = name;
    m->def = *def;
    m->def.name = m->name;
    mix_row(world, id);
}

dls_status dls_world_add_material(dls_world *world, const dls_material_def *def, dls_material_id *id,
                                  dls_error *error) {
    dls_error_clear(error);
    if (!world || !def) return dls_fail(error, DLS_ERROR_ARGUMENT, "a world and a material are needed");
    if (world->material_count == MAX_MATERIALS)
        return dls_fail(error, DLS_ERROR_INPUT, "more than %d materials", MAX_MATERIALS);
    dls_status status = check_material(world, def, -1, error);
    if (status) return status;
    char *name = dls_text_copy(def->name ? def->name : "");
    if (!name || grow(world, error)) {
        dls_free(name);
        return dls_fail_memory(error);
    }
    put_material(world, world->material_count - 1, def, name);
    if (id) *id = world->material_count - 1;
    return DLS_OK;
}

static dls_status check_id(const dls_world *world, dls_material_id id, dls_error *error) {
    if (!world) return dls_fail(error, DLS_ERROR_ARGUMENT, "a world is needed");
    if (id >= 0 && id < world->material_count) return DLS_OK;
    return dls_fail(error, DLS_ERROR_ARGUMENT, "there is no material %d, expected 0 to %d", id,
                    world->material_count - 1);
}

dls_status dls_world_set_material(dls_world *world, dls_material_id id, const dls_material_def *def,
                                  dls_error *error) {
    dls_error_clear(error);
    if (!def) return dls_fail(error, DLS_ERROR_ARGUMENT, "a material is needed");
    dls_status status = check_id(world, id, error);
    if (!status) status = check_material(world, def, id, error);
    if (status) return status;
    char *name = dls_text_copy(def->name ? def->name : "");
    if (!name) return dls_fail_memory(error);
    char *old = world->materials[id].name;
    put_material(world, id, def, name);
    dls_free(old);
    return DLS_OK;
}

int dls_world_material_count(const dls_world *world) { return world ? world->material_count : 0; }

dls_status dls_world_material(const dls_world *world, dls_material_id id, dls_material_def *def,
                              dls_error *error) {
    dls_error_clear(error);
    dls_status status = check_id(world, id, error);
    if (status) return status;
    if (!def) return dls_fail(error, DLS_ERROR_ARGUMENT, "a place for the material is needed");
    *def = world->materials[id].def;
    return DLS_OK;
}

dls_status dls_world_set_pair(dls_world *world, dls_material_id a, dls_material_id b, const dls_pair_def *def,
                              dls_error *error) {
    dls_error_clear(error);
    dls_status status = check_id(world, a, error);
    if (!status) status = check_id(world, b, error);
    if (status) return status;
    if (!def) return dls_fail(error, DLS_ERROR_ARGUMENT, "a pair is needed");
    status = check_pair(def, world->def.dimension, error);
    if (status) return status;
    int n = world->material_count;
    world->pairs[a + n * b] = world->pairs[b + n * a] = *def;
    world->pair_stated[a + n * b] = world->pair_stated[b + n * a] = 1;
    return DLS_OK;
}

dls_status dls_world_pair(const dls_world *world, dls_material_id a, dls_material_id b, dls_pair_def *def,
                          bool *stated, dls_error *error) {
    dls_error_clear(error);
    dls_status status = check_id(world, a, error);
    if (!status) status = check_id(world, b, error);
    if (status) return status;
    int place = a + world->material_count * b;
    if (def) *def = world->pairs[place];
    if (stated) *stated = world->pair_stated[place];
    return DLS_OK;
}
