"""The extras of the package, which a bare installation leaves out, and the error where one is missing."""

from importlib.util import find_spec

from narxbench.io.errors import NarxbenchError

# The modules of each extra that the package imports itself, with their distributions, as in pyproject.toml.
EXTRAS = {
    "report": {"jinja2": "jinja2", "markdown_it": "markdown-it-py", "matplotlib": "matplotlib"},
    "sklearn": {"sklearn": "scikit-learn"},
}


def require(extra: str, what: str) -> None:
    """Raise NarxbenchError unless an extra is installed.

    The error says that ``what`` needs the extra, which packages are missing, and which command installs them.
    """
    missing = [name for module, name in EXTRAS[extra].items() if find_spec(module) is None]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        needed = f"python3 -m pip install 'narxbench[{extra}]'"
        raise NarxbenchError(f"{what}: {', '.join(missing)} {verb} not installed; needed: {needed}")
