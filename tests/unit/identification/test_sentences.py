"""How many sentences the checks have: each is of one check, and their number does not grow unseen."""

import re
from collections import defaultdict

import pytest
from benchmarks.verdict_records import KINDS, held_out
from benchmarks.verdicts import recording_of
from tests.unit.identification.test_advice import OF_DATA, check_of
from tests.unit.identification.test_joint import JOINT, coupled
from tests.unit.identification.test_messages import FINDINGS

import narxbench
from narxbench._identification.finding import TITLES
from narxbench._identification.identify import identify_recording
from narxbench._identification.phrases import MOVING_INPUTS, OTHER_UNIT
from narxbench._identification.settings import IdentificationSettings

SENTENCE_ENDS = re.compile(r"(?<=\.) (?=[A-Za-z0-9])")
# How many sentences each check has, those of the advice included, which cases and corpora show in all forms.
MOST = {
    **{"to_predict": 23, "to_read": 16, "to_control": 15, "errors": 15, "competitors": 6, "residuals": 9},
    **{"steady_states": 8, "noise_model": 6, "joint": 5, "no_test": 2, "interrupted": 2, "sampling": 11},
    **{"evidence": 19, "saturation": 3, "excitation": 9, "drift": 5, "outliers": 5, "test-range": 8},
}
# What to do next may be the same after two checks.
SHARED = {OTHER_UNIT, MOVING_INPUTS}
QUICK = IdentificationSettings(effort=0.1)


def beginning(sentence):
    """Return the words that a sentence begins with; what differs between data is left out."""
    first_part = re.split(r"[:;,(]", sentence)[0].lower()
    words = re.findall(r"(?<![\w^])[a-z]{3,}(?![\w(])", first_part)
    return " ".join(dict.fromkeys(word.removesuffix("s") for word in words))


def sentences_by_check(findings):
    """Return the beginnings of the different sentences of each check."""
    sentences = defaultdict(set)
    for finding in findings:
        for text in (finding.text, finding.advice):
            sentences[finding.name].update(map(beginning, SENTENCE_ENDS.split(text)))
    return {name: texts - {""} for name, texts in sentences.items()}


def findings_of(identification):
    return [*identification.summary, *identification.checks, *identification.notes]


def check_sentences(findings):
    """Check that no check has more sentences than are known, and that each sentence is of one check."""
    sentences = sentences_by_check(findings)
    numbers = {name: len(texts) for name, texts in sentences.items()}
    too_many = {name: sorted(sentences[name]) for name, number in numbers.items() if number > MOST[name]}
    assert not too_many, too_many
    checks_by_sentence = defaultdict(set)
    for name, texts in sentences.items():
        for text in texts:
            checks_by_sentence[text].add(name)
    repeated = {text for text, names in checks_by_sentence.items() if len(names) > 1}
    assert repeated <= set(map(beginning, SHARED)), repeated


def test_each_sentence_is_of_one_check():
    assert set(MOST) == set(TITLES)
    check_sentences(FINDINGS)


@pytest.mark.slow
def test_cases_and_corpora_have_no_further_sentences():
    findings = list(FINDINGS)
    for kind, (_, make) in KINDS.items():
        findings += findings_of(identify_recording(recording_of(make(held_out(kind), 0)), QUICK))
    joint = narxbench.identify(coupled(), test="25%", **JOINT)
    for identification in (joint, *joint.identifications.values()):
        findings += [*identification.summary, *identification.notes]
    for name, before, after in OF_DATA.values():
        findings += [check_of(before, name), check_of(after, name)]
    check_sentences(findings)
