"""How long a run of Snakemake still takes."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from statistics import fmean

# The first steps import and compile, and say nothing about the others.
_SHARE_WITHOUT_ESTIMATE = 0.05
# Seconds of a step that is alone of its rule, until it is done: the mean of those that follow the searches of the
# paper's study.
_SECONDS_OF_SINGLE_STEP = 2.5


class Pace:
    """The steps of a run by rule: how many there are, and how long each that is done took.

    A step takes the time since the step before it was done. Of steps that run side by side, these times add up to the
    elapsed time.
    """

    def __init__(self, begin: float) -> None:
        self._planned: Counter[str] = Counter()
        self._seconds: dict[str, list[float]] = defaultdict(list)
        self._last_end = begin

    def plan(self, steps: Mapping[str, int]) -> None:
        """Take the number of steps of each rule."""
        self._planned = Counter({rule: number for rule, number in steps.items() if rule != "total"})

    def finish(self, rule: str, end: float) -> None:
        """Take the end of a step, in seconds."""
        self._seconds[rule].append(end - self._last_end)
        self._last_end = end

    def seconds_to_go(self) -> float | None:
        """Return an estimate of the time that the other steps take, or None before one can be given."""
        n_done, n_planned = sum(map(len, self._seconds.values())), self._planned.total()
        most_frequent = max(self._planned, key=self._planned.__getitem__, default="")
        if n_done < _SHARE_WITHOUT_ESTIMATE * n_planned or not self._seconds[most_frequent]:
            return None
        seconds_to_go = 0.0
        for rule, number in self._planned.items():
            seconds_to_go += (number - len(self._seconds[rule])) * self._seconds_of_step(rule, most_frequent)
        return seconds_to_go

    def _seconds_of_step(self, rule: str, most_frequent: str) -> float:
        """Return how long a step of a rule takes, by the later half of those that are done."""
        if not self._seconds[rule] and self._planned[rule] == 1:
            return _SECONDS_OF_SINGLE_STEP
        seconds = self._seconds[rule] or self._seconds[most_frequent]
        return fmean(seconds[len(seconds) // 2 :])
