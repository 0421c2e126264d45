"""bench/run: the floor of 20 µs, means over what both sides solved, the cache, with made-up programs in place of the real;
simulations with the real one on tiny sizes."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tap  # noqa: E402

PROGRAM = '''#!/usr/bin/env python3
import json, pathlib, sys
times = json.loads(pathlib.Path(sys.argv[1]).read_text())
side = sys.argv[sys.argv.index("--side") + 1]
print(json.dumps({"file": sys.argv[1], "contacts": 7, "rows": 21, "dimension": 3}))
rows = [("ours", "", "nlgs:exact"), ("siconos", "nsgs", "nsgs cone light"), ("siconos", "other", "admm")]
for (who, group, solver), seconds in zip(rows, times):
    if who == "ours" or side == "both":
        print(json.dumps({"side": who, "group": group, "solver": solver, "target": 1e-4, "seconds": seconds,
                          "residual": 5e-5, "tolerance": 1e-4, "iterations": 3}))
'''


def measure(problems, *arguments, folder):
    """Runs bench/run on problems {name: [ours, NSGS, ADMM] seconds}; returns the JSON it leaves and what it printed."""
    build = pathlib.Path(folder, "build")
    (build / "bench").mkdir(parents=True, exist_ok=True)
    program = build / "bench" / "bench_siconos"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    files = []
    for name, times in problems.items():
        files.append(pathlib.Path(folder, name))
        files[-1].write_text(json.dumps(times))
    done = subprocess.run([ROOT / "bench" / "run", "siconos", *files, "--build", build, "--ours", "nlgs:exact",
                           "--target", "1e-4", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads((build / "bench" / "siconos.json").read_text()), done.stdout


def summary(problems):
    with tempfile.TemporaryDirectory() as folder:
        result, _ = measure(problems, folder=folder)
        return result["summaries"]["spatial 0.0001"]["nlgs:exact"]


def test_mean_and_worst():
    nsgs = summary({"a": [1e-3, 4e-3, 2e-3], "b": [2e-3, 2e-3, 3e-3]})["best_nsgs"]
    assert abs(nsgs["geometric_mean"] - 0.5) < 1e-12 and nsgs["worst"] == 1 and nsgs["worst_file"] == "b", nsgs


def test_best_of_all_solvers():
    every = summary({"a": [1e-3, 4e-3, 2e-3]})["best_all"]
    assert abs(every["geometric_mean"] - 0.5) < 1e-12, every


def test_floor_on_both_sides():
    assert summary({"a": [1e-6, 5e-6, 5e-6]})["best_nsgs"]["geometric_mean"] == 1
    assert abs(summary({"a": [1e-6, 4e-5, 4e-5]})["best_nsgs"]["geometric_mean"] - 0.5) < 1e-12


def test_only_what_both_solved_counts():
    both = summary({"a": [1e-3, 2e-3, None], "b": [None, 1e-3, 1e-3], "c": [1e-3, None, None]})
    assert both["best_nsgs"]["solved_by_both"] == 1 and both["best_nsgs"]["geometric_mean"] == 0.5, both
    assert both["not_reached"] == ["b"], both


def test_missed_bar_is_said():
    with tempfile.TemporaryDirectory() as folder:
        _, printed = measure({"a": [2e-3, 1e-3, 1e-3]}, folder=folder)
        assert "MISSED" in printed and "assertions" in printed, printed


def test_cache_keeps_the_peer_and_measures_ours_again():
    with tempfile.TemporaryDirectory() as folder:
        cache = pathlib.Path(folder, "cache.json")
        measure({"a": [1e-3, 2e-3, 3e-3]}, "--cache", cache, folder=folder)
        result, printed = measure({"a": [5e-4, 9.0, 9.0]}, "--cache", cache, folder=folder)
        line = result["comparisons"][0]
        assert line["best_nsgs"]["seconds"] == 2e-3 and line["ours"]["nlgs:exact"]["seconds"] == 5e-4, line
        assert "from a cache" in printed, printed


def simulate(*arguments):
    """The real program on tiny sizes; returns the JSON that bench/run leaves and what it printed."""
    program = pathlib.Path(os.environ.get("DLS_BUILD_DIR", ROOT / "build"), "bench", "bench_simulate")
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "bench").mkdir()
        pathlib.Path(folder, "bench", "bench_simulate").symlink_to(program.resolve())
        done = subprocess.run([ROOT / "bench" / "run", "simulate", "--build", folder, *arguments],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(pathlib.Path(folder, "bench", "simulate.json").read_text()), done.stdout


def test_simulations():
    result, printed = simulate("--sizes", "40", "120", "--filling", "20", "--seconds", "0.5")
    assert [row["tolerance"] for row in result["filling"]] == [1e-4, 1e-5], result["filling"]
    for row in result["filling"]:
        assert row["spheres"] == 20 and row["steps"] == 50 and row["certified_share"] == 1, row
        assert row["over_real_time"] > 0 and row["worst_residual"] <= row["tolerance"], row
    sizes = [(row["spheres"], row["threads"], row["mode"]) for row in result["packings"]]
    assert sizes == [(n, t, mode) for n, t in ((40, 1), (120, 1), (120, 2)) for mode in ("tolerance", "sweeps")], sizes
    for row in result["packings"]:
        assert row["contacts"] >= row["spheres"], row  # they do rest on each other
        stages = sum(row[f"{stage}_seconds"] for stage in ("collide", "assemble", "solve", "rest"))
        assert abs(stages - row["seconds"]) <= 1e-3 * row["seconds"], row
        assert 0 < row["collision_share"] < 1 and row["kinetic_energy"] < 1e-2 * row["spheres"], row
        assert row["simulation_bytes"] + row["world_bytes"] <= 1.01 * row["held_bytes"], row
        assert row["resident_bytes"] > row["simulation_bytes"] > 200 * row["contacts"], row
    assert result["packings"][-1]["same_bits"] and "the same bits" in printed, printed
    least, most = (row for row in result["packings"] if row["threads"] == 1 and row["mode"] == "sweeps")
    assert abs(result["judged"]["growth"] - most["step_ns"] / least["step_ns"]) < 1e-9, result["judged"]
    assert printed.count("bar ≤") == 4, printed


def test_products():
    program = pathlib.Path(os.environ.get("DLS_BUILD_DIR", ROOT / "build"), "bench", "bench_products")
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "bench").mkdir()
        pathlib.Path(folder, "bench", "bench_products").symlink_to(program.resolve())
        done = subprocess.run([ROOT / "bench" / "run", "products", "--build", folder, "--contacts", "60",
                               "--contacts", "200"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        result = json.loads(pathlib.Path(folder, "bench", "products.json").read_text())
    rows = [row for row in result["accuracy"] if row["solver"] == "apgd" and row["outcome"] == "converged"]
    assert [row["tolerance"] for row in rows[:2]] == [1e-4, 1e-6], rows
    assert all(row["residual"] <= row["tolerance"] and row["products"] >= row["iterations"] > 0 for row in rows), rows
    assert rows[0]["products"] < rows[1]["products"] and rows[0]["growth"] is None, rows
    assert any(row["contacts"] > 150 and row["growth"] is not None for row in rows), rows
    assert {row["solver"] for row in result["threads"]} == {"apgd", "pqn"}, result["threads"]
    assert done.stdout.count("speed-up on 2 threads") == 2, done.stdout


tap.main(globals())
