"""The report: one self-contained page with verdicts, published beside reproduced values, an explorer and statistics."""

from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from typing import TYPE_CHECKING, Any

import yaml
from markupsafe import Markup
from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]

from narxbench import compare, tables
from narxbench.analysis.published import EVALUATIONS, RUNS, Published
from narxbench.report.explorer import explorer_data
from narxbench.report.markup import bibtex, inline_svg, markdown_html, markdown_sections, script_json
from narxbench.report.table_views import beside_cells, coverage, statistics_tables, table_view
from narxbench.report.tables import Cell
from narxbench.report.templating import TEMPLATES, rendered

if TYPE_CHECKING:
    from narxbench.model.system import System

FIGURES = {
    "convergence": "Convergence: mean over the runs of the best fitness J so far at an SNR of {snr:g} dB; "
    "bands show the quartiles. The steep fall in the first 5 % of the evaluations is cut off. "
    "The panels follow the paper's figure 1; each system has its own axis.",
    "term_frequency": "Selection frequency of every candidate term at an SNR of {snr:g} dB (paper, figure 2, "
    "which leaves S4 out). Labels above the bars name the system terms.",
}

_VERDICTS = {True: ("yes", "✓ holds"), False: ("no", "✗ does not hold"), None: ("open", "? cannot be judged")}


def render_report(
    *,
    config: Mapping[str, Any],
    cells: Sequence[Cell],
    systems: Sequence["System"],
    published: Published,
    figures: Mapping[str, str],
    errata: str,
    method: str,
    fidelity: str,
    fidelity_figures: Mapping[str, str],
    citation: Mapping[str, Any],
    claims: Mapping[str, Any],
    statistics: Mapping[str, Any],
    versions: Mapping[str, str],
) -> str:
    """Return the page; ``config`` is the validated configuration as plain data.

    ``figures`` maps names to SVG, ``errata``, ``method`` and ``fidelity`` are Markdown, ``fidelity_figures`` maps the
    paths of the images in the latter to their SVG, ``citation`` is the content of CITATION.cff,
    ``claims`` and ``statistics`` those of ``reports/claims.json`` and ``reports/statistics.json``, ``versions`` maps
    packages to versions. The page says what of the configured matrix and of the published values is missing.
    """
    comparisons = compare.compare(published, cells)
    beside = beside_cells(comparisons)
    names = list(dict.fromkeys(cell["system"] for cell in cells))
    criterion = tables.shared_criterion({name: search["criteria"] for name, search in config["searches"].items()})
    runs, evaluations = len(config["seeds"]), config["evaluations"]
    compared_systems = {row.place.system for row in comparisons if row.search}
    known_claims = _claims(claims)
    exact = _exact(cells, criterion)
    page = {
        "claims": known_claims,
        "claim_counts": _claim_counts(known_claims),
        "errata": markdown_sections(errata, "erratum"),
        "coverage": coverage(published, comparisons),
        "exact": exact,
        "exact_searches": list(dict.fromkeys(name for counts in exact.values() for name in counts)),
        "agreement": table_view(compare.agreement_table(compare.agreement(comparisons))),
        "fitness": [table_view(tables.fitness_table(name, cells, published), beside) for name in names],
        "comparison": [
            table_view(tables.comparison_table(name, cells, published, criterion), beside) for name in names
        ],
        "spurious": table_view(tables.spurious_table(cells, criterion), beside, forms=()),
        "criterion": tables.criterion_name(criterion),
        "figures": [
            (name, inline_svg(svg, name), FIGURES[name].format(snr=config["figures"]["snr_db"]))
            for name, svg in figures.items()
        ],
        "statistics": statistics_tables(statistics),
        "curves": {part: bool(statistics.get(part)) for part in ("run_length", "budget")},
        "missing": _missing(config, cells),
        "unpublished": [name for name in names if name not in compared_systems],
        "runs": runs,
        "evaluations": evaluations,
        "as_published": (runs, evaluations) == (RUNS, EVALUATIONS),
        "published_runs": RUNS,
        "published_evaluations": EVALUATIONS,
        "settings_tables": [
            table_view(tables.systems_table(systems)),
            table_view(tables.settings_table(config["searches"], runs, evaluations)),
        ],
        "run_counts": _run_counts(cells),
        "settings": _settings(config),
        "method": markdown_html(method, "method"),
        "fidelity": markdown_html(fidelity, "readings", fidelity_figures),
        "reading": config["reading"],
        "versions": versions,
        "digests": list(dict.fromkeys((cell["system"], cell["snr_db"], cell["data_sha256"]) for cell in cells)),
        "bibtex": bibtex(citation),
        "version": citation["version"],
        "data": script_json(explorer_data(cells, published, statistics)),
        "style": _own("report.css"),
        "script": _own("report.js"),
        "plotly": _plotly(),
    }
    return rendered("report.html.j2", page)


def versions_of(cells: Iterable[Cell]) -> dict[str, str]:
    """Return the versions that computed the cells, and those of what draws the figures and charts."""
    found: dict[str, dict[str, None]] = {}
    for cell in cells:
        for package, version in cell["versions"].items():
            found.setdefault(package, {})[version] = None
    drawing = {package: metadata.version(package) for package in ("matplotlib", "plotly")}
    return {package: ", ".join(versions) for package, versions in found.items()} | drawing


def _own(name: str) -> Markup:
    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


def _plotly() -> Markup:
    # The one text that could end the element early; the tests see that it does not occur.
    return Markup(get_plotlyjs().replace("</script", "<\\/script"))


def _claims(claims: Mapping[str, Any]) -> list[dict[str, Any]]:
    sides = ("published", "here")
    return [
        {
            "title": _rich(claim["title"]),
            "quote": claim["quote"],
            "source": claim["source"],
            "predicate": _rich(claim["predicate"]),
            "sides": [_side(claim, side) for side in sides],
        }
        for claim in claims.get("claims", [])
    ]


def _rich(text: str) -> Markup:
    return Markup(tables.rich(text, "html"))


def _side(claim: Mapping[str, Any], side: str) -> dict[str, Any]:
    found = claim.get(side) or {"holds": None, "evidence": "Not evaluated."}
    kind, mark = _VERDICTS[found["holds"]]
    return {"kind": kind, "mark": mark, "evidence": _rich(found["evidence"])}


def _claim_counts(claims: Sequence[Mapping[str, Any]]) -> list[dict[str, int]]:
    return [
        {kind: sum(claim["sides"][side]["kind"] == kind for claim in claims) for kind in ("yes", "no", "open")}
        for side in (0, 1)
    ]


def _exact(cells: Sequence[Cell], criterion: str) -> dict[str, dict[str, list[int]]]:
    """Return for each system and search the runs at all SNRs that end at exactly the system's terms."""
    found: dict[str, dict[str, list[int]]] = {}
    for cell in cells:
        if cell["criterion"] == criterion:
            counts = found.setdefault(cell["system"], {}).setdefault(tables.search_name(cell["search"]), [0, 0])
            counts[0] += cell["exact_runs"]
            counts[1] += cell["runs"]
    return found


def _run_counts(cells: Iterable[Cell]) -> dict[str, list[int]]:
    """Return cells, runs and evaluations of each search, and of all together."""
    found: dict[str, list[int]] = {}
    for cell in cells:
        for name in ("all searches", tables.search_name(cell["search"])):
            sums = found.setdefault(name, [0, 0, 0])
            for index, number in enumerate((1, cell["runs"], cell["runs"] * cell["evaluations"])):
                sums[index] += number
    return found


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
