"""Whether a model is good: its errors on every record, and the errors of simple models."""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from narxbench._identification.data.arrangement import Arrangement
from narxbench._identification.search.problem import MOST_VALUES
from narxbench._identification.validation.weights import least_squares_solution, triangle_of
from narxbench._io.errors import NarxbenchError
from narxbench._model.narx import DivergedError, Model
from narxbench._model.records import ROLES, Record
from narxbench._model.terms import OUTPUT, max_lag_of, monomials_of, term_name
from narxbench._numerics.rounding import significant

MODEL, ARX, LAST_VALUE = "model", "linear ARX", "last value"
DECIMATED, INCOMING = "decimated", "incoming"
ONE_STEP, K_STEP, FREE_RUN = "one_step", "k_step", "free_run"
# The rows of all records of a role together have this in the column ``record``.
ALL = "all"
# The last three have the unit of the output.
FIGURES = ("rrse", "nrmse", "fit_percent", "mae", "rmse", "max_error")
COLUMNS = ("role", "record", "model", "sampling", "kind", "steps", *FIGURES, "samples", "diverged")


class _Sums(NamedTuple):
    """Sums that figures come from. Sums of several records add up, the energy about the mean of all samples."""

    error: float = 0.0
    energy: float = 0.0
    mean: float = 0.0
    absolute: float = 0.0
    largest: float = 0.0
    samples: int = 0
    low: float = math.inf
    high: float = -math.inf
    diverged: bool = False

    def plus(self, other: "_Sums") -> "_Sums":
        samples = max(1, self.samples + other.samples)
        between = (self.mean - other.mean) ** 2 * self.samples * other.samples / samples
        return _Sums(
            self.error + other.error,
            self.energy + other.energy + between,
            (self.mean * self.samples + other.mean * other.samples) / samples,
            self.absolute + other.absolute,
            max(self.largest, other.largest),
            self.samples + other.samples,
            min(self.low, other.low),
            max(self.high, other.high),
            self.diverged or other.diverged,
        )

    def figures(self) -> list[float | None]:
        if self.diverged or not self.samples:
            return [None] * len(FIGURES)
        rrse = math.sqrt(self.error / self.energy) if self.energy > 0 else None
        rmse = math.sqrt(self.error / self.samples)
        nrmse = rmse / (self.high - self.low) if self.high > self.low else None
        fit = None if rrse is None else 100 * (1 - rrse)
        figures = (rrse, nrmse, fit, self.absolute / self.samples, rmse, self.largest)
        return [None if value is None else significant(value) for value in figures]


class Case(NamedTuple):
    """A record with the model that predicts it, and models to compare with, by name, such as :func:`linear_arx`.

    The last value, y(k) = y(k - steps), is always among them. In free run it keeps the last of the initial values.
    """

    record: Record
    model: Model
    baselines: Mapping[str, Model]


def validate(cases: Sequence[Case], *, steps: Sequence[int] = (1, 5)) -> pd.DataFrame:
    """Return how well models and simpler ones predict every record: a row per role, record, model, sampling and kind.

    Each record has its own models, of the same decimation and lags, because parts that take turns have them. ``steps``
    are of the model: 1 is the kind ``one_step``, others ``k_step``. The record ``all`` adds the records of a role, with
    the energy about their common mean. The sampling ``incoming`` has all phases, ``decimated`` phase 0. Undefined
    figures (a run diverges, the output is constant, the record is too short) are None.
    """
    rows: list[tuple[Any, ...]] = []
    kinds: list[tuple[str, int | None]] = [(ONE_STEP if step == 1 else K_STEP, step) for step in steps]
    kinds.append((FREE_RUN, None))
    # At a decimation of 1 both samplings are the same.
    is_decimated = cases[0].model.decimation > 1
    for sampling in (DECIMATED, INCOMING) if is_decimated else (INCOMING,):
        for name in (MODEL, *cases[0].baselines, LAST_VALUE):
            for (kind, step), role in product(kinds, ROLES):
                rows += _rows(cases, (role, name, sampling, kind, step))
    if not is_decimated:
        column = COLUMNS.index("sampling")
        rows = [*((*row[:column], DECIMATED, *row[column + 1 :]) for row in rows), *rows]
    # Of type object: None stays None.
    return pd.DataFrame(rows, columns=list(COLUMNS), dtype=object)


def _rows(cases: Sequence[Case], place: tuple[str, str, str, str, int | None]) -> list[tuple[Any, ...]]:
    """Return the rows of one role, model, sampling and kind of prediction: of all records together, and of each."""
    role, name, sampling, kind, step = place
    stride = cases[0].model.decimation
    every = stride if sampling == DECIMATED else 1
    # All are scored on the same samples.
    initial = max(_initial_samples(case) for case in cases)
    sums, names = [], []
    for case in cases:
        if case.record.role == role:
            model = {MODEL: case.model, **case.baselines}.get(name)
            if model is not None and sampling == DECIMATED:
                model = model.decimated()
            sums.append(_sums(model, case.record.phase(0, every), step, initial // every, stride // every))
            names.append(case.record.name)
    if not sums:
        return []
    rows = []
    for record, total in zip([ALL, *names], [reduce(_Sums.plus, sums), *sums], strict=True):
        rows.append((role, record, name, sampling, kind, step, *total.figures(), total.samples, total.diverged))
    return rows


def _initial_samples(case: Case) -> int:
    """Return how many samples all models of a case are given."""
    return max(model.initial_samples for model in (case.model, *case.baselines.values()))


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
    """Return the linear model of some lags (in steps) with a constant, by least squares on the records for estimation.

    NarxbenchError is raised where none of them is longer than the largest lag.
    """
    factors = [(OUTPUT, lag) for lag in y_lags]
    for signal, lags in enumerate(u_lags, 1):
        factors += [(signal, lag) for lag in lags]
    monomials = monomials_of(factors, degree=1)
    start = decimation * max_lag_of(monomials)
    usable = []
    for record in records:
        if record.role == "estimation" and len(record) > start:
            usable.append(record)
    if not usable:
        raise NarxbenchError(f"linear ARX: found no estimation record of more than {start} samples, its largest lag")
    arrangement = Arrangement(usable, decimation, start // decimation, n_parts=1)
    terms = [term_name(monomial, len(inputs)) for monomial in monomials]
    rows = arrangement.rows()
    # Of very long records, as many as can be held at once.
    rows = rows[:: -(-len(rows) * len(terms) // MOST_VALUES)]
    kept, coefficients = _independent(arrangement.columns(monomials, rows), arrangement.y[rows], terms)
    return Model(
        terms=tuple(terms[i] for i in kept),
        coefficients=tuple(coefficients),
        inputs=tuple(inputs),
        output=output,
        decimation=decimation,
        sampling_time=sampling_time,
        about={"method": ARX},
    )


def _independent(
    columns: NDArray[np.float64], y: NDArray[np.float64], terms: Sequence[str]
) -> tuple[list[int], list[float]]:
    """Return the terms that depend on none before them, as a constant input does, and their weights."""
    with suppress(NarxbenchError):
        return list(range(len(terms))), least_squares_solution(columns, y, terms).tolist()
    # Each column is tried in turn, with all before it: on as few rows as there are columns.
    triangle, _ = triangle_of([(columns, y)])
    columns, y = triangle[:, :-1], triangle[:, -1]
    kept: list[int] = []
    for i in range(len(terms)):
        with suppress(NarxbenchError):
            solution = least_squares_solution(columns[:, [*kept, i]], y, [terms[t] for t in [*kept, i]])
            kept.append(i)
    return kept, solution.tolist()


def metrics_by_role(frame: pd.DataFrame) -> dict[str, dict[str, Any] | None]:
    """Return the figures of the model by role, at the sampling of the data, or None for a role without records."""
    present = set(frame["role"])
    metrics: dict[str, dict[str, Any] | None] = dict.fromkeys(ROLES)
    for role in ROLES:
        if role in present:
            metrics[role] = {kind: _figures(row_of(frame, role, kind)) for kind in (ONE_STEP, FREE_RUN)}
    return metrics


def _figures(row: Mapping[str, Any]) -> dict[str, float | None]:
    return {name: row[name] for name in FIGURES if name != "mae"}


def predicted(model: Model, record: Record, steps: int | None = None) -> NDArray[np.float64] | None:
    """Return the prediction of a whole record, some steps ahead or in free run, or None where it diverges.

    It goes through gaps of the output without using the values that replace it there.
    """
    y = record.measured(model.initial_samples)
    try:
        return model.predict(record.u if model.n_inputs else None, y, steps, samples=len(record))
    except DivergedError:
        return None


def _sums(model: Model | None, record: Record, steps: int | None, first: int, decimation: int) -> _Sums:
    """Return the sums of one record that its figures come from. Without a model it is the last value."""
    least = decimation * (steps or 1) if model is None else model.initial_samples
    start = max(first, least)
    if not record.is_measured[start:].any():
        return _Sums()
    if model is None:
        return _sums_of(record, _last_values(record.y, start, steps, decimation), start)
    run = predicted(model, record, steps)
    return _sums_of(record, None if run is None else run[start:], start)


def _sums_of(record: Record, expected: NDArray[np.float64] | None, start: int) -> _Sums:
    """Return the sums of the errors of a prediction from a sample on. None is a prediction that diverges."""
    is_measured = record.is_measured[start:]
    measured = record.y[start:][is_measured]
    if not len(measured):
        return _Sums()
    if expected is None:
        return _Sums(samples=len(measured), diverged=True)
    errors = measured - expected[is_measured]
    # math.fsum is correctly rounded, while NumPy's sums depend on the processor's vector width.
    mean, low, high = math.fsum(measured.tolist()) / len(measured), float(measured.min()), float(measured.max())
    energy = math.fsum(((measured - mean) ** 2).tolist()) if high > low else 0.0
    squares, sizes = math.fsum((errors * errors).tolist()), np.abs(errors)
    absolute, largest = math.fsum(sizes.tolist()), float(sizes.max())
    return _Sums(squares, energy, mean, absolute, largest, len(measured), low, high)


def _last_values(y: NDArray[np.float64], start: int, steps: int | None, decimation: int) -> NDArray[np.float64]:
    """Return the prediction by the last value, from a sample on, in free run the last before that sample."""
    n_samples = len(y) - start
    if steps is None:
        return np.full(n_samples, y[start - 1])
    return y[start - steps * decimation :][:n_samples]


def season_errors(cases: Sequence[Case], seasons: Sequence[int], steps: int) -> tuple[int, float | None, float] | None:
    """Return the season that errs least, and the RRSE of a model some steps ahead and of the seasonal naive forecast.

    The RRSE of the model is None where it diverges.
    The forecast is the last value of the same phase that is known so long before. A record must have two of the lags
    that this takes, or None where no record of any season has, or the output is constant.
    """
    best: tuple[int, float | None, float] | None = None
    lags = {season: season * math.ceil(steps * cases[0].model.decimation / season) for season in seasons}
    runs = []
    for record, model, _ in cases:
        if lags and len(record) >= 2 * min(lags.values()):
            runs.append((record, model.initial_samples, predicted(model, record, steps)))
    for season, lag in lags.items():
        of_model, of_season = _Sums(), _Sums()
        for record, initial_samples, run in runs:
            if len(record) < 2 * lag:
                continue
            start = max(lag, initial_samples)
            of_model = of_model.plus(_sums_of(record, None if run is None else run[start:], start))
            of_season = of_season.plus(_sums_of(record, record.y[start - lag : -lag], start))
        rrse, naive = of_model.figures()[0], of_season.figures()[0]
        if naive is not None and (best is None or naive < best[-1]):
            best = season, rrse, naive
    return best


def row_at(frame: pd.DataFrame, **place: Any) -> dict[str, Any] | None:
    """Return the first row of the frame of :func:`validate` whose columns have these values, or None."""
    is_there = np.ones(len(frame), np.bool_)
    for name, value in place.items():
        # Not as arrays, which would compare None with None as different.
        is_there &= [entry == value for entry in frame[name]]
    rows: list[dict[str, Any]] = frame[is_there].to_dict("records")
    return rows[0] if rows else None


def row_of(
    frame: pd.DataFrame,
    role: str,
    kind: str,
    steps: int | None = None,
    *,
    model: str = MODEL,
    sampling: str = INCOMING,
) -> dict[str, Any]:
    """Return the row of all records of a role for a kind of prediction, or an empty one."""
    ahead = {} if steps is None else {"steps": steps}
    return row_at(frame, role=role, record=ALL, model=model, sampling=sampling, kind=kind, **ahead) or {}


def decisive(model: Model, frame: pd.DataFrame, horizon: int | None = None) -> tuple[str, int | None]:
    """Return the kind of prediction that decides: the one farthest ahead where the user set a horizon, else a free run.

    A series without input forgets its start, so it has no free run.
    """
    if model.n_inputs and horizon is None:
        return FREE_RUN, None
    steps = int(frame["steps"].dropna().max())
    return K_STEP if steps > 1 else ONE_STEP, steps
