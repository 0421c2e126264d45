"""delassus view: the page holds what the results hold, within the errors that it states, in the room it may take."""
import base64
import csv
import json
import math
import os
import pathlib
import re
import struct
import sys
import zlib

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests"))
from support import tap  # noqa: E402
from support.program import refuses, run  # noqa: E402

# Balls and boxes that fall into a box, turning; one comes late, one has a name that a page could stumble over.
MIXED = """delassus: 1
title: "Balls & boxes <b>"
bodies:
  - {name: tub, motion: static, position: [0, 0, 2], shape: {kind: box-inside, size: [1, 1, 4]}}
  - layers: {region: {kind: box, low: [-0.5, -0.5, 0.1], high: [0.5, 0.5, 4]}, count: 60, size: {uniform: [0.8, 1.2]}, gap: 0.1}
    body: {name: ball, spin: [3, 0, 1], shape: {kind: sphere, radius: 0.1}}
  - {name: "<script>alert(1)</script>", position: [0.1, 0, 3.5], spin: [0, 5, 2], shape: {kind: box, size: [0.3, 0.2, 0.1]}}
  - {name: late, birth: 0.2, position: [-0.2, 0.1, 3.8], shape: {kind: capsule, radius: 0.05, length: 0.2}}
time: {step: 0.01, until: 0.9}
output: {interval: 0.01}
"""


def results(name, text, *options):
    if not pathlib.Path(f"{name}.h5").exists():
        pathlib.Path(f"{name}.yaml").write_text(text)
        run("run", f"{name}.yaml", "-o", f"{name}.h5", "-q", *options, expect=None)
    return f"{name}.h5"


def table(source, name):
    folder = pathlib.Path(source).with_suffix(".csv.d")
    if not folder.exists():
        run("export", source, "--csv", folder)
    with open(folder / f"{name}.csv", newline="") as file:
        return [{key.split(" ")[0]: value for key, value in row.items()} for row in csv.DictReader(file)]


class Page:
    """A page, unpacked by the words of docs/viewer.md."""

    def __init__(self, path):
        self.text = pathlib.Path(path).read_text()
        self.parts = dict(re.findall(r'<script type="text/plain" id="(\w+)">([^<]*)</script>', self.text))
        self.scene = json.loads(self.bytes("scene0"))

    def bytes(self, name):
        return zlib.decompress(base64.b64decode(self.parts[name], validate=True))

    def letters(self, name):
        return sum(len(text) for key, text in self.parts.items() if key.startswith(name))

    def states(self):
        """(frame, body) → x, y, z, q, speed, spin of the bodies that are there."""
        count, found = len(self.scene["bodies"]), {}
        for index, block in enumerate(self.scene["blocks"]):
            data, at, channels = self.bytes(f"states{index}"), 0, []
            for planes in [block["planes"]] * 3 + [2] * 6 + [1]:
                size, rows = block["count"] * count, []
                for f in range(block["count"]):
                    row = []
                    for b in range(count):
                        zigzag = sum(data[at + p * size + f * count + b] << 8 * p for p in range(planes))
                        change = zigzag >> 1 if zigzag % 2 == 0 else -(zigzag + 1) // 2
                        row.append(change + (rows[-1][b] if rows else 0))
                    rows.append(row)
                channels.append(rows)
                at += planes * size
            assert at == len(data)
            for f in range(block["count"]):
                for b in range(count):
                    v = [channel[f][b] for channel in channels]
                    if v[9]:
                        found[block["first"] + f, b] = (
                            [k * self.scene["quantum"] for k in v[:3]], v[3:7],
                            block["speed"] * (v[7] / 1023) ** 2, block["spin"] * (v[8] / 1023) ** 2)
        return found

    def contacts(self):
        """frame → list of (a, b, force, slips)."""
        frames = {}
        for index, block in enumerate(self.scene["blocks"]):
            data, at = self.bytes(f"chains{index}"), 0

            def number(stream):
                value = shift = 0
                while True:
                    byte = stream.pop(0)
                    value |= (byte & 127) << shift
                    shift += 7
                    if byte < 128:
                        return value
            parts, rest = [], list(data)
            for _ in range(10):
                size = number(rest)
                parts.append(rest[:size])
                rest = rest[size:]
            assert not rest
            fresh, stays, pairs, levels, slips = parts[:5]
            before = []
            for f in range(block["count"]):
                count, now = number(fresh), []
                for a, b, level in before:
                    if stays.pop(0):
                        now.append((a, b, (level + levels.pop(0)) % 256))
                last = 0
                for _ in range(count):
                    last += number(pairs)
                    apart = number(pairs)
                    pairs.pop(0)
                    now.append((last, last + (apart // 2 if apart % 2 == 0 else -(apart + 1) // 2), levels.pop(0)))
                frames[block["first"] + f] = [
                    (a, b, block["force"] * 2 ** ((level - 255) / 8), slips.pop(0)) for a, b, level in now]
                before = now
            assert not (fresh or stays or pairs or levels or slips)
        return frames


def viewed(source, *options):
    run("view", source, "-o", f"{source}.html", *options)
    return Page(f"{source}.html")


def mixed(*options):
    return viewed(results("mixed", MIXED), *options)


def column(row, *names):
    return [float(row[name]) for name in names]


def test_places_rotations_and_speeds_are_those_of_the_results():
    page, rows = mixed(), table("mixed.h5", "bodies")
    states = page.states()
    assert len(rows) == len(states)
    assert page.scene["quantum"] <= 0.0100001 * page.scene["smallest"] and page.scene["smallest"] <= 0.05
    worst = 0
    for row in rows:
        x, q, speed, spin = states[int(row["frame"]), int(row["body"])]
        worst = max(worst, *(abs(p - e) for p, e in zip(x, column(row, "x", "y", "z"))))
        exact, size = column(row, "qw", "qx", "qy", "qz"), math.hypot(*q)
        along = abs(sum(p * e for p, e in zip(q, exact))) / size
        assert 2 * math.acos(min(1, along)) < math.radians(0.25), row
        block = next(b for b in page.scene["blocks"] if int(row["frame"]) < b["first"] + b["count"])
        assert abs(speed - math.hypot(*column(row, "vx", "vy", "vz"))) < 1.01e-3 * block["speed"]
        assert abs(spin - math.hypot(*column(row, "wx", "wy", "wz"))) < 1.01e-3 * block["spin"]
    assert page.scene["smallest"] * 1e-3 < worst <= 0.005 * page.scene["smallest"] * (1 + 1e-9), worst


def test_contacts_carry_the_forces_of_the_results():
    page = mixed()
    found, rows, length = page.contacts(), table("mixed.h5", "contacts"), 0.01
    wanted = {}
    for row in rows:
        if float(row["impulse_n"]) > 0:
            slips = math.hypot(float(row["impulse_t1"]), float(row["impulse_t2"])) >= 0.999 * float(row["mu"]) * float(row["impulse_n"])
            wanted.setdefault(int(row["frame"]), []).append(
                (int(row["body_a"]), int(row["body_b"]), float(row["impulse_n"]) / length, slips))
    assert sum(map(len, wanted.values())) == page.scene["contacts"]
    left_out, force_out, force_all = 0, 0, 0
    for frame, contacts in wanted.items():
        mine = found[frame]
        assert len(mine) <= len(contacts)
        top = next(b["force"] for b in page.scene["blocks"] if frame < b["first"] + b["count"])
        for a, b, force, slips in contacts:
            force = max(force, top * 2 ** (-254 / 8))  # the lowest level
            match = [c for c in mine if c[:2] == (a, b) and abs(math.log2(c[2] / force)) < 0.0626]
            left_out += not match
            force_all += force
            force_out += 0 if match else force
            assert not match or any(c[3] == slips for c in match)
    assert left_out == page.scene["left_out"] and force_out < 0.2 * force_all, (left_out, force_out / force_all)
    assert page.scene["left_out"] < 0.6 * page.scene["contacts"]


def test_frames_say_what_they_are():
    page, steps = mixed(), {int(row["step"]): row for row in table("mixed.h5", "steps")}
    assert len(page.scene["frames"]) == 91
    for shown, step, time, certified, residual, _, penetration, iterations, contacts, _ in page.scene["frames"][1:]:
        row = steps[step]
        assert (certified, iterations, contacts) == (int(row["certified"]), int(row["iterations"]), int(row["contacts"]))
        assert (time, residual, penetration) == tuple(column(row, "time", "residual", "penetration"))
    assert page.scene["frames"][0][3] == -1
    rows, history = page.scene["history_rows"], page.bytes("history0")
    columns = [struct.unpack(f"<{rows}f", history[4 * rows * k:4 * rows * (k + 1)]) for k in range(12)]
    for k, row in enumerate(steps.values()):
        for column_number, name in ((0, "time"), (1, "kinetic"), (2, "potential"), (6, "residual"), (8, "penetration"), (9, "iterations")):
            assert math.isclose(columns[column_number][k], float(row[name]), rel_tol=1e-6, abs_tol=1e-30), (k, name)
        assert columns[10][k] == 1 - int(row["certified"])


def test_the_container_is_pressed_by_what_it_holds():
    page = mixed()
    weight = 9.81 * sum(body.get("mass", 0) for body in page.scene["bodies"])
    assert math.isclose(page.scene["frames"][-1][9], weight, rel_tol=0.3), (page.scene["frames"][-1][9], weight)


def test_states_and_chains_keep_to_their_room():
    page = mixed()
    count = len(page.scene["bodies"]) * len(page.scene["frames"])
    assert page.letters("states") <= 10 * count, page.letters("states") / count
    assert page.letters("chains") <= 5 * count, page.letters("chains") / count


def test_names_are_shown_and_never_run():
    page = mixed()
    assert "<script>alert" not in page.text and "<title>Balls &amp; boxes &lt;b&gt;</title>" in page.text
    assert page.scene["title"] == "Balls & boxes <b>"
    assert "<script>alert(1)</script>" in [body.get("name") for body in page.scene["bodies"]]
    assert "default-src 'none'" in page.text and "unsafe" not in page.text.split("</head>")[0]


def test_the_viewer_stays_small():
    page = mixed()
    size = len(page.text.encode()) - sum(map(len, page.parts.values()))
    assert size < 100_000, size


def test_a_page_over_its_limit_is_thinned_and_says_so():
    whole = mixed()
    chains = mixed("--limit", (whole.letters("states") + 0.5 * whole.letters("chains")) / 1e6)
    assert len(chains.scene["frames"]) == 91 and chains.scene["left_out"] > whole.scene["left_out"]
    assert chains.letters("chains") < whole.letters("chains")
    done = run("view", "mixed.h5", "-o", "thin.html", "--limit", 0.5 * whole.letters("states") / 1e6)
    thin = Page("thin.html")
    assert len(thin.scene["frames"]) < 55 and thin.scene["result_frames"] == 91
    assert thin.scene["frames"][-1][0] == 90 and "frames" in done.stdout.splitlines()[1]
    assert thin.letters("states") + thin.letters("chains") < 0.5 * whole.letters("states")
    rows = {(row["frame"], row["body"]): row for row in table("mixed.h5", "bodies")}
    for (frame, body), (x, _, _, _) in thin.states().items():
        row = rows[str(thin.scene["frames"][frame][0]), str(body)]
        assert all(abs(p - e) < thin.scene["quantum"] for p, e in zip(x, column(row, "x", "y", "z")))


def test_far_places_take_more_bytes_and_keep_their_error():
    text = """delassus: 1
bodies: [{name: far, position: [12345.678, 0, 0], velocity: [800, 0, 0], shape: {kind: sphere, radius: 0.01}}]
time: {step: 0.01, until: 0.1}
output: {interval: 0.01}
"""
    page = viewed(results("far", text))
    assert page.scene["blocks"][0]["planes"] > 2
    for row in table("far.h5", "bodies"):
        assert abs(page.states()[int(row["frame"]), 0][0][0] - float(row["x"])) <= 0.005 * 0.01 * (1 + 1e-6)


def test_joints_are_told():
    run("new", "linkage", "-o", "linkage.yaml")
    run("run", "linkage.yaml", "--until", 0.2, "-q")
    page, rows = viewed("linkage.h5"), table("linkage.h5", "joints")
    count, at = len(page.scene["joints"]), 0
    assert count > 2 and len({row["joint"] for row in rows}) == count
    floats = []
    for index, block in enumerate(page.scene["blocks"]):
        data = page.bytes(f"joints{index}")
        floats += struct.unpack(f"<{len(data) // 4}f", data)
    for row in rows:
        at = (int(row["frame"]) * 6) * count + int(row["joint"])
        assert floats[at] == 1 and math.isclose(floats[at + 3 * count], float(row["gap"]), rel_tol=1e-5, abs_tol=1e-20)


def test_uncertified_steps_are_told():
    text = MIXED.replace("time:", "solver: {max_iterations: 1}\ntime:").replace("until: 0.9", "until: 0.8")
    page = viewed(results("rough", text))
    assert page.scene["uncertified"] == sum(row["certified"] == "0" for row in table("rough.h5", "steps")) > 0
    assert any(frame[3] == 0 for frame in page.scene["frames"])


def test_bad_input_is_refused_in_a_line():
    source = results("mixed", MIXED)
    refuses("view", "nothing.h5", words=["nothing.h5"])
    refuses("view", "mixed.yaml", words=["a scene", "delassus run"])
    pathlib.Path("cut.h5").write_bytes(pathlib.Path(source).read_bytes()[:5000])
    refuses("view", "cut.h5", words=["cut.h5"])
    refuses("view", source, "-o", source, words=["expected another name"])
    refuses("view", source, "-o", "no/such/page.html", words=["no/such/page.html"])
    refuses("view", source, "--limit", "0", words=["limit"])


tap.main(globals())
