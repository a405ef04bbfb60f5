"""The table of speeds at the head of results.md, out of the rows of results.csv."""

import csv
from collections.abc import Collection, Iterable
from pathlib import Path

from benchmarks.common import Row, median, number, table
from benchmarks.pipeline import CORES

TERMS = 20
# Names in the table, and in the rows.
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
        _, *lines = csv.reader(stream)
    return [Row(*line[:4], float(line[4])) for line in lines]


def in_short(rows: Iterable[Row]) -> str:
    """Return the section of results.md that has the table; empty if no line of it was measured."""
    shown = speed_table(rows)
    note = "Evaluations and searches are CPU time of one thread, the others elapsed time. All are medians."
    if shown.count("\n") <= 2:
        return ""
    return f"## In short\n\n{shown}\n{note}\n"


def speed_table(rows: Iterable[Row]) -> str:
    """Return the table; what was not measured has no line."""
    by_method: dict[tuple[str, str, str], dict[str, float]] = {}
    for row in rows:
        by_method.setdefault((row.benchmark, row.method, row.quantity), {})[row.case] = row.value
    lines: list[list[str]] = []

    def add(name: str, times: Collection[float], unit: str, ratios: Collection[float] = ()) -> None:
        if times:
            ratio = number(median(ratios), 2) if ratios else ""
            lines.append([name, f"{number(median(times), 2)} {unit}", ratio])

    def matching(benchmark: str, method: str, quantity: str, part_of_case: str) -> list[float]:
        values = by_method.get((benchmark, method, quantity), {})
        return [value for case, value in values.items() if part_of_case in case]

    for name, method in EVALUATION.items():
        microseconds = matching("evaluation", method, "microseconds", f", {TERMS} ")
        ratios = matching("evaluation", method, "ratio", f", {TERMS} ")
        add(f"one evaluation of {TERMS} terms: {name}", microseconds, "µs", ratios)
    for name, method in SEARCH.items():
        add(f"a search of 6000 evaluations: {name}", by_method.get(("search", method, "cpu_seconds"), {}).values(), "s")
    for name, step in FIRST.items():
        add(name, matching("first_use", step, "wall", "empty cache"), "s")
    for runs, wall in by_method.get(("pipeline", "whole run", "wall"), {}).items():
        add(f"the whole study: {runs}, tables, figures, page; {CORES} cores", [wall], "s")
    planning = list(by_method.get(("scaling", "runs of the study", "wall"), {}).items())
    for size, wall in dict(planning[:1] + planning[-1:]).items():
        add(f"planning a study of {size.replace(',', ' runs,')}", [wall], "s")
    return table(["What", "Time", "Times narxbench"], lines)
