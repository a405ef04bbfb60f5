"""Strict settings: pydantic models whose mistakes are reported in plain words, one line each.

Messages take the allowed values from the model's JSON schema, so that they cannot differ from the checks.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, NamedTuple, TypeVar

import pydantic

from narxbench._io.errors import FileError, NarxbenchError, did_you_mean, listed, printable
from narxbench._io.errors import show as show
from narxbench._io.files import StrPath, read_json
from narxbench._io.words import SHOWN

T = TypeVar("T", bound=pydantic.BaseModel)
# The keys and list positions that lead to a value.
Path = tuple[str | int, ...]
Schema = Mapping[str, Any]


class Settings(pydantic.BaseModel):
    """Base of all settings: unknown keys, text for numbers, truth values for numbers, inf and nan are refused."""

    model_config = pydantic.ConfigDict(
        strict=True, extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


def described_as(text: str) -> Any:
    """Return the annotation of a type whose allowed values messages describe by ``text``, not by fields and bounds."""
    return pydantic.Field(json_schema_extra={"allowed": text})


def option(group: str, metavar: str, *, without: str = "", example: str = "") -> Any:
    """Return the annotation of a setting that has an option of the command line.

    The help lists it under ``group`` with ``metavar`` for its value, an ``example`` of a value, and a phrase on the
    default (``without``) if it is not a plain value.
    """
    marks = {"group": group, "metavar": metavar, "without": without, "example": example}
    return pydantic.Field(json_schema_extra={key: text for key, text in marks.items() if text})


# Closer to 1, the limits of intervals are not finite.
Coverage = Annotated[float, pydantic.Field(gt=0, le=0.999_999_999)]
# Text that fits in a field of a table.
Line = Annotated[str, pydantic.Field(pattern=r"^[^\r\n]*$"), described_as("text of one line")]


class Mistake(NamedTuple):
    """A mistake in settings: the path to the wrong value, and the text of the message."""

    path: Path
    text: str


class SettingsError(NarxbenchError):
    """One or several ``mistakes`` in settings. A validator may raise it with paths relative to its value.

    Examples
    --------
    >>> import narxbench
    >>> try:
    ...     narxbench.identify([1.0, 2.0], [3.0, 4.0], degree="high", effort=0)
    ... except narxbench.SettingsError as error:
    ...     print([mistake.path for mistake in error.mistakes])
    [('degree',), ('effort',)]
    """

    def __init__(self, mistakes: Iterable[Mistake], source: str = "") -> None:
        self.mistakes = list(mistakes)
        super().__init__(report(self.mistakes, [source] * len(self.mistakes)))


def validated(model: type[T], values: object, source: str) -> T:
    """Return ``values`` as a ``model``. Each mistake is a line ``SOURCE: KEY.PATH[0]: found …; allowed: …``."""
    try:
        return model.model_validate(values)
    except pydantic.ValidationError as error:
        raise SettingsError(mistakes_of(model, error), source) from None


def read_result(model: type[T], path: StrPath, what: str) -> T:
    """Return the content of a file that a step has written, which errors call ``what`` if it is damaged or old."""
    return as_result(model, read_json(path), path, what)


def as_result(model: type[T], content: object, path: StrPath, what: str) -> T:
    """Return the checked content of a file that a step has written, with the same error as :func:`read_result`."""
    try:
        return validated(model, content, str(path))
    except SettingsError as error:
        first = str(error).splitlines()[0]
        raise FileError(f"{first}; not a {what} of this version, delete it and run again") from None


def report(mistakes: list[Mistake], sources: list[str]) -> str:
    """Return a line for each of the first mistakes, with its source and place, then the number of the others."""
    lines = []
    for mistake, source in zip(mistakes, sources, strict=True):
        parts = (source, place(mistake.path), mistake.text)
        lines.append(": ".join(filter(None, parts)))
    if len(lines) > SHOWN:
        lines[SHOWN:] = [f"and {len(lines) - SHOWN} more"]
    return "\n".join(lines)


def place(path: Path) -> str:
    """Return ``("a", "b", 0)`` as ``a.b[0]``."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{printable(part, 60)}"
    return text.removeprefix(".")


def unknown(path: Path, name: object, known: Iterable[str], what: str = "one of") -> Mistake:
    """Return the mistake of a name that is not one of the known names, with a proposal of the closest of them."""
    allowed = list(known)
    hint = did_you_mean(name, allowed)
    return Mistake(path, f"found {show(name, kind=False)}; allowed: {what} {listed(allowed)}{hint}")


def flattened(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield each setting of plain data as its path and its value: text as it is, all else as JSON."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from flattened(value, f"{prefix}{key}.")
        elif isinstance(value, str):
            yield prefix + key, value
        else:
            yield prefix + key, json.dumps(value, ensure_ascii=False)


def mistakes_of(model: type[pydantic.BaseModel], error: pydantic.ValidationError) -> list[Mistake]:
    """Return pydantic's errors as mistakes, in the order of the model's fields.

    A union must have a discriminator, or its second member must be null.
    """
    schema = model.model_json_schema()
    schema = _inlined(schema, schema.get("$defs", {}))
    mistakes = []
    for detail in error.errors(include_url=False):
        mistakes += _mistakes(schema, detail)
    return mistakes


def _inlined(schema: Any, definitions: Schema) -> Any:
    """Return a schema whose references are replaced by their definitions."""
    if isinstance(schema, str) and schema.startswith("#/$defs/"):
        return _inlined(definitions[schema.removeprefix("#/$defs/")], definitions)
    if isinstance(schema, list):
        return [_inlined(part, definitions) for part in schema]
    if not isinstance(schema, dict):
        return schema
    inlined = {key: _inlined(part, definitions) for key, part in schema.items() if key != "$defs"}
    return {**inlined.pop("$ref", {}), **inlined}


def _follow(schema: Schema, location: Path) -> tuple[Path, Schema]:
    """Return the path that the user knows and its schema, or the schema of the mapping of an unknown key."""
    if location[-1:] == ("[key]",):
        path, mapping = _follow(schema, location[:-2])
        return path, mapping.get("propertyNames", {"type": "string"})
    path = ()
    for part in location:
        schema = _tagged(schema)
        if "discriminator" in schema:  # the location names a member of the union, which is no key of the user's
            schema = schema["discriminator"]["mapping"][part]
            continue
        container = "array" if isinstance(part, int) else "object"
        schema = next((member for member in schema.get("anyOf", ()) if member.get("type") == container), schema)
        if schema.get("type") == "array":
            path += (part,)
            inner = schema.get("items")
        else:
            path += (str(part),)
            inner = schema.get("properties", {}).get(part) or _schema_of_values(schema)
        if inner is None:
            break
        schema = inner
    return path, schema


def _tagged(schema: Schema) -> Schema:
    """Return the tagged union of a schema that also allows null, else the schema."""
    return next((member for member in schema.get("anyOf", ()) if "discriminator" in member), schema)


def _mistakes(schema: Schema, detail: Any) -> list[Mistake]:
    """Return the mistakes behind one of pydantic's errors."""
    path, schema = _follow(schema, detail["loc"])
    kind, raised = detail["type"], detail.get("ctx", {}).get("error")
    if isinstance(raised, SettingsError):
        return [Mistake(path + mistake.path, mistake.text) for mistake in raised.mistakes]
    if raised is not None:
        return [Mistake(path, str(raised))]
    if kind in ("extra_forbidden", "invalid_key"):
        keys = list(schema.get("properties", ()))
        return [Mistake(path, f"unknown key; allowed: {', '.join(keys)}{did_you_mean(path[-1], keys)}")]
    if kind == "missing":
        return [Mistake(path, f"missing; allowed: {_description(schema)}")]
    if kind.startswith("union_tag"):
        return [_wrong_tag(path, _tagged(schema)["discriminator"], detail["input"])]
    if detail["loc"][-1:] == ("[key]",):
        return [Mistake(path, f"found the key {show(detail['input'])}; allowed: {_description(schema)}")]
    return [Mistake(path, _wrong_value(schema, kind, detail["input"]))]


def _wrong_tag(path: Path, discriminator: Schema, value: Any) -> Mistake:
    """Return the mistake of a mapping whose key that chooses among several kinds is wrong or missing."""
    key, tags = discriminator["propertyName"], sorted(discriminator["mapping"])
    if key in value:
        return unknown((*path, key), value[key], tags)
    return Mistake((*path, key), f"missing; allowed: one of {', '.join(tags)}")


def _wrong_value(schema: Schema, error_type: str, value: Any) -> str:
    """Return the text of a mistake in a value itself."""
    choices = schema.get("enum", ())
    shown, hint = show(value), ""
    if isinstance(value, str):
        hint = did_you_mean(value, choices)
        # A wrong choice is known to be text, and the kind would only distract.
        if choices or error_type.startswith("string"):
            shown = show(value, kind=False)
    return f"found {shown}; allowed: {_description(schema)}{hint}"


def _schema_of_values(schema: Schema) -> Schema | None:
    """Return the schema of the values of a mapping with free names, or None if the names are fixed."""
    values = next(iter(schema.get("patternProperties", {}).values()), schema.get("additionalProperties"))
    if isinstance(values, dict):
        return values
    return None


def _description(schema: Schema) -> str:
    """Return the values that a schema allows, in words."""
    if "allowed" in schema:
        return str(schema["allowed"])
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    if "discriminator" in schema:
        union = schema["discriminator"]
        tags = ", ".join(sorted(union["mapping"]))
        return f"a mapping with the key {union['propertyName']} (one of {tags}) and its settings"
    if "anyOf" in schema:
        return " or ".join(map(_description, schema["anyOf"]))
    match schema.get("type"):
        case "integer" | "number":
            return _description_of_number(schema)
        case "string":
            return "text that is not empty" if schema.get("minLength") else "text"
        case "boolean":
            return "true or false"
        case "array":
            length = " of at least one entry" if schema.get("minItems") else ""
            return f"a list{length}, each {_description(schema['items'])}"
        case "object":
            return _description_of_mapping(schema)
    return str(schema.get("type", "any value"))


def _description_of_mapping(schema: Schema) -> str:
    values = _schema_of_values(schema)
    if values:
        return f"a mapping of names, each to {_description(values)}"
    keys = ", ".join(schema.get("properties", ()))
    if not keys:
        return "a mapping"
    return f"a mapping with the keys {keys}"


def _description_of_number(schema: Schema) -> str:
    noun = "whole number" if schema["type"] == "integer" else "number"
    words = {"exclusiveMinimum": "above", "minimum": "of at least", "exclusiveMaximum": "below", "maximum": "at most"}
    bounds = " and ".join(f"{word} {schema[key]:.15g}" for key, word in words.items() if key in schema)
    return f"a {noun} {bounds}".rstrip()
