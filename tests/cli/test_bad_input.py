"""What a user can get wrong: one clear line, exit 2, and nothing lost."""
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests", "support"))
import tap  # noqa: E402
from program import only_these, problem, refuses, run  # noqa: E402

READERS = [["solve"], ["info"], ["export", "--matrix-market", "exported"], ["compare"]]


def every_reader_refuses(path, *words):
    for command in READERS:
        refuses(command[0], path, *command[1:], words=[str(path), *words])


def test_missing_file():
    every_reader_refuses("absent.hdf5")


def test_folder_instead_of_a_file():
    pathlib.Path("folder.hdf5").mkdir()
    every_reader_refuses("folder.hdf5")


BALL = """delassus: 1
dimension: 3
time: {step: 0.005, until: 0.01}
materials: {steel: {density: 7800}}
bodies:
  - {shape: {kind: sphere, radius: 0.1}, material: steel}
"""


def no_files():
    """What can be named like a file and would never end, or never begin, to be read."""
    pathlib.Path("folder").mkdir(exist_ok=True)
    if not os.path.exists("pipe"):
        os.mkfifo("pipe")
        socket.socket(socket.AF_UNIX).bind("socket")
    return {"pipe": "a named pipe", "folder": "a folder", "/dev/zero": "a device", "socket": "a socket"}


def test_what_is_no_file_is_refused_by_every_reader():
    for path, kind in no_files().items():
        for command in (["solve"], ["info"], ["export", "--matrix-market", "exported"], ["compare"]):
            refuses(command[0], path, *command[1:], words=[f"{path}: {kind}", ", expected a file"], timeout=20)
        for command in (["check"], ["run", "-q"]):
            refuses(*command, path, words=[f"{path}: {kind}", ", expected a scene"], timeout=20)
        for command in (["analyze"], ["picture"], ["export", "--csv", "exported"]):
            refuses(command[0], path, *command[1:], words=[f"{path}: {kind}", ", expected a file"], timeout=20)


def test_what_is_no_file_is_refused_as_a_mesh():
    for path, kind in no_files().items():
        pathlib.Path("mesh.yaml").write_text(BALL + f"  - {{motion: static, shape: {{kind: mesh, file: {path}}}}}\n")
        refuses("check", "mesh.yaml", words=["mesh.yaml:7", f"{path}: {kind}", ", expected a file"], timeout=20)


def test_what_is_no_file_is_refused_as_results_and_checkpoint():
    pathlib.Path("ball.yaml").write_text(BALL)
    run("run", "ball.yaml", "-o", "ball.h5", "-q")
    for path, kind in no_files().items():
        pathlib.Path("ball.h5.checkpoint").unlink()
        pathlib.Path("ball.h5.checkpoint").symlink_to(pathlib.Path(path).absolute())
        refuses("run", "ball.yaml", "-o", "ball.h5", "-q", "--resume", timeout=20,
                words=[f"ball.h5.checkpoint: {kind}", ", expected a checkpoint"])
        refuses("run", "ball.yaml", "-o", path, "-q", words=[path, "expected"], timeout=20)


def test_files_and_pipes_as_standard_input():
    pathlib.Path("ball.yaml").write_text(BALL)
    for command, path in (("check", "ball.yaml"), ("info", problem())):
        with open(path, "rb") as stream:
            run(command, "/dev/stdin", stdin=stream)
        with subprocess.Popen(["sh", "-c", f"sleep 0.2; cat {path}"], stdout=subprocess.PIPE) as slow:
            run(command, "/dev/stdin", stdin=slow.stdout)


def test_empty_file():
    pathlib.Path("empty.hdf5").write_bytes(b"")
    every_reader_refuses("empty.hdf5")


def test_random_bytes():
    generator = random.Random(1)
    for number in range(5):
        path = pathlib.Path(f"random{number}.hdf5")
        path.write_bytes(generator.randbytes(4000))
        refuses("solve", path, words=[str(path)])
    every_reader_refuses("random0.hdf5")


def test_truncated_files():
    whole = problem().read_bytes()
    for part in (8, 100, 600, len(whole) // 3, len(whole) // 2, len(whole) - 1):
        pathlib.Path("short.hdf5").write_bytes(whole[:part])
        refuses("solve", "short.hdf5", words=["short.hdf5"])
    every_reader_refuses("short.hdf5")


def test_a_bad_file_among_good_ones():
    done = run("info", problem(), "absent.hdf5", problem(), expect=2)
    assert done.stdout.count("contacts   ") == 2 and done.stderr.count("\n") == 1


def test_control_characters_stay_out_of_messages():
    assert "\033" not in refuses("solve", "a\033[31mb\nc.hdf5")


def test_unknown_names_are_answered_with_the_nearest():
    refuses("sovle", words=["'sovle'", "'delassus solve'"])
    refuses("--vresion", words=["--version"])
    refuses("help", "comprae", words=["compare"])
    refuses("solve", problem(), "--tolerence", "1", words=["--tolerence", "--tol"])
    refuses("solve", problem(), "--time", "1", words=["--time-limit"])
    refuses("solve", problem(), "-x", words=["'-x'"])
    refuses("solve", problem(), "--solver", "nlsg", words=["'nlsg'", "'nlgs'"])
    refuses("solve", problem(), "--solver", "nlgs:epb", words=["'epb'", "'ebp'"])
    refuses("solve", problem(), "--law", "exatc", words=["'exatc'", "'exact'"])
    refuses("solve", problem(), "--solver", "nlgs", "--set", "windwo=3", words=["'windwo'", "'window'"])
    refuses("solve", problem(), "--solver", "nlgs", "--set", "order=colored", words=["colored", "coloured"])
    refuses("generate", "pakcing", "-o", "x.hdf5", words=["'pakcing'", "'packing'"])
    refuses("solvers", "ipads", words=["'ipads'", "'ipdas'"])


def test_bad_numbers():
    for value in ("abc", "", "1e-8x", "nan", "-1", "0x"):
        refuses("solve", problem(), "--tol", value, words=["tolerance", f"'{value}'"])
        refuses("compare", problem(), "--tol", value, words=["--tol"])
    refuses("solve", problem(), "--max-iter", "2.5", words=["max_iterations", "whole"])
    refuses("solve", problem(), "--threads", "0", words=["threads"])
    refuses("solve", problem(), "--repeat", "0", words=["--repeat", "from 1 up"])
    refuses("solve", problem(), "--repeat", "1e99", words=["--repeat"])
    refuses("compare", problem(), "--time-limit", "inf", words=["--time-limit"])
    refuses("compare", problem(), "--tol", "1e-4,,1e-6", words=["--tol"])
    refuses("compare", problem(), "--tol", "1e-4,0.0001", words=["--tol", "twice"])
    refuses("compare", problem(), "--solvers", "nlgs,nlgs", words=["--solvers", "twice"])
    refuses("generate", "packing", "--size", "-3", "-o", "x.hdf5", words=["--size"])
    refuses("generate", "packing", "--mu", "-0.1", "-o", "x.hdf5", words=["--mu"])


def test_bad_usage():
    run(expect=2)
    refuses("solve", words=["FILE", "delassus help solve"])
    refuses("solve", problem(), "another.hdf5", words=["another.hdf5"])
    refuses("solve", problem(), "--tol", words=["--tol", "value"])
    refuses("solve", problem(), "--json=yes", words=["--json"])
    refuses("solve", problem(), "--set", "window", words=["'window'", "key=value"])
    refuses("solve", problem(), "--set", "=3", words=["key=value"])
    refuses("solve", problem(), "-s", "x" * 200, words=["too long"])
    refuses("solve", problem(), "-o", "same", "--trace", "same", words=["same"])
    refuses("generate", "stack", words=["-o FILE"])
    refuses("export", problem(), words=["--matrix-market"])


def test_outputs_that_cannot_be():
    pathlib.Path("folder").mkdir(exist_ok=True)
    pathlib.Path("file").write_text("kept")
    for path in ("folder", "nowhere/out", "file/out", "/dev/full"):
        refuses("solve", problem(), "-o", path, words=[path, "cannot be written"])
        refuses("generate", "stack", "-o", path, words=[path, "cannot be written"])
    for path in ("folder", "nowhere/out", "file/out"):
        refuses("solve", problem(), "--trace", path, words=[path, "cannot be written"])
    refuses("compare", problem(), "-o", "file", words=["file"])
    done = run("solve", problem(), "--trace", "/dev/full", expect=2)
    assert done.stderr.count("\n") == 1 and "/dev/full" in done.stderr and os.path.exists("/dev/full"), done.stderr
    assert pathlib.Path("file").read_text() == "kept" and os.listdir("folder") == []


def test_full_disk_leaves_the_former_file():
    pathlib.Path("disk").mkdir()
    for name, arguments in {
        "old.hdf5": ["solve", problem(), "-o", "disk/old.hdf5"],
        "old.csv": ["solve", problem("packing", 300), "--max-iter", "300", "--trace", "disk/old.csv"],
        "new.hdf5": ["generate", "packing", "--size", "500", "-o", "disk/new.hdf5"],
    }.items():
        pathlib.Path("disk", name).write_text("kept")
        done = run(*arguments, expect=2, limit=4096)
        assert done.stderr.count("\n") == 1 and f"disk/{name}" in done.stderr, done.stderr
        assert pathlib.Path("disk", name).read_text() == "kept", name
    only_these("disk", "old.hdf5", "old.csv", "new.hdf5")


def test_full_disk_during_a_comparison():
    done = run("compare", problem(), problem("discs", 60), "--solvers", "nlgs:exact,nlgs:ebp,nlgs:eal", "-o",
               "figures", expect=2, limit=4096)
    assert "figures/comparison.csv" in done.stderr and done.stderr.count("\n") == 1, done.stderr
    only_these("figures")


def test_full_standard_output():
    for command in (["solve", problem()], ["info", problem()], ["solvers"], ["--help"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([os.environ["DELASSUS"], *command], stdout=full, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 2 and "standard output" in done.stderr, (command, done)


def test_unwritable_folder():
    if os.geteuid() == 0:
        raise tap.Skip("the superuser may write everywhere")
    pathlib.Path("closed").mkdir()
    os.chmod("closed", 0o500)
    refuses("solve", problem(), "-o", "closed/out.hdf5", words=["closed/out.hdf5"])
    refuses("solve", problem(), "--trace", "closed/trace.csv", words=["closed/trace.csv"])


def test_a_refused_command_makes_no_file():
    shutil.rmtree("untouched", ignore_errors=True)
    pathlib.Path("untouched").mkdir()
    refuses("solve", "absent.hdf5", "-o", "untouched/out", "--trace", "untouched/trace")
    refuses("generate", "stack", "--mu", "x", "-o", "untouched/out")
    only_these("untouched")


tap.main(globals())
