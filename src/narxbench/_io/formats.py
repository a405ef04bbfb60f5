"""Formats of files of data: what a file is, by its first bytes, and what a compressed file has in it."""

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

from narxbench._io.errors import FieldError, FileError, NarxbenchError, did_you_mean, printable, show
from narxbench._io.files import MOST_DATA, StrPath, read_bytes

# The first bytes of a format, and its name. A file without any of them is a text.
_BEGINNINGS = (
    (b"MATLAB 7.3 MAT-file", "mat73"),
    (b"\x89HDF", "hdf5"),
    (b"MATLAB 5.0 MAT-file", "mat"),
    (b"PAR1", "parquet"),
    (b"ARROW1", "feather"),
    (b"\x93NUMPY", "npy"),
    (b"TDSm", "tdms"),
    (b"\xd0\xcf\x11\xe0", "xls"),
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\0", "xz"),
)
_COMPRESSED: Mapping[str, Callable[[IO[bytes]], Any]] = {"gzip": gzip.open, "bzip2": bz2.open, "xz": lzma.open}
_NOT_READ = {"xls": "an old Excel file", "ods": "an OpenDocument spreadsheet"}
TABLES = ("text", "xlsx")


class DataFile(NamedTuple):
    """The content of a file of data, without its compression."""

    path: str
    content: bytes
    format: str
    part: str | None = None  # the sheet, group or structure that its user wants


_WITHOUT_PARTS = ("text", "npy", "parquet", "feather")


def open_data_file(path: StrPath, part: str | None = None) -> DataFile:
    """Return a file of data without its compression, or the member ``part`` of an archive."""
    file = DataFile(str(path), read_bytes(path), "", part)
    try:
        file = file._replace(format=_format_of(file.content, str(path)))
        if file.format in _COMPRESSED:
            with _COMPRESSED[file.format](io.BytesIO(file.content)) as stream:
                file = _unpacked(file, stream, Path(path).stem)
        elif file.format == "zip":
            file = _member(file)
    except NarxbenchError:
        raise
    except Exception:  # the modules of archives raise errors of many kinds for damaged ones
        raise FileError(f"{path}: cannot be unpacked: damaged, or encrypted; needed: a whole file") from None
    if file.part is not None and file.format in _WITHOUT_PARTS:
        problem = f"found {show(file.part, kind=False)}, but a file of the format {file.format} has no parts"
        raise FieldError("part", f"{problem}; allowed: none", file.path)
    if file.format in _NOT_READ:
        target = f"{Path(path).with_suffix('')}.xlsx"
        line = f"pandas.read_excel({str(path)!r}).to_excel({target!r}, index=False)"
        raise FileError(f"{path}: found {_NOT_READ[file.format]}; needed: .xlsx or CSV, as made in Python by {line}")
    return file


def _format_of(content: bytes, name: str) -> str:
    if content.startswith(b"PK\3\4"):
        return _format_of_archive(content)
    for beginning, format_name in _BEGINNINGS:
        if content.startswith(beginning):
            return format_name
    # Files of MATLAB 4 begin with numbers, of which some bytes are null.
    if name.lower().endswith(".mat") and b"\0" in content[:20]:
        return "mat"
    return "text"


def _format_of_archive(content: bytes) -> str:
    try:
        names = zipfile.ZipFile(io.BytesIO(content)).namelist()
    except zipfile.BadZipFile:
        return "zip"
    if "xl/workbook.xml" in names:
        return "xlsx"
    if "mimetype" in names and "content.xml" in names:
        return "ods"
    if names and all(name.endswith(".npy") for name in names):
        return "npz"
    return "zip"


def _member(file: DataFile) -> DataFile:
    """Return the member of an archive that its user wants, or the only one."""
    archive = zipfile.ZipFile(io.BytesIO(file.content))
    names = [name for name in archive.namelist() if not name.endswith("/") and not name.startswith("__MACOSX/")]
    if not names:
        raise FileError(f"{file.path}: found an empty archive; needed: a file of data in it")
    name = names[0]
    if file.part in names:
        name = file.part
    elif len(names) > 1:
        raise part_error(file, "files", names)
    with archive.open(name) as stream:
        return _unpacked(file, stream, name)


def _unpacked(file: DataFile, stream: IO[bytes], name: str) -> DataFile:
    content = stream.read(MOST_DATA + 1)
    if len(content) > MOST_DATA:
        raise FileError(f"{file.path}: found more than {MOST_DATA} bytes; allowed: up to {MOST_DATA}")
    content_format = _format_of(content, name)
    if content_format == "zip" or content_format in _COMPRESSED:
        raise FileError(f"{file.path}: found {printable(name)}, which is compressed again; allowed: compressed once")
    part = None if file.part == name else file.part
    return DataFile(file.path, content, content_format, part)


def part_error(file: DataFile, kind: str, names: list[str]) -> FieldError:
    """Return the error of a part that a file does not have, or that its user has to name."""
    what = f"{len(names)} {kind}"
    if file.part is not None:
        what = f"no {show(file.part, kind=False)}"
    allowed = f"one of {printable(', '.join(names))}{did_you_mean(file.part or '', names)}"
    return FieldError("part", f"found {what}; allowed: {allowed}", file.path)
