"""SEMP and RaMSS, held against plain regressions and simulations."""

import numpy as np
import pytest
from scipy import stats

from narxbench import StructureProblem, load_system, search
from narxbench.algorithms import ramss
from narxbench.algorithms.objective import view_of
from narxbench.algorithms.training import whole_record


@pytest.fixture(scope="module")
def short_problem():
    """Alike outputs with much noise: what has entered first may leave again."""
    u, y = load_system("heater").simulate(160, snr_db=10)
    return StructureProblem(u, y, n_u=3, n_y=2, degree=2, n_validation=40)


def errors(view, terms):
    """Return the mean squared errors of the prediction one step ahead and of the free run over all samples."""
    columns, y = view.training_regressors()[:, terms], view.training_outputs()
    weights, start = np.linalg.lstsq(columns, y, rcond=None)[0], int(view.training_rows[0])
    signals = np.stack([view.training_y, view.training_u])
    with np.errstate(all="ignore"):
        for k in range(start, signals.shape[1]):
            factors = [[signals[signal, k - lag] for signal, lag in view.monomials[term]] for term in terms]
            signals[0, k] = weights @ [np.prod(own) for own in factors]
        free_run = float(((signals[0, start:] - y) ** 2).mean())
    return float(((y - columns @ weights) ** 2).mean()), free_run if np.isfinite(free_run) else np.inf


@pytest.mark.parametrize("least_gain", [0.0, 0.01, 0.1])
def test_terms_enter_and_leave_by_the_simulation_error(short_problem, least_gain):
    view, terms, error, left_again = view_of(short_problem), [], np.inf, 0
    while len(terms) < 6:
        entered = {j: errors(view, sorted([*terms, j]))[1] for j in range(len(view.terms)) if j not in terms}
        best = min(entered, key=entered.get)
        if not entered[best] < (1 - least_gain) * error:
            break
        terms, error = [*terms, best], entered[best]
        while len(terms) > 1:
            without = {j: errors(view, sorted({*terms} - {j}))[1] for j in terms}
            worst = min(without, key=without.get)
            if without[worst] > error:
                break
            terms, error, left_again = [j for j in terms if j != worst], without[worst], left_again + 1
    found = search(short_problem, algorithm="semp", seed=1, least_gain=least_gain, max_terms=6)
    assert found.terms == [view.terms[j] for j in sorted(terms)]
    assert found.evaluations == 1
    assert left_again or least_gain


def test_the_value_of_a_structure_is_that_of_both_errors(short_problem, rng):
    view = view_of(short_problem)
    positions = np.zeros((8, len(view.terms)), np.uint8)
    for position in positions[:-1]:
        position[rng.choice(len(view.terms), 4, replace=False)] = 1
    both = np.array([errors(view, np.flatnonzero(position).tolist()) for position in positions[:-1]])
    expected = np.exp(-2.0 * both / view.training_outputs().var()) @ [0.7, 0.3]
    values = ramss.Judge(view, ramss.Settings(sharpness=2.0, simulation=0.3)).values(positions)
    np.testing.assert_allclose(values[:-1], expected, rtol=1e-6)
    # The empty structure has no weights.
    assert values[-1] == 0.0 and 0.0 < expected.min() < 0.7 * expected.max()


def test_insignificant_terms_are_those_of_a_t_test_over_all_samples(short_problem):
    view = view_of(short_problem)
    columns, y = view.training_regressors()[:, :10], view.training_outputs()
    weights, freedom = np.linalg.lstsq(columns, y, rcond=None)[0], len(y) - 10
    variance = ((y - columns @ weights) ** 2).sum() / freedom * np.linalg.inv(columns.T @ columns).diagonal()
    position = np.zeros(len(view.terms), np.uint8)
    position[:10] = 1
    ramss.Judge(view, ramss.Settings(significance=0.1)).drop_insignificant(position)
    kept = 2.0 * stats.t.sf(np.abs(weights) / np.sqrt(variance), freedom) <= 0.1
    assert position[:10].tolist() == kept.astype(int).tolist() and 0 < kept.sum() < 10


def test_probabilities_rise_for_terms_of_better_structures():
    structures = np.array([[1, 0, 1], [1, 1, 1], [0, 1, 1], [0, 0, 1]], np.uint8)
    found = ramss.stepped(np.full(3, 0.5), structures, np.array([0.8, 0.6, 0.2, 0.4]), 0.9)
    # Means with and without: 0.7 and 0.3; 0.4 and 0.6; 0.5 and none.
    np.testing.assert_allclose(found, 0.5 + np.array([0.4, -0.2, 0.5]) / (10 * 0.4 + 0.1))


def test_structures_are_drawn_by_the_probabilities(short_problem, monkeypatch):
    seen = []

    def values(judge, structures):
        seen.append(structures.copy())
        # What the first two terms explain, all others nothing.
        return structures[:, 0] * 0.4 + structures[:, 1] * 0.5

    monkeypatch.setattr(ramss.Judge, "values", values)
    monkeypatch.setattr(ramss.Judge, "drop_insignificant", lambda judge, structure: None)
    found = search(short_problem, algorithm="ramss", seed=1, models=4000, iterations=10, least_probability=0.2)
    n_terms = len(short_problem.terms)
    # Of structures that are not empty 1 / N_t of the terms are there, divided by how many are not empty.
    assert seen[0].mean() == pytest.approx(1 / n_terms / (1 - (1 - 1 / n_terms) ** n_terms), rel=0.05)
    assert all(batch.any(axis=1).all() for batch in seen)
    assert found.terms == list(short_problem.terms[:2])
    assert seen[-1][:, :2].all()
    assert seen[-1][:, 2:].mean() == pytest.approx(0.2, abs=0.03)


@pytest.mark.parametrize("name", ["semp", "ramss"])
def test_the_true_terms_are_found_with_weights_of_all_samples(small_problem, name):
    found = search(small_problem, algorithm=name, seed=1)
    assert {*found.terms} == {*load_system("S1").terms}
    assert found.coefficients == whole_record(view_of(small_problem)).evaluate(found.terms).coefficients
    assert found.coefficients != small_problem.evaluate(found.terms).coefficients


def test_without_a_certain_term_the_best_structure_is_the_result(small_problem, monkeypatch):
    seen = []
    values = ramss.Judge.values

    def noted(judge, structures):
        seen.append((structures.copy(), values(judge, structures)))
        return seen[-1][1]

    monkeypatch.setattr(ramss.Judge, "values", noted)
    found = search(small_problem, algorithm="ramss", seed=1, models=4, iterations=1, sharpness=1e-6)
    ((structures, scores),) = seen
    assert len({row.tobytes() for row in structures}) > 1
    assert found.terms == [small_problem.terms[j] for j in np.flatnonzero(structures[scores.argmax()])]
