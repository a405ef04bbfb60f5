"""The command ``narxbench predict``: its table for measured data and for planned runs."""

import io
import re

import numpy as np
import pandas as pd
import pytest
from tests.command import failed, succeeded

import narxbench

MODEL = narxbench.Model(("y(k-1)", "y(k-2)", "u(k-1)"), (0.5, 0.2, 1.0), ("u",), "y")
U = np.sin(np.arange(40) ** 1.5)
FIRST = [0.3, -0.1]
RUN = MODEL.predict(U, FIRST)
DATES = pd.date_range("2026-03-01", periods=40, freq="10min")
BAND = {"steps": [1], "half_widths": {"0.9": [0.1]}, "free_run": {"0.9": 0.25}}


def planned(n_known, samples=40):
    """Return times, inputs, and an output of which the first values are known."""
    y = np.where(np.arange(samples) < n_known, RUN[:samples], np.nan)
    return pd.DataFrame({"time": DATES[:samples], "u": U[:samples], "y": y})


@pytest.fixture
def words(tmp_path, monkeypatch):
    """Return a function that writes files and returns the words of their prediction."""
    monkeypatch.chdir(tmp_path)

    def write(*frames, model=MODEL):
        model.save("model.json")
        files = list(map("data_{}.csv".format, range(len(frames))))
        for file, frame in zip(files, frames, strict=True):
            frame.to_csv(file, index=False)
        return ["predict", "model.json", *files]

    return write


@pytest.fixture
def predicted(words):
    """Return a function that returns the table of predictions."""
    return lambda *frames, options=(), model=MODEL: pd.read_csv(
        io.StringIO(succeeded(*words(*frames, model=model), *options))
    )


def test_rows_have_the_times_of_the_data_as_short_as_they_are(predicted):
    table = predicted(planned(40)[::-1])
    assert [*table] == ["record", "sample", "time", "measured", "predicted"]
    assert pd.to_datetime(table["time"]).tolist() == DATES.tolist() and table["sample"].tolist() == [*range(1, 41)]
    np.testing.assert_allclose(table["predicted"], RUN, rtol=1e-12)
    seconds = planned(40).drop(columns="time").assign(**{"t [ms]": 10.03 * np.arange(40)})
    times = predicted(seconds)["time"]
    assert times.map(repr).map(len).max() <= len("0.10030")
    assert [*predicted(seconds.drop(columns="t [ms]"))] == ["record", "sample", "measured", "predicted"]


@pytest.mark.parametrize("samples", [4, 40])
@pytest.mark.parametrize("n_known", [2, 3])
def test_a_planned_run_goes_on_from_its_first_outputs(predicted, n_known, samples):
    data = planned(n_known, samples)
    table = predicted(data)
    np.testing.assert_allclose(table["predicted"], RUN[:samples], rtol=1e-12)
    assert table["measured"].notna().sum() == n_known and len(table["time"].unique()) == samples
    # What a user of the library does with the same frame.
    np.testing.assert_array_equal(MODEL.predict(data[["u"]], data["y"]), RUN[:samples])


@pytest.mark.parametrize("initial", ["0.3,-0.1", "0.3,-0.1,9"])
def test_first_outputs_may_be_given_apart(predicted, initial):
    """Outputs after those that the run begins from change nothing of it."""
    for columns in (["u", "y"], ["u"]):
        table = predicted(planned(0)[columns], planned(0, 20)[columns], options=["--initial", initial])
        np.testing.assert_allclose(table["predicted"], np.concatenate([RUN, RUN[:20]]), rtol=1e-12)
        assert table["record"].value_counts().tolist() == [40, 20]


def test_each_run_has_its_first_outputs(predicted):
    table = predicted(planned(2), planned(40), planned(5, 20))
    np.testing.assert_allclose(table["predicted"], np.concatenate([RUN, RUN, RUN[:20]]), rtol=1e-12)


def test_a_run_goes_on_after_measured_outputs_and_their_gaps(predicted, words):
    data = planned(20)
    data.iloc[8:10, 2] = np.nan
    for options in ((), ("--steps", "3")):
        np.testing.assert_allclose(predicted(data, options=options)["predicted"], RUN, atol=1e-9)
    # Inputs may end before the file does; a gap of theirs is refused.
    data.iloc[38:, 1] = np.nan
    assert len(predicted(data)) == 38
    data.iloc[25:, 1] = np.where(np.arange(25, 40) < 38, np.nan, 1.0)
    assert "a planned run without a gap up to line 26 alone; allowed: all inputs" in failed(*words(data))


def test_a_planned_run_has_the_band_of_the_free_run(predicted):
    model = narxbench.Model(**{**vars(MODEL), "about": {"forecast_errors": BAND}})
    table = predicted(planned(2), model=model)
    assert [*table] == ["record", "sample", "time", "measured", "predicted", "lower", "upper"]
    np.testing.assert_allclose(table["upper"] - table["predicted"], [np.nan] * 2 + [0.25] * 38)
    np.testing.assert_allclose(table["predicted"] - table["lower"], [np.nan] * 2 + [0.25] * 38)
    for data, options in ((planned(40), ()), (planned(2), ("--steps", "1"))):
        assert "lower" not in predicted(data, model=model, options=options)


LONG = narxbench.Model(("y(k-45)", "u(k-1)"), (0.5, 1.0), ("u",), "y")
SERIES = narxbench.Model(("y(k-1)",), (0.5,), (), "y")


@pytest.mark.parametrize(
    ("model", "data", "options", "message"),
    [
        (MODEL, planned(1), "", "--initial: .* 1 output at the start of column y; needed: the first 2 outputs"),
        (MODEL, planned(0), "", "--initial: .* 0 outputs at the start of column y; needed: the first 2 outputs"),
        (MODEL, planned(0)[["u"]], "", "--output: .*initial values give the first 2 outputs"),
        (MODEL, planned(0), "--initial 1", "--initial: found 1 output; needed: the first 2 outputs of the run$"),
        (MODEL, planned(0), "--initial x,1", "--initial: .*needed: the first 2 outputs"),
        (MODEL, planned(2), "--initial 1,2 --output y", "--initial: .*next to the output"),
        (MODEL, planned(2), "--initial 1,2", "--initial: .*next to numbers in column y"),
        (LONG, planned(40), "", "of more than 45 samples"),
        (SERIES, planned(1), "--initial 1", "--initial: .*forecast"),
    ],
)
def test_what_a_planned_run_lacks_is_named_in_a_line(words, model, data, options, message):
    assert re.search(message, failed(*words(data, model=model), *options.split()))
