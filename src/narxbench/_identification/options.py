"""The options of an identification as text: for the help of the command line, and for docstrings.

The help must come at once, so this module imports nothing slow: options are read from a file with the JSON
schemas of the classes that declare them, which ``python -m narxbench._identification.schemas`` prints.
"""

import inspect
import json
import re
import textwrap
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

from narxbench._io.errors import FieldError, did_you_mean

Schema = Mapping[str, Any]
# How the text of an option becomes a value: as it is, as a number or truth value, as a list of names, by name.
ValueKind = Literal["text", "number", "names", "by name"]

SCHEMA_FILE = Path(__file__).with_name("options.json")
_BOUNDS = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}
# What readers of the help must know about the text of an option.
_HINTS: dict[ValueKind, str] = {"names": "separated by commas; may be repeated"}
# Options of an earlier version: an example of ``read`` that takes their place, or what there is instead.
FORMER_READING: Mapping[str, tuple[str, str | int]] = {
    "separator": ("sep", ";"),
    "decimal": ("decimal", ","),
    "skip_rows": ("skiprows", 3),
    "encoding": ("encoding", "cp1252"),
    "header": ("header", 0),
}
_NO_DRAWS, _ONE_RULE = "nothing is drawn at random, and effort searches longer", "one rule chooses"
FORMER = {
    **dict.fromkeys(("seed", "seeds", "repeat", "resamples", "threshold"), _NO_DRAWS),
    **dict.fromkeys(("criterion", "selection", "divergent", "sparse_within"), _ONE_RULE),
    **dict.fromkeys(("method", "method_settings"), "narxbench.search runs an algorithm of your choice"),
    "centre": "centred signals are tried, and used where they lower the error on unseen parts",
    "error": "the error of the free run counts, with horizon=1 that one step ahead",
    "blocks": "the data take turns in eight parts",
    "confidence": "intervals hold 95 %",
    "y_degree": "exclude=['*y(k-*)*y(k-*)*', '*y(k-?)^*'] leaves terms with several outputs out",
    "u_degree": "exclude=['*u(k-*)*u(k-*)*', '*u(k-?)^*'] leaves terms with several inputs out",
    "other_outputs": "input may name other outputs",
    "set": "each setting is an option",
}
# A line of a docstring, in whose place the options are described.
_PLACE = re.compile(r"^( *)\{(reading|settings)\}\n", re.MULTILINE)


@cache
def schemas() -> Mapping[str, Mapping[str, Schema]]:
    """Return the schema of each option by name: of those that say how data are read, and of the settings."""
    described: Mapping[str, Mapping[str, Schema]] = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    return described


def refuse_unknown(given: Iterable[str], allowed: Iterable[str]) -> None:
    """Raise FieldError for the name of an option that is not allowed."""
    names = list(allowed)
    for name in given:
        if name in names:
            continue
        if name in FORMER_READING:
            raise FieldError(name, f"found; needed: read={dict([FORMER_READING[name]])}, which takes its place")
        if name in FORMER:
            raise FieldError(name, f"found; gone: {FORMER[name]}")
        raise FieldError(str(name), f"found; allowed: {', '.join(names)}{did_you_mean(name, names)}")


def value_kind(schema: Schema) -> ValueKind:
    """Return how the text of an option becomes a value of one of its types."""
    types = set()
    for member in schema.get("anyOf", [schema]):
        # Of numbers and a word, such as auto, the text of a number is a number.
        if "const" not in member and "enum" not in member:
            types.add(member.get("type", "string"))
    if "object" in types:
        return "by name"
    if types == {"array"}:
        return "names"
    if types and types <= {"integer", "number", "boolean", "null"}:
        return "number"
    return "text"


def help_text(schema: Schema) -> str:
    """Return the first sentence of a description as the help of an option, with what is allowed and the default."""
    sentence = _description(schema).partition(". ")[0].removesuffix(".").replace("``", "")
    details = [_allowed(schema), _HINTS.get(value_kind(schema), "")]
    if "example" in schema:
        details.append(f"as in {schema['example']}")
    default = schema.get("without") or _default_in_words(schema)
    if default:
        details.append(f"default: {default}")
    known_details = "; ".join(filter(None, details))
    text = f"{sentence[0].lower()}{sentence[1:]}"
    if known_details:
        text += f" ({known_details})"
    # To argparse a % begins a format.
    return text.replace("%", "%%")


def describe(documented: Any) -> None:
    """Describe the options of a function or class in its docstring, by the conventions of numpydoc."""
    parameters = inspect.signature(documented).parameters

    def descriptions(place: re.Match[str]) -> str:
        lines: list[str] = []
        for name, schema in schemas()[place[2]].items():
            if name in parameters:
                lines += _entry(parameters[name], schema)
        return textwrap.indent("\n".join(lines), place[1]) + "\n"

    documented.__doc__ = _PLACE.sub(descriptions, documented.__doc__ or "")


def _entry(parameter: inspect.Parameter, schema: Schema) -> list[str]:
    """Return the lines that describe a parameter."""
    text = _description(schema)
    # A Literal in the type names its values.
    if _allowed(schema) and "enum" not in schema:
        text += f" Allowed: {_allowed(schema)}."
    if schema.get("without"):
        text += f" Default: {schema['without']}."
    type_ = inspect.formatannotation(parameter.annotation)
    type_ = re.sub(r"\b(?:collections\.abc|typing|narxbench(?:\.\w+)+)\.", "", type_).replace("'", '"')
    kind = "optional" if type_ == "Any" else f"{type_}, default {_source_of(parameter.default)}"
    lines = textwrap.wrap(text, initial_indent="    ", subsequent_indent="    ")
    return [f"{parameter.name} : {kind}", *lines]


def _source_of(default: object) -> str:
    return json.dumps(default) if isinstance(default, str) else repr(default)


def _description(schema: Schema) -> str:
    return " ".join(str(schema["description"]).split())


def _allowed(schema: Schema) -> str:
    """Return in words which values an option may have, or "" if its type says it."""
    if "allowed" in schema:
        return str(schema["allowed"])
    if "enum" in schema:
        return ", ".join(schema["enum"])
    return " and ".join(f"{word} {schema[key]:.15g}" for key, word in _BOUNDS.items() if key in schema)


def _default_in_words(schema: Schema) -> str:
    """Return a default as users write it, or "" if there is none."""
    default = schema.get("default")
    if default in (None, [], {}):
        return ""
    if isinstance(default, str):
        return default
    return json.dumps(default).removesuffix(".0")
