"""Text from files as HTML: Markdown, SVG, and data for scripts."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict
from markupsafe import Markup, escape

_SCROLL = '<div class="scroll" role="group" aria-label="{}" tabindex="0">'


def markdown_html(text: str, prefix: str, figures: Mapping[str, str] | None = None) -> Markup:
    """Return Markdown as HTML without its title; the ids of its headings are ``prefix`` and their text.

    Links to other files become plain text. ``figures`` maps the paths of images to their SVG, which takes their place.
    """
    return _render(_within_page(_untitled(text), prefix, figures or {}))


def markdown_sections(text: str, prefix: str) -> list[tuple[Markup, Markup]]:
    """Return heading, without its number, and body of every section of Markdown, without what precedes the first."""
    tokens = _untitled(text)
    starts = [index for index, token in enumerate(tokens) if token.type == "heading_open" and token.tag == "h2"]
    found = []
    for start, end in zip(starts, [*starts[1:], len(tokens)], strict=True):
        heading = tokens[start + 1]
        heading.children = _MARKDOWN.parseInline(re.sub(r"^\d+\. ", "", heading.content))[0].children
        found.append((_render([heading]), _render(_within_page(tokens[start + 3 : end], prefix, {}))))
    return found


def slug(text: str) -> str:
    """Return a text as an id: lower case, with hyphens for all but letters and digits."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def inline_svg(svg: str, name: str) -> Markup:
    """Return an SVG for use inside HTML: without prolog, size and metadata, and with ids that start with ``name``."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    # A style sheet inside an inline SVG would apply to the whole page.
    svg = svg.replace("*{", f"#{name} *{{").replace("xlink:href", "href")
    root, rest = svg.split(">", 1)
    root = re.sub(r'\s(?:width|height|id|xmlns:xlink)="[^"]*"', "", root)
    return Markup(f'{root} id="{name}" role="img" aria-labelledby="{name}-caption">{rest}')


def script_json(value: Any) -> Markup:
    """Return JSON that can stand inside a script element whatever texts it holds; NaN and infinities are refused."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # No "<" is left, so that neither "</script" nor "<!--" can end or hide the element.
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def _untitled(text: str) -> list[Token]:
    tokens = _MARKDOWN.parse(text)
    return tokens[3:] if tokens and tokens[0].tag == "h1" else tokens


def _render(tokens: Sequence[Token]) -> Markup:
    return Markup(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))


def _within_page(tokens: Sequence[Token], prefix: str, figures: Mapping[str, str]) -> list[Token]:
    """Return tokens with the levels, ids and links of the page, and with figures for their images."""
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        if token.type in ("heading_open", "heading_close"):
            # The page has its own headings of the first and second level.
            token.tag = f"h{int(token.tag[1]) + 1}"
        if token.type == "heading_open" and following:
            token.attrSet("id", f"{prefix}-{slug(following.content)}")
        if token.children:
            token.children = list(_inline_within_page(token.children, prefix))
    return list(_with_figures(tokens, prefix, figures))


def _inline_within_page(tokens: Sequence[Token], prefix: str) -> Iterator[Token]:
    """Yield tokens without the links to other files, with links that lead within the page, and with ν_max set."""
    local = False
    for token in tokens:
        if token.type == "link_open":
            target = str(token.attrs["href"])
            local = not target.startswith(("#", "https:", "http:", "mailto:"))
            if target.startswith("#"):
                token.attrSet("href", f"#{prefix}-{target[1:]}")
        if token.type == "text":
            yield _raw("html_inline", escape(token.content).replace("ν_max", Markup("ν<sub>max</sub>")))
        elif not (local and token.type in ("link_open", "link_close")):
            yield token
        if token.type == "link_close":
            local = False


def _with_figures(tokens: Sequence[Token], prefix: str, figures: Mapping[str, str]) -> Iterator[Token]:
    """Yield tokens with a figure for each paragraph that is one of the images."""
    skipped = 0
    for token, following in zip(tokens, [*tokens[1:], None], strict=True):
        image = following.children[0] if following and following.children and len(following.children) == 1 else None
        path = str(image.attrs["src"]) if image and image.type == "image" else ""
        if token.type == "paragraph_open" and path in figures and image:
            name = f"{prefix}-{slug(path)}"
            drawn = Markup(_SCROLL).format("Figure") + inline_svg(figures[path], name) + Markup("</div>")
            caption = Markup('<figcaption id="{}-caption">{}</figcaption>').format(name, image.content)
            yield _raw("html_block", Markup("<figure>{}{}</figure>\n").format(drawn, caption))
            skipped = 3
        if skipped:
            skipped -= 1
        else:
            yield token


def _raw(kind: str, html: Markup) -> Token:
    return Token(kind, "", 0, content=str(html))


def _table(self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    opening = tokens[index].nesting == 1
    return f"{_SCROLL.format('Table')}\n<table>\n" if opening else "</table>\n</div>\n"


def _heading_of_column(
    self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    tokens[index].attrSet("scope", "col")
    return self.renderToken(tokens, index, options, env)


def _code(self: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType) -> str:
    if tokens[index].content.startswith(("y(", "u(")):
        tokens[index].attrSet("class", "term")
    return self.code_inline(tokens, index, options, env)


# Raw HTML and links with a scheme that runs code stay text.
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")
_MARKDOWN.add_render_rule("table_open", _table)
_MARKDOWN.add_render_rule("table_close", _table)
_MARKDOWN.add_render_rule("th_open", _heading_of_column)
_MARKDOWN.add_render_rule("code_inline", _code)
