"""Identifications of small data, which the tests of what users see share."""

from functools import cache

import numpy as np
import pytest

import narxbench

SMALL = {"degree": 2, "y_lags": 2, "u_lags": 2, "decimation": 1, "effort": 0.1}
# As a user may name things: markup, mathematics, entities, the end of a comment, a line break.
HOSTILE = ("P$_{in}$ <b>", 'T & "q" --> \n')
OUTPUT = "out</svg></script>$x$"


def simulated(samples, hold):
    """Return two inputs, each value held for some samples, and the output of a process with a squared term.

    In the middle, the inputs are constant for long.
    """
    rng = np.random.default_rng(samples + hold)
    u = rng.uniform(-1, 1, (samples // hold, 2)).repeat(hold, axis=0)
    u[samples // 3 : samples // 2] = 0.5
    y = np.zeros(samples)
    for k in range(2, samples):
        y[k] = 0.6 * y[k - 1] + u[k - 1, 0] + 0.4 * u[k - 2, 1] ** 2 + 0.05 * rng.standard_normal()
    return u, y


def many_inputs():
    return np.random.default_rng(8).uniform(-1, 1, (400, 8))


def summed(u):
    """Return the output of a linear process whose inputs act together, with noise."""
    rng = np.random.default_rng(len(u))
    y = np.zeros(len(u))
    for k in range(1, len(u)):
        y[k] = 0.6 * y[k - 1] + u[k - 1].sum() + 0.05 * rng.standard_normal()
    return y


def short(samples, noise):
    """Return a few samples of an input that wanders, and the output of a linear process."""
    rng = np.random.default_rng(1)
    u, y = np.cumsum(rng.standard_normal(samples)), np.zeros(samples)
    for k in range(1, samples):
        y[k] = 0.9 * y[k - 1] + 0.3 * u[k - 1] + noise * rng.standard_normal()
    return {"u": u, "y": y}


def series():
    """Return a series that oscillates, with noise."""
    rng = np.random.default_rng(3)
    y = np.zeros(400)
    for k in range(2, 400):
        y[k] = 1.5 * y[k - 1] - 0.8 * y[k - 2] - 0.1 * y[k - 1] ** 3 + 0.1 * rng.standard_normal()
    return y


def arguments_of(name):
    """Return the arguments of the identification of a case."""
    u, y = simulated(600, 4)
    plain = {"data": {"u": u[:, 0], "y": y}, "output": "y", "input": "u", "test": "25%", "sampling_time": 0.1}
    match name:
        case "plain":
            return {**plain, "degree": [1, 2], "decimation": [1, 2]}
        case "oversampled":
            held = {"u": u[:, 0].repeat(3), "y": y.repeat(3)}
            return {**plain, "data": held, "decimation": 3, "sampling_time": 1e-5}
        case "series":
            return {"output": series(), "test": "25%", "degree": 3}
        case "hostile":
            names = (*HOSTILE, "c\u202e\x1b[2J", "d", "e", "f", "g", "h")
            data = {**dict(zip(names, many_inputs().T, strict=True)), OUTPUT: summed(many_inputs())}
            units = {OUTPUT: "m$^2$<i>", HOSTILE[0]: "°C"}
            form = {"degree": 1, "units": units, "sampling_time": 1e-10}
            return {"data": data, "output": OUTPUT, "input": list(names), **form}
        case "worse":
            limited = {"u": u[:, 0], "y": np.minimum(y, 1.8)}
            return {**plain, "data": limited, "degree": 1, "exclude": ["u(k-1)", "u(k-2)"]}
        case "exact" | "doubtful":
            data = {"exact": short(14, 0.0), "doubtful": short(18, 0.3)}[name]
            still = {"u": np.full(100, 0.5), "y": np.full(100, 2.0)}
            return {"data": data, "output": "y", "input": "u", "test": still}
    raise AssertionError(name)


@pytest.fixture(scope="session")
def identified():
    """Return a function that returns the identification of a case."""
    return cache(lambda name: narxbench.identify(**{**SMALL, **arguments_of(name)}))


@pytest.fixture(scope="session")
def reported(identified, tmp_path_factory):
    """Return a function that returns the folder of the report of a case."""

    @cache
    def report(name):
        folder = tmp_path_factory.mktemp("report") / "new"
        assert narxbench.write_report(identified(name), folder) == folder / "report.html"
        return folder

    return report
