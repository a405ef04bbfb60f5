"""The words that readers cannot know, explained where they stand, by the glossary of the documentation."""

import re
from collections.abc import Mapping
from html import escape

from markupsafe import Markup

_ROW = re.compile(r"^\| ([^|]+?) \| ([^|]+?) \|$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def glossary(text: str) -> dict[str, str]:
    """Return the meanings of the words of a glossary, a table in Markdown, as plain text."""
    plain = ((word, re.sub(r"[`*]", "", _LINK.sub(r"\1", meaning))) for word, meaning in _ROW.findall(text))
    return {word: meaning for word, meaning in plain if word != "Word"}


def explained(html: str, words: Mapping[str, str]) -> Markup:
    """Return HTML in which the first place of each word has its meaning on hover.

    Symbols are looked for as :func:`narxbench.report.formats.format_math` sets them. The HTML has no attributes.
    """
    symbols = {"J": "<i>J</i>", "r": "<i>r</i>", "ν_max": "ν<sub>max</sub>"}
    shown = {symbols.get(word, word): word for word in words}
    shown |= {word[:1].upper() + word[1:]: word for word in words if len(word) > 1 and word not in symbols}
    left = dict(words)
    pattern = "|".join(re.escape(word) for word in sorted(shown, key=len, reverse=True))

    def mark(found: re.Match[str]) -> str:
        meaning = left.pop(shown[found[0]], None)
        return f'<abbr title="{escape(meaning)}">{found[0]}</abbr>' if meaning else found[0]

    return Markup(re.sub(rf"(?<![\w>])(?:{pattern})(?!\w)", mark, html)) if shown else Markup(html)
