"""A look at measured data before any search: facts on each signal, checks, spectra, and what the data can identify."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from narxbench._identification.data.checks import checks_before, no_test_check
from narxbench._identification.data.output_checks import outlier_check
from narxbench._identification.data.reading import Reading, numeric_columns, read_recording
from narxbench._identification.data.sampling import runs
from narxbench._identification.data.scaling import LARGEST, SMALLEST
from narxbench._identification.data.signals import all_signals
from narxbench._identification.data.spectra import Spectra, spectra
from narxbench._identification.finding import Finding
from narxbench._io.errors import FieldError
from narxbench._model.records import Recording

Array = NDArray[np.float64]

# The deviation of the third difference of white noise relative to the noise itself, and the deviation of a normal
# distribution relative to its mean absolute value.
_THIRD_DIFFERENCE, _BY_MEAN = math.sqrt(20.0), math.sqrt(math.pi / 2)


@dataclass(frozen=True)
class SignalFacts:
    """Facts on a signal in all records except the test.

    Attributes
    ----------
    name, unit : str
        The unit is empty where it is not known.
    samples : int
        The number of samples.
    low, high, mean, deviation : float
        Range, mean and standard deviation.
    levels : int
        The number of different values.
    at_low, at_high : float
        Shares of the samples at the lowest and at the highest value.
    changes : int
        How often a sample differs from the one before it.
    longest_rest : int
        The most samples in a row that do not change.
    noise : float
        The standard deviation of white noise that changes as fast, which is a bound of the measurement noise.
    reach : float or None
        The frequency, in cycles per sample, below which it has 95 % of its power. None if it is unknown.
    test_range : tuple of float, or None
        Lowest and highest value of the test records. None if there are none.
    """

    name: str
    unit: str
    samples: int
    low: float
    high: float
    mean: float
    deviation: float
    levels: int
    at_low: float
    at_high: float
    changes: int
    longest_rest: int
    noise: float
    reach: float | None
    test_range: tuple[float, float] | None


@dataclass(frozen=True, repr=False)
class DataLook:
    """A look at measured data: :func:`narxbench.look` returns it, and ``narxbench.write_look`` makes a page of it.

    Attributes
    ----------
    recording : Recording
        The data. If no output was chosen, its output and inputs are only the columns in their order.
    signals : tuple of SignalFacts
        Facts on each signal, the output first.
    checks : tuple of Finding
        Checks of output and inputs together, empty if no output was chosen.
    signal_checks : mapping of str to tuple of Finding
        Outliers of each signal, if no output was chosen.
    spectra : Spectra or None
        Spectra, and coherences of the output with the inputs. None for short records.

    Examples
    --------
    >>> import narxbench
    >>> u, y = narxbench.load_system("S1").simulate(600, snr_db=40)
    >>> data = narxbench.look({"u": u, "y": y}, "y", input="u", test="20%")
    >>> data.signals[0].name, data.signals[0].samples
    ('y', 480)
    >>> [check.status for check in data.checks if check.name == "drift"]
    ['fine']
    """

    recording: Recording
    signals: tuple[SignalFacts, ...]
    checks: tuple[Finding, ...]
    signal_checks: Mapping[str, tuple[Finding, ...]]
    spectra: Spectra | None

    @property
    def has_output(self) -> bool:
        """Whether an output was chosen."""
        return not self.signal_checks

    def __repr__(self) -> str:
        """Return what a terminal shows: the samples, and the checks by their status."""
        recording = self.recording
        n_samples = sum(map(len, recording.records))
        lines = [f"<DataLook: {n_samples} samples in {len(recording.records)} records of {len(self.signals)} signals"]
        findings = {"": self.checks, **self.signal_checks}
        for status in ("bad", "look", "fine"):
            names = []
            for signal, checks in findings.items():
                names += [f"{signal} {check.name}".strip() for check in checks if check.status == status]
            if names:
                lines.append(f"{status.capitalize()}: {', '.join(names)}")
        return "\n".join(lines) + ">"

    def to_dict(self) -> dict[str, Any]:
        """Return facts and checks as plain data."""
        signal_checks = {}
        for name, findings in self.signal_checks.items():
            signal_checks[name] = [finding.to_dict() for finding in findings]
        return {
            "format": "narxbench-look",
            "version": 1,
            "output": self.recording.output if self.has_output else None,
            "inputs": list(self.recording.inputs) if self.has_output else [],
            "sampling_time": self.recording.sampling_time,
            "signals": [_plain_facts(facts) for facts in self.signals],
            "checks": [finding.to_dict() for finding in self.checks],
            "signal_checks": signal_checks,
            "notes": list(self.recording.notes),
        }


def _plain_facts(facts: SignalFacts) -> dict[str, Any]:
    values = asdict(facts)
    if facts.test_range is not None:
        values["test_range"] = list(facts.test_range)
    return values


def look(data: Any = None, output: Any = None, **reading: Any) -> DataLook:
    """Return what measured data are like, and what can be identified from them, before any search.

    ``look("data.csv")`` takes all columns of numbers as signals. With ``output`` (and ``input``) it also looks at the
    effect of the inputs on the output. ``look(X, y)`` takes arrays, frames or series.

    Parameters
    ----------
    data, output, **reading
        As for :func:`narxbench.identify`.

    Returns
    -------
    DataLook
        Facts on each signal, checks, spectra, and what the data can identify.

    Raises
    ------
    NarxbenchError
        For data that cannot be read.

    Examples
    --------
    >>> import narxbench
    >>> u, y = narxbench.load_system("S1").simulate(600, snr_db=40)
    >>> narxbench.look(u, y).signals[0].samples
    600
    """
    if reading.get("input") is None and not (output is None or isinstance(output, str | int)):
        # Where the output is an array, the first argument is the input.
        data, reading = None, {**reading, "input": data}
    if output is not None or data is None:
        return look_at(read_recording(data, **{**reading, "output": output}))
    columns = numeric_columns(data, cast(Reading, reading))
    if reading.get("input") is not None or not columns:
        raise FieldError("output", "missing; needed next to an input, or columns of numbers")
    first, *further = columns
    recording = read_recording(data, **{**reading, "output": first, "input": further or None})
    return look_at(recording, has_output=False)


def look_at(recording: Recording, *, has_output: bool = True) -> DataLook:
    """Return a look at a recording. If no output was chosen, each signal is examined by itself."""
    _refuse_sizes(recording)
    power = spectra(recording)
    facts = signal_facts(recording, power)
    if has_output:
        checks = [*checks_before(recording), *no_test_check(recording.records)]
        return DataLook(recording, facts, tuple(checks), {}, power)
    signal_checks = {}
    for place, signal in enumerate(facts):
        signal_checks[signal.name] = (outlier_check(_as_output(recording, place)),)
    if power:
        power = replace(power, coherences={})
    return DataLook(recording, facts, (), signal_checks, power)


def _refuse_sizes(recording: Recording) -> None:
    """Raise FieldError for signals whose fourth powers, or squares of errors, are too large or small for a number."""
    for size in np.abs(np.concatenate(all_signals(recording.records))).max(axis=0).tolist():
        if size > LARGEST:
            needed = f"needed: units in which they are below {LARGEST:g}"
            raise FieldError("data", f"found values up to {size:.3g}; {needed}")
        if 0.0 < size < SMALLEST:
            needed = f"needed: units in which they are {SMALLEST:g} or more"
            raise FieldError("data", f"found a signal with values up to {size:.3g}; {needed}")


def _as_output(recording: Recording, place: int) -> Recording:
    """Return a recording that has one of the signals alone, as its output."""
    records = []
    for record in recording.records:
        values = record.y if place == 0 else record.u[:, place - 1]
        records.append(replace(record, y=values, u=np.zeros((len(values), 0)), is_missing=None))
    name = [recording.output, *recording.inputs][place]
    return replace(recording, records=tuple(records), inputs=(), output=name)


def signal_facts(recording: Recording, power: Spectra | None) -> tuple[SignalFacts, ...]:
    """Return the facts on all signals, the output first."""
    known_signals = all_signals(recording.known)
    test_signals = all_signals(recording.of_role("test"))
    facts = []
    for place, name in enumerate([recording.output, *recording.inputs]):
        test_range = None
        if test_signals:
            values = np.concatenate([signals[:, place] for signals in test_signals])
            test_range = (float(values.min()), float(values.max()))
        pieces = [signals[:, place] for signals in known_signals]
        reach = power.reach(name) if power else None
        facts.append(_facts_of_signal(name, recording.units.get(name, ""), pieces, reach, test_range))
    return tuple(facts)


def _facts_of_signal(
    name: str, unit: str, pieces: list[Array], reach: float | None, test_range: tuple[float, float] | None
) -> SignalFacts:
    values = np.concatenate(pieces)
    low, high = float(values.min()), float(values.max())
    changes, longest_rest = 0, 1
    third_differences = []
    for piece in pieces:
        moves = np.diff(piece)
        changes += int(np.count_nonzero(moves))
        third_differences.append(np.abs(np.diff(moves, 2)))
        for start, end in runs(moves == 0.0):
            longest_rest = max(longest_rest, end - start + 1)
    noise = _BY_MEAN * float(np.mean(np.concatenate(third_differences))) / _THIRD_DIFFERENCE
    return SignalFacts(
        name=name,
        unit=unit,
        samples=len(values),
        low=low,
        high=high,
        mean=float(values.mean()),
        deviation=float(values.std()),
        levels=len(np.unique(values)),
        at_low=float(np.mean(values == low)),
        at_high=float(np.mean(values == high)),
        changes=changes,
        longest_rest=longest_rest,
        noise=min(noise, float(values.std())),
        reach=reach,
        test_range=test_range,
    )
