"""What a file of data is: text in UTF-8, or UTF-16 with its mark, or a format that a line of Python makes text of."""

from pathlib import Path

from narxbench.io.errors import NarxbenchError
from narxbench.io.files import StrPath

_FRAME = "pandas.DataFrame({k: pandas.Series(numpy.ravel(v)) for k, v in %s})"
_PUBLIC = " if k[0] not in '_#'"
# How a format begins, its name, and what makes a frame of it: PATH stands for the name of the file.
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
_ARCHIVES = (
    (b"xl/", "an Excel file", "pandas.read_excel(PATH)"),
    (b".npy", "arrays of NumPy", _FRAME % "numpy.load(PATH).items()"),
    (b"opendocument", "a spreadsheet", "pandas.read_excel(PATH)"),
    (b"", "a compressed file", "pandas.read_csv(PATH, compression='zip')"),
)


def text_of(path: StrPath, content: bytes) -> str:
    """Return the text that the content of a file is; of other formats, tell the line of Python that makes CSV of it."""
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        text = content.decode(encoding)
        if (at := content.find(b"\0")) >= 0 and "\0" in text:
            raise UnicodeDecodeError(encoding, content, at, at + 1, "")
    except UnicodeDecodeError as error:
        found = _other(str(path), content, error.start, encoding.removesuffix("-sig").upper())
        raise NarxbenchError(f"{path}: {found}") from None
    return text


def _other(path: str, content: bytes, at: int, encoding: str) -> str:
    """Return what a file is that is no text from some byte on, and what helps."""
    archive = content.startswith(b"PK\3\4")
    for beginning, name, frame in _ARCHIVES if archive else _FORMATS:
        if beginning in content if archive else content.startswith(beginning):
            target = str(Path(path).with_suffix("")).removesuffix(".csv") + ".csv"
            line = f"{frame.replace('PATH', repr(path))}.to_csv({target!r}, index=False)"
            return f"found {name}; needed: a text file such as CSV, as made in Python by {line}, or the frame itself"
    for name, zeros in (("utf-16-le", content[1:1000:2]), ("utf-16-be", content[:1000:2])):
        if encoding == "UTF-8" and zeros.count(0) > 0.9 * len(zeros):
            frame = f"pandas.read_csv({path!r}, encoding={name!r})"
            return f"found text in UTF-16 without its mark; needed: UTF-8, or in Python the frame {frame}"
    found = f"found the byte 0x{content[at]:02x}, which is not text in {encoding}"
    line_number = content.count(b"\n", 0, at) + 1
    return f"line {line_number}: {found}; needed: a text file such as CSV, in UTF-8"
