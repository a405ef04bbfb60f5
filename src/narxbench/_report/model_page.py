"""The page of a model of measured data, and the files next to it.

The page has in this order: the equation, its errors, the answers on its use, the certainty of each term, the choice of
the model, and its code. Everything else is in files.
"""

from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from narxbench._identification.phrases import capital, prediction_kind
from narxbench._identification.result import Identification
from narxbench._identification.validation.answers import ANSWERS
from narxbench._io.csv import write_table
from narxbench._io.errors import NarxbenchError, printable
from narxbench._io.files import StrPath, canonical_json, write_folder
from narxbench._model.narx import Model, model_text
from narxbench._numerics.rounding import significant
from narxbench._report import model_figures as drawn
from narxbench._report.findings import further_warnings, worse_sentences
from narxbench._report.formats import format_equation
from narxbench._report.marked_findings import MARKS, worded
from narxbench._report.markup import inline_svg, script_json
from narxbench._report.model_fits import ShownFit, shown_fits
from narxbench._report.model_tables import model_tables
from narxbench._report.templating import rendered, to_html

_EXPORTS = {
    "c": ("model.c", "C"),
    "python": ("model.py", "Python"),
    "matlab": ("model.m", "MATLAB and Octave"),
    "sysidentpy": ("model_sysidentpy.py", "SysIdentPy"),
}
# The files next to the page, and what they have.
_FILES = {
    "model.json": "the model",
    "identification.json": "all values and checks",
    "validation.csv": "errors by record",
    "terms.csv": "weights and probabilities",
    "tried.csv": "configurations",
    "residuals.csv": "",
    "steady_states.csv": "",
}
PAGE, DATA_PAGE, _SPARSE = "report.html", "data.html", "model_sparse.json"


def write_report(identification: Identification, folder: StrPath, data_page: str = "") -> Path:
    """Write the page, the model, all numbers as JSON and CSV, and the programs into a folder, and return the page.

    The folder gets the files of :func:`report_files`, ``model.json``, which :meth:`narxbench.Model.load` reads, and
    ``data.html`` if the text of a page of the data is given. A new folder appears with all of them or not at all. In
    the folder of an earlier report, the page is removed first and written last, so that a mixture never looks whole.
    Other files in it are kept.

    Raises
    ------
    NarxbenchError
        If a file cannot be written.
    """
    files = {"model.json": model_text(identification.model)}
    files |= report_files(identification, has_data_page=bool(data_page))
    sparse = identification.models.get("sparse", identification.model)
    if sparse is not identification.model:
        files[_SPARSE] = model_text(sparse)
    if data_page:
        files[DATA_PAGE] = data_page
    programs = [file for file, _ in _EXPORTS.values()]
    obsolete = [name for name in (_SPARSE, DATA_PAGE, *programs) if name not in files]
    write_folder(folder, files, last=PAGE, obsolete=obsolete)
    return Path(folder, PAGE)


def report_files(identification: Identification, *, has_data_page: bool = False) -> dict[str, str]:
    """Return the texts of all files except the model, by name, with each program that can be made."""
    figures, programs = identification.validation, programs_of(identification.model)
    files = {
        PAGE: model_page(identification, programs, has_data_page=has_data_page),
        "identification.json": canonical_json(identification.to_dict(), indent=1),
        "validation.csv": write_table(figures.assign(record=[printable(name) for name in figures["record"]])),
        "terms.csv": write_table(_all_terms(identification)),
        "tried.csv": write_table(identification.tried),
        "residuals.csv": write_table(_residual_tests(identification)),
        "steady_states.csv": write_table(_steady_states(identification)),
    }
    for file, _, text, _ in programs:
        if text:
            files[file] = text
    return files


def model_page(
    identification: Identification, programs: Sequence[tuple[str, str, str, str]], *, has_data_page: bool = False
) -> str:
    """Return the page of an identification, one file that needs neither other files nor a network.

    ``programs`` are returned by :func:`programs_of`. With ``has_data_page``, it links to the page of the data.
    """
    model, recording = identification.model, identification.recording
    fits = shown_fits(identification)
    captions = _captions(fits, identification.steps_judged)
    axis = drawn.time_axis(recording.sampling_time)
    equation, _, legend = model.equation().partition("\n")
    page = {
        "current": "model",
        "titles": {"model": "Model"},
        "links": {"model": "#main"},
        "repository": "",
        "study": "",
        "model": model,
        "worse": worse_sentences(identification),
        "marks": MARKS,
        "answers": [worded(finding) for finding in identification.summary if finding.name in ANSWERS],
        "warnings": [worded(finding) for finding in further_warnings(identification)],
        "notes": list(dict.fromkeys(recording.notes)),
        "equation": Markup(format_equation(equation, "html")),  # nosec B704 # names of signals are escaped
        "legend": legend,
        "fits": fits,
        "captions": captions,
        "programs": programs,
        "files": [
            *([(DATA_PAGE, "the data")] if has_data_page else []),
            *_FILES.items(),
            *((file, "") for file, _, text, _ in programs if text),
        ],
        "figures": _figures(identification, fits, axis),
        "tables": {table.name: to_html(table) for table in model_tables(identification)},
        "version": metadata.version("narxbench"),
        "data": script_json(_chart_data(identification, fits, captions, axis)),
    }
    return rendered("model.html.j2", page)


def _captions(fits: Sequence[ShownFit], steps: int | None) -> list[str]:
    """Return the captions of the chart of each record."""
    which = f" One of {len(fits)} records." if len(fits) > 1 else ""
    captions = []
    for fit in fits:
        title = f"{capital(prediction_kind(steps))}: {fit.name} ({fit.role})."
        captions.append(f"{title}{which} {fit.note}".strip())
    return captions


def _figures(
    identification: Identification, fits: Sequence[ShownFit], axis: drawn.TimeAxis
) -> dict[str, Markup | None]:
    """Return the figures by name, with None for a figure without anything to draw."""
    model = identification.model
    figures: dict[str, str | None] = dict.fromkeys(("fit", "choice"))
    if fits:
        figures["fit"] = drawn.fit_figure(fits[0], axis, drawn.signal_label(model.output, model.units))
    if identification.tried["rrse"].notna().sum() > 1:
        figures["choice"] = drawn.choice_figure(identification)
    return {name: inline_svg(svg, name) if svg else None for name, svg in figures.items()}


def _chart_data(
    identification: Identification, fits: Sequence[ShownFit], captions: Sequence[str], axis: drawn.TimeAxis
) -> dict[str, Any]:
    """Return the data of the chart of the page."""
    model = identification.model
    records = []
    for fit, caption in zip(fits, captions, strict=True):
        predicted = None if fit.predicted is None else [significant(value, 5) for value in fit.predicted]
        record = {
            "step": significant(fit.stride * axis.scale),
            "initial": fit.initial,
            "caption": caption,
            "measured": [significant(value, 5) for value in fit.y.tolist()],
            "predicted": predicted,
        }
        records.append(record)
    output = drawn.signal_label(model.output, model.units)
    return {"axis": axis.label, "begin": axis.begin, "output": output, "records": records}


def programs_of(model: Model) -> list[tuple[str, str, str, str]]:
    """Return for each language its file, its name, and the text of the model as a program.

    If the program cannot be made, the text is empty and the last element is the reason.
    """
    programs = []
    for language, (file, title) in _EXPORTS.items():
        try:
            programs.append((file, title, model.export(language, "model"), ""))
        except NarxbenchError as error:
            programs.append((file, title, "", str(error).partition(": ")[2]))
    return programs


def _all_terms(identification: Identification) -> pd.DataFrame:
    """Return one row for each term of the model and each probable term: weight, errors, probability."""
    weights = {row["term"]: row for row in identification.weights}
    coefficients = dict(zip(identification.model.terms, identification.model.coefficients, strict=True))
    weight_names = next(iter(identification.weights), {})
    names = ["term", "in_model", "coefficient", "probability", *weight_names]
    rows = []
    for term in dict.fromkeys([*coefficients, *identification.probabilities]):
        about = {
            "term": term,
            "in_model": term in coefficients,
            "coefficient": coefficients.get(term),
            "probability": identification.probabilities.get(term),
        }
        rows.append(weights.get(term, {}) | about)
    return pd.DataFrame(rows, columns=[*dict.fromkeys(names)], dtype=object)


def _residual_tests(identification: Identification) -> pd.DataFrame:
    """Return one row for each lag of each correlation test of the residuals."""
    rows = []
    for test in identification.tests:
        for lag, value in zip(test.lags, test.values, strict=True):
            rows.append((test.name, printable(test.title), lag, value, test.band, test.limit, test.passed))
    names = ["test", "title", "lag", "correlation", "band", "limit", "passed"]
    return pd.DataFrame(rows, columns=names, dtype=object)


def _steady_states(identification: Identification) -> pd.DataFrame:
    """Return one row for each steady state of the model, and for each rest of the data with the model's output."""
    rows = list[tuple[Any, ...]]()
    for point in identification.curve:
        signal = None if point.signal is None else printable(point.signal)
        rows.append(("model", signal, point.u, point.y, point.stable, point.settling_steps, None))
    for rest in identification.rests:
        levels = " ".join(map(repr, rest.u))
        rows.append(("data", printable(rest.record), levels, rest.y, None, None, rest.model_y))
    names = ["of", "signal_or_record", "u", "y", "stable", "settling_steps", "model_y"]
    return pd.DataFrame(rows, columns=names, dtype=object)
