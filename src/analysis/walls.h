/* Walls: faces of static and driven bodies that contacts lie on, and how much of them stands at which height.
 */
#ifndef ANALYSIS_WALLS_H
#define ANALYSIS_WALLS_H

#include "analysis/analysis.h"

/* A triangle, in the plane a line, in the frame of its body. */
typedef struct dls_wall_face {
    double corner[3][3], normal[3];
    bool two_sided; /* a line whose normal may be either */
    bool endless;   /* drawn as far as bodies reach */
    bool touched;   /* a contact lies in its plane */
} dls_wall_face;

/* A contact on the wall in its body's frame; normal out of the wall. */
typedef struct dls_wall_touch {
    double point[3], normal[3];
} dls_wall_touch;

typedef struct dls_wall {
    dls_body_id body;
    int face_count;
    int64_t face_room;
    dls_wall_face *faces;
    int touch_count, touch_stride, touch_skip; /* of many contacts every so many is kept */
    dls_wall_touch *touches;
    bool is_measured; /* at that pose */
    dls_pose pose;
    double *area; /* of each layer */
} dls_wall;

/* Layers along an axis, and the boxes that faces are cut to. */
typedef struct dls_wall_layers {
    int dimension, axis, count;
    double low, high;
    double box_low[3], box_high[3]; /* of bodies: endless faces reach no farther beside them */
    bool has_region;                /* that all faces are cut to */
    double region_low[3], region_high[3];
    double margin; /* what a face may stand beyond the box along its normal; a contact off its plane */
} dls_wall_layers;

/* Steeper than 45° to the level: what is not is a base. */
bool dls_wall_is_steep(const double *normal, int axis);

/* Faces of all shapes of a body, in its frame. reach, middle: of endless ones, in world axes about pose. */
dls_status dls_wall_create(const dls_results *results, const dls_pose *pose, double reach,
                           const double *middle, dls_wall *wall, dls_error *error);
dls_status dls_wall_touch_add(dls_wall *wall, const dls_wall_touch *touch, dls_error *error);
/* Marks the faces that contacts lie on. */
void dls_wall_mark(dls_wall *wall, double margin);
/* Areas of steep touched faces in every layer, with the body at pose. */
dls_status dls_wall_measure(dls_wall *wall, const dls_wall_layers *layers, const dls_pose *pose,
                            dls_error *error);
void dls_wall_release(dls_wall *wall);

#endif
