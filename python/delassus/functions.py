"""Functions of time: numbers, expressions in t, tables, and functions written in Python."""
import ctypes
import numbers

from . import _c
from ._arrays import address, real_array
from ._library import InputError, encoded, lib, new_pointer, pending


class Function:
    """A function of t. Wherever one may stand, a number, an expression or a Python function may stand alone.

    >>> round(Function("2*pi*rpm/60 * min(t, 1)", rpm=30)(0.5), 6)
    1.570796
    >>> Function(([0, 1], [0, 10]))(0.25)
    2.5
    >>> Function(lambda t: 3 * t, rate=lambda t: 3).derivatives(2)[:2]
    (6.0, 3.0)
    """

    def __init__(self, source, rate=None, acceleration=None, **constants):
        if not (callable(source) or isinstance(source, (str, numbers.Real, tuple))):
            raise TypeError(f"a function of t: expected a number, an expression, (times, values) or a function, "
                            f"found {type(source).__name__}")
        if (rate or acceleration) and not callable(source):
            raise TypeError("rate and acceleration belong to Python functions: others have their own")
        if constants and not isinstance(source, str):
            raise TypeError("constants belong to expressions")
        self.source, self.rate, self.acceleration, self.constants = source, rate, acceleration, constants

    def _make(self, keep):
        """A C function for one place; what it calls is kept by whoever owns that place."""
        source = self.source
        if isinstance(source, str):
            names = (ctypes.c_char_p * len(self.constants))(*(encoded(key, "a constant") for key in self.constants))
            values = real_array(list(self.constants.values()), "constants")
            return new_pointer(_c.dls_function, lib.dls_function_expression, encoded(source, "expression"),
                               len(names), names, address(values))
        if isinstance(source, tuple):
            if len(source) != 2:
                raise InputError("a table: expected (times, values)")
            t, values = (real_array(part, "a table", (-1,)) for part in source)
            if len(t) != len(values):
                raise InputError(f"a table: {len(t)} times and {len(values)} values")
            return new_pointer(_c.dls_function, lib.dls_function_table, len(t), address(t), address(values))
        if callable(source):
            return self._make_callback(keep)
        return new_pointer(_c.dls_function, lib.dls_function_constant, float(source))

    def _make_callback(self, keep):
        definition = _c.dls_callback_def()
        for member, function in (("value", self.source), ("rate", self.rate), ("acceleration", self.acceleration)):
            if function is not None:
                thunk = time_callback(function)
                keep.append(thunk)
                setattr(definition, member, thunk)
        return new_pointer(_c.dls_function, lib.dls_function_callback, ctypes.byref(definition))

    def _with(self, use):
        keep = []
        function = self._make(keep)
        try:
            pending.error = None
            result = use(function)
            if pending.error is not None:
                raise pending.error
            return result
        finally:
            pending.error = None
            lib.dls_function_destroy(function)

    def __call__(self, t):
        """Its value at t."""
        at = float(t)
        return self._with(lambda function: lib.dls_function_value(function, at))

    def derivatives(self, t):
        """Value, first and second derivative; NaN where a Python function was given without them."""
        out, at = (ctypes.c_double * 3)(), float(t)
        self._with(lambda function: lib.dls_function_derivatives(function, at, ctypes.byref(out)))
        return tuple(out)


def time_callback(function):
    def answer(t, y, _):
        if pending.error is not None:
            return False
        try:
            ctypes.c_double.from_address(y).value = float(function(t))
            return True
        except BaseException as error:  # it waits for the end of the step, whatever it is
            pending.error = error
            return False
    return _c.dls_time_callback(answer)


class Places:
    """The functions of one definition: the world's once it was handed over, gone where that never happens."""

    def __init__(self, keep):
        self.keep, self.made = keep, []

    def take(self, source):
        if source is None:
            return None
        function = (source if isinstance(source, Function) else Function(source))._make(self.keep)
        self.made.append(function)
        return function

    def hand_over(self):
        self.made = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for function in self.made:
            lib.dls_function_destroy(function)
