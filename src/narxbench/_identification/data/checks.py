"""Checks of measured data before the search.

All look at the known records; those of role test are compared with them by range alone. Samples are counted from 1, as
rows of a file are.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from narxbench._identification.data.evidence import (
    FEEDBACK_SHARE,
    InputEvidence,
    input_evidence,
    largest_degree_shown,
)
from narxbench._identification.data.other_units import suspected_units
from narxbench._identification.data.responses import Response, outliers, responses, standard_inputs
from narxbench._identification.data.sampling import (
    FEWEST_STEPS,
    MOST_STEPS,
    Sampling,
    advised_decimations,
    autocorrelation,
    plain,
    runs,
)
from narxbench._identification.data.signals import all_signals, inputs, outputs
from narxbench._identification.finding import Finding, Status, worst
from narxbench._model.records import Record, Recording
from narxbench._model.terms import signal_name

Array = NDArray[np.float64]
# What a model takes of each input: whether it is ``used``.
Usage = Mapping[str, Mapping[str, Any]]

NO_USAGE: Usage = MappingProxyType({})

MOST_POINTS = 200
LEAST_CHANGES = 30
# An output of fewer levels is too coarse.
FEW_LEVELS = 5
# Samples before a stay at an extreme that show how fast the output arrives there.
BEFORE_ARRIVAL = 3
# A record of fewer samples shows no trend.
LEAST_FOR_TREND = 20


class Candidates(NamedTuple):
    """How many candidate terms there are, and how many rows to estimate their weights from."""

    n_terms: int
    n_rows: int


class _Signal(NamedTuple):
    """The output or an input: its column, its name in terms, and its values in each record."""

    column: str
    term: str
    pieces: list[Array]

    @property
    def values(self) -> Array:
        """The values of all records."""
        return np.concatenate(self.pieces)


def checks_before(
    recording: Recording,
    *,
    decimation: int | None = None,
    lags: int = 5,
    sampling: Sampling | None = None,
    input_responses: Mapping[str, Sequence[Response]] | None = None,
    evidence: Mapping[str, InputEvidence] | None = None,
    usage: Usage = NO_USAGE,
    candidates: Candidates | None = None,
) -> list[Finding]:
    """Return all checks of the data.

    ``decimation`` is the stride in use, by default the advised one, ``lags`` the largest lag in steps, ``usage`` what a
    model takes of each input, and ``candidates`` the terms that it was chosen from, where there is one.
    """
    evidence = input_evidence(recording) if evidence is None else evidence
    sampling = sampling or advised_decimations(recording)
    stride = decimation or sampling.advised
    return [
        sampling_check(sampling, recording.sampling_time),
        evidence_check(evidence, dead_times(recording, input_responses), usage, candidates),
        saturation_check(recording),
        excitation_check(recording, stride, lags, usage),
        drift_check(recording),
        outlier_check(recording),
        test_range_check(recording, usage),
    ]


def evidence_check(
    evidence: Mapping[str, InputEvidence],
    delays: Mapping[str, Mapping[str, Any]] | None = None,
    usage: Usage = NO_USAGE,
    candidates: Candidates | None = None,
) -> Finding:
    """Judge what the inputs can show at all: constant ones nothing, a single change no nonlinear behaviour.

    ``delays`` are those of :func:`dead_times`. An input that a model uses, or that changes too seldom to tell, is
    not called idle.
    """
    by_input, constant, under_feedback, exchanged, idle = {}, [], [], [], []
    for column, about in evidence.items():
        by_input[column] = {**about._asdict(), **(delays or {}).get(column, {})}
        if about.constant:
            constant.append(column)
        elif _is_idle(by_input[column]) and not usage.get(column, {}).get("used", False):
            idle.append(column)
        if about.follows > FEEDBACK_SHARE:
            under_feedback.append(column)
        if about.exchanged:
            exchanged.append(column)
    degree = largest_degree_shown(list(evidence.values()))
    has_few_rows = candidates is not None and candidates.n_rows < candidates.n_terms
    values = {
        "inputs": by_input,
        "degree": degree,
        "constant": constant,
        "idle": idle,
        "under_feedback": under_feedback,
        "exchanged": exchanged,
        "terms": candidates.n_terms if candidates else None,
        "rows": candidates.n_rows if candidates else None,
    }
    return Finding("evidence", _look_if(bool(degree or constant or idle or under_feedback or has_few_rows)), values)


def _is_idle(about: Mapping[str, Any]) -> bool:
    """Return whether an input that changes often enough is not seen to act on the output."""
    return "delay" in about and about["delay"] is None and not about["seldom"]


def sampling_check(sampling: Sampling, period: float | None = None) -> Finding:
    """Judge the result of :func:`~narxbench._identification.data.sampling.advised_decimations`; period in seconds."""
    values = {
        "first_minimum": sampling.first_minimum,
        "seen_as": sampling.evidence,
        "wanted": sampling.by_output,
        "limit": sampling.limit,
        "advised": sampling.advised,
        "candidates": list(sampling.candidates),
        "period": period,
        "correlations": sampling.correlations,
    }
    if sampling.first_minimum is None:
        return Finding("sampling", "bad", values)
    is_too_fast = sampling.by_output > 1 and (sampling.advised > 1 or sampling.limit == "length")
    is_too_slow = sampling.first_minimum < FEWEST_STEPS
    return Finding("sampling", _look_if(is_too_fast or is_too_slow), values)


def _resolution(pieces: Sequence[Array]) -> dict[str, Any]:
    """Return the levels of an output, and whether they are coarse against its range."""
    values = np.concatenate(pieces)
    levels = _levels(values)
    low, high = float(levels[0]), float(levels[-1])
    step, is_coarse = 0.0, False
    if len(levels) > 1:
        step = float(np.median(np.diff(levels)))
        is_coarse = (high - low) / step < 50 and len(values) > 2 * len(levels)
    return {"levels": len(levels), "step": step, "range": [low, high], "coarse": is_coarse}


def _levels(values: Array) -> Array:
    """Return the different values, ascending; two texts of one number may differ in the last bit."""
    levels: Array = np.unique(values)
    span = float(levels[-1] - levels[0])
    is_new: NDArray[np.bool_] = np.append(True, np.diff(levels) > 1e-9 * span)
    return levels[is_new]


def saturation_check(recording: Recording) -> Finding:
    """Look for an output that stays at its largest or smallest value, where it arrives without slowing down."""
    pieces = outputs(recording.known)
    y = np.concatenate(pieces)
    largest, smallest = _stay_at(pieces, float(y.max())), _stay_at(pieces, float(y.min()))
    status = _look_if(largest["limited"] or smallest["limited"])
    if status == "look" and max(largest["share"], smallest["share"]) > 0.2:
        status = "bad"
    return Finding("saturation", status, {"largest": largest, "smallest": smallest})


def _stay_at(pieces: list[Array], extreme: float) -> dict[str, Any]:
    """Return how often and how long an output is at an extreme value, and whether it looks limited there."""
    y = np.concatenate(pieces)
    share = float(np.mean(y == extreme))
    lengths, arrivals = [], []
    for piece in pieces:
        for start, end in runs(piece == extreme):
            lengths.append(end - start)
            if start > 0:
                arrivals.append(_speed_before(piece, start))
    longest = max(lengths)
    # An output that comes to rest slows down, by steps of its resolution in the end.
    least = max(0.5 * _typical_move(pieces), 1.5 * _resolution_step(y))
    is_abrupt = bool(arrivals) and float(np.median(arrivals)) >= least
    # Levels near the extreme are as frequent where a coarse signal merely rests there.
    is_frequent = share * len(y) >= max(5, 0.01 * len(y)) and longest >= 3 and share > 3.0 * _usual_share(y, extreme)
    return {"value": extreme, "share": share, "longest": longest, "limited": bool(is_frequent and is_abrupt)}


def _speed_before(piece: Array, start: int) -> float:
    """Return by how much a signal moves in each of the last samples before one, at least."""
    moves = np.abs(np.diff(piece[max(0, start - BEFORE_ARRIVAL) : start + 1]))
    return float(moves.mean())


def _resolution_step(y: Array) -> float:
    """Return the smallest usual step of a coarse signal, 0 for a finely resolved one."""
    levels = _levels(y)
    if len(levels) < 2 or len(y) <= 2 * len(levels):
        return 0.0
    return float(np.median(np.diff(levels)))


def _typical_move(pieces: list[Array]) -> float:
    """Return the median of the moves of an output from one sample to the next, 0 if it is constant."""
    moves = np.concatenate([np.abs(np.diff(piece)) for piece in pieces])
    if not moves.any():
        return 0.0
    return float(np.median(moves[moves > 0.0]))


def _usual_share(y: Array, extreme: float) -> float:
    """Return the mean share of the samples at each level but the extreme, 1 if there is none."""
    _, counts = np.unique(y[y != extreme], return_counts=True)
    if not len(counts):
        return 1.0
    return float(counts.mean()) / len(y)


def dead_times(
    recording: Recording, input_responses: Mapping[str, Sequence[Response]] | None = None
) -> dict[str, dict[str, Any]]:
    """Estimate the dead time of each input that varies: the first lag at which the output follows what is new in it.

    That is what an autoregression cannot predict of the input, or of its square, in what one cannot predict of the
    output, or (the effect of a slow system is small in each sample) in the output after the same filter.
    """
    if input_responses is None:
        input_responses = responses(recording)
    delays = {}
    for signal in _signals(recording, ())[1:]:
        if input_responses[signal.column]:
            delays[signal.column] = {"term": signal.term, **_delay(input_responses[signal.column])}
    return delays


def _delay(input_responses: Sequence[Response]) -> dict[str, Any]:
    """Return the dead time by the responses to an input, and the response that is shown."""
    earliest, end = min(map(Response.first, input_responses)), len(input_responses[0].band)
    # The earliest effect counts, whichever response has it; shown is that of the input itself, unless only its square
    # has an effect.
    shown = min(input_responses, key=lambda response: (response.first() == end, response.power, response.first()))
    has_effect = earliest < end
    return {
        "delay": earliest if has_effect else None,
        "seldom": not has_effect and input_responses[0].changes < LEAST_CHANGES,
        "power": shown.power,
        "shown": shown.first() if has_effect else None,
        "band": plain(shown.band),
        "correlations": plain(shown.correlations),
    }


def excitation_check(recording: Recording, decimation: int = 1, lags: int = 5, usage: Usage = NO_USAGE) -> Finding:
    """Look whether each input changes, in as many ways as it has lags, and whether the data are mostly at rest."""
    excitations = {}
    status: Status = "fine"
    for signal in _signals(recording, recording.known)[1:]:
        low, high = float(signal.values.min()), float(signal.values.max())
        order = 0
        if high - low > 1e-12 * max(abs(low), abs(high)):
            order = _order_of_excitation(signal.pieces, decimation, lags)
            if order < lags:
                status = worst(status, "look")
        else:
            status = worst(status, "look")
        excitation = {"term": signal.term, "order": order, "range": [low, high]}
        excitations[signal.column] = {**excitation, **usage.get(signal.column, {})}
    if excitations and not any(excitation["order"] for excitation in excitations.values()):
        status = "bad"
    rest = _share_at_rest(recording, MOST_STEPS * decimation)
    if rest > 0.5:
        status = worst(status, "look")
    return Finding("excitation", status, {"inputs": excitations, "lags": lags, "at_rest": rest})


def _moving_mean(signals: Array, width: int) -> Array:
    """Return the mean of ``width`` samples around each sample of signals in columns.

    Outside of a signal, its first and its last sample go on.
    """
    padded = np.pad(signals, ((width // 2 + 1, (width - 1) // 2), (0, 0)), mode="edge")
    sums = np.cumsum(padded - signals[:1], axis=0)
    return signals[:1] + (sums[width:] - sums[:-width]) / width


def drift_check(recording: Recording) -> Finding:
    """Look for a trend of the output, or offsets between records, that a static function of the inputs leaves.

    Both must exceed their standard errors, which count only the independent samples, and the deviation of the residual.
    """
    records = recording.known
    static = list(map(_static_terms, standard_inputs(records)))
    weights = np.linalg.lstsq(np.vstack(static), np.concatenate(outputs(records)), rcond=1e-8)[0]
    residuals = [record.y - terms @ weights for record, terms in zip(records, static, strict=True)]
    trends = []
    for record, terms in zip(records, static, strict=True):
        trend = _trend(record, terms)
        if trend:
            trends.append(trend)
    offsets = _offsets(records, residuals)
    return Finding("drift", _look_if(bool(trends or offsets)), {"trends": trends, "offsets": offsets})


def _static_terms(u: Array) -> Array:
    """Return the terms of a static function of inputs: powers of them, and of their slow parts."""
    # A slow output follows the mean of an input, and not its changes.
    slow = _moving_mean(u, max(1, len(u) // 10))
    return np.column_stack([np.ones(len(u)), u, u**2, slow, slow**2])


def _trend(record: Record, static: Array) -> dict[str, Any] | None:
    """Return the trend of the output of a record that a static function of the inputs leaves, if it is significant."""
    if len(record) < LEAST_FOR_TREND:
        return None
    time = np.linspace(-0.5, 0.5, len(record))
    terms = np.column_stack([static, time])
    weights = np.linalg.lstsq(terms, record.y, rcond=1e-8)[0]
    residual = record.y - terms @ weights
    # Only the part of the time counts that the inputs do not explain.
    unexplained = time - static @ np.linalg.lstsq(static, time, rcond=1e-8)[0]
    error = _standard_error([residual])
    if not error or unexplained.std() < 0.05:
        return None
    t = abs(weights[-1]) * float(unexplained.std()) / error
    change, deviation = float(weights[-1]), float(residual.std())
    if t > 4.0 and abs(change) > max(deviation, 0.05 * float(np.ptp(record.y))):
        return {"record": record.name, "change": change, "deviation": deviation}
    return None


def _offsets(records: Sequence[Record], residuals: list[Array]) -> list[dict[str, Any]]:
    """Return the records whose residual has another mean than those of the others, if it is significant."""
    samples = sum(map(len, residuals))
    middle = float(np.median([residual.mean() for residual in residuals]))
    deviation = float(np.concatenate([residual - residual.mean() for residual in residuals]).std())
    offsets = []
    for record, residual in zip(records, residuals, strict=True):
        offset, error = float(residual.mean()) - middle, _standard_error([residual])
        if not error:
            continue
        # The mean of a short record takes much of a slow wandering with it: the others show how much there is.
        error = max(error, (_standard_error(residuals) or 0.0) * float(np.sqrt(samples / len(residual))))
        if abs(offset) > max(5.0 * error, 0.5 * deviation):
            offsets.append({"record": record.name, "offset": offset})
    return offsets


def outlier_check(recording: Recording) -> Finding:
    """Count samples of the output that stick out: of the median of 7 samples, of their two neighbours, of the input.

    No error can be smaller than the resolution of the output.
    """
    deviations, limit = outliers(recording)
    total = sum(len(record) for record, _ in deviations)
    samples = []
    for record, deviation in deviations:
        for k in np.flatnonzero(deviation).tolist():
            samples.append([record.name, k + 1, float(f"{deviation[k]:.5g}")])
    resolution = _resolution(outputs(recording.known))
    values = {
        "count": len(samples),
        "total": total,
        "limit": limit,
        "records": len({name for name, *_ in samples}),
        "samples": samples[:MOST_POINTS],
        "resolution": resolution,
    }
    status = _look_if(bool(samples) or resolution["coarse"])
    if len(samples) > 0.05 * total or (resolution["coarse"] and resolution["levels"] < FEW_LEVELS):
        status = "bad"
    return Finding("outliers", status, values)


def test_range_check(recording: Recording, usage: Usage = NO_USAGE) -> Finding:
    """Tell which share of the test samples lies outside the range that the other records cover.

    Inputs that a model does not use may be anywhere.
    """
    test_records = list(recording.of_role("test"))
    if not test_records:
        return Finding("test-range", worst(), {})
    values: dict[str, Any] = {}
    statuses: list[Status] = []
    known_signals, test_signals = _signals(recording, recording.known), _signals(recording, test_records)
    suspected = suspected_units(_values_by_column(known_signals), _values_by_column(test_signals))
    for known_signal, test_signal in zip(known_signals, test_signals, strict=True):
        low, high = float(known_signal.values.min()), float(known_signal.values.max())
        test = test_signal.values
        share = float(np.mean((test < low) | (test > high)))
        # By how much of the known range the test goes beyond it.
        beyond = max(low - float(test.min()), float(test.max()) - high, 0.0)
        column, term, _ = known_signal
        is_used = bool(usage.get(column, {}).get("used", True))
        about = {"term": term, "share": share, "known": [low, high], "beyond": beyond, "used": is_used}
        values[column] = {**about, "unit": suspected[column]._asdict() if column in suspected else None}
        # A few samples just outside are no extrapolation.
        if is_used and share > 0.01 and beyond > 0.01 * (high - low):
            statuses.append("bad" if share > 0.1 else "look")
        if is_used and column in suspected:
            statuses.append("look")
    return Finding("test-range", worst(*statuses), values)


def _values_by_column(signals: Sequence[_Signal]) -> dict[str, Array]:
    return {signal.column: signal.values for signal in signals}


# pytest collects what begins with "test_", wherever it is imported.
test_range_check.__test__ = False  # type: ignore[attr-defined]


def _look_if(is_conspicuous: bool) -> Status:
    return "look" if is_conspicuous else "fine"


def _signals(recording: Recording, records: Sequence[Record]) -> list[_Signal]:
    """Return the output, and then each input."""
    n_inputs = len(recording.inputs)
    signals = [_Signal(recording.output, signal_name(0, n_inputs), outputs(records))]
    for place, column in enumerate(recording.inputs):
        signals.append(_Signal(column, signal_name(place + 1, n_inputs), inputs(records, place)))
    return signals


def _order_of_excitation(pieces: list[Array], decimation: int, lags: int) -> int:
    """Return how many of the lags of an input are linearly independent."""
    reach = (lags - 1) * decimation
    blocks = []
    for piece in pieces:
        if len(piece) > reach:
            starts = range(0, reach + 1, decimation)
            blocks.append(np.column_stack([piece[start : len(piece) - reach + start] for start in starts]))
    if not blocks:
        return lags
    rows = np.vstack(blocks)
    rows -= rows.mean(axis=0)
    eigenvalues = np.linalg.eigvalsh(rows.T @ rows)
    return int(np.sum(eigenvalues > 1e-6 * eigenvalues[-1]))


def _share_at_rest(recording: Recording, window: int) -> float:
    """Return the share of windows in which the middle 90 % of all signals stay within 5 % of their ranges."""
    windows = []
    signals = all_signals(recording.known)
    for values in signals:
        n_windows = len(values) // window
        windows.append(values[: n_windows * window].reshape(n_windows, window, values.shape[1]))
    blocks = np.vstack(windows)
    if not len(blocks):
        return 0.0
    reach = np.ptp(np.vstack(signals), axis=0)
    spans = np.subtract(*np.percentile(blocks, [95, 5], axis=1))
    return float(np.mean((spans <= 0.05 * reach).all(axis=1)))


def _standard_error(pieces: list[Array]) -> float | None:
    """Return the standard error of the mean of correlated samples, or None where it is not known."""
    r = autocorrelation(pieces)
    if len(r) < 3:
        return None
    # Summed up to the first zero: the rest is chance.
    end = int(np.argmax(r < 0.0)) or len(r)
    n_independent = sum(map(len, pieces)) / float(1.0 + 2.0 * r[1:end].sum())
    if n_independent < 20.0:
        return None
    return float(np.concatenate(pieces).std() / np.sqrt(n_independent))
