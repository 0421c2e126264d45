"""tests/run: counts, skips, crashes, time-outs and silent suites, in a small made-up repository."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tap  # noqa: E402


def run(script, *arguments):
    """Runs a copy of tests/run on one shell suite; returns the exit status and the lines printed."""
    with tempfile.TemporaryDirectory() as folder:
        tests = pathlib.Path(folder, "tests")
        (tests / "cli").mkdir(parents=True)
        shutil.copy(ROOT / "tests" / "run", tests / "run")
        (tests / "cli" / "test_made_up.sh").write_text(script)
        done = subprocess.run([tests / "run", *arguments], capture_output=True, text=True)
        assert done.stderr == "", done.stderr
        return done.returncode, done.stdout.splitlines()


def test_passing_suite():
    status, lines = run("echo 1..2; echo ok 1 - a; echo ok 2 - b")
    assert status == 0 and lines[-1] == "2 passed, 0 failed", lines


def test_failing_test_shows_its_output():
    status, lines = run("echo 1..2; echo ok 1 - a; echo the reason; echo not ok 2 - b; exit 1")
    assert status == 1 and lines[-1] == "1 passed, 1 failed", lines
    assert "the reason" in lines and "FAILED cli/test_made_up: b" in lines, lines


def test_skips_in_both_spellings():
    status, lines = run("echo 1..3; echo ok 1 - a; echo 'ok 2 - b # SKIP no data'; echo 'not ok 3 # SKIP c'")
    assert status == 0 and lines[-2:] == ["2 skipped", "1 passed, 0 failed"], lines
    assert "skipped cli/test_made_up: b no data" in lines, lines


def test_crash_after_passing_tests():
    status, lines = run("echo ok 1 - a; kill -SEGV $$")
    assert status == 1 and lines[-1] == "1 passed, 1 failed", lines


def test_missing_results_fail():
    status, lines = run("echo 1..3; echo ok 1 - a")
    assert status == 1 and "FAILED cli/test_made_up: only 1 of 3 tests ran" in lines, lines


def test_silent_suite_fails():
    status, lines = run("true")
    assert status == 1 and lines[-1] == "0 passed, 1 failed", lines


def test_time_out_ends_the_whole_group():
    status, lines = run("echo ok 1 - a; sleep 60 & wait", "--timeout", "0.5")
    assert status == 1 and "FAILED cli/test_made_up: stopped after 0.5 s" in lines, lines


def test_no_suite_is_no_success():
    status, lines = run("echo ok 1 - a", "--only", "nothing")
    assert status == 1 and lines[-1] == "0 passed, 0 failed", lines


tap.main(globals())
