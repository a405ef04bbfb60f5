"""Answers to mistakes of the user: the messages of each package stand in one file that people review.

``tests/unit/PACKAGE/test_messages.py`` makes the mistakes; ``messages.txt`` next to it holds the answers
(``sentences.txt`` those of ``test_sentences.py``). After a change of messages, run
``pytest tests/unit -k test_messages --renew-messages`` and read the difference as a user would.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from narxbench import NarxbenchError


def answer(mistake: Callable[[], object]) -> str:
    """Return the message of the ``NarxbenchError``, or the text that the mistake returns, say a warning."""
    try:
        text = mistake()
    except NarxbenchError as error:
        text = str(error)
    assert isinstance(text, str) and text, "no mistake was found"
    for line in text.splitlines():
        assert line.isprintable() and len(line) < 600, text
    assert "pydantic" not in text and "Traceback" not in text
    return text


def calls(
    label: str, function: Callable[[Any], object], arguments: Iterable[Any], describe: Callable[[Any], str] = str
) -> dict[str, Callable[[], object]]:
    """Return a call of a function with each argument, by a label and a description of the argument."""
    return {f"{label} {describe(argument)}": partial(function, argument) for argument in arguments}


def compare(mistakes: Mapping[str, Callable[[], object]], file: Path, *, renew: bool) -> None:
    """Compare the answers to named mistakes with a file that has each name and, below it, the lines of its answer."""
    here, project = str(Path.cwd()), str(Path(__file__).parents[1])
    report = ""
    for name, mistake in mistakes.items():
        lines = answer(mistake).replace(f"{here}/", "").replace(here, ".").replace(f"{project}/", "").splitlines()
        report += "\n  ".join([name, *lines]) + "\n"
    if renew:
        file.write_text(report, encoding="utf-8")
    assert report.splitlines() == file.read_text(encoding="utf-8").splitlines()
