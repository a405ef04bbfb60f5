"""The table of speeds at the head of results.md, out of the rows of results.csv."""

import csv
from collections.abc import Iterable
from pathlib import Path

from benchmarks.common import Row, median, number, table
from benchmarks.pipeline import CORES

TERMS = 20
# What it is called here, and in the rows.
EVALUATION = {
    "narxbench, a swarm at once": "narxbench, batch of 30",
    "numpy, a swarm at once": "numpy, batch of 30",
    "pure Python": "pure Python free run",
    "SysIdentPy": "SysIdentPy simulate",
    "fastcan": "fastcan NARX",
}
SEARCH = {"2D-UPSO": "narxbench 2D-UPSO", "GA": "narxbench GA"}
FIRST = {"the first search on a machine, 2D-UPSO (compiles it)": "upso2d", "then the first with GA": "ga"}


def read_rows(path: Path) -> list[Row]:
    """Return the rows of a results file."""
    with open(path, newline="") as stream:
        return [Row(*line[:4], float(line[4])) for line in list(csv.reader(stream))[1:]]


def in_short(rows: Iterable[Row]) -> str:
    """Return the section of results.md that has the table, or nothing if nothing of it was measured."""
    shown = speed_table(rows)
    note = "Evaluations and searches are CPU time of one thread, the others elapsed time; medians."
    return f"## In short\n\n{shown}\n{note}\n" if shown.count("\n") > 2 else ""


def speed_table(rows: Iterable[Row]) -> str:
    """Return the table; what was not measured has no line."""
    found: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in rows:
        found.setdefault((row.benchmark, row.method, row.quantity), {})[row.case] = row.value
    lines: list[list[str]] = []

    def add(name: str, times: Iterable[float], unit: str, ratios: Iterable[float] = ()) -> None:
        if times := list(times):
            ratio = list(ratios)
            lines.append([name, f"{number(median(times), 2)} {unit}", number(median(ratio), 2) if ratio else ""])

    for name, method in EVALUATION.items():
        microseconds, ratios = (
            [value for case, value in found.get(("evaluation", method, quantity), {}).items() if f", {TERMS} " in case]
            for quantity in ("microseconds", "ratio")
        )
        add(f"one evaluation of {TERMS} terms: {name}", microseconds, "µs", ratios)
    for name, method in SEARCH.items():
        add(f"a search of 6000 evaluations: {name}", found.get(("search", method, "cpu_seconds"), {}).values(), "s")
    for name, step in FIRST.items():
        add(name, [v for c, v in found.get(("first_use", step, "wall"), {}).items() if c == "empty cache"], "s")
    for runs, wall in found.get(("pipeline", "whole run", "wall"), {}).items():
        add(f"the whole study: {runs}, tables, figures, page; {CORES} cores", [wall], "s")
    planning = list(found.get(("scaling", "runs of the study", "wall"), {}).items())
    for size, wall in dict(planning[:1] + planning[-1:]).items():
        add(f"planning a study of {size.replace(',', ' runs,')}", [wall], "s")
    return table(["What", "Time", "Times narxbench"], lines)
