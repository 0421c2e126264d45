"""Sphinx: the pages of docs/ and README.md as a site, made by tools/make_site."""
import re

project, author, copyright = "Delassus", "the authors of Delassus", "the authors of Delassus, Apache-2.0"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 5
myst_enable_extensions = ["html_image"]
html_theme = "alabaster"
html_theme_options = {"description": "Rigid bodies with hard frictional contact, every step certified",
                      "fixed_sidebar": True, "page_width": "1100px"}
html_show_sphinx = html_show_sourcelink = html_copy_source = False
nitpicky = False
suppress_warnings = ["misc.highlighting_failure", "myst.header"]  # fences hold commands with their output
autodoc_member_order = "bysource"
autodoc_typehints = "none"

PARAMETER = re.compile(r"^(\w+(?:, \w+)*): ")


def escape(line):
    return re.sub(r"(``[^`]*``)|([|*`_])", lambda match: match[1] or "\\" + match[2], line)


def plain_text(app, what, name, thing, options, lines):
    """Docstrings are plain text: what reStructuredText would read as marks is escaped, parameters become a list."""
    inside, out = False, []
    for line in lines:
        inside = line.startswith(">>>") or (inside and line.strip() != "")
        if inside:
            out.append(line)
            continue
        text = escape(line)
        if parameter := PARAMETER.match(line):
            if out and out[-1].strip() and not out[-1].startswith(("- ", "  ")):
                out.append("")
            out.append(f"- **{parameter[1]}**: {escape(line[parameter.end():])}")
        elif out and out[-1].startswith(("- ", "  ")) and line.strip() and not line.startswith("-"):
            out.append("  " + text)
        else:
            out.append(text)
    lines[:] = out


def setup(app):
    app.connect("autodoc-process-docstring", plain_text)
