"""What is fine about a model, and what is not: findings on its predictions, its residuals and its rests.

Three answers follow from them: may one predict with it, read its terms, and control with it.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from narxbench.identification.finding import Finding, Status, worst
from narxbench.identification.trust.frequencies import frequent_terms
from narxbench.identification.trust.probabilities import EXACT
from narxbench.identification.trust.residuals import ROUNDING, CorrelationTest
from narxbench.identification.trust.steady_state import FixedPoint, Rest
from narxbench.identification.trust.validation import (
    ALL,
    ARX,
    FIGURES,
    FREE_RUN,
    INCOMING,
    LAST_VALUE,
    MODEL,
    ONE_STEP,
    decisive,
    row_of,
)
from narxbench.model.functions import derived
from narxbench.model.narx import Model
from narxbench.model.records import ROLES
from narxbench.model.terms import INPUT
from narxbench.numerics.rounding import significant

if TYPE_CHECKING:
    from narxbench.identification.result import Identification

# A free run that misses at most 25 % of the output's standard deviation follows every movement by eye; at 60 % a third
# of the variance is missed and one sees where; beyond that a mean does nearly as well.
FREE_RUN_FINE, FREE_RUN_LOOK = 0.25, 0.6
# More than a tenth below linear ARX pays for nonlinear terms; more than a tenth above is no accident of a record.
# Errors this close are equal for use, whatever their ratio.
BETTER, WORSE, CLOSE = 0.9, 1.1, 0.01
# Two records of one process differ easily by a half in error; an error three times as large was fitted, not found. An
# increase of the RRSE that is small in itself is no gap, whatever the ratio.
GAP_FINE, GAP_LOOK, GAP_SMALL = 1.5, 3.0, 0.05
# A correlation r foretells the share r^2 of the variance: below 1 % it does not matter even if many samples show it,
# from 9 % on a better model is within reach.
CORRELATION_SMALL, CORRELATION_LARGE = 0.1, 0.3
# The rests of the data and the model's static curve: share of the output's range.
STATIC_FINE = 0.1
# A term of this probability is more probable than not.
LIKELY = 0.5
# Where neither the model nor a simpler one explains a tenth of the variance, nothing is there to be predicted.
NOISE = 0.95
ANSWERS = ("to_predict", "to_read", "to_control")
# Findings on the model; others are on the data.
OF_MODEL = (
    *("prediction", "exact", "free_run_residuals", "against_linear_arx", "against_last_value", "gap"),
    *("residuals_linear", "residuals_nonlinear", "fixed_points", "static"),
)


def summary(
    model: Model,
    frame: pd.DataFrame,
    tests: Sequence[CorrelationTest],
    curve: Sequence[FixedPoint],
    rests: Sequence[Rest] = (),
    checks: Sequence[Finding] = (),
    bias: Mapping[str, Any] | None = None,
    weights: Sequence[Mapping[str, Any]] = (),
) -> list[Finding]:
    """Return what is fine about a model and what is not, most important first; checks that are not fine at the end.

    ``bias`` is that of the first of test, selection and estimation that the frame of ``validate`` has.
    """
    roles = [role for role in reversed(ROLES) if role in set(frame["role"])]
    prediction = _prediction(model, frame, roles[0])
    good = prediction.values["small"] and model.inputs and not prediction.values["diverged"]
    free_run = prediction.values["rrse"] if good else None
    unit, biased = model.units.get(model.output, ""), ("rising", "falling", "drift")
    seen: Status = "look" if bias and any(bias[name]["seen"] for name in biased) else "fine"
    of_model = [
        prediction,
        _exact(frame, weights),
        Finding("free_run_residuals", seen, {"role": roles[0], "unit": unit, **bias}) if bias else None,
        _against(model, frame, roles[0], *decisive(model, frame), ARX),
        _against(model, frame, roles[0], ONE_STEP, 1, LAST_VALUE),
        _gap(model, frame, roles),
        _residuals(tests, "linear", free_run),
        _residuals(tests, "nonlinear", free_run),
        _fixed_points(model, curve),
        _rests(rests),
    ]
    return [found for found in of_model if found] + [check for check in checks if check.status != "fine"]


def answers(found: "Identification") -> list[Finding]:
    """Return whether one may predict with a model, read its terms, and, where it has inputs, control with it."""
    findings = {finding.name: finding for finding in found.summary}
    predicts = _to_predict(found, findings)
    three = [predicts, _to_read(found, findings, predicts.values["noise"])]
    if found.model.inputs and found.curve:
        three.append(_to_control(found, findings, predicts.status))
    return three


def _to_predict(found: "Identification", findings: Mapping[str, Finding]) -> Finding:
    """As the predictions, their gap to new data, what their errors share, and bad data; at best ``look`` where a
    simpler model is better; bad for noise.
    """
    model, frame, known = found.model, found.validation, found.recording.known
    place = {name: findings["prediction"].values[name] for name in ("role", "kind", "steps")}
    row = row_of(frame, **place, sampling=INCOMING)
    if row["rrse"] is None:
        row = row_of(frame, **place)
    errors = frame[(frame["role"] == place["role"]) & (frame["record"] == ALL)]["rrse"].dropna()
    noise = bool(len(errors) and errors.min() >= NOISE)
    statuses: dict[str, Status] = {}
    for name, finding in findings.items():
        if name in ("prediction", "gap", "free_run_residuals", "test-range"):
            statuses[name] = finding.status
        elif finding.status == "bad" and (name not in OF_MODEL or name.startswith("against")):
            statuses[name] = "look" if name in OF_MODEL else "bad"
    status = worst(*statuses.values())
    signals = np.vstack([np.column_stack([record.u, record.y]) for record in known])
    ranges = np.column_stack([signals.min(axis=0), signals.max(axis=0)]).tolist()
    values = {
        **place,
        **{name: row[name] for name in ("rrse", "rmse", "max_error")},
        "ranges": dict(zip((*model.inputs, model.output), ranges, strict=True)),
        "units": dict(model.units),
        **{"output": model.output, "noise": noise},
        "diverged": findings["prediction"].values["diverged"],
        "because": [name for name, of in statuses.items() if of == status != "fine" and name != "prediction"],
    }
    return Finding("to_predict", "bad" if noise else status, values)


def _to_read(identification: "Identification", findings: Mapping[str, Finding], is_noise: bool) -> Finding:
    """Return whether the terms of a model tell something about the process.

    Fine if nothing makes doubt of the structure and no terms are exchangeable; for an exact model if none of its terms
    is rounding and none could be another. Bad if less than half of the terms are more probable than not, and for noise.
    """
    certainty, terms = identification.certainty, identification.model.terms
    superfluous = findings["exact"].values["superfluous"] if "exact" in findings else []
    inside, outside = {}, {}
    for term, probability in certainty.probabilities.items():
        if term in terms and term not in superfluous:
            inside[term] = probability
        elif term not in terms and probability >= LIKELY:
            outside[term] = probability
    groups = [group._asdict() for group in certainty.groups if sum(group.probabilities) >= LIKELY]
    n_likely = sum(probability >= LIKELY for probability in inside.values())
    values = {
        "missing": certainty.missing,
        "samples": certainty.samples,
        "probability": certainty.probability,
        "probabilities": inside,
        "likely": n_likely,
        "outside": outside,
        "groups": groups,
        "doubts": [doubt.kind for doubt in certainty.doubts],
        "likelier_noise": _likelier_noise(identification),
        "alike": [list(pair) for pair in identification.alike],
        "superfluous": superfluous,
        "noise": is_noise,
        "weak": [row["term"] for row in identification.weights if row["t"] is not None and abs(row["t"]) < 2],
        "resampled": _resampled(identification),
    }
    is_doubtful = bool(superfluous or certainty.doubts or groups or outside) or n_likely < len(inside)
    if certainty.missing:
        is_doubtful = bool(superfluous or identification.alike) or certainty.missing != EXACT
    status: Status = "look" if is_doubtful else "fine"
    if is_noise or 2 * n_likely < len(inside):
        status = "bad"
    return Finding("to_read", status, values)


def _likelier_noise(identification: "Identification") -> str | None:
    """Return the name of a noise model of another kind than that of the model that is clearly more likely."""
    for doubt in identification.certainty.doubts:
        if doubt.kind == "likelier_noise" and doubt.values["noise_model"] != identification.model.noise_model:
            return str(doubt.values["noise_model"])
    return None


def _resampled(identification: "Identification") -> dict[str, Any] | None:
    """Return how many terms searches of resampled data find again; None where there are no such searches."""
    if not identification.structures_made:
        return None
    threshold = identification.structures_made["threshold"]
    often = set(frequent_terms(identification.selection, threshold))
    return {
        "searches": identification.structures_made["searches"],
        "threshold": threshold,
        "kept": sum(term in often for term in identification.model.terms),
        "terms": len(identification.model.terms),
        "outside": sorted(often - set(identification.model.terms)),
    }


def _to_control(found: "Identification", findings: Mapping[str, Finding], predicts: Status) -> Finding:
    """No better than to predict; bad without a stable rest in the middle of the inputs; at best ``look`` where the
    static curve is not single and stable, changes its direction, or misses the rests of the data.
    """
    model = found.model
    u = np.median(np.concatenate([record.u for record in found.recording.known]), axis=0).tolist()
    inputs, rests = dict[str, dict[str, Any]](), list[FixedPoint | None]()
    for i, name in enumerate(model.inputs):
        if i in derived(model.inputs):
            continue
        rest, gain, turns = _gain([point for point in found.curve if point.signal == name], u[i])
        lags = [lag for monomial in model.monomials for signal, lag in monomial if signal == INPUT + i]
        delay = min(lags) * model.decimation if lags else None
        inputs[name] = {"at": rest.u if rest and not inputs else u[i], "gain": gain, "turns": turns, "delay": delay}
        rests.append(rest)
    known, rest = findings.get("static"), rests[0]
    values = {
        **{"inputs": inputs, "units": dict(model.units), "output": model.output, "predicts": predicts},
        **{name: rest and getattr(rest, name) for name in ("y", "eigenvalue", "settling_steps")},
        **{"decimation": model.decimation, "period": model.sampling_time},
        "rests": known.values["rests"] if known else 0,
        **{name: findings["fixed_points"].values[name] for name in ("cases", "at_rest", "several")},
    }
    doubtful = findings["fixed_points"].status != "fine" or any(of["turns"] for of in inputs.values())
    own: Status = "bad" if None in rests else "look" if doubtful else known.status if known else "fine"
    return Finding("to_control", worst(own, predicts), values)


def _gain(curve: Sequence[FixedPoint], u: float) -> tuple[FixedPoint | None, float | None, bool]:
    """Return the stable rest of a static curve nearest to an input, the slope there, and whether the slope changes its
    sign somewhere; None where the model does not rest there.
    """
    stable = [(p.u, p.y, p) for p in curve if p.u is not None and p.y is not None and p.stable and p.inside]
    level = min((p.u for p in curve if p.u is not None), key=lambda value: abs(value - u), default=None)
    at, y, rest = next((point for point in stable if point[0] == level), (0.0, 0.0, None))
    if rest is None:
        return None, None, False
    near = sorted(sorted(stable, key=lambda of: (abs(of[0] - at), abs(of[1] - y)))[:3], key=lambda of: of[0])
    width = near[-1][0] - near[0][0]
    ways = {after > before for (_, before, _), (_, after, _) in pairwise(stable) if after != before}
    single = len({of[0] for of in stable}) == len(stable)
    return rest, significant((near[-1][1] - near[0][1]) / width) if width else None, single and len(ways) > 1


def _exact(frame: pd.DataFrame, weights: Sequence[Mapping[str, Any]]) -> Finding | None:
    rrse = row_of(frame, "estimation", ONE_STEP, 1).get("rrse")
    if rrse is None or rrse**2 > ROUNDING:
        return None
    nothing = [weight["term"] for weight in weights if weight["err"] <= ROUNDING]
    return Finding("exact", "look" if nothing else "fine", {"rrse": rrse, "superfluous": nothing})


def _graded(value: float, fine: float, look: float) -> Status:
    return "fine" if value <= fine else "look" if value <= look else "bad"


def _prediction(model: Model, frame: pd.DataFrame, role: str) -> Finding:
    kind, steps = decisive(model, frame)
    row, incoming = row_of(frame, role, kind, steps), row_of(frame, role, kind, steps, sampling=INCOMING)
    runs = frame[(frame["role"] == role) & (frame["model"] == MODEL) & (frame["kind"] == FREE_RUN)]
    diverged = runs[runs["diverged"].astype(bool) & (runs["record"] != ALL)]["record"].unique().tolist()
    values = {
        **{"role": role, "kind": kind, "steps": steps, "decimation": model.decimation, "diverged": diverged},
        **{"free_run": row_of(frame, role, FREE_RUN)["rrse"], "incoming": incoming["rrse"]},
        **{name: row[name] for name in (*FIGURES, "samples")},
        "small": row["rrse"] is not None and row["rrse"] <= FREE_RUN_FINE,
    }
    status: Status = "look"
    if diverged:
        status = "bad" if model.n_inputs else "look"
    elif row["rrse"] is not None:
        status = _graded(row["rrse"], FREE_RUN_FINE, FREE_RUN_LOOK)
        # What the model was made with is no proof.
        status = "look" if status == "fine" and role != "test" else status
    return Finding("prediction", status, values)


def _against(
    model: Model, frame: pd.DataFrame, role: str, kind: str, steps: int | None, baseline: str
) -> Finding | None:
    own, simple = (row_of(frame, role, kind, steps, model=name).get("rrse") for name in (MODEL, baseline))
    if own is None and simple is None:
        return None
    values = {"role": role, "kind": kind, "steps": steps, "rrse": own, "baseline": simple}
    values["degree"] = max(map(len, model.monomials))
    status: Status = "fine"
    if own is None:
        status = "bad"
    elif simple is not None and own > BETTER * simple:
        status = "bad" if own > WORSE * simple and own - simple > CLOSE else "look"
    return Finding(f"against_{baseline.lower().replace(' ', '_')}", status, values)


def _gap(model: Model, frame: pd.DataFrame, roles: Sequence[str]) -> Finding | None:
    if roles[0] != "test" or len(roles) == 1:
        return None
    kind, steps = decisive(model, frame)
    new, old = (row_of(frame, role, kind, steps)["rrse"] for role in roles[:2])
    if new is None or old is None:
        return None
    values = {"test": new, "seen": old, "role": roles[1], "kind": kind, "steps": steps}
    return Finding("gap", _graded(new, max(GAP_FINE * old, old + GAP_SMALL), GAP_LOOK * old), values)


def _residuals(tests: Sequence[CorrelationTest], kind: str, free_run: float | None) -> Finding | None:
    own = [test for test in tests if test.kind == kind]
    if not own:
        return None
    ordered = sorted(own, key=lambda test: -abs(test.worst))
    failed = [test for test in ordered if not test.passed]
    values: dict[str, Any] = {
        "tests": len(own),
        "failed": [{"name": t.name, "title": t.title, "worst": t.worst, "lag": t.worst_lag} for t in failed],
        **{"largest": ordered[0].worst, "limit": own[0].limit},
        "outside": sum(abs(value) > test.band for test in own for value in test.values),
        "coefficients": sum(len(test.values) for test in own),
    }
    status = _graded(abs(failed[0].worst), CORRELATION_SMALL, CORRELATION_LARGE) if failed else "fine"
    if status == "bad" and free_run is not None:
        # What a good free run does not show is to be looked at, no more.
        status, values["free_run"] = "look", free_run
    return Finding(f"residuals_{kind}", status, values)


def _fixed_points(model: Model, curve: Sequence[FixedPoint]) -> Finding | None:
    if not curve:
        return None
    places = dict.fromkeys((point.signal, point.u) for point in curve)
    stable = Counter((point.signal, point.u) for point in curve if point.stable and point.inside)
    settling = [p.settling_steps for p in curve if p.inside and p.settling_steps is not None]
    values: dict[str, Any] = {"cases": len(places), "at_rest": len(stable)}
    values["several"] = sum(count > 1 for count in stable.values())
    values |= {"settling_steps": max(settling, default=None), "points": None}
    if not model.n_inputs:
        values["points"] = [[p.y, p.stable] for p in curve if p.y is not None and p.inside]
        return Finding("fixed_points", "fine", values)
    everywhere = values["at_rest"] == values["cases"] and not values["several"]
    # Half of the working points unstable, or none found: what the data do there the model does not.
    mostly = 2 * values["at_rest"] >= values["cases"]
    return Finding("fixed_points", "fine" if everywhere else "look" if mostly else "bad", values)


def _rests(rests: Sequence[Rest]) -> Finding | None:
    if not rests:
        return None
    deviations = [rest.deviation for rest in rests if rest.deviation is not None]
    without, largest = len(rests) - len(deviations), max(deviations, default=None)
    fine = not without and largest is not None and largest <= STATIC_FINE
    return Finding("static", "fine" if fine else "look", {"rests": len(rests), "without": without, "largest": largest})
