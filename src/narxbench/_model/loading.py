"""Models of files: files of a single model, and of a whole identification with all its models."""

from typing import Any

import pydantic_core

from narxbench._io.errors import FileError, did_you_mean, printable, show
from narxbench._io.files import StrPath, read_bytes
from narxbench._model.joint import JOINT_FORMAT
from narxbench._model.narx import FORMAT, Model, check_version

IDENTIFICATION_FORMAT, IDENTIFICATION_VERSION = "narxbench-identification", 1
JOINT_IDENTIFICATION_FORMAT = "narxbench-joint-identification"


def load_model(path: StrPath, competitor: str | None = None) -> Model:
    """Return the model of a file that ``Model.save``, ``write_report`` or ``narxbench identify --json`` wrote.

    Parameters
    ----------
    path : path
        A model, such as ``model.json``, or an identification, such as ``identification.json``.
    competitor : str, optional
        The name of a model that competed in an identification, such as ``"linear ARX"`` or ``"sparse"``. None: the
        model that was identified.

    Raises
    ------
    NarxbenchError
        If the file cannot be read, has no such model, is of another version, or has values that are not allowed.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> model = Model(("y(k-1)", "u(k-1)"), (0.5, 1.0), ("u",), "y")
    >>> with TemporaryDirectory() as folder:
    ...     model.save(Path(folder, "model.json"))
    ...     load_model(Path(folder, "model.json")) == model
    True
    """
    content, source = _content(path)
    if content["format"] == FORMAT:
        if competitor is not None:
            raise FileError(f"{source}: found a single model; needed: an identification, for the name of a competitor")
        return Model.from_dict(content, source)
    if competitor is None:
        return Model.from_dict(content.get("model"), f"{source}: model")
    models = load_competitors(path)
    if competitor not in models:
        allowed = f"{', '.join(models) or 'none'}{did_you_mean(competitor, models)}"
        raise FileError(f"{source}: competitor: found {show(competitor, kind=False)}; allowed: {allowed}")
    return models[competitor]


def load_competitors(path: StrPath) -> dict[str, Model]:
    """Return the models that competed in an identification, by name, or none for the file of a single model."""
    content, source = _content(path)
    models = {}
    for entry in _entries(content.get("competitors", []), source):
        if entry["model"] is not None:
            models[entry["name"]] = Model.from_dict(entry["model"], f"{source}: {printable(entry['name'])}")
    return models


def _entries(entries: object, source: str) -> list[dict[str, Any]]:
    """Return the entries of the models that competed, which have a name and a model."""
    if isinstance(entries, list):
        has_keys = [isinstance(entry, dict) and {"name", "model"} <= entry.keys() for entry in entries]
        if all(has_keys):
            return entries
    raise FileError(f"{source}: competitors: found {show(entries)}; allowed: objects with name and model")


def _content(path: StrPath) -> tuple[dict[str, Any], str]:
    """Return the content of the file of a model or an identification, and the name of the file for messages."""
    source = printable(str(path), 500)
    allowed = "a file that Model.save, write_report or narxbench identify --json wrote"
    text = read_bytes(path)
    try:
        content = pydantic_core.from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise FileError(f"{source}: not valid JSON ({error}); allowed: {allowed}") from None
    if isinstance(content, dict) and content.get("format") in (JOINT_FORMAT, JOINT_IDENTIFICATION_FORMAT):
        raise FileError(f"{source}: found models of several outputs; needed: JointModel.load, for they run together")
    if not isinstance(content, dict) or content.get("format") not in (FORMAT, IDENTIFICATION_FORMAT):
        raise FileError(f"{source}: not a model; allowed: {allowed}, of one output")
    if content["format"] == IDENTIFICATION_FORMAT:
        check_version(content, IDENTIFICATION_VERSION, source)
    return content, source
