"""Write the manifest of all results."""

from typing import Any

from narxbench.io.files import write_atomically
from narxbench.pipeline.manifest import manifest_csv
from narxbench.pipeline.steps import as_script


def main(job: Any) -> None:
    """Write settings, versions and the digest of every result."""
    write_atomically(job.output[0], manifest_csv(job.params.files, job.params.settings))


as_script(main, globals())
