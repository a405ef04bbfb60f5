"""Checks of measured data before the search: what was found, in words with figures, and what to do about it.

All look at the records of :func:`narxbench.identification.sampling.known_records`; those of role test are compared
with them by range alone. Samples are counted from 1, as rows of a file are.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_toeplitz, solve_triangular
from scipy.ndimage import median_filter, uniform_filter1d
from scipy.signal import correlate, lfilter, welch

from narxbench.identification.sampling import (
    FEWEST_STEPS,
    MOST_STEPS,
    STEPS,
    Sampling,
    advised_decimations,
    autocorrelation,
    known_records,
    plain,
)
from narxbench.io.words import listed, ordinal
from narxbench.model.records import Record, Recording
from narxbench.model.terms import OUTPUT, signal_name
from narxbench.numerics.random_streams import generator

Array = NDArray[np.float64]
Status = Literal["fine", "look", "bad"]

MOST_POINTS = 200
OUTPUT_NAME = "the output"
# Of the norm of a column: what is left of it outside the span of others, where it is their combination. Rounding
# leaves 1e-15; and of how many others it may be: a combination of many makes no small structure singular.
EXACT, MOST_OTHERS = 1e-8, 8
NEARLY = 0.999
# Of an autoregression: enough for an input that is held for as many samples.
MOST_ORDER = 40
LEAST_RESPONSE, LEAST_CHANGES = 0.03, 30


@dataclass(frozen=True)
class Check:
    """What one look at the data found.

    Attributes
    ----------
    name : str
        Its slug.
    title : str
        What was looked at.
    status : {"fine", "look", "bad"}
        ``look``: a reader should know; ``bad``: a model of these data is not to be trusted.
    text : str
        What was found, in words with figures.
    advice : str
        What to do; empty where there is nothing to do.
    values : dict
        Plain data for a figure.
    """

    name: str
    title: str
    status: Status
    text: str
    advice: str = ""
    values: dict[str, Any] = field(default_factory=dict)


def checks_before(
    recording: Recording,
    *,
    decimation: int | None = None,
    lags: int = 5,
    sampling: Sampling | None = None,
    seen: Mapping[str, Sequence["Response"]] | None = None,
) -> list[Check]:
    """Return all checks of the data that need no candidate terms.

    Parameters
    ----------
    recording : Recording
        The data.
    decimation : int, optional
        The stride in use; by default the advised one.
    lags : int
        The largest lag in use, in steps.
    sampling, seen : optional
        What :func:`narxbench.identification.sampling.advised_decimations` and :func:`responses` returned, if that is
        known.
    """
    sampling = sampling or advised_decimations(recording)
    stride = decimation or sampling.advised
    return [
        sampling_check(recording, sampling),
        resolution_check(recording),
        saturation_check(recording),
        delay_check(recording, stride, seen),
        excitation_check(recording, stride, lags),
        drift_check(recording),
        outlier_check(recording),
        test_range_check(recording),
    ]


def sampling_check(recording: Recording, sampling: Sampling) -> Check:
    """Say what :func:`narxbench.identification.sampling.advised_decimations` found."""
    title, tau, stride = "Sampling", sampling.first_minimum, sampling.advised
    values = {
        "first_minimum": tau,
        "advised": stride,
        "candidates": list(sampling.candidates),
        "correlations": sampling.correlations,
    }
    if tau is None:
        return Check("sampling", title, "bad", "The output does not change.", "Look at the data.", values)
    dip = {"minimum": "first dips", "decay": "has decayed"}.get(sampling.seen_as, "has no dip, but is first zero")
    seen = f"its correlation {dip} after {_samples(tau, recording)}, where 10 to {STEPS} samples are enough"
    if sampling.wanted > 1:
        text = f"The output is sampled about {sampling.wanted} times faster than needed: {seen}."
        every = "" if stride == 1 else f" Every {ordinal(stride)} is advised."
        if sampling.limit == "input":
            text += f" But the input changes too fast for so large a stride.{every}"
        elif sampling.limit == "length":
            text += f" But too few samples would stay.{every}"
        if stride == 1:
            return Check("sampling", title, "look" if sampling.limit == "length" else "fine", text, "", values)
        advice = f"Use every {ordinal(stride)} sample, or compare {listed(map(str, sampling.candidates))}."
        return Check("sampling", title, "look", text, advice, values)
    if tau < FEWEST_STEPS:
        text = (
            f"The output is sampled coarsely, or is mostly noise: its correlation {dip} after "
            f"{_samples(tau, recording)}, where {FEWEST_STEPS} to {MOST_STEPS} samples are usual."
        )
        return Check("sampling", title, "look", text, "If it can be measured again, sample faster.", values)
    text = (
        f"The output is sampled as a model needs it: its correlation {dip} after {_samples(tau, recording)}, where "
        f"{FEWEST_STEPS} to {MOST_STEPS} samples are usual."
    )
    if tau > MOST_STEPS:
        text = f"The output is sampled a little faster than needed: {seen}."
    return Check("sampling", title, "fine", text, "", values)


def resolution_check(recording: Recording) -> Check:
    """Count the levels of each signal; an input of few levels has powers that say nothing new."""
    texts, advice, values = [], [], {}
    status: Status = "fine"
    for column, name, term, pieces in _signals(recording):
        levels = np.unique(np.concatenate(pieces))
        # Two texts of one number may differ in the last bit.
        span = float(levels[-1] - levels[0])
        levels = levels[np.append(True, np.diff(levels) > 1e-9 * span)]
        step = float(np.median(np.diff(levels))) if len(levels) > 1 else 0.0
        is_output = name == OUTPUT_NAME
        values[column] = {"levels": len(levels), "step": step, "range": [float(levels[0]), float(levels[-1])]}
        if len(levels) == 1:
            continue
        if not is_output and len(levels) <= 5:
            a, b = float(levels[0]), float(levels[-1])
            power, lower = len(levels), "the lower ones and the constant"
            if power == 2:
                lower = _sum_of([(w, t) for w, t in ((a + b, term), (-a * b, "1")) if w])
            texts.append(f"{_capital(name)} has only {power} levels: {term}^{power} is {lower}.")
            status = _worse(status, "look")
        elif span / step < 50 and sum(map(len, pieces)) > 2 * len(levels):
            texts.append(
                f"{_capital(name)} has only {len(levels)} levels: one step of {step:.3g} is {_percent(step / span)} "
                "of its range."
            )
            if is_output:
                status = _worse(status, "bad" if len(levels) < 5 else "look")
                advice.append("No model can be more precise than the resolution of the output.")
    counts = ", ".join(f"{name} {found['levels']}" for name, found in values.items())
    return Check(
        "resolution",
        "Resolution",
        status,
        " ".join(texts) or f"The signals are finely resolved; their levels: {counts}.",
        " ".join(advice),
        values,
    )


def saturation_check(recording: Recording) -> Check:
    """Look for an output that stays at its largest or smallest value, where it arrives without slowing down."""
    pieces = [record.y for record in known_records(recording)]
    y = np.concatenate(pieces)
    found, values = [], {}
    moves = np.concatenate([np.abs(np.diff(piece)) for piece in pieces])
    typical = float(np.median(moves[moves > 0.0])) if moves.any() else 0.0
    for side, extreme in (("largest", float(y.max())), ("smallest", float(y.min()))):
        share = float(np.mean(y == extreme))
        runs = [(start, end, piece) for piece in pieces for start, end in _runs(piece == extreme)]
        arrivals = [abs(piece[start] - piece[start - 1]) for start, _, piece in runs if start > 0]
        longest = max(end - start for start, end, _ in runs)
        # Other levels near the extreme are as frequent where a coarse signal merely rests there.
        others = np.unique(y[y != extreme], return_counts=True)[1]
        usual = float(others.mean()) / len(y) if len(others) else 1.0
        abrupt = bool(arrivals) and float(np.median(arrivals)) >= 0.5 * typical
        values[side] = {"value": extreme, "share": share, "longest": int(longest)}
        if share * len(y) >= max(5, 0.01 * len(y)) and longest >= 3 and share > 3.0 * usual and abrupt:
            found.append(
                f"{_percent(share)} of the output's samples are at its {side} value, {extreme:.4g}, up to {longest} "
                "in a row, as at a limit."
            )
    worst = max(found_side["share"] for found_side in values.values())
    return Check(
        "saturation",
        "Limits of the output",
        "fine" if not found else "bad" if worst > 0.2 else "look",
        " ".join(found) or "The output does not stay at its largest or smallest value as if it were cut off.",
        "A polynomial cannot follow a limit: leave these parts out, or measure with a smaller input." if found else "",
        values,
    )


def responses(recording: Recording) -> dict[str, list["Response"]]:
    """Return what tells of an effect of each input on the output, by its column; of some inputs nothing can."""
    # A disturbance of the measurement may be in all signals at once, which is no effect of one on another.
    y = [record.y - away for record, away in _outliers(recording)[0]]
    return {column: _responses(u, y) for column, _, _, u in _inputs(recording)}


def delay_check(
    recording: Recording, decimation: int = 1, seen: Mapping[str, Sequence["Response"]] | None = None
) -> Check:
    """Estimate the dead time of each input: the first lag at which the output follows what is new in it.

    What an autoregression (order at most 40) cannot predict of the input, or of its square, is correlated with what one
    cannot predict of the output. As the effect of a slow system is too small for that in each sample, it is also
    correlated with the output after the same filter as the input. The band is 4 standard errors wide,
    those of white noise or, if they are larger, those of the products that are summed.
    """
    texts, advice, values = [], [], {}
    status: Status = "fine"
    seen = responses(recording) if seen is None else seen
    for column, name, term, _ in _inputs(recording):
        found = seen[column]
        if not found:
            continue
        # The earliest effect counts, however it is seen.
        first = min(found, key=Response.first)
        delay = first.first() if first.first() < len(first.band) else None
        values[column] = {"delay": delay, "band": plain(first.band), "correlations": plain(first.correlations)}
        if delay is None and found[0].changes < LEAST_CHANGES:
            texts.append(f"{_capital(name)} changes too seldom to tell after how many samples the output follows.")
        elif delay is None:
            status = _worse(status, "look")
            texts.append(f"No effect of {name} on the output is seen within {len(found[0].correlations) - 1} samples.")
            advice.append(f"See whether {name} belongs to the model.")
        elif delay == 0:
            status = _worse(status, "look")
            texts.append(f"The output follows {name} within the same sample.")
            advice.append(f"Allow the current input, {term}(k).")
        else:
            steps = f", {delay / decimation:.2g} steps of {decimation}" if decimation > 1 else ""
            texts.append(f"The output is seen to follow {name} after {_samples(delay, recording)}{steps}.")
            if delay // decimation >= 3:
                status = _worse(status, "look")
                advice.append(f"Begin the lags of {name} at {delay // decimation}.")
    return Check(
        "delay",
        "Dead time",
        status,
        " ".join(texts) or "There is no input whose dead time could be told.",
        " ".join(dict.fromkeys(advice)),
        values,
    )


def excitation_check(recording: Recording, decimation: int = 1, lags: int = 5) -> Check:
    """Look whether each input changes, in as many ways as it has lags, and whether the data are mostly at rest.

    The order of excitation is the rank of the covariance of ``lags`` lagged inputs, with eigenvalues counted from 1e-6
    of the largest.
    """
    texts, advice = [], []
    values: dict[str, Any] = {}
    status: Status = "fine"
    for column, name, _, pieces in _inputs(recording):
        low, high = min(p.min() for p in pieces), max(p.max() for p in pieces)
        if not high - low > 1e-12 * max(abs(low), abs(high)):
            texts.append(f"{_capital(name)} is constant, {low:.4g}: no model can tell its effect.")
            advice.append(f"Leave {name} out.")
            status = "bad"
            values[column] = {"order": 0, "range": [float(low), float(high)]}
            continue
        order = _order_of_excitation(pieces, decimation, lags)
        longest = max(pieces, key=len)
        segment = min(len(longest), 2 * MOST_POINTS - 2)
        frequency, power = welch(longest, nperseg=segment)
        values[column] = {
            "order": order,
            "range": [float(low), float(high)],
            "frequency": plain(frequency),
            "power": plain(power),
        }
        texts.append(f"{_capital(name)} covers {low:.4g} to {high:.4g}")
        if order < lags:
            texts[-1] += f", but changes in {order} way{'s' * (order != 1)} only: that tells no more than {order} lags."
            advice.append(f"Use at most {order} lags of {name}, or excite it at more frequencies.")
            status = _worse(status, "look")
        else:
            texts[-1] += f" and tells {lags} lags apart."
    rest = _share_at_rest(recording, MOST_STEPS * decimation)
    values["at_rest"] = rest
    if rest > 0.5:
        texts.append(f"All signals rest in {_percent(rest)} of the time, which tells little of the dynamics.")
        advice.append("Leave out long rests.")
        status = _worse(status, "look")
    text = " ".join(texts) or "There is no input, and the output does not rest."
    return Check("excitation", "Excitation", status, text, " ".join(advice), values)


def drift_check(recording: Recording) -> Check:
    """Look for a trend of the output, or offsets between records, that a static function of the inputs leaves.

    A trend must exceed 4 standard errors and the standard deviation of what is left, an offset 5 and half of that, at
    as many independent samples as its correlation allows; nothing is told of records with fewer than 20 of these.
    """
    records = known_records(recording)
    static = []
    for u in _standard_inputs(records):
        # A slow output follows the mean of an input, and not its changes.
        slow = uniform_filter1d(u, max(1, len(u) // 10), axis=0, mode="nearest") if u.size else u
        static.append(np.column_stack([np.ones(len(u)), u, u**2, slow, slow**2]))
    y = [record.y for record in records]
    weights = np.linalg.lstsq(np.vstack(static), np.concatenate(y), rcond=1e-8)[0]
    left = [piece - s @ weights for piece, s in zip(y, static, strict=True)]
    texts, trends, offsets = [], [], []
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
        trends.append({"record": record.name, "change": float(f"{fit[-1]:.9g}")})
        if t > 4.0 and abs(fit[-1]) > max(float(rest.std()), 0.05 * float(np.ptp(piece))):
            texts.append(
                f"The output of {record.name} drifts by {fit[-1]:.3g}, {_times(abs(fit[-1]), float(rest.std()))} of "
                "the rest, without a cause in the inputs."
            )
    samples = sum(map(len, left))
    middle = float(np.median([piece.mean() for piece in left]))
    sd = float(np.concatenate([piece - piece.mean() for piece in left]).std())
    for record, piece in zip(records, left, strict=True):
        offset, error = float(piece.mean()) - middle, _standard_error([piece])
        # The mean of a short record takes much of a slow wandering with it: the others tell how much there is.
        error = max(error, (_standard_error(left) or 0.0) * float(np.sqrt(samples / len(piece)))) if error else None
        offsets.append({"record": record.name, "offset": offset})
        if error is not None and abs(offset) > max(5.0 * error, 0.5 * sd):
            texts.append(
                f"The output of {record.name} lies {offset:+.3g} off the middle of the records, for equal inputs."
            )
    more = [f"{len(texts) - 3} more such findings."] if len(texts) > 3 else []
    return Check(
        "drift",
        "Drift and offsets",
        "look" if texts else "fine",
        " ".join(texts[:3] + more)
        or "The output neither drifts nor differs between records without a cause in the inputs.",
        "Subtract the drift or offset, or add its cause as an input." if texts else "",
        {"trends": trends[:MOST_POINTS], "offsets": offsets[:MOST_POINTS]},
    )


def outlier_check(recording: Recording) -> Check:
    """Count samples of the output that stick out: of the median of 7 samples, of their two neighbours, of the input.

    Just after a jump of an input that else stays at rest, the output may jump too: those samples do not count.
    """
    found, limit = _outliers(recording)
    total = sum(len(record) for record, _ in found)
    places = [(r.name, int(k) + 1, float(f"{away[k]:.5g}")) for r, away in found for k in np.flatnonzero(away)]
    values = {"count": len(places), "limit": limit, "samples": [list(place) for place in places[:MOST_POINTS]]}
    if not places:
        return Check("outliers", "Outliers", "fine", "No sample of the output sticks out.", "", values)
    several = len({name for name, *_ in places}) > 1
    told = [f"{number} of {name}" if several else str(number) for name, number, _ in places[:8]]
    more = f" and {len(places) - 8} more" if len(places) > 8 else ""
    text = (
        f"{len(places)} of {total} samples of the output stick out of their neighbours by more than {limit:.3g}: "
        f"sample{'s' * (len(places) > 1)} {', '.join(told)}{more}."
    )
    status: Status = "bad" if len(places) > 0.05 * total else "look"
    return Check("outliers", "Outliers", status, text, "See whether they are mistakes of the measurement.", values)


def test_range_check(recording: Recording) -> Check:
    """Tell which share of the test samples lies outside the range that the other records cover."""
    title, test = "Range of the test records", [r for r in recording.of_role("test") if len(r)]
    if not test:
        return Check("test-range", title, "fine", "There is no test record to compare ranges with.")
    texts, values = [], {}
    status: Status = "fine"
    for index, (column, name, _, pieces) in enumerate(_signals(recording)):
        seen = np.concatenate(pieces)
        asked = np.concatenate([record.y if index == 0 else record.u[:, index - 1] for record in test])
        low, high = float(seen.min()), float(seen.max())
        share = float(np.mean((asked < low) | (asked > high)))
        # By how much of the known range the test goes beyond it.
        beyond = max(low - float(asked.min()), float(asked.max()) - high, 0.0)
        values[column] = {"share": share, "known": [low, high], "test": [float(asked.min()), float(asked.max())]}
        if share == 0.0:
            continue
        texts.append(
            f"{_percent(share)} of the test samples of {name} lie outside {low:.4g} to {high:.4g}, the range "
            f"seen before, by up to {beyond:.3g}."
        )
        # A few samples just outside are no extrapolation.
        if share > 0.01 and beyond > 0.01 * (high - low):
            status = _worse(status, "bad" if share > 0.1 else "look")
    return Check(
        "test-range",
        title,
        status,
        " ".join(texts) or "The test records stay within the range that the model is estimated from.",
        "A polynomial extrapolates badly: estimate from data that cover this range." if status != "fine" else "",
        values,
    )


# pytest collects what begins with "test_", wherever it is imported.
test_range_check.__test__ = False  # type: ignore[attr-defined]


def size_check(n_terms: int, n_rows: int, seconds: float | None = None) -> Check:
    """Tell how many rows there are for each candidate term, and how long the search is expected to take.

    Examples
    --------
    >>> size_check(286, 990, 5.0).text
    '286 candidate terms and 990 rows to estimate from, 3.5 for each; the search takes about 5 s.'
    """
    took = "" if seconds is None else f"; the search takes about {_duration(seconds)}"
    each = n_rows / max(1, n_terms)
    text = f"{n_terms} candidate terms and {n_rows} rows to estimate from, {each:.2g} for each{took}."
    advice = []
    if n_rows < n_terms:
        advice.append("Fewer lags or a lower degree leave less to chance.")
    if seconds is not None and seconds > 600:
        advice.append("Fewer candidates are quicker.")
    return Check("size", "Size of the search", "look" if advice else "fine", text, " ".join(advice))


def collinear(columns: Array, terms: list[str]) -> dict[str, str]:
    """Return the candidates that say nothing that a few earlier ones do not say already, each with the reason.

    Parameters
    ----------
    columns : array of float, shape (rows, n_terms)
        Values of the candidates.
    terms : list of str
        Their names in canonical order: of a combination, the last is dropped, which is of the highest degree.

    Returns
    -------
    dict of str to str
        Such as ``{"u(k-1)^2": "u(k-1)^2 is 5 u(k-1)"}``. The others have the same span, but for combinations of more
        than 8, which make no small structure singular.

    Notes
    -----
    A QR decomposition of columns of unit norm, at some rows, finds the dependent ones; each combination is then tried
    at all rows, and the rows that refute one are added. A Gram matrix would square the errors.

    Examples
    --------
    >>> u = np.array([0.0, 5.0, 5.0, 0.0, 5.0])
    >>> collinear(np.column_stack([u, u**2]), ["u(k-1)", "u(k-1)^2"])
    {'u(k-1)^2': 'u(k-1)^2 is 5 u(k-1)'}
    """
    norms = np.sqrt(np.einsum("ij,ij->j", columns, columns))
    reasons = {int(j): f"{terms[j]} is zero in every row" for j in np.flatnonzero(norms == 0.0)}
    active = np.flatnonzero(norms > 0.0)
    rows = np.arange(len(columns))
    if len(rows) > 3 * len(active):
        chosen = generator(purpose="collinear", rows=len(rows)).permutation(len(rows))[: 2 * len(active) + 10]
        rows = np.sort(chosen)
    while len(active):
        part = columns[np.ix_(rows, active)] / norms[active]
        refuting: set[int] = set()
        dropped = {}
        for j, others in _combinations(part).items():
            weights = np.linalg.lstsq(part[:, others], part[:, j], rcond=None)[0]
            left = np.abs(
                columns[:, active[j]] / norms[active[j]]
                - columns[:, active[others]] @ (weights / norms[active[others]])
            )
            if np.linalg.norm(left) <= EXACT:
                scaled = weights * norms[active[j]] / norms[active[others]]
                pairs = [(float(w), terms[active[i]]) for w, i in zip(scaled, others, strict=True)]
                dropped[int(active[j])] = f"{terms[active[j]]} is {_sum_of(pairs)}"
            else:
                # The few worst rows, for others may be refuted by the same.
                refuting |= set(np.argsort(left)[-10:].tolist()) - set(rows.tolist())
        if not refuting:
            reasons |= dropped
            break
        rows = np.union1d(rows, sorted(refuting))
    return {terms[j]: reasons[j] for j in sorted(reasons)}


def collinear_check(columns: Array, terms: list[str], dropped: dict[str, str]) -> Check:
    """Tell which candidates were dropped, and how many pairs of the others are nearly the same.

    Parameters
    ----------
    columns, terms
        As for :func:`collinear`.
    dropped : dict of str to str
        What it returned.
    """
    kept = [j for j, term in enumerate(terms) if term not in dropped]
    centred = columns[:, kept] - columns[:, kept].mean(axis=0)
    norms = np.sqrt(np.einsum("ij,ij->j", centred, centred))
    # The constant term is like no other.
    scale = np.where(norms > 1e-9 * np.abs(columns[:, kept]).sum(axis=0), 1.0 / np.maximum(norms, 1e-300), 0.0)
    alike = np.triu(np.abs(centred.T @ centred * scale * scale[:, None]), 1)
    count = int(np.sum(alike > NEARLY))
    texts = []
    if dropped:
        first = list(dropped.values())[:3]
        more = f", and {len(dropped) - 3} more" if len(dropped) > 3 else ""
        texts.append(
            f"{len(dropped)} of {len(terms)} candidates say nothing new and are left out: {'; '.join(first)}{more}."
        )
    values: dict[str, Any] = {"dropped": dict(dropped), "near_pairs": count, "worst": None}
    if count:
        i, j = np.unravel_index(int(np.argmax(alike)), alike.shape)
        worst = [terms[kept[i]], terms[kept[j]], min(1.0, float(alike[i, j]))]
        values["worst"] = worst
        texts.append(
            f"{count} pair{'s' * (count > 1)} of candidates {'are' if count > 1 else 'is'} nearly the same "
            f"(correlation over {NEARLY}), most of all {worst[0]} and {worst[1]}."
        )
    return Check(
        "collinear",
        "Candidates that are alike",
        "look" if texts else "fine",
        " ".join(texts) or f"All {len(terms)} candidates differ.",
        "Which one of a pair a model has is a matter of chance: a larger stride tells them apart." if count else "",
        values,
    )


def _combinations(part: Array) -> dict[int, list[int]]:
    """Return each column of about unit norm that is a combination of a few earlier ones, and which these are."""
    # The triangle has the same angles between its columns, and fewer rows.
    triangle = np.asarray(np.linalg.qr(part, mode="r"))
    size = part.shape[1]
    lengths = np.maximum(np.linalg.norm(triangle, axis=0), 1e-300)
    triangle = triangle / lengths
    basis = np.arange(size)
    while True:
        q, r = np.linalg.qr(triangle[:, basis])
        rank = len(r)
        distance = np.zeros(len(basis))
        distance[:rank] = np.abs(np.diag(r))
        if (distance > EXACT).all():
            break
        # Behind a dependent column the decomposition is not to be trusted: what is dropped is looked at again below.
        basis = basis[distance > EXACT]
    found = {}
    for j in sorted(set(range(size)) - set(basis.tolist())):
        earlier = int(np.searchsorted(basis, j))
        shadow = q.T @ triangle[:, j]
        left = triangle[:, j] - q[:, :earlier] @ shadow[:earlier]
        if np.linalg.norm(left) > 10.0 * EXACT:
            continue
        weights = solve_triangular(r[:earlier, :earlier], shadow[:earlier])
        others = np.flatnonzero(np.abs(weights) > 1e-6 * np.abs(weights).max(initial=0.0))
        if len(others) <= MOST_OTHERS:
            found[j] = basis[others].tolist()
    return found


def _sum_of(pairs: list[tuple[float, str]]) -> str:
    """Return a sum of terms in words: ``2 u(k-1) - 3`` for those of ``u(k-1)`` and ``1``."""
    text = ""
    for weight, term in sorted(pairs, key=lambda pair: pair[1] == "1"):
        size = f"{abs(weight):.4g}"
        factor = size if term == "1" else term if size == "1" else f"{size} {term}"
        text += (f" {'-' if weight < 0.0 else '+'} " if text else "-" * (weight < 0.0)) + factor
    return text


def _inputs(recording: Recording) -> Iterator[tuple[str, str, str, list[Array]]]:
    """Yield column, name in a text, name in terms and pieces of each input."""
    count = len(recording.inputs)
    for index, column in enumerate(recording.inputs):
        pieces = [record.u[:, index] for record in known_records(recording)]
        yield column, f"input {column}" if count > 1 else "the input", signal_name(index + 1, count), pieces


def _signals(recording: Recording) -> Iterator[tuple[str, str, str, list[Array]]]:
    yield recording.output, OUTPUT_NAME, signal_name(OUTPUT), [record.y for record in known_records(recording)]
    yield from _inputs(recording)


def _outliers(recording: Recording) -> tuple[list[tuple[Record, Array]], float]:
    """Return by how much each sample of the output sticks out, 0 for most, and what counts as sticking out."""
    records = known_records(recording)
    away = [record.y - median_filter(record.y, 7, mode="nearest") for record in records]
    # The peak of a smooth oscillation lies above the median, but close to its neighbours.
    padded = [np.pad(record.y, 1, mode="edge") for record in records]
    bend = [np.abs(p[1:-1] - 0.5 * (p[:-2] + p[2:])) for p in padded]
    least = [np.minimum(np.abs(a), b) for a, b in zip(away, bend, strict=True)]
    y = np.concatenate([record.y for record in records])
    levels = np.unique(y)
    quantum = float(np.median(np.diff(levels))) if 1 < len(levels) < len(y) / 4 else 0.0
    reach = float(np.subtract(*np.percentile(y, [99, 1])))
    limit = max(_spread(least, 8.0), 2.5 * quantum, 0.1 * reach)
    unexplained = _unexplained(records)
    most = _spread(unexplained, 6.0)
    wrong = [
        (size > limit) & (left > most) & ~_after_jumps(record.u, 15)
        for record, size, left in zip(records, least, unexplained, strict=True)
    ]
    return [(r, np.where(w, a, 0.0)) for r, w, a in zip(records, wrong, away, strict=True)], limit


def _spread(sizes: list[Array], times: float) -> float:
    """Return a multiple of the standard deviation of values of these sizes, from their median."""
    return times * 1.4826 * float(np.median(np.concatenate(sizes)))


def _unexplained(records: list[Record]) -> list[Array]:
    """Return the size of what a rough model leaves of y: its last two values, and powers of u at lag 0 to 3."""
    rows = []
    for record, inputs in zip(records, _standard_inputs(records), strict=True):
        padded = [np.pad(signal, (3, 0), mode="edge") for signal in (record.y, *inputs.T)]
        lagged = [padded[0][3 - lag : len(padded[0]) - lag] for lag in (1, 2)]
        for u in padded[1:]:
            lagged += [u[3 - lag : len(u) - lag] ** power for lag in range(4) for power in (1, 2, 3)]
        rows.append(np.column_stack([np.ones(len(record)), *lagged]))
    weights = np.linalg.lstsq(np.vstack(rows), np.concatenate([r.y for r in records]), rcond=1e-10)[0]
    return [np.abs(record.y - row @ weights) for record, row in zip(records, rows, strict=True)]


def _standard_inputs(records: list[Record]) -> list[Array]:
    """Return the inputs of each record, moved and scaled to within -1 and 1, so that their powers are too."""
    u = np.vstack([record.u for record in records])
    mean = u.mean(axis=0)
    reach = np.abs(u - mean).max(axis=0, initial=0.0)
    return [(record.u - mean) / np.where(reach > 0.0, reach, 1.0) for record in records]


def _runs(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return start and end of each run of true entries."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


class Response(NamedTuple):
    """Correlations of the output with what is new in an input at lag 0, 1, …, their band, and how often it changes."""

    correlations: Array
    band: Array
    changes: float

    def first(self) -> int:
        """Return the first lag outside the band, or the number of lags."""
        outside = np.abs(self.correlations) > self.band
        return int(np.argmax(outside)) if outside.any() else len(outside)


def _responses(u: list[Array], y: list[Array]) -> list[Response]:
    """Return what tells of an effect of u on y: of u and its square, in y less the past of u, and less its own."""
    mean = float(np.concatenate(u).mean())
    reach = max(float(np.abs(piece - mean).max()) for piece in u) or 1.0
    most = min(100, max(map(len, u)) // 4)
    found = []
    y_predictor = _predictor(y)
    for signal in ([(piece - mean) / reach for piece in u], [((piece - mean) / reach) ** 2 for piece in u]):
        predictor = _predictor(signal)
        new = _filtered(signal, predictor)
        # What its past tells but for rounding has nothing new.
        if not most or sum(p @ p for p in new) <= 1e-8 * sum(float(np.sum((p - p.mean()) ** 2)) for p in signal):
            continue
        changes = float(sum(p @ p for p in new) ** 2 / sum(np.sum(p**4) for p in new))
        for answer in (_filtered(y, predictor), _filtered(y, y_predictor)):
            power = float(np.sqrt(sum(p @ p for p in new) * sum(p @ p for p in answer)))
            if power > 0.0:
                c, squares = np.zeros(most + 1), np.zeros(most + 1)
                for a, b in zip(new, answer, strict=True):
                    lags = slice(len(a) - 1, len(a) + most)
                    there = min(most + 1, len(a))
                    c[:there] += correlate(b, a, method="fft")[lags]
                    squares[:there] += np.maximum(0.0, correlate(b**2, a**2, method="fft")[lags])
                # Few large products, of an input that changes seldom or a disturbance of all signals, tell little.
                band = np.maximum(1.0 / np.sqrt(sum(map(len, new))), np.sqrt(squares) / power)
                # What is left of an input's own correlation, however long the record, is no effect.
                found.append(Response(c / power, np.maximum(4.0 * band, LEAST_RESPONSE), changes))
    return found


def _predictor(pieces: list[Array]) -> Array:
    """Return the filter to what an autoregression leaves of a signal."""
    r = autocorrelation(pieces)
    order = min(MOST_ORDER, sum(map(len, pieces)) // 20, len(r) - 1)
    if order < 1:
        return np.ones(1)
    # A little white noise keeps the equations solvable for a signal that its past tells exactly.
    weights = solve_toeplitz(r[:order] + 1e-9 * (np.arange(order) == 0), r[1 : order + 1])
    return np.concatenate([[1.0], -weights])


def _filtered(pieces: list[Array], predictor: Array) -> list[Array]:
    """Return the filtered pieces, zero where the filter begins, so that all stay aligned."""
    found = [lfilter(predictor, [1.0], piece - piece.mean()) for piece in pieces]
    for piece in found:
        piece[: len(predictor) - 1] = 0.0
    return found


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
    scatter = rows.T @ rows
    eigenvalues = np.linalg.eigvalsh(scatter)
    return int(np.sum(eigenvalues > 1e-6 * eigenvalues[-1]))


def _share_at_rest(recording: Recording, window: int) -> float:
    """Return the share of windows in which the middle 90 % of all signals stay within 5 % of their ranges."""
    records = known_records(recording)
    rows = [np.column_stack([record.y, record.u]) for record in records]
    reach = np.maximum.reduce([r.max(axis=0) for r in rows]) - np.minimum.reduce([r.min(axis=0) for r in rows])
    blocks = [r[: len(r) - len(r) % window].reshape(-1, window, r.shape[1]) for r in rows]
    found = np.vstack(blocks)
    if not len(found):
        return 0.0
    spans = np.subtract(*np.percentile(found, [95, 5], axis=1))
    return float(np.mean((spans <= 0.05 * reach).all(axis=1)))


def _standard_error(pieces: list[Array]) -> float | None:
    """Return the standard error of the mean of correlated samples, or None where it cannot be told."""
    r = autocorrelation(pieces)
    if len(r) < 3:
        return None
    # Summed up to the first zero: the rest is chance.
    end = int(np.argmax(r < 0.0)) or len(r)
    samples = sum(map(len, pieces))
    independent = samples / float(1.0 + 2.0 * r[1:end].sum())
    return float(np.concatenate(pieces).std() / np.sqrt(independent)) if independent >= 20.0 else None


def _after_jumps(u: Array, reach: int) -> NDArray[np.bool_]:
    """Return which samples follow a jump of an input that is at rest most of the time."""
    after = np.zeros(len(u), np.bool_)
    for signal in u.T:
        moves = np.abs(np.diff(signal, prepend=signal[:1]))
        jumps = moves > 0.05 * np.ptp(signal)
        if jumps.any() and np.mean(moves < 0.01 * np.ptp(signal)) > 0.5:
            # The record may begin in the middle of an answer.
            jumps[0] = True
            after |= np.convolve(jumps, np.ones(reach))[: len(u)] > 0.5
    return after


def _worse(one: Status, other: Status) -> Status:
    order: tuple[Status, ...] = ("fine", "look", "bad")
    return max(one, other, key=order.index)


def _samples(count: int, recording: Recording) -> str:
    seconds = "" if recording.sampling_time is None else f" ({_duration(count * recording.sampling_time)})"
    return f"{count} sample{'s' * (count != 1)}{seconds}"


def _duration(seconds: float) -> str:
    for unit, size in (("h", 3600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


def _percent(share: float) -> str:
    return f"{100 * share:.2g} %" if share < 0.1 else f"{100 * share:.0f} %"


def _times(value: float, unit: float) -> str:
    return f"{value / unit:.2g} standard deviations" if unit > 0.0 else "far more than the deviation"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
