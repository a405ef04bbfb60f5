"""Fitness of a candidate structure: least-squares weights, free-run error on the validation part, and a criterion."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, Literal, get_args
from zlib import crc32

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray

from narxbench._fitness.criteria import parse_criterion
from narxbench._fitness.kernel.evaluation import Kernel, evaluate_structures, kernel_for
from narxbench._fitness.kernel.problem_data import prepare, products_over
from narxbench._io.errors import NarxbenchError, did_you_mean, is_whole_number
from narxbench._model.dataset import finite_signals
from narxbench._model.scaling import least_scaling
from narxbench._model.structure import checked_positions
from narxbench._model.terms import OUTPUT, Monomial, candidate_monomials, index_of_terms, term_name

Estimation = Literal["before_validation", "all"]
ErrorKind = Literal["free_run", "one_step"]
ValidationPart = Literal["last", "first", "middle"]
FreeRunStart = Literal["measured", "zero"]
RequiredTerms = Literal["nothing", "linear_output", "output", "input", "linear_output_and_input", "output_and_input"]


@dataclass(frozen=True)
class Evaluation:
    """One evaluated structure.

    Attributes
    ----------
    terms : list of str
        Canonical names of the terms, in the order in which they were given.
    fitness : float
        J; lower is better. +inf if the structure is empty, singular, divergent, lacks a required term, or has more
        terms than the criterion allows.
    sse : float
        The free-run error e over the validation samples.
    coefficients : list of float
        The least-squares weights, in the order of ``terms``; zeros if the structure is singular.
    has_required_terms : bool
        Whether the structure has the terms that the problem requires.

    Examples
    --------
    >>> import narxbench
    >>> u, y = narxbench.load_system("S1").simulate(1000, snr_db=40)
    >>> problem = narxbench.StructureProblem(u, y, n_u=1, n_y=1, degree=1, n_validation=300)
    >>> evaluation = problem.evaluate(["y(k-1)", "u(k-1)"])
    >>> evaluation.terms, evaluation.status
    (['y(k-1)', 'u(k-1)'], 'finite')
    """

    terms: list[str]
    fitness: float
    sse: float
    coefficients: list[float]
    has_required_terms: bool = True

    @property
    def status(self) -> Literal["finite", "empty", "incomplete", "large", "singular", "divergent"]:
        """``"finite"``, or why J is infinite.

        The reasons are no terms, a required term that is missing, too many terms, dependent terms, or a run that
        diverges.
        """
        if np.isfinite(self.fitness):
            return "finite"
        if not self.terms:
            return "empty"
        if not self.has_required_terms:
            return "incomplete"
        if np.isfinite(self.sse):
            return "large"
        if any(self.coefficients):
            return "divergent"
        return "singular"


def check_compiler() -> None:
    """Raise NarxbenchError if compilation is switched off: Python cannot run the kernel."""
    if numba.config.DISABLE_JIT:
        raise NarxbenchError("NUMBA_DISABLE_JIT: found 1; allowed: 0 or not set, as only compiled code can search")


class StructureProblem:
    """The problem of choosing model terms for one recording of input and output (paper, section IV-B).

    Parameters
    ----------
    u, y : arrays of shape (samples,)
        Input and output. The last ``n_validation`` samples are the validation part, unless ``validation_part`` says
        otherwise. The weights are estimated on the rows from max(n_u, n_y) to the start of the validation part.
    n_u, n_y, degree : int
        Largest lags and largest total degree of the candidate terms (N_l in the paper).
    criterion : str
        A name as :func:`narxbench._fitness.criteria.parse_criterion` reads it. ``"bic"``: J = L ln(e) + ln(L) xi;
        ``"aic-<rho>"``: J = L ln(e) + rho xi (equations 10 and 11).
    estimation : str
        ``"before_validation"``: the weights are estimated on the rows before the validation part (the paper has 1400
        samples there); ``"all"``: on all rows.
    error : str
        ``"free_run"``: e is the error of the simulated output, which depends on simulated past outputs;
        ``"one_step"``: e is the error of the prediction one step ahead from measured outputs.
    validation_part : str
        Which samples are the validation part: the ``"last"``, the ``"first"`` that have all lagged samples before them,
        or those in the ``"middle"``. The weights are estimated on the rows before and after it.
    free_run_start : str
        The outputs before a simulation: those that were ``"measured"``, or ``"zero"``.
    required_terms : str
        The terms without which J is +inf: ``"nothing"``; ``"linear_output"``, an output at a single lag;
        ``"output"`` or ``"input"``, any term with such a factor; ``"linear_output_and_input"`` or
        ``"output_and_input"``, a term of each kind.
    n_segments : int
        The number of segments of the validation part, each of which is simulated from the measured outputs before it.
        Together they have the L samples of J.
    segment_length : int, optional
        The samples of each segment. The segments are then spread evenly over the validation part, and a search on a
        long record costs no more than one on a short record. None: the segments fill the validation part.
    rescaled : bool
        Whether a signal far from zero is replaced by its difference from a round number in its range, and a signal with
        values near the limits of floating-point numbers is taken in another unit: products of such signals could not be
        distinguished. Other signals stay as they are. False: all signals stay as they are.

    Attributes
    ----------
    terms : list of str
        The N_t candidate terms in canonical order.
    offsets, scales : tuple of float
        One for the output and one for the input: terms, J, e and weights are those of ``(signal - offset) / scale``.
    segments : list of range
        The validation samples.
    estimation_rows : array of int, shape (rows,)
        The samples on which the weights are estimated.
    estimation_part : pair of arrays
        Input and output up to the last estimation row.
    training_u, training_y : arrays
        Input and output of all samples, rescaled like those of ``estimation_part``.
    stretches : array of int, shape (stretches, 2)
        Stretches of consecutive samples that are used for estimation or validation: the first sample and the end of
        each. The lagged samples before a stretch belong to no other stretch, so each can be simulated on its own.
    data : ProblemData
        The data of the problem for the compiled kernel.

    Raises
    ------
    NarxbenchError
        If signals, orders, criterion or a choice is impossible.

    Examples
    --------
    >>> import narxbench
    >>> u, y = narxbench.load_system("S1").simulate(1000, snr_db=40)
    >>> problem = narxbench.StructureProblem(u, y, n_u=1, n_y=1, degree=2, n_validation=300)
    >>> problem.terms
    ['1', 'y(k-1)', 'u(k-1)', 'y(k-1)^2', 'y(k-1)*u(k-1)', 'u(k-1)^2']
    """

    def __init__(
        self,
        u: ArrayLike,
        y: ArrayLike,
        *,
        n_u: int,
        n_y: int,
        degree: int,
        n_validation: int = 600,
        criterion: str = "bic",
        estimation: Estimation = "before_validation",
        error: ErrorKind = "free_run",
        validation_part: ValidationPart = "last",
        free_run_start: FreeRunStart = "measured",
        required_terms: RequiredTerms = "nothing",
        n_segments: int = 1,
        segment_length: int | None = None,
        rescaled: bool = True,
    ) -> None:
        monomials = candidate_monomials(n_y=n_y, n_u=n_u, degree=degree)
        u, y = (finite_signals(name, values)[:, 0] for name, values in (("u", u), ("y", y)))
        if len(u) != len(y):
            raise NarxbenchError(f"u and y: found {len(u)} and {len(y)} samples; allowed: equally many")
        counts = {"n_validation": n_validation, "n_segments": n_segments}
        if segment_length is not None:
            counts["segment_length"] = segment_length
        for name, count in counts.items():
            if not is_whole_number(count, 1):
                raise NarxbenchError(f"{name}: found {count!r}; allowed: a positive whole number")
        first_row = max(n_u, n_y)
        if len(y) - n_validation <= first_row:
            raise NarxbenchError(
                f"u and y: found {len(y)} samples; needed: more than {first_row + n_validation} "
                f"({first_row} for the largest lag, {n_validation} to validate, the rest to estimate)"
            )
        _check_choice("estimation", estimation, get_args(Estimation))
        _check_choice("validation_part", validation_part, get_args(ValidationPart))
        self.offsets, self.scales = (0.0, 0.0), (1.0, 1.0)
        if rescaled:
            (y_offset, y_scale), (u_offset, u_scale) = least_scaling(y), least_scaling(u)
            y, u = (y - y_offset) / y_scale, (u - u_offset) / u_scale
            self.offsets, self.scales = (y_offset, u_offset), (y_scale, u_scale)
        self.n_validation, self.estimation, self.validation_part = n_validation, estimation, validation_part
        start = _start_of_validation(validation_part, first_row, len(y), n_validation)
        end = start + n_validation
        rows = np.arange(first_row, len(y))
        if estimation == "before_validation":
            rows = np.concatenate([rows[rows < start], rows[rows >= end]])
        segments = _segments(start, end, n_segments, segment_length)
        self._prepare(
            u,
            y,
            monomials,
            rows,
            segments,
            criterion,
            error,
            required_terms=required_terms,
            free_run_start=free_run_start,
        )
        self.estimation_part = u[: rows[-1] + 1], y[: rows[-1] + 1]
        self.stretches = np.array([[first_row, len(y)]])

    @classmethod
    def of_records(
        cls,
        u: NDArray[np.float64],
        y: NDArray[np.float64],
        monomials: list[Monomial],
        *,
        rows: NDArray[np.int64],
        segments: list[range],
        criterion: str = "bic",
        error: ErrorKind = "free_run",
        repeated: float = 1,
        products: NDArray[np.float64] | None = None,
    ) -> "StructureProblem":
        """Return the problem for several records, one after the other in the arrays.

        Parameters
        ----------
        u : array, shape (samples, inputs)
            The inputs; an array without columns if there are only terms of the output.
        y : array, shape (samples,)
            The output.
        monomials : list of Monomial
            The candidate terms in canonical order.
        rows : array of int, shape (rows,)
            The estimation rows. The lagged samples of a row must be in the same record. A row may occur repeatedly.
        segments : list of range
            The validation samples. Each segment is simulated from the measured outputs before it.
        criterion, error
            As for the class.
        repeated : float
            The number of successive validation samples that carry the same information, as in a record that is sampled
            far too fast. The penalty grows with it, as L ln(e) does.
        products : array, shape (N_t + 1, N_t + 1), optional
            The result of :func:`narxbench._fitness.kernel.problem_data.products_over` for ``rows``, if it is known.

        Returns
        -------
        StructureProblem
            The problem. Its ``estimation_part`` is zero at samples that no row refers to.
        """
        problem = cls.__new__(cls)
        n_signals = 1 + u.shape[1]
        problem.offsets, problem.scales = (0.0,) * n_signals, (1.0,) * n_signals
        problem.n_validation, problem.estimation = sum(map(len, segments)), "before_validation"
        problem.validation_part = "last"
        problem._prepare(u, y, monomials, rows, segments, criterion, error, repeated, products)
        return problem

    # Of the many problems that an identification has, few are asked for the next two.
    @cached_property
    def estimation_part(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Inputs and output, zero at samples that no estimation row refers to."""
        reached = np.zeros(len(self.training_y), np.bool_)
        for lag in range(max(self.n_u, self.n_y) + 1):
            reached[self.estimation_rows - lag] = True
        return np.where(reached[:, None], self.training_u, 0.0), np.where(reached, self.training_y, 0.0)

    @cached_property
    def stretches(self) -> NDArray[np.int64]:
        """Stretches of consecutive samples that are used, shape (stretches, 2): first sample and end of each."""
        return _stretches(self.estimation_rows, self.segments, max(self.n_u, self.n_y))

    def _prepare(
        self,
        u: NDArray[np.float64],
        y: NDArray[np.float64],
        monomials: list[Monomial],
        rows: NDArray[np.int64],
        segments: list[range],
        criterion: str,
        error: ErrorKind,
        repeated: float = 1,
        products: NDArray[np.float64] | None = None,
        required_terms: RequiredTerms = "nothing",
        free_run_start: FreeRunStart = "measured",
    ) -> None:
        _check_choice("error", error, get_args(ErrorKind))
        _check_choice("required_terms", required_terms, get_args(RequiredTerms))
        _check_choice("free_run_start", free_run_start, get_args(FreeRunStart))
        self.training_u, self.training_y = u, y
        self.monomials, self.segments, self.estimation_rows = monomials, segments, rows
        self.n_inputs = 1
        if u.ndim == 2:
            self.n_inputs = u.shape[1]
        names, self._index = _named(tuple(monomials), self.n_inputs)
        self.terms = list(names)
        self.n_y, self.n_u = _largest_lags(tuple(monomials))
        self.degree = max(map(len, monomials))
        self.criterion, self.error, self.required_terms = parse_criterion(criterion).name, error, required_terms
        n_steps = sum(map(len, segments))
        penalties = _penalties(self.criterion, n_steps, len(monomials), repeated).copy()
        if penalties[1] == np.inf:
            raise NarxbenchError(
                f"criterion: found {self.criterion!r} for {n_steps} samples; needed: more samples to validate"
            )
        check_compiler()
        if products is None:
            products = products_over(u, y, monomials, rows)
        required = _masks(required_terms, monomials)
        is_one_step = error == "one_step"
        self.data = prepare(u, y, monomials, self.n_y, products, segments, penalties, required, is_one_step)
        self.free_run_start = free_run_start
        if free_run_start == "zero":
            self.data = self.data._replace(initial=np.zeros_like(self.data.initial))

    @cached_property
    def digest(self) -> int:
        """A checksum of the kernel's data at the time of the first access."""
        return self.digest_now()

    def digest_now(self) -> int:
        """Return a checksum of the current data of the kernel."""
        digest = 0
        for array in self.data:
            digest = crc32(np.ascontiguousarray(array).data, digest)
        return digest

    @cached_property
    def kernel(self) -> Kernel:
        """The compiled kernel for these data."""
        return kernel_for(self.data)

    def __getstate__(self) -> dict[str, Any]:
        # In another process the compiled code has another address.
        return {name: value for name, value in self.__dict__.items() if name != "kernel"}

    def evaluate(self, term_names: Iterable[str]) -> Evaluation:
        """Evaluate one structure, whose terms may be named in any spelling and order.

        Raises
        ------
        NarxbenchError
            If a term is not a candidate, or named twice.

        Examples
        --------
        >>> import narxbench
        >>> u, y = narxbench.load_system("S1").simulate(1000, snr_db=40)
        >>> problem = narxbench.StructureProblem(u, y, n_u=2, n_y=2, degree=2, n_validation=300)
        >>> evaluation = problem.evaluate(["y(k-1)", "u(k-1)", "u(k-1)*y(k-1)", "u(k-1)^2"])
        >>> [round(weight, 1) for weight in evaluation.coefficients]
        [0.5, 0.3, 0.3, 0.5]
        """
        if isinstance(term_names, str):
            raise NarxbenchError(f"terms: found the text {term_names!r}; allowed: a list of term names")
        chosen, position = self._position(term_names)
        fitness, sse, coefficients = self.evaluate_positions(position)
        weights = coefficients[0, chosen].tolist()
        is_complete = bool((self.data.required & position).any(axis=1).all())
        return Evaluation([self.terms[i] for i in chosen], float(fitness[0]), float(sse[0]), weights, is_complete)

    def predict(self, term_names: Iterable[str]) -> NDArray[np.float64]:
        """Return the simulated output (or the prediction one step ahead) whose error :meth:`evaluate` computes.

        Returns
        -------
        array of float, shape (L,)
            The output at the samples of ``segments``, in the units of ``y``. For a divergent structure it may have
            infinities or NaN.
        """
        _, position = self._position(term_names)
        outputs = np.empty(len(self.data.measured))
        evaluate_structures(self.kernel, self.data, position, np.empty(1), np.empty(1), np.empty((0, 0)), outputs[None])
        return outputs * self.scales[OUTPUT] + self.offsets[OUTPUT]

    def _position(self, term_names: Iterable[str]) -> tuple[list[int], NDArray[np.uint8]]:
        """Return the indices of the terms, and the structure as an array of one row."""
        chosen = index_of_terms(term_names, self._index, self.n_inputs)
        position = np.zeros((1, len(self.terms)), np.uint8)
        position[0, chosen] = 1
        return chosen, position

    def evaluate_positions(self, positions: ArrayLike) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Evaluate many structures at once.

        Parameters
        ----------
        positions : array of uint8, shape (structures, N_t)
            A 1 where the structure has the term.

        Returns
        -------
        fitness, sse : arrays of float, shape (structures,)
            J and e of each structure.
        coefficients : array of float, shape (structures, N_t)
            Weights, zero for absent terms.

        Raises
        ------
        NarxbenchError
            For another shape, or another entry than 0 and 1.
        """
        structures = checked_positions(positions, len(self.terms))
        count = len(structures)
        fitness, sse, coefficients = np.empty(count), np.empty(count), np.empty((count, len(self.terms)))
        evaluate_structures(self.kernel, self.data, structures, fitness, sse, coefficients, np.empty((0, 0)))
        return fitness, sse, coefficients


def _is_linear_output(monomial: Monomial) -> bool:
    return len(monomial) == 1 and monomial[0][0] == OUTPUT


def _has_output(monomial: Monomial) -> bool:
    return any(signal == OUTPUT for signal, _ in monomial)


def _has_input(monomial: Monomial) -> bool:
    return any(signal != OUTPUT for signal, _ in monomial)


_REQUIREMENTS: dict[str, tuple[Callable[[Monomial], bool], ...]] = {
    "nothing": (),
    "linear_output": (_is_linear_output,),
    "output": (_has_output,),
    "input": (_has_input,),
    "linear_output_and_input": (_is_linear_output, _has_input),
    "output_and_input": (_has_output, _has_input),
}


def _masks(required_terms: RequiredTerms, monomials: list[Monomial]) -> NDArray[np.uint8]:
    """Return the sets of terms of each of which a structure must have a member, one row for each set."""
    requirements = _REQUIREMENTS[required_terms]
    masks = np.zeros((len(requirements), len(monomials)), np.uint8)
    for row, is_member in enumerate(requirements):
        masks[row] = list(map(is_member, monomials))
        if not masks[row].any():
            raise NarxbenchError(
                f"required_terms: found {required_terms!r}, and no such candidate; needed: a candidate of each kind"
            )
    return masks


# The problems of the parts of one data set have the same candidates.
@lru_cache(maxsize=64)
def _named(monomials: tuple[Monomial, ...], n_inputs: int) -> tuple[tuple[str, ...], dict[Monomial, int]]:
    """Return the names and the places of some candidate terms."""
    names = tuple(term_name(monomial, n_inputs) for monomial in monomials)
    return names, {monomial: i for i, monomial in enumerate(monomials)}


@lru_cache(maxsize=64)
def _penalties(criterion: str, samples: int, candidates: int, repeated: float) -> NDArray[np.float64]:
    return parse_criterion(criterion).penalties(samples, candidates, repeated)


@lru_cache(maxsize=64)
def _largest_lags(monomials: tuple[Monomial, ...]) -> tuple[int, int]:
    """Return the largest lag of the output and the largest lag of an input."""
    n_y = n_u = 0
    for monomial in monomials:
        for signal, lag in monomial:
            if signal == OUTPUT:
                n_y = max(n_y, lag)
            else:
                n_u = max(n_u, lag)
    return n_y, n_u


def _start_of_validation(validation_part: ValidationPart, first_row: int, n_samples: int, n_validation: int) -> int:
    """Return the first sample of the validation part."""
    starts = {
        "last": n_samples - n_validation,
        "first": first_row,
        "middle": (n_samples - n_validation + first_row) // 2,
    }
    return starts[validation_part]


def _segments(start: int, end: int, count: int, length: int | None) -> list[range]:
    """Return segments of the samples from ``start`` to ``end``: of a given length, or such that they fill them."""
    available = end - start
    if length is None:
        if count > available:
            raise NarxbenchError(f"n_segments: found {count}; allowed: at most one for each of {available} samples")
        bounds = [start + available * i // count for i in range(count + 1)]
        return [range(*pair) for pair in pairwise(bounds)]
    if count * length > available:
        raise NarxbenchError(
            f"n_segments and segment_length: found {count} and {length}; allowed: at most n_validation, {available}, "
            "samples together"
        )
    starts = [start + (available - length) * i // max(1, count - 1) for i in range(count)]
    return [range(first, first + length) for first in starts]


def _stretches(rows: NDArray[np.int64], segments: list[range], longest_lag: int) -> NDArray[np.int64]:
    """Return the stretches of consecutive samples, shortened so that the lags before each belong to no other."""
    samples = np.unique(np.concatenate([rows, *(np.array(segment, np.int64) for segment in segments)]))
    cuts = np.flatnonzero(np.diff(samples) != 1) + 1
    stretches, end = [], -longest_lag
    for run in np.split(samples, cuts):
        start = max(int(run[0]), end + longest_lag)
        if start <= run[-1]:
            end = int(run[-1]) + 1
            stretches.append([start, end])
    return np.array(stretches)


def _check_choice(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise NarxbenchError(
            f"{name}: found {value!r}; allowed: {' or '.join(map(repr, allowed))}{did_you_mean(value, allowed)}"
        )
