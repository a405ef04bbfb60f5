"""The picture of the page names the page that it was taken of."""

import csv
import struct
import zlib
from pathlib import Path

import pytest

from narxbench.io.errors import NarxbenchError
from narxbench.report import screenshot

ROOT = Path(__file__).parents[3]


def png(*chunks):
    """Return a PNG of one pixel with more chunks before its image."""
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)),
        *chunks,
        (b"IDAT", zlib.compress(b"\0\0")),
        (b"IEND", b""),
    ]
    found = (
        struct.pack(">I", len(text)) + kind + text + struct.pack(">I", zlib.crc32(kind + text)) for kind, text in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(found)


def test_a_digest_is_kept_in_a_text_of_the_picture():
    other = (b"tEXt", b"Software\0something")
    assert screenshot.digest_of_page(png(other)) == ""
    kept = screenshot.with_digest(png(other), "ab" * 32)
    assert screenshot.digest_of_page(kept) == "ab" * 32
    assert kept == png((b"tEXt", b"SHA-256 of the page\0" + b"ab" * 32), other)


def test_without_a_browser_it_is_told(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NarxbenchError, match="found no browser"):
        screenshot.screenshot(tmp_path / "page.html")


def test_the_picture_in_the_documentation_is_that_of_the_kept_page():
    with open(ROOT / "data/reference/paper/manifest.csv", encoding="utf-8", newline="") as stream:
        digests = {row[0]: row for row in csv.reader(stream) if row}
    picture = (ROOT / "docs/images/report.png").read_bytes()
    assert screenshot.digest_of_page(picture) in digests["reports/report.html"]
    assert struct.unpack(">II", picture[16:24]) == (screenshot.WIDTH, screenshot.HEIGHT)
