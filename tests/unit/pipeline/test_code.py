"""The files and versions that a step depends on are computed from the imports of its script."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.lookups import names_of

import narxbench
from narxbench._fitness.criteria import criterion_words
from narxbench._pipeline.code import (
    CRITERIA,
    PACKAGE,
    closure,
    code_of,
    imported_files,
    made_by,
    versions_of,
    with_criteria,
)

ROOT = Path(__file__).parents[3]
SCRIPTS = sorted((ROOT / "scripts").glob("*.py"))


def test_no_import_escapes_the_closure() -> None:
    """Relative imports, and names of ``narxbench`` that are looked up when used, would not be followed."""
    for file in [*SCRIPTS, *PACKAGE.rglob("*.py")]:
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.ImportFrom) and file != PACKAGE / "__init__.py":
                assert node.level == 0, file
                assert node.module != "narxbench" or not set(names_of(node.names)) & set(narxbench.__all__), file


def test_imports_for_type_checkers_do_not_count_and_those_in_functions_do(tmp_path: Path) -> None:
    file = tmp_path / "some.py"
    file.write_text(
        "import typing\nif typing.TYPE_CHECKING:\n    import narxbench._io.csv\nelse:\n    import narxbench._io.yaml\n"
        "def f():\n    from narxbench._model import terms\n    from narxbench._io.errors import NarxbenchError\n"
    )
    packages = {"__init__.py", "_io/__init__.py", "_model/__init__.py"}
    modules = {str(path.relative_to(PACKAGE)) for path in imported_files(file)}
    assert modules == packages | {"_io/yaml.py", "_io/errors.py", "_model/terms.py"}


def cleared() -> None:
    imported_files.cache_clear()
    code_of.cache_clear()


def test_digests(tmp_path: Path) -> None:
    """They cover the templates next to a module that fills them in, and are the same in every process."""
    (tmp_path / "some.py").write_text("import narxbench._report.templating\n")
    first = code_of(tmp_path / "some.py")
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates/page.css").write_text("a {}")
    cleared()
    second = code_of(tmp_path / "some.py")
    (tmp_path / "templates/page.css").write_text("b {}")
    code_of.cache_clear()
    third = code_of(tmp_path / "some.py")
    assert second.keys() - first.keys() == {"page.css"}
    assert [name for name in third if third[name] != second[name]] == ["page.css"]
    cleared()
    program = "import sys, pathlib, narxbench._pipeline.code as c; print(c.code_of(pathlib.Path(sys.argv[1])))"
    command = [sys.executable, "-c", program, str(ROOT / "scripts" / "page.py")]
    printed = subprocess.check_output(command, env={"PYTHONHASHSEED": "1"}, text=True)
    assert printed == f"{code_of(ROOT / 'scripts' / 'page.py')}\n"


@pytest.mark.parametrize(
    ("script", "templates"),
    [
        ("page", "_report/base.html.j2 _studies/paper/report.html.j2"),
        ("leaderboard", "_report/site.css _studies/methods/leaderboard.js"),
        ("interpretations", "_studies/paper/interpretations/document.md.j2"),
        ("tables", "_study/table.tex.j2"),
        ("analyse", ""),
    ],
)
def test_a_step_depends_on_the_templates_that_its_modules_fill_in(script: str, templates: str) -> None:
    files = [path for path in closure(ROOT / "scripts" / f"{script}.py") if path.suffix != ".py"]
    names = {str(path.relative_to(PACKAGE)).replace("templates/", "") for path in files}
    assert set(templates.split()) <= names
    assert bool(names) == bool(templates)


def test_a_step_depends_on_its_criterion_or_on_all_where_it_looks_them_up() -> None:
    files_of_criteria = {*CRITERIA.parent.glob("*.py")} - {CRITERIA}

    def criteria(script: str, criterion: str | None) -> set[str]:
        files = closure(*with_criteria(criterion, ROOT / "scripts" / f"{script}.py"))
        return {path.stem for path in files_of_criteria.intersection(files)}

    assert criteria("search", "aic-6.5") == {"aic"}
    assert criteria("search", "bic") == {"bic", "ebic"}
    assert criteria("tables", None) == {*criterion_words()}
    assert criteria("simulate", None) == set()


@pytest.mark.parametrize(
    ("script", "needed", "foreign"),
    [
        ("search", "python numba numpy llvmlite", "matplotlib scipy snakemake pydantic narxbench"),
        ("figures", "matplotlib kiwisolver fonttools contourpy", "snakemake"),
        ("page", "jinja2 markupsafe markdown-it-py ruamel-yaml", "statsmodels"),
    ],
)
def test_a_step_needs_what_its_code_imports_and_what_that_requires(script: str, needed: str, foreign: str) -> None:
    versions = versions_of.__wrapped__(ROOT / "scripts" / f"{script}.py")
    assert set(needed.split()) <= set(versions)
    assert not set(foreign.split()) & set(versions)


def test_what_a_step_is_made_by_is_in_words(tmp_path: Path) -> None:
    file = tmp_path / "own.csv"
    file.write_text("u\n0.5\n")
    code, *rest = made_by(
        "search", [str(file), str(ROOT / "CITATION.cff"), "missing.csv"], method="ga", criterion="bic"
    )
    assert re.fullmatch(r"code of search\.py with ga with bic: [0-9a-f]{16}", code)
    assert made_by("search", method="upso2d", criterion="bic")[0] != code
    assert any(text.startswith("numba ") for text in rest) and any(text.startswith("python 3.") for text in rest)
    own, project = rest[-2:]
    assert own.startswith(f"{file}: ") and project.startswith("CITATION.cff: ")
    file.write_text("u\n0.25\n")
    assert made_by("search", [str(file)], method="ga", criterion="bic")[-1] not in (own, project)
