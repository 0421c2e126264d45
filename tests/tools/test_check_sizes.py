"""tools/check_sizes: the repository obeys it, and it finds long files, too many long functions and vague names."""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tap  # noqa: E402


def function(lines):
    return "static int f(void) {\n" + "    g();\n" * (lines - 2) + "}\n"


def check(name, content):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, name)
        path.parent.mkdir(parents=True)
        path.write_text(content)
        run = subprocess.run([ROOT / "tools" / "check_sizes", "--root", folder], capture_output=True, text=True)
        assert run.stderr == "" and (run.returncode == 0) == (run.stdout == ""), run
        return run.stdout


def test_repository_obeys():
    run = subprocess.run([ROOT / "tools" / "check_sizes"], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_few_long_functions_pass():
    assert check("src/base/memory.c", function(5) * 19 + function(61)) == ""


def test_many_long_functions_fail():
    assert "2 of 20 functions exceed 60 lines" in check("src/base/memory.c", function(5) * 18 + function(61) * 2)


def test_long_file_fails():
    assert check("src/base/memory.c", "\n" * 800) == ""
    assert "801 lines" in check("src/base/memory.c", "\n" * 801)


def test_vague_name_fails():
    assert "says nothing" in check("src/base/util.c", "")
    assert "says nothing" in check("src/solve/nlgs_new.c", "")


tap.main(globals())
