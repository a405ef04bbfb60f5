"""Write the manifest of all results."""

from typing import Any

from narxbench.io.files import write_atomically
from narxbench.pipeline.manifest import manifest_csv, write_record
from narxbench.pipeline.steps import as_script


def main(job: Any) -> None:
    """Write settings, versions and the digest of every result; then that all of them are there."""
    given = job.params
    write_atomically(job.output.manifest, manifest_csv(given.files, given.made_with))
    write_record(job.output.record, job.input.memory, given.made_with if given.complete else {})


as_script(main, globals())
