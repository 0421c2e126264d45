"""Runs the delassus program in tests: exit status, output, files it must make or leave alone."""
import json
import os
import pathlib
import resource
import signal
import subprocess

PROGRAM = os.environ["DELASSUS"]
SOURCE = pathlib.Path(os.environ["DLS_SOURCE_DIR"])

# Whoever starts the tests under nohup has SIGHUP ignored in all that they start: the program then goes on by design.
signal.signal(signal.SIGHUP, signal.SIG_DFL)

# Fontconfig, below the figures, keeps its caches to the end behind pointers that the leak checker cannot follow.
pathlib.Path("leaks.txt").write_text("leak:libfontconfig\n")
os.environ["LSAN_OPTIONS"] = f"suppressions={os.path.abspath('leaks.txt')}:print_suppressions=0"


def run(*arguments, expect=0, limit=None, timeout=120, **options):
    """Runs the program; `limit` is the largest file that it may write, in bytes; `expect` None takes any status."""
    def set_limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=timeout,
                          preexec_fn=set_limit if limit is not None else None, **options)
    assert expect is None or done.returncode == expect, f"exit {done.returncode}, expected {expect}\n{done.stdout}\n{done.stderr}"
    return done


def refuse_constant(text):
    raise ValueError(f"{text} is no JSON")


def run_json(*arguments, expect=0, **options):
    return json.loads(run(*arguments, "--json", expect=expect, **options).stdout, parse_constant=refuse_constant)


def refuses(*arguments, words=(), **options):
    """Exit 2, nothing on stdout, and one line on stderr that holds all the words."""
    done = run(*arguments, expect=2, **options)
    assert done.stdout == "", done.stdout
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("delassus: "), done.stderr
    for word in words:
        assert word in lines[0], f"'{word}' is not in: {lines[0]}"
    return lines[0]


def problem(kind="stack", size=60, mu=0.4, seed=1):
    """The path of a generated problem, made once per suite."""
    path = pathlib.Path(f"{kind}_{size}_{mu}_{seed}.hdf5")
    if not path.exists():
        run("generate", kind, "--size", size, "--mu", mu, "--seed", seed, "-o", path)
    return path


def only_these(folder, *names):
    """No file aside is left behind."""
    found = sorted(path.name for path in pathlib.Path(folder).iterdir())
    assert found == sorted(names), found
