"""Checks of a model: its competitors, its residuals and its steady states, next to its errors and the data.

Three answers follow from them (:mod:`narxbench._identification.validation.answers`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from narxbench._identification.finding import Finding, Status, graded, look_if, worst
from narxbench._identification.phrases import (
    MOVING_INPUTS,
    Values,
    capital,
    count_terms,
    how_predicted,
    percent,
    unit_of,
)
from narxbench._identification.search.attempts import BETTER
from narxbench._identification.search.scores import NEGLIGIBLE
from narxbench._identification.validation.error_table import (
    ARX,
    FREE_RUN,
    LAST_VALUE,
    MODEL,
    ONE_STEP,
    row_of,
)
from narxbench._identification.validation.errors import LITTLE, errors_check
from narxbench._identification.validation.residuals import CorrelationTest
from narxbench._identification.validation.steady_state import FixedPoint, Rest
from narxbench._model.narx import Model
from narxbench._model.records import ROLES

# A correlation r predicts the share r^2 of the variance: from 9 % on a better model is within reach.
CORRELATION_LARGE = 0.3


def summary(
    model: Model,
    frame: pd.DataFrame,
    tests: Sequence[CorrelationTest],
    curve: Sequence[FixedPoint],
    rests: Sequence[Rest] = (),
    checks: Sequence[Finding] = (),
    bias: Mapping[str, Any] | None = None,
    weights: Sequence[Mapping[str, Any]] = (),
    avoidable: float | None = None,
    season: tuple[int, float | None, float] | None = None,
    horizon: int | None = None,
    seasons: Sequence[int] = (),
    competition: Mapping[str, Any] | None = None,
    is_bounded: bool = True,
    holds: bool = True,
) -> list[Finding]:
    """Return findings about a model, most important first, and checks of the data that are not fine at the end.

    ``bias`` is of the first of test, selection and estimation that the frame of ``validate`` has, and so are
    ``avoidable``, the share of the mean squared error that earlier data predict, and ``season``, its length and the
    RRSE of the model and of the values a season before. ``horizon`` is how many samples ahead matter to the user. With
    None it is a free run, or for a series the steps in the frame. ``seasons`` are the seasons of the output,
    ``competition`` how the simple models of the search did, ``is_bounded`` whether the model stays within bounds where
    inputs are held, and ``holds`` whether its free run over whole records is about as good as over parts.
    """
    roles = [role for role in reversed(ROLES) if role in set(frame["role"])]
    errors = errors_check(model, frame, roles, checks, weights, avoidable, horizon, seasons, holds=holds)
    values = errors.values
    is_good = values["small"] and values["kind"] == FREE_RUN and not values["diverged"]
    findings = [
        errors,
        competitors_check(model, frame, values, season, competition),
        residuals_check(model, roles[0], tests, bias, values["rrse"] if is_good else None),
        steady_states_check(model, curve, rests, is_bounded),
    ]
    return [*filter(None, findings), *(check for check in checks if check.status != "fine")]


def competitors_check(
    model: Model,
    frame: pd.DataFrame,
    judged: Mapping[str, Any],
    season: tuple[int, float | None, float] | None,
    competition: Mapping[str, Any] | None,
) -> Finding | None:
    """Compare a model with linear ARX, with the last value or season, and with what competed in the search."""
    place = {name: judged[name] for name in ("role", "kind", "steps")}
    # No first value rivals a free run, so one step counts.
    place_of_last = {**place, "kind": ONE_STEP, "steps": 1} if judged["kind"] == FREE_RUN else place
    errors = _errors_of(frame, place_of_last, LAST_VALUE) if season is None else season[1:]
    values = {
        **place,
        "degree": max(map(len, model.monomials)),
        "linear_arx": _against(place, *_errors_of(frame, place, ARX)),
        "last_value": _against({**place_of_last, "season": season and season[0]}, *errors),
        **(competition or {"selected": "sparse", "rows": []}),
    }
    compared = [about["status"] for about in (values["linear_arx"], values["last_value"]) if about]
    if not compared and not values["rows"]:
        return None
    status = worst(*compared, look_if(values["selected"] != "sparse"))
    return Finding("competitors", status, values, competitors_text(values))


def competitors_text(values: Values) -> str:
    """Return the sentences of :func:`competitors_check`."""
    return " ".join([*_comparisons(values).values(), *_simple_model(values)])


def worse_than(values: Values) -> list[str]:
    """Return the sentences of :func:`competitors_check` on simpler models that are better."""
    return [sentence for key, sentence in _comparisons(values).items() if values[key]["status"] == "bad"]


def _comparisons(values: Values) -> dict[str, str]:
    """Return a sentence on each simpler model that is known, by its key in the values."""
    sentences = {}
    for key, name in (("linear_arx", "linear ARX"), ("last_value", "the last value")):
        about = values[key]
        if about is None:
            continue
        season = about.get("season")
        simpler = name if season is None else f"the value {season} samples before"
        place = f"{how_predicted(about)} on the {about['role']} data"
        beginning = f"{capital(place)} the model has"
        if about["status"] == "bad":
            beginning = f"WORSE than {simpler} {place}:"
        errors = _shown_error(about["rrse"]), _shown_error(about["baseline"])
        sentences[key] = f"{beginning} RRSE {errors[0]}, {simpler} {errors[1]}."
    return sentences


def _shown_error(rrse: float | None) -> str:
    return "none (diverges)" if rrse is None else f"{rrse:.3g}"


def _simple_model(values: Values) -> list[str]:
    """Return why a simple model was taken in place of the sparse one, with the sparse equation, if it was."""
    if values["selected"] == "sparse":
        return []
    sparse, *_ = values["rows"]
    taken = next(row for row in values["rows"] if row["name"] == values["selected"])
    name = "ahead" if "ahead" in taken and "ahead" in sparse else "rrse"
    text = f"The {taken['name']} model ({count_terms(taken['terms'])}) is the answer: on parts that its weights do not "
    text += f"know its RRSE is {_shown_error(taken[name])}, that of the sparse model ({count_terms(sparse['terms'])}) "
    return [f"{text}{_shown_error(sparse[name])}: {values['sparse']}."]


def _errors_of(frame: pd.DataFrame, place: Mapping[str, Any], baseline: str) -> tuple[float | None, float | None]:
    """Return the RRSE of the model and of a simpler one."""
    rrse, simple = (row_of(frame, **place, model=name).get("rrse") for name in (MODEL, baseline))
    return rrse, simple


def _against(place: Mapping[str, Any], rrse: float | None, simple: float | None) -> dict[str, Any] | None:
    """Compare the errors of a model and of a simpler one, or return None where neither is known."""
    if rrse is None and simple is None:
        return None
    status: Status = "fine"
    if rrse is None:
        status = "bad"
    elif simple is not None and rrse > BETTER * simple:
        # Errors that are close are equal for use, whatever their ratio.
        is_worse = simple < BETTER * rrse and rrse - simple > NEGLIGIBLE
        status = "bad" if is_worse else "look"
    return {**place, "rrse": rrse, "baseline": simple, "status": status}


def residuals_check(
    model: Model,
    role: str,
    tests: Sequence[CorrelationTest],
    bias: Mapping[str, Any] | None,
    good_free_run: float | None,
) -> Finding | None:
    """Judge what the residuals one step ahead are correlated with, and whether the errors of free runs have a bias."""
    if not tests and bias is None:
        return None
    statuses: list[Status] = []
    values: dict[str, Any] = {"linear": None, "nonlinear": None, "free_run": None}
    for kind in ("linear", "nonlinear"):
        of_kind = [test for test in tests if test.kind == kind]
        if of_kind:
            values[kind] = _correlations(of_kind, good_free_run)
            statuses.append(values[kind]["status"])
    if bias is not None:
        is_biased = any(bias[name]["seen"] for name in ("rising", "falling", "drift"))
        values["free_run"] = {"role": role, "unit": model.units.get(model.output, ""), **bias}
        statuses.append("look" if is_biased else "fine")
    return Finding("residuals", worst(*statuses), values, residuals_text(values))


def residuals_text(values: Values) -> str:
    """Return the sentences of :func:`residuals_check`."""
    bias = values["free_run"]
    texts = [_correlated(values[kind], kind) for kind in ("linear", "nonlinear") if values[kind]]
    texts = [text for text in texts if text] or ["All correlation tests one step ahead pass."]
    return " ".join([*texts, *(_biases(bias) if bias else [])])


def _biases(values: Values) -> list[str]:
    """Return where the errors of free runs have a bias."""
    unit, biases = unit_of(values, "unit"), []
    for name, direction in (("rising", "rises"), ("falling", "falls")):
        error = values[name]["error"]
        if values[name]["seen"]:
            side = "low" if error > 0 else "high"
            biases.append(f"In free run the model is {abs(error):.3g}{unit} too {side} where the output {direction}.")
    if values["drift"]["seen"]:
        biases.append(f"Over a record its error drifts by {values['drift']['error']:+.3g}{unit}.")
    return biases


def _correlated(values: Values, kind: str) -> str:
    """Return which correlation tests of one kind fail, or "" where all pass."""
    failed = values["failed"]
    if not failed:
        return ""
    largest = failed[0]
    text = f"{len(failed)} of {values['tests']} {kind} tests one step ahead fail, most of all {largest['title']}: "
    text += f"{largest['worst']:.2g} at lag {largest['lag']} (limit {values['limit']:.2g})"
    if values["status"] == "fine":
        return f"{text}, at most {100 * LITTLE**2:.0f} % of their variance."
    if kind == "nonlinear":
        return f"{text}."
    return f"{text}: that biases the weights.{_feedback(values)}"


def _feedback(values: Values) -> str:
    """Return that an input follows the residual, or "" where none does."""
    for test in values["failed"]:
        if test["name"] != "phi_xixi" and test["lag"] < 0:
            return " At a negative lag the input follows the residual, as under feedback from output to input."
    return ""


def _correlations(tests: Sequence[CorrelationTest], good_free_run: float | None) -> dict[str, Any]:
    """Return what the correlation tests of one kind found, and how serious it is."""
    ordered = sorted(tests, key=lambda test: -abs(test.worst))
    failed = [test for test in ordered if not test.passed]
    status = graded(abs(failed[0].worst), LITTLE, CORRELATION_LARGE) if failed else "fine"
    if status == "bad" and good_free_run is not None:
        # Correlations that do no harm to a good free run deserve a look, no more.
        status = "look"
    return {
        "status": status,
        "tests": len(tests),
        "failed": list(map(_failure, failed)),
        "largest": ordered[0].worst,
        "limit": tests[0].limit,
        "outside": sum(map(_count_outside, tests)),
        "coefficients": sum(len(test.values) for test in tests),
    }


def _failure(test: CorrelationTest) -> dict[str, Any]:
    """Return what failed a test: its name and the largest coefficient."""
    return {"name": test.name, "title": test.title, "worst": test.worst, "lag": test.worst_lag}


def _count_outside(test: CorrelationTest) -> int:
    """Return how many coefficients are beyond the band."""
    return sum(abs(value) > test.band for value in test.values)


def steady_states_check(
    model: Model, curve: Sequence[FixedPoint], rests: Sequence[Rest], is_bounded: bool
) -> Finding | None:
    """Judge where a model rests at constant inputs: within the data, in one place, and as the data do."""
    if not curve and not rests and is_bounded:
        return None
    values = {**_fixed_point_values(curve), **_rest_values(rests), "bounded": is_bounded}
    if not model.n_inputs:
        values["points"] = _points_inside(curve)
    statuses: list[Status] = ["fine" if is_bounded else "look"]
    if model.n_inputs and (values["at_rest"] < values["cases"] or values["several"]):
        # Where inputs pass by quickly, as peaks of a controller do, the data do not show where the process would rest.
        mostly = 2 * (values["at_rest"] + values["beyond"]) >= values["cases"]
        statuses.append("look" if mostly else "bad")
    if rests and (values["without"] or values["largest"] is None or values["largest"] > LITTLE):
        statuses.append("look")
    return Finding("steady_states", worst(*statuses), values, *steady_states_text(values))


def steady_states_text(values: Values) -> tuple[str, str]:
    """Return the sentences and the advice of :func:`steady_states_check`."""
    texts, advice = list[str](), list[str]()
    if not values["bounded"]:
        texts.append("The model diverges when inputs are held inside their ranges, which the data do not do.")
        advice.append(MOVING_INPUTS)
    if values["points"] is not None:
        points = ", ".join(f"{y:.3g} ({'stable' if stable else 'unstable'})" for y, stable in values["points"])
        texts.append(f"Steady states of the model within the measured range: {points or 'none'}.")
    elif values["cases"]:
        texts += _rests_of_model(values)
        if values["at_rest"] < values["cases"]:
            advice.append("Record steady states at more inputs.")
    if values["rests"]:
        texts.append(_rests_of_data(values))
    return " ".join(texts), " ".join(advice)


def _rests_of_model(values: Values) -> list[str]:
    """Return at how many inputs a model rests within the measured outputs, and where it does not."""
    text = f"At {values['at_rest']} of {values['cases']} constant inputs the model settles within the measured outputs"
    if values["settling_steps"] is not None:
        text += f", after at most about {values['settling_steps']:.3g} steps"
    if values["beyond"]:
        text += f"; at {values['beyond']} it settles outside them"
    texts = [f"{text}."]
    if values["several"]:
        texts.append(f"At {values['several']} inputs it has several stable outputs.")
    return texts


def _rests_of_data(values: Values) -> str:
    """Return how far the rests of a model are from the rests of the data."""
    text = f"The data have {values['rests']} steady states"
    if values["largest"] is not None:
        text += f"; those of the model differ by at most {percent(values['largest'])} of the output's range"
    if values["without"]:
        text += f"; at {values['without']} of them the model has no stable output"
    return f"{text}."


def _points_inside(curve: Sequence[FixedPoint]) -> list[list[Any]]:
    """Return the outputs that a model keeps within the data, each with whether it is stable."""
    points = []
    for point in curve:
        if point.inside and point.y is not None:
            points.append([point.y, point.stable])
    return points


def _fixed_point_values(curve: Sequence[FixedPoint]) -> dict[str, Any]:
    """Return at how many inputs a model rests within the data, at how many in several places, and how slowly.

    ``beyond`` are the inputs where it rests outside of the measured outputs alone.
    """
    stable: Counter[tuple[str | None, float | None]] = Counter()
    beyond, settling = set(), []
    for point in curve:
        place = point.signal, point.u
        if point.stable and point.inside:
            stable[place] += 1
        elif point.stable:
            beyond.add(place)
        if point.inside and point.settling_steps is not None:
            settling.append(point.settling_steps)
    return {
        "cases": len({(point.signal, point.u) for point in curve}),
        "at_rest": len(stable),
        "beyond": len(beyond - stable.keys()),
        "several": sum(count > 1 for count in stable.values()),
        "settling_steps": max(settling, default=None),
        "points": None,
    }


def _rest_values(rests: Sequence[Rest]) -> dict[str, Any]:
    """Return how often the data rest, at how many of these the model does not, and how far it is off at most."""
    deviations = [rest.deviation for rest in rests if rest.deviation is not None]
    largest = max(deviations, default=None)
    return {"rests": len(rests), "without": len(rests) - len(deviations), "largest": largest}
