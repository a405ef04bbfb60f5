"""The page of a model of measured data, and the files next to it.

The page answers in this order: what can the model be trusted for, how sure is it, is it good, what else was tried, what
are the data like, how is it used, and how was it made.
"""

import math
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from narxbench.identification.finding import Finding
from narxbench.identification.result import Identification
from narxbench.identification.trust import validation
from narxbench.identification.trust.frequencies import resample_frequencies
from narxbench.identification.trust.verdicts import ANSWERS, OF_MODEL
from narxbench.io.csv import write_table
from narxbench.io.errors import NarxbenchError, printable
from narxbench.io.files import StrPath, canonical_json, write_atomically
from narxbench.io.settings import flattened
from narxbench.io.words import ordinal
from narxbench.model.narx import Model
from narxbench.model.noise_models import noise_family
from narxbench.model.records import ROLES
from narxbench.numerics.rounding import significant
from narxbench.report import model_figures as drawn
from narxbench.report.findings import as_json, before_all, in_words, plural_s
from narxbench.report.formats import MISSING, count, fixed, format_equation, method_name, p_value, share
from narxbench.report.markup import inline_svg, script_json
from narxbench.report.model_certainty import (
    change_of,
    doubt_sentences,
    group_sentence,
    probability,
    structure_sentence,
)
from narxbench.report.model_fits import SHARED, Fit, name_of, shown_fits
from narxbench.report.table import Column, Table, columns, to_html
from narxbench.report.templating import rendered

# Rows of tables that are long where a reader looks for one of them.
_MOST_RECORDS, _MOST_RESTS, _MOST_TRIED = 40, 12, 200
_EXPORTS = {
    "c": ("model.c", "C"),
    "python": ("model.py", "Python"),
    "matlab": ("model.m", "MATLAB and Octave"),
    "sysidentpy": ("model_sysidentpy.py", "SysIdentPy"),
}
# What is compared, and what a reader calls it.
_COMPARED = {validation.MODEL: "this model", **{name: name for name in (validation.ARX, validation.LAST_VALUE)}}
_STRUCTURES = {
    "best": "lowest J: the model",
    "threshold": "each term often enough",
    "most_frequent": "most frequent as a whole",
    "iterative_ofr": "iterative orthogonal forward regression",
}
_VERSIONS = ("narxbench", "numpy", "scipy", "pandas", "numba", "matplotlib")
_MARKS = {"fine": ("yes", "✓ fine"), "look": ("open", "! look"), "bad": ("no", "✗ bad")}


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
    figures = identification.validation
    return {
        "report.html": model_page(identification, repository=repository),
        "identification.json": canonical_json(as_json(identification), indent=1),
        "validation.csv": write_table(figures.assign(record=[printable(name) for name in figures["record"]])),
        "terms.csv": write_table(_all_terms(identification)),
        "tried.csv": write_table(identification.tried),
        **sources,
    }


def model_page(identification: Identification, *, repository: str = "") -> str:
    """Return the page of an identification: one file that needs no other, nor a network.

    ``repository`` is the address of the project's repository, or "" where none is known.
    """
    found, model, recording = identification, identification.model, identification.recording
    fits, (_, steps) = shown_fits(found), validation.decisive(model, found.validation)
    axis = drawn.time_axis(recording.sampling_time)
    output = drawn.signal_label(model.output, model.units)
    how = "Free run" if steps is None else f"Prediction {steps} step{plural_s(steps)} ahead"
    each = f" One of {len(fits)} records." if len(fits) > 1 else ""
    captions = [f"{how} and measured output: {fit.name} ({fit.role}).{each} {fit.note}".strip() for fit in fits]
    equation, _, legend = model.equation().partition("\n")
    programs, error_of = _programs(model), _error_of(found)
    rests, compared = any(point.y is not None for point in found.curve), found.tried["rrse"].notna().sum() >= 3
    places, titles = _shown_records(found)
    tables = (
        *(_fit_table(found), _weights_table(found), _rivals_table(found), _structures_table(found)),
        _figures_table(found),
        *(_records_table(found), _tests_table(found), _rests_table(found), _fixed_points_table(found)),
        *(_tried_table(found), _data_table(found)),
    )
    figures = {
        "fit": drawn.fit_figure(fits[0], axis, output) if fits else None,
        "certainty": drawn.certainty_figure(found),
        "residuals": drawn.residual_figure(found.tests) if found.tests else None,
        "static": drawn.static_figure(found.curve, found.rests, recording) if model.inputs and rests else None,
        "errors": drawn.tried_figure(found.tried, f"{error_of} error") if compared else None,
        "signals": drawn.data_figure(recording, places, titles),
        "checked": drawn.checks_figure(found.checks, model.decimation),
    }
    page = {
        **{"current": "model", "titles": {"model": "Model"}, "links": {"model": "#main"}, "repository": repository},
        **{"found": found, "model": model, "recording": recording, "marks": _MARKS, "study": ""},
        "warnings": before_all(found),
        **{"answers": ANSWERS, "names_of_model": OF_MODEL},
        "equation": Markup(format_equation(equation, "html")),
        "legend": legend,
        "ordinal": ordinal(model.decimation),
        **{"fits": fits, "steps": steps, "captions": captions, "programs": programs, "error_of": error_of},
        "figures": {name: svg and inline_svg(svg, name) for name, svg in figures.items()},
        "tables": {table.name: to_html(table) for table in tables},
        "searched": [in_words(note).text for note in found.notes if note.status == "fine"],
        "each_record": any(_several(found, role) for role in ROLES),
        "tried_sentences": _tried_sentences(found),
        "sure": structure_sentence(found.certainty),
        "groups": [_unbroken(group_sentence(group)) for group in found.certainty.groups],
        "doubts": [_unbroken(sentence) for sentence in doubt_sentences(found.certainty)],
        "says": {finding.name: _worded(finding) for finding in found.summary},
        "checks": [_worded(finding) for finding in found.checks],
        "settings": [(name, value) for name, value in flattened(found.settings) if value not in ("null", "[]", "{}")],
        "configuration": [(name, value) for name, value in flattened(found.configuration) if name != "name"],
        "versions": {name: metadata.version(name) for name in _VERSIONS},
        "method": method_name(found.settings["method"]),
        "left_out_records": len(recording.records) > len(places),
        "confidence": share(found.settings["confidence"]),
        "data": script_json(_chart_data(fits, captions, axis, output)),
    }
    return rendered("model.html.j2", page)


def _worded(finding: Finding) -> dict[str, str]:
    words = {name: _unbroken(text) for name, text in in_words(finding)._asdict().items()}
    return {"name": finding.name, "status": finding.status, **words}


def _unbroken(text: str) -> str:
    """Return a text whose terms no line is broken at: a hyphen is a place to break, a minus is not."""
    return text.replace("(k-", "(k−")


def _fit_table(found: Identification) -> Table:
    """Return the figures of the first screen: the model next to simpler ones."""
    (_, steps), stride = validation.decisive(found.model, found.validation), found.model.decimation
    present = set(found.validation["role"])
    # The role whose figures say most of new data.
    role = next((role for role in reversed(ROLES) if role in present), "estimation")
    titles = {validation.DECIMATED: f"every {ordinal(stride)} sample", validation.INCOMING: "sampled as it came in"}
    samplings = titles if stride > 1 else {validation.INCOMING: ""}
    head, rows = columns(model="Prediction by"), []
    for sampling, title in samplings.items():
        head += columns("text", title, **{f"{sampling}_rrse": "RRSE", f"{sampling}_fit": "fit"})
    for name, shown in _COMPARED.items():
        place = {"role": role, "record": validation.ALL, "model": name, "steps": steps}
        of = [validation.row_at(found.validation, **place, sampling=sampling) for sampling in samplings]
        rows.append((shown, *(text for row in of for text in _rrse_and_fit(row))))
    how = "Free run" if steps is None else f"{steps} steps ahead" if steps != 1 else "One step ahead"
    data = {"test": "the test data", "selection": "the selection data"}.get(role, "the data it was estimated from")
    return Table.of("fit_figures", f"{how} on {data}", head, rows)


def _rrse_and_fit(row: dict[str, Any] | None) -> tuple[str, str]:
    if row is None or row["rrse"] is None:
        return "diverges" if row is not None and row["diverged"] else MISSING, MISSING
    return _number(row["rrse"], 3), f"{fixed(row['fit_percent'], 1)} %"


def _chart_data(fits: Sequence[Fit], captions: Sequence[str], axis: drawn.TimeAxis, output: str) -> dict[str, Any]:
    return {
        "axis": axis.label,
        "begin": axis.begin,
        "output": output,
        "records": [
            {
                "step": significant(fit.stride * axis.scale),
                "initial": fit.initial,
                "caption": caption,
                "measured": [significant(value, 5) for value in fit.y.tolist()],
                "predicted": fit.predicted if fit.predicted is None else [significant(p, 5) for p in fit.predicted],
            }
            for fit, caption in zip(fits, captions, strict=True)
        ],
    }


def _weights_table(identification: Identification) -> Table:
    often = {row["term"]: row for row in identification.selection.to_dict("records")}
    is_resampled = bool(resample_frequencies(identification.selection))
    head = (
        *columns("equation", term="Term"),
        *columns(coefficient="Coefficient", error="± standard error", t="t", p="p", err="ERR"),
        *columns(probability="Probability"),
        *(columns(resampled="Found again in resampled data") if is_resampled else ()),
    )
    rows = []
    for row in identification.weights:
        value = identification.probabilities.get(row["term"])
        cells = [
            row["term"],
            *(_number(row["coefficient"]), _number(row["standard_error"], 2), _number(row["t"], 3)),
            *(MISSING if row["p"] is None else p_value(row["p"]), _percent(row["err"])),
            MISSING if value is None else probability(value),
        ]
        if is_resampled:
            cells.append(_resampled_share(often.get(row["term"])))
        rows.append(cells)
    return Table.of("weights", "Terms of the model", head, rows)


def _resampled_share(row: Mapping[Any, Any] | None) -> str:
    """Return the share of the resampled data sets that led to a term, with its interval."""
    if row is None:
        return share(0)
    text = share(row["resample_frequency"])
    low, high = row["resample_low"], row["resample_high"]
    return text if low is None or high is None else f"{text} ({share(low)} to {share(high)})"


def _rivals_table(identification: Identification) -> Table:
    """Return the model's structure and the most probable others by their probability."""
    certainty, terms = identification.certainty, identification.model.terms
    head = (
        *columns(probability="Probability", difference="Criterion, less that of the model"),
        *columns("text", noise="Noise"),
        *columns("equation", change="Compared with the model"),
    )
    rated: list[tuple[float, tuple[str, ...]]] = []
    for rival in certainty.rivals:
        cells = (probability(rival.probability), fixed(rival.difference, 1), rival.noise_model)
        rated.append((rival.difference, (*cells, change_of(rival, terms))))
    if certainty.probability is not None:
        cells = (probability(certainty.probability), fixed(0.0, 1), identification.model.noise.description)
        rated.append((0.0, (*cells, "this model")))
    rows = [row for _, row in sorted(rated, key=lambda pair: pair[0])]
    notes = (
        "Probability: of being the true structure, if one of those that were looked at is. A structure whose "
        "criterion, an extended BIC of the likelihood, is higher by 2 is e times less probable. Noise: the most likely "
        "one for each structure, of this model its own.",
    )
    return Table.of("rivals", "The model and its rivals", head, rows, notes=notes)


def _structures_table(identification: Identification) -> Table:
    head = (
        *columns(how="Chosen by", size="Number", rrse="RRSE", fitness="J", shared="shared"),
        *columns("equation", terms="Terms"),
    )
    rows = []
    for name, structure in identification.structures.items():
        n_shared = len({*identification.model.terms} & {*structure.terms})
        how = _STRUCTURES.get(name, name.replace("_", " "))
        cells = (how, count(len(structure.terms)), _number(structure.rrse, 3), _fitness(structure.fitness))
        rows.append((*cells, count(n_shared), ", ".join(structure.terms)))
    notes = [
        f"RRSE: {_error_of(identification)} error on the parts of the selection, with weights that do not know them, "
        "relative to the spread of the output about its mean over all parts. J weighs it against the number of terms; "
        "lower is better. Shared: terms of the model."
    ]
    about = identification.structures_made
    if about:
        notes.append(f"The threshold is a frequency of {about['threshold']:g} over the resampled data sets.")
        if not about["is_reached"]:
            notes.append("No term reaches it: these are the most frequent ones, as many as the best has.")
    failed = [structure for structure in identification.structures.values() if structure.fitness is None]
    if any(structure.singular for structure in failed):
        notes.append("Of some, terms depend on one another.")
    if any(not structure.singular for structure in failed):
        notes.append("Some diverge on the selection.")
    return Table.of("structures", "Structures next to one another", head, rows, notes=tuple(notes))


def _several(found: Identification, role: str) -> list[str]:
    """Return the names of the records of a role, where there are several."""
    own = found.validation[found.validation["role"] == role]
    names = [name for name in dict.fromkeys(own["record"]) if name != validation.ALL]
    return names if len(names) > 1 else []


def _steps(found: Identification) -> list[int]:
    return [step for step in dict.fromkeys(found.validation["steps"]) if step is not None]


def _figure_columns(found: Identification) -> tuple[Column, ...]:
    of = f" ({printable(unit)})" if (unit := found.model.units.get(found.model.output)) else ""
    return (
        *columns("text", "RRSE", **{f"ahead_{step}": f"{step} step{plural_s(step)}" for step in _steps(found)}),
        *columns(group="Free run", rrse="RRSE", fit_percent="fit", nrmse="NRMSE", mae=f"MAE{of}", rmse=f"RMSE{of}"),
        *columns(group="Free run", max_error=f"worst{of}"),
    )


def _figures(found: Identification, record: str, **place: Any) -> list[str]:
    """Return the figures at a place, of all kinds of prediction, as they are shown."""
    free, *ahead = (
        validation.row_at(found.validation, record=record, **place, steps=step) for step in (None, *_steps(found))
    )
    others = (_number(None if free is None else free[name], 3) for name in ("nrmse", "mae", "rmse", "max_error"))
    return [*(_rrse_and_fit(row)[0] for row in ahead), *_rrse_and_fit(free), *others]


def _figures_table(found: Identification) -> Table:
    head = (*columns(role="Data", sampling="Sampling", model="Prediction by"), *_figure_columns(found))
    stride, present = found.model.decimation, set(found.validation["role"])
    samplings = {validation.DECIMATED: f"every {ordinal(stride)}", validation.INCOMING: "every sample"}
    rows = [
        (role, title, shown, *_figures(found, validation.ALL, role=role, model=name, sampling=sampling))
        for role in reversed(ROLES)
        if role in present
        for sampling, title in samplings.items()
        if stride > 1 or sampling == validation.INCOMING
        for name, shown in _COMPARED.items()
    ]
    notes = [
        "RRSE: root of the sum of squared errors relative to that about the mean; 0 is perfect, 1 no better than the "
        "mean. Fit: 100 (1 − RRSE) %. RMSE: root mean square error, NRMSE by range. MAE: mean absolute error."
    ]
    if "selection" in present - {record.role for record in found.recording.records}:
        notes.append("Selection: each part of the data is predicted with weights that do not know it.")
    return Table.of("figures", "Figures by role", head, rows, notes=tuple(notes), merged=1)


def _records_table(found: Identification) -> Table:
    head = (*columns(record="Record", role="Data"), *_figure_columns(found))
    place = {"model": validation.MODEL, "sampling": validation.DECIMATED}
    rows = [
        (printable(name), role, *_figures(found, name, role=role, **place))
        for role in reversed(ROLES)
        for name in _several(found, role)[:_MOST_RECORDS]
    ]
    every = "" if found.model.decimation == 1 else f", every {ordinal(found.model.decimation)} sample"
    left = sum(len(_several(found, role)) for role in ROLES) - len(rows)
    return Table.of("records", f"This model by record{every}", head, rows, notes=_left(left, "are in validation.csv"))


def _tests_table(found: Identification) -> Table:
    head = columns(title="Correlation of", passed="Passed", worst="Largest", lag="at lag", limit="Limit")
    rows = [
        (printable(each.title), _yes(each.passed), fixed(each.worst, 2), fixed(each.worst_lag, 0), fixed(each.limit, 2))
        for each in found.tests
    ]
    return Table.of("tests", "Residuals one step ahead", head, rows)


def _rests_table(found: Identification) -> Table:
    head = (
        *columns(record="Record", samples="Samples"),
        *columns("text", **{f"u{i}": printable(name) for i, name in enumerate(found.model.inputs)}),
        *columns(y="Measured", model_y="Model", deviation="Off, of the range"),
    )
    worst = sorted(found.rests, key=lambda rest: math.inf if rest.deviation is None else rest.deviation, reverse=True)
    rows = [
        (printable(r.record), count(r.samples), *map(_number, (*r.u, r.y, r.model_y)), _percent(r.deviation))
        for r in worst[:_MOST_RESTS]
    ]
    left = len(found.rests) - len(rows)
    notes = (f"The {_MOST_RESTS} that are farthest off; {left} more are nearer.",) if left > 0 else ()
    return Table.of("rests", "Rests of the data and of the model", head, rows, notes=notes)


def _fixed_points_table(found: Identification) -> Table:
    """Return the rests of the model: all without inputs, else those at the ends and the middle of each input."""
    inputs = columns(signal="Input", u="at") if found.model.inputs else ()
    head = (*inputs, *columns(y="rests at", stable="Stable", eigenvalue="Largest eigenvalue", steps="Steps to settle"))
    levels = {signal: [p.u for p in found.curve if p.signal == signal] for signal in found.model.inputs}
    kept = {(signal, of[i]) for signal, of in levels.items() if of for i in (0, len(of) // 2, -1)}
    rows = [
        (
            *((printable(point.signal or ""), _number(point.u)) if inputs else ()),
            "nowhere" if point.y is None else _number(point.y) + ("" if point.inside else " (outside of the data)"),
            MISSING if point.y is None else _yes(point.stable),
            *(_number(point.eigenvalue, 3), _number(point.settling_steps, 3)),
        )
        for point in found.curve
        if point.signal is None or (point.signal, point.u) in kept
    ]
    return Table.of("fixed_points", "Where the model rests", head, rows)


def _error_of(found: Identification) -> str:
    """Return what error the search compared."""
    error = found.settings["error"]
    if error == "auto":
        error = validation.FREE_RUN if found.model.inputs else validation.ONE_STEP
    return "free-run" if error == validation.FREE_RUN else "one-step"


def _tried_sentences(found: Identification) -> list[str]:
    rows = found.tried.to_dict("records")
    searched = sum(row["searched"] == "thoroughly" for row in rows)
    text = f"{count(len(rows))} configuration{plural_s(len(rows))} of decimation, degree and lags "
    text += f"{'was' if len(rows) == 1 else 'were'} searched, {count(searched)} of them thoroughly"
    text += f"; the planned time did not suffice for {count(found.left_out)} more" if found.left_out else ""
    sentences = [f"{text}."]
    own = next((row["rrse"] for row in rows if row["chosen"]), None)
    if own is not None:
        text = f"The chosen one has an RRSE of {_number(own, 3)} on the parts of the selection"
        others = [row["rrse"] for row in rows if not row["chosen"] and row["rrse"] is not None]
        if others:
            near, better = sum(rrse <= 1.1 * own for rrse in others), sum(rrse < own for rrse in others)
            text += f"; {count(near) if near else 'no'} other{'s are' if near > 1 else ' is'} within a tenth"
            text += f", {count(better)} even lower but with a higher J" if better else ""
        sentences.append(f"{text}.")
    failed = sum(row["rrse"] is None for row in rows)
    if failed:
        sentences.append(f"In {count(failed)} no structure was found whose free run stays finite.")
    return sentences


def _tried_table(found: Identification) -> Table:
    lags = {"y_lags": "Lags of y", **({"u_lags": "Lags of u"} if found.model.inputs else {})}
    head = (
        *columns("text", place="Rank", decimation="Decimation", degree="Degree", **lags),
        *columns(centred="Centred", noise_model="Noise", terms="Terms", rrse="RRSE", fitness="J", searched="Searched"),
    )
    rows = [
        (
            *(count(place), str(row["decimation"]), str(row["degree"])),
            *(str(row[name]).replace("-", "–") for name in lags),
            *(_yes(row["centred"]), noise_family(row["noise_model"]).title, str(row["terms"])),
            *(_number(row["rrse"], 3), _fitness(row["fitness"])),
            row["searched"] + (", chosen" if row["chosen"] else ""),
        )
        for place, row in enumerate(found.tried.head(_MOST_TRIED).to_dict("records"), start=1)
    ]
    notes = _left(len(found.tried) - len(rows), "are in tried.csv")
    return Table.of("tried", "Configurations, the best first", head, rows, notes=notes)


def _shown_records(found: Identification) -> tuple[list[int], list[str]]:
    """Return the places of the records that are drawn, of each role the longest first, and what stands above them."""
    records = found.recording.records
    longest = sorted((place for place, record in enumerate(records) if len(record)), key=lambda p: -len(records[p]))
    by_role = [[p for p in longest if records[p].role == role] for role in (None, "estimation", "selection", "test")]
    turns = [place for rank in range(drawn.MOST_RECORDS) for own in by_role for place in own[rank : rank + 1]]
    chosen = sorted(turns[: drawn.MOST_RECORDS])
    return chosen, [f"{name_of(records[place])}: {records[place].role or 'estimation, selection'}" for place in chosen]


def _data_table(found: Identification) -> Table:
    time, records = found.recording.sampling_time, found.recording.records
    rows = [[name_of(record), record.role or SHARED, count(len(record))] for record in records[:_MOST_RECORDS]]
    head = columns(name="Record", role="Used for", samples="Samples")
    if time is not None:
        head += columns(duration="Seconds")
        rows = [[*row, _number(time * len(record))] for row, record in zip(rows, records, strict=False)]
    return Table.of("data-records", "Records", head, rows, notes=_left(len(records) - len(rows), "are not listed"))


def _programs(model: Model) -> list[tuple[str, str, str, str]]:
    """Return file, language, text and, where there is none, the reason of each program."""
    found = []
    for language, (file, title) in _EXPORTS.items():
        try:
            found.append((file, title, model.export(language, "model"), ""))
        except NarxbenchError as error:
            found.append((file, title, "", str(error).partition(": ")[2]))
    return found


def _all_terms(identification: Identification) -> pd.DataFrame:
    """Return one row for each term of the model and each probable or chosen one: weight, errors, how sure it is."""
    weights = {row["term"]: row for row in identification.weights}
    often = {row["term"]: row for row in identification.selection.to_dict("records")}
    coefficients = dict(zip(identification.model.terms, identification.model.coefficients, strict=True))
    weight_names = next(iter(identification.weights), {})
    names = ["term", "in_model", "coefficient", "probability", *weight_names, *identification.selection.columns]
    rows = []
    for term in dict.fromkeys([*coefficients, *identification.probabilities, *often]):
        about = {
            "term": term,
            "in_model": term in coefficients,
            "coefficient": coefficients.get(term),
            "probability": identification.probabilities.get(term),
        }
        rows.append(weights.get(term, {}) | often.get(term, {}) | about)
    return pd.DataFrame(rows, columns=[*dict.fromkeys(names)], dtype=object)


def _left(number: int, where: str) -> tuple[str, ...]:
    """Return the note below a table that is cut off."""
    return (f"{number} more {where}.",) if number else ()


def _yes(value: Any) -> str:
    return "yes" if value else "no"


def _fitness(value: float | None) -> str:
    return MISSING if value is None else fixed(value, 1)


def _number(value: float | None, digits: int = 4) -> str:
    """Return a number with some significant digits, large and tiny ones as powers of ten that a table can sort."""
    return MISSING if value is None else f"{value:.{digits}g}".replace("-", "−", 1 if value < 0 else 0)


def _percent(value: float | None) -> str:
    if value is None:
        return MISSING
    size = 100 * abs(value)
    return f"{100 * value:.4g} %" if size >= 1e-3 or not size else "< 0.001 %"
