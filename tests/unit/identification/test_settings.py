"""Settings of an identification: what is read, and one line for each mistake."""

import pytest

from narxbench.identification.settings import IdentificationSettings
from narxbench.io.settings import SettingsError, validated


def read(**values):
    return validated(IdentificationSettings, values, "identify")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("auto", "auto"),
        (3, [1, 2, 3]),
        (1, [1]),
        ([4, 2, 4], [2, 4]),
        ((1, 2), [1, 2]),
        ("3", [1, 2, 3]),
        ("1-4,8", [1, 2, 3, 4, 8]),
        (" 2 - 3 , 1", [1, 2, 3]),
        ("5,7-7", [5, 7]),
        ([9999], [9999]),
    ],
)
def test_lags(written, meant):
    assert read(y_lags=written).y_lags == meant
    assert read(u_lags=written).u_lags == meant
    assert read(u_lags={"a": written, "b": 1}).u_lags in ({"a": meant, "b": [1]}, {"b": [1]})


def test_current_inputs_are_lag_0():
    assert read(u_lags="0-2").u_lags == read(u_lags=[0, 1, 2]).u_lags == [0, 1, 2]
    assert read(u_lags={"a": [0]}).u_lags == {"a": [0]}


def test_one_number_is_a_list_of_one():
    assert read(decimation=4, degree=2).decimation == [4] and read(degree=2).degree == [2]
    assert read(decimation=[8, 1, 8]).decimation == [1, 8]


def test_defaults_read_back():
    told = read().model_dump(mode="json")
    assert read(**told) == read()
    mixed = read(decimation=[2, 4], y_lags="1-4,8", u_lags={"a": 2}, centre=True, method="ga", delay=3)
    assert read(**mixed.model_dump(mode="json")) == mixed


LAGS = "auto, a number n for the lags 1 to n, or a list"
WRONG = [
    *(({"y_lags": value}, "y_lags", LAGS) for value in (-1, 2.5, True, None, "x", "", "1-", "-3", "5-2", "1-4-8")),
    *(({"y_lags": value}, "y_lags", LAGS) for value in (10_000, [10_000], [], [1, 2.5], [1, True], [[1]], "1-20000")),
    *(({"y_lags": value}, "y_lags", LAGS) for value in ("1-99999999999999", "1-9999", list(range(1, 2000)), {"u": 1})),
    *(
        ({"y_lags": value}, "y_lags", "lags from 1 on, for y(k) is what the model predicts")
        for value in ([0, 1], "0-2", 0)
    ),
    *(({"u_lags": value}, "u_lags", LAGS) for value in (-1, 2.5, True, None, "x", [-1], 10_000, "1-9999999", [])),
    *(({"u_lags": {"a": value}}, "u_lags", LAGS) for value in (-1, 2.5, True, None, "x", [-1], [])),
    *(({"decimation": value}, "decimation", "auto, a positive whole number") for value in (0, -2, 1.5, True, None, [])),
    *(({"decimation": value}, "decimation", "auto, a positive whole number") for value in ("x", [1, 0], [2.5], 10**6)),
    *(
        ({"degree": value}, "degree", "auto, a whole number from 1 to 12")
        for value in (0, 13, 1.5, True, None, [], [0])
    ),
    *(({"delay": value}, "delay", "auto, or a whole number from 0") for value in (-1, 1.5, True, None, "x", 10_000)),
    *(({"centre": value}, "centre", "auto, true or false") for value in (1, 0, None, "yes", "true")),
    ({"y_degree": -1}, "y_degree", "a whole number of at least 0 and at most 12"),
    ({"u_degree": 13}, "u_degree", "a whole number of at least 0 and at most 12"),
    ({"include": "y(k-1)"}, "include", "a list"),
    ({"exclude": [1]}, "exclude[0]", "text"),
    ({"method": "gaa"}, "method", "(did you mean 'ga'?)"),
    ({"method": 3}, "method", "text"),
    ({"method_settings": {"x": 1}}, "method_settings.x", "batch_size"),
    (
        {"method": "ga", "method_settings": {"population_sise": 3}},
        "method_settings.population_sise",
        "population_size'?",
    ),
    ({"method": "ga", "method_settings": {"population_size": 0}}, "method_settings.population_size", "at least"),
    ({"error": "free"}, "error", "(did you mean 'free_run'?)"),
    ({"criterion": "bicc"}, "criterion", "(did you mean 'bic'?)"),
    ({"criterion": "aic-0"}, "criterion", "'aic-' and a positive number"),
    ({"seeds": 0}, "seeds", "at least 1 and at most 1000"),
    ({"seeds": 1.5}, "seeds", "a whole number"),
    ({"blocks": 1}, "blocks", "at least 2 and at most 100"),
    ({"selection": "max"}, "selection", "mean, worst"),
    ({"divergent": 1.0}, "divergent", "at least 0 and below 1"),
    *(({"effort": value}, "effort", "a number above 0") for value in (0, -1, float("nan"), float("inf"), "20")),
    ({"resamples": -1}, "resamples", "at least 0"),
    ({"threshold": 0}, "threshold", "above 0 and at most 1"),
    ({"confidence": 1.0}, "confidence", "above 0 and at most 0.999999999"),
    ({"confidence": 0.9999999999999999}, "confidence", "above 0 and at most 0.999999999"),
    ({"refine": "sim"}, "refine", "none, simulation, extended"),
    ({"degre": 2}, "degre", "(did you mean 'degree'?)"),
    ({"time": 20}, "time", "unknown key"),
]


@pytest.mark.parametrize(("values", "key", "allowed"), WRONG, ids=lambda value: str(value)[:40])
def test_each_wrong_value_is_one_line(values, key, allowed):
    with pytest.raises(SettingsError) as raised:
        read(**values)
    text = str(raised.value)
    assert text.startswith((f"identify: {key}: ", f"identify: {key}.a: "))
    assert "\n" not in text and len(text) < 450
    assert ("found " in text or "unknown key" in text) and "allowed: " in text and allowed in text
    # No inner names of the library.
    assert not any(word in text for word in ("literal[", "constrained", "function-", "dict[", "Value error"))


def test_each_mistake_has_its_line():
    with pytest.raises(SettingsError) as raised:
        read(y_lags="y", seeds=0, centre="x", effort=-1)
    lines = str(raised.value).split("\n")
    assert sorted(line.split(": ")[1] for line in lines) == ["centre", "effort", "seeds", "y_lags"]
    with pytest.raises(SettingsError) as raised:
        read(y_lags=[0], criterion="x", method="y")
    lines = str(raised.value).split("\n")
    assert sorted(line.split(": ")[1] for line in lines) == ["criterion", "method", "y_lags"]
