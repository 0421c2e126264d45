"""Problems and laws of others: Matrix Market files read back, a law from a shared object, SciPy's way to FCLib."""
import csv
import os
import pathlib
import random
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests", "support"))
import tap  # noqa: E402
from program import SOURCE, problem, refuses, run, run_json  # noqa: E402

HEADER = "%%MatrixMarket matrix "


def exported(path, prefix):
    run("export", path, "--matrix-market", prefix)
    return f"{prefix}_W.mtx"


def corner(prefix="corner", **files):
    """Two frictional contacts of a ball in a corner, as SciPy would write them; files replace some."""
    H = [[0, 1, 0], [1, 0, 0.1], [1, 0, 0], [0, 1, -0.1]]
    M = [0.5, 0.5, 100]
    W = [[sum(m * x * y for m, x, y in zip(M, a, c)) for c in H] for a in H]
    entries = [(i + 1, k + 1, W[i][k]) for i in range(4) for k in range(4) if W[i][k]]
    texts = {"W": HEADER + f"coordinate real general\n4 4 {len(entries)}\n" + "".join(f"{i} {k} {v!r}\n" for i, k, v in entries),
             "q": HEADER + "array real general\n% velocities\n4 1\n-0.1\n-0.3\n-0.3\n-0.1\n",
             "mu": HEADER + "array real general\n2 1\n0.5\n0.2\n", **files}
    for name, text in texts.items():
        pathlib.Path(f"{prefix}_{name}.mtx").write_text(text)
    return f"{prefix}_W.mtx"


# ---- Matrix Market -----------------------------------------------------------------------------------------


def same_solve(one, other):
    """Same iterations and measures: the same problem to the last bit."""
    a, b = (run_json("solve", path, "--solver", "nlgs:exact", "--tol", "1e-6") for path in (one, other))
    for key in ("iterations", "measures"):
        assert a[key] == b[key], (one, key, a[key], b[key])


def test_what_export_writes_is_read_back():
    for kind in ("stack", "discs"):
        path = problem(kind, 40)
        same_solve(path, exported(path, kind))


def test_the_reference_velocity_goes_along():
    run("new", "stack", "-o", "stack.yaml")
    run("run", "stack.yaml", "--until", "0.01", "--set", "output.contacts=yes", "-q", "-o", "stack.h5")
    run("export", "stack.h5", "--frame", "1", "--fclib", "step.hdf5")
    assert pathlib.Path(exported("step.hdf5", "step").replace("_W", "_v_ref")).exists()
    same_solve("step.hdf5", "step_W.mtx")


def test_problems_that_fclib_has_no_word_for():
    """Rolling and spinning parts, bounds: only Matrix Market has them."""
    for kind in ("rolling", "mixed"):
        run("generate", kind, "--size", "30", "--seed", "3", "--matrix-market", kind)
        answer = run_json("solve", f"{kind}_W.mtx", "--tol", "1e-8", expect=None)
        assert answer["measures"]["residual"] <= 1e-8, (kind, answer["measures"])


def test_symmetric_dense_and_whole_numbers():
    plain = run_json("solve", corner(), "--tol", "1e-10")
    entries = [line.split() for line in pathlib.Path("corner_W.mtx").read_text().splitlines()[2:]]
    low = [e for e in entries if int(e[0]) >= int(e[1])]
    symmetric = HEADER + f"coordinate real symmetric\n4 4 {len(low)}\n" + "".join(" ".join(e) + "\n" for e in low)
    dense = {(int(i), int(k)): v for i, k, v in entries}
    array = HEADER + "array real general\n4 4\n" + "".join(dense.get((i, k), "0") + "\n" for k in range(1, 5) for i in range(1, 5))
    for text in (symmetric, array, symmetric.upper().replace("MATRIXMARKET", "matrixmarket")):
        again = run_json("solve", corner("again", W=text), "--tol", "1e-10")
        assert again["measures"] == plain["measures"]


def test_solution_as_fclib():
    run("solve", corner(), "--tol", "1e-10", "-o", "corner.hdf5")
    found = run_json("info", "corner.hdf5")
    assert found["contacts"] == 2 and found["solution_residual"] <= 1e-10
    refuses("solve", corner(), "--warm-start", words=["holds no solution"])


def test_compare_takes_both():
    answer = run_json("compare", problem("stack", 40), exported(problem("stack", 40), "both"), "--solvers", "nlgs:exact")
    assert [p["rows"] for p in answer["problems"]] == [answer["problems"][0]["rows"]] * 2
    run("compare", corner(), "--solvers", "nlgs:exact,nlgs:ebp", "--tol", "1e-8", "-o", "curves")
    with open("curves/curves.csv") as file:
        rows = list(csv.DictReader(file))
    assert rows and all(float(row["processor_seconds"]) >= 0 for row in rows)
    for name in ("curve_corner.svg", "time_corner.svg"):
        assert "<svg" in pathlib.Path("curves", name).read_text()


def test_bad_matrix_market():
    cases = [
        ("W", "hello\n", ["corner_W.mtx:1", "%%MatrixMarket"]),
        ("W", HEADER + "coordinate pattern general\n4 4 0\n", ["corner_W.mtx:1"]),
        ("W", HEADER + "coordinate real general\n4 4 2\n1 1 1\n", ["corner_W.mtx:4", "ends before"]),
        ("W", HEADER + "coordinate real general\n4 4 1\n5 1 1\n", ["corner_W.mtx:3", "within 4 × 4"]),
        ("W", HEADER + "coordinate real general\n4 4 1\n1 1 x\n", ["corner_W.mtx:3", "row column value"]),
        ("W", HEADER + "coordinate real general\n4 4 1\n1 1 1\n2 2 2\n", ["corner_W.mtx:4", "more than it states"]),
        ("W", HEADER + "coordinate real general\n4 5 1\n1 1 1\n", ["4 × 5", "4 × 4"]),
        ("W", HEADER + "coordinate real general\n0 0 0\n", ["corner_W.mtx:2", "sizes"]),
        ("W", HEADER + "coordinate real general\n4 4 1\n1 1 nan\n", ["corner_W.mtx"]),
        ("q", HEADER + "array real general\n3 1\n1\n2\n3\n", ["corner_q.mtx", "3 × 1", "4 × 1"]),
        ("q", HEADER + "coordinate real general\n4 1 1\n1 1 1\n", ["corner_q.mtx:1", "array"]),
        ("q", HEADER + "array real general\n4 1\n1\n2\n3\n", ["corner_q.mtx:6", "ends before"]),
        ("mu", HEADER + "array real general\n3 1\n1\n1\n1\n", ["4 rows for 3 friction coefficients"]),
        ("parts", HEADER + "array integer general\n2 5\n" + "2\n2\n1\n1\n1\n2\n0\n0\n0\n0\n", ["corner_parts.mtx", "block 2"]),
        ("bounds", HEADER + "array real general\n2 2\n1\n1\n1\n1\n", ["corner_bounds.mtx", "2 × 2"]),
        ("v_ref", HEADER + "array real general\n1 1\n-1\n", ["corner"]),
    ]
    for name, text, words in cases:
        path = corner(**{name: text})
        refuses("solve", path, words=words)
        if name not in ("W", "q", "mu"):
            pathlib.Path(f"corner_{name}.mtx").unlink()
    corner()
    refuses("solve", "corner_q.mtx", words=["corner_q.mtx", "PREFIX_W.mtx"])
    pathlib.Path("corner_mu.mtx").unlink()
    refuses("solve", "corner_W.mtx", words=["corner_mu.mtx"])


def test_broken_bytes_never_crash():
    corner()
    good, chance = pathlib.Path("corner_W.mtx").read_bytes(), random.Random(5)
    for _ in range(30):
        broken = bytearray(good)
        for _ in range(3):
            broken[chance.randrange(len(broken))] = chance.randrange(256)
        pathlib.Path("corner_W.mtx").write_bytes(broken)
        assert run("solve", "corner_W.mtx", expect=None).returncode in (0, 1, 2)


# ---- a law of one's own ------------------------------------------------------------------------------------


def law_object(name="my_law", text=None):
    path = pathlib.Path(f"{name}.so").resolve()
    if not path.exists():
        source = SOURCE / "examples" / "my_law.c"
        if text is not None:
            source = pathlib.Path(f"{name}.c")
            source.write_text(text)
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-I",
                        SOURCE / "include", source, "-o", path, "-lm"], check=True)
    return path


def test_own_law_solves():
    law = law_object()
    for path in (problem("stack", 60), problem("discs", 60), corner()):
        answer = run_json("solve", path, "--law-from", law, "--law", "uzawa", "--tol", "1e-8")
        assert answer["law"] == "uzawa" and answer["measures"]["residual"] <= 1e-8


def test_own_law_is_compared():
    run("compare", problem("stack", 60), "--law-from", law_object(), "--solvers", "nlgs:exact,nlgs:uzawa", "--tol", "1e-6",
        "-o", "laws")
    rows = list(csv.DictReader(open("laws/comparison.csv")))
    assert [row["solver"] for row in rows] == ["nlgs:exact", "nlgs:uzawa"] and all(row["solved"] == "1" for row in rows)


def test_a_law_that_crashes_costs_one_result():
    text = (SOURCE / "examples" / "my_law.c").read_text().replace("(void)data;", "(void)data; abort();").replace("#include <math.h>", "#include <math.h>\n#include <stdlib.h>")
    law = law_object("crashing", text)
    done = run("compare", problem("stack", 60), "--law-from", law, "--solvers", "nlgs:exact,nlgs:uzawa", expect=1)
    assert "crashed" in done.stdout, done.stdout


def test_a_wrong_law_is_not_certified():
    """The judge decides, not the law: one without De Saxcé's term slips wrongly and is not called solved."""
    text = (SOURCE / "examples" / "my_law.c").read_text().replace("u[0] += mu * sqrt(t);", "u[0] += 0 * mu * sqrt(t);")
    answer = run_json("solve", problem("packing", 60), "--law-from", law_object("relaxed", text), "--law", "uzawa", "--tol",
                      "1e-6", expect=1)
    assert answer["measures"]["residual"] > 1e-4


def test_objects_that_are_none():
    pathlib.Path("text.so").write_text("no object")
    other = law_object("other", "int nothing;\n")
    old = law_object("old", "#include <delassus/law.h>\nconst dls_law *delassus_law(size_t n, int i);\n"
                            "const dls_law *delassus_law(size_t n, int i) { (void)n; (void)i; return NULL; }\n")
    twice = law_object("twice", (SOURCE / "examples" / "my_law.c").read_text().replace('"uzawa"', '"exact"'))
    for path, words in (("nowhere.so", ["no such file"]), ("./text.so", ["cannot be loaded"]), (other, ["delassus_law"]),
                        (old, ["no law for this version"]), (twice, ["exact"])):
        refuses("solve", problem("stack", 60), "--law-from", path, words=words)
    refuses("solve", problem("stack", 60), "--law", "uzawa", words=["no law 'uzawa'"])


# ---- SciPy -------------------------------------------------------------------------------------------------


def test_scipy_to_fclib():
    if subprocess.run(["/usr/bin/python3", "-c", "import numpy, scipy"], capture_output=True).returncode:
        raise tap.Skip("SciPy is not installed")
    shutil.copy(SOURCE / "examples" / "write_problem.py", ".")
    subprocess.run(["/usr/bin/python3", "write_problem.py"], check=True, capture_output=True)
    run("solve", "corner_W.mtx", "--tol", "1e-10", "-o", "mine.hdf5")
    assert run_json("info", "mine.hdf5")["solution_residual"] <= 1e-10


tap.main(globals())
