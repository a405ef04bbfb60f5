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
    """Evenly sampled data of one experiment, without gaps: no row of a regression spans two records.

    Attributes
    ----------
    name : str
        Where the record comes from: a file and, if only a part of it was taken, the samples.
    u : array of float, shape (samples, inputs)
        The inputs.
    y : array of float, shape (samples,)
        The output.
    role : {"estimation", "selection", "test"}, optional
        Use of the record; None: estimation and selection share it.
    index : index of pandas, optional
        The times of the samples, if they are known.
    """

    name: str
    u: NDArray[np.float64]
    y: NDArray[np.float64]
    role: Role | None = None
    index: Any = None

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.y)

    def part(self, start: int, end: int, role: Role | None = None) -> "Record":
        """Return the samples from ``start`` to before ``end`` as a record, by default of the same role."""
        name = f"{self.name}, samples {start + 1} to {end}"
        index = None if self.index is None else self.index[start:end]
        return replace(self, name=name, u=self.u[start:end], y=self.y[start:end], role=role or self.role, index=index)

    def phase(self, first: int, decimation: int) -> "Record":
        """Return every ``decimation``-th sample, starting with ``first``, as a record."""
        index = None if self.index is None else self.index[first::decimation]
        return replace(self, u=self.u[first::decimation], y=self.y[first::decimation], index=index)


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
        """SHA-256 digest of signal names, roles and samples, as 64 hexadecimal digits."""
        parts = [repr((self.inputs, self.output)).encode()]
        for record in self.records:
            parts += [repr((record.role, record.u.shape)).encode(), record.u.tobytes(), record.y.tobytes()]
        return sha256(b"".join(parts))
