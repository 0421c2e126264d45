"""tools/check_kinds: the repository obeys it, and it finds names in other files and stale paths in a made-up one."""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tap  # noqa: E402

LAWFUL = {
    "docs/developing.md": "# Developing\n\n## Adding things\n\n- **A law**: elsewhere, in `src/base/law.c`.\n"
                          "- **A shape**: `include/delassus/world.h`, `src/world/kinds.c`, a row in\n"
                          "  `src/collide/{round,hull}`; then `docs/shapes.md`.\n\n## Style\n",
    "include/delassus/world.h": "typedef enum dls_shape_kind {\n    DLS_DISC = 0, /* DLS_RADIUS */\n    DLS_BOX,\n"
                                "    DLS_SHAPE_KINDS\n} dls_shape_kind;\n",
    "src/world/kinds.c": "int a = DLS_DISC;\n",
    "src/collide/round/pairs.c": "int b = DLS_DISC;\n",
    "src/collide/hull/pairs.c": "int c = DLS_BOX;\n",
    "src/scene/read.c": "int d = DLS_RADIUS + DLS_SHAPE_KINDS + DLS_BOX_SIZE;\n",
    "cli/main.c": "",
    "experiments/list.c": "int e = DLS_DISC;\n",
}


def check(**changes):
    with tempfile.TemporaryDirectory() as folder:
        for name, content in {**LAWFUL, **changes}.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        run = subprocess.run([ROOT / "tools" / "check_kinds", "--root", folder], capture_output=True, text=True)
        assert run.stderr == "", run.stderr
        assert (run.returncode == 0) == (run.stdout == ""), run
        return run.stdout.splitlines()


def expect(path, content, *words):
    complaints = check(**{path: content})
    assert len(complaints) == 1 and all(word in complaints[0] for word in words), complaints


def test_repository_obeys():
    run = subprocess.run([ROOT / "tools" / "check_kinds"], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_lawful_tree_passes():
    assert check() == []


def test_names_in_other_files():
    expect("src/collide/broad/find.c", "if (kind == DLS_BOX) return;\n", "src/collide/broad/find.c: names DLS_BOX")
    expect("cli/main.c", "draw(DLS_DISC);\n", "cli/main.c: names DLS_DISC")


def test_stale_paths():
    expect("src/collide/hull/pairs.c", "int c = 0;\n", "src/collide/hull", "names none")


def test_missing_bullet():
    expect("docs/developing.md", "# Developing\n", "no word on a shape")


tap.main(globals())
