"""Write the manifest of all results."""

from collections.abc import Mapping, Sequence
from typing import Any

from scripts.step import step

from narxbench.io.files import write_atomically
from narxbench.pipeline.manifest import manifest_csv, manifest_of


def write_manifest(files: Sequence[str], config: Mapping[str, Any], output: str) -> None:
    """Write digest and value of each file, and versions and configuration that they were made with."""
    write_atomically(output, manifest_csv(manifest_of(files, config)))


if __name__ == "__main__":
    # Snakemake defines this name before it runs the script.
    job = globals()["snakemake"]
    with step(job.log[0]):
        write_manifest(list(job.input), job.params.config, job.output[0])
