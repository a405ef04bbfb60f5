"""The code and the versions of packages that a step is made by, for its parameters: by the imports of its script."""

import ast
import os
import platform
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import metadata
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement

from narxbench._algorithms.registry import algorithm
from narxbench._fitness.criteria import criterion_words
from narxbench._io.files import read_bytes, sha256
from narxbench._study.provenance import code_digest

PACKAGE = Path(__file__).parents[1]
# The rules call scripts of this checkout, wherever they run.
SCRIPTS = PACKAGE.resolve().parents[1] / "scripts"
# A module that fills in templates imports this one, and has the templates next to it.
TEMPLATING = PACKAGE / "_report" / "templating.py"
# A module that looks a criterion up by its name imports this one, which has the criteria next to it.
CRITERIA = PACKAGE / "_fitness" / "criteria" / "__init__.py"
# Packages that are imported under another name. Looking through all that are installed would take a second.
_DISTRIBUTIONS = {"markdown_it": "markdown-it-py", "ruamel": "ruamel.yaml", "sklearn": "scikit-learn"}
# They start steps and check what steps read: another version refuses more or less, and alters no result.
_WITHOUT_RESULTS = ("packaging", "pydantic", "pydantic-core", "snakemake", "snakemake-interface-logger-plugins")
# Hexadecimal digits of a digest.
_DIGITS = 16


def made_by(script: str, files: Iterable[str] = (), *, method: str = "", criterion: str | None = None) -> list[str]:
    """Return what a step is made by besides settings and inputs that other steps make, each in words.

    Whatever of it changes is a changed parameter to Snakemake, which makes the step again.

    Parameters
    ----------
    script : str
        The script that the step runs, by its name.
    files : iterable of str
        Inputs that no step makes. Their digests tell what their dates do not: other content of an older date.
    method : str, optional
        The algorithm that the step runs.
    criterion : str, optional
        The criterion that the step computes; by default it may be any.

    Returns
    -------
    list of str
        The digest of its code, the versions of the packages that it needs, and the digests of the files that exist.
    """
    return [*_code_and_versions(script, method, criterion), *_digests(files)]


@cache
def _code_and_versions(script: str, method: str, criterion: str | None) -> list[str]:
    """Return the code and the versions of packages behind a step, each in words."""
    code_files = _files_of(script, method, criterion)
    names = [name for name in (f"{script}.py", method, criterion) if name]
    digest = sha256("\n".join(f"{name} {of_file}" for name, of_file in code_of(*code_files).items()))
    versions = [f"{name} {version}" for name, version in versions_of(*code_files).items()]
    return [f"code of {' with '.join(names)}: {digest[:_DIGITS]}", *versions]


def _files_of(script: str, method: str = "", criterion: str | None = None) -> tuple[Path, ...]:
    """Return the files that a step begins from: its script, its algorithm and its criteria."""
    algorithm_files = algorithm(method).files if method else ()
    return with_criteria(criterion, SCRIPTS / f"{script}.py", *algorithm_files)


def _digests(paths: Iterable[str]) -> list[str]:
    """Return the digest of each file that exists, with its path in this checkout where it is a part of it."""
    top = f"{SCRIPTS.parent}/"
    existing = filter(os.path.isfile, paths)
    return [f"{path.removeprefix(top)}: {sha256(read_bytes(path))[:_DIGITS]}" for path in existing]


def versions_of_study(*algorithms: str) -> dict[str, str]:
    """Return the versions of all packages that a step of a study with some algorithms may need."""
    files = [_files_of(script.stem) for script in sorted(SCRIPTS.glob("*.py"))]
    files += [tuple(algorithm(name).files) for name in algorithms]
    return versions_of(*dict.fromkeys(chain.from_iterable(files)))


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
    """Return the files of a step with the file of its criterion, or with all if it looks criteria up by name."""
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
        digests[str(name)] = _digest_of_file(file)[:_DIGITS]
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
    """Return the version of an installed package and the packages that it requires, or None for another name."""
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
    """Return the full names that a file imports, without Python's. The last part may be a name in a module."""
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
