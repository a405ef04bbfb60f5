"""Which method to use, in lines of Markdown: names, numbers and conclusions come from the frames."""

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from narxbench.report.formats import count, escape, fixed, listed, method_name, share, significant
from narxbench.studies.methods.metrics import DIFFERENCES, EARLY, EXACT, FRESH, GAP, Difference
from narxbench.studies.methods.rank_tests import DATA_SET
from narxbench.studies.methods.score_file import TRUTH
from narxbench.studies.methods.views import CHEAPEST, LOWEST_J, NEW_DATA, TERMS, USEFUL, WANTS, Comparison, Row, View

# By what two methods are compared, for each want.
_DIFFERENCE = {
    want: next(each for each in DIFFERENCES if each.metric is metric)
    for want, metric in {TERMS: EXACT, NEW_DATA: FRESH, LOWEST_J: GAP, CHEAPEST: EXACT}.items()
}
REGIONS = f"Practically equal is what differs by no more than {'; '.join(each.region for each in DIFFERENCES)}."
_VERDICTS = {"a": "better", "b": "worse", "equivalent": "practically equal", "open": "open"}
_ENOUGH = f"at least {share(USEFUL)} of the best exact recovery"


class Compared(NamedTuple):
    """The difference of a method to another one, as readers see it, and p after Holm's correction."""

    difference: str
    interval: str
    verdict: str
    p: float


def document_lines(comparison: Comparison) -> list[str]:
    """Return the whole answer: for the right terms, on the first data sets of the study, then for other wishes.

    The first line says which method to use.
    """
    view, *others = comparison.within(comparison.parts[0])
    lines = answer_lines(view, TERMS)
    for want in list(WANTS)[1:]:
        if (line := answer_lines(view, want)[0]) not in lines:
            lines.append(line.replace("**", f"**If you want {WANTS[want]}: ", 1))
    special = "; ".join(_special(view, others))
    return [*lines, f"**Special data.** {special}."] if special else lines


def answer_lines(view: View, want: str) -> list[str]:
    """Return which method to use, how sure that is, and what follows from it."""
    best = view.best(want)
    if best is None or all(row["failures"] == row["runs"] for row in view.ranked(NEW_DATA)):
        lines = [f"**No method can be recommended.** {_why_none(view.ranked(NEW_DATA), want)}"]
    else:
        lines = [" ".join(filter(None, [f"**Use {_name(best)}.**", *_HEADS[want](view, best), view.caveat]))]
        if want == TERMS:
            lines += filter(None, (_limits(view), _cost(view, best)))
    # Numbers stay on the line of their signs and units.
    return [re.sub(r" (?=%|[<=] |points\b)|(?<=[<=]) ", "\u00a0", line) for line in lines]


def compared(view: View, of: Difference, name: str) -> dict[str, Compared]:
    """Return the differences of a method to the others that it was tested against, by method."""
    pairs, found = view.of("pairs"), {}
    for row in pairs[pairs["measure"] == of.metric.name].to_dict("records"):
        if name in (row["a"], row["b"]):
            values, verdict, other = [row[key] for key in ("difference", "low", "high")], row["verdict"], row["b"]
            if name == other:
                values = [1 / value if of.ratio else -value for value in (values[0], values[2], values[1])]
                verdict, other = {"a": "b", "b": "a"}.get(verdict, verdict), row["a"]
            interval = "" if math.isnan(values[1]) else f"{_shown(values[1], of)} to {_shown(values[2], of)}"
            size = f"{_shown(values[0], of)}{' points' if of.metric is EXACT else ''}"
            found[other] = Compared(size, interval, _VERDICTS[verdict], row["p_holm"])
    return found


def cheapest_equal(view: View) -> Row | None:
    """Return the cheapest method whose exact recovery is within the region of practical equivalence of the best."""
    best = view.best()
    near = (best[EXACT.name] if best else math.inf) - _DIFFERENCE[TERMS].negligible - 1e-9
    return next((row for row in view.ranked(CHEAPEST) if row[EXACT.name] >= near), None)


def _shown(value: float, of: Difference) -> str:
    """Return a difference as readers see it: percentage points of a share, a factor, or a number with its sign."""
    if of.ratio:
        return f"×{significant(value)}"
    text = fixed(100 * value, 0) if of.metric is EXACT else significant(value)
    return f"+{text}" if value > 0 and text.strip("0.") else text


def _terms(view: View, best: Row) -> Iterator[str]:
    if best[EXACT.name]:
        yield f"{share(best[EXACT.name])} of its runs{_interval(best, 'exact', share)} end at exactly the system terms,"
        yield f"of {_number(len(view.ranked()), 'method')} the most (F1 {_two(best['f1'])}),"
    else:
        yield f"No method ends at exactly the system terms; it has the best F1, {_two(best['f1'])},"
    yield f"on {_where(view, best, EXACT.name)}."
    yield from _sure(view, best, TERMS, lambda row: share(row[EXACT.name]))


def _new_data(view: View, best: Row) -> Iterator[str]:
    yield f"By its error on fresh data it has the best mean rank of {_number(len(view.ranked(NEW_DATA)), 'method')},"
    yield f"{_two(best['rank_fresh_error'])}{_interval(best, 'rank_fresh_error', _two)}, on {_where(view, best)}; its"
    truth = [_size(row[FRESH.name]) for row in view.rows() if row["method"] == TRUTH]
    against = f" (least squares on the system terms: {truth[0]})" if truth else ""
    yield f"median error is {_size(best[FRESH.name])} of the spread of the output{against}."
    yield from _sure(view, best, NEW_DATA, lambda row: _two(row["rank_fresh_error"]))


def _lowest_j(view: View, best: Row) -> Iterator[str]:
    searches = view.ranked(LOWEST_J)
    yield f"Of {_number(len(searches), 'search', 'searches')} of the same J with the same budget it has the best mean"
    yield f"rank by its gap, {_two(best['rank_gap'])}{_interval(best, 'rank_gap', _two)}, on {_where(view, best)}; its"
    yield f"median gap is {_size(best[GAP.name])}, that of its worst runs {_size(best['gap_worst'])}."
    yield from _sure(view, best, LOWEST_J, lambda row: _two(row["rank_gap"]))
    early = [_name(min(searches, key=lambda row: row[f"rank_gap_{made}"])) for made in EARLY]
    if {*early} == {_name(best)}:
        yield f"It is first after {EARLY[0]} and after {EARLY[1]} evaluations, too."
    else:
        yield f"After {EARLY[0]} evaluations {early[0]} is first, after {EARLY[1]} {early[1]}."
    finder = view.best()
    if finder and finder[EXACT.name] and finder["method"] != best["method"]:
        yield f"The lowest J need not have the right terms: exact recovery {share(best[EXACT.name])};"
        yield f"{_name(finder)}, {share(finder[EXACT.name])}."


def _cheapest(view: View, best: Row) -> Iterator[str]:
    yield f"It takes {_time(best)}, and {share(best[EXACT.name])} of its runs end at exactly the system"
    yield f"terms, on {_where(view, best, EXACT.name)}. It is the cheapest of the methods with {_ENOUGH}."
    finder = view.best() or best
    if finder["method"] != best["method"]:
        size = _against(view, best, finder)
        yield f"{_name(finder)} has {share(finder[EXACT.name])} and takes {_time(finder)}{size}."


_HEADS = {TERMS: _terms, NEW_DATA: _new_data, LOWEST_J: _lowest_j, CHEAPEST: _cheapest}


def _why_none(ranked: Sequence[Row], want: str) -> str:
    if not ranked:
        return "There is no data set that all of them ran on."
    if all(row["failures"] == row["runs"] for row in ranked):
        return f"All {count(sum(row['runs'] for row in ranked))} runs failed."
    if want == LOWEST_J:
        return "No method that minimises J took part."
    if all(row[EXACT.name] is None for row in ranked):
        return "The system terms are not among the candidate terms here: ask for what is good on new data."
    return "No method ends at exactly the system terms, or the CPU time of those that do was not measured."


def _sure(view: View, best: Row, want: str, value: Callable[[Row], str]) -> Iterator[str]:
    """Yield by how much the best method leads, and against how many others that is sure."""
    following = view.ranked(want)[1:]
    if not following:
        return
    of, name = _DIFFERENCE[want], following[0]["method"]
    found, size = compared(view, of, best["method"]), ""
    if name in found:
        difference, interval, verdict, _ = found[name]
        size = f": difference {difference}{f' ({interval})' if interval else ''}, {verdict}"
    yield f"Next is {_name(following[0])}, {value(following[0])}{size}."
    if found:
        better = sum(each.verdict == "better" for each in found.values())
        parts = [f"better than {better or 'none'} of {_number(len(found), 'other')}"]
        for verdict, joint in (("practically equal", "to"), ("worse", "than"), ("open", "against")):
            names = [escape(method_name(other), "markdown") for other, each in found.items() if each.verdict == verdict]
            parts += [f"{verdict} {joint} {listed(names) if len(names) < 4 else len(names)}"] if names else []
        yield f"It is {', '.join(parts)}; up to {of.region} counts as equal."


def _limits(view: View) -> str:
    """Return to what the runs that miss the system terms are lost: the criterion or the search."""
    known = [row for row in view.ranked() if row["lost_to_search"] is not None and row[EXACT.name] < 1]
    searches = [row for row in view.ranked(LOWEST_J) if row in known]
    if not searches:
        return ""
    lost = math.fsum(row["lost_to_criterion"] for row in searches)
    of_all = lost / (lost + math.fsum(row["lost_to_search"] for row in searches))
    first = f"; with the best search, {_name(searches[0])}, the criterion in {_of_criterion(searches[0])}"
    own = "; ".join(f"{_name(row)} {_of_criterion(row)}" for row in known if not row["searches"])
    return (
        f"**Criterion or search.** Where methods that minimise J miss the system terms, the criterion is the limit in "
        f"{share(of_all)} of the runs, for J is no lower at the system terms, the search in {share(1 - of_all)}"
        f"{first if searches[0] == view.best(LOWEST_J) else ''}"
        f"{f'. With criteria of their own the criterion is it in: {own}' if own else ''}."
    )


def _of_criterion(row: Row) -> str:
    return share(row["lost_to_criterion"] / (row["lost_to_criterion"] + row["lost_to_search"]))


def _cost(view: View, best: Row) -> str:
    """Return the cheapest method that is practically equal to the best, or what one loses with a cheap one."""
    text = f"**What cost buys.** {_name(best)} takes {_time(best)}"
    cheaper = [row for row in view.ranked(CHEAPEST) if row["seconds"] < (best["seconds"] or math.inf)]
    if not cheaper:
        return f"{text}; no method with {_ENOUGH} takes less." if best["useful"] and best["seconds"] else ""
    found = compared(view, _DIFFERENCE[TERMS], best["method"])
    equal = [row for row in cheaper if row["method"] in found and found[row["method"]].verdict == "practically equal"]
    row, which = (equal[0], "that is practically equal") if equal else (cheaper[0], f"with {_ENOUGH}")
    text += f"; the cheapest one {which}, {_name(row)}, takes {_time(row)} and has {share(row[EXACT.name])}"
    end = " No cheaper one is shown to be practically equal." if found and not equal else ""
    return f"{text} exact recovery{_against(view, row, best)}.{end}"


def _against(view: View, row: Row, other: Row) -> str:
    said = compared(view, _DIFFERENCE[TERMS], row["method"]).get(other["method"])
    return f" (difference {', '.join(filter(None, said[:2]))}: {said.verdict})" if said else ""


def _special(whole: View, others: Sequence[View]) -> Iterator[str]:
    """Yield groups in which another method finds the terms clearly more often: the intervals do not overlap."""
    usual = whole.best() or {"method": None}
    for view in others:
        best, own = view.best(), next((row for row in view.rows() if row["method"] == usual["method"]), None)
        if not best or not own or None in (best["exact_low"], own["exact_high"]):
            continue
        if best["exact_low"] > own["exact_high"]:
            names = f"*{escape(view.group, 'markdown')}* ({escape(view.description, 'markdown')})"
            yield f"{names}: {_name(best)}, {share(best['exact'])} against {share(own['exact'])}"


def _where(view: View, row: Row, measure: str = "") -> str:
    """Say on how many data sets a method was tried; with a measure, on how many it applies."""
    scores = view.of("scores")
    own = scores[scores["method"] == row["method"]].dropna(subset=[measure] if measure else [])
    tried = len(own[DATA_SET].drop_duplicates())
    return f"{count(tried)} {view.data_sets} of {_number(own['system'].nunique(), 'system')}"


def _name(row: Row) -> str:
    return escape(method_name(row["method"]), "markdown")


def _number(value: int, noun: str, plural: str = "") -> str:
    return f"{count(value)} {noun if value == 1 else plural or noun + 's'}"


def _two(value: float) -> str:
    return fixed(value, 2)


def _size(value: float | None) -> str:
    return "unknown" if value is None else significant(value)


def _time(row: Row) -> str:
    seconds = row["seconds"]
    return "CPU time that was not measured" if seconds is None else f"{significant(seconds)} s of CPU time a run"


def _interval(row: Row, stem: str, form: Callable[[float], str]) -> str:
    low, high = row[f"{stem}_low"], row[f"{stem}_high"]
    return "" if low is None or high is None else f" (interval {form(low)} to {form(high)})"
