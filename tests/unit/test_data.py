"""Data sets as CSV files, and how files are written."""

import os
import stat

import numpy as np
import pytest

from narxbench.model.dataset import read_signals, write_signals
from narxbench.io.errors import NarxbenchError
from narxbench.io.files import canonical_json, write_atomically


def test_every_digit_comes_back(tmp_path, rng):
    u, y = rng.standard_normal(50) * 10.0 ** rng.integers(-300, 300, 50), rng.random(50)
    write_signals(tmp_path / "data.csv", u, y)
    back = read_signals(tmp_path / "data.csv")
    assert back[0].tobytes() == u.tobytes()
    assert back[1].tobytes() == y.tobytes()


def test_other_columns_and_layouts(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes(b"\xef\xbb\xbftime, y ,u\r\n0,1e-3,-2\r\n1,+4.,0.5\r\n\r\n")
    u, y = read_signals(path)
    np.testing.assert_array_equal(u, [-2.0, 0.5])
    np.testing.assert_array_equal(y, [1e-3, 4.0])
    assert len(read_signals(path, ("time",))) == 1


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "line 1: found columns []; needed: u, y"),
        (b"U,y\n1,2\n", "line 1: found columns ['U', 'y']; needed: u, y (did you mean 'U'?)"),
        (b"u,y\n", "found no samples below the header"),
        (b"u,y\n1,2\n3\n", "line 3: found 1 fields; the header has 2"),
        (b"u,y\n1,2\n\n3,4\n", "line 3: found 0 fields; the header has 2"),
        (b"u,y\n1,2\n3,x\n", "line 3, column 'y': found 'x'; allowed: a finite number"),
        (b"u,y\nnan,2\n", "line 2, column 'u': found 'nan'; allowed: a finite number"),
        (b"u,y\n1,1e999\n", "line 2, column 'y': found '1e999'; allowed: a finite number"),
        (b"u,y\n1_0,2\n", "line 2, column 'u': found '1_0'; allowed: a finite number"),
        (b"u,y\n,2\n", "line 2, column 'u': found ''; allowed: a finite number"),
        (b"u,y\n\xff,2\n", "not a CSV text file in UTF-8: "),
    ],
)
def test_mistakes_in_a_file(tmp_path, content, told):
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    with pytest.raises(NarxbenchError) as error:
        read_signals(path)
    assert str(error.value).startswith(f"{path}: ")
    assert told in str(error.value)


def test_missing_file(tmp_path):
    with pytest.raises(NarxbenchError, match=r"data\.csv: cannot be read: No such file"):
        read_signals(tmp_path / "data.csv")


@pytest.fixture(params=[0o022, 0o077, 0o002])
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_written_files_respect_the_umask(tmp_path, umask):
    write_atomically(tmp_path / "deep/file.txt", "text")
    assert stat.S_IMODE((tmp_path / "deep/file.txt").stat().st_mode) == 0o666 & ~umask


def test_written_files_hold_text_or_bytes(tmp_path):
    for content in ("ν\n", "ν\n".encode()):
        write_atomically(tmp_path / "file.txt", content)
        assert (tmp_path / "file.txt").read_bytes() == b"\xce\xbd\n"
    assert [path.name for path in tmp_path.iterdir()] == ["file.txt"]


def test_failed_writing_leaves_nothing_new(tmp_path, monkeypatch):
    path = tmp_path / "file.txt"
    write_atomically(path, "old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(NarxbenchError, match=r"file\.txt: cannot be written: No space left"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["file.txt"]


def test_canonical_json():
    assert canonical_json({"b": 0.1, "a": ["ν"]}) == '{\n "a": [\n  "ν"\n ],\n "b": 0.1\n}\n'
    with pytest.raises(ValueError, match="Out of range"):
        canonical_json({"a": float("inf")})
