"""A criterion: the penalty of the terms of a structure in J = L ln(e) + penalty (paper, equations 10 and 11)."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from narxbench._numerics.logarithm import natural_log


@dataclass(frozen=True)
class Criterion:
    """A criterion: the penalty of xi terms is ``per_term`` times xi plus, if it is not linear, a ``surcharge``."""

    number: float = 0.0  # the number in the name; 0 for a criterion without a number
    form: ClassVar[str]  # of the name; a word in capitals represents a number above 0 and up to ``most``
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

    @classmethod
    def allowed_names(cls) -> str:
        """Return the form of a name as messages show it."""
        parameter = cls.form.partition("-")[2]
        if not parameter:
            return cls.form
        limits = "above 0"
        if cls.most < math.inf:
            limits += f" and up to {_shortest(cls.most)}"
        return f"{cls.form} with {parameter} {limits} (e.g. {cls.example})"

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


def _shortest(number: float) -> str:
    """Return the shortest decimal number that reads back as the same double."""
    return repr(number).removesuffix(".0")
