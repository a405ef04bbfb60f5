"""Multi-start search: forward regression, then descents that try the most promising changes first, again and again.

Source: own combination of known parts. Forward regression by the error reduction ratio: S. A. Billings, S. Chen and
M. J. Korenberg, International Journal of Control 49, 1989. Adding, dropping and swapping of terms: A. Miller, Subset
Selection in Regression, 2nd edition, 2002, chapter 3. Restarts from disturbed structures: H. R. Lourenco, O. C. Martin
and T. Stuetzle, Iterated local search, in Handbook of Metaheuristics, 2003.

Without an evaluation, inner products of the candidates tell how a change of one or two terms changes the error of the
prediction one step ahead. What J does is then only a guess, because noise makes the two differ. So half of the changes
keep their place in the order of the guess, and the others get a random one. A descent tries them in small batches, as
many as the kernel evaluates at once, and goes to the best of the first batch that lowers J.

The first descent starts from the best structure of the forward regression. Each further one starts from the current
structure with a few terms changed or, now and then, from a forward regression among a random half of the candidates: a
random half as a structure would mostly be divergent, and a better one may lack a term that all others lean on. Such a
descent gives up soon, unless it has found the lowest J so far.
"""

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from narxbench.algorithms.contract import About, Found, Objective, ProblemView
from narxbench.algorithms.forward_regression import EXACT, forward, nested
from narxbench.fitness.kernel.least_squares import SINGULAR
from narxbench.io.settings import Settings as BaseSettings
from narxbench.numerics.compilation import compiled
from narxbench.numerics.logarithm import natural_log

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

    ``energy`` is y'y, ``samples`` multiplies the logarithm of the error, and a term costs ``penalty``. Returned are the
    xi terms of the structure; the change when a term is added or dropped, shape (N_t,); and when one of them is
    exchanged for another, shape (xi, N_t), +inf where there is no such swap.
    """
    n, size = gram.shape[0], 0
    members = np.empty(n, np.int64)
    for t in range(n):
        members[size] = t
        size += position[t]
    members = members[:size].copy()
    inverse = _inverse(gram, members)
    weights, left = np.zeros(size), energy
    for i in range(size):
        for j in range(size):
            weights[i] += inverse[i, j] * moments[members[j]]
    for i in range(size):
        left -= weights[i] * moments[members[i]]
    left = max(left, EXACT * energy, 1e-300)
    # What each candidate column has apart from the structure, its product with the residual, and its regression on the
    # terms of the structure.
    apart, residual, shares = np.empty(n), moments.copy(), np.zeros((size, n))
    for a in range(n):
        apart[a] = gram[a, a]
    for i in range(size):
        for j in range(size):
            factor, row = inverse[i, j], gram[members[j]]
            for a in range(n):
                shares[i, a] += factor * row[a]
        row = gram[members[i]]
        for a in range(n):
            residual[a] -= row[a] * weights[i]
            apart[a] -= row[a] * shares[i, a]
    flips, swaps = np.empty(n), np.full((size, n), np.inf)
    for a in range(n):
        if not position[a]:
            gain = residual[a] * residual[a] / apart[a] if apart[a] > SINGULAR * gram[a, a] else 0.0
            flips[a] = samples * _log_ratio(left - gain, left) + penalty
    for i in range(size):
        if inverse[i, i] > 0.0:
            # The same of the dropped term, once it is out.
            own = 1.0 / inverse[i, i]
            product = weights[i] * own
        else:
            own = product = 0.0
        without = left + product * weights[i]
        flips[members[i]] = samples * _log_ratio(without, left) - penalty
        for a in range(n):
            rest = apart[a] + shares[i, a] * shares[i, a] * own
            if not position[a] and rest > SINGULAR * gram[a, a]:
                common = residual[a] + shares[i, a] * product
                swaps[i, a] = samples * _log_ratio(without - common * common / rest, left)
    return members, flips, swaps


@compiled
def _inverse(gram, members):
    # Of the part of the Gram matrix, by elimination in place. A term that depends on those before it is left out.
    size = members.shape[0]
    inverse = np.empty((size, size))
    for i in range(size):
        for j in range(size):
            inverse[i, j] = gram[members[i], members[j]]
    for p in range(size):
        pivot = inverse[p, p]
        factor = 1.0 / pivot if pivot > SINGULAR * gram[members[p], members[p]] else 0.0
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
def _log_ratio(error, before):
    return natural_log(max(error / before, EXACT))


class _Search:
    """The state of a run: what was evaluated, and how to go on from there."""

    def __init__(
        self, problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings
    ) -> None:
        self.problem, self.objective, self.rng, self.settings = problem, objective, rng, settings
        self._known: set[bytes] = set()

    def _evaluate(self, structures: NDArray[np.uint8]) -> tuple[Structure, float]:
        """Evaluate structures and return the best of them."""
        fitness = self.objective.evaluate(structures)
        self._known.update(structure.tobytes() for structure in structures)
        best = int(fitness.argmin())
        return structures[best], float(fitness[best])

    def forward(self, allowed: NDArray[np.bool_]) -> tuple[Structure, float]:
        """Return the best structure of a forward regression among the allowed candidates, which are not none."""
        among, n_terms = np.flatnonzero(allowed), len(allowed)
        gram, moments = self.problem.gram[np.ix_(among, among)], self.problem.moments[among]
        # Compiled code knows arrays that cannot be written to, such as the problem's, as another type.
        gram.flags.writeable = moments.flags.writeable = False
        steps = min(self.settings.path_length, len(among), max(1, self.problem.n_rows // 2))
        order, explained = np.empty(steps, np.int64), np.empty(steps)
        entered = forward(gram, moments, -1, order, explained)
        chosen = among[order[:entered]] if entered else among[:1]
        return self._evaluate(nested(chosen, n_terms))

    def kicked(self, position: Structure) -> tuple[Structure, float]:
        """Return the structure with a few terms changed: one that it has as often as any."""
        present, changed = np.flatnonzero(position), position.copy()
        for _ in range(int(self.rng.integers(2, self.settings.largest_kick, endpoint=True))):
            among = present if len(present) and self.rng.random() < 0.5 else np.arange(len(position))
            changed[among[int(self.rng.integers(len(among)))]] ^= 1
        return self._evaluate(changed[None])

    def _changes(self, position: Structure) -> NDArray[np.int64]:
        """Return pairs of terms to change, in the order to try them; the second is -1 where only one is changed."""
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
        # As many swaps as there are other changes: of many candidates they could never all be tried.
        double = np.argsort(swaps.ravel(), kind="stable")[: min(n_terms, int(np.isfinite(swaps).sum()))]
        first = np.concatenate([single, members[double // n_terms]])
        second = np.concatenate([np.full(n_terms, -1), double % n_terms])
        place = np.concatenate([np.arange(n_terms) / n_terms, np.arange(len(double)) / max(len(double), 1)])
        moved = self.rng.random(len(place)) < self.settings.random_share
        place = np.where(moved, self.rng.random(len(place)), place)
        return np.stack([first, second], axis=1)[np.argsort(place, kind="stable")]

    def descend(self, position: Structure, fitness: float, best: float) -> tuple[Structure, float]:
        """Go to better neighbours until there is none; give up early around what is not below ``best``."""
        while True:
            tried, batch, better = 0, [], None
            changes = self._changes(position)
            for at, (first, second) in enumerate(changes.tolist(), start=1):
                changed = position.copy()
                changed[first] ^= 1
                if second >= 0:
                    changed[second] ^= 1
                if changed.tobytes() not in self._known:
                    batch.append(changed)
                if batch and (len(batch) == self.settings.batch_size or at == len(changes)):
                    candidate, value = self._evaluate(np.array(batch))
                    tried, batch = tried + len(batch), []
                    if value < fitness:
                        better = candidate, value
                        break
                    if tried >= self.settings.patience and not fitness < best:
                        break
            if better is None:
                return position, fitness
            position, fitness = better

    def accepts(self, fitness: float, current: float) -> bool:
        """Whether to go on from the end of a descent: from a better one always, from a worse one by chance."""
        rise = -self.settings.temperature * self.problem.penalty * natural_log(1.0 - self.rng.random())
        return fitness <= current or fitness < current + rise


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Spend the objective's budget on descents."""
    search, everything = _Search(problem, objective, rng, settings), np.ones(objective.n_terms, np.bool_)
    # The end of the budget ends the run, in the middle of a descent too.
    position, fitness = search.descend(*search.forward(everything), np.inf)
    best = fitness
    while objective.remaining:
        half = rng.random(objective.n_terms) < 0.5
        fresh = rng.random() < settings.fresh_starts and bool(half.any())
        start = search.forward(half) if fresh else search.kicked(position)
        found, value = search.descend(*start, best)
        if search.accepts(value, fitness):
            position, fitness = found, value
        best = min(best, value)
    return Found(objective.best_position)
