"""The tables on the page of a model."""

from collections.abc import Callable, Mapping
from typing import Any

from narxbench._identification.phrases import capital, prediction_kind
from narxbench._identification.result import Identification
from narxbench._identification.validation import error_table
from narxbench._model.records import ROLES
from narxbench._report.formats import MISSING, fixed, probability, shortened
from narxbench._report.table import Table, columns

# The models that are compared, and what a reader calls them.
_COMPARED = {
    error_table.MODEL: "this model",
    error_table.ARX: error_table.ARX,
    error_table.LAST_VALUE: error_table.LAST_VALUE,
}
_DATA = {"test": "the test data", "selection": "the selection data"}


def model_tables(identification: Identification) -> list[Table]:
    """Return the tables on the page of a model."""
    return [_fit_table(identification), _weights_table(identification)]


def _fit_table(identification: Identification) -> Table:
    """Return the figures of the first screen: the model next to simpler ones."""
    frame = identification.validation
    steps = identification.steps_judged
    present = set(frame["role"])
    # The role whose figures say most of new data.
    role = next((role for role in reversed(ROLES) if role in present), "estimation")
    head, rows = (*columns(model="Prediction by"), *columns("text", rrse="RRSE", fit="fit")), []
    for name, title in _COMPARED.items():
        place = {"role": role, "record": error_table.ALL, "model": name, "steps": steps}
        rows.append([title, *_rrse_and_fit(error_table.row_at(frame, **place, sampling=error_table.INCOMING))])
    data = _DATA.get(role, "the data it was estimated from")
    return Table.of("fit_figures", f"{capital(prediction_kind(steps))} on {data}", head, rows)


def _rrse_and_fit(row: Mapping[str, Any] | None) -> tuple[str, str]:
    if row is None or row["rrse"] is None:
        return "diverges" if row is not None and row["diverged"] else MISSING, MISSING
    return _number(row["rrse"], 3), f"{fixed(row['fit_percent'], 1)} %"


def _weights_table(identification: Identification) -> Table:
    head = (
        *columns("equation", term="Term"),
        *columns(coefficient="Coefficient", error="± standard error", probability="Probability"),
    )
    rows = []
    for row in identification.weights:
        value = identification.probabilities.get(row["term"])
        cells = [row["term"], _number(row["coefficient"]), _number(row["standard_error"], 2)]
        rows.append([*cells, _or_missing(value, probability)])
    return Table.of("weights", "Terms", head, rows)


def _or_missing(value: float | None, shown: Callable[[float], str]) -> str:
    """Return a value as it is shown, or the mark of one that is missing."""
    return MISSING if value is None else shown(value)


def _number(value: float | None, digits: int = 4) -> str:
    """Return a number with some significant digits, large and tiny ones as powers of ten that a table can sort."""
    if value is None:
        return MISSING
    return shortened(value, digits)
