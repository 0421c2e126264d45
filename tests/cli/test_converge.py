"""delassus converge: orders and errors against closed forms, chaos and its means, what is refused."""
import csv
import json
import math
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests", "support"))
import tap  # noqa: E402
from program import refuses, run, run_json  # noqa: E402

G = 9.81

PENDULUM = """delassus: 1
dimension: 2
gravity: [{gx}, {gy}]
bodies:
  - {{name: bob, position: [{x}, {y}], mass: 2, shape: {{kind: disc, radius: 0.1}}}}
joints:
  - {{name: pin, kind: revolute, bodies: [ground, bob], at: [0, 0]}}
integrator: {{scheme: {scheme}, theta: {theta}}}
time: {{step: 1e-2, until: 1}}
"""

ROLLING = """delassus: 1
dimension: 3
gravity: [0, 0, -9.81]
materials: {default: {density: 2500, mu: 0.3}}
bodies:
  - {name: ground, motion: static, shape: {kind: half-space}}
  - {name: ball, position: [0, 0, 0.05], velocity: [2, 0, 0], shape: {kind: sphere, radius: 0.05}}
time: {step: 4e-3, until: 0.4}
"""

BOUNCING = """delassus: 1
dimension: 2
gravity: [0, -9.81]
materials: {default: {density: 1000, mu: 0, e_n: 0.7}}
bodies:
  - {name: ground, motion: static, shape: {kind: half-plane}}
  - {name: ball, position: [0, 0.53], velocity: [0.3, 0], shape: {kind: disc, radius: 0.05}}
time: {step: 2e-3, until: 1}
"""

HEAP = """delassus: 1
dimension: 2
gravity: [0, -9.81]
variables: {seed: 1}
materials: {default: {density: 1000, mu: 0.4, e_n: 0.3}}
bodies:
  - {name: floor, motion: static, shape: {kind: half-plane}}
  - {name: left, motion: static, position: [-0.2, 0], rotation: -pi/2, shape: {kind: half-plane}}
  - {name: right, motion: static, position: [0.2, 0], rotation: pi/2, shape: {kind: half-plane}}
  - packing:
      region: {kind: box, low: [-0.18, 0.05], high: [0.18, 0.5]}
      count: 15
      seed: seed
    body: {shape: {kind: disc, radius: 0.03}}
time: {step: 2e-3, until: 0.9}
"""


def pendulum(scheme="moreau-jean", theta=0.5, turned=0.0):
    """A bob that is let go level; the plane turned by an angle."""
    c, s = math.cos(turned), math.sin(turned)
    return PENDULUM.format(scheme=scheme, theta=theta, x=repr(c), y=repr(s), gx=repr(G * s), gy=repr(-G * c))


def study(text, *options, expect=0, name="scene.yaml"):
    pathlib.Path(name).write_text(text)
    found = run_json("converge", name, *options, expect=expect)
    found["of"] = {row["quantity"]: row for row in found["quantities"]}
    return found


def true_angle(until):
    """The bob's angle below the level by Runge–Kutta, with the disc's own inertia: (L² + R²/2) φ″ = g L cos φ."""
    steps, k = 20000, G / (1 + 0.1**2 / 2)
    h, y = until / steps, (0.0, 0.0)
    slope = lambda y: (y[1], k * math.cos(y[0]))  # noqa: E731
    move = lambda y, d, f: (y[0] + f * d[0], y[1] + f * d[1])  # noqa: E731
    for _ in range(steps):
        a = slope(y)
        b = slope(move(y, a, h / 2))
        c = slope(move(y, b, h / 2))
        d = slope(move(y, c, h))
        y = tuple(y[i] + h / 6 * (a[i] + 2 * b[i] + 2 * c[i] + d[i]) for i in range(2))
    return y[0]


# ---- closed forms ------------------------------------------------------------------------------------------


def test_pendulum_is_of_second_order():
    found = study(pendulum())
    assert found["settled"] and not found["chaotic"]
    for name in ("place", "velocity", "turn of bob", "height of the mass centre", "coordinates of pin"):
        row = found["of"][name]
        assert row["verdict"] == "converges" and abs(row["orders"][-1] - 2) < 0.1, row


def test_pendulum_error_is_the_true_one():
    row = study(pendulum())["of"]["turn of bob"]
    error = abs(row["end"] - true_angle(1.0))
    assert 0.8 < row["end_error"] / error < 1.25, (row["end_error"], error)
    height = study(pendulum())["of"]["height of the mass centre"]
    exact = -math.sin(true_angle(1.0))
    assert abs(height["limit"] - exact) < 0.2 * abs(height["end"] - exact), height


def test_pendulum_however_it_is_turned():
    plain, turned = (study(pendulum(turned=a))["of"]["place"]["changes"] for a in (0.0, 2.3))
    assert all(abs(a / b - 1) < 1e-6 for a, b in zip(plain, turned)), (plain, turned)


def test_a_first_order_scheme_is_seen():
    row = study(pendulum("theta", 1.0))["of"]["place"]
    assert row["verdict"] == "converges" and abs(row["orders"][-1] - 1) < 0.15, row


def test_four_levels():
    found = study(pendulum(), "--levels", "4")
    row = found["of"]["place"]
    assert len(row["changes"]) == 3 and len(row["orders"]) == 2 and len(found["runs"]) == 4
    assert [r["steps"] for r in found["runs"]] == [100, 200, 400, 800]


def test_ball_that_slides_then_rolls():
    """v = 5/7 v₀ at the end, exactly; the place is off by when within a step sliding ended."""
    found = study(ROLLING)["of"]
    assert found["velocity"]["verdict"] == "exact" and abs(found["velocity"]["end"] - 10 / 7) < 1e-12
    slides = 2 / 7 * 2 / (0.3 * G)
    place = 2 * slides - 0.3 * G * slides**2 / 2 + 10 / 7 * (0.4 - slides)
    error = abs(math.sqrt(found["place"]["end"] ** 2 - 0.05**2) - place)
    assert 0 < error <= found["place"]["end_error"], (error, found["place"])


def bounced_height(until):
    """Of the centre, between bounces with e = 0.7."""
    t, v = math.sqrt(2 * 0.48 / G), math.sqrt(2 * G * 0.48)
    while True:
        v *= 0.7
        if t + 2 * v / G > until:
            s = until - t
            return 0.05 + v * s - G * s * s / 2
        t += 2 * v / G


def test_bouncing_ball_has_no_steady_order():
    """Impacts fall anywhere within a step: what is promised is no less than what is missed."""
    for step in ("2e-3", "3e-3", "1.7e-3"):
        found = study(BOUNCING, "--step", step, expect=None)
        row = found["of"]["height of the mass centre"]
        error = abs(row["end"] - bounced_height(found["until"]))
        if row["verdict"] in ("irregular", "converges"):
            assert error <= 1.5 * row["end_error"], (step, error, row)
        else:
            assert row["verdict"] == "unsettled" and row["error"] is None, row
    assert study(BOUNCING)["of"]["velocity"]["verdict"] == "irregular"


# ---- chaos -------------------------------------------------------------------------------------------------


def test_heap_is_chaotic():
    found = study(HEAP, expect=1)
    assert found["chaotic"] and not found["settled"] and found["growth"] > 100
    assert found["of"]["places of all bodies"]["verdict"] == "chaotic"
    assert found["of"]["places of all bodies"]["error"] is None
    told = run("converge", "scene.yaml", expect=1).stdout
    assert "the scene is chaotic" in told and "--seeds" in told, told


def test_means_of_a_heap():
    pathlib.Path("scene.yaml").write_text(HEAP)
    run("converge", "scene.yaml", "--seeds", "4", "--seed-key", "variables.seed", "-o", "out", "--quiet", expect=None)
    with open("out/means.csv") as file:
        rows = list(csv.DictReader(file))
    names = {row["quantity"] for row in rows}
    assert "height of the mass centre" in names and "deepest penetration so far" not in names
    for row in rows:
        margin, apart, half = (float(row[k] or "nan") for k in ("margin", "difference", "difference_half_95"))
        if math.isnan(apart):
            assert not row["verdict"] and float(row["step"]) == 5e-4
            continue
        known = "same" if abs(apart) + half <= margin else "differs" if abs(apart) - half > margin else "undecided"
        assert row["verdict"] == known, row
    for name in ("orders", "changes", "means"):
        for ending in ("svg", "png"):
            assert pathlib.Path(f"out/{name}.{ending}").stat().st_size > 1000
    assert json.loads(pathlib.Path("out/convergence.json").read_text())["seeds"] == 4
    with open("out/changes.csv") as file:
        assert len(list(csv.reader(file))) == 451


def test_bodies_that_come_in_are_not_compared_one_by_one():
    run("new", "inlet", "-o", "inlet.yaml")
    found = run_json("converge", "inlet.yaml", "--until", "0.1", expect=None)
    names = [row["quantity"] for row in found["quantities"]]
    assert "kinetic energy" in names and not any("place" in name for name in names), names


# ---- what is refused ---------------------------------------------------------------------------------------


def test_bad_input():
    pathlib.Path("scene.yaml").write_text(ROLLING)
    refuses("converge", "scene.yaml", "--step", "0.1", words=["expected 8 to 1e9 (--step, --until)"])
    refuses("converge", "scene.yaml", "--seeds", "1", words=["one run has no spread"])
    refuses("converge", "scene.yaml", "--levels", "2", words=["levels"])
    refuses("converge", "nowhere.yaml", words=["nowhere.yaml"])
    refuses("converge", "scene.yaml", "--set", "time.rhubarb=1", words=["unknown key 'rhubarb'"])


tap.main(globals())
