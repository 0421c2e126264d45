"""bench/run: the floor of 20 µs, means over what both sides solved, the cache, with made-up programs in place of the real;
simulations with the real one on tiny sizes; errors of peers and of mechanisms from states that are known."""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tap  # noqa: E402

sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "bench" / "peers"))
import contest  # noqa: E402
import mechanisms  # noqa: E402
import plot  # noqa: E402
import race  # noqa: E402
import scenes  # noqa: E402

PROGRAM = '''#!/usr/bin/env python3
import json, pathlib, sys
times = json.loads(pathlib.Path(sys.argv[1]).read_text())
side = sys.argv[sys.argv.index("--side") + 1]
print(json.dumps({"file": sys.argv[1], "contacts": 7, "rows": 21, "dimension": 3}))
rows = [("ours", "", "nlgs:exact"), ("siconos", "nsgs", "nsgs cone light"), ("siconos", "other", "admm")]
for (who, group, solver), seconds in zip(rows, times):
    if who == "ours" or side == "both":
        print(json.dumps({"side": who, "group": group, "solver": solver, "target": 1e-4, "seconds": seconds,
                          "residual": 5e-5, "tolerance": 1e-4, "iterations": 3}))
'''


def measure(problems, *arguments, folder):
    """Runs bench/run on problems {name: [ours, NSGS, ADMM] seconds}; returns the JSON it leaves and what it printed."""
    build = pathlib.Path(folder, "build")
    (build / "bench").mkdir(parents=True, exist_ok=True)
    program = build / "bench" / "bench_siconos"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    files = []
    for name, times in problems.items():
        files.append(pathlib.Path(folder, name))
        files[-1].write_text(json.dumps(times))
    done = subprocess.run([ROOT / "bench" / "run", "siconos", *files, "--build", build, "--ours", "nlgs:exact",
                           "--target", "1e-4", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads((build / "bench" / "siconos.json").read_text()), done.stdout


def summary(problems):
    with tempfile.TemporaryDirectory() as folder:
        result, _ = measure(problems, folder=folder)
        return result["summaries"]["spatial 0.0001"]["nlgs:exact"]


def test_mean_and_worst():
    nsgs = summary({"a": [1e-3, 4e-3, 2e-3], "b": [2e-3, 2e-3, 3e-3]})["best_nsgs"]
    assert abs(nsgs["geometric_mean"] - 0.5) < 1e-12 and nsgs["worst"] == 1 and nsgs["worst_file"] == "b", nsgs


def test_best_of_all_solvers():
    every = summary({"a": [1e-3, 4e-3, 2e-3]})["best_all"]
    assert abs(every["geometric_mean"] - 0.5) < 1e-12, every


def test_floor_on_both_sides():
    assert summary({"a": [1e-6, 5e-6, 5e-6]})["best_nsgs"]["geometric_mean"] == 1
    assert abs(summary({"a": [1e-6, 4e-5, 4e-5]})["best_nsgs"]["geometric_mean"] - 0.5) < 1e-12


def test_only_what_both_solved_counts():
    both = summary({"a": [1e-3, 2e-3, None], "b": [None, 1e-3, 1e-3], "c": [1e-3, None, None]})
    assert both["best_nsgs"]["solved_by_both"] == 1 and both["best_nsgs"]["geometric_mean"] == 0.5, both
    assert both["not_reached"] == ["b"], both


def test_missed_bar_is_said():
    with tempfile.TemporaryDirectory() as folder:
        _, printed = measure({"a": [2e-3, 1e-3, 1e-3]}, folder=folder)
        assert "MISSED" in printed and "assertions" in printed, printed


def test_cache_keeps_the_peer_and_measures_ours_again():
    with tempfile.TemporaryDirectory() as folder:
        cache = pathlib.Path(folder, "cache.json")
        measure({"a": [1e-3, 2e-3, 3e-3]}, "--cache", cache, folder=folder)
        result, printed = measure({"a": [5e-4, 9.0, 9.0]}, "--cache", cache, folder=folder)
        line = result["comparisons"][0]
        assert line["best_nsgs"]["seconds"] == 2e-3 and line["ours"]["nlgs:exact"]["seconds"] == 5e-4, line
        assert "from a cache" in printed, printed


def simulate(*arguments):
    """The real program on tiny sizes; returns the JSON that bench/run leaves and what it printed."""
    program = pathlib.Path(os.environ.get("DLS_BUILD_DIR", ROOT / "build"), "bench", "bench_simulate")
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "bench").mkdir()
        pathlib.Path(folder, "bench", "bench_simulate").symlink_to(program.resolve())
        done = subprocess.run([ROOT / "bench" / "run", "simulate", "--build", folder, *arguments],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(pathlib.Path(folder, "bench", "simulate.json").read_text()), done.stdout


def test_simulations():
    result, printed = simulate("--sizes", "40", "120", "--filling", "20", "--seconds", "0.5", "--seeds", "2",
                               "--larger-seconds", "0.3")
    assert [(row["tolerance"], row["seed"]) for row in result["filling"]] == [(1e-4, 0), (1e-4, 1), (5e-4, 0), (5e-4, 1)], result["filling"]
    assert [row["spheres"] for row in result["larger"]] == [20, 80, 320], result["larger"]
    assert result["judged"]["iterations_per_tenfold"] > 0, result["judged"]
    for row in result["filling"]:
        assert row["spheres"] == 20 and row["steps"] == 50 and row["certified_share"] == 1, row
        assert row["over_real_time"] > 0 and row["worst_residual"] <= row["tolerance"], row
    sizes = [(row["spheres"], row["threads"], row["mode"]) for row in result["packings"]]
    assert sizes == [(n, t, mode) for n, t in ((40, 1), (120, 1), (120, 2)) for mode in ("tolerance", "sweeps")], sizes
    for row in result["packings"]:
        assert row["contacts"] >= row["spheres"], row  # they do rest on each other
        stages = sum(row[f"{stage}_seconds"] for stage in ("collide", "assemble", "solve", "rest"))
        assert abs(stages - row["seconds"]) <= 1e-3 * row["seconds"], row
        assert 0 < row["collision_share"] < 1 and row["kinetic_energy"] < 1e-2 * row["spheres"], row
        assert row["simulation_bytes"] + row["world_bytes"] <= 1.01 * row["held_bytes"], row
        assert row["resident_bytes"] > row["simulation_bytes"] > 200 * row["contacts"], row
    assert result["packings"][-1]["same_bits"] and "the same bits" in printed, printed
    least, most = (row for row in result["packings"] if row["threads"] == 1 and row["mode"] == "sweeps")
    assert abs(result["judged"]["growth"] - most["step_ns"] / least["step_ns"]) < 1e-9, result["judged"]
    rolling = result["judged"]["rolling"]
    assert rolling["ratio"] == rolling["ns"] / rolling["ns_without"] > 0, rolling
    assert printed.count("bar ≤") == 7 and printed.count("bar ≥") == 2, printed


def test_products():
    program = pathlib.Path(os.environ.get("DLS_BUILD_DIR", ROOT / "build"), "bench", "bench_products")
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "bench").mkdir()
        pathlib.Path(folder, "bench", "bench_products").symlink_to(program.resolve())
        done = subprocess.run([ROOT / "bench" / "run", "products", "--build", folder, "--contacts", "60",
                               "--contacts", "200"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        result = json.loads(pathlib.Path(folder, "bench", "products.json").read_text())
    rows = [row for row in result["accuracy"] if row["solver"] == "apgd" and row["outcome"] == "converged"]
    assert [row["tolerance"] for row in rows[:2]] == [1e-4, 1e-6], rows
    assert all(row["residual"] <= row["tolerance"] and row["products"] >= row["iterations"] > 0 for row in rows), rows
    assert rows[0]["products"] < rows[1]["products"] and rows[0]["growth"] is None, rows
    assert any(row["contacts"] > 150 and row["growth"] is not None for row in rows), rows
    assert {row["solver"] for row in result["threads"]} == {"apgd", "pqn"}, result["threads"]
    assert done.stdout.count("speed-up on 2 threads") == 2, done.stdout


def at(place, velocity=(0, 0, 0), turn=(1, 0, 0, 0), spin=(0, 0, 0)):
    return (*place, *turn, *velocity, *spin)


def near(value, expected):
    return abs(value - expected) <= 1e-12 * max(1, abs(expected))


def test_penetrations_of_peers():
    roll, stack, filling = scenes.make_roll(), scenes.make_stack(), scenes.make_filling(count=2)
    assert scenes.depth(roll, [at((3, 1, 0.7))]) == 0
    assert near(scenes.depth(roll, [at((3, 1, 0.49))]), 0.01)
    assert near(scenes.depth(filling, [at((0.45, 3, 3)), at((1.42, 3, 3))]), 0.05)  # the wall, not the 0.03 of the balls
    assert near(scenes.depth(filling, [at((2, 3, 3)), at((2, 3.6, 3.6))]), 1 - math.hypot(0.6, 0.6))
    level = [at((*scene.place,), turn=scene.turn) for scene in stack.bodies]
    assert scenes.depth(stack, level) < 1e-14
    normal = stack.planes[0][0]
    level[4] = at(scenes.plus(level[4][:3], normal, -0.02), turn=level[4][3:7])
    assert near(scenes.depth(stack, level), 0.02)
    fallen = [at((3 * k, 0, 5), turn=state[3:7]) for k, state in enumerate(level)]
    assert scenes.depth(stack, fallen) == 0
    box = scenes.make_incline()
    turned = (math.cos(math.radians(10) + 0.005), 0, math.sin(math.radians(10) + 0.005), 0)  # 0.01 rad steeper than the slope
    assert near(scenes.depth(box, [at(box.bodies[0].place, turn=turned)]),
                0.5 * math.sin(0.01) + 0.25 * math.cos(0.01) - 0.25)


def test_creep_and_energies_of_peers():
    box = scenes.make_incline()
    places = [scenes.plus(box.bodies[0].place, (0, 1, 0), 0.001 * k) for k in range(21)]
    assert near(scenes.measure_creep(box, [(k, 0, [at(place)]) for k, place in enumerate(places)]), 0.018)
    ball = scenes.make_bounce()
    frames = [(k, 0, [at((0, 0, 0.5 + height))]) for k, height in enumerate((1, 0.4, 0.7, 0.2))]
    assert near(scenes.measure_gained(ball, frames), 0.3) and near(scenes.measure_lost(ball, frames), 0.8)
    spin = scenes.kinetic(ball.bodies[0], at((0, 0, 0), (3, 0, 0), spin=(0, 2, 0)))
    assert near(spin, 0.5 * 9 + 0.5 * 0.4 * 0.25 * 4), spin
    beam = scenes.Body("box", (3, 1, 1), (0, 0, 0), mass=12)
    quarter = (math.sqrt(0.5), 0, 0, math.sqrt(0.5))  # its long axis lies along y
    assert near(scenes.kinetic(beam, at((0, 0, 0), turn=quarter, spin=(0, 1, 0))), 0.5 * 2)
    assert near(scenes.kinetic(beam, at((0, 0, 0), turn=quarter, spin=(1, 0, 0))), 0.5 * 10)


def test_rolling_of_peers():
    roll = scenes.make_roll()
    end = 2 * 2 / (7 * 0.2 * 9.81)
    speeds = [2 - 0.2 * 9.81 * t if t < end else 10 / 7 for t in (0.005 * k for k in range(200))]
    direction = tuple(c / 2 for c in roll.bodies[0].velocity)
    exact = [(k, 0, [at((0, 0, 0.5), tuple(v * c for c in direction))]) for k, v in enumerate(speeds)]
    assert scenes.measure_rolling(roll, exact) < 1e-14
    askew = (k := 150, 0, [at((0, 0, 0.5), (10 / 7, 0, 0))])
    assert near(scenes.measure_rolling(roll, exact[:k] + [askew]), 10 / 7 * 2 * math.sin(math.radians(15)))


PEER = '''#!/usr/bin/env python3
import sys
text = open(sys.argv[1]).read()
steps = int(text.split("steps ")[1].split()[0])
print("[engine] says something of its own")
for step in range(steps // (2 if sys.argv[2] == "step:0.05" else 1) + 1):
    print("frame", step, 0.5 * step)
    print(0, 0, 0.5 - 0.001 * step, 1, 0, 0, 0, *("nan" if sys.argv[2] == "quick:20" else 0 for _ in range(6)))
'''


def test_peers():
    program = pathlib.Path(os.environ.get("DLS_BUILD_DIR", ROOT / "build"), "bench", "peer_delassus")
    with tempfile.TemporaryDirectory() as folder:
        made_up = pathlib.Path(folder, "bench", "peer_ode")
        made_up.parent.mkdir()
        made_up.write_text(PEER)
        made_up.chmod(0o755)
        (made_up.parent / "peer_delassus").symlink_to(program.resolve())
        done = subprocess.run([ROOT / "bench" / "run", "peers", "roll", "--engines", "delassus", "ode", "bullet", "--scale", "0.5",
                               "--build", folder], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        result = json.loads((made_up.parent / "peers.json").read_text())
        wrong = subprocess.run([ROOT / "bench" / "run", "peers", "rol", "--build", folder], capture_output=True, text=True)
    ours, _, hurt, whole, stopped = result["rows"]
    assert ours["engine"] == "delassus" and ours["errors"]["rolling"] < 1e-12 and ours["errors"]["penetration"] < 1e-12, ours
    assert ours["steps"] == ours["steps_asked"] == 100 and 0 < ours["seconds"] < 10 and ours["default"], ours
    assert hurt["errors"]["rolling"] is None and near(whole["errors"]["penetration"], 0.1), result["rows"]
    assert stopped["steps"] == 50 and near(stopped["errors"]["penetration"], 0.05), stopped
    lines = done.stdout.splitlines()
    assert any("Bullet is not here" in line and "libbullet-dev" in line for line in lines), done.stdout
    assert any("ERP 0.05" in line and "≥ 0.05" in line and "> 25 s" in line for line in lines), done.stdout
    assert any("not finite" in line for line in lines) and result["machine"]["cores"]
    assert result["command"] == "bench/run peers roll --engines delassus ode bullet --scale 0.5", result["command"]
    assert wrong.returncode == 1 and "no scene 'rol'" in wrong.stderr, wrong.stderr


def test_siconos_reads_what_is_written():
    names = ["numpy", "siconos", "siconos.kernel", "siconos.numerics", "siconos.mechanics", "siconos.mechanics.collision",
             "siconos.mechanics.collision.bullet"]
    with tempfile.NamedTemporaryFile("w", suffix=".scene") as file, \
            unittest.mock.patch.dict(sys.modules, {name: unittest.mock.MagicMock() for name in names}):
        import peer_siconos  # whose reader needs none of them
        stack = scenes.make_stack()
        file.write(stack.text())
        file.flush()
        scene = peer_siconos.read(file.name)
    assert scene["gravity"] == [0, 0, -9.81] and scene["mu"] == 0.5 and scene["steps"] == 2000, scene
    assert scene["plane"] == [[*stack.planes[0][0], 0]] and len(scene["body"]) == 10, scene
    kind, values = scene["body"][3]
    assert kind == "box" and values[:3] == [1, 1, 1] and tuple(values[4:7]) == stack.bodies[3].place, values


def test_every_setting_of_a_peer_has_words():
    for engine, (_, _, settings) in contest.ENGINES.items():
        assert settings.keys() <= {"", *scenes.MAKERS}, engine
        assert all(contest.WORDS[engine](setting) for row in settings.values() for setting in row), engine


# ---- mechanisms --------------------------------------------------------------------------------------------


def standing(scene):
    return [at(body.place, body.velocity, body.turn, body.spin) for body in scene.bodies]


def test_mechanisms_start_whole():
    for name, make in mechanisms.MAKERS.items():
        scene = make()
        states = standing(scene)
        assert mechanisms.joint_gap(scene, states) < 1e-12, name
        assert mechanisms.depth(scene, states) < 1e-12, name
        assert scene.text().count("\n") == 9 + len(scene.planes) + len(scene.bodies) + len(scene.joints), name


def test_gaps_of_mechanisms():
    chain = mechanisms.make_chain(count=3)
    states = standing(chain)
    states[1] = at((0.15, 0.003, -0.004), turn=states[1][3:7])
    assert near(mechanisms.joint_gap(chain, states), 0.005)
    states = standing(chain)
    half = (math.cos(0.05), 0, 0, math.sin(0.05))  # the last link turned by 0.1 rad about its middle: its end 0.05 m off moves
    states[2] = at(chain.bodies[2].place, turn=half)
    assert near(mechanisms.joint_gap(chain, states), 0.05 * 2 * math.sin(0.05))
    vehicle = mechanisms.make_vehicle()
    states = standing(vehicle)
    for body in (1, 2):  # a wheel and its carrier along the slider, which is no gap
        states[body] = at(scenes.plus(states[body][:3], (0, 0, 0.1)), turn=states[body][3:7])
    assert mechanisms.joint_gap(vehicle, states) < 1e-12
    for body in (1, 2):
        states[body] = at(scenes.plus(states[body][:3], (0.02, 0, 0)), turn=states[body][3:7])
    assert near(mechanisms.joint_gap(vehicle, states), 0.02)


def boxes(*places, size=(1, 1, 1), turns=None):
    bodies = [scenes.Body("box", size, place) for place in places]
    scene = scenes.Scene("", "", bodies, [], 0, 0, 1, 1, 1, ("penetration",))
    return scene, [at(place, turn=turn) for place, turn in zip(places, turns or [(1, 0, 0, 0)] * len(places))]


def test_penetrations_of_mechanisms():
    assert near(mechanisms.depth(*boxes((0, 0, 0), (0.3, 0.9, 0.2))), 0.1)
    assert mechanisms.depth(*boxes((0, 0, 0), (1.01, 0, 0))) == 0
    eighth = (math.cos(math.pi / 8), 0, 0, math.sin(math.pi / 8))  # an edge, √½ from the middle, points at a face
    touching = 0.5 + math.sqrt(0.5)
    turns = [(1, 0, 0, 0), eighth]
    assert near(mechanisms.depth(*boxes((0, 0, 0), (touching - 0.03, 0, 0), turns=turns)), 0.03)
    assert mechanisms.depth(*boxes((0, 0, 0), (touching + 1e-6, 0, 0), turns=turns)) == 0
    # Edge across edge: only the cross product of the two separates them.
    about_x, about_y = (math.cos(math.pi / 8), math.sin(math.pi / 8), 0, 0), (math.cos(math.pi / 8), 0, math.sin(math.pi / 8), 0)
    high = 2 * math.sqrt(0.5)
    assert near(mechanisms.depth(*boxes((0, 0, 0), (0, 0, high - 0.02), turns=[about_x, about_y])), 0.02)
    assert mechanisms.depth(*boxes((0, 0, 0), (0, 0, high + 1e-6), turns=[about_x, about_y])) == 0
    scene, states = boxes((0, 0, 0), (0, 0, 0.9))
    scene.bodies[1] = scenes.Body("sphere", (1, 1, 1), (0, 0, 0.9))
    assert near(mechanisms.depth(scene, states), 0.1)
    scene.joints = [scenes.Joint("ball", (0, 1), (0, 0, 0.5))]  # what is joined may overlap
    assert mechanisms.depth(scene, states) == 0


def test_errors_of_mechanisms():
    scene = mechanisms.make_chain(count=2)
    first = standing(scene)
    moved = [at(scenes.plus(state[:3], (0, 0, -0.3 * k)), turn=state[3:7]) for k, state in enumerate(first)]
    frames, reference = [(0, 0, first), (1, 0, moved)], [(0, 0, first), (1, 0, first)]
    assert near(mechanisms.measure(scene, frames, reference)["motion"], 0.3 / math.sqrt(2))
    scene.bodies[0].mass = 0.3  # three quarters of the mass
    height, spread = mechanisms.moments(scene, moved)
    assert near(height, -0.3 / 4) and near(spread, 0.1 * math.sqrt(3) / 4), (height, spread)
    rising = [(k, 0, [at((0, 0, z))]) for k, z in enumerate((2, 1, 1.2, 0))]
    fall = scenes.Scene("", "", [scenes.Body("box", (1, 1, 1), (0, 0, 2))], [], 0, 0, 1, 1, 1, ())
    assert near(mechanisms.energy_gained(fall, rising), 0.1)
    hurt = [(0, 0, [at((0, 0, math.nan))])]
    assert mechanisms.measure(fall, hurt, None) == {} and mechanisms.measure(scene, [(0, 0, [at((math.nan, 0, 0))] * 2)],
                                                                               reference)["gap"] == math.inf


def test_times_at_equal_error():
    first_order = [(0.4, 1.0), (0.2, 2.0), (0.1, 4.0)]
    assert near(race.time_at(first_order, 0.15), 2 * 2**(math.log(0.2 / 0.15) / math.log(2)))
    assert race.time_at(first_order, 0.5) == 1 and race.time_at(first_order, 0.1) == 4 and race.time_at(first_order, 0.09) is None
    assert race.time_at([(0.4, 1.0), (1e-4, 2.0)], 0.01) == 2  # not stable before
    rows = [{"engine": engine, "setting": setting, "words": setting, "step": 1, "seconds": seconds, "whole": whole, "mechanism": "chain",
             "errors": {"motion": error, "gap": None}}
            for engine, setting, seconds, error, whole in (
                ("delassus", "a", 1.0, 0.05, True), ("ode", "slow", 9.0, 0.05, True), ("ode", "fast", 4.0, 0.08, True),
                ("ode", "stopped", 0.1, 0.01, False), ("bullet", "b", 1.0, 0.3, True))]
    line = race.compare(rows, "chain", ["delassus", "ode", "bullet"])[0]
    assert line["target"] == 0.1 and line["best"]["ode"]["words"] == "fast" and line["best"]["bullet"] is None, line
    assert line["ratios"] == {"ode": 0.25, "bullet": None}, line


def test_figure_of_mechanisms():
    drawn = plot.loglog("a < b", "t", "e", {("ode", "one"): [(0.1, 1e-3), (1, 1e-2)], ("delassus", "two"): [(0.01, 0.05)]})
    assert drawn.count("<circle") == 3 and "a &lt; b" in drawn and "1e-3" in drawn and "1e0" in drawn, drawn
    # x from 1e-2 to 1e0, y from 1e-3 to 1e-1: a point in the middle of both
    assert f'<circle cx="{plot.LEFT + plot.PLOT_WIDTH / 2:.1f}" cy="{plot.TOP + plot.PLOT_HEIGHT:.1f}"' in drawn, drawn


def joined(joint, place=(1, 0, 0), seconds=2.0):
    body = scenes.Body("box", (0.2, 0.2, 0.2), place)
    return scenes.Scene("joined", "", [body], [], 0.3, 0, 0.002, seconds, 1000000, (), [joint])


def end_in(engine, setting, scene):
    return contest.run_once([str(pathlib.Path(os.environ.get("DLS_BUILD_DIR", ROOT / "build"), "bench", f"peer_{engine}"))], scene,
                            setting)[-1][2][0]


def test_joints_mean_the_same_in_every_engine():
    build = pathlib.Path(os.environ.get("DLS_BUILD_DIR", ROOT / "build"))
    for engine, setting in (("delassus", "1e-8"), ("ode", "step:0.2"), ("bullet", "impulse:100"), ("bullet", "dantzig")):
        if not contest.command_of(engine, build):
            assert engine != "delassus"
            continue
        hinge = joined(scenes.Joint("hinge", (-1, 0), (0, 0, 0), (0, 1, 0), limits=(-0.1, 0.5)))
        assert abs(end_in(engine, setting, hinge)[2] + math.sin(0.5)) < 2e-3, engine
        hinge = joined(scenes.Joint("hinge", (-1, 0), (0, 0, 0), (0, 1, 0), limits=(-0.3, 0.5)), place=(-1, 0, 0))
        assert abs(end_in(engine, setting, hinge)[2] + math.sin(0.3)) < 2e-3, engine
        inertia = 0.2**2 / 6
        motor = joined(scenes.Joint("hinge", (-1, 0), (0, 0, 0), (0, 1, 0), motor=(2, 0.01)), place=(0, 0, 0), seconds=1)
        assert abs(end_in(engine, setting, motor)[11] - 0.01 / inertia) < 1e-6, engine
        spring = joined(scenes.Joint("slider", (-1, 0), (0, 0, 0), (0, 0, 1), spring=(100, 20)), place=(0, 0, 0), seconds=4)
        assert abs(end_in(engine, setting, spring)[2] + 9.81 / 100) < 1e-6, engine
        motor = joined(scenes.Joint("slider", (-1, 0), (0, 0, 0), (1, 0, 0), motor=(0.5, 1)), place=(0, 0, 0), seconds=1)
        assert abs(end_in(engine, setting, motor)[7] - 0.5) < 1e-6 and abs(end_in(engine, setting, motor)[0] - 0.375) < 2e-3, engine
        slider = joined(scenes.Joint("slider", (-1, 0), (0, 0, 0), (0, 0, 1), limits=(-0.2, 0.1)), place=(0, 0, 0))
        assert abs(end_in(engine, setting, slider)[2] + 0.2) < 1e-3, engine
        ball = end_in(engine, setting, joined(scenes.Joint("ball", (-1, 0), (0, 0, 0)), seconds=0.3))
        assert abs(math.hypot(*ball[:3]) - 1) < 1e-3 and ball[2] < -0.3, (engine, ball)


def test_mechanisms():
    build = os.environ.get("DLS_BUILD_DIR", ROOT / "build")
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "bench").mkdir()
        pathlib.Path(folder, "bench", "peer_delassus").symlink_to(pathlib.Path(build, "bench", "peer_delassus").resolve())
        done = subprocess.run([ROOT / "bench" / "run", "mechanisms", "vehicle", "--scale", "0.05", "--build", folder],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        result = json.loads(pathlib.Path(folder, "bench", "mechanisms.json").read_text())
        assert "<svg" in pathlib.Path(folder, "bench", "mechanisms_vehicle.svg").read_text()
        wrong = subprocess.run([ROOT / "bench" / "run", "mechanisms", "car", "--build", folder], capture_output=True, text=True)
    rows = [row for row in result["rows"] if row["setting"] == "1e-6"]
    assert [row["step"] for row in rows[:3]] == [0.05, 0.025, 0.0125] and len(rows) == 7, rows
    assert rows[-1]["step"] >= 8 * race.PLANS["vehicle"][2] and all(row["whole"] for row in rows), rows
    assert rows[-1]["errors"]["motion"] < rows[0]["errors"]["motion"] < 1e-3, rows
    assert 0 < result["mechanisms"][0]["reference"] < 1e-5, result["mechanisms"]
    assert result["engines"]["ode"]["installed"] is False and "ODE is not here" in done.stdout, done.stdout
    assert wrong.returncode == 1 and "no mechanism 'car'" in wrong.stderr, wrong.stderr


def test_every_setting_of_a_mechanism_has_words():
    assert race.PLANS.keys() == mechanisms.MAKERS.keys()
    for engine, settings in race.SETTINGS.items():
        assert settings.keys() <= {"", *mechanisms.MAKERS}, engine
        assert all(contest.WORDS[engine](setting) for row in settings.values() for setting in row), engine


tap.main(globals())
