"""Manifests: they read back, and what differs is reported."""

from pathlib import Path
from typing import Any

import pytest

from narxbench._io.errors import NarxbenchError
from narxbench._io.files import sha256
from narxbench._io.settings import flattened
from narxbench._pipeline.manifest import check_settings, manifest_csv, read_manifest, verdict

SETTINGS: dict[str, Any] = {"seeds": [1, 2], "study": "mine", "note": "=1+1", "least": -2}
SETTINGS["methods"] = {"ga": {"settings": {"elitism": False}}}


def made_with(settings: dict[str, Any], **versions: str) -> dict[str, str]:
    values = {f"settings/{name}": value for name, value in flattened(settings)}
    values |= {"code/search": "0123", "versions/python": "3.11", "versions/numpy": "2.0"}
    return values | {f"versions/{name}": value for name, value in versions.items()}


MADE_WITH = made_with(SETTINGS)
FILES = ["data/a.csv", "data/run, 1.json", "report.html"]
NAMED = dict(zip(FILES, FILES, strict=True))


@pytest.fixture
def reference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    for file in FILES:
        Path(file).write_text(f"content of {file}")
    Path("manifest.csv").write_text(manifest_csv(NAMED, MADE_WITH))
    return Path("manifest.csv")


def test_a_manifest_reads_back(reference: Path) -> None:
    rows = read_manifest(reference)
    expected = {"settings/seeds": "[1, 2]", "settings/study": "mine", "settings/methods.ga.settings.elitism": "false"}
    assert rows.items() >= expected.items()
    # A spreadsheet takes neither for a formula.
    assert "settings/note,'=1+1\nsettings/least,-2\n" in reference.read_text() and rows["settings/note"] == "=1+1"
    assert list(rows)[-3:] == FILES
    assert rows["report.html"] == sha256("content of report.html")
    assert {f"environment/{name}" for name in ("platform", "python", "numpy", "narxbench")} <= rows.keys()
    assert "code/search" not in rows


def test_verdicts(reference: Path) -> None:
    same = "3 of 3 files are the same as in manifest.csv.\nVersions and platform are those of the reference.\n"
    assert verdict(reference, NAMED, MADE_WITH) == (True, same)
    # Another package than the reference knows of is no other environment.
    newer = made_with(SETTINGS, numpy="2.1", scipy="1.0")
    Path("report.html").write_text("other")
    Path("data/run, 1.json").write_text("other")
    Path("data/a.csv").unlink()
    Path("new.csv").touch()
    verified, text = verdict(reference, {**NAMED, "new.csv": "new.csv"}, newer)
    assert not verified
    assert text.splitlines() == [
        "0 of 3 files are the same as in manifest.csv.",
        "Different: 2 files, the first in the order of causes is data/run, 1.json",
        "Missing: 1 files, the first in the order of causes is data/a.csv",
        "Not in the reference: 1 files, the first in the order of causes is new.csv",
        "Made in another environment: numpy 2.1 (reference: 2.0).",
    ]


def test_other_settings(reference: Path) -> None:
    check_settings(reference, MADE_WITH)
    with pytest.raises(NarxbenchError) as error:
        check_settings(reference, made_with({**SETTINGS, "seeds": [1], "new": None}))
    reported = "seeds: found [1]; needed: [1, 2]; new: found null; needed: nothing"
    assert str(error.value) == f"verify: manifest.csv was made with other settings: {reported}"
    with pytest.raises(NarxbenchError, match=r"no manifest none\.csv to compare with: run the study to its end first"):
        check_settings("none.csv", MADE_WITH)
