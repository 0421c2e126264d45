"""delassus new and delassus check: templates, messages, warnings, settings, the reference page."""
import json
import os
import pathlib
import resource
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["DLS_SOURCE_DIR"], "tests", "support"))
import tap  # noqa: E402
from program import PROGRAM, SOURCE, only_these, refuses, run, run_json  # noqa: E402

TEMPLATES = sorted((SOURCE / "scenes/templates").glob("*.yaml"))
BALL = "delassus: 1\nbodies:\n  - name: ball\n    shape: {kind: sphere, radius: 0.1}\n"


def scene(text, name="scene.yaml"):
    pathlib.Path(name).write_text(text)
    return name


def test_the_reference_page_is_up_to_date():
    page = (SOURCE / "docs/scene-format.md").read_text()
    assert page == run("check", "--format-reference").stdout, \
        "write it anew: delassus check --format-reference >docs/scene-format.md"


def test_new_lists_templates():
    text = run("new").stdout
    for template in TEMPLATES:
        summary = template.read_text().splitlines()[0].removeprefix("# ")
        assert f"  {template.stem} " in text and summary in text
    assert len(TEMPLATES) >= 6


def test_new_writes_the_files_of_the_repository():
    for template in TEMPLATES:
        done = run("new", template.stem)
        assert f"{template.stem}.yaml: written" in done.stdout
        assert pathlib.Path(f"{template.stem}.yaml").read_bytes() == template.read_bytes()
        assert run("new", template.stem, "-o", "-").stdout == template.read_text()


def test_the_list_is_aligned():
    rows = run("new").stdout.splitlines()[2:]
    names = [path.stem for folder in ("templates", "papers") for path in (SOURCE / "scenes" / folder).glob("*.yaml")]
    column = 2 + max(map(len, names)) + 2
    assert len(rows) == len(names) and all(row[column - 2:column] == "  " and row[column] != " " for row in rows), rows


def test_one_is_singular():
    text = run("run", scene(BALL + "time: {until: 0.001}\n"), "-o", "one.h5").stdout
    assert "in 1 step of 0.001 s" in text and "1 of 1 step (" in text, text
    assert "1 step of 0.001 s" in run("check", "scene.yaml").stdout
    ball = BALL.replace("shape:", "position: [0, 0, 0.1]\n    shape:")
    floor = "  - {motion: static, shape: {kind: half-space}}\n"
    text = run("run", scene(ball + floor + "time: {until: 0.001}\n"), "-o", "two.h5").stdout
    assert " 1 contact at the end" in text, text
    assert "1 contact\n" in run("export", "two.h5", "--fclib", "two.hdf5").stdout
    assert "1 contact, 3 rows" in run("solve", "two.hdf5").stdout
    assert "1 contact of 3 rows" in run("info", "two.hdf5").stdout


def test_new_keeps_what_is_there():
    pathlib.Path("mine.yaml").write_text("precious")
    refuses("new", "drum", "-o", "mine.yaml", words=["mine.yaml: exists already", "--force"])
    assert pathlib.Path("mine.yaml").read_text() == "precious"
    run("new", "drum", "-o", "mine.yaml", "--force")
    assert pathlib.Path("mine.yaml").read_text() != "precious"


def test_new_refuses():
    refuses("new", "drumm", words=["no template 'drumm'", "did you mean 'drum'"])
    refuses("new", "drum.yaml", words=["no template 'drum.yaml', did you mean 'drum'?"])
    refuses("new", "drum", "-o", "absent/x.yaml", words=["absent/x.yaml", "cannot be written"])
    pathlib.Path("small").mkdir()
    refuses("new", "drum", "-o", "small/x.yaml", limit=100, words=["small/x.yaml"])
    only_these("small")


def test_every_template_reads_without_warnings():
    for template in TEMPLATES:
        facts = run_json("check", template, "--strict")
        assert facts["warnings"] == [] and facts["dynamic"] + facts["inlets"] > 0 and facts["title"], template
        assert "no warnings" in run("check", template).stdout
        # every line that is no comment nor blank: half of them explain themselves
        text = template.read_text()
        assert text.count("#") >= 4, template


def test_every_template_steps():
    for template in TEMPLATES:
        facts = run_json("check", template)
        facts = run_json("run", template, "-o", f"{template.stem}.h5", "--until", str(3 * facts["step"]))
        assert facts["steps"] == facts["certified"] == 3, (template, facts)


def test_check_tells_what_there_is():
    text = run("check", scene(BALL + "title: One ball\ntime: {step: 1e-3, until: 2}\n")).stdout
    for words in ("One ball", "1 dynamic (4.189 kg)", "2000 steps of 0.001 s until 2 s", "auto, tolerance 1e-06"):
        assert words in text, words


def test_settings():
    path = scene(BALL + "variables: {R: 1}\n")
    facts = run_json("check", path, "--set", "time.step=1/256", "-s", "bodies.ball.shape.radius=R/2", "--set",
                     "variables.R=2", "--set", "solver.name=nlgs", "--set", "dimension=3")
    assert facts["step"] == 1 / 256 and abs(facts["mass"] - 4188.790204786391) < 1e-9 and facts["solver"] == "nlgs"
    refuses("check", path, "--set", "time.stpe=1", words=["--set time.stpe=1:", "did you mean 'step'?"])
    refuses("check", path, "--set", "nothing", words=["--set 'nothing'", "expected path=value"])
    refuses("check", path, "--set", "time.step=0", words=["--set time.step=0: step"])


def test_odd_units_are_warned_of():
    path = scene(BALL + "materials:\n  default: {density: 2.5, mu: 30}\n")
    warnings = run_json("check", path)["warnings"]
    assert len(warnings) == 2 and warnings[0].startswith("scene.yaml:6: density is 2.5 kg/m³"), warnings
    run("check", path, "--strict", expect=1)
    done = run("run", path, "--until", "0.002", "-q")
    assert done.stderr.splitlines() == [f"delassus: warning: {line}" for line in warnings], done.stderr


def test_names_that_are_near_are_suggested():
    path = scene(BALL)
    for arguments, near in (
            (["runn"], "delassus run"), (["--versoin"], "delassus --version"), (["repro"], "delassus reproduce"),
            (["run", path, "--untl", "1"], "--until"), (["new", "drun"], "drum"), (["solvers", "ngls"], "nlgs"),
            (["generate", "stak"], "stack"), (["solve", path, "--solver", "ipn"], "ipm"),
            (["solve", path, "--solver", "nlgs:exat"], "exact"), (["solve", path, "--set", "tolerence=1"], "tolerance"),
            (["run", path, "--set", "bodies.bal.mass=1"], "ball"), (["run", path, "--set", "tim.step=1"], "time")):
        assert f", did you mean '{near}'?" in refuses(*arguments), arguments
    for arguments in (["frobnicate"], ["--frobnicate"], ["run", path, "--frobnicate"], ["new", "castle"],
                      ["solvers", "magic"], ["generate", "castle"], ["solve", path, "--solver", "magic"],
                      ["solve", path, "--solver", "nlgs:magic"], ["solve", path, "--set", "magic=1"],
                      ["run", path, "--set", "bodies.castle.mass=1"], ["run", path, "--set", "time.magic=1"],
                      ["reproduce", "magic"]):
        line = refuses(*arguments)
        assert "did you mean" not in line and ("lists all" in line or "expected" in line), line


def test_messages_name_file_and_line():
    cases = [
        ("delassus: 1\nbodies: [\n", "scene.yaml:3: malformed YAML"),
        ("delassus: 1\nboddies: []\n", "scene.yaml:2: unknown key 'boddies' in a scene, did you mean 'bodies'?"),
        (BALL.replace("0.1", "-0.1"), "scene.yaml:4: radius is -0.1, expected a number above 0"),
        (BALL.replace("0.1", ".nan"), "scene.yaml:4: radius is '.nan'"),
        (BALL.replace("0.1", "2*(3"), "scene.yaml:4: radius is '2*(3', expected a number above 0: missing ')' at column 5"),
        (BALL + "    mass: 0\n", "scene.yaml:5: mass is 0, expected a number above 0"),
        (BALL + "time:\n  step: 0\n", "scene.yaml:6: step: '0' is not a number from 1e-60"),
        (BALL + "time: 3\n", "scene.yaml:5: time is '3', expected a map of keys"),
        (BALL + "solver: nlgs\n", "scene.yaml:5: solver is 'nlgs', expected a map of keys"),
        (BALL + "gravity: -9.81\n", "scene.yaml:5: gravity is '-9.81', expected [x, y, z]"),
        (BALL + "variables: {R: 1}\ntime: {step: r/2}\n", "scene.yaml:6: step is 'r/2', expected a number from 1e-60 to 1e+60: no variable 'r' at column 1, did you mean 'R'?"),
        (BALL.replace("0.1", "5 cm"), "expected a number above 0: no variable 'cm' at column 3"),
        (BALL + "variables: {radius: 1}\ntime: {step: raduis*sin(pi)}\n", "no variable 'raduis' at column 1, did you mean 'radius'?"),
        (BALL + "materials:\n\tsteel: {}\n", "scene.yaml:6: malformed YAML: a tab, expected blanks"),
        ("delassus: 1\nbodies:\n", "scene.yaml:2: bodies is empty, expected a list"),
        ("bodies: []\n", "scene.yaml:1: a scene has no 'delassus', expected 1"),
        (BALL + "title: &a b\n", "scene.yaml:5: anchors"),
        (BALL.replace("sphere, radius: 0.1", "mesh, file: no.stl") + "    motion: static\n",
         "scene.yaml:4: ./no.stl: cannot be read: No such file"),
        (BALL + "  - name: ball\n    shape: {kind: sphere, radius: 1}\n", "scene.yaml:5: there is a body 'ball'"),
    ]
    for text, message in cases:
        line = refuses("check", scene(text))
        assert message in line, f"'{message}' is not in: {line}"


def test_files_that_are_no_scenes():
    pathlib.Path("folder").mkdir()
    refuses("check", words=["no scene given"])
    refuses("check", "absent.yaml", words=["absent.yaml: cannot be read"])
    refuses("check", "folder", words=["folder: a folder"])
    pathlib.Path("bytes.yaml").write_bytes(bytes(range(256)))
    refuses("check", "bytes.yaml", words=["bytes.yaml: a binary file, expected a scene"])
    pathlib.Path("empty.yaml").write_bytes(b"")
    refuses("check", "empty.yaml", words=["empty.yaml:1: nothing"])


def test_a_billion_bodies():
    text = ("delassus: 1\nbodies:\n  - lattice: {spacing: [1, 1, 1], counts: [1000, 1000, 1000]}\n"
            "    body: {shape: {kind: sphere, radius: 0.1}}\n")
    line = refuses("check", scene(text), words=["scene.yaml:3: 1000000000 bodies need about", "TB of memory"])
    assert "of this machine" in line


def test_memory_is_what_the_process_may_have():
    text = ("delassus: 1\nbodies:\n  - lattice: {spacing: [1, 1, 1], counts: [100, 100, 100]}\n"
            "    body: {shape: {kind: sphere, radius: 0.1}}\n")
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    if "-fsanitize" in os.environ.get("CFLAGS", "") or os.environ.get("DLS_TEST_SCALE", "1") != "1":
        raise tap.Skip("sanitizers need more address space than the test allows")
    done = subprocess.run([PROGRAM, "check", scene(text)], capture_output=True, text=True, preexec_fn=limit)
    assert done.returncode == 2 and "1000000 bodies need about" in done.stderr and "2.15 GB" in done.stderr, done


def test_warnings():
    text = BALL + "  - name: other\n    position: [0.15, 0, 0]\n    shape: {kind: sphere, radius: 0.1}\n"
    path = scene(text)
    assert "warning: overlap at the start: 'ball' and 'other', 0.05 m deep" in run("check", path).stdout
    assert len(run_json("check", path)["warnings"]) == 1
    run("check", path, "--strict", expect=1)
    floating = run_json("check", path, "--set", "gravity=[0, 0, 0]")["warnings"]
    assert len(floating) == 2 and "overlaps stay" in floating[1] and "stabilisation_speed" in floating[1], floating
    assert len(run_json("check", path, "--set", "gravity=[0, 0, 0]", "--set",
                        "integrator={stabilisation_speed: 0.1}")["warnings"]) == 1
    text = run("check", scene(BALL + "time: {step: 0.1}\n")).stdout
    assert "warning: step too long: from rest a body falls 0.0981 m in a step of 0.1 s" in text


def test_rolling_friction_longer_than_the_radius_is_asked_about():
    path = scene(BALL + "  - {name: floor, motion: static, position: [0, 0, -0.1], shape: {kind: half-space, material: floor}}\n"
                 "materials:\n  default: {rolling: 0.05}\n  floor: {rolling: 0.05}\n"
                 "pairs:\n  - {materials: [default, floor], mu: 0.5, rolling: 0.05}\n")
    assert run_json("check", path)["warnings"] == []
    for setting, length, many in (("materials.default.rolling=0.2", "0.2", "'default' on 'default'"),
                                  ("materials.default.rolling_ratio=1.5", "0.2", "'default' on 'default'"),
                                  ("pairs.0.rolling=1", "1", "'default' on 'floor'")):
        warnings = run_json("check", path, "--set", setting)["warnings"]
        assert len(warnings) == 1 and f"rolling friction of {many} is {length} m" in warnings[0], (setting, warnings)


ARM = """delassus: 1
dimension: 2
bodies:
  - {name: arm, mass: 1, inertia: 0.1, position: [1, 0]}
joints:
  - {kind: revolute, name: hinge, bodies: [{body: ground, at: [0, 0.1]}, {body: arm, at: [-1, 0]}]}
time: {until: 0.01}
"""


def test_joints_are_assembled_and_told():
    refuses("check", scene(ARM), words=["scene.yaml:6: revolute joint 'hinge' does not hold at the start: off by 0.1 m",
                                        "say 'assemble: yes'"])
    text = run("check", "scene.yaml", "--set", "assemble=yes").stdout
    assert "  joints      1\n" in text and "  assembled   1 body moved, by 0.0" in text, text
    facts = run_json("check", "scene.yaml", "--set", "assemble=yes")
    assert facts["joints"] == 1 and facts["assembled"]["bodies"] == 1 and facts["assembled"]["moved"] > 0.01, facts
    done = run("run", "scene.yaml", "-o", "arm.h5", "--set", "assemble=yes")
    assert "assembled: 1 body moved, by 0.0" in done.stderr, done
    assert "assembled" not in run("run", "scene.yaml", "-o", "arm.h5", "--quiet", "--set", "assemble=yes").stderr
    text = run("check", "scene.yaml", "--set", "joints.hinge.bodies=[ground, arm]", "--set", "joints.hinge.at=[0, 0]").stdout
    assert "  joints      1\n" in text and "assembled" not in text, text
    assert "assembled" not in run_json("check", scene(BALL))


def test_settings_of_functions():
    text = ARM.replace("at: [0, 0.1]", "at: [0, 0]").replace("]}\ntime", "], drive: {position: way}}\ntime")
    path = scene(text + "functions: {way: 0}\n")
    run("check", path, "--set", "functions.way=t^2")
    refuses("check", path, "--set", "functions.wy=1", words=["the scene has no function 'wy', did you mean 'way'?"])
    refuses("check", path, "--set", "functions.way=1 + t", words=["scene.yaml:6: position is 1 rad at t = 0 s"])


def test_meshes_lie_beside_the_scene():
    pathlib.Path("parts").mkdir()
    pathlib.Path("parts/floor.obj").write_text("v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 1 2 3 4\n")
    path = scene(BALL.replace("    shape", "    position: [0, 0, 1]\n    shape") +
                 "  - {motion: static, shape: {kind: mesh, file: floor.obj, scale: 2}}\n", "parts/scene.yaml")
    facts = run_json("check", path)
    assert facts["static"] == 1 and facts["warnings"] == []


def test_the_wrong_way_round():
    """Chains and meshes on whose back bodies start, compounds that overlap, and ends between two steps."""
    text = ("delassus: 1\ndimension: 2\nbodies:\n"
            "  - {name: floor, motion: static, shape: {kind: chain, points: [[1, 0], [-1, 0]]FLIP}}\n"
            "  - {name: ball, position: [0, 0.5], shape: {kind: disc, radius: 0.1}}\n"
            "  - {name: two, position: [0.4, 0.5], shapes: [{kind: disc, radius: 0.1},\n"
            "     {kind: disc, radius: 0.1, position: [WIDE, 0]}]}\ntime: {step: 0.01, until: END}\n")

    def warnings(flip, wide, end):
        return run_json("check", scene(text.replace("FLIP", flip).replace("WIDE", wide).replace("END", end)))["warnings"]

    assert warnings(", flip: yes", "0.2", "0.5") == []
    found = warnings("", "0.1", "0.504")
    assert len(found) == 3, found
    assert "behind the chain of 'floor'" in found[0] and "flip: yes" in found[0]
    assert "shapes of 'two' overlap, by 0.1 m" in found[1]
    assert "the run ends at 0.5 s: 0.504 s is no multiple" in found[2]
    pathlib.Path("floor.obj").write_text("v -1 -1 0\nv 1 -1 0\nv 1 1 0\nv -1 1 0\nf 4 3 2 1\n")
    mesh = (BALL.replace("    shape", "    position: [0, 0, 0.15]\n    shape") +
            "  - {motion: static, shape: {kind: mesh, file: floor.obj, scale: 1FLIP}}\n")
    assert any("inside out" in line for line in run_json("check", scene(mesh.replace("FLIP", "")))["warnings"])
    assert run_json("check", scene(mesh.replace("FLIP", ", flip: yes")))["warnings"] == []


def test_a_scene_from_a_pipe():
    done = subprocess.run([PROGRAM, "check", "/dev/stdin", "--json"], input=BALL, capture_output=True, text=True)
    assert done.returncode == 0 and json.loads(done.stdout)["dynamic"] == 1, done


tap.main(globals())
