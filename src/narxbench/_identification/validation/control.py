"""Whether one may control with a model: where it rests, how it answers there, and whether that is known well enough."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from narxbench._identification.finding import Finding, Status, worst
from narxbench._identification.phrases import Values, count_samples, first_of, percent, unit_of
from narxbench._identification.validation.dynamics import COVERAGE, Dynamics, Range, middle_rest
from narxbench._identification.validation.steady_state import LEAST_STEPS, FixedPoint
from narxbench._io.words import listed
from narxbench._model.functions import derived
from narxbench._model.terms import INPUT
from narxbench._model.working_point import delay_of
from narxbench._numerics.rounding import significant

if TYPE_CHECKING:
    from narxbench._identification.result import Identification

# The largest gain may be this many times the smallest: controllers are designed for a gain margin of about 2 (6 dB),
# and half of that, in dB, is left for all else.
GAIN_FINE = 1.5
# The longest settling time may be this many times the shortest: twice as slow a process needs another controller.
SETTLING_FINE = 2.0
# Share of the equally good models that must be stable: the interval of the largest pole ends below 1.
STABLE_FINE = (1.0 + COVERAGE) / 2.0


def control_answer(identification: "Identification", steady_states: Finding, predicts: Status) -> Finding:
    """Return whether one may control with a model.

    The answer is no better than to predict. It is bad without a stable rest in the middle of the inputs, and at best
    ``look`` where the static curve is not single and stable, changes its direction, or misses the rests of the data.
    :func:`control_doubts` decides which figures are too uncertain.
    """
    model = identification.model
    inputs, rests = _answers_of_inputs(identification)
    first_rest = rests[0]
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
    doubts = _doubts(identification, first_rest)
    values |= {"dynamics": _intervals(identification.dynamics), "doubts": doubts}
    status: Status = worst(*(doubt["status"] for doubt in doubts))
    if steady_states.status != "fine" or any(about["turns"] for about in inputs.values()):
        status = worst(status, "look")
    if None in rests:
        status = "bad"
    return Finding("to_control", worst(status, predicts), values, to_control_text(values))


def to_control_text(values: Values) -> str:
    """Return the sentences of :func:`control_answer`."""
    inputs = values["inputs"]
    texts = []
    if values["predicts"] == "bad":
        texts.append("The model does not predict well enough for control.")
    texts += [*_doubts_text(values), _rest(values), _static_curve(values)]
    for name, about in inputs.items():
        texts.append(_delay(values, name, about["delay"]))
    if not values["rests"]:
        texts.append("The data have no steady state to check this with.")
    return " ".join(texts)


def _rest(values: Values) -> str:
    """Return where a model rests in the middle of the data, and how it answers there."""
    units, output = values["units"], unit_of(values["units"], values["output"])
    levels, gains = [], []
    for name, about in values["inputs"].items():
        levels.append(f"{name} {about['at']:.3g}{unit_of(units, name)}")
        if about["gain"]:
            per = f"{output} per{unit_of(units, name) or ' unit'} of {name}"
            gains.append(f"{about['gain']:.3g}{per}{_interval(_gain_interval(values, name))}")
    if values["y"] is None:
        return f"With {listed(levels)}, the middle of the data, the model has no stable steady state."
    text = f"With {listed(levels)} the model settles at {values['y']:.3g}{output}"
    if gains:
        text += f", with a static gain of {first_of(gains)}"
    samples = count_samples(math.ceil(values["settling_steps"] * values["decimation"]), values["period"])
    dynamics = values["dynamics"]
    pole = _interval(dynamics["pole"]) if dynamics else ""
    text += f"; largest pole {values['eigenvalue']:.3g}{pole}, settled (2 %) after {samples}"
    if dynamics is None:
        return f"{text}. Intervals are not known."
    n_models = dynamics["models"]
    models = f"{n_models} structures of similar quality" if n_models > 1 else "this structure"
    text += f"{_interval(dynamics['settling'])}. In brackets: {percent(dynamics['confidence'])} intervals "
    return f"{text}over {models}. {_where_intervals_hold(dynamics['lacking'], dynamics['unexplained'])}".rstrip()


def _where_intervals_hold(lacking: Sequence[str] | None, unexplained: Sequence[str]) -> str:
    """Return why intervals may not hold: terms that the model lacks, correlated residuals, or "" if they hold."""
    if unexplained:
        return f"They may not hold: the true system is not among the candidates ({first_of(unexplained)})."
    if lacking:
        return f"The residuals suggest {first_of(lacking)}; a model with it widens them."
    if lacking is None:
        return "They assume that the system is among the candidates, which was not tested."
    return ""


def _gain_interval(values: Values, name: str) -> Values | None:
    """Return the interval of the gain of an input, or None where it is not known."""
    if values["dynamics"] is None:
        return None
    interval: Values | None = values["dynamics"]["gains"].get(name)
    return interval


def _interval(interval: Values | None) -> str:
    """Return the ends of an interval in brackets behind a blank, or "" where it is not known."""
    if interval is None:
        return ""
    low = "-∞" if interval["low"] is None else f"{interval['low']:.3g}"
    high = "∞" if interval["high"] is None else f"{interval['high']:.3g}"
    return f" [{low} to {high}]"


def _delay(values: Values, name: str, delay: int | None) -> str:
    """Return how old the earliest term of an input is, and how old in models that are about as good."""
    if delay is None:
        return f"It has no term of {name}."
    text = f"Its earliest term of {name} is {count_samples(delay, values['period'])} back"
    delays = values["dynamics"]["delays"].get(name) if values["dynamics"] else None
    if delays and delays[0] < delays[1]:
        text += f" ({delays[0]} to {delays[1]} in structures of similar quality)"
    return f"{text}."


def _doubts_text(values: Values) -> list[str]:
    """Return a sentence that names the figures that are too uncertain for control, if any."""
    doubts = []
    for doubt in values["doubts"]:
        doubts.append(_control_doubt(doubt, values["period"]))
    return [f"Too uncertain for control: {listed(doubts)}."] if doubts else []


def _control_doubt(doubt: Values, period: float | None) -> str:
    name, signal, factor = doubt["name"], doubt["signal"], doubt["value"]
    if name == "sign":
        return f"the sign of the gain of {signal}"
    if name == "gain":
        return f"the gain of {signal}, known to a factor of {factor:.3g} (fine: up to {doubt['limit']:g})"
    if name == "stability":
        return f"its stability there (only {percent(factor)} of the drawn models are stable)"
    if name == "candidates":
        return "whether the intervals hold"
    if name == "record":
        return f"the settling time, which is longer than the longest record, {count_samples(int(factor), period)}"
    if factor is None:
        return "the settling time, whose interval is unbounded"
    return f"the settling time, known to a factor of {factor:.3g} (fine: up to {doubt['limit']:g})"


def _static_curve(values: Values) -> str:
    """Return at how many inputs the static curve is single and stable, and where the gain changes its sign."""
    text = "The static curve is single and stable within the measured outputs"
    n_single = values["at_rest"] - values["several"]
    if n_single < values["cases"]:
        text += f" at {n_single} of {values['cases']} inputs"
    turning = [name for name, about in values["inputs"].items() if about["turns"]]
    if turning:
        text += f"; the gain changes its sign with {first_of(turning)}"
    return f"{text}."


def _doubts(identification: "Identification", rest: FixedPoint | None) -> list[dict[str, Any]]:
    """Return the doubts about the rest in the middle of the data."""
    settling = None
    if rest is not None and rest.settling_steps is not None:
        settling = rest.settling_steps * identification.model.decimation
    longest = max(map(len, identification.recording.known))
    return control_doubts(identification.dynamics, settling, longest)


def control_doubts(
    dynamics: Dynamics | None, settling_samples: float | None, longest_record: int
) -> list[dict[str, Any]]:
    """Return the figures that are too uncertain for control.

    Parameters
    ----------
    dynamics : Dynamics, optional
        Gain, settling time and stability with their intervals, where they are known.
    settling_samples : float, optional
        The settling time of the model, in samples of the data, or None where it does not rest.
    longest_record : int
        The samples of the longest record: what takes longer was never seen to end.

    Returns
    -------
    list of dict
        ``name``: ``sign`` or ``gain`` of an input, ``stability``, ``settling``, ``record``, where it settles after its
        end, or ``candidates``, where the residuals show that the true system is not among them, so that intervals may
        not hold. ``signal``: the input, or "". ``status``: how serious it is. ``value``: the factor from the smaller to
        the larger end of an interval, the share that is stable, or the samples of the record. ``limit``: the largest
        fine value, or the smallest fine share. Both are None for candidates.
    """
    doubts = []
    if settling_samples is not None and settling_samples > longest_record:
        doubts.append(_doubt("record", "", "look", float(longest_record), settling_samples))
    if dynamics is None:
        return doubts
    if dynamics.unexplained:
        doubts.append(_doubt("candidates", "", "look", None, None))
    for name, answer in dynamics.inputs.items():
        if answer.is_used and answer.gain is not None:
            doubts += _gain_doubts(name, answer.gain)
    if dynamics.stable < STABLE_FINE:
        doubts.append(_doubt("stability", "", "look", dynamics.stable, STABLE_FINE))
    settling = dynamics.settling
    if settling is not None:
        # What settles within the shortest rest that counts is fast, however uncertain.
        factor, is_short = _factor(settling), settling.high is not None and settling.high <= LEAST_STEPS
        if not is_short and (factor is None or factor > SETTLING_FINE):
            doubts.append(_doubt("settling", "", "look", factor, SETTLING_FINE))
    return doubts


def _doubt(name: str, signal: str, status: Status, value: float | None, limit: float | None) -> dict[str, Any]:
    return {"name": name, "signal": signal, "status": status, "value": value, "limit": limit}


def _gain_doubts(name: str, gain: Range) -> list[dict[str, Any]]:
    """Return whether the gain of an input, or even its sign, is too uncertain."""
    factor = _factor(gain)
    if factor is None:
        return [_doubt("sign", name, "bad", None, GAIN_FINE)]
    return [_doubt("gain", name, "look", factor, GAIN_FINE)] if factor > GAIN_FINE else []


def _factor(interval: Range) -> float | None:
    """Return the larger end of an interval over the smaller, or None where it holds 0 or is unbounded."""
    if interval.low is None or interval.high is None or interval.low * interval.high <= 0.0:
        return None
    low, high = sorted((abs(interval.low), abs(interval.high)))
    return significant(high / low)


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
        # The first input is at a point of the curve.
        at = rest.u if rest and not inputs else medians[i]
        inputs[name] = {"at": at, "gain": gain, "turns": turns, "delay": delay_of(model, INPUT + i)}
        rests.append(rest)
    return inputs, rests


def _gain(curve: Sequence[FixedPoint], u: float) -> tuple[FixedPoint | None, float | None, bool]:
    """Return the stable rest of a static curve nearest to an input, the slope there, and whether that changes sign."""
    stable, rest = _stable_points(curve), middle_rest(curve, u)
    if rest is None:
        return None, None, False
    at, y = float(rest.u or 0.0), float(rest.y or 0.0)
    nearest = sorted(stable, key=lambda point: (abs(point[0] - at), abs(point[1] - y)))[:3]
    near = sorted(nearest, key=lambda point: point[0])
    width = near[-1][0] - near[0][0]
    gain = significant((near[-1][1] - near[0][1]) / width) if width else None
    return rest, gain, _turns(stable)


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
