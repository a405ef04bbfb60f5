"""Several outputs on the command line: a model of each."""

import json

import numpy as np
import pandas as pd
import pytest

import narxbench
from narxbench._cli import main
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
    identification = narxbench.identify(data, input="u", output="a", **QUICK)
    assert printed["a"]["terms"] == list(identification.model.terms)
    assert main(command) == 0
    assert capsys.readouterr().out.count("a from u") == 1


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--output", "a", "--output", "a"], "--output: found "),
        (["--output", "a", "--output", "b", "--test-output", "b"], "--output: found 2 with columns of the test"),
        (["--output", "a", "--other-outputs"], "(gone: input may name other outputs)"),
    ],
)
def test_mistakes(data, tmp_path, capsys, words, text):
    file = tmp_path / "data.csv"
    pd.DataFrame(data).to_csv(file, index=False)
    try:
        code = main(["identify", str(file), "--input", "u", *words])
    except SystemExit as end:
        code = end.code
    error = capsys.readouterr().err
    assert code == 2 and text in error and error.count("\n") == 1
