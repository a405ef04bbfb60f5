"""The dependencies of a step, by the imports of its script: code of this package, and the versions of all others."""

import ast
import platform
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from narxbench._fitness.criteria import criterion_words
from narxbench._io.files import sha256
from narxbench._study.provenance import code_digest

PACKAGE = Path(__file__).parents[1]
# A module that fills in templates imports this one; the templates stand next to it.
TEMPLATING = PACKAGE / "_report" / "templating.py"
# A module that looks a criterion up by its name imports this one; the criteria stand next to it.
CRITERIA = PACKAGE / "_fitness" / "criteria" / "__init__.py"
# Packages that are imported under another name; looking through all that are installed would take a second.
_DISTRIBUTIONS = {"markdown_it": "markdown-it-py", "ruamel": "ruamel.yaml", "sklearn": "scikit-learn"}
# They start steps and check what steps read: another version refuses more or less, and alters no result.
_WITHOUT_RESULTS = ("packaging", "pydantic", "pydantic-core", "snakemake", "snakemake-interface-logger-plugins")


def closure(*files: Path) -> frozenset[Path]:
    """Return the files and all of the package that they import, in functions too but not for type checkers alone."""
    reached, waiting = set[Path](), set(files)
    while waiting:
        reached |= waiting
        imported = set[Path]()
        for file in waiting:
            if file.suffix == ".py":
                imported |= imported_files(file)
        waiting = imported - reached
    return frozenset(reached)


@cache
def with_criteria(criterion: str | None, *files: Path) -> tuple[Path, ...]:
    """Return the files of a step with that of a criterion, or with those of all, where it looks criteria up by name."""
    if CRITERIA not in closure(*files):
        return files
    words = criterion_words() if criterion is None else [criterion.partition("-")[0]]
    return (*files, *(CRITERIA.with_name(f"{word}.py") for word in words))


@cache
def code_of(*files: Path) -> dict[str, str]:
    """Return the digest, 16 hexadecimal digits, of what each file of the closure does, by its name in the package."""
    digests = {}
    for file in sorted(closure(*files)):
        name = file.relative_to(PACKAGE) if file.is_relative_to(PACKAGE) else file.name
        digests[str(name)] = _digest_of_file(file)[:16]
    return digests


def _digest_of_file(file: Path) -> str:
    """Return the digest of a module's code, or of the bytes of another file."""
    if file.suffix == ".py":
        return code_digest(file)
    return sha256(file.read_bytes())


@cache
def versions_of(*files: Path) -> dict[str, str]:
    """Return the versions of Python and the packages that the closure imports, and of those that these require."""
    names = set[str]()
    for file in closure(*files):
        if file.suffix == ".py":
            names |= {name.split(".")[0] for name in _imported_names(file)}
    waiting = [_DISTRIBUTIONS.get(name, name) for name in names - {PACKAGE.name}]
    versions = {"python": ".".join(platform.python_version_tuple()[:2])}
    while waiting:
        # One spelling of the name, in whichever way it is written.
        name = re.sub(r"[-_.]+", "-", waiting.pop().lower())
        if name in versions or name in _WITHOUT_RESULTS:
            continue
        package = _package(name)
        if package is not None:
            versions[name], required = package
            waiting += required
    return dict(sorted(versions.items()))


@cache
def _package(name: str) -> tuple[str, list[str]] | None:
    """Return the version of an installed package and the packages that it requires; None if it is no such package."""
    try:
        package = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None
    required = []
    for requirement in map(Requirement, package.requires or ()):
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            required.append(requirement.name)
    return package.version, required


@cache
def imported_files(file: Path) -> frozenset[Path]:
    """Return the modules of the package that a file imports, with the packages that they are in, and its templates."""
    candidates = set[Path]()
    for name in _imported_names(file):
        package, *parts = name.split(".")
        if package == PACKAGE.name:
            for end in range(len(parts) + 1):
                module = PACKAGE.joinpath(*parts[:end])
                candidates |= {module / "__init__.py", module.with_suffix(".py")}
    if file == TEMPLATING or TEMPLATING in candidates:
        candidates |= {*(file.parent / "templates").rglob("*")}
    return frozenset(path for path in candidates if path.is_file())


@cache
def _imported_names(file: Path) -> frozenset[str]:
    """Return the full names that a file imports, without those of Python; the last part may be a name in a module."""
    names = _imports(ast.parse(file.read_bytes()))
    return frozenset(name for name in names if name.split(".")[0] not in sys.stdlib_module_names)


def _imports(node: ast.AST) -> Iterator[str]:
    """Yield the full names that a statement, or one within it, imports."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
    # Only statements: expressions, nine nodes of ten, import nothing.
    parts = ["body", "orelse", "handlers", "finalbody", "cases"]
    if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
        parts = ["orelse"]
    for part in parts:
        for inner in getattr(node, part, ()):
            yield from _imports(inner)
