"""Bodies of elements through the program: runs on any number of threads, resuming, births, what is refused."""
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests", "support"))
import tap  # noqa: E402
from program import refuses, run, run_json  # noqa: E402

# Three soft bodies of unlike elements, one of which is born later, on a rigid box on a floor.
SCENE = """delassus: 1
title: Jelly
dimension: 3
materials:
  soft: {density: 1000, young: 2e5, poisson: 0.3, damping: 2e-3, mu: 0.4}
bodies:
  - {name: floor, motion: static, shape: {kind: half-space}}
  - {name: plate, shape: {kind: box, size: [0.2, 0.2, 0.02]}, position: [0, 0, 0.01]}
  - name: low
    material: soft
    solid: {kind: elements, form: corotational}
    shape: {kind: box, size: [0.1, 0.1, 0.1]}
    position: [0, 0, 0.071]
  - name: high
    material: soft
    solid: {kind: elements, cells: [1, 1, 1]}
    shape: {kind: box, size: [0.1, 0.1, 0.1]}
    position: [0.02, 0.01, 0.172]
  - name: ball
    material: soft
    solid: {kind: elements, form: corotational, cells: [3, 3, 3], mass: lumped, mass_damping: 0.1}
    shape: {kind: sphere, radius: 0.05}
    position: [0, 0.01, 0.28]
    birth: 0.02
time: {step: 2e-3, until: 0.1}
output: {interval: 0.02}
"""


def scene(name, *changes):
    text = SCENE
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    pathlib.Path(f"{name}.yaml").write_text(text)
    return f"{name}.yaml"


def test_a_body_that_waits_has_no_nodes_yet():
    """Also where it is the first and largest of its kind: nothing was made to hold its nodes before."""
    text = """delassus: 1
bodies:
  - {name: small, birth: 0.01, solid: {kind: elements, form: corotational, cells: [1, 1, 1]}, shape: {kind: box, size: [1, 1, 1]}}
  - {name: large, birth: 0.02, position: [3, 0, 0], solid: {kind: elements, form: corotational, cells: [4, 4, 4]},
     shape: {kind: box, size: [1, 1, 1]}}
materials:
  default: {density: 1000, young: 1e6, poisson: 0.3}
time: {step: 5e-3, until: 0.03}
output: {interval: 0.01}
"""
    pathlib.Path("waiting.yaml").write_text(text)
    assert run_json("run", "waiting.yaml", "-o", "waiting.h5")["steps"] == 6
    run("export", "waiting.h5", "--csv", "waiting.csv")
    rows = pathlib.Path("waiting.csv/nodes.csv").read_text().splitlines()[1:]
    counts = [sum(row.startswith(f"{frame},") for row in rows) for frame in range(4)]
    assert counts == [0, 8, 8 + 98, 8 + 98], counts


def test_same_bits_on_threads_and_after_resuming():
    path = scene("jelly")
    whole = run_json("run", path, "-o", "whole.h5")
    assert whole["certified"] == whole["steps"] == 50 and whole["contacts"] > 0, whole
    assert whole["strain"] > 0 and whole["damping"] > 0, whole
    assert abs(whole["unaccounted"]) < 1e-3, whole
    assert run_json("run", path, "-o", "two.h5", "--threads", 2)["state"] == whole["state"]
    run_json("run", path, "-o", "cut.h5", "--until", "0.05")
    rest = run_json("run", path, "-o", "cut.h5", "--resume", "--threads", 2)
    assert rest["state"] == whole["state"] and rest["strain"] == whole["strain"], (rest, whole)


def test_an_element_that_inverts_stops_the_run():
    path = scene("crushed", ("young: 2e5", "young: 200"), ("damping: 2e-3", "damping: 0"))
    message = refuses("run", path, "-o", "crushed.h5")
    assert "turned inside out" in message and "element" in message, message
    assert pathlib.Path("crushed.h5.checkpoint").exists()


def test_what_is_refused():
    for change, expected in [
        (("cells: [1, 1, 1]", "cells: [1, 0, 1]"), "cells has 0, expected three whole numbers from 1 to 1000"),
        (("cells: [1, 1, 1]", "cells: [1.5, 1, 1]"), "cells has 1.5"),
        (("cells: [3, 3, 3]", "cells: [3, 1, 3]"), "cells has 1 across a round body, expected 2 or more"),
        (("poisson: 0.3", "poisson: 0.5"), "poisson is 0.5, expected a number above -1 and below 0.5"),
        (("young: 2e5", "young: -1"), "young"),
        (("cells: [1, 1, 1]", "element: hex8"), "hexahedra of a kirchhoff body, expected tet4 or tet10"),
        (("cells: [1, 1, 1]", "element: hex9"), "hex9"),
        (("shape: {kind: sphere, radius: 0.05}", "shape: {kind: capsule, radius: 0.05, length: 0.1}"),
         "a capsule of elements, expected a box, sphere, ellipsoid or cylinder"),
        (("shape: {kind: box, size: [0.2, 0.2, 0.02]}", "shape: {kind: skin}"), "a rigid body has it, expected a solid"),
        (("young: 2e5, ", ""), "expected one that has 'young'"),
    ]:
        message = refuses("check", scene("bad", change))
        assert expected in message, (change, message)


tap.main(globals())
