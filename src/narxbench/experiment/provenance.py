"""Where a result comes from: versions of what computed it, and digests of the code of each step."""

import platform
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from types import CodeType

from narxbench.io.files import sha256

# Packages whose version can change a number of a run.
_COMPUTING = ("narxbench", "numpy", "numba", "llvmlite")


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python (major.minor) and of the packages that compute a run."""
    python = ".".join(platform.python_version_tuple()[:2])
    return {"python": python, **{name: metadata.version(name) for name in _COMPUTING}}


@cache
def code_digest(*modules: str) -> str:
    """Return a digest of the code of modules, or packages with their modules; words of docstrings do not count."""
    files: set[Path] = set()
    for name in modules:
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            raise ModuleNotFoundError(name)
        origin = Path(spec.origin)
        files.update(origin.parent.glob("*.py") if spec.submodule_search_locations else [origin])
    return sha256("\n".join(f"{path.name} {_meaning(path)}" for path in sorted(files)))[:16]


def _meaning(path: Path) -> str:
    # Compiled, because that is quick; optimised, which leaves docstrings out. Line numbers are kept elsewhere in it.
    return _code_meaning(compile(path.read_bytes(), path.name, "exec", dont_inherit=True, optimize=2))


def _code_meaning(code: CodeType) -> str:
    constants = [_code_meaning(c) if isinstance(c, CodeType) else _ordered(c) for c in code.co_consts]
    return repr((code.co_name, code.co_code, code.co_names, code.co_varnames, constants))


def _ordered(constant: object) -> str:
    # The order of a set of texts differs from process to process.
    return repr(sorted(map(repr, constant))) if isinstance(constant, frozenset) else repr(constant)
