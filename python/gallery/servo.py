"""A mechanism with servos: an arm of two links carries a ball along a line that a Python function tells.

    python3 servo.py [FOLDER] [--short]
"""
import math
import pathlib
import sys

import delassus
import numpy

UPPER, LOWER = 0.5, 0.4  # m, lengths of the links


def angles(x, z):
    """Angles of shoulder and elbow that put the hand at (x, z): the law of cosines."""
    bend = math.acos((x * x + z * z - UPPER**2 - LOWER**2) / (2 * UPPER * LOWER))
    return math.atan2(z, x) - math.atan2(LOWER * math.sin(bend), UPPER + LOWER * math.cos(bend)), bend


def hand(t):
    """Where the hand is to be: along a line from (0.6, −0.3) to (0.6, 0.3) in two seconds, without a jerk."""
    share = min(t / 2, 1)
    return 0.6, -0.3 + 0.6 * share * share * (3 - 2 * share)


def main(folder=".", short=False):
    shoulder, elbow = angles(*hand(0))
    joint = numpy.array([UPPER * math.cos(shoulder), 0, UPPER * math.sin(shoulder)])
    tip = joint + LOWER * numpy.array([math.cos(shoulder + elbow), 0, math.sin(shoulder + elbow)])

    world = delassus.World()
    for name, begin, end, angle, length in (("upper", numpy.zeros(3), joint, shoulder, UPPER),
                                            ("lower", joint, tip, shoulder + elbow, LOWER)):
        world.add_body(delassus.capsule(0.03, length, rotation=delassus.rotation((0, 1, 0), math.pi / 2)), name=name, mass=2,
                       position=(begin + end) / 2, rotation=delassus.rotation((0, 1, 0), -angle))
    world.add_body(delassus.sphere(0.06), name="load", position=tip, mass=1)
    servo = {"p": 2e5, "d": 2e3, "i": 1e5, "max_force": 200}
    # a turn about −y lifts; coordinates count from where the arm stands at the start
    world.add_joint("revolute", None, "upper", point=(0, 0, 0), axis=(0, -1, 0), name="shoulder",
                    target=lambda t: angles(*hand(t))[0] - shoulder, **servo)
    world.add_joint("revolute", "upper", "lower", point=joint, axis=(0, -1, 0), name="elbow",
                    target=lambda t: angles(*hand(t))[1] - elbow, **servo)
    world.add_joint("fixed", "lower", "load", point=tip, name="grip")

    simulation, rows = delassus.Simulation(world, step=1e-3), []

    def note(report):
        x, z = hand(report.t)
        away = numpy.linalg.norm(simulation["load"].x - (x, 0, z))
        rows.append((report.t, away, *simulation.joints()["actuator"][:2, 3] / 1e-3))
    path = pathlib.Path(folder) / "servo.h5"
    simulation.run(0.2 if short else 2.5, every_step=note, results=path, interval=0.05, title="an arm with servos")
    history = numpy.array(rows)
    energy = simulation.energy
    print(f"largest error of the hand {1e3 * history[:, 1].max():.3f} mm; torques at the end "
          f"{history[-1, 2]:.2f} and {history[-1, 3]:.2f} N m")
    print(f"work of the motors {energy.motors:.3f} J, unaccounted {energy.unaccounted:.1e} J")
    delassus.picture(path, pathlib.Path(folder) / "arm", view="front")
    draw(history, pathlib.Path(folder) / "servo.png")
    return {"error": history[:, 1].max(), "torques": history[-1, 2:], "unaccounted": energy.unaccounted}


def draw(history, path):
    try:
        import matplotlib
    except ImportError:
        return print("no figure: Matplotlib is not installed")
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(8, 3), layout="constrained")
    left.imshow(pyplot.imread(path.with_name("arm.png")))
    left.set_axis_off()
    right.plot(history[:, 0], history[:, 2], label="shoulder")
    right.plot(history[:, 0], history[:, 3], label="elbow")
    right.set(xlabel="time, s", ylabel="torque of the servo, N m")
    right.legend()
    figure.savefig(path, dpi=100)
    pyplot.close(figure)
    print(path)


if __name__ == "__main__":
    main(*[word for word in sys.argv[1:] if word != "--short"], short="--short" in sys.argv)
