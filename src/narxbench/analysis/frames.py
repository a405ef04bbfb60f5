"""The frames of the analysis: their schema, their CSV form, and those that are read off the summaries of conditions.

A condition is a problem (system, SNR, data seed, interpretation), a method and a criterion, summed up over its runs in
one JSON file. A missing number or truth value is NaN (``pd.NA``) in memory and empty in CSV; a missing text is "".
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import ConfigDict, Field

from narxbench.analysis.metrics import Selections, selection_frequency, selections, spurious_terms
from narxbench.analysis.published import Published
from narxbench.experiment.study_settings import snr_label
from narxbench.io.csv import FLAG, INTEGER, NUMBER, TEXT, Kind, list_of, optional, read_table, write_table, wrong
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import StrPath, read_json
from narxbench.io.settings import Settings, SettingsError, validated
from narxbench.numerics.random_streams import generator

Summary = dict[str, Any]

KEY = ["system", "snr_db", "data_seed", "interpretation", "method", "criterion"]
PROBLEM = [name for name in KEY if name != "method"]  # what methods are compared on
TENTHS = 10  # points of a condition's curve

_NUMBER, _TRUTH = optional(NUMBER), optional(FLAG)
_WHOLES, _NUMBERS = list_of(INTEGER), list_of(_NUMBER)
_KEY = {
    "system": TEXT,
    "snr_db": _NUMBER,
    "data_seed": INTEGER,
    "interpretation": TEXT,
    "method": TEXT,
    "criterion": TEXT,
}
_SIZE = {"algorithm": TEXT, "runs": INTEGER, "evaluations": INTEGER, "n_terms": INTEGER}
_FITNESS = dict.fromkeys(["best_fitness", "median_fitness", "true_fitness"], _NUMBER)
_LIMITS = {"low": _NUMBER, "high": _NUMBER}
_DIFFERENCES = [f"difference_{metric}" for metric in ("nu", "r", "nu_max")]
_SHARES = [f"consistent_{metric}{holm}" for metric in ("nu", "r", "nu_max") for holm in ("", "_holm")]

# Frame -> column -> kind.
SCHEMAS: dict[str, dict[str, Kind]] = {
    "conditions": {
        **_KEY,
        **_SIZE,
        **{"nu": _WHOLES, "spurious": INTEGER, "nu_max": INTEGER, "exact_runs": INTEGER, "cardinality": _NUMBER},
        **dict.fromkeys(["true_fitness", "best_fitness", "median_fitness", "third_fitness"], _NUMBER),
        **{"curve": _NUMBERS, "last_improvement": _NUMBER},
    },
    "metrics": {
        **_KEY,
        **_SIZE,
        **dict.fromkeys(["r", "r_low", "r_high", "nu_max", "nu_max_low", "nu_max_high"], _NUMBER),
        **{"worst_spurious_term": TEXT, "exact_runs": INTEGER, "final_is_exact": _TRUTH},
        **_FITNESS,
    },
    "selection": {
        **_KEY,
        **{"term": TEXT, "label": TEXT, "system_term": _TRUTH, "count": INTEGER, "runs": INTEGER},
        **{"frequency": _NUMBER, **_LIMITS},
    },
    "convergence": {**_KEY, "evaluations": INTEGER, "mean": _NUMBER, **_LIMITS},
    "recovery": {**_KEY, "exact": INTEGER, "runs": INTEGER, "rate": _NUMBER, **_LIMITS},
    "comparisons": {
        **{name: _KEY[name] for name in PROBLEM},
        **{"a": TEXT, "b": TEXT, "n_a": INTEGER, "n_b": INTEGER, "median_a": _NUMBER, "median_b": _NUMBER},
        **{"p_value": _NUMBER, "distribution": TEXT, "p_holm": _NUMBER, "a12": _NUMBER, "magnitude": TEXT},
    },
    "run_length": {
        **_KEY,
        **{"target": TEXT, "target_method": TEXT, "fitness": _NUMBER, "evaluations": _WHOLES, "runs": INTEGER},
    },
    "budget": {**_KEY, "evaluations": INTEGER, "median": _NUMBER, **_LIMITS},
    "gaps": {
        **_KEY,
        **dict.fromkeys(["best_known", "true_structure", "median_gap_to_best", "median_gap_to_true"], _NUMBER),
        **{"criterion_failure": _TRUTH, "search_failure_rate": _NUMBER},
    },
    "agreement_values": {
        **{"table": TEXT, "system": TEXT, "algorithm": TEXT, "criterion": TEXT, "snr_db": _NUMBER},
        **{"metric": TEXT, "label": TEXT, "term": TEXT},
        **{"data_seed": _NUMBER, "interpretation": TEXT, "method": TEXT},
        **{"published": _NUMBER, "reproduced": _NUMBER, **_LIMITS, "difference": _NUMBER, "p_value": _NUMBER},
        **{"consistent": _TRUTH, "consistent_holm": _TRUTH},
    },
    "agreement": {
        **{"table": TEXT, "algorithm": TEXT, "method": TEXT, "compared": INTEGER, "missing": INTEGER},
        **dict.fromkeys([*_DIFFERENCES, *_SHARES], _NUMBER),
    },
    "claims": {"id": TEXT, "side": TEXT, "holds": _TRUTH, "evidence": TEXT},
}
_DTYPES = {TEXT: "str", INTEGER: "int64", _NUMBER: "float64", _TRUTH: "boolean"}


def framed(name: str, rows: Iterable[Sequence[Any]] | pd.DataFrame) -> pd.DataFrame:
    """Return rows as the frame ``name``: with its columns and their types, and NaN for what is not finite."""
    schema = SCHEMAS[name]
    frame = rows[list(schema)] if isinstance(rows, pd.DataFrame) else pd.DataFrame(list(rows), columns=list(schema))
    typed = frame.astype({column: _DTYPES[kind] for column, kind in schema.items() if kind in _DTYPES})
    return typed.replace([math.inf, -math.inf], math.nan)


def read_frame(name: str, path: StrPath) -> pd.DataFrame:
    """Read the CSV file of the frame ``name``; errors name file, line and column."""
    frame = framed(name, read_table(path, SCHEMAS[name], may_be_empty=True))
    if name == "conditions":
        _check_conditions(path, frame)
    return frame


def frame_csv(frame: pd.DataFrame) -> str:
    """Return a frame as CSV that :func:`read_frame` reads back to the last bit."""
    truths = [column for column, dtype in frame.dtypes.items() if dtype == "boolean"]
    return write_table(frame.assign(**{name: frame[name].astype(object).replace({pd.NA: None}) for name in truths}))


def _check_conditions(path: StrPath, frame: pd.DataFrame) -> None:
    """Refuse counts that no runs can have, for conditions may come from a file that is kept by hand."""
    repeated = frame.duplicated(KEY)
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
            ("criterion", not repeated[row], "each condition once"),
        ):
            if not fine:
                raise wrong(path, row, column, condition[column], allowed)


class _Runs(Settings):
    """The part ``runs`` of a summary, one entry a run."""

    fitness: list[float | None] = Field(min_length=1)
    evaluations: list[int]
    structures: list[list[int]]
    history_evaluations: list[list[int]]
    history_fitness: list[list[float]]
    model_config = ConfigDict(extra="ignore")


class _TrueStructure(Settings):
    fitness: float | None
    model_config = ConfigDict(extra="ignore")


class _Summary(Settings):
    """What the analysis reads of a summary; it may hold more."""

    system: str
    snr_db: float
    data_seed: int
    interpretation: str
    method: str
    criterion: str
    algorithm: str
    evaluations: int = Field(ge=1)
    realisations: int
    seeds: list[int]
    candidates: list[str]
    system_terms: list[str]
    true_coefficients: list[float]
    true_structure: _TrueStructure
    true_fitness: list[float | None]
    final_structure: list[str]
    runs: _Runs
    model_config = ConfigDict(extra="ignore")

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
    """Read the summaries of conditions in the given order.

    Raises
    ------
    NarxbenchError
        In one line that names the file, if it is damaged, no summary of a condition, or repeats a condition.
    """
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
    """Return what tells a condition from the others: its values of `KEY`."""
    return tuple(summary[name] for name in KEY)


def runs_frame(summaries: Iterable[Summary]) -> pd.DataFrame:
    """Return one row a run, for the statistics over runs; it is not stored.

    Beside `KEY` the columns are ``algorithm``, ``seed``, ``fitness`` and ``true_fitness`` (J of the run and of the true
    structure on its data; infinite if not finite), ``spent`` and ``evaluations`` (of the run, and its budget),
    ``true_structure`` (J of the true structure on the first data set), ``shared_data`` (whether all runs of the
    condition saw the same data), and the arrays ``history_evaluations`` and ``history_fitness``.
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
    return framed("conditions", [_condition(summary, published) for summary in summaries])


def _condition(summary: Summary, published: Published) -> tuple[Any, ...]:
    runs, system_terms = summary["runs"], summary["system_terms"]
    count = dict(zip(summary["candidates"], _selected(summary).sum(axis=0).tolist(), strict=True))
    spurious = [number for term, number in count.items() if number and term not in system_terms]
    fitness = list(map(_infinite, runs["fitness"]))
    spent = max(runs["evaluations"])
    marks = [spent // 3, *(math.ceil(spent * tenth / TENTHS) for tenth in range(1, TENTHS + 1))]
    third, *curve = mean_over_runs(best_after(runs["history_evaluations"], runs["history_fitness"], marks))
    true = {summary["candidates"].index(term) for term in system_terms}
    return (
        *key_of(summary),
        *(summary["algorithm"], len(fitness), summary["evaluations"], len(summary["candidates"])),
        tuple(count[term] for term in published.labels(summary["system"], system_terms)),
        *(len(spurious), max(spurious, default=0)),
        sum(set(structure) == true for structure in runs["structures"]),
        median(map(len, runs["structures"])),
        *(median(map(_infinite, summary["true_fitness"])), min(fitness), median(fitness)),
        *(third, tuple(curve)),
        median(history[-1] if history else 0 for history in runs["history_evaluations"]),
    )


def metrics_frame(
    summaries: Iterable[Summary], conditions: pd.DataFrame, confidence: float, bootstrap_samples: int
) -> pd.DataFrame:
    """Return r and nu_max of each condition with their bootstrap intervals, beside what ``conditions`` says of it."""
    rows = []
    for summary in summaries:
        axes = {"system": summary["system"], "snr_db": snr_label(summary["snr_db"]), "criterion": summary["criterion"]}
        found = spurious_terms(
            _selected(summary),
            np.isin(summary["candidates"], summary["system_terms"]),
            generator(purpose="bootstrap", search=summary["method"], **axes),
            confidence=confidence,
            resamples=bootstrap_samples,
        )
        worst = "" if found.most_frequent is None else summary["candidates"][found.most_frequent]
        exact = set(summary["final_structure"]) == set(summary["system_terms"])
        rows.append((*key_of(summary), *found.ratio, *found.frequency_max, worst, exact))
    intervals = ["r", "r_low", "r_high", "nu_max", "nu_max_low", "nu_max_high"]
    own = pd.DataFrame(rows, columns=[*KEY, *intervals, "worst_spurious_term", "final_is_exact"])
    return framed("metrics", own.merge(conditions.drop(columns="nu_max"), on=KEY, validate="one_to_one"))


def selection_frame(summaries: Iterable[Summary], published: Published, confidence: float) -> pd.DataFrame:
    """Return the selection frequency of every candidate term of every condition with its Wilson interval."""
    rows = []
    for summary in summaries:
        labels = published.labels(summary["system"], summary["system_terms"])
        runs = len(summary["seeds"])
        for term, count in zip(summary["candidates"], _selected(summary).sum(axis=0).tolist(), strict=True):
            nu = selection_frequency(count, runs, confidence)
            rows.append((*key_of(summary), term, labels.get(term, ""), term in labels, count, runs, *nu))
    return framed("selection", rows)


def best_after(
    evaluations: Iterable[Sequence[int]], fitness: Iterable[Sequence[float]], grid: Sequence[int]
) -> NDArray[np.float64]:
    """Return the best J of each run (rows) after each number of evaluations of the grid; infinite before the first.

    ``evaluations`` and ``fitness`` are the improvements of each run: when, and the new best J.
    """
    steps = zip(evaluations, fitness, strict=True)
    return np.array([np.array([math.inf, *best])[np.searchsorted(when, grid, side="right")] for when, best in steps])


def mean_over_runs(best: NDArray[np.float64]) -> list[float]:
    """Return the mean of each column, NaN where a run is not finite."""
    # math.fsum is correctly rounded; NumPy's mean depends on the processor's vector width.
    return [math.fsum(c) / len(c) if all(map(math.isfinite, c)) else math.nan for c in best.T.tolist()]


def _selected(summary: Summary) -> Selections:
    return selections(summary["runs"]["structures"], len(summary["candidates"]))


def _infinite(value: float | None) -> float:
    return math.inf if value is None else value
