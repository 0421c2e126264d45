"""A study over processes: how far a pile of discs spreads for several frictions, with seeds and intervals of confidence.

    python3 friction.py [FOLDER] [--short]
"""
import pathlib
import sys

import delassus
import numpy


def collapse(mu, seed, grains=80, until=1.0):
    """Lets a column of discs fall apart; returns how far half of its mass lies from the middle."""
    generator = numpy.random.default_rng(seed)
    world = delassus.World(dimension=2)
    world.add_material("default", mu=mu)
    world.add_body(delassus.half_plane(), motion="static")
    for index in range(grains):
        row, column = divmod(index, 5)
        world.add_body(delassus.disc(0.01 * generator.uniform(0.8, 1.2)), position=(
            0.026 * (column - 2) + generator.uniform(-1e-3, 1e-3), 0.013 + 0.026 * row))
    simulation = delassus.Simulation(world, step=1e-3, tolerance=1e-4)
    summary = simulation.run(until)
    away = numpy.abs(simulation.x[1:, 0] - numpy.median(simulation.x[1:, 0]))
    return {"spread": float(numpy.median(away)), "certified": summary.certified == summary.steps}


def quick(mu, seed):
    return collapse(mu, seed, grains=20, until=0.05)


def main(folder=".", short=False):
    found = delassus.study(quick if short else collapse, {"mu": [0.1, 0.5] if short else [0.0, 0.1, 0.2, 0.4, 0.8]},
                           seeds=range(2 if short else 6))
    rows = found.summary("spread")
    for row in rows:
        print(f"mu = {row['mu']:<4} spread {1e3 * row['mean']:6.1f} ± {1e3 * row['half']:.1f} mm ({row['count']} seeds)")
    draw(found, rows, pathlib.Path(folder) / "friction.png")
    return rows


def draw(found, rows, path):
    try:
        import matplotlib
    except ImportError:
        return print("no figure: Matplotlib is not installed")
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(6, 3.5), layout="constrained")
    axes.plot([row["mu"] for row in found], [1e3 * row["spread"] for row in found], "k.", alpha=0.3, label="one seed")
    axes.errorbar([row["mu"] for row in rows], [1e3 * row["mean"] for row in rows], [1e3 * row["half"] for row in rows],
                  fmt="o-", capsize=4, label="mean, 95 % interval")
    axes.set(xlabel="friction μ", ylabel="median distance from the middle, mm")
    axes.legend()
    figure.savefig(path, dpi=100)
    pyplot.close(figure)
    print(path)


if __name__ == "__main__":
    main(*[word for word in sys.argv[1:] if word != "--short"], short="--short" in sys.argv)
