"""Findings of an identification in words: a title, a text with figures, and advice on what to do."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from narxbench._identification.finding import Finding
from narxbench._identification.result import Identification
from narxbench._identification.trust.answers import ANSWERS
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


def warning_findings(identification: Identification) -> list[Finding]:
    """Return the findings that a reader must know besides the three answers: what is bad, then what is to be looked at.

    Of equal ones those on the search come first, then those on the model, then those on the data.
    """
    findings = []
    for status in ("bad", "look"):
        for finding in (*identification.notes, *identification.summary):
            if finding.status == status and finding.name not in ANSWERS:
                findings.append(finding)
    return findings


def worse_than(identification: Identification) -> list[str]:
    """Return which competitors the model is worse than; nothing where it is not."""
    names = {"linear_arx": "linear ARX", "last_value": "repeating the last value"}
    lines = []
    for finding in identification.summary:
        if finding.name == "competitors":
            for key, name in names.items():
                about = finding.values[key]
                if about and about["status"] == "bad":
                    error = "it diverges" if about["rrse"] is None else f"RRSE {about['rrse']:.3g}"
                    lines.append(f"WORSE than {name}: {error}, {name} has {about['baseline']:.3g}.")
    return lines


def warnings(identification: Identification) -> list[str]:
    """Return what a reader must know, whole sentences: of the search, the model and the data."""
    words = [in_words(finding) for finding in warning_findings(identification)]
    return [*(f"{said.title}: {said.text}" for said in words), *dict.fromkeys(identification.recording.notes)]


def advice_on(identification: Identification, setting: Setting = as_argument) -> str:
    """Return the advice on the most serious finding that has any; "" where there is none."""
    findings = (*identification.notes, *identification.summary)
    for status in ("bad", "look"):
        for finding in findings:
            if finding.status == status and in_words(finding, setting).advice:
                return in_words(finding, setting).advice
    return ""


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
