"""Templates of tables, documents and pages."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import jinja2

TEMPLATES = Path(__file__).parent / "templates"

# Braces and per cent signs are LaTeX's own.
_LATEX: dict[str, Any] = {
    "block_start_string": "<%",
    "block_end_string": "%>",
    "variable_start_string": "<<",
    "variable_end_string": ">>",
    "comment_start_string": "<#",
    "comment_end_string": "#>",
}


def rendered(name: str, values: Mapping[str, Any], **filters: Callable[..., str]) -> str:
    """Return a template with its values, escaped in HTML; a name that has no value is an error."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=name.endswith(".html.j2"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        **(_LATEX if name.endswith(".tex.j2") else {}),
    )
    environment.filters |= filters
    return environment.get_template(name).render(values)
