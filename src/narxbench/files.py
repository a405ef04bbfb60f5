"""Files: atomic writing, canonical JSON and digests."""

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pydantic

from narxbench.errors import NarxbenchError

# Key of the digest that a sealed file carries of its text.
SEAL = "sha256"
_OPEN = 64 * "0"
# Canonical JSON indents by one the keys of the whole, and those alone; no text of it holds a line feed.
_SEAL_LINE = re.compile(f'^ "{SEAL}": "([0-9a-f]{{64}})"', re.MULTILINE)


def write_atomically(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write to a temporary name beside ``path`` and rename, so that a kill leaves nothing half-written.

    What a kill can leave is a hidden file ``.NAME.xxxxxxxx``, which nothing reads. A full disk, a missing permission
    and the like are a clear error that names ``path``.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        _write_and_rename(Path(path), data)
    except OSError as error:
        raise NarxbenchError(cannot_be_written(path, error.strerror)) from None


def cannot_be_written(path: str | os.PathLike[str], reason: str | None) -> str:
    """Return the message on a file for which there is no room or no leave."""
    return f"{path}: cannot be written: {reason}; needed: room on the disk and a folder that may be written to"


def _write_and_rename(target: Path, data: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    # os.umask can only be read by setting it, which is not safe in threads; the kernel tells it without a change.
    for line in Path("/proc/self/status").read_text().splitlines() if os.path.exists("/proc/self/status") else ():
        if line.startswith("Umask:"):
            return int(line.split()[1], 8)
    return 0o022


def hold(path: str | os.PathLike[str]) -> bool:
    """Take the file for this process until it ends; return False when another process has it.

    The kernel gives it back at the end of the process, however that comes. True also where the file system has no such
    locks or the file cannot be made.
    """
    # Only of Unix, as the pipeline is; the library can be used elsewhere.
    import fcntl

    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return False
    except OSError:
        return True
    return True


def canonical_json(value: Any) -> str:
    """Return JSON with sorted keys and full-precision numbers; NaN and infinities are refused."""
    return json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def sealed_json(content: Mapping[str, Any]) -> str:
    """Return canonical JSON of ``content`` with one more key, the digest of the text, for :func:`check_seal`.

    The digest is that of the text with zeros in its place.
    """
    open_text = canonical_json({**content, SEAL: _OPEN})
    return _SEAL_LINE.sub(lambda line: line[0].replace(_OPEN, sha256(open_text)), open_text, count=1)


def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file; one that cannot be read is a clear error."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise NarxbenchError(f"{path}: cannot be read: {error.strerror}") from None


def read_json(path: str | os.PathLike[str]) -> tuple[Any, bytes]:
    """Return what a JSON file says, and its bytes; a missing or damaged file is a clear error."""
    text = read_bytes(path)
    try:
        return pydantic.TypeAdapter(Any).validate_json(text), text
    except pydantic.ValidationError as error:
        detail = error.errors()[0]["msg"]
        raise NarxbenchError(f"{path}: damaged, not valid JSON ({detail}); delete it and run again") from None


def check_seal(path: str | os.PathLike[str], text: bytes) -> None:
    """Raise an error that names ``path`` unless its ``text`` holds its own digest.

    One changed digit leaves valid JSON: only the digest tells it from a result.
    """
    lines = _SEAL_LINE.findall(written := text.decode(errors="replace"))
    if len(lines) != 1:
        raise NarxbenchError(f"{path}: found no digest of its content ({SEAL}); delete it and run again")
    if lines[0] != sha256(_SEAL_LINE.sub(f' "{SEAL}": "{_OPEN}"', written)):
        raise NarxbenchError(f"{path}: damaged or edited, its content has another digest; delete it and run again")


def read_sealed(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the content of a file that :func:`sealed_json` made; any other, and a damaged one, is a clear error."""
    content, text = read_json(path)
    check_seal(path, text)
    if not isinstance(content, dict):
        raise NarxbenchError(f"{path}: found no mapping; delete it and run again")
    del content[SEAL]
    return content


def sha256(content: str | bytes) -> str:
    """Return the hexadecimal SHA-256 digest of ``content`` (text is encoded as UTF-8)."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()
