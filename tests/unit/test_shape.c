/* Shapes: masses against closed forms, quadrature and sampling; boxes, widths, insides; every refusal. */
#include "base/random.h"
#include "base/vector.h"
#include "collide/collide.h"
#include "output/export/surface.h"
#include "support/scale.h"
#include "support/test.h"
#include "world/shape/kinds.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;

static dls_shape make_shape(const dls_shape_def *def) {
    dls_shape shape;
    dls_error error;
    int dimension = dls_shape_kind_is_planar(def->kind) ? 2 : 3;
    if (dls_shape_create(def, dimension, &shape, &error)) fail_msg("%s", error.message);
    return shape;
}

/* Random numbers for a kind with mass; points is room for 20. */
static dls_shape_def random_def(dls_random *g, dls_shape_kind kind, double *points) {
    dls_shape_def def = dls_default_shape_def(kind);
    bool planar = dls_shape_kind_is_planar(kind);
    def.radius = dls_random_between(g, 0.3, 2);
    def.length = dls_random_between(g, 0.3, 2);
    for (int k = 0; k < 3; k++) {
        def.size[k] = dls_random_between(g, 0.3, 2);
        def.pose.x[k] = planar && k == 2 ? 0 : dls_random_between(g, -1, 1);
    }
    for (int k = 0; k < 4; k++) def.pose.q[k] = planar && (k == 1 || k == 2) ? 0 : dls_random_normal(g);
    def.point_count = 20;
    def.points = points;
    for (int k = 0; k < 60; k++) points[k] = planar && k % 3 == 2 ? 0 : dls_random_normal(g);
    return def;
}

/* Whether a point in the shape's frame is inside, from the definition alone. */
static bool is_inside(const dls_shape_def *def, const dls_hull *hull, const double *p) {
    double rho = hypot(p[0], p[1]), z = fabs(p[2]), s = 0;
    switch (def->kind) {
    case DLS_DISC:
        return rho <= def->radius;
    case DLS_SPHERE:
        return vec_norm(p) <= def->radius;
    case DLS_CYLINDER:
        return rho <= def->radius && z <= def->length / 2;
    case DLS_CAPSULE:
        return hypot(rho, fmax(0, z - def->length / 2)) <= def->radius;
    case DLS_BOX:
        return 2 * fabs(p[0]) <= def->size[0] && 2 * fabs(p[1]) <= def->size[1] && 2 * z <= def->size[2];
    case DLS_ELLIPSOID:
        for (int k = 0; k < 3; k++) s += p[k] * p[k] / (def->size[k] * def->size[k]);
        return s <= 1;
    default:
        for (int f = 0; f < hull->face_count; f++)
            if (vec_dot(hull->face_normal + 3 * f, p) > hull->face_offset[f]) return false;
        return true;
    }
}

static const dls_shape_kind massive[] = {DLS_DISC,    DLS_POLYGON,   DLS_SPHERE,     DLS_BOX,
                                         DLS_CAPSULE, DLS_ELLIPSOID, DLS_POLYHEDRON, DLS_CYLINDER};
enum { MASSIVE = sizeof massive / sizeof *massive };

/* ---- the table ---- */

static void kinds_have_names(void **state) {
    (void)state;
    int planar = 0, obstacles = 0;
    for (int a = 0; a < DLS_SHAPE_KINDS; a++) {
        const char *name = dls_shape_kind_name((dls_shape_kind)a);
        assert_true(name && name[0]);
        for (int b = 0; b < a; b++) assert_string_not_equal(name, dls_shape_kind_name((dls_shape_kind)b));
        planar += dls_shape_kind_is_planar((dls_shape_kind)a);
        obstacles += dls_shape_kind_is_obstacle((dls_shape_kind)a);
    }
    assert_int_equal(planar, 5);
    assert_int_equal(obstacles, DLS_SHAPE_KINDS - MASSIVE - 1); /* a skin, which solids make, is none */
    for (int k = 0; k < MASSIVE; k++) assert_false(dls_shape_kind_is_obstacle(massive[k]));
    assert_string_equal(dls_shape_kind_name(DLS_CYLINDER_INSIDE), "cylinder-inside");
    assert_string_equal(dls_shape_kind_name((dls_shape_kind)99), "");
    assert_string_equal(dls_shape_kind_name((dls_shape_kind)-1), "");
}

/* Whoever adds a kind has to fill in what the rooms ask of it. */
static void kinds_have_whole_rows(void **state) {
    (void)state;
    static const double points[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    static const int corners[] = {0, 1, 2};
    for (int a = 0; a < DLS_SHAPE_KINDS; a++) {
        const dls_shape_traits *row = &dls_shape_table[a];
        bool solid = !row->obstacle;
        assert_true(row->needs && row->bound && row->box);
        assert_true(!!row->mass == solid && !!row->thickness == solid && !!row->support == solid);
        assert_true(!!row->has == solid && !(solid && row->walls));
        for (int b = 0; b < DLS_SHAPE_KINDS; b++) {
            bool meet = row->planar == dls_shape_table[b].planar && (solid || !dls_shape_table[b].obstacle);
            assert_int_equal(!!dls_pair_method((dls_shape_kind)a, (dls_shape_kind)b), meet);
        }
        dls_surface surface = {0};
        dls_shape_def def = dls_default_shape_def((dls_shape_kind)a);
        def.radius = def.length = def.size[0] = def.size[1] = def.size[2] = 1;
        def.point_count = 3, def.points = points;
        def.triangle_count = 1, def.triangles = corners;
        dls_surface_add(&surface, &def, 8, 1, points);
        assert_true(surface.cell_count > 0);
        dls_surface_free(&surface);
    }
}

/* ---- masses ---- */

static void assert_near(double value, double expected, double scale, double tolerance, const char *what) {
    if (!(fabs(value - expected) <= tolerance * scale))
        fail_msg("%s is %.17g, expected %.17g", what, value, expected);
}

/* Moments of a solid of revolution from ρ(z)², by Simpson's rule on the smooth pieces given by knots. */
static void revolve(double (*square)(const dls_shape_def *, double), const dls_shape_def *def, int knots,
                    const double *knot, double *mass, double *across, double *along) {
    *mass = *across = *along = 0;
    for (int k = 0; k + 1 < knots; k++) {
        const int n = 2000;
        double h = (knot[k + 1] - knot[k]) / n;
        for (int i = 0; i <= n; i++) {
            double z = knot[k] + h * i, s = square(def, z), w = i == 0 || i == n ? 1 : i % 2 ? 4 : 2;
            w *= h / 3 * PI;
            *mass += w * s;
            *along += w * s * s / 2;
            *across += w * (s * s / 4 + s * z * z);
        }
    }
}

static double cylinder_square(const dls_shape_def *def, double z) {
    return (void)z, def->radius * def->radius;
}
static double capsule_square(const dls_shape_def *def, double z) {
    double beyond = fmax(0, fabs(z) - def->length / 2);
    return fmax(0, def->radius * def->radius - beyond * beyond);
}
static double spheroid_square(const dls_shape_def *def, double z) {
    return def->size[0] * def->size[0] * (1 - z * z / (def->size[2] * def->size[2]));
}

static void round_masses_match_quadrature(void **state) {
    (void)state;
    dls_shape_def def = dls_default_shape_def(DLS_CAPSULE);
    def.radius = 0.7, def.length = 1.9;
    def.size[0] = def.size[1] = 0.6, def.size[2] = 1.3;
    double half = def.length / 2, end = half + def.radius;
    const double tube[] = {-half, half}, pill[] = {-end, -half, half, end}, egg[] = {-1.3, 1.3};
    const struct {
        dls_shape_kind kind;
        double (*square)(const dls_shape_def *, double);
        int knots;
        const double *knot;
    } cases[] = {{DLS_CYLINDER, cylinder_square, 2, tube},
                 {DLS_CAPSULE, capsule_square, 4, pill},
                 {DLS_ELLIPSOID, spheroid_square, 2, egg}};
    for (int k = 0; k < 3; k++) {
        double mass, centre[3], inertia[9], m, across, along;
        def.kind = cases[k].kind;
        dls_shape shape = make_shape(&def);
        dls_shape_mass(&shape, &mass, centre, inertia);
        revolve(cases[k].square, &def, cases[k].knots, cases[k].knot, &m, &across, &along);
        assert_near(mass, m, m, 1e-12, "mass");
        assert_near(inertia[0], across, across, 1e-12, "I_x");
        assert_near(inertia[4], across, across, 1e-12, "I_y");
        assert_near(inertia[8], along, along, 1e-12, "I_z");
        assert_near(vec_norm(centre), 0, 1, 0, "centre");
    }
}

static void simple_masses_have_closed_forms(void **state) {
    (void)state;
    double mass, centre[3], I[9];
    dls_shape_def def = dls_default_shape_def(DLS_SPHERE);
    def.radius = 2;
    dls_shape s = make_shape(&def);
    dls_shape_mass(&s, &mass, centre, I);
    assert_near(mass, 32 * PI / 3, mass, 1e-15, "sphere");
    assert_near(I[4], 0.4 * mass * 4, I[4], 1e-15, "sphere's I");
    def = dls_default_shape_def(DLS_DISC);
    def.radius = 3;
    s = make_shape(&def);
    dls_shape_mass(&s, &mass, centre, I);
    assert_near(mass, 9 * PI, mass, 1e-15, "disc");
    assert_near(I[8], mass * 4.5, I[8], 1e-15, "disc's I");
    assert_true(I[0] == 0 && I[4] == 0);
    def = dls_default_shape_def(DLS_BOX);
    vec_set(def.size, 1, 2, 3);
    s = make_shape(&def);
    dls_shape_mass(&s, &mass, centre, I);
    assert_near(mass, 6, 6, 1e-15, "box");
    assert_near(I[0], 6 * 13 / 12.0, I[0], 1e-15, "box's I_x");
    assert_near(I[4], 6 * 10 / 12.0, I[4], 1e-15, "box's I_y");
    assert_near(I[8], 6 * 5 / 12.0, I[8], 1e-15, "box's I_z");
    assert_near(s.hull->volume, 6, 6, 1e-15, "hull of the box");
    for (int k = 0; k < 9; k++) assert_near(s.hull->inertia[k], I[k], 7, 1e-15, "inertia of the box's hull");
    dls_shape_release(&s);
}

/* The corner of a cube: V = 1/6, centre 1/4, about it I_xx = 1/80, I_xy = 1/480. */
static void a_tetrahedron_has_its_closed_form(void **state) {
    (void)state;
    const double points[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    dls_shape_def def = dls_default_shape_def(DLS_POLYHEDRON);
    def.point_count = 4, def.points = points;
    dls_shape s = make_shape(&def);
    double mass, centre[3], I[9];
    dls_shape_mass(&s, &mass, centre, I);
    assert_near(mass, 1 / 6.0, 1, 1e-16, "volume");
    for (int i = 0; i < 3; i++) {
        assert_near(centre[i], 0.25, 1, 1e-16, "centre");
        for (int j = 0; j < 3; j++)
            assert_near(I[i + 3 * j], i == j ? 1 / 80.0 : 1 / 480.0, 1, 1e-16, "inertia");
    }
    dls_shape_release(&s);
}

/* I = m R²/2 (1 − 2/3 sin²(π/n)) */
static void regular_polygons_have_their_closed_form(void **state) {
    (void)state;
    for (int n = 3; n <= 20; n++) {
        double points[60], mass, centre[3], I[9], R = 1.7;
        for (int k = 0; k < n; k++)
            vec_set(points + 3 * k, 5 + R * cos(2 * PI * k / n), -3 + R * sin(2 * PI * k / n), 0);
        dls_shape_def def = dls_default_shape_def(DLS_POLYGON);
        def.point_count = n, def.points = points;
        dls_shape s = make_shape(&def);
        assert_int_equal(s.hull->vertex_count, n);
        dls_shape_mass(&s, &mass, centre, I);
        double area = n * R * R * sin(2 * PI / n) / 2, sine = sin(PI / n);
        assert_near(mass, area, area, 1e-14, "area");
        assert_near(I[8], area * R * R / 2 * (1 - 2.0 / 3 * sine * sine), I[8], 1e-13, "inertia");
        assert_near(centre[0], 5, 1, 1e-14, "x of the centre");
        assert_near(centre[1], -3, 1, 1e-14, "y of the centre");
        dls_shape_release(&s);
    }
}

/* Mass, centre and inertia of random shapes in random poses, from points thrown into their boxes. */
static void masses_match_sampling(void **state) {
    (void)state;
    dls_random g = {11};
    int samples = scaled(300000, 20000);
    for (int k = 0; k < MASSIVE; k++) {
        double points[60], low[3], high[3], sum[10] = {0}, mass, centre[3], I[9];
        dls_shape_def def = random_def(&g, massive[k], points);
        dls_shape s = make_shape(&def);
        bool planar = dls_shape_kind_is_planar(def.kind);
        dls_shape_box(&s, s.x, s.R, low, high);
        double volume = (high[0] - low[0]) * (high[1] - low[1]) * (planar ? 1 : high[2] - low[2]);
        dls_shape_mass(&s, &mass, centre, I);
        for (int n = 0; n < samples; n++) {
            double p[3], d[3], own[3];
            for (int i = 0; i < 3; i++) p[i] = dls_random_between(&g, low[i], high[i]);
            if (planar) p[2] = 0;
            vec_sub(d, p, s.x);
            mat_apply_transposed(own, s.R, d);
            if (!is_inside(&def, s.hull, own)) continue;
            vec_sub(d, p, centre);
            sum[0] += 1;
            for (int i = 0; i < 3; i++) sum[1 + i] += d[i];
            sum[4] += d[1] * d[1] + d[2] * d[2], sum[5] += d[0] * d[0] + d[2] * d[2];
            sum[6] += d[0] * d[0] + d[1] * d[1];
            sum[7] -= d[0] * d[1], sum[8] -= d[0] * d[2], sum[9] -= d[1] * d[2];
        }
        double unit = volume / samples, size = s.bound, tolerance = 8 / sqrt(samples);
        assert_near(unit * sum[0], mass, mass, tolerance, dls_shape_kind_name(def.kind));
        for (int i = 0; i < 3; i++)
            assert_near(unit * sum[1 + i], 0, mass * size, tolerance, dls_shape_kind_name(def.kind));
        const int place[6] = {0, 4, 8, 3, 6, 7};
        for (int i = planar ? 2 : 0; i < (planar ? 3 : 6); i++)
            assert_near(unit * sum[4 + i], I[place[i]], mass * size * size, tolerance,
                        dls_shape_kind_name(def.kind));
        dls_shape_release(&s);
    }
}

/* ---- boxes and balls ---- */

/* Points inside lie in box and ball, and some come near to each side of the box. */
static void boxes_enclose_tightly(void **state) {
    (void)state;
    dls_random g = {12};
    int samples = scaled(40000, 4000);
    for (int k = 0; k < MASSIVE; k++) {
        double points[60], low[3], high[3], nearest[6];
        dls_shape_def def = random_def(&g, massive[k], points);
        dls_shape s = make_shape(&def);
        bool planar = dls_shape_kind_is_planar(def.kind);
        dls_shape_box(&s, s.x, s.R, low, high);
        for (int i = 0; i < 6; i++) nearest[i] = INFINITY;
        for (int n = 0; n < samples; n++) { /* push a random direction to the surface */
            double d[3], from = 0, to = 2 * s.bound, p[3];
            for (int i = 0; i < 3; i++) d[i] = planar && i == 2 ? 0 : dls_random_normal(&g);
            const double *o = s.hull ? s.hull->centre : (double[3]){0, 0, 0};
            vec_scale(d, 1 / vec_norm(d), d);
            for (int i = 0; i < 60; i++) {
                double middle = (from + to) / 2;
                vec_along(p, o, middle, d);
                *(is_inside(&def, s.hull, p) ? &from : &to) = middle;
            }
            vec_along(p, o, from, d);
            assert_true(vec_norm(p) <= s.bound * (1 + 1e-12));
            mat_apply(p, s.R, p);
            vec_add(p, p, s.x);
            for (int i = 0; i < 3; i++) {
                assert_true(p[i] >= low[i] - 1e-9 && p[i] <= high[i] + 1e-9);
                nearest[i] = fmin(nearest[i], p[i] - low[i]);
                nearest[3 + i] = fmin(nearest[3 + i], high[i] - p[i]);
            }
        }
        for (int i = 0; i < 6; i++) assert_true(nearest[i] < (test_scale() < 1 ? 0.25 : 0.1) * s.bound);
        dls_shape_release(&s);
    }
}

/* The width along d is the way between the farthest points; the least of many is the thickness, but of
 * polyhedra, where the least may lie between two edges. */
static void widths_and_insides_match_sampling(void **state) {
    (void)state;
    dls_random g = {13};
    for (int k = 0; k < MASSIVE; k++) {
        const dls_shape_traits *row = &dls_shape_table[massive[k]];
        double points[60], least = INFINITY;
        dls_shape_def def = random_def(&g, massive[k], points);
        dls_shape s = make_shape(&def);
        for (int n = 0; n < 20000; n++) {
            double d[3], back[3], p[3], far[3], near[3];
            for (int i = 0; i < 3; i++) {
                d[i] = row->planar && i == 2 ? 0 : dls_random_normal(&g);
                p[i] = row->planar && i == 2 ? 0 : dls_random_between(&g, -s.bound, s.bound);
            }
            vec_scale(d, 1 / vec_norm(d), d);
            vec_scale(back, -1, d);
            row->support(&s, d, far);
            row->support(&s, back, near);
            bool inside = is_inside(&def, s.hull, p);
            assert_int_equal(row->has(&s, p), inside);
            if (inside) assert_true(vec_dot(d, p) <= vec_dot(d, far) + 1e-12);
            vec_scale(p, 1 - 1e-12, far);
            assert_true(massive[k] == DLS_POLYGON || massive[k] == DLS_POLYHEDRON || row->has(&s, p));
            least = fmin(least, vec_dot(d, far) - vec_dot(d, near));
        }
        assert_true(least >= row->thickness(&s) * (massive[k] == DLS_POLYHEDRON ? 0.5 : 1 - 1e-12));
        assert_true(least <= row->thickness(&s) * 1.1);
        dls_shape_release(&s);
    }
}

static void obstacles_have_no_bound(void **state) {
    (void)state;
    const dls_shape_kind kinds[] = {DLS_HALF_PLANE, DLS_DRUM, DLS_HALF_SPACE, DLS_CYLINDER_INSIDE,
                                    DLS_BOX_INSIDE};
    for (int k = 0; k < 5; k++) {
        dls_shape_def def = dls_default_shape_def(kinds[k]);
        def.radius = 1;
        vec_set(def.size, 1, 2, 3);
        vec_set(def.pose.x, 1, 2, 0);
        dls_shape s = make_shape(&def);
        double low[3], high[3], mass, centre[3], I[9];
        assert_true(isinf(s.bound));
        dls_shape_box(&s, s.x, s.R, low, high);
        for (int i = 0; i < 3; i++) {
            bool ends = (kinds[k] == DLS_HALF_PLANE && i == 1) || (kinds[k] == DLS_HALF_SPACE && i == 2);
            assert_true(isinf(low[i]) && (ends ? high[i] == def.pose.x[i] : isinf(high[i])));
        }
        dls_shape_mass(&s, &mass, centre, I);
        assert_true(mass == 0);
        if (kinds[k] == DLS_BOX_INSIDE) assert_true(s.size[2] == 1.5);
        dls_shape_release(&s);
    }
}

/* ---- refusals ---- */

static void expect_refusal(const dls_shape_def *def, int dimension, const char *message) {
    dls_shape shape;
    dls_error error;
    assert_int_not_equal(dls_shape_create(def, dimension, &shape, &error), DLS_OK);
    assert_string_equal(error.message, message);
    assert_null(shape.hull);
    assert_null(shape.mesh);
}

static void bad_numbers_are_refused(void **state) {
    (void)state;
    dls_shape_def def = dls_default_shape_def(DLS_SPHERE);
    expect_refusal(&def, 3, "radius is 0, expected a finite number above 0");
    def.radius = NAN;
    expect_refusal(&def, 3, "radius is nan, expected a finite number above 0");
    def.radius = INFINITY;
    expect_refusal(&def, 3, "radius is inf, expected a finite number above 0");
    def.radius = 1;
    expect_refusal(&def, 2, "a sphere is a spatial shape and this is the plane");
    def.kind = DLS_DISC;
    expect_refusal(&def, 3, "a disc is a planar shape and this is space");
    def.kind = (dls_shape_kind)77;
    expect_refusal(&def, 3, "there is no kind of shape 77");
    def.kind = DLS_CYLINDER;
    expect_refusal(&def, 3, "length is 0, expected a finite number above 0");
    def.kind = DLS_CYLINDER_INSIDE;
    def.length = -1;
    expect_refusal(&def, 3, "length is -1, expected a finite number that is not negative");
    def.kind = DLS_BOX;
    vec_set(def.size, 1, -2, 1);
    expect_refusal(&def, 3, "size is -2, expected a finite number above 0");
    def.kind = DLS_ELLIPSOID;
    vec_set(def.size, 1, 1, NAN);
    expect_refusal(&def, 3, "size is nan, expected a finite number above 0");
    def = dls_default_shape_def(DLS_BOX);
    def.size[0] = def.size[1] = def.size[2] = 1e-110; /* areas and normals of its faces vanish */
    expect_refusal(&def, 3, "a box of 1e-110 m, 1e-110 m, 1e-110 m is beyond what numbers can tell");
}

static void bad_poses_are_refused(void **state) {
    (void)state;
    dls_shape_def def = dls_default_shape_def(DLS_SPHERE);
    def.radius = 1;
    def.pose.x[1] = NAN;
    expect_refusal(&def, 3, "the shape is at (0, nan, 0), expected finite numbers");
    def.pose.x[1] = 0, def.pose.q[0] = 0;
    expect_refusal(&def, 3, "the shape has the orientation (0, 0, 0, 0), expected a quaternion of length 1");
    def.pose.q[0] = INFINITY;
    expect_refusal(&def, 3,
                   "the shape has the orientation (inf, 0, 0, 0), expected a quaternion of length 1");
    def = dls_default_shape_def(DLS_DISC);
    def.radius = 1;
    def.pose.x[2] = 0.5;
    expect_refusal(&def, 2, "the shape is at z = 0.5, expected 0 in the plane");
    def.pose.x[2] = 0, def.pose.q[1] = 0.1;
    expect_refusal(&def, 2, "the shape is turned out of the plane, expected a rotation about z");
}

static void bad_points_are_refused(void **state) {
    (void)state;
    double p[15] = {0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 0, 0};
    dls_shape_def def = dls_default_shape_def(DLS_POLYHEDRON);
    expect_refusal(&def, 3, "0 points, expected at least 4");
    def.point_count = 3;
    expect_refusal(&def, 3, "3 points without coordinates");
    def.points = p;
    expect_refusal(&def, 3, "3 points, expected at least 4");
    def.point_count = 5;
    expect_refusal(&def, 3, "the 5 points lie on a line, expected a volume");
    p[4] = 1;
    expect_refusal(&def, 3, "the 5 points lie in a plane, expected a volume");
    p[5] = 1e-12;
    expect_refusal(&def, 3, "the 5 points lie in a plane, expected a volume");
    p[5] = NAN;
    expect_refusal(&def, 3, "point 1 is (1, 1, nan), expected finite numbers");
    memset(p, 0, sizeof p);
    expect_refusal(&def, 3, "the 5 points extend over 0 m, expected a body of some size");
    def.kind = DLS_POLYGON;
    def.point_count = 2;
    expect_refusal(&def, 2, "2 points, expected at least 3");
    def.point_count = 3;
    p[3] = 1, p[6] = 2;
    expect_refusal(&def, 2, "the 3 points lie on a line, expected an area");
    p[8] = 1;
    expect_refusal(&def, 2, "point 2 has z = 1, expected 0 in the plane");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_have_names),
        cmocka_unit_test(kinds_have_whole_rows),
        cmocka_unit_test(round_masses_match_quadrature),
        cmocka_unit_test(simple_masses_have_closed_forms),
        cmocka_unit_test(a_tetrahedron_has_its_closed_form),
        cmocka_unit_test(regular_polygons_have_their_closed_form),
        cmocka_unit_test(masses_match_sampling),
        cmocka_unit_test(boxes_enclose_tightly),
        cmocka_unit_test(widths_and_insides_match_sampling),
        cmocka_unit_test(obstacles_have_no_bound),
        cmocka_unit_test(bad_numbers_are_refused),
        cmocka_unit_test(bad_poses_are_refused),
        cmocka_unit_test(bad_points_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
