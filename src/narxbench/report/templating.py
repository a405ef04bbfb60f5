"""Templates of tables, documents and pages."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from narxbench.report import formats

TEMPLATES = Path(__file__).parent / "templates"

_FORMATS: dict[str, formats.OutputFormat] = {".md": "markdown", ".tex": "latex", ".html": "html"}
# Braces and per cent signs are LaTeX's own.
_LATEX: dict[str, Any] = {
    "block_start_string": "<%",
    "block_end_string": "%>",
    "variable_start_string": "<<",
    "variable_end_string": ">>",
    "comment_start_string": "<#",
    "comment_end_string": "#>",
}


def rendered(name: str, values: Mapping[str, Any]) -> str:
    """Return a template with its values, escaped in HTML; a name that has no value is an error.

    Beside its values a template has ``show``, the functions of :mod:`narxbench.report.formats`; ``own_text``, which
    returns a style sheet or script of this project as it is; and as filters ``escaped`` and ``math`` for its output
    format.
    """
    return _environment(_FORMATS[Path(name).with_suffix("").suffix]).get_template(name).render(values)


@cache
def _environment(output_format: formats.OutputFormat) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=output_format == "html",
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **(_LATEX if output_format == "latex" else {}),
    )
    mark = Markup if output_format == "html" else str
    environment.globals["show"] = formats
    environment.globals["own_text"] = lambda file: Markup((TEMPLATES / file).read_text(encoding="utf-8"))
    environment.filters["escaped"] = lambda text: mark(formats.escape(text, output_format))
    environment.filters["math"] = lambda text: mark(formats.format_math(text, output_format))
    return environment
