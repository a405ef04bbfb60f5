"""The frames of the paper's study: their columns, and those that are read off the summaries of conditions.

A condition is a problem (system, SNR, data seed, interpretation), a method and a criterion, summed up over its runs in
one JSON file.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from statistics import median
from typing import Annotated, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import Field

from narxbench.io.csv import one_of, wrong
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import StrPath, read_json
from narxbench.io.settings import Line, Settings, SettingsError, validated
from narxbench.numerics.intervals import median_interval, selection_frequency
from narxbench.studies.paper.metrics import CONDITION
from narxbench.studies.paper.published import Published
from narxbench.study.condition import MOST, ConditionKey
from narxbench.study.frames import FrameSchemas

Summary = dict[str, Any]

# What identifies a condition; scenarios have frames of their own.
KEY = ["system", "snr_db", "data_seed", "interpretation", "method", "criterion"]
PROBLEM = [name for name in KEY if name != "method"]  # what methods are compared on
TENTHS = 10  # points of a condition's curve
# Of a claim: whether it holds (None: cannot be judged), and under how many of the interpretations that can judge it.
VERDICTS = {True: "holds", False: "does not hold", None: "cannot be judged"}
UNCLEAR = "no clear difference"  # a claim that does not hold as it is stated, where chance can explain it
SPREADS = ("all", "some", "none", "unjudged")

_CONDITION = "*system:text *snr_db:known *data_seed:whole *interpretation:text *method:text *criterion:text"
_SIZE = "algorithm:text runs:whole evaluations:whole n_terms:whole"
_INTERVALS = " ".join(f"{metric.name} {metric.name}_low {metric.name}_high" for metric in CONDITION)
# Frame -> its columns in order, a star before those that identify a row; a column without a kind holds numbers.
_COLUMNS = {
    "conditions": f"{_CONDITION} {_SIZE} nu:wholes spurious:whole nu_max:whole exact_runs:whole cardinality "
    "true_fitness best_fitness median_fitness median_low_fitness median_high_fitness third_fitness curve:numbers "
    "last_improvement",
    "metrics": f"{_CONDITION} {_SIZE} {_INTERVALS} worst_spurious_term:text exact_runs:whole final_is_exact:truth "
    "best_fitness median_fitness true_fitness",
    "selection": f"{_CONDITION} *term:text label:text system_term:truth count:whole runs:whole frequency low high",
    "convergence": f"{_CONDITION} *evaluations:whole median low high",
    "recovery": f"{_CONDITION} exact:whole runs:whole rate low high",
    "comparisons": "system:text snr_db:known data_seed:whole interpretation:text criterion:text a:text b:text "
    "n_a:whole n_b:whole median_a median_b p_value distribution:text p_holm a12 magnitude:text",
    "gaps": f"{_CONDITION} best_known true_structure median_gap_to_best median_gap_to_true criterion_failure:truth "
    "search_failure_rate",
    "agreement_values": "table:text system:text algorithm:text criterion:text snr_db:known metric:text label:text "
    "term:text data_seed interpretation:text method:text published reproduced low high difference p_value deviance "
    "different:truth",
    "agreement": "table:text algorithm:text method:text compared:whole missing:whole different:whole deviance bias_nu "
    "bias_r bias_nu_max",
    "claims": "*id:text *side:text verdict:verdict held:whole places:whole evidence:text",
    # Of the interpretations: narxbench.studies.paper.interpretations.findings.
    "nearness": "*role:text *criteria:text seeds:whole *algorithm:text interpretation:text values:whole deviance "
    "deviance_low deviance_high own_deviance own_low own_high bias_nu bias_r bias_nu_max different different_low "
    "different_high held_out p_value",
    "claim_overview": "*claim:text title:text published:verdict as_described:verdict seeds:whole judged:whole "
    "holds:whole group:spread",
    "role_verdicts": "*claim:text *role:text verdict:verdict seeds:whole judged:whole held:whole places:whole "
    "missed:text",
    "found": "*label:text algorithm:text interpretation:text *system:text data_sets:whole runs:whole exact:whole rate "
    "low high",
    "effects_overview": "*algorithm:text *option:text *design_choice:text contradicts:text change interval_low "
    "interval_high rank:whole",
}


def _check_selection(path: StrPath, frame: pd.DataFrame) -> None:
    own = frame[frame["system_term"]]
    for row in own.index[own.duplicated([*KEY, "label"]) | (own["label"] == "")].tolist():
        raise wrong(path, row, "label", frame["label"][row], "a label for each system term, each once")


def _check_conditions(path: StrPath, frame: pd.DataFrame) -> None:
    """Refuse counts that no runs can have, for conditions may come from a file that is kept by hand."""
    for row, condition in enumerate(frame.to_dict("records")):
        runs, nu, terms = condition["runs"], condition["nu"], condition["n_terms"]
        spurious, nu_max = condition["spurious"], condition["nu_max"]
        for column, fine, allowed in (
            ("runs", runs > 0, "at least 1"),
            ("evaluations", condition["evaluations"] > 0, "at least 1"),
            ("nu", nu and all(0 <= count <= runs for count in nu), f"counts from 0 to {runs}"),
            ("spurious", 0 <= spurious <= terms - len(nu), f"from 0 to n_terms without the {len(nu)} system terms"),
            ("nu_max", 0 <= nu_max <= runs and (nu_max > 0) == (spurious > 0), f"up to {runs}; 0 as spurious is 0"),
            ("exact_runs", 0 <= condition["exact_runs"] <= runs, f"from 0 to {runs}"),
            ("curve", len(condition["curve"]) == TENTHS, f"{TENTHS} values"),
        ):
            if not fine:
                raise wrong(path, row, column, condition[column], allowed)


SCHEMAS = FrameSchemas(
    _COLUMNS,
    kinds={"verdict": (one_of(*VERDICTS.values(), UNCLEAR), "str"), "spread": (one_of(*SPREADS), "str")},
    shared=(
        (KEY, ("metrics", "recovery", "gaps", "convergence", "selection")),
        (["claim"], ("claim_overview", "role_verdicts")),
    ),
    complete=("claims", "role_verdicts"),
    never_empty=("claims", "nearness", "found"),
    checks={"conditions": _check_conditions, "selection": _check_selection},
)
framed, read_frame, read_frames = SCHEMAS.framed, SCHEMAS.read_frame, SCHEMAS.read_frames


Count = Annotated[int, Field(ge=0, le=MOST)]


class _Runs(Settings, extra="ignore"):
    fitness: list[float | None] = Field(min_length=1)
    evaluations: list[Count]
    structures: list[list[int]]
    history_evaluations: list[list[Count]]
    history_fitness: list[list[float]]


class _TrueStructure(Settings, extra="ignore"):
    fitness: float | None


class _FinalModel(Settings, extra="ignore"):
    coefficients: list[float]
    fitness: float | None
    sse: float | None
    prediction: list[float] | None


# What the analysis reads of a summary; it may hold more.
class _Summary(ConditionKey, extra="ignore"):
    algorithm: Line
    evaluations: int = Field(ge=1, le=MOST)
    versions: dict[str, str]
    algorithm_sha256: str
    data_sha256: str
    realisations: int
    seeds: list[Count]
    data_seed: Count
    candidates: list[Line]
    system_terms: list[str]
    true_coefficients: list[float]
    true_structure: _TrueStructure
    true_fitness: list[float | None]
    final_structure: list[str]
    final_model: _FinalModel
    measured: list[float]
    runs: _Runs

    def model_post_init(self, _: Any) -> None:
        """Refuse lists of unequal lengths and terms that are no candidates."""
        runs, entries = self.runs, len(self.seeds)
        per_run = (self.true_fitness, *(getattr(runs, name) for name in type(runs).model_fields))
        histories = zip(runs.history_evaluations, runs.history_fitness, strict=False)
        if any(len(values) != entries for values in per_run) or any(len(e) != len(j) for e, j in histories):
            raise ValueError(f"found {entries} seeds and lists of another length")
        if any(not 0 <= index < len(self.candidates) for structure in runs.structures for index in structure):
            raise ValueError("found an index of no candidate term")
        if not set(self.system_terms) <= set(self.candidates):
            raise ValueError("found a system term that is no candidate term")
        if len(self.system_terms) != len(self.true_coefficients):
            raise ValueError("found system terms and true coefficients of unequal number")


def load_summaries(paths: Iterable[StrPath]) -> list[Summary]:
    """Read the summaries of conditions in the given order; errors name the file, damaged or of a condition again."""
    found: dict[tuple[Any, ...], Summary] = {}
    for path in paths:
        content = read_json(path)
        try:
            validated(_Summary, content, "")
        except SettingsError as error:
            problem = str(error).splitlines()[0]
            raise NarxbenchError(f"{path}: no summary of a condition ({problem}); delete it and run again") from None
        content["snr_db"] = float(content["snr_db"])
        key = key_of(content)
        if key in found:
            raise NarxbenchError(f"{path}: found the condition {key} a second time; allowed: each condition once")
        found[key] = content
    return list(found.values())


def key_of(summary: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what identifies a condition: its values of `KEY`."""
    return tuple(summary[name] for name in KEY)


def runs_frame(summaries: Iterable[Summary]) -> pd.DataFrame:
    """Return one row a run, for the statistics over runs; it is not stored.

    ``true_fitness`` is J of the true structure on the data of the run, ``true_structure`` that on the first data set;
    what is not finite is infinite. ``spent`` is of the run, ``evaluations`` its budget; with ``shared_data`` all runs
    of the condition saw the same data.
    """
    return pd.DataFrame(
        [
            {
                **{name: summary[name] for name in (*KEY, "algorithm", "evaluations")},
                "seed": summary["seeds"][run],
                "fitness": _infinite(runs["fitness"][run]),
                "true_fitness": _infinite(summary["true_fitness"][run]),
                "spent": runs["evaluations"][run],
                "true_structure": _infinite(summary["true_structure"]["fitness"]),
                "shared_data": summary["realisations"] == 1,
                "history_evaluations": np.array(runs["history_evaluations"][run], dtype=np.int64),
                "history_fitness": np.array(runs["history_fitness"][run], dtype=np.float64),
            }
            for summary in summaries
            for runs in [summary["runs"]]
            for run in range(len(summary["seeds"]))
        ]
    )


def conditions_frame(summaries: Iterable[Summary], published: Published) -> pd.DataFrame:
    """Return one row a condition, with all that is compared with the paper.

    ``nu`` counts the runs that chose each system term, in the order of `Published.labels`; ``spurious`` the spurious
    terms that any run chose (r N_t), ``nu_max`` the runs that chose the most frequent of them. ``third_fitness`` and
    ``curve`` are means over the runs of the best J after a third and after each tenth of the evaluations.
    """
    rows = []
    for summary in summaries:
        runs, system_terms = summary["runs"], summary["system_terms"]
        count, spurious = _counts(summary), _spurious(summary)
        fitness = list(map(_infinite, runs["fitness"]))
        spent = max(runs["evaluations"])
        marks = [spent // 3, *(math.ceil(spent * tenth / TENTHS) for tenth in range(1, TENTHS + 1))]
        best = best_after(runs["history_evaluations"], runs["history_fitness"], marks).T.tolist()
        # math.fsum is correctly rounded; NumPy's mean depends on the processor's vector width.
        third, *curve = (math.fsum(js) / len(js) if all(map(math.isfinite, js)) else math.nan for js in best)
        true = {summary["candidates"].index(term) for term in system_terms}
        true_fitness = median(map(_infinite, summary["true_fitness"]))
        rows.append(
            (
                *key_of(summary),
                *(summary["algorithm"], len(fitness), summary["evaluations"], len(summary["candidates"])),
                tuple(count[term] for term in published.labels(summary["system"], system_terms)),
                *(len(spurious), max(spurious.values(), default=0)),
                sum(set(structure) == true for structure in runs["structures"]),
                median(map(len, runs["structures"])),
                # Whole units of J matter, and thousands of conditions are kept.
                *(round(j, 6) for j in (true_fitness, min(fitness), median(fitness), *median_interval(fitness), third)),
                tuple(round(j, 6) for j in curve),
                median(history[-1] if history else 0 for history in runs["history_evaluations"]),
            )
        )
    return framed("conditions", rows)


def metrics_frame(summaries: Iterable[Summary], conditions: pd.DataFrame, confidence: float) -> pd.DataFrame:
    """Return the metrics of each condition with their intervals, next to what ``conditions`` says of it."""
    rows = []
    for summary in summaries:
        spurious = _spurious(summary)
        worst = max(spurious, key=spurious.__getitem__, default="")  # the first of those that most runs chose
        rows.append((*key_of(summary), worst, {*summary["final_structure"]} == {*summary["system_terms"]}))
    own = pd.DataFrame(rows, columns=[*KEY, "worst_spurious_term", "final_is_exact"])
    found = own.merge(conditions, on=KEY, validate="one_to_one")
    counts = found.to_dict("records")
    for metric in CONDITION:
        columns = [metric.name, f"{metric.name}_low", f"{metric.name}_high"]
        found[columns] = [metric.of(row, confidence) for row in counts]
    return framed("metrics", found)


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
    steps = zip(evaluations, fitness, strict=True)
    return np.array([np.array([math.inf, *best])[np.searchsorted(when, grid, side="right")] for when, best in steps])


def _counts(summary: Summary) -> dict[str, int]:
    """Return in how many runs each candidate term was chosen."""
    chosen = Counter(chain.from_iterable(map(set, summary["runs"]["structures"])))
    return {term: chosen[index] for index, term in enumerate(summary["candidates"])}


def _spurious(summary: Summary) -> dict[str, int]:
    """Return in how many runs each spurious term was chosen; only those that were."""
    return {term: count for term, count in _counts(summary).items() if count and term not in summary["system_terms"]}


def _infinite(value: float | None) -> float:
    return math.inf if value is None else value
