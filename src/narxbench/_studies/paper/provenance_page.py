"""The provenance of a study: runs, versions, data, settings, and how to make it again."""

import io
from collections.abc import Iterable, Mapping
from importlib import metadata
from typing import Any

import pandas as pd
import ruamel.yaml

from narxbench._report.formats import method_name
from narxbench._studies.paper.site import Material


def provenance_page(material: Material) -> str:
    """Return the page on the runs, versions, data and settings behind the results of a study."""
    summaries = material.summaries
    algorithms: dict[tuple[str, str], None] = {}  # pairs, each once, in the order of the summaries
    data_sets: dict[tuple[str, float, str], None] = {}
    for summary in summaries:
        algorithms[summary["algorithm"], summary["algorithm_sha256"]] = None
        data_sets[summary["system"], summary["snr_db"], summary["data_sha256"]] = None
    values = {
        "settings": material.settings,
        "shown_settings": _settings_as_yaml(material.settings),
        "run_counts": run_counts(material.frames["metrics"]),
        "versions": _versions(summaries),
        "algorithms": algorithms,
        "data_sets": data_sets,
    }
    return material.site.page("provenance", values)


def _settings_as_yaml(settings: Mapping[str, Any]) -> str:
    """Return the settings that are used as YAML, with seeds from 1 to N as their number N."""
    used = {key: value for key, value in settings.items() if value is not None}
    seeds = settings["seeds"]
    if seeds == list(range(1, len(seeds) + 1)):
        used["seeds"] = len(seeds)
    stream = io.StringIO()
    yaml = ruamel.yaml.YAML(typ="safe", pure=True)
    yaml.default_flow_style, yaml.sort_base_mapping_type_on_output = None, False  # type: ignore[assignment]
    yaml.dump(used, stream)
    return stream.getvalue()


def _versions(summaries: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the versions that computed the conditions, and that of the package that draws the figures."""
    versions: dict[str, dict[str, None]] = {}
    for summary in summaries:
        for name, version in summary["versions"].items():
            versions.setdefault(name, {})[version] = None
    joined = {name: ", ".join(all_versions) for name, all_versions in versions.items()}
    return joined | {"matplotlib": metadata.version("matplotlib")}


def run_counts(metrics: pd.DataFrame) -> dict[str, tuple[int, int, int]]:
    """Return conditions, runs and evaluations of each method, and of all together."""
    rows = metrics.assign(spent=metrics["runs"] * metrics["evaluations"])
    counts = {}
    for name, part in (("", rows), *rows.groupby("method", sort=False)):
        title = method_name(name) if name else "all methods"
        counts[title] = len(part), part["runs"].sum(), part["spent"].sum()
    return counts
