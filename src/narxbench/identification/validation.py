"""Whether a model is good: its predictions of every record against those of simple models, and a summary in words."""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from narxbench.analysis.metrics import significant
from narxbench.identification.arrangement import Arrangement
from narxbench.identification.checks import Check, Status
from narxbench.identification.residuals import CorrelationTest
from narxbench.identification.steady_state import FixedPoint, Rest
from narxbench.identification.weights import orthogonalise
from narxbench.io.errors import NarxbenchError
from narxbench.model.narx import DivergedError, Model
from narxbench.model.records import ROLES, Record
from narxbench.model.terms import OUTPUT, monomials_of, term_name

MODEL, ARX, LAST_VALUE = "model", "linear ARX", "last value"
DECIMATED, INCOMING = "decimated", "incoming"
ONE_STEP, K_STEP, FREE_RUN = "one_step", "k_step", "free_run"
# The rows of all records of a role together have this in the column ``record``.
ALL = "all"
FIGURES = ("rrse", "nrmse", "fit_percent", "mae")
COLUMNS = ("role", "record", "model", "sampling", "kind", "steps", *FIGURES, "samples", "diverged")

# The rules of the summary. A free run that misses at most 25 % of the output's standard deviation follows every
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


class _Sums(NamedTuple):
    """What the figures are made of; those of several records add up, but for the extremes.

    The energy is about the mean of all samples together.
    """

    error: float = 0.0
    energy: float = 0.0
    mean: float = 0.0
    absolute: float = 0.0
    samples: int = 0
    low: float = math.inf
    high: float = -math.inf
    diverged: bool = False

    def plus(self, other: "_Sums") -> "_Sums":
        samples = max(1, self.samples + other.samples)
        apart = (self.mean - other.mean) ** 2 * self.samples * other.samples / samples
        return _Sums(
            self.error + other.error,
            self.energy + other.energy + apart,
            (self.mean * self.samples + other.mean * other.samples) / samples,
            self.absolute + other.absolute,
            self.samples + other.samples,
            min(self.low, other.low),
            max(self.high, other.high),
            self.diverged or other.diverged,
        )

    def figures(self) -> dict[str, float | None]:
        if self.diverged or not self.samples:
            return dict.fromkeys(FIGURES)
        rrse = math.sqrt(self.error / self.energy) if self.energy > 0 else None
        found = {
            "rrse": rrse,
            "nrmse": math.sqrt(self.error / self.samples) / (self.high - self.low) if self.high > self.low else None,
            "fit_percent": None if rrse is None else 100 * (1 - rrse),
            "mae": self.absolute / self.samples,
        }
        return {name: None if value is None else significant(value) for name, value in found.items()}


def validate(
    model: Model, records: Sequence[Record], *, baselines: Mapping[str, Model], steps: Sequence[int] = (1, 5)
) -> pd.DataFrame:
    """Return how well a model and simpler ones predict every record, some steps ahead and in free run.

    Parameters
    ----------
    model : Model
        The model.
    records : sequence of Record
        The records, each with its role.
    baselines : mapping of str to Model
        Models to compare with, by name, such as that of :func:`linear_arx`. The last value, y(k) = y(k - steps), is
        always among them; in free run it keeps the last of the initial values.
    steps : sequence of int
        How many steps of the model ahead; 1 is the kind ``one_step``, others are ``k_step``.

    Returns
    -------
    DataFrame
        One row per role, record, model, sampling and kind. ``record`` is ``all`` where the records of a role are taken
        together: errors are added, and the energy is about the mean of all of them. At the sampling ``incoming``
        all phases are predicted, at ``decimated`` phase 0. Simpler models are scored from the first sample on that the
        model is scored at, later where they need more initial samples. Figures that are not defined (a run diverges,
        the output is constant, or the record is too short) are None.
    """
    return validate_each([Case(record, model, baselines) for record in records], steps=steps)


class Case(NamedTuple):
    """A record with the models that predict it."""

    record: Record
    model: Model
    baselines: Mapping[str, Model]


def validate_each(cases: Sequence[Case], *, steps: Sequence[int] = (1, 5)) -> pd.DataFrame:
    """Return what :func:`validate` does, where each record has models of its own, of the same decimation and lags.

    So are parts of the data judged that take turns: each by weights that were estimated on the others.
    """
    rows = []
    kinds = [(ONE_STEP if step == 1 else K_STEP, step) for step in steps] + [(FREE_RUN, None)]
    stride = cases[0].model.decimation
    # All are scored on the same samples.
    initial = max(m.initial_samples for case in cases for m in (case.model, *case.baselines.values()))
    for sampling, every in ((DECIMATED, stride), (INCOMING, 1)):
        first, decimation = initial // every, stride // every
        for name in (MODEL, *cases[0].baselines, LAST_VALUE):
            for (kind, step), role in product(kinds, ROLES):
                of_role = [case for case in cases if case.record.role == role]
                sums = []
                for case in of_role:
                    given = {MODEL: case.model, **case.baselines}.get(name)
                    own = given.decimated() if given and sampling == DECIMATED else given
                    sums.append(_sums(own, case.record.phase(0, every), step, first, decimation))
                names = [case.record.name for case in of_role]
                if sums:
                    for record, total in zip([ALL, *names], [reduce(_Sums.plus, sums), *sums], strict=True):
                        place = (role, record, name, sampling, kind, step)
                        rows.append((*place, *total.figures().values(), total.samples, total.diverged))
    # Of type object: None stays None.
    return pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)


def linear_arx(
    records: Iterable[Record],
    *,
    inputs: Sequence[str],
    output: str,
    decimation: int,
    y_lags: Iterable[int],
    u_lags: Sequence[Iterable[int]],
    sampling_time: float | None = None,
) -> Model:
    """Return the linear model of some lags with a constant, by least squares on the records for estimation.

    Parameters
    ----------
    records : iterable of Record
        Records; those of the role estimation count, with all their phases.
    inputs, output : sequence of str, str
        Names of the columns.
    decimation : int
        Samples in one step of the model.
    y_lags : iterable of int
        Lags of the output in steps.
    u_lags : sequence of iterables of int
        Lags of each input in steps.
    sampling_time : float, optional
        Seconds between samples.

    Raises
    ------
    NarxbenchError
        Where no record for estimation is longer than the largest lag.
    """
    factors = [(OUTPUT, lag) for lag in y_lags]
    factors += [(signal, lag) for signal, lags in enumerate(u_lags, 1) for lag in lags]
    monomials = monomials_of(factors, degree=1)
    start = decimation * max((lag for _, lag in factors), default=0)
    usable = [record for record in records if record.role == "estimation" and len(record) > start]
    if not usable:
        raise NarxbenchError(f"linear ARX: found no estimation record of more than {start} samples, its largest lag")
    arrangement = Arrangement(usable, decimation, start // decimation, n_parts=1)
    rows = arrangement.rows()
    matrix, target = arrangement.columns(monomials, rows), arrangement.y[rows]
    terms, kept = [term_name(monomial, len(inputs)) for monomial in monomials], list[int]()
    for i in range(len(terms)):
        # What depends on the terms before, such as a constant input, is left out.
        with suppress(NarxbenchError):
            found = orthogonalise(matrix[:, [*kept, i]], target, [terms[t] for t in [*kept, i]])
            kept.append(i)
    return Model(
        terms=tuple(terms[i] for i in kept),
        coefficients=tuple(found.coefficients.tolist()),
        inputs=tuple(inputs),
        output=output,
        decimation=decimation,
        sampling_time=sampling_time,
        about={"method": ARX},
    )


def metrics_by_role(frame: pd.DataFrame) -> dict[str, dict[str, Any] | None]:
    """Return the figures of the model by role, from the frame of :func:`validate`; None for a role without records.

    Of each role there are ``one_step`` and ``free_run`` at the sampling of the model, each with ``rrse``, ``nrmse`` and
    ``fit_percent``, and the same two ``at_incoming_sampling``.
    """

    def both(role: str, sampling: str) -> dict[str, Any]:
        kinds = {kind: _row(frame, role, kind, sampling=sampling) for kind in (ONE_STEP, FREE_RUN)}
        return {kind: row and {name: row[name] for name in FIGURES[:3]} for kind, row in kinds.items()}

    present = set(frame["role"])
    return {
        role: {**both(role, DECIMATED), "at_incoming_sampling": both(role, INCOMING)} if role in present else None
        for role in ROLES
    }


def summary(
    model: Model,
    frame: pd.DataFrame,
    tests: Sequence[CorrelationTest],
    curve: Sequence[FixedPoint],
    rests: Sequence[Rest] = (),
    checks: Sequence[Check] = (),
) -> list[Check]:
    """Return what is fine about a model, what is not and what to try, most important first.

    Parameters
    ----------
    model : Model
        The model.
    frame : DataFrame
        Of :func:`validate`.
    tests : sequence of CorrelationTest
        Of :func:`narxbench.identification.residuals.correlation_tests`.
    curve : sequence of FixedPoint
        Of :func:`narxbench.identification.steady_state.static_curve`.
    rests : sequence of Rest
        Of :func:`narxbench.identification.steady_state.measured_static_points`.
    checks : sequence of Check
        The checks of the data; those that are not fine are repeated at the end.
    """
    roles = [role for role in reversed(ROLES) if role in set(frame["role"])]
    if not roles:
        return [check for check in checks if check.status != "fine"]
    found = [
        _judged_prediction(model, frame, roles[0]),
        _judged_against(frame, roles[0], *_decisive(model, frame), ARX),
        _judged_against(frame, roles[0], ONE_STEP, 1, LAST_VALUE),
        _judged_gap(model, frame, roles),
        _judged_residuals(tests, "linear"),
        _judged_residuals(tests, "nonlinear"),
        _judged_fixed_points(model, curve),
        _judged_rests(rests),
    ]
    return [check for check in found if check] + [check for check in checks if check.status != "fine"]


def _sums(model: Model | None, record: Record, steps: int | None, first: int, decimation: int) -> _Sums:
    """Return what the figures of one record are made of; no model stands for the last value."""
    start = max(first, decimation * (steps or 1) if model is None else model.initial_samples)
    measured = record.y[start:]
    if not len(measured):
        return _Sums()
    if model is None:
        last = record.y[start - 1]
        predicted = np.full(len(measured), last) if steps is None else record.y[start - steps * decimation :]
        predicted = predicted[: len(measured)]
    else:
        try:
            u = record.u if model.n_inputs else None
            predicted = model.predict(u, record.y, steps, samples=len(record))[start:]
        except DivergedError:
            return _Sums(samples=len(measured), diverged=True)
    values, errors = measured.tolist(), (measured - predicted).tolist()
    # math.fsum is correctly rounded; NumPy's sums depend on the processor's vector width.
    mean, low, high = math.fsum(values) / len(values), min(values), max(values)
    energy = math.fsum((y - mean) ** 2 for y in values) if high > low else 0.0
    squares = math.fsum(error * error for error in errors)
    return _Sums(squares, energy, mean, math.fsum(map(abs, errors)), len(values), low, high)


def row_at(frame: pd.DataFrame, **place: Any) -> dict[str, Any] | None:
    """Return the first row of the frame of :func:`validate` whose columns have these values, or None."""
    mask = np.logical_and.reduce([[value == wanted for value in frame[name]] for name, wanted in place.items()])
    rows: list[dict[str, Any]] = frame[mask].to_dict("records")
    return rows[0] if rows else None


def _row(
    frame: pd.DataFrame,
    role: str,
    kind: str,
    steps: int | None = None,
    *,
    model: str = MODEL,
    sampling: str = DECIMATED,
    record: str = ALL,
) -> dict[str, Any] | None:
    ahead = {} if steps is None else {"steps": steps}
    return row_at(frame, role=role, record=record, model=model, sampling=sampling, kind=kind, **ahead)


def _decisive(model: Model, frame: pd.DataFrame) -> tuple[str, int | None]:
    """Return the kind of prediction that decides: a series without input forgets its start, so no free run."""
    ahead = frame["steps"].dropna()
    return (FREE_RUN, None) if model.n_inputs else (K_STEP if ahead.max() > 1 else ONE_STEP, int(ahead.max()))


def _status(value: float, fine: float, look: float) -> Status:
    return "fine" if value <= fine else "look" if value <= look else "bad"


def _told(kind: str, steps: int | None) -> str:
    return "in free run" if kind == FREE_RUN else f"{steps} step{'s' if steps != 1 else ''} ahead"


def _judged_prediction(model: Model, frame: pd.DataFrame, role: str) -> Check | None:
    kind, steps = _decisive(model, frame)
    row = _row(frame, role, kind, steps)
    if row is None:
        return None
    title, data = "Predictions of unseen data", f"the {role} data"
    if role != "test":
        title, data = "Predictions", f"the {role} data, which the model was made with"
    settings = f"another decimation (now {model.decimation}), other y_lags and u_lags, or another degree"
    free = _row(frame, role, FREE_RUN)
    runs = frame[(frame["role"] == role) & (frame["model"] == MODEL) & (frame["kind"] == FREE_RUN)]
    diverged = runs[runs["diverged"].astype(bool) & (runs["record"] != ALL)]["record"].unique().tolist()
    values = {"role": role, "kind": kind, "steps": steps, "diverged": diverged}
    values |= {name: row[name] for name in (*FIGURES, "samples")}
    if free and diverged:
        text = f"The free run diverges on {len(diverged)} of the records of {data}: {', '.join(diverged)}"
        known = free["rrse"] is not None and model.decimation > 1
        text += f" (only at the incoming sampling; at its own RRSE {free['rrse']:.3g})." if known else "."
        advice = f"Try fewer terms (a lower degree, fewer lags), {settings}."
        return Check("prediction", title, "bad" if model.n_inputs else "look", text, advice, values)
    if row["rrse"] is None:
        text = f"There is nothing to judge the model by: {data} are constant or shorter than the initial samples."
        return Check("prediction", title, "look", text, "Give longer records.", values)
    rrse = row["rrse"]
    status = _status(rrse, FREE_RUN_FINE, FREE_RUN_LOOK)
    incoming = _row(frame, role, kind, steps, sampling=INCOMING)
    text = f"{_told(kind, steps).capitalize()} the model misses {100 * rrse:.3g} % of the standard deviation of {data}"
    text += f" (RRSE {rrse:.3g}, fit {row['fit_percent']:.3g} %"
    if model.decimation > 1 and incoming and incoming["rrse"] is not None:
        text += f"; at the incoming sampling RRSE {incoming['rrse']:.3g}"
    text += ")."
    advice = "" if status == "fine" else f'Try {settings}, or refine="simulation", which fits weights to the free run.'
    if role != "test":
        status = "look" if status == "fine" else status
        advice = f"Keep data for a test (test=): nothing here tells how the model does on new data. {advice}".strip()
    return Check("prediction", title, status, text, advice, values)


def _judged_against(frame: pd.DataFrame, role: str, kind: str, steps: int | None, baseline: str) -> Check | None:
    row, other = _row(frame, role, kind, steps), _row(frame, role, kind, steps, model=baseline)
    if row is None or other is None or (row["rrse"] is None and other["rrse"] is None):
        return None
    own, simple = row["rrse"], other["rrse"]
    ratio = own / simple if own is not None and simple else None
    values = {"role": role, "kind": kind, "steps": steps, "rrse": own, "baseline": simple, "ratio": ratio}
    how = f"{_told(kind, steps)} on the {role} data"
    simpler = "linear ARX of the same lags" if baseline == ARX else "repeating the last value"
    name, title = f"against_{baseline.lower().replace(' ', '_')}", f"Against {simpler}"
    if simple is None:
        return Check(name, title, "fine", f"The model has RRSE {own:.3g} {how}; {simpler} diverges.", "", values)
    if own is None:
        text = f"The model diverges {how}; {simpler} has RRSE {simple:.3g}."
        return Check(name, title, "bad", text, "Try a lower degree or fewer lags.", values)
    text = f"RRSE {own:.3g} against {simple:.3g} of {simpler}, {how}."
    if own <= BETTER * simple:
        return Check(name, title, "fine", text, "", values)
    if baseline == ARX:
        advice = "The nonlinear terms do not pay here: take a linear model (degree=1), or try other lags or decimation."
    else:
        advice = "Neighbouring samples are nearly equal: try a larger decimation."
    bad = own > WORSE * simple and own - simple > CLOSE
    return Check(name, title, "bad" if bad else "look", text, advice, values)


def _judged_gap(model: Model, frame: pd.DataFrame, roles: Sequence[str]) -> Check | None:
    if roles[0] != "test" or len(roles) == 1:
        return None
    kind, steps = _decisive(model, frame)
    test, seen = (_row(frame, role, kind, steps) for role in roles[:2])
    if not test or not seen or test["rrse"] is None or seen["rrse"] is None:
        return None
    new, old = test["rrse"], seen["rrse"]
    status = _status(new, max(GAP_FINE * old, old + GAP_SMALL), GAP_LOOK * old)
    text = f"RRSE {new:.3g} on the test data, {old:.3g} on the {roles[1]} data, {_told(kind, steps)}."
    advice = "It fits its own data better than new ones: try fewer terms (a lower degree, fewer lags) or more data."
    values = {"test": new, roles[1]: old}
    return Check("gap", "From known to new data", status, text, "" if status == "fine" else advice, values)


def _judged_residuals(tests: Sequence[CorrelationTest], kind: str) -> Check | None:
    own = [test for test in tests if test.kind == kind]
    if not own:
        return None
    failed = sorted((test for test in own if not test.passed), key=lambda test: -abs(test.worst))
    largest = max(own, key=lambda test: abs(test.worst))
    count, outside = len(own), sum(abs(value) > test.band for test in own for value in test.values)
    share = f"{outside} of {sum(len(test.values) for test in own)} coefficients lie beyond the 95 % band"
    values = {"failed": [test.name for test in failed], "largest": largest.worst, "limit": own[0].limit}
    name, title = f"residuals_{kind}", f"Residuals one step ahead, {kind} tests"
    if not failed:
        text = f"All {count} pass: the largest correlation is {largest.worst:.2g} (limit {own[0].limit:.2g}); {share}."
        return Check(name, title, "fine", text, "", values)
    worst = abs(failed[0].worst)
    status = _status(worst, CORRELATION_SMALL, CORRELATION_LARGE)
    shown = "; ".join(f"{test.title}: {test.worst:.2g} at lag {test.worst_lag}" for test in failed)
    text = f"{len(failed)} of {count} fail (limit {own[0].limit:.2g}): {shown}; {share}."
    if status == "fine":
        text += f" That is at most {100 * CORRELATION_SMALL**2:.0f} % of their variance: only many samples show it."
        return Check(name, title, status, text, "", values)
    if kind == "nonlinear":
        advice = "Terms are missing: try a higher degree, or lags in y_lags and u_lags that were left out."
        return Check(name, title, status, text, advice, values)
    text += " Correlated residuals do not spoil a free run, but they bias the weights."
    tries = []
    if any(test.name == "phi_xixi" for test in failed):
        tries.append('Try refine="extended", which models the noise, or more y_lags.')
    with_inputs = [test for test in failed if test.name != "phi_xixi"]
    if any(test.worst_lag >= 0 for test in with_inputs):
        tries.append("Try u_lags that reach the lags of the input.")
    if any(test.worst_lag < 0 for test in with_inputs):
        tries.append("At a negative lag the input follows the residual: is there feedback from output to input?")
    return Check(name, title, status, text, " ".join(tries), values)


def _judged_fixed_points(model: Model, curve: Sequence[FixedPoint]) -> Check | None:
    if not curve:
        return None
    title = "Fixed points"
    stable: dict[tuple[str | None, float | None], int] = {}
    for point in curve:
        place = (point.signal, point.u)
        stable[place] = stable.get(place, 0) + (point.stable and point.inside)
    cases, at_rest = len(stable), sum(count > 0 for count in stable.values())
    several = sum(count > 1 for count in stable.values())
    settling = [p.settling_steps for p in curve if p.inside and p.settling_steps is not None]
    slowest = max(settling, default=None)
    values = {"cases": cases, "at_rest": at_rest, "several": several, "settling_steps": slowest}
    if not model.n_inputs:
        shown = [f"{p.y:.3g} ({'stable' if p.stable else 'unstable'})" for p in curve if p.y is not None and p.inside]
        text = f"Fixed points of the model within the measured range: {', '.join(shown) or 'none'}."
        return Check("fixed_points", title, "fine", text, "", values)
    text = f"At {at_rest} of {cases} constant inputs over their range the model rests within the measured outputs"
    text += "." if slowest is None else f", after at most about {slowest:.3g} steps."
    if at_rest == cases and not several:
        return Check("fixed_points", title, "fine", text, "", values)
    advice = []
    if at_rest < cases:
        advice.append(
            "Elsewhere it leaves the data or does not settle: do not use it there unless the process does so too. "
            "Try a lower degree, or records that dwell at such inputs."
        )
    if several:
        text += f" At {several} of them it has several stable outputs: where it ends depends on where it starts."
        advice.append("If the process has one output for each input, try a lower degree.")
    return Check("fixed_points", title, "look", text, " ".join(advice), values)


def _judged_rests(rests: Sequence[Rest]) -> Check | None:
    if not rests:
        return None
    deviations = [rest.deviation for rest in rests if rest.deviation is not None]
    without, largest = len(rests) - len(deviations), max(deviations, default=None)
    values = {"rests": len(rests), "without": without, "largest": largest}
    text = f"The data rest {len(rests)} times at constant inputs."
    if largest is not None:
        text += f" The model's own rest is at most {100 * largest:.2g} % of the output's range away."
    if without:
        text += f" At {without} of them the model has no stable output."
    fine = not without and largest is not None and largest <= STATIC_FINE
    advice = "" if fine else 'Try refine="simulation", another degree, or records that dwell at more inputs.'
    return Check("static", "Rests of data and model", "fine" if fine else "look", text, advice, values)
