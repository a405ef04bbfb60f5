"""The plan of a search: the configurations that the data call for, as many as the planned time allows."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from narxbench._identification.data.arrangement import N_PARTS
from narxbench._identification.data.checks import dead_times
from narxbench._identification.data.evidence import InputEvidence, input_evidence, largest_degree_shown
from narxbench._identification.data.responses import Response, responses
from narxbench._identification.data.sampling import Sampling, advised_decimations
from narxbench._identification.data.scaling import LARGEST, SMALLEST, Scaling, scaling
from narxbench._identification.data.seasons import check_horizon, seasons, seasons_beside_inputs, steps_judged
from narxbench._identification.search.configurations import Configuration, configurations, strides
from narxbench._identification.search.effort import Effort
from narxbench._identification.search.problem import MOST_ROWS, MOST_STEPS, ConfigurationProblem
from narxbench._identification.settings import IdentificationSettings
from narxbench._io.errors import NarxbenchError, printable
from narxbench._io.resources import Use
from narxbench._model.records import Record, Recording
from narxbench._numerics.memory import give_back

Floats = NDArray[np.float64]

# Configurations that are searched thoroughly, and structures that get weights under all noise models. ``bars_today`` in
# ``benchmarks/`` has the errors that this leads to. Half as many get a costly step with any effort: variants with other
# first lags and with centred signals, a search by likelihood, and weights of full linear structures under noise models.
FINALISTS = 6
LEADERS = FINALISTS // 2
# Problems that are kept for further searches.
KEPT_PROBLEMS = FINALISTS + 2


@dataclass(frozen=True)
class SearchPlan:
    """The plan of a search on one recording, whose test records are not used.

    Attributes
    ----------
    recording : Recording
        All data.
    searched : Recording
        The records before the test, or of long ones the stretches that are searched.
    settings : IdentificationSettings
        The settings.
    sampling, responses, evidence, seasons
        What the data show of the sampling, the responses to the inputs, how far these vary, and seasons.
    configurations : tuple of Configuration
        The configurations to try, the cheapest first. ``left_out`` is how many there is no time for.
    effort : Effort
        The planned time, and what operations on these data take of it.
    n_selected : int
        Samples of the selection: one number for all configurations, whatever they need for lags.
    estimated : Recording
        What the weights of the model are estimated on in the end.
    problem : callable
        Returns the problem of a configuration, of which the last ones are kept.
    """

    recording: Recording
    searched: Recording
    settings: IdentificationSettings
    sampling: Sampling
    responses: dict[str, list[Response]]
    evidence: dict[str, InputEvidence]
    seasons: tuple[int, ...]
    configurations: tuple[Configuration, ...]
    left_out: int
    effort: Effort
    n_selected: int
    estimated: Recording
    problem: Callable[[Configuration], ConfigurationProblem]

    @property
    def n_samples(self) -> int:
        """The samples that are searched."""
        return self.effort.n_samples

    @property
    def n_finalists(self) -> int:
        """How many configurations are searched thoroughly."""
        return min(FINALISTS, len(self.configurations))

    @property
    def horizon(self) -> int | None:
        """The samples ahead that matter to the user, or None if they did not say."""
        return self.settings.horizon if isinstance(self.settings.horizon, int) else None

    @property
    def seasons_of_output(self) -> tuple[int, ...]:
        """The seasons of the output, whose naive forecasts compete. With inputs only if the user gave a horizon."""
        if self.recording.inputs and self.horizon is not None:
            return seasons_beside_inputs(self.searched)
        return self.seasons

    def steps_ahead(self, decimation: int) -> int:
        """Return the steps ahead that models of a decimation are judged at besides one."""
        if self.horizon is not None:
            return math.ceil(self.horizon / decimation)
        return steps_judged(self.recording, decimation, self.seasons)

    @cached_property
    def data_digest(self) -> str:
        """The digest of all data, including the test."""
        return self.recording.digest

    @cached_property
    def scalings(self) -> dict[bool, Scaling | None]:
        """Return the scaling of the signals by whether they are centred."""
        return {is_centred: scaling(self.estimated, is_centred) for is_centred in (False, True)}


def plan_search(recording: Recording, settings: IdentificationSettings) -> SearchPlan:
    """Plan a search: look at the data, and list the configurations that the effort allows, the cheap ones first."""
    _check_signals(recording)
    if isinstance(settings.horizon, int):
        check_horizon(recording, settings.horizon)
    sampling = advised_decimations(recording)
    searched = chosen_stretches(recording, MOST_STEPS * sampling.advised, N_PARTS)
    input_responses, evidence, seasons_of_output = responses(searched), input_evidence(searched), seasons(searched)
    by_role = {role: sum(map(len, searched.of_role(role))) for role in ("selection", None)}
    n_samples = sum(map(len, searched.known))
    # Parts that take turns in selection, at most: short data have fewer at a large decimation.
    effort = Effort(settings.effort, n_samples, 0 if by_role["selection"] else N_PARTS)
    tried = configurations(
        searched,
        settings,
        strides(sampling.advised, sampling.first_minimum, n_samples),
        _delays(searched, input_responses),
        largest_degree_shown(list(evidence.values())),
        seasons_of_output,
    )
    tried.sort(key=effort.of_brief_search)
    n_planned = effort.n_searched(tried)
    # Threads that need the same configuration at once may both make it, with the same result.
    problem = partial(ConfigurationProblem, searched, settings=settings, density=sampling.advised)
    return SearchPlan(
        recording=recording,
        searched=searched,
        settings=settings,
        sampling=sampling,
        responses=input_responses,
        evidence=evidence,
        seasons=seasons_of_output,
        configurations=tuple(tried[:n_planned]),
        left_out=len(tried) - n_planned,
        effort=effort,
        n_selected=by_role["selection"] or by_role[None] or n_samples,
        estimated=recording,
        problem=lru_cache(maxsize=KEPT_PROBLEMS)(problem),
    )


def make_room(plan: SearchPlan) -> None:
    """Free the memory of the searches of a long record, before all of its samples are needed at once."""
    if plan.searched is not plan.recording:
        plan.problem.cache_clear()  # type: ignore[attr-defined]
        give_back()


def hurried(plan: SearchPlan) -> SearchPlan:
    """Return a plan to estimate the model on the stretches that were searched, as the user does not wait for more."""
    if plan.searched is plan.recording:
        return plan
    tests = tuple(plan.recording.of_role("test"))
    return replace(plan, estimated=replace(plan.searched, records=(*plan.searched.records, *tests)))


def memory_uses(plan: SearchPlan) -> list[Use]:
    """Return the memory that a search of the largest configuration takes."""
    by_size = sorted(plan.configurations, key=lambda configuration: configuration.size)
    largest = by_size[-1]
    # Inner products of each part, and of all data, in as many configurations as are kept.
    products = sum(16 * configuration.size**2 for configuration in by_size[-KEPT_PROBLEMS:])
    step, rows = (
        f"a search of {largest.size} candidate terms",
        32 * min(plan.n_samples, MOST_ROWS) * largest.size,
    )
    taken = (2 + plan.effort.n_parts) * products + rows
    return [Use(step, "degree with the lags: candidate terms", largest.size, taken)]


def _delays(recording: Recording, input_responses: dict[str, list[Response]]) -> list[int]:
    """Return the samples before each input acts, and 1 if no effect is seen."""
    checked = dead_times(recording, input_responses)
    delays = []
    for name in recording.inputs:
        delay = checked.get(name, {}).get("delay")
        delays.append(1 if delay is None else delay)
    return delays


def _check_signals(recording: Recording) -> None:
    sizes: dict[str, float] = {}
    for record in recording.records:
        for name, signal in zip((recording.output, *recording.inputs), (record.y, *record.u.T), strict=True):
            size = float(np.abs(signal).max()) if len(signal) else 0.0
            sizes[name] = max(sizes.get(name, 0.0), size)
            if not size <= LARGEST:
                largest = f"found {size:.3g} in {record.name}"
                raise NarxbenchError(f"{name}: {largest}; allowed: up to {LARGEST:g} in size, so scale the signal")
    for name, size in sizes.items():
        if 0.0 < size < SMALLEST:
            largest = f"found no value larger than {size:.3g}"
            raise NarxbenchError(f"{name}: {largest}; allowed: {SMALLEST:g} or more in size, so scale the signal")
    outputs = np.concatenate([record.y for record in recording.known])
    if np.ptp(outputs) == 0.0:
        names = printable(", ".join(record.name for record in recording.known))
        constant = f"found {outputs[0]:g} in all {len(outputs)} samples of {names}"
        raise NarxbenchError(f"{recording.output}: {constant}; allowed: an output that varies")


def chosen_stretches(recording: Recording, most_samples: int, n_stretches: int) -> Recording:
    """Return the records before the test, or where they are too long the stretches in which the signals vary most.

    Parameters
    ----------
    recording : Recording
        The data.
    most_samples : int
        The samples that all stretches have together.
    n_stretches : int
        About this many sections, each of which gives a stretch, so that these come from all times.
    """
    records = recording.known
    samples = sum(map(len, records))
    if samples <= most_samples:
        return recording
    stretches = []
    for record in records:
        share = len(record) / samples
        n_sections = max(1, round(n_stretches * share))
        stretches += _stretches(record, n_sections, int(most_samples * share) // n_sections)
    return replace(recording, records=tuple(stretches))


def _stretches(record: Record, n_sections: int, length: int) -> list[Record]:
    """Return the liveliest stretch of each section of a record."""
    bounds = np.linspace(0, len(record), n_sections + 1).astype(int).tolist()
    sums = _sums(record)
    stretches = []
    for begin, end in pairwise(bounds):
        starts = np.arange(begin, max(begin + 1, end - length + 1))
        first, last = sums[:, starts], sums[:, np.minimum(starts + length, end)]
        n_signals = len(sums) // 2
        means, squares = ((last - first) / length).reshape(2, n_signals, -1)
        variances = (squares - means**2).sum(axis=0)
        start = int(starts[int(np.argmax(np.round(variances, 6)))])
        stretches.append(record.part(start, min(start + length, end)))
    return stretches


def _sums(record: Record) -> Floats:
    """Return the running sums of the signals, about their means and by their deviations, and of their squares."""
    signals = np.column_stack([record.y, record.u])
    deviations = signals.std(axis=0)
    standard = (signals - signals.mean(axis=0)) / np.where(deviations > 0.0, deviations, 1.0)
    sums = np.zeros((2 * signals.shape[1], len(record) + 1))
    np.cumsum(standard.T, axis=1, out=sums[: signals.shape[1], 1:])
    np.cumsum(standard.T**2, axis=1, out=sums[signals.shape[1] :, 1:])
    return sums
