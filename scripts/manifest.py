"""Write the manifest of all results."""

from typing import Any

from narxbench._io.files import write_atomically
from narxbench._pipeline.manifest import manifest_csv


def main(job: Any) -> None:
    """Write settings, versions and the digest of every result."""
    write_atomically(job.output[0], manifest_csv(job.files, job.params.made_with))
