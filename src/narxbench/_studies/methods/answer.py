"""Which method to use, in lines of Markdown: names, numbers and conclusions come from the frames."""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from operator import itemgetter

from narxbench._report.formats import count, escape, fixed, listed, method_name, share, significant
from narxbench._studies.methods.evidence import BETTER, OPEN
from narxbench._studies.methods.leads import (
    RELIABLE,
    Break,
    Lead,
    RivalEvidence,
    breaks,
    conditions_tried,
    lead_for,
    too_few_words,
)
from narxbench._studies.methods.metrics import EARLY, EXACT, FRESH, GAP
from narxbench._studies.methods.score_file import TRUTH
from narxbench._studies.methods.views import BOARDS, USEFUL, Comparison, View, values_of
from narxbench._studies.methods.wants import CHEAPEST, LOWEST_J, NEW_DATA, TERMS, TESTED, WANTS, Row
from narxbench._studies.methods.words import least_p_text, p_phrase, share_text

_REGIONS = "; ".join(difference.region for difference in TESTED.values())
REGIONS = f"Practically equal is what differs by no more than {_REGIONS}."
_ENOUGH = f"at least {share(USEFUL)} of the best exact recovery"
# Rivals that are named next to the best method if they are not shown to be worse.
_MOST_ALTERNATIVES = 3
# Conditions that the first line names; the line "Where it breaks" has all.
_MOST_CONDITIONS = 6


def document_lines(comparison: Comparison) -> list[str]:
    """Return the whole answer for the first part of the data sets: for the right terms, then for other wishes.

    The first line says which method to use, and under which conditions not.
    """
    views = comparison.within(comparison.parts[0])
    whole = views[0]
    lines = answer_lines(whole, TERMS, views)
    for want in list(WANTS)[1:]:
        line = answer_lines(whole, want)[0]
        if line not in lines:
            lines.append(line.replace("**", f"**If you want {WANTS[want]}: ", 1))
    return lines


def answer_line(comparison: Comparison) -> str:
    """Return the answer for a terminal: the places of the methods that the study adds, or else the best method."""
    view = comparison.within(comparison.parts[0])[0]
    ranked = values_of(view.ranked(TERMS), "method")
    methods, best = comparison.added, view.best(TERMS)
    if not methods and best is not None and best["exact"]:
        methods = [best["method"]]
    places = [_place(view, ranked, method) for method in methods]
    return f"by exact recovery on the {view.data_sets}: {'; '.join(places)}" if places else ""


def _place(view: View, ranked: Sequence[str], method: str) -> str:
    """Return the place of a method, and how often it found exactly the true terms."""
    row = view.row(method)
    if row is None or method not in ranked:
        return f"{method_name(method)} is not ranked"
    (recovery,) = [column for column in BOARDS["identify"] if column.key == EXACT.name]
    text = f"{method_name(method)} is {ranked.index(method) + 1} of {len(ranked)} with {recovery.show(row)}"
    limits = recovery.limits(row)
    return f"{text} ({limits})" if limits else text


def list_text(lines: Sequence[str]) -> str:
    """Return lines as a list in Markdown; the lists within them are indented."""
    items = ["- " + line.replace("\n", "\n  ") for line in lines]
    return "\n".join(items) + "\n"


def answer_lines(view: View, want: str, views: Sequence[View] = ()) -> list[str]:
    """Return which method to use, how sure that is, and what follows from it.

    ``views`` are the groups of the same part of the data sets, in which the method for the right terms may break.
    """
    best, lead = view.best(want), lead_for(view, want)
    if best is None or _all_failed(view.ranked(NEW_DATA)):
        lines = [f"**No method can be recommended.** {_why_none(view.ranked(NEW_DATA), want)}"]
    elif lead is None or lead.is_shown_nowhere:
        lines = [" ".join(filter(None, (_not_enough(view, want, best), view.caveat)))]
    else:
        broken = breaks(view, views) if want == TERMS else []
        sentences = [f"**{_verdict(best, lead, want)}**", *_HEADS[want](view, best, lead)]
        if broken:
            sentences.append(_conditions_in_brief(best, broken, len(conditions_tried(view, views))))
        lines = [" ".join(filter(None, [*sentences, view.caveat]))]
        if want == TERMS:
            lines += filter(None, (_where_it_breaks(view, best, broken, views), _limits(view), _cost(view, best, lead)))
    # Numbers stay on the line of their signs and units.
    return [re.sub(r" (?=%|[<=] |points\b)|(?<=[<=]) ", "\u00a0", line) for line in lines]


def cheapest_equal(view: View) -> Row | None:
    """Return the cheapest method whose exact recovery is within the region of practical equivalence of the best."""
    best = view.best()
    if not best:
        return None
    least = best[EXACT.name] - TESTED[TERMS].negligible - 1e-9
    return next((row for row in view.ranked(CHEAPEST) if row[EXACT.name] >= least), None)


def _verdict(best: Row, lead: Lead, want: str) -> str:
    """Return the verdict in a few words: one method, several that are not told apart, or none."""
    if not lead.rivals:
        return f"Only {_name(best)} took part."
    if want == CHEAPEST:
        return f"Use {_name(best)}."
    alternatives = lead.not_beaten()
    if not alternatives:
        return f"Use {_name(best)}."
    if len(alternatives) == len(lead.rivals):
        return f"No method is shown to be best; {_name(best)} leads."
    if len(alternatives) <= _MOST_ALTERNATIVES:
        names = [_name(best), *(_named(rival.method) for rival in alternatives)]
        return f"Use {', '.join(names[:-1])} or {names[-1]}."
    return f"{_name(best)} leads, but {count(len(alternatives))} methods may be as good."


def _not_enough(view: View, want: str, best: Row) -> str:
    """Return that there are too few systems to recommend anything, and which method leads on them."""
    n_data_sets, n_systems = view.count_of_data(best["method"], EXACT.name if want in (TERMS, CHEAPEST) else "")
    return (
        f"**Not enough data sets to recommend a method.** {too_few_words(n_systems, view.alpha)}. "
        f"On these {_number(n_data_sets, 'data set')} {_name(best)} leads, which may be chance."
    )


def _terms(view: View, best: Row, lead: Lead) -> Iterator[str]:
    if best[EXACT.name]:
        yield f"{share_text(best[EXACT.name])} of the runs of {_name(best)} end at exactly the system terms"
        yield f"{_interval(best)}, the most of {_number(len(view.ranked()), 'method')},"
    else:
        yield f"No method ends at exactly the system terms; {_name(best)} has the best F1, {_two(best['f1'])},"
    yield f"on {_where(view, best, EXACT.name)}."
    yield from _sure(view, lead, TERMS, lambda row: share_text(row[EXACT.name]))


def _new_data(view: View, best: Row, lead: Lead) -> Iterator[str]:
    yield f"By its error on fresh data {_name(best)} has the best mean rank of"
    yield f"{_number(len(view.ranked(NEW_DATA)), 'method')}, {_two(best['rank_fresh_error'])}, on"
    reference, reference_error = view.row(TRUTH), ""
    if reference:
        reference_error = f"least squares on the system terms: {_size(reference[FRESH.name])}"
    yield f"{_where(view, best)}; its median error is {_size(best[FRESH.name])} of the spread of the"
    yield f"output{_bracketed(reference_error)}."
    yield from _sure(view, lead, NEW_DATA, lambda row: f"mean rank {_two(row['rank_fresh_error'])}")


def _lowest_j(view: View, best: Row, lead: Lead) -> Iterator[str]:
    searches = view.ranked(LOWEST_J)
    yield f"Of {_number(len(searches), 'search', 'searches')} of the same J with the same budget {_name(best)} has the"
    yield f"best mean rank by its gap, {_two(best['rank_gap'])}, on {_where(view, best)}; its"
    yield f"median gap is {_size(best[GAP.name])}, that of its worst runs {_size(best['gap_worst'])}."
    yield from _sure(view, lead, LOWEST_J, lambda row: f"mean rank {_two(row['rank_gap'])}")
    yield _first_early(searches, best)
    finder = view.best()
    if finder and finder[EXACT.name] and finder["method"] != best["method"]:
        yield f"The lowest J need not have the right terms: exact recovery {share_text(best[EXACT.name])};"
        yield f"{_name(finder)}, {share_text(finder[EXACT.name])}."


def _first_early(searches: Sequence[Row], best: Row) -> str:
    """Return which searches are first after fewer evaluations than the whole budget."""
    names = []
    for evaluations in EARLY:
        names.append(_name(min(searches, key=itemgetter(f"rank_gap_{evaluations}"))))
    if {*names} == {_name(best)}:
        return f"It is first after {EARLY[0]} and after {EARLY[1]} evaluations, too."
    return f"After {EARLY[0]} evaluations {names[0]} is first, after {EARLY[1]} {names[1]}."


def _cheapest(view: View, best: Row, lead: Lead) -> Iterator[str]:
    yield f"It takes {_time(best)}, and {share_text(best[EXACT.name])} of its runs end at exactly the system"
    yield f"terms, on {_where(view, best, EXACT.name)}. It is the cheapest of the methods with {_ENOUGH}."
    finder = view.best() or best
    if finder["method"] != best["method"]:
        against = _against(lead.rival(best["method"]))
        yield f"{_name(finder)} has {share_text(finder[EXACT.name])} and takes {_time(finder)}{against}."


_HEADS: Mapping[str, Callable[[View, Row, Lead], Iterator[str]]] = {
    TERMS: _terms,
    NEW_DATA: _new_data,
    LOWEST_J: _lowest_j,
    CHEAPEST: _cheapest,
}


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


def _sure(view: View, lead: Lead, want: str, value: Callable[[Row], str]) -> Iterator[str]:
    """Yield by how much the best method leads, and what the tests against each of the others say."""
    if not lead.rivals:
        return
    second = lead.rivals[0]
    row = view.row(second.method)
    if row is not None:
        yield f"Next is {_name(row)}, {value(row)}: {_evidence(second, view.alpha)}."
    yield _all_verdicts(lead)
    yield f"Up to {lead.difference.region} counts as equal."


def _evidence(rival: RivalEvidence, alpha: float) -> str:
    """Return a difference with its interval, verdict and p."""
    words = f"difference {rival.difference} (interval {rival.interval}), {rival.verdict}"
    return words if rival.p_text == "–" else f"{words}, {p_phrase(rival.p, alpha)}"


def _all_verdicts(lead: Lead) -> str:
    """Return than how many rivals the best method is better, how sure that is, and which are not beaten."""
    by_verdict: dict[str, list[str]] = {}
    largest_p = 0.0
    for rival in lead.rivals:
        by_verdict.setdefault(rival.verdict, []).append(_named(rival.method))
        if rival.verdict == BETTER:
            largest_p = max(largest_p, rival.p)
    n_better = len(by_verdict.get(BETTER, ()))
    sentence = f"{_named(lead.best)} is better than {n_better or 'none'} of {_number(len(lead.rivals), 'other')}"
    if n_better:
        p = p_phrase(largest_p, lead.alpha)
        sentence += f" ({p} at most)" if n_better > 1 and "<" not in p else f" ({p})"
    for verdict, preposition in (("practically equal", "to"), ("worse", "than"), (OPEN, "against")):
        names = by_verdict.get(verdict)
        if names:
            shown = listed(names) if len(names) <= _MOST_ALTERNATIVES else count(len(names))
            sentence += f", {verdict} {preposition} {shown}"
    systems = _number(lead.n_systems, "system")
    return f"{sentence}; with {systems} no p can be below {least_p_text(lead.n_systems)}."


def _conditions_in_brief(best: Row, broken: Sequence[Break], n_tried: int) -> str:
    """Return the conditions under which the best method is not first or not reliable, by name."""
    names = [f"*{escape(condition.view.group, 'markdown')}*" for condition in broken]
    if len(names) > _MOST_CONDITIONS:
        names = [*names[:_MOST_CONDITIONS], f"{count(len(names) - _MOST_CONDITIONS)} more"]
    where = f"{count(len(broken))} of {_number(n_tried, 'condition')}"
    return f"{_name(best)} is below {share(RELIABLE)} or not first in {where}: {listed(names)}."


def _where_it_breaks(view: View, best: Row, broken: Sequence[Break], views: Sequence[View]) -> str:
    """Return each condition under which the best method is not first or not reliable, with what is first there."""
    tried = conditions_tried(view, views)
    if not tried:
        return ""
    if not broken:
        return (
            f"**Where it breaks.** {_name(best)} is first and at {share(RELIABLE)} or above in all "
            f"{_number(len(tried), 'condition')} of the {view.data_sets}; others were not tried."
        )
    where = f"{count(len(broken))} of {_number(len(tried), 'condition')}"
    items = "".join(map("\n- {}".format, map(_break_in_words, broken)))
    return (
        f"**Where it breaks.** In {where} of the {view.data_sets} {_name(best)} is not first, or below "
        f"{share(RELIABLE)}. Exact recovery of the first method there and of {_name(best)}, if your data are like"
        f"{items}"
    )


def _break_in_words(condition: Break) -> str:
    """Return a condition with the recovery of the first method there and of the winner over all data."""
    view, usual, first = condition.view, condition.usual, condition.first
    group = f"*{escape(view.group, 'markdown')}* ({escape(view.description, 'markdown')})"
    value = f"{_name(usual)} {share_text(usual[EXACT.name])}"
    if not first[EXACT.name]:
        return f"{group}: no method finds them"
    if condition.is_first:
        return f"{group}: {value}, the most"
    evidence = ""
    if condition.rival:
        evidence = f"; {condition.rival.verdict}, {p_phrase(condition.rival.p, view.alpha)}"
    return f"{group}: {_name(first)} {share_text(first[EXACT.name])}, {value}{evidence}"


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


def _cost(view: View, best: Row, lead: Lead) -> str:
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
    if lead.rivals:
        end = " No cheaper one is shown to be practically equal."
    for cheaper_row in cheaper:
        rival = lead.rival(cheaper_row["method"])
        if rival and rival.verdict == "practically equal":
            row, description, end = cheaper_row, "that is practically equal", ""
            break
    text += f"; the cheapest one {description}, {_name(row)}, takes {_time(row)} and has {share_text(row[EXACT.name])}"
    return f"{text} exact recovery{_against(lead.rival(row['method']))}.{end}"


def _against(rival: RivalEvidence | None) -> str:
    """Return the lead of the best method over another one, in brackets; empty without a test."""
    if rival is None:
        return ""
    return f" (difference {rival.difference}, interval {rival.interval}: {rival.verdict})"


def _where(view: View, row: Row, measure: str = "") -> str:
    """Return on how many data sets and systems a method was tried; with a measure, only those that it applies to."""
    n_data_sets, n_systems = view.count_of_data(row["method"], measure)
    return f"{count(n_data_sets)} {view.data_sets} of {_number(n_systems, 'system')}"


def _name(row: Row) -> str:
    return _named(row["method"])


def _named(method: str) -> str:
    return escape(method_name(method), "markdown")


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


def _interval(row: Row) -> str:
    """Return the interval of exact recovery in brackets; empty if there is none."""
    low, high = row["exact_low"], row["exact_high"]
    if low is None or high is None:
        return ""
    return f"(interval {share_text(low)} to {share_text(high)})"


def _bracketed(text: str) -> str:
    """Return a text in brackets, after a space; empty for an empty text."""
    return f" ({text})" if text else ""
