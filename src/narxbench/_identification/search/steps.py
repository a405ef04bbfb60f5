"""Steps of a search side by side: how far they are, and an end to them with Ctrl-C that keeps the best so far."""

import math
import os
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, NamedTuple, TypeVar, cast

from narxbench._identification.finding import Finding
from narxbench._identification.search.candidate import Candidate
from narxbench._identification.search.effort import RATES, SHARES
from narxbench._io.errors import NarxbenchError
from narxbench._io.interruptions import interruptible

T = TypeVar("T")

# The steps in their order.
BRIEF, VARIANTS, FORWARD = "brief searches", "other lags and levels", "forward regression"
NOISE, DESCENTS, WEIGHTS = "searches under noise models", "descents", "weights under noise models"
COMPETITION = "simple models"
ATTEMPTS = "tries of other settings"
# The work between the steps.
CHOICE, CONCLUSION = "choice of the structure", "conclusion"
_ORDER = (BRIEF, VARIANTS, FORWARD, NOISE, DESCENTS, WEIGHTS, COMPETITION)
# The planned time of each step. The others are short.
_PLANNED = {
    BRIEF: SHARES["brief"],
    NOISE: SHARES["likelihood"],
    DESCENTS: SHARES["descents"],
    WEIGHTS: SHARES["weights"],
}
# Threads that search side by side. Their number changes no result, and more than there are cores would only take
# memory.
THREADS = min(4, os.cpu_count() or 1)
# Up to this many samples the steps of a free run take less time than its call. Threads that try one structure after the
# other then wait for the interpreter's lock: with 1,000 and 2,000 samples two threads on two cores took a fifth to a
# half longer than one, and with 10,000 samples they were faster.
_SHORT = RATES["evaluation"] / RATES["step"]


def threads_of_short_calls(samples: int) -> int:
    """Return how many threads look at one structure after the other side by side in data of this many samples."""
    return THREADS if samples > _SHORT else 1


def interruption(step: str) -> Finding:
    """Return that a search was stopped during a step."""
    text = f"during the {step}: this is the best model so far; another run may find another one."
    if step == CONCLUSION:
        text = "after all searches of this model: it is complete except for the probabilities of its terms."
    return Finding("interrupted", "look", {"step": step}, f"Stopped by Ctrl-C or SIGTERM {text}")


class SearchProgress(NamedTuple):
    """How far a search is: the jobs of a step, the best structure so far, and the share of the planned time."""

    step: str
    done: int
    planned: int
    rrse: float | None  # on parts that the weights do not know, or None before there is a structure
    terms: int
    share: float


# The result of a job, at its place among all jobs, or the error that it raised.
_Outcome = tuple[int, T | None, BaseException | None]


def _start_threads(threads: int, work: Callable[[], None]) -> None:
    """Do some work in this many threads, or fewer where no more can be started, which gives the same results."""
    for number in range(threads):
        try:
            Thread(target=work, daemon=True).start()
        except RuntimeError:
            if number == 0:
                raise NarxbenchError(
                    "search: no thread can be started; needed: more memory, or a higher ulimit -u"
                ) from None
            return


def _work(
    function: Callable[..., T], waiting: deque[tuple[int, tuple[Any, ...]]], outcomes: SimpleQueue[_Outcome[T]]
) -> None:
    """Do waiting jobs, one after the other, until there is none."""
    while True:
        try:
            place, job = waiting.popleft()
        except IndexError:
            return
        try:
            outcomes.put((place, function(*job), None))
        except BaseException as error:
            outcomes.put((place, None, error))


def _late_results(outcomes: SimpleQueue[_Outcome[T]]) -> dict[int, T]:
    """Return the results that were not taken yet, by their place."""
    results: dict[int, T] = {}
    while True:
        try:
            place, result, error = outcomes.get_nowait()
        except Empty:
            return results
        if error is None:
            results[place] = cast(T, result)


class Steps:
    """Runs jobs in threads, and reports the progress whenever one is done.

    ``interrupted`` is the step that Ctrl-C ended, or "". The remaining jobs are then skipped, and all later ones.

    Parameters
    ----------
    report_progress : callable, optional
        Called with the progress.
    """

    def __init__(self, report_progress: Callable[[SearchProgress], None] | None = None) -> None:
        self.interrupted = ""
        self._report_progress = report_progress
        self._best_rank = float("inf")
        self._best_rrse: float | None = None
        self._best_size = 0

    def run(
        self, step: str, function: Callable[..., T], jobs: Iterable[tuple[Any, ...]], threads: int | None = None
    ) -> list[T]:
        """Return what a function returns for each job, in their order, without the jobs that are left out.

        They are done in this many ``threads``, by default :data:`THREADS`.
        """
        if self.interrupted:
            return []
        waiting = deque(enumerate(jobs))
        planned = len(waiting)
        outcomes = SimpleQueue[_Outcome[T]]()
        results: dict[int, T] = {}
        error: BaseException | None = None
        # A job cannot be stopped. If the step ends early, running jobs are abandoned and their threads end with the
        # process.
        _start_threads(min(threads or THREADS, planned), partial(_work, function, waiting, outcomes))
        try:
            if planned:
                self._report(step, 0, planned)
            while error is None and len(results) < planned:
                place, result, error = outcomes.get()
                if error is None:
                    results[place] = cast(T, result)
                    self._note_best(result)
                    self._report(step, len(results), planned)
        except KeyboardInterrupt:
            self.interrupted = step
        waiting.clear()
        results |= _late_results(outcomes)
        if error is not None:
            raise error
        return [results[place] for place in sorted(results)]

    def keep(self, step: str, function: Callable[[], T]) -> T:
        """Call a function between the steps. After Ctrl-C call it again, without its remaining steps.

        So earlier results are not lost. A second Ctrl-C raises KeyboardInterrupt.
        """
        try:
            with interruptible():
                return function()
        except KeyboardInterrupt:
            if self.interrupted:
                raise
            self.interrupted = step
            return function()

    def _note_best(self, result: Any) -> None:
        """Keep the score of a job's structure if it is the best so far."""
        if isinstance(result, Candidate) and result.rank < self._best_rank:
            self._best_rank, self._best_rrse, self._best_size = result.rank, result.rrse, len(result.terms)

    def _report(self, step: str, done: int, planned: int) -> None:
        if self._report_progress is None:
            return
        seconds = [_PLANNED.get(earlier, 0.0) for earlier in _ORDER[: _ORDER.index(step)]]
        over = math.fsum([*seconds, _PLANNED.get(step, 0.0) * done / planned])
        share = over / math.fsum(_PLANNED.values())
        self._report_progress(SearchProgress(step, done, planned, self._best_rrse, self._best_size, share))
