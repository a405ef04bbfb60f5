"""The notices of third parties are current, and name what the chart library itself says that it holds."""

import re
import runpy
from importlib import metadata
from pathlib import Path

import pytest
from plotly.offline import get_plotlyjs, get_plotlyjs_version

ROOT = Path(__file__).parents[3]
WRITING = runpy.run_path(str(ROOT / "docs/write_notices.py"))
RENEW = "run python docs/write_notices.py"


def test_notices_are_current():
    pins = dict(pin.split(" ")[0].split("==") for pin in WRITING["PROJECT"]["tool"]["uv"]["constraint-dependencies"])
    if any(metadata.version(name) != pins[name] for name in ("matplotlib", "plotly", "pandas", "snakemake")):
        pytest.skip("not running under the pins")
    assert WRITING["page"]() == WRITING["PAGE"].read_text(encoding="utf-8"), RENEW
    assert WRITING["fonts"]() == WRITING["FONTS"].read_text(encoding="utf-8"), RENEW
    assert WRITING["CHARTS"].read_text(encoding="utf-8").startswith(f"plotly.js {get_plotlyjs_version()} "), RENEW


def test_every_package_has_a_licence():
    rows = re.findall(r"^\| ([a-z0-9-]+) \| \S+ \| (.*) \|$", WRITING["PAGE"].read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) > 80 and all(re.fullmatch(r"[A-Z0][\w .,()-]{2,60}", licence) for _, licence in rows)


def test_packages_in_the_chart_library_have_their_notices():
    """The library ends with a list of those that ask for it in their code: far fewer than there are."""
    notices = WRITING["CHARTS"].read_text(encoding="utf-8")
    told = set(re.findall(r"(?:(?<=: |, )|^)[@a-z][\w./@-]+(?=,|$)", notices, re.MULTILINE))
    listed = "".join(re.findall(r"Bundled license information:(.*?)\*/", get_plotlyjs(), re.DOTALL)).replace(
        "\\n", "\n"
    )
    packages = {found[0] for found in re.findall(r"^((?:@[^/\s]+/)?[^/\s]+)(/\S+):$", listed, re.MULTILINE)}
    assert {"buffer", "ieee754", "maplibre-gl", "polybooljs"} <= packages <= told
    # The bundles within the bundle: an old d3, and what draws in three dimensions.
    assert {"@plotly/d3", "gl-mesh3d", "weak-map"} <= told and len(told) > 300
    for words in ("Permission is hereby granted, free of charge", "Apache License", "Redistributions in binary form"):
        assert words in notices
