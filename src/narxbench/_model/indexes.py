"""Indexes of pandas that continue after a record. pandas is imported only if a signal has such an index."""

from typing import Any

import numpy as np

from narxbench._io.errors import NarxbenchError, printable

# Steps may differ by this part of a step.
UNEVEN = 0.01
# Kinds of NumPy's types that can be subtracted from those of a kind.
_ALIKE = {"i": "iuf", "u": "iuf", "f": "iuf", "M": "M", "m": "m"}


def index_of(signal: Any) -> Any:
    """Return the index of a frame or series of pandas, None for anything else."""
    return signal.index if hasattr(signal, "iloc") else None


def common_index(u: Any, y: Any) -> Any:
    """Return the index of inputs and output, or None if neither has one.

    Raises
    ------
    NarxbenchError
        If they have different ones.
    """
    of_inputs, of_output = index_of(u), index_of(y)
    if of_inputs is None or of_output is None:
        return of_output if of_inputs is None else of_inputs
    if not of_inputs.equals(of_output):
        finding = f"found the indexes {_ends(of_inputs)} and {_ends(of_output)}"
        raise NarxbenchError(f"u and y: {finding}; needed: the same samples in the same order")
    return of_output


def following_index(record: Any, future: Any, samples: int) -> Any:
    """Return the index of the samples that follow a record, or None if neither it nor the future has an index.

    Parameters
    ----------
    record : index or None
        The index of the record.
    future : index or None
        The index of at most as many samples after the record. One that counts from 0 is ignored.
    samples : int
        The number of samples that follow.

    Raises
    ------
    NarxbenchError
        If the future does not begin one step after the end of the record.
    """
    if record is None:
        return None if future is None or len(future) < samples else future[:samples]
    continued = continued_index(record, samples)
    if future is None or _counts_from_zero(future):
        return continued
    n_shared = min(samples, len(future))
    if not _are_close(continued[:n_shared], future[:n_shared], record):
        finding = f"found the index {_ends(future[:n_shared])} after a record that ends at {_shown(record[-1])}"
        raise NarxbenchError(f"u_future: {finding}; needed: {_ends(continued[:n_shared])}, without a gap")
    return continued


def continued_index(index: Any, samples: int) -> Any:
    """Return the index of this many samples after an index, in steps of its last samples.

    Raises
    ------
    NarxbenchError
        If the index does not continue evenly.
    """
    import pandas as pd

    if _counts_from_zero(index):
        return pd.RangeIndex(len(index), len(index) + samples, name=index.name)
    if isinstance(index, pd.PeriodIndex):
        return pd.period_range(index[-1] + 1, periods=samples, freq=index.freq, name=index.name)
    if isinstance(index, pd.DatetimeIndex):
        frequency = index.freq
        if frequency is None and len(index) > 2:
            frequency = pd.DatetimeIndex(index, freq="infer").freq
        if frequency is not None:
            return pd.date_range(index[-1], periods=samples + 1, freq=frequency, name=index.name)[1:]
    step = _step_of(index)
    return pd.Index([index[-1] + step * number for number in range(1, samples + 1)], name=index.name)


def _step_of(index: Any) -> Any:
    """Return the step of an index of numbers or times, which is even."""
    if len(index) < 2 or index.dtype.kind not in "iufMm":
        finding = f"found an index of type {index.dtype} with {len(index)} entries"
        raise NarxbenchError(f"y: {finding}; needed: times or numbers in even steps, to go on with")
    steps = np.diff(index.asi8 if index.dtype.kind in "Mm" else np.asarray(index))
    uneven = np.flatnonzero(~(np.abs(steps - steps[-1]) <= UNEVEN * abs(steps[-1])))
    if len(uneven):
        entries = f"{_shown(index[uneven[-1]])}, {_shown(index[uneven[-1] + 1])}"
        finding = f"found the index {entries}, where others are {_shown(index[-1] - index[-2])} apart"
        raise NarxbenchError(f"y: {finding}; allowed: even steps; the record after the last gap can be given alone")
    return index[-1] - index[-2]


def first_gap(index: Any) -> int | None:
    """Return the place before the first step of an index that differs from the median step by half of it or more.

    None: there is none, or the index has neither numbers nor times.
    """
    has_times = hasattr(index, "asi8")
    if len(index) < 3 or not (has_times or index.dtype.kind in "iuf"):
        return None
    steps = np.diff(index.asi8 if has_times else np.asarray(index))
    usual = np.median(steps)
    # Months are not equally long, but each is nearer to one month than to none or two.
    uneven = np.flatnonzero(~(2 * np.abs(steps - usual) < abs(usual)))
    return int(uneven[0]) if len(uneven) else None


def _counts_from_zero(index: Any) -> bool:
    import pandas as pd

    return isinstance(index, pd.RangeIndex) and index.start == 0 and index.step == 1


def _are_close(expected: Any, found: Any, record: Any) -> bool:
    """Return whether indexes agree within a small part of a step of the record."""
    has_steps = expected.dtype.kind in "iufMm" and len(record) > 1
    has_zones_alike = (getattr(expected, "tz", None) is None) == (getattr(found, "tz", None) is None)
    if not has_steps or found.dtype.kind not in _ALIKE[expected.dtype.kind] or not has_zones_alike:
        return bool((expected == found).all())
    tolerance = UNEVEN * abs(record[-1] - record[-2])
    return bool((abs(expected - found) <= tolerance).all())


def _ends(index: Any) -> str:
    return f"{_shown(index[0])} to {_shown(index[-1])}"


def _shown(entry: Any) -> str:
    return printable(str(entry))
