"""Write the manifest of all results."""

from typing import Any

from narxbench._io.files import write_atomically
from narxbench._pipeline.manifest import manifest_csv, write_record
from narxbench._pipeline.steps import as_script


def main(job: Any) -> None:
    """Write settings, versions and the digest of every result; then the record that all results exist."""
    made_with = job.params.made_with
    write_atomically(job.output.manifest, manifest_csv(job.params.files, made_with))
    write_record(job.output.record, job.input.memory, made_with if job.params.complete else {})


as_script(main, globals())
