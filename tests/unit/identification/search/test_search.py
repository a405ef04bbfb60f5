"""Kernels of the search against plain computations: J, bounds, ties, weights under noise."""

import math
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from tests.lookups import roles_of, values_of
from tests.regression import parse_terms

import narxbench
from narxbench._identification.data.arrangement import N_PARTS, Arrangement
from narxbench._identification.joint import select_combination
from narxbench._identification.search.candidate import Candidate
from narxbench._identification.search.choice import error_scatter, tied
from narxbench._identification.search.competitors import selected_structure
from narxbench._identification.search.configurations import LAGS, Configuration, configurations
from narxbench._identification.search.noise import weigh_under
from narxbench._identification.search.outside import diverges_when_held
from narxbench._identification.search.plan import chosen_stretches, plan_search
from narxbench._identification.search.problem import ConfigurationProblem, shortened
from narxbench._identification.search.proposals import brief_search, in_units_of_the_user
from narxbench._identification.search.ridge import ridge_weights
from narxbench._identification.search.scores import CLEARLY_BETTER, least_squares_errors, scored
from narxbench._identification.settings import IdentificationSettings
from narxbench._io.settings import validated
from narxbench._model.noise_models import BoxJenkins, Distribution, Narmax, Noe
from narxbench._model.records import Record, Recording

LINEAR = Configuration(1, 1, (1,), ((1,),))
QUICK = {"decimation": 1, "degree": 2, "y_lags": 2, "u_lags": 2, "effort": 0.3}
TERMS = ("y(k-1)", "u(k-1)", "y(k-1)*u(k-1)", "u(k-1)^2")


def settings_of(**values):
    return validated(IdentificationSettings, values, "test")


def recording_of(lengths=(300,), roles=(None,)):
    """Return records of S1."""
    records = []
    for place, (samples, role) in enumerate(zip(lengths, roles, strict=True)):
        u, y = narxbench.load_system("S1").simulate(samples, snr_db=20, seed=place)
        records.append(Record(str(place), u[:, None], y, role))
    return Recording(tuple(records), ("u",), "y")


def plan_of(recording, **settings):
    plan = plan_search(recording, settings_of(**{**QUICK, **settings}))
    return plan, plan.configurations[0]


# What is searched of long records.


def test_long_segments_are_simulated_in_pieces_from_all_over_them():
    pieces = shortened([range(30_000), range(31_000, 71_000)], 20_000, 2)
    assert sum(map(len, pieces)) == 20_000 and set(map(len, pieces)) == {500}
    assert pieces[0].start == 0 and pieces[-1].stop > 69_000 and max(np.diff(values_of(pieces, "start"))) <= 3000


def test_long_records_are_searched_where_they_are_liveliest(rng):
    """All but the last record are at rest but for 100 samples of each section of 1000."""
    moves = (np.arange(8000) % 1000 // 100 == 6) * rng.uniform(-1, 1, 8000)
    records = (Record("a", moves[:, None], moves), Record("b", moves[:2000, None], moves[:2000], "selection"))
    recording = Recording((*records, Record("c", moves[:, None], moves, "test")), ("u",), "y")
    assert chosen_stretches(recording, 10_000, 8) is recording
    stretches = chosen_stretches(recording, 2000, 10).records
    assert roles_of(stretches) == [None] * 8 + ["selection"] * 2 and set(map(len, stretches)) == {200}
    for number, stretch in enumerate(stretches[:8]):
        assert np.count_nonzero(stretch.y) > 95
        start = int(stretch.name.split("samples ")[1].split(" to ")[0])
        assert 1000 * number < start <= 1000 * (number + 1)


def test_records_that_are_too_short():
    with pytest.raises(narxbench.NarxbenchError, match=r"records: found none that is long enough, at most 9 samples"):
        ConfigurationProblem(recording_of((8, 9), (None, None)), replace(LINEAR, y_lags=(1, 9)), settings_of(), 1)


def test_lags_are_no_more_than_the_samples_allow():
    def scan(samples, decimations=(1,), roles=(None,), **settings):
        records = [Record(str(role), np.zeros((samples, 1)), np.zeros(samples), role) for role in roles]
        return configurations(Recording(tuple(records), ("u",), "y"), settings_of(**settings), decimations, [1])

    for configuration in scan(600, (1, 4)):
        assert 4 * max(N_PARTS, configuration.decimation) * configuration.max_lag <= 600
    # The fewest lags are tried on the shortest data, and samples of the test do not count.
    assert set(values_of(scan(30), "max_lag")) == {LAGS[0]}
    assert scan(300, roles=(None, "test")) == scan(300)
    # They are shorter than the records.
    for configuration in scan(10, (1, 2, 4), roles=[None] * 60):
        assert configuration.max_lag * configuration.decimation < 10
    with pytest.raises(narxbench.NarxbenchError):
        scan(10, roles=[None] * 60, y_lags=10, u_lags=1)


# J.


def expected_fitness(relative, independent):
    """Return the extended BIC of 4 of 15 terms: ln of the number of structures with 4 of these comes on top."""
    return independent * math.log(relative) + math.log(independent) * 4 + math.log(math.comb(15, 4))


@pytest.mark.parametrize(
    ("roles", "density", "centred", "selected"),
    # J counts the samples that its error is taken over, those of the selection.
    [((None,), 1, False, 300), ((None,), 5, True, 60), (("estimation", "selection", "test"), 1, False, 300)],
)
def test_j(roles, density, centred, selected):
    plan, configuration = plan_of(recording_of((300,) * len(roles), roles))
    configuration = replace(configuration, centred=centred)
    proposals = [("1", "y(k-1)"), TERMS, TERMS[:2], TERMS, ()]
    proposals = list(map(partial(Candidate, configuration, found_by="run"), proposals))
    structures = scored(plan, proposals, density)
    # Each structure once, the best first.
    assert (structures[0].terms, structures[0].found_by, len(structures)) == (TERMS, "run", 3)
    problem = plan.problem(configuration)
    squares, _ = least_squares_errors(problem, [TERMS])
    measured = np.concatenate(problem.measured_parts)
    relative = squares.sum() / np.sum((measured - measured.mean()) ** 2)
    assert structures[0].rrse == pytest.approx(math.sqrt(relative), rel=1e-12)
    expected = expected_fitness(relative, selected) + CLEARLY_BETTER * centred
    assert structures[0].fitness == pytest.approx(expected, rel=1e-9)


def test_where_all_structures_diverge_those_of_inputs_are_tried(rng):
    y = np.where(np.arange(80) % 20 < 17, 0.1, 1e3) * (1 + rng.random(80))
    recording = Recording((Record("r", rng.standard_normal((80, 1)), y),), ("u",), "y")
    assert brief_search(*plan_of(recording, degree=3, y_lags=1, u_lags=1)).fitness is not None


def test_linear_terms_of_centred_signals_are_also_given_in_units_of_the_user():
    plan, plain = plan_of(recording_of())
    centred = replace(plain, centred=True)
    proposals = [Candidate(centred, ("y(k-1)", "u(k-1)"), "x"), Candidate(centred, ("u(k-1)^2",), "x")]
    (proposal,) = in_units_of_the_user(plan, scored(plan, proposals, 1))
    assert proposal == Candidate(plain, ("1", "y(k-1)", "u(k-1)"), "x")


# Bounds.


@pytest.mark.parametrize(
    ("terms", "coefficients", "diverges"),
    [
        (("y(k-1)", "u(k-1)"), (0.8, 0.2), False),
        # An integrator stays near for long.
        (("y(k-1)", "u(k-1)"), (1.0, 0.1), False),
        # Stable on average, but not where the input is held at the end of its range.
        (("y(k-1)", "u(k-1)", "y(k-1)*u(k-1)"), (0.8, 0.1, 0.3), True),
        (("y(k-1)",), (0.99,), False),
        (("y(k-1)",), (1.02,), True),
    ],
)
def test_a_model_that_explodes_where_inputs_are_held(rng, terms, coefficients, diverges):
    inputs = ("u",)[: len(terms) - 1]
    u = rng.uniform(-1, 1, (300, 1))
    y = narxbench.Model(("y(k-1)", "u(k-1)"), (0.8, 0.2), ("u",), "y").predict(u, np.full(4, 0.1), samples=300)
    model = narxbench.Model(terms, coefficients, inputs, "y")
    assert diverges_when_held(model, u[:, : len(inputs)], y) is diverges


# Which of several is selected.

PARTS = [0.01, 0.02, 0.015, 0.012]


def candidate(fitness, parts, decimation=1):
    rrse, configuration = float(np.sqrt(np.mean(parts))), replace(LINEAR, decimation=decimation)
    return Candidate(configuration, ("u(k-1)",), "", fitness=fitness, rrse=rrse, candidates=9, parts=tuple(parts))


def test_candidates_that_are_equally_good_tie():
    best, near = candidate(-100.0, PARTS), candidate(-98.0, PARTS[::-1])
    worse = candidate(-98.0, [1.2 * part for part in PARTS[::-1]])
    far, coarse = candidate(500.0, PARTS[::-1]), candidate(-98.0, PARTS[::-1], decimation=2)
    assert tied([best, near, worse, far, coarse], 100.0) == [best, near]
    # Errors that go up and down together differ by more than chance.
    assert tied([best, candidate(-99.9, [1.01 * part for part in PARTS])], 100.0) == [best]
    assert error_scatter(PARTS, PARTS[1:]) == error_scatter([], []) == 0.0


@pytest.mark.parametrize(
    ("sparse", "linear", "last_value", "holding", "expected"),
    [
        (0.105, 0.1, 0.5, ["linear"], "sparse"),
        (0.106, 0.1, 0.5, ["linear"], "linear"),
        # A model that does not hold over whole records is passed over, and the last value always holds.
        (0.3, 0.1, 0.2, [], "last value"),
        # Both are exact but for rounding.
        (1e-8, 1e-12, 0.5, ["linear"], "sparse"),
    ],
)
def test_the_sparse_model_is_selected_within_the_limit(monkeypatch, sparse, linear, last_value, holding, expected):
    competing = "narxbench._identification.search.competitors"
    monkeypatch.setattr(f"{competing}.holds", lambda _, competitor: competitor.kind in holding)
    monkeypatch.setattr(f"{competing}.diverges_when_held", lambda *_: False)
    errors = {"sparse": sparse, "linear": linear, "last value": last_value}
    best, *others = (Candidate(LINEAR, TERMS[:1], "", kind=kind, rrse=rrse) for kind, rrse in errors.items())
    assert selected_structure(None, best, others).kind == expected
    # A series is judged farther ahead, too.
    best, other = replace(best, rrse=0.1, ahead=sparse), replace(others[0], rrse=0.1, ahead=linear)
    is_as_good = sparse <= 1.05 * max(1e-6, linear)
    assert (selected_structure(None, best, [other]) == best) is is_as_good


# Errors and numbers of terms of two outputs with two candidates each.
ERRORS = {(0, 0): 0.5, (0, 1): 0.103, (1, 0): math.inf, (1, 1): 0.1}
SIZES = {(0, 0): 2, (0, 1): 4, (1, 0): 5, (1, 1): 8}


@pytest.mark.parametrize(
    ("unbounded", "combination", "is_bounded"),
    [((), (0, 1), True), (((1, 1), (0, 1)), (0, 0), True), (((1, 1), (0, 1), (0, 0)), (0, 0), False)],
)
def test_joint_models_have_the_fewest_terms_among_those_of_low_error_within_bounds(unbounded, combination, is_bounded):
    trial = SimpleNamespace(starts=((0, 0), (1, 1)), candidates=((None, None), (None, None)), is_driven=True)
    trial.error, trial.n_terms, trial.diverges_when_held = ERRORS.get, SIZES.get, unbounded.__contains__
    selection = select_combination(trial)
    assert (selection.combination, selection.is_bounded) == (combination, is_bounded)
    assert selection.n_unbounded == len(unbounded) and selection.n_compared == 4


# Weights under noise models, and those of all candidates.


@pytest.mark.parametrize("decimation", [1, 3])
@pytest.mark.parametrize(
    "noise_model",
    [Narmax(ma_lags=(1, 2)), Noe(), BoxJenkins((1,)), Narmax(ma_lags=(1,), distribution=Distribution(4.0))],
    ids=lambda noise_model: noise_model.description,
)
def test_the_regression_about_the_weights_is_solved_by_them(rng, noise_model, decimation):
    """The data are y(k) = 0.8 y(k-1) + u(k-1) with this noise."""
    u, e, y = rng.standard_normal(1500), 0.5 * rng.standard_normal(1500), np.zeros(1500)
    is_on_output = noise_model.name in ("noe", "box-jenkins")
    for k in range(1, 1500):
        y[k] = 0.8 * y[k - 1] + u[k - 1]
        if not is_on_output:
            y[k] += e[k] + 0.7 * e[k - 1]
    arrangement = Arrangement([Record("r", u[:, None], y + e * is_on_output)], decimation, 1, 4)
    segments = arrangement.segments(arrangement.estimates())
    fit = weigh_under(arrangement, parse_terms(TERMS[:2]), segments, noise_model)
    columns, explained, rows = fit.regression()
    weights = [*fit.coefficients, *fit.fit.noise_weights]
    assert len(weights) == 2 + len(noise_model.ar_lags) + len(noise_model.ma_lags) and len(rows) == len(columns)
    # Outputs before each stretch are estimated too where the noise is on the output.
    np.testing.assert_allclose(np.linalg.lstsq(columns, explained, rcond=None)[0], weights, atol=1e-3)
    if decimation == 1:
        np.testing.assert_allclose(weights[:2], [0.8, 1.0], atol=0.05)


def test_ridge_weights_shrink_all_but_the_constant(rng):
    columns = np.column_stack([np.ones(500), 3.0 + rng.standard_normal((500, 2))])
    y = columns @ [5.0, 1.0, -2.0]
    monomials = parse_terms(("1", "y(k-1)", "u(k-1)"))
    products = np.column_stack([columns, y]).T @ np.column_stack([columns, y])
    weights, shrunk = ridge_weights(products, monomials, 0.0), ridge_weights(products, monomials, 1.0)
    np.testing.assert_allclose(weights, [5.0, 1.0, -2.0], rtol=1e-6)
    assert np.all(np.abs(shrunk[1:]) < 0.8 * np.abs(weights[1:]))
    # The constant makes up for the mean.
    assert math.isclose(columns.mean(axis=0) @ shrunk, y.mean(), rel_tol=1e-6)
