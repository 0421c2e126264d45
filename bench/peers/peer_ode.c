/* The peers' scenes in ODE (double precision, as Debian builds it). SETTING:
 *
 *     quick:N   dWorldQuickStep with N iterations; 20 are its default
 *     step:X    dWorldStep: the whole contact problem by pivoting, the most exact that ODE has. X is the
 * share of a penetration that a step takes back (ERP), 0.2 by default; the less, the calmer
 *
 * Joints take back the same share of their gaps. A spring is a stop at rest whose ERP and CFM are those of an
 * implicit spring, as ODE's manual has it.
 *
 * Friction is the pyramid that scales with the normal force (dContactApprox1), which is nearer to Coulomb's
 * law than ODE's default, a constant bound. Nothing sleeps, no damping, softness as by default (CFM 1e-10;
 * with none at all a box slides off). */
#include "scene.h"

#include <ode/ode.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CONTACTS_OF_A_PAIR = 16 };

typedef struct engine {
    const peer_scene *scene;
    dWorldID world;
    dSpaceID space;
    dJointGroupID contacts;
    dBodyID *bodies;
    bool quick;
} engine;

static void add_body(engine *e, int index) {
    const peer_body *from = &e->scene->bodies[index];
    const double *s = from->size, *q = from->state.q, *v = from->state.v, *w = from->state.w;
    const dGeomID geom =
        from->is_box ? dCreateBox(e->space, s[0], s[1], s[2]) : dCreateSphere(e->space, s[0] / 2);
    if (!(from->mass > 0)) {
        dGeomSetPosition(geom, from->state.x[0], from->state.x[1], from->state.x[2]);
        dGeomSetQuaternion(geom, (const dQuaternion){q[0], q[1], q[2], q[3]});
        return;
    }
    const dBodyID body = dBodyCreate(e->world);
    dMass mass;
    dMassSetParameters(&mass, from->mass, 0, 0, 0, from->inertia[0], from->inertia[1], from->inertia[2], 0, 0,
                       0);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, from->state.x[0], from->state.x[1], from->state.x[2]);
    dBodySetQuaternion(body, (const dQuaternion){q[0], q[1], q[2], q[3]});
    dBodySetLinearVel(body, v[0], v[1], v[2]);
    dBodySetAngularVel(body, w[0], w[1], w[2]);
    dGeomSetBody(geom, body);
    e->bodies[index] = body;
}

/* ODE counts how the first body stands against the second. */
static void attach(const engine *e, dJointID joint, const peer_joint *from) {
    dBodyID bodies[2];
    for (int side = 0; side < 2; side++)
        bodies[side] = from->body[side] < 0 ? 0 : e->bodies[from->body[side]];
    dJointAttach(joint, bodies[1], bodies[0]);
}

static void set_hinge(dJointID joint, const peer_joint *from) {
    dJointSetHingeAnchor(joint, from->point[0], from->point[1], from->point[2]);
    dJointSetHingeAxis(joint, from->axis[0], from->axis[1], from->axis[2]);
    if (from->force > 0) {
        dJointSetHingeParam(joint, dParamVel, from->speed);
        dJointSetHingeParam(joint, dParamFMax, from->force);
    }
    if (from->low == 0 && from->high == 0) return;
    dJointSetHingeParam(joint, dParamLoStop, from->low);
    dJointSetHingeParam(joint, dParamHiStop, from->high);
}

static void set_slider(dJointID joint, const peer_joint *from, double h) {
    const double k = from->stiffness, d = from->damping;
    dJointSetSliderAxis(joint, from->axis[0], from->axis[1], from->axis[2]);
    if (from->force > 0) {
        dJointSetSliderParam(joint, dParamVel, from->speed);
        dJointSetSliderParam(joint, dParamFMax, from->force);
    }
    if (k > 0 || d > 0) {
        dJointSetSliderParam(joint, dParamLoStop, 0);
        dJointSetSliderParam(joint, dParamHiStop, 0);
        dJointSetSliderParam(joint, dParamStopERP, h * k / (h * k + d));
        dJointSetSliderParam(joint, dParamStopCFM, 1 / (h * k + d));
    } else if (from->low != 0 || from->high != 0) {
        dJointSetSliderParam(joint, dParamLoStop, from->low);
        dJointSetSliderParam(joint, dParamHiStop, from->high);
    }
}

static void add_joint(const engine *e, const peer_joint *from) {
    dJointID joint;
    if (from->kind == PEER_BALL) {
        attach(e, joint = dJointCreateBall(e->world, 0), from);
        dJointSetBallAnchor(joint, from->point[0], from->point[1], from->point[2]);
    } else if (from->kind == PEER_HINGE) {
        attach(e, joint = dJointCreateHinge(e->world, 0), from);
        set_hinge(joint, from);
    } else {
        attach(e, joint = dJointCreateSlider(e->world, 0), from);
        set_slider(joint, from, e->scene->step);
    }
}

static engine make_engine(const peer_scene *scene, const char *setting) {
    dInitODE2(0);
    engine e = {.scene = scene, .world = dWorldCreate(), .quick = !strncmp(setting, "quick:", 6)};
    if (!e.quick && strncmp(setting, "step:", 5) != 0) peer_give_up("peer_ode knows quick:N and step:X");
    e.space = dHashSpaceCreate(NULL);
    e.contacts = dJointGroupCreate(0);
    e.bodies = calloc((size_t)scene->body_count, sizeof *e.bodies);
    if (!e.bodies) peer_give_up("out of memory");
    dWorldSetGravity(e.world, scene->gravity[0], scene->gravity[1], scene->gravity[2]);
    dWorldSetAutoDisableFlag(e.world, 0);
    if (e.quick)
        dWorldSetQuickStepNumIterations(e.world, (int)peer_setting_number(setting));
    else
        dWorldSetERP(e.world, peer_setting_number(setting));
    for (int i = 0; i < scene->plane_count; i++) {
        const peer_plane *p = &scene->planes[i];
        dCreatePlane(e.space, p->normal[0], p->normal[1], p->normal[2], p->offset);
    }
    for (int i = 0; i < scene->body_count; i++) add_body(&e, i);
    for (int i = 0; i < scene->joint_count; i++) add_joint(&e, &scene->joints[i]);
    return e;
}

/* Joins two geometries wherever they touch, unless a joint does. */
static void join(void *data, dGeomID a, dGeomID b) {
    engine *e = data;
    dContact contacts[CONTACTS_OF_A_PAIR] = {0};
    const dBodyID body_a = dGeomGetBody(a), body_b = dGeomGetBody(b);
    if (!body_a && !body_b) return;
    if (body_a && body_b && dAreConnectedExcluding(body_a, body_b, dJointTypeContact)) return;
    const int count = dCollide(a, b, CONTACTS_OF_A_PAIR, &contacts[0].geom, sizeof *contacts);
    for (int i = 0; i < count; i++) {
        dSurfaceParameters *s = &contacts[i].surface;
        s->mode = dContactApprox1 | (e->scene->e > 0 ? dContactBounce : 0);
        s->mu = e->scene->mu;
        s->bounce = e->scene->e;
        s->bounce_vel = 9.81 * e->scene->step; /* slower ones come to rest, as in Delassus */
        dJointAttach(dJointCreateContact(e->world, e->contacts, &contacts[i]), body_a, body_b);
    }
}

static void take_step(void *self) {
    engine *e = self;
    dSpaceCollide(e->space, e, join);
    if (e->quick)
        dWorldQuickStep(e->world, e->scene->step);
    else
        dWorldStep(e->world, e->scene->step);
    dJointGroupEmpty(e->contacts);
}

static void get_state(void *self, int body, peer_state *state) {
    const dBodyID id = ((engine *)self)->bodies[body];
    if (!id) {
        *state = ((engine *)self)->scene->bodies[body].state;
        return;
    }
    memcpy(state->x, dBodyGetPosition(id), sizeof state->x);
    memcpy(state->q, dBodyGetQuaternion(id), sizeof state->q);
    memcpy(state->v, dBodyGetLinearVel(id), sizeof state->v);
    memcpy(state->w, dBodyGetAngularVel(id), sizeof state->w);
}

int main(int count, char **words) {
    if (count != 4) peer_give_up("usage: peer_ode SCENE quick:N|step:X MOST_SECONDS");
    peer_scene scene = peer_scene_read(words[1]);
    engine e = make_engine(&scene, words[2]);
    peer_run(&scene, &(peer_engine){&e, take_step, get_state}, atof(words[3]));
    dJointGroupDestroy(e.contacts);
    dSpaceDestroy(e.space);
    dWorldDestroy(e.world);
    dCloseODE();
    free(e.bodies);
    peer_scene_free(&scene);
}
