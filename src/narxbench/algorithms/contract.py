"""The contract of an algorithm: what it declares, what it is given, and what it returns.

An algorithm is a module with three names:

- ``ABOUT``, an :class:`About`: where it comes from and how it behaves.
- ``Settings``, a :class:`narxbench.io.settings.Settings` model: every open choice a field with a default.
- ``run(problem, objective, rng, settings)``, which gets a :class:`ProblemView`, an :class:`Objective`, a random
  generator, the only source of its draws, and its settings, and returns a :class:`Found`.

One that chooses by another criterion than J may tell it, ``criterion(problem, settings)``: a function of a structure,
shape (N_t,), whose value is lower for what it prefers. A comparison then knows whether a wrong structure is due to the
criterion or to the search.

One that requires other packages imports them in a function ``load()``, which is called once before its runs, and in
``run``: so its settings are known where they are not installed.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from narxbench.io.errors import NarxbenchError
from narxbench.io.files import canonical_json
from narxbench.model.structure import checked_positions, column
from narxbench.model.terms import Monomial

Floats = NDArray[np.float64]
OwnCriterion = Callable[[NDArray[np.uint8]], float]
LONGEST_DETAILS = 100_000


class BudgetSpentError(Exception):
    """Nothing is left of the budget. An algorithm may let it through: the run then ends with the best structure."""


@dataclass(frozen=True)
class About:
    """What an algorithm declares about itself.

    Attributes
    ----------
    reference : str
        Its source, in one line.
    deterministic : bool
        Whether it draws nothing: a study runs it once on each data set.
    stops_early : bool
        Whether it may end before the budget is spent.
    needs_objective : bool
        Whether it evaluates structures; one that does not returns a structure without a value of J.
    minimises : bool
        Whether it searches for the structure of lowest J: such methods are compared by the J that they reach. Others
        have a criterion of their own.
    requires : tuple of str
        The distributions that it imports, by their names in the package index. It imports them in ``load`` and ``run``.
    starts_programs : bool
        Whether its runs start other programs. It is for readers; nothing depends on it.
    options : mapping
        Further values of its settings, by name, that the conformance suite tries.
    """

    reference: str
    deterministic: bool = False
    stops_early: bool = False
    needs_objective: bool = True
    minimises: bool = True
    requires: tuple[str, ...] = ()
    starts_programs: bool = False
    options: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("requires", *self.options):
            values = self.requires if name == "requires" else self.options[name]
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
        The numbers behind it, as plain data.
    """

    kind: str
    message: str
    values: Mapping[str, Any]


class Found(NamedTuple):
    """What a run returns: a structure, and weights if they shall not be those of least squares."""

    position: ArrayLike
    """Shape (N_t,): a 1 where the structure has the term."""
    coefficients: ArrayLike | None = None
    """The weights of its terms, in the order of the candidate terms."""
    details: Mapping[str, Any] | None = None
    """What else it has found, as plain data; at most :data:`LONGEST_DETAILS` characters of JSON."""


class ProblemView:
    """What an algorithm sees of a problem: the candidate terms and the data.

    All arrays are copies that cannot be written to. What searches for low J uses the estimation part, and J judges on
    the other; what holds nothing out for J uses all samples.

    Parameters
    ----------
    terms, monomials
        Names and factors of the N_t candidate terms in canonical order. A factor is ``(signal, lag)``, the signal
        :data:`~narxbench.model.terms.OUTPUT` or :data:`~narxbench.model.terms.INPUT`.
    n_u, n_y, degree : int
        Largest lags and largest degree of the candidate terms.
    criterion : str
        Name of the criterion.
    penalty : float
        What the first term adds to J. Under a linear criterion, such as BIC and AIC, each term adds as much;
        ``penalties`` has what more terms add under any.
    n_validation : int
        L, the samples that J is computed on.
    **arrays
        Functions that return the arrays of these names, which the properties describe: gram, moments, u, y, rows,
        penalties, training_u, training_y, stretches and segments.
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
        """Input of the estimation part, shape (samples,); of measured data (samples, inputs)."""
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
        """Input of all samples, shape (samples,); of measured data (samples, inputs)."""
        return self._copy("training_u")

    @cached_property
    def training_y(self) -> Floats:
        """Output of all samples, shape (samples,)."""
        return self._copy("training_y")

    @cached_property
    def stretches(self) -> NDArray[np.int64]:
        """Runs of samples whose lags are all there, shape (stretches, 2): the first, and the one behind the last."""
        return self._places("stretches")

    @cached_property
    def segments(self) -> NDArray[np.int64]:
        """The parts that J is computed on, shape (segments, 2): first sample of each, and the one behind its last."""
        return self._places("segments")

    @cached_property
    def training_rows(self) -> NDArray[np.int64]:
        """All samples whose lags are there, shape (rows,): the estimation rows and those that J is computed on."""
        return _fixed(np.concatenate([np.arange(first, end) for first, end in self.stretches.tolist()]))

    @cached_property
    def penalties(self) -> Floats:
        """What a structure of 0 to N_t terms adds to J, shape (N_t + 1,); +inf where the criterion allows none."""
        return self._copy("penalties")

    @property
    def n_rows(self) -> int:
        """Number of estimation rows."""
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
        for i, monomial in enumerate(self.monomials):
            columns[:, i] = column(u, y, monomial, rows)
        return _fixed(columns)

    def _places(self, name: str) -> NDArray[np.int64]:
        return _fixed(np.array(self._arrays[name](), np.int64))

    def _copy(self, name: str) -> Floats:
        return _fixed(np.array(self._arrays[name](), np.float64))


def _fixed(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


class Objective(ABC):
    """Evaluations on a budget. What counts and records them stands behind it, outside of the algorithm.

    Attributes
    ----------
    n_terms : int
        N_t, the number of candidate terms.
    budget : int
        Evaluations of the whole run; equal structures count each time.
    """

    n_terms: int
    budget: int

    @property
    @abstractmethod
    def remaining(self) -> int:
        """Evaluations that are left."""

    @property
    @abstractmethod
    def best_position(self) -> NDArray[np.uint8]:
        """The first structure that reached the lowest J so far, shape (N_t,); empty if no J was finite."""

    @property
    @abstractmethod
    def best_fitness(self) -> float:
        """The lowest J so far; +inf before there is one."""

    def evaluate(self, positions: ArrayLike) -> Floats:
        """Evaluate structures.

        Parameters
        ----------
        positions : array, shape (structures, N_t)
            A 1 where the structure has the term, else 0.

        Returns
        -------
        array of float, shape (structures,)
            J of each structure; +inf where it is empty, singular or divergent, and in rows beyond the budget.

        Raises
        ------
        NarxbenchError
            For another shape, or another entry than 0 and 1.
        BudgetSpentError
            When there are structures and nothing is left of the budget.
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


def checked_found(found: object, n_terms: int) -> tuple[NDArray[np.uint8], list[float] | None, dict[str, Any]]:
    """Return the structure, shape (N_t,), the weights and the details that a run returned.

    Raises
    ------
    NarxbenchError
        For anything that is no :class:`Found` of 0 and 1, weights that are not one finite number for each term, and
        details that are not plain data or too long.
    """
    if not isinstance(found, Found):
        raise NarxbenchError(f"result: found {type(found).__name__}; allowed: narxbench.algorithms.contract.Found")
    position = np.asarray(found.position)
    if position.shape != (n_terms,):
        raise NarxbenchError(f"result: found a structure of shape {position.shape}; allowed: ({n_terms},)")
    position, details = checked_positions(position[None], n_terms)[0], _plain(found.details or {})
    if found.coefficients is None:
        return position, None, details
    weights = np.asarray(found.coefficients)
    size = int(np.count_nonzero(position))
    if weights.shape != (size,) or weights.dtype.kind not in "iuf" or not np.isfinite(weights).all():
        raise NarxbenchError(
            f"result: coefficients: allowed: {size} finite numbers, one for each term of the structure"
        )
    return position, [float(weight) for weight in weights], details


def _plain(details: object) -> dict[str, Any]:
    """Return details as they are read back from JSON."""
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
