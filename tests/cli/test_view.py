"""delassus view: the page holds what the results hold, within the errors that it states, in the room it may take."""
import base64
import csv
import functools
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

# Balls and boxes that fall into a box and onto a slab, turning; one comes late, one has a name that a page could stumble over.
MIXED = """delassus: 1
title: "Balls & boxes <b>"
bodies:
  - {name: tub, motion: static, position: [0, 0, 2], shape: {kind: box-inside, size: [1, 1, 4]}}
  - layers: {region: {kind: box, low: [-0.5, -0.5, 0.3], high: [0.5, 0.5, 4]}, count: 50, size: {uniform: [0.8, 1.2]}, gap: 0.1}
    body: {name: ball, spin: [3, 0, 1], shape: {kind: sphere, radius: 0.1}}
  - {name: "<script>alert(1)</script>", position: [0.1, 0, 3.5], spin: [0, 5, 2], shape: {kind: box, size: [0.3, 0.2, 0.1]}}
  - {name: late, birth: 0.2, position: [-0.2, 0.1, 3.8], shape: {kind: capsule, radius: 0.05, length: 0.2}}
  - {name: slab, motion: static, position: [0, 0, 0.1], shape: {kind: box, size: [1, 1, 0.2]}}
time: {step: 0.01, until: 0.7}
output: {interval: 0.01}
"""


def results(name, text, *options):
    if not pathlib.Path(f"{name}.h5").exists():
        pathlib.Path(f"{name}.yaml").write_text(text)
        run("run", f"{name}.yaml", "-o", f"{name}.h5", "-q", *options, expect=None)
    return f"{name}.h5"


@functools.cache
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

    def channels(self, name, planes, frames, items):
        """Channel, frame, item → number."""
        data, at, channels, size = self.bytes(name), 0, [], frames * items
        for width in planes:
            rows = []
            for f in range(frames):
                row = []
                for k in range(items):
                    zigzag = sum(data[at + p * size + f * items + k] << 8 * p for p in range(width))
                    change = zigzag >> 1 if zigzag % 2 == 0 else -(zigzag + 1) // 2
                    row.append(change + (rows[-1][k] if rows else 0))
                rows.append(row)
            channels.append(rows)
            at += width * size
        assert at == len(data)
        return channels

    @property
    def stands(self):
        """Shapes of lines, which come behind the bodies."""
        return [shape for body in self.scene["bodies"] if body.get("solid") == "line" for shape in body["shapes"]]

    @functools.cache
    def states(self):
        """(frame, body) → x, y, z, q, speed, spin of the bodies that are there."""
        count, found = len(self.scene["bodies"]) + len(self.stands), {}
        for index, block in enumerate(self.scene["blocks"]):
            channels = self.channels(f"states{index}", [block["planes"]] * 3 + [2] * 7, block["count"], count)
            for f in range(block["count"]):
                for b in range(count):
                    v = [channel[f][b] for channel in channels]
                    if v[9]:
                        found[block["first"] + f, b] = (
                            [k * self.scene["quantum"] for k in v[:3]], v[3:7],
                            block["speed"] * (v[7] / 1023) ** 2, block["spin"] * (v[8] / 1023) ** 2)
        return found

    @functools.cache
    def points(self):
        """(frame, point) → its three numbers, and von Mises's stress."""
        count, found = self.scene["points"], {}
        for index, block in enumerate(self.scene["blocks"]):
            channels = self.channels(f"points{index}", [block["point_planes"]] * 3 + [2], block["count"], count)
            for f in range(block["count"]):
                for k in range(count):
                    v = [channel[f][k] for channel in channels]
                    found[block["first"] + f, k] = v[:3], block["stress"] * (v[3] / 1023) ** 2
        return found

    @functools.cache
    def contacts(self):
        """frame → list of (a, b, force, slips, five bytes of its place or None)."""
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
            balls = [body.get("ball", False) for body in self.scene["bodies"]]

            def place(a, b, old):
                if balls[a] and balls[b]:
                    return None
                return [(part.pop(0) + (old[k] if old else 0) + 128) % 256 - 128 for k, part in enumerate(parts[5:])]
            before = []
            for f in range(block["count"]):
                count, now = number(fresh), []
                for a, b, level, old in before:
                    if stays.pop(0):
                        now.append((a, b, (level + levels.pop(0)) % 256, place(a, b, old)))
                last = 0
                for _ in range(count):
                    last += number(pairs)
                    apart = number(pairs)
                    pairs.pop(0)
                    other = last + (apart // 2 if apart % 2 == 0 else -(apart + 1) // 2)
                    now.append((last, other, levels.pop(0), place(last, other, None)))
                frames[block["first"] + f] = [
                    (a, b, block["force"] * 2 ** ((level - 255) / 8), slips.pop(0), at) for a, b, level, at in now]
                before = now
            assert not any(parts)
        return frames


def viewed(source, *options):
    run("view", source, "-o", f"{source}.html", *options)
    return Page(f"{source}.html")


@functools.cache
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
    for (frame, body), state in states.items():
        if (frame - 1, body) in states and frame not in [block["first"] for block in page.scene["blocks"]]:
            assert sum(p * e for p, e in zip(state[1], states[frame - 1, body][1])) > 0, "no rotation turns over"
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


def unfold(a, b):
    x, y = a / 127, b / 127
    z = 1 - abs(x) - abs(y)
    if z < 0:
        x, y = math.copysign(1 - abs(y), x), math.copysign(1 - abs(x), y)
    size = math.hypot(x, y, z)
    return x / size, y / size, z / size


def test_contacts_stand_where_they_are_in_the_results():
    page = mixed()
    bodies = {(int(row["frame"]), int(row["body"])): column(row, "x", "y", "z") for row in table("mixed.h5", "bodies")}
    facts, rows = page.scene["bodies"], {}
    for row in table("mixed.h5", "contacts"):
        rows.setdefault((int(row["frame"]), int(row["body_a"]), int(row["body_b"])), []).append(row)
    seen = set()
    for frame, contacts in page.contacts().items():
        for a, b, _, _, at in contacts:
            if not at:
                continue
            base = a if "motion" not in facts[a] else b
            unit = facts[base]["reach"] / 84
            point, normal = [x + unit * k for x, k in zip(bodies[frame, base], at)], unfold(*at[3:])
            near = [row for row in rows[frame, a, b] if math.dist(point, column(row, "x", "y", "z")) < 0.02 * facts[base]["reach"]]
            assert near, (frame, a, b, point, [column(row, "x", "y", "z") for row in rows[frame, a, b]])
            assert any(math.dist(normal, column(row, "nx", "ny", "nz")) < 0.03 for row in near), (normal, near)
            seen.add((base == a, max(range(3), key=lambda k: abs(normal[k])), max(normal, key=abs) > 0))
    assert len(seen) > 4, seen


def test_frames_say_what_they_are():
    page, steps = mixed(), {int(row["step"]): row for row in table("mixed.h5", "steps")}
    assert len(page.scene["frames"]) == 71
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


def test_shapes_on_beams_go_with_their_places():
    text = """delassus: 1
dimension: 2
bodies:
  - {name: first, position: [3, 0], rotation: 0.4, solid: {kind: beam, length: 1, EA: 1e5, EI: 2, line_density: 1}}
  - {name: board, rotation: 0.3, spin: 2, solid: {kind: beam, length: 2, EA: 1e5, EI: 2, line_density: 1},
     shapes: [{kind: disc, radius: 0.1, position: [0, 0.2], end: 0}, {kind: disc, radius: 0.1, position: [0.1, -0.1], end: 0.3},
              {kind: polygon, points: [[0, 0], [0.2, 0], [0, 0.1]], position: [0.05, 0], rotation: 0.7, end: 1}]}
  - {name: late, birth: 0.15, position: [0, 3], rotation: 1, solid: {kind: beam, length: 1, EA: 1e5, EI: 5, line_density: 1},
     shape: {kind: disc, radius: 0.1, position: [0, 0.2], end: 1}}
joints: [{kind: fixed, bodies: [ground, {body: board, end: 0}]}]
time: {step: 1e-3, until: 0.4}
output: {interval: 0.05}
"""
    path = results("stands", text)
    page, nodes = viewed(path), table("stands.h5", "nodes")
    assert len(page.stands) == 4 and len(page.scene["bodies"]) == 3
    for shape, (x, angle) in zip(page.stands, [((0, 0.2), 0), ((0.1, -0.1), 0), ((0.05, 0), 0.7), ((0, 0.2), 0)]):
        assert math.dist(shape.get("x", (0, 0))[:2], x) < 3e-4, (shape, x)  # what is bent at first is known by nodes alone
        q = shape.get("q", (1, 0, 0, 0))
        assert abs(2 * math.atan2(q[3], q[0]) - angle) < 2e-3, shape
    for stand, (body, at) in enumerate([(1, 0), (1, 0.3), (1, 1), (2, 1)], 3):
        for frame in range(9):
            line = [row for row in nodes if row["frame"] == str(frame) and row["body"] == str(body)]
            assert ((frame, stand) in page.states()) == bool(line)
            if not line:
                continue
            s = at * (len(line) - 1)
            k = min(int(s), len(line) - 2)
            a, b = ([float(line[i][axis]) for axis in "xy"] for i in (k, k + 1))
            place = [p + (s - k) * (q - p) for p, q in zip(a, b)]
            found, q = page.states()[frame, stand][:2]
            assert math.dist(found[:2], place) < (2e-3 if at == 0.3 else page.scene["quantum"]), (frame, stand)
            turn = math.remainder(2 * math.atan2(q[3], q[0]) - math.atan2(b[1] - a[1], b[0] - a[0]), 2 * math.pi)
            assert abs(turn) < 0.1, (frame, stand, turn)  # against the chord of a piece


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
    assert len(chains.scene["frames"]) == 71 and chains.scene["left_out"] > whole.scene["left_out"]
    assert chains.letters("chains") < whole.letters("chains")
    done = run("view", "mixed.h5", "-o", "thin.html", "--limit", 0.5 * whole.letters("states") / 1e6)
    thin = Page("thin.html")
    assert len(thin.scene["frames"]) < 42 and thin.scene["result_frames"] == 71
    assert thin.scene["frames"][-1][0] == 70 and "frames" in done.stdout.splitlines()[1]
    assert thin.letters("states") + thin.letters("chains") < 0.5 * whole.letters("states")
    rows = {(row["frame"], row["body"]): row for row in table("mixed.h5", "bodies")}
    for (frame, body), (x, _, _, _) in thin.states().items():
        row = rows[str(thin.scene["frames"][frame][0]), str(body)]
        assert all(abs(p - e) < thin.scene["quantum"] for p, e in zip(x, column(row, "x", "y", "z")))


def test_far_places_take_more_bytes_and_keep_their_error():
    for x, planes in ((3.2, 2), (5.0, 3), (12345.678, 4)):
        text = f"""delassus: 1
bodies: [{{name: far, position: [{x}, 0, 0], velocity: [8, 0, 0], shape: {{kind: sphere, radius: 0.01}}}}]
time: {{step: 0.01, until: 0.03}}
output: {{interval: 0.01}}
"""
        page = viewed(results(f"far{planes}", text))
        assert page.scene["blocks"][0]["planes"] == planes
        for row in table(f"far{planes}.h5", "bodies"):
            assert abs(page.states()[int(row["frame"]), 0][0][0] - float(row["x"])) <= 0.005 * 0.01 * (1 + 1e-6)


def test_places_beyond_all_bounds_stand_at_the_edge():
    text = "delassus: 1\nbodies: [{position: [1e6, 0, 0], shape: {kind: sphere, radius: 0.01}}]\ntime: {step: 0.01, until: 0.01}\n"
    page = viewed(results("edge", text))
    assert page.scene["beyond"] == len(page.scene["frames"]) and page.states()[0, 0][0][0] == 2 ** 29 * page.scene["quantum"]


def test_long_histories_keep_the_worst():
    text = """delassus: 1
bodies:
  - {name: ground, motion: static, shape: {kind: half-space}}
  - {name: ball, position: [0, 0, 0.11], shape: {kind: sphere, radius: 0.1}}
time: {step: 1e-3, until: 4.999}
output: {interval: 1}
"""
    page = viewed(results("long", text))
    steps, rows = table("long.h5", "steps"), page.scene["history_rows"]
    assert (page.scene["steps"], page.scene["history_steps"], rows) == (4999, 2, 2500)
    history = page.bytes("history0")
    columns = [struct.unpack(f"<{rows}f", history[4 * rows * k:4 * rows * (k + 1)]) for k in range(12)]
    for k in range(rows):
        pair = steps[2 * k:2 * k + 2]
        for number, name, which in ((0, "time", -1), (1, "kinetic", -1), (5, "contacts", max), (8, "penetration", max)):
            values = [float(row[name]) for row in pair]
            wanted = which(values) if callable(which) else values[which]
            assert math.isclose(columns[number][k], wanted, rel_tol=1e-6, abs_tol=1e-30), (k, name)
    for frame in page.scene["frames"][1:]:
        assert frame[9] == 0 or math.isclose(frame[9], 9.81 * page.scene["bodies"][1]["mass"], rel_tol=1e-3), frame


# A pendulum of a disc that lies beside the origin of its body, on a disc that is held.
JOINTED = """delassus: 1
dimension: 2
bodies:
  - {name: hook, motion: static, position: [0.3, 1], shape: {kind: disc, radius: 0.1}}
  - {name: bob, position: [0.5, 0.5], shape: {kind: disc, radius: 0.1, position: [0.2, -0.1]}}
joints: [{name: pin, kind: revolute, bodies: [hook, bob], at: [0.3, 0.9]}]
time: {step: 1e-3, until: 0.2}
output: {interval: 0.02}
"""


# A brick that deforms by one F, a cube of elements that is born late, a rigid ball; and a beam in the plane.
SOFT = """delassus: 1
materials:
  soft: {density: 1000, young: 2e4, poisson: 0.3, damping: 5e-3, mu: 0.5, law: neo-hookean}
bodies:
  - {name: floor, motion: static, shape: {kind: half-space}}
  - {name: ball, position: [2, 0, 0.1], shape: {kind: sphere, radius: 0.1}}
  - {name: brick, material: soft, position: [0, 0, 0.2], rotation: {axis: [1, 2, 0], angle: 0.7}, velocity: [0.3, 0, -1],
     solid: {kind: pseudo-rigid}, shape: {kind: box, size: [0.2, 0.3, 0.2]}}
  - {name: cube, material: soft, birth: 0.05, position: [1, 0, 0.13], velocity: [0, 0.2, -1],
     solid: {kind: elements, form: corotational, cells: [2, 2, 2]}, shape: {kind: box, size: [0.2, 0.2, 0.2]}}
time: {step: 2e-3, until: 0.2}
output: {interval: 0.01}
"""
BEAM = """delassus: 1
dimension: 2
bodies: [{name: board, solid: {kind: beam, length: 1, EA: 1e5, EI: 1, line_density: 1}}]
joints: [{name: clamp, kind: fixed, bodies: [ground, {body: board, end: 0}]}]
time: {step: 1e-3, until: 0.3}
output: {interval: 0.02}
"""


def by_body(source, name):
    found = {}
    for row in table(source, name):
        found.setdefault((int(row["frame"]), int(row["body"])), []).append(row)
    return found


def test_points_of_bodies_that_deform_are_those_of_the_results():
    for name, text, wanted in (("soft", SOFT, ["brick", "cube"]), ("beam", BEAM, ["board"])):
        source = results(name, text)
        page, seen, worst, stressed = viewed(source), set(), 0, 0
        states, points, quantum = page.states(), page.points(), page.scene["quantum"]
        top = max(block["stress"] for block in page.scene["blocks"])
        for (frame, body), rows in by_body(source, "nodes").items():
            facts = page.scene["bodies"][body]
            assert facts["solid"] == ("line" if name == "beam" else "skin") and facts["count"] == len(rows)
            assert facts["reach"] >= 0.5 if name == "beam" else facts["reach"] > 0.17
            for k, row in enumerate(rows):
                at, stress = points[frame, facts["first"] + k]
                place = [x + quantum * d for x, d in zip(states[frame, body][0], at)]
                worst = max(worst, *(abs(p - e) for p, e in zip(place, column(row, "x", "y", "z"))))
                assert abs(stress - float(row["von_mises"])) <= 1.01e-3 * top, (frame, body, k, stress, row["von_mises"], top)
                stressed = max(stressed, stress)
            seen.add(facts["name"])
        assert 1e-3 * page.scene["smallest"] < worst <= 0.005 * page.scene["smallest"] * (1 + 1e-9), worst
        assert stressed > 0 or name == "beam"
        if name == "soft":
            for (frame, body), (row,) in by_body(source, "gradients").items():
                facts = page.scene["bodies"][body]
                assert facts["solid"] == "affine" and facts["count"] == 3 and not facts.get("ball")
                for k, axis in enumerate("xyz"):
                    found, _ = points[frame, facts["first"] + k]
                    for p, e in zip(found, column(row, f"Fx{axis}", f"Fy{axis}", f"Fz{axis}")):
                        assert abs(p * quantum / 8 - e * facts["reach"]) <= quantum / 16 * (1 + 1e-6)
                seen.add(facts["name"])
        assert sorted(seen) == wanted, seen
        count = len(page.scene["frames"])
        things = page.scene["points"] + len(page.scene["bodies"])
        assert page.letters("points") + page.letters("states") <= 10 * count * things


def test_what_is_seen_at_first_holds_what_moves_and_its_container():
    page = mixed()
    rows = [row for row in table("mixed.h5", "bodies") if "motion" not in page.scene["bodies"][int(row["body"])]]
    for k, axis in enumerate("xyz"):
        assert page.scene["low"][k] <= min(float(row[axis]) for row in rows) - 0.04
        assert page.scene["high"][k] >= max(float(row[axis]) for row in rows) + 0.04
    tub = [-0.5, -0.5, 0, 0.5, 0.5, 4]
    assert all(0 <= (x - y) * (-1 if k < 3 else 1) < 0.3 for k, (x, y) in enumerate(zip(page.scene["low"] + page.scene["high"], tub))), page.scene["high"]
    s = math.sqrt(0.5)
    shapes = [
        ("{kind: box, size: [2, 2, 1]}", (2 * s, 2 * s, 0.5)), ("{kind: ellipsoid, size: [3, 1, 2]}", (math.sqrt(5), math.sqrt(5), 2)),
        ("{kind: capsule, radius: 0.5, length: 4, rotation: {axis: [1, 0, 0], angle: -pi/2}}", (0.5 + 2 * s, 0.5 + 2 * s, 0.5)),
        ("{kind: cylinder, radius: 1, length: 4, rotation: {axis: [1, 0, 0], angle: -pi/2}}", (3 * s, 3 * s, 1)),
        ("{kind: sphere, radius: 0.5, position: [2, 0, 0]}", (0.5, 0.5, 0.5)),
        ("{kind: polyhedron, points: [[2, 0, 0], [-2, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 3], [0, 0, -3]]}", (2 * s, 2 * s, 3))]
    for number, (shape, wanted) in enumerate(shapes):
        text = f"""delassus: 1
gravity: [0, 0, 0]
bodies:
  - {{rotation: {{axis: [0, 0, 1], angle: pi/4}}, shape: {shape}}}
  - {{motion: static, position: [0, 0, -50], shape: {{kind: box, size: [100, 100, 1]}}}}
time: {{step: 0.01, until: 0.01}}
"""
        box = viewed(results(f"shape{number}", text)).scene
        for low, high, half in zip(box["low"], box["high"], wanted):
            assert math.isclose((high - low) / 2, half, rel_tol=1e-6), (shape, box["low"], box["high"], wanted)
    text = """delassus: 1
gravity: [0, 0, 0]
bodies:
  - {position: [1, 0, 0], shape: {kind: sphere, radius: 0.5}}
  - {position: [-1, 0, 0], velocity: [0, 0, 100], shape: {kind: sphere, radius: 0.5}, death: 0.105}
time: {step: 0.01, until: 1}
output: {interval: 0.01}
"""
    page = viewed(results("flown", text))
    assert page.scene["high"][2] < 2 and page.scene["low"][0] <= 0.5, page.scene["high"]


def test_joints_are_told():
    page, rows = viewed(results("jointed", JOINTED)), table("jointed.h5", "joints")
    (joint,), states = page.scene["joints"], page.states()
    floats = struct.unpack(f"<{11 * 9}f", page.bytes("joints0"))
    assert floats[0] == 1 and len(rows) == 10
    for row in rows:
        frame = int(row["frame"])
        acts, force, torque, gap, angle, rate, *place = floats[9 * frame:9 * frame + 9]
        assert math.dist(place, column(row, "x", "y", "z")) < 1e-6
        assert acts == 1 and math.isclose(gap, float(row["gap"]), rel_tol=1e-5, abs_tol=1e-20)
        assert math.isclose(force, math.hypot(*column(row, "impulse_1", "impulse_2", "impulse_3")) / 1e-3, rel_tol=1e-5) and force > 1
        assert math.isclose(angle, float(row["coordinate_4"]), rel_tol=1e-5) and math.isclose(rate, float(row["speed_4"]), rel_tol=1e-5)
        for body, local in ((joint["a"], joint["xa"]), (joint["b"], joint["xb"])):
            (x, y, _), q = states[frame, body][:2]
            turn = 2 * math.atan2(q[3], q[0])
            place = (x + math.cos(turn) * local[0] - math.sin(turn) * local[1], y + math.sin(turn) * local[0] + math.cos(turn) * local[1])
            assert math.dist(place, column(row, "x", "y")) < 3e-3, (frame, body, place)


def test_uncertified_steps_are_told():
    text = MIXED.replace("time:", "solver: {max_iterations: 1}\ntime:").replace("until: 0.7", "until: 0.5")
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
