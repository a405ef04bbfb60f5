"""Strict settings; what is answered to mistakes is in `messages.txt`."""

from typing import Annotated, Literal

import pytest
from pydantic import BeforeValidator, Field, model_validator

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


class Needed(Settings):
    size: int = Field(ge=1)


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
    needed: Needed = Needed(size=1)


def test_what_is_allowed() -> None:
    settings = validated(Outer, {"share": 1, "bound": 2, "weights": [3], "seeds": [1, 2]}, "my.yaml")
    assert (settings.share, settings.bound, settings.weights, settings.seeds) == (1.0, 2.0, [3.0], [1, 2])
    with pytest.raises(ValueError, match="frozen"):
        settings.size = 2  # type: ignore[misc]
