"""The conclusion of an identification: the weights of the chosen structure, and how sure and how good the model is."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from narxbench._algorithms.certainty import LEAST_EXCHANGED
from narxbench._identification.data.checks import Candidates, checks_before, no_test_check
from narxbench._identification.data.collinear import near_pairs
from narxbench._identification.finding import Finding
from narxbench._identification.phrases import Values
from narxbench._identification.result import Identification
from narxbench._identification.search.competitors import SPARSE_WITHIN, best_by_description, description
from narxbench._identification.search.configurations import Configuration
from narxbench._identification.search.scan import FORWARD, Scan
from narxbench._identification.search.structures import Choice, Structure
from narxbench._identification.search.ties import EQUAL
from narxbench._identification.search.trial import MOST_COMPARED, MOST_ROWS, Trial
from narxbench._identification.trust.answers import answers
from narxbench._identification.trust.avoidable import avoidable_share
from narxbench._identification.trust.bands import unseen_errors
from narxbench._identification.trust.dynamics import Dynamics, dynamics, working_point
from narxbench._identification.trust.fit import ModelFit
from narxbench._identification.trust.forecasts import ABOUT, forecast_errors
from narxbench._identification.trust.lack_of_fit import richer_structure
from narxbench._identification.trust.probabilities import FULL, STOPPED, StructureCertainty, structure_certainty
from narxbench._identification.trust.residuals import CorrelationTest, correlation_tests, free_run_bias
from narxbench._identification.trust.steady_state import POINTS, FixedPoint, measured_static_points, static_curve
from narxbench._identification.trust.validation import FREE_RUN, ONE_STEP, Case, season_errors, validate
from narxbench._identification.trust.verdicts import CORRELATION_SMALL, summary
from narxbench._identification.trust.weights import interchangeable
from narxbench._io.errors import NarxbenchError
from narxbench._model.narx import Model
from narxbench._model.noise_models import Narx, noise_family
from narxbench._model.records import ROLES, Record
from narxbench._model.terms import INPUT, parse_term

# Values of all candidates that probabilities of terms come from: at least and at most, and for each second of effort.
LEAST_VALUES, MOST_VALUES, VALUES_PER_SECOND = 250_000, 1_000_000, 12_500
# Fixed points of a model with more lags are computed at few inputs: the stability of a state costs the third power of
# the largest lag.
LONG_LAG, FEW_POINTS = 60, 5
# Structures that are about as good as the leaving one and widen its intervals, at most, and of long records.
MOST_EQUAL, FEW_EQUAL = 8, 2
# What the residuals of a richer model still show, besides correlation tests.
FURTHER_TERMS = "residuals and further terms"


def concluded(scan: Scan, choice: Choice, *, is_hurried: bool = False) -> Identification:
    """Estimate the weights of the chosen structure, and judge how sure and how good the model is.

    In a hurry neither probabilities of terms nor rivals are looked for.
    """
    recording, settings = scan.recording, scan.settings
    leaving = choice.leaving
    configuration = scan.named[leaving.configuration]
    trial, fit = scan.trial(configuration), ModelFit(scan, leaving)
    weights = fit.weights()
    model = fit.model(weights)
    free_run = unseen_errors(fit, model)
    model = replace(model, about={**model.about, ABOUT: forecast_errors(fit, model, free_run)})
    models = _models(scan, choice, model)
    cases = fit.cases(model)
    ahead = scan.steps_judged(configuration.name)
    validation = validate(cases, steps=sorted({1, ahead}))
    known = fit.estimating()
    tests = correlation_tests(model, known)
    curve = static_curve(model, known, points=POINTS if model.max_lag <= LONG_LAG else FEW_POINTS)
    rests = measured_static_points(model, known)
    rows = _compared_rows(trial)
    checks = data_checks(scan, configuration, model)
    is_free_run = bool(model.inputs) and scan.horizon is None
    bias = free_run_bias(last_runs(cases, model)) if is_free_run else None
    avoidable = None if is_hurried else avoidable_share(last_cases(cases), None if is_free_run else ahead)
    season = season_errors(last_cases(cases), scan.seasons_of_output, ahead)
    findings = summary(
        model,
        validation,
        tests,
        curve,
        rests,
        checks,
        bias,
        weights.rows(),
        avoidable,
        season,
        scan.horizon,
        scan.seasons,
        competition=_competition(scan, choice, models[choice.best.kind]),
        is_bounded=choice.bounded,
        holds=choice.holds,
    )
    certainty = StructureCertainty(STOPPED) if is_hurried else _certainty(scan, choice)
    identification = Identification(
        model=model,
        recording=recording,
        settings=settings.model_dump(mode="json"),
        configuration={
            "name": configuration.name,
            **configuration.as_dict(),
            "candidates": len(trial.terms),
            "dropped": trial.dropped,
            "near_pairs": _near_pairs(trial, rows),
        },
        checks=checks,
        tried=_tried(scan, choice),
        left_out=scan.left_out,
        weights=weights.rows(),
        certainty=certainty,
        structures=_side_by_side(choice),
        alike=interchangeable(trial.arrangement.columns(trial.monomials, rows), trial.terms, leaving.terms),
        validation=validation,
        tests=tests,
        curve=curve,
        dynamics=_dynamics(scan, choice, model, curve, tests, None if is_hurried else certainty),
        rests=rests,
        summary=findings,
        notes=_notes(scan, choice),
        models=models,
        competitors=_competitors(scan, choice, models),
        unseen={FREE_RUN: free_run, ONE_STEP: unseen_errors(fit, model, 1)},
    )
    return replace(identification, summary=[*answers(identification), *findings])


def _certainty(scan: Scan, choice: Choice) -> StructureCertainty:
    """Return how probable the chosen structure is, on the data that estimate its weights."""
    if choice.winner:
        return StructureCertainty(FULL)
    best = choice.best
    configuration = scan.named[best.configuration]
    others = []
    for structure in choice.finalists[1:]:
        if structure.configuration == best.configuration:
            others.append((structure.terms, structure.noise_model))
    values = int(min(MOST_VALUES, max(LEAST_VALUES, VALUES_PER_SECOND * scan.settings.effort)))
    return structure_certainty(
        scan.trial(configuration).for_prediction_errors(estimating=True, most_values=values),
        best.terms,
        best.noise_model,
        scan.settings.noise_models,
        repeated=max(1.0, choice.density / configuration.decimation),
        compared=others,
    )


def _dynamics(
    scan: Scan,
    choice: Choice,
    model: Model,
    curve: Sequence[FixedPoint],
    tests: Sequence[CorrelationTest],
    certainty: StructureCertainty | None,
) -> Dynamics | None:
    """Return how the model answers its inputs; None where it does not rest in the middle of the data.

    The correlation tests are those of the model. In a hurry, without a certainty, it is the only model.
    """
    records = [record for record in scan.searched.known if record.role in (None, "estimation")]
    point = working_point(model, records, curve)
    if point is None:
        return None
    if certainty is None:
        return dynamics([model], records, point)
    models = [model]
    for structure in _equal_structures(scan, choice, certainty):
        # What is singular or diverges is no rival. Of long records, those that were searched are enough.
        with suppress(NarxbenchError):
            fit = ModelFit(scan, structure)
            models.append(fit.model(fit.weights(fit.turns)))
    lack = _lack_of_fit(scan, choice, tests, records)
    answer = dynamics(models, records, point, lack.richer)
    if answer is None:
        return None
    return replace(answer, lacking=lack.lacking, unexplained=lack.unexplained)


class _LackOfFit(NamedTuple):
    """The terms that the candidates lack, as in :class:`Dynamics`, and a model that has them."""

    richer: Model | None
    lacking: list[str] | None
    unexplained: list[str]


def _lack_of_fit(scan: Scan, choice: Choice, tests: Sequence[CorrelationTest], records: Sequence[Record]) -> _LackOfFit:
    """Return what the candidates lack; weights of ridge regression and of the last value are not tested."""
    unexplained = _clear_failures(tests)
    if choice.leaving.kind in ("unpruned", "last value"):
        return _LackOfFit(None, None, unexplained)
    tested = ModelFit(scan, choice.leaving)
    richer = richer_structure(tested, choice.leaving, scan.settings.noise_models, choice.density)
    if richer is None:
        return _LackOfFit(None, [], unexplained)
    try:
        fit = ModelFit(scan, richer.structure)
        richer_model = fit.model(fit.weights(fit.turns))
    except NarxbenchError:
        return _LackOfFit(None, richer.added, unexplained or [FURTHER_TERMS])
    unexplained = _clear_failures(correlation_tests(richer_model, records))
    if not richer.is_complete:
        unexplained.append(FURTHER_TERMS)
    return _LackOfFit(richer_model, richer.added, unexplained)


def _clear_failures(tests: Sequence[CorrelationTest]) -> list[str]:
    """Return the titles of tests that fail by more than is small."""
    titles = []
    for test in tests:
        if not test.passed and abs(test.worst) > CORRELATION_SMALL:
            titles.append(test.title)
    return titles


def _equal_structures(scan: Scan, choice: Choice, certainty: StructureCertainty) -> list[Structure]:
    """Return the structures that are about as good as the leaving one: probable rivals, and those of as low an error.

    They have other terms, and there are fewer of long records.
    """
    leaving = choice.leaving
    rivals = []
    for rival in certainty.rivals:
        if rival.probability >= LEAST_EXCHANGED:
            rivals.append(leaving.model_copy(update={"terms": list(rival.terms)}))
    for structure in (*choice.finalists, *choice.competitors):
        is_as_good = structure.rrse is not None and structure.rrse <= (1.0 + EQUAL) * (leaving.rrse or 0.0)
        if is_as_good and structure.kind != "last value":
            rivals.append(structure)
    by_terms = {(structure.configuration, tuple(structure.terms)): structure for structure in rivals[::-1]}
    by_terms.pop((leaving.configuration, tuple(leaving.terms)), None)
    n_samples = sum(map(len, scan.recording.known))
    most = MOST_EQUAL if n_samples <= MOST_ROWS else FEW_EQUAL
    return list(by_terms.values())[::-1][:most]


def _models(scan: Scan, choice: Choice, model: Model) -> dict[str, Model]:
    """Return the model that leaves, and the sparse one, by the kind of their structures."""
    if choice.winner is None:
        return {choice.best.kind: model}
    sparse = ModelFit(scan, choice.best)
    return {choice.winner.kind: model, choice.best.kind: sparse.model(sparse.weights())}


def _competing(choice: Choice) -> dict[str, Structure]:
    """Return the structures that competed by description: the sparse one, the one that leaves, the best of each kind.

    There are none where the search was interrupted.
    """
    if not choice.competitors:
        return {}
    structures = {description(choice.best): choice.best, description(choice.leaving): choice.leaving}
    for name, structure in best_by_description(choice.competitors).items():
        structures.setdefault(name, structure)
    return structures


def _competitors(scan: Scan, choice: Choice, models: Mapping[str, Model]) -> dict[str, Model | None]:
    """Return the models of all structures that competed, by description; None where all data give no weights."""
    competitors: dict[str, Model | None] = {}
    for name, structure in _competing(choice).items():
        if structure in (choice.best, choice.leaving):
            competitors[name] = replace(models[structure.kind], covariance=None)
            continue
        try:
            competitors[name] = ModelFit(scan, structure).plain_model()
        except NarxbenchError:
            competitors[name] = None
    return competitors


def _compared_rows(trial: Trial) -> NDArray[np.int64]:
    """Return rows that estimate, no more than are needed to compare candidates."""
    rows = trial.arrangement.rows()
    return rows[:: -(-len(rows) // MOST_COMPARED)]


def _near_pairs(trial: Trial, rows: NDArray[np.int64]) -> dict[str, Any]:
    """Return how many pairs of candidates are nearly alike, and the most alike of them."""
    monomials = [parse_term(name, trial.n_inputs, current=True) for name in trial.terms]
    return near_pairs(trial.arrangement.columns(monomials, rows), trial.terms)._asdict()


def last_cases(cases: Sequence[Case]) -> list[Case]:
    """Return the cases of the role that says most of new data."""
    roles = {case.record.role for case in cases}
    role = next(role for role in reversed(ROLES) if role in roles)
    return [case for case in cases if case.record.role == role]


def last_runs(cases: Sequence[Case], model: Model) -> list[tuple[Model, Record]]:
    """Return models and records of the role that says most of new data; none without inputs."""
    if not model.inputs:
        return []
    return [(case.model, case.record) for case in last_cases(cases)]


def _side_by_side(choice: Choice) -> dict[str, Structure]:
    """Return structures with their scores: the best, and that of iterative forward regression."""
    structures = {"best": choice.leaving}
    if choice.forward:
        structures[FORWARD] = choice.forward
    return structures


def _notes(scan: Scan, choice: Choice) -> list[Finding]:
    """Return what a reader must know of the search besides its result."""
    return [*no_test_check(scan.estimated.records), *noise_model_check(choice)]


def data_checks(scan: Scan, configuration: Configuration, model: Model) -> list[Finding]:
    """Return the checks of the data in view of the model, that of the sampling after decimations were compared."""
    used, usage = set(), {}
    for monomial in model.monomials:
        used |= {signal for signal, _ in monomial}
    for signal, name in enumerate(model.inputs, INPUT):
        usage[name] = {"used": signal in used}
    trial = scan.trial(configuration)
    return checks_before(
        scan.estimated,
        decimation=configuration.decimation,
        lags=max(1, configuration.max_lag),
        sampling=scan.sampling,
        input_responses=scan.responses,
        evidence=scan.evidence,
        usage=usage,
        candidates=Candidates(len(trial.terms), len(trial.arrangement.rows())),
        compared=sorted({tried.decimation for tried in scan.configurations}),
    )


def _competition(scan: Scan, choice: Choice, sparse: Model) -> dict[str, Any] | None:
    """Return the selection errors of the sparse structure and of the best of each kind of competitor."""
    structures = _competing(choice)
    if not structures:
        return None
    rows: list[dict[str, Any]] = []
    for name, structure in structures.items():
        row = {"name": name, "terms": len(structure.terms), "rrse": structure.rrse}
        if structure.ahead is not None:
            row["ahead"] = structure.ahead
        rows.append(row)
    values = {
        "leaving": description(choice.leaving),
        "limit": SPARSE_WITHIN,
        "competitors": len(choice.competitors),
        "selected_by": scan.trial(scan.named[choice.best.configuration]).error,
        "rows": rows,
        "sparse": sparse.equation().partition("\n")[0],
    }
    if not scan.recording.inputs:
        values["steps_ahead"] = scan.steps_judged(choice.best.configuration)
    return values


def noise_model_check(choice: Choice) -> list[Finding]:
    """Return how the noise model was decided on; nothing where there was no choice."""
    best: dict[str, Structure] = {}
    for structure in choice.finalists:
        if structure.fitness is not None:
            best.setdefault(structure.noise.name, structure)
    rows = [
        {
            "name": name,
            "description": structure.noise_model.description,
            "fitness": structure.fitness,
            "rrse": structure.rrse,
            "terms": len(structure.terms),
        }
        for name, structure in sorted(best.items(), key=lambda item: item[1].rank)
    ]
    if choice.winner is not None or (len(rows) < 2 and choice.best.noise_model == Narx()):
        return []
    chosen = {"chosen": choice.best.noise.name, "description": choice.best.noise_model.description}
    values = {**chosen, "tied": choice.tied, "best": rows}
    return [Finding("noise_model", "fine", values, noise_model_text(values))]


def noise_model_text(values: Values) -> str:
    """Return the sentences of :func:`noise_model_check`."""
    text = f"The noise is taken to be {noise_family(values['chosen']).words}: {values['description']}."
    if values["tied"] == 1:
        return text
    return f"{text} Of {values['tied']} structures and noise models that are equally good, it is the most likely."


def _tried(scan: Scan, choice: Choice) -> pd.DataFrame:
    """Return one row for each configuration with its best structure."""
    best: dict[str, tuple[Structure, str]] = {}
    winners = [choice.winner] if choice.winner else []
    for kind, structures in (("in full", winners), ("thoroughly", choice.finalists), ("briefly", choice.briefly)):
        for structure in structures:
            best.setdefault(structure.configuration, (structure, kind))
    rows = []
    for name, (structure, kind) in best.items():
        rows.append(_tried_row(scan.named[name], structure, kind, name == choice.leaving.configuration))
    rows.sort(key=lambda row: (not row["chosen"], row["fitness"] is None, row["fitness"] or 0.0, row["configuration"]))
    return pd.DataFrame(rows, dtype=object)


def _tried_row(configuration: Configuration, structure: Structure, searched: str, is_chosen: bool) -> dict[str, Any]:
    return {
        "configuration": configuration.name,
        "decimation": configuration.decimation,
        "degree": configuration.degree,
        "y_lags": _lags(configuration.y_lags),
        "u_lags": "; ".join(map(_lags, configuration.u_lags)),
        "centred": configuration.centred,
        "terms": len(structure.terms),
        "noise_model": structure.noise.name,
        "rrse": structure.rrse,
        "fitness": structure.fitness,
        "divergent": structure.divergent,
        "searched": searched,
        "chosen": is_chosen,
    }


def _lags(lags: Sequence[int]) -> str:
    if len(lags) > 2 and list(lags) == list(range(lags[0], lags[-1] + 1)):
        return f"{lags[0]}-{lags[-1]}"
    return ", ".join(map(str, lags))
