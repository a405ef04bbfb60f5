"""The page of a look at measured data."""

from narxbench._identification.data.look import DataLook
from narxbench._io.files import StrPath, write_atomically
from narxbench._report.data_figures import data_figures, drawn_places
from narxbench._report.data_tables import records_table, signals_table
from narxbench._report.look_words import findings_of, look_summary, look_title, next_command, outlier_sentences
from narxbench._report.marked_findings import MARKS, worded
from narxbench._report.templating import rendered, to_html


def write_look(look: DataLook, path: StrPath) -> None:
    """Write the page of a look at measured data: plots, ranges, spectra, checks, and what can be distinguished.

    Parameters
    ----------
    look : DataLook
        What :func:`narxbench.look` returned.
    path : path
        The page, which needs no other file.

    Raises
    ------
    NarxbenchError
        If the page cannot be written.

    Examples
    --------
    >>> import narxbench
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> u, y = narxbench.load_system("S1").simulate(300, snr_db=40)
    >>> with TemporaryDirectory() as folder:
    ...     page = Path(folder, "data.html")
    ...     write_look(narxbench.look(u, y), page)
    ...     page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    True
    """
    write_atomically(path, look_page(look), durable=True)


def look_page(look: DataLook) -> str:
    """Return the page of a look: one file that needs no other, nor a network."""
    recording = look.recording
    lights = list(map(worded, findings_of(look)))
    for sentence in outlier_sentences(look):
        lights.append({"status": "look", "title": "Outliers", "text": sentence, "advice": ""})
    tables = [records_table(recording, ""), signals_table(look.signals, recording.sampling_time)]
    page = {
        "current": "data",
        "titles": {"data": "Data"},
        "links": {"data": "#main"},
        "repository": "",
        "study": "",
        "title": look_title(look),
        "summary": look_summary(look),
        "recording": recording,
        "marks": MARKS,
        "lights": lights,
        # They are at the top.
        "checks": [],
        "tables": {table.name: to_html(table) for table in tables},
        "figures": data_figures(recording, look.spectra, look.checks, _stride(look), ""),
        "left_out_records": len(recording.records) > len(drawn_places(recording)),
        "with_inputs": look.has_output and bool(recording.inputs),
        "next": next_command(look),
    }
    return rendered("look.html.j2", page)


def _stride(look: DataLook) -> int:
    """Return the advised decimation, 1 where none was looked for."""
    for check in look.checks:
        if check.name == "sampling":
            return int(check.values["advised"])
    return 1
