"""Bodies that deform, built in Python: as scenes have them, and as statics has it; what results hold of them."""
import pathlib
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from binding import raises  # noqa: E402
import meshes  # noqa: E402
import tap  # noqa: E402
import delassus  # noqa: E402
import numpy  # noqa: E402
from delassus import Scene, Simulation, World, box, half_space  # noqa: E402


def soft_block(form, law):
    world = World()
    world.add_material("rubber", density=1000, young=2e5, poisson=0.3, law=law, damping=5e-3, mu=0.5)
    world.add_body(half_space(), motion="static")
    block = world.add_body(box((0.1, 0.1, 0.1), material="rubber"), position=(0, 0, 0.05),
                           solid=delassus.elements((2, 2, 2), form=form))
    return world, block


def test_blocks_of_elements_stand_shortened_by_their_weight():
    for form, law in (("corotational", "linear"), ("material", "kirchhoff"), ("material", "neo-hookean")):
        world, block = soft_block(form, law)
        assert world.material("rubber")["law"] == law and world.material("rubber")["young"] == 2e5
        rest, sides = block.nodes()
        top = rest[:, 2] == rest[:, 2].max()
        assert block.freedoms == 3 * len(rest) and ((sides & 32 > 0) == top).all(), sides
        sim = Simulation(world, step=2e-3)
        sim.run(0.4)
        places = block.solid_state()[0].reshape(-1, 3)
        sag = 0.1 - places[top, 2].mean()
        assert 0.75 < sag / (1000 * 9.81 * 0.1**2 / (2 * 2e5)) < 1.05, (form, law, sag)  # ρ g L²/2E where it slips
        assert abs(block.point((0, 0, 0.05))["x"][2] + sag - 0.1) < 1e-4 and block.strain_energy > 0


def test_pseudo_rigid_shapes_deform_as_scenes_have_them():
    description = {"materials": {"jelly": {"density": 1000, "young": 1e5, "poisson": 0.3, "damping": 1e-3, "mu": 0.3}},
                   "time": {"step": 1e-3, "until": 0.2}, "bodies": [
        {"name": "floor", "motion": "static", "shape": {"kind": "half-space"}},
        {"name": "ball", "position": [0, 0, 0.12], "solid": {"kind": "pseudo-rigid"},
         "shape": {"kind": "ellipsoid", "size": [0.1, 0.08, 0.06], "material": "jelly"}}]}
    first = Scene(description).simulation()
    first.run(0.2)
    world = World()
    world.add_material("jelly", density=1000, young=1e5, poisson=0.3, damping=1e-3, mu=0.3)
    world.add_body(half_space(), name="floor", motion="static")
    ball = world.add_body(delassus.ellipsoid((0.1, 0.08, 0.06), material="jelly"), name="ball", position=(0, 0, 0.12),
                          solid=delassus.pseudo_rigid())
    second = Simulation(world, step=1e-3)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "ball.h5"
        second.run(0.2, results=path, interval=0.05)
        with delassus.Results(path) as results:
            found = results.gradients(-1)
            assert len(results.nodes(-1)) == 0 and list(found["body"]) == [1]
    assert first.hash == second.hash and ball.freedoms == 12
    F = ball.solid_state()[0][3:].reshape(3, 3)
    assert numpy.abs(found["F"][0].reshape(3, 3).T - F).max() < 1e-12 and 1e-4 < numpy.abs(F - numpy.eye(3)).max() < 0.5


def test_results_hold_the_nodes_of_skins_and_beams():
    world, block = soft_block("corotational", "linear")
    sim = Simulation(world, step=2e-3)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "block.h5"
        sim.run(0.1, results=path, interval=0.05)
        with delassus.Results(path) as results:
            nodes = results.nodes(-1)
            assert len(results.gradients(-1)) == 0 and (nodes["body"] == block.id).all()
            held = block.solid_state()[0].reshape(-1, 3)
            near = numpy.abs(nodes["x"][:, None] - held[None]).max(2).min(1)
            assert len(nodes) == 26 and near.max() < 1e-12, "26 of 27 nodes are on the skin"
            assert nodes["von_mises"].max() > 0 and (numpy.diff(nodes["principal"], axis=1) <= 0).all()
            raises(IndexError, "no frame 9", results.nodes, 9)
    beam = World(dimension=2)
    beam.add_body(solid=delassus.beam(1.0, EA=1e4, EI=5.0, line_density=0.1))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "beam.h5"
        Simulation(beam, step=1e-2).run(0.1, results=path)
        with delassus.Results(path) as results:
            nodes = results.nodes(-1)
            assert nodes["at"][0] == 0 and nodes["at"][-1] == 1 and abs(nodes["v"][0, 1] + 0.981) < 1e-9


def test_meshes_of_files_are_bodies_and_obstacles():
    hexahedra = meshes.block("hex8", (0.1, 0.1, 0.1), (2, 2, 2))
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "block.msh"
        meshes.write_gmsh(path, hexahedra)
        mesh = delassus.Mesh(path, scale=0.5)
        (pathlib.Path(folder) / "floor.obj").write_text("v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 1 2 3\nf 1 3 4\n")
        floor = delassus.Mesh(pathlib.Path(folder) / "floor.obj")
        (pathlib.Path(folder) / "mesh.txt").write_text("v 0 0 0")
        raises(delassus.FileError, "expected .obj, .stl", delassus.Mesh, pathlib.Path(folder) / "mesh.txt")
        (pathlib.Path(folder) / "cut.msh").write_bytes(path.read_bytes()[:200])
        raises(delassus.FileError, "cut.msh", delassus.Mesh, pathlib.Path(folder) / "cut.msh")
        raises(delassus.ArgumentError, "expected a path and a scale above 0", delassus.Mesh, path, scale=0)
    assert mesh.element == "hex8" and len(mesh.cells) == 8 and len(mesh.points) == 27 and len(mesh.triangles) == 48
    assert set(mesh.groups) == set(hexahedra.groups) and abs(mesh.points.max() - 0.025) < 1e-15
    assert floor.element is None and floor.cells is None and floor.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    raises(delassus.ArgumentError, "expected one of elements", floor.solid)
    world = World()
    world.add_material("rubber", young=1e6, poisson=0.3, damping=1e-3)
    world.add_body(floor.shape(), motion="static")
    body = world.add_body(mesh.shape(material="rubber"), position=(0, 0, 0.025), solid=mesh.solid(form="corotational"))
    sim = Simulation(world, step=1e-3)
    sim.run(0.1)
    assert abs(body.mass - 0.125) < 1e-12 and 0.024 < body.x[2] < 0.025 and len(sim.contacts()) >= 4


def test_solids_that_make_no_sense_are_refused():
    world = World()
    world.add_material("rubber", young=1e6, poisson=0.3)
    cube = box((0.1, 0.1, 0.1), material="rubber")
    raises(delassus.ArgumentError, "form: 'rigid', expected material, corotational", world.add_body, cube,
           solid=delassus.elements(form="rigid"))
    raises(delassus.ArgumentError, "element: 'tri3'", world.add_body, cube, solid=delassus.elements(element="tri3"))
    raises(delassus.InputError, "cells: shape (2,), expected 3", world.add_body, cube, solid=delassus.elements((2, 2)))
    raises(TypeError, "cells: numbers of type float64", world.add_body, cube, solid=delassus.elements((2.5, 2, 2)))
    raises(delassus.Error, "", world.add_body, cube, solid=delassus.elements((0, 2, 2)))
    raises(delassus.ArgumentError, "no solid 'jelly'", world.add_body, cube, solid=delassus.Solid(kind="jelly"))
    raises(delassus.ArgumentError, "law: 'hooke', expected kirchhoff", world.add_material, "steel", law="hooke")
    raises(delassus.Error, "", world.add_material, "steel", young=1e6, poisson=0.7)
    raises(delassus.ArgumentError, "pair: no key 'young'", world.set_pair, "rubber", "default", young=1)
    points, cells = numpy.zeros((8, 3)), numpy.arange(8)[None]
    bad = delassus.Solid(kind="elements", element="tet4", points=points, connectivity=cells)
    raises(delassus.InputError, "expected any × 4 of a tet4", world.add_body, cube, solid=bad)
    bad.element, bad.connectivity = "hex8", cells + 1  # a node that there is not
    raises(delassus.Error, "", world.add_body, delassus.Shape(kind="skin", points=points), solid=bad)
    rigid = world.add_body(cube)
    raises(delassus.Error, "", rigid.point, (0, 0, 0))
    assert len(rigid.nodes()[0]) == 0 and len(world) == 1


tap.main(globals())
