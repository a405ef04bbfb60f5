"""The process of an algorithm: it imports the algorithm once, then forks a fresh child for every run.

``describe MODULE`` says what the algorithm declares, and checks settings; ``serve SOCKET MODULE CLOCK`` waits for runs.
"""

import ctypes
import errno
import importlib
import json
import os
import resource
import select
import signal
import socket
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, cast

import numpy as np
import pydantic
from numpy.typing import NDArray

from narxbench.algorithms.contract import About, BudgetSpentError, Found, Objective, ProblemView, checked_found
from narxbench.algorithms.isolation.notes import Draws, wrong_clocks
from narxbench.algorithms.isolation.wire import VIEW_FIELDS, receive, send
from narxbench.io.errors import NarxbenchError, printable
from narxbench.io.settings import Settings, SettingsError, mistakes_of, validated
from narxbench.numerics.random_streams import generator

# Memory that a run may take in addition to what the process has as it begins, and to so many copies of the columns of
# all candidate terms.
MEMORY, COPIES = 4 << 30, 8
# Of prctl(2).
_PDEATHSIG, _CHILD_SUBREAPER = 1, 36


class RemoteObjective(Objective):
    """The objective as the algorithm has it: structures go to the calling process, values of J come back."""

    def __init__(self, to: socket.socket, n_terms: int, budget: int) -> None:
        self._to, self.n_terms, self.budget = to, n_terms, budget
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
        send(self._to, {"kind": "evaluate"}, {"positions": positions})
        content, arrays = receive(self._to, 8 * len(positions))
        self._remaining = content["remaining"]
        fitness: NDArray[np.float64] = arrays["fitness"].copy()
        best = int(fitness.argmin())
        if fitness[best] < self._fitness:
            self._fitness, self._position = float(fitness[best]), positions[best].copy()
        return fitness


def main(arguments: list[str]) -> None:
    """Do what the calling process asks for."""
    # Ctrl-C is for the calling process, which ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    task, *others = arguments
    if task == "serve":
        control, name, clock = others
        _serve(socket.socket(fileno=int(control)), name, clock)
        os._exit(0)
    # What the algorithm prints is no part of the answer, not even what it prints at its end.
    with os.fdopen(os.dup(sys.stdout.fileno()), "w") as answer:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        answer.write(_described(others[0], json.loads(sys.stdin.read())))
    os._exit(0)


def _loaded(name: str) -> tuple[ModuleType, About, type[Settings]]:
    module = importlib.import_module(name)
    about, settings, run = (getattr(module, part, None) for part in ("ABOUT", "Settings", "run"))
    for part, right in (
        ("ABOUT = About(...)", isinstance(about, About)),
        ("class Settings(io.settings.Settings)", isinstance(settings, type) and issubclass(settings, Settings)),
        ("def run(problem, objective, rng, settings)", callable(run)),
    ):
        if not right:
            raise NarxbenchError(f"{name} has no {part}")
    return module, cast(About, about), cast(type[Settings], settings)


def _own(name: str) -> str:
    """Return the package of an algorithm; that of one of this package is its module."""
    return name if name.startswith("narxbench.") else name.split(".")[0]


def _described(name: str, given: dict[str, Any]) -> str:
    """Return declaration, files, schema and checked settings of an algorithm, or what is wrong with it, as JSON."""
    try:
        module, about, settings = _loaded(name)
        folders = [Path(folder) for folder in getattr(sys.modules[_own(name)], "__path__", ())]
        described: dict[str, Any] = {
            "about": {**vars(about), "options": {key: list(values) for key, values in about.options.items()}},
            "files": sorted(str(path) for f in folders for path in f.rglob("*.py")) or [str(module.__file__)],
            "document": (module.__doc__ or "").strip(),
            "schema": settings.model_json_schema(),
        }
        try:
            described["settings"] = validated(settings, given, "").model_dump(mode="json")
        except SettingsError as error:
            described["problems"] = [[list(problem.path), problem.text] for problem in error.mistakes]
        return json.dumps(described)
    except BaseException as error:
        return json.dumps({"failed": in_words(error, _own(name))})


def in_words(error: BaseException, own: str = "") -> str:
    """Return an error in one line: its type, what it says, and where it was raised, in the package ``own`` if so."""
    if isinstance(error, NarxbenchError):
        return printable(str(error), 1000)
    places = [
        (frame.f_globals.get("__name__"), Path(frame.f_code.co_filename).name, line)
        for frame, line in traceback.walk_tb(error.__traceback__)
    ]
    inside = [place for place in places if f"{place[0]}.".startswith(f"{own}.")] or places
    place = f" ({inside[-1][1]}, line {inside[-1][2]})" if inside else ""
    return f"{type(error).__name__}: {printable(str(error), 500)}{place}"


def _serve(control: socket.socket, name: str, clock: str) -> None:
    if clock == "wrong":
        wrong_clocks()
    try:
        if sys.platform != "linux":
            raise NarxbenchError("a process of its own needs Linux, which ends all that a run has started")
        # What a run leaves behind becomes a child of this process, whatever group it is in.
        _control_process(_CHILD_SUBREAPER, 1)
        draws = Draws(_own(name))
        module, _, settings = _loaded(name)
        getattr(module, "load", lambda: None)()
        _end_children()
    except BaseException as error:
        send(control, {"failed": in_words(error, _own(name))})
        return
    send(control, {"ready": True})
    while True:
        message, descriptors, _, _ = socket.recv_fds(control, 1, 1)
        if not message:
            return
        to = socket.socket(fileno=descriptors[0])
        before = _seconds_of_children()
        child = os.fork()
        if not child:
            control.close()
            os.setsid()
            _control_process(_PDEATHSIG, signal.SIGKILL)
            _run(to, module, settings, draws)
        to.close()
        ended = os.pidfd_open(child)
        # It is over when it ends, or when the calling process says so, or has ended.
        select.select([control.fileno(), ended], [], [])
        os.close(ended)
        _end_children()
        if not control.recv(1):
            return
        send(control, {"cpu_seconds": round(_seconds_of_children() - before, 6)})


def _control_process(option: int, value: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def _seconds_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _end_children() -> None:
    """End all children of this process; theirs become its own and are ended next."""
    with suppress(ChildProcessError):
        while True:
            for child in Path("/proc/thread-self/children").read_text().split():
                os.kill(int(child), signal.SIGKILL)
            os.wait()


def limit(memory: int, starts_programs: bool = False) -> None:
    """Let this process take so many bytes more, and start no process or thread; root may start them all the same."""
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limits = {resource.RLIMIT_AS: size + memory} | ({} if starts_programs else {resource.RLIMIT_NPROC: 0})
    for kind, most in limits.items():
        allowed = resource.getrlimit(kind)[1]
        most = most if allowed == resource.RLIM_INFINITY else min(most, allowed)
        resource.setrlimit(kind, (most, most))


def _run(to: socket.socket, module: ModuleType, settings: type[Settings], draws: Draws) -> None:
    """Make one run and end the process."""
    memory, spare = MEMORY, bytearray(1 << 22)  # the second to tell that the first was not enough
    try:
        begin, arrays = receive(to, 1 << 40)
        objective = RemoteObjective(to, len(begin["terms"]), begin["budget"])
        parts: dict[str, Any] = {name: begin[name] for name in VIEW_FIELDS}
        parts["monomials"] = [tuple((signal, lag) for signal, lag in monomial) for monomial in parts["monomials"]]
        parts |= {name: (lambda array=array: array) for name, array in arrays.items()}
        view = ProblemView(**parts)
        try:
            chosen = settings.model_validate_json(json.dumps(begin["settings"]))
        except pydantic.ValidationError as error:
            raise SettingsError(mistakes_of(settings, error), "settings") from None
        made_by_import = draws.made.copy()
        rng = generator(**begin["axes"])
        draws.seed_global(int(generator(**{**begin["axes"], "purpose": "global"}).integers(1 << 32)))
        draws.made[:] = made_by_import
        memory += COPIES * 8 * len(view.terms) * len(view.training_y)
        limit(memory, module.ABOUT.starts_programs)
        try:
            found = module.run(view, objective, rng, chosen)
        except BudgetSpentError:
            found = Found(objective.best_position)
        position, coefficients, details = checked_found(found, objective.n_terms)
        result: dict[str, NDArray[Any]] = {"position": position}
        if coefficients is not None:
            result["coefficients"] = np.array(coefficients, np.float64)
        notes = {"global": draws.used_global(), "made": draws.made[:1000]}
        send(to, {"kind": "found", "details": details, **notes}, result)
    except BaseException as error:
        del spare
        text, number = in_words(error, _own(module.__name__)), getattr(error, "errno", None)
        if isinstance(error, MemoryError) or number == errno.ENOMEM:
            text = f"it needs more than its memory limit of {memory / 2**30:.1f} GiB: {text}"
        elif number == errno.EAGAIN:
            text = f"it starts a process, and ABOUT does not say starts_programs=True: {text}"
        # Of this package's own errors, none is a refusal of the algorithm.
        refused = isinstance(error, ValueError) and not isinstance(error, NarxbenchError)
        send(to, {"kind": "failed", "text": text, "refused": refused})
    finally:
        with suppress(Exception):
            sys.stdout.flush()
        os._exit(0)
