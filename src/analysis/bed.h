/* Beds: bodies that lie close together, as balls, and what is seen of them from above. */
#ifndef ANALYSIS_BED_H
#define ANALYSIS_BED_H

#include <delassus/base.h>

/* Coordinates of a bed: along the slope, across it (0 in the plane), up. */
typedef struct dls_bed_ball {
    int id;
    double x[3];   /* of a ball whose highest point is the body's */
    double radius; /* of a ball of the body's volume */
    double reach;  /* of a ball that holds the body: by it bodies hang together */
} dls_bed_ball;

typedef struct dls_bed {
    int dimension, count;
    int64_t room;
    dls_bed_ball *balls;
    double width; /* between places at which the surface is taken */
} dls_bed;

/* The surface over a place. */
typedef struct dls_bed_top {
    int64_t column, row;
    double along, across, height;
} dls_bed_top;

dls_status dls_bed_add(dls_bed *bed, const dls_bed_ball *ball, dls_error *error);
/* Chooses places and keeps the largest part that hangs together; refuses extents without measure. */
dls_status dls_bed_settle(dls_bed *bed, double time, dls_error *error);
/* Ordered along the slope, then across it; the caller frees. */
dls_status dls_bed_tops(const dls_bed *bed, int *count, dls_bed_top **tops, dls_error *error);
void dls_bed_release(dls_bed *bed);

#endif
