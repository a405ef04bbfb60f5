"""Three answers that follow from the findings: may one predict with a model, read its terms, and control with it."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from narxbench._identification.finding import TITLES, Finding, Status, worst
from narxbench._identification.phrases import OTHER_UNIT, Values, capital, how_predicted, percent, setting, unit_of
from narxbench._identification.validation.control import control_answer
from narxbench._identification.validation.error_table import ALL, DECIMATED, row_of
from narxbench._identification.validation.errors import FREE_RUN_LOOK, LITTLE, NOISE, PROMISE
from narxbench._identification.validation.reading import reading_answer
from narxbench._io.errors import printable
from narxbench._io.words import listed
from narxbench._model.narx import Model
from narxbench._model.records import Recording
from narxbench._model.terms import INPUT

if TYPE_CHECKING:
    from narxbench._identification.result import Identification

ANSWERS = ("to_predict", "to_read", "to_control")
# Checks of the data that are bad where the record shows less than a model needs: then a good test proves less, too.
_LESS_SHOWN = ("saturation", "excitation")
# Data that a model predicts, by their role.
_DATA = {"test": "the test data", "selection": "data that chose the model, but not its weights,"}


def answers(identification: "Identification") -> list[Finding]:
    """Return whether one may predict with a model, read its terms, and, where it has inputs, control with it."""
    findings = {finding.name: finding for finding in identification.summary}
    to_predict = prediction_answer(identification.model, identification.recording, identification.validation, findings)
    to_read = reading_answer(identification, findings["errors"], to_predict.values["noise"])
    if not identification.model.inputs or not identification.curve:
        return [to_predict, to_read]
    return [to_predict, to_read, control_answer(identification, findings["steady_states"], to_predict.status)]


def prediction_answer(
    model: Model,
    recording: Recording,
    frame: pd.DataFrame,
    findings: Mapping[str, Finding],
    others: Literal["simulated", "measured"] | None = None,
) -> Finding:
    """Return whether one may predict with a model: by its errors, and bad for noise.

    It is at best ``look`` where errors drift, where the record shows less than a model needs, and where the model
    diverges when inputs are held. Errors at the limit of a sensor come from the sensor. ``others`` says
    what a model that runs together with others has of their outputs.
    """
    prediction = findings["errors"]
    place = {name: prediction.values[name] for name in ("role", "kind", "steps")}
    row = row_of(frame, **place)
    if row["rrse"] is None:
        row = row_of(frame, **place, sampling=DECIMATED)
    because = _reasons_to_look(findings)
    is_judged = not (prediction.values["rests"] or prediction.values["other_unit"])
    is_noise = is_judged and _nothing_predicts(frame, place["role"])
    status: Status = "bad" if is_noise else _status_of_answer(prediction, because)
    values = {
        **place,
        **{name: row[name] for name in ("rrse", "rmse", "max_error")},
        **{name: prediction.values[name] for name in ("horizon", "diverged", "rests", "other_unit")},
        "ranges": _ranges(model, recording),
        "units": dict(model.units),
        "output": model.output,
        "noise": is_noise,
        "unavoidable": _is_unavoidable(prediction),
        "avoidable": prediction.values["avoidable"],
        "attempts": None,
        "because": [*_range_of_test(findings, prediction), *because],
    }
    if others is not None:
        values["others"] = others
    return Finding("to_predict", status, values, *to_predict_text(values, status))


def with_attempts(to_predict: Finding, attempts: Mapping[str, Any] | None) -> Finding:
    """Return whether one may predict with a model, with what other settings gain."""
    values = {**to_predict.values, "attempts": attempts}
    text, advice = to_predict_text(values, to_predict.status)
    return replace(to_predict, values=values, text=text, advice=advice)


def to_predict_text(values: Values, status: Status) -> tuple[str, str]:
    """Return the sentences and the advice of :func:`prediction_answer`."""
    texts = []
    if values["noise"]:
        texts.append(
            f"{_subject(values, 'The output')} looks like noise: neither this model nor a simpler one predicts it."
        )
    if values["diverged"]:
        texts.append(f"{_diverging(values)} on {listed(values['diverged'])}.")
    if values["rmse"] is not None:
        texts += [_error_text(values), f"This holds for {_ranges_text(values)}."]
    if values["other_unit"]:
        name = printable(values["other_unit"])
        texts.append(f"In the test {name} may be in another unit, which would explain this.")
    if status == "fine":
        unit = unit_of(values["units"], values["output"])
        texts.append(f"On similar data expect an rms error of at most {PROMISE * values['rmse']:.3g}{unit}.")
    if values["rests"]:
        texts.append(f"{_subject(values, 'The output')} hardly moves in the test, so the test shows little.")
    if values["unavoidable"]:
        share = percent(values["avoidable"])
        texts.append(f"{share} of the squared error could be predicted from earlier data; the rest looks like noise.")
    if values["because"]:
        titles = [TITLES[name] for name in values["because"]]
        texts.append(f"See: {'; '.join(title[:1].lower() + title[1:] for title in titles)}.")
    tried, advice = _attempts(values["attempts"])
    return " ".join([*texts, *tried]), OTHER_UNIT if values["other_unit"] else advice


def _attempts(attempts: Values | None) -> tuple[list[str], str]:
    """Return what other settings gain, in a sentence, and which of them to take."""
    if attempts is None:
        return [], ""
    texts = []
    for row in attempts["rows"]:
        name = listed([setting(name, row["value"]) for name in row["settings"]])
        texts.append(f"{name} no model that holds" if row["rrse"] is None else f"{name} {row['rrse']:.3g}")
    tried = f"Other settings, with their RRSE on unseen parts (now {attempts['error']:.3g}): {'; '.join(texts)}."
    better = attempts["better"]
    if better is None:
        return [tried], ""
    names = listed([setting(name, better["value"]) for name in better["settings"]])
    return [tried], f"Take {names}: the error falls from {attempts['error']:.3g} to {better['rrse']:.3g}."


def _subject(values: Values, only_one: str = "the output") -> str:
    """Return what a sentence calls the output: its name where it is not the only one."""
    return printable(values["output"]) if "others" in values else only_one


def _diverging(values: Values) -> str:
    """Return the beginning of a sentence on a free run that diverges."""
    kind = "joint free run" if values.get("others") == "simulated" else "free run"
    name = f" of {_subject(values)}" if "others" in values else ""
    return f"The {kind}{name} diverges"


def _how(values: Values) -> str:
    """Return the kind of prediction, and what it has of other outputs."""
    if values.get("others") == "simulated":
        return "In joint free run"
    how = capital(how_predicted(values))
    return f"{how} with the others as measured" if "others" in values else how


def _error_text(values: Values) -> str:
    """Return how far predictions are off, in the unit of the output."""
    unit = unit_of(values["units"], values["output"])
    data = _DATA.get(values["role"], "the data it was estimated from")
    text = f"{_how(values)} on {data} the rms error of {_subject(values)} is {values['rmse']:.3g}{unit}"
    if values["rrse"] is not None:
        text += f", {percent(values['rrse'])} of its standard deviation"
    return f"{text}; the largest error is {values['max_error']:.3g}{unit}."


def _ranges_text(values: Values) -> str:
    """Return the ranges of the signals that a model was made for."""
    ranges = []
    for name, (low, high) in values["ranges"].items():
        ranges.append(f"{name} from {low:.3g} to {high:.3g}{unit_of(values['units'], name)}")
    return listed(ranges)


def _nothing_predicts(frame: pd.DataFrame, role: str) -> bool:
    """Return whether neither the model nor a simpler one explains a tenth of the variance."""
    errors = frame[(frame["role"] == role) & (frame["record"] == ALL)]["rrse"].dropna()
    return bool(len(errors) and errors.min() >= NOISE)


def _status_of_answer(prediction: Finding, because: Sequence[str]) -> Status:
    """Return the status by the predictions and by reasons to look. Errors at a limit of a sensor do not count."""
    if "saturation" in because and not prediction.values["diverged"]:
        return "look"
    status: Status = prediction.values["error_status"]
    return worst(status, "look" if because else "fine")


def _is_unavoidable(prediction: Finding) -> bool:
    """Return whether large errors are noise, as far as the regression on earlier data tells."""
    relative, diverged = prediction.values["relative"], prediction.values["diverged"]
    if prediction.values["other_unit"]:
        return False
    return prediction.values["error_status"] == "look" and not diverged and (relative or 0.0) > FREE_RUN_LOOK


def _range_of_test(findings: Mapping[str, Finding], prediction: Finding) -> list[str]:
    """Return the name of the check of the test's range where it explains why the predictions are not fine."""
    check = findings.get("test-range")
    if check is None or check.status != "bad" or prediction.values["error_status"] == "fine":
        return []
    return [check.name]


def _reasons_to_look(findings: Mapping[str, Finding]) -> list[str]:
    """Return the names of findings why a good test is not enough to predict with a model."""
    reasons = []
    for name, finding in findings.items():
        if _limits_trust(finding):
            reasons.append(name)
    return reasons


def _limits_trust(finding: Finding) -> bool:
    """Return whether a finding makes doubt of a model whose errors are small."""
    if finding.name in _LESS_SHOWN:
        return finding.status == "bad"
    if finding.name == "drift":
        return finding.status != "fine"
    if finding.name == "evidence":
        return bool(finding.values["degree"])
    if finding.name == "steady_states":
        return not finding.values["bounded"]
    return finding.name == "residuals" and _drifts(finding.values["free_run"])


def _drifts(bias: Mapping[str, Any] | None) -> bool:
    """Return whether the errors of free runs drift by so much that it matters for any model."""
    if bias is None:
        return False
    drift = bias["drift"]
    return bool(drift["seen"] and abs(drift["error"]) > LITTLE * bias["deviation"])


def _ranges(model: Model, recording: Recording) -> dict[str, list[float]]:
    """Return the lowest and the highest value of each signal that a model uses, in the data that it was made with."""
    used = {signal for monomial in model.monomials for signal, _ in monomial}
    signals = np.vstack([np.column_stack([record.u, record.y]) for record in recording.known])
    ranges = {}
    for place, name in enumerate(model.inputs):
        if INPUT + place in used:
            ranges[name] = [float(signals[:, place].min()), float(signals[:, place].max())]
    ranges[model.output] = [float(signals[:, -1].min()), float(signals[:, -1].max())]
    return ranges
