/* The kinds of shapes, one row each: name, where it lives, which numbers it needs, mass, ball and box. */
#include "base/vector.h"
#include "world/parts.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

/* ---- masses at density 1, in the shape's own frame ---- */

static void diagonal(double mass, double x, double y, double z, double *m, double *centre, double *inertia) {
    *m = mass;
    vec_set(centre, 0, 0, 0);
    memset(inertia, 0, 9 * sizeof *inertia);
    inertia[0] = mass * x, inertia[4] = mass * y, inertia[8] = mass * z;
}

/* m = π r², I = m r²/2 */
static void disc_mass(const dls_shape *s, double *m, double *centre, double *inertia) {
    double r2 = s->radius * s->radius;
    diagonal(PI * r2, 0, 0, r2 / 2, m, centre, inertia);
}

/* m = 4/3 π r³, I = 2/5 m r² */
static void sphere_mass(const dls_shape *s, double *m, double *centre, double *inertia) {
    double r = s->radius, i = 0.4 * r * r;
    diagonal(4 * PI / 3 * r * r * r, i, i, i, m, centre, inertia);
}

/* With half edges a, b, c: m = 8 a b c, I_x = m (b² + c²)/3 */
static void box_mass(const dls_shape *s, double *m, double *centre, double *inertia) {
    double a = s->size[0], b = s->size[1], c = s->size[2];
    diagonal(8 * a * b * c, (b * b + c * c) / 3, (a * a + c * c) / 3, (a * a + b * b) / 3, m, centre,
             inertia);
}

/* m = 4/3 π a b c, I_x = m (b² + c²)/5 */
static void ellipsoid_mass(const dls_shape *s, double *m, double *centre, double *inertia) {
    double a = s->size[0], b = s->size[1], c = s->size[2];
    diagonal(4 * PI / 3 * a * b * c, (b * b + c * c) / 5, (a * a + c * c) / 5, (a * a + b * b) / 5, m, centre,
             inertia);
}

/* m = π r² l, I_z = m r²/2, I_x = m (r²/4 + l²/12) */
static void cylinder_mass(const dls_shape *s, double *m, double *centre, double *inertia) {
    double r2 = s->radius * s->radius, l = s->length, across = r2 / 4 + l * l / 12;
    diagonal(PI * r2 * l, across, across, r2 / 2, m, centre, inertia);
}

/* A cylinder and two half balls, whose centres lie 3/8 r beyond its ends. */
static void capsule_mass(const dls_shape *s, double *m, double *centre, double *inertia) {
    double r = s->radius, r2 = r * r, l = s->length;
    double tube = PI * r2 * l, ball = 4 * PI / 3 * r2 * r, mass = tube + ball;
    double along = tube * r2 / 2 + ball * 0.4 * r2;
    double across = tube * (r2 / 4 + l * l / 12) + ball * (0.4 * r2 + l * l / 4 + 0.375 * r * l);
    diagonal(mass, across / mass, across / mass, along / mass, m, centre, inertia);
}

static void hull_mass(const dls_shape *s, double *m, double *centre, double *inertia) {
    *m = s->hull->volume;
    vec_copy(centre, s->hull->centre);
    memcpy(inertia, s->hull->inertia, 9 * sizeof *inertia);
}

/* ---- radius of a ball about the shape's origin ---- */

static double round_bound(const dls_shape *s) { return s->radius; }
static double box_bound(const dls_shape *s) { return vec_norm(s->size); }
static double capsule_bound(const dls_shape *s) { return s->length / 2 + s->radius; }
static double ellipsoid_bound(const dls_shape *s) { return fmax(s->size[0], fmax(s->size[1], s->size[2])); }
static double cylinder_bound(const dls_shape *s) { return hypot(s->length / 2, s->radius); }
static double no_bound(const dls_shape *s) { return s ? INFINITY : 0; }

static double vertex_bound(int count, const double *vertex) {
    double bound = 0;
    for (int k = 0; k < count; k++) bound = fmax(bound, vec_norm(vertex + 3 * k));
    return bound;
}
static double hull_bound(const dls_shape *s) { return vertex_bound(s->hull->vertex_count, s->hull->vertex); }
static double mesh_bound(const dls_shape *s) { return vertex_bound(s->mesh->vertex_count, s->mesh->vertex); }

/* ---- half widths along the world's axes ---- */

static void round_reach(const dls_shape *s, const double *R, double *reach) {
    (void)R;
    vec_set(reach, s->radius, s->radius, s->radius);
}
static void disc_reach(const dls_shape *s, const double *R, double *reach) {
    (void)R;
    vec_set(reach, s->radius, s->radius, 0);
}
static void box_reach(const dls_shape *s, const double *R, double *reach) {
    for (int i = 0; i < 3; i++)
        reach[i] = fabs(R[i]) * s->size[0] + fabs(R[i + 3]) * s->size[1] + fabs(R[i + 6]) * s->size[2];
}
static void capsule_reach(const dls_shape *s, const double *R, double *reach) {
    for (int i = 0; i < 3; i++) reach[i] = fabs(R[i + 6]) * s->length / 2 + s->radius;
}
static void ellipsoid_reach(const dls_shape *s, const double *R, double *reach) {
    for (int i = 0; i < 3; i++) {
        double w[3] = {R[i] * s->size[0], R[i + 3] * s->size[1], R[i + 6] * s->size[2]};
        reach[i] = vec_norm(w);
    }
}
static void cylinder_reach(const dls_shape *s, const double *R, double *reach) {
    for (int i = 0; i < 3; i++) reach[i] = fabs(R[i + 6]) * s->length / 2 + s->radius * hypot(R[i], R[i + 3]);
}

/* ---- the table ---- */

const dls_shape_row dls_shape_rows[DLS_SHAPE_KINDS] = {
    [DLS_DISC] = {"disc", true, false, SHAPE_RADIUS, disc_mass, round_bound, disc_reach},
    [DLS_HALF_PLANE] = {"half-plane", true, true, 0, NULL, no_bound, NULL},
    [DLS_CHAIN] = {"chain", true, true, SHAPE_CHAIN, NULL, mesh_bound, NULL},
    [DLS_POLYGON] = {"polygon", true, false, SHAPE_POINTS, hull_mass, hull_bound, NULL},
    [DLS_DRUM] = {"drum", true, true, SHAPE_RADIUS, NULL, no_bound, NULL},
    [DLS_SPHERE] = {"sphere", false, false, SHAPE_RADIUS, sphere_mass, round_bound, round_reach},
    [DLS_HALF_SPACE] = {"half-space", false, true, 0, NULL, no_bound, NULL},
    [DLS_BOX] = {"box", false, false, SHAPE_SIZE, box_mass, box_bound, box_reach},
    [DLS_CAPSULE] = {"capsule", false, false, SHAPE_RADIUS | SHAPE_LENGTH, capsule_mass, capsule_bound,
                     capsule_reach},
    [DLS_ELLIPSOID] = {"ellipsoid", false, false, SHAPE_SIZE, ellipsoid_mass, ellipsoid_bound,
                       ellipsoid_reach},
    [DLS_POLYHEDRON] = {"polyhedron", false, false, SHAPE_POINTS, hull_mass, hull_bound, NULL},
    [DLS_CYLINDER] = {"cylinder", false, false, SHAPE_RADIUS | SHAPE_LENGTH, cylinder_mass, cylinder_bound,
                      cylinder_reach},
    [DLS_CYLINDER_INSIDE] = {"cylinder-inside", false, true, SHAPE_RADIUS | SHAPE_OPEN_LENGTH, NULL, no_bound,
                             NULL},
    [DLS_BOX_INSIDE] = {"box-inside", false, true, SHAPE_SIZE, NULL, no_bound, NULL},
    [DLS_MESH] = {"mesh", false, true, SHAPE_TRIANGLES, NULL, mesh_bound, NULL},
};

static const dls_shape_row *row_of(dls_shape_kind kind) {
    return (unsigned)kind < DLS_SHAPE_KINDS ? &dls_shape_rows[kind] : NULL;
}

const char *dls_shape_kind_name(dls_shape_kind kind) { return row_of(kind) ? row_of(kind)->name : ""; }
bool dls_shape_kind_is_planar(dls_shape_kind kind) { return row_of(kind) && row_of(kind)->planar; }
bool dls_shape_kind_is_obstacle(dls_shape_kind kind) { return row_of(kind) && row_of(kind)->obstacle; }
