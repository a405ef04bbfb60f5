"""The fit of the structure that was chosen: its weights, their refinement, the model, and what it is compared with."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from narxbench.analysis.metrics import significant
from narxbench.identification.data.arrangement import Arrangement
from narxbench.identification.finding import Finding
from narxbench.identification.search.configurations import Configuration
from narxbench.identification.search.trial import scaled, scaling
from narxbench.identification.settings import IdentificationSettings
from narxbench.identification.trust.refinement import extended_least_squares, refit_by_simulation
from narxbench.identification.trust.validation import ARX, Case, linear_arx
from narxbench.identification.trust.weights import Weights, estimate, newey_west_bandwidth, orthogonalise
from narxbench.io.version import __version__
from narxbench.model.narx import Model
from narxbench.model.records import Record, Recording
from narxbench.model.terms import Monomial, parse_term

# Residual lags of the noise model of extended least squares.
NOISE_LAGS = 2


class Fit:
    """Weights of one structure on the data, and on the data without a part, and the models that they make.

    Parameters
    ----------
    recording : Recording
        The data; test records do not estimate.
    configuration : Configuration
        Where the structure was found.
    terms : sequence of str
        Its terms.
    settings : IdentificationSettings
        The parts that take turns, and the refinement of the weights.
    """

    def __init__(
        self,
        recording: Recording,
        configuration: Configuration,
        terms: Sequence[str],
        settings: IdentificationSettings,
    ) -> None:
        self.recording, self.configuration, self.settings = recording, configuration, settings
        self.terms = tuple(terms)
        self.monomials = monomials = [parse_term(term, len(recording.inputs), current=True) for term in terms]
        self.scaling = scaling(recording, configuration.centred)
        self.known = recording.known
        max_lag = max((lag for m in monomials for _, lag in m), default=0)
        self.arrangement = Arrangement(
            [scaled(record, self.scaling) for record in self.known], configuration.decimation, max_lag, settings.blocks
        )

    def weights(self) -> Weights:
        """Return the least-squares weights on all rows that estimate."""
        return least_squares(self.arrangement, self.monomials, self.terms)

    def without(self, part: int) -> list[float]:
        """Return the least-squares weights on all rows that estimate but those of a part."""
        rows = self.arrangement.rows(part)
        found = orthogonalise(self.arrangement.columns(self.monomials, rows), self.arrangement.y[rows], self.terms)
        return [float(weight) for weight in found.coefficients]

    def refined(self, weights: Weights) -> tuple[list[float], Finding | None]:
        """Return the weights after the refinement that was asked for, and what it did."""
        given, how = weights.coefficients.tolist(), self.settings.refine
        if how == "none":
            return given, None
        arrangement = self.arrangement
        if how == "simulation":
            selects = [record for record in arrangement.records if record.role == "selection"]
            estimates = [record for record in arrangement.records if record.role != "selection"]
            if not selects:
                # Every fourth part decides whether the weights that the others give are better.
                pieces = list(self._pieces(arrangement.records))
                decides = {part for part, _ in pieces if part % 4 == 3} or {pieces[-1][0]}
                estimates = [piece for part, piece in pieces if part not in decides]
                selects = [piece for part, piece in pieces if part in decides]
            refit = refit_by_simulation(
                self.monomials, given, estimates, selects, decimation=self.configuration.decimation
            )
            values = {"how": how, **refit._asdict()}
            return values.pop("coefficients").tolist(), Finding("refinement", "fine", values)
        rows = arrangement.rows()
        extended = extended_least_squares(
            arrangement.columns(self.monomials, rows), arrangement.y[rows], self._previous(rows), terms=self.terms
        )
        noise = extended.noise_coefficients.tolist() if extended.converged else None
        coefficients = extended.coefficients.tolist() if extended.converged else given
        return coefficients, Finding("refinement", "fine", {"how": how, "noise": noise})

    def _previous(self, rows: Any) -> Any:
        """Return which row is 1, 2, … steps before each row; -1 where there is none."""
        arrangement = self.arrangement
        place = {key: i for i, key in enumerate(zip(arrangement.record[rows], arrangement.time[rows], strict=True))}
        steps = [lag * arrangement.decimation for lag in range(1, NOISE_LAGS + 1)]
        keys = list(place)
        return np.array([[place.get((record, time - step), -1) for step in steps] for record, time in keys])

    def _pieces(self, records: Sequence[Record]) -> Iterable[tuple[int, Record]]:
        """Yield each part that takes turns with its samples and the initial ones before it, as a record."""
        arrangement = self.arrangement
        initial = arrangement.max_lag * arrangement.decimation
        for number in range(arrangement.n_parts_selected):
            for i, record in enumerate(records):
                times = arrangement.time[(arrangement.part == number) & (arrangement.record == i)]
                if len(times):
                    start, end = int(times.min()), int(times.max()) + 1
                    yield number, record.part(max(0, start - initial), end)

    def model(self, coefficients: Sequence[float], weights: Weights | None = None) -> Model:
        """Return the model of some weights."""
        recording = self.recording
        return Model(
            terms=self.terms,
            # Without the last digits, which LAPACK computes differently on other processors.
            coefficients=tuple(significant(float(value)) for value in coefficients),
            inputs=recording.inputs,
            output=recording.output,
            decimation=self.configuration.decimation,
            sampling_time=recording.sampling_time,
            units=recording.units,
            covariance=None if weights is None else _rounded(weights.covariances["hac"]),
            offsets=self.scaling and self.scaling[0],
            scales=self.scaling and self.scaling[1],
            data_digest=recording.digest,
            about={
                "made_by": f"narxbench {__version__}",
                "method": self.settings.method,
                "configuration": self.configuration.name,
                "settings": self.settings.model_dump(mode="json"),
            },
        )

    def arx(self, records: Sequence[Record]) -> Model:
        """Return the linear model of the lags that the model could choose from, up to the largest that it has."""
        configuration, recording = self.configuration, self.recording
        # So it needs no more initial samples, and both are scored on the same ones.
        most = self.arrangement.max_lag
        return linear_arx(
            records,
            inputs=recording.inputs,
            output=recording.output,
            decimation=configuration.decimation,
            y_lags=[lag for lag in configuration.y_lags if lag <= most],
            u_lags=[[lag for lag in lags if lag <= most] for lags in configuration.u_lags],
            sampling_time=recording.sampling_time,
        )

    def cases(self, model: Model) -> list[Case]:
        """Return all records with the models that predict them; a part by weights that the other parts give."""
        estimates = [replace(r, role="estimation") for r in self.known if r.role in (None, "estimation")]
        arx = self.arx(estimates)
        cases = [Case(record, model, {ARX: arx}) for record in estimates]
        if self.arrangement.takes_turns:
            for number, piece in self._pieces(self.known):
                others = [
                    replace(other, role="estimation")
                    for part, other in self._pieces(self.known)
                    if part != number and len(other) > arx.initial_samples
                ]
                unknowing = self.model(self.without(number))
                cases.append(Case(replace(piece, role="selection"), unknowing, {ARX: self.arx(others)}))
        for record in self.recording.records:
            if record.role in ("selection", "test"):
                cases.append(Case(record, model, {ARX: arx}))
        return cases


def least_squares(arrangement: Arrangement, monomials: Sequence[Monomial], terms: Sequence[str]) -> Weights:
    """Return the least-squares weights of terms on all rows that estimate; errors are those of :func:`estimate`."""
    rows = arrangement.rows()
    # Records lie far from one another, so that no correlation is taken from one to the next.
    distance = 2 * (1 + max(map(len, arrangement.records)))
    return estimate(
        arrangement.columns(monomials, rows),
        arrangement.y[rows],
        terms=terms,
        times=arrangement.time[rows] + distance * arrangement.record[rows],
        bandwidth=newey_west_bandwidth(len(rows), arrangement.decimation),
    )


def _rounded(matrix: Any) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(significant(value) for value in row) for row in matrix.tolist())
