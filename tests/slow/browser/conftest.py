"""A headless Chromium, the pages that it opens, and axe-core."""

import shutil
from pathlib import Path

import pytest
from tests.unit.analysis.summaries import CRITERIA, UNKNOWN
from tests.unit.report.factory import make_settings, paper_summaries, render, summary

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
INSTALL_AXE = "npm install --prefix tests/slow/browser --no-package-lock"
# Root, as in containers, has no sandbox; the rest keeps the browser itself from using the network.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--disable-sync"]


@pytest.fixture(scope="session")
def chromium():
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("no chromium is installed")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def axe():
    if not AXE.is_file():
        pytest.skip(f"axe-core is not installed; run: {INSTALL_AXE}")
    return AXE.read_text(encoding="utf-8")


@pytest.fixture
def serves_everybody(axe):
    """Check that nothing of an open page overflows, and that axe finds nothing in either colour scheme."""

    def check(page):
        for width in (360, 800, 1400):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, width
        page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        page.evaluate(axe)
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            found = page.evaluate("axe.run().then((result) => result.violations)")
            assert [(v["id"], [node["html"][:200] for node in v["nodes"][:3]]) for v in found] == [], scheme

    return check


@pytest.fixture(scope="session")
def complete(tmp_path_factory):
    """The pages of the paper's complete study, as files by name."""
    return written(tmp_path_factory, render(paper_summaries(), drawn=True))


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """The pages of an incomplete study with a system whose name is markup, without claims."""
    summaries = [*(summary(UNKNOWN, 30, criterion=each) for each in CRITERIA), summary("S1", 30, "ga")]
    return written(tmp_path_factory, render(summaries, make_settings(["S1", UNKNOWN]), stated=[]))


def written(factory, pages):
    """Write pages as the pipeline does: the main one next to the folder of the study."""
    folder = factory.mktemp("reports")
    (folder / "paper").mkdir()
    paths = {name.removesuffix(".html"): folder / ("" if name == "report.html" else "paper") / name for name in pages}
    for name, path in paths.items():
        path.write_text(pages[f"{name}.html"], encoding="utf-8")
    return paths


@pytest.fixture
def open_page(chromium):
    """Open a file in a new context; at the end, any error, request to elsewhere or message of the console fails."""
    contexts, problems = [], []

    def opened(path, width=1400, fragment="", **options):
        context = chromium.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: problems.append(f"console {message.type}: {message.text}"))
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on("request", lambda request: problems.append(request.url) if request.url != page.url else None)
        page.goto(path.as_uri() + fragment)
        problems[:] = [problem for problem in problems if not problem.startswith(path.as_uri())]
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not problems
