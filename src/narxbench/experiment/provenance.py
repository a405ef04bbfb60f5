"""Where a result comes from: versions of what computed it, and digests of code."""

import ast
import platform
from functools import cache
from importlib import metadata
from pathlib import Path
from types import CodeType

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
    """Return a digest of what a Python file does; comments and the words of docstrings do not count."""
    return sha256(_meaning(compile(ast.parse(path.read_bytes()), path.name, "exec", dont_inherit=True, optimize=2)))


def _meaning(code: CodeType) -> str:
    # Line numbers are kept elsewhere in a code object.
    constants = [_meaning(c) if isinstance(c, CodeType) else _ordered(c) for c in code.co_consts]
    return repr((code.co_name, code.co_code, code.co_names, code.co_varnames, constants))


def _ordered(constant: object) -> str:
    # The order of a set of texts differs from process to process.
    return repr(sorted(map(repr, constant))) if isinstance(constant, frozenset) else repr(constant)
