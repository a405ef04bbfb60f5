"""The public benchmark records: ``python -m benchmarks.records [--folder DIR] [--only NAME] [--quick]``.

Writes ``benchmarks/records.md``: the error of a free run over the official test parts, after the samples for the
initial state, of narxbench with its default settings, of its linear models, and of the packages in ``measured.py``.

A record is read from ``DIR/NAME.csv``, or loaded (and downloaded) by the package ``nonlinear_benchmarks``. A file has
the columns ``uEst``, ``yEst``, ``uVal``, ``yVal`` and may have others; the shorter pair ends with empty cells. Where a
record has several parts, there are more files, ``NAME_ANYTHING.csv``: all estimation parts train, and each test part is
scored by itself; a pair that a file does not have is left empty. Units of the figures are those of the file.
"""

import argparse
import importlib
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

# First: it sets one thread before numpy is imported.
from benchmarks import measured  # isort: skip
import numpy as np
import pandas as pd

import narxbench
from benchmarks.common import ROOT, machine_facts, table
from benchmarks.measured import Case, PackageRun, Signals, error_figure, shown_method
from narxbench._identification.data.reading import read_recording
from narxbench._identification.data.sampling import advised_decimations
from narxbench._io.files import write_atomically

RESULT = ROOT / "benchmarks" / "records.md"
PACKAGE, SITE = "nonlinear_benchmarks", "https://www.nonlinearbenchmark.org"
PAIRS = (("uEst", "yEst"), ("uVal", "yVal"))
LINEAR = "linear ARX (narxbench, degree=1)"


class Official(NamedTuple):
    """A record: its loader in the package, and the samples for the initial state."""

    loader: str
    window: int


# The parts of each, one file each: Silverbox estimates on the first 75 % of the multisines and has three tests; CED has
# two files (low and high amplitude), of which the first 400 of 500 samples estimate.
RECORDS = {
    "silverbox": Official("Silverbox", 50),
    "cascaded_tanks": Official("Cascaded_Tanks", 50),
    "wiener_hammerstein": Official("WienerHammerBenchMark", 50),
    "ced": Official("CED", 10),
    "emps": Official("EMPS", 20),
}
# Figures that others have published: record, method, figure, source.
PUBLISHED = (
    ("cascaded_tanks", "best linear approximation", "0.7574", "[A]"),
    ("cascaded_tanks", "Volterra, degree 3, transient removed", "0.5400", "[A]"),
    ("cascaded_tanks", "PNLSS-I", "0.4498", "[A]"),
    ("cascaded_tanks", "NLSS2", "0.3433", "[A]"),
)


class UnavailableError(Exception):
    """A record that is not at hand, with the reason."""


class ScoredPart(NamedTuple):
    """A test part, and the samples at its beginning that are not scored."""

    name: str
    signals: Signals
    window: int


def read_part(path: Path) -> list[Signals | None]:
    """Return the estimation and the test part of a file; None for a part that it does not have."""
    try:
        frame = pd.read_csv(path, index_col=False, skipinitialspace=True)
    except (OSError, ValueError) as error:
        raise narxbench.NarxbenchError(f"{path.name}: found no CSV file ({error})") from error
    parts: list[Signals | None] = []
    for pair in PAIRS:
        for name in pair:
            if name not in frame:
                needed = ", ".join(chain.from_iterable(PAIRS))
                raise narxbench.NarxbenchError(f"{path.name}: found no column {name}; needed: {needed}")
        values = frame[list(pair)].apply(pd.to_numeric, errors="coerce").to_numpy(np.float64)
        is_filled = frame[list(pair)].notna().to_numpy()
        length = int(is_filled.any(axis=1).nonzero()[0].max(initial=-1)) + 1
        is_wrong = ~np.isfinite(values[:length])
        if is_wrong.any():
            row, column = np.argwhere(is_wrong)[0]
            text = f"line {row + 2}, column {pair[column]}: found no number; needed: one in each line of the part"
            raise narxbench.NarxbenchError(f"{path.name}: {text}")
        part = Signals(values[:length, :1], values[:length, 1])
        parts.append(part if length else None)
    return parts


def from_folder(name: str, folder: Path) -> tuple[list[Signals], list[ScoredPart]]:
    """Return the estimation and the test parts in the files of a record; both empty where there is no file."""
    training, tests = [], []
    for path in sorted([*folder.glob(f"{name}.csv"), *folder.glob(f"{name}_*.csv")]):
        estimation, test = read_part(path)
        if estimation:
            training.append(estimation)
        if test:
            tests.append(ScoredPart(path.stem, test, RECORDS[name].window))
    for kind, kind_parts in {"estimation": training, "test": tests}.items():
        if (training or tests) and not kind_parts:
            raise narxbench.NarxbenchError(f"{name}: found no {kind} part in any of its files; needed: both")
    return training, tests


def from_package(name: str) -> tuple[list[Signals], list[ScoredPart]]:
    """Return the parts of a record as the official package splits them; it downloads them the first time."""
    load = getattr(importlib.import_module(PACKAGE), RECORDS[name].loader)
    training, tests = load(atleast_2d=True, always_return_tuples_of_datasets=True)
    parts = []
    for place, test in enumerate(tests, start=1):
        title = name
        if len(tests) > 1:
            title += f" {place}"
        parts.append(ScoredPart(title, _signals(test), test.state_initialization_window_length))
    return list(map(_signals, training)), parts


def parts_of(name: str, folder: Path | None) -> tuple[list[Signals], list[ScoredPart]]:
    """Return the estimation and the test parts of a record from a folder, else from the official package."""
    if folder:
        training, tests = from_folder(name, folder)
        if tests:
            return training, tests
    try:
        return from_package(name)
    except ImportError as error:
        raise UnavailableError("is not installed") from error
    # Anything may go wrong with a download: no network, another page, a file that has moved.
    except Exception as error:
        raise UnavailableError(f"gave {type(error).__name__}") from error


def _signals(data: Any) -> Signals:
    return Signals(np.asarray(data.u, np.float64), np.asarray(data.y, np.float64)[:, 0])


def scored(part: ScoredPart, outcome: PackageRun) -> tuple[float, float, int]:
    """Return RMSE, NRMSE (by the deviation of the output), and the first sample that counts.

    This is the official sample, or a later one where a method is given more samples of the output.
    """
    first = max(part.window, outcome.initial)
    y, predicted = part.signals.y[first:], outcome.predicted[first:]
    with np.errstate(all="ignore"):
        rmse = float(np.sqrt(np.mean((y - predicted) ** 2)))
    nrmse = rmse / float(np.std(y))
    if not nrmse < measured.USELESS:
        return np.inf, np.inf, first
    return rmse, nrmse, first


def rows_of(name: str, training: Sequence[Signals], part: ScoredPart, small: bool) -> list[list[str]]:
    """Return the rows of the table for one test part."""
    columns = [record.columns(["u"]) for record in training]
    stride = advised_decimations(read_recording(columns, input="u", output="y")).advised
    case = Case(name, "", list(training), part.signals, stride=stride)
    _, outcomes = measured.all_outcomes(case, small)
    settings = measured.SMALL if small else {}
    outcomes.append(measured.narxbench_outcome(case, method=LINEAR, degree=1, **settings)[1])
    rows, title = [], f"**{part.name}**"
    for outcome in outcomes:
        rmse, nrmse, first = scored(part, outcome)
        errors = error_figure(rmse), error_figure(nrmse)
        choice = str(outcome.terms), outcome.settings, f"{outcome.seconds:.1f}"
        rows.append([title, shown_method(outcome), *errors, str(first), *choice])
        title = ""
    return rows


def _table_or(header: Sequence[str], rows: Sequence[Sequence[str]], otherwise: str) -> str:
    """Return a table, or another text if it would have no rows."""
    return table(header, rows) if rows else otherwise


def report(names: Sequence[str], folder: Path | None, small: bool = False) -> str:
    """Return the page for some records; a record that is not at hand is listed with the reason."""
    rows, absent = [], []
    for name in names:
        try:
            training, tests = parts_of(name, folder)
        except UnavailableError as error:
            absent.append([name, f"no `{name}.csv` in a folder; `{PACKAGE}` {error}"])
            continue
        for part in tests:
            print(f"{part.name}: {len(training)} parts for estimation", flush=True)
            rows += rows_of(name, training, part, small)
    header = ["test part", "method", "RMSE", "NRMSE", "from sample", "terms", "chosen", "CPU s"]
    return TEXT.format(
        results=_table_or(header, rows, "None of the records was at hand.\n"),
        absent=_table_or(["not at hand", "because"], absent, ""),
        package=PACKAGE,
        site=SITE,
        published=table(["record", "method", "figure", "source"], PUBLISHED),
        useless=f"{measured.USELESS:.0f}",
        machine=machine_facts(),
    )


TEXT = """# Public benchmark records

`python -m benchmarks.records` makes this file from the records of [nonlinearbenchmark.org]({site}), with their official
estimation and test parts. narxbench was given only these data.

Errors of a free run over the test part, in units of the record. The first samples, for the initial state, do not
count. NRMSE is RMSE by the standard
deviation of the output. More than {useless} counts as diverged. How the others choose is
described in [measured.md](measured.md): the same grids, here at the incoming sampling and at the one that narxbench
advises.

{results}
\\* chosen by its error on the test part: nobody can choose so.

{absent}
To get a record: `pip install {package}` and run this again with a network, or download it from the site and put it into
a folder for `--folder`, as CSV files in the layout that `records.py` describes.

## Published figures

{published}
[A] Hammerstein Box-Jenkins System Identification of the Cascaded Tanks Benchmark System, Mathematical Problems in
Engineering 2021, 6613425, table 2, which collects earlier results on the test part (its heading says MSE; which samples
count is not said). More methods, on all five records: Champneys et al., Baseline Results for Selected Nonlinear System
Identification Benchmarks, 2024, arXiv 2405.10779.

{machine}
"""


def main() -> None:
    """Score the records at hand, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="CSV files of records")
    parser.add_argument("--only", choices=RECORDS, action="append", help="a record; may be repeated")
    parser.add_argument("--quick", action="store_true", help="small grids: a try, not a comparison")
    parser.add_argument("--output", type=Path, default=RESULT)
    options = parser.parse_args()
    if options.folder and not options.folder.is_dir():
        parser.error(f"--folder: found no folder {options.folder}")
    try:
        text = report(options.only or list(RECORDS), options.folder, options.quick)
    except narxbench.NarxbenchError as error:
        parser.exit(1, f"{error}\n")
    write_atomically(options.output, text)


if __name__ == "__main__":
    main()
