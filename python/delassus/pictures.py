"""Pictures and pages of runs, made by the program `delassus`."""
import os
import pathlib
import shutil
import subprocess
import sys

from ._library import Error, FileError


def program():
    """The program `delassus`: that of DELASSUS, beside Python, beside the package, or on the PATH."""
    candidates = [os.environ.get("DELASSUS"), pathlib.Path(sys.executable).parent / "delassus",
                  pathlib.Path(sys.prefix) / "bin" / "delassus",
                  pathlib.Path(__file__).parent.parent.parent / "delassus", shutil.which("delassus")]
    for candidate in candidates:
        if candidate and os.access(candidate, os.X_OK) and os.path.isfile(candidate):
            return str(candidate)
    raise FileError("the program 'delassus' was not found: put it on the PATH, or its path into DELASSUS")


def command(*words):
    """Runs `delassus` with these words; returns what it prints. Its own message is raised where it fails."""
    done = subprocess.run([program(), *map(os.fspath, words)], capture_output=True, text=True)
    if done.returncode:
        raise Error((done.stderr or done.stdout).strip().splitlines()[-1] if (done.stderr or done.stdout).strip()
                    else f"delassus {words[0]} ended with {done.returncode}")
    return done.stdout


def picture(results, output=None, *, frame=None, view=None, forces=False, width=None):
    """Draws a frame of a run; returns the path of the PNG, beside which lies the same as SVG.

    output: path without ending, by default that of the results. view: 'front', 'side', 'top' or 'iso' in space.
    """
    stem = pathlib.Path(output if output is not None else pathlib.Path(results).with_suffix(""))
    words = ["picture", results, "-o", stem]
    for option, value in (("--frame", frame), ("--view", view), ("--width", width)):
        if value is not None:
            words += [option, str(value)]
    command(*words, *(["--forces"] if forces else []))
    return f"{stem}.png"


class Page:
    """A page of a run: shown inline by notebooks, a path elsewhere."""

    def __init__(self, path):
        self.path = path

    def __fspath__(self):
        return self.path

    def __repr__(self):
        return f"<page {self.path}>"

    def _repr_html_(self):
        import html
        page = html.escape(pathlib.Path(self.path).read_text(errors="replace"), quote=True)
        return f'<iframe srcdoc="{page}" width="100%" height="600" style="border:0"></iframe>'


def view(results, output=None):
    """Turns a run into a page that opens in any browser; notebooks show it inline. Returns the page with its path."""
    path = os.fspath(output if output is not None else pathlib.Path(results).with_suffix(".html"))
    command("view", results, "-o", path)
    return Page(path)
