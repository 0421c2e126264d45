"""Results that a version before this one wrote: results_version_1.h5.gz is a file of format version 1, as its program
left it, of a ball that falls and a box that slides (20 steps, 5 frames, contacts); results_version_6.h5.gz has the
springboard of test_solids.py (40 steps, 3 frames)."""
import csv
import gzip
import math
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests", "support"))
import tap  # noqa: E402
from program import SOURCE, run, run_json  # noqa: E402


def old():
    path = pathlib.Path("old.h5")
    if not path.exists():
        path.write_bytes(gzip.decompress((SOURCE / "tests/cli/results_version_1.h5.gz").read_bytes()))
    return path


def test_beams_of_version_6_have_no_stress():
    path = pathlib.Path("beam.h5")
    path.write_bytes(gzip.decompress((SOURCE / "tests/cli/results_version_6.h5.gz").read_bytes()))
    run("export", path, "--csv", "beam", "--vtk", "surfaces")
    with open("beam/nodes.csv") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * 33 and all(float(row["von_mises [Pa]"]) == 0 for row in rows), len(rows)
    with open("beam/steps.csv") as file:
        steps = list(csv.DictReader(file))
    assert all(float(row["numerical [J]"]) == 0 < float(row["strain [J]"]) for row in steps), steps
    assert float(rows[-1]["y [m]"]) < -1e-3 and not pathlib.Path("beam/gradients.csv").exists(), rows[-1]


def facts(analysis, measure):
    found = next(m for m in analysis["measures"] if m["name"] == measure)
    return {fact["name"]: fact["value"] for fact in found["facts"]}


def test_measures_are_those_that_the_file_has():
    analysis = run_json("analyze", old())
    energy, worst = facts(analysis, "energy"), facts(analysis, "complementarity")
    assert math.isclose(energy["friction"], 3.61578, rel_tol=1e-5), energy
    assert math.isclose(energy["kinetic"], 0.001444, rel_tol=1e-3), energy
    assert math.isclose(worst["worst residual"], 9.458664733919645e-08, rel_tol=1e-12), worst
    assert worst["worst held"] is None, worst


def test_tables_have_what_was_not_measured_as_nan():
    run("export", old(), "--csv", "csv")
    with open("csv/steps.csv") as file:
        steps = list(csv.DictReader(file))
    assert len(steps) == 20 and all(row["held"] == "nan" for row in steps), steps
    assert math.isclose(float(steps[0]["residual"]), 9.458664733919645e-08, rel_tol=1e-12), steps[0]
    assert all(row["reason"] == "none" and row["sweeps"] == "nan" for row in steps), steps
    assert steps[-1]["iterations"].isdigit() and float(steps[-1]["seconds [s]"]) > 0, steps[-1]
    with open("csv/contacts.csv") as file:
        assert len(list(csv.DictReader(file))) == 20  # four frames of five


def test_a_step_becomes_a_problem_whose_solution_holds():
    run("export", old(), "--fclib", "step.hdf5")
    shown = run("info", "step.hdf5").stdout
    assert "contacts         5" in shown, shown
    solved = run_json("solve", "step.hdf5", "--solver", "nlgs", "--tol", "1e-6")
    assert solved["converged"] and solved["measures"]["residual"] <= 1e-6, solved


def test_pictures_and_surfaces_are_drawn():
    run("picture", old(), "--forces", "-o", "last")
    run("export", old(), "--vtk", "vtk")
    assert pathlib.Path("last.png").stat().st_size > 1000 and pathlib.Path("vtk/run.pvd").exists()


def test_info_says_what_the_file_is():
    shown = run("info", old(), expect=2).stderr
    assert "the results of a run" in shown, shown


tap.main(globals())
