/* The peers' scenes in Delassus, with everything as it is by default but the tolerance: SETTING is the
 * residual that every step is solved to. */
#include "scene.h"

#include <delassus/delassus.h>

#include <stdlib.h>
#include <string.h>

static void check(dls_status status, const dls_error *error) {
    if (status) peer_give_up(error->message);
}

static void add_plane(dls_world *world, const peer_plane *plane) {
    dls_shape_def shape = dls_default_shape_def(DLS_HALF_SPACE);
    dls_body_def body = dls_default_body_def();
    dls_body_id id;
    dls_error error;
    for (int k = 0; k < 3; k++) body.pose.x[k] = plane->offset * plane->normal[k];
    peer_plane_turn(plane, body.pose.q);
    body.motion = DLS_STATIC;
    body.shape_count = 1, body.shapes = &shape;
    check(dls_world_add_body(world, &body, &id, &error), &error);
}

static void add_body(dls_world *world, const peer_body *from) {
    dls_shape_def shape = dls_default_shape_def(from->is_box ? DLS_BOX : DLS_SPHERE);
    dls_body_def body = dls_default_body_def();
    dls_body_id id;
    dls_error error;
    shape.radius = from->size[0] / 2;
    memcpy(shape.size, from->size, sizeof shape.size);
    memcpy(body.pose.x, from->state.x, sizeof body.pose.x);
    memcpy(body.pose.q, from->state.q, sizeof body.pose.q);
    memcpy(body.v, from->state.v, sizeof body.v);
    memcpy(body.w, from->state.w, sizeof body.w);
    if (from->mass > 0)
        body.mass = from->mass;
    else
        body.motion = DLS_STATIC;
    body.shape_count = 1, body.shapes = &shape;
    check(dls_world_add_body(world, &body, &id, &error), &error);
}

static void add_joint(dls_world *world, const peer_joint *from) {
    static const dls_joint_kind KINDS[] = {DLS_JOINT_SPHERICAL, DLS_JOINT_REVOLUTE, DLS_JOINT_PRISMATIC};
    dls_joint_def joint = dls_default_joint_def(KINDS[from->kind]);
    dls_freedom_def *freedom = &joint.freedom[from->kind == PEER_SLIDER ? 0 : 3];
    dls_joint_id id;
    dls_error error;
    for (int side = 0; side < 2; side++)
        joint.body[side] = from->body[side] < 0 ? DLS_GROUND : from->body[side];
    check(dls_joint_place(world, &joint, from->point, from->axis, NULL, &error), &error);
    freedom->low = from->low, freedom->high = from->high;
    freedom->stiffness = from->stiffness, freedom->damping = from->damping;
    if (from->force > 0) {
        check(dls_function_constant(from->speed, &freedom->velocity, &error), &error);
        freedom->max_force = from->force;
    }
    check(dls_world_add_joint(world, &joint, &id, &error), &error);
}

static dls_world *make_world(const peer_scene *scene) {
    dls_world_def def = dls_default_world_def();
    dls_material_def material = dls_default_material_def();
    dls_world *world;
    dls_error error;
    memcpy(def.gravity, scene->gravity, sizeof def.gravity);
    check(dls_world_create(&def, &world, &error), &error);
    material.name = "all", material.mu = scene->mu, material.e_n = scene->e;
    check(dls_world_set_material(world, 0, &material, &error), &error);
    for (int i = 0; i < scene->body_count; i++) add_body(world, &scene->bodies[i]); /* ids 0, 1, … */
    for (int i = 0; i < scene->plane_count; i++) add_plane(world, &scene->planes[i]);
    for (int i = 0; i < scene->joint_count; i++) add_joint(world, &scene->joints[i]);
    return world;
}

static dls_simulation *make_simulation(const peer_scene *scene, dls_world *world, double tolerance) {
    dls_simulation_options options = dls_default_simulation_options();
    dls_auto_options solver;
    dls_simulation *simulation;
    dls_error error;
    options.step = scene->step;
    check(dls_simulation_create(world, &options, &simulation, &error), &error);
    dls_simulation_solver_defaults(dls_solver_find("auto"), &solver);
    solver.stop.tolerance = tolerance;
    check(dls_simulation_set_solver(simulation, dls_solver_find("auto"), &solver, &error), &error);
    return simulation;
}

static void take_step(void *self) {
    dls_error error;
    check(dls_simulation_step(self, NULL, &error), &error);
}

static void get_state(void *self, int body, peer_state *state) {
    dls_body_state s;
    dls_error error;
    check(dls_body_state_get(dls_simulation_world(self), body, &s, &error), &error);
    memcpy(state->x, s.x, sizeof s.x);
    memcpy(state->q, s.q, sizeof s.q);
    memcpy(state->v, s.v, sizeof s.v);
    memcpy(state->w, s.w, sizeof s.w);
}

int main(int count, char **words) {
    if (count != 4) peer_give_up("usage: peer_delassus SCENE RESIDUAL MOST_SECONDS");
    peer_scene scene = peer_scene_read(words[1]);
    dls_world *world = make_world(&scene);
    dls_simulation *simulation = make_simulation(&scene, world, atof(words[2]));
    peer_run(&scene, &(peer_engine){simulation, take_step, get_state}, atof(words[3]));
    dls_simulation_destroy(simulation);
    dls_world_destroy(world);
    peer_scene_free(&scene);
}
