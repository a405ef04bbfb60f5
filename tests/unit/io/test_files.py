"""Files: whole or not at all, canonical, and clear about what cannot be read."""

import json
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from narxbench.io.csv import TEXT, read_table
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import (
    MOST_DATA,
    MOST_FOUND,
    canonical_json,
    read_bytes,
    read_json,
    read_text,
    write_atomically,
)
from narxbench.io.yaml import read_mapping


@pytest.fixture(params=[0o022, 0o077, 0o002])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_written_files_respect_the_umask(tmp_path: Path, umask: int) -> None:
    write_atomically(tmp_path / "deep/file.txt", "text")
    assert stat.S_IMODE((tmp_path / "deep/file.txt").stat().st_mode) == 0o666 & ~umask


def test_written_files_hold_text_or_bytes(tmp_path: Path) -> None:
    for content in ("ν\n", "ν\n".encode()):
        write_atomically(tmp_path / "file.txt", content)
        assert (tmp_path / "file.txt").read_bytes() == b"\xce\xbd\n"
    assert [path.name for path in tmp_path.iterdir()] == ["file.txt"]


def test_failed_writing_leaves_nothing_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file.txt"
    write_atomically(path, "old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(NarxbenchError, match=r"file\.txt: cannot be written: No space left"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["file.txt"]


def test_canonical_json() -> None:
    assert canonical_json({"b": 0.1, "a": ["ν"]}) == '{"a":["ν"],"b":0.1}\n'
    assert canonical_json({"b": 0.1, "a": ["ν"]}, indent=1) == '{\n "a": [\n  "ν"\n ],\n "b": 0.1\n}\n'
    with pytest.raises(ValueError, match="Out of range"):
        canonical_json({"a": float("inf")})


def test_canonical_json_reads_back_to_the_last_bit(tmp_path: Path) -> None:
    value = {"ν\u2028": [1e-300, -0.0, 0.1 + 0.2, 2**70, None, True, {"": []}]}
    write_atomically(tmp_path / "x.json", canonical_json(value))
    assert repr(read_json(tmp_path / "x.json")) == repr(value) == repr(json.loads(canonical_json(value)))


BAD = b"|{|[1,]|NaN|[Infinity]|\"\\ud800\"|\xff|01|'a'"
DAMAGED = [*BAD.split(b"|"), b"[" * 100_000, b'{"a":' * 100_000]


@pytest.mark.parametrize("content", DAMAGED, ids=lambda content: repr(content[:12]))
def test_damaged_json(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.json").write_bytes(content)
    with pytest.raises(NarxbenchError, match="damaged, not valid JSON") as error:
        read_json(tmp_path / "x.json")
    assert str(error.value).startswith(f"{tmp_path}/x.json: ")
    assert len(str(error.value)) < 300


READERS: list[Callable[[Any], object]] = [read_bytes, read_text, read_json, read_mapping]
READERS.append(lambda path: read_table(path, {"a": TEXT}))


@pytest.mark.parametrize("read", READERS)
def test_what_cannot_be_read(tmp_path: Path, read: Callable[[Any], object]) -> None:
    for path, reason in ((tmp_path / "none", "No such file or directory"), (tmp_path, "Is a directory")):
        with pytest.raises(NarxbenchError) as error:
            read(path)
        assert str(error.value) == f"{path}: cannot be read: {reason}"
    for name in ("a\x00b", "\ud800"):
        with pytest.raises(NarxbenchError, match="cannot be read: not a name of a file"):
            read(name)


def test_what_may_never_end_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    for path, reason in (
        (tmp_path / "pipe", "not a regular file"),
        ("/dev/zero", "not a regular file"),
        (tmp_path / "loop", "Too many levels of symbolic links"),
        (tmp_path / ("a" * 300), "File name too long"),
    ):
        with pytest.raises(NarxbenchError) as error:
            read_bytes(path)
        assert str(error.value) == f"{path}: cannot be read: {reason}"


@pytest.mark.parametrize(("read", "most"), [(read_bytes, MOST_DATA), (read_json, MOST_FOUND), (read_mapping, 100_000)])
def test_files_that_are_too_large(tmp_path: Path, read: Callable[[Any], object], most: int) -> None:
    path = tmp_path / "large"
    path.touch()
    os.truncate(path, most + 1)  # takes no room on the disk
    with pytest.raises(NarxbenchError) as error:
        read(path)
    assert str(error.value) == f"{path}: cannot be read: found {most + 1} bytes; allowed: up to {most}"
