"""What a choice leads to: the weights of its structure, and how sure and how good the model is."""

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from narxbench.identification.data.checks import checks_before, size_check
from narxbench.identification.data.collinear import collinear_check
from narxbench.identification.data.scaling import scaling
from narxbench.identification.finding import Finding
from narxbench.identification.result import Identification
from narxbench.identification.search.choice import failures
from narxbench.identification.search.configurations import Configuration
from narxbench.identification.search.scan import FORWARD, Scan
from narxbench.identification.search.structures import Choice, Run, Search, Structure
from narxbench.identification.search.trial import MOST_COMPARED
from narxbench.identification.trust.bands import unseen_errors
from narxbench.identification.trust.certainty import selection_table, structures
from narxbench.identification.trust.fit import Fit
from narxbench.identification.trust.residuals import correlation_tests, free_run_bias
from narxbench.identification.trust.steady_state import POINTS, measured_static_points, static_curve
from narxbench.identification.trust.validation import FREE_RUN, ONE_STEP, validate
from narxbench.identification.trust.verdicts import answers, summary
from narxbench.identification.trust.weights import interchangeable
from narxbench.model.narx import Model
from narxbench.model.noise_models import Narx
from narxbench.model.records import ROLES, Recording
from narxbench.model.terms import INPUT, parse_term


def concluded(scan: Scan, choice: Choice, resamples: Sequence[Search]) -> Identification:
    """Estimate the weights of the chosen structure, and judge how sure and how good the model is."""
    recording, settings = scan.recording, scan.settings
    configuration, terms = scan.named[choice.best.configuration], choice.best.terms
    trial, fit = scan.trial(configuration), Fit(scan, choice.best)
    weights = fit.weights()
    model = fit.model(weights)
    cases = fit.cases(model)
    validation = validate(cases)
    known = [case.record for case in cases if case.record.role == "estimation"]
    tests = correlation_tests(model, known)
    # Of the role that says most of new data.
    role = next(role for role in reversed(ROLES) if any(case.record.role == role for case in cases))
    runs = [(case.model, case.record) for case in cases if case.record.role == role and model.inputs]
    # The stability of a state costs the third power of the largest lag.
    curve = static_curve(model, known, points=POINTS if model.max_lag <= 60 else 5)
    rests = measured_static_points(model, known)
    rows = trial.arrangement.rows()
    checks = _checks(scan, configuration, model)
    size = size_check(len(trial.terms), len(rows))
    rows = rows[:: -(-len(rows) // MOST_COMPARED)]
    names = [*trial.terms, *trial.dropped]
    monomials = [parse_term(name, trial.n_inputs, current=True) for name in names]
    checks += [collinear_check(trial.arrangement.columns(monomials, rows), names, trial.dropped), size]
    searched = [search for search in resamples if search.found]
    found = [search.found.terms for search in searched if search.found]
    table = selection_table(trial.terms, choice.runs, found, settings.confidence)
    findings = summary(model, validation, tests, curve, rests, checks, free_run_bias(runs), weights.rows())
    resampled = {"searched": len(found), "wanted": settings.resamples}
    side, made = structures(table, trial.terms, terms, [*choice.runs, *found], settings.threshold)
    scored = {
        name: scan.compared([Run(configuration.name, name, own)], choice.density)[0] for name, own in side.items()
    }
    identified = Identification(
        model=model,
        recording=recording,
        settings=settings.model_dump(mode="json"),
        configuration={
            "name": configuration.name,
            **configuration.as_dict(),
            "candidates": len(trial.terms),
            "dropped": trial.dropped,
        },
        checks=checks,
        tried=_tried(scan, choice),
        left_out=scan.left_out,
        weights=weights.rows(),
        selection=table,
        structures=scored | ({FORWARD: choice.forward} if choice.forward else {}),
        structures_made=made,
        alike=interchangeable(trial.arrangement.columns(trial.monomials, rows), trial.terms, terms),
        validation=validation,
        tests=tests,
        curve=curve,
        rests=rests,
        summary=findings,
        notes=[
            *(
                Finding("searches", "look", {"method": settings.method, "resampled": again, **each.model_dump()})
                for of, again in ((choice.notes, False), (failures(searched), True))
                for each in of
            ),
            *([] if any(record.role == "test" for record in recording.records) else [Finding("no_test", "look")]),
            *([Finding("resamples", "look", resampled)] if resampled["searched"] < settings.resamples else []),
            *_units(recording, model, configuration),
            *_decided(choice),
        ],
        unseen={FREE_RUN: unseen_errors(fit, model), ONE_STEP: unseen_errors(fit, model, 1)},
    )
    return replace(identified, summary=[*answers(identified), *findings])


def _checks(scan: Scan, configuration: Configuration, model: Model) -> list[Finding]:
    """Return the checks of the data in view of the model, that of the sampling after decimations were compared."""
    used = {signal for monomial in model.monomials for signal, _ in monomial}
    lags = enumerate(zip(model.inputs, configuration.u_lags, strict=True), INPUT)
    sampling, *others = checks_before(
        scan.recording,
        decimation=configuration.decimation,
        lags=max(1, configuration.max_lag),
        sampling=scan.sampling,
        input_responses=scan.responses,
        usage={name: {"lags": list(own), "used": signal in used} for signal, (name, own) in lags},
    )
    strides = sorted({c.decimation for c in scan.configurations})
    if len(strides) > 1 and not scan.sampling.advised == configuration.decimation == 1:
        values = {**sampling.values, "compared": strides, "taken": configuration.decimation}
        sampling = replace(sampling, status="fine" if scan.sampling.advised > 1 else sampling.status, values=values)
    return [sampling, *others]


def _units(recording: Recording, model: Model, configuration: Configuration) -> list[Finding]:
    """Return which signals are taken from another zero or in another unit, because of what numbers can hold."""
    by = None if configuration.centred else scaling(recording, False)
    if by is None:
        return []
    rows = [
        {"signal": name, "offset": offset, "scale": scale}
        for name, offset, scale in zip((model.output, *model.inputs), *by, strict=True)
        if (offset, scale) != (0.0, 1.0)
    ]
    return [Finding("level", "fine", {"signals": rows})]


def _decided(choice: Choice) -> list[Finding]:
    """Return how the noise model was decided on, and whether a structure of lower J was passed over."""
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
    found = []
    if len(rows) > 1 or choice.best.noise_model != Narx():
        chosen = {"chosen": choice.best.noise.name, "description": choice.best.noise_model.description}
        found.append(Finding("noise_model", "fine", {**chosen, "tied": choice.tied, "best": rows}))
    if choice.passed_over or not choice.holds:
        values = {"passed_over": len(choice.passed_over), "holds": choice.holds}
        found.append(Finding("whole_records", "look" if choice.holds else "bad", values))
    return found


def _tried(scan: Scan, choice: Choice) -> pd.DataFrame:
    """Return one row for each configuration with the best structure that was found in it."""
    best: dict[str, tuple[Structure, str]] = {}
    for kind, found in (("thoroughly", choice.finalists), ("briefly", choice.briefly)):
        for structure in found:
            best.setdefault(structure.configuration, (structure, kind))
    rows = [
        {
            "configuration": name,
            "decimation": (c := scan.named[name]).decimation,
            "degree": c.degree,
            "y_lags": _lags(c.y_lags),
            "u_lags": "; ".join(map(_lags, c.u_lags)),
            "centred": c.centred,
            "terms": len(structure.terms),
            "noise_model": structure.noise.name,
            "rrse": structure.rrse,
            "fitness": structure.fitness,
            "divergent": structure.divergent,
            "searched": kind,
            "chosen": name == choice.best.configuration,
        }
        for name, (structure, kind) in best.items()
    ]
    rows.sort(key=lambda row: (not row["chosen"], row["fitness"] is None, row["fitness"] or 0.0, row["configuration"]))
    return pd.DataFrame(rows, dtype=object)


def _lags(lags: Sequence[int]) -> str:
    if len(lags) > 2 and list(lags) == list(range(lags[0], lags[-1] + 1)):
        return f"{lags[0]}-{lags[-1]}"
    return ", ".join(map(str, lags))
