"""Meshes of elements from files: every way of writing them gives the same bits, and what is wrong is refused."""
import itertools
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests", "support"))
import meshes  # noqa: E402
import tap  # noqa: E402
from program import refuses, run_json  # noqa: E402

SIZE, COUNTS = (0.1, 0.08, 0.06), (2, 3, 2)
# A soft block falls on a floor with an edge.
SCENE = """delassus: 1
materials:
  soft: {{density: 1000, young: 2e5, poisson: 0.3, damping: 2e-3, mu: 0.4}}
bodies:
  - {{name: floor, motion: static, shape: {{kind: half-space}}}}
  - name: block
    material: soft
    rotation: {{axis: [1, 2, 0], angle: 0.3}}
    position: [0, 0, 0.05]
    solid: {{kind: elements{solid}}}{shape}
time: {{step: 2e-3, until: 0.04}}
"""
BOX = f"\n    shape: {{kind: box, size: {list(SIZE)}}}"


def scene(solid, shape=""):
    pathlib.Path("scene.yaml").write_text(SCENE.format(solid=solid, shape=shape))
    return "scene.yaml"


def facts(solid, shape=""):
    found = run_json("run", scene(solid, shape), "-o", "out.h5")
    assert found["certified"] == found["steps"] == 20 and found["contacts"] > 0, found
    return found["state"], found["strain"], found["mass"] if "mass" in found else None


def every_way(mesh):
    for version, binary in itertools.product(("2.2", "4.1"), (False, True)):
        meshes.write_gmsh("mesh.msh", mesh, version, binary)
        yield "mesh.msh", (version, binary)
    for form, wide, padded in itertools.product(("ascii", "base64", "appended-raw", "appended-base64"), (False, True),
                                                (False, True)):
        meshes.write_vtu("mesh.vtu", mesh, form, wide, padded)
        yield "mesh.vtu", (form, wide, padded)


def test_a_mesh_from_a_file_has_the_bits_of_the_same_cells():
    for kind, form in ("hex8", "corotational"), ("tet4", "material"), ("tet10", "material"):
        told = facts(f", form: {form}, element: {kind}, cells: {list(COUNTS)}", BOX)
        for path, how in every_way(meshes.block(kind, SIZE, COUNTS)):
            assert facts(f", form: {form}, mesh: {path}, scale: 1") == told, (kind, how)


def test_lengths_are_scaled_and_asked_about():
    mesh = meshes.block("tet4", [1000 * s for s in SIZE], COUNTS)
    meshes.write_gmsh("mm.msh", mesh)
    _, strain, _ = facts(", mesh: mm.msh, scale: 1e-3")
    near = facts(", element: tet4, cells: [2, 3, 2]", BOX)
    assert abs(strain - near[1]) < 1e-6 * near[1] and strain > 0, (strain, near)
    text = SCENE.format(solid=", mesh: mm.msh", shape="") + "inlets: []\n"
    text = text.replace("bodies:", "bodies:\n  - {name: ball, shape: {kind: sphere, radius: 0.01}, position: [1, 0, 0.01]}")
    pathlib.Path("doubt.yaml").write_text(text)
    found = run_json("check", "doubt.yaml")
    assert "'scale: 0.001' is missing" in str(found), found


def wrong(change, kind="tet4", version="2.2", suffix="msh", **how):
    """The message about a file of a good mesh whose text was changed."""
    path = f"wrong.{suffix}"
    mesh = meshes.block(kind, (1.0, 1.0, 1.0), (1, 1, 1))
    if suffix == "msh":
        meshes.write_gmsh(path, mesh, version, **how)
    else:
        meshes.write_vtu(path, mesh, **how)
    data = pathlib.Path(path).read_bytes()
    changed = change(data)
    assert changed != data, change
    pathlib.Path(path).write_bytes(changed)
    message = refuses("check", scene(f", form: {'corotational' if kind == 'hex8' else 'material'}, mesh: {path}, scale: 1"))
    assert message.startswith("delassus: scene.yaml:10: ") and path in message, message
    return message


def swap(old, new):
    return lambda data: data.replace(old.encode() if isinstance(old, str) else old,
                                     new.encode() if isinstance(new, str) else new, 1)


def test_wrong_gmsh_files_are_refused_by_line():
    for change, expected in [
        (swap("2.2 0 8", "3.0 0 8"), "wrong.msh:2: a .msh file of version 3, expected 2.2 or 4.1"),
        (swap("2.2 0 8", "2.2 0 4"), "data-size 4"),
        (swap("$MeshFormat", "$Mesh"), "expected $MeshFormat first"),
        (swap("22 0.5 0.5 0.5", "22 0.5 nan 0.5"), "wrong.msh:18: node 22 has a coordinate nan"),
        (swap("22 0.5 0.5 0.5", "22 0.5 x 0.5"), "wrong.msh:18: 'x' in $Nodes, expected a number"),
        (swap("22 0.5 0.5 0.5", "19 0.5 0.5 0.5"), "wrong.msh:18: node 19 for the second time"),
        (swap("$Nodes\n8\n", "$Nodes\n9\n0 3 3 3\n"), "node 0 (line 11) belongs to no element, expected none that dangles"),
        (swap("$Nodes\n8\n", "$Nodes\n8000\n"), "8000 of something in $Nodes, more than the file has bytes for"),
        (swap("$Nodes\n8\n", "$Nodes\n7\n"), "more in $Nodes than it says"),
        (swap("$Elements\n10\n", "$Elements\n11\n"), "cut off in $Elements"),
        (swap(" 4 2 0 1 1 4 10 22", " 4 2 0 1 4 1 10 22"), "element 5 (line 26) is inverted"),
        (swap(" 4 2 0 1 1 4 10 22", " 4 2 0 1 1 4 10 7"), "element 5 (line 26) has no volume"),
        (swap(" 4 2 0 1 1 4 10 22", " 4 2 0 1 1 4 10 23"), "wrong.msh:26: element 5 has node 23, which is not there"),
        (swap(" 4 2 0 1 1 4 10 22", " 6 2 0 1 1 4 10 22 13 16"), "wrong.msh:26: element 5 is a prism, expected"),
        (swap(" 4 2 0 1 1 4 10 22", " 99 2 0 1 1 4 10 22"), "wrong.msh:26: elements of type 99, which is not known"),
        (swap("6 4 2 0 1 ", "6 5 2 0 1 1 4 7 10 "), "expected elements of one kind"),
        (lambda data: data[:data.index(b"$EndNodes")], "cut off in $Nodes"),
        (lambda data: data[:data.index(b"$Elements")], "no elements in it"),
        (lambda data: b"", "empty, expected $MeshFormat"),
        (lambda data: data.replace(b"$Nodes", b"$Knots").replace(b"$EndNodes", b"$EndKnots"), "$Elements before $Nodes"),
    ]:
        message = wrong(change)
        assert expected in message, (expected, message)
    message = wrong(swap(b"4.1", b"4.0"), version="4.1")
    assert "version 4, expected 2.2 or 4.1" in message, message
    message = wrong(swap(b"\1\0\0\0\n$EndM", b"\0\0\0\1\n$EndM"), version="4.1", binary=True)
    assert "little-endian" in message, message


def test_every_cut_of_a_file_is_refused():
    for suffix, how in [("msh", {"version": "2.2"}), ("msh", {"version": "4.1", "binary": True}),
                        ("msh", {"version": "2.2", "binary": True}), ("vtu", {"form": "ascii"}),
                        ("vtu", {"form": "base64"}), ("vtu", {"form": "appended-raw"})]:
        sizes = []
        wrong(lambda data: sizes.append(len(data)) or data[:-40], suffix=suffix, **how)
        for cut in range(sizes[0] // 11, sizes[0] - 40, sizes[0] // 11):
            wrong(lambda data: data[:cut], suffix=suffix, **how)


def test_surfaces_that_are_none_are_refused():
    two = meshes.block("hex8", (1.0, 1.0, 1.0), (2, 1, 1))
    away = meshes.Mesh("hex8", two.points + [(x + 9, y, z) for x, y, z in two.points],
                       two.cells + [tuple(i + len(two.points) for i in cell) for cell in two.cells])
    square = meshes.block("hex8", (1.0, 1.0, 1.0), (2, 2, 1))
    crossed = meshes.Mesh("hex8", square.points, [square.cells[0], square.cells[3]])
    used = sorted({i for cell in crossed.cells for i in cell})
    crossed = meshes.Mesh("hex8", [square.points[i] for i in used],
                          [tuple(used.index(i) for i in cell) for cell in crossed.cells])
    for mesh, expected in [
            (away, "expected one piece"), (crossed, "the surface is open or branches between node"),
            (meshes.Mesh("hex8", two.points, two.cells + [two.cells[0]]), "shares a face with two others")]:
        meshes.write_gmsh("surface.msh", mesh)
        message = refuses("check", scene(", form: corotational, mesh: surface.msh, scale: 1"))
        assert expected in message and "line" in message, message


def test_wrong_vtu_files_are_refused():
    for change, expected in [
        (swap('type="UnstructuredGrid"', 'type="PolyData"'), "a VTKFile of type 'PolyData', expected UnstructuredGrid"),
        (swap("LittleEndian", "BigEndian"), "byte_order is 'BigEndian'"),
        (swap('version="1.0" byte', 'compressor="vtkZLibDataCompressor" byte'), "expected a file written without compression"),
        (swap('NumberOfPoints="8"', 'NumberOfPoints="80"'), "Points is cut off"),
        (swap('NumberOfPoints="8"', 'NumberOfPoints="-8"'), "NumberOfPoints is '-8'"),
        (swap('NumberOfPoints="8"', 'NumberOfPoints="900000000000"'), "expected a smaller mesh"),
        (swap('NumberOfCells="10"', 'NumberOfCells="9"'), "offsets has more numbers than the piece says"),
        (swap('Name="types"', 'Name="kinds"'), "no array types in Cells"),
        (swap("Float64", "String"), "Points are of type 'String', expected Float32 or Float64"),
        (swap("<Piece", "<Piece NumberOfPoints=\"1\" NumberOfCells=\"0\"/><Piece"), "a second piece, expected one"),
        (swap("10 10 10 10 10 10", "10 14 10 10 10 10"), "cell 5 is a pyramid, expected"),
        (swap("10 10 10 10 10 10", "10 10 10 10 10 71"), "cell 9 is of type 71, which is not known"),
        (swap("-0.5 -0.5 -0.5", "-0.5 nan -0.5"), "node 0 has a coordinate nan"),
        (lambda data: b"nothing", "no VTKFile"),
    ]:
        message = wrong(change, suffix="vtu")
        assert expected in message, (expected, message)


def test_a_pipe_is_no_mesh():
    os.mkfifo("pipe.msh")
    assert "pipe.msh" in refuses("check", scene(", mesh: pipe.msh"))
    assert "absent.msh" in refuses("check", scene(", mesh: absent.msh"))


def test_what_a_scene_says_beside_a_mesh():
    meshes.write_gmsh("good.msh", meshes.block("tet4", SIZE, COUNTS))
    for solid, shape, expected in [
        (", mesh: good.msh, scale: 0", "", "scale"),
        (", mesh: good.msh, cells: [1, 1, 1]", "", "'cells' with a mesh"),
        (", mesh: good.msh, element: tet4", "", "'element' with a mesh"),
        (", mesh: good.msh", BOX, "a shape of a body whose solid has a mesh"),
        (", mesh: good.stl", "", "good.stl"),
        (", scale: 2", BOX, "scale without a mesh"),
    ]:
        assert expected in refuses("check", scene(solid, shape)), expected
    pathlib.Path("ball.stl").write_text("solid\n")
    assert "expected .msh or .vtu" in refuses("check", scene(", mesh: ball.stl"))
    meshes.write_gmsh("hex.msh", meshes.block("hex8", SIZE, COUNTS))
    assert "hexahedra of a kirchhoff body" in refuses("check", scene(", mesh: hex.msh"))


tap.main(globals())
