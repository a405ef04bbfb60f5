"""A picture of the first screen of a page, which names the page that it was taken of."""

import shutil
import struct
import subprocess
import zlib
from pathlib import Path
from tempfile import TemporaryDirectory

from narxbench.io.errors import NarxbenchError
from narxbench.io.files import StrPath, read_bytes, sha256

WIDTH, HEIGHT = 1300, 900
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_KEYWORD = b"SHA-256 of the page\0"


def screenshot(page: StrPath) -> bytes:
    """Return a PNG of the first screen of a page, as Chromium shows it in a window of 1300 x 900.

    The PNG holds the SHA-256 digest of the page as a text (:func:`digest_of_page`).

    Raises
    ------
    NarxbenchError
        If there is no Chromium, or it fails.
    """
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        raise NarxbenchError(f"screenshot: found no browser; needed: one of {', '.join(_BROWSERS)}")
    digest = sha256(read_bytes(page))
    with TemporaryDirectory() as folder:
        picture = Path(folder, "page.png")
        # The page is the project's own; in a container Chromium has no sandbox.
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}"]
        options += [f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={picture}", Path(page).resolve().as_uri()]
        try:
            subprocess.run([browser, *options], check=True, capture_output=True, timeout=300)
        except subprocess.SubprocessError as error:
            raise NarxbenchError(f"screenshot: {error}") from None
        drawn = read_bytes(picture)
    return with_digest(drawn, digest)


def with_digest(png: bytes, digest: str) -> bytes:
    """Return a PNG with the digest of its page as a text."""
    text = b"tEXt" + _KEYWORD + digest.encode("ascii")
    chunk = struct.pack(">I", len(text) - 4) + text + struct.pack(">I", zlib.crc32(text))
    # Behind the header, which has a fixed length of 25 bytes and comes first.
    start = len(_SIGNATURE) + 25
    return png[:start] + chunk + png[start:]


def digest_of_page(png: bytes) -> str:
    """Return the digest of the page that a PNG was taken of, or "" if it names none."""
    place = len(_SIGNATURE)
    while place < len(png):
        size = struct.unpack(">I", png[place : place + 4])[0]
        kind, content = png[place + 4 : place + 8], png[place + 8 : place + 8 + size]
        if kind == b"tEXt" and content.startswith(_KEYWORD):
            return content.removeprefix(_KEYWORD).decode("ascii")
        place += size + 12
    return ""
