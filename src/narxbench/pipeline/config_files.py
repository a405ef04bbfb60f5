"""How Snakemake reads the values of ``--configfile`` and ``--config``: as plain ones, by this project's own reader.

Snakemake's reader takes a file for a template and runs the code in it, lets aliases grow without end, and takes
``1:30`` for 90. It reads before the Snakefile, so it is the profiles that put the strict reader in its place; without
such a profile Snakemake's own is at work. What else this module needs is imported when it is used, so that a missing
package is told in words.
"""

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import snakemake.cli
import snakemake.settings.types

from narxbench.io.errors import NarxbenchError


def use_strict_reader() -> None:
    """Let Snakemake, in this process, read settings as plain values; a mistake ends the process with one line."""
    snakemake.settings.types.load_configfile = _in_one_line(_configfile)
    snakemake.cli.parse_config = _in_one_line(_command_line)


def no_module(missing: ModuleNotFoundError) -> str:
    """Return the line that tells a missing package and the remedy."""
    remedy = "python3 -m pip install uv && python3 -m uv sync, then uv run snakemake ..."
    return f"narxbench: Python finds no module {missing.name!r}; set up the environment: {remedy}"


def _in_one_line(read: Callable[[Any], dict[str, Any]]) -> Callable[[Any], dict[str, Any]]:
    def checked(given: Any) -> dict[str, Any]:
        try:
            return read(given)
        except ModuleNotFoundError as missing:
            sys.exit(no_module(missing))
        except NarxbenchError as mistake:
            sys.exit(f"narxbench: {mistake}")

    return checked


def _configfile(path: str) -> dict[str, Any]:
    """Return the values of a file of ``--configfile``."""
    from narxbench.io.yaml import read_mapping

    try:
        return read_mapping(path)
    except NarxbenchError as mistake:
        # The option takes all words after it for files.
        hint = "" if os.path.lexists(path) else "; a target stands before --configfile"
        raise NarxbenchError(f"{mistake}{hint}") from None


def _command_line(entries: Sequence[str] | None) -> dict[str, Any]:
    """Return the values of ``KEY=VALUE`` of ``--config``."""
    from narxbench.experiment.study_settings import assignment

    return {key: value for text in entries or () for key, value in assignment(text).items()}
