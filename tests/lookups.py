"""Ways to look at results that many tests share: an item by its values, the names of items, the files of a folder."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


def value_of(item: Any, name: str) -> Any:
    """Return an attribute of an item or, if the item is a mapping, the value of a key."""
    return item[name] if isinstance(item, Mapping) else getattr(item, name)


def values_of(items: Iterable[Any], name: str) -> list[Any]:
    """Return the value of an attribute or a key of each item."""
    return [value_of(item, name) for item in items]


def names_of(items: Iterable[Any]) -> list[Any]:
    """Return the names of findings, notes, records and whatever else has a name."""
    return values_of(items, "name")


def roles_of(records: Iterable[Any]) -> list[Any]:
    """Return the roles of records."""
    return values_of(records, "role")


def kinds_of(warnings: Iterable[Any]) -> list[Any]:
    """Return the kinds of warnings or doubts."""
    return values_of(warnings, "kind")


def items_by_name(items: Iterable[Any]) -> dict[str, Any]:
    """Return items by their names."""
    return {value_of(item, "name"): item for item in items}


def item_with(items: Iterable[Any], **values: Any) -> Any:
    """Return the only item that has these values of attributes or keys."""
    matching = []
    for item in items:
        if {name: value_of(item, name) for name in values} == values:
            matching.append(item)
    assert len(matching) == 1, f"{len(matching)} items have {values}"
    return matching[0]


def file_names(folder: Path) -> list[str]:
    """Return the sorted names of all files and folders in a folder."""
    return sorted(names_of(folder.iterdir()))
