"""The page of a model of measured data, and the files next to it.

The page answers in this order: can the model be trusted, how sure is it, is it good, what else was tried, what are the
data like, how is it used, and how was it made.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from narxbench.identification.finding import Finding
from narxbench.identification.result import Identification
from narxbench.identification.trust.validation import (
    ALL,
    ARX,
    DECIMATED,
    FREE_RUN,
    INCOMING,
    K_STEP,
    LAST_VALUE,
    MODEL,
    ONE_STEP,
    row_at,
)
from narxbench.io.csv import write_table
from narxbench.io.errors import NarxbenchError, printable
from narxbench.io.files import StrPath, canonical_json, write_atomically
from narxbench.io.settings import flattened
from narxbench.io.words import ordinal
from narxbench.model.narx import DivergedError, Model
from narxbench.model.records import ROLES, Record
from narxbench.report import model_figures as drawn
from narxbench.report.findings import as_json, in_words
from narxbench.report.formats import MISSING, count, fixed, format_equation, listed, method_name, p_value, share
from narxbench.report.markup import inline_svg, script_json
from narxbench.report.model_figures import Fit
from narxbench.report.table import Column, Table, to_html
from narxbench.report.templating import rendered

# What the chart can zoom into: together so many samples, of so many records.
_MOST_SAMPLES, _MOST_CHARTS = 40_000, 12
# Rows of tables that are long where a reader looks for one of them.
_MOST_RECORDS, _MOST_RESTS, _MOST_TRIED = 40, 12, 200
# A reader can hold this many names in a sentence.
_MOST_NAMES = 6
_SHARED = "estimation and selection in turns"
_EXPORTS = {
    "c": ("model.c", "C"),
    "python": ("model.py", "Python"),
    "matlab": ("model.m", "MATLAB and Octave"),
    "sysidentpy": ("model_sysidentpy.py", "SysIdentPy"),
}
_STRUCTURES = {
    "best": "lowest J: the model",
    "threshold": "each term often enough",
    "most_frequent": "most frequent as a whole",
    "iterative_ofr": "iterative orthogonal forward regression",
}
_MARKS = {"fine": ("yes", "✓ fine"), "look": ("open", "! look"), "bad": ("no", "✗ bad")}

# The findings on the model, as a sentence names them; those on the data have other names.
_ABOUT = {
    "prediction": "the error of its predictions",
    "against_linear_arx": "what it gains over a linear model",
    "against_last_value": "what it gains over repeating the last value",
    "gap": "the step from known to new data",
    "residuals_linear": "what the residuals still hold",
    "residuals_nonlinear": "missing nonlinear terms",
    "fixed_points": "where it comes to rest",
    "static": "how its rests meet those of the data",
}
# Of these, a bad one alone makes a model useless; so does one on the data.
_DECISIVE = ("prediction", "against_linear_arx", "against_last_value", "gap")

_Row = dict[str, Any]


def write_report(identification: Identification, folder: StrPath) -> Path:
    """Write the page, the model, all numbers as JSON and CSV, and the programs into a folder, and return the page.

    The files are those of :func:`report_files` and ``model.json``, which :meth:`narxbench.model.narx.Model.load` reads.
    Each is written as a whole or not at all; the page comes last.

    Raises
    ------
    NarxbenchError
        If a file cannot be written.
    """
    files = report_files(identification)
    page = files.pop("report.html")
    identification.model.save(Path(folder, "model.json"))
    for name, text in files.items():
        write_atomically(Path(folder, name), text)
    write_atomically(Path(folder, "report.html"), page)
    return Path(folder, "report.html")


def report_files(identification: Identification, *, repository: str = "") -> dict[str, str]:
    """Return the texts of all files but that of the model, by name; a program that cannot be made is left out."""
    sources = {file: text for file, _, text, _ in _programs(identification.model) if text}
    validation = identification.validation
    return {
        "report.html": model_page(identification, repository=repository),
        "identification.json": canonical_json(as_json(identification), indent=1),
        "validation.csv": write_table(validation.assign(record=[printable(name) for name in validation["record"]])),
        "terms.csv": write_table(_all_terms(identification)),
        "tried.csv": write_table(identification.tried),
        **sources,
    }


def model_page(identification: Identification, *, repository: str = "") -> str:
    """Return the page of an identification: one file that needs no other, nor a network.

    Parameters
    ----------
    identification : Identification
        What was found.
    repository : str
        The address of the project's repository, or "" where none is known.
    """
    found, model, recording = identification, identification.model, identification.recording
    fits = _fits(found)
    axis = drawn.time_axis(recording.sampling_time)
    output = drawn.signal_label(model.output, model.units)
    equation, _, legend = model.equation().partition("\n")
    programs = _programs(model)
    shown = _shown_records(found)
    page = {
        **{"current": "model", "titles": {"model": "Model"}, "links": {"model": "#main"}, "repository": repository},
        **{"found": found, "model": model, "recording": recording, "marks": _MARKS, "study": ""},
        "warnings": _warnings(found),
        "verdict": _verdict(found),
        "lights": _lights(found),
        "equation": Markup(format_equation(equation, "html")),
        "legend": legend,
        "fit_table": to_html(_fit_table(found)),
        "fits": fits,
        "kind": _kind(found),
        "captions": _captions(fits, _kind(found)),
        "ordinal": ordinal(model.decimation),
        "figures": {
            "fit": inline_svg(drawn.fit_figure(fits[0], axis, output), "fit") if fits else "",
            "certainty": inline_svg(drawn.certainty_figure(found.selection, model.terms), "certainty"),
            "residuals": inline_svg(drawn.residual_figure(found.tests), "residuals") if found.tests else "",
            "static": _static(found),
            "tried": _errors(found),
            "data": inline_svg(drawn.data_figure(recording, *shown), "signals"),
            "checks": _checks_figure(found),
        },
        "certain": _certainty_sentences(found),
        "stability": _stability(found),
        "tables": {
            "weights": to_html(_weights_table(found)),
            "structures": to_html(_structures_table(found)),
            "alike": to_html(_alike_table(found)),
            "figures": to_html(_figures_table(found)),
            "records": to_html(_records_figures(found)),
            "tests": to_html(_tests_table(found)),
            "rests": to_html(_rests_table(found)),
            "fixed_points": to_html(_fixed_points_table(found)),
            "tried": to_html(_tried_table(found)),
            "data": to_html(_data_table(found)),
        },
        "refinement": next((in_words(note).text for note in found.notes if note.name == "refinement"), ""),
        "each_record": any(_several(found, role) for role in ROLES),
        "tried_sentences": _tried_sentences(found),
        "error_of": _error_of(found),
        "says": {finding.name: _worded(finding) for finding in found.summary},
        "checks": [_worded(finding) for finding in found.checks],
        "programs": programs,
        "refused": [(title, reason) for _, title, _, reason in programs if reason],
        "settings": [(name, value) for name, value in flattened(found.settings) if value not in ("null", "[]", "{}")],
        "configuration": [(name, value) for name, value in flattened(found.configuration) if name != "name"],
        "versions": {
            name: metadata.version(name)
            for name in ("narxbench", "numpy", "scipy", "statsmodels", "pandas", "numba", "matplotlib")
        },
        "method": method_name(found.settings["method"]),
        "left_out_records": max(0, len(recording.records) - len(shown[0])),
        "confidence": share(found.settings["confidence"]),
        "data": script_json(_chart_data(fits, _captions(fits, _kind(found)), axis, output)),
    }
    return rendered("model.html.j2", page)


# Whether it can be trusted


def _worded(finding: Finding) -> dict[str, str]:
    return {"name": finding.name, "status": finding.status, **in_words(finding)._asdict()}


def _warnings(found: Identification) -> list[str]:
    """Return what stands above all else: what was done to the data, and how the search went."""
    return [*dict.fromkeys([*found.recording.notes, *(in_words(note).text for note in found.notes)])]


def _verdict(found: Identification) -> tuple[str, str]:
    """Return the answer to whether the model can be trusted, in a word and in a sentence."""
    bad = [check for check in found.summary if check.status == "bad"]
    look = [check for check in found.summary if check.status == "look" and check.name in _ABOUT]
    if any(check.name in _DECISIVE or check.name not in _ABOUT for check in bad):
        return "Not as it is", f"What speaks against it: {_about(bad)}."
    if not any(record.role == "test" for record in found.recording.records):
        return "Not known", "No data were kept for a test, so nothing shows how the model does on new data."
    if bad:
        also = f" Look also at {_about(look)}." if look else ""
        return "With care", f"No prediction is bad, but this is: {_about(bad)}.{also}"
    if look:
        return "With care", f"Nothing is bad, but look at {_about(look)}."
    return "Yes", "On data that the search has not seen, and within their ranges, nothing speaks against it."


def _about(findings: Iterable[Finding]) -> str:
    return listed(_ABOUT.get(f.name) or f"the data ({in_words(f).title.lower()})" for f in findings)


def _lights(found: Identification) -> dict[str, list[dict[str, str]]]:
    """Return the findings: those to read, what is bad first; of the data; and those that are fine."""
    findings = [_worded(finding) for finding in found.summary]
    of_model = [finding for finding in findings if finding["name"] in _ABOUT]
    return {
        "read": [f for f in findings if f["status"] == "bad"] + [f for f in of_model if f["status"] == "look"],
        "data": [f for f in findings if f["status"] == "look" and f["name"] not in _ABOUT],
        "fine": [f for f in of_model if f["status"] == "fine"],
    }


def _kind(found: Identification) -> tuple[str, int | None]:
    """Return the kind of prediction that says most: a free run without inputs forgets where it started."""
    if found.model.inputs:
        return FREE_RUN, None
    steps = max(step for step in found.validation["steps"] if step is not None)
    return (K_STEP if steps > 1 else ONE_STEP), steps


def _row(found: Identification, **place: Any) -> _Row | None:
    """Return the row of the figures at a place, or None."""
    return row_at(found.validation, **place)


def _role(found: Identification) -> str:
    """Return the role whose figures say most of new data."""
    present = set(found.validation["role"])
    return next((role for role in reversed(ROLES) if role in present), "estimation")


def _fit_table(found: Identification) -> Table:
    """Return the figures of the first screen: the model next to simpler ones."""
    kind, steps = _kind(found)
    role = _role(found)
    samplings = [DECIMATED, INCOMING] if found.model.decimation > 1 else [INCOMING]
    titles = {
        DECIMATED: f"every {ordinal(found.model.decimation)} sample",
        INCOMING: "sampled as it came in" if len(samplings) > 1 else "",
    }
    rows = []
    for name in (MODEL, ARX, LAST_VALUE):
        row = {"model": "this model" if name == MODEL else name}
        for sampling in samplings:
            place = {"role": role, "record": ALL, "model": name, "sampling": sampling, "kind": kind}
            figures = _row(found, **place, **({} if steps is None else {"steps": steps}))
            row |= {f"{sampling}_rrse": _rrse(figures), f"{sampling}_fit": _shown_percent(figures)}
        rows.append(row)
    columns = [Column("model", "Prediction by")]
    for sampling in samplings:
        columns.append(Column(f"{sampling}_rrse", "RRSE", titles[sampling]))
        columns.append(Column(f"{sampling}_fit", "fit", titles[sampling]))
    how = "Free run" if kind == FREE_RUN else f"{steps} steps ahead" if steps != 1 else "One step ahead"
    data = {"test": "the test data", "selection": "the selection data"}.get(role, "the data it was estimated from")
    return Table("fit_figures", f"{how} on {data}", tuple(columns), _frame(rows, columns))


def _rrse(row: _Row | None) -> str:
    if row is None or row["rrse"] is None:
        return "diverges" if row is not None and row["diverged"] else MISSING
    return _number(row["rrse"], 3)


def _shown_percent(row: _Row | None, digits: int = 1) -> str:
    value = None if row is None else row["fit_percent"]
    return MISSING if value is None else f"{fixed(value, digits)} %"


def _fits(found: Identification) -> list[Fit]:
    """Return what the chart shows: the records of test, else of selection, else all; the longest run of them first."""
    records = found.recording.records
    shown: list[Record] = []
    for role in ("test", "selection", None, "estimation"):
        shown = shown or [record for record in records if record.role == role and len(record)]
    budget, fits = _MOST_SAMPLES, []
    for record in shown[:_MOST_CHARTS]:
        if budget > 0:
            fits.append(_fit(found, record, budget))
            budget -= len(fits[-1].y)
    return fits


def _fit(found: Identification, record: Record, most: int) -> Fit:
    """Return the prediction of the first samples of a record, at the incoming sampling or, if it diverges there, not.

    A series without inputs is predicted some steps ahead.
    """
    _, steps = _kind(found)
    role, note = record.role or _SHARED, ""
    if len(record) > most:
        note = f"The first {count(most)} of {count(len(record))} samples are shown."
        record = record.part(0, most)
    if record.role != "test":
        note = f"{note} The model was made with these data.".strip()
    model, stride = found.model, 1
    own = record
    for attempt in (1, 2):
        try:
            u = own.u if model.n_inputs else None
            predicted = model.predict(u, own.y, steps, samples=len(own))
            return Fit(_name(record), role, stride, own.y, predicted, model.initial_samples, note)
        except DivergedError as error:
            diverges = f"The prediction diverges: {_first_words(error)}."
            if attempt == 2 or model.decimation == 1:
                return Fit(_name(record), role, 1, record.y, None, 0, f"{diverges} {note}".strip())
            stride, own = model.decimation, record.phase(0, model.decimation)
            note = f"At the incoming sampling the prediction diverges: every {ordinal(stride)} sample. {note}".strip()
            model = model.decimated()
        except NarxbenchError:
            short = f"The record is shorter than the {model.initial_samples} samples that the model is given."
            return Fit(_name(record), role, 1, record.y, None, 0, f"{short} {note}".strip())
    raise AssertionError  # the second attempt has returned


def _first_words(error: Exception) -> str:
    """Return what an error says was found, without what is allowed."""
    return str(error).partition(";")[0].replace("of the model diverges ", "leaves all bounds ")


def _captions(fits: Sequence[Fit], kind: tuple[str, int | None]) -> list[str]:
    steps = kind[1]
    how = "Free run" if steps is None else f"Prediction {steps} step{_s(steps)} ahead"
    each = f" One of {len(fits)} records." if len(fits) > 1 else ""
    return [f"{how} and measured output: {fit.name} ({fit.role}).{each} {fit.note}".strip() for fit in fits]


def _chart_data(fits: Sequence[Fit], captions: Sequence[str], axis: drawn.TimeAxis, output: str) -> dict[str, Any]:
    return {
        "axis": axis.label,
        "begin": axis.begin,
        "output": output,
        "records": [
            {
                "step": _digits(fit.stride * axis.scale, 12),
                "initial": fit.initial,
                "caption": caption,
                "measured": [_digits(value) for value in fit.y.tolist()],
                "predicted": None if fit.predicted is None else [_digits(value) for value in fit.predicted.tolist()],
            }
            for fit, caption in zip(fits, captions, strict=True)
        ],
    }


# How sure it is


def _weights_table(found: Identification) -> Table:
    columns = [
        Column("term", "Term", kind="equation"),
        Column("coefficient", "Coefficient"),
        Column("error", "± standard error"),
        Column("t", "t"),
        Column("p", "p"),
        Column("err", "ERR"),
        Column("resampled", "of resamples", "Chosen in a share"),
        Column("seeds", "of seeds", "Chosen in a share"),
    ]
    # After a refinement the weights of the model are others than those of least squares.
    weights = dict(zip(found.model.terms, found.model.coefficients, strict=True))
    often = {row["term"]: row for row in found.selection.to_dict("records")}
    rows = [
        {
            "term": row["term"],
            "coefficient": _number(weights.get(row["term"], row["coefficient"])),
            "error": _number(row["standard_error"], 2),
            "t": _number(row["t"], 3),
            "p": MISSING if row["p"] is None else p_value(row["p"]),
            "err": _percent(row["err"]),
            "resampled": _interval(often.get(row["term"]), "resample", found),
            "seeds": _interval(often.get(row["term"]), "seed", found),
        }
        for row in found.weights
    ]
    return Table("weights", "Terms of the model", tuple(columns), _frame(rows, columns))


def _interval(row: Mapping[Any, Any] | None, source: str, found: Identification) -> str:
    runs = _runs(found, source)
    if not runs:
        return MISSING
    if row is None:
        return share(0)
    text = share(row[f"{source}_frequency"])
    low, high = row[f"{source}_low"], row[f"{source}_high"]
    return text if low is None or high is None else f"{text} ({share(low)} to {share(high)})"


def _runs(found: Identification, source: str) -> int:
    table = found.selection
    return int(table[f"{source}_runs"].iloc[0]) if len(table) else 0


def _certainty_sentences(found: Identification) -> list[Markup]:
    """Return how sure the structure is, in sentences."""
    terms, table = found.model.terms, found.selection
    resamples, seeds = _runs(found, "resample"), _runs(found, "seed")
    source, runs = ("resample", resamples) if resamples else ("seed", seeds)
    often = dict(zip(table["term"], table[f"{source}_frequency"], strict=True))
    of = f"{count(runs)} resampled data set{_s(runs)}" if resamples else f"{count(runs)} seed{_s(runs)} of the search"
    threshold = found.settings["threshold"]
    stability = _stability(found)
    sentences = [Markup("<strong>{}</strong>").format(stability[1])] if stability else []
    if not resamples:
        sentences.append(Markup("No data were resampled: how the terms depend on the data at hand is not known."))
    if not resamples and runs < 2:
        return [
            Markup("One search was made on the data as they are: how sure the structure is, is not known."),
            *_weak(found),
        ]
    if runs:
        sure = [term for term in terms if (often.get(term) or 0) >= threshold]
        unsure = [term for term in terms if term not in sure]
        part = "All" if not unsure else f"{count(len(sure)) if sure else 'None'} of the {count(len(terms))}"
        text = f"{part} terms of the model were chosen in at least {share(threshold)} of {of}"
        rest = Markup("; not {}.").format(_terms(unsure)) if sure and unsure else Markup(".")
        sentences.append(Markup("{}{}").format(text, rest))
        least = min((often.get(term) or 0) for term in terms)
        rivals = [term for term in table["term"] if term not in terms and (often[term] or 0) >= max(least, 1e-9)]
        if rivals:
            text = "{} {} outside {} at least as often as the model’s least frequent one: {}."
            noun, verb = ("term", "was chosen") if len(rivals) == 1 else ("terms", "were chosen")
            sentences.append(Markup(text).format(count(len(rivals)), noun, verb, _terms(rivals)))
        elif unsure:
            sentences.append(Markup("No term outside was chosen as often as any of the model."))
    return [*sentences, *_weak(found)]


def _stability(found: Identification) -> tuple[str, str] | None:
    """Return whether other data, or other seeds, would give the same structure; None where that is not known."""
    resamples, seeds = _runs(found, "resample"), _runs(found, "seed")
    if not resamples and seeds < 2:
        return None
    source, others = ("resample", "resampled data") if resamples else ("seed", "other seeds")
    often = dict(zip(found.selection["term"], found.selection[f"{source}_frequency"], strict=True))
    sure = sum((often.get(term) or 0) >= found.settings["threshold"] for term in found.model.terms)
    if sure == len(found.model.terms):
        return "fine", f"The structure stays the same with {others}."
    return (
        "look",
        f"The structure {'stays in part' if 2 * sure >= len(found.model.terms) else 'changes'} with {others}.",
    )


def _weak(found: Identification) -> list[Markup]:
    """Return which weights may as well be zero, as a sentence."""
    known = [row for row in found.weights if row["t"] is not None]
    weak = [row["term"] for row in known if abs(row["t"]) < 2]
    if weak:
        return [Markup("Less than two standard errors from zero: {}.").format(_terms(weak))]
    return [Markup("All weights are at least two standard errors from zero.")] if known else []


def _terms(terms: Sequence[str]) -> Markup:
    """Return names of terms as a list in a sentence, of which the first ones are named."""
    shown = [Markup(format_equation(term, "html")) for term in terms[:_MOST_NAMES]]
    if len(terms) > _MOST_NAMES:
        return Markup(", ").join(shown) + f" and {len(terms) - _MOST_NAMES} more"
    return Markup(" and ").join([Markup(", ").join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _structures_table(found: Identification) -> Table:
    columns = [
        Column("how", "Chosen by"),
        Column("size", "Number"),
        Column("rrse", "RRSE"),
        Column("fitness", "J"),
        Column("shared", "shared"),
        Column("terms", "Terms", kind="equation"),
    ]
    own = set(found.model.terms)
    rows = [
        {
            "how": _STRUCTURES.get(name, name.replace("_", " ")),
            "size": count(len(each.terms)),
            "rrse": _number(each.rrse, 3),
            "fitness": MISSING if each.fitness is None else fixed(each.fitness, 1),
            "shared": count(len(own & set(each.terms))),
            "terms": ", ".join(each.terms),
        }
        for name, each in found.structures.items()
    ]
    made, failed = found.structures_made, [each for each in found.structures.values() if each.fitness is None]
    notes = [
        f"The threshold is a frequency of {made['threshold']:g} over {made['source']}.",
        "" if made["reached"] else "No term reaches it: these are the most frequent ones, as many as the best has.",
        f"The most frequent structure came up in {made['count']} of {made['searches']} searches.",
        "Of some, terms depend on one another." if any(each.singular for each in failed) else "",
        "Some diverge on the selection." if any(not each.singular for each in failed) else "",
    ]
    about = (
        f"RRSE: {_error_of(found)} error on the parts of the selection, with weights that do not know them, relative "
        "to the spread of the output about its mean over all parts. J weighs it against the number of terms; lower is "
        "better. Shared: terms of the model."
    )
    notes = [about, *filter(None, notes)]
    return Table("structures", "Structures next to one another", tuple(columns), _frame(rows, columns), tuple(notes))


def _alike_table(found: Identification) -> Table:
    columns = [
        Column("term", "Term", kind="equation"),
        Column("other", "could be", kind="equation"),
        Column("r", "Correlation"),
    ]
    rows = [{"term": term, "other": other, "r": fixed(r, 3)} for term, other, r in found.alike]
    return Table("alike", "Terms that another could nearly take the place of", tuple(columns), _frame(rows, columns))


# Whether it is good


def _several(found: Identification, role: str) -> list[str]:
    """Return the names of the records of a role, where there are several."""
    frame = found.validation
    names = [r for r, of in zip(frame["record"], frame["role"], strict=True) if of == role and r != ALL]
    unique = list(dict.fromkeys(names))
    return unique if len(unique) > 1 else []


def _figure_columns(found: Identification, mae: bool = True) -> list[Column]:
    unit = found.model.units.get(found.model.output)
    steps = [step for step in dict.fromkeys(found.validation["steps"]) if step is not None]
    ahead = [Column(f"ahead_{step}", f"{step} step{_s(step)}", "RRSE") for step in steps]
    free = [Column("rrse", "RRSE", "Free run"), Column("fit_percent", "fit", "Free run")]
    free.append(Column("nrmse", "NRMSE", "Free run"))
    if mae:
        free.append(Column("mae", f"MAE ({printable(unit)})" if unit else "MAE", "Free run"))
    return [*ahead, *free]


def _figures(found: Identification, **place: Any) -> _Row:
    """Return the figures at a place, of all kinds of prediction, as they are shown."""
    free = _row(found, **place, kind=FREE_RUN)
    shown = {"rrse": _rrse(free), "fit_percent": _shown_percent(free)}
    shown |= {name: _number(None if free is None else free[name], 3) for name in ("nrmse", "mae")}
    for step in dict.fromkeys(found.validation["steps"]):
        if step is not None:
            shown[f"ahead_{step}"] = _rrse(_row(found, **place, steps=step))
    return shown


def _figures_table(found: Identification) -> Table:
    columns = [
        Column("role", "Data"),
        Column("sampling", "Sampling"),
        Column("model", "Prediction by"),
        *_figure_columns(found),
    ]
    samplings = {DECIMATED: f"every {ordinal(found.model.decimation)}", INCOMING: "every sample"}
    if found.model.decimation == 1:
        del samplings[DECIMATED]
    rows = []
    for role in reversed(ROLES):
        for sampling, title in samplings.items():
            for name in (MODEL, ARX, LAST_VALUE):
                if (found.validation["role"] == role).any():
                    place = {"role": role, "record": ALL, "model": name, "sampling": sampling}
                    shown = _figures(found, **place)
                    rows.append({"role": role, "sampling": title, "model": _model_name(name), **shown})
    notes = (
        "RRSE: root of the sum of squared errors relative to that about the mean; 0 is perfect, 1 no better than the "
        "mean. Fit: 100 (1 − RRSE) %. NRMSE: root mean square error by range. MAE: mean absolute error.",
        *(
            ["Selection: each part of the data is predicted with weights that do not know it."]
            if "selection" in set(found.validation["role"]) - {record.role for record in found.recording.records}
            else []
        ),
    )
    return Table("figures", "Figures by role", tuple(columns), _frame(rows, columns), notes, merged=1)


def _model_name(name: str) -> str:
    return "this model" if name == MODEL else name


def _records_figures(found: Identification) -> Table:
    columns = [Column("record", "Record"), Column("role", "Data"), *_figure_columns(found)]
    rows = []
    for role in reversed(ROLES):
        for name in _several(found, role)[:_MOST_RECORDS]:
            figures = _figures(found, role=role, record=name, model=MODEL, sampling=DECIMATED)
            rows.append({"record": printable(name), "role": role, **figures})
    every = "" if found.model.decimation == 1 else f", every {ordinal(found.model.decimation)} sample"
    left = sum(max(0, len(_several(found, role)) - _MOST_RECORDS) for role in ROLES)
    notes = [f"{left} more are in validation.csv."] if left else []
    return Table("records", f"This model by record{every}", tuple(columns), _frame(rows, columns), tuple(notes))


def _tests_table(found: Identification) -> Table:
    columns = [
        Column("title", "Correlation of"),
        Column("passed", "Passed"),
        Column("worst", "Largest"),
        Column("lag", "at lag"),
        Column("limit", "Limit"),
    ]
    rows = [
        {
            "title": printable(test.title),
            "passed": "yes" if test.passed else "no",
            "worst": fixed(test.worst, 2),
            "lag": fixed(test.worst_lag, 0),
            "limit": fixed(test.limit, 2),
        }
        for test in found.tests
    ]
    return Table("tests", "Residuals one step ahead", tuple(columns), _frame(rows, columns))


def _static(found: Identification) -> Markup | str:
    if not found.model.inputs or not any(point.y is not None for point in found.curve):
        return ""
    return inline_svg(drawn.static_figure(found.curve, found.rests, found.recording), "static")


def _rests_table(found: Identification) -> Table:
    inputs = [Column(f"u{i}", printable(name)) for i, name in enumerate(found.model.inputs)]
    columns = [
        Column("record", "Record"),
        Column("samples", "Samples"),
        *inputs,
        Column("y", "Measured"),
        Column("model_y", "Model"),
        Column("deviation", "Off, of the range"),
    ]
    worst = sorted(found.rests, key=lambda rest: math.inf if rest.deviation is None else rest.deviation, reverse=True)
    rows = [
        {
            "record": printable(rest.record),
            "samples": count(rest.samples),
            **{f"u{i}": _number(value) for i, value in enumerate(rest.u)},
            "y": _number(rest.y),
            "model_y": _number(rest.model_y),
            "deviation": _percent(rest.deviation),
        }
        for rest in worst[:_MOST_RESTS]
    ]
    left = len(found.rests) - len(rows)
    notes = (f"The {_MOST_RESTS} that are farthest off; {left} more are nearer.",) if left > 0 else ()
    return Table("rests", "Rests of the data and of the model", tuple(columns), _frame(rows, columns), notes)


def _fixed_points_table(found: Identification) -> Table:
    """Return the rests of the model: all without inputs, else those at the ends and the middle of each input."""
    columns = [
        Column("signal", "Input"),
        Column("u", "at"),
        Column("y", "rests at"),
        Column("stable", "Stable"),
        Column("eigenvalue", "Largest eigenvalue"),
        Column("steps", "Steps to settle"),
    ]
    if not found.model.inputs:
        columns = columns[2:]
    levels = {signal: [p.u for p in found.curve if p.signal == signal] for signal in found.model.inputs}
    kept = {(signal, of[i]) for signal, of in levels.items() if of for i in (0, len(of) // 2, -1)}
    rows = [
        {
            "signal": printable(point.signal or ""),
            "u": _number(point.u),
            "y": "nowhere"
            if point.y is None
            else _number(point.y) + ("" if point.inside else " (outside of the data)"),
            "stable": MISSING if point.y is None else "yes" if point.stable else "no",
            "eigenvalue": _number(point.eigenvalue, 3),
            "steps": _number(point.settling_steps, 3),
        }
        for point in found.curve
        if point.signal is None or (point.signal, point.u) in kept
    ]
    return Table("fixed_points", "Where the model rests", tuple(columns), _frame(rows, columns))


# What was tried


def _error_of(found: Identification) -> str:
    """Return what error the search compared."""
    error = found.settings["error"]
    if error == "auto":
        error = FREE_RUN if found.model.inputs else ONE_STEP
    return "free-run" if error == FREE_RUN else "one-step"


def _errors(found: Identification) -> Markup | str:
    if found.tried["rrse"].notna().sum() < 3:
        return ""
    return inline_svg(drawn.tried_figure(found.tried, f"{_error_of(found)} error"), "errors")


def _tried_sentences(found: Identification) -> list[str]:
    tried = found.tried
    searched = (tried["searched"] == "thoroughly").sum()
    one = len(tried) == 1
    text = f"{count(len(tried))} configuration{'' if one else 's'} of decimation, degree and lags {_was(len(tried))} "
    text += f"searched, {count(searched)} of them thoroughly"
    if found.left_out:
        text += f"; the planned time did not suffice for {count(found.left_out)} more"
    sentences = [f"{text}."]
    best = tried[[bool(chosen) for chosen in tried["chosen"]]]
    others = tried[
        [not chosen and rrse is not None for chosen, rrse in zip(tried["chosen"], tried["rrse"], strict=True)]
    ]
    if len(best) and best["rrse"].iloc[0] is not None:
        own = best["rrse"].iloc[0]
        text = f"The chosen one has an RRSE of {_number(own, 3)} on the parts of the selection"
        if len(others):
            near = sum(rrse <= 1.1 * own for rrse in others["rrse"])
            text += (
                f"; {count(near) if near else 'no'} other{_s(near or 1)} {'is' if near < 2 else 'are'} within a tenth"
            )
            better = others[[rrse < own for rrse in others["rrse"]]]
            if len(better):
                text += f", {count(len(better))} even lower but with a higher J"
        sentences.append(f"{text}.")
    failed = sum(rrse is None for rrse in tried["rrse"])
    if failed:
        sentences.append(f"In {count(failed)} no structure was found whose free run stays finite.")
    return sentences


def _tried_table(found: Identification) -> Table:
    columns = [
        Column("place", "Rank"),
        Column("decimation", "Decimation"),
        Column("degree", "Degree"),
        Column("y_lags", "Lags of y"),
        *([Column("u_lags", "Lags of u")] if found.model.inputs else []),
        Column("centred", "Centred"),
        Column("terms", "Terms"),
        Column("rrse", "RRSE"),
        Column("fitness", "J"),
        Column("searched", "Searched"),
    ]
    rows = [
        {
            "place": count(place),
            "searched": row["searched"] + (", chosen" if row["chosen"] else ""),
            **{name: str(row[name]) for name in ("decimation", "degree", "terms")},
            **{name: str(row[name]).replace("-", "–") for name in ("y_lags", "u_lags")},
            "centred": "yes" if row["centred"] else "no",
            "rrse": _number(row["rrse"], 3),
            "fitness": MISSING if row["fitness"] is None else fixed(row["fitness"], 1),
        }
        for place, row in enumerate(islice(found.tried.to_dict("records"), _MOST_TRIED), start=1)
    ]
    left = len(found.tried) - len(rows)
    notes = (f"{left} more are in tried.csv.",) if left else ()
    return Table("tried", "Configurations, the best first", tuple(columns), _frame(rows, columns), notes)


# Data


def _shown_records(found: Identification) -> tuple[list[int], list[str]]:
    """Return the places of the records that are drawn, of each role the longest first, and what stands above them."""
    records = found.recording.records
    by_role: list[list[int]] = []
    for role in (None, "estimation", "selection", "test"):
        own = [place for place, record in enumerate(records) if record.role == role and len(record)]
        by_role.append(sorted(own, key=lambda place: -len(records[place])))
    turns = [place for rank in range(drawn.MOST_RECORDS) for own in by_role for place in own[rank : rank + 1]]
    chosen = sorted(turns[: drawn.MOST_RECORDS])
    return chosen, [f"{_name(records[place])}: {records[place].role or 'estimation, selection'}" for place in chosen]


def _data_table(found: Identification) -> Table:
    time = found.recording.sampling_time
    columns = [Column("name", "Record"), Column("role", "Used for"), Column("samples", "Samples")]
    if time is not None:
        columns.append(Column("duration", "Seconds"))
    records = found.recording.records
    rows = [
        {
            "name": _name(record),
            "role": record.role or _SHARED,
            "samples": count(len(record)),
            "duration": "" if time is None else _number(time * len(record)),
        }
        for record in records[:_MOST_RECORDS]
    ]
    left = len(records) - len(rows)
    notes = (f"{left} more are not listed.",) if left else ()
    return Table("data-records", "Records", tuple(columns), _frame(rows, columns), notes)


def _checks_figure(found: Identification) -> Markup | str:
    figure = drawn.checks_figure(found.checks, found.model.decimation)
    return inline_svg(figure, "checked") if figure else ""


def _name(record: Record) -> str:
    return printable(record.name) or "data"


# Files


def _programs(model: Model) -> list[tuple[str, str, str, str]]:
    """Return file, language, text and, where there is none, the reason of each program."""
    found = []
    for language, (file, title) in _EXPORTS.items():
        try:
            found.append((file, title, model.export(language, "model"), ""))
        except NarxbenchError as error:
            found.append((file, title, "", str(error).partition(": ")[2]))
    return found


def _all_terms(found: Identification) -> pd.DataFrame:
    """Return one row for each term of the model and each that was ever chosen: weight, errors and frequencies."""
    weights = {row["term"]: row for row in found.weights}
    often = {row["term"]: row for row in found.selection.to_dict("records")}
    coefficients = dict(zip(found.model.terms, found.model.coefficients, strict=True))
    names = [name for name in (found.weights[0] if found.weights else {}) if name not in ("term", "coefficient")]
    frequencies = [name for name in found.selection.columns if name != "term"]
    rows = [
        {
            "term": term,
            "in_model": term in coefficients,
            "coefficient": coefficients.get(term),
            **{name: weights.get(term, {}).get(name) for name in names},
            **{name: often.get(term, {}).get(name) for name in frequencies},
        }
        for term in dict.fromkeys([*coefficients, *often])
    ]
    columns = ["term", "in_model", "coefficient", *names, *frequencies]
    return pd.DataFrame(rows, columns=columns, dtype=object)


# Forms


def _frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[Column]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=[column.key for column in columns], dtype=object)


def _number(value: float | None, digits: int = 4) -> str:
    """Return a number with some significant digits, large and tiny ones as powers of ten that a table can sort."""
    return MISSING if value is None else f"{value:.{digits}g}".replace("-", "−", 1 if value < 0 else 0)


def _percent(value: float | None) -> str:
    if value is None:
        return MISSING
    size = 100 * abs(value)
    return f"{100 * value:.4g} %" if size >= 1e-3 or not size else "< 0.001 %"


def _digits(value: float, digits: int = 5) -> float:
    return float(f"{value:.{digits}g}")


def _s(number: int) -> str:
    return "" if number == 1 else "s"


def _was(number: int) -> str:
    return "was" if number == 1 else "were"
