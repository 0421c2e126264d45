"""Solvers compared on problems of our own: the steps of a run, taken out of it, and how long each takes to which accuracy.

    python3 solvers.py [FOLDER] [--short]
"""
import pathlib
import sys

import delassus
import numpy

SOLVERS = ("auto", "nlgs:exact", "nlgs:sbp", "apgd", "ipm", "newton")
TOLERANCES = (1e-2, 1e-4, 1e-6, 1e-8)


def heap(count, generator):
    """Balls and boxes that fall into a box and come to rest on each other."""
    world = delassus.World()
    world.add_material("default", mu=0.6)
    world.add_body(delassus.box_inside((0.4, 0.4, 4), position=(0, 0, 2)), motion="static")
    for index in range(count):
        layer, place = divmod(index, 9)
        x, y = divmod(place, 3)
        shape = delassus.sphere(0.05) if index % 2 else delassus.box((0.08, 0.08, 0.08))
        world.add_body(shape, position=(0.12 * (x - 1), 0.12 * (y - 1), 0.07 + 0.13 * layer),
                       rotation=generator.normal(size=4))
    return world


def main(folder=".", short=False):
    world = heap(18 if short else 150, numpy.random.default_rng(0))
    simulation = delassus.Simulation(world, step=2e-3, tolerance=1e-4)
    problems = []
    for _ in range(2 if short else 5):
        simulation.step(50)
        problems.append(simulation.problem())
    problems[-1].write(pathlib.Path(folder) / "heap.hdf5", r=simulation.impulses(), title="a step of a heap")

    print(f"{len(problems)} problems of {problems[0].contacts} to {max(p.contacts for p in problems)} contacts, mean ms:")
    print("solver      " + "".join(f"{tolerance:>10.0e}" for tolerance in TOLERANCES))
    table = {}
    for solver in SOLVERS:
        row = []
        for tolerance in TOLERANCES:
            found = [problem.solve(solver, tol=tolerance, time_limit=1 if short else 10) for problem in problems]
            solved = all(solution.converged for solution in found)
            row.append(1e3 * numpy.mean([solution.seconds for solution in found]) if solved else numpy.nan)
        table[solver] = row
        print(f"{solver:12}" + "".join(f"{time:10.2f}" for time in row))
    draw(table, pathlib.Path(folder) / "solvers.png")
    return table


def draw(table, path):
    try:
        import matplotlib
    except ImportError:
        return print("no figure: Matplotlib is not installed")
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(6, 3.5), layout="constrained")
    for solver, row in table.items():
        axes.loglog(TOLERANCES, row, "o-", label=solver)
    axes.set(xlabel="tolerance of the residual", ylabel="mean time of a solve, ms")
    axes.invert_xaxis()
    axes.legend(ncols=2)
    figure.savefig(path, dpi=100)
    pyplot.close(figure)
    print(path)


if __name__ == "__main__":
    main(*[word for word in sys.argv[1:] if word != "--short"], short="--short" in sys.argv)
