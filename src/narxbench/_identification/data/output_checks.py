"""Checks of a measured output before the search: a limit that it stays at, drift, outliers and resolution.

All look at the known records. Samples are counted from 1, as rows of a file are.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narxbench._identification.data.responses import outliers, standard_inputs
from narxbench._identification.data.sampling import autocorrelation, runs
from narxbench._identification.data.signals import NEGLIGIBLE, REPEATED, SAMPLES_PER_WEIGHT, outputs
from narxbench._identification.finding import Finding, look_if
from narxbench._identification.phrases import REST, Values, percent, plural_s
from narxbench._io.words import SHOWN
from narxbench._model.records import Record, Recording

Array = NDArray[np.float64]


def saturation_check(recording: Recording) -> Finding:
    """Look for an output that stays at its largest or smallest value, where it arrives without slowing down."""
    pieces = outputs(recording.known)
    y = np.concatenate(pieces)
    largest, smallest = _stay_at(pieces, float(y.max())), _stay_at(pieces, float(y.min()))
    status = look_if(largest["limited"] or smallest["limited"])
    if status == "look" and max(largest["share"], smallest["share"]) > 0.2:
        status = "bad"
    values = {"largest": largest, "smallest": smallest}
    return Finding("saturation", status, values, *saturation_text(values))


def saturation_text(values: Values) -> tuple[str, str]:
    """Return the sentences and the advice of :func:`saturation_check`."""
    texts = []
    for name, side in values.items():
        if side["limited"]:
            texts.append(
                f"{percent(side['share'])} of the output's samples are at its {name} value, {side['value']:.4g}, up to "
                f"{side['longest']} in a row, as at a limit."
            )
    if not texts:
        return "The output does not stay at its largest or smallest value as if it were cut off.", ""
    advice = "A polynomial cannot follow a limit: measure with a smaller input, or a sensor of a larger range."
    return " ".join(texts), advice


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
    is_resting = share <= REPEATED * _usual_share(y, extreme)
    is_frequent = share * len(y) >= max(5, 0.01 * len(y)) and longest >= REPEATED and not is_resting
    return {"value": extreme, "share": share, "longest": longest, "limited": bool(is_frequent and is_abrupt)}


def _speed_before(piece: Array, start: int) -> float:
    """Return by how much a signal moves in each of the last samples before one, at least."""
    moves = np.abs(np.diff(piece[max(0, start - REPEATED) : start + 1]))
    return float(moves.mean())


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
    """Return the different values, ascending. Two texts of one number may differ in the last bit."""
    levels: Array = np.unique(values)
    span = float(levels[-1] - levels[0])
    is_new: NDArray[np.bool_] = np.append(True, np.diff(levels) > 1e-9 * span)
    return levels[is_new]


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


def drift_check(recording: Recording) -> Finding:
    """Look for a trend of the output, or offsets between records, that no static function of the inputs explains.

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
    values = {"trends": trends, "offsets": offsets}
    return Finding("drift", look_if(bool(trends or offsets)), values, *drift_text(values))


def drift_text(values: Values) -> tuple[str, str]:
    """Return the sentences and the advice of :func:`drift_check`."""
    texts = []
    for trend in values["trends"]:
        times = "far more than the deviation"
        if trend["deviation"] > 0.0:
            times = f"{abs(trend['change']) / trend['deviation']:.2g} standard deviations"
        drifts = f"drifts by {trend['change']:.3g}, {times} of the rest, which the inputs do not explain."
        texts.append(f"The output of {trend['record']} {drifts}")
    for offset in values["offsets"]:
        lies = f"differs by {offset['offset']:+.3g} from the median of the records, for equal inputs."
        texts.append(f"The output of {offset['record']} {lies}")
    if not texts:
        return "The output has no drift, and no offset between records, that the inputs do not explain.", ""
    if len(texts) > SHOWN:
        texts[SHOWN:] = [f"{len(texts) - SHOWN} more such findings ({REST})."]
    return " ".join(texts), "Add the cause as an input, or measure without it."


def _moving_mean(signals: Array, width: int) -> Array:
    """Return the mean of ``width`` samples around each sample of signals in columns.

    Outside of a signal, its first and its last sample go on.
    """
    padded = np.pad(signals, ((width // 2 + 1, (width - 1) // 2), (0, 0)), mode="edge")
    sums = np.cumsum(padded - signals[:1], axis=0)
    return signals[:1] + (sums[width:] - sums[:-width]) / width


def _static_terms(u: Array) -> Array:
    """Return the terms of a static function of inputs: powers of them, and of their slow parts."""
    # A slow output follows the mean of an input, and not its changes.
    slow = _moving_mean(u, max(1, len(u) // 10))
    return np.column_stack([np.ones(len(u)), u, u**2, slow, slow**2])


def _trend(record: Record, static: Array) -> dict[str, Any] | None:
    """Return the significant trend of the output of a record that no static function of the inputs explains."""
    if len(record) < SAMPLES_PER_WEIGHT:
        return None
    time = np.linspace(-0.5, 0.5, len(record))
    terms = np.column_stack([static, time])
    weights = np.linalg.lstsq(terms, record.y, rcond=1e-8)[0]
    residual = record.y - terms @ weights
    # Only the part of the time counts that the inputs do not explain.
    unexplained = time - static @ np.linalg.lstsq(static, time, rcond=1e-8)[0]
    error = _standard_error([residual])
    if not error or unexplained.std() < NEGLIGIBLE:
        return None
    t = abs(weights[-1]) * float(unexplained.std()) / error
    change, deviation = float(weights[-1]), float(residual.std())
    if t > 4.0 and abs(change) > max(deviation, NEGLIGIBLE * float(np.ptp(record.y))):
        return {"record": record.name, "change": change, "deviation": deviation}
    return None


def _offsets(records: Sequence[Record], residuals: list[Array]) -> list[dict[str, Any]]:
    """Return the records whose residual has a significantly different mean from the others."""
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
        "samples": samples,
        "resolution": resolution,
    }
    status = look_if(bool(samples) or resolution["coarse"])
    if len(samples) > NEGLIGIBLE * total or (resolution["coarse"] and resolution["levels"] <= 2):
        status = "bad"
    return Finding("outliers", status, values, *outliers_text(values))


def outliers_text(values: Values) -> tuple[str, str]:
    """Return the sentences and the advice of :func:`outlier_check`."""
    count, resolution = values["count"], values["resolution"]
    texts, advice = [], []
    if resolution["coarse"]:
        low, high = resolution["range"]
        step = f"{resolution['step']:.3g}, {percent(resolution['step'] / (high - low))} of its range"
        texts.append(f"The output has only {resolution['levels']} levels, in steps of {step}.")
        advice.append("No model can be more accurate than that: measure with a finer resolution.")
    if not count:
        return " ".join(texts) or "No sample of the output sticks out, and it is finely resolved.", " ".join(advice)
    places = []
    for name, number, _deviation in values["samples"][:SHOWN]:
        places.append(f"{number} of {name}" if values["records"] > 1 else str(number))
    text = f"{count} of {values['total']} samples of the output stick out by more than "
    text += f"{values['limit']:.3g}: sample{plural_s(count)} {', '.join(places)}"
    text += f" and {count - SHOWN} more ({REST})." if count > SHOWN else "."
    advice.append("Check whether the samples that stick out are measurement errors.")
    return " ".join([*texts, text]), " ".join(advice)


def _standard_error(pieces: list[Array]) -> float | None:
    """Return the standard error of the mean of correlated samples, or None where it is not known."""
    r = autocorrelation(pieces)
    if len(r) < 3:
        return None
    # Summed up to the first zero: the rest is chance.
    end = int(np.argmax(r < 0.0)) or len(r)
    n_independent = sum(map(len, pieces)) / float(1.0 + 2.0 * r[1:end].sum())
    if n_independent < SAMPLES_PER_WEIGHT:
        return None
    return float(np.concatenate(pieces).std() / np.sqrt(n_independent))
