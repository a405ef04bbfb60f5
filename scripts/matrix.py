"""Write which combinations of the settings exist."""

from typing import Any

import pandas as pd

from narxbench._io.csv import write_table
from narxbench._io.files import write_atomically


def main(job: Any) -> None:
    """Write the table: a row for each job of runs, with its wildcards as columns."""
    write_atomically(job.output[0], write_table(pd.DataFrame(job.jobs)))
