"""The benchmark of verdicts counts what is wrong, and its records are what their kinds say."""

import math

import numpy as np
import pytest
from benchmarks import verdict_records, verdicts
from tests.lookups import roles_of


def judged(verdict, worth, *, quoted=0.1, kept=0.1, number=0, structure="true", bounded=True, kind="short, held out"):
    return verdicts.Judged(kind, number, structure, verdict, quoted, worth, kept, bounded)


MODELS = [judged("bad", 0.05), judged("fine", 0.1), judged("fine", 0.7, kept=0.3), judged("look", math.inf)]


def test_wrong_verdicts_are_counted():
    counts = verdicts.counted(MODELS)
    assert (counts.good, counts.good_called_bad) == (2, 1)
    assert (counts.bad, counts.bad_called_fine) == (2, 1)
    assert (counts.fine, counts.broken) == (2, 1)


def test_a_better_model_with_a_worse_verdict_is_a_wrong_pair():
    wrong, count = verdicts.worse_verdicts(MODELS)
    # The first is better than all others; of two useless ones none is.
    worths = [(better.worth, worse.worth) for better, worse in wrong]
    assert count == 6 and worths == [(0.05, 0.1), (0.05, 0.7), (0.05, math.inf)]
    assert verdicts.worse_verdicts([judged("bad", 1.2), judged("look", 3.0)])[1] == 0
    assert verdicts.worse_verdicts([judged("bad", 0.1), judged("look", 0.3, number=1)])[1] == 0
    # One that explodes once inputs are held is not better.
    assert verdicts.worse_verdicts([judged("look", 0.1, bounded=False), judged("fine", 0.3)])[1] == 0


def test_a_page_tells_the_numbers_of_held_out_records():
    page = verdicts.report([*MODELS, judged("look", 0.3, kind="short")])
    assert "1 of 2 (50.0 %)" in page and "| short | 2 | 1 | 1 | 1 of 2 | 1 of 2 |" in page


@pytest.mark.parametrize("is_held_out", [False, True])
@pytest.mark.parametrize("kind", verdict_records.KINDS)
def test_records_are_finite_and_have_a_part_that_is_kept_back(kind, is_held_out):
    make, name = verdict_records.KINDS[kind][1], verdict_records.held_out(kind) if is_held_out else kind
    record = make(name, 1)
    assert verdict_records.is_held_out(record.kind) == is_held_out
    assert np.isfinite(record.y).all() and np.isfinite(record.truth).all()
    assert 0 < record.known < record.shown < len(record.y) == len(record.truth) == len(record.u)
    recording = verdicts.recording_of(record)
    assert roles_of(recording.records) == [None, "test"]
    assert len(recording.records[1].y) == record.shown - record.known
