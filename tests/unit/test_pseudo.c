/* Elastic laws, shapes under affine maps, and pseudo-rigid bodies: forces against differences of energies,
 * slopes against differences of forces, places and turns against differences of themselves. */
#include "base/random.h"
#include "base/small.h"
#include "base/vector.h"
#include "support/near.h"
#include "world/shape/deform.h"
#include "world/shape/kinds.h"
#include "world/solid/elastic.h"
#include "world/solid/solid.h"

#include "support/solid.h" /* its type is called as variables of the headers above are */

#include <math.h>
#include <string.h>

static dls_error error[1];
static const dls_solid_kind *const kind = &dls_solid_kind_pseudo_rigid;

/* A map near a random rotation, rows. */
static void random_map(dls_random *g, double size, double *F) {
    random_turn(g, F);
    for (int k = 0; k < 9; k++) F[k] += size * dls_random_normal(g);
}

static dls_elastic law_of(dls_elastic_law law) {
    dls_material_def m = {
        .name = "jelly", .density = 100, .young = 30, .poisson = 0.3, .law = law, .damping = 0.1};
    dls_elastic e;
    assert_int_equal(dls_elastic_of(&m, &e, error), DLS_OK);
    return e;
}

/* ---- laws ---- */

static void test_stress_and_slope(void **state) {
    (void)state;
    dls_random g = {.state = 3};
    for (int law = 0; law < DLS_ELASTIC_LAWS; law++) {
        dls_elastic e = law_of((dls_elastic_law)law);
        for (int trial = 0; trial < 20; trial++) {
            double F[9], P[9], A[81], step = 1e-6;
            random_map(&g, 0.1, F);
            dls_elastic_stress(&e, F, P);
            dls_elastic_slope(&e, F, true, A);
            for (int b = 0; b < 9; b++) {
                double at = F[b], more[9], less[9];
                F[b] = at + step;
                double up = dls_elastic_energy(&e, F);
                dls_elastic_stress(&e, F, more);
                F[b] = at - step;
                double down = dls_elastic_energy(&e, F);
                dls_elastic_stress(&e, F, less);
                F[b] = at;
                assert_near(P[b], (up - down) / (2 * step), 1e-6);
                for (int a = 0; a < 9; a++) assert_near(A[9 * a + b], (more[a] - less[a]) / (2 * step), 1e-6);
            }
        }
    }
}

/* Turns cost nothing but the linear law; without stress no slope is negative, however far it is squeezed or
 * blown up. */
static void test_laws_keep_their_promises(void **state) {
    (void)state;
    dls_random g = {.state = 5};
    for (int law = 0; law < DLS_ELASTIC_LAWS; law++) {
        dls_elastic e = law_of((dls_elastic_law)law);
        double F[9], turned[9], Q[9], A[81], one[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        random_turn(&g, Q);
        random_map(&g, 0.1, F);
        mat_multiply(turned, F, Q); /* rows: Qᵀ from the left */
        double way = dls_elastic_energy(&e, turned) - dls_elastic_energy(&e, F);
        assert_near(dls_elastic_energy(&e, one), 0, 1e-15);
        if (law == DLS_ELASTIC_LINEAR)
            assert_true(fabs(way) > 1e-2);
        else
            assert_near(way, 0, 1e-13);
        for (int trial = 0; trial < 30; trial++) {
            random_turn(&g, F);
            double size = exp(2 * dls_random_normal(&g));
            for (int k = 0; k < 9; k++) F[k] = size * (F[k] + 0.05 * dls_random_normal(&g));
            dls_elastic_slope(&e, F, false, A);
            for (int k = 0; k < 81; k++) A[k] = -A[k];
            double most = small_max_eigenvalue(9, A, 9), scale = 0;
            for (int k = 0; k < 81; k++) scale = fmax(scale, fabs(A[k]));
            assert_true(most <= 1e-12 * scale);
        }
    }
}

/* Uniaxial stress: E and ν are what comes out of small strains. */
static void test_moduli(void **state) {
    (void)state;
    for (int law = 0; law < DLS_ELASTIC_LAWS; law++) {
        dls_elastic e = law_of((dls_elastic_law)law);
        double pull = 1e-6, F[9] = {1 + pull, 0, 0, 0, 1 - 0.3 * pull, 0, 0, 0, 1 - 0.3 * pull}, P[9];
        dls_elastic_stress(&e, F, P);
        assert_near(P[0] / pull, 30, 1e-4);
        assert_near(P[4] / pull, 0, 1e-4);
    }
}

static void test_materials_are_refused(void **state) {
    (void)state;
    struct {
        dls_material_def def;
        const char *word;
    } wrong[] = {{{.young = -1}, "young"},
                 {{.young = NAN}, "young"},
                 {{.young = 1, .poisson = 0.5}, "poisson"},
                 {{.young = 1, .poisson = -1}, "poisson"},
                 {{.young = 1, .damping = -1}, "damping"},
                 {{.young = 0}, "young"},
                 {{.young = 1, .law = DLS_ELASTIC_LAWS}, "law"}};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        dls_elastic e;
        assert_int_equal(dls_elastic_of(&wrong[k].def, &e, error), DLS_ERROR_INPUT);
        if (!strstr(error->message, wrong[k].word)) fail_msg("%s", error->message);
    }
}

/* ---- shapes ---- */

/* h(n) of the image is h(Gᵀn) of the shape at rest, for all that deform. */
static void test_shapes_follow_a_map(void **state) {
    (void)state;
    const dls_shape_kind kinds[] = {DLS_SPHERE, DLS_ELLIPSOID, DLS_BOX, DLS_POLYHEDRON};
    dls_random g = {.state = 11};
    for (int trial = 0; trial < 80; trial++) {
        solid s = random_solid(&g, kinds[trial % 4], 1);
        dls_shape now = s.shape;
        double G[9], R[9], low[3], high[3], x[3] = {1, 2, 3};
        _Alignas(64) char room[8192];
        assert_true(dls_shape_can_deform(&s.shape) && dls_shape_deform_bytes(&s.shape) <= sizeof room);
        random_turn(&g, R);
        for (int k = 0; k < 9; k++) G[k] = R[k] + 0.2 * dls_random_normal(&g);
        double third[3];
        vec_cross(third, G, G + 3);
        if (vec_dot(third, G + 6) <= 0.05) {
            solid_free(&s);
            continue;
        }
        dls_shape_deform(&s.shape, G, &now, R, room);
        assert_true(mat_is_rotation(R));
        dls_shape_box(&now, x, R, low, high);
        for (int k = 0; k < 20; k++) {
            double n[3], seen[3], rest[3], p[3], at[3], image[3];
            random_unit(&g, n);
            mat_apply_transposed(seen, R, n);
            mat_apply_transposed(rest, G, n);
            dls_shape_table[now.kind].support(&now, seen, p);
            dls_shape_table[s.shape.kind].support(&s.shape, rest, at);
            mat_apply(image, G, at);
            mat_apply(p, R, p);
            assert_near(vec_dot(n, p), vec_dot(n, image), 1e-13);
            assert_true(vec_norm(p) <= now.bound * (1 + 1e-14));
            for (int i = 0; i < 3; i++)
                assert_true(x[i] + p[i] >= low[i] - 1e-13 && x[i] + p[i] <= high[i] + 1e-13);
        }
        for (int f = 0; now.kind == DLS_POLYHEDRON && f < now.hull->face_count; f++) {
            const double *n = now.hull->face_normal + 3 * f;
            assert_true(vec_is_unit(n));
            for (int v = 0; v < now.hull->vertex_count; v++)
                assert_true(vec_dot(n, now.hull->vertex + 3 * v) <= now.hull->face_offset[f] + 1e-9);
            for (int k = now.hull->face_start[f]; k < now.hull->face_start[f + 1]; k++)
                assert_near(vec_dot(n, now.hull->vertex + 3 * now.hull->face_vertex[k]),
                            now.hull->face_offset[f], 1e-9);
        }
        solid_free(&s);
    }
}

/* ---- bodies ---- */

typedef struct made {
    dls_world *world;
    const dls_solid *solid;
    dls_body_id id;
} made;

static made make(dls_elastic_law law, dls_shape_kind shape, bool retained) {
    dls_world_def world = dls_default_world_def();
    dls_material_def material = dls_default_material_def();
    dls_shape_def one = dls_default_shape_def(shape);
    dls_body_def def = dls_default_body_def();
    dls_solid_def soft = dls_default_solid_def(DLS_SOLID_PSEUDO_RIGID);
    made m;
    world.dimension = 3;
    material.name = "jelly", material.density = 50;
    material.young = 30, material.poisson = 0.3, material.law = law, material.damping = 0.1;
    assert_int_equal(dls_world_create(&world, &m.world, error), DLS_OK);
    assert_int_equal(dls_world_add_material(m.world, &material, &one.material, error), DLS_OK);
    one.size[0] = 0.4, one.size[1] = 0.3, one.size[2] = 0.5, one.radius = 0.3, one.length = 0.5;
    vec_set(one.pose.x, 0.1, 0, 0.2);
    soft.retained = retained;
    def.shapes = &one, def.shape_count = 1, def.solid = &soft;
    vec_set(def.pose.x, 1, 2, 3);
    vec_set(def.v, 1, -1, 2);
    vec_set(def.w, 0.4, 0.5, -2);
    double q[4] = {0.8, 0.2, -0.4, 0.3};
    memcpy(def.pose.q, q, sizeof q);
    quat_normalize(def.pose.q);
    if (dls_world_add_body(m.world, &def, &m.id, error)) fail_msg("%s", error->message);
    m.solid = &m.world->solids[0];
    return m;
}

static void full_matrix(const made *m, dls_solid_matrix which, const double *q, double *full) {
    double A[144] = {0};
    const dls_pattern *p = kind->pattern(m->solid->data);
    assert_true(dls_pattern_numbers(p) <= 144);
    kind->matrix(m->solid->data, which, q, 1, A);
    dls_pattern_spread(p, A, full);
}

/* Away from rest, turned. */
static void stir(made *m, double *q, double *u) {
    dls_random g = {.state = 17};
    memcpy(q, m->world->q, 12 * sizeof *q);
    memcpy(u, m->world->u, 12 * sizeof *u);
    for (int k = 0; k < 12; k++) q[k] += 0.08 * dls_random_normal(&g), u[k] += dls_random_normal(&g);
    assert_int_equal(dls_solid_state_set(m->world, m->id, q, u, error), DLS_OK);
}

static void test_forces_and_stiffness(void **state) {
    (void)state;
    for (int law = 0; law < DLS_ELASTIC_LAWS; law++) {
        made m = make((dls_elastic_law)law, DLS_BOX, false);
        double q[12], u[12], f[12] = {0}, K[144], step = 1e-6;
        stir(&m, q, u);
        kind->force(m.solid->data, q, f);
        full_matrix(&m, DLS_SOLID_STIFFNESS, q, K);
        for (int i = 0; i < 12; i++) {
            double more[12] = {0}, less[12] = {0}, at = q[i];
            q[i] = at + step;
            double up = kind->strain_energy(m.solid->data, q);
            kind->force(m.solid->data, q, more);
            q[i] = at - step;
            double down = kind->strain_energy(m.solid->data, q);
            kind->force(m.solid->data, q, less);
            q[i] = at;
            assert_near(f[i], -(up - down) / (2 * step), 1e-7);
            for (int j = 0; j < 12; j++) assert_near(K[12 * j + i], -(more[j] - less[j]) / (2 * step), 1e-7);
        }
        dls_world_destroy(m.world);
    }
}

/* As it begins: no strain, the energy of the rigid body, no damping of its spin, and the mean motion that it
 * was given. */
static void test_rigid_motion(void **state) {
    (void)state;
    made m = make(DLS_ELASTIC_KIRCHHOFF, DLS_BOX, false);
    const double *q = m.world->q, *u = m.world->u;
    double D[144], M[144], energy = 0, I[9], L[3];
    dls_body_state mean = {.x = {0}}, given;
    dls_body_mass mass;
    assert_int_equal(dls_body_state_get(m.world, m.id, &given, error), DLS_OK);
    assert_int_equal(dls_body_mass_get(m.world, m.id, &mass, error), DLS_OK);
    kind->mean(m.solid->data, q, u, &mean);
    for (int k = 0; k < 13; k++) assert_near(((double *)&mean)[k], ((double *)&given)[k], 1e-14);
    assert_near(kind->strain_energy(m.solid->data, q), 0, 1e-28);
    memcpy(I, mass.inertia, sizeof I);
    double R[9], w[3];
    quat_matrix(given.q, R);
    mat_apply_transposed(w, R, given.w);
    mat_apply(L, I, w);
    assert_near(kind->kinetic_energy(m.solid->data, u), 0.5 * mass.mass * 6 + 0.5 * vec_dot(w, L), 1e-13);
    full_matrix(&m, DLS_SOLID_DAMPING, q, D);
    full_matrix(&m, DLS_SOLID_MASS, q, M);
    for (int i = 0; i < 12; i++) {
        double sum = 0;
        for (int k = 0; k < 12; k++) sum += D[12 * i + k] * u[k], energy += 0.5 * u[i] * M[12 * i + k] * u[k];
        assert_near(sum, 0, 1e-14);
    }
    assert_near(energy, kind->kinetic_energy(m.solid->data, u), 1e-13);
    assert_near(kind->spread(m.solid->data, q, u, &mean), 0, 1e-14);
    dls_world_destroy(m.world);
}

/* Rows of a spot, and ω of the mean, against differences; a contact finds the material place where it is. */
static void test_places_move_by_their_rows(void **state) {
    (void)state;
    made m = make(DLS_ELASTIC_KIRCHHOFF, DLS_ELLIPSOID, false);
    double q[12], u[12], p[12], R[9], S[9], v[3], w[3], step = 1e-6;
    stir(&m, q, u);
    dls_spot spot = {.at = {0.2, -0.1, 0.3}}, moved = spot;
    kind->spot(m.solid->data, q, &spot, R);
    dls_spot_twist(&spot, u, v, w);
    for (int i = 0; i < 12; i++) p[i] = q[i] + step * u[i];
    kind->spot(m.solid->data, p, &moved, S);
    for (int i = 0; i < 3; i++) assert_near((moved.state.x[i] - spot.state.x[i]) / step, v[i], 1e-8);
    for (int j = 0; j < 3; j++) {
        double turned[3];
        vec_cross(turned, w, R + 3 * j);
        for (int i = 0; i < 3; i++) assert_near((S[i + 3 * j] - R[i + 3 * j]) / step, turned[i], 1e-5);
    }
    dls_body_state mean;
    assert_int_equal(dls_body_state_get(m.world, m.id, &mean, error), DLS_OK);
    for (int i = 0; i < 3; i++) assert_near(mean.w[i], w[i], 1e-12);
    double fastest = kind->spread(m.solid->data, q, u, &mean), rigid[3], arm[3], own[3];
    vec_sub(arm, spot.state.x, mean.x);
    vec_cross(rigid, mean.w, arm);
    vec_sub(own, v, mean.v);
    vec_sub(own, own, rigid);
    assert_true(vec_norm(own) <= fastest);
    dls_solid_touch touch = {.shape = 0};
    dls_spot found = {.solid = 0};
    vec_copy(touch.p, spot.state.x);
    kind->touch(m.solid->data, q, &touch, &found);
    for (int i = 0; i < 3; i++) assert_near(found.at[i], spot.at[i], 1e-14);
    dls_world_destroy(m.world);
}

static void test_inside_out_is_seen(void **state) {
    (void)state;
    made m = make(DLS_ELASTIC_KIRCHHOFF, DLS_SPHERE, false);
    double q[12];
    memcpy(q, m.world->q, sizeof q);
    assert_int_equal(kind->inverted(m.solid->data, q), -1);
    for (int k = 3; k < 6; k++) q[k] = -q[k];
    assert_int_equal(kind->inverted(m.solid->data, q), 0);
    assert_int_equal(dls_solid_state_set(m.world, m.id, q, NULL, error), DLS_OK); /* and nothing breaks */
    dls_world_destroy(m.world);
}

static void test_refusals(void **state) {
    (void)state;
    dls_world_def world = dls_default_world_def();
    for (int k = 0; k < 6; k++) {
        const char *words[] = {"plane", "shape", "capsule", "young", "two materials", "mass"};
        dls_world *w;
        dls_material_def jelly = dls_default_material_def();
        dls_material_id id;
        world.dimension = k == 0 ? 2 : 3;
        vec_set(world.gravity, 0, 0, 0);
        assert_int_equal(dls_world_create(&world, &w, error), DLS_OK);
        jelly.name = "jelly", jelly.young = k == 3 ? 0 : 1e5;
        assert_int_equal(dls_world_add_material(w, &jelly, &id, error), DLS_OK);
        dls_shape_def shapes[2] = {dls_default_shape_def(k == 0   ? DLS_DISC
                                                         : k == 2 ? DLS_CAPSULE
                                                                  : DLS_SPHERE),
                                   dls_default_shape_def(DLS_SPHERE)};
        dls_body_def def = dls_default_body_def();
        dls_solid_def soft = dls_default_solid_def(DLS_SOLID_PSEUDO_RIGID);
        shapes[0].radius = shapes[1].radius = shapes[0].length = 1;
        shapes[0].material = id;
        def.shapes = shapes, def.shape_count = k == 1 ? 0 : k == 4 ? 2 : 1, def.solid = &soft;
        if (k == 5) def.mass = 2;
        assert_int_equal(dls_world_add_body(w, &def, NULL, error), DLS_ERROR_INPUT);
        if (!strstr(error->message, words[k])) fail_msg("'%s' is not in: %s", words[k], error->message);
        dls_world_destroy(w);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stress_and_slope),
        cmocka_unit_test(test_laws_keep_their_promises),
        cmocka_unit_test(test_moduli),
        cmocka_unit_test(test_materials_are_refused),
        cmocka_unit_test(test_shapes_follow_a_map),
        cmocka_unit_test(test_forces_and_stiffness),
        cmocka_unit_test(test_rigid_motion),
        cmocka_unit_test(test_places_move_by_their_rows),
        cmocka_unit_test(test_inside_out_is_seen),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
