"""Three answers that follow from the findings: may one predict with a model, read its terms, and control with it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from narxbench._identification.finding import Finding, Status, worst
from narxbench._identification.trust.control import Doubt, control_doubts
from narxbench._identification.trust.dynamics import COVERAGE, Dynamics, middle_rest
from narxbench._identification.trust.probabilities import EXACT
from narxbench._identification.trust.residuals import BIASED
from narxbench._identification.trust.steady_state import FixedPoint
from narxbench._identification.trust.validation import ALL, DECIMATED, row_of
from narxbench._identification.trust.verdicts import FREE_RUN_LOOK, NOISE
from narxbench._model.functions import derived
from narxbench._model.narx import Model
from narxbench._model.records import Recording
from narxbench._model.terms import INPUT
from narxbench._model.working_point import delay_of
from narxbench._numerics.rounding import significant

if TYPE_CHECKING:
    from narxbench._identification.result import Identification

ANSWERS = ("to_predict", "to_read", "to_control")
# A term of this probability is more probable than not.
LIKELY = 0.5
# Checks of the data that are bad where the record shows less than a model needs: then a good test proves less, too.
_LESS_SHOWN = ("saturation", "excitation")
# A verdict "fine" promises an error of at most this many times that of the test on further data of the kind
# (benchmarks/verdicts.md).
PROMISE = 2.0


def answers(identification: "Identification") -> list[Finding]:
    """Return whether one may predict with a model, read its terms, and, where it has inputs, control with it."""
    findings = {finding.name: finding for finding in identification.summary}
    to_predict = prediction_answer(identification.model, identification.recording, identification.validation, findings)
    to_read = _to_read(identification, findings, to_predict.values["noise"])
    if not identification.model.inputs or not identification.curve:
        return [to_predict, to_read]
    return [to_predict, to_read, _to_control(identification, findings, to_predict.status)]


def prediction_answer(
    model: Model,
    recording: Recording,
    frame: pd.DataFrame,
    findings: Mapping[str, Finding],
) -> Finding:
    """Return whether one may predict with a model: by its errors, and bad for noise.

    It is at best ``look`` where errors drift, where the record shows less than a model needs, and where the model
    leaves all bounds once inputs are held. Errors at the limit of a sensor are those of the sensor.
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
    return Finding("to_predict", status, values)


def _nothing_predicts(frame: pd.DataFrame, role: str) -> bool:
    """Return whether neither the model nor a simpler one explains a tenth of the variance."""
    errors = frame[(frame["role"] == role) & (frame["record"] == ALL)]["rrse"].dropna()
    return bool(len(errors) and errors.min() >= NOISE)


def _status_of_answer(prediction: Finding, because: Sequence[str]) -> Status:
    """Return the status by the predictions and by reasons to look; errors at a limit of a sensor say nothing."""
    if "saturation" in because and not prediction.values["diverged"]:
        return "look"
    status: Status = prediction.values["error_status"]
    return worst(status, "look" if because else "fine")


def _is_unavoidable(prediction: Finding) -> bool:
    """Return whether large errors are noise, as far as what is known in time tells."""
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
    return bool(drift["seen"] and abs(drift["error"]) > BIASED * bias["deviation"])


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


def _to_read(identification: "Identification", findings: Mapping[str, Finding], is_noise: bool) -> Finding:
    """Return whether the terms of a model tell something about the process.

    Fine if nothing makes doubt of the structure and no terms are exchangeable; for an exact model if none of its terms
    is rounding and none could be another. Bad if less than half of the terms are more probable than not, and for noise.
    """
    certainty = identification.certainty
    superfluous = findings["errors"].values["superfluous"]
    inside, outside = _probabilities(identification, superfluous)
    groups = [group._asdict() for group in certainty.groups if sum(group.probabilities) >= LIKELY]
    n_likely = sum(probability >= LIKELY for probability in inside.values())
    values = {
        "missing": certainty.missing,
        "samples": certainty.samples,
        "probability": certainty.probability,
        "probabilities": inside,
        "likely": n_likely,
        "outside": outside,
        "groups": groups,
        "doubts": [doubt.kind for doubt in certainty.doubts],
        "likelier_noise": _likelier_noise(identification),
        "alike": [list(pair) for pair in identification.alike],
        "near_pairs": identification.configuration["near_pairs"],
        "left_out": len(identification.configuration["dropped"]),
        "superfluous": superfluous,
        "noise": is_noise,
        "weak": _weak_terms(identification),
    }
    if is_noise or 2 * n_likely < len(inside):
        return Finding("to_read", "bad", values)
    return Finding("to_read", "look" if superfluous or _is_doubtful(values) else "fine", values)


def _is_doubtful(values: Mapping[str, Any]) -> bool:
    """Return whether anything makes doubt of a structure."""
    if values["missing"] == EXACT:
        return bool(values["alike"])
    if values["missing"] or values["likely"] < len(values["probabilities"]):
        return True
    return bool(values["doubts"] or values["groups"] or values["outside"])


def _probabilities(
    identification: "Identification", superfluous: Sequence[str]
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the probabilities of the terms of a model that are more than rounding, and of probable ones outside."""
    inside, outside = {}, {}
    for term, probability in identification.probabilities.items():
        if term in identification.model.terms:
            inside[term] = probability
        elif probability >= LIKELY:
            outside[term] = probability
    for term in superfluous:
        inside.pop(term, None)
    return inside, outside


def _weak_terms(identification: "Identification") -> list[str]:
    """Return the terms whose weights are less than two standard errors from zero."""
    weak = []
    for row in identification.weights:
        if row["t"] is not None and abs(row["t"]) < 2:
            weak.append(row["term"])
    return weak


def _likelier_noise(identification: "Identification") -> str | None:
    """Return the name of a noise model of another kind than that of the model that is clearly more likely."""
    for doubt in identification.certainty.doubts:
        if doubt.kind == "likelier_noise" and doubt.values["noise_model"] != identification.model.noise_model:
            return str(doubt.values["noise_model"])
    return None


class _InputGain(NamedTuple):
    """How a model answers one of its inputs at rest."""

    rest: FixedPoint | None  # the stable one nearest to the middle of the data
    gain: float | None
    turns: bool  # whether the gain changes its sign


def _to_control(identification: "Identification", findings: Mapping[str, Finding], predicts: Status) -> Finding:
    """Return whether one may control with a model.

    No better than to predict; bad without a stable rest in the middle of the inputs; at best ``look`` where the static
    curve is not single and stable, changes its direction, or misses the rests of the data. What is too uncertain is
    decided by :func:`narxbench._identification.trust.control.control_doubts`.
    """
    model = identification.model
    inputs, rests = _answers_of_inputs(identification)
    first_rest, steady_states = rests[0], findings["steady_states"]
    values = {
        "inputs": inputs,
        "units": dict(model.units),
        "output": model.output,
        "predicts": predicts,
        **{name: first_rest and getattr(first_rest, name) for name in ("y", "eigenvalue", "settling_steps")},
        "decimation": model.decimation,
        "period": model.sampling_time,
        **{name: steady_states.values[name] for name in ("rests", "cases", "at_rest", "several")},
    }
    doubts = _control_doubts(identification, first_rest)
    values |= {"dynamics": _intervals(identification.dynamics), "doubts": [doubt._asdict() for doubt in doubts]}
    status: Status = worst(*(doubt.status for doubt in doubts))
    if steady_states.status != "fine" or any(about["turns"] for about in inputs.values()):
        status = worst(status, "look")
    if None in rests:
        status = "bad"
    return Finding("to_control", worst(status, predicts), values)


def _control_doubts(identification: "Identification", rest: FixedPoint | None) -> list[Doubt]:
    """Return what is too uncertain for control about the rest in the middle of the data."""
    settling = None
    if rest is not None and rest.settling_steps is not None:
        settling = rest.settling_steps * identification.model.decimation
    longest = max(map(len, identification.recording.known))
    return control_doubts(identification.dynamics, settling, longest)


def _intervals(dynamics: Dynamics | None) -> dict[str, Any] | None:
    """Return the intervals of gains, delays and the settling time as plain data."""
    if dynamics is None:
        return None
    gains, delays = {}, {}
    for name, answer in dynamics.inputs.items():
        gains[name] = asdict(answer.gain) if answer.gain else None
        delays[name] = answer.delay
    return {
        "models": dynamics.models,
        "confidence": COVERAGE,
        "stable": dynamics.stable,
        "lacking": dynamics.lacking,
        "unexplained": dynamics.unexplained,
        "settling": asdict(dynamics.settling) if dynamics.settling else None,
        "pole": asdict(dynamics.poles[0][1]) if dynamics.poles else None,
        "gains": gains,
        "delays": delays,
    }


def _answers_of_inputs(
    identification: "Identification",
) -> tuple[dict[str, dict[str, Any]], list[FixedPoint | None]]:
    """Return gain and delay of each input in the middle of the data, by name, and the rests there."""
    model = identification.model
    medians = np.median(np.concatenate([record.u for record in identification.recording.known]), axis=0).tolist()
    inputs: dict[str, dict[str, Any]] = {}
    rests = []
    for i, name in enumerate(model.inputs):
        if i in derived(model.inputs):
            continue
        points = [point for point in identification.curve if point.signal == name]
        rest, gain, turns = _gain(points, medians[i])
        # The first input stands at a point of the curve.
        at = rest.u if rest and not inputs else medians[i]
        inputs[name] = {"at": at, "gain": gain, "turns": turns, "delay": delay_of(model, INPUT + i)}
        rests.append(rest)
    return inputs, rests


def _gain(curve: Sequence[FixedPoint], u: float) -> _InputGain:
    """Return the stable rest of a static curve nearest to an input, and the slope there."""
    stable, rest = _stable_points(curve), middle_rest(curve, u)
    if rest is None:
        return _InputGain(None, None, False)
    at, y = float(rest.u or 0.0), float(rest.y or 0.0)
    nearest = sorted(stable, key=lambda point: (abs(point[0] - at), abs(point[1] - y)))[:3]
    near = sorted(nearest, key=lambda point: point[0])
    width = near[-1][0] - near[0][0]
    gain = significant((near[-1][1] - near[0][1]) / width) if width else None
    return _InputGain(rest, gain, _turns(stable))


def _stable_points(curve: Iterable[FixedPoint]) -> list[tuple[float, float, FixedPoint]]:
    """Return input and output of the stable points of a static curve within the data."""
    points = []
    for point in curve:
        if point.u is not None and point.y is not None and point.stable and point.inside:
            points.append((point.u, point.y, point))
    return points


def _turns(stable: Sequence[tuple[float, float, FixedPoint]]) -> bool:
    """Return whether a static curve of a single branch rises in one place and falls in another."""
    directions = set()
    for (_, before, _), (_, after, _) in pairwise(stable):
        if after != before:
            directions.add(after > before)
    is_single = len({u for u, _, _ in stable}) == len(stable)
    return is_single and len(directions) > 1
