"""Compare the results with the manifest that the repository keeps."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from narxbench.io.errors import NarxbenchError
from narxbench.io.files import write_atomically
from narxbench.pipeline.manifest import compare, found_files, read_manifest, verdict_text


def verify(made: str, log: str, *, config: Mapping[str, Any], kept: str) -> bool:
    """Tell whether the files that either manifest names are those of the kept one; the log says what is not."""
    try:
        manifest = read_manifest(kept)
        # Hashed again: a file may have been changed or deleted since the manifest of this run was made.
        found = found_files(dict.fromkeys([*manifest.entries, *read_manifest(made).entries]), config)
    except NarxbenchError as mistake:
        write_atomically(log, f"{mistake}\n")
        return False
    verdict = compare(manifest, found)
    text = verdict_text(verdict, manifest, found, kept, Path(kept).parent)
    write_atomically(log, text)
    if verdict.verified:
        print(text, end="", flush=True)
    return verdict.verified


if __name__ == "__main__":
    # Snakemake defines this name before it runs the script.
    job = globals()["snakemake"]
    # Snakemake shows the log of a failed job.
    sys.exit(not verify(job.input[0], job.log[0], config=job.params.config, kept=job.params.kept))
