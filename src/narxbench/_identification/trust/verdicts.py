"""Findings on the predictions of a model, its residuals and its rests: fine, worth a look, or bad.

Three answers follow from them (:mod:`narxbench._identification.trust.answers`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from narxbench._identification.finding import Finding, Status
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
    decisive,
    row_of,
)
from narxbench._model.narx import Model
from narxbench._model.records import ROLES

# A free run that misses at most 25 % of the output's standard deviation follows every movement by eye; at 60 % a third
# of the variance is missed and one sees where; beyond that a mean does nearly as well.
FREE_RUN_FINE, FREE_RUN_LOOK = 0.25, 0.6
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
# Findings on the model; others are on the data.
OF_MODEL = (
    *("prediction", "exact", "free_run_residuals", "against_linear_arx", "against_last_value", "gap"),
    *("residuals_linear", "residuals_nonlinear", "fixed_points", "static"),
)


def summary(
    model: Model,
    frame: pd.DataFrame,
    tests: Sequence[CorrelationTest],
    curve: Sequence[FixedPoint],
    rests: Sequence[Rest] = (),
    checks: Sequence[Finding] = (),
    bias: Mapping[str, Any] | None = None,
    weights: Sequence[Mapping[str, Any]] = (),
) -> list[Finding]:
    """Return what is fine about a model and what is not, most important first; checks that are not fine at the end.

    ``bias`` is that of the first of test, selection and estimation that the frame of ``validate`` has.
    """
    roles = [role for role in reversed(ROLES) if role in set(frame["role"])]
    prediction = _prediction(model, frame, roles[0])
    is_good = prediction.values["small"] and model.inputs and not prediction.values["diverged"]
    good_free_run = prediction.values["rrse"] if is_good else None
    findings = [
        prediction,
        _exact(frame, weights),
        _free_run_residuals(model, roles[0], bias),
        _against(model, frame, roles[0], *decisive(model, frame), ARX),
        _against(model, frame, roles[0], ONE_STEP, 1, LAST_VALUE),
        _gap(model, frame, roles),
        _residuals(tests, "linear", good_free_run),
        _residuals(tests, "nonlinear", good_free_run),
        _fixed_points(model, curve),
        _rests(rests),
    ]
    return [*filter(None, findings), *(check for check in checks if check.status != "fine")]


def _free_run_residuals(model: Model, role: str, bias: Mapping[str, Any] | None) -> Finding | None:
    if bias is None:
        return None
    is_biased = any(bias[name]["seen"] for name in ("rising", "falling", "drift"))
    values = {"role": role, "unit": model.units.get(model.output, ""), **bias}
    return Finding("free_run_residuals", "look" if is_biased else "fine", values)


def _exact(frame: pd.DataFrame, weights: Sequence[Mapping[str, Any]]) -> Finding | None:
    rrse = row_of(frame, "estimation", ONE_STEP, 1).get("rrse")
    if rrse is None or rrse**2 > ROUNDING:
        return None
    superfluous = [weight["term"] for weight in weights if weight["err"] <= ROUNDING]
    return Finding("exact", "look" if superfluous else "fine", {"rrse": rrse, "superfluous": superfluous})


def _graded(value: float, fine: float, look: float) -> Status:
    """Return ``fine`` up to one limit, ``look`` up to another, and ``bad`` beyond."""
    if value <= fine:
        return "fine"
    return "look" if value <= look else "bad"


def _prediction(model: Model, frame: pd.DataFrame, role: str) -> Finding:
    kind, steps = decisive(model, frame)
    row = row_of(frame, role, kind, steps)
    runs = frame[(frame["role"] == role) & (frame["model"] == MODEL) & (frame["kind"] == FREE_RUN)]
    diverged = runs[runs["diverged"].astype(bool) & (runs["record"] != ALL)]["record"].unique().tolist()
    values = {
        "role": role,
        "kind": kind,
        "steps": steps,
        "decimation": model.decimation,
        "diverged": diverged,
        "decimated": row_of(frame, role, FREE_RUN, sampling=DECIMATED)["rrse"],
        **{name: row[name] for name in (*FIGURES, "samples")},
        "small": row["rrse"] is not None and row["rrse"] <= FREE_RUN_FINE,
    }
    status: Status = "look"
    if diverged:
        status = "bad" if model.n_inputs else "look"
    elif row["rrse"] is not None:
        status = _graded(row["rrse"], FREE_RUN_FINE, FREE_RUN_LOOK)
        # Data that the model was made with are no proof.
        status = "look" if status == "fine" and role != "test" else status
    return Finding("prediction", status, values)


def _against(
    model: Model, frame: pd.DataFrame, role: str, kind: str, steps: int | None, baseline: str
) -> Finding | None:
    rrse = row_of(frame, role, kind, steps).get("rrse")
    simple = row_of(frame, role, kind, steps, model=baseline).get("rrse")
    if rrse is None and simple is None:
        return None
    values = {"role": role, "kind": kind, "steps": steps, "rrse": rrse, "baseline": simple}
    values["degree"] = max(map(len, model.monomials))
    status: Status = "fine"
    if rrse is None:
        status = "bad"
    elif simple is not None and rrse > BETTER * simple:
        status = "bad" if rrse > WORSE * simple and rrse - simple > CLOSE else "look"
    return Finding(f"against_{baseline.lower().replace(' ', '_')}", status, values)


def _gap(model: Model, frame: pd.DataFrame, roles: Sequence[str]) -> Finding | None:
    if roles[0] != "test" or len(roles) == 1:
        return None
    kind, steps = decisive(model, frame)
    new, old = row_of(frame, roles[0], kind, steps)["rrse"], row_of(frame, roles[1], kind, steps)["rrse"]
    if new is None or old is None:
        return None
    values = {"test": new, "seen": old, "role": roles[1], "kind": kind, "steps": steps}
    return Finding("gap", _graded(new, max(GAP_FINE * old, old + GAP_SMALL), GAP_LOOK * old), values)


def _residuals(tests: Sequence[CorrelationTest], kind: str, good_free_run: float | None) -> Finding | None:
    of_kind = [test for test in tests if test.kind == kind]
    if not of_kind:
        return None
    ordered = sorted(of_kind, key=lambda test: -abs(test.worst))
    failed = [test for test in ordered if not test.passed]
    values: dict[str, Any] = {
        "tests": len(of_kind),
        "failed": list(map(_failure, failed)),
        "largest": ordered[0].worst,
        "limit": of_kind[0].limit,
        "outside": sum(map(_count_outside, of_kind)),
        "coefficients": sum(len(test.values) for test in of_kind),
    }
    status = _graded(abs(failed[0].worst), CORRELATION_SMALL, CORRELATION_LARGE) if failed else "fine"
    if status == "bad" and good_free_run is not None:
        # Correlations that do no harm to a good free run are to be looked at, no more.
        status, values["free_run"] = "look", good_free_run
    return Finding(f"residuals_{kind}", status, values)


def _failure(test: CorrelationTest) -> dict[str, Any]:
    """Return what failed a test: its name and the largest coefficient."""
    return {"name": test.name, "title": test.title, "worst": test.worst, "lag": test.worst_lag}


def _count_outside(test: CorrelationTest) -> int:
    """Return how many coefficients lie beyond the band."""
    return sum(abs(value) > test.band for value in test.values)


def _fixed_points(model: Model, curve: Sequence[FixedPoint]) -> Finding | None:
    if not curve:
        return None
    values = _fixed_point_values(curve)
    if not model.n_inputs:
        values["points"] = _points_inside(curve)
        return Finding("fixed_points", "fine", values)
    if values["at_rest"] == values["cases"] and not values["several"]:
        return Finding("fixed_points", "fine", values)
    # Half of the working points unstable, or none at all: what the data do there the model does not.
    mostly = 2 * values["at_rest"] >= values["cases"]
    return Finding("fixed_points", "look" if mostly else "bad", values)


def _points_inside(curve: Sequence[FixedPoint]) -> list[list[Any]]:
    """Return the outputs that a model keeps within the data, each with whether it is stable."""
    points = []
    for point in curve:
        if point.inside and point.y is not None:
            points.append([point.y, point.stable])
    return points


def _fixed_point_values(curve: Sequence[FixedPoint]) -> dict[str, Any]:
    """Return at how many inputs a model rests within the data, at how many in several places, and how slowly."""
    stable: Counter[tuple[str | None, float | None]] = Counter()
    settling = []
    for point in curve:
        if not point.inside:
            continue
        if point.stable:
            stable[point.signal, point.u] += 1
        if point.settling_steps is not None:
            settling.append(point.settling_steps)
    return {
        "cases": len({(point.signal, point.u) for point in curve}),
        "at_rest": len(stable),
        "several": sum(count > 1 for count in stable.values()),
        "settling_steps": max(settling, default=None),
        "points": None,
    }


def _rests(rests: Sequence[Rest]) -> Finding | None:
    if not rests:
        return None
    deviations = [rest.deviation for rest in rests if rest.deviation is not None]
    without, largest = len(rests) - len(deviations), max(deviations, default=None)
    fine = not without and largest is not None and largest <= STATIC_FINE
    return Finding("static", "fine" if fine else "look", {"rests": len(rests), "without": without, "largest": largest})
