"""Refits by simulation help where they should and are refused where not; extended least squares is unbiased."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from narxbench.identification.trust.refinement import _Model, extended_least_squares, refit_by_simulation
from narxbench.identification.trust.weights import estimate
from narxbench.model.records import Record
from narxbench.model.structure import column
from narxbench.model.terms import parse_term
from narxbench.numerics.random_streams import generator

TERMS = [parse_term(term) for term in ("y(k-1)", "u(k-1)", "y(k-1)*u(k-1)")]
TRUE = [0.8, 0.4, 0.1]


def simulated(seed, noise=0.0, samples=400):
    rng = generator(purpose="test", seed=seed)
    u, y = rng.uniform(-1, 1, samples), np.zeros(samples)
    for k in range(1, samples):
        y[k] = TRUE[0] * y[k - 1] + TRUE[1] * u[k - 1] + TRUE[2] * y[k - 1] * u[k - 1]
    return Record(f"seed {seed}", u[:, None], y + noise * rng.standard_normal(samples))


def least_squares(record):
    rows = np.arange(1, len(record))
    columns = np.column_stack([column(record.u, record.y, term, rows) for term in TERMS])
    return estimate(columns, record.y[rows], terms=["a", "b", "c"], times=rows, bandwidth=3).coefficients


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6))
def test_derivatives_are_those_of_the_free_run(seed):
    rng = generator(purpose="test", seed=seed)
    terms = ["1", "y(k-2)", "y(k-1)^2*u1(k)", "u2(k-3)", "y(k-1)*y(k-2)"]
    model = _Model([parse_term(term, n_inputs=2, current=True) for term in terms])
    record = Record("r", rng.uniform(-1, 1, (40, 2)), rng.uniform(-1, 1, 40))
    pieces = model.pieces([record], 2)
    assert [len(piece) for piece in pieces] == [20, 20]
    weights = rng.uniform(-0.4, 0.4, 5)
    found = model.run(pieces, weights)
    assert found.errors.shape == (34,)
    # A plain loop over the second phase.
    u, y = record.u[1::2], record.y[1::2].copy()
    for k in range(3, 20):
        values = [1.0, y[k - 2], y[k - 1] ** 2 * u[k, 0], u[k - 3, 1], y[k - 1] * y[k - 2]]
        y[k] = weights @ values
    np.testing.assert_allclose(found.errors[17:], (y - record.y[1::2])[3:], atol=1e-12)
    for j, step in enumerate(np.eye(5) * 1e-6):
        slope = (model.run(pieces, weights + step).errors - model.run(pieces, weights - step).errors) / 2e-6
        np.testing.assert_allclose(found.slopes[:, j], slope, atol=1e-7)


@pytest.mark.parametrize("decimation", [1, 3])
def test_a_refit_takes_away_the_bias_of_noise_on_the_output(decimation):
    noisy, others = simulated(1, noise=0.3), simulated(2, noise=0.3)
    if decimation > 1:
        # The same model with three samples in a step: each sample comes three times.
        noisy, others = (Record(r.name, np.repeat(r.u, 3, axis=0), np.repeat(r.y, 3)) for r in (noisy, others))
        start = least_squares(noisy.phase(0, 3))
    else:
        start = least_squares(noisy)
    refit = refit_by_simulation(TERMS, start, [noisy], [others], decimation=decimation)
    assert refit.accepted
    assert np.abs(start - TRUE).max() > 0.2
    assert np.abs(refit.coefficients - TRUE).max() < 0.08
    fresh = simulated(3)
    model = _Model(TERMS)
    before, after = (model.run(model.pieces([fresh], 1), np.array(w)).errors.std() for w in (start, refit.coefficients))
    assert after < 0.3 * before
    assert refit.before > refit.after and refit.obstacle == ""


def test_a_refit_that_hurts_on_the_selection_records_is_refused():
    # The selection records come from the starting weights, the estimation records from others.
    refit = refit_by_simulation(TERMS, [0.3, 0.4, 0.0], [simulated(1)], [constructed([0.3, 0.4, 0.0])])
    assert not refit.accepted
    assert refit.coefficients.tolist() == [0.3, 0.4, 0.0]
    assert refit.before <= refit.after


def constructed(weights, samples=200, size=1.0):
    rng = generator(purpose="test", seed=9)
    u = size * rng.uniform(-1, 1, (samples, 1))
    model = _Model(TERMS)
    y = np.zeros(samples)
    y[0] = 1e-3
    run = model.run([np.column_stack([y, u])], np.array(weights))
    return Record("constructed", u, np.concatenate([y[:1], run.errors]))


def test_a_refit_that_diverges_on_the_selection_records_is_refused():
    # Weights that grow without bound where the input is large.
    growing = [parse_term("y(k-1)"), parse_term("u(k-1)"), parse_term("y(k-1)^3")]
    rng = generator(purpose="test", seed=4)
    u, y = rng.uniform(-0.2, 0.2, 300), np.zeros(300)
    for k in range(1, 300):
        y[k] = 0.5 * y[k - 1] + u[k - 1] + 0.9 * y[k - 1] ** 3
    small = Record("small", u[:, None], y)
    large = Record("large", np.full((50, 1), 2.0), np.full(50, 4.0))
    refit = refit_by_simulation(growing, [0.5, 1.0, 0.0], [small], [large])
    assert not refit.accepted
    assert refit.after is None


def test_trial_weights_that_diverge_do_not_end_the_search():
    # From this start the first full step leaves the bounds.
    record = constructed([0.97, 0.4, 0.1])
    refit = refit_by_simulation(TERMS, [-0.9, 0.1, 0.9], [record], [record])
    assert refit.accepted
    assert np.isfinite(refit.coefficients).all()


def test_a_model_that_diverges_from_the_start_is_left_alone():
    refit = refit_by_simulation(TERMS, [3.0, 1.0, 0.0], [simulated(1)], [simulated(2)])
    assert (refit.accepted, refit.coefficients.tolist()) == (False, [3.0, 1.0, 0.0])
    assert refit.obstacle == "diverges"


def test_without_selection_records_nothing_is_refitted():
    assert not refit_by_simulation(TERMS, TRUE, [simulated(1)], []).accepted
    assert not refit_by_simulation(TERMS, TRUE, [simulated(1).part(0, 1)], [simulated(2)]).accepted


def moving_average(seed, noise_weight, samples=3000):
    rng = generator(purpose="test", seed=seed)
    u, e, y = rng.uniform(-1, 1, samples), 0.5 * rng.standard_normal(samples), np.zeros(samples)
    for k in range(1, samples):
        y[k] = 0.7 * y[k - 1] + u[k - 1] + e[k] + noise_weight * e[k - 1]
    return np.column_stack([y[:-1], u[:-1]]), y[1:]


def before(rows, lags):
    """The rows 1, 2, ... before; -1 where there is none."""
    return np.maximum(np.arange(rows)[:, None] - np.arange(1, lags + 1), -1)


def test_extended_least_squares_is_unbiased_with_coloured_noise():
    plain, extended = [], []
    for seed in range(10):
        columns, y = moving_average(seed, 0.8)
        found = extended_least_squares(columns, y, before(len(y), 1), terms=["a", "b"])
        assert found.converged
        extended.append([*found.coefficients, *found.noise_coefficients])
        plain.append(np.linalg.lstsq(columns, y, rcond=None)[0])
    assert np.mean(plain, axis=0)[0] > 0.75
    np.testing.assert_allclose(np.mean(extended, axis=0), [0.7, 1.0, 0.8], atol=0.02)


def test_residuals_do_not_pass_from_record_to_record():
    # Two records whose rows interleave give the same as one behind the other.
    columns, y = moving_average(1, 0.5, samples=401)
    previous = before(400, 1)
    previous[200] = -1
    apart = extended_least_squares(columns, y, previous, terms=["a", "b"])
    order = np.arange(400).reshape(2, 200)[::-1].T.ravel()
    mixed = np.maximum(np.arange(400)[:, None] - 2, -1)
    together = extended_least_squares(columns[order], y[order], mixed, terms=["a", "b"])
    np.testing.assert_allclose(together.coefficients, apart.coefficients, rtol=1e-6)
    joined = extended_least_squares(columns, y, before(400, 1), terms=["a", "b"])
    assert abs(joined.coefficients - apart.coefficients).max() > 1e-5


def test_without_noise_or_an_end_the_plain_weights_are_kept():
    columns, _ = moving_average(1, 0.5, samples=200)
    exact = extended_least_squares(columns, columns @ [0.5, 2.0], before(199, 2), terms=["a", "b"])
    assert (exact.converged, exact.noise_coefficients.tolist()) == (True, [0.0, 0.0])
    np.testing.assert_allclose(exact.coefficients, [0.5, 2.0], rtol=1e-12)
    columns, y = moving_average(1, 0.9)
    stopped = extended_least_squares(columns, y, before(len(y), 1), terms=["a", "b"], iterations=1)
    assert (stopped.converged, stopped.noise_coefficients.tolist()) == (False, [0.0])
    np.testing.assert_allclose(stopped.coefficients, np.linalg.lstsq(columns, y, rcond=None)[0], rtol=1e-9)
