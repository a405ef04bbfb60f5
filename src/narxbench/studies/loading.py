"""The settings of a study: strict, merged from its files, checked before anything runs.

A study is ``config/paper.yaml``, or an overlay of it (``--configfile``), or either with values of the command line
(``--config``). Files are merged in order, mapping by mapping; what the study leaves out of the design choices is filled
in from its interpretation.
"""

import inspect
import os
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from narxbench.algorithms.registry import AlgorithmUnavailableError, algorithm, packaged_names
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import canonical_json
from narxbench.io.settings import Problem, SettingsError, show, unknown, validated
from narxbench.model.excitation import RecordedInput
from narxbench.model.system import System, load_system, system_names
from narxbench.numerics.random_streams import generator
from narxbench.studies.methods.settings import MethodsStudy
from narxbench.studies.paper.interpretations.settings import InterpretationsStudy
from narxbench.studies.paper.settings import PaperStudy
from narxbench.study.design_choices import (
    DESIGN_CHOICES_FILE,
    DesignChoices,
    interpretation_settings,
    load_design_choices,
)
from narxbench.study.layers import Layers, merge, merge_layers, with_sources
from narxbench.study.settings import Study, for_overlays, no_file, raise_if, refuse_page

# The kinds of studies of simulated systems: one class each, by the value of ``kind``.
KINDS: dict[str, type[Study]] = {"paper": PaperStudy, "interpretations": InterpretationsStudy, "methods": MethodsStudy}


def _impossible(study: Study, systems: Mapping[str, System]) -> Iterator[Problem]:
    """Yield candidate terms that there cannot be, and samples that are too few for the lags."""
    for part in study.parts():
        samples, judged = part.data.samples, part.data.validation_samples
        lags = {}
        for name in part.systems:
            try:
                system = part.with_candidates(systems[name])
            except NarxbenchError as error:
                yield Problem(part.place, f"system {name}: {error}")
                break
            lags[name] = max(system.n_u, system.n_y)
        largest = max(lags, key=lambda name: lags[name], default="")
        if lags and samples <= (least := lags[largest] + judged):
            needs = f"{lags[largest]} for the largest lag of {largest}, {judged} to validate, the rest to estimate"
            yield Problem((*part.place, "samples"), f"found {samples}; allowed: more than {least} ({needs})")


def _wrong_inputs(study: Study, systems: Mapping[str, System], choices: DesignChoices) -> Iterator[Problem]:
    """Yield recorded inputs that cannot be read, or are too short, each once."""
    seen = set()
    for place, what, excitation, size in study.inputs(choices, systems):
        if isinstance(excitation, RecordedInput) and (excitation.file, size) not in seen:
            seen.add((excitation.file, size))
            if wrong := _wrong_file(excitation.file, size, study.study):
                yield Problem(place, what + wrong)


def _wrong_file(file: str, size: int, study: str) -> str:
    """Return what is wrong with a recorded input of which so many samples are needed; nothing where all is right."""
    found = f"found {show(file, kind=False)}; allowed: "
    if {*"{}"} & {*file}:
        return f"{found}a name without braces, which stand for parts of names in Snakemake"
    own = tuple(f"{os.path.realpath(f'{folder}/{study}')}{os.sep}" for folder in ("data", "reports"))
    if os.path.realpath(file).startswith(own):
        return f"{found}a file that is no result of this study"
    if not os.path.isfile(file):
        return no_file(file)
    try:
        RecordedInput(file=file).samples(generator(purpose="input"), size)
    except NarxbenchError as error:
        return str(error)
    return ""


# From files to settings


def load_study(
    layers: Layers,
    *,
    choices: DesignChoices | None = None,
    left_out: dict[str, str] | None = None,
) -> Study:
    """Return the settings of a study: what its base (``config/paper.yaml``), its overlays and the command line give.

    Each mistake is a line, with the source that has the last word on its key. ``left_out`` receives the methods whose
    algorithm cannot be used here, each with the reason, and the study goes without them; if it is None, they are
    mistakes.
    """
    choices = choices or load_design_choices()
    given = merge_layers(layers)
    for name, reason in _unusable(given).items():
        if left_out is None:
            raise NarxbenchError(f"methods.{name}: {reason}")
        left_out[name] = reason
        del given["methods"][name]
    otherwise = next((source for source, _ in layers), "settings")
    try:
        defaults = _of_interpretation(given, choices)
        layers = [(DESIGN_CHOICES_FILE.name, defaults), *layers]
        refuse_page(given)
        kind = given.get("kind")
        if not isinstance(kind, str) or kind not in KINDS:
            raise SettingsError([unknown(("kind",), kind, KINDS)])
        for name, field in KINDS[kind].model_fields.items():
            if field.is_required() and name not in (*Study.model_fields, *given):
                text = f"found {kind} without settings under {name}; allowed: with them, or another kind"
                raise SettingsError([Problem(("kind",), text)])
        study = validated(KINDS[kind], merge(defaults, given), "")
        known = system_names()
        strange = ((place, name) for place, name in study.named_systems() if name not in known)
        raise_if(unknown(place, name, known, "a file in config/systems, which has") for place, name in strange)
        raise_if(study.unknown_names(choices))
    except SettingsError as error:
        raise with_sources(error, layers, otherwise) from None
    # A mistake in the file of a system names that file.
    systems = {name: load_system(name) for name in study.all_systems}
    if problems := [*_impossible(study, systems), *_wrong_inputs(study, systems, choices)]:
        raise with_sources(SettingsError(problems), layers, otherwise)
    return study


def _unusable(given: Mapping[str, Any]) -> dict[str, str]:
    """Return the methods that can have no runs here, each with the reason: of their algorithm, or of the scenarios."""
    scenarios = [name for name, scenario in _under(given, "scenarios").items() if scenario is not None]
    reasons = {}
    for name, known in _algorithms(given).items():
        try:
            found = algorithm(known)
            _ = found.about, found.versions
        except AlgorithmUnavailableError as error:
            reasons[name] = str(error)
        except NarxbenchError:
            continue  # an algorithm that there is not is a mistake in the settings
        only = _under(given, "only_in").get(name)
        if isinstance(only, list) and not any(scenario in scenarios for scenario in only):
            reasons.setdefault(name, f"only_in: found no scenario of this study: {show(only, kind=False)}")
    return reasons


def _under(given: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return what stands under a key, before anything is checked; nothing if it is no mapping."""
    found = given.get(key)
    return found if isinstance(found, Mapping) else {}


def _algorithms(given: Mapping[str, Any]) -> dict[str, str]:
    """Return the algorithm of each method that names one."""
    methods = _under(given, "methods").items()
    found = {name: method.get("algorithm") for name, method in methods if isinstance(method, Mapping)}
    return {name: known for name, known in found.items() if isinstance(known, str)}


def _of_interpretation(given: Mapping[str, Any], choices: DesignChoices) -> dict[str, Any]:
    """Return the settings of the study's interpretation, which those that the study gives are merged over."""
    name = given.get("interpretation")
    if not isinstance(name, str) or name not in choices.named:
        what = "an interpretation of config/design_choices.yaml:"
        raise SettingsError([unknown(("interpretation",), name, choices.named, what)])
    chosen = interpretation_settings(choices, choices.named[name])
    named = _algorithms(given).items()
    of_methods = {name: {"algorithm": known, "settings": chosen.get(known, {})} for name, known in named}
    # The budget is a setting of the study itself.
    return {"data": chosen["data"], "fitness": chosen["fitness"], **chosen["search"], "methods": of_methods}


# For editors


def schema() -> dict[str, Any]:
    """Return the JSON schema of a study for editors; no key is required in it, so that it fits overlays."""
    result: dict[str, Any] = {"$defs": {}, "properties": {}}
    for kind in KINDS.values():
        own: dict[str, Any] = for_overlays(kind.model_json_schema())
        own["properties"] = {key: value for key, value in own["properties"].items() if value.get("type") != "null"}
        result = {**own, **{key: {**result[key], **own[key]} for key in ("$defs", "properties")}}
    result |= {"title": "Study", "description": inspect.getdoc(Study)}
    result["properties"]["kind"] = {"enum": list(KINDS), "type": "string", "description": "Kind of the study."}
    definitions, method = result["$defs"], result["$defs"]["Method"]
    method["allOf"] = []
    # Editors know the algorithms of this package; those of others are allowed too.
    method["properties"]["algorithm"] = {"anyOf": [{"enum": packaged_names()}, method["properties"]["algorithm"]]}
    for name in packaged_names():
        settings, key = for_overlays(algorithm(name).schema()), f"Settings-{name}"
        definitions |= {**settings.pop("$defs", {}), key: settings}
        condition = {"properties": {"algorithm": {"const": name}}, "required": ["algorithm"]}
        method["allOf"].append({"if": condition, "then": {"properties": {"settings": {"$ref": f"#/$defs/{key}"}}}})
    method["properties"]["settings"] = {"type": "object"}
    definitions.pop("Settings", None)
    return result


if __name__ == "__main__":
    sys.stdout.write(canonical_json(schema(), indent=1))
