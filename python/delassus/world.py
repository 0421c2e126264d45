"""Worlds: bodies with shapes and materials, and joints between them."""
import cmath
import ctypes
import math

import numpy

from . import _c
from ._arrays import STATE, address, real_array, records, vector, whole, whole_array
from ._library import (ArgumentError, InputError, Object, Owner, checked, choices, encoded, lib, new_pointer, text)
from ._options import describe_keys, near
from .functions import Places
from .joints import Joint, joint_definition
from .shapes import Shape, Solid, one_of, quaternion

MOTIONS = {name: value for name, value in choices("dls_motion").items() if name != "motions"}
PRESENCES = choices("dls_presence")
FREEDOMS = ("x", "y", "z", "rx", "ry", "rz")
MATERIAL = ("density", "mu", "e_n", "e_t", "cohesion", "young", "poisson", "damping", "law")
ELASTIC_LAWS = {name: value for name, value in choices("dls_elastic_law", "ELASTIC_").items() if name != "laws"}
TURNING = tuple(member[0] for member in _c.dls_turning_def._fields_)


class Bodies:
    """What worlds and simulations share: bodies by name or id, and arrays of all of them. Arrays are copies, by id."""

    _world: "World"
    _owner: Owner

    def _book(self):
        """Who knows the bodies; a simulation that is closed knows them no more."""
        self._owner.alive()
        return self._world._owner

    def __getitem__(self, key) -> "Body":
        """The body of a name or an id."""
        world, count = self._world, len(self)
        if isinstance(key, str):
            identity = self._book().ask(lib.dls_world_find_body, encoded(key, "a name"))
            if identity < 0:
                raise KeyError(f"no body '{key}'{world._hint(key)}")
            return Body(world, identity)
        try:
            identity = key.__index__()
        except AttributeError:
            raise TypeError(f"a body goes by its name or its id, not by a {type(key).__name__}") from None
        if not 0 <= identity < count:
            raise IndexError(f"no body {identity}, expected 0 to {count - 1}")
        return Body(world, identity)

    def __contains__(self, name):
        return isinstance(name, str) and self._book().ask(lib.dls_world_find_body, encoded(name, "a name")) >= 0

    def __len__(self) -> int:
        """Bodies that there ever were: ids are 0 to len − 1."""
        return self._book().ask(lib.dls_world_body_count)

    def __iter__(self):
        return (Body(self._world, int(identity)) for identity in self.ids())

    def ids(self, presence="present") -> numpy.ndarray:
        """Ids of bodies that are 'present', 'waiting' or 'gone', ascending. Until a simulation is made all wait."""
        if presence not in PRESENCES:
            raise ArgumentError(f"no presence '{presence}'; there are {', '.join(PRESENCES)}")
        owner, kind = self._book(), PRESENCES[presence]
        with owner.turn.lock:
            count = ctypes.c_int(owner.ask(lib.dls_world_presence_count, kind))
            found = numpy.empty(count.value, numpy.int32)
            owner.call(lib.dls_world_presence_ids, kind, count.value, address(found), ctypes.byref(count))
        return found

    def states(self, ids=None) -> numpy.ndarray:
        """A copy of the states of all bodies by id, or of the ids given: members x, q, v and w of each.

        >>> world = World()
        >>> _ = world.add_body(shapes.sphere(0.1), position=(0, 0, 1))
        >>> world.states()["x"]
        array([[0., 0., 1.]])
        """
        owner = self._book()
        chosen = None if ids is None else whole_array(ids, "ids").reshape(-1)
        with owner.turn.lock:
            world = owner.alive()
            count = lib.dls_world_body_count(world) if chosen is None else len(chosen)
            found = numpy.empty(count, STATE)
            checked(lib.dls_body_states_get, world, count, address(chosen), records(found, _c.dls_body_state))
        return found

    def set_states(self, states, ids=None):
        """Puts bodies where an array of states says, as states() gives it, or a matrix with 13 columns."""
        owner = self._book()
        chosen = None if ids is None else whole_array(ids, "ids").reshape(-1)
        array = numpy.asarray(states)
        if array.dtype != STATE:
            array = real_array(states, "states", (-1, 13)).view(STATE)
        array = numpy.ascontiguousarray(array).reshape(-1)
        with owner.turn.lock:
            wanted = len(self) if chosen is None else len(chosen)
            if len(array) != wanted:
                raise InputError(f"states: {len(array)} rows, expected {wanted}")
            owner.change(lib.dls_body_states_set, wanted, address(chosen), records(array, _c.dls_body_state))

    @property
    def x(self) -> numpy.ndarray:
        """Mass centres of all bodies, m."""
        return self.states()["x"].copy()

    @property
    def q(self) -> numpy.ndarray:
        """Orientations of all bodies, (w, x, y, z)."""
        return self.states()["q"].copy()

    @property
    def v(self) -> numpy.ndarray:
        """Velocities of all bodies, m/s."""
        return self.states()["v"].copy()

    @property
    def w(self) -> numpy.ndarray:
        """Angular velocities of all bodies, rad/s, world axes."""
        return self.states()["w"].copy()


class World(Object, Bodies):
    """A world in the plane or in space.

    dimension: 2 or 3.
    gravity: m/s²; None: 9.81 downwards, along −y in the plane and −z in space.
    period: (low, size) of a periodic box; directions of size 0 are open.

    >>> world = World(dimension=2, gravity=(0, -9.81))
    >>> ball = world.add_body(shapes.disc(0.1), name="ball", position=(0, 1))
    >>> round(ball.mass, 4)
    31.4159
    """

    def __init__(self, dimension=3, gravity=None, period=None):
        definition = lib.dls_default_world_def()
        definition.dimension = whole(dimension, "dimension")
        if dimension == 2:
            definition.gravity[:] = (0.0, -9.81, 0.0)
        if gravity is not None:
            definition.gravity[:] = vector(gravity, "gravity")
        if period is not None:
            low, size = period
            definition.period_low[:], definition.period_size[:] = vector(low, "period"), vector(size, "period")
        pointer = new_pointer(_c.dls_world, lib.dls_world_create, ctypes.byref(definition))
        self._own(Owner("world", pointer, lib.dls_world_destroy))

    @classmethod
    def _borrow(cls, pointer, parent):
        """That of a scene."""
        world = cls.__new__(cls)
        world._own(Owner("world", pointer, None, parent))
        count = parent.ask(lambda _: lib.dls_world_material_count(pointer))
        for identity in range(count):
            world._materials[world.material(identity)["name"]] = identity
        return world

    def _own(self, owner):
        self._owner, self._world, self._materials = owner, self, {}

    def _hint(self, name):
        names = (text(self._owner.ask(lib.dls_body_name, identity)) for identity in range(min(len(self), 10000)))
        return near(name, filter(None, names))

    @property
    def dimension(self) -> int:
        return self._owner.ask(lib.dls_world_dimension)

    @property
    def gravity(self) -> numpy.ndarray:
        out = numpy.empty(3)
        self._owner.ask(lib.dls_world_gravity, address(out))
        return out

    # ---- materials ----

    def add_material(self, name, **properties) -> str:
        """A material, or new properties of one that is there ("default" is what shapes have unless told otherwise).

        What is not said is as preset, of a material that is there as it was; material(name) reads it.
        """
        owner, definition, encoded_name = self._owner, _c.dls_material_def(), encoded(name, "name of a material")
        with owner.turn.lock:
            if name in ("default", *self._materials):
                identity = self._materials.get(name, 0)
                owner.call(lib.dls_world_material, identity, ctypes.byref(definition))
            else:
                identity, definition = None, lib.dls_default_material_def()
            fill_properties(definition, properties, "material", MATERIAL)
            definition.name = encoded_name
            if identity is not None:
                owner.change(lib.dls_world_set_material, identity, ctypes.byref(definition))
            else:
                out = ctypes.c_int()
                owner.change(lib.dls_world_add_material, ctypes.byref(definition), ctypes.byref(out))
                self._materials[name] = out.value
        return name

    @property
    def materials(self) -> list[str]:
        """Names of all materials, "default" first."""
        self._owner.alive()
        return ["default", *(name for name in self._materials if name != "default")]

    def material(self, name) -> dict:
        """The properties of a material by its name: what add_material takes.

        >>> world = World()
        >>> _ = world.add_material("steel", mu=0.3)
        >>> world.material("steel")["mu"], world.materials
        (0.3, ['default', 'steel'])
        """
        definition = _c.dls_material_def()
        self._owner.call(lib.dls_world_material, self._material_id(name), ctypes.byref(definition))
        found = definition.as_dict()
        found["law"] = text(lib.dls_elastic_law_name(definition.law))
        return {key.removeprefix("turning."): value for key, value in found.items()}

    def pair(self, a, b) -> dict:
        """What holds where two materials meet: what set_pair takes, and whether it was stated or is mixed."""
        definition, stated = _c.dls_pair_def(), ctypes.c_bool()
        self._owner.call(lib.dls_world_pair, self._material_id(a), self._material_id(b), ctypes.byref(definition),
                         ctypes.byref(stated))
        found = {key.removeprefix("turning."): value for key, value in definition.as_dict().items()}
        return {**found, "stated": stated.value}

    def set_pair(self, a, b, **properties):
        """What holds where two materials meet; what is not said stays as it was, mixed at first; pair(a, b) reads it."""
        first, second = self._material_id(a), self._material_id(b)
        definition = _c.dls_pair_def()
        with self._owner.turn.lock:
            self._owner.call(lib.dls_world_pair, first, second, ctypes.byref(definition), None)
            fill_properties(definition, properties, "pair", ("mu", "e_n", "e_t", "cohesion"))
            self._owner.change(lib.dls_world_set_pair, first, second, ctypes.byref(definition))

    def _material_id(self, name):
        if name is None:
            return 0
        if not isinstance(name, str):
            return whole(name, "material")
        if name == "default":
            return 0
        if name not in self._materials:
            raise ArgumentError(f"no material '{name}'; there are {', '.join(['default', *self._materials])}")
        return self._materials[name]

    # ---- bodies ----

    def add_body(self, shape=None, *, name=None, motion="dynamic", position=(0, 0, 0), rotation=None,
                 velocity=(0, 0, 0), angular_velocity=(0, 0, 0), mass=0.0, inertia=None, centre=(0, 0, 0), locked=(),
                 force=None, torque=None, drive=None, belts=None, birth=-math.inf, death=math.inf,
                 solid=None) -> "Body":
        """Adds a body and returns it; it takes part from the next step on.

        shape: a Shape, or several that make a compound.
        motion: 'dynamic', 'static' or 'driven'.
        position, rotation: of the body's frame; a rotation is a quaternion (w, x, y, z) or an angle about z.
        velocity, angular_velocity: of the mass centre, m/s; rad/s, in the plane a number will do.
        mass, inertia, centre: kg, 3 × 3 kg m² about the mass centre; by default from shapes and densities.
        locked: of the freedoms 'x', 'y', 'z', 'rx', 'ry', 'rz' those that stay.
        force, torque: N and N m at the mass centre, world axes; a function of t, or None, for each axis.
        drive: of a driven body, {'rz': {'velocity': 3}}: position, velocity, or force with gain and max_speed.
        belts: a function of t that multiplies the speeds of its shapes' belts.
        birth, death: s; it takes part in between.
        solid: how it deforms, see beam(), pseudo_rigid(), elements() and Mesh.solid(); None: it is rigid.
        """
        keep, definition = [], lib.dls_default_body_def()
        if motion not in MOTIONS:
            raise ArgumentError(f"no motion '{motion}'; there are {', '.join(MOTIONS)}")
        definition.name = None if name is None else encoded(name, "name of a body")
        definition.motion = MOTIONS[motion]
        definition.pose.x[:], definition.pose.q[:] = vector(position, "position"), quaternion(rotation)
        definition.v[:], definition.w[:] = vector(velocity, "velocity"), spin(angular_velocity)
        definition.mass, definition.centre[:] = float(mass), vector(centre, "centre")
        definition.birth, definition.death = float(birth), float(death)
        if inertia is not None:
            matrix = real_array(inertia, "inertia", (3, 3))
            keep.append(matrix)
            definition.inertia = address(matrix)
        for freedom in locked:
            definition.locked[freedom_index(freedom)] = True
        if solid is not None:
            if not isinstance(solid, Solid):
                raise TypeError(f"solid: expected a Solid, found {type(solid).__name__}")
            keep.append(solid._definition(keep))
            definition.solid = ctypes.addressof(keep[-1])
        self._fill_shapes(definition, shape, keep)
        with self._owner.turn.lock, Places(self._owner.keep) as places:
            self._fill_functions(definition, places, force, torque, drive)
            if belts is not None:
                definition.belts = places.take(belts)
            self._owner.refuse_in_callbacks()
            identity, world = ctypes.c_int(), self._owner.alive()
            places.hand_over()
            checked(lib.dls_world_add_body, world, ctypes.byref(definition), ctypes.byref(identity))
        return Body(self, identity.value)

    def _fill_shapes(self, definition, shape, keep):
        shapes = [shape] if isinstance(shape, Shape) else list(shape or ())
        for one in shapes:
            if not isinstance(one, Shape):
                raise TypeError(f"shape: expected a Shape or several, found {type(one).__name__}")
        table = (_c.dls_shape_def * max(len(shapes), 1))()
        for place, one in zip(table, shapes):
            one._fill(place, self._material_id, keep)
        keep.append(table)
        definition.shapes, definition.shape_count = table, len(shapes)

    def _fill_functions(self, definition, places, force, torque, drive):
        for member, what, functions in ((definition.force, "force", force), (definition.torque, "torque", torque)):
            if functions is not None:
                if isinstance(functions, str) or not hasattr(functions, "__len__") or len(functions) not in (2, 3):
                    raise TypeError(f"{what}: expected a function of t, or None, for each axis")
                for axis, function in enumerate(functions):
                    member[axis] = places.take(function)
        for freedom, told in (drive or {}).items():
            place = definition.drive[freedom_index(freedom)]
            for key, value in told.items():
                if key in ("position", "velocity", "force"):
                    setattr(place, key, places.take(value))
                elif key in ("gain", "max_speed"):
                    setattr(place, key, float(value))
                else:
                    raise ArgumentError(f"drive: no key '{key}', expected position, velocity, force, gain or max_speed")

    def add_bodies(self, shape, positions, *, velocities=None, name=None, **more) -> numpy.ndarray:
        """Adds a body at each position, all alike; returns their ids. name: "grain" makes grain-0, grain-1, …

        Other keywords are those of add_body, forces and drives aside.
        """
        places = real_array(positions, "positions")
        if places.ndim != 2 or places.shape[1] not in (2, 3):
            raise InputError(f"positions: shape {places.shape}, expected any × 2 or any × 3")
        speeds = None if velocities is None else real_array(velocities, "velocities", places.shape)
        found = numpy.empty(len(places), numpy.int32)
        for index, place in enumerate(places):
            found[index] = self.add_body(shape, position=place, name=name and f"{name}-{index}",
                                         velocity=(0, 0, 0) if speeds is None else speeds[index], **more).id
        return found

    # ---- joints ----

    def add_joint(self, kind, a, b, **keywords) -> Joint:
        """Joins two bodies and returns the joint. See `Joint` for keywords; None for a body is the ground."""
        with self._owner.turn.lock, Places(self._owner.keep) as places:
            self._owner.refuse_in_callbacks()
            definition = joint_definition(self, places, kind, a, b, **keywords)
            identity, world = ctypes.c_int(), self._owner.alive()
            places.hand_over()
            checked(lib.dls_world_add_joint, world, ctypes.byref(definition), ctypes.byref(identity))
        return Joint(self, identity.value)

    def joint(self, key) -> Joint:
        """A joint by its name or id."""
        count = self._owner.ask(lib.dls_world_joint_count)
        identity = self._owner.ask(lib.dls_world_find_joint, encoded(key, "a name")) if isinstance(key, str) else key
        if not isinstance(identity, int) or not 0 <= identity < count:
            raise KeyError(f"no joint {key!r}")
        return Joint(self, identity)

    def assemble_joints(self) -> _c.dls_assembled:
        """Moves bodies that have not been stepped yet until all joints hold; returns how far they went."""
        report = _c.dls_assembled()
        self._owner.change(lib.dls_world_assemble_joints, ctypes.byref(report))
        return report


class Body:
    """A body of a world: its id never comes back. x, q, v and w are read as copies, and may be set."""

    __slots__ = ("world", "id")

    def __init__(self, world, identity):
        self.world, self.id = world, identity

    def __repr__(self):
        return f"<body {self.id}{f' {self.name!r}' if self.name else ''}>"

    def __eq__(self, other):
        return isinstance(other, Body) and (self.world, self.id) == (other.world, other.id)

    def __hash__(self):
        return hash((id(self.world), self.id))

    def _get(self, member):
        return self.world.states([self.id])[0][member].copy()

    def _set(self, member, values, size):
        with self.world._owner.turn.lock:
            states = self.world.states([self.id])
            states[0][member] = vector(values, member, size)
            self.world.set_states(states, [self.id])

    x = property(lambda self: self._get("x"), lambda self, values: self._set("x", values, 3), doc="Mass centre, m.")
    v = property(lambda self: self._get("v"), lambda self, values: self._set("v", values, 3), doc="Velocity, m/s.")
    w = property(lambda self: self._get("w"), lambda self, values: self._set("w", values, 3),
                 doc="Angular velocity, rad/s, world axes.")
    q = property(lambda self: self._get("q"), lambda self, values: self._set("q", values, 4),
                 doc="Orientation (w, x, y, z).")

    @property
    def pose(self):
        """(position, quaternion) of the body's frame, as in its definition."""
        pose = _c.dls_pose()
        self.world._owner.call(lib.dls_body_pose_get, self.id, ctypes.byref(pose))
        return numpy.array(pose.x), numpy.array(pose.q)

    @property
    def name(self) -> str:
        return text(self.world._owner.ask(lib.dls_body_name, self.id))

    @property
    def motion(self) -> str:
        return text(lib.dls_motion_name(self.world._owner.ask(lib.dls_body_motion, self.id)))

    @property
    def presence(self) -> str:
        """'waiting', 'present' or 'gone'."""
        return list(PRESENCES)[self.world._owner.ask(lib.dls_body_presence, self.id)]

    def _mass(self):
        mass = _c.dls_body_mass()
        self.world._owner.call(lib.dls_body_mass_get, self.id, ctypes.byref(mass))
        return mass

    @property
    def mass(self) -> float:
        """kg; infinite where it does not move freely."""
        return self._mass().mass

    @property
    def inertia(self) -> numpy.ndarray:
        """3 × 3 about the mass centre, body axes, kg m²."""
        return numpy.array(self._mass().inertia).reshape(3, 3).T.copy()

    @property
    def radius(self) -> float:
        """Of the ball about the mass centre that holds all shapes, m."""
        return self.world._owner.ask(lib.dls_body_radius, self.id)

    @property
    def shapes(self) -> list[Shape]:
        """As they were given, hulls by their vertices; copies."""
        owner, found = self.world._owner, []
        names = {identity: name for name, identity in self.world._materials.items()}
        with owner.turn.lock:
            stands = self.freedoms and self.solid.kind == "beam"
            centre = (0.0, 0.0, 0.0) if stands else self._mass().centre
            for index in range(owner.ask(lib.dls_body_shape_count, self.id)):
                definition = _c.dls_shape_def()
                owner.call(lib.dls_body_shape, self.id, index, ctypes.byref(definition))
                if stands:
                    self._tell_from_place(definition)
                found.append(Shape._of(definition, centre, names.get(definition.material)))
        return found

    def _tell_from_place(self, definition):
        """Of a line, in the plane: the library tells shapes about its mean place, users in the frame of the place `at`."""
        mean, place, pose = self.world.states([self.id])[0], self.place(definition.at), definition.pose
        turn, course, angle = (2 * math.atan2(q[3], q[0]) for q in (mean["q"], place["q"], pose.q))
        away = complex(*mean["x"][:2]) + complex(*pose.x[:2]) * cmath.rect(1, turn) - complex(*place["x"][:2])
        local, half = away * cmath.rect(1, -course), (turn + angle - course) / 2
        pose.x[:], pose.q[:] = (local.real, local.imag, 0.0), (math.cos(half), 0.0, 0.0, math.sin(half))

    # ---- of a solid ----

    @property
    def solid(self) -> Solid | None:
        """How it deforms, as it was made, without the points of a mesh; None where it is rigid."""
        if not self.freedoms:
            return None
        definition = _c.dls_solid_def()
        self.world._owner.call(lib.dls_solid_get, self.id, ctypes.byref(definition))
        return Solid._of(definition)

    @property
    def freedoms(self) -> int:
        """Numbers of its own coordinates where it is a solid; 0 of a rigid body."""
        return self.world._owner.ask(lib.dls_solid_freedoms, self.id)

    def solid_state(self):
        """(q, u) of a solid: copies of its own coordinates and their rates."""
        with self.world._owner.turn.lock:
            q, u = numpy.empty(self.freedoms), numpy.empty(self.freedoms)
            self.world._owner.call(lib.dls_solid_state_get, self.id, address(q), address(u))
        return q, u

    def set_solid_state(self, q, u):
        """Puts a solid where q and u say, as solid_state() gives them."""
        with self.world._owner.turn.lock:
            q, u = real_array(q, "q", (self.freedoms,)), real_array(u, "u", (self.freedoms,))
            self.world._owner.change(lib.dls_solid_state_set, self.id, address(q), address(u))

    def place(self, at):
        """Where the frame of a place on a solid stands and how it moves: a record with x, q, v and w."""
        state = _c.dls_body_state()
        self.world._owner.call(lib.dls_solid_place, self.id, float(at), ctypes.byref(state))
        return numpy.frombuffer(bytes(state), STATE)[0]

    def point(self, X):
        """The same of a solid that is no line, of its point X of the body's frame at rest."""
        state, place = _c.dls_body_state(), real_array(vector(X, "X"), "X")
        self.world._owner.call(lib.dls_solid_point, self.id, address(place), ctypes.byref(state))
        return numpy.frombuffer(bytes(state), STATE)[0]

    def nodes(self):
        """Of a body of elements: (places at rest in the body's frame, any × 3; sides of the shape that each is on).

        Sides are bits: 1, 2, 4, 8, 16, 32 of low and high x, y and z; none where the mesh was told. Where nodes
        are now is solid_state()[0], reshaped alike.
        """
        owner = self.world._owner
        with owner.turn.lock:
            count, side = owner.ask(lib.dls_solid_element_nodes, self.id), ctypes.c_uint()
            places, sides = numpy.empty((count, 3)), numpy.zeros(count, numpy.uint32)
            for node in range(count):
                owner.call(lib.dls_solid_element_node, self.id, node, address(places[node]), ctypes.byref(side))
                sides[node] = side.value
        return places, sides

    @property
    def strain_energy(self) -> float:
        """Of a solid, J."""
        strain = ctypes.c_double()
        self.world._owner.call(lib.dls_solid_energy, self.id, None, ctypes.byref(strain))
        return strain.value

    def remove(self):
        """It leaves at the beginning of the next step."""
        self.world._owner.change(lib.dls_world_remove_body, self.id)


def freedom_index(name):
    if name not in FREEDOMS:
        raise ArgumentError(f"no freedom '{name}'; there are {', '.join(FREEDOMS)}")
    return FREEDOMS.index(name)


def spin(values):
    """Angular velocity; one number is about z."""
    array = real_array(values, "angular_velocity")
    return [0.0, 0.0, float(array)] if array.ndim == 0 else vector(values, "angular_velocity")


def fill_properties(definition, properties, what, plain):
    for key, value in properties.items():
        if key == "law" and key in plain:
            definition.law = ELASTIC_LAWS[one_of("law", value, ELASTIC_LAWS)]
        elif key in plain:
            setattr(definition, key, float(value))
        elif key in TURNING:
            setattr(definition.turning, key, float(value))
        else:
            raise ArgumentError(f"{what}: no key '{key}'; there are {', '.join((*plain, *TURNING))}")


describe_keys(World.add_material, ("materials",))
describe_keys(World.set_pair, *(("pairs", key) for key in ("mu", "e_n", "e_t", "cohesion", *TURNING)))
