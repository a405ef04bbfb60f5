"""Formats of files of data: text is decoded, and errors name the line of Python that makes text of another format."""

from pathlib import Path

from narxbench._io.errors import FileError
from narxbench._io.files import StrPath

_FRAME = "pandas.DataFrame({k: pandas.Series(numpy.ravel(v)) for k, v in %s})"
_PUBLIC = " if k[0] not in '_#'"
# The first bytes of a format, its name, and the expression that makes a frame of it; PATH is the name of the file.
_FORMATS = (
    (b"MATLAB 7.3 MAT-file", "a MATLAB file of version 7.3", _FRAME % f"h5py.File(PATH).items(){_PUBLIC}"),
    (b"\x89HDF", "an HDF5 file", _FRAME % f"h5py.File(PATH).items(){_PUBLIC}"),
    (b"MATLAB 5.0 MAT-file", "a MATLAB file", _FRAME % f"scipy.io.loadmat(PATH).items(){_PUBLIC}"),
    (b"PAR1", "a Parquet file", "pandas.read_parquet(PATH)"),
    (b"ARROW1", "a Feather file", "pandas.read_feather(PATH)"),
    (b"\x93NUMPY", "an array of NumPy", "pandas.DataFrame(numpy.load(PATH))"),
    (b"\xd0\xcf\x11\xe0", "an Excel file", "pandas.read_excel(PATH)"),
    (b"\x1f\x8b", "a compressed file", "pandas.read_csv(PATH, compression='gzip')"),
)
# The same for archives, by bytes that stand anywhere in them.
_ARCHIVES = (
    (b"xl/", "an Excel file", "pandas.read_excel(PATH)"),
    (b".npy", "arrays of NumPy", _FRAME % "numpy.load(PATH).items()"),
    (b"opendocument", "a spreadsheet", "pandas.read_excel(PATH)"),
    (b"", "a compressed file", "pandas.read_csv(PATH, compression='zip')"),
)


def text_of(path: StrPath, content: bytes) -> str:
    """Return the text of a file in UTF-8, or in UTF-16 with its byte order mark.

    Another content raises NarxbenchError, for a known format with the line of Python that makes CSV of it.
    """
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise _no_text(str(path), content, error.start, encoding) from None
    if "\0" in text:
        raise _no_text(str(path), content, content.find(b"\0"), encoding)
    return text


def _no_text(path: str, content: bytes, position: int, encoding: str) -> FileError:
    """Return the error of a file whose byte at a position is no text in an encoding."""
    binary_format = _binary_format(content)
    if binary_format is not None:
        name, frame = binary_format
        target = str(Path(path).with_suffix("")).removesuffix(".csv") + ".csv"
        line = f"{frame.replace('PATH', repr(path))}.to_csv({target!r}, index=False)"
        needed = f"a text file such as CSV, as made in Python by {line}, or the frame itself"
        return FileError(f"{path}: found {name}; needed: {needed}")
    for utf_16, high_bytes in (("utf-16-le", content[1:1000:2]), ("utf-16-be", content[:1000:2])):
        if encoding == "utf-8-sig" and high_bytes.count(0) > 0.9 * len(high_bytes):
            frame = f"pandas.read_csv({path!r}, encoding={utf_16!r})"
            needed = f"UTF-8, or in Python the frame {frame}"
            return FileError(f"{path}: found text in UTF-16 without its mark; needed: {needed}")
    line_number = content.count(b"\n", 0, position) + 1
    problem = f"found the byte 0x{content[position]:02x}, which is not text in {encoding.removesuffix('-sig').upper()}"
    return FileError(f"{path}: line {line_number}: {problem}; needed: a text file such as CSV, in UTF-8")


def _binary_format(content: bytes) -> tuple[str, str] | None:
    """Return the name of a format and the expression that makes a frame of it, or None if it is not known."""
    if content.startswith(b"PK\3\4"):
        return next((name, frame) for part, name, frame in _ARCHIVES if part in content)
    for beginning, name, frame in _FORMATS:
        if content.startswith(beginning):
            return name, frame
    return None
