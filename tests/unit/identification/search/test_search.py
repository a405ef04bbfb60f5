"""Kernels of the search against plain computations: errors on unseen parts, J, bounds, ties, weights under noise."""

import math
from dataclasses import replace
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
from tests.lookups import values_of
from tests.regression import parse_terms, term_names

import narxbench
from narxbench._fitness.prediction_error import COMPARED, CONVERGED
from narxbench._identification.data.arrangement import N_PARTS, Arrangement
from narxbench._identification.joint import select_combination
from narxbench._identification.search.candidate import Candidate
from narxbench._identification.search.choice import error_scatter, tied
from narxbench._identification.search.competitors import selected_structure
from narxbench._identification.search.configurations import LAGS, Configuration, candidates, configurations
from narxbench._identification.search.noise import weigh_under
from narxbench._identification.search.outside import diverges_when_held, joint_run_diverges_when_held
from narxbench._identification.search.plan import chosen_stretches, plan_search
from narxbench._identification.search.problem import MOST_ROWS, MOST_STEPS, ConfigurationProblem
from narxbench._identification.search.proposals import brief_search, descent, in_units_of_the_user
from narxbench._identification.search.ridge import ridge_weights
from narxbench._identification.search.scores import CLEARLY_BETTER, holds, least_squares_errors, scored
from narxbench._identification.settings import IdentificationSettings
from narxbench._io.settings import validated
from narxbench._model.noise_models import BoxJenkins, Distribution, Narmax, Noe
from narxbench._model.records import Record, Recording

LINEAR = Configuration(1, 1, (1,), ((1,),))
QUICK = {"decimation": 1, "degree": 2, "y_lags": 2, "u_lags": 2, "effort": 0.3}
TERMS = ("y(k-1)", "u(k-1)", "y(k-1)*u(k-1)", "u(k-1)^2")


def settings_of(**values):
    return validated(IdentificationSettings, values, "test")


def recording_of(lengths=(150,), roles=(None,)):
    """Return records of a nonlinear process."""
    records = []
    for i, (n, role) in enumerate(zip(lengths, roles, strict=True)):
        rng = np.random.default_rng(i)
        u, y = rng.standard_normal(n), 0.1 * rng.standard_normal(n)
        for k in range(1, n):
            driven = 0.4 * u[k - 1] + 0.1 * u[k - 1] ** 2 - 0.1 * u[k - 1] * y[k - 1]
            y[k] = 0.5 * y[k - 1] + driven + 0.05 * rng.standard_normal()
        records.append(Record(str(i), u[:, None], y, role))
    return Recording(tuple(records), ("u",), "y")


# Errors on parts that the weights do not know, as far as results do not show them.


def test_the_error_one_step_ahead():
    recording, terms = recording_of(), ["1", "y(k-1)", "u(k-1)"]
    (sse,) = least_squares_errors(ConfigurationProblem(recording, LINEAR, settings_of(horizon=1), 1), [terms]).sse
    (record,) = recording.records
    columns, part = np.column_stack([np.ones(149), record.y[:-1], record.u[:-1, 0]]), np.arange(149) * N_PARTS // 149
    for number in range(N_PARTS):
        weights = np.linalg.lstsq(columns[part != number], record.y[1:][part != number], rcond=None)[0]
        errors = record.y[1:][part == number] - columns[part == number] @ weights
        assert sse[number] == pytest.approx(np.sum(errors**2), rel=1e-8)


def test_a_structure_that_is_singular_without_a_part_is_reported():
    """Show it with an input that moves in one part only."""
    (record,) = recording_of((200,)).records
    u = np.where((np.arange(200) >= 55) & (np.arange(200) < 70), record.u[:, 0], 0.0)
    tried = ConfigurationProblem(Recording((Record("r", u[:, None], record.y),), ("u",), "y"), LINEAR, settings_of(), 1)
    errors = least_squares_errors(tried, [["y(k-1)", "u(k-1)"], ["y(k-1)"]])
    assert errors.singular.tolist() == [True, False] and np.isinf(errors.sse[0]).any()


def test_long_records_are_simulated_in_pieces(rng):
    n = 4 * MOST_STEPS
    u = rng.standard_normal((n, 1))
    recording = Recording((Record("r", u, 0.5 * np.roll(u[:, 0], 1) + 0.01 * rng.standard_normal(n)),), ("u",), "y")
    tried = ConfigurationProblem(recording, Configuration(4, 1, (1, 2), ((1, 2),)), settings_of(), 4)
    assert len(tried.arrangement.rows()) <= MOST_ROWS and tried.arrangement.n_phases < 4
    segments = tried.whole().segments
    assert 0.8 * MOST_STEPS < sum(map(len, segments)) <= MOST_STEPS
    # They lie all over the record, in pieces that are long, and have their lags.
    starts = [tried.arrangement.time[segment.start] for segment in segments]
    assert min(starts) < 0.1 * n and max(starts) > 0.85 * n
    for segment in segments:
        assert tried.arrangement.has_lags[segment].all()
        assert set(np.diff(tried.arrangement.time[segment])) <= {4}


def test_long_records_are_searched_where_they_are_liveliest(rng):
    """All but the last record are at rest but for 100 samples of each section of 1000."""
    moves = (np.arange(8000) % 1000 // 100 == 6) * rng.uniform(-1, 1, 8000)
    records = (Record("a", moves[:, None], moves), Record("b", moves[:2000, None], moves[:2000], "selection"))
    recording = Recording((*records, Record("c", moves[:, None], moves, "test")), ("u",), "y")
    assert chosen_stretches(recording, 10_000, 8) is recording
    stretches = chosen_stretches(recording, 2000, 10).records
    assert [(stretch.role, len(stretch)) for stretch in stretches] == [(None, 200)] * 8 + [("selection", 200)] * 2
    for number, stretch in enumerate(stretches[:8]):
        assert np.count_nonzero(stretch.y) > 95
        start = int(stretch.name.split("samples ")[1].split(" to ")[0])
        assert 1000 * number < start <= 1000 * (number + 1)


@pytest.mark.parametrize(
    ("lengths", "roles"),
    [((8, 9), (None, None)), ((200, 8), ("estimation", "selection")), ((8, 200), ("estimation", "selection"))],
)
def test_records_that_are_too_short(lengths, roles):
    with pytest.raises(narxbench.NarxbenchError):
        ConfigurationProblem(recording_of(lengths, roles), Configuration(2, 1, (1, 5), ((1,),)), settings_of(), 1)


# J.


def plan_of(recording, **settings):
    plan = plan_search(recording, settings_of(**{**QUICK, **settings}))
    return plan, plan.configurations[0]


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
    structures = scored(plan, [Candidate(configuration, terms, f"run {len(terms)}") for terms in proposals], density)
    # Each structure once, the best first.
    assert (structures[0].terms, structures[0].found_by, len(structures)) == (TERMS, "run 4", 3)
    assert values_of(structures, "fitness") == sorted(values_of(structures, "fitness"))
    errors = least_squares_errors(plan.problem(configuration), [TERMS])
    relative = errors.sse.sum() / errors.energy.sum()
    assert structures[0].rrse == pytest.approx(math.sqrt(relative), rel=1e-12)
    expected = expected_fitness(relative, selected) + CLEARLY_BETTER * centred
    assert structures[0].fitness == pytest.approx(expected, rel=1e-9)
    assert (structures[0].divergent, structures[0].singular) == (0.0, False)


def test_what_diverges_on_one_part_has_no_score(rng):
    records = []
    for start in 1.5 + np.arange(20) / 50:
        records.append(Record("r", rng.standard_normal((4, 1)), start ** (2.0 ** np.arange(4))))
    records.append(Record("grows", rng.standard_normal((30, 1)), 2.0 + 0.1 * rng.standard_normal(30), "selection"))
    for number in range(3):
        records.append(Record(str(number), rng.standard_normal((9, 1)), 0.5 ** np.arange(9.0), "selection"))
    plan, configuration = plan_of(Recording(tuple(records), ("u",), "y"), y_lags=1, u_lags=1)
    (structure,) = scored(plan, [Candidate(configuration, ("y(k-1)^2",), "x")], 1)
    assert (structure.divergent, structure.singular, structure.fitness, structure.rrse) == (0.25, False, None, None)


def test_where_all_structures_diverge_those_of_inputs_are_tried(rng):
    y = np.where(np.arange(80) % 20 < 17, 0.1, 1e3) * (1 + rng.random(80))
    recording = Recording((Record("r", rng.standard_normal((80, 1)), y),), ("u",), "y")
    best = brief_search(*plan_of(recording, degree=3, y_lags=1, u_lags=1))
    assert best.fitness is not None and math.isfinite(best.rrse)


@pytest.mark.parametrize("start", [("1",), ("1", "y(k-2)", "u(k-2)"), TERMS[:2], TERMS])
def test_a_descent_ends_at_the_true_terms(start):
    plan, configuration = plan_of(recording_of((300,)))
    (begin,) = scored(plan, [Candidate(configuration, start, "x")], 1)
    end = descent(plan, begin, 1)
    assert end.fitness <= begin.fitness and set(TERMS) <= set(end.terms)


def test_linear_terms_of_centred_signals_are_also_given_in_units_of_the_user():
    plan, plain = plan_of(recording_of((300,)))
    centred = replace(plain, centred=True)
    proposals = [Candidate(centred, ("y(k-1)", "u(k-1)"), "x"), Candidate(centred, ("u(k-1)^2",), "x")]
    (proposal,) = in_units_of_the_user(plan, scored(plan, proposals, 1))
    assert proposal == Candidate(plain, ("1", "y(k-1)", "u(k-1)"), "x")


def test_a_long_effort_weighs_more_under_noise_models():
    (long, _), (thorough, _) = (
        plan_of(recording_of((20_000,)), effort=1.0),
        plan_of(recording_of((20_000,)), effort=200.0),
    )
    short, _ = plan_of(recording_of((400,)), effort=1.0)
    many = 12 * long.configurations
    assert long.effort.n_likely(many) < thorough.effort.n_likely(many) <= 12 == short.effort.n_likely(many)
    assert 1 <= long.effort.n_weighed(48) < 48 == short.effort.n_weighed(48) <= thorough.effort.n_weighed(48)


# Configurations that are scanned.


def scan(settings, decimations=(1,), samples=2000, roles=(None,)):
    """Return the configurations that a search with these settings tries on a recording."""
    records = []
    for role in roles:
        records.append(Record(str(len(records)), np.zeros((samples, 1)), np.zeros(samples), role))
    return configurations(Recording(tuple(records), ("u",), "y"), settings_of(**settings), decimations, [1])


def test_decimations_degrees_and_lags_are_scanned():
    expected = []
    for decimation, degree, n_lags in product((1, 4, 8), (1, 2, 3), LAGS):
        lags = tuple(range(1, n_lags + 1))
        configuration = Configuration(decimation, degree, lags, (lags,))
        if configuration.size <= 400:
            expected.append(configuration)
    assert scan({}, decimations=(1, 4, 8), samples=5000) == expected
    scanned = scan({"decimation": [4, 2, 4], "degree": [3, 1], "y_lags": 2, "u_lags": 1})
    assert values_of(scanned, "decimation") == [2, 2, 4, 4] and values_of(scanned, "degree") == [1, 3, 1, 3]
    # Where one signal has given lags, the lags of others are scanned.
    for configuration, n_lags in zip(scan({"y_lags": 2, "degree": 1}, samples=5000), LAGS, strict=True):
        assert (configuration.y_lags, len(configuration.u_lags[0])) == ((1, 2), n_lags)


def test_lags_are_no_more_than_the_samples_allow():
    for samples in (200, 600):
        for configuration in scan({}, decimations=(1, 4), samples=samples):
            assert samples >= 4 * N_PARTS * configuration.max_lag
            assert samples / configuration.decimation >= 4 * configuration.max_lag
    # The fewest lags are tried on the shortest data, and samples of the test do not count.
    assert {configuration.max_lag for configuration in scan({}, samples=30)} == {LAGS[0]}
    assert scan({}, samples=300, roles=(None, "test")) == scan({}, samples=300)
    # They are shorter than the records.
    for configuration in scan({}, decimations=(1, 2, 4), samples=10, roles=[None] * 60):
        assert configuration.max_lag * configuration.decimation < 10
    with pytest.raises(narxbench.NarxbenchError):
        scan({"y_lags": 10, "u_lags": 1}, samples=10, roles=[None] * 60)


def test_candidates_are_all_monomials_but_those_left_out():
    def names(**settings):
        return term_names(candidates(Configuration(1, 2, (1, 2), ((1, 2),)), settings_of(**settings)))

    assert names() == list(narxbench.candidate_terms(n_y=2, n_u=2, degree=2))
    assert (
        names(exclude=["*u(k-?)^*", "*u*u*", "1"])
        == [name for name in names() if name.count("u") <= 1 and "u(k-1)^2" not in name and "u(k-2)^2" not in name][1:]
    )
    further = names(include=["y(k-9)", "u(k) y(k-1)", "u(k-2)^4"], exclude=["y(k-1)^2", "*k-9*"])
    assert set(further) == {*names(), "y(k-1)*u(k)", "u(k-2)^4"} - {"y(k-1)^2"}


# Bounds, and runs over whole records.


def model(terms, coefficients, inputs=("u",)):
    return narxbench.Model(terms=terms, coefficients=coefficients, inputs=inputs, output="y")


@pytest.mark.parametrize(
    ("terms", "coefficients", "leaves"),
    [
        (("y(k-1)", "u(k-1)"), (0.8, 0.2), False),
        # An integrator stays near for long.
        (("y(k-1)", "u(k-1)"), (1.0, 0.1), False),
        (("y(k-1)", "u(k-1)"), (1.02, 0.2), True),
        # Stable on average, but not where the input is held at the end of its range.
        (("y(k-1)", "u(k-1)", "y(k-1)*u(k-1)"), (0.8, 0.1, 0.3), True),
        (("y(k-1)",), (0.99,), False),
        (("y(k-1)",), (1.02,), True),
    ],
)
def test_a_model_that_explodes_where_inputs_are_held_leaves_all_bounds(rng, terms, coefficients, leaves):
    inputs = ("u",) if len(terms) > 1 else ()
    u = rng.uniform(-1, 1, (300, 1))
    y = model(("y(k-1)", "u(k-1)"), (0.8, 0.2)).predict(u, np.full(4, 0.1), samples=300)
    assert diverges_when_held(model(terms, coefficients, inputs), u[:, : len(inputs)], y) is leaves


@pytest.mark.parametrize(("weight", "leaves"), [(0.4, False), (0.6, True)])
def test_two_outputs_that_drive_each_other_leave_all_bounds(rng, weight, leaves):
    terms, weights = ("y(k-1)", "u1(k-1)", "u2(k-1)"), (0.5, weight, 1.0)
    parts = narxbench.Model(terms, weights, ("b", "u"), "a"), narxbench.Model(terms, weights, ("a", "u"), "b")
    u, y = rng.uniform(-1, 1, (50, 1)), rng.uniform(-1, 1, (50, 2))
    assert joint_run_diverges_when_held(narxbench.JointModel(parts), u, y) == leaves


def test_a_run_that_grows_slowly_does_not_hold(rng):
    # An integrator: parts begin with measured outputs, and the error over the whole record is that of all parts.
    u, y = rng.standard_normal((600, 1)), np.zeros(600)
    for k in range(1, 600):
        y[k] = y[k - 1] + 0.1 * u[k - 1, 0] + 0.3 * rng.standard_normal()
    plan, configuration = plan_of(Recording((Record("r", u, y),), ("u",), "y"), degree=1, y_lags=1, u_lags=1)
    candidate = Candidate(configuration, TERMS[:2], "", candidates=3, fitness=0.0, rrse=0.05)
    assert not holds(plan, candidate)
    assert holds(plan, replace(candidate, rrse=10.0))


# Which of several leaves.

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
    assert error_scatter(PARTS, PARTS[::-1]) == error_scatter(PARTS[::-1], PARTS) > 0.0
    assert error_scatter(PARTS, PARTS[1:]) == error_scatter([], []) == 0.0


@pytest.mark.parametrize(
    ("sparse", "linear", "last_value", "holding", "expected"),
    [
        (0.105, 0.1, 0.5, ["linear"], "sparse"),
        (0.106, 0.1, 0.5, ["linear"], "linear"),
        # A model that does not hold over whole records is passed over; the last value always holds.
        (0.3, 0.1, 0.2, [], "last value"),
        (0.3, 0.1, 0.4, [], "sparse"),
        # Both are exact but for rounding.
        (1e-8, 1e-12, 0.5, ["linear"], "sparse"),
    ],
)
def test_the_sparse_model_leaves_while_its_error_is_within_the_limit(
    monkeypatch, sparse, linear, last_value, holding, expected
):
    competing = "narxbench._identification.search.competitors"
    monkeypatch.setattr(f"{competing}.holds", lambda _, competitor: competitor.kind in holding)
    monkeypatch.setattr(f"{competing}.diverges_when_held", lambda *_: False)
    best, linear_model, last = (
        Candidate(LINEAR, ("y(k-1)",), "", kind="sparse", rrse=sparse),
        Candidate(LINEAR, ("y(k-1)",), "", kind="linear", rrse=linear),
        Candidate(LINEAR, ("y(k-1)",), "", kind="last value", rrse=last_value),
    )
    assert selected_structure(None, best, [linear_model, last]).kind == expected
    # A series is judged farther ahead, too.
    best, linear_model = replace(best, rrse=0.1, ahead=sparse), replace(linear_model, rrse=0.1, ahead=linear)
    expected_ahead = best if sparse <= 1.05 * max(1e-6, linear) else linear_model
    assert selected_structure(None, best, [linear_model]) == expected_ahead


# Errors and numbers of terms of two outputs with two candidates each.
ERRORS = {(0, 0): 0.5, (0, 1): 0.103, (1, 0): math.inf, (1, 1): 0.1}
SIZES = {(0, 0): 2, (0, 1): 4, (1, 0): 5, (1, 1): 8}


@pytest.mark.parametrize(
    ("errors", "unbounded", "combination", "is_bounded"),
    [
        ({**ERRORS, (0, 1): 0.11}, (), (1, 1), True),
        (ERRORS, (), (0, 1), True),
        (ERRORS, ((1, 1), (0, 1)), (0, 0), True),
        (ERRORS, ((1, 1), (0, 1), (0, 0)), (0, 0), False),
    ],
)
def test_joint_models_have_the_fewest_terms_among_those_of_low_error_within_bounds(
    errors, unbounded, combination, is_bounded
):
    trial = SimpleNamespace(starts=((0, 0), (1, 1)), candidates=((None, None), (None, None)), is_driven=True)
    trial.error, trial.n_terms, trial.diverges_when_held = errors.get, SIZES.get, unbounded.__contains__
    selection = select_combination(trial)
    assert (selection.combination, selection.is_bounded) == (combination, is_bounded)
    assert selection.n_unbounded == len(unbounded) and selection.n_compared == 4


# Weights under noise models, and those of all candidates.


def fit_of(rng, noise_model, decimation=1, tolerance=CONVERGED):
    """Return a fit of y(k) = 0.8 y(k-1) + u(k-1) to data with this noise."""
    u, e, y = rng.standard_normal(1500), 0.5 * rng.standard_normal(1500), np.zeros(1500)
    is_on_output = noise_model.name in ("noe", "box-jenkins")
    for k in range(1, 1500):
        y[k] = 0.8 * y[k - 1] + u[k - 1]
        if not is_on_output:
            y[k] += e[k] + 0.7 * e[k - 1] * (noise_model.name == "narmax")
    arrangement = Arrangement([Record("r", u[:, None], y + e * is_on_output)], decimation, 1, 4)
    segments, monomials = arrangement.segments(arrangement.estimates()), parse_terms(TERMS[:2])
    return weigh_under(arrangement, monomials, segments, noise_model, tolerance=tolerance)


@pytest.mark.parametrize("decimation", [1, 3])
@pytest.mark.parametrize(
    "noise_model",
    [Narmax(ma_lags=(1, 2)), Noe(), BoxJenkins((1,)), Narmax(ma_lags=(1,), distribution=Distribution(4.0))],
    ids=lambda noise_model: noise_model.description,
)
def test_the_regression_about_the_weights_is_solved_by_them(rng, noise_model, decimation):
    fit = fit_of(rng, noise_model, decimation)
    columns, explained, rows = fit.regression()
    weights = [*fit.coefficients, *fit.fit.noise_weights]
    assert len(weights) == 2 + len(noise_model.ar_lags) + len(noise_model.ma_lags) and len(rows) == len(columns)
    # Outputs before each stretch are estimated too where the noise is on the output.
    np.testing.assert_allclose(np.linalg.lstsq(columns, explained, rcond=None)[0], weights, atol=1e-3)
    if decimation == 1:
        np.testing.assert_allclose(weights[:2], [0.8, 1.0], atol=0.05)


def test_fits_that_are_compared_are_as_likely():
    deviances = []
    for tolerance in (CONVERGED, COMPARED):
        fit = fit_of(np.random.default_rng(2), BoxJenkins((1,)), tolerance=tolerance)
        deviances.append(fit.errors.deviance(fit.fit))
    assert deviances[0] <= deviances[1] < deviances[0] + 1e-4


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
