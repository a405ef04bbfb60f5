"""Steps of a search: their reports, and the result after Ctrl-C."""

import time
from threading import Event
from unittest.mock import patch

import pytest
from tests.lookups import values_of

import narxbench
from narxbench._identification.data.reading import read_recording
from narxbench._identification.identify import identify_recording
from narxbench._identification.search import plan as planning
from narxbench._identification.search import steps as search_steps
from narxbench._identification.search.plan import hurried, plan_search
from narxbench._identification.search.steps import BRIEF, COMPETITION, DESCENTS, FORWARD, Steps
from narxbench._identification.settings import IdentificationSettings
from narxbench._io.errors import NarxbenchError

SETTINGS = IdentificationSettings(degree=[1, 2], y_lags=[1], u_lags=[1], effort=0.05)


@pytest.fixture(scope="module")
def recording():
    u, y = narxbench.load_system("S1").simulate(200, snr_db=30)
    return read_recording(input=u, output=y)


def test_progress_names_each_step_and_the_best_so_far(recording):
    reports = []
    identification = identify_recording(recording, SETTINGS, report_progress=reports.append)
    steps = values_of(reports, "step")
    assert steps[0] == BRIEF and {FORWARD, DESCENTS} < {*steps} and steps[-1] == COMPETITION
    shares = values_of(reports, "share")
    assert shares == sorted(shares) and shares[-1] == 1.0
    assert (reports[0].done, reports[0].rrse) == (0, None)
    for report in reports[1:]:
        assert report.rrse is not None and report.done <= report.planned and report.terms
    # Reports change nothing.
    assert identify_recording(recording, SETTINGS).model == identification.model


@pytest.mark.parametrize("step", [BRIEF, DESCENTS, COMPETITION])
def test_an_interrupt_keeps_the_best_so_far(recording, step):
    def interrupt(progress):
        if progress.step == step and progress.done:
            raise KeyboardInterrupt

    identification = identify_recording(recording, SETTINGS, report_progress=interrupt)
    assert (identification.notes[0].name, identification.notes[0].values) == ("interrupted", {"step": step})
    assert identification.model.terms


@pytest.mark.parametrize("mistake", [KeyboardInterrupt, ValueError])
def test_an_interrupt_before_anything_is_found_and_a_mistake_in_a_job_are_raised(mistake):
    def fails(_):
        raise mistake

    with pytest.raises(mistake):
        Steps().run(BRIEF, fails, [(1,), (1,)])


def test_jobs_run_in_the_threads_that_can_be_started(monkeypatch):
    start, allowed = search_steps.Thread.start, iter([True])

    def start_if_allowed(thread):
        if not next(allowed, False):
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(search_steps.Thread, "start", start_if_allowed)
    monkeypatch.setattr(search_steps, "THREADS", 4)
    assert Steps().run(BRIEF, lambda number: number**2, [*zip(range(6))]) == [0, 1, 4, 9, 16, 25]
    with pytest.raises(NarxbenchError, match="no thread can be started; needed: more memory, or a higher ulimit -u"):
        Steps().run(BRIEF, abs, [(1,)])


def test_an_interrupt_does_not_wait_for_jobs_that_run():
    ends, reported = Event(), []

    def job(number):
        if number > 1:
            ends.wait(60.0)
        return number

    def interrupt(progress):
        reported.append(progress.done)
        if progress.done:
            time.sleep(0.2)
            raise KeyboardInterrupt

    steps, began = Steps(interrupt), time.monotonic()
    assert steps.run(FORWARD, job, [(0,), (1,), (2,), (3,), (4,)], 2) == [0, 1] and reported == [0, 1]
    assert time.monotonic() - began < 30.0 and steps.interrupted == FORWARD
    ends.set()
    assert steps.run(DESCENTS, job, [(0,)]) == []


def test_what_is_hurried_is_estimated_on_the_stretches_that_were_searched(recording):
    with patch.object(planning, "MOST_STEPS", 100):
        plan = plan_search(recording, SETTINGS)
        assert sum(map(len, plan.searched.known)) <= 100 < sum(map(len, plan.estimated.known))
        assert sum(map(len, hurried(plan).estimated.known)) <= 100
        identification = identify_recording(recording, SETTINGS)
    assert identification.recording is recording and identification.model.terms
    validation = identification.validation
    assert max(validation[validation["role"] == "estimation"]["samples"]) > 150
