/* Meshes: no ghost normals on flat ones, distances against brute force over all triangles, sides, deep ones.
 */
#include "collide/mesh/query.h"
#include "support/foresight.h"
#include "support/pairs.h"
#include "support/scale.h"

#include <stdlib.h>

/* ---- meshes ---- */

static dls_shape mesh_shape(int vertex_count, const double *vertex, int count, const int *element) {
    dls_shape s = {.kind = DLS_MESH, .bound = INFINITY};
    dls_error error;
    dls_status status = dls_mesh_create(3, vertex_count, vertex, count, element, &s.mesh, &error);
    if (status) print_message("%s\n", error.message);
    assert_int_equal(status, DLS_OK);
    return s;
}

enum { GRID = 24 };

typedef double (*height_function)(double x, double y);

static double flat(double x, double y) { return 0 * x * y; }
static double ridge(double x, double y) { return -0.5 * fabs(x) + 0 * y; }
static double valley(double x, double y) { return 0.5 * fabs(x) + 0 * y; }
static double hills(double x, double y) { return 0.15 * sin(3 * x) * cos(2 * y); }

/* (GRID + 1)² points over [−1, 1]², moved at random within their cells where bumpy; diagonals at random. */
static dls_shape grid_shape(height_function height, double jitter, dls_random *g) {
    static double vertex[(GRID + 1) * (GRID + 1) * 3];
    static int element[GRID * GRID * 6];
    for (int i = 0; i <= GRID; i++)
        for (int j = 0; j <= GRID; j++) {
            double *v = vertex + 3 * (i * (GRID + 1) + j), h = 2.0 / GRID;
            bool inner = i > 0 && i < GRID && j > 0 && j < GRID && i != GRID / 2;
            v[0] = -1 + h * (i + (inner ? jitter * dls_random_between(g, -1, 1) : 0));
            v[1] = -1 + h * (j + (inner ? jitter * dls_random_between(g, -1, 1) : 0));
            v[2] = height(v[0], v[1]);
        }
    int *e = element;
    for (int i = 0; i < GRID; i++)
        for (int j = 0; j < GRID; j++) {
            int a = i * (GRID + 1) + j, b = a + GRID + 1, c = b + 1, d = a + 1;
            bool turned = dls_random_below(g, 2);
            int six[2][6] = {{a, b, c, a, c, d}, {a, b, d, b, c, d}};
            memcpy(e, six[turned], sizeof six[0]);
            e += 6;
        }
    return mesh_shape((GRID + 1) * (GRID + 1), vertex, 2 * GRID * GRID, element);
}

/* A closed box of twelve triangles, half edges x, y, z. */
static dls_shape solid_shape(double x, double y, double z) {
    static const int quads[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                    {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
    double vertex[24];
    int element[36];
    for (int k = 0; k < 8; k++) vec_set(vertex + 3 * k, k & 1 ? x : -x, k & 2 ? y : -y, k & 4 ? z : -z);
    for (int q = 0; q < 6; q++) {
        const int *c = quads[q];
        memcpy(element + 6 * q, (const int[]){c[0], c[1], c[2], c[0], c[2], c[3]}, 6 * sizeof(int));
    }
    return mesh_shape(8, vertex, 12, element);
}

static void frame_turn(dls_placed *mesh, dls_placed *body) {
    double R[9];
    turn(mesh, 0.4, -0.3, 0.9);
    vec_set(mesh->x, 2, -1, 0.5);
    mat_multiply(R, mesh->R, body->R);
    memcpy(body->R, R, sizeof R);
    mat_apply(body->x, mesh->R, body->x);
    vec_add(body->x, body->x, mesh->x);
}

/* ---- brute force ---- */

static void closest_on(const double *a, const double *b, const double *c, const double *p, double *q) {
    double best = INFINITY; /* the foot on the plane where inside, else the nearest point of the edges */
    const double *v[3] = {a, b, c};
    double ab[3], ac[3], n[3], d[3], foot[3];
    vec_sub(ab, b, a);
    vec_sub(ac, c, a);
    vec_cross(n, ab, ac);
    vec_scale(n, 1 / vec_norm(n), n);
    vec_sub(d, p, a);
    vec_along(foot, p, -vec_dot(d, n), n);
    bool inside = true;
    for (int k = 0; k < 3; k++) {
        double e[3], m[3], on[3];
        vec_sub(e, v[(k + 1) % 3], v[k]);
        vec_cross(m, n, e);
        vec_sub(d, p, v[k]);
        inside = inside && vec_dot(m, d) >= 0;
        vec_along(on, v[k], fmin(1, fmax(0, vec_dot(d, e) / vec_dot(e, e))), e);
        if (vec_distance(on, p) < best) {
            best = vec_distance(on, p);
            vec_copy(q, on);
        }
    }
    if (inside) vec_copy(q, foot);
}

static double brute_distance(const dls_mesh *m, const double *p) {
    double best = INFINITY;
    for (int t = 0; t < m->element_count; t++) {
        double q[3];
        closest_on(dls_mesh_corner(m, t, 0), dls_mesh_corner(m, t, 1), dls_mesh_corner(m, t, 2), p, q);
        best = fmin(best, vec_distance(p, q));
    }
    return best;
}

static void test_closest_and_walk(void **state) {
    (void)state;
    dls_random g = {3};
    for (int n = 0; n < scaled(20000, 1000); n++) {
        double v[9], p[3], q[3], r[3];
        for (int i = 0; i < 9; i++) v[i] = dls_random_normal(&g);
        for (int i = 0; i < 3; i++) p[i] = dls_random_normal(&g);
        if (n % 5 == 0) vec_along(v + 6, v, dls_random_unit(&g), (const double[]){1e-5, 0, 0}); /* a needle */
        closest_on(v, v + 3, v + 6, p, r);
        int feature = dls_triangle_closest(v, v + 3, v + 6, p, q);
        assert_true(feature >= 0 && feature < DLS_TRIANGLE_FEATURES);
        assert_true(fabs(vec_distance(p, q) - vec_distance(p, r)) < 1e-10);
    }
    dls_shape s = grid_shape(hills, 0.3, &g);
    for (int n = 0; n < scaled(300, 20); n++) {
        double low[3], high[3];
        bool seen[2 * GRID * GRID] = {false};
        for (int i = 0; i < 3; i++) {
            low[i] = dls_random_between(&g, -1.2, 1);
            high[i] = low[i] + 0.3 * dls_random_unit(&g);
        }
        dls_mesh_walk walk;
        dls_mesh_walk_begin(&walk, s.mesh, low, high);
        for (int t; (t = dls_mesh_walk_next(&walk)) >= 0; seen[t] = true) assert_false(seen[t]);
        for (int t = 0; t < s.mesh->element_count; t++) {
            bool meets = true;
            for (int i = 0; i < 3; i++) {
                double x = dls_mesh_corner(s.mesh, t, 0)[i], y = dls_mesh_corner(s.mesh, t, 1)[i],
                       z = dls_mesh_corner(s.mesh, t, 2)[i];
                meets = meets && fmin(x, fmin(y, z)) <= high[i] && fmax(x, fmax(y, z)) >= low[i];
            }
            assert_true(meets == seen[t]);
        }
    }
    dls_mesh_destroy(s.mesh);
}

/* ---- spheres ---- */

/* On a flat mesh there is one contact with the one normal, wherever the sphere is, on vertices and edges too.
 */
static void test_sphere_flat(void **state) {
    (void)state;
    dls_random g = {11};
    dls_shape floor = grid_shape(flat, 0.3, &g), ball = {.kind = DLS_SPHERE, .radius = 0.1, .bound = 0.1};
    int ghosts = 0, count = scaled(20000, 500);
    for (int n = 0; n < count; n++) {
        dls_placed a = placed_at(&ball, dls_random_between(&g, -0.9, 0.9), dls_random_between(&g, -0.9, 0.9),
                                 dls_random_between(&g, -0.05, 0.12)),
                   b = placed_at(&floor, 0, 0, 0);
        double height = a.x[2];
        if (n % 4 == 0) { /* over a vertex or an edge exactly */
            const int *e =
                floor.mesh->element + 3 * dls_random_below(&g, (uint64_t)floor.mesh->element_count);
            double s = n % 8 ? 0 : dls_random_unit(&g);
            for (int i = 0; i < 2; i++)
                a.x[i] = (1 - s) * floor.mesh->vertex[3 * e[0] + i] + s * floor.mesh->vertex[3 * e[1] + i];
            if (fabs(a.x[0]) > 0.99 || fabs(a.x[1]) > 0.99) continue;
        }
        if (n % 3 == 0) frame_turn(&b, &a);
        pair_run run = {0};
        pair_step(&run, &a, &b, 0.03);
        double least = pair_least(&run.manifold, 0.03, 1e-12);
        assert_int_equal(run.manifold.count, 1);
        assert_true(fabs(least - (height - 0.1)) < 1e-12);
        ghosts += vec_dot(run.manifold.point[0].normal, b.R + 6) > -1 + 1e-12;
        pair_end(&run);
    }
    assert_int_equal(ghosts, 0);
    dls_mesh_destroy(floor.mesh);
}

static void test_sphere_hills(void **state) {
    (void)state;
    dls_random g = {12};
    height_function heights[] = {hills, ridge, valley};
    dls_shape ball = {.kind = DLS_SPHERE, .radius = 0.08, .bound = 0.08};
    for (int kind = 0; kind < 3; kind++) {
        dls_shape ground = grid_shape(heights[kind], 0.2, &g);
        for (int n = 0; n < scaled(700, 50); n++) {
            double x = n % 7 ? dls_random_between(&g, -0.8, 0.8) : 0, y = dls_random_between(&g, -0.8, 0.8);
            dls_placed a = placed_at(&ball, x, y, heights[kind](x, y) + dls_random_between(&g, 0.02, 0.15)),
                       b = placed_at(&ground, 0, 0, 0);
            double distance = brute_distance(ground.mesh, a.x) - 0.08;
            pair_run run = {0};
            pair_step(&run, &a, &b, 0.05);
            double least = pair_least(&run.manifold, 0.05, 1e-12);
            if (distance < 0.05)
                assert_true(fabs(least - distance) < 1e-12);
            else
                assert_int_equal(run.manifold.count, 0);
            if (kind == 2 && n % 7 == 0 && distance < 0.05) assert_int_equal(run.manifold.count, 2);
            for (int k = 0; k < run.manifold.count; k++)
                assert_true(brute_distance(ground.mesh, run.manifold.point[k].point_b) < 1e-12);
            pair_end(&run);
        }
        dls_mesh_destroy(ground.mesh);
    }
}

/* Centre behind the surface: pushed out to the open side; wholly behind it: free. On a closed plate the
 * nearer side wins. Past a free border nothing is sucked in. */
static void test_sphere_sides(void **state) {
    (void)state;
    dls_random g = {13};
    dls_shape floor = grid_shape(flat, 0.2, &g), plate = solid_shape(1, 1, 0.05),
              ball = {.kind = DLS_SPHERE, .radius = 0.2, .bound = 0.2};
    dls_placed on_floor = placed_at(&floor, 0, 0, 0), on_plate = placed_at(&plate, 0, 0, 0), a;
    pair_run run = {0};
    a = placed_at(&ball, 0.123, 0.07, -0.05);
    pair_step(&run, &a, &on_floor, 0.01);
    assert_int_equal(run.manifold.count, 1);
    assert_true(fabs(run.manifold.point[0].gap + 0.25) < 1e-12);
    assert_true(run.manifold.point[0].normal[2] < -1 + 1e-12);
    a.x[2] = 0;
    pair_step(&run, &a, &on_floor, 0.01);
    assert_int_equal(run.manifold.count, 1);
    assert_true(fabs(run.manifold.point[0].gap + 0.2) < 1e-12);
    a.x[2] = -0.21;
    pair_step(&run, &a, &on_floor, 0.01);
    assert_int_equal(run.manifold.count, 0);
    for (int side = -1; side <= 1; side += 2)
        for (int k = 0; k < 5; k++) {
            double z = 0.01 + 0.05 * k;
            a = placed_at(&ball, 0.3, 0.2, side * z);
            pair_step(&run, &a, &on_plate, 0.01);
            assert_int_equal(run.manifold.count, 1);
            assert_true(run.manifold.point[0].normal[2] * side < -1 + 1e-9);
            assert_true(fabs(run.manifold.point[0].gap - (z - 0.05 - 0.2)) < 1e-12);
        }
    a = placed_at(&ball, 1.15, 0.01, -0.05); /* beside the border of the open floor, centre below */
    pair_step(&run, &a, &on_floor, 0.01);
    assert_int_equal(run.manifold.count, 1);
    assert_true(run.manifold.point[0].normal[0] < -0.9);
    pair_end(&run);
    dls_mesh_destroy(floor.mesh);
    dls_mesh_destroy(plate.mesh);
}

/* ---- capsules ---- */

/* Least distance between the axis and the mesh, by golden section from many starts along the axis. */
static double brute_axis(const dls_mesh *m, const double *p, const double *q) {
    enum { STARTS = 60 };
    double best = INFINITY, d[3], x[3];
    vec_sub(d, q, p);
    int where = 0;
    for (int k = 0; k <= STARTS; k++) {
        vec_along(x, p, (double)k / STARTS, d);
        double here = brute_distance(m, x);
        if (here < best) best = here, where = k;
    }
    double low = fmax(0, (where - 1.0) / STARTS), high = fmin(1, (where + 1.0) / STARTS);
    for (int k = 0; k < 45; k++) {
        double s = low + 0.381966 * (high - low), t = high - 0.381966 * (high - low), y[3];
        vec_along(x, p, s, d);
        vec_along(y, p, t, d);
        if (brute_distance(m, x) < brute_distance(m, y))
            high = t;
        else
            low = s;
    }
    vec_along(x, p, 0.5 * (low + high), d);
    return fmin(best, brute_distance(m, x));
}

static void test_capsule(void **state) {
    (void)state;
    dls_random g = {14};
    dls_shape rod = {.kind = DLS_CAPSULE, .radius = 0.05, .length = 0.5, .bound = 0.3};
    dls_shape floor = grid_shape(flat, 0.3, &g), top = grid_shape(ridge, 0.2, &g),
              solid = solid_shape(0.3, 0.4, 0.2);
    pair_run run = {0};
    for (int n = 0; n < 200; n++) { /* lying: both ends, nothing between */
        dls_placed a = placed_at(&rod, 0.3 * dls_random_unit(&g), 0.3 * dls_random_unit(&g), 0.0499),
                   b = placed_at(&floor, 0, 0, 0);
        turn(&a, 1.5707963267948966, 0, 0);
        turn(&a, 0, 0, 6.283 * dls_random_unit(&g));
        pair_step(&run, &a, &b, 0.01);
        assert_int_equal(run.manifold.count, 2);
        assert_true(fabs(pair_least(&run.manifold, 0.01, 1e-12) + 0.0001) < 1e-9);
        for (int k = 0; k < 2; k++) assert_true(run.manifold.point[k].normal[2] < -1 + 1e-9);
    }
    dls_placed over = placed_at(&rod, 0.01, 0.02, 0.049), hill = placed_at(&top, 0, 0, 0);
    turn(&over, 0, 1.5707963267948966, 0); /* balanced across the ridge */
    pair_step(&run, &over, &hill, 0.01);
    assert_int_equal(run.manifold.count, 1);
    assert_true(fabs(run.manifold.point[0].gap + 0.001) < 1e-9 &&
                run.manifold.point[0].normal[2] < -1 + 1e-9);
    over.x[2] = -0.03; /* its axis has sunk below the ridge */
    pair_step(&run, &over, &hill, 0.01);
    assert_true(run.manifold.count > 0);
    assert_true(pair_least(&run.manifold, 0.01, 1e-12) < -0.05);
    dls_placed stuck = placed_at(&rod, 0.111, 0.07, 0.1), ground = placed_at(&floor, 0, 0, 0);
    pair_step(&run, &stuck, &ground, 0.01); /* upright, one end 0.15 below */
    assert_int_equal(run.manifold.count, 1);
    assert_true(fabs(run.manifold.point[0].gap + 0.2) < 1e-9 && run.manifold.point[0].normal[2] < -1 + 1e-9);
    dls_placed leaving = placed_at(&rod, 0.3, 0.1, 0.26), block = placed_at(&solid, 0, 0, 0);
    turn(&leaving, 0, 1.5707963267948966 - 0.02, 0); /* its end rests, over the border it rises */
    pair_step(&run, &leaving, &block, 0.02);
    assert_int_equal(run.manifold.count, 2);
    assert_true(fabs(run.manifold.point[0].gap - (0.01 - 0.25 * sin(0.02))) < 1e-9);
    assert_true(fabs(run.manifold.point[1].gap - 0.01) < 1e-9);
    assert_true(fabs(run.manifold.point[1].point_b[0] - 0.3) < 1e-9 &&
                run.manifold.point[1].normal[2] < -1 + 1e-9);
    for (int n = 0; n < scaled(2000, 100); n++) {
        dls_placed a = placed_at(&rod, 0, 0, 0), b = placed_at(&solid, 0, 0, 0);
        for (int i = 0; i < 3; i++) a.x[i] = 0.35 * dls_random_normal(&g);
        random_rotation(&g, a.R);
        double p[3], q[3];
        vec_along(p, a.x, 0.25, a.R + 6);
        vec_along(q, a.x, -0.25, a.R + 6);
        double distance = brute_axis(solid.mesh, p, q) - 0.05;
        if (distance < -0.045 || distance > 0.1) continue; /* axis through the surface: no distance */
        bool inside = fabs(p[0]) < 0.3 && fabs(p[1]) < 0.4 && fabs(p[2]) < 0.2;
        if (inside) continue;
        pair_step(&run, &a, &b, 0.1);
        assert_true(fabs(pair_least(&run.manifold, 0.1, 1e-12) - distance) < 1e-7);
    }
    pair_end(&run);
    dls_mesh_destroy(floor.mesh);
    dls_mesh_destroy(top.mesh);
    dls_mesh_destroy(solid.mesh);
}

/* ---- boxes and polyhedra ---- */

/* Resting on a flat mesh: the corners of the lower face, one normal. */
static void test_box_flat(void **state) {
    (void)state;
    dls_random g = {15};
    dls_shape floor = grid_shape(flat, 0.3, &g), box = box_shape(0.2, 0.15, 0.1);
    for (int n = 0; n < scaled(5000, 200); n++) {
        double depth = n % 5 == 0   ? 0.05 * dls_random_unit(&g)
                       : n % 5 == 1 ? -0.002
                                    : 1e-5 * dls_random_normal(&g);
        double tilt = n % 3 ? 0 : 1e-3 * dls_random_unit(&g);
        dls_placed a = placed_at(&box, dls_random_between(&g, -0.7, 0.7), dls_random_between(&g, -0.7, 0.7),
                                 0.1 - depth),
                   b = placed_at(&floor, 0, 0, 0);
        turn(&a, tilt, 0, 0);
        turn(&a, 0, 0, n % 4 ? 6.28 * dls_random_unit(&g) : 0);
        if (n % 2) frame_turn(&b, &a);
        pair_run run = {0};
        pair_step(&run, &a, &b, 0.01);
        double least = pair_least(&run.manifold, 0.01, 1e-12);
        assert_int_equal(run.manifold.count, 4);
        assert_true(fabs(least + depth + 0.15 * sin(tilt) - 0.1 * (1 - cos(tilt))) < 1e-9);
        for (int k = 0; k < run.manifold.count; k++)
            assert_true(vec_dot(run.manifold.point[k].normal, b.R + 6) < -1 + 1e-12);
        pair_end(&run);
    }
    dls_mesh_destroy(floor.mesh);
    dls_hull_destroy(box.hull);
}

/* A slide over inner edges meets no other normal and never lacks support. */
static void test_box_slide(void **state) {
    (void)state;
    dls_random g = {16};
    dls_shape floor = grid_shape(flat, 0, &g), box = box_shape(0.1, 0.1, 0.1);
    pair_run run = {0};
    int steps = scaled(20000, 1000);
    for (int n = 0; n < steps; n++) {
        dls_placed a = placed_at(&box, -0.8 + 1.6 * n / steps, 0.05,
                                 0.1 - 1e-6 + 1e-9 * dls_random_normal(&g)),
                   b = placed_at(&floor, 0, 0, 0);
        pair_step(&run, &a, &b, 1e-3);
        assert_int_equal(run.manifold.count, 4);
        pair_least(&run.manifold, 1e-3, 1e-12);
        for (int k = 0; k < 4; k++) assert_true(run.manifold.point[k].normal[2] < -1 + 1e-12);
    }
    pair_end(&run);
    dls_mesh_destroy(floor.mesh);
    dls_hull_destroy(box.hull);
}

static void test_box_features(void **state) {
    (void)state;
    dls_random g = {17};
    dls_shape top = grid_shape(ridge, 0.2, &g), dip = grid_shape(valley, 0.2, &g),
              solid = solid_shape(0.3, 0.4, 0.05), floor = grid_shape(flat, 0.3, &g),
              box = box_shape(0.1, 0.1, 0.1);
    pair_run run = {0};
    dls_placed a = placed_at(&box, 0.02, 0.01, 0.0999), b = placed_at(&top, 0, 0, 0);
    pair_step(&run, &a, &b, 1e-3); /* on the ridge: along it, upwards */
    assert_true(run.manifold.count >= 2);
    double low = INFINITY, high = -INFINITY;
    for (int k = 0; k < run.manifold.count; k++) {
        assert_true(run.manifold.point[k].normal[2] < -1 + 1e-9);
        assert_true(fabs(run.manifold.point[k].gap + 1e-4) < 1e-9);
        low = fmin(low, run.manifold.point[k].point_b[1]);
        high = fmax(high, run.manifold.point[k].point_b[1]);
    }
    assert_true(fabs(high - low - 0.2) < 1e-5);
    pair_end(&run);
    a = placed_at(&box, 0, 0.01, 0.15 - 1e-4), b = placed_at(&dip, 0, 0, 0);
    pair_step(&run, &a, &b, 1e-3); /* in the valley: both flanks carry the lower edges */
    assert_int_equal(run.manifold.count, 4);
    for (int k = 0; k < 4; k++) assert_true(fabs(run.manifold.point[k].normal[2] + 2 / sqrt(5)) < 1e-9);
    pair_end(&run);
    for (int side = -1; side <= 1; side += 2) { /* on a thin closed plate, over its border, from both sides */
        a = placed_at(&box, 0.28, 0.1, side * 0.1499), b = placed_at(&solid, 0, 0, 0);
        pair_step(&run, &a, &b, 1e-3);
        assert_true(run.manifold.count >= 4);
        for (int k = 0; k < run.manifold.count; k++) {
            assert_true(run.manifold.point[k].normal[2] * side < -1 + 1e-9);
            assert_true(fabs(run.manifold.point[k].gap + 1e-4) < 1e-9);
        }
        pair_end(&run);
    }
    a = placed_at(&box, 0.013, 0.021, -0.04), b = placed_at(&floor, 0, 0, 0); /* centre below the floor */
    pair_step(&run, &a, &b, 1e-3);
    assert_true(run.manifold.count >= 3);
    for (int k = 0; k < run.manifold.count; k++) assert_true(run.manifold.point[k].normal[2] < -1 + 1e-9);
    assert_true(fabs(pair_least(&run.manifold, 1e-3, 1e-12) + 0.14) < 1e-9);
    a.x[2] = -0.2;
    pair_step(&run, &a, &b, 1e-3);
    assert_int_equal(run.manifold.count, 0);
    pair_end(&run);
    dls_mesh_destroy(top.mesh);
    dls_mesh_destroy(dip.mesh);
    dls_mesh_destroy(solid.mesh);
    dls_mesh_destroy(floor.mesh);
    dls_hull_destroy(box.hull);
}

/* A closed mesh of a box is a box: apart, the least gaps agree; touching, both touch. */
static void test_box_twin(void **state) {
    (void)state;
    dls_random g = {18};
    dls_shape solid = solid_shape(0.3, 0.4, 0.2), twin = box_shape(0.3, 0.4, 0.2),
              box = box_shape(0.2, 0.1, 0.3);
    double ball[60];
    for (int k = 0; k < 20; k++) {
        for (int i = 0; i < 3; i++) ball[3 * k + i] = dls_random_normal(&g);
        vec_scale(ball + 3 * k, 0.3 / vec_norm(ball + 3 * k), ball + 3 * k);
    }
    dls_shape stone = polyhedron_shape(20, ball), twin_stone = twin;
    twin_stone.kind = DLS_POLYHEDRON;
    int apart = 0, overlapping = 0, shallow = 0, close = 0, count = scaled(4000, 200);
    for (int n = 0; n < count; n++) {
        dls_placed a = placed_at(n % 2 ? &stone : &box, 0, 0, 0), b = placed_at(&solid, 0, 0, 0), c = b;
        c.shape = n % 2 ? &twin_stone : &twin;
        for (int i = 0; i < 3; i++) a.x[i] = 0.45 * dls_random_normal(&g);
        random_rotation(&g, a.R);
        pair_run run = {0}, other = {0};
        pair_step(&run, &a, &b, 0.1);
        pair_step(&other, &a, &c, 0.1);
        double least = pair_least(&run.manifold, 0.1, 1e-12),
               wanted = pair_least(&other.manifold, 0.1, 1e-12);
        if (wanted > 1e-9 && isfinite(wanted)) {
            apart++;
            assert_true(fabs(least - wanted) < 1e-6);
        } else if (wanted < -1e-9) {
            overlapping++;
            assert_true(run.manifold.count > 0);
            if (wanted > -0.02) close += fabs(least - wanted) < 1e-3;
            shallow += wanted > -0.02;
        } else if (!isfinite(wanted)) {
            assert_int_equal(run.manifold.count, 0);
        }
        pair_end(&run);
        pair_end(&other);
    }
    assert_true(apart > count / 20 && overlapping > count / 10);
    assert_true(shallow > 0 && close >= 0.99 * shallow);
    dls_mesh_destroy(solid.mesh);
    dls_hull_destroy(twin.hull);
    dls_hull_destroy(box.hull);
    dls_hull_destroy(stone.hull);
}

static void test_box_foresight(void **state) {
    (void)state;
    dls_shape below = solid_shape(1, 1, 0.5), above = box_shape(1, 0.5, 0.5);
    check_foresight(&below, &above, scaled(6000, 300));
    dls_mesh_destroy(below.mesh);
    dls_hull_destroy(above.hull);
}

/* However deep the tip of a body is in a valley, both faces hold it; so do floor and wall the edge between.
 */
static void test_valley(void **state) {
    (void)state;
    const double slope = 0.5773502691896258, rise = 3 * slope, along = 0.8660254037844387; /* 30° */
    const double groove[18] = {-3, -3, rise, 0, -3, 0, 0, 3, 0, -3, 3, rise, 3, -3, rise, 3, 3, rise};
    const int faces[12] = {0, 1, 2, 0, 2, 3, 1, 4, 5, 1, 5, 2};
    const double corner[18] = {-2, -2, 0, 1, -2, 0, 1, 2, 0, -2, 2, 0, 1, -2, 2, 1, 2, 2};
    const double tip[12] = {0, 0, -0.5, 0.5, 0, 0.5, -0.3, 0.4, 0.5, -0.3, -0.4, 0.5};
    dls_shape valley = mesh_shape(6, groove, 4, faces), room = mesh_shape(6, corner, 4, faces),
              stone = polyhedron_shape(4, tip), box = box_shape(0.5, 0.5, 0.5);
    const double depths[] = {-1e-3, 1e-9, 1e-7, 1e-6, 1e-5, 1e-3, 0.1, 0.3};
    pair_run run = {0};
    for (size_t k = 0; k < sizeof depths / sizeof *depths; k++) {
        dls_placed a = placed_at(&stone, 0, 0.2, 0.5 - depths[k]), b = placed_at(&valley, 0, 0, 0);
        pair_step(&run, &a, &b, 0.05);
        double least = pair_least(&run.manifold, 0.05, 1e-12);
        bool left = false, right = false;
        for (int i = 0; i < run.manifold.count; i++) {
            left = left || run.manifold.point[i].normal[0] < -0.4;
            right = right || run.manifold.point[i].normal[0] > 0.4;
        }
        assert_true(left && right && fabs(least + along * depths[k]) < 1e-9);
    }
    for (int k = -1; k <= 1; k++) { /* off the wall, on it, in it */
        dls_placed a = placed_at(&box, 0.5 + 1e-5 * k, 0.1, 0.5 - 1e-7), b = placed_at(&room, 0, 0, 0);
        int on_floor = 0, on_wall = 0;
        pair_step(&run, &a, &b, 0.05);
        for (int i = 0; i < run.manifold.count; i++) {
            on_floor += run.manifold.point[i].normal[2] < -0.9;
            on_wall += run.manifold.point[i].normal[0] > 0.9;
        }
        assert_true(on_floor >= 4 && on_wall >= 4);
        assert_true(pair_least(&run.manifold, 0.05, 1e-12) > -1.1e-5);
    }
    pair_end(&run);
    dls_mesh_destroy(valley.mesh);
    dls_mesh_destroy(room.mesh);
    dls_hull_destroy(stone.hull);
    dls_hull_destroy(box.hull);
}

/* A box at the free border of a sheet, its centre above or below it: they touch sideways. */
static void test_border(void **state) {
    (void)state;
    const double square[12] = {-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0};
    const int faces[6] = {0, 1, 2, 0, 2, 3};
    dls_shape sheet = mesh_shape(4, square, 2, faces), box = box_shape(0.5, 0.5, 0.5);
    pair_run run = {0};
    for (int side = -1; side <= 1; side += 2)
        for (int in = -1; in <= 1; in += 2) {
            dls_placed a = placed_at(&box, 1.5 - 1e-3 * in, 0.1, 0.1 * side), b = placed_at(&sheet, 0, 0, 0);
            pair_step(&run, &a, &b, 0.05);
            assert_true(run.manifold.count > 0);
            assert_true(fabs(pair_least(&run.manifold, 0.05, 1e-12) + 1e-3 * in) < 1e-9);
            for (int i = 0; i < run.manifold.count; i++)
                assert_true(run.manifold.point[i].normal[0] < -1 + 1e-9);
        }
    pair_end(&run);
    dls_mesh_destroy(sheet.mesh);
    dls_hull_destroy(box.hull);
}

/* Under noise a sphere on a vertex, on an edge, and a box over inner edges keep their names. */
static void test_noise(void **state) {
    (void)state;
    dls_random g = {19};
    dls_shape floor = grid_shape(flat, 0, &g), ball = {.kind = DLS_SPHERE, .radius = 0.1, .bound = 0.1},
              box = box_shape(1.5 / GRID, 1.0 / GRID, 0.1), stone = box_shape(0.11, 0.13, 0.1);
    double h = 2.0 / GRID;
    const struct {
        const dls_shape *shape;
        double x, y;
    } cases[] = {{&ball, 0, 0},      {&ball, 0.5 * h, 0}, {&ball, 0.5 * h, 0.5 * h},
                 {&box, 0.5 * h, 0}, {&box, 0, 0},        {&stone, 0, 0}};
    for (size_t r = 0; r < sizeof cases / sizeof *cases; r++)
        for (int level = 0; level < 2; level++) {
            pair_run run = {0};
            int changes = 0;
            for (int n = 0; n < scaled(2000, 100); n++) {
                double noise = level ? 1e-12 : 1e-9;
                dls_placed a = placed_at(cases[r].shape, cases[r].x, cases[r].y, 0.1),
                           b = placed_at(&floor, 0, 0, 0);
                for (int i = 0; i < 3; i++) a.x[i] += noise * dls_random_normal(&g);
                turn(&a, noise * dls_random_normal(&g), noise * dls_random_normal(&g),
                     noise * dls_random_normal(&g));
                pair_step(&run, &a, &b, 1e-3);
                assert_true(run.manifold.count > 0);
                changes += n > 0 && !pair_same(&run);
            }
            if (changes) print_message("case %zu: %d changes\n", r, changes);
            assert_int_equal(changes, 0);
            pair_end(&run);
        }
    dls_mesh_destroy(floor.mesh);
    dls_hull_destroy(box.hull);
    dls_hull_destroy(stone.hull);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closest_and_walk),
        cmocka_unit_test(test_sphere_flat),
        cmocka_unit_test(test_sphere_hills),
        cmocka_unit_test(test_sphere_sides),
        cmocka_unit_test(test_capsule),
        cmocka_unit_test(test_box_flat),
        cmocka_unit_test(test_box_slide),
        cmocka_unit_test(test_box_features),
        cmocka_unit_test(test_box_twin),
        cmocka_unit_test(test_box_foresight),
        cmocka_unit_test(test_valley),
        cmocka_unit_test(test_border),
        cmocka_unit_test(test_noise),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
