"""What Python adds: a step with all states against the step alone, results against h5py; see bench/run."""
import json
import pathlib
import sys
import tempfile
import time

import delassus
import numpy
from delassus import _c
from delassus._library import lib


COLUMNS = ("body", "position", "orientation", "velocity", "angular_velocity")  # what states() is made of


def least(function, times):
    """The least time of several calls: others use the machine, too."""
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        function()
        found.append(time.perf_counter() - begin)
    return min(found)


def packing(count):
    """Balls on a lattice, each a little aside, that settle."""
    side = round(count ** (1 / 3))
    world = delassus.World()
    world.add_body(delassus.half_space(), motion="static")
    grid = numpy.stack(numpy.meshgrid(*[numpy.arange(side)] * 3), -1).reshape(-1, 3)[:count]
    world.add_bodies(delassus.sphere(0.05), grid * 0.101 + (0, 0, 0.05) +
                     numpy.random.default_rng(0).uniform(0, 1e-3, grid.shape))
    return world


def step_cost():
    """(a step by C's own clock, what Python adds to it and to all states), s, of 1000 spheres that settle.

    Steps by the module and by the bare C function take turns: the difference of what they take beside C's clock is
    Python's, and so is all of states().
    """
    simulation = delassus.Simulation(packing(1000), step=1e-3)
    simulation.step(100)
    owner, report, error = simulation._owner, _c.dls_step_report(), _c.dls_error()
    inside, bare, module, states = [], [], [], []
    for _ in range(100):
        begin = time.perf_counter()
        lib.dls_simulation_step(owner.pointer, report, error)
        bare.append(time.perf_counter() - begin - report.seconds)
        begin = time.perf_counter()
        report = simulation.step()
        module.append(time.perf_counter() - begin - report.seconds)
        inside.append(report.seconds)
        begin = time.perf_counter()
        simulation.states()
        states.append(time.perf_counter() - begin)
    return sorted(inside)[50], min(module) - min(bare) + min(states)


def read_cost(folder, bodies, frames):
    """(ours, h5py's), s, for all states of all frames; None where h5py is not installed."""
    simulation = delassus.Simulation(packing(bodies), step=1e-3, tolerance=1e-2, max_iterations=1)
    path = pathlib.Path(folder) / "many.h5"
    simulation.run(frames * 1e-3, results=path, interval=0, contacts=False)

    def ours():
        with delassus.Results(path) as results:
            results.states()

    def theirs():
        with h5py.File(path) as file:
            return [file["states"][name][:] for name in COLUMNS]
    try:
        import h5py
    except ImportError:
        return least(ours, 3), None
    return tuple(map(min, zip(*[(least(ours, 1), least(theirs, 1)) for _ in range(5)])))


def main(bodies=10000, frames=300):
    """Prints one JSON object, which bench/run reads."""
    step, added = step_cost()
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = read_cost(folder, bodies, frames)
    print(json.dumps({"step_seconds": step, "added_seconds": added, "bodies": bodies, "frames": frames,
                      "read_seconds": ours, "h5py_seconds": theirs}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
