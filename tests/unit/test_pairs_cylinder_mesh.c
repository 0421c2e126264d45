/* Cylinders on meshes: a flat one is a half-space, a closed box is a box, a groove pushes along its sides. */
#include "support/placed.h"
#include "support/scale.h"

#define PI 3.14159265358979323846

static const double upright[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
static const double origin[3] = {0, 0, 0};

static placed_body cylinder(double radius, double length) {
    dls_shape_def def = dls_default_shape_def(DLS_CYLINDER);
    def.radius = radius, def.length = length;
    return placed_from(&def);
}

static placed_body mesh(int point_count, const double *points, int triangle_count, const int *triangles) {
    dls_shape_def def = dls_default_shape_def(DLS_MESH);
    def.point_count = point_count, def.points = points;
    def.triangle_count = triangle_count, def.triangles = triangles;
    return placed_from(&def);
}

enum { SIDE = 13 };

/* SIDE × SIDE points over |x|, |y| ≤ 4, z = slope |y|, the diagonals of the squares in turn. */
static placed_body sheet(double slope) {
    static double points[3 * SIDE * SIDE];
    static int triangles[6 * SIDE * SIDE];
    int count = 0;
    for (int j = 0; j < SIDE; j++)
        for (int i = 0; i < SIDE; i++) {
            double x = -4 + 8.0 * i / (SIDE - 1), y = -4 + 8.0 * j / (SIDE - 1);
            vec_set(points + 3 * (i + SIDE * j), x, y, slope * fabs(y));
        }
    for (int j = 0; j + 1 < SIDE; j++)
        for (int i = 0; i + 1 < SIDE; i++) {
            int p = i + SIDE * j, turn = (i + j) % 2;
            int square[6] = {p,       p + 1, turn ? p + SIDE : p + SIDE + 1, turn ? p + 1 : p, p + SIDE + 1,
                             p + SIDE};
            memcpy(triangles + 3 * count, square, sizeof square);
            count += 2;
        }
    return mesh(SIDE * SIDE, points, count, triangles);
}

static void random_turn(dls_random *g, int k, double *R) {
    double a[3], q[4], tilt = pow(10, dls_random_between(g, -8, 0)), t = dls_random_between(g, 0, 2 * PI);
    if (k % 3 == 0) { /* any */
        placed_turn(g, R);
        return;
    }
    vec_set(a, tilt * cos(t), tilt * sin(t), 0); /* nearly upright or nearly lying */
    if (k % 3 == 2) a[0] += PI / 2;
    quat_exponential(q, a);
    quat_matrix(q, R);
}

/* On a flat mesh no normal ever leans, and the gap is that of the half-space. */
static void test_flat(void **state) {
    (void)state;
    dls_random g = {5};
    placed_body floor = sheet(0), a = cylinder(0.5, 1.2);
    placed_contacts out = {.m = {.count = 0}};
    placed_at(&floor, origin, upright);
    for (int k = 0; k < scaled(20000, 200); k++) {
        double R[9], x[3], gap = dls_random_between(&g, -0.05, 0.05);
        random_turn(&g, k, R);
        double z = R[8], reach = 0.6 * fabs(z) + 0.5 * hypot(R[2], R[5]);
        vec_set(x, dls_random_between(&g, -2, 2), dls_random_between(&g, -2, 2), reach + gap);
        placed_at(&a, x, R);
        memset(&out.memory, 0, sizeof out.memory);
        placed_collide(&a, &floor, 0.06, &out);
        placed_check(&out, 0.06);
        const dls_contact_point *c = placed_deepest(&out);
        for (int i = 0; i < out.m.count; i++)
            if (!(out.m.point[i].normal[2] < -1 + 1e-9))
                fail_msg("pose %d: normal (%g, %g, %g)", k, out.m.point[i].normal[0],
                         out.m.point[i].normal[1], out.m.point[i].normal[2]);
        if (!(fabs(c->gap - gap) < 2e-6)) fail_msg("pose %d: gap %.12g, expected %.12g", k, c->gap, gap);
        bool stands = fabs(z) > 1 - 1e-4, lies = fabs(z) < 1e-3;
        if (stands && out.m.count < 3) fail_msg("pose %d: stands on %d contacts", k, out.m.count);
        if (lies && out.m.count != 2) fail_msg("pose %d: lies on %d contacts", k, out.m.count);
    }
    placed_contacts_free(&out);
    dls_shape_release(&floor.shape);
    dls_shape_release(&a.shape);
}

/* A closed mesh of a box gives the gap and the normal of the box. */
static void test_box(void **state) {
    (void)state;
    dls_random g = {6};
    dls_shape_def def = dls_default_shape_def(DLS_BOX);
    vec_set(def.size, 2, 1.6, 1.2);
    placed_body solid = placed_from(&def), a = cylinder(0.4, 1);
    double points[24];
    for (int k = 0; k < 8; k++)
        vec_set(points + 3 * k, k & 1 ? 1 : -1, k & 2 ? 0.8 : -0.8, k & 4 ? 0.6 : -0.6);
    static const int triangles[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                      2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    placed_body shell = mesh(8, points, 12, triangles);
    placed_at(&solid, origin, upright);
    placed_at(&shell, origin, upright);
    placed_contacts on_solid = {.m = {.count = 0}}, on_shell = {.m = {.count = 0}};
    int apart = 0, over = 0;
    for (int k = 0; k < scaled(20000, 200); k++) {
        double R[9], x[3];
        placed_turn(&g, R);
        for (int i = 0; i < 3; i++) x[i] = dls_random_between(&g, -1.8, 1.8);
        placed_at(&a, x, R);
        memset(&on_solid.memory, 0, sizeof on_solid.memory);
        memset(&on_shell.memory, 0, sizeof on_shell.memory);
        placed_collide(&a, &solid, 0.5, &on_solid);
        if (on_solid.m.count == 0 || placed_deepest(&on_solid)->gap < -0.05) continue;
        placed_collide(&a, &shell, 0.5, &on_shell);
        placed_check(&on_shell, 0.5);
        const dls_contact_point *c = placed_deepest(&on_solid);
        if (on_shell.m.count == 0) fail_msg("pose %d: no contact, gap %g of the box", k, c->gap);
        const dls_contact_point *d = placed_deepest(&on_shell);
        *(c->gap > 0 ? &apart : &over) += 1;
        if (!(fabs(c->gap - d->gap) < 1e-9 &&
              (fabs(c->gap) < 1e-3 || vec_distance(c->normal, d->normal) < 1e-6)))
            fail_msg("pose %d: gap %.12g of the mesh, %.12g of the box, normals differ by %g", k, d->gap,
                     c->gap, vec_distance(c->normal, d->normal));
    }
    assert_true(apart > 20 && over > 2);
    placed_contacts_free(&on_solid);
    placed_contacts_free(&on_shell);
    dls_shape_release(&solid.shape);
    dls_shape_release(&shell.shape);
    dls_shape_release(&a.shape);
}

/* In a groove a lying cylinder has two contacts on each side and nothing pushes along the bottom edge. */
static void test_groove(void **state) {
    (void)state;
    placed_body groove = sheet(1), a = cylinder(0.5, 1.2);
    static const double along_x[9] = {0, 1, 0, 0, 0, 1, 1, 0, 0};
    double x[3] = {0.1, 0, 0.5 * sqrt(2) - 1e-5};
    placed_contacts out = {.m = {.count = 0}};
    placed_at(&groove, origin, upright);
    placed_at(&a, x, along_x);
    placed_collide(&a, &groove, 1e-3, &out);
    placed_check(&out, 1e-3);
    assert_int_equal(out.m.count, 4);
    int left = 0;
    for (int k = 0; k < 4; k++) {
        const dls_contact_point *c = &out.m.point[k];
        assert_true(fabs(c->gap + 1e-5 / sqrt(2)) < 1e-12);
        assert_true(fabs(fabs(c->normal[1]) - sqrt(0.5)) < 1e-9 && fabs(c->normal[2] + sqrt(0.5)) < 1e-9);
        left += c->normal[1] < 0;
    }
    assert_int_equal(left, 2);
    placed_contacts_free(&out);
    dls_shape_release(&groove.shape);
    dls_shape_release(&a.shape);
}

/* However deep the edge of a cap is in a valley, both faces hold it. */
static void test_valley(void **state) {
    (void)state;
    const double s = sqrt(0.5), tilted[9] = {1, 0, 0, 0, s, -s, 0, s, s}, lower = 1 / sqrt(1.25);
    const double depths[] = {-1e-3, 1e-9, 1e-7, 1e-5, 1e-3, 0.05};
    placed_body valley = sheet(0.5), a = cylinder(0.5, 1.2);
    placed_contacts out = {.m = {.count = 0}};
    placed_at(&valley, origin, upright);
    for (size_t k = 0; k < sizeof depths / sizeof *depths; k++) {
        double x[3] = {0.1, 0.1 * s, 1.1 * s - depths[k]};
        bool left = false, right = false;
        placed_at(&a, x, tilted);
        placed_collide(&a, &valley, 0.01, &out);
        placed_check(&out, 0.01);
        for (int i = 0; i < out.m.count; i++) {
            left = left || out.m.point[i].normal[1] < -0.4;
            right = right || out.m.point[i].normal[1] > 0.4;
        }
        assert_true(left && right && fabs(placed_deepest(&out)->gap + lower * depths[k]) < 1e-9);
    }
    placed_contacts_free(&out);
    dls_shape_release(&valley.shape);
    dls_shape_release(&a.shape);
}

/* Half over a cliff of a closed box: it stands on the top, no side face kicks it away. */
static void test_cliff(void **state) {
    (void)state;
    double points[24];
    for (int k = 0; k < 8; k++) vec_set(points + 3 * k, k & 1 ? 1 : -1, k & 2 ? 1 : -1, k & 4 ? 0 : -2);
    static const int triangles[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                      2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    placed_body cliff = mesh(8, points, 12, triangles), a = cylinder(0.4, 1);
    placed_contacts out = {.m = {.count = 0}};
    placed_at(&cliff, origin, upright);
    for (int k = 0; k < 40; k++) {
        double x[3] = {0.65 + 0.017 * k, 0.1, 0.5 - 1e-5};
        placed_at(&a, x, upright);
        memset(&out.memory, 0, sizeof out.memory);
        placed_collide(&a, &cliff, 1e-3, &out);
        placed_check(&out, 1e-3);
        assert_true(out.m.count >= 3);
        for (int i = 0; i < out.m.count; i++) {
            assert_true(out.m.point[i].normal[2] < -1 + 1e-9);
            assert_true(fabs(out.m.point[i].gap + 1e-5) < 1e-9);
        }
    }
    placed_contacts_free(&out);
    dls_shape_release(&cliff.shape);
    dls_shape_release(&a.shape);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flat),   cmocka_unit_test(test_box),   cmocka_unit_test(test_groove),
        cmocka_unit_test(test_valley), cmocka_unit_test(test_cliff),
    };
    return cmocka_run_group_tests_name("pairs_cylinder_mesh", tests, NULL, NULL);
}
