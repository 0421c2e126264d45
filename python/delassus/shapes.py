"""Shapes of bodies, one function per kind. All take what `Shape` has: where it lies, its material, its groups."""
import ctypes
import dataclasses
import inspect
import math
from typing import Any

import numpy

from . import _c
from ._arrays import address, real_array, vector, whole, whole_array
from ._library import ArgumentError, InputError, choices, lib, new_pointer, path_bytes, text
from ._options import describe_keys

KINDS = {name: value for name, value in choices("dls_shape_kind").items() if name != "shape-kinds"}


def quaternion(rotation, what="rotation"):
    """(w, x, y, z) of a quaternion, or of an angle about z; None is no rotation."""
    if rotation is None:
        return [1.0, 0.0, 0.0, 0.0]
    array = real_array(rotation, what)
    if array.ndim == 0:
        return [math.cos(float(array) / 2), 0.0, 0.0, math.sin(float(array) / 2)]
    if array.shape != (4,):
        raise InputError(f"{what}: shape {array.shape}, expected a quaternion (w, x, y, z) or an angle about z")
    return list(array)


def rotation(axis, angle):
    """The quaternion of a turn by an angle (rad) about an axis of any length.

    >>> [round(number, 6) for number in rotation((0, 0, 2), 3.141592653589793)]
    [0.0, 0.0, 0.0, 1.0]
    """
    x, y, z = vector(axis, "axis")
    length = math.hypot(x, y, z)
    if not length > 0 or not math.isfinite(length):
        raise InputError(f"axis: length {length:g}, expected more than 0")
    sine = math.sin(angle / 2) / length
    return (math.cos(angle / 2), x * sine, y * sine, z * sine)


@dataclasses.dataclass(kw_only=True)
class Shape:
    """One shape of a body.

    position, rotation: in the body's frame; a rotation is a quaternion (w, x, y, z) or an angle about z.
    belt: velocity of the surface against the shape, m/s, in its frame: a conveyor.
    material: its name, or None for the default.
    group, collides: bits; shapes collide where each one's group meets the other's mask.
    at: of a shape of a solid, the place that its position is told from: 0 at the first end of a beam, 1 at its last.
    is_point: of a disc or sphere: its radius is 0, it is a point without mass.
    """
    kind: str
    radius: float = 0.0
    length: float = 0.0
    size: Any = (0.0, 0.0, 0.0)
    points: Any = None
    triangles: Any = None
    is_closed: bool = False
    position: Any = (0.0, 0.0, 0.0)
    rotation: Any = None
    belt: Any = (0.0, 0.0, 0.0)
    material: str | None = None
    group: int | None = None
    collides: int | None = None
    at: float = 0.0
    is_point: bool = False

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ArgumentError(f"no shape '{self.kind}'; there are {', '.join(KINDS)}")

    @classmethod
    def _of(cls, definition, centre, material):
        """From C's definition, which is told about the mass centre."""
        kind = {value: name for name, value in KINDS.items()}[definition.kind]
        points, triangles = definition.points, definition.triangles
        return cls(kind=kind, radius=definition.radius, length=definition.length, size=tuple(definition.size),
                   points=copied(points, numpy.float64, (definition.point_count, 3)) if points else None,
                   triangles=copied(triangles, numpy.int32, (definition.triangle_count, 3)) if triangles else None,
                   is_closed=definition.closed, position=tuple(x + c for x, c in zip(definition.pose.x, centre)),
                   rotation=tuple(definition.pose.q), belt=tuple(definition.belt), material=material,
                   group=definition.group, collides=definition.collides, at=definition.at, is_point=definition.point)

    def _fill(self, definition, material_of, keep):
        """Writes itself into C's definition; arrays live in keep until it was copied."""
        ctypes.pointer(definition)[0] = lib.dls_default_shape_def(KINDS[self.kind])
        definition.radius, definition.length = float(self.radius), float(self.length)
        definition.size[:] = vector(self.size, f"size of a {self.kind}")
        definition.pose.x[:] = vector(self.position, "position of a shape")
        definition.pose.q[:] = quaternion(self.rotation, "rotation of a shape")
        definition.belt[:] = vector(self.belt, "belt of a shape")
        definition.closed, definition.at, definition.point = bool(self.is_closed), float(self.at), bool(self.is_point)
        definition.material = material_of(self.material)
        if self.points is not None:
            points = spatial_points(self.points)
            keep.append(points)
            definition.points, definition.point_count = address(points), len(points)
        if self.triangles is not None:
            triangles = whole_array(self.triangles, "triangles")
            if triangles.ndim != 2 or triangles.shape[1] != 3:
                raise InputError(f"triangles: shape {triangles.shape}, expected any × 3")
            keep.append(triangles)
            definition.triangles, definition.triangle_count = address(triangles), len(triangles)
        for key in ("group", "collides"):
            if (bits := getattr(self, key)) is not None:
                setattr(definition, key, whole(bits, key, 0, 2**32 - 1))


def spatial_points(points):
    array = real_array(points, "points")
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise InputError(f"points: shape {array.shape}, expected any × 2 or any × 3")
    if array.shape[1] == 2:
        spatial = real_array([[0.0] * 3] * len(array), "points", (-1, 3)) if len(array) else array
        spatial[:, :2] = array
        return spatial
    return array


SOLIDS = {name: value for name, value in choices("dls_solid_form", "SOLID_").items() if name != "forms"}
CELLS = {name.removeprefix("cell-"): value for name, value in choices("dls_solid_cell", "SOLID_").items()
         if name != "cells"}
REALS, WHOLES = ("length", "EA", "EI", "line_density", "damping", "bend", "mass_damping"), ("degree", "elements", "gauss")
CORNERS = {"tet4": 4, "tet10": 10, "hex8": 8}


@dataclasses.dataclass(kw_only=True)
class Solid:
    """How a body deforms; made by beam(), pseudo_rigid() and elements()."""
    kind: str
    length: float = 0.0
    EA: float = 0.0
    EI: float = 0.0
    line_density: float = 0.0
    damping: float = 0.0
    degree: int | None = None
    elements: int | None = None
    gauss: int | None = None
    shape: str = "deforming"
    cells: Any = None
    bend: float = 0.0
    element: str = "any"
    form: str = "material"
    mass: str = "consistent"
    mass_damping: float = 0.0
    points: Any = None
    connectivity: Any = None

    @classmethod
    def _of(cls, definition):
        """From C's definition."""
        def told(table, value):
            return {number: name for name, number in table.items()}[value]
        numbers = {key: getattr(definition, key) for key in (*REALS, *WHOLES)}
        return cls(kind=told(SOLIDS, definition.form), cells=tuple(definition.cells), element=told(CELLS, definition.cell),
                   shape="retained" if definition.retained else "deforming",
                   form="corotational" if definition.corotational else "material",
                   mass="lumped" if definition.lumped else "consistent", **numbers)

    def _definition(self, keep):
        """C's definition; arrays live in keep until it was copied."""
        if self.kind not in SOLIDS:
            raise ArgumentError(f"no solid '{self.kind}'; there are {', '.join(SOLIDS)}")
        definition = lib.dls_default_solid_def(SOLIDS[self.kind])
        for key in REALS:
            setattr(definition, key, float(getattr(self, key)))
        for key in WHOLES:
            if getattr(self, key) is not None:
                setattr(definition, key, whole(getattr(self, key), key))
        definition.retained = one_of("shape", self.shape, ("deforming", "retained")) == "retained"
        definition.corotational = one_of("form", self.form, ("material", "corotational")) == "corotational"
        definition.lumped = one_of("mass", self.mass, ("consistent", "lumped")) == "lumped"
        definition.cell = CELLS[one_of("element", self.element, CELLS)]
        if self.cells is not None:
            definition.cells[:] = counts(self.cells)
        if self.points is not None:
            keep.append(self._mesh(keep))
            definition.mesh = ctypes.pointer(keep[-1])
        return definition

    def _mesh(self, keep):
        corners = CORNERS[one_of("element of a mesh", self.element, CORNERS)]
        points = real_array(self.points, "points", (-1, 3))
        cells = whole_array(self.connectivity, "connectivity")
        if cells.ndim != 2 or cells.shape[1] != corners:
            raise InputError(f"connectivity: shape {cells.shape}, expected any × {corners} of a {self.element}")
        keep += [points, cells]
        return _c.dls_solid_mesh(cell=CELLS[self.element], node_count=len(points), cell_count=len(cells),
                                 points=address(points), cells=address(cells))


def one_of(what, name, known):
    if name not in known:
        raise ArgumentError(f"{what}: '{name}', expected {', '.join(known)}")
    return name


def counts(values):
    array = whole_array(values, "cells")
    if array.shape != (3,):
        raise InputError(f"cells: shape {array.shape}, expected 3 numbers")
    return [*map(int, array)]


def beam(length, EA, EI, line_density, *, damping=0.0, degree=None, elements=None, gauss=None):
    """A beam in the plane, straight at rest along x of the body's frame from its origin."""
    return Solid(kind="beam", length=length, EA=EA, EI=EI, line_density=line_density, damping=damping, degree=degree,
                 elements=elements, gauss=gauss)


def pseudo_rigid(shape="deforming"):
    """All places of a body in space move by one affine map; mass and stiffness are those of its shapes and material.

    >>> world = World()
    >>> _ = world.add_material("jelly", young=1e5, poisson=0.3, damping=1e-3)
    >>> world.add_body(box((0.1, 0.1, 0.1), material="jelly"), solid=pseudo_rigid()).freedoms
    12
    """
    return Solid(kind="pseudo-rigid", shape=shape)


def elements(cells=(2, 2, 2), *, bend=0.0, element="any", form="material", mass="consistent", mass_damping=0.0):
    """Finite elements that fill the one shape of a body in space: a box, sphere, ellipsoid or cylinder.

    >>> world = World()
    >>> _ = world.add_material("rubber", young=1e6, poisson=0.4)
    >>> block = world.add_body(box((0.2, 0.1, 0.1), material="rubber"), solid=elements((4, 2, 2), form="corotational"))
    >>> block.freedoms, len(block.nodes()[0])
    (135, 45)
    """
    return Solid(kind="elements", cells=cells, bend=bend, element=element, form=form, mass=mass,
                 mass_damping=mass_damping)


for function in (beam, pseudo_rigid, elements):
    describe_keys(function, *(("bodies.solid", key) for key in inspect.signature(function).parameters))


class Mesh:
    """A mesh of a file: triangles of .obj and .stl, elements of .msh (Gmsh 2.2, 4.1) and .vtu. Lengths times scale.

    points: any × 3, m. triangles: of the surface, any × 3.
    cells: of elements, any × their nodes; None of triangles. element: 'tet4', 'tet10', 'hex8' or None.
    groups: {name: its nodes}, of physical groups.
    """

    def __init__(self, path, scale=1.0):
        file = new_pointer(_c.dls_mesh_file, lib.dls_mesh_file_open, path_bytes(path), float(scale))
        try:
            self._read(file)
        finally:
            lib.dls_mesh_file_close(file)

    def _read(self, file):
        shape, found = lib.dls_mesh_file_shape(file)[0], lib.dls_mesh_file_elements(file)
        self.points = copied(shape.points, numpy.float64, (shape.point_count, 3))
        self.triangles = copied(shape.triangles, numpy.int32, (shape.triangle_count, 3))
        self.cells = self.element = None
        if found:
            self.element = {value: name for name, value in CELLS.items()}[found[0].cell]
            self.cells = copied(found[0].cells, numpy.int32, (found[0].cell_count, CORNERS[self.element]))
        self.groups, count, nodes = {}, ctypes.c_int(), ctypes.POINTER(ctypes.c_int)()
        while (name := lib.dls_mesh_file_group(file, len(self.groups), ctypes.byref(count), ctypes.byref(nodes))) is not None:
            self.groups[text(name)] = copied(nodes, numpy.int32, (count.value,))

    def __repr__(self):
        cells = f", {len(self.cells)} {self.element}" if self.element else ""
        return f"<mesh: {len(self.points)} points, {len(self.triangles)} triangles{cells}>"

    def shape(self, **more):
        """The surface as the shape of a body: an obstacle of triangles, or the skin of elements."""
        return Shape(kind="skin" if self.element else "mesh", points=self.points, triangles=self.triangles, **more)

    def solid(self, *, form="material", mass="consistent", mass_damping=0.0):
        """The elements of a body whose shape is shape(); keywords as those of elements()."""
        if self.element is None:
            raise ArgumentError("a mesh of triangles, expected one of elements")
        return Solid(kind="elements", element=self.element, form=form, mass=mass, mass_damping=mass_damping,
                     points=self.points, connectivity=self.cells)


def copied(pointer, kind, shape):
    """An array of memory that is the library's; empty where there is none."""
    place = ctypes.cast(pointer, ctypes.c_void_p).value
    count = math.prod(shape)
    if not place or not count:
        return numpy.zeros(shape, kind)
    held = (ctypes.c_char * (count * numpy.dtype(kind).itemsize)).from_address(place)
    return numpy.frombuffer(held, kind).reshape(shape).copy()


# ---- planar ----

def disc(radius, **more):
    """A disc in the plane."""
    return Shape(kind="disc", radius=radius, **more)


def half_plane(**more):
    """Solid where y ≤ 0 in its frame; an obstacle."""
    return Shape(kind="half-plane", **more)


def chain(points, is_closed=False, **more):
    """Segments between consecutive points, solid on the right when walking along; an obstacle."""
    return Shape(kind="chain", points=points, is_closed=is_closed, **more)


def polygon(points, **more):
    """The convex hull of points in the plane."""
    return Shape(kind="polygon", points=points, **more)


def drum(radius, **more):
    """The inside of a circle: solid beyond the radius; an obstacle."""
    return Shape(kind="drum", radius=radius, **more)


# ---- spatial ----

def sphere(radius, **more):
    """A ball.

    >>> sphere(0.1, material="steel").radius
    0.1
    """
    return Shape(kind="sphere", radius=radius, **more)


def half_space(**more):
    """Solid where z ≤ 0 in its frame; an obstacle."""
    return Shape(kind="half-space", **more)


def box(size, **more):
    """A box with edges of these full lengths."""
    return Shape(kind="box", size=size, **more)


def capsule(radius, length, **more):
    """A cylinder along z with half balls at the ends of its axis, which is `length` long."""
    return Shape(kind="capsule", radius=radius, length=length, **more)


def ellipsoid(size, **more):
    """An ellipsoid with these semi-axes."""
    return Shape(kind="ellipsoid", size=size, **more)


def polyhedron(points, **more):
    """The convex hull of points in space."""
    return Shape(kind="polyhedron", points=points, **more)


def cylinder(radius, length, **more):
    """A cylinder along z."""
    return Shape(kind="cylinder", radius=radius, length=length, **more)


def cylinder_inside(radius, length=0.0, **more):
    """Solid beyond the radius and beyond the ends of length along z (0: open, endless); an obstacle."""
    return Shape(kind="cylinder-inside", radius=radius, length=length, **more)


def box_inside(size, **more):
    """Solid outside of a box; an obstacle."""
    return Shape(kind="box-inside", size=size, **more)


def mesh(points, triangles, **more):
    """Triangles by their point indices; an obstacle whose outside is where the counter-clockwise normals point."""
    return Shape(kind="mesh", points=points, triangles=triangles, **more)
