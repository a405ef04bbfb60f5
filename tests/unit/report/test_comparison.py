"""Several models on the same data: in Python, in a terminal and on a page."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.command import failed, succeeded

import narxbench

TRUE = narxbench.Model(("y(k-1)", "u(k-1)", "u(k-2)^2"), (0.6, 1.0, 0.4), ("u",), "y")
DELAYED = narxbench.Model(("y(k-1)", "u(k-1)"), (0.6, 1.0), ("u",), "y", decimation=4)
UNSTABLE = narxbench.Model(("y(k-1)", "u(k-1)", "y(k-1)^3"), (2.0, 1.0, 1.0), ("u",), "y")


def record(samples, noise=0.1):
    """Return an input and the output of the true model with noise in its equation."""
    rng = np.random.default_rng(samples)
    u, y = rng.standard_normal(samples), np.zeros(samples)
    for k in range(2, samples):
        y[k] = 0.6 * y[k - 1] + u[k - 1] + 0.4 * u[k - 2] ** 2 + noise * rng.standard_normal()
    return {"u": u, "y": y}


def test_all_are_scored_on_the_same_samples_and_divergence_is_named():
    records = [record(300), record(200)]
    table = narxbench.compare({"true": TRUE, "delayed": DELAYED, "unstable": UNSTABLE}, records).set_index("model")
    assert set(table["samples"]) == {492}
    errors = np.concatenate([(data["y"] - TRUE.predict(data["u"], data["y"], 1))[4:] for data in records])
    assert table.loc["true", "one_step_rmse"] == pytest.approx(np.sqrt(np.mean(errors**2)))
    assert table.loc["true", "free_run_rrse"] < 0.2 < table.loc["delayed", "free_run_rrse"]
    assert "free_run" in table.loc["unstable", "diverged"] and table.loc["unstable", "free_run_rmse"] is None
    assert table.loc["true", "diverged"] == []


def test_each_takes_the_inputs_that_it_names():
    data = {"v": np.arange(100.0), **record(100, noise=0.0)}
    with_two_inputs = narxbench.Model(("y(k-1)", "u1(k-1)"), (0.5, 0.1), ("v", "u"), "y")
    table = narxbench.compare({"two inputs": with_two_inputs, "true": TRUE}, data)
    assert table["one_step_rmse"][1] == pytest.approx(0.0, abs=1e-12) and table["one_step_rmse"][0] > 0.1


@pytest.mark.parametrize(
    ("models", "words"),
    [
        ({}, "found no models"),
        ({"a": TRUE, "b": replace(TRUE, output="z")}, "found y, z"),
        ({"a": replace(TRUE, decimation=90)}, "more than 180 samples"),
        ({"a": replace(TRUE, inputs=("w",))}, "no column 'w'"),
    ],
)
def test_models_that_cannot_be_compared(models, words):
    with pytest.raises(narxbench.NarxbenchError, match=words):
        narxbench.compare(models, {"u": np.arange(100.0), "y": np.arange(100.0)})


def test_terminal_and_page_have_errors_runs_and_the_model_that_knows_the_data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame(record(100)).to_csv("data.csv", index=False)
    for folder, model in (("<b>", TRUE), ("own", narxbench.refit(TRUE, "data.csv")), ("off", UNSTABLE)):
        (tmp_path / folder).mkdir()
        model.save(tmp_path / folder / "model.json")
    # Files of one name keep their folders.
    files = ["<b>/model.json", "own/model.json", "off/model.json"]
    head, *lines, page = succeeded("compare", *files, "--data", "data.csv", "--report", "page.html").splitlines()
    assert head.startswith("model ") and "diverges" in lines[2] and page == "The page is page.html"
    assert lines[-1] == "Made from these very data, so no test: own/model.json."
    assert "Made from" not in succeeded("compare", files[0], files[2], "--data", "data.csv")
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert html.count("<svg") == 1 and "diverges" in html and "&lt;b&gt;/model.json" in html and "<b>/model" not in html
    assert TRUE.equation() in html and UNSTABLE.equation() in html
    assert "cannot be" in failed("compare", *files, "--data", "none.csv")
    assert failed("compare", *files, "--data", "data.csv", "--input", "u,y").startswith("data.csv: --input: ")
