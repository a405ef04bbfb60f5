"""Settings of an identification as they are read."""

import pytest

from narxbench._identification.settings import IdentificationSettings
from narxbench._io.settings import validated


def settings_of(**values):
    return validated(IdentificationSettings, values, "identify")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        *(("auto", "auto"), (3, [1, 2, 3]), (1, [1]), ([4, 2, 4], [2, 4]), ((1, 2), [1, 2]), ([9999], [9999])),
        *(("3", [1, 2, 3]), ("1-4,8", [1, 2, 3, 4, 8]), (" 2 - 3 , 1", [1, 2, 3]), ("5,7-7", [5, 7])),
    ],
)
def test_lags(written, meant):
    assert settings_of(y_lags=written).y_lags == meant
    assert settings_of(u_lags=written).u_lags == meant
    assert settings_of(u_lags={"a": written, "b": 1}).u_lags in ({"a": meant, "b": [1]}, {"b": [1]})


def test_current_inputs_are_lag_0():
    assert settings_of(u_lags="0-2").u_lags == settings_of(u_lags=[0, 1, 2]).u_lags == [0, 1, 2]
    assert settings_of(u_lags={"a": [0]}).u_lags == {"a": [0]}


def test_one_number_is_a_list_of_one():
    assert settings_of(decimation=4, degree=2).decimation == [4] and settings_of(degree=2).degree == [2]
    assert settings_of(decimation=[8, 1, 8]).decimation == [1, 8]


def test_defaults_read_back():
    reported = settings_of().model_dump(mode="json")
    assert settings_of(**reported) == settings_of()
    mixed = settings_of(decimation=[2, 4], y_lags="1-4,8", u_lags={"a": 2}, delay=3)
    assert settings_of(**mixed.model_dump(mode="json")) == mixed
