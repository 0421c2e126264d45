"""delassus run: killed, interrupted, resumed, extended, on any number of threads always the same bits; options,
progress, and every way in which it can go wrong."""
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests"))
from support import tap  # noqa: E402
from support.program import PROGRAM, SOURCE, only_these, refuses, run, run_json  # noqa: E402

# A drum that turns, grains that are born and one that dies; frames that steps do not hit.
DRUM = """delassus: 1
title: Small drum
dimension: 2
gravity: [0, -9.81]
materials:
  default: {density: 2500, mu: 0.4, e_n: 0.3}
bodies:
  - name: drum
    motion: driven
    shape: {kind: drum, radius: 0.1}
    drive: {rz: {velocity: '3*min(t/0.1, 1)'}}
  - {name: first, position: [0, -0.05], death: 0.2, shape: {kind: disc, radius: 0.02}}
  - packing:
      region: {kind: disc, radius: 0.095}
      solid_fraction: 0.4
      size: {uniform: [0.7, 1.3]}
      seed: 3
      birth_interval: 0.004
    body: {shape: {kind: disc, radius: 0.012}}
time: {step: 1e-3, until: 0.5}
solver: {tolerance: 1e-6}
output: {interval: 0.0123}
run: {checkpoint_interval: 0.004}
"""

# Balls between two plates that move, in a box that is periodic in x and y.
SPACE = """delassus: 1
title: Sheared balls
periodic: {low: [0, 0, 0], size: [0.2, 0.2, 0]}
materials:
  default: {density: 2500, mu: 0.5}
bodies:
  - {name: floor, motion: driven, shape: {kind: half-space}, drive: {x: {velocity: 0.3}}}
  - layers:
      region: {kind: box, low: [0, 0, 0.001], high: [0.2, 0.2, 0.6]}
      count: 30
      size: {uniform: [0.9, 1.1]}
      gap: 0.02
      birth_interval: 0.003
    body: {shape: {kind: sphere, radius: 0.03}}
time: {step: 2e-3, until: 0.3}
solver: {tolerance: 1e-10}
output: {interval: 0.03}
"""

# A lattice of balls that touch: contacts by the thousand from the first step.
DENSE = """delassus: 1
bodies:
  - {name: box, motion: static, position: [0, 0, 0.5], shape: {kind: box-inside, size: [1, 1, 1]}}
  - lattice: {origin: [-0.45, -0.45, 0.05], spacing: [0.1, 0.1, 0.1], counts: [10, 10, 10]}
    body: {shape: {kind: sphere, radius: 0.05}}
time: {step: 1e-3, until: 4e-3}
solver: {tolerance: 1e-3}
output: {interval: 0}
"""


# Discs and squares come in faster than there is room for, pile up on a plate and leave over its edges.
FED = """delassus: 1
dimension: 2
bodies:
  - {name: plate, motion: static, position: [0, -0.05], shape: {kind: polygon, points: [[-0.05, -0.05], [0.05, -0.05], [0.05, 0.05], [-0.05, 0.05]]}}
inlets:
  - name: top
    region: {kind: disc, centre: [0, 0.15], radius: 0.04}
    mass_rate: 2000
    mass_limit: 300
    velocity: [0, -0.5]
    speed: 0.1
    orientation: random
    mixture:
      - {mass_share: 1, size: {uniform: [0.7, 1]}, body: {name: disc, shape: {kind: disc, radius: 0.012}}}
      - {mass_share: 1, body: {name: square, shape: {kind: polygon, points: [[-0.01, -0.01], [0.01, -0.01], [0.01, 0.01], [-0.01, 0.01]]}}}
removals:
  - {name: below, inside: {kind: half-plane, point: [0, -0.12]}}
time: {step: 1e-3, until: 0.5}
solver: {tolerance: 1e-5}
output: {interval: 0.0123}
run: {checkpoint_interval: 0.004}
"""


def scene(name, text):
    path = pathlib.Path(f"{name}.yaml")
    path.write_text(text)
    return path


def whole_drum():
    """A run of DRUM that was never stopped, made once: what it printed."""
    facts = pathlib.Path("whole.json")
    if not facts.exists():
        facts.write_text(json.dumps(run_json("run", scene("drum", DRUM), "-o", "whole.h5")))
    return json.loads(facts.read_text())


def data_of(results):
    """All that is recorded but how long it took."""
    folder = pathlib.Path("csv_" + pathlib.Path(results).name)
    run("export", results, "--csv", folder)
    tables = {name: (folder / name).read_text() for name in ("bodies.csv", "contacts.csv")}
    rows = [line.split(",") for line in (folder / "steps.csv").read_text().splitlines()]
    timed = {k for k, name in enumerate(rows[0]) if name.startswith("seconds")}
    tables["steps.csv"] = [[cell for k, cell in enumerate(row) if k not in timed] for row in rows]
    return tables


def same_data(a, b):
    ours, theirs = data_of(a), data_of(b)
    for name in ours:
        assert ours[name] == theirs[name], f"{name} of {a} and {b} differ"
    if shutil.which("h5diff"):
        for part in ("/states", "/contacts", "/frames", "/bodies", "/materials"):
            done = subprocess.run(["h5diff", a, b, part], capture_output=True, text=True)
            assert done.returncode == 0, f"{part}: {done.stdout}{done.stderr}"


def start(*arguments, **options):
    return subprocess.Popen([PROGRAM, "run", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, **options)


def until_file(path, child, seconds=60):
    """Waits until the file is there and changes, or the child has ended."""
    begun = time.monotonic()
    path = pathlib.Path(path)
    stamp = path.stat().st_mtime_ns if path.exists() else 0
    while child.poll() is None and (not path.exists() or path.stat().st_mtime_ns == stamp):
        assert time.monotonic() < begun + seconds, f"no {path} after {seconds} s"
        time.sleep(5e-4)


def can_be_read(results):
    """At any time: there is a picture of the last frame, or word that the first was not yet written."""
    done = subprocess.run([PROGRAM, "picture", results, "-o", "killed"], capture_output=True, text=True)
    assert done.returncode == 0 or done.stderr.endswith("holds no frame yet\n"), done.stderr


# ---- the same bits ----

def test_killed_at_random_instants():
    facts = whole_drum()
    instants = random.Random(5)
    kills = 0
    for attempt in range(60):
        child = start("drum.yaml", "-o", "killed.h5", "--resume", "-q")
        if attempt % 3 == 0:  # at once, while files are opened
            time.sleep(instants.uniform(0, 0.05))
        else:
            until_file("killed.h5.checkpoint", child)
            time.sleep(instants.uniform(0, 0.04))
        child.kill()
        child.communicate()
        if child.returncode == 0:
            break
        kills += 1
        if pathlib.Path("killed.h5").exists():
            can_be_read("killed.h5")
        if kills >= 8:
            break
    end = run_json("run", "drum.yaml", "-o", "killed.h5", "--resume")
    assert kills >= 1, "no run was killed"
    assert end["state"] == facts["state"] and end["steps"] == facts["steps"] == 500, end
    for key in ("certified", "worst_residual", "worst_error", "penetration", "iterations", "contacts", "kinetic",
                "friction", "impact", "work", "unaccounted"):
        assert end[key] == facts[key], key
    same_data("killed.h5", "whole.h5")


def test_threads():
    scene("dense", DENSE)
    ends = [run_json("run", "dense.yaml", "-o", f"threads{n}.h5", "--threads", n) for n in (1, 2, 4)]
    assert ends[0]["contacts"] > 2500, ends[0]
    assert len({end["state"] for end in ends}) == 1, [end["state"] for end in ends]
    same_data("threads1.h5", "threads4.h5")


def test_more_contacts_than_the_cache_holds():
    """Beyond 100,000 contacts sweeps go through balls in one stream, not in four."""
    tap.needs_speed()
    scene("many", DENSE.replace("counts: [10, 10, 10]", "counts: [35, 35, 35]").replace("until: 4e-3", "until: 1e-3")
          .replace("size: [1, 1, 1]", "size: [4, 4, 4]").replace("position: [0, 0, 0.5]", "position: [1.5, 1.5, 2]"))
    ends = [run_json("run", "many.yaml", "-o", "many.h5", "--threads", threads, "--solver", "nlgs:exact",
                     "--set", f"solver.max_iterations={sweeps}", expect=1)
            for threads, sweeps in ((1, 10), (2, 10), (2, 40))]
    assert ends[0]["contacts"] > 100000, ends[0]
    assert ends[0]["state"] == ends[1]["state"]
    assert ends[2]["worst_residual"] < ends[0]["worst_residual"] < 1, ends


def test_solver_and_its_options():
    """--set changes the solver that --solver names, in either order; --tol has the last word."""
    scene("dense", DENSE)
    few = ("--set", "solver.max_iterations=3")
    ends = [run_json("run", "dense.yaml", "-o", "few.h5", *arguments, expect=1)
            for arguments in (("--solver", "nlgs:exact", *few), (*few, "--solver", "nlgs:exact"))]
    assert [end["iterations"] for end in ends] == [12, 12], ends  # four steps
    end = run_json("run", "dense.yaml", "-o", "few.h5", "--solver", "nlgs", "--set", "solver.tolerance=1e-9",
                   "--tol", "1e-2")
    assert end["tolerance"] == 1e-2, end


def test_interrupted():
    whole_drum()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for path in pathlib.Path(".").glob("stopped.h5*"):
            path.unlink()
        child = start("drum.yaml", "-o", "stopped.h5", "--set", "run.checkpoint_interval=0")
        until_file("stopped.h5", child)
        time.sleep(0.05)
        child.send_signal(number)
        out, err = child.communicate(timeout=60)
        assert child.returncode == 1, (child.returncode, err)
        assert out.startswith("interrupted: Small drum") and "--resume" in out, out
        assert pathlib.Path("stopped.h5.checkpoint").exists()
        steps = int(re.search(r"in (\d+) steps", out)[1])
        assert 0 < steps < 500
        last = data_of("stopped.h5")["bodies.csv"].splitlines()[-1].split(",")
        assert int(last[1]) == steps, last  # its last step can be looked at
    done = run("run", "drum.yaml", "-o", "stopped.h5", "--resume")
    assert f"after step {steps}\n" in done.stderr, done.stderr
    assert done.stdout.startswith("finished: Small drum")
    same_data("stopped.h5", "whole.h5")


def test_nohup_goes_on():
    whole_drum()
    child = start("drum.yaml", "-o", "nohup.h5", "-q", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    until_file("nohup.h5", child)
    child.send_signal(signal.SIGHUP)
    child.communicate(timeout=60)
    assert child.returncode == 0
    same_data("nohup.h5", "whole.h5")


def test_one_run_at_a_time():
    whole_drum()
    child = start("drum.yaml", "-o", "busy.h5", "-q", "--until", "100")
    until_file("busy.h5", child)
    for more in ([], ["--resume"]):
        refuses("run", "drum.yaml", "-o", "busy.h5", "-q", *more, words=["busy.h5: another run is writing it"])
    run("picture", "busy.h5", "-o", "busy")  # others may read
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    run("run", "drum.yaml", "-o", "busy.h5", "-q", "--until", "0.01")  # the mark goes with the process


def test_other_kinds_of_files_are_known():
    run("run", "drum.yaml", "-o", "kinds.h5", "-q", "--until", "0.3")
    run("export", "kinds.h5", "--fclib", "kinds.hdf5")
    for command in (["run"], ["check"]):
        for path in ("kinds.h5", "kinds.hdf5"):
            refuses(*command, path, words=[f"{path}: an HDF5 file", "expected a scene"])
        refuses(*command, "kinds.h5.checkpoint", words=["a binary file, expected a scene"])
        refuses(*command, "drum", words=["No such file", "did you mean 'drum.yaml'?"])
    for command, more in ((["picture"], []), (["analyze"], []), (["export"], ["--csv", "kinds"])):
        refuses(*command, "drum.yaml", *more, words=["drum.yaml: a scene", "'delassus run drum.yaml'"])
        refuses(*command, "kinds.hdf5", *more, words=["kinds.hdf5: a contact problem", "expected the results"])
        refuses(*command, "kinds", *more, words=["No such file", "did you mean 'kinds.h5'?"])
    refuses("export", "kinds.h5", "--fclib", "x", "--step", "100000", words=["no frame of step 100000", "; the nearest is"])


def test_extended():
    whole_drum()
    run("run", "drum.yaml", "-o", "longer.h5", "--until", "0.31", "-q")
    assert run_json("run", "drum.yaml", "-o", "longer.h5", "--until", "0.31", "--resume")["steps"] == 310
    end = run_json("run", "drum.yaml", "-o", "longer.h5", "--until", "0.5", "--resume", "--threads", 2, "--strict")
    assert end["state"] == whole_drum()["state"] and end["resumed_after"] == 310
    same_data("longer.h5", "whole.h5")
    # back in time there is nothing to do, and nothing is lost
    assert run_json("run", "drum.yaml", "-o", "longer.h5", "--until", "0.1", "--resume")["steps"] == 500
    same_data("longer.h5", "whole.h5")


def test_begins_anew_without_resume():
    scene("drum", DRUM)
    run("run", "drum.yaml", "-o", "twice.h5", "--until", "0.05", "-q")
    run("run", "drum.yaml", "-o", "twice.h5", "--until", "0.02", "-q")
    assert run_json("run", "drum.yaml", "-o", "twice.h5", "--until", "0.02", "--resume")["steps"] == 20
    # a checkpoint never stands beside results that it does not belong to
    child = start("drum.yaml", "-o", "twice.h5", "--set", "run.checkpoint_interval=0")
    until_file("twice.h5", child)
    time.sleep(0.05)
    child.kill()
    child.communicate()
    assert not pathlib.Path("twice.h5.checkpoint").exists()


# ---- what is refused when a run is to go on ----

def test_resume_refuses_another_scene():
    scene("drum", DRUM)
    run("run", "drum.yaml", "-o", "mine.h5", "--until", "0.05", "-q")
    before = {path: path.read_bytes() for path in map(pathlib.Path, ("mine.h5", "mine.h5.checkpoint"))}
    scene("changed", DRUM.replace("mu: 0.4", "mu: 0.5"))
    again = ("-o", "mine.h5", "--resume")
    refuses("run", "changed.yaml", *again, words=["mine.h5.checkpoint", "the scene was changed"])
    refuses("run", "drum.yaml", *again, "--tol", "1e-5", words=["solver.tolerance=", "time.until"])
    refuses("run", "drum.yaml", *again, "--solver", "apgd", words=["apgd"])
    refuses("run", "drum.yaml", *again, "--set", "output.interval=0.1", words=["output.interval=0.1"])
    run("run", "drum.yaml", "-o", "set.h5", "--until", "0.02", "-q", "--set", "time.step=2e-3")
    refuses("run", "drum.yaml", "-o", "set.h5", "--resume", words=["began with 'time.step=2e-3'"])
    assert all(path.read_bytes() == content for path, content in before.items())


def test_resume_refuses_damaged_files():
    scene("drum", DRUM)
    run("run", "drum.yaml", "-o", "good.h5", "--until", "0.05", "-q")
    results, checkpoint = pathlib.Path("good.h5").read_bytes(), pathlib.Path("good.h5.checkpoint").read_bytes()

    def attempt(words, results=results, checkpoint=checkpoint):
        pathlib.Path("bad.h5.checkpoint").write_bytes(checkpoint)
        if results is None:
            pathlib.Path("bad.h5").unlink()
        else:
            pathlib.Path("bad.h5").write_bytes(results)
        refuses("run", "drum.yaml", "-o", "bad.h5", "--resume", words=words)
        assert pathlib.Path("bad.h5.checkpoint").read_bytes() == checkpoint
        assert results is None or pathlib.Path("bad.h5").read_bytes() == results

    attempt(["bad.h5.checkpoint"], checkpoint=checkpoint[:len(checkpoint) // 2])
    attempt(["bad.h5.checkpoint"], checkpoint=b"")
    attempt(["bad.h5.checkpoint"], checkpoint=b"no checkpoint at all")
    flipped = bytearray(checkpoint)
    flipped[len(flipped) * 3 // 4] ^= 4
    attempt(["bad.h5.checkpoint", "checksum"], checkpoint=bytes(flipped))
    newer = bytearray(checkpoint)
    newer[8] += 1  # its version
    attempt(["bad.h5.checkpoint", "version"], checkpoint=bytes(newer))
    attempt(["bad.h5"], results=b"no results")
    attempt(["bad.h5"], results=results[:len(results) // 2])
    attempt(["bad.h5"], results=None)
    # results of another run: shorter than the checkpoint says
    run("run", "drum.yaml", "-o", "short.h5", "--until", "0.01", "-q")
    attempt(["bad.h5", "step"], results=pathlib.Path("short.h5").read_bytes())


# ---- options ----

def test_solver_and_settings():
    scene("drum", DRUM)
    facts = run_json("run", "drum.yaml", "-o", "options.h5", "--until", "0.1", "--tol", "1e-3", "--solver",
                     "nlgs:eal+relaxation=0.9", "--set", "time.step=2e-3")
    assert facts["solver"] == "nlgs" and facts["tolerance"] == 1e-3 and facts["step"] == 2e-3, facts
    assert facts["steps"] == facts["certified"] == 50, facts
    if shutil.which("h5dump"):
        text = subprocess.run(["h5dump", "-d", "/solver_options", "options.h5"], capture_output=True, text=True).stdout
        assert "relaxation=0.9" in text and "law=eal" in text, text
    # the scene's own tolerance holds where none is given with the solver
    assert run_json("run", "drum.yaml", "-o", "options.h5", "--until", "1e-2", "--solver", "nlgs")["tolerance"] == 1e-6
    facts = run_json("run", "drum.yaml", "-o", "options.h5", "--until", "1e-2", "--solver", "nlgs+tolerance=1e-2")
    assert facts["tolerance"] == 1e-2
    refuses("run", "drum.yaml", "--solver", "ngls", words=["--solver ngls: no solver 'ngls', did you mean 'nlgs'?"])
    refuses("run", "drum.yaml", "--solver", "nlgs:none", words=["law: 'none' is not one of sbp|"])
    refuses("run", "drum.yaml", "--solver", "nlgs+relaxatio=1", words=["--solver nlgs+relaxatio=1: ", "relaxation"])
    refuses("run", "drum.yaml", "--solver", "n" * 2000, words=["--solver"])
    refuses("run", "drum.yaml", "--set", "time.stpe=1", words=["stpe", "step"])
    refuses("run", "drum.yaml", "--tol", "-1", words=["--tol"])
    refuses("run", "drum.yaml", "--tol", "0", words=["--tol"])
    refuses("run", "drum.yaml", "--until", "soon", words=["--until 'soon', expected a number from 0 up"])
    refuses("run", "drum.yaml", "--set", "time.step", "1e-3", words=["--set without '=', expected KEY=VALUE as one word"])
    refuses("--until", "1", "run", "drum.yaml", words=["'--until' stands before a command"])
    refuses("run", "drum.yaml", "--threads", "0", words=["--threads"])
    refuses("run", "drum.yaml", "--set", "time.step=0", words=["step"])
    assert run_json("run", "drum.yaml", "-o", "options.h5", "--until", "0")["steps"] == 0


def test_default_output():
    scene("drum", DRUM)
    folder = pathlib.Path("default")
    folder.mkdir()
    run("run", "../drum.yaml", "--until", "5e-3", "-q", cwd=folder)
    only_these(folder, "drum.h5", "drum.h5.checkpoint", "drum.h5.xdmf")


def test_progress_on_a_pipe():
    scene("slow", DRUM)
    child = start("slow.yaml", "-o", "slow.h5", "--until", "1000")
    line = child.stderr.readline()
    child.send_signal(signal.SIGINT)
    child.communicate(timeout=60)
    assert re.fullmatch(r"t = \S+ of 1000 s, \d+ steps/s, \d+ contacts, residual \S+, .+ left\n", line), line
    assert run("run", "slow.yaml", "-o", "slow.h5", "--until", "0.01", "-q").stderr == ""


def uncertified(*arguments, expect=1):
    """One sweep is not enough."""
    return run_json("run", scene("drum", DRUM), "--solver", "nlgs+max_iterations=1", *arguments, expect=expect)


def test_uncertified_steps_are_told():
    facts = uncertified("-o", "loose.h5", "--until", "0.1")
    assert facts["steps"] == 100 and facts["end"] == "finished" and 0 < facts["certified"] < 100, facts
    first = facts["uncertified"][0]
    assert first["residual"] > 1e-6 and first["max_error"] > 0 and first["t"] == 1e-3 * first["step"], first
    done = run("run", "drum.yaml", "--solver", "nlgs+max_iterations=1", "-o", "loose.h5", "--until", "0.1", expect=1)
    assert f"not step {first['step']}, t = " in done.stdout and "and others: see" in done.stdout, done.stdout


def test_reasons_of_uncertified_steps_are_counted():
    facts = uncertified("-o", "why.h5", "--until", "0.1")
    missed = facts["steps"] - facts["certified"]
    assert facts["reasons"] == {"contradiction": 0, "drift": 0, "work": missed, "stalled": 0, "diverged": 0,
                                "stopped": 0}, facts
    steps = [dict(zip(data_of("why.h5")["steps.csv"][0], row)) for row in data_of("why.h5")["steps.csv"][1:]]
    assert all(row["reason"] == ("none" if row["certified"] == "1" else "work") for row in steps)
    assert all(0 <= float(row["sweeps"]) <= 1 for row in steps)
    uncertified("-o", "halves.h5", "--until", f"{facts['uncertified'][0]['t']:g}")
    assert uncertified("-o", "halves.h5", "--until", "0.1", "--resume")["reasons"] == facts["reasons"]
    told = run("run", "drum.yaml", "--solver", "nlgs+max_iterations=1", "-o", "why.h5", "--until", "0.1", expect=1).stdout
    assert f"work: {missed} steps (the bound on work or iterations came first)" in told, told


PRESS = """delassus: 1
dimension: 2
bodies:
  - {name: disc, shape: {kind: disc, radius: 0.1}}
  - {name: left, motion: driven, position: [-0.15, 0], shape: {kind: polygon, points: [[-0.05, -0.5], [0.05, -0.5], [0.05, 0.5], [-0.05, 0.5]]},
     drive: {x: {velocity: 0.1}}}
  - {name: right, motion: driven, position: [0.15, 0], shape: {kind: polygon, points: [[-0.05, -0.5], [0.05, -0.5], [0.05, 0.5], [-0.05, 0.5]]},
     drive: {x: {velocity: -0.1}}}
time: {step: 1e-3, until: 0.005}
"""


def test_contacts_that_contradict_each_other_are_the_reason():
    facts = run_json("run", scene("press", PRESS), "-o", "press.h5", expect=1)
    assert facts["certified"] == 0 and facts["reasons"]["contradiction"] == facts["steps"] == 5, facts
    told = run("run", "press.yaml", "-o", "press.h5", expect=1).stdout
    assert "contradiction: 5 steps (contacts or joints contradict each other: there is no solution)" in told, told


def test_strict():
    first = uncertified("-o", "loose.h5", "--until", "0.1")["uncertified"][0]["step"]
    facts = uncertified("-o", "strict.h5", "--until", "0.1", "--strict")
    assert facts["end"] == "stopped at an uncertified step" and facts["steps"] == first, facts
    last = data_of("strict.h5")["bodies.csv"].splitlines()[-1].split(",")
    assert int(last[1]) == first, last  # that step can be looked at
    facts = uncertified("-o", "strict.h5", "--until", "0.1", "--resume")
    assert facts["steps"] == 100
    uncertified("-o", "loose.h5", "--until", "0.1")
    same_data("strict.h5", "loose.h5")


def test_dump_failures():
    facts = uncertified("-o", "dumped.h5", "--until", "0.1", "--dump-failures", "some/failures")
    files = sorted(pathlib.Path("some/failures").iterdir())
    assert len(files) == facts["steps"] - facts["certified"] > 0, len(files)
    assert files[0].name == f"step{facts['uncertified'][0]['step']:08d}.hdf5"
    for file in (files[0], files[-1]):
        info = run_json("info", file)
        assert info["has_solution"] and info["solution_residual"] > 1e-6, info
        assert run_json("solve", file, "--tol", "1e-8")["outcome"] == "converged"
    assert abs(run_json("info", files[0])["solution_residual"] / facts["uncertified"][0]["residual"] - 1) < 1e-6
    pathlib.Path("taken").write_text("")
    refuses("run", "drum.yaml", "--dump-failures", "taken", words=["taken"])


# ---- what goes wrong ----

def test_bad_scenes_and_places():
    scene("drum", DRUM)
    refuses("run", "missing.yaml", words=["missing.yaml", "No such file"])
    refuses("run", "drum.yaml", "-o", "absent/x.h5", words=["absent/x.h5"])
    pathlib.Path("folder").mkdir(exist_ok=True)
    refuses("run", "drum.yaml", "-o", "folder", words=["folder"])
    refuses("run", "drum.yaml", "-o", "x" * 5000, words=["too long"])
    refuses("run", scene("broken", "delassus: 1\nbodies: [\n"), words=["broken.yaml:"])
    refuses("run", words=["SCENE"])
    assert not pathlib.Path("missing.h5").exists() and not pathlib.Path("broken.h5").exists()


def test_full_disk():
    whole_drum()
    pathlib.Path("full").mkdir()
    # too small for the file's beginning: nothing appears
    refuses("run", "drum.yaml", "-o", "full/x.h5", "-q", limit=2000, words=["full/x.h5", "File too large"])
    only_these("full")
    # too small for all of it: what there is can be read, and the run goes on once there is room
    size = pathlib.Path("whole.h5").stat().st_size
    refuses("run", "drum.yaml", "-o", "full/x.h5", "-q", limit=size // 2, words=["full/x.h5", "File too large"])
    assert len(data_of("full/x.h5")["bodies.csv"].splitlines()) > 2
    run("run", "drum.yaml", "-o", "full/x.h5", "--resume", "-q")
    same_data("full/x.h5", "whole.h5")


# ---- recorded steps as problems ----

def numbers(file, dataset):
    done = subprocess.run(["h5dump", "-d", dataset, "-m", "%.17g", "-y", "-w", "0", file], capture_output=True,
                          text=True, check=True).stdout
    data = done[done.index("DATA {") + 6:]
    return [float(word) for word in re.findall(r"[-+0-9.e]+", data[:data.index("}")])]


def test_recorded_steps_solve_to_the_same():
    if not shutil.which("h5dump"):
        raise tap.Skip("no h5dump here")
    for name, text in (("replay_plane", DRUM.replace("tolerance: 1e-6", "tolerance: 1e-10")), ("replay_space", SPACE)):
        scene(name, text)
        facts = run_json("run", f"{name}.yaml", "-o", f"{name}.h5")
        assert facts["certified"] == facts["steps"], facts
        rows = data_of(f"{name}.h5")["contacts.csv"].splitlines()[1:]
        if name == "replay_space":
            assert any(numbers(f"{name}.h5", "/contacts/image")), "no image was touched"
        for frame in sorted({int(row.split(",")[0]) for row in rows}):
            run("export", f"{name}.h5", "--fclib", "frame.hdf5", "--frame", frame)
            info = run_json("info", "frame.hdf5")
            assert info["solution_residual"] <= 1.0001e-10, (name, frame, info["solution_residual"])
            run("solve", "frame.hdf5", "--tol", "1e-10", "-o", "solved.hdf5")
            # discs that jam have more than one solution to 1e-10: the recorded one is what a solve from it says
            if name == "replay_plane":
                run("solve", "frame.hdf5", "--tol", "1e-10", "--warm-start", "-o", "solved.hdf5")
            ours, theirs = (numbers(file, "/solution/u") for file in ("frame.hdf5", "solved.hdf5"))
            scale = max(map(abs, ours))
            assert len(ours) == len(theirs) and max(abs(a - b) for a, b in zip(ours, theirs)) <= 1e-6 * scale, \
                (name, frame, max(abs(a - b) for a, b in zip(ours, theirs)) / scale)


def test_results_never_take_the_place_of_their_scene():
    pathlib.Path("mine.yaml").write_text(DRUM)
    os.symlink("mine.yaml", "link.yaml")
    for output in ("mine.yaml", "./mine.yaml", "link.yaml"):
        refuses("run", "mine.yaml", "-o", output, words=["it is mine.yaml, which is read", "another name"])
    assert pathlib.Path("mine.yaml").read_text() == DRUM


def test_results_replace_nothing_but_results():
    pathlib.Path("meshes").mkdir()
    obj = "v -5 -5 0\nv 5 -5 0\nv 5 5 0\nv -5 5 0\nf 1 2 3\nf 1 3 4\n"
    pathlib.Path("meshes/ground.obj").write_text(obj)
    scene = "delassus: 1\nbodies:\n  - {motion: static, shape: {kind: mesh, file: ground.obj}}\n" \
            "time: {step: 1e-2, until: 1e-2}\n"
    pathlib.Path("meshes/on.yaml").write_text(scene)
    refuses("run", "meshes/on.yaml", "-o", "meshes/ground.obj", words=["meshes/ground.obj, which is read"])
    refuses("run", "on.yaml", "-o", "ground.obj", words=["ground.obj, which is read"], cwd="meshes")
    pathlib.Path("other.yaml").write_text("a: note\n")
    refuses("run", "meshes/on.yaml", "-o", "other.yaml", words=["other.yaml", "not the results of a run"])
    run("generate", "stack", "--size", "10", "-o", "problem.hdf5")
    kept = pathlib.Path("problem.hdf5").read_bytes()
    refuses("run", "meshes/on.yaml", "-o", "problem.hdf5", words=["problem.hdf5", "not the results of a run"])
    pathlib.Path("on.h5").touch()
    for _ in range(2):  # in the place of nothing, and of results
        run("run", "meshes/on.yaml", "-o", "on.h5", "-q")
    assert pathlib.Path("meshes/ground.obj").read_text() == obj and pathlib.Path("meshes/on.yaml").read_text() == scene
    assert pathlib.Path("other.yaml").read_text() == "a: note\n" and pathlib.Path("problem.hdf5").read_bytes() == kept


# ---- what a run warns of ----

FLOOR = """delassus: 1
bodies:
  - {name: floor, motion: static, shape: {kind: half-space}}
"""


def warnings_of(*arguments):
    return [line.removeprefix("delassus: warning: ") for line in run(*arguments).stderr.splitlines()
            if line.startswith("delassus: warning: ")]


def test_bodies_that_are_born_into_others_are_told():
    balls = "".join(f"  - {{name: ball{k}, birth: 0.02, position: [{k}, 0, 0.095], shape: {{kind: sphere, radius: 0.1}}}}\n"
                    for k in range(7))
    path = pathlib.Path("births.yaml")
    path.write_text(FLOOR + balls + "  - {name: above, birth: 0.03, position: [0, 3, 0.5], shape: {kind: sphere, radius: 0.1}}\n"
                    "  - {name: early, position: [0, 6, 0.099], shape: {kind: sphere, radius: 0.1}}\n"
                    "time: {step: 1e-2, until: 0.1}\n")
    told = warnings_of("run", path, "-o", "births.h5", "-q")
    assert len(told) == 6, told
    for k in range(5):
        assert told[k] == f"run: 'ball{k}' was born into 'floor' at t = 0.03 s, 0.005 m deep", told
    assert told[5] == "run: 7 bodies in all were born into others", told
    path.write_text(FLOOR + balls.replace("0.095]", "0.1]") + "time: {step: 1e-2, until: 0.1}\n")
    assert warnings_of("run", path, "-o", "births.h5", "-q") == []


def test_friction_that_feeds_is_told():
    """A disc that leans and rolls round: with contacts as tangent planes it gains energy, certified in every step."""
    path = pathlib.Path("disc.yaml")
    path.write_text(FLOOR.replace("bodies:", "materials: {default: {mu: 1}}\nbodies:", 1) +
                    "  - {position: [0, 0, 0.02135], velocity: [0, 0.0686, 0], spin: [-19.81, 0, 11.44], "
                    "rotation: {axis: [0, 1, 0], angle: pi/6}, shape: {kind: cylinder, radius: 0.0375, length: 0.006}}\n"
                    "time: {step: 1e-3, until: 1}\n")
    told = warnings_of("run", path, "-o", "disc.h5", "-q", "--set", "integrator.kinematics=first-order")
    assert len(told) == 1 and told[0].startswith("run: friction gave "), told
    assert warnings_of("run", path, "-o", "disc.h5", "-q") == []


def test_contacts_that_contradict_each_other_are_named():
    path = pathlib.Path("press.yaml")
    box = "{{kind: polygon, points: [[{0}, -0.5], [{1}, -0.5], [{1}, 0.5], [{0}, 0.5]]}}"
    path.write_text("delassus: 1\ndimension: 2\nbodies:\n"
                    f"  - {{name: wall, motion: static, position: [0.6, 0], shape: {box.format(-0.1, 0.1)}}}\n"
                    f"  - {{name: block, locked: [y, rz], shape: {box.format(-0.5, 0.5)}}}\n"
                    "  - {name: press, motion: driven, position: [-0.61, 0], shape: {kind: disc, radius: 0.1}, "
                    "drive: {x: {velocity: 1}}}\ntime: {step: 1e-3, until: 0.015}\n")
    done = run("run", path, "-o", "press.h5", expect=1)
    assert "no impulses can do: contacts of 'press' with 'block', 'block' with 'wall'" in done.stdout, done.stdout
    facts = json.loads(run("run", path, "-o", "press.h5", "--json", expect=1).stdout)
    assert all("'press' with 'block'" in step["contradicting_contacts"] for step in facts["uncertified"][1:]), facts


def test_impacts_in_order_go_on_to_the_same_bits():
    run("new", "billiard", "-o", "billiard.yaml")
    whole = run_json("run", "billiard.yaml", "-o", "whole.h5", "--until", 0.5)
    run("run", "billiard.yaml", "-o", "parts.h5", "--until", 0.31, "-q")
    parts = run_json("run", "billiard.yaml", "-o", "parts.h5", "--until", 0.5, "--resume", "--threads", 2)
    assert whole["state"] == parts["state"] and whole["impacts"] >= 5, (whole, parts)
    assert whole["most_impacts"] >= 2, whole


def test_driven_bodies_that_go_through_each_other_are_told_once():
    finger = "  - {{name: {}, motion: driven, position: [{}, 0, 1], {}shape: {{kind: box, size: [0.02, 0.06, 0.06]}}, drive: {{x: {{velocity: {}}}}}}}\n"
    fingers = finger.format("left", -0.05, "{0}", 0.1) + finger.format("right", 0.05, "", -0.1)
    mast = "  - {name: mast, motion: driven, position: [1, 0, 0.05], shape: {kind: box, size: [0.02, 0.02, 0.2]}}\n"  # in the floor
    end, path = "time: {step: 1e-2, until: 1}\n", pathlib.Path("fingers.yaml")
    path.write_text(FLOOR + mast + fingers.replace("{0}", "") + end)
    told = warnings_of("run", path, "-o", "fingers.h5", "-q")
    assert len(told) == 1 and told[0].startswith("run: 'left' and 'right' go through each other, first at t = 0.41 s"), told
    assert warnings_of("run", path, "-o", "fingers.h5", "-q", "--until", "0.4") == []  # their faces meet then
    path.write_text(FLOOR + mast + fingers.replace("{0}", "").replace("driven, ", "driven, group: hands, ignores: [hands], ") + "groups: [hands]\n" + end)
    assert warnings_of("run", path, "-o", "fingers.h5", "-q") == []  # told not to collide
    still = "  - {name: wall, motion: static, position: [0, 0, 1], shape: {kind: box, size: [0.02, 1, 1]}}\n"
    path.write_text(FLOOR + still + finger.format("left", -0.05, "", 0.1) + end)
    assert warnings_of("run", path, "-o", "fingers.h5", "-q")[0].startswith("run: 'wall' and 'left' go through each other")


def test_an_end_between_two_steps_is_told():
    path = pathlib.Path("between.yaml")
    path.write_text(FLOOR + "time: {step: 1e-2, until: 0.104}\n")
    assert warnings_of("run", path, "-o", "between.h5", "-q") == [
        "run: it ended at t = 0.1 s: 0.104 s is no multiple of the step of 0.01 s"]
    assert warnings_of("run", path, "-o", "between.h5", "-q", "--until", "0.1") == []


def test_deep_penetrations_are_told():
    path = pathlib.Path("deep.yaml")
    ball = "  - {{name: ball, position: [0, 0, {}], shape: {{kind: sphere, radius: 0.1}}}}\n"
    end = "time: {step: 1e-2, until: 0.1}\n"
    path.write_text(FLOOR + ball.format(0.07) + end)
    told = warnings_of("run", path, "-o", "deep.h5", "-q")
    assert len(told) == 1 and "run: bodies lay up to 0.03 m in each other" in told[0], told
    assert "radius of 0.1 m; first 'floor' and 'ball' at t = 0.01 s" in told[0], told
    assert json.loads(run("run", path, "-o", "deep.h5", "--json").stdout)["penetration"] > 0.02
    path.write_text(FLOOR + ball.format(0.095) + end)
    assert warnings_of("run", path, "-o", "deep.h5", "-q") == []


def test_a_run_that_is_past_its_end_says_so():
    path = pathlib.Path("past.yaml")
    path.write_text(FLOOR + "time: {step: 1e-2, until: 0.1}\n")
    run("run", path, "-o", "past.h5", "-q")
    told = warnings_of("run", path, "-o", "past.h5", "-q", "--resume", "--until", "0.05")
    assert told == ["run: it is already at t = 0.1 s, nothing to do until 0.05 s"], told
    assert "t = 0.1 s" in run("run", path, "-o", "past.h5", "--resume", "--until", "0.05", "--json").stderr
    assert warnings_of("run", path, "-o", "past.h5", "-q", "--resume") == []
    assert run_json("run", path, "-o", "past.h5", "--resume")["steps"] == 10


# ---- the demo ----

def test_demo():
    done = subprocess.run([SOURCE / "scripts/demo", "demo", "0.05"], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    for words in ("finished: Rotating drum", "50 of 50 steps (100 %)", "drum.png", "Try next"):
        assert words in done.stdout, words
    for name in ("drum.yaml", "drum.h5", "drum.h5.xdmf", "drum.png", "drum.svg", "drum.html", "solvers/comparison.csv"):
        assert pathlib.Path("demo", name).stat().st_size > 0, name
    assert done.stdout.rstrip().endswith(os.path.abspath("demo/drum.html")), done.stdout[-200:]


def test_a_fed_run_is_counted_killed_and_gone_on_with():
    path = scene("fed", FED)
    facts = run_json("run", path, "-o", "fed.h5")
    top, below = facts["gates"]
    assert (top["name"], top["kind"], below["name"], below["kind"]) == ("top", "inlet", "below", "removal")
    assert facts["bodies_in"] == top["bodies"] > 30 and facts["bodies_out"] == below["bodies"] > 5
    assert facts["bodies"] == 1 + top["bodies"] - below["bodies"]
    assert abs(facts["mass_in"] - top["mass"]) < 1e-9 * facts["mass_in"]
    steps = [dict(zip(data_of("fed.h5")["steps.csv"][0], row)) for row in data_of("fed.h5")["steps.csv"][1:]]
    assert max(int(row["backlog"]) for row in steps) > 0
    assert sum(int(row["bodies_in"]) for row in steps) == facts["bodies_in"]
    text = run("run", path, "-o", "told.h5", "--until", 0.1).stdout
    assert "in and out" in text and "top: " in text and "wait for room" in text, text
    for kills in (1, 2):
        output = f"killed{kills}.h5"
        for _ in range(kills):
            child = start(path, "-o", output, "--quiet", "--resume")
            until_file(f"{output}.checkpoint", child)
            time.sleep(0.05 * kills)
            child.kill()
            child.communicate()
        assert run_json("run", path, "-o", output, "--resume")["state"] == facts["state"]
        same_data("fed.h5", output)
    run("export", "fed.h5", "--fclib", "fed.hdf5", "--step", 394)
    assert run_json("solve", "fed.hdf5", "--tol", 1e-4)["outcome"] == "converged"


tap.main(globals())
