"""Text from files as HTML: Markdown, SVG, and data for scripts."""

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup, escape

from narxbench._io.errors import NarxbenchError, printable, show
from narxbench._io.files import StrPath, read_text

_SECTION = ("heading_open", "h2")
# Control characters but tabs and line breaks, those that turn the direction of writing, and no characters.
_INVISIBLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufffe\uffff]")
_SCROLL = '<div class="scroll" role="group" aria-label="{}" tabindex="0">'


def markdown_html(
    text: str, prefix: str, figures: Mapping[str, str] | None = None, *, deeper: int = 1, files: str = ""
) -> Markup:
    """Return Markdown as HTML without its title. The id of a heading is ``prefix`` and its text.

    ``figures`` are SVG by the path of the image that each replaces. Headings are lower by ``deeper`` levels than in
    the text. Links to files become plain text unless the files are in the folder ``files`` of the page.
    """
    return _render(_within_page(_untitled(text), prefix, figures, deeper, files))


def markdown_sections(text: str, prefix: str) -> list[tuple[Markup, Markup]]:
    """Return the heading, without its number, and the body of every section of Markdown.

    Text before the first section is left out.
    """
    tokens = _untitled(text)
    starts = [index for index, token in enumerate(tokens) if (token.type, token.tag) == _SECTION]
    sections = []
    for start, end in pairwise([*starts, len(tokens)]):
        heading = tokens[start + 1]
        heading.children = _MARKDOWN.parseInline(re.sub(r"^\d+\. ", "", heading.content))[0].children
        sections.append((_render([heading]), _render(_within_page(tokens[start + 3 : end], prefix))))
    return sections


def markdown_headings(text: str, prefix: str) -> dict[str, Markup]:
    """Return the headings of the second level of Markdown by the ids that `markdown_html` gives them."""
    headings = {}
    for opening, heading in pairwise(_untitled(text)):
        if (opening.type, opening.tag) == _SECTION:
            headings[f"{prefix}-{slug(heading.content)}"] = _render([heading])
    return headings


def slug(text: str) -> str:
    """Return a text as an id: lower case, with hyphens for all but letters and digits."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def read_svg(path: StrPath) -> str:
    """Return the text of an SVG file. A file that is cut short or has unusual content raises NarxbenchError."""
    text = read_text(path)
    _drawing(text, path)
    return text


def inline_svg(svg: str, name: str) -> Markup:
    """Return an SVG for use inside HTML: without prolog, size and metadata, and with ids that start with ``name``.

    It may become as wide as a line of text, and no narrower than can be read. If it is made of other SVG, its panels,
    each panel takes a place where the page has room. An SVG that is drawn in per cent fits any width.
    """
    root = _drawing(svg, name)
    for element in root.iter():
        for key in element.attrib.keys() & {"id", "href", "clip-path"}:
            element.set(key, re.sub(r"^(url\(#|#|)", rf"\g<1>{name}-", element.attrib[key]))
    if len(root) > 0 and all(child.tag == "svg" for child in root):
        for panel in root:
            _remove_size(panel)
        root.tag, root.attrib = "div", {"class": "tiles"}
    else:
        _fit_to_page(root)
    root.attrib |= {"id": name, "role": "img", "aria-labelledby": f"{name}-caption"}
    return Markup(ET.tostring(root, encoding="unicode"))  # nosec B704 # from listed elements, escaped by the serialiser


def _fit_to_page(root: ET.Element) -> None:
    """Replace the size of an SVG by a style: a height if it is drawn in per cent, else the least and largest width."""
    height = root.get("height", "")
    is_fluid = height.isdecimal() and any(map(_has_per_cent, root))
    _remove_size(root)
    box = re.match(r"0 0 (\d+\.?\d*)", root.get("viewBox", ""))
    if is_fluid:
        # The height of the drawing, and the space around it.
        root.set("data-style", f"height:{int(height) + 14}px")
        root.attrib.pop("viewBox", None)
    elif box:
        points = float(box[1])
        root.set("data-style", f"min-width:{0.9 * points:.0f}px;max-width:{1.9 * points:.0f}px")


def _has_per_cent(element: ET.Element) -> bool:
    return any(value.endswith("%") for value in element.attrib.values())


def _remove_size(element: ET.Element) -> None:
    for key in ("x", "y", "width", "height"):
        element.attrib.pop(key, None)


def visible(text: str) -> str:
    r"""Return text with control characters, and those that turn the direction of writing, shown as ``\uXXXX``.

    Line breaks and tabs stay, as do letters that are written from right to left.
    """
    return _INVISIBLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def script_json(value: Any) -> Markup:
    """Return JSON that is safe inside a script element whatever texts it holds. NaN and infinities are refused."""
    text = json.dumps(_visible_texts(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    # Without "<", neither "</script" nor "<!--" can end or hide the element.
    text = text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    return Markup(text)  # nosec B704 # no "<" is left


def _visible_texts(value: Any) -> Any:
    """Return plain data in which every text is visible."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return dict(zip(map(_visible_texts, value), map(_visible_texts, value.values()), strict=True))
    if isinstance(value, list | tuple):
        return list(map(_visible_texts, value))
    return value


_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
# The elements and attributes in the figures of this project, by matplotlib and of a comparison. Any other is refused
# and not repaired: the step that made the figure can make it again.
_ELEMENTS = ("svg", "g", "defs", "clipPath", "path", "rect", "line", "use", "text", "tspan")
_ATTRIBUTES = (
    *("clip-path", "d", "height", "href", "id", "preserveAspectRatio", "transform", "version", "viewBox", "width"),
    *("x", "x1", "x2", "y", "y1", "y2"),
    *("fill", "fill-opacity", "fill-rule", "opacity", "stroke", "stroke-dasharray", "stroke-dashoffset"),
    *("stroke-linecap", "stroke-linejoin", "stroke-miterlimit", "stroke-opacity", "stroke-width"),
    *("font-family", "font-size", "font-style", "font-weight", "text-anchor", "vector-effect"),
)
# Besides words and numbers a value may have transformations, and addresses within the drawing.
_FUNCTION = re.compile(r"url\(#[\w.-]+\)|(?:translate|scale|rotate|matrix|skewX|skewY)\([-+\d.,e\s]*\)")
_WORDS = re.compile(r"[\w\s.,#%'+-]*")
# The style sheet that matplotlib gives every drawing; site.css has the same.
_OF_MATPLOTLIB = "*{stroke-linejoin: round; stroke-linecap: butt}"


def _drawing(text: str, place: StrPath) -> ET.Element:
    """Return an SVG as elements without namespaces and with attributes instead of styles.

    An SVG that no figure of this project is like raises NarxbenchError.
    """
    try:
        root = ET.fromstring(text)  # nosec B314 # Expat bounds entities, and only listed elements pass
        if root.tag != f"{_SVG}svg":
            raise _not_drawn(place, f"the root {root.tag}", "svg")
        _check(root, place)
    except (ET.ParseError, RecursionError) as error:
        raise NarxbenchError(f"{place}: not a whole SVG: {error}; delete it and run again") from None
    return root


def _check(element: ET.Element, place: StrPath) -> None:
    """Check an element of an SVG and its children, and remove metadata and the style sheet of matplotlib."""
    element.tag = element.tag.removeprefix(_SVG)
    if element.tag not in _ELEMENTS:
        raise _not_drawn(place, f"the element {element.tag}", ", ".join(_ELEMENTS))
    element.attrib = _attributes(element)
    for key, value in element.items():
        if key not in _ATTRIBUTES:
            raise _not_drawn(place, f"the attribute {key}", ", ".join(_ATTRIBUTES))
        leads_out = key == "href" and not value.startswith("#")
        if leads_out or not _WORDS.fullmatch(_FUNCTION.sub("", value)):
            attribute = f"{key} {show(value, kind=False)}"
            raise _not_drawn(place, attribute, "numbers, words, and # before a name in the file")
    for child in list(element):
        if _is_superfluous(child):
            element.remove(child)
        else:
            _check(child, place)


def _attributes(element: ET.Element) -> dict[str, str]:
    """Return the attributes of an element, those in its style too."""
    attributes = {}
    for key, value in element.items():
        if key != "style":
            attributes[key.removeprefix(_XLINK)] = value
    for declaration in element.get("style", "").split(";"):
        if declaration.strip():
            key, _, value = declaration.partition(":")
            attributes[key.strip()] = value.strip()
    return attributes


def _is_superfluous(element: ET.Element) -> bool:
    """Return whether an element is metadata, or the style sheet that matplotlib gives every drawing."""
    if element.tag == f"{_SVG}style":
        return (element.text or "").strip() == _OF_MATPLOTLIB
    return bool(element.tag == f"{_SVG}metadata")


def _not_drawn(place: StrPath, found: str, allowed: str) -> NarxbenchError:
    return NarxbenchError(f"{place}: found {printable(found)}; allowed: {allowed}; delete it and run again")


# Raw HTML and links with a scheme that runs code stay text.
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable("table")


def _untitled(text: str) -> list[Token]:
    """Return the tokens of Markdown after its title."""
    tokens = _MARKDOWN.parse(text)
    return tokens[3:] if tokens and tokens[0].tag == "h1" else tokens


def _render(tokens: Iterable[Token]) -> Markup:
    return Markup(_MARKDOWN.renderer.render(list(tokens), _MARKDOWN.options, {}))  # nosec B704 # raw HTML stays text


def _within_page(
    tokens: Sequence[Token], prefix: str, figures: Mapping[str, str] | None = None, deeper: int = 1, files: str = ""
) -> Iterator[Token]:
    """Yield tokens with the levels, ids and links of the page, and with figures instead of the images they replace."""
    n_skipped = 0
    for token, following in pairwise([*tokens, Token("", "", 0)]):
        figure = ""
        if token.type == "paragraph_open":
            figure = _figure(following.children or [], prefix, figures or {})
        if figure:
            yield _raw("html_block", figure)
            # The figure takes the place of the paragraph: its opening, its image and its end.
            n_skipped = 3
        if n_skipped:
            n_skipped -= 1
            continue
        _adapt(token, following, prefix, deeper)
        if token.type == "table_open":
            yield _raw("html_block", _SCROLL.format("Table") + "\n")
        token.children = token.children and list(_inline_within_page(token.children, prefix, files))
        yield token
        if token.type == "table_close":
            yield _raw("html_block", "</div>\n")


def _adapt(token: Token, following: Token, prefix: str, deeper: int) -> None:
    """Give a heading the level and the id that it has on the page, and the cells of tables their attributes."""
    if token.type in ("heading_open", "heading_close"):
        token.tag = f"h{int(token.tag[1]) + deeper}"
    if token.type == "heading_open":
        token.attrSet("id", f"{prefix}-{slug(following.content)}")
    if token.type in ("th_open", "td_open") and "style" in token.attrs:
        token.attrs["data-style"] = token.attrs.pop("style")
    if token.type == "th_open":
        token.attrSet("scope", "col")


def _inline_within_page(tokens: Sequence[Token], prefix: str, files: str) -> Iterator[Token]:
    """Yield tokens with links that lead within the page, without links to other files, and with terms marked."""
    is_linked = True
    for token in tokens:
        if token.type == "link_open":
            target = str(token.attrs["href"])
            is_linked = target.startswith(("#", "https:", "http:", "mailto:", *filter(None, [files])))
            token.attrSet("href", re.sub("^#", f"#{prefix}-", target))
        elif token.type == "code_inline" and token.content.startswith(("y(", "u(")):
            token.attrSet("class", "term")
        # Any other picture would have to be loaded, so its text is shown instead.
        if token.type in ("text", "image"):
            yield _raw("html_inline", _subscripted(token.content))
        elif is_linked or token.type not in ("link_open", "link_close"):
            yield token


def _subscripted(text: str) -> Markup:
    """Return a text with ν_max set with an index and any other markup escaped."""
    html = re.sub("ν(?:_max|&lt;sub&gt;max&lt;/sub&gt;)", "ν<sub>max</sub>", escape(text))
    return Markup(html)  # nosec B704 # escaped


def _figure(inline: Sequence[Token], prefix: str, figures: Mapping[str, str]) -> str:
    """Return the figure that replaces the only image of a paragraph, or an empty text for other paragraphs."""
    if len(inline) != 1 or inline[0].type != "image":
        return ""
    path = str(inline[0].attrs["src"])
    if path not in figures:
        return ""
    name = f"{prefix}-{slug(path)}"
    caption = f'<figcaption id="{name}-caption">{_subscripted(inline[0].content)}</figcaption>'
    return f"<figure>{_SCROLL.format('Figure')}{inline_svg(figures[path], name)}</div>{caption}</figure>\n"


def _raw(kind: str, html: str) -> Token:
    return Token(kind, "", 0, content=str(html))
