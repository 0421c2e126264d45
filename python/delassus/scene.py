"""Scenes: a world, how it is stepped and what is recorded, from YAML or from dicts."""
import ctypes
import dataclasses
import json
import os

from . import _c
from ._library import ArgumentError, Object, Owner, encoded, lib, new_pointer, path_bytes, pending, text
from ._options import as_text
from ._progress import Progress
from .results import Results
from .simulation import Simulation
from .world import World

ENDS = ("finished", "interrupted", "uncertified")


@dataclasses.dataclass(frozen=True)
class Run:
    """What a recorded run came to.

    end: 'finished', 'interrupted' or 'uncertified'; summary: certified steps, worst residual, …; hash: of the states.
    """
    path: str | None
    end: str
    summary: _c.dls_run_summary
    hash: int

    @property
    def results(self) -> Results:
        """The results file, opened."""
        if self.path is None:
            raise ArgumentError("this run recorded nothing: run(path) does")
        return Results(self.path)


def plain(value):
    """What JSON has no word for: numbers of NumPy, arrays, paths."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"a scene holds texts, numbers, lists and dicts, not a {type(value).__name__}")


class Scene(Object):
    """A scene from a dict with the keys of a scene file (Scene.read and Scene.parse take files and texts).

    settings: {'time.step': 1e-4, 'variables.rpm': 20}, over what the scene says.

    >>> scene = Scene({"delassus": 1, "time": {"step": 1e-3, "until": 0.1}, "bodies": [
    ...     {"name": "floor", "motion": "static", "shape": {"kind": "half-space"}},
    ...     {"name": "ball", "position": [0, 0, 0.2], "shape": {"kind": "sphere", "radius": 0.1}}]})
    >>> sim = scene.simulation()
    >>> _ = sim.run(0.1)
    >>> round(sim["ball"].x[2], 4)
    0.151
    """

    def __init__(self, description, settings=None, folder="."):
        if not isinstance(description, dict):
            raise TypeError(f"expected a dict, found {type(description).__name__}; Scene.read takes paths, Scene.parse texts")
        content = json.dumps({"delassus": 1, **description}, default=plain, ensure_ascii=False, indent=1)
        self._read_text(content, "a dict", settings, folder)

    @classmethod
    def read(cls, path, settings=None) -> "Scene":
        """A scene file."""
        scene = cls.__new__(cls)
        count, table = setting_texts(settings)
        scene._own(new_pointer(_c.dls_scene, lib.dls_scene_read, path_bytes(path), count, table))
        return scene

    @classmethod
    def parse(cls, content, settings=None, name="a text", folder=".") -> "Scene":
        """A scene as YAML text. folder: where files of meshes are looked for."""
        scene = cls.__new__(cls)
        scene._read_text(content, name, settings, folder)
        return scene

    @classmethod
    def template(cls, name, settings=None) -> "Scene":
        """One of the commented scenes that `delassus new` writes; see templates()."""
        for index in range(lib.dls_scene_template_count()):
            if text(lib.dls_scene_template_name(index)) == name:
                return cls.parse(text(lib.dls_scene_template_text(index)), settings, f"{name}.yaml")
        raise ArgumentError(f"no template '{name}'; there are {', '.join(templates())}")

    def _read_text(self, content, name, settings, folder):
        count, table = setting_texts(settings)
        raw = content.encode() if isinstance(content, str) else bytes(content)
        self._own(new_pointer(_c.dls_scene, lib.dls_scene_read_text, raw, len(raw), encoded(name, "name"),
                              path_bytes(folder), count, table))

    def _own(self, pointer):
        self._owner = Owner("scene", pointer, lib.dls_scene_destroy)
        self.world = World._borrow(lib.dls_scene_world(pointer), self._owner)

    @property
    def title(self) -> str:
        return text(self._owner.ask(lib.dls_scene_title))

    @property
    def text(self) -> str:
        """The scene's text, with settings as a comment at its end."""
        return text(self._owner.ask(lib.dls_scene_text))

    @property
    def solver(self) -> str:
        """The name of its solver."""
        return text(self._owner.ask(lib.dls_scene_solver)[0].name)

    @property
    def step(self) -> float:
        """h, s."""
        return self._owner.ask(lambda scene: lib.dls_scene_simulation_options(scene)[0].step)

    @property
    def options(self):
        """What a run does beside stepping: until, output_interval, …"""
        return self._owner.ask(lambda scene: _c.dls_run_options.from_buffer_copy(lib.dls_scene_run_options(scene)[0]))

    def check(self) -> list[str]:
        """Lines about what is likely a mistake: overlaps, thin walls, long steps, doubtful units."""
        lines, warnings = [], ctypes.c_int()
        warn = ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_void_p)(lambda line, _: lines.append(text(line)))
        self._owner.change(lib.dls_scene_check, warn, None, ctypes.byref(warnings))
        return lines

    def simulation(self) -> Simulation:
        """A simulation at the scene's beginning, with its solver and options."""
        with self._owner.turn.lock:
            self._owner.refuse_in_callbacks()
            pointer = new_pointer(_c.dls_simulation, lib.dls_scene_simulation_create, self._owner.alive())
            return Simulation._of_scene(pointer, self)

    def run(self, path=None, *, resume=False, progress=None, every_step=None, dump_folder=None) -> Run:
        """Runs it from its first step to its last, and records it in a results file where a path is given.

        resume: from the checkpoint beside that file, if there is one.
        progress: whether a bar is shown; by default where the output is a terminal.
        every_step: a function of the report and of the simulation, which it may read; what it returns as False ends
        the run, with a checkpoint.
        Ctrl-C ends it with a checkpoint too, and raises KeyboardInterrupt. An error in every_step is raised here.
        """
        with Progress(progress, self.options.until) as bar:
            lent = []  # the run's own simulation, for as long as it runs

            def after(report, simulation, _):
                if pending.error is not None:
                    return False
                try:
                    copy = _c.dls_step_report.from_buffer_copy(report[0])
                    bar.show(copy.t, copy)
                    if every_step is None:
                        return True
                    if not lent:
                        lent.append(Simulation._of_run(simulation, self))
                    return every_step(copy, lent[0]) is not False
                except BaseException as error:  # Ctrl-C arrives here, too
                    pending.error = error
                    return False

            callback = _c.dls_run_callback(after)
            definition = _c.dls_run_def(results=None if path is None else path_bytes(path), resume=bool(resume),
                                        dump_folder=None if dump_folder is None else path_bytes(dump_folder),
                                        callback=callback)
            end, summary, value = ctypes.c_int(), _c.dls_run_summary(), ctypes.c_uint64()
            try:
                self._owner.work("run", lib.dls_run_scene, ctypes.byref(definition), ctypes.byref(end),
                                 ctypes.byref(summary), ctypes.byref(value))
            finally:
                for simulation in lent:
                    simulation._owner.end()
        return Run(None if path is None else os.fspath(path), ENDS[end.value], summary, value.value)


def templates() -> dict[str, str]:
    """Names of scenes to start from, each with a line about it.

    >>> templates()["drum"]
    'A planar drum that turns, half full of discs'
    """
    return {text(lib.dls_scene_template_name(index)): text(lib.dls_scene_template_summary(index))
            for index in range(lib.dls_scene_template_count())}


def template_text(name):
    """The text of one of them."""
    with Scene.template(name) as scene:
        return scene.text


def setting_texts(settings):
    lines = [encoded(f"{key}={as_text(key, value)}", "a setting") for key, value in (settings or {}).items()]
    return len(lines), (ctypes.c_char_p * len(lines))(*lines)
