/* Inlets and removals: what comes in and goes out is counted, placed without overlap, and the same bits on
 * any number of threads, in a run that goes on from a checkpoint, and after going back. */
#include "base/vector.h"
#include "support/scene_text.h"
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct run {
    dls_scene *scene;
    dls_simulation *simulation;
} run;

static run begin(const char *text, int count, const char *const *settings) {
    dls_error error;
    run r = {.scene = read_with(text, count, settings, &error)};
    if (!r.scene) fail_msg("%s", error.message);
    if (dls_scene_simulation_create(r.scene, &r.simulation, &error)) fail_msg("%s", error.message);
    return r;
}

static void end(run *r) {
    dls_simulation_destroy(r->simulation);
    dls_scene_destroy(r->scene);
}

static dls_step_report step(run *r) {
    dls_step_report report;
    dls_error error;
    if (dls_simulation_step(r->simulation, &report, &error)) fail_msg("%s", error.message);
    return report;
}

static unsigned char *bytes_of(const run *r, size_t *size) {
    *size = dls_simulation_state_size(r->simulation);
    unsigned char *bytes = malloc(*size);
    dls_simulation_state_write(r->simulation, bytes);
    return bytes;
}

/* Balls, pairs of balls and boxes fall on a plate and over its edge; what falls below it is taken out. */
#define HEAP                                                                                                 \
    "delassus: 1\n"                                                                                          \
    "materials: {default: {density: 2000, mu: 0.4}}\n"                                                       \
    "bodies:\n"                                                                                              \
    "- {name: plate, motion: static, position: [0, 0, -0.05], shape: {kind: box, size: [0.2, 0.2, 0.1]}}\n"  \
    "- {name: early, position: [0, 0, 0.03], shape: {kind: sphere, radius: 0.02}}\n"                         \
    "- {name: late, birth: 0.1, position: [0.5, 0, 0.5], shape: {kind: sphere, radius: 0.02}}\n"             \
    "- {name: brief, death: 0.2, position: [0.7, 0, 0.5], shape: {kind: sphere, radius: 0.02}}\n"            \
    "inlets:\n"                                                                                              \
    "- name: top\n"                                                                                          \
    "  region: {kind: cylinder, centre: [0, 0, 0.35], radius: 0.12, length: 0.1}\n"                          \
    "  number_rate: 250\n"                                                                                   \
    "  orientation: random\n"                                                                                \
    "  velocity: [0, 0, -0.5]\n"                                                                             \
    "  speed: 0.2\n"                                                                                         \
    "  size: {uniform: [0.7, 1]}\n"                                                                          \
    "  mixture:\n"                                                                                           \
    "  - {number_share: 5, body: {name: ball, shape: {kind: sphere, radius: 0.02}}}\n"                       \
    "  - {number_share: 3, body: {name: pair, shapes: [{kind: sphere, radius: 0.015}, {kind: sphere, "       \
    "radius: 0.01, position: [0.015, 0, 0]}]}}\n"                                                            \
    "  - {number_share: 2, body: {name: cube, shape: {kind: box, size: [0.025, 0.025, 0.025]}}}\n"           \
    "- name: side\n"                                                                                         \
    "  region: {kind: box, low: [0.13, -0.05, 0.2], high: [0.23, 0.05, 0.3]}\n"                              \
    "  mass_rate: 0.5\n"                                                                                     \
    "  from: 0.05\n"                                                                                         \
    "  until: 0.35\n"                                                                                        \
    "  body: {name: ball, velocity: [-1, 0, 0], shape: {kind: sphere, radius: 0.015}}\n"                     \
    "removals:\n"                                                                                            \
    "- {name: below, inside: {kind: half-space, point: [0, 0, -0.2]}}\n"                                     \
    "time: {step: 2e-3, until: 1}\n"                                                                         \
    "solver: {tolerance: 1e-4}\n"

static double mass_there(const dls_world *world, int *bodies) {
    double mass = 0;
    *bodies = 0;
    for (int id = 0; id < dls_world_body_count(world); id++) {
        dls_body_mass own;
        if (dls_body_presence(world, id) != DLS_PRESENT) continue;
        ++*bodies;
        if (dls_body_motion(world, id) != DLS_DYNAMIC) continue;
        dls_body_mass_get(world, id, &own, NULL);
        mass += own.mass;
    }
    return mass;
}

/* Numbers and masses at the start, plus in, minus out, are what is there; so are energies. Bodies that do not
 * turn steadily leave an energy unaccounted that is not rounding: there the two sums are the same. */
static void check_books(bool steady) {
    const char *const setting = "inlets.top.mixture.1.number_share=0"; /* no pairs */
    run r = begin(HEAP, steady, &setting);
    const dls_world *world = dls_simulation_world(r.simulation);
    int before, after, in = 0, out = 0;
    dls_traffic all = {0};
    double mass = mass_there(world, &before);
    dls_energy start = dls_simulation_energy(r.simulation);
    double energy = start.kinetic + start.potential, mass_in = 0, mass_out = 0;
    for (int k = 0; k < 400; k++) {
        dls_step_report report = step(&r);
        in += (int)report.traffic.bodies_in, out += (int)report.traffic.bodies_out;
        mass_in += report.traffic.mass_in, mass_out += report.traffic.mass_out;
        all.energy_in += report.traffic.energy_in, all.energy_out += report.traffic.energy_out;
        mass_there(world, &after);
        assert_int_equal(after, before + in - out);
        const dls_energy *e = &report.energy;
        double small = 1e-12 * (fabs(energy) + all.energy_in + fabs(all.energy_out)),
               rest = e->kinetic + e->potential + e->friction + e->impact - e->work -
                      (energy + all.energy_in - all.energy_out);
        assert_true(fabs(rest - e->unaccounted) < small);
        if (steady) assert_true(fabs(rest) < small);
    }
    assert_true(in > 150 && out > 20);
    assert_true(fabs(mass_there(world, &after) - (mass + mass_in - mass_out)) < 1e-12 * mass_in);
    dls_traffic sum = dls_simulation_summary(r.simulation).traffic;
    assert_true(sum.bodies_in == in && sum.bodies_out == out && sum.mass_in == mass_in);
    assert_true(sum.mass_out == mass_out && sum.energy_in == all.energy_in);
    assert_true(sum.energy_out == all.energy_out);
    dls_gate top = dls_simulation_gate(r.simulation, 0), side = dls_simulation_gate(r.simulation, 1),
             below = dls_simulation_gate(r.simulation, 2);
    assert_int_equal(dls_simulation_gate_count(r.simulation), 3);
    assert_true(top.is_inlet && side.is_inlet && !below.is_inlet && !strcmp(below.name, "below"));
    assert_int_equal(top.bodies + side.bodies + 1, in); /* and the one that is born by its time */
    assert_int_equal(below.bodies + 1, out);            /* and the one that dies */
    double born = 2000 * 4.0 / 3 * M_PI * 0.02 * 0.02 * 0.02, small = 1e-12 * mass_in;
    assert_true(fabs(top.mass + side.mass + born - mass_in) < small);
    assert_true(fabs(below.mass + born - mass_out) < small);
    end(&r);
}

static void test_books_close(void **unused) {
    (void)unused;
    check_books(true);
    check_books(false);
}

/* At every step so many are due: 1 + ⌊rate t⌋, or until the mass before reaches rate t; shares all along. */
static void test_rates_are_exact(void **unused) {
    (void)unused;
    run r = begin(HEAP, 0, NULL);
    const dls_world *world = dls_simulation_world(r.simulation);
    for (int k = 0; k < 400; k++) {
        double t = 2e-3 * k, ball = 2000 * 4.0 / 3 * M_PI * 0.015 * 0.015 * 0.015;
        step(&r);
        dls_gate top = dls_simulation_gate(r.simulation, 0), side = dls_simulation_gate(r.simulation, 1);
        assert_int_equal(top.bodies + top.backlog, 1 + (int)floor(250 * t + 1e-9));
        double due = 0.5 * fmax(0, fmin(t, 0.35) - 0.05), fed = side.mass + side.backlog_mass;
        if (t < 0.05 - 1e-9)
            assert_int_equal(side.bodies + side.backlog, 0);
        else
            assert_true(fed >= due - 1e-12 && fed <= due + ball * (1 + 1e-12));
    }
    int pairs = 0, cubes = 0, count = 0;
    for (int id = 4; id < dls_world_body_count(world); id++) {
        const char *name = dls_body_name(world, id);
        pairs += !strncmp(name, "pair-", 5);
        cubes += !strncmp(name, "cube-", 5);
        for (int other = 4; other < id; other++) assert_string_not_equal(name, dls_body_name(world, other));
    }
    count = 1 + (int)floor(250 * 399 * 2e-3 + 1e-9);
    assert_true(fabs(pairs - 0.3 * count) <= 1 && fabs(cubes - 0.2 * count) <= 1);
    end(&r);
}

/* Of every contact that a newborn has in its first step the gap, at the half step, is what both move in it at
 * most; and no ball about a newborn meets another one's as they are born. */
static void test_nothing_is_born_into_another(void **unused) {
    (void)unused;
    run r = begin(HEAP, 0, NULL);
    const dls_world *world = dls_simulation_world(r.simulation);
    dls_presence was[1000] = {DLS_WAITING};
    int born = 0;
    for (int k = 0; k < 300; k++) {
        step(&r);
        for (int c = 0; c < dls_simulation_contact_count(r.simulation); c++) {
            dls_contact_record record;
            dls_simulation_contact(r.simulation, c, &record);
            for (int side = 0; side < 2; side++) {
                int id = side ? record.body_b : record.body_a, other = side ? record.body_a : record.body_b;
                if (id < 4 || was[id] != DLS_WAITING) continue;
                dls_body_state a, b;
                dls_body_state_get(world, id, &a, NULL);
                dls_body_state_get(world, other, &b, NULL);
                /* speeds of up to 4 m/s over half a step */
                assert_true(record.gap > -4e-3 && vec_distance(a.v, b.v) < 8);
            }
        }
        for (int id = 0; id < dls_world_body_count(world); id++) {
            born += was[id] == DLS_WAITING && dls_body_presence(world, id) == DLS_PRESENT;
            was[id] = dls_body_presence(world, id);
        }
    }
    assert_true(born > 150);
    end(&r);
}

/* Grains that do not move: all that came in stay where they were born, and none meets another. */
#define STILL                                                                                                \
    "delassus: 1\ngravity: [0, 0, 0]\nperiodic: {size: [1, 0, 0]}\nbodies:\n"                                \
    "- {name: rod, motion: static, position: [0.98, 0.5, 0.2], shape: {kind: cylinder, radius: 0.05, "       \
    "length: 0.2}}\n"                                                                                        \
    "- {name: long, position: [3.5, 0.5, 0.5], shape: {kind: box, size: [0.5, 0.02, 0.02]}}\n"               \
    "inlets:\n"                                                                                              \
    "- region: {kind: box, low: [0, 0, 0.35], high: [1, 1, 1]}\n  number_rate: 5000\n"                       \
    "  body: {name: grain, shape: {kind: sphere, radius: 0.05}}\n"                                           \
    "- region: {kind: box, low: [0, 0, 0.35], high: [1, 1, 1]}\n  number_rate: 5000\n"                       \
    "  body: {name: brick, shape: {kind: box, size: [0.06, 0.06, 0.06]}}\n"                                  \
    "time: {step: 1e-3, until: 0.1}\n"

static bool is_grain(const dls_world *world, dls_body_id id) {
    return dls_body_presence(world, id) == DLS_PRESENT && !strncmp(dls_body_name(world, id), "grain", 5);
}

static void test_a_full_region_waits(void **unused) {
    (void)unused;
    run r = begin(STILL, 0, NULL);
    const dls_world *world = dls_simulation_world(r.simulation);
    dls_step_report report = {0};
    for (int k = 0; k < 60; k++) {
        report = step(&r);
        assert_true(report.penetration == 0);
    }
    dls_gate one = dls_simulation_gate(r.simulation, 0), two = dls_simulation_gate(r.simulation, 1);
    assert_true(one.bodies + two.bodies > 150 && one.backlog > 0 && two.backlog > 0);
    assert_int_equal(report.backlog, one.backlog + two.backlog);
    assert_int_equal(one.bodies + one.backlog, 1 + 5 * 59);
    for (int a = 0; a < dls_world_body_count(world); a++)
        for (int b = 0; b < a; b++) {
            dls_body_state x, y;
            if (!is_grain(world, a) || !is_grain(world, b)) continue;
            dls_body_state_get(world, a, &x, NULL);
            dls_body_state_get(world, b, &y, NULL);
            double along = x.x[0] - y.x[0], d[3] = {along - rint(along), x.x[1] - y.x[1], x.x[2] - y.x[2]};
            assert_true(vec_norm(d) > 0.1);
        }
    end(&r);
}

/* Sizes, velocities and orientations as they are asked for, other ones for another seed. */
static void test_bodies_are_as_asked_for(void **unused) {
    (void)unused;
    const char *text = HEAD3
        "gravity: [0, 0, 0]\nbodies: []\ninlets:\n- {region: {kind: ball, radius: 9}, number_rate: 1000, "
        "number_limit: 60, velocity: [0, 0, -2], speed: 0.5, size: {uniform: [0.1, 0.2]}, orientation: "
        "random, body: "
        "{name: rod, velocity: [1, 0, 0], shape: {kind: capsule, radius: 0.5, length: 1}}}\ntime: {step: "
        "1e-3}\n";
    const char *const seed = "inlets.0.seed=2";
    run r = begin(text, 0, NULL), other = begin(text, 1, &seed);
    for (int k = 0; k < 80; k++) {
        step(&r);
        step(&other);
    }
    const dls_world *world = dls_simulation_world(r.simulation);
    assert_int_equal(dls_world_body_count(world), 60); /* the limit */
    double mean[3] = {0}, least = INFINITY, most = 0, turned = 0;
    for (int id = 0; id < 60; id++) {
        dls_body_state a, b;
        dls_body_state_get(world, id, &a, NULL);
        dls_body_state_get(dls_simulation_world(other.simulation), id, &b, NULL);
        double radius = shape_of(r.scene, id).radius;
        assert_true(radius >= 0.05 && radius <= 0.1);
        least = fmin(least, radius), most = fmax(most, radius);
        for (int k = 0; k < 3; k++) {
            double d = a.v[k] - (k == 0 ? 1 : k == 2 ? -2 : 0);
            assert_true(fabs(d) <= 0.5 && a.v[k] != b.v[k] && a.x[k] != b.x[k]);
            mean[k] += d / 60;
        }
        turned += fabs(a.q[1]) > 0.1;
    }
    assert_true(least < 0.06 && most > 0.09 && turned > 30);
    for (int k = 0; k < 3; k++) assert_true(fabs(mean[k]) < 0.15 && mean[k] != 0); /* four deviations of it */
    end(&r);
    end(&other);
}

static void test_threads_give_the_same_bits(void **unused) {
    (void)unused;
    const char *const threads[] = {"run.threads=1", "run.threads=3"};
    run one = begin(HEAP, 1, threads), three = begin(HEAP, 1, threads + 1);
    for (int k = 0; k < 300; k++) {
        step(&one), step(&three);
        assert_true(dls_simulation_hash(one.simulation) == dls_simulation_hash(three.simulation));
    }
    end(&one);
    end(&three);
}

static void assert_same_state(const run *a, const run *b) {
    assert_true(dls_simulation_hash(a->simulation) == dls_simulation_hash(b->simulation));
    for (int k = 0; k < dls_simulation_gate_count(a->simulation); k++) {
        dls_gate x = dls_simulation_gate(a->simulation, k), y = dls_simulation_gate(b->simulation, k);
        assert_true(x.bodies == y.bodies && x.mass == y.mass && x.backlog == y.backlog);
        assert_true(x.backlog_mass == y.backlog_mass);
    }
    dls_traffic s = dls_simulation_summary(a->simulation).traffic,
                t = dls_simulation_summary(b->simulation).traffic;
    assert_memory_equal(&s, &t, sizeof s);
}

/* From every 70th step on: a simulation that is new, and one that went ahead and comes back. */
static void check_going_on(const char *text) {
    run whole = begin(text, 0, NULL), back = begin(text, 0, NULL);
    for (int k = 0; k < 120; k++) step(&back);
    for (int k = 1; k <= 210; k++) {
        step(&whole);
        if (k % 70) continue;
        size_t size, again;
        dls_error error = {0};
        unsigned char *bytes = bytes_of(&whole, &size), *more;
        run fresh = begin(text, 0, NULL);
        run *const runs[] = {&fresh, &back};
        run ahead = begin(text, 0, NULL);
        if (dls_simulation_state_read(ahead.simulation, bytes, size, &error)) fail_msg("%s", error.message);
        for (int i = 0; i < 60; i++) step(&ahead);
        for (int i = 0; i < 2; i++) {
            if (dls_simulation_state_read(runs[i]->simulation, bytes, size, &error))
                fail_msg("%s", error.message);
            assert_same_state(&whole, runs[i]);
            for (int n = 0; n < 60; n++) step(runs[i]);
            assert_same_state(&ahead, runs[i]);
        }
        more = bytes_of(&fresh, &again);
        unsigned char *ahead_bytes = bytes_of(&ahead, &size);
        assert_int_equal(size, again);
        assert_memory_equal(more, ahead_bytes, size);
        free(more), free(bytes), free(ahead_bytes);
        end(&fresh);
        end(&ahead);
    }
    end(&whole);
    end(&back);
}

static void test_going_on_gives_the_same_bits(void **unused) {
    (void)unused;
    check_going_on(HEAP);
    check_going_on(STILL);
}

static void test_states_that_do_not_fit(void **unused) {
    (void)unused;
    run with = begin(HEAP, 0, NULL), other = begin(STILL, 0, NULL);
    for (int k = 0; k < 50; k++) step(&with);
    size_t size;
    unsigned char *bytes = bytes_of(&with, &size);
    dls_error error = {0};
    assert_int_equal(dls_simulation_state_read(other.simulation, bytes, size, &error), DLS_ERROR_INPUT);
    assert_non_null(strstr(error.message, "a state with 2 inlets and 1 removals"));
    /* a body that was added by hand stands where one of an inlet should */
    dls_body_def hand = dls_default_body_def();
    dls_shape_def ball = dls_default_shape_def(DLS_SPHERE);
    ball.radius = 0.01;
    hand.shapes = &ball, hand.shape_count = 1;
    vec_set(hand.pose.x, 5, 5, 5);
    run mixed = begin(HEAP, 0, NULL);
    assert_int_equal(dls_world_add_body(dls_scene_world(mixed.scene), &hand, NULL, &error), DLS_OK);
    assert_int_equal(dls_simulation_state_read(mixed.simulation, bytes, size, &error), DLS_ERROR_INPUT);
    assert_non_null(strstr(error.message, "of them of inlets"));
    /* every byte of the section may be another */
    uint64_t hash = dls_simulation_hash(with.simulation);
    size_t at = 0;
    while (memcmp(bytes + at, "gates\0\0\0", 8) != 0) at++;
    uint64_t length; /* behind tag and version */
    memcpy(&length, bytes + at + 24, sizeof length);
    for (size_t k = at + 32; k < at + 32 + length; k++) {
        unsigned char kept = bytes[k];
        bytes[k] ^= 0xA5;
        if (!dls_simulation_state_read(with.simulation, bytes, size, NULL))
            for (int i = 0; i < 2; i++) dls_simulation_step(with.simulation, NULL, NULL);
        bytes[k] = kept;
    }
    assert_int_equal(dls_simulation_state_read(with.simulation, bytes, size, &error), DLS_OK);
    assert_true(dls_simulation_hash(with.simulation) == hash);
    free(bytes);
    end(&with), end(&other), end(&mixed);
}

/* In the plane and in a periodic box: in or out of every kind of region, and of some bodies alone. */
static void test_removals(void **unused) {
    (void)unused;
    static const struct {
        const char *region;
        int left; /* of 21 discs at x = −1, −0.9, …, 1 and one called other at 0.05 */
    } rows[] = {
        {"inside: {kind: box, low: [-0.25, -1], high: [0.25, 1]}", 16},
        {"outside: {kind: box, low: [-0.25, -1], high: [0.25, 1]}", 6},
        {"inside: {kind: disc, centre: [0.5, 0], radius: 0.15}", 19},
        {"outside: {kind: disc, centre: [0.5, 0], radius: 0.15}", 3},
        {"inside: {kind: half-plane, point: [0.05, 0], normal: [2, 0]}", 10},
        {"outside: {kind: half-plane, point: [0.04, 0], normal: [2, 0]}", 11},
        {"bodies: [other], inside: {kind: box, low: [-2, -1], high: [2, 1]}", 21},
        {"bodies: [disc], inside: {kind: box, low: [-2, -1], high: [2, 1]}", 1},
        {"bodies: [disc-3], inside: {kind: box, low: [-2, -1], high: [2, 1]}", 21},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 HEAD2 "gravity: [0, 0]\nbodies:\n- {name: wall, motion: static, position: [0, 0], group: a, "
                       "collides: [], shape: {kind: disc, radius: 0.01}}\n"
                       "- {name: other, position: [0.05, 0.2], shape: {kind: disc, radius: 0.01}}\n"
                       "- lattice: {origin: [-1, 0.01], spacing: [0.1, 0.1], counts: [21, 1]}\n"
                       "  body: {name: disc, shape: {kind: disc, radius: 0.01}}\n"
                       "groups: [a]\nremovals:\n- {%s}\n",
                 rows[i].region);
        run r = begin(text, 0, NULL);
        dls_step_report report = step(&r);
        assert_int_equal(report.bodies, rows[i].left + 1); /* and the wall */
        assert_int_equal(report.traffic.bodies_out, 22 - rows[i].left);
        assert_int_equal(step(&r).traffic.bodies_out, 0);
        end(&r);
    }
    /* one that went round a periodic box twice is asked where it is seen */
    run r =
        begin(HEAD3 "gravity: [0, 0, 0]\nperiodic: {size: [1, 0, 0]}\nbodies:\n- {name: ball, velocity: [1, "
                    "0, 0], position: [0.3, 0, 0], shape: {kind: sphere, radius: 0.01}}\nremovals:\n"
                    "- {inside: {kind: ball, centre: [0.3, 0, 0], radius: 0.04}, bodies: [none]}\n"
                    "inlets:\n- {region: {kind: ball, radius: 1, centre: [0, 9, 0]}, number_rate: 1, from: "
                    "99, body: {name: none, shape: {kind: sphere, radius: 0.1}}}\n"
                    "- {region: {kind: ball, radius: 1, centre: [0, 5, 0]}, number_rate: 1, number_limit: 0, "
                    "body: {name: none, shape: {kind: sphere, radius: 0.1}}}\ntime: {step: 0.01, until: 5}\n",
              0, NULL);
    for (int k = 0; k < 200; k++) assert_int_equal(step(&r).bodies, 1);
    end(&r);
    r = begin(HEAD3
              "gravity: [0, 0, 0]\nperiodic: {size: [1, 0, 0]}\nbodies:\n- {name: ball, velocity: [1, 0, "
              "0], position: [0.3, 0, 0], shape: {kind: sphere, radius: 0.01}}\nremovals:\n"
              "- {inside: {kind: ball, centre: [0.1, 0, 0], radius: 0.04}}\ntime: {step: 0.01, until: 5}\n",
              0, NULL);
    int steps = 0;
    while (steps < 200 && step(&r).bodies == 1) steps++;
    assert_true(steps >= 76 && steps <= 80); /* 1.1 is 0.1 again */
    end(&r);
}

static void test_gates_that_are_refused(void **unused) {
    (void)unused;
#define BOX_REGION  "region: {kind: box, low: [0, 0, 1], high: [1, 1, 2]}"
#define GRAIN       "body: {name: grain, shape: {kind: sphere, radius: 0.1}}"
#define INLET(rest) HEAD3 "bodies: []\ninlets:\n- {" rest "}\n"
#define TAKE(rest)  HEAD3 "bodies: [" BALL "}]\nremovals:\n- {" rest "}\n"
    static const char *const bad[][2] = {
        {INLET(BOX_REGION ", " GRAIN),
         "test.yaml:4: neither number_rate nor mass_rate, expected one of them"},
        {INLET(BOX_REGION ", number_rate: 1, mass_rate: 1, " GRAIN), "both number_rate and mass_rate"},
        {INLET(BOX_REGION ", number_rate: -1, " GRAIN), "number_rate is -1, expected a number above 0"},
        {INLET(BOX_REGION ", mass_rate: 0, " GRAIN), "mass_rate is 0, expected a number above 0"},
        {INLET("number_rate: 1, " GRAIN), "an inlet has no 'region', expected region"},
        {INLET(BOX_REGION ", number_rate: 1"), "'inlet' has no 'body' beside it, expected a prototype"},
        {INLET(BOX_REGION ", number_rate: 1, number_limit: -1, " GRAIN),
         "number_limit is -1, expected a whole"},
        {INLET(BOX_REGION ", number_rate: 1, mass_limit: -1, " GRAIN), "mass_limit is -1, expected a number"},
        {INLET(BOX_REGION ", number_rate: 1, from: 2, until: 1, " GRAIN),
         "from is 2 and until 1, expected from"},
        {INLET(BOX_REGION ", number_rate: 1, from: -1, " GRAIN), "from is -1, expected a number from 0 up"},
        {INLET(BOX_REGION ", number_rate: 1e12, " GRAIN),
         "1e+09 bodies in a step of 0.001 s, expected at most"},
        {INLET(BOX_REGION ", mass_rate: 1e12, " GRAIN), "bodies in a step of 0.001 s, expected at most"},
        {INLET(BOX_REGION ", number_rat: 1, " GRAIN), "unknown key 'number_rat' in an inlet, did you mean"},
        {INLET(BOX_REGION ", number_rate: 1, size: 9, " GRAIN),
         "a body of radius 0.9 m about its mass centre in a region 1 m wide"},
        {INLET(BOX_REGION
               ", number_rate: 1, body: {shape: {kind: polyhedron, points: [[0, 0, 0], [0.4, 0, 0], [0, 0.4, "
               "0], [0, 0, 0.4]]}}"),
         "a body of radius 0.573205 m about its mass centre in a region 1 m wide"},
        {INLET(BOX_REGION ", number_rate: 1, mixture: [{number_share: 0, " GRAIN "}]"), "shares add up to 0"},
        {INLET(BOX_REGION ", number_rate: 1, mixture: [{number_share: -1, " GRAIN "}]"),
         "number_share is -1"},
        {INLET("region: {kind: half-space}, number_rate: 1, " GRAIN),
         "a half-space in a scene of dimension 3"},
        {INLET("region: {kind: bag}, number_rate: 1, " GRAIN), "no kind of region 'bag'"},
        {INLET(BOX_REGION ", number_rate: 1, body: {motion: driven, shape: {kind: sphere, radius: 0.1}}"),
         "unknown key 'motion' in a prototype"},
        {INLET(BOX_REGION ", number_rate: 1, body: {shape: {kind: half-space}}"),
         "expected a shape with a size"},
        {HEAD3 "inlets: {a: 1}\n", "inlets is a map of keys, expected a list"},
        {HEAD3 "bodies:\n- {name: floor, motion: static, position: [0, 0, 1.25], shape: {kind: half-space}}\n"
               "inlets:\n- number_rate: 1\n  " GRAIN "\n  " BOX_REGION "\n",
         "test.yaml:7: the region from (0, 0, 1) to (1, 1, 2) lies 0.25 m deep in the static body 'floor'"},
        {HEAD3 "inlets:\n- {name: a, number_rate: 1, " GRAIN ", " BOX_REGION
               "}\n- {name: a, number_rate: 1, " GRAIN ", " BOX_REGION "}\n",
         "test.yaml:4: an inlet 'a' for the second time"},
        {TAKE("name: a"), "test.yaml:4: neither inside nor outside, expected one of them"},
        {TAKE("inside: {kind: ball, radius: 1}, outside: {kind: ball, radius: 1}"),
         "both inside and outside"},
        {TAKE("inside: {kind: ball}"), "a region has no 'radius'"},
        {TAKE("inside: {kind: disc, radius: 1}"), "a disc in a scene of dimension 3, expected box or"},
        {TAKE("inside: {kind: half-space, normal: [0, 0, 0]}"), "normal has length 0, expected a direction"},
        {TAKE("inside: {kind: ball, radius: 1}, bodies: [bal]"), "no body and no prototype 'bal'"},
        {TAKE("inside: {kind: ball, radius: 1}, bodies: []"), "bodies is empty, expected a list of names"},
        {HEAD3 "removals: 7\n", "removals is a text, expected a list"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) refuses(bad[i][0], bad[i][1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_books_close),
        cmocka_unit_test(test_rates_are_exact),
        cmocka_unit_test(test_nothing_is_born_into_another),
        cmocka_unit_test(test_a_full_region_waits),
        cmocka_unit_test(test_bodies_are_as_asked_for),
        cmocka_unit_test(test_threads_give_the_same_bits),
        cmocka_unit_test(test_going_on_gives_the_same_bits),
        cmocka_unit_test(test_states_that_do_not_fit),
        cmocka_unit_test(test_removals),
        cmocka_unit_test(test_gates_that_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
