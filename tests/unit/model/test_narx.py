"""Models: predictions against plain loops to the last bit, and scores, files, expansions and equations."""

import itertools
import json
import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.regression import term_names

from narxbench._io.errors import NarxbenchError
from narxbench._model.narx import DivergedError, Model, Scores, scores
from narxbench._model.terms import monomials_of

quick = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
finite = st.floats(allow_nan=False, allow_infinity=False)
ARX = Model(("y(k-1)", "u(k-1)"), (0.5, 1.0), ("u",), "y")


@st.composite
def models(draw, scaled=None):
    n_inputs = draw(st.integers(0, 3))
    factors = [(0, 1), (0, 2), (0, 3), *itertools.product(range(1, 1 + n_inputs), (0, 1, 4))]
    chosen = draw(st.lists(st.sampled_from(monomials_of(factors, 3)), min_size=1, max_size=6, unique=True))
    weights = draw(lists_of(len(chosen), st.floats(-0.4, 0.4)))
    if scaled is None:
        scaled = draw(st.booleans())
    scaling = {}
    if scaled:
        scaling["offsets"] = draw(lists_of(1 + n_inputs, st.floats(-1, 1)))
        scaling["scales"] = draw(lists_of(1 + n_inputs, st.floats(0.5, 3)))
    names = ("input 0", "input 1", "input 2")[:n_inputs]
    return Model(term_names(chosen, n_inputs), weights, names, "out", decimation=draw(st.integers(1, 4)), **scaling)


def lists_of(size, values):
    return st.lists(values, min_size=size, max_size=size)


def signals(model, samples, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-1, 1, (samples, model.n_inputs)), rng.uniform(-1, 1, samples)


def plain_step(model, u, y, k):
    """Return the output at sample k in plain floats; y(j) and u(j, i) are functions of the sample."""
    offsets = model.offsets or [0.0] * (1 + model.n_inputs)
    scales = model.scales or [1.0] * (1 + model.n_inputs)
    value = 0.0
    for weight, monomial in zip(model.coefficients, model.monomials, strict=True):
        product = weight
        for signal, lag in monomial:
            j = k - lag * model.decimation
            assert j >= 0
            product *= ((u(j, signal - 1) if signal else y(j)) - offsets[signal]) / scales[signal]
        value += product
    return value * scales[0] + offsets[0]


def plain_prediction(model, u, y, steps):
    """Return the prediction of each sample, made one by one from what was measured before."""
    samples, first, q = len(u), model.initial_samples, model.decimation

    def predicted(k, start):
        """Return the output at sample k where those before the sample ``start`` are measured."""
        if k < max(first, start):
            return float(y[k])
        if (k, start) not in predictions:
            predictions[k, start] = plain_step(model, lambda j, i: float(u[j, i]), lambda j: predicted(j, start), k)
        return predictions[k, start]

    predictions = {}
    return [predicted(k, 0 if steps is None else k - (steps - 1) * q) for k in range(samples)]


@quick
@given(models(), st.integers(0, 2**32), st.sampled_from([None, 1, 2, 3, 7]), st.integers(0, 40))
def test_predictions_of_a_plain_loop(model, seed, steps, n_predicted):
    u, y = signals(model, model.initial_samples + n_predicted, seed)
    expected = plain_prediction(model, u, y, steps)
    if max(map(abs, expected), default=0) > 1e5:
        return
    assert model.predict(u, y, steps).tolist() == expected


@quick
@given(models(), st.integers(0, 2**32))
def test_a_free_run_sees_the_first_outputs_alone(model, seed):
    u, y = signals(model, model.initial_samples + 30, seed)
    try:
        free_run = model.predict(u, y)
    except DivergedError:
        return
    first = model.initial_samples
    assert model.predict(u, y[:first], samples=len(u)).tolist() == free_run.tolist()
    assert model.predict(u, np.append(y[:first], 9.0)).tolist() == free_run.tolist()
    # A free run is what is predicted more steps ahead than there are.
    assert model.predict(u, y, steps=10**9).tolist() == free_run.tolist()
    # The phases of a decimation know nothing of each other.
    for phase in range(model.decimation):
        samples = slice(phase, None, model.decimation)
        assert model.decimated().predict(u[samples], y[samples]).tolist() == free_run[samples].tolist()


@quick
@given(models(scaled=True), st.integers(0, 2**32))
def test_expansions_are_exact(model, seed):
    """Term by term in fractions, and in the one-step prediction up to rounding."""
    expanded = model.expanded()
    assert expanded.offsets is None and expanded.scales is None
    # By signal and lag.
    values = np.random.default_rng(seed).uniform(-2, 2, (4, 5)).tolist()
    size = 0.0
    for weight, monomial in zip(expanded.coefficients, expanded.monomials, strict=True):
        size += abs(weight * math.prod(Fraction(values[signal][lag]) for signal, lag in monomial))
    # Each coefficient is rounded once.
    bound = 2.0**-53 * size
    assert abs(exact_prediction(model, values) - exact_prediction(expanded, values)) <= bound * (1 + 1e-9) + 1e-300
    ordered = sorted(expanded.monomials, key=lambda monomial: (len(monomial), monomial))
    assert list(expanded.terms) == term_names(ordered, model.n_inputs)


def exact_prediction(model, values):
    """Return the prediction one step ahead in fractions, from values by signal and lag."""
    offsets = [Fraction(offset) for offset in model.offsets or [0.0] * (1 + model.n_inputs)]
    scales = [Fraction(scale) for scale in model.scales or [1.0] * (1 + model.n_inputs)]
    total = Fraction(0)
    for weight, monomial in zip(model.coefficients, model.monomials, strict=True):
        product = Fraction(weight)
        for signal, lag in monomial:
            product *= (Fraction(values[signal][lag]) - offsets[signal]) / scales[signal]
        total += product
    return total * scales[0] + offsets[0]


def test_equal_terms_of_an_expansion_are_one():
    model = Model(("y(k-1)", "y(k-1)^2", "1"), (1.0, 1.0, 4.0), (), "y", offsets=(1.0,), scales=(2.0,))
    # 2 ((y-1)/2 + (y-1)^2/4 + 4) + 1 = y^2/2 + 17/2; what is 0 by chance is there with its uncertainty.
    assert model.expanded().terms == ("1", "y(k-1)", "y(k-1)^2")
    assert model.expanded().coefficients == (8.5, 0.0, 0.5)
    only_scaled = Model(("y(k-1)^2",), (1.0,), (), "y", scales=(2.0,))
    assert only_scaled.expanded().terms == ("y(k-1)^2",)
    assert ARX.expanded() is ARX


def test_an_expansion_that_would_never_end_is_refused():
    terms = []
    for first in range(1, 11):
        terms.append("*".join(f"y(k-{lag})" for lag in range(first, first + 12)))
    model = Model(tuple(terms), (1.0,) * 10, (), "y", offsets=(1.0,), scales=(2.0,))
    with pytest.raises(ValueError, match="terms: found terms whose expansion has up to 40960 terms"):
        model.expanded()


def test_covariance_of_an_expansion():
    """That of draws of the coefficients, each of them expanded."""
    covariance = np.array([[0.04, 0.01, 0.0], [0.01, 0.09, -0.02], [0.0, -0.02, 0.01]])
    scaling = {"offsets": (1.0, -2.0), "scales": (2.0, 0.5)}
    terms = ("y(k-1)", "y(k-1)*u(k-2)", "1")
    model = Model(terms, (0.5, -0.2, 0.1), ("u",), "y", covariance=covariance, **scaling)
    expanded = model.expanded()
    columns = []
    for step in np.eye(3):
        stepped = Model(terms, model.coefficients + step, ("u",), "y", **scaling).expanded()
        columns.append(np.subtract(stepped.coefficients, expanded.coefficients))
    transform = np.column_stack(columns)
    np.testing.assert_allclose(expanded.covariance, transform @ covariance @ transform.T, atol=1e-12)
    np.testing.assert_allclose(expanded.standard_errors, np.sqrt(np.diag(expanded.covariance)))
    assert model.standard_errors == (0.2, 0.3, 0.1)
    assert ARX.standard_errors is None


class TestDivergingPredictions:
    growing = Model(("y(k-1)",), (10.0,), (), "y")

    def test_the_bound_is_a_multiple_of_the_largest_output(self):
        # It is 2e6, and 2e7 lies outside.
        y = [2.0] * 20
        assert self.growing.predict(None, y, steps=6)[-1] == 2e6
        for steps in (7, None):
            with pytest.raises(DivergedError):
                self.growing.predict(None, y, steps=steps, samples=20)

    def test_how_large_outputs_are_may_not_be_known(self):
        assert self.growing.predict(None, [1.0], samples=13)[-1] == 1e12
        with pytest.raises(DivergedError):
            self.growing.predict(None, [1.0], samples=14)
        assert ARX.predict([1e9, 0.0, 0.0], [0.0, 0.0, 0.0]).tolist() == [0.0, 1e9, 5e8]

    def test_it_has_no_scores(self):
        assert self.growing.score(None, [1.0, 2.0] * 10) == Scores(None, None, None, None, 19)


class TestScores:
    @quick
    @given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)), min_size=2, max_size=30))
    def test_the_definitions(self, pairs):
        y, p = map(list, zip(*pairs, strict=True))
        result = scores(y, p)
        errors = np.subtract(y, p)
        assert result.samples == len(y)
        assert result.mae == pytest.approx(np.abs(errors).mean(), rel=1e-9, abs=1e-300)
        spread = math.fsum((a - math.fsum(y) / len(y)) ** 2 for a in y)
        if max(y) - min(y) < 1e-3:
            return
        assert result.rrse == pytest.approx(math.sqrt((errors**2).sum() / spread), rel=1e-9, abs=1e-200)
        assert result.nrmse == pytest.approx(math.sqrt((errors**2).mean()) / (max(y) - min(y)), rel=1e-9, abs=1e-200)
        assert result.fit_percent == 100 * (1 - result.rrse)

    def test_a_constant_output_has_no_spread(self):
        assert scores([0.1] * 3, [0.1, 0.2, 0.1]) == Scores(None, None, None, pytest.approx(0.1 / 3), 3)

    @pytest.mark.parametrize("size", [1e-300, 1e200, 1e300])
    def test_sizes_do_not_matter(self, size):
        result = scores(np.array([1.0, 2.0, 3.0]) * size, np.array([1.0, 2.0, 2.0]) * size)
        assert result.rrse == pytest.approx(math.sqrt(0.5))
        assert result.mae == pytest.approx(size / 3)

    def test_never_nan(self):
        assert scores([], []) == Scores(None, None, None, None, 0)
        assert scores([1.0, 2.0], [math.nan, 2.0]) == Scores(None, None, None, None, 2)
        assert scores([1.0, 2.0], [math.inf, 2.0]).rrse is None
        assert scores([0.0, 0.0, 1e-200], [1.0, 2.0, 3.0]).rrse is None

    def test_the_first_outputs_are_not_scored(self):
        u, y = [1.0, 2.0, 3.0, 4.0], [50.0, 26.0, 15.0, 11.0]
        assert ARX.score(u, y) == scores(y[1:], [26.0, 15.0, 10.5])
        assert ARX.score(u, y, steps=1) == scores(y[1:], [26.0, 15.0, 10.5])
        assert ARX.score(u[:1], y[:1]).samples == 0

    def test_without_inputs(self):
        model = Model(("y(k-1)",), (0.5,), (), "y")
        assert model.score(None, [4.0, 2.0, 1.0, 0.5]).rrse == 0
        assert model.score(np.zeros((4, 0)), [4.0, 2.0, 1.0, 0.5], steps=2).rrse == 0


NAR = Model(("y(k-1)",), (0.5,), (), "y")
TWO = Model(("u1(k-2)", "u2(k)"), (0.5, 1.0), ("p", "q"), "y", decimation=12)


def test_shapes_of_data():
    u, y = np.arange(1.0, 6.0), [2.0]
    expected = ARX.predict(u, y)
    for same_u in (u[:, None], list(u), u.astype(int), u[:, None][::1].copy(order="F")):
        assert ARX.predict(same_u, [[2]]).tolist() == expected.tolist()
    assert NAR.predict(None, [4], samples=3).tolist() == [4.0, 2.0, 1.0]
    assert Model(("u(k)",), (2.0,), ("u",), "y").predict(u, []).tolist() == (2 * u).tolist()


def test_properties():
    assert (TWO.n_inputs, TWO.max_lag, TWO.initial_samples, TWO.step_time) == (2, 2, 24, None)
    assert TWO.monomials == [((1, 2),), ((2, 0),)]
    timed = Model(**{**vars(TWO), "sampling_time": 0.5})
    assert timed.step_time == 6.0
    assert timed.decimated() == Model(**{**vars(TWO), "sampling_time": 6.0, "decimation": 1})
    assert Model(("u1(t-1) y(t-1)",), [1], ["a", "b"], "y").terms == ("y(k-1)*u1(k-1)",)
    assert pickle.loads(pickle.dumps(timed)) == timed
    assert len({ARX, Model(**vars(ARX)), NAR}) == 2


class TestFiles:
    full = Model(
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

    @pytest.mark.parametrize("model", [ARX, NAR, TWO, full])
    def test_what_is_written_is_read_and_written_again(self, model, tmp_path):
        model.save(tmp_path / "new" / "model.json")
        Model.load(tmp_path / "new" / "model.json").save(tmp_path / "again")
        assert Model.load(tmp_path / "again") == model
        assert (tmp_path / "again").read_bytes() == (tmp_path / "new" / "model.json").read_bytes()

    @quick
    @given(st.lists(finite, min_size=2, max_size=2))
    def test_every_number_is_read_back(self, tmp_path, numbers):
        path = tmp_path / "model.json"
        Model(**{**vars(ARX), "coefficients": numbers}).save(path)
        assert np.array(Model.load(path).coefficients).tobytes() == np.array(numbers).tobytes()


class TestEquations:
    model = Model(
        ("y(k-1)", "y(k-1)^2*u(k-2)", "1"),
        (0.851249, -0.0312, 3.1e-5),
        ("input",),
        "output voltage",
        decimation=12,
        sampling_time=1e-5,
        units={"output voltage": "V", "other": "A"},
    )

    def test_text(self):
        assert self.model.equation().split("\n") == [
            "y(k) = 0.8512 y(k-1) - 0.0312 y(k-1)^2*u(k-2) + 3.1e-05",
            "y: output voltage (V); u: input; k counts steps of 12 samples, 120 µs",
        ]
        assert self.model.equation(digits=17).startswith("y(k) = 0.851249")

    def test_what_is_plain_is_not_reported(self):
        assert ARX.equation() == "y(k) = 0.5 y(k-1) + 1 u(k-1)"
        assert repr(ARX) == f"<Model: {ARX.equation()}>" and ARX._repr_latex_().startswith("$$")
        timed = [Model(**{**vars(ARX), "sampling_time": s}).equation() for s in (86400, 0.001, 2.5e-6, 1e-10)]
        assert [text.split("samples of ")[1] for text in timed] == ["86400 s", "1 ms", "2.5 µs", "0.1 ns"]
        assert Model(("u2(k)",), (-2.0,), ("u1", "u2"), "y").equation() == "y(k) = -2 u2(k)"
        assert Model(**{**vars(ARX), "sampling_time": 0.02}).equation().split("\n")[1:] == ["k counts samples of 20 ms"]
        assert Model(**{**vars(ARX), "decimation": 2}).equation().split("\n")[1:] == ["k counts steps of 2 samples"]

    def test_offsets_and_scales(self):
        model = Model(**{**vars(ARX), "offsets": (1.5, -2.0), "scales": (1.0, 4.0)})
        assert model.equation().split("\n")[1] == "y: y, minus 1.5; u: u, plus 2, divided by 4"

    def test_latex(self):
        assert self.model.latex().split("\n") == [
            r"\[",
            r"\begin{array}{rl}",
            r"y(k) = & 0.8512\,y(k-1) - 0.0312\,y(k-1)^{2}\,u(k-2) + 3.1 \times 10^{-5}",
            r"\end{array}",
            r"\]",
            r"$y$: output voltage (V); $u$: input; $k$ counts steps of 12 samples, 120 $\mu$s.",
        ]
        assert "\n" in ARX.latex() and not ARX.latex().endswith(".")

    def test_long_equations_have_lines(self):
        model = Model(tuple(f"u1(k-{lag})^12" for lag in range(1, 8)), [-1e30] * 7, ("a_b\\%", "$ #1"), "{y}^~")
        lines = model.latex().split("\n")
        assert lines[2].startswith(r"y(k) = & -1 \times 10^{30}\,u_{1}(k-1)^{12} - 1 \times")
        assert lines[3].startswith(r"& {} - 1 \times") and lines[3].endswith(r" \\") and not lines[4].endswith("\\")
        assert lines[-1] == (
            r"$y$: \{y\}\textasciicircum{}\textasciitilde{}; $u_{1}$: a\_b\textbackslash{}\%; $u_{2}$: \$ \#1."
        )


def test_pandas_comes_back_with_its_index():
    model = Model(("y(k-1)", "u1(k-1)", "u2(k-1)"), (0.5, 1.0, -2.0), ("a", "b"), "level")
    times = pd.date_range("2026-01-01", periods=4, freq="1s")
    frame = pd.DataFrame({"b": [1.0, 2, 3, 4], "level": [0.0, 1, 2, 3], "a": [5.0, 6, 7, 8]}, index=times)
    shown = model.predict(frame, frame["level"])
    assert isinstance(shown, pd.Series) and shown.name == "level" and shown.index.equals(times)
    plain = model.predict(frame[["a", "b"]].to_numpy(), frame["level"].to_numpy())
    assert isinstance(plain, np.ndarray) and plain.tolist() == shown.tolist()
    # The columns that the model names, whatever their order.
    assert model.predict(frame[["b", "a"]], [0.0]).tolist() == plain.tolist()
    with_units = frame.rename(columns={"a": "a [V]", "b": "b (K)"})
    assert model.predict(with_units, frame["level"]).tolist() == plain.tolist()
    assert model.score(frame, frame["level"]) == model.score(frame[["a", "b"]].to_numpy(), frame["level"])
    assert model.predict(frame, frame["level"], 1).index.equals(times)
    # Columns of other names are taken as they come, but not if the model names some of them.
    assert model.predict(frame[["a", "b"]].set_axis(["x", "z"], axis=1), [0.0]).tolist() == plain.tolist()
    with pytest.raises(NarxbenchError, match=r"u: found the columns B, a; needed: a, b \(did you mean 'B'\?\)"):
        model.predict(frame[["b", "a"]].rename(columns={"b": "B"}), [0.0])


NOISE_FILTERS = {
    "narx": ((), ()),
    "narmax": ((), (0.6, -0.3)),
    "ararx": ((-0.5, 0.2), ()),
    "ararmax": ((-0.8,), (0.0, 0.4)),
    "noe": ((), ()),
    "box-jenkins": ((0.0, -0.6), (0.5,)),
}


def with_noise(model, name, **changes):
    autoregression, moving_average = NOISE_FILTERS[name]
    noise = {"noise_model": name, "autoregression": autoregression, "moving_average": moving_average}
    return Model(**{**vars(model), **noise, **changes})


def plain_forecasts(model, noise, innovations, count):
    """Return forecasts of the noise after its last sample, one by one: future innovations are zero."""
    differences = list(noise)
    if model.is_integrated:
        differences = [0.0] * min(1, len(noise)) + np.diff(noise).tolist()
    innovations, level, forecasts = list(innovations), noise[-1] if noise else 0.0, []
    for _ in range(count):
        value = 0.0
        for lag, weight in enumerate(model.autoregression[: len(differences)], 1):
            value -= weight * differences[-lag]
        for lag, weight in enumerate(model.moving_average[: len(innovations)], 1):
            value += weight * innovations[-lag]
        differences.append(value)
        innovations.append(0.0)
        level = level + value if model.is_integrated else value
        forecasts.append(level)
    return forecasts


def plain_noisy_prediction(model, u, y, steps):
    """Return the prediction of each sample from outputs measured some steps before, one by one."""
    predictions = y.tolist()
    first, q = model.initial_samples, model.decimation
    is_on_output = model.noise.place == "output"
    without_noise = plain_prediction(model, u, y, None if is_on_output else 1)
    for phase in range(q):
        samples = range(first + phase, len(y), q)
        noise = [y[k] - without_noise[k] for k in samples]
        innovations = model.noise.innovations(noise, model.autoregression, model.moving_average)
        for place, target in enumerate(samples):
            n_known = max(0, place - steps + 1)
            ahead = samples[n_known : place + 1]
            forecasts = plain_forecasts(model, noise[:n_known], innovations[:n_known], len(ahead))
            outputs = y.copy()
            for k, forecast in zip(ahead, forecasts, strict=True):
                if is_on_output:
                    outputs[k] = without_noise[k] + forecast
                else:
                    outputs[k] = plain_step(model, lambda j, i: u[j, i], outputs.__getitem__, k) + forecast
            predictions[target] = outputs[target]
    return predictions


@pytest.mark.parametrize("is_integrated", [False, True])
@pytest.mark.parametrize("name", NOISE_FILTERS)
@settings(quick, max_examples=20)
@given(models(), st.integers(0, 2**32), st.sampled_from([1, 2, 3, 7]), st.integers(0, 30))
def test_predictions_with_noise_are_those_of_a_plain_loop(name, is_integrated, model, seed, steps, n_more):
    model = with_noise(model, name, is_integrated=is_integrated)
    u, y = signals(model, model.initial_samples + n_more, seed)
    expected = plain_noisy_prediction(model, u, y, steps)
    if max(map(abs, expected), default=0) < 1e5:
        np.testing.assert_allclose(model.predict(u, y, steps), expected, rtol=1e-9, atol=1e-9)


# y - x of y(k) = 0.8 y(k-1) + u(k-1), x being the free run, is an ARIMA process: its autoregression and moving average.
ARIMA = [
    ("narx", {}, [0.8], []),
    ("narmax", {"moving_average": (0.6,)}, [0.8], [0.6]),
    ("narmax", {"moving_average": (-0.7,), "is_integrated": True}, [0.8], [-0.7]),
    ("ararx", {"autoregression": (-0.5,)}, [1.3, -0.4], []),
    ("noe", {}, [], []),
    ("box-jenkins", {"autoregression": (-0.9, 0.2), "moving_average": (0.5,)}, [0.9, -0.2], [0.5]),
    ("box-jenkins", {"autoregression": (-0.5,), "moving_average": (0.3,), "is_integrated": True}, [0.5], [0.3]),
]


@pytest.mark.parametrize(("name", "noise", "autoregression", "moving_average"), ARIMA)
def test_predictions_with_noise_are_those_of_statsmodels(name, noise, autoregression, moving_average):
    from statsmodels.tsa.statespace.sarimax import SARIMAX

    model = Model(("y(k-1)", "u(k-1)"), (0.8, 1.0), ("u",), "y", noise_model=name, **noise)
    rng = np.random.default_rng(1)
    u, innovations = rng.standard_normal((2, 300))
    y = model.predict(u, [0.0], samples=300) + np.cumsum(innovations)
    errors = y - model.predict(u, y)
    order = (len(autoregression), int(model.is_integrated), len(moving_average))
    for steps in (1, 2, 5):
        process = SARIMAX(errors[: 300 - steps], order=order)
        forecast = process.filter([*autoregression, *moving_average, 1.0]).forecast(steps)[-1]
        predicted = model.predict(u, y, steps)[-1] - model.predict(u, y)[-1]
        assert predicted == pytest.approx(forecast, rel=1e-5, abs=1e-7)
        assert model.score(u, y, steps) == scores(y[1:], model.predict(u, y, steps)[1:])


def test_the_level_of_integrated_noise_is_carried_on():
    """An output that is off by a constant: the past error is the forecast of all later ones."""
    u = np.arange(6.0)
    for name in ("narx", "noe"):
        model = Model(("u(k)",), (1.0,), ("u",), "y", noise_model=name, is_integrated=True)
        assert model.predict(u, u + 3.0, steps=2).tolist() == [0.0, 1.0, 5.0, 6.0, 7.0, 8.0]


class TestNoiseInFiles:
    @pytest.mark.parametrize("name", NOISE_FILTERS)
    def test_it_is_read_back(self, name, tmp_path):
        model = with_noise(ARX, name, is_integrated=True, degrees_of_freedom=3)
        model.save(tmp_path / "model.json")
        assert Model.load(tmp_path / "model.json") == model
        assert model.decimated() == model and model.expanded() == model

    def test_a_file_without_it_is_narx(self, tmp_path):
        path = tmp_path / "model.json"
        ARX.save(path)
        content = json.loads(path.read_bytes())
        for key in ("noise_model", "moving_average", "autoregression", "is_integrated", "degrees_of_freedom"):
            del content[key]
        path.write_text(json.dumps(content))
        assert Model.load(path) == ARX
