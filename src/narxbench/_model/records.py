"""Measured data: records of several experiments with one output and any number of inputs."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from narxbench._io.files import sha256

Role = Literal["estimation", "selection", "test"]
ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True)
class Record:
    """Evenly sampled data of one experiment. A row of a regression never spans two records.

    Attributes
    ----------
    name : str
        Where the record comes from: a file and, if only a part of it was taken, the samples.
    u : array of float, shape (samples, inputs)
        The inputs.
    y : array of float, shape (samples,)
        The output.
    role : {"estimation", "selection", "test"}, optional
        The use of the record. None: estimation and selection share it.
    index : index of pandas, optional
        The times of the samples, if they are known.
    is_missing : array of bool, shape (samples,), optional
        Which outputs were not measured, and are replaced in ``y``. None: all were measured.
    """

    name: str
    u: NDArray[np.float64]
    y: NDArray[np.float64]
    role: Role | None = None
    index: Any = None
    is_missing: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        if self.is_missing is not None and not self.is_missing.any():
            object.__setattr__(self, "is_missing", None)

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.y)

    @property
    def is_measured(self) -> NDArray[np.bool_]:
        """Which outputs were measured."""
        return np.ones(len(self), np.bool_) if self.is_missing is None else ~self.is_missing

    def measured(self, n_first: int = 0) -> NDArray[np.float64]:
        """Return the outputs, NaN where they were not measured, except the first ``n_first``, which a run needs."""
        if self.is_missing is None:
            return self.y
        return np.where(self.is_missing & (np.arange(len(self)) >= n_first), np.nan, self.y)

    def part(self, start: int, end: int, role: Role | None = None) -> "Record":
        """Return the samples from ``start`` to before ``end`` as a record, by default of the same role."""
        name = f"{self.name}, samples {start + 1} to {end}"
        return replace(self._at(slice(start, end)), name=name, role=role or self.role)

    def phase(self, first: int, decimation: int) -> "Record":
        """Return every ``decimation``-th sample, starting with ``first``, as a record."""
        return self._at(slice(first, None, decimation))

    def _at(self, samples: slice) -> "Record":
        """Return some samples as a record."""
        index = None if self.index is None else self.index[samples]
        is_missing = None if self.is_missing is None else self.is_missing[samples]
        return replace(self, u=self.u[samples], y=self.y[samples], index=index, is_missing=is_missing)


@dataclass(frozen=True)
class Recording:
    """The records that a model is identified from and tested on.

    Attributes
    ----------
    records : tuple of Record
        The experiments.
    inputs : tuple of str
        Names of the inputs, in the order of the columns of ``u``.
    output : str
        Name of the output.
    sampling_time : float, optional
        Seconds between samples, if known.
    units : dict of str to str
        Units of signals by name, where they are known.
    notes : tuple of str
        Whole sentences that tell a reader how the data were read: gaps, cuts, columns that were left out.
    """

    records: tuple[Record, ...]
    inputs: tuple[str, ...]
    output: str
    sampling_time: float | None = None
    units: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def of_role(self, *roles: Role | None) -> Iterator[Record]:
        """Yield the records of some roles in order."""
        return (record for record in self.records if record.role in roles)

    @property
    def known(self) -> tuple[Record, ...]:
        """The records that may be used before the test: all records except those with the role test."""
        return tuple(record for record in self.records if record.role != "test")

    @property
    def digest(self) -> str:
        """SHA-256 digest of signal names, roles and measured samples, as 64 hexadecimal digits."""
        parts = [repr((self.inputs, self.output)).encode()]
        for record in self.records:
            parts += [repr((record.role, record.u.shape)).encode(), record.u.tobytes(), record.measured().tobytes()]
        return sha256(b"".join(parts))
