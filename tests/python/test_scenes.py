"""Scenes from dicts, texts and files; runs with results, progress and Ctrl-C; results as arrays; analysis; studies."""
import io
import os
import pathlib
import signal
import sys
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
from binding import raises  # noqa: E402
import tap  # noqa: E402
import delassus  # noqa: E402
import numpy  # noqa: E402
from delassus import Results, Scene, Simulation, World, half_space, sphere  # noqa: E402

DROP = {"title": "a drop", "time": {"step": 1e-3, "until": 0.1}, "output": {"interval": 0.02}, "bodies": [
    {"name": "floor", "motion": "static", "shape": {"kind": "half-space"}},
    {"name": "ball", "position": [0, 0, 0.12], "shape": {"kind": "sphere", "radius": 0.1}}]}


def test_dicts_texts_and_files_are_one():
    text = Scene(DROP).text
    pathlib.Path("drop.yaml").write_text(text)
    hashes = {Scene(DROP).run().hash, Scene.parse(text).run().hash, Scene.read("drop.yaml").run().hash}
    assert len(hashes) == 1
    other = Scene(DROP, settings={"time.step": 5e-4, "bodies.ball.shape.radius": numpy.float64(0.11)})
    assert other.step == 5e-4 and abs(other.world["ball"].mass / Scene(DROP).world["ball"].mass - 1.1**3) < 1e-12
    positions = numpy.array([0, 0, 0.3])
    assert Scene({**DROP, "bodies": [{**DROP["bodies"][1], "position": positions}]}).world["ball"].x[2] == 0.3


def test_mistakes_are_named_with_their_line():
    raises(delassus.InputError, "did you mean 'radius'", Scene.parse,
           "delassus: 1\nbodies:\n  - {shape: {kind: sphere, raduis: 1}}\n")
    raises(delassus.Error, ":3:", Scene.parse, "delassus: 1\nbodies:\n  - {shape: {kind: sphere, raduis: 1}}\n")
    raises(delassus.Error, "time.stop", Scene, DROP, settings={"time.stop": 1})
    raises(TypeError, "Scene.read takes paths", Scene, "drop.yaml")
    raises(TypeError, "not a function", Scene, {**DROP, "bodies": [{"position": lambda t: t}]})
    raises(delassus.FileError, "nowhere.yaml", Scene.read, "nowhere.yaml")
    raises(delassus.ArgumentError, "no template", Scene.template, "dram")
    overlapping = Scene({**DROP, "bodies": [DROP["bodies"][0], {**DROP["bodies"][1], "position": [0, 0, 0.05]}]})
    assert any("ball" in line for line in overlapping.check()) and Scene(DROP).check() == []


def test_a_run_leaves_results_that_agree_with_its_states():
    seen = []
    scene = Scene(DROP)
    run = scene.run("drop.h5", every_step=lambda report, sim: seen.append((report.t, sim["ball"].x[2])))
    assert run.end == "finished" and run.summary.steps == len(seen) == 100 and run.summary.certified == 100
    results = run.results
    assert results.title == "a drop" and results.names == ["floor", "ball"] and results.dimension == 3
    assert len(results) == 6 and numpy.allclose(results.times, numpy.arange(6) * 0.02)
    states = results.states()
    assert states.shape == (6, 2) and results.states(-1).shape == (2,) and results.present().all()
    assert states["x"][-1, 1, 2] == seen[-1][1] == results.states(5)["x"][1, 2]
    steps = results.steps()
    assert len(steps) == 100 and steps["t"][0] == seen[0][0] and steps["energy"]["kinetic"].max() > 0
    contacts = results.contacts(-1)
    assert len(contacts) == 1 and abs(contacts["impulse"][0, 0] / 1e-3 - results.masses[1] * 9.81) < 1e-3
    assert results.problem(-1).contacts == 1
    assert results.poses(-1)["x"].shape == (2, 3) and len(results.joints(0)) == 0
    raises(IndexError, "there are 6", results.states, 6)
    results.export_csv("tables")
    assert (pathlib.Path("tables") / "bodies.csv").exists()
    results.close()
    raises(delassus.ClosedError, "this results file is closed", results.states)


def test_worlds_record_too():
    world = World()
    world.add_body(half_space(), motion="static", name="floor")
    world.add_body(sphere(0.1), name="<ball>", position=(0, 0, 0.12))
    sim = Simulation(world, step=1e-3)
    sim.run(0.1, results="own.h5", interval=0.02, title="own")
    results = Results("own.h5")
    assert len(results) == 6 and results.title == "own" and results.names[1] == "<ball>"
    assert numpy.allclose(results.times, numpy.arange(6) * 0.02) and results.summary.steps == 100
    assert (results.states(-1)["x"] == sim.x).all() and len(results.contacts(-1)) == 1
    # the same drop from a scene: the same frames
    Scene(DROP).run("scene.h5")
    assert (Results("scene.h5").states()["x"] == results.states()["x"]).all()


def test_bad_results_files_are_refused():
    Scene(DROP).run("drop.h5")
    raw = pathlib.Path("drop.h5").read_bytes()
    for name, content in (("cut.h5", raw[:len(raw) // 2]), ("empty.h5", b""), ("text.h5", b"nothing of the kind\n" * 99)):
        pathlib.Path(name).write_bytes(content)
        raises(delassus.FileError, name, Results, name)
    raises(delassus.FileError, "none.h5", Results, "none.h5")


def test_control_c_ends_a_run_with_a_checkpoint_and_it_goes_on():
    signal.signal(signal.SIGINT, signal.default_int_handler) # whoever runs this may have it ignored
    whole = Scene(DROP).run("whole.h5").hash

    def interrupt(report, sim):
        if report.step == 40:
            os.kill(os.getpid(), signal.SIGINT)
    raises(KeyboardInterrupt, "", Scene(DROP).run, "part.h5", every_step=interrupt)
    assert pathlib.Path("part.h5.checkpoint").exists() and len(Results("part.h5")) < 6
    rest = []
    run = Scene(DROP).run("part.h5", resume=True, every_step=lambda report, sim: rest.append(report.step))
    assert rest == list(range(41, 101)), "it began anew"
    assert run.hash == whole and len(Results("part.h5")) == 6

    sim = Scene(DROP).simulation()

    def interrupt_step(report):
        if report.step == 10:
            os.kill(os.getpid(), signal.SIGINT)
    raises(KeyboardInterrupt, "", sim.run, 0.1, every_step=interrupt_step)
    assert 10 <= sim.steps <= 11
    sim.run(0.1)
    assert sim.hash == whole
    assert Scene(DROP).run(every_step=lambda report, sim: report.step < 7).end == "interrupted"


def test_an_error_in_a_callback_surfaces_as_itself():
    def fail(report, sim):
        raise LookupError("mine")
    raises(LookupError, "mine", Scene(DROP).run, every_step=fail)
    world = World()
    world.add_body(sphere(0.1), name="ball", force=(lambda t: 1 / (0.005 - t) if t < 0.004 else 1 / 0, None, None))
    sim = Simulation(world, step=1e-3)
    raises(ZeroDivisionError, "", sim.run, 0.1)
    assert 3 <= sim.steps <= 5
    before = sim.hash
    raises(ZeroDivisionError, "", sim.step)
    assert sim.hash == before, "a step that failed moved something"
    world = World()
    world.add_body(sphere(0.1), name="ball", force=(lambda t: float("nan"), None, None))
    raises(delassus.Error, "ball", Simulation(world, step=1e-3).step)


def test_a_bar_shows_how_far_it_is():
    stream, sys.stderr = sys.stderr, io.StringIO()
    try:
        Scene(DROP).run(progress=True)
        shown = sys.stderr.getvalue()
        sys.stderr = io.StringIO()
        Scene(DROP).run()
        silent = sys.stderr.getvalue()
    finally:
        sys.stderr = stream
    assert "of 0.1 s" in shown and shown.endswith("\n") and "#" * 30 in shown and silent == ""


def test_analysis_of_a_run():
    scene = Scene(DROP, settings={"time.until": 0.3})
    scene.run("long.h5")
    results = Results("long.h5")
    energy = results.analyze("energy")
    assert energy.facts and energy.tables
    table = next(iter(energy.tables.values()))
    assert all(len(column) == len(next(iter(table.values()))) for column in table.values())
    coordination = results.analyze("coordination", first_frame=10)
    assert len(coordination.facts) > 0 and "coordination" in repr(coordination)
    raises(delassus.Error, "plane", results.analyze, "flow")
    flow = results.analyze("flow", plane=((0, 0, 0.11), (0, 0, -1)))
    assert flow.tables
    raises(delassus.ArgumentError, "no option sideways", results.analyze, "energy", sideways=1)
    raises(delassus.Error, "", results.analyze, "nothing")


def test_tables_of_pandas():
    try:
        import pandas
    except ImportError:
        raise tap.Skip("pandas is not installed") from None
    Scene(DROP).run("drop.h5")
    results = Results("drop.h5")
    steps = results.frame_table("steps")
    assert isinstance(steps, pandas.DataFrame) and len(steps) == 100 and "energy.kinetic" in steps
    states = results.frame_table("states", frame=0)
    assert list(states.columns[:3]) == ["x_0", "x_1", "x_2"] and states["x_2"][1] == 0.12


def test_studies_over_processes():
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    import falling
    found = delassus.study(falling.height, {"radius": [0.1, 0.2]}, seeds=range(3), processes=2)
    assert [(row["radius"], row["seed"]) for row in found] == [(r, s) for r in (0.1, 0.2) for s in range(3)]
    alone = delassus.study(falling.height, {"radius": [0.1, 0.2]}, seeds=range(3), processes=1)
    assert found.rows == alone.rows, "processes change results"
    summary = found.summary("z")
    assert [row["radius"] for row in summary] == [0.1, 0.2] and all(row["count"] == 3 and row["half"] > 0 for row in summary)
    raises(ValueError, "no such radius", delassus.study, falling.height, {"radius": [-1]}, processes=2)
    raises(delassus.ArgumentError, "at least one", delassus.study, falling.height, {"radius": []})


def test_pictures_by_the_program():
    Scene(DROP).run("drop.h5")
    path = delassus.picture("drop.h5", "ball", view="front")
    assert pathlib.Path(path).read_bytes().startswith(b"\x89PNG")
    raises(delassus.Error, "none.h5", delassus.picture, "none.h5")
    page = delassus.view("drop.h5")
    assert page.path == "drop.html" and page._repr_html_().startswith("<iframe srcdoc=")
    assert "<!doctype html" in pathlib.Path(page).read_text()[:100].lower()
    raises(delassus.Error, "none.h5", delassus.view, "none.h5")


def test_a_scene_runs_while_another_thread_builds():
    scene, hashes = Scene(DROP), []
    thread = threading.Thread(target=lambda: hashes.append(scene.run().hash))
    thread.start()
    other = Scene(DROP).run().hash
    thread.join()
    assert hashes == [other]


if __name__ == "__main__":
    tap.main(globals())
