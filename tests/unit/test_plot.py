"""Pictures show what the result has, and return the axes that they are on."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes

import narxbench

SMALL = {"degree": 2, "y_lags": 2, "u_lags": 2, "decimation": 1, "resamples": 10, "effort": 0.5}


@pytest.fixture(scope="module")
def found():
    u, y = narxbench.load_system("S1").simulate(500, snr_db=40)
    return narxbench.identify({"valve": u, "level": y}, "level", input="valve", test="30%", **SMALL)


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def test_each_draws_on_a_new_figure_or_on_given_axes(found):
    models = {"a": found.model}
    test = found.recording.records[-1]
    drawings = [
        narxbench.plot.fit,
        narxbench.plot.residuals,
        narxbench.plot.static_curve,
        narxbench.plot.terms,
        lambda of, ax=None: narxbench.plot.compare(models, input=test.u, output=test.y, ax=ax),
    ]
    before = dict(matplotlib.rcParams)
    for drawing in drawings:
        own = drawing(found)
        assert isinstance(own, Axes) and own.has_data()
        _, given = pyplot.subplots()
        figures = len(pyplot.get_fignums())
        assert drawing(found, ax=given) is given and given.has_data()
        assert len(pyplot.get_fignums()) == figures
    assert dict(matplotlib.rcParams) == before


def test_the_fit_is_that_of_the_test_data_with_its_band(found):
    axes = narxbench.plot.fit(found)
    measured, model = (line.get_ydata() for line in axes.lines)
    first, test = found.recording.records
    assert np.array_equal(measured, test.y) and np.array_equal(model, found.model.predict(test.u, test.y))
    assert axes.get_ylabel() == "level" and axes.get_xlabel() == "sample"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["measured", "model", "90 % band"]
    # Others are chosen by name.
    assert len(narxbench.plot.fit(found, first.name).lines[0].get_ydata()) == len(first)
    title = found.tests[-1].title
    assert narxbench.plot.residuals(found, title).get_title(loc="left").replace("\n", " ") == title
    assert narxbench.plot.static_curve(found, "valve").get_xlabel() == "valve"


@pytest.mark.parametrize("name, argument", [("fit", "record"), ("residuals", "test"), ("static_curve", "input")])
def test_what_is_not_there_is_named(found, name, argument):
    with pytest.raises(narxbench.NarxbenchError, match=f"^{argument}: found 'valvee'.*; allowed: "):
        getattr(narxbench.plot, name)(found, **{argument: "valvee"})
