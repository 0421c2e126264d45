"""Meshes of elements as files: blocks in Gmsh's msh 2.2 and 4.1 and VTK's vtu, in every way that they are written."""
import base64
import itertools
import pathlib
import struct

ORDERS = [(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)]
EDGES = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)]
GMSH = {"tet4": 4, "hex8": 5, "tet10": 11, "triangle": 2, "quad": 3, "triangle6": 9}
VTK = {"tet4": 10, "hex8": 12, "tet10": 24, "triangle": 5, "quad": 9, "triangle6": 22}
DIMENSION = {"tet4": 3, "hex8": 3, "tet10": 3, "triangle": 2, "quad": 2, "triangle6": 2}
FACES = {"hex8": ("quad", [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]),
         "tet4": ("triangle", [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]),
         "tet10": ("triangle6", [(0, 2, 1, 6, 5, 4), (0, 1, 3, 4, 8, 7), (1, 2, 3, 5, 9, 8), (0, 3, 2, 7, 9, 6)])}


class Mesh:
    """points; cells: tuples of points in VTK's order, all of one kind; groups: {name: (kind, list of cells)}."""

    def __init__(self, kind, points, cells, groups=None):
        self.kind, self.points, self.cells, self.groups = kind, points, cells, groups or {}

    def blocks(self):
        """(dimension, entity, kind, cells, group's number or 0), surfaces first as Gmsh has them."""
        for k, (kind, cells) in enumerate(self.groups.values()):
            yield DIMENSION[kind], k + 1, kind, cells, k + 1
        yield 3, 1, self.kind, self.cells, 0


def block(kind, size, counts):
    """What the library makes of a box about the origin, in the same order; its ends along x are the groups."""
    per = 2 if kind == "tet10" else 1
    n = [per * c + 1 for c in counts]
    place = lambda at: at[0] + n[0] * (at[1] + n[1] * at[2])  # noqa: E731
    points = [tuple((2.0 * at[k] / (n[k] - 1) - 1) * (0.5 * size[k]) for k in range(3))
              for at in ((x, y, z) for z in range(n[2]) for y in range(n[1]) for x in range(n[0]))]
    cells = []
    for z, y, x in itertools.product(*(range(c) for c in reversed(counts))):
        first = [per * k for k in (x, y, z)]
        if kind == "hex8":
            cells.append(tuple(place([first[k] + o[k] for k in range(3)]) for o in
                               [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)]))
            continue
        for t, order in enumerate(ORDERS):
            at = [list(first)]
            for axis in order:
                at.append([at[-1][k] + (per if k == axis else 0) for k in range(3)])
            if t >= 3:
                at[1], at[2] = at[2], at[1]
            nodes = [place(a) for a in at]
            if kind == "tet10":
                nodes += [place([(at[a][k] + at[b][k]) // 2 for k in range(3)]) for a, b in EDGES]
                for (a, b), middle in zip(EDGES, nodes[4:]):
                    points[middle] = tuple(0.5 * (points[nodes[a]][k] + points[nodes[b]][k]) for k in range(3))
            cells.append(tuple(nodes))
    face_kind, faces = FACES[kind]
    groups = {}
    for name, side in (("left", -1), ("right", 1)):
        flat = [tuple(cell[i] for i in face) for cell in cells for face in faces
                if all(points[cell[i]][0] == side * 0.5 * size[0] for i in face)]
        groups[name] = (face_kind, flat)
    return Mesh(kind, points, cells, groups)


def gmsh_order(kind, cell):
    return (*cell[:8], cell[9], cell[8]) if kind == "tet10" else cell


def write_gmsh(path, mesh, version="4.1", binary=False, first=1):
    """first: the number of the first node; numbers are 3 apart, so that they are no places."""
    number = [first + 3 * k for k in range(len(mesh.points))]
    out = [f"$MeshFormat\n{version} {int(binary)} 8\n".encode(), struct.pack("<i", 1) + b"\n" if binary else b"",
           b"$EndMeshFormat\n"]
    if mesh.groups:
        names = "".join(f'{DIMENSION[kind]} {k + 1} "{name}"\n' for k, (name, (kind, _)) in enumerate(mesh.groups.items()))
        out.append(f"$PhysicalNames\n{len(mesh.groups)}\n{names}$EndPhysicalNames\n".encode())
    write = _write_new if version == "4.1" else _write_old
    out.append(write(mesh, number, binary))
    pathlib.Path(path).write_bytes(b"".join(out))


def _write_old(mesh, number, binary):
    rows, cells = [], []
    for k, x in enumerate(mesh.points):
        rows.append(struct.pack("<i3d", number[k], *x) if binary else
                    f"{number[k]} {x[0]!r} {x[1]!r} {x[2]!r}\n".encode())
    count = 0
    for dimension, entity, kind, of, group in mesh.blocks():
        if binary:
            cells.append(struct.pack("<3i", GMSH[kind], len(of), 2))
        for cell in of:
            count += 1
            nodes = [number[i] for i in gmsh_order(kind, cell)]
            line = [count, group, entity, *nodes] if binary else [count, GMSH[kind], 2, group, entity, *nodes]
            cells.append(struct.pack(f"<{len(line)}i", *line) if binary else (" ".join(map(str, line)) + "\n").encode())
    end = b"\n" if binary else b""
    return b"".join([f"$Nodes\n{len(number)}\n".encode(), *rows, end, b"$EndNodes\n",
                     f"$Elements\n{count}\n".encode(), *cells, end, b"$EndElements\n"])


def _write_new(mesh, number, binary):
    def put(letters, *values):
        return struct.pack("<" + letters, *values) if binary else (" ".join(map(repr, values)) + "\n").encode()

    blocks = list(mesh.blocks())
    end = b"\n" if binary else b""
    surfaces = [b for b in blocks if b[0] == 2]
    out = [b"$Entities\n", put("4Q", 0, 0, len(surfaces), 1)]
    for dimension, entity, _, _, group in blocks:
        out.append(put("i6dQ" + ("i" if group else "") + "Q", entity, -1.0, -1.0, -1.0, 1.0, 1.0, 1.0,
                       *([1, group] if group else [0]), 0))
    half = len(number) // 2  # nodes in two blocks
    out += [end, b"$EndEntities\n$Nodes\n", put("4Q", 2, len(number), number[0], number[-1])]
    for at in range(0, half), range(half, len(number)):
        out.append(put("3iQ", 3, 1, 0, len(at)))
        out += [put("Q", number[k]) for k in at]
        out += [put("3d", *mesh.points[k]) for k in at]
    total = sum(len(b[3]) for b in blocks)
    out += [end, b"$EndNodes\n$Elements\n", put("4Q", len(blocks), total, 1, total)]
    count = 0
    for dimension, entity, kind, of, _ in blocks:
        out.append(put("3iQ", dimension, entity, GMSH[kind], len(of)))
        for cell in of:
            count += 1
            nodes = [number[i] for i in gmsh_order(kind, cell)]
            out.append(put(f"{1 + len(nodes)}Q", count, *nodes))
    return b"".join([*out, end, b"$EndElements\n"])


def write_vtu(path, mesh, form="ascii", wide=False, padded=False):
    """form: ascii, base64, appended-raw or appended-base64; padded: the count of bytes in base64 of its own."""
    cells = [(kind, cell, group) for _, _, kind, of, group in mesh.blocks() for cell in of]
    offsets, total = [], 0
    for _, cell, _ in cells:
        total += len(cell)
        offsets.append(total)
    arrays = [("Points", "Points", "Float64", "d", 3, [x for p in mesh.points for x in p]),
              ("Cells", "connectivity", "Int64", "q", 1, [i for _, cell, _ in cells for i in cell]),
              ("Cells", "offsets", "Int32", "i", 1, offsets),
              ("Cells", "types", "UInt8", "B", 1, [VTK[kind] for kind, _, _ in cells]),
              ("CellData", "gmsh:physical", "Int32", "i", 1, [group for _, _, group in cells])]
    text, appended = {"Points": "", "Cells": "", "CellData": ""}, b""
    for parent, name, kind, letter, components, values in arrays:
        data = struct.pack(f"<{len(values)}{letter}", *values)
        head = struct.pack("<Q" if wide else "<I", len(data))
        coded = base64.b64encode(head) + base64.b64encode(data) if padded else base64.b64encode(head + data)
        tag = f'<DataArray type="{kind}" Name="{name}" NumberOfComponents="{components}" format='
        if form.startswith("appended"):
            text[parent] += f'{tag}"appended" offset="{len(appended)}"/>\n'
            appended += head + data if form == "appended-raw" else coded
        elif form == "base64":
            text[parent] += f'{tag}"binary">\n{coded.decode()}\n</DataArray>\n'
        else:
            text[parent] += f'{tag}"ascii">\n{" ".join(map(repr, values))}\n</DataArray>\n'
    header = ' header_type="UInt64"' if wide else ""
    body = "".join(f"<{parent}>\n{of}</{parent}>\n" for parent, of in text.items())
    out = (f'<?xml version="1.0"?>\n<!-- a mesh -->\n<VTKFile type="UnstructuredGrid" version="1.0" '
           f'byte_order="LittleEndian"{header}>\n<UnstructuredGrid>\n<Piece NumberOfPoints="{len(mesh.points)}" '
           f'NumberOfCells="{len(cells)}">\n{body}</Piece>\n</UnstructuredGrid>\n').encode()
    if appended:
        code = form.split("-")[1]
        out += f'<AppendedData encoding="{code}">\n_'.encode() + appended + b"\n</AppendedData>\n"
    pathlib.Path(path).write_bytes(out + b"</VTKFile>\n")
