"""A folder in which studies are planned."""

from pathlib import Path

import pytest

from narxbench._pipeline.plan import plan_of

ROOT = Path(__file__).parents[3]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder, with the project's settings and data."""
    (tmp_path / "data").mkdir()
    for name in ("config", "scripts", "data/buck"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def plan(folder):
    """Return the plan of the overlay ``mine.yaml``."""

    def planned(overlay, *command_line):
        Path("mine.yaml").write_text(overlay)
        return plan_of(["mine.yaml"], command_line)

    return planned
