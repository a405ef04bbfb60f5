"""From records to a model: configurations, proposals, scores on unseen parts, the choice, and how far to trust it."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from threadpoolctl import threadpool_limits

from narxbench._fitness.problem import check_compiler
from narxbench._identification.conclusion import concluded
from narxbench._identification.data.stand_ins import cut_at_gaps, filled_by, has_gaps
from narxbench._identification.result import Identification
from narxbench._identification.search.attempts import attempts
from narxbench._identification.search.choice import Choice, choose
from narxbench._identification.search.effort import SHARES
from narxbench._identification.search.plan import SearchPlan, hurried, make_room, plan_search
from narxbench._identification.search.proposals import brief_searches, thorough_searches
from narxbench._identification.search.steps import ATTEMPTS, CHOICE, CONCLUSION, SearchProgress, Steps, interruption
from narxbench._identification.settings import IdentificationSettings
from narxbench._identification.validation.answers import with_attempts
from narxbench._io.interruptions import interruptible
from narxbench._model.narx import DivergedError
from narxbench._model.records import Recording


def was_interrupted(identification: Identification) -> bool:
    """Return whether Ctrl-C ended the search of an identification."""
    return any(note.name == "interrupted" for note in identification.notes)


def identify_recording(
    recording: Recording,
    settings: IdentificationSettings,
    check_cost: Callable[[SearchPlan], None] | None = None,
    report_progress: Callable[[SearchProgress], None] | None = None,
) -> Identification:
    """Identify a model from a recording, as :func:`conclude_search` does.

    Where outputs are missing in gaps, a model is identified from the stretches between them first, with a part of the
    effort. What it predicts in the gaps replaces the missing outputs.
    """
    if not has_gaps(recording):
        return conclude_search(recording, settings, check_cost, report_progress)[0]
    check_compiler()
    cut = cut_at_gaps(recording)
    if check_cost is not None:
        check_cost(plan_search(recording, settings))
    brief_settings = settings.model_copy(update={"effort": SHARES["bridging"] * settings.effort})
    bridging, *_ = conclude_search(cut, brief_settings)
    if was_interrupted(bridging):
        stopped = "The search was stopped before gaps of the output were bridged: the data were cut there."
        return replace(bridging, recording=_with_note(cut, stopped))
    try:
        recording = filled_by(bridging.model, recording)
    except DivergedError:
        recording = _with_note(cut, "The model diverges where outputs are missing: the data were cut there.")
    return conclude_search(recording, settings, report_progress=report_progress)[0]


def _with_note(recording: Recording, note: str) -> Recording:
    return replace(recording, notes=(*recording.notes, note))


def conclude_search(
    recording: Recording,
    settings: IdentificationSettings,
    check_cost: Callable[[SearchPlan], None] | None = None,
    report_progress: Callable[[SearchProgress], None] | None = None,
) -> tuple[Identification, SearchPlan, Choice]:
    """Identify a model from a recording without gaps, and return the search. All steps run in this process.

    ``check_cost`` is called before the first search, and raises NarxbenchError if the plan is too expensive.
    ``report_progress`` is called whenever a job is done. Ctrl-C skips the remaining jobs and keeps the best model so
    far. So that the user does not wait, its weights then come from the stretches of long records that were searched.
    KeyboardInterrupt is raised before there is a model, and by a second Ctrl-C.
    """
    check_compiler()
    # Threads of a BLAS would wait for the threads of the search, and sum in an order that depends on their number.
    with threadpool_limits(1, "blas"):
        plan = plan_search(recording, settings)
        if check_cost is not None:
            check_cost(plan)
        steps = Steps(report_progress)
        choice = search(plan, steps)
        make_room(plan)
        identification = steps.keep(CONCLUSION, partial(_concluded, plan, choice, steps))
        if not steps.interrupted:
            try:
                with interruptible():
                    identification = _with_attempts(identification, recording, settings, choice.selected.rrse)
            except KeyboardInterrupt:
                steps.interrupted = ATTEMPTS
    if steps.interrupted:
        identification = replace(identification, notes=[interruption(steps.interrupted), *identification.notes])
    return identification, plan, choice


def search_recording(
    recording: Recording,
    settings: IdentificationSettings,
    report_progress: Callable[[SearchProgress], None] | None = None,
) -> tuple[SearchPlan, Choice]:
    """Return the search on a recording and the structures that it chose among, without a conclusion.

    Ctrl-C raises KeyboardInterrupt.
    """
    steps = Steps(report_progress)
    with threadpool_limits(1, "blas"):
        plan = plan_search(recording, settings)
        choice = search(plan, steps)
    if steps.interrupted:
        raise KeyboardInterrupt
    return plan, choice


def search(plan: SearchPlan, steps: Steps) -> Choice:
    """Return the choice of a structure after all searches, or raise KeyboardInterrupt if there is none yet."""
    briefs = brief_searches(plan, steps)
    proposals = steps.keep(CHOICE, partial(thorough_searches, plan, briefs, steps))
    return steps.keep(CHOICE, partial(choose, plan, proposals, steps))


def _concluded(plan: SearchPlan, choice: Choice, steps: Steps) -> Identification:
    """Return the conclusion, without its slow parts after an interruption."""
    if steps.interrupted:
        return concluded(hurried(plan), choice, is_hurried=True)
    return concluded(plan, choice)


def _with_attempts(
    identification: Identification, recording: Recording, settings: IdentificationSettings, error: float | None
) -> Identification:
    """Return an identification with what other settings gain, where one should not predict with the model as it is."""
    findings = {finding.name: finding for finding in identification.summary}
    to_predict = findings["to_predict"]
    # If the error is already small, the verdict has other reasons, and other settings would not help.
    is_settled = to_predict.status == "fine" or findings["errors"].values["small"]
    if is_settled or to_predict.values["noise"] or error is None:
        return identification
    tried = attempts(recording, settings, identification.tried, error, _selection_error)
    findings["to_predict"] = with_attempts(to_predict, tried)
    return replace(identification, summary=list(findings.values()))


def _selection_error(recording: Recording, settings: IdentificationSettings) -> float | None:
    """Return the selection error of the model that settings lead to."""
    steps = Steps()
    choice = search(plan_search(recording, settings), steps)
    if steps.interrupted:
        raise KeyboardInterrupt
    return choice.selected.rrse
