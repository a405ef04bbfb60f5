"""Cases of users with the right answer, through the library and the command; those that are open fail for a reason."""

import json

import numpy as np
import pytest
from tests.lookups import items_by_name
from tests.slow import records

import narxbench
from narxbench._cli import main

pytestmark = pytest.mark.slow
# CPU seconds of each identification: enough for what is right here.
EFFORT = 4.0
# What is right is tried through the library too, once; the command calls it.
COMMAND = pytest.mark.parametrize("way", ["command"])
BOTH_WAYS = pytest.mark.parametrize("way", ["library", "command"])


@pytest.fixture
def identified(way, capsys):
    """Return a function that identifies files, and returns what the JSON of the command has."""

    def identify(files, output, *, inputs="", test, horizon="auto"):
        if way == "library":
            columns = {"input": inputs.split(",")} if inputs else {}
            return narxbench.identify(files, output, test=test, effort=EFFORT, horizon=horizon, **columns).to_dict()
        options = ["--output", output, "--test", test, "--effort", str(EFFORT), "--horizon", str(horizon), "--json"]
        if inputs:
            options += ["--input", inputs]
        assert main(["identify", *files, *options]) == 0
        return json.loads(capsys.readouterr().out)

    return identify


def test_error(identification):
    """Return the error of the free run over the test at the sampling of the data."""
    return identification["metrics"]["test"]["free_run"]["rrse"]


# It is no test.
test_error.__test__ = False


def summary(identification, name):
    return items_by_name(identification["summary"])[name]


@COMMAND
def test_an_oscillation_is_no_dead_time(tmp_path, identified):
    path = records.write(tmp_path / "data.csv", records.oscillating_drive(), 5)
    assert test_error(identified([path], "y", inputs="u", test="50%")) < 0.6


@COMMAND
def test_two_inputs_that_hide_each_other_act_at_once(tmp_path, identified):
    path = records.write(tmp_path / "data.csv", records.valves(), 5)
    model = identified([path], "y", inputs="hot,cold", test="30%")
    inputs = {f"u{signal}({lag})" for signal in (1, 2) for lag in ("k", "k-1", "k-2")}
    assert set(model["terms"]) == {"y(k-1)", *inputs}
    assert test_error(model) < 0.022


@COMMAND
def test_a_test_inside_the_known_range_has_no_other_unit(tmp_path, identified):
    path = records.write(tmp_path / "data.csv", records.titration(), 5)
    model = identified([path], "pH", inputs="acid,base", test="30%")
    assert not summary(model, "to_predict")["values"]["other_unit"]


def test_a_loggers_code_is_not_data(tmp_path, capsys):
    path = records.write(tmp_path / "data.csv", records.logger_code(), 2)
    words = ["identify", path, "--input", "sensor", "--output", "gas", "--test", "20%", "--json"]
    assert main(words) == 2
    assert "--missing=-200" in capsys.readouterr().err
    assert main([*words, "--missing=-200"]) == 0
    assert test_error(json.loads(capsys.readouterr().out)) > 0.3


@COMMAND
def test_a_linear_system_far_from_zero_is_linear(tmp_path, identified):
    path = records.write(tmp_path / "data.csv", records.operating_point(seed=2), 3)
    model = identified([path], "y", inputs="u", test="30%")
    assert set(model["terms"]) - {"1"} == {"y(k-1)", "u(k-1)"}


@pytest.mark.parametrize("seed", [1, 2])
@COMMAND
def test_a_gain_lies_inside_its_interval(tmp_path, identified, seed):
    path = records.write(tmp_path / "data.csv", records.rain_and_runoff(seed), 4)
    gain = identified([path], "flow", inputs="rain", test="30%")["dynamics"]["inputs"]["rain"]["gain"]
    assert gain["low"] <= gain["value"] <= gain["high"]


def test_a_bad_output_of_joint_models_is_called_bad(tmp_path, capsys):
    path = records.write(tmp_path / "data.csv", records.two_outputs(), 5)
    outputs = ["--output", "a", "--output", "b", "--joint", "--effort", "3"]
    assert main(["identify", path, "--input", "u", *outputs, "--test", "30%"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("BAD") and "b" in line.split() for line in lines)


@COMMAND
def test_a_series_is_compared_with_its_last_season_at_the_horizon(tmp_path, identified):
    path = records.write(tmp_path / "data.csv", records.hourly_load(), 1)
    model = identified([path], "load", test="20%")
    assert summary(model, "errors")["values"]["steps"] == 24
    assert summary(model, "competitors")["status"] != "fine"


@BOTH_WAYS
def test_a_series_is_judged_at_the_horizon_that_matters(tmp_path, identified):
    path = records.write(tmp_path / "data.csv", records.hourly_load(), 1)
    model = identified([path], "load", test="20%", horizon=3)
    for name in ("to_predict", "competitors"):
        values = summary(model, name)["values"]
        assert 1 <= values["steps"] <= 3, name
    assert summary(model, "competitors")["values"]["last_value"]["season"] == 24
    assert summary(model, "to_predict")["values"]["horizon"] == 3


def test_a_planned_run_is_predicted_from_its_first_outputs(tmp_path, capsys):
    known, planned = records.recordings()
    files = [records.write(tmp_path / f"rec{i}.csv", columns, 5) for i, columns in enumerate(known)]
    narxbench.identify(files, "y", input="u", effort=2.0).model.save(tmp_path / "model.json")
    new = {"u": planned["u"][:60], "y": np.where(np.arange(60) < 3, planned["y"][:60], np.nan)}
    path = records.write(tmp_path / "new.csv", new, 5)
    assert main(["predict", str(tmp_path / "model.json"), path]) == 0
    assert len(capsys.readouterr().out.splitlines()) >= 60


def test_dates_with_blanks_do_not_separate(tmp_path):
    path = records.write_turbine(tmp_path / "data.csv", "{day:02d} 01 2018")
    assert [signal.name for signal in narxbench.look(path).signals][-1].startswith("Active Power")


def test_names_in_advice_are_quoted_for_a_shell(tmp_path, capsys):
    path = records.write_turbine(tmp_path / "data.csv", "2018-01-{day:02d}")
    assert main(["look", path]) == 0
    assert "--output 'Active Power'" in " ".join(capsys.readouterr().out.split())


@BOTH_WAYS
def test_recordings_at_several_levels_give_one_system(tmp_path, identified):
    known, _ = records.recordings()
    files = [records.write(tmp_path / f"rec{i}.csv", columns, 5) for i, columns in enumerate(known)]
    model = identified(files, "y", inputs="u", test="20%")
    assert test_error(model) < 0.05


def test_six_samples_are_refused_in_one_line(tmp_path, capsys):
    files = []
    for number, columns in enumerate(records.metabolites()):
        files.append(records.write(tmp_path / f"repeat{number}.csv", columns, 4))
    assert main(["identify", *files, "--input", "stimulus", "--output", "a", "--time", "hour"]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1
