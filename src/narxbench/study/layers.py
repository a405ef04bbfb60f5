"""Settings in layers: files and values of the command line, merged in order, and which of them a mistake is in."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import chain
from pathlib import Path
from typing import Any

from narxbench.io.errors import NarxbenchError
from narxbench.io.files import StrPath
from narxbench.io.settings import SettingsError, report
from narxbench.io.yaml import read_mapping, read_value

COMMAND_LINE = "command line (--config)"
# What each source gives, by its name, in the order in which they are merged.
Layers = Sequence[tuple[str, Mapping[str, Any]]]


def read_layers(files: Sequence[StrPath], command_line: Sequence[str] = ()) -> list[tuple[str, dict[str, Any]]]:
    """Return what files and the command line set; a file that does not name the study gives it its own name."""
    layers = [(str(path), {"study": Path(path).stem, **read_mapping(path)}) for path in files]
    given = [assignment(text) for text in command_line]
    for key, times in Counter(chain(*given)).items():
        if times > 1:
            raise NarxbenchError(f"{COMMAND_LINE}: {key}: found {times} times; allowed: each key once")
    return layers + [(COMMAND_LINE, each) for each in given]


def assignment(text: str) -> dict[str, Any]:
    """Return what ``KEY=VALUE`` of the command line sets."""
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise NarxbenchError(f"{COMMAND_LINE}: found {text!r}; allowed: KEY=VALUE")
    return {key: read_value(value, f"{COMMAND_LINE}: {key}")}


def together(layers: Layers) -> dict[str, Any]:
    """Return the layers merged, each over those before it."""
    return reduce(merged, (layer for _, layer in layers), {})


def merged(base: Mapping[Any, Any], layer: Mapping[Any, Any], path: tuple[Any, ...] = ()) -> dict[Any, Any]:
    """Return a mapping with another one over it, key by key; ``path`` leads to it."""
    result = dict(base)
    # Another kind of excitation or another algorithm replaces the whole: none of the former settings fits it.
    if path[-1:] == ("excitation",) and layer.get("kind", base.get("kind")) != base.get("kind"):
        result.clear()
    if path[:-1] == ("methods",) and layer.get("algorithm", base.get("algorithm")) != base.get("algorithm"):
        result.pop("settings", None)
    for key, value in layer.items():
        below = result.get(key)
        over = below if isinstance(below, Mapping) else {}
        result[key] = merged(over, value, (*path, key)) if isinstance(value, Mapping) else value
    return result


def located(error: SettingsError, layers: Layers, otherwise: str) -> NarxbenchError:
    """Return mistakes in merged settings, each with the source that has the last word on its key."""
    origins = {place: source for source, layer in layers for place in _places(layer)}
    # A missing key is missed where its parent is given, an entry of a list where the list is.
    above = [[tuple(map(str, path[:end])) for end in range(len(path), 0, -1)] for path, _ in error.mistakes]
    sources = [next((origins[place] for place in places if place in origins), otherwise) for places in above]
    return NarxbenchError(report(error.mistakes, sources))


def _places(layer: Mapping[Any, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of every key of a layer, those of mappings in it included."""
    for key, value in layer.items():
        yield (*path, str(key))
        if isinstance(value, Mapping):
            yield from _places(value, (*path, str(key)))
