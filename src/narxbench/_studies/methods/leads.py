"""The lead of the best method of a view, by the rule of evidence, and where it breaks."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from narxbench._studies.methods.evidence import BETTER, EQUAL
from narxbench._studies.methods.metrics import EXACT, Difference
from narxbench._studies.methods.sign_flips import fewest_systems, least_p
from narxbench._studies.methods.views import View, values_of
from narxbench._studies.methods.wants import CHEAPEST, TERMS, TESTED, Row
from narxbench._studies.methods.words import difference_text, lead_text, least_p_text, p_text

# A winner that recovers the terms in fewer of the runs does not do what it is used for.
RELIABLE = 0.8


class RivalEvidence(NamedTuple):
    """A method that the best one is compared with: the difference as readers see it, its interval, verdict and p."""

    method: str
    difference: str
    interval: str
    verdict: str
    p: float
    p_text: str


class Lead(NamedTuple):
    """The best method of a view for a want, and its comparisons with the rivals, the best of these first."""

    best: str
    difference: Difference
    rivals: list[RivalEvidence]
    n_systems: int
    alpha: float

    @property
    def is_shown_nowhere(self) -> bool:
        """Whether there are too few systems for any verdict."""
        return least_p(self.n_systems) > self.alpha

    def rival(self, method: str) -> RivalEvidence | None:
        """Return the comparison with a method; None without one."""
        return next((rival for rival in self.rivals if rival.method == method), None)

    def not_beaten(self) -> list[RivalEvidence]:
        """Return the rivals that the best method is not shown to be better than."""
        return [rival for rival in self.rivals if rival.verdict != BETTER]


def lead_for(view: View, want: str) -> Lead | None:
    """Return the lead of the best method for a want; None where there is no method.

    Cheap methods are told from others by their exact recovery, so that the lead is that of the best method for the
    right terms.
    """
    tested = TERMS if want == CHEAPEST else want
    difference, best = TESTED[tested], view.best(tested)
    if best is None:
        return None
    pairs = view.frame("pairs")
    pairs = pairs[(pairs["measure"] == difference.metric.name) & (pairs["best"] == best["method"])]
    n_systems = _n_systems(view, best, difference)
    rivals = {pair["rival"]: _rival(pair, view, best, difference) for pair in pairs.to_dict("records")}
    order = filter(rivals.__contains__, values_of(view.rows(tested), "method"))
    return Lead(best["method"], difference, list(map(rivals.__getitem__, order)), n_systems, view.alpha)


def _n_systems(view: View, best: Row, difference: Difference) -> int:
    measure = EXACT.name if difference.metric is EXACT else ""
    return view.count_of_data(best["method"], measure)[1]


def _rival(pair: Row, view: View, best: Row, difference: Difference) -> RivalEvidence:
    """Return a comparison as readers see it."""
    metric = difference.metric.name
    rival_row = view.row(pair["rival"])
    of_rival = rival_row[metric] if rival_row else None
    size = lead_text(pair["difference"], best[metric], of_rival, difference)
    interval = "none"
    if not math.isnan(pair["low"]):
        interval = f"{difference_text(pair['low'], difference)} to {difference_text(pair['high'], difference)}"
    # The interval alone decides what is practically equal; p asks for any difference.
    shown_p = "–" if pair["verdict"] == EQUAL else p_text(pair["p"], view.alpha)
    return RivalEvidence(pair["rival"], size, interval, pair["verdict"], pair["p"], shown_p)


def too_few_words(n_systems: int, alpha: float) -> str:
    """Return why so few systems allow no verdict."""
    systems = "1 system" if n_systems == 1 else f"{n_systems} systems"
    least = f"With {systems} no p can be below {least_p_text(n_systems)}"
    return f"{least}, and a verdict takes {alpha:g} or less, which {fewest_systems(alpha)} systems can reach"


class Break(NamedTuple):
    """A condition under which the winner over all data is not first, or recovers the terms too rarely."""

    view: View
    usual: Row
    first: Row
    rival: RivalEvidence | None
    """The comparison of the first method there with the winner."""

    @property
    def is_first(self) -> bool:
        """Whether the winner is first here too, if only by a tie."""
        return bool(self.usual[EXACT.name] >= self.first[EXACT.name] - 1e-9)


def breaks(whole: View, views: Sequence[View]) -> list[Break]:
    """Return the conditions under which the method that is best over all data is not, or finds too few structures.

    The worst for the winner comes first. Groups without the winner, or without a method that is ranked, are left out.
    """
    winner = whole.best(TERMS)
    if winner is None:
        return []
    broken = []
    for view in views:
        usual, first = view.row(winner["method"]), view.best(TERMS)
        if view is whole or usual is None or first is None or usual["last"] or usual[EXACT.name] is None:
            continue
        lead = lead_for(view, TERMS)
        condition = Break(view, usual, first, lead.rival(winner["method"]) if lead else None)
        if usual[EXACT.name] < RELIABLE or not condition.is_first:
            broken.append(condition)
    return sorted(broken, key=lambda condition: condition.usual[EXACT.name])


def conditions_tried(whole: View, views: Sequence[View]) -> list[View]:
    """Return the groups of data in which methods are compared by their exact recovery."""
    return [view for view in views if view is not whole and view.best(TERMS)]
