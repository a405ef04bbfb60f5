"""The files that the repository keeps of the study of interpretations.

Each start of Snakemake asks which are there, so this module has no import but ``os``.
"""

import os

# The kept files by name, below the folder of the reference results.
FILES = {
    "kept_conditions": "interpretations/conditions.csv",
    "kept_record": "interpretations/run.json",
    "kept_nearness": "paper/interpretations/nearness.csv",
    "kept_verdicts": "paper/interpretations/role_verdicts.csv",
    "kept_values": "paper/interpretations/values.csv",
    "kept_document": "paper/interpretations.md",
    "kept_effects": "paper/interpretations/effects.svg",
    "kept_scatter": "paper/interpretations/published_reproduced.svg",
}


def kept_paths(reference: str) -> dict[str, str]:
    """Return the kept files that exist, by name. ``reference`` is the folder of the reference results."""
    paths = {name: f"{reference}/{file}" for name, file in FILES.items()}
    return {name: path for name, path in paths.items() if os.path.exists(path)}
