"""The record of a run: when, where and by which command the searches of a study were made.

It is written once for a set of results, before the pages that quote it. It names a date, a machine and times, so that
it differs from one rebuild to the next: it is not part of the manifest.
"""

from typing import Annotated

from pydantic import Field

from narxbench._io.files import StrPath, canonical_json, read_json
from narxbench._io.settings import Line, Settings, as_result

Seconds = Annotated[float, Field(ge=0)]


class RunRecord(Settings):
    """When, where and by which command the searches of a study were made."""

    command: Line
    """The command as it was typed."""
    settings: Line
    """The part of the command that names settings: ``--configfile`` and ``--config`` with their values."""
    date: str = Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
    """When the last search had ended, in UTC."""
    commit: Line
    """Commit of the project; empty outside a git checkout."""
    changed_files: int = Field(ge=0)
    """Files that differed from the commit."""
    machine: Line
    """Processor, cores, system and version of Python."""
    wall_seconds: Seconds | None
    """Wall time from the start of the command; missing where some results were made by an earlier command."""
    steps: dict[Line, Seconds]
    """CPU time of the jobs of each step, summed."""

    @property
    def day(self) -> str:
        """Day on which the last search ended."""
        return self.date.partition("T")[0]

    @property
    def cpu_seconds(self) -> float:
        """CPU time of all steps."""
        return sum(self.steps.values())

    def to_json(self) -> str:
        """Return the text of the file."""
        return canonical_json(self.model_dump(mode="json"), indent=1)


# The record with which a page is rendered for the manifest: the same on every machine.
FIXED_RECORD = RunRecord(
    command="snakemake",
    settings="",
    date="2018-12-21T00:00:00Z",
    commit="",
    changed_files=0,
    machine="",
    wall_seconds=None,
    steps={},
)


def read_run_record(path: StrPath) -> RunRecord:
    """Read the record of a run. A damaged one raises NarxbenchError with its name."""
    return as_result(RunRecord, read_json(path), path, "record of a run")
