"""Words for the criterion by which a method chooses its structure."""

from collections.abc import Mapping
from typing import Any

# Settings by which an algorithm says how the number of terms is chosen, and what their values mean.
_SETTINGS = ("stop", "choice", "length", "criterion")
_MEANINGS = {
    "free_run": "the free run: its BIC over all samples",
    "one_step": "the prediction one step ahead: where its error begins to rise",
    "bic": "the BIC of the prediction one step ahead",
    "aic": "the AIC of the prediction one step ahead",
    "err": "a threshold of the error reduction ratio",
    "likelihood": "the likelihood under its best noise model, with the extended BIC",
}
# Algorithms that choose in a way of their own.
_ALGORITHMS = {
    **dict.fromkeys(("pem", "multistart_likelihood"), _MEANINGS["likelihood"]),
    "semp": "the error of the free run, which a term has to lower by a share",
    "ramss": "probabilities of terms, which rise with those of better models",
    "stability_selection": "the share of random halves of the data that select a term",
    "metamss": "J of structures whose insignificant terms were dropped",
    "sysidentpy_metamss": "the free run on the last quarter of the record",
    "sysidentpy_aols": "the number of terms that it is told",
}


def chosen_by(about: Mapping[str, Any]) -> str:
    """Return what a method, of which ``about`` has the algorithm and the settings, chooses its structure by."""
    if about["minimises"]:
        return f"the lowest J ({', '.join(about['criteria'])})"
    if about["algorithm"] in _ALGORITHMS:
        return _ALGORITHMS[about["algorithm"]]
    for key in _SETTINGS:
        value = about["settings"].get(key)
        if value in _MEANINGS:
            return _MEANINGS[value]
    return "a criterion of its own"


def is_own(about: Mapping[str, Any]) -> bool:
    """Return whether a method is this project's own, which the reference of its algorithm says first."""
    return str(about["reference"]).startswith("Own")
