"""Findings as pages show them."""

from typing import Any

from markupsafe import Markup, escape

from narxbench._identification.finding import Finding
from narxbench._report.findings import SETTING

# The class of a mark, and its text, by status.
MARKS = {"fine": ("yes", "✓ fine"), "look": ("open", "! look"), "bad": ("no", "✗ bad")}


def worded(finding: Finding) -> dict[str, Any]:
    """Return a finding as pages show it."""
    words = {"title": finding.title, "text": _for_page(finding.text), "advice": _for_page(finding.advice)}
    return {"name": finding.name, "status": finding.status, **words}


def _for_page(text: str) -> Markup:
    """Return a text with settings as code, and with minus signs at which browsers do not break the lines of terms."""
    marked = SETTING.sub(r"<code>\1=\2</code>", str(escape(text)))
    return Markup(marked.replace("(k-", "(k−"))  # nosec B704 # the text is escaped
