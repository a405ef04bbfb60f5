"""Copy the pages of a study with everything that they link to, for Snakemake's report."""

import os
from pathlib import Path
from typing import Any

from narxbench._io.files import read_bytes, write_atomically
from narxbench._pipeline.site import without_dead_links


def main(job: Any) -> None:
    """Write the copies; a link to what is not among them becomes plain text."""
    base = Path(job.input.page).parent
    names = [os.path.relpath(path, base) for path in job.input if Path(path).is_relative_to(base)]
    for name in names:
        content = read_bytes(base / name)
        if name.endswith(".html"):
            content = without_dead_links(content.decode(), name, set(names)).encode()
        write_atomically(Path(job.output[0]) / name, content)
