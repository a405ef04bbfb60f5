"""Checks of measured data before the search.

All look at the known records. The test is compared with them by its range alone. Samples are counted from 1, as rows
of a file are.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narxbench._identification.data.evidence import (
    FEW_CHANGES,
    InputEvidence,
    input_evidence,
    is_under_feedback,
    largest_degree_shown,
)
from narxbench._identification.data.other_units import suspected_units
from narxbench._identification.data.output_checks import drift_check, outlier_check, saturation_check
from narxbench._identification.data.responses import Response, responses
from narxbench._identification.data.sampling import (
    FEWEST_STEPS,
    MOST_STEPS,
    STEPS,
    Sampling,
    advised_decimations,
    plain,
)
from narxbench._identification.data.signals import NEGLIGIBLE, NOTHING, SMALL, all_signals, inputs, outputs
from narxbench._identification.finding import Finding, Status, look_if, worst
from narxbench._identification.phrases import (
    OTHER_UNIT,
    Values,
    capital,
    count_samples,
    names_of,
    percent,
    plural_s,
    setting,
    signal_title,
)
from narxbench._io.errors import printable
from narxbench._io.words import listed, ordinal
from narxbench._model.records import Record, Recording
from narxbench._model.terms import signal_name

Array = NDArray[np.float64]
# What a model takes of each input: whether it is ``used``.
Usage = Mapping[str, Mapping[str, Any]]

NO_USAGE: Usage = MappingProxyType({})
# The output or an input: its column, its name in terms, and its values in each record.
_Signal = tuple[str, str, list[Array]]


def checks_before(
    recording: Recording,
    *,
    decimation: int | None = None,
    lags: int = 5,
    sampling: Sampling | None = None,
    input_responses: Mapping[str, Sequence[Response]] | None = None,
    evidence: Mapping[str, InputEvidence] | None = None,
    usage: Usage = NO_USAGE,
    candidates: tuple[int, int] | None = None,
    compared: Sequence[int] = (),
) -> list[Finding]:
    """Return all checks of the data.

    ``decimation`` is the stride in use, by default the advised one, ``lags`` the largest lag in steps, ``usage`` what a
    model takes of each input, and ``compared`` the decimations that were compared. ``candidates`` are the number of
    terms that a model was chosen from and the number of rows that their weights were estimated from.
    """
    evidence = input_evidence(recording) if evidence is None else evidence
    sampling = sampling or advised_decimations(recording)
    stride = decimation or sampling.advised
    return [
        sampling_check(sampling, recording.sampling_time, compared, stride),
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
    candidates: tuple[int, int] | None = None,
) -> Finding:
    """Judge what the inputs can show: a constant one shows no effect, and a single change no nonlinear behaviour.

    ``delays`` are the result of :func:`dead_times`. An input that a model uses, or that changes too seldom to tell, is
    not called idle.
    """
    by_input, constant, under_feedback, exchanged, idle = {}, [], [], [], []
    for column, about in evidence.items():
        by_input[column] = {**about._asdict(), **(delays or {}).get(column, {})}
        if about.constant:
            constant.append(column)
        elif _is_idle(by_input[column]) and not usage.get(column, {}).get("used", False):
            idle.append(column)
        if is_under_feedback(about.follows):
            under_feedback.append(column)
        if about.exchanged:
            exchanged.append(column)
    degree = largest_degree_shown(list(evidence.values()))
    n_terms, n_rows = candidates or (None, None)
    has_few_rows = n_terms is not None and n_rows is not None and n_rows < n_terms
    values = {
        "inputs": by_input,
        "degree": degree,
        "constant": constant,
        "idle": idle,
        "under_feedback": under_feedback,
        "exchanged": exchanged,
        "terms": n_terms,
        "rows": n_rows,
    }
    status = look_if(bool(degree or constant or idle or under_feedback or has_few_rows))
    return Finding("evidence", status, values, *evidence_text(values))


def evidence_text(values: Values) -> tuple[str, str]:
    """Return the sentences and the advice of :func:`evidence_check`."""
    texts, advice = list[str](), list[str]()
    if values["constant"]:
        names = names_of(values["constant"])
        texts.append(f"Never changed: {names}. The record cannot show what {_it_does(values['constant'])}.")
        advice.append(f"Leave {names} out, or record {names} at several values.")
    if values["idle"]:
        names = names_of(values["idle"])
        texts.append(f"Correlation shows no effect of {names}.")
    if values["degree"] == 1:
        texts.append(
            f"The inputs change only once, so only degree 1 is searched unless you set {setting('degree', 2)}."
        )
        advice.append("Record steps of several sizes, up and down, to see whether the process is nonlinear.")
    if values["under_feedback"]:
        names = names_of(values["under_feedback"])
        texts.append(f"Past outputs predict {names}, as in a closed loop, where noise biases the weights.")
        advice.append(f"Move the reference of the loop, or add a signal of your own to {names}.")
    if values["exchanged"]:
        names = names_of(values["exchanged"])
        texts.append(f"The past of {names} does not predict the output: input and output may be exchanged.")
        advice.append("If what you set was given as the output, give it as the input.")
    if not values["inputs"]:
        texts.append("There is no input: the output is predicted from its own past.")
    elif not texts:
        texts.append(f"The inputs move enough: {_moves(values['inputs'])}.")
    texts += _delays(values["inputs"])
    if values["terms"] is not None and values["rows"] < values["terms"]:
        texts.append(f"There are only {values['rows']} rows for {values['terms']} candidate terms.")
        advice.append("Record more samples.")
    return " ".join(texts), " ".join(advice)


def _delays(evidence: Values) -> list[str]:
    """Return after how many samples the output is seen to follow inputs."""
    delays = []
    for column, about in evidence.items():
        if about.get("delay") is None:
            continue
        name = signal_title(column, about["term"])
        if about["power"] != 1 or about["shown"] != about["delay"]:
            name = f"the square of {name}"
        after = "at once" if about["delay"] == 0 else f"after {count_samples(about['delay'], None)}"
        delays.append(f"{name} {after}")
    return [f"By correlation the output follows {listed(delays)}."] if delays else []


def _it_does(names: Sequence[str]) -> str:
    return "it does" if len(names) == 1 else "they do"


def _moves(evidence: Values) -> str:
    """Return how often each input moves."""
    moves = []
    for name, about in evidence.items():
        count = about["changes"]
        how = "moves all the time" if count is None else f"makes {count} different changes"
        moves.append(f"{printable(name)} {how}")
    return listed(moves)


def _is_idle(about: Mapping[str, Any]) -> bool:
    """Return whether an input that changes often enough is not seen to act on the output."""
    return "delay" in about and about["delay"] is None and not about["seldom"]


def sampling_check(
    sampling: Sampling, period: float | None = None, compared: Sequence[int] = (), taken: int | None = None
) -> Finding:
    """Judge how fast the output is sampled, and which decimation a model takes.

    Parameters
    ----------
    sampling : Sampling
        The result of :func:`~narxbench._identification.data.sampling.advised_decimations`.
    period : float, optional
        The sampling time in seconds.
    compared : sequence of int
        The decimations that were compared by models.
    taken : int, optional
        The decimation of the model.
    """
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
    is_compared = len(compared) > 1 and not sampling.advised == taken == 1
    if is_compared:
        values |= {"compared": list(compared), "taken": taken}
    return Finding("sampling", _status_of_sampling(sampling, is_compared), values, *sampling_text(values))


def _status_of_sampling(sampling: Sampling, is_compared: bool) -> Status:
    """Judge a sampling. It is not too fast any more if decimations were compared."""
    if sampling.first_minimum is None:
        return "bad"
    is_too_fast = sampling.by_output > 1 and (sampling.advised > 1 or sampling.limit == "length")
    is_settled = is_compared and sampling.advised > 1
    return look_if(not is_settled and (is_too_fast or sampling.first_minimum < FEWEST_STEPS))


def sampling_text(values: Values) -> tuple[str, str]:
    """Return the sentences and the advice of :func:`sampling_check`."""
    first_minimum = values["first_minimum"]
    if first_minimum is None:
        return "The output does not change.", "Look at the data."
    dip = {"minimum": "first dips", "decay": "has decayed"}.get(values["seen_as"], "has no dip, but is first zero")
    where = f"its correlation {dip} after {count_samples(first_minimum, values['period'])}, where"
    enough, usual = f"10 to {STEPS} samples are enough.", f"{FEWEST_STEPS} to {MOST_STEPS} samples are usual."
    advice = ""
    if values["wanted"] > 1:
        text = f"The output is sampled about {values['wanted']} times faster than needed: {where} {enough}"
        text += _limit_of_stride(values)
    elif first_minimum < FEWEST_STEPS:
        text = f"The output is sampled coarsely, or is mostly noise: {where} {usual}"
        advice = "If it can be measured again, sample faster."
    elif first_minimum > MOST_STEPS:
        text = f"The output is sampled a little faster than needed: {where} {enough}"
    else:
        text = f"The output is sampled as a model needs it: {where} {usual}"
    if "compared" in values:
        compared = ", ".join(map(str, values["compared"]))
        text += f" The model takes {values['taken']} of the compared decimations {compared}."
    return text, advice


def _limit_of_stride(values: Values) -> str:
    """Return why a smaller stride is advised than the output alone would allow, or "" if it is not."""
    if not values["limit"]:
        return ""
    reasons = {"input": "the input changes too fast for steps this large", "length": "too few samples would remain"}
    text = f" But {reasons[values['limit']]}."
    return text if values["advised"] == 1 else f"{text} Every {ordinal(values['advised'])} is advised."


def dead_times(
    recording: Recording, input_responses: Mapping[str, Sequence[Response]] | None = None
) -> dict[str, dict[str, Any]]:
    """Estimate the dead time of each input that varies: the first lag at which the output follows its innovations.

    These are the part of the input, or of its square, that an autoregression does not predict. They are looked for in
    the innovations of the output and, as the effect of a slow system is small in each sample, in the output after the
    same filter.
    """
    if input_responses is None:
        input_responses = responses(recording)
    delays = {}
    for column, term, _ in _signals(recording, ())[1:]:
        if input_responses[column]:
            delays[column] = {"term": term, **_delay(input_responses[column])}
    return delays


def _delay(input_responses: Sequence[Response]) -> dict[str, Any]:
    """Return the dead time by the responses to an input, and the response that is shown."""
    earliest, end = min(map(Response.first, input_responses)), len(input_responses[0].band)
    # The earliest effect counts, whichever response has it. The response to the input itself is shown, unless only its
    # square has an effect.
    shown = min(input_responses, key=lambda response: (response.first() == end, response.power, response.first()))
    has_effect = earliest < end
    return {
        "delay": earliest if has_effect else None,
        "seldom": not has_effect and input_responses[0].changes <= FEW_CHANGES,
        "power": shown.power,
        "shown": shown.first() if has_effect else None,
        "band": plain(shown.band),
        "correlations": plain(shown.correlations),
    }


def excitation_check(recording: Recording, decimation: int = 1, lags: int = 5, usage: Usage = NO_USAGE) -> Finding:
    """Judge whether each input changes in as many ways as it has lags, and whether the data are mostly at rest."""
    excitations = {}
    status: Status = "fine"
    for column, term, pieces in _signals(recording, recording.known)[1:]:
        low, high = _range(pieces)
        order = 0
        if high - low > 1e-12 * max(abs(low), abs(high)):
            order = _order_of_excitation(pieces, decimation, lags)
            if order < lags:
                status = worst(status, "look")
        else:
            status = worst(status, "look")
        excitation = {"term": term, "order": order, "range": [low, high]}
        excitations[column] = {**excitation, **usage.get(column, {})}
    if excitations and not any(excitation["order"] for excitation in excitations.values()):
        status = "bad"
    rest = _share_at_rest(recording, MOST_STEPS * decimation)
    if rest > 0.5:
        status = worst(status, "look")
    values = {"inputs": excitations, "lags": lags, "at_rest": rest}
    return Finding("excitation", status, values, *excitation_text(values))


def excitation_text(values: Values) -> tuple[str, str]:
    """Return the sentences and the advice of :func:`excitation_check`."""
    texts, advice = [], []
    for column, signal in values["inputs"].items():
        name, (low, high) = signal_title(column, signal["term"]), signal["range"]
        order, lags = signal["order"], values["lags"]
        if order == 0:
            texts.append(f"{capital(name)} is constant, {low:.4g}: its effect cannot be estimated.")
            continue
        text = f"{capital(name)} covers {low:.4g} to {high:.4g}"
        if order < lags:
            text += f", but its changes distinguish at most {order} lag{plural_s(order)}."
            # A model may well have more, if other terms tell them apart.
            advice.append(f"Excite {name} at more frequencies.")
        else:
            text += f" and distinguishes {lags} lags."
        texts.append(text)
    share_at_rest = values["at_rest"]
    if share_at_rest > 0.5:
        texts.append(
            f"All signals are constant {percent(share_at_rest)} of the time, which shows little of the dynamics."
        )
    return " ".join(texts) or "The output does not rest.", " ".join(advice)


def test_range_check(recording: Recording, usage: Usage = NO_USAGE) -> Finding:
    """Judge which share of the test samples is outside the range that the other records cover.

    Inputs that a model does not use may be anywhere.
    """
    test_records = list(recording.of_role("test"))
    if not test_records:
        return Finding("test-range", worst(), {}, *test_range_text({}, worst()))
    values: dict[str, Any] = {}
    statuses: list[Status] = []
    known_signals, test_signals = _signals(recording, recording.known), _signals(recording, test_records)
    suspected = suspected_units(_values_by_column(known_signals), _values_by_column(test_signals))
    for (column, term, known_pieces), (_, _, test_pieces) in zip(known_signals, test_signals, strict=True):
        low, high = _range(known_pieces)
        test = np.concatenate(test_pieces)
        share = float(np.mean((test < low) | (test > high)))
        # By how much of the known range the test goes beyond it.
        beyond = max(low - float(test.min()), float(test.max()) - high, 0.0)
        is_used = bool(usage.get(column, {}).get("used", True))
        about = {"term": term, "share": share, "known": [low, high], "beyond": beyond, "used": is_used}
        values[column] = {**about, "unit": suspected.get(column)}
        # A few samples just outside do not count as extrapolation.
        if is_used and share > NOTHING and beyond > NOTHING * (high - low):
            statuses.append("bad" if share > SMALL else "look")
        if is_used and column in suspected:
            statuses.append("look")
    status = worst(*statuses)
    return Finding("test-range", status, values, *test_range_text(values, status))


def test_range_text(values: Values, status: Status) -> tuple[str, str]:
    """Return the sentences and the advice of :func:`test_range_check`."""
    if not values:
        return "There is no test record to compare ranges with.", ""
    texts, advice = [], "A polynomial extrapolates badly: estimate from data that cover this range."
    for column, signal in values.items():
        if not signal["used"]:
            continue
        if signal["unit"]:
            texts.append(_other_unit(signal_title(column, signal["term"]), signal["unit"]))
            advice = OTHER_UNIT
        if signal["share"]:
            low, high = signal["known"]
            texts.append(
                f"{percent(signal['share'])} of the test samples of {signal_title(column, signal['term'])} lie outside "
                f"{low:.4g} to {high:.4g}, the range of the other data, by up to {signal['beyond']:.3g}."
            )
    text = " ".join(texts) or "The test records stay within the range that the model is estimated from."
    return text, "" if status == "fine" else advice


def _other_unit(title: str, unit: Values) -> str:
    """Return how a signal of the test differs from the known ones as if it had another unit."""
    conversion = []
    if unit["scale"] != 1.0:
        conversion.append(f"times {unit['scale']:.4g}")
    if unit["shift"]:
        conversion.append(f"{unit['shift']:+.6g}")
    text = f"In the test {title} may be in another unit: the other data "
    return f"{text}{' '.join(conversion)}, as between {unit['units']}."


def _range(pieces: Sequence[Array]) -> tuple[float, float]:
    """Return the smallest and the largest value of a signal."""
    return min(float(piece.min()) for piece in pieces), max(float(piece.max()) for piece in pieces)


def _values_by_column(signals: Sequence[_Signal]) -> dict[str, Array]:
    return {column: np.concatenate(pieces) for column, _, pieces in signals}


def _signals(recording: Recording, records: Sequence[Record]) -> list[_Signal]:
    """Return the output, and then each input."""
    n_inputs = len(recording.inputs)
    signals = [(recording.output, signal_name(0, n_inputs), outputs(records))]
    for place, column in enumerate(recording.inputs):
        signals.append((column, signal_name(place + 1, n_inputs), inputs(records, place)))
    return signals


def _order_of_excitation(pieces: list[Array], decimation: int, lags: int) -> int:
    """Return how many of the lags of an input are linearly independent."""
    reach = (lags - 1) * decimation
    blocks = []
    for piece in pieces:
        if len(piece) > reach:
            starts = range(0, reach + 1, decimation)
            blocks.append(np.column_stack([piece[start : len(piece) - reach + start] for start in starts]))
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
    return float(np.mean((spans <= NEGLIGIBLE * reach).all(axis=1)))


def no_test_check(records: Sequence[Record]) -> list[Finding]:
    """Return a finding if no data are kept for a test."""
    if any(record.role == "test" for record in records):
        return []
    text = "No data are kept for a test: expect larger errors on new data."
    return [Finding("no_test", "look", {}, text, f"Keep data for a test, as with {setting('test', '20%')}.")]


# pytest collects what begins with "test_", wherever it is imported.
test_range_check.__test__ = False  # type: ignore[attr-defined]
test_range_text.__test__ = False  # type: ignore[attr-defined]
