"""A comparison of methods from a reader's view: its methods in order, for all data and for each kind of data."""

import math
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import pandas as pd

from narxbench._io.csv import INTEGER, NAME, NUMBER, TEXT, read_table
from narxbench._io.errors import printable
from narxbench._io.files import StrPath
from narxbench._report.table import records
from narxbench._studies.methods.metrics import EXACT, F1, FRESH, ComparisonMetric
from narxbench._studies.methods.pairs import PairedTest
from narxbench._studies.methods.ranking import ALL, DATA_SET, DEVELOPMENT, HELD_OUT, PARTS
from narxbench._studies.methods.repeats import Repeat
from narxbench._study.frames import Frames

Row = dict[str, Any]

# A cheap method is useful if its exact recovery is at least this share of that of the best method: docs/methods.md.
USEFUL = 0.5
# A method that recovers the terms in fewer of the runs does not do what it is used for: docs/methods.md.
RELIABLE = 0.8
_COST = {"method": NAME, "n_terms": INTEGER, "seconds": NUMBER, "evaluations": INTEGER, "machine": TEXT}


def read_cost(path: StrPath) -> pd.DataFrame:
    """Read the CPU time of methods: seconds and evaluations of a run, by method and number of candidate terms."""
    return read_table(path, _COST, may_be_empty=True)


class Comparison:
    """A comparison of methods as it is shown. ``views`` has one view for each part and group of the data sets.

    ``frames`` are ``scores``, ``ranking``, ``pairs`` and ``systems``. ``cost`` is the table of :func:`read_cost`. For
    methods with a repeated run, ``repeats`` has its outcome. Its CPU seconds count where ``cost`` has none. A method
    that does not repeat is not ranked. ``added`` are the methods that the project's comparison
    does not have.
    """

    def __init__(
        self,
        frames: Frames,
        settings: Mapping[str, Any],
        cost: pd.DataFrame,
        repeats: Mapping[str, Repeat],
        added: Collection[str] = (),
    ) -> None:
        self.frames, self.settings, self.cost, self.repeats = frames, settings, cost, repeats
        self.added = added
        self.alpha = round(1 - settings["statistics"]["confidence"], 9)
        ranking = frames["ranking"]
        ranked_groups = set(zip(ranking["part"], ranking["group"], strict=True))
        groups = (ALL, *settings["scenarios"], *settings["situations"])
        self.parts = [part for part in PARTS if part in set(ranking["part"])]
        self.part = self.parts[0]
        """The part that answers: held-out data sets, if there are any."""
        self.views = [View(self, self.part, group) for group in groups if (self.part, group) in ranked_groups]

    @property
    def whole(self) -> "View":
        """The view of all data sets."""
        return self.views[0]

    @property
    def data_sets(self) -> str:
        """Words for the data sets of the part."""
        return f"{self.part} data sets" if HELD_OUT in self.parts else "data sets"

    @property
    def caveat(self) -> str:
        """Why tests on these data sets are not confirmatory, or "" if they are."""
        if self.part == HELD_OUT:
            return ""
        return "No data sets were held out, and methods may be tuned on these: the tests are not confirmatory."

    def pairs(self, metric: ComparisonMetric) -> list[PairedTest]:
        """Return the comparisons of the best method by a metric with the others, the best of these first."""
        pairs = self.frames["pairs"]
        pairs = pairs[(pairs["part"] == self.part) & (pairs["measure"] == metric.name)]
        tests = [PairedTest(*row) for row in pairs[list(PairedTest._fields)].itertuples(index=False)]
        by_rival = {test.rival: test for test in tests}
        order = [row["method"] for row in self.whole.ranked(metric)]
        return [by_rival[method] for method in order if method in by_rival]


class View:
    """A group of the data sets of a part: all of them, a scenario, or a situation."""

    def __init__(self, comparison: Comparison, part: str, group: str) -> None:
        self.part, self.group = part, group
        self._frames, self._situations = comparison.frames, comparison.settings["situations"]
        descriptions = {**comparison.settings["scenarios"], **self._situations}
        self.description = descriptions[group]["description"] if group in descriptions else "all data"
        self._rows = self._complete_rows(comparison)

    @property
    def title(self) -> str:
        """The name of the group for readers."""
        return "all data" if self.group == ALL else self.group

    def frame(self, name: str) -> pd.DataFrame:
        """Return the rows of a frame that belong to the part and the group."""
        frame = self._frames[name]
        frame = frame[frame["part"] == self.part]
        if "group" in frame:
            return frame[frame["group"] == self.group]
        if self.group in self._situations:
            return frame[frame["system"].isin(self._situations[self.group]["systems"])]
        return frame if self.group == ALL else frame[frame["scenario"] == self.group]

    def rows(self) -> list[Row]:
        """Return the methods, the best first. Methods that are not ranked, and references, come last.

        A row has the columns of the frame ``ranking``, with None for missing values, and besides ``seconds``, the marks
        ``tuned``, ``added`` and ``unsteady`` (why the method does not repeat, or ""), ``settings_by`` (whose choice the
        settings are), ``missing`` (data sets that the method lacks), ``failure`` (why runs failed) and ``last``: 0 for
        ranked methods, 1 for other methods, 2 for references.
        """
        return sorted(self._rows, key=lambda row: (row["last"], *_by_terms(row)))

    def ranked(self, metric: ComparisonMetric = EXACT) -> list[Row]:
        """Return the ranked methods that have a value of a metric, the best by it first."""
        rows = [row for row in self._rows if not row["last"] and row[metric.name] is not None]
        if metric is EXACT:
            return sorted(rows, key=_by_terms)
        sign = -1 if metric.larger_is_better else 1
        return sorted(rows, key=lambda row: (sign * row[metric.name], row["method"]))

    def best(self, metric: ComparisonMetric = EXACT) -> Row | None:
        """Return the best method by a metric, or None if there is none, or where no run is exact."""
        best = next(iter(self.ranked(metric)), None)
        return None if best is None or (metric is EXACT and not best[EXACT.name]) else best

    def cheapest_useful(self) -> Row | None:
        """Return the cheapest method that is useful, or None if there is none whose time is known."""
        best = self.best()
        if best is None:
            return None
        useful = [row for row in self.ranked() if row["seconds"] and row[EXACT.name] >= USEFUL * best[EXACT.name]]
        return min(useful, key=lambda row: row["seconds"], default=None)

    def row(self, method: str) -> Row | None:
        """Return the row of a method, or None where it has no data set."""
        return next((row for row in self._rows if row["method"] == method), None)

    def count_of_data(self, metric: ComparisonMetric) -> tuple[int, int]:
        """Return the numbers of data sets and systems that a metric applies to."""
        scores = self.frame("scores")
        if metric is EXACT:
            scores = scores.dropna(subset=[metric.name])
        return len(scores[DATA_SET].drop_duplicates()), scores["system"].nunique()

    def _complete_rows(self, comparison: Comparison) -> list[Row]:
        """Return the rows of the frame ``ranking`` with the further entries that :meth:`rows` lists."""
        seconds = self._seconds_by_method(comparison.cost)
        failures = self._failures_by_method()
        rows = records(self.frame("ranking"))
        n_data_sets = max(row["data_sets"] for row in rows)
        for row in rows:
            method = row["method"]
            outcome = comparison.repeats.get(method)
            row["seconds"] = seconds.get(method, outcome.cpu_seconds if outcome else None)
            row["unsteady"] = printable(outcome.difference, 300) if outcome else ""
            row["settings_by"] = _settings_by(comparison.settings, method)
            row["tuned"] = self.part == DEVELOPMENT and method in comparison.settings["tuned"]
            row["added"] = method in comparison.added
            row["missing"] = n_data_sets - row["data_sets"]
            row["failure"] = failures.get(method, "")
            row["last"] = 2 if row["reference"] else int(not row["ranked"])
        return rows

    def _seconds_by_method(self, cost: pd.DataFrame) -> dict[str, float]:
        """Return the CPU time of methods, measured closest to the number of candidate terms of most data sets."""
        n_terms = int(self.frame("scores")["n_terms"].mode().min())
        distance = (cost["n_terms"] - n_terms).abs().sort_values(kind="stable")
        closest = cost.loc[distance.index].drop_duplicates("method")
        return dict(zip(closest["method"], closest["seconds"], strict=True))

    def _failures_by_method(self) -> dict[str, str]:
        """Return why most runs of a method failed that have failed."""
        scores = self.frame("scores")
        failed = scores[scores["fitness"].isna()]
        texts = failed["failure"].replace("", "found no structure of finite J").groupby(failed["method"])
        return {str(method): str(of_method.mode().iloc[0]) for method, of_method in texts}


def _settings_by(settings: Mapping[str, Any], method: str) -> str | None:
    """Return whose choice the settings of a method are, or None where the study does not say it."""
    return settings.get("methods", {}).get(method, {}).get("settings_by") or None


def _highest_first(value: float | None) -> float:
    return math.inf if value is None else -value


def _lowest_first(value: float | None) -> float:
    return math.inf if value is None else value


def _by_terms(row: Row) -> tuple[Any, ...]:
    """Return the sort key by exact recovery, then F1, then the error on fresh data."""
    numbers = _highest_first(row[EXACT.name]), _highest_first(row[F1.name]), _lowest_first(row[FRESH.name])
    return (*numbers, row["method"])


def breaks(views: Iterable[View], best: Row) -> list[View]:
    """Return the views in which the best method over all data is not first, or recovers the terms too rarely."""
    broken = []
    for view in views:
        usual, first = view.row(best["method"]), view.best()
        if view.group == ALL or usual is None or usual[EXACT.name] is None:
            continue
        leads = first is None or usual[EXACT.name] >= first[EXACT.name] - 1e-9
        if usual[EXACT.name] < RELIABLE or not leads:
            broken.append(view)
    return sorted(broken, key=lambda view: _recovery(view, best["method"]))


def _recovery(view: View, method: str) -> float:
    row = view.row(method)
    return row[EXACT.name] if row else math.nan
