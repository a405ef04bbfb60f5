"""The extras of the package, which a bare installation leaves out, and the error where one is missing."""

from importlib.util import find_spec

from narxbench._io.errors import NarxbenchError


class MissingExtraError(NarxbenchError, AttributeError):
    """A name of the package whose extra is not installed; the text has the command that installs it.

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
    "report": {"jinja2": "jinja2", "markdown_it": "markdown-it-py", "matplotlib": "matplotlib"},
    "sklearn": {"sklearn": "scikit-learn"},
}


def require(extra: str, what: str) -> None:
    """Raise MissingExtraError unless an extra is installed.

    The error says that ``what`` needs the extra, which packages are missing, and which command installs them.
    """
    missing = [name for module, name in EXTRAS[extra].items() if find_spec(module) is None]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        needed = f"python3 -m pip install 'narxbench[{extra}]'"
        raise MissingExtraError(f"{what}: {', '.join(missing)} {verb} not installed; needed: {needed}")
