/* Skins do not lie in what they touch, by brute force: scenes at rest on edges, tips and unlike meshes, and
 * bodies that are thrown at each other. */
#include "base/random.h"
#include "base/vector.h"
#include "support/overlap.h"
#include "support/scale.h"
#include "support/test.h"

#include <delassus/scene.h>
#include <delassus/solid.h>

#include <math.h>
#include <string.h>

static dls_error error[1];
#define OK(call)                                                                                             \
    do {                                                                                                     \
        if (call) fail_msg("%s", error->message);                                                            \
    } while (0)

/* ---- what presses ---- */

#define BLOCK                                                                                                \
    "- {name: a, material: soft, solid: {kind: elements, form: corotational, cells: [4, 4, 2]}, "            \
    "shape: {kind: box, size: [0.3, 0.3, 0.1]}, position: [0, 0, 0.05]}\n"
#define SOFT(cells) "material: soft, solid: {kind: elements, form: corotational, cells: " cells "}, "

typedef struct pressed {
    const char *name, *bodies;
    double mu, young, until, most; /* most: m, of depth */
} pressed;

static const pressed scenes[] = {
    {"a box on its edge, along nodes",
     BLOCK "- {name: b, shape: {kind: box, size: [0.1, 0.4, 0.1]}, position: [0, 0, 0.171], "
           "rotation: [0.92387953, 0, 0.38268343, 0]}\n",
     0.6, 2e5, 0.1, 1e-7},
    {"a box on its edge, across nodes",
     BLOCK "- {name: b, shape: {kind: box, size: [0.1, 0.4, 0.1]}, position: [0.01, 0, 0.2], "
           "rotation: [0.9238, 0.02, 0.3826, 0.1]}\n",
     0.6, 2e5, 0.2, 1e-4},
    {"a tip",
     BLOCK
     "- {name: b, shape: {kind: polyhedron, points: [[0.1, 0.1, 0.1], [-0.1, -0.1, 0.1], [-0.1, 0.1, -0.1], "
     "[0.1, -0.1, -0.1]]}, position: [0.01, 0.02, 0.25], rotation: [0.95, 0.1, -0.3, 0]}\n",
     0.3, 2e5, 0.2, 6e-4},
    {"4 cells under 6, without friction",
     BLOCK
     "- {name: b, " SOFT("[6, 6, 2]") "shape: {kind: box, size: [0.3, 0.3, 0.1]}, position: [0, 0, 0.15]}\n"
                                      "- {name: plate, shape: {kind: box, size: [0.35, 0.35, 0.05]}, "
                                      "position: [0, 0, 0.225]}\n",
     0, 2e5, 0.1, 1e-5},
    {"two rods across",
     "- {name: a, " SOFT(
         "[4, 4, 6]") "shape: {kind: cylinder, radius: 0.05, length: 0.3}, position: [0, 0, 0.05], "
                      "rotation: [0.70710678, 0.70710678, 0, 0]}\n"
                      "- {name: b, " SOFT("[4, 4, 6]") "shape: {kind: cylinder, radius: 0.05, length: 0.3}, "
                                                       "position: [0, 0, 0.1505], "
                                                       "rotation: [0.63, 0.63, 0.31, 0.31]}\n",
     0.5, 2e5, 0.15, 1e-6},
    {"a block on an arch that it flattens",
     "- {name: a, material: soft, solid: {kind: elements, form: corotational, cells: [20, 2, 2], bend: pi, "
     "mass_damping: 2}, shape: {kind: box, size: [pi, 0.3, 0.1]}, supports: [{name: l, surface: x-}, {name: "
     "r, surface: x+}]}\n"
     "- {name: b, shape: {kind: box, size: [0.3, 0.2, 0.08]}, mass: 60, position: [0, 0, 1.1]}\n",
     0.7, 3e6, 0.3, 1e-7},
};

static dls_scene *read_scene(const pressed *p) {
    char text[4096];
    dls_scene *scene;
    int size = snprintf(text, sizeof text,
                        "delassus: 1\n"
                        "materials: {soft: {density: 1000, young: %g, poisson: 0.3, damping: 5e-3, mu: %g}, "
                        "default: {density: 3000, mu: %g}}\n"
                        "pairs: [{materials: [soft, default], mu: %g}]\n"
                        "time: {step: 1e-3, until: 1}\n"
                        "bodies:\n- {name: floor, motion: static, shape: {kind: half-space}}\n%s",
                        p->young, p->mu, p->mu, p->mu, p->bodies);
    assert_true(size < (int)sizeof text);
    OK(dls_scene_read_text(text, (size_t)size, p->name, ".", 0, NULL, &scene, error));
    return scene;
}

static void test_what_presses(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof scenes / sizeof *scenes; k++) {
        const pressed *p = &scenes[k];
        dls_scene *scene = read_scene(p);
        stage s = {.world = dls_scene_world(scene)};
        overlap worst = {0};
        OK(dls_scene_simulation_create(scene, &s.simulation, error));
        int steps = (int)(p->until / 1e-3 * (test_scale() < 1 ? 0.2 : 1));
        for (int step = 0; step < steps; step += 10) {
            stage_run(&s, 10);
            overlap now = overlap_of(&s, 1, 2, 0.02);
            if (now.depth > worst.depth) worst = now;
        }
        print_message("# %s: %.2e m deep, told %.2e\n", p->name, worst.depth, s.last.penetration);
        assert_true(worst.depth < p->most);
        assert_int_equal(s.uncertified, 0);
        dls_simulation_destroy(s.simulation);
        dls_scene_destroy(scene);
    }
}

/* ---- what is thrown ---- */

typedef enum thrown_kind { BOX, BALL, EGG, ROD, RING, CAPSULE, TETRA, ROOF } thrown_kind;

static dls_body_id add(stage *s, thrown_kind kind, bool soft, const double *x, const double *q,
                       const double *v, const double *w) {
    static const dls_shape_kind kinds[] = {DLS_BOX, DLS_SPHERE,  DLS_ELLIPSOID,  DLS_CYLINDER,
                                           DLS_BOX, DLS_CAPSULE, DLS_POLYHEDRON, DLS_MESH};
    static const double tetra[12] = {0.1, 0.1, 0.1, -0.1, -0.1, 0.1, -0.1, 0.1, -0.1, 0.1, -0.1, -0.1},
                        roof[18] = {-0.2, -0.3, -0.1, 0.2, -0.3, -0.1, 0, -0.3, 0.1,
                                    -0.2, 0.3,  -0.1, 0.2, 0.3,  -0.1, 0, 0.3,  0.1};
    static const int sides[24] = {0, 1, 2, 3, 5, 4, 0, 2, 5, 0, 5, 3, 1, 4, 5, 1, 5, 2, 0, 3, 4, 0, 4, 1};
    dls_body_def def = dls_default_body_def();
    dls_solid_def solid = dls_default_solid_def(DLS_SOLID_ELEMENTS);
    dls_shape_def shape = dls_default_shape_def(kinds[kind]);
    solid.corotational = true;
    solid.cells[0] = solid.cells[1] = 3, solid.cells[2] = kind == BALL ? 3 : 2;
    shape.radius = kind == CAPSULE ? 0.06 : 0.1, shape.length = 0.2;
    vec_set(shape.size, 0.2, 0.2, 0.16);
    if (kind == EGG) vec_set(shape.size, 0.12, 0.1, 0.07);
    if (kind == RING) {
        vec_set(shape.size, 0.628, 0.1, 0.05);
        solid.bend = 2 * acos(-1.0);
        solid.cells[0] = 12, solid.cells[1] = 2, solid.cells[2] = 1;
    }
    if (kind == TETRA) shape.points = tetra, shape.point_count = 4;
    if (kind == ROOF)
        shape.points = roof, shape.point_count = 6, shape.triangles = sides, shape.triangle_count = 8;
    def.motion = kind == ROOF ? DLS_STATIC : DLS_DYNAMIC;
    def.shapes = &shape, def.shape_count = 1;
    if (soft) def.solid = &solid;
    vec_copy(def.pose.x, x);
    memcpy(def.pose.q, q, sizeof def.pose.q);
    if (kind != ROOF) vec_copy(def.v, v), vec_copy(def.w, w);
    return stage_add(s, &def);
}

/* A soft body that spins at rest, and another that comes at 1 m/s, both turned as chance has it. */
static double thrown(thrown_kind a, thrown_kind b, bool soft, unsigned seed) {
    static const double none[3] = {0};
    dls_random g = {seed};
    dls_material_def material;
    double q[2][4], w[2][3], d[3], x[3], v[3], worst = 0;
    stage s = stage_open(3, 0, 0.3, 0, 0);
    OK(dls_world_material(s.world, 0, &material, error));
    material.density = 1000, material.young = 1e6, material.poisson = 0.3, material.damping = 1e-3;
    OK(dls_world_set_material(s.world, 0, &material, error));
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < 4; i++) q[k][i] = dls_random_normal(&g);
        quat_normalize(q[k]);
        for (int i = 0; i < 3; i++) w[k][i] = dls_random_normal(&g);
    }
    for (int i = 0; i < 3; i++) d[i] = dls_random_normal(&g), x[i] = 0.02 * dls_random_normal(&g);
    vec_scale(d, 1 / vec_norm(d), d);
    vec_along(x, x, b == ROOF ? 0.5 : 0.35, d);
    vec_scale(v, -1, d);
    bool turned = b == ROOF; /* which does not come */
    dls_body_id one = add(&s, a, true, turned ? x : none, q[0], turned ? v : none, w[0]),
                other = add(&s, b, soft, turned ? none : x, q[1], v, w[1]);
    dls_simulation_options o = dls_default_simulation_options();
    o.step = 1e-3;
    stage_start(&s, &o, 1e-8);
    for (int step = 0; step < (b == ROOF ? 480 : 320); step++) {
        stage_run(&s, 1);
        if (step % 4 || !s.last.contacts) continue;
        worst = fmax(worst, overlap_of(&s, one, other, 0.02).depth);
    }
    stage_close(&s);
    return worst;
}

/* Bodies of 0.2 m, elements of 3 to 7 cm: a ball on a large flat triangle that it tilts lies 2 mm in it at
 * this step. */
static void test_what_is_thrown(void **state) {
    (void)state;
    static const struct {
        thrown_kind a, b;
        bool soft;
        unsigned seed;
        double most;
    } pairs[] = {
        {BOX, BOX, true, 1003, 5e-4},      {BOX, RING, true, 1000, 1e-4},
        {BALL, ROD, true, 1004, 2e-4},     {EGG, EGG, true, 1003, 2e-4},
        {ROD, ROD, true, 1001, 2e-4},      {BOX, TETRA, false, 1001, 1e-4},
        {BALL, BALL, false, 1000, 2.5e-3}, {BALL, EGG, false, 1000, 2.5e-3},
        {ROD, CAPSULE, false, 1002, 5e-4}, {EGG, ROD, false, 1002, 2.5e-3},
        {BOX, ROOF, false, 1000, 1e-6},    {RING, BOX, false, 1003, 1e-4},
    };
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++) {
        if (test_scale() < 1 && k % 4) continue;
        double deep = thrown(pairs[k].a, pairs[k].b, pairs[k].soft, pairs[k].seed);
        print_message("# %d on %s%d: %.2e m deep\n", pairs[k].a, pairs[k].soft ? "soft " : "", pairs[k].b,
                      deep);
        assert_true(deep < pairs[k].most);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_presses),
        cmocka_unit_test(test_what_is_thrown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
