"""Runs: all methods on one data set, and what came out."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import narxbench
from benchmarks.recovery.judge import Truth, fresh_error, make_problem
from benchmarks.recovery.plants import plants
from benchmarks.recovery.situations import CALIBRATION, SITUATIONS, DataSet, DivergedError, make_data

PEM = "pem"
WHITE = "pem, white Gaussian noise only"
CONSTANT = "1"
# The quantile of the normal distribution that leaves 5 % on either side.
NORMAL_95 = 1.6448536269514722


class Method(NamedTuple):
    """An algorithm with its settings, and the criterion of J."""

    algorithm: str
    criterion: str = "bic"
    settings: dict[str, Any] = {}  # noqa: RUF012


METHODS = {
    PEM: Method("pem"),
    WHITE: Method("pem", settings={"noise_models": ["narx", "noe"], "tails": False, "drift": False}),
    "multistart, J with linear EBIC": Method("multistart", "ebicl-1"),
    "FROLS": Method("frols"),
}


class Job(NamedTuple):
    """A data set, and the methods to run on it."""

    plant: str
    situation: str
    seed: int
    methods: tuple[str, ...]


@dataclass(frozen=True)
class Said:
    """Statements of pem about its model; each is None where it makes none."""

    noise: str | None = None
    noise_name: str | None = None
    has_filter: bool | None = None
    is_integrated: bool = False
    terms: tuple[tuple[float, bool], ...] | None = None  # probability, whether the term is true
    unlisted: int = 0  # true terms without a probability
    structure: tuple[float, bool] | None = None  # the most probable one: probability, whether it is exact
    warnings: tuple[str, ...] | None = None
    covered: tuple[tuple[bool, bool], ...] | None = None  # classical and robust interval of each weight


@dataclass(frozen=True)
class Outcome:
    """The choice of a method in a data set, and how good it is."""

    plant: str
    group: str
    situation: str
    method: str
    is_inside: bool  # whether all true terms are candidates
    is_exact: bool
    error: float
    oracle: float
    cpu: float
    missed: tuple[str, ...]
    spurious: tuple[str, ...]
    reason: str = ""
    said: Said = field(default_factory=Said)


class Finished(NamedTuple):
    """The outcomes of a job; none where the data diverged or the situation has no meaning for the plant."""

    job: Job
    outcomes: list[Outcome]


def run(job: Job) -> Finished:
    """Run the methods of a job."""
    try:
        data = make_data(plants()[job.plant], job.situation, job.seed)
    except DivergedError:
        return Finished(job, [])
    if data is None:
        return Finished(job, [])
    try:
        truth = Truth(data)
        return Finished(job, [_outcome(job, name, data, truth) for name in job.methods])
    except Exception as error:
        raise RuntimeError(f"{job.plant}, {job.situation}, seed {job.seed}: {error}") from error


def _outcome(job: Job, name: str, data: DataSet, truth: Truth) -> Outcome:
    method = METHODS[name]
    problem = make_problem(data, method.criterion)
    began = time.process_time()
    result = narxbench.search(
        problem, algorithm=method.algorithm, seed=1, axes={"system": job.plant}, **method.settings
    )
    cpu = time.process_time() - began
    monomials = [problem.monomials[problem.terms.index(term)] for term in result.terms]
    details = result.details if method.algorithm == "pem" else {}
    said = _said(details, result, data)
    true, chosen = set(data.plant.terms), set(result.terms)
    if said.is_integrated:
        true.discard(CONSTANT)
        chosen.discard(CONSTANT)
    is_exact, reason = true == chosen, ""
    if _is_to_explain(name, job, data, is_exact, details):
        reason = truth.reason(details["criterion"])
    return Outcome(
        plant=job.plant,
        group=data.plant.group,
        situation=job.situation,
        method=name,
        is_inside=data.is_inside,
        is_exact=is_exact,
        error=fresh_error(data, monomials, result.coefficients),
        oracle=truth.oracle_error(),
        cpu=cpu,
        missed=tuple(sorted(true - chosen)),
        spurious=tuple(sorted(chosen - true)),
        reason=reason,
        said=said,
    )


def _is_to_explain(name: str, job: Job, data: DataSet, is_exact: bool, details: Mapping[str, Any]) -> bool:
    is_reported = SITUATIONS[job.situation].part != CALIBRATION
    return name == PEM and is_reported and data.is_inside and not is_exact and "criterion" in details


def _said(details: Mapping[str, Any], result: narxbench.SearchResult, data: DataSet) -> Said:
    """Return what the details of a result of pem say."""
    noise = details.get("noise", {})
    is_integrated = bool(noise.get("is_integrated", False))
    true = set(data.plant.terms)
    probabilities = details.get("probabilities")
    structures = details.get("structures")
    warnings = details.get("warnings")
    terms, unlisted, has_filter, structure, kinds = None, 0, None, None, None
    if probabilities is not None:
        hidden = {CONSTANT} if is_integrated else set()
        terms = tuple((float(p), term in true) for term, p in probabilities.items() if term not in hidden)
        unlisted = len(true - hidden - set(probabilities))
    if noise:
        has_filter = any([noise.get("autoregression"), noise.get("moving_average"), is_integrated])
    if structures:
        structure = _most_probable(structures[0], true)
    if warnings is not None:
        kinds = tuple(str(warning["kind"]) for warning in warnings)
    return Said(
        noise=noise.get("description"),
        noise_name=details.get("noise_model"),
        has_filter=has_filter,
        is_integrated=is_integrated,
        terms=terms,
        unlisted=unlisted,
        structure=structure,
        warnings=kinds,
        covered=_covered(details, result, data),
    )


def _most_probable(structure: Mapping[str, Any], true: set[str]) -> tuple[float, bool]:
    """Return the probability of a structure, and whether it is exact; drift hides the constant."""
    hidden = {CONSTANT} if "drift" in str(structure["noise_model"]) else set()
    return float(structure["probability"]), set(structure["terms"]) - hidden == true - hidden


def _covered(
    details: Mapping[str, Any], result: narxbench.SearchResult, data: DataSet
) -> tuple[tuple[bool, bool], ...] | None:
    """Return whether nominal intervals of 90 % hold the true weights, but for the constant: classical and robust."""
    if "standard_errors" not in details:
        return None
    weights = dict(zip(data.plant.terms, data.plant.weights, strict=True))
    covered = []
    errors = zip(details["standard_errors"], details["robust_standard_errors"], strict=True)
    for term, weight, sizes in zip(result.terms, result.coefficients, errors, strict=True):
        if term in weights and term != CONSTANT:
            distance = abs(weight - weights[term])
            classical, robust = sizes
            covered.append((bool(distance <= NORMAL_95 * classical), bool(distance <= NORMAL_95 * robust)))
    return tuple(covered)
