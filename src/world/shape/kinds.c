/* The kinds of shapes, one row each. */
#include "world/shape/kinds.h"

#include "world/shape/curvature.h"

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
static double mesh_bound(const dls_shape *s) {
    return s->mesh ? vertex_bound(s->mesh->vertex_count, s->mesh->vertex) : 0;
}

/* ---- box around a shape at x, R in the world ---- */

static void box_about(const double *x, const double *reach, double *low, double *high) {
    vec_sub(low, x, reach);
    vec_add(high, x, reach);
}
static void sphere_box(const dls_shape *s, const double *x, const double *R, double *low, double *high) {
    (void)R;
    box_about(x, (const double[3]){s->radius, s->radius, s->radius}, low, high);
}
static void disc_box(const dls_shape *s, const double *x, const double *R, double *low, double *high) {
    (void)R;
    box_about(x, (const double[3]){s->radius, s->radius, 0}, low, high);
}
static void box_box(const dls_shape *s, const double *x, const double *R, double *low, double *high) {
    double reach[3];
    for (int i = 0; i < 3; i++)
        reach[i] = fabs(R[i]) * s->size[0] + fabs(R[i + 3]) * s->size[1] + fabs(R[i + 6]) * s->size[2];
    box_about(x, reach, low, high);
}
static void capsule_box(const dls_shape *s, const double *x, const double *R, double *low, double *high) {
    double reach[3];
    for (int i = 0; i < 3; i++) reach[i] = fabs(R[i + 6]) * s->length / 2 + s->radius;
    box_about(x, reach, low, high);
}
static void ellipsoid_box(const dls_shape *s, const double *x, const double *R, double *low, double *high) {
    double reach[3];
    for (int i = 0; i < 3; i++) {
        double w[3] = {R[i] * s->size[0], R[i + 3] * s->size[1], R[i + 6] * s->size[2]};
        reach[i] = vec_norm(w);
    }
    box_about(x, reach, low, high);
}
static void cylinder_box(const dls_shape *s, const double *x, const double *R, double *low, double *high) {
    double reach[3];
    for (int i = 0; i < 3; i++) reach[i] = fabs(R[i + 6]) * s->length / 2 + s->radius * hypot(R[i], R[i + 3]);
    box_about(x, reach, low, high);
}

static void hull_box(const dls_shape *s, const double *x, const double *R, double *low, double *high) {
    vec_set(low, INFINITY, INFINITY, INFINITY);
    vec_set(high, -INFINITY, -INFINITY, -INFINITY);
    for (int k = 0; k < s->hull->vertex_count; k++) {
        double p[3];
        mat_apply(p, R, s->hull->vertex + 3 * k);
        for (int i = 0; i < 3; i++) {
            low[i] = fmin(low[i], x[i] + p[i]);
            high[i] = fmax(high[i], x[i] + p[i]);
        }
    }
}

/* The turned box around all elements: larger than need be, but one box however many they are. */
static void mesh_box(const dls_shape *s, const double *x, const double *R, double *low, double *high) {
    const dls_tree_node *root = &s->mesh->tree->node[0];
    double half[3], middle[3];
    for (int i = 0; i < 3; i++) {
        half[i] = (root->high[i] - root->low[i]) / 2;
        middle[i] = root->low[i] + half[i];
    }
    mat_apply(middle, R, middle);
    for (int i = 0; i < 3; i++) {
        double reach = fabs(R[i]) * half[0] + fabs(R[i + 3]) * half[1] + fabs(R[i + 6]) * half[2];
        low[i] = x[i] + middle[i] - reach;
        high[i] = x[i] + middle[i] + reach;
    }
}

static void no_box(const dls_shape *s, const double *x, const double *R, double *low, double *high) {
    (void)s, (void)x, (void)R;
    vec_set(low, -INFINITY, -INFINITY, -INFINITY);
    vec_set(high, INFINITY, INFINITY, INFINITY);
}

/* A half-space whose normal is an axis ends there. */
static void half_box(const dls_shape *s, const double *x, const double *R, double *low, double *high) {
    const double *n = R + (dls_shape_table[s->kind].planar ? 3 : 6);
    no_box(s, x, R, low, high);
    for (int i = 0; i < 3; i++) {
        if (n[i] == 1) high[i] = x[i];
        if (n[i] == -1) low[i] = x[i];
    }
}

/* ---- the least thickness of a solid ---- */

static double round_thickness(const dls_shape *s) { return 2 * s->radius; }
static double cylinder_thickness(const dls_shape *s) { return fmin(2 * s->radius, s->length); }
static double box_thickness(const dls_shape *s) { return 2 * fmin(s->size[0], fmin(s->size[1], s->size[2])); }

/* The least width from a face to the farthest corner. */
static double hull_thickness(const dls_shape *s) {
    const dls_hull *h = s->hull;
    double least = INFINITY;
    for (int f = 0; f < h->face_count; f++) {
        double width = 0;
        for (int v = 0; v < h->vertex_count; v++)
            width = fmax(width, h->face_offset[f] - vec_dot(h->face_normal + 3 * f, h->vertex + 3 * v));
        least = fmin(least, width);
    }
    return least;
}

/* ---- farthest point of a solid, and whether a point lies in it ---- */

static void round_support(const dls_shape *s, const double *d, double *p) {
    vec_scale(p, s->radius / vec_norm(d), d);
}
static bool round_has(const dls_shape *s, const double *p) { return vec_norm(p) <= s->radius; }

static void hull_support(const dls_shape *s, const double *d, double *p) {
    const dls_hull *h = s->hull;
    int best = 0;
    for (int k = 1; k < h->vertex_count; k++)
        if (vec_dot(d, h->vertex + 3 * k) > vec_dot(d, h->vertex + 3 * best)) best = k;
    vec_copy(p, h->vertex + 3 * best);
}
static bool hull_has(const dls_shape *s, const double *p) {
    for (int k = 0; k < s->hull->face_count; k++)
        if (vec_dot(s->hull->face_normal + 3 * k, p) > s->hull->face_offset[k]) return false;
    return true;
}

static void capsule_support(const dls_shape *s, const double *d, double *p) {
    vec_scale(p, s->radius / vec_norm(d), d);
    p[2] += copysign(s->length / 2, d[2]);
}
static bool capsule_has(const dls_shape *s, const double *p) {
    double z = fmax(fabs(p[2]) - s->length / 2, 0);
    return p[0] * p[0] + p[1] * p[1] + z * z <= s->radius * s->radius;
}

/* p = A² d/|A d| with A = diag(semi-axes) */
static void ellipsoid_support(const dls_shape *s, const double *d, double *p) {
    double a[3];
    for (int k = 0; k < 3; k++) a[k] = s->size[k] * d[k];
    double norm = vec_norm(a);
    for (int k = 0; k < 3; k++) p[k] = s->size[k] * a[k] / norm;
}
static bool ellipsoid_has(const dls_shape *s, const double *p) {
    double sum = 0;
    for (int k = 0; k < 3; k++) sum += p[k] * p[k] / (s->size[k] * s->size[k]);
    return sum <= 1;
}

static void cylinder_support(const dls_shape *s, const double *d, double *p) {
    double level = hypot(d[0], d[1]);
    vec_set(p, 0, 0, copysign(s->length / 2, d[2]));
    if (level > 0) p[0] = s->radius * d[0] / level, p[1] = s->radius * d[1] / level;
}
static bool cylinder_has(const dls_shape *s, const double *p) {
    return hypot(p[0], p[1]) <= s->radius && fabs(p[2]) <= s->length / 2;
}

/* ---- skins ---- */

/* Six times the volume of the tetrahedron from the origin to a triangle. */
static double cone_of(const dls_mesh *m, int k) {
    double side[3];
    const double *a = m->vertex + 3 * m->element[3 * k], *b = m->vertex + 3 * m->element[3 * k + 1],
                 *c = m->vertex + 3 * m->element[3 * k + 2];
    vec_cross(side, a, b);
    return vec_dot(side, c);
}

/* Σ over those tetrahedra: V = Σ D/6, ∫x xᵀ dV = Σ D/120 (Σ_i x_i x_iᵀ + s sᵀ), s = Σ x_i. */
static void skin_mass(const dls_shape *s, double *mass, double *centre, double *inertia) {
    double S[9] = {0};
    *mass = 0;
    vec_set(centre, 0, 0, 0);
    for (int k = 0; k < s->mesh->element_count; k++) {
        double cone = cone_of(s->mesh, k), sum[3] = {0};
        for (int i = 0; i < 3; i++) vec_add(sum, sum, s->mesh->vertex + 3 * s->mesh->element[3 * k + i]);
        *mass += cone / 6;
        vec_along(centre, centre, cone / 24, sum);
        for (int m = 0; m < 9; m++) {
            S[m] += cone / 120 * sum[m % 3] * sum[m / 3];
            for (int i = 0; i < 3; i++) {
                const double *x = s->mesh->vertex + 3 * s->mesh->element[3 * k + i];
                S[m] += cone / 120 * x[m % 3] * x[m / 3];
            }
        }
    }
    for (int m = 0; m < 9; m++) inertia[m] = (m % 4 ? 0 : S[0] + S[4] + S[8]) - S[m];
    vec_scale(centre, 1 / *mass, centre);
    dls_inertia_move(inertia, -*mass, centre);
}

static double skin_thickness(const dls_shape *s) {
    const dls_tree_node *root = &s->mesh->tree->node[0];
    double least = INFINITY;
    for (int i = 0; i < 3; i++) least = fmin(least, root->high[i] - root->low[i]);
    return least;
}

static void skin_support(const dls_shape *s, const double *d, double *p) {
    const dls_mesh *m = s->mesh;
    int best = 0;
    for (int k = 1; k < m->vertex_count; k++)
        if (vec_dot(d, m->vertex + 3 * k) > vec_dot(d, m->vertex + 3 * best)) best = k;
    vec_copy(p, m->vertex + 3 * best);
}

/* How often the surface goes round p, by the angles that triangles are seen under (van Oosterom and Strackee
 * 1983). */
static bool skin_has(const dls_shape *s, const double *p) {
    double sum = 0;
    for (int k = 0; k < s->mesh->element_count; k++) {
        double x[3][3], length[3], side[3];
        for (int i = 0; i < 3; i++) {
            vec_sub(x[i], s->mesh->vertex + 3 * s->mesh->element[3 * k + i], p);
            length[i] = vec_norm(x[i]);
        }
        vec_cross(side, x[0], x[1]);
        sum +=
            atan2(vec_dot(side, x[2]), length[0] * length[1] * length[2] + vec_dot(x[0], x[1]) * length[2] +
                                           vec_dot(x[1], x[2]) * length[0] + vec_dot(x[2], x[0]) * length[1]);
    }
    return sum > acos(-1);
}

void dls_shape_become_skin(dls_shape *s, const double *x, dls_mesh *mesh) {
    static const double one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    dls_hull_destroy(s->hull);
    dls_mesh_destroy(s->mesh);
    s->hull = NULL;
    s->mesh = mesh;
    s->kind = DLS_SKIN;
    vec_copy(s->x, x);
    memcpy(s->R, one, sizeof one);
    s->bound = mesh_bound(s);
}

/* ---- the table ---- */

const dls_shape_traits dls_shape_table[DLS_SHAPE_KINDS] = {
    [DLS_DISC] = {.name = "disc",
                  .planar = true,
                  .round = true,
                  .needs = DLS_SHAPE_RADIUS,
                  .bound = round_bound,
                  .box = disc_box,
                  .mass = disc_mass,
                  .thickness = round_thickness,
                  .support = round_support,
                  .has = round_has,
                  .curvature = dls_curvature_round},
    [DLS_HALF_PLANE] = {.name = "half-plane",
                        .planar = true,
                        .obstacle = true,
                        .needs = DLS_SHAPE_NORMAL,
                        .walls = DLS_WALL_FLAT,
                        .bound = no_bound,
                        .box = half_box,
                        .curvature = dls_curvature_flat},
    [DLS_CHAIN] = {.name = "chain",
                   .planar = true,
                   .obstacle = true,
                   .needs = DLS_SHAPE_CHAIN,
                   .bound = mesh_bound,
                   .box = mesh_box},
    [DLS_POLYGON] = {.name = "polygon",
                     .planar = true,
                     .corners = true,
                     .needs = DLS_SHAPE_POINTS,
                     .bound = hull_bound,
                     .box = hull_box,
                     .mass = hull_mass,
                     .thickness = hull_thickness,
                     .support = hull_support,
                     .has = hull_has,
                     .curvature = dls_curvature_hull},
    [DLS_DRUM] = {.name = "drum",
                  .planar = true,
                  .obstacle = true,
                  .needs = DLS_SHAPE_RADIUS,
                  .walls = DLS_WALL_ROUND,
                  .bound = no_bound,
                  .box = no_box,
                  .curvature = dls_curvature_hollow},
    [DLS_SPHERE] = {.name = "sphere",
                    .round = true,
                    .grid = DLS_GRID_BALL,
                    .needs = DLS_SHAPE_RADIUS,
                    .bound = round_bound,
                    .box = sphere_box,
                    .mass = sphere_mass,
                    .thickness = round_thickness,
                    .support = round_support,
                    .has = round_has,
                    .curvature = dls_curvature_round},
    [DLS_HALF_SPACE] = {.name = "half-space",
                        .obstacle = true,
                        .needs = DLS_SHAPE_NORMAL,
                        .walls = DLS_WALL_FLAT,
                        .bound = no_bound,
                        .box = half_box,
                        .curvature = dls_curvature_flat},
    [DLS_BOX] = {.name = "box",
                 .corners = true,
                 .grid = DLS_GRID_BOX,
                 .needs = DLS_SHAPE_EDGES,
                 .bound = box_bound,
                 .box = box_box,
                 .mass = box_mass,
                 .thickness = box_thickness,
                 .support = hull_support,
                 .has = hull_has,
                 .curvature = dls_curvature_hull},
    [DLS_CAPSULE] = {.name = "capsule",
                     .needs = DLS_SHAPE_RADIUS | DLS_SHAPE_LENGTH,
                     .bound = capsule_bound,
                     .box = capsule_box,
                     .mass = capsule_mass,
                     .thickness = round_thickness,
                     .support = capsule_support,
                     .has = capsule_has,
                     .curvature = dls_curvature_capsule},
    [DLS_ELLIPSOID] = {.name = "ellipsoid",
                       .grid = DLS_GRID_BALL,
                       .needs = DLS_SHAPE_SEMI_AXES,
                       .bound = ellipsoid_bound,
                       .box = ellipsoid_box,
                       .mass = ellipsoid_mass,
                       .thickness = box_thickness,
                       .support = ellipsoid_support,
                       .has = ellipsoid_has,
                       .curvature = dls_curvature_ellipsoid},
    [DLS_POLYHEDRON] = {.name = "polyhedron",
                        .corners = true,
                        .needs = DLS_SHAPE_POINTS | DLS_SHAPE_FILE,
                        .bound = hull_bound,
                        .box = hull_box,
                        .mass = hull_mass,
                        .thickness = hull_thickness,
                        .support = hull_support,
                        .has = hull_has,
                        .curvature = dls_curvature_hull},
    [DLS_CYLINDER] = {.name = "cylinder",
                      .grid = DLS_GRID_ROUND,
                      .needs = DLS_SHAPE_RADIUS | DLS_SHAPE_LENGTH,
                      .bound = cylinder_bound,
                      .box = cylinder_box,
                      .mass = cylinder_mass,
                      .thickness = cylinder_thickness,
                      .support = cylinder_support,
                      .has = cylinder_has,
                      .curvature = dls_curvature_cylinder},
    [DLS_CYLINDER_INSIDE] = {.name = "cylinder-inside",
                             .obstacle = true,
                             .needs = DLS_SHAPE_RADIUS | DLS_SHAPE_OPEN_LENGTH,
                             .walls = DLS_WALL_ROUND | DLS_WALL_ENDS,
                             .bound = no_bound,
                             .box = no_box,
                             .curvature = dls_curvature_hollow},
    [DLS_BOX_INSIDE] = {.name = "box-inside",
                        .obstacle = true,
                        .needs = DLS_SHAPE_EDGES,
                        .walls = DLS_WALL_BOX,
                        .bound = no_bound,
                        .box = no_box,
                        .curvature = dls_curvature_flat},
    [DLS_SKIN] = {.name = "skin",
                  .made = true,
                  .needs = DLS_SHAPE_TRIANGLES,
                  .bound = mesh_bound,
                  .box = mesh_box,
                  .mass = skin_mass,
                  .thickness = skin_thickness,
                  .support = skin_support,
                  .has = skin_has},
    [DLS_MESH] = {.name = "mesh",
                  .obstacle = true,
                  .needs = DLS_SHAPE_TRIANGLES | DLS_SHAPE_FILE,
                  .bound = mesh_bound,
                  .box = mesh_box},
};

static const dls_shape_traits *row_of(dls_shape_kind kind) {
    return (unsigned)kind < DLS_SHAPE_KINDS ? &dls_shape_table[kind] : NULL;
}

const char *dls_shape_kind_name(dls_shape_kind kind) { return row_of(kind) ? row_of(kind)->name : ""; }
bool dls_shape_kind_is_planar(dls_shape_kind kind) { return row_of(kind) && row_of(kind)->planar; }
bool dls_shape_kind_is_obstacle(dls_shape_kind kind) { return row_of(kind) && row_of(kind)->obstacle; }
