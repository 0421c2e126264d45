"""A silo that empties: the rate of its flow, and the pressure on its walls before it opens beside Janssen's law.

    python3 silo.py [FOLDER] [--short]
"""
import pathlib
import sys

import delassus
import numpy


def main(folder=".", short=False):
    opening = 0.3 if short else 1.0  # s
    scene = delassus.Scene.template("silo", {"variables.opening": opening, "time.until": 0.4 if short else 2.0,
                                             "bodies.4.layers.count": 60 if short else 400})
    path = pathlib.Path(folder) / "silo.h5"
    run = scene.run(path)
    results = run.results
    opens = int(numpy.searchsorted(results.times, opening)) - 1  # the last frame with the gate closed

    walls = results.analyze("pressure", first_frame=opens - 4, last_frame=opens)
    flow = results.analyze("flow", plane=((0, 0), (0, -1)), first_frame=opens)
    print(f"{run.summary.certified} of {run.summary.steps} steps certified")
    for facts, names in ((walls.facts, ("mean pressure", "walls carry", "weight")), (flow.facts, ("mass rate",))):
        for name in names:
            print(f"  {name}: {facts[name]}")
    draw(walls.tables["pressure"], flow.tables["flow"], pathlib.Path(folder) / "silo.png")
    return {"end": run.end, "weight": walls["weight"], "forward mass": flow["forward mass"]}


def draw(walls, flow, path):
    try:
        import matplotlib
    except ImportError:
        return print("no figure: Matplotlib is not installed")
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(8, 3), layout="constrained")
    left.errorbar(walls["pressure"], walls["place"], xerr=walls["spread_pressure"], fmt="o", markersize=3, label="walls")
    left.plot(walls["janssen"], walls["place"], label="Janssen's law, fitted")
    left.set(xlabel="pressure on the walls, N/m", ylabel="height, m", title="before it opens")
    left.legend()
    right.plot(flow["time"], flow["net_mass"])
    right.set(xlabel="time, s", ylabel="mass through the outlet, kg", title="after it opened")
    figure.savefig(path, dpi=100)
    pyplot.close(figure)
    print(path)


if __name__ == "__main__":
    main(*[word for word in sys.argv[1:] if word != "--short"], short="--short" in sys.argv)
