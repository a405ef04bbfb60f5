"""From data to a model: read, check, search, choose, and tell how far to trust what was found."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from narxbench import __version__
from narxbench.analysis.metrics import significant
from narxbench.identification.arrangement import Arrangement
from narxbench.identification.certainty import selection_table, structures
from narxbench.identification.checks import Check, checks_before, collinear_check, size_check
from narxbench.identification.configurations import Configuration
from narxbench.identification.reading import read_recording
from narxbench.identification.refinement import extended_least_squares, refit_by_simulation
from narxbench.identification.residuals import correlation_tests
from narxbench.identification.result import Identification
from narxbench.identification.scan import BESIDE, NOTHING, POLISHED, STANDS_IN, Finalist, Scan, chosen
from narxbench.identification.settings import IdentificationSettings
from narxbench.identification.steady_state import measured_static_points, static_curve
from narxbench.identification.trial import MOST_COMPARED, scaled, scaling
from narxbench.identification.validation import ARX, Case, linear_arx, summary, validate_each
from narxbench.identification.weights import Weights, estimate, interchangeable, newey_west_bandwidth, orthogonalise
from narxbench.io.settings import validated
from narxbench.model.narx import Model
from narxbench.model.records import Record, Recording
from narxbench.model.terms import Monomial, parse_term

# Threads that search side by side. Their number changes no result.
THREADS = 4
# Residual lags of the noise model of extended least squares.
NOISE_LAGS = 2
_READING = ("input", "output", "time", "test", "roles", "sampling_time", "units", "header", "separator", "decimal")


def identify(data: Any = None, **arguments: Any) -> Identification:
    """Identify a polynomial NARX model from measured data.

    Parameters
    ----------
    data : path, DataFrame, mapping of str to array, a list of these, or None
        Each is an experiment of its own; None: ``input`` and ``output`` are arrays.
    **arguments
        What :func:`narxbench.identification.reading.read_recording` takes (``input``, ``output``, ``time``, ``test``,
        ``roles``, ``sampling_time``, ``units``, ``header``, ``separator``, ``decimal``), and all settings of
        :class:`narxbench.identification.settings.IdentificationSettings` (``decimation``, ``degree``, ``y_lags``,
        ``u_lags``, …). None of these must be given but ``output``.

    Returns
    -------
    Identification
        The model and all that tells how far to trust it.

    Raises
    ------
    NarxbenchError
        One line that names what was found and what is allowed: for data, a setting, or where no model can be found.

    Examples
    --------
    >>> import narxbench
    >>> u, y = narxbench.load_system("S1").simulate(600, snr_db=40)
    >>> found = narxbench.identify(input=u, output=y, test="20%", degree=2, y_lags=2, u_lags=2, resamples=0)
    >>> found.model.terms
    ('y(k-1)', 'u(k-1)', 'y(k-1)*u(k-1)', 'u(k-1)^2')
    """
    reading = {name: arguments.pop(name) for name in _READING if name in arguments}
    given = {name: _plain(value) for name, value in arguments.items()}
    settings = validated(IdentificationSettings, given, "identify")
    return identified(read_recording(data, **reading), settings)


def identified(
    recording: Recording, settings: IdentificationSettings, affordable: Callable[[Scan], None] | None = None
) -> Identification:
    """Identify a model from a recording; all steps in this process.

    ``affordable`` is called before the first search, and raises NarxbenchError if all that is planned is too much.
    """
    # Threads of a BLAS would wait for those of the search, and sum in an order that depends on their number.
    with threadpool_limits(1, "blas"):
        scan = Scan(recording, settings)
        if affordable is not None:
            affordable(scan)
        return _identified(scan)


def _identified(scan: Scan) -> Identification:
    with ThreadPoolExecutor(THREADS) as threads:
        briefs = dict(
            zip([c.name for c in scan.configurations], threads.map(scan.brief, scan.configurations), strict=True)
        )
        ranked = scan.ranked(briefs)
        jobs = [(c, part, seed) for c in ranked for part, seed in scan.jobs()]
        found = threads.map(lambda job: scan.thorough(*job), jobs)
        thorough = dict(zip([(c.name, part, seed) for c, part, seed in jobs], found, strict=True))
        choice = choose(scan, briefs, ranked, thorough)
        count = scan.n_resamples(choice.best.configuration)
        resamples = list(threads.map(lambda n: scan.resampled(choice.best.configuration, n), range(1, count + 1)))
    return concluded(scan, choice, resamples)


def _plain(value: Any) -> Any:
    """Return numbers of NumPy, arrays of them, ranges and tuples as Python's own."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    return [_plain(entry) for entry in value] if isinstance(value, (list, tuple, range)) else value


@dataclass(frozen=True)
class Choice:
    """What the search has led to.

    Attributes
    ----------
    finalists : list of Finalist
        All structures that were compared, the best first.
    briefly : list of Finalist
        The best structure of each configuration that was searched briefly only.
    runs : list of list of str
        What was found in the best configuration with each seed.
    beside : Finalist or None
        What iterative orthogonal forward regression found there.
    notes : list of str
        What went otherwise than planned.
    density : int
        How many samples tell the same, for all that was compared.
    """

    finalists: list[Finalist]
    briefly: list[Finalist]
    runs: list[list[str]]
    beside: Finalist | None
    notes: list[str]
    density: int

    @property
    def best(self) -> Finalist:
        """The structure of lowest J."""
        return self.finalists[0]


def choose(
    scan: Scan,
    briefs: Mapping[str, Mapping[str, Any]],
    ranked: Sequence[Configuration],
    thorough: Mapping[tuple[str, int, int], Mapping[str, Any]],
) -> Choice:
    """Choose a structure from all that were found.

    Parameters
    ----------
    scan : Scan
        The search.
    briefs : mapping of str to mapping
        What was found by each brief search, by configuration.
    ranked : sequence of Configuration
        Those that were searched thoroughly.
    thorough : mapping of (str, int, int) to mapping
        What was found by each thorough search, by configuration, part and seed.
    """
    by_name = {c.name: c for c in scan.configurations}
    briefly = scan.briefly(briefs)
    runs = [(f.configuration, f.found_by, f.terms) for f in briefly if f.configuration in ranked]
    method = scan.settings.method
    for (name, part, seed), run in thorough.items():
        without = f" without part {part}" if part else ""
        runs.append((by_name[name], f"{method}, seed {seed}{without}", run["terms"]))
    besides = {c: scan.beside(c) for c in ranked[:1]} if method != BESIDE else {}
    runs += [(c, BESIDE, found["terms"]) for c, found in besides.items() if found]
    density = scan.density(ranked)
    everything = scan.finalists(runs, density)
    starts = [f for c in ranked for f in [f for f in everything if f.configuration == c][:POLISHED]]
    with ThreadPoolExecutor(THREADS) as threads:
        runs += [(f.configuration, f.found_by, f.terms) for f in threads.map(scan.polished, starts, repeat(density))]
    everything = scan.finalists(runs, density)
    best = chosen(everything)
    if best.configuration not in besides and method != BESIDE:
        besides[best.configuration] = scan.beside(best.configuration)
    beside = besides.get(best.configuration)
    judged = []
    if beside and beside["terms"]:
        judged = scan.finalists([(best.configuration, BESIDE, beside["terms"])], density)
    here = best.configuration.name
    return Choice(
        finalists=everything,
        briefly=[scan.rejudged(f, density) for f in briefly if f.configuration not in ranked and f.terms],
        runs=[list(run["terms"]) for (name, part, _), run in thorough.items() if name == here and part == 0],
        beside=judged[0] if judged else None,
        notes=_failures(method, [*briefs.values(), *thorough.values()]),
        density=density,
    )


def concluded(scan: Scan, choice: Choice, resamples: Sequence[Mapping[str, Any]]) -> Identification:
    """Estimate the weights of the chosen structure, and tell how sure and how good the model is."""
    recording, settings = scan.recording, scan.settings
    configuration, terms = choice.best.configuration, choice.best.terms
    trial = scan.trial(configuration)
    monomials = [parse_term(term, trial.n_inputs, current=True) for term in terms]
    fit = _Fit(recording, configuration, monomials, terms, settings)
    weights = fit.weights()
    coefficients, refinement = fit.refined(weights)
    model = fit.model(coefficients, weights)
    cases = fit.cases(model)
    validation = validate_each(cases)
    known = [case.record for case in cases if case.record.role == "estimation"]
    tests = correlation_tests(model, known)
    # The stability of a state costs the third power of the largest lag.
    curve = static_curve(model, known, points=41 if model.max_lag <= 60 else 5)
    rests = measured_static_points(model, known)
    rows = trial.arrangement.rows()
    rows = rows[:: -(-len(rows) // MOST_COMPARED)]
    columns = trial.arrangement.columns(trial.monomials, rows)
    before = checks_before(
        recording,
        decimation=configuration.decimation,
        lags=max(1, configuration.max_lag),
        sampling=scan.sampling,
        seen=scan.responses,
    )
    checks = [
        *(_compared(check, scan, configuration) if check.name == "sampling" else check for check in before),
        collinear_check(columns, trial.terms, {}) if not trial.dropped else _with_dropped(trial, rows),
        size_check(len(trial.terms), len(trial.arrangement.rows())),
    ]
    found = [list(run["terms"]) for run in resamples]
    table = selection_table(trial.terms, choice.runs, found, settings.confidence)
    side, note = structures(table, trial.terms, terms, [*choice.runs, *found], settings.threshold)
    warnings = [*recording.notes, *choice.notes, *_failures(f"{settings.method} on resampled data", resamples)]
    if not any(record.role == "test" for record in recording.records):
        warnings.append(
            "No data are kept for a test: the figures of the selection helped to choose the model, so expect larger "
            "errors on new data."
        )
    if len(resamples) < settings.resamples:
        warnings.append(
            f"Only {len(resamples)} of {settings.resamples} resampled data sets were searched: more would take longer "
            "than planned. A larger effort allows more."
        )
    if refinement and settings.refine != "none":
        warnings.append(refinement)
    checked = summary(model, validation, tests, curve, rests, checks)
    warnings += [f"{check.title}: {check.text}" for check in checked if check.status == "bad"]
    return Identification(
        model=model,
        recording=recording,
        settings=settings.model_dump(mode="json"),
        configuration={
            "name": configuration.name,
            **configuration.told(),
            "candidates": len(trial.terms),
            "dropped": trial.dropped,
        },
        checks=checks,
        tried=_tried(scan, choice),
        left_out=scan.left_out,
        weights=weights.rows(),
        selection=table,
        structures=_side_by_side(scan, choice, side, note),
        alike=interchangeable(columns, trial.terms, terms),
        validation=validation,
        tests=tests,
        curve=curve,
        rests=rests,
        summary=checked,
        refinement=refinement,
        warnings=warnings,
    )


def _compared(check: Check, scan: Scan, configuration: Configuration) -> Check:
    """Return the check of the sampling as it stands after decimations were compared."""
    strides = sorted({c.decimation for c in scan.configurations})
    if len(strides) == 1 or scan.sampling.advised == configuration.decimation == 1:
        return check
    advice = f"The model takes {configuration.decimation} of the compared decimations {', '.join(map(str, strides))}."
    return replace(check, status="fine" if scan.sampling.advised > 1 else check.status, advice=advice)


def _with_dropped(trial: Any, rows: Any) -> Check:
    names = [*trial.terms, *trial.dropped]
    monomials = [parse_term(name, trial.n_inputs, current=True) for name in names]
    return collinear_check(trial.arrangement.columns(monomials, rows), names, trial.dropped)


class _Fit:
    """Weights of one structure on the data, and on the data without a part."""

    def __init__(
        self,
        recording: Recording,
        configuration: Configuration,
        monomials: Sequence[Monomial],
        terms: Sequence[str],
        settings: IdentificationSettings,
    ) -> None:
        self.recording, self.configuration, self.settings = recording, configuration, settings
        self.monomials, self.terms = monomials, tuple(terms)
        self.scaling = scaling(recording, configuration.centred)
        self.known = recording.known
        max_lag = max((lag for m in monomials for _, lag in m), default=0)
        self.arrangement = Arrangement(
            [scaled(record, self.scaling) for record in self.known], configuration.decimation, max_lag, settings.blocks
        )

    def weights(self) -> Weights:
        """Return the least-squares weights on all rows that estimate."""
        arrangement = self.arrangement
        rows = arrangement.rows()
        # Records lie far apart, so that no correlation is taken from one to the next.
        apart = 2 * (1 + max(map(len, self.known)))
        return estimate(
            self.arrangement.columns(self.monomials, rows),
            arrangement.y[rows],
            terms=self.terms,
            times=arrangement.time[rows] + apart * arrangement.record[rows],
            bandwidth=newey_west_bandwidth(len(rows), arrangement.decimation),
        )

    def without(self, part: int) -> list[float]:
        """Return the least-squares weights on all rows that estimate but those of a part."""
        rows = self.arrangement.rows(part)
        found = orthogonalise(self.arrangement.columns(self.monomials, rows), self.arrangement.y[rows], self.terms)
        return [float(weight) for weight in found.coefficients]

    def refined(self, weights: Weights) -> tuple[list[float], str]:
        """Return the weights after the refinement that was asked for, and what it did."""
        plain = weights.coefficients.tolist()
        arrangement, refine = self.arrangement, self.settings.refine
        if refine == "simulation":
            selects = [record for record in arrangement.records if record.role == "selection"]
            estimates = [record for record in arrangement.records if record.role != "selection"]
            if not selects:
                # Every fourth part decides whether the weights that the others give are better.
                pieces = list(self._pieces(arrangement.records))
                decides = {part for part, _ in pieces if part % 4 == 3} or {pieces[-1][0]}
                estimates = [piece for part, piece in pieces if part not in decides]
                selects = [piece for part, piece in pieces if part in decides]
            refit = refit_by_simulation(
                self.monomials, plain, estimates, selects, decimation=self.configuration.decimation
            )
            return refit.coefficients.tolist(), refit.text
        if refine == "extended":
            rows = arrangement.rows()
            extended = extended_least_squares(
                self.arrangement.columns(self.monomials, rows),
                arrangement.y[rows],
                self._previous(rows),
                terms=self.terms,
            )
            if not extended.converged:
                return plain, "Extended least squares did not settle: the weights are those of plain least squares."
            noise = ", ".join(f"{value:.3g}" for value in extended.noise_coefficients.tolist())
            return (
                extended.coefficients.tolist(),
                f"Extended least squares with a moving average of the noise: {noise}.",
            )
        return plain, ""

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


def _rounded(matrix: Any) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(significant(value) for value in row) for row in matrix.tolist())


def _failures(method: str, runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what a reader must know of searches that have found nothing, as sentences."""
    told = []
    for note, then in ((STANDS_IN, "the best one of a forward regression stands in"), (NOTHING, "nor did others")):
        if count := sum(run["note"] == note for run in runs):
            told.append(
                f"In {count} of {len(runs)} searches {method} found no structure with a finite J: what it tried is "
                f"singular or diverges; {then}."
            )
    return told


def _tried(scan: Scan, choice: Choice) -> pd.DataFrame:
    """Return one row for each configuration with the best structure that was found in it."""
    best: dict[Configuration, tuple[Finalist, str]] = {}
    for kind, finalists in (("thoroughly", choice.finalists), ("briefly", choice.briefly)):
        for f in finalists:
            best.setdefault(f.configuration, (f, kind))
    rows = [
        {
            "configuration": c.name,
            "decimation": c.decimation,
            "degree": c.degree,
            "y_lags": _lags(c.y_lags),
            "u_lags": "; ".join(map(_lags, c.u_lags)),
            "centred": c.centred,
            "terms": len(f.terms),
            "rrse": f.rrse,
            "fitness": f.fitness if np.isfinite(f.fitness) else None,
            "divergent": f.divergent,
            "searched": kind,
            "chosen": c == choice.best.configuration,
        }
        for c, (f, kind) in best.items()
    ]
    rows.sort(key=lambda row: (not row["chosen"], row["fitness"] is None, row["fitness"] or 0.0, row["configuration"]))
    return pd.DataFrame(rows, dtype=object)


def _lags(lags: Sequence[int]) -> str:
    if len(lags) > 2 and list(lags) == list(range(lags[0], lags[-1] + 1)):
        return f"{lags[0]}-{lags[-1]}"
    return ", ".join(map(str, lags))


def _side_by_side(
    scan: Scan, choice: Choice, side: Mapping[str, Sequence[str]], note: str
) -> dict[str, dict[str, Any]]:
    configuration = choice.best.configuration
    told = {}
    for name, terms in side.items():
        (found,) = scan.finalists([(configuration, name, tuple(terms))], choice.density)
        told[name] = _worth(found, note if name != "best" else "")
    if choice.beside is not None:
        told[BESIDE] = _worth(choice.beside, "")
    return told


def _worth(found: Finalist, note: str) -> dict[str, Any]:
    finite = bool(np.isfinite(found.fitness))
    failed = "" if finite else "Terms depend on one another." if found.singular else "It diverges on the selection."
    return {
        "terms": list(found.terms),
        "rrse": found.rrse,
        "fitness": found.fitness if finite else None,
        "note": " ".join(filter(None, (note, failed))),
    }
