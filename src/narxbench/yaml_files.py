"""YAML files read strictly: one clear line for what cannot be read, and no key given twice."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from narxbench.errors import NarxbenchError
from narxbench.validation import show


def read_mapping(path: str | Path) -> dict[str, Any]:
    """Return a YAML file's mapping; unlike PyYAML itself, refuse a key that is given twice."""
    try:
        value = yaml.load(Path(path).read_text(encoding="utf-8"), Loader=_StrictLoader)
    except OSError as error:
        raise NarxbenchError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise NarxbenchError(f"{path}: not text in UTF-8 (byte {error.start})") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise NarxbenchError(f"{path}: {where}{error.problem or error.context}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise NarxbenchError(f"{path}: not YAML: {str(error).splitlines()[0]}") from None
    if not isinstance(value, dict):
        raise NarxbenchError(f"{path}: found {show(value)} at the top level; allowed: a mapping (KEY: VALUE)")
    return value


class _StrictLoader(yaml.SafeLoader):
    """PyYAML keeps the last of several equal keys without a word."""


def _mapping(loader: _StrictLoader, node: yaml.MappingNode) -> Any:
    first: dict[Hashable, int] = {}
    for key_node, _ in node.value:
        key = loader.construct_object(key_node, deep=True)
        if isinstance(key, Hashable) and key_node.tag != "tag:yaml.org,2002:merge":
            if key in first:
                problem = f"the key {key!r} is given twice (first in line {first[key]})"
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
            first[key] = key_node.start_mark.line + 1
    return loader.construct_yaml_map(node)


_StrictLoader.add_constructor("tag:yaml.org,2002:map", _mapping)
