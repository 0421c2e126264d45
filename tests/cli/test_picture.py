"""delassus picture: what is drawn, that the page fits it, and what is refused."""
import os
import pathlib
import re
import struct
import sys
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests"))
from support import tap  # noqa: E402
from support.program import SOURCE, only_these, refuses, run  # noqa: E402

TALL = """delassus: 1
title: A ball in a tower
bodies:
  - {name: tower, motion: static, position: [0, 0, HEIGHT/2], shape: {kind: box-inside, size: [1, 1, HEIGHT]}}
  - {name: ball, position: [0, 0, 0.3], shape: {kind: sphere, radius: 0.3}}
time: {step: 0.01, until: 0.02}
output: {interval: 0, contacts: CONTACTS}
"""

# One of each shape, on a half-space.
SHAPES = """delassus: 1
title: One of each
bodies:
  - {name: ground, motion: static, shape: {kind: half-space}}
  - {name: tub, motion: static, position: [0, 0, 1], shape: {kind: cylinder-inside, radius: 9, length: 4}}
  - {name: ball, position: [0, 0, 0.1], shape: {kind: sphere, radius: 0.1}}
  - {name: box, position: [1, 0, 0.1], shape: {kind: box, size: [0.4, 0.3, 0.2]}}
  - {name: capsule, position: [2, 0, 0.2], shape: {kind: capsule, radius: 0.1, length: 0.2}}
  - {name: egg, position: [3, 0, 0.1], shape: {kind: ellipsoid, size: [0.2, 0.15, 0.1]}}
  - {name: can, position: [4, 0, 0.1], shape: {kind: cylinder, radius: 0.1, length: 0.2}}
  - name: stone
    position: [5, 0, 0]
    shape: {kind: polyhedron, points: [[0, 0, 0], [0.3, 0, 0], [0, 0.3, 0], [0, 0, 0.3]]}
  - {name: late, birth: 0.015, position: [0, 1, 0.1], shape: {kind: sphere, radius: 0.1}}
time: {step: 0.01, until: 0.03}
output: {interval: 0}
"""


def results(name, text):
    pathlib.Path(f"{name}.yaml").write_text(text)
    run("run", f"{name}.yaml", "-o", f"{name}.h5", "-q")
    return f"{name}.h5"


def size(path):
    """Width and height of a PNG that is whole."""
    data = pathlib.Path(path).read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n" and data[-8:-4] == b"IEND", path
    return struct.unpack(">II", data[16:24])


def drawn(path):
    """How many outlines are filled in an SVG."""
    root = ElementTree.parse(path).getroot()
    return sum(bool(re.search(r"fill:(?!none)", element.get("style") or "")) or (element.get("fill") or "none") != "none"
               for element in root.iter() if element.tag.endswith("path"))


def tall(height, contacts="yes"):
    return results(f"tall{height}", TALL.replace("HEIGHT", str(height)).replace("CONTACTS", contacts))


def test_every_template():
    for template in sorted((SOURCE / "scenes/templates").glob("*.yaml")):
        name = template.stem
        run("run", template, "-o", f"{name}.h5", "--set", "time.until=2e-3", "--tol", "1e-2", "-q")
        done = run("picture", f"{name}.h5", "--forces")
        assert f"{name}.png, {name}.svg: frame" in done.stdout, done.stdout
        width, height = size(f"{name}.png")
        assert width == 1500 and 500 < height < 2200, (name, width, height)
        text = pathlib.Path(f"{name}.svg").read_text()
        assert text.count("<path") > 5, name


def test_every_shape():
    path = results("shapes", SHAPES)
    counts = []
    for frame in (0, 3):
        run("picture", path, "--frame", frame, "-o", f"shapes{frame}")
        counts.append(drawn(f"shapes{frame}.svg"))
    assert counts[1] == counts[0] + 1, counts  # a ball was born
    for view in ("front", "side", "top", "iso"):
        run("picture", path, "--view", view, "-o", view, "--width", 4)
        assert size(f"{view}.png")[0] == 1200
    # four balls and stones look alike from everywhere, a box shows three faces or one
    assert drawn("iso.svg") >= drawn("front.svg") > 6, (drawn("iso.svg"), drawn("front.svg"))


def test_a_tower_is_cut_off():
    heights = []
    for height in (10, 40):
        run("picture", tall(height), "-o", "tower", "--view", "front")
        heights.append(size("tower.png")[1])
    assert heights[0] == heights[1], heights  # however tall it is
    assert heights[0] < 1700, heights
    run("picture", tall(1), "-o", "cube", "--view", "front")
    assert size("cube.png")[1] >= 1500, size("cube.png")  # all of it


# Boxes on a plank that is much longer than they need.
PLANK = """delassus: 1
bodies:
  - {name: plank, motion: static, shape: {kind: box, size: [3, 0.4, 0.1]}}
  - lattice: {origin: [-0.6, 0, 0.1], spacing: [0.4, 1, 1], counts: [4, 1, 1]}
    body: {name: b, shape: {kind: box, size: [0.1, 0.1, 0.1]}}
  - {name: lost, position: [0, 0, -50], shape: {kind: box, size: [0.1, 0.1, 0.1]}}
time: {until: 0.01}
"""


def faces(path):
    """Grey or not, and the points, of filled outlines of four sides, in the order in which they are painted."""
    found = []
    for style, way in re.findall(r'<path style="([^"]*fill:rgb[^"]*)" d="(M [^"]*Z[^"]*)"', pathlib.Path(path).read_text()):
        colour = [float(x) for x in re.search(r"fill:rgb\(([^)]*)\)", style)[1].replace("%", "").split(",")]
        numbers = [float(x) for x in re.findall(r"-?[0-9.]+", way.split("Z")[0])]
        if len(numbers) == 8:
            found.append((max(colour) == min(colour), numbers))
    return found


def box_of(path):
    """How wide a box is, in parts of the page."""
    wide = sorted(max(points[::2]) - min(points[::2]) for grey, points in faces(f"{path}.svg") if not grey)
    return wide[-1] / (size(f"{path}.png")[0] / 300 * 72)


def test_obstacles_hide_nothing_and_are_whole():
    path = results("plank", PLANK.replace("  - {name: lost, position: [0, 0, -50]", "  - {name: c, position: [1.2, 0, 0.1]"))
    run("picture", path, "-o", "plank")
    grey = [grey for grey, _ in faces("plank.svg")]
    grey = grey[grey.index(False) - 3:]
    assert grey == [True] * 3 + [False] * 15, grey  # three faces of the plank, then three of each box
    width, height = size("plank.png")
    assert 0.4 < height / width < 0.55, (width, height)  # 3 m long: nothing is cut off


def test_focus():
    path = results("lost", PLANK)
    sizes = {}
    for name, focus in (("all", []), ("region", ["--region=-1.5:1.5,-0.2:0.2,-0.05:0.15"]), ("bodies", ["--bodies", "plank"]),
                        ("zoom", ["--bodies", "b", "--zoom", 2]), ("near", ["--bodies", "b"])):
        run("picture", path, "-o", name, "--view", "front", *focus)
        sizes[name] = size(f"{name}.png")
    assert sizes["all"][1] > 1.2 * sizes["all"][0], sizes  # 50 m upward
    assert sizes["region"][1] < 0.3 * sizes["region"][0], sizes
    for name, shown in (("near", 1.3), ("zoom", 0.65), ("region", 3), ("bodies", 3)):  # metres across
        assert abs(box_of(name) * shown / 0.1 / 0.95 - 1) < 0.05, (name, box_of(name))
    for region in ("0:1", "0:1,1:0", "0:1,0:1,2", "a:b,c:d", "0:1,0:1,0:1,0:1"):
        refuses("picture", path, "--region", region, words=["no region", region])


def test_forces():
    path = tall(1)
    run("picture", path, "-o", "without")
    run("picture", path, "-o", "with", "--forces")
    strokes = [pathlib.Path(f"{name}.svg").read_text().count("<path") for name in ("without", "with")]
    assert strokes[1] > strokes[0], strokes
    refuses("picture", tall(2, contacts="no"), "--forces", words=["tall2.h5", "no contacts"])
    run("picture", "tall2.h5", "-o", "plain")


def test_scene_is_not_needed():
    path = tall(3)
    pathlib.Path("tall3.yaml").unlink()
    run("picture", path, "-o", "alone")


# Balls that part: the page of each moment differs, and so does the largest speed.
PARTING = """delassus: 1
bodies:
  - {name: ground, motion: static, shape: {kind: half-space}}
  - {name: post, motion: static, position: [0, 0, 0.5], shape: {kind: box, size: [0.1, 0.1, 1]}}
  - {name: ball, position: [0.5, 0, 0.2], velocity: [4, 0, 4], shape: {kind: sphere, radius: 0.1}}
time: {step: 0.01, until: 0.5}
output: {interval: 0.1}
"""


def page_of(path):
    """Width and height of an SVG, and all that it draws."""
    root = ElementTree.parse(path).getroot()
    return root.get("viewBox"), [element.get("d") for element in root.iter() if element.tag.endswith("path") and element.get("d")]


def test_a_film_has_one_frame_and_one_scale():
    source = results("parting", PARTING)
    done = run("picture", source, "--view", "front", "--frames", "1:5:2", "-o", "film")
    assert done.stdout == "film: 3 pictures, from t = 0.1 s to 0.5 s\n", done.stdout
    only_these("film", *(f"{k:05}.{end}" for k in range(3) for end in ("png", "svg")))
    pages = [page_of(f"film/{k:05}.svg") for k in range(3)]
    assert len({view for view, _ in pages}) == 1 and len({size(f"film/{k:05}.png") for k in range(3)}) == 1
    shared = set(pages[0][1]) & set(pages[1][1]) & set(pages[2][1])
    alone = []
    for k, frame in enumerate((1, 3, 5)):
        run("picture", source, "--view", "front", "--frame", frame, "-o", f"alone{k}")
        alone.append(page_of(f"alone{k}.svg"))
    assert len({view for view, _ in alone}) > 1
    assert len(shared) > len(set(alone[0][1]) & set(alone[1][1]) & set(alone[2][1]))
    run("picture", source, "--frames", ":", "-o", "whole")
    assert len(list(pathlib.Path("whole").glob("*.png"))) == 6
    for words in ("5:1", "0:6", "0:5:0", "a", "1:2:3:4", "-1:3"):
        refuses("picture", source, f"--frames={words}", "-o", "none", words=[words, "expected A:B:N"])
    refuses("picture", source, "--frames", "0:1", "--frame", 1, words=["exclude each other"])
    assert not pathlib.Path("none").exists()


def test_refuses():
    path = tall(1)
    pathlib.Path("text.h5").write_text("no results")
    refuses("picture", "missing.h5", words=["missing.h5", "No such file"])
    refuses("picture", "text.h5", words=["text.h5"])
    refuses("picture", f"{path}.checkpoint", words=[f"{path}.checkpoint"])
    pathlib.Path("cut.h5").write_bytes(pathlib.Path(path).read_bytes()[:3000])
    refuses("picture", "cut.h5", words=["cut.h5"])
    refuses("picture", path, "--frame", 3, words=["no frame 3", "0 to 2"])
    refuses("picture", path, "--frame", -1, words=["--frame"])
    refuses("picture", path, "--view", "back", words=["back", "front, side, top or iso"])
    refuses("picture", path, "--width", 100, words=["--width"])
    refuses("picture", path, "-o", "absent/x", words=["absent/x"])
    pathlib.Path("narrow").mkdir()
    refuses("picture", path, "-o", "narrow/x", words=["narrow/x"], limit=1000)
    only_these("narrow")
    refuses("picture", words=["RESULTS"])


def test_labels_do_not_overlap():
    path = results("labels", SHAPES.replace("name: egg,", "name: egg, velocity: [1, 0, 0],"))
    for width in ("1", "1.5", "2", "5", "14"):
        run("picture", path, "--width", width, "-o", "labels")
        letters = [(float(use.get("x")), float(use.get("y"))) for use in ElementTree.parse("labels.svg").getroot().iter()
                   if use.tag.endswith("use")]
        foot = max(y for _, y in letters)
        line = [x for x, y in letters if y == foot]  # a length, 0 and the top speed, from left to right
        assert len(line) > 8 and all(b > a + 0.5 for a, b in zip(line, line[1:])), (width, line)


tap.main(globals())
