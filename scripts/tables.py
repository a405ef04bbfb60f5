"""Write the paper's tables."""

from pathlib import Path
from typing import Any

from narxbench._io.files import write_atomically
from narxbench._studies.paper.tables import tables_of_run
from narxbench._study.table_files import table_files


def main(job: Any) -> None:
    """Write every table in each form."""
    files = table_files(tables_of_run(job.input, job.params.study))
    for path in job.output:
        write_atomically(path, files[Path(path).name])
