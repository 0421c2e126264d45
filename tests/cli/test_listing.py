"""delassus help, solvers, info, generate, export: what they tell and write."""
import json
import os
import pathlib
import re
import sys

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests", "support"))
import tap  # noqa: E402
from program import SOURCE, problem, run, run_json  # noqa: E402

COMMANDS = "new check run picture solve info compare solvers generate export reproduce".split()


def test_version_is_the_header_s():
    header = (SOURCE / "include/delassus/base.h").read_text()
    version = header.split('#define DLS_VERSION "')[1].split('"')[0]
    assert run("--version").stdout == f"delassus {version}\n"


def test_help_everywhere():
    overview = run("--help").stdout
    assert overview == run("help").stdout == run("-h").stdout
    for command in COMMANDS:
        assert f"\n  {command} " in overview
        text = run(command, "--help").stdout
        assert text == run("help", command).stdout == run(command, "-h").stdout
        assert text.startswith(f"usage: delassus {command}") and "--help" in text


def test_help_states_a_default_once():
    for command in COMMANDS + ["analyze"]:
        for line in run(command, "--help").stdout.splitlines():
            assert not re.search(r"\[[^]]*\] \[[^]]*\]$", line[32:]), line


def test_solvers_list_every_option():
    tables = run_json("solvers")
    text = run("solvers").stdout
    assert {"sbp", "sal", "ebp", "eal", "epdas", "ipdas", "exact"} <= {law["name"] for law in tables["laws"]}
    nlgs = next(solver for solver in tables["solvers"] if solver["name"] == "nlgs")
    for option in nlgs["options"]:
        assert option["key"] in text and option["help"] in text and option["unit"], option
        assert option["type"] in ("int", "real", "bool", "choice", "name")
        run("solve", problem(), "--solver", "nlgs", "--max-iter", "0", "--set", f"{option['key']}={option['default']}",
            expect=0 if option["key"] == "max_iterations" else 1)


def test_solvers_by_name():
    assert run("solvers", "nlgs").stdout.startswith("nlgs: ")
    assert "enhanced" in run("solvers", "ebp").stdout and "local_iterations" in run("solvers", "ebp").stdout


def test_the_reference_page_is_up_to_date():
    page = (SOURCE / "docs/options.md").read_text()
    assert page == run("solvers", "--markdown").stdout, "write it anew: delassus solvers --markdown >docs/options.md"


def test_the_page_of_shapes_is_up_to_date_and_lacks_no_pair():
    text = run("check", "--shape-reference").stdout
    assert (SOURCE / "docs/shapes.md").read_text() == text, \
        "write it anew: delassus check --shape-reference >docs/shapes.md"
    rows = [tuple(cell.strip(" `") for cell in line.split("|")[1:3]) for line in text.splitlines() if line[:3] == "| `"]
    planar, spatial = (["disc", "polygon"], ["half-plane", "chain", "drum"]), (
        ["sphere", "box", "capsule", "ellipsoid", "polyhedron", "cylinder", "skin"],
        ["half-space", "cylinder-inside", "box-inside", "mesh"])
    wanted = {frozenset((a, b)) for bodies, obstacles in (planar, spatial) for a in bodies for b in bodies + obstacles}
    assert len(rows) == len(wanted) == 9 + 56 and {frozenset(row) for row in rows} == wanted


def test_info_of_a_hyperstatic_stack():
    facts = run_json("info", problem())
    assert facts["form"] == "local" and facts["mu_low"] == facts["mu_high"] == 0.4
    assert facts["blocks"] == [{"kind": "contact", "rows": 3, "rolling_rows": 0, "count": facts["contacts"]}]
    assert facts["mu_rolling_low"] is None and facts["mu_rolling_high"] is None
    assert facts["rows"] == 3 * facts["contacts"] and facts["asymmetry"] == 0
    assert 0 < facts["rank"] < facts["rows"] and facts["condition"] >= 1
    assert abs(facts["hyperstaticity"] - facts["rows"] / facts["rank"]) < 1e-12 and facts["hyperstaticity"] > 1
    assert facts["has_solution"] is False and facts["solution_residual"] is None
    text = run("info", problem()).stdout
    for word in ("local", "contacts", "μ = 0.4", "rank", "hyperstaticity", "not unique", "condition", "none stored"):
        assert word in text, word


def test_info_of_large_problems_skips_the_rank_unless_asked():
    large = problem("discs", 800)
    assert run_json("info", large)["rank"] is None and "--full" in run("info", large).stdout
    assert run_json("info", large, "--full")["rank"] > 0


def test_info_prints_one_object_per_file():
    lines = run("info", "--json", problem(), problem("discs", 60)).stdout.splitlines()
    assert [json.loads(line)["rows"] // json.loads(line)["contacts"] for line in lines] == [3, 2]


def test_info_tells_a_zero_solution():
    run("solve", problem(), "--max-iter", "0", "-o", "zero.hdf5", expect=1)
    facts = run_json("info", "zero.hdf5")
    assert facts["has_solution"] and facts["solution_is_zero"]
    assert "proves nothing" in run("info", "zero.hdf5").stdout


def test_generate_is_the_same_for_the_same_seed():
    for kind, rows in (("packing", 3), ("stack", 3), ("discs", 2), ("rolling", 5)):
        for name, seed in (("a", 5), ("b", 5), ("c", 6)):
            run("generate", kind, "--size", "80", "--seed", seed, "--mu", "0.7", "-o", f"{name}.hdf5")
        first, second, third = (pathlib.Path(f"{name}.hdf5").read_bytes() for name in "abc")
        assert first == second and first != third, kind
        facts = run_json("info", "a.hdf5")
        assert facts["title"] == kind and facts["mu_low"] == 0.7 and facts["rows"] == rows * facts["contacts"]
        assert f"delassus generate {kind} --size 80" in facts["description"]


def test_rolling_friction_from_file_to_file():
    run("generate", "rolling", "--size", "60", "--mu-rolling", "2e-3", "-o", "rolling.hdf5")
    facts = run_json("info", "rolling.hdf5")
    assert facts["blocks"] == [{"kind": "contact", "rows": 5, "rolling_rows": 2, "count": facts["contacts"]}]
    assert abs(facts["mu_rolling_low"] - 2e-3) < 1e-16 and abs(facts["mu_rolling_high"] - 2e-3) < 1e-16
    text = run("info", "rolling.hdf5").stdout
    assert "rolling friction" in text and "2 tangential, 2 rolling" in text and "μ_r = 0.002 m\n" in text
    for solver in ("auto", "nlgs", "newton", "ipm", "apgd", "pqn"):
        run("solve", "rolling.hdf5", "--solver", solver, "--tol", "1e-8", "-o", "solved.hdf5")
        assert run_json("info", "solved.hdf5")["solution_residual"] <= 1e-8, solver


def test_what_fclib_has_no_word_for_goes_to_matrix_market():
    for kind, words in ((["rolling", "--mu-spinning", "1e-4"], "contact 0 has 2 tangential, 2 rolling and 1 spinning"),
                        (["mixed"], "contact")):
        said = run("generate", *kind, "--size", "60", "-o", "unfit.hdf5", expect=2).stderr
        assert words in said and "FCLib" in said and said.count("\n") == 1
        assert not pathlib.Path("unfit.hdf5").exists()
    said = run("generate", "mixed", "--size", "60", "-m", "mixed").stdout
    for name in ("W", "q", "mu", "mu_rolling", "mu_spinning", "parts", "bounds"):
        assert f"mixed_{name}.mtx" in said and pathlib.Path(f"mixed_{name}.mtx").exists()
    rows = read_matrix_market(pathlib.Path("mixed_W.mtx"))[1][0]
    _, (blocks, columns), numbers = read_matrix_market(pathlib.Path("mixed_parts.mtx"))
    parts = [[int(numbers[c * blocks + k][0]) for c in range(columns)] for k in range(blocks)]
    assert columns == 5 and sum(part[0] for part in parts) == rows
    assert all(size == 1 + sum(others) for size, is_contact, *others in parts if is_contact)
    _, size, bounds = read_matrix_market(pathlib.Path("mixed_bounds.mtx"))
    assert size == [rows, 2] and all(float(bounds[i][0]) <= float(bounds[rows + i][0]) for i in range(rows))


def read_matrix_market(path):
    lines = path.read_text().splitlines()
    numbers = [line.split() for line in lines if not line.startswith("%")]
    return lines[0].split(), [int(number) for number in numbers[0]], numbers[1:]


def test_export_writes_matrix_market():
    run("export", problem(), "--matrix-market", "exported")
    rows = run_json("info", problem())["rows"]
    kind, size, entries = read_matrix_market(pathlib.Path("exported_W.mtx"))
    assert kind[:4] == ["%%MatrixMarket", "matrix", "coordinate", "real"]
    assert size == [rows, rows, len(entries)]
    W = {(int(i), int(j)): float(value) for i, j, value in entries}
    assert len(W) == len(entries) and all(W[j, i] == value for (i, j), value in W.items())
    kind, size, entries = read_matrix_market(pathlib.Path("exported_mu.mtx"))
    assert size == [rows // 3, 1] and all(float(value) == 0.4 for value, in entries)
    kind, size, entries = read_matrix_market(pathlib.Path("exported_q.mtx"))
    assert size == [rows, 1] and len(entries) == rows


tap.main(globals())
