"""The report: one self-contained page of HTML with every table beside the published values, and every figure."""

import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import jinja2
import yaml
from markupsafe import Markup, escape

from narxbench import compare, tables
from narxbench.published import EVALUATIONS, RUNS, Published
from narxbench.tables import Cell, CellName, Table

if TYPE_CHECKING:
    from narxbench.systems import System

FIGURES = {
    "convergence": "Convergence: mean over the runs of the best fitness J so far at an SNR of {snr:g} dB; "
    "bands show the quartiles. The steep fall in the first 5 % of the evaluations is cut off. "
    "The panels follow the paper's figure 1; each system has its own axis.",
    "term_frequency": "Selection frequency of every candidate term at an SNR of {snr:g} dB (paper, figure 2, "
    "which leaves S4 out). Labels above the bars name the system terms.",
}

_Key = tuple[CellName, str]


@dataclass(frozen=True)
class TableCell:
    """A cell of a table as the page shows it; ``verdict`` is consistent, differs or "" without a published value."""

    html: Markup
    rowspan: int = 1
    published: str = ""
    verdict: str = ""
    hint: str = ""


@dataclass(frozen=True)
class TableView:
    """A table prepared for the template; ``heads`` holds (text, number of columns, number of rows) by heading row."""

    name: str
    caption: str
    heads: list[list[tuple[Markup, int, int]]]
    rows: list[list[TableCell | None]]
    notes: list[Markup]
    stub: int
    files: list[tuple[str, str]]
    command: str


def render_report(
    *,
    config: Mapping[str, Any],
    cells: Sequence[Cell],
    systems: Sequence["System"],
    published: Published,
    figures: Mapping[str, str],
    errata: str,
    versions: Mapping[str, str],
) -> str:
    """Return the page; ``config`` is the validated configuration as plain data.

    ``figures`` maps names to SVG, ``errata`` is Markdown, ``versions`` maps packages to versions.

    The page says which cells of the configured matrix are missing and which systems have no published values.
    """
    comparisons = compare.compare(published, cells)
    beside: dict[_Key, compare.Comparison] = {}
    for row in comparisons:
        place = row.place
        cell = (place.system, row.search, place.criterion, float(place.snr_db))
        beside.setdefault((cell, place.label or place.metric), row)
    names = list(dict.fromkeys(cell["system"] for cell in cells))
    criterion = tables.shared_criterion({name: search["criteria"] for name, search in config["searches"].items()})
    runs, evaluations = len(config["seeds"]), config["evaluations"]
    fitness = [_view(tables.fitness_table(name, cells, published), beside) for name in names]
    compared = [_view(tables.comparison_table(name, cells, published, criterion), beside) for name in names]
    compared_systems = {row.place.system for row in comparisons if row.search}
    page = {
        "agreement": _view(compare.agreement_table(compare.agreement(comparisons)), {}),
        "settings_tables": [
            _view(tables.systems_table(systems), {}),
            _view(tables.settings_table(config["searches"], runs, evaluations), {}),
        ],
        "fitness": fitness,
        "comparison": compared,
        "spurious": _view(tables.spurious_table(cells, criterion), beside, has_files=False),
        "criterion": tables.criterion_name(criterion),
        "figures": [
            (name, inline_svg(svg, name), FIGURES[name].format(snr=config["figures"]["snr_db"]))
            for name, svg in figures.items()
        ],
        "missing": _missing(config, cells),
        "missing_published": sum(not row.search for row in comparisons),
        "published_values": len(published.values),
        "unpublished": [name for name in names if name not in compared_systems],
        "runs": runs,
        "evaluations": evaluations,
        "as_published": (runs, evaluations) == (RUNS, EVALUATIONS),
        "published_runs": RUNS,
        "published_evaluations": EVALUATIONS,
        "settings": _settings(config),
        "errata": errata_html(errata),
        "versions": versions,
        "digests": list(dict.fromkeys((cell["system"], cell["snr_db"], cell["data_sha256"]) for cell in cells)),
    }
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template("report.html.j2").render(page)


def versions_of(cells: Iterable[Cell]) -> dict[str, str]:
    """Return the versions that computed the cells, and the version of matplotlib that draws the figures."""
    found: dict[str, dict[str, None]] = {}
    for cell in cells:
        for package, version in cell["versions"].items():
            found.setdefault(package, {})[version] = None
    return {package: ", ".join(versions) for package, versions in found.items()} | {
        "matplotlib": metadata.version("matplotlib")
    }


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


def errata_html(markdown: str) -> Markup:
    """Return Markdown as HTML without its title; only headings, paragraphs, code and emphasis are known."""
    parts = []
    for block in re.split(r"\n\s*\n", markdown.strip()):
        if block.startswith("## "):
            parts.append(f"<h3>{_inline(block[3:])}</h3>")
        elif not block.startswith("# "):
            parts.append(f"<p>{_inline(block)}</p>")
    return Markup("\n".join(parts))


def _inline(text: str) -> str:
    # Every second part stands between backticks, where nothing else is marked up.
    parts = str(escape(text.replace("\n", " "))).split("`")
    for index, part in enumerate(parts):
        if index % 2:
            kind = ' class="term"' if part.startswith(("y(", "u(")) else ""
            parts[index] = f"<code{kind}>{part}</code>"
        else:
            parts[index] = re.sub(r"\*([^*]+)\*", r"<em>\1</em>", part).replace("ν_max", "ν<sub>max</sub>")
    return "".join(parts)


def _settings(config: Mapping[str, Any]) -> str:
    seeds = config["seeds"]
    shown = {**config, "seeds": len(seeds) if seeds == list(range(1, len(seeds) + 1)) else seeds}
    return str(yaml.safe_dump(shown, sort_keys=False, allow_unicode=True))


def _missing(config: Mapping[str, Any], cells: Iterable[Cell]) -> list[str]:
    found = {(cell["system"], cell["snr_db"], cell["search"], cell["criterion"]) for cell in cells}
    return [
        f"{system}, {snr:g} dB, {tables.search_name(search)}, {tables.criterion_name(criterion)}"
        for system in config["systems"]
        for snr in config["snr_db"]
        for search, settings in config["searches"].items()
        for criterion in settings["criteria"]
        if (system, snr, search, criterion) not in found
    ]


def _view(table: Table, beside: Mapping[_Key, compare.Comparison], *, has_files: bool = True) -> TableView:
    rows: list[list[TableCell | None]] = []
    for number, (values, span) in enumerate(zip(table.rows, tables.merged_spans(table), strict=True)):
        row: list[TableCell | None] = []
        for index, text in enumerate(tables.show_row(table, values, "html")):
            if index < table.merged:
                row.append(TableCell(Markup(text), span[index]) if span[index] else None)
            else:
                found = beside.get((table.cells[number], table.columns[index].key)) if table.cells else None
                row.append(_cell(Markup(text), found))
        rows.append(row)
    file = f"tables/{quote(table.name)}"
    return TableView(
        name=re.sub(r"[^\w-]", "-", table.name),
        caption=table.caption,
        heads=_heads(table),
        rows=rows,
        notes=[Markup(tables.rich(note, "html")) for note in table.notes],
        stub=table.stub,
        files=[(kind, f"{file}.{kind}") for kind in ("csv", "md", "tex")] if has_files else [],
        command=f"snakemake {shlex.quote(f'reports/tables/{table.name}.csv')}" if has_files else "",
    )


def _cell(html: Markup, found: compare.Comparison | None) -> TableCell:
    if found is None:
        return TableCell(html)
    test = "" if found.p_value is None else f", Fisher's exact test p = {found.p_value:.2g}"
    hint = f"reproduced {found.reproduced:.4g} ({found.low:.2g} to {found.high:.2g}){test}"
    verdict = "consistent" if found.consistent else "differs"
    return TableCell(html, published=tables.rounded(found.published), verdict=verdict, hint=hint)


def _heads(table: Table) -> list[list[tuple[Markup, int, int]]]:
    headings = [Markup(tables.rich(column.heading, "html")) for column in table.columns]
    if not any(column.group for column in table.columns):
        return [[(heading, 1, 1) for heading in headings]]
    top: list[tuple[Markup, int, int]] = []
    for first, span, group in tables.groups(table.columns):
        if group:
            top.append((Markup(tables.rich(group, "html")), span, 1))
        else:
            top += [(heading, 1, 2) for heading in headings[first : first + span]]
    return [top, [(heading, 1, 1) for heading, column in zip(headings, table.columns, strict=True) if column.group]]
