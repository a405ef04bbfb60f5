"""Compare the results with the reference results."""

from typing import Any

from narxbench._io.errors import NarxbenchError
from narxbench._pipeline.manifest import verdict


def main(job: Any) -> None:
    """Print the verdict; unless everything is the same, end with it as a mistake."""
    verified, text = verdict(job.params.reference, job.params.files, job.params.made_with)
    if not verified:
        raise NarxbenchError(text.rstrip())
    print(text, end="", flush=True)
