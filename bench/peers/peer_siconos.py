"""The peers' scenes in Siconos: its Moreau–Jean time stepping (θ = ½), contacts from Bullet, steps solved by NSGS.

    peer_siconos.py SCENE RESIDUAL:ITERATIONS MOST_SECONDS

Reads what bench/peers/scene.c reads and prints what it prints. 1e-4:1000 are Siconos's defaults; Bullet as it sets it up.
Its projection of penetrations (TimeSteppingDirectProjection) made three of the four scenes tried worse or far slower and
left the bounce as it was.
"""
import sys
import time

import numpy
import siconos.kernel as kernel
import siconos.numerics as numerics
from siconos.mechanics.collision import (RigidBodyDS, SiconosBox, SiconosContactor, SiconosContactorSet, SiconosSphere)
from siconos.mechanics.collision.bullet import SiconosBulletCollisionManager, SiconosBulletOptions

WIDTHS = {"gravity": 3, "step": 1, "steps": 1, "every": 1, "mu": 1, "e": 1}
SLAB = (30.0, 30.0, 2.0)  # stands for a plane: Siconos's own is 1000 m wide, in single precision, and balls roll askew on it


def read(path):
    scene = {"plane": [], "body": []}
    words = iter(open(path).read().split())

    def take(count):
        return [float(next(words)) for _ in range(count)]

    for key in words:
        if key == "planes":
            scene["plane"] = [take(4) for _ in range(int(next(words)))]
        elif key == "bodies":
            scene["body"] = [(next(words), take(17)) for _ in range(int(next(words)))]
        else:
            values = take(WIDTHS[key])
            scene[key] = values if len(values) > 1 else values[0]
    return scene


def turn_to(normal):
    """The quaternion that takes z to the normal."""
    q = numpy.array([1 + normal[2], -normal[1], normal[0], 0])
    return q / numpy.linalg.norm(q) if normal[2] > -1 + 1e-12 else numpy.array([0.0, 1, 0, 0])


def contactors(shape):
    found = SiconosContactorSet()
    found.append(SiconosContactor(shape))
    return found


def make_body(kind, values, gravity):
    size, mass, place, turn, v, w = values[:3], values[3], values[4:7], values[7:11], values[11:14], values[14:17]
    if kind == "box":
        shape, squares = SiconosBox(*size), [edge * edge for edge in size]
        inertia = [mass * (sum(squares) - square) / 12 for square in squares]
    else:
        shape, inertia = SiconosSphere(size[0] / 2), [0.1 * mass * size[0] ** 2] * 3
    body = RigidBodyDS([*place, *turn], [*v, *w], mass, numpy.diag(inertia))
    body.setContactors(contactors(shape))
    body.setFExtPtr([mass * g for g in gravity])
    return body


class Engine:
    def __init__(self, scene, setting):
        residual, iterations = setting.split(":")
        self.model = kernel.NonSmoothDynamicalSystem(0, 1e9)
        self.bodies = [make_body(kind, values, scene["gravity"]) for kind, values in scene["body"]]
        for body in self.bodies:
            self.model.insertDynamicalSystem(body)
        self.law = kernel.NewtonImpactFrictionNSL(scene["e"], 0.0, scene["mu"], 3)
        self.contacts = SiconosBulletCollisionManager(SiconosBulletOptions())
        self.contacts.insertNonSmoothLaw(self.law, 0, 0)
        for plane in scene["plane"]:
            place = [(plane[3] - SLAB[2] / 2) * n for n in plane[:3]]
            self.contacts.insertStaticContactorSet(contactors(SiconosBox(*SLAB)), [*place, *turn_to(plane[:3])])
        options = kernel.solver_options_create(numerics.SICONOS_FRICTION_3D_NSGS)
        options.iparam[numerics.SICONOS_IPARAM_MAX_ITER] = int(iterations)
        options.dparam[numerics.SICONOS_DPARAM_TOL] = float(residual)
        self.problem = kernel.FrictionContact(3, options)
        self.problem.setMStorageType(numerics.NM_SPARSE_BLOCK)
        self.problem.setKeepLambdaAndYState(True)
        self.scheme = kernel.MoreauJeanOSI(0.5)
        self.simulation = kernel.TimeStepping(self.model, kernel.TimeDiscretisation(0, scene["step"]))
        self.simulation.insertIntegrator(self.scheme)
        self.simulation.insertNonSmoothProblem(self.problem)
        self.simulation.insertInteractionManager(self.contacts)
        self.simulation.setNewtonOptions(kernel.SICONOS_TS_LINEAR)
        self.simulation.setNewtonMaxIteration(1)

    def step(self):
        self.simulation.computeOneStep()
        self.simulation.nextStep()
        self.simulation.clearNSDSChangeLog()

    def states(self):
        """Siconos turns in the body's axes; states are told in the world's."""
        for body in self.bodies:
            q, v = body.q(), body.twist()
            w, u = q[3], numpy.asarray(q[4:7])
            spin = numpy.asarray(v[3:6])
            world = spin + 2 * numpy.cross(u, numpy.cross(u, spin) + w * spin)
            yield [*q[:7], *v[:3], *world]


def tell(engine, step, seconds):
    print(f"frame {step} {seconds:.6g}")
    for state in engine.states():
        print(" ".join(f"{value:.17g}" for value in state))


def main(path, setting, most_seconds):
    scene = read(path)
    engine = Engine(scene, setting)
    spent, steps = 0.0, int(scene["steps"])
    tell(engine, 0, 0)
    for step in range(1, steps + 1):
        began = time.process_time()
        engine.step()
        spent += time.process_time() - began
        last = step == steps or spent > most_seconds
        if last or step % int(scene["every"]) == 0:
            tell(engine, step, spent)
        if last:
            break


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], float(sys.argv[3]))
