"""Errors on parts that the weights do not know, against NumPy's least squares and plain free runs."""

import math
from itertools import compress

import numpy as np
import pytest
from tests.regression import numbers_of, parse_terms
from tests.unit.identification.search.test_configurations import settings_of

from narxbench._identification.data.arrangement import N_PARTS
from narxbench._identification.data.scaling import scaling
from narxbench._identification.search.configurations import Configuration
from narxbench._identification.search.problem import MOST_ROWS, MOST_STEPS, ConfigurationProblem
from narxbench._identification.search.scores import least_squares_errors
from narxbench._io.errors import NarxbenchError
from narxbench._model.records import Record, Recording
from narxbench._numerics.random_streams import generator

LINEAR = Configuration(1, 1, (1,), ((1,),))


def recording_of(lengths=(150,), roles=None, n_inputs=1, levels=False, decimation=1, shift=0.0):
    """Return records of a nonlinear process with lags of ``decimation`` samples."""
    records = []
    for i, (n, role) in enumerate(zip(lengths, roles or [None] * len(lengths), strict=True)):
        rng = generator(purpose="trial", record=i)
        u = rng.standard_normal((n, n_inputs))
        if levels:
            u = np.where(u < 0.0, 0.0, 5.0)
        y = 0.1 * rng.standard_normal(n)
        for k in range(decimation, n):
            past, before = u[k - decimation], y[k - decimation]
            driven = (0.4 * past + 0.1 * past**2 - 0.1 * past * before) / np.arange(1, n_inputs + 1)
            y[k] = 0.5 * before + 0.05 * rng.standard_normal() + driven.sum()
        records.append(Record(str(i), u + shift, y + shift, role))
    return Recording(tuple(records), tuple(f"in {j}" for j in range(n_inputs)), "y")


def standardised(signals):
    """Return signals of several records about their common mean, in units of their common deviation."""
    together = np.concatenate(signals)
    return [(signal - together.mean(axis=0)) / together.std(axis=0) for signal in signals]


class PlainErrors:
    """Errors of each part in loops: weights without the part, free runs phase by phase."""

    def __init__(self, recording, configuration, lag):
        self.stride, self.lag, self.n_inputs = configuration.decimation, lag, len(recording.inputs)
        self.records = [record for record in recording.records if record.role != "test"]
        self.u, self.y = [record.u for record in self.records], [record.y for record in self.records]
        if configuration.centred:
            self.u, self.y = standardised(self.u), standardised(self.y)
        self.bound = 1e6 * np.abs(np.concatenate(self.y)).max()
        self.parts = self.split()

    def numbers(self, *roles):
        """Return the numbers of the records with these roles."""
        return [number for number, record in enumerate(self.records) if record.role in roles]

    def samples(self, numbers):
        """Return record and time of all samples of some records that have their lags."""
        samples = []
        for i in numbers:
            samples += [(i, k) for k in range(self.lag * self.stride, len(self.records[i]))]
        return samples

    def split(self):
        """Return the samples of each part: records of the selection, or those that take turns."""
        selecting = self.numbers("selection")
        if selecting:
            return [self.samples([number]) for number in selecting]
        scored = self.samples(self.numbers(None) or range(len(self.records)))
        parts = [[] for _ in range(N_PARTS)]
        for place, sample in enumerate(scored):
            parts[place * N_PARTS // len(scored)].append(sample)
        return parts

    def product(self, monomial, outputs, i, k):
        """Return the value of a monomial at a sample from outputs by time."""
        value = 1.0
        for signal, lag in monomial:
            at = k - lag * self.stride
            value *= self.u[i][at, signal - 1] if signal else outputs[at]
        return value

    def weights(self, monomials, part):
        """Return the weights without a part, and whether the regression is singular."""
        rows, explained = [], []
        for i, k in self.samples(self.numbers(None, "estimation")):
            if (i, k) not in part:
                rows.append([self.product(monomial, self.y[i], i, k) for monomial in monomials])
                explained.append(self.y[i][k])
        weights, _, rank, _ = np.linalg.lstsq(np.array(rows), np.array(explained), rcond=None)
        return weights, rank < len(monomials)

    def free_run_error(self, monomials, weights, part):
        """Return the sum of squared errors of free runs over a part."""
        simulated, sse = {}, 0.0
        for i, k in sorted(part):
            outputs = {}
            for at in range(k - self.lag * self.stride, k, self.stride):
                outputs[at] = simulated.get((i, at), self.y[i][at])
            value = 0.0
            for monomial, weight in zip(monomials, weights, strict=True):
                value += weight * self.product(monomial, outputs, i, k)
            if not abs(value) <= self.bound:
                return math.inf
            simulated[i, k] = value
            sse += (self.y[i][k] - value) ** 2
        return sse

    def of_structure(self, terms):
        """Return the sum of squared errors of each part, and whether any of the regressions is singular."""
        monomials = parse_terms(terms, self.n_inputs)
        sse, is_singular = [], False
        for part in self.parts:
            weights, is_part_singular = self.weights(monomials, set(part))
            is_singular |= bool(is_part_singular)
            sse.append(self.free_run_error(monomials, weights, part))
        return sse, is_singular

    def energy(self):
        """Return the sum of squares of each part about the mean of all parts."""
        outputs = []
        for part in self.parts:
            outputs.append(np.array([self.y[i][k] for i, k in part]))
        mean = np.concatenate(outputs).mean()
        return [np.sum((y - mean) ** 2) for y in outputs]


CASES = {
    "centred": ({"shift": 3.0}, Configuration(1, 2, (1, 2), ((1,),), True)),
    "decimation": ({"lengths": (200,), "decimation": 3}, Configuration(3, 2, (1,), ((0, 1),))),
    "records": ({"lengths": (90, 60, 70)}, Configuration(2, 2, (1,), ((1, 2),))),
    "selection": (
        {"lengths": (90, 60, 70, 50), "roles": (None, "selection", "test", "selection"), "decimation": 2},
        Configuration(2, 2, (1, 2), ((1, 2),)),
    ),
    "two inputs": ({"n_inputs": 2}, Configuration(1, 2, (1,), ((1,), (0, 1)))),
}


@pytest.mark.parametrize("name", CASES)
def test_errors_of_parts(name):
    options, configuration = CASES[name]
    recording = recording_of(**options)
    tried = ConfigurationProblem(recording, configuration, settings_of(), 1)
    rng = generator(purpose="structures", case=name)
    structures = [tried.terms[:1], tried.terms[:3], tried.terms]
    for _ in range(4):
        structures.append(sorted(rng.choice(tried.terms, 3, replace=False), key=tried.terms.index))
    errors = least_squares_errors(tried, structures)
    plain = PlainErrors(recording, configuration, tried.arrangement.max_lag)
    assert errors.steps.tolist() == list(map(len, plain.parts))
    np.testing.assert_allclose(errors.energy, plain.energy(), rtol=1e-9)
    for number, terms in enumerate(structures):
        sse, is_singular = plain.of_structure(terms)
        assert not is_singular and not errors.singular[number]
        np.testing.assert_allclose(errors.sse[number], sse, rtol=1e-6)
    # None of them looks at its neighbours, and the order of terms is all the same.
    alone = least_squares_errors(tried, [structures[3][::-1]])
    assert alone.sse[0].tobytes() == errors.sse[3].tobytes()


def test_the_error_one_step_ahead():
    recording, terms = recording_of(), ["1", "y(k-1)", "u(k-1)"]
    tried = ConfigurationProblem(recording, LINEAR, settings_of(horizon=1), 1)
    (sse,) = least_squares_errors(tried, [terms]).sse
    (record,) = recording.records
    columns, part = np.column_stack([np.ones(149), record.y[:-1], record.u[:-1, 0]]), np.arange(149) * N_PARTS // 149
    for number in range(N_PARTS):
        weights = np.linalg.lstsq(columns[part != number], record.y[1:][part != number], rcond=None)[0]
        errors = record.y[1:][part == number] - columns[part == number] @ weights
        assert sse[number] == pytest.approx(np.sum(errors**2), rel=1e-8)
    # By default a series without an input is judged by it.
    series = recording_of(n_inputs=0), Configuration(1, 1, (1,), ())
    assert ConfigurationProblem(*series, settings_of(), 1).error == "one_step"
    assert ConfigurationProblem(recording, LINEAR, settings_of(), 1).error == "free_run"


def test_the_problem_that_is_searched_has_weights_of_all_rows_and_free_runs_over_all_parts():
    tried = ConfigurationProblem(recording_of((90, 60)), Configuration(2, 2, (1,), ((1, 2),)), settings_of(), 1)
    problem, arrangement = tried.whole(), tried.arrangement
    rows, terms = problem.estimation_rows, ["y(k-1)", "u(k-1)", "u(k-1)^2"]
    assert len(rows) == 90 + 60 - 2 * 2 * 2 and sum(map(len, problem.segments)) == len(rows)
    problems = {None: problem, **{part: problem_of_part for part, _, problem_of_part in tried.parts}}
    for part, problem in problems.items():
        rows_of_problem = problem.estimation_rows
        assert sorted(rows_of_problem) == sorted(rows[arrangement.part[rows] != part])
        columns = arrangement.columns(tried.monomials, rows_of_problem)
        np.testing.assert_allclose(problem.data.gram[:-1, :-1], columns.T @ columns, rtol=1e-9, atol=1e-9)
        members = numbers_of(tried, terms)
        weights = np.linalg.lstsq(columns[:, members], arrangement.y[rows_of_problem], rcond=None)[0]
        np.testing.assert_allclose(problem.evaluate(terms).coefficients, weights, rtol=1e-8)
        if part is not None:
            assert problem.evaluate(terms).sse == pytest.approx(
                least_squares_errors(tried, [terms]).sse[0, part], rel=1e-12
            )


def test_no_structure_of_what_collinear_candidates_leave_is_singular():
    tried = ConfigurationProblem(
        recording_of((300,), levels=True), Configuration(1, 3, (1,), ((1, 2),)), settings_of(), 1
    )
    assert {"u(k-1)^2", "u(k-1)^3", "u(k-2)^2", "y(k-1)*u(k-1)^2", "u(k-1)^2*u(k-2)"} <= set(tried.dropped)
    assert not set(tried.terms) & set(tried.dropped)
    rng = generator(purpose="subsets")
    structures = []
    for probability in np.linspace(0.2, 1.0, 20):
        members = rng.random(len(tried.terms)) < probability
        if members.any():
            structures.append(list(compress(tried.terms, members)))
    assert not least_squares_errors(tried, structures).singular.any()


def test_a_structure_that_is_singular_without_a_part_is_reported():
    """Show it with an input that moves in one part only."""
    (record,) = recording_of((200,)).records
    u = np.where((np.arange(200) >= 55) & (np.arange(200) < 70), record.u[:, 0], 0.0)
    recording = Recording((Record("r", u[:, None], record.y),), ("u",), "y")
    tried = ConfigurationProblem(recording, LINEAR, settings_of(), 1)
    errors = least_squares_errors(tried, [["y(k-1)", "u(k-1)"], ["y(k-1)"]])
    assert errors.singular.tolist() == [True, False] and np.isinf(errors.sse[0]).any()


def test_a_constant_signal_has_no_scale_of_its_own():
    flat = Recording((Record("r", np.full((30, 1), 4.0), np.arange(30.0)),), ("u",), "y")
    offsets, scales = scaling(flat, True)
    assert (offsets[1], scales[1]) == (4.0, 1.0)


def test_long_records_are_simulated_in_pieces():
    rng, n = generator(purpose="long"), 4 * MOST_STEPS
    u = rng.standard_normal((n, 1))
    recording = Recording((Record("r", u, 0.5 * np.roll(u[:, 0], 1) + 0.01 * rng.standard_normal(n)),), ("u",), "y")
    tried = ConfigurationProblem(recording, Configuration(4, 1, (1, 2), ((1, 2),)), settings_of(), 4)
    assert len(tried.arrangement.rows()) <= MOST_ROWS and tried.arrangement.n_phases < 4
    assert 0.8 * MOST_STEPS < sum(map(len, tried.whole().segments)) <= MOST_STEPS
    segments = tried.whole().segments
    # They lie all over the record, in pieces that are long, and have their lags.
    starts = [tried.arrangement.time[segment.start] for segment in segments]
    assert min(starts) < 0.1 * n and max(starts) > 0.85 * n
    for segment in segments:
        assert tried.arrangement.has_lags[segment].all()
        assert set(np.diff(tried.arrangement.time[segment])) <= {4}


@pytest.mark.parametrize(
    ("lengths", "roles"),
    [((8, 9), None), ((200, 8), ("estimation", "selection")), ((8, 200), ("estimation", "selection"))],
)
def test_records_that_are_too_short(lengths, roles):
    with pytest.raises(NarxbenchError):
        ConfigurationProblem(recording_of(lengths, roles), Configuration(2, 1, (1, 5), ((1,),)), settings_of(), 1)
