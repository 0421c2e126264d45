"""A drum of grains, built body by body, whose speed is a Python function; the slope of its bed, and a picture.

    python3 drum.py [FOLDER] [--short]
"""
import pathlib
import sys

import delassus
import numpy

RADIUS, GRAIN = 0.1, 0.004  # m


def grains(count, generator):
    """Places on a lattice inside of the drum, from below, and radii that differ by a fifth."""
    step = 2.5 * GRAIN
    lattice = numpy.arange(-RADIUS, RADIUS, step)
    x, y = (part.ravel() for part in numpy.meshgrid(lattice, lattice))
    inside = numpy.hypot(x, y) < RADIUS - 1.5 * GRAIN
    order = numpy.argsort(y[inside], kind="stable")[:count]
    places = numpy.column_stack([x[inside], y[inside]])[order]
    return places, GRAIN * generator.uniform(0.8, 1.2, len(places))


def main(folder=".", short=False):
    world = delassus.World(dimension=2)
    world.add_material("glass", density=2500, mu=0.5, e_n=0.2)

    def speed(t):  # rad/s: from rest to half a turn per second, for good
        return numpy.pi * min(t / 0.5, 1)
    world.add_body(delassus.drum(RADIUS, material="glass"), name="drum", motion="driven", drive={"rz": {"velocity": speed}})
    places, radii = grains(60 if short else 170, numpy.random.default_rng(1))
    for index, (place, radius) in enumerate(zip(places, radii)):
        world.add_body(delassus.disc(radius, material="glass"), name=f"grain-{index}", position=place)

    simulation = delassus.Simulation(world, step=1e-3, tolerance=1e-4)
    path = pathlib.Path(folder) / "drum.h5"
    summary = simulation.run(0.3 if short else 3.0, results=path, interval=0.02, title="a drum")
    results = delassus.Results(path)
    slope = results.analyze("repose", first_frame=len(results) // 2)
    angle = next(iter(slope.facts.values()))
    fastest = numpy.linalg.norm(simulation.v[1:], axis=1).argmax()
    print(f"{summary.certified} of {summary.steps} steps certified; slope {angle}; fastest: {simulation[int(fastest) + 1]}")
    print(delassus.picture(path, pathlib.Path(folder) / "drum", forces=True, width=3))
    return {"certified": summary.certified, "steps": summary.steps, "angle": float(angle)}


if __name__ == "__main__":
    main(*[word for word in sys.argv[1:] if word != "--short"], short="--short" in sys.argv)
