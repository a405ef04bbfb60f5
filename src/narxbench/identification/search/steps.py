"""Steps of a search side by side: what is known so far, and an end to them with Ctrl-C that keeps it."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, NamedTuple, TypeVar

from narxbench.identification.search.structures import Search, Structure

T = TypeVar("T")

# The steps in their order, and which share of the planned time is over when each ends.
BRIEF, THOROUGH, FORWARD = "brief searches", "thorough searches", "forward regression"
NOISE, DESCENTS, WEIGHTS = "searches under noise models", "descents", "weights under noise models"
RESAMPLES = "searches of resampled data"
_OVER = {BRIEF: 0.3, THOROUGH: 0.5, FORWARD: 0.52, NOISE: 0.57, DESCENTS: 0.72, WEIGHTS: 0.77, RESAMPLES: 1.0}
# Threads that search side by side. Their number changes no result.
THREADS = 4


class Progress(NamedTuple):
    """How far a search is: the jobs of a step, the best structure so far, and the share of the planned time."""

    step: str
    done: int
    planned: int
    rrse: float | None  # on parts that the weights do not know; None: no structure is known
    terms: int
    share: float


class Steps:
    """Runs jobs in threads, and tells ``progress`` whenever one is done.

    ``interrupted`` is the step that Ctrl-C ended, or empty. What was not begun then, and all later jobs, are left out.
    """

    def __init__(self, progress: Callable[[Progress], None] | None = None, last_step: str = RESAMPLES) -> None:
        self.interrupted = ""
        self._progress, self._planned_share = progress, _OVER[last_step]
        self._best: tuple[float, float | None, int] = (float("inf"), None, 0)

    def run(self, step: str, function: Callable[..., T], jobs: Iterable[tuple[Any, ...]]) -> list[T]:
        """Return what a function makes of each job, in their order; of those that are left out there is nothing."""
        if self.interrupted:
            return []
        with ThreadPoolExecutor(THREADS) as threads:
            futures = [threads.submit(function, *job) for job in jobs]
            try:
                for done, future in enumerate(as_completed(futures), 1):
                    self._tell(step, done, len(futures), future.result())
            except KeyboardInterrupt:
                self.interrupted = step
                threads.shutdown(cancel_futures=True)
            except BaseException:
                threads.shutdown(wait=False, cancel_futures=True)
                raise
        return [future.result() for future in futures if not future.cancelled()]

    def _tell(self, step: str, done: int, planned: int, result: Any) -> None:
        score = result.found.score if isinstance(result, Search) and result.found else None
        terms = result.found.terms if score else ()
        if isinstance(result, Structure):
            score, terms = result, result.terms
        if score is not None and score.rank < self._best[0]:
            self._best = score.rank, score.rrse, len(terms)
        if self._progress is not None:
            begun = max((share for share in _OVER.values() if share < _OVER[step]), default=0.0)
            share = begun + (_OVER[step] - begun) * done / planned
            self._progress(Progress(step, done, planned, *self._best[1:], share / self._planned_share))
