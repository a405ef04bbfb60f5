"""Technical terms, explained where they stand, by the glossary of the documentation."""

import re
from collections.abc import Collection, Mapping
from html import escape

from markupsafe import Markup

_ROW = re.compile(r"^\| ([^|]+?) \| ([^|]+?) \|$", re.MULTILINE)
_SYMBOLS = {"J": "<i>J</i>", "r": "<i>r</i>", "ν_max": "ν<sub>max</sub>"}
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def glossary(text: str) -> dict[str, str]:
    """Return the meanings of the words of a glossary, a table in Markdown, as plain text."""
    meanings = {}
    for word, meaning in _ROW.findall(text):
        meanings[word] = re.sub(r"[`*]", "", _LINK.sub(r"\1", meaning))
    meanings.pop("Word", None)  # the heading of the table
    return meanings


def explained(html: str, words: Mapping[str, str]) -> Markup:
    """Return HTML in which the first occurrence of each word has its meaning on hover.

    Symbols are searched in the form in which :func:`narxbench._report.formats.format_math` sets them. The HTML has no
    attributes.
    """
    word_of = _spellings(words)
    if not word_of:
        return Markup(html)  # nosec B704 # the caller's HTML, unchanged
    unexplained = dict(words)
    pattern = "|".join(map(re.escape, sorted(word_of, key=len, reverse=True)))

    def mark(match: re.Match[str]) -> str:
        meaning = unexplained.pop(word_of[match[0]], None)
        return f'<abbr title="{escape(meaning)}">{match[0]}</abbr>' if meaning else match[0]

    return Markup(re.sub(rf"(?<![\w>])(?:{pattern})(?!\w)", mark, html))  # nosec B704 # the meanings are escaped


def _spellings(words: Collection[str]) -> dict[str, str]:
    """Return the words by their spellings in HTML: symbols as they are set, others with a capital too."""
    word_of = {}
    for word in words:
        word_of[_SYMBOLS.get(word, word)] = word
    for word in words:
        if len(word) > 1 and word not in _SYMBOLS:
            word_of[word[:1].upper() + word[1:]] = word
    return word_of
