"""Fixtures of a headless Chromium, of the pages that it opens, and of axe-core."""

import shutil
from pathlib import Path

import pytest
from tests.unit.studies.paper.runs import FURTHER_PAGES, RECORD, Run, make_settings
from tests.unit.studies.paper.summaries import CRITERIA, UNKNOWN, make_summary, paper_summaries

AXE = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
INSTALL_AXE = "npm ci --prefix tests/slow/browser"
# Root, as in containers, has no sandbox; the rest keeps the browser itself from using the network.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--disable-sync"]


@pytest.fixture(scope="session")
def chromium():
    """Yield a headless Chromium, if there is one."""
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


def summary_of(violations):
    """Return the name of each violation of axe and its first places."""
    lines = []
    for violation in violations:
        places = [node["html"][:200] for node in violation["nodes"][:3]]
        lines.append(f"{violation['id']}: {', '.join(places)}")
    return "\n".join(lines)


@pytest.fixture
def serves_everybody(axe):
    """Check that nothing of an open page overflows, and that axe finds nothing in either colour scheme."""

    def check(page):
        page.evaluate("document.querySelectorAll('details').forEach((part) => { part.open = true; })")
        for width in (360, 390, 800, 1280, 1400):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, width
        page.evaluate(axe)
        # Colours do not depend on the width.
        for width, scheme in ((390, "light"), (1280, "dark")):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            violations = page.evaluate("axe.run().then((result) => result.violations)")
            assert violations == [], f"{width} pixels, {scheme}: {summary_of(violations)}"

    return check


@pytest.fixture(scope="session")
def complete(tmp_path_factory):
    """Return the pages of the paper's complete study, as files by name."""
    return pages_of(tmp_path_factory, paper_summaries(), make_settings())


@pytest.fixture(scope="session")
def trial(tmp_path_factory):
    """Return the pages of a trial: all conditions of the paper's study, with fewer runs and evaluations."""
    command = "snakemake --cores 8 --config seeds=4 evaluations=600"
    record = RECORD | {"command": command, "settings": "--config seeds=4 evaluations=600"}
    settings = make_settings(seeds=4) | {"evaluations": 600}
    return pages_of(tmp_path_factory, paper_summaries(runs=4, evaluations=600), settings, record)


def pages_of(factory, summaries, settings, record=RECORD):
    """Return the pages of these conditions, with figures and what the repository keeps, as files by name."""
    run = Run(factory.mktemp("run"), summaries, settings)
    run.pages(record, drawn=True)
    folder = run.folder / "reports"
    return {"report": folder / "report.html", **{name: folder / f"paper/{name}.html" for name in FURTHER_PAGES}}


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """Return the pages of an incomplete study with a system that the paper does not have."""
    summaries = [make_summary(UNKNOWN, 30, criterion=criterion) for criterion in CRITERIA]
    summaries.append(make_summary("S1", 30, "ga"))
    return pages_of(tmp_path_factory, summaries, make_settings(["S1", UNKNOWN]))


@pytest.fixture
def open_page(chromium):
    """Open files in new contexts; fail at the end if there was an error, a foreign request or a console message."""
    contexts, problems = [], []

    def open_file(path, width=1400, **options):
        context = chromium.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: problems.append(f"console {message.type}: {message.text}"))
        page.on("pageerror", lambda error: problems.append(f"error: {error}"))
        page.on("request", lambda request: problems.append(request.url) if request.url != page.url else None)
        page.goto(path.as_uri())
        problems[:] = [problem for problem in problems if not problem.startswith(path.as_uri())]
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert not problems
