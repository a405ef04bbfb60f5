"""The notices of third parties are current."""

import re
import runpy
from importlib import metadata
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
WRITING = runpy.run_path(str(ROOT / "docs/write_notices.py"))
RENEW = "run python docs/write_notices.py"


def test_notices_are_current():
    pins = WRITING["PROJECT"]["tool"]["uv"]["constraint-dependencies"]
    for name in ("matplotlib", "pandas", "snakemake"):
        if f"{name}=={metadata.version(name)}" not in {pin.split(" ")[0] for pin in pins}:
            pytest.skip("not running under the pins")
    assert WRITING["page"]() == WRITING["PAGE"].read_text(encoding="utf-8"), RENEW
    assert WRITING["fonts"]() == WRITING["FONTS"].read_text(encoding="utf-8"), RENEW


def test_every_package_has_a_licence():
    packages = WRITING["PAGE"].read_text(encoding="utf-8").partition("| Licence | Packages |\n|---|---|\n")[2]
    rows = re.findall(r"^\| (.*) \| (.*) \|$", packages, re.MULTILINE)
    names = [name for _, listed in rows for name in listed.split(", ")]
    assert len(names) > 80 and len(names) == len(set(names))
    for licence, _ in rows:
        assert re.fullmatch(r"[A-Z0][\w .,()-]{2,60}", licence), licence
