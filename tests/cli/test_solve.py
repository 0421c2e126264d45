"""delassus solve: the report, its JSON, outputs, starts, repeats, traces and interrupts."""
import csv
import os
import pathlib
import pty
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests", "support"))
import tap  # noqa: E402
from program import PROGRAM, SOURCE, only_these, problem, refuses, run, run_json  # noqa: E402

MEASURES = """residual max_error residual_full natural_map fclib_merit siconos_error eps_glob merit_g
    complementarity penetration cone_violation""".split()
ENDLESS = ["--solver", "nlgs", "--tol", "1e-300", "--set", "measure=natural_map", "--set", "stall_sweeps=0",
           "--max-iter", "2000000000"]


def test_json_has_the_promised_keys_and_types():
    answer = run_json("solve", problem())
    kinds = dict(file=str, solver=str, law=str, converged=bool, outcome=str, iterations=int, seconds=float,
                 cpu_seconds=float, contacts=int, measures=dict)
    for key, kind in kinds.items():
        assert type(answer[key]) is kind, (key, answer[key])
    for key in MEASURES:
        assert isinstance(answer["measures"][key], (int, float)), (key, answer["measures"])
    assert answer["file"] == str(problem()) and answer["solver"] == "auto" and answer["law"] == "exact"
    assert run_json("solve", problem(), "--law", "ebp")["solver"] == "nlgs", "a law asks for sweeps"
    assert answer["converged"] is True and answer["outcome"] == "converged"
    assert 0 <= answer["measures"]["residual"] <= 1e-8
    assert answer["iterations"] > 0 and answer["contacts"] > 0 and answer["seconds"] > 0


def test_every_law_solves_the_stack():
    for law in "sbp sal ebp eal epdas ipdas exact".split():
        answer = run_json("solve", problem(), "--law", law, "--tol", "1e-5")
        assert answer["law"] == law and answer["measures"]["residual"] <= 1e-5, answer


def test_solver_names_carry_law_and_settings():
    answer = run_json("solve", problem(), "--solver", "nlgs:ebp+window=3+tolerance=1e-3")
    assert answer["law"] == "ebp" and answer["tolerance"] == 1e-3 and answer["settings"]["window"] == "3"
    assert run_json("solve", problem(), "--set", "tolerance=2e-3")["tolerance"] == 2e-3
    assert run_json("solve", problem(), "-s", "nlgs+rho=1e+3")["settings"]["rho"] == "1000"


def test_summary_shows_the_certificate_first():
    lines = run("solve", problem()).stdout.splitlines()
    assert lines[1].startswith("converged"), lines
    measures = [line.split() for line in lines if line.startswith("  ")]
    assert measures[0][0] == "residual" and measures[1][0] == "max_error" and measures[1][2] == "m/s", lines
    assert "\033" not in "".join(lines), "colour where no terminal is"


def test_not_converged_is_exit_1():
    answer = run_json("solve", problem("packing", 300), "--max-iter", "2", expect=1)
    assert answer["converged"] is False and answer["outcome"] == "iteration limit" and answer["iterations"] == 2
    answer = run_json("solve", problem("packing", 300), *ENDLESS, "--time-limit", "0.05", expect=1)
    assert answer["outcome"] == "time limit" and 0.04 < answer["seconds"] < 5, answer


def test_zero_contacts_are_solved():
    answer = run_json("solve", SOURCE / "tests/cli/no_contacts.hdf5")
    assert answer["converged"] is True and answer["contacts"] == 0 and answer["measures"]["residual"] == 0


def test_output_holds_the_solution():
    pathlib.Path("out").mkdir(exist_ok=True)
    run("solve", problem(), "-o", "out/solved.hdf5")
    only_these("out", "solved.hdf5")
    facts = run_json("info", "out/solved.hdf5")
    assert facts["has_solution"] and not facts["solution_is_zero"] and facts["solution_residual"] <= 1e-8
    again = run_json("solve", "out/solved.hdf5", "--warm-start")
    assert again["iterations"] == 0 and again["converged"], "the solution is where a warm start begins"
    assert run_json("solve", "out/solved.hdf5")["iterations"] > 0, "a cold start begins at zero"


def test_output_may_replace_the_input():
    shutil.copy(problem(), "own.hdf5")
    run("solve", "own.hdf5", "-o", "own.hdf5")
    assert run_json("info", "own.hdf5")["has_solution"]


def test_output_through_a_link_keeps_the_link():
    shutil.copy(problem(), "real.hdf5")
    pathlib.Path("link.hdf5").unlink(missing_ok=True)
    os.symlink("real.hdf5", "link.hdf5")
    run("solve", "link.hdf5", "-o", "link.hdf5")
    assert os.path.islink("link.hdf5") and run_json("info", "real.hdf5")["has_solution"]


def test_warm_start_needs_something_to_start_from():
    refuses("solve", problem(), "--warm-start", words=[str(problem()), "--warm-start"])


def test_trace_has_a_true_measure_for_every_iteration():
    answer = run_json("solve", problem(), "--trace", "trace.csv")
    rows = list(csv.DictReader(open("trace.csv")))
    assert list(rows[0]) == ["iteration", "seconds", "residual", "exact"]
    assert [int(row["iteration"]) for row in rows] == list(range(1, answer["iterations"] + 1))
    assert all(row["exact"] == "1" for row in rows)
    times = [float(row["seconds"]) for row in rows]
    assert times == sorted(times) and times[-1] <= answer["seconds"]
    assert float(rows[-1]["residual"]) == answer["measures"]["residual"]


def test_trace_into_a_pipe():
    lines = run("solve", problem(), "--trace", "/dev/stderr").stderr.splitlines()
    assert lines[0] == "iteration,seconds,residual,exact" and len(lines) > 2, lines


SQUEEZED = """delassus: 1
gravity: [0, 0, 0]
bodies:
  - {motion: driven, position: [-0.5, 0, 0], drive: {x: {velocity: 1}}, shape: {kind: box, size: [0.4, 1, 1]}}
  - {motion: driven, position: [0.5, 0, 0], drive: {x: {velocity: -1}}, shape: {kind: box, size: [0.4, 1, 1]}}
  - {name: ball, shape: {kind: sphere, radius: 0.31}}
time: {step: 1e-3, until: 1e-3}
"""


def test_says_why_there_is_no_solution():
    """Two walls close in on a ball at 1 m/s each: one of its contacts must close as fast."""
    pathlib.Path("squeezed.yaml").write_text(SQUEEZED)
    run("run", "squeezed.yaml", expect=1)
    run("export", "squeezed.h5", "--fclib", "squeezed.hdf5", "--step", 1)
    for solver in ("auto", "nlgs", "apgd"):
        answer = run_json("solve", "squeezed.hdf5", "--solver", solver, expect=1)
        assert answer["outcome"] == "stalled", answer
        found = answer["contradiction"]
        assert abs(found["closing"] - 1) < 1e-9 and found["blocks"] == [0, 1], found
    told = run("solve", "squeezed.hdf5", expect=1).stdout
    assert "no solution: blocks 0, 1 contradict each other" in told and "at least 1 m/s" in told, told
    assert "contradiction" not in run_json("solve", problem(), "--solver", "nlgs", "--max-iter", 2, expect=1)


def test_repeat_reports_the_least_time():
    once = run_json("solve", problem())
    many = run_json("solve", problem(), "--repeat", "20")
    assert many["repeats"] == 20 and many["measures"] == once["measures"], "the same start, the same bits"
    assert many["iterations"] == once["iterations"] and 0 < many["seconds"] <= once["seconds"] * 5


def test_threads_change_no_bit():
    command = ["solve", problem("packing", 4000), "--max-iter", "10", "--solver", "nlgs+order=coloured"]
    one, two = run_json(*command, expect=1), run_json(*command, "--threads", "2", expect=1)
    assert two["threads"] == 2 and one["measures"] == two["measures"] and one["colours"] > 1


def test_interrupt_ends_with_a_report():
    process = subprocess.Popen([PROGRAM, "solve", problem("packing", 300), *ENDLESS, "--json", "--trace",
                                "interrupted.csv"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 20
    while not list(pathlib.Path(".").glob("interrupted.csv.*")) and time.monotonic() < deadline:
        time.sleep(0.02)  # the trace is opened when the solve is about to begin
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 1 and '"outcome": "cancelled"' in output, (process.returncode, output, errors)
    assert pathlib.Path("interrupted.csv").stat().st_size > 100


def test_progress_and_colour_on_a_terminal_only():
    controller, terminal = pty.openpty()
    environment = {**os.environ, "TERM": "xterm"}
    environment.pop("NO_COLOR", None)
    command = [PROGRAM, "solve", problem("packing", 300), *ENDLESS, "--time-limit", "0.5"]
    done = subprocess.Popen(command, stdout=terminal, stderr=terminal, env=environment)
    os.close(terminal)
    shown = b""
    try:
        while chunk := os.read(controller, 4096):
            shown += chunk
    except OSError:
        pass  # the terminal is closed when the program has ended
    assert done.wait(60) == 1
    assert shown.count(b"\r\033[K") >= 2 and b"iteration " in shown and b"\033[31m" in shown, shown
    silent = subprocess.run(command, capture_output=True, env=environment)
    assert silent.stderr == b"" and b"\033" not in silent.stdout


def test_help_of_solve():
    text = run("solve", "--help").stdout
    assert text == run("help", "solve").stdout
    for option in ("--solver", "--law", "--tol", "--max-iter", "--time-limit", "--threads", "--warm-start",
                   "--repeat", "--set", "--output", "--trace", "--json"):
        assert option in text, option


tap.main(globals())
