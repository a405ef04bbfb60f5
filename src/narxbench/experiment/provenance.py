"""Where a result comes from: versions of what computed it, and digests of code."""

import ast
import platform
from functools import cache
from importlib import metadata
from pathlib import Path

from narxbench import __version__
from narxbench.algorithms.registry import algorithm_module
from narxbench.io.files import sha256

# Packages whose version can change a number of a run.
_COMPUTING = ("numpy", "numba", "llvmlite")


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python (major.minor) and of the packages that compute a run."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"python": python, "narxbench": __version__, **{name: metadata.version(name) for name in _COMPUTING}}


@cache
def algorithm_digest(algorithm: str) -> str:
    """Return a digest of an algorithm's module, by which runs of an edited algorithm are told from others."""
    return code_digest(Path(str(algorithm_module(algorithm).__file__)))


@cache
def code_digest(path: Path) -> str:
    """Return a digest of what a Python file does; layout, comments and the words of docstrings do not count."""
    return sha256(ast.dump(_WithoutDocstrings().visit(ast.parse(path.read_bytes()))))


class _WithoutDocstrings(ast.NodeTransformer):
    """Takes out the statements that are a mere value: docstrings of modules, classes, functions and fields."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) else node
