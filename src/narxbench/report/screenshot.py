"""A picture of the first screen of a page."""

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from narxbench.io.errors import NarxbenchError
from narxbench.io.files import StrPath, read_bytes

WIDTH, HEIGHT = 1300, 900
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def screenshot(page: StrPath) -> bytes:
    """Return a PNG of the first screen of a page, as Chromium shows it in a window of 1300 x 900.

    Raises
    ------
    NarxbenchError
        If there is no Chromium, or it fails.
    """
    browser = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if browser is None:
        raise NarxbenchError(f"screenshot: found no browser; needed: one of {', '.join(_BROWSERS)}")
    with TemporaryDirectory() as folder:
        picture = Path(folder, "page.png")
        # The page is the project's own; in a container Chromium has no sandbox.
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}"]
        options += [f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={picture}", Path(page).resolve().as_uri()]
        try:
            subprocess.run([browser, *options], check=True, capture_output=True, timeout=300)
        except subprocess.SubprocessError as error:
            raise NarxbenchError(f"screenshot: {error}") from None
        return read_bytes(picture)
