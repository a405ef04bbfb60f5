"""The page of a model of measured data, and the files next to it.

The page answers in this order: what can the model be trusted for, how sure is it, is it good, what else was tried, what
are the data like, how is it used, and how was it made.
"""

from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
from markupsafe import Markup

from narxbench._identification.data.look import signal_facts
from narxbench._identification.data.spectra import Spectra, spectra
from narxbench._identification.result import Identification
from narxbench._identification.trust.answers import ANSWERS
from narxbench._identification.trust.dynamics import COVERAGE
from narxbench._identification.trust.verdicts import OF_MODEL
from narxbench._io.csv import write_table
from narxbench._io.errors import NarxbenchError, printable
from narxbench._io.files import StrPath, canonical_json, write_folder
from narxbench._io.settings import flattened
from narxbench._io.words import ordinal
from narxbench._model.narx import Model, model_text
from narxbench._numerics.rounding import significant
from narxbench._report import model_figures as drawn
from narxbench._report.data_figures import data_figures, drawn_places
from narxbench._report.data_tables import signals_table
from narxbench._report.findings import MARKS, as_json, before_all, in_words, unbroken, worded
from narxbench._report.formats import format_equation, share
from narxbench._report.markup import inline_svg, script_json
from narxbench._report.model_certainty import doubt_sentences, group_sentence, structure_sentence
from narxbench._report.model_fits import ShownFit, shown_fits
from narxbench._report.model_tables import error_kind, has_several_records, model_tables, tried_sentences
from narxbench._report.phrases import plural_s
from narxbench._report.table import to_html
from narxbench._report.templating import rendered

_EXPORTS = {
    "c": ("model.c", "C"),
    "python": ("model.py", "Python"),
    "matlab": ("model.m", "MATLAB and Octave"),
    "sysidentpy": ("model_sysidentpy.py", "SysIdentPy"),
}
PAGE, DATA_PAGE, _SPARSE = "report.html", "data.html", "model_sparse.json"
# Fewer configurations are not drawn.
_LEAST_TRIED = 3
_VERSIONS = ("narxbench", "numpy", "scipy", "pandas", "numba", "matplotlib")
# Values of settings that say nothing.
_EMPTY = ("null", "[]", "{}")


def write_report(identification: Identification, folder: StrPath, data_page: str = "") -> Path:
    """Write the page, the model, all numbers as JSON and CSV, and the programs into a folder, and return the page.

    The files are those of :func:`report_files`, ``model.json``, which :meth:`narxbench.Model.load` reads, and
    ``data.html`` if there is the text of a page of the data. A new folder appears with all of them or not at all. In
    one that has an earlier report, the page goes first and comes last, so that no mixture looks whole; other files in
    it stay.

    Raises
    ------
    NarxbenchError
        If a file cannot be written.
    """
    files = {"model.json": model_text(identification.model), **report_files(identification)}
    sparse = identification.models.get("sparse", identification.model)
    if sparse is not identification.model:
        files[_SPARSE] = model_text(sparse)
    if data_page:
        files[DATA_PAGE] = data_page
    programs = [file for file, _ in _EXPORTS.values()]
    obsolete = [name for name in (_SPARSE, DATA_PAGE, *programs) if name not in files]
    write_folder(folder, files, last=PAGE, obsolete=obsolete)
    return Path(folder, PAGE)


def report_files(identification: Identification, *, repository: str = "") -> dict[str, str]:
    """Return the texts of all files but that of the model, by name; a program that cannot be made is left out."""
    figures = identification.validation
    files = {
        PAGE: model_page(identification, repository=repository),
        "identification.json": canonical_json(as_json(identification), indent=1),
        "validation.csv": write_table(figures.assign(record=[printable(name) for name in figures["record"]])),
        "terms.csv": write_table(_all_terms(identification)),
        "tried.csv": write_table(identification.tried),
    }
    for program in _programs(identification.model):
        if program.text:
            files[program.file] = program.text
    return files


def model_page(identification: Identification, *, repository: str = "") -> str:
    """Return the page of an identification: one file that needs no other, nor a network.

    ``repository`` is the address of the project's repository, or "" where none is known.
    """
    model, recording = identification.model, identification.recording
    steps = identification.steps_judged
    fits = shown_fits(identification)
    captions = _captions(fits, steps)
    axis = drawn.time_axis(recording.sampling_time)
    power = spectra(recording)
    facts = signal_facts(recording, power)
    equation, _, legend = model.equation().partition("\n")
    tables = [*model_tables(identification), signals_table(facts, recording.sampling_time)]
    page = {
        "current": "model",
        "titles": {"model": "Model"},
        "links": {"model": "#main"},
        "repository": repository,
        "study": "",
        "identification": identification,
        "model": model,
        "recording": recording,
        "warnings": before_all(identification),
        "marks": MARKS,
        "answers": ANSWERS,
        "names_of_model": OF_MODEL,
        "equation": Markup(format_equation(equation, "html")),  # nosec B704 # names of signals are escaped
        "legend": legend,
        "ordinal": ordinal(model.decimation),
        "fits": fits,
        "steps": steps,
        "captions": captions,
        "programs": _programs(model),
        "error_of": error_kind(identification),
        "figures": _figures(identification, fits, axis, power),
        "tables": {table.name: to_html(table) for table in tables},
        "searched": [in_words(note).text for note in identification.notes if note.status == "fine"],
        "each_record": has_several_records(identification),
        "tried_sentences": tried_sentences(identification),
        "sure": structure_sentence(identification.certainty),
        "groups": [unbroken(group_sentence(group)) for group in identification.certainty.groups],
        "doubts": [unbroken(sentence) for sentence in doubt_sentences(identification.certainty)],
        "says": {finding.name: worded(finding) for finding in identification.summary},
        "checks": [worded(finding) for finding in identification.checks],
        "settings": [(name, value) for name, value in flattened(identification.settings) if value not in _EMPTY],
        "configuration": [pair for pair in flattened(identification.configuration) if pair[0] != "name"],
        "versions": {name: metadata.version(name) for name in _VERSIONS},
        "found_by": identification.structures["best"].found_by,
        "left_out_records": len(recording.records) > len(drawn_places(recording)),
        "confidence": share(COVERAGE),
        "data": script_json(_chart_data(identification, fits, captions, axis)),
    }
    return rendered("model.html.j2", page)


def _captions(fits: Sequence[ShownFit], steps: int | None) -> list[str]:
    """Return the captions of the chart of each record."""
    how = "Free run" if steps is None else f"Prediction {steps} step{plural_s(steps)} ahead"
    which = f" One of {len(fits)} records." if len(fits) > 1 else ""
    return [f"{how} and measured output: {fit.name} ({fit.role}).{which} {fit.note}".strip() for fit in fits]


def _figures(
    identification: Identification, fits: Sequence[ShownFit], axis: drawn.TimeAxis, power: Spectra | None
) -> dict[str, Markup | None]:
    """Return the figures by name; None where there is nothing to draw."""
    model, recording = identification.model, identification.recording
    figures: dict[str, str | None] = dict.fromkeys(("fit", "certainty", "residuals", "static", "step", "errors"))
    if fits:
        figures["fit"] = drawn.fit_figure(fits[0], axis, drawn.signal_label(model.output, model.units))
    figures["certainty"] = drawn.certainty_figure(identification)
    if identification.tests:
        figures["residuals"] = drawn.residual_figure(identification.tests)
    if model.inputs and any(point.y is not None for point in identification.curve):
        figures["static"] = drawn.static_figure(identification)
    if identification.dynamics is not None:
        figures["step"] = drawn.step_figure(identification.dynamics, recording)
    if identification.tried["rrse"].notna().sum() >= _LEAST_TRIED:
        figures["errors"] = drawn.tried_figure(identification.tried, f"{error_kind(identification)} error")
    inlined = {name: inline_svg(svg, name) if svg else None for name, svg in figures.items()}
    return {**inlined, **data_figures(recording, power, identification.checks, model.decimation)}


def _chart_data(
    identification: Identification, fits: Sequence[ShownFit], captions: Sequence[str], axis: drawn.TimeAxis
) -> dict[str, Any]:
    """Return what the chart of the page draws."""
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


class _Program(NamedTuple):
    """The model as a program in some language; the text is empty where that is not possible, for a reason."""

    file: str
    language: str
    text: str
    reason: str = ""


def _programs(model: Model) -> list[_Program]:
    programs = []
    for language, (file, title) in _EXPORTS.items():
        try:
            programs.append(_Program(file, title, model.export(language, "model")))
        except NarxbenchError as error:
            programs.append(_Program(file, title, "", str(error).partition(": ")[2]))
    return programs


def _all_terms(identification: Identification) -> pd.DataFrame:
    """Return one row for each term of the model and each probable one: weight, errors, how sure it is."""
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
