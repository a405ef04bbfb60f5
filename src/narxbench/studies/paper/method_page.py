"""The method of a study: how its own settings answer what the paper leaves open, and what is computed."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from markupsafe import Markup

from narxbench.algorithms.registry import algorithm, algorithm_names
from narxbench.io.settings import flattened
from narxbench.report.formats import method_name
from narxbench.report.markup import markdown_html
from narxbench.studies.paper.site import Material
from narxbench.study.design_choices import SHARED_PARTS, DesignChoice, DesignChoices

PARTS = {"data": "About the data", "fitness": "About the fitness", "search": "About the budget of a run"}


class Answer(NamedTuple):
    """What a study answers to one design choice."""

    name: str
    choice: DesignChoice
    methods: tuple[str, ...]  # those that it concerns, of those that share its part; none for what concerns all
    option: str  # the one in use; "" for a value of the study's own
    value: str
    contradicts: str  # the explicit statement that the option contradicts, if any

    @property
    def departs(self) -> bool:
        """Whether this is another answer than the baseline's."""
        return self.option != self.choice.baseline

    @property
    def meaning(self) -> str:
        """What the setting does, as part of a sentence."""
        text = self.choice.meaning.removesuffix(".")
        # A symbol such as J stays a capital.
        return text[:1].lower() + text[1:] if text[1:2].islower() else text

    @property
    def others(self) -> list[str]:
        """The other answers."""
        return [option for option in self.choice.options if option != self.option]


def method_page(material: Material, tables: Mapping[str, Markup]) -> str:
    """Return the page of the method; ``tables`` holds test_systems and method_settings as HTML."""
    settings = material.settings
    known, about = algorithm_names(), {}
    for name, method in settings["methods"].items():
        if method["algorithm"] in known:
            found = algorithm(method["algorithm"])
            summary = found.document.partition("\n\n")[0].replace("\n", " ")
            about[name] = (summary.removeprefix(f"{method_name(name)}: "), found.about.reference)
    shown = {
        "settings": settings,
        "answers": answers(settings, material.choices),
        "parts": PARTS,
        "about": about,
        "systems": [system for system in material.systems if system.description or system.reference],
        "own_inputs": [system.name for system in material.systems if system.excitation is not None],
        "tables": tables,
        "text": markdown_html(material.texts["method"], "text"),
    }
    return material.site.page("method", shown)


def answers(settings: Mapping[str, Any], choices: DesignChoices) -> dict[str, list[Answer]]:
    """Return the answers of a study to the design choices that concern it, by their part.

    Methods of one algorithm may differ: then a design choice has an answer for each setting that they use. One that
    changes nothing without another is left out where neither departs from the baseline.
    """
    found: dict[str, list[Answer]] = {}
    for name, choice in choices.design_choices.items():
        for value, methods in _values(settings, choice):
            option = next((of for of, each in choice.options.items() if _same(each.value, value)), "")
            contradicts = choice.options[option].contradicts if option else ""
            answer = Answer(name, choice, methods, option, f"{choice.setting}: {_written(value)}", contradicts)
            found.setdefault(choice.part, []).append(answer)
    departing = {answer.name for part in found.values() for answer in part if answer.departs}
    idle = {name for name, each in choices.design_choices.items() if each.needs and not departing & {name, each.needs}}
    return {part: [answer for answer in own if answer.name not in idle] for part, own in found.items()}


def _values(settings: Mapping[str, Any], choice: DesignChoice) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """Yield each value that the study gives the setting of a design choice, with the methods that use it."""
    if choice.part in SHARED_PARTS:
        yield settings.get(choice.part, settings)[choice.setting], ()
        return
    users = {name: each for name, each in settings["methods"].items() if each["algorithm"] == choice.part}
    used = [each["settings"][choice.setting] for each in users.values()]
    for value in (value for place, value in enumerate(used) if value not in used[:place]):
        yield value, tuple(method_name(name) for name, own in zip(users, used, strict=True) if own == value)


def _written(value: Any) -> str:
    """Return a value as it can stand in a file of settings."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {part}' for key, part in flattened(value))}}}"
    return dict(flattened({"": value}))[""]


def _same(option: Any, value: Any) -> bool:
    """Tell whether a value is that of an option, which may leave out what has a default."""
    if isinstance(option, Mapping) and isinstance(value, Mapping):
        return {**value, **option} == value
    return bool(option == value)
