"""The process of an algorithm: it imports the algorithm once, and forks a fresh process for each run."""

import importlib
import json
import os
import pickle
import random
import resource
import select
import signal
import socket
import sys
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pydantic
from numpy import random as numpy_random  # by name, so that not each run has to import it
from numpy.typing import NDArray

from narxbench._algorithms.contract import (
    About,
    BudgetSpentError,
    Found,
    Objective,
    ProblemView,
    as_found,
    checked_found,
)
from narxbench._algorithms.isolation.messages import (
    ANSWER,
    EVALUATE,
    START_SECONDS,
    BrokenChannelError,
    Channel,
    plain_data,
)
from narxbench._algorithms.limits import memory_limit, memory_text
from narxbench._io.errors import NarxbenchError, error_line, lacks_memory
from narxbench._io.settings import Settings, SettingsError, mistakes_of, validated


class RemoteObjective(Objective):
    """The objective on the side of a run: structures go to the calling process, values of J come back."""

    def __init__(self, channel: Channel, n_terms: int, budget: int) -> None:
        self._channel, self.n_terms, self.budget = channel, n_terms, budget
        self._remaining, self._fitness = budget, np.inf
        self._position = np.zeros(n_terms, np.uint8)

    @property
    def remaining(self) -> int:
        """Evaluations that are left."""
        return self._remaining

    @property
    def best_position(self) -> NDArray[np.uint8]:
        """The best structure so far."""
        return self._position.copy()

    @property
    def best_fitness(self) -> float:
        """The lowest J so far."""
        return self._fitness

    def _evaluated(self, positions: NDArray[np.uint8]) -> NDArray[np.float64]:
        self._channel.send(EVALUATE + positions.tobytes())
        fitness = np.frombuffer(self._channel.receive(8 * len(positions))).copy()
        self._remaining -= len(positions)
        best = int(fitness.argmin())
        if fitness[best] < self._fitness:
            self._fitness, self._position = float(fitness[best]), positions[best].copy()
        return fitness


def main(descriptor: str, end_descriptor: str, module_name: str) -> None:
    """Import an algorithm, describe it or make its runs, as the caller asks, and end with all that was started.

    How a run ends that sends no answer is written to the second descriptor, which runs do not have.
    """
    end = int(end_descriptor)
    channel = Channel(socket.socket(fileno=int(descriptor)))
    # The caller ends an import that takes too long, unless it has ended before.
    signal.alarm(2 * START_SECONDS)
    try:
        settings = plain_data(channel.receive(sys.maxsize))["settings"]
        module = _import_algorithm(module_name)
        description = {} if settings is None else _describe(module, settings)
        if settings is None:
            getattr(module, "load", lambda: None)()
        signal.alarm(0)
        channel.send(json.dumps(description).encode())
        while True:
            _serve_run(channel, module, end)
    except BrokenChannelError:
        pass  # the caller has ended
    except BaseException as error:
        channel.send(json.dumps({"failed": error_line(error, _package(module_name))}).encode())
    finally:
        os.killpg(0, signal.SIGKILL)


def _import_algorithm(name: str) -> ModuleType:
    """Return the module of an algorithm, or raise NarxbenchError if it lacks a part of the contract."""
    module = importlib.import_module(name)
    about, settings, run = (getattr(module, part, None) for part in ("ABOUT", "Settings", "run"))
    has_part = {
        "ABOUT = About(...)": isinstance(about, About),
        "class Settings(io.settings.Settings)": isinstance(settings, type) and issubclass(settings, Settings),
        "def run(problem, objective, rng, settings)": callable(run),
    }
    for part, is_there in has_part.items():
        if not is_there:
            raise NarxbenchError(f"{name} has no {part}")
    return module


def _package(name: str) -> str:
    """Return the package of an algorithm, or its module if it is one of this package."""
    return name if name.startswith("narxbench.") else name.split(".")[0]


def _describe(module: ModuleType, values: dict[str, Any]) -> dict[str, Any]:
    """Return declaration, files, schema and checked settings of an algorithm as plain data."""
    folders = getattr(sys.modules[_package(module.__name__)], "__path__", ())
    files = [str(path) for folder in folders for path in Path(folder).rglob("*.py")]
    options = {name: list(choices) for name, choices in module.ABOUT.options.items()}
    description: dict[str, Any] = {
        "about": {**vars(module.ABOUT), "options": options},
        "files": sorted(files) or [str(module.__file__)],
        "document": (module.__doc__ or "").strip(),
        "schema": module.Settings.model_json_schema(),
    }
    try:
        description["settings"] = validated(module.Settings, values, "").model_dump(mode="json")
    except SettingsError as error:
        description["problems"] = [[list(problem.path), problem.text] for problem in error.mistakes]
    return description


def _serve_run(channel: Channel, module: ModuleType, end: int) -> None:
    """Make the next run in a forked process, or raise BrokenChannelError if it breaks off, or the caller ends."""
    channel.receive(0)
    run = os.fork()
    if run == 0:
        os.close(end)
        _make_run(channel, module)
    run_descriptor = os.pidfd_open(run)
    events = select.poll()
    events.register(run_descriptor, select.POLLIN)
    events.register(channel.socket, select.POLLHUP)
    events.poll()
    os.close(run_descriptor)
    with suppress(ProcessLookupError):
        os.killpg(run, signal.SIGKILL)
    _, status, usage = os.wait4(run, 0)
    if status:
        os.write(end, str(os.waitstatus_to_exitcode(status)).encode())
        raise BrokenChannelError("the run has ended otherwise than by its answer")
    channel.send(json.dumps({"cpu_seconds": round(usage.ru_utime + usage.ru_stime, 6)}).encode())


def _make_run(channel: Channel, module: ModuleType) -> None:
    """Make one run, send its answer and end the process."""
    memory, spare = 0, bytearray(1 << 22)  # the second to report that the first was not enough
    try:
        os.setpgid(0, 0)
        channel.send(str(os.getpid()).encode())
        message = channel.receive(sys.maxsize)
        request = pickle.loads(message)  # noqa: S301 # nosec B301 # of the caller, which trusts no answer
        view_parts: dict[str, Any] = dict(request["fields"])
        for name, array in request["arrays"].items():
            view_parts[name] = lambda array=array: array
        view = ProblemView(**view_parts)
        objective = RemoteObjective(channel, len(view.terms), request["budget"])
        settings = _checked_settings(module, request["settings"])
        # Even an algorithm that draws from the global generators gives the same run again.
        numpy_random.seed(request["global_seed"])
        random.seed(request["global_seed"])
        memory = memory_limit(view)
        limit_memory(memory)
        try:
            with np.errstate(all="ignore"):
                structure = module.run(view, objective, request["rng"], settings)
        except BudgetSpentError:
            structure = Found(objective.best_position)
        position, coefficients, details = checked_found(as_found(structure, view.terms), objective.n_terms)
        answer = {"position": position.tolist(), "coefficients": coefficients, "details": details}
    except BaseException as error:
        del spare
        text = error_line(error, _package(module.__name__))
        if lacks_memory(error):
            text = f"{memory_text(memory)}: {text}"
        # Of this package's own errors, none is a refusal of the algorithm.
        refused = isinstance(error, ValueError) and not isinstance(error, NarxbenchError)
        answer = {"failed": text, "refused": refused}
    try:
        channel.send(ANSWER + json.dumps(answer).encode())
        sys.stdout.flush()
    finally:
        os._exit(0)


def _checked_settings(module: ModuleType, values: dict[str, Any]) -> Settings:
    try:
        settings: Settings = module.Settings.model_validate_json(json.dumps(values))
    except pydantic.ValidationError as error:
        raise SettingsError(mistakes_of(module.Settings, error), "settings") from None
    return settings


def limit_memory(size: int) -> None:
    """Let this process take at most this many bytes more than it has."""
    most = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() + size
    allowed = resource.getrlimit(resource.RLIMIT_AS)[1]
    if allowed != resource.RLIM_INFINITY:
        most = min(most, allowed)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
