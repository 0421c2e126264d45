"""tools/check_layers: the repository obeys it, and it finds each kind of offence in a small made-up one."""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tap  # noqa: E402

LAWFUL = {
    "include/delassus/base.h": "#include <stddef.h>\n",
    "include/delassus/problem.h": "#include <delassus/base.h>\n",
    "include/delassus/law.h": "#include <delassus/problem.h>\n",
    "include/delassus/delassus.h": "#include <delassus/law.h>\n",
    "src/base/memory.h": "#include <omp.h>\n",
    "src/problem/problem.c": '#include "base/memory.h"\n#include <delassus/problem.h>\n',
    "src/fclib/read.c": "#include <hdf5.h>\n",
    "src/solve/nlgs.h": "",
    "src/integrate/step.c": '#include "base/memory.h"\n#include "solve/nlgs.h"\n',
    "src/solve/law/law.h": '#include "solve/solve.h"\n',
    "src/solve/solve.h": "",
    "src/solve/global/newton.c": '#include "solve/law/law.h"\n',
    "cli/main.c": '#include "cli/support/table.h"\n#include "experiments/list.h"\n#include <delassus/delassus.h>\n',
    "cli/support/table.h": "#include <cairo.h>\n",
    "cli/commands.h": "",
    "experiments/list.h": "",
    "experiments/melanz/run.c": '#include "experiments/list.h"\n#include "cli/support/table.h"\n',
}


def check(**changes):
    """Runs the tool on the lawful tree with one file added or replaced; returns its complaints."""
    with tempfile.TemporaryDirectory() as folder:
        for name, content in {**LAWFUL, **changes}.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        run = subprocess.run([ROOT / "tools" / "check_layers", "--root", folder], capture_output=True, text=True)
        assert run.stderr == "", run.stderr
        assert (run.returncode == 0) == (run.stdout == ""), run
        return run.stdout


def expect(path, content, words):
    """The file is the only offender, at its first line, and the complaint holds the words."""
    complaints = check(**{path: content}).splitlines()
    assert len(complaints) == 1, complaints
    assert complaints[0].startswith(f"{path}:1: ") and words in complaints[0], complaints[0]


def test_repository_obeys():
    run = subprocess.run([ROOT / "tools" / "check_layers"], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_lawful_tree_passes():
    assert check() == ""


def test_one_name_for_two_types():
    for kind in ("typedef struct {name} {{ int a; }} {name};", "typedef enum {name} {{ A }} {name};",
                 "typedef void (*{name})(int a);", "typedef double {name}[3];"):
        text = kind.format(name="dls_thing") + "\n"
        complaints = check(**{"src/base/error.h": text, "src/solve/solve.h": text}).splitlines()
        assert complaints == ["src/solve/solve.h:1: dls_thing is a type of src/base/error.h too: "
                              "name it by its meaning"], complaints
    opaque = "typedef struct dls_thing dls_thing;\n/* struct dls_thing { */\n"
    assert check(**{"src/base/error.h": "struct dls_thing {\n    int a;\n};\n", "include/delassus/base.h": opaque}) == ""


def test_private_include_against_the_arrows():
    expect("src/problem/measure.c", '#include "solve/nlgs.h"\n', "problem must not know solve")


def test_public_include_against_the_arrows():
    expect("src/base/error.c", "#include <delassus/problem.h>\n", "base must not know problem")


def test_public_header_of_another_name_has_a_room():
    expect("src/base/error.c", "#include <delassus/law.h>\n", "base must not know problem")


def test_umbrella_header_is_not_for_the_library():
    expect("src/solve/law.c", "#include <delassus/delassus.h>\n", "for users")


def test_public_header_includes_a_private_one():
    expect("include/delassus/base.h", '#include "base/memory.h"\n', "only public headers")


def test_public_header_against_the_arrows():
    expect("include/delassus/base.h", "#include <delassus/problem.h>\n", "must not know problem")


def test_program_includes_a_private_header():
    expect("cli/main.c", '#include "base/memory.h"\n', "no file of a room")


def test_inner_rooms_against_the_arrows():
    expect("src/solve/law/exact.c", '#include "solve/global/pqn.h"\n', "no file of a room")
    expect("src/problem/measure.c", '#include "solve/law/law.h"\n', "problem must not know solve/law")
    complaints = check(**{"src/solve/global/pqn.h": "", "src/solve/law/exact.c": '#include "solve/global/pqn.h"\n'})
    assert "solve/law must not know solve/global" in complaints, complaints


def test_solvers_do_not_see_how_an_operator_keeps_its_data():
    inner = {"src/problem/operator/bodies.h": "", "src/assemble/contacts.c": '#include "problem/operator/bodies.h"\n'}
    assert check(**inner) == ""
    complaints = check(**inner, **{"src/solve/global/newton.c": '#include "problem/operator/bodies.h"\n'})
    assert "solve/global must not know problem/operator" in complaints, complaints


def test_what_the_program_shares_knows_no_commands():
    expect("cli/support/json.c", '#include "cli/commands.h"\n', "cli/support must not know cli")
    expect("cli/support/json.c", '#include "experiments/list.h"\n', "cli/support must not know experiments")
    expect("experiments/melanz/case.c", '#include "cli/commands.h"\n', "experiments/melanz must not know cli")


def test_folders_with_too_many_files():
    complaints = check(**{f"src/base/file_{k}.c": "" for k in range(25)})
    assert "src/base:0: 26 files, expected 25 at most" in complaints, complaints


def test_benchmark_includes_a_private_header():
    expect("bench/bench_sweep.c", '#include "solve/nlgs.h"\n', "not in bench/")


def test_example_includes_a_private_header():
    expect("examples/one.c", '#include "base/memory.h"\n', "only public headers")


def test_third_party_header_in_the_wrong_room():
    expect("src/solve/nlgs.c", "#include <hdf5.h>\n", "belongs in fclib")


def test_unknown_third_party_header():
    expect("src/base/error.c", "#include <glib.h>\n", "not known")


def test_unknown_room():
    expect("src/helpers/text.c", "#include <stdio.h>\n", "no room")


def test_header_that_does_not_exist():
    expect("src/solve/nlgs.c", '#include "solve/gone.h"\n', "no file of a room")


def test_unfinished_mark():
    expect("docs/method.md", "TO" + "DO: explain\n", "finish it")


tap.main(globals())
