"""Nothing that is read is run, no name leads out of the project's folders, and pages show all text as text."""

import ast
import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from tests.browser.page import claims, config, render, statistics, with_model
from tests.fuzz.soak import fuzz
from tests.fuzz.targets import NAME, ROOT, RUN_FILES, fast_readings, merged, outcome, scratch, targets
from tests.unit.cells import make_cell

from narxbench import report
from narxbench.experiment.study_settings import label, load_experiment
from narxbench.io.errors import NarxbenchError
from narxbench.fitness.problem import parse_criterion
from narxbench.model.system import System, load_system, parse_equation
from narxbench.model.terms import parse_term
from narxbench.io.yaml import read_mapping

BASE = ROOT / "config" / "config.yaml"
CODE = [
    "__import__('os').system('touch PWNED')",
    "exec(\"open('PWNED', 'w')\")",
    "(lambda: open('PWNED', 'w'))()",
    "{0.__class__.__init__.__globals__}",
    "%(x)s %n",
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{% include '/etc/passwd' %}",
    "$(touch PWNED)",
    "`touch PWNED`",
    "; touch PWNED #",
    "| touch PWNED",
    "\ntouch PWNED\n",
    "!!python/object/apply:os.system ['touch PWNED']",
    "!!python/object/new:subprocess.Popen [[touch, PWNED]]",
    "!!python/name:os.system ''",
    "!!python/module:os ''",
    "cos\nsystem\n(S'touch PWNED'\ntR.",
]
NAMES = [
    *(
        "../../x",
        "..",
        ".",
        "/abs",
        "a/b",
        "a\\b",
        "a b",
        "a\nb",
        "a\n",
        "\na",
        "a\tb",
        "a\x00b",
        "é",
        "ａ",
        "−a",
        "a.b",
    ),
    *(
        "a;rm -rf",
        "$(x)",
        "`x`",
        "a|b",
        "a&b",
        "a>b",
        "a*",
        "a?",
        "{a}",
        "{{a}}",
        "{wildcards}",
        "%s",
        "-a",
        "_a",
        "~",
        "",
    ),
    *(
        "a" * 101,
        "a" * 300,
        "\ud800",
        "\u202ea",
        "\ufeffa",
        "<script>",
        '"onmouseover=',
        "'",
        "C:",
        "a:b",
        "a,b",
        "a=b",
        "@a",
    ),
]
DEVICES = ["CON", "nul", "Aux", "PRN", "COM1", "lpt9"]

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT

_recorded: list[str] | None = None


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    # compile() alone runs nothing: Pydantic parses the project's own source for the docstrings of attributes.
    # An audit hook stays for the life of the process, so that it can only be told when to listen.
    if _recorded is None:
        return
    if event in ("exec", "import", "pickle.find_class", "shutil.rmtree") or event.startswith(
        (
            "os.system",
            "os.exec",
            "os.spawn",
            "os.posix_spawn",
            "os.fork",
            "subprocess.",
            "socket.",
            "ctypes.",
            "urllib.",
        )
    ):
        _recorded.append(f"{event} {arguments!r:.200}")
    if event == "open" and not isinstance(arguments[0], int) and (arguments[2] or 0) & WRITING:
        _recorded.append(f"write {os.fspath(arguments[0])}")


sys.addaudithook(_hook)


@contextmanager
def recorded() -> Iterator[list[str]]:
    """Record what Python runs, imports, starts and opens for writing in the block."""
    global _recorded
    _recorded = []
    try:
        yield _recorded
    finally:
        _recorded = None


def test_the_record_sees_what_is_run(tmp_path: Path) -> None:
    with recorded() as events:
        eval("1 + 1")
        (tmp_path / "x").write_text("x")
        os.system("true")
    text = "\n".join(events)
    assert "exec" in text
    assert f"write {tmp_path / 'x'}" in text
    assert "os.system" in text
    with recorded() as events:
        parse_term("y(k-1)")
    assert events == []


def test_readers_run_nothing_and_write_nothing_but_what_they_are_asked_to() -> None:
    with scratch() as folder:
        for target in targets(folder):
            for seed in target.seeds:  # the first use of a reader imports what it needs
                outcome(target, seed)
            fuzz(target, 20, "warm")
            with recorded() as events:
                fuzz(target, min(400, 20 + target.share * 2), "recorded")
            assert [event for event in events if not event.startswith(f"write {folder}")] == [], target.name


def _with_payload(content: Any, payload: str) -> Iterator[Any]:
    """Yield copies of plain data, each with one text or key replaced by the payload."""
    if isinstance(content, dict):
        for key, value in content.items():
            yield {**{k: v for k, v in content.items() if k != key}, payload: value}
            for changed in _with_payload(value, payload):
                yield {**content, key: changed}
    elif isinstance(content, list):
        for index, value in enumerate(content):
            for changed in _with_payload(value, payload):
                yield [*content[:index], changed, *content[index + 1 :]]
    else:
        yield payload


@pytest.mark.parametrize("payload", CODE)
def test_code_in_any_place_of_any_file_is_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, payload: str) -> None:
    found = {target.name: target for target in targets(tmp_path)}
    run = list(_with_payload(json.loads(RUN_FILES[0]), payload))
    system = list(_with_payload(read_mapping(ROOT / "config" / "systems" / "S1.yaml"), payload))
    overlay = read_mapping(ROOT / "config" / "quick.yaml")
    overlays = list(_with_payload(overlay, payload))
    assert len(run) > 40
    assert len(system) > 8
    plain = [
        *(("run file", json.dumps(content)) for content in run),
        *(("system file", json.dumps(content)) for content in system),
        *(("configuration", json.dumps(content)) for content in overlays),
        *((name, payload) for name in ("term", "equation", "criterion", "signals", "system terms", "YAML")),
        *(("equation", f"y(k) = {text}") for text in (payload, f"0.5*y(k-1) + {payload}", f"{payload}*u(k-1)")),
        *(("YAML", f"{text}\n") for text in (f"a: {payload}", f"a: [{payload}]", f"? {payload}\n: b", f"- {payload}")),
        ("signals", f"u,y\n{payload},1\n"),
        ("signals", f"u,y,{payload}\n1,1,{payload}\n"),
    ]
    monkeypatch.chdir(tmp_path)
    for name, text in plain:  # before listening: the first error of a kind may import its message
        outcome(found[name], text.encode("utf-8", "surrogatepass"))
    before = sorted(os.listdir(tmp_path))
    with recorded() as events:
        for name, text in plain:
            outcome(found[name], text.encode("utf-8", "surrogatepass"))
    assert [event for event in events if not event.startswith(f"write {tmp_path}")] == []
    assert sorted(os.listdir(tmp_path)) == before
    assert not any(Path(folder, "PWNED").exists() for folder in (tmp_path, ROOT, Path.home()))


@pytest.mark.parametrize("payload", CODE)
def test_code_is_no_term_no_equation_and_no_criterion(payload: str) -> None:
    for read in (parse_term, parse_equation, parse_criterion):
        with pytest.raises(NarxbenchError):
            read(payload)
    with pytest.raises(NarxbenchError):
        parse_equation(f"y(k) = {payload}")
    with pytest.raises(NarxbenchError):
        parse_criterion(f"aic-{payload}")


# compile() there makes code objects of the project's own files for their digest, and runs none.
ALLOWED_CALLS = {("src/narxbench/provenance.py", "compile")}
FORBIDDEN_CALLS = {"eval", "exec", "compile", "__import__", "globals().get", "input", "breakpoint"}
FORBIDDEN_ATTRIBUTES = re.compile(
    r"os\.(system|popen|exec\w*|spawn\w*|posix_spawn\w*|startfile)|yaml\.(load|load_all|unsafe_load|full_load|"
    r"unsafe_load_all|full_load_all|Loader|UnsafeLoader|FullLoader)|subprocess\.(getoutput|getstatusoutput)|"
    r"pickle\..*|marshal\.loads?|shelve\..*|runpy\..*|np\.load|numpy\.load|tempfile\.mktemp"
)
FORBIDDEN_MODULES = {"pickle", "cPickle", "dill", "joblib", "marshal", "shelve", "runpy", "code", "codeop"}


def findings(tree: ast.AST) -> list[str]:
    """Return what in a module could run what it reads."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            found += [name for name in modules if name.split(".")[0] in FORBIDDEN_MODULES]
        if isinstance(node, ast.Attribute) and FORBIDDEN_ATTRIBUTES.fullmatch(ast.unparse(node)):
            found.append(ast.unparse(node))
        if isinstance(node, ast.Call):
            if ast.unparse(node.func) in FORBIDDEN_CALLS:
                found.append(ast.unparse(node.func))
            keywords = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            found += ["shell"] if keywords.get("shell", "False") != "False" else []
            found += ["allow_pickle"] if keywords.get("allow_pickle", "False") != "False" else []
    return found


@pytest.mark.parametrize(
    "text",
    [
        "eval(x)",
        "exec(x)",
        "compile(x, '', 'exec')",
        "__import__(x)",
        "import pickle",
        "from pickle import loads",
        "import os\nos.system(x)",
        "os.popen(x)",
        "run = os.execv",
        "yaml.load(x, Loader=y)",
        "yaml.unsafe_load(x)",
        "subprocess.run(x, shell=True)",
        "subprocess.run(x, shell=y)",
        "np.load(x, allow_pickle=True)",
        "numpy.load(x)",
    ],
)
def test_the_search_for_calls_that_run_text_finds(text: str) -> None:
    assert findings(ast.parse(text))


def test_no_source_runs_what_it_reads() -> None:
    paths = [*ROOT.glob("src/**/*.py"), *ROOT.glob("scripts/**/*.py")]
    assert len(paths) > 30
    found = {
        (path.relative_to(ROOT).as_posix(), name)
        for path in paths
        for name in findings(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert found <= ALLOWED_CALLS
    assert findings(ast.parse("subprocess.run(['git'], check=True)\nyaml.safe_load(x)\nre.compile(x)")) == []


def _experiment(overlay: dict[str, Any]) -> Any:
    with fast_readings():
        return load_experiment(merged(read_mapping(BASE), overlay), [BASE])


SEARCH = {"algorithm": "ga", "criteria": ["bic"]}


@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name)[:20])
def test_names_that_are_no_names_are_refused(name: str) -> None:
    assert not NAME.fullmatch(name)
    for key, overlay in (("systems", {"systems": [name]}), ("searches", {"searches": {name: SEARCH}})):
        with pytest.raises(NarxbenchError) as error:
            _experiment(overlay)
        assert f"{key}" in str(error.value)
        assert "allowed: a name of letters, digits, _ and - that starts with a letter or digit" in str(error.value)


@pytest.mark.parametrize("name", DEVICES)
def test_devices_of_windows_are_no_names(name: str) -> None:
    with pytest.raises(NarxbenchError, match="device"):
        _experiment({"searches": {name: SEARCH}})


def test_names_that_differ_only_in_case_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NarxbenchError, match=r"searches\.GA: found 'GA' beside 'ga'"):
        _experiment({"searches": {"GA": SEARCH}})
    for name in ("Sys", "sYS"):
        (tmp_path / f"{name}.yaml").write_text("{}")
    with pytest.raises(NarxbenchError, match=r"systems.*found 'sYS' beside 'Sys'"):
        load_experiment(merged(read_mapping(BASE), {"systems": ["Sys", "sYS"]}), [BASE], tmp_path)


def test_criteria_that_differ_only_in_case_are_refused() -> None:
    with pytest.raises(NarxbenchError, match=r"criteria.*aic-2E1"):
        _experiment({"searches": {"ga": {"criteria": ["aic-2e1", "aic-2E1"]}}})


@pytest.mark.parametrize(
    "text", [f"aic-1{'0' * 300}", f"aic-0.{'0' * 300}1", "aic-2/../../x", "aic-2\n", "../x", "bic\x00"]
)
def test_criteria_that_are_no_parts_of_paths_are_refused(text: str) -> None:
    with pytest.raises(NarxbenchError, match="criteri"):
        _experiment({"searches": {"ga": {"criteria": [text]}}})


@pytest.mark.parametrize("snr_db", [0.0, -0.0, 50, 37.5, 1e-300, -300, 299.99999999999994, 1e2])
def test_labels_of_snr_are_parts_of_paths(snr_db: float) -> None:
    assert re.fullmatch(r"-?[0-9][0-9.e-]*", label(snr_db))
    assert float(label(snr_db)) == snr_db


@pytest.mark.parametrize(
    "name", [*NAMES, "../S1", "systems/S1", "S1.yaml", "S1\x00"], ids=lambda name: ascii(name)[:20]
)
def test_systems_are_found_by_the_names_of_their_files_only(tmp_path: Path, name: str) -> None:
    outside = (ROOT / "config" / "systems" / "S1.yaml").read_text()
    (tmp_path / "S1.yaml").write_text(outside)
    (tmp_path / "systems").mkdir()
    (tmp_path / "systems" / "S2.yaml").write_text(outside)
    with pytest.raises(NarxbenchError, match=r"no .*NAME\.yaml of that name; allowed: S2"):
        load_system(name, tmp_path / "systems")


HARMLESS = "harmless"
MARKUP = [
    "<script>alert(1)</script>",
    '"onmouseover="alert(1)',
    "' onfocus=alert(1) autofocus='",
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "--></style></title></textarea><img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "javascript:alert(1)",
    "{{ 7*7 }}{% raw %}",
    "]]><b>x</b>",
    "&lt;b&gt;&#60;",
    "\u2028\u2029\x85",
    "x\x00\x1b\u202e",
    "$\\require{x}$ [a](javascript:alert(1)) **b** `c`",
]


class Skeleton(HTMLParser):
    """Collects the elements of a page with the names of their attributes, its texts and its scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, tuple[str, ...]]] = []
        self.links: list[str] = []
        self.texts: list[str] = []
        self.scripts: list[str] = []
        self.inside = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.inside = tag
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        self.links += [value or "" for name, value in attrs if name in ("href", "src")]

    def handle_endtag(self, tag: str) -> None:
        self.inside = ""

    def handle_data(self, data: str) -> None:
        (self.scripts if self.inside == "script" else self.texts).append(data)


def page_with(text: str) -> str:
    """Return the report in which every text from configuration, data and runs is ``text``."""
    cells = []
    for snr in (50, 40, 30):
        for criterion in ("bic", "aic-2"):
            cell = with_model(make_cell("<script>X", snr, "upso2d", criterion))
            versions = {"python": text, **cell["versions"]}
            cells.append(cell | {"system": text, "search": text, "data_sha256": text, "versions": versions})
    systems = [
        System(text, "y(k) = 0.5*u(k-1) - 0.25*y(k-2)^2", n_u=2, n_y=2, degree=2, description=text, reference=text)
    ]
    settings = config([text], searches={text: ["bic", "aic-2"]})
    settings["searches"][text] |= {"algorithm": "upso2d", "settings": {"swarm_size": 30, "note": text}}
    settings |= {"data": {"excitation": {"kind": "recorded", "file": text}}}
    told: dict[str, Any] = {
        "claims": [
            {key: text if isinstance(value, str) and key != "id" else value for key, value in claim.items()}
            | {side: {**claim[side], "evidence": text} for side in ("published", "here")}
            for claim in claims()["claims"]
        ]
    }
    given = arguments_of_a_page()
    changed = {"config": settings, "cells": cells, "systems": systems, "claims": told, "statistics": statistics(cells)}
    # Matplotlib draws text as shapes.
    return report.render_report(**given | changed | {"figures": {}, "versions": report.versions_of(cells)})


@cache
def arguments_of_a_page() -> dict[str, Any]:
    """Return what a page of other tests is made from."""
    with mock.patch.object(report, "render_report", return_value="") as rendered:
        render(["S1"], [make_cell(snr_db=30)], searches={"upso2d": ["bic"]})
    return dict(rendered.call_args.kwargs)


@pytest.fixture(scope="module")
def harmless() -> Skeleton:
    return Skeleton(page_with(HARMLESS))


def links_elsewhere(page: Skeleton) -> list[str]:
    """Return the links that lead neither to the page nor into the folder of the report."""
    return [link for link in page.links if not re.match(r"#|[\w%.-]+(/[\w%.^-]+)*$", link) or ".." in link]


@pytest.mark.parametrize("text", MARKUP, ids=lambda text: ascii(text)[:20])
def test_pages_show_any_text_as_text(harmless: Skeleton, text: str) -> None:
    html = page_with(text)
    page = Skeleton(html)
    assert page.elements == harmless.elements
    assert len(page.scripts) == len(harmless.scripts)
    # Only the island of data tells the text; the code of the page stays as it is.
    changed = [new for new, old in zip(page.scripts, harmless.scripts, strict=True) if new != old]
    assert len(changed) == 1
    assert list(json.loads(changed[0])["systems"]) == [text]
    assert links_elsewhere(page) == links_elsewhere(harmless)
    html.encode()
