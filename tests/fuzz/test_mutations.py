"""A short soak of every reader, and proof that the soak sees what it is there to see."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fuzz.mutation import Mutator
from tests.fuzz.soak import SOURCE, TRACED, TooSlowError, code_lines, compile_of, fuzz, run_lines, time_limit
from tests.fuzz.targets import Target, message_class, outcome, scratch, targets

from narxbench.io.errors import NarxbenchError

NAMES = [
    *("term", "equation", "criterion", "signals", "run file", "published values", "system terms", "YAML"),
    *("system file", "configuration", "whole configuration", "readings"),
]
INPUTS_PER_MILLE = 20


@pytest.fixture(scope="module")
def by_name() -> Iterator[dict[str, Target]]:
    with scratch() as folder:
        yield {target.name: target for target in targets(folder)}


def test_every_reader_is_named_here(by_name: dict[str, Target]) -> None:
    assert list(by_name) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_origins_of_all_mutations_are_valid(by_name: dict[str, Target], name: str) -> None:
    assert [outcome(by_name[name], seed) for seed in by_name[name].seeds] == ["accepted"] * len(by_name[name].seeds)


@pytest.mark.parametrize("name", NAMES)
def test_mutations_are_accepted_or_refused_with_a_clear_message(by_name: dict[str, Target], name: str) -> None:
    target = by_name[name]
    result = fuzz(target, max(20, target.share * INPUTS_PER_MILLE), "short")
    assert result.findings == []
    assert len(result.outcomes) > 1


def test_equal_seeds_make_equal_inputs() -> None:
    first, second, other = (Mutator(seed, [b"y(k-1)", b"u(k-2)^2"]) for seed in ("a", "a", "b"))
    made = [first.next() for _ in range(200)]
    assert made == [second.next() for _ in range(200)]
    assert made != [other.next() for _ in range(200)]
    assert len(set(made)) > 150


def spin(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def broken(data: bytes) -> None:
    if b"2" in data:
        int("x")
    raise NarxbenchError("found y(k-1); allowed: something else")


@pytest.mark.parametrize(
    ("check", "error"),
    [
        (broken, "ValueError: invalid literal"),
        (lambda data: spin(1), "TooSlowError: took longer"),
        (lambda data: (_ for _ in ()).throw(RecursionError("deep")), "RecursionError: deep"),
        (lambda data: (_ for _ in ()).throw(MemoryError()), "MemoryError: "),
        (lambda data: (_ for _ in ()).throw(NarxbenchError("")), "AssertionError: an empty message"),
        (lambda data: (_ for _ in ()).throw(NarxbenchError("a\x1b[31m")), "AssertionError: a message that breaks"),
        (lambda data: (_ for _ in ()).throw(NarxbenchError("a" * 5000)), "AssertionError: a message of 5000"),
    ],
)
def test_a_broken_reader_is_found(check: object, error: str) -> None:
    result = fuzz(Target("broken", 1, [b"y(k-1)", b"2"], check), 6, "self", seconds=0.05)  # type: ignore[arg-type]
    assert result.findings
    assert result.findings[0].error.startswith(error)


def test_messages_must_name_the_file() -> None:
    def check(data: bytes) -> None:
        raise NarxbenchError("found y; allowed: x")

    with pytest.raises(AssertionError, match="no file"):
        outcome(Target("x", 1, [], check, (Path("a.csv"),)), b"")


def test_kinds_of_messages_leave_the_input_out() -> None:
    one = message_class("a.csv: line 3: found 'it\\'s'; allowed: a number (did you mean 'x'?)", (Path("a.csv"),))
    assert one == message_class("a.csv: line 17: found 5; allowed: a number", (Path("a.csv"),))
    assert one != message_class("a.csv: line 17: found 5; allowed: a word", (Path("a.csv"),))


def test_the_time_limit_ends_with_its_block() -> None:
    with pytest.raises(TooSlowError), time_limit(0.02):
        spin(1)
    with time_limit(0.1):
        pass
    spin(0.2)


def test_mutations_reach_the_code_of_the_reader_of_signals(by_name: dict[str, Target]) -> None:
    target = by_name["signals"]
    corpus = fuzz(target, 2000, "coverage").corpus
    run = {line for name, line in run_lines(target, corpus) if name == "data"}
    assert "data" in TRACED
    reader = code_lines(compile_of(SOURCE / "data.py"))
    # The lines for files that cannot be opened stay.
    assert len(reader - run) <= 3
