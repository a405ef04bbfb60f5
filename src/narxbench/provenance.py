"""Where a result comes from: versions of what computed it, and digests of the code of each step."""

import ast
import platform
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

from narxbench.files import sha256

# Packages whose version can change a number of a run.
_COMPUTING = ("narxbench", "numpy", "numba", "llvmlite")


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python (major.minor) and of the packages that compute a run."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"python": python, **{name: metadata.version(name) for name in _COMPUTING}}


@cache
def code_digest(*modules: str) -> str:
    """Return a digest of the code of modules, or packages with their modules, without comments and docstrings."""
    files: set[Path] = set()
    for name in modules:
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(name)
        origin = Path(spec.origin)
        files.update(origin.parent.glob("*.py") if spec.submodule_search_locations else [origin])
    return sha256("\n".join(f"{path.name} {_meaning(path)}" for path in sorted(files)))[:16]


def _meaning(path: Path) -> str:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if (
            isinstance(body, list)
            and body
            and isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Constant)
            and isinstance(body[0].value.value, str)
        ):
            del body[0]
    return ast.dump(tree)
