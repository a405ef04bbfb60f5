"""Multi-start search: forward regression, then repeated descents that try the most promising changes first.

Source: a new combination of known parts. Forward regression by the error reduction ratio: S. A. Billings, S. Chen and
M. J. Korenberg, International Journal of Control 49, 1989. Adding, dropping and swapping of terms: A. Miller, Subset
Selection in Regression, 2nd edition, 2002, chapter 3. Restarts from disturbed structures: H. R. Lourenco, O. C. Martin
and T. Stuetzle, Iterated local search, in Handbook of Metaheuristics, 2003.

Without an evaluation, the inner products of the candidates show how a change of one or two terms changes the error of
the prediction one step ahead. That only predicts J approximately, because noise affects the two errors differently. So
half of the changes keep their place in the predicted order, and the others get a random place. A descent tries the
changes in small batches, as many as the kernel evaluates at once, and goes to the best structure of the first batch
that lowers J.

The first descent starts from the best structure of the forward regression. Each further descent starts from the current
structure with a few terms changed or, occasionally, from a forward regression among a random half of the candidates.
(Half of the candidates as a structure would mostly be divergent, and a better structure may lack a term that all others
depend on.) Such a descent gives up soon, unless it has found the lowest J so far.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from narxbench._algorithms.contract import About, Found, Objective, ProblemView
from narxbench._algorithms.forward_regression import forward, nested
from narxbench._algorithms.term_changes import predicted
from narxbench._io.settings import Settings as BaseSettings
from narxbench._numerics.logarithm import natural_log

ABOUT = About(
    reference="Own; Lourenco, Martin and Stuetzle, Iterated Local Search, Handbook of Metaheuristics, 2003",
    options={
        "batch_size": [4],
        "path_length": [3],
        "patience": [16],
        "random_share": [0.0],
        "largest_kick": [6],
        "fresh_starts": [0.5],
        "temperature": [0.0],
    },
)

Structure = NDArray[np.uint8]


class Settings(BaseSettings):
    """Settings of the multi-start search."""

    batch_size: int = Field(default=16, ge=1, le=100_000, description="structures that are evaluated together")
    path_length: int = Field(default=32, ge=1, le=100_000, description="terms that enter a forward regression at most")
    patience: int = Field(
        default=48, ge=1, description="structures tried in vain around one that is not the best, before giving up"
    )
    random_share: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="share of the changes that are tried in random order",
    )
    largest_kick: int = Field(default=4, ge=2, description="terms that are changed between descents: 2 to this many")
    fresh_starts: float = Field(
        default=0.1, ge=0, le=1, description="share of the descents from a forward regression among random candidates"
    )
    temperature: float = Field(
        default=1.0, ge=0, description="scale on which a worse end of a descent is accepted, in penalties of a term"
    )


class _Search:
    """A run: the structures that were evaluated, and the steps from one structure to the next."""

    def __init__(
        self, problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings
    ) -> None:
        self.problem, self.objective, self.rng, self.settings = problem, objective, rng, settings
        self._evaluated: set[bytes] = set()

    def _evaluate(self, structures: NDArray[np.uint8]) -> tuple[Structure, float]:
        """Evaluate structures and return the best of them with its J."""
        fitness = self.objective.evaluate(structures)
        self._evaluated.update(structure.tobytes() for structure in structures)
        best = int(fitness.argmin())
        return structures[best], float(fitness[best])

    def forward(self, allowed: NDArray[np.bool_]) -> tuple[Structure, float]:
        """Return the best structure of a forward regression among the allowed candidates, of which there are some."""
        candidates, n_terms = np.flatnonzero(allowed), len(allowed)
        gram, moments = self.problem.gram[np.ix_(candidates, candidates)], self.problem.moments[candidates]
        # To compiled code, read-only arrays such as the problem has are another type.
        gram.flags.writeable = moments.flags.writeable = False
        steps = min(self.settings.path_length, len(candidates), max(1, self.problem.n_rows // 2))
        order, explained = np.empty(steps, np.int64), np.empty(steps)
        entered = forward(gram, moments, -1, order, explained)
        terms = candidates[order[:entered]]
        if not entered:
            terms = candidates[:1]
        return self._evaluate(nested(terms, n_terms))

    def kicked(self, position: Structure) -> tuple[Structure, float]:
        """Return the structure with a few terms changed: half of them its own terms, the others any candidates."""
        present, changed = np.flatnonzero(position), position.copy()
        for _ in range(int(self.rng.integers(2, self.settings.largest_kick, endpoint=True))):
            candidates = np.arange(len(position))
            if len(present) and self.rng.random() < 0.5:
                candidates = present
            changed[candidates[int(self.rng.integers(len(candidates)))]] ^= 1
        return self._evaluate(changed[None])

    def _changes(self, position: Structure) -> NDArray[np.int64]:
        """Return pairs of terms to change, in the order to try them. The second is -1 if only one term changes."""
        problem, n_terms = self.problem, len(position)
        members, flips, swaps = predicted(
            problem.gram,
            problem.moments,
            problem.output_energy,
            float(problem.n_validation),
            problem.penalty,
            position,
        )
        single = np.argsort(flips, kind="stable")
        # At most as many swaps as other changes: with many candidates, not all swaps could be tried.
        n_swaps = min(n_terms, int(np.isfinite(swaps).sum()))
        double = np.argsort(swaps.ravel(), kind="stable")[:n_swaps]
        first = np.concatenate([single, members[double // n_terms]])
        second = np.concatenate([np.full(n_terms, -1), double % n_terms])
        place = np.concatenate([np.arange(n_terms) / n_terms, np.arange(len(double)) / max(len(double), 1)])
        moved = self.rng.random(len(place)) < self.settings.random_share
        place = np.where(moved, self.rng.random(len(place)), place)
        return np.stack([first, second], axis=1)[np.argsort(place, kind="stable")]

    def descend(self, position: Structure, fitness: float, best: float) -> tuple[Structure, float]:
        """Go to better neighbours until there is none. Give up early if the structure is not better than ``best``."""
        better = self._better_neighbour(position, fitness, best)
        while better is not None:
            position, fitness = better
            better = self._better_neighbour(position, fitness, best)
        return position, fitness

    def _better_neighbour(self, position: Structure, fitness: float, best: float) -> tuple[Structure, float] | None:
        """Return the best structure of the first batch of neighbours that lowers J, or None if none does."""
        n_tried = 0
        for batch in self._batches(position):
            candidate, value = self._evaluate(batch)
            if value < fitness:
                return candidate, value
            n_tried += len(batch)
            if n_tried >= self.settings.patience and not fitness < best:
                return None
        return None

    def _batches(self, position: Structure) -> Iterator[NDArray[np.uint8]]:
        """Yield the neighbours that have not been evaluated, in the order to try them."""
        batch = []
        for first, second in self._changes(position).tolist():
            neighbour = position.copy()
            neighbour[first] ^= 1
            if second >= 0:
                neighbour[second] ^= 1
            if neighbour.tobytes() not in self._evaluated:
                batch.append(neighbour)
            if len(batch) == self.settings.batch_size:
                yield np.array(batch)
                batch = []
        if batch:
            yield np.array(batch)

    def accepts(self, fitness: float, current: float) -> bool:
        """Return whether to continue from the end of a descent: always if it is better, sometimes if it is worse."""
        rise = -self.settings.temperature * self.problem.penalty * natural_log(1.0 - self.rng.random())
        return fitness <= current or fitness < current + rise


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Spend the objective's budget on descents."""
    search, all_candidates = _Search(problem, objective, rng, settings), np.ones(objective.n_terms, np.bool_)
    # The run ends when the budget is spent, even within a descent.
    position, fitness = search.descend(*search.forward(all_candidates), np.inf)
    best = fitness
    while objective.remaining:
        half = rng.random(objective.n_terms) < 0.5
        if rng.random() < settings.fresh_starts and half.any():
            start = search.forward(half)
        else:
            start = search.kicked(position)
        structure, value = search.descend(*start, best)
        if search.accepts(value, fitness):
            position, fitness = structure, value
        best = min(best, value)
    return Found(objective.best_position)
