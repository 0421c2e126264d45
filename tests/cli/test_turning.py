"""Friction against turning through the program: tables, surfaces, summaries, problems of a frame, resuming."""
import csv
import math
import os
import pathlib
import re
import struct
import sys

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests", "support"))
import tap  # noqa: E402
from program import refuses, run, run_json  # noqa: E402

SCENE = """delassus: 1
title: Rolling
dimension: 3
variables: {slope: 0.1}
gravity: [-9.81*sin(slope), 0, -9.81*cos(slope)]
materials:
  default: {density: 2500, mu: 0.5, rolling: 0.004, spinning: 0.001}
bodies:
  - {name: ground, motion: static, shape: {kind: half-space}}
  - {name: one, position: [0.3, 0, 0.03], velocity: [0.5, 0, 0], spin: [0, 10, 9], shape: {kind: sphere, radius: 0.03}}
  - {name: two, position: [0.3, 0.2, 0.03], spin: [0, 3, 7], shape: {kind: sphere, radius: 0.03}}
time: {step: 1e-3, until: 0.6}
output: {interval: 0.1}
"""

PLANE = """delassus: 1
dimension: 2
gravity: [-1, -9.81]
materials: {default: {mu: 0.5, rolling: 0.01}}
bodies:
  - {motion: static, shape: {kind: half-plane}}
  - {position: [0, 0.03], shape: {kind: disc, radius: 0.03}}
time: {step: 1e-3, until: 0.1}
"""


def results():
    path = pathlib.Path("rolling.h5")
    if not path.exists():
        pathlib.Path("rolling.yaml").write_text(SCENE)
        end = run_json("run", "rolling.yaml")
        pathlib.Path("state").write_text(end["state"])
        assert end["certified"] == end["steps"] == 600
        assert end["turning"] > 0 and abs(end["unaccounted"]) < 1e-9, end
    return path


def table(name):
    if not pathlib.Path("csv").exists():
        run("export", results(), "--csv", "csv")
    with open(f"csv/{name}.csv") as file:
        return list(csv.DictReader(file))


def test_summary_tells_the_loss():
    results()
    shown = run("run", "rolling.yaml", "-o", "shown.h5").stdout
    assert re.search(r"to turning \d\.\d+ J, put in", shown), shown
    pathlib.Path("plain.yaml").write_text(SCENE.replace(", rolling: 0.004, spinning: 0.001", ""))
    shown = run("run", "plain.yaml").stdout
    assert "to turning" not in shown, shown


def test_tables_have_torques():
    last = [c for c in table("contacts") if c["frame"] == "6"]
    assert len(last) == 2, last
    mass = 2500 * 4 / 3 * math.pi * 0.03**3
    for c in last:  # both have come to rest: the torque balances the weight's along the slope
        torque = [float(c[f"torque_{k} [N m s]"]) for k in "xyz"]
        assert c["parts"] == "26" and c["mu_rolling [m]"] == "0.0040000000000000001", c
        assert c["mu_spinning [m]"] == "0.001" and c["drilling [m]"] == "0", c
        expected = mass * 9.81 * math.sin(0.1) * 0.03 * 1e-3
        assert math.isclose(torque[1], expected, rel_tol=1e-4), (torque, expected)
        assert abs(torque[0]) + abs(torque[2]) < 1e-4 * expected, torque
        rows = math.hypot(*(float(c[f"torque_{k} [N m s]"]) for k in (1, 2, 3)))
        assert math.isclose(rows, math.hypot(*torque), rel_tol=1e-12)
    steps = table("steps")
    lost = [float(s["turning [J]"]) for s in steps]
    assert lost == sorted(lost) and lost[-1] > lost[0] > 0, lost[-1]
    run("export", plain_results(), "--csv", "plain_csv")
    with open("plain_csv/contacts.csv") as file:
        assert "torque" not in file.readline()


def plain_results():
    pathlib.Path("plain2.yaml").write_text(SCENE.replace(", rolling: 0.004, spinning: 0.001", ""))
    run("run", "plain2.yaml", "-q", "--until", "0.1")
    return "plain2.h5"


def vtk_array(path, name):
    """An appended array of doubles."""
    data = pathlib.Path(path).read_bytes()
    offset = int(re.search(rb'Name="' + name.encode() + rb'" [^>]*offset="(\d+)"', data).group(1))
    at = data.index(b'<AppendedData encoding="raw">\n_') + len(b'<AppendedData encoding="raw">\n_') + offset
    size, = struct.unpack_from("<Q", data, at)
    return struct.unpack_from(f"<{size // 8}d", data, at + 8)


def test_surfaces_have_torques():
    run("export", results(), "--vtk", "vtk")
    vectors, sizes = (vtk_array("vtk/contacts_00006.vtp", name) for name in ("torque_vector", "torque"))
    last = [c for c in table("contacts") if c["frame"] == "6"]
    assert len(vectors) == 6 and len(sizes) == 2
    for k, c in enumerate(last):
        torque = [float(c[f"torque_{axis} [N m s]"]) / 1e-3 for axis in "xyz"]
        assert all(math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-15) for a, b in zip(torque, vectors[3 * k:3 * k + 3]))
        assert math.isclose(sizes[k], math.hypot(*torque), rel_tol=1e-9)


def test_xdmf_names_torques_where_there_are_some():
    text = pathlib.Path(f"{results()}.xdmf").read_text()
    assert text.count('Name="torque"') == 7 and "rolling.h5:/contacts/world_torque|" in text
    assert "torque" not in pathlib.Path(f"{plain_results()}.xdmf").read_text()


def test_measures():
    measures = {m["name"]: {f["name"]: f["value"] for f in m["facts"]}
                for m in run_json("analyze", results(), "energy", "complementarity")["measures"]}
    steps = table("steps")
    lost = float(steps[-1]["turning [J]"]) - float(steps[0]["turning [J]"])
    assert math.isclose(measures["energy"]["turning"], lost, rel_tol=1e-12)
    assert measures["complementarity"]["worst product"] < 1e-6 * lost
    run("analyze", results(), "energy", "-o", "figures")


def numbers(name):
    lines = [line for line in pathlib.Path(name).read_text().splitlines() if not line.startswith("%")]
    return lines[0].split(), lines[1:]


def test_a_frame_is_written_with_all_its_rows():
    run("export", results(), "--matrix-market", "frame", "--step", "100")
    assert numbers("frame_mu_rolling.mtx")[1] == ["0.0040000000000000001"] * 2
    assert numbers("frame_mu_spinning.mtx")[1] == ["0.001"] * 2
    assert numbers("frame_W.mtx")[0][:2] == ["12", "12"] and len(numbers("frame_q.mtx")[1]) == 12
    refuses("export", results(), "--fclib", "frame.hdf5", words=["2 rolling and 1 spinning rows", "FCLib"])


def test_recorded_impulses_solve_a_frame_with_rolling():
    pathlib.Path("space.yaml").write_text(SCENE.replace(", spinning: 0.001", ""))
    pathlib.Path("plane.yaml").write_text(PLANE)  # its blocks have three rows, as those of a contact in space
    for name in ("space", "plane"):
        run("run", f"{name}.yaml", "-q", "--until", "0.1")
        run("export", f"{name}.h5", "--fclib", f"{name}.hdf5")
        solved = run_json("solve", f"{name}.hdf5", "--solver", "nlgs", "--tol", "1e-6", "--warm-start")
        assert solved["converged"] and solved["iterations"] <= 1, solved


def test_resumed_runs_have_the_same_rows():
    results()
    run("run", "rolling.yaml", "-o", "half.h5", "--until", "0.25", "-q")
    end = run_json("run", "rolling.yaml", "-o", "half.h5", "--until", "0.6", "--resume")
    assert end["state"] == pathlib.Path("state").read_text()
    run("export", "half.h5", "--csv", "half_csv")
    table("contacts")
    rows = []
    for folder in ("csv", "half_csv"):
        with open(f"{folder}/contacts.csv") as file:
            rows.append([{k: v for k, v in c.items() if k != "frame"} for c in csv.DictReader(file)])
    whole, half = rows
    assert all(c in half for c in whole) and len(whole) == 12, (len(whole), len(half))


MIXED = SCENE.replace("  default: {density: 2500, mu: 0.5, rolling: 0.004, spinning: 0.001}",
                      "  default: {density: 2500, mu: 0.5}\n  rough: {density: 2500, mu: 0.5, rolling: 0.004%s}\n"
                      "pairs: [{materials: [default, rough], rolling: 0.004%s}]").replace("name: one", "material: rough, name: one")


STACK = "".join(f"  - {{position: [0.3, 0.4, {0.03 + 0.0599 * k}], shape: {{kind: sphere, radius: 0.03}}}}\n" for k in range(5))


def failures(folder, text):
    """Steps that two sweeps do not certify: their problems, each as solve is told it."""
    pathlib.Path(f"{folder}.yaml").write_text(text.replace("time:", STACK + "time:"))
    facts = run_json("run", f"{folder}.yaml", "-o", f"{folder}.h5", "--until", "0.005", "--tol", "1e-12", "--solver",
                     "nlgs:exact+max_iterations=2", "--dump-failures", folder, expect=1)
    missed = facts["steps"] - facts["certified"]
    files = sorted(pathlib.Path(folder).glob("*.hdf5")) or sorted(pathlib.Path(folder).glob("*_W.mtx"))
    assert len(files) == missed > 0, (files, facts)
    for file in files:
        solved = run_json("solve", file, "--tol", "1e-8")
        assert solved["outcome"] == "converged", solved
    return files, run_json("info", files[-1])


def test_dumps_of_what_fclib_has_no_word_for():
    files, info = failures("spins", SCENE)
    assert files[0].name.endswith("_W.mtx"), files
    files, info = failures("layouts", MIXED % ("", ""))
    assert files[0].name.endswith("_W.mtx"), files
    assert {(b["rows"], b["rolling_rows"]) for b in info["blocks"]} == {(3, 0), (5, 2)}, info["blocks"]
    files, info = failures("one_layout", SCENE.replace(", spinning: 0.001", ""))
    assert files[0].name.endswith(".hdf5"), files


tap.main(globals())
