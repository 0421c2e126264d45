"""Runs that MPI's processes share: same bits, files, failures. `make test-mpi` runs it, on 1 to 4 ranks of one machine."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support"))
import tap
from program import PROGRAM, run

# as root, on fewer cores than ranks, which then hand their core over while they wait
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                  OMPI_MCA_mpi_yield_when_idle="1", OMP_NUM_THREADS="1")

SCENE = """delassus: 1
materials: {stone: {density: 2500, mu: 0.4}}
bodies:
  - {name: floor, motion: static, shape: {kind: half-space}}
  - lattice: {origin: [0, 0, 0.1], spacing: [0.199, 0.199, 0.199], counts: [13, 13, 11], jitter: 0.002, seed: 3}
    body: {material: stone, shape: {kind: sphere, radius: 0.1}}
time: {step: 1e-3, until: 0.002}
solver: {tolerance: 1e-2}
"""
pathlib.Path("balls.yaml").write_text(SCENE)
pathlib.Path("others.yaml").write_text(SCENE.replace("seed: 3", "seed: 4"))


def command(ranks, *words):
    return ["mpirun", "-n", str(ranks), PROGRAM, *map(str, words)]


def mpirun(ranks, *words, expect=0):
    done = subprocess.run(command(ranks, *words), capture_output=True, text=True, timeout=120)
    assert (done.returncode == 0) == (expect == 0), f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def own_lines(done):
    """What the program itself says on stderr; mpirun adds a notice of its own."""
    return [line for line in done.stderr.splitlines() if "delassus: " in line]


def test_same_bits_on_any_number_of_ranks():
    run("run", "balls.yaml", "-o", "alone.h5", "-q")
    for ranks in (1, 2, 3, 4):
        done = mpirun(ranks, "run", "balls.yaml", "-o", f"ranks{ranks}.h5", "-q")
        assert done.stdout.count("finished") == 1, done.stdout
        same = pathlib.Path("alone.h5.checkpoint").read_bytes() == pathlib.Path(f"ranks{ranks}.h5.checkpoint").read_bytes()
        assert same, f"{ranks} ranks"


def test_resumed_on_another_number_of_ranks():
    mpirun(2, "run", "balls.yaml", "-o", "parts.h5", "-q", "--until", "0.001")
    mpirun(3, "run", "balls.yaml", "-o", "parts.h5", "-q", "--resume")
    summary = [re.search(r"state\s+(\w+)", run("run", "balls.yaml", "-o", path, "-q", "--resume").stdout)[1]
               for path in ("alone.h5", "parts.h5")]
    assert summary[0] == summary[1], summary


def children(job):
    """Processes that mpirun itself started on this machine: the ranks."""
    listed = pathlib.Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split()
    return sorted(map(int, listed))


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_killed_rank_ends_all_and_the_run_goes_on_from_its_checkpoint():
    words = ("run", "balls.yaml", "-o", "killed.h5", "-q", "--set", "time.until=0.01", "--set", "run.checkpoint_interval=1e-3")
    job = subprocess.Popen(command(2, *words), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    limit = time.monotonic() + 60
    while not os.path.exists("killed.h5.checkpoint") and time.monotonic() < limit:
        time.sleep(0.05)
    ranks = children(job)
    assert len(ranks) == 2, ranks
    os.kill(ranks[-1], signal.SIGKILL)
    _, message = job.communicate(timeout=60)
    assert job.returncode != 0 and "signal 9" in message, message
    assert not any(map(is_alive, ranks))
    mpirun(2, "run", "balls.yaml", "-o", "killed.h5", "-q", "--resume", "--set", "run.checkpoint_interval=0",
           "--set", "time.until=0.01")
    done = run("run", "balls.yaml", "-o", "whole.h5", "-q", "--set", "time.until=0.01")
    resumed = run("run", "balls.yaml", "-o", "killed.h5", "-q", "--resume", "--set", "time.until=0.01",
                  "--set", "run.checkpoint_interval=0")
    hashes = [re.search(r"state\s+(\w+)", text.stdout)[1] for text in (done, resumed)]
    assert hashes[0] == hashes[1], hashes


def test_bad_scene_and_unwritable_results_are_told_once():
    lines = own_lines(mpirun(3, "run", "nothere.yaml", expect=2))
    assert len(lines) == 1 and "nothere.yaml" in lines[0], lines
    os.mkdir("results.h5")
    lines = own_lines(mpirun(2, "run", "balls.yaml", "-o", "results.h5", expect=2))
    assert len(lines) == 1 and "results.h5" in lines[0], lines


def test_ranks_that_run_other_scenes_end():
    words = ["mpirun", "-n", "1", PROGRAM, "run", "balls.yaml", "-o", "mixed.h5", "-q", ":",
             "-n", "1", PROGRAM, "run", "others.yaml", "-o", "mixed.h5", "-q"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    lines = own_lines(done)
    assert len(lines) == 1 and "rank 1 has another state than rank 0" in lines[0], done.stderr


def test_rank_that_fails_alone_ends_all():
    words = ["mpirun", "-n", "1", PROGRAM, "run", "balls.yaml", "-o", "lone.h5", "-q", ":",
             "-n", "1", PROGRAM, "run", "nothere.yaml", "-o", "lone.h5", "-q"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    lines = own_lines(done)
    assert len(lines) == 1 and "rank 1: delassus: nothere.yaml" in lines[0], done.stderr


def test_what_is_not_shared_is_done_once():
    assert mpirun(3, "--version").stdout.count("delassus ") == 1
    assert mpirun(2, "check", "balls.yaml").stdout.count("1859 dynamic") == 1


def test_program_without_mpi_says_so():
    shutil.copy(PROGRAM, "delassus")
    done = subprocess.run(["mpirun", "-n", "2", "./delassus", "run", "balls.yaml"], capture_output=True, text=True, timeout=60)
    lines = own_lines(done)
    assert done.returncode != 0 and len(lines) == 1 and "no delassus-mpi beside" in lines[0], done.stderr


if __name__ == "__main__":
    tap.main(globals())
