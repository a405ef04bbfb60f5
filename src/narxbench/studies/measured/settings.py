"""The settings of a study of measured data: strict, merged from its files, checked with the data before anything runs.

Such a study is complete in itself: a file (``--configfile``), perhaps others over it, and values of the command line
(``--config``).
"""

import os
import re
import sys
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal

import pydantic
from pydantic import AfterValidator, BeforeValidator, Field

from narxbench.identification.search.scan import Scan
from narxbench.identification.settings import IdentificationSettings
from narxbench.io.errors import FieldError, NarxbenchError, show
from narxbench.io.files import canonical_json
from narxbench.io.settings import Problem, Settings, SettingsError, described_as, validated
from narxbench.model.records import Role
from narxbench.studies.measured.jobs import scan_of
from narxbench.study.layers import Layers, merge_layers, with_sources
from narxbench.study.settings import Name, for_overlays, no_file, no_reference, refuse_page

_SHARE = re.compile(r"\s*[0-9]*\.?[0-9]+\s*%?\s*")


def _check(allowed: str, kinds: tuple[type, ...], listed: tuple[type, ...] = (), false: bool = False) -> Any:
    """Return a check for values of some kinds, lists of some, and perhaps false."""

    def check(value: object) -> object:
        parts, right = (value, listed) if isinstance(value, list) and value and listed else ([value], kinds)
        for part in parts:
            # bool is an int to Python.
            if (isinstance(part, bool) or not isinstance(part, right)) and not (false and part is False):
                raise ValueError(f"found {show(part)}; allowed: {allowed}")
        return value

    return BeforeValidator(check)


def _listed(value: object) -> object:
    # One file stands for a list of one.
    return [value] if isinstance(value, str) else value


_COLUMN, _NAME = "a name or number of a column", (str, int)
_COLUMNS, _TIME = f"{_COLUMN}, or a list of them", f"{_COLUMN}, or false"
_TEST = "a file, a list of files, or a share such as 20%"
_Columns = Annotated[str | int | list[str | int] | None, _check(_COLUMNS, _NAME, _NAME), described_as(_COLUMNS)]
_Test = Annotated[str | float | list[str] | None, _check(_TEST, (*_NAME, float, NoneType), (str,)), described_as(_TEST)]
_Time = Annotated[str | int | bool | None, _check(_TIME, (*_NAME, NoneType), false=True), described_as(_TIME)]


class MeasuredData(Settings):
    """Where the data are, and what their columns mean."""

    files: Annotated[
        list[str],
        Field(min_length=1),
        BeforeValidator(_listed, json_schema_input_type=str | list[str]),
        described_as("a file, or a list of them"),
    ]
    """Files of text with columns of numbers, each an experiment of its own; paths start from the project's folder."""
    output: Annotated[str | int, _check(_COLUMN, _NAME), described_as(_COLUMN)]
    """Column of the output: its name, or its number from 1 on."""
    input: _Columns = None
    """Columns of the inputs; without any the output depends on its own past only."""
    test: _Test = None
    """Data that the model is tested on, and that nothing else sees: files, or the last share of each record."""
    test_output: Annotated[str | int | None, _check(_COLUMN, (*_NAME, NoneType)), described_as(_COLUMN)] = None
    """Column of the test's output, where it is another one; without ``test`` it stands in the same files."""
    test_input: _Columns = None
    """Columns of the test's inputs, likewise."""
    time: _Time = None
    """Column of the time; by default the one whose name says so; false: none."""
    roles: dict[str, Role] = Field(default={})
    """What some of the files are for, by name: estimation, selection or test."""
    sampling_time: float | None = Field(default=None, gt=0)
    """Seconds between samples, where no column is the time."""
    units: dict[str, str] = Field(default={})
    """Units of signals by name."""
    header: bool | None = None
    """Whether the first line of the files names the columns; by default this is found out."""
    separator: Annotated[Literal[",", ";", "tab", "blank"] | None, described_as("',', ';', tab or blank")] = None
    """What stands between the fields; by default this is found out."""
    decimal: Annotated[Literal[".", ","] | None, described_as("'.' or ','")] = None
    """The decimal mark; by default this is found out."""

    @property
    def test_files(self) -> list[str]:
        """The files of the test; none where it is a share."""
        if isinstance(self.test, str) and not (_SHARE.fullmatch(self.test) and not os.path.exists(self.test)):
            return [self.test]
        return self.test if isinstance(self.test, list) else []


class MeasuredStudy(Settings):
    """All settings of a study of measured data."""

    study: Annotated[Name, AfterValidator(no_reference)]
    """Name of the study: of its folders under data/ and reports/. By default it is the name of its file."""
    kind: Literal["measured"]
    """A model of measured data, and how far to trust it."""
    data: MeasuredData
    """The data."""
    identification: IdentificationSettings = IdentificationSettings()
    """What is tried, and how sure one wants to be."""

    @pydantic.model_validator(mode="after")
    def _files_are_there(self) -> "MeasuredStudy":
        # Each file that is not there, with the closest one that is.
        found = [
            Problem(("data", key, *((index,) if len(files) > 1 else ())), no_file(name))
            for key, files in (("files", self.data.files), ("test", self.data.test_files))
            for index, name in enumerate(files)
            if not os.path.isfile(name)
        ]
        own = Path("data", self.study).resolve()
        if any(own in Path(path).resolve().parents for path in self.files):
            what = f"data/{self.study} holds data, and would hold results"
            found.append(Problem(("study",), f"found {self.study!r}, but {what}; allowed: other names"))
        if found:
            raise SettingsError(found)
        return self

    @property
    def files(self) -> list[str]:
        """All files of data."""
        return [*self.data.files, *self.data.test_files]

    @property
    def reading(self) -> dict[str, Any]:
        """The arguments of :func:`narxbench.identification.data.reading.read_recording`, as plain data."""
        given = {name: value for name, value in self.data.model_dump(mode="json").items() if value not in (None, {})}
        return {"data": given.pop("files"), **given, **({"test": tests} if (tests := self.data.test_files) else {})}


def load_measured(layers: Layers) -> tuple[MeasuredStudy, Scan]:
    """Return the settings of a study of measured data, and what is tried on the data, which are read for it.

    The layers are what the study, its overlays and the command line give. NarxbenchError has one line for each mistake,
    with the source that has the last word on its key.
    """
    try:
        given = merge_layers(layers)
        refuse_page(given)
        study = validated(MeasuredStudy, given, "")
        return study, _scan(study)
    except SettingsError as error:
        raise with_sources(error, layers, next(source for source, _ in layers)) from None


def _scan(study: MeasuredStudy) -> Scan:
    """Return what is tried on the data; a mistake that only they show is one of the settings."""
    try:
        return scan_of(study.reading, study.identification.model_dump(mode="json"))
    except FieldError as error:
        section = "identification" if error.field in IdentificationSettings.model_fields else "data"
        path = ("data",) if error.field == "data" else (section, error.field)
        raise SettingsError([Problem(path, ": ".join(filter(None, (error.source, error.text))))]) from None
    except NarxbenchError as error:
        of_file = str(error).startswith(tuple(f"{name}: " for name in study.files))
        raise SettingsError([Problem(("data" if of_file else "identification",), str(error))]) from None


def schema() -> dict[str, Any]:
    """Return the JSON schema of a study of measured data for editors; no key is required, so that it fits overlays."""
    result: dict[str, Any] = for_overlays(MeasuredStudy.model_json_schema())
    return result


if __name__ == "__main__":
    sys.stdout.write(canonical_json(schema(), indent=1))
