"""Notes on the search in words."""

from narxbench._identification.finding import Finding
from narxbench._identification.search.steps import CONCLUSION
from narxbench._identification.search.ties import CLEARLY_BETTER
from narxbench._io.errors import printable
from narxbench._io.words import listed
from narxbench._model.noise_models import noise_family
from narxbench._report.phrases import Phrase, Setting, count_terms


def _no_test(_: Finding, __: Setting) -> tuple[str, str]:
    helped = "the figures of the selection helped to choose the model"
    return f"No data are kept for a test: {helped}, so expect larger errors on new data.", ""


def _noise_model(finding: Finding, _: Setting) -> tuple[str, str]:
    values = finding.values
    best = []
    for row in values["best"]:
        best.append(f"{row['description']} {row['rrse']:.3g} ({count_terms(row['terms'])}, J {row['fitness']:.1f})")
    family = noise_family(values["chosen"])
    text = f"The noise is taken to be {family.words}: {values['description']}. Relative error over parts of the data "
    text += f"that the weights do not know, of the best structure under each: {', '.join(best)}. "
    text += f"J of all but NARX has {CLEARLY_BETTER:g} more. "
    if values["tied"] == 1:
        return f"{text}The lowest J is taken.", ""
    text += f"{values['tied']} structures and noise models are equally good within the scatter over the parts; of "
    return f"{text}these the one of the lowest extended BIC on all data is taken.", ""


def _competition(finding: Finding, _: Setting) -> tuple[str, str]:
    values = finding.values
    sparse = values["rows"][0]
    is_sparse = values["leaving"] == "sparse"
    how = "one step ahead" if values["kind"] == "one_step" else "in free run"
    ahead = f"{values['steps']} steps ahead" if values.get("steps", 1) > 1 else ""
    text = ""
    if not is_sparse:
        row = next(row for row in values["rows"] if row["name"] == values["leaving"])
        text = f"The {row['name']} model ({count_terms(row['terms'])}) leaves; the sparse one has "
        text += f"{count_terms(sparse['terms'])} and {_error_cost(sparse['rrse'], row['rrse'])}"
        if ahead and "ahead" in row:
            cost = _error_cost(sparse["ahead"], row["ahead"]) if "ahead" in sparse else "diverges"
            text += f" {how}, and {cost} {ahead}"
        text += f": {values['sparse']}. "
    text += f"A sparse model leaves while its relative error {how} over parts of the data that the weights do not know "
    text += f"is at most {values['limit']:g} times that of the best simple model that holds over whole records"
    if ahead:
        text += f", and its error {ahead} at most {values['limit']:g} times that of the best of those as good {how}"
    errors = [f"{row['name']} {row['rrse']:.3g} ({count_terms(row['terms'])})" for row in values["rows"]]
    text += f". {values['competitors']} simple models competed, and the errors of the best are: {', '.join(errors)}."
    if ahead:
        errors = [f"{row['name']} {row['ahead']:.3g}" for row in values["rows"] if "ahead" in row]
        text += f" Errors {ahead}: {', '.join(errors)}."
    return text, ""


def _error_cost(error: float, reference: float) -> str:
    """Return how much larger an error is than another one."""
    if reference <= error < 10 * reference:
        return f"{100 * (error / reference - 1):.0f} % more error"
    return f"an error of {error:.3g} instead of {reference:.3g}"


def _level(finding: Finding, _: Setting) -> tuple[str, str]:
    parts = []
    for row in finding.values["signals"]:
        name = printable(row["signal"])
        if row["offset"]:
            parts.append(f"{name} less {row['offset']:.15g}")
        if row["scale"] != 1.0:
            parts.append(f"{name} in units of {row['scale']:g}")
    text = "Terms are of these signals in another form, for numbers do not bear products of them as they are"
    return f"{text}: {listed(parts)}. Predictions and data stay in your own units.", ""


def _interrupted(finding: Finding, _: Setting) -> tuple[str, str]:
    step = finding.values["step"]
    if step == CONCLUSION:
        text = (
            "Stopped by Ctrl-C or SIGTERM after all searches of this model: it is complete, but for the probabilities"
        )
        return f"{text} of its terms.", ""
    text = f"Stopped by Ctrl-C or SIGTERM during the {step}: this is the best model until then"
    return f"{text}, and another run finds another.", ""


def _time_scale(finding: Finding, _: Setting) -> tuple[str, str]:
    values = finding.values
    horizon = f"the model is judged {values['steps']} steps ahead"
    if values["samples"] != values["steps"]:
        horizon += f", {values['samples']} samples"
    if not values["seasons"]:
        return f"There is no input: {horizon}, which is how long values of the output depend on one another.", ""
    seasons = listed(map(str, values["seasons"]))
    text = f"The output repeats itself after {seasons} samples: lags there are candidates, values there compete"
    return f"{text}, and {horizon}.", ""


def _whole_records(finding: Finding, _: Setting) -> tuple[str, str]:
    count, worse = finding.values["passed_over"], "much worse than over its parts, or diverges"
    if not finding.values["holds"]:
        return f"Of no structure that was looked at the free run over whole records holds: it is {worse}.", ""
    were = "structure of a lower J was" if count == 1 else "structures of a lower J were"
    return f"{count} {were} passed over: the free run over whole records is {worse}.", ""


def _outside(finding: Finding, _: Setting) -> tuple[str, str]:
    count, tried = finding.values["passed_over"], "where inputs are held inside their ranges"
    if not finding.values["bounded"]:
        text = f"The model leaves all bounds {tried}, which the record does not do, and no other one is nearly as good"
        return f"{text}: keep to inputs that move as those of the data.", ""
    were = "structure was" if count == 1 else "structures were"
    leave = "it leaves" if count == 1 else "they leave"
    return f"{count} {were} passed over, for {leave} all bounds {tried}.", ""


def _attempts(finding: Finding, setting: Setting) -> tuple[str, str]:
    values = finding.values
    texts = []
    for row in values["rows"]:
        name = listed([setting(name, row["value"]) for name in row["settings"]])
        if row["rrse"] is None:
            texts.append(f"{name} nothing that holds")
        else:
            verdict = "" if row is values["better"] else ", not better"
            texts.append(f"{name} {values['error']:.3g} -> {row['rrse']:.3g}{verdict}")
    text = f"Tried, by the relative error over parts of the data that the weights do not know: {'; '.join(texts)}."
    if values["better"] is None:
        return text, ""
    better = values["better"]
    names = listed([setting(name, better["value"]) for name in better["settings"]])
    return text, f"Take {names}: the error falls from {values['error']:.3g} to {better['rrse']:.3g}."


def _joint(finding: Finding, _: Setting) -> tuple[str, str]:
    values = finding.values
    text = f"{values['compared']} combinations of models were compared by their joint free run over parts of the data "
    text += "that the weights do not know. "
    if not values["driven"]:
        text = (
            "Without inputs nothing drives a joint free run, so each output has the model that is best with the others "
        )
        text += "as measured. "
    if values["unbounded"]:
        text += (
            f"{values['unbounded']} of low error were passed over, for they leave all bounds where inputs are held. "
        )
    if not values["bounded"]:
        text += "None was found that stays within bounds: the models without other outputs are handed over as they are."
        return text, "Keep to inputs that move as those of the data."
    dependencies = []
    for row in values["structures"]:
        seen = "no other output"
        if row["others"]:
            seen = listed([printable(name) for name in row["others"]])
        dependencies.append(
            f"{printable(row['output'])} ({row['kind']}, {count_terms(row['terms'])}) depends on {seen}"
        )
    text += f"{'; '.join(dependencies)}."
    if not values["coupled"]:
        text += " Models that take other outputs into account run no better jointly, so those of the inputs alone are "
        text += "handed over."
    return text, ""


# Words by the name of the finding.
SEARCH_WORDS: dict[str, Phrase] = {
    "joint": _joint,
    "no_test": _no_test,
    "noise_model": _noise_model,
    "competition": _competition,
    "level": _level,
    "interrupted": _interrupted,
    "attempts": _attempts,
    "outside": _outside,
    "whole_records": _whole_records,
    "time_scale": _time_scale,
}
