"""delassus compare: tables, files and figures; crashes, time limits and interrupts of single solves."""
import csv
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests", "support"))
import tap  # noqa: E402
from program import PROGRAM, only_these, problem, run, run_json  # noqa: E402

ENDLESS = "nlgs:exact+measure=natural_map+stall_sweeps=0+max_iterations=2000000000"


def test_end_to_end():
    files = [problem("stack", 60), problem("discs", 60)]
    done = run("compare", *files, "--solvers", "nlgs:exact,nlgs:ebp,nlgs:exact+max_iterations=1", "--tol",
               "1e-3,1e-6", "-o", "out/deep")
    names = ["stack_60_0.4_1", "discs_60_0.4_1"]
    figures = ["profile_1e-3", "profile_1e-6", *(f"{kind}_{name}" for kind in ("curve", "time") for name in names)]
    only_these("out/deep", "comparison.csv", "comparison.json", "curves.csv",
               *(figure + ending for figure in figures for ending in (".svg", ".png")))
    for figure in figures:
        assert pathlib.Path(f"out/deep/{figure}.png").read_bytes().startswith(b"\x89PNG\r\n")
        assert "<svg" in pathlib.Path(f"out/deep/{figure}.svg").read_text()
    for name in names:
        assert name in done.stdout
    assert done.stdout.count("✗") == 4 and "iteration limit" in done.stdout and done.stderr == ""

    rows = list(csv.DictReader(open("out/deep/comparison.csv")))
    assert len(rows) == 2 * 3 * 2
    for row in rows:
        solved = row["solver"] != "nlgs:exact+max_iterations=1"
        assert row["solved"] == str(int(solved)) and row["outcome"] == ("converged" if solved else "iteration limit")
        assert (float(row["residual"]) <= float(row["tolerance"])) == solved
        assert int(row["repeats"]) >= 1 and float(row["cpu_seconds"]) > 0
        assert (row["ratio"] == "") != solved


def test_json_agrees_with_itself():
    answer = run_json("compare", problem("stack", 60), problem("discs", 60), "--solvers", "nlgs:exact,nlgs:eal",
                      "--tol", "1e-4")
    assert answer["complete"] and answer["version"] and answer["machine"]["cores"] >= 1
    assert [len(answer[key]) for key in ("problems", "scores", "results")] == [2, 2, 4]
    for score in answer["scores"]:
        ratios = [result["ratio"] for result in answer["results"] if result["solver"] == score["solver"]]
        assert score["solved"] == 2 and score["fastest"] == sum(ratio == 1 for ratio in ratios)
        assert abs(score["mean_ratio"] - (ratios[0] * ratios[1]) ** 0.5) < 1e-12
    for file in {result["file"] for result in answer["results"]}:
        assert min(result["ratio"] for result in answer["results"] if result["file"] == file) == 1


def test_short_solves_are_repeated():
    result = run_json("compare", problem("stack", 60), "--solvers", "nlgs", "--tol", "1e-2")["results"][0]
    assert result["repeats"] > 1


def test_curves_follow_the_iterations():
    run("compare", problem("stack", 60), "--solvers", "nlgs", "--tol", "1e-2,1e-7", "-o", "curves")
    rows = list(csv.DictReader(open("curves/curves.csv")))
    iterations = [int(row["iteration"]) for row in rows]
    result = json.load(open("curves/comparison.json"))["results"][1]
    assert iterations == list(range(1, iterations[-1] + 1)) and iterations[-1] <= result["iterations"]
    assert float(rows[-1]["residual"]) <= 1e-7 < float(rows[0]["residual"])


def test_long_curves_are_thinned():
    run("compare", problem("stack", 60), "--solvers", "nlgs+measure=natural_map+stall_sweeps=0+max_iterations=3000",
        "--tol", "1e-300", "-o", "long")
    iterations = [int(row["iteration"]) for row in csv.DictReader(open("long/curves.csv"))]
    assert iterations == [*range(1, 129), *range(136, 3001, 8)], iterations


def test_threads_in_the_children():
    arguments = ["compare", problem("packing", 4000), "--solvers", "nlgs+max_iterations=5+order=coloured", "--tol", "1e-4"]
    one, two = run_json(*arguments), run_json(*arguments, "--threads", "2")
    assert two["threads"] == 2 and one["results"][0]["measures"] == two["results"][0]["measures"]


def test_files_of_one_name_are_told_apart():
    pathlib.Path("other").mkdir()
    shutil.copy(problem("stack", 60), "other")
    names = [one["name"] for one in run_json("compare", problem("stack", 60), pathlib.Path("other", problem("stack", 60)),
                                             "--solvers", "nlgs", "--tol", "1e-2")["problems"]]
    assert names == ["stack_60_0.4_1", "stack_60_0.4_1_2"]


def test_the_judge_decides_not_the_solver():
    answer = run_json("compare", problem("stack", 60), "--tol", "1e-6", "--solvers", "nlgs+measure=merit_g")
    result = answer["results"][0]
    assert result["outcome"] == "converged" and result["measures"]["residual"] > 1e-6 and not result["solved"]


def children(process):
    """The processes that the comparison has started."""
    path = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return [int(number) for number in path.read_text().split()] if path.exists() else []


def processor_seconds(child):
    try:
        return int(pathlib.Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[11]) / 100
    except OSError:
        return 0.0


def start_endless(time_limit):
    """A comparison whose first solve never ends by itself; returns it with the process of that solve."""
    process = subprocess.Popen([PROGRAM, "compare", problem("stack", 60), "--solvers", f"{ENDLESS},nlgs", "--tol",
                                "1e-300,1e-4", "--time-limit", time_limit, "--json"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        for child in children(process):
            if processor_seconds(child) > 0.1:  # reading a small file takes less
                return process, child
        time.sleep(0.02)
    raise AssertionError(f"no solve seen: {process.communicate()}")


def finish(process, expect):
    """The outcomes in order: tolerance by tolerance, the endless solver before the other."""
    output, errors = process.communicate(timeout=60)
    assert process.returncode == expect and errors == "", (process.returncode, output, errors)
    answer = json.loads(output)
    return [result["outcome"] for result in answer["results"]], answer


def test_a_crash_costs_one_result():
    process, child = start_endless("60")
    os.kill(child, signal.SIGKILL)
    outcomes, answer = finish(process, 1)
    assert outcomes == ["crashed", "converged", "converged", "converged"], outcomes
    assert answer["results"][0]["signal"] == signal.SIGKILL and answer["complete"] is True


def test_a_solve_that_hangs_is_killed():
    process, child = start_endless("2")
    os.kill(child, signal.SIGSTOP)
    outcomes, _ = finish(process, 0)
    assert outcomes == ["timeout", "converged", "converged", "converged"], outcomes


def test_the_time_limit_is_the_solver_s_own_first():
    outcomes = [result["outcome"] for result in run_json("compare", problem("stack", 60), "--solvers", ENDLESS, "--tol",
                                                         "1e-300", "--time-limit", "0.05")["results"]]
    assert outcomes == ["time limit"]


def test_interrupt_keeps_what_was_found():
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        process, _ = start_endless("60")
        process.send_signal(number)
        outcomes, answer = finish(process, 1)
        assert outcomes == ["cancelled"] * 4 and answer["complete"] is False, outcomes


def test_jobs_side_by_side_give_the_same_results():
    arguments = ["compare", problem("stack", 60), problem("discs", 60), "--solvers", "nlgs:exact,nlgs:ebp,nlgs:sal",
                 "--tol", "1e-4"]
    one, three = run_json(*arguments), run_json(*arguments, "--jobs", "3")
    for left, right in zip(one["results"], three["results"], strict=True):
        assert left["measures"] == right["measures"] and left["iterations"] == right["iterations"]


def largest_child():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


def test_memory_does_not_grow_with_the_number_of_files():
    if "asan" in os.environ["DLS_BUILD_DIR"]:
        raise tap.Skip("the sanitizer keeps what is freed")
    path = problem("packing", 4000)
    before = largest_child()
    run("compare", path, "--solvers", "nlgs+max_iterations=1", "--tol", "1e-2")
    one = largest_child()
    copies = [pathlib.Path(f"copy{k}.hdf5") for k in range(60)]
    for copy in copies:
        copy.symlink_to(path)
    run("compare", *copies, "--solvers", "nlgs+max_iterations=1", "--tol", "1e-2")
    assert largest_child() < 1.3 * one, (before, one, largest_child())


tap.main(globals())
