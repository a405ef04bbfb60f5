"""What a run needs of its folder, told before any job: room to write, files that are files, dates that are past."""

import os
import shlex
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

from narxbench.io.errors import NarxbenchError
from narxbench.io.files import cannot_be_written
from narxbench.pipeline.plan import SCRIPTS, StudyPlan

# Where Snakemake keeps what it knows of the results.
_STATE = Path(".snakemake")
_KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a named pipe", stat.S_IFSOCK: "a socket"}
# Some file systems round the times of files.
_SECONDS = 2.0


def file_system_time() -> float:
    """Return the time with which a file that is written now is dated, which on a network need not be this machine's.

    Raises
    ------
    NarxbenchError
        If the folder of the project cannot be written.
    """
    try:
        _STATE.mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=_STATE) as stream:
            return os.fstat(stream.fileno()).st_mtime
    except OSError as error:
        raise cannot_be_written(_STATE, error) from None


def check_files(planned: StudyPlan) -> None:
    """Check that what a study reads and makes, as far as it is there, are files, and dated in the past.

    Snakemake makes anew what is older than its inputs: after a result of the future, an edit would pass unseen; after
    an input of the future, every result would be too old, whenever it is made.

    Raises
    ------
    NarxbenchError
        One line that names the first such file, and for dates the command that mends them.
    """
    now, given = file_system_time(), [*planned.given(), *map(str, sorted(SCRIPTS.glob("*.py")))]
    later: dict[str, float] = {}
    for path in dict.fromkeys([*given, *planned.results(), planned.run_info, planned.manifest]):
        try:
            state = os.stat(path)
        except (OSError, ValueError):
            continue  # what is missing is made, or told by the step that needs it
        if not stat.S_ISREG(state.st_mode):
            kind = _KINDS.get(stat.S_IFMT(state.st_mode), "a device")
            raise NarxbenchError(f"{path}: found {kind}; allowed: a file; move it away and repeat the command")
        if state.st_mtime > now + _SECONDS:
            later[path] = state.st_mtime - now
    if later:
        path, *others = later
        more = f", and {len(others)} more" if others else ""
        told = f"{path}: found a date {later[path]:.0f} s in the future{more}; allowed: dates before now"
        raise NarxbenchError(f"{told}; if the clock is right: {_mended(set(later) & set(given), set(later))}")


def _mended(given: set[str], later: set[str]) -> str:
    """Return the command that dates what is given to now, and results to the past.

    So every input is newer than the results: Snakemake compares contents, and makes anew what is of another content.
    """
    commands = [(given, "touch"), (later - given, "touch -d @0")]
    return " && ".join(f"find {_roots(paths)} -newermt now -exec {how} {{}} +" for paths, how in commands if paths)


def _roots(paths: Iterable[str]) -> str:
    # Of files that belong to the project, their folders.
    return shlex.join(sorted({p if p.startswith(("/", "..")) else "/".join(Path(p).parts[:2]) for p in paths}))
