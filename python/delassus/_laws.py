"""Local laws written in Python: for research, not for speed."""
import ctypes

import numpy

from . import _c
from ._library import ArgumentError, checked, encoded, lib, pending, text
from ._options import laws

STATES = ("open", "stick", "slip", "unsolved")
_registered = {}


class Law:
    """A local law: a function of one contact, r = f(W, mu, b, r), in the table until it is closed.

    W: d × d, the contact's own block; b: its velocity without its own impulse; r: its last impulse. The function
    returns the next impulse, n first. The solvers nlgs and auto take it by its name: `solve(solver="nlgs",
    law="mine")`, on one thread. What it raises ends the solve and is raised there.

    >>> def frictionless(W, mu, b, r):
    ...     return [max(0.0, -b[0] / W[0, 0]), *[0.0] * (len(b) - 1)]
    >>> problem = Problem(numpy.eye(3), [-1, 0, 0], [0.5])
    >>> with Law("frictionless", frictionless):
    ...     problem.solve(solver="nlgs", law="frictionless").r
    array([1., 0., 0.])
    """

    def __init__(self, name, function, summary="written in Python"):
        if not callable(function):
            raise TypeError(f"a law: expected a function, found {type(function).__name__}")
        self.name, self.function = name, function
        self._texts = encoded(name, "name of a law"), encoded(summary, "summary")
        solve = dict(_c.dls_law._fields_)["solve"](self._solve)
        row = _c.dls_law(name=self._texts[0], summary=self._texts[1], solve=solve)
        checked(lib.dls_law_register, ctypes.byref(row))
        self._thunk = solve
        _registered[name] = self  # C calls it until it is taken out

    def _solve(self, _options, d, W, mu, _data, b, r):
        if pending.error is not None:
            return _c.DLS_UNSOLVED
        try:
            place = numbers_at(r, d)
            answer = numpy.asarray(self.function(numbers_at(W, d * d).reshape(d, d).T.copy(), mu,
                                                 numbers_at(b, d).copy(), place.copy()), float)
            if answer.shape != (d,):
                raise ValueError(f"law '{self.name}' returned shape {answer.shape}, expected ({d},)")
            place[:] = answer
            slips = mu > 0 and d > 1 and numpy.linalg.norm(answer[1:]) >= mu * answer[0] * (1 - 1e-12)
            return _c.DLS_OPEN if answer[0] <= 0 else _c.DLS_SLIP if slips else _c.DLS_STICK
        except BaseException as error:  # it waits for the end of the solve, whatever it is
            pending.error = error
            return _c.DLS_UNSOLVED

    def close(self):
        """Takes it out of the table; refused while any thread solves."""
        if _registered.get(self.name) is self:
            checked(lib.dls_law_unregister, self._texts[0])
            del _registered[self.name]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def numbers_at(place, count):
    return numpy.ctypeslib.as_array((ctypes.c_double * count).from_address(place))


def refuse_threads(row):
    """A law in Python runs on the thread that solves: others would wait for the same interpreter."""
    if row.law() in _registered and row.stop.threads > 1:
        raise ArgumentError(f"law '{row.law()}' is written in Python, which works on one thread; threads is "
                            f"{row.stop.threads}")


def apply_law(law, W, b, mu, r=None):
    """One visit of a law on one contact: (r, u, state).

    >>> r, u, state = apply_law("exact", numpy.eye(3), [-1, 2, 0], 0.3)
    >>> r.round(6)[:2], state
    (array([ 1. , -0.3]), 'slip')
    """
    from ._arrays import address, real_array
    row = lib.dls_law_find(encoded(law, "law"))
    if not row:
        raise ArgumentError(f"no law '{law}'; there are {', '.join(laws())}")
    b = real_array(b, "b", (-1,))
    W = numpy.asfortranarray(real_array(W, "W", (len(b), len(b))))
    r = numpy.zeros(len(b)) if r is None else real_array(r, "r", (len(b),)).copy()
    u, state = numpy.empty(len(b)), ctypes.c_int()
    checked(lib.dls_law_apply, row, None, len(b), address(W), float(mu), address(b), address(r), address(u),
            ctypes.byref(state))
    return r, u, STATES[state.value]
