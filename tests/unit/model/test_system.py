"""Systems: equations as text, files of systems, and simulation."""

import csv
import json
import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from narxbench._io.errors import NarxbenchError
from narxbench._io.files import CONFIG_FOLDER
from narxbench._model.excitation import AutoregressiveInput, UniformInput
from narxbench._model.system import System, load_system, parse_equation, system_names
from narxbench._model.terms import candidate_monomials, term_name

quick = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
REFERENCE = CONFIG_FOLDER.parent / "data" / "reference"
monomials = st.lists(st.tuples(st.integers(0, 1), st.integers(1, 9999)), max_size=12).map(lambda m: tuple(sorted(m)))
coefficients = st.floats(allow_nan=False, allow_infinity=False).filter(bool)


@pytest.mark.parametrize("name", ["S1", "S2", "S3", "S4"])
def test_systems_have_the_published_terms(name):
    with open(REFERENCE / "system_terms.csv") as stream:
        published = {r["term"]: float(r["coefficient"]) for r in csv.DictReader(stream) if r["system"] == name}
    system = load_system(name)
    assert dict(zip(system.terms, system.coefficients, strict=True)) == published


def test_spellings_of_equations():
    assert parse_equation("y(t)= -2u(t-1)y(t-2) + 1") == [(((0, 2), (1, 1)), -2.0), ((), 1.0)]
    assert parse_equation("y(k) = − y(k-1) + 1e-3*u(k-1)**2") == [(((0, 1),), -1.0), (((1, 1), (1, 1)), 1e-3)]


def equation_of(pairs):
    """Return the canonical text of an equation."""
    text = "y(k) ="
    for monomial, coefficient in pairs:
        sign = "-" if coefficient < 0 else "+"
        text += f" {sign} {abs(coefficient)!r}*{term_name(monomial)}".removesuffix("*1")
    return text


@given(pairs=st.lists(st.tuples(monomials, coefficients), min_size=1, max_size=8, unique_by=lambda pair: pair[0]))
@quick
def test_every_equation_reads_back(pairs):
    assert parse_equation(equation_of(pairs)) == pairs


@given(st.text(max_size=60) | st.text("yuk()-+*^=0123456789. eEt−", max_size=60))
@quick
def test_any_text_is_an_equation_or_a_clear_error(text):
    try:
        pairs = parse_equation("y(k) = " + text)
    except NarxbenchError as error:
        assert str(error).isprintable()
        return
    assert pairs
    for _, coefficient in pairs:
        assert math.isfinite(coefficient) and coefficient != 0.0
    assert parse_equation(equation_of(pairs)) == pairs


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


def test_noise_in_the_equation_leaves_the_input_as_it_is():
    system = load_system("S1")
    u, clean = system.simulate(20_000)
    noisy = {snr: system.simulate(20_000, snr_db=snr, noise="equation") for snr in (50, 30)}
    np.testing.assert_array_equal(noisy[50].u, u)
    np.testing.assert_array_equal(noisy[30].u, u)
    assert not np.allclose(noisy[30].y, clean)


def test_name_seed_and_realisation_decide_the_data():
    first, again = (load_system("S1").simulate(100, snr_db=30) for _ in range(2))
    assert np.array_equal(first.y, again.y)
    inputs = [first.u, load_system("S2").simulate(100).u]
    for axis in ({"seed": 2}, {"realisation": 0}, {"realisation": 1}):
        inputs.append(load_system("S1").simulate(100, **axis).u)
    assert len({u.tobytes() for u in inputs}) == 5


TRUE = "y(k) = 0.5*y(k-1) + u(k-1)^2"
SMALL = {"n_u": 1, "n_y": 1, "degree": 2}


def test_noise_terms_are_no_system_terms_and_always_act():
    plain, noisy = System("X", TRUE, **SMALL), System("X", f"{TRUE} + 0.4*e(k-1) - u(k-1)*e(k-2)", **SMALL)
    assert noisy.inside and (noisy.monomials, noisy.coefficients) == (plain.monomials, plain.coefficients)
    clean = plain.simulate(500)
    np.testing.assert_array_equal(noisy.simulate(500).y, clean.y)
    u, y = noisy.simulate(500, snr_db=20, washout=0)
    np.testing.assert_array_equal(y, noisy.simulate(500, snr_db=20, washout=0, noise="equation").y)
    # e(k) is what the equation leaves of y(k), and has the wanted power.
    e = np.zeros(500)
    e[0] = y[0]
    e[1] = y[1] - (0.5 * y[0] + u[0] ** 2 + 0.4 * e[0])
    for k in range(2, 500):
        e[k] = y[k] - (0.5 * y[k - 1] + u[k - 1] ** 2 + 0.4 * e[k - 1] - u[k - 1] * e[k - 2])
    unit = plain.simulate(500, snr_db=20, washout=0).y - plain.simulate(500, washout=0).y
    np.testing.assert_allclose(e, unit, atol=1e-12)


def test_a_system_that_is_sampled_faster():
    system = System("X", "y(k) = 0.5*y(k-1) - 0.2*y(k-2) + u(k-1)^2 + 1", n_u=2, n_y=2, degree=2)
    fast = system.oversampled(4)
    assert dict(zip(fast.terms, fast.coefficients, strict=True)) == {
        "y(k-1)": 0.5 / 4 + 0.75,
        "y(k-2)": -0.05,
        "u(k-1)^2": 0.25,
        "1": 0.25,
    }
    assert (fast.name, fast.n_u, fast.n_y, fast.degree) == ("X", 2, 2, 2)
    # Without y(k-1) it gains one; the steady state stays where it is.
    assert System("X", "y(k) = u(k-1)", n_u=1, n_y=1, degree=1).oversampled(2).terms == ["y(k-1)", "u(k-1)"]
    for equation in (f"{TRUE} + 0.4*e(k-1)", "y(k) = sin(y(k-1))"):
        with pytest.raises(NarxbenchError, match="allowed: a polynomial without noise terms"):
            System("X", equation, **SMALL).oversampled(2)


def test_a_truth_outside_the_candidates():
    equation = "y(k) = y(k-1)/(1 + exp(y(k-2))) + 0.5*sin(pi*u(k-1)) + 0.3*e(k-1)"
    system = System("X", equation, n_u=1, n_y=1, degree=3)
    assert not system.inside and system.terms == system.monomials == system.coefficients == []
    u, y = system.simulate(60, washout=0)
    expected = [0.0, 0.5 * math.sin(math.pi * u[0])]
    for k in range(2, 60):
        expected.append(expected[-1] / (1 + math.exp(expected[-2])) + 0.5 * math.sin(math.pi * u[k - 1]))
    np.testing.assert_allclose(y, expected, rtol=1e-12, atol=1e-14)
    assert not np.allclose(system.simulate(60, washout=0, snr_db=10).y, y)
    with pytest.raises(NarxbenchError, match=r"X: its output diverges .* at sample 1 "):
        System("X", "y(k) = 1/y(k-1)", n_u=1, n_y=1, degree=1).simulate(5)


def test_a_system_has_its_own_input_unless_another_is_given():
    wide = System("X", TRUE, **SMALL, excitation={"kind": "uniform", "high": 3.0})
    plain = System("X", TRUE, **SMALL)
    assert np.array_equal(wide.simulate(50).u, plain.simulate(50, excitation=UniformInput(high=3.0)).u)
    assert np.array_equal(wide.simulate(50, excitation=UniformInput()).u, plain.simulate(50).u)
    assert repr(System(**json.loads(json.dumps(wide.definition())))) == repr(wide)


def test_other_candidates_leave_the_data_as_they_are():
    system = System("X", TRUE, **SMALL, excitation=UniformInput(high=0.5), reference="R")
    larger = system.with_candidates(n_y=3, degree=3)
    assert (larger.n_u, larger.n_y, larger.degree, larger.reference) == (1, 3, 3, "R")
    np.testing.assert_array_equal(larger.simulate(50, snr_db=30).y, system.simulate(50, snr_db=30).y)
    # A system term must be a candidate.
    with pytest.raises(NarxbenchError):
        system.with_candidates(degree=1)


# Systems that diverge with a slow Gaussian input, which no scenario drives them with.
FOR_BOUNDED_INPUTS = ("narma10", "tmau-sine")


@pytest.mark.parametrize("name", system_names())
def test_every_described_system_is_stable(name):
    system = load_system(name)
    assert system.reference and System(**system.definition()).definition() == system.definition()
    slow = [] if name in FOR_BOUNDED_INPUTS else [{"excitation": AutoregressiveInput(sd=0.3)}]
    for conditions in ({}, *slow, {"noise": "equation"}):
        u, y = system.simulate(600, snr_db=20, **conditions)
        assert u.std() > 0 and y.std() > 0


@pytest.mark.parametrize("name", [name for name in system_names() if load_system(name).inside])
def test_every_system_within_the_candidates_can_be_found_out(name):
    """The truth is smaller than the candidates, and least squares finds it where there is no noise."""
    system = load_system(name)
    candidates = candidate_monomials(n_u=system.n_u, n_y=system.n_y, degree=system.degree)
    assert len(system.terms) < len(candidates)
    u, y = system.simulate(600)
    first = max(system.n_u, system.n_y)
    columns = np.ones((600 - first, len(system.monomials)))
    for place, monomial in enumerate(system.monomials):
        for signal, lag in monomial:
            columns[:, place] *= (y, u)[signal][first - lag : 600 - lag]
    np.testing.assert_allclose(np.linalg.lstsq(columns, y[first:])[0], system.coefficients, rtol=1e-6)
