"""Results of a run in the hands of others: VTK reads the surfaces and force chains, the XDMF says where arrays lie
in the HDF5 (read back with h5dump), CSV holds the same numbers, and FCLib problems are solved by what was recorded."""
import csv
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests"))
from support import tap  # noqa: E402
from support.program import PROGRAM, refuses, run, run_json  # noqa: E402

SPACE = """delassus: 1
title: One of each
dimension: 3
gravity: [0, 0, -9.81]
bodies:
  - {name: ground, motion: static, shape: {kind: half-space}}
  - {name: ball, position: [0, 0, 0.1], shape: {kind: sphere, radius: 0.1}}
  - {name: box, position: [1, 0, 0.1], shape: {kind: box, size: [0.4, 0.3, 0.2]}}
  - {name: capsule, position: [2, 0, 0.2], shape: {kind: capsule, radius: 0.1, length: 0.2}}
  - {name: egg, position: [3, 0, 0.1], shape: {kind: ellipsoid, size: [0.2, 0.15, 0.1]}}
  - {name: can, position: [4, 0, 0.1], shape: {kind: cylinder, radius: 0.1, length: 0.2}}
  - name: stone
    position: [5, 0, 0]
    shape:
      kind: polyhedron
      points: [[0, 0, 0], [0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.3]]
time: {step: 1e-2, until: 0.1}
output: {interval: 2e-2}
"""

PLANE = """delassus: 1
title: In the plane
dimension: 2
gravity: [0, -9.81]
bodies:
  - {name: ground, motion: static, shape: {kind: half-plane}}
  - {name: disc, position: [0, 0.1], shape: {kind: disc, radius: 0.1}}
  - {name: wedge, position: [1, 0], shape: {kind: polygon, points: [[-0.1, 0], [0.1, 0], [0, 0.2]]}}
time: {step: 1e-2, until: 0.1}
output: {interval: 2e-2}
"""

# What the shapes of SPACE enclose.
VOLUMES = {"ball": 4 / 3 * math.pi * 1e-3, "box": 0.4 * 0.3 * 0.2,
           "capsule": 4 / 3 * math.pi * 1e-3 + math.pi * 0.01 * 0.2, "egg": 4 / 3 * math.pi * 0.2 * 0.15 * 0.1,
           "can": math.pi * 0.01 * 0.2, "stone": 0.3 ** 3 / 6}
FRAMES = 6


def results(name, scene):
    """The path of a finished run, made once."""
    path = pathlib.Path(f"{name}.h5")
    if not path.exists():
        pathlib.Path(f"{name}.yaml").write_text(scene)
        run("run", f"{name}.yaml", "-o", path, "-q")
    return path


def table(path):
    """Rows of a CSV by its columns, units cut off."""
    with open(path, newline="") as file:
        rows = list(csv.reader(file))
    names = [re.sub(r" \[.*\]$", "", name) for name in rows[0]]
    return rows[0], [dict(zip(names, row)) for row in rows[1:]]


# ---- CSV ----

def test_csv():
    path = results("space", SPACE)
    run("export", path, "--csv", "csv")
    head, bodies = table("csv/bodies.csv")
    assert "x [m]" in head and "wx [rad/s]" in head and "time [s]" in head, head
    assert len(bodies) == 7 * FRAMES, len(bodies)
    assert [row["name"] for row in bodies[:7]] == ["ground", *VOLUMES]
    assert all(abs(float(row["time"]) - 0.02 * k) < 1e-12 for k, row in enumerate(bodies[::7]))
    head, contacts = table("csv/contacts.csv")
    assert "gap [m]" in head and "impulse_n [N s]" in head, head
    assert {row["frame"] for row in contacts} == {str(k) for k in range(1, FRAMES)}
    head, steps = table("csv/steps.csv")
    assert len(steps) == 10 and steps[-1]["step"] == "10" and "kinetic [J]" in head
    # at rest contacts carry the weight, h of it per step, so box and ball push as they weigh
    pushed = {}
    for row in contacts:
        if row["frame"] == str(FRAMES - 1):
            other = max(int(row["body_a"]), int(row["body_b"]))  # the ground is body 0
            pushed[other] = pushed.get(other, 0) + abs(float(row["impulse_z"]))
    assert abs(pushed[2] / pushed[1] * VOLUMES["ball"] / VOLUMES["box"] - 1) < 1e-3, pushed


# ---- VTK, in whatever Python has it ----

VTK_SCRIPT = r"""
import json, sys, xml.etree.ElementTree as tree
from vtkmodules.vtkIOXML import vtkXMLPolyDataReader
folder, answer = sys.argv[1], []
for item in tree.parse(folder + "/run.pvd").getroot().iter("DataSet"):
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(folder + "/" + item.get("file"))
    reader.Update()
    data = reader.GetOutput()
    cells = data.GetCellData()
    names = [cells.GetArrayName(k) for k in range(cells.GetNumberOfArrays())]
    body = cells.GetArray("body") or cells.GetArray("body_b")
    first = cells.GetArray("body_a")
    volume, box = {}, {}
    for k in range(data.GetNumberOfCells()):
        cell, owner = data.GetCell(k), int(body.GetValue(k))
        points = [data.GetPoint(cell.GetPointId(i)) for i in range(cell.GetNumberOfPoints())]
        low, high = box.setdefault(owner, ([1e9] * 3, [-1e9] * 3))
        for p in points:
            for i in range(3):
                low[i], high[i] = min(low[i], p[i]), max(high[i], p[i])
        for i in range(1, len(points) - 1):
            (a, b, c), (d, e, f), (g, h, j) = points[0], points[i], points[i + 1]
            six = a * (e * j - f * h) - b * (d * j - f * g) + c * (d * h - e * g)
            volume[owner] = volume.get(owner, 0) + six / 6
    force = cells.GetArray("force_vector")
    answer.append(dict(name=item.get("name"), time=float(item.get("timestep")), arrays=names,
                       points=data.GetNumberOfPoints(), polygons=data.GetNumberOfPolys(),
                       lines=data.GetNumberOfLines(), volume=volume, box=box,
                       force=[force.GetTuple(k) for k in range(data.GetNumberOfCells())] if force else None,
                       owner=[max(int(body.GetValue(k)), int(first.GetValue(k)) if first else 0)
                              for k in range(data.GetNumberOfCells())]))
json.dump(answer, sys.stdout)
"""


def read_vtk(folder):
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "from vtkmodules.vtkIOXML import vtkXMLPolyDataReader"],
                          capture_output=True).returncode == 0:
            done = subprocess.run([python, "-c", VTK_SCRIPT, folder], capture_output=True, text=True, check=True)
            assert "ERROR" not in done.stderr and "Warn" not in done.stderr, done.stderr
            return json.loads(done.stdout)
    raise tap.Skip("no Python with VTK here")


def test_vtk_surfaces():
    path = results("space", SPACE)
    run("export", path, "--vtk", "vtk", "--csv", "csv")
    answer = [part for part in read_vtk("vtk") if part["name"] == "bodies"]
    assert len(answer) == FRAMES
    for name in ("body", "material", "obstacle", "speed", "velocity", "angular_velocity"):
        assert name in answer[0]["arrays"], answer[0]["arrays"]
    _, bodies = table("csv/bodies.csv")
    for frame, part in enumerate(answer):
        assert abs(part["time"] - 0.02 * frame) < 1e-12
        for row in bodies[7 * frame + 1:7 * frame + 7]:  # all but the ground
            owner, exact = row["body"], VOLUMES[row["name"]]
            measured = part["volume"][owner]
            assert 0.95 * exact < measured < 1.0001 * exact, (row["name"], measured, exact)
            low, high = part["box"][owner]
            for k, axis in enumerate("xyz"):
                assert low[k] < float(row[axis]) < high[k], (row["name"], low, high, row)
        low, high = part["box"]["0"]  # the ground reaches as far as what stands on it
        assert low[0] < -0.1 and high[0] > 5.3, (low, high)


def test_vtk_force_chains():
    path = results("space", SPACE)
    run("export", path, "--vtk", "vtk")
    chains = [part for part in read_vtk("vtk") if part["name"] == "contacts"]
    assert len(chains) == FRAMES and chains[0]["lines"] == 0 and chains[-1]["lines"] > 6
    for name in ("force", "normal_force", "force_vector", "impulse", "gap", "body_a", "body_b"):
        assert name in chains[0]["arrays"], chains[0]["arrays"]
    pushed = {}
    for owner, force in zip(chains[-1]["owner"], chains[-1]["force"]):
        pushed[owner] = pushed.get(owner, 0) + abs(force[2])
    assert abs(pushed[2] / pushed[1] * VOLUMES["ball"] / VOLUMES["box"] - 1) < 1e-3, pushed


def test_vtk_in_the_plane():
    path = results("plane", PLANE)
    run("export", path, "--vtk", "plane_vtk")
    part = read_vtk("plane_vtk")[0]
    assert part["polygons"] == 2, part  # the disc and the wedge
    assert part["lines"] == 2, part  # the ground, and the spoke of the disc
    low, high = part["box"]["1"]
    assert abs(high[0] - 0.1) < 1e-6 and abs(low[0] + 0.1) < 1e-3 and low[2] == high[2] == 0


# ---- XDMF: the XML followed by hand and the HDF5 read with h5dump; test_paraview.py has readers that are not ours ----

def read_slab(item):
    """The numbers of a HyperSlab DataItem."""
    select, source = item.findall("DataItem")
    numbers = [int(word) for word in select.text.split()]
    rank = len(numbers) // 3
    start, stride, count = numbers[:rank], numbers[rank:2 * rank], numbers[2 * rank:]
    assert stride == [1] * rank and [int(n) for n in item.get("Dimensions").split()] == count
    file, dataset = source.text.strip().split(":")
    join = lambda values: ",".join(map(str, values))
    done = subprocess.run(["h5dump", "-d", dataset, "-s", join(start), "-c", join(count), "-m", "%.17g", "-y", "-w", "0",
                           file], capture_output=True, text=True, check=True)
    extent = re.search(r"DATASPACE\s+SIMPLE \{ \( ([0-9, ]+) \)", done.stdout)[1]
    assert [int(n) for n in extent.split(",")] == [int(n) for n in source.get("Dimensions").split()]
    data = done.stdout[done.stdout.index("DATA {") + 6:]
    values = [float(word) for word in re.findall(r"[-+0-9.e]+|nan|inf", data[:data.index("}")])]
    assert len(values) == math.prod(count), (len(values), count)
    width = count[1] if rank == 2 else 1
    return [values[k:k + width] for k in range(0, len(values), width)]


def attributes(grid):
    return {a.get("Name"): a.find("DataItem") for a in grid.findall("Attribute")}


def test_xdmf():
    if not shutil.which("h5dump"):
        raise tap.Skip("no h5dump here")
    path = results("space", SPACE)
    run("export", path, "--csv", "csv")
    _, bodies = table("csv/bodies.csv")
    _, contacts = table("csv/contacts.csv")
    root = ElementTree.parse(f"{path}.xdmf").getroot()
    frames = root.findall("./Domain/Grid/Grid")
    assert root.find("./Domain/Grid").get("CollectionType") == "Temporal" and len(frames) == FRAMES
    for number, frame in enumerate(frames):
        grids = {grid.get("Name"): grid for grid in frame.findall("Grid")}
        rows = [row for row in bodies if row["frame"] == str(number)]
        assert float(frame.find("Time").get("Value")) == float(rows[0]["time"])
        grid = grids["bodies"]
        assert int(grid.find("Topology").get("NumberOfElements")) == len(rows)
        centre = read_slab(grid.find("Geometry/DataItem"))
        velocity = read_slab(attributes(grid)["velocity"])
        owner = read_slab(attributes(grid)["body"])
        radius = read_slab(attributes(grid)["radius"])
        for k, row in enumerate(rows):
            assert centre[k] == [float(row[axis]) for axis in "xyz"], (number, k)
            assert velocity[k] == [float(row["v" + axis]) for axis in "xyz"], (number, k)
            assert owner[k] == [float(row["body"])]
        assert abs(radius[1][0] - 0.1) < 1e-6 and radius[0][0] == 0  # ball and ground
        rows = [row for row in contacts if row["frame"] == str(number)]
        grid = grids["contacts"]
        if not rows:  # a single point without impulse stands for no contacts
            assert grid.find("Geometry/DataItem").text.split() == ["0", "0", "0"]
            continue
        point, impulse = read_slab(grid.find("Geometry/DataItem")), read_slab(attributes(grid)["impulse"])
        for k, row in enumerate(rows):
            assert point[k] == [float(row[axis]) for axis in "xyz"], (number, k)
            assert impulse[k] == [float(row["impulse_" + axis]) for axis in "xyz"], (number, k)


# ---- FCLib ----

def test_fclib():
    for name, scene, contact in (("space", SPACE, 3), ("plane", PLANE, 2)):
        path = results(name, scene)
        for which in (("--step", 4), ("--frame", 3), ()):
            run("export", path, "--fclib", "step.hdf5", *which)
            info = run_json("info", "step.hdf5")
            assert info["has_solution"] and info["solution_residual"] <= 1e-6, info
            assert info["blocks"] == [
            {"kind": "contact", "rows": contact, "rolling_rows": 0, "count": info["contacts"]}], info
            run("solve", "step.hdf5", "--tol", "1e-8")
    run("export", results("space", SPACE), "--matrix-market", "step", "--frame", 2)
    assert pathlib.Path("step_W.mtx").exists()


TETRAHEDRON = """v 0 0 0
v 300 0 0
v 0 300 0
v 0 0 300
f 1 3 2
f 1 2 4
f 1 4 3
f 2 3 4
"""
MESHES = """delassus: 1
bodies:
  - {name: ground, motion: static, shape: {kind: mesh, file: parts/ground.obj}}
  - {name: stone, position: [0, 0, 0.01], shape: {kind: polyhedron, file: parts/stone.obj, scale: 0.001}}
  - {name: other, position: [1, 1, 0.01], shape: {kind: polyhedron, file: parts/stone.obj, scale: 0.001}}
time: {step: 1e-2, until: 0.2}
output: {interval: 2e-2}
"""


def test_results_keep_the_files_of_their_scene():
    parts = pathlib.Path("elsewhere/parts")
    parts.mkdir(parents=True, exist_ok=True)
    (parts / "ground.obj").write_text("v -5 -5 0\nv 5 -5 0\nv 5 5 0\nv -5 5 0\nf 1 2 3\nf 1 3 4\n")
    (parts / "stone.obj").write_text(TETRAHEDRON)
    pathlib.Path("elsewhere/meshes.yaml").write_text(MESHES)
    run("run", "elsewhere/meshes.yaml", "--until", "0.1", "-q", "-o", "meshes.h5")
    (parts / "stone.obj").write_text(TETRAHEDRON.replace("300", "200"))
    refuses("run", "elsewhere/meshes.yaml", "-q", "-o", "meshes.h5", "--resume",
            words=["parts/stone.obj: has changed since the run began, expected the same file"])
    (parts / "stone.obj").write_text(TETRAHEDRON)
    run("run", "elsewhere/meshes.yaml", "-q", "-o", "meshes.h5", "--resume")  # what goes on has them, too
    shutil.rmtree("elsewhere")
    run("export", "meshes.h5", "--fclib", "meshes.hdf5", "--step", 20)
    facts = run_json("info", "meshes.hdf5")
    assert facts["contacts"] >= 6 and facts["solution_residual"] <= 1e-6, facts
    data = pathlib.Path("meshes.h5").read_bytes()
    assert data.count(TETRAHEDRON.encode()) == 1  # once, although two bodies have it
    at = data.index(TETRAHEDRON.encode())
    pathlib.Path("changed.h5").write_bytes(data[:at] + b"nonsense" + data[at + 8:])
    refuses("export", "changed.h5", "--fclib", "x.hdf5", "--step", 20, words=["parts/stone.obj"])


def test_bad_calls():
    path = results("space", SPACE)
    for command in ("solve", "info", "compare"):
        refuses(command, path, words=[f"{path}: the results of a run", f"delassus export {path} --fclib"])
    refuses("export", path, words=["no format given"])
    refuses("export", path, "--csv", "csv", "--frame", 2, words=["--fclib"])
    refuses("export", path, "--fclib", "x.hdf5", "--frame", 2, "--step", 4, words=["expected one"])
    refuses("export", path, "--fclib", "x.hdf5", "--frame", FRAMES, words=["no frame 6", "0 to 5"])
    refuses("export", path, "--fclib", "x.hdf5", "--step", 3, words=["no frame of step 3", "from step 0 to 10; the nearest is 2"])
    refuses("export", path, "--fclib", "x.hdf5", "--frame", 0, words=["has no contacts"])
    refuses("export", path, "--fclib", "no/such/x.hdf5", words=["no/such/x.hdf5", "No such file"])
    refuses("export", "space.yaml", "--csv", "csv", words=["space.yaml: a scene, expected the results"])
    refuses("export", "missing.h5", "--vtk", "vtk", words=["missing.h5: cannot be read", "No such file"])
    refuses("export", path, "--csv", "space.yaml", words=["space.yaml", "cannot be written"])
    refuses("export", path, "--vtk", "limited", words=["cannot be written: File too large"], limit=1000)
    pathlib.Path("cut.h5").write_bytes(path.read_bytes()[:20000])
    refuses("export", "cut.h5", "--csv", "csv", words=["cut.h5: cut off: 20000 bytes"])


def test_no_output_takes_the_place_of_results():
    kept = results("space", SPACE).read_bytes()
    run("generate", "stack", "--size", "10", "-o", "spared.hdf5")
    pathlib.Path("in").mkdir()
    for name in ("mine.h5", "in/bodies.csv", "in/chains_W.mtx", "in/shown.png"):
        pathlib.Path(name).write_bytes(kept)
    os.symlink("mine.h5", "linked.h5")
    for output in ("mine.h5", "./mine.h5", "linked.h5"):
        refuses("export", "mine.h5", "--fclib", output, words=[output, "it is mine.h5, which is read"])
        refuses("generate", "stack", "-o", output, words=[output, "it is the results of a run"])
        refuses("solve", "spared.hdf5", "-o", output, words=[output, "it is the results of a run"])
        refuses("solve", "spared.hdf5", "--trace", output, words=[output, "it is the results of a run"])
    refuses("export", "space.h5", "--fclib", "mine.h5", words=["mine.h5", "it is the results of a run"])
    refuses("export", "in/bodies.csv", "--csv", "in", words=["in: cannot be written", "another folder"])
    refuses("export", "in/bodies.csv", "--vtk", "./in", words=["in: cannot be written", "another folder"])
    refuses("analyze", "in/bodies.csv", "-o", "in", words=["in: cannot be written", "another folder"])
    refuses("export", "in/chains_W.mtx", "--matrix-market", "in/chains", "--frame", 5, words=["which is read"])
    refuses("picture", "in/shown.png", "-o", "in/shown", words=["which is read"])
    for name in ("mine.h5", "in/bodies.csv", "in/chains_W.mtx", "in/shown.png"):
        assert pathlib.Path(name).read_bytes() == kept, name
    problem = pathlib.Path("spared.hdf5").read_bytes()
    refuses("solve", "spared.hdf5", "--trace", "spared.hdf5", words=["which is read"])
    pathlib.Path("in/table.csv").write_bytes(problem)
    refuses("compare", "in/table.csv", "-o", "in", words=["in: cannot be written", "another folder"])
    assert pathlib.Path("spared.hdf5").read_bytes() == problem


# ---- a run that is killed ----

def test_killed_and_resumed():
    scene = SPACE.replace("until: 0.1}", "until: 20}").replace("interval: 2e-2", "interval: 0.2")
    pathlib.Path("long.yaml").write_text(scene + "run: {checkpoint_interval: 0.01}\n")
    run("run", "long.yaml", "-o", "whole.h5", "-q")
    run("export", "whole.h5", "--csv", "whole_csv")
    checkpoint = pathlib.Path("killed.h5.checkpoint")
    stamp = lambda: checkpoint.stat().st_mtime_ns if checkpoint.exists() else 0
    unfinished = 0
    for pause in (0, 0.003, 0.007):
        before = stamp()
        child = subprocess.Popen([PROGRAM, "run", "long.yaml", "-o", "killed.h5", "-q", "--resume"],
                                 stdout=subprocess.DEVNULL)
        while child.poll() is None and stamp() == before:  # until it has left a checkpoint of its own
            time.sleep(1e-3)
        time.sleep(pause)
        child.send_signal(signal.SIGKILL)
        child.wait()
        if pathlib.Path("killed.h5").exists():  # it opens whatever was being done
            run("export", "killed.h5", "--csv", "killed_csv")
            unfinished += len(table("killed_csv/steps.csv")[1]) < 2000
    run("run", "long.yaml", "-o", "killed.h5", "-q", "--resume")
    run("export", "killed.h5", "--csv", "killed_csv")
    for name in ("bodies.csv", "contacts.csv"):
        assert pathlib.Path("killed_csv", name).read_text() == pathlib.Path("whole_csv", name).read_text(), name
    steps, whole = table("killed_csv/steps.csv")[1], table("whole_csv/steps.csv")[1]
    assert len(steps) == len(whole) == 2000
    for a, b in zip(steps, whole):
        assert all(a[key] == b[key] for key in a if not key.startswith("seconds")), (a, b)
    if not unfinished:
        raise tap.Skip("this machine was too fast or too busy to kill a run on its way")


def test_a_step_with_a_servo_is_solved_by_what_was_recorded():
    run("new", "shear", "-o", "shear.yaml", "--force")
    run("run", "shear.yaml", "--until", "0.3", "--quiet", "-o", "shear.h5")
    run("export", "shear.h5", "--fclib", "servo.hdf5")
    facts = run_json("info", "servo.hdf5")
    assert facts["contacts"] > 100 and facts["solution_residual"] <= 1.01e-4, facts


tap.main(globals())
