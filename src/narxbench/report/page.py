"""The page: self-contained, with verdicts, published beside reproduced values, an explorer and statistics."""

import io
import math
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd
import ruamel.yaml
from markupsafe import Markup
from plotly.offline import get_plotlyjs  # type: ignore[import-untyped]

from narxbench.analysis.claims import Claim, load_claims
from narxbench.analysis.frames import load_summaries, read_frames
from narxbench.analysis.published import EVALUATIONS, RUNS
from narxbench.io.files import read_text
from narxbench.model.system import System, load_system
from narxbench.report.explorer import explorer_data
from narxbench.report.formats import criterion_name, method_name, snr
from narxbench.report.markup import inline_svg, markdown_html, markdown_sections, script_json
from narxbench.report.table import Comparisons, condition_of, to_html
from narxbench.report.tables import CONDITION, Frames, claim_verdicts, in_order, paper_tables, shared_criterion
from narxbench.report.templating import rendered


def study_page(files: Mapping[str, Any], settings: Mapping[str, Any], folder: str) -> str:
    """Return the page of a study from its files.

    Parameters
    ----------
    files : mapping
        Paths by name, as :meth:`narxbench.pipeline.plan.Plan.page_files` returns them.
    settings : mapping
        The settings of the study as plain data.
    folder : str
        Where the files of the study are from the page: ``""``, or a folder that ends with ``/``.
    """
    drawn = map(Path, files["document_figures"])
    document, figures = read_text(files["document"]), {f"{p.parent.name}/{p.name}": read_text(p) for p in drawn}
    interpretations = markdown_html(document, "interpretations", figures)
    if settings["page"] == "interpretations":
        title = document.split("\n", 1)[0].removeprefix("# ")
        return rendered("document.html.j2", {"title": title, "study": settings["study"], "body": interpretations})
    return render_page(
        settings=settings,
        frames=read_frames(files),
        summaries=load_summaries(files["summaries"]),
        systems=[load_system(Path(path).stem) for path in files["system_files"]],
        figures={Path(path).stem: read_text(path) for path in files["svg"]},
        claims=load_claims(files["claim_texts"]),
        texts={name: read_text(files[name]) for name in ("errata", "method", "citation", "answer")},
        interpretations=interpretations,
        folder=folder,
    )


def render_page(
    *,
    settings: Mapping[str, Any],
    frames: Frames,
    summaries: Sequence[Mapping[str, Any]],
    systems: Iterable[System],
    figures: Mapping[str, str],
    claims: Sequence[Claim],
    texts: Mapping[str, str],
    interpretations: Markup,
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
    systems
        The systems of the study.
    figures
        The figures of the study as SVG, by name.
    claims
        What the claims say; their verdicts are in the frames.
    texts
        ``errata``, ``method`` and ``answer`` (which method to use) as Markdown, ``citation`` as BibTeX.
    interpretations
        The document on the interpretations.
    folder
        Where the folders ``tables`` and ``figures`` of the study are from the page: ``""`` or for example ``"paper/"``.
    """
    ordered = {name: in_order(frame, settings) for name, frame in frames.items()}
    metrics, values = ordered["metrics"], ordered["agreement_values"]
    compared, here = values[values["method"] != ""], metrics[metrics["criterion"] == shared_criterion(settings)]
    verdicts, beside = claim_verdicts(frames["claims"]), compared_values(values)
    page = {
        "folder": folder,
        "settings": settings,
        "shown_settings": _shown_settings(settings),
        "published": {"runs": RUNS, "evaluations": EVALUATIONS},
        "claims": [(claim, [verdicts[claim.id, side] for side in ("published", "here")]) for claim in claims],
        "errata": markdown_sections(texts["errata"], "erratum"),
        "coverage": coverage(values),
        "exact": here.groupby(["method", "system"], sort=False)[["exact_runs", "runs"]].sum().to_dict("index"),
        "criterion": criterion_name(shared_criterion(settings)),
        "tables": {
            name: to_html(table, beside, study=settings["study"], folder=folder)
            for name, table in paper_tables(frames, settings, systems, claims).items()
        },
        "figures": {name: inline_svg(svg, name) for name, svg in figures.items()},
        "curves": {name: not ordered[name].empty for name in ("run_length", "budget")},
        "missing": missing_conditions(settings, metrics),
        "unpublished": dict.fromkeys(metrics["system"][~metrics["system"].isin(compared["system"])]),
        "run_counts": _run_counts(metrics),
        "method_text": markdown_html(texts["method"], "method"),
        "answer": markdown_html(texts["answer"], "answer"),
        "interpretations": interpretations,
        "versions": versions_of(summaries),
        "digests": dict.fromkeys((each["system"], each["snr_db"], each["data_sha256"]) for each in summaries),
        "citation": texts["citation"].strip().split("\n\n"),
        "data": script_json(explorer_data(ordered, summaries, settings["statistics"])),
        # The one text that could end the element early; the tests see that it does not occur.
        "plotly": Markup(get_plotlyjs().replace("</script", "<\\/script")),
    }
    return rendered("page.html.j2", page)


def versions_of(summaries: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the versions that computed the conditions, and those of what draws the figures and charts."""
    found = list(dict.fromkeys(pair for summary in summaries for pair in summary["versions"].items()))
    drawing = {package: metadata.version(package) for package in ("matplotlib", "plotly")}
    return {name: ", ".join(version for of, version in found if of == name) for name, _ in found} | drawing


def compared_values(values: pd.DataFrame) -> Comparisons:
    """Return what stands beside each value of a condition, by the condition and the key of the value's column.

    ``values`` is the frame ``agreement_values``; where the paper prints a value twice, the first counts.
    """
    rows = values[values["method"] != ""].to_dict("records")
    return {(condition_of(row), row["label"] or row["metric"]): row for row in reversed(rows)}


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
        for system, snr_db, name in product(*(settings[key] for key in ("systems", "snr_db", "methods")))
        for criterion in settings["methods"][name]["criteria"]
        if (system, snr_db, name, criterion) not in found
    ]


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
