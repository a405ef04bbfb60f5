"""Several models on the same data."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.unit.identification.trust import known_model

import narxbench
from narxbench import _cli as cli
from narxbench._io.errors import NarxbenchError
from narxbench._model.narx import Model
from narxbench._report.comparison import as_text

TRUE = known_model.model()
DELAYED = Model(("y(k-1)", "u(k-1)"), (0.6, 1.0), ("u",), "y", decimation=4)
UNSTABLE = Model(("y(k-1)", "u(k-1)", "y(k-1)^3"), (2.0, 1.0, 1.0), ("u",), "y")


def test_all_are_scored_on_the_same_samples_and_divergence_is_named():
    records = [known_model.record(1, 300, None), known_model.record(2, 200, None)]
    frames = [{"u": record.u[:, 0], "y": record.y} for record in records]
    table = narxbench.compare({"true": TRUE, "delayed": DELAYED, "unstable": UNSTABLE}, frames).set_index("model")
    assert set(table["samples"]) == {492}
    errors = np.concatenate([(record.y - TRUE.predict(record.u, record.y, 1))[4:] for record in records])
    assert table.loc["true", "one_step_rmse"] == pytest.approx(np.sqrt(np.mean(errors**2)))
    assert table.loc["true", "free_run_rrse"] < 0.2 < table.loc["delayed", "free_run_rrse"]
    assert "free_run" in table.loc["unstable", "diverged"] and table.loc["unstable", "free_run_rmse"] is None
    assert table.loc["true", "diverged"] == []
    assert "diverges" in as_text(table.reset_index())


def test_each_takes_the_inputs_that_it_names():
    record = known_model.record(3, 100, None, noise=0.0)
    data = {"v": np.arange(100.0), "u": record.u[:, 0], "y": record.y}
    with_two_inputs = Model(("y(k-1)", "u1(k-1)"), (0.5, 0.1), ("v", "u"), "y")
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
    with pytest.raises(NarxbenchError, match=words):
        narxbench.compare(models, {"u": np.arange(100.0), "y": np.arange(100.0)})


@pytest.fixture
def data(tmp_path):
    """Return a file of a record of the true model."""
    record = known_model.record(4, 100, None)
    pd.DataFrame({"u": record.u[:, 0], "y": record.y}).to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


def test_the_command_says_which_model_knows_the_data(tmp_path, data, capsys):
    TRUE.save(tmp_path / "true.json")
    narxbench.refit(TRUE, data).save(tmp_path / "own.json")
    files = [str(tmp_path / "true.json"), str(tmp_path / "own.json")]
    assert cli.main(["compare", *files, "--data", str(data)]) == 0
    *table, last = capsys.readouterr().out.splitlines()
    assert "true.json" in table[1] and "own.json" in last and "true.json" not in last
    assert cli.main(["compare", *files, "--data", str(tmp_path / "none.csv")]) == 2
    assert cli.main(["compare", *files, "--data", str(data), "--input", "u,y"]) == 2
    assert "--input: " in capsys.readouterr().err


def test_the_page_has_the_table_the_runs_and_the_equations(tmp_path, data, capsys):
    files, page = [], tmp_path / "page.html"
    for name, model in (("<b>", TRUE), ("off", UNSTABLE)):
        (tmp_path / name).mkdir()
        files.append(str(tmp_path / name / "model.json"))
        model.save(files[-1])
    command = ["compare", *files, "--data", str(data), "--report", str(page)]
    assert cli.main(command) == 0
    assert str(page) in capsys.readouterr().out
    html = page.read_text(encoding="utf-8")
    # Two files of one name keep their folders, and no name is markup.
    assert html.count("<svg") == 1 and "diverges" in html and "&lt;b&gt;/model.json" in html and "<b>/model" not in html
    assert TRUE.equation() in html and UNSTABLE.equation() in html
    # Measured output and the model that does not diverge.
    assert cli.main([*command[:-1], str(tmp_path)]) == 2
