"""Copy the results that the repository keeps."""

from typing import Any

from narxbench._io.files import read_bytes, write_atomically


def main(job: Any) -> None:
    """Copy each result that is kept."""
    for kept, result in job.params.copies.items():
        write_atomically(kept, read_bytes(result))
