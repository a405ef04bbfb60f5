"""Draw which package of narxbench imports which: python docs/draw_imports.py writes docs/images/imports.svg.

Drawn from the imports as they stand in the source, in the order of the layers in pyproject.toml; a test checks that the
kept picture is current.
"""

import tomllib
from html import escape
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs/images/imports.svg"
ROW, LEFT, NAMES, CELL = 58, 110, 490, 82
STYLE = """
text { font-family: sans-serif; font-size: 13px; fill: #222 }
.package { font-weight: bold }
.module { font-size: 12px; fill: #555 }
.column { font-size: 12px; text-anchor: middle }
.count { text-anchor: middle; fill: #fff }
.row { fill: #f3f5f7 }
.self { fill: #c3ccd6 }
.import { fill: #2a6f97 }
.upwards { fill: #c0392b }
"""


def layers() -> list[str]:
    """Return the packages, highest first, as the contract of import-linter lists them; no former paths."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (contract,) = [contract for contract in settings["contracts"] if contract["id"] == "layers"]
    return [name for name in contract["layers"] if ":" not in name]


def picture() -> str:
    """Return the picture as SVG: a row for each package, its modules, and how many imports it has of each other one."""
    graph = grimp.build_graph("narxbench", cache_dir=None)
    packages = layers()
    modules: dict[str, list[str]] = {name: [] for name in packages}
    counts = {(a, b): 0 for a in packages for b in packages}
    for module in sorted(graph.modules):
        parts = module.split(".")
        if len(parts) == 3 and parts[1] in modules:
            modules[parts[1]].append(parts[2])
        for imported in graph.find_modules_directly_imported_by(module) if len(parts) > 2 else ():
            pair = (parts[1], imported.split(".")[1] if "." in imported else "")
            if pair in counts:
                counts[pair] += 1
    top = 34
    width, height = LEFT + NAMES + CELL * len(packages) + 10, top + ROW * len(packages) + 10
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'role="img">',
        "<title>Imports between the packages of narxbench</title>",
        "<desc>Rows import columns; numbers count the imports. All are on one side of the diagonal: downwards.</desc>",
        f"<style>{STYLE}</style>",
    ]
    for column, name in enumerate(packages):
        parts.append(_text("column", LEFT + NAMES + CELL * (column + 0.5), top - 12, name))
    for row, name in enumerate(packages):
        y = top + ROW * row
        middle = y + ROW / 2 + 2
        parts.append(f'<rect class="row" x="0" y="{y}" width="{width}" height="{ROW - 4}"/>')
        parts.append(_text("package", 10, middle, name))
        lines = _lines(modules[name], 74)
        for index, line in enumerate(lines):
            parts.append(_text("module", LEFT, middle + 16 * index - 8 * (len(lines) - 1), line))
        for column, other in enumerate(packages):
            count, x = counts[name, other], LEFT + NAMES + CELL * column
            kind = "self" if name == other else "import" if row < column else "upwards"
            if name == other or count:
                parts.append(
                    f'<rect class="{kind}" x="{x + 4}" y="{y + 5}" width="{CELL - 8}" height="{ROW - 14}" rx="4"/>'
                )
            if name != other and count:
                parts.append(_text("count", x + CELL / 2, middle, str(count)))
    return "\n".join([*parts, "</svg>", ""])


def _text(kind: str, x: float, y: float, text: str) -> str:
    return f'<text class="{kind}" x="{x:g}" y="{y:g}">{escape(text)}</text>'


def _lines(words: list[str], width: int) -> list[str]:
    """Join words to lines of at most ``width`` characters."""
    lines = [""]
    for word in words:
        if len(lines[-1]) + len(word) + 3 > width:
            lines.append("")
        lines[-1] += (" · " if lines[-1] else "") + word
    return lines


if __name__ == "__main__":
    PICTURE.parent.mkdir(exist_ok=True)
    PICTURE.write_text(picture(), encoding="utf-8")
