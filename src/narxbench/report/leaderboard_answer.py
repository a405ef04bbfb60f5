"""Which method to use, in three lines of Markdown: names, numbers and conclusions come from the frames."""

import re
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from narxbench.analysis.agreement import ALPHA
from narxbench.analysis.ranking import ALL
from narxbench.report.formats import count, escape, fixed, listed, method_name, p_value, share, significant
from narxbench.report.leaderboard_tables import pooled_ecdf, ranked, run_costs, usual_terms
from narxbench.report.tables import Frames

EARLY = 0.1  # share of the budget that counts as few evaluations

_Row = dict[Hashable, Any]


class _Test(NamedTuple):
    """The test of the best method against another one: p after Holm's correction; whether the best has lower gaps."""

    p: float
    lower: bool

    @property
    def differs(self) -> bool:
        return self.p < ALPHA


def answer_lines(frames: Frames, cost: pd.DataFrame, contributed: Collection[str] = ()) -> list[str]:
    """Return in Markdown which method to use: by default, if time matters, and in special cases.

    Best is the method with the best average rank over all scenarios. Another one differs from it where Wilcoxon's
    signed-rank test of their gaps, two-sided and over systems, has p < 0.05 after Holm's correction over all pairs of
    methods, as in the frame ``pairs``.

    Parameters
    ----------
    frames
        The frames ``scores``, ``ranking``, ``pairs`` and ``ecdf``.
    cost
        CPU time of the methods, as :func:`narxbench.report.leaderboard_tables.read_cost` returns it.
    contributed
        The methods whose results were contributed by others.
    """
    ranking = ranked(frames, cost, contributed)
    methods: list[_Row] = ranking[ranking["group"] == ALL].to_dict("records")
    if all(row["failures"] == row["runs"] for row in methods):
        lines = [f"**No method can be recommended.** All {count(sum(row['runs'] for row in methods))} runs failed."]
    elif pd.isna(methods[0]["average_rank"]):
        lines = ["**No method can be recommended.** There is no data set that all of them ran on."]
    else:
        pairs = frames["pairs"]
        tests = _tests(pairs[(pairs["group"] == ALL) & pairs["p_holm"].notna()], methods[0]["method"])
        timed = run_costs(cost, usual_terms(frames["scores"]))
        measured_at = f"measured at {_number(int(timed['n_terms'].iloc[0]), 'candidate term')}" if len(timed) else ""
        lines = [_default(methods, frames, tests), _cheap(methods, tests, measured_at)]
        if special := "; ".join(_special_cases(frames, ranking, methods)):
            lines.append(f"**Special cases.** {special[0].upper()}{special[1:]}.")
    # Numbers stay on the line of their signs and units.
    return [re.sub(r" (?=%|[<=] )|(?<= [<=]) ", "\u00a0", line) for line in lines]


def _tests(pairs: pd.DataFrame, best: str) -> dict[str, _Test]:
    """Return the tests of the best method by the other one; none where no p could be below the level."""
    found = {}
    for row in pairs.to_dict("records"):
        # The smallest p that the test has on so many systems.
        possible = 2.0 ** (1 - row["blocks"]) * len(pairs) < ALPHA
        if possible and best in (row["a"], row["b"]):
            other, sign = (row["b"], 1) if row["a"] == best else (row["a"], -1)
            found[other] = _Test(row["p_holm"], sign * row["effect"] < 0)
    return found


def _default(methods: Sequence[_Row], frames: Frames, tests: Mapping[str, _Test]) -> str:
    best, *others = methods
    scenarios, pairs = frames["scores"]["scenario"].nunique(), frames["pairs"]
    pairs = pairs[pairs["group"] == ALL]
    rank = f"{fixed(best['average_rank'], 2)}{_interval(best, 'rank', lambda value: fixed(value, 2))}"
    also = [_name(row) for row in others if row["place"] == 1]
    text = (
        f"**Use {_name(best)}.** Of {_number(len(methods), 'method')} it has the best average rank, {rank}"
        f"{f', shared with {listed(also)},' if also else ','} on {_number(best['systems'], 'system')} in "
        f"{_number(scenarios, 'scenario')}"
    )
    if not pd.isna(best["exact"]):
        exact = f"{share(best['exact'])}{_interval(best, 'exact', share)}"
        text += f"; averaged over the systems, {exact} of its runs end at exactly the system terms"
    compared = f"{_number(len(pairs), 'pair')} of methods"
    if not tests:
        return f"{text}. Its lead is untested: a test of {compared} needs more systems."
    worse = sum(test.differs and test.lower for test in tests.values())
    known = [(_name(row), tests[row["method"]]) for row in others if row["method"] in tests]
    better = [name for name, test in known if test.differs and not test.lower]
    same = [name for name, test in known if not test.differs]
    text += (
        f". Its gaps to the lowest known *J* are lower than those of {worse} of "
        f"{_number(len(tests), 'other method')} (Wilcoxon’s signed-rank test over "
        f"{_number(int(pairs['blocks'].max()), 'system')}, p < {ALPHA} after Holm’s correction over {compared})"
    )
    text += f"; higher than those of {listed(better)}" if better else ""
    return f"{text}; not told apart from it: {listed(same)}." if same else f"{text}."


def _cheap(methods: Sequence[_Row], tests: Mapping[str, _Test], measured_at: str) -> str:
    best = methods[0]
    if pd.isna(best["seconds"]):
        return f"**If time matters,** there is no answer: the CPU time of {_name(best)} was not measured."
    time = f"{significant(best['seconds'])} s"
    cheaper = sorted((row for row in methods if row["seconds"] < best["seconds"]), key=lambda row: row["seconds"])
    tested = [row for row in cheaper if row["method"] in tests]
    for row in tested:
        if not (test := tests[row["method"]]).differs:
            exact = "" if pd.isna(row["exact"]) else f", its exact recovery {share(row['exact'])}"
            return (
                f"**If time matters, use {_name(row)}.** A run takes {significant(row['seconds'])} s of CPU time, "
                f"where {_name(best)} takes {time} ({measured_at}); the same test does not tell the two apart "
                f"(p {'' if test.p < 0.001 else '= '}{p_value(test.p)}). Its average rank is "
                f"{fixed(row['average_rank'], 2)}{exact}."
            )
    text = f"**If time matters, use {_name(best)} too.** A run takes {time} of CPU time ({measured_at}); "
    if not cheaper:
        return f"{text}no method takes less."
    if tested:
        return f"{text}the same test tells it from {len(tested)} of {_number(len(cheaper), 'cheaper method')}."
    row = cheaper[0]
    return f"{text}{_name(row)} takes {significant(row['seconds'])} s, untested, at place {_place(row, methods)}."


def _special_cases(frames: Frames, ranking: pd.DataFrame, methods: Sequence[_Row]) -> Iterator[str]:
    """Yield what to use with few evaluations, with many candidate terms, and without evaluations."""
    scores, best, by_name = frames["scores"], methods[0], {row["method"]: row for row in methods}
    recovery = {row["method"]: row["exact"] for row in methods if not pd.isna(row["exact"])}
    finder = max(recovery, key=lambda method: (recovery[method], method == best["method"]), default=best["method"])
    if finder != best["method"]:
        found = f"{_name(by_name[finder])} ends at them most often, {share(recovery[finder])}"
        yield f"the lowest *J* need not have the system terms: {found}{_compared(best, finder, recovery, share)}"
    # On other data sets a method reaches other shares.
    most = max(row["data_sets"] for row in methods)
    fair = [row["method"] for row in methods if row["data_sets"] == most]
    curves = pooled_ecdf(frames["ecdf"])
    curves = curves[(curves["evaluations"] <= EARLY * scores["budget"].max()) & curves["method"].isin(fair)]
    if len(curves):
        last = curves[curves["evaluations"] == curves["evaluations"].max()]
        shares = dict(zip(last["method"], last["reached"] / last["total"], strict=True))
        first = max(shares, key=lambda method: (shares[method], method == best["method"]))
        other = _compared(best, first, shares, share)
        within = _number(int(last["evaluations"].iloc[0]), "evaluation")
        yield f"within {within}, {_name(by_name[first])} has reached the most targets, {share(shares[first])}{other}"
    sizes = scores.groupby("scenario", sort=False)["n_terms"].max()
    largest = ranking[(ranking["group"] == sizes.idxmax()) & ranking["average_rank"].notna()]
    if sizes.nunique() > 1 and len(largest):
        ranks = dict(zip(largest["method"], largest["average_rank"], strict=True))
        first = min(ranks, key=lambda method: (ranks[method], method != best["method"]))
        of = f"{_number(int(sizes.max()), 'candidate term')} ({_number(int(largest['systems'].max()), 'system')})"
        other = _compared(best, first, ranks, lambda rank: fixed(rank, 2))
        yield f"with {of}, {_name(by_name[first])} has the best average rank, {fixed(ranks[first], 2)}{other}"
    # One evaluation is that of the structure returned.
    spent = scores.groupby("method", sort=False)["evaluations"].max()
    blind = [row for row in methods if spent[row["method"]] <= 1 and row["failures"] < row["runs"] and row["place"] > 0]
    if blind and len(blind) < len(methods):
        exact = "" if pd.isna(blind[0]["exact"]) else f", with {share(blind[0]['exact'])} exact recovery"
        yield f"without evaluations of *J*, {_name(blind[0])} ranks best, place {_place(blind[0], methods)}{exact}"


def _name(row: _Row) -> str:
    return escape(method_name(row["method"]), "markdown") + (" (contributed)" if row["contributed"] else "")


def _number(value: int, noun: str) -> str:
    return f"{count(value)} {noun}{'' if value == 1 else 's'}"


def _interval(row: _Row, stem: str, form: Callable[[float], str]) -> str:
    low, high = row[f"{stem}_low"], row[f"{stem}_high"]
    return "" if pd.isna(low) or pd.isna(high) else f" (interval {form(low)} to {form(high)})"


def _compared(best: _Row, first: str, values: Mapping[str, float], form: Callable[[float], str]) -> str:
    """Return the value of the best method in brackets, unless it is the first here too."""
    known = first != best["method"] and best["method"] in values
    return f" ({_name(best)}: {form(values[best['method']])})" if known else ""


def _place(row: _Row, methods: Sequence[_Row]) -> str:
    return f"{count(row['place'])} of {len(methods)}"
