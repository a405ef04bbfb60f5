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
from narxbench._algorithms.forward_regression import EXACT, forward, nested
from narxbench._fitness.kernel.least_squares import SINGULAR
from narxbench._io.settings import Settings as BaseSettings
from narxbench._numerics.compilation import compiled
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


@compiled
def predicted(gram, moments, energy, samples, penalty, position):
    """Predict the change of J by each change of one term and by each swap, from the error one step ahead.

    ``energy`` is y'y, ``samples`` multiplies the logarithm of the error, and a term costs ``penalty``. Returns the xi
    terms of the structure; the change of J when a term is added or dropped, shape (N_t,); and its change when one of
    these terms is exchanged for another, shape (xi, N_t), +inf where there is no such swap.
    """
    n = gram.shape[0]
    members = _members(position)
    size = members.shape[0]
    inverse = _inverse(gram, members)
    weights, error = np.zeros(size), energy
    for i in range(size):
        for j in range(size):
            weights[i] += inverse[i, j] * moments[members[j]]
    for i in range(size):
        error -= weights[i] * moments[members[i]]
    error = max(error, EXACT * energy, 1e-300)
    squares, products, shares = _orthogonalised(gram, moments, members, inverse, weights)
    flips, swaps = np.empty(n), np.full((size, n), np.inf)
    for a in range(n):
        if not position[a]:
            gain = 0.0
            if squares[a] > SINGULAR * gram[a, a]:
                gain = products[a] * products[a] / squares[a]
            flips[a] = samples * _log_ratio(error - gain, error) + penalty
    for i in range(size):
        # Square and product of the term itself, made orthogonal to the other terms of the structure.
        square = product = 0.0
        if inverse[i, i] > 0.0:
            square = 1.0 / inverse[i, i]
            product = weights[i] * square
        error_without = error + product * weights[i]
        flips[members[i]] = samples * _log_ratio(error_without, error) - penalty
        for a in range(n):
            square_without = squares[a] + shares[i, a] * shares[i, a] * square
            if not position[a] and square_without > SINGULAR * gram[a, a]:
                product_without = products[a] + shares[i, a] * product
                gain = product_without * product_without / square_without
                swaps[i, a] = samples * _log_ratio(error_without - gain, error)
    return members, flips, swaps


@compiled
def _members(position):
    # The terms of a structure.
    members, size = np.empty(position.shape[0], np.int64), 0
    for t in range(position.shape[0]):
        members[size] = t
        size += position[t]
    return members[:size].copy()


@compiled
def _orthogonalised(gram, moments, members, inverse, weights):
    # The square of each candidate column after it is made orthogonal to the terms of the structure, the product of that
    # column with y, and the regression of the candidate on these terms.
    n, size = gram.shape[0], members.shape[0]
    squares, products, shares = np.empty(n), moments.copy(), np.zeros((size, n))
    for a in range(n):
        squares[a] = gram[a, a]
    for i in range(size):
        for j in range(size):
            factor, row = inverse[i, j], gram[members[j]]
            for a in range(n):
                shares[i, a] += factor * row[a]
        row = gram[members[i]]
        for a in range(n):
            products[a] -= row[a] * weights[i]
            squares[a] -= row[a] * shares[i, a]
    return squares, products, shares


@compiled
def _inverse(gram, members):
    # The inverse of the Gram matrix of some terms, by elimination in place. The row and the column of a term that
    # depends on the previous ones are zero.
    size = members.shape[0]
    inverse = np.empty((size, size))
    for i in range(size):
        for j in range(size):
            inverse[i, j] = gram[members[i], members[j]]
    for p in range(size):
        pivot, factor = inverse[p, p], 0.0
        if pivot > SINGULAR * gram[members[p], members[p]]:
            factor = 1.0 / pivot
        for j in range(size):
            inverse[p, j] *= factor
        inverse[p, p] = factor
        for i in range(size):
            if i != p:
                weight, inverse[i, p] = inverse[i, p], 0.0
                for j in range(size):
                    inverse[i, j] -= weight * inverse[p, j]
    return inverse


@compiled
def _log_ratio(error, previous_error):
    return natural_log(max(error / previous_error, EXACT))


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
        # To compiled code, read-only arrays such as those of the problem are another type.
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
        """Return pairs of terms to change, in the order to try them; the second is -1 if only one term changes."""
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
        """Go to better neighbours until there is none; give up early if the structure is not better than ``best``."""
        better = self._better_neighbour(position, fitness, best)
        while better is not None:
            position, fitness = better
            better = self._better_neighbour(position, fitness, best)
        return position, fitness

    def _better_neighbour(self, position: Structure, fitness: float, best: float) -> tuple[Structure, float] | None:
        """Return the best structure of the first batch of neighbours that lowers J; None if none does."""
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
