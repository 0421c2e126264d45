"""Worlds built in Python: states and forces as statics has them, functions of t, joints, bits."""
import math
import pathlib
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from binding import raises  # noqa: E402
import tap  # noqa: E402
import delassus  # noqa: E402
import numpy  # noqa: E402
from delassus import (Function, Scene, Simulation, World, box, disc, drum, half_plane, half_space, sphere)  # noqa: E402


def floor_and_ball(**body):
    world = World()
    world.add_body(half_space(), motion="static", name="floor")
    world.add_body(sphere(0.1), name="ball", **{"position": (0, 0, 0.1), **body})
    return world


def test_a_ball_rests_on_the_floor_with_its_weight():
    world = floor_and_ball()
    with Simulation(world, step=1e-3, tolerance=1e-9) as sim:
        report = sim.step(50)
        contacts = sim.contacts()
        assert report.certified and report.step == 50 and len(contacts) == 1
        assert {int(contacts["body_a"][0]), int(contacts["body_b"][0])} == {0, 1}
        assert abs(contacts["impulse"][0, 0] / 1e-3 - world["ball"].mass * 9.81) < 1e-6
        assert abs(abs(contacts["frame"][0, 2]) - 1) < 1e-12, "the normal is upright"


def test_states_are_copies_by_id():
    world = floor_and_ball(velocity=(1, 2, 3), angular_velocity=(4, 5, 6))
    states = world.states()
    assert states.shape == (2,) and list(states["x"][1]) == [0, 0, 0.1] and list(states["v"][1]) == [1, 2, 3]
    assert list(states["w"][1]) == [4, 5, 6] and list(states["q"][1]) == [1, 0, 0, 0]
    states["x"][1] = 7
    assert list(world["ball"].x) == [0, 0, 0.1], "the array was no copy"
    world.set_states(states)
    assert list(world["ball"].x) == [7, 7, 7]
    world.set_states(states[1:2], ids=[1])
    matrix = numpy.zeros((1, 13))
    matrix[0, 3] = 1
    world.set_states(matrix, [1])
    assert list(world["ball"].x) == [0, 0, 0] and list(world.states([1])["v"][0]) == [0, 0, 0]


def test_in_the_plane_a_number_is_an_angle_or_a_spin():
    world = World(dimension=2, gravity=(0, 0))
    ball = world.add_body([disc(0.1, position=(1, 0), rotation=0.2), disc(0.1)], rotation=0.5, angular_velocity=3)
    assert abs(2 * math.atan2(ball.q[3], ball.q[0]) - 0.5) < 1e-12 and ball.w[2] == 3
    shape = ball.shapes[0]
    assert abs(2 * math.atan2(shape.rotation[3], shape.rotation[0]) - 0.2) < 1e-12 and abs(shape.position[0] - 1) < 1e-12
    spatial = World().add_body(sphere(0.1), rotation=numpy.float32(0.5), angular_velocity=-2)
    assert abs(spatial.q[3] - math.sin(0.25)) < 1e-6 and list(spatial.w) == [0, 0, -2]


def test_bodies_by_name_and_id():
    world = floor_and_ball()
    assert world["ball"] == world[1] and "ball" in world and "bell" not in world and len(world) == 2
    world["ball"].v = (1, 0, 0)
    world["ball"].x = (0, 0, 2)
    assert list(world["ball"].v) == [1, 0, 0] and world["ball"].x[2] == 2
    raises(KeyError, "did you mean 'ball'", lambda: world["bal"])
    raises(IndexError, "expected 0 to 1", lambda: world[2])
    raises(TypeError, "by its name or its id", lambda: world[1.5])
    assert world["floor"].motion == "static" and math.isinf(world["floor"].mass)
    assert abs(world["ball"].mass - 1000 * 4 / 3 * math.pi * 1e-3) < 1e-9
    inertia = world["ball"].inertia
    assert numpy.allclose(inertia, numpy.eye(3) * 0.4 * world["ball"].mass * 0.01)


def test_bodies_come_and_go_between_steps():
    world = floor_and_ball()
    assert list(world.ids("waiting")) == [0, 1] and list(world.ids()) == []
    sim = Simulation(world, step=1e-3)
    sim.step()
    held = sim.states()
    ids = world.add_bodies(sphere(0.05), [(1, 0, 1), (2, 0, 1)], name="grain")
    sim.step()
    assert len(held) == 2 and list(ids) == [2, 3] and sim["grain-1"].id == 3
    sim["grain-0"].remove()
    sim.step()
    assert list(sim.ids()) == [0, 1, 3] and world[2].presence == "gone"
    assert [body.id for body in world] == [0, 1, 3]


def test_functions_of_time_in_python_act_as_expressions_do():
    places = []
    for force in ("3*sin(t)", lambda t: 3 * math.sin(t)):
        world = World(gravity=(0, 0, 0))
        world.add_body(sphere(0.1), name="ball", mass=2, force=(force, None, None))
        sim = Simulation(world, step=1e-2)
        sim.step(100)
        places.append(sim["ball"].x[0])
    assert abs(places[0] - 1.5 * (1 - math.sin(1))) < 1e-4 and abs(places[0] - places[1]) < 1e-15


def test_a_driven_drum_turns_as_told():
    world = World(dimension=2)
    world.add_body(drum(1), name="drum", motion="driven", drive={"rz": {"position": lambda t: t * t}})
    sim = Simulation(world, step=1e-2)
    sim.run(1.0)
    assert abs(2 * math.atan2(sim["drum"].q[3], sim["drum"].q[0]) - 1) < 1e-9
    table = Function(([0, 1, 2], [0, 5, 5]))
    assert table(0.5) == 2.5 and table.derivatives(0.5) == (2.5, 5, 0)


def test_belts_locks_births_and_deaths():
    world = World()
    world.add_material("default", mu=0.5)
    world.add_body(half_space(belt=(1, 0, 0)), motion="static")
    carried = world.add_body(box((0.1, 0.1, 0.1)), position=(0, 0, 0.05))
    held = world.add_body(box((0.1, 0.1, 0.1)), position=(0, 1, 0.05), locked=("x",))
    late = world.add_body(sphere(0.1), position=(0, 3, 5), birth=0.1, death=0.2)
    sim = Simulation(world, step=1e-3)
    sim.run(0.15)
    assert late.presence == "present" and abs(late.v[2] + 9.81 * 0.05) < 0.02, late.v
    sim.run(0.4)
    assert late.presence == "gone"
    assert abs(carried.v[0] - 1) < 1e-6 and abs(held.v[0]) < 1e-12 and held.x[0] == 0


def test_belts_over_time():
    world = World()
    world.add_material("default", mu=0.5)
    world.add_body(half_space(belt=(1, 0, 0)), motion="static", belts=lambda t: min(t, 0.25))
    carried = world.add_body(box((0.1, 0.1, 0.1)), position=(0, 0, 0.05))
    sim = Simulation(world, step=1e-3)
    sim.run(0.1)
    assert abs(carried.v[0] - 0.0995) < 1e-6, carried.v  # the belt's speed in the middle of the last step
    sim.run(0.4)
    assert abs(carried.v[0] - 0.25) < 1e-6, carried.v


def test_materials_and_pairs():
    world = World()
    world.add_material("steel", density=7800, mu=0.2, e_n=0.5, rolling=1e-3)
    world.add_material("steel", mu=0.3)
    found = world.material("steel")
    assert found["density"] == 7800 and found["mu"] == 0.3 and found["rolling"] == 1e-3 and found["name"] == "steel"
    world.add_material("default", mu=0.9)
    world.set_pair("steel", "default", mu=0.05)
    world.add_body(half_space(rotation=delassus.rotation((0, 1, 0), 0.2)), motion="static")
    ball = world.add_body(box((0.1, 0.1, 0.1), material="steel"), rotation=delassus.rotation((0, 1, 0), 0.2),
                          position=numpy.array([math.sin(0.2), 0, math.cos(0.2)]) * 0.05)
    assert abs(ball.mass - 7.8) < 1e-12
    sim = Simulation(world, step=1e-3)
    sim.step(200)
    slope = 9.81 * (math.sin(0.2) - 0.05 * math.cos(0.2)) * 0.2
    assert abs(numpy.linalg.norm(ball.v) - slope) < 1e-3 * slope, (ball.v, slope)


def test_what_a_material_and_a_pair_hold_is_read_back():
    world = World()
    given = {"density": 7800, "mu": 0.2, "e_n": 0.5, "e_t": 0.1, "cohesion": 2, "rolling": 1e-3, "rolling_ratio": 0.1, "spinning": 2e-3,
             "spinning_ratio": 0.2, "young": 2e11, "poisson": 0.3, "law": "linear", "damping": 1e-4}
    world.add_material("steel", **given)
    found = world.material("steel")
    assert {key: found[key] for key in given} == given and set(found) == {*given, "name", "drilling"}
    assert world.materials == ["default", "steel"]
    mixed = world.pair("steel", "default")
    assert mixed["mu"] == 0.2 and mixed["e_n"] == 0.5 and not mixed["stated"]
    world.set_pair("steel", "default", mu=0.7, rolling=3e-3)
    stated = world.pair("default", "steel")
    assert stated["mu"] == 0.7 and stated["rolling"] == 3e-3 and stated["e_n"] == 0.5 and stated["stated"]
    for key in given:
        assert f"``{key}``: " in World.add_material.__doc__, key
    assert "(number, 0 to 1; preset 0)" in World.add_material.__doc__
    assert "drilling" in World.set_pair.__doc__ and "density" not in World.set_pair.__doc__


def test_what_a_body_is_made_of_is_read_back():
    world = World()
    world.add_material("wood", density=600, young=1e7, poisson=0.3)
    parts = [box((1, 0.1, 0.2), material="wood", position=(0.5, 0, 0)),
             sphere(0.1, position=(1, 0, 0), group=2, collides=5), delassus.capsule(0.1, 0.3, rotation=(0.6, 0.8, 0, 0))]
    body = world.add_body(parts, position=(1, 2, 3))
    twin = world.add_body(body.shapes, position=(1, 2, 3))
    assert numpy.allclose(twin.x, body.x, atol=1e-14) and abs(twin.mass - body.mass) < 1e-12 * body.mass
    assert numpy.allclose(twin.inertia, body.inertia, rtol=1e-12) and body.solid is None
    first, second, third = body.shapes
    assert first.kind == "box" and first.material == "wood" and numpy.allclose(first.position, (0.5, 0, 0), atol=1e-14)
    assert (second.group, second.collides, second.radius, second.material) == (2, 5, 0.1, None)
    assert third.length == 0.3 and numpy.allclose(third.rotation, (0.6, 0.8, 0, 0))
    ramp = world.add_body(delassus.mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)]), motion="static")
    assert ramp.shapes[0].triangles.tolist() == [[0, 1, 2]] and ramp.shapes[0].points.shape == (3, 3)
    told = delassus.elements((3, 2, 1), form="corotational", mass="lumped", mass_damping=0.5)
    block = world.add_body(box((0.3, 0.2, 0.1), material="wood"), solid=told)
    found = block.solid
    assert (found.kind, found.cells, found.form, found.mass, found.mass_damping) == ("elements", (3, 2, 1), "corotational", "lumped", 0.5)
    assert world.add_body(box((0.3, 0.2, 0.1), material="wood"), solid=found).freedoms == block.freedoms
    plane = World(dimension=2)
    beam = plane.add_body(solid=delassus.beam(1.0, EA=1e4, EI=5.0, line_density=0.1, damping=0.02, degree=4, elements=6))
    assert (beam.solid.length, beam.solid.EI, beam.solid.degree, beam.solid.elements) == (1.0, 5.0, 4, 6)
    told = [disc(0.02, position=(0, -0.03), at=0.25), delassus.polygon([(0, 0), (0.1, 0), (0, 0.1)], at=1.0, position=(0.01, 0), rotation=0.3)]
    bent = plane.add_body(told, position=(0, 2), rotation=0.5, solid=delassus.beam(1.0, EA=1e4, EI=0.5, line_density=0.1))
    plane.add_joint("fixed", None, bent, frames=(((0, 2), 0.5), ((0, 0), 0)), at=(0, 0))
    Simulation(plane, step=1e-3).step(100)
    assert abs(math.atan2(*bent.place(1)["x"][1::-1] - (2, 0)) - 0.5) > 0.05, "it bends"
    for given, found in zip(told, bent.shapes):
        assert numpy.allclose(found.position[:2], given.position, atol=1e-12) and found.at == given.at
        assert abs(2 * math.atan2(found.rotation[3], found.rotation[0]) - (given.rotation or 0)) < 1e-12
    for key in ("length", "EA", "EI", "line_density", "damping", "degree", "elements", "gauss"):
        assert f"``{key}``: " in delassus.beam.__doc__, key


def test_what_a_joint_was_told_is_read_back():
    world = World()
    arm = world.add_body(box((1, 0.1, 0.1)), name="arm", position=(0.5, 0, 0))
    hinge = world.add_joint("revolute", None, arm, point=(0, 0, 0), axis=(0, 1, 0), name="hinge", target=lambda t: 0.1, p=40, d=2,
                            i=1, max_force=9, stiffness=3, damping=0.5, rest=0.2, one_sided="pull", low=-1, high=1.5,
                            restitution=0.3, friction=0.1, break_force=1e6, break_torque=1e5, conserving=True)
    assert hinge.kind == "revolute" and hinge.bodies == (None, arm)
    told = hinge.keywords
    assert told["freedoms"] == {4: {"p": 40, "d": 2, "i": 1, "max_force": 9, "stiffness": 3, "damping": 0.5, "rest": 0.2,
                                    "one_sided": 1, "low": -1, "high": 1.5, "restitution": 0.3, "friction": 0.1}}
    assert told["break_force"] == 1e6 and told["break_torque"] == 1e5 and told["conserving"] and not told["collide"]
    told["freedoms"][4]["target"] = "0.1"  # functions of t are not told again
    twin = world.add_joint(hinge.kind, *hinge.bodies, **told)
    assert twin.keywords == hinge.keywords
    rope = world.add_joint("distance", arm, None, point=(1, 0, 0), length=2.5, rope=True)
    assert rope.keywords["length"] == 2.5 and rope.keywords["rope"] and rope.bodies == (arm, None)
    for key in ("break_force", "max_force", "one_sided", "friction_mu", "cone", "carried"):
        assert f"``{key}``: " in delassus.Joint.__doc__, key
    raises(delassus.ArgumentError, "one_sided: 'sideways', expected both, pull, push", world.add_joint, "spring", arm, None,
           point=(1, 0, 0), one_sided="sideways")


def test_an_arm_is_held_by_a_servo_against_its_weight():
    world = World()
    arm = world.add_body(box((1, 0.1, 0.1)), name="arm", position=(0.5, 0, 0), mass=2)
    hinge = world.add_joint("revolute", None, arm, point=(0, 0, 0), axis=(0, 1, 0), name="hinge",
                            target=lambda t: -0.3, p=4000, d=200, i=2000)
    sim = Simulation(world, step=2e-3)
    sim.run(6)
    record = sim.joints()
    assert len(record) == 1 and record["joint"][0] == hinge.id == world.joint("hinge").id
    assert abs(hinge.coordinate[3] + 0.3) < 1e-3, hinge.coordinate
    torque = record["actuator"][0, 3] / 2e-3
    assert abs(abs(torque) - 2 * 9.81 * 0.5 * math.cos(0.3)) < 0.02, torque
    assert hinge.presence == "acts" and numpy.abs(hinge.gap).max() < 1e-6
    raises(delassus.ArgumentError, "has 3 free freedoms", world.add_joint, "spherical", None, arm, point=(0, 0, 0), p=3)
    raises(delassus.ArgumentError, "no joint 'hinge'", world.add_joint, "hinge", None, arm)
    raises(delassus.ArgumentError, "no key 'stifness'", world.add_joint, "revolute", None, arm, stifness=3)
    world.joint("hinge").remove()
    sim.step(2)
    assert hinge.presence == "gone" and len(sim.joints()) == 0


def test_a_cantilever_bends_as_the_theory_of_beams_has_it():
    sag = 0.1 * 9.81 / (8 * 5)  # q L⁴ / 8 EI
    for end in (0, 1):
        world = World(dimension=2)
        beam = world.add_body(name="beam", solid=delassus.beam(1.0, EA=1e4, EI=5.0, line_density=0.1, damping=0.02))
        world.add_joint("fixed", None, "beam", point=(end, 0), axis=(1, 0), at=(0, end))
        assert beam.freedoms > 4 and list(beam.place(1)["x"][:2]) == [1, 0] and abs(beam.strain_energy) < 1e-12
        assert abs(beam.mass - 0.1) < 1e-12
        Simulation(world, step=4e-3).run(1.2)
        assert abs(-beam.place(1 - end)["x"][1] / sag - 1) < 0.01, (beam.place(1 - end), sag)
        assert abs(beam.place(end)["x"][1]) < 1e-9
        assert abs(beam.strain_energy - (0.1 * 9.81)**2 / (40 * 5)) < 0.02 * beam.strain_energy  # q² L⁵ / 40 EI
    q, u = beam.solid_state()
    beam.set_solid_state(q, 0 * u)
    assert (beam.solid_state()[1] == 0).all() and len(q) == beam.freedoms
    raises(delassus.InputError, "q: shape (3,)", beam.set_solid_state, [0, 0, 0], [0, 0, 0])
    raises(TypeError, "expected a Solid", world.add_body, solid={"length": 1})


def test_the_same_bits_as_the_scene_has():
    description = {"dimension": 2, "time": {"step": 1e-3, "until": 0.2}, "bodies": [
        {"name": "floor", "motion": "static", "shape": {"kind": "half-plane"}},
        *({"name": f"d{k}", "position": [0.01 * k, 0.5 + 0.25 * k], "shape": {"kind": "disc", "radius": 0.1}}
          for k in range(3))]}
    scene = Scene(description)
    first = scene.simulation()
    first.run(0.2)
    world = World(dimension=2)
    world.add_body(half_plane(), name="floor", motion="static")
    for k in range(3):
        world.add_body(disc(0.1), name=f"d{k}", position=(0.01 * k, 0.5 + 0.25 * k))
    second = Simulation(world, step=1e-3)
    second.run(0.2)
    assert first.steps == second.steps == 200 and first.hash == second.hash
    assert scene.run().hash == first.hash


def test_state_as_bytes_goes_on_to_the_same_bits():
    world = floor_and_ball(position=(0, 0, 0.15), velocity=(1, 0, 0))
    sim = Simulation(world, step=1e-3)
    sim.step(30)
    state, time_then = sim.save(), sim.time
    sim.step(100)
    after = sim.hash
    sim.load(state)
    assert sim.time == time_then
    sim.step(100)
    assert sim.hash == after
    raises(delassus.Error, "", sim.load, state[:-8])
    raises(delassus.Error, "", sim.load, b"nothing")


def test_two_simulations_run_at_once_in_two_threads():
    def run(out):
        world = World()
        world.add_body(half_space(), motion="static")
        world.add_bodies(sphere(0.05), [(0.11 * (k % 5), 0.11 * (k // 5 % 5), 0.06 + 0.11 * (k // 25)) for k in range(75)])
        sim = Simulation(world, step=2e-3, tolerance=1e-5)
        sim.step(40)
        out.append(sim.hash)
    hashes = []
    threads = [threading.Thread(target=run, args=(hashes,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(hashes) == 2 and hashes[0] == hashes[1]


def test_other_threads_run_while_it_steps():
    world = World()
    world.add_body(half_space(), motion="static")
    world.add_bodies(sphere(0.05), [(0.1 * (k % 12), 0.1 * (k // 12 % 12), 0.05 + 0.1 * (k // 144))
                                    for k in range(144 * 12)])
    sim = Simulation(world, step=2e-3, tolerance=1e-9)
    ticks, over = [], threading.Event()

    def count():
        while not over.is_set():
            ticks.append(time.perf_counter())
            time.sleep(1e-3)
    thread = threading.Thread(target=count)
    thread.start()
    begin = time.perf_counter()
    sim.step()
    spent = time.perf_counter() - begin
    over.set()
    thread.join()
    during = [tick for tick in ticks if begin < tick < begin + spent]
    assert spent < 0.03 or len(during) >= 3, f"{len(during)} ticks in {spent:.3f} s"


def test_the_problem_of_a_step_stands_alone():
    world = floor_and_ball()
    sim = Simulation(world, step=1e-3)
    sim.step()
    problem, impulses = sim.problem(), sim.impulses()
    sim.close()
    world.close()
    assert problem.contacts == 1 and problem.measure(impulses).residual < 1e-6
    assert numpy.allclose(problem.solve(tol=1e-10).r, impulses, atol=1e-9)


def test_a_step_writes_states_into_an_array_of_ones_own():
    world = floor_and_ball(position=(0, 0, 0.3))
    sim = Simulation(world, step=1e-2)
    room = sim.states()
    assert sim.step(3, states=room).step == 3 and (room == sim.states()).all() and room["x"][1, 2] < 0.3
    raises(delassus.InputError, "states: 3 rows, expected 2", sim.step, states=numpy.zeros(3, room.dtype))
    raises(delassus.InputError, "can be written", sim.step, states=numpy.zeros(4, room.dtype)[::2])
    assert sim.steps == 3, "refused before the step"
    locked = room.copy()
    locked.setflags(write=False)
    raises(delassus.InputError, "can be written", sim.step, states=locked)
    raises(TypeError, "as states() gives it", sim.step, states=numpy.zeros((2, 13)))
    raises(TypeError, "as states() gives it", sim.step, states=[1, 2])
    assert sim.step(states=room).step == 4 and (room == sim.states()).all()
    room.setflags(write=False)
    raises(delassus.InputError, "can be written", sim.step, states=room)
    room.setflags(write=True)
    world.add_body(delassus.sphere(0.1), position=(5, 0, 1))
    raises(delassus.InputError, "states: 2 rows, expected 3", sim.step, states=room)
    sim.close()
    raises(delassus.ClosedError, "closed", sim.step, states=room)


tap.main(globals())
