"""delassus analyze: table, JSON, CSV and figures of small runs, and what it refuses."""
import csv
import math
import os
import pathlib
import sys
import xml.etree.ElementTree

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests", "support"))
import tap  # noqa: E402
from program import SOURCE, only_these, refuses, run, run_json  # noqa: E402

PLANE = """
delassus: 1
title: Discs in a box
dimension: 2
gravity: [0, -9.81]
bodies:
  - name: box
    motion: static
    shape: {kind: chain, points: [[-0.5, 1], [-0.5, 0], [0.5, 0], [0.5, 1]]}
  - lattice: {origin: [-0.43, 0.06], spacing: [0.123, 0.11], counts: [8, 4], jitter: 0.005, seed: 2}
    body: {name: disc, shape: {kind: disc, radius: 0.05}}
time: {step: 2e-3, until: 0.6}
output: {interval: 0.02}
"""

SPACE = """
delassus: 1
title: Two balls
bodies:
  - {name: floor, motion: static, shape: {kind: half-space}}
  - {name: low, shape: {kind: sphere, radius: 0.1}, position: [0, 0, 0.1]}
  - {name: high, shape: {kind: sphere, radius: 0.1}, position: [0, 0, 0.3]}
time: {step: 1e-3, until: 0.01}
output: {interval: 0}
"""

MEASURES = ("container pressure coordination fraction fabric stress forces repose height profile energy penetration "
            "complementarity").split()


def simulated(name, text, *more):
    """The path of a run, made once."""
    path = pathlib.Path(f"{name}.h5")
    if not path.exists():
        pathlib.Path(f"{name}.yaml").write_text(text)
        run("run", f"{name}.yaml", "-o", path, "--quiet", *more)
    return path


def plane():
    return simulated("plane", PLANE)


def facts(analysis, measure):
    found = next(m for m in analysis["measures"] if m["name"] == measure)
    return {fact["name"]: fact for fact in found["facts"]}


def test_measures_are_listed():
    text = run("analyze").stdout
    for name in MEASURES + ["cone", "flow"]:
        assert f"\n  {name} " in text, name
    page = (SOURCE / "docs/analysis.md").read_text()
    for name in MEASURES + ["cone", "flow"]:
        assert f"## `{name}`" in page, f"docs/analysis.md says nothing of {name}"


def test_all_of_a_planar_run():
    analysis = run_json("analyze", plane())
    assert [m["name"] for m in analysis["measures"]] == MEASURES
    assert analysis["title"] == "Discs in a box" and analysis["finished"] and analysis["first_frame"] == 0
    for measure in analysis["measures"]:
        assert measure["missing"] is None and measure["facts"] and measure["tables"], measure["name"]
        for table in measure["tables"]:
            assert len(table["columns"]) == len(table["units"]) and table["rows"], table["name"]
            assert all(len(row) == len(table["columns"]) for row in table["rows"])
    text = run("analyze", plane()).stdout
    assert "31 frames of 31, t = 0 … 0.6 s" in text
    for name in MEASURES:
        assert f"\n{name} " in text, name


def test_the_box_bears_the_weight():
    path = simulated("settled", PLANE, "--until", "3")
    analysis = run_json("analyze", path, "container", "height", "--frames", "-5:")
    weight = 32 * 1000 * math.pi * 0.05 ** 2 * 9.81
    found = facts(analysis, "container")
    assert abs(found["weight"]["value"] / weight - 1) < 1e-12
    assert abs(found["box fy"]["value"] / -weight - 1) < 1e-5 and abs(found["box fx"]["value"]) < 1e-5 * weight
    assert abs(facts(analysis, "height")["rise"]["value"]) < 1e-8
    assert analysis["first_frame"] == 146 and analysis["last_frame"] == 150


def test_a_column_in_space():
    path = simulated("space", SPACE)
    weight = 1000 * 4 / 3 * math.pi * 1e-3 * 9.81
    analysis = run_json("analyze", path, "stress", "fraction", "--frames", "5:", "--region", "-1:1,-1:1,0:1")
    found = facts(analysis, "stress")
    assert abs(found["zz"]["value"] - weight * 0.1 * 4 / 4) < 1e-3 * weight, found["zz"]
    assert abs(facts(analysis, "fraction")["solid fraction"]["value"] - 2 * 4 / 3 * math.pi * 1e-3 / 4) < 1e-9
    assert facts(analysis, "stress")["zz"]["unit"] == "Pa"


def test_flow_of_a_silo():
    """What left the silo is what passed its outlet: from the places of all bodies, frame by frame."""
    tap.needs_speed()
    pathlib.Path("silo.yaml").write_text((SOURCE / "scenes/templates/silo.yaml").read_text())
    run("run", "silo.yaml", "-o", "silo.h5", "--quiet", "--until", "0.6", "--set", "variables.opening=0.2")
    run("export", "silo.h5", "--csv", "silo")
    above = {}
    for row in csv.DictReader(open("silo/bodies.csv")):
        inside = row["name"].startswith("grain") and float(row["y [m]"]) >= -0.002
        above[int(row["frame"])] = above.get(int(row["frame"]), 0) + inside
    analysis = run_json("analyze", "silo.h5", "flow", "--plane", "-y=-0.002", "-o", "silo_flow")
    table = analysis["measures"][0]["tables"][0]
    rows = [dict(zip(table["columns"], row)) for row in table["rows"]]
    assert len(rows) == len(above) == 31 and above[0] == 400
    whole = 400 * 1500 * math.pi * 0.005 ** 2
    for frame, row in enumerate(rows):
        assert above[0] - above[frame] == row["forward_count"] - row["backward_count"], frame
        assert abs(row["net_mass"] - row["ahead_mass"]) < 1e-12 * whole, frame
    assert rows[10]["net_mass"] == 0 and rows[-1]["net_mass"] > 0.1 * whole and rows[-1]["born_mass"] == 0
    found = facts(analysis, "flow")
    steady = facts(run_json("analyze", "silo.h5", "flow", "--plane", "0,-0.002:0,-2", "--frames", "15:"), "flow")
    assert steady["mass rate"]["value"] > found["mass rate"]["value"] > 0
    assert 0 < steady["mass rate"]["spread"] < 0.2 * steady["mass rate"]["value"]
    for figure in ("flow", "flow_rate"):
        xml.etree.ElementTree.parse(f"silo_flow/{figure}.svg")


SILO = """
delassus: 1
title: A tall column between rough walls, whose floor sinks for a while
dimension: 2
variables: {r: 0.01, half: 0.05}
materials:
  default: {mu: 0.5}
bodies:
  - {name: left, motion: static, shape: {kind: half-plane, normal: [1, 0]}, position: [-half, 0]}
  - {name: right, motion: static, shape: {kind: half-plane, normal: [-1, 0]}, position: [half, 0]}
  - name: floor
    motion: driven
    shape: {kind: half-plane}
    drive: {y: {velocity: "t < 0.3 ? 0 : t < 0.8 ? -0.05 : 0"}}
  - layers: {region: {kind: box, low: [-half, 0], high: [half, 3]}, count: 150, size: {uniform: [0.8, 1.2]}, seed: 4}
    body: {name: grain, shape: {kind: disc, radius: r}}
time: {step: 1e-3, until: 1.2}
solver: {tolerance: 1e-4}
output: {interval: 0.02}
"""


def test_pressure_of_a_silo():
    """Janssen: walls take up what lies above, and pressure saturates; at rest walls and floor carry the weight."""
    tap.needs_speed()
    path = simulated("janssen", SILO)
    analysis = run_json("analyze", path, "pressure", "--frames", "20:40", "--layers", "8", "-o", "janssen")
    found = facts(analysis, "pressure")
    table = analysis["measures"][0]["tables"][0]
    rows = [dict(zip(table["columns"], row)) for row in table["rows"]]
    height = 8 * (rows[1]["place"] - rows[0]["place"])
    assert abs(found["area"]["value"] / (2 * height) - 1) < 1e-9  # two walls
    saturation = found["saturation pressure"]["value"]
    # one column has a decay length of 0.2 m times or over 2, as it happens to stand: three are asked, by their mean
    others = [facts(run_json("analyze", simulated(f"janssen{seed}", SILO.replace("seed: 4", f"seed: {seed}")), "pressure",
                             "--frames", "20:40", "--layers", "8"), "pressure") for seed in (6, 7)]
    lengths = [each["decay length"]["value"] for each in (found, *others)]
    assert 0.08 < math.prod(lengths) ** (1 / 3) < 0.45 and found["misfit"]["value"] < 0.3, (lengths, found)
    # p∞ = ρ φ g W/(2 μ'), with the friction μ' that is mobilised; weight = ρ φ g W height
    carried = found["weight"]["value"] / height / (2 * found["mobilised friction"]["value"])
    assert 0.6 < saturation / carried < 1.6, (saturation, carried)
    # a fluid would press 1.9 times as hard in the lower layers as in the middle
    thirds = [sum(row["pressure"] for row in rows[k:k + 2]) for k in (0, 3, 6)]
    assert thirds[0] < 1.6 * thirds[1] and thirds[1] > 1.5 * thirds[2], thirds
    rest = facts(run_json("analyze", path, "pressure", "--frames", "-5:"), "pressure")
    weight = rest["weight"]["value"]
    assert abs(rest["walls carry"]["value"] + rest["base carries"]["value"] - weight) < 1e-4 * weight, rest
    assert rest["force without area"]["value"] == 0  # which way walls pull at rest is a matter of rounding
    assert found["walls carry"]["value"] > 0.1 * weight, found  # while the floor sinks they hold
    for figure in ("pressure", "pressure_total"):
        xml.etree.ElementTree.parse(f"janssen/{figure}.svg")


def test_bad_planes():
    for text in ("w=1", "y=", "y=high", "y=nan", "y=1,2", "z=1", "1:0,1", "1,2:0", "0,0:1,inf", "", "-", "0,0,0:0,0,1"):
        refuses("analyze", plane(), "flow", f"--plane={text}", words=[f"plane '{text}'", "in a planar run"])
    refuses("analyze", plane(), "flow", "--plane", "0,1:0,0", words=["normal is 0"])
    refuses("analyze", plane(), "flow", words=["flow needs a plane"])
    refuses("analyze", plane(), "flow", "--plane", "y=0", "--frames", "3", words=["one frame"])
    names = [m["name"] for m in run_json("analyze", plane(), "--plane", "y=0.3")["measures"]]
    assert names == MEASURES[:9] + ["flow"] + MEASURES[9:], names


def test_files_and_figures():
    run("analyze", plane(), "-o", "out/deep")
    folder = pathlib.Path("out/deep")
    rows = list(csv.reader((folder / "facts.csv").open()))
    assert rows[0] == ["measure", "quantity", "value", "spread", "unit", "meaning"]
    assert {row[0] for row in rows[1:]} == set(MEASURES)
    steps = list(csv.reader((folder / "energy.csv").open()))
    assert steps[0][:2] == ["time [s]", "kinetic [J]"] and len(steps) == 301
    analysis = run_json("analyze", plane(), "height")
    table = list(csv.reader((folder / "height.csv").open()))[1:]
    values = [[float(cell) if cell else None for cell in row] for row in table]
    assert values == analysis["measures"][0]["tables"][0]["rows"]
    figures = ("container pressure pressure_total coordination neighbours fraction fabric stress forces repose repose_surface height profile "
               "profile_spread energy penetration residual complementarity").split()
    for figure in figures:
        assert (folder / f"{figure}.png").read_bytes().startswith(b"\x89PNG"), figure
        xml.etree.ElementTree.parse(folder / f"{figure}.svg")


def test_only_what_is_asked_for():
    run("analyze", plane(), "height", "-o", "one")
    only_these("one", "facts.csv", "height.csv", "height.png", "height.svg")
    one = run_json("analyze", plane(), "profile", "--layers", "3", "--frames", "30")
    rows = one["measures"][0]["tables"][0]["rows"]
    assert len(rows) == 3 and sum(row[1] for row in rows) == 32
    assert one["first_frame"] == one["last_frame"] == 30


def test_frames():
    for text, first, last in (("4:7", 4, 7), ("4:", 4, 30), (":7", 0, 7), ("-3:-2", 28, 29), ("5", 5, 5), (":", 0, 30)):
        analysis = run_json("analyze", plane(), "height", f"--frames={text}")
        assert (analysis["first_frame"], analysis["last_frame"]) == (first, last), text
    for text in ("7:4", "0:31", "-40:", "a:b", "1:2:3", "", "1.5"):
        refuses("analyze", plane(), "height", f"--frames={text}", words=[f"frames '{text}'", "A:B within 0:30"])


def test_a_run_without_contacts():
    path = simulated("bare", PLANE, "--set", "output.contacts=no", "--until", "0.1")
    refuses("analyze", path, words=["no contacts are recorded", "container pressure coordination fabric stress forces",
                                    "output.contacts=yes", "only for: fraction repose height"])
    refuses("analyze", path, "stress", words=["no contacts are recorded", "stress"])
    analysis = run_json("analyze", path, "height", "fraction", "energy", "complementarity")
    assert facts(analysis, "fraction")["solid fraction"]["value"] > 0.3


def test_a_truncated_run():
    whole = plane().read_bytes()
    for share in (0, 0.01, 0.5, 0.99):
        pathlib.Path("cut.h5").write_bytes(whole[:int(len(whole) * share)])
        refuses("analyze", "cut.h5", words=["cut.h5"])
    line = refuses("analyze", "cut.h5", words=["cut off", "bytes are there, expected"])
    assert str(len(whole)) in line


def test_a_planar_run_with_a_spatial_measure():
    refuses("analyze", plane(), "cone", words=["cone needs a spatial run", "planar"])
    refuses("analyze", plane(), "profile", "--axis", "z", words=["profile along z needs a spatial run"])
    refuses("analyze", plane(), "stress", "--region", "0:1,0:1,0:1", words=["x0:x1,y0:y1 in a planar run"])


def test_other_refusals():
    refuses("analyze", "absent.h5", words=["absent.h5", "cannot be read"])
    refuses("analyze", "plane.yaml", words=["plane.yaml: a scene", "expected the results"])
    refuses("analyze", plane(), "reposse", words=["no measure 'reposse'", "did you mean 'repose'?"])
    refuses("analyze", plane(), "repose", "--axis", "y", words=["repose along y", "upright"])
    refuses("analyze", plane(), "--axis", "w", words=["no axis 'w'"])
    refuses("analyze", plane(), "fraction", "--region", "1:0,0:1", words=["region '1:0,0:1'"])
    refuses("analyze", plane(), "stress", "--frames", "0", words=["no recorded step"])
    refuses("analyze", plane(), "container", "-o", "plane.yaml/x", words=["plane.yaml/x"])
    pathlib.Path("small").mkdir()
    refuses("analyze", plane(), "energy", "-o", "small", limit=2000, words=["small/energy.csv"])


def test_the_same_bytes_twice():
    first, second = (run("analyze", plane(), "--json").stdout for _ in range(2))
    assert first == second


tap.main(globals())
