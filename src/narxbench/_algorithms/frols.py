"""FROLS: terms enter one by one, each time the one that explains most of what is left of the output.

Forward regression with orthogonal least squares. Source: S. A. Billings, S. Chen and M. J. Korenberg, Identification
of MIMO non-linear systems using a forward-regression orthogonal estimator, International Journal of Control 49(6),
1989, pages 2157-2189; S. A. Billings, Nonlinear System Identification, 2013, chapter 3.

The source leaves open when to stop. Here terms enter up to a limit, and one of all these lengths is chosen. All samples
are used; none are held out. With ``likelihood`` the path is that of the source, and all else is as in ``pem``.

With extended least squares (ELS: Billings, chapter 3) the weights are those of a NARMAX model with these terms and a
linear moving average, so that coloured noise does not bias them. ELS iterates regressions on its own residuals. Here
the same model is fitted by its prediction errors (:mod:`narxbench._fitness.prediction_error`).
"""

from typing import Literal

import numpy as np
from pydantic import Field

from narxbench._algorithms.contract import About, Found, Objective, OwnCriterion, ProblemView
from narxbench._algorithms.forward_regression import best_length, forward, nested, residuals
from narxbench._algorithms.likelihood_choice import chosen_by_likelihood, likelihood_criterion
from narxbench._algorithms.training import Rows, WholeRecordJudge, criterion_of, estimated, products
from narxbench._fitness.prediction_error import PredictionErrors
from narxbench._io.settings import Settings as BaseSettings
from narxbench._model.noise_models import Narmax
from narxbench._numerics.logarithm import natural_log

ABOUT = About(
    reference="Billings, Chen and Korenberg, Identification of MIMO non-linear systems using a forward-regression "
    "orthogonal estimator, International Journal of Control 49(6), 1989",
    deterministic=True,
    stops_early=True,
    minimises=False,
    options={
        **{"stop": ["bic", "aic", "err", "likelihood"], "max_terms": [3], "rows": ["estimation"]},
        "weights": ["extended_least_squares"],
    },
)


class Settings(BaseSettings):
    """Settings of FROLS."""

    stop: Literal["free_run", "bic", "aic", "err", "likelihood"] = Field(
        default="free_run",
        description="which length is chosen: that of the best free run, by BIC over all samples, or by J if terms are "
        "chosen from the estimation part; of lowest BIC or AIC of the prediction one step ahead; the shortest that "
        "leaves little of the output; or by this project's noise models and criterion, which also give the weights",
    )
    rows: Rows = Field(default="all", description="what terms are chosen from: all rows, or the estimation part")
    weights: Literal["least_squares", "extended_least_squares"] = Field(
        default="least_squares", description="how the weights of the chosen terms are estimated, over the same rows"
    )
    max_terms: int = Field(default=50, ge=1, description="terms that enter at most")
    unexplained: float = Field(
        default=0.01, gt=0, lt=1, description="with stop err: what 1 minus the sum of ERR must not exceed, rho"
    )


def criterion(problem: ProblemView, settings: Settings) -> OwnCriterion | None:
    """Return the BIC that chooses the length; None for AIC, a threshold or J."""
    if settings.stop == "bic":
        return products(problem, settings.rows).bic()
    if settings.stop == "free_run" and settings.rows == "all":
        return criterion_of(problem, "free_run")
    if settings.stop == "likelihood":
        return likelihood_criterion(problem)
    return None


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Let terms enter, then choose their number."""
    inner_products = products(problem, settings.rows)
    longest = min(settings.max_terms, objective.n_terms)
    order, explained = np.empty(longest, np.int64), np.empty(longest)
    entered = forward(inner_products.gram, inner_products.moments, -1, order, explained)
    if not entered:
        return Found(np.zeros(objective.n_terms, np.uint8))
    structures = nested(order[:entered], objective.n_terms)
    if settings.stop == "likelihood":
        return chosen_by_likelihood(problem, structures)
    if settings.stop == "free_run":
        judge = WholeRecordJudge(problem) if settings.rows == "all" else objective
        judge.evaluate(structures)
        position = judge.best_position
    else:
        length = _length(inner_products.energy, explained[:entered], inner_products.n_rows, settings)
        position = structures[length - 1]
    if settings.weights == "extended_least_squares" and position.any():
        errors = PredictionErrors(problem)
        fit = errors.fit(Narmax(ma_lags=(1, 2)), np.flatnonzero(position).tolist())
        if fit.is_finite:
            return Found(position, errors.coefficients(fit))
    if settings.rows == "all":
        return estimated(problem, position)
    return Found(position)


def _length(energy: float, explained: np.ndarray, n_rows: int, settings: Settings) -> int:
    """Return the length that ERR, AIC or BIC chooses."""
    sums = residuals(explained, energy)
    if settings.stop == "err":
        for length, residual in enumerate(sums, start=1):
            if residual <= settings.unexplained * energy:
                return length
        return len(sums)
    if settings.stop == "aic":
        return best_length(sums, n_rows, penalty=2.0)
    return best_length(sums, n_rows, penalty=float(natural_log(float(n_rows))))
