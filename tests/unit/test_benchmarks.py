"""The benchmarks compare equal errors; nothing here measures time."""

import dataclasses
import re
from itertools import compress

import numpy as np
import pytest
from benchmarks import bands, common, coverage, evaluation, measured, search, speed
from tests import reference

import narxbench

CASES = [("S1", 10), ("S3", 20), ("S4", 33)]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]}-{case[1]}")
def case(request):
    name, cardinality = request.param
    system, problem, u, y = common.make_problem(name)
    positions = evaluation.structures(problem, y, cardinality, count=3)
    orders = {"n_u": system.n_u, "n_y": system.n_y}
    expected = []
    for row in positions:
        _, error = reference.evaluate(u, y, evaluation.terms_of(problem, row), **orders)
        assert np.isfinite(error)
        expected.append(error)
    return problem, u, y, positions, expected


@pytest.mark.parametrize("name", evaluation.IMPLEMENTATIONS)
def test_every_implementation_computes_the_same_error(name, case):
    implementation, package, _ = evaluation.IMPLEMENTATIONS[name]
    pytest.importorskip(package, reason=f"{package} is a peer that only the benchmarks need")
    if package == "sysidentpy" and not hasattr(np, "in1d"):
        pytest.skip("the simulation of this SysIdentPy needs numpy.in1d, which newer versions of NumPy do not have")
    problem, u, y, positions, expected = case
    np.testing.assert_allclose(implementation(problem, u, y)(positions), expected, rtol=evaluation.TOLERANCE)


def test_a_batch_may_hold_structures_of_different_sizes(case):
    problem, u, y, positions, _ = case
    mixed = np.concatenate((positions, evaluation.structures(problem, y, 5, count=2)))
    errors = evaluation.numpy_batch(problem, u, y)(mixed)
    np.testing.assert_allclose(errors, problem.evaluate_positions(mixed)[1], rtol=evaluation.TOLERANCE)


def test_a_different_error_stops_the_benchmark():
    with pytest.raises(SystemExit, match="FAIL: other on S1"):
        evaluation.check_equal("other", "S1", [1.0, 2.0], [1.0, 2.001])


def test_greedy_search_is_the_first_descent_of_the_stepwise_one():
    problem = common.make_problem("S1")[1]
    position, evaluations = search.greedy(problem, None, None, seed=1, evaluations=0)
    result = narxbench.search(problem, algorithm="stepwise", seed=1, evaluations=evaluations)
    assert list(compress(problem.terms, position)) == result.terms


def test_the_results_begin_with_the_table_of_speeds():
    results = common.ROOT / "benchmarks" / "results.csv"
    short = speed.in_short(speed.read_rows(results))
    assert f"\n\n{short}\n## One evaluation\n" in results.with_suffix(".md").read_text("utf-8")
    assert "| one evaluation of 20 terms: narxbench" in short


def test_table_of_speeds():
    row = common.Row
    timings = [
        row("evaluation", "S1, 33 terms", "fastcan NARX", "microseconds", 1.0),
        row("search", "S1", "narxbench GA", "cpu_seconds", 0.02),
        row("first_use", "empty cache", "ga", "wall", 3.0),
        row("first_use", "filled cache", "ga", "wall", 4.0),
        row("pipeline", "2880 runs", "whole run", "wall", 61.0),
    ]
    for i in (1, 2, 3):
        timings.append(row("evaluation", f"S{i}, 20 terms", "fastcan NARX", "microseconds", 1000.0 * i))
        timings.append(row("evaluation", f"S{i}, 20 terms", "fastcan NARX", "ratio", 10.0 * i))
    for n in (2880, 10008, 100008):
        timings.append(row("scaling", f"{n}, 1 a job", "runs of the study", "wall", n / 1000))
    lines = speed.speed_table(timings).splitlines()[2:]
    values = [line.strip("| ").partition(" | ")[2] for line in lines]
    assert values == ["2000 µs | 20", "0.020 s", "3.0 s", "61 s", "2.9 s", "100 s"]


def test_coverage_by_hand():
    intervals = [{"a": (1.0, 2.0), "b": (0.0, 9.0)}, {"a": (2.5, 4.0), "b": (0.0, 9.0)}]
    # The expected value is 2.
    assert coverage.coverage(np.array([1, 3]), intervals) == {"a": (0.5, 1.25), "b": (1.0, 9.0)}


def test_intervals_of_runs_that_agree():
    chosen = np.tile([True, True, False, False], (40, 1))
    rng = np.random.default_rng(1)
    intervals = coverage.distinct_terms(chosen, rng)
    assert intervals["bootstrap"] == (2, 2)
    assert intervals["exact binomial"] == pytest.approx((4 * 0.0676, 4 * 0.9324), abs=5e-4)
    # No term was chosen once or twice: Chao's number is that of the terms seen.
    assert intervals["over Chao's number"] == pytest.approx((2 * 0.1581, 2), abs=5e-4)
    assert coverage.largest_count(chosen, rng)["Wilson"] == pytest.approx((40 * 0.9124, 40), abs=5e-3)


def test_the_intervals_in_use_cover_as_often_as_they_claim():
    text = (common.ROOT / "benchmarks" / "coverage.md").read_text("utf-8")
    in_use = re.findall(r"^\| smallest[^|]*\|[^|]*\|[ *]*([\d.]+)", text, re.MULTILINE)
    ratio, largest = map(float, in_use)
    # The standard error of a share of 0.95 in 1000 draws is 0.007.
    assert ratio >= 0.95
    assert largest >= 0.93


@pytest.mark.slow
def test_measured_data_are_compared_with_all_packages():
    case = measured.two_records(400, 200)
    identification, outcomes = measured.all_outcomes(case, small=True)
    lines = measured.lines_of(case, outcomes)
    assert measured.main_table([(case, lines)]).count("\n") == 2 + len(lines)
    errors_by_method = {}
    for line in lines:
        errors_by_method.setdefault(line.outcome.method, []).append(line.all_samples)
    methods = [line.outcome.method for line in lines if not line.outcome.hindsight]
    assert methods == ["narxbench", *measured.grid(small=True)] == [*errors_by_method]
    check_errors(case.test, lines)
    predicted = identification.model.predict(case.test.u, case.test.y)
    assert (lines[0].outcome.predicted == predicted).all()
    for name in measured.grid(small=True):
        chosen, best = errors_by_method[name]
        assert best <= chosen + 0.01


def check_errors(test, lines):
    """Check that methods predict from the same first samples, and that their errors leave these out."""
    first = max(line.outcome.initial for line in lines)
    for line in lines:
        outcome = line.outcome
        assert (outcome.predicted[: outcome.initial] == test.y[: outcome.initial]).all()
        assert line.all_samples == pytest.approx(measured.rrse(test.y, outcome.predicted, first))
        assert line.all_samples < 1


@pytest.mark.parametrize("stride", [1, 3])
def test_a_free_run_has_all_phases(stride):
    """y(k) = 0.5 y(k - stride) + u(k - stride), exactly."""
    rng = np.random.default_rng(1)
    u, y = rng.normal(size=(60, 1)), np.zeros(60)
    for k in range(stride, 60):
        y[k] = 0.5 * y[k - stride] + u[k - stride, 0]

    def predict(record):
        predicted = record.y.copy()
        predicted[1:] = 0
        for k in range(1, len(predicted)):
            predicted[k] = 0.5 * predicted[k - 1] + record.u[k - 1, 0]
        return predicted

    record = measured.Signals(u, y)
    simulated = measured.free_run(measured.Fitted(predict, 1, 2), record, stride, 0)
    np.testing.assert_allclose(simulated, y, atol=1e-12)


def test_simulated_data_are_those_of_their_truth():
    case = measured.oversampled(300, 200)
    u, y = case.test.u[:, 0], case.test.clean
    k = np.arange(20, 200)
    a, b, c, d = y[k - 10], y[k - 20], u[k - 10], u[k - 20]
    np.testing.assert_allclose(y[k], 1.2 * a - 0.45 * b + 0.3 * c + 0.15 * a * c - 0.2 * d * d, atol=1e-12)
    again = measured.oversampled(300, 200)
    assert (again.test.y == case.test.y).all() and (again.training[0].y != case.test.y[0]).any()
    assert measured.rrse(case.test.y, np.full(200, case.test.y.mean())) == pytest.approx(1)
    assert (measured.wiener(100, 50, 0).test.y != measured.wiener(100, 50, 1).test.y).any()


@pytest.mark.slow
def test_shares_of_samples_that_bands_hold():
    case = bands._shipped("S1", 1)
    assert case.test.y[0] != case.training[0].y[0] and len(case.test.y) == bands.TESTED
    small = dataclasses.replace(case, training=[case.training[0].part(0, 300)], test=case.test.part(0, 200))
    results = [bands.held(small)]
    one_step = results[0]["one_step"]
    assert 0.7 < one_step.share <= 1 and 1 < one_step.width < 4
    rows = bands.rows_of("S1", [*results, {"free_run": None, "one_step": None}])
    assert (rows[0][:2], rows[1][:2]) == (["S1", "free run"], ["S1", "one step ahead"]) and len(rows) == 2
    assert rows[1][2] == f"{one_step.share:.3f}" and rows[1][-1] == "1"
    assert bands.rows_of("S1", [{"free_run": None, "one_step": None}])[0][2:] == ["", "", "", "", "1"]
