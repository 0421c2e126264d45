"""Options as keywords: names, ranges, units and one line about each come from the library's own tables."""
import ctypes
import difflib
import numbers

from . import _c
from ._library import ArgumentError, checked, encoded, lib, text


def as_text(key, value):
    """A value as the tables read it."""
    if isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        return repr(float(value))
    raise TypeError(f"{key}: expected a number, a text or a bool, found {type(value).__name__}")


class Fields:
    """One table of options."""

    def __init__(self, first, count):
        self.first, self.count = first, count
        self.keys = [text(first[index].key) for index in range(count)]

    @classmethod
    def of(cls, function):
        count = ctypes.c_int()
        first = function(ctypes.byref(count))
        return cls(first, count.value)

    def set(self, options, given):
        for key, value in given.items():
            checked(lib.dls_field_set, self.first, self.count, ctypes.byref(options), encoded(key, "an option"),
                    encoded(as_text(key, value), key))

    def value(self, options, index):
        room = ctypes.create_string_buffer(64)
        lib.dls_field_print(self.first[index], ctypes.byref(options), room, len(room))
        return room.value.decode()

    def range(self, index):
        field = self.first[index]
        if field.type == _c.DLS_FIELD_BOOL:
            return "yes or no"
        if field.type == _c.DLS_FIELD_CHOICE:
            return ", ".join(text(field.choices).split("|"))
        if field.type == _c.DLS_FIELD_NAME:
            return ", ".join(self.names(field)) or "a name"
        high = "and up" if field.high >= 1e12 or field.high >= 2**31 - 1 else f"to {field.high:g}"
        return f"{'whole, ' if field.type == _c.DLS_FIELD_INT else ''}{field.low:g} {high}"

    def names(self, field):
        found = []
        while field.row_at and (name := field.row_at(len(found), None)):
            found.append(text(name))
        return found

    def describe(self, options):
        """Lines `key: meaning (range; preset value unit)`."""
        lines = []
        for index, key in enumerate(self.keys):
            field = self.first[index]
            unit = "" if text(field.unit) == "1" else " " + text(field.unit)
            lines.append(f"- ``{key}``: {text(field.help)} ({self.range(index)}; preset {self.value(options, index)}{unit})")
        return lines


def scene_keys():
    """The tables of scenes: (group, key, what is allowed, unit, preset, meaning) each."""
    def row(index):
        key = lib.dls_scene_key_at(index)  # its texts live until the next call
        return tuple(map(text, (key.group, key.key, key.type, key.unit, key.preset, key.help)))
    return [row(index) for index in range(lib.dls_scene_key_count())]


def key_lines(*wanted):
    """Lines like those of Fields.describe from the tables of scenes: of a group, or a key of one, as the last word says."""
    lines, rows = [], scene_keys()
    for group, *names in wanted:
        for _, key, allowed, unit, preset, meaning in (row for row in rows if row[0] == group and (not names or row[1] == names[0])):
            facts = [", ".join(allowed.split("|")) + (f", {unit}" if unit else "")]
            facts += [f"preset {preset}"] if preset != "needed" else []
            lines.append(f"- ``{names[-1] if names else key}``: {meaning} ({'; '.join(facts)})")
    return lines


def describe_keys(thing, *wanted):
    """Puts them behind the docstring of a function or a class; returns it."""
    lines = "\n".join("    " * (1 if isinstance(thing, type) or "." not in thing.__qualname__ else 2) + line
                      for line in key_lines(*wanted))
    thing.__doc__ = f"{thing.__doc__.rstrip()}\n\n{lines}\n"
    return thing


def near(name, known):
    """", did you mean 'radius'?", or "" where nothing is near."""
    found = difflib.get_close_matches(name, known, 1)
    return f", did you mean '{found[0]}'?" if found else ""


def refuse_unknown(given, *tables):
    known = [key for table in tables for key in table.keys]
    for key in given:
        if key not in known:
            raise ArgumentError(f"no option '{key}'" + (near(key, known) or
                                                        f"; there are {', '.join(dict.fromkeys(known))}"))


class SolverRow:
    """A row of the solver table with options of its own."""

    def __init__(self, name):
        row = lib.dls_solver_find(encoded(name, "solver"))
        if not row:
            raise ArgumentError(f"no solver '{name}'; there are {', '.join(solvers())}")
        self.row, self.name = row, name
        self.fields = Fields(row[0].fields, row[0].field_count)
        self.bytes = ctypes.create_string_buffer(max(row[0].options_size, ctypes.sizeof(_c.dls_stop_options)))
        row[0].defaults(ctypes.byref(self.bytes))

    @property
    def stop(self):
        return _c.dls_stop_options.from_buffer(self.bytes)

    def set(self, given):
        self.fields.set(self.bytes, given)

    def law(self):
        """The name of the local law that is asked for, "" where the solver has none."""
        return self.fields.value(self.bytes, self.fields.keys.index("law")) if "law" in self.fields.keys else ""


def solvers() -> dict[str, str]:
    """Names of all solvers, each with a line about it.

    >>> solvers()["nlgs"]
    'nonlinear Gauss–Seidel over a local law, accelerated'
    """
    return {text(row.name): text(row.summary)
            for row in (lib.dls_solver_at(index)[0] for index in range(lib.dls_solver_count()))}


def laws() -> dict[str, str]:
    """Names of all local laws, each with a line about it.

    >>> "exact" in laws()
    True
    """
    return {text(row.name): text(row.summary)
            for row in (lib.dls_law_at(index)[0] for index in range(lib.dls_law_count()))}


def options(solver) -> str:
    """What a solver's keywords are: a text with a line for each, its range, preset and unit.

    >>> print(options("ipm").splitlines()[1])
    - ``tolerance``: of the stop measure, in its unit (0 and up; preset 1e-08)
    """
    row = SolverRow(solver)
    return "\n".join(row.fields.describe(row.bytes))
