"""The state at the end of every stored scene, bit by bit, on one thread and on two, as tests/physics/hashes.txt has it.

A change that means to move code must not move a bit. One that mends a defect or changes a solver's policy may: it says
so, and records anew what it changed:

    DLS_RECORD_HASHES=1 tests/run --only test_hashes
"""
import concurrent.futures
import os
import pathlib
import re
import sys

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests", "support"))
import tap  # noqa: E402
from program import SOURCE, run_json  # noqa: E402

RECORDED = SOURCE / "tests/physics/hashes.txt"

# How far each scene is run, so that contacts close, slide and rest; and what is changed of it, after the name.
UNTIL = {
    "papers/001-3.2": 1, "papers/001-3.3": 0.5, "papers/001-3.4": 2, "papers/002-6.1": 0.2, "papers/002-6.2": 0.5,
    "papers/002-6.3": 0.2, "papers/002-6.4": 0.1, "papers/003-4.2": 0.5, "papers/003-4.3": 0.03,
    "papers/004-10.2": 0.4, "papers/004-10.5": 0.01, "papers/004-10.6": 0.3, "templates/drum": 0.3,
    "templates/filling": 1.1, "templates/newton-cradle": 0.3, "templates/shear": 0.4, "templates/silo": 0.35,
    "templates/stack": 0.5, "templates/hopper": 0.7, "templates/inlet": 0.5, "templates/heap": 0.4,
    "templates/gripper": 0.6, "templates/linkage": 0.8, "templates/pendulum-chain": 0.8, "templates/vehicle": 1.2,
    "templates/excavator": 1.8, "templates/ragdoll": 0.8, "templates/jelly": 0.5, "templates/arch": 0.4,
    "templates/tyres": 0.3,
}
VARIANTS = {
    "templates/drum": ["integrator.scheme=theta", "integrator.scheme=dvi", "integrator.operator=stored",
                       "solver=apgd", "solver=pqn"],
    "templates/incline": ["integrator.scheme=theta", "integrator.scheme=dvi", "integrator.operator=stored",
                          "solver=newton", "solver=ipm"],
    "papers/001-3.4": ["integrator.scheme=theta", "integrator.scheme=dvi", "integrator.operator=stored", "solver=nlgs"],
}


def built_as():
    """Compiler, optimisation and instruction set: bits are the same only where these are."""
    cache = pathlib.Path(os.environ["DLS_BUILD_DIR"], "CMakeCache.txt").read_text()
    value = {name: found for name, found in re.findall(r"^(\w+):\w+=(.*)$", cache, re.M)}
    compilers = pathlib.Path(os.environ["DLS_BUILD_DIR"]).glob("CMakeFiles/*/CMakeCCompiler.cmake")
    text = next(compilers).read_text()
    name, version = (re.search(rf'set\(CMAKE_C_COMPILER_{word} "([^"]*)"', text)[1] for word in ("ID", "VERSION"))
    parts = [name, version, value["CMAKE_BUILD_TYPE"], value["DELASSUS_ARCH"], value["DELASSUS_SANITIZE"]]
    return " ".join(part for part in parts if part)


def cases():
    for path in sorted(SOURCE.glob("scenes/*/*.yaml")):
        scene = f"{path.parent.name}/{path.stem}"
        yield scene, None
        for change in VARIANTS.get(scene, []):
            yield scene, change


def name_of(case):
    return " ".join(filter(None, case))


def state_of(case, threads):
    scene, change = case
    output = f"{name_of(case)}-{threads}.h5".replace("/", "-").replace(" ", "-").replace("=", "-")
    arguments = ["run", SOURCE / f"scenes/{scene}.yaml", "-o", output, "--threads", threads, "--quiet"]
    if scene in UNTIL:
        arguments += ["--until", UNTIL[scene]]
    if change:
        arguments += ["--solver", change.split("=")[1]] if change.startswith("solver=") else ["--set", change]
    return run_json(*arguments, expect=None, timeout=300)["state"]


def states(threads):
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return dict(zip(map(name_of, cases()), pool.map(lambda case: state_of(case, threads), cases())))


def test_states_as_recorded_on_one_thread_and_on_two():
    if os.environ.get("DLS_RECORD_HASHES"):
        lines = [f"{hash}  {name}" for name, hash in states(1).items()]
        RECORDED.write_text("\n".join([f"# {built_as()}"] + lines) + "\n")
    head, *lines = RECORDED.read_text().splitlines()
    if head != f"# {built_as()}":
        raise tap.Skip(f"recorded with {head[2:]}, this is {built_as()}")
    recorded = dict(reversed(line.split("  ", 1)) for line in lines)
    for threads in 1, 2:
        found = states(threads)
        moved = [f"{name}: {found.get(name)}, recorded {recorded.get(name)}"
                 for name in sorted({*found, *recorded}) if found.get(name) != recorded.get(name)]
        assert not moved, f"on {threads} threads\n" + "\n".join(moved)


tap.main(globals())
