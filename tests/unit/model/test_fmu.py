"""Functional Mock-up Units: another program simulates what the model predicts, to the last bit."""

import shutil
import zipfile
from xml.etree import ElementTree

import numpy as np
import pytest

from narxbench import Model, NarxbenchError

fmpy = pytest.importorskip("fmpy", reason="fmpy is not installed")
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler is installed")

STEP = 0.25
HOSTILE = 'P <in> & "q"'
# Two past outputs, two inputs of which one acts at once, a function of an input, offsets, scales and a decimation.
FULL = Model(
    ("y(k-1)", "y(k-2)*u1(k-1)", "u2(k)", "u3(k-2)^2", "1"),
    (0.5, 0.1, 1.0, -0.3, 0.2),
    (HOSTILE, "valve", "abs(valve)"),
    "level",
    decimation=5,
    sampling_time=STEP / 5,
    units={"level": "m", "valve": "%"},
    offsets=(10.0, 2.0, 0.0, 0.5),
    scales=(3.0, 1.0, 2.0, 1.0),
)
PLAIN = Model(("y(k-1)", "u(k-1)", "u(k-2)^2"), (0.6, 1.0, 0.4), ("u",), "y", sampling_time=STEP)
ALONE = Model(("y(k-1)", "y(k-2)", "y(k-1)^3"), (1.2, -0.5, -0.1), (), "y")


def slave_of(path):
    """Return the instance of a unit, and the references of its values by name."""
    description = fmpy.read_model_description(path)
    unit = fmpy.instantiate_fmu(fmpy.extract(path, path.with_suffix("")), description, "CoSimulation")
    unit.setupExperiment()
    unit.enterInitializationMode()
    return unit, {variable.name: variable.valueReference for variable in description.modelVariables}


@pytest.mark.parametrize("model", [FULL, PLAIN, ALONE], ids=["full", "plain", "alone"])
def test_each_step_is_that_of_the_model(tmp_path, model):
    rng = np.random.default_rng(1)
    slow, step = model.decimated(), model.step_time or 1.0
    inputs = [name for name in model.inputs if not name.startswith("abs(")]
    u, initial = rng.standard_normal((40, len(inputs))), rng.standard_normal(2)
    expected = slow.predict(u, initial)

    path = tmp_path / "unit.fmu"
    model.write_fmu(path)
    unit, references = slave_of(path)
    for name, series in zip([*inputs, model.output], [*u.T, expected], strict=True):
        for lag in (1, 2):
            if f"past {name}(k-{lag})" in references:
                unit.setReal([references[f"past {name}(k-{lag})"]], [series[2 - lag]])
    unit.exitInitializationMode()
    outputs = []
    for k in range(2, 40):
        unit.setReal([references[name] for name in inputs], u[k].tolist())
        outputs += unit.getReal([references[model.output]])
        unit.doStep((k - 2) * step, step)
    unit.terminate()
    unit.freeInstance()
    assert outputs == expected[2:].tolist()


def test_steps_that_are_no_steps_of_the_model_fail(tmp_path):
    path = tmp_path / "unit.fmu"
    PLAIN.write_fmu(path)
    unit, references = slave_of(path)
    unit.setReal([references["u"], references["past y(k-1)"]], [1.0, 2.0])
    unit.exitInitializationMode()
    state, outputs = unit.getFMUState(), []
    for sizes in ([3], [1, 1, 1]):
        unit.setFMUState(state)
        for size in sizes:
            unit.doStep(0.0, size * STEP)
        outputs += unit.getReal([references["y"]])
    assert outputs[0] == outputs[1]
    with pytest.raises(Exception, match="DoStep failed"):
        unit.doStep(0.0, 0.4 * STEP)
    unit.reset()
    assert unit.getReal([references["past y(k-1)"]]) == [0.0]


def test_the_description_names_signals_and_units_in_the_same_bytes(tmp_path):
    for name in ("one.fmu", "again.fmu"):
        FULL.write_fmu(tmp_path / name, with_binary=False)
    assert (tmp_path / "one.fmu").read_bytes() == (tmp_path / "again.fmu").read_bytes()
    assert fmpy.validation.validate_fmu(str(tmp_path / "one.fmu")) == []
    with zipfile.ZipFile(tmp_path / "one.fmu") as archive:
        root = ElementTree.fromstring(archive.read("modelDescription.xml"))
        assert "binaries" not in " ".join(archive.namelist())
    causality = {entry.get("name"): entry.get("causality") for entry in root.iter("ScalarVariable")}
    assert causality["level"] == "output" and causality[HOSTILE] == causality["valve"] == "input"
    assert causality["past valve(k-2)"] == "parameter" and "abs(valve)" not in causality
    assert [unit.get("name") for unit in root.iter("Unit")] == ["m", "%"]


def test_mistakes_are_one_line(tmp_path, monkeypatch):
    with pytest.raises(NarxbenchError, match="name: found"):
        PLAIN.write_fmu(tmp_path / "unit.fmu", "two words")
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    (tmp_path / "cc").write_text("#!/bin/sh\necho 'it is broken' >&2\nexit 1\n")
    (tmp_path / "cc").chmod(0o755)
    with pytest.raises(NarxbenchError, match=r"with_binary: .*/cc failed: it is broken$"):
        PLAIN.write_fmu(tmp_path / "unit.fmu")
    monkeypatch.setenv("PATH", f"{tmp_path}/none")
    with pytest.raises(NarxbenchError, match="with_binary: found no C compiler"):
        PLAIN.write_fmu(tmp_path / "unit.fmu")
