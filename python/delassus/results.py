"""What a run left: states, contacts, joints and the history of steps as arrays, and measures of them."""
import ctypes

import numpy

from . import _c
from ._arrays import CONTACT, GRADIENT, JOINT, NODE, POSE, REPORT, STATE, address, records, vector, whole
from ._library import ArgumentError, Object, Owner, encoded, lib, new_pointer, path_bytes, text
from .problem import Problem

STRUCTS = {CONTACT: _c.dls_contact_record, JOINT: _c.dls_joint_record, NODE: _c.dls_node_record,
           GRADIENT: _c.dls_gradient_record}


class Results(Object):
    """A results file. It is read as it is now, also while the run goes on. Arrays are copies.

    Frames go by number from 0, −1 for the last. Names of bodies are in `names`, their ids in the same order.
    """

    def __init__(self, path):
        pointer = new_pointer(_c.dls_results, lib.dls_results_open, path_bytes(path))
        self._owner = Owner("results file", pointer, lib.dls_results_destroy)

    def __len__(self) -> int:
        """Frames."""
        return self._owner.ask(lib.dls_results_frame_count)

    def _frame(self, frame):
        count, index = len(self), frame.__index__()
        if not -count <= index < count:
            raise IndexError(f"no frame {frame}: there are {count}")
        return index % count

    @property
    def title(self) -> str:
        return text(self._owner.ask(lib.dls_results_title))

    @property
    def scene_text(self):
        return text(self._owner.ask(lib.dls_results_scene_text))

    @property
    def solver(self):
        return text(self._owner.ask(lib.dls_results_solver))

    @property
    def dimension(self) -> int:
        return self._owner.ask(lib.dls_results_dimension)

    @property
    def bodies(self) -> int:
        """How many there ever were."""
        return self._owner.ask(lib.dls_results_body_count)

    @property
    def names(self) -> list[str]:
        """Of bodies, by id; "" for none."""
        return self._owner.ask(lambda results: [text(lib.dls_results_body_name(results, body))
                                                for body in range(lib.dls_results_body_count(results))])

    @property
    def masses(self) -> numpy.ndarray:
        """Of bodies, by id, kg; infinite of static and driven ones."""
        found, mass = numpy.empty(self.bodies), _c.dls_body_mass()
        for body in range(len(found)):
            self._owner.call(lib.dls_results_body_mass, body, ctypes.byref(mass))
            found[body] = mass.mass
        return found

    @property
    def times(self) -> numpy.ndarray:
        """Of frames, s."""
        return self._owner.ask(lambda results: numpy.array([
            lib.dls_results_frame_time(results, frame) for frame in range(lib.dls_results_frame_count(results))]))

    @property
    def summary(self):
        """Of a run that came to its end, else None."""
        found = _c.dls_run_summary()
        return found if self._owner.ask(lib.dls_results_finished, ctypes.byref(found)) else None

    def states(self, frame=None) -> numpy.ndarray:
        """States of all bodies by id in a frame, or of all frames: members x, q, v and w."""
        return self._read_states(frame, STATE)[0]

    def present(self, frame=None) -> numpy.ndarray:
        """Which bodies take part in a frame, or in each of all frames."""
        return self._read_states(frame, None)[1]

    def _read_states(self, frame, kind):
        frames, bodies = range(len(self)) if frame is None else [self._frame(frame)], self.bodies
        states = None if kind is None else numpy.zeros((len(frames), bodies), kind)
        present = numpy.empty((len(frames), bodies), bool)
        for row, number in enumerate(frames):
            place = None if states is None else records(states[row], _c.dls_body_state)
            self._owner.call(lib.dls_results_frame_states, number, place, address(present[row]))
        chosen = slice(None) if frame is None else 0
        return None if states is None else states[chosen], present[chosen]

    def poses(self, frame) -> numpy.ndarray:
        """Where bodies stood when the frame's contacts were found, by id: members x and q."""
        found = numpy.zeros(self.bodies, POSE)
        self._owner.call(lib.dls_results_frame_poses, self._frame(frame), records(found, _c.dls_pose))
        return found

    def contacts(self, frame) -> numpy.ndarray:
        """Contacts of a frame, as Simulation.contacts gives them."""
        return self._frame_records(frame, CONTACT, lib.dls_results_frame_contact_count, lib.dls_results_frame_contacts)

    def joints(self, frame) -> numpy.ndarray:
        """Joints of a frame, as Simulation.joints gives them."""
        return self._frame_records(frame, JOINT, lib.dls_results_frame_joint_count, lib.dls_results_frame_joints)

    def nodes(self, frame) -> numpy.ndarray:
        """Places on bodies that deform: body, at, x, v, von_mises, principal; a line's, or the points of a skin."""
        return self._frame_records(frame, NODE, lib.dls_results_frame_node_count, lib.dls_results_frame_nodes)

    def gradients(self, frame) -> numpy.ndarray:
        """Of pseudo-rigid bodies: body, and F with its rate, column by column; the place X is at x + F X."""
        return self._frame_records(frame, GRADIENT, lib.dls_results_frame_gradient_count,
                                   lib.dls_results_frame_gradients)

    def _frame_records(self, frame, kind, count, read):
        number = self._frame(frame)
        found = numpy.zeros(self._owner.ask(count, number), kind)
        self._owner.call(read, number, records(found, STRUCTS[kind]))
        return found

    def steps(self) -> numpy.ndarray:
        """The history: a row per step with t, contacts, residual, held, energy, …"""
        found = numpy.zeros(self._owner.ask(lib.dls_results_step_count), REPORT)
        if len(found):
            self._owner.call(lib.dls_results_steps, 0, len(found), records(found, _c.dls_step_report))
        return found

    def problem(self, frame) -> Problem:
        """The contact problem of a recorded frame, rebuilt."""
        number = self._frame(frame)
        pointer = ctypes.POINTER(_c.dls_problem)()
        self._owner.call(lib.dls_results_problem, number, ctypes.byref(pointer))
        return Problem(pointer)

    def frame_table(self, what="steps", frame=-1):
        """'steps', 'states', 'contacts', 'joints', 'nodes' or 'gradients' as a pandas table with a column per number."""
        sources = {"steps": self.steps, "states": lambda: self.states(frame),
                   "contacts": lambda: self.contacts(frame), "joints": lambda: self.joints(frame),
                   "nodes": lambda: self.nodes(frame), "gradients": lambda: self.gradients(frame)}
        if what not in sources:
            raise ArgumentError(f"no table '{what}'; there are {', '.join(sources)}")
        return as_table(sources[what]())

    def export_csv(self, folder):
        """bodies.csv, contacts.csv, joints.csv and steps.csv in a folder."""
        self._owner.call(lib.dls_results_export_csv, path_bytes(folder))

    def export_vtk(self, folder):
        """run.pvd and what it names, for ParaView."""
        self._owner.call(lib.dls_results_export_vtk, path_bytes(folder))

    def analyze(self, measure, **options) -> "Analysis":
        """A measure of the run: see measures(). Options: first_frame, last_frame, axis ('x', 'y', 'z'), region
        ((low), (high)), floor, layers, plane ((point), (normal)), joint."""
        return Analysis(self, measure, options)


def measures() -> dict[str, str]:
    """Names of all measures, each with a line about it.

    >>> "coordination" in measures()
    True
    """
    rows = (lib.dls_analysis_measure_at(index)[0] for index in range(lib.dls_analysis_measure_count()))
    return {text(row.name): text(row.summary) for row in rows}


class Analysis:
    """What a measure found. facts: {name: Fact(value, spread, unit, meaning)}; tables: {name: {column: array}}."""

    def __init__(self, results, measure, options):
        settings, keep = analysis_options(options)
        pointer = ctypes.POINTER(_c.dls_analysis)()
        results._owner.call(lib.dls_analysis_create, encoded(measure, "measure"), ctypes.byref(settings),
                            ctypes.byref(pointer))
        del keep
        self.measure, self.facts, self.tables, self.units = measure, {}, {}, {}
        try:
            for index in range(lib.dls_analysis_fact_count(pointer)):
                fact = lib.dls_analysis_fact_at(pointer, index)
                self.facts[text(fact.name)] = Fact(fact.value, fact.spread, text(fact.unit), text(fact.meaning))
            for index in range(lib.dls_analysis_table_count(pointer)):
                self._take_table(lib.dls_analysis_table_at(pointer, index))
        finally:
            lib.dls_analysis_destroy(pointer)

    def _take_table(self, table):
        columns, units = (ctypes.cast(texts, ctypes.POINTER(ctypes.c_char_p)) for texts in (table.columns, table.units))
        count, name = table.row_count * table.column_count, text(table.name)
        numbers = numpy.ctypeslib.as_array(ctypes.cast(table.values, ctypes.POINTER(ctypes.c_double)), (count,)).copy() \
            if count else numpy.zeros(0)
        numbers = numbers.reshape(table.row_count, table.column_count)
        keys = [text(columns[index]) for index in range(table.column_count)]
        self.tables[name] = {key: numbers[:, index].copy() for index, key in enumerate(keys)}
        self.units[name] = {key: text(units[index]) for index, key in enumerate(keys)}

    def __getitem__(self, fact):
        return self.facts[fact].value

    def __repr__(self):
        return f"<analysis {self.measure}: " + ", ".join(f"{key} = {fact}" for key, fact in self.facts.items()) + ">"


class Fact:
    """One number with its spread: the deviation over frames, or the uncertainty of a fit; NaN for none."""

    __slots__ = ("value", "spread", "unit", "meaning")

    def __init__(self, value, spread, unit, meaning):
        self.value, self.spread, self.unit, self.meaning = value, spread, unit, meaning

    def __float__(self):
        return self.value

    def __repr__(self):
        spread = "" if self.spread != self.spread else f" ± {self.spread:.3g}"
        return f"{self.value:.6g}{spread}{'' if self.unit == '1' else ' ' + self.unit}"


def analysis_options(given):
    settings, keep = lib.dls_default_analysis_options(), []
    for key, value in given.items():
        if key in ("first_frame", "last_frame", "layers"):
            setattr(settings, key, whole(value, key))
        elif key == "floor":
            settings.floor = float(value)
        elif key == "axis" and value in ("x", "y", "z"):
            settings.axis = _c.DLS_AXIS_X + "xyz".index(value)
        elif key == "region":
            settings.has_region = True
            settings.region_low[:], settings.region_high[:] = (vector(corner, "region") for corner in value)
        elif key == "plane":
            settings.has_plane = True
            settings.plane_point[:], settings.plane_normal[:] = (vector(part, "plane") for part in value)
        elif key == "joint":
            keep.append(encoded(str(value), "joint"))
            settings.joint = keep[-1]
        else:
            raise ArgumentError(f"analysis: no option {key}={value!r}; there are first_frame, last_frame, axis "
                                "('x', 'y' or 'z'), region, floor, layers, plane, joint")
    return settings, keep


def as_table(array):
    """A pandas table of an array of records: members with several numbers become columns x_0, x_1, …"""
    import pandas
    columns = {}

    def take(name, part):
        if part.dtype.names:
            for inner in part.dtype.names:
                take(f"{name}.{inner}" if name else inner, part[inner])
        elif part.ndim == 2:
            columns.update({f"{name}_{index}": part[:, index] for index in range(part.shape[1])})
        else:
            columns[name] = part
    take("", array)
    return pandas.DataFrame(columns)
