"""Models of files, and of the files of whole identifications: a script can make the same model of them."""

import io
import json
import math

import numpy as np
import pandas as pd
import pytest
from tests.lookups import item_with, items_by_name, names_of

import narxbench
from narxbench import _cli as cli
from narxbench._io.errors import NarxbenchError
from narxbench._model.loading import load_competitors, load_model
from narxbench._model.narx import Model
from narxbench._numerics.random_streams import generator

SETTINGS = {"degree": 2, "y_lags": 2, "u_lags": 2, "effort": 0.1, "decimation": 1, "noise": "narmax"}


@pytest.fixture(scope="module")
def data():
    """Return a record about a high level, so that a model has offsets, with coloured noise."""
    rng = generator(purpose="identification in a file")
    u, e = rng.standard_normal(300), 0.1 * rng.standard_normal(300)
    y = np.zeros(300)
    for k in range(1, 300):
        y[k] = 0.8 * y[k - 1] + 0.5 * u[k - 1] + 0.1 * u[k - 1] ** 2 + e[k] + 0.6 * e[k - 1]
    return {"drive [V]": u, "speed [rpm]": y + 1e6}


@pytest.fixture(scope="module")
def identification(data):
    return narxbench.identify(data, "speed", input="drive", sampling_time=0.1, test="20%", **SETTINGS)


@pytest.fixture
def path(tmp_path, identification):
    path = tmp_path / "identification.json"
    path.write_text(json.dumps(identification.to_dict(), allow_nan=False), encoding="utf-8")
    return path


def test_a_file_of_an_identification_has_the_model_to_the_last_bit(path, identification):
    assert identification.model.moving_average and identification.model.offsets
    assert load_model(path) == narxbench.load_model(path) == identification.model
    identification.model.save(path.with_name("model.json"))
    assert load_model(path.with_name("model.json")) == identification.model


def test_all_models_that_competed_are_there(path, identification, data):
    competitors = load_competitors(path)
    competition = item_with(identification.summary, name="competitors")
    assert competitors.keys() == set(names_of(competition.values["rows"]))
    assert len(competitors) == 3 and {"sparse", "last value"} <= competitors.keys()
    assert competitors == identification.competitors
    for name, model in competitors.items():
        assert load_model(path, name) == model
        assert model.score(data["drive [V]"], data["speed [rpm]"], 1).rrse < 1


def factor_value(factor, k, y, u):
    """Return the value at step k of a factor of a term such as ``u(k-1)^2``."""
    name, _, rest = factor.partition("(k")
    lag, _, power = rest.partition(")")
    signal = {"y": y, "u": u}[name]
    return signal[k + int(lag or 0)] ** int(power.removeprefix("^") or 1)


def test_a_script_makes_the_same_predictions_of_the_file_alone(path, identification, data):
    """Test with the keys of the file and plain Python: predictions one step ahead, with the moving average."""
    model = json.loads(path.read_text(encoding="utf-8"))["model"]
    (y_offset, u_offset), scales = model["offsets"], model["scales"] or [1.0, 1.0]
    y = ((data["speed [rpm]"] - y_offset) / scales[0]).tolist()
    u = ((data["drive [V]"] - u_offset) / scales[1]).tolist()
    first = identification.model.initial_samples
    innovations = [0.0] * first
    predicted = data["speed [rpm]"].tolist()[:first]
    for k in range(first, len(y)):
        total = 0.0
        for term, coefficient in zip(model["terms"], model["coefficients"], strict=True):
            factors = [] if term == "1" else term.split("*")
            total += coefficient * math.prod(factor_value(factor, k, y, u) for factor in factors)
        for lag, weight in enumerate(model["moving_average"], 1):
            total += weight * innovations[k - lag] if k - lag >= first else 0.0
        innovations.append(y[k] - total)
        predicted.append(y_offset + scales[0] * total)
    expected = identification.model.predict(data["drive [V]"], data["speed [rpm]"], 1)
    np.testing.assert_allclose(predicted, expected, rtol=1e-12)


def test_the_rest_of_the_file_describes_the_model(path):
    content = json.loads(path.read_text(encoding="utf-8"))
    assert (content["format"], content["version"]) == ("narxbench-identification", 1)
    assert content["degree"] == 2 and content["lags"]["speed"] == [1] and content["units"]["drive"] == "V"
    assert content["model"]["data_digest"] == content["data_digest"]
    assert len(content["competitors"]) == 3
    for entry in content["competitors"]:
        assert entry["selection_rrse"] > 0
    findings = items_by_name(content["summary"])
    assert findings["errors"]["values"]["rrse"] > 0 and findings["to_predict"]["values"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "not valid JSON"),
        ("[]", "not a model"),
        ('{"format": "narxbench-identification"}', "version: found null; allowed: 1"),
        ('{"format": "narxbench-identification", "version": 2}', "version: found 2; allowed: 1"),
        ('{"format": "narxbench-identification", "version": 1}', "it.json: model: not a model"),
        ('{"format": "narxbench-model", "version": 1}', "terms: missing"),
    ],
)
def test_files_without_a_model(tmp_path, content, words):
    (tmp_path / "it.json").write_text(content)
    with pytest.raises(NarxbenchError, match=words):
        load_model(tmp_path / "it.json")


def test_other_competitors_are_refused(path, identification):
    with pytest.raises(NarxbenchError, match=r"found 'sparce'; allowed: sparse, .*did you mean"):
        load_model(path, "sparce")
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**content, "competitors": [1]}))
    with pytest.raises(NarxbenchError, match=r"competitors: found .*; allowed: objects with name and model"):
        load_model(path, "sparse")
    identification.model.save(path)
    with pytest.raises(NarxbenchError, match="found a single model"):
        load_model(path, "sparse")
    assert load_competitors(path) == {}


@pytest.fixture
def table(tmp_path, data):
    path = tmp_path / "data.csv"
    pd.DataFrame(data).to_csv(path, index=False)
    return str(path)


def test_the_command_predicts(path, table, identification, data, capsys):
    assert cli.main(["predict", str(path), table]) == 0
    predictions = pd.read_csv(io.StringIO(capsys.readouterr().out), dtype=str)
    assert [*predictions] == ["record", "sample", "measured", "predicted"] and len(predictions) == 300
    expected = identification.model.predict(data["drive [V]"], data["speed [rpm]"])
    assert predictions["predicted"].map(float).tolist() == expected.tolist()
    words = ["predict", str(path), table, "--steps", "1", "--competitor", "last value", "-o", str(path) + ".csv"]
    assert cli.main(words) == 0 and capsys.readouterr().out == f"The table is {path}.csv\n"
    table_of_last_values = pd.read_csv(f"{path}.csv", dtype=str)
    assert table_of_last_values["predicted"].tolist()[1:] == table_of_last_values["measured"].tolist()[:-1]
    for wrong in (["--steps", "0"], ["--steps", "x"], ["--competitor", "x"], ["--output", "x"]):
        assert cli.main(["predict", str(path), table, *wrong]) == 2
        assert capsys.readouterr().err.startswith("narxbench: ")


def test_the_commands_refit_and_compare_take_identifications(path, table, identification, capsys):
    new = str(path) + ".new"
    assert cli.main(["refit", str(path), table, "-o", new]) == 0
    refitted = Model.load(new)
    assert refitted.noise == identification.model.noise and refitted.terms == identification.model.terms
    capsys.readouterr()
    assert cli.main(["compare", str(path), new, "--competitors", "--data", table]) == 0
    shown = capsys.readouterr().out
    for name in identification.competitors:
        assert f"{path.name}: {name} " in shown
