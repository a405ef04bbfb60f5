"""One interruption of the documented command at one moment, and what must hold afterwards.

The signals are those that a user meets: Ctrl-C and SIGHUP (a terminal that is closed) reach every process of the
terminal's group, a shutdown or a batch system sends SIGTERM to the main process, and SIGKILL (`kill -9`, the kernel
when memory runs out) leaves the scripts that the main process has started behind. A power cut, which loses what is not
on disk yet, is no signal.
"""

import json
import os
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import psutil  # type: ignore[import-untyped]
from tests.robustness.pipelines import LIMIT, Copy, Project, differences, under_way, wait_for
from tests.workflow.project import RESULTS

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
# Seconds after a signal but SIGKILL in which the steps that are running come to their end, on a busy machine too.
SECONDS_TO_END = 120.0
LAST_FILES = ("reports/manifest.csv", "reports/made.md")
PHASES = ("starting", "locked", "searches", "reports", "ending", "ended")
_NAMED = 3


class Kill(NamedTuple):
    """A signal and its moment, as processor seconds that the pipeline has spent: a busy machine does not shift them."""

    signal: signal.Signals
    moment: float


class State(NamedTuple):
    """How far a pipeline is: one of PHASES, and how many run files there are."""

    phase: str
    runs: int


class Outcome(NamedTuple):
    """What one interruption led to; ``left`` counts the processes that outlived the main one."""

    kill: Kill
    state: State
    code: int | None
    seconds: float
    locked: bool
    left: int
    remains: int
    violations: list[str]

    def line(self) -> str:
        """Return the outcome in one line."""
        verdict = "; ".join(self.violations) or "right"
        return (
            f"{self.kill.signal.name:7} at {self.kill.moment:5.2f} s of CPU · {self.state.phase:8} · "
            f"{self.state.runs:2} runs · exit {self.code} after {self.seconds:5.2f} s · "
            f"{'lock left' if self.locked else 'no lock  '} · {self.left} processes left · "
            f"{self.remains} hidden files · {verdict}"
        )


def moments(count: int, seed: int, spent: float) -> list[Kill]:
    """Draw moments for each signal in turn, one in each of equal parts of the processor seconds of a whole run."""
    draw = random.Random(seed)
    kills: list[list[Kill]] = []
    for at, number in enumerate(SIGNALS):
        parts = len(range(at, count, len(SIGNALS)))
        drawn = [Kill(number, spent * (part + draw.random()) / parts) for part in range(parts)]
        draw.shuffle(drawn)
        kills.append(drawn)
    return [kills[index % len(SIGNALS)][index // len(SIGNALS)] for index in range(count)]


def whole_run(ordinary: Copy, root: Path) -> float:
    """Make everything in an empty copy without an interruption and return the processor seconds that it took."""
    copy, spent = ordinary.copied(root, made=False), 0.0
    with under_way(copy, output=subprocess.DEVNULL) as begun:
        while begun.poll() is None:
            spent = max(spent, processor_seconds(begun.pid))
            time.sleep(0.01)
    assert begun.returncode == 0
    assert differences(ordinary, copy) == []
    shutil.rmtree(root)
    return spent


def experiment(ordinary: Copy, root: Path, kill: Kill) -> Outcome:
    """Interrupt the documented command at its moment."""
    return interrupt(ordinary, root, kill.signal, lambda copy, spent: spent >= kill.moment)


def interrupt(ordinary: Copy, root: Path, number: signal.Signals, when: Callable[[Copy, float], bool]) -> Outcome:
    """Send the documented command a signal in an empty copy, repeat it, and return what was not as it must be.

    ``when`` is told the copy and the processor seconds spent. The copy and what was printed (``ROOT.txt``) stay.
    """
    copy, spent = ordinary.copied(root, made=False), 0.0
    # Snakemake cannot remove its folder among the temporary ones when it is killed.
    temporary = root.with_name(f"{root.name}.tmp")
    temporary.mkdir()
    env = {"TMPDIR": str(temporary)}
    with (
        root.with_name(f"{root.name}.txt").open("wb") as stream,
        under_way(copy, env=env, output=stream.fileno()) as begun,
    ):

        def due() -> bool:
            nonlocal spent
            spent = max(spent, processor_seconds(begun.pid))
            return begun.poll() is not None or when(copy, spent)

        wait_for(due, f"the moment for {number.name}")
        state = state_of(copy, ordinary)
        sent = time.monotonic()
        # One that has ended by itself in this very moment, and is not waited for yet, takes the signal without effect.
        if begun.poll() is None:
            send(begun, number)
        else:
            state = State("ended", state.runs)
        try:
            code: int | None = begun.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            code = None
        seconds = time.monotonic() - sent
        left = members(begun.pid)
        found = wrong_ending(number, state, code, len(left))
        if code is None:
            # What follows needs an end.
            send(begun, signal.SIGKILL)
            begun.wait()
        remains = hidden_files(copy)
        found += wrong_files(copy, ordinary, hidden_allowed=number == signal.SIGKILL)
        locked = is_locked(copy)
        if locked:
            found += unlock_as_told(copy) if number == signal.SIGKILL else [f"a lock is left by {number.name}"]
        # At once: what has outlived the main process may still write.
        found += repeated(copy, ordinary, begun.pid)
    return Outcome(Kill(number, spent), state, code, seconds, locked, len(left), len(remains), found)


def repeated(copy: Copy, ordinary: Copy, group: int) -> list[str]:
    """Repeat the interrupted command, and return what is not as without an interruption."""
    code, said = run(copy)
    if code != 0:
        return [f"the repeated command {_ends(code)}: {said[-400:]}"]
    # Whoever is left of the interrupted command had its last word.
    wait_for(lambda: not members(group), "the scripts of the interrupted command")
    found = wrong_files(copy, ordinary, hidden_allowed=True)
    found += [f"missing after the repeated command: {path}" for path in missing(copy, ordinary)]
    found += [f"another manifest: {name}" for name in differences(ordinary, copy)]
    planned = copy.planned(*copy.overlays)
    return found + ([f"not up to date after the repeated command: {planned}"] if planned else [])


def run(copy: Copy) -> tuple[int | None, str]:
    """Run the documented command and return its exit status and what it prints; no status is no end."""
    with under_way(copy) as begun:
        try:
            said, _ = begun.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return None, ""
    return begun.returncode, said


def _ends(code: int | None) -> str:
    return f"is still running after {LIMIT:g} s" if code is None else f"ends with {code}"


def send(begun: subprocess.Popen[str], number: signal.Signals) -> None:
    """Send the signal as it comes in life: that of a terminal to all its processes, the others to the main one."""
    if number in (signal.SIGINT, signal.SIGHUP):
        os.killpg(begun.pid, number)
    else:
        begun.send_signal(number)


def wrong_ending(number: signal.Signals, state: State, code: int | None, left: int) -> list[str]:
    """Return what is wrong with how a pipeline ended that was interrupted in this state; no code is no end."""
    if code is None:
        return [f"still running {SECONDS_TO_END:g} s after {number.name}"]
    found = []
    if code == 0 and state.phase not in ("ending", "ended"):
        found.append(f"{number.name} had no effect: exit 0")
    if code != 0 and state.phase == "ended":
        found.append(f"exit {code} without an interruption")
    if left and number != signal.SIGKILL:
        found.append(f"{left} processes left by {number.name}")
    return found


def wrong_files(copy: Project, ordinary: Copy, *, hidden_allowed: bool) -> list[str]:
    """Return the files that are neither absent nor those of the uninterrupted run."""
    right = ordinary.results()
    found = []
    for path, content in copy.contents(*RESULTS).items():
        if Path(path).name.startswith("."):
            found += [] if hidden_allowed else [f"temporary file left: {path}"]
        elif path not in right:
            found.append(f"not a result: {path}")
        elif content != right[path]:
            kind = "half-written" if right[path].startswith(content) else "other bytes"
            found.append(f"{kind}: {path}")
    found += [f"half-written: {path}" for path in half_written_logs(copy)]
    if (copy / "reports/made.md").exists() and made_without_times(copy) != made_without_times(ordinary):
        found.append("other content: reports/made.md")
    return _shortened(found)


def missing(copy: Copy, ordinary: Copy) -> list[str]:
    """Return the results that are not there."""
    return _shortened([path for path in [*ordinary.results(), "reports/made.md"] if not (copy / path).exists()])


def half_written_logs(copy: Project) -> Iterator[str]:
    """Return the records of time that are not whole: they are read for reports/made.md."""
    for path in sorted((copy / "logs").rglob("[!.]*.json")):
        try:
            json.loads(path.read_bytes())
        except ValueError:
            yield str(path.relative_to(copy.root))


def made_without_times(copy: Project) -> str:
    """Return what reports/made.md says but for the seconds, which differ from one run to the next."""
    return re.sub(r"[0-9]+\.[0-9]+ \|", "|", (copy / "reports/made.md").read_text(encoding="utf-8"))


def hidden_files(copy: Project) -> list[str]:
    """Return the temporary files that a kill has left among results and records of time."""
    return [path for path in copy.contents(*RESULTS, "logs") if Path(path).name.startswith(".")]


def is_locked(copy: Project) -> bool:
    """Return whether Snakemake's lock is there."""
    return any((copy / ".snakemake").glob("locks/*"))


def unlock_as_told(copy: Copy) -> list[str]:
    """Repeat the documented command on a locked folder and do what it says; return what is wrong with that."""
    code, said = run(copy)
    if code != 1:
        return [f"locked, but the command {_ends(code)}"]
    if (command := unlock_command(said)) is None:
        return [f"locked, but no command to unlock is told: {said[-400:]}"]
    # The command is printed for a shell in which `snakemake` is found.
    path = {"PATH": os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])}
    done = subprocess.run(
        shlex.split(command), cwd=copy.root, env=os.environ | path, capture_output=True, text=True, timeout=LIMIT
    )
    if done.returncode != 0:
        return [f"`{command}` ends with {done.returncode}: {done.stderr[-400:]}"]
    return [f"`{command}` leaves the lock"] if is_locked(copy) else []


def unlock_command(said: str) -> str | None:
    """Return the command that the message on a stale lock names, on a line of its own, if it is one without faults."""
    if "Traceback" in said or "Nothing is lost." not in said:
        return None
    commands = re.findall(r"^ {4}(snakemake .*--unlock.*)$", said, re.MULTILINE)
    return str(commands[0]) if len(commands) == 1 else None


def state_of(copy: Project, ordinary: Copy) -> State:
    """Return how far a pipeline that is running has come, by its files."""
    runs, every = count_runs(copy), count_runs(ordinary)
    if all((copy / path).exists() for path in LAST_FILES):
        return State("ending", runs)
    if runs == every:
        return State("reports", runs)
    if runs or any((copy / ".snakemake").glob("incomplete/*")):
        return State("searches", runs)
    return State("locked" if is_locked(copy) else "starting", runs)


def count_runs(copy: Project) -> int:
    """Return the number of run files."""
    return sum(1 for _ in (copy / "data/runs").rglob("seed-*.json"))


def processor_seconds(pid: int) -> float:
    """Return the processor seconds of a process and all that it has started, those that have ended included."""
    try:
        main = psutil.Process(pid)
        return sum(map(_seconds, [main, *main.children(recursive=True)]))
    except psutil.NoSuchProcess:
        return 0.0


def _seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.NoSuchProcess:
        # It has ended since it was listed: its parent has the seconds.
        return 0.0
    return float(times.user + times.system + times.children_user + times.children_system)


def members(group: int) -> list[int]:
    """Return the processes of a group that run."""
    found = []
    for process in psutil.process_iter():
        try:
            if os.getpgid(process.pid) == group and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except (ProcessLookupError, psutil.NoSuchProcess):
            # It has ended since it was listed.
            continue
    return found


def summary(outcomes: list[Outcome]) -> str:
    """Return the table of all interruptions by signal."""
    lines = [
        f"| Signal | Moments | {' | '.join(PHASES)} | Lock left | Processes left | Hidden files | Slowest end, s "
        "| Failures |",
        f"|---|{'---:|' * (len(PHASES) + 6)}",
    ]
    for number in SIGNALS:
        own = [outcome for outcome in outcomes if outcome.kill.signal == number]
        hit: Mapping[str, int] = {phase: sum(outcome.state.phase == phase for outcome in own) for phase in PHASES}
        cells = [
            number.name,
            len(own),
            *hit.values(),
            sum(outcome.locked for outcome in own),
            sum(outcome.left > 0 for outcome in own),
            sum(outcome.remains > 0 for outcome in own),
            f"{max((outcome.seconds for outcome in own), default=0.0):.1f}",
            sum(bool(outcome.violations) for outcome in own),
        ]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _shortened(found: list[str]) -> list[str]:
    more = len(found) - _NAMED
    return found[:_NAMED] + ([f"and {more} more"] if more > 0 else [])
