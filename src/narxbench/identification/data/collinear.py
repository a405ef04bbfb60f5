"""Candidate terms that say nothing that others do not say already."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from narxbench.identification.finding import Finding
from narxbench.numerics.random_streams import generator

Array = NDArray[np.float64]

# Of the norm of a column: what is left of it outside the span of others, where it is their combination. Rounding
# leaves 1e-15; and of how many others it may be: a combination of many makes no small structure singular.
EXACT, MOST_OTHERS = 1e-8, 8
NEARLY = 0.999


def collinear(columns: Array, terms: list[str]) -> dict[str, str]:
    """Return the candidates that say nothing that a few earlier ones do not say already, each with the reason.

    ``columns`` are their values, shape (rows, n_terms), in canonical order: of a combination the last is dropped, of
    the highest degree. A QR decomposition of some rows finds the dependent ones (a Gram matrix would square the
    errors); each combination is then tried at all rows, and the rows that refute one are added.
    """
    norms = np.sqrt(np.einsum("ij,ij->j", columns, columns))
    reasons = {int(j): f"{terms[j]} is zero in every row" for j in np.flatnonzero(norms == 0.0)}
    active = np.flatnonzero(norms > 0.0)
    rows = np.arange(len(columns))
    if len(rows) > 3 * len(active):
        chosen = generator(purpose="collinear", rows=len(rows)).permutation(len(rows))[: 2 * len(active) + 10]
        rows = np.sort(chosen)
    while len(active):
        part = columns[np.ix_(rows, active)] / norms[active]
        refuting: set[int] = set()
        dropped = {}
        for j, others in _combinations(part).items():
            weights = np.linalg.lstsq(part[:, others], part[:, j], rcond=None)[0]
            left = np.abs(
                columns[:, active[j]] / norms[active[j]]
                - columns[:, active[others]] @ (weights / norms[active[others]])
            )
            if np.linalg.norm(left) <= EXACT:
                scaled = weights * norms[active[j]] / norms[active[others]]
                pairs = [(float(w), terms[active[i]]) for w, i in zip(scaled, others, strict=True)]
                dropped[int(active[j])] = f"{terms[active[j]]} is {sum_of(pairs)}"
            else:
                # The few worst rows, for others may be refuted by the same.
                refuting |= set(np.argsort(left)[-10:].tolist()) - set(rows.tolist())
        if not refuting:
            reasons |= dropped
            break
        rows = np.union1d(rows, sorted(refuting))
    return {terms[j]: reasons[j] for j in sorted(reasons)}


def collinear_check(columns: Array, terms: list[str], dropped: dict[str, str]) -> Finding:
    """Tell which candidates are ``dropped`` (:func:`collinear`), and how many pairs of the others are nearly alike."""
    kept = [j for j, term in enumerate(terms) if term not in dropped]
    centred = columns[:, kept] - columns[:, kept].mean(axis=0)
    norms = np.sqrt(np.einsum("ij,ij->j", centred, centred))
    # The constant term is like no other.
    scale = np.where(norms > 1e-9 * np.abs(columns[:, kept]).sum(axis=0), 1.0 / np.maximum(norms, 1e-300), 0.0)
    alike = np.triu(np.abs(centred.T @ centred * scale * scale[:, None]), 1)
    count = int(np.sum(alike > NEARLY))
    nearest = None
    if count:
        # The first of the most alike: their last digits are those of a processor.
        i, j = np.unravel_index(int(np.argmax(alike.round(9))), alike.shape)
        nearest = [terms[kept[i]], terms[kept[j]], min(1.0, float(alike[i, j]))]
    values = {"candidates": len(terms), "dropped": dropped, "near_pairs": count, "worst": nearest}
    return Finding("collinear", "look" if dropped or count else "fine", values)


def sum_of(pairs: list[tuple[float, str]]) -> str:
    """Return a sum of terms in words: ``2 u(k-1) - 3`` for those of ``u(k-1)`` and ``1``."""
    text = ""
    for weight, term in sorted(pairs, key=lambda pair: pair[1] == "1"):
        size = f"{abs(weight):.4g}"
        factor = size if term == "1" else term if size == "1" else f"{size} {term}"
        text += (f" {'-' if weight < 0.0 else '+'} " if text else "-" * (weight < 0.0)) + factor
    return text


def _combinations(part: Array) -> dict[int, list[int]]:
    """Return each column of about unit norm that is a combination of a few earlier ones, and which these are."""
    # The triangle has the same angles between its columns, and fewer rows.
    triangle = np.asarray(np.linalg.qr(part, mode="r"))
    triangle /= np.maximum(np.linalg.norm(triangle, axis=0), 1e-300)
    basis = np.arange(part.shape[1])
    while True:
        q, r = np.linalg.qr(triangle[:, basis])
        distance = np.zeros(len(basis))
        distance[: len(r)] = np.abs(np.diag(r))
        if (distance > EXACT).all():
            break
        # Behind a dependent column the decomposition is not to be trusted: what is dropped is looked at again below.
        basis = basis[distance > EXACT]
    found = {}
    for j in sorted(set(range(part.shape[1])) - set(basis.tolist())):
        earlier = int(np.searchsorted(basis, j))
        shadow = q.T @ triangle[:, j]
        left = triangle[:, j] - q[:, :earlier] @ shadow[:earlier]
        if np.linalg.norm(left) > 10.0 * EXACT:
            continue
        weights = solve_triangular(r[:earlier, :earlier], shadow[:earlier])
        others = np.flatnonzero(np.abs(weights) > 1e-6 * np.abs(weights).max(initial=0.0))
        if len(others) <= MOST_OTHERS:
            found[j] = basis[others].tolist()
    return found
