"""The wheel, installed offline in a fresh environment: it runs a scene and draws it; stubs say what the module has."""
import ast
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import binding  # noqa: E402
import tap  # noqa: E402
import delassus  # noqa: E402

CLEAN = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "DELASSUS", "DLS_BINDING")}
TRY = """
import sys, delassus
run = delassus.Scene.template("newton-cradle", {"time.until": 0.05}).run("run.h5")
print(run.end, delassus.picture("run.h5"), delassus.__file__.startswith(sys.prefix), delassus.program().startswith(sys.prefix))
"""


def run(*words, **more):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def refuse_sanitizers():
    if binding.BUILD.name == "asan":
        raise tap.Skip("a program with sanitizers is no wheel")


def test_a_wheel_installs_offline_and_runs():
    refuse_sanitizers()
    wheel = run(ROOT / "tools" / "make_wheel", "--build", binding.BUILD, "-o", "wheel")
    assert wheel.endswith("-py3-none-linux_x86_64.whl"), wheel
    run(sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", "fresh", env=CLEAN)
    pip, = pathlib.Path("/usr/share/python-wheels").glob("pip-*.whl")  # what Debian's venv would copy, which takes seconds
    run("fresh/bin/python", pip / "pip", "install", "--no-index", "--no-deps", "--quiet", wheel, env=CLEAN)
    assert run("fresh/bin/python", "-c", TRY, env=CLEAN) == "finished run.png True True"
    again = pathlib.Path(wheel).read_bytes()
    run(ROOT / "tools" / "make_wheel", "--build", binding.BUILD, "-o", "wheel")
    assert pathlib.Path(wheel).read_bytes() == again, "the same build gives another wheel"


def test_stubs_have_every_public_name_and_every_option():
    refuse_sanitizers()
    run(ROOT / "tools" / "make_stubs", "--build", binding.BUILD, "-o", "stubs")
    trees = {path.stem: ast.parse(path.read_text()) for path in pathlib.Path("stubs").glob("*.pyi")}
    assert set(trees) == {path.stem for path in (ROOT / "python" / "delassus").glob("*.py")}
    defined = {node.name for tree in trees.values() for node in ast.walk(tree)
               if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
    assert not set(delassus.__all__) - defined - {"shapes"}
    simulation = next(node for node in trees["simulation"].body if isinstance(node, ast.ClassDef))
    begin = next(node for node in simulation.body if getattr(node, "name", "") == "__init__")
    keys = {argument.arg: ast.unparse(argument.annotation) for argument in begin.args.kwonlyargs if argument.annotation}
    assert keys["theta"] == "float" and keys["warm_start"] == "bool" and "closed" in keys["entering"] and keys["law"] == "str"


tap.main(globals())
