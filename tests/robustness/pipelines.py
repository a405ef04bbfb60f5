"""Pipelines that are disturbed: started, interrupted, resumed, and compared with an undisturbed one."""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from tests.workflow.project import MADE, QUICK, ROOT, Project, committed_files

# One system, few and short searches: what is disturbed is the pipeline, not the search.
SMALL = """
systems: [S1]
seeds: 4
evaluations: 200
searches: {upso2d: {criteria: [bic]}, ga: null}
statistics: {bootstrap_samples: 50}
"""
SMALL_RUN = (*QUICK, "small.yaml")
RESULTS = ("data/generated", "data/runs", "data/cells", "reports")
SIGNALS = ("SIGKILL", "SIGTERM", "SIGINT")
# The hidden file that write_atomically has while it writes; a SIGKILL can leave it.
LEFTOVER = re.compile(r"\..+\.[a-z0-9_]{8}")
LOCKED = "narxbench: this folder is locked"
UNLOCK = "snakemake --unlock"
# Far beyond what any of these pipelines takes: a process that is still there hangs.
HANGING = 300.0


class Ended(NamedTuple):
    """How an interrupted process ended: its exit code, what it printed, and whether the signal came in time."""

    code: int
    printed: str
    interrupted: bool


def copy_of_project(folder: Path) -> Project:
    """Return a copy of the project in a new folder."""
    for name in committed_files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, folder / name)
    # The compiled searches of this checkout, if there are any, save half a minute; those of other code are not used.
    for cached in (ROOT / "src").rglob("__pycache__/*.nb[ci]"):
        target = folder / cached.relative_to(ROOT)
        target.parent.mkdir(exist_ok=True)
        shutil.copy2(cached, target)
    return Project(folder)


def without_results(project: Project, folder: Path) -> Project:
    """Return a copy of a project in a new folder, without results; the compiled searches are kept to save time."""
    made = {str(project.root / path) for path in MADE}

    def results(parent: str, names: list[str]) -> list[str]:
        return [name for name in names if f"{parent}/{name}" in made]

    return Project(Path(shutil.copytree(project.root, folder, symlinks=True, ignore=results)))


def results_of(project: Project) -> dict[str, bytes]:
    """Return the bytes of every result by its path, without what a kill may leave beside them."""
    found = project.contents(*(name for name in RESULTS if (project / name).exists()))
    return {path: content for path, content in found.items() if not LEFTOVER.fullmatch(Path(path).name)}


def leftovers_of(project: Project) -> list[Path]:
    """Return the hidden files that a kill has left."""
    return [path for name in RESULTS for path in (project / name).rglob(".*") if LEFTOVER.fullmatch(path.name)]


@contextlib.contextmanager
def started(project: Project, *arguments: str, cores: int = 2) -> Iterator[subprocess.Popen[str]]:
    """Start Snakemake in a process group of its own, as a shell does; end the group when the block is left."""
    process = subprocess.Popen(
        [sys.executable, "-m", "snakemake", "--cores", str(cores), *arguments],
        cwd=project.root,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        # A killed main process leaves the steps that are processes of their own.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def send(process: subprocess.Popen[str], name: str) -> None:
    """Send a signal as a person does: Ctrl-C reaches the whole process group, ``kill`` the main process."""
    number = signal.Signals[name]
    if number == signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        os.kill(process.pid, number)


def interrupted(project: Project, arguments: tuple[str, ...], name: str, seconds: float) -> Ended:
    """Start the pipeline, send it the signal after ``seconds``, and wait for its end; hanging is an error."""
    with started(project, *arguments) as process:
        try:
            printed, _ = process.communicate(timeout=seconds)
            return Ended(process.returncode, printed, interrupted=False)
        except subprocess.TimeoutExpired:
            send(process, name)
        try:
            process.wait(timeout=HANGING)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{name} after {seconds:.2f} s: the process hangs") from None
        # The steps that outlive a killed main process hold its output open.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        printed, _ = process.communicate()
        return Ended(process.returncode, printed, interrupted=True)


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait until the condition holds; the end of the process before that is an error."""
    began = time.monotonic()
    while not condition():
        assert process.poll() is None, f"ended too early: {process.stdout.read() if process.stdout else ''}"
        assert time.monotonic() - began < HANGING, "the condition never held"
        time.sleep(0.01)


def resume(project: Project, *arguments: str) -> bool:
    """Repeat the command as the README says; return whether the folder had to be unlocked first."""
    with started(project, *arguments) as process:
        printed, _ = process.communicate(timeout=HANGING)
    locked = LOCKED in printed
    if locked:
        assert UNLOCK in printed, printed
        project.snakemake("--unlock")
        project.snakemake(*arguments)
    else:
        assert process.returncode == 0, printed
    return locked


def differences(project: Project, undisturbed: dict[str, bytes], *, complete: bool = True) -> list[str]:
    """Return the results that are not those of the undisturbed pipeline; if ``complete``, missing ones too."""
    found = results_of(project)
    wrong = [path for path, content in found.items() if undisturbed.get(path) != content]
    return sorted(wrong + [path for path in undisturbed if complete and path not in found])
