"""The loaded library, errors as exceptions, and owners: who may use an object, and when it ends."""
import ctypes
import os
import pathlib
import sys
import threading

from . import _c


class Error(Exception):
    """What the library refused: one line that says what was wrong, where, and what was expected."""


class ArgumentError(Error, ValueError):
    """A call that makes no sense: an unknown name, a value out of its range."""


class InputError(Error, ValueError):
    """Data that cannot be what it is given as: wrong shapes, NaN, negative friction."""


class FileError(Error, OSError):
    """A file that cannot be opened, read, parsed or written."""


class OutOfMemory(Error, MemoryError):
    """An allocation failed."""


class NumericError(Error, ArithmeticError):
    """A factorisation met a singular or indefinite matrix."""


class ClosedError(Error):
    """An object was used after it was closed."""


class BusyError(Error):
    """A callback tried to change what is being stepped or solved."""


EXCEPTIONS = {
    _c.DLS_ERROR_ARGUMENT: ArgumentError, _c.DLS_ERROR_INPUT: InputError, _c.DLS_ERROR_FILE: FileError,
    _c.DLS_ERROR_MEMORY: OutOfMemory, _c.DLS_ERROR_NUMERIC: NumericError,
}


def _load():
    path = os.environ.get("DELASSUS_LIBRARY") or str(pathlib.Path(__file__).parent / "libdelassus.so")
    library = ctypes.CDLL(path)
    for name, (result, parameters, comment) in _c.FUNCTIONS.items():
        function = getattr(library, name)
        function.restype, function.argtypes, function.__doc__ = result, parameters, comment
    version = library.dls_version().decode()
    if version != _c.DLS_VERSION:
        raise ImportError(f"{path} is version {version}, expected {_c.DLS_VERSION}")
    return library


lib = _load()


class _Pending(threading.local):
    """The exception that a callback of this thread raised: C cannot carry it, so it waits here for the end of the call."""
    error = None


pending = _Pending()


def _keep_interrupt(ignored, before=sys.unraisablehook):
    """Ctrl-C that comes as a callback begins, before it can catch anything, waits for the end of the call as well."""
    if isinstance(ignored.exc_value, KeyboardInterrupt) and str(getattr(ignored.object, "__module__", "")).startswith(__package__):
        pending.error = pending.error or ignored.exc_value
    else:
        before(ignored)


sys.unraisablehook = _keep_interrupt


def checked(function, *arguments):
    """Calls a function that ends with a dls_error; a callback's own exception comes first."""
    outer, pending.error = pending.error, None
    error = _c.dls_error()
    try:
        status = function(*arguments, ctypes.byref(error))
        raised = pending.error
    finally:
        pending.error = outer
    if raised is not None:
        raise raised
    if status:
        raise EXCEPTIONS.get(status, Error)(error.message.decode(errors="replace"))


class Turn:
    """Objects that count as one take turns by this: threads wait, callbacks of a step may read and not change."""

    def __init__(self):
        self.lock, self.busy = threading.RLock(), ""


class Owner:
    """One object of the library. It ends when it is closed and nobody made from it is left, in whatever order."""

    def __init__(self, kind, pointer, destroy, parent=None):
        self.kind, self.pointer, self.parent, self.users, self.closed = kind, pointer, parent, 0, False
        self.destroy = destroy  # None where the parent does it
        self.turn = parent.turn if parent else Turn()
        self.keep = parent.keep if parent else []  # what C points to until the last of them ends: callbacks
        if parent:
            parent.users += 1

    def alive(self):
        owner = self
        while owner is not None:
            if owner.closed:
                raise ClosedError(f"this {self.kind} is closed" if owner is self else
                                  f"the {owner.kind} of this {self.kind} is closed")
            owner = owner.parent
        return self.pointer

    def ask(self, function, *arguments):
        """A function that cannot fail and changes nothing."""
        with self.turn.lock:
            return function(self.alive(), *arguments)

    def call(self, function, *arguments):
        """One that can fail and changes nothing."""
        with self.turn.lock:
            checked(function, self.alive(), *arguments)

    def change(self, function, *arguments):
        with self.turn.lock:
            self.refuse_in_callbacks()
            checked(function, self.alive(), *arguments)

    def work(self, what, function, *arguments):
        """One that may call back: until it returns nothing of the same turn can be changed."""
        with self.turn.lock:
            self.refuse_in_callbacks()
            pointer, self.turn.busy = self.alive(), what
            try:
                checked(function, pointer, *arguments)
            finally:
                self.turn.busy = ""

    def share(self, function, *arguments):
        """One that changes nothing and takes long: several threads may be in it, and the end waits for the last of them."""
        with self.turn.lock:
            pointer = self.alive()
            self.users += 1
        try:
            checked(function, pointer, *arguments)
        finally:
            with self.turn.lock:
                self.users -= 1
                self._finish()

    def refuse_in_callbacks(self):
        if self.turn.busy:
            raise BusyError(f"this {self.kind} is being {self.turn.busy}: a callback may read it, not change it")

    def close(self):
        with self.turn.lock:
            self.refuse_in_callbacks()
            self.end()

    def end(self):
        if not self.closed:
            self.closed = True
            self._finish()

    def _finish(self):
        if self.closed and self.users == 0 and self.pointer:
            if self.destroy:
                self.destroy(self.pointer)
            self.pointer = self.destroy = None
            if self.parent:
                self.parent.users -= 1
                self.parent._finish()

    def __del__(self):
        self.end()


class Object:
    """What users hold: closed by close(), by `with`, or when it is forgotten. Used later it raises ClosedError."""

    _owner: Owner

    def close(self):
        """Ends the object now. Objects made from it can no longer be used."""
        self._owner.close()

    @property
    def closed(self):
        """Whether it was closed, or what it was made from."""
        owner = self._owner
        while owner is not None:
            if owner.closed:
                return True
            owner = owner.parent
        return False

    def __enter__(self):
        self._owner.alive()
        return self

    def __exit__(self, *_):
        self.close()

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__} cannot be pickled or copied: it is an object of the library")


def text(value):
    return value.decode(errors="replace") if value is not None else None


def encoded(value, what):
    """Text for C, which ends at a zero byte."""
    if not isinstance(value, str):
        raise TypeError(f"{what}: expected a text, found {type(value).__name__}")
    if "\0" in value:
        raise ArgumentError(f"{what}: holds a zero byte")
    return value.encode()


def path_bytes(path):
    name = os.fsencode(path)
    if b"\0" in name:
        raise FileError("a path holds a zero byte")
    return name


def new_pointer(kind, function, *arguments):
    """Of functions `status f(…, kind **out, error)`."""
    pointer = ctypes.POINTER(kind)()
    checked(function, *arguments, ctypes.byref(pointer))
    return pointer


def choices(enum, prefix=""):
    """The members of an enum by the names that users say: DLS_JOINT_POINT_ON_LINE is point-on-line."""
    return {name.removeprefix("DLS_").removeprefix(prefix).lower().replace("_", "-"): value
            for name, value in _c.ENUMS[enum].items()}
