"""Which method to use, in sentences of Markdown: names, numbers and conclusions come from the frames."""

import math
import re
from collections.abc import Sequence

from narxbench._report.formats import count, escape, fixed, listed, method_name, p_value, share, significant, tenths
from narxbench._studies.methods.metrics import EXACT, FRESH, GAP, TESTED, ComparisonMetric
from narxbench._studies.methods.pairs import (
    BETTER,
    EQUAL,
    UNDECIDED,
    WORSE,
    PairedTest,
    enough_systems,
    fewest_systems,
    not_beaten,
)
from narxbench._studies.methods.ranking import ALL
from narxbench._studies.methods.views import RELIABLE, USEFUL, Comparison, Row, breaks

REGIONS = f"Practically equal is what differs by no more than {'; '.join(metric.region for metric in TESTED)}."
# The line on the situations in which the best method is not first or not reliable begins so.
BREAKS = "**Where it breaks.**"
# Rivals that are named next to the best method if they are not shown to be worse.
_MOST_ALTERNATIVES = 3


def answer_lines(comparison: Comparison) -> list[str]:
    """Return the answer: for the right terms, for a model of new data, where it breaks, and for two other aims."""
    lines = [_terms(comparison), _new_data(comparison), *_where_it_breaks(comparison)]
    lines += [*_lowest_j(comparison), *_little_time(comparison)]
    if comparison.caveat:
        lines.append(comparison.caveat)
    # Numbers stay on the line of their signs and units.
    return [re.sub(r" (?=%|[<=] |points\b)|(?<=[<=]) ", "\u00a0", line) for line in lines]


def answer_line(comparison: Comparison) -> str:
    """Return the answer for a terminal: the places of the methods that the study adds, or else the best method."""
    view, best = comparison.whole, comparison.whole.best()
    ranked = [row["method"] for row in view.ranked()]
    methods = list(comparison.added)
    if not methods and best is not None:
        methods = [best["method"]]
    places = []
    for method in methods:
        row = view.row(method)
        if row is None or method not in ranked:
            places.append(f"{method_name(method)} is not ranked")
            continue
        place = f"{ranked.index(method) + 1} of {len(ranked)}"
        recovery = f"{tenths(row[EXACT.name])}{_interval(row, EXACT, plain=True)}"
        places.append(f"{method_name(method)} is {place} with {recovery}")
    return f"by exact recovery on the {comparison.data_sets}: {'; '.join(places)}" if places else ""


def list_text(lines: Sequence[str]) -> str:
    """Return lines as a list in Markdown."""
    return "".join(f"- {line}\n" for line in lines)


def value_text(metric: ComparisonMetric, value: float | None) -> str:
    """Return a value of a metric as readers see it."""
    if value is None:
        return "unknown"
    return tenths(value) if metric is EXACT else significant(value)


def difference_text(metric: ComparisonMetric, value: float) -> str:
    """Return the size of a difference in words: points of a share, a factor of an error, or a number."""
    if metric is EXACT:
        return f"{fixed(100 * value, 1)} points"
    if metric is FRESH:
        return f"a factor of {significant(value)}"
    return significant(value)


def verdict_text(pair: PairedTest, metric: ComparisonMetric) -> str:
    """Return what a comparison says of the rival, in a few words."""
    if pair.verdict == UNDECIDED and not math.isnan(pair.detectable):
        return f"{UNDECIDED}: {difference_text(metric, pair.detectable)}"
    return {BETTER: "worse", WORSE: "better"}.get(pair.verdict, pair.verdict)


def _terms(comparison: Comparison) -> str:
    view, best = comparison.whole, comparison.whole.best()
    if best is None:
        return f"**No method can be recommended for the right terms.** {_why_none(comparison)}"
    pairs = comparison.pairs(EXACT)
    if _too_few(comparison, EXACT):
        return _not_enough(comparison, best)
    recovery = f"ends at exactly the true terms in {tenths(best[EXACT.name])} of the runs{_interval(best, EXACT)}"
    most = f"the most of {_number(len(view.ranked()), 'method')}"
    where = f"on {_data(comparison, EXACT)}{_tested(pairs, EXACT)}"
    return f"**{_verdict(best, pairs)}** {_name(best['method'])} {recovery}, {most}, {where}."


def _new_data(comparison: Comparison) -> str:
    best = comparison.whole.best(FRESH)
    if best is None or best["failures"] == best["runs"]:
        reason = "All runs failed." if best else _why_none(comparison)
        return f"**No method can be recommended for new data.** {reason}"
    pairs = comparison.pairs(FRESH)
    beginning, tested = f"{_name(best['method'])} leads.", ""
    if not _too_few(comparison, FRESH):
        beginning, tested = _lower(_verdict(best, pairs)), _tested(pairs, FRESH)
    error = (
        f"the free run of {_name(best['method'])} has an error of {value_text(FRESH, best[FRESH.name])} of the spread"
    )
    evidence = f"of the output{_interval(best, FRESH)}{tested}"
    return f"**For a model of new data: {beginning}** On {_data(comparison, FRESH)} {error} {evidence}."


def _where_it_breaks(comparison: Comparison) -> list[str]:
    best = comparison.whole.best()
    n_tried = sum(view.group != ALL and view.best() is not None for view in comparison.views)
    if best is None or not n_tried or _too_few(comparison, EXACT):
        return []
    broken = breaks(comparison.views, best)
    name = _name(best["method"])
    if not broken:
        return [f"{BREAKS} In none of {n_tried} situations {name} is below {share(RELIABLE)} or not first."]
    places = [f"*{escape(view.group, 'markdown')}*" for view in broken]
    where = f"{count(len(broken))} of {_number(n_tried, 'situation')}"
    return [f"{BREAKS} {name} is below {share(RELIABLE)} or not first in {where}: {listed(places)}."]


def _lowest_j(comparison: Comparison) -> list[str]:
    view, best = comparison.whole, comparison.whole.best(GAP)
    if best is None or len(view.ranked(GAP)) < 2 or _too_few(comparison, GAP):
        return []
    pairs = comparison.pairs(GAP)
    searches = _number(len(view.ranked(GAP)), "search", "searches")
    gap = f"has the smallest mean gap to the lowest known J, {value_text(GAP, best[GAP.name])}"
    text = f"**For the lowest J: {_lower(_verdict(best, pairs))}** Of {searches} with the same budget "
    text += f"{_name(best['method'])} {gap}"
    finder = view.best()
    if finder and finder["method"] != best["method"] and best[EXACT.name] is not None:
        text += f", but the lowest J need not have the true terms: {tenths(best[EXACT.name])}"
    return [f"{text}{_tested(pairs, GAP)}."]


def _little_time(comparison: Comparison) -> list[str]:
    cheapest = comparison.whole.cheapest_useful()
    if cheapest is None or _too_few(comparison, EXACT):
        return []
    rule = f"It is the cheapest with at least {share(USEFUL)} of the best exact recovery"
    time = f"{significant(cheapest['seconds'])} s of CPU time a run, {tenths(cheapest[EXACT.name])}"
    return [f"**For little time: use {_name(cheapest['method'])}.** {rule}: {time}."]


def _verdict(best: Row, pairs: Sequence[PairedTest]) -> str:
    """Return the verdict in a few words: one method, several that are not distinguished, or none."""
    name, alternatives = _name(best["method"]), not_beaten(pairs)
    if not pairs:
        return f"Only {name} took part."
    if len(alternatives) == len(pairs):
        return f"No method is shown to be best; {name} leads."
    if len(alternatives) > _MOST_ALTERNATIVES:
        return f"{name} leads, but {count(len(alternatives))} methods may be as good."
    if not alternatives:
        return f"Use {name}."
    *names, last_name = [name, *(_name(pair.rival) for pair in alternatives)]
    return f"Use {', '.join(names)} or {last_name}."


def _tested(pairs: Sequence[PairedTest], metric: ComparisonMetric) -> str:
    """Return than how many rivals the best method is better, which are equal, and which are undecided."""
    if not pairs:
        return ""
    beaten = [pair for pair in pairs if pair.verdict == BETTER]
    text = f"; better than {len(beaten)} of {_number(len(pairs), 'other')}"
    if beaten:
        text += f" (p {_p(max(pair.p for pair in beaten))})"
    for verdict, words in ((WORSE, "worse than"), (EQUAL, "practically equal to"), (UNDECIDED, "undecided against")):
        rivals = [pair for pair in pairs if pair.verdict == verdict]
        if rivals:
            text += f", {words} {_rivals_listed(rivals)}"
    sizes = [pair.detectable for pair in pairs if pair.verdict == UNDECIDED]
    if sizes:
        text += f", where {difference_text(metric, max(sizes))} could have been seen"
    return text


def _rivals_listed(pairs: Sequence[PairedTest]) -> str:
    """Return the rivals by name, or how many they are."""
    if len(pairs) > _MOST_ALTERNATIVES:
        return _number(len(pairs), "method")
    return listed([_name(pair.rival) for pair in pairs])


def _p(value: float) -> str:
    text = p_value(value)
    return text if text.startswith("<") else f"≤ {text}"


def _too_few(comparison: Comparison, metric: ComparisonMetric) -> bool:
    """Return whether no difference could be significant on so few systems."""
    pairs = comparison.pairs(metric)
    return bool(pairs) and not enough_systems(pairs[0].systems, len(pairs) + 1, comparison.alpha)


def _not_enough(comparison: Comparison, best: Row) -> str:
    n_methods = len(comparison.pairs(EXACT)) + 1
    needed = fewest_systems(n_methods, comparison.alpha)
    told_apart = f"{count(n_methods)} methods can be distinguished on {needed} systems or more"
    leads = f"{_name(best['method'])} leads with {tenths(best[EXACT.name])}, which may be chance"
    return (
        f"**Not enough data sets to recommend a method.** {told_apart}. On these, {_data(comparison, EXACT)}, {leads}."
    )


def _why_none(comparison: Comparison) -> str:
    view = comparison.whole
    if not view.ranked(FRESH):
        return "No method ran on all data sets."
    if not view.ranked(EXACT):
        return "The true terms are not among the candidate terms: ask for a model of new data."
    return "No run ends at exactly the true terms."


def _data(comparison: Comparison, metric: ComparisonMetric) -> str:
    n_data_sets, n_systems = comparison.whole.count_of_data(metric)
    return f"{count(n_data_sets)} {comparison.data_sets} of {_number(n_systems, 'system')}"


def _interval(row: Row, metric: ComparisonMetric, *, plain: bool = False) -> str:
    """Return the interval of a value in brackets, after a space, or "" if there is none."""
    low, high = row[f"{metric.name}_low"], row[f"{metric.name}_high"]
    if low is None or high is None:
        return ""
    text = f"{value_text(metric, low)} to {value_text(metric, high)}"
    return f" ({text})" if plain else f" (interval {text})"


def _lower(text: str) -> str:
    """Return a verdict as it is written after a colon. The names of methods keep their form."""
    for word in ("Use", "Only", "No"):
        if text.startswith(f"{word} "):
            return word.lower() + text[len(word) :]
    return text


def _name(method: str) -> str:
    return escape(method_name(method), "markdown")


def _number(value: int, noun: str, plural: str = "") -> str:
    if value == 1:
        return f"{count(value)} {noun}"
    return f"{count(value)} {plural or noun + 's'}"
