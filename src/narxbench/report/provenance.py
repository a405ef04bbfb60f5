"""The provenance of a study: runs, versions, data, settings, and how to make it again."""

import io
from collections.abc import Iterable, Mapping
from importlib import metadata
from typing import Any

import pandas as pd
import ruamel.yaml

from narxbench.report.formats import method_name
from narxbench.report.site import Material


def provenance_page(material: Material) -> str:
    """Return the page that says what the results of a study were made of."""
    summaries = material.summaries
    shown = {
        "settings": material.settings,
        "shown_settings": _shown_settings(material.settings),
        "run_counts": run_counts(material.frames["metrics"]),
        "versions": versions_of(summaries),
        "algorithms": dict.fromkeys((each["algorithm"], each["algorithm_sha256"]) for each in summaries),
        "data_sets": dict.fromkeys((each["system"], each["snr_db"], each["data_sha256"]) for each in summaries),
    }
    return material.site.page("provenance", shown)


def versions_of(summaries: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the versions that computed the conditions, and those of what draws the figures."""
    found = list(dict.fromkeys(pair for summary in summaries for pair in summary["versions"].items()))
    versions = {name: ", ".join(version for of, version in found if of == name) for name, _ in found}
    return versions | {"matplotlib": metadata.version("matplotlib")}


def run_counts(metrics: pd.DataFrame) -> dict[str, tuple[int, int, int]]:
    """Return conditions, runs and evaluations of each method, and of all together."""
    rows = metrics.assign(spent=metrics["runs"] * metrics["evaluations"])
    parts = {"all methods": rows, **{method_name(name): part for name, part in rows.groupby("method", sort=False)}}
    return {name: (len(part), part["runs"].sum(), part["spent"].sum()) for name, part in parts.items()}


def _shown_settings(settings: Mapping[str, Any]) -> str:
    """Return settings as YAML, without those that are not used; seeds from 1 to N as their number N."""
    seeds = settings["seeds"]
    counted = len(seeds) if seeds == list(range(1, len(seeds) + 1)) else seeds
    stream = io.StringIO()
    yaml = ruamel.yaml.YAML(typ="safe", pure=True)
    yaml.default_flow_style, yaml.sort_base_mapping_type_on_output = None, False  # type: ignore[assignment]
    yaml.dump({key: value for key, value in {**settings, "seeds": counted}.items() if value is not None}, stream)
    return stream.getvalue()
