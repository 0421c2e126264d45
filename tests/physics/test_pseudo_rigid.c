/* Pseudo-rigid bodies in motion and at rest: frequencies, orders, the rigid limit, spin, statics, books,
 * scales, states as bytes, joints, and what stops a run. */
#include "base/vector.h"
#include "support/near.h"
#include "support/stage.h"
#include "support/test.h"

#include <delassus/joint.h>
#include <delassus/solid.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double PI = 3.14159265358979323846;
static dls_error error[1];
#define OK(call)                                                                                             \
    do {                                                                                                     \
        if (call) fail_msg("%s", error->message);                                                            \
    } while (0)

/* What one body is made of. */
typedef struct recipe {
    double young, poisson, damping, density;
    dls_elastic_law law;
    dls_shape_kind shape;
    double size[3];
    bool rigid, retained;
} recipe;

static const recipe jelly = {
    .young = 1e4, .poisson = 0.25, .density = 100, .shape = DLS_SPHERE, .size = {0.1, 0.1, 0.1}};

static dls_simulation_options options_of(const char *scheme, double h) {
    dls_simulation_options options = dls_default_simulation_options();
    snprintf(options.scheme, sizeof options.scheme, "%s", scheme);
    options.step = h;
    return options;
}

/* The stage's one material becomes the recipe's. */
static dls_body_id add(stage *s, const recipe *r, const double *x, const double *v, const double *w,
                       const double *q) {
    dls_material_def material;
    dls_shape_def shape = dls_default_shape_def(r->shape);
    dls_body_def def = dls_default_body_def();
    dls_solid_def soft = dls_default_solid_def(DLS_SOLID_PSEUDO_RIGID);
    OK(dls_world_material(s->world, 0, &material, error));
    char name[40];
    snprintf(name, sizeof name, "%s", material.name);
    material.name = name;
    material.young = r->young, material.poisson = r->poisson, material.damping = r->damping;
    material.density = r->density, material.law = r->law;
    OK(dls_world_set_material(s->world, 0, &material, error));
    vec_copy(shape.size, r->size);
    shape.radius = r->size[0], shape.length = 2 * r->size[0];
    soft.retained = r->retained;
    def.shapes = &shape, def.shape_count = 1;
    if (!r->rigid) def.solid = &soft;
    if (x) vec_copy(def.pose.x, x);
    if (v) vec_copy(def.v, v);
    if (w) vec_copy(def.w, w);
    if (q) memcpy(def.pose.q, q, sizeof def.pose.q);
    return stage_add(s, &def);
}

static void get(const stage *s, dls_body_id id, double *q, double *u) {
    OK(dls_solid_state_get(s->world, id, q, u, error));
}

/* A small uniform swelling to begin with. */
static void swell(stage *s, dls_body_id id, double by) {
    double q[12];
    get(s, id, q, NULL);
    for (int k = 3; k < 12; k++) q[k] *= 1 + by;
    OK(dls_solid_state_set(s->world, id, q, NULL, error));
}

/* ---- free bodies ---- */

/* F = a 1: ω² = 15 κ/(ρ r²) with the bulk modulus κ. */
static void test_breathing_frequency(void **state) {
    (void)state;
    for (int law = 0; law < DLS_ELASTIC_LAWS; law++) {
        recipe r = jelly;
        r.law = (dls_elastic_law)law;
        stage s = stage_open(3, 0, 0.3, 0, 0);
        dls_body_id id = add(&s, &r, NULL, NULL, NULL, NULL);
        swell(&s, id, 1e-5);
        double kappa = r.young / (3 * (1 - 2 * r.poisson)), omega = sqrt(15 * kappa / (r.density * 0.01));
        int steps = 400, turns = 5;
        dls_simulation_options o = options_of("moreau-jean", 2 * PI * turns / omega / steps);
        stage_start(&s, &o, 0);
        stage_run(&s, steps - steps / (4 * turns)); /* up to a quarter before: a = 1 */
        double q[12];
        get(&s, id, q, NULL);
        assert_near((q[3] - 1) / 1e-5, 0, 0.02); /* the scheme is late by (hω)²/12 of its phase */
        stage_close(&s);
    }
}

/* Distance of q to a run of twice as many steps, of a ball that breathes, shears and turns. */
static double halved(const char *scheme, dls_stiffness stiffness, double damping, int steps) {
    double q[2][12];
    for (int k = 0; k < 2; k++) {
        recipe r = jelly;
        r.damping = damping;
        r.shape = DLS_BOX;
        stage s = stage_open(3, 9.81, 0.3, 0, 0);
        static const double w[3] = {3, -4, 5};
        dls_body_id id = add(&s, &r, NULL, NULL, w, NULL);
        double begin[12];
        get(&s, id, begin, NULL);
        for (int i = 3; i < 12; i++) begin[i] += 0.05 * sin(i);
        OK(dls_solid_state_set(s.world, id, begin, NULL, error));
        dls_simulation_options o = options_of(scheme, 0.1 / (steps << k));
        o.stiffness = stiffness;
        stage_start(&s, &o, 0);
        stage_run(&s, steps << k);
        get(&s, id, q[k], NULL);
        stage_close(&s);
    }
    double sum = 0;
    for (int i = 0; i < 12; i++) sum += (q[0][i] - q[1][i]) * (q[0][i] - q[1][i]);
    return sqrt(sum);
}

/* Explicit damping takes the velocity of the step's beginning: first order. */
static void test_orders(void **state) {
    (void)state;
    struct {
        const char *scheme;
        dls_stiffness stiffness;
        double damping, least;
    } const cases[] = {{"moreau-jean", DLS_STIFFNESS_IMPLICIT, 2e-3, 1.9},
                       {"theta", DLS_STIFFNESS_IMPLICIT, 2e-3, 1.9},
                       {"dvi", DLS_STIFFNESS_IMPLICIT, 2e-3, 0.85},
                       {"moreau-jean", DLS_STIFFNESS_EXPLICIT, 0, 1.9},
                       {"moreau-jean", DLS_STIFFNESS_EXPLICIT, 2e-3, 0.9}};
    for (int k = 0; k < 5; k++) {
        double coarse = halved(cases[k].scheme, cases[k].stiffness, cases[k].damping, 200),
               fine = halved(cases[k].scheme, cases[k].stiffness, cases[k].damping, 400);
        print_message("# %s, %s, damping %g: %.2e %.2e, order %.2f\n", cases[k].scheme,
                      cases[k].stiffness ? "explicit" : "implicit", cases[k].damping, coarse, fine,
                      log2(coarse / fine));
        assert_true(log2(coarse / fine) > cases[k].least);
    }
}

/* Just below its stable step a ball's fastest mode stays, just above it grows; so with damping, which makes
 * the step shorter. */
static void test_stable_step(void **state) {
    (void)state;
    for (int k = 0; k < 4; k++) {
        bool above = k % 2, damped = k / 2;
        recipe r = jelly;
        double kappa = r.young / (3 * (1 - 2 * r.poisson)), omega = sqrt(15 * kappa / (r.density * 0.01));
        r.law = DLS_ELASTIC_LINEAR, r.damping = damped ? 2 / omega : 0; /* ξ = 1 */
        stage s = stage_open(3, 0, 0.3, 0, 0);
        dls_body_id id = add(&s, &r, NULL, NULL, NULL, NULL);
        swell(&s, id, 1e-9);
        double h = dls_solids_stable_step(s.world);
        assert_near(h, (damped ? 2 * (sqrt(2) - 1) : 2) / omega, 1e-12 * h); /* breathing is the fastest */
        dls_simulation_options o = options_of("moreau-jean", h * (above ? 1.01 : 0.99));
        o.stiffness = DLS_STIFFNESS_EXPLICIT;
        stage_start(&s, &o, 0);
        stage_run(&s, damped ? 400 : 40);
        double q[12];
        get(&s, id, q, NULL);
        assert_true(above ? fabs(q[3] - 1) > 1e-8 : fabs(q[3] - 1) < (damped ? 1e-10 : 1e-8));
        stage_close(&s);
    }
}

/* ½ ūᵀM ū of mean velocities, over 10⁴ steps of a stiff block that spins about no axis of its own. */
static void test_free_spin_keeps_its_energy(void **state) {
    (void)state;
    recipe r = {.young = 1e8, .poisson = 0.3, .density = 1000, .shape = DLS_BOX, .size = {0.1, 0.2, 0.3}};
    static const double w[3] = {3, 4, 5};
    stage s = stage_open(3, 0, 0.3, 0, 0);
    dls_body_id id = add(&s, &r, NULL, NULL, w, NULL);
    dls_simulation_options o = options_of("moreau-jean", 1e-3);
    stage_start(&s, &o, 0);
    double before[12], after[12], first = 0, least = INFINITY, most = 0;
    for (int k = 0; k < 10000; k++) {
        double sum = 0;
        get(&s, id, NULL, before);
        stage_run(&s, 1);
        get(&s, id, NULL, after);
        for (int i = 3; i < 12; i++) {
            double rate = 0.5 * (before[i] + after[i]), edge = r.size[i % 3];
            sum += 0.5 * 6 * edge * edge / 12 * rate * rate; /* m = 6 kg */
        }
        if (k == 0) first = sum;
        least = fmin(least, sum), most = fmax(most, sum);
    }
    print_message("# kinetic energy %.9g J at first, %.2e below, %.2e above\n", first, 1 - least / first,
                  most / first - 1);
    assert_near(first, 0.5 * 0.5 * (9 * 0.13 + 16 * 0.10 + 25 * 0.05), 1e-3 * first);
    assert_true(most - least < 1e-3 * first);
    stage_close(&s);
}

/* ---- contact ---- */

/* A ball thrown along the floor, at h: its end, rigid or stiff. */
static dls_body_state thrown(const recipe *r, double e_n, double height, double *kinetic) {
    const double v[3] = {height > 0 ? 0 : 1, 0, 0}, w[3] = {0, height > 0 ? 0 : -2, 0.5};
    double x[3] = {0, 0, 0.1 + height};
    stage s = stage_open(3, 9.81, 0.3, e_n, 0);
    stage_add_floor(&s, 0);
    dls_body_id id = add(&s, r, x, v, w, NULL);
    dls_simulation_options o = options_of("moreau-jean", 1e-3);
    stage_start(&s, &o, 1e-10);
    stage_run(&s, 500);
    dls_body_state end = stage_state(&s, id);
    *kinetic = s.last.energy.kinetic;
    stage_close(&s);
    return end;
}

/* Rolling and bouncing: stiff balls go as rigid ones do. There is a best stiffness for a step h: an impact
 * finds the ball too soft by 10/(hω)² with its breathing ω, and stresses of the step's own stretch, E (hΩ)²/8
 * of a spin Ω, stand in K and make it too heavy to turn by 5 E h⁴Ω²/(32 ρ r²), here 4e-4. */
static void test_rigid_limit(void **state) {
    (void)state;
    for (int bounce = 0; bounce < 2; bounce++)
        for (int retained = 0; retained < 2; retained++) {
            recipe rigid = jelly, stiff = jelly;
            double of_rigid, of_stiff;
            rigid.rigid = true;
            stiff.young = bounce ? 1e10 : 1e8, stiff.damping = 1e-3, stiff.retained = retained;
            dls_body_state a = thrown(&rigid, bounce ? 0.7 : 0, bounce ? 0.15 : 0, &of_rigid),
                           b = thrown(&stiff, bounce ? 0.7 : 0, bounce ? 0.15 : 0, &of_stiff);
            double way = vec_distance(a.x, b.x), speed = vec_distance(a.v, b.v),
                   spin = vec_distance(a.w, b.w);
            print_message("# %s, %s: places %.1e m, velocities %.1e m/s, spins %.1e rad/s apart\n",
                          bounce ? "bouncing" : "rolling", retained ? "retained" : "deforming", way, speed,
                          spin);
            assert_true(way < 1e-3 && speed < 5e-3 && spin < 5e-2);
            assert_near(of_rigid, of_stiff, 5e-3 * of_rigid + 1e-4);
        }
}

/* Two balls that meet across the border of a periodic box go as those in its middle do. */
static void test_contact_across_a_period(void **state) {
    (void)state;
    double q[2][2][12];
    for (int k = 0; k < 2; k++) {
        dls_world_def def = dls_default_world_def();
        stage s = {.world = NULL};
        recipe r = jelly;
        def.dimension = 3, def.gravity[2] = 0, def.period_size[0] = 1;
        OK(dls_world_create(&def, &s.world, error));
        dls_body_id id[2];
        for (int b = 0; b < 2; b++)
            id[b] = add(&s, &r, (const double[3]){k ? 0.39 + 0.22 * b : 0.11 + 0.78 * b, 0, 0.02 * b},
                        (const double[3]){(k ? b : !b) ? -1 : 1, 0, 0}, NULL, NULL);
        dls_simulation_options o = options_of("moreau-jean", 1e-3);
        stage_start(&s, &o, 1e-10);
        stage_run(&s, 60);
        for (int b = 0; b < 2; b++) get(&s, id[b], q[k][k ? b : !b], NULL);
        stage_close(&s);
    }
    for (int b = 0; b < 2; b++)
        for (int i = 1; i < 12; i++) { /* heights are those of the other one, turned over */
            double other = i == 2 ? 0.02 - q[0][b][i] : q[0][b][i];
            bool tilts = i == 5 || i == 9; /* F_xz and F_zx change their sign with z */
            assert_near(q[1][b][i], tilts ? -other : other, 1e-9);
        }
    assert_true(fabs(q[1][0][0] - 0.4) > 1e-3);
}

/* n cubes without friction, linear: cube i below the top is shortened by ρ g L²(i + ½)/E. */
static void test_stack_under_its_weight(void **state) {
    (void)state;
    enum { CUBES = 4 };
    recipe r = {.young = 2e4,
                .poisson = 0.3,
                .damping = 0.05,
                .density = 100,
                .law = DLS_ELASTIC_LINEAR,
                .shape = DLS_BOX,
                .size = {0.2, 0.2, 0.2}};
    stage s = stage_open(3, 9.81, 0, 0, 0);
    dls_body_id id[CUBES];
    stage_add_floor(&s, 0);
    for (int k = 0; k < CUBES; k++)
        id[k] = add(&s, &r, (const double[3]){0, 0, 0.1 + 0.2 * k}, NULL, NULL, NULL);
    dls_simulation_options o = options_of("dvi", 2e-3);
    stage_start(&s, &o, 1e-10);
    stage_run(&s, 1200);
    for (int k = 0; k < CUBES; k++) {
        double q[12], strain = 100 * 9.81 * 0.2 * (CUBES - 1 - k + 0.5) / r.young;
        get(&s, id[k], q, NULL);
        assert_near(1 - q[11], strain, 1e-5 * strain);
        assert_near(q[3] - 1, 0.3 * strain, 1e-5 * strain);
    }
    stage_close(&s);
}

/* ---- books ---- */

/* Nothing is unaccounted for but m g (θ − ½) h (v⁺ − v₀), the way that is not of the mean velocity. Of small
 * strains the half step makes nothing; else numerical has what it makes of stresses that turn, or θ = 1
 * damps. */
static void test_books(void **state) {
    (void)state;
    static const char *const schemes[] = {"moreau-jean", "theta", "dvi", "moreau-jean"};
    for (int k = 0; k < 8; k++) {
        int law = k % 2, scheme = k / 2;
        recipe r = jelly;
        r.law = law ? DLS_ELASTIC_KIRCHHOFF : DLS_ELASTIC_LINEAR, r.damping = 1e-3;
        stage s = stage_open(3, 9.81, 0.3, 0.2, 0);
        stage_add_floor(&s, 0);
        dls_body_id id = add(&s, &r, (const double[3]){0, 0, 0.3}, (const double[3]){0.5, 0, 0}, NULL, NULL);
        dls_simulation_options o = options_of(schemes[scheme], 1e-3);
        o.theta = 0.8;
        if (scheme == 3) o.stiffness = DLS_STIFFNESS_EXPLICIT, o.step = 1e-4;
        stage_start(&s, &o, 1e-12);
        stage_run(&s, scheme == 3 ? 8000 : 800);
        const dls_energy *e = &s.last.energy;
        double lost = e->damping + e->impact + e->friction;
        double own = (const double[]){0, 0.3, 0.5, 0}[scheme] * stage_mass(&s, id).mass * 9.81 * o.step *
                     stage_state(&s, id).v[2];
        print_message("# %s, %s: strain %.2e, damped %.2e, impact %.2e, numerical %.1e, unaccounted %.1e J\n",
                      schemes[scheme], law ? "kirchhoff" : "linear", e->strain, e->damping, e->impact,
                      e->numerical, e->unaccounted);
        assert_true(e->damping > 0 && e->strain > 0);
        assert_near(e->unaccounted, own, 1e-12 * lost);
        if (k == 0)
            assert_near(e->numerical, 0, 1e-12 * lost);
        else if (k == 1)
            assert_true(fabs(e->numerical) > 1e-9 * lost && fabs(e->numerical) < 1e-4 * lost);
        else
            assert_true(scheme == 3 ? e->numerical > 0 : e->numerical < -1e-2 * lost);
        stage_close(&s);
    }
}

/* A tenth of the size, a tenth of the stiffness, time by √10: the same, turned into lengths. */
static void test_scales(void **state) {
    (void)state;
    dls_body_state end[2];
    double q[2][12];
    for (int k = 0; k < 2; k++) {
        double size = k ? 0.1 : 1, time = sqrt(size);
        recipe r = jelly;
        r.young *= size, r.damping = 1e-3 * time, r.shape = DLS_ELLIPSOID;
        vec_set(r.size, 0.09 * size, 0.05 * size, 0.1 * size);
        stage s = stage_open(3, 9.81, 0.3, 0, 0);
        stage_add_floor(&s, 0);
        dls_body_id id =
            add(&s, &r, (const double[3]){0, 0, 0.15 * size}, (const double[3]){0.5 * time, 0, 0},
                (const double[3]){2 / time, 3 / time, 0}, NULL);
        dls_simulation_options o = options_of("moreau-jean", 1e-3 * time);
        stage_start(&s, &o, 1e-12);
        stage_run(&s, 300);
        end[k] = stage_state(&s, id);
        get(&s, id, q[k], NULL);
        for (int i = 0; i < 3; i++) end[k].x[i] /= size;
        stage_close(&s);
    }
    assert_true(vec_distance(end[0].x, end[1].x) < 1e-8);
    for (int i = 3; i < 12; i++) assert_near(q[0][i], q[1][i], 1e-7);
}

/* ---- bits ---- */

/* A few bodies of all shapes, one of which is born on the way. */
static stage crowd(int steps, int threads) {
    const dls_shape_kind kinds[] = {DLS_SPHERE, DLS_ELLIPSOID, DLS_BOX};
    stage s = stage_open(3, 9.81, 0.4, 0, 0);
    stage_add_floor(&s, 0);
    for (int k = 0; k < 9; k++) {
        recipe r = jelly;
        r.shape = kinds[k % 3], r.damping = 1e-3, r.rigid = k == 4, r.law = DLS_ELASTIC_NEO_HOOKEAN;
        add(&s, &r, (const double[3]){0.03 * (k % 2), 0.02 * (k % 3), 0.15 + 0.22 * k}, NULL,
            (const double[3]){1, k, 0}, NULL);
    }
    dls_shape_def ball = stage_ball(3, 0.1);
    dls_solid_def soft = dls_default_solid_def(DLS_SOLID_PSEUDO_RIGID);
    dls_body_def late = dls_default_body_def();
    late.shapes = &ball, late.shape_count = 1, late.solid = &soft, late.birth = 0.1;
    vec_set(late.pose.x, 0.5, 0, 0.3);
    vec_set(late.v, -2, 0, 0);
    vec_set(late.w, 0, 5, 0);
    stage_add(&s, &late);
    dls_simulation_options o = options_of("moreau-jean", 1e-3);
    o.threads = threads;
    stage_start(&s, &o, 0);
    stage_run(&s, steps);
    return s;
}

static void test_same_bits(void **state) {
    (void)state;
    stage whole = crowd(300, 1), threads = crowd(300, 3), cut = crowd(70, 1), other = crowd(0, 1);
    size_t size = dls_simulation_state_size(cut.simulation);
    void *bytes = malloc(size);
    assert_int_equal(whole.uncertified, 0);
    assert_true(dls_simulation_hash(whole.simulation) == dls_simulation_hash(threads.simulation));
    dls_simulation_state_write(cut.simulation, bytes);
    OK(dls_simulation_state_read(other.simulation, bytes, size, error));
    stage_run(&other, 230);
    assert_true(dls_simulation_hash(whole.simulation) == dls_simulation_hash(other.simulation));
    assert_true(whole.last.energy.strain == other.last.energy.strain && whole.last.energy.strain > 0);
    free(bytes);
    stage_close(&whole), stage_close(&threads), stage_close(&cut), stage_close(&other);
}

/* ---- joints, and what stops ---- */

/* A stiff box that hangs by a corner swings as a rigid one does; the corner stays where it is held. */
static void test_hangs_by_a_corner(void **state) {
    (void)state;
    dls_body_state end[2], corner = {.x = {0}};
    for (int k = 0; k < 2; k++) {
        recipe r = {.young = 1e9,
                    .poisson = 0.3,
                    .density = 500,
                    .shape = DLS_BOX,
                    .size = {0.2, 0.3, 0.4},
                    .rigid = k == 0};
        static const double x[3] = {0.1, 0.15, 0.2}, held[3] = {0, 0, 0}, up[3] = {0, 0, 1};
        stage s = stage_open(3, 9.81, 0.3, 0, 0);
        dls_body_id id = add(&s, &r, x, NULL, NULL, NULL);
        dls_joint_def joint = dls_default_joint_def(DLS_JOINT_SPHERICAL);
        joint.body[0] = DLS_GROUND, joint.body[1] = id;
        OK(dls_joint_place(s.world, &joint, held, up, NULL, error));
        OK(dls_world_add_joint(s.world, &joint, NULL, error));
        dls_simulation_options o = options_of("moreau-jean", 1e-3);
        stage_start(&s, &o, 1e-10);
        stage_run(&s, 400);
        end[k] = stage_state(&s, id);
        if (k) OK(dls_solid_point(s.world, id, (const double[3]){-0.1, -0.15, -0.2}, &corner, error));
        stage_close(&s);
    }
    print_message("# hanging: %.1e m apart, corner off by %.1e m\n", vec_distance(end[0].x, end[1].x),
                  vec_norm(corner.x));
    assert_true(vec_distance(end[0].x, end[1].x) < 1e-3 && vec_distance(end[0].w, end[1].w) < 2e-2);
    assert_true(vec_norm(corner.x) < 1e-4);
}

static void test_inside_out_stops(void **state) {
    (void)state;
    recipe r = jelly;
    stage s = stage_open(3, 0, 0.3, 0, 0);
    dls_body_id id = add(&s, &r, NULL, NULL, NULL, NULL);
    double q[12], u[12], kept[12];
    get(&s, id, q, u);
    for (int k = 3; k < 6; k++) u[k] = -5000 * q[k];
    OK(dls_solid_state_set(s.world, id, NULL, u, error));
    dls_simulation_options o = options_of("moreau-jean", 1e-3);
    stage_start(&s, &o, 0);
    assert_int_equal(dls_simulation_step(s.simulation, NULL, error), DLS_ERROR_NUMERIC);
    if (!strstr(error->message, "inside out")) fail_msg("%s", error->message);
    get(&s, id, kept, NULL);
    assert_memory_equal(q, kept, sizeof q); /* as it was */
    stage_close(&s);
}

static void test_alpha_refuses(void **state) {
    (void)state;
    stage s = stage_open(3, 9.81, 0.3, 0, 0);
    add(&s, &jelly, NULL, NULL, NULL, NULL);
    dls_simulation_options o = options_of("generalized-alpha", 1e-3);
    stage_start(&s, &o, 0);
    assert_int_equal(dls_simulation_step(s.simulation, NULL, error), DLS_ERROR_INPUT);
    if (!strstr(error->message, "pseudo-rigid")) fail_msg("%s", error->message);
    stage_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_breathing_frequency),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_stable_step),
        cmocka_unit_test(test_free_spin_keeps_its_energy),
        cmocka_unit_test(test_rigid_limit),
        cmocka_unit_test(test_contact_across_a_period),
        cmocka_unit_test(test_stack_under_its_weight),
        cmocka_unit_test(test_books),
        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_same_bits),
        cmocka_unit_test(test_hangs_by_a_corner),
        cmocka_unit_test(test_inside_out_stops),
        cmocka_unit_test(test_alpha_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
