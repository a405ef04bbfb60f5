"""The provenance of a study: runs, versions, data, settings, and how to make it again."""

import io
from importlib import metadata

import pandas as pd
import ruamel.yaml

from narxbench.report.formats import method_name
from narxbench.studies.paper.site import Material


def provenance_page(material: Material) -> str:
    """Return the page that says what the results of a study were made of.

    Of its settings it leaves out those that are not used, and shows seeds from 1 to N as their number N.
    """
    summaries = material.summaries
    seeds = material.settings["seeds"]
    counted = len(seeds) if seeds == list(range(1, len(seeds) + 1)) else seeds
    known = {key: value for key, value in {**material.settings, "seeds": counted}.items() if value is not None}
    stream = io.StringIO()
    yaml = ruamel.yaml.YAML(typ="safe", pure=True)
    yaml.default_flow_style, yaml.sort_base_mapping_type_on_output = None, False  # type: ignore[assignment]
    yaml.dump(known, stream)
    # The versions that computed the conditions, and of what draws the figures.
    found = dict.fromkeys(pair for summary in summaries for pair in summary["versions"].items())
    versions = {name: ", ".join(version for of, version in found if of == name) for name, _ in found}
    shown = {
        "settings": material.settings,
        "shown_settings": stream.getvalue(),
        "run_counts": run_counts(material.frames["metrics"]),
        "versions": versions | {"matplotlib": metadata.version("matplotlib")},
        "algorithms": dict.fromkeys((each["algorithm"], each["algorithm_sha256"]) for each in summaries),
        "data_sets": dict.fromkeys((each["system"], each["snr_db"], each["data_sha256"]) for each in summaries),
    }
    return material.site.page("provenance", shown)


def run_counts(metrics: pd.DataFrame) -> dict[str, tuple[int, int, int]]:
    """Return conditions, runs and evaluations of each method, and of all together."""
    rows = metrics.assign(spent=metrics["runs"] * metrics["evaluations"])
    parts = {"all methods": rows, **{method_name(name): part for name, part in rows.groupby("method", sort=False)}}
    return {name: (len(part), part["runs"].sum(), part["spent"].sum()) for name, part in parts.items()}
