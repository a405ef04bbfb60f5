"""How Snakemake reads the values of ``--configfile`` and ``--config``: as plain ones, by this project's own reader.

Snakemake's reader takes a file for a template and runs the code in it, lets aliases grow without end, and takes
``1:30`` for 90. It reads before the Snakefile, so it is the profiles that put the strict reader in its place; without
such a profile Snakemake's own is at work. What else this module needs is imported when it is used, so that a missing
package is told in words.
"""

import os
import sys
from collections.abc import Sequence
from typing import Any

import snakemake.cli
import snakemake.settings.types


def use_strict_reader() -> None:
    """Let Snakemake, in this process, read settings as plain values."""
    snakemake.settings.types.load_configfile = _configfile
    snakemake.cli.parse_config = _command_line


def no_module(missing: ModuleNotFoundError) -> str:
    """Return the line that tells a missing package and the remedy."""
    remedy = "python3 -m pip install uv && python3 -m uv sync, then uv run snakemake ..."
    return f"narxbench: Python finds no module {missing.name!r}; set up the environment: {remedy}"


def _configfile(path: str) -> dict[str, Any]:
    """Return the values of a file of ``--configfile``; a mistake ends the process with one line."""
    try:
        from narxbench.io.errors import NarxbenchError
        from narxbench.io.yaml import read_mapping
    except ModuleNotFoundError as missing:
        sys.exit(no_module(missing))
    try:
        return read_mapping(path)
    except NarxbenchError as mistake:
        # The option takes all words after it for files.
        hint = "" if os.path.lexists(path) else "; a target stands before --configfile"
        sys.exit(f"narxbench: {mistake}{hint}")


def _command_line(entries: Sequence[str] | None) -> dict[str, Any]:
    """Return the values of ``KEY=VALUE`` of ``--config``; a mistake ends the process with one line."""
    try:
        from narxbench.experiment.study_settings import assignment
        from narxbench.io.errors import NarxbenchError
    except ModuleNotFoundError as missing:
        sys.exit(no_module(missing))
    try:
        return {key: value for text in entries or () for key, value in assignment(text).items()}
    except NarxbenchError as mistake:
        sys.exit(f"narxbench: {mistake}")
