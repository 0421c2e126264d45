"""Supports of bodies of elements: what they hold, what they carry, and births of solids from inlets."""
import csv
import math
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests", "support"))
import meshes  # noqa: E402
import tap  # noqa: E402
from program import refuses, run, run_json  # noqa: E402

SCENE = """delassus: 1
materials: {{soft: {{density: 1000, young: 1e6, poisson: 0.3, damping: 2e-2, mu: 0.4}}}}
bodies:
  - name: beam
    material: soft
    position: [0.1, 0.2, 0.3]
    solid: {{kind: elements, form: corotational, mass_damping: 5, {solid}}}{shape}
    supports: {supports}
{more}
time: {{step: 2e-3, until: {until}}}
output: {{interval: 0.02}}
"""
SIZE = (0.4, 0.1, 0.1)
WEIGHT = 1000 * 0.4 * 0.1 * 0.1 * 9.81
BOX = f"\n    shape: {{kind: box, size: {list(SIZE)}}}"


def scene(supports, solid="cells: [4, 1, 1]", shape=BOX, more="", until=1):
    pathlib.Path("scene.yaml").write_text(SCENE.format(supports=supports, solid=solid, shape=shape, more=more, until=until))
    return "scene.yaml"


def rows(table, frame=None):
    found = [{key.split(" ")[0]: value for key, value in row.items()} for row in csv.DictReader(open(f"out/{table}.csv"))]
    return [row for row in found if frame is None or int(row["frame"]) == frame]


def held(supports, **changes):
    """Facts of a run and the last reactions of its supports."""
    facts = run_json("run", scene(supports, **changes), "-o", "out.h5")
    assert facts["certified"] == facts["steps"], facts
    assert facts["joint_gap"] < 1e-6, facts
    run("analyze", "out.h5", "supports", "-o", "found")
    run("export", "out.h5", "--csv", "out")
    table = [{key.split(" ")[0]: float(value) for key, value in row.items()}
             for row in csv.DictReader(open("found/supports.csv"))]
    last = max(row["time"] for row in table)
    return facts, [row for row in table if row["time"] == last]


def test_a_clamped_end_carries_weight_and_moment():
    facts, (wall,) = held("[{name: wall, surface: x-}]")
    assert facts["joints"] == 4, facts
    assert abs(wall["force_z"] - WEIGHT) < 1e-3 * WEIGHT, (wall, WEIGHT)
    assert math.hypot(wall["force_x"], wall["force_y"]) < 1e-3 * WEIGHT, wall
    # about the world's origin: the mass centre hangs at x = 0.1, y = 0.2
    assert abs(wall["torque_x"] - 0.2 * WEIGHT) < 2e-3 * WEIGHT and abs(wall["torque_y"] + 0.1 * WEIGHT) < 2e-3 * WEIGHT, wall


def test_a_box_holds_what_lies_in_it_and_a_roller_what_it_says():
    supports = """
      - {name: pin, box: [[-0.2, -1, -0.05], [-0.2, 1, -0.05]]}
      - {name: roller, box: [[0.2, -1, -0.05], [0.2, 1, -0.05]], hold: [z]}"""
    facts, (pin, roller) = held(supports)
    assert facts["joints"] == 4, facts
    for support in pin, roller:
        assert abs(support["force_z"] - WEIGHT / 2) < 2e-2 * WEIGHT, (pin, roller)
    assert abs(pin["force_z"] + roller["force_z"] - WEIGHT) < 1e-3 * WEIGHT
    assert abs(roller["force_x"]) < 1e-9 and abs(roller["force_y"]) < 1e-9, roller
    line, (rail, *_) = held("[{name: rail, surface: x-, hold: [x, z]}, {name: end, surface: x+, hold: [x, y, z]}]")
    assert line["joints"] == 8 and abs(rail["force_y"]) < 1e-9, rail


def test_a_driven_body_leads_what_is_held_to_it():
    more = "  - {name: jaw, motion: driven, drive: {x: {position: \"0.1*(1 - cos(pi*min(t, 1)))\"}}}"
    held("[{name: grip, surface: x-, to: jaw}]", more=more, until=1.6)
    ends = [[float(row[k]) for k in "xyz"] for row in rows("nodes", max(int(row["frame"]) for row in rows("nodes")))]
    moved = sorted(ends)[:4]
    assert all(abs(x - (0.1 - 0.2 + 0.2)) < 1e-6 for x, _, _ in moved), moved
    assert {(round(y, 6), round(z, 6)) for _, y, z in moved} == {(0.15, 0.25), (0.15, 0.35), (0.25, 0.25), (0.25, 0.35)}


def test_a_hanging_bar_has_the_stress_of_its_weight():
    """σ_zz = ρ g (distance from the free end), the others nil; at the last nodes the mean of half a cell."""
    height, n = 0.4, 8
    run_json("run", scene("[{name: top, surface: z+, hold: [z]}, {name: axis, box: [[0, 0, -1], [0, 0, 1]], hold: [x, y]},"
                          " {name: turn, box: [[0.05, 0, -1], [0.05, 0, 1]], hold: [y]}]",
                          solid=f"cells: [2, 2, {n}]", shape=f"\n    shape: {{kind: box, size: [0.1, 0.1, {height}]}}"), "-o", "out.h5")
    run("analyze", "out.h5", "solids", "-o", "found")
    run("export", "out.h5", "--csv", "out", "--vtk", "vtk")
    stresses = {}
    for row in rows("nodes", max(int(row["frame"]) for row in rows("nodes"))):
        stresses.setdefault(round(float(row["z"]) - 0.1, 2), []).append([float(row[f"stress_{k}"]) for k in (1, 2, 3)])
    for z, of in stresses.items():
        expected = 9810 * min(max(z, height / n / 2), height - height / n / 2)
        for high, middle, low in of:
            assert abs(high - expected) < 0.02 * 9810 * height and abs(middle) + abs(low) < 0.02 * 9810 * height, (z, high, expected)
            assert high >= middle >= low
    last = [row for row in csv.DictReader(open("found/solids.csv"))][-1]
    assert abs(float(last["tension [Pa]"]) - 9810 * height * (1 - 0.5 / n)) < 0.02 * 9810 * height, last
    assert "principal_stress" in pathlib.Path("out.h5.xdmf").read_text()
    assert any(b"principal_stress" in path.read_bytes() for path in pathlib.Path("vtk").glob("*.vtp"))


def test_physical_groups_name_surfaces():
    told = held("[{name: wall, surface: x-}]")
    for version, binary, path in ("2.2", True, "mesh.msh"), ("4.1", False, "mesh.msh"), (None, None, "mesh.vtu"):
        mesh = meshes.block("hex8", SIZE, (4, 1, 1))
        if version:
            meshes.write_gmsh(path, mesh, version, binary)
        else:
            meshes.write_vtu(path, mesh)
        surface = "left" if version else "\"1\""
        found = held(f"[{{name: wall, surface: {surface}}}]", solid=f"mesh: {path}, scale: 1", shape="")
        assert found[0]["state"] == told[0]["state"] and found[1] == told[1], path


def test_what_is_refused():
    for supports, expected in [
            ("{x: 1}", "supports is a map of keys, expected a list"),
            ("[{name: a}]", "neither surface nor box, expected one of them"),
            ("[{surface: x-, box: [[0, 0, 0], [1, 1, 1]]}]", "both surface and box"),
            ("[{surface: left}]", "no surface 'left', expected x-, x+"),
            ("[{box: [[5, 5, 5], [6, 6, 6]]}]", "a support without nodes, expected some in its box"),
            ("[{box: [[1, 0, 0], [0, 1, 1]]}]", "box reaches from 1 to 0 m along x"),
            ("[{box: [1, 2]}]", "box"),
            ("[{surface: x-, to: nobody}]", "no body 'nobody'"),
            ("[{surface: x-, to: beam}]", "held to itself"),
            ("[{surface: x-, hold: []}]", "hold is empty"),
            ("[{surface: x-, hold: [w]}]", "axis 'w'"),
            ("[{surface: x-}, {surface: x-}]", "there is a joint 'beam support-0' already")]:
        message = refuses("check", scene(supports))
        assert message.startswith("delassus: scene.yaml:") and expected in message, (expected, message)
    meshes.write_gmsh("mesh.msh", meshes.block("hex8", SIZE, (4, 1, 1)))
    assert "no surface 'lift', did you mean 'left'" in refuses(
        "check", scene("[{surface: lift}]", solid="mesh: mesh.msh, scale: 1", shape=""))
    assert "a body without elements" in refuses(
        "check", scene("[{surface: x-}]", more="  - {name: ball, shape: {kind: sphere, radius: 1}, supports: [{surface: x-}]}"))


# ---- boxes that are bent ----

def bent(bend, size=(math.pi, 0.3, 0.1), cells=(24, 2, 1), more=""):
    solid = f"cells: {list(cells)}, bend: {bend}{more}"
    return scene("[{name: foot, surface: y-}]", solid=solid, shape=f"\n    shape: {{kind: box, size: {list(size)}}}", until=0.01)


def test_a_bent_box_keeps_its_mass_and_stands_about_its_origin():
    # volume of n straight cells: 2 n sin(φ/2) cos(φ/2) · width · thickness · ρ, φ = bend/n
    for bend, n in (math.pi, 24), (2 * math.pi, 24), (1, 4):
        run_json("run", bent(bend, cells=(n, 2, 1)), "-o", "out.h5")
        run("export", "out.h5", "--csv", "out")
        radius, phi = math.pi / bend, bend / n
        places = [[float(row[k]) - c for k, c in zip("xyz", (0.1, 0.2, 0.3))] for row in rows("nodes", 0)]
        radii = sorted({round(math.hypot(x, z), 9) for x, _, z in places})
        assert radii == [round(radius - 0.05, 9), round(radius + 0.05, 9)], radii
        ring = bend > 6
        assert len(places) == (n if ring else n + 1) * 3 * 2, len(places)
        mass = 1000 * n * math.sin(phi) * radius * 0.1 * 0.3
        run("analyze", "out.h5", "supports", "-o", "found")
        lowest = min(z for _, _, z in places)
        assert abs(lowest - (-(radius + 0.05) if ring else (radius - 0.05) * math.cos(bend / 2))) < 1e-9, lowest
        first = list(csv.DictReader(open("out/bodies.csv")))[0]
        assert mass > 0 and float(first["z [m]"]) - 0.3 > -1e-3, first


def test_bends_that_are_refused():
    for bend, changes, expected in [
            (7, {}, "bend is 7 rad, expected 0 to a full turn"), (-1, {}, "bend"),
            (math.pi, {"cells": (2, 1, 1)}, "cells has 2 along a bend of 3.14159 rad, expected 3 or more"),
            (math.pi, {"size": (0.1, 0.1, 0.1)}, "has no inside"),
            (1, {"more": ", mesh: a.msh"}, "with a mesh")]:
        assert expected in refuses("check", bent(bend, **changes)), expected
    path = pathlib.Path(bent(1, cells=(4, 2, 2)))
    path.write_text(path.read_text().replace("kind: box", "kind: ellipsoid"))
    assert "bend of a round body, expected a box" in refuses("check", path)


# ---- births ----

FED = """delassus: 1
materials: {soft: {density: 1000, young: 5e4, poisson: 0.3, law: neo-hookean, damping: 5e-3, mu: 0.4}}
bodies:
  - {name: floor, motion: static, shape: {kind: half-space}}
inlets:
  - number_rate: 40
    number_limit: 9
    region: {kind: box, low: [-0.2, -0.2, 0.15], high: [0.2, 0.2, 0.35]}
    velocity: [0, 0, -1]
    orientation: random
    size: {uniform: [0.7, 1]}
    mixture:
      - {number_share: 0.4, body: {name: jelly, material: soft, solid: {kind: elements, form: corotational},
                                   shape: {kind: box, size: [0.06, 0.05, 0.04]}}}
      - {number_share: 0.3, body: {name: egg, material: soft, solid: {kind: pseudo-rigid},
                                   shape: {kind: ellipsoid, size: [0.03, 0.02, 0.02]}}}
      - {number_share: 0.3, body: {name: part, material: soft, solid: {kind: elements, mesh: part.msh, scale: 1}}}
time: {step: 2e-3, until: 0.4}
output: {interval: 0.02}
"""


def test_inlets_bear_solids():
    meshes.write_gmsh("part.msh", meshes.block("tet10", (0.05, 0.05, 0.04), (1, 1, 1)))
    pathlib.Path("fed.yaml").write_text(FED)
    whole = run_json("run", "fed.yaml", "-o", "whole.h5")
    assert whole["certified"] == whole["steps"] == 200 and whole["bodies_in"] == 9 and whole["strain"] > 0, whole
    assert abs(whole["unaccounted"]) < 1e-12 and whole["contacts"] > 0, whole
    run("export", "whole.h5", "--csv", "out")
    first = {}
    for row in rows("nodes"):
        first.setdefault(row["body"], row)
    assert len(first) == 6, first  # eggs have no nodes
    for row in first.values():
        assert abs(float(row["x"])) < 0.25 and abs(float(row["y"])) < 0.25 and float(row["z"]) > 0.05, row
    for until in 0.1, 0.21:  # between births, and behind them
        run_json("run", "fed.yaml", "-o", "cut.h5", "--until", until)
        rest = run_json("run", "fed.yaml", "-o", "cut.h5", "--resume", "--threads", 2)
        assert rest["state"] == whole["state"] and rest["strain"] == whole["strain"], (until, rest)
        pathlib.Path("cut.h5").unlink()


tap.main(globals())
