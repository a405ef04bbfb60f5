"""The settings of a study of measured data: strict, merged from its files, checked with the data before anything runs.

Such a study is complete in itself: a file (``--configfile``), perhaps others over it, and values of the command line
(``--config``).
"""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal

import pydantic
from pydantic import AfterValidator, BeforeValidator, Field

from narxbench._identification.search.scan import Scan
from narxbench._identification.settings import IdentificationSettings
from narxbench._io.errors import FieldError, NarxbenchError, show
from narxbench._io.files import canonical_json
from narxbench._io.settings import Mistake, Settings, SettingsError, described_as, validated
from narxbench._model.records import Role
from narxbench._studies.measured.jobs import scan_of
from narxbench._study.layers import Layers, merge_layers, with_sources
from narxbench._study.settings import Name, for_overlays, free_name, no_file, refuse_page

_SHARE = re.compile(r"\s*(?:[0-9]*\.)?[0-9]+\s*%?\s*")


def _check(allowed: str, kinds: tuple[type, ...], listed: tuple[type, ...] = (), false: bool = False) -> Any:
    """Return a check for values of some ``kinds``, lists of the ``listed`` kinds, and perhaps false."""

    def is_allowed(value: object, allowed_kinds: tuple[type, ...]) -> bool:
        # bool is an int to Python.
        if isinstance(value, bool):
            return false and not value
        return isinstance(value, allowed_kinds)

    def check(value: object) -> object:
        parts, allowed_kinds = [value], kinds
        if isinstance(value, list) and value and listed:
            parts, allowed_kinds = value, listed
        for part in parts:
            if not is_allowed(part, allowed_kinds):
                raise ValueError(f"found {show(part)}; allowed: {allowed}")
        return value

    return BeforeValidator(check)


def _listed(value: object) -> object:
    """Return one file as a list of one."""
    return [value] if isinstance(value, str) else value


_COLUMN, _NAME = "a name or number of a column", (str, int)
_COLUMNS, _TIME = f"{_COLUMN}, or a list of them", f"{_COLUMN}, or false"
_TEST = "a file, a list of files, or a share such as 20%"
_Columns = Annotated[str | int | list[str | int] | None, _check(_COLUMNS, _NAME, _NAME), described_as(_COLUMNS)]
_Test = Annotated[str | float | list[str] | None, _check(_TEST, (*_NAME, float, NoneType), (str,)), described_as(_TEST)]
_Time = Annotated[str | int | bool | None, _check(_TIME, (*_NAME, NoneType), false=True), described_as(_TIME)]


class MeasuredData(Settings):
    """The files of the data, and the meaning of their columns."""

    files: Annotated[
        list[str],
        Field(min_length=1),
        BeforeValidator(_listed, json_schema_input_type=str | list[str]),
        described_as("a file, or a list of them"),
    ]
    """Files with columns of numbers, each an experiment of its own; paths start from the project's folder."""
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
    """The roles of some of the files, by name: estimation, selection or test."""
    sampling_time: float | None = Field(default=None, gt=0)
    """Seconds between samples, where no column is the time."""
    units: dict[str, str] = Field(default={})
    """Units of signals by name."""
    header: bool | None = None
    """Whether the first line of the files names the columns; by default this is found out."""
    separator: Annotated[Literal[",", ";", "tab", "blank"] | None, described_as("',', ';', tab or blank")] = None
    """The character between the fields; by default this is found out."""
    decimal: Annotated[Literal[".", ","] | None, described_as("'.' or ','")] = None
    """The decimal mark; by default this is found out."""
    skip_rows: int | None = Field(default=None, ge=0)
    """Lines above the header, such as those of an instrument; by default this is found out."""
    encoding: str | None = None
    """The encoding of text files; by default this is found out."""
    part: str | None = None
    """The sheet, group, structure or member of the files that has the data."""
    time_format: str | None = None
    """The order of dates (d/m/y, m/d/y), the unit of numbers (s, ms, us, ns, min, h, d), or a format of strptime."""

    @property
    def test_files(self) -> list[str]:
        """The files of the test; none where it is a share."""
        if isinstance(self.test, str) and not (_SHARE.fullmatch(self.test) and not os.path.exists(self.test)):
            return [self.test]
        return self.test if isinstance(self.test, list) else []


class MeasuredStudy(Settings):
    """All settings of a study of measured data."""

    study: Annotated[Name, AfterValidator(free_name)]
    """Name of the study: of its folders under data/ and reports/. By default it is the name of its file."""
    kind: Literal["measured"]
    """A model of measured data, and how far to trust it."""
    data: MeasuredData
    """The data."""
    identification: IdentificationSettings = IdentificationSettings()
    """What is tried, and how sure one wants to be."""

    @pydantic.model_validator(mode="after")
    def _files_are_there(self) -> "MeasuredStudy":
        mistakes = [*self._missing_files("files", self.data.files), *self._missing_files("test", self.data.test_files)]
        results = Path("data", self.study).resolve()
        if any(results in Path(path).resolve().parents for path in self.files):
            problem = f"data/{self.study} holds data, and would hold results"
            mistakes.append(Mistake(("study",), f"found {self.study!r}, but {problem}; allowed: other names"))
        if mistakes:
            raise SettingsError(mistakes)
        return self

    def _missing_files(self, key: str, files: Sequence[str]) -> Iterator[Mistake]:
        """Yield a mistake for each file that does not exist, with the closest one that does."""
        for index, name in enumerate(files):
            place = ("data", key, index) if len(files) > 1 else ("data", key)
            if not os.path.isfile(name):
                yield Mistake(place, no_file(name))

    @property
    def files(self) -> list[str]:
        """All files of data."""
        return [*self.data.files, *self.data.test_files]

    @property
    def reading(self) -> dict[str, Any]:
        """The arguments of :func:`narxbench._identification.data.reading.read_recording`, as plain data."""
        data = self.data.model_dump(mode="json")
        arguments = {"data": data.pop("files")}
        for name, value in data.items():
            if value not in (None, {}):
                arguments[name] = value
        if self.data.test_files:
            arguments["test"] = self.data.test_files
        return arguments


def load_measured(layers: Layers) -> tuple[MeasuredStudy, Scan]:
    """Return the settings of a study of measured data, and the search on these data, which are read for it.

    The layers are the study, its overlays and the command line. NarxbenchError has one line for each mistake, with the
    source that has the last word on its key.
    """
    try:
        settings = merge_layers(layers)
        refuse_page(settings)
        study = validated(MeasuredStudy, settings, "")
        return study, _scan(study)
    except SettingsError as error:
        raise with_sources(error, layers, next(source for source, _ in layers)) from None


def _scan(study: MeasuredStudy) -> Scan:
    """Return the search on the data; a mistake that only the data show is reported as one of the settings."""
    try:
        return scan_of(study.reading, study.identification.model_dump(mode="json"))
    except FieldError as error:
        path = _path_of_field(error.field)
        raise SettingsError([Mistake(path, ": ".join(filter(None, (error.source, error.text))))]) from None
    except NarxbenchError as error:
        names_a_file = str(error).startswith(tuple(f"{name}: " for name in study.files))
        section = "data" if names_a_file else "identification"
        raise SettingsError([Mistake((section,), str(error))]) from None


def _path_of_field(field: str) -> tuple[str, ...]:
    """Return where an argument of the search stands in the settings."""
    if field == "data":
        return ("data",)
    return ("identification" if field in IdentificationSettings.model_fields else "data", field)


def schema() -> dict[str, Any]:
    """Return the JSON schema of a study of measured data for editors; no key is required, so that it fits overlays."""
    result: dict[str, Any] = for_overlays(MeasuredStudy.model_json_schema())
    return result


if __name__ == "__main__":
    sys.stdout.write(canonical_json(schema(), indent=1))
