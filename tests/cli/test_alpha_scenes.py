"""Scenes under generalized-alpha that are refused when they are checked, each by name."""
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests", "support"))
import tap  # noqa: E402
from program import refuses, run  # noqa: E402

SCENE = """delassus: 1
dimension: 2
materials: {default: {density: 1000, young: 1e5, poisson: 0.3}}
bodies:
  - {name: arm, mass: 1, inertia: 0.1, position: [0.5, 0], velocity: [0, 2], spin: 4}
  - {name: press, motion: driven, position: [5, 0], drive: {y: {velocity: 1}}, shape: {kind: disc, radius: 1}}
  - {name: cane, position: [0, 5], solid: {kind: beam, length: 1, EA: 1e4, EI: 1, line_density: 1}}
joints:
  - {name: hinge, kind: revolute, bodies: [ground, arm], at: [0, 0]}
integrator: {scheme: generalized-alpha, rho: 0.5}
time: {step: 1e-3, until: 1}
"""


def scene(*changes):
    text = SCENE
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    pathlib.Path("scene.yaml").write_text(text)
    return "scene.yaml"


def test_the_scene_itself_is_good():
    run("check", scene())


def test_bad_scenes_are_refused_by_name():
    for old, new, words in [
            ("rho: 0.5", "rho: 1.5", ["scene.yaml:10", "rho", "from 0 to 1"]),
            ("rho: 0.5", "rho: -0.1", ["scene.yaml:10", "rho", "from 0 to 1"]),
            ("rho: 0.5", "rho: 0.2, coefficients: hht", ["rho is 0.2, expected 0.5 to 1"]),
            ("velocity: [0, 2], spin: 4", "velocity: [3, 2], spin: 4", ["'hinge'", "move at", "expected 0 at the start"]),
            ("spin: 4", "spin: 0", ["'hinge'", "2 m/s"]),
            ("velocity: 1}", "force: 5, gain: 1, max_speed: 1}", ["'press' is driven by a force"]),
            ("length: 1,", "length: 0,", ["scene.yaml:7", "length is 0"]),
            ("EI: 1,", "EI: 1, elements: 0,", ["scene.yaml:7", "elements is 0"]),
            ("EI: 1,", "EI: 1, degree: 1,", ["degree of a beam is 1, expected 2 to 5"])]:
        refuses("check", scene((old, new)), words=words)


def test_bodies_that_it_does_not_move_are_refused():
    for solid in "kind: pseudo-rigid", "kind: elements, cells: [2, 2, 2]":
        pathlib.Path("soft.yaml").write_text(
            "{delassus: 1, dimension: 3, materials: {default: {density: 1000, young: 1e5, poisson: 0.3}}, bodies: [{solid: {"
            + solid + "}, position: [0, 0, 1], shape: {kind: sphere, radius: 0.1}}], integrator: {scheme: "
            "generalized-alpha}, time: {step: 1e-3, until: 1}}")
        refuses("check", "soft.yaml", words=["body 0 is a solid", "generalized-alpha", "moreau-jean, theta or dvi"])


tap.main(globals())
