"""Notes on the search in words."""

from narxbench._identification.finding import Finding
from narxbench._identification.search.steps import CONCLUSION
from narxbench._io.errors import printable
from narxbench._io.words import listed
from narxbench._model.noise_models import noise_family
from narxbench._report.phrases import Phrase, Setting, count_terms


def _no_test(_: Finding, setting: Setting) -> tuple[str, str]:
    text = "No data are kept for a test: expect larger errors on new data."
    return text, f"Keep data for a test, as with {setting('test', '20%')}."


def _noise_model(finding: Finding, _: Setting) -> tuple[str, str]:
    values = finding.values
    text = f"The noise is taken to be {noise_family(values['chosen']).words}: {values['description']}."
    if values["tied"] == 1:
        return text, ""
    return f"{text} Of {values['tied']} structures and noise models that are equally good, it is the most likely.", ""


def _interrupted(finding: Finding, _: Setting) -> tuple[str, str]:
    step = finding.values["step"]
    if step == CONCLUSION:
        text = (
            "Stopped by Ctrl-C or SIGTERM after all searches of this model: it is complete, but for the probabilities"
        )
        return f"{text} of its terms.", ""
    text = f"Stopped by Ctrl-C or SIGTERM during the {step}: this is the best model until then"
    return f"{text}, and another run finds another.", ""


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
    "interrupted": _interrupted,
}
