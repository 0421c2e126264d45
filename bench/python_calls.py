"""What Python adds: a step with all states against the step alone, results against h5py; see bench/run."""
import json
import pathlib
import statistics
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


def step_cost(rounds=100):
    """(a step by C's own clock, with all states in C, the same by the module), s, of 1000 spheres that settle; medians.

    Bare steps, steps with dls_body_states_get and steps of the module with states take turns, so that each meets the
    load that the others meet; of each the time beside C's own clock of the step is taken. Three steps make a turn, and
    the first of them does not count: a loop finds in the cache what it called a step ago.
    """
    simulation = delassus.Simulation(packing(1000), step=1e-3)
    simulation.step(100)
    pointer, world, room = simulation._owner.pointer, simulation.world._owner.pointer, simulation.states()
    report, error, place = _c.dls_step_report(), _c.dls_error(), _c.dls_body_state.from_buffer(room)

    def bare():
        lib.dls_simulation_step(pointer, report, error)
        return report

    def with_states():
        lib.dls_simulation_step(pointer, report, error)
        lib.dls_body_states_get(world, len(room), None, place, error)
        return report

    def module():
        return simulation.step(states=room)
    beside, inside = {bare: [], with_states: [], module: []}, []
    for _ in range(rounds):
        for way, found in beside.items():
            for turn in range(3):
                begin = time.perf_counter()
                seconds = way().seconds
                if turn:
                    found.append(time.perf_counter() - begin - seconds)
                    inside.append(seconds)
    none, in_c, in_python = map(statistics.median, beside.values())
    return statistics.median(inside), in_c - none, in_python - none


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
    step, in_c, in_python = step_cost()
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = read_cost(folder, bodies, frames)
    print(json.dumps({"step_seconds": step, "states_seconds": in_c, "added_seconds": in_python, "bodies": bodies, "frames": frames,
                      "read_seconds": ours, "h5py_seconds": theirs}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
