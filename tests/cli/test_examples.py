"""The shipped problems are those that `delassus generate` makes, and they solve."""
import os
import pathlib
import shlex
import sys

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests", "support"))
import tap  # noqa: E402
from program import SOURCE, run, run_json  # noqa: E402

PROBLEMS = sorted((SOURCE / "examples/problems").glob("*.hdf5"))


def numbers(path, part):
    """The numbers of one exported part, in order."""
    run("export", path, "--matrix-market", "part")
    lines = pathlib.Path(f"part_{part}.mtx").read_text().splitlines()
    return [float(number) for line in lines if not line.startswith("%") for number in line.split()]


def test_they_are_there_and_small():
    assert {path.stem for path in PROBLEMS} == {"packing", "stack", "discs"}
    assert sum(path.stat().st_size for path in PROBLEMS) <= 350_000


def test_generate_makes_them_again():
    for path in PROBLEMS:
        shipped = run_json("info", path)
        command = shlex.split(shipped["description"].split(": delassus ")[1])
        run(*command, "-o", "again.hdf5")
        again = run_json("info", "again.hdf5")
        for key in ("title", "description", "math_info", "contacts", "rows", "stored_blocks", "rank", "mu_low"):
            assert shipped[key] == again[key], (path, key)
        for part in ("W", "q", "mu"):  # other compilers may round otherwise
            old, new = numbers(path, part), numbers("again.hdf5", part)
            scale = max(map(abs, old))
            assert len(old) == len(new) and all(abs(a - b) <= 1e-12 * scale for a, b in zip(old, new)), (path, part)


def test_they_solve():
    for path in PROBLEMS:
        assert run_json("solve", path, "--tol", "1e-8")["measures"]["residual"] <= 1e-8, path


tap.main(globals())
