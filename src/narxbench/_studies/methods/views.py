"""A comparison of methods from a reader's view: what is wanted, what the data are like, and on which data sets."""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import product
from typing import Any, NamedTuple

import pandas as pd

from narxbench._io.csv import INTEGER, NAME, NUMBER, TEXT, read_table
from narxbench._io.files import StrPath
from narxbench._report.table import Column, Kind
from narxbench._studies.methods.metrics import COMPARISON, RANKED
from narxbench._studies.methods.rank_tests import DATA_SET
from narxbench._studies.methods.ranking import ALL, DEVELOPMENT, HELD_OUT, PARTS
from narxbench._studies.methods.wants import ORDERS, TERMS, Row, is_ranked, rows_of
from narxbench._study.frames import Frames

# A cheap method is useful if its exact recovery is at least this share of that of the best method.
USEFUL = 0.5
_COST = {"method": NAME, "n_terms": INTEGER, "seconds": NUMBER, "evaluations": INTEGER, "machine": TEXT}


def values_of(rows: Iterable[Row], key: str) -> list[Any]:
    """Return an entry of each row."""
    return [row[key] for row in rows]


class BoardColumn(NamedTuple):
    """A column of a board: key of the row, heading, text below it, how values are shown, and which way is better."""

    key: str
    heading: str
    hint: str
    kind: Kind
    larger_is_better: bool = False
    interval: bool = False

    def show(self, row: Row, suffix: str = "") -> str:
        """Return the value, or the limit of its interval, as readers see it."""
        return Column(self.key, "", kind=self.kind).show(row[self.key + suffix], "plain")

    def limits(self, row: Row) -> str:
        """Return the interval of the value as readers see it; empty if there is none."""
        if not self.interval or row[f"{self.key}_low"] is None or row[f"{self.key}_high"] is None:
            return ""
        return f"{self.show(row, '_low')} to {self.show(row, '_high')}"


def _metric_columns(contest: str) -> Iterator[BoardColumn]:
    """Yield the columns of the metrics of a contest."""
    for metric in COMPARISON:
        if metric.contest == contest and metric.shown:
            yield BoardColumn(
                key=metric.name,
                heading=metric.heading,
                hint=metric.hint,
                kind=metric.form,
                larger_is_better=metric.larger_is_better,
                interval=metric.interval,
            )


def _rank_columns(contest: str) -> Iterator[BoardColumn]:
    """Yield the columns of the mean ranks of a contest."""
    for metric in RANKED:
        if metric.contest == contest:
            yield BoardColumn(f"rank_{metric.name}", "Mean rank", f"by {metric.words}", "effect", interval=True)


_SECONDS = BoardColumn("seconds", "CPU time", "seconds a run", "significant")
_FAILURES = BoardColumn("failures", "Failures", "runs", "count")
BOARDS = {
    "identify": [*_metric_columns("identify"), _SECONDS, *_rank_columns("identify"), _FAILURES],
    "search": [*_rank_columns("search"), *_metric_columns("search"), _SECONDS],
}


def read_cost(path: StrPath) -> pd.DataFrame:
    """Read the CPU time of methods: seconds and evaluations of a run, by method and number of candidate terms."""
    return read_table(path, _COST, may_be_empty=True)


class Comparison:
    """A comparison of methods as it is shown; ``views`` has one view for each part and group of the data sets.

    ``frames`` are ``scores``, ``ranking``, ``pairs``, ``ecdf`` and ``systems``; ``cost`` is the table of
    :func:`read_cost`. For methods with a repeated run, ``repeats`` has whether its result was the same, the reason if
    it was not, and its CPU seconds, which count where ``cost`` has none. A method that does not repeat is not ranked.
    ``added`` are the methods that the study adds to those of the project's comparison.
    """

    def __init__(
        self,
        frames: Frames,
        settings: Mapping[str, Any],
        cost: pd.DataFrame,
        repeats: Mapping[str, tuple[bool, str, float | None]] | None = None,
        added: Collection[str] = (),
    ) -> None:
        self.added = added
        self.frames, self.settings, self.cost, self.repeats = frames, settings, cost, repeats or {}
        ranking = frames["ranking"]
        ranked_groups = set(zip(ranking["part"], ranking["group"], strict=True))
        groups = (ALL, *settings["scenarios"], *settings["situations"])
        self.parts = [part for part in PARTS if part in set(ranking["part"])]
        self.views = [View(self, *key) for key in product(self.parts, groups) if key in ranked_groups]

    def whole(self) -> "list[View]":
        """Return the views of all groups together, one for each part."""
        return [view for view in self.views if view.group == ALL]

    def within(self, part: str) -> "list[View]":
        """Return the views of a part: all groups together, each scenario, each situation."""
        return [view for view in self.views if view.part == part]


class View:
    """A group of the data sets of a part: all of them, a scenario, or a situation."""

    def __init__(self, comparison: Comparison, part: str, group: str) -> None:
        self.part, self.group, self.key = part, group, f"{part}/{group}"
        self._frames, self._special = comparison.frames, comparison.settings["situations"]
        descriptions = {**comparison.settings["scenarios"], **self._special}
        self.description = descriptions[group]["description"] if group in descriptions else "all data"
        self.data_sets = f"{part} data sets" if HELD_OUT in comparison.parts else "data sets"
        self.caveat = ""
        if part != HELD_OUT:
            reason = "Methods were tuned on these data sets"
            if HELD_OUT not in comparison.parts:
                reason = "No data sets were held out, and methods may be tuned on these"
            self.caveat = f"{reason}: tests here are not confirmatory."
        self.alpha = round(1 - comparison.settings["statistics"]["confidence"], 9)
        self._rows = self._complete_rows(comparison)

    def frame(self, name: str) -> pd.DataFrame:
        """Return the rows of a frame that belong to the part and the group."""
        frame = self._frames[name]
        frame = frame[frame["part"] == self.part]
        if "group" in frame:
            return frame[frame["group"] == self.group]
        if self.group in self._special:
            return frame[frame["system"].isin(self._special[self.group]["systems"])]
        return frame if self.group == ALL else frame[frame["scenario"] == self.group]

    def rows(self, want: str = TERMS) -> list[Row]:
        """Return the methods, the best first; methods that are not ranked, and references, come last.

        A row has the columns of the frame ``ranking``, with None for missing values, and besides ``seconds``, the marks
        ``deterministic``, ``tuned``, ``added`` and ``unsteady`` (why the method does not repeat, or ""),
        ``settings_by`` (whose choice the settings are), ``useful`` and ``last``: 0 for ranked methods, 1 for other
        methods, 2 for references.
        """
        return sorted(self._rows, key=lambda row: (row["last"], *ORDERS[want](row)))

    def ranked(self, want: str = TERMS) -> list[Row]:
        """Return the ranked methods, without those that have no value for what is wanted."""
        return [row for row in self.rows(want) if not row["last"] and ORDERS[want](row)[0] < math.inf]

    def best(self, want: str = TERMS) -> Row | None:
        """Return the best method for what is wanted; None where there is none."""
        return next(iter(self.ranked(want)), None)

    def row(self, method: str) -> Row | None:
        """Return the row of a method; None where it has no data set."""
        return next((row for row in self._rows if row["method"] == method), None)

    def count_of_data(self, method: str, measure: str = "") -> tuple[int, int]:
        """Return the numbers of data sets and systems of a method; with a measure, of those that it applies to."""
        scores = self.frame("scores")
        scores = scores[scores["method"] == method]
        if measure:
            scores = scores.dropna(subset=[measure])
        return len(scores[DATA_SET].drop_duplicates()), scores["system"].nunique()

    def _complete_rows(self, comparison: Comparison) -> list[Row]:
        """Return the rows of the frame ``ranking`` with the further entries that :meth:`rows` lists."""
        scores = self.frame("scores")
        seconds = self._seconds_by_method(comparison.cost)
        is_deterministic = dict(zip(scores["method"], scores["deterministic"], strict=True))
        rows = rows_of(self.frame("ranking"))
        n_data_sets = max(values_of(rows, "data_sets"))
        for row in rows:
            method = row["method"]
            is_same, difference, repeat_seconds = comparison.repeats.get(method, (True, "", None))
            row["seconds"] = seconds.get(method, repeat_seconds)
            row["unsteady"] = "" if is_same else difference or "another result"
            row["deterministic"] = is_deterministic[method] and not row["reference"]
            row["settings_by"] = _settings_by(comparison.settings, method)
            row["tuned"] = self.part == DEVELOPMENT and method in comparison.settings["tuned"]
            row["added"] = method in comparison.added
            row["last"] = _place_in_order(row, n_data_sets)
            if row["reference"] or not _explains_all_losses(row):
                row["lost_to_criterion"] = row["lost_to_search"] = None
        best_recovery = max((row["exact"] or 0 for row in rows if not row["last"]), default=0)
        for row in rows:
            row["useful"] = (row["exact"] or 0) >= USEFUL * best_recovery > 0
        return rows

    def _seconds_by_method(self, cost: pd.DataFrame) -> dict[str, float]:
        """Return the CPU time of methods, measured closest to the number of candidate terms of most data sets."""
        n_terms = int(self.frame("scores")["n_terms"].mode().min())
        distance = (cost["n_terms"] - n_terms).abs().sort_values(kind="stable")
        closest = cost.loc[distance.index].drop_duplicates("method")
        return dict(zip(closest["method"], closest["seconds"], strict=True))


def _settings_by(settings: Mapping[str, Any], method: str) -> str | None:
    """Return whose choice the settings of a method are; None where the study does not say it."""
    return settings.get("methods", {}).get(method, {}).get("settings_by") or None


def _place_in_order(row: Row, n_data_sets: int) -> int:
    """Return 0 for a ranked method, 1 for one that is not, 2 for a reference."""
    if row["reference"]:
        return 2
    return 1 if row["unsteady"] or not is_ranked(row, n_data_sets) else 0


def _explains_all_losses(row: Row) -> bool:
    """Return whether each run is exact, or known to be lost to the criterion or to the search.

    For some methods the criterion is known for some of the runs only.
    """
    shares = row["exact"], row["lost_to_criterion"], row["lost_to_search"]
    return None not in shares and abs(sum(shares) - 1) <= 1e-6


def notes() -> list[str]:
    """Return the explanations of the columns of the boards."""
    explanations = []
    for metric in COMPARISON:
        if metric.shown:
            explanations.append(f"{metric.heading}, {metric.hint}: {metric.description}")
    ranks = "methods are ranked on each data set, 1 is best; mean over the data sets of a system, then over systems."
    return [*explanations, f"Mean rank: {ranks}"]
