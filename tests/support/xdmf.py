"""The XDMF of a results file in the hands of readers that are not ours: libXdmf (XDMF 3) through its C interface, and
the three readers of ParaView through pvpython. For each path both give a list of what readers made of it, each of
which is a list of frames:

    {"time": t, "grids": {name: {"points": [[x, y, z], …], "cells": [[point], …], "arrays": {name: [[…], …]}}}}
"""
import ctypes
import json
import os
import shutil
import subprocess

from support import tap

# ---- libXdmf ----

class Library:
    """Functions of libXdmf by name; handles are plain addresses."""

    def __init__(self):
        try:
            self.library = ctypes.CDLL("libXdmf.so.3")
        except OSError:
            raise tap.Skip("no libXdmf here (Debian: libxdmf3)") from None
        self.types = {self.count("XdmfArrayTypeInt32"): ctypes.c_int32,
                      self.count("XdmfArrayTypeFloat32"): ctypes.c_float,
                      self.count("XdmfArrayTypeFloat64"): ctypes.c_double}
        self.vector = self.count("XdmfAttributeTypeVector")

    def ask(self, name, answer, *arguments):
        function = getattr(self.library, name)
        function.restype = answer
        return function(*arguments)

    def count(self, name, *arguments):
        return self.ask(name, ctypes.c_uint, *arguments)

    def handle(self, name, *arguments):
        address = self.ask(name, ctypes.c_void_p, *arguments)
        assert address, f"{name} gives nothing"
        return ctypes.c_void_p(address)

    def tried(self, name, answer, *arguments):
        """Functions that end with a status: 1 is success, and it is left alone where nothing fails."""
        status = ctypes.c_int(1)
        value = self.ask(name, answer, *arguments, ctypes.byref(status))
        assert status.value == 1, f"{name} fails"
        return value

    def numbers(self, kind, array, width):
        # ParaView makes room for the numbers by their type before they are read
        number = self.tried(f"Xdmf{kind}GetArrayType", ctypes.c_int, array)
        assert number in self.types, f"{kind} has no type that ParaView knows before it is read"
        self.tried(f"Xdmf{kind}Read", None, array)
        size = self.count(f"Xdmf{kind}GetSize", array)
        address = self.handle(f"Xdmf{kind}GetValuesInternal", array)
        values = ctypes.cast(address, ctypes.POINTER(self.types[number]))[:size]
        assert size % width == 0, (kind, size, width)
        return [values[k:k + width] for k in range(0, size, width)]


def read_grid(library, grid):
    geometry = library.handle("XdmfUnstructuredGridGetGeometry", grid)
    topology = library.handle("XdmfUnstructuredGridGetTopology", grid)
    points, arrays = library.numbers("Geometry", geometry, 3), {}
    for k in range(library.count("XdmfUnstructuredGridGetNumberAttributes", grid)):
        array = library.handle("XdmfUnstructuredGridGetAttribute", grid, k)
        width = 3 if library.count("XdmfAttributeGetType", array) == library.vector else 1
        name = library.ask("XdmfAttributeGetName", ctypes.c_char_p, array).decode()
        arrays[name] = library.numbers("Attribute", array, width)
    cells = library.numbers("Topology", topology, 1)
    assert library.tried("XdmfTopologyGetNumberElements", ctypes.c_uint, topology) == len(cells)
    return {"points": points, "cells": cells, "arrays": arrays}


def read_by_library(*paths):
    library = Library()
    return [[read_file(library, path)] for path in paths]


def read_file(library, path):
    frames = []
    reader = library.handle("XdmfReaderNew")
    domain = ctypes.c_void_p(library.tried("XdmfReaderRead", ctypes.c_void_p, reader,
                                          os.fsencode(os.path.abspath(path))))
    run = library.handle("XdmfDomainGetGridCollection", domain, 0)
    for k in range(library.count("XdmfGridCollectionGetNumberGridCollections", run)):
        frame = library.handle("XdmfGridCollectionGetGridCollection", run, k)
        time = library.ask("XdmfTimeGetValue", ctypes.c_double, library.handle("XdmfGridCollectionGetTime", frame))
        grids = {}
        for g in range(library.count("XdmfGridCollectionGetNumberUnstructuredGrids", frame)):
            grid = library.handle("XdmfGridCollectionGetUnstructuredGrid", frame, g)
            grids[library.ask("XdmfUnstructuredGridGetName", ctypes.c_char_p, grid).decode()] = read_grid(library, grid)
        frames.append({"time": time, "grids": grids})
    return frames


# ---- ParaView ----

PARAVIEW_SCRIPT = r"""
import json, sys
import paraview.simple as paraview
from paraview import servermanager
def tuples(array):
    return [list(array.GetTuple(k)) for k in range(array.GetNumberOfTuples())]
def grid(data):
    arrays = data.GetPointData()
    return {"points": [list(data.GetPoint(k)) for k in range(data.GetNumberOfPoints())],
            "cells": [[data.GetCell(k).GetPointId(i) for i in range(data.GetCell(k).GetNumberOfPoints())]
                      for k in range(data.GetNumberOfCells())],
            "arrays": {arrays.GetArrayName(k): tuples(arrays.GetArray(k)) for k in range(arrays.GetNumberOfArrays())}}
def grids(data):
    found, walk = {}, data.NewIterator()
    walk.InitTraversal()
    while not walk.IsDoneWithTraversal():
        part = grid(walk.GetCurrentDataObject())
        found["bodies" if "body" in part["arrays"] else "contacts"] = part
        walk.GoToNextItem()
    return found
def frames(make, path):
    reader = make(FileNames=[path]) if make is paraview.XDMFReader else make(FileName=[path])
    reader.UpdatePipelineInformation()
    for time in reader.TimestepValues:
        reader.UpdatePipeline(time)
        yield {"time": time, "grids": grids(servermanager.Fetch(reader))}
readers = [paraview.XDMFReader, paraview.Xdmf3ReaderS, paraview.Xdmf3ReaderT]
with open(sys.argv[1], "w") as file:
    json.dump([[list(frames(make, path)) for make in readers] for path in sys.argv[2:]], file)
"""


def pvpython():
    program = os.environ.get("DLS_PVPYTHON") or shutil.which("pvpython")
    if not program:
        raise tap.Skip("no pvpython here (Debian: python3-paraview, or DLS_PVPYTHON=PATH)")
    return program


def read_by_paraview(*paths):
    done = subprocess.run([pvpython(), "-c", PARAVIEW_SCRIPT, "frames.json", *map(os.path.abspath, paths)],
                          capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert done.returncode == 0 and not said.strip(), f"{paths}: exit {done.returncode}\n{said}"
    with open("frames.json") as file:
        return json.load(file)
