"""tools/check_docs: finds broken links, unmarked commands, failing commands and untrue outputs in made-up pages."""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import tap  # noqa: E402

PROGRAM = "#!/bin/sh\necho solved $1 in 3 sweeps, residual 1.5e-9\necho '------'\necho done\n[ \"$1\" != bad ]\n"


def check(what, readme, **more):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        files = {"README.md": readme, "docs/method.md": "# The method\n\n## Local laws: `ebp`\n",
                 "examples/one.txt": "one\n", "build/delassus": PROGRAM, **more}
        for name, content in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(content)
        (root / "build" / "delassus").chmod(0o755)
        run = subprocess.run([ROOT / "tools" / "check_docs", what, "--root", folder], capture_output=True, text=True)
        assert run.stderr == "", run.stderr
        return run.returncode, run.stdout


def runs(block, mark="sh"):
    status, output = check("run", f"# Title\n\n```{mark}\n{block}\n```\n")
    results = [line for line in output.splitlines() if line.startswith(("ok", "not ok"))]
    assert (status == 0) == all(line.startswith("ok") for line in results), output
    return len(results), status == 0


def link(text):
    status, output = check("links", f"# Title here\n\n{text}\n")
    assert (status == 0) == (output == ""), output
    return status == 0


def test_repository_links():
    run = subprocess.run([ROOT / "tools" / "check_docs", "links"], capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_links_to_files_and_headings():
    assert link("[a](docs/method.md) [b](docs/method.md#local-laws-ebp) [c](#title-here) [d](https://example.org/x)")
    assert link("`[not](a/link)`\n\n```\n[nor](this)\n```")


def test_broken_links():
    assert not link("[a](docs/gone.md)")
    assert not link("![figure](docs/gone.svg)")
    assert not link("[a](docs/method.md#gone)")
    assert not link("[a](#gone)")
    assert not link("[a]: docs/gone.md")


def test_marks_of_fences():
    assert link("```sh skip: needs a network\nmake demo\n```")
    assert not link("```sh skip\nmake demo\n```")
    assert not link("```bash\ndelassus info\n```")


def test_plain_commands():
    assert runs("# a remark\ndelassus good\n\ncat examples/one.txt > copy && \\\n    test -s copy") == (1, True)
    assert runs("delassus good\ndelassus bad") == (1, False)
    assert runs("delassus bad  # exits 1") == (1, True)
    assert runs("delassus good  # exits 1") == (1, False)
    assert runs("exit 0\nfalse") == (1, False)


def test_commands_of_several_lines():
    assert runs("for i in 1 2; do\n    delassus $i\ndone\ncat > x <<END\nline\nEND\ntest -s x") == (1, True)
    assert runs("for i in 1 2; do\n    delassus $i") == (1, False)


def test_skipped_and_other_fences_are_not_run():
    assert runs("false", "sh skip: because") == (0, True)
    assert runs("false", "text") == (0, True)


def test_shown_output():
    assert runs("$ delassus good\nsolved good in 17 sweeps, residual  4.4e-12\n---\ndone") == (1, True)
    assert runs("$ delassus good\n...\ndone\n$ delassus fine\nsolved fine in 1 sweeps, residual 1\n...") == (1, True)
    assert runs("$ delassus good\nsolved good in 17 iterations, residual 4.4e-12\n---\ndone") == (1, False)
    assert runs("$ delassus good\nsolved good in 3 sweeps, residual 1.5e-9") == (1, False)
    assert runs("$ delassus good\n...\nfailed") == (1, False)


def test_blocks_of_a_page_share_a_folder_and_pages_do_not():
    page = "```sh\necho > left\n```\n\n```sh\ntest -e left\n```\n"
    assert check("run", page)[0] == 0
    assert check("run", page, **{"docs/other.md": "```sh\ntest -e left\n```\n"})[0] == 1


tap.main(globals())
