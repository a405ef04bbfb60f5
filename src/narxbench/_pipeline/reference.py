"""The reference results that the repository keeps of a study, and the results that are compared with them."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from narxbench._pipeline.manifest import check_settings, other_settings
from narxbench._pipeline.plan import REFERENCE, Plan
from narxbench._pipeline.sources import Sources
from narxbench._pipeline.steps import ended_in_one_line


def kept_manifest(study: str, made_with: Mapping[str, str], own: str) -> str:
    """Return the manifest to compare a study with: the kept one, if it has these settings, or else the study's."""
    kept = f"{REFERENCE}/{study}/manifest.csv"
    if os.path.exists(kept) and not other_settings(kept, made_with):
        return kept
    return own


def to_verify(plan: Plan, sources: Sources, own: str, results: Iterable[str]) -> list[str]:
    """Return the files that are made before the comparison: all if the repository has reference results of them.

    A study without results, and one whose manifest ``own`` is of other settings, ends the process with one line.
    """
    with ended_in_one_line():
        reference = kept_manifest(plan.name, plan.made_with, own)
        if reference != own:
            return [*sources.lost(), *results]
        if os.path.exists(reference) or not sources.exist():
            check_settings(reference, plan.made_with)
    return []


def kept_files(study: str, results: Iterable[str]) -> dict[str, str]:
    """Return the reference results that the repository keeps of a study, each with the result that it copies."""
    copies = {}
    for path in results:
        # Without the folders of tables and figures, but with that of the interpretations: their document names it.
        kept = f"{REFERENCE}/{study}"
        if path.startswith(f"reports/{study}/interpretations/"):
            kept += "/interpretations"
        copies[f"{kept}/{Path(path).name}"] = path
    return copies
