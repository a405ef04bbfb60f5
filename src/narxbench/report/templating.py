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

from narxbench.report import formats

TEMPLATES = Path(__file__).parent / "templates"

_FORMATS: dict[str, formats.OutputFormat] = {".md": "markdown", ".tex": "latex", ".html": "html"}
_STYLES = re.compile(
    ' data-style="((?:(?:left|height|width|min-width|max-width|--level|--shade):[0-9.]+(?:px|rem|%)?;?)+'
    '|text-align:(?:left|center|right))"'
)
# Braces and per cent signs are LaTeX's own.
_LATEX: dict[str, Any] = {
    **{"block_start_string": "<%", "block_end_string": "%>", "variable_start_string": "<<"},
    **{"variable_end_string": ">>", "comment_start_string": "<#", "comment_end_string": "#>"},
}


def rendered(name: str, values: Mapping[str, Any], folder: Path = TEMPLATES) -> str:
    """Return a template with its values, escaped in HTML; a name that has no value is an error.

    It is looked for in the folder, then in that of this package, as are those that it extends or includes.
    Besides its values a template has ``show``, the functions of :mod:`narxbench.report.formats`; ``own_text``, which
    returns a style sheet or script of this project as it is; ``policy`` and ``styles`` for the head of a page; and as
    filters ``escaped`` and ``math`` for its output format.
    """
    return _environment(_FORMATS[Path(name).with_suffix("").suffix], folder).get_template(name).render(values)


def _policy(script: str, style: str) -> Markup:
    """Return the content security policy of a page that has these texts in its script element and its style element."""
    texts = {"script-src": script, "style-src": style}
    hashes = {name: b64encode(sha256(text.encode()).digest()).decode() for name, text in texts.items() if text}
    allowed = [f"{name} 'sha256-{digest}'" for name, digest in hashes.items()]
    return Markup("; ".join(["default-src 'none'", "base-uri 'none'", "form-action 'none'", *allowed]))


def _styles(html: str) -> Markup:
    """Return a rule for each distinct ``data-style`` of a page's main part.

    The policy allows no ``style`` attributes, which these stand for: they too outdo the rules of style sheets.
    """
    found = dict.fromkeys(_STYLES.findall(html))
    return Markup("\n".join(f'#main [data-style="{style}"] {{ {style} }}' for style in found))


@cache
def _environment(output_format: formats.OutputFormat, folder: Path) -> jinja2.Environment:
    loader = jinja2.FileSystemLoader([folder, TEMPLATES])
    environment = jinja2.Environment(
        loader=loader,
        autoescape=output_format == "html",
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **(_LATEX if output_format == "latex" else {}),
    )
    mark = Markup if output_format == "html" else str
    environment.globals |= {"show": formats, "policy": _policy, "styles": _styles}
    environment.globals["own_text"] = lambda file: Markup(loader.get_source(environment, file)[0])
    environment.filters["escaped"] = lambda text: mark(formats.escape(text, output_format))
    environment.filters["math"] = lambda text: mark(formats.format_math(text, output_format))
    return environment
