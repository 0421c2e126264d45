"""Makes `import delassus` find the module that was built, whichever Python has NumPy and whatever sanitizer is in it.

Import it before delassus: it may start the script anew.
"""
import importlib.util
import os
import pathlib
import subprocess
import sys

BUILD = pathlib.Path(os.environ.get("DLS_BUILD_DIR", pathlib.Path(__file__).resolve().parents[2] / "build")).resolve()


def needs():
    """(interpreter, environment) that this script has to run with."""
    interpreter, environment = sys.executable, dict(os.environ)
    if importlib.util.find_spec("numpy") is None:
        interpreter = "/usr/bin/python3"  # Debian's, for which scripts/setup installs NumPy
    if BUILD.name == "asan":
        library = subprocess.run(["gcc", "-print-file-name=libasan.so"], capture_output=True, text=True, check=True)
        environment["LD_PRELOAD"] = library.stdout.strip()
        # Python itself leaves memory to the end of the process; frees of what others allocated are still seen
        environment["ASAN_OPTIONS"] = "detect_leaks=0:" + environment.get("ASAN_OPTIONS", "")
    environment["PYTHONPATH"] = str(BUILD / "python")
    environment["DLS_BINDING"] = "ready"
    return interpreter, environment


if os.environ.get("DLS_BINDING") != "ready":
    program, settings = needs()
    os.execve(program, [program, *sys.argv], settings)

sys.path.insert(0, str(BUILD / "python"))


def raises(kind, text, function, *arguments, **keywords):
    """The call raises an error of this kind whose message holds this text; returns it."""
    try:
        function(*arguments, **keywords)
    except kind as error:
        assert text in str(error), f"'{error}' does not say '{text}'"
        return error
    raise AssertionError(f"{kind.__name__} was expected")
