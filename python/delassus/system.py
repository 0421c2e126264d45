"""Mechanical systems by functions, stepped by the nonsmooth generalized-α scheme."""
import ctypes
import dataclasses
from typing import Callable

import numpy

from . import _c
from ._arrays import address, real_array
from ._laws import numbers_at
from ._library import ArgumentError, InputError, Object, Owner, lib, new_pointer, pending
from ._options import Fields, refuse_unknown

OPTIONS = Fields.of(lib.dls_alpha_fields)
FAMILIES = {"constraints": _c.DLS_ROWS_G, "velocities": _c.DLS_ROWS_GAMMA, "contacts": _c.DLS_ROWS_N, "friction": _c.DLS_ROWS_F}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Rows:
    """Rows of one family: constraints g(t,q) = 0, constraints γ(t,q,u) = 0, gaps of contacts, velocities of friction.

    rate: (t, q, u) ↦ ġ or γ, affine in u, as many numbers as there are rows. value: (t, q) ↦ g, of constraints and contacts.
    direction: (t, q) ↦ W, velocities × rows; bend: (t, q, u) ↦ ζ of d(rate)/dt = Wᵀa + ζ; by default from rate.
    value_slope, rate_slope: rows × coordinates; direction_slope: (t, q, y) ↦ ∂(W y)/∂q; bend_slope: (t, q, u, a) ↦ a pair,
    ∂(Wᵀa + ζ)/∂q and ∂ζ/∂u. By default slopes are taken by differences.
    """
    count: int
    rate: Callable
    value: Callable | None = None
    direction: Callable | None = None
    bend: Callable | None = None
    value_slope: Callable | None = None
    rate_slope: Callable | None = None
    direction_slope: Callable | None = None
    bend_slope: Callable | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class FrictionLaw:
    """A friction law on the next `size` rows of friction: 1 planar, 2 spatial, 3 Coulomb–Contensou.

    contact: whose normal force feeds it; −1: `limit` does, N. mu, e_t; r: of the prox equations, kg, 0: the options'.
    """
    contact: int
    size: int = 1
    mu: float = 0.0
    limit: float = 0.0
    e_t: float = 0.0
    r: float = 0.0


class System(Object):
    """M(t,q) du = h(t,q,u) dt + forces of constraints, contacts and friction; q̇ = u, or as `motion` says.

    q, u: the start. mass: (t, q) ↦ M. force: (t, q, u) ↦ h. t: the time of the start.
    constraints, velocities, contacts, friction: Rows of each family, or None.
    restitution: e_n of contacts, a number for all or one for each. laws: a FrictionLaw for each law.
    motion: (t, q, u) ↦ q̇, affine in u; motion_matrix, motion_bend: B and ∂q̇/∂q q̇ + ∂q̇/∂t.
    settle: (t, q) ↦ q after each step, for example unit quaternions.
    mass_slope: (t, q, x) ↦ ∂(M x)/∂q; force_slope: (t, q, u) ↦ ∂h/∂q and ∂h/∂u.

    >>> ball = System([1.0], [0.0], dt=1e-2, mass=lambda t, q: [[2.0]], force=lambda t, q, u: [-2 * 9.81],
    ...               contacts=Rows(count=1, value=lambda t, q: q, rate=lambda t, q, u: u), restitution=0.5)
    >>> report = ball.step(100)
    >>> bool(0 <= ball.q[0] < 0.3)
    True

    Options:

    """

    def __init__(self, q, u, *, mass, force, t=0.0, constraints=None, velocities=None, contacts=None, friction=None,
                 restitution=0.0, laws=(), motion=None, motion_matrix=None, motion_bend=None, settle=None, mass_slope=None,
                 force_slope=None, **options):
        q, u = real_array(q, "q", (-1,)), real_array(u, "u", (-1,))
        n, m = len(q), len(u)
        settings = lib.dls_alpha_default_options()
        refuse_unknown(options, OPTIONS)
        OPTIONS.set(settings, options)
        keep, model = [], _c.dls_model(coordinates=n, velocities=m)
        for member, function, inputs, outputs in (
                ("mass", mass, (n,), ((m, m),)), ("force", force, (n, m), ((m,),)),
                ("mass_slope", mass_slope, (n, m), ((m, n),)), ("force_slope", force_slope, (n, m), ((m, n), (m, m))),
                ("motion", motion, (n, m), ((n,),)), ("motion_matrix", motion_matrix, (n,), ((n, m),)),
                ("motion_bend", motion_bend, (n, m), ((n,),))):
            put(model, member, function, inputs, outputs, keep)
        if settle is not None:
            put(model, "settle", settle, (), ((n,),), keep, reads_output=True)
        given = {"constraints": constraints, "velocities": velocities, "contacts": contacts, "friction": friction}
        self._counts = {family: rows.count if rows else 0 for family, rows in given.items()}
        for family, rows in given.items():
            if rows is not None:
                fill_rows(model.rows[FAMILIES[family]], rows, n, m, keep)
        self._fill_laws(model, restitution, laws, keep)
        pointer = new_pointer(_c.dls_alpha, lib.dls_alpha_create, ctypes.byref(model), ctypes.byref(settings), float(t),
                              address(q), address(u))
        self._owner = Owner("system", pointer, lib.dls_alpha_destroy)
        self._owner.keep += [model, keep]
        self._sizes = n, m

    def _fill_laws(self, model, restitution, laws, keep):
        count = self._counts["contacts"]
        bounces = real_array(restitution, "restitution").reshape(-1)
        if bounces.size not in (1, count):
            raise InputError(f"restitution: {bounces.size} numbers, expected one for each of {count} contacts")
        table = (_c.dls_model_contact * max(count, 1))(*((float(bounces[k % bounces.size]), 0.0) for k in range(count)))
        rules = (_c.dls_model_friction * max(len(laws), 1))(*(
            _c.dls_model_friction(**dataclasses.asdict(law)) for law in laws))
        model.contacts, model.laws, model.law_count = table, rules, len(laws)
        keep += [table, rules]

    def step(self, count=1) -> _c.dls_alpha_report:
        """Takes steps of dt; returns the report of the last one. Where one fails the state stays as it was."""
        if count < 1:
            raise ArgumentError(f"count: {count}, expected 1 or more")
        report = _c.dls_alpha_report()
        for _ in range(count):
            self._owner.work("stepped", lib.dls_alpha_step, ctypes.byref(report))
        return report

    def _view(self, use):
        with self._owner.turn.lock:
            return use(lib.dls_alpha_get(self._owner.alive()))

    def _numbers(self, place, count):
        return numbers_at(place, count).copy() if place and count else numpy.zeros(0)

    @property
    def t(self) -> float:
        """s"""
        return self._view(lambda view: view.t)

    @property
    def q(self) -> numpy.ndarray:
        """Coordinates: a copy."""
        return self._view(lambda view: self._numbers(view.q, self._sizes[0]))

    @property
    def u(self) -> numpy.ndarray:
        """Velocities: a copy."""
        return self._view(lambda view: self._numbers(view.u, self._sizes[1]))

    @property
    def a(self) -> numpy.ndarray:
        """Accelerations at the end of the step: a copy."""
        return self._view(lambda view: self._numbers(view.a, self._sizes[1]))

    def forces(self, family) -> numpy.ndarray:
        """λ of 'constraints', 'velocities', 'contacts' or 'friction' at the end of the step: a copy."""
        return self._family("force", family)

    def impacts(self, family) -> numpy.ndarray:
        """Λ, impulses of impacts in the step: a copy."""
        return self._family("impact", family)

    def _family(self, member, family):
        if family not in FAMILIES:
            raise ArgumentError(f"no family '{family}'; there are {', '.join(FAMILIES)}")
        index, count = FAMILIES[family], self._counts[family]
        return self._view(lambda view: self._numbers(getattr(view, member)[index], count))

    @property
    def gaps(self) -> numpy.ndarray:
        """g_N at the end of the step: a copy."""
        return self._view(lambda view: self._numbers(view.gap, self._counts["contacts"]))

    def save(self) -> bytes:
        """All that later steps depend on, as bytes."""
        with self._owner.turn.lock:
            room = ctypes.create_string_buffer(self._owner.ask(lib.dls_alpha_state_size))
            self._owner.ask(lib.dls_alpha_state_write, room)
        return room.raw

    def load(self, state):
        """Goes on from what save() gave, to the same bits."""
        if not isinstance(state, (bytes, bytearray, memoryview)):
            raise TypeError(f"state: expected bytes as save() gives them, found {type(state).__name__}")
        state = bytes(state)
        self._owner.change(lib.dls_alpha_state_read, state, len(state))


def fill_rows(place, rows, n, m, keep):
    if rows.count < 1:
        raise InputError(f"rows: count {rows.count}, expected 1 or more")
    place.count, c = rows.count, rows.count
    for member, inputs, outputs in (
            ("value", (n,), ((c,),)), ("rate", (n, m), ((c,),)), ("direction", (n,), ((m, c),)), ("bend", (n, m), ((c,),)),
            ("value_slope", (n,), ((c, n),)), ("rate_slope", (n, m), ((c, n),)), ("direction_slope", (n, c), ((m, n),)),
            ("bend_slope", (n, m, m), ((c, n), (c, m)))):
        put(place, member, getattr(rows, member), inputs, outputs, keep)


def put(place, member, function, inputs, outputs, keep, reads_output=False):
    """Sets a callback that hands copies to a Python function and checks the shapes of what it returns."""
    if function is None:
        return
    if not callable(function):
        raise TypeError(f"{member}: expected a function, found {type(function).__name__}")

    def call(t, *pointers):
        places = pointers[len(inputs):-1]
        try:
            if pending.error is not None:
                raise pending.error
            read = [*zip(pointers, inputs), *([(places[0], outputs[0][0])] if reads_output else [])]
            answers = function(t, *(numbers_at(pointer, size).copy() for pointer, size in read))
            for place, shape, answer in zip(places, outputs, (answers,) if len(outputs) == 1 else answers, strict=True):
                array = numpy.asarray(answer, float)
                if array.shape != shape:
                    raise ValueError(f"{member} returned shape {array.shape}, expected {shape}")
                numbers_at(place, array.size)[:] = array.ravel(order="F")
        except BaseException as error:  # it waits for the end of the step, whatever it is
            pending.error = error
            for place, shape in zip(places, outputs):
                numbers_at(place, int(numpy.prod(shape)))[:] = numpy.nan
    thunk = dict(type(place)._fields_)[member](call)
    keep.append(thunk)
    setattr(place, member, thunk)


OPTION_LINES = "\n".join("    " + line for line in OPTIONS.describe(lib.dls_alpha_default_options()))
System.__doc__ = f"{System.__doc__.rstrip()}\n\n{OPTION_LINES}\n"
