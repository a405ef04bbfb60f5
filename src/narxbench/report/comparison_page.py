"""Several models on the same data: their errors and their free runs on a page."""

from collections.abc import Mapping
from typing import Any, Unpack

from narxbench.identification.data.reading import Reading
from narxbench.io.errors import printable
from narxbench.io.files import StrPath, write_atomically
from narxbench.model.narx import Model
from narxbench.report import model_figures as drawn
from narxbench.report.comparison import cells, prepared
from narxbench.report.markup import inline_svg
from narxbench.report.table import Table, columns, to_html
from narxbench.report.templating import rendered


def write_comparison(models: Mapping[str, Model], path: StrPath, data: Any = None, **reading: Unpack[Reading]) -> None:
    """Write a page with the errors of several models on the same data, and their free runs over the longest record.

    Parameters
    ----------
    models, data, **reading
        As for :func:`compare`.
    path : path
        The page, which needs no other file.

    Raises
    ------
    NarxbenchError
        As :func:`compare`, and where the page cannot be written.
    """
    compared, any_model = prepared(models, data, reading), next(iter(models.values()))
    # One that diverges has no line; the table says so.
    table, (record, runs) = compared.errors(models), compared.longest(models)
    axis, output = drawn.time_axis(any_model.sampling_time), drawn.signal_label(any_model.output, any_model.units)
    head = (
        *columns("text", model="Model"),
        *columns(terms="Terms", decimation="Decimation"),
        *columns(group="Free run", free_run_rmse="RMSE", free_run_rrse="RRSE"),
        *columns(group="One step ahead", one_step_rmse="RMSE", one_step_rrse="RRSE"),
    )
    rows = [
        [printable(row["model"]), *(str(row[key]) for key in ("terms", "decimation")), *cells(row, "diverges", "–")]
        for row in table.to_dict("records")
    ]
    shown = Table.of("compared", f"Errors on {table['samples'].iloc[0]} samples, the same for all", head, rows)
    page = {
        **{"current": "compared", "titles": {"compared": "Comparison"}, "links": {"compared": "#main"}},
        **{"repository": "", "study": "", "output": any_model.output, "unit": any_model.units.get(any_model.output)},
        "table": to_html(shown),
        "figure": inline_svg(drawn.comparison_figure(record.y, runs, compared.first, axis, output), "runs"),
        "record": printable(record.name),
        "equations": {printable(name): model.equation() for name, model in models.items()},
        "known": [printable(row["model"]) for row in table.to_dict("records") if row["known"]],
    }
    write_atomically(path, rendered("comparison.html.j2", page))
