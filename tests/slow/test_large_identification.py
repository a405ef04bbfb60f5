"""Large sets of candidates and long records."""

import json
import signal
import subprocess
import sys
import time
from math import comb

import numpy as np
import pytest

import narxbench

pytestmark = pytest.mark.slow
WEIGHTS = {"y(k-1)": 0.5, "u(k-2)": 0.8, "y(k-1)*u(k-1)^2": -0.3, "u(k-1)*u(k-2)^2": 0.4}


def process(samples):
    """Return a cubic process with two lags of both signals."""
    rng = np.random.default_rng(samples)
    u, y = rng.uniform(-1.0, 1.0, samples), np.zeros(samples)
    e = 0.05 * rng.standard_normal(samples)
    for k in range(2, samples):
        y[k] = 0.5 * y[k - 1] + 0.8 * u[k - 2] + 0.4 * u[k - 1] * u[k - 2] ** 2 - 0.3 * y[k - 1] * u[k - 1] ** 2 + e[k]
    return u, y


def test_the_terms_are_found_among_a_thousand_candidates():
    u, y = process(10_000)
    identification = narxbench.identify(u, y, test="10%", decimation=1, degree=4, y_lags=5, u_lags=5, effort=5)
    assert identification.configuration["candidates"] == comb(14, 4)
    weights = dict(zip(identification.model.terms, identification.model.coefficients, strict=True))
    for term, weight in WEIGHTS.items():
        assert weights[term] == pytest.approx(weight, abs=0.02)
    # BIC takes one or two spurious terms of a thousand candidates.
    assert len(weights) <= 7 and identification.to_dict()["metrics"]["test"]["free_run"]["rrse"] < 0.2


def test_an_interrupt_on_a_long_record_is_obeyed_at_once(tmp_path):
    """The best so far is there within seconds, estimated on the stretches that were searched."""
    np.savetxt(tmp_path / "data.csv", np.column_stack(process(600_000)), delimiter=",", header="u,y", comments="")
    command = [sys.executable, "-m", "narxbench", "identify", "data.csv", "--output", "y", "--input", "u", "--json"]
    command += ["--degree", "2", "--y-lags", "20", "--u-lags", "20", "--effort", "200"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as begun:
        time.sleep(10.0)
        assert begun.poll() is None
        begun.send_signal(signal.SIGINT)
        interrupted_at = time.monotonic()
        content = json.loads(begun.communicate()[0])
    assert time.monotonic() - interrupted_at < 20.0 and begun.returncode == 0
    assert content["model"]["terms"] and content["notes"][0]["name"] == "interrupted"
