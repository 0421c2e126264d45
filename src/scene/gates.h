/* Inlets and removals of a scene. */
#ifndef SCENE_GATES_H
#define SCENE_GATES_H

#include "integrate/gates.h"
#include "scene/generate.h"

/* What an inlet makes its bodies of: `self` of its definition. */
typedef struct dls_feed {
    dls_mixture mixture;
    int dimension;
    uint64_t seed;
    bool turned; /* at random */
    double velocity[3], speed;
    double middle[3]; /* of the region, where bodies wait */
    int64_t *made;    /* of each part */
    int64_t count;    /* of all */
} dls_feed;

dls_status dls_read_inlets(dls_reader *reader, const dls_node *list, double until, dls_gates_def *gates);
/* Behind bodies and inlets, whose names it may use. */
dls_status dls_read_removals(dls_reader *reader, const dls_node *list, dls_gates_def *gates);

/* In internal use: the scene's own, valid until it is destroyed. */
const dls_gates_def *dls_scene_gates(const dls_scene *scene);

#endif
