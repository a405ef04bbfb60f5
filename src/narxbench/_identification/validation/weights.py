"""Weights of a chosen structure with their uncertainty, what each term explains, and what could take its place.

The search solves normal equations, which is fast. Here the chosen structure alone is solved by orthogonalising its
columns, which loses half as many digits.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.special import stdtr

from narxbench._io.errors import NarxbenchError
from narxbench._numerics.compilation import compiled, inner
from narxbench._numerics.rounding import significant

Floats = NDArray[np.float64]
Assumption = Literal["classical", "hc", "hac"]

# Columns, the output and the samples of some rows.
Block = tuple[Floats, Floats, NDArray[np.int64]]

# Columns made orthogonal in the order in which forward regression takes them. ``columns @ back`` is q, the projections
# are q'y, and the order says which column entered at each step.
Orthogonal = tuple[Floats, Floats, Floats, NDArray[np.int64]]

# A column of which less than this is left next to the others depends on them: it has lost ten of its sixteen digits.
DEPENDENT = 1e-10


@dataclass(frozen=True)
class Weights:
    """Weights of the n terms of a structure."""

    terms: tuple[str, ...]
    coefficients: Floats
    covariances: dict[Assumption, Floats]
    """Covariance of the weights under three assumptions on the residuals. ``"classical"``: white and of one variance;
    ``"hc"``: white, the variance may change (White, HC1); ``"hac"``: also correlated, up to some samples (Newey and
    West). The last is the one to show: see :func:`newey_west_bandwidth`."""
    err: Floats
    """Error reduction ratio of each term, where the terms enter by forward regression among themselves. The sum is the
    share of the sum of squares of the output, not of its variance, that they explain together one step ahead."""
    freedom: int
    """Rows less weights, the degrees of freedom of t."""
    noise: Mapping[str, Any] = field(default_factory=dict)
    """The model's arguments for its noise, none for white noise in the equation."""

    def of_model(self) -> dict[str, Any]:
        """Return what a model keeps, without the last digits, which LAPACK computes differently on other processors."""
        return {
            "coefficients": tuple(map(significant, self.coefficients.tolist())),
            "covariance": tuple(tuple(map(significant, row)) for row in self.covariances["hac"].tolist()),
            **self.noise,
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return a table of the weights as a dict for each term, with t and p None where the residuals are zero."""
        errors = {name: np.sqrt(np.diag(covariance)) for name, covariance in self.covariances.items()}
        t_values = list(map(_t_value, self.coefficients.tolist(), errors["hac"].tolist()))
        columns = {
            "term": self.terms,
            "coefficient": self.coefficients.tolist(),
            "standard_error": map(significant, errors["hac"]),
            "t": t_values,
            "p": [_p_value(t, self.freedom) for t in t_values],
            "standard_error_classical": map(significant, errors["classical"]),
            "standard_error_hc": map(significant, errors["hc"]),
            "err": map(significant, self.err),
        }
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _t_value(weight: float, standard_error: float) -> float | None:
    """Return how many standard errors a weight is from zero, or None where the error is zero."""
    return significant(weight / standard_error) if standard_error > 0 else None


def _p_value(t: float | None, freedom: int) -> float | None:
    """Return the probability of so large a value of Student's t by chance."""
    return None if t is None else significant(2 * stdtr(freedom, -abs(t)))


def newey_west_bandwidth(n_rows: int, decimation: int = 1) -> int:
    """Return up to which lag, in samples, correlation of the residuals is taken into account.

    A model of decimation q predicts q samples ahead, from each sample again: what disturbs the output there is part of
    q neighbouring residuals, and errors that ignore that are too small by up to sqrt(q). Hence 2 q, and what W. K.
    Newey and K. D. West (Review of Economic Studies 61, 1994, pages 631-653) advise for what else is correlated.
    """
    return 2 * decimation + int(4 * (n_rows / 100) ** (2 / 9))


def estimate(columns: Floats, y: Floats, *, terms: Sequence[str], times: NDArray[np.int64], bandwidth: int) -> Weights:
    """Return the least-squares weights of a structure with their uncertainty, from columns of shape (rows, n).

    ``times`` are the samples of the rows: where they do not go up by one, no correlation is taken across.
    NarxbenchError names the terms that depend on each other, or says that there are no more rows than terms.

    Orthogonalised by the modified Gram-Schmidt method in the order of forward regression: S. A. Billings, S. Chen and
    M. J. Korenberg, International Journal of Control 49(6), 1989, pages 2157-2189. Correlation has Bartlett's weights,
    and small samples the factor N / (N - n), as in statsmodels.
    """
    n_rows, n = columns.shape
    if n_rows <= n:
        raise NarxbenchError(f"estimation: found {n_rows} rows for {n} terms; needed: more rows than terms")
    basis = orthogonalise(columns, y, terms)
    q, _, projections, _ = basis
    residuals = y - q @ projections
    scores = q * residuals[:, None]
    white = scores.T @ scores
    correlated = correlated_scores(white, scores, times, bandwidth)
    return _weights(terms, basis, n_rows, (float(y @ y), float(residuals @ residuals)), (white, correlated))


def _weights(
    terms: Sequence[str],
    basis: Orthogonal,
    n_rows: int,
    energies: tuple[float, float],
    scores: tuple[Floats, Floats],
) -> Weights:
    """Return the weights of a structure whose columns were made orthogonal.

    ``energies`` are the sums of squares of the output and of the residuals, ``scores`` the products of the scores at
    the same samples, and with neighbouring ones.
    """
    _, back, projections, order = basis
    (energy, squares), (white, correlated) = energies, scores
    n = len(terms)
    freedom = n_rows - n
    of_projections: dict[Assumption, Floats] = {
        "classical": np.eye(n) * (squares / freedom),
        "hc": white * (n_rows / freedom),
        "hac": correlated * (n_rows / freedom),
    }
    err = np.zeros(n)
    err[order] = projections**2 / (energy or 1.0)
    return Weights(
        terms=tuple(terms),
        coefficients=_coefficients(basis),
        covariances={name: back @ value @ back.T for name, value in of_projections.items()},
        err=err,
        freedom=freedom,
    )


def triangle_of(blocks: Iterable[tuple[Floats, Floats]]) -> tuple[Floats, int]:
    """Return the triangle of the columns with y behind them, and the number of rows.

    It has the inner products of the columns in as many rows as there are columns, without loss of digits by squaring.
    """
    triangle: Floats | None = None
    n_rows = 0
    for columns, y in blocks:
        block = np.column_stack([columns, y])
        if triangle is not None:
            block = np.vstack([triangle, block])
        triangle = np.asarray(np.linalg.qr(block, mode="r"), np.float64)
        n_rows += len(y)
    return np.zeros((0, 1)) if triangle is None else triangle, n_rows


def estimate_in_blocks(blocks: Callable[[], Iterable[Block]], terms: Sequence[str], bandwidth: int) -> Weights:
    """Return what :func:`estimate` returns, from rows that are too many to be held at once.

    ``blocks`` yields them from the beginning on, each time that it is called. No correlation is taken from one block to
    the next.
    """
    n = len(terms)
    triangle, n_rows = triangle_of((columns, y) for columns, y, _ in blocks())
    if n_rows <= n:
        raise NarxbenchError(f"estimation: found {n_rows} rows for {n} terms; needed: more rows than terms")
    basis = orthogonalise(triangle[:, :n], triangle[:, n], terms)
    coefficients, back = _coefficients(basis), basis[1]
    white, correlated, squares = np.zeros((n, n)), np.zeros((n, n)), 0.0
    for columns, y, times in blocks():
        residuals = y - columns @ coefficients
        scores = (columns @ back) * residuals[:, None]
        products = scores.T @ scores
        white += products
        correlated += correlated_scores(products, scores, times, bandwidth)
        squares += float(residuals @ residuals)
    energy = float(triangle[:, n] @ triangle[:, n])
    return _weights(terms, basis, n_rows, (energy, squares), (white, correlated))


def correlated_scores(white: Floats, scores: Floats, times: NDArray[np.int64], bandwidth: int) -> Floats:
    """Return the products of scores at neighbouring samples, with Bartlett's weights, added to those at the same."""
    cuts = np.flatnonzero(np.diff(times) != 1) + 1
    starts, ends = [0, *cuts.tolist()], [*cuts.tolist(), len(times)]
    longest = max(end - start for start, end in zip(starts, ends, strict=True))
    bandwidth = max(0, min(bandwidth, longest - 1))
    correlated = white.copy()
    for start, end in zip(starts, ends, strict=True):
        for lag in range(1, min(bandwidth, end - start - 1) + 1):
            product = scores[start + lag : end].T @ scores[start : end - lag]
            correlated += (1 - lag / (bandwidth + 1)) * (product + product.T)
    return correlated


def least_squares_solution(columns: Floats, y: Floats, terms: Sequence[str]) -> Floats:
    """Return the least-squares weights of columns. Mistakes are raised as by :func:`estimate`."""
    return _coefficients(orthogonalise(columns, y, terms))


def _coefficients(basis: Orthogonal) -> Floats:
    """Return the least-squares weights, in the order of the columns."""
    _, back, projections, _ = basis
    weights: Floats = (back * projections).sum(axis=1)
    return weights


def orthogonalise(columns: Floats, y: Floats, terms: Sequence[str]) -> Orthogonal:
    """Make the columns of a structure orthogonal, by the method of :func:`estimate`."""
    n = columns.shape[1]
    # Powers of two change no digit.
    scales = 2.0 ** np.frexp(np.abs(columns).max(axis=0, initial=0.0))[1]
    q = np.ascontiguousarray((columns / scales).T, np.float64)
    order, triangle, projections = np.empty(n, np.int64), np.zeros((n, n)), np.zeros(n)
    entered = _orthogonalise(q, np.ascontiguousarray(y, np.float64), order, triangle, projections, DEPENDENT)
    if entered < n:
        raise NarxbenchError(_dependence(columns / scales, triangle, order[:entered], terms))
    back = np.empty((n, n))
    back[order] = solve_triangular(triangle[:, order], np.eye(n)) / scales[order, None]
    return q[order].T, back, projections, order


def _dependence(columns: Floats, triangle: Floats, entered: NDArray[np.int64], terms: Sequence[str]) -> str:
    """Return which terms depend on each other, in words."""
    n_entered = len(entered)
    left = int(min(set(range(len(terms))) - set(entered.tolist())))
    # The parts of the column that depends, in units of the columns as they came in.
    parts = solve_triangular(triangle[:n_entered, entered], triangle[:n_entered, left])
    sizes = np.abs(parts) * np.linalg.norm(columns[:, entered], axis=0)
    # What makes up less of the column is rounding: half of the digits are lost to the dependence.
    least = math.sqrt(DEPENDENT) * float(np.linalg.norm(columns[:, left]))
    involved = sorted([left, *entered[sizes > least].tolist()]) if least > 0 else [left]
    names = [terms[i] for i in involved]
    if len(names) == 1:
        what, allowed = f"the term {names[0]} is zero on all estimation rows", "terms that vary with the data"
    else:
        what = f"on the estimation rows {', '.join(names[:-1])} and {names[-1]} depend on each other"
        allowed = "all but one of them"
    return f"structure: {what}; allowed: {allowed}"


def interchangeable(
    columns: Floats, names: Sequence[str], chosen: Sequence[str], least: float = 0.95
) -> list[tuple[str, str, float]]:
    """Return for each term of a model the other candidate that could nearly take its place, and their correlation.

    That is the one whose column is most correlated with the term's once what the other terms explain is removed from
    both: data hardly distinguish them. It is about zero, as least squares sees columns. Correlations below
    ``least`` are left out.
    """
    position = {name: i for i, name in enumerate(names)}
    inside = [position[name] for name in chosen]
    outside = np.setdiff1d(np.arange(len(names)), inside)
    if not len(outside):
        return []
    q, back, _, _ = orthogonalise(columns[:, inside], np.zeros(len(columns)), chosen)
    outsiders = columns[:, outside]
    energies = (outsiders**2).sum(axis=0)
    in_model = q.T @ outsiders
    outside_model = ((outsiders - q @ in_model) ** 2).sum(axis=0)
    pairs = []
    for term, dual in zip(chosen, back, strict=True):
        # Of the term's column, the part that is orthogonal to the other terms has the direction q @ dual.
        shared = (dual / np.linalg.norm(dual)) @ in_model
        free = outside_model + shared**2
        is_independent = free > DEPENDENT**2 * energies
        correlations = np.where(is_independent, shared / np.sqrt(np.where(is_independent, free, 1.0)), 0.0)
        rounded = [significant(value) for value in correlations.tolist()]
        most = max(range(len(rounded)), key=lambda i: abs(rounded[i]))
        if abs(rounded[most]) >= least:
            pairs.append((term, names[outside[most]], rounded[most]))
    return pairs


@compiled
def _orthogonalise(q, y, order, triangle, projections, dependent):  # type: ignore[no-untyped-def]
    # Replaces the columns of a structure, the rows of q, by orthonormal ones, and returns how many are independent. Row
    # s of the triangle belongs to the column that entered at step s, its columns to the structure's in their own order.
    # Sums in plain order, because a library's depend on the number of cores.
    n = q.shape[0]
    energies, entered = np.empty(n), np.zeros(n, np.bool_)
    rest = y.copy()
    for j in range(n):
        energies[j] = _dot(q[j], q[j])
    for step in range(n):
        chosen, most = -1, -1.0
        for j in range(n):
            if not entered[j]:
                left = _dot(q[j], q[j])
                if left > dependent * dependent * energies[j]:
                    product = _dot(q[j], rest)
                    gain = product * product / left
                    # Of columns that explain the same the first enters, whatever the rounding.
                    if gain > most * (1.0 + 1e-13):
                        chosen, most = j, gain
        if chosen < 0:
            return step
        column = q[chosen]
        # What rounding has left of the columns that entered before.
        for s in range(step):
            part = _dot(q[order[s]], column)
            triangle[s, chosen] += part
            _subtract(part, q[order[s]], column)
        norm = np.sqrt(_dot(column, column))
        for k in range(column.shape[0]):
            column[k] /= norm
        triangle[step, chosen], order[step], entered[chosen] = norm, chosen, True
        for j in range(n):
            if not entered[j]:
                triangle[step, j] = _dot(column, q[j])
                _subtract(triangle[step, j], column, q[j])
        projections[step] = _dot(column, rest)
        _subtract(projections[step], column, rest)
    return n


@inner
def _subtract(share, a, b):  # type: ignore[no-untyped-def]
    # A loop compiles in a tenth of the time of an expression of whole arrays.
    for k in range(a.shape[0]):
        b[k] -= share * a[k]


@inner
def _dot(a, b):  # type: ignore[no-untyped-def]
    total = 0.0
    for k in range(a.shape[0]):
        total += a[k] * b[k]
    return total
