/* Regions of the plane or of space, in world coordinates: where bodies are put, come in or are taken out. */
#ifndef WORLD_REGION_H
#define WORLD_REGION_H

#include <delassus/world.h>

typedef struct dls_region {
    int dimension;
    int across; /* how many of the first coordinates the radius bounds: 0 of a box, 2 of a disc or cylinder */
    double low[3], high[3]; /* box around it */
    double centre[3], radius;
    double normal[3]; /* of a half-space: out of it, of length 1; zero of all others. The border has centre */
    bool periodic[3]; /* the region spans the period there: no wall */
} dls_region;

bool dls_region_is_bounded(const dls_region *region);
double dls_region_volume(const dls_region *region);
/* From the axis or centre of a round region to x; zero in a box. */
void dls_region_offset(const dls_region *region, const double *x, double *d);
/* Whether a ball about x lies inside. */
bool dls_region_holds(const dls_region *region, const double *x, double radius);
/* Whether the image of x in the world's periodic box does. */
bool dls_region_holds_image(const dls_region *region, const dls_world *world, const double *x);

#endif
