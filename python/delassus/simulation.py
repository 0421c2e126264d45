"""Simulations of worlds: stepping, contacts, energies, recording."""
import ctypes

import numpy

from . import _c
from ._arrays import CONTACT, JOINT, records, room_for_states
from ._library import ArgumentError, InputError, Object, Owner, checked, encoded, lib, new_pointer, path_bytes, pending
from ._options import Fields, SolverRow, refuse_unknown
from ._progress import Progress
from ._laws import refuse_threads
from .problem import Problem, take_callback
from .world import Bodies, World

OPTIONS = Fields.of(lib.dls_simulation_fields)


class Simulation(Object, Bodies):
    """Steps a world. Bodies go by name or id, `sim["grain-3"].x`; arrays of all are copies, by id.

    world: it may gain and lose bodies between steps.
    solver: its name; see solvers(), and options(name) for its keywords, which may stand beside those below.
    callback: called after iterations of the solver with the iterate; what it returns as false ends the solve.

    >>> world = World()
    >>> _ = world.add_body(shapes.half_space(), motion="static")
    >>> ball = world.add_body(shapes.sphere(0.1), name="ball", position=(0, 0, 0.1))
    >>> sim = Simulation(world, step=1e-3, solver="nlgs", tolerance=1e-8)
    >>> sim.step(10).certified
    True
    >>> round(float(sim.contacts()["impulse"][0][0] / 1e-3), 3), round(ball.mass * 9.81, 3)
    (41.092, 41.092)

    Options:

    """

    def __init__(self, world, *, solver="auto", callback=None, **options):
        if not isinstance(world, World):
            raise TypeError(f"expected a World, found {type(world).__name__}")
        settings, row = lib.dls_default_simulation_options(), SolverRow(solver)
        lib.dls_simulation_solver_defaults(row.row, ctypes.byref(row.bytes))
        refuse_unknown(options, OPTIONS, row.fields)
        OPTIONS.set(settings, {key: value for key, value in options.items() if key in OPTIONS.keys})
        row.set({key: value for key, value in options.items() if key in row.fields.keys})
        with world._owner.turn.lock:
            world._owner.refuse_in_callbacks()
            pointer = new_pointer(_c.dls_simulation, lib.dls_simulation_create, world._owner.alive(),
                                  ctypes.byref(settings))
            self._own(pointer, world, world._owner, settings.step)
        self._use_solver(row, callback)

    @classmethod
    def _of_scene(cls, pointer, scene):
        simulation = cls.__new__(cls)
        simulation._own(pointer, scene.world, scene._owner, scene.step)
        simulation._solver = scene.solver
        return simulation

    @classmethod
    def _of_run(cls, pointer, scene):
        """That of a run that goes on: it ends with it."""
        simulation = cls._of_scene(pointer, scene)
        simulation._owner.destroy = None
        return simulation

    def _own(self, pointer, world, parent, step):
        self._owner = Owner("simulation", pointer, lib.dls_simulation_destroy, parent)
        self._world, self._callback, self._step = world, None, step
        self._room = None, 0, None

    def _use_solver(self, row, callback):
        refuse_threads(row)
        thunk = take_callback(row, callback)
        self._owner.change(lib.dls_simulation_set_solver, row.row, ctypes.byref(row.bytes))
        self._callback, self._solver = thunk, row.name  # the one before is no longer called

    def set_solver(self, solver, *, callback=None, **options):
        """Another solver from the next step on, with its own defaults but for the options given."""
        row = SolverRow(solver)
        lib.dls_simulation_solver_defaults(row.row, ctypes.byref(row.bytes))
        refuse_unknown(options, row.fields)
        row.set(options)
        self._use_solver(row, callback)

    def set_step(self, step):
        """Another step h from now on, s."""
        self._owner.change(lib.dls_simulation_set_step, float(step))
        self._step = float(step)

    # ---- stepping ----

    def step(self, count=1, states=None) -> _c.dls_step_report:
        """Takes steps; returns the report of the last one. Other Python threads run meanwhile.

        states: an array of your own, as states() gives it, that gets the states of all bodies after the last step:
        the cheapest way to see all of them.

        >>> world = World()
        >>> _ = world.add_body(shapes.sphere(0.1))
        >>> sim, seen = Simulation(world, step=0.5, rest_speed=1), world.states()
        >>> sim.step(2, states=seen).t, seen["v"][0, 2] == sim.v[0, 2]
        (1.0, True)
        """
        if count < 1:
            raise ArgumentError(f"count: {count}, expected 1 or more")
        owner, report = self._owner, _c.dls_step_report()
        with owner.turn.lock:
            owner.alive()
            world = self._world._owner.pointer
            bodies = 0 if states is None else lib.dls_world_body_count(world)
            room = None if states is None else self._room_in(states, bodies)
            owner.work("stepped", advance, world, count, ctypes.byref(report), bodies, room)
        return report

    def _room_in(self, states, bodies):
        """The array of the step before is not asked again: while C's view of it lives it can be neither moved nor cut."""
        array, rows, room = self._room
        if array is not states or rows != bodies or not array.flags.writeable:
            room = room_for_states(states, bodies)
            self._room = states, bodies, room
        return room

    def run(self, until, *, progress=None, every_step=None, results=None, interval=0.0, contacts=True, title="") -> _c.dls_run_summary:
        """Steps until a time (s); Ctrl-C raises KeyboardInterrupt between two steps, with all states sound.

        progress: whether a bar is shown; by default where the output is a terminal.
        every_step: a function of the report, called after each step; what it returns as False ends the run.
        results: path of a results file, with a frame every `interval` s (0: every step), and contacts where wanted.
        Returns the summary.
        """
        with Progress(progress, until) as bar, _Recorder(self, results, interval, contacts, title) as recorder:
            while not self._reached(until):
                report = self.step()
                recorder.add(report)
                bar.show(report.t, report)
                if every_step is not None and every_step(report) is False:
                    break
        return self.summary

    def _reached(self, until):
        """To half a step, as recorded runs have it."""
        return self.time >= until - self._step / 2

    @property
    def time(self) -> float:
        """s"""
        return self._owner.ask(lib.dls_simulation_time)

    @property
    def steps(self) -> int:
        """How many were taken."""
        return self._owner.ask(lib.dls_simulation_steps)

    @property
    def summary(self) -> _c.dls_run_summary:
        """What all steps add up to: certified ones, the worst residual, …"""
        return self._owner.ask(lib.dls_simulation_summary)

    @property
    def energy(self) -> _c.dls_energy:
        """kinetic, potential, friction, …, unaccounted, J."""
        return self._owner.ask(lib.dls_simulation_energy)

    @property
    def world(self) -> World:
        return self._world

    @property
    def hash(self) -> int:
        """Of all states' bits: equal hashes, equal runs."""
        return self._owner.ask(lib.dls_simulation_hash)

    # ---- what the last step did ----

    def contacts(self) -> numpy.ndarray:
        """A copy of the last step's contacts: body_a, body_b, point, frame, gap, mu, impulse, velocity, …

        impulse and velocity are in the columns n, t₁, t₂ of frame (nine numbers, column by column); n is from A to B.
        """
        owner = self._owner
        with owner.turn.lock:
            count = ctypes.c_int(owner.ask(lib.dls_simulation_contact_count))
            found = numpy.zeros(count.value, CONTACT)
            owner.call(lib.dls_simulation_contacts, count.value, records(found, _c.dls_contact_record),
                       ctypes.byref(count))
        return found

    def joints(self) -> numpy.ndarray:
        """A copy of what joints did in the last step: joint, impulse, actuator, coordinate, speed, gap, work, …"""
        owner, count = self._owner, ctypes.c_int()
        with owner.turn.lock:
            room = self._world._owner.ask(lib.dls_world_joint_count)
            found = numpy.zeros(room, JOINT)
            owner.call(lib.dls_simulation_joints, room, records(found, _c.dls_joint_record), ctypes.byref(count))
        return found[:count.value].copy()

    def problem(self) -> Problem:
        """The contact problem of the last step, as one of its own with W stored."""
        owner = self._owner
        with owner.turn.lock:
            problem = owner.ask(lib.dls_simulation_problem)
            if not problem:
                raise ArgumentError("no contact problem: no step was taken, or it had no contacts")
            return Problem(new_pointer(_c.dls_problem, lib.dls_problem_assemble, problem))

    def impulses(self) -> numpy.ndarray:
        """The solution of problem(): a copy."""
        owner = self._owner
        with owner.turn.lock:
            problem = owner.ask(lib.dls_simulation_problem)
            count = lib.dls_problem_row_count(problem) if problem else 0
            source = owner.ask(lib.dls_simulation_impulses)
            return numpy.ctypeslib.as_array(source, (count,)).copy() if source and count else numpy.zeros(0)

    def gates(self) -> list[dict]:
        """Inlets and removals of a scene: name, is_inlet, bodies, mass, backlog."""
        found = []
        for index in range(self._owner.ask(lib.dls_simulation_gate_count)):
            found.append(self._owner.ask(lib.dls_simulation_gate, index).as_dict())
        return found

    # ---- state as bytes ----

    def save(self) -> bytes:
        """All that later steps depend on, as bytes."""
        owner = self._owner
        with owner.turn.lock:
            room = ctypes.create_string_buffer(owner.ask(lib.dls_simulation_state_size))
            owner.ask(lib.dls_simulation_state_write, room)
        return room.raw

    def load(self, state):
        """Goes on from what save() gave, of a simulation of the same world, to the same bits."""
        if not isinstance(state, (bytes, bytearray, memoryview)):
            raise TypeError(f"state: expected bytes as save() gives them, found {type(state).__name__}")
        state = bytes(state)
        self._owner.change(lib.dls_simulation_state_read, state, len(state))


def advance(simulation, world, count, report, bodies, room, error):
    """Steps, and what they left of all bodies where there is room for it; ends as functions of C do."""
    for _ in range(count):
        status = lib.dls_simulation_step(simulation, report, error)
        if status or pending.error is not None:
            return status
    return lib.dls_body_states_get(world, bodies, None, room, error) if room is not None else status


class _Recorder:
    """The results file of a run; nothing where there is none."""

    def __init__(self, simulation, path, interval, contacts, title):
        self.simulation, self.path, self.interval, self.contacts, self.title = simulation, path, interval, contacts, title
        self.writer, self.next = None, 0.0
        if not interval >= 0:
            raise InputError(f"interval: {interval:g} s, expected 0 or more")

    def __enter__(self):
        if self.path is not None:
            owner = self.simulation._owner
            with owner.turn.lock:
                owner.alive()
                definition = _c.dls_results_def(title=encoded(self.title, "title"), contacts=bool(self.contacts),
                                                solver=encoded(self.simulation._solver, "solver"))
                self.writer = new_pointer(_c.dls_results_writer, lib.dls_results_create, path_bytes(self.path),
                                          self.simulation.world._owner.alive(), ctypes.byref(definition))
            self.frame()
        return self

    def frame(self):
        owner = self.simulation._owner
        with owner.turn.lock:
            checked(lib.dls_results_add_frame, self.writer, owner.alive())
        while self.interval and self.next <= self.simulation.time + self.simulation._step / 2:
            self.next += self.interval

    def add(self, report):
        if self.writer is None:
            return
        with self.simulation._owner.turn.lock:
            checked(lib.dls_results_add_step, self.writer, ctypes.byref(report))
        if report.t >= self.next - self.simulation._step / 2:
            self.frame()

    def __exit__(self, kind, *_):
        if self.writer is None:
            return
        writer, self.writer = self.writer, None
        owner = self.simulation._owner
        with owner.turn.lock:
            if owner.pointer:
                lib.dls_results_add_frame(writer, owner.pointer, None)
            summary = None if kind else ctypes.byref(self.simulation.summary)
            if kind:  # what went wrong before says more than what goes wrong now
                lib.dls_results_close(writer, summary, None)
            else:
                checked(lib.dls_results_close, writer, summary)


OPTION_LINES = "\n".join("    " + line for line in OPTIONS.describe(lib.dls_default_simulation_options()))
Simulation.__doc__ = f"{Simulation.__doc__.rstrip()}\n\n{OPTION_LINES}\n"
