"""Files: atomic writing, canonical JSON and digests."""

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any


def write_atomically(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write to a temporary name beside ``path`` and rename, so that a kill leaves nothing half-written."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
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


def sha256(content: str | bytes) -> str:
    """Return the hexadecimal SHA-256 digest of ``content`` (text is encoded as UTF-8)."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()
