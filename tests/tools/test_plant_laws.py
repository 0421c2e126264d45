"""tools/plant_laws: its defects fit the sources, a wrong law is noticed and a harmless change is not, and the stored table
is the tool's."""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import sys

ROOT = pathlib.Path(os.environ.get("DLS_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2])).resolve()
BUILD = pathlib.Path(os.environ.get("DLS_BUILD_DIR", ROOT / "build")).resolve()
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tap  # noqa: E402


def load():
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("plant_laws", str(ROOT / "tools" / "plant_laws"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("plant_laws", loader))
    loader.exec_module(module)
    return module


TOOL = load()


def try_one(defect):
    compiled, link = TOOL.commands(BUILD)
    sound = TOOL.all_verdicts(BUILD / "delassus", defect[5])
    assert "pass" in sound.values()
    return TOOL.try_defect(BUILD, compiled, link, sound, defect)


def test_every_defect_fits_its_file():
    for defect in TOOL.DEFECTS:
        assert TOOL.broken_source(defect) != (ROOT / defect[2]).read_text(), defect
    try:
        TOOL.broken_source(("a", "b", TOOL.APGD, "no such text", "", ()))
    except TOOL.Unfit as unfit:
        assert "occurs 0 times" in str(unfit)
    else:
        raise AssertionError("a text that is not there was planted")


def test_wrong_methods_are_noticed():
    for method, words in (("sbp", "without μ|u_t| in D"), ("apgd", "never anti-relaxed"), ("smoothed law", "sign of the coupling c in Y")):
        defect = next(one for one in TOOL.DEFECTS if one[:2] == (method, words))
        row = try_one((*defect[:5], tuple(name for name in defect[5] if name != "003-4.2")))
        assert row["noticed"] > 0, row


def test_a_harmless_change_is_not():
    row = try_one(("sal", "none", TOOL.LAGRANGIAN, "R = mu * r[0];", "R = r[0] * mu;", ("003-4.1",)))
    assert row["noticed"] == 0 and row["passed"] > 20, row


def test_the_stored_table_is_the_tool_s_and_each_defect_was_noticed():
    rows = json.loads((ROOT / "docs" / "evidence" / "planted.json").read_text())["rows"]
    assert [(row["method"], row["defect"]) for row in rows] == [defect[:2] for defect in TOOL.DEFECTS]
    for row in rows:
        assert row["noticed"] > 0, row


tap.main(globals())
