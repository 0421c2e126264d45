"""docs/evidence.md is what its stored outputs make, and its numbers are theirs; what make_evidence stores and refuses."""
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(os.environ.get("DLS_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2])).resolve()
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tap  # noqa: E402

DOCS, STORED = ROOT / "docs", ROOT / "docs" / "evidence"


def make(*arguments, expect=0):
    done = subprocess.run([ROOT / "tools" / "make_evidence", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == expect, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def cells(page):
    """Rows of all tables of a page, without the marks of Markdown."""
    rows = []
    for line in page.splitlines():
        if line.startswith("| "):
            parts = re.split(r"(?<!\\)\|", line.strip())[1:-1]
            rows.append([re.sub(r"\\(.)|\*\*", r"\1", part).replace("&lt;", "<").replace("&amp;", "&").strip() for part in parts])
    return rows


def pages(docs):
    """All pages as one text."""
    return "\n".join(path.read_text() for path in [docs / "evidence.md", *sorted((docs / "evidence/pages").glob("*.md"))])


def stored_results():
    return {path.parent: json.loads(path.read_text()) for path in sorted(STORED.glob("reproduce/*/result.json"))}


# ---- the page ----------------------------------------------------------------------------------------------


def test_the_page_is_made_from_what_is_stored():
    make("--check")


def test_every_stored_claim_stands_on_the_page_with_its_numbers():
    rows = cells(pages(DOCS))
    assert stored_results()
    for result in stored_results().values():
        for claim in result["claims"]:
            found = [row for row in rows if len(row) == 6 and row[0] == claim["text"] and row[5] == claim["verdict"]]
            assert any(same_side(row[2], claim["paper"]) and same_side(row[3], claim["ours"]) for row in found), (claim, found)


def same_side(shown, value):
    """Whether the page shows this value: an order as it is, a number to the digits shown, two at least."""
    if not isinstance(value, float | int):
        return shown == (value if value is not None else "not finite")
    digits = re.fullmatch(r"[≤≥]? ?(-?[\d.]+(?:e[-+]\d+)?)(?: ± .*)?", shown)
    return bool(digits) and abs(float(digits[1]) - value) <= 5.01e-3 * abs(value)


def test_counts_are_those_of_the_claims():
    page, log = (DOCS / "evidence.md").read_text(), pages(DOCS)
    overview = {re.match(r"\[(.*?)\]", row[0])[1]: row for row in cells(page) if len(row) == 10 and row[0].startswith("[")}
    for result in stored_results().values():
        verdicts = [claim["verdict"] for claim in result["claims"]]
        row = overview[result["experiment"]]
        shown = [re.fullmatch(r"–|(\d+)(?:, (\d+) fail)?", text) for text in row[3:6]]
        assert row[2] == result["size"] and all(shown), row
        for verdict, group in (("pass", 1), ("fail", 2)):
            assert sum(int(found[group] or 0) for found in shown) == verdicts.count(verdict), row
        assert row[6:8] == [str(verdicts.count(verdict)) for verdict in ("undecided", "not comparable")], row
        assert f"`{result['command']}`" in log and result["machine"]["processor"] in log


def test_numbers_of_peers_are_those_stored():
    path = STORED / "bench" / "peers.json"
    if not path.exists():
        raise tap.Skip("nothing stored of other engines")
    content, rows = json.loads(path.read_text()), cells(pages(DOCS))
    for row in content["rows"]:
        name, whole = content["engines"][row["engine"]]["name"], row["steps"] == row["steps_asked"]
        shown = [f"{value:.2g}" for value in row["errors"].values() if value is not None]
        assert any(found[0] == name and found[1].startswith(row["words"]) and (not whole or found[3:] == shown) for found in rows), row


def test_what_is_stored_is_small_and_whole():
    total = 0
    for path in STORED.rglob("*"):
        if path.is_file() and path.parent.name != "pages":
            total += path.stat().st_size
            assert path.suffix in (".json", ".csv", ".svg", ".png"), path
            assert path.stat().st_size <= (200_000 if path.suffix == ".png" else 100_000), path
            content = path.read_bytes()
            assert b"/work/" not in content and b"/tmp/" not in content, path
    assert total < 6_000_000, total
    for folder, result in stored_results().items():
        with open(folder / "claims.csv") as file:
            assert [row["verdict"] for row in csv.DictReader(file)] == [claim["verdict"] for claim in result["claims"]], folder


# ---- the tool ----------------------------------------------------------------------------------------------


def claim(text, verdict="pass", source="printed", **more):
    return {"text": text, "unit": "m", "relation": "equal", "source": source, "paper": 1.5, "ours": 1.25 if verdict == "fail" else 1.5,
            "tolerance": 0.05, "verdict": verdict, **more}


def write_run(folder, name, size="full", claims=(), files=()):
    folder.mkdir(parents=True)
    verdicts = [one["verdict"] for one in claims]
    result = {"version": "0.1.0", "experiment": name, "title": "a made-up run", "authors": "Nobody", "paper": "A paper",
              "section": name.split("-")[1], "size": size, "verdict": "pass", "passed": verdicts.count("pass"),
              "failed": verdicts.count("fail"), "not_comparable": verdicts.count("not comparable"),
              "command": f"delassus reproduce {name}", "seconds": 3.0, "claims": list(claims), "files": [*files, "claims.csv"],
              "machine": {"processor": "A processor", "cores": 3, "system": "Linux", "architecture": "x86_64"}}
    (folder / "result.json").write_text(json.dumps(result))
    (folder / "claims.csv").write_text("claim,verdict\n" + "".join(f"{one['text']},{one['verdict']}\n" for one in claims))
    for file in files:
        (folder / file).write_text("x" * (200_001 if "large" in file else 50))


def fresh(name, said="**009-1.** It fails because the earth is round.\n"):
    """A folder of documents of its own, with what reproduce.md says."""
    docs = pathlib.Path(name).absolute()
    docs.mkdir()
    (docs / "reproduce.md").write_text(f"# R\n\n## How a verdict is made\n\n## The experiments\n\n{said}\n## Adding\n\n**009-1.** no\n")
    return docs


def test_small_things_are_stored_and_the_paper_s_size_wins():
    docs, runs = fresh("sizes"), pathlib.Path("sizes_runs")
    files = ["table.csv", "case-a.csv", "large.csv", "gap.svg", "figure_03.svg", "other.svg"]
    write_run(runs / "001-3.1-reduced", "001-3.1", "reduced", [claim("a")], files)
    write_run(runs / "001-3.2-reduced", "001-3.2", "reduced", [claim("b")])
    (runs / "unfinished").mkdir()
    make("--docs", docs, "--runs", runs)
    assert sorted(path.name for path in (docs / "evidence/reproduce/001-3.1-reduced").iterdir()) == [
        "claims.csv", "figure_03.svg", "gap.svg", "result.json", "table.csv"]
    assert "001-3.1: a made-up run (reduced)" in pages(docs)
    assert "<summary>table.csv, 0 rows</summary>" in pages(docs)
    write_run(runs / "001-3.1", "001-3.1", "full", [claim("a")])
    make("--docs", docs, "--runs", runs)
    assert sorted(path.name for path in (docs / "evidence/reproduce").iterdir()) == ["001-3.1", "001-3.2-reduced"]
    shutil.rmtree(runs / "001-3.1")
    make("--docs", docs, "--runs", runs)
    assert not (docs / "evidence/reproduce/001-3.1-reduced").exists()


def test_the_largest_figure_that_is_small_enough():
    docs, runs = fresh("figures"), pathlib.Path("figures_runs")
    files = ["figure_10_100_balls.svg", "figure_10_800_balls.svg", "figure_11_large.svg"]
    write_run(runs / "002-6.4", "002-6.4", "full", [claim("a")], files)
    told = make("--docs", docs, "--runs", runs)
    assert "figure_11_*.svg is larger" in told, told
    assert [path.name for path in (docs / "evidence/reproduce/002-6.4").glob("*.svg")] == ["figure_10_800_balls.svg"]


def test_pictures_of_a_run_stand_in_one_line():
    docs, runs = fresh("pictures"), pathlib.Path("pictures_runs")
    files = [f"figure_05_100_balls-{k}.png" for k in (1, 2, 10)] + ["figure_05_400_balls-1.png", "figure_05_large-1.png", "figure_06_1-1.png"]
    write_run(runs / "002-6.3", "002-6.3", "full", [claim("a")], files)
    make("--docs", docs, "--runs", runs)
    stored = docs / "evidence/reproduce/002-6.3"
    assert {path.name for path in stored.glob("*.png")} == set(files[:4])
    lines = [line for line in (docs / "evidence/pages/002-6.3.md").read_text().splitlines() if ".png" in line]
    assert [[name for name in files if name in line] for line in lines] == [files[:3], files[3:4]], lines
    assert lines[0].index("balls-2.png") < lines[0].index("balls-10.png"), lines


def test_curves_are_rounded_and_nothing_else():
    docs, runs = fresh("curves"), pathlib.Path("curves_runs")
    write_run(runs / "002-6.4", "002-6.4", "full", [claim("a")], ["figure_10_1_balls.svg"])
    (runs / "002-6.4" / "figure_10_1_balls.svg").write_text('<svg w="1.2345"><path d="M 1.23456 -0.001 L 12 3.50001 Z" m="0.3333"/></svg>')
    make("--docs", docs, "--runs", runs)
    assert (docs / "evidence/reproduce/002-6.4/figure_10_1_balls.svg").read_text() == (
        '<svg w="1.2345"><path d="M 1.23 -0 L 12 3.5 Z" m="0.3333"/></svg>')


def test_failures_are_shown_and_explained():
    docs, runs = fresh("failures"), pathlib.Path("failures_runs")
    derived = claim("|x| < y_1", "fail", "derived")
    claims = [claim("fine"), derived, claim("t", "not comparable", reason="seconds of another machine"), claim("z", source="derived")]
    write_run(runs / "009-1", "009-1", "full", claims)
    make("--docs", docs, "--runs", runs)
    page = (docs / "evidence/pages/009-1.md").read_text()
    seen = page.split("<details>")[0]
    assert ["|x| < y_1", "m", "1.5", "1.25", "0.05", "fail"] in cells(seen) and "earth is round" in seen, page
    assert "| z |" not in seen and ["z", "m", "1.5", "1.5", "0.05", "pass"] in cells(page)
    assert "Not comparable: seconds of another machine." in page and "A processor, 3 cores" in seen
    front = (docs / "evidence.md").read_text()
    assert "1, **1 fail**" in front and "[009-1](evidence/pages/009-1.md)" in front and "1 pass, 0 fail" in front, front
    (docs / "reproduce.md").write_text("## The experiments\n\n**009-1.** All is well.\n\n## Adding\n\nWhat fails.\n")
    assert "009-1 has 1 failing claim(s)" in make("--docs", docs, expect=1)


def test_columns_are_counted_apart():
    """The paper's method against what is printed, against what follows, and ours; chance is undecided."""
    docs, runs = fresh("columns", "**009-1.** It differs.\n"), pathlib.Path("columns_runs")
    claims = [claim("a", method="paper's"), claim("b", method="paper's", source="derived"), claim("c", method="ours"),
              claim("d", "fail", method="ours"), claim("e", "undecided", method="paper's", seeds=5, half=0.25), claim("f, auto")]
    write_run(runs / "009-1", "009-1", "full", claims)
    make("--docs", docs, "--runs", runs)
    row = next(row for row in cells((docs / "evidence.md").read_text()) if len(row) == 10 and row[0].startswith("[009"))
    assert row[3:8] == ["1", "1", "2, 1 fail", "1", "0"], row
    assert ["e", "m", "1.5", "1.5 ± 0.25 (5)", "0.05", "undecided"] in cells(pages(docs))


def test_tables_are_shown_with_four_digits():
    docs, runs = fresh("tables"), pathlib.Path("tables_runs")
    write_run(runs / "009-1", "009-1", "full", [claim("fine")], ["tables_7_8.csv"])
    (runs / "009-1" / "tables_7_8.csv").write_text('n_balls,method,seconds\n100000,"a, b",0.0123456\n200,c,\n')
    make("--docs", docs, "--runs", runs)
    rows = cells(pages(docs))
    assert [row for row in rows if len(row) == 3] == [["n_balls", "method", "seconds"], ["100000", "a, b", "0.01235"], ["200", "c", ""]]


def test_another_number_is_another_page():
    docs, runs = fresh("drift"), pathlib.Path("drift_runs")
    write_run(runs / "009-1", "009-1", "full", [claim("fine")])
    make("--docs", docs, "--runs", runs)
    make("--docs", docs, "--check")
    stored = docs / "evidence/reproduce/009-1/result.json"
    stored.write_text(stored.read_text().replace('"ours": 1.5', '"ours": 1.51'))
    assert "run make evidence" in make("--docs", docs, "--check", expect=1)
    make("--docs", docs)
    assert ["fine", "m", "1.5", "1.51", "0.05", "pass"] in cells(pages(docs))


def test_benches_without_a_machine_are_left_out():
    docs, bench = fresh("bench"), pathlib.Path("bench_runs")
    bench.mkdir()
    machine = {"processor": "A processor", "cores": 3, "system": "Linux", "architecture": "x86_64"}
    one = {"solved_by_both": 3, "geometric_mean": 0.25, "worst": 0.5, "worst_file": "a"}
    content = {"note": "A note.", "problems": ["bulky"], "summaries": {"spatial 0.0001": {
        "auto": {"not_reached": ["x"], "best_nsgs": one, "best_all": None}}}}
    (bench / "siconos.json").write_text(json.dumps(content))
    assert "does not say how it was made" in make("--docs", docs, "--bench", bench)
    (bench / "siconos.json").write_text(json.dumps({"command": "bench/run siconos", "machine": machine, **content}))
    make("--docs", docs, "--bench", bench)
    assert ["spatial, 1e-4", "`auto`", "0.25, 0.50 (3)", "–", "1"] in cells(pages(docs))
    assert "bulky" not in (docs / "evidence/bench/siconos.json").read_text()


def test_a_comparison_shows_its_scores():
    docs, runs = fresh("scores"), pathlib.Path("scores_runs")
    write_run(runs / "009-1", "009-1", "full", [claim("fine")])
    (runs / "compare").mkdir()
    scores = [{"solver": solver, "tolerance": t, "solved": solved, "fastest": 1, "mean_ratio": ratio}
              for solver, solved, ratio in (("auto", 2, 1.25), ("apgd", 0, None)) for t in (1e-4, 1e-8)]
    content = {"version": "0.1.0", "machine": {"processor": "P", "cores": 1}, "complete": True, "time_limit": 5, "threads": 1,
               "jobs": 1, "time_floor": 2e-5, "scores": scores, "results": ["bulky"],
               "problems": [{"file": "/somewhere/a.hdf5", "name": "a", "contacts": 7, "rows": 21}]}
    (runs / "compare" / "comparison.json").write_text(json.dumps(content))
    (runs / "compare" / "profile_1e-8.svg").write_text("<svg/>")
    make("--docs", docs, "--runs", runs)
    page = pages(docs)
    assert ["`auto`", "2", "1", "1.25", "2", "1", "1.25"] in cells(page) and ["`apgd`", "0", "1", "–", "0", "1", "–"] in cells(page)
    assert "delassus compare *.hdf5 --solvers auto,apgd --tol 1e-4,1e-8 --time-limit 5" in page and "profile_1e-8.svg" in page
    assert "somewhere" not in (docs / "evidence/compare/comparison.json").read_text()


def test_refusals():
    docs = fresh("refusals")
    pathlib.Path("empty").mkdir()
    assert "no finished experiment in empty" in make("--docs", docs, "--runs", "empty", expect=1)
    assert not (docs / "evidence.md").exists()


tap.main(globals())
