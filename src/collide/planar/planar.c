/* Discs in the plane, and the table of all planar pairs. z is 0 throughout. */
#include "collide/planar/planar.h"

/* gap = |q − p| − a − b */
static void disc_disc(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                      const dls_contact_point *last, int last_count, dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    double ra = a->shape->radius, rb = b->shape->radius, reach = ra + rb + margin;
    double x = b->x[0] - a->x[0], y = b->x[1] - a->x[1], square = x * x + y * y;
    if (square > reach * reach) return;
    double distance = sqrt(square), n[3] = {0, 1, 0};
    if (square > 1e-290) n[0] = x / distance, n[1] = y / distance; /* else any direction will do */
    double point_a[3] = {a->x[0] + ra * n[0], a->x[1] + ra * n[1], 0};
    double point_b[3] = {b->x[0] - rb * n[0], b->x[1] - rb * n[1], 0};
    dls_manifold_add(manifold, point_a, point_b, n, distance - ra - rb, 0);
}

static void disc_half_plane(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                            const dls_contact_point *last, int last_count, dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    double radius = a->shape->radius, n[3] = {-b->R[3], -b->R[4], 0};
    double height = n[0] * (b->x[0] - a->x[0]) + n[1] * (b->x[1] - a->x[1]);
    if (height - radius > margin) return;
    double point_a[3] = {a->x[0] + radius * n[0], a->x[1] + radius * n[1], 0};
    double point_b[3] = {a->x[0] + height * n[0], a->x[1] + height * n[1], 0};
    dls_manifold_add(manifold, point_a, point_b, n, height - radius, 0);
}

/* gap = R − r − |p|, p from the drum's centre */
static void disc_drum(const dls_placed *a, const dls_placed *b, double margin, dls_pair_memory *memory,
                      const dls_contact_point *last, int last_count, dls_manifold *manifold) {
    (void)memory, (void)last, (void)last_count;
    double room = b->shape->radius - a->shape->radius;
    double x = a->x[0] - b->x[0], y = a->x[1] - b->x[1], square = x * x + y * y, free = room - margin;
    if (free > 0 && square < free * free) return;
    double distance = sqrt(square), n[3] = {0, -1, 0};
    if (square > 1e-290) n[0] = x / distance, n[1] = y / distance;
    double wall = b->shape->radius, radius = a->shape->radius;
    double point_a[3] = {a->x[0] + radius * n[0], a->x[1] + radius * n[1], 0};
    double point_b[3] = {b->x[0] + wall * n[0], b->x[1] + wall * n[1], 0};
    dls_manifold_add(manifold, point_a, point_b, n, room - distance, 0);
}

static const dls_pair_kind rows[] = {
    {DLS_DISC, DLS_DISC, disc_disc, true, false, "distance of the centres"},
    {DLS_DISC, DLS_HALF_PLANE, disc_half_plane, true, false, "height of the centre"},
    {DLS_DISC, DLS_DRUM, disc_drum, true, false, "R - r - |p|"},
    {DLS_DISC, DLS_POLYGON, dls_collide_disc_polygon, true, false, "nearest side or vertex"},
    {DLS_DISC, DLS_CHAIN, dls_collide_disc_chain, true, true, "local minima of the distance"},
    {DLS_POLYGON, DLS_HALF_PLANE, dls_collide_polygon_half_plane, true, false, "height of each vertex"},
    {DLS_POLYGON, DLS_DRUM, dls_collide_polygon_drum, true, false, "each vertex against the circle"},
    {DLS_POLYGON, DLS_POLYGON, dls_collide_polygon_polygon, false, true,
     "separating sides, clipped; nearest vertices"},
    {DLS_POLYGON, DLS_CHAIN, dls_collide_polygon_chain, false, true,
     "vertices against segments, corners against sides"},
};

const dls_pair_family dls_pairs_planar = {rows, sizeof rows / sizeof *rows};
