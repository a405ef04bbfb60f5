"""Pictures, examples, links, paths and commands of the documentation are right."""

import doctest
import json
import re
import runpy
import shlex
import shutil
from functools import partial
from itertools import chain, takewhile
from pathlib import Path
from urllib.parse import unquote

import pytest
from tests.command import python
from tests.workflow.project import Project

import narxbench
from narxbench._algorithms.registry import REVIEWED
from narxbench._pipeline.manifest import read_manifest
from narxbench._pipeline.plan import plan_of
from narxbench._studies.loading import load_study
from narxbench._study.design_choices import load_design_choices
from narxbench._study.layers import read_layers

ROOT = Path(__file__).parents[3]
PATHS = chain(*map(ROOT.glob, ("*.md", "docs/**/*.md", "config/*.md", "data/reference/*.md")))
PAGES = sorted(path.relative_to(ROOT).as_posix() for path in PATHS if "_build" not in path.parts)
TEXT = {page: (ROOT / page).read_text(encoding="utf-8") for page in PAGES}
# The change log names what there was.
CURRENT_PAGES = sorted({*PAGES} - {"CHANGELOG.md"})
# Files that the pipeline makes or a reader writes, and names that represent others.
NOT_KEPT = re.compile(
    r"(results/|reports?/|data|logs|mine|docs/_build|\.snakemake|\.venv|measurements|profiles/cluster/\w+-)|.*[A-Z]{3}"
)


def anchors(text):
    """Return the anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def commands():
    """Return every Snakemake command that a page names in full, without its first word."""
    commands_of_pages = set()
    for page in CURRENT_PAGES:
        text = TEXT[page]
        fenced = re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        blocks = "\n".join(block for language, block in fenced if not language)
        commands_of_pages |= set(re.findall(r"^(?:python3 .*)?\bsnakemake (.*)$", blocks, re.MULTILINE))
        commands_of_pages |= set(re.findall(r"`snakemake ([^`]*)`", text))
    return sorted(command for command in commands_of_pages if not re.search(r"[A-Z]{4}|…", command))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["draw_fit", "draw_imports", "draw_noise_models"])
def test_pictures_are_current(name):
    drawing = runpy.run_path(str(ROOT / f"docs/{name}.py"))
    kept = drawing["PICTURE"].read_text(encoding="utf-8")
    assert drawing["picture"]() == kept, f"run python docs/{name}.py"


@pytest.mark.slow
@pytest.mark.parametrize("page", ["docs/tutorial.md", "docs/worked_example.md", "docs/noise_models.md"])
def test_examples_of_a_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for data in (ROOT / "data" / "buck").glob("*.csv"):
        shutil.copy(data, tmp_path)
    (tmp_path / "page").write_text(re.sub(r"^```.*$", "", TEXT[page], flags=re.MULTILINE), encoding="utf-8")
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, attempted = doctest.testfile(str(tmp_path / "page"), False, optionflags=flags, encoding="utf-8")
    assert failed == 0 < attempted


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(((?!\w+://)[^)\s]+)\)", TEXT[page]):
        path, _, anchor = link.partition("#")
        target = (ROOT / page).parent / (path or Path(page).name)
        assert target.exists(), link
        assert not anchor or anchor in anchors(target.read_text(encoding="utf-8")), link


@pytest.mark.slow
@pytest.mark.parametrize("page", CURRENT_PAGES)
def test_paths_named_exist(page):
    """Paths in backticks are relative to the top folder or to that of the page."""
    for path in re.findall(r"`([\w./-]+/[\w.-]*|[\w-]+\.(?:py|smk|yaml|toml|cff))`", TEXT[page]):
        is_there = (ROOT / path).exists() or (ROOT / page).parent.joinpath(path).exists()
        assert is_there or NOT_KEPT.match(path), path


@pytest.mark.slow
@pytest.mark.parametrize("command", commands())
def test_snakemake_commands_can_be_typed(command, monkeypatch):
    monkeypatch.chdir(ROOT)
    command, _, files = command.partition(" -- ")
    line, _, settings = command.partition("--config ")
    options = dict(re.findall(r"(--workflow-profile|--cores)[ =](\S+)", line))
    targets = re.sub(r"--(workflow-profile|cores)[ =]\S+|--?[a-z-]+|\S+\.yaml", "", line).split()
    assert options.get("--workflow-profile", "none") == "none" or Path(options["--workflow-profile"]).is_dir()
    study = [text for text in shlex.split(settings) if not text.startswith("finished_only=")]
    # A file that the reader writes need not be there.
    overlays = re.findall(r"\S+\.yaml", line)
    plan_of([path for path in overlays if path.startswith("config/") or Path(path).exists()], study)
    # A small study has files of the same names as the paper's.
    targets += files.replace("reports/quick/", "reports/paper/").split()
    rules = "".join(path.read_text(encoding="utf-8") for path in Path("workflow/rules").glob("*.smk"))
    rule_names = re.findall(r"^ *rule (\w+):", rules, re.MULTILINE)
    assert set(targets) <= {*rule_names, *results_of_the_paper()}


CHECKS = TEXT["docs/the_paper.md"].partition("\n## Check a claim\n")[2]
# The further cells of each row of the table, by its first cell: the command, its searches, …, its files.
ROWS = {}
for _line in re.findall(r"^\|.*`.*", CHECKS, re.MULTILINE):
    _name, *_cells = _line.strip("| ").split(" | ")
    ROWS[_name] = _cells
# Small values of settings, with which each step still runs.
SMALL = ("seeds=2", "evaluations=300")
# Commands that make files of every kind, those first whose runs others need; the rest differs in names alone.
KINDS = ("The 18 claims", "Table VII", "Figures 1 and 2", "Tables I and II")


def arguments(command):
    """Return the words of a command after its name."""
    return shlex.split(command.strip("`"))[1:]


def test_every_table_figure_and_claim_has_a_command():
    results = " ".join(ROWS)
    for numeral in ("I", "II", "III", "IV", "V", "VI", "VII"):
        assert re.search(rf"\b{numeral}\b", results), numeral
    assert "Figures 1 and 2" in results
    claims = (ROOT / "data/reference/claims.yaml").read_text(encoding="utf-8").count("- id:")
    assert sum(map(int, re.findall(r"\b(\d+) claims", results))) == claims


@pytest.mark.slow
@pytest.mark.parametrize("name", ROWS)
def test_a_command_has_as_many_searches_as_the_table_says(name):
    command, n_searches, *_ = ROWS[name]
    options = arguments(command)
    study = plan_of(list(map(ROOT.joinpath, values_of("--configfile", options))), values_of("--config", options))
    assert study.estimate.searches == int(n_searches.replace(",", ""))


def values_of(option, words):
    """Return the values of an option, which end with the next one."""
    if option not in words:
        return []
    values = words[words.index(option) + 1 :]
    return list(takewhile(lambda word: not word.startswith("--"), values))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    return Project.of_checkout(tmp_path_factory.mktemp("checks") / "project")


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_a_command_runs_at_a_reduced_size(checkout, name):
    command, *_, file_cell = ROWS[name]
    words, files = arguments(command), file_cell.strip("`").split("`, `")
    if "--config" not in words:
        words.insert(2, "--config")
    place = words.index("--config") + 1
    words[place:place] = SMALL
    for file in files:
        (checkout / file).unlink(missing_ok=True)
    python("-m", "snakemake", *words, folder=checkout.root)
    for file in files:
        assert (checkout / file).stat().st_size > 0


def results_of_the_paper():
    """Return the results that the repository's manifest of the paper's study names."""
    return read_manifest(ROOT / "data/reference/paper/manifest.csv")


def test_results_on_the_way_of_one_seed_are_those_of_the_study():
    results = re.findall(r"Result: `(.*?)`", TEXT["docs/architecture.md"])
    assert len(results) == 6
    # The page that people read quotes the record of its run, and so is no reproducible result.
    assert set(results) <= {*results_of_the_paper(), "reports/report.html"}


def test_examples_of_the_configuration(tmp_path):
    system, method = re.findall(r"```yaml\n(.*?)```", TEXT["config/README.md"], re.DOTALL)
    (tmp_path / "mine.yaml").write_text(method, encoding="utf-8")
    layers = [*read_layers([ROOT / "config/paper.yaml"]), *read_layers([tmp_path / "mine.yaml"])]
    study = load_study(layers)
    assert (study.study, list(study.methods)) == ("mine", ["upso2d", "ga-tournament", "stepwise"])
    (tmp_path / "tank.yaml").write_text(system, encoding="utf-8")
    assert len(narxbench.load_system("tank", tmp_path).terms) == 3


def test_every_algorithm_and_design_choice_is_named():
    choices = load_design_choices(ROOT / "config/design_choices.yaml")
    for name in (*choices.design_choices, *choices.named):
        assert f"`{name}`" in TEXT["config/README.md"], name
    for name in REVIEWED:
        assert f"| `{name.replace('_', '-')}` |" in TEXT["docs/methods.md"], name


# The site is built with the results of this notebook, which takes no time. The code of the others is run beside it.
EXECUTED = "docs/notebooks/look.md"
OTHER_NOTEBOOKS = sorted(set(filter(re.compile("docs/notebooks/").match, PAGES)) - {EXECUTED})
BUILD = """
import sys
from sphinx.application import Sphinx
site, *others = sys.argv[1:]
# Only a kernel says which language the code of a notebook has.
changed = {"nb_execution_excludepatterns": others, "suppress_warnings": ["myst-nb.lexer"]}
app = Sphinx(".", "docs", site, f"{site}/.doctrees", "html", changed, status=None, warningiserror=True)
app.build()
sys.exit(app.statuscode)
"""


@pytest.fixture
def little_effort(monkeypatch):
    """Let identifications search with little effort: what they find is not checked."""
    for name in ("identify", "NarxRegressor"):
        monkeypatch.setattr(narxbench, name, partial(with_little_effort, getattr(narxbench, name)))


def with_little_effort(function, *arguments, **options):
    return function(*arguments, **{**options, "effort": 0.2})


@pytest.mark.slow
@pytest.mark.ci
@pytest.mark.parametrize("page", OTHER_NOTEBOOKS)
def test_the_code_of_a_notebook(little_effort, monkeypatch, page):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    monkeypatch.chdir(ROOT / "docs/notebooks")
    cells = re.findall(r"```\{code-cell\} ipython3\n(.*?)```", TEXT[page], re.DOTALL)
    assert cells
    exec(compile("\n".join(cells), page, "exec"), {})
    pyplot.close("all")


@pytest.mark.slow
@pytest.mark.ci
def test_the_site_is_built_offline_for_a_public_host(tmp_path):
    pytest.importorskip("sphinx")
    site = tmp_path / "html"
    python("-c", BUILD, site, *OTHER_NOTEBOOKS, folder=ROOT, NARXBENCH_SITE="https://example.org/narxbench/")
    pages = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    assert "read_signals" in pages[site / "docs/api/narxbench._model.html"]
    check_links(site, pages)
    # The search leads to what people look for.
    index = (site / "searchindex.js").read_text(encoding="utf-8").partition("(")[2].rstrip(")")
    assert {"Install", "Leaderboard"} <= json.loads(index)["alltitles"].keys()


def check_links(site, pages):
    """Check that every file that a page loads or leads to is a part of the site."""
    for page, text in pages.items():
        loaded = re.findall(r'<(?:script|img|link(?! rel="canonical")|iframe)\b[^>]*?(?:src|href)="([^"]*)', text)
        assert [link for link in loaded if re.match(r"(https?:)?//", link)] == [], page
        for link in (*loaded, *re.findall(r'<a\b[^>]*?href="([^"#?]+)', text)):
            path = unquote(re.split("[#?]", link)[0])
            assert re.match(r"\w+:", link) or is_made(page.parent / path), (page, link)


def is_made(path):
    """Return whether a file of the site is there, or is a thumbnail of a notebook that was not executed."""
    if path.parent.name == "thumbnails" and path.stem != Path(EXECUTED).stem:
        return f"docs/notebooks/{path.stem}.md" in OTHER_NOTEBOOKS
    return path.exists()


@pytest.mark.slow
def test_the_same_task_with_other_packages(tmp_path, monkeypatch, capsys):
    for package in ("sysidentpy", "fastcan"):
        pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    for data in (ROOT / "data" / "buck").glob("*.csv"):
        shutil.copy(data, tmp_path)
    codes = re.findall(r"```python\n(.*?)```", TEXT["docs/coming_from.md"], re.DOTALL)
    assert len(codes) == 3
    for code in codes:
        exec(compile(code, "docs/coming_from.md", "exec"), {})
    # fastcan shows its progress on the same line.
    first_line, *lines = re.split(r"[\r\n]+", capsys.readouterr().out.strip())
    errors = [line for line in lines if re.fullmatch(r"0\.\d+", line)]
    assert first_line.startswith("<Identification: ") and len(errors) == 2


def test_the_classes_of_the_architecture_exist():
    classes = set()
    for path in (ROOT / "src/narxbench").rglob("*.py"):
        classes |= set(re.findall(r"^class (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))
    class_names = set(re.findall(r"`([A-Z][a-z]\w*)`", TEXT["docs/architecture.md"])) - {"Settings", "Snakefile"}
    assert len(class_names) > 15 and class_names <= classes
