"""Other settings are tried before they are advised."""

import numpy as np
import pandas as pd
import pytest
from tests.lookups import item_with

import narxbench
from narxbench._identification.search.attempts import attempts, scanned_values
from narxbench._identification.settings import IdentificationSettings
from narxbench._io.errors import NarxbenchError
from narxbench._model.records import Record, Recording

TRIED = pd.DataFrame(
    {
        "degree": [2, 1, 3, 1, 3],
        "decimation": [1, 1, 1, 2, 1],
        "rrse": [0.2, 0.3, None, 0.25, 0.21],
        "chosen": [True, False, False, False, False],
    },
    dtype=object,
)
N = 240
NOISE = np.random.default_rng(1).normal(size=(N, 2))


def recording(y):
    return Recording((Record("r", NOISE[:, :1], y),), ("u",), "y")


def values_of(settings, errors, error=0.2, tried=TRIED, y=NOISE[:, 1]):
    """Return what was tried, and the settings of the searches for it."""
    searched = []

    def selection_error(_, freed):
        searched.append(freed)
        answer = errors[len(searched) - 1]
        if answer is None:
            raise NarxbenchError("nothing")
        return answer

    return attempts(recording(y), IdentificationSettings(**settings), tried, error, selection_error), searched


def test_what_was_scanned_is_compared_by_the_best_of_each_value():
    rows = scanned_values(TRIED, "degree")
    assert [(row["value"], row["rrse"]) for row in rows] == [(1, 0.25), (3, 0.21)]
    tried, searched = values_of({}, [])
    assert (tried["better"], searched) == (None, [])


@pytest.mark.parametrize(("freed_error", "is_better"), [(0.1, True), (0.19, False), (None, False)])
def test_fixed_settings_are_freed_in_searches_of_a_share_of_the_effort(freed_error, is_better):
    tried, searched = values_of({"degree": 1, "y_lags": 2, "u_lags": 2, "effort": 12.0}, [freed_error, 0.5])
    assert [(freed.y_lags, freed.u_lags, freed.degree) for freed in searched] == [
        ("auto", "auto", [1]),
        ([1, 2], [1, 2], "auto"),
    ]
    assert sum(freed.effort for freed in searched) == pytest.approx(4.0)
    assert (tried["better"] is not None) == is_better
    if is_better:
        assert tried["better"]["settings"] == ["y_lags", "u_lags"]


def test_lags_of_the_seasons_of_an_output_with_inputs_are_tried():
    y = np.sin(2 * np.pi * np.arange(N) / 12) + 0.1 * NOISE[:, 1]
    tried, (seasonal,) = values_of({}, [0.1], y=y)
    assert seasonal.y_lags == [1, 2, 3, 12, 13] and seasonal.decimation == "auto"
    assert tried["better"] == {"settings": ["y_lags"], "value": "1,2,3,12,13", "rrse": 0.1}
    # What is advised is what was tried.
    assert IdentificationSettings(y_lags=tried["better"]["value"]).y_lags == seasonal.y_lags
    _, searched = values_of({"y_lags": 2}, [0.1], y=y)
    assert [freed.y_lags for freed in searched] == ["auto"]


def test_nothing_is_better_than_an_exact_model():
    tried, _ = values_of({"degree": 1}, [0.0], error=0.0)
    assert tried["better"] is None


def test_other_settings_are_not_tried_where_the_error_is_small():
    u, y = narxbench.load_system("S1").simulate(300, snr_db=60)
    settings = {"degree": 2, "y_lags": 1, "u_lags": 1, "decimation": 1, "effort": 0.3}
    identification = narxbench.identify(u, y, **settings)
    to_predict = identification.summary[0]
    # Without a test one should look all the same.
    assert (to_predict.name, to_predict.status) == ("to_predict", "look")
    assert to_predict.values["attempts"] is None


def test_nothing_is_said_where_nothing_was_tried():
    one_row = TRIED[:1]
    assert values_of({}, [], tried=one_row)[0] is None


def test_advice_is_printed_with_what_it_gains():
    u, y = narxbench.load_system("S1").simulate(300, snr_db=40)
    options = {"decimation": 1, "effort": 0.05, "y_lags": 1, "u_lags": [4], "degree": 1}
    identification = narxbench.identify(u, y, test="25%", **options)
    tried = item_with(identification.summary, name="to_predict").values["attempts"]
    assert tried["better"]["rrse"] < 0.9 * tried["error"]
