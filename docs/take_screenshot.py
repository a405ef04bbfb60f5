"""Picture the first screen of the page: python docs/take_screenshot.py writes docs/images/report.png for the README.

It needs reports/report.html, which the study of the paper makes, and Chromium.
"""

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
PAGE, PICTURE = ROOT / "reports/report.html", ROOT / "docs/images/report.png"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def take() -> None:
    """Write the first screen of the page as Chromium shows it in a window of 1300 x 900."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None or not PAGE.exists():
        raise SystemExit(f"needed: {PAGE}, and one of {', '.join(BROWSERS)}")
    with TemporaryDirectory() as folder:
        # The page is the project's own; in a container Chromium has no sandbox.
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={folder}"]
        options += ["--window-size=1300,900", f"--screenshot={PICTURE}", PAGE.as_uri()]
        subprocess.run([browser, *options], check=True, capture_output=True, timeout=300)


if __name__ == "__main__":
    take()
