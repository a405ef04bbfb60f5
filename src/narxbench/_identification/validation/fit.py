"""The fit of the structure that was chosen: its weights, the model, and simpler models to compare it with."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

import numpy as np

from narxbench._fitness.kernel.problem_data import products_over
from narxbench._identification.data.arrangement import N_PARTS, Arrangement
from narxbench._identification.data.scaling import scaled
from narxbench._identification.search.candidate import Candidate
from narxbench._identification.search.noise import StructureFit, noise_of_model, weigh_under
from narxbench._identification.search.plan import SearchPlan
from narxbench._identification.search.problem import MOST_VALUES
from narxbench._identification.search.ridge import ridge_inverse, ridge_weights
from narxbench._identification.validation.error_table import ARX, Case, linear_arx
from narxbench._identification.validation.weights import (
    Assumption,
    Block,
    Weights,
    correlated_scores,
    estimate,
    estimate_in_blocks,
    least_squares_solution,
    newey_west_bandwidth,
)
from narxbench._io.errors import NarxbenchError
from narxbench._io.version import __version__
from narxbench._model.narx import Model
from narxbench._model.noise_models import Narx
from narxbench._model.records import Record
from narxbench._model.terms import Monomial, max_lag_of, parse_term
from narxbench._numerics.rounding import significant


class ModelFit:
    """Weights of one structure on the data, and on the data without a part, and the models with these weights.

    Of long records it has the parts of the stretches that were searched, unless others are given.
    """

    def __init__(self, plan: SearchPlan, structure: Candidate, stretches: Sequence[Record] | None = None) -> None:
        self.recording = recording = plan.estimated
        self.settings, self._data_digest = plan.settings, plan.data_digest
        self.configuration = configuration = structure.configuration
        self.terms, self.noise_model = structure.terms, structure.noise_model
        self._structure = structure
        # Several judgements of the model ask for it again.
        self.unknowing = lru_cache(maxsize=None)(self._unknowing)
        self.monomials = [parse_term(term, len(recording.inputs), current=True) for term in self.terms]
        self.scaling = plan.scalings[configuration.centred]
        self.known, self.searched = recording.known, stretches or plan.searched.known
        self.turns = self._arrangement(self.searched)

    @cached_property
    def arrangement(self) -> Arrangement:
        """All data that estimate."""
        is_searched = list(map(id, self.searched)) == list(map(id, self.known))
        return self.turns if is_searched else self._arrangement(self.known)

    def _arrangement(self, records: Sequence[Record]) -> Arrangement:
        scaled_records = [scaled(record, self.scaling) for record in records]
        max_lag = max_lag_of(self.monomials)
        return Arrangement(scaled_records, self.configuration.decimation, max_lag, N_PARTS)

    def weights(self, arrangement: Arrangement | None = None) -> Weights:
        """Return the weights on all rows that estimate, or on the rows of some data, with their uncertainty."""
        arrangement = arrangement or self.arrangement
        if self._structure.kind == "unpruned":
            return ridge_regression(arrangement, self.monomials, self.terms, self._structure.shrinkage)
        if self._structure.kind == "last value":
            return last_value_weights(self.terms, len(arrangement.rows()))
        plain = least_squares(arrangement, self.monomials, self.terms)
        if self.noise_model == Narx():
            return plain
        searched = weights_under_noise(self.turns, self._whole_in_turns, self.terms, plain)
        return searched if arrangement is self.turns else self._of_long_records(arrangement, searched)

    def _of_long_records(self, arrangement: Arrangement, searched: Weights) -> Weights:
        """Return the weights on all rows under a noise model, with the errors of those that were searched.

        The errors shrink as they do with more samples: all rows with their sensitivities would need too much memory.
        """
        whole = self._whole(arrangement)
        n_rows, n_searched = len(arrangement.rows()), len(self.turns.rows())
        covariances = {}
        for name, covariance in searched.covariances.items():
            covariances[name] = covariance * (n_searched / n_rows)
        return replace(
            searched,
            coefficients=whole.coefficients,
            covariances=covariances,
            noise=noise_of_model(whole.fit),
            freedom=searched.freedom + n_rows - n_searched,
        )

    def _whole(self, arrangement: Arrangement) -> StructureFit:
        if arrangement is not self.turns:
            is_alike = _exponents(arrangement) == _exponents(self.turns)
            return self._fit(arrangement, None, self._whole_in_turns if is_alike else None)
        return self._whole_in_turns

    @cached_property
    def _whole_in_turns(self) -> StructureFit:
        return self._fit(self.turns, None, None)

    def _fit(self, arrangement: Arrangement, part: int | None, near: StructureFit | None) -> StructureFit:
        segments = arrangement.segments(arrangement.estimates(part))
        fit = weigh_under(arrangement, self.monomials, segments, self.noise_model, near.fit if near else None)
        if not fit.is_finite:
            name = self.noise_model.name
            raise NarxbenchError(f"noise: the weights of {name} diverge on all data; allowed: noise narx")
        return fit

    def _unknowing(self, part: int) -> Model:
        """Return the model of weights on all rows that estimate except a part's, without their uncertainty."""
        if self.noise_model != Narx():
            return self._model_under_noise(self._fit(self.turns, part, self._whole_in_turns))
        return self._model_of_rows(self.turns.rows(part))

    def plain_model(self) -> Model:
        """Return the model of the weights on all rows that were searched, without their uncertainty."""
        if self.noise_model != Narx():
            return self._model_under_noise(self._whole_in_turns)
        return self._model_of_rows(self.turns.rows())

    def _model_under_noise(self, fit: StructureFit) -> Model:
        return self._model(fit.coefficients, noise_of_model(fit.fit))

    def _model_of_rows(self, rows: Any) -> Model:
        """Return the model of the weights on some rows, by least squares unless its kind has another rule."""
        if self._structure.kind == "unpruned":
            products = products_over(self.turns.u, self.turns.y, self.monomials, rows)
            return self._model(ridge_weights(products, self.monomials, self._structure.shrinkage))
        if self._structure.kind == "last value":
            return self._model(np.ones(1))
        columns = self.turns.columns(self.monomials, rows)
        return self._model(least_squares_solution(columns, self.turns.y[rows], self.terms))

    def model(self, weights: Weights) -> Model:
        """Return the model of the weights on all data."""
        return replace(self._model(weights.coefficients, weights.noise), **weights.of_model())

    def _model(self, coefficients: Any, noise: Mapping[str, Any] | None = None) -> Model:
        recording = self.recording
        return Model(
            terms=self.terms,
            # Without the last digits, which LAPACK computes differently on other processors.
            coefficients=tuple(map(significant, coefficients.tolist())),
            inputs=recording.inputs,
            output=recording.output,
            decimation=self.configuration.decimation,
            sampling_time=recording.sampling_time,
            units=recording.units,
            offsets=self.scaling.offsets if self.scaling else None,
            scales=self.scaling.scales if self.scaling and set(self.scaling.scales) != {1.0} else None,
            data_digest=self._data_digest,
            about={
                "made_by": f"narxbench {__version__}",
                "method": self._structure.found_by,
                "configuration": self.configuration.name,
                "kind": self._structure.kind,
                "shrinkage": self._structure.shrinkage,
                "settings": self.settings.model_dump(mode="json"),
            },
            **(noise or {}),
        )

    def _arx(self, records: Sequence[Record]) -> Model:
        """Return the linear model of the lags that the model could choose from, up to the largest that it has."""
        configuration, recording = self.configuration, self.recording
        # So it needs no more initial samples, and both are scored on the same ones.
        most = self.turns.max_lag
        return linear_arx(
            records,
            inputs=recording.inputs,
            output=recording.output,
            decimation=configuration.decimation,
            y_lags=_lags_up_to(most, configuration.y_lags),
            u_lags=[_lags_up_to(most, lags) for lags in configuration.u_lags],
            sampling_time=recording.sampling_time,
        )

    def cases(self, model: Model) -> list[Case]:
        """Return all records with the models that predict them. A part is predicted by weights of the other parts."""
        # Of long records, the stretches that were searched are enough.
        arx = self._arx(self.estimating())
        cases = [Case(record, model, {ARX: arx}) for record in _estimating(self.known)]
        if self.turns.takes_turns:
            cases += self._cases_in_turns(arx.initial_samples)
        for record in self.recording.records:
            if record.role in ("selection", "test"):
                cases.append(Case(record, model, {ARX: arx}))
        return cases

    def estimating(self) -> list[Record]:
        """Return the records that estimate, of long ones the stretches that were searched."""
        return _estimating(self.searched)

    def _cases_in_turns(self, initial_samples: int) -> list[Case]:
        """Return the parts that take turns in selection, each with models of the others."""
        pieces = self._pieces()
        cases = []
        for number, piece in pieces:
            estimates = []
            for other_number, other_piece in pieces:
                if other_number != number and len(other_piece) > initial_samples:
                    estimates.append(replace(other_piece, role="estimation"))
            model = self.unknowing(number)
            cases.append(Case(replace(piece, role="selection"), model, {ARX: self._arx(estimates)}))
        return cases

    def _pieces(self) -> list[tuple[int, Record]]:
        """Return the pieces of records that each part is made of, with the initial samples before them."""
        arrangement = self.turns
        initial, pieces = arrangement.max_lag * arrangement.decimation, list[tuple[int, Record]]()
        for number, (i, record) in product(range(arrangement.n_parts_selected), enumerate(self.searched)):
            times = arrangement.time[(arrangement.part == number) & (arrangement.record == i)]
            if len(times):
                pieces.append((number, record.part(max(0, int(times.min()) - initial), int(times.max()) + 1)))
        return pieces


def _estimating(records: Sequence[Record]) -> list[Record]:
    """Return the records without a role and those for estimation, all with that role."""
    estimating = []
    for record in records:
        if record.role in (None, "estimation"):
            estimating.append(replace(record, role="estimation"))
    return estimating


def _exponents(arrangement: Arrangement) -> list[int]:
    """Return the powers of two that prediction errors scale the signals by: fits of equal ones can be compared."""
    signals = (arrangement.y, *arrangement.u.T)
    return [int(np.frexp(np.abs(signal).max(initial=0.0))[1]) for signal in signals]


def _lags_up_to(most: int, lags: Sequence[int]) -> list[int]:
    return [lag for lag in lags if lag <= most]


def weights_under_noise(arrangement: Arrangement, fit: StructureFit, terms: Sequence[str], plain: Weights) -> Weights:
    """Return the weights of a fit with errors as by :func:`estimate`. ``plain`` are by least squares."""
    columns, explained, places = fit.regression()
    segments = arrangement.segments(arrangement.estimates())
    samples = np.concatenate([np.arange(segment.start, segment.stop) for segment in segments])[places]
    in_time = np.lexsort((arrangement.time[samples], arrangement.record[samples]))
    n = len(terms)
    names = [*terms, *(f"noise {i}" for i in range(1, columns.shape[1] - n + 1))]
    linear = _estimate(arrangement, samples[in_time], columns[in_time], explained[in_time], names)
    return replace(
        linear,
        terms=tuple(terms),
        coefficients=fit.coefficients,
        covariances={name: covariance[:n, :n] for name, covariance in linear.covariances.items()},
        # What each term explains one step ahead.
        err=plain.err,
        noise=noise_of_model(fit.fit),
    )


def least_squares(arrangement: Arrangement, monomials: Sequence[Monomial], terms: Sequence[str]) -> Weights:
    """Return the least-squares weights of terms on all rows that estimate, with errors as by :func:`estimate`."""
    rows = arrangement.rows()
    if len(rows) * len(terms) > MOST_VALUES:
        bandwidth = newey_west_bandwidth(len(rows), arrangement.decimation)
        return estimate_in_blocks(lambda: _blocks(arrangement, monomials, rows), terms, bandwidth)
    return _estimate(arrangement, rows, arrangement.columns(monomials, rows), arrangement.y[rows], terms)


def _blocks(arrangement: Arrangement, monomials: Sequence[Monomial], rows: Any) -> Iterator[Block]:
    """Yield columns, outputs and samples of this many rows that they can be held at once."""
    length = max(1, MOST_VALUES // len(monomials))
    for start in range(0, len(rows), length):
        block = rows[start : start + length]
        yield arrangement.columns(monomials, block), arrangement.y[block], _times(arrangement, block)


def ridge_regression(
    arrangement: Arrangement, monomials: Sequence[Monomial], terms: Sequence[str], shrinkage: float
) -> Weights:
    """Return the weights of terms by ridge regression on all rows that estimate.

    Their covariances do not include the bias of shrunk weights. The error reduction ratio of a term is
    here its weight times the product of its column and the output, relative to the energy of the output.
    """
    rows = arrangement.rows()
    products = np.zeros((len(terms) + 1, len(terms) + 1))
    length = max(1, MOST_VALUES // len(terms))
    for start in range(0, len(rows), length):
        products += products_over(arrangement.u, arrangement.y, list(monomials), rows[start : start + length])
    inverse = ridge_inverse(products[:-1, :-1], monomials, shrinkage)
    coefficients = ridge_weights(products, monomials, shrinkage)
    freedom = max(1, len(rows) - len(terms))
    bandwidth = newey_west_bandwidth(len(rows), arrangement.decimation)
    white, correlated, squares = np.zeros_like(inverse), np.zeros_like(inverse), 0.0
    for columns, y, times in _blocks(arrangement, monomials, rows):
        residuals = y - columns @ coefficients
        scores = columns * residuals[:, None]
        block_products = scores.T @ scores
        white += block_products
        correlated += correlated_scores(block_products, scores, times, bandwidth)
        squares += float(residuals @ residuals)
    middles: dict[Assumption, Any] = {
        "classical": products[:-1, :-1] * (squares / freedom),
        "hc": white * (len(rows) / freedom),
        "hac": correlated * (len(rows) / freedom),
    }
    return Weights(
        terms=tuple(terms),
        coefficients=coefficients,
        covariances={name: inverse @ middle @ inverse for name, middle in middles.items()},
        err=coefficients * products[-1, :-1] / (products[-1, -1] or 1.0),
        freedom=freedom,
    )


def last_value_weights(terms: Sequence[str], n_rows: int) -> Weights:
    """Return the weight of y(k) = y(k-1), which is 1 whatever the data are."""
    exact: dict[Assumption, Any] = {"classical": np.zeros((1, 1)), "hc": np.zeros((1, 1)), "hac": np.zeros((1, 1))}
    return Weights(tuple(terms), np.ones(1), exact, np.ones(1), max(1, n_rows - 1))


def _estimate(arrangement: Arrangement, rows: Any, columns: Any, explained: Any, terms: Sequence[str]) -> Weights:
    return estimate(
        columns,
        explained,
        terms=terms,
        times=_times(arrangement, rows),
        bandwidth=newey_west_bandwidth(len(rows), arrangement.decimation),
    )


def _times(arrangement: Arrangement, rows: Any) -> Any:
    """Return the samples of rows. Records are far apart, so that no correlation is taken from one to the next."""
    distance = 2 * (1 + max(map(len, arrangement.records)))
    return arrangement.time[rows] + distance * arrangement.record[rows]
