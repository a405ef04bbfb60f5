"""Data as a user shows them to `narxbench.look`: their records, and findings of the checks by name."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from tests.lookups import item_with

import narxbench
from narxbench import DataLook, NarxbenchError

# Two inputs and an output that files and frames have.
N = 50
U = np.round(np.sin(np.arange(2.0 * N)), 5).reshape(N, 2)
Y = np.round(np.cos(np.arange(N) ** 1.5), 5)


def read(data: Any = None, **arguments: Any) -> Any:
    """Return the recording of data."""
    return narxbench.look(data, **arguments).recording


def notes(recording: Any) -> str:
    """Return the notes of a recording as one text."""
    return " ".join(recording.notes)


def check_signals(recording: Any, sampling_time: float | None, *words: str) -> None:
    """Check that a recording is one record of these inputs and this output, whose notes have these words."""
    (record,) = recording.records
    assert (record.u.tobytes(), record.y.tobytes()) == (U.tobytes(), Y.tobytes())
    assert recording.sampling_time == sampling_time
    for text in words:
        assert text in notes(recording)


def check_refused(message: str, data: Any = None, **arguments: Any) -> None:
    """Check that data are refused with a message that this pattern matches."""
    with pytest.raises(NarxbenchError, match=message):
        read(data, **arguments)


def lengths(recording: Any) -> list[int]:
    """Return the number of samples of each record."""
    return list(map(len, recording.records))


def look(*pairs: tuple[Any, Any], **arguments: Any) -> DataLook:
    """Look at records (u, y), whose inputs are called a, b, c and whose output is called out."""
    frames = []
    for u, y in pairs:
        signals = dict(zip("abc", np.reshape(u, (len(y), -1)).T, strict=False))
        frames.append({**signals, "out": y})
    return narxbench.look(frames, "out", input=list(signals) or None, **arguments)


def finding(name: str, *pairs: tuple[Any, Any], **arguments: Any) -> Any:
    """Return the finding of a name on records (u, y)."""
    return item_with(look(*pairs, **arguments).checks, name=name)


def values_of(name: str, *pairs: tuple[Any, Any], **arguments: Any) -> Mapping[str, Any]:
    """Return the values of the finding of a name on records (u, y)."""
    values: Mapping[str, Any] = finding(name, *pairs, **arguments).values
    return values


def nothing(samples: int) -> Any:
    """Return the inputs of a record without any."""
    return np.empty((samples, 0))
