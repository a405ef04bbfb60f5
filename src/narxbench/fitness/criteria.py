"""Criteria: what the terms of a structure add to J = L ln(e) + penalty (paper, equations 10 and 11).

A criterion is one class of this file that :data:`CRITERIA` names.
"""

import math
import re
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
    """A criterion. The penalty of xi terms is ``per_term`` times xi, and a ``surcharge`` where it is not linear."""

    number: float = 0.0  # in its name; 0 for a criterion without one
    form: ClassVar[str]  # how its name is written; a word in capitals stands for a number above 0 and up to ``most``
    heading: ClassVar[str]  # what readers know it as, with {} for the number
    example: ClassVar[str]
    most: ClassVar[float] = math.inf

    @property
    def name(self) -> str:
        """Its one name, whatever way the number is written."""
        word, parameter, _ = self.form.partition("-")
        return f"{word}-{_shortest(self.number)}" if parameter else word

    @property
    def title(self) -> str:
        """What readers know it as."""
        return self.heading.format(_shortest(self.number))

    def per_term(self, samples: float) -> float:
        """Return what each term adds to J, with L = ``samples``: ln(L), unless a criterion says otherwise."""
        return float(natural_log(float(samples)))

    def surcharge(self, terms: int, samples: float, candidates: int) -> float:
        """Return what so many terms, chosen from so many candidates, add in addition; +inf forbids them."""
        return 0.0

    def across_candidates(self) -> "Criterion":
        """Return the criterion that compares structures from sets of candidate terms of different sizes."""
        return self

    def penalties(self, samples: float, candidates: int, repeated: float = 1.0) -> NDArray[np.float64]:
        """Return the penalty of 0 to N_t terms, shape (N_t + 1,); +inf for more than the samples allow.

        ``repeated`` is how many of these samples say the same.
        """
        independent = samples / repeated
        per_term, sizes = repeated * self.per_term(independent), range(candidates + 1)
        return np.array([per_term * n + repeated * self.surcharge(n, independent, candidates) for n in sizes])


class BIC(Criterion):
    """The Bayesian information criterion, ln(L) for each term (G. Schwarz, Annals of Statistics 6, 1978, 461-464)."""

    form, heading, example = "bic", "BIC", "bic"

    def across_candidates(self) -> Criterion:
        """Return the extended BIC: 0 would let spurious terms in, 1 leaves out what small models of real data need."""
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
        """Return 2 xi (xi + 1) / (L - xi - 1), which grows without bounds as the samples run out."""
        left = samples - terms - 1
        return 2.0 * terms * (terms + 1) / left if left > 0 else math.inf


class HannanQuinn(Criterion):
    """2 ln(ln(L)) for each term (E. J. Hannan and B. G. Quinn, J. Royal Statistical Society B 41, 1979, 190-195)."""

    form, heading, example = "hq", "HQ", "hq"

    def per_term(self, samples: float) -> float:
        """Return 2 ln(ln(L)), and 0 for the fewest samples, where it would reward terms."""
        return 2.0 * float(natural_log(max(super().per_term(samples), 1.0)))


class ExtendedBIC(Criterion):
    """BIC and 2 gamma ln(number of structures of this size), for among many candidates some terms fit by chance.

    J. Chen and Z. Chen, Extended Bayesian information criteria for model selection with large model spaces,
    Biometrika 95, 2008, pages 759-771.
    """

    form, heading, example = "ebic-GAMMA", "EBIC (γ = {})", "ebic-0.5"
    most = 1.0

    def surcharge(self, terms: int, samples: float, candidates: int) -> float:
        """Return 2 gamma ln(N_t over xi)."""
        return 2.0 * self.number * _log_binomials(candidates)[terms]


class LinearExtendedBIC(Criterion):
    """BIC and 2 gamma ln(N_t) for each term: the extended BIC for structures that are small among many candidates.

    ln(N_t over xi) is at most xi ln(N_t), and close to it while xi is small. R. Foygel and M. Drton, Extended Bayesian
    information criteria for Gaussian graphical models, Advances in Neural Information Processing Systems 23, 2010.
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
    """Return a criterion by its name, in one of the :data:`FORMS`, the same in whatever way its number is written."""
    word, dash, written = str(text).partition("-")
    family = _FAMILIES.get(word)
    if family and family.form == text:
        return family()
    if family and dash and re.fullmatch(_NUMBER, written, re.ASCII) and family.form != word:
        number = float(written)
        if 0.0 < number <= family.most and number < math.inf:
            return family(number)
    raise NarxbenchError(
        f"criterion: found {show(text, kind=False)}; allowed: {', '.join(map(_allowed, CRITERIA))}"
        f"{did_you_mean(text, [known.example for known in ([family] if family else CRITERIA)])}"
    )


def canonical_criterion(text: str) -> str:
    """Return the one name of a criterion, whatever way its number is written; raise as :func:`parse_criterion` does."""
    return parse_criterion(text).name


def _allowed(family: type[Criterion]) -> str:
    number = family.form.partition("-")[2]
    if not number:
        return family.form
    end = "" if family.most == math.inf else f" and up to {_shortest(family.most)}"
    return f"{family.form} with {number} above 0{end} (e.g. {family.example})"


def _shortest(number: float) -> str:
    # The shortest decimal number that reads back as the same double.
    return repr(number).removesuffix(".0")


@lru_cache(maxsize=32)
def _log_binomials(n: int) -> list[float]:
    """Return ln of the number of structures with 0 to n of n terms."""
    steps = [natural_log(float(n - i)) - natural_log(float(i + 1)) for i in range(n)]
    return [math.fsum(steps[:k]) for k in range(n + 1)]
