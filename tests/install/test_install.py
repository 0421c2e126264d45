"""The installed library: complete, movable, usable through pkg-config and CMake, and exporting its API only."""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tap  # noqa: E402

EXAMPLE = ROOT / "examples" / "solve_one_contact.c"
ANSWER = "converged: r = (1.000000, -0.300000, 0.000000) N s, u = (0.000000, 1.700000, 0.000000) m/s\n"
PILE = ROOT / "examples" / "step_a_world.c"
PILE_ANSWER = """t = 2.00 s: 20 contacts, all of 2000 steps certified
at rest: yes
force on the floor: 9.810 N, weight of the balls: 9.810 N
"""
HINGE_ANSWER = """t = 5.00 s: the arm stands at 30.000 degrees, the joint is off by less than 1e-6 m: yes
torque of the servo: 8.496 N m, weight times lever: 8.496 N m
force of the hinge: 19.620 N, weight: 19.620 N
"""
SYSTEM_ANSWER = """t = 0.3: x = 0.0000, y = 0.5586, force (0.000, 0.000) N, falls
t = 0.6: x = -0.1726, y = 0.1000, force (9.810, -1.962) N, slides
t = 0.9: x = -0.5851, y = 0.1000, force (9.810, 0.000) N, rolls
t = 1.2: x = -1.0137, y = 0.1000, force (9.810, 0.000) N, rolls
t = 1.5: x = -1.4422, y = 0.1000, force (9.810, 0.000) N, rolls
t = 1.8: x = -1.8708, y = 0.1000, force (9.810, 0.000) N, rolls
"""
STRICT = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only"]

HERE = pathlib.Path.cwd()
PREFIX = HERE / "moved"
LIB = PREFIX / "lib"
ENVIRONMENT = {**os.environ, "PKG_CONFIG_PATH": str(LIB / "pkgconfig"), "LD_LIBRARY_PATH": str(LIB)}


def run(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


def answer(program):
    return run(program).replace("-0.000000", "0.000000")


def needed_libraries(program):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-d", program))


def public_headers():
    return sorted((ROOT / "include" / "delassus").glob("*.h"))


def declared_functions():
    text = "".join(header.read_text() for header in public_headers())
    return set(re.findall(r"DLS_API[^;(]*?\b(dls_\w+)\(", text))


def test_installs_and_moves():
    run("cmake", "--install", os.environ["DLS_BUILD_DIR"], "--prefix", HERE / "first")
    (HERE / "first").rename(PREFIX)
    for name in ("libdelassus.a", "libdelassus.so", "pkgconfig/delassus.pc", "cmake/delassus/delassusConfig.cmake"):
        assert (LIB / name).is_file(), name
    installed = sorted(path.name for path in (PREFIX / "include" / "delassus").iterdir())
    assert installed == [path.name for path in public_headers()]


def test_program_runs():
    assert "delassus" in run(PREFIX / "bin" / "delassus", "--help")
    assert not any("delassus" in name for name in needed_libraries(PREFIX / "bin" / "delassus"))


def test_example_with_pkg_config_shared():
    flags = run("pkg-config", "--cflags", "--libs", "delassus").split()
    run("cc", EXAMPLE, *flags, "-o", HERE / "shared")
    assert answer(HERE / "shared") == ANSWER
    assert any(name.startswith("libdelassus.so.") for name in needed_libraries(HERE / "shared"))
    run("cc", PILE, *flags, "-o", HERE / "pile")
    assert run(HERE / "pile") == PILE_ANSWER


def test_example_with_pkg_config_static():
    flags = run("pkg-config", "--static", "--cflags", "--libs", "delassus").split()
    flags = ["-l:libdelassus.a" if flag == "-ldelassus" else flag for flag in flags]
    run("cc", EXAMPLE, *flags, "-o", HERE / "static")
    assert answer(HERE / "static") == ANSWER
    assert not any("delassus" in name for name in needed_libraries(HERE / "static"))


def test_example_with_cmake_shared_and_static():
    run("cmake", "-S", ROOT / "examples", "-B", HERE / "cmake", f"-DCMAKE_PREFIX_PATH={PREFIX}")
    run("cmake", "--build", HERE / "cmake")
    assert answer(HERE / "cmake" / "solve_one_contact") == ANSWER
    assert answer(HERE / "cmake" / "solve_one_contact_static") == ANSWER
    assert run(HERE / "cmake" / "step_a_world") == PILE_ANSWER
    assert run(HERE / "cmake" / "joints") == HINGE_ANSWER
    assert run(HERE / "cmake" / "system_by_callbacks") == SYSTEM_ANSWER
    scene = HERE / "cmake" / "run_a_scene"
    assert run(scene) == "t = 0.50 s by nlgs to 1e-09: all of 500 steps certified\n"
    template = ROOT / "scenes" / "templates" / "incline.yaml"
    assert run(scene, template, "time.until=0.1", "solver.name=pqn").startswith("t = 0.10 s by pqn to 1e-08: all of ")


def test_each_header_stands_alone_in_c_and_cxx():
    for header in public_headers():
        include = f"-I{PREFIX}/include"
        run("cc", "-std=c11", *STRICT, include, "-x", "c", PREFIX / "include" / "delassus" / header.name)
        run("g++", "-std=c++11", *STRICT, include, "-x", "c++", PREFIX / "include" / "delassus" / header.name)


def test_shared_library_exports_the_api_and_nothing_else():
    symbols = run("nm", "--dynamic", "--defined-only", "--format=posix", LIB / "libdelassus.so")
    exported = {line.split()[0].split("@")[0] for line in symbols.splitlines()}
    declared = declared_functions()
    assert declared and exported == declared, (exported - declared, declared - exported)


tap.main(globals())
