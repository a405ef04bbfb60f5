"""Make the rules import the library of this checkout, whether or not it is installed."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))


def missing(error: ModuleNotFoundError) -> str:
    """Return the line that names a missing package and the remedy."""
    remedy = "python3 -m pip install uv && python3 -m uv sync, then uv run snakemake ..."
    return f"narxbench: Python finds no module {error.name!r}; set up the environment: {remedy}"
