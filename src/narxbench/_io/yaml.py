"""Strict reading of YAML: plain values only, no key twice, and one clear line for each mistake.

The syntax is YAML 1.2, scanned by ruamel.yaml. Values are mappings, lists, texts, finite numbers, ``true``, ``false``
and ``null``. All else is text: ``on``, ``yes``, dates, ``0x10`` and ``1_000``. Anchors, aliases and tags are refused,
so that no small file grows without end and none makes other objects.
"""

import math
import re
from collections.abc import Iterator
from copy import deepcopy
from functools import lru_cache
from itertools import takewhile
from typing import Any, NoReturn

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import Event, MappingEndEvent, ScalarEvent, SequenceEndEvent, SequenceStartEvent, StreamEndEvent
from ruamel.yaml.reader import ReaderError

from narxbench._io.errors import FileError, printable, show
from narxbench._io.files import StrPath, read_text

MAX_DEPTH = 50
# Larger files would take more than a second or two.
MOST_BYTES = 100_000

_WORDS: dict[str, bool | None] = {"": None, "~": None, "null": None, "Null": None, "NULL": None}
_WORDS |= {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_SURROGATE = re.compile("[\ud800-\udfff]")
_WHOLE = re.compile(r"[-+]?[0-9]+")
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]")
_NUMBER = re.compile(r"[-+]?([0-9]+(?:\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?")


def read_mapping(path: StrPath) -> dict[str, Any]:
    """Return the mapping in a YAML file, as :func:`read_value` reads it."""
    value = read_value(read_text(path, MOST_BYTES), str(path))
    if not isinstance(value, dict):
        raise FileError(f"{path}: found {show(value)} at the top level; allowed: a mapping (KEY: VALUE)")
    return value


def read_value(text: str, source: str) -> Any:
    """Return the value of YAML text, built of dict, list, str, int, float, bool and None. Errors name ``source``."""
    return deepcopy(_cached_value(text, source))


@lru_cache(maxsize=64)  # a process reads the same settings several times
def _cached_value(text: str, source: str) -> Any:
    try:
        return _document(YAML(typ="safe", pure=True).parse(text))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise FileError(f"{source}: {where}{printable(error.problem or error.context or 'not YAML')}") from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        problem = f"found the character U+{ord(text[error.position]):04X}; allowed: printable text"
        raise FileError(f"{source}: line {line}: not YAML: {problem}") from None
    except (ValueError, ArithmeticError) as error:  # the scanner's, of escapes and versions with impossible numbers
        raise FileError(f"{source}: not YAML: {printable(str(error))}") from None


def _document(events: Iterator[Event]) -> Any:
    next(events)  # the start of the stream
    if isinstance(next(events), StreamEndEvent):
        return None
    value = _value(next(events), events, 1)
    next(events)  # the end of the document
    end = next(events)
    if not isinstance(end, StreamEndEvent):
        _refuse(end, "found another document; allowed: one")
    return value


def _value(event: Event, events: Iterator[Event], depth: int) -> Any:
    """Return the value that begins with an event, and take the rest of it from ``events``."""
    for part, name in (("anchor", "anchor or alias"), ("tag", "tag")):
        text = getattr(event, part, None)
        if text:
            _refuse(event, f"found the {name} {text!s:.40}; allowed: plain values")
    if isinstance(event, ScalarEvent):
        return _scalar(event)
    if depth > MAX_DEPTH:
        _refuse(event, f"found more than {MAX_DEPTH} levels of nesting; allowed: at most {MAX_DEPTH}")
    if isinstance(event, SequenceStartEvent):
        return [_value(item, events, depth + 1) for item in _until(SequenceEndEvent, events)]
    return _mapping(events, depth)


def _until(end: type[Event], events: Iterator[Event]) -> Iterator[Event]:
    """Yield events up to one of type ``end``, which is taken too."""
    return takewhile(lambda event: not isinstance(event, end), events)


def _mapping(events: Iterator[Event], depth: int) -> dict[Any, Any]:
    """Return the mapping whose start was the last event."""
    mapping: dict[Any, Any] = {}
    lines: dict[Any, int] = {}
    for event in _until(MappingEndEvent, events):
        if not isinstance(event, ScalarEvent):
            _refuse(event, "found a list, mapping or alias for a key; allowed: a plain value")
        key = _value(event, events, depth + 1)
        if key in mapping:
            _refuse(event, f"the key {show(key, kind=False)} is given twice (first in line {lines[key]})")
        lines[key] = event.start_mark.line + 1
        mapping[key] = _value(next(events), events, depth + 1)
    return mapping


def _scalar(event: ScalarEvent) -> Any:
    text = event.value
    if _SURROGATE.search(text):
        _refuse(event, f"found {show(text, kind=False)}; allowed: text without halves of surrogate pairs")
    if not event.implicit[0]:  # quoted
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _WHOLE.fullmatch(text):
        # The length first: int() refuses more than 4300 digits.
        if len(text) > 20 or not -(2**63) <= int(text) < 2**63:
            _refuse(event, f"found {show(text, kind=False)}; allowed: a whole number of at most 64 bits")
        # Other readers take these digits for octal ones.
        if _LEADING_ZERO.match(text):
            _refuse(event, f"found {show(text, kind=False)}; allowed: a whole number without a 0 before it")
        return int(text)
    if _NUMBER.fullmatch(text):
        if not math.isfinite(float(text)):
            _refuse(event, f"found {show(text, kind=False)}; allowed: a number up to 1.8e308")
        return float(text)
    return text


def _refuse(event: Event, problem: str) -> NoReturn:
    raise MarkedYAMLError(problem=problem, problem_mark=event.start_mark)
