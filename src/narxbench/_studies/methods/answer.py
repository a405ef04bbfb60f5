"""Which method to use, in lines of Markdown: names, numbers and conclusions come from the frames."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from operator import itemgetter
from typing import NamedTuple

from narxbench._report.formats import count, escape, fixed, listed, method_name, share, significant
from narxbench._studies.methods.metrics import (
    DIFFERENCES,
    EARLY,
    EXACT,
    FRESH,
    GAP,
    IN_FRESH_ERROR,
    IN_GAP,
    IN_RECOVERY,
    Difference,
)
from narxbench._studies.methods.rank_tests import DATA_SET
from narxbench._studies.methods.score_file import TRUTH
from narxbench._studies.methods.views import (
    CHEAPEST,
    LOWEST_J,
    NEW_DATA,
    TERMS,
    USEFUL,
    WANTS,
    Comparison,
    Row,
    View,
    values_of,
)

# The difference that decides between two methods, by what is wanted.
_DIFFERENCE = {TERMS: IN_RECOVERY, NEW_DATA: IN_FRESH_ERROR, LOWEST_J: IN_GAP, CHEAPEST: IN_RECOVERY}
_REGIONS = "; ".join(difference.region for difference in DIFFERENCES)
REGIONS = f"Practically equal is what differs by no more than {_REGIONS}."
_VERDICTS = {"a": "better", "b": "worse", "equivalent": "practically equal", "open": "open"}
_REVERSED = {"a": "b", "b": "a"}
_ENOUGH = f"at least {share(USEFUL)} of the best exact recovery"


class ShownDifference(NamedTuple):
    """The difference of a method from another one, as readers see it, and p after Holm's correction."""

    difference: str
    interval: str
    verdict: str
    p: float


def document_lines(comparison: Comparison) -> list[str]:
    """Return the whole answer for the first part of the data sets: for the right terms, then for other wishes.

    The first line says which method to use.
    """
    view, *special_views = comparison.within(comparison.parts[0])
    lines = answer_lines(view, TERMS)
    for want in list(WANTS)[1:]:
        line = answer_lines(view, want)[0]
        if line not in lines:
            lines.append(line.replace("**", f"**If you want {WANTS[want]}: ", 1))
    special = "; ".join(_special(view, special_views))
    return [*lines, f"**Special data.** {special}."] if special else lines


def answer_lines(view: View, want: str) -> list[str]:
    """Return which method to use, how sure that is, and what follows from it."""
    best = view.best(want)
    if best is None or _all_failed(view.ranked(NEW_DATA)):
        lines = [f"**No method can be recommended.** {_why_none(view.ranked(NEW_DATA), want)}"]
    else:
        sentences = [f"**Use {_name(best)}.**", *_HEADS[want](view, best), view.caveat]
        lines = [" ".join(filter(None, sentences))]
        if want == TERMS:
            lines += filter(None, (_limits(view), _cost(view, best)))
    # Numbers stay on the line of their signs and units.
    return [re.sub(r" (?=%|[<=] |points\b)|(?<=[<=]) ", "\u00a0", line) for line in lines]


def differences_from(view: View, difference: Difference, method: str) -> dict[str, ShownDifference]:
    """Return the differences of a method from each method that it was tested against, by the name of the latter."""
    pairs = view.frame("pairs")
    shown = {}
    for pair in pairs[pairs["measure"] == difference.metric.name].to_dict("records"):
        size, low, high, verdict = pair["difference"], pair["low"], pair["high"], pair["verdict"]
        if method == pair["a"]:
            rival = pair["b"]
        elif method == pair["b"]:
            rival = pair["a"]
            size, low, high = _reversed(size, difference), _reversed(high, difference), _reversed(low, difference)
            verdict = _REVERSED.get(verdict, verdict)
        else:
            continue
        size_text = _size_text(size, difference)
        if difference.metric is EXACT:
            size_text += " points"
        interval = ""
        if not math.isnan(low):
            interval = f"{_size_text(low, difference)} to {_size_text(high, difference)}"
        shown[rival] = ShownDifference(size_text, interval, _VERDICTS[verdict], pair["p_holm"])
    return shown


def cheapest_equal(view: View) -> Row | None:
    """Return the cheapest method whose exact recovery is within the region of practical equivalence of the best."""
    best = view.best()
    if not best:
        return None
    least = best[EXACT.name] - _DIFFERENCE[TERMS].negligible - 1e-9
    return next((row for row in view.ranked(CHEAPEST) if row[EXACT.name] >= least), None)


def _reversed(value: float, difference: Difference) -> float:
    """Return the difference, or ratio, of b from a, given that of a from b."""
    return 1 / value if difference.ratio else -value


def _size_text(value: float, difference: Difference) -> str:
    """Return a difference as readers see it: percentage points of a share, a factor, or a number with its sign."""
    if difference.ratio:
        return f"×{significant(value)}"
    text = fixed(100 * value, 0) if difference.metric is EXACT else significant(value)
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
    reference, reference_error = _row_of(view, TRUTH), ""
    if reference:
        reference_error = f"least squares on the system terms: {_size(reference[FRESH.name])}"
    yield f"median error is {_size(best[FRESH.name])} of the spread of the output{_bracketed(reference_error)}."
    yield from _sure(view, best, NEW_DATA, lambda row: _two(row["rank_fresh_error"]))


def _lowest_j(view: View, best: Row) -> Iterator[str]:
    searches = view.ranked(LOWEST_J)
    yield f"Of {_number(len(searches), 'search', 'searches')} of the same J with the same budget it has the best mean"
    yield f"rank by its gap, {_two(best['rank_gap'])}{_interval(best, 'rank_gap', _two)}, on {_where(view, best)}; its"
    yield f"median gap is {_size(best[GAP.name])}, that of its worst runs {_size(best['gap_worst'])}."
    yield from _sure(view, best, LOWEST_J, lambda row: _two(row["rank_gap"]))
    yield _first_early(searches, best)
    finder = view.best()
    if finder and finder[EXACT.name] and finder["method"] != best["method"]:
        yield f"The lowest J need not have the right terms: exact recovery {share(best[EXACT.name])};"
        yield f"{_name(finder)}, {share(finder[EXACT.name])}."


def _first_early(searches: Sequence[Row], best: Row) -> str:
    """Return which searches are first after fewer evaluations than the whole budget."""
    names = []
    for evaluations in EARLY:
        names.append(_name(min(searches, key=itemgetter(f"rank_gap_{evaluations}"))))
    if {*names} == {_name(best)}:
        return f"It is first after {EARLY[0]} and after {EARLY[1]} evaluations, too."
    return f"After {EARLY[0]} evaluations {names[0]} is first, after {EARLY[1]} {names[1]}."


def _cheapest(view: View, best: Row) -> Iterator[str]:
    yield f"It takes {_time(best)}, and {share(best[EXACT.name])} of its runs end at exactly the system"
    yield f"terms, on {_where(view, best, EXACT.name)}. It is the cheapest of the methods with {_ENOUGH}."
    finder = view.best() or best
    if finder["method"] != best["method"]:
        size = _against(view, best, finder)
        yield f"{_name(finder)} has {share(finder[EXACT.name])} and takes {_time(finder)}{size}."


_HEADS = {TERMS: _terms, NEW_DATA: _new_data, LOWEST_J: _lowest_j, CHEAPEST: _cheapest}


def _all_failed(ranked: Sequence[Row]) -> bool:
    return values_of(ranked, "failures") == values_of(ranked, "runs")


def _why_none(ranked: Sequence[Row], want: str) -> str:
    if not ranked:
        return "There is no data set that all of them ran on."
    if _all_failed(ranked):
        return f"All {count(sum(values_of(ranked, 'runs')))} runs failed."
    if want == LOWEST_J:
        return "No method that minimises J took part."
    if set(values_of(ranked, EXACT.name)) == {None}:
        return "The system terms are not among the candidate terms here: ask for what is good on new data."
    return "No method ends at exactly the system terms, or the CPU time of those that do was not measured."


def _sure(view: View, best: Row, want: str, value: Callable[[Row], str]) -> Iterator[str]:
    """Yield by how much the best method leads, and what the tests against each of the others say."""
    following = view.ranked(want)[1:]
    if not following:
        return
    second, difference = following[0], _DIFFERENCE[want]
    differences = differences_from(view, difference, best["method"])
    lead = ""
    if second["method"] in differences:
        shown = differences[second["method"]]
        lead = f": difference {shown.difference}{_bracketed(shown.interval)}, {shown.verdict}"
    yield f"Next is {_name(second)}, {value(second)}{lead}."
    if differences:
        yield f"It is {_verdicts_in_words(differences)}; up to {difference.region} counts as equal."


def _verdicts_in_words(differences: Mapping[str, ShownDifference]) -> str:
    """Return than how many others a method is better, and which it is equal to, worse than, or undecided against."""
    rivals: dict[str, list[str]] = {}
    for rival, difference in differences.items():
        rivals.setdefault(difference.verdict, []).append(escape(method_name(rival), "markdown"))
    n_worse = len(rivals.get("better", ()))
    parts = [f"better than {n_worse or 'none'} of {_number(len(differences), 'other')}"]
    for verdict, preposition in (("practically equal", "to"), ("worse", "than"), ("open", "against")):
        names = rivals.get(verdict)
        if names:
            parts.append(f"{verdict} {preposition} {listed(names) if len(names) < 4 else len(names)}")
    return ", ".join(parts)


def _limits(view: View) -> str:
    """Return whether the criterion or the search is the limit where runs miss the system terms."""
    searches = [row for row in view.ranked(LOWEST_J) if _misses_for_known_reasons(row)]
    if not searches:
        return ""
    lost_to_criterion = math.fsum(values_of(searches, "lost_to_criterion"))
    lost_to_search = math.fsum(values_of(searches, "lost_to_search"))
    share_of_criterion = lost_to_criterion / (lost_to_criterion + lost_to_search)
    text = (
        f"**Criterion or search.** Where methods that minimise J miss the system terms, the criterion is the limit in "
        f"{share(share_of_criterion)} of the runs, for J is no lower at the system terms, the search in "
        f"{share(1 - share_of_criterion)}"
    )
    if searches[0] == view.best(LOWEST_J):
        text += f"; with the best search, {_name(searches[0])}, the criterion in {_share_of_criterion(searches[0])}"
    other_methods = []
    for row in view.ranked():
        if _misses_for_known_reasons(row) and not row["searches"]:
            other_methods.append(f"{_name(row)} {_share_of_criterion(row)}")
    if other_methods:
        text += f". With criteria of their own the criterion is it in: {'; '.join(other_methods)}"
    return f"{text}."


def _misses_for_known_reasons(row: Row) -> bool:
    """Return whether runs of a method miss the system terms, and whether the search was the limit is known."""
    return row["lost_to_search"] is not None and row[EXACT.name] < 1


def _share_of_criterion(row: Row) -> str:
    return share(row["lost_to_criterion"] / (row["lost_to_criterion"] + row["lost_to_search"]))


def _cost(view: View, best: Row) -> str:
    """Return the cheapest method that is practically equal to the best, or the loss with the cheapest one."""
    text = f"**What cost buys.** {_name(best)} takes {_time(best)}"
    most_seconds = best["seconds"] or math.inf
    # The cheapest methods come first.
    cheaper = list(takewhile(lambda row: row["seconds"] < most_seconds, view.ranked(CHEAPEST)))
    if not cheaper and not (best["useful"] and best["seconds"]):
        return ""
    if not cheaper:
        return f"{text}; no method with {_ENOUGH} takes less."
    row, description, end = cheaper[0], f"with {_ENOUGH}", ""
    differences = differences_from(view, _DIFFERENCE[TERMS], best["method"])
    if differences:
        end = " No cheaper one is shown to be practically equal."
    for cheaper_row in cheaper:
        difference = differences.get(cheaper_row["method"])
        if difference and difference.verdict == "practically equal":
            row, description, end = cheaper_row, "that is practically equal", ""
            break
    text += f"; the cheapest one {description}, {_name(row)}, takes {_time(row)} and has {share(row[EXACT.name])}"
    return f"{text} exact recovery{_against(view, row, best)}.{end}"


def _against(view: View, row: Row, rival: Row) -> str:
    """Return the difference in exact recovery of a method from another one, in brackets; empty without a test."""
    shown = differences_from(view, _DIFFERENCE[TERMS], row["method"]).get(rival["method"])
    if shown is None:
        return ""
    size = ", ".join(filter(None, (shown.difference, shown.interval)))
    return _bracketed(f"difference {size}: {shown.verdict}")


def _special(whole: View, special_views: Sequence[View]) -> Iterator[str]:
    """Yield groups in which another method finds the terms clearly more often: the intervals do not overlap."""
    overall_best = whole.best()
    if not overall_best:
        return
    for view in special_views:
        best, usual = view.best(), _row_of(view, overall_best["method"])
        if not best or not usual or None in (best["exact_low"], usual["exact_high"]):
            continue
        if best["exact_low"] > usual["exact_high"]:
            group = f"*{escape(view.group, 'markdown')}* ({escape(view.description, 'markdown')})"
            yield f"{group}: {_name(best)}, {share(best['exact'])} against {share(usual['exact'])}"


def _row_of(view: View, method: str) -> Row | None:
    return next((row for row in view.rows() if row["method"] == method), None)


def _where(view: View, row: Row, measure: str = "") -> str:
    """Return on how many data sets and systems a method was tried; with a measure, only those that it applies to."""
    scores = view.frame("scores")
    scores = scores[scores["method"] == row["method"]]
    if measure:
        scores = scores.dropna(subset=[measure])
    n_data_sets = len(scores[DATA_SET].drop_duplicates())
    return f"{count(n_data_sets)} {view.data_sets} of {_number(scores['system'].nunique(), 'system')}"


def _name(row: Row) -> str:
    return escape(method_name(row["method"]), "markdown")


def _number(value: int, noun: str, plural: str = "") -> str:
    if value == 1:
        return f"{count(value)} {noun}"
    return f"{count(value)} {plural or noun + 's'}"


def _two(value: float) -> str:
    return fixed(value, 2)


def _size(value: float | None) -> str:
    return "unknown" if value is None else significant(value)


def _time(row: Row) -> str:
    seconds = row["seconds"]
    return "CPU time that was not measured" if seconds is None else f"{significant(seconds)} s of CPU time a run"


def _interval(row: Row, stem: str, form: Callable[[float], str]) -> str:
    """Return the interval of a value in brackets, after a space; empty if there is none."""
    low, high = row[f"{stem}_low"], row[f"{stem}_high"]
    if low is None or high is None:
        return ""
    return _bracketed(f"interval {form(low)} to {form(high)}")


def _bracketed(text: str) -> str:
    """Return a text in brackets, after a space; empty for an empty text."""
    return f" ({text})" if text else ""
