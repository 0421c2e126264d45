"""Dead objects, use after close, wrong types and shapes, callbacks that meddle, threads: exceptions, never a crash."""
import copy
import gc
import os
import pathlib
import pickle
import signal
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from binding import raises  # noqa: E402
import tap  # noqa: E402
import delassus  # noqa: E402
import numpy  # noqa: E402
from delassus import (ArgumentError, BusyError, ClosedError, InputError, Problem, Scene, Simulation, World, box, chain,  # noqa: E402
                      half_space, mesh, polygon, sphere)

from delassus._library import Owner  # noqa: E402

SCENE = {"time": {"step": 1e-3, "until": 0.01}, "bodies": [{"name": "ball", "shape": {"kind": "sphere", "radius": 0.1}}]}


def public_uses(thing):
    """Every property and every method that takes nothing, as functions."""
    for name in dir(type(thing)):
        if name.startswith("_") or name in ("close", "closed"):
            continue
        member = getattr(type(thing), name)
        if isinstance(member, property):
            yield name, lambda name=name: getattr(thing, name)
        elif callable(member) and name in ("step", "contacts", "joints", "states", "ids", "save", "simulation", "check",
                                           "steps", "problem", "impulses", "gates", "assemble_joints", "facts", "solve",
                                           "matrix", "contradiction", "run", "present"):
            yield name, getattr(thing, name)


def test_every_use_after_close_says_so():
    world = World()
    world.add_body(sphere(0.1), name="ball")
    sim, problem, scene = Simulation(world, step=1e-3), Problem(numpy.eye(3), [-1, 0, 0], 0.3), Scene(SCENE)
    scene.run("run.h5")
    results = delassus.Results("run.h5")
    ball, tried = world["ball"], 0
    for thing in (sim, problem, results, scene, world):
        thing.close()
        thing.close()
        assert thing.closed
        for name, use in public_uses(thing):
            try:
                use()
            except ClosedError as error:
                assert "closed" in str(error)
                tried += 1
            except TypeError as error:
                assert "missing" in str(error), f"{thing}.{name}: {error}"
            else:
                assert name in ("world",), f"{type(thing).__name__}.{name} works on after close"
    assert tried > 45, tried
    for use in (lambda: ball.x, lambda: ball.name, lambda: ball.mass, lambda: ball.remove(), lambda: setattr(ball, "v", (0, 0, 0)),
                lambda: world.add_body(sphere(1)), lambda: len(world), lambda: world["ball"], lambda: Simulation(world),
                lambda: world.add_joint("fixed", None, 0, point=(0, 0, 0)), lambda: sim.load(b""), lambda: sim.__enter__()):
        raises(ClosedError, "closed", use)


def test_what_was_made_from_a_closed_object_is_closed_too():
    world = World()
    world.add_body(sphere(0.1))
    sim = Simulation(world, step=1e-3)
    world.close()
    raises(ClosedError, "the world of this simulation is closed", sim.step)
    assert sim.closed
    sim.close()
    scene = Scene(SCENE)
    sim = scene.simulation()
    world = sim.world
    scene.close()
    raises(ClosedError, "the scene of this", sim.step)
    raises(ClosedError, "the scene of this", lambda: world["ball"].x)


def test_objects_outlive_those_that_made_them_in_any_order():
    for order in range(6):
        world = World()
        world.add_body(sphere(0.1), force=(lambda t, world=world: 1.0 + 0 * len(world), None, None))  # a cycle
        first, second = Simulation(world, step=1e-3), Scene(SCENE)
        third = second.simulation()
        first.step()
        third.step()
        held = [world, first, second, third]
        del world, first, second, third
        for _ in range(4):
            held.pop(order % len(held))
            gc.collect()
            for thing in held:
                if isinstance(thing, Simulation):
                    assert thing.step().step > 1
    gc.collect()


def test_what_others_use_is_destroyed_after_them():
    for first in (0, 1):
        ended = []
        parent = Owner("parent", 1, lambda _: ended.append("parent"))
        child = Owner("child", 2, lambda _: ended.append("child"), parent)
        (parent, child)[first].close()
        assert ended == ([] if first == 0 else ["child"])
        (child, parent)[first].close()
        assert ended == ["child", "parent"], ended


def test_a_run_lends_its_simulation_for_as_long_as_it_runs():
    lent = []
    Scene(SCENE).run(every_step=lambda report, sim: lent.append(sim))
    assert lent[0] is lent[-1]
    raises(ClosedError, "closed", lent[0].step)
    raises(ClosedError, "closed", lambda: lent[0].energy)


def test_a_problem_that_is_closed_while_it_is_solved_ends_after_that():
    problem, ended = Problem.generate("packing", 500, seed=1), []
    solution = problem.solve("nlgs", tol=1e-15, max_iterations=200, callback=lambda iterate: problem.close())
    assert problem.closed and solution.iterations > 1 and numpy.isfinite(solution.r).all()
    raises(ClosedError, "this problem is closed", problem.solve)
    for _ in range(3):
        problem = Problem.generate("packing", 1500, seed=1)

        def solve():
            ended.append(problem.solve("nlgs", tol=1e-15, max_iterations=60).iterations)
        threads = [threading.Thread(target=solve) for _ in range(2)]
        for thread in threads:
            thread.start()
        time.sleep(0.02)
        problem.close()
        for thread in threads:
            thread.join()
    assert ended and set(ended) <= {60}, ended


def test_a_forked_process_goes_on_alone_to_the_same_bits():
    world = World()
    world.add_body(half_space(), motion="static")
    world.add_bodies(sphere(0.05), [(0.1 * (k % 10), 0.1 * (k // 10 % 10), 0.05 + 0.1 * (k // 100)) for k in range(800)])
    sim = Simulation(world, step=2e-3, solver="nlgs", threads=2, max_iterations=20)
    sim.step(2)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:  # nothing of the test may go on here
        signal.alarm(60)
        try:
            sim.step(2)
            os.write(writing, str(sim.hash).encode())
        finally:
            os._exit(0)
    os.close(writing)
    sim.step(2)
    with os.fdopen(reading) as answer:
        assert answer.read() == str(sim.hash)
    assert os.waitpid(child, 0)[1] == 0


def test_interrupts_are_never_lost():
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    problem = Problem.generate("packing", 300, seed=1)
    try:
        for k in range(20):
            signal.setitimer(signal.ITIMER_REAL, 2e-3 + 1e-4 * k)
            raises(KeyboardInterrupt, "", problem.solve, "nlgs", tol=1e-30, max_iterations=10**6, callback=lambda iterate: True)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_numbers_that_c_cannot_hold_are_refused():
    world, problem = World(dimension=2), Problem(numpy.eye(3), [-1, 0, 0], 0.3)
    sim = Simulation(world, step=1e-3)
    for use in (lambda: World(dimension=2**32 + 3), lambda: Problem.generate("discs", 2**32 + 5),
                lambda: Problem.generate("discs", 5, seed=2**64 + 1), lambda: Problem.generate("discs", 5, seed=-1),
                lambda: world.add_body(solid=delassus.beam(1, 1, 1, 1, degree=2**32 + 3)), lambda: problem.facts(2**40),
                lambda: world.add_body(delassus.disc(1, group=2**32)), lambda: world.material(2**32),
                lambda: world.add_body(delassus.polygon(numpy.zeros((0, 2)))), lambda: world.add_body(delassus.disc(-1)),
                lambda: world.add_body(delassus.disc(numpy.nan)), lambda: sim.set_step(-1), lambda: sim.set_step(numpy.nan)):
        raises(ValueError, "expected", use)
    for use in (lambda: sim.load(10**20), lambda: sim.load("x"), lambda: problem.facts(1.5), lambda: delassus.Function("t")(None),
                lambda: delassus.Function("t").derivatives([1, 2]), lambda: sim.set_step("a" * 3), lambda: world.add_material(numpy.zeros(3)),
                lambda: world.material(1.5), lambda: World(dimension=None), lambda: World(dimension=2.0)):
        try:
            use()
        except (TypeError, ValueError) as error:
            assert "argument 2" not in str(error) and str(error), error
        else:
            raise AssertionError("it was taken")


def test_callbacks_read_and_do_not_change():
    world, seen = World(), []

    def meddle(use):
        def force(t):
            seen.append(world["ball"].x[2])
            use()
            return 0.0
        return force
    uses = [lambda: sim.step(), lambda: world.add_body(sphere(1)), lambda: world["ball"].remove(), lambda: world.close(),
            lambda: sim.close(), lambda: setattr(world["ball"], "v", (1, 0, 0)), lambda: sim.set_step(1.0),
            lambda: sim.load(b"x"), lambda: world.add_joint("fixed", None, 0, point=(0, 0, 0)),
            lambda: Simulation(world, step=1e-3), lambda: world.add_material("steel", mu=1)]
    chosen = [None]
    world.add_body(sphere(0.1), name="ball", position=(0, 0, 1), force=(meddle(lambda: chosen[0]()), None, None))
    sim = Simulation(world, step=1e-3)
    for use in uses:
        chosen[0] = use
        raises(BusyError, "a callback may read it, not change it", sim.step)
    chosen[0] = lambda: None
    sim.step()
    assert len(seen) == len(uses) + 1 and sim.steps == 1 and len(world) == 1


def test_threads_that_share_an_object_take_turns():
    world = World()
    world.add_body(half_space(), motion="static")
    world.add_bodies(sphere(0.05), [(0.12 * k, 0, 0.05) for k in range(30)])
    sim, errors = Simulation(world, step=1e-3), []

    def use(what):
        try:
            for _ in range(40):
                what()
        except Exception as error:
            errors.append(error)
    threads = [threading.Thread(target=use, args=(what,)) for what in (
        lambda: sim.step(), lambda: sim.states(), lambda: sim.contacts(), lambda: world.add_body(
            sphere(0.01), position=(0, 5, 1)), lambda: sim.save(), lambda: sim.step())]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors and sim.steps == 80 and len(world) == 71, errors


def test_shapes_and_bodies_of_wrong_kinds():
    world = World()
    raises(TypeError, "expected a Shape", world.add_body, "sphere")
    raises(InputError, "position: shape (4,), expected 3 numbers", world.add_body, sphere(1), position=(0, 0, 0, 0))
    raises(TypeError, "position", world.add_body, sphere(1), position="abc")
    raises(TypeError, "complex", world.add_body, sphere(1), velocity=(1j, 0, 0))
    raises(InputError, "quaternion", world.add_body, sphere(1), rotation=(1, 0, 0))
    raises(delassus.Error, "radius", world.add_body, sphere(-1))
    raises(delassus.Error, "", world.add_body, sphere(float("nan")))
    raises(delassus.Error, "", world.add_body, delassus.disc(1))
    raises(ArgumentError, "no motion 'moving'", world.add_body, sphere(1), motion="moving")
    raises(ArgumentError, "no freedom 'a'", world.add_body, sphere(1), locked="a")
    raises(ArgumentError, "no key 'speed'", world.add_body, sphere(1), motion="driven", drive={"x": {"speed": 1}})
    raises(TypeError, "for each axis", world.add_body, sphere(1), force="t")
    raises(TypeError, "a function of t", world.add_body, sphere(1), force=([1], None, None))
    raises(delassus.Error, "", world.add_body, sphere(1), force=("sin(", None, None))
    raises(ArgumentError, "no material 'wood'", world.add_body, sphere(1, material="wood"))
    raises(TypeError, "radus", sphere, 1, radus=2)
    raises(InputError, "points: shape (3,)", world.add_body, polygon([1, 2, 3]))
    raises(InputError, "triangles: shape (1, 2)", world.add_body, mesh(numpy.eye(3), [[0, 1]]), motion="static")
    raises(TypeError, "int64", world.add_body, mesh(numpy.eye(3), [[0, 1, 2.5]]), motion="static")
    raises(delassus.Error, "", world.add_body, mesh(numpy.eye(3), [[0, 1, 3]]), motion="static")
    raises(delassus.Error, "", world.add_body, box((1, -1, 1)))
    raises(InputError, "inertia: shape (3,)", world.add_body, sphere(1), mass=1, inertia=[1, 2, 3])
    raises(ArgumentError, "no key 'colour'", world.add_material, "steel", colour=3)
    raises(ArgumentError, "zero byte", world.add_body, sphere(1), name="a\0b")
    raises(TypeError, "expected a text", world.add_body, sphere(1), name=3)
    raises(TypeError, "expected a World", Simulation, SCENE)
    raises(InputError, "", World, dimension=4)
    raises(ArgumentError, "did you mean 'theta'", Simulation, world, thet=1)
    raises(ArgumentError, "theta", Simulation, world, theta=3)
    assert len(world) == 0
    flat = World(dimension=2)
    flat.add_body(chain([(0, 0), (1, 0), (2, 1)]), motion="static")
    raises(InputError, "expected any × 2 or any × 3", flat.add_bodies, delassus.disc(1), [1, 2])


def test_states_of_wrong_shapes():
    world = World()
    world.add_body(sphere(1))
    raises(InputError, "states: 2 rows, expected 1", world.set_states, numpy.zeros((2, 13)))
    raises(InputError, "expected any × 13", world.set_states, numpy.zeros((1, 12)))
    raises(TypeError, "complex", world.set_states, numpy.zeros((1, 13), complex))
    raises(delassus.Error, "", world.set_states, numpy.full((1, 13), numpy.nan))
    raises(delassus.Error, "", world.states, [5])
    raises(TypeError, "expected int64", world.states, [0.5])
    raises(InputError, "out of the range", world.states, [2**40])
    assert world.states(numpy.array([], int)).shape == (0,)
    raises(ArgumentError, "no presence", world.ids, "here")


def test_objects_are_not_pickled():
    world = World()
    for use in (pickle.dumps, copy.copy, copy.deepcopy):
        raises(TypeError, "cannot be pickled or copied", use, world)


def test_a_constructor_that_failed_leaves_nothing_behind():
    for _ in range(20):
        raises(delassus.Error, "", World, gravity=(0, 0, float("nan")))
        raises(delassus.FileError, "", Problem.read, "none.hdf5")
        raises(delassus.Error, "", Scene, {"bodies": 3})
    gc.collect()


tap.main(globals())
