"""A comparison of methods as readers look at it: what they want, what their data are like, and on which data sets."""

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pandas as pd

from narxbench.io.csv import INTEGER, NAME, NUMBER, TEXT, read_table
from narxbench.io.files import StrPath
from narxbench.report.table import Column, Kind, records
from narxbench.studies.methods.metrics import COMPARISON, EXACT, FRESH, GAP, RANKED
from narxbench.studies.methods.ranking import ALL, DEVELOPMENT, HELD_OUT, PARTS
from narxbench.study.frames import Frames

TERMS, NEW_DATA, LOWEST_J, CHEAPEST = "terms", "new-data", "lowest-j", "cheapest"
# What readers may want, in their words.
WANTS = {
    TERMS: "the right terms",
    NEW_DATA: "a model that is good on new data",
    LOWEST_J: "the lowest J",
    CHEAPEST: "little computing time",
}
# A cheap method is of use if it ends at exactly the system terms at least this share as often as the best one.
USEFUL = 0.5
_COST = {"method": NAME, "n_terms": INTEGER, "seconds": NUMBER, "evaluations": INTEGER, "machine": TEXT}

Row = dict[str, Any]


class BoardColumn(NamedTuple):
    """A column of a board: key of the row, heading, what stands below it, how it is shown, and which way is better."""

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
        """Return the interval of the value as readers see it, or nothing."""
        known = self.interval and row[f"{self.key}_low"] is not None and row[f"{self.key}_high"] is not None
        return f"{self.show(row, '_low')} to {self.show(row, '_high')}" if known else ""


def _board(contest: str) -> tuple[list[BoardColumn], list[BoardColumn]]:
    """Return the columns of the metrics of a contest, and those of its ranks."""
    shown = (each for each in COMPARISON if each.contest == contest and each.shown)
    return (
        [BoardColumn(of.name, of.heading, of.hint, of.form, of.larger_is_better, of.interval) for of in shown],
        [
            BoardColumn(f"rank_{of.name}", "Mean rank", f"by {of.words}", "effect", interval=True)
            for of in RANKED
            if of.contest == contest
        ],
    )


_SECONDS = BoardColumn("seconds", "CPU time", "seconds a run", "significant")
_FAILURES = BoardColumn("failures", "Failures", "runs", "count")
(_identify, _identify_ranks), (_search, _search_ranks) = map(_board, ("identify", "search"))
BOARDS = {
    "identify": [*_identify, _SECONDS, *_identify_ranks, _FAILURES],
    "search": [*_search_ranks, *_search, _SECONDS],
}


def read_cost(path: StrPath) -> pd.DataFrame:
    """Read the CPU time of methods: seconds and evaluations of a run, by method and number of candidate terms."""
    return read_table(path, _COST, may_be_empty=True)


class Comparison:
    """All that is shown of a comparison of methods; ``views`` has each part of the data sets with each group of them.

    ``frames`` are ``scores``, ``ranking``, ``tests``, ``pairs``, ``ecdf`` and ``systems``; ``cost`` is what
    :func:`read_cost` returns. Of methods whose runs were repeated, ``repeats`` has whether the same was found, why not,
    and CPU seconds of a run: these count where ``cost`` has none. A method that does not repeat is not ranked.
    """

    def __init__(
        self,
        frames: Frames,
        settings: Mapping[str, Any],
        cost: pd.DataFrame,
        repeats: Mapping[str, tuple[bool, str, float | None]] | None = None,
    ) -> None:
        self.frames, self.settings, self.cost, self.repeats = frames, settings, cost, repeats or {}
        ranking = frames["ranking"]
        found = set(zip(ranking["part"], ranking["group"], strict=True))
        names = (ALL, *settings["scenarios"], *settings["situations"])
        self.parts = [part for part in PARTS if part in set(ranking["part"])]
        self.views = [View(self, part, group) for part in self.parts for group in names if (part, group) in found]

    def whole(self) -> "list[View]":
        """Return the views of all groups together, of each part one."""
        return [view for view in self.views if view.group == ALL]

    def within(self, part: str) -> "list[View]":
        """Return the views of a part: all groups together, each scenario, each situation."""
        return [view for view in self.views if view.part == part]


class View:
    """A group of the data sets of a part: all of them, a scenario, or a situation."""

    def __init__(self, comparison: Comparison, part: str, group: str) -> None:
        self.part, self.group, self.key = part, group, f"{part}/{group}"
        self._frames, self._special = comparison.frames, comparison.settings["situations"]
        described = {**comparison.settings["scenarios"], **self._special}
        self.description = described[group]["description"] if group in described else "all data"
        self.data_sets = f"{part} data sets" if HELD_OUT in comparison.parts else "data sets"
        self.caveat = ""
        if part != HELD_OUT:
            why = "Methods were tuned on these data sets"
            if HELD_OUT not in comparison.parts:
                why = "No data sets were held out, and methods may be tuned on these"
            self.caveat = f"{why}: tests here are not confirmatory."
        self._rows = self._made(comparison)

    def of(self, frame: str) -> pd.DataFrame:
        """Return what a frame has of the part and the group."""
        own = self._frames[frame]
        own = own[own["part"] == self.part]
        if "group" in own:
            return own[own["group"] == self.group]
        if self.group in self._special:
            return own[own["system"].isin(self._special[self.group]["systems"])]
        return own if self.group == ALL else own[own["scenario"] == self.group]

    def rows(self, want: str = TERMS) -> list[Row]:
        """Return the methods, the best first; those that are not ranked, and references, come last.

        A row is that of the frame ``ranking``, None for what is missing, with ``seconds``, the marks ``deterministic``,
        ``tuned`` and ``unsteady`` (why the method does not repeat, or ""), ``useful`` and ``last``: 0 for what is
        ranked, 1 for other methods, 2 for references.
        """
        return sorted(self._rows, key=lambda row: (row["last"], *_ORDERS[want](row)))

    def ranked(self, want: str = TERMS) -> list[Row]:
        """Return the methods that are ranked, without those that are out of the question for what is wanted."""
        return [row for row in self.rows(want) if not row["last"] and _ORDERS[want](row)[0] < math.inf]

    def best(self, want: str = TERMS) -> Row | None:
        """Return the method that is the best one for what is wanted; None where there is none."""
        return next(iter(self.ranked(want)), None)

    def _made(self, comparison: Comparison) -> list[Row]:
        scores, cost = self.of("scores"), comparison.cost
        # CPU time was measured at some numbers of candidate terms: that closest to most data sets' counts.
        distance = (cost["n_terms"] - int(scores["n_terms"].mode().min())).abs().sort_values(kind="stable")
        near = cost.loc[distance.index].drop_duplicates("method")
        seconds = dict(zip(near["method"], near["seconds"], strict=True))
        deterministic = dict(zip(scores["method"], scores["deterministic"], strict=True))
        rows = records(self.of("ranking"))
        most = max(row["data_sets"] for row in rows)
        for row in rows:
            name = row["method"]
            same, why, measured = comparison.repeats.get(name, (True, "", None))
            row["seconds"] = seconds.get(name, measured)
            row["unsteady"] = "" if same else why or "another result"
            row["deterministic"] = deterministic[name] and not row["reference"]
            row["tuned"] = self.part == DEVELOPMENT and name in comparison.settings["tuned"]
            # On other data sets a method reaches other values.
            fair = same and row["rank_fresh_error"] is not None and row["data_sets"] == most
            row["last"] = 2 if row["reference"] else 0 if fair else 1
            lost = [row[key] for key in ("exact", "lost_to_criterion", "lost_to_search")]
            if row["reference"] or None in lost or abs(sum(lost) - 1) > 1e-6:
                # The criterion of the method is known for some of its runs only.
                row["lost_to_criterion"] = row["lost_to_search"] = None
        enough = USEFUL * max((row["exact"] or 0 for row in rows if not row["last"]), default=0)
        for row in rows:
            row["useful"] = (row["exact"] or 0) >= enough > 0
        return rows


def _low(value: float | None, sign: int = 1) -> float:
    return math.inf if value is None else sign * value


def _high(value: float | None) -> float:
    return _low(value, -1)


_ORDERS: dict[str, Callable[[Row], tuple[float, ...]]] = {
    TERMS: lambda row: (_high(row[EXACT.name]), _high(row["f1"]), _low(row["rank_fresh_error"])),
    NEW_DATA: lambda row: (_low(row["rank_fresh_error"]), _low(row[FRESH.name])),
    LOWEST_J: lambda row: (_low(row["rank_gap"]), _low(row[GAP.name])),
    CHEAPEST: lambda row: (_low(row["seconds"] if row["useful"] else None), _high(row[EXACT.name])),
}


def notes() -> list[str]:
    """Return what the columns of the boards say."""
    ranks = "methods are ranked on each data set, 1 is best; mean over the data sets of a system, then over systems."
    of_metrics = (f"{each.heading}, {each.hint}: {each.description}" for each in COMPARISON if each.shown)
    return [*of_metrics, f"Mean rank: {ranks}"]
