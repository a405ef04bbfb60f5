"""Candidate terms that are redundant, as they are combinations of earlier ones."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from narxbench._numerics.random_streams import generator
from narxbench._numerics.rounding import significant

Array = NDArray[np.float64]
Integers = NDArray[np.int64]

# A column is a combination of others if less than this share of its norm is outside their span. Rounding errors are
# about 1e-15.
EXACT = 1e-8
# A combination of more columns makes no small structure singular.
MOST_IN_COMBINATION = 8
# Two columns are nearly alike if their correlation is larger.
NEARLY = 0.999


def collinear(columns: Array, terms: list[str]) -> dict[str, str]:
    """Return the candidates that are combinations of a few earlier ones, each with the reason.

    ``columns`` are their values, shape (rows, n_terms), in canonical order: of a combination the last is dropped, of
    the highest degree. A QR decomposition of some rows finds the dependent ones (a Gram matrix would square the
    errors). Each combination is then tried at all rows, and the rows that refute one are added.
    """
    norms = np.sqrt(np.einsum("ij,ij->j", columns, columns))
    active = np.flatnonzero(norms > 0.0)
    reasons = {terms[j]: f"{terms[j]} is zero in every row" for j in np.flatnonzero(norms == 0.0)}
    rows = _some_rows(len(columns), len(active))
    refuting_rows: set[int] = set()
    while len(active):
        part = columns[np.ix_(rows, active)] / norms[active]
        refuting_rows.clear()
        dropped = {}
        for j, basis in _combinations(part).items():
            weights = np.linalg.lstsq(part[:, basis], part[:, j], rcond=None)[0]
            combined, combination = active[j], active[basis]
            residual = np.abs(
                columns[:, combined] / norms[combined] - columns[:, combination] @ (weights / norms[combination])
            )
            if np.linalg.norm(residual) <= EXACT:
                scaled = weights * norms[combined] / norms[combination]
                names = [terms[i] for i in combination]
                dropped[terms[combined]] = f"{terms[combined]} is {sum_of(list(zip(scaled, names, strict=True)))}"
            else:
                # The worst rows, as many as determine the combination anew.
                refuting_rows.update(np.argsort(residual)[-len(basis) - 1 :].tolist())
        refuting_rows.difference_update(rows.tolist())
        if not refuting_rows:
            reasons |= dropped
            break
        rows = np.union1d(rows, sorted(refuting_rows))
    return {term: reasons[term] for term in terms if term in reasons}


def _some_rows(n_rows: int, n_columns: int) -> Integers:
    """Return enough rows to find most combinations, in order: random ones if there are many."""
    if n_rows <= 3 * n_columns:
        return np.arange(n_rows)
    order = generator(purpose="collinear", rows=n_rows).permutation(n_rows)
    return np.sort(order[: 2 * n_columns + 10])


def near_pairs(columns: Array, terms: Sequence[str]) -> dict[str, Any]:
    """Return the number of pairs of candidates that are nearly alike, and the worst of them with its correlation."""
    alike = _correlations(columns)
    count = int(np.sum(alike > NEARLY))
    if not count:
        return {"number": 0, "worst": None}
    # The first of the most alike: their last digits depend on the processor.
    i, j = np.unravel_index(int(np.argmax(alike.round(9))), alike.shape)
    correlation = min(1.0, significant(float(alike[i, j])))
    return {"number": count, "worst": (terms[int(i)], terms[int(j)], correlation)}


def _correlations(columns: Array) -> Array:
    """Return the size of the correlation of each column with each later one, and 0 elsewhere."""
    centred = columns - columns.mean(axis=0)
    norms = np.sqrt(np.einsum("ij,ij->j", centred, centred))
    # The constant term is like no other.
    varies = norms > 1e-9 * np.abs(columns).sum(axis=0)
    scale = np.where(varies, 1.0 / np.maximum(norms, 1e-300), 0.0)
    return np.triu(np.abs(centred.T @ centred * scale * scale[:, None]), 1)


def sum_of(pairs: list[tuple[float, str]]) -> str:
    """Return a sum of weighted terms in words, such as ``2 u(k-1) - 3``."""
    text = ""
    for weight, term in sorted(pairs, key=lambda pair: pair[1] == "1"):
        sign = "-" if weight < 0.0 else "+"
        if text:
            text += f" {sign} "
        elif sign == "-":
            text += sign
        text += _product(f"{abs(weight):.4g}", term)
    return text


def _product(weight: str, term: str) -> str:
    if term == "1":
        return weight
    if weight == "1":
        return term
    return f"{weight} {term}"


def _combinations(part: Array) -> dict[int, list[int]]:
    """Return each column of about unit norm that is a combination of a few earlier ones, and which these are."""
    # The triangle has the same angles between its columns, and fewer rows.
    triangle = np.asarray(np.linalg.qr(part, mode="r"))
    triangle /= np.maximum(np.linalg.norm(triangle, axis=0), 1e-300)
    basis, q, r = _independent_columns(triangle)
    combinations = {}
    for j in sorted(set(range(part.shape[1])) - set(basis.tolist())):
        n_earlier = int(np.searchsorted(basis, j))
        projection = q.T @ triangle[:, j]
        residual = triangle[:, j] - q[:, :n_earlier] @ projection[:n_earlier]
        if np.linalg.norm(residual) > 10.0 * EXACT:
            continue
        weights = solve_triangular(r[:n_earlier, :n_earlier], projection[:n_earlier])
        has_weight = np.abs(weights) > 1e-6 * np.abs(weights).max(initial=0.0)
        if has_weight.sum() <= MOST_IN_COMBINATION:
            combinations[j] = basis[:n_earlier][has_weight].tolist()
    return combinations


def _independent_columns(triangle: Array) -> tuple[Integers, Array, Array]:
    """Return the columns of a triangle that are not combinations of earlier ones, and their QR decomposition."""
    # With all of its columns, a triangle is its own decomposition.
    basis, q, r = np.arange(triangle.shape[1]), np.eye(len(triangle)), triangle
    while True:
        distance = np.zeros(len(basis))
        distance[: len(r)] = np.abs(np.diag(r))
        if (distance > EXACT).all():
            return basis, q, r
        # Behind a dependent column the decomposition is not to be trusted: dropped columns are tried once more later.
        basis = basis[distance > EXACT]
        q, r = np.linalg.qr(triangle[:, basis])
