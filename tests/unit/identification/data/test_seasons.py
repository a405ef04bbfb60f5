"""Seasons are found where an output repeats itself, and nowhere else."""

import numpy as np
import pytest
from tests.lookups import item_with, names_of

import narxbench
from narxbench._identification.data.seasons import seasons, seasons_beside_inputs
from narxbench._identification.search.configurations import with_seasons
from narxbench._model.records import Record, Recording


def recording(*outputs, n_inputs=0):
    records = [Record(str(number), np.zeros((len(y), n_inputs)), y) for number, y in enumerate(outputs)]
    return Recording(tuple(records), ("u",) * n_inputs, "y")


def hourly_load(samples):
    """Return hours of a load with a pattern of the day that weekends change, a slow year, and correlated noise."""
    hours, draws = np.arange(samples), np.random.default_rng(1)
    day = np.sin(2 * np.pi * (hours % 24 - 8) / 24) + 0.4 * np.sin(4 * np.pi * (hours % 24) / 24)
    week = np.where(hours // 24 % 7 >= 5, 0.6, 1.0)
    noise = np.zeros(samples)
    for k in range(1, samples):
        noise[k] = 0.95 * noise[k - 1] + 0.08 * draws.normal()
    return 50 + 10 * (day * week + 2 * week + 0.5 * np.cos(2 * np.pi * hours / 8760) + noise)


def monthly_passengers(months):
    """Return a growing number of passengers with a pattern of the year."""
    numbers, draws = np.arange(months), np.random.default_rng(1)
    year = np.array([0.91, 0.89, 1.01, 0.98, 0.98, 1.11, 1.23, 1.22, 1.06, 0.92, 0.80, 0.90])
    trend = np.exp(0.01 * numbers + np.cumsum(0.015 * draws.normal(size=months)))
    return 110 * trend * year[numbers % 12] * np.exp(0.02 * draws.normal(size=months))


def test_loads_and_passengers():
    assert seasons(recording(hourly_load(2000))) == (24, 168)
    assert seasons(recording(monthly_passengers(144))) == (12,)
    # Records count together, and none is of use that is shorter than three seasons.
    load = hourly_load(2000)
    assert seasons(recording(load[:900], load[1100:])) == (24, 168)
    assert seasons(recording(load[:70])) == ()


@pytest.mark.parametrize("name", ["white", "walk", "damped", "constant", "line"])
def test_no_seasons(name):
    noise = np.random.default_rng(2).normal(size=800)
    damped = np.zeros(800)
    for k in range(2, 800):
        damped[k] = 1.84 * damped[k - 1] - 0.9 * damped[k - 2] + noise[k]
    outputs = {"white": noise, "walk": np.cumsum(noise), "damped": damped}
    outputs |= {"constant": np.ones(800), "line": np.arange(800.0)}
    assert seasons(recording(outputs[name])) == ()


@pytest.mark.slow
def test_passengers_of_the_next_year_are_better_than_those_of_the_last():
    """Repeating the last year is what is to be beaten."""
    passengers, n_known = monthly_passengers(156), 132
    settings = {"effort": 2.0, "decimation": 1}
    identification = narxbench.identify(None, passengers[:n_known], **settings)
    model = identification.model
    assert model.max_lag >= 12
    errors = item_with(identification.summary, name="errors")
    assert (errors.values["steps"], errors.values["seasons"]) == (12, [12])
    assert "repeats itself after 12 samples" in errors.text
    competition = item_with(identification.summary, name="competitors")
    assert "seasonal naive, 12 steps" in names_of(competition.values["rows"])
    forecasts, naive = [], []
    for end in range(n_known, 145):
        year = passengers[end : end + 12]
        forecasts.append(model.forecast(None, passengers[:end], steps=12) - year)
        naive.append(passengers[end - 12 : end] - year)
    assert np.mean(np.square(forecasts)) < 0.7 * np.mean(np.square(naive))


def test_inputs_may_explain_what_repeats_itself():
    load = hourly_load(2000)
    assert seasons(recording(load, n_inputs=1)) == ()
    weather, draws = np.sin(2 * np.pi * np.arange(2000) / 24), np.random.default_rng(3)
    for input, expected in (
        (np.zeros(2000), (24, 168)),
        (weather + draws.normal(0, 0.2, 2000), (24, 168)),
        # What a periodic test signal drives repeats itself as it does.
        (np.tile(draws.normal(size=24), 84)[:2000], ()),
    ):
        driven = Recording((Record("r", input[:, None], load),), ("u",), "y")
        assert seasons_beside_inputs(driven) == expected


def test_lags_of_seasons():
    assert with_seasons([1, 2], [12], 1) == (1, 2, 12, 13)
    assert with_seasons([1, 2], [24, 168], 12) == (1, 2, 3, 14, 15)
    assert with_seasons([1, 2], [12], 5) == (1, 2)
