"""What is fine about a model, and what is not: findings on its predictions, its residuals and its rests."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pandas as pd

from narxbench.identification.finding import Finding, Status
from narxbench.identification.trust.residuals import CorrelationTest
from narxbench.identification.trust.steady_state import FixedPoint, Rest
from narxbench.identification.trust.validation import (
    ALL,
    ARX,
    FIGURES,
    FREE_RUN,
    INCOMING,
    LAST_VALUE,
    MODEL,
    ONE_STEP,
    decisive,
    row_of,
)
from narxbench.model.narx import Model
from narxbench.model.records import ROLES

# A free run that misses at most 25 % of the output's standard deviation follows every
# movement by eye; at 60 % a third of the variance is missed and one sees where; beyond that a mean does nearly as well.
FREE_RUN_FINE, FREE_RUN_LOOK = 0.25, 0.6
# More than a tenth below linear ARX pays for nonlinear terms; more than a tenth above is no accident of a record.
BETTER, WORSE = 0.9, 1.1
# Errors this close are equal for use, whatever their ratio.
CLOSE = 0.01
# Two records of one process differ easily by a half in error; an error three times as large was fitted, not found.
GAP_FINE, GAP_LOOK = 1.5, 3.0
# An increase of the RRSE that is small in itself is no gap, whatever the ratio.
GAP_SMALL = 0.05
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
) -> list[Finding]:
    """Return what is fine about a model and what is not, most important first.

    Parameters
    ----------
    model : Model
        The model.
    frame : DataFrame
        Of :func:`narxbench.identification.trust.validation.validate`.
    tests : sequence of CorrelationTest
        Of :func:`narxbench.identification.trust.residuals.correlation_tests`.
    curve : sequence of FixedPoint
        Of :func:`narxbench.identification.trust.steady_state.static_curve`.
    rests : sequence of Rest
        Of :func:`narxbench.identification.trust.steady_state.measured_static_points`.
    checks : sequence of Finding
        The checks of the data; those that are not fine are repeated at the end.
    """
    roles = [role for role in reversed(ROLES) if role in set(frame["role"])]
    of_model: list[Finding | None] = []
    if roles:
        of_model = [
            _prediction(model, frame, roles[0]),
            _against(frame, roles[0], *decisive(model, frame), ARX),
            _against(frame, roles[0], ONE_STEP, 1, LAST_VALUE),
            _gap(model, frame, roles),
            _residuals(tests, "linear"),
            _residuals(tests, "nonlinear"),
            _fixed_points(model, curve),
            _rests(rests),
        ]
    return [found for found in of_model if found] + [check for check in checks if check.status != "fine"]


def _graded(value: float, fine: float, look: float) -> Status:
    return "fine" if value <= fine else "look" if value <= look else "bad"


def _prediction(model: Model, frame: pd.DataFrame, role: str) -> Finding | None:
    kind, steps = decisive(model, frame)
    row = row_of(frame, role, kind, steps)
    if row is None:
        return None
    free, incoming = row_of(frame, role, FREE_RUN), row_of(frame, role, kind, steps, sampling=INCOMING)
    runs = frame[(frame["role"] == role) & (frame["model"] == MODEL) & (frame["kind"] == FREE_RUN)]
    values: dict[str, Any] = {"role": role, "kind": kind, "steps": steps, "decimation": model.decimation}
    values["diverged"] = runs[runs["diverged"].astype(bool) & (runs["record"] != ALL)]["record"].unique().tolist()
    values |= {"free_run": free["rrse"] if free else None, "incoming": incoming["rrse"] if incoming else None}
    values |= {name: row[name] for name in (*FIGURES, "samples")}
    status: Status = "look"
    if free and values["diverged"]:
        status = "bad" if model.n_inputs else "look"
    elif row["rrse"] is not None:
        status = _graded(row["rrse"], FREE_RUN_FINE, FREE_RUN_LOOK)
        # What the model was made with is no proof.
        status = "look" if status == "fine" and role != "test" else status
    values["small"] = row["rrse"] is not None and row["rrse"] <= FREE_RUN_FINE
    return Finding("prediction", status, values)


def _against(frame: pd.DataFrame, role: str, kind: str, steps: int | None, baseline: str) -> Finding | None:
    row, other = row_of(frame, role, kind, steps), row_of(frame, role, kind, steps, model=baseline)
    if row is None or other is None or (row["rrse"] is None and other["rrse"] is None):
        return None
    own, simple = row["rrse"], other["rrse"]
    values = {"role": role, "kind": kind, "steps": steps, "rrse": own, "baseline": simple}
    status: Status = "fine"
    if own is None:
        status = "bad"
    elif simple is not None and own > BETTER * simple:
        status = "bad" if own > WORSE * simple and own - simple > CLOSE else "look"
    return Finding(f"against_{baseline.lower().replace(' ', '_')}", status, values)


def _gap(model: Model, frame: pd.DataFrame, roles: Sequence[str]) -> Finding | None:
    if roles[0] != "test" or len(roles) == 1:
        return None
    kind, steps = decisive(model, frame)
    test, seen = (row_of(frame, role, kind, steps) for role in roles[:2])
    if not test or not seen or test["rrse"] is None or seen["rrse"] is None:
        return None
    new, old = test["rrse"], seen["rrse"]
    values = {"test": new, "seen": old, "role": roles[1], "kind": kind, "steps": steps}
    return Finding("gap", _graded(new, max(GAP_FINE * old, old + GAP_SMALL), GAP_LOOK * old), values)


def _residuals(tests: Sequence[CorrelationTest], kind: str) -> Finding | None:
    own = [test for test in tests if test.kind == kind]
    if not own:
        return None
    failed = sorted((test for test in own if not test.passed), key=lambda test: -abs(test.worst))
    values: dict[str, Any] = {
        "tests": len(own),
        "failed": [{"name": t.name, "title": t.title, "worst": t.worst, "lag": t.worst_lag} for t in failed],
        "largest": max(own, key=lambda test: abs(test.worst)).worst,
        "limit": own[0].limit,
        "outside": sum(abs(value) > test.band for test in own for value in test.values),
        "coefficients": sum(len(test.values) for test in own),
    }
    status = _graded(abs(failed[0].worst), CORRELATION_SMALL, CORRELATION_LARGE) if failed else "fine"
    return Finding(f"residuals_{kind}", status, values)


def _fixed_points(model: Model, curve: Sequence[FixedPoint]) -> Finding | None:
    if not curve:
        return None
    places = dict.fromkeys((point.signal, point.u) for point in curve)
    stable = Counter((point.signal, point.u) for point in curve if point.stable and point.inside)
    settling = [p.settling_steps for p in curve if p.inside and p.settling_steps is not None]
    values: dict[str, Any] = {
        "cases": len(places),
        "at_rest": len(stable),
        "several": sum(count > 1 for count in stable.values()),
        "settling_steps": max(settling, default=None),
        "points": None,
    }
    if not model.n_inputs:
        values["points"] = [[p.y, p.stable] for p in curve if p.y is not None and p.inside]
        return Finding("fixed_points", "fine", values)
    everywhere = values["at_rest"] == values["cases"] and not values["several"]
    return Finding("fixed_points", "fine" if everywhere else "look", values)


def _rests(rests: Sequence[Rest]) -> Finding | None:
    if not rests:
        return None
    deviations = [rest.deviation for rest in rests if rest.deviation is not None]
    without, largest = len(rests) - len(deviations), max(deviations, default=None)
    fine = not without and largest is not None and largest <= STATIC_FINE
    return Finding("static", "fine" if fine else "look", {"rests": len(rests), "without": without, "largest": largest})
