#include "support/overlap.h"

#include "base/vector.h"
#include "collide/mesh/query.h"
#include "output/export/surface.h"
#include "support/test.h"
#include "world/solid/solid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDES = 64 };

/* Triangles in the world, counter-clockwise from outside. */
typedef struct surface {
    int points, triangles;
    double *x;
    int *corner;
    double low[3], high[3];
} surface;

static void *room(size_t count, size_t size) {
    void *p = calloc(count + 1, size);
    assert_non_null(p);
    return p;
}

/* Where a point of the body's frame at rest, about its mass centre, is now. */
static void carry(const stage *s, dls_body_id id, const double *X, double *x) {
    int n = dls_solid_freedoms(s->world, id);
    dls_body_state state = stage_state(s, id);
    dls_solid_def def;
    double R[9], q[12];
    if (n == 12 && !dls_solid_get(s->world, id, &def, NULL) && def.form == DLS_SOLID_PSEUDO_RIGID &&
        !def.retained) {
        assert_int_equal(dls_solid_state_get(s->world, id, q, NULL, NULL), DLS_OK);
        for (int i = 0; i < 3; i++) x[i] = q[i] + vec_dot(q + 3 + 3 * i, X);
        return;
    }
    quat_matrix(state.q, R);
    mat_apply(x, R, X);
    vec_add(x, x, state.x);
}

/* The faces of a polyhedron as triangles. */
static int *add_fans(const stage *s, dls_body_id id, int shape, dls_shape_def *def) {
    const dls_body *body = &s->world->bodies[s->world->entries[id].row];
    const dls_hull *hull = s->world->shapes[body->shape_first + shape].hull;
    int *fan = room(3 * (size_t)hull->face_start[hull->face_count], sizeof *fan);
    for (int f = 0; f < hull->face_count; f++)
        for (int i = hull->face_start[f] + 1; i + 1 < hull->face_start[f + 1]; i++)
            memcpy(fan + 3 * (size_t)def->triangle_count++,
                   (int[]){hull->face_vertex[hull->face_start[f]], hull->face_vertex[i],
                           hull->face_vertex[i + 1]},
                   3 * sizeof *fan);
    def->triangles = fan;
    return fan;
}

/* The shapes of a body that is no mesh of elements, one after the other. */
static void take_shapes(const stage *s, dls_body_id id, surface *out) {
    dls_surface drawn = {0};
    int shapes = dls_body_shape_count(s->world, id), first = 0, cell = 0, corner = 0;
    static const double middle[3] = {0};
    for (int k = 0; k < shapes; k++) {
        dls_shape_def def;
        double R[9];
        assert_int_equal(dls_body_shape(s->world, id, k, &def, NULL), DLS_OK);
        int *fan = def.kind == DLS_POLYHEDRON ? add_fans(s, id, k, &def) : NULL;
        dls_surface_add(&drawn, &def, SIDES, 10, middle);
        free(fan);
        quat_matrix(def.pose.q, R);
        for (; first < drawn.point_count; first++) {
            double *p = drawn.points + 3 * (size_t)first, X[3];
            mat_apply(X, R, p);
            vec_add(X, X, def.pose.x);
            carry(s, id, X, p);
        }
    }
    out->points = drawn.point_count;
    out->x = room(3 * (size_t)drawn.point_count, sizeof(double));
    memcpy(out->x, drawn.points, 3 * (size_t)drawn.point_count * sizeof(double));
    out->corner = room(3 * (size_t)drawn.corner_count, sizeof(int));
    for (; cell < drawn.cell_count; cell++) {
        int size = drawn.cell_size[cell];
        const int *c = drawn.corners + corner;
        corner += abs(size);
        for (int k = 1; k + 1 < size; k++, out->triangles++)
            memcpy(out->corner + 3 * (size_t)out->triangles, (int[]){c[0], c[k], c[k + 1]}, 3 * sizeof(int));
    }
    dls_surface_free(&drawn);
}

static void take_skin(const stage *s, dls_body_id id, surface *out) {
    dls_shape_def def;
    const dls_solid *solid = &s->world->solids[dls_solid_of(s->world, id)];
    int n = solid->kind->nodes(solid->data);
    double *other = room(7 * (size_t)n, sizeof(double));
    assert_int_equal(dls_body_shape(s->world, id, 0, &def, NULL), DLS_OK);
    assert_int_equal(def.point_count, n);
    out->points = n, out->triangles = def.triangle_count;
    out->x = room(3 * (size_t)n, sizeof(double));
    out->corner = room(3 * (size_t)def.triangle_count, sizeof(int));
    memcpy(out->corner, def.triangles, 3 * (size_t)def.triangle_count * sizeof(int));
    solid->kind->skin(solid->data, s->world->q + solid->at, s->world->u + solid->at, out->x, other,
                      other + 3 * (size_t)n, other + 4 * (size_t)n);
    free(other);
}

static surface take(const stage *s, dls_body_id id) {
    surface out = {.low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
    int solid = dls_solid_of(s->world, id);
    if (solid >= 0 && s->world->solids[solid].kind->skin)
        take_skin(s, id, &out);
    else
        take_shapes(s, id, &out);
    for (int k = 0; k < 3 * out.points; k++) {
        out.low[k % 3] = fmin(out.low[k % 3], out.x[k]);
        out.high[k % 3] = fmax(out.high[k % 3], out.x[k]);
    }
    return out;
}

static void drop(surface *of) {
    free(of->x);
    free(of->corner);
}

/* How much of the sphere around p a triangle hides: tan(Ω/2) = a·(b × c)/(1 + a·b + b·c + c·a), units. */
static double solid_angle(const double *const *corner, const double *p) {
    double d[3][3], across[3];
    for (int k = 0; k < 3; k++) {
        vec_sub(d[k], corner[k], p);
        double length = vec_norm(d[k]);
        if (!(length > 0)) return 0;
        vec_scale(d[k], 1 / length, d[k]);
    }
    vec_cross(across, d[1], d[2]);
    return 2 *
           atan2(vec_dot(d[0], across), 1 + vec_dot(d[0], d[1]) + vec_dot(d[1], d[2]) + vec_dot(d[2], d[0]));
}

/* How far a point within it is from the surface; 0 of one outside. */
static double depth_in(const surface *of, const double *p) {
    double angle = 0, least = INFINITY;
    for (int i = 0; i < 3; i++)
        if (p[i] < of->low[i] || p[i] > of->high[i]) return 0;
    for (int t = 0; t < of->triangles; t++) {
        const double *corner[3];
        double q[3];
        for (int k = 0; k < 3; k++) corner[k] = of->x + 3 * (size_t)of->corner[3 * t + k];
        angle += solid_angle(corner, p);
        dls_triangle_closest(corner[0], corner[1], corner[2], p, q);
        least = fmin(least, vec_distance(p, q));
    }
    return angle > 6.283185307179586 ? least : 0;
}

static void look_from(const double *const *corner, const surface *into, double spacing, dls_body_id of,
                      overlap *most) {
    double longest = 0;
    for (int k = 0; k < 3; k++) longest = fmax(longest, vec_distance(corner[k], corner[(k + 1) % 3]));
    int n = (int)fmin(ceil(longest / spacing), 100);
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= n - i; j++) {
            double weight[3] = {(double)i / n, (double)j / n, (double)(n - i - j) / n}, p[3] = {0};
            for (int k = 0; k < 3; k++) vec_along(p, p, weight[k], corner[k]);
            double depth = depth_in(into, p);
            if (!(depth > most->depth)) continue;
            most->depth = depth, most->of = of;
            vec_copy(most->at, p);
        }
}

static void look(const surface *from, const surface *into, double spacing, dls_body_id of, overlap *most) {
    for (int t = 0; t < from->triangles; t++) {
        const double *corner[3];
        for (int k = 0; k < 3; k++) corner[k] = from->x + 3 * (size_t)from->corner[3 * t + k];
        look_from(corner, into, spacing, of, most);
    }
}

overlap overlap_of(const stage *s, dls_body_id a, dls_body_id b, double spacing) {
    surface of_a = take(s, a), of_b = take(s, b);
    overlap most = {.of = a};
    look(&of_a, &of_b, spacing, a, &most);
    look(&of_b, &of_a, spacing, b, &most);
    drop(&of_a);
    drop(&of_b);
    return most;
}
