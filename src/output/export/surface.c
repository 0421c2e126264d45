#include "output/export/surface.h"

#include "base/memory.h"
#include "base/vector.h"

#include <string.h>

/* ---- growing arrays ---- */

static int add_point(dls_surface *s, double x, double y, double z) {
    int used = 3 * s->point_count;
    if (!DLS_RESERVE(s->points, used, s->point_room, used + 3)) {
        s->is_out_of_memory = true;
        return 0;
    }
    vec_set(s->points + used, x, y, z);
    return s->point_count++;
}

/* A polygon, or a line where is_line. */
static void add_cell(dls_surface *s, bool is_line, int count, const int *corners) {
    if (!DLS_RESERVE(s->cell_size, s->cell_count, s->cell_room, s->cell_count + 1) ||
        !DLS_RESERVE(s->corners, s->corner_count, s->corner_room, s->corner_count + count)) {
        s->is_out_of_memory = true;
        return;
    }
    s->cell_size[s->cell_count++] = is_line ? -count : count;
    memcpy(s->corners + s->corner_count, corners, (size_t)count * sizeof(int));
    s->corner_count += count;
}

void dls_surface_clear(dls_surface *s) { s->point_count = s->cell_count = s->corner_count = 0; }

void dls_surface_free(dls_surface *s) {
    dls_free(s->points);
    dls_free(s->cell_size);
    dls_free(s->corners);
    *s = (dls_surface){0};
}

/* ---- parts ---- */

enum { MOST_SIDES = 128 };
static const double turn = 6.283185307179586;

/* Corners first … first + count − 1 in a row, closed or not; flipped: seen from the other side. */
static void add_run(dls_surface *s, bool is_line, int first, int count, bool closed, bool flipped) {
    int corners[MOST_SIDES + 1], length = count + (is_line && closed);
    for (int k = 0; k < length; k++) corners[k] = first + (flipped ? count - 1 - k % count : k % count);
    add_cell(s, is_line, length, corners);
}

static int add_circle(dls_surface *s, int sides, double radius, double z) {
    int first = s->point_count;
    for (int k = 0; k < sides; k++)
        add_point(s, radius * cos(turn * k / sides), radius * sin(turn * k / sides), z);
    return first;
}

/* Between two circles of points, the upper one second. */
static void add_band(dls_surface *s, int lower, int upper, int sides, bool flipped) {
    for (int k = 0; k < sides; k++) {
        int next = (k + 1) % sides;
        int out[4] = {lower + k, lower + next, upper + next, upper + k};
        int in[4] = {upper + k, upper + next, lower + next, lower + k};
        add_cell(s, false, 4, flipped ? in : out);
    }
}

/* x = a·cosθ·cosφ … with the middle pulled apart by length: a sphere, an ellipsoid or a capsule. */
static void add_round(dls_surface *s, int sides, const double *axes, double length) {
    int rings = sides / 2, south = add_point(s, 0, 0, -axes[2] - length / 2), previous = -1;
    for (int ring = 1; ring < rings; ring++) {
        double angle = turn / 2 * ring / rings, height = -cos(angle), width = sin(angle);
        for (int half = 0; half < (2 * ring == rings && length > 0 ? 2 : 1); half++) {
            double shift = 2 * ring < rings || (2 * ring == rings && half == 0) ? -length / 2 : length / 2;
            int first = s->point_count;
            for (int k = 0; k < sides; k++)
                add_point(s, axes[0] * width * cos(turn * k / sides), axes[1] * width * sin(turn * k / sides),
                          axes[2] * height + shift);
            for (int k = 0; k < sides && previous < 0; k++)
                add_cell(s, false, 3, (int[]){south, first + (k + 1) % sides, first + k});
            if (previous >= 0) add_band(s, previous, first, sides, false);
            previous = first;
        }
    }
    int north = add_point(s, 0, 0, axes[2] + length / 2);
    for (int k = 0; k < sides; k++)
        add_cell(s, false, 3, (int[]){previous + k, previous + (k + 1) % sides, north});
}

static void add_box(dls_surface *s, const double *size, bool flipped) {
    static const int faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    int first = s->point_count;
    for (int k = 0; k < 8; k++)
        add_point(s, (k & 1 ? 0.5 : -0.5) * size[0], (k & 2 ? 0.5 : -0.5) * size[1],
                  (k & 4 ? 0.5 : -0.5) * size[2]);
    for (int face = 0; face < 6; face++) {
        int corners[4];
        for (int k = 0; k < 4; k++) corners[k] = first + faces[face][flipped ? 3 - k : k];
        add_cell(s, false, 4, corners);
    }
}

static void add_tube(dls_surface *s, int sides, double radius, double length, bool has_ends, bool flipped) {
    int lower = add_circle(s, sides, radius, -length / 2), upper = add_circle(s, sides, radius, length / 2);
    add_band(s, lower, upper, sides, flipped);
    if (!has_ends) return;
    add_run(s, false, lower, sides, true, !flipped);
    add_run(s, false, upper, sides, true, flipped);
}

/* ---- kinds ---- */

typedef struct drawing {
    const dls_shape_def *shape;
    int sides;
    double reach;
    const double *middle;
} drawing;

static int copy_points(dls_surface *s, const dls_shape_def *shape) {
    int first = s->point_count;
    for (int k = 0; k < shape->point_count; k++)
        add_point(s, shape->points[3 * k], shape->points[3 * k + 1], shape->points[3 * k + 2]);
    return first;
}

static void draw_disc(dls_surface *s, const drawing *d) {
    int first = add_circle(s, d->sides, d->shape->radius, 0);
    add_run(s, false, first, d->sides, true, false);
    int centre = add_point(s, 0, 0, 0); /* a spoke shows how it turns */
    add_cell(s, true, 2, (int[]){centre, first});
}

static void draw_half_plane(dls_surface *s, const drawing *d) {
    int first = add_point(s, d->middle[0] + d->reach, 0, 0);
    add_point(s, d->middle[0] - d->reach, 0, 0);
    add_run(s, true, first, 2, false, false);
}

static void draw_chain(dls_surface *s, const drawing *d) {
    int first = copy_points(s, d->shape), count = d->shape->point_count;
    for (int k = 0; k + 1 < count; k++) add_run(s, true, first + k, 2, false, false);
    if (d->shape->closed && count > 2) add_cell(s, true, 2, (int[]){first + count - 1, first});
}

/* Polygons may have more corners than a circle has: as a fan. */
static void draw_polygon(dls_surface *s, const drawing *d) {
    int first = copy_points(s, d->shape), count = d->shape->point_count;
    if (count <= MOST_SIDES) {
        add_run(s, false, first, count, true, false);
        return;
    }
    for (int k = 1; k + 1 < count; k++) add_cell(s, false, 3, (int[]){first, first + k, first + k + 1});
}

static void draw_drum(dls_surface *s, const drawing *d) {
    int sides = 2 * d->sides < MOST_SIDES ? 2 * d->sides : MOST_SIDES;
    add_run(s, true, add_circle(s, sides, d->shape->radius, 0), sides, true, false);
}

static void draw_sphere(dls_surface *s, const drawing *d) {
    double r = d->shape->radius;
    add_round(s, d->sides, (double[]){r, r, r}, 0);
}

static void draw_half_space(dls_surface *s, const drawing *d) {
    int first = s->point_count;
    for (int k = 0; k < 4; k++)
        add_point(s, d->middle[0] + (k == 1 || k == 2 ? d->reach : -d->reach),
                  d->middle[1] + (k >= 2 ? d->reach : -d->reach), 0);
    add_run(s, false, first, 4, true, false);
}

static void draw_box(dls_surface *s, const drawing *d) { add_box(s, d->shape->size, false); }
static void draw_box_inside(dls_surface *s, const drawing *d) { add_box(s, d->shape->size, true); }

static void draw_capsule(dls_surface *s, const drawing *d) {
    double r = d->shape->radius;
    add_round(s, d->sides, (double[]){r, r, r}, d->shape->length);
}

static void draw_ellipsoid(dls_surface *s, const drawing *d) { add_round(s, d->sides, d->shape->size, 0); }

static void draw_cylinder(dls_surface *s, const drawing *d) {
    add_tube(s, d->sides, d->shape->radius, d->shape->length, true, false);
}

static void draw_cylinder_inside(dls_surface *s, const drawing *d) {
    int sides = 2 * d->sides < MOST_SIDES ? 2 * d->sides : MOST_SIDES;
    bool is_endless = d->shape->length <= 0;
    add_tube(s, sides, d->shape->radius, is_endless ? 2 * d->reach : d->shape->length, !is_endless, true);
}

static void draw_triangles(dls_surface *s, const drawing *d) {
    int first = copy_points(s, d->shape);
    for (int k = 0; k < d->shape->triangle_count; k++) {
        const int *t = d->shape->triangles + 3 * (size_t)k;
        add_cell(s, false, 3, (int[]){first + t[0], first + t[1], first + t[2]});
    }
}

static void (*const drawers[DLS_SHAPE_KINDS])(dls_surface *s, const drawing *d) = {
    [DLS_DISC] = draw_disc,
    [DLS_HALF_PLANE] = draw_half_plane,
    [DLS_CHAIN] = draw_chain,
    [DLS_POLYGON] = draw_polygon,
    [DLS_DRUM] = draw_drum,
    [DLS_SPHERE] = draw_sphere,
    [DLS_HALF_SPACE] = draw_half_space,
    [DLS_BOX] = draw_box,
    [DLS_CAPSULE] = draw_capsule,
    [DLS_ELLIPSOID] = draw_ellipsoid,
    [DLS_POLYHEDRON] = draw_triangles,
    [DLS_CYLINDER] = draw_cylinder,
    [DLS_CYLINDER_INSIDE] = draw_cylinder_inside,
    [DLS_BOX_INSIDE] = draw_box_inside,
    [DLS_MESH] = draw_triangles,
    [DLS_SKIN] = draw_triangles,
};

void dls_surface_add(dls_surface *surface, const dls_shape_def *shape, int sides, double reach,
                     const double *middle) {
    drawers[shape->kind](surface, &(drawing){shape, sides, reach, middle});
}
