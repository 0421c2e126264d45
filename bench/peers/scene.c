#include "scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void peer_give_up(const char *message) {
    fprintf(stderr, "bench/peers: %s\n", message);
    exit(1);
}

double peer_setting_number(const char *setting) {
    const char *colon = strchr(setting, ':');
    if (!colon || !*colon) peer_give_up("a setting needs a number: name:number");
    return atof(colon + 1);
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static void read_numbers(FILE *file, double *numbers, int count) {
    for (int i = 0; i < count; i++)
        if (fscanf(file, "%lf", &numbers[i]) != 1) peer_give_up("a number is missing in the scene");
}

static int read_count(FILE *file) {
    double number;
    read_numbers(file, &number, 1);
    return (int)number;
}

/* So many items follow. */
static void *read_room(FILE *file, int *count, size_t size) {
    *count = read_count(file);
    void *items = *count >= 0 ? calloc((size_t)*count + 1, size) : NULL;
    if (!items) peer_give_up("a count in the scene is negative, or memory is short");
    return items;
}

/* I of a homogeneous box or sphere about its middle. */
static void set_inertia(peer_body *body) {
    const double *s = body->size, m = body->mass;
    for (int k = 0; k < 3; k++) {
        const double a = s[(k + 1) % 3], b = s[(k + 2) % 3];
        body->inertia[k] = body->is_box ? m * (a * a + b * b) / 12 : 0.4 * m * s[0] * s[0] / 4;
    }
}

static void read_body(FILE *file, peer_body *body) {
    char kind[8] = "";
    if (fscanf(file, "%7s", kind) != 1 || (strcmp(kind, "box") && strcmp(kind, "sphere")))
        peer_give_up("a body is neither a box nor a sphere");
    body->is_box = kind[0] == 'b';
    read_numbers(file, body->size, 3);
    read_numbers(file, &body->mass, 1);
    read_numbers(file, body->state.x, 3);
    read_numbers(file, body->state.q, 4);
    read_numbers(file, body->state.v, 3);
    read_numbers(file, body->state.w, 3);
    set_inertia(body);
}

static void read_bodies(FILE *file, peer_scene *scene) {
    scene->bodies = read_room(file, &scene->body_count, sizeof *scene->bodies);
    for (int i = 0; i < scene->body_count; i++) read_body(file, &scene->bodies[i]);
}

static void read_planes(FILE *file, peer_scene *scene) {
    scene->planes = read_room(file, &scene->plane_count, sizeof *scene->planes);
    for (int i = 0; i < scene->plane_count; i++) {
        read_numbers(file, scene->planes[i].normal, 3);
        read_numbers(file, &scene->planes[i].offset, 1);
    }
}

static void read_joint(FILE *file, const peer_scene *scene, peer_joint *joint) {
    static const char *const KINDS[] = {"ball", "hinge", "slider"};
    char kind[8] = "";
    double bodies[2];
    if (fscanf(file, "%7s", kind) != 1) peer_give_up("a joint is missing in the scene");
    for (int k = 0; k < 3; k++)
        if (!strcmp(kind, KINDS[k])) joint->kind = (peer_joint_kind)k, kind[0] = 0;
    if (kind[0]) peer_give_up("a joint is neither a ball, nor a hinge, nor a slider");
    read_numbers(file, bodies, 2);
    for (int side = 0; side < 2; side++) {
        joint->body[side] = (int)bodies[side];
        if (!(bodies[side] >= -1 && bodies[side] < scene->body_count))
            peer_give_up("a joint is at a body that is not there");
    }
    read_numbers(file, joint->point, 3);
    read_numbers(file, joint->axis, 3);
    read_numbers(file, &joint->low, 1);
    read_numbers(file, &joint->high, 1);
    read_numbers(file, &joint->speed, 1);
    read_numbers(file, &joint->force, 1);
    read_numbers(file, &joint->stiffness, 1);
    read_numbers(file, &joint->damping, 1);
}

/* After the bodies. */
static void read_joints(FILE *file, peer_scene *scene) {
    scene->joints = read_room(file, &scene->joint_count, sizeof *scene->joints);
    for (int i = 0; i < scene->joint_count; i++) read_joint(file, scene, &scene->joints[i]);
}

peer_scene peer_scene_read(const char *path) {
    peer_scene scene = {.every = 1};
    char key[16];
    FILE *file = fopen(path, "r");
    if (!file) peer_give_up("cannot read the scene");
    while (fscanf(file, "%15s", key) == 1) {
        if (!strcmp(key, "gravity"))
            read_numbers(file, scene.gravity, 3);
        else if (!strcmp(key, "step"))
            read_numbers(file, &scene.step, 1);
        else if (!strcmp(key, "mu"))
            read_numbers(file, &scene.mu, 1);
        else if (!strcmp(key, "e"))
            read_numbers(file, &scene.e, 1);
        else if (!strcmp(key, "steps"))
            scene.steps = read_count(file);
        else if (!strcmp(key, "every"))
            scene.every = read_count(file);
        else if (!strcmp(key, "planes") && !scene.planes)
            read_planes(file, &scene);
        else if (!strcmp(key, "bodies") && !scene.bodies)
            read_bodies(file, &scene);
        else if (!strcmp(key, "joints") && !scene.joints)
            read_joints(file, &scene);
        else
            peer_give_up("an unknown word in the scene, or one for the second time");
    }
    fclose(file);
    return scene;
}

void peer_scene_free(peer_scene *scene) {
    free(scene->planes);
    free(scene->bodies);
    free(scene->joints);
}

/* q = (1 + z·n, z × n), brought to length 1; downwards it is half a turn about x. */
void peer_plane_turn(const peer_plane *plane, double q[4]) {
    const double *n = plane->normal, w = 1 + n[2], length = sqrt(w * w + n[0] * n[0] + n[1] * n[1]);
    if (length < 1e-12) {
        q[0] = q[2] = q[3] = 0, q[1] = 1;
        return;
    }
    q[0] = w / length, q[1] = -n[1] / length, q[2] = n[0] / length, q[3] = 0;
}

/* ---- running ------------------------------------------------------------------------------------------- */

static double processor_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void tell(const peer_scene *scene, const peer_engine *engine, int step, double seconds) {
    printf("frame %d %.6g\n", step, seconds);
    for (int i = 0; i < scene->body_count; i++) {
        peer_state s;
        engine->state(engine->self, i, &s);
        printf("%.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", s.x[0],
               s.x[1], s.x[2], s.q[0], s.q[1], s.q[2], s.q[3], s.v[0], s.v[1], s.v[2], s.w[0], s.w[1],
               s.w[2]);
    }
}

void peer_run(const peer_scene *scene, const peer_engine *engine, double most_seconds) {
    double spent = 0;
    tell(scene, engine, 0, 0);
    for (int step = 1; step <= scene->steps; step++) {
        const double began = processor_seconds();
        engine->step(engine->self);
        spent += processor_seconds() - began;
        const bool last = step == scene->steps || spent > most_seconds;
        if (last || step % scene->every == 0) tell(scene, engine, step, spent);
        if (last) break;
    }
}
