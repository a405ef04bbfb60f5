"""The calling side: starts the process of an algorithm, evaluates for its runs, and ends them at their limits."""

import json
import os
import pickle
import signal
import socket
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from narxbench._algorithms.contract import LONGEST_DETAILS, BudgetSpentError, Found, ProblemView, checked_found
from narxbench._algorithms.isolation.messages import (
    ANSWER,
    EVALUATE,
    START_SECONDS,
    BrokenChannelError,
    Channel,
    plain_data,
)
from narxbench._algorithms.limits import time_text
from narxbench._algorithms.objective import CountedObjective
from narxbench._io.errors import NarxbenchError, printable
from narxbench._numerics.random_streams import generator

_FIELDS = ("terms", "monomials", "n_u", "n_y", "degree", "criterion", "penalty", "n_validation")
_ARRAYS = ("gram", "moments", "u", "y", "rows", "penalties", "training_u", "training_y", "stretches", "segments")
# The details of an answer in JSON, which may take twelve characters for one.
_LONGEST_REPLY = 12 * LONGEST_DETAILS
# By these signals a user, a batch system or a system without memory ends a process. By other signals it ends itself.
_FROM_OUTSIDE = {signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGKILL, signal.SIGTERM, signal.SIGXCPU}


class RunFailedError(Exception):
    """A run of an algorithm has failed, and the text says how.

    Attributes
    ----------
    refused : bool
        Whether the algorithm has raised a ValueError.
    is_late : bool
        Whether the run has met its limit of time. The objective has the structures that it evaluated.
    is_killed : bool
        Whether its process was ended from outside, so that the run says nothing about its algorithm.
    """

    def __init__(self, text: str, refused: bool = False, *, is_late: bool = False, is_killed: bool = False) -> None:
        super().__init__(text)
        self.refused, self.is_late, self.is_killed = refused, is_late, is_killed


class RunOutcome(NamedTuple):
    """The structure that a run has returned, its weights, its details, and the CPU time of its own process."""

    position: NDArray[np.uint8]  # (N_t,)
    coefficients: list[float] | None
    details: dict[str, Any]
    cpu_seconds: float | None = None


class AlgorithmProcess:
    """The process of an algorithm for the time of a ``with`` block. It starts again after a run that has broken it."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        """Return it as it is: the process starts when it is needed."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process."""
        self.close()

    def start(self, settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Start the process if there is none, or raise RunFailedError if the algorithm cannot be imported.

        With settings it returns what the algorithm declares and the checked settings. Without, it is for runs.
        """
        if self._process is not None:
            return {}
        try:
            # What the algorithm writes into its working folder is gone with the process.
            self._folder = TemporaryDirectory(prefix="narxbench-", ignore_cleanup_errors=True)
        except OSError as error:
            raise RunFailedError(f"there is no temporary folder: {error.strerror}") from None
        end, remote_end = socket.socketpair()
        self._end_of_run, remote_end_of_run = os.pipe()
        os.set_blocking(self._end_of_run, False)
        code = "from narxbench._algorithms.isolation.worker import main; main(*sys.argv[1:])"
        descriptors = [remote_end.fileno(), remote_end_of_run]
        with remote_end, os.fdopen(remote_end_of_run, "wb"):
            self._process = subprocess.Popen(
                python_command(code, *map(str, descriptors), self._module),
                pass_fds=descriptors,
                stdin=subprocess.DEVNULL,
                stdout=sys.__stderr__,  # an algorithm may print anything
                cwd=self._folder.name,
                env=environment() | {"TMPDIR": self._folder.name},
                start_new_session=True,
            )
        self._groups = [self._process.pid]
        # It closes when this process ends, however it does. Then the other ends itself and its run.
        self._channel = Channel(end)
        self._channel.deadline = time.monotonic() + START_SECONDS
        process = self._process
        try:
            self._channel.send(json.dumps({"settings": settings}).encode())
            reply = plain_data(self._channel.receive(_LONGEST_REPLY))
        except TimeoutError:
            self.close()
            raise RunFailedError(f"its import takes more than {START_SECONDS:g} s") from None
        except BrokenChannelError:
            self.close()
            raise RunFailedError(f"its import ends the process (exit code {process.returncode})") from None
        if "failed" in reply:
            self.close()
            raise RunFailedError(printable(str(reply["failed"]), 1000))
        return reply

    def close(self) -> None:
        """End the process, its run, and what that has left in its process group."""
        if self._process is None:
            return
        for group in self._groups:
            with suppress(ProcessLookupError):
                os.killpg(group, signal.SIGKILL)
        self._process.wait()
        self._process = None
        self._channel.socket.close()
        os.close(self._end_of_run)
        self._folder.cleanup()

    def run(
        self,
        view: ProblemView,
        objective: CountedObjective,
        *,
        settings: Mapping[str, Any],
        axes: Mapping[str, object],
        time_limit: float | None = None,
    ) -> RunOutcome:
        """Make one run with all settings as plain data, and the axes of its random stream.

        RunFailedError says in one line what went wrong: an error of the algorithm, a limit, or an end of its process.
        """
        self.start()
        self._channel.deadline = None if time_limit is None else time.monotonic() + time_limit
        try:
            self._channel.send(b"")
            # The run begins with its request, when its group is known here.
            self._groups.append(int(self._channel.receive(20)))
            self._channel.send(_request(view, objective, settings, axes))
            answer = _evaluate_until_answer(self._channel, objective)
            usage = plain_data(self._channel.receive(_LONGEST_REPLY))
        except TimeoutError:
            self.close()
            raise RunFailedError(time_text(time_limit or 0.0), is_late=True) from None
        except BrokenChannelError as error:
            text, killed_by = str(error), self._killed_by() if error.is_closed else ""
            self.close()
            if killed_by:
                text += f": it was ended from outside ({killed_by}); run it again"
            raise RunFailedError(text, is_killed=bool(killed_by)) from None
        self._groups.pop()
        return _checked_outcome(answer, usage, objective.n_terms)

    def _killed_by(self) -> str:
        """Return the signal from outside by which a run has ended that sent no answer; empty if there was none.

        Its exit code is there, unless the process that notes it has ended, too.
        """
        code = -signal.SIGKILL
        with suppress(BlockingIOError):
            code = int(os.read(self._end_of_run, 20) or code)
        return signal.Signals(-code).name if -code in _FROM_OUTSIDE else ""


def _request(
    view: ProblemView, objective: CountedObjective, settings: Mapping[str, Any], axes: Mapping[str, object]
) -> bytes:
    """Return the message that a run begins with.

    It has generators in place of the axes, which name the system, whose true terms are published.
    """
    content = {
        "fields": {name: getattr(view, name) for name in _FIELDS},
        "arrays": {name: np.ascontiguousarray(getattr(view, name)) for name in _ARRAYS},
        "budget": objective.budget,
        "settings": dict(settings),
        "rng": generator(**axes),
        "global_seed": int(generator(**{**axes, "purpose": "global"}).integers(1 << 32)),
    }
    return pickle.dumps(content)


def _evaluate_until_answer(channel: Channel, objective: CountedObjective) -> dict[str, Any]:
    """Evaluate the structures that a run sends, until it sends its answer, and return that."""
    longest_answer = _LONGEST_REPLY + 100 * objective.n_terms
    while True:
        message = channel.receive(1 + max(longest_answer, objective.n_terms * objective.remaining))
        kind, content = message[:1], message[1:]
        if kind == ANSWER:
            return plain_data(content)
        if kind != EVALUATE:
            raise BrokenChannelError  # it has ended without an error, and says what it took
        try:
            fitness = objective.evaluate(np.frombuffer(content, np.uint8).reshape(-1, objective.n_terms))
        except BudgetSpentError:
            raise BrokenChannelError("it evaluates more than the budget allows") from None
        except ValueError as error:
            raise BrokenChannelError(f"it sends no structures ({error})") from None
        channel.send(fitness.tobytes())


def _checked_outcome(answer: Mapping[str, Any], usage: Mapping[str, Any], n_terms: int) -> RunOutcome:
    """Return the outcome of a run, or raise RunFailedError if it failed or does not keep the contract."""
    if "failed" in answer:
        raise RunFailedError(printable(str(answer["failed"]), 1000), answer.get("refused") is True)
    try:
        structure = Found(answer["position"], answer["coefficients"], answer["details"])
        return RunOutcome(*checked_found(structure, n_terms), float(usage["cpu_seconds"]))
    except NarxbenchError as error:
        raise RunFailedError(str(error)) from None
    except (KeyError, TypeError, ValueError) as error:
        raise RunFailedError(f"it sends no structure ({error})") from None


def describe(module: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an algorithm declares, and its settings after a check, without importing it here."""
    with AlgorithmProcess(module) as process:
        try:
            return process.start(settings)
        except RunFailedError as error:
            return {"failed": str(error)}


_idle_processes: defaultdict[str, list[AlgorithmProcess]] = defaultdict(list)


@contextmanager
def reused_process(module: str) -> Iterator[AlgorithmProcess]:
    """Give the process of an algorithm and keep it for the next caller, as an import can take longer than a run.

    After an exception the process is ended instead.
    """
    try:
        process = _idle_processes[module].pop()
    except IndexError:
        process = AlgorithmProcess(module)
    try:
        yield process
    except BaseException:
        process.close()
        raise
    _idle_processes[module].append(process)


def python_command(code: str, *arguments: str) -> list[str]:
    """Return the command that runs code, which may use ``sys``, in a process with the import paths of this one."""
    paths = [os.path.abspath(path) for path in sys.path]
    begin = "import json, sys; sys.path[:] = json.loads(sys.argv.pop(1))"
    return [sys.executable, "-P", "-c", f"{begin}; {code}", json.dumps(paths), *arguments]


def environment() -> dict[str, str]:
    """Return the environment of such a process: one thread, one order of sets."""
    threads = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    return {**os.environ, **threads, "PYTHONHASHSEED": "0"}
