"""The calling side: the process of an algorithm, and its runs, each in a fresh child of it."""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from narxbench.algorithms.contract import BudgetSpentError, Found, ProblemView, checked_found
from narxbench.algorithms.isolation import wire
from narxbench.algorithms.isolation.wire import BrokenMessageError, receive, send
from narxbench.algorithms.objective import CountedObjective
from narxbench.io.errors import NarxbenchError, printable

_WORK = "from narxbench.algorithms.isolation.worker import main; main(sys.argv[1:])"
# Next to PYTHONPATH, as a colon in the path of a folder would end an entry there.
_PATHS = "NARXBENCH_IMPORTS"
# Time to import an algorithm with all that it needs.
_START_SECONDS = 120.0
# Time to end all that a run has started, before the process is killed that ends it.
_END_SECONDS = 5.0


class RunFailedError(Exception):
    """A run of an algorithm has failed; its text says how, ``refused`` whether it has raised a ValueError."""

    def __init__(self, text: str, refused: bool = False) -> None:
        super().__init__(text)
        self.refused = refused


class Answer(NamedTuple):
    """What a run has returned, and what was noted of it."""

    position: NDArray[np.uint8]  # (N_t,)
    coefficients: list[float] | None
    details: dict[str, Any]  # what it says of its model
    generators: list[str]  # generators of random numbers that it made, with their seeds
    cpu_seconds: float | None = None  # of the process of the run, and of all that it started


def describe(module: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an algorithm declares, and its settings after a check, without importing it here."""
    command = [*python(_WORK), "describe", module]
    try:
        ended = subprocess.run(
            command,
            input=json.dumps(given).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_START_SECONDS,
            env=environment(),
        )
    except subprocess.TimeoutExpired:
        return {"failed": f"its import takes more than {_START_SECONDS:.0f} s"}
    try:
        described = json.loads(ended.stdout)
    except ValueError:
        return {"failed": f"its import ends the process (exit code {ended.returncode})"}
    return described if isinstance(described, dict) else {"failed": "no description"}


class Host:
    """The process of an algorithm, for the time of a ``with`` block; RunFailedError if it cannot be imported."""

    def __init__(self, module: str, wrong_clock: bool = False) -> None:
        self._module, self._clock = module, "wrong" if wrong_clock else "right"

    def __enter__(self) -> Self:
        """Start the process."""
        try:
            # Not in the project's: what it writes there is gone with the process.
            self._folder = TemporaryDirectory(prefix="narxbench-", ignore_cleanup_errors=True)
        except OSError as error:
            raise RunFailedError(f"there is no temporary folder: {error.strerror}") from None
        # It closes with this process, whatever ends it, and with it end the other and its runs.
        self._control, theirs = socket.socketpair()
        command = [*python(_WORK), "serve", str(theirs.fileno()), self._module, self._clock]
        # What an algorithm prints is no result.
        self._process = subprocess.Popen(
            command,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=sys.__stderr__,
            cwd=self._folder.name,
            env=environment() | {"TMPDIR": self._folder.name},
        )
        theirs.close()
        self._control.settimeout(_START_SECONDS)
        try:
            began, _ = receive(self._control, 0)
        except (BrokenMessageError, TimeoutError):
            began = {"failed": "its import ends the process, or does not end"}
        if "failed" in began:
            self.__exit__()
            raise RunFailedError(printable(str(began["failed"]), 1000))
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self._control.close()
        with suppress(subprocess.TimeoutExpired):  # of an import that does not end
            self._process.wait(_END_SECONDS)
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()

    def run(
        self,
        view: ProblemView,
        objective: CountedObjective,
        *,
        settings: Mapping[str, Any],
        axes: Mapping[str, object],
        time_limit: float | None = None,
    ) -> Answer:
        """Make one run with all settings as plain data, and the axes of the random stream.

        RunFailedError says in words: an error in the algorithm, a limit, an end of its process, or a draw elsewhere.
        """
        begin = {
            **{name: getattr(view, name) for name in wire.VIEW_FIELDS},
            "budget": objective.budget,
            "settings": dict(settings),
            "axes": {name: str(value) for name, value in axes.items()},
        }
        ours, theirs = socket.socketpair()
        try:
            socket.send_fds(self._control, [b"r"], [theirs.fileno()])
            theirs.close()
            try:
                end = None if time_limit is None else time.monotonic() + time_limit
                ours.settimeout(time_limit)
                # Whole numbers go as doubles, which hold them exactly.
                send(ours, begin, {name: np.asarray(getattr(view, name), np.float64) for name in wire.VIEW_ARRAYS})
                answer = _served(ours, objective, end)
            finally:
                ours.close()
                self._control.sendall(b"e")
                ended, _ = receive(self._control, 0)
            return answer._replace(cpu_seconds=ended["cpu_seconds"])
        except TimeoutError:
            raise RunFailedError(f"not done after the time limit of {time_limit or _START_SECONDS:g} s") from None
        except BrokenMessageError as error:
            raise RunFailedError(str(error)) from None
        except ConnectionError:
            raise RunFailedError(wire.ENDED) from None


# Processes that wait for their next run: to import an algorithm with all that it needs can take longer than a run.
_waiting: dict[str, list[Host]] = {}
_lock = threading.Lock()


@contextmanager
def kept_host(module: str) -> Iterator[Host]:
    """Give the process of an algorithm, and keep it for the next that asks; runs know nothing of each other.

    A process that an error was raised with is ended.
    """
    with _lock:
        host = _waiting[module].pop() if _waiting.get(module) else None
    host = Host(module).__enter__() if host is None else host
    try:
        yield host
    except BaseException:
        host.__exit__()
        raise
    with _lock:
        _waiting.setdefault(module, []).append(host)


def _served(ours: socket.socket, objective: CountedObjective, end: float | None) -> Answer:
    """Evaluate what a run asks for, until it answers."""
    while True:
        content, arrays = receive(ours, objective.n_terms * max(9, objective.remaining), end)
        if content.get("kind") != "evaluate":
            return _answer(content, arrays, objective.n_terms)
        try:
            fitness = objective.evaluate(arrays["positions"])
        except BudgetSpentError:
            raise BrokenMessageError(wire.TOO_MUCH) from None
        except (NarxbenchError, KeyError) as error:
            raise BrokenMessageError(f"it sends no structures ({error})") from None
        send(ours, {"remaining": objective.remaining}, {"fitness": fitness})


def _answer(content: dict[str, Any], arrays: dict[str, NDArray[Any]], n_terms: int) -> Answer:
    drawn, made = (_texts(content.get(name)) for name in ("global", "made"))
    if content.get("kind") == "failed":
        raise RunFailedError(printable(str(content.get("text")), 1000), content.get("refused") is True)
    if drawn:
        raise RunFailedError(
            f"it draws from the global generator of {', '.join(drawn)}; allowed: the generator that run() is given"
        )
    if "position" not in arrays:
        raise BrokenMessageError("it returns no structure")
    try:
        returned = Found(arrays["position"], arrays.get("coefficients"), content.get("details"))
        position, coefficients, details = checked_found(returned, n_terms)
    except NarxbenchError as error:
        raise RunFailedError(str(error)) from None
    return Answer(position, coefficients, details, made)


def _texts(noted: object) -> list[str]:
    return [printable(str(text)) for text in noted] if isinstance(noted, list) else []


def python(code: str) -> list[str]:
    """Return the command that runs code, which may use ``sys``, with the same imports as here."""
    begin = f"import json, os, sys; sys.path[:] = json.loads(os.environ[{_PATHS!r}])"
    return [sys.executable, "-P", "-c", f"{begin}; {code}"]


def environment() -> dict[str, str]:
    """Return the environment of such a process: the same imports as here, one thread, one order of sets."""
    paths = [os.path.abspath(path) for path in sys.path]
    return {
        **os.environ,
        _PATHS: json.dumps(paths),
        "PYTHONPATH": os.pathsep.join(path for path in paths if os.pathsep not in path),
        "PYTHONHASHSEED": "0",
        **{f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")},
    }
