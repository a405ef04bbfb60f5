"""Settings of Sphinx. One command builds the documentation, offline: python -m sphinx docs docs/_build"""

import pkgutil
import re
from importlib import import_module

import narxbench

project = "narxbench"
author = copyright = "The narxbench authors"
version = release = narxbench.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"narxbench {version}"
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


def complete(app, docname, source):
    """Turn links that leave this folder into plain text, and give the page of a package all its modules."""
    outside = r"\.\./" * (1 + docname.count("/"))
    source[0] = re.sub(rf"(?<!!)\[([^]]+)\]\({outside}[^)]*\)", r"\1", source[0])
    if docname.startswith("api/narxbench."):
        package = docname.removeprefix("api/")
        found = pkgutil.iter_modules(import_module(package).__path__, f"{package}.")
        names = sorted(module.name for module in found if not module.ispkg)
        blocks = [f".. automodule:: {package}\n"]
        blocks += [f"{name}\n{'-' * len(name)}\n\n.. automodule:: {name}\n" for name in names]
        source[0] += "\n```{eval-rst}\n" + "\n".join(blocks) + "```\n"


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
    app.connect("autodoc-skip-member", skip)
    app.connect("autodoc-process-docstring", list_settings)
