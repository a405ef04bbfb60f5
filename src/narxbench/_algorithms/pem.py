"""Prediction error method: the terms and the noise model, chosen together by likelihood and extended BIC.

The noise decides which structure explains the data best. Least squares of the prediction one step ahead is biased by
noise on the output, and further terms make up for the bias; noise that is correlated comes back as lagged copies of the
true terms. So structures are fitted under noise models that differ in where the noise enters, in its filter, in its
tails and in whether it drifts (:mod:`narxbench._model.noise_models`), and the lowest

    -2 ln(likelihood) + xi (ln(N) + 2 gamma ln(N_t)) + p ln(N)

is chosen. There are xi terms, N_t candidates, and p coefficients of the noise. The
second part is the extended BIC: among many candidates some fit by chance. Its gamma was chosen, as was the search, on
the shipped systems with the data seeds 31 and 41 to 46 and on systems that are not shipped; ``benchmarks/recovery.md``
reports on other seeds.

Sources: L. Ljung, System Identification: Theory for the User, 2nd edition, 1999, chapter 7 (prediction errors); S. A.
Billings, Nonlinear System Identification, 2013, chapters 3 and 4 (NARMAX, forward regression); J. Chen and Z. Chen,
Biometrika 95, 2008, pages 759-771, and R. Foygel and M. Drton, NIPS 23, 2010 (extended BIC). The search is our own:
:mod:`narxbench._algorithms.likelihood_search`.

It uses all samples, so none are held out for J. Its model has its own weights, while ``fitness`` is J of the structure
with least-squares weights, as for every algorithm. A model whose own free run does not stay bounded over all samples,
or whose J is infinite, is passed over for the next one.

``SearchResult.details`` holds:

- ``noise_model``, its name, and ``noise``: ``description``, ``autoregression`` d_1, d_2, ..., ``moving_average`` c_1,
  c_2, ..., ``is_integrated``, and the ``degrees_of_freedom`` of Student-t or None;
- ``samples``, N; ``log_likelihood`` and ``criterion``;
- ``standard_errors`` and ``robust_standard_errors`` of the coefficients, None where they exceed all numbers;
- ``noise_models``: for each name the best structure, with its noise, likelihood and criterion;
- ``probabilities`` of the terms, the smallest left out; ``structures``, the ten most probable ones, each with
  ``terms``, ``probability``, ``difference`` of the criterion and ``noise_model``; ``groups``, each of ``terms`` that
  are exchangeable, with their ``probabilities`` (:mod:`narxbench._algorithms.certainty`). Where candidates nearly
  depend on one another they come from orthogonal columns (:mod:`narxbench._algorithms.orthogonal_search`), unless all
  candidates have more than 5 million values;
- ``hidden``: terms that noise which drifts hides, the constant;
- ``warnings``: reasons to doubt the model (:mod:`narxbench._algorithms.doubts`);
- ``passed_over``: the models of lower criterion that were not chosen, with the reason.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narxbench._algorithms.certainty import MOST_NAMED, Certainty, Window, has_factor, with_names
from narxbench._algorithms.contract import About, Found, Objective, ProblemView
from narxbench._algorithms.doubts import doubts
from narxbench._algorithms.likelihood_search import LikelihoodSearch, SearchSettings, Structure
from narxbench._algorithms.limits import LimitReachedError
from narxbench._algorithms.orthogonal_search import checked_certainty
from narxbench._fitness.prediction_error import Fit, PredictionErrors
from narxbench._io.interruptions import interruptible
from narxbench._model.terms import OUTPUT

ABOUT = About(
    reference="Own; Ljung, System Identification: Theory for the User, 1999; Chen and Chen, Biometrika 95, 2008",
    deterministic=True,
    stops_early=True,
    minimises=False,
    # In small problems the result does not depend on where the search begins.
    options={
        "noise_models": [["narx"], ["narmax"], ["ararx", "box-jenkins"]],
        "largest_order": [1],
        "gamma": [0.0],
    },
)

# A model whose terms share a factor gives way to one without, if the criterion of that is higher by no more than so
# many penalties of a term: what the factor explains is noise. Chosen with gamma, on the same data.
COPIED = 8.0


Settings = SearchSettings


def run(problem: ProblemView, objective: Objective, rng: np.random.Generator, settings: Settings) -> Found:
    """Search, then choose the best model whose free run is bounded."""
    errors = PredictionErrors(problem)
    search = LikelihoodSearch(errors, settings)
    try:
        with interruptible():
            return _searched(problem, objective, search)
    except LimitReachedError:
        return _best_so_far(problem, search)


def _best_so_far(problem: ProblemView, search: LikelihoodSearch) -> Found:
    """Return the model of lowest criterion among those that were fitted, whether its free run is bounded or not."""
    if not search.fits or not search.value(search.best()) < math.inf:
        return Found(np.zeros(search.n_terms, np.uint8))
    return _plainly_found(problem, search, search.ranked()[0])


def _plainly_found(problem: ProblemView, search: LikelihoodSearch, fit: Fit) -> Found:
    """Return a fit without probabilities."""
    details = _described(problem, search, fit)
    del details["terms"]
    return Found(search.structure(fit), search.coefficients(fit), details)


def _searched(problem: ProblemView, objective: Objective, search: LikelihoodSearch) -> Found:
    """Return the model of a complete search, with all details."""
    errors = search.errors
    search.run()
    choice = _Choice(problem, objective, search)
    choice.leave_out_factored()
    window = Window(search, choice.factored)
    if search.polish_further():
        choice.leave_out_factored()
        window = Window(search, choice.factored)
    best = choice.first_bounded()
    if best is None:
        search.run_safely(_terms_of_inputs(problem))
        window = Window(search, choice.factored)
        best = choice.first_bounded()
    if best is None:
        return Found(np.zeros(objective.n_terms, np.uint8))
    best = search.refined(best)
    weights = search.coefficients(best)
    if weights is None:
        return _plainly_found(problem, search, best)
    certain = checked_certainty(problem, window)
    uncertainty, n = errors.uncertainty(best), len(best.terms)
    description = _described(problem, search, best)
    del description["terms"]
    details = {
        **description,
        "samples": errors.samples,
        "standard_errors": _plain(uncertainty.classical[:n]),
        "robust_standard_errors": _plain(uncertainty.robust[:n]),
        "noise_models": _noise_models_described(problem, search),
        **_certainty_described(problem, certain),
        "hidden": _hidden(problem, best),
        "warnings": [warning._asdict() for warning in doubts(search, best, certain, problem.terms)],
        "passed_over": list(choice.passed_over.values())[:MOST_NAMED],
    }
    return Found(search.structure(best), weights, details)


def _plain(errors: NDArray[np.float64]) -> list[float | None]:
    """Return numbers as JSON can hold them, None for infinite ones."""
    return [error if math.isfinite(error) else None for error in errors.tolist()]


def _terms_of_inputs(problem: ProblemView) -> NDArray[np.int64]:
    """Return the numbers of the candidates without the output."""
    terms = []
    for term, monomial in enumerate(problem.monomials):
        if all(signal != OUTPUT for signal, _ in monomial):
            terms.append(term)
    return np.array(terms, np.int64)


def _noise_models_described(problem: ProblemView, search: LikelihoodSearch) -> dict[str, dict[str, Any]]:
    """Return the best fit of each family of noise models that has a finite one."""
    descriptions: dict[str, dict[str, Any]] = {}
    for fit in search.leaders():
        if search.value(fit) < math.inf:
            descriptions[fit.noise_model.name] = _described(problem, search, fit)
    return descriptions


def _certainty_described(problem: ProblemView, certain: Certainty) -> dict[str, Any]:
    return {
        "probabilities": certain.probabilities(problem.terms),
        "structures": [with_names(structure, problem.terms)._asdict() for structure in certain.structures],
        "groups": [group._asdict() for group in certain.exchangeable_terms(problem.terms)],
    }


def _hidden(problem: ProblemView, fit: Fit) -> list[str]:
    """Return the terms that the noise of a fit hides."""
    if not fit.noise_model.is_integrated:
        return []
    chosen = {problem.terms[term] for term in fit.terms}
    return [name for name in ("1",) if name in problem.terms and name not in chosen]


class _Choice:
    """The choice of a model among those that were fitted.

    Attributes
    ----------
    passed_over : dict
        The models of lower criterion that were not chosen, described with the reason.
    factored : list of arrays of 0 and 1, shape (N_t,)
        The structures among them that are shorter ones times a filter.
    """

    def __init__(self, problem: ProblemView, objective: Objective, search: LikelihoodSearch) -> None:
        self._problem, self._objective, self._search = problem, objective, search
        self.passed_over: dict[int, dict[str, Any]] = {}
        self.factored: list[Structure] = []

    def leave_out_factored(self) -> None:
        """Pass over the best models as long as their terms share a factor and one without is not much worse."""
        for fit, zeros in factored_fits(self._search, self.factored):
            self._leave_out(fit, zeros)

    def first_bounded(self) -> Fit | None:
        """Return the best fit that has no factor, a bounded free run and a finite J, and note those before it."""
        for fit in self._search.ranked():
            if id(fit) in self.passed_over or has_factor(self._search.structure(fit), self.factored):
                continue
            zeros = _shared_zeros(self._search, fit)
            if zeros:
                self._leave_out(fit, zeros)
                continue
            if not self._search.value(fit) < math.inf or not self._objective.remaining:
                return None
            reason = self._reason_against(fit)
            if not reason:
                return fit
            self._pass_over(fit, reason)
        return None

    def _leave_out(self, fit: Fit, zeros: Sequence[complex]) -> None:
        """Pass over a fit whose terms share a factor."""
        self.factored.append(self._search.structure(fit))
        self._pass_over(fit, f"its terms share a factor, as lagged copies do: zeros at {', '.join(map(_zero, zeros))}")

    def _reason_against(self, fit: Fit) -> str:
        if not self._search.errors.bounded(fit):
            return "its free run diverges"
        if not self._objective.evaluate(self._search.structure(fit)[None])[0] < math.inf:
            return "its J is infinite"
        return ""

    def _pass_over(self, fit: Fit, reason: str) -> None:
        self.passed_over[id(fit)] = {"reason": reason, **_described(self._problem, self._search, fit)}


def factored_fits(search: LikelihoodSearch, factored: Sequence[Structure] = ()) -> list[tuple[Fit, list[complex]]]:
    """Return the best fits of a search whose terms share a factor, as long as one without is not much worse.

    Each comes with the zeros of the factor.

    Fits that have all terms of a structure in ``factored``, or of one that is returned before them, are skipped.
    """
    structures, fits = list(factored), []
    for fit in search.ranked():
        structure = search.structure(fit)
        if has_factor(structure, structures):
            continue
        zeros = _shared_zeros(search, fit)
        if not zeros:
            break
        structures.append(structure)
        fits.append((fit, zeros))
    return fits


def _shared_zeros(search: LikelihoodSearch, fit: Fit) -> list[complex]:
    """Return the zeros of the factor that the terms of a fit share, or none if every model without is much worse."""
    zeros = search.common_factor(fit)
    return zeros if zeros and _has_alternative(search, fit) else []


def _has_alternative(search: LikelihoodSearch, fit: Fit) -> bool:
    """Return whether a model without a common factor is not much worse than one that has it."""
    limit = search.value(fit) + COPIED * float(search.penalties[1])
    factored = set(fit.terms.tolist())
    for rival in search.ranked():
        if search.value(rival) >= limit:
            return False
        is_longer = factored <= set(rival.terms.tolist())
        if not is_longer and not search.common_factor(rival) and search.errors.bounded(rival):
            return True
    return False


def _zero(zero: complex) -> str:
    return f"{zero.real:.3g}" if not zero.imag else f"{zero.real:.3g}{zero.imag:+.3g}i"


def _described(problem: ProblemView, search: LikelihoodSearch, fit: Fit) -> dict[str, Any]:
    distribution = fit.noise_model.distribution
    return {
        "terms": [problem.terms[term] for term in fit.terms],
        "noise_model": fit.noise_model.name,
        "noise": {
            "description": fit.noise_model.description,
            "autoregression": fit.autoregression.tolist(),
            "moving_average": fit.moving_average.tolist(),
            "is_integrated": fit.noise_model.is_integrated,
            "degrees_of_freedom": None if distribution.is_gaussian else distribution.degrees_of_freedom,
        },
        "log_likelihood": search.errors.log_likelihood(fit),
        "criterion": search.value(fit),
    }
