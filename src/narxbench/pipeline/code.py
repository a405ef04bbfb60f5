"""What a step depends on in the code: the import closure of its script, computed from the imports themselves.

The templates belong to the module that fills them in.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from narxbench.experiment.provenance import code_digest
from narxbench.io.files import sha256

PACKAGE = Path(__file__).parents[1]
TEMPLATING = PACKAGE / "report" / "templating.py"
TEMPLATES = TEMPLATING.parent / "templates"
_FOR_TYPES = ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def closure(*files: Path) -> frozenset[Path]:
    """Return the files and all modules of the package that importing them executes, packages' ``__init__`` included.

    Imports that only a type checker makes do not count, those inside functions do.

    Examples
    --------
    >>> sorted(str(path.relative_to(PACKAGE)) for path in closure(PACKAGE / "io" / "files.py"))
    ['__init__.py', 'io/__init__.py', 'io/errors.py', 'io/files.py']
    """
    found: set[Path] = set()
    waiting = list(files)
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += imported_files(file) if file.suffix == ".py" else ()
    return frozenset(found)


def digest_of(*files: Path) -> str:
    """Return one digest, 16 hexadecimal digits, of what the closure of the files does."""
    names = {file: file.relative_to(PACKAGE) if file.is_relative_to(PACKAGE) else file.name for file in closure(*files)}
    digests = (code_digest(file) if file.suffix == ".py" else sha256(file.read_bytes()) for file in sorted(names))
    return sha256("\n".join(f"{names[file]} {digest}" for file, digest in zip(sorted(names), digests, strict=True)))[
        :16
    ]


@cache
def imported_files(file: Path) -> frozenset[Path]:
    """Return the modules of the package that a file imports, with the packages that they are in, and its templates."""
    found = {path for path in TEMPLATES.rglob("*") if path.is_file()} if file == TEMPLATING else set()
    for name in _imported_names(ast.parse(file.read_bytes())):
        parts = name.split(".")[1:]
        for end in range(len(parts) + 1):
            module = PACKAGE.joinpath(*parts[:end])
            for path in (module / "__init__.py", module.with_suffix(".py")):
                if path.is_file() and path.is_relative_to(PACKAGE):
                    found.add(path)
    return frozenset(found)


def _imported_names(node: ast.AST) -> Iterator[str]:
    """Yield the full names of what is imported of this package; the last part may be a name inside a module."""
    names: list[str] = []
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    yield from (name for name in names if name.split(".")[0] == PACKAGE.name)
    for_types = isinstance(node, ast.If) and ast.unparse(node.test) in _FOR_TYPES
    # Statements alone: expressions, nine nodes of ten, import nothing.
    for part in ("orelse",) if for_types else ("body", "orelse", "handlers", "finalbody", "cases"):
        for inner in getattr(node, part, ()):
            yield from _imported_names(inner)
