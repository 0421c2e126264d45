// The peers' scenes in Bullet, in double precision. SETTING:
//
//     default     sequential impulses as they come: 10 iterations, one friction direction, warm start
//     impulse:N   sequential impulses with N iterations, two friction directions, penetrations pushed out
//                 apart from velocities at any depth
//     anchored:N  the same, and friction remembers where it began to hold (anchors)
//
// Nothing sleeps, no damping. Bullet's pivoting solver (Dantzig) gives up on stacks and falls back to
// sequential impulses, which is why it is not among the settings.
#include "scene.h"

#include <btBulletDynamicsCommon.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

double scene_mu, scene_e;

btScalar same_mu(const btCollisionObject *, const btCollisionObject *) { return scene_mu; }
btScalar same_e(const btCollisionObject *, const btCollisionObject *) { return scene_e; }

struct engine {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    std::unique_ptr<btDiscreteDynamicsWorld> world;
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies; // the scene's, then planes
    double step = 0;
    bool anchors = false;
};

void add_body(engine &e, const peer_body &from) {
    const double *x = from.state.x, *q = from.state.q, *v = from.state.v, *w = from.state.w;
    const btVector3 half(from.size[0] / 2, from.size[1] / 2, from.size[2] / 2);
    e.shapes.emplace_back(from.is_box ? static_cast<btCollisionShape *>(new btBoxShape(half))
                                      : new btSphereShape(half.x()));
    const btVector3 inertia(from.inertia[0], from.inertia[1], from.inertia[2]);
    btRigidBody::btRigidBodyConstructionInfo info(from.mass, nullptr, e.shapes.back().get(), inertia);
    info.m_startWorldTransform =
        btTransform(btQuaternion(q[1], q[2], q[3], q[0]), btVector3(x[0], x[1], x[2]));
    e.bodies.emplace_back(new btRigidBody(info));
    btRigidBody &body = *e.bodies.back();
    body.setLinearVelocity(btVector3(v[0], v[1], v[2]));
    body.setAngularVelocity(btVector3(w[0], w[1], w[2]));
    body.setActivationState(DISABLE_DEACTIVATION);
    if (e.anchors)
        body.setCollisionFlags(body.getCollisionFlags() | btCollisionObject::CF_HAS_FRICTION_ANCHOR);
    e.world->addRigidBody(&body);
}

void add_plane(engine &e, const peer_plane &plane) {
    const double *n = plane.normal;
    e.shapes.emplace_back(new btStaticPlaneShape(btVector3(n[0], n[1], n[2]), plane.offset));
    btRigidBody::btRigidBodyConstructionInfo info(0, nullptr, e.shapes.back().get());
    e.bodies.emplace_back(new btRigidBody(info));
    e.world->addRigidBody(e.bodies.back().get());
}

void choose_solver(engine &e, const std::string &setting, const peer_scene &scene) {
    e.anchors = setting.rfind("anchored:", 0) == 0;
    if (setting != "default" && setting.rfind("impulse:", 0) != 0 && !e.anchors)
        peer_give_up("peer_bullet knows default, impulse:N and anchored:N");
    e.world =
        std::make_unique<btDiscreteDynamicsWorld>(&e.dispatcher, &e.broadphase, &e.solver, &e.configuration);
    btContactSolverInfo &info = e.world->getSolverInfo();
    info.m_restitutionVelocityThreshold = 9.81 * scene.step; // slower ones come to rest, as in Delassus
    if (setting == "default") return;
    info.m_solverMode |= SOLVER_USE_2_FRICTION_DIRECTIONS;
    info.m_splitImpulsePenetrationThreshold = 0;
    info.m_numIterations = static_cast<int>(peer_setting_number(setting.c_str()));
}

void take_step(void *self) {
    engine &e = *static_cast<engine *>(self);
    e.world->stepSimulation(e.step, 0);
}

void copy(const btVector3 &from, double to[3]) {
    for (int k = 0; k < 3; k++) to[k] = from[k];
}

void get_state(void *self, int index, peer_state *state) {
    const btRigidBody &body = *static_cast<engine *>(self)->bodies[index];
    const btQuaternion q = body.getWorldTransform().getRotation();
    copy(body.getWorldTransform().getOrigin(), state->x);
    copy(body.getLinearVelocity(), state->v);
    copy(body.getAngularVelocity(), state->w);
    state->q[0] = q.w(), state->q[1] = q.x(), state->q[2] = q.y(), state->q[3] = q.z();
}

} // namespace

int main(int count, char **words) {
    if (count != 4) peer_give_up("usage: peer_bullet SCENE default|impulse:N|anchored:N MOST_SECONDS");
    peer_scene scene = peer_scene_read(words[1]);
    scene_mu = scene.mu, scene_e = scene.e;
    gCalculateCombinedFrictionCallback = same_mu;
    gCalculateCombinedRestitutionCallback = same_e;
    engine e;
    e.step = scene.step;
    choose_solver(e, words[2], scene);
    e.world->setGravity(btVector3(scene.gravity[0], scene.gravity[1], scene.gravity[2]));
    for (int i = 0; i < scene.body_count; i++) add_body(e, scene.bodies[i]);
    for (int i = 0; i < scene.plane_count; i++) add_plane(e, scene.planes[i]);
    const peer_engine run = {&e, take_step, get_state};
    peer_run(&scene, &run, std::atof(words[3]));
    for (auto &body : e.bodies) e.world->removeRigidBody(body.get());
    peer_scene_free(&scene);
}
