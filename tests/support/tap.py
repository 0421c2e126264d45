"""Tests as plain functions named test_*, reported as TAP: `tap.main(globals())` at the end of a script."""
import sys
import traceback


class Skip(Exception):
    """Raised by a test that cannot run here; the text says why."""


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
