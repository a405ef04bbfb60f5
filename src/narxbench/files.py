"""Files: atomic writing, canonical JSON and digests."""

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from narxbench.errors import NarxbenchError

# Key of the digest that a sealed file carries of the rest of its content.
SEAL = "sha256"


def write_atomically(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write to a temporary name beside ``path`` and rename, so that a kill leaves nothing half-written.

    What a kill can leave is a hidden file ``.NAME.xxxxxxxx``, which nothing reads. A full disk, a missing permission
    and the like are a clear error that names ``path``.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        _write_and_rename(Path(path), data)
    except OSError as error:
        raise NarxbenchError(
            f"{path}: cannot be written: {error.strerror}; needed: room on the disk and a folder that may be written to"
        ) from None


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


def canonical_json(value: Any) -> str:
    """Return JSON with sorted keys and full-precision numbers; NaN and infinities are refused."""
    return json.dumps(value, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def sealed_json(content: Mapping[str, Any]) -> str:
    """Return canonical JSON of ``content`` with one more key, the digest of the rest, for :func:`check_seal`."""
    return canonical_json({**content, SEAL: sha256(canonical_json(content))})


def check_seal(path: str | os.PathLike[str], content: Mapping[str, Any], seal: object) -> None:
    """Raise an error that names ``path`` unless ``seal`` is the digest of ``content``.

    One changed digit leaves valid JSON: only the digest tells it from a result.
    """
    if seal is None:
        raise NarxbenchError(f"{path}: found no digest of its content ({SEAL}); delete it and run again")
    try:
        whole = seal == sha256(canonical_json(content))
    except (ValueError, RecursionError):  # NaN, or nested too deeply
        whole = False
    if not whole:
        raise NarxbenchError(f"{path}: damaged or edited, its content has another digest; delete it and run again")


def sha256(content: str | bytes) -> str:
    """Return the hexadecimal SHA-256 digest of ``content`` (text is encoded as UTF-8)."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()
