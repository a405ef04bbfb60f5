"""What is answered to mistakes of the user: the messages of each package in one file that people review.

``tests/unit/PACKAGE/test_messages.py`` makes the mistakes, ``messages.txt`` next to it holds the answers (of
``test_sentences.py`` it is ``sentences.txt``). After a
change of messages: ``pytest tests/unit -k test_messages --renew-messages``, then read the difference as a user would.
"""

from collections.abc import Callable, Mapping
from pathlib import Path

from narxbench import NarxbenchError


def answer(mistake: Callable[[], object]) -> str:
    """Return the message of the ``NarxbenchError``, or the text that the mistake returns, say a warning."""
    try:
        text = mistake()
    except NarxbenchError as error:
        text = str(error)
    assert isinstance(text, str) and text, "no mistake was found"
    assert all(line.isprintable() and len(line) < 600 for line in text.splitlines()), text
    assert "pydantic" not in text and "Traceback" not in text
    return text


def compare(mistakes: Mapping[str, Callable[[], object]], file: Path, *, renew: bool) -> None:
    """Hold the answer to every named mistake against a file of names and, below each, the lines of its answer."""
    here, project, found = str(Path.cwd()), str(Path(__file__).parents[1]), ""
    for name, mistake in mistakes.items():
        lines = answer(mistake).replace(f"{here}/", "").replace(here, ".").replace(f"{project}/", "").splitlines()
        found += "\n  ".join([name, *lines]) + "\n"
    if renew:
        file.write_text(found, encoding="utf-8")
    assert found.splitlines() == file.read_text(encoding="utf-8").splitlines()
