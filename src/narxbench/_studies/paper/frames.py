"""The frames of the paper's study: their columns, and the frames that follow from the summaries of conditions.

A condition is a problem (system, SNR, data seed, interpretation), a method and a criterion. One JSON file sums up its
runs.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, compress
from statistics import median
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field

from narxbench._io.csv import one_of, wrong
from narxbench._io.errors import NarxbenchError
from narxbench._io.files import StrPath, read_json
from narxbench._io.settings import Line, SettingsError, validated
from narxbench._numerics.intervals import median_interval, selection_frequency
from narxbench._studies.paper.metrics import CONDITION
from narxbench._studies.paper.published import Published
from narxbench._study.condition import MOST, ConditionKey
from narxbench._study.frames import FrameSchemas

Summary = dict[str, Any]

# The columns that identify a condition. Scenarios have other frames.
KEY = ["system", "snr_db", "data_seed", "interpretation", "method", "criterion"]
TENTHS = 10  # points of a condition's curve
VERDICTS = {True: "holds", False: "fails", None: "cannot be judged"}  # on a claim
UNDECIDED = "undecided"  # the verdict on a claim that misses at some places, where chance can explain it

_CONDITION = "*system:text *snr_db:known *data_seed:whole *interpretation:text *method:text *criterion:text"
_SIZE = "algorithm:text runs:whole evaluations:whole n_terms:whole"
_INTERVALS = " ".join(f"{metric.name} {metric.name}_low {metric.name}_high" for metric in CONDITION)
# Frame -> its columns in order, a star before those that identify a row. A column without a kind holds numbers.
_COLUMNS = {
    "conditions": f"{_CONDITION} {_SIZE} nu:wholes spurious:whole nu_max:whole exact_runs:whole cardinality "
    "true_fitness best_fitness median_fitness median_low_fitness median_high_fitness third_fitness curve:numbers "
    "last_improvement",
    "metrics": f"{_CONDITION} {_SIZE} {_INTERVALS} worst_spurious_term:text exact_runs:whole final_is_exact:truth "
    "best_fitness median_fitness true_fitness",
    "selection": f"{_CONDITION} *term:text label:text system_term:truth count:whole runs:whole frequency low high",
    "convergence": f"{_CONDITION} *evaluations:whole mean",
    "agreement_values": "table:text system:text algorithm:text criterion:text snr_db:known metric:text label:text "
    "term:text data_seed interpretation:text method:text published reproduced low high difference p_value deviance "
    "different:truth",
    "agreement": "*table:text system:text algorithm:text compared:whole missing:whole lower:whole higher:whole bias_nu "
    "bias_r bias_nu_max",
    "claims": "*id:text *side:text verdict:verdict rule:text held:whole missed:whole places:whole evidence:text",
    # The findings on interpretations: narxbench._studies.paper.interpretations.findings.
    "nearness": "*role:text *criteria:text seeds:whole *algorithm:text interpretation:text values:whole deviance "
    "deviance_low deviance_high own_deviance own_low own_high bias_nu bias_r bias_nu_max different different_low "
    "different_high held_out p_value orders farthest:text systems:whole",
    "role_verdicts": "*claim:text *role:text verdict:verdict holds:whole undecided:whole fails:whole judged:whole "
    "held:whole places:whole missed:text",
    "values": "*role:text interpretation:text table:text *system:text *algorithm:text *criterion:text *snr_db:known "
    "*metric:text *label:text published reproduced reproduced_low reproduced_high different:truth data_sets:whole "
    "term:text",
}


def _check_selection(path: StrPath, frame: pd.DataFrame) -> None:
    """Refuse a system term without a label, or with the label of another one."""
    system_terms = frame[frame["system_term"]]
    is_wrong = system_terms.duplicated([*KEY, "label"]) | (system_terms["label"] == "")
    for row in system_terms.index[is_wrong].tolist():
        raise wrong(path, row, "label", frame["label"][row], "a label for each system term, each once")


def _check_conditions(path: StrPath, frame: pd.DataFrame) -> None:
    """Refuse counts that no runs can have, for conditions may come from a file that is kept by hand."""
    for row, condition in enumerate(frame.to_dict("records")):
        runs, nu, terms = condition["runs"], condition["nu"], condition["n_terms"]
        spurious, nu_max = condition["spurious"], condition["nu_max"]
        for column, is_possible, allowed in (
            ("runs", runs > 0, "at least 1"),
            ("evaluations", condition["evaluations"] > 0, "at least 1"),
            ("nu", nu and all(0 <= count <= runs for count in nu), f"counts from 0 to {runs}"),
            ("spurious", 0 <= spurious <= terms - len(nu), f"from 0 to n_terms without the {len(nu)} system terms"),
            ("nu_max", 0 <= nu_max <= runs and (nu_max > 0) == (spurious > 0), f"up to {runs}; 0 as spurious is 0"),
            ("exact_runs", 0 <= condition["exact_runs"] <= runs, f"from 0 to {runs}"),
            ("curve", len(condition["curve"]) == TENTHS, f"{TENTHS} values"),
        ):
            if not is_possible:
                raise wrong(path, row, column, condition[column], allowed)


SCHEMAS = FrameSchemas(
    _COLUMNS,
    kinds={"verdict": (one_of(*VERDICTS.values(), UNDECIDED), "str")},
    shared=((KEY, ("metrics", "convergence", "selection")),),
    complete=("claims", "role_verdicts"),
    never_empty=("claims", "nearness", "role_verdicts"),
    checks={"conditions": _check_conditions, "selection": _check_selection},
)


def rows_at(frame: pd.DataFrame, place: Mapping[str, Any]) -> pd.DataFrame:
    """Return the rows of a frame that have the values of a place in its columns."""
    is_there = pd.Series(True, frame.index)
    for column, value in place.items():
        is_there &= frame[column] == value
    return frame[is_there]


def main_methods(frame: pd.DataFrame) -> dict[str, str]:
    """Return the method that represents each algorithm: the method of its name, otherwise the first that runs it."""
    methods: dict[str, str] = {}
    for algorithm, method in frame[["algorithm", "method"]].drop_duplicates().itertuples(index=False):
        if method and (algorithm not in methods or method == algorithm):
            methods[algorithm] = method
    return methods


framed, read_frame, read_frames = SCHEMAS.framed, SCHEMAS.read_frame, SCHEMAS.read_frames


Count = Annotated[int, Field(ge=0, le=MOST)]


# What a summary has of each run.
_OF_RUNS = ("seeds", "true_fitness", "fitness", "spent", "structures", "history_evaluations", "history_fitness")


class _Summary(ConditionKey, extra="ignore"):
    """The part of a summary that the analysis reads."""

    algorithm: Line
    evaluations: int = Field(ge=1, le=MOST)
    versions: dict[str, str]
    algorithm_sha256: str
    data_sha256: str
    seals: dict[str, str]
    realisations: int
    seeds: list[Count]
    data_seed: Count
    candidates: list[Line]
    system_terms: list[str]
    true_coefficients: list[float]
    true_fitness: list[float | None]
    final_structure: list[str]
    final_coefficients: list[float]
    fitness: list[float | None] = Field(min_length=1)
    spent: list[Count]
    structures: list[list[int]]
    history_evaluations: list[list[Count]]
    history_fitness: list[list[float]]
    failures: dict[Annotated[str, Field(pattern="^[0-9]+$")], Line] = Field(default_factory=dict)

    def model_post_init(self, _: Any) -> None:
        """Refuse lists of unequal lengths and terms that are not candidates."""
        lengths = {len(getattr(self, name)) for name in _OF_RUNS}
        steps = list(map(len, self.history_evaluations))
        if len(lengths) > 1 or steps != list(map(len, self.history_fitness)):
            raise ValueError(f"found {len(self.seeds)} seeds and lists of another length")
        for index in chain.from_iterable(self.structures):
            if not 0 <= index < len(self.candidates):
                raise ValueError("found an index of no candidate term")
        if not set(self.system_terms) <= set(self.candidates):
            raise ValueError("found a system term that is no candidate term")
        if len(self.system_terms) != len(self.true_coefficients):
            raise ValueError("found system terms and true coefficients of unequal number")


def load_summaries(paths: Iterable[StrPath]) -> list[Summary]:
    """Read the summaries of conditions, in their order. An error names the file that is damaged, or repeats one.

    They have the runs that did not fail: a failed run does not tell what its method finds. Conditions all of whose
    runs failed are left out, as if they were not complete.
    """
    summaries = _read_summaries(paths)
    successful = list(filter(_has_runs, map(_without_failed, summaries)))
    if summaries and not successful:
        failures = summaries[0]["failures"]
        seed = min(failures, key=int)
        raise NarxbenchError(f"all runs of the study have failed, that of seed {seed} so: {failures[seed]}")
    return successful


def failures_frame(paths: Iterable[StrPath]) -> pd.DataFrame:
    """Return one row for each condition with failed runs: how many of its ``runs`` ``failed``, and the first reason.

    It is not stored: summaries have what it says.
    """
    rows = []
    for summary in _read_summaries(paths):
        failures = summary.get("failures")
        if failures:
            reason = failures[min(failures, key=int)]
            rows.append((*key_of(summary), len(summary["seeds"]), len(failures), reason))
    return pd.DataFrame(rows, columns=[*KEY, "runs", "failed", "reason"])


def _read_summaries(paths: Iterable[StrPath]) -> list[Summary]:
    """Return the summaries of conditions with all their runs, in the order of the files."""
    summaries: dict[tuple[Any, ...], Summary] = {}
    for path in paths:
        content = read_json(path)
        try:
            validated(_Summary, content, "")
        except SettingsError as error:
            mistake = str(error).splitlines()[0]
            raise NarxbenchError(f"{path}: no summary of a condition ({mistake}); delete it and run again") from None
        content["snr_db"] = float(content["snr_db"])
        key = key_of(content)
        if key in summaries:
            raise NarxbenchError(f"{path}: found the condition {key} a second time; allowed: each condition once")
        summaries[key] = content
    return list(summaries.values())


def _without_failed(summary: Summary) -> Summary:
    """Return a summary without its failed runs."""
    failed = summary.get("failures")
    if not failed:
        return summary
    is_kept = [str(seed) not in failed for seed in summary["seeds"]]
    return {**summary, **{name: list(compress(summary[name], is_kept)) for name in _OF_RUNS}}


def _has_runs(summary: Summary) -> bool:
    return bool(summary["seeds"])


def key_of(summary: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the values of `KEY`, which identify the condition."""
    return tuple(summary[name] for name in KEY)


def conditions_frame(summaries: Iterable[Summary], published: Published) -> pd.DataFrame:
    """Return one row a condition, with every value that is compared with the paper.

    ``nu`` counts the runs that chose each system term, in the order of `Published.labels`. ``spurious`` is the number
    of spurious terms that any run chose (r N_t), ``nu_max`` the number of runs that chose the most frequent of them.
    ``third_fitness`` and ``curve`` are means over the runs of the best J after a third and after each tenth of the
    evaluations.
    """
    rows = []
    for summary in summaries:
        counts, spurious = _counts(summary), _spurious(summary)
        third, curve = _mean_course(summary)
        labels = published.labels(summary["system"], summary["system_terms"])
        rows.append(
            {
                **dict(zip(KEY, key_of(summary), strict=True)),
                "algorithm": summary["algorithm"],
                "runs": len(summary["seeds"]),
                "evaluations": summary["evaluations"],
                "n_terms": len(summary["candidates"]),
                "nu": tuple(map(counts.__getitem__, labels)),
                "spurious": len(spurious),
                "nu_max": max(spurious.values(), default=0),
                "exact_runs": _exact_runs(summary),
                "cardinality": median(map(len, summary["structures"])),
                **_final_fitness(summary),
                "third_fitness": _rounded(third),
                "curve": tuple(map(_rounded, curve)),
                "last_improvement": median(map(_last_improvement, summary["history_evaluations"])),
            }
        )
    return framed("conditions", pd.DataFrame(rows))


def _mean_course(summary: Summary) -> tuple[float, list[float]]:
    """Return the mean over the runs of the best J after a third, and after each tenth, of the evaluations spent."""
    spent = max(summary["spent"])
    marks = [spent // 3]
    marks += [math.ceil(spent * tenth / TENTHS) for tenth in range(1, TENTHS + 1)]
    means = []
    for best in best_after(summary["history_evaluations"], summary["history_fitness"], marks).T.tolist():
        # math.fsum is correctly rounded, but NumPy's mean depends on the processor's vector width.
        means.append(math.fsum(best) / len(best) if all(map(math.isfinite, best)) else math.nan)
    return means[0], means[1:]


def _final_fitness(summary: Summary) -> dict[str, float]:
    """Return J of the true structure, and the best and the median final J with the interval of the median."""
    fitness = list(map(_infinite, summary["fitness"]))
    low, high = median_interval(fitness)
    return {
        "true_fitness": _rounded(median(map(_infinite, summary["true_fitness"]))),
        "best_fitness": _rounded(min(fitness)),
        "median_fitness": _rounded(median(fitness)),
        "median_low_fitness": _rounded(low),
        "median_high_fitness": _rounded(high),
    }


def _rounded(fitness: float) -> float:
    """Return J with six decimals: whole units of J matter, and thousands of conditions are kept."""
    return round(fitness, 6)


def _exact_runs(summary: Summary) -> int:
    """Return how many runs found exactly the system terms."""
    system_terms = set(map(summary["candidates"].index, summary["system_terms"]))
    return sum(set(structure) == system_terms for structure in summary["structures"])


def _last_improvement(evaluations: Sequence[int]) -> int:
    """Return the evaluation of the last improvement of a run, or 0 for a run without any."""
    return evaluations[-1] if evaluations else 0


def metrics_frame(summaries: Iterable[Summary], conditions: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return the metrics of each condition with their intervals, next to the values of the frame ``conditions``."""
    rows = []
    for summary in summaries:
        spurious = _spurious(summary)
        worst = max(spurious, key=spurious.__getitem__, default="")  # the first of those that most runs chose
        rows.append((*key_of(summary), worst, {*summary["final_structure"]} == {*summary["system_terms"]}))
    final = pd.DataFrame(rows, columns=[*KEY, "worst_spurious_term", "final_is_exact"])
    metrics = final.merge(conditions, on=KEY, validate="one_to_one")
    counts = metrics.to_dict("records")
    for metric in CONDITION:
        columns = [metric.name, f"{metric.name}_low", f"{metric.name}_high"]
        metrics[columns] = [metric.compute(row, confidence) for row in counts]
    return framed("metrics", metrics)


def selection_frame(summaries: Iterable[Summary], published: Published, confidence: float) -> pd.DataFrame:
    """Return the selection frequency of every candidate term of every condition with its Wilson interval."""
    rows = []
    for summary in summaries:
        labels = published.labels(summary["system"], summary["system_terms"])
        runs = len(summary["seeds"])
        for term, count in _counts(summary).items():
            nu = selection_frequency(count, runs, confidence)
            rows.append((*key_of(summary), term, labels.get(term, ""), term in labels, count, runs, *nu))
    return framed("selection", rows)


def best_after(
    evaluations: Iterable[Sequence[int]], fitness: Iterable[Sequence[float]], grid: Sequence[int]
) -> NDArray[np.float64]:
    """Return the best J of each run (rows) after each number of evaluations of the grid, from its improvements."""
    rows = []
    for improvements, best in zip(evaluations, fitness, strict=True):
        rows.append(np.array([math.inf, *best])[np.searchsorted(improvements, grid, side="right")])
    return np.array(rows)


def _counts(summary: Summary) -> dict[str, int]:
    """Return in how many runs each candidate term was chosen."""
    chosen = Counter(chain.from_iterable(map(set, summary["structures"])))
    return {term: chosen[place] for place, term in enumerate(summary["candidates"])}


def _spurious(summary: Summary) -> dict[str, int]:
    """Return in how many runs each spurious term was chosen, for the terms that were chosen at all."""
    counts = {}
    for term, count in _counts(summary).items():
        if count and term not in summary["system_terms"]:
            counts[term] = count
    return counts


def _infinite(value: float | None) -> float:
    """Return J as a number, for in summaries null means infinity."""
    return math.inf if value is None else value
