"""Messages of strict settings: place, finding, what is allowed, and the closest allowed word."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BeforeValidator, Field, model_validator

from narxbench.io.errors import NarxbenchError
from narxbench.io.settings import Allowed, Problem, Settings, SettingsError, validated


class Sine(Settings):
    kind: Literal["sine"] = "sine"
    period: Annotated[int, Field(ge=2)] = 10


class Step(Settings):
    kind: Literal["step"] = "step"
    height: float = 1.0


class Inner(Settings):
    count: int = Field(default=1, ge=1)
    low: float = 0.0
    high: float = 1.0

    @model_validator(mode="after")
    def _ordered(self) -> "Inner":
        if self.low >= self.high:
            raise SettingsError([Problem(("low",), f"found {self.low:g}; allowed: below high")])
        return self


Word = Annotated[str, Field(pattern="^[a-z]+$"), Allowed("a word of small letters")]
Count = Annotated[list[int], BeforeValidator(lambda value: value, json_schema_input_type=int | list[int])]


class Outer(Settings):
    size: int = Field(default=1, ge=1)
    lag: int = Field(default=1, ge=0)
    degree: int = Field(default=1, ge=1, le=12)
    share: float = Field(default=0.5, ge=0, le=1)
    gap: float = Field(default=0.5, gt=0, le=1)
    bound: float | None = Field(default=None, gt=0)
    scheme: Literal["linear", "ranked", "off"] = "linear"
    flag: bool = True
    name: str = Field(default="x", min_length=1)
    seeds: Annotated[int, Field(ge=1)] | list[Annotated[int, Field(ge=1)]] = 1
    weights: list[Annotated[float, Field(gt=0)]] = Field(default=[1.0], min_length=1)
    signal: Annotated[Sine | Step, Field(discriminator="kind")] = Sine()
    parts: dict[str, Inner] = Field(default_factory=dict)
    word: Word = "a"
    words: dict[Word, int] = Field(default_factory=dict)
    pair: tuple[int, float] = (1, 1.0)
    count: Count = Field(default=[1])
    free: Any = None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"sise": 3}, "unknown key; allowed: size, lag, degree, share"),
        ({"sise": 3}, "(did you mean 'size'?)"),
        ({"size": "fifty"}, "size: found 'fifty' (text); allowed: a positive whole number"),
        ({"size": "50"}, "size: found '50' (text); allowed: a positive whole number (did you mean the number 50?)"),
        ({"size": True}, "size: found true; allowed: a positive whole number"),
        ({"size": 2.5}, "size: found 2.5; allowed: a positive whole number"),
        ({"size": None}, "size: found null; allowed: a positive whole number"),
        ({"lag": -1}, "lag: found -1; allowed: a whole number of at least 0"),
        ({"degree": 13}, "degree: found 13; allowed: a whole number from 1 to 12"),
        ({"share": True}, "share: found true; allowed: a number from 0 to 1"),
        ({"share": float("nan")}, "share: found nan; allowed: a number from 0 to 1"),
        ({"share": float("inf")}, "share: found inf; allowed: a number from 0 to 1"),
        ({"gap": 0}, "gap: found 0; allowed: a number above 0 and at most 1"),
        ({"bound": "1e-3"}, "bound: found '1e-3' (text); allowed: a positive number or null (did you mean the number"),
        ({"bound": -1}, "bound: found -1; allowed: a positive number or null"),
        ({"scheme": "liner"}, "scheme: found 'liner'; allowed: one of linear, ranked, off (did you mean 'linear'?)"),
        ({"scheme": False}, "scheme: found false; allowed: one of linear, ranked, off"),
        ({"flag": "yes"}, "flag: found 'yes' (text); allowed: true or false (did you mean true?)"),
        ({"name": ""}, "name: found ''; allowed: text that is not empty"),
        ({"name": 3}, "name: found 3; allowed: text"),
        ({"seeds": -5}, "seeds: found -5; allowed: a positive whole number or a list, each a positive whole number"),
        ({"seeds": [1, "two"]}, "seeds[1]: found 'two' (text); allowed: a positive whole number"),
        ({"weights": []}, "weights: found [] (list); allowed: a list of at least one entry, each a positive number"),
        ({"weights": [1, 0]}, "weights[1]: found 0; allowed: a positive number"),
        ({"signal": {"kind": "sinus"}}, "signal.kind: found 'sinus'; allowed: one of sine, step (did you mean 'sine'?"),
        ({"signal": {"kind": None}}, "signal.kind: found null; allowed: one of sine, step"),
        ({"signal": {"period": 3}}, "signal.kind: missing; allowed: one of sine, step"),
        ({"signal": {"kind": "sine", "period": 1}}, "signal.period: found 1; allowed: a whole number of at least 2"),
        ({"signal": {"kind": "step", "period": 3}}, "signal.period: unknown key; allowed: kind, height"),
        ({"signal": 7}, "signal: found 7; allowed: a mapping with the key kind (one of sine, step) and its settings"),
        ({"parts": {"a": {"count": 0}}}, "parts.a.count: found 0; allowed: a positive whole number"),
        ({"parts": {"a": {"low": 2}}}, "parts.a.low: found 2; allowed: below high"),
        ({"parts": {1: {}}}, "parts: found the key 1; allowed: text"),
        (
            {"parts": [1]},
            "parts: found [1] (list); allowed: a mapping of names, each to a mapping with the keys count,",
        ),
        ({"word": "A"}, "word: found 'A'; allowed: a word of small letters"),
        ({"words": {"a": 1, "B": 2}}, "words: found the key 'B' (text); allowed: a word of small letters"),
        ({"words": {"a": "x"}}, "words.a: found 'x' (text); allowed: a whole number"),
        ({"pair": [1]}, "pair: found [1] (list); allowed: a list of 2 entries, each a whole number"),
        ({"count": ["x"]}, "count[0]: found 'x' (text); allowed: a whole number"),
        ({1: 2}, "1: unknown key"),
        ([1], "found [1] (list); allowed: a mapping with the keys size, lag"),
        (None, "found null; allowed: a mapping with the keys size, lag"),
    ],
)
def test_message(values: Any, message: str) -> None:
    with pytest.raises(NarxbenchError) as error:
        validated(Outer, values, "my.yaml")
    text = str(error.value)
    assert text.startswith("my.yaml: ")
    assert message in text
    assert len(text.splitlines()) == 1
    assert "pydantic" not in text and "http" not in text


def test_whole_numbers_are_numbers() -> None:
    settings = validated(Outer, {"share": 1, "bound": 2, "weights": [3], "seeds": [1, 2]}, "my.yaml")
    assert (settings.share, settings.bound, settings.weights, settings.seeds) == (1.0, 2.0, [3.0], [1, 2])


def test_five_problems_then_a_count() -> None:
    values = {"size": 0, "lag": -1, "degree": 0, "share": 2, "gap": 0, "bound": 0, "flag": 1}
    with pytest.raises(NarxbenchError) as error:
        validated(Outer, values, "search(algorithm='ga')")
    lines = str(error.value).splitlines()
    assert [line.split(": ")[1] for line in lines[:5]] == ["size", "lag", "degree", "share", "gap"]
    assert all(line.startswith("search(algorithm='ga'): ") for line in lines[:5])
    assert lines[5:] == ["and 2 more"]


def test_long_values_are_shortened() -> None:
    with pytest.raises(NarxbenchError) as error:
        validated(Outer, {"size": "x" * 5000}, "my.yaml")
    assert len(str(error.value)) < 150


def test_a_missing_key_says_what_belongs_there() -> None:
    class Needed(Settings):
        size: int = Field(ge=1)

    with pytest.raises(NarxbenchError, match=r"^my\.yaml: size: missing; allowed: a positive whole number$"):
        validated(Needed, {}, "my.yaml")


def test_settings_are_frozen() -> None:
    with pytest.raises(ValueError, match="frozen"):
        Outer().size = 2  # type: ignore[misc]
