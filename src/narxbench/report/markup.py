"""Text from files as HTML: Markdown, SVG, data for scripts, and citations."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from narxbench.report.tables import escape

# Raw HTML and links with a scheme that runs code stay text.
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


def markdown_html(text: str, prefix: str, figures: Mapping[str, str] | None = None) -> Markup:
    """Return Markdown as HTML without its title; the ids of its headings are ``prefix`` and their text.

    Links to other files become plain text. ``figures`` maps the paths of images to their SVG, which takes their place.
    """
    html = _render(_untitled(text), prefix)
    for path, svg in (figures or {}).items():
        name = f"{prefix}-{slug(path)}"
        before, image, after = html.partition(f'<p><img src="{path}" alt="')
        if image:
            caption, _, rest = after.partition('" /></p>')
            drawn = f'<div class="scroll" role="group" aria-label="Figure" tabindex="0">{inline_svg(svg, name)}</div>'
            drawn = f'<figure>{drawn}<figcaption id="{name}-caption">{caption}</figcaption></figure>'
            html = f"{before}{drawn}{rest}"
    return Markup(html)


def markdown_sections(text: str, prefix: str) -> list[tuple[Markup, Markup]]:
    """Return heading, without its number, and body of every section of Markdown, without what precedes the first."""
    found = []
    for section in re.split(r"(?m)^## (?:\d+\. )?", _untitled(text))[1:]:
        heading, body = section.split("\n", 1)
        found.append((Markup(_MARKDOWN.renderInline(heading)), Markup(_render(body, prefix))))
    return found


def _untitled(text: str) -> str:
    return re.sub(r"\A# .*\n", "", text.strip())


def _render(text: str, prefix: str) -> str:
    tokens = _MARKDOWN.parse(text)
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type in ("heading_open", "heading_close"):
            # The page has its own headings of the first and second level.
            token.tag = f"h{int(token.tag[1]) + 1}"
        if token.type == "heading_open" and following:
            token.attrs["id"] = f"{prefix}-{slug(following.content)}"
        if token.type == "th_open":
            token.attrs["scope"] = "col"
        if token.children:
            token.children = list(_within_page(token.children, prefix))
    html = str(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))
    html = html.replace("<table>", '<div class="scroll" role="group" aria-label="Table" tabindex="0">\n<table>')
    html = html.replace("</table>", "</table>\n</div>")
    html = re.sub(r"<code>(?=[yu]\()", '<code class="term">', html)
    return html.replace("ν_max", "ν<sub>max</sub>")


def _within_page(tokens: Iterable[Token], prefix: str) -> Iterator[Token]:
    """Yield tokens without the links to other files, and with links within the text that lead within the page."""
    local = False
    for token in tokens:
        if token.type == "link_open":
            target = str(token.attrs["href"])
            local = not target.startswith(("#", "https:", "http:", "mailto:"))
            if target.startswith("#"):
                token.attrs["href"] = f"#{prefix}-{target[1:]}"
        if not (local and token.type in ("link_open", "link_close")):
            yield token
        if token.type == "link_close":
            local = False


def slug(text: str) -> str:
    """Return a text as an id: lower case, with hyphens for all but letters and digits."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def inline_svg(svg: str, name: str) -> Markup:
    """Return an SVG for use inside HTML: without prolog, size and metadata, and with ids that start with ``name``."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    # A style sheet inside an inline SVG would apply to the whole page.
    svg = svg.replace("*{", f"#{name} *{{")
    root, rest = svg.split(">", 1)
    root = re.sub(r'\s(?:width|height|id|xmlns:xlink)="[^"]*"', "", root).replace("xlink:href", "href")
    return Markup(
        f'{root} id="{name}" role="img" aria-labelledby="{name}-caption">{rest.replace("xlink:href", "href")}'
    )


def script_json(value: Any) -> Markup:
    """Return JSON that can stand inside a script element whatever texts it holds; NaN and infinities are refused."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # No "<" is left, so that neither "</script" nor "<!--" can end or hide the element.
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def bibtex(citation: Mapping[str, Any]) -> list[str]:
    """Return the entries of a citation file (CITATION.cff): what it describes first, then its references."""
    return [_entry(citation), *(_entry(reference) for reference in citation.get("references", []))]


def _entry(source: Mapping[str, Any]) -> str:
    arxiv = re.search(r"arXiv:(\S+)", str(source.get("notes", "")))
    software = source.get("type", "software") == "software"
    year = str(source.get("year") or source.get("date-released", ""))[:4]
    people = [_person(person) for person in source["authors"]]
    fields = {
        "author": " and ".join(people),
        "title": f"{{{_bib(source['title'])}}}",
        "version": _bib(source.get("version", "")),
        "year": year,
        "doi": _bib(source.get("doi", "")),
        "url": _bib(source.get("repository-code", source.get("url", ""))),
        "eprint": _bib(arxiv[1]) if arxiv else "",
        "archivePrefix": "arXiv" if arxiv else "",
    }
    first = source["authors"][0]
    key = re.sub(r"\W", "", str(first.get("family-names") or source["title"].split(":")[0])).lower() + year
    lines = [f"  {name} = {{{value}}}" for name, value in fields.items() if value]
    return f"@{'software' if software else 'misc'}{{{key},\n" + ",\n".join(lines) + "\n}"


def _person(person: Mapping[str, str]) -> str:
    if "name" in person:
        return f"{{{_bib(person['name'])}}}"
    return ", ".join(_bib(person[part]) for part in ("family-names", "given-names") if part in person)


def _bib(value: object) -> str:
    return escape(str(value), "latex")
