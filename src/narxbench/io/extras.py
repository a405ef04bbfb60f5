"""What a bare installation leaves out: the extras of the package, and one line for each that is missing."""

from importlib.util import find_spec

from narxbench.io.errors import NarxbenchError

# What of each extra the package imports itself, by the name of the module; pyproject.toml has the distributions.
EXTRAS = {
    "report": {"jinja2": "jinja2", "markdown_it": "markdown-it-py", "matplotlib": "matplotlib"},
    "sklearn": {"sklearn": "scikit-learn"},
}


def require(extra: str, what: str) -> None:
    """Raise NarxbenchError unless an extra is installed: ``what`` needs it, as the user knows it.

    The error names the packages that are missing and the command that installs them.
    """
    missing = [name for module, name in EXTRAS[extra].items() if find_spec(module) is None]
    if missing:
        found = f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed"
        raise NarxbenchError(f"{what}: {found}; needed: python3 -m pip install 'narxbench[{extra}]'")
