"""Several models on the same data: their errors and their free runs on a page."""

from collections.abc import Mapping
from typing import Any, Unpack

from narxbench._identification.data.reading import Reading
from narxbench._io.errors import printable
from narxbench._io.files import StrPath, write_atomically
from narxbench._model.narx import Model
from narxbench._report import model_figures
from narxbench._report.comparison import cells, models_of_the_data, prepare_comparison
from narxbench._report.markup import inline_svg
from narxbench._report.table import Table, columns
from narxbench._report.templating import rendered, to_html


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

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> fast = Model(("y(k-1)", "u(k-1)"), (0.5, 1.0), ("u",), "y")
    >>> slow = Model(("y(k-1)", "u(k-1)"), (0.9, 0.2), ("u",), "y")
    >>> u = [1.0, -1.0, 2.0, 0.0, 1.0, 3.0, -2.0, 1.0, 0.0, 2.0]
    >>> with TemporaryDirectory() as folder:
    ...     page = Path(folder, "comparison.html")
    ...     write_comparison({"fast": fast, "slow": slow}, page, input=u, output=fast.predict(u, [0.0]))
    ...     page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    True
    """
    comparison = prepare_comparison(models, data, reading)
    table = comparison.errors(models)
    # A model that diverges is only in the table.
    record, runs = comparison.longest(models)
    any_model = next(iter(models.values()))
    axis = model_figures.time_axis(any_model.sampling_time)
    output = model_figures.signal_label(any_model.output, any_model.units)
    figure = model_figures.comparison_figure(record.y, runs, comparison.first, axis, output)
    head = (
        *columns("text", model="Model"),
        *columns(terms="Terms", decimation="Decimation"),
        *columns(group="Free run", free_run_rmse="RMSE", free_run_rrse="RRSE"),
        *columns(group="One step ahead", one_step_rmse="RMSE", one_step_rrse="RRSE"),
    )
    rows = []
    for row in table.to_dict("records"):
        rows.append([printable(row["model"]), str(row["terms"]), str(row["decimation"]), *cells(row, "diverges", "–")])
    caption = f"Errors on {table['samples'].iloc[0]} samples, the same for all"
    page = {
        "current": "compared",
        "titles": {"compared": "Comparison"},
        "links": {"compared": "#main"},
        "repository": "",
        "study": "",
        "output": any_model.output,
        "unit": any_model.units.get(any_model.output),
        "table": to_html(Table.of("compared", caption, head, rows)),
        "figure": inline_svg(figure, "runs"),
        "record": printable(record.name),
        "equations": {printable(name): model.equation() for name, model in models.items()},
        "known": models_of_the_data(table),
    }
    write_atomically(path, rendered("comparison.html.j2", page), durable=True)
