"""Data for models that are there already: their columns, sampling and units."""

import numpy as np
import pandas as pd
import pytest

import narxbench
from narxbench._identification.data.model_data import read_for_models
from narxbench._identification.forecast import forecast_after
from narxbench._io.errors import NarxbenchError
from narxbench._model.narx import Model
from narxbench._report.predictions import predictions

SAMPLES = 40
MODEL = Model(("y(k-1)", "u(k-1)"), (0.5, 1.0), ("u",), "y", units={"u": "V", "y": "cm"}, sampling_time=0.1)


def data(step: float = 0.1, input: str = "u [V]", output: str = "y [cm]") -> pd.DataFrame:
    """Return samples so many seconds apart, in columns of these names."""
    u = np.sin(np.arange(SAMPLES) ** 1.5)
    return pd.DataFrame({"t [s]": step * np.arange(SAMPLES), input: u, output: MODEL.predict(u, [0.0])})


USES = {
    "predict": lambda frame, **reading: predictions(MODEL, frame, **reading),
    "compare": lambda frame, **reading: narxbench.compare({"model": MODEL}, frame, **reading),
    "forecast": lambda frame, **reading: forecast_after(MODEL, frame, {"u": [1.0]}, confidence=None, **reading),
    "refit": lambda frame, **reading: narxbench.refit(MODEL, frame, **reading),
}


@pytest.mark.parametrize("use", USES)
def test_other_units_are_refused_where_both_are_known(use):
    for frame, words in (
        (data(output="y [m]"), "column y: found in m; needed: in cm, as for the model"),
        (data(input="u [mV]"), "column u: found in mV; needed: in V, as for the model"),
    ):
        with pytest.raises(NarxbenchError, match=f"data: {words}"):
            USES[use](frame)
    USES[use](data(input="u", output="y"))
    # The user knows better than the name of a column.
    USES[use](data(output="y [centimetres]"), units={"y": "cm"})


@pytest.mark.parametrize("use", USES)
def test_another_sampling_time_is_refused_where_the_weights_are_those_of_the_model(use):
    if use == "refit":
        assert narxbench.refit(MODEL, data(0.2)).sampling_time == pytest.approx(0.2)
    else:
        with pytest.raises(NarxbenchError, match=r"time: found samples 200 ms apart; needed: 100 ms, as for the model"):
            USES[use](data(0.2))
    # A clock that drifts, and samples without a time.
    for reading in ({"data": data(0.1005)}, {"data": data(0.2), "time": False}):
        frame = reading.pop("data")
        USES[use](frame, **reading)


def test_columns_that_are_named_stand_for_the_inputs_of_all_models_in_order():
    other = Model(("y(k-1)", "u1(k-1)", "u2(k-1)"), (0.5, 1.0, 1.0), ("v", "u"), "y", units={"v": "A"})
    frame = data(input="a [V]").assign(**{"b [A]": 1.0})
    recording = read_for_models([MODEL, other], frame, {"input": ["a", "b"]})
    assert recording.inputs == ("a", "b")
    with pytest.raises(NarxbenchError, match=r"column b: found in A; needed: in V"):
        read_for_models([MODEL, other], frame, {"input": ["b", "a"]})
    with pytest.raises(NarxbenchError, match=r"input: found 1; needed: 2, for u, v"):
        read_for_models([MODEL, other], frame, {"input": ["a"]})
