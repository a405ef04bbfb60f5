"""Files: whole or not at all, canonical, and clear about what cannot be read."""

import json
import os
import stat
from pathlib import Path

import pytest
from tests.lookups import file_names

from narxbench._io.errors import NarxbenchError
from narxbench._io.files import canonical_json, read_json, write_atomically, write_folder


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_written_files_hold_text_or_bytes_and_respect_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        for content in ("ν\n", "ν\n".encode()):
            write_atomically(tmp_path / "deep/file.txt", content)
            assert (tmp_path / "deep/file.txt").read_bytes() == b"\xce\xbd\n"
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "deep/file.txt").stat().st_mode) == 0o666 & ~umask
    assert os.listdir(tmp_path / "deep") == ["file.txt"]


def test_failed_writing_leaves_nothing_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file.txt"
    write_atomically(path, "old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(NarxbenchError, match=r"file\.txt: cannot be written: No space left"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert file_names(tmp_path) == ["file.txt"]


def test_canonical_json_reads_back_to_the_last_bit(tmp_path: Path) -> None:
    assert canonical_json({"b": 0.1, "a": ["ν"]}) == '{"a":["ν"],"b":0.1}\n'
    assert canonical_json({"b": 0.1, "a": ["ν"]}, indent=1) == '{\n "a": [\n  "ν"\n ],\n "b": 0.1\n}\n'
    with pytest.raises(ValueError, match="Out of range"):
        canonical_json({"a": float("inf")})
    value = {"ν\u2028": [1e-300, -0.0, 0.1 + 0.2, 2**70, None, True, {"": []}]}
    write_atomically(tmp_path / "x.json", canonical_json(value))
    assert repr(read_json(tmp_path / "x.json")) == repr(value) == repr(json.loads(canonical_json(value)))


def test_a_folder_is_whole_or_has_no_last_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new folder appears at once; in an old one the last file goes first, and others that are not named stay."""
    folder = tmp_path / "deep/report"
    write_folder(folder, {"page": "1", "model": "1"}, last="page")
    (folder / "notes").write_text("kept")
    (folder / "program").write_text("old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", fail)
        with pytest.raises(NarxbenchError, match=r"report: cannot be written: No space left"):
            write_folder(folder, {"page": "2", "model": "2"}, last="page", obsolete=["program"])
    assert set(file_names(folder)) == {"model", "notes"}
    write_folder(folder, {"page": "2", "model": "2"}, last="page", obsolete=["program"])
    contents = {path.name: path.read_text() for path in folder.iterdir()}
    assert contents == {"page": "2", "model": "2", "notes": "kept"}
    assert file_names(folder.parent) == ["report"]
