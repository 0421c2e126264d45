/* Whether there is room for a ball: what stands near a region, asked shape by shape. */
#ifndef INTEGRATE_ROOM_H
#define INTEGRATE_ROOM_H

#include "collide/collide.h"
#include "world/region.h"

/* Who meets whom, as shapes have it. */
typedef struct dls_masks {
    uint32_t group, collides;
} dls_masks;

/* A body, or a periodic image of one, that may reach into the region. */
typedef struct dls_neighbour {
    double x[3], R[9]; /* of its mass centre */
    double radius;     /* of the ball that holds it, INFINITY without bound */
    bool is_ball;      /* it is that ball */
    dls_masks masks;   /* of all its shapes */
    int shape_count;
    const dls_shape *shapes;
} dls_neighbour;

typedef struct dls_room {
    double reach; /* of balls whose centres lie in the region, where it has no walls */
    int count;
    int64_t capacity;
    dls_neighbour *neighbours;
    dls_manifold manifold;
} dls_room;

void dls_room_release(dls_room *room);
dls_masks dls_masks_of(const dls_shape *shapes, int count);

/* All bodies of the world's rows that stay beyond t and come near the region. */
dls_status dls_room_look(dls_room *room, const dls_world *world, double t, const dls_region *region,
                         dls_error *error);
/* A ball more, which is about to come in. */
dls_status dls_room_add(dls_room *room, const dls_world *world, const dls_region *region, const double *x,
                        double radius, dls_masks masks, dls_error *error);
/* Whether a ball about x touches none of them. */
dls_status dls_room_is_free(dls_room *room, const double *x, double radius, dls_masks masks, bool *is_free,
                            dls_error *error);

/* Refuses a region that lies in a static body which takes part at time t. */
dls_status dls_region_check_free(const dls_world *world, const dls_region *region, double t, dls_masks masks,
                                 dls_error *error);

#endif
