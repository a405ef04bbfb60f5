"""A criterion: the penalty of the terms of a structure in J = L ln(e) + penalty (paper, equations 10 and 11)."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from narxbench._numerics.logarithm import natural_log


def log_samples(samples: float, number: float) -> float:
    """Return ln(L), the penalty of each term under BIC."""
    return float(natural_log(float(samples)))


@dataclass(frozen=True)
class Criterion:
    """A criterion: the penalty of xi terms is ``per_term`` times xi plus a ``surcharge``.

    Attributes
    ----------
    form : str
        The form of its name. A word in capitals represents a number above 0 and up to ``most``.
    heading : str
        The title for readers, with {} for the number.
    example : str
        An example of its name.
    per_term : callable
        Takes L and the number, and returns the penalty of each term.
    surcharge : callable or None
        Takes xi, L, N_t and the number, and returns the additional penalty of xi terms; +inf forbids them. None where
        the penalty is linear.
    most : float
        The largest number.
    number : float
        The number in the name; 0 for a criterion without a number.
    """

    form: str
    heading: str
    example: str
    per_term: Callable[[float, float], float] = log_samples
    surcharge: Callable[[int, float, int, float], float] | None = None
    most: float = math.inf
    number: float = 0.0

    @property
    def name(self) -> str:
        """The canonical name: 2, 2.0 and 2e0 give the same name."""
        word, parameter, _ = self.form.partition("-")
        return f"{word}-{_shortest(self.number)}" if parameter else word

    @property
    def title(self) -> str:
        """The title for readers."""
        return self.heading.format(_shortest(self.number))

    @property
    def allowed_names(self) -> str:
        """The form of its name as messages show it."""
        parameter = self.form.partition("-")[2]
        if not parameter:
            return self.form
        limits = "above 0"
        if self.most < math.inf:
            limits += f" and up to {_shortest(self.most)}"
        return f"{self.form} with {parameter} {limits} (e.g. {self.example})"

    def with_number(self, number: float) -> "Criterion":
        """Return the criterion with another number."""
        return replace(self, number=number)

    def penalties(self, samples: float, candidates: int, repeated: float = 1.0) -> NDArray[np.float64]:
        """Return the penalty of 0 to N_t terms, shape (N_t + 1,), or +inf if there are too many terms for the samples.

        ``repeated`` is the number of successive samples that carry the same information.
        """
        independent = samples / repeated
        per_term = repeated * self.per_term(independent, self.number)
        penalties = np.empty(candidates + 1)
        for terms in range(candidates + 1):
            penalties[terms] = per_term * terms + repeated * self.surcharge_of(terms, independent, candidates)
        return penalties

    def surcharge_of(self, terms: int, samples: float, candidates: int) -> float:
        """Return the additional penalty of ``terms`` terms out of ``candidates`` candidates; +inf forbids them."""
        if self.surcharge is None:
            return 0.0
        return self.surcharge(terms, samples, candidates, self.number)


def _shortest(number: float) -> str:
    """Return the shortest decimal number that reads back as the same double."""
    return repr(number).removesuffix(".0")
