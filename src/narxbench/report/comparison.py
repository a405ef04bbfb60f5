"""Several models on the same data: their errors in a table."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from narxbench.identification.data.reading import Reading, read_recording
from narxbench.io.errors import FieldError, NarxbenchError, printable
from narxbench.model.narx import DivergedError, Model, scores
from narxbench.model.records import Record
from narxbench.numerics.rounding import significant

Floats = NDArray[np.float64]
KINDS = {"free_run": None, "one_step": 1}


def compare(models: Mapping[str, Model], data: Any = None, **reading: Unpack[Reading]) -> pd.DataFrame:
    """Return how well models predict the same samples of the same data.

    Parameters
    ----------
    models : mapping of str to Model
        The models by a name for each; their output is the same, and each takes the inputs that it names.
    data : path, DataFrame, mapping of str to array, a list of these, or None
        As for :func:`narxbench.identify`; None: ``input`` and ``output`` are arrays. All samples count, whatever their
        role.
    **reading
        What :func:`narxbench.identification.data.reading.read_recording` takes. ``input`` and ``output`` are by default
        the columns that the models name; else they are in the order in which the models first name them.

    Returns
    -------
    DataFrame
        One row for each model: ``model``, ``terms`` and ``decimation`` (their numbers), ``samples`` scored, ``rmse``
        (in the unit of the output) and ``rrse`` of ``free_run`` and of ``one_step`` of the model, None where they
        diverge, ``diverged`` (the kinds that do), and ``known``: whether the model was made from these very data.
        Every record is scored from the largest number of initial samples that a model needs.

    Raises
    ------
    NarxbenchError
        For data that cannot be read or do not fit, no models, and models of different outputs.

    Examples
    --------
    >>> made = Model(("y(k-1)", "u(k-1)"), (0.5, 1.0), ("u",), "y")
    >>> u = [1.0, -1.0, 2.0, 0.0, 1.0, 3.0, -2.0, 1.0, 0.0, 2.0]
    >>> other = Model(("y(k-1)", "u(k-1)"), (0.5, 0.9), ("u",), "y")
    >>> found = compare({"made": made, "other": other}, input=u, output=made.predict(u, [0.0]))
    >>> found[["model", "free_run_rrse"]].to_dict("records")
    [{'model': 'made', 'free_run_rrse': 0.0}, {'model': 'other', 'free_run_rrse': 0.1...}]
    """
    return prepared(models, data, reading).errors(models)


class Compared(NamedTuple):
    """The data that models are compared on: the inputs of all models, and from which sample on they count."""

    records: list[Record]
    inputs: list[str]
    first: int
    digest: str

    def run(self, model: Model, record: Record, steps: int | None = None) -> Floats | None:
        """Return the prediction of a record; None where it diverges."""
        own = [self.inputs.index(signal) for signal in model.inputs]
        try:
            return model.predict(record.u[:, own], record.y, steps, samples=len(record))
        except DivergedError:
            return None

    def errors(self, models: Mapping[str, Model]) -> pd.DataFrame:
        """Return the table of :func:`compare`."""
        measured = np.concatenate([record.y[self.first :] for record in self.records])
        rows = []
        for name, model in models.items():
            row: dict[str, Any] = {
                "model": name,
                "terms": len(model.terms),
                "decimation": model.decimation,
                "samples": len(measured),
            }
            for kind, steps in KINDS.items():
                runs = [self.run(model, record, steps) for record in self.records]
                kept = [run[self.first :] for run in runs if run is not None]
                # Both are of all records together; None where a prediction diverges.
                row |= dict.fromkeys((f"{kind}_rmse", f"{kind}_rrse"))
                if len(kept) == len(runs):
                    squares = math.fsum(error * error for error in (measured - np.concatenate(kept)).tolist())
                    rrse = scores(measured, np.concatenate(kept)).rrse
                    row[f"{kind}_rmse"] = significant(math.sqrt(squares / len(measured)))
                    row[f"{kind}_rrse"] = None if rrse is None else significant(rrse)
            diverged = [kind for kind in KINDS if row[f"{kind}_rmse"] is None]
            rows.append(row | {"diverged": diverged, "known": model.data_digest == self.digest})
        return pd.DataFrame(rows, dtype=object)

    def longest(self, models: Mapping[str, Model]) -> tuple[Record, dict[str, Floats]]:
        """Return the longest record, and the free runs over it of the models that do not diverge."""
        record = max(self.records, key=len)
        runs = {name: self.run(model, record) for name, model in models.items()}
        return record, {name: run for name, run in runs.items() if run is not None}


def prepared(models: Mapping[str, Model], data: Any, reading: Reading) -> Compared:
    """Return the data that models are compared on; arguments and errors are those of :func:`compare`."""
    outputs = list(dict.fromkeys(model.output for model in models.values()))
    if len(outputs) != 1:
        found = printable(", ".join(outputs)) or "no models"
        raise NarxbenchError(f"models: found {found}; needed: at least one model, all of the same output")
    inputs = list(dict.fromkeys(name for model in models.values() for name in model.inputs))
    if data is not None:
        reading = {"output": outputs[0], "input": inputs or None, **reading}
    recording = read_recording(data, **reading)
    if len(recording.inputs) != len(inputs):
        found = f"found {len(recording.inputs)}; needed: {len(inputs)}, for {printable(', '.join(inputs)) or 'none'}"
        raise FieldError("input", found)
    first = max(model.initial_samples for model in models.values())
    records = [record for record in recording.records if len(record) > first]
    if not records:
        raise FieldError("data", f"found no record of more than {first} samples, the largest lag of the models")
    return Compared(records, inputs, first, recording.digest)


def cells(row: Mapping[Any, Any], diverges: str, undefined: str) -> list[str]:
    """Return the errors of a row of :func:`compare` as text."""
    found = []
    for kind in KINDS:
        rmse, rrse = row[f"{kind}_rmse"], row[f"{kind}_rrse"]
        found += [diverges if rmse is None else f"{rmse:.4g}", undefined if rrse is None else f"{rrse:.4g}"]
    return found


def as_text(table: pd.DataFrame) -> str:
    """Return the table of :func:`compare` as text for a terminal."""
    heads = ("model", "terms", "decimation", "free run RMSE", "RRSE", "one step RMSE", "RRSE")
    rows: list[Sequence[str]] = [heads]
    for row in table.to_dict("records"):
        counted = [printable(row["model"]), str(row["terms"]), str(row["decimation"])]
        rows.append([*counted, *cells(row, "diverges", "-")])
    first, *widths = (max(map(len, column)) for column in zip(*rows, strict=True))
    lines = [
        "  ".join([name.ljust(first), *(cell.rjust(width) for cell, width in zip(others, widths, strict=True))])
        for name, *others in rows
    ]
    lines.append(f"{table['samples'].iloc[0]} samples, the same for all; RMSE in the unit of the output.")
    if known := [printable(row["model"]) for row in table.to_dict("records") if row["known"]]:
        lines.append(f"Made from these very data, so no test: {', '.join(known)}.")
    return "\n".join(lines)
