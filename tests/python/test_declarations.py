"""What Python believes of C: sizes, places and numbers as the compiler has them; every function declared."""
import ctypes
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import binding  # noqa: E402, F401
import tap  # noqa: E402
from delassus import _c, _library  # noqa: E402


def compiled_layout():
    subprocess.run([sys.executable, ROOT / "tools" / "make_bindings", "--layout", "layout.c"], check=True)
    subprocess.run(["gcc", "-I", ROOT / "include", "layout.c", "-o", "layout"], check=True)
    lines = subprocess.run(["./layout"], capture_output=True, text=True, check=True).stdout.splitlines()
    return {name: int(number) for name, number in map(str.split, lines)}


def test_structs_have_the_sizes_and_places_of_the_compiler():
    layout = compiled_layout()
    for struct in _c.STRUCTS:
        assert ctypes.sizeof(struct) == layout[struct.__name__], struct.__name__
        for member, _ in struct._fields_:
            assert getattr(struct, member).offset == layout[f"{struct.__name__}.{member}"], f"{struct.__name__}.{member}"
    members = sum(len(struct._fields_) for struct in _c.STRUCTS)
    enumerators = {name for name in layout if name.startswith("DLS_")}
    assert len(layout) == len(_c.STRUCTS) + members + len(enumerators), "a struct is missing in Python"
    for name in enumerators:
        assert getattr(_c, name) == layout[name], name


def test_every_function_and_struct_of_the_headers_is_declared():
    text = "".join(path.read_text() for path in (ROOT / "include" / "delassus").glob("*.h"))
    assert set(re.findall(r"DLS_API[^;(]*?\b(dls_\w+)\(", text)) == set(_c.FUNCTIONS)
    structs = set(re.findall(r"^typedef struct (dls_\w+) \{", text, re.MULTILINE))
    assert structs == {struct.__name__ for struct in _c.STRUCTS}
    assert set(re.findall(r"^typedef enum (dls_\w+) \{", text, re.MULTILINE)) == set(_c.ENUMS)


def test_records_of_numpy_have_the_members_where_c_has_them():
    import numpy
    for struct in (_c.dls_body_state, _c.dls_contact_record, _c.dls_joint_record, _c.dls_step_report, _c.dls_pose):
        kind = numpy.dtype(struct)
        assert kind.itemsize == ctypes.sizeof(struct)
        for member, _ in struct._fields_:
            assert kind.fields[member][1] == getattr(struct, member).offset, member


def test_functions_have_the_words_of_the_headers():
    assert _library.lib.dls_version.__doc__.startswith("The version of the library")
    assert all(result is not ... for result, _, _ in _c.FUNCTIONS.values())


def test_a_header_of_another_form_is_refused_with_the_line():
    folder = pathlib.Path("include") / "delassus"
    folder.mkdir(parents=True)
    for text, word in (("DLS_API dls_nothing f(int a);", "no type"), ("union dls_u { int a; };", "not understood")):
        (folder / "odd.h").write_text(text + "\n")
        done = subprocess.run([sys.executable, ROOT / "tools" / "make_bindings", "--root", ".", "-o", "odd.py"],
                              capture_output=True, text=True)
        assert done.returncode == 1 and "odd.h" in done.stderr, done
        assert word in done.stderr or "not understood" in done.stderr, done.stderr


tap.main(globals())
