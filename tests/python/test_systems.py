"""Systems by Python functions: the same numbers as the example in C, slopes that are given, errors that surface."""
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from binding import raises  # noqa: E402
import tap  # noqa: E402
import delassus  # noqa: E402
import numpy  # noqa: E402
from delassus import FrictionLaw, Rows, System  # noqa: E402


def ball(**more):
    """That of examples/system_by_callbacks.c."""
    return System([0, 1, 0], [0, 0, 50], dt=2e-3, mass=lambda t, q: numpy.diag([1, 1, 0.004]),
                  force=lambda t, q, u: [0, -9.81, 0],
                  contacts=Rows(count=1, value=lambda t, q: [q[1] - 0.1], rate=lambda t, q, u: [u[1]]),
                  friction=Rows(count=1, rate=lambda t, q, u: [u[0] + 0.1 * u[2]]),
                  laws=[FrictionLaw(contact=0, mu=0.2)], **more)


def test_a_ball_falls_slides_and_rolls_as_in_c():
    system, found = ball(), []
    for _ in range(6):
        system.step(150)
        found.append((system.t, *system.q[:2], *system.forces("contacts"), *system.forces("friction")))
    expected = [(0.3, 0, 0.5586, 0, 0), (0.6, -0.1726, 0.1, 9.81, -1.962), (0.9, -0.5851, 0.1, 9.81, 0),
                (1.2, -1.0137, 0.1, 9.81, 0), (1.5, -1.4422, 0.1, 9.81, 0), (1.8, -1.8708, 0.1, 9.81, 0)]
    assert numpy.abs(numpy.array(found) - expected).max() < 1e-3, found
    assert len(system.gaps) == 1 and abs(system.gaps[0]) < 1e-9 and len(system.forces("constraints")) == 0


def pendulum(**more):
    """A point on a rod of 1 m in Cartesian coordinates, q = (x, y)."""
    rows = Rows(count=1, value=lambda t, q: [(q @ q - 1) / 2], rate=lambda t, q, u: [q @ u],
                direction=lambda t, q: q.reshape(2, 1), bend=lambda t, q, u: [u @ u], **more)
    return System([1, 0], [0, 0], dt=1e-3, mass=lambda t, q: 2 * numpy.eye(2), force=lambda t, q, u: [0, -2 * 9.81],
                  constraints=rows)


def test_a_pendulum_with_slopes_given_and_by_differences():
    slopes = {"value_slope": lambda t, q: q.reshape(1, 2), "rate_slope": lambda t, q, u: u.reshape(1, 2),
              "direction_slope": lambda t, q, y: y[0] * numpy.eye(2),
              "bend_slope": lambda t, q, u, a: (a.reshape(1, 2), 2 * u.reshape(1, 2))}
    ends = []
    for system in (pendulum(), pendulum(**slopes)):
        system.step(500)
        ends.append(system.q)
        assert abs(system.q @ system.q - 1) < 1e-9
        energy = system.u @ system.u / 2 + 9.81 * system.q[1]
        assert abs(energy) < 1e-4, energy
        # the rod carries the weight along it and what turns the point: −λ |q| = m (g sin + v²)
        pull = system.forces("constraints")[0]
        assert abs(-pull - 2 * (system.u @ system.u - 9.81 * system.q[1])) < 0.01 * abs(pull), pull
    assert numpy.abs(ends[0] - ends[1]).max() < 1e-7, ends


def test_state_as_bytes_goes_on_to_the_same_bits():
    system = ball()
    system.step(100)
    state = system.save()
    system.step(100)
    q = system.q
    system.load(state)
    system.step(100)
    assert (system.q == q).all()


def test_motion_by_a_function():
    # q̇ = 2 u: the coordinate falls twice as far
    system = System([0.0], [0.0], dt=1e-2, mass=lambda t, q: [[1.0]], force=lambda t, q, u: [-1.0],
                    motion=lambda t, q, u: 2 * u, motion_matrix=lambda t, q: [[2.0]])
    system.step(100)
    assert abs(system.q[0] + 1) < 1e-6 and abs(system.u[0] + 1) < 1e-9 and abs(system.a[0] + 1) < 1e-9


def test_errors_surface_and_misuse_is_refused():
    def broken(t, q, u):
        if t > 0.05:
            raise LookupError("mine")
        return [-1.0]
    system = System([0.0], [0.0], dt=1e-2, mass=lambda t, q: [[1.0]], force=broken)
    raises(LookupError, "mine", system.step, 100)
    assert math.isclose(system.t, 0.05, abs_tol=1e-9)
    raises(ValueError, "mass returned shape (1,), expected (1, 1)", System, [0.0], [0.0], mass=lambda t, q: [1.0],
           force=lambda t, q, u: [0.0])
    raises(TypeError, "mass: expected a function", System, [0.0], [0.0], mass=1, force=lambda t, q, u: [0.0])
    raises(delassus.ArgumentError, "did you mean 'tolerance'", ball, tolerence=1)
    raises(delassus.InputError, "restitution: 2 numbers", ball, restitution=[0, 0])
    raises(delassus.ArgumentError, "no family", system.forces, "walls")
    raises(delassus.InputError, "q: shape (1, 1)", System, [[0.0]], [0.0], mass=lambda t, q: [[1.0]], force=broken)
    system.close()
    raises(delassus.ClosedError, "closed", lambda: system.q)
    raises(delassus.ClosedError, "closed", system.step)


tap.main(globals())
