"""Pictures show the values of the result and return the axes that they are on."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes

import narxbench

SMALL = {"degree": 2, "y_lags": 2, "u_lags": 2, "decimation": 1, "effort": 0.5}


@pytest.fixture(scope="module")
def identification():
    u, y = narxbench.load_system("S1").simulate(500, snr_db=40)
    return narxbench.identify({"valve": u, "level": y}, "level", input="valve", test="30%", **SMALL)


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def test_each_draws_on_a_new_figure_or_on_given_axes(identification):
    models = {"a": identification.model}
    test = identification.recording.records[-1]
    drawings = [
        narxbench.plot.fit,
        narxbench.plot.residuals,
        narxbench.plot.static_curve,
        narxbench.plot.terms,
        lambda _, ax=None: narxbench.plot.compare(models, input=test.u, output=test.y, ax=ax),
    ]
    before = dict(matplotlib.rcParams)
    for drawing in drawings:
        new_axes = drawing(identification)
        assert isinstance(new_axes, Axes) and new_axes.has_data()
        _, axes = pyplot.subplots()
        figures = len(pyplot.get_fignums())
        assert drawing(identification, ax=axes) is axes and axes.has_data()
        assert len(pyplot.get_fignums()) == figures
    assert dict(matplotlib.rcParams) == before


def test_the_fit_is_that_of_the_test_data_with_its_band(identification):
    axes = narxbench.plot.fit(identification)
    measured, model = (line.get_ydata() for line in axes.lines)
    test = identification.recording.records[-1]
    assert np.array_equal(measured, test.y) and np.array_equal(model, identification.model.predict(test.u, test.y))
    assert axes.get_ylabel() == "level" and axes.get_xlabel() == "sample"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["measured", "model", "90 % band"]


def test_a_record_a_test_and_an_input_are_chosen_by_name(identification):
    first = identification.recording.records[0]
    assert len(narxbench.plot.fit(identification, first.name).lines[0].get_ydata()) == len(first)
    title = identification.tests[-1].title
    assert narxbench.plot.residuals(identification, title).get_title(loc="left").replace("\n", " ") == title
    assert narxbench.plot.static_curve(identification, "valve").get_xlabel() == "valve"


@pytest.mark.parametrize("name, argument", [("fit", "record"), ("residuals", "test"), ("static_curve", "input")])
def test_what_is_not_there_is_named(identification, name, argument):
    with pytest.raises(narxbench.NarxbenchError, match=f"^{argument}: found 'valvee'.*; allowed: "):
        getattr(narxbench.plot, name)(identification, **{argument: "valvee"})
