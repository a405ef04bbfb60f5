"""Systems: equations as text, files of systems, excitation, and simulation with each kind of noise."""

import csv
import math
from decimal import Decimal, localcontext
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.signal import lfilter
from tests.lookups import values_of

from narxbench import NarxbenchError, System, candidate_terms, load_system, model_size

quick = settings(max_examples=50, deadline=None)
PROJECT = Path(__file__).parents[3]
NAMES = sorted(values_of((PROJECT / "config/systems").glob("*.yaml"), "stem"))
LINEAR = {"n_u": 1, "n_y": 1, "degree": 1}
TRUE = "y(k) = 0.5*y(k-1) + u(k-1)^2"
SMALL = {"n_u": 1, "n_y": 1, "degree": 2}


# Candidate terms.


def test_as_many_candidates_as_the_recurrence_says_in_canonical_order():
    for (n_y, n_u, degree), size in {(1, 1, 1): 3, (5, 5, 2): 66, (3, 3, 3): 84, (2, 0, 4): 15, (0, 3, 2): 10}.items():
        candidates = candidate_terms(n_y=n_y, n_u=n_u, degree=degree)
        assert len(candidates) == len(set(candidates)) == model_size(n_y=n_y, n_u=n_u, degree=degree) == size
    assert model_size(n_y=5, n_u=5, n_e=5, degree=2) == 136
    expected = "1 y(k-1) y(k-2) u(k-1) y(k-1)^2 y(k-1)*y(k-2) y(k-1)*u(k-1) y(k-2)^2 y(k-2)*u(k-1) u(k-1)^2"
    assert candidate_terms(n_y=2, n_u=1, degree=2) == expected.split()


# Equations.


@pytest.mark.parametrize("name", ["S1", "S2", "S3", "S4"])
def test_systems_have_the_published_terms(name):
    with open(PROJECT / "data/reference/system_terms.csv") as stream:
        published = {r["term"]: float(r["coefficient"]) for r in csv.DictReader(stream) if r["system"] == name}
    system = load_system(name)
    assert dict(zip(system.terms, system.coefficients, strict=True)) == published


def read(equation):
    """Return the terms of an equation and their coefficients."""
    system = System("X", equation, n_u=3, n_y=3, degree=3)
    return dict(zip(system.terms, system.coefficients, strict=True))


def test_spellings_of_equations():
    assert read("y(t)= -2u(t-1)y(t-2) + 1") == {"y(k-2)*u(k-1)": -2.0, "1": 1.0}
    assert read("y(k) = − y(k-1) + 1e-3*u(k-1)**2") == {"y(k-1)": -1.0, "u(k-1)^2": 1e-3}


def equation_of(terms):
    """Return the canonical text of an equation."""
    text = "y(k) ="
    for term, coefficient in terms.items():
        sign = "-" if coefficient < 0 else "+"
        text += f" {sign} {abs(coefficient)!r}*{term}".removesuffix("*1")
    return text


TERMS = st.sampled_from(candidate_terms(n_u=3, n_y=3, degree=3))
COEFFICIENTS = st.floats(allow_nan=False, allow_infinity=False).filter(bool)


@given(terms=st.dictionaries(TERMS, COEFFICIENTS, min_size=1, max_size=8))
@quick
def test_every_equation_reads_back(terms):
    assert read(equation_of(terms)) == terms


PIECES = ["y(k-1)", "u(k-2)", "e(k-1)", "exp(", "sin(", "pi", "(", ")", *"+-*/^ek.\n_", "**", "2", "0.5", "1e5", "007"]


@given(
    st.text(max_size=60)
    | st.text("yuk()-+*^=0123456789. eEt−", max_size=60)
    | st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
)
@settings(quick, max_examples=200)
def test_any_text_is_an_equation_or_a_clear_error(text):
    try:
        system = System("X", "y(k) = " + text, n_u=3, n_y=3, degree=3)
        system.simulate(3, snr_db=20)
    except NarxbenchError as error:
        assert str(error).isprintable() and len(str(error)) < 600
        return
    assert all(math.isfinite(coefficient) and coefficient for coefficient in system.coefficients)
    assert system.inside == bool(system.terms)


def joined(parts):
    return f"({' '.join(parts)})"


# Texts of expressions, which Python reads in the same way.
EXPRESSIONS = st.recursive(
    st.sampled_from(["y(k-1)", "u(t - 3)", "pi", ".25e1", "3"]),
    lambda inner: (
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(joined)
        | st.tuples(st.sampled_from(["sin(%s)", "exp(-(%s)^2)", "(-%s)"]), inner).map(lambda pair: pair[0] % pair[1])
    ),
    max_leaves=8,
)


def past(signal, k, lag):
    return float(signal[k - lag]) if k >= lag else 0.0


@given(EXPRESSIONS)
@quick
def test_an_expression_means_what_it_says(text):
    # The exponential makes any expression a truth outside the candidates, and the sine bounds it.
    right = f"sin(+{text}) + exp(u(k-1)) + 8/4/2*y(k-1)*0.5 - -u(k-1)^2*2 - 1"
    system = System("X", f"y(k) = {right}", n_u=3, n_y=3, degree=3)
    assert not system.inside and system.terms == []
    try:
        u, y = system.simulate(6, washout=0)
    except NarxbenchError:  # a denominator of 0
        assume(False)
    names = {"sin": math.sin, "exp": math.exp, "pi": math.pi}
    for k in range(6):
        signals = {"y": lambda j: past(y, j, 0), "u": lambda j: past(u, j, 0), "k": k, "t": k}
        assume(abs(eval(text.replace("^", "**"), names | signals)) < 1e6)
        assert y[k] == pytest.approx(eval(right.replace("^", "**"), names | signals), rel=1e-6, abs=1e-6)


def exact_sine(x):
    """Sum the Taylor series itself, with digits enough for its large terms."""
    with localcontext(prec=400):
        term = total = Decimal(x)
        for order in range(1, 1200, 2):
            term *= -(Decimal(x) ** 2) / ((order + 1) * (order + 2))
            total += term
        return float(total)


def exact_exponential(x):
    with localcontext(prec=100):
        return float(Decimal(x).exp())


@pytest.mark.parametrize(("name", "factor", "exact"), [("sin", 200.0, exact_sine), ("exp", 27.0, exact_exponential)])
def test_last_bits_are_right(name, factor, exact):
    u, y = System("X", f"y(k) = {name}({factor}*u(k-1))", **LINEAR).simulate(80)
    assert y[1:].tolist() == [exact(factor * value) for value in u[:-1].tolist()]


@pytest.mark.parametrize("text", ["1/y(k-1)", "exp(1e300*u(k-1)^2)", "sin(1e300/u(k-1))", "sin(1e15)/1*exp(y(k-1))"])
def test_what_is_no_number_diverges(text):
    with pytest.raises(NarxbenchError, match=r"X: its output diverges .* at sample [123] "):
        System("X", f"y(k) = {text}", **LINEAR).simulate(5)


def test_noise_terms_are_no_system_terms_and_always_act():
    noise_terms = " + (0.4*e(k-1)) - u(k-1)*e(k-2)^2 + exp(u(k-1) - 3)*e(k-1)"
    plain, noisy = System("X", TRUE, **SMALL), System("X", TRUE + noise_terms, **SMALL)
    assert noisy.inside and (noisy.monomials, noisy.coefficients) == (plain.monomials, plain.coefficients)
    clean = plain.simulate(500)
    np.testing.assert_array_equal(noisy.simulate(500).y, clean.y)
    u, y = noisy.simulate(500, snr_db=20, washout=0)
    np.testing.assert_array_equal(y, noisy.simulate(500, snr_db=20, washout=0, noise="equation").y)
    # e(k) is what the equation leaves of y(k), and has the wanted power.
    e = np.zeros(500)
    for k in range(500):
        shown = 0.5 * past(y, k, 1) + past(u, k, 1) ** 2 - past(u, k, 1) * past(e, k, 2) ** 2
        e[k] = y[k] - shown - (0.4 + math.exp(past(u, k, 1) - 3)) * past(e, k, 1)
    unit = plain.simulate(500, snr_db=20, washout=0).y - plain.simulate(500, washout=0).y
    np.testing.assert_allclose(e, unit, atol=1e-12)


# Descriptions.


def test_a_system_that_is_sampled_faster():
    fast = System("X", "y(k) = 0.5*y(k-1) - 0.2*y(k-2) + u(k-1)^2 + 1", n_u=2, n_y=2, degree=2).oversampled(4)
    assert fast.equation == "y(k) = + 0.875*y(k-1) - 0.05*y(k-2) + 0.25*u(k-1)^2 + 0.25"
    # Without y(k-1) it gains one; the steady state stays where it is.
    assert System("X", "y(k) = u(k-1)", **LINEAR).oversampled(2).terms == ["y(k-1)", "u(k-1)"]
    for equation in (f"{TRUE} + 0.4*e(k-1)", "y(k) = sin(y(k-1))"):
        with pytest.raises(NarxbenchError, match="allowed: a polynomial without noise terms"):
            System("X", equation, **SMALL).oversampled(2)


# Systems that diverge with a slow Gaussian input, which no scenario drives them with.
FOR_BOUNDED_INPUTS = ("narma10", "tmau-sine")


@pytest.mark.parametrize("name", NAMES)
def test_every_described_system_is_stable(name):
    system = load_system(name)
    assert system.reference and repr(System(**system.definition())) == repr(system)
    larger = system.with_candidates(n_y=system.n_y + 1)
    np.testing.assert_array_equal(larger.simulate(50, snr_db=30).y, system.simulate(50, snr_db=30).y)
    slow = [] if name in FOR_BOUNDED_INPUTS else [{"excitation": with_input(kind="autoregressive", sd=0.3).excitation}]
    for conditions in ({}, *slow, {"noise": "equation"}):
        u, y = system.simulate(600, snr_db=20, **conditions)
        assert u.std() > 0 and y.std() > 0


# Excitation.


def with_input(**excitation):
    """Return a system with an excitation."""
    return System("X", TRUE, **SMALL, excitation=excitation)


def drawn(system, size=3000):
    """Return the input of a system."""
    return system.simulate(size, washout=0).u


def test_distributions_of_inputs():
    uniform = drawn(with_input(kind="uniform", low=-2.0, high=1.0), 20_000)
    assert -2 <= uniform.min() < -1.99 and 0.99 < uniform.max() <= 1
    gaussian = drawn(with_input(kind="gaussian", sd=0.3), 20_000)
    assert np.std(gaussian) == pytest.approx(0.3, rel=0.02) and abs(np.mean(gaussian)) < 0.01
    coloured = drawn(with_input(kind="autoregressive", sd=0.3, pole=0.8), 20_000)
    assert np.std(coloured) == pytest.approx(0.3, rel=0.05)
    assert np.corrcoef(coloured[1:], coloured[:-1])[0, 1] == pytest.approx(0.8, abs=0.02)


def test_a_recorded_input_is_read(tmp_path):
    file = tmp_path / "u.csv"
    file.write_text("u\n" + "\n".join(map(str, (0.01 * np.arange(50)).tolist())) + "\n")
    recorded = with_input(kind="recorded", file=str(file))
    np.testing.assert_allclose(drawn(recorded, 40), 0.01 * np.arange(40))
    with pytest.raises(NarxbenchError, match="found 50 samples; allowed: at least 60"):
        drawn(recorded, 60)


def test_inputs_that_are_made_of_others():
    slow = {"kind": "autoregressive", "sd": 0.5, "pole": 0.8}
    held = with_input(kind="held", hold=4, source=slow)
    np.testing.assert_array_equal(drawn(held)[::4], drawn(with_input(**slow), 750))
    np.testing.assert_array_equal(drawn(held, 10), drawn(held)[:10])
    np.testing.assert_array_equal(drawn(held)[3::4], drawn(held)[::4])
    np.testing.assert_array_equal(drawn(with_input(kind="held", hold=1)), drawn(System("X", TRUE, **SMALL)))
    binary, source = drawn(with_input(kind="binary", source=slow)), drawn(with_input(**slow))
    np.testing.assert_allclose(np.unique(binary), source.mean() + source.std() * np.array([-1.0, 1.0]))
    np.testing.assert_array_equal(binary > source.mean(), source > source.mean())


def test_a_system_has_its_own_input_unless_another_is_given():
    wide, plain = with_input(kind="uniform", high=3.0), System("X", TRUE, **SMALL)
    assert np.array_equal(wide.simulate(50).u, plain.simulate(50, excitation=wide.excitation).u)
    default = with_input(kind="uniform").excitation
    assert np.array_equal(wide.simulate(50, excitation=default).u, plain.simulate(50).u)


# Noise.

SAMPLES = 5000


def test_noise_has_the_wanted_power_and_is_shared_by_all_snr():
    system = load_system("S1")
    u, clean = system.simulate(20_000)
    noise = {}
    for snr in (50, 30):
        noisy = system.simulate(20_000, snr_db=snr, noise="output")
        np.testing.assert_array_equal(noisy.u, u)
        noise[snr] = noisy.y - clean
        assert 10 * np.log10(np.var(clean) / np.var(noise[snr])) == pytest.approx(snr, abs=0.2)
    np.testing.assert_allclose(noise[30], 10 * noise[50], rtol=1e-9, atol=1e-12)


def test_name_seed_and_realisation_decide_the_data():
    conditions = [("S2", {}), *(("S1", axis) for axis in ({}, {"seed": 2}, {"realisation": 0}, {"realisation": 1}))]
    inputs, again = ([load_system(name).simulate(50, **axis).u.tobytes() for name, axis in conditions] for _ in "12")
    assert inputs == again and len(set(inputs)) == 5


@cache
def simulated(noise=None):
    """Return the signals of S1 from rest, with a kind of noise or without any."""
    snr_db = None if noise is None else 20
    return load_system("S1").simulate(SAMPLES, snr_db=snr_db, washout=0, noise=noise or "output")


def added(noise):
    """Return what a kind of noise adds to the output of S1; the input is as it was unless the kind says otherwise."""
    changes_input = noise in ("input", "input-output", "closed-loop")
    assert np.array_equal(simulated(noise).u, simulated().u) != changes_input
    return simulated(noise).y - simulated().y


def left_by_the_equation(u, y):
    """Return what the equation of S1 leaves of the output."""
    return y[1:] - (0.5 * y[:-1] + 0.3 * u[:-1] + 0.3 * y[:-1] * u[:-1] + 0.5 * u[:-1] ** 2)


# The moving average and the autoregression of each kind.
FILTERS = {
    "equation": ([], []),
    "ar-output": ([], [-0.9]),
    "arma-output": ([0.6], [-0.86, 0.64]),
    "ar-equation": ([], [-0.9]),
    "ma-equation": ([-0.5, 0.04, -0.4, 0.31], []),
}


@pytest.mark.parametrize("noise", FILTERS)
def test_filtered_noise_keeps_its_variance(noise):
    polynomials = [np.r_[1.0, weights] for weights in FILTERS[noise]]
    impulse = lfilter(*polynomials, np.r_[1.0, np.zeros(2000)])
    expected = lfilter(*polynomials, added("output")) / np.sqrt(impulse @ impulse)
    if noise.endswith("equation"):
        np.testing.assert_allclose(left_by_the_equation(*simulated(noise)), expected[1:], atol=1e-12)
    else:
        np.testing.assert_allclose(added(noise), expected, atol=1e-12)


def test_outliers_are_few_and_large():
    errors = (added("outliers") - added("output")) / simulated().y.std()
    sizes = np.abs(errors[errors != 0])
    assert len(sizes) / SAMPLES == pytest.approx(0.02, abs=0.006) and 0.3 < (errors > 0).sum() / len(sizes) < 0.7
    assert 1 - 1e-9 < sizes.min() < 1.2 and 2.8 < sizes.max() < 3 + 1e-9


def test_student_t_has_its_distribution():
    scale = np.std(added("output")) / math.sqrt(3)
    assert stats.kstest(added("student-t") / scale, stats.t(3).cdf).pvalue > 0.01


def test_proportional_noise_and_drift():
    y = simulated().y
    np.testing.assert_allclose(added("proportional"), added("output") * np.abs(y) / np.sqrt(np.mean(y**2)))
    slow = 0.15 * y.std() * np.sin(3 * np.pi * np.arange(SAMPLES) / SAMPLES)
    np.testing.assert_allclose(added("drift") - added("output"), slow, atol=1e-4 * np.abs(slow).max())


@pytest.mark.parametrize("noise", ["input", "input-output"])
def test_noise_on_the_input_is_20_db_below_it(noise):
    clean, measured = simulated(), simulated(noise)
    errors = measured.u - clean.u
    assert 10 * math.log10(clean.u.var() / errors.var()) == pytest.approx(20, abs=0.3)
    np.testing.assert_array_equal(added(noise), added("output"))
    for signal in (clean.u, added("output")):
        assert abs(np.corrcoef(errors, signal)[0, 1]) < 0.05


def test_a_controller_acts_on_the_measured_output():
    clean, (u, y) = simulated(), simulated("closed-loop")
    reaction = -0.2 * clean.u.std() / clean.y.std() * (y - clean.y.mean())
    np.testing.assert_allclose(u, clean.u + reaction, atol=1e-12)
    # The output without its noise obeys the equation under this input.
    np.testing.assert_allclose(left_by_the_equation(u, y - added("output")), np.zeros(SAMPLES - 1), atol=1e-12)


def test_a_constant_output_has_no_size():
    still = System("still", "y(k) = 0.5*y(k-1)*u(k-1)", **SMALL)
    for noise in ("proportional", "closed-loop"):
        with pytest.raises(NarxbenchError, match="an output that does not vary"):
            still.simulate(50, snr_db=20, noise=noise)
