"""Beams and points through the program: runs, resuming, threads, what is refused with its line."""
import csv
import itertools
import math
import os
import pathlib
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests", "support"))
import tap  # noqa: E402
from program import refuses, run, run_json  # noqa: E402

# A springboard, clamped at one end, with a point at the other that meets a block on a rough floor.
SCENE = """delassus: 1
title: Springboard
dimension: 2
bodies:
  - {name: floor, motion: static, shape: {kind: half-plane}, position: [0, -0.3]}
  - {name: block, position: [0.95, -0.25], shape: {kind: polygon, points: [[-0.1, -0.05], [0.1, -0.05], [0.1, 0.05], [-0.1, 0.05]]}}
  - name: board
    solid: {kind: beam, length: 1, EA: 1e5, EI: 1, line_density: 1, damping: 1e-3}
    shape: {kind: point, end: 1}
  - {name: weight, position: [0.5, 0], mass: 0.2, inertia: 1e-4}
joints:
  - {kind: fixed, bodies: [ground, {body: board, end: 0}]}
  - {kind: revolute, bodies: [weight, {body: board, end: 0.5}]}
time: {step: 1e-3, until: 0.6}
output: {interval: 0.02}
"""


def scene(name="board", *changes):
    text = SCENE
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    pathlib.Path(f"{name}.yaml").write_text(text)
    return f"{name}.yaml"


def test_runs_in_every_scheme_and_goes_on_with_the_same_bits():
    for scheme in "moreau-jean", "theta", "dvi":  # generalized-alpha: physics/test_alpha_world
        path = scene(scheme)
        settings = ["--set", f"integrator.scheme={scheme}"]
        whole = run_json("run", path, "-o", "whole.h5", *settings)
        assert whole["certified"] == whole["steps"] == 600 and whole["contacts"] > 0, whole
        assert whole["strain"] > 0 and whole["damping"] > 0, whole
        # what dvi damps by itself; its bodies do not move by the mean velocity that potentials are booked by
        assert whole["numerical"] < -1e-3 if scheme == "dvi" else 0 < abs(whole["numerical"]) < 1e-3, whole
        assert abs(whole["unaccounted"]) < (1e-2 if scheme == "dvi" else 1e-10), whole
        run_json("run", path, "-o", "cut.h5", "--until", "0.3", *settings)
        rest = run_json("run", path, "-o", "cut.h5", "--resume", "--threads", 2, *settings)
        assert rest["state"] == whole["state"] and rest["strain"] == whole["strain"], (rest, whole)
        assert rest["numerical"] == whole["numerical"], (rest, whole)


def test_results_hold_the_bent_beam():
    run_json("run", scene("bent"), "-o", "bent.h5", "--until", "0.2")
    run("export", "bent.h5", "--csv", "tables", "--vtk", "surfaces")
    rows = list(csv.DictReader(pathlib.Path("tables/nodes.csv").open()))
    frames = {}
    for row in rows:
        frames.setdefault(int(row["frame"]), []).append([float(row[key]) for key in ("at", "x [m]", "y [m]", "vy [m/s]")])
    assert len(frames) == 11 and all(len(nodes) == 33 for nodes in frames.values()), len(rows)
    assert all(nodes[0][1:3] == [0, 0] for nodes in frames.values()) or max(
        math.hypot(*nodes[0][1:3]) for nodes in frames.values()) < 1e-9
    assert all(abs(at - x) < 1e-12 and y == 0 for at, x, y, _ in frames[0])
    last = frames[10]
    assert last[-1][2] < -0.02 and last[-1][3] < 0, last[-1]  # it falls at its free end
    assert abs(sum(math.dist(a[1:3], b[1:3]) for a, b in zip(last, last[1:])) - 1) < 1e-3
    speeds = {round(vy, 9) for *_, vy in last}
    assert len(speeds) > 30
    steps = list(csv.DictReader(pathlib.Path("tables/steps.csv").open()))
    assert float(steps[-1]["strain [J]"]) > 0 and float(steps[-1]["damping [J]"]) > 0, steps[-1]
    assert float(steps[-1]["numerical [J]"]) != 0, steps[-1]
    facts = {fact["name"]: fact["value"] for measure in run_json("analyze", "bent.h5")["measures"]
             if measure["name"] == "energy" for fact in measure["facts"]}
    made = float(steps[-1]["numerical [J]"]) - float(steps[0]["numerical [J]"])
    assert facts["numerical"] == made and facts["damping"] > 0 and facts["strain change"] > 0, facts
    surface = pathlib.Path("surfaces/bodies_00010.vtp").read_bytes()
    assert b'NumberOfLines="1"' in surface or re.search(rb'NumberOfLines="[1-9]', surface)
    assert 'Name="nodes"' in pathlib.Path("bent.h5.xdmf").read_text()
    pictures = []
    for frame in 0, 10:
        run("picture", "bent.h5", "--frame", frame, "-o", f"bent{frame}")
        pictures.append(re.findall(r'd="M [^"]*"', pathlib.Path(f"bent{frame}.svg").read_text()))
    longest = [max(path.count(" L ") for path in paths) for paths in pictures]
    assert longest[1] >= 32, longest  # the line through 33 nodes


def test_refusals_name_the_line():
    for old, new, line, word in [
            ("length: 1, ", "", 8, "length"),
            ("length: 1, ", "length: 0, ", 8, "length"),
            ("EA: 1e5", "EA: -1", 8, "EA"),
            ("EI: 1", "EI: 0", 8, "EI"),
            ("damping: 1e-3", "degree: 1", 7, "degree of a beam is 1, expected 2 to 5"),
            ("damping: 1e-3", "elements: 0", 8, "elements"),
            ("damping: 1e-3", "degree: 4, gauss: 4", 7, "gauss of a beam is 4, expected 5 to 8"),
            ("kind: beam", "kind: beem", 8, "beam"),
            (", end: 1}", "}", 9, "a beam's shape has no 'end'"),
            (", end: 1}", ", end: 1.5}", 9, "end"),
            (", end: 1}", ", end: 1, radius: 0.1}", 9, "radius"),
            ("{body: board, end: 0}", "board", 12, "is a solid, expected where on it: {body: board, end: 0}"),
            ("[weight, ", "[{body: weight, end: 0}, ", 13, "which is no line"),
            ("    shape: {kind: point", "    mass: 2\n    shape: {kind: point", 7, "mass, inertia or centre"),
            ("    shape: {kind: point", "    locked: [x]\n    shape: {kind: point", 7, "locked"),
            ("{kind: half-plane}", "{kind: half-plane, end: 0}", 5, "end of a shape whose body is no line"),
            ("shape: {kind: point, end: 1}", "force: [1, 2, 3]", 9, "force"),
            ("mass: 0.2, inertia: 1e-4", "shape: {kind: point}", 10, "mass")]:
        refuses("check", scene("wrong", (old, new)), words=[f"wrong.yaml:{line}:", word])


def test_generators_make_no_beams():
    refuses("check", scene("many", ("  - name: board\n", "  - lattice: {count: [2, 1], spacing: 1}\n    body:\n"),
                           ("    solid:", "      solid:"), ("    shape: {kind: point, end: 1}\n", "")),
            words=["many.yaml:9:", "a prototype is a beam"])


# A soft ball and a soft box, one on the other, on a floor.
SOFT = """delassus: 1
title: Soft
materials:
  jelly: {density: 1000, young: 3e4, poisson: 0.3, law: kirchhoff, damping: 0.01, mu: 0.5}
bodies:
  - {name: floor, motion: static, shape: {kind: half-space}}
  - {name: box, position: [0, 0, 0.1], material: jelly, solid: {kind: pseudo-rigid}, shape: {kind: box, size: [0.2, 0.2, 0.2]}}
  - {name: egg, position: [0, 0, 0.25], material: jelly, solid: {kind: pseudo-rigid}, shape: {kind: ellipsoid, size: [0.08, 0.06, 0.05]}}
time: {step: 2e-3, until: 0.2}
output: {interval: 0.1}
"""


def points_of(path):
    data = pathlib.Path(path).read_bytes()
    count = int(re.search(rb'NumberOfPoints="(\d+)"', data)[1])
    raw = data[data.index(b"_", data.index(b"<AppendedData")) + 1:]
    return [struct.unpack_from("<3f", raw, 8 + 12 * k) for k in range(count)]


def test_results_hold_what_deforms_alike():
    pathlib.Path("soft.yaml").write_text(SOFT)
    report = run_json("run", "soft.yaml", "-o", "soft.h5")
    assert report["certified"] == report["steps"] and report["strain"] > 0, report
    run("export", "soft.h5", "--csv", "soft", "--vtk", "soft-surfaces")
    rows = [row for row in csv.DictReader(pathlib.Path("soft/gradients.csv").open()) if row["frame"] == "2"]
    assert [row["body"] for row in rows] == ["1", "2"], rows
    F = {row["body"]: [[float(row[f"F{i}{j}"]) for j in "xyz"] for i in "xyz"] for row in rows}
    assert 0.8 < F["1"][2][2] < 0.999 and F["1"][0][0] > 1.0005, F["1"]  # pressed along z, wider along x
    states = {row["body"]: [float(row[f"{i} [m]"]) for i in "xyz"]
              for row in csv.DictReader(pathlib.Path("soft/bodies.csv").open()) if row["frame"] == "2"}
    corners = [[sum(F["1"][i][j] * s[j] * 0.1 for j in range(3)) + states["1"][i] for i in range(3)]
               for s in itertools.product((-1, 1), repeat=3)]
    drawn = points_of("soft-surfaces/bodies_00002.vtp")
    assert all(min(math.dist(corner, point) for point in drawn) < 1e-6 for corner in corners), corners
    for frame in 0, 2:
        run("picture", "soft.h5", "--frame", frame, "-o", f"soft{frame}")
    assert pathlib.Path("soft0.svg").read_text() != pathlib.Path("soft2.svg").read_text()


tap.main(globals())
