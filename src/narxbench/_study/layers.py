"""Settings in layers: files and values of the command line, merged in order. A mistake names its layer."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from narxbench._io.errors import NarxbenchError
from narxbench._io.files import StrPath
from narxbench._io.settings import SettingsError, report
from narxbench._io.yaml import read_mapping, read_value

COMMAND_LINE = "command line (--config)"
# The settings of each source, by its name, in the order in which they are merged.
Layers = Sequence[tuple[str, Mapping[str, Any]]]


def read_layers(files: Sequence[StrPath], command_line: Sequence[str] = ()) -> list[tuple[str, dict[str, Any]]]:
    """Return the settings of files and of the command line.

    A file that names no study gives it its own name, unless a file before it names one.
    """
    layers: list[tuple[str, dict[str, Any]]] = []
    is_named = False
    for path in map(Path, files):
        settings = read_mapping(path)
        is_named = is_named or "study" in settings
        name = {} if is_named else {"study": path.stem}
        layers.append((str(path), {**name, **settings}))
    assignments = [assignment(text) for text in command_line]
    for key, times in Counter(chain(*assignments)).items():
        if times > 1:
            raise NarxbenchError(f"{COMMAND_LINE}: {key}: found {times} times; allowed: each key once")
    layers.extend((COMMAND_LINE, setting) for setting in assignments)
    return layers


def assignment(text: str) -> dict[str, Any]:
    """Return the setting that ``KEY=VALUE`` of the command line assigns."""
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise NarxbenchError(f"{COMMAND_LINE}: found {text!r}; allowed: KEY=VALUE")
    return {key: read_value(value, f"{COMMAND_LINE}: {key}")}


def merge_layers(layers: Layers) -> dict[str, Any]:
    """Return the layers merged, each over those before it."""
    settings: dict[str, Any] = {}
    for _, layer in layers:
        settings = merge(settings, layer)
    return settings


def merge(base: Mapping[Any, Any], layer: Mapping[Any, Any], path: tuple[Any, ...] = ()) -> dict[Any, Any]:
    """Return a mapping with a layer over it, key by key. ``path`` is the place of both in the settings."""
    result = dict(base)
    # An excitation of another kind, or another algorithm, replaces the whole: no former setting fits it.
    if path[-1:] == ("excitation",) and layer.get("kind", base.get("kind")) != base.get("kind"):
        result.clear()
    if path[:-1] == ("methods",) and layer.get("algorithm", base.get("algorithm")) != base.get("algorithm"):
        result.pop("settings", None)
    for key, value in layer.items():
        if not isinstance(value, Mapping):
            result[key] = value
            continue
        below = result.get(key)
        if not isinstance(below, Mapping):
            below = {}
        result[key] = merge(below, value, (*path, key))
    return result


def with_sources(error: SettingsError, layers: Layers, otherwise: str) -> NarxbenchError:
    """Return the mistakes in merged settings, each with the source that has the last word on its key."""
    origins: dict[tuple[str, ...], str] = {}
    for source, layer in layers:
        origins.update(dict.fromkeys(_paths(layer), source))
    sources = [_source(tuple(map(str, path)), origins, otherwise) for path, _ in error.mistakes]
    return NarxbenchError(report(error.mistakes, sources))


def _source(path: tuple[str, ...], origins: Mapping[tuple[str, ...], str], otherwise: str) -> str:
    """Return the source of a key. A missing key has the source of its parent, and a list's entry that of the list."""
    for end in range(len(path), 0, -1):
        if path[:end] in origins:
            return origins[path[:end]]
    return otherwise


def _paths(layer: Mapping[Any, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of every key of a layer and of the mappings in it."""
    for key, value in layer.items():
        yield (*path, str(key))
        if isinstance(value, Mapping):
            yield from _paths(value, (*path, str(key)))
