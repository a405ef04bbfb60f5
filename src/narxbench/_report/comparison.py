"""Several models on the same data: their errors in a table."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from narxbench._identification.data.model_data import inputs_of, read_for_models
from narxbench._identification.data.reading import Reading
from narxbench._io.errors import FieldError, NarxbenchError, printable
from narxbench._model.narx import DivergedError, Model, scores
from narxbench._model.records import Record
from narxbench._numerics.rounding import significant

Floats = NDArray[np.float64]
KINDS = {"free_run": None, "one_step": 1}


def compare(models: Mapping[str, Model], data: Any = None, **reading: Unpack[Reading]) -> pd.DataFrame:
    """Return how well models predict the same samples of the same data.

    Parameters
    ----------
    models : mapping of str to Model
        The models by name. All have the same output, and each takes the inputs that it names.
    data : path, DataFrame, mapping of str to array, a list of these, or None
        As for :func:`narxbench.identify`, or None if ``input`` and ``output`` are arrays. All samples count, whatever
        their role.
    **reading
        The arguments of :func:`narxbench._identification.data.reading.read_recording`. ``input`` and ``output`` are by
        default the columns that the models name. Inputs that are given are in the order in which the models first name
        them.

    Returns
    -------
    DataFrame
        One row for each model: ``model``, ``terms`` and ``decimation`` (their numbers), ``samples`` scored, ``rmse``
        (in the unit of the output) and ``rrse`` of ``free_run`` and of ``one_step`` of the model, None where they
        diverge, ``diverged`` (the kinds that do), and ``known``: whether the model was made from these very data.
        Scoring begins in every record after as many samples as the model with the largest lag needs.

    Raises
    ------
    NarxbenchError
        For data that cannot be read or do not fit, also by their sampling time and units, no models, and models of
        different outputs.

    Examples
    --------
    >>> true = Model(("y(k-1)", "u(k-1)"), (0.5, 1.0), ("u",), "y")
    >>> u = [1.0, -1.0, 2.0, 0.0, 1.0, 3.0, -2.0, 1.0, 0.0, 2.0]
    >>> biased = Model(("y(k-1)", "u(k-1)"), (0.5, 0.9), ("u",), "y")
    >>> table = compare({"true": true, "biased": biased}, input=u, output=true.predict(u, [0.0]))
    >>> table[["model", "free_run_rrse"]].to_dict("records")
    [{'model': 'true', 'free_run_rrse': 0.0}, {'model': 'biased', 'free_run_rrse': 0.1...}]
    """
    return prepare_comparison(models, data, reading).errors(models)


class ComparisonData(NamedTuple):
    """The data that models are compared on: the inputs of all models, and the first sample that counts."""

    records: list[Record]
    inputs: list[str]
    first: int
    digest: str

    def run(self, model: Model, record: Record, steps: int | None = None) -> Floats | None:
        """Return the prediction of a record, or None if it diverges."""
        columns = list(map(self.inputs.index, model.inputs))
        y = record.measured(model.initial_samples)
        try:
            return model.predict(record.u[:, columns], y, steps, samples=len(record))
        except DivergedError:
            return None

    def errors(self, models: Mapping[str, Model]) -> pd.DataFrame:
        """Return the table of :func:`compare`."""
        measured = self._scored([record.y for record in self.records])
        rows = []
        for name, model in models.items():
            row: dict[str, Any] = {
                "model": name,
                "terms": len(model.terms),
                "decimation": model.decimation,
                "samples": len(measured),
            }
            for kind, steps in KINDS.items():
                row[f"{kind}_rmse"], row[f"{kind}_rrse"] = self._errors(model, steps, measured)
            row["diverged"] = [kind for kind in KINDS if row[f"{kind}_rmse"] is None]
            row["known"] = model.data_digest == self.digest
            rows.append(row)
        return pd.DataFrame(rows, dtype=object)

    def _scored(self, series: Sequence[Floats]) -> Floats:
        """Return the values of a series in each record at the samples that are scored, which all were measured."""
        parts = []
        for values, record in zip(series, self.records, strict=True):
            parts.append(values[self.first :][record.is_measured[self.first :]])
        return np.concatenate(parts)

    def _errors(self, model: Model, steps: int | None, measured: Floats) -> tuple[float | None, float | None]:
        """Return RMSE and RRSE over all records together, or None for both if a prediction diverges."""
        parts = []
        for record in self.records:
            prediction = self.run(model, record, steps)
            if prediction is None:
                return None, None
            parts.append(prediction)
        predicted = self._scored(parts)
        squares = math.fsum(error * error for error in (measured - predicted).tolist())
        rmse = significant(math.sqrt(squares / len(measured)))
        rrse = scores(measured, predicted).rrse
        return rmse, None if rrse is None else significant(rrse)

    def longest(self, models: Mapping[str, Model]) -> tuple[Record, dict[str, Floats]]:
        """Return the longest record, and the free runs over it of the models that do not diverge."""
        record = max(self.records, key=len)
        runs = {}
        for name, model in models.items():
            run = self.run(model, record)
            if run is not None:
                runs[name] = run
        return record, runs


def prepare_comparison(models: Mapping[str, Model], data: Any, reading: Reading) -> ComparisonData:
    """Return the data that models are compared on, with the arguments and errors of :func:`compare`."""
    outputs = list(dict.fromkeys(model.output for model in models.values()))
    if len(outputs) != 1:
        names = printable(", ".join(outputs)) or "no models"
        raise NarxbenchError(f"models: found {names}; needed: at least one model, all of the same output")
    recording = read_for_models(list(models.values()), data, reading)
    first = max(model.initial_samples for model in models.values())
    records = [record for record in recording.records if len(record) > first]
    if not records:
        raise FieldError("data", f"found no record of more than {first} samples, the largest lag of the models")
    return ComparisonData(records, inputs_of(models.values()), first, recording.digest)


def cells(row: Mapping[Any, Any], diverges: str, undefined: str) -> list[str]:
    """Return the errors of a row of :func:`compare` as text, with words for a divergent run and an undefined RRSE."""
    texts = []
    for kind in KINDS:
        for error, missing in ((row[f"{kind}_rmse"], diverges), (row[f"{kind}_rrse"], undefined)):
            texts.append(missing if error is None else f"{error:.4g}")
    return texts


def as_text(table: pd.DataFrame) -> str:
    """Return the table of :func:`compare` as text for a terminal."""
    heads = ("model", "terms", "decimation", "free run RMSE", "RRSE", "one step RMSE", "RRSE")
    rows: list[Sequence[str]] = [heads]
    for row in table.to_dict("records"):
        rows.append([printable(row["model"]), str(row["terms"]), str(row["decimation"]), *cells(row, "diverges", "-")])
    name_width, *widths = (max(map(len, column)) for column in zip(*rows, strict=True))
    lines = []
    for name, *values in rows:
        lines.append("  ".join([name.ljust(name_width), *map(str.rjust, values, widths)]))
    lines.append(f"{table['samples'].iloc[0]} samples, the same for all; RMSE in the unit of the output.")
    fitted = models_of_the_data(table)
    if fitted:
        lines.append(f"Made from these very data, so no test: {', '.join(fitted)}.")
    return "\n".join(lines)


def models_of_the_data(table: pd.DataFrame) -> list[str]:
    """Return the models of a table of :func:`compare` that were made from its data, as readers see their names."""
    return list(map(printable, table.loc[table["known"].astype(bool), "model"]))
