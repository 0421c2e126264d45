#include "world/region.h"

#include "base/vector.h"
#include "world/world.h"

#include <assert.h>
#include <math.h>

bool dls_region_is_bounded(const dls_region *region) { return vec_dot(region->normal, region->normal) == 0; }

double dls_region_volume(const dls_region *region) {
    const double pi = 3.14159265358979323846, r = region->radius;
    assert(dls_region_is_bounded(region));
    double volume = region->across == 0 ? 1 : region->across == 2 ? pi * r * r : 4 * pi / 3 * r * r * r;
    for (int k = region->across; k < region->dimension; k++) volume *= region->high[k] - region->low[k];
    return volume;
}

void dls_region_offset(const dls_region *region, const double *x, double *d) {
    assert(region->across <= region->dimension);
    for (int k = 0; k < 3; k++) d[k] = k < region->across ? x[k] - region->centre[k] : 0;
}

bool dls_region_holds(const dls_region *region, const double *x, double radius) {
    double d[3];
    if (!dls_region_is_bounded(region)) {
        vec_sub(d, x, region->centre);
        return vec_dot(d, region->normal) + radius <= 0;
    }
    for (int k = 0; k < region->dimension; k++) {
        double inset = region->periodic[k] ? 0 : radius;
        if (!(x[k] >= region->low[k] + inset && x[k] <= region->high[k] - inset)) return false;
    }
    dls_region_offset(region, x, d);
    return region->across == 0 || vec_norm(d) + radius <= region->radius;
}

bool dls_region_holds_image(const dls_region *region, const dls_world *world, const double *x) {
    double image[3];
    for (int k = 0; k < 3; k++) {
        double size = world->def.period_size[k], low = world->def.period_low[k];
        image[k] = size > 0 ? x[k] - size * floor((x[k] - low) / size) : x[k];
    }
    return dls_region_holds(region, image, 0);
}
