"""What a step depends on, by the imports of its script: code of this package, and the versions of all others."""

import ast
import platform
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from narxbench.fitness.criteria import criterion_words
from narxbench.io.files import sha256
from narxbench.study.provenance import code_digest

PACKAGE = Path(__file__).parents[1]
# A module that fills in templates imports this one; the templates stand next to it.
TEMPLATING = PACKAGE / "report" / "templating.py"
# A module that looks a criterion up by its name imports this one; the criteria stand next to it.
CRITERIA = PACKAGE / "fitness" / "criteria" / "__init__.py"
# Packages that are imported under another name; to look through all that are installed would take a second.
_DISTRIBUTIONS = {"markdown_it": "markdown-it-py", "ruamel": "ruamel.yaml", "sklearn": "scikit-learn"}
# They start steps and check what steps read: another version refuses more or less, and alters no result.
_WITHOUT_RESULTS = ("packaging", "pydantic", "pydantic-core", "snakemake", "snakemake-interface-logger-plugins")


def closure(*files: Path) -> frozenset[Path]:
    """Return the files and all of the package that they import, in functions too but not for type checkers alone."""
    found, waiting = set[Path](), set(files)
    while waiting:
        found |= waiting
        waiting = {each for file in waiting if file.suffix == ".py" for each in imported_files(file)} - found
    return frozenset(found)


@cache
def with_criteria(criterion: str | None, *files: Path) -> tuple[Path, ...]:
    """Return the files of a step with that of a criterion, or with those of all, where it looks criteria up by name."""
    if CRITERIA not in closure(*files):
        return files
    words = criterion_words() if criterion is None else [criterion.partition("-")[0]]
    return (*files, *(CRITERIA.with_name(f"{word}.py") for word in words))


@cache
def digest_of(*files: Path) -> str:
    """Return one digest, 16 hexadecimal digits, of what the closure of the files does."""
    lines = []
    for file in sorted(closure(*files)):
        name = file.relative_to(PACKAGE) if file.is_relative_to(PACKAGE) else file.name
        lines.append(f"{name} {code_digest(file) if file.suffix == '.py' else sha256(file.read_bytes())}")
    return sha256("\n".join(lines))[:16]


@cache
def versions_of(*files: Path) -> dict[str, str]:
    """Return the versions of Python (major.minor) and of the packages that the closure imports or these require."""
    names = {name.split(".")[0] for file in closure(*files) if file.suffix == ".py" for name in _imported_names(file)}
    waiting = [_DISTRIBUTIONS.get(name, name) for name in names - {PACKAGE.name}]
    found = {"python": ".".join(platform.python_version_tuple()[:2])}
    while waiting:
        # The same name in all ways of writing it.
        name = re.sub(r"[-_.]+", "-", waiting.pop().lower())
        if name not in (*found, *_WITHOUT_RESULTS) and (package := _package(name)):
            found[name], required = package
            waiting += required
    return dict(sorted(found.items()))


@cache
def _package(name: str) -> tuple[str, list[str]] | None:
    """Return the version of an installed package and what it requires; None for a module of Python or of nobody."""
    try:
        package = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None
    required = map(Requirement, package.requires or ())
    return package.version, [each.name for each in required if not each.marker or each.marker.evaluate({"extra": ""})]


@cache
def imported_files(file: Path) -> frozenset[Path]:
    """Return the modules of the package that a file imports, with the packages that they are in, and its templates."""
    found = set[Path]()
    for name in _imported_names(file):
        package, *parts = name.split(".")
        if package == PACKAGE.name:
            modules = [PACKAGE.joinpath(*parts[:end]) for end in range(len(parts) + 1)]
            paths = [path for each in modules for path in (each / "__init__.py", each.with_suffix(".py"))]
            found |= {path for path in paths if path.is_file()}
    if TEMPLATING in (file, *found):
        found |= {path for path in (file.parent / "templates").rglob("*") if path.is_file()}
    return frozenset(found)


@cache
def _imported_names(file: Path) -> frozenset[str]:
    """Return the full names of what a file imports, Python's own left out; the last part may be a name in a module."""
    names = _imports(ast.parse(file.read_bytes()))
    return frozenset(name for name in names if name.split(".")[0] not in sys.stdlib_module_names)


def _imports(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    for_types = isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
    # Statements alone: expressions, nine nodes of ten, import nothing.
    for part in ("orelse",) if for_types else ("body", "orelse", "handlers", "finalbody", "cases"):
        for inner in getattr(node, part, ()):
            yield from _imports(inner)
