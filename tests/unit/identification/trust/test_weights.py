"""Weights against plain formulas and exact arithmetic; coverage of their standard errors by simulation."""

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import lfilter

from narxbench._identification.trust.weights import estimate, estimate_in_blocks, interchangeable, newey_west_bandwidth
from narxbench._io.errors import NarxbenchError
from narxbench._numerics.random_streams import generator


def data(seed, rows=60, n=4):
    rng = generator(purpose="test", seed=seed)
    columns = rng.standard_normal((rows, n)) * 10.0 ** rng.integers(-6, 6, n)
    return columns, (columns / np.abs(columns).max(axis=0)) @ rng.standard_normal(n) + rng.standard_normal(rows)


def names(n):
    return [f"u(k-{lag})" for lag in range(1, n + 1)]


def fitted(columns, y, times=None, bandwidth=3):
    times = np.arange(len(y)) if times is None else times
    return estimate(columns, y, terms=names(columns.shape[1]), times=times, bandwidth=bandwidth)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 6), st.lists(st.integers(0, 60), max_size=3), st.integers(0, 8))
def test_plain_formulas(seed, n, cuts, bandwidth):
    columns, y = data(seed, n=n)
    record = np.searchsorted(np.sort(cuts), np.arange(60), side="right")
    weighed = fitted(columns, y, times=np.arange(60) + 10 * record, bandwidth=bandwidth)
    # Of unit length, so that the formulas themselves are exact enough.
    sizes = np.linalg.norm(columns, axis=0)
    x = columns / sizes
    weights = np.linalg.lstsq(x, y, rcond=None)[0]
    np.testing.assert_allclose(weighed.coefficients * sizes, weights, rtol=1e-9, atol=1e-12)
    residuals = y - x @ weights
    inverse = np.linalg.inv(x.T @ x)
    scores = x * residuals[:, None]
    used = min(bandwidth, np.bincount(record).max() - 1)
    hac = np.zeros((n, n))
    for i in range(60):
        for j in range(60):
            if record[i] == record[j] and abs(i - j) <= used:
                hac += (1 - abs(i - j) / (used + 1)) * np.outer(scores[i], scores[j])
    expected = {
        "classical": inverse * (residuals @ residuals) / (60 - n),
        "hc": inverse @ (scores.T @ scores) @ inverse * 60 / (60 - n),
        "hac": inverse @ hac @ inverse * 60 / (60 - n),
    }
    for assumption, covariance in expected.items():
        of_unit_length = weighed.covariances[assumption] * np.outer(sizes, sizes)
        np.testing.assert_allclose(of_unit_length, covariance, rtol=1e-7, atol=1e-9 * np.abs(covariance).max())
    assert weighed.err.sum() == pytest.approx(1 - residuals @ residuals / (y @ y), rel=1e-9)
    # The first to enter is the one that explains most alone.
    assert weighed.err.max() >= ((x.T @ y) ** 2).max() / (y @ y) * (1 - 1e-9)


def test_blocks_give_the_weights_of_all_rows_at_once():
    columns, y = data(7, rows=240)
    times = np.arange(240)
    whole = estimate(columns, y, terms=names(4), times=times, bandwidth=3)

    def blocks():
        for start in range(0, 240, 80):
            rows = slice(start, start + 80)
            yield columns[rows], y[rows], times[rows]

    parts = estimate_in_blocks(blocks, names(4), 3)
    np.testing.assert_allclose(parts.coefficients, whole.coefficients, rtol=1e-9)
    np.testing.assert_allclose(parts.err, whole.err, rtol=1e-9)
    assert parts.freedom == whole.freedom
    for assumption in ("classical", "hc"):
        np.testing.assert_allclose(parts.covariances[assumption], whole.covariances[assumption], rtol=1e-7)
    # Products across the joins of blocks are left out.
    cut = estimate(columns, y, terms=names(4), times=times + 10 * (times // 80), bandwidth=3)
    np.testing.assert_allclose(parts.covariances["hac"], cut.covariances["hac"], rtol=1e-7)


def test_err_of_forward_regression():
    u = np.array([1.0, 0.0, 0.0, 0.0, 0.0])
    v = np.array([1.0, 1.0, 0.0, 0.0, 0.0])
    y = np.array([1.0, 3.0, 0.0, 0.0, 1.0])
    # v explains 16 / 2 of 11 and enters first; what is left of u is (1/2, -1/2), which explains 1 / (1/2).
    np.testing.assert_allclose(fitted(np.column_stack([u, v]), y).err, [2 / 11, 8 / 11], rtol=1e-12)


def exact_weights(columns, y):
    """Return the weights of least squares in exact arithmetic, from the normal equations."""
    columns, y = np.array(columns, object), np.array(y, object)
    gram = np.column_stack([columns @ columns.T, columns @ y])
    for i in range(len(gram)):
        gram[i] = gram[i] / gram[i, i]
        for j in range(len(gram)):
            if j != i:
                gram[j] = gram[j] - gram[j, i] * gram[i]
    return gram[:, -1].astype(float)


def test_more_digits_than_the_normal_equations_have():
    to_fractions = np.vectorize(Fraction, otypes=[object])
    x, y = to_fractions(np.arange(3000, 3040)), to_fractions(7 * np.arange(40) % 11)
    columns = [x**0, x, x**2, x**3]
    exact = exact_weights(columns, y)
    matrix, target = np.array(columns, float).T, np.array(y, float)
    np.testing.assert_allclose(fitted(matrix, target).coefficients, exact, rtol=1e-5)
    scaled = matrix / np.linalg.norm(matrix, axis=0)
    normal = np.linalg.solve(scaled.T @ scaled, scaled.T @ target) / np.linalg.norm(matrix, axis=0)
    assert not np.allclose(normal, exact, rtol=1e-2)


def test_a_singular_structure_names_the_terms_that_depend():
    columns, y = data(1, n=4)
    columns[:, 3] = columns[:, 0] / np.abs(columns[:, 0]).max() - 2 * columns[:, 2] / np.abs(columns[:, 2]).max()
    with pytest.raises(
        NarxbenchError, match=r"u\(k-1\), u\(k-3\) and u\(k-4\) depend on each other; allowed: all but one"
    ):
        fitted(columns, y)
    columns[:, 3] = 0.0
    for wrong in ((columns, y), (columns[:4], y[:4])):
        with pytest.raises(NarxbenchError):
            fitted(*wrong)


def test_rows_of_a_table_are_plain_and_finite():
    columns, y = data(2)
    rows = fitted(columns, y).rows()
    assert [row["term"] for row in rows] == names(4)
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    for row in rows:
        assert row["t"] == pytest.approx(row["coefficient"] / row["standard_error"])
        assert 0 <= row["p"] <= 1
    # No residual, no t: the column is exact in binary.
    exact = fitted(np.ones((4, 1)), np.full(4, 2.0)).rows()[0]
    assert (exact["coefficient"], exact["standard_error"], exact["t"], exact["p"]) == (2.0, 0.0, None, None)


def correlated(rng):
    u, e = lfilter([1.0], [1.0, -0.7], rng.standard_normal((2, 1200)))[:, 200:]
    return u[:, None], 0.5 * u + e


def overlapping(rng):
    """Return rows of a model whose steps overlap: each predicts 12 samples ahead."""
    y = lfilter([1.0], [1.0, -0.95], rng.standard_normal(4200))[200:]
    return y[:-12, None], y[12:]


@pytest.mark.parametrize(
    ("simulate", "true", "rows", "decimation", "most"),
    [(correlated, 0.5, 1000, 1, 0.8), (overlapping, 0.95**12, 4000, 12, 0.6)],
)
def test_coverage(simulate, true, rows, decimation, most):
    hits = {"classical": 0, "hac": 0}
    for seed in range(300):
        columns, y = simulate(generator(purpose="test", seed=seed))
        weighed = fitted(columns, y, bandwidth=newey_west_bandwidth(rows, decimation))
        for assumption in hits:
            standard_error = np.sqrt(weighed.covariances[assumption][0, 0])
            hits[assumption] += abs(weighed.coefficients[0] - true) <= 1.96 * standard_error
    assert hits["classical"] / 300 < most and 0.87 < hits["hac"] / 300 < 0.98


def partial_correlations(signals, term, rest, candidates):
    """Return the correlation of a term with each candidate after a regression of both on the rest, by name."""
    columns = np.column_stack([signals[name] for name in rest])

    def residual(name):
        return signals[name] - columns @ np.linalg.lstsq(columns, signals[name], rcond=None)[0]

    correlations, a = {}, residual(term)
    for name in candidates:
        b = residual(name)
        correlations[name] = a @ b / np.sqrt((a @ a) * (b @ b))
    return correlations


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 10**6))
def test_interchangeable_terms_by_regressions(seed):
    rng = generator(purpose="test", seed=seed)
    columns = rng.standard_normal((50, 6)) + 3.0
    columns[:, 3] = columns[:, 1] + 0.01 * rng.standard_normal(50)
    columns[:, 4] = columns[:, 0] * 2.0 - columns[:, 2] + 0.02 * rng.standard_normal(50)
    signals = dict(zip("abcdef", columns.T, strict=True))
    expected = []
    for term, rest in {"c": "ba", "b": "ca", "a": "cb"}.items():
        correlations = partial_correlations(signals, term, rest, candidates="def")
        closest = max(correlations, key=lambda name: abs(correlations[name]))
        if abs(correlations[closest]) >= 0.95:
            expected.append((term, closest, pytest.approx(correlations[closest], abs=1e-9)))
    pairs = interchangeable(columns, list("abcdef"), ["c", "b", "a"])
    assert pairs == expected
    assert [pair[:2] for pair in pairs] == [("c", "e"), ("b", "d"), ("a", "e")]
    assert pairs[0][2] < -0.99


def test_nothing_outside_is_interchangeable():
    columns, _ = data(3)
    assert interchangeable(columns, names(4), names(4)) == interchangeable(columns, names(4), names(2)) == []
    # A column that the remaining terms explain wholly takes no place: the structure would be singular.
    columns[:, 3] = 2 * columns[:, 1]
    assert interchangeable(columns, names(4), names(2)) == [("u(k-2)", "u(k-4)", 1.0)]
