"""Findings on the predictions of a model, its residuals and its rests: fine, worth a look, or bad.

Three answers follow from them (:mod:`narxbench._identification.trust.answers`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from narxbench._identification.finding import Finding, Status, worst
from narxbench._identification.trust.residuals import ROUNDING, CorrelationTest
from narxbench._identification.trust.steady_state import FixedPoint, Rest
from narxbench._identification.trust.validation import (
    ALL,
    ARX,
    DECIMATED,
    FIGURES,
    FREE_RUN,
    LAST_VALUE,
    MODEL,
    ONE_STEP,
    SeasonErrors,
    decisive,
    row_of,
)
from narxbench._model.narx import Model
from narxbench._model.records import ROLES
from narxbench._numerics.rounding import significant

# A free run that misses at most 25 % of the output's standard deviation follows every movement by eye; at 60 % a third
# of the variance is missed and one sees where; beyond that a mean does nearly as well.
FREE_RUN_FINE, FREE_RUN_LOOK = 0.25, 0.6
# A test whose output moves by less than this share of what is known is at rest: it shows little, and its errors are
# judged by the deviation that is known.
RESTS = 0.1
# Where neither the model nor a simpler one explains a tenth of the variance, nothing is there to be predicted.
NOISE = 0.95
# A model whose error is larger is not bad where no more than this of it could be avoided: the rest is noise.
AVOIDABLE = 0.5
# More than a tenth below linear ARX pays for nonlinear terms; more than a tenth above is no accident of a record.
# Errors this close are equal for use, whatever their ratio.
BETTER, WORSE, CLOSE = 0.9, 1.1, 0.01
# Two records of one process differ easily by a half in error; an error three times as large was fitted, not found. An
# increase of the RRSE that is small in itself is no gap, whatever the ratio.
GAP_FINE, GAP_LOOK, GAP_SMALL = 1.5, 3.0, 0.05
# A correlation r foretells the share r^2 of the variance: below 1 % it does not matter even if many samples show it,
# from 9 % on a better model is within reach.
CORRELATION_SMALL, CORRELATION_LARGE = 0.1, 0.3
# The rests of the data and the model's static curve: share of the output's range.
STATIC_FINE = 0.1


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
    season: SeasonErrors | None = None,
    horizon: int | None = None,
    seasons: Sequence[int] = (),
    competition: Mapping[str, Any] | None = None,
    is_bounded: bool = True,
    holds: bool = True,
) -> list[Finding]:
    """Return what is fine about a model and what is not, most important first; checks that are not fine at the end.

    ``bias`` is that of the first of test, selection and estimation that the frame of ``validate`` has, and so are
    ``avoidable``, the share of the mean squared error that follows from what is known in time, and ``season``.
    ``horizon`` is how many samples ahead matter to the user; None: a free run, or of a series what the frame has.
    ``seasons`` are those of the output, ``competition`` how the simple models of the search did, ``is_bounded`` whether
    the model stays within bounds where inputs are held, and ``holds`` whether its free run over whole records is about
    as good as over parts.
    """
    roles = [role for role in reversed(ROLES) if role in set(frame["role"])]
    errors = _errors(model, frame, roles, checks, avoidable, horizon)
    values = errors.values
    superfluous = _superfluous(frame, weights)
    values |= {"exact": superfluous is not None, "superfluous": superfluous or []}
    values |= {"holds": holds, "seasons": list(seasons)}
    is_good = values["small"] and values["kind"] == FREE_RUN and not values["diverged"]
    findings = [
        errors,
        _competitors(model, frame, values, season, competition),
        _residuals(model, roles[0], tests, bias, values["rrse"] if is_good else None),
        _steady_states(model, curve, rests, is_bounded),
    ]
    return [*filter(None, findings), *(check for check in checks if check.status != "fine")]


def _superfluous(frame: pd.DataFrame, weights: Sequence[Mapping[str, Any]]) -> list[str] | None:
    """Return the terms of an exact model that are rounding; None where the model is not exact."""
    rrse = row_of(frame, "estimation", ONE_STEP, 1).get("rrse")
    if rrse is None or rrse**2 > ROUNDING:
        return None
    return [weight["term"] for weight in weights if weight["err"] <= ROUNDING]


def _graded(value: float, fine: float, look: float) -> Status:
    """Return ``fine`` up to one limit, ``look`` up to another, and ``bad`` beyond."""
    if value <= fine:
        return "fine"
    return "look" if value <= look else "bad"


def _errors(
    model: Model,
    frame: pd.DataFrame,
    roles: Sequence[str],
    checks: Sequence[Finding],
    avoidable: float | None,
    horizon: int | None,
) -> Finding:
    kind, steps = decisive(model, frame, horizon)
    role = roles[0]
    row = row_of(frame, role, kind, steps)
    # Errors in another unit say nothing of a model where there are other data to judge it by.
    other_unit = "" if len(roles) == 1 or _is_small(row["rrse"]) else _suspected_unit(checks)
    if avoidable is not None:
        avoidable = max(avoidable, _avoided_by_simple_models(frame, role, kind, steps))
    free_run = row_of(frame, role, FREE_RUN)["rrse"]
    relative, rests = _relative_error(frame, roles, row, kind, steps)
    if other_unit:
        relative, rests, avoidable = row["rrse"], False, None
    diverged = _diverged_records(frame, role)
    values = {
        "role": role,
        "kind": kind,
        "steps": steps,
        "horizon": horizon,
        "decimation": model.decimation,
        "diverged": diverged,
        "free_run": free_run,
        "decimated": row_of(frame, role, FREE_RUN, sampling=DECIMATED)["rrse"],
        **{name: row[name] for name in (*FIGURES, "samples")},
        "small": _is_small(relative),
        "rests": rests,
        "relative": relative,
        "avoidable": avoidable,
        "other_unit": other_unit,
    }
    status = _prediction_status(model, values, has_diverged=bool(row["diverged"]))
    if other_unit and status == "bad":
        # A mistaken unit makes any model bad: what remains is how bad this one is on the other data.
        status = worst("look", _status_on_known(frame, roles, kind, steps))
    gap = None if rests else _gap(model, frame, roles, kind, steps)
    # The answer to predict depends on the error alone.
    values |= {"error_status": status, "gap": gap}
    is_gap = gap is not None and gap["status"] != "fine"
    return Finding("errors", worst(status, "look" if is_gap else "fine"), values)


def _prediction_status(model: Model, values: Mapping[str, Any], *, has_diverged: bool) -> Status:
    """Judge the errors of a model by what is known of them; ``has_diverged``: as far ahead as they are judged."""
    if values["diverged"]:
        # Of a series, and where a horizon is set, only predictions that far ahead must stay finite.
        return "bad" if values["kind"] == FREE_RUN or has_diverged else "look"
    if values["relative"] is None:
        return "look"
    # Data that the model was made with are no proof, nor is a test that hardly moves.
    is_lost = values["horizon"] is None and _loses_its_way(model, values["free_run"])
    is_proven = values["role"] == "test" and not values["rests"] and not is_lost
    return worst(_status_of_error(values["relative"], values["avoidable"]), "fine" if is_proven else "look")


def _status_on_known(frame: pd.DataFrame, roles: Sequence[str], kind: str, steps: int | None) -> Status:
    """Return the status by the error on the data that say most of new data after the test."""
    rrse = row_of(frame, roles[1], kind, steps)["rrse"]
    return "bad" if rrse is None else _status_of_error(rrse, None)


def _avoided_by_simple_models(frame: pd.DataFrame, role: str, kind: str, steps: int | None) -> float:
    """Return the share of the mean squared error of the model that a simpler one does not make, 0 for none."""
    errors = [row_of(frame, role, kind, steps, model=name).get("rrse") for name in (MODEL, ARX, LAST_VALUE)]
    if not errors[0]:
        return 0.0
    least = min(error for error in errors if error is not None)
    return significant(1.0 - (least / errors[0]) ** 2)


def _loses_its_way(model: Model, free_run: float | None) -> bool:
    """Return whether a series is good for some steps ahead only: its free run is not, or diverges."""
    return not model.n_inputs and (free_run is None or free_run > FREE_RUN_LOOK)


def _is_small(rrse: float | None) -> bool:
    return rrse is not None and rrse <= FREE_RUN_FINE


def _status_of_error(relative: float, avoidable: float | None) -> Status:
    """Judge an error relative to the deviation of the output; noise that no model can foresee is to be looked at."""
    status = _graded(relative, FREE_RUN_FINE, FREE_RUN_LOOK)
    if status != "bad" or avoidable is None or relative >= NOISE:
        return status
    return "look" if avoidable_error(relative, avoidable) <= AVOIDABLE else "bad"


def avoidable_error(relative: float, avoidable: float) -> float:
    """Return the error that a better model could avoid, relative to the deviation of what can be foreseen at all."""
    noise = relative**2 * (1.0 - avoidable)
    foreseeable = max(1.0 - noise, 0.05)
    return float((relative**2 * avoidable / foreseeable) ** 0.5)


def _suspected_unit(checks: Sequence[Finding]) -> str:
    """Return the name of a signal that the model uses whose unit in the test may be another one; "" for none."""
    for check in checks:
        if check.name == "test-range":
            for column, about in check.values.items():
                if about["used"] and about["unit"]:
                    return str(column)
    return ""


def _relative_error(
    frame: pd.DataFrame, roles: Sequence[str], row: Mapping[str, Any], kind: str, steps: int | None
) -> tuple[float | None, bool]:
    """Return the error relative to the deviation of the output, and whether the output rests in these data.

    At rest it is the deviation in the data that the weights come from.
    """
    rms, rrse = row["rmse"], row["rrse"]
    known = row_of(frame, roles[-1], kind, steps)
    if rms is None or not known.get("rrse") or row["role"] == roles[-1]:
        return rrse, False
    known_deviation = known["rmse"] / known["rrse"]
    deviation = rms / rrse if rrse else 0.0
    if rrse == 0 or deviation >= RESTS * known_deviation:
        return rrse, False
    return rms / known_deviation, True


def _diverged_records(frame: pd.DataFrame, role: str) -> list[str]:
    """Return the names of the records on which the free run of the model diverges."""
    runs = frame[(frame["role"] == role) & (frame["model"] == MODEL) & (frame["kind"] == FREE_RUN)]
    names: list[str] = runs[runs["diverged"].astype(bool) & (runs["record"] != ALL)]["record"].unique().tolist()
    return names


def _competitors(
    model: Model,
    frame: pd.DataFrame,
    judged: Mapping[str, Any],
    season: SeasonErrors | None,
    competition: Mapping[str, Any] | None,
) -> Finding | None:
    """Compare a model with linear ARX, with the last value or season, and with what competed in the search."""
    place = {name: judged[name] for name in ("role", "kind", "steps")}
    # No first value rivals a free run, so one step counts.
    place_of_last = {**place, "kind": ONE_STEP, "steps": 1} if judged["kind"] == FREE_RUN else place
    errors = _errors_of(frame, place_of_last, LAST_VALUE) if season is None else (season.rrse, season.naive)
    values = {
        **place,
        "degree": max(map(len, model.monomials)),
        "linear_arx": _against(place, *_errors_of(frame, place, ARX)),
        "last_value": _against({**place_of_last, "season": season and season.season}, *errors),
        **(competition or {"leaving": "sparse", "rows": []}),
    }
    compared = [about["status"] for about in (values["linear_arx"], values["last_value"]) if about]
    if not compared and not values["rows"]:
        return None
    return Finding("competitors", worst(*compared, "fine" if values["leaving"] == "sparse" else "look"), values)


def _errors_of(frame: pd.DataFrame, place: Mapping[str, Any], baseline: str) -> tuple[float | None, float | None]:
    """Return the RRSE of the model and of a simpler one."""
    rrse, simple = (row_of(frame, **place, model=name).get("rrse") for name in (MODEL, baseline))
    return rrse, simple


def _against(place: Mapping[str, Any], rrse: float | None, simple: float | None) -> dict[str, Any] | None:
    """Compare the error of a model with that of a simpler one; None where neither is known."""
    if rrse is None and simple is None:
        return None
    status: Status = "fine"
    if rrse is None:
        status = "bad"
    elif simple is not None and rrse > BETTER * simple:
        status = "bad" if rrse > WORSE * simple and rrse - simple > CLOSE else "look"
    return {**place, "rrse": rrse, "baseline": simple, "status": status}


def _gap(
    model: Model, frame: pd.DataFrame, roles: Sequence[str], kind: str, steps: int | None
) -> dict[str, Any] | None:
    """Return the errors on new and on known data, and whether the new ones are too large for these."""
    if roles[0] != "test" or len(roles) == 1:
        return None
    new, old = row_of(frame, roles[0], kind, steps), row_of(frame, roles[1], kind, steps)
    if new["rrse"] is None or old["rrse"] is None:
        return None
    values = {
        **{"test": new["rrse"], "seen": old["rrse"], "test_rmse": new["rmse"], "seen_rmse": old["rmse"]},
        **{"role": roles[1], "unit": model.units.get(model.output, "")},
    }
    # Where the output spreads less in the test, the same error has a larger RRSE.
    in_test = old["rmse"] * (new["rrse"] / new["rmse"]) if new["rmse"] else 0.0
    least = max(old["rrse"], in_test)
    status = _graded(new["rrse"], max(GAP_FINE * least, least + GAP_SMALL), GAP_LOOK * least)
    return {**values, "status": status}


def _residuals(
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
    return Finding("residuals", worst(*statuses), values)


def _correlations(tests: Sequence[CorrelationTest], good_free_run: float | None) -> dict[str, Any]:
    """Return what the correlation tests of one kind found, and how serious it is."""
    ordered = sorted(tests, key=lambda test: -abs(test.worst))
    failed = [test for test in ordered if not test.passed]
    status = _graded(abs(failed[0].worst), CORRELATION_SMALL, CORRELATION_LARGE) if failed else "fine"
    if status == "bad" and good_free_run is not None:
        # Correlations that do no harm to a good free run are to be looked at, no more.
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
    """Return how many coefficients lie beyond the band."""
    return sum(abs(value) > test.band for value in test.values)


def _steady_states(
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
    if rests and (values["without"] or values["largest"] is None or values["largest"] > STATIC_FINE):
        statuses.append("look")
    return Finding("steady_states", worst(*statuses), values)


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
