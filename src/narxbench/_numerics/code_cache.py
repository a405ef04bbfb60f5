"""Machine code on disk: what one process has compiled, other processes load.

Numba chooses the folder: ``NUMBA_CACHE_DIR``, else next to the source, else the user's cache folder. The files have a
format of our own, because Numba trusts the content of its files: a damaged file ends the program. Numba also writes the
index of a cache before the code that it lists. After a process was killed in between, or two wrote at once, the
index may list the wrong code: from an earlier source, for other types, or for another processor. Here each piece
of code is one file that carries its digest and is written in one step. The digest has no key: it finds damage, but
is no protection from people who can write to the folder.
"""

import hashlib
import logging
import pickle
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any, Self

import llvmlite
import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, InTreeCacheLocator
from numba.core.runtime import rtsys
from numba.core.serialize import dumps

from narxbench._io.errors import NarxbenchError
from narxbench._io.files import write_atomically

logger = logging.getLogger("narxbench")

# The packages that hold compiled functions.
_COMPILED = ("_numerics", "_model", "_fitness/kernel", "_algorithms", "_identification/validation")
_MAKES_CODE = re.compile(rb"^(@(compiled|inlined|inner)$|from numba|import numba)", re.MULTILINE)
_SEAL_BYTES = hashlib.sha256().digest_size


@cache
def digest_of_compiled_modules(module: Path | None = None) -> str:
    """Return one SHA-256 digest of all modules whose functions the machine code of a module may contain.

    These are the modules with compiled functions, and those that generate code for them, but of the algorithms only the
    module itself, because no algorithm calls another.
    """
    digest = hashlib.sha256()
    for path, content, is_shared in _sources():
        if path == module or is_shared:
            digest.update(content)
    return digest.hexdigest()


@cache
def _sources() -> list[tuple[Path, bytes, bool]]:
    """Return all modules that may have compiled functions, their content, and whether others may contain these."""
    package = Path(__file__).parents[1]
    sources = []
    for folder in _COMPILED:
        for path in sorted((package / folder).glob("*.py")):
            content = path.read_bytes()
            is_algorithm = b"\ndef run(" in content
            sources.append((path, content, bool(_MAKES_CODE.search(content)) and not is_algorithm))
    return sources


class _Unwritable(InTreeCacheLocator):
    """The folder of the source when no folder can be written to: it may contain code from the installation."""

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Self:
        return cls(py_func, py_file)


class _Code(CompileResultCacheImpl):
    _locator_classes = (*CompileResultCacheImpl._locator_classes, _Unwritable)


class CodeCache(FunctionCache):
    """The cache of one compiled function.

    Reading never fails: if a file is missing or damaged, or has the code of another source, the function is compiled. A
    process that cannot write goes on with the code that it has compiled, and logs one warning.
    """

    _impl_class = _Code
    _reported = False

    @property
    def keeps(self) -> bool:
        """Whether there is a folder to write to."""
        return not isinstance(self._impl.locator, _Unwritable)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled function for these types, or None."""
        # Numba would import all of its implementations here, which takes longer than to import Numba itself. They are
        # for compiling, which imports them.
        rtsys.initialize(target_context)
        path, seal = self._place(sig, target_context.codegen())
        try:
            content = path.read_bytes()
        except OSError:
            return None
        body = content[_SEAL_BYTES:]
        if content[:_SEAL_BYTES] != seal(body):
            return None
        # Whoever writes to the folder may run code here, as may whoever writes to the source: see docs/robustness.md.
        parts = pickle.loads(body)  # noqa: S301 # nosec B301 # as safe as the folder
        return self._impl.rebuild(target_context, parts)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Write the compiled function for these types, if possible."""
        if not (self.keeps and self._impl.check_cachable(data)):
            return
        path, seal = self._place(sig, data.codegen)
        body = dumps(self._impl.reduce(data))
        try:
            write_atomically(path, seal(body) + body)
        except NarxbenchError as error:
            if not CodeCache._reported:
                CodeCache._reported = True
                logger.warning("narxbench: compiled code is not kept for other processes: %s", error)

    def _place(self, sig: Any, codegen: Any) -> tuple[Path, Any]:
        """Return the file of the function for these types on this processor, and a function that digests its content.

        When the source changes, its code replaces that of the old source, so that files do not accumulate.
        """
        key, source = self._index_key(sig, codegen), Path(self._py_func.__code__.co_filename)
        versions = sys.implementation.cache_tag, numba.__version__, llvmlite.__version__
        name = repr((*versions, sig, codegen.magic_tuple()))
        file = f"{source.stem}.{self._py_func.__name__}-{hashlib.sha256(name.encode()).hexdigest()[:16]}.nbc"
        path = Path(self.cache_path, file)
        # The code contains functions of other files. Editing any of these files invalidates it.
        source_digest = digest_of_compiled_modules(source)
        prefix = repr((source_digest, name, key)).encode()
        return path, lambda body: hashlib.sha256(prefix + body).digest()
