"""Compare the results with the reference results, or with what they name themselves."""

import os
from typing import Any

from narxbench._io.errors import NarxbenchError
from narxbench._pipeline.manifest import verdict


def main(job: Any) -> None:
    """Print the verdict; unless everything is the same, end with it as a mistake."""
    reference, checked = job.params.reference, job.sources.check_all()
    if not os.path.exists(reference):
        print(f"{checked} There is no manifest {reference} to compare the others with: the study is not finished.")
        return
    verified, text = verdict(reference, job.files, job.params.made_with)
    if not verified:
        raise NarxbenchError(text.rstrip())
    print(f"{checked}\n{text}".lstrip(), end="", flush=True)
