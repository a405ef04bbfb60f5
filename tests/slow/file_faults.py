"""Files whose operations fail: the n-th of a kind below a folder."""

import builtins
import errno
import io
import os
from collections import Counter
from pathlib import Path

# Kinds of operations, and why they fail.
KINDS = {
    "open": errno.EMFILE,
    "write": errno.ENOSPC,
    "fsync": errno.EIO,
    "rename": errno.EACCES,
    "mkdir": errno.EROFS,
}


class _FaultyStream(io.FileIO):
    """A file without a buffer, whose writes can fail after a part of the bytes."""

    def __init__(self, faults, path, mode):
        super().__init__(path, mode)
        self._faults, self._path = faults, path

    def write(self, content):
        if self._faults.occurs("write", self._path):
            super().write(bytes(content)[: len(content) // 2])
            raise self._faults.error(self._path)
        return super().write(content)


class Faults:
    """Operations of files below a folder are counted, and the n-th of a kind fails; ``number`` 0: none fails."""

    def __init__(self, folder, kind="", number=0):
        self.folder, self.kind, self.number = os.path.realpath(folder), kind, number
        self.counts = Counter()
        self._real = {"open": builtins.open, **{name: getattr(os, name) for name in ("fsync", "replace", "mkdir")}}
        self._real["rename"] = os.rename

    def error(self, path):
        reason = KINDS[self.kind]
        return OSError(reason, os.strerror(reason), os.fspath(path))

    @property
    def occurred(self):
        """Whether there were operations enough for one to fail."""
        return self.counts[self.kind] >= self.number

    def occurs(self, kind, path):
        """Count an operation; return whether it is the one that fails."""
        if isinstance(path, int) or not os.path.realpath(path).startswith(self.folder):
            return False
        self.counts[kind] += 1
        return kind == self.kind and self.counts[kind] == self.number

    def _open(self, path, mode="r", *arguments, **options):
        if self.occurs("open", path):
            raise self.error(path)
        if mode in ("xb", "wb") and not isinstance(path, int) and os.path.realpath(path).startswith(self.folder):
            return _FaultyStream(self, path, mode)
        return self._real["open"](path, mode, *arguments, **options)

    def _fsync(self, descriptor):
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        if self.occurs("fsync", path):
            raise self.error(path)
        return self._real["fsync"](descriptor)

    def _renaming(self, name):
        def rename(source, target, **options):
            if self.occurs("rename", target):
                raise self.error(target)
            return self._real[name](source, target, **options)

        return rename

    def _mkdir(self, path, *arguments, **options):
        if self.occurs("mkdir", path):
            raise self.error(path)
        return self._real["mkdir"](path, *arguments, **options)

    def __enter__(self):
        builtins.open, os.fsync, os.mkdir = self._open, self._fsync, self._mkdir
        os.rename, os.replace = self._renaming("rename"), self._renaming("replace")
        return self

    def __exit__(self, *_):
        builtins.open, os.fsync, os.mkdir = self._real["open"], self._real["fsync"], self._real["mkdir"]
        os.rename, os.replace = self._real["rename"], self._real["replace"]


def each_fault(folder, kind):
    """Yield faults of a kind: of the first operation, of the second, and so on, the last of which never fails."""
    faults = Faults(folder, kind, 1)
    yield faults
    while faults.occurred:
        faults = Faults(folder, kind, faults.number + 1)
        yield faults


def files_of(folder):
    """Return the bytes of all files below a folder by name, without the hidden ones that nothing reads."""
    contents = {}
    for path in sorted(Path(folder).rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and not any(part.startswith(".") for part in Path(name).parts):
            contents[name] = path.read_bytes()
    return contents
