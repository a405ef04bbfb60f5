"""The conclusion of an identification: the weights of the chosen structure, and how sure and how good the model is."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from narxbench._algorithms.certainty import LEAST_EXCHANGED
from narxbench._identification.data.checks import checks_before, no_test_check
from narxbench._identification.data.collinear import near_pairs
from narxbench._identification.finding import Finding
from narxbench._identification.phrases import Values
from narxbench._identification.result import Identification
from narxbench._identification.search.candidate import Candidate
from narxbench._identification.search.choice import Choice
from narxbench._identification.search.competitors import SPARSE_WITHIN, best_by_description, description
from narxbench._identification.search.configurations import Configuration
from narxbench._identification.search.plan import KEPT_PROBLEMS, SearchPlan
from narxbench._identification.search.problem import MOST_STEPS, MOST_VALUES, MOST_WEIGHED, ConfigurationProblem
from narxbench._identification.search.scores import EQUAL
from narxbench._identification.validation.answers import answers
from narxbench._identification.validation.avoidable import avoidable_share
from narxbench._identification.validation.bands import unseen_errors
from narxbench._identification.validation.dynamics import Dynamics, dynamics, working_point
from narxbench._identification.validation.error_table import FREE_RUN, ONE_STEP, Case, season_errors, validate
from narxbench._identification.validation.errors import LITTLE
from narxbench._identification.validation.fit import ModelFit
from narxbench._identification.validation.forecasts import ABOUT, forecast_errors
from narxbench._identification.validation.lack_of_fit import richer_structure
from narxbench._identification.validation.probabilities import FULL, STOPPED, StructureCertainty, structure_certainty
from narxbench._identification.validation.residuals import CorrelationTest, correlation_tests, free_run_bias
from narxbench._identification.validation.steady_state import POINTS, FixedPoint, measured_static_points, static_curve
from narxbench._identification.validation.verdicts import summary
from narxbench._identification.validation.weights import interchangeable
from narxbench._io.errors import NarxbenchError
from narxbench._model.narx import Model
from narxbench._model.noise_models import Narx, noise_family
from narxbench._model.records import ROLES, Record
from narxbench._model.terms import INPUT, parse_term

# What the residuals of a richer model still show, besides correlation tests.
FURTHER_TERMS = "residuals and further terms"


def concluded(plan: SearchPlan, choice: Choice, *, is_hurried: bool = False) -> Identification:
    """Estimate the weights of the chosen structure, and judge how sure and how good the model is.

    In a hurry, probabilities of terms and rivals are skipped.
    """
    recording, settings = plan.recording, plan.settings
    selected = choice.selected
    configuration = selected.configuration
    problem, fit = plan.problem(configuration), ModelFit(plan, selected)
    weights = fit.weights()
    model = fit.model(weights)
    free_run = unseen_errors(fit, model)
    model = replace(model, about={**model.about, ABOUT: forecast_errors(fit, model, free_run)})
    models = _models(plan, choice, model)
    cases = fit.cases(model)
    ahead = plan.steps_ahead(configuration.decimation)
    validation = validate(cases, steps=sorted({1, ahead}))
    known = fit.estimating()
    tests = correlation_tests(model, known)
    # A model with long lags gets fewer points: the stability of a state costs the third power of the largest lag.
    curve = static_curve(model, known, points=max(2, min(POINTS, POINTS**2 // max(1, model.max_lag))))
    rests = measured_static_points(model, known)
    rows = _compared_rows(problem)
    checks = data_checks(plan, configuration, model)
    is_free_run = bool(model.inputs) and plan.horizon is None
    bias = free_run_bias(last_runs(cases, model)) if is_free_run else None
    avoidable = None if is_hurried else avoidable_share(last_cases(cases), None if is_free_run else ahead)
    season = season_errors(last_cases(cases), plan.seasons_of_output, ahead)
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
        plan.horizon,
        plan.seasons,
        competition=_competition(plan, choice, models[choice.best.kind]),
        is_bounded=choice.bounded,
        holds=choice.holds,
    )
    certainty = StructureCertainty(STOPPED) if is_hurried else _certainty(plan, choice)
    identification = Identification(
        model=model,
        recording=recording,
        settings=settings.model_dump(mode="json"),
        configuration={
            "name": configuration.name,
            **configuration.as_dict(),
            "candidates": len(problem.terms),
            "dropped": problem.dropped,
            "near_pairs": _near_pairs(problem, rows),
        },
        checks=checks,
        tried=_tried(choice),
        left_out=plan.left_out,
        weights=weights.rows(),
        certainty=certainty,
        method=selected.found_by,
        alike=interchangeable(problem.arrangement.columns(problem.monomials, rows), problem.terms, selected.terms),
        validation=validation,
        tests=tests,
        curve=curve,
        dynamics=_dynamics(plan, choice, model, curve, tests, None if is_hurried else certainty),
        rests=rests,
        summary=findings,
        notes=_notes(plan, choice),
        models=models,
        competitors=_competitors(plan, choice, models),
        unseen={FREE_RUN: free_run, ONE_STEP: unseen_errors(fit, model, 1)},
    )
    return replace(identification, summary=[*answers(identification), *findings])


def _certainty(plan: SearchPlan, choice: Choice) -> StructureCertainty:
    """Return how probable the chosen structure is, on the data that estimate its weights."""
    if choice.winner:
        return StructureCertainty(FULL)
    best = choice.best
    configuration = best.configuration
    others = []
    for structure in choice.finalists[1:]:
        if structure.configuration == best.configuration:
            others.append((structure.terms, structure.noise_model))
    problem = plan.problem(configuration)
    # As many samples as give the weights under a noise model.
    most_values = min(MOST_VALUES, MOST_WEIGHED * len(problem.terms))
    return structure_certainty(
        problem.for_prediction_errors(estimating=True, most_values=most_values),
        best.terms,
        best.noise_model,
        plan.settings.noise_models,
        repeated=max(1.0, choice.density / configuration.decimation),
        compared=others,
    )


def _dynamics(
    plan: SearchPlan,
    choice: Choice,
    model: Model,
    curve: Sequence[FixedPoint],
    tests: Sequence[CorrelationTest],
    certainty: StructureCertainty | None,
) -> Dynamics | None:
    """Return how the model answers its inputs, or None if it does not rest in the middle of the data.

    ``tests`` are correlation tests of the model. In a hurry there is no certainty, and the model has no rivals.
    """
    records = [record for record in plan.searched.known if record.role in (None, "estimation")]
    point = working_point(model, records, curve)
    if point is None:
        return None
    if certainty is None:
        return dynamics([model], records, point)
    models = [model]
    for structure in _equal_structures(plan, choice, certainty):
        # A singular or diverging structure is not a rival. The stretches of long records that were searched suffice.
        with suppress(NarxbenchError):
            fit = ModelFit(plan, structure)
            models.append(fit.model(fit.weights(fit.turns)))
    richer_model, lacking, unexplained = _lack_of_fit(plan, choice, tests, records)
    answer = dynamics(models, records, point, richer_model)
    if answer is None:
        return None
    return replace(answer, lacking=lacking, unexplained=unexplained)


def _lack_of_fit(
    plan: SearchPlan, choice: Choice, tests: Sequence[CorrelationTest], records: Sequence[Record]
) -> tuple[Model | None, list[str] | None, list[str]]:
    """Return a model with the terms that the candidates lack, these terms, and what stays unexplained.

    The terms are as in :class:`Dynamics`. Ridge regression and the last value are not tested.
    """
    unexplained = _clear_failures(tests)
    if choice.selected.kind in ("unpruned", "last value"):
        return None, None, unexplained
    tested = ModelFit(plan, choice.selected)
    richer = richer_structure(tested, choice.selected, plan.settings.noise_models, choice.density)
    if richer is None:
        return None, [], unexplained
    structure, added, is_complete = richer
    try:
        fit = ModelFit(plan, structure)
        richer_model = fit.model(fit.weights(fit.turns))
    except NarxbenchError:
        return None, added, unexplained or [FURTHER_TERMS]
    unexplained = _clear_failures(correlation_tests(richer_model, records))
    if not is_complete:
        unexplained.append(FURTHER_TERMS)
    return richer_model, added, unexplained


def _clear_failures(tests: Sequence[CorrelationTest]) -> list[str]:
    """Return the titles of tests that fail by more than is small."""
    titles = []
    for test in tests:
        if not test.passed and abs(test.worst) > LITTLE:
            titles.append(test.title)
    return titles


def _equal_structures(plan: SearchPlan, choice: Choice, certainty: StructureCertainty) -> list[Candidate]:
    """Return structures that are about as good as the selected one: probable rivals, and those with as low an error.

    Their terms differ. Their number is limited to the number of problems that are kept.
    """
    selected = choice.selected
    rivals = []
    for rival in certainty.rivals:
        if rival.probability >= LEAST_EXCHANGED:
            rivals.append(replace(selected, terms=tuple(rival.terms)))
    for structure in (*choice.finalists, *choice.competitors):
        is_as_good = structure.rrse is not None and structure.rrse <= (1.0 + EQUAL) * (selected.rrse or 0.0)
        if is_as_good and structure.kind != "last value":
            rivals.append(structure)
    by_terms = {structure.structure: structure for structure in rivals[::-1]}
    by_terms.pop(selected.structure, None)
    return list(by_terms.values())[::-1][:KEPT_PROBLEMS]


def _models(plan: SearchPlan, choice: Choice, model: Model) -> dict[str, Model]:
    """Return the selected model, and the sparse one, by the kind of their structures."""
    if choice.winner is None:
        return {choice.best.kind: model}
    sparse = ModelFit(plan, choice.best)
    return {choice.winner.kind: model, choice.best.kind: sparse.model(sparse.weights())}


def _competing(choice: Choice) -> dict[str, Candidate]:
    """Return the structures that competed by description: the sparse one, the selected one, the best of each kind.

    There are none where the search was interrupted.
    """
    if not choice.competitors:
        return {}
    structures = {description(choice.best): choice.best, description(choice.selected): choice.selected}
    for name, structure in best_by_description(choice.competitors).items():
        structures.setdefault(name, structure)
    return structures


def _competitors(plan: SearchPlan, choice: Choice, models: Mapping[str, Model]) -> dict[str, Model | None]:
    """Return the models of all structures that competed, by description. A model is None if it has no weights."""
    competitors: dict[str, Model | None] = {}
    for name, structure in _competing(choice).items():
        if structure in (choice.best, choice.selected):
            competitors[name] = replace(models[structure.kind], covariance=None)
            continue
        try:
            competitors[name] = ModelFit(plan, structure).plain_model()
        except NarxbenchError:
            competitors[name] = None
    return competitors


def _compared_rows(problem: ConfigurationProblem) -> NDArray[np.int64]:
    """Return rows that estimate, no more than are needed to compare candidates."""
    rows = problem.arrangement.rows()
    return rows[:: -(-len(rows) // MOST_STEPS)]


def _near_pairs(problem: ConfigurationProblem, rows: NDArray[np.int64]) -> dict[str, Any]:
    """Return how many pairs of candidates are nearly alike, and the most alike of them."""
    monomials = [parse_term(name, problem.n_inputs, current=True) for name in problem.terms]
    return near_pairs(problem.arrangement.columns(monomials, rows), problem.terms)


def last_cases(cases: Sequence[Case]) -> list[Case]:
    """Return the cases of the role that says most about new data."""
    roles = {case.record.role for case in cases}
    role = next(role for role in reversed(ROLES) if role in roles)
    return [case for case in cases if case.record.role == role]


def last_runs(cases: Sequence[Case], model: Model) -> list[tuple[Model, Record]]:
    """Return models and records of the role that says most about new data, if the model has inputs."""
    if not model.inputs:
        return []
    return [(case.model, case.record) for case in last_cases(cases)]


def _notes(plan: SearchPlan, choice: Choice) -> list[Finding]:
    """Return what a reader must know of the search besides its result."""
    return [*no_test_check(plan.estimated.records), *noise_model_check(choice)]


def data_checks(plan: SearchPlan, configuration: Configuration, model: Model) -> list[Finding]:
    """Return the checks of the data in view of the model, with the decimations that were compared."""
    used, usage = set(), {}
    for monomial in model.monomials:
        used |= {signal for signal, _ in monomial}
    for signal, name in enumerate(model.inputs, INPUT):
        usage[name] = {"used": signal in used}
    problem = plan.problem(configuration)
    return checks_before(
        plan.estimated,
        decimation=configuration.decimation,
        lags=max(1, configuration.max_lag),
        sampling=plan.sampling,
        input_responses=plan.responses,
        evidence=plan.evidence,
        usage=usage,
        candidates=(len(problem.terms), len(problem.arrangement.rows())),
        compared=sorted({tried.decimation for tried in plan.configurations}),
    )


def _competition(plan: SearchPlan, choice: Choice, sparse: Model) -> dict[str, Any] | None:
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
        "selected": description(choice.selected),
        "limit": SPARSE_WITHIN,
        "competitors": len(choice.competitors),
        "selected_by": plan.problem(choice.best.configuration).error,
        "rows": rows,
        "sparse": sparse.equation().partition("\n")[0],
    }
    if not plan.recording.inputs:
        values["steps_ahead"] = plan.steps_ahead(choice.best.configuration.decimation)
    return values


def noise_model_check(choice: Choice) -> list[Finding]:
    """Return how the noise model was chosen, or an empty list if there was no choice."""
    best: dict[str, Candidate] = {}
    for structure in choice.finalists:
        if structure.fitness is not None:
            best.setdefault(structure.noise_model.name, structure)
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
    chosen = {"chosen": choice.best.noise_model.name, "description": choice.best.noise_model.description}
    values = {**chosen, "tied": choice.tied, "best": rows}
    return [Finding("noise_model", "fine", values, noise_model_text(values))]


def noise_model_text(values: Values) -> str:
    """Return the sentences of :func:`noise_model_check`."""
    text = f"The noise is taken to be {noise_family(values['chosen']).words}: {values['description']}."
    if values["tied"] == 1:
        return text
    return f"{text} Of {values['tied']} structures and noise models that are equally good, it is the most likely."


def _tried(choice: Choice) -> pd.DataFrame:
    """Return one row for each configuration with its best structure."""
    best: dict[Configuration, tuple[Candidate, str]] = {}
    winners = [choice.winner] if choice.winner else []
    for kind, structures in (("in full", winners), ("thoroughly", choice.finalists), ("briefly", choice.briefly)):
        for structure in structures:
            best.setdefault(structure.configuration, (structure, kind))
    rows = []
    for configuration, (structure, kind) in best.items():
        rows.append(_tried_row(structure, kind, configuration == choice.selected.configuration))
    rows.sort(key=lambda row: (not row["chosen"], row["fitness"] is None, row["fitness"] or 0.0, row["configuration"]))
    return pd.DataFrame(rows, dtype=object)


def _tried_row(structure: Candidate, searched: str, is_chosen: bool) -> dict[str, Any]:
    configuration = structure.configuration
    return {
        "configuration": configuration.name,
        "decimation": configuration.decimation,
        "degree": configuration.degree,
        "y_lags": _lags(configuration.y_lags),
        "u_lags": "; ".join(map(_lags, configuration.u_lags)),
        "centred": configuration.centred,
        "terms": len(structure.terms),
        "noise_model": structure.noise_model.name,
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
