"""Pictures show the values of the result and return the axes that they are on."""

from dataclasses import replace

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes

import narxbench


@pytest.fixture(autouse=True)
def closed():
    yield
    pyplot.close("all")


def test_each_draws_on_a_new_figure_or_on_given_axes(identified):
    identification = identified("plain")
    test = identification.recording.records[-1]
    signals = {"input": test.u, "output": test.y}
    drawings = [
        *(getattr(narxbench.plot, name) for name in ("fit", "residuals", "static_curve", "terms")),
        lambda result, ax=None: narxbench.plot.compare({"a": result.model}, ax=ax, **signals),
    ]
    before = dict(matplotlib.rcParams)
    for drawing in drawings:
        assert drawing(identification).has_data()
        _, axes = pyplot.subplots()
        figures = len(pyplot.get_fignums())
        assert isinstance(axes, Axes) and drawing(identification, ax=axes) is axes and axes.has_data()
        assert len(pyplot.get_fignums()) == figures
    assert dict(matplotlib.rcParams) == before


def test_the_fit_is_that_of_the_test_data_with_its_band(identified):
    identification = identified("plain")
    axes = narxbench.plot.fit(identification)
    measured, model = axes.lines
    test = identification.recording.records[-1]
    assert np.array_equal(measured.get_ydata(), test.y)
    assert np.array_equal(model.get_ydata(), identification.model.predict(test.u, test.y))
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["measured", "model", "90 % band"]
    assert axes.get_ylabel() == "y"
    # Several steps ahead have no band.
    assert not narxbench.plot.fit(identified("series")).collections


def test_a_record_a_test_and_an_input_are_chosen_by_name(identified):
    identification = identified("plain")
    first = identification.recording.records[0]
    assert len(narxbench.plot.fit(identification, first.name).lines[0].get_ydata()) == len(first)
    title = identification.tests[-1].title
    assert narxbench.plot.residuals(identification, title).get_title(loc="left").replace("\n", " ") == title
    assert narxbench.plot.static_curve(identified("hostile"), 'T & "q" -->').get_xlabel() == 'T & "q" -->'
    for name, argument in (("fit", "record"), ("residuals", "test"), ("static_curve", "input")):
        with pytest.raises(narxbench.NarxbenchError, match=f"^{argument}: found 'valvee'.*; allowed: "):
            getattr(narxbench.plot, name)(identification, **{argument: "valvee"})


def test_what_there_is_not_is_said(identified):
    for draw, case, word in (("static_curve", "series", "inputs"), ("terms", "exact", "probabilities")):
        with pytest.raises(narxbench.NarxbenchError, match=f"^{draw}: found .*{word}"):
            getattr(narxbench.plot, draw)(identified(case))
    with pytest.raises(narxbench.NarxbenchError, match="residuals: found no test"):
        narxbench.plot.residuals(replace(identified("plain"), tests=[]))
