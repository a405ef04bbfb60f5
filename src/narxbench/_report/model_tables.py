"""The tables on the page of a model."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from narxbench._identification.result import Identification
from narxbench._identification.trust import validation
from narxbench._identification.trust.dynamics import Range
from narxbench._identification.trust.steady_state import FixedPoint
from narxbench._io.errors import printable
from narxbench._io.words import ordinal
from narxbench._model.noise_models import noise_family
from narxbench._model.records import ROLES
from narxbench._model.terms import INPUT
from narxbench._model.working_point import delay_of
from narxbench._report.answer_words import where_intervals_hold
from narxbench._report.data_tables import MOST_RECORDS, records_table
from narxbench._report.formats import MISSING, count, fixed, p_value, probability, shortened
from narxbench._report.model_certainty import change_of
from narxbench._report.phrases import plural_s
from narxbench._report.table import Column, Table, columns

# Rows of tables that are long where a reader looks for one of them.
_MOST_RESTS, _MOST_TRIED = 12, 200
# The models that are compared, and what a reader calls them.
_COMPARED = {
    validation.MODEL: "this model",
    validation.ARX: validation.ARX,
    validation.LAST_VALUE: validation.LAST_VALUE,
}
_STRUCTURES = {
    "best": "lowest J: the model",
    "iterative_ofr": "iterative orthogonal forward regression",
}
_DATA = {"test": "the test data", "selection": "the selection data"}


def model_tables(identification: Identification) -> list[Table]:
    """Return all tables on the page of a model."""
    return [
        _fit_table(identification),
        _weights_table(identification),
        _rivals_table(identification),
        _structures_table(identification),
        _figures_table(identification),
        _records_table(identification),
        _tests_table(identification),
        _rests_table(identification),
        _fixed_points_table(identification),
        _dynamics_table(identification),
        _tried_table(identification),
        records_table(identification.recording),
    ]


def has_several_records(identification: Identification) -> bool:
    """Return whether some role has several records, so that figures by record say more than those by role."""
    return any(_several_records(identification, role) for role in ROLES)


def error_kind(identification: Identification) -> str:
    """Return which error the search compared: ``free-run`` or ``one-step``."""
    is_for_next_step = not identification.model.inputs or identification.settings["horizon"] == 1
    return "one-step" if is_for_next_step else "free-run"


def tried_sentences(identification: Identification) -> list[str]:
    """Return how many configurations were tried, and how close the others came."""
    rows = identification.tried.to_dict("records")
    sentences = [_count_of_tried(rows, identification.left_out)]
    chosen_rrse = next((row["rrse"] for row in rows if row["chosen"]), None)
    if chosen_rrse is not None:
        further = [row["rrse"] for row in rows if not row["chosen"] and row["rrse"] is not None]
        sentences.append(_place_of_chosen(chosen_rrse, further))
    n_failed = sum(row["rrse"] is None for row in rows)
    if n_failed:
        sentences.append(f"In {count(n_failed)} no structure was found whose free run stays finite.")
    return sentences


def _count_of_tried(rows: Sequence[Mapping[Any, Any]], left_out: int) -> str:
    n_thorough = sum(row["searched"] == "thoroughly" for row in rows)
    text = f"{count(len(rows))} configuration{plural_s(len(rows))} of decimation, degree and lags "
    text += f"{'was' if len(rows) == 1 else 'were'} searched, {count(n_thorough)} of them thoroughly"
    if left_out:
        text += f"; the planned time did not suffice for {count(left_out)} more"
    return f"{text}."


def _place_of_chosen(chosen_rrse: float, further: Sequence[float]) -> str:
    """Return how far other configurations are from the chosen one."""
    text = f"The chosen one has an RRSE of {_number(chosen_rrse, 3)} on the parts of the selection"
    if not further:
        return f"{text}."
    n_near, n_better = sum(rrse <= 1.1 * chosen_rrse for rrse in further), sum(rrse < chosen_rrse for rrse in further)
    text += f"; {count(n_near) if n_near else 'no'} other{'s are' if n_near > 1 else ' is'} within a tenth"
    if n_better:
        text += f", {count(n_better)} even lower but with a higher J"
    return f"{text}."


def _fit_table(identification: Identification) -> Table:
    """Return the figures of the first screen: the model next to simpler ones."""
    frame = identification.validation
    steps = identification.steps_judged
    present = set(frame["role"])
    # The role whose figures say most of new data.
    role = next((role for role in reversed(ROLES) if role in present), "estimation")
    head, rows = (*columns(model="Prediction by"), *columns("text", rrse="RRSE", fit="fit")), []
    for name, title in _COMPARED.items():
        place = {"role": role, "record": validation.ALL, "model": name, "steps": steps}
        rows.append([title, *_rrse_and_fit(validation.row_at(frame, **place, sampling=validation.INCOMING))])
    data = _DATA.get(role, "the data it was estimated from")
    return Table.of("fit_figures", f"{_how_predicted(steps)} on {data}", head, rows)


def _how_predicted(steps: int | None) -> str:
    if steps is None:
        return "Free run"
    return "One step ahead" if steps == 1 else f"{steps} steps ahead"


def _rrse_and_fit(row: Mapping[str, Any] | None) -> tuple[str, str]:
    if row is None or row["rrse"] is None:
        return "diverges" if row is not None and row["diverged"] else MISSING, MISSING
    return _number(row["rrse"], 3), f"{fixed(row['fit_percent'], 1)} %"


def _weights_table(identification: Identification) -> Table:
    head = (
        *columns("equation", term="Term"),
        *columns(coefficient="Coefficient", error="± standard error", t="t", p="p", err="ERR"),
        *columns(probability="Probability"),
    )
    rows = []
    for row in identification.weights:
        value = identification.probabilities.get(row["term"])
        cells = [row["term"], _number(row["coefficient"]), _number(row["standard_error"], 2), _number(row["t"], 3)]
        cells += [_or_missing(row["p"], p_value), _percent(row["err"]), _or_missing(value, probability)]
        rows.append(cells)
    return Table.of("weights", "Terms of the model", head, rows)


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
    note = (
        "Probability: of being the true structure, if one of those that were looked at is. A structure whose "
        "criterion, an extended BIC of the likelihood, is higher by 2 is e times less probable. Noise: the most likely "
        "one for each structure, of this model its own."
    )
    return Table.of("rivals", "The model and its rivals", head, rows, notes=(note,))


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
    notes = tuple(_structure_notes(identification))
    return Table.of("structures", "Structures next to one another", head, rows, notes=notes)


def _structure_notes(identification: Identification) -> list[str]:
    notes = [
        f"RRSE: {error_kind(identification)} error on the parts of the selection, with weights that do not know them, "
        "relative to the spread of the output about its mean over all parts. J weighs it against the number of terms; "
        "lower is better. Shared: terms of the model."
    ]
    failed = [structure for structure in identification.structures.values() if structure.fitness is None]
    if any(structure.singular for structure in failed):
        notes.append("Of some, terms depend on one another.")
    if any(not structure.singular for structure in failed):
        notes.append("Some diverge on the selection.")
    return notes


def _several_records(identification: Identification, role: str) -> list[str]:
    """Return the names of the records of a role, where there are several."""
    frame = identification.validation
    names = [name for name in dict.fromkeys(frame[frame["role"] == role]["record"]) if name != validation.ALL]
    return names if len(names) > 1 else []


def _steps(identification: Identification) -> list[int]:
    """Return how many steps ahead predictions are judged."""
    return [step for step in dict.fromkeys(identification.validation["steps"]) if step is not None]


def _figure_columns(identification: Identification) -> tuple[Column, ...]:
    output_unit = identification.model.units.get(identification.model.output)
    unit = f" ({printable(output_unit)})" if output_unit else ""
    ahead = {f"ahead_{step}": f"{step} step{plural_s(step)}" for step in _steps(identification)}
    return (
        *columns("text", "RRSE", **ahead),
        *columns(group="Free run", rrse="RRSE", fit_percent="fit", nrmse="NRMSE", mae=f"MAE{unit}"),
        *columns(group="Free run", rmse=f"RMSE{unit}", max_error=f"worst{unit}"),
    )


def _figure_cells(identification: Identification, record: str, **place: Any) -> list[str]:
    """Return the figures at a place, of all kinds of prediction, as they are shown."""
    frame = identification.validation
    cells = []
    for step in _steps(identification):
        cells.append(_rrse_and_fit(validation.row_at(frame, record=record, **place, steps=step))[0])
    free_run = validation.row_at(frame, record=record, **place, steps=None)
    cells += _rrse_and_fit(free_run)
    for name in ("nrmse", "mae", "rmse", "max_error"):
        cells.append(_number(None if free_run is None else free_run[name], 3))
    return cells


def _figures_table(identification: Identification) -> Table:
    head = (*columns(role="Data", sampling="Sampling", model="Prediction by"), *_figure_columns(identification))
    stride, present = identification.model.decimation, set(identification.validation["role"])
    samplings = {validation.INCOMING: "every sample"}
    if stride > 1:
        samplings = {validation.DECIMATED: f"every {ordinal(stride)}", **samplings}
    rows = []
    for role in (role for role in reversed(ROLES) if role in present):
        for sampling, sampling_title in samplings.items():
            for name, title in _COMPARED.items():
                place = {"role": role, "model": name, "sampling": sampling}
                cells = _figure_cells(identification, validation.ALL, **place)
                rows.append((role, sampling_title, title, *cells))
    notes = [
        "RRSE: root of the sum of squared errors relative to that about the mean; 0 is perfect, 1 no better than the "
        "mean. Fit: 100 (1 − RRSE) %. RMSE: root mean square error, NRMSE by range. MAE: mean absolute error."
    ]
    if "selection" in present - {record.role for record in identification.recording.records}:
        notes.append("Selection: each part of the data is predicted with weights that do not know it.")
    return Table.of("figures", "Figures by role", head, rows, notes=tuple(notes), merged=1)


def _records_table(identification: Identification) -> Table:
    head = (*columns(record="Record", role="Data"), *_figure_columns(identification))
    place = {"model": validation.MODEL, "sampling": validation.INCOMING}
    rows, n_records = [], 0
    for role in reversed(ROLES):
        names = _several_records(identification, role)
        n_records += len(names)
        for name in names[:MOST_RECORDS]:
            rows.append((printable(name), role, *_figure_cells(identification, name, role=role, **place)))
    notes = _cut_note(n_records - len(rows), "are in validation.csv")
    return Table.of("records", "This model by record", head, rows, notes=notes)


def _tests_table(identification: Identification) -> Table:
    head = columns(title="Correlation of", passed="Passed", worst="Largest", lag="at lag", limit="Limit")
    rows = []
    for test in identification.tests:
        cells = (fixed(test.worst, 2), fixed(test.worst_lag, 0), fixed(test.limit, 2))
        rows.append((printable(test.title), _yes(test.passed), *cells))
    return Table.of("tests", "Residuals one step ahead", head, rows)


def _rests_table(identification: Identification) -> Table:
    head = (
        *columns(record="Record", samples="Samples"),
        *columns("text", **{f"u{i}": printable(name) for i, name in enumerate(identification.model.inputs)}),
        *columns(y="Measured", model_y="Model", deviation="Off, of the range"),
    )
    rests = identification.rests
    worst = sorted(rests, key=lambda rest: math.inf if rest.deviation is None else rest.deviation, reverse=True)
    rows = []
    for rest in worst[:_MOST_RESTS]:
        levels = map(_number, (*rest.u, rest.y, rest.model_y))
        rows.append((printable(rest.record), count(rest.samples), *levels, _percent(rest.deviation)))
    n_left = len(rests) - len(rows)
    notes = (f"The {_MOST_RESTS} that are farthest off; {n_left} more are nearer.",) if n_left > 0 else ()
    return Table.of("rests", "Rests of the data and of the model", head, rows, notes=notes)


def _fixed_points_table(identification: Identification) -> Table:
    """Return the rests of the model: all without inputs, else those at the ends and the middle of each input."""
    head = columns(y="rests at", stable="Stable", eigenvalue="Largest eigenvalue", steps="Steps to settle")
    has_inputs = bool(identification.model.inputs)
    if has_inputs:
        head = (*columns(signal="Input", u="at"), *head)
    kept = set()
    for signal in identification.model.inputs:
        levels = [point.u for point in identification.curve if point.signal == signal]
        kept |= {(signal, levels[i]) for i in (0, len(levels) // 2, -1) if levels}
    rows = []
    for point in identification.curve:
        if point.signal is None or (point.signal, point.u) in kept:
            place = (printable(point.signal or ""), _number(point.u)) if has_inputs else ()
            rows.append((*place, *_fixed_point_cells(point)))
    return Table.of("fixed_points", "Where the model rests", head, rows)


def _dynamics_table(identification: Identification) -> Table:
    """Return gain and delay of each input, settling time and poles, with their intervals."""
    head = columns(figure="Figure", value="Model", low="From", high="To")
    dynamics, rows, notes = identification.dynamics, list[tuple[str, ...]](), tuple[str, ...]()
    if dynamics is not None:
        over = "Intervals are over all structures that are about as good, those of faster poles over this one alone."
        notes = (over, where_intervals_hold(dynamics.lacking, dynamics.unexplained))
        for name, answer in dynamics.inputs.items():
            if answer.gain is not None:
                rows.append((f"gain of {printable(name)}", *_interval_cells(answer.gain)))
            if answer.delay is not None:
                least, most = map(str, answer.delay)
                delay = delay_of(identification.model, INPUT + identification.model.inputs.index(name))
                rows.append((f"delay of {printable(name)} (samples)", _number(delay), least, most))
        if dynamics.settling is not None:
            rows.append(("settling time (samples)", *_interval_cells(dynamics.settling)))
        for pole, magnitude in dynamics.poles:
            rows.append((f"size of the pole {_complex(pole)}", *_interval_cells(magnitude)))
    return Table.of("dynamics", "Answer to small changes at the middle of the data", head, rows, notes=notes)


def _interval_cells(interval: Range) -> tuple[str, str, str]:
    """Return a value and the ends of its interval; an end that is missing is not bounded."""
    low = "−∞" if interval.low is None else _number(interval.low)
    high = "∞" if interval.high is None else _number(interval.high)
    return _number(interval.value), low, high


def _complex(pole: complex) -> str:
    text = _number(pole.real)
    if pole.imag:
        text += f" {'−' if pole.imag < 0 else '+'} {_number(abs(pole.imag))}i"
    return text


def _fixed_point_cells(point: FixedPoint) -> tuple[str, ...]:
    """Return output, stability, eigenvalue and steps to settle of a fixed point."""
    if point.y is None:
        return "nowhere", MISSING, _number(point.eigenvalue, 3), _number(point.settling_steps, 3)
    y = _number(point.y) if point.inside else f"{_number(point.y)} (outside of the data)"
    return y, _yes(point.stable), _number(point.eigenvalue, 3), _number(point.settling_steps, 3)


def _tried_table(identification: Identification) -> Table:
    lags = {"y_lags": "Lags of y"}
    if identification.model.inputs:
        lags["u_lags"] = "Lags of u"
    head = (
        *columns("text", place="Rank", decimation="Decimation", degree="Degree", **lags),
        *columns(centred="Centred", noise_model="Noise", terms="Terms", rrse="RRSE", fitness="J", searched="Searched"),
    )
    rows = []
    for place, row in enumerate(identification.tried.head(_MOST_TRIED).to_dict("records"), start=1):
        cells = [count(place), str(row["decimation"]), str(row["degree"])]
        cells += [str(row[name]).replace("-", "–") for name in lags]
        cells += [_yes(row["centred"]), noise_family(row["noise_model"]).title, str(row["terms"])]
        cells += [_number(row["rrse"], 3), _fitness(row["fitness"])]
        cells.append(f"{row['searched']}, chosen" if row["chosen"] else row["searched"])
        rows.append(cells)
    notes = _cut_note(len(identification.tried) - len(rows), "are in tried.csv")
    return Table.of("tried", "Configurations, the best first", head, rows, notes=notes)


def _cut_note(number: int, where: str) -> tuple[str, ...]:
    """Return the note below a table that is cut off."""
    return (f"{number} more {where}.",) if number else ()


def _yes(value: Any) -> str:
    return "yes" if value else "no"


def _or_missing(value: float | None, shown: Callable[[float], str]) -> str:
    """Return a value as it is shown, or the mark of one that is missing."""
    return MISSING if value is None else shown(value)


def _fitness(value: float | None) -> str:
    return _or_missing(value, lambda number: fixed(number, 1))


def _number(value: float | None, digits: int = 4) -> str:
    """Return a number with some significant digits, large and tiny ones as powers of ten that a table can sort."""
    if value is None:
        return MISSING
    return shortened(value, digits)


def _percent(value: float | None) -> str:
    if value is None:
        return MISSING
    size = 100 * abs(value)
    return f"{100 * value:.4g} %" if size >= 1e-3 or not size else "< 0.001 %"
