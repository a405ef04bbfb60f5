"""Findings as terminals show them, and the choice among them for the first lines of all."""

import json
import re
import shlex

from narxbench._identification.finding import Finding
from narxbench._identification.result import Identification
from narxbench._identification.validation.verdicts import worse_than

# A setting in a text, as :func:`narxbench._identification.phrases.setting` writes it.
SETTING = re.compile(r"`(\w+)=([^`]+)`")


def for_shell(text: str) -> str:
    """Return the text of a finding with settings as options of the command, their values quoted for a shell.

    Examples
    --------
    >>> for_shell('Keep data for a test, as with `test="20%"`.')
    'Keep data for a test, as with --test 20%.'
    """
    return SETTING.sub(lambda found: as_option(found[1], json.loads(found[2])), text)


def as_option(name: str, value: object) -> str:
    """Return a setting as an option of the command, its value quoted for a shell."""
    return f"--{name.replace('_', '-')} {shlex.quote(str(value))}"


def worse_sentences(identification: Identification) -> list[str]:
    """Return a sentence for each simpler model that is better, for the first lines of a summary."""
    sentences = []
    for finding in identification.summary:
        if finding.name == "competitors":
            sentences += worse_than(finding.values)
    return sentences


def further_warnings(identification: Identification) -> list[Finding]:
    """Return the warnings that are not in the first lines already."""
    is_worse = bool(worse_sentences(identification))
    return [finding for finding in identification.warnings if finding.name != "competitors" or not is_worse]


def advice_on(identification: Identification) -> str:
    """Return the advice on the most serious finding that has any, or an empty text."""
    findings = (*identification.notes, *identification.summary)
    for status in ("bad", "look"):
        for finding in findings:
            if finding.status == status and finding.advice:
                return finding.advice
    return ""
