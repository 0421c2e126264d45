"""Results as ParaView gets them through the XDMF: every frame, every body and contact, every number of every array is
what the CSV says, in libXdmf and, where pvpython is installed, in each of ParaView's three readers."""
import csv
import math
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests"))
from support import tap, xdmf  # noqa: E402
from support.program import PROGRAM, run  # noqa: E402

# One shape of each kind, a body that comes later, frames without contacts.
SPACE = """delassus: 1
bodies:
  - {name: ground, motion: static, shape: {kind: mesh, file: ground.obj}}
  - {name: ball, position: [0, 0, 0.1], shape: {kind: sphere, radius: 0.1}}
  - {name: late, position: [0, 1, 0.1], birth: 0.05, shape: {kind: sphere, radius: 0.1}}
  - {name: box, position: [1, 0, 0.11], velocity: [0.3, 0, 0], shape: {kind: box, size: [0.4, 0.3, 0.2]}}
  - {name: capsule, position: [2, 0, 0.2], shape: {kind: capsule, radius: 0.1, length: 0.2}}
  - {name: egg, position: [3, 0, 0.1], shape: {kind: ellipsoid, size: [0.2, 0.15, 0.1]}}
  - {name: can, position: [4, 0, 0.1], spin: [0, 0, 3], shape: {kind: cylinder, radius: 0.1, length: 0.2}}
  - {name: stone, position: [4, 2, 0], shape: {kind: polyhedron, points: [[0, 0, 0], [0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.3]]}}
time: {step: 1e-2, until: 0.1}
output: {interval: 2e-2}
"""
EMPTY = """delassus: 1
gravity: [0, 0, 0]
bodies: [{name: first, birth: 0.05, shape: {kind: sphere, radius: 0.1}}]
time: {step: 1e-2, until: 0.1}
output: {interval: 2e-2}
"""
LEAVES = """delassus: 1
gravity: [0, 0, 0]
bodies:
  - {name: ground, motion: static, shape: {kind: half-space}}
  - {name: box, position: [0, 0, 0.1], velocity: [0, 0, 0.5], shape: {kind: box, size: [0.4, 0.3, 0.2]}}
time: {step: 1e-2, until: 0.1}
output: {interval: 2e-2}
"""
TEMPLATES = {"drum": 0.1, "silo": 0.04, "stack": 0.06, "filling": 0.2, "shear": 0.06}


def make_runs():
    """Paths of finished runs, made once: planar and spatial, periodic, with contacts and without."""
    pathlib.Path("ground.obj").write_text("v -5 -5 0\nv 5 -5 0\nv 5 5 0\nv -5 5 0\nf 1 2 3\nf 1 3 4\n")
    for name, scene in {"space": SPACE, "empty": EMPTY}.items():
        pathlib.Path(f"{name}.yaml").write_text(scene)
        run("run", f"{name}.yaml", "-q")
    run("run", "space.yaml", "-q", "-o", "bare&plain.h5", "--set", "output.contacts=false")
    pathlib.Path("leaves.yaml").write_text(LEAVES)
    run("run", "leaves.yaml", "-q", "--until", 0.04)  # what comes after is shorter than what was copied
    run("run", "leaves.yaml", "-q", "--resume")
    for name, until in TEMPLATES.items():
        run("new", name)
        run("run", f"{name}.yaml", "-q", "--until", until)
    return [f"{name}.h5" for name in ("space", "empty", "bare&plain", "leaves", *TEMPLATES)]


RUNS = make_runs()


def rows_of_frames(path):
    with open(path, newline="") as file:
        names, *rows = csv.reader(file)
    names, frames = [name.split(" [")[0] for name in names], {}
    for row in rows:
        row = dict(zip(names, row))
        frames.setdefault(int(row["frame"]), []).append(row)
    return frames


def numbers(rows, *names):
    return [[float(row[name]) for name in names] for row in rows]


def check_grid(grid, rows, points, arrays, where):
    """A grid against rows of a CSV, whose columns are named; exact, as both have all digits."""
    if not rows:  # readers stumble over grids of nothing: one point at the origin
        assert grid["points"] == [[0, 0, 0]] and grid["cells"] == [[0]], where
        return
    assert grid["points"] == numbers(rows, *points), where
    assert grid["cells"] == [[k] for k in range(len(rows))], where
    assert set(grid["arrays"]) >= set(arrays), (where, list(grid["arrays"]))
    for name, columns in arrays.items():
        assert grid["arrays"][name] == numbers(rows, *columns), (*where, name)


def check(path, frames, all_of_them=True):
    run("export", path, "--csv", "csv")
    bodies, contacts = rows_of_frames("csv/bodies.csv"), {}
    has_contacts = "bare" not in str(path)
    if has_contacts:
        contacts = rows_of_frames("csv/contacts.csv")
    steps = {int(row["step"]): float(row["time"]) for row in csv_rows("csv/steps.csv")}
    assert len(frames) > 2, path
    if all_of_them:
        assert math.isclose(frames[-1]["time"], max(steps.values()), rel_tol=1e-12), (path, frames[-1]["time"])
    for k, frame in enumerate(frames):
        where, rows = (str(path), k), bodies.get(k, [])
        assert set(frame["grids"]) == ({"bodies", "contacts"} if has_contacts else {"bodies"}), where
        if rows:
            assert frame["time"] == float(rows[0]["time"]), where
        assert k == 0 or frame["time"] > frames[k - 1]["time"], where
        check_grid(frame["grids"]["bodies"], rows, "xyz",
                   {"body": ["body"], "velocity": ["vx", "vy", "vz"], "angular_velocity": ["wx", "wy", "wz"]}, where)
        if has_contacts:
            check_grid(frame["grids"]["contacts"], contacts.get(k, []), "xyz",
                       {"impulse": ["impulse_x", "impulse_y", "impulse_z"], "gap": ["gap"]}, where)


def csv_rows(path):
    with open(path, newline="") as file:
        names, *rows = csv.reader(file)
    return [dict(zip([name.split(" [")[0] for name in names], row)) for row in rows]


def check_counts(path, frames):
    counts = {name: [len(frame["grids"][name]["points"]) for frame in frames] for name in frames[0]["grids"]}
    if path == "leaves.h5":
        assert max(counts["contacts"]) == 4 and max(counts["contacts"][3:]) == 1, counts
    if path == "space.h5":
        assert counts["bodies"] == [7, 7, 7, 8, 8, 8], counts  # the late one comes at 0.05 s
        radius = [row[0] for row in frames[-1]["grids"]["bodies"]["arrays"]["radius"]]
        assert radius[0] == 0, radius  # a ball about the ground would hide all
        for k, exact in {1: 0.1, 2: 0.1, 3: math.hypot(0.2, 0.15, 0.1), 4: 0.2, 5: 0.2}.items():
            assert abs(radius[k] - exact) < 1e-6, (k, radius)


def check_all(read):
    for path, answers in zip(RUNS, read(*(f"{path}.xdmf" for path in RUNS))):
        for frames in answers:
            check(path, frames)
            check_counts(path, frames)


def check_while_it_runs(read):
    """A run that goes on, and then one that was killed."""
    pathlib.Path("long.yaml").write_text(SPACE.replace("until: 0.1}", "until: 1e6}").replace("2e-2", "5"))
    child = subprocess.Popen([PROGRAM, "run", "long.yaml", "-q"], stdout=subprocess.DEVNULL)
    try:
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                if pathlib.Path("long.h5.xdmf").read_text().count("<Time") > 6:
                    break
            except FileNotFoundError:
                pass
            time.sleep(0.01)
        pathlib.Path("opened.xdmf").write_bytes(pathlib.Path("long.h5.xdmf").read_bytes())  # the run writes the next one
        answers, = read("opened.xdmf")
        assert child.poll() is None, "the run is over"
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    for frames in answers + read("long.h5.xdmf")[0]:
        check("long.h5", frames, all_of_them=False)


def test_libxdmf_reads_every_number():
    check_all(xdmf.read_by_library)


def test_libxdmf_reads_while_the_run_goes_on_and_after_it_was_killed():
    check_while_it_runs(xdmf.read_by_library)


def test_paraview_reads_every_number():
    check_all(xdmf.read_by_paraview)


def test_paraview_reads_while_the_run_goes_on_and_after_it_was_killed():
    check_while_it_runs(xdmf.read_by_paraview)


tap.main(globals())
