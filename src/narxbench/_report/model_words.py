"""Findings on a model in words: its predictions, its residuals and its rests."""

from narxbench._identification.finding import Finding
from narxbench._identification.trust.verdicts import CORRELATION_SMALL
from narxbench._report.phrases import Phrase, Setting, Values, first_of, how_predicted, percent, unit_of, unless_fine


def _prediction(finding: Finding, setting: Setting) -> tuple[str, str]:
    values, role = finding.values, finding.values["role"]
    data = f"the {role} data" + ("" if role == "test" else ", which the model was made with")
    advice = ""
    if role != "test":
        advice = f"Keep data for a test ({setting('test')}): nothing here tells how the model does on new data."
    if values["diverged"]:
        return _divergence(values, data), advice
    if values["rests"]:
        text = f"The output rests in {data}: {how_predicted(values)} the model misses "
        return f"{text}{100 * values['relative']:.3g} % of the standard deviation that is known of it.", ""
    if values["rrse"] is None:
        text = f"There is nothing to judge the model by: {data} are constant or shorter than the initial samples."
        return text, "Give longer records."
    text = f"{how_predicted(values).capitalize()} the model misses {100 * values['rrse']:.3g} % of the standard "
    text += f"deviation of {data} (RRSE {values['rrse']:.3g}, fit {values['fit_percent']:.3g} %"
    text += ")."
    if values["avoidable"] is not None and not values["small"]:
        text += f" {percent(values['avoidable'])} of the squared error follows from what is known in time: a better "
        text += "model could avoid that part."
    return text, advice


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
    return f"{text} Below rounding is also what these terms contribute: {first_of(superfluous)}.", ""


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
    return f"{' '.join(biases)} That is {data}.", ""


def _against_last_value(finding: Finding, setting: Setting) -> tuple[str, str]:
    season = finding.values["season"]
    simpler = "repeating the last value" if season is None else f"repeating the last season of {season} samples"
    return _against(simpler)(finding, setting)


def _against(simpler: str) -> Phrase:
    """Return the words of the comparison with a simpler model."""

    def words(finding: Finding, _: Setting) -> tuple[str, str]:
        rrse, baseline = finding.values["rrse"], finding.values["baseline"]
        how = f"{how_predicted(finding.values)} on the {finding.values['role']} data"
        if baseline is None:
            return f"The model has RRSE {rrse:.3g} {how}; {simpler} diverges.", ""
        if rrse is None:
            return f"The model diverges {how}; {simpler} has RRSE {baseline:.3g}.", ""
        return f"RRSE {rrse:.3g} against {baseline:.3g} of {simpler}, {how}.", ""

    return words


def _gap(finding: Finding, _: Setting) -> tuple[str, str]:
    values, unit = finding.values, unit_of(finding.values, "unit")
    text = f"RRSE {values['test']:.3g} on the test data (error {values['test_rmse']:.3g}{unit} rms), "
    text += f"{values['seen']:.3g} on the {values['role']} data ({values['seen_rmse']:.3g}{unit})"
    return f"{text}, {how_predicted(values)}.", unless_fine(finding, "Record more data, to fit less of their noise.")


def _residuals(finding: Finding, _: Setting) -> tuple[str, str]:
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
    if finding.name == "residuals_linear":
        text += f" Correlated residuals do not spoil a free run, but they bias the weights.{_feedback(values)}"
    return text, ""


def _feedback(values: Values) -> str:
    """Return that an input follows the residual; "" where none does."""
    for test in values["failed"]:
        if test["name"] != "phi_xixi" and test["lag"] < 0:
            return " At a negative lag the input follows the residual, as under feedback from output to input."
    return ""


def _fixed_points(finding: Finding, _: Setting) -> tuple[str, str]:
    values, advice = finding.values, []
    if values["points"] is not None:
        points = ", ".join(f"{y:.3g} ({'stable' if stable else 'unstable'})" for y, stable in values["points"])
        return f"Fixed points of the model within the measured range: {points or 'none'}.", ""
    where = f"{values['at_rest']} of {values['cases']} constant inputs over their range"
    text, slowest = f"At {where} the model rests within the measured outputs", values["settling_steps"]
    if slowest is not None:
        text += f", after at most about {slowest:.3g} steps"
    if values["beyond"]:
        text += f"; at {values['beyond']} it rests beyond them"
    text += "."
    if values["at_rest"] < values["cases"]:
        advice.append(
            "Elsewhere it leaves the data or does not settle: do not use it there unless the process does so too. "
            "Records that dwell at such inputs would show it."
        )
    if values["several"]:
        text += (
            f" At {values['several']} inputs it has several stable outputs: where it ends depends on where it starts."
        )
    return text, " ".join(advice)


def _static(finding: Finding, _: Setting) -> tuple[str, str]:
    values = finding.values
    text = f"The data rest {values['rests']} times at constant inputs."
    if values["largest"] is not None:
        text += f" The model's own rest is at most {100 * values['largest']:.2g} % of the output's range away."
    if values["without"]:
        text += f" At {values['without']} of them the model has no stable output."
    return text, unless_fine(finding, "Record longer rests at more inputs.")


# Words by the name of the finding.
MODEL_WORDS: dict[str, Phrase] = {
    "prediction": _prediction,
    "exact": _exact,
    "free_run_residuals": _free_run_residuals,
    "against_linear_arx": _against("linear ARX of the same lags"),
    "against_last_value": _against_last_value,
    "gap": _gap,
    "residuals_linear": _residuals,
    "residuals_nonlinear": _residuals,
    "fixed_points": _fixed_points,
    "static": _static,
}
