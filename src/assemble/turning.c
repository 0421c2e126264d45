#include "assemble/turning.h"

#include "assemble/solids.h"

#include "base/vector.h"
#include "world/shape/kinds.h"

#include <math.h>

static bool turns(const dls_turning_def *def) {
    return def->rolling > 0 || def->rolling_ratio > 0 || def->spinning > 0 || def->spinning_ratio > 0 ||
           def->drilling > 0;
}

bool dls_world_turns(const dls_world *world) {
    for (int k = 0; k < world->material_count * world->material_count; k++)
        if (turns(&world->pairs[k].turning)) return true;
    return false;
}

/* Half of the least thickness; obstacles are as thick as may be. */
static double radius_of(const dls_shape *shape) {
    const dls_shape_traits *kind = &dls_shape_table[shape->kind];
    return kind->thickness && !kind->obstacle ? 0.5 * kind->thickness(shape) : HUGE_VAL;
}

static double length_of(double length, double ratio, double radius) {
    return length + (ratio > 0 && isfinite(radius) ? ratio * radius : 0);
}

uint8_t dls_turning_parts(const dls_world *world, const dls_contact *c, double *rolling, double *spinning) {
    const dls_turning_def *def = &world->pairs[c->pair].turning;
    double radius = 0;
    if (def->rolling_ratio > 0 || def->spinning_ratio > 0)
        radius = fmin(radius_of(&world->shapes[c->a]), radius_of(&world->shapes[c->b]));
    *rolling = length_of(def->rolling, def->rolling_ratio, radius);
    *spinning = length_of(def->spinning, def->spinning_ratio, radius);
    if (world->def.dimension == 2) return DLS_PARTS(1, *rolling > 0, 0);
    return DLS_PARTS(def->drilling > 0 ? 3 : 2, *rolling > 0 ? 2 : 0, *spinning > 0);
}

void dls_turning_axes(int dimension, uint8_t parts, const double *frame, double drilling,
                      dls_turning *turning) {
    static const double out_of_plane[3] = {0, 0, 1};
    turning->count = 0;
    if (dimension == 2) {
        if (parts & DLS_PARTS(0, 3, 0)) vec_copy(turning->axis[turning->count++], out_of_plane);
        return;
    }
    if ((parts & DLS_PARTS(3, 0, 0)) == DLS_PARTS(3, 0, 0))
        vec_scale(turning->axis[turning->count++], drilling, frame);
    for (int k = 0; k < (parts >> 2 & 3); k++) vec_copy(turning->axis[turning->count++], frame + 3 + 3 * k);
    if (parts & DLS_PARTS(0, 0, 3)) vec_copy(turning->axis[turning->count++], frame);
}

void dls_turning_fill(const dls_assembly *a, const dls_block_place *place, int side,
                      const dls_turning *turning, int width, double *G) {
    const dls_row_mass *mass = &a->mass[side ? place->row_b : place->row_a];
    double sign = side ? 1 : -1;
    for (int k = 0; k < turning->count; k++) {
        double *row = G + width * k;
        if (place->spot[side]) {
            static const double nowhere[3] = {0, 0, 0};
            dls_solid_row(a, place->spot[side], nowhere, turning->axis[k], row);
            for (int i = 0; i < width; i++) row[i] *= sign;
            continue;
        }
        if (a->dimension == 2) {
            row[2] = sign * mass->S[8];
            continue;
        }
        mat_apply_transposed(row + width / 2, mass->S, turning->axis[k]);
        vec_scale(row + width / 2, sign, row + width / 2);
    }
}

void dls_turning_velocity(const dls_turning *turning, const double *w_a, const double *w_b, double *u) {
    double relative[3];
    vec_sub(relative, w_b, w_a);
    for (int k = 0; k < turning->count; k++) u[k] = vec_dot(turning->axis[k], relative);
}

void dls_turning_moment(const dls_turning *turning, const double *r, double *moment) {
    vec_set(moment, 0, 0, 0);
    for (int k = 0; k < turning->count; k++) vec_along(moment, moment, r[k], turning->axis[k]);
}

/* Axes are at right angles, those of drilling of any length. */
void dls_turning_rows(const dls_turning *turning, const double *moment, double *r) {
    for (int k = 0; k < turning->count; k++)
        r[k] = vec_dot(turning->axis[k], moment) / vec_dot(turning->axis[k], turning->axis[k]);
}
