"""Models of several outputs that run together: their page with its files."""

from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from narxbench._identification.joint import JointIdentification, signals_of
from narxbench._io.errors import printable
from narxbench._io.files import StrPath, canonical_json, numbered_folder, write_folder
from narxbench._model.joint import JointModel
from narxbench._model.narx import DivergedError
from narxbench._report import model_figures
from narxbench._report.joint_summary import KIND_TITLES, ROLE_TITLES, shown_error
from narxbench._report.marked_findings import MARKS, worded
from narxbench._report.markup import inline_svg
from narxbench._report.model_page import write_report
from narxbench._report.table import Table, columns
from narxbench._report.templating import rendered, to_html

_PAGE = "report.html"
_EXPORTS = {"c": "model.c", "python": "model.py", "matlab": "model.m"}


def write_joint_report(identification: JointIdentification, folder: StrPath) -> Path:
    """Write the page of joint models, the model, its programs and all numbers, and a folder for each output.

    Raises
    ------
    NarxbenchError
        If a file cannot be written.
    """
    model = identification.model
    folder_by_output = {output: numbered_folder(number, output) for number, output in enumerate(model.outputs, 1)}
    for output, result in identification.identifications.items():
        write_report(result, Path(folder, folder_by_output[output]))
    files = {
        "model.json": canonical_json(model.to_dict(), indent=1),
        "identification.json": canonical_json(identification.to_dict(), indent=1),
        _PAGE: _joint_page(identification, folder_by_output),
    }
    for language, file in _EXPORTS.items():
        files[file] = model.export(language)
    write_folder(folder, files, last=_PAGE)
    return Path(folder, _PAGE)


def _joint_page(identification: JointIdentification, folder_by_output: dict[str, str]) -> str:
    """Return the page of joint models: one file, with links to the pages of the outputs."""
    model = identification.model
    record_name, figures = _figures(identification)
    rows = []
    for role in dict.fromkeys(identification.errors["role"]):
        errors = {kind: identification.rrse(kind, role) for kind in KIND_TITLES}
        for output in model.outputs:
            rows.append(
                [ROLE_TITLES[role], printable(output), *(shown_error(errors[kind][output]) for kind in KIND_TITLES)]
            )
    head = (
        *columns("text", role="Data", output="Output"),
        *columns(
            group="RRSE of the joint free run",
            joint=KIND_TITLES["joint"],
            as_measured=KIND_TITLES["as_measured"],
        ),
    )
    table = Table.of("joint", "Errors of joint free runs, by output", head, rows, row_headers=2)
    return rendered(
        "joint.html.j2",
        {
            "current": "joint",
            "titles": {"joint": "Joint models"},
            "links": {"joint": "#main"},
            "repository": "",
            "study": "",
            "outputs": [printable(output) for output in model.outputs],
            "table": to_html(table),
            "verdicts": [worded(finding) for finding in identification.summary],
            "marks": MARKS,
            "notes": [worded(note) for note in identification.notes],
            "figures": figures,
            "record": record_name,
            "equations": {printable(part.output): part.equation() for part in model.models},
            "pages": {printable(output): f"{name}/{_PAGE}" for output, name in folder_by_output.items()},
            "programs": list(_EXPORTS.values()),
        },
    )


def _figures(identification: JointIdentification) -> tuple[str, dict[str, Markup]]:
    """Return the name of the longest record, of the test if there is one, and the figure of each output over it."""
    model = identification.model
    recording = next(iter(identification.identifications.values())).recording
    tests = list(recording.of_role("test"))
    record = max(tests or recording.records, key=len)
    (signals,) = signals_of([record], model.n_outputs)
    runs = _runs(model, signals.u, signals.y)
    figures = {}
    for position, output in enumerate(model.outputs):
        run = {} if runs is None else {"joint free run": runs[:, position]}
        axis = model_figures.time_axis(recording.sampling_time)
        label = model_figures.signal_label(output, recording.units)
        measured = signals.y[:, position]
        figure = model_figures.comparison_figure(measured, run, model.initial_samples, axis, label)
        figures[printable(output)] = inline_svg(figure, f"run-{position + 1}")
    return printable(record.name), figures


def _runs(model: JointModel, u: Any, y: Any) -> Any:
    """Return the joint free run over a record, or None if it diverges."""
    try:
        return np.asarray(model.simulate(u if model.inputs else None, y, samples=len(y)))
    except DivergedError:
        return None
