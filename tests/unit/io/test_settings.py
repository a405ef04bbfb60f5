"""Messages of strict settings: place, finding, what is allowed, and the closest allowed word."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BeforeValidator, Field, model_validator

from narxbench.io.errors import NarxbenchError
from narxbench.io.settings import Problem, Settings, SettingsError, described_as, validated


class Sine(Settings):
    kind: Literal["sine"] = "sine"
    period: Annotated[int, Field(ge=2)] = 10


class Step(Settings):
    kind: Literal["step"] = "step"
    height: float = 1.0


class Inner(Settings):
    count: int = Field(default=1, ge=1)
    low: float = 0.0

    @model_validator(mode="after")
    def _ordered(self) -> "Inner":
        if self.low >= 1:
            raise SettingsError([Problem(("low",), f"found {self.low:g}; allowed: below 1")])
        return self


Word = Annotated[str, Field(pattern="^[a-z]+$"), described_as("a word of small letters")]
Seeds = Annotated[list[int], BeforeValidator(lambda value: value, json_schema_input_type=int | list[int])]


class Outer(Settings):
    size: int = Field(default=1, ge=1)
    share: float = Field(default=0.5, ge=0, le=1)
    gap: float = Field(default=0.5, gt=0, lt=1)
    bound: float | None = Field(default=None, gt=0)
    scheme: Literal["linear", "ranked", "off"] = "linear"
    flag: bool = True
    name: str = Field(default="x", min_length=1)
    weights: list[Annotated[float, Field(gt=0)]] = Field(default=[1.0], min_length=1)
    signal: Annotated[Sine | Step, Field(discriminator="kind")] = Sine()
    parts: dict[str, Inner] = Field(default_factory=dict)
    word: Word = "a"
    words: dict[Word, int] = Field(default_factory=dict)
    seeds: Seeds = Field(default=[1])
    inner: Inner | None = None


SHARE, KINDS = "allowed: a number of at least 0 and at most 1", "allowed: one of sine, step"


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"sise": 3}, "sise: unknown key; allowed: size, share, gap, bound"),
        ({"sise": 3}, "(did you mean 'size'?)"),
        ({"size": "50"}, "size: found '50' (text); allowed: a whole number of at least 1"),
        *(({"size": value}, f"size: found {text}; allowed") for value, text in ((True, "true"), (2.5, "2.5"))),
        *(({"share": value}, f"share: found {text}; {SHARE}") for value, text in ((None, "null"), (True, "true"))),
        *(({"share": float(text)}, f"share: found {text}; {SHARE}") for text in ("nan", "inf", "-1.0")),
        ({"gap": 0}, "gap: found 0; allowed: a number above 0 and below 1"),
        ({"bound": -1}, "bound: found -1; allowed: a number above 0 or null"),
        ({"scheme": "liner"}, "scheme: found 'liner'; allowed: one of linear, ranked, off (did you mean 'linear'?)"),
        ({"scheme": False}, "scheme: found false; allowed: one of linear, ranked, off"),
        ({"flag": "yes"}, "flag: found 'yes' (text); allowed: true or false"),
        ({"name": ""}, "name: found ''; allowed: text that is not empty"),
        ({"weights": []}, "found [] (list); allowed: a list of at least one entry, each a number above 0"),
        ({"weights": [1, 0]}, "weights[1]: found 0; allowed: a number above 0"),
        ({"signal": {"kind": "sinus"}}, f"signal.kind: found 'sinus'; {KINDS} (did you mean 'sine'?"),
        ({"signal": {"kind": None}}, f"signal.kind: found null; {KINDS}"),
        ({"signal": {"period": 3}}, f"signal.kind: missing; {KINDS}"),
        ({"signal": {"kind": "sine", "period": 1}}, "signal.period: found 1; allowed: a whole number of at least 2"),
        ({"signal": {"kind": "step", "period": 3}}, "signal.period: unknown key; allowed: kind, height"),
        ({"signal": 7}, "signal: found 7; allowed: a mapping with the key kind (one of sine, step) and its settings"),
        ({"parts": {"a": {"count": 0}}}, "parts.a.count: found 0; allowed: a whole number of at least 1"),
        ({"parts": {"a": {"low": 2}}}, "parts.a.low: found 2; allowed: below 1"),
        ({"parts": {1: {}}}, "parts: found the key 1; allowed: text"),
        ({"parts": [1]}, "found [1] (list); allowed: a mapping of names, each to a mapping with the keys count, low"),
        ({"inner": {"count": 0}}, "inner.count: found 0; allowed: a whole number"),
        ({"word": "A"}, "word: found 'A'; allowed: a word of small letters"),
        ({"words": {"a": 1, "B": 2}}, "words: found the key 'B' (text); allowed: a word of small letters"),
        ({"words": {"a": "x"}}, "words.a: found 'x' (text); allowed: a whole number"),
        ({"seeds": ["x"]}, "seeds[0]: found 'x' (text); allowed: a whole number"),
        ({1: 2}, "1: unknown key"),
        ([1], "found [1] (list); allowed: a mapping with the keys size, share"),
        ({"size": "x" * 5000}, "xxx"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_message(values: Any, message: str) -> None:
    with pytest.raises(NarxbenchError) as error:
        validated(Outer, values, "my.yaml")
    text = str(error.value)
    assert text.startswith("my.yaml: ")
    assert message in text
    assert text.isprintable() and len(text) < 200
    assert "pydantic" not in text and "http" not in text


def test_what_is_allowed() -> None:
    settings = validated(Outer, {"share": 1, "bound": 2, "weights": [3], "seeds": [1, 2]}, "my.yaml")
    assert (settings.share, settings.bound, settings.weights, settings.seeds) == (1.0, 2.0, [3.0], [1, 2])
    with pytest.raises(ValueError, match="frozen"):
        settings.size = 2  # type: ignore[misc]


def test_five_problems_then_a_count() -> None:
    values = {"size": 0, "share": 2, "gap": 0, "bound": 0, "flag": 1, "name": "", "word": "A"}
    with pytest.raises(NarxbenchError) as error:
        validated(Outer, values, "search(algorithm='ga')")
    *lines, last = str(error.value).splitlines()
    assert [line.split(": ")[:2] for line in lines] == [["search(algorithm='ga')", key] for key in list(values)[:5]]
    assert last == "and 2 more"


def test_a_missing_key_says_what_belongs_there() -> None:
    class Needed(Settings):
        size: int = Field(ge=1)

    with pytest.raises(NarxbenchError, match=r"^my\.yaml: size: missing; allowed: a whole number of at least 1$"):
        validated(Needed, {}, "my.yaml")
