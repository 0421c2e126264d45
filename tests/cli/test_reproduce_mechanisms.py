"""delassus reproduce mechanisms, reduced: every claim holds, every mechanism closes its books, every scheme has its order."""
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests", "support"))
import tap  # noqa: E402
from program import run_json  # noqa: E402

BOOKS = ["pendulum", "pendulum in space", "double pendulum", "four-bar", "slider–crank", "universal joint", "gears and a rack",
         "loaded shaft", "rolling disc", "bicycle", "superball", "slider with clearance", "woodpecker", "cart and pole, servo",
         "cart and pole, feedback", "capstan", "chain over a peg", "hanging chain", "bridge", "pendulum with a heavy bob", "arm",
         "closed loop", "net"]
ORDERS = ["pendulum", "pendulum in space", "double pendulum", "four-bar, velocity drive", "four-bar, position drive", "slider–crank",
          "universal joint, turn", "rolling disc", "bicycle, lean and steer", "cart and pole, servo", "cart and pole, feedback"]
FIGURES = ["orders", "universal", "bicycle", "woodpecker", "catenary", "growth"]

RESULT = []


def result():
    tap.needs_speed()
    if not RESULT:
        RESULT.extend(run_json("reproduce", "mechanisms", "-o", "out", expect=None, timeout=390)["experiments"])
    return RESULT[0]


def test_every_claim_holds():
    fails = [claim for claim in result()["claims"] if claim["verdict"] != "pass"]
    assert not fails and result()["size"] == "reduced", fails


def test_claims_are_told_apart():
    texts = [claim["text"] for claim in result()["claims"]]
    assert len(set(texts)) == len(texts), sorted(text for text in texts if texts.count(text) > 1)


def test_every_mechanism_closes_its_books():
    books = [claim["text"].split(":")[0] for claim in result()["claims"] if "energy unaccounted" in claim["text"]]
    assert sorted(books) == sorted(BOOKS), set(books) ^ set(BOOKS)


def test_every_scheme_has_its_order():
    for name in ORDERS:
        bounds = [claim["paper"] for claim in result()["claims"] if claim["text"].startswith(f"{name}: order, ")]
        expected = [0.9] * 4 if name.endswith("feedback") else [1.9, 1.9, 0.9, 0.9]
        assert bounds[:4] == expected and len(bounds) == 4, (name, bounds)


def test_files():
    files = result()["files"]
    names = sorted(path.name for path in pathlib.Path("out", "mechanisms-reduced").iterdir())
    figures = [f"{figure}.{ending}" for figure in FIGURES for ending in ("svg", "png")]
    assert names == sorted(["claims.csv", "growth.csv", "result.json", *figures]), names
    assert sorted(files) == sorted(name for name in names if name != "result.json")


tap.main(globals())
