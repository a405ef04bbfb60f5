"""Errors of measured data, in the words that all of them share."""

from collections.abc import Sequence
from typing import Any

from narxbench._io.errors import FieldError, NarxbenchError, did_you_mean, printable, show


def argument_error(argument: str, what: str, allowed: str, source: str = "") -> FieldError:
    """Return the error of an argument in which ``what`` was found instead of ``allowed``."""
    return FieldError(argument, f"found {what}; allowed: {allowed}", source)


def unknown_name(argument: str, name: Any, names: Sequence[str]) -> FieldError:
    """Return the error of an unknown name, with the closest of the allowed ones."""
    return argument_error(argument, show(name, kind=False), f"{printable(', '.join(names))}{did_you_mean(name, names)}")


def data_error(place: str, what: str, allowed: str) -> NarxbenchError:
    """Return the error of a place in the data at which ``what`` was found instead of ``allowed``."""
    return NarxbenchError(f"{place}: found {what}; allowed: {allowed}")
