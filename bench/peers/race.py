"""Mechanisms in every engine that is there, each at several settings and steps: error over processor time, ratios at equal error."""
import math
import sys

import contest
import mechanisms
import plot

# Mechanism: first step, how often it is halved at most, steps of the reference and its check, errors that times are compared at,
# seconds of processor time beyond which steps are halved no more.
PLANS = {
    "chain": (0.00625, 6, 0.00009765625, {"motion": (1e-1, 1e-2, 1e-3, 1e-4), "gap": (1e-3, 1e-4, 1e-5)}, 2),
    "vehicle": (0.05, 8, 0.00009765625, {"motion": (1e-2, 3e-3, 1e-3, 3e-4), "gap": (1e-3, 1e-4, 1e-5), "penetration": (1e-3, 1e-4)}, 2),
    "ragdolls": (0.02, 4, None, {"gap": (3e-2, 1e-2, 5e-3), "penetration": (3e-2, 1e-2)}, 4),
}
# Engine: settings by mechanism; "" stands for all others.
SETTINGS = {
    "delassus": {"": ["1e-2", "1e-4", "1e-6"], "chain": ["1e-6"], "ragdolls": ["1e-2", "1e-4"]},
    "ode": {"": ["quick:20", "quick:200", "step:0.2", "step:0.8"], "ragdolls": ["quick:20", "quick:100"]},
    "bullet": {"": ["default", "impulse:50", "impulse:500", "dantzig"], "ragdolls": ["default", "impulse:100"]},
}
STEEP = 10  # a scheme of order 3 gains 8 from half the step

NOTE = ("Processor time of the steps on one thread, the least of three where it is short. Every setting is run with the first step and "
        "with halves of it until a run takes more than two seconds, four of the ragdolls. The distance from the reference is the root mean square over "
        "the bodies, the largest of 20 instants; the reference is Delassus with a far shorter step, whose distance from that with "
        "twice the step is told, and the other engines come nearer to it as their steps shrink. Gaps and penetrations are measured "
        "from states by the same code for all. ODE's pivoting and Bullet's were not run on the ragdolls: their matrices are dense.")


def run_at(build, name, engine, setting, step, scale):
    """The scene with this step, frames at the instants that all runs share, and the least time."""
    scene = mechanisms.MAKERS[name](step=step)
    frames = max(1, round(scale * mechanisms.FRAMES))
    interval = scene.seconds / mechanisms.FRAMES
    scene.every = max(1, round(interval / step))
    assert math.isclose(scene.every * step, interval), f"{name}: frames of h = {step:g} are at other instants"
    scene.seconds = frames * scene.every * step
    command = contest.command_of(engine, build)
    found = contest.run_once(command, scene, setting)
    seconds = [found[-1][1]]
    while len(seconds) < contest.REPEATS and seconds[0] < contest.SHORT / 2:
        seconds.append(contest.run_once(command, scene, setting)[-1][1])
    return scene, found, min(seconds)


def run_setting(build, name, engine, setting, reference, scale):
    first, halvings, _, _, longest = PLANS[name]
    rows = []
    for k in range(halvings + 1):
        step = first / 2**k
        print(f"{name}: {engine} {setting} h = {step:g} ...", file=sys.stderr, flush=True)
        scene, frames, seconds = run_at(build, name, engine, setting, step, scale)
        whole = frames[-1][0] == round(scene.seconds / step)
        errors = mechanisms.measure(scene, frames, reference)
        rows.append({"mechanism": name, "engine": engine, "setting": setting, "words": contest.WORDS[engine](setting), "step": step,
                     "seconds": seconds, "whole": whole,
                     "errors": {key: value if math.isfinite(value) else None for key, value in errors.items()}})
        if seconds > longest or (engine == "delassus" and reference and step <= 8 * PLANS[name][2]):
            break  # nearer to the reference it would be measured against itself
    return rows


def find_reference(build, name, scale):
    """Frames of the reference, and its distance from that with twice the step; none where motion is chaotic."""
    step = PLANS[name][2]
    if not step:
        return None, None
    print(f"{name}: reference ...", file=sys.stderr, flush=True)
    (scene, fine, _), (_, coarse, _) = (run_at(build, name, "delassus", "1e-8", h, scale) for h in (step, 2 * step))
    return fine, mechanisms.measure(scene, coarse, fine)["motion"]


# ---- ratios ------------------------------------------------------------------------------------------------


def time_at(points, target):
    """Time at which a setting has this error, between two of its steps by powers; None where it is beyond them. Where the error
    falls by more than STEEP from one step to the next, the longer one was not yet stable and the time of the shorter counts.
    points: (error, seconds) from the longest step to the shortest."""
    if points and points[0][0] <= target:
        return points[0][1]
    for (error, seconds), (less, more) in zip(points, points[1:]):
        if error > target >= less:
            share = 1 if error > STEEP * less else math.log(error / target) / math.log(error / less)
            return seconds * (more / seconds)**share
    return None


def best_at(rows, engine, error, target):
    """The least time of an engine's settings at an error: (seconds, words), or None."""
    found = []
    for setting in dict.fromkeys(row["setting"] for row in rows if row["engine"] == engine):
        own = [row for row in rows if row["engine"] == engine and row["setting"] == setting and row["whole"]]
        points = [(row["errors"][error], row["seconds"]) for row in own if row["errors"].get(error) is not None]
        seconds = time_at(points, target)
        if seconds is not None:
            found.append((seconds, own[0]["words"]))
    return min(found, default=None)


def compare(rows, name, engines):
    """One line per error and target: the best of each engine, and our time over theirs."""
    lines = []
    for error, targets in PLANS[name][3].items():
        for target in targets:
            best = {engine: best_at(rows, engine, error, target) for engine in engines}
            ours = best.get("delassus")
            ratios = {engine: ours[0] / theirs[0] if ours and theirs else None for engine, theirs in best.items() if engine != "delassus"}
            lines.append({"mechanism": name, "error": error, "target": target, "ratios": ratios,
                          "best": {engine: {"seconds": b[0], "words": b[1]} if b else None for engine, b in best.items()}})
    return lines


# ---- all of it ---------------------------------------------------------------------------------------------


def run_all(build, names, engines, scale):
    engines = [engine for engine in engines or SETTINGS if engine in SETTINGS]
    here = [engine for engine in engines if contest.command_of(engine, build)]
    result = {"note": NOTE, "engines": {engine: contest.describe(engine, contest.command_of(engine, build)) for engine in engines},
              "mechanisms": [], "rows": [], "equal": []}
    for name in names:
        reference, trust = find_reference(build, name, scale) if "delassus" in here else (None, None)
        scene = mechanisms.MAKERS[name]()
        rows = []
        for engine in here:
            for setting in SETTINGS[engine].get(name, SETTINGS[engine][""]):
                rows += run_setting(build, name, engine, setting, reference, scale)
        errors = {error: dict(zip(("title", "unit", "compared"), mechanisms.ERRORS[error])) for error in scene.errors}
        result["mechanisms"].append({"name": name, "title": scene.title, "seconds": scale * scene.seconds, "reference": trust,
                                     "errors": errors})
        result["rows"] += rows
        result["equal"] += compare(rows, name, here)
    return result


def draw(result, folder):
    """A figure per mechanism: its first error over time."""
    paths = []
    for mechanism in result["mechanisms"]:
        error, words = next(iter(mechanism["errors"].items()))
        curves = {}
        for row in result["rows"]:
            if row["mechanism"] == mechanism["name"] and row["whole"] and row["errors"].get(error):
                label = f"{result['engines'][row['engine']]['name']}, {row['words']}"
                curves.setdefault((row["engine"], label), []).append((row["seconds"], row["errors"][error]))
        if curves:
            paths.append(folder / f"mechanisms_{mechanism['name']}.svg")
            paths[-1].write_text(plot.loglog(mechanism["title"], "processor time, s", f"{words['title']}, {words['unit']}", curves))
    return paths
