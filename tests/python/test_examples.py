"""Every example in the module's own documentation gives what it says; every public name is documented."""
import contextlib
import doctest
import importlib
import inspect
import io
import pathlib
import pkgutil
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import binding  # noqa: E402, F401
import tap  # noqa: E402
import delassus  # noqa: E402
import numpy  # noqa: E402


def test_examples_in_docstrings():
    names, tried = {**vars(delassus), "numpy": numpy}, 0
    for module in pkgutil.iter_modules(delassus.__path__):
        if module.name == "libdelassus":
            continue
        loaded = importlib.import_module(f"delassus.{module.name}")
        result = doctest.testmod(loaded, extraglobs={**names, **vars(loaded)})
        assert result.failed == 0, module.name
        tried += result.attempted
    assert tried > 20, tried


def test_pages_in_python_run_as_they_stand():
    for page in (ROOT / "docs" / "python.md", ROOT / "python" / "README.md"):
        blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
        assert blocks, page
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile("\n".join(blocks), str(page), "exec"), {"__name__": "page"})


def test_every_public_name_has_a_docstring():
    for name in delassus.__all__:
        thing = getattr(delassus, name)
        assert inspect.getdoc(thing), name
        if inspect.isclass(thing):
            for member, value in vars(thing).items():
                if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, classmethod)):
                    assert inspect.getdoc(value), f"{name}.{member}"


def test_options_are_in_the_docstrings_with_their_ranges():
    document = delassus.Simulation.__doc__
    assert "``theta``" in document and "0.5 to 1" in document and "moreau-jean" in document
    assert "``relaxation``" in delassus.options("nlgs") and "0.01 to 1.99" in delassus.options("nlgs")


tap.main(globals())
