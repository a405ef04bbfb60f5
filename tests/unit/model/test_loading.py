"""Models of files, and of the files of whole identifications: a script can make the same model of them."""

import io
import json
from importlib.metadata import entry_points

import numpy as np
import pandas as pd
import pytest
from tests.lookups import item_with, names_of
from tests.unit.model.models import ARX

import narxbench
from narxbench import NarxbenchError, load_model

SETTINGS = {"degree": 2, "y_lags": 2, "u_lags": 2, "effort": 0.1, "decimation": 1, "noise": "narmax"}


@pytest.fixture(scope="module")
def data():
    """Return a record about a high level, so that a model has offsets, with coloured noise."""
    rng = np.random.default_rng(1)
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


def test_a_file_of_an_identification_has_all_its_models_to_the_last_bit(path, identification, data):
    assert identification.model.moving_average and identification.model.offsets
    assert load_model(path) == identification.model
    content = json.loads(path.read_text(encoding="utf-8"))
    assert (content["format"], content["version"]) == ("narxbench-identification", 1)
    assert content["model"]["data_digest"] == content["data_digest"] and content["units"]["drive"] == "V"
    identification.model.save(path.with_name("model.json"))
    assert load_model(path.with_name("model.json")) == identification.model
    competition = item_with(identification.summary, name="competitors")
    assert identification.competitors.keys() == set(names_of(competition.values["rows"]))
    assert len(identification.competitors) == 3 and {"sparse", "last value"} <= identification.competitors.keys()
    for name, model in identification.competitors.items():
        assert load_model(path, name) == model
        assert model.score(data["drive [V]"], data["speed [rpm]"], 1).rrse < 1


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


def test_the_digest_tells_data_apart():
    """Numbers decide the digest, and where records begin; units, layout and names of files do not."""
    data = pd.DataFrame(np.random.default_rng(1).standard_normal((40, 2)), columns=["u", "y"])
    changed = data.copy()
    changed.loc[7, "y"] = np.nextafter(changed.loc[7, "y"], 9.0)
    records = (data, changed, [data[:19], data[19:]], [data[:20], data[20:]])
    digests = [narxbench.refit(ARX, record).data_digest for record in records]
    assert len(set(digests)) == 4 and len(digests[0]) == 64 and int(digests[0], 16) >= 0
    same = data.rename(columns={"y": "y [V]"}).assign(other=1.0)
    assert narxbench.refit(ARX, same, sampling_time=0.1).data_digest == digests[0]


def command(*words):
    """Run the command ``narxbench`` and return its exit code."""
    (entry,) = entry_points(group="console_scripts", name="narxbench")
    return entry.load()(list(map(str, words)))


def test_the_command_predicts(path, identification, data, capsys):
    table = path.with_name("data.csv")
    pd.DataFrame(data).to_csv(table, index=False)
    assert command("predict", path, table) == 0
    predictions = pd.read_csv(io.StringIO(capsys.readouterr().out), dtype=str)
    expected = identification.model.predict(data["drive [V]"], data["speed [rpm]"])
    assert predictions["predicted"].map(float).tolist() == expected.tolist()
    assert command("predict", path, table, "--steps", 1, "--competitor", "last value", "-o", f"{path}.csv") == 0
    of_last_values = pd.read_csv(f"{path}.csv", dtype=str)
    assert of_last_values["predicted"].tolist()[1:] == of_last_values["measured"].tolist()[:-1]
