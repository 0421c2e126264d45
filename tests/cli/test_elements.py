"""Bodies of elements through the program: runs on any number of threads, resuming, births, what is refused."""
import os
import pathlib
import re
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


# Rigid bodies, pseudo-rigid ones and elements of every law, on each other and joined, one of them born later. Places and
# turns are told in a frame that is turned as a whole.
MIXED = """delassus: 1
gravity: {0, 0, -9.81}
materials:
  linear: {density: 1000, young: 2e5, poisson: 0.3, damping: 2e-3, law: linear, mu: 0.4}
  kirchhoff: {density: 1200, young: 3e5, poisson: 0.3, damping: 2e-3, law: kirchhoff, mu: 0.3}
  neo: {density: 900, young: 1e5, poisson: 0.4, damping: 2e-3, law: neo-hookean, mu: 0.5}
  steel: {density: 3000, mu: 0.3}
bodies:
  - {name: floor, motion: static, material: steel, shape: {kind: half-space}, rotation: <1, 0, 0, 0>}
  - {name: plate, material: steel, shape: {kind: box, size: [0.2, 0.2, 0.05]}, position: {0, 0, 0.025}, rotation: <1, 0, 0, 0>}
  - {name: bricks, material: linear, solid: {kind: elements}, shape: {kind: box, size: [0.15, 0.15, 0.1]}, position: {0, 0, 0.101},
     rotation: <1, 0, 0, 0>}
  - {name: pseudo, material: kirchhoff, solid: {kind: pseudo-rigid}, shape: {kind: box, size: [0.12, 0.12, 0.08]},
     position: {0.01, 0.01, 0.192}, rotation: <1, 0, 0, 0>}
  - {name: tets, material: neo, solid: {kind: elements, element: tet10, cells: [1, 1, 1]}, shape: {kind: box, size: [0.1, 0.1, 0.1]},
     position: {0, 0.01, 0.284}, rotation: <0.98, 0, 0, 0.199>}
  - {name: ball, material: steel, shape: {kind: sphere, radius: 0.04}, position: {0.01, 0, 0.4}, velocity: {0, 0, -1}}
  - {name: egg, material: kirchhoff, solid: {kind: pseudo-rigid}, shape: {kind: ellipsoid, size: [0.06, 0.05, 0.04]},
     position: {0.3, 0, 0.1}, rotation: <1, 0, 0, 0>, spin: {0, 3, 0}}
  - {name: rod, material: linear, solid: {kind: elements, cells: [3, 3, 3]}, shape: {kind: cylinder, radius: 0.04, length: 0.2},
     position: {-0.3, 0, 0.1}, rotation: <0.825, 0, 0.565, 0>, velocity: {1, 0, 0}}
  - {name: strip, material: neo, solid: {kind: elements, element: tet4, cells: [1, 1, 3]}, shape: {kind: box, size: [0.05, 0.05, 0.3]},
     position: {0.6, 0.5, 0.5}, rotation: <1, 0, 0, 0>}
  - {name: weight, material: steel, shape: {kind: box, size: [0.1, 0.1, 0.1]}, position: {0.6, 0.5, 0.3}, rotation: <1, 0, 0, 0>}
  - {name: late, material: kirchhoff, solid: {kind: elements, element: tet4, cells: [1, 1, 1]}, shape: {kind: box, size: [0.05, 0.05, 0.05]},
     position: {0, 0.3, 0.2}, rotation: <1, 0, 0, 0>, birth: 0.1}
joints:
  - {name: hook, kind: spherical, bodies: [floor, strip], at: {0.6, 0.5, 0.65}}
  - {name: tie, kind: fixed, bodies: [strip, weight], at: {0.6, 0.5, 0.35}, axis: {0, 0, 1}}
  - {name: hinge, kind: revolute, bodies: [floor, egg], at: {0.36, 0, 0.1}, axis: {0, 1, 0}}
time: {step: 1e-3, until: 0.25}
solver: {tolerance: 1e-7}
output: {interval: 0.05}
"""


def product(p, q):
    return [p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3], p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
            p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1], p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]]


def mixed(name, turn):
    """{…} are vectors, <…> rotations of the frame that is turned."""
    def numbers(text):
        return [float(word) for word in text.split(",")]

    def vector(found):
        if not re.fullmatch(r"[-0-9., e]+", found[1]):
            return found[0]  # a map of keys
        return str(product(product(turn, [0, *numbers(found[1])]), [turn[0], *(-c for c in turn[1:])])[1:])

    text = re.sub(r"<([^>]*)>", lambda found: str(product(turn, numbers(found[1]))), MIXED)
    pathlib.Path(name).write_text(re.sub(r"{([^{}]*)}", vector, text))
    return name


def test_all_kinds_of_bodies_together():
    whole = run_json("run", mixed("mixed.yaml", [1, 0, 0, 0]), "-o", "mixed.h5")
    assert whole["certified"] == whole["steps"] == 250 and whole["contacts"] > 40 and whole["strain"] > 0.01, whole
    assert whole["penetration"] < 1e-4, whole
    assert abs(whole["unaccounted"]) < 1e-11 and whole["friction"] > 0.01 and whole["damping"] > 0.1, whole
    turned = run_json("run", mixed("turned.yaml", [0.5, 0.5, -0.1, 0.7]), "-o", "turned.h5")
    half = run_json("run", "mixed.yaml", "-o", "half.h5", "--set", "time.step=5e-4")
    for key in "kinetic", "strain", "damping", "friction":
        assert abs(turned[key] - whole[key]) < 1e-3 * whole["damping"], (key, turned[key], whole[key])
        assert abs(half[key] - whole[key]) < 0.1 * whole["damping"], (key, half[key], whole[key])
    assert run_json("run", "mixed.yaml", "-o", "two.h5", "--threads", 2)["state"] == whole["state"]
    for until in 0.07, 0.12:  # before and after the birth
        run_json("run", "mixed.yaml", "-o", "part.h5", "--until", until)
        rest = run_json("run", "mixed.yaml", "-o", "part.h5", "--resume")
        assert rest["state"] == whole["state"], (until, rest, whole)
        pathlib.Path("part.h5").unlink()


def test_an_element_that_inverts_stops_the_run():
    path = scene("crushed", ("young: 2e5", "young: 200"), ("damping: 2e-3", "damping: 0"))
    message = refuses("run", path, "-o", "crushed.h5")
    assert "turned inside out" in message and "element" in message, message
    assert pathlib.Path("crushed.h5.checkpoint").exists()


def test_the_stable_step_is_told():
    told = run_json("check", scene("explicit"), "--set", "integrator.stiffness=explicit")
    step = told["stable_step"]
    assert 1e-5 < step < 2e-3 and f"need at most {step:.3g} s" in " ".join(told["warnings"]), told
    assert f"stable up to steps of {step:.4g} s" in run("check", "explicit.yaml", "--set", "integrator.stiffness=explicit").stdout
    told = run_json("check", "explicit.yaml", "--set", "integrator.stiffness=explicit", "--set", f"time.step={0.99 * step}")
    assert not any("step too long" in line for line in told["warnings"]), told
    assert "stable_step" not in run_json("check", "explicit.yaml")


def test_what_is_refused():
    for change, expected in [
        (("cells: [1, 1, 1]", "cells: [1, 0, 1]"), "cells has 0, expected three whole numbers from 1 to 1000"),
        (("cells: [1, 1, 1]", "cells: [1.5, 1, 1]"), "cells has 1.5"),
        (("cells: [3, 3, 3]", "cells: [3, 1, 3]"), "cells has 1 across a round body, expected 2 or more"),
        (("poisson: 0.3", "poisson: 0.5"), "poisson is 0.5, expected a number above -1 and below 0.5"),
        (("young: 2e5", "young: -1"), "young is -1, expected"),
        (("young: 2e5", "young: 0"), "young is 0, expected"),
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
