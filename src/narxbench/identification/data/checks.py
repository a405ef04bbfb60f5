"""Checks of measured data before the search.

All look at the known records; those of role test are compared with them by range alone. Samples are counted from 1, as
rows of a file are.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narxbench.identification.data.responses import Response, outliers, responses, standard_inputs
from narxbench.identification.data.sampling import (
    FEWEST_STEPS,
    MOST_STEPS,
    Sampling,
    advised_decimations,
    autocorrelation,
    plain,
    runs,
)
from narxbench.identification.finding import Finding, Status, worst
from narxbench.model.records import Record, Recording
from narxbench.model.terms import signal_name

Array = NDArray[np.float64]
Taken = Mapping[str, Mapping[str, Any]]

NOTHING: Taken = MappingProxyType({})

MOST_POINTS = 200
LEAST_CHANGES = 30
# An input of fewer levels has powers that say nothing new; an output of fewer is too coarse.
FEW_LEVELS = 5


def checks_before(
    recording: Recording,
    *,
    decimation: int | None = None,
    lags: int = 5,
    sampling: Sampling | None = None,
    seen: Mapping[str, Sequence[Response]] | None = None,
    taken: Taken = NOTHING,
) -> list[Finding]:
    """Return all checks of the data that need no candidate terms.

    ``decimation`` is the stride in use, by default the advised one, ``lags`` the largest lag in steps; ``taken`` has
    what a model takes of each input: its ``lags`` among the candidates, and whether it is ``used``.
    """
    sampling = sampling or advised_decimations(recording)
    stride = decimation or sampling.advised
    return [
        sampling_check(sampling, recording.sampling_time),
        resolution_check(recording),
        saturation_check(recording),
        delay_check(recording, stride, seen, taken),
        excitation_check(recording, stride, lags, taken),
        drift_check(recording),
        outlier_check(recording),
        test_range_check(recording),
    ]


def sampling_check(sampling: Sampling, period: float | None = None) -> Finding:
    """Judge what :func:`narxbench.identification.data.sampling.advised_decimations` found; the period is in seconds."""
    judged = ("first_minimum", "seen_as", "wanted", "limit", "advised")
    values = {name: getattr(sampling, name) for name in judged}
    values |= {"candidates": list(sampling.candidates), "period": period, "correlations": sampling.correlations}
    status: Status = "fine"
    if sampling.first_minimum is None:
        status = "bad"
    elif sampling.wanted > 1:
        status = "look" if sampling.advised > 1 or sampling.limit == "length" else "fine"
    elif sampling.first_minimum < FEWEST_STEPS:
        status = "look"
    return Finding("sampling", status, values)


def resolution_check(recording: Recording) -> Finding:
    """Count the levels of each signal; an input of few levels has powers that say nothing new."""
    values: dict[str, Any] = {}
    statuses: list[Status] = []
    for column, term, pieces in _signals(recording, recording.known):
        levels = np.unique(np.concatenate(pieces))
        # Two texts of one number may differ in the last bit.
        span = float(levels[-1] - levels[0])
        levels = levels[np.append(True, np.diff(levels) > 1e-9 * span)]
        step = float(np.median(np.diff(levels))) if len(levels) > 1 else 0.0
        few = term != "y" and 1 < len(levels) <= FEW_LEVELS
        coarse = len(levels) > 1 and not few and span / step < 50 and sum(map(len, pieces)) > 2 * len(levels)
        seen = {"range": [float(levels[0]), float(levels[-1])], "seen": "few" if few else "coarse" if coarse else ""}
        values[column] = {"term": term, "levels": len(levels), "step": step, **seen}
        if few:
            statuses.append("look")
        elif coarse and term == "y":
            statuses.append("bad" if len(levels) < FEW_LEVELS else "look")
    return Finding("resolution", worst(*statuses), values)


def saturation_check(recording: Recording) -> Finding:
    """Look for an output that stays at its largest or smallest value, where it arrives without slowing down."""
    pieces = [record.y for record in recording.known]
    y = np.concatenate(pieces)
    values = {}
    moves = np.concatenate([np.abs(np.diff(piece)) for piece in pieces])
    typical = float(np.median(moves[moves > 0.0])) if moves.any() else 0.0
    for side, extreme in (("largest", float(y.max())), ("smallest", float(y.min()))):
        share = float(np.mean(y == extreme))
        stays = [(start, end, piece) for piece in pieces for start, end in runs(piece == extreme)]
        arrivals = [abs(piece[start] - piece[start - 1]) for start, _, piece in stays if start > 0]
        longest = int(max(end - start for start, end, _ in stays))
        # Other levels near the extreme are as frequent where a coarse signal merely rests there.
        others = np.unique(y[y != extreme], return_counts=True)[1]
        usual = float(others.mean()) / len(y) if len(others) else 1.0
        abrupt = bool(arrivals) and float(np.median(arrivals)) >= 0.5 * typical
        often = share * len(y) >= max(5, 0.01 * len(y)) and longest >= 3 and share > 3.0 * usual
        values[side] = {"value": extreme, "share": share, "longest": longest, "limited": bool(often and abrupt)}
    limited = any(side["limited"] for side in values.values())
    most = max(side["share"] for side in values.values())
    return Finding("saturation", "fine" if not limited else "bad" if most > 0.2 else "look", values)


def delay_check(
    recording: Recording,
    decimation: int = 1,
    seen: Mapping[str, Sequence[Response]] | None = None,
    taken: Taken = NOTHING,
) -> Finding:
    """Estimate the dead time of each input: the first lag at which the output follows what is new in it.

    That is what an autoregression cannot predict of the input, or of its square, in what one cannot predict of the
    output, or (the effect of a slow system is small in each sample) in the output after the same filter.
    """
    inputs = {}
    statuses: list[Status] = []
    seen = responses(recording) if seen is None else seen
    for column, term, _ in _signals(recording, ())[1:]:
        found = seen[column]
        if not found:
            continue
        # The earliest effect counts, however it is seen; shown is the input's own, unless that of its square is alone.
        earliest, end = min(map(Response.first, found)), len(found[0].band)
        first = min(found, key=lambda of: (of.first() == end, of.power, of.first()))
        delay = earliest if earliest < end else None
        seldom = delay is None and found[0].changes < LEAST_CHANGES
        inputs[column] = {
            "term": term,
            "delay": delay,
            "seldom": bool(seldom),
            "power": first.power,
            "shown": None if delay is None else first.first(),
            "band": plain(first.band),
            "correlations": plain(first.correlations),
            **taken.get(column, {}),
        }
        steps = None if delay is None else delay // decimation
        missed = steps is not None and (delay == 0 or steps >= 3) and steps not in inputs[column].get("lags", ())
        statuses.append("look" if (delay is None and not seldom) or missed else "fine")
    values = {"inputs": inputs, "decimation": decimation, "period": recording.sampling_time}
    return Finding("delay", worst(*statuses), values)


def excitation_check(recording: Recording, decimation: int = 1, lags: int = 5, taken: Taken = NOTHING) -> Finding:
    """Look whether each input changes, in as many ways as it has lags, and whether the data are mostly at rest."""
    inputs = {}
    status: Status = "fine"
    for column, term, pieces in _signals(recording, recording.known)[1:]:
        low, high = (float(of(of(piece) for piece in pieces)) for of in (min, max))
        changes = high - low > 1e-12 * max(abs(low), abs(high))
        order = _order_of_excitation(pieces, decimation, lags) if changes else 0
        inputs[column] = {"term": term, "order": order, "range": [low, high], **taken.get(column, {})}
        status = worst(status, "bad" if not changes else "fine" if order >= lags else "look")
    rest = _share_at_rest(recording, MOST_STEPS * decimation)
    if rest > 0.5:
        status = worst(status, "look")
    return Finding("excitation", status, {"inputs": inputs, "lags": lags, "at_rest": rest})


def _moving_mean(signals: Array, width: int) -> Array:
    """Return the mean of as many samples around each of signals in columns; the first and the last go on outside."""
    padded = np.pad(signals, ((width // 2 + 1, (width - 1) // 2), (0, 0)), mode="edge")
    sums = np.cumsum(padded - signals[:1], axis=0)
    return signals[:1] + (sums[width:] - sums[:-width]) / width


def drift_check(recording: Recording) -> Finding:
    """Look for a trend of the output, or offsets between records, that a static function of the inputs leaves.

    They must exceed standard errors of as many independent samples as the correlation allows, and what is left.
    """
    records = recording.known
    static = []
    for u in standard_inputs(records):
        # A slow output follows the mean of an input, and not its changes.
        slow = _moving_mean(u, max(1, len(u) // 10))
        static.append(np.column_stack([np.ones(len(u)), u, u**2, slow, slow**2]))
    y = [record.y for record in records]
    weights = np.linalg.lstsq(np.vstack(static), np.concatenate(y), rcond=1e-8)[0]
    left = [piece - s @ weights for piece, s in zip(y, static, strict=True)]
    trends, offsets = [], []
    for record, s, piece in zip(records, static, y, strict=True):
        if len(record) < 20:
            continue
        time = np.linspace(-0.5, 0.5, len(record))
        both = np.column_stack([s, time])
        fit = np.linalg.lstsq(both, piece, rcond=1e-8)[0]
        rest = piece - both @ fit
        # Of the time, that counts which the inputs do not explain.
        own = time - s @ np.linalg.lstsq(s, time, rcond=1e-8)[0]
        error = _standard_error([rest])
        if not error or own.std() < 0.05:
            continue
        t = abs(fit[-1]) * float(own.std()) / error
        change, deviation = float(fit[-1]), float(rest.std())
        if t > 4.0 and abs(change) > max(deviation, 0.05 * float(np.ptp(piece))):
            trends.append({"record": record.name, "change": change, "deviation": deviation})
    samples = sum(map(len, left))
    middle = float(np.median([piece.mean() for piece in left]))
    sd = float(np.concatenate([piece - piece.mean() for piece in left]).std())
    for record, piece in zip(records, left, strict=True):
        offset, error = float(piece.mean()) - middle, _standard_error([piece])
        # The mean of a short record takes much of a slow wandering with it: the others show how much there is.
        error = max(error, (_standard_error(left) or 0.0) * float(np.sqrt(samples / len(piece)))) if error else None
        if error is not None and abs(offset) > max(5.0 * error, 0.5 * sd):
            offsets.append({"record": record.name, "offset": offset})
    return Finding("drift", "look" if trends or offsets else "fine", {"trends": trends, "offsets": offsets})


def outlier_check(recording: Recording) -> Finding:
    """Count samples of the output that stick out: of the median of 7 samples, of their two neighbours, of the input."""
    found, limit = outliers(recording)
    total = sum(len(record) for record, _ in found)
    places = [[r.name, int(k) + 1, float(f"{away[k]:.5g}")] for r, away in found for k in np.flatnonzero(away)]
    values: dict[str, Any] = {"count": len(places), "total": total, "limit": limit}
    values |= {"records": len({name for name, *_ in places}), "samples": places[:MOST_POINTS]}
    return Finding("outliers", "bad" if len(places) > 0.05 * total else "look" if places else "fine", values)


def test_range_check(recording: Recording) -> Finding:
    """Tell which share of the test samples lies outside the range that the other records cover."""
    test = list(recording.of_role("test"))
    values: dict[str, Any] = {}
    statuses: list[Status] = []
    both = (_signals(recording, recording.known), _signals(recording, test)) if test else ()
    for (column, term, known), (_, _, tested) in zip(*both, strict=True):
        seen, asked = np.concatenate(known), np.concatenate(tested)
        low, high = float(seen.min()), float(seen.max())
        share = float(np.mean((asked < low) | (asked > high)))
        # By how much of the known range the test goes beyond it.
        beyond = max(low - float(asked.min()), float(asked.max()) - high, 0.0)
        values[column] = {"term": term, "share": share, "known": [low, high], "beyond": beyond}
        # A few samples just outside are no extrapolation.
        if share > 0.01 and beyond > 0.01 * (high - low):
            statuses.append("bad" if share > 0.1 else "look")
    return Finding("test-range", worst(*statuses), values)


# pytest collects what begins with "test_", wherever it is imported.
test_range_check.__test__ = False  # type: ignore[attr-defined]


def size_check(n_terms: int, n_rows: int) -> Finding:
    """Tell how many rows there are for each candidate term."""
    return Finding("size", "look" if n_rows < n_terms else "fine", {"terms": n_terms, "rows": n_rows})


def _signals(recording: Recording, records: Sequence[Record]) -> list[tuple[str, str, list[Array]]]:
    """Return column, name in terms and pieces of the output, and then of each input."""
    count = len(recording.inputs)
    pieces = [[r.y for r in records], *([r.u[:, i] for r in records] for i in range(count))]
    columns = enumerate(zip((recording.output, *recording.inputs), pieces, strict=True))
    return [(column, signal_name(i, count), own) for i, (column, own) in columns]


def _order_of_excitation(pieces: list[Array], decimation: int, lags: int) -> int:
    reach = (lags - 1) * decimation
    blocks = [
        np.column_stack([piece[lag * decimation : len(piece) - reach + lag * decimation] for lag in range(lags)])
        for piece in pieces
        if len(piece) > reach
    ]
    if not blocks:
        return lags
    rows = np.vstack(blocks)
    rows -= rows.mean(axis=0)
    eigenvalues = np.linalg.eigvalsh(rows.T @ rows)
    return int(np.sum(eigenvalues > 1e-6 * eigenvalues[-1]))


def _share_at_rest(recording: Recording, window: int) -> float:
    """Return the share of windows in which the middle 90 % of all signals stay within 5 % of their ranges."""
    rows = [np.column_stack([record.y, record.u]) for record in recording.known]
    reach = np.maximum.reduce([r.max(axis=0) for r in rows]) - np.minimum.reduce([r.min(axis=0) for r in rows])
    blocks = [r[: len(r) - len(r) % window].reshape(-1, window, r.shape[1]) for r in rows]
    if not len(found := np.vstack(blocks)):
        return 0.0
    spans = np.subtract(*np.percentile(found, [95, 5], axis=1))
    return float(np.mean((spans <= 0.05 * reach).all(axis=1)))


def _standard_error(pieces: list[Array]) -> float | None:
    """Return the standard error of the mean of correlated samples, or None where it is not known."""
    r = autocorrelation(pieces)
    if len(r) < 3:
        return None
    # Summed up to the first zero: the rest is chance.
    end = int(np.argmax(r < 0.0)) or len(r)
    independent = sum(map(len, pieces)) / float(1.0 + 2.0 * r[1:end].sum())
    return float(np.concatenate(pieces).std() / np.sqrt(independent)) if independent >= 20.0 else None
