"""Strict settings: pydantic models whose problems are reported in plain words, one line each.

What is allowed at a place is read from the model's JSON schema, so that messages cannot differ from the checks.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, NamedTuple, TypeVar

import pydantic

from narxbench.io.errors import NarxbenchError, did_you_mean, printable
from narxbench.io.errors import show as show
from narxbench.io.files import StrPath, read_json

T = TypeVar("T", bound=pydantic.BaseModel)
Path = tuple[str | int, ...]
Schema = Mapping[str, Any]
_SHOWN = 5


class Settings(pydantic.BaseModel):
    """Base of all settings: unknown keys, text for numbers, truth values for numbers, inf and nan are refused."""

    model_config = pydantic.ConfigDict(
        strict=True, extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


def described_as(text: str) -> Any:
    """Annotate a type whose allowed values are better described by ``text`` than by its fields and bounds."""
    return pydantic.Field(json_schema_extra={"allowed": text})


# Nearer to 1 the limits of intervals are no numbers any more.
Coverage = Annotated[float, pydantic.Field(gt=0, le=0.999_999_999)]
# What can stand in a field of a table.
Line = Annotated[str, pydantic.Field(pattern=r"^[^\r\n]*$"), described_as("text of one line")]


class Problem(NamedTuple):
    """One mistake: the keys and list positions that lead to it, and what is wrong there."""

    path: Path
    text: str


class SettingsError(NarxbenchError):
    """Mistakes in settings. ``problems`` holds each; a validator may raise it with paths relative to its value."""

    def __init__(self, problems: Iterable[Problem], source: str = "") -> None:
        self.problems = list(problems)
        super().__init__(report(self.problems, [source] * len(self.problems)))


def validated(model: type[T], values: object, source: str) -> T:
    """Return ``values`` as a ``model``; each mistake is a line ``SOURCE: KEY.PATH[0]: found …; allowed: …``."""
    try:
        return model.model_validate(values)
    except pydantic.ValidationError as error:
        raise SettingsError(problems_of(model, error), source) from None


def read_result(model: type[T], path: StrPath, what: str) -> T:
    """Return what a file of a step holds; one that is damaged or of another version is told in one line."""
    try:
        return validated(model, read_json(path), str(path))
    except SettingsError as error:
        first = str(error).splitlines()[0]
        raise NarxbenchError(f"{first}; not a {what} of this version, delete it and run again") from None


def report(problems: list[Problem], sources: list[str]) -> str:
    """Return one line per problem, each after its source and place, up to five, then the number of the others."""
    parts = ((source, place(path), text) for (path, text), source in zip(problems, sources, strict=True))
    lines = [": ".join(filter(None, part)) for part in parts]
    more = [f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return "\n".join(lines[:_SHOWN] + more)


def place(path: Path) -> str:
    """Return ``("a", "b", 0)`` as ``a.b[0]``."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{printable(part, 60)}" for part in path)
    return "".join(parts).removeprefix(".")


def unknown(path: Path, name: object, known: Iterable[str], what: str = "one of") -> Problem:
    """Return the problem of a name that is none of the known ones, with the closest of them."""
    allowed = list(known)
    hint = did_you_mean(name, allowed)
    return Problem(path, f"found {show(name, kind=False)}; allowed: {what} {', '.join(allowed)}{hint}")


def flattened(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield each setting of plain data as its path and value: a text as it is, all else as JSON."""
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from flattened(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def problems_of(model: type[pydantic.BaseModel], error: pydantic.ValidationError) -> list[Problem]:
    """Return pydantic's errors as problems, in the order of the model's fields.

    A union must have a discriminator, or its other member must be null.
    """
    schema = model.model_json_schema()
    schema = _inlined(schema, schema.get("$defs", {}))
    return [problem for detail in error.errors(include_url=False) for problem in _problems(schema, detail)]


def _inlined(schema: Any, definitions: Schema) -> Any:
    """Return a schema with its references replaced by what they mean."""
    if isinstance(schema, str) and schema.startswith("#/$defs/"):
        return _inlined(definitions[schema.removeprefix("#/$defs/")], definitions)
    if isinstance(schema, list):
        return [_inlined(part, definitions) for part in schema]
    if not isinstance(schema, dict):
        return schema
    inlined = {key: _inlined(part, definitions) for key, part in schema.items() if key != "$defs"}
    return {**inlined.pop("$ref", {}), **inlined}


def _follow(schema: Schema, location: Path) -> tuple[Path, Schema]:
    """Return the user's path and the schema there; for an unknown key that of its mapping."""
    if location[-1:] == ("[key]",):
        path, mapping = _follow(schema, location[:-2])
        return path, mapping.get("propertyNames", {"type": "string"})
    path = ()
    for part in location:
        schema = _tagged(schema)
        if union := schema.get("discriminator"):  # then the location names a member, which is no key of the user's
            schema = union["mapping"][part]
            continue
        container = "array" if isinstance(part, int) else "object"
        schema = next((member for member in schema.get("anyOf", ()) if member.get("type") == container), schema)
        is_list = schema.get("type") == "array"
        path += (part if is_list else str(part),)
        inner = schema.get("items") if is_list else schema.get("properties", {}).get(part) or _values(schema)
        if inner is None:
            break
        schema = inner
    return path, schema


def _tagged(schema: Schema) -> Schema:
    """Return the tagged union of a schema that also allows null, else the schema."""
    return next((member for member in schema.get("anyOf", ()) if "discriminator" in member), schema)


def _problems(schema: Schema, detail: Any) -> list[Problem]:
    """Return the problems that one of pydantic's errors stands for."""
    path, schema = _follow(schema, detail["loc"])
    kind, value, raised = detail["type"], detail["input"], detail.get("ctx", {}).get("error")
    if isinstance(raised, SettingsError):
        return [Problem(path + problem.path, problem.text) for problem in raised.problems]
    if raised is not None:
        return [Problem(path, str(raised))]
    if kind in ("extra_forbidden", "invalid_key"):
        keys = list(schema.get("properties", ()))
        return [Problem(path, f"unknown key; allowed: {', '.join(keys)}{did_you_mean(path[-1], keys)}")]
    if kind == "missing":
        return [Problem(path, f"missing; allowed: {_describe(schema)}")]
    if kind.startswith("union_tag"):
        schema = _tagged(schema)
        key, tags = schema["discriminator"]["propertyName"], sorted(schema["discriminator"]["mapping"])
        if key in value:
            return [unknown((*path, key), value[key], tags)]
        return [Problem((*path, key), f"missing; allowed: one of {', '.join(tags)}")]
    if detail["loc"][-1:] == ("[key]",):
        return [Problem(path, f"found the key {show(value)}; allowed: {_describe(schema)}")]
    choices = schema.get("enum", ())
    # A wrong choice is known to be text; the kind would only distract.
    plain = isinstance(value, str) and (bool(choices) or kind.startswith("string"))
    hint = did_you_mean(value, choices) if isinstance(value, str) else ""
    return [Problem(path, f"found {show(value, kind=not plain)}; allowed: {_describe(schema)}{hint}")]


def _values(schema: Schema) -> Schema | None:
    """Return the schema of the values of a mapping with free names; None where the names are fixed."""
    values = next(iter(schema.get("patternProperties", {}).values()), schema.get("additionalProperties"))
    return values if isinstance(values, dict) else None


def _describe(schema: Schema) -> str:
    """Return what a schema allows, in words."""
    if "allowed" in schema:
        return str(schema["allowed"])
    if "enum" in schema:
        return f"one of {', '.join(schema['enum'])}"
    if union := schema.get("discriminator"):
        tags = ", ".join(sorted(union["mapping"]))
        return f"a mapping with the key {union['propertyName']} (one of {tags}) and its settings"
    if "anyOf" in schema:
        return " or ".join(map(_describe, schema["anyOf"]))
    match schema.get("type"):
        case "integer" | "number":
            return _describe_number(schema)
        case "string":
            return "text that is not empty" if schema.get("minLength") else "text"
        case "boolean":
            return "true or false"
        case "array":
            least = " of at least one entry" if schema.get("minItems") else ""
            return f"a list{least}, each {_describe(schema['items'])}"
        case "object":
            if values := _values(schema):
                return f"a mapping of names, each to {_describe(values)}"
            keys = ", ".join(schema.get("properties", ()))
            return f"a mapping with the keys {keys}" if keys else "a mapping"
    return str(schema.get("type", "any value"))


def _describe_number(schema: Schema) -> str:
    noun = "whole number" if schema["type"] == "integer" else "number"
    words = {"exclusiveMinimum": "above", "minimum": "of at least", "exclusiveMaximum": "below", "maximum": "at most"}
    bounds = " and ".join(f"{word} {schema[key]:.15g}" for key, word in words.items() if key in schema)
    return f"a {noun} {bounds}".rstrip()
