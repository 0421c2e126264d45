"""Joints: what holds two bodies together, what drives them against each other, and what resists."""
import ctypes

import numpy

from . import _c
from ._arrays import vector, whole
from ._library import ArgumentError, checked, choices, encoded, lib, text
from ._options import describe_keys
from .shapes import one_of, quaternion

KINDS = {name: value for name, value in choices("dls_joint_kind", "JOINT_").items() if name != "kinds"}
PRESENCES = choices("dls_joint_presence", "JOINT_")
FUNCTIONS = ("position", "velocity", "force", "target")
FREEDOM_KEYS = tuple(member[0] for member in _c.dls_freedom_def._fields_)
JOINT_KEYS = ("length", "ratio", "radius", "cone", "break_force", "break_torque")
ONE_SIDED = {"both": 0, "pull": 1, "push": -1}
SWITCHES = ("rope", "carried", "conserving", "collide")


def joint_kinds():
    """Names of all joints, each with what it holds and leaves."""
    return {name: text(lib.dls_joint_kind_summary(value)) for name, value in KINDS.items()}


def joint_definition(world, places, kind, a, b, *, name=None, point=None, axis=None, second=None, frames=None,
                     freedoms=None, at=(0, 0), **more):
    if kind not in KINDS:
        raise ArgumentError(f"no joint '{kind}'; there are {', '.join(KINDS)}")
    definition = lib.dls_default_joint_def(KINDS[kind])
    definition.name = None if name is None else encoded(name, "name of a joint")
    definition.body[:] = [body_id(world, a), body_id(world, b)]
    definition.at[:] = vector(at, "at", 2)
    free = lib.dls_joint_kind_free(KINDS[kind], world.dimension)
    told = {number: dict(keys) for number, keys in (freedoms or {}).items()}
    for key, value in more.items():
        if key in JOINT_KEYS:
            setattr(definition, key, float(value))
        elif key in SWITCHES:
            setattr(definition, key, bool(value))
        elif key in FREEDOM_KEYS:
            told.setdefault(only_freedom(kind, free, key), {})[key] = value
        else:
            raise ArgumentError(f"joint: no key '{key}'; there are {', '.join((*JOINT_KEYS, *SWITCHES, *FREEDOM_KEYS))}")
    for number, keys in told.items():
        if number not in range(1, 7):
            raise ArgumentError(f"no freedom {number!r} of a joint, expected 1 to 6")
        fill_freedom(definition.freedom[number - 1], keys, places)
    if frames is not None:
        for place, (position, rotation) in zip(definition.frame, frames, strict=True):
            place.x[:], place.q[:] = vector(position, "a frame"), quaternion(rotation, "a frame")
    else:
        place_frames(world, definition, point, axis, second)
    return definition


def place_frames(world, definition, point, axis, second):
    numbers = [None if values is None else (ctypes.c_double * 3)(*vector(values, what))
               for values, what in ((point, "point"), (axis, "axis"), (second, "second"))]
    if numbers[0] is None:
        raise ArgumentError("joint: expected a point of the world, or frames")
    checked(lib.dls_joint_place, world._owner.alive(), ctypes.byref(definition), *numbers)


def only_freedom(kind, free, key):
    numbers = [index + 1 for index in range(6) if free >> index & 1]
    if len(numbers) != 1:
        raise ArgumentError(f"joint: a {kind} joint has {len(numbers)} free freedoms {numbers}: say freedoms="
                            f"{{number: {{'{key}': …}}}}")
    return numbers[0]


def fill_freedom(place, keys, places):
    for key, value in keys.items():
        if key in FUNCTIONS:
            setattr(place, key, places.take(value))
        elif key == "one_sided":
            place.one_sided = ONE_SIDED[one_of(key, value, ONE_SIDED)] if isinstance(value, str) else whole(value, key)
        elif key in FREEDOM_KEYS:
            setattr(place, key, float(value))
        else:
            raise ArgumentError(f"a freedom has no key '{key}'; there are {', '.join(FREEDOM_KEYS)}")


def freedom_keywords(place):
    """What acts on a freedom, functions aside; what is as preset is left out."""
    return {key: getattr(place, key) for key in FREEDOM_KEYS if key not in FUNCTIONS and getattr(place, key)}


def body_id(world, body):
    if body is None:
        return _c.DLS_GROUND
    if isinstance(body, (str, int, numpy.integer)):
        return world[body].id
    if getattr(body, "world", None) is not world:
        raise ArgumentError(f"joint: {body!r} is no body of this world")
    return body.id


class Joint:
    """A joint of a world, made by World.add_joint(kind, a, b, …).

    kind: see joint_kinds(). a, b: bodies, by themselves, name or id; None is the ground.
    point, axis, second: of the world, with the bodies standing as they are to be held; or
    frames: ((position, rotation), (position, rotation)) in the frames of the bodies.
    at: where on bodies that are solids, for A and B.
    freedoms: {4: {'target': 1, 'p': 100, 'd': 10}}, by number from 1 as joint_kinds() has them; where one is free
    alone its keys may be keywords: position, velocity, force, target (functions of t) and those at the end.
    name, and:

    """

    __slots__ = ("world", "id")

    def __init__(self, world, identity):
        self.world, self.id = world, identity

    def __repr__(self):
        return f"<joint {self.id}{f' {self.name!r}' if self.name else ''}>"

    @property
    def name(self):
        return text(self.world._owner.ask(lib.dls_joint_name, self.id))

    def _definition(self):
        definition = _c.dls_joint_def()
        self.world._owner.call(lib.dls_joint_get, self.id, ctypes.byref(definition))
        return definition

    @property
    def kind(self):
        return text(lib.dls_joint_kind_name(self._definition().kind))

    @property
    def bodies(self):
        """A and B; None is the ground."""
        return tuple(None if body == _c.DLS_GROUND else self.world[body] for body in self._definition().body)

    @property
    def keywords(self):
        """What World.add_joint was told, functions of t aside: frames, length, freedoms, …"""
        definition = self._definition()
        frames = tuple((tuple(frame.x), tuple(frame.q)) for frame in definition.frame)
        freedoms = {number: keys for number, keys in enumerate(map(freedom_keywords, definition.freedom), 1) if keys}
        return {"frames": frames, "at": tuple(definition.at), "freedoms": freedoms,
                **{key: getattr(definition, key) for key in (*JOINT_KEYS, *SWITCHES)}}

    @property
    def presence(self):
        """'waits', 'acts', 'broken' or 'gone'."""
        return list(PRESENCES)[self.world._owner.ask(lib.dls_joint_presence_of, self.id)]

    def _state(self):
        state = _c.dls_joint_state()
        self.world._owner.call(lib.dls_joint_state_get, self.id, ctypes.byref(state))
        return state

    @property
    def coordinate(self):
        """Of free freedoms, m or rad; 0 elsewhere."""
        return numpy.array(self._state().coordinate)

    @property
    def speed(self):
        """Of free freedoms, m/s or rad/s; 0 elsewhere."""
        return numpy.array(self._state().speed)

    @property
    def gap(self):
        """By how much held freedoms are missed, m or rad."""
        return numpy.array(self._state().gap)

    @property
    def point(self):
        """The origin of B's frame, world axes, m."""
        return numpy.array(self._state().point)

    def remove(self):
        """It acts no more from the next step on."""
        self.world._owner.change(lib.dls_world_remove_joint, self.id)


describe_keys(Joint, *(("joints", key) for key in ("length", "rope", "ratio", "carried", "radius", "cone", "conserving", "collide")),
              ("joints.break", "force", "break_force"), ("joints.break", "torque", "break_torque"),
              *(("joints.servo", key) for key in "pdi"), ("joints.servo", "force", "max_force"),
              *(("joints.spring", key) for key in ("stiffness", "damping", "rest", "one_sided")),
              ("joints", "limits", "low and high"), ("joints", "e_n", "restitution"), ("joints.friction", "force", "friction"),
              ("joints.friction", "mu", "friction_mu"), ("joints.friction", "radius", "friction_radius"))
