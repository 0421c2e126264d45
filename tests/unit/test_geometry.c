/* Hulls, meshes, chains and their trees: topology against brute force, degenerate sets, refusals. */
#include "base/random.h"
#include "base/vector.h"
#include "support/allocator.h"
#include "support/scale.h"
#include "support/test.h"
#include "world/shape/shape.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

static dls_hull *make_hull(int dimension, int count, const double *points) {
    dls_hull *hull;
    dls_error error;
    if (dls_hull_create(dimension, count, points, &hull, &error)) fail_msg("%s", error.message);
    return hull;
}

/* ---- what every polyhedron must be ---- */

static void check_edges(const dls_hull *h) {
    for (int e = 0; e < h->edge_count; e++)
        for (int side = 0; side < 2; side++) { /* found in that face, run in that sense */
            int f = h->edge_face[e][side], first = h->face_start[f], n = h->face_start[f + 1] - first,
                found = 0;
            for (int k = 0; k < n; k++) {
                int a = h->face_vertex[first + k], b = h->face_vertex[first + (k + 1) % n];
                if (a != h->edge_vertex[e][side] || b != h->edge_vertex[e][1 - side]) continue;
                assert_int_equal(h->face_edge[first + k], e);
                found++;
            }
            assert_int_equal(found, 1);
        }
}

static void check_vertices(const dls_hull *h, int count, const double *points) {
    for (int v = 0; v < h->vertex_count; v++) {
        int around = 0, same = 0;
        for (int k = 0; k < h->face_start[h->face_count]; k++) around += h->face_vertex[k] == v;
        assert_int_equal(h->vertex_start[v + 1] - h->vertex_start[v], around);
        assert_true(around >= 3);
        for (int k = h->vertex_start[v]; k < h->vertex_start[v + 1]; k++) {
            bool found = false;
            int f = h->vertex_face[k];
            for (int i = h->face_start[f]; i < h->face_start[f + 1]; i++) found |= h->face_vertex[i] == v;
            assert_true(found);
        }
        for (int k = 0; k < count; k++)
            same += !memcmp(points + 3 * k, h->vertex + 3 * v, 3 * sizeof(double));
        assert_true(same >= 1);
    }
}

static void check_faces(const dls_hull *h, int count, const double *points) {
    for (int f = 0; f < h->face_count; f++) {
        const double *n = h->face_normal + 3 * f;
        assert_true(fabs(vec_norm(n) - 1) < 1e-14);
        for (int k = 0; k < count; k++)
            assert_true(vec_dot(n, points + 3 * k) <= h->face_offset[f] + 1e-9 * h->size);
        assert_true(vec_dot(n, h->centre) < h->face_offset[f]);
        int first = h->face_start[f], corners = h->face_start[f + 1] - first;
        for (int k = 0; k < corners; k++) {
            const double *a = h->vertex + 3 * h->face_vertex[first + k];
            const double *b = h->vertex + 3 * h->face_vertex[first + (k + 1) % corners];
            const double *c = h->vertex + 3 * h->face_vertex[first + (k + 2) % corners];
            double u[3], v[3], w[3];
            assert_true(fabs(vec_dot(n, a) - h->face_offset[f]) < 1e-9 * h->size);
            vec_sub(u, b, a);
            vec_sub(v, c, b);
            vec_cross(w, u, v);
            assert_true(vec_dot(w, n) > 0); /* a convex corner, counter-clockwise */
        }
    }
}

static void check_hull(const dls_hull *h, int count, const double *points) {
    assert_int_equal(h->vertex_count - h->edge_count + h->face_count, 2);
    assert_int_equal(2 * h->edge_count, h->face_start[h->face_count]);
    check_edges(h);
    check_vertices(h, count, points);
    check_faces(h, count, points);
    double reach = 0;
    for (int v = 0; v < h->vertex_count; v++) reach = fmax(reach, vec_distance(h->vertex + 3 * v, h->centre));
    assert_true(fabs(h->size - 2 * reach) < 1e-12 * h->size);
}

/* ---- random points ---- */

typedef void (*point_source)(dls_random *g, int k, int count, double *x);

static void in_a_cloud(dls_random *g, int k, int count, double *x) {
    (void)k, (void)count;
    for (int i = 0; i < 3; i++) x[i] = dls_random_normal(g);
}
static void on_a_lattice(dls_random *g, int k, int count, double *x) {
    (void)k, (void)count;
    for (int i = 0; i < 3; i++) x[i] = 0.1 * (double)dls_random_below(g, 4);
}
static void on_a_ball(dls_random *g, int k, int count, double *x) {
    in_a_cloud(g, k, count, x);
    vec_scale(x, 1 / vec_norm(x), x);
}
static void on_a_prism(dls_random *g, int k, int count, double *x) {
    (void)g;
    double angle = 2 * PI * (k / 2) / (count / 2);
    vec_set(x, cos(angle), sin(angle), k % 2);
}
static void far_and_flat(dls_random *g, int k, int count, double *x) {
    in_a_cloud(g, k, count, x);
    vec_set(x, 1000 + x[0], x[1], 1e-4 * x[2]);
}
static void on_a_turned_cube(dls_random *g, int k, int count, double *x) {
    static const double q[4] = {0.5477225575051661, 0.3651483716701107, 0.1825741858350554,
                                0.7302967433402214};
    double R[9];
    (void)count;
    if (k < 8)
        for (int i = 0; i < 3; i++) x[i] = k >> i & 1;
    else
        for (int i = 0, flat = (int)dls_random_below(g, 3); i < 3; i++)
            x[i] = i == flat ? (double)dls_random_below(g, 2) : dls_random_unit(g);
    quat_matrix(q, R);
    mat_apply(x, R, x);
    vec_scale(x, 1e-3, x);
}

static void hulls_of_random_points_are_sound(void **state) {
    (void)state;
    static const point_source sources[] = {in_a_cloud, on_a_lattice, on_a_ball,
                                           on_a_prism, far_and_flat, on_a_turned_cube};
    dls_random g = {21};
    double points[3 * 300];
    for (int n = 0; n < scaled(400, 24); n++) {
        int source = n % 6, count = (source == 1 ? 60 : 8) + 2 * (int)dls_random_below(&g, 100);
        for (int k = 0; k < count; k++) sources[source](&g, k, count, points + 3 * k);
        dls_hull *h = make_hull(3, count, points);
        check_hull(h, count, points);
        if (source == 2) assert_int_equal(h->vertex_count, count);
        if (source == 3) assert_int_equal(h->face_count, count / 2 + 2);
        if (source == 5) {
            assert_int_equal(h->vertex_count, 8);
            assert_int_equal(h->face_count, 6);
            assert_true(fabs(h->volume - 1e-9) < 1e-21);
        }
        dls_hull_destroy(h);
    }
}

/* The volume of a hull is that of the points' hull whatever their order is. */
static void order_and_copies_of_points_do_not_matter(void **state) {
    (void)state;
    dls_random g = {22};
    double points[3 * 80];
    for (int n = 0; n < scaled(50, 5); n++) {
        for (int k = 0; k < 40; k++) in_a_cloud(&g, k, 40, points + 3 * k);
        dls_hull *first = make_hull(3, 40, points);
        memcpy(points + 120, points, 120 * sizeof(double));
        for (int k = 79; k > 0; k--) {
            double x[3], *other = points + 3 * dls_random_below(&g, (uint64_t)k + 1);
            vec_copy(x, other);
            memmove(other, points + 3 * k, sizeof x);
            vec_copy(points + 3 * k, x);
        }
        dls_hull *second = make_hull(3, 80, points);
        assert_int_equal(first->vertex_count, second->vertex_count);
        assert_int_equal(first->face_count, second->face_count);
        assert_true(fabs(first->volume - second->volume) < 1e-13 * first->volume);
        assert_true(vec_distance(first->centre, second->centre) < 1e-13 * first->size);
        for (int k = 0; k < 9; k++)
            assert_true(fabs(first->inertia[k] - second->inertia[k]) < 1e-13 * first->volume * first->size);
        dls_hull_destroy(first);
        dls_hull_destroy(second);
    }
}

/* Points that all but coincide, or all but lie on faces and edges of the others, by any amount. */
static void all_but_degenerate_points_have_sound_hulls(void **state) {
    (void)state;
    dls_random g = {24};
    double points[3 * 200];
    for (int n = 0; n < scaled(1500, 60); n++) {
        int count = 30 + (int)dls_random_below(&g, 150);
        double noise = pow(10, dls_random_between(&g, -16, -6));
        for (int k = 0; k < count; k++) {
            double *x = points + 3 * k, turn = 2 * PI / 24 * (double)dls_random_below(&g, 24);
            double tilt = PI / 8 * (double)dls_random_below(&g, 9);
            if (n % 4 == 0) on_a_lattice(&g, k, count, x);
            if (n % 4 == 1) vec_set(x, cos(turn), sin(turn), 0.5 * (double)dls_random_below(&g, 3));
            if (n % 4 == 2) vec_set(x, sin(tilt) * cos(turn), sin(tilt) * sin(turn), cos(tilt));
            if (n % 4 == 3) on_a_turned_cube(&g, k, count, x);
            for (int i = 0; i < 3; i++) x[i] += noise * (n % 4 == 3 ? 1e-3 : 1) * dls_random_normal(&g);
        }
        dls_hull *h = make_hull(3, count, points);
        assert_int_equal(h->vertex_count - h->edge_count + h->face_count, 2);
        check_edges(h);
        check_vertices(h, count, points);
        for (int f = 0; f < h->face_count; f++)
            for (int k = 0; k < count; k++)
                assert_true(vec_dot(h->face_normal + 3 * f, points + 3 * k) <
                            h->face_offset[f] + 2e-6 * h->size);
        dls_hull_destroy(h);
    }
}

static void the_box_is_a_hull(void **state) {
    (void)state;
    const double half[3] = {0.5, 0.1, 3};
    dls_hull *h;
    assert_int_equal(dls_hull_box(half, &h), DLS_OK);
    check_hull(h, 8, h->vertex);
    assert_int_equal(h->face_count, 6);
    for (int f = 0; f < 6; f++) {
        int axis = f / 2; /* faces in pairs: −x, +x, −y, … */
        for (int i = 0; i < 3; i++)
            assert_true(h->face_normal[3 * f + i] == (i != axis ? 0 : f % 2 ? 1 : -1));
        assert_true(h->face_offset[f] == half[axis]);
    }
    dls_hull_destroy(h);
}

/* ---- polygons ---- */

static void polygons_are_sound(void **state) {
    (void)state;
    dls_random g = {23};
    for (int n = 0; n < scaled(2000, 50); n++) {
        double points[3 * 60];
        int count = 6 + (int)dls_random_below(&g, 50);
        for (int k = 0; k < count; k++)
            for (int i = 0; i < 3; i++)
                points[3 * k + i] = i == 2  ? 0
                                    : n % 2 ? dls_random_normal(&g)
                                            : 0.1 * (double)dls_random_below(&g, 3 + (uint64_t)n % 5);
        dls_hull *h;
        dls_error error;
        if (dls_hull_create(2, count, points, &h, &error)) {
            assert_true(n % 2 == 0); /* a lattice may have all points on a line, once in a while */
            continue;
        }
        assert_int_equal(h->face_count, h->vertex_count);
        for (int k = 0; k < h->vertex_count; k++) {
            const double *a = h->vertex + 3 * k, *b = h->vertex + 3 * ((k + 1) % h->vertex_count);
            const double *c = h->vertex + 3 * ((k + 2) % h->vertex_count);
            assert_true((b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]) > 1e-12);
            const double *normal = h->face_normal + 3 * k;
            assert_true(fabs(vec_dot(normal, a) - h->face_offset[k]) < 1e-13);
            assert_true(fabs(vec_dot(normal, b) - h->face_offset[k]) < 1e-13);
            int same = 0;
            for (int i = 0; i < count; i++) {
                assert_true(vec_dot(normal, points + 3 * i) <= h->face_offset[k] + 1e-9);
                same += !memcmp(points + 3 * i, a, 3 * sizeof(double));
            }
            assert_true(same >= 1);
            int before = (k + h->vertex_count - 1) % h->vertex_count, at = h->vertex_start[k];
            assert_int_equal(h->vertex_start[k + 1] - at, 2);
            assert_int_equal(h->vertex_face[at] + h->vertex_face[at + 1], before + k);
        }
        dls_hull_destroy(h);
    }
}

/* ---- meshes ---- */

static dls_mesh *make_mesh(int dimension, int vertices, const double *vertex, int elements,
                           const int *element) {
    dls_mesh *mesh;
    dls_error error;
    if (dls_mesh_create(dimension, vertices, vertex, elements, element, &mesh, &error))
        fail_msg("%s", error.message);
    return mesh;
}

static bool shares_edge(const int *a, int k, const int *b) {
    for (int i = 0; i < 3; i++)
        if (a[k] == b[(i + 1) % 3] && a[(k + 1) % 3] == b[i]) return true;
    return false;
}

static int check_tree_node(const dls_mesh *m, int corners, int number, uint8_t *seen) {
    const dls_tree_node *node = &m->tree->node[number];
    assert_true(number >= 0 && number < m->tree->node_count);
    if (node->left >= 0) {
        for (int side = 0; side < 2; side++) {
            const dls_tree_node *child = &m->tree->node[side ? node->right : node->left];
            for (int i = 0; i < 3; i++)
                assert_true(child->low[i] >= node->low[i] && child->high[i] <= node->high[i]);
        }
        int left = check_tree_node(m, corners, node->left, seen);
        int right = check_tree_node(m, corners, node->right, seen);
        return 1 + (left > right ? left : right);
    }
    for (int k = 0; k < node->right; k++) {
        int element = m->tree->element[-1 - node->left + k];
        assert_int_equal(seen[element]++, 0);
        for (int j = 0; j < corners; j++)
            for (int i = 0; i < 3; i++) {
                double x = m->vertex[3 * m->element[corners * element + j] + i];
                assert_true(x >= node->low[i] && x <= node->high[i]);
            }
    }
    return 1;
}

static void check_tree(const dls_mesh *m, int corners) {
    uint8_t *seen = calloc((size_t)m->element_count, 1);
    int depth = check_tree_node(m, corners, 0, seen);
    for (int k = 0; k < m->element_count; k++) assert_int_equal(seen[k], 1);
    assert_true(depth <= 2 + (int)ceil(log2(m->element_count)));
    free(seen);
}

/* A wavy sheet of n × n squares, each cut in two. */
static void make_sheet(int n, double *vertex, int *triangle) {
    for (int i = 0; i <= n; i++)
        for (int j = 0; j <= n; j++)
            vec_set(vertex + 3 * (i * (n + 1) + j), i, j, sin(0.7 * i) * cos(0.9 * j));
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int a = i * (n + 1) + j, b = a + n + 1, *t = triangle + 6 * (i * n + j);
            t[0] = a, t[1] = b, t[2] = b + 1, t[3] = a, t[4] = b + 1, t[5] = a + 1;
        }
}

static void meshes_know_their_neighbours(void **state) {
    (void)state;
    enum { N = 9, VERTICES = (N + 1) * (N + 1), TRIANGLES = 2 * N * N };
    double vertex[3 * VERTICES], copies[9 * TRIANGLES];
    int triangle[3 * TRIANGLES], index[3 * TRIANGLES];
    make_sheet(N, vertex, triangle);
    for (int k = 0; k < 3 * TRIANGLES; k++) { /* the same as a file that repeats corners has it */
        vec_copy(copies + 3 * k, vertex + 3 * triangle[k]);
        index[k] = k;
    }
    for (int repeated = 0; repeated < 2; repeated++) {
        dls_mesh *m = repeated ? make_mesh(3, 3 * TRIANGLES, copies, TRIANGLES, index)
                               : make_mesh(3, VERTICES, vertex, TRIANGLES, triangle);
        int borders = 0;
        for (int t = 0; t < TRIANGLES; t++) {
            assert_true(m->normal[3 * t + 2] > 0 && fabs(vec_norm(m->normal + 3 * t) - 1) < 1e-14);
            for (int k = 0; k < 3; k++) {
                int expected = -1;
                for (int s = 0; s < TRIANGLES; s++)
                    if (s != t && shares_edge(triangle + 3 * t, k, triangle + 3 * s)) expected = s;
                assert_int_equal(m->neighbour[3 * t + k], expected);
                borders += expected < 0;
            }
        }
        assert_int_equal(borders, 4 * N);
        for (int v = 0, total = 0; v < m->vertex_count; v++) {
            for (int k = m->vertex_start[v]; k < m->vertex_start[v + 1]; k++, total++) {
                const int *t = m->element + 3 * m->vertex_element[k];
                assert_true(t[0] == v || t[1] == v || t[2] == v);
            }
            if (v == m->vertex_count - 1) assert_int_equal(total, 3 * TRIANGLES);
        }
        check_tree(m, 3);
        dls_mesh_destroy(m);
    }
}

static void where_many_triangles_meet_nobody_is_neighbour(void **state) {
    (void)state;
    const double vertex[15] = {0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0, -1, -1, 0};
    const int triangle[9] = {0, 1, 2, 1, 0, 3, 0, 1, 4};
    dls_mesh *m = make_mesh(3, 5, vertex, 3, triangle);
    for (int k = 0; k < 9; k++) assert_int_equal(m->neighbour[k], -1);
    dls_mesh_destroy(m);
}

static void chains_know_their_neighbours(void **state) {
    (void)state;
    const double points[12] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
    for (int closed = 0; closed < 2; closed++) {
        dls_shape_def def = dls_default_shape_def(DLS_CHAIN);
        def.point_count = 4, def.points = points, def.closed = closed;
        dls_shape s;
        assert_int_equal(dls_shape_create(&def, 2, &s, NULL), DLS_OK);
        const double normals[4][2] = {
            {0, 1}, {-1, 0}, {0, -1}, {1, 0}}; /* to the left: the solid is outside */
        int n = 3 + closed;
        assert_int_equal(s.mesh->element_count, n);
        for (int k = 0; k < n; k++) {
            assert_true(s.mesh->normal[3 * k] == normals[k][0] && s.mesh->normal[3 * k + 1] == normals[k][1]);
            int before = k > 0 ? k - 1 : closed ? 3 : -1, after = k < n - 1 ? k + 1 : closed ? 0 : -1;
            assert_int_equal(s.mesh->neighbour[2 * k], before);
            assert_int_equal(s.mesh->neighbour[2 * k + 1], after);
        }
        assert_true(fabs(s.bound - sqrt(2)) < 1e-15);
        check_tree(s.mesh, 2);
        dls_shape_release(&s);
    }
}

static void expect_refusal(const dls_shape_def *def, const char *message) {
    dls_shape shape;
    dls_error error;
    assert_int_not_equal(dls_shape_create(def, def->kind == DLS_CHAIN ? 2 : 3, &shape, &error), DLS_OK);
    assert_string_equal(error.message, message);
}

static void bad_meshes_are_refused(void **state) {
    (void)state;
    double points[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
    int triangles[6] = {0, 1, 2, 1, 3, 4};
    dls_shape_def def = dls_default_shape_def(DLS_MESH);
    expect_refusal(&def, "no triangles, expected at least one");
    def.triangle_count = 2;
    expect_refusal(&def, "2 triangles without indices");
    def.triangles = triangles, def.points = points, def.point_count = 4;
    expect_refusal(&def, "triangle 1 has point 4, expected 0 to 3");
    triangles[5] = -1;
    expect_refusal(&def, "triangle 1 has point -1, expected 0 to 3");
    triangles[5] = 1;
    expect_refusal(&def, "triangle 1 has no area");
    triangles[3] = 1, triangles[4] = 2, triangles[5] = 3;
    expect_refusal(&def, "triangles 0 and 1 face opposite ways, expected one side to be solid everywhere");
    triangles[4] = 3, triangles[5] = 2;
    points[9] = 0.5, points[10] = 0.5;
    expect_refusal(&def, "triangle 1 has no area");
    points[9] = NAN;
    expect_refusal(&def, "point 3 is (nan, 0.5, 0), expected finite numbers");
    def = dls_default_shape_def(DLS_CHAIN);
    def.points = points, def.point_count = 1;
    expect_refusal(&def, "open chain of 1 points, expected at least 2");
    def.point_count = 2, def.closed = true;
    expect_refusal(&def, "closed chain of 2 points, expected at least 3");
    def.closed = false;
    vec_copy(points + 3, points);
    expect_refusal(&def, "segment 0 has no length");
}

/* ---- memory ---- */

static void memory_may_run_out(void **state) {
    (void)state;
    double vertex[3 * 16], polygon[3 * 16];
    int triangle[3 * 18];
    make_sheet(3, vertex, triangle);
    memcpy(polygon, vertex, sizeof vertex);
    for (int k = 0; k < 16; k++) polygon[3 * k + 2] = 0;
    dls_shape_def def[3] = {dls_default_shape_def(DLS_MESH), dls_default_shape_def(DLS_POLYHEDRON),
                            dls_default_shape_def(DLS_POLYGON)};
    for (int k = 0; k < 3; k++) {
        def[k].points = k == 2 ? polygon : vertex, def[k].point_count = 16;
        def[k].triangles = triangle, def[k].triangle_count = 18;
        dls_status status = DLS_ERROR_MEMORY;
        int at = 0;
        while (status) {
            dls_shape shape;
            counting_begin(++at);
            status = dls_shape_create(&def[k], k == 2 ? 2 : 3, &shape, NULL);
            dls_shape_release(&shape);
            assert_int_equal(counting_end(), 0);
            assert_true(status == DLS_OK || status == DLS_ERROR_MEMORY);
        }
        assert_true(at > 3);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hulls_of_random_points_are_sound),
        cmocka_unit_test(order_and_copies_of_points_do_not_matter),
        cmocka_unit_test(all_but_degenerate_points_have_sound_hulls),
        cmocka_unit_test(the_box_is_a_hull),
        cmocka_unit_test(polygons_are_sound),
        cmocka_unit_test(meshes_know_their_neighbours),
        cmocka_unit_test(where_many_triangles_meet_nobody_is_neighbour),
        cmocka_unit_test(chains_know_their_neighbours),
        cmocka_unit_test(bad_meshes_are_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
