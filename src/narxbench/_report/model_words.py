"""Findings on a model in words: its predictions, its residuals and its rests."""

from narxbench._identification.finding import Finding
from narxbench._identification.trust.validation import FREE_RUN
from narxbench._identification.trust.verdicts import CORRELATION_SMALL
from narxbench._io.words import listed
from narxbench._report.phrases import (
    Phrase,
    Setting,
    Values,
    capital,
    count_terms,
    first_of,
    how_predicted,
    percent,
    unit_of,
)


def _errors(finding: Finding, _: Setting) -> tuple[str, str]:
    values, role = finding.values, finding.values["role"]
    data, how = f"the {role} data", capital(how_predicted(values))
    gap, advice = values["gap"], ""
    texts = []
    if values["diverged"]:
        texts.append(_divergence(values, data))
    elif values["rests"]:
        relative = percent(values["relative"])
        texts.append(
            f"The output rests in {data}: {how_predicted(values)} the error is {relative} of its deviation before."
        )
    elif values["rrse"] is None:
        texts.append(
            f"There is nothing to judge the model by: {data} are constant or shorter than the initial samples."
        )
        advice = "Give longer records."
    else:
        text = f"{how} the error is {percent(values['rrse'])} of the standard deviation of {data}"
        texts.append(text + (f"{_known_error(gap)}." if gap else "."))
    if values["avoidable"] is not None and not values["small"]:
        texts.append(f"A better model could avoid {percent(values['avoidable'])} of the squared error.")
    if values["exact"]:
        texts.append("The model is exact: what it leaves of the data one step ahead is rounding.")
    if not values["holds"]:
        texts.append("Over whole records the free run of every structure is much worse than over their parts.")
    if gap and gap["status"] != "fine":
        advice = "Record more data, to fit less of their noise."
    return " ".join([*texts, *_why_so_far(values)]), advice


def _known_error(gap: Values) -> str:
    """Return the error on the data that the model was made with, in the unit of the output where it is much less."""
    text = f", and {percent(gap['seen'])} on the {gap['role']} data"
    if gap["status"] == "fine":
        return text
    return f"{text} ({gap['test_rmse']:.3g} for {gap['seen_rmse']:.3g}{unit_of(gap, 'unit')} rms)"


def _why_so_far(values: Values) -> list[str]:
    """Return why a series is judged as far ahead as it is; nothing where the user said how far."""
    if values["kind"] == FREE_RUN or values["horizon"] is not None:
        return []
    if not values["seasons"]:
        return ["That is how long its values depend on one another."]
    return [f"The output repeats itself after {listed(list(map(str, values['seasons'])))} samples."]


def _divergence(values: Values, data: str) -> str:
    """Return on which records the free run diverges."""
    diverged = values["diverged"]
    text = f"The free run diverges on {len(diverged)} of the records of {data}: {first_of(diverged)}"
    if values["decimated"] is None or values["decimation"] == 1:
        return f"{text}."
    return f"{text} (only at the incoming sampling; at its own RRSE {values['decimated']:.3g})."


def _competitors(finding: Finding, _: Setting) -> tuple[str, str]:
    values, texts = finding.values, []
    for about, name in ((values["linear_arx"], "linear ARX"), (values["last_value"], "the last value")):
        if about is None:
            continue
        season = about.get("season")
        simpler = name if season is None else f"the value {season} samples before"
        how = f"{capital(how_predicted(about))} on the {about['role']} data"
        texts.append(f"{how} the model has RRSE {_error(about['rrse'])}, {simpler} {_error(about['baseline'])}.")
    return " ".join([*texts, *_simple_model(values)]), ""


def _error(rrse: float | None) -> str:
    return "none, for it diverges" if rrse is None else f"{rrse:.3g}"


def _simple_model(values: Values) -> list[str]:
    """Return why a simple model was taken in place of the sparse one, and the equation of that; nothing else."""
    if values["leaving"] == "sparse":
        return []
    sparse, *_ = values["rows"]
    taken = next(row for row in values["rows"] if row["name"] == values["leaving"])
    name = "ahead" if "ahead" in taken and "ahead" in sparse else "rrse"
    text = f"The {taken['name']} model ({count_terms(taken['terms'])}) is taken: on parts that the weights do not know "
    text += f"its RRSE is {_error(taken[name])}, that of the sparse model ({count_terms(sparse['terms'])}) "
    return [f"{text}{_error(sparse[name])}: {values['sparse']}."]


def _residuals(finding: Finding, _: Setting) -> tuple[str, str]:
    values, bias = finding.values, finding.values["free_run"]
    texts = [_correlated(values[kind], kind) for kind in ("linear", "nonlinear") if values[kind]]
    texts = [text for text in texts if text] or ["All correlation tests one step ahead pass."]
    return " ".join([*texts, *(_biases(bias) if bias else [])]), ""


def _biases(values: Values) -> list[str]:
    """Return where the errors of free runs have a bias."""
    unit, biases = unit_of(values, "unit"), []
    for name, direction in (("rising", "rises"), ("falling", "falls")):
        error = values[name]["error"]
        if values[name]["seen"]:
            side = "low" if error > 0 else "high"
            biases.append(f"In free run the model is {side} where the output {direction}, by {abs(error):.3g}{unit}.")
    if values["drift"]["seen"]:
        biases.append(f"From beginning to end its error drifts by {values['drift']['error']:+.3g}{unit}.")
    return biases


def _correlated(values: Values, kind: str) -> str:
    """Return which correlation tests of one kind fail; "" where all pass."""
    failed = values["failed"]
    if not failed:
        return ""
    largest = failed[0]
    text = f"{len(failed)} of {values['tests']} {kind} tests one step ahead fail, most of all {largest['title']}: "
    text += f"{largest['worst']:.2g} at lag {largest['lag']} (limit {values['limit']:.2g})"
    if values["status"] == "fine":
        return f"{text}, at most {100 * CORRELATION_SMALL**2:.0f} % of their variance."
    if kind == "nonlinear":
        return f"{text}."
    return f"{text}: that biases the weights.{_feedback(values)}"


def _feedback(values: Values) -> str:
    """Return that an input follows the residual; "" where none does."""
    for test in values["failed"]:
        if test["name"] != "phi_xixi" and test["lag"] < 0:
            return " At a negative lag the input follows the residual, as under feedback from output to input."
    return ""


def _steady_states(finding: Finding, _: Setting) -> tuple[str, str]:
    values, texts, advice = finding.values, [], []
    if not values["bounded"]:
        texts.append("The model leaves all bounds where inputs are held inside their ranges, which the data do not do.")
        advice.append("Keep to inputs that move as those of the data.")
    if values["points"] is not None:
        points = ", ".join(f"{y:.3g} ({'stable' if stable else 'unstable'})" for y, stable in values["points"])
        texts.append(f"Within the measured range the model rests at {points or 'no output'}.")
    elif values["cases"]:
        texts += _rests_of_model(values)
        if values["at_rest"] < values["cases"]:
            advice.append("Record data that dwell at more inputs.")
    if values["rests"]:
        texts.append(_rests_of_data(values))
    return " ".join(texts), " ".join(advice)


def _rests_of_model(values: Values) -> list[str]:
    """Return at how many inputs a model rests within the measured outputs, and where it does not."""
    text = f"The model rests within the measured outputs at {values['at_rest']} of {values['cases']} constant inputs"
    if values["settling_steps"] is not None:
        text += f", after at most about {values['settling_steps']:.3g} steps"
    if values["beyond"]:
        text += f"; at {values['beyond']} it rests beyond them"
    texts = [f"{text}."]
    if values["several"]:
        texts.append(f"At {values['several']} inputs it has several stable outputs.")
    return texts


def _rests_of_data(values: Values) -> str:
    """Return how far the rests of a model are from those of the data."""
    text = f"The data rest {values['rests']} times"
    if values["largest"] is not None:
        text += f"; the model is at most {percent(values['largest'])} of the output's range off"
    if values["without"]:
        text += f"; at {values['without']} of them the model has no stable output"
    return f"{text}."


# Words by the name of the finding.
MODEL_WORDS: dict[str, Phrase] = {
    "errors": _errors,
    "competitors": _competitors,
    "residuals": _residuals,
    "steady_states": _steady_states,
}
