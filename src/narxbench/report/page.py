"""The page: self-contained, with verdicts, published beside reproduced values, an explorer and statistics."""

import io
import math
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any
from urllib.parse import quote

import pandas as pd
import ruamel.yaml
from markupsafe import Markup
from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]

from narxbench.analysis.claims import Claim
from narxbench.analysis.published import EVALUATIONS, RUNS
from narxbench.report.explorer import explorer_data
from narxbench.report.formats import criterion_name, format_math, method_name, snr
from narxbench.report.markup import inline_svg, markdown_html, markdown_sections, script_json
from narxbench.report.table import Compared, Condition, Table, to_html
from narxbench.report.tables import CONDITION, VERDICTS, Frames, claim_verdicts, in_order, shared_criterion
from narxbench.report.templating import TEMPLATES, rendered

FIGURES = {
    "convergence": "Convergence: mean over the runs of the best fitness J so far at an SNR of {snr:g} dB; "
    "bands show the quartiles. The steep fall in the first 5 % of the evaluations is cut off. "
    "The panels follow the paper's figure 1; each system has its own axis.",
    "term_frequency": "Selection frequency of every candidate term at an SNR of {snr:g} dB (paper, figure 2, "
    "which leaves S4 out). Labels above the bars name the system terms.",
}

_MARKS = {True: ("yes", "✓"), False: ("no", "✗"), None: ("open", "?")}


@dataclass(frozen=True)
class Texts:
    """What the page shows of files: Markdown, BibTeX, and SVG by the path that the Markdown gives."""

    errata: str
    method: str
    interpretations: str
    interpretation_figures: Mapping[str, str]
    citation: str


def render_page(
    *,
    settings: Mapping[str, Any],
    frames: Frames,
    summaries: Sequence[Mapping[str, Any]],
    tables: Mapping[str, Table],
    figures: Mapping[str, str],
    claims: Sequence[Claim],
    texts: Texts,
    folder: str = "",
) -> str:
    """Return the page of a study, which says what of its conditions and of the published values is missing.

    Parameters
    ----------
    settings
        The settings of the study as plain data.
    frames
        All frames of the analysis.
    summaries
        The summaries of the conditions, for final models, versions and data.
    tables
        What `tables.paper_tables` returns for the same frames.
    figures
        The figures of the study as SVG, by name.
    claims
        What the claims say; their verdicts are in the frames.
    texts
        What the page shows of files.
    folder
        Where the folders ``tables`` and ``figures`` of the study are from the page: ``""`` or for example ``"paper/"``.
    """
    frames = {name: in_order(frame, settings) for name, frame in frames.items()}
    metrics, values = frames["metrics"], frames["agreement_values"]
    criterion = shared_criterion(settings)
    size = {"runs": len(settings["seeds"]), "evaluations": settings["evaluations"]}
    compared_systems = set(values.loc[values["method"] != "", "system"])
    here = metrics[metrics["criterion"] == criterion]
    page = {
        "study": settings["study"],
        "folder": folder,
        "interpretation": settings["interpretation"],
        "settings": _shown_settings(settings),
        **size,
        "published": {"runs": RUNS, "evaluations": EVALUATIONS},
        "as_published": size == {"runs": RUNS, "evaluations": EVALUATIONS},
        "claims": _claims(claims, frames["claims"]),
        "errata": markdown_sections(texts.errata, "erratum"),
        "coverage": coverage(values),
        "exact": here.groupby(["method", "system"])[["exact_runs", "runs"]].sum().to_dict("index"),
        "exact_methods": dict.fromkeys(here["method"]),
        "exact_systems": dict.fromkeys(here["system"]),
        "criterion": criterion_name(criterion),
        "tables": _tables(tables, compared_values(values), settings["study"], folder),
        "figures": [
            (name, inline_svg(svg, name), FIGURES[name].format(snr=settings["figures"]["snr_db"]))
            for name, svg in figures.items()
        ],
        "curves": {name: not frames[name].empty for name in ("run_length", "budget")},
        "missing": missing_conditions(settings, metrics),
        "unpublished": [name for name in dict.fromkeys(metrics["system"]) if name not in compared_systems],
        "run_counts": _run_counts(metrics),
        "method_text": markdown_html(texts.method, "method"),
        "interpretations": markdown_html(texts.interpretations, "interpretations", texts.interpretation_figures),
        "versions": versions_of(summaries),
        "digests": dict.fromkeys((each["system"], each["snr_db"], each["data_sha256"]) for each in summaries),
        "citation": texts.citation.strip().split("\n\n"),
        "data": script_json(explorer_data(frames, summaries, settings["statistics"])),
        "style": own_text("page.css"),
        "script": own_text("page.js"),
        # The one text that could end the element early; the tests see that it does not occur.
        "plotly": Markup(get_plotlyjs().replace("</script", "<\\/script")),
    }
    return rendered("page.html.j2", page, method_name=method_name, snr=snr)


def versions_of(summaries: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the versions that computed the conditions, and those of what draws the figures and charts."""
    found: dict[str, dict[str, None]] = {}
    for summary in summaries:
        for package, version in summary["versions"].items():
            found.setdefault(package, {})[version] = None
    drawing = {package: metadata.version(package) for package in ("matplotlib", "plotly")}
    return {package: ", ".join(versions) for package, versions in found.items()} | drawing


def compared_values(values: pd.DataFrame) -> dict[tuple[Condition, str], Compared]:
    """Return what stands beside each value of a condition, by the condition and the key of the value's column.

    ``values`` is the frame ``agreement_values``; where the paper prints a value twice, the first counts.
    """
    found: dict[tuple[Condition, str], Compared] = {}
    for row in values[values["method"] != ""].to_dict("records"):
        condition = Condition(*(row[key] for key in CONDITION))
        compared = Compared(*(row[key] for key in Compared._fields))
        found.setdefault((condition, row["label"] or row["metric"]), compared)
    return found


def distance(compared: Sequence[Compared]) -> str:
    """Return in one sentence how far reproduced values lie from published ones; "" without any."""
    if not compared:
        return ""
    mean = math.fsum(abs(each.difference) for each in compared) / len(compared)
    return (
        f"Distance from the published table: {mean:.3f} (mean absolute difference of {len(compared)} values); "
        f"{sum(each.consistent for each in compared)} of {len(compared)} consistent."
    )


def coverage(values: pd.DataFrame) -> dict[str, Any]:
    """Return how many published values there are, are compared, consistent and missing, and their mean difference."""
    first = values.drop_duplicates(["table", "system", "algorithm", "criterion", "snr_db", "metric", "label"])
    compared = first[first["method"] != ""]
    return {
        "published": len(first),
        "compared": len(compared),
        "missing": len(first) - len(compared),
        "consistent": int(compared["consistent"].sum()),
        "distance": math.fsum(compared["difference"].abs()) / max(len(compared), 1),
    }


def missing_conditions(settings: Mapping[str, Any], metrics: pd.DataFrame) -> list[str]:
    """Return the conditions of the study that have no results, by the names that readers know."""
    found = set(metrics[CONDITION].itertuples(index=False, name=None))
    return [
        f"{system}, {snr(snr_db)}, {method_name(name)}, {criterion_name(criterion)}"
        for system in settings["systems"]
        for snr_db in settings["snr_db"]
        for name, method in settings["methods"].items()
        for criterion in method["criteria"]
        if (system, snr_db, name, criterion) not in found
    ]


def _tables(
    tables: Mapping[str, Table], compared: Mapping[tuple[Condition, str], Compared], study: str, folder: str
) -> dict[str, Markup]:
    """Return the tables as HTML, with published values beside those of conditions, and their files."""
    shown = {}
    for name, table in tables.items():
        places = [(condition, column.key) for condition in table.conditions for column in table.columns]
        shown[name] = to_html(
            table,
            compared=compared,
            distance=distance([compared[place] for place in places if place in compared]),
            files=[(suffix, f"{folder}tables/{quote(name, safe='')}.{suffix}") for suffix in ("csv", "md", "tex")],
            command=f"snakemake {shlex.quote(f'reports/{study}/tables/{name}.csv')}",
        )
    return shown


def _claims(claims: Iterable[Claim], verdicts: pd.DataFrame) -> list[dict[str, Any]]:
    found = claim_verdicts(verdicts)

    def side(claim: Claim, name: str) -> dict[str, Any]:
        holds, evidence = found.get((claim.id, name), (None, "Not evaluated."))
        kind, mark = _MARKS[holds]
        return {"kind": kind, "mark": f"{mark} {VERDICTS[holds]}", "evidence": _math(evidence)}

    return [
        {
            "title": _math(claim.title),
            "quote": claim.quote,
            "source": claim.source,
            "predicate": _math(claim.predicate),
            "sides": [side(claim, name) for name in ("published", "here")],
        }
        for claim in claims
    ]


def _math(text: str) -> Markup:
    return Markup(format_math(text, "html"))


def _run_counts(metrics: pd.DataFrame) -> dict[str, tuple[int, int, int]]:
    """Return conditions, runs and evaluations of each method, and of all together."""
    rows = metrics.assign(spent=metrics["runs"] * metrics["evaluations"])
    parts = {"all methods": rows, **{method_name(name): part for name, part in rows.groupby("method", sort=False)}}
    return {name: (len(part), part["runs"].sum(), part["spent"].sum()) for name, part in parts.items()}


def _shown_settings(settings: Mapping[str, Any]) -> str:
    """Return settings as YAML; seeds from 1 to N as their number N."""
    seeds = settings["seeds"]
    counted = len(seeds) if seeds == list(range(1, len(seeds) + 1)) else seeds
    stream = io.StringIO()
    yaml = ruamel.yaml.YAML(typ="safe", pure=True)
    yaml.default_flow_style, yaml.sort_base_mapping_type_on_output = False, False  # type: ignore[assignment]
    yaml.dump({**settings, "seeds": counted}, stream)
    return stream.getvalue()


def own_text(name: str) -> Markup:
    """Return a style sheet or script of this project as it is."""
    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))
