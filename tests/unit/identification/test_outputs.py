"""Several outputs: one model for each of them."""

import json

import numpy as np
import pandas as pd
import pytest

import narxbench
from narxbench._cli import main
from narxbench._io.errors import FieldError
from narxbench._numerics.random_streams import generator

QUICK = {"degree": 1, "y_lags": 1, "u_lags": 1, "decimation": 1, "effort": 0.1}
QUICK |= {"noise": "narx"}


@pytest.fixture(scope="module")
def data():
    rng = generator(purpose="several outputs")
    u, a, b = rng.standard_normal(300), np.zeros(300), np.zeros(300)
    for k in range(1, 300):
        a[k] = 0.5 * a[k - 1] + u[k - 1]
        b[k] = 0.8 * b[k - 1] + 0.3 * a[k - 1] + 0.05 * rng.standard_normal()
    return {"u": u, "a": a + 0.05 * rng.standard_normal(300), "b": b}


@pytest.mark.slow
def test_each_output_has_a_model_of_its_own(data):
    identifications = narxbench.identify_outputs(data, ["a", "b"], input="u", **QUICK)
    assert list(identifications) == ["a", "b"]
    for output, identification in identifications.items():
        assert identification.model == narxbench.identify(data, input="u", output=output, **QUICK).model


def test_other_outputs_may_be_inputs(data):
    identifications = narxbench.identify_outputs(data, ["a", "b"], input="u", other_outputs=True, **QUICK)
    assert identifications["a"].model.inputs == ("u", "b")
    model = identifications["b"].model
    assert model.inputs == ("u", "a")
    weights = dict(zip(model.terms, model.coefficients, strict=True))
    assert weights["u2(k-1)"] == pytest.approx(0.3, abs=0.05)


@pytest.mark.parametrize("changes", [{"output": ["a"]}, {"output": ["a", "a"]}, {"test_output": "u"}])
def test_other_outputs_are_refused(data, changes):
    with pytest.raises(FieldError) as refused:
        narxbench.identify_outputs(data, **{"output": ["a", "b"], "input": "u", **QUICK, **changes})
    assert refused.value.field == "output"


@pytest.mark.slow
def test_on_the_command_line(data, tmp_path, capsys):
    file = tmp_path / "data.csv"
    pd.DataFrame(data).to_csv(file, index=False)
    command = ["identify", str(file), "--input", "u", "--output", "a", "--output", "b"]
    for name, value in QUICK.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    assert main([*command, "--json", "--report", str(tmp_path / "report")]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert set(printed) == {"a", "b"} and "u(k-1)" in printed["a"]["terms"]
    assert {path.parent.name for path in (tmp_path / "report").glob("*/report.html")} == {"1-a", "2-b"}
    assert main(command) == 0
    assert capsys.readouterr().out.count("a from u") == 1
