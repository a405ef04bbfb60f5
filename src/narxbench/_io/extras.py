"""The extras of the package, which a bare installation does not have, and the error if one is missing."""

from collections.abc import Sequence
from importlib.util import find_spec

from narxbench._io.errors import NarxbenchError


class MissingExtraError(NarxbenchError, AttributeError):
    """A name of the package whose extra is not installed. The text has the command that installs it.

    It is an AttributeError too, so that ``hasattr`` and ``getattr`` with a default work as for a name that is not
    there.

    Examples
    --------
    >>> import narxbench
    >>> try:
    ...     regressor = narxbench.NarxRegressor()
    ... except narxbench.MissingExtraError as error:  # without scikit-learn
    ...     print(error)
    """


# The modules of each extra that the package imports itself, with their distributions, as in pyproject.toml.
EXTRAS = {
    "files": {"h5py": "h5py", "nptdms": "nptdms", "openpyxl": "openpyxl", "pyarrow": "pyarrow"},
    "report": {"jinja2": "jinja2", "markdown_it": "markdown-it-py", "matplotlib": "matplotlib"},
    "sklearn": {"sklearn": "scikit-learn"},
}


def require(extra: str, what: str) -> None:
    """Raise MissingExtraError unless all packages of an extra are installed."""
    require_packages(list(EXTRAS[extra]), what)


def require_packages(modules: Sequence[str], what: str) -> None:
    """Raise MissingExtraError unless some modules of extras are installed.

    The error says that ``what`` needs them, which packages are missing, and which command installs them: it names the
    packages themselves, so that it works in a checkout too, and uses uv in an environment of uv, where pip is missing.
    """
    distributions = {module: name for packages in EXTRAS.values() for module, name in packages.items()}
    missing = [distributions[module] for module in modules if find_spec(module) is None]
    if not missing:
        return
    verb = "is" if len(missing) == 1 else "are"
    installer = "pip" if find_spec("pip") else "uv pip"
    needed = f"python3 -m {installer} install {' '.join(missing)}"
    raise MissingExtraError(f"{what}: {', '.join(missing)} {verb} not installed; needed: {needed}")
