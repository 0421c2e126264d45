"""Tests as plain functions named test_*, reported as TAP: `tap.main(globals())` at the end of a script."""
import atexit
import os
import shutil
import sys
import tempfile
import traceback


def work_in_a_folder_of_its_own():
    """tests/run gives every suite an empty folder; started by hand it makes one, so that nothing is left behind."""
    if not os.listdir():
        return
    for name in ("DELASSUS", "DLS_BUILD_DIR", "DLS_SOURCE_DIR", "DLS_SHARED"):
        if name in os.environ:
            os.environ[name] = os.path.abspath(os.environ[name])
    here, folder = os.getcwd(), tempfile.mkdtemp(prefix="delassus-test-")
    sys.path[:] = [os.path.join(here, path) for path in sys.path]
    os.chdir(folder)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)


work_in_a_folder_of_its_own()


class Skip(Exception):
    """Raised by a test that cannot run here; the text says why."""


def needs_speed():
    """For tests of whole runs whose code smaller tests reach as well: under a sanitizer they would take minutes."""
    if float(os.environ.get("DLS_TEST_SCALE", 1)) < 1:
        raise Skip("takes minutes under a sanitizer")


def main(names):
    tests = [(name, function) for name, function in names.items() if name.startswith("test_")]
    failed = 0
    print(f"1..{len(tests)}")
    for number, (name, function) in enumerate(tests, 1):
        title = name.removeprefix("test_").replace("_", " ")
        try:
            function()
        except Skip as skip:
            print(f"ok {number} - {title} # SKIP {skip}")
        except Exception:
            failed += 1
            print(f"not ok {number} - {title}")
            print("\n".join("# " + line for line in traceback.format_exc().splitlines()))
        else:
            print(f"ok {number} - {title}")
        sys.stdout.flush()
    sys.exit(1 if failed else 0)
