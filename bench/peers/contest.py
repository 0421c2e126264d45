"""Every scene in every engine that is there, each at several settings: one row with its time and its errors."""
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import scenes

HERE = pathlib.Path(__file__).resolve().parent
MOST_SECONDS = 60   # of processor time, after which a run is stopped where it is
REPEATS, SHORT = 3, 1  # runs shorter than SHORT seconds are repeated, the least time counts

# Engine: its name, its package, and its settings by scene; "" stands for all others. What a setting means: head of peer_*.
ENGINES = {
    "delassus": ("Delassus", None, {"": ["1e-6", "1e-8"], "stack": ["1e-4", "1e-6", "1e-8"], "filling": ["1e-4", "1e-6"]}),
    "siconos": ("Siconos", "python3-siconos", {"": ["1e-4:1000", "1e-6:10000"], "filling": ["1e-4:1000"]}),
    "ode": ("ODE", "libode-dev", {"": ["quick:20", "step:0.2", "step:0.05"], "filling": ["quick:20", "quick:200"]}),
    "bullet": ("Bullet", "libbullet-dev", {"": ["default", "impulse:1000", "anchored:1000"],
                                                 "stack": ["default", "impulse:100", "impulse:1000", "anchored:100", "anchored:1000"],
                                                 "filling": ["default", "impulse:200"]}),
}

WORDS = {
    "delassus": lambda s: f"to a residual of {s}",
    "siconos": lambda s: "NSGS to {}, at most {} iterations".format(*s.split(":")),
    "ode": lambda s: ("{} iterations (QuickStep)" if s.startswith("quick") else "pivoting, ERP {}").format(s.split(":")[1]),
    "bullet": lambda s: "as it comes (10 iterations)" if s == "default" else "pivoting (Dantzig)" if s == "dantzig" else
              f"{s.split(':')[1]} iterations" + (", anchored friction" if s.startswith("anchored") else ""),
}

NOTE = ("Processor time of the steps on one thread, the least of three where it is short; errors are measured from states, by the "
        "same code for all engines. Energies are in parts of what there is to lose. Runs longer than a minute are stopped. Debian "
        "builds Siconos with assertions, which take most of its time where there are many contacts.")

# What an engine does when it is told nothing.
DEFAULTS = {("delassus", "1e-6"), ("siconos", "1e-4:1000"), ("ode", "quick:20"), ("bullet", "default")}


def python_with_siconos():
    """The interpreter that has Siconos: this one, or the one that Debian's packages belong to; None where neither does."""
    for interpreter in (sys.executable, "/usr/bin/python3"):
        query = subprocess.run([interpreter, "-c", "import siconos.mechanics.collision.bullet"], capture_output=True, check=False)
        if query.returncode == 0:
            return interpreter
    return None


def command_of(engine, build):
    """What runs a peer; None where it is not installed."""
    if engine == "siconos":
        interpreter = python_with_siconos()
        return interpreter and [interpreter, str(HERE / "peer_siconos.py")]
    program = build / "bench" / f"peer_{engine}"
    return [str(program)] if program.exists() else None


def version_of(package):
    query = subprocess.run(["dpkg-query", "--show", "--showformat", "${Version}", package], capture_output=True, text=True,
                           check=False)
    return query.stdout or "unknown"


def own_version():
    header = (HERE.parents[1] / "include" / "delassus" / "base.h").read_text()
    return re.search(r'#define DLS_VERSION "(.*)"', header)[1]


def describe(engine, command):
    title, package, _ = ENGINES[engine]
    version = version_of(package) if package else own_version()
    return {"name": title, "installed": command is not None, "version": version,
            "hint": f"it needs Debian's {package} and the target bench-peers" if package else "make the target bench-peers"}


def read_frames(text):
    """Frames of what a peer printed; lines of the engine's own are passed over."""
    frames = []
    for line in text.splitlines():
        if line.startswith("frame "):
            _, step, seconds = line.split()
            frames.append((int(step), float(seconds), []))
        elif frames and line[:1] in "-0123456789in":
            frames[-1][2].append(tuple(map(float, line.split())))
    return frames


def run_once(command, scene, setting):
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    with tempfile.NamedTemporaryFile("w", suffix=".scene") as file:
        file.write(scene.text())
        file.flush()
        done = subprocess.run([*command, file.name, setting, str(MOST_SECONDS)], capture_output=True, text=True, env=alone,
                              check=False)
    frames = read_frames(done.stdout)
    if done.returncode != 0 or any(len(states) != len(scene.bodies) for _, _, states in frames) or not frames:
        sys.exit(f"bench/run: {command[-1]} {setting} failed on {scene.name}: {done.stderr.strip()[-500:]}")
    return frames


def run_row(engine, command, scene, setting):
    frames = run_once(command, scene, setting)
    seconds = [frames[-1][1]]
    while len(seconds) < REPEATS and seconds[0] < SHORT:
        seconds.append(run_once(command, scene, setting)[-1][1])
    errors = {name: value if math.isfinite(value) else None for name, value in scenes.measure(scene, frames).items()}
    return {"scene": scene.name, "engine": engine, "setting": setting, "words": WORDS[engine](setting),
            "default": (engine, setting) in DEFAULTS, "steps": frames[-1][0],
            "steps_asked": round(scene.seconds / scene.step), "seconds": min(seconds), "errors": errors}


def run_all(build, names, engines, count, scale):
    """All rows, and which engines are not there; scale shortens the scenes."""
    commands = {engine: command_of(engine, build) for engine in engines or ENGINES}
    found, rows = [], []
    for name in names:
        scene = scenes.make_filling(count=count) if name == "filling" else scenes.MAKERS[name]()
        scene.seconds = scene.step * max(1, round(scale * scene.seconds / scene.step))
        found.append({"name": name, "title": scene.title, "step": scene.step, "seconds": scene.seconds,
                      "errors": {error: dict(zip(("title", "unit", "grows"), scenes.ERRORS[error])) for error in scene.errors}})
        for engine, command in commands.items():
            settings = ENGINES[engine][2]
            for setting in settings.get(name, settings[""]) if command else []:
                print(f"{name}: {engine} {setting} ...", file=sys.stderr, flush=True)
                rows.append(run_row(engine, command, scene, setting))
    return {"note": NOTE, "scenes": found, "engines": {engine: describe(engine, commands[engine]) for engine in commands},
            "rows": rows}
