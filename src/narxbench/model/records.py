"""Measured data: records of several experiments with one output and any number of inputs."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from narxbench.io.files import sha256

Role = Literal["estimation", "selection", "test"]
ROLES: tuple[Role, ...] = get_args(Role)


@dataclass(frozen=True)
class Record:
    """Evenly sampled data of one experiment, without gaps: no row of a regression spans two records.

    ``name`` says where it comes from: a file and, if that was cut, the samples; ``u`` has the shape (samples, inputs);
    without a ``role`` estimation and selection share it.
    """

    name: str
    u: NDArray[np.float64]
    y: NDArray[np.float64]
    role: Role | None = None

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.y)

    def part(self, start: int, end: int, role: Role | None = None) -> "Record":
        """Return the samples from ``start`` to before ``end`` as a record, by default of the same role."""
        name = f"{self.name}, samples {start + 1} to {end}"
        return replace(self, name=name, u=self.u[start:end], y=self.y[start:end], role=role or self.role)

    def phase(self, first: int, decimation: int) -> "Record":
        """Return every ``decimation``-th sample from ``first`` on as a record."""
        return replace(self, u=self.u[first::decimation], y=self.y[first::decimation])


@dataclass(frozen=True)
class Recording:
    """The records that a model is identified from and tested on.

    ``inputs`` are named in the order of the columns of ``u``; ``sampling_time`` is in seconds, and ``units`` are by
    name, where they are known. ``notes`` say in whole sentences what a reader should know of how the data were read:
    gaps, cuts, columns that were left out.
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
        """The records that may be looked at before a test: all but those of role test."""
        return tuple(record for record in self.records if record.role != "test")

    @property
    def digest(self) -> str:
        """SHA-256 of names, roles and samples, 64 hexadecimal digits."""
        parts = [repr((self.inputs, self.output)).encode()]
        for record in self.records:
            parts += [repr((record.role, record.u.shape)).encode(), record.u.tobytes(), record.y.tobytes()]
        return sha256(b"".join(parts))
