"""Strict settings: pydantic models whose problems are told in plain words, one line each.

What is allowed at a place is read from the model's JSON schema, so that messages cannot differ from the checks.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import pydantic

from narxbench.io.errors import NarxbenchError, did_you_mean, printable
from narxbench.io.errors import show as show

T = TypeVar("T", bound=pydantic.BaseModel)
Path = tuple[str | int, ...]
Schema = Mapping[str, Any]
_SHOWN = 5


class Settings(pydantic.BaseModel):
    """Base of all settings: unknown keys, text for numbers, truth values for numbers, inf and nan are refused."""

    model_config = pydantic.ConfigDict(
        strict=True, extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


@dataclass(frozen=True)
class Allowed:
    """Annotation of a type whose allowed values are better told by ``text`` than by its fields and bounds."""

    text: str

    def __get_pydantic_json_schema__(self, core_schema: Any, handler: pydantic.GetJsonSchemaHandler) -> dict[str, Any]:
        """Put the text into the JSON schema."""
        return {**handler(core_schema), "allowed": self.text}


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
    """Return ``values`` as a ``model``.

    Raises
    ------
    SettingsError
        With one line ``SOURCE: KEY.PATH[0]: found …; allowed: …`` for each mistake.

    Examples
    --------
    >>> class Swarm(Settings):
    ...     size: int = pydantic.Field(default=30, ge=1)
    >>> validated(Swarm, {"size": 20}, "my.yaml")
    Swarm(size=20)
    >>> validated(Swarm, {"sise": 20}, "my.yaml")
    Traceback (most recent call last):
    narxbench.io.settings.SettingsError: my.yaml: sise: unknown key; allowed: size (did you mean 'size'?)
    """
    try:
        return model.model_validate(values)
    except pydantic.ValidationError as error:
        raise SettingsError(problems_of(model, error), source) from None


def report(problems: list[Problem], sources: list[str]) -> str:
    """Return one line per problem, each after its source and place, up to five, then the number of the others."""
    lines = [
        ": ".join(part for part in (source, place(problem.path), problem.text) if part)
        for problem, source in zip(problems, sources, strict=True)
    ]
    more = [f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return "\n".join(lines[:_SHOWN] + more)


def place(path: Path) -> str:
    """Return ``("a", "b", 0)`` as ``a.b[0]``."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{printable(part, 60)}" for part in path)
    return "".join(parts).removeprefix(".")


def problems_of(model: type[pydantic.BaseModel], error: pydantic.ValidationError) -> list[Problem]:
    """Return pydantic's errors as problems, one for each place, in the order of the model's fields."""
    schema = model.model_json_schema()
    schema = _inlined(schema, schema.get("$defs", {}))
    found: dict[Problem, Path | None] = {}
    for detail in error.errors(include_url=False):
        path, there, union = _follow(schema, detail["loc"])
        for problem in _problems(path, there, detail):
            found.setdefault(problem, union)
    # Every member of a union complains; those that looked inside the value know better what is wrong with it.
    inside = {union for problem, union in found.items() if union is not None and len(problem.path) > len(union)}
    return [problem for problem, union in found.items() if union not in inside or len(problem.path) > len(union or ())]


def _inlined(schema: Any, definitions: Schema) -> Any:
    """Return a schema with its references replaced by what they mean."""
    if isinstance(schema, list):
        return [_inlined(part, definitions) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if isinstance(reference := schema.get("$ref"), str):
        schema = {**definitions[reference.rpartition("/")[2]], **schema}
    return {key: _inlined(part, definitions) for key, part in schema.items() if key not in ("$defs", "$ref")}


def _follow(schema: Schema, location: tuple[str | int, ...]) -> tuple[Path, Schema, Path | None]:
    """Return the user's path, the schema there (for an unknown key: of its mapping) and the path of the last union.

    Pydantic's locations also name the members of unions, which are no keys of the user's.
    """
    path: Path = ()
    union: Path | None = None
    parts = list(location)
    while parts:
        members = [member for member in _members(schema) if member.get("type") != "null"]
        if len(members) == 1:
            schema = members[0]
        if len(members) > 1 and isinstance(parts[0], str):
            label = parts.pop(0)
            key = schema.get("discriminator", {}).get("propertyName")
            if key:
                schema = next((member for member in members if label in _tags([member], key)), schema)
            else:
                union = path
                inside = ("array" if isinstance(parts[0], int) else "object") if parts else ""
                schema = next((m for m in members if m.get("type") == inside), schema)
            continue
        schema = next((m for m in members if m.get("type") == "array"), schema)
        if parts[1:] == ["[key]"]:
            return path, schema.get("propertyNames", {"type": "string"}), union
        part = parts.pop(0)
        if schema.get("type") == "array":
            path += (part,)
            entries = schema.get("prefixItems", [])
            schema = entries[part] if isinstance(part, int) and part < len(entries) else schema.get("items", {})
        else:
            path += (str(part),)
            inner = schema.get("properties", {}).get(part) or _values(schema)
            if inner is None:
                return path, schema, union
            schema = inner
    return path, schema, union


def _problems(path: Path, schema: Schema, detail: Any) -> Iterator[Problem]:
    """Yield the problems that one of pydantic's errors stands for."""
    kind, value, context = detail["type"], detail["input"], detail.get("ctx", {})
    if isinstance(context.get("error"), SettingsError):
        for problem in context["error"].problems:
            yield Problem(path + problem.path, problem.text)
    elif kind in ("value_error", "assertion_error"):
        yield Problem(path, str(context["error"]))
    elif kind in ("extra_forbidden", "invalid_key"):
        keys = list(schema.get("properties", ()))
        yield Problem(path, f"unknown key; allowed: {', '.join(keys)}{did_you_mean(path[-1], keys)}")
    elif kind == "missing":
        yield Problem(path, f"missing; allowed: {_describe(schema)}")
    elif kind in ("union_tag_invalid", "union_tag_not_found"):
        key = schema["discriminator"]["propertyName"]
        tag = value.get(key) if isinstance(value, Mapping) else context.get("tag")
        found = f"found {show(tag, kind=False)}" if kind == "union_tag_invalid" else "missing"
        tags = _tags(_members(schema), key)
        hint = did_you_mean(tag, tags) if isinstance(tag, str) else ""
        yield Problem((*path, key), f"{found}; allowed: one of {', '.join(tags)}{hint}")
    elif detail["loc"][-1:] == ("[key]",):
        yield Problem(path, f"found the key {show(value)}; allowed: {_describe(schema)}")
    else:
        # A wrong choice is known to be text; the kind would only distract.
        plain = isinstance(value, str) and (bool(_choices(schema)) or kind.startswith("string"))
        hint = _hint(value, schema) if isinstance(value, str) else ""
        yield Problem(path, f"found {show(value, kind=not plain)}; allowed: {_describe(schema)}{hint}")


def _hint(value: str, schema: Schema) -> str:
    types = {member.get("type") for member in _members(schema) or [schema]}
    if types & {"integer", "number"}:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if math.isfinite(number):
            return f" (did you mean the number {number:.15g}?)"
    if "boolean" in types and value.lower() in ("on", "yes", "off", "no"):
        return f" (did you mean {'true' if value.lower() in ('on', 'yes') else 'false'}?)"
    return did_you_mean(value, _choices(schema))


def _members(schema: Schema) -> list[Schema]:
    """Return the members of a union; nothing for another type."""
    return list(schema.get("anyOf", schema.get("oneOf", ())))


def _values(schema: Schema) -> Schema | None:
    """Return the schema of the values of a mapping with free names; None where the names are fixed."""
    values = next(iter(schema.get("patternProperties", {}).values()), schema.get("additionalProperties"))
    return values if isinstance(values, dict) else None


def _choices(schema: Schema) -> list[str]:
    own = [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else ())]
    return list(map(str, own)) + [choice for member in _members(schema) for choice in _choices(member)]


def _tags(members: Iterable[Schema], key: str) -> list[str]:
    """Return what the key that tells the members of a union apart may be."""
    return sorted(tag for member in members for tag in _choices(member.get("properties", {}).get(key, {})))


def _describe(schema: Schema) -> str:
    """Return what a schema allows, in words."""
    if "allowed" in schema:
        return str(schema["allowed"])
    if "const" in schema or "enum" in schema:
        choices = schema.get("enum") or [schema["const"]]
        shown = ", ".join(choice if isinstance(choice, str) else show(choice) for choice in choices)
        return f"one of {shown}" if len(choices) > 1 else shown
    if key := schema.get("discriminator", {}).get("propertyName"):
        return f"a mapping with the key {key} (one of {', '.join(_tags(_members(schema), key))}) and its settings"
    if members := _members(schema):
        return " or ".join(map(_describe, members))
    match schema.get("type"):
        case "integer" | "number":
            return _describe_number(schema)
        case "string":
            return "text that is not empty" if schema.get("minLength") else "text"
        case "boolean":
            return "true or false"
        case "null":
            return "null"
        case "array":
            return _describe_list(schema)
        case "object":
            if values := _values(schema):
                return f"a mapping of names, each to {_describe(values)}"
            keys = ", ".join(schema.get("properties", ()))
            return f"a mapping with the keys {keys}" if keys else "a mapping"
    return "any value"


def _describe_list(schema: Schema) -> str:
    entries = schema.get("prefixItems")
    size = " of at least one entry" if schema.get("minItems") else ""
    size = f" of {len(entries)} entries" if entries else size
    each = entries[0] if entries else schema.get("items")
    return f"a list{size}, each {_describe(each)}" if each else f"a list{size}"


def _describe_number(schema: Schema) -> str:
    noun = "whole number" if schema["type"] == "integer" else "number"
    words = {"exclusiveMinimum": "above", "minimum": "of at least", "exclusiveMaximum": "below", "maximum": "at most"}
    bounds = {key: schema[key] for key in words if key in schema}
    if bounds in ({"exclusiveMinimum": 0}, {"minimum": 1} if noun == "whole number" else None):
        return f"a positive {noun}"
    if bounds.keys() == {"minimum", "maximum"}:
        return f"a {noun} from {bounds['minimum']:.15g} to {bounds['maximum']:.15g}"
    return f"a {noun} {' and '.join(f'{words[key]} {bound:.15g}' for key, bound in bounds.items())}".strip()
