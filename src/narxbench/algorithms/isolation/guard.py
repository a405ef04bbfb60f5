"""What an algorithm must leave alone while it runs, and what is noted of its random numbers and clocks.

This stops mistakes and shortcuts, in Python. What separates results is the process, not this.
"""

import errno
import os
import random
import re
import sys
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import numpy as np

_REFUSED = {
    *("os.system", "os.exec", "os.posix_spawn", "os.fork", "os.forkpty", "os.spawn", "os.kill", "os.killpg"),
    *("subprocess.Popen", "pty.spawn", "socket.connect", "socket.bind", "socket.getaddrinfo"),
    *("socket.sendto", "socket.sendmsg", "resource.prlimit"),
}
# They change files without opening them, lead to them by another name, or open them unseen.
_CHANGING = {
    *("os.remove", "os.rename", "os.link", "os.symlink", "os.truncate", "os.mkdir", "os.rmdir", "os.chmod", "os.chown"),
    *("os.utime", "os.setxattr", "os.removexattr", "os.chdir", "sqlite3.connect"),
}
_OTHER_PROCESS = re.compile(r"/proc/[0-9]+(/|$)")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class RefusedError(PermissionError):
    """Something that an algorithm must leave alone."""

    def __init__(self, what: str) -> None:
        super().__init__(errno.EACCES, f"{what}: refused; allowed: what run() is given")

    def __str__(self) -> str:
        return str(self.strerror)


class Guard:
    """Refuses files of the study at once, and writing, processes and connections from :meth:`watch` on.

    Parameters
    ----------
    protected : sequence of str
        Folders whose files are refused.
    """

    def __init__(self, protected: Sequence[str]) -> None:
        self._protected = tuple(os.path.realpath(folder) + os.sep for folder in protected)
        self._on = False
        self.refused: list[str] = []
        sys.addaudithook(self._audit)

    def watch(self) -> None:
        """Begin to refuse everything: what is imported may write its compiled code before."""
        self._on = True

    def _audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            self._file(*arguments)
        elif self._on and event in _REFUSED:
            self._refuse(event)
        elif self._on and event in _CHANGING:
            paths = [argument for argument in arguments if isinstance(argument, (str, bytes, os.PathLike))]
            if any(self._is_protected(os.path.realpath(os.fsdecode(path))) for path in paths):
                self._refuse(f"{event} {os.fsdecode(paths[0])}")
            raise RefusedError(event)

    def _file(self, path: Any, mode: Any, flags: int) -> None:
        if not isinstance(path, (str, bytes, os.PathLike)):
            return
        name = os.path.realpath(os.fsdecode(path))
        if self._is_protected(name):
            self._refuse(f"reading {os.fsdecode(path)}")
        if self._on and flags & _WRITING and name != os.devnull:
            # Python, which keeps the bytecode of what is imported late, and others do without.
            raise RefusedError(f"writing {name}")

    def _is_protected(self, name: str) -> bool:
        other = _OTHER_PROCESS.match(name) and not name.startswith(f"/proc/{os.getpid()}/")
        return bool(other) or (name + os.sep).startswith(self._protected)

    def _refuse(self, what: str) -> None:
        self.refused.append(what)
        raise RefusedError(what)


def global_states() -> dict[str, str]:
    """Return the states of the global generators of random numbers, by name."""
    return {"numpy.random": repr(np.random.get_state(legacy=False)), "random": repr(random.getstate())}


class Draws:
    """Notes what generators of random numbers an algorithm makes, and from what.

    Parameters
    ----------
    own : str
        The package or module of the algorithm. What others make when they are imported is not noted.
    """

    def __init__(self, own: str) -> None:
        self.made: list[str] = []
        self._own = own
        for name in ("RandomState", "SeedSequence", "PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"):
            setattr(np.random, name, self._noting(getattr(np.random, name)))
        setattr(np.random, "default_rng", self._noted_call(np.random.default_rng))  # noqa: B010
        for name in ("Random", "SystemRandom"):
            setattr(random, name, self._noting(getattr(random, name)))

    def seed_global(self, seed: int) -> None:
        """Seed the global generators, so that even an algorithm that draws from them gives the same run again."""
        np.random.seed(seed)
        random.seed(seed)
        self._states = global_states()

    def used_global(self) -> list[str]:
        """Return the global generators that were drawn from."""
        return [name for name, state in global_states().items() if state != self._states[name]]

    def _note(self, kind: str, seed: Any) -> None:
        if isinstance(seed, (np.random.Generator, np.random.BitGenerator)) or hasattr(seed, "spawn_key"):
            return  # made from another generator
        if not self._imported_by_others():
            self.made.append(f"{kind}({'' if seed is None else repr(seed)[:200]})")

    def _imported_by_others(self) -> bool:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if f"{frame.f_globals.get('__name__')}.".startswith(f"{self._own}."):
                return False
            if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
                return True
            frame = frame.f_back
        return False

    def _noting(self, kind: Any) -> Any:
        note = self._note

        class Instances(type):
            def __instancecheck__(cls, instance: Any) -> bool:
                return isinstance(instance, kind)

        class Noting(kind, metaclass=Instances):
            def __new__(cls, *args: Any, **settings: Any) -> Any:
                note(kind.__name__, next(iter((*args, *settings.values())), None))
                return super().__new__(cls, *args, **settings)

        Noting.__name__ = kind.__name__
        return Noting

    def _noted_call(self, make: Callable[..., Any]) -> Callable[..., Any]:
        def default_rng(seed: Any = None) -> Any:
            self._note("default_rng", seed)
            return make(seed)

        return default_rng


def wrong_clocks() -> None:
    """Let the clocks of :mod:`time` run fast and unevenly: what depends on them gives another result.

    The class ``datetime`` stays as it is, for compiled packages rely on it.
    """
    ticks = iter(range(1, 1 << 62))
    for name in ("time", "monotonic", "perf_counter", "process_time", "thread_time"):
        began = getattr(time, name)()
        setattr(time, name, lambda began=began: began + 7.31 * next(ticks))
        setattr(time, f"{name}_ns", lambda began=began: int(1e9 * began) + 7_310_000_001 * next(ticks))
