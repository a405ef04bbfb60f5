"""The check of the errors of a model on the data that say most: small, worth a look, or bad."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from narxbench._identification.finding import Finding, Status, graded, look_if, worst
from narxbench._identification.phrases import Values, capital, first_of, how_predicted, percent, unit_of
from narxbench._identification.search.scores import NEGLIGIBLE
from narxbench._identification.validation.error_table import (
    ALL,
    ARX,
    DECIMATED,
    FIGURES,
    FREE_RUN,
    LAST_VALUE,
    MODEL,
    ONE_STEP,
    decisive,
    row_of,
)
from narxbench._io.words import listed
from narxbench._model.narx import Model
from narxbench._numerics.rounding import significant

# A free run that misses at most 25 % of the output's standard deviation follows every movement by eye. At 60 % a third
# of the variance is missed, visibly. Beyond that a mean does nearly as well. The part of an error
# that could be avoided is judged likewise.
FREE_RUN_FINE, FREE_RUN_LOOK = 0.25, 0.6
# A tenth of how far a signal spreads is little. A test whose output moves by less is at rest, so its errors are judged
# by the deviation in the other data. Errors that drift by less are no reason to look (benchmarks/verdicts.md). A
# correlation of a tenth predicts 1 % of the variance, which does not matter even if many samples show it. Steady states
# may be a tenth of the range off, about the least that is seen in the figure of the static curve.
LITTLE = 0.1
# Where neither the model nor a simpler one explains a tenth of the variance, the output looks like noise.
NOISE = math.sqrt(1.0 - LITTLE)
# A verdict "fine" promises that the error on similar data is at most this many times the error on the test
# (benchmarks/verdicts.md). Likewise, the error on the test may be this many times the one on the known data: a model
# whose error grows by more fits noise, unless the increase of the RRSE is small in itself.
PROMISE = 2.0


def errors_check(
    model: Model,
    frame: pd.DataFrame,
    roles: Sequence[str],
    checks: Sequence[Finding] = (),
    weights: Sequence[Mapping[str, Any]] = (),
    avoidable: float | None = None,
    horizon: int | None = None,
    seasons: Sequence[int] = (),
    *,
    holds: bool = True,
) -> Finding:
    """Judge the errors of a model.

    ``roles`` are the roles in the frame, the one that says most of new data first. The other parameters are as for
    :func:`narxbench._identification.validation.verdicts.summary`.
    """
    kind, steps = decisive(model, frame, horizon)
    role = roles[0]
    row = row_of(frame, role, kind, steps)
    # Errors in another unit do not count where there are other data to judge the model by.
    other_unit = "" if len(roles) == 1 or _is_small(row["rrse"]) else _suspected_unit(checks)
    if avoidable is not None:
        avoidable = max(avoidable, _avoided_by_simple_models(frame, role, kind, steps))
    free_run = row_of(frame, role, FREE_RUN)["rrse"]
    relative, rests = _relative_error(frame, roles, row, kind, steps)
    if other_unit:
        relative, rests, avoidable = row["rrse"], False, None
    superfluous = _superfluous(frame, weights)
    values = {
        "role": role,
        "kind": kind,
        "steps": steps,
        "horizon": horizon,
        "decimation": model.decimation,
        "diverged": _diverged_records(frame, role),
        "free_run": free_run,
        "decimated": row_of(frame, role, FREE_RUN, sampling=DECIMATED)["rrse"],
        **{name: row[name] for name in (*FIGURES, "samples")},
        "small": _is_small(relative),
        "rests": rests,
        "relative": relative,
        "avoidable": avoidable,
        "other_unit": other_unit,
        "exact": superfluous is not None,
        "superfluous": superfluous or [],
        "holds": holds,
        "seasons": list(seasons),
    }
    status = _prediction_status(model, values, has_diverged=bool(row["diverged"]))
    if other_unit and status == "bad":
        # A mistaken unit makes any model bad: what remains is how bad this one is on the other data.
        status = worst("look", _status_on_known(frame, roles, kind, steps))
    gap = None if rests else _gap(model, frame, roles, kind, steps)
    # The answer to predict depends on the error alone.
    values |= {"error_status": status, "gap": gap}
    is_gap = gap is not None and gap["status"] != "fine"
    return Finding("errors", worst(status, "look" if is_gap else "fine"), values, *errors_text(values))


def errors_text(values: Values) -> tuple[str, str]:
    """Return the sentences and the advice of :func:`errors_check`."""
    role = values["role"]
    data, how = f"the {role} data", capital(how_predicted(values))
    gap, advice = values["gap"], ""
    texts = []
    if values["diverged"]:
        texts.append(_divergence(values, data))
    elif values["rests"]:
        relative = percent(values["relative"])
        texts.append(
            f"The output hardly moves in {data}: {how_predicted(values)} the error is {relative} of its standard "
            "deviation in the other data."
        )
    elif values["rrse"] is None:
        texts.append(f"The model cannot be judged: {data} are constant or shorter than its initial samples.")
        advice = "Record more samples."
    else:
        text = f"{how} the error is {percent(values['rrse'])} of the standard deviation of {data}"
        texts.append(text + (f"{_known_error(gap)}." if gap else "."))
    if values["avoidable"] is not None and not values["small"]:
        texts.append(f"A better model could avoid {percent(values['avoidable'])} of the squared error.")
    if values["exact"]:
        texts.append("The model is exact: its errors one step ahead are those of rounding.")
    if not values["holds"]:
        texts.append("Over whole records the free run of every structure is much worse than over their parts.")
    if gap and gap["status"] != "fine":
        advice = "If the process did not change before the test, record more data: the model fits noise."
    return " ".join([*texts, *_why_so_far(values)]), advice


def _known_error(gap: Values) -> str:
    """Return the error on the data that the model was made with, in the unit of the output where it is much less."""
    text = f", and {percent(gap['seen'])} on the {gap['role']} data"
    if gap["status"] == "fine":
        return text
    return f"{text} (rms {gap['test_rmse']:.3g} against {gap['seen_rmse']:.3g}{unit_of(gap, 'unit')})"


def _why_so_far(values: Values) -> list[str]:
    """Return why a series is judged as far ahead as it is, unless the user chose that."""
    if values["kind"] == FREE_RUN or values["horizon"] is not None:
        return []
    if not values["seasons"]:
        return ["Its values are correlated for that long."]
    return [f"The output repeats itself after {listed(list(map(str, values['seasons'])))} samples."]


def _divergence(values: Values, data: str) -> str:
    """Return on which records the free run diverges."""
    diverged = values["diverged"]
    text = f"The free run diverges on {len(diverged)} of the records of {data}: {first_of(diverged)}"
    if values["decimated"] is None or values["decimation"] == 1:
        return f"{text}."
    return f"{text} (only at the sampling of the data; at its own the RRSE is {values['decimated']:.3g})."


def _prediction_status(model: Model, values: Mapping[str, Any], *, has_diverged: bool) -> Status:
    """Judge the errors of a model. ``has_diverged`` is of predictions as far ahead as they are judged."""
    if values["diverged"]:
        # Of a series, and where a horizon is set, only predictions that far ahead must stay finite.
        return "bad" if values["kind"] == FREE_RUN or has_diverged else "look"
    if values["relative"] is None:
        return "look"
    # Neither data that the model was made with nor a test that hardly moves are a proof.
    is_lost = values["horizon"] is None and _loses_its_way(model, values["free_run"])
    is_proven = values["role"] == "test" and not values["rests"] and not is_lost
    return worst(_status_of_error(values["relative"], values["avoidable"]), "fine" if is_proven else "look")


def _status_on_known(frame: pd.DataFrame, roles: Sequence[str], kind: str, steps: int | None) -> Status:
    """Return the status by the error on the data that say most of new data after the test."""
    rrse = row_of(frame, roles[1], kind, steps)["rrse"]
    return "bad" if rrse is None else _status_of_error(rrse, None)


def _avoided_by_simple_models(frame: pd.DataFrame, role: str, kind: str, steps: int | None) -> float:
    """Return the share of the mean squared error of the model that a simpler one does not make, 0 for none."""
    errors = [row_of(frame, role, kind, steps, model=name).get("rrse") for name in (MODEL, ARX, LAST_VALUE)]
    if not errors[0]:
        return 0.0
    least = min(error for error in errors if error is not None)
    return significant(1.0 - (least / errors[0]) ** 2)


def _loses_its_way(model: Model, free_run: float | None) -> bool:
    """Return whether a series is good for some steps ahead only: its free run is not, or diverges."""
    return not model.n_inputs and (free_run is None or free_run > FREE_RUN_LOOK)


def _is_small(rrse: float | None) -> bool:
    return rrse is not None and rrse <= FREE_RUN_FINE


def _status_of_error(relative: float, avoidable: float | None) -> Status:
    """Judge an error relative to the deviation of the output. Noise that no model can foresee deserves a look."""
    status = graded(relative, FREE_RUN_FINE, FREE_RUN_LOOK)
    if status != "bad" or avoidable is None or relative >= NOISE:
        return status
    # The error that a better model could avoid, relative to the deviation of what can be foreseen at all.
    foreseeable = 1.0 - relative**2 * (1.0 - avoidable)
    return "look" if relative**2 * avoidable <= FREE_RUN_LOOK**2 * foreseeable else "bad"


def _suspected_unit(checks: Sequence[Finding]) -> str:
    """Return the name of a signal that the model uses whose unit in the test may be another one, or "" for none."""
    for check in checks:
        if check.name == "test-range":
            for column, about in check.values.items():
                if about["used"] and about["unit"]:
                    return str(column)
    return ""


def _relative_error(
    frame: pd.DataFrame, roles: Sequence[str], row: Mapping[str, Any], kind: str, steps: int | None
) -> tuple[float | None, bool]:
    """Return the error relative to the deviation of the output, and whether the output rests in these data.

    At rest it is the deviation in the data that the weights come from.
    """
    rms, rrse = row["rmse"], row["rrse"]
    known_row = row_of(frame, roles[-1], kind, steps)
    if rms is None or not known_row.get("rrse") or row["role"] == roles[-1]:
        return rrse, False
    known_deviation = known_row["rmse"] / known_row["rrse"]
    deviation = rms / rrse if rrse else 0.0
    if rrse == 0 or deviation >= LITTLE * known_deviation:
        return rrse, False
    return rms / known_deviation, True


def _diverged_records(frame: pd.DataFrame, role: str) -> list[str]:
    """Return the names of the records on which the free run of the model diverges."""
    runs = frame[(frame["role"] == role) & (frame["model"] == MODEL) & (frame["kind"] == FREE_RUN)]
    names: list[str] = runs[runs["diverged"].astype(bool) & (runs["record"] != ALL)]["record"].unique().tolist()
    return names


def _gap(
    model: Model, frame: pd.DataFrame, roles: Sequence[str], kind: str, steps: int | None
) -> dict[str, Any] | None:
    """Return the errors on new and on known data, and whether the new ones are too large for these."""
    if roles[0] != "test" or len(roles) == 1:
        return None
    new, old = row_of(frame, roles[0], kind, steps), row_of(frame, roles[1], kind, steps)
    if new["rrse"] is None or old["rrse"] is None:
        return None
    values = {
        **{"test": new["rrse"], "seen": old["rrse"], "test_rmse": new["rmse"], "seen_rmse": old["rmse"]},
        **{"role": roles[1], "unit": model.units.get(model.output, "")},
    }
    # Where the output spreads less in the test, the same error has a larger RRSE.
    in_test = old["rmse"] * (new["rrse"] / new["rmse"]) if new["rmse"] else 0.0
    least = max(old["rrse"], in_test)
    is_gap = new["rrse"] > max(PROMISE * least, least + NEGLIGIBLE)
    return {**values, "status": look_if(is_gap)}


def _superfluous(frame: pd.DataFrame, weights: Sequence[Mapping[str, Any]]) -> list[str] | None:
    """Return the terms of an exact model that are rounding, or None where the model is not exact."""
    rrse = row_of(frame, "estimation", ONE_STEP, 1).get("rrse")
    rounding = float(np.finfo(np.float64).eps)
    if rrse is None or rrse**2 > rounding:
        return None
    return [weight["term"] for weight in weights if weight["err"] <= rounding]
