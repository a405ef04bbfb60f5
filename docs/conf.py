"""Settings of Sphinx. One command builds the site, offline: python -m sphinx -c docs . docs/_build

The source folder is the whole repository, so that links between its documents work on the site as they do there.
"""

import base64
import json
import os
import pkgutil
import re
from importlib import import_module
from pathlib import Path

from numpydoc.xref import DEFAULT_LINKS

import narxbench
from narxbench._io.yaml import read_mapping

ROOT = Path(__file__).parents[1]

project = "narxbench"
author = copyright = "The narxbench authors"
version = release = narxbench.__version__

extensions = [
    *("myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.intersphinx"),
    *("numpydoc", "sphinx_copybutton"),
]
root_doc = "docs/index"
include_patterns = [
    *("docs/**", "benchmarks/*.md", "data/reference/**", "config/README.md"),
    *("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"),
]
exclude_patterns = ["docs/_build", "docs/_templates"]
html_theme = "furo"
html_title = f"narxbench {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
# The address without a page leads to the first one.
templates_path = ["_templates"]
html_additional_pages = {"index": "redirect.html"}
# The pages of studies that were made here are published with the site.
html_extra_path = [str(ROOT / "reports")] if (ROOT / "reports/report.html").exists() else []
# A public host gives the address of the site. Pages link to where they are edited if that of the repository is known.
html_baseurl = os.environ.get("NARXBENCH_SITE", "")
html_theme_options = {}
repository = read_mapping(ROOT / "CITATION.cff").get("repository-code", "").rstrip("/")
if repository:
    # The theme would know some public hosts only.
    html_theme_options = {
        "source_edit_link": repository + "/edit/main/{filename}",
        "source_view_link": repository + "/blob/main/{filename}",
    }
# Notebooks show what the code gives: they are run whenever the documentation is built.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 600
# Formulas would need a script from elsewhere: notebooks show the equation as text.
nb_mime_priority_overrides = [("html", "text/latex", None)]
html_copy_source = False
html_show_sourcelink = False
highlight_language = "none"
toc_object_entries = False

myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "none"
_INHERITED = "model_config, model_post_init, set_fit_request, set_predict_request"
autodoc_default_options = {"members": True, "exclude-members": _INHERITED}
autosummary_generate = False
numpydoc_show_class_members = False
# The site is built offline: the pages of other packages that it links to are listed here, in Sphinx's plain form.
intersphinx_mapping = {
    "numpy": ("https://numpy.org/doc/stable/", "docs/inventories/numpy.txt"),
    "pandas": ("https://pandas.pydata.org/docs/", "docs/inventories/pandas.txt"),
    "sklearn": ("https://scikit-learn.org/stable/", "docs/inventories/sklearn.txt"),
}
# Types of parameters and returned values that are links: classes of these packages and of this one, no other words.
numpydoc_xref_param_type = True
numpydoc_xref_ignore = "all"
numpydoc_xref_aliases = {name: name for name in DEFAULT_LINKS}
numpydoc_xref_aliases |= dict.fromkeys(["array", "arrays", "ndarray"], "numpy.ndarray")
numpydoc_xref_aliases |= {"DataFrame": "pandas.DataFrame"}
numpydoc_xref_aliases |= {name: f"narxbench.{name}" for name in narxbench.__all__ if name[0].isupper()}
_LINK = re.compile(r"(?<!!)\[([^]]+)\]\(((?!\w+:)[^)#\s]+)(#[^)\s]*)?\)")


def complete(app, docname, source):
    """Give a page a heading, links that the site can follow, and the page of a package all its modules.

    The first page begins with the README.
    """
    folder = (ROOT / docname).parent
    text = source[0]
    if docname == root_doc:
        app.env.note_dependency(str(ROOT / "README.md"))
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        text = re.sub(r"\]\((?!\w+:|#)", "](../", readme) + text
    # Tables of results have no heading of their own.
    if not re.search(r"^# ", text, re.MULTILINE):
        title = Path(docname).stem.replace("_", " ").capitalize()
        text = f"# {title}\n\n{text}"
    source[0] = _LINK.sub(lambda link: followed(link, folder), text)
    package = docname.removeprefix("docs/api/")
    if package.startswith("narxbench."):
        source[0] += documented(package)


def followed(link, folder):
    """Return a link: to a folder or to what is not kept as plain text, to the README as one to the first page."""
    target = (folder / link[2]).resolve()
    if target == ROOT / "README.md":
        return f"[{link[1]}]({os.path.relpath(ROOT / 'docs/index.md', folder)})"
    return link[0] if target.is_file() else link[1]


def documented(package):
    """Return the part of a page that documents the modules of a package."""
    modules = pkgutil.iter_modules(import_module(package).__path__, f"{package}.")
    names = sorted(module.name for module in modules if not module.ispkg)
    blocks = [f".. automodule:: {package}\n"]
    blocks += [f"{name}\n{'-' * len(name)}\n\n.. automodule:: {name}\n" for name in names]
    return "\n```{eval-rst}\n" + "\n".join(blocks) + "```\n"


def write_thumbnails(app, exception):
    """Write the first figure of each notebook for the gallery."""
    if exception or app.builder.name != "html":
        return
    thumbnails = Path(app.outdir, "_images", "thumbnails")
    thumbnails.mkdir(parents=True, exist_ok=True)
    for path in Path(app.outdir).parent.joinpath("jupyter_execute").rglob("*.ipynb"):
        figure = first_figure(json.loads(path.read_text(encoding="utf-8")))
        if figure:
            thumbnails.joinpath(f"{path.stem}.png").write_bytes(base64.b64decode(figure))


def first_figure(notebook):
    """Return the first picture of a notebook that was run, in base 64; "" without one."""
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            if "image/png" in output.get("data", {}):
                return output["data"]["image/png"]
    return ""


def skip(app, what, name, obj, left_out, options):
    """Leave out what Python writes itself for the fields of a named tuple."""
    return True if str(obj.__doc__).startswith("Alias for field number") else None


def list_settings(app, what, name, obj, options, lines):
    """Add the described fields of a model of settings to its docstring."""
    fields = getattr(obj, "__pydantic_fields__", {}) if what == "class" else {}
    for key, field in fields.items():
        if field.description:
            default = "" if field.is_required() else f" (default: {field.default})"
            lines += ["", f"- **{key}**: {field.description}{default}"]


def setup(app):
    """Connect the above."""
    app.connect("source-read", complete)
    app.connect("build-finished", write_thumbnails)
    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-docstring", list_settings)
