/* Contacts between shapes.
 *
 * A contact joins the nearest points of two shapes: n is the unit normal from A to B, gap = n · (point_b −
 * point_a), negative where they overlap. Contacts exist for every pair whose gap is at most the detection
 * margin; a face on a face has one at every corner of the common area. */
#ifndef DELASSUS_COLLIDE_H
#define DELASSUS_COLLIDE_H

#include <delassus/world.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct dls_contact_point {
    double point_a[3], point_b[3];
    double normal[3];
    double gap;
    uint64_t feature; /* which features touch: the same from step to step while they do */
} dls_contact_point;

/* How two kinds of shapes are collided: one line for the table of the documentation; NULL where two obstacles
 * meet, which never collide. */
DLS_API const char *dls_pair_method(dls_shape_kind a, dls_shape_kind b);
/* Whether gap and normal of that pair are those of the true distance to rounding. */
DLS_API bool dls_pair_is_exact(dls_shape_kind a, dls_shape_kind b);

/* All contacts of two shapes alone, at most capacity; count is how many there are. A shape stands at its
 * definition's pose. For tests, scripts and the curious: a simulation does this for all pairs at once. */
DLS_API dls_status dls_shapes_collide(const dls_shape_def *a, const dls_shape_def *b, double margin,
                                      int capacity, dls_contact_point *contacts, int *count,
                                      dls_error *error);

/* How deep two rigid bodies lie in each other as they stand; 0 where they are apart, kept apart by groups or
 * joints, or not there, NaN when memory is out. Contacts of a step do not tell it of two bodies whose motions
 * are both given: nothing keeps these apart. */
DLS_API double dls_bodies_depth(const dls_world *world, dls_body_id a, dls_body_id b);

#ifdef __cplusplus
}
#endif
#endif
