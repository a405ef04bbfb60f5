"""Criteria: the penalty of the terms of a structure in J = L ln(e) + penalty (paper, equations 10 and 11).

To add a criterion, write a class here and name it in :data:`CRITERIA`.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from narxbench.io.errors import NarxbenchError, did_you_mean
from narxbench.io.settings import show
from narxbench.numerics.logarithm import natural_log


@dataclass(frozen=True)
class Criterion:
    """A criterion: the penalty of xi terms is ``per_term`` times xi plus, if it is not linear, a ``surcharge``."""

    number: float = 0.0  # the number in the name; 0 for a criterion without a number
    form: ClassVar[str]  # of the name; a word in capitals stands for a number above 0 and up to ``most``
    heading: ClassVar[str]  # the title for readers, with {} for the number
    example: ClassVar[str]
    most: ClassVar[float] = math.inf

    @property
    def name(self) -> str:
        """The canonical name: 2, 2.0 and 2e0 give the same name."""
        word, parameter, _ = self.form.partition("-")
        return f"{word}-{_shortest(self.number)}" if parameter else word

    @property
    def title(self) -> str:
        """The title for readers."""
        return self.heading.format(_shortest(self.number))

    def per_term(self, samples: float) -> float:
        """Return the penalty of each term for L = ``samples``: ln(L), unless a criterion overrides it."""
        return float(natural_log(float(samples)))

    def surcharge(self, terms: int, samples: float, candidates: int) -> float:
        """Return the additional penalty of ``terms`` terms out of ``candidates`` candidates; +inf forbids them."""
        return 0.0

    def across_candidates(self) -> "Criterion":
        """Return the criterion that compares structures from sets of candidate terms of different sizes."""
        return self

    def penalties(self, samples: float, candidates: int, repeated: float = 1.0) -> NDArray[np.float64]:
        """Return the penalty of 0 to N_t terms, shape (N_t + 1,); +inf if there are too many terms for the samples.

        ``repeated`` is the number of successive samples that carry the same information.
        """
        independent = samples / repeated
        per_term = repeated * self.per_term(independent)
        penalties = np.empty(candidates + 1)
        for terms in range(candidates + 1):
            penalties[terms] = per_term * terms + repeated * self.surcharge(terms, independent, candidates)
        return penalties


class BIC(Criterion):
    """The Bayesian information criterion, ln(L) for each term (G. Schwarz, Annals of Statistics 6, 1978, 461-464)."""

    form, heading, example = "bic", "BIC", "bic"

    def across_candidates(self) -> Criterion:
        """Return the extended BIC with 0.5: 0 admits spurious terms, 1 omits terms that models of real data need."""
        return ExtendedBIC(0.5)


class AIC(Criterion):
    """Akaike's information criterion with any weight, rho for each term (IEEE Trans. Automatic Control 19, 1974)."""

    form, heading, example = "aic-RHO", "AIC (ϱ = {})", "aic-2"

    def per_term(self, samples: float) -> float:
        """Return rho."""
        return self.number


class CorrectedAIC(Criterion):
    """AIC with rho = 2, corrected for few samples (C. M. Hurvich and C.-L. Tsai, Biometrika 76, 1989, 297-307)."""

    form, heading, example = "aicc", "AICc", "aicc"

    def per_term(self, samples: float) -> float:
        """Return 2."""
        return 2.0

    def surcharge(self, terms: int, samples: float, candidates: int) -> float:
        """Return 2 xi (xi + 1) / (L - xi - 1), which grows without bounds as xi approaches L - 1."""
        remaining = samples - terms - 1
        if remaining <= 0:
            return math.inf
        return 2.0 * terms * (terms + 1) / remaining


class HannanQuinn(Criterion):
    """2 ln(ln(L)) for each term (E. J. Hannan and B. G. Quinn, J. Royal Statistical Society B 41, 1979, 190-195)."""

    form, heading, example = "hq", "HQ", "hq"

    def per_term(self, samples: float) -> float:
        """Return 2 ln(ln(L)), or 0 for L below e, where it would be negative."""
        return 2.0 * float(natural_log(max(super().per_term(samples), 1.0)))


class ExtendedBIC(Criterion):
    """BIC and 2 gamma ln(number of structures of this size): among many candidates, some terms fit by chance.

    J. Chen and Z. Chen, Extended Bayesian information criteria for model selection with large model spaces,
    Biometrika 95, 2008, pages 759-771.
    """

    form, heading, example = "ebic-GAMMA", "EBIC (γ = {})", "ebic-0.5"
    most = 1.0

    def surcharge(self, terms: int, samples: float, candidates: int) -> float:
        """Return 2 gamma ln(N_t over xi)."""
        return 2.0 * self.number * _log_binomials(candidates)[terms]


class LinearExtendedBIC(Criterion):
    """BIC and 2 gamma ln(N_t) for each term: the extended BIC for small structures among many candidates.

    ln(N_t over xi) is at most xi ln(N_t), and close to that while xi is small. R. Foygel and M. Drton, Extended
    Bayesian information criteria for Gaussian graphical models, Advances in Neural Information Processing Systems 23,
    2010.
    """

    form, heading, example = "ebicl-GAMMA", "linear EBIC (γ = {})", "ebicl-1"
    most = 10.0

    def surcharge(self, terms: int, samples: float, candidates: int) -> float:
        """Return 2 gamma xi ln(N_t)."""
        return 2.0 * self.number * terms * float(natural_log(float(candidates)))


CRITERIA: tuple[type[Criterion], ...] = (BIC, AIC, CorrectedAIC, HannanQuinn, ExtendedBIC, LinearExtendedBIC)
FORMS = ", ".join(family.form for family in CRITERIA)
_FAMILIES = {family.form.partition("-")[0]: family for family in CRITERIA}
_NUMBER = r"(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"


def parse_criterion(text: str) -> Criterion:
    """Return a criterion by its name, which has one of the :data:`FORMS`.

    Examples
    --------
    >>> parse_criterion("aic-4.0").title
    'AIC (ϱ = 4)'
    """
    word, dash, digits = str(text).partition("-")
    family = _FAMILIES.get(word)
    if family is None:
        raise _unknown_criterion(text, CRITERIA)
    if family.form == text:
        return family()
    takes_number = family.form != word
    if takes_number and dash and re.fullmatch(_NUMBER, digits, re.ASCII):
        number = float(digits)
        if 0.0 < number <= family.most and number < math.inf:
            return family(number)
    raise _unknown_criterion(text, [family])


def _unknown_criterion(text: object, similar: Sequence[type[Criterion]]) -> NarxbenchError:
    """Return the error for a name that is no criterion; the proposal is an example of one of the similar ones."""
    allowed = ", ".join(map(_allowed, CRITERIA))
    proposal = did_you_mean(text, [family.example for family in similar])
    return NarxbenchError(f"criterion: found {show(text, kind=False)}; allowed: {allowed}{proposal}")


def canonical_criterion(text: str) -> str:
    """Return the canonical name of a criterion; errors are those of :func:`parse_criterion`.

    Examples
    --------
    >>> canonical_criterion("aic-4.0")
    'aic-4'
    """
    return parse_criterion(text).name


def _allowed(family: type[Criterion]) -> str:
    """Return the form of a name as messages show it."""
    parameter = family.form.partition("-")[2]
    if not parameter:
        return family.form
    limits = "above 0"
    if family.most < math.inf:
        limits += f" and up to {_shortest(family.most)}"
    return f"{family.form} with {parameter} {limits} (e.g. {family.example})"


def _shortest(number: float) -> str:
    """Return the shortest decimal number that reads back as the same double."""
    return repr(number).removesuffix(".0")


@lru_cache(maxsize=32)
def _log_binomials(n: int) -> list[float]:
    """Return ln of the number of structures with 0 to n of n terms."""
    steps = [natural_log(float(n - i)) - natural_log(float(i + 1)) for i in range(n)]
    return [math.fsum(steps[:k]) for k in range(n + 1)]
