/* Rows of the world from step to step: who comes and goes, drives, forces, and state as bytes. */
#include "base/random.h"
#include "base/vector.h"
#include "support/allocator.h"
#include "support/scale.h"
#include "support/test.h"
#include "world/world.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static dls_world *make_world(void) {
    dls_world_def def = dls_default_world_def();
    dls_world *world;
    assert_int_equal(dls_world_create(&def, &world, NULL), DLS_OK);
    return world;
}

static dls_function *expression(const char *text) {
    dls_function *f;
    assert_int_equal(dls_function_expression(text, 0, NULL, NULL, &f, NULL), DLS_OK);
    return f;
}

static dls_body_id add(dls_world *world, const dls_body_def *def) {
    dls_body_id id;
    dls_error error;
    if (dls_world_add_body(world, def, &id, &error)) fail_msg("%s", error.message);
    return id;
}

/* One to three shapes of random kinds, which depend on n alone. */
static dls_body_id add_random(dls_world *world, int n) {
    dls_random g = {1000 + (uint64_t)n};
    dls_shape_def shapes[3];
    dls_body_def def = dls_default_body_def();
    def.shape_count = 1 + n % 3;
    def.shapes = shapes;
    for (int k = 0; k < 3; k++) {
        shapes[k] = dls_default_shape_def((n + k) % 2 ? DLS_SPHERE : DLS_BOX);
        shapes[k].radius = dls_random_between(&g, 0.1, 1);
        for (int i = 0; i < 3; i++) shapes[k].size[i] = dls_random_between(&g, 0.1, 1);
        shapes[k].pose.x[0] = k;
    }
    if (n % 7 == 0) def.motion = DLS_STATIC;
    for (int i = 0; i < 3; i++)
        def.pose.x[i] = n % 4 == 1 ? (double)dls_random_below(&g, 2) : dls_random_normal(&g);
    return add(world, &def);
}

static void check_rows(const dls_world *w) {
    int shapes = 0, last = -1;
    for (int row = 0; row < w->body_count; row++) {
        const dls_body *body = &w->bodies[row];
        assert_true(body->uid > last);
        last = body->uid;
        assert_int_equal(body->shape_first, shapes);
        assert_int_equal(w->entries[body->id].row, row);
        assert_int_equal(dls_body_presence(w, body->id), DLS_PRESENT);
        assert_ptr_equal(dls_world_state(w, body->id), &w->states[row]);
        for (int k = 0; k < body->shape_count; k++) assert_int_equal(w->shapes[shapes + k].body, row);
        shapes += body->shape_count;
    }
    assert_int_equal(shapes, w->shape_count);
    int present = 0;
    for (int id = 0; id < w->entry_count; id++) present += dls_body_presence(w, id) == DLS_PRESENT;
    assert_int_equal(present, w->body_count);
}

static bool settle(dls_world *w, double t) {
    bool changed;
    dls_error error;
    if (dls_world_settle(w, t, &changed, &error)) fail_msg("%s", error.message);
    check_rows(w);
    return changed;
}

/* ---- coming and going ---- */

static void rows_do_not_depend_on_the_order_of_adding(void **state) {
    (void)state;
    enum { N = 300 };
    dls_random g = {41};
    dls_world *first = make_world();
    for (int k = 0; k < N; k++) add_random(first, k);
    settle(first, 0);
    for (int round = 0; round < scaled(10, 2); round++) {
        int order[N];
        for (int k = 0; k < N; k++) {
            int j = (int)dls_random_below(&g, (uint64_t)k + 1);
            order[k] = order[j];
            order[j] = k;
        }
        dls_world *w = make_world();
        for (int k = 0; k < N; k++) add_random(w, order[k]);
        settle(w, 0);
        assert_int_equal(w->body_count, N);
        assert_memory_equal(w->states, first->states, N * sizeof *w->states);
        for (int row = 0; row < N; row++) {
            assert_true(w->bodies[row].mass == first->bodies[row].mass);
            assert_int_equal(w->bodies[row].uid, row);
            assert_int_equal(order[w->bodies[row].id], first->bodies[row].id);
        }
        dls_world_destroy(w);
    }
    dls_world_destroy(first);
}

enum { TWINS = 21 };

/* Bodies in one place that differ in one thing alone: the k-th, in one of the two. */
static dls_body_id add_twin(dls_world *w, int k, bool differs) {
    static const double points[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const double inertia[9] = {1, 0, 0, 0, 2, 0, 0, 0, 3};
    static const double other[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1.5};
    static const int triangles[] = {0, 1, 2, 0, 2, 3};
    dls_shape_def shapes[2] = {dls_default_shape_def(DLS_SPHERE), dls_default_shape_def(DLS_SPHERE)};
    dls_body_def def = dls_default_body_def();
    def.shapes = shapes, def.shape_count = 1;
    def.mass = 1, def.inertia = inertia;
    if (k == 8 || k == 20) def.motion = DLS_STATIC, def.mass = 0, def.inertia = NULL;
    if (k == 10 || k == 14) shapes[0] = dls_default_shape_def(DLS_CAPSULE), shapes[0].length = 1;
    if (k == 12 || k == 15) shapes[0] = dls_default_shape_def(DLS_ELLIPSOID);
    if (k >= 19) shapes[0] = dls_default_shape_def(k == 19 ? DLS_POLYHEDRON : DLS_MESH);
    shapes[0].radius = shapes[1].radius = 0.5;
    vec_set(shapes[0].size, 1, 1, 1);
    shapes[0].points = points, shapes[0].point_count = 4;
    shapes[0].triangles = triangles, shapes[0].triangle_count = 2;
    if (!differs) return add(w, &def);
    if (k == 0) def.pose.q[0] = def.pose.q[3] = sqrt(0.5);
    if (k == 1) def.mass = 2;
    if (k >= 2 && k <= 4) def.v[k - 2] = 1;
    if (k >= 5 && k <= 7) def.w[k - 5] = 1;
    if (k == 8) def.motion = DLS_DRIVEN;
    if (k == 9) def.shape_count = 2;
    if (k == 10) shapes[0].kind = DLS_CYLINDER;
    if (k == 11) shapes[0].pose.x[1] = 0.1;
    if (k == 12) shapes[0].pose.q[0] = 0.6, shapes[0].pose.q[1] = 0.8;
    if (k == 13) shapes[0].radius = 0.6;
    if (k == 14) shapes[0].length = 2;
    if (k == 15) shapes[0].size[2] = 2;
    if (k == 16) shapes[0].material = 1;
    if (k == 17) shapes[0].group = 2;
    if (k == 18) shapes[0].collides = 1;
    if (k >= 19) shapes[0].points = other;
    return add(w, &def);
}

/* Each thing that bodies in one place may differ in decides their order, whichever was added first. */
static void twins_have_an_order(void **state) {
    (void)state;
    for (int k = 0; k < TWINS; k++) {
        bool differs[2]; /* the body in the first row */
        for (int order = 0; order < 2; order++) {
            dls_world *w = make_world();
            dls_material_def material = dls_default_material_def();
            dls_material_id id;
            while (dls_world_material_count(w) < 2)
                assert_int_equal(dls_world_add_material(w, &material, &id, NULL), DLS_OK);
            dls_body_id id_of[2] = {add_twin(w, k, order == 1), add_twin(w, k, order == 0)};
            settle(w, 0);
            differs[order] = w->bodies[0].id == id_of[order == 0];
            dls_world_destroy(w);
        }
        if (differs[0] != differs[1]) fail_msg("twins %d: their order is that of adding", k);
    }
}

/* Neighbours in memory are near in space: rows of a lattice of n³ are a few cells apart on average. */
static void rows_follow_a_curve_through_space(void **state) {
    (void)state;
    enum { N = 16 };
    dls_world *w = make_world();
    dls_shape_def shape = dls_default_shape_def(DLS_SPHERE);
    shape.radius = 0.5;
    dls_body_def def = dls_default_body_def();
    def.shapes = &shape, def.shape_count = 1;
    for (int k = 0; k < N * N * N; k++) {
        int place = (int)((uint64_t)k * 2654435761u % (N * N * N)); /* odd, so every place comes once */
        vec_set(def.pose.x, place % N, place / N % N, place / N / N);
        add(w, &def);
    }
    dls_shape_def floor = dls_default_shape_def(DLS_HALF_SPACE);
    def.shapes = &floor, def.motion = DLS_STATIC;
    vec_set(def.pose.x, 1e6, 1e6, -1e6); /* far away, and does not spoil it */
    add(w, &def);
    settle(w, 0);
    double sum = 0;
    int moving = 0;
    for (int row = 1; row < w->body_count; row++)
        if (w->bodies[row].motion == DLS_DYNAMIC && w->bodies[row - 1].motion == DLS_DYNAMIC) {
            sum += vec_distance(w->states[row].x, w->states[row - 1].x);
            moving++;
        }
    assert_true(sum / moving < 1.7);
    dls_world_destroy(w);
}

static void bodies_are_born_die_and_leave(void **state) {
    (void)state;
    dls_world *w = make_world();
    dls_shape_def shape = dls_default_shape_def(DLS_SPHERE);
    shape.radius = 1;
    dls_body_def def = dls_default_body_def();
    def.shapes = &shape, def.shape_count = 1;
    const double birth[6] = {-INFINITY, 0, 0.5, 1, -INFINITY, 2},
                 death[6] = {INFINITY, 1, INFINITY, 3, 0, 2.5};
    for (int k = 0; k < 6; k++) {
        def.birth = birth[k], def.death = death[k];
        def.pose.x[0] = k;
        assert_int_equal(add(w, &def), k);
        assert_int_equal(dls_body_presence(w, k), DLS_WAITING);
    }
    for (double t = 0; t < 4; t += 0.25) {
        int before[6];
        for (int k = 0; k < 6; k++) before[k] = dls_body_presence(w, k);
        bool any = false, changed = settle(w, t);
        for (int k = 0; k < 6; k++) {
            dls_presence expected = t >= death[k] ? DLS_GONE : t >= birth[k] ? DLS_PRESENT : DLS_WAITING;
            assert_int_equal(dls_body_presence(w, k), expected);
            any |= (before[k] == DLS_PRESENT) != (expected == DLS_PRESENT);
            dls_body_state s; /* wherever it is */
            assert_int_equal(dls_body_state_get(w, k, &s, NULL), DLS_OK);
            assert_true(s.x[0] == k);
            assert_int_equal(dls_body_shape_count(w, k), 1);
        }
        assert_int_equal(changed, any);
    }
    assert_int_equal(w->next_uid, 5); /* one died before it was born */
    dls_error error;
    assert_int_equal(dls_world_remove_body(w, 2, &error), DLS_OK);
    assert_int_equal(dls_body_presence(w, 2), DLS_PRESENT);
    assert_int_equal(dls_world_remove_body(w, 2, &error), DLS_ERROR_ARGUMENT);
    assert_string_equal(error.message, "body 2 is gone already");
    assert_true(settle(w, 5) && dls_body_presence(w, 2) == DLS_GONE);
    assert_false(settle(w, 6));
    assert_int_equal(dls_world_remove_body(w, 9, &error), DLS_ERROR_ARGUMENT);
    dls_world_destroy(w);
}

static void bodies_need_no_shapes(void **state) {
    (void)state;
    const double inertia[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    dls_world *w = make_world();
    dls_body_def def = dls_default_body_def();
    def.mass = 1, def.inertia = inertia;
    for (int k = 0; k < 3; k++) add(w, &def);
    assert_true(settle(w, 0) && w->body_count == 3 && w->shape_count == 0);
    assert_int_equal(dls_world_remove_body(w, 1, NULL), DLS_OK);
    assert_true(settle(w, 1) && w->body_count == 2);
    assert_int_equal(dls_body_shape_count(w, 1), 0);
    dls_world_destroy(w);
}

/* Random comings and goings; the order of those that stay never changes. */
static void order_is_kept(void **state) {
    (void)state;
    dls_random g = {42};
    for (int round = 0; round < scaled(20, 2); round++) {
        dls_world *w = make_world();
        for (int t = 0; t < 20; t++) {
            int count = w->body_count, *uid = malloc(sizeof *uid * ((size_t)count + 1)), kept = 0;
            for (int row = 0; row < count; row++) uid[row] = w->bodies[row].uid;
            for (int k = 0; k < 10; k++) add_random(w, 100 * t + k);
            for (int row = 0; row < count; row++)
                if (dls_random_below(&g, 5) == 0)
                    assert_int_equal(dls_world_remove_body(w, w->bodies[row].id, NULL), DLS_OK);
            settle(w, t);
            for (int row = 0; row < w->body_count && w->bodies[row].uid < w->next_uid - 10; row++, kept++)
                while (kept < count && uid[kept] != w->bodies[row].uid) kept++;
            assert_true(kept <= count);
            free(uid);
        }
        dls_world_destroy(w);
    }
}

/* ---- drives ---- */

static dls_body_def driven(const dls_shape_def *shape) {
    dls_body_def def = dls_default_body_def();
    def.motion = DLS_DRIVEN;
    def.shapes = shape, def.shape_count = 1;
    return def;
}

/* As a time stepper moves driven rows. */
static void step(dls_world *w, double t, double h) {
    dls_error error;
    settle(w, t);
    if (dls_world_drive(w, t + h, h, &error)) fail_msg("%s", error.message);
    for (int row = 0; row < w->body_count; row++) {
        double a[3], q[4];
        vec_along(w->states[row].x, w->states[row].x, h, w->states[row].v);
        vec_scale(a, h, w->states[row].w);
        quat_exponential(q, a);
        quat_multiply(w->states[row].q, q, w->states[row].q);
    }
}

static void positions_are_met_to_the_bit(void **state) {
    (void)state;
    dls_world *w = make_world();
    dls_shape_def shape = dls_default_shape_def(DLS_BOX);
    vec_set(shape.size, 1, 1, 1);
    dls_body_def def = driven(&shape);
    def.drive[0].position = expression("0.1*sin(3*t)");
    def.drive[5].position = expression("2*t^2");
    vec_set(def.pose.x, 1, 2, 3);
    for (int k = 0; k < 4; k++) def.pose.q[k] = 0.5;
    dls_body_id id = add(w, &def);
    dls_function *way = expression("0.1*sin(3*t)");
    double h = 0.01;
    for (int n = 0; n < 300; n++) {
        double t = n * h;
        step(w, t, h);
        dls_body_state moved = *dls_world_state(w, id);
        dls_world_drive_finish(w, t + h);
        const dls_body_state *s = dls_world_state(w, id);
        double angle = 2 * (t + h) * (t + h), a[3] = {0, 0, angle}, r[4], q[4];
        quat_exponential(r, a);
        quat_multiply(q, r, def.pose.q);
        assert_true(s->x[0] == 1 + dls_function_value(way, t + h) && s->x[1] == 2 && s->x[2] == 3);
        for (int k = 0; k < 4; k++) assert_true(fabs(s->q[k] - q[k]) < 1e-13);
        assert_true(vec_distance(moved.x, s->x) < 1e-14); /* v and w alone lead there */
        for (int k = 0; k < 4; k++) assert_true(fabs(moved.q[k] - s->q[k]) < 1e-13);
        assert_true(fabs(s->w[2] - (angle - 2 * t * t) / h) < 1e-9 && s->w[0] == 0 && s->v[1] == 0);
    }
    dls_function_destroy(way);
    dls_world_destroy(w);
}

static void velocities_are_taken_in_the_middle(void **state) {
    (void)state;
    dls_world *w = make_world();
    dls_shape_def shape = dls_default_shape_def(DLS_HALF_SPACE);
    dls_body_def def = driven(&shape);
    def.drive[1].velocity = expression("t");
    for (int k = 3; k < 6; k++) def.drive[k].velocity = expression(k == 4 ? "t^2" : "1");
    def.birth = 1; /* functions are of the world's time */
    dls_body_id id = add(w, &def);
    step(w, 0, 0.5);
    assert_int_equal(w->body_count, 0);
    step(w, 1, 0.5);
    dls_world_drive_finish(w, 1.5);
    const dls_body_state *s = dls_world_state(w, id);
    assert_true(s->v[1] == 1.25 && s->v[0] == 0 && s->x[1] == 0.625);
    assert_true(s->w[0] == 1 && s->w[1] == 1.25 * 1.25 && s->w[2] == 1);
    dls_world_destroy(w);
}

static void servos_yield_until_they_press_as_wanted(void **state) {
    (void)state;
    dls_world *w = make_world();
    dls_shape_def shape = dls_default_shape_def(DLS_HALF_SPACE);
    dls_body_def def = driven(&shape);
    def.drive[2].force = expression("-100");
    def.drive[2].gain = 1e-3, def.drive[2].max_speed = 0.05;
    dls_body_id id = add(w, &def);
    def = driven(&shape);
    dls_body_id still = add(w, &def);
    step(w, 0, 0.01);
    int row = w->entries[id].row;
    double speed[3], mobility[3];
    assert_false(dls_world_servo(w, w->entries[still].row, speed, mobility));
    assert_true(dls_world_servo(w, row, speed, mobility));
    assert_true(speed[0] == 0 && mobility[0] == 0);
    /* at its highest speed, and still where 100 N push back for 0.01 s */
    assert_true(speed[2] == -0.05 && fabs(speed[2] + mobility[2] * 100 * 0.01) < 1e-15);
    dls_world_destroy(w);
}

static void a_state_set_from_outside_moves_the_drive(void **state) {
    (void)state;
    dls_world *w = make_world();
    dls_shape_def shape = dls_default_shape_def(DLS_HALF_SPACE);
    dls_body_def def = driven(&shape);
    def.drive[0].position = expression("t");
    def.drive[3].position = expression("t");
    dls_body_id id = add(w, &def);
    for (int n = 0; n < 4; n++) {
        step(w, 0.25 * n, 0.25);
        dls_world_drive_finish(w, 0.25 * n + 0.25);
    }
    dls_body_state s = *dls_world_state(w, id);
    s.x[0] += 10, s.x[1] = 5;
    assert_int_equal(dls_body_state_set(w, id, &s, NULL), DLS_OK);
    step(w, 1, 0.25);
    dls_world_drive_finish(w, 1.25);
    const dls_body_state *now = dls_world_state(w, id);
    assert_true(fabs(now->v[0] - 1) < 1e-14 && now->x[0] == 11.25 && now->x[1] == 5);
    assert_true(fabs(now->w[0] - 1) < 1e-14 && fabs(now->q[0] - cos(0.625)) < 1e-15);
    dls_world_destroy(w);
}

/* ---- forces ---- */

static void forces_add_to_gravity(void **state) {
    (void)state;
    dls_world *w = make_world();
    dls_shape_def shape = dls_default_shape_def(DLS_SPHERE);
    shape.radius = 1;
    dls_body_def def = dls_default_body_def();
    def.shapes = &shape, def.shape_count = 1;
    def.mass = 2;
    def.force[0] = expression("3*t"), def.torque[2] = expression("-t");
    dls_body_id pushed = add(w, &def);
    def.force[0] = def.torque[2] = NULL;
    def.pose.x[0] = 5;
    dls_body_id free = add(w, &def);
    settle(w, 0);
    double force[3], torque[3];
    assert_int_equal(dls_world_force(w, w->entries[pushed].row, 2, force, torque, NULL), DLS_OK);
    assert_true(force[0] == 6 && force[1] == 0 && force[2] == 2 * -9.81);
    assert_true(torque[0] == 0 && torque[2] == -2);
    assert_int_equal(dls_world_force(w, w->entries[free].row, 2, force, torque, NULL), DLS_OK);
    assert_true(force[0] == 0 && force[2] == 2 * -9.81 && torque[2] == 0);
    dls_world_destroy(w);
}

static void values_that_are_not_finite_stop_the_step(void **state) {
    (void)state;
    dls_world *w = make_world();
    dls_shape_def shape = dls_default_shape_def(DLS_SPHERE);
    shape.radius = 1;
    dls_body_def def = driven(&shape);
    def.name = "piston";
    def.drive[2].position = expression("1/(t - 1)");
    add(w, &def);
    def = dls_default_body_def();
    def.shapes = &shape, def.shape_count = 1;
    def.torque[1] = expression("sqrt(-t)");
    dls_body_id id = add(w, &def);
    settle(w, 0);
    dls_error error;
    double force[3], torque[3];
    assert_int_equal(dls_world_drive(w, 0.5, 0.5, &error), DLS_OK);
    assert_int_equal(dls_world_drive(w, 1, 0.5, &error), DLS_ERROR_NUMERIC);
    assert_string_equal(error.message, "body 'piston': position of the translation along z is inf at t = 1, "
                                       "expected a finite number");
    assert_int_equal(dls_world_force(w, w->entries[id].row, 1, force, torque, &error), DLS_ERROR_NUMERIC);
    assert_non_null(strstr(error.message, "body 1: torque of the rotation about y is "));
    assert_non_null(strstr(error.message, "nan at t = 1, expected a finite number"));
    dls_world_destroy(w);
}

/* ---- bytes ---- */

static dls_world *make_scene(void) {
    dls_world *w = make_world();
    for (int n = 0; n < 30; n++) add_random(w, n);
    dls_shape_def shape = dls_default_shape_def(DLS_SPHERE);
    shape.radius = 1;
    dls_body_def def = driven(&shape);
    def.drive[5].position = expression("t");
    add(w, &def);
    def = dls_default_body_def();
    def.shapes = &shape, def.shape_count = 1;
    for (int k = 0; k < 5; k++) {
        def.birth = 0.1 * k, def.death = 0.1 * k + 0.35;
        def.pose.x[0] = -k;
        add(w, &def);
    }
    return w;
}

static void advance(dls_world *w, int first, int end) {
    for (int n = first; n < end; n++) {
        if (n == 3) assert_int_equal(dls_world_remove_body(w, 4, NULL), DLS_OK);
        step(w, 0.1 * n, 0.1);
        dls_world_drive_finish(w, 0.1 * n + 0.1);
        for (int row = 0; row < w->body_count; row++)
            if (w->bodies[row].motion == DLS_DYNAMIC) w->states[row].v[0] += 0.1 * row;
    }
}

static void *bytes_of(const dls_world *w, size_t *size) {
    *size = dls_world_memory_size(w);
    void *bytes = malloc(*size);
    dls_world_memory_write(w, bytes);
    return bytes;
}

static void a_world_goes_on_from_its_bytes(void **state) {
    (void)state;
    size_t size, other;
    dls_world *whole = make_scene();
    advance(whole, 0, 10);
    void *expected = bytes_of(whole, &size);
    for (int cut = 0; cut <= 10; cut++)
        for (int used = 0; used < 10; used += 9) { /* into a new world and into one that has gone on */
            dls_world *a = make_scene(), *b = make_scene();
            advance(a, 0, cut);
            void *bytes = bytes_of(a, &other);
            if (used) advance(b, 0, used);
            dls_error error;
            if (dls_world_memory_read(b, bytes, other, &error)) fail_msg("%s", error.message);
            free(bytes);
            advance(b, cut, 10);
            bytes = bytes_of(b, &other);
            assert_int_equal(size, other);
            assert_memory_equal(bytes, expected, size);
            free(bytes);
            dls_world_destroy(a);
            dls_world_destroy(b);
        }
    free(expected);
    dls_world_destroy(whole);
}

static void damaged_bytes_are_refused(void **state) {
    (void)state;
    dls_world *w = make_scene(), *empty = make_world();
    advance(w, 0, 3);
    size_t size;
    uint8_t *good = bytes_of(w, &size), *bad = malloc(size);
    dls_error error;
    assert_int_equal(dls_world_memory_read(w, good, 10, &error), DLS_ERROR_INPUT);
    assert_string_equal(error.message, "state of the world has 10 bytes, expected at least 40");
    assert_int_equal(dls_world_memory_read(w, good, size - 1, &error), DLS_ERROR_INPUT);
    assert_non_null(strstr(error.message, "bytes, expected "));
    assert_int_equal(dls_world_memory_read(empty, good, size, &error), DLS_ERROR_INPUT);
    assert_string_equal(error.message,
                        "state of a world with 36 bodies (1 with forces or drives), this one has 0 (0)");
    dls_random g = {43};
    int refused = 0;
    for (int n = 0; n < scaled(2000, 200); n++) { /* whatever is read, rows stay sound */
        memcpy(bad, good, size);
        for (int k = 0; k < 3; k++)
            bad[dls_random_below(&g, size)] ^= (uint8_t)(1u << dls_random_below(&g, 8));
        for (int k = 0; k < 2; k++)
            bad[size - 1 - dls_random_below(&g, 200)] ^= (uint8_t)(1u << dls_random_below(&g, 8));
        refused += dls_world_memory_read(w, bad, size, &error) != DLS_OK;
        check_rows(w);
    }
    assert_true(refused > 0);
    free(good);
    free(bad);
    dls_world_destroy(w);
    dls_world_destroy(empty);
}

/* ---- cost ---- */

static size_t bytes_now, bytes_most;

static void *weighing_allocate(size_t bytes, void *user) {
    (void)user;
    size_t *block = malloc(bytes + 16);
    if (!block) return NULL;
    *block = bytes;
    bytes_now += bytes;
    if (bytes_now > bytes_most) bytes_most = bytes_now;
    return block + 2;
}

static void weighing_release(void *block, void *user) {
    (void)user;
    if (!block) return;
    bytes_now -= ((size_t *)block)[-2];
    free((size_t *)block - 2);
}

/* At any moment less than 1 kB per sphere, and a few allocations in all. */
static void spheres_are_small(void **state) {
    (void)state;
    int count = scaled(100000, 5000);
    bytes_now = bytes_most = 0;
    dls_allocator_set(&(dls_allocator){weighing_allocate, weighing_release, NULL});
    dls_world *w = make_world();
    dls_shape_def shape = dls_default_shape_def(DLS_SPHERE);
    shape.radius = 0.01;
    dls_body_def def = dls_default_body_def();
    def.shapes = &shape, def.shape_count = 1;
    dls_random g = {44};
    for (int k = 0; k < count; k++) {
        for (int i = 0; i < 3; i++) def.pose.x[i] = dls_random_unit(&g);
        add(w, &def);
    }
    settle(w, 0);
    assert_int_equal(w->body_count, count);
    assert_true((double)bytes_most / count < 1000);
    dls_world_destroy(w);
    assert_int_equal(bytes_now, 0);
    dls_allocator_set(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_do_not_depend_on_the_order_of_adding),
        cmocka_unit_test(twins_have_an_order),
        cmocka_unit_test(rows_follow_a_curve_through_space),
        cmocka_unit_test(bodies_are_born_die_and_leave),
        cmocka_unit_test(bodies_need_no_shapes),
        cmocka_unit_test(order_is_kept),
        cmocka_unit_test(positions_are_met_to_the_bit),
        cmocka_unit_test(velocities_are_taken_in_the_middle),
        cmocka_unit_test(servos_yield_until_they_press_as_wanted),
        cmocka_unit_test(a_state_set_from_outside_moves_the_drive),
        cmocka_unit_test(forces_add_to_gravity),
        cmocka_unit_test(values_that_are_not_finite_stop_the_step),
        cmocka_unit_test(a_world_goes_on_from_its_bytes),
        cmocka_unit_test(damaged_bytes_are_refused),
        cmocka_unit_test(spheres_are_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
