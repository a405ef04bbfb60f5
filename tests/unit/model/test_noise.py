"""Kinds of noise: each against an independent formula."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.signal import lfilter

from narxbench._io.errors import NarxbenchError
from narxbench._model.noise import (
    DRIFT_AMPLITUDE,
    FEEDBACK,
    FOURTH_ORDER,
    NOISES,
    RESONANT,
    RESONANT_ZERO,
    SLOW,
    filtered,
)
from narxbench._model.system import System, load_system

SAMPLES, SNR_DB = 5000, 20


def simulated(noise=None):
    """Return the signals of S1 from rest, with a kind of noise or without any."""
    snr_db = None if noise is None else SNR_DB
    return load_system("S1").simulate(SAMPLES, snr_db=snr_db, washout=0, noise=noise or "output")


def added(noise):
    """Return what a kind of noise adds to the output of S1."""
    return simulated(noise).y - simulated().y


def left_by_the_equation(noise):
    """Return what the equation of S1 leaves of the measured output."""
    u, y = simulated(noise)
    return y[1:] - (0.5 * y[:-1] + 0.3 * u[:-1] + 0.3 * y[:-1] * u[:-1] + 0.5 * u[:-1] ** 2)


def unit_variance(autoregression, moving_average):
    """Return white noise of S1 behind a filter that keeps its variance."""
    numerator, denominator = np.r_[1.0, moving_average], np.r_[1.0, autoregression]
    impulse = lfilter(numerator, denominator, np.r_[1.0, np.zeros(2000)])
    return lfilter(numerator, denominator, added("output")) / np.sqrt(impulse @ impulse)


def test_all_kinds_share_their_white_noise_and_leave_the_input_alone():
    for noise in NOISES.values():
        assert noise.words and not noise.words.endswith(".")
    clean = simulated()
    for noise in NOISES:
        changes_input = noise in ("input", "input-output", "closed-loop")
        assert np.array_equal(simulated(noise).u, clean.u) != changes_input, noise
        assert np.array_equal(simulated(noise).y, simulated(noise).y), noise
    np.testing.assert_array_equal(added("input"), added("output"))


@pytest.mark.parametrize(
    ("noise", "autoregression", "moving_average"),
    [("ar-output", SLOW, ()), ("arma-output", RESONANT, RESONANT_ZERO)],
)
def test_filtered_noise_on_the_output(noise, autoregression, moving_average):
    np.testing.assert_allclose(added(noise), unit_variance(autoregression, moving_average), atol=1e-12)
    assert np.std(added(noise)) == pytest.approx(np.std(added("output")), rel=0.15)


@pytest.mark.parametrize(
    ("noise", "autoregression", "moving_average"), [("ar-equation", SLOW, ()), ("ma-equation", (), FOURTH_ORDER)]
)
def test_filtered_noise_in_the_equation(noise, autoregression, moving_average):
    expected = unit_variance(autoregression, moving_average)[1:]
    np.testing.assert_allclose(left_by_the_equation(noise), expected, atol=1e-12)


def test_filters_are_stable_and_invertible():
    for coefficients in (SLOW, RESONANT, RESONANT_ZERO, FOURTH_ORDER):
        assert np.abs(np.roots(np.r_[1.0, coefficients])).max() < 0.95
    np.testing.assert_array_equal(filtered(np.array([1.0, 2.0])), [1.0, 2.0])


def test_outliers_are_few_and_large():
    errors = added("outliers") - added("output")
    spread = simulated().y.std()
    is_outlier = errors != 0
    assert is_outlier.mean() == pytest.approx(0.02, abs=0.006)
    sizes = np.abs(errors[is_outlier]) / spread
    assert 1 - 1e-9 < sizes.min() < 1.2 and 2.8 < sizes.max() < 3 + 1e-9
    assert 0.3 < (errors[is_outlier] > 0).mean() < 0.7


def test_student_t_has_its_distribution():
    scale = np.std(added("output")) / math.sqrt(3)
    assert stats.kstest(added("student-t") / scale, stats.t(3).cdf).pvalue > 0.01
    assert stats.kstest(added("student-t") / np.std(added("output")), stats.norm.cdf).pvalue < 1e-6


def test_proportional_noise_grows_with_the_output():
    y = simulated().y
    np.testing.assert_allclose(added("proportional"), added("output") * np.abs(y) / np.sqrt(np.mean(y**2)))


def test_drift_is_a_slow_sinusoid():
    slow = added("drift") - added("output")
    turns = np.arange(SAMPLES) / SAMPLES * 1.5
    expected = DRIFT_AMPLITUDE * simulated().y.std() * np.sin(2 * np.pi * turns)
    np.testing.assert_allclose(slow, expected, atol=1e-4 * np.abs(expected).max())


def test_noise_on_the_input_at_the_snr_of_the_output():
    clean, measured = simulated(), simulated("input-output")
    noise = measured.u - clean.u
    assert 10 * math.log10(clean.u.var() / noise.var()) == pytest.approx(SNR_DB, abs=0.3)
    np.testing.assert_array_equal(added("input-output"), added("output"))
    assert abs(np.corrcoef(noise, added("output"))[0, 1]) < 0.05


def test_noise_on_the_input_is_20_db_below_it():
    clean, measured = simulated(), simulated("input")
    noise = measured.u - clean.u
    assert noise.std() == pytest.approx(0.1 * clean.u.std(), rel=0.05)
    assert abs(np.corrcoef(noise, clean.u)[0, 1]) < 0.05


def test_a_controller_acts_on_the_measured_output():
    clean, (u, y) = simulated(), simulated("closed-loop")
    reaction = -FEEDBACK * clean.u.std() / clean.y.std() * (y - clean.y.mean())
    np.testing.assert_allclose(u, clean.u + reaction, atol=1e-12)
    # The output without its noise obeys the equation under this input.
    x = y - added("output")
    expected = 0.5 * x[:-1] + 0.3 * u[:-1] + 0.3 * x[:-1] * u[:-1] + 0.5 * u[:-1] ** 2
    np.testing.assert_allclose(x[1:], expected, atol=1e-12)


def test_a_constant_output_has_no_size():
    still = System("still", "y(k) = 0.5*y(k-1)*u(k-1)", n_u=1, n_y=1, degree=2)
    for noise in ("proportional", "closed-loop"):
        with pytest.raises(NarxbenchError, match="an output that does not vary"):
            still.simulate(50, snr_db=20, noise=noise)
