"""YAML files read strictly: one clear line for what cannot be read, no key given twice, and no file that explodes."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any

import yaml

from narxbench.io.errors import NarxbenchError
from narxbench.io.files import read_bytes
from narxbench.io.settings import printable, show

MAX_DEPTH, MAX_NODES = 50, 1_000_000
_WHOLE = 2**63


def read_mapping(path: str | Path) -> dict[str, Any]:
    """Return a YAML file's mapping; unlike PyYAML itself, refuse a key that is given twice."""
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise NarxbenchError(f"{path}: not text in UTF-8 (byte {error.start})") from None
    value = read_value(text, str(path))
    if not isinstance(value, dict):
        raise NarxbenchError(f"{path}: found {show(value)} at the top level; allowed: a mapping (KEY: VALUE)")
    return value


def read_value(text: str, source: str) -> Any:
    """Return the value of YAML text; errors name ``source``, line and column."""
    try:
        loader = _StrictLoader(text)
        node = loader.get_single_node()
        return None if node is None else loader.construct_document(_checked(node))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise NarxbenchError(f"{source}: {where}{printable(error.problem or error.context or 'not YAML')}") from None
    except yaml.reader.ReaderError as error:
        raise NarxbenchError(
            f"{source}: line {text.count(chr(10), 0, error.position) + 1}: not YAML: found the character "
            f"U+{error.character:04X}; allowed: printable text"
        ) from None
    except RecursionError:
        raise NarxbenchError(f"{source}: nested too deeply; allowed: {MAX_DEPTH} levels") from None


class _StrictLoader(yaml.SafeLoader):
    """PyYAML keeps the last of several equal keys without a word, and lets scalars fail with errors of its own."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            value = super().construct_object(node, deep=deep)
        except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError):
            raise self._wrong(node, "allowed: a value of the kind that its notation or tag announces") from None
        if isinstance(value, int) and not -_WHOLE <= value < _WHOLE:
            raise self._wrong(node, "allowed: a whole number of at most 64 bits")
        if isinstance(value, str) and not value.isascii() and any("\ud800" <= char <= "\udfff" for char in value):
            raise self._wrong(node, "allowed: text without halves of surrogate pairs")
        return value

    def scan_flow_scalar(self, style: str) -> yaml.ScalarToken:
        start = self.get_mark()
        try:
            return super().scan_flow_scalar(style)
        except (ValueError, OverflowError):
            raise yaml.scanner.ScannerError(None, None, "found an escape of no character", start) from None

    def scan_yaml_directive_number(self, start_mark: yaml.Mark) -> int:
        try:
            return super().scan_yaml_directive_number(start_mark)
        except ValueError:  # of more than 4300 digits
            raise yaml.scanner.ScannerError(None, None, "found no version of YAML", start_mark) from None

    @staticmethod
    def _wrong(node: yaml.Node, allowed: str) -> yaml.constructor.ConstructorError:
        found = show(node.value, kind=False) if isinstance(node.value, str) else node.tag
        return yaml.constructor.ConstructorError(None, None, f"found {found}; {allowed}", node.start_mark)


def _checked(root: yaml.Node) -> yaml.Node:
    """Return the node, or refuse what is too deep, contains itself, or grows by its aliases beyond all measure."""
    sizes: dict[int, int] = {}
    _measure(root, 1, sizes, set())
    return root


def _measure(node: yaml.Node, depth: int, sizes: dict[int, int], above: set[int]) -> int:
    """Return how many nodes a node has, those behind an alias counted each time."""
    if isinstance(node, yaml.ScalarNode):
        return 1
    if id(node) in above:
        raise yaml.composer.ComposerError(None, None, "found an alias of what contains it", node.start_mark)
    if depth > MAX_DEPTH:
        problem = f"found more than {MAX_DEPTH} levels of nesting; allowed: at most {MAX_DEPTH}"
        raise yaml.composer.ComposerError(None, None, problem, node.start_mark)
    if id(node) not in sizes:
        above.add(id(node))
        pairs = isinstance(node, yaml.MappingNode)
        parts = [part for pair in node.value for part in pair] if pairs else node.value
        sizes[id(node)] = 1 + sum(_measure(part, depth + 1, sizes, above) for part in parts)
        above.discard(id(node))
    if sizes[id(node)] > MAX_NODES:
        problem = f"found more than {MAX_NODES} values, aliases followed; allowed: at most {MAX_NODES}"
        raise yaml.composer.ComposerError(None, None, problem, node.start_mark)
    return sizes[id(node)]


def _mapping(loader: _StrictLoader, node: yaml.MappingNode) -> Any:
    first: dict[Hashable, int] = {}
    # What a merge key (<<) brings is overridden by keys of the mapping itself, which gives none twice.
    for key_node in (key_node for key_node, _ in node.value if key_node.tag != "tag:yaml.org,2002:merge"):
        key = loader.construct_object(key_node, deep=True)
        if isinstance(key, Hashable):
            if key in first:
                problem = f"the key {show(key, kind=False)} is given twice (first in line {first[key]})"
                raise yaml.constructor.ConstructorError(None, None, problem, key_node.start_mark)
            first[key] = key_node.start_mark.line + 1
    return loader.construct_yaml_map(node)


_StrictLoader.add_constructor("tag:yaml.org,2002:map", _mapping)
