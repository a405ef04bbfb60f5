"""Findings of an identification in words: a title, a text with figures, and advice on what to do."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from narxbench._identification.finding import Finding
from narxbench._identification.result import Identification
from narxbench._report.answer_words import ANSWER_WORDS
from narxbench._report.data_words import DATA_WORDS
from narxbench._report.model_words import MODEL_WORDS
from narxbench._report.phrases import Setting, as_argument
from narxbench._report.search_words import SEARCH_WORDS

# Words by the name of the finding.
WORDS = {**DATA_WORDS, **ANSWER_WORDS, **MODEL_WORDS, **SEARCH_WORDS}

# The class of a mark on pages, and its text, by status.
MARKS = {"fine": ("yes", "✓ fine"), "look": ("open", "! look"), "bad": ("no", "✗ bad")}


class Words(NamedTuple):
    """A finding in words; the advice is empty where there is nothing to do."""

    title: str
    text: str
    advice: str = ""


def in_words(finding: Finding, setting: Setting = as_argument) -> Words:
    """Return a finding in words.

    Parameters
    ----------
    finding : Finding
        One of ``checks``, ``summary`` or ``notes`` of an identification.
    setting : callable
        How an advice writes a setting: :func:`narxbench._report.phrases.as_argument` or ``as_option``.

    Examples
    --------
    >>> from narxbench._identification.finding import Finding
    >>> words = in_words(Finding("no_test", "look"))
    >>> print(f"{words.title}: {words.text}")
    Test data: No data are kept for a test: expect larger errors on new data.
    """
    text, advice = WORDS[finding.name](finding, setting)
    return Words(finding.title, text, advice)


def worded(finding: Finding) -> dict[str, str]:
    """Return a finding in words as pages show it."""
    words = {name: unbroken(text) for name, text in in_words(finding)._asdict().items()}
    return {"name": finding.name, "status": finding.status, **words}


def unbroken(text: str) -> str:
    """Return a text whose terms no line is broken at: a hyphen is a place to break, a minus is not."""
    return text.replace("(k-", "(k−")


def warnings(identification: Identification) -> list[str]:
    """Return what a reader must know, whole sentences: of the data, of the search, and every bad finding."""
    bad = [in_words(finding) for finding in identification.summary if finding.status == "bad"]
    return [*before_all(identification), *(f"{words.title}: {words.text}" for words in bad)]


def before_all(identification: Identification) -> list[str]:
    """Return what stands above all else: changes of the data, and what went otherwise than planned in the search."""
    notes = [in_words(note).text for note in identification.notes if note.status != "fine"]
    return [*dict.fromkeys([*identification.recording.notes, *notes])]


def as_json(identification: Identification) -> dict[str, Any]:
    """Return what ``narxbench identify --json`` prints: :meth:`Identification.to_dict` with findings in words."""
    return {
        **identification.to_dict(),
        "warnings": warnings(identification),
        "checks": as_entries(identification.checks),
        "summary": as_entries(identification.summary),
    }


def as_entries(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """Return findings as plain data, with their words."""
    entries = []
    for finding in findings:
        words = in_words(finding)
        entries.append({**vars(finding), "title": words.title, "text": words.text, "advice": words.advice})
    return entries
