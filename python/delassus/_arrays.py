"""NumPy arrays in and out, checked before C sees them; records have the layout of C's structs."""
import ctypes

import numpy

from . import _c
from ._library import InputError


def real_array(values, what, shape=None):
    """A contiguous array of finite or infinite doubles. shape: sizes, −1 for any."""
    array = exact_array(values, what, numpy.float64)
    if shape is not None and (array.ndim != len(shape) or
                              any(wanted not in (-1, size) for wanted, size in zip(shape, array.shape))):
        wanted = " × ".join("any" if size < 0 else str(size) for size in shape) or "a number"
        raise InputError(f"{what}: shape {array.shape}, expected {wanted}")
    return array


def whole_array(values, what, dtype=numpy.int32):
    array = exact_array(values, what, numpy.int64)
    limits = numpy.iinfo(dtype)
    if array.size and (array.min() < limits.min or array.max() > limits.max):
        raise InputError(f"{what}: a number is out of the range of {numpy.dtype(dtype)}")
    return numpy.require(array, dtype, ["C", "A"])


def whole(value, what, low=-2**31, high=2**31 - 1):
    """A whole number that C can hold: it would take the rest of larger ones."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{what}: expected a whole number, found {type(value).__name__}")
    number = value.__index__()
    if not low <= number <= high:
        raise InputError(f"{what}: {number}, expected {low} to {high}")
    return number


def exact_array(values, what, dtype):
    """Conversions that could lose something (complex to real, real to whole) are refused."""
    try:
        array = numpy.asarray(values)
    except ValueError as error:
        raise InputError(f"{what}: {error}") from None
    if array.size == 0:
        array = array.astype(dtype)
    if array.dtype.kind not in "biuf" or not numpy.can_cast(array.dtype, dtype, "same_kind"):
        raise TypeError(f"{what}: numbers of type {array.dtype}, expected {numpy.dtype(dtype)}")
    return numpy.require(array, dtype, ["C", "A"])  # a number alone stays one


def vector(values, what, size=3):
    """Numbers of a vector; in the plane x and y suffice."""
    array = real_array(values, what)
    if array.ndim != 1 or array.size not in ((2, 3) if size == 3 else (size,)):
        raise InputError(f"{what}: shape {array.shape}, expected {size} numbers")
    return [*map(float, array), 0.0][:size]


def record_type(struct):
    """The NumPy type of a struct, of the same layout."""
    return numpy.dtype(struct)


def address(array):
    """For parameters that point to numbers; NULL for None."""
    return None if array is None else array.ctypes.data


def records(array, struct):
    """For parameters that point to structs; the array must live until the call is over."""
    return ctypes.byref(struct.from_address(array.ctypes.data))


STATE = record_type(_c.dls_body_state)
CONTACT = record_type(_c.dls_contact_record)
JOINT = record_type(_c.dls_joint_record)
NODE = record_type(_c.dls_node_record)
GRADIENT = record_type(_c.dls_gradient_record)
REPORT = record_type(_c.dls_step_report)
POSE = record_type(_c.dls_pose)


def room_for_states(array, count):
    """For parameters that states are written to: an array of the caller's, as states() makes it."""
    if type(array) is not numpy.ndarray or (array.dtype is not STATE and array.dtype != STATE) or array.ndim != 1:
        raise TypeError("states: expected an array as states() gives it")
    if len(array) != count:
        raise InputError(f"states: {len(array)} rows, expected {count}")
    try:
        return ctypes.byref(_c.dls_body_state.from_buffer(array)) if count else None
    except (TypeError, ValueError, BufferError):
        raise InputError("states: expected an array without gaps that can be written") from None
