"""Models: scores, files, expansions, equations, noise models and data of pandas; files of signals."""

import math
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.unit.model.models import ARX, NAR, TWO, models, signals

from narxbench import Model, NarxbenchError, read_signals, write_signals

quick = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
finite = st.floats(allow_nan=False, allow_infinity=False)


def changed(model, **values):
    """Return a model with some other values."""
    return Model(**{**vars(model), **values})


@quick
@given(models(scaled=True), st.integers(0, 2**32))
def test_expansions_predict_the_same_one_step_ahead(model, seed):
    expanded = model.expanded()
    assert expanded.offsets is None and expanded.scales is None
    u, y = signals(model, model.initial_samples + 4, seed)
    expected = model.predict(u, y, steps=1)
    np.testing.assert_allclose(expanded.predict(u, y, steps=1, samples=len(u)), expected, rtol=1e-9, atol=1e-9)
    assert expanded.monomials == sorted(expanded.monomials, key=lambda monomial: (len(monomial), monomial))


def test_equal_terms_of_an_expansion_are_one_and_too_many_are_refused():
    model = Model(("y(k-1)", "y(k-1)^2", "1"), (1.0, 1.0, 4.0), (), "y", offsets=(1.0,), scales=(2.0,))
    # 2 ((y-1)/2 + (y-1)^2/4 + 4) + 1 = y^2/2 + 17/2; what is 0 by chance is there with its uncertainty.
    assert model.expanded().terms == ("1", "y(k-1)", "y(k-1)^2")
    assert model.expanded().coefficients == (8.5, 0.0, 0.5)
    assert ARX.expanded() is ARX
    # Each of the terms has twelve different factors.
    terms = ["*".join(f"y(k-{lag})" for lag in range(first, first + 12)) for first in (1, 2)]
    model = Model(terms, (1.0, 1.0), (), "y", offsets=(1.0,), scales=(2.0,))
    with pytest.raises(NarxbenchError, match="terms: found terms whose expansion has up to 8192 terms"):
        model.expanded()


def test_covariance_of_an_expansion():
    """That of draws of the coefficients, each of them expanded."""
    covariance = np.array([[0.04, 0.01, 0.0], [0.01, 0.09, -0.02], [0.0, -0.02, 0.01]])
    scaling = {"offsets": (1.0, -2.0), "scales": (2.0, 0.5)}
    terms = ("y(k-1)", "y(k-1)*u(k-2)", "1")
    model = Model(terms, (0.5, -0.2, 0.1), ("u",), "y", covariance=covariance, **scaling)
    expanded = model.expanded()
    stepped = [changed(model, coefficients=model.coefficients + step).expanded().coefficients for step in np.eye(3)]
    transform = np.subtract(stepped, expanded.coefficients).T
    np.testing.assert_allclose(expanded.covariance, transform @ covariance @ transform.T, atol=1e-12)
    np.testing.assert_allclose(expanded.standard_errors, np.sqrt(np.diag(expanded.covariance)))
    assert model.standard_errors == (0.2, 0.3, 0.1) and ARX.standard_errors is None


# Scores: the prediction of this model is its input.
SAME = Model(("u(k)",), (1.0,), ("u",), "y")


@quick
@given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)), min_size=2, max_size=30))
def test_scores_are_what_their_definitions_say(pairs):
    y, predicted = map(list, zip(*pairs, strict=True))
    if max(map(abs, predicted)) > 1e6 * max(map(abs, y)) or max(y) - min(y) < 1e-3:
        return
    scores = SAME.score(predicted, y)
    errors = np.subtract(y, predicted)
    assert scores.samples == len(y) and scores.fit_percent == 100 * (1 - scores.rrse)
    assert scores.mae == pytest.approx(np.abs(errors).mean(), rel=1e-9, abs=1e-300)
    spread = math.fsum((a - math.fsum(y) / len(y)) ** 2 for a in y)
    assert scores.rrse == pytest.approx(math.sqrt((errors**2).sum() / spread), rel=1e-9, abs=1e-200)
    assert scores.nrmse == pytest.approx(math.sqrt((errors**2).mean()) / (max(y) - min(y)), rel=1e-9, abs=1e-200)


def test_scores_are_never_nan():
    assert SAME.score([0.1, 0.2, 0.1], [0.1] * 3) == (None, None, None, pytest.approx(0.1 / 3), 3)
    for size in (1e-300, 1e200, 1e300):
        scores = SAME.score(np.array([1.0, 2.0, 2.0]) * size, np.array([1.0, 2.0, 3.0]) * size)
        assert scores.rrse == pytest.approx(math.sqrt(0.5)) and scores.mae == pytest.approx(size / 3)
    assert SAME.score([], []) == (None, None, None, None, 0)
    growing = Model(("y(k-1)",), (10.0,), (), "y")
    assert growing.score(None, [1.0, 2.0] * 10) == (None, None, None, None, 19)


def test_the_first_outputs_are_not_scored():
    u, y = [1.0, 2.0, 3.0, 4.0], [50.0, 26.0, 15.0, 11.0]
    for steps in (None, 1):
        assert ARX.score(u, y, steps) == SAME.score([26.0, 15.0, 10.5], y[1:])
    assert ARX.score(u[:1], y[:1]).samples == 0
    assert NAR.score(None, [4.0, 2.0, 1.0, 0.5]).rrse == NAR.score(np.zeros((2, 0)), [4.0, 2.0], 2).mae == 0


def test_shapes_of_data_and_steps():
    u, y = np.arange(1.0, 6.0), [2.0]
    for same_u in (u[:, None], list(u), u.astype(int), u[:, None].copy(order="F")):
        assert ARX.predict(same_u, [[2]]).tolist() == ARX.predict(u, y).tolist()
    assert NAR.predict(None, [4], samples=3).tolist() == [4.0, 2.0, 1.0]
    assert Model(("u(k)",), (2.0,), ("u",), "y").predict(u, []).tolist() == (2 * u).tolist()
    timed = changed(TWO, sampling_time=0.5)
    assert (TWO.max_lag, TWO.initial_samples, TWO.step_time, timed.step_time) == (2, 24, None, 6.0)
    assert timed.decimated() == changed(TWO, sampling_time=6.0, decimation=1)
    assert pickle.loads(pickle.dumps(timed)) == timed and len({ARX, changed(ARX), NAR}) == 2


def test_spellings_of_terms():
    written = " u12(t - 3)**2 * y( k-1)u1(k)\nu1(k-0)"
    model = Model((written, "1"), (1.0, 2.0), tuple("abcdefghijkl"), "y")
    assert model.monomials == [((0, 1), (1, 0), (1, 0), (12, 3), (12, 3)), ()]
    assert model.terms == ("y(k-1)*u1(k)^2*u12(k-3)^2", "1")


# Noise models.


@given(st.lists(st.floats(-2, 2), max_size=5))
def test_a_filter_is_stable_if_its_zeros_lie_inside_the_unit_circle(coefficients):
    radius = max(np.abs(np.roots([1.0, *coefficients])), default=0.0)
    if radius < 1.0 - 1e-6:
        changed(ARX, noise_model="ararx", autoregression=coefficients)
    elif radius > 1.0 + 1e-6:
        with pytest.raises(NarxbenchError, match="which is not stable"):
            changed(ARX, noise_model="ararx", autoregression=coefficients)


LEGENDS = [
    ({}, ""),
    ({"noise_model": "noe"}, "noise: white noise on the output (NOE)"),
    (
        {"noise_model": "box-jenkins", "autoregression": (0.0, 0.25), "moving_average": (-0.5,)},
        "noise: coloured noise on the output (Box-Jenkins), w(k) = -0.25 w(k-2) + e(k) - 0.5 e(k-1) with white e(k)",
    ),
    (
        {"noise_model": "narmax", "moving_average": (-0.9,), "is_integrated": True},
        "noise: a moving average in the equation (NARMAX), integrated, w(k) = w(k-1) + e(k) - 0.9 e(k-1) "
        "with white e(k)",
    ),
    (
        {"noise_model": "ararx", "autoregression": (-0.5,), "is_integrated": True, "degrees_of_freedom": 4},
        "noise: autoregressive noise in the equation (ARARX), integrated, w(k) = w(k-1) + v(k), "
        "v(k) = 0.5 v(k-1) + e(k) with white e(k), Student-t with 4 degrees of freedom",
    ),
]


@pytest.mark.parametrize(("noise", "line"), LEGENDS)
def test_noise_is_in_words_and_files(noise, line, tmp_path):
    model = changed(ARX, **noise)
    assert "\n".join(model.equation().split("\n")[1:]) == line
    assert repr(model) == f"<Model: {model.equation()}>"
    assert ("noise:" in model.export("python")) == bool(line)
    model.save(tmp_path / "model.json")
    assert Model.load(tmp_path / "model.json") == model
    assert model.decimated() == model and model.expanded() == model


# Files.

FULL = Model(
    ("y(k-1)", "u(k-2)^2"),
    (0.1, -1e-17),
    ("u\n,ä",),
    "y",
    decimation=3,
    sampling_time=1e-5,
    units={"y": "°C"},
    covariance=((0.1, 1e-300), (1e-300, 2.0)),
    offsets=(0.3, 1.0),
    scales=(1.0, 1 / 3),
    data_digest="0f",
    about={"method": "frols", "settings": {"orders": [1, 2], "x": None}},
)


@quick
@given(models())
@example(FULL)
def test_what_is_written_is_read_and_written_again(tmp_path, model):
    model.save(tmp_path / "new" / "model.json")
    Model.load(tmp_path / "new" / "model.json").save(tmp_path / "again")
    assert Model.load(tmp_path / "again") == model
    assert (tmp_path / "again").read_bytes() == (tmp_path / "new" / "model.json").read_bytes()


@given(values=st.lists(st.tuples(finite, finite), min_size=1, max_size=30))
@quick
def test_every_data_set_reads_back_to_the_last_bit(tmp_path, values):
    u, y = np.array(values).T
    write_signals(tmp_path / "data.csv", u, y)
    assert np.array(read_signals(tmp_path / "data.csv")).tobytes() == np.array([u, y]).tobytes()


def test_other_columns_and_layouts_of_data_sets(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b'\xef\xbb\xbftime, y ,u,note\r\n0,1e-3, -2,\r\n1,+4.,"0.5","a,b"\r\n\r\n')
    u, y = read_signals(path)
    np.testing.assert_array_equal(u, [-2.0, 0.5])
    np.testing.assert_array_equal(y, [1e-3, 4.0])
    assert len(read_signals(path, ("time",))) == 1


# Equations.

NAMED = Model(
    ("y(k-1)", "y(k-1)^2*u(k-2)", "1"),
    (0.851249, -0.0312, 3.1e-5),
    ("input",),
    "output voltage",
    decimation=12,
    sampling_time=1e-5,
    units={"output voltage": "V", "other": "A"},
)
UNUSUAL = Model(tuple(f"u1(k-{lag})^12" for lag in range(1, 8)), [-1e30] * 7, ("a_b\\%", "$ #1"), "{y}^~")


def test_equations():
    assert NAMED.equation().split("\n") == [
        "y(k) = 0.8512 y(k-1) - 0.0312 y(k-1)^2*u(k-2) + 3.1e-05",
        "y: output voltage (V); u: input; k counts steps of 12 samples, 120 µs",
    ]
    assert NAMED.equation(digits=17).startswith("y(k) = 0.851249")
    # What is plain is not said.
    assert ARX.equation() == "y(k) = 0.5 y(k-1) + 1 u(k-1)"
    for seconds, text in {86400: "86400 s", 0.001: "1 ms", 1e-10: "0.1 ns"}.items():
        assert changed(ARX, sampling_time=seconds).equation().endswith(f"k counts samples of {text}")
    assert changed(ARX, decimation=2).equation().split("\n")[1:] == ["k counts steps of 2 samples"]
    assert changed(ARX, output="a\nb").equation().endswith(r"y: a\nb; u: u")
    scaled = changed(ARX, offsets=(1.5, -2.0), scales=(1.0, 4.0))
    assert scaled.equation().split("\n")[1] == "y: y, minus 1.5; u: u, plus 2, divided by 4"


def test_equations_in_latex():
    assert NAMED.latex().split("\n") == [
        r"\[",
        r"\begin{array}{rl}",
        r"y(k) = & 0.8512\,y(k-1) - 0.0312\,y(k-1)^{2}\,u(k-2) + 3.1 \times 10^{-5}",
        r"\end{array}",
        r"\]",
        r"$y$: output voltage (V); $u$: input; $k$ counts steps of 12 samples, 120 $\mu$s.",
    ]
    assert "\n" in ARX.latex() and not ARX.latex().endswith(".") and ARX._repr_latex_().startswith("$$")
    lines = UNUSUAL.latex().split("\n")
    assert lines[2].startswith(r"y(k) = & -1 \times 10^{30}\,u_{1}(k-1)^{12} - 1 \times")
    assert lines[3].startswith(r"& {} - 1 \times") and lines[3].endswith(r" \\") and not lines[4].endswith("\\")
    assert lines[-1] == (
        r"$y$: \{y\}\textasciicircum{}\textasciitilde{}; $u_{1}$: a\_b\textbackslash{}\%; $u_{2}$: \$ \#1."
    )
    noisy = changed(ARX, noise_model="ararmax", autoregression=(-0.5,), moving_average=(1e-7,))
    formula = r"$w(k) = 0.5\,w(k-1) + e(k) + 1 \times 10^{-7}\,e(k-1)$ with white $e(k)$."
    assert noisy.latex().endswith(f"(ARARMAX), {formula}")


def test_pandas_comes_back_with_its_index():
    model = Model(("y(k-1)", "u1(k-1)", "u2(k-1)"), (0.5, 1.0, -2.0), ("a", "b"), "level")
    times = pd.date_range("2026-01-01", periods=4, freq="1s")
    frame = pd.DataFrame({"b": [1.0, 2, 3, 4], "level": [0.0, 1, 2, 3], "a": [5.0, 6, 7, 8]}, index=times)
    shown = model.predict(frame, frame["level"])
    assert isinstance(shown, pd.Series) and shown.name == "level" and shown.index.equals(times)
    plain = model.predict(frame[["a", "b"]].to_numpy(), frame["level"].to_numpy())
    assert isinstance(plain, np.ndarray) and plain.tolist() == shown.tolist()
    # The columns that the model names, whatever their order and units.
    with_units = frame.rename(columns={"a": "a [V]", "b": "b (K)"})
    assert model.predict(with_units, [0.0]).tolist() == plain.tolist()
    # Columns of other names are taken as they come, but not if the model names some of them.
    assert model.predict(frame[["a", "b"]].set_axis(["x", "z"], axis=1), [0.0]).tolist() == plain.tolist()
    with pytest.raises(NarxbenchError, match=r"u: found the columns B, a; needed: a, b \(did you mean 'B'\?\)"):
        model.predict(frame[["b", "a"]].rename(columns={"b": "B"}), [0.0])
