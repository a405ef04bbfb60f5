"""The settings of a study: strict, merged from its files, checked before anything runs.

A study is ``config/paper.yaml``, or an overlay of it (``--configfile``), or either with values of the command line
(``--config``). Files are merged in order, mapping by mapping. Design choices that the study does not name are filled in
from its interpretation.
"""

import inspect
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from narxbench._algorithms.registry import AlgorithmUnavailableError, algorithm, packaged_names
from narxbench._io.errors import NarxbenchError, did_you_mean
from narxbench._io.files import canonical_json
from narxbench._io.settings import Mistake, SettingsError, show, unknown, validated
from narxbench._model.excitation import RecordedInput, recorded_file
from narxbench._model.system import System, load_system, system_names
from narxbench._numerics.random_streams import generator
from narxbench._studies.methods.settings import ComparedMethod, MethodsStudy
from narxbench._studies.paper.interpretations.settings import InterpretationsStudy
from narxbench._studies.paper.settings import PaperStudy
from narxbench._study.design_choices import (
    DESIGN_CHOICES_FILE,
    DesignChoices,
    interpretation_settings,
    load_design_choices,
)
from narxbench._study.layers import Layers, merge, merge_layers, with_sources
from narxbench._study.settings import Method, Study, for_overlays, raise_if

# The kinds of studies: one class each, by the value of ``kind``.
KINDS: dict[str, type[Study]] = {"paper": PaperStudy, "interpretations": InterpretationsStudy, "methods": MethodsStudy}


def _impossible_sizes(study: Study, systems: Mapping[str, System]) -> Iterator[Mistake]:
    """Yield a mistake for candidate terms that cannot exist, and for samples that are too few for the lags."""
    for part in study.parts():
        lags: dict[str, int] = {}
        for name in part.systems:
            try:
                system = part.with_candidates(systems[name])
            except NarxbenchError as error:
                yield Mistake(part.place, f"system {name}: {error}")
                break
            lags[name] = max(system.n_u, system.n_y)
        if not lags:
            continue
        largest = max(lags, key=lambda name: lags[name])
        samples, judged = part.data.samples, part.data.validation_samples
        least = lags[largest] + judged
        if samples <= least:
            needs = f"{lags[largest]} for the largest lag of {largest}, {judged} to validate, the rest to estimate"
            yield Mistake((*part.place, "samples"), f"found {samples}; allowed: more than {least} ({needs})")


def _wrong_inputs(study: Study, systems: Mapping[str, System], choices: DesignChoices) -> Iterator[Mistake]:
    """Yield a mistake for each recorded input that cannot be read, or is too short."""
    checked = set()
    for place, label, excitation, samples in study.inputs(choices, systems):
        file = recorded_file(excitation)
        if not file or (file, samples) in checked:
            continue
        checked.add((file, samples))
        problem = _problem_of_file(file, samples, study.study)
        if problem:
            yield Mistake(place, label + problem)


def _problem_of_file(file: str, samples: int, study: str) -> str:
    """Return the problem of a recorded input that must have this many samples, or "" if there is none."""
    message = f"found {show(file, kind=False)}; allowed: "
    if {*"{}"} & {*file}:
        return f"{message}a name without braces, which represent parts of names in Snakemake"
    folders = tuple(f"{os.path.realpath(f'{folder}/{study}')}{os.sep}" for folder in ("data", "reports"))
    if os.path.realpath(file).startswith(folders):
        return f"{message}a file that is no result of this study"
    if not os.path.isfile(file):
        files = filter(Path.is_file, Path(file).parent.glob("*"))
        hint = did_you_mean(file, map(str, files))
        return f"{message}a file that is there{hint}"
    try:
        RecordedInput(file=file).samples(generator(purpose="input"), samples)
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
    """Return the settings of a study: those of its base (``config/paper.yaml``), its overlays and the command line.

    Each mistake is a line, with the source that has the last word on its key. ``left_out`` receives the methods whose
    algorithm cannot be used here, each with the reason, and the study goes without them. If it is None, they are
    mistakes.
    """
    choices = choices or load_design_choices()
    settings = _with_groups(merge_layers(layers))
    for name, reason in _unusable_methods(settings).items():
        if left_out is None:
            raise NarxbenchError(f"methods.{name}: {reason}")
        left_out[name] = reason
        del settings["methods"][name]
    otherwise = next((source for source, _ in layers), "settings")
    try:
        defaults = _settings_of_interpretation(settings, choices)
        layers = [(DESIGN_CHOICES_FILE.name, defaults), *layers]
        study = _validated_study(settings, defaults, choices)
    except SettingsError as error:
        raise with_sources(error, layers, otherwise) from None
    # A mistake in the file of a system names that file.
    systems = {name: load_system(name) for name in study.all_systems}
    mistakes = [*_impossible_sizes(study, systems), *_wrong_inputs(study, systems, choices)]
    if mistakes:
        raise with_sources(SettingsError(mistakes), layers, otherwise)
    return study


def _with_groups(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings in which lists are in place of the names of groups."""
    groups = _mapping(settings, "groups")
    scenarios = {}
    for name, scenario in _mapping(settings, "scenarios").items():
        if isinstance(scenario, Mapping) and isinstance(scenario.get("systems"), str):
            systems = scenario["systems"]
            scenario = {**scenario, "systems": groups.get(systems, systems)}
        scenarios[name] = scenario
    return {**settings, "scenarios": scenarios} if scenarios else settings


def _validated_study(settings: dict[str, Any], defaults: Mapping[str, Any], choices: DesignChoices) -> Study:
    """Return the settings over the defaults as a study of their kind, in which all names exist."""
    kind = settings.get("kind")
    if not isinstance(kind, str) or kind not in KINDS:
        raise SettingsError([unknown(("kind",), kind, KINDS)])
    for name, field in KINDS[kind].model_fields.items():
        if field.is_required() and name not in (*Study.model_fields, *settings):
            text = f"found {kind} without settings under {name}; allowed: with them, or another kind"
            raise SettingsError([Mistake(("kind",), text)])
    study = validated(KINDS[kind], merge(defaults, settings), "")
    existing = system_names()
    unknown_systems = []
    for place, name in study.named_systems():
        if name not in existing:
            unknown_systems.append(unknown(place, name, existing, "a file in config/systems, which has"))
    raise_if(unknown_systems)
    raise_if(study.unknown_names(choices))
    return study


def _unusable_methods(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the methods whose algorithm cannot be used here, each with the reason."""
    reasons = {}
    for name, algorithm_name in _algorithms(settings).items():
        try:
            method = algorithm(algorithm_name)
            _ = method.about, method.versions
        except AlgorithmUnavailableError as error:
            reasons[name] = str(error)
        except NarxbenchError:
            continue  # an algorithm that does not exist is a mistake in the settings
    return reasons


def _mapping(settings: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return the mapping under a key, before anything is checked, or an empty one in place of anything else."""
    value = settings.get(key)
    return value if isinstance(value, Mapping) else {}


def _algorithms(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return the algorithm of each method that names one."""
    algorithms = {}
    for name, method in _mapping(settings, "methods").items():
        if isinstance(method, Mapping) and isinstance(method.get("algorithm"), str):
            algorithms[name] = method["algorithm"]
    return algorithms


def _settings_of_interpretation(settings: Mapping[str, Any], choices: DesignChoices) -> dict[str, Any]:
    """Return the settings of the study's interpretation: the defaults of those that the study does not name."""
    name = settings.get("interpretation")
    if not isinstance(name, str) or name not in choices.named:
        what = "an interpretation of config/design_choices.yaml:"
        raise SettingsError([unknown(("interpretation",), name, choices.named, what)])
    chosen = interpretation_settings(choices, choices.named[name])
    methods = {}
    for method, algorithm_name in _algorithms(settings).items():
        methods[method] = {"algorithm": algorithm_name, "settings": chosen.get(algorithm_name, {})}
    # The budget is a setting of the study itself.
    return {"data": chosen["data"], "fitness": chosen["fitness"], **chosen["search"], "methods": methods}


# For editors


def schema() -> dict[str, Any]:
    """Return the JSON schema of a study for editors. No key is required in it, so that it fits overlays."""
    result: dict[str, Any] = {"$defs": {}, "properties": {}}
    for kind in KINDS.values():
        of_kind: dict[str, Any] = for_overlays(kind.model_json_schema())
        absent = [key for key, value in of_kind["properties"].items() if value.get("type") == "null"]
        for key in absent:
            del of_kind["properties"][key]
        merged = {key: {**result[key], **of_kind[key]} for key in ("$defs", "properties")}
        result = {**of_kind, **merged}
    result |= {"title": "Study", "description": inspect.getdoc(Study)}
    result["properties"]["kind"] = {"enum": list(KINDS), "type": "string", "description": "Kind of the study."}
    definitions, conditions = result["$defs"], []
    for name in packaged_names():
        settings, key = for_overlays(algorithm(name).schema()), f"Settings-{name}"
        definitions |= {**settings.pop("$defs", {}), key: settings}
        condition = {"properties": {"algorithm": {"const": name}}, "required": ["algorithm"]}
        conditions.append({"if": condition, "then": {"properties": {"settings": {"$ref": f"#/$defs/{key}"}}}})
    for method in (definitions[Method.__name__], definitions[ComparedMethod.__name__]):
        # Editors know the algorithms of this package, but those of others are allowed too.
        method["properties"]["algorithm"] = {"anyOf": [{"enum": packaged_names()}, method["properties"]["algorithm"]]}
        method["properties"]["settings"], method["allOf"] = {"type": "object"}, conditions
    definitions.pop("Settings", None)
    return result


if __name__ == "__main__":
    sys.stdout.write(canonical_json(schema(), indent=1))
