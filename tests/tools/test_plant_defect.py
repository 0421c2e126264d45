"""tools/plant_defect: a noticed and an unnoticed defect, and what it refuses, in a small made-up repository."""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tap  # noqa: E402

PRESETS = '{"version": 3, "configurePresets": [{"name": "release", "binaryDir": "${sourceDir}/build"}]}'
LISTS = """cmake_minimum_required(VERSION 3.22)
project(made_up NONE)
file(READ sum text)
if(text MATCHES broken)
  message(FATAL_ERROR "broken")
endif()
"""
SUITE = """. "$DLS_SOURCE_DIR/sum"
echo 1..1
[ $((a + a)) = 4 ] && echo ok 1 - twice || echo not ok 1 - twice
"""


def plant(*defects):
    """Plants one after the other in one repository; returns status and output of the last."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "tests" / "cli").mkdir(parents=True)
        shutil.copy(ROOT / "tests" / "run", root / "tests" / "run")
        (root / "tests" / "cli" / "test_made_up.sh").write_text(SUITE)
        (root / "CMakePresets.json").write_text(PRESETS)
        (root / "CMakeLists.txt").write_text(LISTS)
        (root / "sum").write_text("a=2 # a comment\n")
        for defect in defects:
            done = subprocess.run([ROOT / "tools" / "plant_defect", *defect, "--root", root],
                                  capture_output=True, text=True)
        assert (root / "sum").read_text() == "a=2 # a comment\n"
        return done.returncode, done.stdout + done.stderr


def test_noticed_defect():
    status, output = plant(("sum", "a=2", "a=3", "made_up"))
    assert status == 0 and output == "noticed by cli/test_made_up: twice\n", (status, output)


def test_unnoticed_defect_after_a_noticed_one():
    status, output = plant(("sum", "a=2", "a=3"), ("sum", "comment", "word"))
    assert status == 1 and output == "sum: no test noticed the defect\n", (status, output)


def test_text_that_is_not_unique_is_refused():
    status, output = plant(("sum", "a", "b"))
    assert status == 2 and "occurs 2 times" in output, (status, output)
    status, output = plant(("sum", "c=2", "c=3"))
    assert status == 2 and "occurs 0 times" in output, (status, output)


def test_a_tree_that_does_not_build():
    status, output = plant(("sum", "a=2", "broken"))
    assert status == 2 and "does not build" in output, (status, output)


def test_unknown_suite():
    status, output = plant(("sum", "a=2", "a=3", "nothing"))
    assert status == 2 and "no suite is called 'nothing'" in output, (status, output)


tap.main(globals())
