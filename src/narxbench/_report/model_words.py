"""Findings on a model in words: its predictions, its residuals and its rests."""

from narxbench._identification.finding import Finding
from narxbench._identification.trust.verdicts import CORRELATION_SMALL
from narxbench._report.phrases import Phrase, Setting, Values, first_of, how_predicted, unit_of, unless_fine


def _prediction(finding: Finding, setting: Setting) -> tuple[str, str]:
    values, role = finding.values, finding.values["role"]
    data = f"the {role} data" + ("" if role == "test" else ", which the model was made with")
    alternatives = f"another decimation (now {values['decimation']}), other {setting('y_lags')} and "
    alternatives += f"{setting('u_lags')}, or another degree"
    if values["diverged"]:
        return _divergence(values, data), f"Try fewer terms (a lower degree, fewer lags), {alternatives}."
    if values["rrse"] is None:
        text = f"There is nothing to judge the model by: {data} are constant or shorter than the initial samples."
        return text, "Give longer records."
    text = f"{how_predicted(values).capitalize()} the model misses {100 * values['rrse']:.3g} % of the standard "
    text += f"deviation of {data} (RRSE {values['rrse']:.3g}, fit {values['fit_percent']:.3g} %"
    advice = [] if values["small"] else [f"Try {alternatives}."]
    if role != "test":
        keep = f"Keep data for a test ({setting('test')}): nothing here tells how the model does on new data."
        advice.insert(0, keep)
    return f"{text}).", " ".join(advice)


def _divergence(values: Values, data: str) -> str:
    """Return on which records the free run diverges."""
    diverged = values["diverged"]
    text = f"The free run diverges on {len(diverged)} of the records of {data}: {', '.join(diverged)}"
    if values["decimated"] is None or values["decimation"] == 1:
        return f"{text}."
    return f"{text} (only at the incoming sampling; at its own RRSE {values['decimated']:.3g})."


def _exact(finding: Finding, _: Setting) -> tuple[str, str]:
    text = "The model is exact: what it leaves of the data one step ahead is rounding."
    superfluous = finding.values["superfluous"]
    if not superfluous:
        return text, ""
    terms = f"Below rounding is also what these terms contribute: {first_of(superfluous)}."
    return f"{text} {terms}", "Leave these terms out."


def _free_run_residuals(finding: Finding, _: Setting) -> tuple[str, str]:
    values, unit = finding.values, unit_of(finding.values, "unit")
    biases = []
    for name, direction in (("rising", "rises"), ("falling", "falls")):
        error = values[name]["error"]
        if values[name]["seen"]:
            side = "low" if error > 0 else "high"
            biases.append(
                f"The model is systematically {side} where the output {direction}, by {abs(error):.3g}{unit}."
            )
    if values["drift"]["seen"]:
        biases.append(f"From beginning to end the error drifts by {values['drift']['error']:+.3g}{unit}.")
    data = f"on the {values['role']} data (error {values['rms']:.3g}{unit} rms)"
    if not biases:
        return f"No bias is seen where the output rises or falls, nor as time passes, {data}.", ""
    advice = "The dynamics differ by direction or drift: try other lags or a higher degree."
    return f"{' '.join(biases)} That is {data}.", advice


def _against(simpler: str, advice: str) -> Phrase:
    """Return the words of the comparison with a simpler model; the advice may have a place for ``degree``."""

    def words(finding: Finding, setting: Setting) -> tuple[str, str]:
        rrse, baseline = finding.values["rrse"], finding.values["baseline"]
        how = f"{how_predicted(finding.values)} on the {finding.values['role']} data"
        if baseline is None:
            return f"The model has RRSE {rrse:.3g} {how}; {simpler} diverges.", ""
        if rrse is None:
            text = f"The model diverges {how}; {simpler} has RRSE {baseline:.3g}."
            return text, "Try a lower degree or fewer lags."
        text = f"RRSE {rrse:.3g} against {baseline:.3g} of {simpler}, {how}."
        is_linear_already = finding.values["degree"] == 1 and "{degree}" in advice
        if finding.status == "fine" or is_linear_already:
            return text, ""
        return text, advice.format(degree=setting("degree", 1))

    return words


def _gap(finding: Finding, _: Setting) -> tuple[str, str]:
    values = finding.values
    text = f"RRSE {values['test']:.3g} on the test data, {values['seen']:.3g} on the {values['role']} data"
    advice = "It fits its own data better than new ones: try fewer terms (a lower degree, fewer lags) or more data."
    return f"{text}, {how_predicted(values)}.", unless_fine(finding, advice)


def _residuals(finding: Finding, setting: Setting) -> tuple[str, str]:
    values, failed, limit = finding.values, finding.values["failed"], finding.values["limit"]
    share = f"{values['outside']} of {values['coefficients']} coefficients lie beyond the 95 % band"
    if not failed:
        largest = f"the largest correlation is {values['largest']:.2g} (limit {limit:.2g})"
        return f"All {values['tests']} pass: {largest}; {share}.", ""
    tests = "; ".join(f"{test['title']}: {test['worst']:.2g} at lag {test['lag']}" for test in failed)
    text = f"{len(failed)} of {values['tests']} fail (limit {limit:.2g}): {tests}; {share}."
    if finding.status == "fine":
        most = f"{100 * CORRELATION_SMALL**2:.0f} %"
        return f"{text} That is at most {most} of their variance: only many samples show it.", ""
    if "free_run" in values:
        text += f" One step ahead they are correlated, but the free run is good (RRSE {values['free_run']:.3g})."
    if finding.name == "residuals_nonlinear":
        lags = f"{setting('y_lags')} and {setting('u_lags')}"
        return text, f"Terms are missing: try a higher degree, or lags in {lags} that were left out."
    text += " Correlated residuals do not spoil a free run, but they bias the weights."
    return text, _advice_on_lags(values, setting)


def _advice_on_lags(values: Values, setting: Setting) -> str:
    """Return which lags to try by the linear tests that failed."""
    advice = []
    if any(test["name"] == "phi_xixi" for test in values["failed"]):
        advice.append(f"Try more {setting('y_lags')}.")
    with_inputs = [test["lag"] for test in values["failed"] if test["name"] != "phi_xixi"]
    if any(lag >= 0 for lag in with_inputs):
        advice.append(f"Try {setting('u_lags')} that reach the lags of the input.")
    if any(lag < 0 for lag in with_inputs):
        advice.append("At a negative lag the input follows the residual: is there feedback from output to input?")
    return " ".join(advice)


def _fixed_points(finding: Finding, _: Setting) -> tuple[str, str]:
    values, advice = finding.values, []
    if values["points"] is not None:
        points = ", ".join(f"{y:.3g} ({'stable' if stable else 'unstable'})" for y, stable in values["points"])
        return f"Fixed points of the model within the measured range: {points or 'none'}.", ""
    where = f"{values['at_rest']} of {values['cases']} constant inputs over their range"
    text, slowest = f"At {where} the model rests within the measured outputs", values["settling_steps"]
    text += "." if slowest is None else f", after at most about {slowest:.3g} steps."
    if values["at_rest"] < values["cases"]:
        advice.append(
            "Elsewhere it leaves the data or does not settle: do not use it there unless the process does so too. "
            "Try a lower degree, or records that dwell at such inputs."
        )
    if values["several"]:
        text += (
            f" At {values['several']} of them it has several stable outputs: where it ends depends on where it starts."
        )
        advice.append("If the process has one output for each input, try a lower degree.")
    return text, " ".join(advice)


def _static(finding: Finding, _: Setting) -> tuple[str, str]:
    values = finding.values
    text = f"The data rest {values['rests']} times at constant inputs."
    if values["largest"] is not None:
        text += f" The model's own rest is at most {100 * values['largest']:.2g} % of the output's range away."
    if values["without"]:
        text += f" At {values['without']} of them the model has no stable output."
    advice = "Try another degree, or records that dwell at more inputs."
    return text, unless_fine(finding, advice)


# Words by the name of the finding.
MODEL_WORDS: dict[str, Phrase] = {
    "prediction": _prediction,
    "exact": _exact,
    "free_run_residuals": _free_run_residuals,
    "against_linear_arx": _against(
        "linear ARX of the same lags",
        "The nonlinear terms do not pay here: take a linear model ({degree}), or try other lags or decimation.",
    ),
    "against_last_value": _against(
        "repeating the last value", "Neighbouring samples are nearly equal: try a larger decimation."
    ),
    "gap": _gap,
    "residuals_linear": _residuals,
    "residuals_nonlinear": _residuals,
    "fixed_points": _fixed_points,
    "static": _static,
}
