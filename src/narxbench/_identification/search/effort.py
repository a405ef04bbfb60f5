"""The plan of an effort: how much of each step the planned seconds allow, on every machine the same."""

from collections.abc import Iterable
from dataclasses import dataclass

from narxbench._identification.search.configurations import Configuration
from narxbench._identification.search.problem import MOST_ROWS, MOST_STEPS, MOST_VALUES, MOST_WEIGHED
from narxbench._identification.settings import IdentificationSettings

# Seconds per operation on one core of the machine of ``benchmarks/budget.md``: for a product of two columns in a row,
# an evaluation of a structure with each step of its free run and each candidate term, a fit under a noise model with
# each sample, and a step of a phase in a search by likelihood. A brief search counts as this many evaluations.
RATES = {
    "product": 4e-11,
    "evaluation": 2e-5,
    "step": 3e-9,
    "candidate": 2e-7,
    "fit": 1e-3,
    "fitted sample": 2e-6,
    "likelihood step": 4e-4,
    "evaluations of a brief search": 300,
}
# Shares of the effort. ``bars_today`` in ``benchmarks/`` has the errors that they lead to. A first model whose
# predictions bridge gaps of the output, and tries of other settings, come on top.
SHARES = {
    "brief": 0.3,
    "descents": 0.4,
    "weights": 0.12,
    "needed weights": 0.15,
    "likelihood": 0.3,
    "bridging": 0.25,
    "attempts": 0.5,
}
# The noise steps have a share of half the default effort at least for what must not be left out: without it, short
# efforts have the plainest noise only.
LEAST_EFFORT: float = IdentificationSettings.model_fields["effort"].default / 2


@dataclass(frozen=True)
class Effort:
    """The planned seconds, and what makes an operation on a recording cost some of them.

    Attributes
    ----------
    seconds : float
        The effort that the user planned.
    n_samples : int
        Samples that are searched.
    n_parts : int
        Parts that take turns in selection, at most.
    """

    seconds: float
    n_samples: int
    n_parts: int

    def n_searched(self, configurations: Iterable[Configuration]) -> int:
        """Return how many configurations, the first ones, are searched briefly; one in any case."""
        return max(1, n_affordable(map(self.of_brief_search, configurations), SHARES["brief"] * self.seconds))

    def n_likely(self, configurations: Iterable[Configuration]) -> int:
        """Return for how many configurations, the first ones, there is time to search them by likelihood."""
        seconds = SHARES["likelihood"] * max(LEAST_EFFORT, self.seconds)
        return n_affordable(map(self._of_likelihood_search, configurations), seconds)

    def n_weighed(self, fewest: int) -> int:
        """Return how many candidates get weights under noise models, each also without each part.

        There are at least ``fewest``, if some more time allows it.
        """
        seconds_each = self._of_weights()
        needed = n_affordable([seconds_each] * fewest, SHARES["needed weights"] * max(LEAST_EFFORT, self.seconds))
        return max(needed, int(SHARES["weights"] * self.seconds / seconds_each))

    def n_evaluated(self, n_descents: int) -> float:
        """Return how many structures each of some descents may look at."""
        seconds_each = RATES["evaluation"] * max(1, self.n_parts) + RATES["step"] * min(self.n_samples, MOST_ROWS)
        return SHARES["descents"] * self.seconds / n_descents / seconds_each

    def of_brief_search(self, configuration: Configuration) -> float:
        """Return the seconds of a brief search: the products of all candidates, and its evaluations."""
        size = configuration.size
        evaluation = RATES["evaluation"] + RATES["step"] * min(self.n_samples, MOST_STEPS) + RATES["candidate"] * size
        # The products of the parts are needed once, and are used for all.
        products = RATES["product"] * min(self.n_samples, MOST_ROWS) * size**2
        return products + RATES["evaluations of a brief search"] * evaluation

    def _of_weights(self) -> float:
        """Return the seconds of the score of one candidate under a noise model, with a fit without each part."""
        samples = min(self.n_samples, MOST_WEIGHED)
        return (1 + self.n_parts) * (RATES["fit"] + RATES["fitted sample"] * samples)

    def _of_likelihood_search(self, configuration: Configuration) -> float:
        steps = self.n_samples // configuration.decimation
        return RATES["likelihood step"] * min(steps, MOST_VALUES // configuration.size)


def n_affordable(costs: Iterable[float], seconds: float) -> int:
    """Return how many jobs, the first ones in their order, take no more than the planned seconds together."""
    count = 0
    for cost in costs:
        seconds -= cost
        if seconds < 0.0:
            break
        count += 1
    return count
