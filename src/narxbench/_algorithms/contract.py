"""The contract of an algorithm: its declaration, its arguments, and its result.

An algorithm is a module with three names:

- ``ABOUT``, an :class:`About`: where it comes from and how it behaves.
- ``Settings``, a :class:`narxbench._io.settings.Settings` model with a field and a default for each open choice.
- ``run(problem, objective, rng, settings)``, which takes a :class:`ProblemView`, an :class:`Objective`, a random
  generator, which is the only source of its draws, and its settings, and returns a :class:`Found`, or plainly the names
  of the terms.

An algorithm that requires other packages imports them in ``run`` and in a function ``load()``, which is called once
before its runs. So its settings are available even if the packages are not installed.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narxbench._io.errors import NarxbenchError, did_you_mean
from narxbench._io.files import canonical_json
from narxbench._model.structure import checked_positions, column_blocks
from narxbench._model.terms import Monomial

Floats = NDArray[np.float64]
LONGEST_DETAILS = 100_000


class BudgetSpentError(Exception):
    """The budget is spent. An algorithm need not catch this error: the run then ends with the best structure."""


@dataclass(frozen=True)
class About:
    """The declaration of an algorithm.

    Attributes
    ----------
    reference : str
        The source of the algorithm, in one line.
    deterministic : bool
        Whether it makes no random draws: a study runs it once on each data set.
    stops_early : bool
        Whether it may end before the budget is spent.
    needs_objective : bool
        Whether it evaluates structures. An algorithm that does not returns a structure without a value of J.
    minimises : bool
        Whether it searches for the structure of lowest J: such methods are compared by the J that they reach. Others
        have another criterion.
    requires : tuple of str
        The distributions that it imports in ``load`` and ``run``, by their names in the package index.
    options : mapping
        Further values of its settings, by name, that the conformance suite tries.
    """

    reference: str
    deterministic: bool = False
    stops_early: bool = False
    needs_objective: bool = True
    minimises: bool = True
    requires: tuple[str, ...] = ()
    options: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        lists = {"requires": self.requires, **self.options}
        for name, values in lists.items():
            if not isinstance(values, (list, tuple)):
                raise NarxbenchError(f"ABOUT: {name}: found {values!r}; allowed: a list")


class SearchWarning(NamedTuple):
    """A reason to doubt the result of a search.

    Attributes
    ----------
    kind : str
        The kind of doubt, in a word for programs.
    message : str
        One line for readers.
    values : mapping
        The numbers behind the doubt, as plain data.
    """

    kind: str
    message: str
    values: Mapping[str, Any]


class Found(NamedTuple):
    """The result of a run: a structure, and weights unless they are those of least squares."""

    position: ArrayLike
    """Shape (N_t,): a 1 where the structure has the term."""
    coefficients: ArrayLike | None = None
    """The weights of its terms, in the order of the candidate terms."""
    details: Mapping[str, Any] | None = None
    """Further results as plain data, at most :data:`LONGEST_DETAILS` characters of JSON."""


class ProblemView:
    """The part of a problem that an algorithm sees: the candidate terms and the data.

    All arrays are copies and read-only. Searches that minimise J estimate weights on the estimation part, and J is
    computed on the validation part. Algorithms that hold no samples out use all samples.

    Parameters
    ----------
    terms, monomials
        Names and factors of the N_t candidate terms in canonical order. A factor is ``(signal, lag)``, the signal
        :data:`~narxbench._model.terms.OUTPUT` or :data:`~narxbench._model.terms.INPUT`.
    n_u, n_y, degree : int
        Largest lags and largest degree of the candidate terms.
    criterion : str
        Name of the criterion.
    penalty : float
        The penalty of the first term in J. Under a linear criterion, such as BIC and AIC, each term has it;
        ``penalties`` has the penalty of any number of terms under any criterion.
    n_validation : int
        L, the number of samples on which J is computed.
    **arrays
        Functions that return the arrays of these names: gram, moments, u, y, rows, penalties, training_u, training_y,
        stretches and segments. The properties describe them.
    """

    def __init__(
        self,
        *,
        terms: Sequence[str],
        monomials: Sequence[Monomial],
        n_u: int,
        n_y: int,
        degree: int,
        criterion: str,
        penalty: float,
        n_validation: int,
        **arrays: Callable[[], ArrayLike],
    ) -> None:
        self.terms, self.monomials = tuple(terms), tuple(monomials)
        self.n_u, self.n_y, self.degree = n_u, n_y, degree
        self.criterion, self.penalty, self.n_validation = criterion, penalty, n_validation
        self._arrays = arrays

    @cached_property
    def gram(self) -> Floats:
        """Inner products of the candidate columns over the estimation rows, shape (N_t, N_t)."""
        return self._copy("gram")

    @cached_property
    def moments(self) -> Floats:
        """Inner products of the candidate columns with y over the estimation rows, shape (N_t,)."""
        return self._copy("moments")

    @cached_property
    def u(self) -> Floats:
        """Input of the estimation part, shape (samples,), or (samples, inputs) for measured data."""
        return self._copy("u")

    @cached_property
    def y(self) -> Floats:
        """Output of the estimation part, shape (samples,)."""
        return self._copy("y")

    @cached_property
    def rows(self) -> NDArray[np.int64]:
        """The samples of the estimation rows, shape (rows,)."""
        return self._places("rows")

    @cached_property
    def training_u(self) -> Floats:
        """Input of all samples, shape (samples,), or (samples, inputs) for measured data."""
        return self._copy("training_u")

    @cached_property
    def training_y(self) -> Floats:
        """Output of all samples, shape (samples,)."""
        return self._copy("training_y")

    @cached_property
    def stretches(self) -> NDArray[np.int64]:
        """Stretches of consecutive rows, shape (stretches, 2): the first sample and the end of each."""
        return self._places("stretches")

    @cached_property
    def segments(self) -> NDArray[np.int64]:
        """The segments on which J is computed, shape (segments, 2): the first sample and the end of each."""
        return self._places("segments")

    @cached_property
    def training_rows(self) -> NDArray[np.int64]:
        """The samples of all rows, shape (rows,): the estimation rows and those on which J is computed."""
        return _fixed(np.concatenate([np.arange(first, end) for first, end in self.stretches.tolist()]))

    @cached_property
    def penalties(self) -> Floats:
        """The penalties of 0 to N_t terms in J, shape (N_t + 1,); +inf for more terms than the criterion allows."""
        return self._copy("penalties")

    @property
    def n_rows(self) -> int:
        """The number of estimation rows."""
        return len(self.rows)

    @cached_property
    def output_energy(self) -> float:
        """Sum of y(k)^2 over the estimation rows, y'y."""
        total = 0.0
        for value in self.outputs().tolist():
            total += value * value
        return total

    def outputs(self) -> Floats:
        """Return y over the estimation rows, shape (rows,)."""
        return _fixed(self.y[self.rows])

    def regressors(self) -> Floats:
        """Return the candidate columns over the estimation rows, shape (rows, N_t)."""
        return self._columns(self.u, self.y, self.rows)

    def training_outputs(self) -> Floats:
        """Return y over all rows, shape (training rows,)."""
        return _fixed(self.training_y[self.training_rows])

    def training_regressors(self) -> Floats:
        """Return the candidate columns over all rows, shape (training rows, N_t)."""
        return self._columns(self.training_u, self.training_y, self.training_rows)

    def _columns(self, u: Floats, y: Floats, rows: NDArray[np.int64]) -> Floats:
        columns = np.empty((len(rows), len(self.terms)))
        for block, values in column_blocks(u, y, self.monomials, rows):
            columns[block] = values.T
        return _fixed(columns)

    def _places(self, name: str) -> NDArray[np.int64]:
        return _fixed(np.array(self._arrays[name](), np.int64))

    def _copy(self, name: str) -> Floats:
        return _fixed(np.array(self._arrays[name](), np.float64))


def _fixed(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


class Objective(ABC):
    """Evaluations of structures on a budget, which are counted and recorded outside the algorithm.

    Attributes
    ----------
    n_terms : int
        N_t, the number of candidate terms.
    budget : int
        The evaluations that the whole run may make. Repeated structures count each time.
    """

    n_terms: int
    budget: int

    @property
    @abstractmethod
    def remaining(self) -> int:
        """The number of evaluations that remain."""

    @property
    @abstractmethod
    def best_position(self) -> NDArray[np.uint8]:
        """The first structure that reached the lowest J so far, shape (N_t,); empty if no J was finite."""

    @property
    @abstractmethod
    def best_fitness(self) -> float:
        """The lowest J so far, or +inf if no J was finite."""

    def evaluate(self, positions: ArrayLike) -> Floats:
        """Evaluate structures.

        Parameters
        ----------
        positions : array, shape (structures, N_t)
            A 1 where the structure has the term, else 0.

        Returns
        -------
        array of float, shape (structures,)
            J of each structure, or +inf if it is empty, singular or divergent, and for rows beyond the budget.

        Raises
        ------
        NarxbenchError
            If the shape is wrong, or an entry is neither 0 nor 1.
        BudgetSpentError
            If there are structures and the budget is spent.
        """
        rows = checked_positions(positions, self.n_terms)
        if len(rows) and not self.remaining:
            raise BudgetSpentError
        fitness = np.full(len(rows), np.inf)
        rows = rows[: self.remaining]
        if len(rows):
            fitness[: len(rows)] = self._evaluated(rows)
        return fitness

    @abstractmethod
    def _evaluated(self, positions: NDArray[np.uint8]) -> Floats:
        """Return J of structures that the budget allows."""


def as_found(result: object, terms: Sequence[str]) -> Found:
    """Return what a run returned as a :class:`Found`: names of terms are a structure with weights by least squares.

    Anything else, and names that no candidate term has, raise NarxbenchError.
    """
    if isinstance(result, Found):
        return result
    if not isinstance(result, (list, tuple)) or not all(isinstance(name, str) for name in result):
        allowed = "narxbench.contract.Found, or a list of names of terms"
        raise NarxbenchError(f"result: found {type(result).__name__}; allowed: {allowed}")
    for name in result:
        if name not in terms:
            raise NarxbenchError(
                f"result: found the term {name!r}; allowed: candidate terms{did_you_mean(name, terms)}"
            )
    return Found([int(term in result) for term in terms])


def checked_found(result: Found, n_terms: int) -> tuple[NDArray[np.uint8], list[float] | None, dict[str, Any]]:
    """Return the structure, shape (N_t,), the weights and the details that a run returned.

    Raises
    ------
    NarxbenchError
        If the structure is not of 0 and 1, the weights are not one finite number for each term, or the details are not
        plain data or too long.
    """
    position = np.asarray(result.position)
    if position.shape != (n_terms,):
        raise NarxbenchError(f"result: found a structure of shape {position.shape}; allowed: ({n_terms},)")
    position, details = checked_positions(position[None], n_terms)[0], _plain(result.details or {})
    if result.coefficients is None:
        return position, None, details
    weights = np.asarray(result.coefficients)
    size = int(np.count_nonzero(position))
    if weights.shape != (size,) or weights.dtype.kind not in "iuf" or not np.isfinite(weights).all():
        raise NarxbenchError(
            f"result: coefficients: allowed: {size} finite numbers, one for each term of the structure"
        )
    return position, [float(weight) for weight in weights], details


def _plain(details: object) -> dict[str, Any]:
    """Return details as JSON holds them."""
    try:
        text = canonical_json(details)
    except (TypeError, ValueError, RecursionError) as error:
        raise NarxbenchError(f"result: details: found another value than plain data ({error})") from None
    if len(text) > LONGEST_DETAILS:
        raise NarxbenchError(f"result: details: found {len(text)} characters; allowed: {LONGEST_DETAILS}")
    plain = json.loads(text)
    if not isinstance(plain, dict):
        raise NarxbenchError(f"result: details: found {type(details).__name__}; allowed: a dict")
    return plain
