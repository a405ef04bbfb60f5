"""Templates of tables, documents and pages."""

import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from narxbench._report import formats
from narxbench._report.markup import visible
from narxbench._report.table import Table

TEMPLATES = Path(__file__).parent / "templates"

_FORMATS: dict[str, formats.OutputFormat] = {".md": "markdown", ".tex": "latex", ".html": "html"}
_STYLES = re.compile(
    ' data-style="((?:(?:left|height|width|min-width|max-width|--level|--shade):[0-9.]+(?:px|rem|%)?;?)+'
    '|text-align:(?:left|center|right))"'
)
# Delimiters for templates of LaTeX, which itself needs braces and per cent signs.
_LATEX_DELIMITERS: dict[str, Any] = {
    "block_start_string": "<%",
    "block_end_string": "%>",
    "variable_start_string": "<<",
    "variable_end_string": ">>",
    "comment_start_string": "<#",
    "comment_end_string": "#>",
}


def rendered(name: str, values: Mapping[str, Any], folder: Path = TEMPLATES) -> str:
    """Return the text of a template with its values, escaped and visible in HTML. A missing value is an error.

    Templates, also extended and included ones, are searched for in the folder and then in this package. Besides its
    values, a template has ``show``, the functions of :mod:`narxbench._report.formats`, ``own_text``, which returns a
    style sheet or script of this project unchanged, ``policy`` and ``styles`` for the head of a page, and the filters
    ``escaped`` and ``math`` for its output format.
    """
    output_format = _FORMATS[Path(name).with_suffix("").suffix]
    text = _environment(output_format, folder).get_template(name).render(values)
    if output_format == "html":
        text = visible(text)
    return text


def to_html(table: Table) -> Markup:
    """Return the table as it is shown on a page."""
    values = {"table": table, "id": re.sub(r"[^\w-]", "-", table.name)}
    return Markup(rendered("table.html.j2", values))  # nosec B704 # the template escapes


def _policy(script: str, style: str) -> Markup:
    """Return the content security policy of a page that has these texts in its script element and its style element."""
    directives = ["default-src 'none'", "base-uri 'none'", "form-action 'none'"]
    for name, text in (("script-src", script), ("style-src", style)):
        if text:
            directives.append(f"{name} 'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'")
    return Markup("; ".join(directives))  # nosec B704 # words of this function and digests


def _styles(html: str) -> Markup:
    """Return a rule for each distinct ``data-style`` of a page's main part.

    These rules replace ``style`` attributes, which the policy forbids, and likewise override other rules.
    """
    styles = dict.fromkeys(_STYLES.findall(html))
    rules = [f'#main [data-style="{style}"] {{ {style} }}' for style in styles]
    return Markup("\n".join(rules))  # nosec B704 # attributes of a page that is escaped already


@cache
def _environment(output_format: formats.OutputFormat, folder: Path) -> jinja2.Environment:
    loader = jinja2.FileSystemLoader([folder, TEMPLATES])
    environment = jinja2.Environment(  # nosec B701 # HTML is escaped; Markdown and LaTeX have filters
        loader=loader,
        autoescape=output_format == "html",
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **(_LATEX_DELIMITERS if output_format == "latex" else {}),
    )
    as_is = Markup if output_format == "html" else str
    environment.globals |= {"show": formats, "policy": _policy, "styles": _styles}
    environment.globals["own_text"] = lambda file: Markup(  # nosec B704 # a file of this package
        loader.get_source(environment, file)[0]
    )
    environment.filters["escaped"] = lambda text: as_is(formats.escape(text, output_format))
    environment.filters["math"] = lambda text: as_is(formats.format_math(text, output_format))
    return environment
