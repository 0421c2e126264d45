/* All shapes of a world where they stand, as collision has them; free() ends them. */
#ifndef DELASSUS_TESTS_SUPPORT_PLACE_ALL_H
#define DELASSUS_TESTS_SUPPORT_PLACE_ALL_H

#include "base/vector.h"
#include "collide/collide.h"

#include <stdlib.h>

static inline dls_placed *place_all(const dls_world *world) {
    dls_placed *placed = calloc((size_t)world->shape_count + 1, sizeof *placed);
    for (int i = 0; i < world->shape_count; i++) {
        const dls_shape *s = &world->shapes[i];
        double R[9];
        quat_matrix(world->states[s->body].q, R);
        placed[i].shape = s;
        mat_apply(placed[i].x, R, s->x);
        vec_add(placed[i].x, placed[i].x, world->states[s->body].x);
        mat_multiply(placed[i].R, R, s->R);
    }
    return placed;
}

#endif
