"""Every script of the gallery, short: it ends, says what physics asks for, and draws its picture."""
import contextlib
import importlib
import io
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import binding  # noqa: E402, F401
import tap  # noqa: E402

sys.path.insert(0, str(ROOT / "python" / "gallery"))


def show(name, *pictures):
    """What a script's main returns; its pictures are there, those of Matplotlib where it is installed."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        found = importlib.import_module(name).main(".", short=True)
    drawn = "no figure" not in output.getvalue()
    for picture in pictures if drawn else ():
        assert pathlib.Path(picture).read_bytes().startswith(b"\x89PNG"), picture
    return found, output.getvalue()


def test_drum():
    found, text = show("drum", "drum.png")
    assert found["certified"] == found["steps"] == 300 and 0 < found["angle"] < 60, found
    assert "slope" in text


def test_silo():
    found, _ = show("silo", "silo.png")
    assert found["end"] == "finished" and found["weight"] > 10 and found["forward mass"] > 0, found


def test_solvers():
    found, _ = show("solvers", "solvers.png")
    assert pathlib.Path("heap.hdf5").exists()
    assert set(found) >= {"auto", "ipm"} and not any(math.isnan(time) for time in found["auto"]), found


def test_servo():
    found, _ = show("servo", "servo.png", "arm.png")
    assert found["error"] < 2e-3 and abs(found["unaccounted"]) < 1e-9, found
    # statics of the arm at t = 0.2 s to the servo's small accelerations: links of 2 kg, a load of 1 kg
    import servo
    shoulder, elbow = servo.angles(*servo.hand(0.2))
    middle = servo.UPPER * math.cos(shoulder)
    reach = middle + servo.LOWER * math.cos(shoulder + elbow)
    torque = 9.81 * (2 * middle / 2 + 2 * (middle + reach) / 2 + 1 * reach)
    assert abs(found["torques"][0] - torque) < 0.15 * torque, (found["torques"], torque)


def test_friction():
    found, _ = show("friction", "friction.png")
    assert [row["mu"] for row in found] == [0.1, 0.5] and all(row["count"] == 2 for row in found), found


if __name__ == "__main__":
    tap.main(globals())
