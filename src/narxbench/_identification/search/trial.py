"""One configuration on the data: its candidate terms, the problem that is searched, and errors on unseen parts."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from narxbench._fitness.kernel.problem_data import products_over
from narxbench._fitness.prediction_error import COMPARED, Fit
from narxbench._fitness.problem import ErrorKind, StructureProblem
from narxbench._identification.data.arrangement import N_PARTS, NO_PART, Arrangement
from narxbench._identification.data.collinear import collinear
from narxbench._identification.data.scaling import scaled, scaling
from narxbench._identification.search.configurations import Configuration, candidates
from narxbench._identification.search.noise import StructureFit, noise_of_model, weigh, weigh_under
from narxbench._identification.search.outside import leaves_all_bounds
from narxbench._identification.search.ridge import ridge_weights
from narxbench._identification.settings import IdentificationSettings
from narxbench._io.errors import NarxbenchError
from narxbench._model.narx import DivergedError, Model, divergence_bound
from narxbench._model.noise_models import NoiseModel, NoiseName
from narxbench._model.prediction import simulated
from narxbench._model.records import Recording
from narxbench._model.scaling import mean
from narxbench._model.terms import Monomial, max_lag_of, term_name
from narxbench._numerics.rounding import significant

Floats = NDArray[np.float64]

# Samples that a search estimates from, simulates, and that look for collinear candidates, at most. What a decimation
# leaves out of them are some of its phases.
MOST_ROWS, MOST_STEPS, MOST_COMPARED = 50_000, 20_000, 20_000
# Samples that give the weights of a structure under a noise model while structures are compared.
MOST_WEIGHED = 5_000
# What terms cost in J.
CRITERION = "bic"
# Values of all candidate terms on the samples that a prediction error method searches.
MOST_VALUES = 1_000_000


@dataclass(frozen=True)
class PartErrors:
    """Errors of structures on the parts of the selection, with weights that do not know the part."""

    sse: Floats  # shape (structures, parts); +inf where the run diverges or the structure is singular
    singular: NDArray[np.bool_]  # in some part, shape (structures,)
    energy: Floats  # sums of squares of the output about its mean over all parts, shape (parts,)
    steps: NDArray[np.int64]  # samples of each part

    def finite(self, i: int) -> list[float]:
        """Return the error of a structure on each part on which its run does not diverge."""
        # There are many structures, and Python is quicker than NumPy with few numbers.
        return [sse for sse in self.sse[i].tolist() if math.isfinite(sse)]

    def relative(self, i: int) -> list[float]:
        """Return the squared error of a structure on each part relative to the variance; empty where one diverges."""
        if not np.isfinite(self.sse[i]).all():
            return []
        if not self._variance:
            return []
        return list(map(significant, (self.sse[i] / self.steps / self._variance).tolist()))

    @cached_property
    def total_energy(self) -> float:
        """The sum of squares of the output about its mean over all parts."""
        return math.fsum(self.energy.tolist())

    @cached_property
    def n_steps(self) -> int:
        """The samples of all parts."""
        return int(self.steps.sum())

    @cached_property
    def _variance(self) -> float:
        return self.total_energy / self.n_steps


def shortened(segments: list[range], most: int, max_lag: int) -> list[range]:
    """Return segments that are no more than can be simulated quickly: the beginning of each, or pieces of long ones."""
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
    # Spread evenly; as there are more pieces than are chosen, none is chosen twice.
    return [pieces[i * len(pieces) // count] for i in range(count)]


class Trial:
    """A configuration on the data, whose test records are not looked at.

    So many samples of the data count as one as ``density`` says, for they follow one another so fast.
    """

    def __init__(
        self, recording: Recording, configuration: Configuration, settings: IdentificationSettings, density: int
    ) -> None:
        self._density = density
        # Without an input nothing drives a free run, and noise that is part of the series cannot be foreseen for long.
        # What is predicted from the last measured output is searched by the error of that.
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
        compared = rows[:: -(-len(rows) // MOST_COMPARED)]
        self.dropped = collinear(self.arrangement.columns(monomials, compared), names)
        self.monomials, self.terms = list[Monomial](), list[str]()
        for monomial, name in zip(monomials, names, strict=True):
            if name not in self.dropped:
                self.monomials.append(monomial)
                self.terms.append(name)
        self._place = {name: i for i, name in enumerate(self.terms)}

    @cached_property
    def _products(self) -> tuple[Floats, list[Floats]]:
        """Inner products over all rows that estimate, and over those of each part that takes turns."""
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
            # The phases that are in use are so many samples of one stride.
            repeated=max(1.0, self._density * arrangement.n_phases / arrangement.decimation),
            products=products,
        )

    def whole(self) -> StructureProblem:
        """Return the problem that is searched: all rows estimate, and all of the selection is simulated."""
        arrangement = self.arrangement
        selects = np.ones(len(arrangement.y), np.bool_) if arrangement.takes_turns else arrangement.part != NO_PART
        return self._problem(arrangement.rows(), self._shortened(arrangement.segments(selects)), self._products[0])

    def _segments(self, part: int) -> list[range]:
        return self.arrangement.segments(self.arrangement.part == part)

    def _of_part(self, part: int, segments: list[range]) -> StructureProblem:
        whole, by_part = self._products
        return self._problem(self.arrangement.rows(part), segments, whole - by_part[part] if by_part else whole)

    def _shortened(self, segments: list[range], most: int = MOST_STEPS) -> list[range]:
        return shortened(segments, most, self.arrangement.max_lag)

    @cached_property
    def _parts(self) -> list[tuple[int, list[range], StructureProblem]]:
        """Each part that has its lags, its segments, and its problem."""
        parts = []
        for part in range(self.arrangement.n_parts_selected):
            segments = self._segments(part)
            if segments:
                parts.append((part, segments, self._of_part(part, segments)))
        return parts

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

    def _monomials_of(self, structure: Sequence[str]) -> list[Monomial]:
        return [self.monomials[self._place[name]] for name in structure]

    def fit(self, structure: Sequence[str], families: Sequence[NoiseName]) -> StructureFit:
        """Fit a structure to all data that estimate, under what its noise calls for among some families."""
        return weigh(self.arrangement, self._monomials_of(structure), self._estimating[None], families)

    def fit_under(self, structure: Sequence[str], noise_model: NoiseModel) -> StructureFit:
        """Fit a structure to all data that estimate, under one noise model."""
        return self._fit_without(None, self._monomials_of(structure), noise_model)

    def _fit_without(
        self, part: int | None, monomials: Sequence[Monomial], noise_model: NoiseModel, near: Fit | None = None
    ) -> StructureFit:
        segments = self._estimating[part]
        return weigh_under(self.arrangement, monomials, segments, noise_model, near, COMPARED)

    def _model(self, structure: Sequence[str], coefficients: Sequence[float], **noise: Any) -> Model:
        """Return the model of the arranged samples, whose signals may be centred and are of one phase."""
        return Model(
            terms=tuple(structure),
            coefficients=tuple(coefficients),
            inputs=tuple(f"u{i}" for i in range(self.n_inputs)),
            output="y",
            **noise,
        )

    def _squares_of_fit(
        self, structure: Sequence[str], weights: StructureFit, segments: list[range], steps: int | None
    ) -> float:
        """Return the sum of squared errors of a fit; +inf if it diverges."""
        if not weights.is_finite:
            return math.inf
        noise = {} if steps is None else noise_of_model(weights.fit)
        return self._squares(structure, weights.coefficients.tolist(), segments, steps, **noise)

    def _squares(
        self,
        structure: Sequence[str],
        coefficients: Sequence[float],
        segments: list[range],
        steps: int | None,
        **noise: Any,
    ) -> float:
        """Return the sum of squared errors, from the measured outputs before each segment; +inf if one diverges."""
        monomials = self._monomials_of(structure)
        max_lag, sums = max_lag_of(monomials), []
        # A free run is the same for all noise models, and there are many: it needs no model.
        model = None if steps is None else self._model(structure, coefficients, **noise)
        for segment in segments:
            samples = slice(segment.start - max_lag, segment.stop)
            u, y = self.arrangement.u[samples], self.arrangement.y[samples]
            if model is None:
                bound = divergence_bound(y, len(y))
                predicted, end = simulated(monomials, coefficients, u, y[:max_lag], bound=bound)
                if end < len(y):
                    return math.inf
            else:
                try:
                    predicted = model.predict(u, y, steps)
                except DivergedError:
                    return math.inf
            sums.append(math.fsum(((y - predicted) ** 2).tolist()))
        return math.fsum(sums)

    def whole_error(self, structure: Sequence[str], noise_model: NoiseModel) -> float:
        """Return the root relative squared error of free runs over whole records; +inf where one diverges."""
        arrangement = self.arrangement
        segments = arrangement.segments(arrangement.has_lags)
        squares = self._squares_of_fit(structure, self.fit_under(structure, noise_model), segments, None)
        return self._relative_error(squares)

    def whole_ridge_error(self, shrinkage: float) -> float:
        """Return the same error for all candidates with weights of ridge regression."""
        segments = self.arrangement.segments(self.arrangement.has_lags)
        return self._relative_error(self._squares(self.terms, self._ridge(shrinkage, None), segments, None))

    def leaves_all_bounds(self, structure: Sequence[str], noise_model: NoiseModel) -> bool:
        """Return whether the model of a structure leaves all bounds where inputs are held inside their ranges."""
        fit = self.fit_under(structure, noise_model)
        if not fit.is_finite:
            return True
        model = self._model(structure, fit.coefficients.tolist())
        return leaves_all_bounds(model, self.arrangement.u, self.arrangement.y)

    def ridge_leaves_all_bounds(self, shrinkage: float) -> bool:
        """Return whether all candidates with weights of ridge regression do so."""
        model = self._model(self.terms, self._ridge(shrinkage, None))
        return leaves_all_bounds(model, self.arrangement.u, self.arrangement.y)

    def _relative_error(self, squares: float) -> float:
        y = self.arrangement.y[self.arrangement.has_lags]
        middle = mean(y.tolist())
        return math.sqrt(squares / math.fsum(((y - middle) ** 2).tolist()))

    def _ridge(self, shrinkage: float, part: int | None) -> list[float]:
        """Return the weights of all candidates by ridge regression on all rows that estimate, or without a part."""
        whole, by_part = self._products
        products = whole if part is None or not by_part else whole - by_part[part]
        return list(map(significant, ridge_weights(products, self.monomials, shrinkage).tolist()))

    def part_errors(self, structures: Sequence[Sequence[str]]) -> PartErrors:
        """Return the errors of structures with least-squares weights on each part, run freely from measured outputs.

        Where parts take turns, the weights for one are estimated on the others.
        """
        sse, singular = np.empty((len(structures), len(self._parts))), np.zeros(len(structures), np.bool_)
        positions = np.zeros((len(structures), len(self.terms)), np.uint8)
        for row, structure in zip(positions, structures, strict=True):
            row[[self._place[name] for name in structure]] = 1
        for k, (_, _, problem) in enumerate(self._parts):
            _, sse[:, k], weights = problem.evaluate_positions(positions)
            singular |= ~np.isfinite(sse[:, k]) & ~weights.any(axis=1)
        return self._part_errors(sse, singular)

    @property
    def steps(self) -> int | None:
        """How many steps ahead the selection predicts; None: free runs."""
        return 1 if self.error == "one_step" else None

    def part_errors_under_noise(self, structure: Sequence[str], whole: StructureFit, steps: int | None) -> PartErrors:
        """Return the errors of a structure on each part, its weights being estimated as those of a fit to all data.

        Predictions are so many steps ahead; None: free runs.
        """
        takes_turns = self.arrangement.takes_turns and whole.is_finite
        monomials, sums = self._monomials_of(structure), []
        for part, segments, _ in self._parts:
            fit = whole
            if takes_turns:
                fit = self._fit_without(part, monomials, whole.noise_model, whole.fit)
            sums.append(self._squares_of_fit(structure, fit, segments, steps))
        return self._part_errors(np.array([sums]), np.zeros(1, np.bool_))

    def part_errors_of_ridge(self, shrinkage: float, steps: int | None) -> PartErrors:
        """Return the errors of all candidates on each part, with weights of ridge regression that do not know it."""
        sums = []
        for part, segments, _ in self._parts:
            sums.append(self._squares(self.terms, self._ridge(shrinkage, part), segments, steps))
        return self._part_errors(np.array([sums]), np.zeros(1, np.bool_))

    def part_errors_of_last_value(self, term: str, steps: int | None) -> PartErrors:
        """Return the errors on each part of the model y(k) = y(k-i), whose only term has this name."""
        sums = [self._squares([term], [1.0], segments, steps) for _, segments, _ in self._parts]
        return self._part_errors(np.array([sums]), np.zeros(1, np.bool_))

    def _part_errors(self, sse: Floats, singular: NDArray[np.bool_]) -> PartErrors:
        measured = [problem.data.measured for _, _, problem in self._parts]
        middle = mean(np.concatenate(measured).tolist())
        energy = np.array([math.fsum(((y - middle) ** 2).tolist()) for y in measured])
        return PartErrors(sse, singular, energy, np.array([len(y) for y in measured]))
