"""The feature selection of fastcan: terms enter by their canonical correlation with the output.

Source: S. Zhang, T. Wang, K. Worden, L. Sun and E. J. Cross, Canonical-correlation-based fast feature selection for
structural health monitoring, Mechanical Systems and Signal Processing 223, 2025, 111895; the package's class
``FastCan``, with which its ``make_narx`` selects terms. For one output it is forward regression on centred columns.

The package leaves the number of terms to the user, and every model has an intercept. Here every number up to a limit is
tried, with the constant term and without it, and one of them is chosen. All samples are used.

With ``drop`` the package's ``refine`` exchanges terms of each selection: L. Zhang, K. Li, E. W. Bai and G. W. Irwin,
Two-stage orthogonal least squares methods for neural network construction, IEEE Transactions on Neural Networks and
Learning Systems 26(8), 2015. With ``weights: multi_step`` the package's ``NARX`` fits the weights of each selection by
the error of its free run, from those of one step on, always with an intercept; the selection of lowest BIC of that free
run is chosen, and the intercept goes if the BIC is then lower.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from narxbench._algorithms.contract import About, Found, Objective, ProblemView
from narxbench._algorithms.likelihood_choice import chosen_by_likelihood
from narxbench._algorithms.training import CHOICE, Choice, chosen, estimated, products
from narxbench._io.errors import NarxbenchError
from narxbench._io.settings import Settings as BaseSettings
from narxbench._model.terms import OUTPUT, Monomial
from narxbench._numerics.logarithm import natural_log

ABOUT = About(
    reference="Zhang et al., Canonical-correlation-based fast feature selection for structural health monitoring, "
    "Mechanical Systems and Signal Processing 223, 2025",
    deterministic=True,
    stops_early=True,
    needs_objective=False,
    minimises=False,
    requires=("fastcan",),
    options={"max_terms": [2], "weights": ["multi_step"], "choice": ["likelihood"]},
)


class Settings(BaseSettings):
    """Settings of the selection."""

    max_terms: int = Field(default=50, ge=1, le=5000, description="terms at most, besides the constant")
    choice: Choice | Literal["likelihood"] = Field(
        default="free_run",
        description=f"{CHOICE}; or this project's noise models and criterion, which also give the weights",
    )
    drop: int = Field(default=0, ge=0, le=100, description="terms that the refinement leaves out at once; 0: none")
    weights: Literal["one_step", "multi_step"] = Field(
        default="one_step", description="how weights are fitted; those of multi_step choose the number of terms too"
    )


def load() -> None:
    """Import the packages that the runs need."""
    import fastcan.narx  # noqa: F401


def _selection(columns: np.ndarray, y: np.ndarray, size: int) -> Any:
    """Return the package's selection of so many columns; None if so many are dependent."""
    from fastcan import FastCan

    try:
        return FastCan(size, verbose=0).fit(columns, y)
    except RuntimeError:
        return None


def entered(columns: np.ndarray, y: np.ndarray, most: int) -> list[int]:
    """Return the columns in the order in which they enter."""
    for size in range(min(most, columns.shape[1]), 0, -1):
        selection = _selection(columns, y, size)
        if selection is not None:
            order: list[int] = selection.indices_.tolist()
            return order
    return []


def refined(columns: np.ndarray, y: np.ndarray, order: Sequence[int], drop: int) -> list[list[int]]:
    """Return the selection of each size, after the package's refinement."""
    from fastcan import refine

    selections = []
    for size in range(1, len(order) + 1):
        selection = _selection(columns, y, size)
        if drop < size < columns.shape[1] and selection is not None:
            selections.append(refine(selection, drop=drop, verbose=0)[0].tolist())
        else:
            selections.append(list(order[:size]))
    return selections


class MultiStep:
    """Fits of the package's ``NARX`` by the error of the free run.

    Parameters
    ----------
    problem : ProblemView
        The problem, of one stretch with one input.
    """

    def __init__(self, problem: ProblemView) -> None:
        self._problem, self._u = problem, problem.training_u.reshape(len(problem.training_y), -1)
        if len(problem.stretches) != 1:
            raise NarxbenchError(f"fastcan: stretches of samples: found {len(problem.stretches)}; allowed: one")

    def fit(self, selection: Sequence[int], has_intercept: bool) -> tuple[float, Any]:
        """Return the BIC of the free run of a selection of candidates, and the fitted model."""
        from fastcan.narx import NARX

        y = self._problem.training_y
        monomials = [self._problem.monomials[term] for term in selection]
        features, delays = _codes(monomials, self._u.shape[1])
        model = NARX(feat_ids=features, delay_ids=delays, fit_intercept=has_intercept)
        with np.errstate(all="ignore"):  # a free run may diverge
            model.fit(self._u, y, coef_init="one_step_ahead")
            errors = y - model.predict(self._u, y_init=y[: model.max_delay_])
            squares = float(np.sum(errors[model.max_delay_ :] ** 2))
        if not 0.0 < squares < math.inf:
            return math.inf, model
        samples = len(y) - model.max_delay_
        n_weights = len(selection) + has_intercept
        return samples * natural_log(squares) + natural_log(float(samples)) * n_weights, model

    def best(self, selections: Sequence[Sequence[int]], constants: Sequence[int]) -> Found:
        """Return the selection of lowest BIC, with its weights; candidates ``constants`` are the intercept."""
        has_intercept = bool(constants)
        fits = [self.fit(selection, has_intercept) for selection in selections]
        best = min(range(len(fits)), key=lambda number: fits[number][0])
        value, model = fits[best]
        if has_intercept:
            value_without, without = self.fit(selections[best], False)
            if value_without < value:
                value, model, has_intercept = value_without, without, False
        weights = np.zeros(len(self._problem.terms))
        position = np.zeros(len(self._problem.terms), np.uint8)
        if not value < math.inf:
            return Found(position)
        weights[list(selections[best])], position[list(selections[best])] = np.ravel(model.coef_), 1
        if has_intercept:
            weights[constants[0]], position[constants[0]] = float(np.ravel(model.intercept_)[0]), 1
        return Found(position, weights[position == 1])


def _codes(monomials: Sequence[Monomial], n_inputs: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the signals and the lags of terms as the package codes them: the output after the inputs, -1 for none."""
    degree = max(len(monomial) for monomial in monomials)
    features, delays = np.full((2, len(monomials), degree), -1)
    for row, monomial in enumerate(monomials):
        for place, (signal, lag) in enumerate(monomial, start=degree - len(monomial)):
            features[row, place] = n_inputs if signal == OUTPUT else signal - 1
            delays[row, place] = lag
    return features, delays


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Let terms enter, then choose their number."""
    features = np.array([i for i, monomial in enumerate(problem.monomials) if monomial], np.int64)
    constants = [i for i, monomial in enumerate(problem.monomials) if not monomial]
    columns, y = problem.training_regressors()[:, features], problem.training_outputs()
    order = entered(columns, y, settings.max_terms)
    selections = [order[:size] for size in range(1, len(order) + 1)]
    if settings.drop:
        selections = refined(columns, y, order, settings.drop)
    if settings.weights == "multi_step" and selections:
        return MultiStep(problem).best([features[selection].tolist() for selection in selections], constants)
    # Of each size one structure without the constant term, then one with it.
    candidates = np.zeros((2 * len(selections), len(problem.terms)), np.uint8)
    for number, selection in enumerate(selections):
        candidates[2 * number : 2 * number + 2, features[selection]] = 1
        candidates[2 * number + 1, constants] = 1
    if settings.choice == "likelihood":
        return chosen_by_likelihood(problem, candidates)
    return estimated(problem, chosen(problem, candidates, settings.choice, products(problem)))
