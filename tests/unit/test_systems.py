import csv
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from narxbench import NarxbenchError, load_system
from narxbench.model.excitation import AutoregressiveInput, GaussianInput, RecordedInput, UniformInput
from narxbench.model.system import System, parse_equation

TRUE_TERMS = Path(__file__).parents[2] / "data" / "reference" / "system_terms.csv"


@pytest.mark.parametrize("name", ["S1", "S2", "S3", "S4"])
def test_systems_have_the_published_terms(name):
    with open(TRUE_TERMS) as stream:
        published = {r["term"]: float(r["coefficient"]) for r in csv.DictReader(stream) if r["system"] == name}
    system = load_system(name)
    assert dict(zip(system.terms, system.coefficients, strict=True)) == published


@pytest.mark.parametrize(
    ("equation", "pairs"),
    [
        ("y(k) = 0.5*y(k-1)", [(((0, 1),), 0.5)]),
        ("y(t)= -2u(t-1)y(t-2) + 1", [(((0, 2), (1, 1)), -2.0), ((), 1.0)]),
        ("y(k) = - y(k-1) + 1e-3*u(k-1)**2", [(((0, 1),), -1.0), (((1, 1), (1, 1)), 1e-3)]),
    ],
)
def test_parse_equation(equation, pairs):
    assert parse_equation(equation) == pairs


@pytest.mark.parametrize(
    "equation",
    ["", "y(k)", "y(k) =", "y = y(k-1)", "y(k) = y(k-1) +", "y(k) = y(k-1) + + 1", "y(k) = 0*y(k-1)", "y(k) = 0.5*"]
    + ["y(k) = y(k-1) + y(k-1)", "y(k) = y(k-1)*0.5", "y(k) = 1e999", "y(k) = sin(y(k-1))", "y(k) = y(k-1) = 2"],
)
def test_bad_equations(equation):
    with pytest.raises(NarxbenchError, match="equation"):
        parse_equation(equation)


@given(st.text(alphabet="yuk()-+*^=0123456789. eEt", max_size=60))
def test_parsing_never_fails_otherwise(text):
    try:
        pairs = parse_equation("y(k) = " + text)
    except NarxbenchError:
        return
    assert pairs and all(math.isfinite(c) and c for _, c in pairs)


def test_a_term_outside_the_orders_is_refused():
    with pytest.raises(NarxbenchError, match=r"y\(k-3\)"):
        System("X", "y(k) = 0.5*y(k-3)", n_u=1, n_y=2, degree=1)


def test_unknown_system_names_the_closest():
    with pytest.raises(NarxbenchError, match="did you mean 'S1'"):
        load_system("S11")


@pytest.mark.parametrize("name", ["../S1", "S1.yaml", "/etc/passwd", "", "S1\n"])
def test_a_name_is_no_path(name):
    with pytest.raises(NarxbenchError, match="system"):
        load_system(name)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("degree: 0\nn_u: 1\nn_y: 1\nequation: y(k) = y(k-1)", "degree: found 0"),
        ("degre: 2\ndegree: 2\nn_u: 1\nn_y: 1\nequation: y(k) = y(k-1)", "did you mean 'degree'"),
        ("degree: 1\nn_u: '1'\nn_y: 1\nequation: y(k) = y(k-1)", "n_u: found '1'"),
        ("degree: 1\nn_u: 1\nn_y: 1\nequation: y(k) = z(k-1)", "did not expect 'z"),
        ("[", "X.yaml"),
        ("- 1", "X.yaml"),
        ("degree: 1\ndegree: 2\nn_u: 1\nn_y: 1\nequation: y(k) = y(k-1)", "twice"),
    ],
)
def test_a_bad_system_file_is_told_with_its_name(tmp_path, content, found):
    (tmp_path / "X.yaml").write_text(content)
    with pytest.raises(NarxbenchError) as error:
        load_system("X", tmp_path)
    assert "X.yaml" in str(error.value) and found in str(error.value)
    assert "\n" not in str(error.value)


def test_the_response_by_hand():
    system = System("X", "y(k) = 0.5*y(k-1) + u(k-2)^2 - 1", n_u=2, n_y=1, degree=2)
    u, y = system.simulate(50, washout=0)
    expected = []
    for k in range(50):
        expected.append((0.5 * expected[-1] if k else 0.0) + (u[k - 2] ** 2 if k >= 2 else 0.0) - 1)
    np.testing.assert_allclose(y, expected, rtol=1e-15)


@pytest.mark.parametrize("noise", ["output", "equation"])
def test_noise_has_the_wanted_power_and_one_realisation(noise):
    system = load_system("S1")
    u0, clean = system.simulate(20_000)
    noisy = {snr: system.simulate(20_000, snr_db=snr, noise=noise) for snr in (50, 30)}
    for snr, (u, y) in noisy.items():
        assert np.array_equal(u, u0)
        if noise == "output":
            assert 10 * np.log10(np.var(clean) / np.var(y - clean)) == pytest.approx(snr, abs=0.2)
    if noise == "output":
        np.testing.assert_allclose(noisy[30][1] - clean, 10 * (noisy[50][1] - clean), rtol=1e-9, atol=1e-12)
    else:
        assert not np.allclose(noisy[30][1], clean)


def test_seeds_and_names_decide_the_data():
    first, again = load_system("S1").simulate(100, snr_db=30), load_system("S1").simulate(100, snr_db=30)
    assert np.array_equal(first.y, again.y)
    assert not np.array_equal(first.u, load_system("S1").simulate(100, seed=2).u)
    assert not np.array_equal(first.u, load_system("S2").simulate(100).u)


def test_washout_drops_the_first_samples():
    system = load_system("S3")
    np.testing.assert_array_equal(system.simulate(100, washout=20).y, system.simulate(120, washout=0).y[20:])


def test_s4_diverges_under_gaussian_input_and_says_so():
    with pytest.raises(NarxbenchError, match=r"S4: its output diverges .* at sample \d+"):
        load_system("S4").simulate(2000, excitation=GaussianInput(sd=1.0))


def test_excitations():
    system = load_system("S1")
    uniform = system.simulate(20_000, excitation=UniformInput(low=-2.0, high=1.0)).u
    assert -2 <= uniform.min() < -1.99 and 0.99 < uniform.max() <= 1
    gaussian = system.simulate(20_000, excitation=GaussianInput(sd=0.3)).u
    assert np.std(gaussian) == pytest.approx(0.3, rel=0.02) and abs(np.mean(gaussian)) < 0.01
    coloured = system.simulate(20_000, excitation=AutoregressiveInput(sd=0.3, pole=0.8)).u
    assert np.std(coloured) == pytest.approx(0.3, rel=0.05)
    assert np.corrcoef(coloured[1:], coloured[:-1])[0, 1] == pytest.approx(0.8, abs=0.02)


def test_recorded_excitation(tmp_path):
    file = tmp_path / "u.csv"
    file.write_text("u\n" + "\n".join(str(0.01 * i) for i in range(50)) + "\n")
    np.testing.assert_allclose(
        load_system("S1").simulate(40, washout=10, excitation=RecordedInput(file=str(file))).u, 0.01 * np.arange(10, 50)
    )
    with pytest.raises(NarxbenchError, match="found 50 samples; allowed: at least 60"):
        load_system("S1").simulate(50, washout=10, excitation=RecordedInput(file=str(file)))


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("", "line 1"),
        ("u\n", "no samples"),
        ("v\n1\n", "found columns"),
        ("u\n1\nx\n", "line 3, column 'u': found 'x'"),
        ("u\n1\nnan\n", "finite"),
        ("u,y\n1,2\n1\n", "line 3: found 1 fields"),
        ("u\n1_000\n", "finite"),
    ],
)
def test_bad_data_files(tmp_path, content, found):
    file = tmp_path / "u.csv"
    file.write_text(content)
    with pytest.raises(NarxbenchError) as error:
        load_system("S1").simulate(1, washout=0, excitation=RecordedInput(file=str(file)))
    assert str(file) in str(error.value) and found in str(error.value)
