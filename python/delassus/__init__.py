"""Delassus: rigid bodies with hard frictional contact, every step certified.

Worlds are built from bodies, shapes, materials and joints and stepped by a Simulation; scenes come from YAML files,
texts or dicts; contact problems come from FCLib files or arrays and are solved by any solver of the library; results
are read as NumPy arrays. Units are SI. Arrays that are handed out are copies. What fails raises an Error with one line
about what was wrong and what was expected.
"""
from . import shapes
from ._c import DLS_VERSION as __version__
from ._library import (ArgumentError, BusyError, ClosedError, Error, FileError, InputError, NumericError, OutOfMemory)
from ._options import laws, options, solvers
from .functions import Function
from .joints import Joint, joint_kinds
from ._laws import Law, apply_law
from .pictures import Page, command, picture, program, view
from .problem import FileProblem, Problem, Solution
from .results import Analysis, Fact, Results, as_table, measures
from .scene import Run, Scene, template_text, templates
from .shapes import (Mesh, Shape, Solid, beam, box, box_inside, capsule, chain, cylinder, cylinder_inside, disc, drum,
                     elements, ellipsoid, half_plane, half_space, mesh, polygon, polyhedron, pseudo_rigid, rotation, sphere)
from .simulation import Simulation
from ._study import Study, half_width, study
from .system import FrictionLaw, Rows, System
from .world import Body, World

__all__ = [
    "Analysis", "ArgumentError", "Body", "BusyError", "ClosedError", "Error", "Fact", "FileError", "FileProblem",
    "FrictionLaw", "Function", "InputError", "Joint", "Law", "Mesh", "NumericError", "OutOfMemory", "Page", "Problem",
    "Results", "Rows", "Run", "Scene", "Shape", "Simulation", "Solid", "Solution", "Study", "System", "World", "apply_law",
    "as_table", "beam", "box", "box_inside", "capsule", "chain", "command", "cylinder", "cylinder_inside", "disc", "drum",
    "elements", "ellipsoid", "half_plane", "half_space", "half_width", "joint_kinds", "laws", "measures", "mesh", "options",
    "picture", "polygon", "polyhedron", "program", "pseudo_rigid", "rotation", "shapes", "solvers", "sphere", "study",
    "template_text", "templates", "view",
]
