"""One configuration on the data: its candidate terms, their inner products, and the problems that are searched."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from narxbench._fitness.kernel.problem_data import products_over
from narxbench._fitness.prediction_error import COMPARED, Fit
from narxbench._fitness.problem import ErrorKind, StructureProblem
from narxbench._identification.data.arrangement import N_PARTS, NO_PART, Arrangement
from narxbench._identification.data.collinear import collinear
from narxbench._identification.data.scaling import scaled, scaling
from narxbench._identification.search.configurations import Configuration, candidates
from narxbench._identification.search.noise import StructureFit, weigh, weigh_under
from narxbench._identification.search.ridge import ridge_weights
from narxbench._identification.settings import IdentificationSettings
from narxbench._io.errors import NarxbenchError
from narxbench._model.noise_models import NoiseModel, NoiseName
from narxbench._model.records import Recording
from narxbench._model.scaling import mean
from narxbench._model.terms import Monomial, max_lag_of, term_name
from narxbench._numerics.rounding import significant

Floats = NDArray[np.float64]

# Samples that a search estimates from, that it simulates and that show collinear candidates, and that give the weights
# under a noise model while candidates are compared, at most. By the rates of ``effort.py`` the products of 400
# candidates take 0.3 s there, a free run 60 µs, and a fit 11 ms. A decimation drops some of its phases.
MOST_ROWS, MOST_STEPS, MOST_WEIGHED = 50_000, 20_000, 5_000
# What terms cost in J.
CRITERION = "bic"
# Values of all candidate terms on the samples that a prediction error method searches.
MOST_VALUES = 1_000_000


def shortened(segments: list[range], most: int, max_lag: int) -> list[range]:
    """Return segments that can be simulated quickly: all, or pieces spread evenly over them."""
    steps = sum(map(len, segments))
    if steps <= most:
        return segments
    # Long enough that the first measured outputs are forgotten.
    length = max(500, 20 * max_lag)
    pieces = []
    for segment in segments:
        for start in range(segment.start, segment.stop, length):
            pieces.append(range(start, min(start + length, segment.stop)))
    count = max(1, most // length)
    if count >= len(pieces):
        return pieces
    # Spread evenly. No piece is chosen twice because there are more pieces than are chosen.
    return [pieces[i * len(pieces) // count] for i in range(count)]


class ConfigurationProblem:
    """A configuration on the data, whose test records are not used.

    ``density`` samples count as one because they follow one another so fast. Results that are needed again, such as
    inner products, are kept.

    Attributes
    ----------
    arrangement : Arrangement
        The samples.
    monomials, terms : list
        The candidates and their names.
    dropped : dict
        Candidates that are combinations of others.
    error : str
        How a candidate is judged: by free runs, or by predictions one step ahead.
    """

    def __init__(
        self, recording: Recording, configuration: Configuration, settings: IdentificationSettings, density: int
    ) -> None:
        self._density = density
        # Without an input a free run is not driven, and noise that is part of the series cannot be foreseen for long.
        # Models that predict from the last measured output are therefore searched by this error.
        is_for_next_step = not recording.inputs or settings.horizon == 1
        self.error: ErrorKind = "one_step" if is_for_next_step else "free_run"
        by = scaling(recording, configuration.centred)
        records = [scaled(record, by) for record in recording.known]
        monomials = candidates(configuration, settings)
        max_lag = max_lag_of(monomials)
        self.n_inputs = len(recording.inputs)
        self.arrangement = Arrangement(records, configuration.decimation, max_lag, N_PARTS, MOST_ROWS)
        rows = self.arrangement.rows()
        if not self.arrangement.enough:
            raise NarxbenchError(
                f"records: found none that is long enough, at most {max(map(len, records))} samples; needed: several "
                f"times {max_lag * configuration.decimation}, the largest lag ({max_lag}) times the decimation"
            )
        names = [term_name(m, self.n_inputs) for m in monomials]
        compared = rows[:: -(-len(rows) // MOST_STEPS)]
        self.dropped = collinear(self.arrangement.columns(monomials, compared), names)
        self.monomials, self.terms = list[Monomial](), list[str]()
        for monomial, name in zip(monomials, names, strict=True):
            if name not in self.dropped:
                self.monomials.append(monomial)
                self.terms.append(name)
        if not self.terms:
            raise NarxbenchError(f"candidate terms: found {', '.join(names)}, always 0; allowed: one that varies")
        self._place = {name: i for i, name in enumerate(self.terms)}

    @cached_property
    def _products(self) -> tuple[Floats, list[Floats]]:
        """Inner products over all rows that estimate, and over the rows of each part that takes turns."""
        arrangement, rows = self.arrangement, self.arrangement.rows()
        numbers = arrangement.part[rows]
        turns = range(arrangement.n_parts_selected) if arrangement.takes_turns else ()
        by_part = [
            products_over(arrangement.u, arrangement.y, self.monomials, rows[numbers == part])
            for part in (NO_PART, *turns)
        ]
        return np.sum(by_part, axis=0), by_part[1:]

    def _problem(
        self, rows: NDArray[np.int64], segments: list[range], products: Floats | None = None
    ) -> StructureProblem:
        arrangement = self.arrangement
        return StructureProblem.of_records(
            arrangement.u,
            arrangement.y,
            self.monomials,
            rows=rows,
            segments=segments,
            criterion=CRITERION,
            error=self.error,
            # The phases that are in use are this many samples of one stride.
            repeated=max(1.0, self._density * arrangement.n_phases / arrangement.decimation),
            products=products,
        )

    def whole(self) -> StructureProblem:
        """Return the problem that is searched: all rows estimate, and all of the selection is simulated."""
        arrangement = self.arrangement
        selects = np.ones(len(arrangement.y), np.bool_) if arrangement.takes_turns else arrangement.part != NO_PART
        return self._problem(arrangement.rows(), self._shortened(arrangement.segments(selects)), self._products[0])

    def _of_part(self, part: int, segments: list[range]) -> StructureProblem:
        whole, by_part = self._products
        return self._problem(self.arrangement.rows(part), segments, whole - by_part[part] if by_part else whole)

    def _shortened(self, segments: list[range], most: int = MOST_STEPS) -> list[range]:
        return shortened(segments, most, self.arrangement.max_lag)

    @cached_property
    def parts(self) -> list[tuple[int, list[range], StructureProblem]]:
        """Each part that has its lags: its number, its samples, and the problem of the other samples."""
        parts = []
        for number in range(self.arrangement.n_parts_selected):
            segments = self.arrangement.segments(self.arrangement.part == number)
            if segments:
                parts.append((number, segments, self._of_part(number, segments)))
        return parts

    @cached_property
    def measured_parts(self) -> list[Floats]:
        """The measured outputs of each part."""
        return [problem.data.measured for _, _, problem in self.parts]

    @cached_property
    def energy(self) -> float:
        """The sum of squares of the output about its mean over all parts."""
        middle = mean(np.concatenate(self.measured_parts).tolist())
        return math.fsum(math.fsum(((y - middle) ** 2).tolist()) for y in self.measured_parts)

    def for_prediction_errors(self, *, estimating: bool = False, most_values: int = MOST_VALUES) -> StructureProblem:
        """Return the problem that prediction error methods search: of one phase, and of long records some pieces.

        The disturbance within a step is in all phases the same; one of them has it once, and likelihoods are right. The
        samples are all that are not for the test, or those that estimate; all candidates have no more than
        ``most_values`` values there.
        """
        arrangement = self.arrangement
        phase = replace(arrangement, most_samples=sum(map(len, arrangement.records)) // arrangement.decimation)
        samples = phase.estimates() if estimating else phase.has_lags
        segments = self._shortened(phase.segments(samples), most_values // len(self.terms))
        rows = np.concatenate([np.arange(segment.start, segment.stop) for segment in segments])
        signals = phase.u, phase.y, self.monomials
        return StructureProblem.of_records(
            *signals, rows=rows, segments=segments, criterion=CRITERION, error=self.error
        )

    @cached_property
    def _estimating(self) -> dict[int | None, list[range]]:
        """Runs of samples that give the weights under a noise model: those without each part, and all under None."""
        arrangement = self.arrangement
        parts = range(arrangement.n_parts_selected if arrangement.takes_turns else 0)
        return {
            part: self._shortened(arrangement.segments(arrangement.estimates(part)), MOST_WEIGHED)
            for part in (None, *parts)
        }

    def monomials_of(self, terms: Sequence[str]) -> list[Monomial]:
        """Return candidates by their names."""
        return [self.monomials[self._place[name]] for name in terms]

    def positions(self, structures: Sequence[Sequence[str]]) -> NDArray[np.uint8]:
        """Return which candidates are in each structure, shape (structures, candidates)."""
        positions = np.zeros((len(structures), len(self.terms)), np.uint8)
        for row, terms in zip(positions, structures, strict=True):
            row[[self._place[name] for name in terms]] = 1
        return positions

    def fit(self, terms: Sequence[str], families: Sequence[NoiseName]) -> StructureFit:
        """Fit a structure to all data that estimate, under what its noise calls for among some families."""
        return weigh(self.arrangement, self.monomials_of(terms), self._estimating[None], families)

    def fit_under(
        self, terms: Sequence[str], noise_model: NoiseModel, part: int | None = None, near: Fit | None = None
    ) -> StructureFit:
        """Fit a structure under one noise model to all data that estimate, or to those without a part.

        ``near`` is a fit on other samples.
        """
        segments = self._estimating[part]
        return weigh_under(self.arrangement, self.monomials_of(terms), segments, noise_model, near, COMPARED)

    def ridge_weights(self, shrinkage: float, part: int | None = None) -> list[float]:
        """Return the weights of all candidates by ridge regression on all rows that estimate, or without a part."""
        whole, by_part = self._products
        products = whole if part is None or not by_part else whole - by_part[part]
        return list(map(significant, ridge_weights(products, self.monomials, shrinkage).tolist()))

    @property
    def steps(self) -> int | None:
        """How many steps ahead the selection predicts; None: free runs."""
        return 1 if self.error == "one_step" else None
