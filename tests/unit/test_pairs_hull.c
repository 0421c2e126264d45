/* Boxes and polyhedra against brute force over all pairs of features, and identities that do not flicker. */
#include "support/foresight.h"
#include "support/pairs.h"
#include "support/scale.h"

#include <stdlib.h>

/* ---- brute force ---- */

/* All corners in the world. */
static double *corners(const dls_placed *p) {
    const dls_hull *h = p->shape->hull;
    double *v = malloc(sizeof(double) * 3 * (size_t)h->vertex_count);
    for (int i = 0; i < h->vertex_count; i++) {
        mat_apply(v + 3 * i, p->R, h->vertex + 3 * i);
        vec_add(v + 3 * i, v + 3 * i, p->x);
    }
    return v;
}

/* Least |p + s u − q − t v| over the unit square: along each border, and inside where the foot is there. */
static double segment_distance(const double *p, const double *p1, const double *q, const double *q1) {
    double u[3], v[3], best = INFINITY;
    vec_sub(u, p1, p);
    vec_sub(v, q1, q);
    for (int border = 0; border < 4; border++) {
        const double *x = border == 0 ? p : border == 1 ? p1 : border == 2 ? q : q1;
        const double *a = border < 2 ? q : p, *e = border < 2 ? v : u;
        double d[3], foot[3];
        vec_sub(d, x, a);
        vec_along(foot, a, fmin(1, fmax(0, vec_dot(d, e) / vec_dot(e, e))), e);
        best = fmin(best, vec_distance(x, foot));
    }
    double d[3], n[3], uu = vec_dot(u, u), vv = vec_dot(v, v), uv = vec_dot(u, v), det = uu * vv - uv * uv;
    vec_sub(d, q, p);
    double s = (vec_dot(d, u) * vv - vec_dot(d, v) * uv) / det,
           t = (vec_dot(d, u) * uv - vec_dot(d, v) * uu) / det;
    if (det > 1e-14 * uu * vv && s > 0 && s < 1 && t > 0 && t < 1) {
        vec_cross(n, u, v);
        best = fmin(best, fabs(vec_dot(n, d)) / vec_norm(n));
    }
    return best;
}

/* Distance of x to a face where its foot lies in it, else infinite. */
static double face_distance(const dls_placed *h, int f, const double *x) {
    const dls_hull *hull = h->shape->hull;
    double d[3], local[3];
    vec_sub(d, x, h->x);
    mat_apply_transposed(local, h->R, d);
    const double *n = hull->face_normal + 3 * f;
    int first = hull->face_start[f], count = hull->face_start[f + 1] - first;
    for (int k = 0; k < count; k++) {
        const double *a = hull->vertex + 3 * hull->face_vertex[first + k],
                     *b = hull->vertex + 3 * hull->face_vertex[first + (k + 1) % count];
        double e[3], m[3];
        vec_sub(e, b, a);
        vec_cross(m, e, n);
        vec_sub(d, local, a);
        if (vec_dot(m, d) > 0) return INFINITY;
    }
    double height = vec_dot(n, local) - hull->face_offset[f];
    return height >= 0 ? height : (double)INFINITY;
}

static double brute_distance(const dls_placed *a, const dls_placed *b) {
    const dls_hull *ha = a->shape->hull, *hb = b->shape->hull;
    double *va = corners(a), *vb = corners(b), best = INFINITY;
    for (int f = 0; f < ha->face_count; f++)
        for (int v = 0; v < hb->vertex_count; v++) best = fmin(best, face_distance(a, f, vb + 3 * v));
    for (int f = 0; f < hb->face_count; f++)
        for (int v = 0; v < ha->vertex_count; v++) best = fmin(best, face_distance(b, f, va + 3 * v));
    for (int i = 0; i < ha->edge_count; i++)
        for (int j = 0; j < hb->edge_count; j++)
            best =
                fmin(best, segment_distance(va + 3 * ha->edge_vertex[i][0], va + 3 * ha->edge_vertex[i][1],
                                            vb + 3 * hb->edge_vertex[j][0], vb + 3 * hb->edge_vertex[j][1]));
    free(va);
    free(vb);
    return best;
}

static double along(const double *v, int count, const double *n, double sign) {
    double most = -INFINITY;
    for (int i = 0; i < count; i++) most = fmax(most, sign * vec_dot(v + 3 * i, n));
    return most;
}

/* Widest gap along n and −n over all normals of faces and products of edges. */
static double brute_axes(const dls_placed *a, const dls_placed *b) {
    const dls_placed *side[2] = {a, b};
    double *v[2] = {corners(a), corners(b)}, best = -INFINITY;
    int count[2] = {a->shape->hull->vertex_count, b->shape->hull->vertex_count};
    const dls_hull *ha = a->shape->hull, *hb = b->shape->hull;
    for (int s = 0; s < 2; s++)
        for (int f = 0; f < side[s]->shape->hull->face_count; f++) {
            double n[3];
            mat_apply(n, side[s]->R, side[s]->shape->hull->face_normal + 3 * f);
            best = fmax(best, -along(v[1 - s], count[1 - s], n, -1) - along(v[s], count[s], n, 1));
        }
    for (int i = 0; i < ha->edge_count; i++)
        for (int j = 0; j < hb->edge_count; j++) {
            double e[3], f[3], n[3];
            vec_sub(e, v[0] + 3 * ha->edge_vertex[i][1], v[0] + 3 * ha->edge_vertex[i][0]);
            vec_sub(f, v[1] + 3 * hb->edge_vertex[j][1], v[1] + 3 * hb->edge_vertex[j][0]);
            vec_cross(n, e, f);
            double length = vec_norm(n);
            if (length < 1e-6 * vec_norm(e) * vec_norm(f)) continue;
            vec_scale(n, 1 / length, n);
            best = fmax(best, -along(v[1], count[1], n, -1) - along(v[0], count[0], n, 1));
            best = fmax(best, -along(v[0], count[0], n, -1) - along(v[1], count[1], n, 1));
        }
    free(v[0]);
    free(v[1]);
    return best;
}

/* How far outside of the hull a point of the world is. */
static double outside(const dls_placed *h, const double *x) {
    double d[3], local[3], out = -INFINITY;
    vec_sub(d, x, h->x);
    mat_apply_transposed(local, h->R, d);
    for (int f = 0; f < h->shape->hull->face_count; f++)
        out = fmax(out, vec_dot(h->shape->hull->face_normal + 3 * f, local) - h->shape->hull->face_offset[f]);
    return out;
}

/* ---- random shapes ---- */

enum { SHAPES = 6 };

/* Boxes from cubes to plates and needles, a tetrahedron, a prism and points on a sphere. */
static void make_shapes(dls_shape *shape) {
    dls_random g = {77};
    double prism[36], ball[60];
    for (int k = 0; k < 12; k++)
        vec_set(prism + 3 * k, cos(k % 6 * 1.0471975511965976), sin(k % 6 * 1.0471975511965976),
                k < 6 ? -0.4 : 0.4);
    for (int k = 0; k < 20; k++) {
        for (int i = 0; i < 3; i++) ball[3 * k + i] = dls_random_normal(&g);
        vec_scale(ball + 3 * k, 0.8 / vec_norm(ball + 3 * k), ball + 3 * k);
    }
    shape[0] = box_shape(0.5, 0.5, 0.5);
    shape[1] = box_shape(1, 0.8, 0.1);
    shape[2] = box_shape(0.1, 0.15, 1.2);
    shape[3] =
        polyhedron_shape(4, (const double[]){0.7, 0, -0.3, -0.3, 0.6, -0.2, -0.4, -0.6, -0.3, 0, 0.1, 0.8});
    shape[4] = polyhedron_shape(12, prism);
    shape[5] = polyhedron_shape(20, ball);
}

static void free_shapes(dls_shape *shape) {
    for (int k = 0; k < SHAPES; k++) dls_hull_destroy(shape[k].hull);
}

static void random_pose(dls_random *g, const dls_shape *shape, double far, dls_placed *p) {
    *p = placed_at(shape, 0, 0, 0);
    for (int i = 0; i < 3; i++) p->x[i] = far * dls_random_normal(g);
    random_rotation(g, p->R);
}

/* B is moved along the line of centres until the gap along it is what is wanted: half of them overlap. */
static void random_pair(dls_random *g, const dls_shape *shape, dls_placed *a, dls_placed *b) {
    random_pose(g, &shape[dls_random_below(g, 3)], 1, a);
    if (dls_random_below(g, 2)) random_pose(g, &shape[3 + dls_random_below(g, 3)], 1, a);
    random_pose(g,
                &shape[a->shape->kind == DLS_BOX ? dls_random_below(g, SHAPES) : 3 + dls_random_below(g, 3)],
                1, b);
    if (dls_random_below(g, 4) == 0) { /* nearly or exactly aligned */
        double angle = dls_random_below(g, 2) ? 1e-3 : 0;
        memcpy(b->R, a->R, sizeof b->R);
        turn(b, angle * dls_random_normal(g), angle * dls_random_normal(g), angle * dls_random_normal(g));
    }
    double d[3], wanted = dls_random_between(g, -0.45, 0.15), *va = corners(a), *vb = corners(b);
    vec_sub(d, b->x, a->x);
    vec_scale(d, 1 / vec_norm(d), d);
    double gap =
        -along(vb, b->shape->hull->vertex_count, d, -1) - along(va, a->shape->hull->vertex_count, d, 1);
    vec_along(b->x, b->x, wanted - gap, d);
    free(va);
    free(vb);
}

static void test_against_brute_force(void **state) {
    (void)state;
    dls_shape shape[SHAPES];
    dls_random g = {1};
    make_shapes(shape);
    int separated = 0, overlapping = 0, count = scaled(10000, 200);
    for (int n = 0; n < count; n++) {
        dls_placed a, b;
        random_pair(&g, shape, &a, &b);
        double size = fmin(a.shape->hull->size, b.shape->hull->size), margin = 0.3;
        pair_run run = {0};
        pair_step(&run, &a, &b, margin);
        double least = pair_least(&run.manifold, margin, 1e-12), axes = brute_axes(&a, &b);
        if (axes > 1e-9) {
            double distance = brute_distance(&a, &b);
            separated++;
            if (distance < margin) assert_true(fabs(least - distance) < 2e-7 * size);
            if (distance > margin + 1e-6) assert_int_equal(run.manifold.count, 0);
        } else if (axes < -1e-9) {
            overlapping++;
            assert_true(least < axes + 2e-7 * size);
            assert_true(least > axes - 2e-7 * size);
        }
        for (int k = 0; k < run.manifold.count; k++) {
            assert_true(outside(&a, run.manifold.point[k].point_a) < 1e-5 * size);
            assert_true(outside(&b, run.manifold.point[k].point_b) < 1e-5 * size);
            if (axes > 0) {
                assert_true(outside(&a, run.manifold.point[k].point_a) > -1e-9);
                assert_true(outside(&b, run.manifold.point[k].point_b) > -1e-9);
            }
        }
        pair_end(&run);
    }
    assert_true(separated > count / 4 && overlapping > count / 8);
    free_shapes(shape);
}

/* Moving both moves the contacts; moving B along a face's normal changes the gap by as much; two deep ones
 * still have a contact. */
static void test_motions(void **state) {
    (void)state;
    dls_shape shape[SHAPES];
    dls_random g = {2};
    make_shapes(shape);
    for (int n = 0; n < scaled(2000, 100); n++) {
        dls_placed a, b, a2, b2;
        random_pair(&g, shape, &a, &b);
        double R[9], x[3] = {3, -2, 5}, margin = 0.3;
        random_rotation(&g, R);
        a2 = a, b2 = b;
        mat_multiply(a2.R, R, a.R);
        mat_multiply(b2.R, R, b.R);
        mat_apply(a2.x, R, a.x);
        mat_apply(b2.x, R, b.x);
        vec_add(a2.x, a2.x, x);
        vec_add(b2.x, b2.x, x);
        pair_run run = {0}, moved = {0}, other = {0};
        pair_step(&run, &a, &b, margin);
        pair_step(&moved, &a2, &b2, margin);
        double least = pair_least(&run.manifold, margin, 1e-12),
               size = fmin(a.shape->hull->size, b.shape->hull->size);
        double again = pair_least(&moved.manifold, margin, 1e-12);
        assert_true((run.manifold.count > 0) == (moved.manifold.count > 0) || fabs(least - margin) < 1e-6);
        if (isfinite(least) && isfinite(again))
            assert_true(fabs(least - again) < 2e-7 * size ||
                        (least < 0 && fabs(least - again) < 2e-7 * size));
        if (a.shape->kind == b.shape->kind) {
            pair_step(&other, &b, &a, margin);
            double back = pair_least(&other.manifold, margin, 1e-12);
            if (isfinite(least) && isfinite(back)) assert_true(fabs(least - back) < 2e-7 * size);
        }
        pair_end(&run);
        pair_end(&moved);
        pair_end(&other);
        vec_copy(b.x, a.x);
        pair_step(&run, &a, &b, 0);
        assert_true(pair_least(&run.manifold, 0, 1e-12) < 0);
        pair_end(&run);
    }
    free_shapes(shape);
}

static void test_foresight(void **state) {
    (void)state;
    dls_shape below = box_shape(1, 1, 0.5), above = box_shape(1, 0.5, 0.5);
    check_foresight(&below, &above, scaled(6000, 300));
    dls_hull_destroy(below.hull);
    dls_hull_destroy(above.hull);
}

/* ---- manifolds ---- */

static double polygon_area(const dls_manifold *m) {
    double centre[3] = {0, 0, 0}, angle[256], area = 0;
    int order[256];
    for (int k = 0; k < m->count; k++) vec_along(centre, centre, 1.0 / m->count, m->point[k].point_b);
    for (int k = 0; k < m->count; k++) {
        angle[k] = atan2(m->point[k].point_b[1] - centre[1], m->point[k].point_b[0] - centre[0]);
        int j = k;
        for (; j > 0 && angle[order[j - 1]] > angle[k]; j--) order[j] = order[j - 1];
        order[j] = k;
    }
    for (int k = 0; k < m->count; k++) {
        const double *p = m->point[order[k]].point_b, *q = m->point[order[(k + 1) % m->count]].point_b;
        area += 0.5 * (p[0] * q[1] - p[1] * q[0]);
    }
    return area;
}

static void test_octagon(void **state) {
    (void)state;
    dls_shape cube = box_shape(0.5, 0.5, 0.5), plate = box_shape(2, 2, 0.1);
    dls_placed a = placed_at(&cube, 0, 0, 0), b = placed_at(&cube, 0, 0, 1.001),
               c = placed_at(&plate, 0, 0, 0.601);
    turn(&b, 0, 0, 0.7853981633974483);
    pair_run run = {0};
    pair_step(&run, &a, &b, 0.01);
    assert_int_equal(run.manifold.count, 8);
    assert_true(fabs(pair_least(&run.manifold, 0.01, 1e-12) - 0.001) < 1e-12);
    assert_true(fabs(polygon_area(&run.manifold) - 2 * (sqrt(2) - 1)) < 1e-5);
    pair_step(&run, &a, &c, 0.01); /* all of the smaller face, whichever is the reference */
    assert_int_equal(run.manifold.count, 4);
    assert_true(fabs(polygon_area(&run.manifold) - 1) < 1e-5);
    pair_end(&run);
    dls_hull_destroy(cube.hull);
    dls_hull_destroy(plate.hull);
}

/* A prism of 70 sides on its like turned by half a side: 140 corners, area 2N a² tan(π/2N) with the apothem
 * a. */
static void test_many_sides(void **state) {
    (void)state;
    enum { N = 70 };
    const double pi = 3.141592653589793;
    double points[6 * N];
    for (int k = 0; k < 2 * N; k++)
        vec_set(points + 3 * k, cos(2 * pi * k / N), sin(2 * pi * k / N), k < N ? -0.5 : 0.5);
    dls_shape prism = polyhedron_shape(2 * N, points);
    dls_placed a = placed_at(&prism, 0, 0, 0), b = placed_at(&prism, 0, 0, 0.999);
    turn(&b, 0, 0, pi / N);
    pair_run run = {0};
    for (int step = 0; step < 3; step++) {
        pair_step(&run, &a, &b, 0.01);
        assert_int_equal(run.manifold.count, 2 * N);
        assert_true(step == 0 || pair_same(&run));
    }
    assert_true(fabs(pair_least(&run.manifold, 0.01, 1e-12) + 0.001) < 1e-12);
    double apothem = cos(pi / N);
    assert_true(fabs(polygon_area(&run.manifold) - 2 * N * apothem * apothem * tan(pi / (2 * N))) < 1e-4);
    pair_end(&run);
    dls_hull_destroy(prism.hull);
}

/* A prism of unit height with so many sides, and its outline. */
static dls_shape prism_shape(int sides, double radius, double (*outline)[2]) {
    double points[6 * 100];
    for (int k = 0; k < sides; k++) {
        outline[k][0] = radius * cos(6.283185307179586 * k / sides);
        outline[k][1] = radius * sin(6.283185307179586 * k / sides);
        vec_set(points + 6 * k, outline[k][0], outline[k][1], -0.5);
        vec_set(points + 6 * k + 3, outline[k][0], outline[k][1], 0.5);
    }
    return polyhedron_shape(2 * sides, points);
}

/* The area that two convex outlines share: one cut by every side of the other. */
static double shared_area(int n, double (*p)[2], int sides, double (*q)[2]) {
    double part[256][2], kept[256][2], area = 0;
    memcpy(part, p, sizeof *p * (size_t)n);
    for (int s = 0; s < sides; s++) {
        const double *a = q[s], *b = q[(s + 1) % sides];
        int count = 0;
        for (int k = 0; k < n; k++) {
            const double *u = part[k], *v = part[(k + 1) % n];
            double du = (b[0] - a[0]) * (u[1] - a[1]) - (b[1] - a[1]) * (u[0] - a[0]),
                   dv = (b[0] - a[0]) * (v[1] - a[1]) - (b[1] - a[1]) * (v[0] - a[0]), t = du / (du - dv);
            if (du >= 0) memcpy(kept[count++], u, sizeof *kept);
            if ((du >= 0) == (dv >= 0)) continue;
            for (int i = 0; i < 2; i++) kept[count][i] = u[i] + t * (v[i] - u[i]);
            count++;
        }
        n = count;
        memcpy(part, kept, sizeof *kept * (size_t)n);
    }
    for (int k = 0; k < n; k++)
        area += 0.5 * (part[k][0] * part[(k + 1) % n][1] - part[k][1] * part[(k + 1) % n][0]);
    return area;
}

/* Face on face, shifted and turned: contacts span all that the faces share, corners of either, whichever is
 * the reference, and of more sides than are stored. */
static void test_shared_area(void **state) {
    (void)state;
    static const int sides[] = {3, 4, 5, 31, 40, 90};
    dls_random g = {31};
    for (int n = 0; n < scaled(600, 72); n++) {
        double p[100][2], q[100][2], yaw = dls_random_between(&g, 0, 6.28);
        int lower = sides[n % 6], upper = sides[n / 6 % 6];
        dls_shape a = prism_shape(lower, dls_random_between(&g, 0.3, 1), p),
                  b = prism_shape(upper, dls_random_between(&g, 0.3, 1), q);
        dls_placed below = placed_at(&a, 0, 0, 0), above = placed_at(&b, 0, 0, 1.001);
        for (int k = 0; k < 2; k++) above.x[k] = dls_random_between(&g, -0.5, 0.5);
        turn(&above, 0, 0, yaw);
        for (int k = 0; k < upper; k++) {
            double x = q[k][0], y = q[k][1];
            q[k][0] = above.x[0] + x * cos(yaw) - y * sin(yaw);
            q[k][1] = above.x[1] + x * sin(yaw) + y * cos(yaw);
        }
        double area = shared_area(lower, p, upper, q);
        pair_run run = {0};
        pair_step(&run, &below, &above, 0.01);
        double found = run.manifold.count > 2 ? polygon_area(&run.manifold) : 0;
        if (area > 1e-3 && !(fabs(found - area) < 2e-5))
            fail_msg("%d sides on %d, pose %d: %g m² of %g", upper, lower, n, found, area);
        pair_end(&run);
        dls_hull_destroy(a.hull);
        dls_hull_destroy(b.hull);
    }
}

/* Edges side by side, apart along the diagonal: two contacts, at the ends of the common stretch. */
static void test_parallel_edges(void **state) {
    (void)state;
    dls_shape cube = box_shape(0.5, 0.5, 0.5);
    dls_placed a = placed_at(&cube, 0, 0, 0), b = placed_at(&cube, 1.003, 0.4, 1.004);
    pair_run run = {0};
    pair_step(&run, &a, &b, 0.01);
    assert_int_equal(run.manifold.count, 2);
    assert_true(fabs(pair_least(&run.manifold, 0.01, 1e-12) - 0.005) < 1e-12);
    double low = fmin(run.manifold.point[0].point_a[1], run.manifold.point[1].point_a[1]),
           high = fmax(run.manifold.point[0].point_a[1], run.manifold.point[1].point_a[1]);
    assert_true(fabs(low + 0.1) < 1e-9 && fabs(high - 0.5) < 1e-9);
    pair_end(&run);
    dls_hull_destroy(cube.hull);
}

/* ---- flicker ---- */

typedef struct resting {
    const char *name;
    double x[3], turn[3];
    bool bare; /* faces of one plane that share no area: nothing is held */
} resting;

static const resting rests[] = {
    {"exact stacking", {0, 0, 1}, {0, 0, 0}, false},
    {"tiny yaw", {0, 0, 1}, {0, 0, 1e-7}, false},
    {"yaw 45°", {0, 0, 1}, {0, 0, 0.7853981633974483}, false},
    {"half offset", {0.5, 0, 1}, {0, 0, 0}, false},
    {"half offset both ways", {0.5, 0.5, 1}, {0, 0, 0}, false},
    {"edge to edge", {1, 0, 1}, {0, 0, 0}, true},
    {"corner to corner", {1, 1, 1}, {0, 0, 0}, true},
    {"edge on face", {0, 0, 1.2071067811865475}, {0.7853981633974483, 0, 0}, false},
    {"edge on edge, crossed", {0, 0.5, 1.2071067811865475}, {0, 0.7853981633974483, 0}, false},
    {"corner on side", {0.20710678118654757, 0, 1}, {0, 0, 0.7853981633974483}, false},
    {"corner on corner", {1.2071067811865475, 0.5, 1}, {0, 0, 0.7853981633974483}, true},
};

/* Under noise no contact comes or goes. */
static void noise(dls_shape_kind kind) {
    dls_shape cube = box_shape(0.5, 0.5, 0.5);
    cube.kind = kind; /* the same hull without the ways that are made for boxes */
    int steps = scaled(2000, 200);
    for (size_t r = 0; r < sizeof rests / sizeof *rests; r++)
        for (int level = 0; level < 4; level++) {
            double size = level % 2 ? 1e-12 : 1e-9;
            dls_random g = {5 + r};
            pair_run run = {0};
            int changes = 0;
            for (int n = 0; n < steps; n++) {
                dls_placed a = placed_at(&cube, 0, 0, 0), b = placed_at(&cube, 0, 0, 0);
                turn(&b, rests[r].turn[0], rests[r].turn[1], rests[r].turn[2]);
                for (int i = 0; i < 3; i++) b.x[i] = rests[r].x[i] + size * dls_random_normal(&g);
                turn(&b, size * dls_random_normal(&g), size * dls_random_normal(&g),
                     size * dls_random_normal(&g));
                if (level >= 2) { /* not at the origin, and turned as a whole */
                    turn(&a, 0.3, 0.7, -0.2);
                    double R[9];
                    mat_multiply(R, a.R, b.R);
                    memcpy(b.R, R, sizeof R);
                    mat_apply(b.x, a.R, b.x);
                    a.x[0] += 3, b.x[0] += 3;
                }
                pair_step(&run, &a, &b, 1e-3);
                assert_true((run.manifold.count > 0) == !rests[r].bare);
                if (run.manifold.count) pair_least(&run.manifold, 1e-3, 1e-12);
                if (n > 0 && !pair_same(&run)) changes++;
            }
            if (changes) print_message("%s, noise %g: %d changes\n", rests[r].name, size, changes);
            assert_int_equal(changes, 0);
            pair_end(&run);
        }
    dls_hull_destroy(cube.hull);
}

/* ---- faces that share no area ---- */

/* Two cards lean against each other, edge on edge: n is level, whichever way the pair is turned, and whoever
 * is A. */
static void test_leaning_cards(void **state) {
    (void)state;
    dls_shape card = box_shape(0.00025, 0.03, 0.045);
    dls_random g = {8};
    for (int k = 0; k < 40; k++) {
        double angle = dls_random_between(&g, 0.1, 0.7), R[9], across[3] = {1, 0, 0};
        dls_placed a = placed_at(&card, 0, 0, 0), b = a, first, second;
        turn(&a, 0, angle, 0);
        turn(&b, 0, -angle, 0);
        double far = 0.045 * sin(angle) + 0.00025 * cos(angle);
        a.x[0] = -far, b.x[0] = far;
        random_rotation(&g, R);
        first = a, second = b;
        mat_multiply(first.R, R, a.R);
        mat_multiply(second.R, R, b.R);
        mat_apply(first.x, R, a.x);
        mat_apply(second.x, R, b.x);
        mat_apply(across, R, across);
        pair_run run = {0}, back = {0};
        pair_step(&run, &first, &second, 1e-4);
        pair_step(&back, &second, &first, 1e-4);
        assert_int_equal(run.manifold.count, 2);
        assert_int_equal(back.manifold.count, 2);
        for (int i = 0; i < 2; i++) {
            assert_true(fabs(vec_dot(run.manifold.point[i].normal, across) - 1) < 1e-12);
            assert_true(fabs(vec_dot(back.manifold.point[i].normal, across) + 1) < 1e-12);
            assert_true(fabs(run.manifold.point[i].gap) < 1e-12);
        }
        pair_end(&run);
        pair_end(&back);
    }
    dls_hull_destroy(card.hull);
}

/* A box on the corner of another, turned by 45°: an edge passes through that corner. Each corner of the
 * common area comes once, and lies on both bodies. */
static void test_twins(void **state) {
    (void)state;
    dls_shape box = box_shape(2, 2, 3);
    dls_random g = {9};
    for (int n = 0; n < 40; n++) {
        dls_placed a = placed_at(&box, 0, 0, 0), b = placed_at(&box, 2, 2, 5.95);
        double R[9];
        turn(&b, 0, 0, 0.7853981633974483);
        random_rotation(&g, R);
        for (int k = 0; k < 2 && n; k++) {
            dls_placed *p = k ? &b : &a, old = *p;
            mat_multiply(p->R, R, old.R);
            mat_apply(p->x, R, old.x);
        }
        pair_run run = {0};
        for (int step = 0; step < 3; step++) pair_step(&run, &a, &b, 1e-3);
        assert_true(run.manifold.count >= 3);
        for (int i = 0; i < run.manifold.count; i++) {
            const dls_contact_point *p = &run.manifold.point[i];
            assert_true(fabs(p->gap + 0.05) < 1e-9);
            assert_true(outside(&a, p->point_a) < 1e-9 && outside(&b, p->point_b) < 1e-9);
            for (int j = 0; j < i; j++)
                assert_true(vec_distance(p->point_a, run.manifold.point[j].point_a) > 1e-2);
        }
        pair_end(&run);
    }
    dls_hull_destroy(box.hull);
}

static void test_noise(void **state) {
    (void)state;
    noise(DLS_BOX);
    noise(DLS_POLYHEDRON);
}

/* A slow turn and slide: what has gone never comes back. */
static void slow_motion(double start, double yaw, double slide, double size) {
    enum { GONE = 4096 };
    dls_shape cube = box_shape(0.5, 0.5, 0.5);
    static uint64_t gone[GONE];
    int gone_count = 0, returns = 0, steps = scaled(200000, 5000);
    dls_random g = {9};
    pair_run run = {0};
    for (int n = 0; n < steps; n++) {
        double t = (double)n / steps;
        dls_placed a = placed_at(&cube, 0, 0, 0), b = placed_at(&cube, slide * t, 0.3 * slide * t, 0.9999);
        turn(&b, size * dls_random_normal(&g), size * dls_random_normal(&g), start + yaw * t);
        pair_step(&run, &a, &b, 1e-3);
        assert_true(run.manifold.count > 0);
        for (int k = 0; k < run.last.count; k++)
            if (!pair_has(&run.manifold, run.last.point[k].feature)) {
                assert_true(gone_count < GONE);
                gone[gone_count++] = run.last.point[k].feature;
            }
        for (int k = 0; n > 0 && k < run.manifold.count; k++) {
            if (pair_has(&run.last, run.manifold.point[k].feature)) continue;
            for (int j = 0; j < gone_count; j++) returns += gone[j] == run.manifold.point[k].feature;
        }
    }
    assert_int_equal(returns, 0);
    assert_true(gone_count > 0 || slide == 0);
    pair_end(&run);
    dls_hull_destroy(cube.hull);
}

static void test_slow_yaw(void **state) {
    (void)state;
    slow_motion(0.1, 1.2, 0.3, 0);
    slow_motion(0.1, 1.2, 0.3, 1e-9);
    slow_motion(0.1, 1.2, -0.3, 1e-9);
    slow_motion(0, 0, 0.9, 1e-9); /* corners pass over sides */
    slow_motion(0.78, 0.01, 0.9, 1e-9);
}

/* ---- walls ---- */

static void test_half_space(void **state) {
    (void)state;
    dls_shape cube = box_shape(0.5, 0.5, 0.5), ground = {.kind = DLS_HALF_SPACE, .bound = INFINITY};
    dls_placed a = placed_at(&cube, 0.3, 0.2, 0.501), b = placed_at(&ground, 0, 0, 0);
    pair_run run = {0};
    pair_step(&run, &a, &b, 0.01);
    assert_int_equal(run.manifold.count, 4);
    for (int k = 0; k < 4; k++) {
        assert_true(fabs(run.manifold.point[k].gap - 0.001) < 1e-15);
        assert_true(run.manifold.point[k].normal[2] == -1);
        assert_true(fabs(run.manifold.point[k].point_b[2]) < 1e-15);
    }
    turn(&a, 0.7853981633974483, 0, 0);
    a.x[2] = sqrt(0.5) - 0.002;
    pair_step(&run, &a, &b, 0.01);
    assert_int_equal(run.manifold.count, 2);
    assert_true(fabs(pair_least(&run.manifold, 0.01, 1e-12) + 0.002) < 1e-12);
    a.x[2] = -4;
    pair_step(&run, &a, &b, 0.01);
    assert_int_equal(run.manifold.count, 8);
    pair_end(&run);
    dls_hull_destroy(cube.hull);
}

/* Least gap to the wall over points all over the body. */
static double sampled_wall(dls_random *g, const dls_placed *a, const dls_placed *b) {
    double least = INFINITY;
    for (int n = 0; n < 400; n++) {
        double p[3], d[3], q[3];
        for (int i = 0; i < 3; i++)
            p[i] = a->shape->size[i] * (n < 8 ? (n >> i & 1 ? 1 : -1) : dls_random_between(g, -1, 1));
        mat_apply(d, a->R, p);
        vec_add(d, d, a->x);
        vec_sub(d, d, b->x);
        mat_apply_transposed(q, b->R, d);
        if (b->shape->kind == DLS_BOX_INSIDE) {
            for (int i = 0; i < 3; i++) least = fmin(least, b->shape->size[i] - fabs(q[i]));
        } else {
            least = fmin(least, b->shape->radius - hypot(q[0], q[1]));
            if (b->shape->length > 0) least = fmin(least, b->shape->length / 2 - fabs(q[2]));
        }
    }
    return least;
}

static void test_insides(void **state) {
    (void)state;
    dls_shape box = box_shape(0.3, 0.2, 0.4);
    dls_shape inside[3] = {{.kind = DLS_BOX_INSIDE, .size = {1, 1.2, 0.9}, .bound = INFINITY},
                           {.kind = DLS_CYLINDER_INSIDE, .radius = 1, .length = 2.2, .bound = INFINITY},
                           {.kind = DLS_CYLINDER_INSIDE, .radius = 1, .length = 0, .bound = INFINITY}};
    dls_random g = {4};
    for (int n = 0; n < scaled(3000, 100); n++) {
        dls_placed a, b;
        random_pose(&g, &box, 0.4, &a);
        random_pose(&g, &inside[n % 3], 0.1, &b);
        pair_run run = {0};
        pair_step(&run, &a, &b, 10);
        double least = pair_least(&run.manifold, 10, 1e-12);
        assert_true(fabs(least - sampled_wall(&g, &a, &b)) < 1e-12);
        for (int k = 0; k < run.manifold.count; k++) {
            double d[3], q[3];
            vec_sub(d, run.manifold.point[k].point_b, b.x);
            mat_apply_transposed(q, b.R, d);
            double wall =
                b.shape->kind == DLS_BOX_INSIDE
                    ? fmin(fabs(b.shape->size[0] - fabs(q[0])),
                           fmin(fabs(b.shape->size[1] - fabs(q[1])), fabs(b.shape->size[2] - fabs(q[2]))))
                    : fmin(fabs(1 - hypot(q[0], q[1])), fabs(b.shape->length / 2 - fabs(q[2])));
            assert_true(wall < 1e-12);
        }
        pair_end(&run);
    }
    dls_placed a = placed_at(&box, 0, 0, 0), b = placed_at(&inside[2], 0, 0, 0); /* corners on the axis */
    vec_set(a.x, 0.3, 0.2, 0);
    pair_run run = {0};
    pair_step(&run, &a, &b, 10);
    assert_int_equal(run.manifold.count, 8);
    pair_least(&run.manifold, 10, 1e-12);
    pair_end(&run);
    dls_hull_destroy(box.hull);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_brute_force),
        cmocka_unit_test(test_motions),
        cmocka_unit_test(test_foresight),
        cmocka_unit_test(test_octagon),
        cmocka_unit_test(test_many_sides),
        cmocka_unit_test(test_shared_area),
        cmocka_unit_test(test_parallel_edges),
        cmocka_unit_test(test_leaning_cards),
        cmocka_unit_test(test_twins),
        cmocka_unit_test(test_noise),
        cmocka_unit_test(test_slow_yaw),
        cmocka_unit_test(test_half_space),
        cmocka_unit_test(test_insides),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
