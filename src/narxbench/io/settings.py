"""Strict settings: pydantic models whose problems are told in plain words, one line each."""

import datetime
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin

import pydantic
from pydantic.fields import FieldInfo

from narxbench.io.errors import NarxbenchError, did_you_mean

T = TypeVar("T", bound=pydantic.BaseModel)
Path = tuple[str | int, ...]
_SHOWN = 5
_VALUE_WIDTH = 60


class Settings(pydantic.BaseModel):
    """Base of all settings: unknown keys, text for numbers, truth values for numbers, inf and nan are refused."""

    model_config = pydantic.ConfigDict(
        strict=True, extra="forbid", frozen=True, allow_inf_nan=False, use_attribute_docstrings=True
    )


@dataclass(frozen=True)
class Allowed:
    """Annotation of a type whose allowed values are better told by ``text`` than by its fields and bounds."""

    text: str


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
    """Return ``values`` as a ``model``; raise SettingsError with lines ``SOURCE: KEY.PATH[0]: found …; allowed: …``."""
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
    parts = (f"[{part}]" if isinstance(part, int) else f".{printable(part, _VALUE_WIDTH)}" for part in path)
    return "".join(parts).removeprefix(".")


def printable(text: str, width: int = 200) -> str:
    """Return text of the user's for use in a line of a message: shortened, and escaped if it would break the line."""
    text = text if len(text) <= width else f"{text[: width - 10]}…{text[-9:]}"
    return text if text.isprintable() else repr(text)[1:-1]


def show(value: object, kind: bool = True) -> str:
    """Return a value as a message shows it: shortened, and with its kind where that is not obvious."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    try:
        text = str(value) if isinstance(value, datetime.date) else repr(value)
    except (ValueError, RecursionError):  # Python writes no whole number of more than 4300 digits
        text = "a value too long to show"
    if len(text) > _VALUE_WIDTH:
        text = f"{text[: _VALUE_WIDTH - 10]}…{text[-9:]}"
    kinds: dict[type, str] = {str: "text", list: "list", tuple: "list", dict: "mapping", datetime.date: "date"}
    return text + next((f" ({name})" for type_, name in kinds.items() if kind and isinstance(value, type_)), "")


def problems_of(model: type[pydantic.BaseModel], error: pydantic.ValidationError) -> list[Problem]:
    """Return pydantic's errors as problems, one for each place, in the order of the model's fields."""
    found: dict[Problem, Path | None] = {}
    for detail in error.errors(include_url=False):
        path, annotation, union = _follow(model, detail["loc"])
        for problem in _problems(path, annotation, detail):
            found.setdefault(problem, union)
    # Every member of a union complains; those that looked inside the value know better what is wrong with it.
    inside = {union for problem, union in found.items() if union is not None and len(problem.path) > len(union)}
    return [problem for problem, union in found.items() if union not in inside or len(problem.path) > len(union or ())]


def _problems(path: Path, annotation: Any, detail: Any) -> Iterator[Problem]:
    kind, value, context = detail["type"], detail["input"], detail.get("ctx", {})
    if isinstance(context.get("error"), SettingsError):
        for problem in context["error"].problems:
            yield Problem(path + problem.path, problem.text)
    elif kind in ("value_error", "assertion_error"):
        yield Problem(path, str(context["error"]))
    elif kind in ("extra_forbidden", "invalid_key"):
        keys = _keys(annotation)
        yield Problem(path, f"unknown key; allowed: {', '.join(keys)}{did_you_mean(path[-1], keys)}")
    elif kind == "missing":
        yield Problem(path, f"missing; allowed: {_describe(annotation)}")
    elif kind in ("union_tag_invalid", "union_tag_not_found"):
        key = context["discriminator"].strip("'")
        tags = sorted(map(str, _tags(annotation, key)))
        tag = value.get(key) if isinstance(value, Mapping) else context.get("tag")
        found = f"found {show(tag, kind=False)}" if kind == "union_tag_invalid" else "missing"
        hint = did_you_mean(tag, tags) if isinstance(tag, str) else ""
        yield Problem((*path, key), f"{found}; allowed: one of {', '.join(tags)}{hint}")
    elif detail["loc"][-1:] == ("[key]",):
        yield Problem(path, f"found the key {show(value)}; allowed: {_describe(annotation)}")
    else:
        # A wrong choice is known to be text; the kind would only distract.
        choices = _choices(annotation)
        found = show(value, kind=not (isinstance(value, str) and (choices or kind.startswith("string"))))
        yield Problem(path, f"found {found}; allowed: {_describe(annotation)}{_hint(value, annotation, choices)}")


def _hint(value: object, annotation: Any, choices: list[str]) -> str:
    if isinstance(value, bool):
        # YAML 1.1 reads the bare words on, off, yes and no as truth values.
        words = [word for word in (("on", "yes") if value else ("off", "no")) if word in choices]
        return f' (did you mean "{words[0]}"? it needs quotes in YAML)' if words else ""
    if isinstance(value, str):
        if _numeric(annotation):
            try:
                number = float(value)
            except ValueError:
                number = math.nan
            # YAML 1.1 also reads 1e-3 as text.
            if math.isfinite(number):
                return f" (did you mean the number {_number(number)}?)"
        return did_you_mean(value, choices)
    return ""


def _follow(model: Any, location: tuple[str | int, ...]) -> tuple[Path, Any, Path | None]:
    """Return path, annotation there (of the model, for an unknown key) and the path of the last undivided union.

    Pydantic's locations also name the members of unions, which are no keys of the user's.
    """
    path: Path = ()
    annotation, union, rest = model, None, list(location)
    while rest:
        type_, metadata = _bare(annotation)
        if _is_model(type_):
            part = rest.pop(0)
            path += (str(part),)
            fields = {field.alias or name: field for name, field in type_.model_fields.items()}
            if part not in fields:
                return path, type_, union
            field = fields[str(part)]
            annotation = Annotated[field.annotation, field]
        elif get_origin(type_) in (Union, UnionType):
            members = [member for member in get_args(type_) if member is not NoneType]
            tag_key = _discriminator(metadata)
            if len(members) == 1:
                annotation = members[0]
                continue
            label = str(rest.pop(0))
            if tag_key:
                annotation = next((m for m in members if label in map(str, _tags(m, tag_key))), type_)
            elif rest:
                union = path
                annotation = _member(members, label, rest[0])
            else:
                return path, annotation, path
        elif get_origin(type_) in (list, tuple, set, frozenset):
            part = rest.pop(0)
            arguments = [argument for argument in get_args(type_) if argument is not Ellipsis]
            path += (part,)
            annotation = arguments[part if isinstance(part, int) and part < len(arguments) else 0]
        elif get_origin(type_) in (dict, Mapping):
            key, (key_type, annotation) = rest.pop(0), get_args(type_)
            if rest == ["[key]"]:
                return path, key_type, union
            path += (str(key),)
        else:
            break
    return path, annotation, union


def _member(members: list[Any], label: str, following: str | int) -> Any:
    bare = [(member, _bare(member)[0]) for member in members]
    named = [member for member, type_ in bare if _is_model(type_) and type_.__name__ in label]
    collections = (list, tuple, set, frozenset) if isinstance(following, int) else (dict, Mapping)
    return next(iter(named + [member for member, type_ in bare if get_origin(type_) in collections]), members[0])


def _bare(annotation: Any) -> tuple[Any, list[Any]]:
    """Return the type without its ``Annotated`` wrappers and aliases, and their metadata as one list."""
    metadata: list[Any] = []
    while True:
        if get_origin(annotation) is Annotated:
            annotation, *extra = get_args(annotation)
            metadata += extra
        elif hasattr(annotation, "__value__"):  # a type alias
            annotation = annotation.__value__
        else:
            break
    return annotation, [part for item in metadata for part in ([item, *item.metadata] if _is_field(item) else [item])]


def _is_field(item: object) -> bool:
    return isinstance(item, FieldInfo)


def _is_model(type_: Any) -> bool:
    return isinstance(type_, type) and issubclass(type_, pydantic.BaseModel)


def _discriminator(metadata: list[Any]) -> str | None:
    return next((str(item.discriminator) for item in metadata if getattr(item, "discriminator", None)), None)


def _members(annotation: Any) -> list[Any]:
    type_, _ = _bare(annotation)
    if get_origin(type_) in (Union, UnionType):
        return [inner for member in get_args(type_) for inner in _members(member)]
    return [annotation]


def _keys(annotation: Any) -> list[str]:
    type_, _ = _bare(annotation)
    return [field.alias or name for name, field in type_.model_fields.items()] if _is_model(type_) else []


def _tags(annotation: Any, key: str) -> list[object]:
    models = [_bare(member)[0] for member in _members(annotation)]
    return [tag for model in models if _is_model(model) for tag in get_args(model.model_fields[key].annotation)]


def _choices(annotation: Any) -> list[str]:
    types = [_bare(member)[0] for member in _members(annotation)]
    return [str(choice) for type_ in types if get_origin(type_) is Literal for choice in get_args(type_)]


def _numeric(annotation: Any) -> bool:
    return any(_bare(member)[0] in (int, float) for member in _members(annotation))


def _describe(annotation: Any) -> str:
    type_, metadata = _bare(annotation)
    told = [item.text for item in metadata if isinstance(item, Allowed)]
    bounds = {
        name: value
        for item in metadata
        for name in ("ge", "gt", "le", "lt", "min_length")
        if (value := getattr(item, name, None)) is not None
    }
    origin, arguments = get_origin(type_), get_args(type_)
    if told:
        return str(told[-1])
    if type_ in (None, NoneType):
        return "null"
    if type_ is bool:
        return "true or false"
    if type_ is int:
        return _describe_whole(bounds)
    if type_ is float:
        return _describe_number(bounds)
    if type_ is str:
        return "text that is not empty" if bounds.get("min_length") else "text"
    if origin is Literal:
        shown = ", ".join(show(choice) if not isinstance(choice, str) else choice for choice in arguments)
        return f"one of {shown}" if len(arguments) > 1 else shown
    if origin in (Union, UnionType):
        key = _discriminator(metadata)
        if key:
            tags = ", ".join(sorted(map(str, _tags(type_, key))))
            return f"a mapping with the key {key} (one of {tags}) and its settings"
        # Bounds given for ``float | None`` belong to its number.
        return " or ".join(_describe(Annotated[member, None, *metadata]) for member in arguments)
    if origin in (list, tuple, set, frozenset):
        size = " of at least one entry" if bounds.get("min_length") else ""
        if origin is tuple and Ellipsis not in arguments:
            size = f" of {len(arguments)} entries"
        return f"a list{size}, each {_describe(arguments[0])}" if arguments else f"a list{size}"
    if origin in (dict, Mapping):
        return f"a mapping of names, each to {_describe(arguments[1])}"
    keys = _keys(type_)
    return f"a mapping with the keys {', '.join(keys)}" if keys else "a mapping"


def _describe_whole(bounds: dict[str, Any]) -> str:
    low = bounds.get("ge", bounds["gt"] + 1 if "gt" in bounds else None)
    high = bounds.get("le", bounds["lt"] - 1 if "lt" in bounds else None)
    if low is not None and high is not None:
        return f"a whole number from {_number(low)} to {_number(high)}"
    if low is not None:
        return "a positive whole number" if low == 1 else f"a whole number of at least {_number(low)}"
    return "a whole number" if high is None else f"a whole number of at most {_number(high)}"


def _describe_number(bounds: dict[str, Any]) -> str:
    if {"ge", "le"} <= bounds.keys():
        return f"a number from {_number(bounds['ge'])} to {_number(bounds['le'])}"
    words = {"gt": "above", "ge": "of at least", "lt": "below", "le": "at most"}
    if bounds.get("gt") == 0 and not {"lt", "le"} & bounds.keys():
        return "a positive number"
    return " ".join(
        ["a number", " and ".join(f"{words[k]} {_number(bounds[k])}" for k in words if k in bounds)]
    ).strip()


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)
