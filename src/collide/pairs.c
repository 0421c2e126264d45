/* The table of pairs: which function collides which two kinds of shapes. */
#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "collide/collide.h"

#include <assert.h>
#include <string.h>

static const dls_pair_family *const families[] = {&dls_pairs_planar,   &dls_pairs_round, &dls_pairs_ellipsoid,
                                                  &dls_pairs_cylinder, &dls_pairs_hull,  &dls_pairs_mesh,
                                                  &dls_pairs_skin};

enum { FAMILIES = sizeof families / sizeof *families };

const dls_pair_kind *dls_pair_find(dls_shape_kind a, dls_shape_kind b, bool *swapped) {
    for (int f = 0; f < FAMILIES; f++)
        for (int k = 0; k < families[f]->count; k++) {
            const dls_pair_kind *row = &families[f]->rows[k];
            *swapped = row->a == b && row->b == a && a != b;
            if ((row->a == a && row->b == b) || *swapped) return row;
        }
    return NULL;
}

const char *dls_pair_method(dls_shape_kind a, dls_shape_kind b) {
    bool swapped;
    const dls_pair_kind *row = dls_pair_find(a, b, &swapped);
    return row ? row->method : NULL;
}

bool dls_pair_is_exact(dls_shape_kind a, dls_shape_kind b) {
    bool swapped;
    const dls_pair_kind *row = dls_pair_find(a, b, &swapped);
    return row && row->exact;
}

void dls_manifold_add(dls_manifold *m, const double *point_a, const double *point_b, const double *normal,
                      double gap, uint64_t feature) {
    assert(vec_is_unit(normal) && isfinite(gap));
    if (!DLS_RESERVE(m->point, m->count, m->capacity, m->count + 1)) {
        m->out_of_memory = true;
        return;
    }
    dls_contact_point *c = &m->point[m->count++];
    vec_copy(c->point_a, point_a);
    vec_copy(c->point_b, point_b);
    vec_copy(c->normal, normal);
    c->gap = gap;
    c->feature = feature;
}

static void place(const dls_shape *shape, dls_placed *placed) {
    placed->shape = shape;
    vec_copy(placed->x, shape->x);
    memcpy(placed->R, shape->R, sizeof placed->R);
}

void dls_contact_point_flip(dls_contact_point *c) {
    double point[3];
    vec_copy(point, c->point_a);
    vec_copy(c->point_a, c->point_b);
    vec_copy(c->point_b, point);
    vec_scale(c->normal, -1, c->normal);
}

static dls_status collide_alone(const dls_shape *a, const dls_shape *b, double margin, int capacity,
                                dls_contact_point *contacts, int *count, dls_error *error) {
    bool swapped;
    const dls_pair_kind *row = dls_pair_find(a->kind, b->kind, &swapped);
    if (!row)
        return dls_fail(error, DLS_ERROR_INPUT, "a %s and a %s do not collide", dls_shape_kind_name(a->kind),
                        dls_shape_kind_name(b->kind));
    dls_placed first, second;
    dls_pair_memory memory = {.used = 0};
    dls_manifold manifold = {.count = 0};
    place(swapped ? b : a, &first);
    place(swapped ? a : b, &second);
    row->collide(&first, &second, margin, &memory, NULL, 0, &manifold);
    *count = manifold.count;
    for (int k = 0; k < manifold.count && k < capacity; k++) {
        contacts[k] = manifold.point[k];
        if (swapped) dls_contact_point_flip(&contacts[k]);
    }
    bool failed = manifold.out_of_memory;
    dls_free(manifold.point);
    return failed ? dls_fail_memory(error) : DLS_OK;
}

dls_status dls_shapes_collide(const dls_shape_def *a, const dls_shape_def *b, double margin, int capacity,
                              dls_contact_point *contacts, int *count, dls_error *error) {
    dls_error_clear(error);
    if (!a || !b || !count || (capacity > 0 && !contacts))
        return dls_fail(error, DLS_ERROR_ARGUMENT, "two shapes and places for the contacts are needed");
    *count = 0;
    dls_shape shape_a, shape_b;
    dls_status status = dls_shape_create(a, dls_shape_kind_is_planar(a->kind) ? 2 : 3, &shape_a, error);
    if (status) return status;
    status = dls_shape_create(b, dls_shape_kind_is_planar(b->kind) ? 2 : 3, &shape_b, error);
    if (!status) {
        status = collide_alone(&shape_a, &shape_b, margin, capacity, contacts, count, error);
        dls_shape_release(&shape_b);
    }
    dls_shape_release(&shape_a);
    return status;
}
