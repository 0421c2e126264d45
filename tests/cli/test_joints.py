"""Joints through the program: summaries, tables, surfaces, measures, figures, pictures, resuming, old files."""
import csv
import gzip
import math
import os
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests", "support"))
import tap  # noqa: E402
from program import SOURCE, refuses, run, run_json  # noqa: E402

# A four-bar linkage with a motor, a slide on a spring and a ball on a rope; bars and slider have no shapes.
SCENE = """delassus: 1
title: Linkage
dimension: 2
gravity: [0, -9.81]
materials: {clay: {density: 200, mu: 0.5}}
bodies:
  - {name: crank, mass: 0.2, inertia: 2e-4, position: [0.05, 0]}
  - {name: coupler, mass: 0.5, inertia: 4e-3, position: [0.25, 0.1]}
  - {name: rocker, mass: 0.4, inertia: 2e-3, position: [0.4, 0.1]}
  - {name: slider, mass: 0.4, inertia: 2e-3, position: [0.8, 0.1]}
  - {name: floor, motion: static, material: clay, position: [0, -0.15], shape: {kind: half-plane}}
  - {name: ball, material: clay, position: [-0.2, -0.1], shape: {kind: disc, radius: 0.05}}
joints:
  - {name: motor, kind: revolute, bodies: [ground, crank], at: [0, 0], drive: {velocity: 6*pi, torque: 20}}
  - {kind: revolute, bodies: [crank, coupler], at: [0.1, 0]}
  - {name: elbow, kind: revolute, bodies: [coupler, rocker], at: [0.4, 0.2]}
  - {name: pivot, kind: revolute, bodies: [ground, rocker], at: [0.4, 0], friction: 0.05}
  - {name: slide, kind: prismatic, bodies: [ground, slider], at: [0.8, 0.1], axis: [1, 0]}
  - {name: rope, kind: distance, rope: yes, bodies: [ground, ball], at: [[-0.3, 0.1], [-0.2, -0.1]]}
springs:
  - {name: coil, bodies: [ground, slider], at: [[0.55, 0.1], [0.8, 0.1]], stiffness: 40, rest: 0.2}
time: {step: 0.002, until: 0.2}
output: {interval: 0.01}
"""
# A frame of three discs, welded and held apart, that slides on two of them.
BOTH = """delassus: 1
dimension: 2
gravity: [2, -9.81]
materials: {clay: {density: 200, mu: 0.5}}
bodies:
  - {name: floor, motion: static, material: clay, shape: {kind: half-plane}}
  - {name: a, material: clay, position: [0, 0.05], shape: {kind: disc, radius: 0.05}}
  - {name: b, material: clay, position: [0.3, 0.05], shape: {kind: disc, radius: 0.05}}
  - {name: c, material: clay, position: [0.15, 0.3], shape: {kind: disc, radius: 0.05}}
joints:
  - {kind: fixed, bodies: [a, b]}
  - {kind: distance, bodies: [a, c]}
  - {kind: distance, bodies: [b, c]}
time: {step: 0.002, until: 0.02}
output: {interval: 0.01}
"""
NAMES = ["motor", "", "elbow", "pivot", "slide", "rope", "coil"]


def results():
    path = pathlib.Path("bar.h5")
    if not path.exists():
        pathlib.Path("bar.yaml").write_text(SCENE)
        end = run_json("run", "bar.yaml")
        pathlib.Path("state").write_text(end["state"])
        assert end["certified"] == end["steps"] == 100
        assert end["joints"] == 7 and end["motors"] != 0 and end["spring"] > 0 and end["joint_loss"] > 0, end
        assert 0 < end["joint_gap"] < 1e-3 and abs(end["unaccounted"]) < 1e-9, end
    return path


def table(name):
    if not pathlib.Path("csv").exists():
        run("export", results(), "--csv", "csv")
    with open(f"csv/{name}.csv") as file:
        return list(csv.DictReader(file))


def measured(*more):
    analysis = run_json("analyze", results(), "joints", *more)
    (measure,) = analysis["measures"]
    tables = {t["name"]: [dict(zip(t["columns"], row)) for row in t["rows"]] for t in measure["tables"]}
    return {fact["name"]: fact["value"] for fact in measure["facts"]}, tables


def test_summary_has_motors_springs_and_losses_in_its_books():
    results()
    shown = run("run", "bar.yaml", "-o", "shown.h5").stdout
    assert re.search(r"joints +7 act at the end, \d+ of \d+ rows at a bound, gap \S+\n", shown), shown
    assert re.search(r"in joints \S+ J, stored in springs \S+ J, put in by motors \S+ J,\n", shown), shown


def test_scenes_without_joints_do_not_speak_of_them():
    scene = SCENE.split("joints:")[0] + "time: {step: 0.002, until: 0.02}\n"
    pathlib.Path("plain.yaml").write_text(scene)
    shown = run("run", "plain.yaml").stdout
    assert "joints" not in shown and "motors" not in shown, shown
    run("export", "plain.h5", "--csv", "plain_csv")
    assert not pathlib.Path("plain_csv/joints.csv").exists()
    assert "joint" not in pathlib.Path("plain_csv/steps.csv").read_text()
    refuses("analyze", "plain.h5", "joints", words=["joints needs joints, and this run has none"])


def test_tables_have_every_joint_of_every_frame():
    rows = table("joints")
    assert len(rows) == 20 * 7 and [row["name"] for row in rows[:7]] == NAMES, rows[:7]
    assert [row["kind"] for row in rows[4:7]] == ["prismatic", "distance", "spring"]
    assert rows[0]["body_a"] == "-1" and rows[0]["body_b"] == "0"
    # axis 1 of turns is z, and the force in world axes is that of the frame's axes
    for row in rows:
        axes = [[float(row[f"axis_{k}{c}"]) for c in "xyz"] for k in (1, 2, 3)]
        impulse = [float(row[f"impulse_{k} [N s]"]) for k in (1, 2, 3)]
        for c, letter in enumerate("xyz"):
            total = sum(axes[k][c] * impulse[k] for k in range(3))
            assert math.isclose(total, float(row[f"impulse_{letter} [N s]"]), abs_tol=1e-12), row
    steps = table("steps")
    assert all(row["joints"] == "7" for row in steps) and float(steps[-1]["motors [J]"]) != 0
    # at rest the slider's guide bears its weight
    slide = [row for row in rows if row["name"] == "slide"][-1]
    assert math.isclose(float(slide["impulse_y [N s]"]) / 0.002, 0.4 * 9.81, rel_tol=1e-6), slide


def test_measure_finds_what_the_tables_have():
    facts, tables = measured()
    rows = [row for row in table("joints")]
    force = {}
    for row in rows:
        size = math.hypot(*(float(row[f"impulse_{c} [N s]"]) for c in "xyz")) / 0.002
        joint = int(row["joint"])
        if size > force.get(joint, (0, 0))[0] * (1 + 1e-12):
            force[joint] = (size, float(row["time [s]"]))
    assert len(tables["joints"]) == len(rows) and len(tables["joint_peaks"]) == 7
    for joint, name in enumerate(NAMES):
        label = name or f"joint {joint}"
        assert math.isclose(facts[f"{label} force"], force.get(joint, (0, 0))[0], rel_tol=1e-9), (label, facts)
        assert math.isclose(tables["joint_peaks"][joint]["force"], force.get(joint, (0, 0))[0], rel_tol=1e-9)
    assert math.isclose(facts["largest force"], max(size for size, _ in force.values()), rel_tol=1e-9)


def test_one_joint_is_measured_by_name_or_number():
    facts, tables = measured("--joint", "motor")
    assert facts["joints"] == 1 and all(row["joint"] == 0 for row in tables["joints"])
    last = tables["joints"][-1]
    assert math.isclose(last["speed_4"], 6 * math.pi, rel_tol=1e-6) and last["coordinate_1"] is None, last
    # the power of the motor is its torque times its speed, once it turns evenly
    assert math.isclose(last["power"], last["actuator_4"] * last["speed_4"], rel_tol=1e-3), last
    assert measured("--joint", "1")[1]["joints"][0]["joint"] == 1
    refuses("analyze", results(), "joints", "--joint", "knee",
            words=["no joint 'knee', expected a name or a number from 0 to 6"])


def test_figures_have_a_line_for_each_joint():
    run("analyze", results(), "joints", "-o", "figures")
    made = {path.name for path in pathlib.Path("figures").iterdir()}
    assert {"joints.csv", "joint_peaks.csv", "joints_force.png", "joints_force.svg", "joints_torque.png",
            "joints_power.svg", "joints_angle.png", "joints_way.png"} <= made, made
    # frames of one joint alone: a line through all of them would have seven times as many points
    root = ElementTree.parse("figures/joints_force.svg").getroot()
    longest = max(element.get("d", "").count("L") for element in root.iter() if element.tag.endswith("path"))
    assert longest == 19, longest


def strokes(path):
    """How many lines an SVG has."""
    root = ElementTree.parse(path).getroot()
    return sum("stroke:rgb" in (element.get("style") or "") or (element.get("stroke") or "none") != "none"
               for element in root.iter() if element.tag.endswith("path"))


def test_pictures_show_joints_and_bodies_without_shapes():
    run("picture", results(), "-o", "first", "--frame", "0")
    run("picture", results(), "-o", "last")
    scene = SCENE.split("joints:")[0] + "time: {step: 0.002, until: 0.002}\n"
    pathlib.Path("apart.yaml").write_text(scene)
    run("run", "apart.yaml", "-q")
    run("picture", "apart.h5", "-o", "apart", "--frame", "0")
    # four rings, a slide, a rope and a coil with their ends, and seven bars or stays and more
    assert strokes("first.svg") >= strokes("apart.svg") + 7 + 8, (strokes("first.svg"), strokes("apart.svg"))
    assert strokes("last.svg") >= strokes("first.svg")
    # four crosses of two lines each are drawn without joints, too
    bare = SCENE.split("bodies:")[0] + "bodies:\n" + "".join(
        line + "\n" for line in SCENE.splitlines() if "floor" in line or "name: ball" in line
    ) + "time: {step: 0.002, until: 0.002}\n"
    pathlib.Path("bare.yaml").write_text(bare)
    run("run", "bare.yaml", "-q")
    run("picture", "bare.h5", "-o", "bare", "--frame", "0")
    assert strokes("apart.svg") == strokes("bare.svg") + 4, (strokes("apart.svg"), strokes("bare.svg"))


FLAT = """delassus: 1
dimension: 2
bodies:
  - {name: a, mass: 1, inertia: 0.01, position: [0.5, 0]}
  - {name: b, mass: 1, inertia: 0.01, position: [1.5, 0.01]}
joints:
  - {kind: revolute, bodies: [ground, a], at: [0, 0]}
  - {kind: revolute, bodies: [a, b], at: [1, 0]}
time: {step: 0.01, until: 0.01}
"""


def test_a_flat_chain_has_a_page():
    pathlib.Path("flat.yaml").write_text(FLAT)
    run("run", "flat.yaml", "-q")
    run("picture", "flat.h5", "-o", "flat", "--frame", "0")
    data = pathlib.Path("flat.png").read_bytes()
    assert int.from_bytes(data[20:24], "big") * 5 >= int.from_bytes(data[16:20], "big"), data[16:24]


def test_surfaces_and_xdmf_have_joints():
    run("export", results(), "--vtk", "vtk")
    index = pathlib.Path("vtk/run.pvd").read_text()
    assert index.count('name="joints"') == 21
    head = pathlib.Path("vtk/joints_00005.vtp").read_bytes().split(b"<AppendedData")[0].decode()
    assert 'NumberOfPoints="21" NumberOfVerts="7" NumberOfLines="7"' in head, head
    told = pathlib.Path("bar.h5.xdmf").read_text()
    assert told.count('<Grid Name="joints"') == 21 and "bar.h5:/reactions/world_impulse" in told


def test_a_run_that_was_resumed_has_the_same_joints():
    results()
    run("run", "bar.yaml", "-q", "-o", "part.h5", "--until", "0.1")
    end = run_json("run", "bar.yaml", "-o", "part.h5", "--resume")
    assert end["state"] == pathlib.Path("state").read_text()
    run("export", "part.h5", "--csv", "part")
    whole = pathlib.Path("part/joints.csv").read_text()
    table("joints")
    assert whole == pathlib.Path("csv/joints.csv").read_text()


def test_contact_problems_of_frames_hold_beside_joints():
    pathlib.Path("both.yaml").write_text(BOTH)
    run("run", "both.yaml", "-q")
    run("export", "both.h5", "--fclib", "both.hdf5")
    info = run_json("info", "both.hdf5")
    assert info["contacts"] == 2 and info["solution_residual"] <= 1e-6, info


def test_results_of_version_4_have_no_joints():
    path = pathlib.Path("old.h5")
    path.write_bytes(gzip.decompress((SOURCE / "tests/cli/results_version_4.h5.gz").read_bytes()))
    analysis = run_json("analyze", path, "energy")
    facts = {fact["name"]: fact["value"] for fact in analysis["measures"][0]["facts"]}
    assert math.isclose(facts["friction"], 0.636446, rel_tol=1e-5), facts
    assert math.isclose(facts["turning"], 0.076926, rel_tol=1e-5) and facts["motors"] == 0, facts
    refuses("analyze", path, "joints", words=["joints needs joints"])
    run("picture", path, "--forces", "-o", "old")
    run("export", path, "--csv", "old_csv")
    assert len(pathlib.Path("old_csv/contacts.csv").read_text().splitlines()) == 1 + 4 * 5


tap.main(globals())
