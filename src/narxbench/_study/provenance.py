"""Where a result comes from: versions of what computed it, and digests of code."""

import ast
import platform
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from narxbench._algorithms.registry import algorithm as algorithm_of
from narxbench._io.files import sha256
from narxbench._io.version import __version__

# Packages whose version can change a number of a run.
_COMPUTING = ("numpy", "numba", "llvmlite")


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python (major.minor) and of the packages that compute a run."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"python": python, "narxbench": __version__, **{name: metadata.version(name) for name in _COMPUTING}}


@cache
def algorithm_digest(algorithm: str) -> str:
    """Return a digest of an algorithm's code, which tells runs of an edited algorithm from others.

    The code is its module, or all modules of the package that it comes in.
    """
    digests = [code_digest(path) for path in algorithm_of(algorithm).files]
    return digests[0] if len(digests) == 1 else sha256("\n".join(digests))


@cache
def code_digest(path: Path) -> str:
    """Return a digest of what a Python file does. Layout, comments and the words of docstrings do not count."""
    tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        for _, part in ast.iter_fields(node):
            if isinstance(part, list):
                part[:] = [item for item in part if not _is_docstring(item)]
    return sha256(ast.dump(tree))


def _is_docstring(node: Any) -> bool:
    """Return whether a statement is a mere value: the docstring of a module, a class, a function or a field."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
