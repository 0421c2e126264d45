#include "integrate/room.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/vector.h"
#include "world/shape/kinds.h"

#include <math.h>
#include <string.h>

/* Bodies are born this far apart, in parts of the smaller one's radius: rounding makes no overlap. */
static const double CLEARANCE = 1e-9;
/* A region may lie so deep in a wall, in parts of its size: it may be as wide as its container. */
static const double OVERLAP = 1e-6;
/* Images of one body along an axis: more has no box that bodies fit into. */
enum { MOST_IMAGES = 64 };

void dls_room_release(dls_room *room) {
    dls_free(room->neighbours);
    dls_free(room->manifold.point);
    *room = (dls_room){.count = 0};
}

dls_masks dls_masks_of(const dls_shape *shapes, int count) {
    dls_masks masks = {0, 0};
    for (int k = 0; k < count; k++) {
        masks.group |= shapes[k].group;
        masks.collides |= shapes[k].collides;
    }
    return masks;
}

static bool masks_meet(dls_masks a, dls_masks b) { return a.group & b.collides && b.group & a.collides; }

/* ---- what stands near ---- */

static dls_neighbour neighbour_of(const dls_body *body, const dls_body_state *state,
                                  const dls_shape *shapes) {
    dls_neighbour n = {.radius = body->radius,
                       .masks = dls_masks_of(shapes, body->shape_count),
                       .shape_count = body->shape_count,
                       .shapes = shapes};
    vec_copy(n.x, state->x);
    quat_matrix(state->q, n.R);
    n.is_ball = body->shape_count == 1 && dls_shape_table[shapes->kind].round &&
                vec_norm(shapes->x) <= 1e-12 * body->radius;
    return n;
}

/* Images m of the body whose balls reach into the region's box: low ≤ x + m · period ± radius ≤ high, and as
 * far beyond as balls in it reach. */
static void image_range(const dls_world *world, const dls_region *region, const dls_neighbour *n,
                        double reach, int *first, int *last) {
    for (int k = 0; k < 3; k++) {
        double size = world->def.period_size[k];
        first[k] = last[k] = 0;
        if (!(size > 0) || isinf(n->radius)) continue;
        double far = n->radius + (region->periodic[k] ? reach : 0),
               low = ceil((region->low[k] - far - n->x[k]) / size),
               high = floor((region->high[k] + far - n->x[k]) / size);
        first[k] = (int)fmax(fmin(low, 1e9), -1e9);
        last[k] = (int)fmax(fmin(high, 1e9), -1e9);
        if (last[k] > first[k] + MOST_IMAGES) last[k] = first[k] + MOST_IMAGES;
    }
}

static bool is_near(const dls_region *region, const dls_neighbour *n, double reach) {
    for (int k = 0; k < region->dimension; k++) {
        double far = n->radius + (region->periodic[k] ? reach : 0);
        if (n->x[k] + far < region->low[k] || n->x[k] - far > region->high[k]) return false;
    }
    return true;
}

static dls_status add_images(dls_room *room, const dls_world *world, const dls_region *region,
                             const dls_neighbour *body, dls_error *error) {
    int first[3], last[3], m[3];
    image_range(world, region, body, room->reach, first, last);
    for (m[2] = first[2]; m[2] <= last[2]; m[2]++)
        for (m[1] = first[1]; m[1] <= last[1]; m[1]++)
            for (m[0] = first[0]; m[0] <= last[0]; m[0]++) {
                dls_neighbour image = *body;
                for (int k = 0; k < 3; k++) image.x[k] += m[k] * world->def.period_size[k];
                if (!is_near(region, &image, room->reach)) continue;
                if (!DLS_RESERVE(room->neighbours, room->count, room->capacity, room->count + 1))
                    return dls_fail_memory(error);
                room->neighbours[room->count++] = image;
            }
    return DLS_OK;
}

/* Along a direction that is not periodic. */
static bool is_far(const dls_world *world, const dls_region *region, const dls_body *body,
                   const dls_body_state *state) {
    for (int k = 0; k < region->dimension; k++) {
        if (world->def.period_size[k] > 0) continue;
        if (state->x[k] + body->radius < region->low[k] || state->x[k] - body->radius > region->high[k])
            return true;
    }
    return false;
}

dls_status dls_room_look(dls_room *room, const dls_world *world, double t, const dls_region *region,
                         dls_error *error) {
    dls_status status = DLS_OK;
    room->count = 0;
    for (int row = 0; row < world->body_count && !status; row++) {
        const dls_body *body = &world->bodies[row];
        if (!body->shape_count || is_far(world, region, body, &world->states[row])) continue;
        if (dls_world_row_ends(world, row, t)) continue;
        dls_neighbour n = neighbour_of(body, &world->states[row], world->shapes + body->shape_first);
        status = add_images(room, world, region, &n, error);
    }
    return status;
}

dls_status dls_room_add(dls_room *room, const dls_world *world, const dls_region *region, const double *x,
                        double radius, dls_masks masks, dls_error *error) {
    dls_neighbour n = {.radius = radius, .is_ball = true, .masks = masks};
    vec_copy(n.x, x);
    return add_images(room, world, region, &n, error);
}

/* ---- asking ---- */

/* The first solid kind that is made of these numbers: balls have a radius, hulls points. */
static dls_shape_kind kind_of(bool planar, unsigned need) {
    int kind = 0;
    while (kind < DLS_SHAPE_KINDS - 1 &&
           (dls_shape_table[kind].planar != planar || dls_shape_table[kind].obstacle ||
            !(dls_shape_table[kind].needs & need)))
        kind++;
    return (dls_shape_kind)kind;
}

static void place(const dls_neighbour *n, int shape, dls_placed *placed) {
    placed->shape = &n->shapes[shape];
    mat_apply(placed->x, n->R, placed->shape->x);
    vec_add(placed->x, placed->x, n->x);
    mat_multiply(placed->R, n->R, placed->shape->R);
}

/* The least gap of what is placed to a body, INFINITY where it is above the margin. */
static dls_status find_gap(dls_manifold *manifold, const dls_placed *placed, dls_masks masks,
                           const dls_neighbour *n, double margin, double *gap, dls_error *error) {
    *gap = INFINITY;
    for (int k = 0; k < n->shape_count; k++) {
        bool swapped;
        const dls_shape *shape = &n->shapes[k];
        const dls_pair_kind *row = dls_pair_find(placed->shape->kind, shape->kind, &swapped);
        if (!row || !masks_meet(masks, (dls_masks){shape->group, shape->collides})) continue;
        dls_pair_memory memory = {.used = 0};
        dls_placed other;
        place(n, k, &other);
        manifold->count = 0;
        row->collide(swapped ? &other : placed, swapped ? placed : &other, margin, &memory, NULL, 0,
                     manifold);
        if (manifold->out_of_memory) return dls_fail_memory(error);
        for (int i = 0; i < manifold->count; i++) *gap = fmin(*gap, manifold->point[i].gap);
    }
    return DLS_OK;
}

dls_status dls_room_is_free(dls_room *room, const double *x, double radius, dls_masks masks, bool *is_free,
                            dls_error *error) {
    *is_free = true;
    dls_shape ball = {.radius = radius, .bound = radius};
    dls_placed placed = {.shape = &ball};
    vec_copy(placed.x, x);
    for (int k = 0; k < 3; k++) placed.R[4 * k] = ball.R[4 * k] = 1;
    for (int i = 0; i < room->count && *is_free; i++) {
        const dls_neighbour *n = &room->neighbours[i];
        double apart = radius + n->radius + CLEARANCE * fmin(radius, n->radius), gap = 0;
        if (!masks_meet(masks, n->masks) || vec_distance(x, n->x) > apart) continue;
        if (!n->is_ball) {
            ball.kind = kind_of(dls_shape_table[n->shapes->kind].planar, DLS_SHAPE_RADIUS);
            dls_status status = find_gap(&room->manifold, &placed, masks, n, CLEARANCE * radius, &gap, error);
            if (status) return status;
        }
        *is_free = gap > CLEARANCE * radius;
    }
    return DLS_OK;
}

/* ---- a region as a shape ---- */

enum { SIDES = 32 }; /* of the prism in a cylinder */

static void add_corner(dls_shape_def *def, double (*corners)[3], double x, double y, double z) {
    vec_set(corners[def->point_count], x, y, z);
    def->points = corners[0];
    def->point_count++;
}

/* A ball, or the hull of corners about the middle, for which there is room. */
static dls_shape_def region_shape(const dls_region *region, double (*corners)[3]) {
    bool planar = region->dimension == 2, round = region->across == region->dimension;
    dls_shape_def def = dls_default_shape_def(kind_of(planar, round ? DLS_SHAPE_RADIUS : DLS_SHAPE_POINTS));
    double half[3];
    for (int k = 0; k < 3; k++) {
        def.pose.x[k] = planar && k == 2 ? 0 : (region->low[k] + region->high[k]) / 2;
        half[k] = planar && k == 2 ? 0 : (region->high[k] - region->low[k]) / 2;
    }
    def.radius = region->radius;
    for (int end = -1; end <= (planar ? -1 : 1) && !round; end += 2)
        for (int i = 0; i < (region->across ? SIDES : 4); i++) {
            double angle = 2 * M_PI * i / SIDES, z = end * half[2];
            if (region->across)
                add_corner(&def, corners, half[0] * cos(angle), half[1] * sin(angle), z);
            else
                add_corner(&def, corners, i & 1 ? half[0] : -half[0], i & 2 ? half[1] : -half[1], z);
        }
    return def;
}

static dls_status check_body(const dls_world *world, dls_body_id id, const dls_placed *placed,
                             const dls_region *region, dls_masks masks, dls_room *room, dls_error *error) {
    const char *name = dls_body_name(world, id);
    dls_neighbour n =
        neighbour_of(dls_world_body(world, id), dls_world_state(world, id), dls_world_shapes(world, id));
    double size = INFINITY, gap;
    for (int k = 0; k < region->dimension; k++) size = fmin(size, region->high[k] - region->low[k]);
    room->count = 0;
    dls_status status = add_images(room, world, region, &n, error);
    for (int i = 0; i < room->count && !status; i++) {
        status = find_gap(&room->manifold, placed, masks, &room->neighbours[i], 0, &gap, error);
        if (status || gap >= -OVERLAP * size) continue;
        return dls_fail(error, DLS_ERROR_INPUT,
                        "the region from (%g, %g, %g) to (%g, %g, %g) lies %.3g m deep in the static body "
                        "%s%.60s%s, expected a region that is free of static bodies",
                        region->low[0], region->low[1], region->low[2], region->high[0], region->high[1],
                        region->high[2], -gap, *name ? "'" : "", *name ? name : "without a name",
                        *name ? "'" : "");
    }
    return status;
}

dls_status dls_region_check_free(const dls_world *world, const dls_region *region, double t, dls_masks masks,
                                 dls_error *error) {
    double corners[2 * SIDES][3];
    dls_shape_def def = region_shape(region, corners);
    dls_shape shape;
    dls_room room = {.count = 0};
    dls_status status = dls_shape_create(&def, region->dimension, &shape, error);
    if (status) return status;
    dls_placed placed = {.shape = &shape};
    vec_copy(placed.x, shape.x);
    memcpy(placed.R, shape.R, sizeof placed.R);
    for (int id = 0; id < world->entry_count && !status; id++) {
        const dls_body_entry *e = &world->entries[id];
        const dls_body *body = dls_world_body(world, id);
        if (body->motion != DLS_STATIC || !body->shape_count || e->birth > t || e->death <= t) continue;
        status = check_body(world, id, &placed, region, masks, &room, error);
    }
    dls_room_release(&room);
    dls_shape_release(&shape);
    return status;
}
