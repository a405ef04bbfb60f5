"""Write the parameters, docstrings and options that follow from the settings.

``python -m narxbench._identification.signatures`` rewrites the marked lines of the modules in :data:`FILES`. What they
say of a setting comes from its field in :class:`narxbench._identification.settings.IdentificationSettings`, what they
say of reading data from :class:`narxbench._identification.data.reading.Reading`. So users, editors and type checkers
see full signatures, and the help of the command line comes without an import of pydantic.

In code, the lines between two comments are written, here the parameters of the settings::

    # Written by narxbench._identification.signatures: parameters of settings
    # End

In a docstring, the descriptions of the settings are written after a line that the file names, up to an empty line.
"""

import json
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from pydantic import PlainValidator

from narxbench._identification.data.reading import Reading
from narxbench._identification.options import ValueKind
from narxbench._identification.settings import CommandLineOption, IdentificationSettings
from narxbench._io.errors import NarxbenchError
from narxbench._model.records import Role

FIELDS = IdentificationSettings.model_fields
SCHEMAS: Mapping[str, Mapping[str, Any]] = IdentificationSettings.model_json_schema()["properties"]
_NAMED_TYPES = {Role: "Role"}
_LINE_WIDTH = 120
_BOUNDS = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}
_MARKED_LINES = re.compile(
    r"^(?P<indent> *)# Written by narxbench\._identification\.signatures: (?P<content>.*)\n(?:.*\n)*?(?P=indent)# End$",
    re.MULTILINE,
)
# What a reader of the help must know of the text of an option.
_HINTS: dict[ValueKind, str] = {
    "names": "separated by commas; may be repeated",
    "by input": "as in 'valve=1-4;heat=0,2'",
}


class GeneratedFile(NamedTuple):
    """A module with lines that are written here."""

    path: Path
    before_descriptions: str = ""
    """Pattern of the lines of a docstring after which the settings are described; empty where they are not."""
    empty_list: str = "()"
    """Default of a parameter whose setting is an empty list by default."""


_FOLDER = Path(__file__).parent
# The entries of the last parameters that are none of the settings, and a heading.
_LAST_OF_ENTRY = r"    joint : .*\n(?:        .+\n)+"
_LAST_OF_OUTPUTS = r"    time, time_format, test, .*\n(?:        .+\n)+"
_PARAMETERS = r"    Parameters\n    -+\n"
FILES = (
    GeneratedFile(_FOLDER / "entry.py", _LAST_OF_ENTRY),
    GeneratedFile(_FOLDER / "outputs.py", _LAST_OF_OUTPUTS),
    GeneratedFile(_FOLDER / "estimator.py", _PARAMETERS, empty_list="None"),
    GeneratedFile(_FOLDER / "options.py"),
    GeneratedFile(_FOLDER / "data" / "reading.py"),
)


def renewed_text(file: GeneratedFile) -> str:
    """Return the text of a module with its marked lines and its descriptions of settings written anew.

    Raises
    ------
    NarxbenchError
        If the module has no marked lines, or no place for the descriptions.
    """

    def marked_lines(match: re.Match[str]) -> str:
        begin, *_, end = match[0].splitlines()
        return f"{begin}\n{_indented(_CONTENTS[match['content']](file), match['indent'])}{end}"

    def descriptions(match: re.Match[str]) -> str:
        return match["before"] + _indented(_descriptions(file), "    ")

    text, n_written = _MARKED_LINES.subn(marked_lines, file.path.read_text(encoding="utf-8"))
    if n_written and file.before_descriptions:
        pattern = rf"^(?P<before>{file.before_descriptions})(?:.+\n)*"
        text, n_written = re.subn(pattern, descriptions, text, count=1, flags=re.MULTILINE)
    if not n_written:
        raise NarxbenchError(f"{file.path}: found no lines to write anew; needed: the comments and lines before them")
    return text


def _indented(lines: Sequence[str], indent: str) -> str:
    return "".join(f"{indent}{line}\n" for line in lines)


# The contents: lines of code, by the comment that they stand under.


def _reading_parameters(file: GeneratedFile) -> list[str]:
    return [f"{name}: {_source_of(type_)} = None," for name, type_ in get_type_hints(Reading).items()]


def _reading_parameters_but_the_output(file: GeneratedFile) -> list[str]:
    # It may be given by position, and stands before the others.
    return [parameter for parameter in _reading_parameters(file) if not parameter.startswith("output:")]


def _reading_arguments(file: GeneratedFile) -> list[str]:
    return [f"{name}={name}," for name in Reading.__annotations__]


def _setting_parameters(file: GeneratedFile) -> list[str]:
    return [f"{name}: {_parameter_type(name, file)} = {_default(name, file)}," for name in FIELDS]


def _setting_items(file: GeneratedFile) -> list[str]:
    return [f'"{name}": {name},' for name in FIELDS]


def _setting_attributes(file: GeneratedFile) -> list[str]:
    return [f"self.{name} = {name}" for name in FIELDS]


def _setting_options(file: GeneratedFile) -> list[str]:
    lines: list[str] = []
    for name, field in FIELDS.items():
        for option in field.metadata:
            if isinstance(option, CommandLineOption):
                lines += _setting_option(name, option)
    return lines


_CONTENTS: Mapping[str, Callable[[GeneratedFile], list[str]]] = {
    "parameters of reading": _reading_parameters,
    "parameters of reading but the output": _reading_parameters_but_the_output,
    "arguments of reading": _reading_arguments,
    "parameters of settings": _setting_parameters,
    "items of settings": _setting_items,
    "attributes of settings": _setting_attributes,
    "options of settings": _setting_options,
}


def _setting_option(name: str, option: CommandLineOption) -> list[str]:
    """Return the lines of an option in the table of options."""
    kind = _value_kind(_accepted_type(name))
    parts = textwrap.wrap(_option_help(name, kind), _LINE_WIDTH - len('        help="",'), drop_whitespace=False)
    quoted = [json.dumps(part, ensure_ascii=False) for part in parts]
    values = {"setting": name, "group": option.group, "metavar": option.metavar, "kind": kind}
    lines = [f"    {key}={json.dumps(value)}," for key, value in values.items()]
    return ["SettingOption(", *lines, "    help=" + "\n        ".join(quoted) + ",", "),"]


def _option_help(name: str, kind: ValueKind) -> str:
    """Return the first sentence of a description as the help of an option, with what is allowed and the default."""
    sentence = _description(name).partition(". ")[0].removesuffix(".").replace("``", "")
    details = [_allowed(name), _HINTS.get(kind, "")]
    default = _default_in_words(name)
    if default:
        details.append(f"default: {default}")
    help_text = f"{sentence[0].lower()}{sentence[1:]} ({'; '.join(filter(None, details))})"
    # To argparse a % begins a format.
    return help_text.replace("%", "%%")


def _value_kind(accepted_type: Any) -> ValueKind:
    """Return how the text of an option becomes a value of one of the types."""
    types = {get_origin(type_) or type_ for type_ in _members(accepted_type)}
    if types & {Mapping, dict}:
        return "by input"
    if list in types:
        return "names"
    if str not in types and types & {int, float, bool}:
        return "number"
    return "text"


def _descriptions(file: GeneratedFile) -> list[str]:
    """Return the descriptions of all settings in a docstring, by the conventions of numpydoc."""
    lines: list[str] = []
    for name in FIELDS:
        text = _description(name)
        # A Literal in the type names its values.
        if _allowed(name) and "enum" not in SCHEMAS[name]:
            text += f" Allowed: {_allowed(name)}."
        lines.append(f"{name} : {_parameter_type(name, file)}, default {_default(name, file)}")
        lines += textwrap.wrap(text, _LINE_WIDTH - 4, initial_indent="    ", subsequent_indent="    ")
    return lines


# What a field says.


def _description(name: str) -> str:
    return " ".join(str(FIELDS[name].description).split())


def _allowed(name: str) -> str:
    """Return in words which values a setting may have; empty where its type says it."""
    schema = SCHEMAS[name]
    if "allowed" in schema:
        return str(schema["allowed"])
    if "enum" in schema:
        return ", ".join(schema["enum"])
    # Of an optional number the bounds stand in the first member of the union.
    bounded = schema.get("anyOf", [schema])[0]
    return " and ".join(f"{word} {bounded[key]:.15g}" for key, word in _BOUNDS.items() if key in bounded)


def _default_in_words(name: str) -> str:
    """Return a default as users write it; empty where nothing is the default."""
    default = FIELDS[name].default
    if default in (None, [], {}):
        return ""
    if isinstance(default, str):
        return default
    return json.dumps(default).removesuffix(".0")


def _accepted_type(name: str) -> Any:
    """Return the type of the values that users may write."""
    for check in FIELDS[name].metadata:
        if isinstance(check, PlainValidator):
            return check.json_schema_input_type
    return FIELDS[name].annotation


def _parameter_type(name: str, file: GeneratedFile) -> str:
    """Return the type of a parameter, as it stands in code; None is one of its values if it is the default."""
    type_ = _source_of(_accepted_type(name))
    if _default(name, file) == "None" and "None" not in type_:
        return f"{type_} | None"
    return type_


def _default(name: str, file: GeneratedFile) -> str:
    """Return the default of a parameter, as it stands in code; a list or mapping could be changed by who calls."""
    default = FIELDS[name].default
    if default == []:
        return file.empty_list
    if default == {}:
        return "None"
    return json.dumps(default) if isinstance(default, str) else repr(default)


def _source_of(type_: Any) -> str:
    """Return a type as it stands in code.

    Examples
    --------
    >>> _source_of(list[int] | Literal["auto"] | None)
    'Sequence[int] | Literal["auto"] | None'
    """
    if type_ in _NAMED_TYPES:
        return _NAMED_TYPES[type_]
    members = _members(type_)
    if len(members) > 1:
        return " | ".join(map(_source_of, members))
    if type_ is NoneType:
        return "None"
    origin, arguments = get_origin(type_), get_args(type_)
    if origin is Literal:
        return f"Literal[{', '.join(map(json.dumps, arguments))}]"
    if not arguments:
        return str(type_.__name__)
    # Users may also write a tuple, or any other mapping.
    container = {list: Sequence, dict: Mapping}.get(origin, origin)
    return f"{container.__name__}[{', '.join(map(_source_of, arguments))}]"


def _members(type_: Any) -> tuple[Any, ...]:
    """Return the members of a union; of any other type the type alone."""
    if get_origin(type_) in (Union, UnionType):
        return get_args(type_)
    return (type_,)


def main() -> None:
    """Write all files anew."""
    for file in FILES:
        file.path.write_text(renewed_text(file), encoding="utf-8")


if __name__ == "__main__":
    main()
