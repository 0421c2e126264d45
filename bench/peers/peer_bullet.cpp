// The peers' scenes in Bullet, in double precision. SETTING:
//
//     default     sequential impulses as they come: 10 iterations, one friction direction, warm start
//     impulse:N   sequential impulses with N iterations, two friction directions, penetrations pushed out
//                 apart from velocities at any depth
//     anchored:N  the same, and friction remembers where it began to hold (anchors)
//     dantzig     joints and contacts by pivoting (Dantzig); it gives up on stacks and falls back to
//                 sequential impulses, which is why scenes without joints do not have it
//
// Nothing sleeps, no damping.
#include "scene.h"

#include <BulletDynamics/MLCPSolvers/btDantzigSolver.h>
#include <BulletDynamics/MLCPSolvers/btMLCPSolver.h>
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
    btDantzigSolver pivoting;
    std::unique_ptr<btSequentialImpulseConstraintSolver> solver;
    std::unique_ptr<btDiscreteDynamicsWorld> world;
    std::vector<std::unique_ptr<btCollisionShape>> shapes;
    std::vector<std::unique_ptr<btRigidBody>> bodies; // the scene's, then planes
    std::vector<std::unique_ptr<btTypedConstraint>> joints;
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

// The frame of a joint in a body: z along the axis of a hinge, x along that of a slider.
btTransform frame_in(const btRigidBody &body, const peer_joint &joint) {
    const btVector3 axis = btVector3(joint.axis[0], joint.axis[1], joint.axis[2]).normalized();
    btVector3 second, third;
    btPlaneSpace1(axis, second, third); // third = axis × second
    btMatrix3x3 turn(second.x(), third.x(), axis.x(), second.y(), third.y(), axis.y(), second.z(), third.z(), axis.z());
    if (joint.kind == PEER_SLIDER)
        turn.setValue(axis.x(), second.x(), third.x(), axis.y(), second.y(), third.y(), axis.z(), second.z(), third.z());
    const btTransform world(turn, btVector3(joint.point[0], joint.point[1], joint.point[2]));
    return body.getWorldTransform().inverse() * world;
}

// Bullet counts the first body against the second.
btTypedConstraint *make_hinge(const peer_joint &joint, btRigidBody &a, btRigidBody &b, double h) {
    auto *hinge = new btHingeConstraint(b, a, frame_in(b, joint), frame_in(a, joint));
    if (joint.force > 0) hinge->enableAngularMotor(true, joint.speed, joint.force * h); // an impulse
    if (joint.low != 0 || joint.high != 0) hinge->setLimit(joint.low, joint.high);
    return hinge;
}

btTypedConstraint *make_slider(const peer_joint &joint, btRigidBody &a, btRigidBody &b) {
    auto *slider = new btGeneric6DofSpring2Constraint(a, b, frame_in(a, joint), frame_in(b, joint));
    const bool limited = joint.low != 0 || joint.high != 0;
    for (int k = 0; k < 6; k++) slider->setLimit(k, 0, 0);
    slider->setLimit(0, limited ? joint.low : 1, limited ? joint.high : -1); // 1 > −1: free
    if (joint.force > 0) {
        slider->enableMotor(0, true);
        slider->setTargetVelocity(0, -joint.speed); // it counts the first body against the second
        slider->setMaxMotorForce(0, joint.force);
    }
    if (joint.stiffness > 0 || joint.damping > 0) {
        slider->enableSpring(0, true);
        slider->setStiffness(0, joint.stiffness, false);
        slider->setDamping(0, joint.damping, false);
        slider->setEquilibriumPoint(0, 0);
    }
    return slider;
}

void add_joint(engine &e, const peer_joint &from) {
    const auto body = [&](int side) -> btRigidBody & {
        return from.body[side] < 0 ? btTypedConstraint::getFixedBody() : *e.bodies[from.body[side]];
    };
    btRigidBody &a = body(0), &b = body(1);
    if (from.kind == PEER_BALL)
        e.joints.emplace_back(new btPoint2PointConstraint(a, b, frame_in(a, from).getOrigin(), frame_in(b, from).getOrigin()));
    else
        e.joints.emplace_back(from.kind == PEER_HINGE ? make_hinge(from, a, b, e.step) : make_slider(from, a, b));
    e.world->addConstraint(e.joints.back().get(), true);
}

void choose_solver(engine &e, const std::string &setting, const peer_scene &scene) {
    e.anchors = setting.rfind("anchored:", 0) == 0;
    if (setting != "default" && setting != "dantzig" && setting.rfind("impulse:", 0) != 0 && !e.anchors)
        peer_give_up("peer_bullet knows default, impulse:N, anchored:N and dantzig");
    if (setting == "dantzig")
        e.solver = std::make_unique<btMLCPSolver>(&e.pivoting);
    else
        e.solver = std::make_unique<btSequentialImpulseConstraintSolver>();
    e.world =
        std::make_unique<btDiscreteDynamicsWorld>(&e.dispatcher, &e.broadphase, e.solver.get(), &e.configuration);
    btContactSolverInfo &info = e.world->getSolverInfo();
    info.m_restitutionVelocityThreshold = 9.81 * scene.step; // slower ones come to rest, as in Delassus
    if (setting == "default") return;
    info.m_solverMode |= SOLVER_USE_2_FRICTION_DIRECTIONS;
    info.m_splitImpulsePenetrationThreshold = 0;
    if (setting == "dantzig") return;
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
    if (count != 4) peer_give_up("usage: peer_bullet SCENE default|impulse:N|anchored:N|dantzig MOST_SECONDS");
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
    for (int i = 0; i < scene.joint_count; i++) add_joint(e, scene.joints[i]);
    const peer_engine run = {&e, take_step, get_state};
    peer_run(&scene, &run, std::atof(words[3]));
    for (auto &joint : e.joints) e.world->removeConstraint(joint.get());
    for (auto &body : e.bodies) e.world->removeRigidBody(body.get());
    peer_scene_free(&scene);
}
