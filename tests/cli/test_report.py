"""delassus report: a page with the numbers of runs and of what commands left in folders."""
import base64
import csv
import html.parser
import os
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests"))
from support import tap  # noqa: E402
from support.program import only_these, problem, refuses, run  # noqa: E402

SCENE = """delassus: 1
title: "Drop <i>"
bodies:
  - {name: ground, motion: static, shape: {kind: half-space}}
  - {name: ball, position: [0, 0, 0.12], shape: {kind: sphere, radius: 0.1}}
  - {name: twin, position: [0.05, 0, 0.33], shape: {kind: sphere, radius: 0.1}}
time: {step: 0.01, until: 0.2}
output: {interval: 0.05}
"""


class Page(html.parser.HTMLParser):
    """Headings, rows of cells, and figures as SVG."""

    def __init__(self, path):
        super().__init__()
        self.headings, self.rows, self.figures, self.text = [], [], [], None
        self.source = pathlib.Path(path).read_text()
        self.feed(self.source)

    def handle_starttag(self, tag, attributes):
        if tag == "tr":
            self.rows.append([])
        if tag in ("h1", "h2", "th", "td"):
            self.text = ""
        if tag == "img":
            data = dict(attributes)["src"].removeprefix("data:image/svg+xml;base64,")
            self.figures.append(ElementTree.fromstring(base64.b64decode(data, validate=True)))
        assert tag != "script"

    def handle_data(self, data):
        if self.text is not None:
            self.text += data

    def handle_endtag(self, tag):
        if tag in ("h1", "h2"):
            self.headings.append(self.text)
        if tag in ("th", "td"):
            self.rows[-1].append(self.text)
        if tag in ("h1", "h2", "th", "td"):
            self.text = None


def a_run(name="drop"):
    if not pathlib.Path(f"{name}.h5").exists():
        pathlib.Path(f"{name}.yaml").write_text(SCENE)
        run("run", f"{name}.yaml", "-q")
        run("export", f"{name}.h5", "--csv", f"{name}_csv")
    return f"{name}.h5"


def test_a_run_is_told_by_its_own_numbers():
    left = set(pathlib.Path("/tmp").glob("delassus-report-*"))
    run("report", a_run(), "-o", "drop.html", "--title", "A & B")
    page, steps = Page("drop.html"), list(csv.DictReader(open("drop_csv/steps.csv")))
    assert page.headings == ["A & B", "Drop <i>"], page.headings
    facts = {row[0]: row[1] for row in page.rows}
    assert facts["certified steps"] == "20 of 20" and facts["bodies"] == "3" and facts["frames"] == "5"
    for name, column in (("worst residual", "residual"), ("deepest penetration", "penetration [m]"), ("worst error of a contact", "max_error [m/s]")):
        assert facts[name].split()[0] == f"{max(float(row[column]) for row in steps):.5g}", name
    assert facts["unaccounted"] == f"{float(steps[-1]['unaccounted [J]']):.5g} J" and facts["time"] == "0.2 s"
    assert len(page.figures) == 5 and "default-src 'none'" in page.source
    assert set(pathlib.Path("/tmp").glob("delassus-report-*")) <= left, "nothing stays aside"


def test_a_folder_is_told_by_its_tables_and_figures():
    run("compare", problem(), "--solvers", "nlgs:exact,apgd", "--tol", "1e-4", "-o", "work/comparison")
    pathlib.Path("work/odd").mkdir()
    pathlib.Path("work/odd/odd.csv").write_bytes(b'name,"a, b","say ""hi"""\r\n"<script>x</script>",1.23456789,\n"two\nlines",-3e-9,nan')
    pathlib.Path("work/odd/long.csv").write_text("n\n" + "".join(f"{k}\n" for k in range(300)))
    run("report", "work", "-o", "work.html")
    page = Page("work.html")
    tables, figures = len(list(pathlib.Path("work").rglob("*.csv"))), len(list(pathlib.Path("work").rglob("*.svg")))
    assert page.source.count("<table>") == tables >= 3 and len(page.figures) == figures >= 1
    assert page.headings == ["Report", "work/comparison", "work/odd"], page.headings
    assert ["name", "a, b", 'say "hi"'] in page.rows and ["<script>x</script>", "1.2346", ""] in page.rows
    assert ["two\nlines", "-3e-09", "nan"] in page.rows
    assert ["199"] in page.rows and ["200"] not in page.rows and "100 more rows" in page.source


def test_several_at_once():
    pathlib.Path("runs").mkdir()
    pathlib.Path("runs/again.h5").write_bytes(pathlib.Path(a_run()).read_bytes())
    run("report", a_run(), "runs")
    page = Page("report.html")
    assert page.headings == ["Report", "Drop <i>", "runs", "Drop <i>"] and len(page.figures) == 10


def test_refuses():
    pathlib.Path("empty").mkdir()
    pathlib.Path("out").mkdir()
    refuses("report", "empty", "-o", "out/page.html", words=["empty", "expected one"])
    refuses("report", "absent", "-o", "out/page.html", words=["absent"])
    pathlib.Path("cut.h5").write_bytes(pathlib.Path(a_run()).read_bytes()[:4000])
    refuses("report", "cut.h5", "-o", "out/page.html", words=["cut.h5"])
    refuses("report", a_run(), "-o", a_run(), words=["another name"])
    refuses("report", words=["RESULTS"])
    only_these("out")


tap.main(globals())
