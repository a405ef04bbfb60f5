"""The page on method and provenance: how to check a claim, where each value comes from, and what is computed."""

import io
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from typing import Any

import ruamel.yaml

from narxbench._algorithms.registry import algorithm, algorithm_names
from narxbench._io.settings import flattened
from narxbench._report.formats import criterion_name, method_name, snr
from narxbench._report.markup import markdown_html, markdown_sections
from narxbench._report.templating import to_html
from narxbench._studies.paper.origin import origin_lines
from narxbench._studies.paper.printed import condition_anchor
from narxbench._studies.paper.report_page import kept_comparison
from narxbench._studies.paper.site import Material
from narxbench._studies.paper.tables import systems_table
from narxbench._study.design_choices import SHARED_PARTS, DesignChoice, DesignChoices

CHECKS = "Check a claim"  # the section of docs/the_paper.md
PARTS = {"data": "About the data", "fitness": "About the fitness", "search": "About the budget of a run"}


def method_page(material: Material) -> str:
    """Return the page on method and provenance.

    It says how to check a claim, where each value of the run comes from, and how the study answers open questions.
    """
    settings = material.settings
    values = {
        "settings": settings,
        "record": material.record,
        "status": material.status,
        "whole_command": material.command(),
        "verify_command": material.command("verify").replace("-- ", ""),
        "comparison": kept_comparison(material),
        "kept": material.kept,
        "checks": _section(material.texts["checks"], CHECKS),
        "answers": answers(settings, material.choices),
        "parts": PARTS,
        "about": _about(settings["methods"]),
        "systems": [system for system in material.systems if system.description or system.reference],
        "own_inputs": [system.name for system in material.systems if system.excitation is not None],
        "systems_table": to_html(systems_table(material.systems)),
        "shown_settings": settings_as_yaml(settings),
        "versions": _versions(material.summaries),
        "algorithms": _algorithms(material.summaries),
        "failures": material.failures.to_dict("records"),
        "origins": list(_origins(material)),
        "text": markdown_html(material.texts["method"], "text"),
    }
    return material.site.page("method", values)


def _section(text: str, heading: str) -> str:
    """Return the body of a section of a document as HTML, or "" without the section."""
    for title, body in markdown_sections(text, "check"):
        if title == heading:
            return body
    return ""


def _algorithms(summaries: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the digest of the code of each algorithm."""
    return {summary["algorithm"]: summary["algorithm_sha256"] for summary in summaries}


def _origins(material: Material) -> Iterator[dict[str, Any]]:
    """Yield where the values of each condition come from: data, run files with their seals, and the command."""
    for summary in material.summaries:
        place = summary["system"], summary["snr_db"], summary["method"], summary["criterion"]
        words = place[0], snr(place[1]), method_name(place[2]), criterion_name(place[3])
        yield {
            "anchor": condition_anchor(*place),
            "heading": ", ".join(words),
            "text": "\n".join(origin_lines(summary, material.settings["study"], material.command)),
        }


def _about(methods: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Return the description and the reference of each method whose algorithm is installed."""
    installed, about = algorithm_names(), {}
    for name, method in methods.items():
        if method["algorithm"] in installed:
            entry = algorithm(method["algorithm"])
            description = entry.document.partition("\n\n")[0].replace("\n", " ")
            about[name] = description.removeprefix(f"{method_name(name)}: "), entry.about.reference
    return about


def answers(settings: Mapping[str, Any], choices: DesignChoices) -> dict[str, list[dict[str, Any]]]:
    """Return the answers of a study to the design choices that concern it, by their part.

    ``methods`` are those that an answer concerns, none where it concerns all. The ``option`` in use is "" for a value
    that is not an option.
    Methods of one algorithm may differ: then a design choice has an answer for each setting that they use. One that
    changes nothing without another is left out where neither departs from the baseline.
    """
    chosen: list[dict[str, Any]] = []
    for name, choice in choices.design_choices.items():
        for value, methods in _values(settings, choice):
            option = _option(choice, value)
            chosen.append(
                {
                    "name": name,
                    "choice": choice,
                    "methods": methods,
                    "option": option,
                    "others": [other for other in choice.options if other != option],
                    "departs": option != choice.baseline,
                    "value": f"{choice.setting}: {_written(value)}",
                    "meaning": _in_a_sentence(choice.meaning),
                    "contradicts": choice.options[option].contradicts if option else "",
                }
            )
    departing = {answer["name"] for answer in chosen if answer["departs"]}
    by_part: dict[str, list[dict[str, Any]]] = {}
    for answer in chosen:
        choice = answer["choice"]
        of_part = by_part.setdefault(choice.part, [])
        is_idle = choice.needs and not departing & {answer["name"], choice.needs}
        if not is_idle:
            of_part.append(answer)
    return by_part


def _in_a_sentence(description: str) -> str:
    """Return the description of a setting as part of a sentence."""
    text = description.removesuffix(".")
    if text[1:2].islower():  # a symbol such as J stays a capital
        text = text[:1].lower() + text[1:]
    return text


def _option(choice: DesignChoice, value: Any) -> str:
    """Return the option of a design choice that a value is, or "" if it is none of them."""
    for name, option in choice.options.items():
        if _same(option.value, value):
            return name
    return ""


def _values(settings: Mapping[str, Any], choice: DesignChoice) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """Yield each value that the study gives the setting of a design choice, with the methods that use it."""
    if choice.part in SHARED_PARTS:
        yield settings.get(choice.part, settings)[choice.setting], ()
        return
    users: list[tuple[Any, list[str]]] = []  # values may be mappings, which cannot be keys
    for name, method in settings["methods"].items():
        if method["algorithm"] != choice.part:
            continue
        value = method["settings"][choice.setting]
        for used_value, methods in users:
            if used_value == value:
                methods.append(method_name(name))
                break
        else:
            users.append((value, [method_name(name)]))
    for value, methods in users:
        yield value, tuple(methods)


def _written(value: Any) -> str:
    """Return a value as it can be in a file of settings."""
    if isinstance(value, Mapping):
        parts = ", ".join(f"{key}: {part}" for key, part in flattened(value))
        return f"{{{parts}}}"
    return dict(flattened({"": value}))[""]


def _same(option: Any, value: Any) -> bool:
    """Tell whether a value is an option's. The option may omit settings with a default."""
    if isinstance(option, Mapping) and isinstance(value, Mapping):
        return {**value, **option} == value
    return bool(option == value)


def settings_as_yaml(settings: Mapping[str, Any]) -> str:
    """Return the settings that are used as YAML, with seeds from 1 to N as their number N."""
    used = {key: value for key, value in settings.items() if value is not None}
    seeds = settings["seeds"]
    if seeds == list(range(1, len(seeds) + 1)):
        used["seeds"] = len(seeds)
    stream = io.StringIO()
    yaml = ruamel.yaml.YAML(typ="safe", pure=True)
    yaml.default_flow_style, yaml.sort_base_mapping_type_on_output = None, False  # type: ignore[assignment]
    yaml.dump(used, stream)
    return stream.getvalue()


def _versions(summaries: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the versions that computed the conditions, and the version of matplotlib."""
    versions: dict[str, dict[str, None]] = {}
    for summary in summaries:
        for name, version in summary["versions"].items():
            versions.setdefault(name, {})[version] = None
    joined = {name: ", ".join(all_versions) for name, all_versions in versions.items()}
    return joined | {"matplotlib": metadata.version("matplotlib")}
