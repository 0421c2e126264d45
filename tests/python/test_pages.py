"""Pages, pictures and reports of results that are damaged, foreign, empty or not numbers, and of odd names: a line, never a crash."""
import ctypes
import os
import pathlib
import random
import struct
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import binding  # noqa: E402, F401
import tap  # noqa: E402
import delassus  # noqa: E402
from delassus import _c  # noqa: E402
from delassus._library import checked, lib, new_pointer  # noqa: E402

COMMANDS = {"view": ["view", "{}", "-o", "out.html"], "picture": ["picture", "{}", "-o", "out"],
            "film": ["picture", "{}", "--frames", "::", "-o", "frames"], "report": ["report", "{}", "-o", "out.html"]}
X = 0.12345678901234567  # found again by its bytes
NAME = "<script>alert('x')</script>&\"<img src=x onerror=alert(1)>"


def recorded(path):
    world = delassus.World()
    world.add_body(delassus.half_space(), name=NAME, motion="static")
    world.add_body(delassus.sphere(0.1), name=NAME + "2", position=(X, 0, 0.1))
    world.add_joint("distance", None, 1, point=(0, 0, 1), length=2, rope=True, name=NAME)
    delassus.Simulation(world, step=1e-2).run(0.03, results=path, title=NAME)
    return pathlib.Path(path)


def ran(words, path):
    """(exit code, standard error) of a command that may refuse, in one line, and then leaves nothing."""
    for name in ("out.html", "out.png", "out.svg"):
        pathlib.Path(name).unlink(missing_ok=True)
    done = subprocess.run([delassus.program(), *(word.format(path) for word in words)], capture_output=True, text=True, timeout=120)
    assert done.returncode in (0, 2), (words, done.returncode, done.stderr[-500:])
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        assert len(lines) == 1 and lines[0].startswith("delassus: "), done.stderr
        assert not any(pathlib.Path(name).exists() for name in ("out.html", "out.png", "out.svg")), words
    return done.returncode, done.stderr


def test_truncated_and_damaged_results():
    whole = recorded("whole.h5").read_bytes()
    chance, damaged = random.Random(1), pathlib.Path("damaged.h5")
    sizes = [0, 1, 7, 8, 511, 4096, len(whole) // 2, len(whole) - 1, *(chance.randrange(len(whole)) for _ in range(6))]
    for size in sizes:
        damaged.write_bytes(whole[:size])
        for words in COMMANDS.values():
            code, message = ran(words, damaged)
            assert code == 2 and "damaged.h5" in message, (size, words, message)
    for _ in range(12):
        torn = bytearray(whole)
        for _ in range(chance.choice((1, 8, 200))):
            torn[chance.randrange(len(torn))] = chance.randrange(256)
        damaged.write_bytes(torn)
        for words in COMMANDS.values():
            ran(words, damaged)


def test_foreign_files():
    pathlib.Path("text.h5").write_text("<html>\n")
    pathlib.Path("picture.h5").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    os.mkdir("folder.h5")
    for path in ("text.h5", "picture.h5", str(ROOT / "examples" / "problems" / "stack.hdf5"), "/dev/null", "nothing.h5"):
        for words in COMMANDS.values():
            code, message = ran(words, path)
            assert code == 2 and pathlib.Path(path).name in message, (path, words, message)
    for name in ("view", "picture", "film"):
        assert ran(COMMANDS[name], "folder.h5")[0] == 2


def test_results_without_frames():
    world = delassus.World()
    world.add_body(delassus.sphere(0.1))
    writer = new_pointer(_c.dls_results_writer, lib.dls_results_create, b"none.h5", world._owner.alive(),
                         ctypes.byref(_c.dls_results_def()))
    checked(lib.dls_results_close, writer, None)
    for name, words in COMMANDS.items():
        code, message = ran(words, "none.h5")
        assert (code, "frame" in message) == (2, True) or name == "report" and code == 0, (name, message)


def test_states_that_are_no_numbers():
    whole = recorded("whole.h5").read_bytes()
    places = [k for k in range(0, len(whole) - 8) if whole[k:k + 8] == struct.pack("<d", X)]
    assert places, "the file holds the place as it is"
    for number in (float("nan"), float("inf"), -1e300):
        torn = bytearray(whole)
        for at in places:
            torn[at:at + 8] = struct.pack("<d", number)
        pathlib.Path("nan.h5").write_bytes(torn)
        for words in COMMANDS.values():
            code, message = ran(words, "nan.h5")
            assert code == 2 and "nan.h5" in message, (number, words, message)


def test_names_are_shown_and_never_run():
    recorded("named.h5")
    for name in ("view", "report"):
        assert ran(COMMANDS[name], "named.h5")[0] == 0
        page = pathlib.Path("out.html").read_text()
        assert "alert(" not in page.replace("alert(&", "").replace("&lt;script&gt;alert(", "").replace("onerror=alert(1)&gt;", ""), name
        assert "<img src" not in page
    assert ran(COMMANDS["picture"], "named.h5")[0] == 0 and "<script" not in pathlib.Path("out.svg").read_text()


tap.main(globals())
