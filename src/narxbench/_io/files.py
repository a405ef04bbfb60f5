"""Files: atomic writing, reading with clear errors, canonical JSON and digests."""

import hashlib
import io
import json
import os
import re
import secrets
import shutil
import stat
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import pydantic_core

from narxbench._io.errors import FileError, printable, show

StrPath = str | os.PathLike[str]
# Bytes of the largest file that is read: as arrays of numbers, its content fills the memory several times.
MOST_DATA = 2_000_000_000
# How a shell names the files that it has opened for a command.
_OPENED = re.compile(r"/dev/(stdin|fd/[0-9]+)|/proc/(self|[0-9]+)/fd/[0-9]+")
# Their entries look like files, but may wait for ever, or be different each time.
_SYSTEM_FOLDERS = ("/proc/", "/sys/")
# Settings and systems that come with the project: in its config folder, or inside an installed package.
_BUNDLED = Path(__file__).parents[1] / "bundled"
CONFIG_FOLDER = _BUNDLED if _BUNDLED.is_dir() else Path(__file__).parents[3] / "config"


def write_atomically(path: StrPath, content: str | bytes, *, durable: bool = False) -> None:
    """Write to a temporary name next to ``path`` and rename it, so that a killed process never half-writes a file.

    A hidden file ``.NAME.xxxxxxxx`` may remain, which is never read. Missing folders are made. A ``durable`` file
    survives a power cut once this function has returned. Until then the old file does.
    """
    target = Path(path)
    temporary = _aside(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        _write(temporary, content, durable=durable)
        os.replace(temporary, target)
        if durable:
            _sync(target.parent)
    except OSError as error:
        raise _unwritten(path, error) from None
    finally:
        with suppress(OSError):  # it is there only if something went wrong
            temporary.unlink()


def numbered_folder(number: int, name: str) -> str:
    """Return the name of a folder for one of several signals, such as ``1-level``. Numbers begin with 1."""
    return f"{number}-" + re.sub(r"[^\w.-]+", "_", name)[:80]


def write_folder(
    folder: StrPath, contents: Mapping[str, str | bytes], *, last: str, obsolete: Collection[str] = ()
) -> None:
    """Write files into a folder so that it never looks complete before it is.

    All files are written to a hidden folder first. A new folder appears at once, by a rename. In an existing one the
    file ``last`` is deleted before any other changes, and written last. ``obsolete`` files of earlier content are
    deleted, and all other files stay. All survive a power cut once this function has returned.
    """
    target = Path(folder)
    is_new = not target.is_dir()
    # The folder above an existing one may be read-only.
    aside = _aside(target) if is_new else _aside(target / last)
    try:
        aside.mkdir(parents=True)
        for name, content in contents.items():
            _write(aside / name, content, durable=True)
        _sync(aside)
        if is_new:
            os.rename(aside, target)
        else:
            _replace_files(aside, target, [*contents], last, obsolete)
        _sync(target.parent if is_new else target)
    except OSError as error:
        raise _unwritten(folder, error) from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _replace_files(aside: Path, target: Path, names: Sequence[str], last: str, obsolete: Collection[str]) -> None:
    """Move files into a folder that may have others of their names."""
    for name in (last, *obsolete):
        (target / name).unlink(missing_ok=True)
    _sync(target)
    for name in sorted(names, key=lambda name: name == last):
        os.replace(aside / name, target / name)


def _aside(target: Path) -> Path:
    """Return a hidden name next to a file or a folder."""
    return target.parent / f".{target.name}.{secrets.token_hex(4)}"


def _write(path: Path, content: str | bytes, *, durable: bool) -> None:
    with open(path, "xb") as stream:
        stream.write(_as_bytes(content))
        if durable:
            stream.flush()
            os.fsync(stream.fileno())


def _sync(folder: Path) -> None:
    """Let the names in a folder survive a power cut, which only POSIX can."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unwritten(path: StrPath, error: OSError) -> FileError:
    """Return the error of a file or folder that cannot be written."""
    needed = "needed: room on the disk and a folder that may be written to"
    return FileError(f"{path}: cannot be written: {error.strerror}; {needed}")


def read_bytes(path: StrPath, most: int = MOST_DATA) -> bytes:
    """Return the content of a file of up to ``most`` bytes, or raise NarxbenchError if it cannot be read.

    A pipe is read if a shell has opened it, as in ``<(zcat data.csv.gz)``. Other pipes, and devices, may never end.
    """
    try:
        return _content(os.fspath(path), most)
    except OSError as error:
        raise FileError(f"{printable(str(path), 500)}: cannot be read: {error.strerror}") from None
    except MemoryError:
        raise FileError(f"{path}: cannot be read: larger than the memory") from None
    except ValueError:  # of a null character or half a surrogate pair in the name
        raise FileError(f"{show(str(path), kind=False)}: cannot be read: not a name of a file") from None


def _content(path: str, most: int) -> bytes:
    status = os.stat(path)
    is_pipe = stat.S_ISFIFO(status.st_mode) and _OPENED.fullmatch(path)
    is_regular = stat.S_ISREG(status.st_mode) and not os.path.realpath(path).startswith(_SYSTEM_FOLDERS)
    # Reading a directory raises an error that says so.
    if not (is_pipe or is_regular or stat.S_ISDIR(status.st_mode)):
        raise OSError(0, "not a regular file")
    size = status.st_size
    with open(path, "rb") as stream:
        if is_pipe:
            # In parts: one read of all that may come would reserve as much memory.
            n_parts = most // io.DEFAULT_BUFFER_SIZE + 1
            content = b"".join(islice(iter(lambda: stream.read(io.DEFAULT_BUFFER_SIZE), b""), n_parts))
            size = len(content)
        elif size <= most:
            content = stream.read()
    if size > most:
        raise OSError(0, f"found {size} bytes; allowed: up to {most}")
    return content


def read_text(path: StrPath, most: int = MOST_DATA) -> str:
    """Return the text of a file in UTF-8, without a byte order mark, or raise NarxbenchError."""
    try:
        return read_bytes(path, most).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(f"{path}: not text in UTF-8 (byte {error.start})") from None


def read_json(path: StrPath) -> Any:
    """Return the value of a JSON file, or raise NarxbenchError if it is missing or damaged."""
    content = read_bytes(path)
    try:
        return pydantic_core.from_json(content, allow_inf_nan=False)
    except ValueError as error:
        raise FileError(f"{path}: damaged, not valid JSON ({error}); delete it and run again") from None


def canonical_json(value: Any, indent: int | None = None) -> str:
    """Return JSON with sorted keys and full-precision numbers, on one line unless ``indent`` is given.

    NaN and infinities raise ValueError.
    """
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(value, sort_keys=True, indent=indent, separators=separators, ensure_ascii=False, allow_nan=False)
    return text + "\n"


def sha256(content: str | bytes) -> str:
    """Return the hexadecimal SHA-256 digest of ``content``, of which text is encoded as UTF-8."""
    return hashlib.sha256(_as_bytes(content)).hexdigest()


def _as_bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content
