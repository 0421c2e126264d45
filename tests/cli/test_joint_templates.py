"""Templates with joints: each does what it says, every step certified, and goes on to the same bits after a kill."""
import csv
import json
import math
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests", "support"))
import tap  # noqa: E402
from program import PROGRAM, SOURCE, run, run_json  # noqa: E402

# How far each is run where it is killed: into its motion, with joints at bounds and contacts that slide.
MECHANISMS = {"arch": 0.3, "tyres": 0.3, "linkage": 0.7, "pendulum-chain": 0.9, "gripper": 1.2, "vehicle": 1.2, "excavator": 1.6, "ragdoll": 0.9}
FEW = float(os.environ.get("DLS_TEST_SCALE", 1)) < 1


def template(name):
    return SOURCE / f"scenes/templates/{name}.yaml"


def whole(name):
    """The facts of a whole run and its tables, made once."""
    path = pathlib.Path(f"{name}.json")
    if not path.exists():
        path.write_text(json.dumps(run_json("run", template(name), "-o", f"{name}.h5")))
        run("export", f"{name}.h5", "--csv", name)
    facts = json.loads(path.read_text())
    assert facts["certified"] == facts["steps"], facts
    return facts


def rows(name, table, of=None):
    with open(f"{name}/{table}.csv") as file:
        found = [{key.split(" ")[0]: value for key, value in row.items()} for row in csv.DictReader(file)]
    return [row for row in found if of is None or row["name"] == of]


def numbers(name, table, of, key):
    return [float(row[key]) for row in rows(name, table, of)]


def unless_few():
    if FEW:
        raise tap.Skip("whole runs take too long with sanitizers")


def test_all_templates_with_joints_are_here():
    joined = {path.stem for path in (SOURCE / "scenes/templates").glob("*.yaml") if "joints:" in path.read_text() or "supports:" in path.read_text() or "links:" in path.read_text()}
    assert joined == set(MECHANISMS)


def test_the_linkage_stalls_at_its_stop_and_turns_back():
    facts = whole("linkage")
    turn = [math.degrees(angle) for angle in numbers("linkage", "joints", "pivot", "coordinate_4")]
    assert 40 - 1e-4 < max(turn) < 40 + 1e-4 and min(turn) < -2, (max(turn), min(turn))
    torque = [impulse / 1e-3 for impulse in numbers("linkage", "joints", "motor", "actuator_4")]
    assert abs(max(torque) - 1) < 1e-9 and abs(min(torque) + 1) < 1e-9, (max(torque), min(torque))
    stalled = [speed for t, speed in zip(numbers("linkage", "joints", "motor", "time"),
                                         numbers("linkage", "joints", "motor", "speed_4")) if 0.8 < t < 1.2]
    assert max(map(abs, stalled)) < 1e-6, stalled
    assert abs(facts["unaccounted"]) < 1e-12, facts


def test_the_chain_winds_around_its_peg():
    facts = whole("pendulum-chain")
    assert facts["impact"] > 1 and facts["friction"] > 0.5, facts
    energy = facts["kinetic"] + facts["potential"] + facts["impact"] + facts["friction"]
    assert abs(energy) < 1e-12 * facts["impact"] * facts["steps"], energy  # it begins with 0 J
    assert min(numbers("pendulum-chain", "bodies", "weight", "x")) < -0.4


def test_the_gripper_does_not_tilt_its_parcel():
    for solver in ("auto",) if FEW else ("auto", "nlgs", "ipm"):
        until = 0.9 if FEW else 1.8
        facts = run_json("run", template("gripper"), "-o", "grip.h5", "--solver", solver, "--until", until)
        assert facts["certified"] == facts["steps"], facts
        run("export", "grip.h5", "--csv", "grip")
        parcel = rows("grip", "bodies", "parcel")
        tilt = max(math.degrees(2 * math.hypot(*(float(row[key]) for key in ("qx", "qy", "qz")))) for row in parcel)
        assert tilt < 1e-4, (solver, tilt)
        assert abs(max(float(row["z"]) for row in parcel) - 0.07) < 1e-6, solver  # 40 mm up, without slip


def test_the_parcel_goes_with_the_belt():
    unless_few()
    whole("gripper")
    assert abs(numbers("gripper", "bodies", "parcel", "vx")[-1] - 0.2) < 1e-6
    assert abs(numbers("gripper", "bodies", "parcel", "z")[-1] - 0.025) < 1e-6


def test_the_car_drives_on_its_four_wheels():
    unless_few()
    whole("vehicle")
    x, y, z = (numbers("vehicle", "bodies", "chassis", key) for key in "xyz")
    assert x[-1] > 15 and max(y) > 0.4 and 0.58 < min(z) and max(z) < 0.66, (x[-1], max(y), min(z), max(z))
    ways = [way for name in ("rear-left", "rear-right", "front-left", "front-right")
            for way in numbers("vehicle", "joints", name, "coordinate_1")]
    assert 0.02 < max(ways) < 0.12 and -0.12 < min(ways) < -0.02, (min(ways), max(ways))
    steered = numbers("vehicle", "joints", "front-left", "coordinate_4")
    assert abs(max(steered) - 0.1) < 1e-4 and abs(min(steered) + 0.1) < 1e-4, (min(steered), max(steered))


def test_the_excavator_lifts_gravel():
    unless_few()
    whole("excavator")
    bodies = rows("excavator", "bodies")
    stones = [row for row in bodies if row["frame"] == bodies[-1]["frame"] and row["name"].startswith("stone")]
    lifted = [row for row in stones if float(row["y"]) > 0.8]
    # how many is chance: 2 to 6 for frictions from 0.49 to 0.75, in no order
    assert lifted and max(abs(float(row["vy"])) for row in lifted) < 1e-2, lifted


def test_the_ragdoll_comes_to_rest_below():
    unless_few()
    facts = whole("ragdoll")
    assert facts["kinetic"] < 1e-3, facts
    assert numbers("ragdoll", "bodies", "torso", "z")[-1] < 0.8
    for name, low, high in (("knee-left", 0, 130), ("knee-right", 0, 130), ("elbow-left", -130, 0)):
        angles = [math.degrees(angle) for angle in numbers("ragdoll", "joints", name, "coordinate_4")]
        assert low - 0.05 < min(angles) and max(angles) < high + 0.05, (name, min(angles), max(angles))


def test_the_arch_carries_the_block():
    unless_few()
    facts = whole("arch")
    run("analyze", "arch.h5", "supports", "-o", "arch-supports")
    with open("arch-supports/supports.csv") as file:
        feet = [(float(row["support"]), float(row["force_x [N]"]), float(row["force_z [N]"]), float(row["time [s]"]))
                for row in csv.DictReader(file)]
    last = [foot for foot in feet if foot[3] > 1.5]
    times = len(last) / 2
    thrust = [sum(x for k, x, _, _ in last if k == side) / times for side in (0, 1)]
    carried = sum(z for _, _, z, _ in last) / times
    # 24 straight pieces of the arch, and the block
    weight = 9.81 * (1100 * 0.3 * 0.1 * 24 * math.sin(math.pi / 24) + 7800 * 0.3 * 0.2 * 0.08)
    assert abs(carried - weight) < 0.03 * weight, (carried, weight)  # it still swings
    assert abs(sum(thrust)) < 0.05 * thrust[0] and thrust[0] > 0.2 * weight, thrust
    assert facts["strain"] > 10 and facts["penetration"] < 2e-3, facts
    assert abs(numbers("arch", "bodies", "block", "x")[-1]) < 0.02


def test_the_cart_climbs_the_stones():
    unless_few()
    facts = whole("tyres")
    x, z = (numbers("tyres", "bodies", "cart", key) for key in "xz")
    assert x[-1] > 0.6 and max(z) > z[0] + 2e-3, (x[-1], max(z), z[0])
    assert facts["penetration"] < 5e-3 and abs(facts["unaccounted"]) < 1e-6, facts


# ---- the same bits ----

def kill_in_motion(arguments):
    """Kills a run behind its first checkpoint; whether it came in time."""
    checkpoint = pathlib.Path("killed.h5.checkpoint")
    child = subprocess.Popen([PROGRAM, "run", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    while child.poll() is None and not checkpoint.exists():
        time.sleep(5e-4)
    child.kill()
    child.communicate()
    return child.returncode != 0


def test_killed_in_motion_and_gone_on_with():
    for name, until in MECHANISMS.items():
        often = ["--until", str(until / 4 if FEW else until), "--quiet"]
        facts = run_json("run", template(name), "-o", "never.h5", *often)
        for path in pathlib.Path(".").glob("killed.h5*"):
            path.unlink()
        arguments = [str(template(name)), "-o", "killed.h5", *often, "--set", "run.checkpoint_interval=0.03"]
        assert kill_in_motion(arguments), f"{name} was over before it was killed"
        end = run_json("run", *arguments, "--resume", "--threads", 2)
        assert 0 < end["resumed_after"] < facts["steps"], (name, end)
        assert end["state"] == facts["state"], name
        for key in ("certified", "worst_residual", "iterations", "joints", "motors", "spring", "unaccounted"):
            assert end.get(key) == facts.get(key), (name, key)
        tables = []
        for results in ("never", "killed"):
            run("export", f"{results}.h5", "--csv", results)
            tables.append([pathlib.Path(results, f"{table}.csv").read_text() for table in ("bodies", "joints")])
        assert tables[0] == tables[1], name


tap.main(globals())
