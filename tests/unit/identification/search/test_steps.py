"""Steps of a search: what is reported, and what Ctrl-C leaves."""

import pytest

import narxbench
from narxbench._identification.data.reading import read_recording
from narxbench._identification.identify import identify_recording, identify_repeatedly
from narxbench._identification.search.steps import BRIEF, DESCENTS, RESAMPLES, THOROUGH, Steps
from narxbench._identification.settings import IdentificationSettings
from narxbench._io.errors import FieldError

SETTINGS = IdentificationSettings(degree=[1, 2], y_lags=[1], u_lags=[1], seeds=1, effort=0.05, resamples=3, blocks=3)


@pytest.fixture(scope="module")
def recording():
    u, y = narxbench.load_system("S1").simulate(200, snr_db=30)
    return read_recording(input=u, output=y)


def test_progress_names_each_step_and_what_is_known(recording):
    seen = []
    found = identify_recording(recording, SETTINGS, report_progress=seen.append)
    steps = list(dict.fromkeys(each.step for each in seen))
    assert steps[0] == BRIEF and {THOROUGH, DESCENTS} < {*steps} and steps[-1] == RESAMPLES
    assert [each.share for each in seen] == sorted(each.share for each in seen) and seen[-1].share == 1.0
    assert all(each.rrse is not None and each.done <= each.planned and each.terms for each in seen)
    # Who looks on changes nothing.
    assert identify_recording(recording, SETTINGS).model == found.model


@pytest.mark.parametrize("step", [BRIEF, THOROUGH, DESCENTS, RESAMPLES])
def test_an_interrupt_keeps_the_best_so_far(recording, step):
    def interrupt(progress):
        if progress.step == step:
            raise KeyboardInterrupt

    found = identify_recording(recording, SETTINGS, report_progress=interrupt)
    assert (found.notes[0].name, found.notes[0].values) == ("interrupted", {"step": step})
    assert found.model.terms and found.settings["resamples"] <= 3


@pytest.mark.parametrize("mistake", [KeyboardInterrupt, ValueError])
def test_an_interrupt_before_anything_is_found_and_a_mistake_in_a_job_are_raised(mistake):
    def fails(_):
        raise mistake

    with pytest.raises(mistake):
        Steps().run(BRIEF, fails, [(1,), (1,)])


def test_repeats_report_the_spread(recording):
    alone, found = (identify_repeatedly(recording, SETTINGS, times) for times in (1, 3))
    assert found.model == alone.model and found.notes[1:] == alone.notes
    values = found.notes[0].values
    assert (found.notes[0].name, values["times"], values["without"]) == ("repeats", 3, 0)
    own = next(finding for finding in found.summary if finding.name == "prediction").values["rrse"]
    assert values["least"] <= own <= values["most"] and 1 <= values["alike"] <= 3


@pytest.mark.parametrize("times", [0, 1.5, "x", 1001])
def test_other_numbers_of_repeats_are_refused(recording, times):
    with pytest.raises(FieldError) as refused:
        identify_repeatedly(recording, SETTINGS, times)
    assert refused.value.field == "repeat"
