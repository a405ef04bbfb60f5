"""Whether the verdicts are right: ``python -m benchmarks.verdicts [--quick] [--jobs N]``.

Writes ``benchmarks/verdicts.md``. On each record of :mod:`benchmarks.verdict_records` several models are judged as an
identification judges the one that it chose: the true structure, linear ones, overfits, wrong and unstable ones; on some
records the search chooses. A verdict is compared with the worth of the model: its error against the truth, on a third
of the record that was kept back and on a fresh record without noise. The rules were chosen on some records; those that
are reported have other systems and draws.
"""

import argparse
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import combinations, groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

# First: it sets one thread before numpy is imported.
from benchmarks.measured import Floats  # isort: skip
import numpy as np

import narxbench
from benchmarks.common import ROOT, table
from benchmarks.verdict_records import KINDS, TrueRecord, all_records, held_out, is_held_out
from narxbench._identification.conclusion import data_checks, last_cases, last_runs
from narxbench._identification.finding import Finding
from narxbench._identification.identify import identify_recording
from narxbench._identification.search.candidate import Candidate
from narxbench._identification.search.plan import SearchPlan, plan_search
from narxbench._identification.search.scores import diverges_when_held, scored
from narxbench._identification.settings import IdentificationSettings
from narxbench._identification.validation.answers import prediction_answer
from narxbench._identification.validation.avoidable import avoidable_share
from narxbench._identification.validation.error_table import validate
from narxbench._identification.validation.fit import ModelFit
from narxbench._identification.validation.residuals import free_run_bias
from narxbench._identification.validation.verdicts import summary
from narxbench._io.files import write_atomically
from narxbench._model.narx import DivergedError
from narxbench._model.records import Record, Recording

RESULT = ROOT / "benchmarks" / "verdicts.md"
LAGS: dict[str, Any] = {"y_lags": [1, 2, 3], "u_lags": [1, 2, 3], "decimation": [1], "noise": "narx"}
# Errors relative to the deviation of the truth up to which a model is good, and from which on it is bad.
GOOD, BAD = 0.25, 0.6
# Of two models of a record one is better if its error is this share smaller, and smaller by this much. Models that miss
# as much as the mean does are equally useless.
BETTER, CLEARLY = 0.9, 0.02
# A verdict "fine" promises an error on new data of at most this many times the quoted one, or this much.
FACTOR, SMALL = 2.0, 0.05
RANKS = {"fine": 0, "look": 1, "bad": 2}
# Every this many records are also searched.
SEARCHED = 8
SEARCH: dict[str, Any] = {"effort": 0.3}


class Judged(NamedTuple):
    """A model of a record: its verdict, the error that the verdict quotes, and what the model is worth."""

    kind: str
    number: int
    structure: str
    verdict: str
    quoted: float | None
    worth: float
    kept_error: float
    bounded: bool

    @property
    def is_reported(self) -> bool:
        """Whether it belongs to the records that no rule was chosen on."""
        return is_held_out(self.kind)


def recording_of(record: TrueRecord) -> Recording:
    """Return what is handed over of a record: the known part, and the test in its unit."""
    scale, shift = record.test_unit
    training = Record("known", record.u[: record.known], record.y[: record.known])
    shown = slice(record.known, record.shown)
    test = Record("test", record.u[shown], scale * record.y[shown] + shift, "test")
    return Recording((training, test), record.system.model.inputs, "y")


def structures_of(record: TrueRecord, candidates: Sequence[str]) -> dict[str, list[str]]:
    """Return the structures that are judged on a record, without terms that are no candidates there."""
    y_terms = ["y(k-1)", "y(k-2)"]
    u_terms = [term for term in candidates if re.fullmatch(r"u\d?\(k-[123]\)", term)]
    linear = [*y_terms, *u_terms]
    chosen = {
        "true": list(record.system.terms),
        "linear": linear,
        "overfit": [term for term in candidates if "k-3" not in term],
        "wrong": ["1", "y(k-3)", "u(k-3)^2", "u1(k-3)^2"],
        "unstable": ["y(k-1)", "y(k-2)", "y(k-1)^3", "y(k-2)^3", "y(k-1)^2", *linear[2:3]],
        "constant": ["1"],
    }
    structures = dict[str, list[str]]()
    for name, terms in chosen.items():
        allowed = [term for term in candidates if term in terms]
        if allowed and allowed not in structures.values():
            structures[name] = allowed
    return structures


def judge(record: TrueRecord) -> list[Judged]:
    """Return the verdicts on models of a record."""
    recording = recording_of(record)
    lags = LAGS if record.system.n_inputs else {**LAGS, "u_lags": "auto"}
    settings = IdentificationSettings(**{**lags, "degree": [3]})
    plan = plan_search(recording, settings)
    (configuration,) = plan.configurations
    judged = []
    for name, terms in structures_of(record, plan.problem(configuration).terms).items():
        (structure,) = scored(plan, [Candidate(configuration, tuple(terms), name)], 1)
        # A search refuses what diverges on the data that it chooses by.
        if structure.fitness is not None:
            judged.append(judged_as(record, name, *answer_on(plan, structure)))
    if record.number % SEARCHED < 2:
        identification = identify_recording(recording, IdentificationSettings(**SEARCH))
        answer = next(finding for finding in identification.summary if finding.name == "to_predict")
        steady_states = [finding for finding in identification.summary if finding.name == "steady_states"]
        is_bounded = all(finding.values["bounded"] for finding in steady_states)
        judged.append(judged_as(record, "search", identification.model, answer, is_bounded))
    return judged


def answer_on(plan: SearchPlan, structure: Candidate) -> tuple[narxbench.Model, Finding, bool]:
    """Return the model of a structure, whether one may predict with it, and whether it stays within bounds."""
    fit = ModelFit(plan, structure)
    model = fit.model(fit.weights())
    cases = fit.cases(model)
    ahead = plan.steps_ahead(fit.configuration.decimation)
    frame = validate(cases, steps=sorted({1, ahead}))
    checks = data_checks(plan, fit.configuration, model)
    bias = free_run_bias(last_runs(cases, model))
    avoidable = avoidable_share(last_cases(cases), None if model.inputs else ahead)
    is_bounded = not diverges_when_held(plan, structure)
    findings = summary(model, frame, [], [], [], checks, bias, avoidable=avoidable, is_bounded=is_bounded)
    by_name = {finding.name: finding for finding in findings}
    return model, prediction_answer(model, plan.recording, frame, by_name), is_bounded


def judged_as(record: TrueRecord, name: str, model: narxbench.Model, answer: Finding, is_bounded: bool) -> Judged:
    """Return the verdict on a model with its worth."""
    worth, kept_error = worth_of(record, model, answer.values["steps"])
    quoted = answer.values["rrse"]
    return Judged(record.kind, record.number, name, answer.status, quoted, worth, kept_error, is_bounded)


def worth_of(record: TrueRecord, model: narxbench.Model, steps: int | None) -> tuple[float, float]:
    """Return the error of a model against the truth, and against what is measured in the part that is kept back.

    The second is that of the predictions which a verdict quotes: this many steps ahead, or in free run.
    """
    start = record.shown - model.initial_samples
    kept = slice(start, None)
    deviation = float(np.std(record.y))
    if not record.system.n_inputs:
        ahead = predicted_ahead(model, record.y[kept], record.horizon)
        best = predicted_ahead(record.system.model, record.y[kept], record.horizon)
        quoted = predicted_ahead(model, record.y[kept], (steps or 1) * model.decimation)
        kept_error = error(quoted, record.y[kept], deviation, model.initial_samples)
        return error(ahead, best, deviation, model.initial_samples), kept_error
    run = free_run(model, record.u[kept], record.y[kept])
    fresh = free_run(model, record.fresh_u, record.fresh_truth)
    scale = max(float(np.std(record.truth)), 1e-12)
    fresh_scale = max(float(np.std(record.fresh_truth)), 1e-12)
    worth = max(
        error(run, record.truth[kept], scale, model.initial_samples),
        error(fresh, record.fresh_truth, fresh_scale, model.initial_samples),
    )
    return worth, error(run, record.y[kept], deviation, model.initial_samples)


def free_run(model: narxbench.Model, u: Floats, y: Floats) -> Floats:
    """Return the free run of a model; infinite where it diverges."""
    try:
        return model.predict(u, y[: model.initial_samples], samples=len(u))
    except DivergedError:
        return np.full(len(u), np.inf)


def predicted_ahead(model: narxbench.Model, y: Floats, samples: int) -> Floats:
    """Return the prediction of a series some samples ahead; infinite where it diverges."""
    try:
        return model.predict(None, y, max(1, samples // model.decimation), samples=len(y))
    except DivergedError:
        return np.full(len(y), np.inf)


def error(predicted: Floats, expected: Floats, deviation: float, first: int) -> float:
    """Return the rms of a difference from a sample on, relative to a deviation."""
    difference = (predicted - expected)[first:]
    if not np.isfinite(difference).all():
        return math.inf
    return float(np.sqrt(np.mean(difference**2))) / deviation


def worse_verdicts(judged: Sequence[Judged]) -> tuple[list[tuple[Judged, Judged]], int]:
    """Return the pairs of models of a record of which the better one has the worse verdict, and how many pairs are."""
    pairs, count = [], 0
    record_of = attrgetter("kind", "number")
    for _, models in groupby(sorted(judged, key=record_of), key=record_of):
        for models_of_pair in combinations(models, 2):
            better, worse = sorted(models_of_pair, key=attrgetter("worth"))
            other_error = min(worse.worth, 1.0)
            is_better = better.worth < min(BETTER * other_error, other_error - CLEARLY)
            # One that explodes once inputs are held is not better than one that does not.
            if not is_better or (worse.bounded and not better.bounded):
                continue
            count += 1
            if RANKS[better.verdict] > RANKS[worse.verdict]:
                pairs.append((better, worse))
    return pairs, count


def breaks_promise(judged: Judged) -> bool:
    """Return whether the error on the part that was kept back is larger than a verdict "fine" promises."""
    return judged.kept_error > max(FACTOR * (judged.quoted or 0.0), SMALL)


@dataclass
class Counts:
    """How often verdicts were wrong."""

    good: int = 0
    good_called_bad: int = 0
    bad: int = 0
    bad_called_fine: int = 0
    fine: int = 0
    broken: int = 0
    pairs: int = 0
    wrong_pairs: int = 0


def counted(judged: Sequence[Judged]) -> Counts:
    """Count how often verdicts were wrong."""
    wrong_pairs, pairs = worse_verdicts(judged)
    counts = Counts(pairs=pairs, wrong_pairs=len(wrong_pairs))
    for model in judged:
        if model.worth <= GOOD:
            counts.good += 1
            counts.good_called_bad += model.verdict == "bad"
        if model.worth >= BAD:
            counts.bad += 1
            counts.bad_called_fine += model.verdict == "fine"
        if model.verdict == "fine":
            counts.fine += 1
            counts.broken += breaks_promise(model)
    return counts


def share(part: int, whole: int) -> str:
    """Return a count out of others in words."""
    return f"{part} of {whole} ({100 * part / max(1, whole):.1f} %)"


def report(judged: Sequence[Judged]) -> str:
    """Return the page."""
    counts, _ = zip(*KINDS.values(), strict=True)
    n_records = 2 * sum(counts)
    text = [
        "# Whether one may predict: how often the answer is right\n",
        f"Written by `python -m benchmarks.verdicts`, from {len(places(judged))} of {n_records} simulated records.\n",
        f"A model is good with an error of at most {GOOD:g}, and bad from {BAD:g} on: the rms error of free runs (of a "
        "series: of predictions some steps ahead) without noise, relative to the standard deviation, on a third of the "
        'record that was kept back or a fresh record, whichever is larger. "Fine" promises at most '
        f"{FACTOR:g} times the quoted error, or {SMALL:g}. Of two models one is better if its error is at most "
        f"{BETTER:g} times the other's, and smaller by {CLEARLY:g}, and it stays within bounds once inputs are "
        "held. Aim: each share of the held-out records at most 3 %, and no such pair. Held-out records were made "
        "after the rules.\n",
        _table_of_parts(judged),
        "The held-out records by kind, with the number of models of each verdict:\n",
        _table_of_kinds(judged),
    ]
    return "\n".join(text)


def places(judged: Iterable[Judged]) -> set[tuple[str, int]]:
    """Return the records of models, by kind and number."""
    return {(model.kind, model.number) for model in judged}


def _table_of_parts(judged: Sequence[Judged]) -> str:
    rows = []
    for title, models in parts_of(judged):
        counts = counted(models)
        shares = [
            share(counts.good_called_bad, counts.good),
            share(counts.bad_called_fine, counts.bad),
            share(counts.broken, counts.fine),
            share(counts.wrong_pairs, counts.pairs),
        ]
        rows.append([f"{title}: {len(models)} models of {len(places(models))} records", *shares])
    header = ["models", "good ones called bad", "bad ones called fine", "fine ones that break the promise"]
    return table([*header, "pairs in which the better model has the worse verdict"], rows)


def _table_of_kinds(judged: Sequence[Judged]) -> str:
    rows = []
    for kind in KINDS:
        models = [model for model in judged if model.kind == held_out(kind)]
        if not models:
            continue
        counts, n_models = counted(models), Counter(model.verdict for model in models)
        wrong = [f"{counts.good_called_bad} of {counts.good}", f"{counts.bad_called_fine} of {counts.bad}"]
        rows.append([kind, *(str(n_models[verdict]) for verdict in RANKS), *wrong])
    return table(["kind of record", *RANKS, "good called bad", "bad called fine"], rows)


def parts_of(judged: Sequence[Judged]) -> Iterable[tuple[str, list[Judged]]]:
    """Yield the two parts of the models with their titles."""
    yield "records that the rules were chosen on", [model for model in judged if not model.is_reported]
    yield "held-out records", [model for model in judged if model.is_reported]


def all_judged(records: Sequence[TrueRecord], jobs: int) -> list[Judged]:
    """Return the verdicts on all records."""
    judged: list[Judged] = []
    if jobs == 1:
        for record in records:
            judged += judge(record)
        return judged
    with ProcessPoolExecutor(jobs) as processes:
        for models in processes.map(judge, records, chunksize=4):
            judged += models
    return judged


def main() -> None:
    """Judge the models, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="two records of each kind")
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    parser.add_argument("--output", type=Path, default=RESULT, help="the page")
    options = parser.parse_args()
    write_atomically(options.output, report(all_judged(all_records(few=options.quick), options.jobs)))


if __name__ == "__main__":
    main()
